/* SPDX-License-Identifier: BSD-2-Clause */
/* The public header alone, as the first include of a C11 program that links the library. */
#include <pcsim.h>

int main(void) { return pcsim_status_exit_code(PCSIM_OK); }
