/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts that agree with the value at a wall, but not with the equation there. */
#include "base/case_text.h"
#include "pinn/train.h"

static pcsim_training *make(const char *equation, const char *boundaries, const char *start, const char *rest,
                            pcsim_tree **tree) {
  char text[800];
  pcsim_training *t = NULL;
  snprintf(text, sizeof text,
           "domain: {box: {x: [-1, 2], t: [0.5, 1.5]}}\n"
           "physics: {unknowns: [u], equations: [\"%s\"]}\n"
           "boundaries: {%s}\n"
           "initial: {%s}\n"
           "network: {layers: [6, 6], activation: tanh, scale: 1%s}\n"
           "train: {budget: 10 steps, points: 500, threads: 1}\n",
           equation, boundaries, start, rest);
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

static const char *const burgers = "2*u_t + u*u_x - 0.1*u_xx - u*(1 - u) - x",
                         *const walls = "x-min: {u: \"cos(3*(t - 0.5))\"}, x-max: {u: 10 + 5*(t - 0.5)}",
                         *const bent = "u: 2 + x + x^2*(1 + x)/2";

/* Near the corners the residual of what is given alone, times the rate's coefficient, goes from -rate to 0.
 */
static void near_corners(void **state) {
  (void)state;
  enum { N = 5 };
  /* (0.1 u'' + u (1 - u) + x - u u') / 2 of the start less the rate of the value, with u = 1 and 10, u' = 2 -
   * 1/2 ..: u'(-1) = 1 + (2x + 3x^2)/2 = 1.5, u''(-1) = 1 + 3x = -2; u'(2) = 9, u''(2) = 7 */
  const double rate[2] = {(0.1 * -2 + 0 - 1 - 1.5) / 2 - 0, (0.1 * 7 - 90 + 2 - 90) / 2 - 5};
  for (int off = 0; off < 2; off++) {
    pcsim_tree *tree;
    pcsim_training *t = make(burgers, walls, bent, off ? ", wall-rates: false" : "", &tree);
    for (int side = 0; side < 2; side++) {
      double points[N][2], r[N];
      if (off) assert_true(t->ansatz.walls.rate[side] == 0);
      else assert_close(t->ansatz.walls.rate[side], rate[side], 1e-12 * fabs(rate[side]));
      for (int i = 0; i < N; i++) { /* a thousandth of the start's slope from the corner, in all directions */
        const double since = 1e-8, far = sqrt(4 * 0.05 * since) * (0.01 + 0.7 * i);
        points[i][0] = side ? 2 - far : -1 + far, points[i][1] = 0.5 + since;
      }
      memset(t->best, 0, (size_t)t->num_parameters * sizeof *t->best);
      assert_ok(groups_residuals(t->groups, 0, t->best, N, points[0], &(groups_columns){0}, r));
      for (int i = 0; i < N; i++) assert_close(r[i], off ? -2 * rate[side] : 0, 1e-2 * fabs(rate[side]));
    }
    destroy(&t, &tree);
  }
}

/* Values at walls and start are held to rounding whatever the weights are. */
static void held(void **state) {
  (void)state;
  pcsim_tree *tree;
  pcsim_training *t = make(burgers, walls, bent, "", &tree);
  for (int64_t i = 0; i < t->num_parameters; i++) t->best[i] = 0.3 * sin(1. + (double)(7 * i));
  for (int i = 0; i <= 20; i++) {
    const double x = -1 + 3 * i / 20., since = i / 20.;
    double u, g[2];
    assert_ok(pcsim_training_evaluate(t, 1, (double[]){x, 0.5}, &u, g));
    assert_close(u, 2 + x + x * x * (1 + x) / 2, 1e-12 * 10);
    assert_ok(pcsim_training_evaluate(t, 1, (double[]){-1, 0.5 + since}, &u, g));
    assert_close(u, cos(3 * since), 1e-12);
    assert_ok(pcsim_training_evaluate(t, 1, (double[]){2, 0.5 + since}, &u, g));
    assert_close(u, 10 + 5 * since, 1e-12 * 10);
  }
  destroy(&t, &tree);
}

/* Nothing where start and equation agree at the walls, where either is penalised, where diffusion varies. */
static void none(void **state) {
  (void)state;
  static const char *const zero = "\"x-*\": {u: 0}", *const hill = "u: (x + 1)*(2 - x)";
  static const char *const of[][3] = {{"u_t - 0.1*u_xx", "\"x-*\": {u: 0}", "u: sin(pi*(x + 1))"},
                                      {"u_t - 0.1*u_xx - 0.2", zero, hill},
                                      {"u_t - (1 + x^2)*u_xx", zero, hill},
                                      {"u_t - 0.1*u_xx", "\"x-*\": {u: 0, exact: false}", hill},
                                      {"u_t - 0.1*u_xx", zero, "u: (x + 1)*(2 - x), exact: false"},
                                      {"u_t - 0.1*u_xx", "\"x-*\": {\"dn(u)\": -3}", hill},
                                      {"u_tt - 0.1*u_xx", zero, "u: (x + 1)*(2 - x), u_t: 0"}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    pcsim_tree *tree;
    pcsim_training *t = make(of[i][0], of[i][1], of[i][2], "", &tree);
    assert_true(t->ansatz.walls.rate[0] == 0 && t->ansatz.walls.rate[1] == 0);
    destroy(&t, &tree);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(near_corners), cmocka_unit_test(held),
                                     cmocka_unit_test(none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
