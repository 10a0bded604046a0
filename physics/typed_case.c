/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed equations as the case says them: keys, start, force, all that is read before there is a mesh. */
#include "typed_case.h"
#include "flow.h"

#include <string.h>

static const pcsim_key physics_keys[] = {
    {"unknowns", PCSIM_KEY_ANY, "", "", "", "names of the unknowns; a vector is several names", 0, 0},
    {"equations", PCSIM_KEY_ANY, "", "", "",
     "one for each unknown, in their order or by name: a sum of dt(e), div(vector) and sources that is zero",
     0, 0},
    {"coefficients", PCSIM_KEY_ANY, "", "", "",
     "names with an expression, or with one for each region of the mesh: {k: {core: 1000, rest: 1}}", 0, 0},
    {"tables", PCSIM_KEY_ANY, "", "", "", "names with files of two columns, for table(name, x): {k: k.csv}",
     0, 0},
    {"sources", PCSIM_KEY_ANY, "", "", "",
     "in points and along segments: [{at: [x, y], u: 1}, {from: [x, y], to: [x, y], u: 1}]", 0, 0},
};

const pcsim_key *pcsim_transport_keys(size_t *n) {
  *n = sizeof physics_keys / sizeof *physics_keys;
  return physics_keys;
}

bool pcsim_transport_given(const pcsim_tree *tree) {
  const pcsim_node *physics = pcsim_node_get(pcsim_tree_root(tree), "physics");
  if (!physics || pcsim_node_get_kind(physics) != PCSIM_NODE_MAPPING) return false;
  return !pcsim_node_get(physics, "model") &&
         (pcsim_node_get(physics, "equations") || pcsim_node_get(physics, "unknowns"));
}

/* ------------------------------------------------------------------ reading */

