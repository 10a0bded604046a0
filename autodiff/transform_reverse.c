/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_reverse.c  Cotangents: the values of the source are visited from last to first, each hands
 * its cotangent to its inputs by the transpose of its derivative. A cotangent has the shape of its value. */
#include "transform.h"

#include <stdio.h>

enum { NAME_ROOM = 512, LEVEL_MAX = 64 };

typedef struct {
  pcsim_program *p;
  int count;        /**< values when the visit starts; those after it need no visit */
  bool *depends;    /**< [count] */
  pcsim_value *bar; /**< [count] cotangent, PCSIM_NO_VALUE: zero */
} reverse;

/** Sum of `c` over what `like` does not have: points, rows, columns; the rest is spread. */
static pcsim_value reduced(pcsim_program *p, pcsim_value c, pcsim_value like) {
  const node to = p->nodes[like];
  if (p->nodes[c].space != PCSIM_NO_SPACE && to.space == PCSIM_NO_SPACE) c = pcsim_build_sum(p, c);
  if (c >= 0 && to.rows == 1 && p->nodes[c].rows > 1) c = pcsim_build_row_sum(p, c);
  if (c >= 0 && to.columns == 1 && p->nodes[c].columns > 1) c = pcsim_build_row_sum(p, graph_transpose(p, c));
  return graph_as_shape(p, c, to.space, to.rows, to.columns);
}

static void give(reverse *r, pcsim_value to, pcsim_value c) {
  if (c < 0 || !r->depends[to]) return;
  c = reduced(r->p, c, to);
  r->bar[to] = r->bar[to] < 0 ? c : pcsim_build_binary(r->p, PCSIM_OP_ADD, r->bar[to], c);
}

static void mark(reverse *r) {
  for (int v = 0; v < r->count; v++) {
    const node *n = &r->p->nodes[v];
    if (n->kind == NODE_FROZEN) continue;
    const int last = n->kind == NODE_SEGMENT_PICK || n->kind == NODE_SEGMENT_PUT ? 1 : n->num_inputs;
    for (int i = 0; i < last; i++) r->depends[v] = r->depends[v] || r->depends[n->inputs[i]];
  }
}

/* ---------------------------------------------------------------- operators */

static pcsim_value choose(pcsim_program *p, pcsim_value c, pcsim_value a, pcsim_value b) {
  return pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){c, a, b}, 3);
}

/** A choice, not a product with 0 and 1: cotangents may be infinite. */
static void give_chosen(reverse *r, pcsim_value chosen, pcsim_value a, pcsim_value b, pcsim_value bar) {
  const pcsim_value zero = pcsim_build_constant(r->p, 0);
  if (r->depends[a]) give(r, a, choose(r->p, chosen, bar, zero));
  if (r->depends[b]) give(r, b, choose(r->p, chosen, zero, bar));
}

static void visit_op(reverse *r, const node *n, pcsim_value v, pcsim_value bar) {
  pcsim_program *p = r->p;
  const pcsim_value *in = n->inputs;
  switch (n->op) {
  case PCSIM_OP_WHERE:
    give_chosen(r, in[0], in[1], in[2], bar);
    return;
  case PCSIM_OP_MIN:
    give_chosen(r, pcsim_build_binary(p, PCSIM_OP_LE, in[0], in[1]), in[0], in[1], bar);
    return;
  case PCSIM_OP_MAX:
    give_chosen(r, pcsim_build_binary(p, PCSIM_OP_LE, in[1], in[0]), in[0], in[1], bar);
    return;
  case PCSIM_OP_DIV: {
    const pcsim_value c = pcsim_build_binary(p, PCSIM_OP_DIV, bar, in[1]);
    give(r, in[0], c);
    if (r->depends[in[1]])
      give(r, in[1], pcsim_build_unary(p, PCSIM_OP_NEG, pcsim_build_binary(p, PCSIM_OP_MUL, c, v)));
    return;
  }
  default:
    break;
  }
  for (int i = 0; i < n->num_inputs; i++) {
    if (!r->depends[in[i]]) continue;
    const pcsim_value g = op_derivative(p, n->op, i, in, v);
    if (g >= 0) give(r, in[i], pcsim_build_binary(p, PCSIM_OP_MUL, g, bar));
  }
}

