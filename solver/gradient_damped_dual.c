/* SPDX-License-Identifier: BSD-2-Clause */
/* The same with derivatives by the places of nodes. */
#define PCSIM_DUAL 1
#include "gradient_damped.c"
