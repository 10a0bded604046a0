/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exact.h  Flows against exact solutions: errors and observed orders. */
#ifndef PCSIM_TEST_SOLVER_EXACT_H
#define PCSIM_TEST_SOLVER_EXACT_H

#include "solver/sample.h"

typedef struct {
  double velocity, pressure; /* relative L2, the pressure without its mean */
} flow_error;

/* Exact values at a point. */
typedef void (*exact_flow)(const double *x, double *value);

static inline flow_error error_of(const pcsim_flow_fields *fields, exact_flow exact) {
  const pcsim_mesh_view *v = pcsim_mesh_get(fields->mesh);
  double sum[8] = {0}; /* velocity: error, size; pressure: moments of difference and of value; volume */
  for (int64_t c = 0; c < v->num_cells; c++) {
    double value[4];
    const double w = v->cell_volume[c];
    exact(v->cell_centre + 3 * c, value);
    for (int i = 0; i < 3; i++) {
      const double e = fields->velocity[3 * c + i] - value[i];
      sum[0] += w * e * e, sum[1] += w * value[i] * value[i];
    }
    const double e = fields->pressure[c] - value[3];
    sum[2] += w * e, sum[3] += w * e * e, sum[4] += w * value[3], sum[5] += w * value[3] * value[3];
    sum[6] += w;
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (flow_error){sqrt(sum[0] / sum[1]),
                      sqrt((sum[3] - sum[2] * sum[2] / sum[6]) / (sum[5] - sum[4] * sum[4] / sum[6]))};
}

static inline flow_error solve(const sample *s, const char *text, exact_flow exact) {
  sample_case c = case_of(sample_mesh(MPI_COMM_WORLD, s), text);
  pcsim_flow_solver *solver = NULL;
  pcsim_solve_result result;
  pcsim_flow_fields fields;
  assert_ok(pcsim_flow_solver_create(c.mesh, c.problem, &c.options, &solver));
  assert_ok(pcsim_flow_solver_run(solver, NULL, NULL, &result));
  if (result.outcome != PCSIM_OUTCOME_CONVERGED) print_error("%s: %s\n", kind_names[s->kind], result.reason);
  assert_int_equal(result.outcome, PCSIM_OUTCOME_CONVERGED);
  assert_ok(pcsim_flow_solver_fields(solver, &fields));
  const flow_error error = error_of(&fields, exact);
  pcsim_flow_solver_destroy(&solver);
  case_free(&c);
  return error;
}

/* Orders over `num` meshes, each twice as fine; the lowest counts. */
static inline void check_orders(sample s, int num, const char *text, exact_flow exact, double velocity,
                                double pressure) {
  flow_error last = {0, 0};
  for (int k = 0; k < num; k++, s.nx *= 2, s.ny *= 2, s.nz *= 2) {
    const flow_error e = solve(&s, text, exact);
    const double order[2] = {k ? log2(last.velocity / e.velocity) : 9,
                             k ? log2(last.pressure / e.pressure) : 9};
    if (!(order[0] >= velocity && order[1] >= pressure))
      print_error("%s, %d blocks: velocity %.3e (order %.2f), pressure %.3e (order %.2f)\n",
                  kind_names[s.kind], s.nx, e.velocity, order[0], e.pressure, order[1]);
    assert_true(order[0] >= velocity && order[1] >= pressure);
    assert_true(e.velocity < 0.1 && e.pressure < 0.5);
    last = e;
  }
}

#endif
