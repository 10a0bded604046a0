/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts that jump or bend where their period ends. */
#include "base/case_text.h"
#include "pinn/train.h"

static const double pi = 3.14159265358979323846;

static pcsim_training *make(const char *equation, const char *start, const char *rest, pcsim_tree **tree) {
  char text[800];
  pcsim_training *t = NULL;
  snprintf(text, sizeof text,
           "domain: {box: {x: [-1, 2], t: [0.5, 1.5]}}\n"
           "physics: {unknowns: [u], equations: [\"%s\"]}\n"
           "boundaries: {x-min: {periodic: x-max}}\n"
           "initial: {u: \"%s\"}\n"
           "network: {layers: [6, 6], activation: tanh, scale: 1%s}\n"
           "train: {budget: 10 steps, points: 500, threads: 1}\n",
           equation, start, rest);
  *tree = read_text(text);
  assert_ok(pcsim_training_read(*tree, &t));
  expect_problems(*tree, "");
  assert_non_null(t);
  return t;
}

static void destroy(pcsim_training **t, pcsim_tree **tree) {
  pcsim_training_destroy(t);
  pcsim_tree_destroy(tree);
}

/* Value and gradient of what the network of zeros gives: the start alone. */
static double start_at(pcsim_training *t, double x, double time, double *gradient) {
  double u, g[2];
  memset(t->best, 0, (size_t)t->num_parameters * sizeof *t->best);
  assert_ok(pcsim_training_evaluate(t, 1, (double[]){x, time}, &u, gradient ? gradient : g));
  return u;
}

/* Residuals of the start alone are those of its smooth part, at every point; the sum of Fourier. */
static void carried(void **state) {
  (void)state;
  static const struct {
    const char *equation, *start;
    double diffusion, residual;
  } of[] = {{"2*u_t - 0.01*u_xx", "(x + 1)*(2 - x)", 0.005, 0.02},
            {"0.3*u_xx - u_t", "x^2 - x", 0.3, 0.6},
            {"u_t - 0.04*u_xx", "2*x", 0.04, 0}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    enum { N = 500 };
    double r[N];
    pcsim_tree *tree;
    pcsim_training *t = make(of[k].equation, of[k].start, "", &tree);
    assert_close(t->ansatz.seam[0].diffusion, of[k].diffusion, 1e-15);
    double *zeros = t->best;
    memset(zeros, 0, (size_t)t->num_parameters * sizeof *zeros);
    assert_ok(train_residuals(t, 0, zeros, sample_draw(SAMPLE_FRESH, 0), N, r));
    for (int i = 0; i < N; i++) assert_close(r[i], of[k].residual, 1e-9);
    destroy(&t, &tree);
  }
  pcsim_tree *tree;
  pcsim_training *t = make(of[0].equation, of[0].start, "", &tree);
  for (int i = 0; i <= 40; i++) {
    const double x = -1 + 3 * i / 40., y = (x + 1) / 3, time = 0.5 + 0.025 * i, since = time - 0.5;
    double sum = 9. / 6 + 0.02 / 2 * since;
    for (int n = 1; n < 4000; n++)
      sum -= 9 * cos(2 * pi * n * y) / (pi * pi * n * n) * exp(-0.005 * pow(2 * pi * n / 3, 2) * since);
    assert_close(start_at(t, x, time, NULL), sum, since > 0 ? 1e-12 : 3e-4);
    if (!(since > 0)) continue;
    double left[2], right[2];
    assert_close(start_at(t, -1, time, left), start_at(t, 2, time, right), 1e-12);
    assert_close(left[0], right[0], 1e-12); /* no kink is left */
  }
  destroy(&t, &tree);
}

/* The start is held to rounding where it is carried on, penalised where it is not; the seam is smooth
 * whatever the weights are. */
static void held(void **state) {
  (void)state;
  for (int off = 0; off < 2; off++) {
    pcsim_tree *tree;
    pcsim_training *t = make("u_t - 1e-3*u_xx - u*(1 - u)", "exp(x)", off ? ", seam: false" : "", &tree);
    for (int64_t i = 0; i < t->num_parameters; i++) t->best[i] = 0.3 * sin(1. + (double)(7 * i));
    double u, g[2], left[2], right[2];
    for (int i = 0; i <= 20; i++) {
      const double x = -0.999 + 2.998 * i / 20;
      assert_ok(pcsim_training_evaluate(t, 1, (double[]){x, 0.5}, &u, g));
      if (!off) assert_close(u, exp(x), 1e-12 * exp(x));
    }
    assert_ok(pcsim_training_evaluate(t, 1, (double[]){-1, 0.9}, &u, left));
    double v;
    assert_ok(pcsim_training_evaluate(t, 1, (double[]){2, 0.9}, &v, right));
    assert_int_equal(t->ansatz.seam[0].images > 0, !off);
    assert_int_equal(t->ansatz.built[0], !off);
    assert_close(u, v, 1e-10);
    assert_close(left[0], right[0], 1e-8);
    destroy(&t, &tree);
  }
}

/* No seam where the start is smooth, diffusion varies, depends on the unknown, is negative or is none. */
static void none(void **state) {
  (void)state;
  static const char *const of[][2] = {{"u_t - 0.1*u_xx", "sin(2*pi*x/3)"},
                                      {"u_t - 0.1*u_xx", "7"},
                                      {"u_t - (2 + sin(2*pi*x/3))*u_xx", "x^2"},
                                      {"u_t - u*u_xx", "x^2"},
                                      {"u_t + 0.1*u_xx", "x^2"},
                                      {"u_t + u_xxx", "x^2"},
                                      {"u_t - 0.1*u_xx + u_xxxx", "x^2"},
                                      {"u_t - 100*u_xx", "x^2"}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    pcsim_tree *tree;
    pcsim_training *t = make(of[i][0], of[i][1], "", &tree);
    assert_int_equal(t->ansatz.seam[0].images, 0);
    destroy(&t, &tree);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(carried), cmocka_unit_test(held),
                                     cmocka_unit_test(none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
