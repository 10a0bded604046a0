/* SPDX-License-Identifier: BSD-2-Clause */
/** @file optimizers.c  Optimisers on problems with known minima: how far they get, that threads and an
 *  interruption leave the bits as they are, that a loss that is not a number turns them back. */
#include "least_squares.h"

#include "pcsim_test.h"
#include "pinn/gauss_newton.h"
#include "pinn/optimizer.h"

static optimizer *make(const optimizer_kind *kind, int64_t n, int threads) {
  double options[16];
  optimizer *o = NULL;
  assert_true(kind->num_keys <= 16);
  optimizer_defaults(kind, options);
  assert_ok(kind->create(n, options, threads, &o));
  return o;
}

/** Steps until it stalls; the sum of squares at the end. */
static double minimise(const optimizer_kind *kind, const problem *p, bool kernel, int steps_max,
                       int *evaluations) {
  test_objective f = make_objective(p, kernel);
  optimizer *o = make(kind, p->n, 1);
  double theta[MAX_N], loss = INFINITY, before = INFINITY;
  memcpy(theta, p->start, sizeof theta);
  for (int i = 0; i < steps_max; i++) {
    optimizer_report report;
    assert_ok(kind->step(o, &f.base, theta, &report));
    if (report.stalled) break;
    assert_true(report.loss <= before * (1 + 1e-14));
    before = report.loss;
  }
  assert_ok(f.base.loss(&f.base, theta, &loss, NULL));
  *evaluations = f.evaluations;
  kind->destroy(&o);
  assert_null(o);
  return 2 * loss;
}

static void check(const char *name, bool kernel, int steps_max) {
  const optimizer_kind *kind = optimizer_find(name);
  assert_non_null(kind);
  for (int i = 0; i < NUM_PROBLEMS; i++) {
    int evaluations;
    const double sum = minimise(kind, &problems[i], kernel, steps_max, &evaluations);
    print_message("%-12s %-20s %.6e in %d evaluations\n", name, problems[i].name, sum, evaluations);
    if (!(fabs(sum - problems[i].minimum) <= 1e-12 + 2e-6 * problems[i].minimum)) {
      print_error("%s: %s ends at %.9e, minimum %.9e\n", name, problems[i].name, sum, problems[i].minimum);
      fail();
    }
  }
}

static void ssbroyden(void **s) { (void)s, check("ssbroyden", false, 3000); }
static void lm(void **s) { (void)s, check("lm", false, 500); }
static void lm_kernel(void **s) { (void)s, check("lm", true, 500); }
static void lbfgs(void **s) { (void)s, check("lbfgs", false, 3000); }

static void cg(void **s) { (void)s, check("cg", false, 500); }

/** First-order steps get near a minimum, no more. */
static void adam(void **state) {
  (void)state;
  const optimizer_kind *kind = optimizer_find("adam");
  const problem *p = &problems[0];
  test_objective f = make_objective(p, false);
  optimizer *o = make(kind, p->n, 1);
  double theta[MAX_N];
  optimizer_report report;
  memcpy(theta, p->start, sizeof theta);
  for (int i = 0; i < 20000; i++) assert_ok(kind->step(o, &f.base, theta, &report));
  assert_close(theta[0], 1, 1e-3);
  assert_close(theta[1], 1, 2e-3);
  kind->destroy(&o);
}

/** The same bits on one thread and on three, and after the state went through a copy in another optimiser. */
static void same_bits(void **s) {
  (void)s;
  size_t n;
  const optimizer_kind *const *list = optimizer_list(&n);
  assert_true(n >= 4);
  const problem *p = &problems[NUM_PROBLEMS - 2];
  for (size_t k = 0; k < n; k++) {
    test_objective f = make_objective(p, false);
    optimizer *one = make(list[k], p->n, 1), *three = make(list[k], p->n, 3), *next;
    double a[MAX_N], b[MAX_N], *from, *to;
    int64_t size, size_to;
    memcpy(a, p->start, sizeof a), memcpy(b, p->start, sizeof b);
    for (int i = 0; i < 60; i++) {
      optimizer_report ra, rb;
      assert_ok(list[k]->step(one, &f.base, a, &ra));
      assert_ok(list[k]->step(three, &f.base, b, &rb));
      assert_memory_equal(a, b, sizeof a);
      assert_memory_equal(&ra.loss, &rb.loss, sizeof ra.loss);
      if (i == 20) list[k]->changed(one), list[k]->changed(three);
      if (i % 25 == 24) {
        next = make(list[k], p->n, 2);
        list[k]->state(one, &from, &size);
        list[k]->state(next, &to, &size_to);
        assert_int_equal(size, size_to);
        memcpy(to, from, (size_t)size * sizeof *to);
        list[k]->destroy(&one);
        one = next;
      }
    }
    list[k]->destroy(&one);
    list[k]->destroy(&three);
  }
}

