/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed laws with manufactured solutions: orders of accuracy on every kind of cell. */
#include "solver/laws.h"

static const double PI = 3.14159265358979323846;

static double solve(const sample *s, const char *text, exact_values exact, int64_t *steps) {
  law_run r = law_begin(sample_mesh(MPI_COMM_WORLD, s), text);
  pcsim_solve_result result;
  law_solve(&r, &result);
  const double error = law_error(&r, exact);
  *steps = result.steps;
  law_end(&r);
  return error;
}

/* Order from the first of `num` meshes, each twice as fine, to the last: distortions differ from mesh to
 * mesh. */
static void check_orders(sample s, int num, const char *text, exact_values exact, double wanted,
                         int64_t steps_most) {
  double first = 0, order = 0;
  for (int k = 0; k < num; k++, s.nx *= 2, s.ny *= 2, s.nz *= 2) {
    int64_t steps;
    const double error = solve(&s, text, exact, &steps);
    if (k == 0) first = error;
    order = k ? log2(first / error) / k : 0;
    if (!(steps <= steps_most && error < 0.1))
      print_error("%s, %d blocks: error %.3e, %lld steps\n", kind_names[s.kind], s.nx, error,
                  (long long)steps);
    assert_true(steps <= steps_most && error < 0.1);
  }
  if (!(order >= wanted)) print_error("%s: order %.2f\n", kind_names[s.kind], order);
  assert_true(order >= wanted);
}

static void poisson_2d(const double *x, double *value) { value[0] = sin(PI * x[0]) * cos(PI * x[1]) + x[0]; }
static void poisson_3d(const double *x, double *value) {
  value[0] = sin(PI * x[0]) * cos(PI * x[1]) * cos(PI * x[2]) + x[0];
}

static const char *const poisson_text_2d =
    "physics: {unknowns: [u], equations: [\"-lap(u) - 2*pi^2*sin(pi*x)*cos(pi*y)\"]}\n"
    "boundaries: {\"*\": {u: \"sin(pi*x)*cos(pi*y) + x\"}}\n";
static const char *const poisson_text_3d =
    "physics: {unknowns: [u], equations: [\"-lap(u) - 3*pi^2*sin(pi*x)*cos(pi*y)*cos(pi*z)\"]}\n"
    "boundaries: {\"*\": {u: \"sin(pi*x)*cos(pi*y)*cos(pi*z) + x\"}}\n";

/* On every kind of cell. Tetrahedra reach the order on finer meshes than a test may use: 1.7 from 3,000 to
 * 25,000 cells, 1.9 from 25,000 to 200,000. A linear problem is one of two solves. */
static void check_everywhere(const char *plane, exact_values exact_plane, const char *space,
                             exact_values exact_space, int64_t steps_most) {
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++)
    check_orders((sample){kind, 16, 16, 0, 0.1, &unit_box}, 3, plane, exact_plane, 1.9, steps_most);
  for (int kind = LATTICE_HEXA; space && kind <= LATTICE_PRISM; kind++)
    check_orders((sample){kind, 8, 8, 8, kind == LATTICE_HEXA ? 0 : 0.1, &unit_box}, 2, space, exact_space,
                 kind == LATTICE_TETRA ? 1.65 : 1.8, steps_most);
}

static void poisson(void **state) {
  (void)state;
  check_everywhere(poisson_text_2d, poisson_2d, poisson_text_3d, poisson_3d, 2);
}

/* ------------------------------------------------- other laws, the same solution */

/* u, its derivatives and its Laplacian in the plane, as text. */
#define U "(sin(pi*x)*cos(pi*y) + x)"
#define UX "(pi*cos(pi*x)*cos(pi*y) + 1)"
#define UY "(-pi*sin(pi*x)*sin(pi*y))"
#define LU "(-2*pi^2*sin(pi*x)*cos(pi*y))"
#define LAW(equation)                                                                                        \
  "physics: {unknowns: [u], equations: [\"" equation "\"]}\nboundaries: {\"*\": {u: \"" U "\"}}\n"           \
  "initial: {u: 0.5}\n"
