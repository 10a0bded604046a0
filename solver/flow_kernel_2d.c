/* SPDX-License-Identifier: BSD-2-Clause */
#define DIM 2
#include "flow_kernel.h"

const flow_kernels flow_kernels_2d = {coefficients, residual, tangent, jacobian, boundary};
