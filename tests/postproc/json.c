/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON reader, and summary.json there and back. */
#include "sample.h"

static const char *folder;

static pcsim_status parse(const char *text, pcsim_json **json) {
  return pcsim_json_parse(text, strlen(text), "t", json);
}

static void test_values(void **state) {
  (void)state;
  pcsim_json *j;
  assert_ok(parse(" {\"a\" : [1, -2.5e-3,true , false,null, \"x\"],\n\"b\":{}, \"\":[] } ", &j));
  const pcsim_json *a = pcsim_json_get(j, "a");
  assert_int_equal(pcsim_json_get_kind(j), PCSIM_JSON_OBJECT);
  assert_int_equal(pcsim_json_size(j), 3);
  assert_string_equal(pcsim_json_key(j, 1), "b");
  assert_int_equal(pcsim_json_size(a), 6);
  assert_true(pcsim_json_number(pcsim_json_item(a, 1)) == -2.5e-3);
  assert_true(pcsim_json_bool(pcsim_json_item(a, 2)) && !pcsim_json_bool(pcsim_json_item(a, 3)));
  assert_int_equal(pcsim_json_get_kind(pcsim_json_item(a, 4)), PCSIM_JSON_NULL);
  assert_string_equal(pcsim_json_string(pcsim_json_item(a, 5)), "x");
  /* what is absent or of another kind */
  assert_null(pcsim_json_get(j, "c"));
  assert_null(pcsim_json_item(a, 6));
  assert_null(pcsim_json_item(a, -1));
  assert_null(pcsim_json_key(a, 0));
  assert_null(pcsim_json_get(a, "b"));
  assert_true(isnan(pcsim_json_number(NULL)) && isnan(pcsim_json_number(j)));
  assert_string_equal(pcsim_json_string(a), "");
  pcsim_json_destroy(&j);
  assert_null(j);
  assert_ok(parse("\"\\u00e9\\n\\ud83d\\ude00\\\"\\/\"", &j));
  assert_string_equal(pcsim_json_string(j), "\xC3\xA9\n\xF0\x9F\x98\x80\"/");
  pcsim_json_destroy(&j);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *place;
  } bad[] = {{"", "t:1:1:"},
             {"{", "t:1:2:"},
             {"[1,]", "t:1:4:"},
             {"[1 2]", "t:1:4:"},
             {"{\"a\" 1}", "t:1:6:"},
             {"{a:1}", "t:1:2:"},
             {"01", "t:1:3:"},
             {"1.", "t:1:3:"},
             {".5", "t:1:1:"},
             {"+1", "t:1:1:"},
             {"1e", "t:1:3:"},
             {"nan", "t:1:1:"},
             {"nul", "t:1:1:"},
             {"[\n\n x]", "t:3:2:"},
             {"\"a", "t:1:3:"},
             {"\"\\x\"", "t:1:3:"},
             {"\"\\u12g4\"", "t:1:4:"},
             {"\"\\ud800\"", "t:1:8:"},
             {"\"\\udc00\"", "t:1:8:"},
             {"\"\\u0000\"", "t:1:8:"},
             {"\"\xFF\"", "t:1:2:"},
             {"\"\xC3", "t:1:2:"},
             {"\"\n\"", "t:1:2:"},
             {"1 2", "t:1:3:"},
             {"{\"a\":1,\"a\":2}", "t:1:11:"},
             {"-", "t:1:2:"},
             {"[1}", "t:1:3:"},
             {"{\"a\":}", "t:1:6:"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    pcsim_json *j;
    assert_status(parse(bad[i].text, &j), PCSIM_ERR_IO);
    assert_null(j);
    if (strncmp(pcsim_error_message(), bad[i].place, strlen(bad[i].place)))
      print_error("%s: %s\n", bad[i].text, pcsim_error_message());
    assert_true(!strncmp(pcsim_error_message(), bad[i].place, strlen(bad[i].place)));
  }
  char deep[201];
  memset(deep, '[', 200);
  deep[200] = '\0';
  pcsim_json *j;
  assert_status(parse(deep, &j), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), "nesting"));
}

