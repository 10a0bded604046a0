/* SPDX-License-Identifier: BSD-2-Clause */
/* `solve:` of typed equations. */
#include "options.h"

#include <math.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

static const char *const methods[] = {"auto", "direct"};

static const pcsim_key solve_keys[] = {
    {"steady", PCSIM_KEY_BOOL, "", NULL, "", "march to the steady state: so it is without `time`", 0, 0},
    {"time", PCSIM_KEY_MAPPING, "", NULL, "", "go through time: {end: 8, tolerance: 1e-4}", 0, 0},
    {"tolerance", PCSIM_KEY_NUMBER, "1e-10", NULL, "1", "residual to stop at, relative to the largest so far",
     1e-15, 0.1},
    {"steps", PCSIM_KEY_INTEGER, "200", NULL, "1", "largest number of nonlinear steps", 0, 1e9},
    {"cfl", PCSIM_KEY_NUMBER, "1e12", NULL, "1",
     "first pseudo-time step in units of a cell's own time; 1e12: Newton's method at once", 1e-2, 1e12},
    {"central", PCSIM_KEY_NUMBER, "", NULL, "1",
     "share of central interpolation in fluxes, rest upwind; else 1 where there is a gradient in the flux, 0 "
     "where there is none",
     0, 1},
    {"interpolation", PCSIM_KEY_NUMBER, "1", NULL, "1",
     "face values: 0 linear, 1 cubic along the centre line", 0, 1},
    {"gradient", PCSIM_KEY_NAMES, "", NULL, "",
     "quantities of a steady case to differentiate by every parameter of the case: heat or [heat, "
     "out]",
     0, 0},
    {"estimate", PCSIM_KEY_NAMES, "", NULL, "",
     "quantities of a steady case whose error is estimated, with the cells that it comes from", 0, 0},
    {"linear", PCSIM_KEY_ANY, "auto", NULL, "",
     "auto | direct, or {petsc: \"-pc_type ...\", tolerance: 0.01}", 0, 0},
};

const pcsim_key *pcsim_transport_option_keys(size_t *n) {
  *n = NUM(solve_keys);
  return solve_keys;
}

pcsim_transport_options pcsim_transport_options_default(void) {
  return (pcsim_transport_options){.tolerance = 1e-10,
                                   .steps_max = 200,
                                   .cfl = 1e12,
                                   .central = NAN,
                                   .kappa = 1,
                                   .linear_tolerance = 0.01,
                                   .linear = "auto",
                                   .petsc = ""};
}

void pcsim_transport_options_read(pcsim_tree *tree, pcsim_transport_options *o) {
  *o = pcsim_transport_options_default();
  pcsim_node *solve = pcsim_node_mapping(tree, pcsim_tree_root(tree), "solve");
  if (!solve) return;
  pcsim_node_check(tree, solve, solve_keys, NUM(solve_keys), "solve");
  options_read_time(tree, solve, &o->time);
  pcsim_node_number(tree, solve, "tolerance", &o->tolerance);
  pcsim_node_integer(tree, solve, "steps", &o->steps_max);
  pcsim_node_number(tree, solve, "cfl", &o->cfl);
  pcsim_node_number(tree, solve, "central", &o->central);
  pcsim_node_number(tree, solve, "interpolation", &o->kappa);
  options_read_linear(
      tree, solve, (linear_choice){methods, NUM(methods), o->linear, o->petsc, &o->linear_tolerance, "0.01"});
}
