/* SPDX-License-Identifier: BSD-2-Clause */
/* Linear solvers of the case: the same flow through each of them, and options that PETSc refuses. */
#include "solver/march.h"

#include <petscsys.h>

static const sample triangles = {LATTICE_TRIANGLE, 12, 10, 0, 0.15, &unit_box};
static const sample hexahedra = {LATTICE_HEXA, 5, 5, 4, 0.1, &unit_box};

static void with_linear(march_run *r, const char *linear, const char *petsc) {
  snprintf(r->c.options.linear, sizeof r->c.options.linear, "%s", linear);
  snprintf(r->c.options.petsc, sizeof r->c.options.petsc, "%s", petsc);
}

static void same_flow(void **state) {
  /* additive Schwarz works on any number of ranks; plain ILU on one */
  static const char *const petsc[] = {"-pc_type asm -sub_pc_type ilu -sub_pc_factor_levels 1",
                                      "-ksp_type gmres -pc_type bjacobi -sub_pc_type lu", "-pc_type ilu"};
  int size;
  (void)state;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const size_t before = pcsim_memory_used();
  for (int k = 0; k < 3; k++) { /* triangles, hexahedra, cavity with a free pressure */
    march_run r = march_begin(MPI_COMM_WORLD, k == 1 ? &hexahedra : &triangles,
                              k == 0   ? channel_2d
                              : k == 1 ? channel_3d
                                       : cavity_2d);
    march_go(&r, PCSIM_OUTCOME_CONVERGED);
    const sides expected = sides_of(r.solver, r.c.mesh);
    for (int method = -2; method < (size == 1 ? 3 : 2); method++) {
      if (method < 0) with_linear(&r, method == -2 ? "multigrid" : "direct", "");
      else with_linear(&r, "petsc", petsc[method]);
      march_restart(&r);
      march_go(&r, PCSIM_OUTCOME_CONVERGED);
      const sides found = sides_of(r.solver, r.c.mesh);
      assert_same_sides(&found, &expected, 1e-9);
      if (method == -1 && k < 2) assert_true(r.result.linear_iterations > 0);
    }
    march_end(&r);
  }
  assert_int_equal(pcsim_memory_used(), before);
}

/* A status and a message at set-up or in the solve, nothing left behind, and the next solver works. */
static void refused(void **state) {
  static const char *const petsc[] = {"-pc_type nonsense", "-ksp_type nonsense",
                                      "-pc_type lu -pc_factor_mat_solver_type nonsense", "-ksp_rtol rubbish"};
  (void)state;
  march_run r = march_begin(MPI_COMM_WORLD, &triangles, channel_2d);
  march_go(&r, PCSIM_OUTCOME_CONVERGED); /* the halo has its buffers now */
  pcsim_flow_solver_destroy(&r.solver);
  const size_t before = pcsim_memory_used();
  for (size_t i = 0; i < sizeof petsc / sizeof *petsc; i++) {
    with_linear(&r, "petsc", petsc[i]);
    pcsim_error_clear();
    pcsim_status status = pcsim_flow_solver_create(r.c.mesh, r.c.problem, &r.c.options, &r.solver);
    if (status == PCSIM_OK) status = pcsim_flow_solver_run(r.solver, NULL, NULL, &r.result);
    else assert_null(r.solver);
    assert_int_equal(status, PCSIM_ERR_CASE);
    assert_non_null(strstr(pcsim_error_message(), petsc[i]));
    assert_non_null(strstr(pcsim_error_message(), "solve.linear.petsc: "));
    assert_non_null(strstr(pcsim_error_message(), i == 3 ? "rubbish has no numeric value" : "nonsense"));
    pcsim_flow_solver_destroy(&r.solver);
    assert_int_equal(pcsim_memory_used(), before);
    PetscBool left = PETSC_TRUE; /* the host's own options are in force again */
    assert_int_equal(PetscOptionsHasName(NULL, NULL,
                                         i == 1   ? "-ksp_type"
                                         : i == 3 ? "-ksp_rtol"
                                                  : "-pc_type",
                                         &left),
                     0);
    assert_false(left);
  }
  with_linear(&r, "auto", "");
  march_restart(&r);
  march_go(&r, PCSIM_OUTCOME_CONVERGED);
  march_end(&r);
}

static char warnings[512];
static void keep_warning(void *context, pcsim_log_level level, const char *line) {
  (void)context;
  if (level == PCSIM_LOG_WARNING) append(warnings, sizeof warnings, "%s\n", line);
}

/* Options that nothing asks for are named once, by one rank. */
static void unused(void **state) {
  int rank;
  (void)state;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  march_run r = march_begin(MPI_COMM_WORLD, &triangles, channel_2d);
  with_linear(&r, "petsc", "-pc_type asm -sub_pc_factor_levels 1 -pc_asm_overlpa 2");
  march_restart(&r);
  pcsim_log_set_sink(keep_warning, NULL);
  march_go(&r, PCSIM_OUTCOME_CONVERGED);
  pcsim_log_set_sink(NULL, NULL);
  assert_string_equal(warnings,
                      rank ? "" : "solve.linear.petsc: PETSc has no use for -pc_asm_overlpa here\n");
  march_end(&r);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_flow), cmocka_unit_test(refused),
                                     cmocka_unit_test(unused)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
