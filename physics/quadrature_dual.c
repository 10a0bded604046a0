/* SPDX-License-Identifier: BSD-2-Clause */
/* Gauss points of faces that move. */
#define PCSIM_DUAL 1
#include "quadrature.c"
