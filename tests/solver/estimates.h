/* SPDX-License-Identifier: BSD-2-Clause */
/** @file estimates.h  Laws with known numbers: the numbers, their estimated errors, their true ones. */
#ifndef PCSIM_TEST_SOLVER_ESTIMATES_H
#define PCSIM_TEST_SOLVER_ESTIMATES_H

#include "solver/laws.h"

#define ESTIMATE_EXACT "1 + sin(2*x+1)*cos(1.5*y) + 0.3*x*y"
static inline double estimate_exact(double x, double y) {
  return 1 + sin(2 * x + 1) * cos(1.5 * y) + 0.3 * x * y;
}

typedef struct {
  const char *what, *text;
  const char *of; /* integrated over the domain; NULL: the flux out of x-max */
  double exact;   /* the number */
} estimate_law;

/** A number of one law on one mesh. */
typedef struct {
  double value, estimated, corrected;
  double true_error;
  double indicated; /* sum of the indicator */
  double middle[2]; /* its mean place */
} estimate_result;

/** One expression of u and the place. Caller destroys. */
static inline pcsim_program *estimate_program(const char *text, int dim) {
  static const char *const coordinates[] = {"x", "y", "z"}, *const unknowns[] = {"u"};
  const pcsim_lowering names = {
      .num_coordinates = dim, .coordinates = coordinates, .num_unknowns = 1, .unknowns = unknowns};
  pcsim_program *p = NULL;
  assert_ok(pcsim_lower(&text, 1, &names, &p, NULL, NULL));
  return p;
}

/** Solve on the mesh of `s`, estimate on the refined one. Collective. */
static inline estimate_result estimate_on(MPI_Comm comm, const estimate_law *law, const sample *s) {
  int rank;
  pcsim_raw_mesh *raw = NULL, *fine_raw = NULL;
  pcsim_mesh *mesh = NULL, *fine_mesh = NULL;
  pcsim_solve_result result;
  double sum[3] = {0, 0, 0}, none = 0, *psi = NULL, *indicator = NULL;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) raw = sample_raw(s);
  if (rank == 0) assert_ok(pcsim_raw_mesh_refine(raw, &fine_raw));
  assert_ok(pcsim_mesh_create(comm, raw, &mesh));
  assert_ok(pcsim_mesh_create(comm, fine_raw, &fine_mesh));
  law_run coarse = law_begin(mesh, law->text), fine = law_begin(fine_mesh, law->text);
  coarse.options.tolerance = 1e-12;
  law_solve(&coarse, &result);
  const size_t cells = (size_t)pcsim_mesh_get(mesh)->num_cells;
  assert_ok(pcsim_alloc(cells, sizeof *psi, &psi));
  assert_ok(pcsim_alloc(cells, sizeof *indicator, &indicator));
  pcsim_program *of = law->of ? estimate_program(law->of, sample_dim(s)) : NULL;
  const char *const side = "x-max";
  const pcsim_functional quantity = {.kind = law->of ? PCSIM_FUNCTIONAL_INTEGRAL : PCSIM_FUNCTIONAL_FLUX,
                                     .program = of,
                                     .num_where = law->of ? 0 : 1,
                                     .where = &side};
  pcsim_transport_sensitivity adjoint = {.derivative = &none, .adjoint = psi};
  assert_ok(pcsim_transport_solver_adjoint(coarse.solver, &quantity, NULL, 0, 1e-11, &adjoint));
  assert_true(adjoint.converged);
  pcsim_estimate e = {.value = adjoint.value, .indicator = indicator};
  assert_ok(pcsim_transport_solver_estimate(coarse.solver, &quantity, psi, fine_mesh, fine.problem, &e));
  estimate_result out = {
      .value = e.value, .estimated = e.error, .corrected = e.corrected, .true_error = law->exact - e.value};
  for (size_t c = 0; c < cells; c++) {
    assert_true(indicator[c] >= 0);
    sum[2] += indicator[c];
    for (int j = 0; j < 2; j++) sum[j] += indicator[c] * pcsim_mesh_get(mesh)->cell_centre[3 * c + (size_t)j];
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, comm);
  out.indicated = sum[2];
  for (int j = 0; j < 2; j++) out.middle[j] = sum[j] / sum[2];
  pcsim_free(&psi), pcsim_free(&indicator);
  pcsim_program_destroy(&of);
  law_end(&coarse), law_end(&fine);
  pcsim_raw_mesh_destroy(&raw), pcsim_raw_mesh_destroy(&fine_raw);
  return out;
}

#endif
