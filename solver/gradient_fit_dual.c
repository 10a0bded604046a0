/* SPDX-License-Identifier: BSD-2-Clause */
/* Small fits with their derivatives. */
#define PCSIM_DUAL 1
#include "gradient_fit.c"
