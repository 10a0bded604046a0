/* SPDX-License-Identifier: BSD-2-Clause */
/* Case files to trees: places, refusals, extends, parameters, assignments. */
#include "case_text.h"

#include <sys/stat.h>
#include <unistd.h>

static void test_places(void **state) {
  (void)state;
  pcsim_tree *tree = read_text("# comment\n"
                               "mesh: {shape: box, size: 0.1}\n"
                               "walls:\n"
                               "  - 'left wall'\n"
                               "  - on\n");
  const pcsim_node *root = pcsim_tree_root(tree), *mesh = pcsim_node_get(root, "mesh"),
                   *walls = pcsim_node_get(root, "walls");
  assert_int_equal(pcsim_node_get_kind(root), PCSIM_NODE_MAPPING);
  assert_int_equal(pcsim_node_size(root), 2);
  assert_string_equal(pcsim_node_key(root, 1), "walls");
  assert_int_equal(pcsim_node_line(pcsim_node_key_node(root, 1)), 3);
  assert_int_equal(pcsim_node_line(mesh), 2);
  assert_int_equal(pcsim_node_column(mesh), 7);
  assert_int_equal(pcsim_node_column(pcsim_node_get(mesh, "size")), 26);
  assert_string_equal(pcsim_node_file(mesh), "case.yaml");
  assert_int_equal(pcsim_node_get_kind(walls), PCSIM_NODE_SEQUENCE);
  assert_string_equal(pcsim_node_text(pcsim_node_child(walls, 0)), "left wall");
  assert_string_equal(pcsim_node_text(pcsim_node_child(walls, 1)), "on");
  assert_int_equal(pcsim_node_line(pcsim_node_child(walls, 1)), 5);
  assert_null(pcsim_node_child(walls, 2));
  assert_null(pcsim_node_key(walls, 0));
  assert_null(pcsim_node_get(root, "absent"));
  assert_null(pcsim_node_get(NULL, "absent"));
  assert_null(pcsim_node_get(walls, "absent"));
  assert_true(pcsim_node_used(mesh));
  assert_false(pcsim_node_used(pcsim_node_child(mesh, 0)));
  assert_string_equal(pcsim_tree_folder(tree), ".");
  pcsim_tree_destroy(&tree);
  pcsim_tree_destroy(&tree);
}

static void test_refused_texts(void **state) {
  (void)state;
#define REFUSED(text, problems) expect_refused(text, sizeof text - 1, problems)
  REFUSED("", "case.yaml:1:1: the file is empty; a case is a mapping that begins 'pcsim: 1'");
  REFUSED("# nothing\n", "case.yaml:1:1: the file is empty; a case is a mapping that begins 'pcsim: 1'");
  REFUSED("---\n", "case.yaml:1:1: the file is empty; a case is a mapping that begins 'pcsim: 1'");
  REFUSED("hello", "case.yaml:1:1: a case is a mapping (lines of 'key: value'), found 'hello'");
  REFUSED("- 1\n- 2\n", "case.yaml:1:1: a case is a mapping (lines of 'key: value'), found a sequence");
  REFUSED("a: 1\nb: \0", "case.yaml:2:4: a zero byte: this is a binary file; a case is UTF-8 text");
  REFUSED("\x89HDF\r\n\x1a\n", "case.yaml:1:1: byte 0x89 is not UTF-8; a case is UTF-8 text (is this a "
                               "binary file, or text in another encoding?)");
  REFUSED("a: caf\xe9\n", "case.yaml:1:7: byte 0xe9 is not UTF-8; a case is UTF-8 text (is this a binary "
                          "file, or text in another encoding?)");
  REFUSED("a: \xc0\x80\n", "case.yaml:1:4: byte 0xc0 is not UTF-8; a case is UTF-8 text (is this a binary "
                           "file, or text in another encoding?)");
  REFUSED("a: \x1b[1m\n", "case.yaml:1:4: control character U+001B; a case is printable UTF-8 text");
  REFUSED("a:\n\tb: 1\n", "case.yaml:2:1: a tab cannot indent; use spaces");
  REFUSED("a: @b\n", "case.yaml:1:4: '@' cannot start a value; put the text in quotes");
  REFUSED("a: b: c\n", "case.yaml:1:5: unexpected ':'; a text with ': ' in it needs quotes, and the keys of "
                       "a mapping start in one column");
  REFUSED("a: 1\nbc\nd: 2\n", "case.yaml:3:1: expected ':' after the key that starts in line 2, column 1");
  REFUSED("a: [1, 2\nb: 3\n", "case.yaml:2:2: expected ',' or ']' for the '[' in line 1, column 4");
  REFUSED("a: {b: 1\n", "case.yaml:2:1: expected ',' or '}' for the '{' in line 1, column 4");
  REFUSED("a: \"b\n", "case.yaml:2:1: the quoted text that starts in line 1, column 4 is not closed");
  REFUSED("a: \"\\q\"\n", "case.yaml:1:5: unknown escape in a double-quoted text; write \\\\ for a "
                          "backslash, or use single quotes");
  REFUSED("a:\n    b: 1\n  c: 2\n",
          "case.yaml:3:3: expected a key of the mapping that starts in line 1, column 1, in that column");
  REFUSED("{a: 1}: 2\n",
          "case.yaml:1:1: a key is a text, found a mapping; a text that starts with '{' needs quotes");
  REFUSED("extends: [a]\n", "case.yaml:1:10: 'extends' must be the path of a case file, found a sequence");
  REFUSED("extends: /nowhere/base.yaml\n",
          "case.yaml:1:10: cannot read '/nowhere/base.yaml': No such file or directory");
  REFUSED("extends: /\n", "case.yaml:1:10: cannot read '/': it is a folder");
  REFUSED("extends: /dev/zero\n", "case.yaml:1:10: cannot read '/dev/zero': it is not a regular file");
#undef REFUSED
}

