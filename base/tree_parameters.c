/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of a case: the parameters, and every scalar that is an expression of them. */
#include "expr.h"
#include "tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_SIZE = TREE_MAX_KEY + 64 };

/** Does the expression use a parameter that is wrong itself (and was reported)? */
static bool uses_wrong(const pcsim_tree *tree, const pcsim_expr *expr) {
  for (int i = 0; i < tree->num_parameters; i++)
    if (isnan(tree->values[i]) && expr_uses_name(expr, tree->parameters[i])) return true;
  return false;
}

/** The first name of the expression that is both one of `names` and a parameter; NULL if there is none. */
static const pcsim_expr_node *find_shadow(const pcsim_tree *tree, const pcsim_expr_node *node,
                                          const char *const *names, int n) {
  bool bound = false, parameter = false;
  if (node->kind == PCSIM_EXPR_NAME) {
    for (int i = 0; i < n; i++) bound |= !strcmp(names[i], node->name);
    for (int i = 0; i < tree->num_parameters; i++) parameter |= !strcmp(tree->parameters[i], node->name);
  }
  const pcsim_expr_node *found = bound && parameter ? node : NULL;
  for (int i = 0; i < node->num_args && !found; i++) found = find_shadow(tree, node->args[i], names, n);
  return found;
}

/** Which of the two is meant cannot be known: neither is taken. */
static bool report_shadow(pcsim_tree *tree, const pcsim_node *node, const pcsim_expr *expr,
                          const char *const *names, int n) {
  const pcsim_expr_node *found = find_shadow(tree, pcsim_expr_root(expr), names, n);
  if (!found) return false;
  const char *what = !found->name[1] && strchr("xyz", found->name[0]) ? "a coordinate"
                     : !strcmp(found->name, "t")                      ? "the time"
                                                                      : "an unknown";
  pcsim_tree_problem_inside(tree, node, (size_t)found->column,
                            "'%s' is both %s and a parameter; rename the parameter", found->name, what);
  return true;
}

/** The name in `text` at `offset` is a parameter that has no value yet. */
static bool is_later_parameter(const pcsim_tree *tree, const char *text, size_t offset, char *name,
                               size_t size) {
  size_t n = 0;
  const pcsim_node *all;
  if (!tree->in_parameters) return false;
  while (n + 1 < size && text[offset + n] &&
         strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", text[offset + n])) {
    name[n] = text[offset + n];
    n++;
  }
  name[n] = '\0';
  int64_t place = tree_find(tree->root, "parameters");
  all = place < 0 ? NULL : tree->root->children[place];
  return tree_find(all, name) >= 0;
}

/** Parse and bind; false with a problem that begins with `what`, or silently if a wrong parameter is the
 * cause. */
static bool make_expr(pcsim_tree *tree, const pcsim_node *node, const char *const *names, int n,
                      const char *what, pcsim_expr **expr) {
  size_t offset = 0;
  char label[LABEL_SIZE], name[64], found[128];
  *expr = NULL;
  if (node->broken) return false;
  node_label(node, label, sizeof label);
  if (node->kind != PCSIM_NODE_SCALAR || node_is_empty(node)) {
    pcsim_tree_problem(tree, node, "%s %s, found %s", label, what, node_found(node, found, sizeof found));
    return false;
  }
  pcsim_status status = pcsim_expr_parse(node->text, expr, &offset);
  if (status == PCSIM_OK) {
    if (uses_wrong(tree, *expr) || report_shadow(tree, node, *expr, names, n)) goto failed;
    status = pcsim_expr_bind(*expr, names, n, tree->parameters, tree->values, tree->num_parameters, &offset);
    if (status == PCSIM_ERR_CASE && is_later_parameter(tree, node->text, offset, name, sizeof name)) {
      pcsim_tree_problem_inside(tree, node, offset,
                                "%s uses '%s' before it has a value; parameters are evaluated in order",
                                label, name);
      goto failed;
    }
  }
  if (status == PCSIM_OK) return true;
  if (status == PCSIM_ERR_CASE)
    pcsim_tree_problem_inside(tree, node, offset, "%s %s: %s", label, what, pcsim_error_message());
  else tree->failure = status;
failed:
  pcsim_error_clear();
  pcsim_expr_destroy(expr);
  return false;
}

