/* SPDX-License-Identifier: BSD-2-Clause */
/* The scratch program of lowering: inputs made when they are first needed, derivatives by the chain rule with
 * the operators' own rules, and the final program of what is used. The scratch program shares equal values,
 * so that the derivatives of a product taken twice by x and y are not written out 2^n times. */
#include "lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ beginning */

static pcsim_status begin_values(lowering *l) {
  const pcsim_lowering *names = l->names;
  size_t n = (size_t)(names->num_coordinates > 0 ? names->num_coordinates : 0);
  size_t np = (size_t)(names->num_parameters > 0 ? names->num_parameters : 0);
  PCSIM_TRY(pcsim_alloc(n, sizeof *l->axes, &l->axes));
  PCSIM_TRY(pcsim_alloc(n, sizeof *l->coordinate, &l->coordinate));
  PCSIM_TRY(pcsim_alloc(n, sizeof *l->normal, &l->normal));
  PCSIM_TRY(pcsim_alloc(np, sizeof *l->parameter, &l->parameter));
  PCSIM_TRY(pcsim_program_create(&l->program));
  PCSIM_TRY(graph_unique_begin(l->program));
  l->points = pcsim_build_space(l->program, "points");
  l->zero = pcsim_build_constant(l->program, 0);
  l->one = pcsim_build_constant(l->program, 1);
  if (n) l->coordinates = pcsim_build_input(l->program, "coordinates", l->points, (int)n);
  for (int i = 0; i < names->num_coordinates; i++) {
    l->coordinate[i] = n == 1 ? l->coordinates : pcsim_build_slice(l->program, l->coordinates, i, 1);
    l->normal[i] = PCSIM_NO_VALUE;
    if (!strcmp(names->coordinates[i], "t")) l->time = i;
    else if (i < names->num_coordinates - names->num_inputs) l->axes[l->num_axes++] = i;
  }
  for (size_t i = 0; i < np; i++) l->parameter[i] = PCSIM_NO_VALUE;
  return pcsim_program_status(l->program);
}

pcsim_status lower_begin(lowering *l, const pcsim_lowering *names) {
  *l = (lowering){.names = names, .time = -1, .coordinates = PCSIM_NO_VALUE};
  PCSIM_TRY(lower_check_names(names));
  return begin_values(l);
}

void lower_end(lowering *l) {
  pcsim_program_destroy(&l->program);
  pcsim_free(&l->axes);
  pcsim_free(&l->coordinate);
  pcsim_free(&l->normal);
  pcsim_free(&l->parameter);
  pcsim_free(&l->leaves);
  pcsim_free(&l->memo.keys);
  pcsim_free(&l->memo.values);
}

/* --------------------------------------------------------------- values */

/** What a builder gave, as status. */
static pcsim_status built(lowering *l, pcsim_value value, pcsim_value *out) {
  *out = value;
  PCSIM_TRY(pcsim_program_status(l->program));
  PCSIM_CHECK(value >= 0, PCSIM_ERR_INTERNAL, "a builder gave no value and no reason");
  PCSIM_CHECK(
      l->program->num_nodes <= LOWER_MAX_NODES, PCSIM_ERR_CASE,
      "written out, this becomes more than %d operations; expected fewer derivatives inside each other",
      LOWER_MAX_NODES);
  return PCSIM_OK;
}

static lower_leaf *leaf_of(const lowering *l, pcsim_value value) {
  /* Leaves are made in the order of their values. */
  int low = 0, high = l->num_leaves;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (l->leaves[middle].value < value) low = middle + 1;
    else high = middle;
  }
  return low < l->num_leaves && l->leaves[low].value == value ? &l->leaves[low] : NULL;
}

pcsim_status lower_input(lowering *l, const lower_derivative *what, pcsim_value *out) {
  char name[LOWER_NAME_SIZE];
  for (int i = 0; i < l->num_leaves; i++)
    if (!lower_compare(&l->leaves[i].what, what)) {
      *out = l->leaves[i].value;
      return PCSIM_OK;
    }
  lower_write_name(l->names, what, name);
  PCSIM_TRY(built(l, pcsim_build_input(l->program, name, l->points, 1), out));
  int n = l->num_leaves;
  if (!(n & (n - 1))) PCSIM_TRY(pcsim_realloc(n ? 2 * (size_t)n : 1, sizeof *l->leaves, &l->leaves));
  l->leaves[l->num_leaves++] = (lower_leaf){*what, *out};
  return PCSIM_OK;
}

