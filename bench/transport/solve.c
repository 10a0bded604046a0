/* SPDX-License-Identifier: BSD-2-Clause */
/* A typed case solved, with the processor time of its parts and its error. */
#include "case.h"
#include "error.h"

#include <stdio.h>

/* Set-up and solve as often as asked; the fastest counts. */
void bench_solve(const bench_case *b, int repeats) {
  double setup = 0, solve = 0;
  pcsim_solve_result result = {0};
  error_norms error = {0};
  for (int k = 0; k < repeats; k++) {
    pcsim_transport_solver *solver;
    const double t0 = pcsim_time_cpu();
    MUST(pcsim_transport_solver_create(b->mesh, b->problem, &b->options, &solver));
    const double t1 = pcsim_time_cpu();
    MUST(pcsim_transport_solver_run(solver, NULL, NULL, &result));
    const double t2 = pcsim_time_cpu();
    if (k == 0 || t2 - t0 < setup + solve) setup = t1 - t0, solve = t2 - t1;
    if (k == 0) {
      pcsim_transport_fields fields;
      MUST(pcsim_transport_solver_fields(solver, &fields));
      error = error_of(b->raw, &fields, b->exact);
    }
    pcsim_transport_solver_destroy(&solver);
  }
  printf("{\"cells\": %lld, \"setup\": %.6g, \"solve\": %.6g, \"steps\": %lld, \"linear\": %lld, "
         "\"outcome\": %d, "
         "\"error\": %.6g, \"error at centres\": %.6g}\n",
         (long long)pcsim_mesh_get(b->mesh)->num_cells, setup, solve, (long long)result.steps,
         (long long)result.linear_iterations, (int)result.outcome, error.field, error.centres);
}