static void test_problems_of_the_text(void **state) {
  (void)state;
  pcsim_tree *tree = read_text("\xef\xbb\xbf" /* a byte order mark moves no column */
                               "a: &x 1\n"
                               "b: *x\n"
                               "c: !!str 3\n"
                               "a: 2\n"
                               "d: {k: 1, l: 2, k: 3}\n"
                               "e: \"\\0\"\n"
                               "---\n"
                               "f: 1\n");
  expect_problems(
      tree, "case.yaml:1:4: anchors (&x) are not used in a case; write the value out, or use 'parameters' or "
            "'extends'\n"
            "case.yaml:2:4: aliases (*x) are not used in a case; a text that starts with '*' needs quotes\n"
            "case.yaml:3:4: tags (tag:yaml.org,2002:str) are not used in a case; each key knows its type\n"
            "case.yaml:4:1: the key 'a' stands here a second time; first in line 1, column 1\n"
            "case.yaml:5:17: the key 'k' stands here a second time; first in line 5, column 5\n"
            "case.yaml:6:4: the text contains a zero character (\\0)\n"
            "case.yaml:7:1: a second document starts here; a case is one document (one '---' at most)");
  /* What has a problem already is not reported again by who reads it. */
  double value = 5;
  assert_false(pcsim_node_number(tree, pcsim_tree_root(tree), "b", &value));
  assert_int_equal(pcsim_tree_num_problems(tree), 7);
  assert_close(value, 5, 0);
  pcsim_tree_destroy(&tree);
}

static void test_bombs(void **state) {
  (void)state;
  size_t n = 5 << 20;
  char *text = malloc(n);
  pcsim_tree *tree;
  memset(text, 'a', n);
  assert_status(pcsim_tree_parse(text, n, "case.yaml", &tree), PCSIM_ERR_CASE);
  memset(text, '[', n);
  memcpy(text, "a: ", 3);
  assert_status(pcsim_tree_parse(text, 100000, "case.yaml", &tree), PCSIM_ERR_CASE);
  assert_non_null(strstr(pcsim_error_message(), "case.yaml:1:67: more than 64 levels"));
  for (size_t i = 3; i < n; i++) text[i] = "[1,"[i < 4 ? 0 : 1 + i % 2];
  assert_status(pcsim_tree_parse(text, 1 << 20, "case.yaml", &tree), PCSIM_ERR_CASE);
  assert_non_null(strstr(pcsim_error_message(), "more than 200000 values"));
  memset(text, 'k', 2000);
  memcpy(text + 300, ": 1\n", 4);
  assert_status(pcsim_tree_parse(text, 304, "case.yaml", &tree), PCSIM_ERR_CASE);
  assert_string_equal(pcsim_error_message(), "case.yaml:1:1: a key has more than 256 characters");
  /* A fault behind a long run of blanks: finding its column must not take the square of their number. */
  memset(text, ' ', 60000);
  memcpy(text, "parameters: {a: \"", 17);
  memcpy(text + 59990, "$\"}\n", 5);
  tree = NULL;
  double start = pcsim_time_cpu();
  assert_ok(pcsim_tree_parse(text, 59994, "case.yaml", &tree));
  expect_problems(tree,
                  "case.yaml:1:59991: 'a' must be a number: unexpected '$'; expected a number, a name, an "
                  "operator or a parenthesis");
  assert_true(pcsim_time_cpu() - start < 5);
  pcsim_tree_destroy(&tree);
  free(text);
  pcsim_error_clear();
}

