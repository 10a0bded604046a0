/* SPDX-License-Identifier: BSD-2-Clause */
/* Gradients with their derivatives. */
#define PCSIM_DUAL 1
#include "gradient_apply.c"
