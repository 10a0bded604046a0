/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows that a force of place and time drives: manufactured solutions of the Navier-Stokes equations, steady
 * and through time, with a pressure that has nothing to do with the velocity. */
#include "solver/exact.h"
#include "solver/march.h"

static const double frequency = 3;

/* u = sin 2x cos 2y, v = -cos 2x sin 2y, p = x exp(y) (1 + z): convection is sin 4x, sin 4y. */
static void exact_steady(const double *x, double *value) {
  value[0] = sin(2 * x[0]) * cos(2 * x[1]);
  value[1] = -cos(2 * x[0]) * sin(2 * x[1]);
  value[2] = 0;
  value[3] = x[0] * exp(x[1]) * (1 + x[2]);
}

static const char *const plane =
    "parameters: {R: 1.3, M: 0.1}\n"
    "physics:\n"
    "  model: navier-stokes\n  density: R\n  viscosity: M\n"
    "  force: [\"R*sin(4*x) + exp(y) + 8*M*sin(2*x)*cos(2*y)\", \"R*sin(4*y) + x*exp(y) - "
    "8*M*cos(2*x)*sin(2*y)\"]\n"
    "boundaries: {\"*\": {velocity: [\"sin(2*x)*cos(2*y)\", \"-cos(2*x)*sin(2*y)\"]}}\n";
static const char *const space =
    "parameters: {R: 1.3, M: 0.1}\n"
    "physics:\n"
    "  model: navier-stokes\n  density: R\n  viscosity: M\n"
    "  force: [\"R*sin(4*x) + exp(y)*(1 + z) + 8*M*sin(2*x)*cos(2*y)\",\n"
    "          \"R*sin(4*y) + x*exp(y)*(1 + z) - 8*M*cos(2*x)*sin(2*y)\", \"x*exp(y)\"]\n"
    "boundaries: {\"*\": {velocity: [\"sin(2*x)*cos(2*y)\", \"-cos(2*x)*sin(2*y)\", 0]}}\n";

static void steady(void **state) {
  (void)state;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++)
    check_orders((sample){(lattice_kind)kind, 16, 16, 0, 0.15, &unit_box}, 3, plane, exact_steady, 1.9, 1.0);
  for (int kind = LATTICE_HEXA; kind <= LATTICE_PRISM; kind++)
    check_orders((sample){(lattice_kind)kind, 6, 6, 6, 0, &unit_box}, kind == LATTICE_TETRA ? 2 : 3, space,
                 exact_steady, 1.8, 1.0);
}

/* ------------------------------------------------------------------ through time */

/* The same times cos wt. */
static const char *const swaying =
    "parameters: {R: 1.3, M: 0.1, w: 3}\n"
    "physics:\n"
    "  model: navier-stokes\n  density: R\n  viscosity: M\n"
    "  force: [\"R*(sin(4*x)*cos(w*t)^2 - w*sin(w*t)*sin(2*x)*cos(2*y)) + (exp(y) + "
    "8*M*sin(2*x)*cos(2*y))*cos(w*t)\",\n"
    "          \"R*(sin(4*y)*cos(w*t)^2 + w*sin(w*t)*cos(2*x)*sin(2*y)) + (x*exp(y) - "
    "8*M*cos(2*x)*sin(2*y))*cos(w*t)\"]\n"
    "boundaries: {\"*\": {velocity: [\"sin(2*x)*cos(2*y)*cos(w*t)\", \"-cos(2*x)*sin(2*y)*cos(w*t)\"]}}\n"
    "initial: {velocity: [\"sin(2*x)*cos(2*y)\", \"-cos(2*x)*sin(2*y)\"], pressure: \"x*exp(y)\"}\n"
    "solve: {time: {end: 1}}\n";

static void exact_swaying(const double *x, double *value) {
  exact_steady(x, value);
  for (int i = 0; i < 4; i++) value[i] *= cos(frequency);
}

