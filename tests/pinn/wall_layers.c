/* SPDX-License-Identifier: BSD-2-Clause */
/** @file wall_layers.c  What diffusion makes of conditions that contradict the start: the half space's
 * formula against its equation, what stands in A without a network, which cases have it. */
#include "base/case_text.h"
#include "pinn/heat_kernel.h"
#include "pinn/train.h"

enum { N = 200 };

/* -------------------------------------------------------------------------------- formulas */

/* Outputs of a program of "at" [rows] at points [n][rows]. */
static void run(const pcsim_program *program, int64_t n, const double *at, int num,
                const char *const *outputs, double (*values)[N]) {
  pcsim_executor *x;
  assert_ok(pcsim_executor_create(program, NULL, &x));
  assert_ok(pcsim_executor_points(x, "points", n));
  assert_ok(pcsim_executor_bind(x, "at", at));
  for (int i = 0; i < num; i++) assert_ok(pcsim_executor_bind_output(x, outputs[i], values[i]));
  assert_ok(pcsim_executor_run(x, false));
  pcsim_executor_destroy(&x);
}

static void erfcx(void **state) {
  (void)state;
  pcsim_program *p;
  const char *const output = "e";
  double x[N], e[1][N];
  assert_ok(pcsim_program_create(&p));
  const pcsim_space space = pcsim_build_space(p, "points");
  pcsim_build_output(p, output, heat_erfcx(p, pcsim_build_input(p, "at", space, 1)));
  for (int i = 0; i < N; i++) x[i] = i < 100 ? 0.05 * i : pow(10, 1 + 0.06 * (i - 100));
  run(p, N, x, 1, &output, e);
  for (int i = 0; i < N; i++) {
    const double y = 1 / (2 * x[i] * x[i]);
    if (x[i] < 5) assert_close(e[0][i] / (exp(x[i] * x[i]) * erfc(x[i])), 1, 1e-13);
    if (x[i] > 100)
      assert_close(e[0][i] * x[i] * sqrt(acos(-1)) / (1 - y + 3 * y * y - 15 * y * y * y), 1, 1e-13);
  }
  pcsim_program_destroy(&p);
}

/* W_s = W_dd, - W_d + q W = 1 at the wall, 0 at the start; q from none to where exp(q d) is no number. */
static void half_space(void **state) {
  (void)state;
  static const double q[] = {0, 1e-9, 1e-3, 1.5, 200};
  static const char *const outputs[] = {"w", "w_p_0", "w_p_1", "w_p_2"};
  static const int orders[] = {0, 1, 2, 0, 1, 0}; /* of (d, s): W_s, W_dd, W_d */
  double at[2 * N], w[4][N];
  for (int i = 0; i < N; i++) {
    at[2 * i + 1] = pow(10, -10 + 10. * i / (N - 1));
    at[2 * i] = i % 2 ? 0 : 5e-2 * (i % 20) * sqrt(at[2 * i + 1]) + (i % 20 == 18 ? 10 : 0);
  }
  for (size_t k = 0; k < sizeof q / sizeof *q; k++) {
    pcsim_program *p, *with;
    assert_ok(pcsim_program_create(&p));
    const pcsim_space space = pcsim_build_space(p, "points");
    const pcsim_value in = pcsim_build_input(p, "at", space, 2);
    pcsim_build_output(
        p, "w", heat_half_space(p, pcsim_build_slice(p, in, 0, 1), pcsim_build_slice(p, in, 1, 1), q[k], 1));
    assert_ok(pcsim_transform_partials(p, "at", orders, 3, &with));
    run(with, N, at, 4, outputs, w);
    for (int i = 0; i < N; i++) {
      const double s = at[2 * i + 1];
      /* a difference over q: 1e-16 / (q sqrt(s)) is lost */
      const double lost = q[k] > 1e-6 ? 1e-14 / (q[k] * sqrt(s)) : 0;
      assert_close(w[1][i] * sqrt(s), w[2][i] * sqrt(s), 1e-11 + lost);
      if (at[2 * i] > 0) continue;
      assert_close(-w[3][i] + q[k] * w[0][i], 1, 1e-6);
      assert_close(w[0][i] / heat_at_wall(q[k], s), 1, q[k] > 100 ? 1e-3 : 1e-6);
      if (i == 1) assert_close(w[0][i], 2 * sqrt(s / acos(-1)), 1e-2 * sqrt(s));
    }
    pcsim_program_destroy(&with);
    pcsim_program_destroy(&p);
  }
}

