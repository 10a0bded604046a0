/* SPDX-License-Identifier: BSD-2-Clause */
/* Viscosity that varies: the tangent against differences, what it is where it is constant after all, forces
 * that balance, the same on every rank count, what is said where it is not positive. */
#include "solver/march.h"
#include "solver/state.h"

/* The case of state.h with another viscosity. */
static void with_viscosity(int dim, const char *viscosity, char *text, size_t size) {
  static const char *const old = "0.02";
  const char *from = boundaries[dim - 2], *at = strstr(from, old);
  assert_non_null(at);
  snprintf(text, size, "%.*s\"%s\"%s", (int)(at - from), from, viscosity, at + strlen(old));
}

static setup set_up_viscous(const sample *s, const char *viscosity, double central) {
  char text[2048];
  with_viscosity(sample_dim(s), viscosity, text, sizeof text);
  setup t = {.c = case_of(sample_mesh(MPI_COMM_WORLD, s), text)};
  t.c.options.central = central;
  begin_state(&t);
  return t;
}

static void check_tangent(const sample *s, const char *viscosity, double central) {
  setup t = set_up_viscous(s, viscosity, central);
  const double step = 1e-6;
  for (int side = 0; side < 2; side++) {
    for (int64_t i = 0; i < t.size; i++) t.f->q[i] = t.q0[i] + (side ? step : -step) * t.v[i];
    assert_ok(flow_residual(t.f, side ? t.plus : t.minus));
  }
  memcpy(t.f->q, t.q0, (size_t)t.size * sizeof(double));
  assert_ok(flow_residual(t.f, t.y));
  assert_ok(flow_tangent(t.f, t.v, t.y));
  for (int64_t i = 0; i < t.size; i++) t.plus[i] = (t.plus[i] - t.minus[i]) / (2 * step);
  for (int64_t i = 0; i < t.size; i++) t.minus[i] = t.plus[i] - t.y[i];
  const double error = norm2(t.size, t.minus) / norm2(t.size, t.plus);
  if (!(error < 1e-8)) print_error("%s, %s: tangent off by %g\n", kind_names[s->kind], viscosity, error);
  assert_true(error < 1e-8);
  tear_down(&t);
}

static void tangents(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    check_tangent(&s, "0.3*shear^0.5", 1);
    check_tangent(&s, "0.1 + x^2/(1 + shear)", 0.3);
  }
}

/* A law that says the same everywhere: the residual is that of the constant viscosity but for the transposed
 * part of the stress, which vanishes on a uniform shear. */
static void uniform_shear(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    const bool flat = sample_dim(&s) == 2;
    double *r[2] = {NULL, NULL}, largest[2] = {0, 0};
    for (int law = 0; law < 2; law++) {
      char text[1024];
      snprintf(text, sizeof text,
               "physics: {model: navier-stokes, density: 1.3, viscosity: %s}\n"
               "boundaries: {\"*\": {velocity: [\"1 + 0.7*y\", 0%s]}}\n",
               law ? "\"0.01*(1 + shear/0.7)\"" : "0.02", flat ? "" : ", 0");
      sample_case c = case_of(sample_mesh(MPI_COMM_WORLD, &s), text);
      flow *f = NULL;
      assert_ok(flow_create(c.mesh, c.problem, &c.options, &f));
      const int m = f->dim + 1;
      assert_ok(pcsim_alloc((size_t)(f->n * m), sizeof(double), &r[law]));
      for (int64_t k = 0; k < f->n; k++)
        f->q[k * m] = (1 + 0.7 * f->view->cell_centre[3 * k + 1]) / f->scale_velocity;
      assert_ok(flow_residual(f, r[law]));
      for (int64_t k = 0; law && k < f->n * m; k++) {
        largest[0] = fmax(largest[0], fabs(r[1][k] - r[0][k]));
        largest[1] = fmax(largest[1], fabs(r[0][k]));
      }
      flow_destroy(&f);
      case_free(&c);
    }
    pcsim_free(&r[0]), pcsim_free(&r[1]);
    MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (!(largest[0] < 1e-10 * fmax(largest[1], 1)))
      print_error("%s: residuals differ by %g\n", kind_names[s.kind], largest[0]);
    assert_true(largest[0] < 1e-10 * fmax(largest[1], 1));
  }
}

/* --------------------------------------------------------------- whole solves */

/* Forces on all sides are what momentum flows out with, and the same on any number of ranks. */
static void forces(void **state) {
  (void)state;
  static const char *const text =
      "physics: {model: navier-stokes, density: 1.2, viscosity: \"0.1*shear^(-0.4) + 0.02*(1 + x)\"}\n"
      "boundaries: {x-min: {velocity: [\"4*y*(1-y)\", 0]}, x-max: {pressure: 1}, y-min: {wall: no-slip},\n"
      "             y-max: {wall: no-slip, velocity: [0.5, 0]}}\n"
      "solve: {tolerance: 1e-12}\n";
  const sample s = {LATTICE_TRIANGLE, 10, 9, 0, 0.1, &unit_box};
  sides found[2];
  for (int alone = 0; alone < 2; alone++) {
    march_run r = march_begin(alone ? MPI_COMM_SELF : MPI_COMM_WORLD, &s, text);
    march_go(&r, PCSIM_OUTCOME_CONVERGED);
    found[alone] = sides_of(r.solver, r.c.mesh);
    march_end(&r);
  }
  assert_same_sides(&found[0], &found[1], 1e-8);
  for (int i = 0; i < 2; i++) {
    double sum = found[0].momentum[i];
    for (int p = 0; p < 4; p++) sum += found[0].force[p][i];
    assert_close(sum, 0, 1e-9 * found[0].largest);
  }
}

/* Not positive where x > 1/2 and the fluid shears: a result that says so, with the cell. */
static void not_positive(void **state) {
  (void)state;
  const sample s = {LATTICE_QUAD, 8, 8, 0, 0, &unit_box};
  march_run r = march_begin(
      MPI_COMM_WORLD, &s,
      "physics: {model: navier-stokes, density: 1, viscosity: \"where(x > 0.5, 2 - shear, 2)\"}\n"
      "boundaries: {x-min: {velocity: [\"4*y*(1-y)\", 0]}, x-max: {pressure: 0}, \"y*\": {wall: no-slip}}\n"
      "initial: {velocity: [\"4*y*(1-y)\", 0]}\n");
  march_go(&r, PCSIM_OUTCOME_DIVERGED);
  char cell[64];
  snprintf(cell, sizeof cell, "at a face of cell %lld, ", (long long)r.result.worst_cell + 1);
  assert_non_null(strstr(r.result.reason, "the viscosity becomes -"));
  assert_non_null(strstr(r.result.reason, cell));
  assert_true(r.result.worst_centre[0] > 0.4);
  assert_true(fabs(r.result.worst_centre[1] - 0.5) > 0.25);
  march_end(&r);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tangents), cmocka_unit_test(uniform_shear),
                                     cmocka_unit_test(forces), cmocka_unit_test(not_positive)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