static march_run sway(MPI_Comm comm, const sample *s, pcsim_time_scheme scheme, double step) {
  march_run r = march_begin(comm, s, swaying);
  r.c.options.time.scheme = scheme;
  r.c.options.time.step = step;
  march_restart(&r);
  march_go(&r, PCSIM_OUTCOME_CONVERGED);
  return r;
}

static flow_error error_at_end(march_run *r) {
  pcsim_flow_fields fields;
  assert_ok(pcsim_flow_solver_fields(r->solver, &fields));
  return error_of(&fields, exact_swaying);
}

/* Step and cells go down together: both orders are in what is left. */
static void orders_with_time(void **state) {
  (void)state;
  for (int scheme = PCSIM_TIME_TR_BDF2; scheme <= PCSIM_TIME_BDF2; scheme++)
    for (int kind = LATTICE_QUAD; kind <= LATTICE_TRIANGLE; kind++) {
      flow_error e[3];
      for (int k = 0; k < 3; k++) {
        const sample s = {(lattice_kind)kind, 8 << k, 8 << k, 0, 0.1, &unit_box};
        march_run r = sway(MPI_COMM_WORLD, &s, (pcsim_time_scheme)scheme, 0.1 / (1 << k));
        e[k] = error_at_end(&r);
        march_end(&r);
      }
      const double order = log2(e[1].velocity / e[2].velocity);
      print_message("%s, %s: velocity %.3g %.3g %.3g, order %.2f; pressure %.3g %.3g %.3g\n",
                    scheme == PCSIM_TIME_BDF2 ? "bdf2" : "tr-bdf2", kind_names[kind], e[0].velocity,
                    e[1].velocity, e[2].velocity, order, e[0].pressure, e[1].pressure, e[2].pressure);
      assert_true(order > 1.9);
      assert_true(e[2].velocity < 2e-3 && e[2].pressure < 0.05);
    }
}

static void one_answer(void **state) {
  static const sample mixed = {LATTICE_MIXED_2D, 10, 9, 0, 0.1, &unit_box};
  (void)state;
  march_run alone = sway(MPI_COMM_SELF, &mixed, PCSIM_TIME_TR_BDF2, 0.1);
  march_run all = sway(MPI_COMM_WORLD, &mixed, PCSIM_TIME_TR_BDF2, 0.1);
  const sides a = sides_of(alone.solver, alone.c.mesh), b = sides_of(all.solver, all.c.mesh);
  assert_same_sides(&b, &a, 1e-6);
  march_end(&alone), march_end(&all);
}

/* A force that has a potential moves nothing: the pressure takes it up, and its size is the scale. */
static void at_rest(void **state) {
  static const sample quads = {LATTICE_QUAD, 12, 12, 0, 0, &unit_box};
  (void)state;
  march_run r = march_begin(MPI_COMM_WORLD, &quads,
                            "physics: {model: navier-stokes, density: 2, viscosity: 0.1, force: [\"4*x\", "
                            "\"-6*y\"]}\nboundaries: {\"*\": {wall: no-slip}}\nsolve: {tolerance: 1e-12}\n");
  pcsim_flow_fields f;
  double largest = 0;
  march_go(&r, PCSIM_OUTCOME_CONVERGED);
  assert_ok(pcsim_flow_solver_fields(r.solver, &f));
  const pcsim_mesh_view *v = pcsim_mesh_get(r.c.mesh);
  for (int64_t i = 0; i < 3 * v->num_cells; i++) largest = fmax(largest, fabs(f.velocity[i]));
  const double U = pcsim_flow_problem_get(r.c.problem)->velocity_scale;
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  print_message("largest velocity %.3g, scale %.3g\n", largest, U);
  assert_true(U > 1.5 && U < 2 && largest < 2e-2 * U);
  march_end(&r);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steady), cmocka_unit_test(orders_with_time),
                                     cmocka_unit_test(one_answer), cmocka_unit_test(at_rest)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
