/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_reverse.c  Cotangents: the values of the source are visited from last to first, each hands
 * its cotangent to its inputs by the transpose of its derivative. A cotangent has the shape of its value.
 *
 *  What a choice does not take has the cotangent 0, and must keep it: 0 times the infinite slope of a square
 * root at 0 is nan. So a cotangent is a number with a mask that says where it counts; products are taken of
 * the number, whatever comes out where it does not count, and the choice is made behind them, where values
 * are added up or handed out. */
#include "transform.h"

#include <stdio.h>

enum { NAME_ROOM = 512, LEVEL_MAX = 64 };

typedef struct {
  pcsim_value raw;  /**< PCSIM_NO_VALUE: zero */
  pcsim_value mask; /**< where it is 0, the cotangent is 0; one row or those of raw. PCSIM_NO_VALUE: none */
  bool loose;       /**< where the mask is 0, raw may be anything; else it is 0 there too */
  bool narrow;      /**< the mask does not go on where points or rows are mixed */
} cotangent;

typedef struct {
  pcsim_program *p;
  int count;      /**< values when the visit starts; those after it need no visit */
  bool *depends;  /**< [count] */
  cotangent *bar; /**< [count] */
} reverse;

static cotangent plain(pcsim_value raw) { return (cotangent){.raw = raw, .mask = PCSIM_NO_VALUE}; }

static pcsim_value choose(pcsim_program *p, pcsim_value c, pcsim_value a, pcsim_value b) {
  return pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){c, a, b}, 3);
}

/** `a` where the mask is not 0, else 0. */
static pcsim_value masked(pcsim_program *p, pcsim_value mask, pcsim_value a) {
  if (mask < 0 || a < 0) return a;
  const pcsim_value zero = pcsim_build_constant(p, 0);
  const node *n = &p->nodes[mask];
  if (n->kind == NODE_OP && n->op == PCSIM_OP_NOT) return choose(p, n->inputs[0], zero, a);
  return choose(p, mask, a, zero);
}

/** The same cotangent with a number that is right everywhere. */
static cotangent settled(pcsim_program *p, cotangent c) {
  if (c.loose) c.raw = masked(p, c.mask, c.raw);
  c.loose = false;
  return c;
}

static cotangent unmasked(pcsim_program *p, cotangent c) { return plain(settled(p, c).raw); }

/** 1 and 0, so that a sum says whether there is any. */
static pcsim_value indicator(pcsim_program *p, pcsim_value mask) {
  return choose(p, mask, pcsim_build_constant(p, 1), pcsim_build_constant(p, 0));
}

/** For what mixes the rows: a mask for all of them. */
static cotangent mixed(pcsim_program *p, cotangent c) {
  if (c.narrow) return unmasked(p, c);
  if (c.mask < 0 || p->nodes[c.mask].rows == 1) return c;
  c = settled(p, c);
  c.mask = pcsim_build_row_sum(p, indicator(p, c.mask));
  return c;
}

/** Sum of `c` over what `like` does not have: points, rows, columns; the rest is spread. */
static cotangent reduced(pcsim_program *p, cotangent c, pcsim_value like) {
  const node to = p->nodes[like], from = p->nodes[c.raw];
  const bool points = from.space != PCSIM_NO_SPACE && to.space == PCSIM_NO_SPACE;
  const bool rows = to.rows == 1 && from.rows > 1;
  if (from.columns > 1) c = unmasked(p, c);
  if (points || rows) c = settled(p, rows || c.narrow ? mixed(p, c) : c);
  if (points) {
    c.raw = pcsim_build_sum(p, c.raw);
    if (c.mask >= 0 && p->nodes[c.mask].space != PCSIM_NO_SPACE)
      c.mask = pcsim_build_sum(p, indicator(p, c.mask));
  }
  if (c.raw >= 0 && rows) c.raw = pcsim_build_row_sum(p, c.raw);
  if (c.raw >= 0 && to.columns == 1 && from.columns > 1)
    c.raw = pcsim_build_row_sum(p, graph_transpose(p, c.raw));
  c.raw = graph_as_shape(p, c.raw, to.space, to.rows, to.columns);
  return c;
}

