/* SPDX-License-Identifier: BSD-2-Clause */
/* Every fault of the flow part of a case is one problem at its place. */
#include "physics/lattice.h"
#include <pcsim/physics.h>

#define PHYSICS "physics: {model: navier-stokes, density: 1, viscosity: 1e-3}\n"
#define REST "  outlet: {pressure: 0}\n  walls: {wall: no-slip}\n"

typedef struct {
  const char *text;
  const char *place; /* "case.yaml:line:column:" */
  const char *words[3];
  int count; /* problems in all; 0: one */
} fault;

static const fault faults[] = {
    {"title: x\nboundaries:\n  inlet: {velocity: [1, 0]}\n" REST, "case.yaml:1:1:", {"no `physics:`"}, 0},
    {PHYSICS, "case.yaml:1:1:", {"no `boundaries:`"}, 0},
    {"physics: {model: navier-stoke, density: 1, viscosity: 1}\nboundaries:\n  inlet: {velocity: [1, "
     "0]}\n" REST,
     "case.yaml:1:18:",
     {"no model `navier-stoke`", "did you mean `navier-stokes`?"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: -1e-3}\nboundaries:\n  inlet: {velocity: [1, "
     "0]}\n" REST,
     "case.yaml:1:56:",
     {"`viscosity` is -0.001", "positive"},
     0},
    {"physics: {model: navier-stokes, density: 0, viscosity: 1}\nboundaries:\n  inlet: {velocity: [1, "
     "0]}\n" REST,
     "case.yaml:1:42:",
     {"`density` is 0"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1, force: [1, 2, 3]}\nboundaries:\n  inlet: "
     "{velocity: [1, 0]}\n" REST,
     "case.yaml:1:66:",
     {"`force` has 3 components", "two"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1, force: 3}\nboundaries:\n  inlet: "
     "{velocity: [1, 0]}\n" REST,
     "case.yaml:1:",
     {"'force' must be a sequence"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1, force: [z, \"x*p\"]}\nboundaries:\n  inlet: "
     "{velocity: [1, 0]}\n" REST,
     "case.yaml:1:",
     {"`z` depends on z, but the mesh is plane", "p"},
     2},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1, force: [\"sin(t)\", 0]}\nboundaries:\n  "
     "inlet: "
     "{velocity: [1, 0]}\n" REST,
     "case.yaml:1:",
     {"depends on the time t, but the case is steady"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1, force: [0, \"1/(x - x)\"]}\nboundaries:\n  "
     "inlet: "
     "{velocity: [1, 0]}\n" REST,
     "case.yaml:1:",
     {"`force` is not a finite number, in the cell around"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1, force: [\"-1e120*(x + 3)\", "
     "0]}\nboundaries:\n  inlet: "
     "{velocity: [1, 0]}\n" REST,
     "case.yaml:1:",
     {"`force` is -", "which is too large, in the cell around", "at most 1e+100"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1, force: [\"1/(t - 0.5)\", 0]}\nboundaries:\n  "
     "inlet: "
     "{velocity: [1, 0]}\n" REST "initial: {velocity: [0, 0]}\nsolve: {time: {end: 1}}\n",
     "case.yaml:1:",
     {"`force` is not a finite number, in the cell around", "at t = 0.5"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1, force: [1/0, 0]}\nboundaries:\n  inlet: "
     "{velocity: [1, 0]}\n" REST,
     "case.yaml:1:",
     {"finite"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1, coefficients: {k: 1}}\nboundaries:\n  inlet: "
     "{velocity: [1, 0]}\n" REST,
     "case.yaml:1:59:",
     {"`coefficients` is not offered by the steady flow yet"},
     0},
    {PHYSICS "boundaries:\n  inlte: {velocity: [1, 0]}\n" REST,
     "case.yaml:3:3:",
     {"no boundary `inlte`", "inlet", "did you mean `inlet`?"},
     0},
    {PHYSICS "boundaries:\n  \"disk*\": {wall: no-slip}\n  inlet: {velocity: [1, 0]}\n" REST,
     "case.yaml:3:3:",
     {"no boundary that matches `disk*`"},
     0},
    {PHYSICS "boundaries:\n" REST,
     "case.yaml:2:1:",
     {"boundary `inlet` of the mesh (4 faces) has no condition"},
     0},
    {PHYSICS "boundaries:\n  inlet: {velocity: [1, 0], pressure: 0}\n" REST,
     "case.yaml:3:29:",
     {"two conditions for `inlet`: `velocity` and `pressure`"},
     0},
    {PHYSICS "boundaries:\n  \"in*\": {velocity: [1, 0]}\n  \"*let\": {pressure: 0}\n  outlet: {pressure: "
             "0}\n  walls: {wall: no-slip}\n",
     "case.yaml:4:3:",
     {"boundary `inlet` gets two conditions", "`in*` at case.yaml:3:3"},
     0},
    {PHYSICS "boundaries:\n  inlet: {velocity: [1]}\n" REST,
     "case.yaml:3:21:",
     {"`velocity` has 1 component; expected two"},
     0},
    {PHYSICS "boundaries:\n  inlet: {velocity: [1, 0, 0]}\n" REST,
     "case.yaml:3:21:",
     {"`velocity` has 3 components; expected two"},
     0},
    {PHYSICS "boundaries:\n  inlet: {velocity: [\"4*y*(H-y)\", 0]}\n" REST, "case.yaml:3:28:", {"H"}, 0},
    {PHYSICS "boundaries:\n  inlet: {velocity: [\"1 + sin(t)\", 0]}\n" REST,
     "case.yaml:3:31:",
     {"depends on the time t", "steady"},
     0},
    {PHYSICS "boundaries:\n  inlet: {velocity: [\"1 + z\", 0]}\n" REST,
     "case.yaml:3:27:",
     {"depends on z", "plane"},
     0},
    {PHYSICS "boundaries:\n  inlet: {velocity: [\"1/(y-y)\", 0]}\n" REST,
     "case.yaml:3:22:",
     {"boundary `inlet` is not a finite number"},
     0},
    {"parameters: {y: 2}\n" PHYSICS "boundaries:\n  inlet: {velocity: [\"1 + y\", 0]}\n" REST,
     "case.yaml:4:27:",
     {"'y' is both a coordinate and a parameter", "rename the parameter"},
     0},
    {PHYSICS "boundaries:\n  inlet: {velocity: [1e308, 0]}\n" REST,
     "case.yaml:3:22:",
     {"boundary `inlet` is too large: 1e+308", "at most 1e+100"},
     0},
    {PHYSICS
     "boundaries:\n  inlet: {velocity: [1, 0]}\n  outlet: {pressure: -1e200}\n  walls: {wall: no-slip}\n",
     "case.yaml:4:22:",
     {"boundary `outlet` is too large: -1e+200"},
     0},
    {"physics: {model: navier-stokes, density: 1e101, viscosity: 1, force: [-1e200, 0]}\nboundaries:\n  "
     "inlet: "
     "{velocity: [1, 0]}\n" REST,
     "case.yaml:1:42:",
     {"`density` is 1e+101, which is too large", "`force` has a component -1e+200, which is too large"},
     2},
    {PHYSICS "initial: {velocity: [1e200, 0]}\nboundaries:\n  inlet: {velocity: [1, 0]}\n" REST,
     "case.yaml:2:",
     {"`initial` is too large"},
     0},
    {"physics: {model: navier-stokes, density: 1, viscosity: 1e-300}\nboundaries:\n  inlet: {velocity: [1, "
     "0]}\n" REST,
     "case.yaml:1:56:",
     {"`viscosity` is 1e-300", "the Reynolds number is 1e+300", "at most 1e+12"},
     0},
    {PHYSICS "boundaries:\n  inlet: {periodic: outlet}\n" REST,
     "case.yaml:3:21:",
     {"the mesh does not join boundary `inlet` to `outlet`"},
     0},
    {PHYSICS "boundaries:\n  inlet: {periodic: outlt}\n" REST,
     "case.yaml:3:21:",
     {"the mesh has no boundary `outlt`", "did you mean `outlet`?"},
     0},
    {PHYSICS "boundaries:\n  inlet: {periodic: outlet, wall: slip}\n" REST,
     "case.yaml:3:29:",
     {"two conditions for `inlet`"},
     0},
    {PHYSICS "boundaries:\n  inlet: {table: f.csv}\n" REST,
     "case.yaml:3:18:",
     {"a table is the value of a condition"},
     0},
    {PHYSICS "boundaries:\n  inlet: {velocty: [1, 0]}\n" REST,
     "case.yaml:3:11:",
     {"no condition `velocty`", "did you mean `velocity`?"},
     0},
    {PHYSICS "boundaries:\n  inlet: {velocity: [1, 0], sped: 3}\n" REST, "case.yaml:3:29:", {"sped"}, 0},
    {PHYSICS "boundaries:\n  inlet: {}\n" REST, "case.yaml:3:3:", {"`inlet` has no condition"}, 0},
    {PHYSICS "boundaries:\n  inlet: 3\n" REST, "case.yaml:3:10:", {"`inlet` needs a condition in braces"}, 0},
    {PHYSICS "boundaries:\n  inlet: {wall: slip, velocity: [1, 0]}\n" REST,
     "case.yaml:3:33:",
     {"slip wall has no velocity"},
     0},
    {PHYSICS "boundaries:\n  inlet: {wall: sticky}\n" REST, "case.yaml:3:17:", {"slip"}, 0},
    {PHYSICS "boundaries:\n  inlet: {symmetry: false}\n" REST,
     "case.yaml:3:21:",
     {"`symmetry: false` is no condition"},
     0},
    {PHYSICS "boundaries:\n  inlet: {flow-rate: \"1 + x\"}\n" REST,
     "case.yaml:3:22:",
     {"one number for the whole boundary"},
     0},
    {PHYSICS
     "boundaries:\n  inlet: {velocity: [1, 0]}\n  outlet: {wall: no-slip}\n  walls: {wall: no-slip}\n",
     "case.yaml:2:1:",
     {"1 m^3/s flow in and 0 m^3/s flow out", "equal flows"},
     0},
    {PHYSICS "initial: {velocity: [1, 0], presure: 3}\nboundaries:\n  inlet: {velocity: [1, 0]}\n" REST,
     "case.yaml:2:29:",
     {"presure", "pressure"},
     0},
    {PHYSICS "initial: {run: [old]}\nboundaries:\n  inlet: {velocity: [1, 0]}\n" REST,
     "case.yaml:2:16:",
     {"run"},
     0},
    {"physics: {model: navier-stokes, density: -1, viscosity: -1}\nboundaries:\n  inlte: {velocity: [1, "
     "0]}\n  outlet: {pressure: "
     "0, velocity: [0, 0]}\n",
     "case.yaml:1:42:",
     {"`density` is -1", "no boundary `inlte`", "two conditions for `outlet`"},
     5},
};

static void one_problem_each(void **state) {
  (void)state;
  lattice channel = {.nx = 4, .ny = 4, .names = {"walls", "outlet", "walls", "inlet"}};
  pcsim_mesh *mesh = mesh_lattice(&channel);
  int wrong = 0;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
    pcsim_tree *tree = tree_of(faults[i].text);
    pcsim_flow_problem *problem = NULL;
    assert_ok(pcsim_flow_problem_read(tree, mesh, &problem));
    assert_null(problem);
    assert_status(pcsim_tree_status(tree), PCSIM_ERR_CASE);
    const char *message = pcsim_error_message();
    size_t count = faults[i].count ? (size_t)faults[i].count : 1;
    bool good = pcsim_tree_num_problems(tree) == count &&
                strncmp(message, faults[i].place, strlen(faults[i].place)) == 0;
    for (int w = 0; w < 3 && faults[i].words[w]; ++w) good = good && strstr(message, faults[i].words[w]);
    if (!good)
      print_error("case:\n%sfound (%zu):\n%s\nexpected at %s\n\n", faults[i].text,
                  pcsim_tree_num_problems(tree), message, faults[i].place);
    wrong += !good;
    pcsim_tree_destroy(&tree);
  }
  assert_int_equal(wrong, 0);
  pcsim_mesh_destroy(&mesh);
}

/* Without a mesh the same faults are found, as far as they do not depend on it; and none is invented. */
static void without_mesh(void **state) {
  (void)state;
  pcsim_tree *tree =
      tree_of(PHYSICS "boundaries:\n  anything: {velocity: [\"y\", 0, 0]}\n  \"e*\": {pressure: 0}\n");
  pcsim_flow_problem_check(tree);
  assert_ok(pcsim_tree_status(tree));
  pcsim_tree_destroy(&tree);
  tree =
      tree_of("physics: {model: navier-stokes, density: 1}\nboundaries:\n  a: {velocity: [1, \"2*/3\"]}\n");
  pcsim_flow_problem_check(tree);
  assert_int_equal(pcsim_tree_num_problems(tree), 2);
  pcsim_tree_destroy(&tree);
}

static void nothing_given(void **state) {
  (void)state;
  pcsim_flow_problem *problem = NULL;
  pcsim_tree *tree = tree_of(PHYSICS);
  assert_status(pcsim_flow_problem_read(tree, NULL, &problem), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "needs a mesh"));
  assert_null(problem);
  pcsim_tree_destroy(&tree);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_problem_each), cmocka_unit_test(without_mesh),
                                     cmocka_unit_test(nothing_given)};
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (pcsim_memory_used() != before)
    print_error("%zu bytes are still held\n", pcsim_memory_used() - before), ++failed;
  return failed;
}
int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
