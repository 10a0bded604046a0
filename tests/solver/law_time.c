/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed laws through time: order of both schemes, exact solutions in place and time, step control, ranks. */
#include "solver/laws.h"

/* Two laws with reaction, moving boundary values, a product under dt. */
static const char *const text =
    "physics: {unknowns: [u, v], equations: [\"dt(u) - div((0.1 + 0.05*v^2)*grad(u)) - u*(1 - v)\", "
    "\"dt(v + 0.2*u*v) - 0.2*lap(v) + u^2*v\"]}\n"
    "boundaries: {x-min: {u: \"1 + sin(4*t)\", v: 0.5}, y-min: {v: \"exp(-t)*x\", flux: {u: \"u - t\"}},\n"
    "             \"*\": {symmetry: true}}\n"
    "initial: {u: 1, v: \"0.5 + 0.5*sin(pi*x)\"}\nsolve: {time: {end: 1}}\n";

static law_run begin(MPI_Comm comm, const sample *s, const char *law, double end) {
  law_run r = law_begin(sample_mesh(comm, s), law);
  r.options.time = (pcsim_time){.given = true, .end = end, .tolerance = 1e-4, .least = 1e-9, .steps = 100000};
  return r;
}

/* Values at the end, on every rank in the order of the raw mesh: [unknown][cell]; caller frees. */
static double *values_of(const law_run *r) {
  const pcsim_mesh_view *v = pcsim_mesh_get(r->mesh);
  pcsim_transport_fields f;
  double *all = NULL;
  assert_ok(pcsim_transport_solver_fields(r->solver, &f));
  assert_ok(pcsim_alloc((size_t)(v->num_cells_global * f.num_unknowns), sizeof *all, &all));
  for (int i = 0; i < f.num_unknowns; i++)
    assert_ok(pcsim_mesh_gather(r->mesh, 1, f.value[i], all + i * v->num_cells_global));
  MPI_Bcast(all, (int)(v->num_cells_global * f.num_unknowns), MPI_DOUBLE, 0, pcsim_mesh_comm(r->mesh));
  return all;
}

static double *solution(MPI_Comm comm, const sample *s, pcsim_time_scheme scheme, double step,
                        double tolerance, int64_t *size) {
  law_run r = begin(comm, s, text, 1);
  pcsim_solve_result result;
  r.options.time.scheme = scheme;
  r.options.time.step = step;
  r.options.time.tolerance = tolerance;
  law_solve(&r, &result);
  assert_close(result.time, 1, 1e-12);
  *size = 2 * pcsim_mesh_get(r.mesh)->num_cells_global;
  double *all = values_of(&r);
  law_end(&r);
  return all;
}

static double distance(const double *a, const double *b, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; i++) largest = isfinite(a[i]) ? fmax(largest, fabs(a[i] - b[i])) : 1e300;
  return largest;
}

static void orders(void **state) {
  (void)state;
  const sample s = {LATTICE_TRIANGLE, 5, 4, 0, 0.1, &unit_box};
  int64_t n;
  double *fine = solution(MPI_COMM_WORLD, &s, PCSIM_TIME_TR_BDF2, 1.0 / 640, 1, &n);
  for (int scheme = PCSIM_TIME_TR_BDF2; scheme <= PCSIM_TIME_BDF2; scheme++) {
    double error[2];
    for (int k = 0; k < 2; k++) {
      double *q = solution(MPI_COMM_WORLD, &s, (pcsim_time_scheme)scheme, k ? 1.0 / 80 : 1.0 / 40, 1, &n);
      error[k] = distance(q, fine, n);
      pcsim_free(&q);
    }
    const double order = log2(error[0] / error[1]);
    if (!(order >= 1.9))
      print_error("scheme %d: %.3e, %.3e, order %.2f\n", scheme, error[0], error[1], order);
    assert_true(order >= 1.9 && error[0] < 0.01);
  }
  /* the tolerance is of the size of what comes out */
  for (int scheme = PCSIM_TIME_TR_BDF2; scheme <= PCSIM_TIME_BDF2; scheme++) {
    double *q = solution(MPI_COMM_WORLD, &s, (pcsim_time_scheme)scheme, 0, 1e-5, &n);
    const double error = distance(q, fine, n);
    if (!(error < 1e-3)) print_error("scheme %d: error %.3e at tolerance 1e-5\n", scheme, error);
    assert_true(error < 1e-3);
    pcsim_free(&q);
  }
  pcsim_free(&fine);
}

