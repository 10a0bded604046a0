/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions of place: reading with checks, evaluation, averages over faces. */
#include "flow.h"

#include <math.h>
#include <string.h>

static const char *const names[NUM_NAMES] = {"x", "y", "z", "t"};

/* First place in the tree where bound name `index` stands, -1 if it does not. */
static int find_name(const pcsim_expr_node *node, int index) {
  if (node->kind == PCSIM_EXPR_NAME && node->index == index) return node->column;
  for (int i = 0; i < node->num_args; ++i) {
    int column = find_name(node->args[i], index);
    if (column >= 0) return column;
  }
  return -1;
}

static bool read_one(pcsim_tree *tree, const pcsim_node *node, int dim, flow_value *value) {
  pcsim_expr *expr = NULL;
  if (!pcsim_node_as_expr(tree, node, names, NUM_NAMES, &expr)) return false;
  value->expr[value->num] = expr;
  value->node[value->num++] = node;
  bool good = true;
  if (pcsim_expr_uses(expr, NAME_T) && !pcsim_time_given(tree)) {
    int column = find_name(pcsim_expr_root(expr), NAME_T);
    pcsim_tree_problem_inside(tree, node, column > 0 ? (size_t)column : 0,
                              "`%s` depends on the time t, but the case is steady; expected an expression in "
                              "x, y, z and the parameters, or `solve: {time: {end: ..}}`",
                              pcsim_expr_text(expr));
    good = false;
  }
  if (dim == 2 && pcsim_expr_uses(expr, NAME_Z)) {
    int column = find_name(pcsim_expr_root(expr), NAME_Z);
    pcsim_tree_problem_inside(
        tree, node, column > 0 ? (size_t)column : 0,
        "`%s` depends on z, but the mesh is plane; expected an expression in x, y and the "
        "parameters",
        pcsim_expr_text(expr));
    good = false;
  }
  return good;
}

bool flow_value_scalar(pcsim_tree *tree, const pcsim_node *node, int dim, flow_value *value) {
  value->num = 0;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_SCALAR) {
    pcsim_tree_problem(tree, node, "expected one number or expression");
    return false;
  }
  return read_one(tree, node, dim, value);
}

bool flow_value_vector(pcsim_tree *tree, const pcsim_node *node, const char *what, int dim,
                       flow_value *value) {
  static const char *const form[] = {"[x, y] or [x, y, z]", "", "[x, y]", "[x, y, z]"};
  static const char *const count[] = {"two or three", "", "two", "three"};
  value->num = 0;
  int64_t n = pcsim_node_size(node);
  bool good = pcsim_node_get_kind(node) == PCSIM_NODE_SEQUENCE && (dim ? n == dim : n == 2 || n == 3);
  if (!good) {
    if (pcsim_node_get_kind(node) == PCSIM_NODE_SEQUENCE)
      pcsim_tree_problem(tree, node, "`%s` has %lld component%s; expected %s, %s", what, (long long)n,
                         n == 1 ? "" : "s", count[dim], form[dim]);
    else
      pcsim_tree_problem(tree, node, "`%s` must be a sequence of %s numbers or expressions, %s", what,
                         count[dim], form[dim]);
    return false;
  }
  for (int64_t i = 0; i < n; ++i)
    if (!read_one(tree, pcsim_node_child(node, i), dim, value)) good = false;
  return good;
}

static const pcsim_key table_keys[] = {
    {"table", PCSIM_KEY_TEXT, NULL, "", "",
     "comma-separated values: a row of names that begins with t, rows of numbers; linear in between", 0, 0},
    {"profile", PCSIM_KEY_ANY, "", "", "", "what a single column is multiplied by; expressions of place", 0,
     0},
};

static bool read_table(pcsim_tree *tree, pcsim_node *node, const char *what, bool vector, int dim,
                       flow_value *value) {
  const size_t before = pcsim_tree_num_problems(tree);
  pcsim_node_check(tree, node, table_keys, sizeof table_keys / sizeof *table_keys, what);
  const pcsim_node *file = pcsim_node_get(node, "table"), *profile = pcsim_node_get(node, "profile");
  if (pcsim_tree_num_problems(tree) != before || !flow_table_read(tree, file, &value->table)) return false;
  const int wanted = profile || !vector ? 1 : dim ? dim : value->table.num == 2 ? 2 : 3;
  if (value->table.num != wanted) {
    pcsim_tree_problem(tree, file, "`%s` has %d column%s of values; expected %d here%s",
                       pcsim_node_text(file), value->table.num, value->table.num == 1 ? "" : "s", wanted,
                       vector && !profile ? ", or one and a `profile`" : "");
    return false;
  }
  if (!profile) return true;
  return vector ? flow_value_vector(tree, profile, "profile", dim, value)
                : flow_value_scalar(tree, profile, dim, value);
}

bool flow_value_read(pcsim_tree *tree, const pcsim_node *node, const char *what, bool vector, int dim,
                     flow_value *value) {
  if (pcsim_node_get_kind(node) == PCSIM_NODE_MAPPING)
    return read_table(tree, (pcsim_node *)node, what, vector, dim, value);
  return vector ? flow_value_vector(tree, node, what, dim, value) : flow_value_scalar(tree, node, dim, value);
}

bool flow_value_changes(const flow_value *value) {
  bool changes = value->table.num > 0;
  for (int i = 0; i < value->num; ++i) changes |= pcsim_expr_uses(value->expr[i], NAME_T);
  return changes;
}

void flow_value_clear(flow_value *value) {
  for (int i = 0; i < value->num; ++i) pcsim_expr_destroy(&value->expr[i]);
  value->num = 0;
  flow_table_clear(&value->table);
}

/* The expressions alone. */
static void expressions_at(const flow_value *value, const double point[3], double t, double result[3]) {
  const double arguments[NUM_NAMES] = {point[0], point[1], point[2], t};
  for (int i = 0; i < 3; ++i) result[i] = i < value->num ? pcsim_expr_eval(value->expr[i], arguments) : 0.0;
}

/* Brings the table into what the expressions give. */
static void apply_table(const flow_value *value, double t, double result[3]) {
  double column[3] = {0, 0, 0};
  if (value->table.num == 0) return;
  flow_table_at(&value->table, t, column);
  for (int i = 0; i < 3; ++i) result[i] = value->num ? column[0] * result[i] : column[i];
}

void flow_value_at(const flow_value *value, const double point[3], double t, double result[3]) {
  expressions_at(value, point, t, result);
  apply_table(value, t, result);
}

/* ------------------------------------------------------------ averages over faces */

void flow_value_face_average(const flow_value *value, const pcsim_mesh_view *mesh, int64_t face, double t,
                             double result[3]) {
  flow_quadrature q;
  bool constant = true;
  for (int i = 0; i < 3; ++i) {
    result[i] = 0.0;
    if (i < value->num && !pcsim_expr_is_constant(value->expr[i], &result[i])) constant = false;
  }
  if (!constant) {
    flow_face_quadrature(mesh, face, &q);
    memset(result, 0, 3 * sizeof *result);
    for (int k = 0; k < q.num; ++k) {
      double v[3];
      expressions_at(value, q.point[k], t, v);
      for (int i = 0; i < 3; ++i) result[i] += q.weight[k] * v[i];
    }
  }
  apply_table(value, t, result);
}
