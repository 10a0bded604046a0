/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed laws with manufactured solutions in the plane: orders of accuracy on every kind of cell. */
#define E "sin(pi*x)*cos(pi*y) + x + 1.5"
#define F "2 + cos(x - 2*y)"
#define EACH(a) a ", " a
#define VELOCITY "vector(1, 2)"
#define PARAMETERS ""
#include "solver/named_laws.h"

static const double PI = 3.14159265358979323846;
/* Distortions of a tenth of the cells' size. */
static const double JITTER = 0.1;

static void two(const double *x, double *value) {
  value[0] = sin(PI * x[0]) * cos(PI * x[1]) + x[0] + 1.5;
  value[1] = 2 + cos(x[0] - 2 * x[1]);
}

static bool check_in_plane(const law_study *study, int blocks, int num) {
  bool good = true;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++)
    good &= law_check_orders(study, (sample){kind, blocks, blocks, 0, JITTER, &unit_box}, num, 1.9);
  return good;
}

static void named(void **state) {
  (void)state;
  bool good = true;
  for (int k = 0; k < NUM_NAMED_LAWS; k++)
    good &= check_in_plane(
        &(law_study){named_laws[k].name, named_laws[k].text, two, named_laws[k].steps, -1, false, 0}, 32, 2);
  assert_true(good);
}

/* ------------------------------------------------------------- other conditions */

static void elastic(const double *x, double *value) {
  value[0] = sin(PI * x[0]) * cos(PI * x[1]);
  value[1] = 0.5 * cos(PI * x[0]) * sin(PI * x[1]) + x[1];
}

/* Both Lame constants 1; a free side: the traction is given. */
static void elasticity(void **state) {
  (void)state;
  assert_true(check_in_plane(
      &(law_study){"elasticity, one side free",
                   "physics: {unknowns: [u, v], equations: "
                   "[\"-div(3*u_x + v_y, u_y + v_x) - 5*pi^2*sin(pi*x)*cos(pi*y)\", "
                   "\"-div(u_y + v_x, u_x + 3*v_y) - 4*pi^2*cos(pi*x)*sin(pi*y)\"]}\n"
                   "boundaries: {\"*\": {u: \"sin(pi*x)*cos(pi*y)\", v: \"cos(pi*x)*sin(pi*y)/2 + y\"},\n"
                   "             x-max: {flux: {u: \"3.5*pi*cos(pi*y) - 1\", v: 0}}}\n",
                   elastic, 2, -1, false, 0},
      32, 2));
}

/* Supercritical: what flows in is given, what flows out is free. Nothing diffuses: linear upwind fluxes. */
static void shallow(const double *x, double *value) {
  value[0] = 1 + 0.2 * sin(PI * x[0]) * cos(PI * x[1]);
  value[1] = value[2] = 2 * value[0];
}

#define SHALLOW_GIVEN "{h: H, p: \"2*H\", q: \"2*H\"}"
static void shallow_water(void **state) {
  (void)state;
  assert_true(check_in_plane(
      &(law_study){"shallow water, supercritical",
                   "physics: {unknowns: [h, p, q], coefficients: {H: \"1 + 0.2*sin(pi*x)*cos(pi*y)\"},\n"
                   "          equations: [\"div(p, q) - div(2*H, 2*H)\", "
                   "\"div(p^2/h + h^2/2, p*q/h) - div(4*H + H^2/2, 4*H)\", "
                   "\"div(p*q/h, q^2/h + h^2/2) - div(4*H, 4*H + H^2/2)\"]}\n"
                   "boundaries: {x-min: " SHALLOW_GIVEN ", y-min: " SHALLOW_GIVEN ", \"*\": {free: true}}\n"
                   "initial: {h: 1, p: 2, q: 2}\n",
                   shallow, 20, -1, false, 0},
      24, 2));
}

/* Slopes and Robin's condition around the corner values that are given. */
static void fluxes_given(void **state) {
  (void)state;
  assert_true(check_in_plane(&(law_study){"Poisson, fluxes given",
                                          "physics: {unknowns: [u], coefficients: {E: \"" E "\"},\n"
                                          "          equations: [\"-lap(u) + lap(E)\"]}\n"
                                          "boundaries: {\"*\": {u: E}, x-min: {flux: {u: \"-dn(E)\"}},\n"
                                          "             x-max: {flux: {u: \"2*(u - E) - dn(E)\"}}}\n",
                                          two, 3, -1, false, 0},
                             48, 2));
}

/* --------------------------------------------------------------- interfaces */

static double jump_place = 0.5;
static void jump_exact(const double *x, double *value) {
  value[0] = 1 + sin(PI * (x[0] - jump_place)) * cos(PI * x[1]) / (x[0] < jump_place ? 1000 : 1);
}

/* k u_x and u agree at x = P: u = 1 + w/k. */
static bool check_jump(const char *name, int blocks, int num, double place, double wanted) {
  const bool aligned = place == 0.5;
  bool good = true;
  char text[1024];
  snprintf(text, sizeof text,
           "parameters: {P: %.17g}\n"
           "physics: {unknowns: [u], coefficients: {k: {left: 1000, right: 1}},\n"
           "          equations: [\"-div(k*grad(u)) - 2*pi^2*sin(pi*(x - P))*cos(pi*y)\"]}\n"
           "boundaries: {\"*\": {u: \"1 + sin(pi*(x - P))*cos(pi*y)/where(x < P, 1000, 1)\"}}\n",
           place);
  jump_place = place;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++)
    good &= law_check_orders(&(law_study){name, text, jump_exact, 2, place, !aligned, 0},
                             (sample){kind, blocks, blocks, 0, aligned ? 0 : JITTER, &unit_box}, num, wanted);
  return good;
}

/* A jump of 1000 along faces, and one that the cells only follow in steps: how far these are off changes from
 * mesh to mesh, so that the order shows over several. */
static void interfaces(void **state) {
  (void)state;
  assert_true(check_jump("k jumps by 1000, aligned", 48, 2, 0.5, 1.9));
  assert_true(check_jump("the same, not aligned", 12, 4, 0.47, 0.9));
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(named), cmocka_unit_test(elasticity),
                                     cmocka_unit_test(shallow_water), cmocka_unit_test(fluxes_given),
                                     cmocka_unit_test(interfaces)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