pcsim_status lower_normal(lowering *l, int axis, pcsim_value *out) {
  char name[80];
  *out = l->normal[axis];
  if (*out != PCSIM_NO_VALUE) return PCSIM_OK;
  snprintf(name, sizeof name, "n.%s", l->names->coordinates[axis]);
  PCSIM_TRY(built(l, pcsim_build_input(l->program, name, l->points, 1), out));
  l->normal[axis] = *out;
  return PCSIM_OK;
}

pcsim_status lower_parameter(lowering *l, int index, pcsim_value *out) {
  if (l->names->values) return lower_number(l, l->names->values[index], out);
  *out = l->parameter[index];
  if (*out != PCSIM_NO_VALUE) return PCSIM_OK;
  PCSIM_TRY(built(l, pcsim_build_parameter(l->program, l->names->parameters[index], 1, 1), out));
  l->parameter[index] = *out;
  return PCSIM_OK;
}

pcsim_status lower_number(lowering *l, double value, pcsim_value *out) {
  return built(l, pcsim_build_constant(l->program, value), out);
}

pcsim_status lower_op(lowering *l, pcsim_op op, const pcsim_value *in, int n, pcsim_value *out) {
  return built(l, pcsim_build_op(l->program, op, in, n), out);
}

/* ----------------------------------------------------------------- memo */