static void test_many_problems(void **state) {
  (void)state;
  char *text = malloc(200000), *end = text;
  for (int i = 0; i < 5000; i++) end += sprintf(end, "k%d: !t 1\n", i);
  pcsim_tree *tree = read_text(text);
  assert_int_equal(pcsim_tree_num_problems(tree), 5000);
  assert_status(pcsim_tree_status(tree), PCSIM_ERR_CASE);
  assert_non_null(strstr(pcsim_error_message(), "\ncase.yaml: and 4900 more problems"));
  pcsim_tree_destroy(&tree);
  free(text);
  pcsim_error_clear();
}

static void test_parameters(void **state) {
  (void)state;
  const char *const *names;
  const double *values;
  pcsim_tree *tree = read_text("parameters:\n"
                               "  H: 0.41\n"
                               "  U: \"2*H + 1%\"\n"
                               "  nu: 0.01/pi\n");
  expect_problems(tree, "");
  assert_int_equal(pcsim_tree_parameters(tree, &names, &values), 3);
  assert_string_equal(names[1], "U");
  assert_close(values[0], 0.41, 0);
  assert_close(values[1], 0.83, 1e-15);
  assert_close(values[2], 0.01 / 3.14159265358979323846, 1e-17);
  assert_ok(pcsim_tree_set(tree, "parameters.H=1"));
  assert_int_equal(pcsim_tree_parameters(tree, NULL, &values), 3);
  assert_close(values[1], 2.01, 1e-15);
  pcsim_tree_destroy(&tree);

  tree = read_text("parameters:\n"
                   "  a: 0.01x\n"
                   "  b: \"2*q\"\n"
                   "  c: a + b\n" /* a consequence: not reported */
                   "  d: 1/0\n"
                   "  e: 1\n"
                   "  f: g\n"
                   "  g: 2*g\n"
                   "  h_1: 2\n"
                   "  i: [1]\n"
                   "  j:\n"
                   "  k: 'sin('\n"
                   "  l: inf\n");
  expect_problems(
      tree, "case.yaml:2:10: 'a' must be a number: unexpected 'x' after the number 0.01; a product is "
            "written 0.01*x\n"
            "case.yaml:3:9: 'b' must be a number: unknown name 'q' (known: a)\n"
            "case.yaml:5:6: 'd' must be a finite number, found '1/0', which is inf\n"
            "case.yaml:6:3: parameter 'e' cannot be a name: it has a meaning of its own\n"
            "case.yaml:7:6: 'f' uses 'g' before it has a value; parameters are evaluated in order\n"
            "case.yaml:8:8: 'g' uses 'g' before it has a value; parameters are evaluated in order\n"
            "case.yaml:9:3: parameter 'h_1' cannot be a name: letters and digits only, a letter first\n"
            "case.yaml:10:6: 'i' must be a number, found a sequence\n"
            "case.yaml:11:3: 'j' must be a number, found nothing\n"
            "case.yaml:12:11: 'k' must be a number: the expression ends too early; expected a number, a name "
            "or '('\n"
            "case.yaml:13:6: 'l' must be a number: 'inf' is not a number here; expected a finite number");
  /* A better value takes its problem away. */
  assert_ok(pcsim_tree_set(tree, "parameters={a: 1}"));
  expect_problems(tree, "");
  pcsim_tree_destroy(&tree);

  tree = read_text("parameters: 3\n");
  expect_problems(tree, "case.yaml:1:13: 'parameters' must be a mapping of names to numbers, found '3'");
  pcsim_tree_destroy(&tree);
}

