/* SPDX-License-Identifier: BSD-2-Clause */
/* The decaying vortices of Taylor and Green through time: orders in space and in time, the same bits after a
 * resumed run, the state kept where a run was stopped, one answer on any number of ranks. */
#include "solver/march.h"

#define DECAY "exp(-2*pi^2*0.02*t)"
/* Boundary values change in place and time; nothing gives the pressure. */
static const char *const vortex = "physics: {model: navier-stokes, density: 1, viscosity: 0.02}\n"
                                  "boundaries: {\"*\": {velocity: [\"-cos(pi*x)*sin(pi*y)*" DECAY
                                  "\", \"sin(pi*x)*cos(pi*y)*" DECAY "\"]}}\n"
                                  "initial: {velocity: [\"-cos(pi*x)*sin(pi*y)\", \"sin(pi*x)*cos(pi*y)\"],\n"
                                  "          pressure: \"-0.25*(cos(2*pi*x) + cos(2*pi*y))\"}\n"
                                  "solve: {time: {end: 1}}\n";

/* L2 norm of the velocity less the exact one at time t, relative to the exact one's. */
static double error_of(const march_run *r, double t) {
  const pcsim_mesh_view *v = pcsim_mesh_get(r->c.mesh);
  const double decay = exp(-2 * M_PI * M_PI * 0.02 * t);
  pcsim_flow_fields f;
  double sum[2] = {0};
  assert_ok(pcsim_flow_solver_fields(r->solver, &f));
  for (int64_t c = 0; c < v->num_cells; c++) {
    const double *x = v->cell_centre + 3 * c, *u = f.velocity + 3 * c;
    const double e[2] = {-cos(M_PI * x[0]) * sin(M_PI * x[1]) * decay,
                         sin(M_PI * x[0]) * cos(M_PI * x[1]) * decay};
    for (int i = 0; i < 2; i++) {
      sum[0] += v->cell_volume[c] * (u[i] - e[i]) * (u[i] - e[i]);
      sum[1] += v->cell_volume[c] * e[i] * e[i];
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(r->c.mesh));
  return sqrt(sum[0] / sum[1]);
}

static march_run begin(MPI_Comm comm, const sample *s, pcsim_time_scheme scheme, double step) {
  march_run r = march_begin(comm, s, vortex);
  r.c.options.time.scheme = scheme;
  r.c.options.time.step = step;
  march_restart(&r);
  return r;
}

static void order_in_space(void **state) {
  (void)state;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++) {
    double error[3];
    for (int k = 0; k < 3; k++) {
      const sample s = {(lattice_kind)kind, 8 << k, 8 << k, 0, 0.15, &unit_box};
      march_run r = begin(MPI_COMM_WORLD, &s, PCSIM_TIME_TR_BDF2, 0.1 / (1 << k));
      march_go(&r, PCSIM_OUTCOME_CONVERGED);
      error[k] = error_of(&r, 1);
      march_end(&r);
    }
    print_message("%s: %.3g %.3g %.3g, order %.2f\n", kind_names[kind], error[0], error[1], error[2],
                  log2(error[1] / error[2]));
    assert_true(log2(error[1] / error[2]) > 1.9);
  }
}

/* Velocities of a run with steps of this size, on one mesh. */
static double *velocities(pcsim_time_scheme scheme, double step, int64_t *n) {
  static const sample quads = {LATTICE_QUAD, 12, 12, 0, 0.1, &unit_box};
  march_run r = begin(MPI_COMM_WORLD, &quads, scheme, step);
  pcsim_flow_fields f;
  double *u = NULL;
  march_go(&r, PCSIM_OUTCOME_CONVERGED);
  assert_ok(pcsim_flow_solver_fields(r.solver, &f));
  *n = 3 * pcsim_mesh_get(r.c.mesh)->num_cells;
  assert_ok(pcsim_alloc((size_t)*n, sizeof *u, &u));
  memcpy(u, f.velocity, (size_t)*n * sizeof *u);
  march_end(&r);
  return u;
}

static double difference(const double *a, const double *b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(sum);
}

