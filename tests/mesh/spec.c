/* SPDX-License-Identifier: BSD-2-Clause */
/* Mesh specifications: every fault of `mesh:` gets its line, column and remedy. */
#include "pcsim_test.h"

#include <pcsim/mesh.h>

static pcsim_status read_text(const char *text, pcsim_mesh_spec **spec) {
  pcsim_tree *tree;
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &tree));
  pcsim_status status = pcsim_mesh_spec_read(tree, spec);
  pcsim_tree_destroy(&tree);
  return status;
}

/* The text is refused with these words (each part between bars must be there). */
static void refuse(const char *text, const char *words) {
  pcsim_mesh_spec *spec;
  size_t before = pcsim_memory_used();
  assert_status(read_text(text, &spec), PCSIM_ERR_CASE);
  assert_null(spec);
  assert_int_equal(pcsim_memory_used(), before);
  char copy[400], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word = strtok_r(copy, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
    if (!strstr(pcsim_error_message(), word)) print_error("'%s' lacks '%s'\n", pcsim_error_message(), word);
    assert_non_null(strstr(pcsim_error_message(), word));
  }
}

static void test_refused(void **state) {
  (void)state;
  refuse("title: x\n", "case.yaml:|'mesh' is missing");
  refuse("mesh: box\n", "case.yaml:1:7:|must be a mapping");
  refuse("mesh: {size: 1}\n", "case.yaml:1:|'shape' or 'file'");
  refuse("mesh: {shape: box, file: a.msh}\n", "case.yaml:1:|both are given");
  refuse("mesh: {shape: cavitty, n: [2, 2]}\n",
         "case.yaml:1:15:|unknown shape 'cavitty'|did you mean 'cavity'");
  refuse("mesh: {shape: cavity, n: [2, 2], gradng: 2}\n", "case.yaml:1:34:|'gradng'|did you mean 'grading'");
  refuse("mesh: {shape: cavity, size: -1}\n", "case.yaml:1:29:|positive|-1");
  refuse("mesh: {shape: cavity}\n", "case.yaml:1:|'n'|'size'");
  refuse("mesh: {shape: cavity, size: 0.1, n: [2, 2]}\n", "case.yaml:1:29:|both given");
  refuse("mesh: {shape: cavity, n: [2, 2.5]}\n", "case.yaml:1:30:|2.5");
  refuse("mesh: {shape: cavity, n: [2]}\n", "'n' has 1 numbers, expected 2");
  refuse("mesh: {shape: cavity, n: [2, 2], cells: hexes}\n", "case.yaml:1:41:|quads");
  refuse("mesh: {shape: cavity, n: [2, 2], algorithm: frontal}\n", "follow a pattern");
  refuse("mesh: {shape: box, low: [0, 0, 0], high: [1, 1, 1], n: [2, 2, 2], cells: quads}\n", "has no quads");
  refuse("mesh: {shape: box, low: [0, 1], high: [1, 1], n: [2, 2]}\n", "from 1 to 1 along y");
#define HOLES(text) "mesh: {shape: box, size: 0.1, cells: triangles, minus: {" text "}}\n"
  refuse(HOLES("a: {ball: {centre: [0.5, 0.95], radius: 0.1}}"),
         "case.yaml:1:|'a' reaches from 0.85 to 1.05 along y|inside the box");
  refuse(HOLES("a: {ball: {centre: [0.4, 0.5], radius: 0.1}}, b: {ball: {centre: [0.6, 0.5], radius: 0.1}}"),
         "'b' and 'a' touch");
  refuse(HOLES("x-min: {ball: {centre: [0.4, 0.5], radius: 0.1}}"),
         "'x-min'|a side of the box has this name");
  refuse(HOLES("a.b: {ball: {centre: [0.4, 0.5], radius: 0.1}}"), "'a.b'|without blanks");
  refuse(HOLES("a: {ball: {centre: [0.4, 0.5, 1], radius: 0.1}}"), "3 numbers, expected 2");
  refuse(HOLES("a: {ball: {centre: [0.4, 0.5], radius: 0}}"), "radius");
  refuse(HOLES("a: {box: {x: [0, 1]}}"), "ball");
  refuse(HOLES("a: 3"), "'a' must be a mapping");
  refuse("mesh: {shape: box, n: [9, 9], minus: {a: {ball: {centre: [0.4, 0.5], radius: 0.1}}}}\n",
         "only triangles made from a size");
  refuse("mesh: {shape: box, size: 0.1, cells: triangles, minus: {a1: {ball: {centre: [0.4, 0.5], radius: "
         "0.1}}}, "
         "near: {b*: {size: 0.01}}}\n",
         "no boundary 'b*'|z-max, a1");
  refuse("mesh: {shape: step, n: [9, 9], step: 2}\n", "'step' is 2");
  refuse("mesh: {shape: channel-cylinder, centre: [0.2, 0.04]}\n", "case.yaml:1:|not inside");
  refuse("mesh: {shape: channel-cylinder, near: {cylindre: {size: 0.1}}}\n",
         "case.yaml:1:40:|no boundary 'cylindre'|did you mean 'cylinder'");
  refuse("mesh: {shape: channel-cylinder, near: {cylinder: {growth: 0.1}}}\n", "'size'");
  refuse("mesh: {shape: channel-cylinder, near: {cylinder: {size: 0.1, layers: {first: 2, thickness: 1}}}}\n",
         "thickness");
  refuse("mesh: {shape: channel-cylinder, near: {walls: {size: 0.1, layers: {first: 1, thickness: 2}}}}\n",
         "cannot have layers");
  refuse("mesh: {shape: channel-cylinder-3d, cells: tetrahedra, algorithm: frontal}\n", "delaunay or hxt");
  refuse("mesh: {file: none.msh}\n", "case.yaml:1:14:|no mesh file|none.msh");
  refuse("mesh: {file: none.stl}\n", "NAME.msh");
  refuse("mesh: {file: none.msh, size: 2}\n", "'size'");
  refuse(
      "mesh: {shape: box, low: [0, 0], high: [1, 1], n: [2, 2]}\nboundaries: {\"x*\": {periodic: y-min}}\n",
      "case.yaml:2:31:|NAME: {periodic: OTHER}");
}

static void test_all_problems_at_once(void **state) {
  (void)state;
  refuse("mesh:\n  shape: channel-cylinder\n  size: -2\n  diametre: 1\n  near: {wall: {size: 1}}\n",
         "case.yaml:3:9:|case.yaml:4:3:|case.yaml:5:10:");
}

static void test_accepted(void **state) {
  (void)state;
  pcsim_mesh_spec *spec;
  size_t n, before = pcsim_memory_used();
  const pcsim_shape *shapes = pcsim_shape_list(&n);
  assert_true(n >= 5);
  for (size_t i = 0; i < n; i++) {
    char text[200];
    snprintf(text, sizeof text, "parameters: {h: 0.1}\nmesh: {shape: %s, size: 2*h}\n", shapes[i].name);
    assert_ok(read_text(text, &spec));
    assert_false(pcsim_mesh_spec_is_file(spec));
    assert_ok(pcsim_mesh_spec_refine(spec, 0.5));
    assert_status(pcsim_mesh_spec_refine(spec, 0), PCSIM_ERR_ARG);
    pcsim_mesh_spec_destroy(&spec);
    assert_null(spec);
  }
  assert_int_equal(pcsim_memory_used(), before);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_all_problems_at_once),
      cmocka_unit_test(test_accepted),
  };
  return cmocka_run_group_tests_name("mesh specifications", tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
