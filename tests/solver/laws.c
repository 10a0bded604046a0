/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed laws with manufactured solutions: orders of accuracy on every kind of cell. */
#include "solver/laws.h"

static const double PI = 3.14159265358979323846;

static double solve(const sample *s, const char *text, exact_values exact, int64_t *steps) {
  law_run r = law_begin(sample_mesh(MPI_COMM_WORLD, s), text);
  pcsim_solve_result result;
  law_solve(&r, &result);
  const double error = law_error(&r, exact);
  if (getenv("LAWS_PRINT"))
    print_message("   %s %d: error %.3e, %lld steps, %lld linear, %.2f s\n", kind_names[s->kind], s->nx, error,
                  (long long)result.steps, (long long)result.linear_iterations, result.seconds);
  *steps = result.steps;
  law_end(&r);
  return error;
}

static void check_orders(sample s, int num, const char *text, exact_values exact, double wanted,
                         int64_t steps_most) {
  double last = 0;
  for (int k = 0; k < num; k++, s.nx *= 2, s.ny *= 2, s.nz *= 2) {
    int64_t steps;
    const double error = solve(&s, text, exact, &steps), order = k ? log2(last / error) : 9;
    if (!(order >= wanted && steps <= steps_most))
      print_error("%s, %d blocks: %.3e (order %.2f) in %lld steps\n", kind_names[s.kind], s.nx, error, order,
                  (long long)steps);
    assert_true(error < 0.1);
    assert_true(order >= wanted);
    assert_true(steps <= steps_most);
    last = error;
  }
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

static void poisson(void **state) {
  (void)state;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++)
    check_orders((sample){kind, 12, 12, 0, kind == LATTICE_QUAD ? 0 : 0.2, &unit_box}, 3, poisson_text_2d,
                 poisson_2d, 1.9, 3);
  for (int kind = LATTICE_HEXA; kind <= LATTICE_PRISM; kind++)
    check_orders((sample){kind, 5, 5, 5, kind == LATTICE_TETRA ? 0.1 : 0, &unit_box}, 3, poisson_text_3d,
                 poisson_3d, 1.9, 3);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(poisson)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
