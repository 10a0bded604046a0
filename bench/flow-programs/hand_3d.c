/* SPDX-License-Identifier: BSD-2-Clause */
#define DIM 3
#include "hand_kernel.h"

const flow_kernels flow_by_hand_3d = {coefficients, residual, tangent, jacobian, boundary};
