/* SPDX-License-Identifier: BSD-2-Clause */
/* The maps of gradients with their derivatives. */
#define PCSIM_DUAL 1
#include "gradient.c"
