/* SPDX-License-Identifier: BSD-2-Clause */
/* The same from C++17: linkage and const-correctness. */
#include <pcsim.h>

int main() { return pcsim_status_exit_code(PCSIM_OK); }
