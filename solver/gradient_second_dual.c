/* SPDX-License-Identifier: BSD-2-Clause */
/* Second derivatives with theirs by the places of nodes. */
#define PCSIM_DUAL 1
#include "gradient_second.c"