static void give(reverse *r, pcsim_value to, cotangent c) {
  pcsim_program *p = r->p;
  if (c.raw < 0 || !r->depends[to]) return;
  c = reduced(p, c, to);
  cotangent *bar = &r->bar[to];
  if (bar->raw < 0) {
    *bar = c;
    return;
  }
  if (bar->mask != c.mask) {
    const bool both = bar->mask >= 0 && c.mask >= 0;
    const pcsim_value mask = both ? pcsim_build_binary(p, PCSIM_OP_OR, bar->mask, c.mask) : PCSIM_NO_VALUE;
    *bar = settled(p, *bar);
    c = settled(p, c);
    bar->mask = mask;
  }
  bar->narrow = bar->narrow || c.narrow;
  bar->raw = pcsim_build_binary(p, PCSIM_OP_ADD, bar->raw, c.raw);
  bar->loose = bar->loose || c.loose;
}

static void mark(reverse *r) {
  for (int v = 0; v < r->count; v++) {
    const node *n = &r->p->nodes[v];
    if (n->kind == NODE_FROZEN || (n->kind == NODE_TABLE && n->first)) continue;
    const int last = n->kind == NODE_SEGMENT_PICK || n->kind == NODE_SEGMENT_PUT ? 1 : n->num_inputs;
    for (int i = 0; i < last; i++) r->depends[v] = r->depends[v] || r->depends[n->inputs[i]];
  }
}

/* ---------------------------------------------------------------- operators */

/** The cotangent `bar` of a branch that is taken where `chosen` is not 0. */
static cotangent branch(pcsim_program *p, pcsim_value chosen, cotangent bar, bool narrow) {
  if (bar.mask >= 0) chosen = pcsim_build_binary(p, PCSIM_OP_AND, bar.mask, chosen);
  return (cotangent){bar.raw, chosen, true, narrow || bar.narrow};
}

static void give_chosen(reverse *r, pcsim_value chosen, pcsim_value a, pcsim_value b, cotangent bar,
                        bool narrow) {
  if (r->depends[a]) give(r, a, branch(r->p, chosen, bar, narrow));
  if (!r->depends[b]) return;
  give(r, b, branch(r->p, pcsim_build_unary(r->p, PCSIM_OP_NOT, chosen), bar, narrow));
}

/** Limiters and rectifiers choose at every point: their mask ends at the next map or sum, where it would cost
 * a pass of its own, and with several rows (a layer's) at once. */
static void give_extremum(reverse *r, const node *n, cotangent bar) {
  pcsim_program *p = r->p;
  const bool min = n->op == PCSIM_OP_MIN;
  const pcsim_value a = n->inputs[0], b = n->inputs[1], zero = pcsim_build_constant(p, 0);
  const pcsim_value chosen = pcsim_build_binary(p, PCSIM_OP_LE, min ? a : b, min ? b : a);
  if (n->rows == 1) {
    give_chosen(r, chosen, a, b, bar, true);
    return;
  }
  bar = settled(p, bar);
  const pcsim_value raw = bar.raw;
  bar.raw = r->depends[a] ? choose(p, chosen, raw, zero) : PCSIM_NO_VALUE;
  give(r, a, bar);
  bar.raw = r->depends[b] ? choose(p, chosen, zero, raw) : PCSIM_NO_VALUE;
  give(r, b, bar);
}

/** g times a cotangent. */
static cotangent product(pcsim_program *p, pcsim_value g, cotangent bar) {
  bar.raw = pcsim_build_binary(p, PCSIM_OP_MUL, g, bar.raw);
  bar.loose = bar.mask >= 0 && (bar.loose || (g >= 0 && p->nodes[g].kind != NODE_CONSTANT));
  return bar;
}

static void visit_op(reverse *r, const node *n, pcsim_value v, cotangent bar) {
  pcsim_program *p = r->p;
  const pcsim_value *in = n->inputs;
  switch (n->op) {
  case PCSIM_OP_WHERE:
    give_chosen(r, in[0], in[1], in[2], bar, false);
    return;
  case PCSIM_OP_MIN:
  case PCSIM_OP_MAX:
    give_extremum(r, n, bar);
    return;
  case PCSIM_OP_DIV: {
    const pcsim_value c = pcsim_build_binary(p, PCSIM_OP_DIV, bar.raw, in[1]);
    bar.loose = bar.mask >= 0;
    bar.raw = c;
    give(r, in[0], bar);
    if (!r->depends[in[1]]) return;
    bar.raw = pcsim_build_unary(p, PCSIM_OP_NEG, pcsim_build_binary(p, PCSIM_OP_MUL, c, v));
    give(r, in[1], bar);
    return;
  }
  default:
    break;
  }
  for (int i = 0; i < n->num_inputs; i++) {
    if (!r->depends[in[i]]) continue;
    const pcsim_value g = op_derivative(p, n->op, i, in, v);
    if (g >= 0) give(r, in[i], product(p, g, bar));
  }
}

