/* SPDX-License-Identifier: BSD-2-Clause */
/* An equation is a sum of terms set to zero. Each term goes where it belongs: what stands under dt, under
 * div, and the rest; factors that are the same everywhere go with it. */
#include "typed.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  const typed_names *names;
  typed_equation *equation;
} splitting;

static void split(const splitting *s, const pcsim_expr_node *tree, bool minus, const typed_factor *factors);

/* ----------------------------------------------------------- what is found */

/* The body of a term inside of its operator. */
static void put_body(typed_text *t, const typed_names *names, const typed_term *term, int part) {
  const pcsim_expr_node *leaf = term->leaf;
  int column = typed_column(leaf), level = term->factors ? LEVEL_SIGNED : t->used ? LEVEL_PRODUCT : LEVEL_SUM;
  bool div = part == PART_FLUX && typed_is_call(leaf, "div");
  if (part == PART_ACCUMULATION && leaf->kind == PCSIM_EXPR_NAME) {
    typed_text_put(t, column, "%s", term->names->unknown[typed_resolve(term->names, leaf->name).index]);
  } else if (part == PART_ACCUMULATION || (div && leaf->num_args == 1)) {
    typed_text_tree(t, names, leaf->args[0], level);
  } else if (part == PART_FLUX) {
    typed_text_put(t, column, div ? "vector(" : "grad(");
    for (int i = 0; i < leaf->num_args; ++i) {
      if (i) typed_text_put(t, column, ", ");
      typed_text_tree(t, names, leaf->args[i], LEVEL_ANY);
    }
    typed_text_put(t, column, ")");
  } else {
    typed_text_tree(t, names, leaf, level);
  }
}

static void emit(const splitting *s, const typed_term *term, int part) {
  for (int k = 0; k < 2; ++k) {
    typed_text *t = k ? &s->equation->part[part] : &s->equation->shown[part];
    const typed_names *names = k ? s->names : NULL;
    int column = typed_column(term->leaf);
    if (t->used) typed_text_put(t, column, term->minus ? " - " : " + ");
    else if (term->minus) typed_text_put(t, column, "-");
    typed_term_open(t, names, term->factors);
    put_body(t, names, term, part);
    typed_term_close(t, names, term->factors);
  }
}

static void accumulate(const splitting *s, const typed_term *term) {
  typed_uses factors = typed_factor_uses(s->names, term->factors);
  typed_uses inner = {0};
  if (term->leaf->kind == PCSIM_EXPR_CALL) inner = typed_uses_of(s->names, term->leaf->args[0]);
  if (inner.time_order)
    typed_term_report(term, "is of second order in time; expected two unknowns, e.g. `dt(u) - v` and "
                            "`dt(v) + ...`");
  else if (inner.derived)
    typed_term_report(term, "has a derivative in space under `dt`; expected values of unknowns only");
  else if (!typed_uses_no_unknowns(&factors) || factors.coordinates >> TYPED_T & 1u)
    typed_term_is_strong(term);
  else emit(s, term, PART_ACCUMULATION);
}

static void diverge(const splitting *s, const typed_term *term) {
  typed_uses factors = typed_factor_uses(s->names, term->factors),
             inner = typed_uses_of(s->names, term->leaf);
  if (inner.time_order)
    typed_term_report(term,
                      "has a time derivative in its flux; expected values and first derivatives in space");
  else if (inner.order > 2)
    typed_term_report(term,
                      "has second or higher derivatives in its flux; expected first ones: give the inner "
                      "derivatives an unknown of their own, e.g. `w - lap(u)`");
  else if (!typed_uses_constant(&factors)) typed_term_is_strong(term);
  else {
    s->equation->flux_jumps |= inner.jumps;
    emit(s, term, PART_FLUX);
  }
}

/* Does an operator stand where it cannot be taken apart? */
static bool holds_operator(const pcsim_expr_node *tree) {
  if (typed_is_call(tree, "dt") || typed_is_call(tree, "div") || typed_is_call(tree, "lap")) return true;
  for (int i = 0; i < tree->num_args; ++i)
    if (holds_operator(tree->args[i])) return true;
  return false;
}

