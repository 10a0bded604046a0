/* SPDX-License-Identifier: BSD-2-Clause */
/* The completed case: valid YAML that reads back to the same tree. */
#include "case_text.h"

static void expect_same(const pcsim_node *a, const pcsim_node *b) {
  assert_int_equal(pcsim_node_get_kind(a), pcsim_node_get_kind(b));
  assert_string_equal(pcsim_node_text(a), pcsim_node_text(b));
  assert_int_equal(pcsim_node_size(a), pcsim_node_size(b));
  for (int64_t i = 0; i < pcsim_node_size(a); i++) {
    if (pcsim_node_get_kind(a) == PCSIM_NODE_MAPPING)
      assert_string_equal(pcsim_node_key(a, i), pcsim_node_key(b, i));
    expect_same(pcsim_node_child(a, i), pcsim_node_child(b, i));
  }
}

/** Writes, reads back, compares; writing that again changes nothing. */
static void round_trip(const char *text) {
  pcsim_tree *tree = read_text(text), *again = NULL;
  char *written, *twice;
  assert_ok(pcsim_tree_write(tree, &written));
  assert_ok(pcsim_tree_parse(written, strlen(written), "written.yaml", &again));
  expect_problems(again, "");
  expect_same(pcsim_tree_root(tree), pcsim_tree_root(again));
  assert_ok(pcsim_tree_write(again, &twice));
  assert_string_equal(written, twice);
  pcsim_free(&twice);
  pcsim_free(&written);
  pcsim_tree_destroy(&again);
  pcsim_tree_destroy(&tree);
}

static void test_exact_form(void **state) {
  (void)state;
  static const char written[] = "pcsim: 1\n"
                                "title: Flow around a cylinder, DFG 2D-1, Re = 20\n"
                                "parameters:\n"
                                "  H: 0.41\n"
                                "mesh:\n"
                                "  near:\n"
                                "    cylinder:\n"
                                "      size: 6e-4\n"
                                "boundaries:\n"
                                "  inlet:\n"
                                "    velocity: [\"4*U*y*(H-y)/H^2\", 0]\n"
                                "  x-min:\n"
                                "    wall: no-slip\n"
                                "monitors:\n"
                                "  drop:\n"
                                "    points: [[0.15, 0.2], [0.25, 0.2]]\n"
                                "reference:\n"
                                "  forces.cd:\n"
                                "    tolerance: 0.1%\n"
                                "conditions:\n"
                                "  - at: \"t = 0.5\"\n"
                                "    u: 0\n"
                                "  - at: t\n"
                                "empty: {}\n"
                                "none: []\n"
                                "nothing:\n";
  pcsim_tree *tree = read_text(written);
  char *text;
  assert_ok(pcsim_tree_write(tree, &text));
  assert_string_equal(text, written);
  pcsim_free(&text);
  pcsim_tree_destroy(&tree);
}

static void test_round_trips(void **state) {
  (void)state;
  round_trip("{}\n");
  round_trip("a: \"\"\nb:\nc: ''\n\"\": x\n");
  round_trip("a: \"line\\nbreak\"\nb: |\n  one\n   two\n\nc: >\n  folded\n  text\n\n");
  round_trip("'key: with # things': 'it''s'\n'- a': '- b'\n'? c': '? d'\n\"x\\ty\": \"\\\\\"\n");
  round_trip("a: [1, [2, [3, {b: [c, {d: }]}]], \"\"]\n");
  round_trip("a:\n  - - 1\n    - - b: 2\n        c: 3\n  -\n  - []\n  - {}\n");
  round_trip(
      "a: \" lead\"\nb: 'trail '\nc: '-'\nd: '---'\ne: '...'\nf: '~'\ng: 'null'\nh: '#x'\ni: a#b\nj: 'a "
      "#b'\nk: a:b\n");
  round_trip(
      "a: '%x'\nb: '&x'\nc: '*x'\nd: '!x'\ne: '|'\nf: '>'\ng: '@x'\nh: '`x'\ni: '\"'\nj: '{'\nk: ','\n");
  round_trip("a: [-1, +2, .5, -.5, 1e-3, (1+2)*3, a b, /tmp/x, x<y, 0.1%]\n");
  round_trip("a: \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\nb: "
             "\"\\u0085\\u00a0\\u2028\\ufeff\\x7f\\x01\\U0001F600\\ufffe\"\n");
  round_trip("a: [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, "
             "ccccccccccccccccccccccc, [d]]\n");
  round_trip("a: plain\n  over lines\nb: \"quoted\n  over\n\n  lines\"\n");
}

static void test_completed(void **state) {
  (void)state;
  static const pcsim_key keys[] = {
      {"tolerance", PCSIM_KEY_NUMBER, "1e-8", NULL, "1", "", 0, 0},
      {"title", PCSIM_KEY_TEXT, "a: b # c", NULL, "", "", 0, 0},
      {"force", PCSIM_KEY_NUMBERS, "[0, 0]", NULL, "", "", 0, 0},
      {"linear", PCSIM_KEY_MAPPING, "{kind: direct}", NULL, "", "", 0, 0},
      {"other", PCSIM_KEY_MAPPING, "", NULL, "", "", 0, 0},
  };
  pcsim_tree *tree = read_text("solve: {tolerance: 1e-5}\n");
  char *text;
  pcsim_node_check(tree, pcsim_node_mapping(tree, pcsim_tree_root(tree), "solve"), keys, 5, "solve");
  pcsim_node_check(tree, pcsim_node_mapping(tree, pcsim_tree_root(tree), "new"), keys, 1, "new");
  assert_ok(pcsim_tree_set(tree, "mesh.size=0.1"));
  expect_problems(tree, "");
  assert_ok(pcsim_tree_write(tree, &text));
  assert_string_equal(
      text, "solve:\n  tolerance: 1e-5\n  title: \"a: b # c\"\n  force: [0, 0]\n  linear:\n    kind: direct\n"
            "new:\n  tolerance: 1e-8\nmesh:\n  size: 0.1\n");
  pcsim_free(&text);
  pcsim_tree_destroy(&tree);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_form),
      cmocka_unit_test(test_round_trips),
      cmocka_unit_test(test_completed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Without MPI, whose own leaks would hide ours from the sanitizer. */
int main(void) { return run() != 0; }