/* Any number of ranks gives what one gives, up to the tolerances of the solves. */
static void ranks(void **state) {
  (void)state;
  const sample s = {LATTICE_MIXED_2D, 6, 5, 0, 0.1, &unit_box};
  int64_t n;
  double *all = solution(MPI_COMM_WORLD, &s, PCSIM_TIME_TR_BDF2, 0.05, 1, &n);
  double *alone = solution(MPI_COMM_SELF, &s, PCSIM_TIME_TR_BDF2, 0.05, 1, &n);
  assert_true(distance(all, alone, n) < 1e-6);
  pcsim_free(&all), pcsim_free(&alone);
}

/* A wave of Burgers' equation that moves without change: u = 1 - tanh((x - 0.3 - t)/(2 nu)). */
static void wave_exact(const double *x, double *value) {
  value[0] = 1 - tanh((x[0] - 0.3 - 0.4) / (2 * 0.05));
}

static void wave(void **state) {
  (void)state;
  double error[3];
  for (int k = 0; k < 3; k++) {
    const sample s = {LATTICE_QUAD, 20 << k, 3, 0, 0, &unit_box};
    law_run r =
        begin(MPI_COMM_WORLD, &s,
              "parameters: {nu: 0.05}\n"
              "physics: {unknowns: [u], equations: [\"dt(u) + div(u^2/2, 0) - nu*lap(u)\"]}\n"
              "boundaries: {\"x*\": {u: \"1 - tanh((x - 0.3 - t)/(2*nu))\"}, \"y*\": {symmetry: true}}\n"
              "initial: {u: \"1 - tanh((x - 0.3)/(2*nu))\"}\nsolve: {time: {end: 0.4}}\n",
              0.4);
    pcsim_solve_result result;
    r.options.time.tolerance = 1e-5;
    law_solve(&r, &result);
    error[k] = law_error(&r, wave_exact);
    law_end(&r);
  }
  const double order = log2(error[0] / error[2]) / 2;
  if (!(order >= 1.9)) print_error("%.3e, %.3e, %.3e: order %.2f\n", error[0], error[1], error[2], order);
  assert_true(order >= 1.9 && error[2] < 0.01);
}

/* -------------------------------------------------------------------- stops */

typedef struct {
  int num;
  double time[1000];
} visited;

static pcsim_status visit(void *context, const pcsim_solve_step *step) {
  visited *v = context;
  if (v->num < 1000) v->time[v->num++] = step->time;
  return PCSIM_OK;
}

static bool met(const visited *v, double time) {
  for (int i = 0; i < v->num; i++)
    if (fabs(v->time[i] - time) <= 1e-14) return true;
  return false;
}

/* Steps end where tables over time bend: in a condition, through a coefficient, shifted and scaled; a table
 * over a place has no times. */
static void kinks(void **state) {
  (void)state;
  int rank, size;
  char name[64], text_of_kinks[1024];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(name, sizeof name, "law_time_kinks-%d.csv", size); /* tests may run side by side */
  if (rank == 0) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs("t, value\n0, 0\n0.21, 1\n0.4, 0.5\n2, 0.7\n", file);
    assert_int_equal(fclose(file), 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const sample s = {LATTICE_TRIANGLE, 4, 4, 0, 0.1, &unit_box};
  snprintf(text_of_kinks, sizeof text_of_kinks,
           "physics: {unknowns: [u], tables: {p: %s}, coefficients: {c: \"t/2 - 0.1\"},\n"
           "  equations: [\"dt(u) - lap(u) + table(p, c) + table(p, 0.3 + 0.11*x)\"]}\n"
           "boundaries: {x-min: {u: {table: %s}}, \"*\": {symmetry: true}}\n"
           "initial: {u: 0}\nsolve: {time: {end: 1}}\n",
           name, name);
  law_run r = begin(MPI_COMM_WORLD, &s, text_of_kinks, 1);
  const pcsim_transport_view *view = pcsim_transport_problem_get(r.problem);
  const double expected[] = {0.2, 0.21, 0.4, 0.62};
  assert_int_equal(view->num_kinks, 4);
  for (int i = 0; i < 4; i++) assert_close(view->kinks[i], expected[i], 1e-14);
  visited v = {0};
  pcsim_solve_result result;
  r.options.time.tolerance = 1e-3;
  assert_ok(pcsim_transport_solver_create(r.mesh, r.problem, &r.options, &r.solver));
  assert_ok(pcsim_transport_solver_run(r.solver, visit, &v, &result));
  assert_int_equal(result.outcome, PCSIM_OUTCOME_CONVERGED);
  for (int i = 0; i < 4; i++) assert_true(met(&v, expected[i]));
  assert_true(v.num < 200);
  law_end(&r);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) assert_int_equal(remove(name), 0);
}

