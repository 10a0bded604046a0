/* SPDX-License-Identifier: BSD-2-Clause */
/* Points by their residuals: shares, evenness, none twice, the same again; what has no residual. */
#include "pinn/sample.h"
#include "pcsim_test.h"
#include "pinn/sequence.h"

enum { NUM = 20000, WANTED = 2000 };
static double points_[NUM * 2], residual_[NUM];
static int64_t chosen_[NUM];

static void make_points(void) {
  sequence s;
  sequence_start(&s, SEQUENCE_SOBOL, 2, 1, 1);
  for (int64_t i = 0; i < NUM; i++) sequence_point(&s, (uint64_t)i, points_ + 2 * i);
}

static void choose(double power, double floor, int64_t n) {
  const sample_density density = {power, floor};
  assert_ok(sample_choose(points_, 2, residual_, NUM, &density, 4, 9, n, chosen_));
  for (int64_t i = 0; i < n; i++) {
    assert_true(chosen_[i] >= 0 && chosen_[i] < NUM);
    assert_true(i == 0 || chosen_[i] > chosen_[i - 1]);
  }
}

/** A front: ten times the residual in a tenth of the square, of either sign. */
static void shares(void **state) {
  (void)state;
  make_points();
  for (int64_t i = 0; i < NUM; i++) residual_[i] = (i % 2 ? -1 : 1) * (points_[2 * i] < 0.1 ? 1e200 : 1e199);
  for (int c = 0; c < 3; c++) {
    int64_t in = 0;
    choose(1, c, WANTED);
    for (int64_t i = 0; i < WANTED; i++) in += points_[2 * chosen_[i]] < 0.1;
    /* |r| over its mean is 10 / 1.9 there. */
    assert_close((double)in / WANTED, 0.1 * (10 / 1.9 + c) / (1 + c), 5e-3);
  }
  choose(2, 0, WANTED);
  int64_t in = 0;
  for (int64_t i = 0; i < WANTED; i++) in += points_[2 * chosen_[i]] < 0.1;
  assert_close((double)in / WANTED, 0.1 * 100 / 10.9, 5e-3);
  /* More wanted than there are in the front: all of it, the rest outside. */
  in = 0;
  choose(20, 0, WANTED * 2);
  for (int64_t i = 0; i < WANTED * 2; i++) in += points_[2 * chosen_[i]] < 0.1;
  assert_int_equal(in, NUM / 10);
}

/** A density that is the same everywhere leaves the points evenly spread: much better than by chance. */
static void even(void **state) {
  (void)state;
  double worst = 0;
  make_points();
  for (int64_t i = 0; i < NUM; i++) residual_[i] = 3;
  choose(1, 1, WANTED);
  int count[100] = {0};
  for (int64_t i = 0; i < WANTED; i++)
    count[(int)(points_[2 * chosen_[i]] * 10) * 10 + (int)(points_[2 * chosen_[i] + 1] * 10)]++;
  for (int i = 0; i < 100; i++) worst = fmax(worst, fabs(count[i] - 20.0));
  assert_true(worst <= 7); /* by chance the worst of 100 is some 12 off */
  for (int64_t i = 0; i < NUM; i++) residual_[i] = 0;
  choose(1, 0, WANTED);
}

static void same_again(void **state) {
  (void)state;
  static int64_t other[WANTED];
  static double taken[WANTED * 2];
  const sample_density density = {1, 1};
  make_points();
  for (int64_t i = 0; i < NUM; i++) residual_[i] = points_[2 * i];
  choose(1, 1, WANTED);
  assert_ok(sample_choose(points_, 2, residual_, NUM, &density, 4, 9, WANTED, other));
  assert_memory_equal(other, chosen_, sizeof other);
  assert_ok(sample_choose(points_, 2, residual_, NUM, &density, 4, 10, WANTED, other));
  assert_memory_not_equal(other, chosen_, sizeof other);
  assert_ok(sample_choose(points_, 2, residual_, NUM, &density, 5, 9, WANTED, other));
  assert_memory_not_equal(other, chosen_, sizeof other);
  sample_take(points_, 2, chosen_, WANTED, taken);
  for (int64_t i = 0; i < WANTED; i++) assert_close(taken[2 * i + 1], points_[2 * chosen_[i] + 1], 0);
  assert_true(sample_draw(SAMPLE_TRAINING, 5) != sample_draw(SAMPLE_HELD_OUT, 5));
}

static void without_residual(void **state) {
  (void)state;
  const sample_density density = {1, 1};
  const size_t before = pcsim_memory_used();
  make_points();
  for (int64_t i = 0; i < NUM; i++) residual_[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : 1;
  choose(1, 1, WANTED);
  for (int64_t i = 0; i < WANTED; i++) assert_int_equal(chosen_[i] % 3, 2);
  choose(1, 1, NUM / 3);
  assert_status(sample_choose(points_, 2, residual_, NUM, &density, 4, 9, NUM / 2, chosen_), PCSIM_ERR_ARG);
  assert_string_equal(pcsim_error_message(),
                      "10000 points wanted of 20000, of which 6666 have a finite residual");
  assert_int_equal(pcsim_memory_used(), before);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shares), cmocka_unit_test(even),
                                     cmocka_unit_test(same_again), cmocka_unit_test(without_residual)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