/* And in space. */
#define U3 "(sin(pi*x)*cos(pi*y)*cos(pi*z) + x)"
#define U3X "(pi*cos(pi*x)*cos(pi*y)*cos(pi*z) + 1)"
#define U3Y "(-pi*sin(pi*x)*sin(pi*y)*cos(pi*z))"
#define U3Z "(-pi*sin(pi*x)*cos(pi*y)*sin(pi*z))"
#define L3U "(-3*pi^2*sin(pi*x)*cos(pi*y)*cos(pi*z))"
#define LAW3(equation)                                                                                       \
  "physics: {unknowns: [u], equations: [\"" equation "\"]}\nboundaries: {\"*\": {u: \"" U3 "\"}}\n"          \
  "initial: {u: 0.5}\n"

static void helmholtz(void **state) {
  (void)state;
  check_everywhere(LAW("-lap(u) - 5*u + " LU " + 5*" U), poisson_2d, LAW3("-lap(u) - 5*u + " L3U " + 5*" U3),
                   poisson_3d, 2);
}

static void heat(void **state) {
  (void)state;
  check_everywhere(
      LAW("-div((1 + u^2)*grad(u)) + (1 + " U "^2)*" LU " + 2*" U "*(" UX "^2 + " UY "^2)"), poisson_2d,
      LAW3("-div((1 + u^2)*grad(u)) + (1 + " U3 "^2)*" L3U " + 2*" U3 "*(" U3X "^2 + " U3Y "^2 + " U3Z "^2)"),
      poisson_3d, 12);
}

static void advection_diffusion(void **state) {
  (void)state;
  check_everywhere(
      LAW("div(vector(1, 2)*u - 0.05*grad(u)) - (" UX " + 2*" UY " - 0.05*" LU ")"), poisson_2d,
      LAW3("div(vector(1, 2, -1)*u - 0.05*grad(u)) - (" U3X " + 2*" U3Y " - " U3Z " - 0.05*" L3U ")"),
      poisson_3d, 2);
}

static void reaction_diffusion(void **state) {
  (void)state;
  check_everywhere(LAW("-lap(u) + u^3 + " LU " - " U "^3"), poisson_2d,
                   LAW3("-lap(u) + u^3 + " L3U " - " U3 "^3"), poisson_3d, 10);
}

static void burgers(void **state) {
  (void)state;
  check_everywhere(
      LAW("div(u^2/2, u^2/2) - 0.1*lap(u) - (" U "*(" UX " + " UY ") - 0.1*" LU ")"), poisson_2d,
      LAW3("div(u^2/2, u^2/2, u^2/2) - 0.1*lap(u) - (" U3 "*(" U3X " + " U3Y " + " U3Z ") - 0.1*" L3U ")"),
      poisson_3d, 12);
}

static void elastic_2d(const double *x, double *value) {
  value[0] = sin(PI * x[0]) * cos(PI * x[1]);
  value[1] = 0.5 * cos(PI * x[0]) * sin(PI * x[1]) + x[1];
}

/* Both Lame constants 1; a free side: the traction is given. */
static void elasticity(void **state) {
  (void)state;
  check_everywhere("physics: {unknowns: [u, v], equations: "
                   "[\"-div(3*u_x + v_y, u_y + v_x) - 5*pi^2*sin(pi*x)*cos(pi*y)\", "
                   "\"-div(u_y + v_x, u_x + 3*v_y) - 4*pi^2*cos(pi*x)*sin(pi*y)\"]}\n"
                   "boundaries: {\"*\": {u: \"sin(pi*x)*cos(pi*y)\", v: \"cos(pi*x)*sin(pi*y)/2 + y\"},\n"
                   "             x-max: {flux: {u: \"3.5*pi*cos(pi*y) - 1\", v: 0}}}\n",
                   elastic_2d, NULL, NULL, 2);
}

/* Supercritical: what flows in is given, what flows out is free. */
static void shallow_2d(const double *x, double *value) {
  value[0] = 1 + 0.2 * sin(PI * x[0]) * cos(PI * x[1]);
  value[1] = value[2] = 2 * value[0];
}

#define H "(1 + 0.2*sin(pi*x)*cos(pi*y))"
#define HX "(0.2*pi*cos(pi*x)*cos(pi*y))"
#define HY "(-0.2*pi*sin(pi*x)*sin(pi*y))"
#define SHALLOW_GIVEN "{h: \"" H "\", p: \"2*" H "\", q: \"2*" H "\"}"

