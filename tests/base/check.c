/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of keys: every kind of fault at its place, once; defaults; typed readers. */
#include "case_text.h"

#include <float.h>

static const pcsim_key keys[] = {
    {"flag", PCSIM_KEY_BOOL, "true", NULL, "", "a switch", 0, 0},
    {"count", PCSIM_KEY_INTEGER, "10", NULL, "1", "how many", 1, 100},
    {"viscosity", PCSIM_KEY_NUMBER, NULL, NULL, "Pa s", "dynamic viscosity", DBL_MIN, DBL_MAX},
    {"density", PCSIM_KEY_NUMBER, "1", NULL, "kg/m3", "density", 0, INFINITY},
    {"title", PCSIM_KEY_TEXT, "", NULL, "", "title", 0, 0},
    {"model", PCSIM_KEY_CHOICE, "stokes", "navier-stokes|stokes", "", "the equations", 0, 0},
    {"source", PCSIM_KEY_EXPRESSION, "", NULL, "", "source", 0, 0},
    {"force", PCSIM_KEY_NUMBERS, "[0, 0]", NULL, "", "force", 0, 0},
    {"list", PCSIM_KEY_SEQUENCE, "", NULL, "", "a list", 0, 0},
    {"near", PCSIM_KEY_MAPPING, "", NULL, "", "sizes", 0, 0},
    {"on", PCSIM_KEY_NAMES, "", NULL, "", "boundaries", 0, 0},
    {"extra", PCSIM_KEY_ANY, "", NULL, "", "anything", 0, 0},
};
enum { NUM_KEYS = sizeof keys / sizeof keys[0] };
#define KNOWN "flag, count, viscosity, density, title, model, source, force, list, near, on, extra"

static pcsim_node *physics(const pcsim_tree *tree) {
  return pcsim_node_get(pcsim_tree_root(tree), "physics");
}

/* What the readers say is what the check said, so nothing is said twice. */
static void read_everything(pcsim_tree *tree, const pcsim_node *node) {
  bool flag;
  int64_t count;
  double number, force[3];
  const char *text;
  int n;
  pcsim_node_bool(tree, node, "flag", &flag);
  pcsim_node_integer(tree, node, "count", &count);
  pcsim_node_number(tree, node, "viscosity", &number);
  pcsim_node_number(tree, node, "density", &number);
  pcsim_node_string(tree, node, "title", &text);
  pcsim_node_numbers(tree, node, "force", force, 3, &n);
  const pcsim_node *sequence = pcsim_node_get(node, "force");
  for (int64_t i = 0; i < pcsim_node_size(sequence); i++)
    pcsim_node_as_number(tree, pcsim_node_child(sequence, i), &number);
}

static void expect_after_check(const char *text, const char *problems) {
  pcsim_tree *tree = read_text(text);
  for (int twice = 0; twice < 2; twice++) {
    pcsim_node_check(tree, physics(tree), keys, NUM_KEYS, "physics");
    read_everything(tree, physics(tree));
  }
  expect_problems(tree, problems);
  pcsim_tree_destroy(&tree);
}