/* Offsets inside a text are told in the columns of the file, whatever the quoting. */
static void test_columns_inside(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line, column;
  } cases[] = {
      {"a: 12+4*$\n", 1, 9},          {"a: '12+4*$'\n", 1, 10},         {"a: \"12+4*$\"\n", 1, 10},
      {"a: \"12\\x2b4*$\"\n", 1, 13}, {"a: \"12\\u002B4*$\"\n", 1, 15}, {"a: |\n  12+4*$\n", 2, 8},
      {"a: |\n  12\n  +4*$\n", 3, 6}, {"a: >\n  12\n  +4*$\n", 3, 6},   {"a: 12\n  +4*$\n", 2, 6},
      {"a: \"12\n   +4*$\"\n", 2, 7}, {"a: \"12\\\n   +4*$\"\n", 2, 7}, {"'\xc3\xa4': 12+4*$\n", 1, 11},
      {"{a: 12+4*$}\n", 1, 10},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char expected[200];
    pcsim_tree *tree = read_text(cases[i].text);
    double value;
    assert_false(pcsim_node_as_number(tree, pcsim_node_child(pcsim_tree_root(tree), 0), &value));
    snprintf(expected, sizeof expected, "case.yaml:%d:%d: ", cases[i].line, cases[i].column);
    assert_status(pcsim_tree_status(tree), PCSIM_ERR_CASE);
    if (strncmp(pcsim_error_message(), expected, strlen(expected)) != 0)
      print_error("%s%s\n", cases[i].text, pcsim_error_message());
    assert_memory_equal(pcsim_error_message(), expected, strlen(expected));
    pcsim_tree_destroy(&tree);
  }
  pcsim_error_clear();
}

static char folder[64];

static const char *put(const char *name, const char *text) {
  static char path[4][300];
  static int next;
  char *p = path[next++ % 4];
  snprintf(p, 300, "%s/%s", folder, name);
  assert_ok(pcsim_file_write(p, text, strlen(text)));
  return p;
}

static void test_extends(void **state) {
  (void)state;
  pcsim_tree *tree;
  char sub[100], expected[1000], *path = NULL;
  snprintf(sub, sizeof sub, "%s/sub", folder);
  assert_ok(pcsim_folder_make(sub));
  put("sub/root.yaml", "parameters: {H: 1, U: 2*H}\nmesh: {file: duct.msh, scale: 2}\nlist: [1, 2]\n");
  put("base.yaml", "extends: sub/root.yaml\nmesh: {scale: 3}\nsolve: {steps: 5, linear: {a: 1}}\n");
  const char *top =
      put("top.yaml", "extends: base.yaml\nparameters: {H: 4}\nsolve: {linear: {b: 2}}\nlist: [3]\n");
  assert_ok(pcsim_tree_read(top, &tree));
  expect_problems(tree, "");
  assert_string_equal(pcsim_tree_folder(tree), folder);
  assert_string_equal(text_at(tree, "mesh.scale"), "3");
  assert_string_equal(text_at(tree, "solve.steps"), "5");
  assert_string_equal(text_at(tree, "solve.linear.a"), "1");
  assert_string_equal(text_at(tree, "solve.linear.b"), "2");
  assert_int_equal(pcsim_node_size(pcsim_node_get(pcsim_tree_root(tree), "list")), 1);
  assert_null(pcsim_node_get(pcsim_tree_root(tree), "extends"));
  const double *values;
  assert_int_equal(pcsim_tree_parameters(tree, NULL, &values), 2);
  assert_close(values[1], 8, 0); /* U = 2*H with the H of the last file */
  /* A path belongs to the file it stands in. */
  const pcsim_node *file = pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "mesh"), "file");
  assert_ok(pcsim_node_path(file, &path));
  snprintf(expected, sizeof expected, "%s/sub/duct.msh", folder);
  assert_string_equal(path, expected);
  pcsim_free(&path);
  /* Problems name the file; the case itself comes first. */
  pcsim_tree_problem(tree, file, "one");
  pcsim_tree_problem(tree, pcsim_node_get(pcsim_tree_root(tree), "list"), "two");
  snprintf(expected, sizeof expected, "%s/top.yaml:4:7: two\n%s/sub/root.yaml:2:14: one", folder, folder);
  expect_problems(tree, expected);
  pcsim_tree_destroy(&tree);
}

