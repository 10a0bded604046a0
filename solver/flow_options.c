/* SPDX-License-Identifier: BSD-2-Clause */
/* `solve:` of a flow. */
#include "options.h"

#define NUM(a) (sizeof(a) / sizeof *(a))

static const char *const methods[] = {"auto", "multigrid", "direct"};

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
    {"gradient", PCSIM_KEY_NAMES, "", NULL, "",
     "quantities of a steady case to differentiate by every parameter of the case: heat or [heat, "
     "out]",
     0, 0},
    {"estimate", PCSIM_KEY_NAMES, "", NULL, "",
     "quantities of a steady case whose error is estimated, with the cells that it comes from", 0, 0},
    {"linear", PCSIM_KEY_ANY, "auto", NULL, "",
     "auto | multigrid | direct, or {petsc: \"-pc_type ...\", tolerance: 0.1}", 0, 0},
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

void pcsim_flow_options_read(pcsim_tree *tree, pcsim_flow_options *o) {
  *o = pcsim_flow_options_default();
  pcsim_node *solve = pcsim_node_mapping(tree, pcsim_tree_root(tree), "solve");
  if (!solve) return;
  pcsim_node_check(tree, solve, solve_keys, sizeof solve_keys / sizeof *solve_keys, "solve");
  options_read_time(tree, solve, &o->time);
  pcsim_node_number(tree, solve, "tolerance", &o->tolerance);
  pcsim_node_integer(tree, solve, "steps", &o->steps_max);
  pcsim_node_number(tree, solve, "cfl", &o->cfl);
  pcsim_node_number(tree, solve, "central", &o->central);
  pcsim_node_number(tree, solve, "interpolation", &o->kappa);
  pcsim_node_number(tree, solve, "wall-order", &o->wall_order);
  pcsim_node_number(tree, solve, "rhie-chow", &o->rhie_chow);
  options_read_linear(
      tree, solve, (linear_choice){methods, NUM(methods), o->linear, o->petsc, &o->linear_tolerance, "0.1"});
}
