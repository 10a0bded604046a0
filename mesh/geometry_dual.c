/* SPDX-License-Identifier: BSD-2-Clause */
/* Volumes, centres and area vectors with their derivatives. */
#define PCSIM_DUAL 1
#include "geometry.c"
