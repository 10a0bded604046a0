/* SPDX-License-Identifier: BSD-2-Clause */
/* Measured values: what is read, and every fault with its place. */
#include "pinn/data.h"
#include "domain_text.h"

static const char *const case_text =
    "domain: {box: {x: [0, 1], y: [0, 2], t: [0, 3]}}\n"
    "data:\n"
    "  probe: {file: probe.csv, fits: {u: measured, \"-k*u_x\": flux}, noise: 0.1}\n";

/** Read the case in a folder of its own with this file beside it. */
static data *read_data(const char *text, const char *file, const char *problems) {
  char *folder = NULL, path[300], name[300];
  pcsim_tree *tree = NULL;
  domain *d = NULL;
  data *result = NULL;
  assert_ok(pcsim_temporary_make(true, &folder));
  snprintf(path, sizeof path, "%s/probe.csv", folder);
  snprintf(name, sizeof name, "%s/case.yaml", folder);
  assert_ok(pcsim_file_write(path, file, strlen(file)));
  assert_ok(pcsim_file_write(name, text, strlen(text)));
  assert_ok(pcsim_tree_read(name, &tree));
  assert_ok(domain_read(tree, &d));
  assert_ok(data_read(tree, d, &result));
  /* The folder's name changes from run to run. */
  pcsim_status status = pcsim_tree_status(tree);
  char *message = strdup(status == PCSIM_OK ? "" : pcsim_error_message()), *at;
  while ((at = strstr(message, folder)))
    memmove(at, at + strlen(folder) + 1, strlen(at + strlen(folder) + 1) + 1);
  assert_string_equal(message, problems);
  free(message);
  pcsim_error_clear();
  domain_destroy(&d);
  pcsim_tree_destroy(&tree);
  remove(path);
  remove(name);
  remove(folder);
  pcsim_free(&folder);
  return result;
}

static void good(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  data *d = read_data(
      case_text,
      "# a comment\n\n t, measured;x  y \"other\" flux\r\n1,2,0.5,1.5,9,-3\n\n2 1 1 2 9 4 # the corner\n",
      "");
  const data_view *v = data_get(d, 0);
  assert_non_null(v);
  assert_null(data_get(d, 1));
  assert_null(data_get(NULL, 0));
  assert_string_equal(v->name, "probe");
  assert_int_equal(v->num_points, 2);
  assert_int_equal(v->num_fits, 2);
  assert_string_equal(v->fit[0], "u");
  assert_string_equal(v->fit[1], "-k*u_x");
  assert_close(v->noise, 0.1, 0);
  static const double points[] = {0.5, 1.5, 1, 1, 2, 2};
  assert_memory_equal(v->points, points, sizeof points);
  assert_close(v->values[0][0], 2, 0);
  assert_close(v->values[1][1], 4, 0);
  data_destroy(&d);
  /* Many points, and rounded numbers at the border. */
  char *text = malloc(1 << 16), *end = text;
  end += sprintf(end, "x y t measured flux\n");
  for (int i = 0; i < 1000; i++) end += sprintf(end, "%.7f 2.0000001 3 %d 0\n", i / 999.0, i);
  d = read_data(case_text, text, "");
  assert_int_equal(data_get(d, 0)->num_points, 1000);
  assert_close(data_get(d, 0)->values[0][999], 999, 0);
  free(text);
  data_destroy(&d);
  d = read_data("domain: {box: {x: [0, 1]}}\n", "", "");
  assert_null(d);
  assert_int_equal(pcsim_memory_used(), before);
}

static void faults(void **state) {
  (void)state;
  static const struct {
    const char *file, *problems;
  } wrong[] = {
      {"", "case.yaml:3:17: probe.csv is empty; expected a line of names, then numbers"},
      {"x y t measured flux\n", "case.yaml:3:17: probe.csv has no points, only names of columns"},
      {"0.5 1 1 2 3\n", "case.yaml:3:17: probe.csv:1: '0.5' is a number; expected the names of the columns"},
      {"x y x measured flux\n", "case.yaml:3:17: probe.csv:1: there are two columns 'x'"},
      {"x y measurd flux\n1 1 1 1\n",
       "case.yaml:3:17: probe.csv has no column 't', a coordinate of the domain; it has x, y, measurd, flux\n"
       "case.yaml:3:38: probe.csv has no column 'measured'; it has x, y, measurd, flux; did you mean "
       "'measurd'?"},
      {"x y t measured flux\n0.5 1 1 2\n0.5 1 1 2 3 4\n0.5 1 one 2 3\n0.5 1 nan 2 3\n",
       "case.yaml:3:17: probe.csv:2: 4 numbers for 5 columns\n"
       "case.yaml:3:17: probe.csv:3: 6 numbers for 5 columns\n"
       "case.yaml:3:17: probe.csv:4: 'one' in column 't' is no finite number\n"
       "case.yaml:3:17: probe.csv:5: 'nan' in column 't' is no finite number"},
      {"x y t measured flux\n0.5 1 1 2 3\n1.5 1 1 2 3\n# between\n0.5 1 4 2 3\n",
       "case.yaml:3:17: probe.csv:3: the point (1.5, 1) is outside of the domain\n"
       "case.yaml:3:17: probe.csv:5: 't' is 4, outside of its range from 0 to 3"},
      {"x y t measured flux\n2 1 1 2 3\n3 1 1 2 3\n4 1 1 2 3\n5 1 1 2 3\n6 1 1 2 3\n7 1 1 2 3\n8 1 1 2 3\n",
       "case.yaml:3:17: probe.csv:2: the point (2, 1) is outside of the domain\n"
       "case.yaml:3:17: probe.csv:3: the point (3, 1) is outside of the domain\n"
       "case.yaml:3:17: probe.csv:4: the point (4, 1) is outside of the domain\n"
       "case.yaml:3:17: probe.csv:5: the point (5, 1) is outside of the domain\n"
       "case.yaml:3:17: probe.csv:6: the point (6, 1) is outside of the domain\n"
       "case.yaml:3:17: probe.csv: more lines are wrong"},
  };
  const size_t before = pcsim_memory_used();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_null(read_data(case_text, wrong[i].file, wrong[i].problems));
  assert_null(
      read_data("domain: {box: {x: [0, 1]}}\ndata: {a: {file: none.csv, fits: {u: v}}, b: 3, c: {file: "
                "probe.csv, fits: {}}, d: {fit: {u: v}}}\n",
                "x v\n0 1\n",
                "case.yaml:2:18: cannot read 'none.csv': No such file or directory\n"
                "case.yaml:2:46: 'b' must be a mapping such as {file: p.csv, fits: {u: measured}}\n"
                "case.yaml:2:70: 'fits' names 0 columns; expected 1 to 64\n"
                "case.yaml:2:81: missing key 'file' in 'data' (a text: columns with a line of names: "
                "coordinates and values)\n"
                "case.yaml:2:85: unknown key 'fit' in 'data'; did you mean 'fits'? (known: file, fits, "
                "noise)"));
  assert_int_equal(pcsim_memory_used(), before);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(good), cmocka_unit_test(faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