static void read_start(typed_case *c, const pcsim_node *node, int64_t i) {
  const typed_names *names = &c->names;
  const char *key = pcsim_node_key(node, i);
  const pcsim_node *child = pcsim_node_child(node, i);
  typed_name found = typed_resolve(names, key);
  size_t others;
  const pcsim_key *other = pcsim_start_keys(&others);
  if (names->num_carriers && (!strcmp(key, "velocity") || !strcmp(key, "pressure"))) return; /* the flow's */
  if (found.kind == TYPED_UNKNOWN && found.index < names->num_unknowns && !strchr(key, '_')) {
    c->initial_text[found.index] = child;
    if (typed_parse(names, child, 0, &c->initial[found.index])) c->has_initial = true;
    return;
  }
  for (size_t k = 0; k < others; ++k)
    if (strcmp(key, other[k].name) == 0) return;
  const char *near = pcsim_nearest(key, names->unknown, (size_t)names->num_unknowns);
  pcsim_tree_problem(names->tree, pcsim_node_key_node(node, i), "`%.96s` under `initial` is no unknown%s%s%s",
                     key, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static pcsim_status read_initial(typed_case *c) {
  const typed_names *names = &c->names;
  const pcsim_node *root = pcsim_tree_root(names->tree), *node = pcsim_node_get(root, "initial");
  PCSIM_TRY(pcsim_alloc((size_t)names->num_unknowns, sizeof *c->initial, &c->initial));
  PCSIM_TRY(pcsim_alloc((size_t)names->num_unknowns, sizeof *c->initial_text, &c->initial_text));
  if (node && pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(names->tree, node,
                       "`initial` must be a mapping of unknowns to expressions, e.g. {u: 0}");
    return PCSIM_OK;
  }
  for (int64_t i = 0; node && i < pcsim_node_size(node); ++i) read_start(c, node, i);
  const bool from_run = pcsim_node_get(node, "run") != NULL;
  for (int i = 0; !names->steady && !from_run && i < names->num_unknowns; ++i)
    if (!c->initial_text[i] && c->equations[i].part[PART_ACCUMULATION].text)
      pcsim_tree_problem(
          names->tree, node ? node : root,
          "the case runs in time, but `initial` does not give `%s`; expected e.g. `initial: {%s: 0}`",
          names->unknown[i], names->unknown[i]);
  return PCSIM_OK;
}

/* Beside a built-in model, its keys too; a force may then depend on the unknowns. */
void typed_check_keys(pcsim_tree *tree, pcsim_node *physics) {
  static const pcsim_key force = {"force", PCSIM_KEY_ANY, "", "", "N/m^3", "force on the fluid per volume", 0,
                                  0};
  size_t num_models;
  const pcsim_model *model = pcsim_model_list(&num_models);
  joined_keys typed, all;
  joined_keys_of(tree, physics_keys, sizeof physics_keys / sizeof *physics_keys, &force, 1, false, &typed);
  if (pcsim_joined_given(tree))
    joined_keys_of(tree, model->keys, model->num_keys, typed.key, typed.num, false, &all);
  else all = typed;
  pcsim_node_check(tree, physics, all.key, all.num, "physics");
}

/* `force` of the flow that the equations join: one expression for each coordinate. */
static void read_force(typed_case *c) {
  const typed_names *names = &c->names;
  const pcsim_node *list = pcsim_node_get(pcsim_node_get(pcsim_tree_root(names->tree), "physics"), "force");
  if (!names->num_carriers || !list) return;
  const int64_t n = pcsim_node_get_kind(list) == PCSIM_NODE_SEQUENCE ? pcsim_node_size(list) : 0;
  if (names->dim ? n != names->dim : n != 2 && n != 3) {
    pcsim_tree_problem(names->tree, list, "`force` must be a sequence of %s expressions, %s",
                       names->dim == 3 ? "three" : "two", names->dim == 3 ? "[x, y, z]" : "[x, y]");
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    c->force_text[i] = pcsim_node_child(list, i);
    if (typed_parse(names, c->force_text[i], MAY_UNKNOWNS | MAY_TIME, &c->force[i])) c->has_force = true;
  }
}

pcsim_status typed_case_read(pcsim_tree *tree, const pcsim_mesh *mesh, typed_case *c) {
  pcsim_node *physics = pcsim_node_get(pcsim_tree_root(tree), "physics");
  *c = (typed_case){0};
  typed_check_keys(tree, physics);
  PCSIM_TRY(typed_names_read(tree, mesh ? pcsim_mesh_get(mesh)->dim : 0, &c->names));
  if (!c->names.num_unknowns || c->names.wrong) return PCSIM_OK; /* the rest would be misread */
  if (mesh) PCSIM_TRY(typed_names_match(&c->names, mesh));
  PCSIM_TRY(typed_equations_read(&c->names, &c->num_equations, &c->equations));
  PCSIM_TRY(typed_sources_read(&c->names, &c->num_sources, &c->sources));
  PCSIM_TRY(typed_conditions_read(&c->names, &c->conditions));
  read_force(c);
  return read_initial(c);
}

void typed_case_clear(typed_case *c) {
  int m = c->names.num_unknowns;
  typed_equations_free(c->num_equations, &c->equations);
  typed_sources_free(m, c->num_sources, &c->sources);
  typed_conditions_clear(m, &c->conditions);
  for (int i = 0; c->initial && i < m; ++i) pcsim_expr_destroy(&c->initial[i]);
  for (int i = 0; i < 3; ++i) pcsim_expr_destroy(&c->force[i]);
  pcsim_free(&c->initial);
  pcsim_free(&c->initial_text);
  typed_names_clear(&c->names);
}

void pcsim_transport_problem_check(pcsim_tree *tree) {
  typed_case c;
  if (typed_case_read(tree, NULL, &c) != PCSIM_OK) {
    pcsim_tree_problem(tree, pcsim_tree_root(tree), "%s", pcsim_error_message());
    pcsim_error_clear();
  }
  typed_case_clear(&c);
}