/* Everything that is no sum and no product with a factor. */
static void take_leaf(const splitting *s, const typed_term *term) {
  const pcsim_expr_node *leaf = term->leaf;
  typed_uses uses = typed_uses_of(s->names, leaf);
  bool name = leaf->kind == PCSIM_EXPR_NAME;
  if (typed_is_call(leaf, "dt") || (name && uses.time_order == 1 && !uses.order)) {
    accumulate(s, term);
  } else if (typed_is_call(leaf, "div") || typed_is_call(leaf, "lap")) {
    diverge(s, term);
  } else if (!name && (uses.time_order || uses.order > 1 || holds_operator(leaf))) {
    typed_term_report(term,
                      "has a `dt`, `div`, `lap` or second derivative inside of another operation; expected a "
                      "sum of such terms, each with a constant factor at most");
  } else if ((!name && !typed_is_call(leaf, "dot")) || !typed_term_is_strong(term)) {
    emit(s, term, PART_SOURCE);
  }
}

static bool has_derivative(const splitting *s, const pcsim_expr_node *tree) {
  return typed_uses_of(s->names, tree).derived != 0;
}

static void split_product(const splitting *s, const pcsim_expr_node *tree, bool minus,
                          const typed_factor *factors) {
  bool divides = tree->kind == PCSIM_EXPR_DIV, left = has_derivative(s, tree->args[0]);
  bool right = has_derivative(s, tree->args[1]);
  if (right && (left || divides)) {
    take_leaf(s, &(typed_term){s->names, s->equation->node, minus, factors, tree});
    return;
  }
  typed_factor factor = {tree->args[left ? 1 : 0], divides, factors};
  split(s, tree->args[left ? 0 : 1], minus, &factor);
}

static void split(const splitting *s, const pcsim_expr_node *tree, bool minus, const typed_factor *factors) {
  typed_term term = {s->names, s->equation->node, minus, factors, tree};
  typed_uses uses = typed_uses_of(s->names, tree);
  if (!uses.derived && !(uses.jumps && typed_is_call(tree, "div"))) {
    emit(s, &term, PART_SOURCE);
    return;
  }
  switch (tree->kind) {
  case PCSIM_EXPR_ADD:
  case PCSIM_EXPR_SUB:
    split(s, tree->args[0], minus, factors);
    split(s, tree->args[1], minus != (tree->kind == PCSIM_EXPR_SUB), factors);
    break;
  case PCSIM_EXPR_NEG:
    split(s, tree->args[0], !minus, factors);
    break;
  case PCSIM_EXPR_MUL:
  case PCSIM_EXPR_DIV:
    split_product(s, tree, minus, factors);
    break;
  default:
    take_leaf(s, &term);
    break;
  }
}

/* A coefficient that jumps has no derivative: not under grad or lap, and div only as a flux. */
static void check_jumps(const splitting *s, const pcsim_expr_node *tree) {
  bool gradient = typed_is_call(tree, "grad") || typed_is_call(tree, "lap");
  typed_uses uses = typed_uses_of(s->names, tree);
  if (gradient && uses.jumps) {
    int i = 0;
    while (!(uses.jumps >> i & 1u)) ++i;
    pcsim_tree_problem_inside(
        s->names->tree, s->equation->node, (size_t)typed_column(tree),
        "coefficient `%s` differs between regions and has no gradient; expected it outside of "
        "`%s(...)`",
        s->names->coefficient[i].name, tree->name);
    return;
  }
  for (int k = 0; k < tree->num_args; ++k) check_jumps(s, tree->args[k]);
}

/* ------------------------------------------------------------- the equations */

/* "a = b" in the text of an equation: what the parser would say of it leads astray. */
static bool has_equals_sign(const typed_names *names, const pcsim_node *node) {
  const char *text = pcsim_node_text(node), *at = strchr(text, '=');
  bool single = at && at[1] != '=' && (at == text || !strchr("<>!=", at[-1]));
  if (single)
    pcsim_tree_problem_inside(
        names->tree, node, (size_t)(at - text),
        "an equation is a sum that is zero, without `=`; expected the right side brought "
        "over with a minus");
  return single;
}

static void read_equation(const typed_names *names, const pcsim_node *node, typed_equation *equation) {
  equation->node = node;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_SCALAR) {
    pcsim_tree_problem(names->tree, node, "an equation must be one text, e.g. \"dt(u) - div(k*grad(u))\"");
    return;
  }
  if (has_equals_sign(names, node)) return;
  if (!typed_parse(names, node, MAY_UNKNOWNS | MAY_DERIVATIVES | MAY_TIME, &equation->expr)) return;
  splitting s = {names, equation};
  const pcsim_expr_node *root = pcsim_expr_root(equation->expr);
  equation->uses = typed_uses_of(names, root);
  check_jumps(&s, root);
  if (root->kind == PCSIM_EXPR_EQ)
    pcsim_tree_problem_inside(
        names->tree, node, (size_t)typed_column(root->args[1]),
        "an equation is a sum that is zero, without `==`; expected the right side brought "
        "over with a minus");
  else split(&s, root, false, NULL);
}

