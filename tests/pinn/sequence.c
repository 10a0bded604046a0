/* SPDX-License-Identifier: BSD-2-Clause */
/* Sequences: first points against published ones, nets, discrepancy, independence of shifts. */
#include "pinn/sequence.h"
#include "pcsim_test.h"

/** Every interval of length 1 / n holds one of n points, in each number: true of a net with any shift. */
static void nets(void **state) {
  (void)state;
  enum { N = 256 };
  sequence s;
  double u[SEQUENCE_MAX];
  int count[SEQUENCE_MAX][N] = {{0}};
  sequence_start(&s, SEQUENCE_SOBOL, SEQUENCE_MAX, 7, 3);
  for (uint64_t k = 0; k < N; k++) {
    sequence_point(&s, k, u);
    for (int i = 0; i < SEQUENCE_MAX; i++) {
      assert_true(u[i] > 0 && u[i] < 1);
      count[i][(int)(u[i] * N)]++;
    }
  }
  for (int i = 0; i < SEQUENCE_MAX; i++)
    for (int k = 0; k < N; k++) assert_int_equal(count[i][k], 1);
  /* The first two numbers are a net in the plane: every box of area 1 / n of any shape holds one. */
  for (int a = 0; a <= 8; a++) {
    int boxes[N] = {0};
    for (uint64_t k = 0; k < N; k++) {
      sequence_point(&s, k, u);
      boxes[(int)(u[0] * (1 << a)) << (8 - a) | (int)(u[1] * (N >> a))]++;
    }
    for (int k = 0; k < N; k++) assert_int_equal(boxes[k], 1);
  }
}

/** The first points without a shift, as Joe and Kuo print them. */
static void first_points(void **state) {
  (void)state;
  static const double points[8][5] = {{0, 0, 0, 0, 0},
                                      {0.5, 0.5, 0.5, 0.5, 0.5},
                                      {0.25, 0.75, 0.75, 0.75, 0.25},
                                      {0.75, 0.25, 0.25, 0.25, 0.75},
                                      {0.125, 0.625, 0.375, 0.125, 0.125},
                                      {0.625, 0.125, 0.875, 0.625, 0.625},
                                      {0.375, 0.375, 0.625, 0.875, 0.375},
                                      {0.875, 0.875, 0.125, 0.375, 0.875}};
  sequence s;
  double u[5];
  sequence_start(&s, SEQUENCE_SOBOL, 5, 1, 1);
  for (int i = 0; i < 5; i++) s.shift[i] = 0;
  for (uint64_t k = 0; k < 8; k++) {
    sequence_point(&s, k, u);
    for (int i = 0; i < 5; i++) assert_close(u[i], points[k][i], 1e-15);
  }
  sequence_start(&s, SEQUENCE_HALTON, 3, 1, 1);
  for (int i = 0; i < 3; i++) s.shift[i] = 0;
  sequence_point(&s, 5, u);
  assert_close(u[0], 0.625, 1e-14);
  assert_close(u[1], 7.0 / 9, 1e-14);
  assert_close(u[2], 1.0 / 25, 1e-14);
}

/** L2 star discrepancy (Warnock's formula) of n points in `num` numbers. */
static double discrepancy(sequence_kind kind, int num, int n) {
  double *u = malloc((size_t)(n * num) * sizeof *u), sum = pow(3, -num);
  sequence s;
  sequence_start(&s, kind, num, 5, 9);
  for (int k = 0; k < n; k++) sequence_point(&s, (uint64_t)k, u + k * num);
  for (int k = 0; k < n; k++) {
    double product = 2.0 / n;
    for (int i = 0; i < num; i++) product *= 0.5 * (1 - u[k * num + i] * u[k * num + i]);
    sum -= product;
    for (int l = 0; l < n; l++) {
      product = 1.0 / n / n;
      for (int i = 0; i < num; i++) product *= 1 - fmax(u[k * num + i], u[l * num + i]);
      sum += product;
    }
  }
  free(u);
  return sqrt(fmax(sum, 0));
}

static void even(void **state) {
  (void)state;
  for (int num = 2; num <= 5; num++) {
    const double random = discrepancy(SEQUENCE_RANDOM, num, 512);
    /* Independent points have the mean square (2^-num - 3^-num) / n. */
    const double expected = sqrt((pow(2, -num) - pow(3, -num)) / 512);
    assert_true(random > 0.4 * expected && random < 2.5 * expected);
    assert_true(discrepancy(SEQUENCE_SOBOL, num, 512) < 0.4 * expected);
    assert_true(discrepancy(SEQUENCE_HALTON, num, 512) < 0.5 * expected);
  }
}

static void shifts(void **state) {
  (void)state;
  sequence a, b;
  double u[4], v[4];
  for (int kind = 0; kind <= SEQUENCE_RANDOM; kind++) {
    sequence_start(&a, (sequence_kind)kind, 4, 5, 9);
    sequence_start(&b, (sequence_kind)kind, 4, 5, 9);
    sequence_point(&a, 77, u);
    sequence_point(&b, 77, v);
    assert_memory_equal(u, v, sizeof u);
    sequence_start(&b, (sequence_kind)kind, 4, 5, 10);
    sequence_point(&b, 77, v);
    for (int i = 0; i < 4; i++) assert_true(u[i] != v[i]);
  }
}

static void quantiles(void **state) {
  (void)state;
  assert_close(normal_quantile(0.5), 0, 1e-15);
  assert_close(normal_quantile(0.975), 1.959963984540054, 1e-14);
  assert_close(normal_quantile(0.001), -3.090232306167813, 1e-14);
  for (double u = 1e-15; u < 0.5; u *= 1.7) {
    assert_close(0.5 * erfc(-normal_quantile(u) / sqrt(2)) / u, 1, 1e-12);
    assert_true(isfinite(normal_quantile(0x1p-54)) && isfinite(normal_quantile(1 - 0x1p-53)));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nets), cmocka_unit_test(first_points),
                                     cmocka_unit_test(even), cmocka_unit_test(shifts),
                                     cmocka_unit_test(quantiles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