static void visit_user(reverse *r, const node *n, pcsim_value v, pcsim_value bar) {
  const pcsim_user_op user = r->p->user_ops[n->index];
  if (!user.derivative) {
    graph_fault(r->p, PCSIM_ERR_ARG, "the operator '%s' has no derivative rule", user.name);
    return;
  }
  for (int i = 0; i < n->num_inputs; i++) {
    if (!r->depends[n->inputs[i]]) continue;
    const pcsim_value g = user.derivative(user.context, r->p, i, n->inputs, v);
    if (g >= 0) give(r, n->inputs[i], pcsim_build_binary(r->p, PCSIM_OP_MUL, g, bar));
  }
}

/* ------------------------------------------------------------- other values */

/** The rows of a slice put back among zeros. */
static pcsim_value padded(pcsim_program *p, const node *n, pcsim_value bar) {
  const node a = p->nodes[n->inputs[0]];
  if (a.columns > 1) {
    /* Rows of a matrix: the product with the columns of the unit matrix they come from. */
    pcsim_value sum = PCSIM_NO_VALUE;
    for (int row = 0; row < n->rows; row++) {
      double *unit = NULL;
      if (pcsim_alloc((size_t)a.rows, sizeof *unit, &unit) != PCSIM_OK)
        return graph_fault(p, PCSIM_ERR_MEMORY, "out of memory for %d rows", a.rows);
      unit[n->first + row] = 1;
      const pcsim_value e = pcsim_build_constants(p, a.rows, unit);
      pcsim_free(&unit);
      const pcsim_value line = graph_transpose(p, pcsim_build_slice(p, bar, row, 1));
      const pcsim_value term = pcsim_build_outer(p, e, line);
      sum = sum < 0 ? term : pcsim_build_binary(p, PCSIM_OP_ADD, sum, term);
    }
    return sum;
  }
  pcsim_value pieces[3];
  int count = 0;
  const pcsim_value zero = pcsim_build_constant(p, 0);
  const int after = a.rows - n->first - n->rows;
  if (n->first) pieces[count++] = graph_broadcast(p, zero, PCSIM_NO_SPACE, n->first);
  pieces[count++] = bar;
  if (after) pieces[count++] = graph_broadcast(p, zero, PCSIM_NO_SPACE, after);
  return pcsim_build_concat(p, pieces, count);
}

static void visit_concat(reverse *r, const node *n, pcsim_value bar) {
  int first = 0;
  for (int i = 0; i < n->num_inputs; i++) {
    const int rows = r->p->nodes[n->inputs[i]].rows;
    if (r->depends[n->inputs[i]]) give(r, n->inputs[i], pcsim_build_slice(r->p, bar, first, rows));
    first += rows;
  }
}

/** W x, W^T x and y x^T: each is the others' cotangent. */
static void visit_product(reverse *r, const node *n, pcsim_value bar) {
  pcsim_program *p = r->p;
  const pcsim_value a = n->inputs[0], b = n->inputs[1];
  const bool first = r->depends[a], second = r->depends[b];
  switch (n->kind) {
  case NODE_DENSE:
    if (second) give(r, b, pcsim_build_dense_transposed(p, a, bar));
    if (first) give(r, a, pcsim_build_outer(p, bar, b));
    if (n->num_inputs > 2) give(r, n->inputs[2], bar);
    return;
  case NODE_DENSE_TRANSPOSED:
    if (second) give(r, b, pcsim_build_dense(p, a, bar, PCSIM_NO_VALUE));
    if (first) give(r, a, pcsim_build_outer(p, b, bar));
    return;
  default:
    if (first) give(r, a, pcsim_build_dense(p, bar, b, PCSIM_NO_VALUE));
    if (second) give(r, b, pcsim_build_dense_transposed(p, bar, a));
    return;
  }
}