static void shallow_water(void **state) {
  (void)state;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++)
    check_orders((sample){kind, 12, 12, 0, 0.1, &unit_box}, 3,
                 "physics: {unknowns: [h, p, q], equations: [\"div(p, q) - 2*(" HX " + " HY ")\", "
                 "\"div(p^2/h + h^2/2, p*q/h) - 4*" HX " - " H "*" HX " - 4*" HY "\", "
                 "\"div(p*q/h, q^2/h + h^2/2) - 4*" HX " - " H "*" HY " - 4*" HY "\"]}\n"
                 "boundaries: {x-min: " SHALLOW_GIVEN ", y-min: " SHALLOW_GIVEN ", \"*\": {free: true}}\n"
                 "initial: {h: 1, p: 2, q: 2}\n",
                 shallow_2d, 1.9, 20);
}

/* Slopes and Robin's condition around the corner values that are given. */
static void fluxes_given(void **state) {
  (void)state;
  check_everywhere("physics: {unknowns: [u], equations: [\"-lap(u) + " LU "\"]}\n"
                   "boundaries: {\"*\": {u: \"" U "\"}, x-min: {flux: {u: \"pi*cos(pi*y) + 1\"}},\n"
                   "             x-max: {flux: {u: \"2*(u - 1) + pi*cos(pi*y) - 1\"}}}\n",
                   poisson_2d,
                   "physics: {unknowns: [u], equations: [\"-lap(u) + " L3U "\"]}\n"
                   "boundaries: {\"*\": {u: \"" U3
                   "\"}, x-min: {flux: {u: \"pi*cos(pi*y)*cos(pi*z) + 1\"}},\n"
                   "             x-max: {flux: {u: \"2*(u - 1) + pi*cos(pi*y)*cos(pi*z) - 1\"}}}\n",
                   poisson_3d, 3);
}

/* --------------------------------------------------------------- interfaces */

/* k u_x and u agree at x = 1/2: u = 1 + w/k. */
static const char *const jump_text =
    "physics: {unknowns: [u], coefficients: {k: {left: 1000, right: 1}},\n"
    "          equations: [\"-div(k*grad(u)) - 2*pi^2*sin(pi*(x - P))*cos(pi*y)\"]}\n"
    "boundaries: {\"*\": {u: \"1 + sin(pi*(x - P))*cos(pi*y)/where(x < P, 1000, 1)\"}}\n";
static double jump_place = 0.5;
static void jump_exact(const double *x, double *value) {
  value[0] = 1 + sin(PI * (x[0] - jump_place)) * cos(PI * x[1]) / (x[0] < jump_place ? 1000 : 1);
}

static void check_jump(lattice_kind kind, int blocks, int num, double place, double wanted) {
  sample s = {kind, blocks, blocks, blocks, 0, &unit_box};
  char text[1024];
  double first = 0, order = 0;
  snprintf(text, sizeof text, "parameters: {P: %.17g}\n%s", place, jump_text);
  jump_place = place;
  for (int k = 0; k < num; k++, s.nx *= 2, s.ny *= 2, s.nz *= 2) {
    law_run r = law_begin(law_two_materials(MPI_COMM_WORLD, &s, place), text);
    pcsim_solve_result result;
    law_solve(&r, &result);
    const double error = law_error(&r, jump_exact);
    if (k == 0) first = error;
    order = k ? log2(first / error) / k : 0;
    assert_true(result.steps <= 2);
    law_end(&r);
  }
  if (!(order >= wanted)) print_error("%s, interface at %g: order %.2f\n", kind_names[kind], place, order);
  assert_true(order >= wanted);
}

/* A jump of 1000 along faces, and one that the cells only follow in steps. */
static void interfaces(void **state) {
  (void)state;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++) {
    check_jump(kind, 12, 3, 0.5, 1.9);
    check_jump(kind, 12, 4, 0.47, 0.9);
  }
  for (int kind = LATTICE_HEXA; kind <= LATTICE_PRISM; kind++)
    check_jump(kind, 8, 2, 0.5, kind == LATTICE_TETRA ? 1.65 : 1.8);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(poisson),
                                     cmocka_unit_test(helmholtz),
                                     cmocka_unit_test(heat),
                                     cmocka_unit_test(advection_diffusion),
                                     cmocka_unit_test(reaction_diffusion),
                                     cmocka_unit_test(burgers),
                                     cmocka_unit_test(elasticity),
                                     cmocka_unit_test(shallow_water),
                                     cmocka_unit_test(fluxes_given),
                                     cmocka_unit_test(interfaces)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