static void test_extends_faults(void **state) {
  (void)state;
  pcsim_tree *tree;
  char expected[1000], name[32], text[64];
  const char *a = put("a.yaml", "extends: b.yaml\n");
  put("b.yaml", "x: 1\nextends: ./a.yaml\n");
  assert_status(pcsim_tree_read(a, &tree), PCSIM_ERR_CASE);
  snprintf(expected, sizeof expected,
           "%s/b.yaml:2:10: 'extends' runs in a circle: %s/a.yaml -> %s/b.yaml -> %s/./a.yaml", folder,
           folder, folder, folder);
  assert_string_equal(pcsim_error_message(), expected);
  const char *self = put("self.yaml", "extends: self.yaml\n");
  assert_status(pcsim_tree_read(self, &tree), PCSIM_ERR_CASE);
  assert_non_null(strstr(pcsim_error_message(), "runs in a circle"));
  const char *c = put("c.yaml", "x: 1\nx: 2\nextends: d.yaml\n");
  put("d.yaml", "y: [\n");
  assert_status(pcsim_tree_read(c, &tree), PCSIM_ERR_CASE);
  snprintf(expected, sizeof expected,
           "%s/c.yaml:2:1: the key 'x' stands here a second time; first in line 1, column 1\n"
           "%s/d.yaml:2:1: expected a value within brackets, found the end of the text",
           folder, folder);
  assert_string_equal(pcsim_error_message(), expected);
  for (int i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "chain%d.yaml", i);
    snprintf(text, sizeof text, "extends: chain%d.yaml\n", i + 1);
    put(name, text);
  }
  snprintf(expected, sizeof expected, "%s/chain0.yaml", folder);
  assert_status(pcsim_tree_read(expected, &tree), PCSIM_ERR_CASE);
  assert_non_null(
      strstr(pcsim_error_message(), "chain15.yaml:1:10: 'extends' leads through more than 16 files"));
  assert_status(pcsim_tree_read("/nowhere/x.yaml", &tree), PCSIM_ERR_IO);
  assert_string_equal(pcsim_error_message(), "cannot read '/nowhere/x.yaml': No such file or directory");
  assert_status(pcsim_tree_read("/", &tree), PCSIM_ERR_IO);
  assert_null(tree);
  pcsim_error_clear();
}

static void test_set(void **state) {
  (void)state;
  pcsim_tree *tree =
      read_text("solve: {tolerance: 1e-5}\nreference:\n  forces.cd: {value: 1}\nlist: [[1, 2], {a: 3}]\n");
  assert_ok(pcsim_tree_set(tree, "solve.tolerance=1e-8"));
  assert_string_equal(text_at(tree, "solve.tolerance"), "1e-8");
  assert_ok(pcsim_tree_set(tree, "reference.forces.cd.value=2")); /* the key with a dot is found */
  assert_ok(pcsim_tree_set(tree, "reference.\"forces.cl\".value=0.01"));
  const pcsim_node *reference = pcsim_node_get(pcsim_tree_root(tree), "reference");
  assert_int_equal(pcsim_node_size(reference), 2);
  assert_string_equal(pcsim_node_text(pcsim_node_get(pcsim_node_get(reference, "forces.cd"), "value")), "2");
  assert_string_equal(pcsim_node_text(pcsim_node_get(pcsim_node_get(reference, "forces.cl"), "value")),
                      "0.01");
  assert_ok(pcsim_tree_set(tree, "boundaries.inlet.velocity=[1, \"y=2\"]"));
  const pcsim_node *velocity = pcsim_node_get(
      pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "boundaries"), "inlet"), "velocity");
  assert_string_equal(pcsim_node_text(pcsim_node_child(velocity, 1)), "y=2");
  assert_ok(pcsim_tree_set(tree, "list.0.1=5"));
  assert_ok(pcsim_tree_set(tree, "list.1.b=6"));
  const pcsim_node *list = pcsim_node_get(pcsim_tree_root(tree), "list");
  assert_string_equal(pcsim_node_text(pcsim_node_child(pcsim_node_child(list, 0), 1)), "5");
  assert_string_equal(pcsim_node_text(pcsim_node_get(pcsim_node_child(list, 1), "b")), "6");
  assert_ok(pcsim_tree_set(tree, "title=a=b"));
  assert_string_equal(text_at(tree, "title"), "a=b");
  expect_problems(tree, "");
  double value;
  assert_ok(pcsim_tree_set(tree, "solve.tolerance=1e-8x"));
  assert_false(pcsim_node_number(tree, pcsim_node_get(pcsim_tree_root(tree), "solve"), "tolerance", &value));
  expect_problems(tree, "--set solve.tolerance=1e-8x:1:21: 'tolerance' must be a number: unexpected 'x' "
                        "after the number 1e-8; a product is written 1e-8*x");
  pcsim_tree_destroy(&tree);
}