/* u_t = u^2 has no solution beyond t = 1: the run ends with the equation, the cell and the last good state.
 */
static void blow_up(void **state) {
  (void)state;
  const sample s = {LATTICE_QUAD, 4, 4, 0, 0, &unit_box};
  law_run r = begin(MPI_COMM_WORLD, &s,
                    "physics: {unknowns: [u], equations: [\"dt(u) - 1e-3*lap(u) - u^2\"]}\n"
                    "boundaries: {\"*\": {symmetry: true}}\n"
                    "initial: {u: 1}\nsolve: {time: {end: 2}}\n",
                    2);
  pcsim_solve_result result;
  r.options.time.least = 1e-6;
  assert_ok(pcsim_transport_solver_create(r.mesh, r.problem, &r.options, &r.solver));
  assert_ok(pcsim_transport_solver_run(r.solver, NULL, NULL, &result));
  assert_int_equal(result.outcome, PCSIM_OUTCOME_DIVERGED);
  assert_true(result.time > 0.9 && result.time < 1.1);
  assert_non_null(strstr(result.reason, "the step fell under its limit of 1e-06"));
  assert_non_null(strstr(result.reason, "the u equation"));
  assert_non_null(strstr(result.reason, "in cell"));
  assert_true(result.worst_cell >= 0 && result.worst_cell < 16);
  double *q = values_of(&r);
  for (int c = 0; c < 16; c++) assert_true(q[c] > 10 && isfinite(q[c]));
  pcsim_free(&q);
  law_end(&r);
}

/* Porous medium: bounds keep what spreads into empty cells from falling below zero there, and lose nothing.
 */
static void front(bool bounded, double *lowest, double *lost) {
  const sample s = {LATTICE_TRIANGLE, 12, 12, 0, 0.15, &unit_box};
  law_run r = begin(MPI_COMM_WORLD, &s,
                    "physics: {unknowns: [u], equations: [\"dt(u) - lap(u^3)\"]}\n"
                    "boundaries: {\"*\": {symmetry: true}}\n"
                    "initial: {u: \"sqrt(max(0.1 - (x^2 + y^2), 0))\"}\nsolve: {time: {end: 0.5}}\n",
                    0.5);
  const pcsim_mesh_view *v = pcsim_mesh_get(r.mesh);
  pcsim_solve_result result;
  pcsim_transport_fields f;
  double sum[2] = {0, 0};
  if (bounded) r.options.bounded = 1, r.options.low[0] = 0, r.options.high[0] = INFINITY;
  assert_ok(pcsim_transport_solver_create(r.mesh, r.problem, &r.options, &r.solver));
  *lowest = 1;
  for (int end = 0; end < 2; end++) {
    if (end) assert_ok(pcsim_transport_solver_run(r.solver, NULL, NULL, &result));
    assert_ok(pcsim_transport_solver_fields(r.solver, &f));
    for (int64_t c = 0; c < v->num_cells; c++) {
      sum[end] += v->cell_volume[c] * f.value[0][c];
      *lowest = fmin(*lowest, f.value[0][c]);
    }
  }
  assert_int_equal(result.outcome, PCSIM_OUTCOME_CONVERGED);
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, lowest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  *lost = fabs(sum[1] - sum[0]) / sum[0];
  law_end(&r);
}

static void bounds(void **state) {
  (void)state;
  double lowest, lost;
  front(false, &lowest, &lost);
  assert_true(lowest < -1e-6);
  front(true, &lowest, &lost);
  if (!(lowest >= 0 && lost < 1e-5)) print_error("lowest %g, lost %g\n", lowest, lost);
  assert_true(lowest >= 0 && lost < 1e-5);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders),  cmocka_unit_test(ranks),
                                     cmocka_unit_test(wave),    cmocka_unit_test(kinks),
                                     cmocka_unit_test(blow_up), cmocka_unit_test(bounds)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