/* --------------------------------------------------------------------------------- in cases */

static pcsim_training *make(const char *text, pcsim_tree **tree) {
  pcsim_training *t = NULL;
  *tree = read_text(text);
  assert_ok(pcsim_training_read(*tree, &t));
  expect_problems(*tree, "");
  assert_non_null(t);
  return t;
}

static int count_layers(const pcsim_training *t) {
  int n = 0;
  for (int i = 0; i < t->from->problem.num_conditions; i++) n += t->ansatz.layered[i];
  return n;
}

/* Largest residual of a group without the network; `over_u`: that by u is subtracted from it first. */
static double largest(pcsim_training *t, int group) {
  double r[N], most = 0;
  double *zeros;
  assert_ok(pcsim_alloc((size_t)t->num_parameters, sizeof *zeros, &zeros));
  assert_ok(train_residuals(t, group, zeros, sample_draw(SAMPLE_FRESH, 0), N, r));
  for (int i = 0; i < N; i++) most = fmax(most, fabs(r[i]));
  pcsim_free(&zeros);
  return most;
}

/* What holds exactly without a network does: a half space whose start has a slope; a ball. */
static void exact(void **state) {
  (void)state;
  static const char *const texts[] = {
      "domain: {box: {x: [0, 10], t: [1, 1.1]}}\n"
      "physics: {unknowns: [u], equations: [\"3*dt(u) - 6*lap(u)\"]}\n"
      "initial: {u: 1 + 2*x}\n"
      "boundaries: {x-min: {\"3*dn(u)\": \"2 - u\"}, x-max: {\"dn(u)\": 2}}\n"
      "network: {layers: [6], activation: tanh}\ntrain: {budget: 5 steps, points: 100}\n",
      "domain: {box: {x: [-9, 9], y: [-9, 9], z: [-9, 9], t: [0, 0.5]}, minus: {hole: {ball: {centre: [0, 0, "
      "0], radius: 2}}}}\n"
      "physics: {unknowns: [u], equations: [\"dt(u) - div(grad(u))\"]}\n"
      "initial: {u: 1}\n"
      "boundaries: {hole: {flux: {u: \"3*(u - 5)\"}}, \"*\": {\"dn(u)\": 0}}\n"
      "network: {layers: [6], activation: tanh}\ntrain: {budget: 5 steps, points: 100}\n",
  };
  for (int k = 0; k < 2; k++) {
    pcsim_tree *tree;
    pcsim_training *t = make(texts[k], &tree);
    assert_int_equal(count_layers(t), 1);
    assert_int_equal(t->num_groups, 3);
    for (int g = 0; g < 3; g++) assert_true(largest(t, g) < 1e-8);
    pcsim_training_destroy(&t);
    pcsim_tree_destroy(&tree);
  }
}

/* About a cylinder u_t - c lap u = - c u / (4 r^2) is left. */
static void cylinder(void **state) {
  (void)state;
  pcsim_tree *tree;
  pcsim_training *t =
      make("domain: {box: {x: [-9, 9], y: [-9, 9], t: [0, 0.5]}, minus: {hole: {ball: {centre: [1, 0], "
           "radius: 2}}}}\n"
           "physics: {unknowns: [u], equations: [\"dt(u) - 0.7*lap(u)\"]}\n"
           "initial: {u: 0}\n"
           "boundaries: {hole: {\"dn(u)\": \"5 - u\"}, \"*\": {\"dn(u)\": 0}}\n"
           "network: {layers: [6], activation: tanh}\ntrain: {budget: 5 steps, points: 100}\n",
           &tree);
  double points[3 * N], u[N], r[N], columns[2 * N];
  memset(t->best, 0, (size_t)t->num_parameters * sizeof *t->best);
  assert_true(largest(t, 1) < 1e-8);
  assert_ok(train_points(t, 0, sample_draw(SAMPLE_FRESH, 0), N, points, columns));
  assert_ok(train_residuals(t, 0, t->best, sample_draw(SAMPLE_FRESH, 0), N, r));
  assert_ok(pcsim_training_evaluate(t, N, points, u, NULL));
  double most = 0;
  for (int i = 0; i < N; i++) {
    const double x = points[3 * i] - 1, y = points[3 * i + 1];
    assert_close(r[i], -0.7 * u[i] / (4 * (x * x + y * y)), 1e-9);
    most = fmax(most, u[i]);
  }
  assert_true(most > 0.5);
  /* the wall itself at the start */
  assert_ok(pcsim_training_evaluate(t, 1, (double[]){3, 0, 0}, u, NULL));
  assert_close(u[0], 0, 1e-6);
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
}

