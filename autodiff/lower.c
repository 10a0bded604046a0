/* SPDX-License-Identifier: BSD-2-Clause */
/* Lowering: parsed expressions to a program. The tree is walked once; lap, grad, div, dt and dn differentiate
 * the values built so far by the chain rule (lower_graph.c) until only derivatives of unknowns are left. */
#include "lower.h"

#include <stdio.h>
#include <string.h>

/** A number per point, or a vector with a component for each coordinate but time. */
typedef struct {
  bool is_vector;
  pcsim_value number;
  pcsim_value *components; /**< [num_axes], owned */
} piece;

static void piece_free(piece *p) { pcsim_free(&p->components); }

#define FAIL_AT(l, tree, ...)                                                                                \
  do {                                                                                                       \
    (l)->offset = (size_t)(tree)->column;                                                                    \
    PCSIM_FAIL(PCSIM_ERR_CASE, __VA_ARGS__);                                                                 \
  } while (0)

static pcsim_status walk(lowering *l, const pcsim_expr_node *tree, piece *out);

/** The axes as text, "x, y". */
static const char *axes_text(const lowering *l, char *out, size_t size) {
  const char *names[64];
  int n = 0;
  for (; n < l->num_axes && n < 64; n++) names[n] = l->names->coordinates[l->axes[n]];
  return lower_list(names, n, out, size);
}

static pcsim_status make_vector(const lowering *l, piece *out) {
  *out = (piece){.is_vector = true};
  return pcsim_alloc((size_t)l->num_axes, sizeof *out->components, &out->components);
}

/** Walk an argument that has to be a number; `what` needs it. */
static pcsim_status walk_number(lowering *l, const pcsim_expr_node *tree, const char *what,
                                pcsim_value *out) {
  piece p = {0};
  PCSIM_TRY(walk(l, tree, &p));
  bool is_vector = p.is_vector;
  *out = p.number;
  piece_free(&p);
  if (is_vector)
    FAIL_AT(l, tree, "%s needs a number; found a vector (div or dot makes a number of it)", what);
  return PCSIM_OK;
}

/** Walk an argument that has to be a vector; in one dimension a number is one. */
static pcsim_status walk_vector(lowering *l, const pcsim_expr_node *tree, const char *what, piece *out) {
  PCSIM_TRY(walk(l, tree, out));
  if (out->is_vector) return PCSIM_OK;
  if (l->num_axes == 1) {
    pcsim_value number = out->number;
    PCSIM_TRY(make_vector(l, out));
    out->components[0] = number;
    return PCSIM_OK;
  }
  char axes[256];
  FAIL_AT(l, tree,
          "%s needs a vector; found a number (grad(...), or vector(...) with a component for each of %s)",
          what, axes_text(l, axes, sizeof axes));
}

/** Space derivatives need a coordinate other than time. */
static pcsim_status need_axes(lowering *l, const pcsim_expr_node *tree) {
  if (l->num_axes) return PCSIM_OK;
  FAIL_AT(l, tree, "'%s' needs coordinates in space; there are none here", tree->name);
}

/* ------------------------------------------------------------ operators */

static pcsim_status walk_name(lowering *l, const pcsim_expr_node *tree, piece *out) {
  lower_name name;
  size_t at = 0;
  *out = (piece){0};
  pcsim_status status = lower_resolve(l->names, tree->name, &name, &at);
  l->offset = (size_t)tree->column + at;
  PCSIM_TRY(status);
  if (name.kind == LOWER_UNKNOWN) return lower_input(l, &name.derivative, &out->number);
  if (name.kind == LOWER_PARAMETER) return lower_parameter(l, name.index, &out->number);
  out->number = l->coordinate[name.index];
  return PCSIM_OK;
}