/* "a.b.c" where both "a" and "a.b" are keys: the longest that is there is meant. */
static void test_set_longest_key(void **state) {
  (void)state;
  pcsim_tree *tree = read_text("a.b: {c: 2}\na: {b: {c: 1}}\n");
  const pcsim_node *root = pcsim_tree_root(tree);
  assert_ok(pcsim_tree_set(tree, "a.b.c=5"));
  assert_string_equal(text_at(tree, "a.b.c"), "1");
  assert_string_equal(pcsim_node_text(pcsim_node_get(pcsim_node_get(root, "a.b"), "c")), "5");
  assert_ok(pcsim_tree_set(tree, "\"a\".b.c=6"));
  assert_string_equal(text_at(tree, "a.b.c"), "6");
  pcsim_tree_destroy(&tree);
}

static void test_set_faults(void **state) {
  (void)state;
  pcsim_tree *tree = read_text("solve: {tolerance: 1e-5}\nlist: [1]\n");
  char *before, *after;
  assert_ok(pcsim_tree_write(tree, &before));
  static const char *const wrong[][2] = {
      {"solve.tolerance", "--set solve.tolerance: expected path=value, such as solve.tolerance=1e-8"},
      {"=3", "--set =3: expected path=value, such as solve.tolerance=1e-8"},
      {"a=", "--set a=: expected a value after '='"},
      {"a..b=1", "--set a..b=1: the path before '=' is malformed; expected key.key...=value"},
      {"x.a.=1", "--set x.a.=1: the path before '=' is malformed; expected key.key...=value"},
      {"solve.tolerance.x=1", "--set solve.tolerance.x=1: 'solve.tolerance' holds '1e-5', no keys"},
      {"list.1=2", "--set list.1=2: '1' names no element; the sequence has 1, counted from 0"},
      {"list.x=2", "--set list.x=2: 'x' names no element; the sequence has 1, counted from 0"},
      {"a=[1", "--set a=[1:1:5: expected ',' or ']' for the '[' in line 1, column 3"},
      {"a=*x",
       "--set a=*x:1:3: aliases (*x) are not used in a case; a text that starts with '*' needs quotes"},
      {"a={b: 1, b: 2}",
       "--set a={b: 1, b: 2}:1:10: the key 'b' stands here a second time; first in line 1, column 4"},
      {"extends=a.yaml",
       "--set extends=a.yaml: 'extends' was followed when the case was read and cannot be set"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_status(pcsim_tree_set(tree, wrong[i][0]), PCSIM_ERR_CASE);
    assert_string_equal(pcsim_error_message(), wrong[i][1]);
  }
  assert_ok(pcsim_tree_write(tree, &after));
  assert_string_equal(before, after);
  expect_problems(tree, "");
  pcsim_free(&before);
  pcsim_free(&after);
  pcsim_tree_destroy(&tree);
}

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/pcsim-tree-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_refused_texts),
      cmocka_unit_test(test_problems_of_the_text),
      cmocka_unit_test(test_bombs),
      cmocka_unit_test(test_many_problems),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_columns_inside),
      cmocka_unit_test(test_extends),
      cmocka_unit_test(test_extends_faults),
      cmocka_unit_test(test_set),
      cmocka_unit_test(test_set_faults),
      cmocka_unit_test(test_set_longest_key),
  };
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, make_folder, remove_folder);
  if (!failed && pcsim_memory_used() != before) {
    print_error("%zu bytes are still held\n", pcsim_memory_used() - before);
    return 1;
  }
  return failed;
}

/* Without MPI, whose own leaks would hide ours from the sanitizer. */
int main(void) { return run() != 0; }
