/* SPDX-License-Identifier: BSD-2-Clause */
/* A training: what is kept of it, how its conditions are weighed. */
#include "pcsim_test.h"
#include "pinn/train.h"

static const char *const poisson = "domain: {box: {x: [0, 1], y: [0, 1]}}\n"
                                   "physics: {unknowns: [u], equations: [\"lap(u) + 1\"]}\n"
                                   "network: {layers: [8, 8], activation: tanh}\n";

static pcsim_training *make(const char *rest, pcsim_tree **tree) {
  char text[1000];
  pcsim_training *t = NULL;
  snprintf(text, sizeof text, "%s%s", poisson, rest);
  assert_ok(pcsim_tree_parse(text, strlen(text), "case", tree));
  assert_ok(pcsim_training_read(*tree, &t));
  assert_ok(pcsim_tree_status(*tree));
  return t;
}

/** Until one is worse than an earlier one. */
typedef struct {
  double least;
  int64_t step, worse; /* of the least; of the first that is half as bad again */
} looks;

static pcsim_status look(void *context, const pcsim_training_step *step) {
  looks *l = context;
  if (l->worse) return PCSIM_OK;
  if (step->held_out < l->least) l->least = step->held_out, l->step = step->step;
  else if (step->held_out > 1.5 * l->least) l->worse = step->step;
  return PCSIM_OK;
}

static const char *const restless = "boundaries: {\"*\": {u: 0}}\n"
                                    "train: {budget: 400 steps, points: 200, optimizer: {adam: "
                                    "{rate: 0.3}}}\n";

/* u at a point after the steps up to `last`; `*held_out` of what is kept. */
static double run_to(int64_t last, looks *l, double *held_out) {
  const double point[2] = {0.3, 0.6};
  double u;
  pcsim_tree *tree;
  pcsim_training_result result;
  pcsim_training *t = make(restless, &tree);
  assert_ok(pcsim_training_run(t, last, l ? look : NULL, l, &result));
  assert_ok(pcsim_training_evaluate(t, 1, point, &u, NULL));
  *held_out = result.held_out;
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
  return u;
}

/* An optimiser that goes up and down: what is kept is the state of its best look. */
static void best(void **state) {
  (void)state;
  looks l = {.least = INFINITY};
  double then, kept, ignored;
  (void)run_to(-1, &l, &ignored);
  assert_true(l.step > 0 && l.worse > l.step);
  const double u = run_to(l.step, NULL, &then), later = run_to(l.worse, NULL, &kept);
  assert_true(then == l.least && kept == l.least);
  assert_true(u == later);
}

/* A penalised row has the trace of the interior in J^T J, however it is written. */
static void balance(void **state) {
  (void)state;
  static const char *const written[] = {
      "boundaries: {x-min: {u: 0, exact: false}, x-max: {\"dn(u)\": 1}, \"y-*\": {u: 0}}\n"
      "train: {budget: 10 steps, points: 200}\n",
      "boundaries: {x-min: {\"100*u\": 0}, x-max: {\"dn(u)\": 1}, \"y-*\": {u: 0}}\n"
      "train: {budget: 10 steps, points: 200}\n"};
  double weight[2];
  for (int i = 0; i < 2; i++) {
    pcsim_tree *tree;
    pcsim_training *t = make(written[i], &tree);
    double interior, trace;
    assert_int_equal(t->num_groups, 3);
    assert_ok(groups_traces(t->groups, 0, t->theta, &interior));
    for (int g = 1; g < 3; g++) {
      assert_ok(groups_traces(t->groups, g, t->theta, &trace));
      assert_close(groups_weights(t->groups, g)[0] * trace / interior, 1, 1e-12);
    }
    weight[i] = groups_weights(t->groups, 1)[0];
    pcsim_training_destroy(&t);
    pcsim_tree_destroy(&tree);
  }
  assert_close(weight[0] / weight[1], 1e4, 1e-6);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(best), cmocka_unit_test(balance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