static void list_unknowns(const typed_names *names, char *out, size_t size) {
  out[0] = '\0';
  for (int i = 0; i < names->num_unknowns && strlen(out) + strlen(names->unknown[i]) + 8 < size; ++i) {
    if (i) strcat(out, ", ");
    strcat(out, names->unknown[i]);
  }
}

static void check_count(const typed_names *names, const pcsim_node *at, int64_t n) {
  char list[400];
  int m = names->num_unknowns;
  list_unknowns(names, list, sizeof list);
  if (n < m)
    pcsim_tree_problem(
        names->tree, at,
        "%d unknown%s (%s) but %lld equation%s: `%s` has no equation; expected one for each, in "
        "the same order",
        m, m == 1 ? "" : "s", list, (long long)n, n == 1 ? "" : "s", names->unknown[n]);
  if (n > m)
    pcsim_tree_problem(names->tree, at, "%lld equations for %d unknown%s (%s); expected one for each",
                       (long long)n, m, m == 1 ? "" : "s", list);
}

/* `equations: {u: ..., v: ...}`. */
static void read_named(const typed_names *names, const pcsim_node *list, typed_equation *equations) {
  for (int64_t i = 0; i < pcsim_node_size(list); ++i) {
    const char *key = pcsim_node_key(list, i);
    typed_name found = typed_resolve(names, key);
    if (found.kind == TYPED_UNKNOWN && !strchr(key, '_')) {
      read_equation(names, pcsim_node_child(list, i), &equations[found.index]);
      continue;
    }
    const char *near = pcsim_nearest(key, names->unknown, (size_t)names->num_unknowns);
    pcsim_tree_problem(names->tree, pcsim_node_key_node(list, i),
                       "an equation for `%s`, which is no unknown%s%s%s", key, near ? "; did you mean `" : "",
                       near ? near : "", near ? "`?" : "");
  }
  for (int i = 0; i < names->num_unknowns; ++i)
    if (!equations[i].node)
      pcsim_tree_problem(names->tree, list, "unknown `%s` has no equation", names->unknown[i]);
}

/* An unknown that stands in none of the (well-formed) equations. */
static void check_occurrence(const typed_names *names, const typed_equation *equations) {
  uint64_t all = 0;
  for (int i = 0; i < names->num_unknowns; ++i) {
    if (!equations[i].expr) return;
    all |= equations[i].uses.values | equations[i].uses.derived;
  }
  for (int i = 0; i < names->num_unknowns; ++i)
    if (!(all >> i & 1u))
      pcsim_tree_problem(names->tree, names->unknown_node[i], "no equation contains the unknown `%s`",
                         names->unknown[i]);
}

pcsim_status typed_equations_read(const typed_names *names, int *num, typed_equation **equations) {
  const pcsim_node *physics = pcsim_node_get(pcsim_tree_root(names->tree), "physics");
  const pcsim_node *list = pcsim_node_get(physics, "equations");
  *num = names->num_unknowns;
  PCSIM_TRY(pcsim_alloc((size_t)*num, sizeof **equations, equations));
  if (!list) {
    pcsim_tree_problem(names->tree, physics, "no `equations`; expected one for each unknown");
    return PCSIM_OK;
  }
  if (!*num) return PCSIM_OK;
  if (pcsim_node_get_kind(list) == PCSIM_NODE_MAPPING) {
    read_named(names, list, *equations);
  } else {
    bool one = pcsim_node_get_kind(list) == PCSIM_NODE_SCALAR;
    int64_t n = one ? 1 : pcsim_node_size(list);
    check_count(names, list, n);
    for (int64_t i = 0; i < n && i < *num; ++i)
      read_equation(names, one ? list : pcsim_node_child(list, i), &(*equations)[i]);
  }
  check_occurrence(names, *equations);
  for (int i = 0; i < *num; ++i)
    for (int k = 0; k < NUM_PARTS; ++k) {
      PCSIM_TRY(typed_text_status(names, (*equations)[i].node, &(*equations)[i].part[k]));
      PCSIM_TRY(typed_text_status(names, (*equations)[i].node, &(*equations)[i].shown[k]));
    }
  return PCSIM_OK;
}

void typed_equations_free(int num, typed_equation **equations) {
  for (int i = 0; *equations && i < num; ++i) {
    pcsim_expr_destroy(&(*equations)[i].expr);
    for (int k = 0; k < NUM_PARTS; ++k) {
      typed_text_free(&(*equations)[i].part[k]);
      typed_text_free(&(*equations)[i].shown[k]);
    }
  }
  pcsim_free(equations);
}
