/* SPDX-License-Identifier: BSD-2-Clause */
/** @file bound.c  What residuals say about errors: constants in closed form,
 * cases of which nothing is known, true errors of trainings below the bound. */
#include "pinn/bound.h"
#include "pcsim_test.h"
#include "pinn/train.h"

typedef struct {
  const char *domain, *equation, *conditions;
} text;

static pcsim_training *make(const text *t, const char *train, pcsim_tree **tree) {
  char all[2000];
  pcsim_training *training = NULL;
  snprintf(all, sizeof all,
           "domain: {box: %s}\nphysics: {unknowns: [u], equations: [\"%s\"]}\n%s\n"
           "network: {layers: [10, 10], activation: tanh, scale: 1}\ntrain: %s\n",
           t->domain, t->equation, t->conditions, train);
  assert_ok(pcsim_tree_parse(all, strlen(all), "case", tree));
  assert_ok(pcsim_training_read(*tree, &training));
  assert_ok(pcsim_tree_status(*tree));
  return training;
}

static bound constants(const text *t) {
  enum { N = 1024 };
  pcsim_tree *tree;
  pcsim_training *training = make(t, "{budget: 1 steps, points: 16}", &tree);
  double *points;
  bound b;
  assert_ok(pcsim_alloc((size_t)N * DOMAIN_MAX, sizeof *points, &points));
  assert_ok(pcsim_training_points(training, 0, N, points));
  assert_ok(bound_find(&training->from->problem, N, points, &b));
  pcsim_free(&points);
  pcsim_training_destroy(&training);
  pcsim_tree_destroy(&tree);
  return b;
}

static const char *const zero = "boundaries: {\"*\": {u: 0}}";
static const char *const square = "{x: [0, 1], y: [0, 2]}", *const through = "{x: [0, 2], t: [0, 3]}";
#define LAMBDA (M_PI * M_PI * (1 + 0.25))

static void closed_forms(void **state) {
  (void)state;
  const double mu = 0.5 * M_PI * M_PI / 4 + 1; /* of the last two */
  const struct {
    text t;
    double residual, tolerance, start;
    bool maximum;
  } known[] = {
      {{square, "lap(u) + x", zero}, 1 / LAMBDA, 1e-12, 0, true},
      {{square, "-3*lap(u) + 6*u - x", zero}, 1 / (3 * LAMBDA + 6), 1e-12, 0, true},
      {{square, "lap(u) + u", zero}, 1 / (LAMBDA - 1), 1e-12, 0, false},
      /* a constant velocity does no work, nor does one without divergence */
      {{square, "u_x + 7*u_y - lap(u) + 1", zero}, 1 / LAMBDA, 1e-12, 0, true},
      {{square, "9*y*u_x - 9*x*u_y - lap(u) + 1", zero}, 1 / LAMBDA, 1e-12, 0, true},
      /* div b = 3: the mean of both forms of the equation */
      {{square, "3*x*u_x - lap(u) + 1", zero}, 1 / (LAMBDA - 1.5), 1e-12, 0, true},
      /* sources and what multiplies u may jump */
      {{square, "lap(u) - where(x < 0.5, 0, 3)*u + abs(x - 0.5)", zero}, 1 / LAMBDA, 1e-12, 0, true},
      /* least diffusion 1, found at the points */
      {{square, "div((1 + x^2 + y)*grad(u)) + 1", zero}, 1 / LAMBDA, 2e-2, 0, true},
      {{square, "2*u_xx + u_xy + 2*u_yy", zero}, 1 / (1.5 * LAMBDA), 1e-12, 0, true},
      {{through, "u_t - 0.5*u_xx + u", "boundaries: {\"*\": {u: 0}}\ninitial: {u: sin(pi*x/2)}"},
       -expm1(-3 * mu) / mu,
       1e-12,
       sqrt(-expm1(-6 * mu) / (6 * mu)),
       true},
      {{through, "u_xx - 2*u_t - 2*u", "boundaries: {\"*\": {u: 0}}\ninitial: {u: sin(pi*x/2)}"},
       -expm1(-3 * mu) / (2 * mu),
       1e-12,
       sqrt(-expm1(-6 * mu) / (6 * mu)),
       true},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const bound b = constants(&known[i].t);
    if (!b.known) fail_msg("%s: %s", known[i].t.equation, b.why);
    if (!(fabs(b.residual / known[i].residual - 1) < known[i].tolerance))
      fail_msg("%s: %.15g, expected %.15g", known[i].t.equation, b.residual, known[i].residual);
    assert_close(b.start, known[i].start, 1e-12);
    assert_int_equal(b.has_maximum, known[i].maximum);
  }
}