/* Without contradiction, with values held, a diffusion that depends on the unknown or the place, waves, and
 * where the case says so there are none. */
static void none(void **state) {
  (void)state;
  static const char *const cases[][4] = {
      {"dt(u) - u_xx", "u: 0", "x-min: {\"dn(u)\": 0}, x-max: {\"dn(u)\": \"-u\"}", ""},
      {"dt(u) - u_xx", "u: 0", "x-min: {u: 0}, x-max: {\"dn(u)\": 1}", ""},
      {"dt(u) - div((1 + u)*grad(u))", "u: 0", "\"x-*\": {\"dn(u)\": 1}", ""},
      {"dt(u) - (1 + x)*u_xx", "u: 0", "\"x-*\": {\"dn(u)\": 1}", ""},
      {"u_tt - u_xx", "u: 0, u_t: 0", "\"x-*\": {\"dn(u)\": 1}", ""},
      {"dt(u) + u_xx", "u: 0", "\"x-*\": {\"dn(u)\": 1}", ""},
      {"dt(u) - u_xx", "u: 0", "\"x-*\": {\"dn(u)\": 1}", ", wall-layers: false"},
      {"dt(u) - u_xx + u^3", "u: 0", "\"x-*\": {\"dn(u)\": 1}", ""}, /* has one */
  };
  const size_t n = sizeof cases / sizeof *cases;
  for (size_t i = 0; i < n; i++) {
    char text[1000];
    pcsim_tree *tree;
    snprintf(text, sizeof text,
             "domain: {box: {x: [0, 1], t: [0, 1]}}\nphysics: {unknowns: [u], equations: [\"%s\"]}\n"
             "initial: {%s}\nboundaries: {%s}\nnetwork: {layers: [6], activation: tanh%s}\n"
             "train: {budget: 5 steps, points: 100}\n",
             cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
    pcsim_training *t = make(text, &tree);
    assert_int_equal(count_layers(t), i + 1 == n);
    pcsim_training_destroy(&t);
    pcsim_tree_destroy(&tree);
  }
}

/* Two slabs: the seam is continuous and the layers go on; what is learnt is far less than without. */
static void slabs(void **state) {
  (void)state;
  static const char *const rod =
      "domain: {box: {x: [0, 1], t: [0, 1]}}\n"
      "physics: {unknowns: [u], equations: [\"dt(u) - lap(u)\"]}\ninitial: {u: 0}\n"
      "boundaries: {x-min: {\"dn(u)\": 1}, x-max: {\"dn(u)\": \"-u\"}}\n"
      "network: {layers: [10, 10], activation: tanh, scale: 1%s}\n"
      "train: {budget: 400 steps, points: 300, threads: 1, slabs: 2, stages: 1}\n";
  double held_out[2];
  for (int without = 0; without < 2; without++) {
    char text[1000];
    pcsim_tree *tree;
    pcsim_training_result result;
    double before, after;
    snprintf(text, sizeof text, rod, without ? ", wall-layers: false" : "");
    pcsim_training *t = make(text, &tree);
    assert_ok(pcsim_training_run(t, -1, NULL, NULL, &result));
    held_out[without] = result.held_out;
    assert_ok(pcsim_training_evaluate(t, 1, (double[]){0.1, 0.5 - 1e-12}, &before, NULL));
    assert_ok(pcsim_training_evaluate(t, 1, (double[]){0.1, 0.5 + 1e-12}, &after, NULL));
    assert_close(before, after, 1e-9);
    pcsim_training_destroy(&t);
    pcsim_tree_destroy(&tree);
  }
  assert_true(held_out[0] < 1e-5 && held_out[0] < 1e-3 * held_out[1]);
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(erfcx),    cmocka_unit_test(half_space), cmocka_unit_test(exact),
      cmocka_unit_test(cylinder), cmocka_unit_test(none),       cmocka_unit_test(slabs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