/* Every cut of a text and many changes of one byte: an error or a value, never a crash (run with sanitizers).
 */
static void test_mutations(void **state) {
  (void)state;
  char text[] = "{\"a\":[1,2.5e-3,\"\\u00e9\\n\",true,null],\"b\":{\"c\":\"\xC3\xA9\"}}";
  uint64_t random = 1;
  pcsim_json *j;
  for (size_t n = 0; n < strlen(text); n++)
    if (pcsim_json_parse(text, n, "t", &j) == PCSIM_OK) pcsim_json_destroy(&j);
  for (int i = 0; i < 20000; i++) {
    size_t at = lattice_random(&random) % strlen(text);
    char old = text[at];
    text[at] = (char)lattice_random(&random);
    if (text[at] && parse(text, &j) == PCSIM_OK) pcsim_json_destroy(&j);
    text[at] = old;
  }
}

static const char *const odd_text = "a \"q\" \\ <b> & \n\t\x01\x7F \xC3\xA9 \xFF end";

static void test_summary(void **state) {
  (void)state;
  pcsim_quantity quantities[] = {
      {"forces.cd", 5.57953523384, "1"}, {"odd \"name\"", NAN, "m/s"}, {"tiny", 1e-300, ""}};
  pcsim_comparison comparisons[] = {
      {"forces.cd", 5.576, 5.57953523384, 6.3e-4, 1e-3, NAN, NAN, false, true, "FeatFlow"},
      {"drop", NAN, NAN, NAN, 0, 0.1, 0.2, true, false, "nobody"}};
  double rows[] = {0, 1, 0.5, 1.0 / 3, 1, INFINITY};
  pcsim_curve curve = {"profile", 2, {"y", "u"}, 3, rows};
  const int64_t cells[] = {100, 400, 1600};
  const double sizes[] = {0.1, 0.05, 0.025}, values[] = {1, 2, 1.1, 2.1, 1.12, 2.3}, order[] = {2, NAN};
  const double limit[] = {1.13, NAN}, gci[] = {0.01, NAN};
  const char names[2][96] = {"a", "b"};
  pcsim_study study = {3, 2, false, 2, cells, sizes, names, values, order, limit, gci};
  pcsim_mesh_quality quality = {.num_cells = 9, .num_faces = 30, .num_nodes = 16, .volume = 0.25};
  quality.count[PCSIM_CELL_QUAD] = 9;
  quality.skewness = (pcsim_quality_measure){0, 0.1, 0.7, {0.7, 0.5}, {{1, 2, 3}, {4, 5, 6}}, {77, 5}, 2};
  pcsim_report report = {.title = odd_text,
                         .status = "converged",
                         .reason = "because",
                         .version = "0.1.0",
                         .machine = "host",
                         .wall_seconds = 1.9,
                         .cpu_seconds = 1.8,
                         .solve_seconds = 1.5,
                         .ranks = 2,
                         .cells = 61034,
                         .iterations = 7,
                         .linear_iterations = 70,
                         .residual = 3.1e-11,
                         .memory_peak = (size_t)5 << 30,
                         .quantities = quantities,
                         .num_quantities = 3,
                         .comparisons = comparisons,
                         .num_comparisons = 2,
                         .curves = &curve,
                         .num_curves = 1,
                         .quality = &quality,
                         .study = &study};
  char path[256];
  sample_path(path, folder, "summary.json");
  assert_ok(pcsim_summary_write(&report, path));
  pcsim_report *r;
  assert_ok(pcsim_summary_read(path, &r));
  assert_string_equal(r->title, "a \"q\" \\ <b> & \n\t\x01\x7F \xC3\xA9 \xEF\xBF\xBD end");
  assert_string_equal(r->status, "converged");
  assert_string_equal(r->reason, "because");
  assert_true(r->wall_seconds == 1.9 && r->residual == 3.1e-11 && r->ranks == 2 && r->cells == 61034);
  assert_true(r->memory_peak == (size_t)5 << 30 && r->linear_iterations == 70 && r->iterations == 7);
  assert_int_equal(r->num_quantities, 3);
  assert_string_equal(r->quantities[1].name, "odd \"name\"");
  assert_string_equal(r->quantities[1].unit, "m/s");
  assert_true(r->quantities[0].value == 5.57953523384 && isnan(r->quantities[1].value) &&
              r->quantities[2].value == 1e-300);
  assert_int_equal(r->num_comparisons, 2);
  assert_true(r->comparisons[0].met && !r->comparisons[1].met && r->comparisons[1].absolute);
  assert_true(isnan(r->comparisons[0].low) && r->comparisons[1].low == 0.1 && r->comparisons[1].high == 0.2);
  assert_true(r->comparisons[0].error == 6.3e-4 && isnan(r->comparisons[1].value));
  assert_string_equal(r->comparisons[0].source, "FeatFlow");
  assert_int_equal(r->num_curves, 1);
  assert_string_equal(r->curves[0].column[1], "u");
  assert_memory_equal(r->curves[0].values, rows, 5 * sizeof *rows);
  assert_true(isnan(r->curves[0].values[5])); /* infinity became null */
  assert_int_equal(r->study->num_meshes, 3);
  assert_memory_equal(r->study->cells, cells, sizeof cells);
  assert_memory_equal(r->study->values, values, sizeof values);
  assert_true(r->study->order[0] == 2 && isnan(r->study->order[1]) && r->study->extrapolated[0] == 1.13);
  assert_string_equal(r->study->names[1], "b");
  assert_true(r->quality->count[PCSIM_CELL_QUAD] == 9 && r->quality->skewness.worst_cell[0] == 77);
  assert_true(r->quality->skewness.num_worst == 2 && r->quality->skewness.worst_centre[1][2] == 6);
  /* the same again from what was read */
  char again[256], *a, *b;
  size_t na, nb;
  sample_path(again, folder, "again.json");
  assert_ok(pcsim_summary_write(r, again));
  pcsim_summary_free(&r);
  assert_null(r);
  assert_ok(pcsim_file_read(path, 0, &a, &na));
  assert_ok(pcsim_file_read(again, 0, &b, &nb));
  assert_non_null(strstr(a, "\"forces.cd\": 5.57953523384,"));
  assert_non_null(strstr(b, "\"forces.cd\": 5.57953523384,"));
  pcsim_free(&a), pcsim_free(&b);
}

