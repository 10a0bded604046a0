/* SPDX-License-Identifier: BSD-2-Clause */
/* The case's `solve:`. */
#include "pcsim_test.h"
#include <pcsim/solver.h>

/* Read a case; `problems` gets what is wrong with it. */
static pcsim_flow_options read(const char *text, char *problems, size_t size) {
  pcsim_tree *tree = NULL;
  pcsim_flow_options options;
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &tree));
  pcsim_flow_options_read(tree, &options);
  snprintf(problems, size, "%s", pcsim_tree_status(tree) == PCSIM_OK ? "" : pcsim_error_message());
  pcsim_tree_destroy(&tree);
  return options;
}

static void defaults(void **state) {
  (void)state;
  char problems[1024];
  const pcsim_flow_options expected = pcsim_flow_options_default();
  static const char *const texts[2] = {"title: none\n", "solve: {steady: true}\n"};
  for (int i = 0; i < 2; i++) { /* those of the table are those of the function */
    const pcsim_flow_options o = read(texts[i], problems, sizeof problems);
    assert_string_equal(problems, "");
    assert_close(o.tolerance, expected.tolerance, 0);
    assert_int_equal(o.steps_max, expected.steps_max);
    assert_close(o.cfl, expected.cfl, 0);
    assert_close(o.central, expected.central, 0);
    assert_close(o.kappa, expected.kappa, 0);
    assert_close(o.wall_order, expected.wall_order, 0);
    assert_close(o.rhie_chow, expected.rhie_chow, 0);
    assert_close(o.linear_tolerance, expected.linear_tolerance, 0);
    assert_string_equal(o.linear, expected.linear);
    assert_string_equal(o.petsc, "");
  }
}

static void given(void **state) {
  (void)state;
  char problems[1024];
  pcsim_flow_options o = read("parameters: {a: 2}\n"
                              "solve: {tolerance: 1e-8, steps: 7, cfl: 5*a, central: 0.5, interpolation: 0,\n"
                              "        wall-order: 0, rhie-chow: 2, linear: direct}\n",
                              problems, sizeof problems);
  assert_string_equal(problems, "");
  assert_close(o.tolerance, 1e-8, 0);
  assert_int_equal(o.steps_max, 7);
  assert_close(o.cfl, 10, 0);
  assert_close(o.central, 0.5, 0);
  assert_close(o.kappa + o.wall_order, 0, 0);
  assert_close(o.rhie_chow, 2, 0);
  assert_string_equal(o.linear, "direct");
  o = read("solve: {linear: {petsc: \"-pc_type ilu\", tolerance: 1e-3}}\n", problems, sizeof problems);
  assert_string_equal(problems, "");
  assert_string_equal(o.linear, "petsc");
  assert_string_equal(o.petsc, "-pc_type ilu");
  assert_close(o.linear_tolerance, 1e-3, 0);
  o = read("solve: {linear: {method: direct, petsc: \"-mat_mumps_icntl_14 40\"}}\n", problems,
           sizeof problems);
  assert_string_equal(problems, "");
  assert_string_equal(o.linear, "direct");
  assert_string_equal(o.petsc, "-mat_mumps_icntl_14 40");
}

static void faults(void **state) {
  static const struct {
    const char *text, *problem;
  } wrong[] = {
      {"solve: {steady: false}\n", "case.yaml:1:17: `steady: false` needs `time: {end: ..}` beside it"},
      {"solve: {linear: multigird}\n", "case.yaml:1:17: 'multigird' is not a linear solver; expected auto, "
                                       "multigrid, direct or a mapping; did you mean 'multigrid'?"},
      {"solve: {linear: {method: petcs}}\n", "did you mean 'petsc'?"},
      {"solve: {linear: {petscs: \"-pc_type ilu\"}}\n", "did you mean 'petsc'?"},
      {"solve: {tolerence: 1e-8}\n", "did you mean 'tolerance'?"},
      {"solve: {cfl: -1}\n", "case.yaml:1:14: "},
      {"solve: {central: 2}\n", "case.yaml:1:18: "},
      {"solve: {steps: many}\n", "case.yaml:1:16: "},
      {"solve: fast\n", "case.yaml:1:"},
  };
  (void)state;
  char problems[1024], text[1200];
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    (void)read(wrong[i].text, problems, sizeof problems);
    if (!strstr(problems, wrong[i].problem)) print_error("%s: %s\n", wrong[i].text, problems);
    assert_non_null(strstr(problems, wrong[i].problem));
    assert_null(strchr(problems, '\n')); /* one fault, one line */
  }
  snprintf(text, sizeof text, "solve: {linear: {petsc: \"%0600d\"}}\n", 1);
  (void)read(text, problems, sizeof problems);
  assert_non_null(strstr(problems, "PETSc options longer than 511 characters"));
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(defaults), cmocka_unit_test(given),
                                     cmocka_unit_test(faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