/** Apply an operator component by component; a number among vectors counts for each. */
static pcsim_status by_components(lowering *l, pcsim_op op, const piece *in, int n, piece *out) {
  bool is_vector = false;
  pcsim_value args[3];
  for (int i = 0; i < n; i++) is_vector = is_vector || in[i].is_vector;
  *out = (piece){0};
  if (!is_vector) {
    for (int i = 0; i < n; i++) args[i] = in[i].number;
    return lower_op(l, op, args, n, &out->number);
  }
  PCSIM_TRY(make_vector(l, out));
  for (int k = 0; k < l->num_axes; k++) {
    for (int i = 0; i < n; i++) args[i] = in[i].is_vector ? in[i].components[k] : in[i].number;
    PCSIM_TRY(lower_op(l, op, args, n, &out->components[k]));
  }
  return PCSIM_OK;
}

static pcsim_status check_vectors(lowering *l, const pcsim_expr_node *tree, const piece *in) {
  bool a = in[0].is_vector, b = in[1].is_vector;
  switch (tree->kind) {
  case PCSIM_EXPR_ADD:
  case PCSIM_EXPR_SUB:
    if (a != b)
      FAIL_AT(l, tree->args[a ? 1 : 0],
              "a number meets a vector; expected a vector, as the other side of '%c' is",
              tree->kind == PCSIM_EXPR_ADD ? '+' : '-');
    break;
  case PCSIM_EXPR_MUL:
    if (a && b)
      FAIL_AT(l, tree->args[1], "a vector times a vector; expected a number (dot(a, b) is their product)");
    break;
  case PCSIM_EXPR_DIV:
    if (b) FAIL_AT(l, tree->args[1], "a division by a vector; expected a number");
    break;
  default: /* comparisons, powers, logic */
    if (a || b) FAIL_AT(l, tree->args[a ? 0 : 1], "found a vector; expected a number");
    break;
  }
  return PCSIM_OK;
}

/** Powers that multiplications give sooner. */
static pcsim_status power(lowering *l, const piece *in, piece *out) {
  const node *n = graph_node(l->program, in[1].number);
  pcsim_value a = in[0].number;
  *out = (piece){0};
  if (n->kind == NODE_CONSTANT && n->rows == 1 && n->numbers[0] == 2)
    return lower_op(l, PCSIM_OP_MUL, (pcsim_value[]){a, a}, 2, &out->number);
  return lower_op(l, PCSIM_OP_POW, (pcsim_value[]){a, in[1].number}, 2, &out->number);
}

static pcsim_status apply(lowering *l, const pcsim_expr_node *tree, const piece *in, piece *out) {
  piece swapped[2] = {in[1], in[0]};
  switch (tree->kind) {
  case PCSIM_EXPR_NEG:
    return by_components(l, PCSIM_OP_NEG, in, 1, out);
  case PCSIM_EXPR_ADD:
    return by_components(l, PCSIM_OP_ADD, in, 2, out);
  case PCSIM_EXPR_SUB:
    return by_components(l, PCSIM_OP_SUB, in, 2, out);
  case PCSIM_EXPR_MUL:
    return by_components(l, PCSIM_OP_MUL, in, 2, out);
  case PCSIM_EXPR_DIV:
    return by_components(l, PCSIM_OP_DIV, in, 2, out);
  case PCSIM_EXPR_POW:
    return power(l, in, out);
  case PCSIM_EXPR_LT:
    return by_components(l, PCSIM_OP_LT, in, 2, out);
  case PCSIM_EXPR_LE:
    return by_components(l, PCSIM_OP_LE, in, 2, out);
  case PCSIM_EXPR_GT:
    return by_components(l, PCSIM_OP_LT, swapped, 2, out);
  case PCSIM_EXPR_GE:
    return by_components(l, PCSIM_OP_LE, swapped, 2, out);
  case PCSIM_EXPR_EQ:
    return by_components(l, PCSIM_OP_EQ, in, 2, out);
  case PCSIM_EXPR_AND:
    return by_components(l, PCSIM_OP_AND, in, 2, out);
  case PCSIM_EXPR_OR:
    return by_components(l, PCSIM_OP_OR, in, 2, out);
  case PCSIM_EXPR_NOT:
    return by_components(l, PCSIM_OP_NOT, in, 1, out);
  case PCSIM_EXPR_NE: {
    PCSIM_TRY(by_components(l, PCSIM_OP_EQ, in, 2, out));
    pcsim_value equal = out->number;
    return lower_op(l, PCSIM_OP_NOT, &equal, 1, &out->number);
  }
  default:
    PCSIM_FAIL(PCSIM_ERR_INTERNAL, "an expression node of kind %d", (int)tree->kind);
  }
}