static void test_summary_refused(void **state) {
  (void)state;
  char path[256];
  pcsim_report *r;
  sample_path(path, folder, "absent.json");
  assert_status(pcsim_summary_read(path, &r), PCSIM_ERR_IO);
  assert_null(r);
  static const char *const texts[] = {"{}", "[]", "{\"pcsim\": 1, \"quantities\": {}}", "{\"pcsim\": \"0\"}",
                                      "{\"pc"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    assert_ok(pcsim_file_write(path, texts[i], strlen(texts[i])));
    assert_status(pcsim_summary_read(path, &r), PCSIM_ERR_IO);
    assert_null(r);
    assert_non_null(strstr(pcsim_error_message(), path));
  }
  /* a summary whose parts are of the wrong kinds is read for what it has */
  const char *wrong =
      "{\"pcsim\": \"0\", \"quantities\": {\"a\": \"b\"}, \"references\": 3, \"study\": {\"cells\": [1, "
      "\"x\"], "
      "\"quantities\": [7]}, \"curves\": [{\"rows\": [1, [2]], \"columns\": [\"a\", \"b\"]}], \"mesh\": []}";
  assert_ok(pcsim_file_write(path, wrong, strlen(wrong)));
  assert_ok(pcsim_summary_read(path, &r));
  assert_true(isnan(r->quantities[0].value) && r->study->num_meshes == 2 && r->curves[0].num_rows == 2);
  pcsim_summary_free(&r);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_mutations), cmocka_unit_test(test_summary),
                                     cmocka_unit_test(test_summary_refused)};
  folder = sample_folder();
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sample_remove(folder);
  if (pcsim_memory_used() != before)
    failed++, print_error("%zu bytes are left\n", pcsim_memory_used() - before);
  return failed;
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
