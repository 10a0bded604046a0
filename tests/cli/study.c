/* SPDX-License-Identifier: BSD-2-Clause */
/* Studies of known convergence: observed order, extrapolated value, uncertainty. */
#include "cli/cli.h"
#include "pcsim_test.h"

#include <math.h>

enum { EXACT, SECOND, SIXTH, QUARTER, UNSTEADY, ERROR, NUM };

/* Sizes 4, 2, 1 in a plane of area 1600; value 1 + C h^p. */
static void fill(cli_study_table *table) {
  for (int i = 0; i < 3; i++) {
    double h = pow(2, 2 - i);
    pcsim_quantity q[NUM + 1] = {{"exact", 1, "1"},
                                 {"second", 1 + 0.01 * pow(h, 2), "1"},
                                 {"sixth", 1 + 1e-4 * pow(h, 6), "1"},
                                 {"quarter", 1 + 0.01 * pow(h, 0.25), "1"},
                                 {"unsteady", i % 2, "1"},
                                 {"error.u", 1e-3 * pow(h, 1.5), "1"},
                                 {"order.second", NAN, "1"}};
    assert_ok(cli_study_add(table, 3, (int64_t)(1600 / (h * h)), q, NUM + 1));
  }
  cli_study_finish(table, 1600, 2);
}

static void test_orders(void **state) {
  (void)state;
  cli_study_table table = {0};
  fill(&table);
  const pcsim_study *s = &table.view;
  assert_int_equal(s->num_quantities, NUM);
  assert_close(s->ratio, 2, 1e-12);
  assert_close(s->order[SECOND], 2, 1e-9);
  assert_close(s->order[SIXTH], 6, 1e-9);
  assert_close(s->order[QUARTER], 0.25, 1e-9);
  assert_close(s->order[ERROR], 1.5, 1e-9);
  assert_true(isnan(s->order[EXACT]) && isnan(s->uncertainty[EXACT]));
  assert_true(isnan(s->order[UNSTEADY]) && isnan(s->extrapolated[UNSTEADY]));
  assert_true(isnan(s->uncertainty[ERROR]));
  cli_study_free(&table);
}

/* The order is limited to [0.5, 2]; factor 1.25 only near the formal order. */
static void test_uncertainty(void **state) {
  (void)state;
  cli_study_table table = {0};
  fill(&table);
  const pcsim_study *s = &table.view;
  assert_close(s->extrapolated[SECOND], 1, 1e-9);
  assert_close(s->uncertainty[SECOND], 1.25 * 0.01 / 1.01, 1e-9);
  double step = 1e-4 * (64 - 1); /* between the two finest */
  assert_close(s->extrapolated[SIXTH], 1 + 1e-4 - step / 3, 1e-9);
  assert_close(s->uncertainty[SIXTH], 3 * step / 3 / (1 + 1e-4), 1e-9);
  step = 0.01 * (pow(2, 0.25) - 1);
  assert_close(s->extrapolated[QUARTER], 1.01 - step / (sqrt(2) - 1), 1e-9);
  assert_close(s->uncertainty[QUARTER], 3 * step / (sqrt(2) - 1) / 1.01, 1e-9);
  cli_study_free(&table);
}

/* Steps 0.4, 0.2, 0.1 on one mesh, whose own part of an error does not fall. */
static void test_steps(void **state) {
  (void)state;
  cli_study_table table = {0};
  for (int i = 0; i < 3; i++) {
    const double dt = 0.4 * pow(0.5, i);
    pcsim_quantity q[2] = {{"third", 2 - 0.1 * pow(dt, 3), "1"}, {"error.u", 1e-2 + 0.3 * dt * dt, "1"}};
    assert_ok(cli_study_add(&table, 3, 100, q, 2));
  }
  cli_study_finish_steps(&table, 0.1, 2);
  const pcsim_study *s = &table.view;
  assert_true(s->of_steps);
  assert_close(s->sizes[0], 0.4, 1e-15);
  assert_close(s->order[0], 3, 1e-9);
  assert_close(s->order[1], 2, 1e-9);
  assert_close(s->extrapolated[1], 1e-2, 1e-9);
  cli_study_free(&table);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders), cmocka_unit_test(test_uncertainty),
                                     cmocka_unit_test(test_steps)};
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (pcsim_memory_used() != before) failed++;
  return failed;
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
