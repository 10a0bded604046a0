/* SPDX-License-Identifier: BSD-2-Clause */
/** @file main.c  What bench/transport/run starts: solve CASE REPEATS [key=value ...], or loops instead of
 * solve. */
#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  bench_case b;
  const bool loops = argc > 1 && !strcmp(argv[1], "loops");
  if (argc < 4 || (!loops && strcmp(argv[1], "solve") != 0)) {
    fprintf(stderr, "usage: %s solve|loops CASE REPEATS [key=value ...]\n", argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  MUST(pcsim_solver_start(MPI_COMM_WORLD));
  bench_open(&b, argv[2], argc - 4, argv + 4);
  (loops ? bench_loops : bench_solve)(&b, atoi(argv[3]));
  bench_close(&b);
  MUST(pcsim_solver_end());
  MPI_Finalize();
  return 0;
}
