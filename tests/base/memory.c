/* SPDX-License-Identifier: BSD-2-Clause */
/* Counted memory. */
#include "pcsim_test.h"

static void test_counting(void **state) {
  (void)state;
  size_t before = pcsim_memory_used();
  double *a = NULL;
  char *b = NULL;
  assert_ok(pcsim_alloc(1000, sizeof *a, &a));
  assert_int_equal(pcsim_memory_used(), before + 8000);
  assert_int_equal((uintptr_t)a % 64, 0);
  for (int i = 0; i < 1000; i++) assert_true(a[i] == 0);
  assert_ok(pcsim_strdup("four", &b));
  assert_int_equal(pcsim_memory_used(), before + 8005);
  assert_string_equal(b, "four");
  pcsim_free(&a);
  assert_null(a);
  assert_int_equal(pcsim_memory_used(), before + 5);
  assert_true(pcsim_memory_peak() >= before + 8005);
  pcsim_free(&b);
  pcsim_free(&b);
  pcsim_free(NULL);
  assert_int_equal(pcsim_memory_used(), before);
}

/* Sizes over several orders: content stays, new bytes are zero, alignment and count hold. */
static void test_growing_and_shrinking(void **state) {
  (void)state;
  size_t before = pcsim_memory_used(), sizes[] = {1, 63, 64, 65, 1000, 100000, 3000000, 5000, 17, 200001, 2},
         held = 0;
  unsigned char *a = NULL;
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    size_t n = sizes[k];
    assert_ok(pcsim_realloc(n, 1, &a));
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_int_equal(pcsim_memory_used(), before + n);
    for (size_t i = 0; i < n; i++) assert_int_equal(a[i], i < held ? i % 251 + 1 : 0);
    for (size_t i = 0; i < n; i++) a[i] = (unsigned char)(i % 251 + 1);
    held = n;
  }
  assert_ok(pcsim_realloc(0, 8, &a));
  assert_null(a);
  assert_int_equal(pcsim_memory_used(), before);
}

static void test_nothing_and_too_much(void **state) {
  (void)state;
  size_t before = pcsim_memory_used();
  char *a = (char *)&before;
  assert_ok(pcsim_alloc(0, 8, &a));
  assert_null(a);
  assert_status(pcsim_alloc(SIZE_MAX / 2, 8, &a), PCSIM_ERR_MEMORY);
  assert_null(a);
  assert_non_null(strstr(pcsim_error_message(), "out of memory"));
  assert_ok(pcsim_alloc(10, 1, &a));
  char *same = a;
  assert_status(pcsim_realloc(SIZE_MAX / 4, 8, &a), PCSIM_ERR_MEMORY);
  assert_ptr_equal(a, same);
  assert_int_equal(pcsim_memory_used(), before + 10);
  pcsim_free(&a);
  assert_status(pcsim_strdup(NULL, &a), PCSIM_ERR_ARG);
  pcsim_error_clear();
}

static void test_resident_peak(void **state) {
  (void)state;
  char *a;
  size_t n = (size_t)64 << 20;
  assert_ok(pcsim_alloc(n, 1, &a));
  memset(a, 1, n);
  assert_true(pcsim_memory_resident_peak() > n);
  pcsim_free(&a);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counting),
      cmocka_unit_test(test_growing_and_shrinking),
      cmocka_unit_test(test_nothing_and_too_much),
      cmocka_unit_test(test_resident_peak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Without MPI, whose own leaks would hide ours from the sanitizer. */
int main(void) { return run() != 0; }