static void test_faults(void **state) {
  (void)state;
  expect_after_check(
      "physics:\n  viscocity: 1\n",
      "case.yaml:2:3: unknown key 'viscocity' in 'physics'; did you mean 'viscosity'? (known: " KNOWN ")");
  expect_after_check("a: 1\nphysics:\n  banana: 1\n  density: 2\n",
                     "case.yaml:2:1: missing key 'viscosity' in 'physics' (a number: dynamic viscosity)\n"
                     "case.yaml:3:3: unknown key 'banana' in 'physics' (known: " KNOWN ")");
  expect_after_check("physics: {}\n",
                     "case.yaml:1:1: missing key 'viscosity' in 'physics' (a number: dynamic viscosity)");
  expect_after_check("physics: 3\n", "case.yaml:1:10: 'physics' must be a mapping (key: value), found '3'");
  expect_after_check("physics:\n", "case.yaml:1:1: 'physics' must be a mapping (key: value), found nothing");
  expect_after_check("physics: {viscosity: -1}\n",
                     "case.yaml:1:22: 'viscosity' must be positive Pa s, found -1");
  expect_after_check("physics: {viscosity: 0}\n",
                     "case.yaml:1:22: 'viscosity' must be positive Pa s, found 0");
  expect_after_check("physics: {viscosity: 0.01x}\n",
                     "case.yaml:1:26: 'viscosity' must be a number: unexpected "
                     "'x' after the number 0.01; a product is written 0.01*x");
  expect_after_check(
      "physics: {viscosity: .inf}\n",
      "case.yaml:1:22: 'viscosity' must be a number: unexpected '.'; expected a number, a name, an "
      "operator or a parenthesis");
  expect_after_check(
      "physics: {viscosity: inf}\n",
      "case.yaml:1:22: 'viscosity' must be a number: 'inf' is not a number here; expected a finite number");
  expect_after_check("physics: {viscosity: \"0/0\"}\n",
                     "case.yaml:1:22: 'viscosity' must be a finite number, found '0/0', which is nan");
  expect_after_check("physics: {viscosity: [1]}\n",
                     "case.yaml:1:22: 'viscosity' must be a number, found a sequence");
  expect_after_check("physics: {viscosity: }\n",
                     "case.yaml:1:11: 'viscosity' must be a number, found nothing");
  expect_after_check("physics: {viscosity: 1, density: -2}\n",
                     "case.yaml:1:34: 'density' must be at least 0 kg/m3, found -2");
  expect_after_check("physics: {viscosity: 1, count: 0}\n",
                     "case.yaml:1:32: 'count' must be from 1 to 100, found 0");
  expect_after_check("physics: {viscosity: 1, count: 2.5}\n",
                     "case.yaml:1:32: 'count' must be a whole number, found '2.5'");
  expect_after_check("physics: {viscosity: 1, count: 1e300}\n",
                     "case.yaml:1:32: 'count' must be a whole number, found '1e300'");
  expect_after_check("physics: {viscosity: 1, flag: yes}\n",
                     "case.yaml:1:31: 'flag' must be true or false, found 'yes'");
  expect_after_check("physics: {viscosity: 1, flag: on}\n",
                     "case.yaml:1:31: 'flag' must be true or false, found 'on'");
  expect_after_check("physics: {viscosity: 1, title: [a]}\n",
                     "case.yaml:1:32: 'title' must be a text, found a sequence");
  expect_after_check(
      "physics: {viscosity: 1, model: stoke}\n",
      "case.yaml:1:32: 'model' must be one of navier-stokes, stokes; found 'stoke'; did you mean 'stokes'?");
  expect_after_check("physics: {viscosity: 1, model: {a: 1}}\n",
                     "case.yaml:1:25: 'model' must be one of navier-stokes, stokes; found a mapping");
  expect_after_check("physics: {viscosity: 1, source: [x]}\n",
                     "case.yaml:1:33: 'source' must be a number or an expression, found a sequence");
  expect_after_check("physics: {viscosity: 1, force: 3}\n",
                     "case.yaml:1:32: 'force' must be a sequence of numbers, such as [1, 0], found '3'");
  expect_after_check(
      "physics: {viscosity: 1, force: [1, b, [2]]}\n",
      "case.yaml:1:36: element 2 of 'force' must be a number: unknown name 'b'; no names are known "
      "here, only numbers and functions\n"
      "case.yaml:1:39: element 3 of 'force' must be a number, found a sequence");
  expect_after_check("physics: {viscosity: 1, force: [1, 2, 3, 4]}\n",
                     "case.yaml:1:32: 'force' has 4 numbers; at most 3 are expected");
  expect_after_check("physics: {viscosity: 1, list: a}\n",
                     "case.yaml:1:31: 'list' must be a sequence ([a, b, ...]), found 'a'");
  expect_after_check("physics: {viscosity: 1, near: a}\n",
                     "case.yaml:1:31: 'near' must be a mapping (key: value), found 'a'");
  expect_after_check("physics: {viscosity: 1, on: {a: b}}\n",
                     "case.yaml:1:25: 'on' must be a name or a sequence of names, found a mapping");
  expect_after_check("physics: {viscosity: 1, on: [a, [b]]}\n",
                     "case.yaml:1:33: element 2 of 'on' must be a text, found a sequence");
  expect_after_check("physics: {viscosity: 1, extra: , on: }\n",
                     "case.yaml:1:34: 'on' must be a name or a sequence of names, found nothing");
}

static void test_all_in_one_pass(void **state) {
  (void)state;
  expect_after_check(
      "parameters: {a: 1, b: q}\n"
      "physics:\n"
      "  flag: off\n"
      "  viscosity: 2*b\n" /* b is wrong: no second problem */
      "  densty: 2\n"
      "  count: a+1.5\n"
      "  count: 3\n",
      "case.yaml:1:23: 'b' must be a number: unknown name 'q' (known: a)\n"
      "case.yaml:3:9: 'flag' must be true or false, found 'off'\n"
      "case.yaml:5:3: unknown key 'densty' in 'physics'; did you mean 'density'? (known: " KNOWN ")\n"
      "case.yaml:6:10: 'count' must be a whole number, found 'a+1.5'\n"
      "case.yaml:7:3: the key 'count' stands here a second time; first in line 6, column 3");
}

