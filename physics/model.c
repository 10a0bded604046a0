/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of models and the reading of `physics:`. */
#include "flow.h"
#include "typed.h"

#include <math.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

static const pcsim_key navier_stokes_keys[] = {
    {"model", PCSIM_KEY_TEXT, NULL, "", "", "name of a built-in model", 0, 0},
    {"density", PCSIM_KEY_NUMBER, NULL, "", "kg/m^3", "density, constant and positive", 0, 0},
    {"viscosity", PCSIM_KEY_ANY, NULL, "", "Pa s",
     "dynamic viscosity, positive: a number, or of place, time, `shear` (the shear rate) and unknowns of "
     "typed "
     "equations",
     0, 0},
    {"force", PCSIM_KEY_SEQUENCE, "", "", "N/m^3",
     "force on the fluid per volume: of place and time, with typed equations of velocity and their unknowns "
     "too",
     0, 0},
    {"mean-velocity", PCSIM_KEY_ANY, "", "", "m/s",
     "drives periodic flow; not offered by the steady flow yet", 0, 0},
    {"unknowns", PCSIM_KEY_ANY, "", "", "", "of typed equations that join the flow", 0, 0},
    {"equations", PCSIM_KEY_ANY, "", "", "", "of typed equations that join the flow", 0, 0},
    {"coefficients", PCSIM_KEY_ANY, "", "", "", "of typed equations that join the flow", 0, 0},
};
/* The second only where no equations join the flow. */
static const char *const later[] = {"mean-velocity", "coefficients"};

static const pcsim_model models[] = {
    {"navier-stokes", "incompressible flow of a (generalised) Newtonian fluid: velocity and pressure",
     navier_stokes_keys, NUM(navier_stokes_keys)},
};

const pcsim_model *pcsim_model_list(size_t *n) {
  *n = NUM(models);
  return models;
}

static const pcsim_model *find_model(pcsim_tree *tree, const pcsim_node *node) {
  const char *name = pcsim_node_text(node);
  const char *names[NUM(models)];
  for (size_t i = 0; i < NUM(models); ++i) {
    names[i] = models[i].name;
    if (strcmp(name, names[i]) == 0) return &models[i];
  }
  const char *near = pcsim_nearest(name, names, NUM(models));
  char known[256] = "";
  for (size_t i = 0; i < NUM(models); ++i) {
    if (i) strncat(known, ", ", sizeof known - strlen(known) - 1);
    strncat(known, names[i], sizeof known - strlen(known) - 1);
  }
  pcsim_tree_problem(tree, node, "no model `%.64s`; expected one of: %s%s%s%s", name, known,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  return NULL;
}

static double positive(pcsim_tree *tree, const pcsim_node *node, const char *key) {
  double value = NAN;
  if (pcsim_node_number(tree, node, key, &value) && !(value > 0.0 && isfinite(value)))
    pcsim_tree_problem(tree, pcsim_node_get(node, key), "`%s` is %g; expected a positive number", key, value);
  else if (value > FLOW_LARGEST)
    pcsim_tree_problem(tree, pcsim_node_get(node, key), "`%s` is %g, which is too large; expected at most %g",
                       key, value, FLOW_LARGEST);
  return value;
}

void flow_physics_read(pcsim_tree *tree, int dim, flow_physics *physics) {
  memset(physics, 0, sizeof *physics);
  pcsim_node *root = pcsim_tree_root(tree);
  pcsim_node *node = pcsim_node_get(root, "physics");
  if (!node) {
    pcsim_tree_problem(tree, root,
                       "no `physics:`; expected e.g. `physics: {model: navier-stokes, density: 1, "
                       "viscosity: 1e-3}`");
    return;
  }
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node,
                       "`physics` must be a mapping, e.g. {model: navier-stokes, density: 1, "
                       "viscosity: 1e-3}");
    return;
  }
  size_t before = pcsim_tree_num_problems(tree);
  pcsim_node *name = pcsim_node_get(node, "model");
  const pcsim_model *model = name ? find_model(tree, name) : &models[0];
  if (!model) return;
  const bool joined = pcsim_joined_given(tree);
  if (joined) typed_check_keys(tree, node);
  else pcsim_node_check(tree, node, model->keys, model->num_keys, "physics");
  for (size_t i = 0; i < NUM(later); ++i) {
    const pcsim_node *child = pcsim_node_get(node, later[i]);
    if (child && pcsim_node_line(child) > 0 && !(joined && i > 0))
      pcsim_tree_problem(tree, child, "`%s` is not offered by the steady flow yet", later[i]);
  }
  if (pcsim_tree_num_problems(tree) != before) return;
  physics->density = positive(tree, node, "density");
  physics->varies = flow_viscosity_varies(tree, node);
  if (!physics->varies) physics->viscosity = positive(tree, node, "viscosity");
  const pcsim_node *force = pcsim_node_get(node, "force");
  if (force && !joined) flow_force_read(tree, force, dim, physics); /* else with the typed equations */
}
