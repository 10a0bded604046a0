/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of boundary conditions and the reading of one of them. */
#include "flow.h"

#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

static const pcsim_key velocity_keys[] = {
    {"velocity", PCSIM_KEY_ANY, NULL, "", "m/s",
     "velocity on the boundary, expressions of place and time, or a table", 0, 0}};
static const pcsim_key pressure_keys[] = {
    {"pressure", PCSIM_KEY_ANY, NULL, "", "Pa", "static pressure; safe against backflow", 0, 0}};
static const pcsim_key total_keys[] = {
    {"total-pressure", PCSIM_KEY_ANY, NULL, "", "Pa", "total pressure; inflow normal to the boundary", 0, 0}};
static const pcsim_key rate_keys[] = {
    {"flow-rate", PCSIM_KEY_ANY, NULL, "", "m^3/s",
     "volume flow into the domain (negative: out), uniform and normal; per metre of depth in 2D", 0, 0}};
static const pcsim_key wall_keys[] = {
    {"wall", PCSIM_KEY_CHOICE, NULL, "no-slip|slip", "",
     "no flow through; no-slip: the fluid moves with the wall", 0, 0},
    {"velocity", PCSIM_KEY_ANY, "", "", "m/s", "velocity of a no-slip wall along itself", 0, 0}};
static const pcsim_key symmetry_keys[] = {
    {"symmetry", PCSIM_KEY_BOOL, NULL, "", "", "plane of symmetry: no flow through, no shear", 0, 0}};
static const pcsim_key periodic_keys[] = {
    {"periodic", PCSIM_KEY_TEXT, NULL, "", "", "name of the boundary that this one continues at", 0, 0}};
static const pcsim_key table_keys[] = {
    {"table", PCSIM_KEY_ANY, NULL, "", "", "values over time from a file", 0, 0}};
static const pcsim_key flux_keys[] = {
    {"flux", PCSIM_KEY_ANY, NULL, "", "", "outward flux of an unknown of typed equations", 0, 0}};

/* Of unknowns that join the flow. */
static const pcsim_key typed_keys[] = {
    {"flux", PCSIM_KEY_ANY, "", "", "", "outward fluxes of unknowns of typed equations", 0, 0},
    {"free", PCSIM_KEY_ANY, "", "", "", "unknowns of typed equations that flow out", 0, 0}};

static const pcsim_condition conditions[] = {
    {"wall", "solid wall: no-slip (may move along itself) or slip", wall_keys, NUM(wall_keys), ""},
    {"velocity", "velocity given: inlets, far fields, exact solutions", velocity_keys, NUM(velocity_keys),
     ""},
    {"pressure", "static pressure given: outlets", pressure_keys, NUM(pressure_keys), ""},
    {"total-pressure", "total pressure given: inlets from a reservoir", total_keys, NUM(total_keys), ""},
    {"flow-rate", "volume flow given: inlets and outlets", rate_keys, NUM(rate_keys), ""},
    {"symmetry", "plane of symmetry", symmetry_keys, NUM(symmetry_keys), ""},
    {"periodic", "continues at another boundary", periodic_keys, NUM(periodic_keys), ""},
    {"table", "values over time", table_keys, NUM(table_keys),
     "a table is the value of a condition; expected e.g. {velocity: {table: f.csv, profile: [1, 0]}}"},
    {"flux", "flux given, for typed equations", flux_keys, NUM(flux_keys),
     "the steady flow has no unknown that takes a flux; expected e.g. `pressure` or `wall`"},
};

const pcsim_condition *pcsim_condition_list(size_t *n) {
  *n = NUM(conditions);
  return conditions;
}

const pcsim_condition *flow_condition_find(const pcsim_node *node, const pcsim_condition **second) {
  const pcsim_condition *found = NULL;
  *second = NULL;
  for (size_t i = 0; i < NUM(conditions); ++i) {
    if (!pcsim_node_get(node, conditions[i].name)) continue;
    if (!found) {
      found = &conditions[i];
      continue;
    }
    bool part = false; /* `velocity` belongs to `wall` */
    for (size_t k = 0; k < found->num_keys; ++k)
      part = part || strcmp(found->keys[k].name, conditions[i].name) == 0;
    if (!part && !*second) *second = &conditions[i];
  }
  return found;
}