static void visit(reverse *r, pcsim_value v, pcsim_value bar) {
  pcsim_program *p = r->p;
  const node n = p->nodes[v]; /* its lists stay where they are while values are appended */
  const pcsim_value a = n.num_inputs ? n.inputs[0] : PCSIM_NO_VALUE;
  switch (n.kind) {
  case NODE_OP:
    visit_op(r, &n, v, bar);
    return;
  case NODE_USER:
    visit_user(r, &n, v, bar);
    return;
  case NODE_DENSE:
  case NODE_DENSE_TRANSPOSED:
  case NODE_OUTER:
    visit_product(r, &n, bar);
    return;
  case NODE_CONCAT:
    visit_concat(r, &n, bar);
    return;
  case NODE_SLICE:
    give(r, a, padded(p, &n, bar));
    return;
  case NODE_SUM:
  case NODE_BROADCAST:
    give(r, a, bar);
    return;
  case NODE_ROW_SUM: {
    const node from = p->nodes[a];
    if (from.columns == 1) {
      give(r, a, bar);
      return;
    }
    const pcsim_value ones = graph_broadcast(p, pcsim_build_constant(p, 1), PCSIM_NO_SPACE, from.rows);
    give(r, a, pcsim_build_outer(p, ones, graph_transpose(p, bar)));
    return;
  }
  case NODE_TRANSPOSE:
    give(r, a, graph_transpose(p, bar));
    return;
  case NODE_GATHER:
    give(r, a, pcsim_build_scatter_add(p, n.index, bar));
    return;
  case NODE_SCATTER_ADD:
    give(r, a, pcsim_build_gather(p, n.index, bar));
    return;
  case NODE_SPARSE:
    give(r, a, pcsim_build_sparse_transposed(p, n.index, bar));
    return;
  case NODE_SPARSE_TRANSPOSED:
    give(r, a, pcsim_build_sparse(p, n.index, bar));
    return;
  case NODE_SEGMENT_MIN:
    give(r, a, graph_segment_put(p, n.index, bar, a, false));
    return;
  case NODE_SEGMENT_MAX:
    give(r, a, graph_segment_put(p, n.index, bar, a, true));
    return;
  case NODE_SEGMENT_PICK:
    give(r, a, graph_segment_put(p, n.index, bar, n.inputs[1], n.first));
    return;
  case NODE_SEGMENT_PUT:
    give(r, a, graph_segment_pick(p, n.index, bar, n.inputs[1], n.first));
    return;
  case NODE_CONSTANT:
  case NODE_INPUT:
  case NODE_PARAMETER:
  case NODE_FROZEN:
  case NUM_NODE_KINDS:
    return;
  }
}

/* --------------------------------------------------------------------- all */

static void cotangent_name(char *text, int level, const char *name) {
  if (level == 1) snprintf(text, NAME_ROOM, "b_%s", name);
  else snprintf(text, NAME_ROOM, "b%d_%s", level, name);
}

static int cotangent_level(const pcsim_program *program, const char *const *wrt, int n) {
  char text[NAME_ROOM];
  int level = 1;
  for (bool taken = true; taken && level < LEVEL_MAX; level += taken) {
    taken = false;
    for (int i = 0; i < n; i++) {
      cotangent_name(text, level, wrt[i]);
      taken = taken || transform_taken(program, text);
    }
    for (int i = 0; i < program->num_outputs; i++) {
      cotangent_name(text, level, program->outputs[i].name);
      taken = taken || transform_taken(program, text);
    }
  }
  return level;
}

static pcsim_status cotangents(transform *t, const char *const *wrt, int level, reverse *r) {
  char text[NAME_ROOM];
  pcsim_program *p = t->p;
  const int num_outputs = p->num_outputs;
  *r = (reverse){.p = p, .count = p->num_nodes};
  PCSIM_TRY(pcsim_alloc((size_t)r->count, sizeof *r->depends, &r->depends));
  PCSIM_TRY(pcsim_alloc((size_t)r->count, sizeof *r->bar, &r->bar));
  for (int v = 0; v < r->count; v++) r->bar[v] = PCSIM_NO_VALUE;
  for (int i = 0; i < t->num_wrt; i++) r->depends[t->wrt[i]] = true;
  mark(r);
  for (int i = 0; i < num_outputs; i++) {
    const node n = p->nodes[p->outputs[i].value];
    cotangent_name(text, level, p->outputs[i].name);
    give(r, p->outputs[i].value, graph_input(p, text, n.space, n.rows, n.columns));
  }
  for (int v = r->count - 1; v >= 0 && p->status == PCSIM_OK; v--)
    if (r->depends[v] && r->bar[v] >= 0) visit(r, v, r->bar[v]);
  for (int i = 0; i < t->num_wrt; i++) {
    const node n = p->nodes[t->wrt[i]];
    pcsim_value bar = r->bar[t->wrt[i]];
    if (bar < 0) bar = pcsim_build_constant(p, 0);
    cotangent_name(text, level, wrt[i]);
    pcsim_build_output(p, text, graph_as_shape(p, bar, n.space, n.rows, n.columns));
  }
  return pcsim_program_status(p);
}

pcsim_status pcsim_transform_vjp(const pcsim_program *program, const char *const *wrt, int n,
                                 pcsim_program **out) {
  transform t;
  reverse r = {0};
  PCSIM_TRY(transform_begin(program, wrt, n, &t));
  pcsim_status status = cotangents(&t, wrt, cotangent_level(program, wrt, n), &r);
  pcsim_free(&r.depends);
  pcsim_free(&r.bar);
  return transform_end(&t, status, out);
}
