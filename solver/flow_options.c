/* SPDX-License-Identifier: BSD-2-Clause */
/* The case's `solve:`. */
#include <pcsim/solver.h>

#include <stdio.h>
#include <string.h>

static const pcsim_key solve_keys[] = {
    {"steady", PCSIM_KEY_BOOL, "", NULL, "", "march to the steady state: so it is without `time`", 0, 0},
    {"time", PCSIM_KEY_MAPPING, "", NULL, "", "go through time: {end: 8, tolerance: 1e-4}", 0, 0},
    {"tolerance", PCSIM_KEY_NUMBER, "1e-10", NULL, "1", "residual to stop at, relative to the largest so far",
     1e-15, 0.1},
    {"steps", PCSIM_KEY_INTEGER, "200", NULL, "1", "largest number of nonlinear steps", 0, 1e9},
    {"cfl", PCSIM_KEY_NUMBER, "100", NULL, "1",
     "first pseudo-time step in units of V/a_P, on 20,000 cells (more on finer meshes: the same time)", 1e-2,
     1e12},
    {"central", PCSIM_KEY_NUMBER, "1", NULL, "1",
     "share of central interpolation in convection, rest linear upwind", 0, 1},
    {"interpolation", PCSIM_KEY_NUMBER, "1", NULL, "1",
     "face values: 0 linear, 1 cubic along the centre line", 0, 1},
    {"wall-order", PCSIM_KEY_NUMBER, "1", NULL, "1", "wall flux: 1 exact for parabolas, 0 two points", 0, 1},
    {"rhie-chow", PCSIM_KEY_NUMBER, "3", NULL, "1", "factor of the pressure dissipation", 0.01, 100},
    {"linear", PCSIM_KEY_ANY, "auto", NULL, "",
     "auto | multigrid | direct, or {petsc: \"-pc_type ...\", tolerance: 0.1}", 0, 0},
};
static const pcsim_key linear_keys[] = {
    {"method", PCSIM_KEY_CHOICE, "auto", "auto|multigrid|direct|petsc", "",
     "preconditioner of the coupled system", 0, 0},
    {"petsc", PCSIM_KEY_TEXT, "", NULL, "", "PETSc options of the Krylov method and preconditioner", 0, 0},
    {"tolerance", PCSIM_KEY_NUMBER, "0.1", NULL, "1", "relative residual of each linear solve", 1e-12, 0.9},
};

const pcsim_key *pcsim_flow_option_keys(size_t *n) {
  *n = sizeof solve_keys / sizeof *solve_keys;
  return solve_keys;
}

pcsim_flow_options pcsim_flow_options_default(void) {
  return (pcsim_flow_options){.tolerance = 1e-10,
                              .steps_max = 200,
                              .cfl = 100,
                              .central = 1,
                              .kappa = 1,
                              .wall_order = 1,
                              .rhie_chow = 3,
                              .linear_tolerance = 0.1,
                              .linear = "auto",
                              .petsc = ""};
}

static void read_linear(pcsim_tree *tree, const pcsim_node *solve, pcsim_flow_options *o) {
  pcsim_node *linear = pcsim_node_get(solve, "linear");
  const char *text = "auto";
  if (!linear) return;
  if (pcsim_node_get_kind(linear) == PCSIM_NODE_MAPPING) {
    pcsim_node_check(tree, linear, linear_keys, sizeof linear_keys / sizeof *linear_keys, "solve.linear");
    pcsim_node_string(tree, linear, "method", &text);
    pcsim_node_number(tree, linear, "tolerance", &o->linear_tolerance);
    const char *petsc = "";
    if (pcsim_node_string(tree, linear, "petsc", &petsc) && *petsc) {
      if (!strcmp(text, "auto")) text = "petsc";
      if (strlen(petsc) >= sizeof o->petsc)
        pcsim_tree_problem(tree, pcsim_node_get(linear, "petsc"), "PETSc options longer than %zu characters",
                           sizeof o->petsc - 1);
      else snprintf(o->petsc, sizeof o->petsc, "%s", petsc);
    }
  } else {
    static const char *const names[] = {"auto", "multigrid", "direct"};
    bool known = false;
    text = pcsim_node_text(linear);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) known |= !strcmp(text, names[i]);
    if (!known) {
      const char *near = pcsim_nearest(text, names, sizeof names / sizeof *names);
      pcsim_tree_problem(tree, linear,
                         "'%s' is not a linear solver; expected auto, multigrid, direct or a mapping%s%s%s",
                         text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
      return;
    }
  }
  snprintf(o->linear, sizeof o->linear, "%s", text);
}

void pcsim_flow_options_read(pcsim_tree *tree, pcsim_flow_options *o) {
  *o = pcsim_flow_options_default();
  pcsim_node *solve = pcsim_node_mapping(tree, pcsim_tree_root(tree), "solve");
  if (!solve) return;
  pcsim_node_check(tree, solve, solve_keys, sizeof solve_keys / sizeof *solve_keys, "solve");
  bool steady;
  pcsim_time_read(tree, &o->time);
  if (pcsim_node_bool(tree, solve, "steady", &steady) && steady == o->time.given)
    pcsim_tree_problem(tree, pcsim_node_get(solve, "steady"),
                       steady ? "`steady: true` beside `time`; keep one"
                              : "`steady: false` needs `time: {end: ..}` beside it");
  pcsim_node_number(tree, solve, "tolerance", &o->tolerance);
  pcsim_node_integer(tree, solve, "steps", &o->steps_max);
  pcsim_node_number(tree, solve, "cfl", &o->cfl);
  pcsim_node_number(tree, solve, "central", &o->central);
  pcsim_node_number(tree, solve, "interpolation", &o->kappa);
  pcsim_node_number(tree, solve, "wall-order", &o->wall_order);
  pcsim_node_number(tree, solve, "rhie-chow", &o->rhie_chow);
  read_linear(tree, solve, o);
}