static pcsim_status walk_operator(lowering *l, const pcsim_expr_node *tree, piece *out) {
  piece in[2] = {{0}, {0}};
  pcsim_status status = PCSIM_OK;
  for (int i = 0; i < tree->num_args; i++) PCSIM_GOTO(walk(l, tree->args[i], &in[i]), status, done);
  if (tree->num_args == 2) PCSIM_GOTO(check_vectors(l, tree, in), status, done);
  if (tree->kind == PCSIM_EXPR_NOT && in[0].is_vector) {
    l->offset = (size_t)tree->args[0]->column;
    status =
        pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__, "found a vector; expected a number");
    goto done;
  }
  l->offset = (size_t)tree->column;
  PCSIM_GOTO(apply(l, tree, in, out), status, done);
done:
  piece_free(&in[0]);
  piece_free(&in[1]);
  return status;
}

/* ------------------------------------------------------------ functions */

/** The operator that a function of expressions stands for; PCSIM_NUM_OPS if there is none. */
static pcsim_op op_of(const char *name) {
  for (int op = 0; op < PCSIM_NUM_OPS; op++)
    if (!strcmp(op_name((pcsim_op)op), name)) return (pcsim_op)op;
  return PCSIM_NUM_OPS;
}

/** where(c, a, b): a and b may both be vectors. */
static pcsim_status walk_where(lowering *l, const pcsim_expr_node *tree, piece *out) {
  piece in[3] = {{0}, {0}, {0}};
  pcsim_status status;
  PCSIM_GOTO(walk_number(l, tree->args[0], "the condition of 'where'", &in[0].number), status, done);
  PCSIM_GOTO(walk(l, tree->args[1], &in[1]), status, done);
  PCSIM_GOTO(walk(l, tree->args[2], &in[2]), status, done);
  l->offset = (size_t)tree->args[2]->column;
  if (in[1].is_vector != in[2].is_vector)
    status = pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__,
                             "'where' chooses between a vector and a number; expected two of the same kind");
  else status = by_components(l, PCSIM_OP_WHERE, in, 3, out);
done:
  for (int i = 0; i < 3; i++) piece_free(&in[i]);
  return status;
}

/** a - b*floor(a/b), as the expressions define it. */
static pcsim_status modulo(lowering *l, const pcsim_value *a, pcsim_value *out) {
  PCSIM_TRY(lower_op(l, PCSIM_OP_DIV, a, 2, out));
  PCSIM_TRY(lower_op(l, PCSIM_OP_FLOOR, (pcsim_value[]){*out}, 1, out));
  PCSIM_TRY(lower_op(l, PCSIM_OP_MUL, (pcsim_value[]){a[1], *out}, 2, out));
  return lower_op(l, PCSIM_OP_SUB, (pcsim_value[]){a[0], *out}, 2, out);
}

