/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimated errors of numbers against the true ones on four meshes: the ratio of both, and that the corrected
 * number is the better one. */
#include "solver/estimates.h"

enum { MESHES = 4 };

static const char poisson[] = "physics: {unknowns: [u], equations: [\"-lap(u) + lap(" ESTIMATE_EXACT ")\"]}\n"
                              "boundaries: {\"*\": {u: \"" ESTIMATE_EXACT "\"}}\n";
static const char stream[] = "physics: {unknowns: [u], equations: [\"div(vector(2+y, 1)*u - 0.1*grad(u)) - "
                             "div(vector(2+y, 1)*(" ESTIMATE_EXACT ") - 0.1*grad(" ESTIMATE_EXACT "))\"]}\n"
                             "boundaries: {\"*\": {u: \"" ESTIMATE_EXACT "\"}}\n";
static const char heat[] =
    "physics: {unknowns: [u], equations: [\"-div((1 + u^2)*grad(u)) + div((1 + (" ESTIMATE_EXACT
    ")^2)*grad(" ESTIMATE_EXACT "))\"]}\n"
    "boundaries: {x-min: {u: \"" ESTIMATE_EXACT "\"}, y-min: {u: \"" ESTIMATE_EXACT
    "\"}, \"*\": {flux: {u: \"-(1 + u^2)*dn(" ESTIMATE_EXACT ")\"}}}\n";

/* Gauss quadrature on the unit square of u^2 x, along the side x = 1 of -u_x. */
static double integral(void) {
  enum { N = 200 };
  double sum = 0;
  for (int i = 0; i < 2 * N; i++)
    for (int j = 0; j < 2 * N; j++) {
      const double x = (i / 2 + 0.5 + (i % 2 ? 0.5 : -0.5) / sqrt(3)) / N,
                   y = (j / 2 + 0.5 + (j % 2 ? 0.5 : -0.5) / sqrt(3)) / N, u = estimate_exact(x, y);
      sum += 0.25 * u * u * x / (N * N);
    }
  return sum;
}
static double outflow(void) { return -(2 * cos(3.0) * sin(1.5) / 1.5 + 0.15); }

static void check(const estimate_law *law, lattice_kind kind, double jitter, int blocks) {
  for (int k = 0; k < MESHES; k++, blocks *= 2) {
    const sample s = {kind, blocks, blocks, 0, jitter, &unit_box};
    const estimate_result r = estimate_on(MPI_COMM_WORLD, law, &s);
    const double effectivity = r.estimated / r.true_error;
    print_message("%s, %s, %d blocks: error %.2e, estimated %.2e, ratio %.3f\n", law->what, kind_names[kind],
                  blocks, r.true_error, r.estimated, effectivity);
    assert_true(effectivity >= 0.8 && effectivity <= 1.25);
    assert_true(fabs(law->exact - r.corrected) < fabs(law->exact - r.value));
    assert_true(r.indicated > 0.2 * fabs(r.estimated));
  }
}

static void effectivity(void **state) {
  (void)state;
  const estimate_law laws[] = {{"Poisson, integral", poisson, "u^2*x", integral()},
                               {"Poisson, flux", poisson, NULL, outflow()},
                               {"advection-diffusion, integral", stream, "u^2*x", integral()},
                               {"heat with k(u), fluxes given, integral", heat, "u^2*x", integral()}};
  for (int k = 0; k < 4; k++) {
    check(&laws[k], LATTICE_QUAD, 0, 8);
    /* the flux's own error on distorted quadrilaterals is ten times smaller than on others, by cancellation
     */
    if (laws[k].of) check(&laws[k], LATTICE_QUAD, 0.1, 12);
    check(&laws[k], LATTICE_TRIANGLE, 0.1, 12);
    check(&laws[k], LATTICE_MIXED_2D, 0.1, 12);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(effectivity)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
