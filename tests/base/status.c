/* SPDX-License-Identifier: BSD-2-Clause */
/* Status, message stack, log, agreement of ranks. */
#include "pcsim_test.h"

#include <pthread.h>

/* Open MPI leaves blocks behind that no suppression can name (their modules are unloaded by then). The other
 * tests of base run without MPI and with the check for leaks. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static pcsim_status inner(int value) {
  PCSIM_CHECK(value > 0, PCSIM_ERR_ARG, "value is %d, expected a positive one", value);
  return PCSIM_OK;
}

static pcsim_status outer(int value) {
  PCSIM_TRY(inner(value));
  return PCSIM_OK;
}

static pcsim_status cleaned(int value, int *cleanups) {
  pcsim_status status;
  PCSIM_GOTO(inner(value), status, done);
done:
  ++*cleanups;
  return status;
}

static void test_message_and_trace(void **state) {
  (void)state;
  int cleanups = 0;
  assert_ok(outer(1));
  assert_status(outer(-3), PCSIM_ERR_ARG);
  assert_string_equal(pcsim_error_message(), "value is -3, expected a positive one");
  assert_non_null(strstr(pcsim_error_trace(0), "inner (status.c:"));
  assert_non_null(strstr(pcsim_error_trace(1), "outer (status.c:"));
  assert_null(pcsim_error_trace(2));
  assert_status(cleaned(-1, &cleanups), PCSIM_ERR_ARG);
  assert_int_equal(cleanups, 1);
  assert_ok(cleaned(1, &cleanups));
  pcsim_error_clear();
  assert_string_equal(pcsim_error_message(), "");
  assert_null(pcsim_error_trace(0));
}

static pcsim_status wrapped(void) {
  inner(-1);
  PCSIM_FAIL(PCSIM_ERR_IO, "outer: %s", pcsim_error_message());
}

static void test_message_from_message(void **state) {
  (void)state;
  assert_status(wrapped(), PCSIM_ERR_IO);
  assert_string_equal(pcsim_error_message(), "outer: value is -1, expected a positive one");
  pcsim_error_clear();
}

static void test_texts_and_exit_codes(void **state) {
  (void)state;
  assert_int_equal(pcsim_status_exit_code(PCSIM_OK), 0);
  assert_int_equal(pcsim_status_exit_code(PCSIM_ERR_CASE), 2);
  assert_int_equal(pcsim_status_exit_code(PCSIM_ERR_IO), 4);
  assert_int_equal(pcsim_status_exit_code(PCSIM_ERR_INTERNAL), 5);
  for (int i = 0; i < PCSIM_NUM_STATUS; i++) assert_true(strlen(pcsim_status_text((pcsim_status)i)) > 4);
  assert_string_equal(pcsim_status_text((pcsim_status)77), "unknown status");
  assert_int_equal(pcsim_status_exit_code((pcsim_status)-1), 5);
}

static void *fail_in_thread(void *out) {
  inner(-9);
  strcpy(out, pcsim_error_message());
  return NULL;
}

static void test_threads_have_their_own(void **state) {
  (void)state;
  char other[200] = "";
  pthread_t thread;
  inner(-5);
  assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, other), 0);
  pthread_join(thread, NULL);
  assert_string_equal(other, "value is -9, expected a positive one");
  assert_string_equal(pcsim_error_message(), "value is -5, expected a positive one");
  pcsim_error_clear();
}

static void test_deep_trace_is_bounded(void **state) {
  (void)state;
  inner(-1);
  for (int i = 0; i < 1000; i++) pcsim_error_frame(PCSIM_ERR_ARG, "/a/b/c.c", i, "f");
  assert_non_null(pcsim_error_trace(10));
  assert_null(pcsim_error_trace(1000));
  pcsim_error_clear();
}

/* Every choice of failing ranks ends with the message of the lowest. */
static void test_agreement(void **state) {
  (void)state;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int mask = 0; mask < 1 << size; mask++) {
    char expected[100] = "";
    pcsim_status status = PCSIM_OK, wanted = PCSIM_OK;
    pcsim_error_clear();
    for (int r = size - 1; r >= 0; r--)
      if (mask >> r & 1) {
        snprintf(expected, sizeof expected, "rank %d says so", r);
        wanted = r % 2 ? PCSIM_ERR_IO : PCSIM_ERR_MESH;
      }
    if (mask >> rank & 1)
      status = pcsim_error_set(rank % 2 ? PCSIM_ERR_IO : PCSIM_ERR_MESH, __FILE__, __LINE__, __func__,
                               "rank %d says so", rank);
    assert_status(pcsim_status_agree(MPI_COMM_WORLD, status), wanted);
    assert_string_equal(pcsim_error_message(), expected);
  }
  pcsim_error_clear();
}

static void test_agreement_on_a_long_message(void **state) {
  (void)state;
  int rank;
  char *text = malloc(100001);
  memset(text, 'x', 100000);
  text[100000] = '\0';
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pcsim_status status = PCSIM_OK;
  if (rank == 0) status = pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__, "%s", text);
  assert_status(pcsim_status_agree(MPI_COMM_WORLD, status), PCSIM_ERR_CASE);
  assert_string_equal(pcsim_error_message(), text);
  pcsim_error_clear();
  free(text);
}

static void keep_line(void *context, pcsim_log_level level, const char *line) {
  snprintf(context, 3000, "%d:%s", (int)level, line);
}

static void test_log(void **state) {
  (void)state;
  char line[3000] = "", longer[2001];
  memset(longer, 'a', 2000);
  longer[2000] = '\0';
  pcsim_log(PCSIM_LOG_INFO, "nobody listens");
  pcsim_log_set_sink(keep_line, line);
  pcsim_log(PCSIM_LOG_WARNING, "%d cells", 12);
  assert_string_equal(line, "1:12 cells");
  pcsim_log(PCSIM_LOG_INFO, "%s", longer);
  assert_int_equal(strlen(line), 2002);
  pcsim_log_set_sink(NULL, NULL);
  pcsim_log(PCSIM_LOG_INFO, "again nobody");
  assert_int_equal(strlen(line), 2002);
}

static void test_clocks(void **state) {
  (void)state;
  double wall = pcsim_time_wall(), cpu = pcsim_time_cpu();
  volatile double x = 0;
  while (pcsim_time_cpu() < cpu + 0.01) x = x + 1;
  assert_true(pcsim_time_wall() - wall > 0.005);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_message_and_trace),
      cmocka_unit_test(test_message_from_message),
      cmocka_unit_test(test_texts_and_exit_codes),
      cmocka_unit_test(test_threads_have_their_own),
      cmocka_unit_test(test_deep_trace_is_bounded),
      cmocka_unit_test(test_agreement),
      cmocka_unit_test(test_agreement_on_a_long_message),
      cmocka_unit_test(test_log),
      cmocka_unit_test(test_clocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