static size_t memo_place(const lower_memo *m, int64_t key) {
  size_t i = (size_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (m->size - 1);
  while (m->keys[i] && m->keys[i] != key) i = (i + 1) & (m->size - 1);
  return i;
}

static pcsim_status memo_grow(lower_memo *m) {
  lower_memo bigger = {.size = m->size ? 2 * m->size : 256, .used = m->used};
  PCSIM_TRY(pcsim_alloc(bigger.size, sizeof *bigger.keys, &bigger.keys));
  pcsim_status status = pcsim_alloc(bigger.size, sizeof *bigger.values, &bigger.values);
  if (status != PCSIM_OK) {
    pcsim_free(&bigger.keys);
    return status;
  }
  for (size_t i = 0; i < m->size; i++) {
    if (!m->keys[i]) continue;
    size_t place = memo_place(&bigger, m->keys[i]);
    bigger.keys[place] = m->keys[i];
    bigger.values[place] = m->values[i];
  }
  pcsim_free(&m->keys);
  pcsim_free(&m->values);
  *m = bigger;
  return PCSIM_OK;
}

static int64_t memo_key(const lowering *l, pcsim_value value, int axis) {
  return (int64_t)value * l->names->num_coordinates + axis + 1;
}

static pcsim_value memo_get(const lower_memo *m, int64_t key) {
  if (!m->size) return PCSIM_NO_VALUE;
  size_t i = memo_place(m, key);
  return m->keys[i] ? m->values[i] : PCSIM_NO_VALUE;
}

static pcsim_status memo_put(lower_memo *m, int64_t key, pcsim_value value) {
  if (2 * (m->used + 1) > m->size) PCSIM_TRY(memo_grow(m));
  size_t i = memo_place(m, key);
  if (!m->keys[i]) m->used++;
  m->keys[i] = key;
  m->values[i] = value;
  return PCSIM_OK;
}

/* ---------------------------------------------------------- derivatives */

static pcsim_status differentiate_input(lowering *l, pcsim_value value, int axis, pcsim_value *out) {
  lower_leaf *leaf = leaf_of(l, value);
  if (leaf) {
    lower_derivative what = leaf->what;
    char name[LOWER_NAME_SIZE];
    lower_write_name(l->names, &what, name);
    PCSIM_CHECK(what.order < LOWER_MAX_ORDER, PCSIM_ERR_CASE,
                "this needs a derivative of '%.40s' of order above %d; expected at most that", name,
                LOWER_MAX_ORDER);
    int k = what.order++;
    for (; k > 0 && what.axes[k - 1] > axis; k--) what.axes[k] = what.axes[k - 1];
    what.axes[k] = axis;
    return lower_input(l, &what, out);
  }
  *out = value == l->coordinates ? l->one : l->zero; /* only a single coordinate is used whole */
  if (value == l->coordinates || axis == l->time) return PCSIM_OK;
  PCSIM_FAIL(PCSIM_ERR_CASE,
             "the normal is known on the boundary only and has no derivative in space; expected "
             "'dn(...)' outside of lap, grad, div and dn");
}

static bool is_number(const lowering *l, pcsim_value v, double x) {
  return graph_is_number(l->program, v, x);
}

/** Of a choice: the same choice of derivatives, not their product with 0 and 1, since what is not chosen may
 * be infinite. `*done` false: the operator is none. */
static pcsim_status choice_rule(lowering *l, pcsim_op op, const pcsim_value *in, int axis, bool *done,
                                pcsim_value *out) {
  const bool where = op == PCSIM_OP_WHERE, min = op == PCSIM_OP_MIN;
  *done = where || min || op == PCSIM_OP_MAX;
  if (!*done) return PCSIM_OK;
  pcsim_value args[3] = {in[0], PCSIM_NO_VALUE, PCSIM_NO_VALUE};
  if (!where) PCSIM_TRY(lower_op(l, PCSIM_OP_LE, (pcsim_value[]){in[!min], in[min]}, 2, &args[0]));
  for (int i = 0; i < 2; i++) args[1 + i] = memo_get(&l->memo, memo_key(l, in[where + i], axis));
  return lower_op(l, PCSIM_OP_WHERE, args, 3, out);
}

/** Sum over the inputs of rule times derivative; those of the inputs are in the memo. */
static pcsim_status chain_rule(lowering *l, pcsim_value value, int axis, pcsim_value *out) {
  pcsim_value in[3]; /* the node moves when the program grows */
  const node *n = graph_node(l->program, value);
  pcsim_op op = n->op;
  int num_inputs = n->num_inputs;
  PCSIM_CHECK(num_inputs <= 3, PCSIM_ERR_INTERNAL, "an operator with %d inputs", num_inputs);
  memcpy(in, n->inputs, (size_t)num_inputs * sizeof *in);
  bool done;
  PCSIM_TRY(choice_rule(l, op, in, axis, &done, out));
  if (done) return PCSIM_OK;
  pcsim_value sum = l->zero;
  for (int i = 0; i < num_inputs; i++) {
    pcsim_value inner = memo_get(&l->memo, memo_key(l, in[i], axis));
    if (is_number(l, inner, 0)) continue;
    pcsim_value outer = op_derivative(l->program, op, i, in, value);
    PCSIM_TRY(pcsim_program_status(l->program));
    if (outer == PCSIM_NO_VALUE || is_number(l, outer, 0)) continue;
    pcsim_value term = inner;
    if (is_number(l, inner, 1)) term = outer;
    else if (!is_number(l, outer, 1))
      PCSIM_TRY(lower_op(l, PCSIM_OP_MUL, (pcsim_value[]){outer, inner}, 2, &term));
    if (is_number(l, sum, 0)) sum = term;
    else PCSIM_TRY(lower_op(l, PCSIM_OP_ADD, (pcsim_value[]){sum, term}, 2, &sum));
  }
  return built(l, sum, out);
}

/** Slope of a table times the derivative of where it is looked up; a slope's own derivative is zero. */
static pcsim_status table_rule(lowering *l, pcsim_value value, int axis, pcsim_value *out) {
  const node *n = graph_node(l->program, value);
  const pcsim_value numbers = n->inputs[0], at = n->inputs[1];
  const pcsim_value inner = memo_get(&l->memo, memo_key(l, at, axis));
  *out = l->zero;
  if (n->first || is_number(l, inner, 0)) return PCSIM_OK;
  PCSIM_TRY(built(l, graph_table(l->program, numbers, at, true), out));
  return lower_op(l, PCSIM_OP_MUL, (pcsim_value[]){*out, inner}, 2, out);
}

/** One value whose inputs are done. */
static pcsim_status differentiate_one(lowering *l, pcsim_value value, int axis, pcsim_value *out) {
  const node *n = graph_node(l->program, value);
  switch (n->kind) {
  case NODE_INPUT:
    return differentiate_input(l, value, axis, out);
  case NODE_SLICE: /* only of the coordinates */
    *out = n->first == axis ? l->one : l->zero;
    return PCSIM_OK;
  case NODE_OP:
    return chain_rule(l, value, axis, out);
  case NODE_TABLE:
    return table_rule(l, value, axis, out);
  default: /* constants, parameters, what is frozen */
    *out = l->zero;
    return PCSIM_OK;
  }
}

/** With a stack of our own: derivatives of derivatives make graphs deeper than any text. */
pcsim_status lower_differentiate(lowering *l, pcsim_value value, int axis, pcsim_value *out) {
  pcsim_value *stack = NULL;
  size_t used = 0, room = 64;
  pcsim_status status = pcsim_alloc(room, sizeof *stack, &stack);
  if (status != PCSIM_OK) return status;
  stack[used++] = value;
  while (used) {
    pcsim_value v = stack[used - 1], derivative;
    int64_t key = memo_key(l, v, axis);
    if (memo_get(&l->memo, key) != PCSIM_NO_VALUE) {
      used--;
      continue;
    }
    if (used + 4 > room) PCSIM_GOTO(pcsim_realloc(room *= 2, sizeof *stack, &stack), status, done);
    const node *n = graph_node(l->program, v);
    size_t before = used;
    for (int i = 0; (n->kind == NODE_OP || n->kind == NODE_TABLE) && i < n->num_inputs; i++)
      if (memo_get(&l->memo, memo_key(l, n->inputs[i], axis)) == PCSIM_NO_VALUE) stack[used++] = n->inputs[i];
    if (used > before) continue;
    PCSIM_GOTO(differentiate_one(l, v, axis, &derivative), status, done);
    PCSIM_GOTO(memo_put(&l->memo, key, derivative), status, done);
    used--;
  }
  *out = memo_get(&l->memo, memo_key(l, value, axis));
done:
  pcsim_free(&stack);
  return status;
}

/* -------------------------------------------------------- final program */

typedef struct {
  lowering *l;
  pcsim_program *program;
  bool *used;         /**< [nodes of the scratch program] */
  pcsim_value *place; /**< [nodes of the scratch program] value in the final one */
} extraction;

static int compare_leaves(const void *a, const void *b) {
  return lower_compare(&((const lower_leaf *)a)->what, &((const lower_leaf *)b)->what);
}

/** Coordinates, then unknowns with their derivatives in canonical order, then the normal. */
static void extract_inputs(extraction *e) {
  lowering *l = e->l;
  pcsim_space points = pcsim_build_space(e->program, "points");
  if (l->coordinates != PCSIM_NO_VALUE)
    e->place[l->coordinates] =
        pcsim_build_input(e->program, "coordinates", points, l->names->num_coordinates);
  if (l->num_leaves) qsort(l->leaves, (size_t)l->num_leaves, sizeof *l->leaves, compare_leaves);
  for (int i = 0; i < l->num_leaves; i++) {
    char name[LOWER_NAME_SIZE];
    if (!e->used[l->leaves[i].value]) continue;
    lower_write_name(l->names, &l->leaves[i].what, name);
    e->place[l->leaves[i].value] = pcsim_build_input(e->program, name, points, 1);
  }
  for (int i = 0; i < l->names->num_coordinates; i++)
    if (l->normal[i] != PCSIM_NO_VALUE && e->used[l->normal[i]])
      e->place[l->normal[i]] = pcsim_build_input(
          e->program, l->program->names[graph_node(l->program, l->normal[i])->index], points, 1);
  for (int i = 0; i < l->names->num_parameters; i++)
    if (l->parameter[i] != PCSIM_NO_VALUE && e->used[l->parameter[i]])
      e->place[l->parameter[i]] = pcsim_build_parameter(e->program, l->names->parameters[i], 1, 1);
}

static pcsim_status extract_rest(extraction *e) {
  for (int v = 0; v < e->l->program->num_nodes; v++) {
    const node *n = graph_node(e->l->program, v);
    if (!e->used[v] || n->kind == NODE_INPUT || n->kind == NODE_PARAMETER) continue;
    pcsim_value in[3];
    node copy = *n;
    copy.inputs = in;
    PCSIM_CHECK(n->num_inputs <= 3, PCSIM_ERR_INTERNAL, "a value with %d inputs", n->num_inputs);
    for (int i = 0; i < n->num_inputs; i++) in[i] = e->place[n->inputs[i]];
    e->place[v] = graph_append(e->program, &copy);
  }
  return pcsim_program_status(e->program);
}

pcsim_status lower_extract(lowering *l, const pcsim_value *outputs, int n, pcsim_program **program) {
  extraction e = {.l = l};
  size_t num_nodes = (size_t)l->program->num_nodes;
  pcsim_status status;
  PCSIM_GOTO(pcsim_program_create(&e.program), status, done);
  PCSIM_GOTO(pcsim_alloc(num_nodes, sizeof *e.used, &e.used), status, done);
  PCSIM_GOTO(pcsim_alloc(num_nodes, sizeof *e.place, &e.place), status, done);
  for (int i = 0; i < n; i++) e.used[outputs[i]] = true;
  for (int v = l->program->num_nodes - 1; v >= 0; v--)
    for (int i = 0; e.used[v] && i < graph_node(l->program, v)->num_inputs; i++)
      e.used[graph_node(l->program, v)->inputs[i]] = true;
  extract_inputs(&e);
  PCSIM_GOTO(extract_rest(&e), status, done);
  for (int i = 0; i < n; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    pcsim_build_output(e.program, name, e.place[outputs[i]]);
  }
  PCSIM_GOTO(pcsim_program_status(e.program), status, done);
  *program = e.program;
  e.program = NULL;
done:
  pcsim_program_destroy(&e.program);
  pcsim_free(&e.used);
  pcsim_free(&e.place);
  return status;
}