static void order_in_time(void **state) {
  (void)state;
  for (int scheme = PCSIM_TIME_TR_BDF2; scheme <= PCSIM_TIME_BDF2; scheme++) {
    double *u[3], order;
    int64_t n;
    for (int k = 0; k < 3; k++) u[k] = velocities((pcsim_time_scheme)scheme, 0.1 / (1 << k), &n);
    order = log2(difference(u[0], u[1], n) / difference(u[1], u[2], n));
    print_message("%s: differences %.3g %.3g, order %.2f\n", scheme == PCSIM_TIME_BDF2 ? "bdf2" : "tr-bdf2",
                  difference(u[0], u[1], n), difference(u[1], u[2], n), order);
    assert_true(order > 1.9 && order < 2.6);
    for (int k = 0; k < 3; k++) pcsim_free(&u[k]);
  }
}

/* ------------------------------------------------------------------- states */

static pcsim_status stop_at(void *context, const pcsim_solve_step *step) {
  if (step->step == *(const int64_t *)context) PCSIM_FAIL(PCSIM_ERR_IO, "stop");
  return PCSIM_OK;
}

static void resumed(void **state) {
  static const sample mixed = {LATTICE_MIXED_2D, 10, 8, 0, 0.1, &unit_box};
  (void)state;
  for (int scheme = PCSIM_TIME_TR_BDF2; scheme <= PCSIM_TIME_BDF2; scheme++) {
    double scalars[PCSIM_NUM_STATE_SCALARS];
    march_run whole = begin(MPI_COMM_WORLD, &mixed, (pcsim_time_scheme)scheme, 0);
    march_go(&whole, PCSIM_OUTCOME_CONVERGED);
    march_run half = begin(MPI_COMM_WORLD, &mixed, (pcsim_time_scheme)scheme, 0);
    int64_t stop = 14;
    assert_true(whole.result.steps > stop + 2);
    assert_status(pcsim_flow_solver_run(half.solver, stop_at, &stop, &half.result), PCSIM_ERR_IO);
    assert_int_equal(pcsim_flow_solver_state_step(half.solver), 10);
    const int width = pcsim_flow_solver_state_width(half.solver);
    const size_t n = (size_t)pcsim_mesh_get(half.c.mesh)->num_cells;
    double *q = NULL;
    assert_ok(pcsim_alloc(n * (size_t)width, sizeof *q, &q));
    assert_ok(pcsim_flow_solver_get_state(half.solver, q, scalars));
    march_run rest = begin(MPI_COMM_WORLD, &mixed, (pcsim_time_scheme)scheme, 0);
    assert_ok(pcsim_flow_solver_set_state(rest.solver, q, scalars));
    march_go(&rest, PCSIM_OUTCOME_CONVERGED);
    assert_int_equal(rest.result.steps, whole.result.steps);
    assert_int_equal(rest.result.linear_iterations, whole.result.linear_iterations);
    pcsim_flow_fields a, b;
    assert_ok(pcsim_flow_solver_fields(whole.solver, &a));
    assert_ok(pcsim_flow_solver_fields(rest.solver, &b));
    assert_memory_equal(a.velocity, b.velocity, 3 * n * sizeof(double));
    assert_memory_equal(a.pressure, b.pressure, n * sizeof(double));
    pcsim_free(&q);
    march_end(&whole), march_end(&half), march_end(&rest);
  }
}

static void one_answer(void **state) {
  static const sample triangles = {LATTICE_TRIANGLE, 12, 10, 0, 0.15, &unit_box};
  (void)state;
  march_run alone = begin(MPI_COMM_SELF, &triangles, PCSIM_TIME_TR_BDF2, 0.1);
  march_go(&alone, PCSIM_OUTCOME_CONVERGED);
  march_run all = begin(MPI_COMM_WORLD, &triangles, PCSIM_TIME_TR_BDF2, 0.1);
  march_go(&all, PCSIM_OUTCOME_CONVERGED);
  assert_int_equal(all.result.steps, 10);
  const double expected = error_of(&alone, 1), found = error_of(&all, 1);
  assert_true(expected > 1e-4 && expected < 0.05);
  assert_close(found, expected, 1e-4 * expected); /* solves end at their tolerance */
  march_end(&alone), march_end(&all);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(order_in_space), cmocka_unit_test(order_in_time),
                                     cmocka_unit_test(resumed), cmocka_unit_test(one_answer)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
