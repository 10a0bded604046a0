/* SPDX-License-Identifier: BSD-2-Clause */
#define DIM 3
#include "flow_kernel.h"

const flow_kernels flow_kernels_3d = {coefficients, residual, tangent, jacobian, boundary};
