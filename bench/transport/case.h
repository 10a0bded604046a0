/* SPDX-License-Identifier: BSD-2-Clause */
/** @file case.h  A typed case opened through the library, for both parts of the bench. */
#ifndef PCSIM_BENCH_TRANSPORT_CASE_H
#define PCSIM_BENCH_TRANSPORT_CASE_H

#include "bench/program.h"

#include <pcsim/solver.h>

typedef struct {
  pcsim_tree *tree;
  pcsim_raw_mesh *raw;
  pcsim_mesh *mesh;
  pcsim_transport_problem *problem;
  pcsim_transport_options options;
  pcsim_expr *exact; /**< `reference.u.exact`, of x, y, z, t; NULL if the case has none */
} bench_case;

#define MUST(call) bench_must(call, #call)

/** Case file, then settings "key=value". */
void bench_open(bench_case *b, const char *path, int num, char **settings);
void bench_close(bench_case *b);

/** Arguments: CASE REPEATS [key=value ...]; one line of JSON on standard output. */
void bench_solve(const bench_case *b, int repeats);
void bench_loops(const bench_case *b, int repeats);

#endif