bool pcsim_node_as_expr(pcsim_tree *tree, const pcsim_node *node, const char *const *names, int n,
                        pcsim_expr **expr) {
  *expr = NULL;
  return node && make_expr(tree, node, names, n, "must be a number or an expression", expr);
}

bool tree_number(pcsim_tree *tree, const pcsim_node *node, double *value) {
  pcsim_expr *expr;
  double result = 0;
  char label[LABEL_SIZE], found[128];
  if (!make_expr(tree, node, NULL, 0, "must be a number", &expr)) return false;
  bool constant = pcsim_expr_is_constant(expr, &result);
  pcsim_expr_destroy(&expr);
  if (!constant || !isfinite(result)) {
    if (isnan(result)) result = NAN; /* its sign means nothing */
    pcsim_tree_problem(tree, node, "%s must be a finite number, found %s, which is %g",
                       node_label(node, label, sizeof label), node_found(node, found, sizeof found), result);
    return false;
  }
  *value = result;
  return true;
}

bool tree_integer(pcsim_tree *tree, const pcsim_node *node, int64_t *value) {
  double number;
  char label[LABEL_SIZE], found[128];
  if (!tree_number(tree, node, &number)) return false;
  /* Beyond 2^53 not every whole number is a double, so the text would not be what is used. */
  if (number != floor(number) || fabs(number) > 9007199254740992.0) {
    pcsim_tree_problem(tree, node, "%s must be a whole number, found %s",
                       node_label(node, label, sizeof label), node_found(node, found, sizeof found));
    return false;
  }
  *value = (int64_t)number;
  return true;
}

/* -------------------------------------------------------- parameters */

static pcsim_status add_parameter(pcsim_tree *tree, const char *name, double value) {
  if (tree->num_parameters == tree->room_parameters) {
    int room = tree->room_parameters ? 2 * tree->room_parameters : 8;
    PCSIM_TRY(pcsim_realloc((size_t)room, sizeof *tree->parameters, &tree->parameters));
    PCSIM_TRY(pcsim_realloc((size_t)room, sizeof *tree->values, &tree->values));
    tree->room_parameters = room;
  }
  tree->parameters[tree->num_parameters] = name;
  tree->values[tree->num_parameters++] = value;
  return PCSIM_OK;
}

static pcsim_status evaluate_one(pcsim_tree *tree, const pcsim_node *node) {
  double value = NAN;
  for (int i = 0; i < tree->num_parameters; i++)
    if (!strcmp(tree->parameters[i], node->key->text)) return PCSIM_OK; /* a duplicate key, reported */
  pcsim_status status = pcsim_expr_check_name(node->key->text);
  if (status == PCSIM_ERR_CASE) {
    pcsim_tree_problem(tree, node->key, "parameter %s", pcsim_error_message());
    pcsim_error_clear();
    return PCSIM_OK;
  }
  PCSIM_TRY(status);
  if (!tree_number(tree, node, &value)) value = NAN;
  return add_parameter(tree, node->key->text, value);
}

pcsim_status tree_evaluate_parameters(pcsim_tree *tree) {
  size_t kept = 0;
  for (size_t i = 0; i < tree->num_problems; i++)
    if (!tree->problems[i].of_parameters) tree->problems[kept++] = tree->problems[i];
  tree->num_problems = kept;
  tree->num_parameters = 0;
  pcsim_node *all = pcsim_node_get(tree->root, "parameters");
  if (!all || all->broken) return PCSIM_OK;
  pcsim_status status = PCSIM_OK;
  tree->in_parameters = true;
  if (all->kind == PCSIM_NODE_MAPPING && all->size > TREE_MAX_PARAMETERS) {
    pcsim_tree_problem(tree, all, "more than %d parameters", TREE_MAX_PARAMETERS);
  } else if (all->kind == PCSIM_NODE_MAPPING) {
    for (int64_t i = 0; i < all->size && status == PCSIM_OK; i++)
      status = evaluate_one(tree, all->children[i]);
  } else {
    char found[128];
    pcsim_tree_problem(tree, all, "'parameters' must be a mapping of names to numbers, found %s",
                       node_found(all, found, sizeof found));
  }
  tree->in_parameters = false;
  return status == PCSIM_OK ? tree->failure : status;
}

int pcsim_tree_parameters(const pcsim_tree *tree, const char *const **names, const double **values) {
  if (names) *names = (const char *const *)tree->parameters;
  if (values) *values = tree->values;
  return tree->num_parameters;
}