static pcsim_status walk_function(lowering *l, const pcsim_expr_node *tree, piece *out) {
  char what[80];
  pcsim_value args[8];
  pcsim_op op = op_of(tree->name);
  *out = (piece){0};
  if (op == PCSIM_OP_WHERE) return walk_where(l, tree, out);
  PCSIM_CHECK(tree->num_args <= 8, PCSIM_ERR_INTERNAL, "a call with %d arguments", tree->num_args);
  snprintf(what, sizeof what, "'%.60s'", tree->name);
  for (int i = 0; i < tree->num_args; i++) PCSIM_TRY(walk_number(l, tree->args[i], what, &args[i]));
  l->offset = (size_t)tree->column;
  if (!strcmp(tree->name, "mod")) return modulo(l, args, &out->number);
  if (op == PCSIM_OP_POW) return power(l, (piece[]){{.number = args[0]}, {.number = args[1]}}, out);
  if (op == PCSIM_NUM_OPS)
    FAIL_AT(l, tree, "'%s' has no derivative and cannot stand in an equation", tree->name);
  if (op != PCSIM_OP_MIN && op != PCSIM_OP_MAX) return lower_op(l, op, args, tree->num_args, &out->number);
  out->number = args[0];
  for (int i = 1; i < tree->num_args; i++)
    PCSIM_TRY(lower_op(l, op, (pcsim_value[]){out->number, args[i]}, 2, &out->number));
  return PCSIM_OK;
}

/* --------------------------------------------------- differential operators */

/** Add to a sum that begins with nothing. */
static pcsim_status add_to(lowering *l, pcsim_value term, pcsim_value *sum) {
  if (*sum == PCSIM_NO_VALUE || graph_is_number(l->program, *sum, 0)) {
    *sum = term;
    return PCSIM_OK;
  }
  if (graph_is_number(l->program, term, 0)) return PCSIM_OK;
  return lower_op(l, PCSIM_OP_ADD, (pcsim_value[]){*sum, term}, 2, sum);
}

static pcsim_status walk_lap(lowering *l, const pcsim_expr_node *tree, piece *out) {
  pcsim_value a = PCSIM_NO_VALUE, d;
  *out = (piece){.number = PCSIM_NO_VALUE};
  PCSIM_TRY(need_axes(l, tree));
  PCSIM_TRY(walk_number(l, tree->args[0], "'lap'", &a));
  l->offset = (size_t)tree->column;
  for (int k = 0; k < l->num_axes; k++) {
    PCSIM_TRY(lower_differentiate(l, a, l->axes[k], &d));
    PCSIM_TRY(lower_differentiate(l, d, l->axes[k], &d));
    PCSIM_TRY(add_to(l, d, &out->number));
  }
  return PCSIM_OK;
}

static pcsim_status walk_grad(lowering *l, const pcsim_expr_node *tree, piece *out) {
  pcsim_value a = PCSIM_NO_VALUE;
  *out = (piece){0};
  PCSIM_TRY(need_axes(l, tree));
  PCSIM_TRY(walk_number(l, tree->args[0], "'grad'", &a));
  l->offset = (size_t)tree->column;
  PCSIM_TRY(make_vector(l, out));
  for (int k = 0; k < l->num_axes; k++) PCSIM_TRY(lower_differentiate(l, a, l->axes[k], &out->components[k]));
  return PCSIM_OK;
}

/** Components one by one, as vector(a, b) and div(a, b) have them. */
static pcsim_status walk_components(lowering *l, const pcsim_expr_node *tree, piece *out) {
  char axes[256], what[80];
  *out = (piece){0};
  PCSIM_TRY(need_axes(l, tree));
  if (tree->num_args != l->num_axes)
    FAIL_AT(l, tree, "'%s' has %d component%s; expected %d, one for each of %s", tree->name, tree->num_args,
            tree->num_args == 1 ? "" : "s", l->num_axes, axes_text(l, axes, sizeof axes));
  snprintf(what, sizeof what, "a component of '%.60s'", tree->name);
  PCSIM_TRY(make_vector(l, out));
  for (int k = 0; k < l->num_axes; k++) PCSIM_TRY(walk_number(l, tree->args[k], what, &out->components[k]));
  return PCSIM_OK;
}

