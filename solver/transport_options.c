/* SPDX-License-Identifier: BSD-2-Clause */
/* `solve:` of typed equations. */
#include "options.h"

#include <math.h>
#include <string.h>

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
    {"reconstruction", PCSIM_KEY_CHOICE, "quadratic", "linear|quadratic|cubic", "",
     "fields that derivatives are exact for on any mesh; cubic: fourth order where the solution is smooth, "
     "for "
     "steady problems in the plane and on tetrahedra",
     0, 0},
    {"limiter", PCSIM_KEY_CHOICE, "none", "none|van-albada", "",
     "limiter of the values that upwind fluxes (see `central`) take from a cell: none or van-albada", 0, 0},
    {"bounds", PCSIM_KEY_MAPPING, "", NULL, "",
     "what unknowns stay within, by limited fluxes: {u: 0} is never negative, {u: [0, 1]} never above 1 "
     "either",
     0, 0},
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
                                   .degree = 2,
                                   .linear_tolerance = 0.01,
                                   .linear = "auto",
                                   .petsc = ""};
}

/* Place of a name under physics.unknowns, -1 and a problem if there is none. */
static int find_unknown(pcsim_tree *tree, const pcsim_node *at, const char *text) {
  const pcsim_node *physics = pcsim_node_get(pcsim_tree_root(tree), "physics");
  const pcsim_node *unknowns = physics ? pcsim_node_get(physics, "unknowns") : NULL;
  const char *name[PCSIM_UNKNOWNS_MAX], *near;
  int num = 0;
  if (!unknowns) return -1;
  if (pcsim_node_get_kind(unknowns) == PCSIM_NODE_SCALAR) name[num++] = pcsim_node_text(unknowns);
  else
    for (int64_t i = 0; i < pcsim_node_size(unknowns) && num < PCSIM_UNKNOWNS_MAX; i++)
      name[num++] = pcsim_node_text(pcsim_node_child(unknowns, i));
  for (int i = 0; i < num; i++)
    if (!strcmp(name[i], text)) return i;
  near = pcsim_nearest(text, name, (size_t)num);
  pcsim_tree_problem(tree, at, "`%.96s` under `bounds` is no unknown%s%s%s", text,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  return -1;
}

/* `{u: 0, v: [0, 1]}` */
static void read_bounds(pcsim_tree *tree, pcsim_node *solve, pcsim_transport_options *o) {
  pcsim_node *bounds = pcsim_node_mapping(tree, solve, "bounds");
  for (int i = 0; i < PCSIM_UNKNOWNS_MAX; i++) o->low[i] = -INFINITY, o->high[i] = INFINITY;
  for (int64_t k = 0; bounds && k < pcsim_node_size(bounds); k++) {
    const char *key = pcsim_node_key(bounds, k);
    const int i = find_unknown(tree, pcsim_node_key_node(bounds, k), key);
    double value[2] = {0, INFINITY};
    int num = 2;
    if (pcsim_node_get_kind(pcsim_node_child(bounds, k)) == PCSIM_NODE_SCALAR)
      pcsim_node_number(tree, bounds, key, &value[0]);
    else pcsim_node_numbers(tree, bounds, key, value, 2, &num);
    if (i < 0) continue;
    if (!(value[0] < value[1]))
      pcsim_tree_problem(tree, pcsim_node_child(bounds, k), "the lower bound %g is not below the upper %g",
                         value[0], value[1]);
    o->bounded |= (uint64_t)1 << i;
    o->low[i] = value[0], o->high[i] = value[1];
  }
}

/* What goes with second order alone. */
static void check_cubic(pcsim_tree *tree, pcsim_node *solve, const pcsim_transport_options *o) {
  const pcsim_node *estimate = pcsim_node_get(solve, "estimate");
  const struct {
    const char *key;
    bool given;
  } others[] = {{"time", o->time.given},
                {"limiter", o->limited},
                {"bounds", o->bounded != 0},
                {"estimate", estimate && pcsim_node_size(estimate) > 0}};
  for (size_t k = 0; o->degree > 2 && k < NUM(others); k++)
    if (others[k].given)
      pcsim_tree_problem(tree, pcsim_node_get(solve, others[k].key),
                         "`%s` does not go together with `reconstruction: cubic` so far; quadratic does",
                         others[k].key);
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
  const char *reconstruction = "quadratic", *limiter = "none";
  pcsim_node_string(tree, solve, "reconstruction", &reconstruction);
  pcsim_node_string(tree, solve, "limiter", &limiter);
  o->degree = !strcmp(reconstruction, "cubic") ? 3 : !strcmp(reconstruction, "quadratic") ? 2 : 1;
  o->limited = strcmp(limiter, "none") != 0;
  read_bounds(tree, solve, o);
  check_cubic(tree, solve, o);
  options_read_linear(
      tree, solve, (linear_choice){methods, NUM(methods), o->linear, o->petsc, &o->linear_tolerance, "0.01"});
}