static void nothing_known(void **state) {
  (void)state;
  const struct {
    text t;
    const char *why;
  } unknown[] = {
      {{square, "lap(u) + u^2", zero}, "the equation is not linear"},
      {{square, "lap(u) + u*u_x", zero}, "the equation is not linear"},
      {{square, "lap(u) + 13*u", zero}, "it is not coercive"},
      {{square, "u_xx - u_yy", zero}, "its diffusion is not positive"},
      {{square, "(x - 0.5)*lap(u) + 1", zero}, "its diffusion is not positive"},
      {{square, "lap(lap(u)) - 1", zero}, "it is of higher order"},
      {{through, "u_tt - u_xx", "boundaries: {\"*\": {u: 0}}\ninitial: {u: 0, u_t: sin(pi*x/2)}"},
       "it is of higher order"},
      {{through, "(1 + x)*u_t - u_xx", "boundaries: {\"*\": {u: 0}}\ninitial: {u: sin(pi*x/2)}"},
       "the coefficient of its rate is no positive number"},
      {{square, "lap(u) + 1", "boundaries: {x-min: {u: 0}, x-max: {\"dn(u)\": 0}, \"y-*\": {u: 0}}"},
       "the unknown is not given on the whole boundary"},
      {{square, "lap(u) + 1", "boundaries: {x-min: {periodic: x-max}, \"y-*\": {u: 0}}"}, "it is periodic"},
      /* the flux jumps where its coefficient does, and no residual at points holds that */
      {{square, "div(where(x < 0.5, 1, 2*x)*grad(u)) + 1", zero}, "a coefficient jumps or bends"},
      {{square, "(1 + abs(x - 0.5))*lap(u) + 1", zero}, "a coefficient jumps or bends"},
      {{square, "lap(u) + max(y, 1)*u_x + 1", zero}, "a coefficient jumps or bends"},
  };
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    const bound b = constants(&unknown[i].t);
    if (b.known || strcmp(b.why, unknown[i].why) != 0)
      fail_msg("%s: %s, expected %s", unknown[i].t.equation, b.known ? "known" : b.why, unknown[i].why);
  }
}

/* Regions have a network each. What the interface leaves is in no residual of the equation: networks that are
 * constant in each region would have a bound of nothing at all. */
static void networks_of_regions(void **state) {
  (void)state;
  static const char bars[] =
      "domain: {box: {x: [0, 1], y: [0, 1]}, regions: {left: \"x < 0.5\"}}\n"
      "physics: {unknowns: [u], coefficients: {k: {left: 1, rest: 9}}, equations: [\"div(k*grad(u)) + 1\"]}\n"
      "boundaries: {\"*\": {u: 0}}\nnetwork: {layers: [5]}\ntrain: {budget: 1 steps, points: 16}\n";
  pcsim_tree *tree;
  pcsim_training *t = NULL;
  pcsim_training_bound b;
  assert_ok(pcsim_tree_parse(bars, strlen(bars), "case", &tree));
  assert_ok(pcsim_training_read(tree, &t));
  assert_ok(pcsim_tree_status(tree));
  assert_ok(pcsim_training_error_bound(t, &b));
  assert_false(b.known);
  assert_string_equal(b.reason, "regions have a network each, and what jumps between them is in no residual "
                                "of the equation");
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
}

/* Trainings stopped early, with values built in and penalised: the true error is below the bound, and not so
 * far below that the bound says nothing. */
static void above(void **state) {
  (void)state;
  const struct {
    text t;
    const char *exact;
    double most; /* bound over error */
  } tried[] = {
      {{square, "lap(u) + 5/4*pi^2*sin(pi*x)*sin(pi*y/2)", zero}, "sin(pi*x)*sin(pi*y/2)", 100},
      {{square, "lap(u) + 5/4*pi^2*sin(pi*x)*sin(pi*y/2)", "boundaries: {\"*\": {u: 0, exact: false}}"},
       "sin(pi*x)*sin(pi*y/2)",
       100},
      {{square,
        "div((1 + x)*grad(u)) - u + (1 + 5/4*pi^2*(1 + x))*sin(pi*x)*sin(pi*y/2) - "
        "pi*cos(pi*x)*sin(pi*y/2)",
        zero},
       "sin(pi*x)*sin(pi*y/2)",
       100},
      {{through, "u_t - 0.5*u_xx", "boundaries: {\"*\": {u: 0}}\ninitial: {u: sin(pi*x/2), exact: false}"},
       "exp(-pi^2*t/8)*sin(pi*x/2)",
       100},
  };
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    enum { N = 2000 };
    pcsim_tree *tree;
    pcsim_training *t = make(&tried[i].t, "{budget: 60 steps, points: 300}", &tree);
    pcsim_training_result result;
    pcsim_training_bound b;
    pcsim_expr *exact;
    static double points[2 * N], values[N];
    double above = 0, below = 0;
    assert_ok(pcsim_training_run(t, -1, NULL, NULL, &result));
    assert_ok(pcsim_training_error_bound(t, &b));
    assert_ok(pcsim_training_points(t, 3, N, points));
    assert_ok(pcsim_training_evaluate(t, N, points, values, NULL));
    assert_ok(pcsim_expr_parse(tried[i].exact, &exact, NULL));
    assert_ok(pcsim_expr_bind(exact, pcsim_training_get(t)->coordinate, 2, NULL, NULL, 0, NULL));
    for (int k = 0; k < N; k++) {
      const double u = pcsim_expr_eval(exact, points + 2 * k);
      above += (values[k] - u) * (values[k] - u), below += u * u;
    }
    const double error = sqrt(above / below);
    if (!b.known) fail_msg("%s: %s", tried[i].t.equation, b.reason);
    if (!(b.relative >= error && b.relative <= tried[i].most * error))
      fail_msg("%s: error %g, bound %g", tried[i].t.equation, error, b.relative);
    assert_close(b.absolute / sqrt(below / N), error, tried[i].most * error);
    assert_true(b.absolute >= sqrt(above / N));
    pcsim_expr_destroy(&exact);
    pcsim_training_destroy(&t);
    pcsim_tree_destroy(&tree);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(closed_forms), cmocka_unit_test(nothing_known),
                                     cmocka_unit_test(networks_of_regions), cmocka_unit_test(above)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