static pcsim_status walk_div(lowering *l, const pcsim_expr_node *tree, piece *out) {
  piece vector = {0};
  pcsim_value d;
  pcsim_status status;
  *out = (piece){.number = PCSIM_NO_VALUE};
  PCSIM_TRY(need_axes(l, tree));
  if (tree->num_args == 1) status = walk_vector(l, tree->args[0], "'div'", &vector);
  else status = walk_components(l, tree, &vector);
  l->offset = status == PCSIM_OK ? (size_t)tree->column : l->offset;
  for (int k = 0; status == PCSIM_OK && k < l->num_axes; k++) {
    status = lower_differentiate(l, vector.components[k], l->axes[k], &d);
    if (status == PCSIM_OK) status = add_to(l, d, &out->number);
  }
  piece_free(&vector);
  return status;
}

static pcsim_status walk_dt(lowering *l, const pcsim_expr_node *tree, piece *out) {
  pcsim_value a = PCSIM_NO_VALUE;
  char known[256];
  *out = (piece){0};
  if (l->time < 0)
    FAIL_AT(l, tree, "'dt' needs the coordinate 't'; the coordinates here are: %s",
            lower_list(l->names->coordinates, l->names->num_coordinates, known, sizeof known));
  PCSIM_TRY(walk_number(l, tree->args[0], "'dt'", &a));
  l->offset = (size_t)tree->column;
  return lower_differentiate(l, a, l->time, &out->number);
}

static pcsim_status walk_dn(lowering *l, const pcsim_expr_node *tree, piece *out) {
  pcsim_value a = PCSIM_NO_VALUE, d, normal;
  *out = (piece){.number = PCSIM_NO_VALUE};
  PCSIM_TRY(need_axes(l, tree));
  PCSIM_TRY(walk_number(l, tree->args[0], "'dn'", &a));
  l->offset = (size_t)tree->column;
  for (int k = 0; k < l->num_axes; k++) {
    PCSIM_TRY(lower_differentiate(l, a, l->axes[k], &d));
    if (!graph_is_number(l->program, d, 0)) {
      PCSIM_TRY(lower_normal(l, l->axes[k], &normal));
      PCSIM_TRY(lower_op(l, PCSIM_OP_MUL, (pcsim_value[]){normal, d}, 2, &d));
    }
    PCSIM_TRY(add_to(l, d, &out->number));
  }
  return PCSIM_OK;
}

static pcsim_status walk_dot(lowering *l, const pcsim_expr_node *tree, piece *out) {
  piece in[2] = {{0}, {0}};
  pcsim_value term;
  pcsim_status status;
  *out = (piece){.number = PCSIM_NO_VALUE};
  PCSIM_TRY(need_axes(l, tree));
  PCSIM_GOTO(walk_vector(l, tree->args[0], "'dot'", &in[0]), status, done);
  PCSIM_GOTO(walk_vector(l, tree->args[1], "'dot'", &in[1]), status, done);
  l->offset = (size_t)tree->column;
  for (int k = 0; k < l->num_axes; k++) {
    pcsim_value pair[2] = {in[0].components[k], in[1].components[k]};
    PCSIM_GOTO(lower_op(l, PCSIM_OP_MUL, pair, 2, &term), status, done);
    PCSIM_GOTO(add_to(l, term, &out->number), status, done);
  }
done:
  piece_free(&in[0]);
  piece_free(&in[1]);
  return status;
}

