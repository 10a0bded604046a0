/* SPDX-License-Identifier: BSD-2-Clause */
/* history.csv: rows, resuming, rows cut off by a kill. */
#include "sample.h"

static const char *folder;
static char path[256];
static const char *const columns[] = {"step", "residual", "forces.cd"};

static void write_text(const char *text) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static void assert_text(const char *expected) {
  char *text;
  size_t size;
  assert_ok(pcsim_file_read(path, 0, &text, &size));
  assert_string_equal(text, expected);
  pcsim_free(&text);
}

static void test_rows(void **state) {
  (void)state;
  pcsim_history *h;
  assert_ok(pcsim_history_open(path, columns, 3, -1, &h));
  assert_text("step,residual,forces.cd\n");
  assert_ok(pcsim_history_add(h, (const double[]){0, 1, NAN}));
  assert_text("step,residual,forces.cd\n0,1,nan\n"); /* there before the next step */
  assert_ok(pcsim_history_add(h, (const double[]){1, 1e-3, 5.57}));
  assert_ok(pcsim_history_add(h, (const double[]){2, 1.0 / 3, -INFINITY}));
  const double *values;
  int n;
  assert_int_equal(pcsim_history_rows(h, &values, &n), 3);
  assert_int_equal(n, 3);
  assert_true(values[7] == 1.0 / 3);
  assert_string_equal(pcsim_history_names(h)[2], "forces.cd");
  assert_ok(pcsim_history_close(&h));
  assert_null(h);
  assert_text("step,residual,forces.cd\n0,1,nan\n1,0.001,5.57\n2,0.3333333333333333,-inf\n");
}

static void test_resume(void **state) {
  (void)state;
  pcsim_history *h;
  write_text("step,residual,forces.cd\n0,1,nan\n10,0.1,5\n20,0.01,5.5\n30,0.001,5.57\n40,1e-4,5.5");
  assert_ok(pcsim_history_open(path, columns, 3, 20, &h));
  assert_int_equal(pcsim_history_rows(h, NULL, NULL), 2);
  assert_ok(pcsim_history_add(h, (const double[]){20, 0.02, 5.4}));
  assert_ok(pcsim_history_close(&h));
  assert_text("step,residual,forces.cd\n0,1,nan\n10,0.1,5\n20,0.02,5.4\n");
  /* cut anywhere: the whole rows before the cut stay */
  const char *whole = "step,residual,forces.cd\n0,1,nan\n10,0.1,5\n";
  char part[64];
  for (size_t n = 0; n <= strlen(whole); n++) {
    snprintf(part, n + 1, "%s", whole);
    write_text(part);
    assert_ok(pcsim_history_open(path, columns, 3, 1000, &h));
    assert_int_equal(pcsim_history_rows(h, NULL, NULL), n < 32 ? 0 : n < strlen(whole) ? 1 : 2);
    assert_ok(pcsim_history_close(&h));
  }
  remove(path);
  assert_ok(pcsim_history_open(path, columns, 3, 1000, &h)); /* nothing there to resume */
  assert_int_equal(pcsim_history_rows(h, NULL, NULL), 0);
  assert_ok(pcsim_history_close(&h));
}

static void test_refused(void **state) {
  (void)state;
  pcsim_history *h;
  write_text("step,other\n0,1\n");
  assert_status(pcsim_history_open(path, columns, 3, 5, &h), PCSIM_ERR_IO);
  assert_null(h);
  assert_non_null(strstr(pcsim_error_message(), "other columns"));
  assert_text("step,other\n0,1\n");
  write_text("step,residual,forces.cd\n0,1,2\n1,x,2\n2,3,4\n");
  assert_status(pcsim_history_open(path, columns, 3, 5, &h), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), "history.csv:3:"));
  char missing[300];
  snprintf(missing, sizeof missing, "%s/missing/history.csv", folder);
  assert_status(pcsim_history_open(missing, columns, 3, -1, &h), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), missing));
  assert_status(pcsim_history_read(missing, &h), PCSIM_ERR_IO);
}

static void test_names(void **state) {
  (void)state;
  const char *const odd[] = {"step", "a,b", "say \"x\"", ""};
  pcsim_history *h;
  assert_ok(pcsim_history_open(path, odd, 4, -1, &h));
  assert_ok(pcsim_history_add(h, (const double[]){0, 1, 2, 3}));
  assert_ok(pcsim_history_close(&h));
  assert_text("step,\"a,b\",\"say \"\"x\"\"\",\n0,1,2,3\n");
  assert_ok(pcsim_history_read(path, &h));
  const double *values;
  int n;
  assert_int_equal(pcsim_history_rows(h, &values, &n), 1);
  assert_int_equal(n, 4);
  for (int i = 0; i < 4; i++) assert_string_equal(pcsim_history_names(h)[i], odd[i]);
  assert_status(pcsim_history_add(h, (const double[]){1, 1, 2, 3}), PCSIM_ERR_ARG);
  assert_ok(pcsim_history_close(&h));
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_resume),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_names)};
  folder = sample_folder();
  sample_path(path, folder, "history.csv");
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sample_remove(folder);
  if (pcsim_memory_used() != before)
    failed++, print_error("%zu bytes are left\n", pcsim_memory_used() - before);
  return failed;
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
