/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/program.h"

#include <stdio.h>
#include <stdlib.h>

void bench_stop(const char *what) {
  fprintf(stderr, "%s: %s\n", what, pcsim_error_message());
  exit(1);
}

void bench_must(pcsim_status status, const char *what) {
  if (status != PCSIM_OK) bench_stop(what);
}