/** The table that an argument names. */
static pcsim_status find_table(lowering *l, const pcsim_expr_node *tree, const pcsim_lowering_table **found) {
  const pcsim_lowering *names = l->names;
  const char *known[256];
  char list[512];
  const int n = names->num_tables < 256 ? names->num_tables : 256;
  l->offset = (size_t)tree->column;
  PCSIM_CHECK(tree->kind == PCSIM_EXPR_NAME, PCSIM_ERR_CASE, "'table' needs the name of a table first");
  for (int i = 0; i < names->num_tables; i++) {
    *found = &names->tables[i];
    if (!strcmp((*found)->name, tree->name)) return PCSIM_OK;
    if (i < n) known[i] = (*found)->name;
  }
  const char *near = pcsim_nearest(tree->name, known, (size_t)n);
  PCSIM_FAIL(PCSIM_ERR_CASE, "unknown table '%s'%s%s%s (known: %s)", tree->name,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
             lower_list(known, n, list, sizeof list));
}

/** table(name, x) */
static pcsim_status walk_table(lowering *l, const pcsim_expr_node *tree, piece *out) {
  const pcsim_lowering_table *table;
  pcsim_value at = PCSIM_NO_VALUE;
  double *x, *y;
  int n;
  *out = (piece){0};
  PCSIM_TRY(walk_number(l, tree->args[1], "'table'", &at));
  PCSIM_TRY(find_table(l, tree->args[0], &table));
  PCSIM_TRY(lower_table_read(table->path, &n, &x, &y));
  out->number = pcsim_build_table(l->program, n, x, y, at);
  pcsim_free(&x);
  pcsim_free(&y);
  return pcsim_program_status(l->program);
}

static const struct {
  const char *name;
  pcsim_status (*walk)(lowering *l, const pcsim_expr_node *tree, piece *out);
} differentials[] = {
    {"lap", walk_lap}, {"grad", walk_grad}, {"div", walk_div},           {"dt", walk_dt},
    {"dn", walk_dn},   {"dot", walk_dot},   {"vector", walk_components}, {"table", walk_table}};

/** A failing walk leaves nothing in `out` to be freed. */
static pcsim_status walk(lowering *l, const pcsim_expr_node *tree, piece *out) {
  pcsim_status status;
  *out = (piece){0};
  if (tree->kind == PCSIM_EXPR_NUMBER) {
    l->offset = (size_t)tree->column;
    return lower_number(l, tree->value, &out->number);
  }
  if (tree->kind == PCSIM_EXPR_NAME) return walk_name(l, tree, out);
  if (tree->kind != PCSIM_EXPR_CALL) {
    status = walk_operator(l, tree, out);
  } else {
    size_t i = 0, n = sizeof differentials / sizeof *differentials;
    while (i < n && strcmp(differentials[i].name, tree->name) != 0) i++;
    status = i < n ? differentials[i].walk(l, tree, out) : walk_function(l, tree, out);
  }
  if (status != PCSIM_OK) {
    piece_free(out);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- entry */

static pcsim_status lower_text(lowering *l, const char *text, pcsim_value *value) {
  pcsim_expr *expr = NULL;
  l->offset = 0;
  PCSIM_TRY(pcsim_expr_parse(text, &expr, &l->offset));
  pcsim_status status = walk_number(l, pcsim_expr_root(expr), "an equation", value);
  pcsim_expr_destroy(&expr);
  return status;
}

pcsim_status pcsim_lower(const char *const *texts, int n, const pcsim_lowering *names,
                         pcsim_program **program, int *which, size_t *offset) {
  lowering l = {0};
  pcsim_value *outputs = NULL;
  pcsim_status status;
  int at = -1;
  *program = NULL;
  PCSIM_CHECK(n > 0 && texts && names, PCSIM_ERR_ARG, "nothing to lower");
  PCSIM_GOTO(lower_begin(&l, names), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *outputs, &outputs), status, done);
  for (at = 0; at < n; at++) PCSIM_GOTO(lower_text(&l, texts[at], &outputs[at]), status, done);
  at = -1;
  l.offset = 0;
  status = lower_extract(&l, outputs, n, program);
done:
  if (status != PCSIM_OK) {
    if (which) *which = at;
    if (offset) *offset = l.offset;
  }
  pcsim_free(&outputs);
  lower_end(&l);
  return status;
}
