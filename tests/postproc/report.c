/* SPDX-License-Identifier: BSD-2-Clause */
/* report.html: whole (every element is closed), self-contained, everything in it, every text escaped. */
#include "sample.h"

#include "postproc/draw.h"

static const char *folder;

/* Every element is closed in order; `&` and `<` occur only as markup. */
static void check_markup(const char *html) {
  char stack[64][24];
  int depth = 0;
  for (const char *s = html; *s; s++) {
    if (*s == '&') {
      size_t n = strcspn(s, ";");
      assert_true(n > 1 && n < 10 && s[n] == ';');
    }
    if (*s == '>') fail_msg("a loose > at: %.60s", s);
    if (*s != '<') continue;
    const char *end = s + 1;
    for (char quote = 0; *end && (quote || *end != '>'); end++)
      if (quote ? *end == quote : *end == '"' || *end == '\'') quote = quote ? 0 : *end;
    assert_true(*end == '>');
    char name[24];
    assert_int_equal(sscanf(s, s[1] == '/' ? "</%23[a-z0-9A-Z]" : "<%23[a-z0-9A-Z!]", name), 1);
    static const char *const single[] = {"!doctype", "meta", "img", "br"};
    bool alone = end[-1] == '/';
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
      alone = alone || !strcmp(name, single[i]) || name[0] == '!';
    if (s[1] == '/') {
      assert_true(depth > 0);
      assert_string_equal(stack[--depth], name);
    } else if (!alone) {
      assert_true(depth < 64);
      strcpy(stack[depth++], name);
      if (!strcmp(name, "style")) end = strstr(end, "</style>") - 1;
    }
    s = end;
  }
  assert_int_equal(depth, 0);
}

static char *write_and_read(const pcsim_report *report) {
  char path[256], *html;
  size_t size;
  sample_path(path, folder, "report.html");
  assert_ok(pcsim_report_write(report, path));
  assert_ok(pcsim_file_read(path, 0, &html, &size));
  assert_int_equal(strlen(html), size);
  check_markup(html);
  assert_null(strstr(html, "http://"));
  assert_null(strstr(html, "https://"));
  assert_null(strstr(html, "<script"));
  return html;
}

static int count(const char *html, const char *what) {
  int n = 0;
  for (const char *s = html; (s = strstr(s, what)); s++) n++;
  return n;
}

static void test_empty(void **state) {
  (void)state;
  pcsim_report report = {.status = "diverged"};
  char *html = write_and_read(&report);
  assert_non_null(strstr(html, "diverged"));
  pcsim_free(&html);
}

static void test_whole(void **state) {
  (void)state;
  const char *evil = "<script>alert(\"x\")</script> & 'y' \x01\xFF";
  pcsim_history *history;
  const char *const columns[] = {"step", "residual", "momentum.x", "momentum.z", "forces.cd", "drop"};
  char path[256];
  sample_path(path, folder, "history.csv");
  assert_ok(pcsim_history_open(path, columns, 6, -1, &history));
  for (int i = 0; i < 3000; i++)
    assert_ok(pcsim_history_add(
        history, (const double[]){i, pow(0.99, i), pow(0.98, i), 0, 5 + 1e6 * pow(0.5, i), NAN}));
  pcsim_quantity quantities[] = {{"forces.cd", 5, "1"},
                                 {"drop", NAN, "m^2/s^-1"},
                                 {"q", -1e-12, "a<b"},
                                 {"order.unknown", 6, "1"},
                                 {"extrapolated.unknown", 5, "1"}};
  snprintf(quantities[2].name, sizeof quantities[2].name, "%s", evil);
  pcsim_comparison comparisons[] = {{"forces.cd", 5, 5.01, 2e-3, 1e-2, NAN, NAN, false, true, ""},
                                    {"drop", NAN, NAN, NAN, 0, 1, 2, false, false, "x"},
                                    {"line", 0.1, 0, 0.02, 0.05, NAN, NAN, false, true, "y"}};
  snprintf(comparisons[0].source, sizeof comparisons[0].source, "%s", evil);
  double rows[] = {0, 0.5, 0, 1, 0.5, 0.5, 0.5, NAN, 1, 0.5, 1, 3}, reference[] = {0, 1, 1, 3.1};
  pcsim_curve curves[] = {{"line", 4, {"s", "x", "y", "u"}, 3, rows},
                          {"line:reference", 2, {"y", "u"}, 2, reference}};
  const int64_t cells[] = {100, 400, 1600};
  const double sizes[] = {0.1, 0.05, 0.025}, values[] = {5.4, 5.1, 5.025}, order[] = {6.2}, limit[] = {5},
               gci[] = {0.01};
  const char names[1][96] = {"unknown"};
  pcsim_study study = {3, 1, false, 2, cells, sizes, names, values, order, limit, gci};
  pcsim_mesh_quality quality = {.num_cells = 1234567};
  quality.count[PCSIM_CELL_HEXA] = 1234567;
  pcsim_picture *picture;
  assert_ok(canvas_create(20, 10, &picture));
  const pcsim_picture *pictures[] = {picture, picture};
  const char *captions[] = {evil, "second"};
  pcsim_report report = {.title = evil,
                         .status = "converged",
                         .reason = evil,
                         .version = "0.1.0",
                         .machine = evil,
                         .case_text = evil,
                         .ranks = 2,
                         .cells = 1234567,
                         .residual = 1e-11,
                         .wall_seconds = 4000,
                         .quantities = quantities,
                         .num_quantities = 5,
                         .comparisons = comparisons,
                         .num_comparisons = 3,
                         .curves = curves,
                         .num_curves = 2,
                         .history = history,
                         .quality = &quality,
                         .study = &study,
                         .pictures = pictures,
                         .captions = captions,
                         .num_pictures = 2};
  char *html = write_and_read(&report);
  assert_int_equal(count(html, "src=\"data:image/png;base64,iVBORw0KGgo"), 2);
  assert_int_equal(count(html, "&lt;script&gt;"), 9);
  assert_int_equal(count(html, "\xE2\x9C\x93 met"), 2);
  assert_int_equal(count(html, "\xE2\x9C\x97 missed"), 1);
  assert_non_null(strstr(html, "2 of 3 references met"));
  assert_non_null(strstr(html, "m<sup>2</sup>/s<sup>-1</sup>"));
  assert_int_equal(count(html, "largest deviation"), 1);
  assert_int_equal(count(html, "order outside the expected range"), 1);
  assert_null(strstr(html, "order.unknown")); /* in the table of the study */
  assert_null(strstr(html, "extrapolated.unknown"));
  assert_non_null(strstr(html, "66 min 40 s"));
  /* residuals, forces.cd (drop has no value), line: u, the study */
  assert_int_equal(count(html, "<figure class=\"chart\">"), 4);
  assert_null(strstr(html, ">momentum.z<"));
  assert_non_null(strstr(html, "slope 6.2"));
  assert_null(strstr(html, "nan"));
  assert_null(strstr(html, "inf\""));
  assert_true(strlen(html) < 200000); /* 3000 rows are thinned out */
  pcsim_free(&html);
  sample_path(path, folder, "missing/report.html");
  assert_status(pcsim_report_write(&report, path), PCSIM_ERR_IO);
  assert_ok(pcsim_history_close(&history));
  pcsim_picture_destroy(&picture);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_empty), cmocka_unit_test(test_whole)};
  folder = sample_folder();
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sample_remove(folder);
  if (pcsim_memory_used() != before)
    failed++, print_error("%zu bytes are left\n", pcsim_memory_used() - before);
  return failed;
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