static void visit_user(reverse *r, const node *n, pcsim_value v, cotangent bar) {
  const pcsim_user_op user = r->p->user_ops[n->index];
  if (!user.derivative) {
    graph_fault(r->p, PCSIM_ERR_ARG, "the operator '%s' has no derivative rule", user.name);
    return;
  }
  for (int i = 0; i < n->num_inputs; i++) {
    if (!r->depends[n->inputs[i]]) continue;
    const pcsim_value g = user.derivative(user.context, r->p, i, n->inputs, v);
    if (g >= 0) give(r, n->inputs[i], product(r->p, g, bar));
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

/** A mask follows rows; one for all of them stays. */
static pcsim_value mask_rows(pcsim_program *p, pcsim_value mask, int first, int rows) {
  return mask < 0 || p->nodes[mask].rows == 1 ? mask : pcsim_build_slice(p, mask, first, rows);
}

static void visit_concat(reverse *r, const node *n, cotangent bar) {
  int first = 0;
  for (int i = 0; i < n->num_inputs; i++) {
    const int rows = r->p->nodes[n->inputs[i]].rows;
    cotangent c = bar;
    c.raw = r->depends[n->inputs[i]] ? pcsim_build_slice(r->p, bar.raw, first, rows) : PCSIM_NO_VALUE;
    if (c.raw >= 0) c.mask = mask_rows(r->p, bar.mask, first, rows);
    give(r, n->inputs[i], c);
    first += rows;
  }
}

static void visit_slice(reverse *r, const node *n, cotangent bar) {
  if (n->columns > 1) bar = unmasked(r->p, bar);
  bar.raw = padded(r->p, n, bar.raw);
  if (bar.mask >= 0 && r->p->nodes[bar.mask].rows > 1) bar.mask = padded(r->p, n, bar.mask);
  give(r, n->inputs[0], bar);
}

/** W x, W^T x and y x^T: each is the others' cotangent. In a sum over points the other factor is masked as
 * well: it may be infinite where it does not count. */
static void visit_product(reverse *r, const node *n, cotangent bar) {
  pcsim_program *p = r->p;
  const pcsim_value a = n->inputs[0], b = n->inputs[1];
  const bool first = r->depends[a], second = r->depends[b];
  if (n->kind == NODE_OUTER) {
    const pcsim_value c = unmasked(p, bar).raw;
    if (first) give(r, a, plain(pcsim_build_dense(p, c, b, PCSIM_NO_VALUE)));
    if (second) give(r, b, plain(pcsim_build_dense_transposed(p, c, a)));
    return;
  }
  const bool transposed = n->kind == NODE_DENSE_TRANSPOSED;
  if (n->num_inputs > 2) give(r, n->inputs[2], bar);
  bar = mixed(p, bar);
  if (second) {
    cotangent c = bar;
    c.raw = transposed ? pcsim_build_dense(p, a, bar.raw, PCSIM_NO_VALUE)
                       : pcsim_build_dense_transposed(p, a, bar.raw);
    give(r, b, c);
  }
  if (!first) return;
  const pcsim_value c = settled(p, bar).raw, x = masked(p, bar.mask, b);
  give(r, a, plain(transposed ? pcsim_build_outer(p, x, c) : pcsim_build_outer(p, c, x)));
}

static void visit_row_sum(reverse *r, const node *n, cotangent bar) {
  const node from = r->p->nodes[n->inputs[0]];
  if (from.columns > 1) {
    const pcsim_value ones = graph_broadcast(r->p, pcsim_build_constant(r->p, 1), PCSIM_NO_SPACE, from.rows);
    bar = unmasked(r->p, bar);
    bar.raw = pcsim_build_outer(r->p, ones, graph_transpose(r->p, bar.raw));
  }
  give(r, n->inputs[0], bar);
}

/** From one point to several and back; a mask goes along, but not through weights, which may cancel. */
static void visit_map(reverse *r, const node *n, cotangent bar) {
  pcsim_program *p = r->p;
  const pcsim_value a = n->inputs[0];
  if (bar.narrow) bar = unmasked(p, bar);
  const bool everywhere = bar.mask < 0 || p->nodes[bar.mask].space == PCSIM_NO_SPACE;
  switch (n->kind) {
  case NODE_GATHER:
    bar = settled(p, bar);
    bar.raw = pcsim_build_scatter_add(p, n->index, bar.raw);
    if (!everywhere) bar.mask = pcsim_build_scatter_add(p, n->index, indicator(p, bar.mask));
    break;
  case NODE_SCATTER_ADD:
    bar.raw = pcsim_build_gather(p, n->index, bar.raw);
    if (!everywhere) bar.mask = pcsim_build_gather(p, n->index, bar.mask);
    break;
  case NODE_SPARSE:
    bar = plain(pcsim_build_sparse_transposed(p, n->index, unmasked(p, bar).raw));
    break;
  case NODE_SPARSE_TRANSPOSED:
    bar = plain(pcsim_build_sparse(p, n->index, unmasked(p, bar).raw));
    break;
  case NODE_SEGMENT_MIN:
  case NODE_SEGMENT_MAX:
    bar = plain(graph_segment_put(p, n->index, unmasked(p, bar).raw, a, n->kind == NODE_SEGMENT_MAX));
    break;
  case NODE_SEGMENT_PICK:
    bar = plain(graph_segment_put(p, n->index, unmasked(p, bar).raw, n->inputs[1], n->first));
    break;
  default:
    bar = plain(graph_segment_pick(p, n->index, unmasked(p, bar).raw, n->inputs[1], n->first));
    break;
  }
  give(r, a, bar);
}

static void visit(reverse *r, pcsim_value v) {
  pcsim_program *p = r->p;
  const cotangent bar = r->bar[v];
  const node n = p->nodes[v]; /* its lists stay where they are while values are appended */
  switch (n.kind) {
  case NODE_OP:
    visit_op(r, &n, v, bar);
    return;
  case NODE_USER:
    visit_user(r, &n, v, bar);
    return;
  case NODE_TABLE:
    give(r, n.inputs[1], product(p, graph_table(p, n.inputs[0], n.inputs[1], true), bar));
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
    visit_slice(r, &n, bar);
    return;
  case NODE_SUM:
  case NODE_BROADCAST:
    give(r, n.inputs[0], bar);
    return;
  case NODE_ROW_SUM:
    visit_row_sum(r, &n, bar);
    return;
  case NODE_TRANSPOSE:
    give(r, n.inputs[0], plain(graph_transpose(p, unmasked(p, bar).raw)));
    return;
  case NODE_GATHER:
  case NODE_SCATTER_ADD:
  case NODE_SPARSE:
  case NODE_SPARSE_TRANSPOSED:
  case NODE_SEGMENT_MIN:
  case NODE_SEGMENT_MAX:
  case NODE_SEGMENT_PICK:
  case NODE_SEGMENT_PUT:
    visit_map(r, &n, bar);
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
  for (int v = 0; v < r->count; v++) r->bar[v] = plain(PCSIM_NO_VALUE);
  for (int i = 0; i < t->num_wrt; i++) r->depends[t->wrt[i]] = true;
  mark(r);
  for (int i = 0; i < num_outputs; i++) {
    const node n = p->nodes[p->outputs[i].value];
    cotangent_name(text, level, p->outputs[i].name);
    give(r, p->outputs[i].value, plain(graph_input(p, text, n.space, n.rows, n.columns)));
  }
  for (int v = r->count - 1; v >= 0 && p->status == PCSIM_OK; v--)
    if (r->depends[v] && r->bar[v].raw >= 0) visit(r, v);
  for (int i = 0; i < t->num_wrt; i++) {
    const node n = p->nodes[t->wrt[i]];
    pcsim_value bar = unmasked(p, r->bar[t->wrt[i]]).raw;
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