/* No deciding key: say what the mapping holds instead. */
static void report_none(pcsim_tree *tree, const flow_condition *condition) {
  const char *names[NUM(conditions)];
  char known[256] = "";
  for (size_t i = 0; i < NUM(conditions); ++i) {
    names[i] = conditions[i].name;
    if (conditions[i].absent[0]) continue;
    if (known[0]) strncat(known, ", ", sizeof known - strlen(known) - 1);
    strncat(known, names[i], sizeof known - strlen(known) - 1);
  }
  if (pcsim_node_size(condition->node) == 0) {
    pcsim_tree_problem(tree, condition->node, "`%s` has no condition; expected one of: %s", condition->name,
                       known);
    return;
  }
  const char *key = pcsim_node_key(condition->node, 0);
  const char *near = pcsim_nearest(key, names, NUM(conditions));
  pcsim_tree_problem(tree, pcsim_node_key_node(condition->node, 0),
                     "no condition `%.64s` (boundary `%s`); expected one of: %s%s%s%s", key, condition->name,
                     known, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

/* Place of the later of two keys of a mapping, and the name of the earlier one. */
static const pcsim_node *later_key(const pcsim_node *node, const char *a, const char *b, const char **first,
                                   const char **other) {
  const pcsim_node *place = node;
  *first = NULL;
  for (int64_t i = 0; i < pcsim_node_size(node); ++i) {
    const char *key = pcsim_node_key(node, i);
    if (strcmp(key, a) != 0 && strcmp(key, b) != 0) continue;
    if (!*first) *first = key;
    *other = key;
    place = pcsim_node_key_node(node, i);
  }
  return place;
}

static bool read_wall(pcsim_tree *tree, int dim, flow_condition *condition) {
  const char *wall = NULL;
  if (!pcsim_node_string(tree, condition->node, "wall", &wall)) return false;
  bool slip = strcmp(wall, "slip") == 0;
  condition->kind = slip ? PCSIM_FLOW_SLIP : PCSIM_FLOW_WALL;
  const pcsim_node *velocity = pcsim_node_get(condition->node, "velocity");
  if (!velocity) return true;
  if (slip) {
    pcsim_tree_problem(tree, velocity,
                       "a slip wall has no velocity of its own (boundary `%s`); remove `velocity` or "
                       "make it `wall: no-slip`",
                       condition->name);
    return false;
  }
  condition->gives = GIVES_VELOCITY;
  return flow_value_read(tree, velocity, "velocity", true, dim, &condition->value);
}

static bool depends_on_place(const flow_value *value) {
  bool depends = false;
  for (int i = 0; i < value->num; ++i)
    for (int k = NAME_X; k <= NAME_Z; ++k) depends |= pcsim_expr_uses(value->expr[i], k);
  return depends;
}

static bool read_kind(pcsim_tree *tree, int dim, const char *name, flow_condition *condition) {
  const pcsim_node *node = pcsim_node_get(condition->node, name);
  if (strcmp(name, "wall") == 0) return read_wall(tree, dim, condition);
  if (strcmp(name, "periodic") == 0) {
    condition->periodic = node;
    return true;
  }
  if (strcmp(name, "velocity") == 0) {
    condition->kind = PCSIM_FLOW_VELOCITY;
    condition->gives = GIVES_VELOCITY;
    return flow_value_read(tree, node, "velocity", true, dim, &condition->value);
  }
  if (strcmp(name, "symmetry") == 0) {
    bool on = false;
    condition->kind = PCSIM_FLOW_SLIP;
    if (!pcsim_node_bool(tree, condition->node, "symmetry", &on)) return false;
    if (!on)
      pcsim_tree_problem(tree, node, "`symmetry: false` is no condition (boundary `%s`)", condition->name);
    return on;
  }
  bool rate = strcmp(name, "flow-rate") == 0;
  condition->kind = rate                            ? PCSIM_FLOW_VELOCITY
                    : strcmp(name, "pressure") == 0 ? PCSIM_FLOW_PRESSURE
                                                    : PCSIM_FLOW_TOTAL_PRESSURE;
  condition->gives = rate ? GIVES_FLOW_RATE : GIVES_PRESSURE;
  if (!flow_value_read(tree, node, name, false, dim, &condition->value)) return false;
  if (rate && depends_on_place(&condition->value)) {
    pcsim_tree_problem(tree, node,
                       "`flow-rate` is one number for the whole boundary; expected no x, y, z in it");
    return false;
  }
  return true;
}

void flow_condition_read(pcsim_tree *tree, int dim, flow_condition *condition) {
  condition->valid = false;
  condition->periodic = NULL;
  if (pcsim_node_get_kind(condition->node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, condition->node,
                       "`%s` needs a condition in braces, e.g. {wall: no-slip} or {pressure: 0}",
                       condition->name);
    return;
  }
  const pcsim_condition *second, *found = flow_condition_find(condition->node, &second);
  if (!found) {
    report_none(tree, condition);
    return;
  }
  if (second && pcsim_joined_given(tree) && !strcmp(second->name, "flux")) second = NULL; /* of an unknown */
  if (second) {
    const char *first = found->name, *other = second->name;
    const pcsim_node *place = later_key(condition->node, found->name, second->name, &first, &other);
    pcsim_tree_problem(tree, place, "two conditions for `%s`: `%s` and `%s`; keep one", condition->name,
                       first, other);
    return;
  }
  if (found->absent[0]) {
    pcsim_tree_problem(tree, pcsim_node_get(condition->node, found->name), "boundary `%s`: %s",
                       condition->name, found->absent);
    return;
  }
  size_t before = pcsim_tree_num_problems(tree);
  joined_keys keys;
  joined_keys_of(tree, found->keys, found->num_keys, typed_keys, NUM(typed_keys), true, &keys);
  pcsim_node_check(tree, condition->node, keys.key, keys.num, condition->name);
  if (pcsim_tree_num_problems(tree) != before) return;
  condition->valid = read_kind(tree, dim, found->name, condition);
}
