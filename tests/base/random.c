/* SPDX-License-Identifier: BSD-2-Clause */
/* Random numbers by their place: the generator's published answers, moments, independence of streams. */
#include "pcsim_test.h"

/** Known answers of Philox 4x32-10 (Random123, kat_vectors): the first 64 of 128 bits. */
static void test_answers(void **state) {
  (void)state;
  const uint64_t ones = UINT64_MAX;
  assert_true(pcsim_random_bits(0, 0, 0) == UINT64_C(0xe169c58d6627e8d5));
  assert_true(pcsim_random_bits(ones, ones, ones) == UINT64_C(0x41c83b0e408f276d));
  assert_true(pcsim_random_bits(UINT64_C(0x299f31d0a4093822), UINT64_C(0x0370734413198a2e),
                                UINT64_C(0x85a308d3243f6a88)) == UINT64_C(0x94fdccebd16cfe09));
}

enum { COUNT = 200000 };

/** Mean, variance and fourth moment within five standard errors. */
static void test_moments(void **state) {
  (void)state;
  double uniform = 0, normal = 0, square = 0, fourth = 0;
  for (uint64_t i = 0; i < COUNT; i++) {
    const double u = pcsim_random_uniform(3, 1, i), g = pcsim_random_normal(3, 2, i);
    assert_true(u > 0 && u < 1 && isfinite(g));
    uniform += u;
    normal += g;
    square += g * g;
    fourth += g * g * g * g;
  }
  const double root = sqrt(COUNT);
  assert_close(uniform / COUNT, 0.5, 5 * sqrt(1.0 / 12) / root);
  assert_close(normal / COUNT, 0, 5 / root);
  assert_close(square / COUNT, 1, 5 * sqrt(2) / root);
  assert_close(fourth / COUNT, 3, 5 * sqrt(96) / root);
}

/** Neighbours in place, stream and seed are uncorrelated. */
static void test_independence(void **state) {
  (void)state;
  for (int change = 0; change < 3; change++) {
    double sum = 0;
    for (uint64_t i = 0; i < COUNT; i++)
      sum += pcsim_random_normal(11, 4, i) *
             pcsim_random_normal(11 + (change == 0), 4 + (change == 1), i + (change == 2));
    assert_close(sum / COUNT, 0, 5 / sqrt(COUNT));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers), cmocka_unit_test(test_moments),
                                     cmocka_unit_test(test_independence)};
  return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