static void test_words(void **state) {
  (void)state;
  static const pcsim_key top[] = {{"pcsim", PCSIM_KEY_INTEGER, NULL, NULL, "", "version", 1, 1}};
  static const struct {
    const char *text, *where, *problem;
  } cases[] = {
      {"pcsim: 2\n", "the case", "case.yaml:1:8: 'pcsim' must be 1, found 2"},
      {"pcsm: 1\n", "the case",
       "case.yaml:1:1: unknown key 'pcsm' in the case; did you mean 'pcsim'? (known: pcsim)"},
      {"a: 1\n", "",
       "case.yaml:1:1: unknown key 'a' in the case (known: pcsim)\n"
       "case.yaml:1:1: missing key 'pcsim' in the case (a whole number: version)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    pcsim_tree *tree = read_text(cases[i].text);
    pcsim_node_check(tree, pcsim_tree_root(tree), top, 1, cases[i].where);
    expect_problems(tree, cases[i].problem);
    pcsim_tree_destroy(&tree);
  }
}

static void test_values_and_defaults(void **state) {
  (void)state;
  pcsim_tree *tree =
      read_text("parameters: {n: 4}\nphysics:\n  viscosity: \"n*0.1%\"\n  flag: false\n  on: [a, b]\n");
  pcsim_node *node = physics(tree);
  bool flag = true;
  int64_t count = 0;
  double viscosity = 0, density = 0, force[2] = {5, 5};
  const char *model = NULL, *title = "kept";
  int n = 0;
  pcsim_node_check(tree, node, keys, NUM_KEYS, "physics");
  assert_true(pcsim_node_bool(tree, node, "flag", &flag));
  assert_true(pcsim_node_integer(tree, node, "count", &count));
  assert_true(pcsim_node_number(tree, node, "viscosity", &viscosity));
  assert_true(pcsim_node_number(tree, node, "density", &density));
  assert_true(pcsim_node_string(tree, node, "model", &model));
  assert_false(pcsim_node_string(tree, node, "title", &title));
  assert_true(pcsim_node_numbers(tree, node, "force", force, 2, &n));
  assert_false(flag);
  assert_int_equal(count, 10);
  assert_close(viscosity, 0.004, 1e-18);
  assert_close(density, 1, 0);
  assert_string_equal(model, "stokes");
  assert_string_equal(title, "kept");
  assert_int_equal(n, 2);
  assert_close(force[0] + force[1], 0, 0);
  /* A default has no line of its own: what is wrong with it is told at what it was filled into. */
  assert_int_equal(pcsim_node_line(pcsim_node_get(node, "density")), 0);
  expect_problems(tree, "");
  pcsim_tree_problem(tree, pcsim_node_get(node, "density"), "too light");
  pcsim_tree_problem_inside(tree, pcsim_node_child(pcsim_node_get(node, "force"), 1), 3, "too weak");
  pcsim_tree_problem(tree, node, "the whole");
  pcsim_tree_problem(tree, pcsim_tree_root(tree), "the case");
  pcsim_tree_problem(tree, NULL, "anything");
  expect_problems(tree, "case.yaml:1:1: the case\ncase.yaml:1:1: anything\ncase.yaml:2:1: too light\n"
                        "case.yaml:2:1: too weak\ncase.yaml:2:1: the whole");
  pcsim_tree_destroy(&tree);
}

static void test_mappings(void **state) {
  (void)state;
  pcsim_tree *tree = read_text("a: {b: 1}\nc: 2\n");
  pcsim_node *root = pcsim_tree_root(tree), *a = pcsim_node_mapping(tree, root, "a"),
             *d = pcsim_node_mapping(tree, root, "d");
  assert_non_null(a);
  assert_int_equal(pcsim_node_size(a), 1);
  assert_non_null(d);
  assert_int_equal(pcsim_node_size(d), 0);
  assert_ptr_equal(pcsim_node_mapping(tree, root, "d"), d);
  assert_non_null(pcsim_node_mapping(tree, d, "e"));
  assert_null(pcsim_node_mapping(tree, root, "c"));
  assert_null(pcsim_node_mapping(tree, NULL, "c"));
  expect_problems(tree, "case.yaml:2:4: 'c' must be a mapping (key: value), found '2'");
  pcsim_node_check(tree, pcsim_node_get(d, "e"), keys, NUM_KEYS, "d.e");
  expect_problems(tree, "case.yaml:1:1: missing key 'viscosity' in 'd.e' (a number: dynamic viscosity)\n"
                        "case.yaml:2:4: 'c' must be a mapping (key: value), found '2'");
  pcsim_tree_destroy(&tree);
}

static void test_expressions(void **state) {
  (void)state;
  static const char *const names[] = {"x", "y"};
  const double at[] = {2, 3};
  pcsim_expr *expr = NULL;
  pcsim_tree *tree = read_text("parameters: {H: 2, bad: 1/0}\nv: [\"H*x + y\", \"H*z\", 7, bad*x]\n");
  const pcsim_node *v = pcsim_node_get(pcsim_tree_root(tree), "v");
  assert_true(pcsim_node_as_expr(tree, pcsim_node_child(v, 0), names, 2, &expr));
  assert_close(pcsim_expr_eval(expr, at), 7, 0);
  pcsim_expr_destroy(&expr);
  assert_false(pcsim_node_as_expr(tree, pcsim_node_child(v, 1), names, 2, &expr));
  assert_null(expr);
  assert_true(pcsim_node_as_expr(tree, pcsim_node_child(v, 2), names, 2, &expr));
  assert_close(pcsim_expr_eval(expr, at), 7, 0);
  pcsim_expr_destroy(&expr);
  assert_false(pcsim_node_as_expr(tree, pcsim_node_child(v, 3), names, 2, &expr));
  assert_false(pcsim_node_as_expr(tree, v, names, 2, &expr));
  assert_false(pcsim_node_as_expr(tree, NULL, names, 2, &expr));
  expect_problems(tree, "case.yaml:1:25: 'bad' must be a finite number, found '1/0', which is inf\n"
                        "case.yaml:2:4: 'v' must be a number or an expression, found a sequence\n"
                        "case.yaml:2:19: element 2 of 'v' must be a number or an expression: unknown name "
                        "'z' (known: x, y, H, bad)");
  pcsim_tree_destroy(&tree);
}

/* A parameter with the name of a bound name: one problem for each expression, where it stands; elsewhere the
 * parameter is what it is. */
static void test_shadowed_names(void **state) {
  (void)state;
  static const char *const names[] = {"x", "y", "t", "u"};
  pcsim_expr *expr = NULL;
  double number = 0;
  pcsim_tree *tree =
      read_text("parameters: {x: 3, t: 1, u: 2, k: x+1}\nv: [\"k*y\", \"y + sin(2*x)*x\", t, \"-u\", x]\n");
  const pcsim_node *v = pcsim_node_get(pcsim_tree_root(tree), "v");
  assert_true(pcsim_node_as_expr(tree, pcsim_node_child(v, 0), names, 4, &expr));
  pcsim_expr_destroy(&expr);
  for (int i = 1; i < 4; i++) {
    assert_false(pcsim_node_as_expr(tree, pcsim_node_child(v, i), names, 4, &expr));
    assert_null(expr);
  }
  assert_true(pcsim_node_as_number(tree, pcsim_node_child(v, 4), &number));
  assert_close(number, 3, 0);
  expect_problems(tree, "case.yaml:2:23: 'x' is both a coordinate and a parameter; rename the parameter\n"
                        "case.yaml:2:30: 't' is both the time and a parameter; rename the parameter\n"
                        "case.yaml:2:35: 'u' is both an unknown and a parameter; rename the parameter");
  pcsim_tree_destroy(&tree);
}

static void test_long_and_strange_texts(void **state) {
  (void)state;
  char text[3000] = "physics: {viscosity: \"";
  memset(text + strlen(text), 'a', 2500);
  strcat(text, "\", flag: \"x\\ny\\u00e9\\u0007\"}\n");
  pcsim_tree *tree = read_text(text);
  pcsim_node_check(tree, physics(tree), keys, NUM_KEYS, "physics");
  expect_problems(tree, "case.yaml:1:23: 'viscosity' must be a number: a name is longer than 127 characters\n"
                        "case.yaml:1:2532: 'flag' must be true or false, found 'x y\xc3\xa9 '");
  pcsim_tree_destroy(&tree);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faults),          cmocka_unit_test(test_words),
      cmocka_unit_test(test_all_in_one_pass), cmocka_unit_test(test_values_and_defaults),
      cmocka_unit_test(test_mappings),        cmocka_unit_test(test_expressions),
      cmocka_unit_test(test_shadowed_names),  cmocka_unit_test(test_long_and_strange_texts),
  };
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (!failed && pcsim_memory_used() != before) {
    print_error("%zu bytes are still held\n", pcsim_memory_used() - before);
    return 1;
  }
  return failed;
}

/* Without MPI, whose own leaks would hide ours from the sanitizer. */
int main(void) { return run() != 0; }
