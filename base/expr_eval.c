/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be done with a parsed expression: bind names, fold, evaluate, ask. */
#include "expr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double eval(const pcsim_expr_node *node, const double *x);

static double eval_call(const pcsim_expr_node *node, const double *x) {
  double a[EXPR_MAX_ARGS];
  for (int i = 0; i < node->num_args; i++) a[i] = eval(node->args[i], x);
  return expr_function_call(node->index, a, node->num_args);
}

static double eval(const pcsim_expr_node *node, const double *x) {
  switch (node->kind) {
  case PCSIM_EXPR_NUMBER:
    return node->value;
  case PCSIM_EXPR_NAME:
    return node->index < 0 || !x ? (double)NAN : x[node->index];
  case PCSIM_EXPR_CALL:
    return eval_call(node, x);
  default:
    break;
  }
  double a = eval(node->args[0], x);
  double b = node->num_args > 1 ? eval(node->args[1], x) : 0;
  switch (node->kind) {
  case PCSIM_EXPR_NEG:
    return -a;
  case PCSIM_EXPR_ADD:
    return a + b;
  case PCSIM_EXPR_SUB:
    return a - b;
  case PCSIM_EXPR_MUL:
    return a * b;
  case PCSIM_EXPR_DIV:
    return a / b;
  case PCSIM_EXPR_POW:
    return b == 2 ? a * a : pow(a, b);
  case PCSIM_EXPR_LT:
    return a < b;
  case PCSIM_EXPR_LE:
    return a <= b;
  case PCSIM_EXPR_GT:
    return a > b;
  case PCSIM_EXPR_GE:
    return a >= b;
  case PCSIM_EXPR_EQ:
    return a == b;
  case PCSIM_EXPR_NE:
    return a != b;
  case PCSIM_EXPR_AND:
    return a != 0 && b != 0;
  case PCSIM_EXPR_OR:
    return a != 0 || b != 0;
  case PCSIM_EXPR_NOT:
    return a == 0;
  default:
    return NAN;
  }
}

double pcsim_expr_eval(const pcsim_expr *expr, const double *x) { return eval(expr->root, x); }
double pcsim_expr_eval_node(const pcsim_expr_node *node, const double *x) { return eval(node, x); }

void expr_list_names(char *out, size_t size, const char *const *names, size_t n) {
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < n; i++) {
    size_t length = strlen(names[i]);
    if (used + length + 8 > size) {
      snprintf(out + used, size - used, ", ...");
      return;
    }
    used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", names[i]);
  }
}

/* -------------------------------------------------------------- bind */

typedef struct {
  const char *const *names;
  int n;
  const char *const *constants;
  const double *values;
  int num_constants;
} scope;

static int place_of(const char *name, const char *const *names, int n) {
  for (int i = 0; i < n; i++)
    if (!strcmp(names[i], name)) return i;
  return -1;
}

static pcsim_status unknown_name(const char *name, const scope *s) {
  const char *all[256];
  size_t n = 0;
  for (int i = 0; i < s->n && n < 256; i++) all[n++] = s->names[i];
  for (int i = 0; i < s->num_constants && n < 256; i++) all[n++] = s->constants[i];
  if (!strcmp(name, "inf") || !strcmp(name, "nan") || !strcmp(name, "infinity"))
    PCSIM_FAIL(PCSIM_ERR_CASE, "'%s' is not a number here; expected a finite number", name);
  if (!n)
    PCSIM_FAIL(PCSIM_ERR_CASE, "unknown name '%s'; no names are known here, only numbers and functions",
               name);
  char known[512];
  expr_list_names(known, sizeof known, all, n);
  const char *near = pcsim_nearest(name, all, n);
  if (near)
    PCSIM_FAIL(PCSIM_ERR_CASE, "unknown name '%s'; did you mean '%s'? (known: %s)", name, near, known);
  PCSIM_FAIL(PCSIM_ERR_CASE, "unknown name '%s' (known: %s)", name, known);
}

static bool is_differential(const pcsim_expr_node *node) {
  const pcsim_expr_function *f =
      node->kind == PCSIM_EXPR_CALL ? pcsim_expr_get_function((size_t)node->index) : NULL;
  return f && f->differential;
}

/** Every name must be known before anything is changed. */
static pcsim_status check_names(const pcsim_expr_node *node, const scope *s, size_t *offset) {
  if (node->kind == PCSIM_EXPR_NAME && place_of(node->name, s->names, s->n) < 0 &&
      place_of(node->name, s->constants, s->num_constants) < 0) {
    if (offset) *offset = (size_t)node->column;
    return unknown_name(node->name, s);
  }
  if (is_differential(node)) {
    if (offset) *offset = (size_t)node->column;
    PCSIM_FAIL(PCSIM_ERR_CASE,
               "'%s(...)' has a meaning in equations only; expected a number or an expression without it",
               node->name);
  }
  for (int i = 0; i < node->num_args; i++) PCSIM_TRY(check_names(node->args[i], s, offset));
  return PCSIM_OK;
}

/** Set places and constants, and replace what has only numbers below it by its value. */
static void resolve(pcsim_expr_node *node, const scope *s) {
  bool constant = node->num_args > 0;
  for (int i = 0; i < node->num_args; i++) {
    resolve(node->args[i], s);
    constant = constant && node->args[i]->kind == PCSIM_EXPR_NUMBER;
  }
  if (node->kind == PCSIM_EXPR_NAME) {
    node->index = place_of(node->name, s->names, s->n);
    if (node->index >= 0) return;
    node->value = s->values[place_of(node->name, s->constants, s->num_constants)];
  } else if (constant) {
    node->value = eval(node, NULL);
  } else {
    return;
  }
  node->kind = PCSIM_EXPR_NUMBER;
  node->index = -1;
  node->num_args = 0;
  node->args = NULL;
  node->name = NULL;
}

pcsim_status pcsim_expr_bind(pcsim_expr *expr, const char *const *names, int n, const char *const *constants,
                             const double *values, int num_constants, size_t *offset) {
  scope s = {names, n, constants, values, num_constants};
  PCSIM_CHECK((names || n <= 0) && ((constants && values) || num_constants <= 0), PCSIM_ERR_ARG,
              "names announced but not given");
  PCSIM_TRY(check_names(expr->root, &s, offset));
  resolve(expr->root, &s);
  return PCSIM_OK;
}

/* --------------------------------------------------------- questions */

static bool uses(const pcsim_expr_node *node, int index, const char *name) {
  if (node->kind == PCSIM_EXPR_NAME && (name ? !strcmp(node->name, name) : index < 0 || node->index == index))
    return true;
  if (!name && index < 0 && is_differential(node)) return true; /* it has no value without unknowns */
  for (int i = 0; i < node->num_args; i++)
    if (uses(node->args[i], index, name)) return true;
  return false;
}

bool pcsim_expr_is_constant(const pcsim_expr *expr, double *value) {
  if (uses(expr->root, -1, NULL)) return false;
  if (value) *value = eval(expr->root, NULL);
  return true;
}

bool pcsim_expr_uses(const pcsim_expr *expr, int index) {
  return index >= 0 && uses(expr->root, index, NULL);
}
bool expr_uses_name(const pcsim_expr *expr, const char *name) { return uses(expr->root, -1, name); }
const pcsim_expr_node *pcsim_expr_root(const pcsim_expr *expr) { return expr->root; }
const char *pcsim_expr_text(const pcsim_expr *expr) { return expr->text; }

void pcsim_expr_destroy(pcsim_expr **expr) {
  if (!expr || !*expr) return;
  arena_clear(&(*expr)->memory);
  pcsim_free(expr);
}
