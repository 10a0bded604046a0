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
    check_orders((sample){kind, 12, 12, 0, 0.1, &unit_box}, 3, plane, exact_plane, 1.9, steps_most);
  for (int kind = LATTICE_HEXA; space && kind <= LATTICE_PRISM; kind++)
    check_orders((sample){kind, 8, 8, 8, kind == LATTICE_HEXA ? 0 : 0.1, &unit_box}, 2, space, exact_space,
                 kind == LATTICE_TETRA ? 1.65 : 1.9, steps_most);
}

static void poisson(void **state) {
  (void)state;
  check_everywhere(poisson_text_2d, poisson_2d, poisson_text_3d, poisson_3d, 2);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(poisson)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