/** A wall behind which the loss is not a number, between the start and the minimum's far side: steps go round
 * it, theta never ends behind it, and the minimum in front of it is found. */
static void not_a_number(void **s) {
  (void)s;
  const char *const names[] = {"ssbroyden", "lm", "lbfgs", "cg"};
  for (int k = 0; k < 4; k++) {
    const optimizer_kind *kind = optimizer_find(names[k]);
    test_objective f = make_objective(&problems[0], false);
    f.wall = 1, f.limit = 1 + 1e-3;
    optimizer *o = make(kind, 2, 1);
    double theta[MAX_N], loss;
    memcpy(theta, problems[0].start, sizeof theta);
    for (int i = 0; i < 2000; i++) {
      optimizer_report report;
      assert_ok(kind->step(o, &f.base, theta, &report));
      assert_true(theta[0] <= f.limit && isfinite(report.loss));
      if (report.stalled) break;
    }
    assert_ok(f.base.loss(&f.base, theta, &loss, NULL));
    assert_close(loss, 0, 1e-12);
    /* From behind the wall nothing can be done, and theta stays. */
    theta[0] = 2, theta[1] = 4;
    kind->changed(o);
    optimizer_report report;
    assert_ok(kind->step(o, &f.base, theta, &report));
    assert_true(report.stalled && theta[0] == 2 && theta[1] == 4);
    kind->destroy(&o);
  }
}

/** Near a minimum no damping is needed: the inverse is that of J^T J, and its step lowers the loss. */
static void inverse_of_normal(void **s) {
  (void)s;
  const problem *p = &problems[0];
  test_objective f = make_objective(p, false);
  double theta[MAX_N], product[MAX_N * MAX_N], inverse[MAX_N * MAX_N], g[MAX_N], loss;
  int evaluations = 0;
  bool found;
  pcsim_pool *pool;
  theta[0] = 1 + 1e-5, theta[1] = 1; /* of Rosenbrock's function */
  assert_ok(pcsim_pool_create(2, &pool));
  assert_ok(gauss_newton_inverse(&f.base, pool, theta, inverse, &found, &evaluations));
  assert_true(found && evaluations > 0);
  assert_ok(f.base.normal(&f.base, theta, &loss, g, product));
  double step[MAX_N], then[MAX_N], promised = 0, loss_then;
  for (int64_t i = 0; i < p->n; i++) {
    step[i] = 0;
    for (int64_t j = 0; j < p->n; j++)
      step[i] -= (j <= i ? inverse[i * p->n + j] : inverse[j * p->n + i]) * g[j];
    then[i] = theta[i] + step[i], promised -= 0.5 * step[i] * g[i];
  }
  assert_ok(f.base.loss(&f.base, then, &loss_then, NULL));
  assert_true(promised > 0 && loss_then < loss);
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = 0; j < p->n; j++) {
      double sum = 0;
      for (int64_t k = 0; k < p->n; k++)
        sum += (k <= i ? product[i * p->n + k] : product[k * p->n + i]) *
               (j <= k ? inverse[k * p->n + j] : inverse[j * p->n + k]);
      assert_close(sum, i == j, 1e-6);
    }
  pcsim_pool_destroy(&pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inverse_of_normal),
      cmocka_unit_test(ssbroyden),
      cmocka_unit_test(lm),
      cmocka_unit_test(lm_kernel),
      cmocka_unit_test(lbfgs),
      cmocka_unit_test(cg),
      cmocka_unit_test(adam),
      cmocka_unit_test(same_bits),
      cmocka_unit_test(not_a_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
