/* SPDX-License-Identifier: BSD-2-Clause */
#define DIM 2
#include "hand_kernel.h"

const flow_kernels flow_by_hand_2d = {coefficients, residual, tangent, jacobian, boundary};
