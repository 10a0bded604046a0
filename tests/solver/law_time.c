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

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders), cmocka_unit_test(ranks),
                                     cmocka_unit_test(wave)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
