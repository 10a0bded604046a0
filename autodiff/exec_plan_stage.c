/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_plan_stage.c  Instructions of one pass over the points.
 *
 *  The values of a pass are put into phases: elementwise values with the same rows that follow each other
 *  share one, everything else opens a new one. Dense products of one weight in the same phase become one
 *  product with more columns (the channels of a jet), elementwise values one strip-wise group. */
#include "exec_code.h"
#include "exec_plan.h"

#include <stdlib.h>

/** A place in a buffer, until buffers have places. */
typedef struct {
  int buffer, row;
} reference;

typedef struct {
  int phase, kind; /**< order of execution; kind: rows of elementwise values, negative for others */
  pcsim_value node;
} item;

/** Column or row that a group has expanded to a strip. */
typedef struct {
  pcsim_value value;
  int strip;
} expanded;

/** Kernel and inputs of an elementwise value. */
typedef struct {
  int op;
  pcsim_value in[KERNEL_INPUTS];
} composed;

#define NO_OPERAND                                                                                           \
  { AT_TILE, -1 }

typedef struct {
  plan *p;
  const pcsim_program *g;
  stage *s;
  int level;
  item *items;
  int num_items;
  composed *composed; /**< [nodes] of the group being made */
  int *phase, *group; /**< [nodes]; group -1: not computed in this stage */
  bool *outside;      /**< read outside its group */
  bool *folded;       /**< product that a sum takes in */
  int *buffer;        /**< [nodes] tile buffer of a root, -1 */
  int *strip;         /**< [nodes] strip of a value within its group */
  tile_buffer *buffers;
  int num_buffers;
  reference *references;
  int num_references, first_open; /**< references of the instruction being made */
  expanded *expansions;
  int num_expansions;
  tile_buffer *strips; /**< strips of the group being made; one row each, steps are micro steps */
  int num_strips;
  bool deferred; /**< stores wait for the end of a run */
} builder;

/** Grow an array so that it holds one more; capacities are powers of two. */
static pcsim_status room(int count, size_t size, void *ptr) {
  if (count & (count - 1)) return PCSIM_OK;
  return pcsim_realloc(count ? 2 * (size_t)count : 1, size, ptr);
}

static bool is_elementwise(const node *n) { return n->kind == NODE_OP || n->kind == NODE_BROADCAST; }

static bool in_stage(const builder *b, pcsim_value root) {
  const node *n = &b->g->nodes[root];
  return n->space == b->s->space && n->kind != NODE_INPUT && b->p->added_to[root] < 0 &&
         b->p->level[root] == b->level;
}

/* ----------------------------------------------------------------- references */

static pcsim_status new_buffer(builder *b, int rows, int *number) {
  PCSIM_TRY(room(b->num_buffers, sizeof *b->buffers, &b->buffers));
  *number = b->num_buffers++;
  b->buffers[*number] = (tile_buffer){.rows = rows, .from = -1, .to = -1};
  return PCSIM_OK;
}

static pcsim_status refer(builder *b, int buffer, int row, int *number) {
  PCSIM_TRY(room(b->num_references, sizeof *b->references, &b->references));
  b->references[b->num_references] = (reference){buffer, row};
  *number = b->num_references++;
  return PCSIM_OK;
}

static pcsim_status add_list(plan *p, int entry) {
  PCSIM_TRY(room(p->num_list, sizeof *p->list, &p->list));
  p->list[p->num_list++] = entry;
  return PCSIM_OK;
}

/** Append an instruction; the buffers referred to since `first` live at least until it. */
static pcsim_status append(builder *b, instruction step, int first) {
  plan *p = b->p;
  PCSIM_TRY(room(p->num_instructions, sizeof *p->instructions, &p->instructions));
  const int at = b->s->count++;
  for (int i = first; i < b->num_references; i++) {
    tile_buffer *t = &b->buffers[b->references[i].buffer];
    if (t->from < 0) t->from = at;
    if (t->to < at) t->to = at;
  }
  p->instructions[p->num_instructions++] = step;
  return PCSIM_OK;
}

/** Make sure that the root of v is in the tile: computed, or loaded or filled now. `loads` first, so that the
 *  references of the instruction being made stay together: called before any of them is made. */
static pcsim_status bring(builder *b, pcsim_value v) {
  const pcsim_value root = b->p->root[v];
  const node *n = &b->g->nodes[root];
  if (b->buffer[root] >= 0 || (in_stage(b, root) && b->group[root] >= 0)) return PCSIM_OK;
  PCSIM_TRY(new_buffer(b, n->rows, &b->buffer[root]));
  const int first = b->num_references;
  int out = -1;
  PCSIM_TRY(refer(b, b->buffer[root], 0, &out));
  return append(b,
                (instruction){.kind = n->space == PCSIM_NO_SPACE ? DO_FILL : DO_LOAD,
                              .node = root,
                              .rows = n->rows,
                              .out = out,
                              .a = root},
                first);
}

/** Reference to the rows of v in the tile. */
static pcsim_status refer_value(builder *b, pcsim_value v, int *number) {
  const pcsim_value root = b->p->root[v];
  return refer(b, b->buffer[root], b->p->root_row[v], number);
}

static pcsim_status define(builder *b, pcsim_value v, int *out) {
  PCSIM_TRY(new_buffer(b, b->g->nodes[v].rows, &b->buffer[v]));
  return refer(b, b->buffer[v], 0, out);
}

/* --------------------------------------------------------------------- stores */

/** Instructions that carry v, just computed, to its store and to outputs. */
static pcsim_status store_value(builder *b, pcsim_value v) {
  const plan *p = b->p;
  const pcsim_program *g = b->g;
  if (b->deferred) return PCSIM_OK;
  for (int i = -1; i < g->num_outputs; i++) {
    const pcsim_value out = i < 0 ? v : g->outputs[i].value;
    if (i < 0 ? p->stored[v] < 0 : p->root[out] != v) continue;
    const int first = b->num_references;
    int at = -1;
    PCSIM_TRY(refer_value(b, out, &at));
    PCSIM_TRY(append(b,
                     (instruction){.kind = DO_STORE,
                                   .node = out,
                                   .rows = g->nodes[out].rows,
                                   .a = at,
                                   .b = i < 0 ? p->stored[v] : -1 - i},
                     first));
  }
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- elementwise */

static pcsim_status find_splat(plan *p, pcsim_value v, int *number) {
  for (*number = 0; *number < p->num_splats; ++*number)
    if (p->splats[*number] == v) return PCSIM_OK;
  PCSIM_TRY(room(p->num_splats, sizeof *p->splats, &p->splats));
  p->splats[p->num_splats++] = v;
  return PCSIM_OK;
}

static pcsim_status add_micro(builder *b, micro m) {
  plan *p = b->p;
  PCSIM_TRY(room(p->num_micros, sizeof *p->micros, &p->micros));
  p->micros[p->num_micros++] = m;
  return PCSIM_OK;
}

static pcsim_status new_strip(builder *b, int *number) {
  PCSIM_TRY(room(b->num_strips, sizeof *b->strips, &b->strips));
  *number = b->num_strips++;
  b->strips[*number] = (tile_buffer){.rows = 1, .from = -1, .to = -1};
  return PCSIM_OK;
}

/** Strip with one row repeated, or with the numbers of a column. */
static pcsim_status expand(builder *b, pcsim_value v, operand *at) {
  const bool column = b->g->nodes[v].space == PCSIM_NO_SPACE;
  for (int i = 0; i < b->num_expansions; i++)
    if (b->expansions[i].value == v) {
      *at = (operand){AT_STRIP, b->expansions[i].strip};
      return PCSIM_OK;
    }
  PCSIM_TRY(room(b->num_expansions, sizeof *b->expansions, &b->expansions));
  micro m = {.op = column ? MICRO_EXPAND_COLUMN : MICRO_EXPAND_ROW,
             .node = v,
             .in = {NO_OPERAND, NO_OPERAND, NO_OPERAND, NO_OPERAND}};
  int strip = -1;
  PCSIM_TRY(new_strip(b, &strip));
  m.out = *at = (operand){AT_STRIP, strip};
  if (!column) PCSIM_TRY(refer_value(b, v, &m.in[0].index));
  b->expansions[b->num_expansions++] = (expanded){v, strip};
  return add_micro(b, m);
}

static pcsim_status find_operand(builder *b, pcsim_value v, int rows, int group, operand *at) {
  const node *n = &b->g->nodes[v];
  const pcsim_value root = b->p->root[v];
  if (n->space == PCSIM_NO_SPACE && n->rows * n->columns == 1) {
    at->kind = AT_SPLAT;
    return find_splat(b->p, v, &at->index);
  }
  if (n->space == PCSIM_NO_SPACE || n->rows != rows) return expand(b, v, at);
  if (b->group[root] == group && !b->outside[root]) {
    *at = (operand){AT_STRIP, b->strip[root]};
    return PCSIM_OK;
  }
  at->kind = AT_TILE;
  return refer_value(b, v, &at->index);
}

/** A product within the group that only v reads, and reads once, can be taken in by it. */
static bool can_fold(const builder *b, pcsim_value v, pcsim_value in) {
  const node *n = &b->g->nodes[in];
  return n->kind == NODE_OP && n->op == PCSIM_OP_MUL && b->group[in] == b->group[v] && !b->outside[in] &&
         !b->folded[in] && b->p->uses[in] == 1 && n->rows == b->g->nodes[v].rows;
}

/** Factors of the product v: two, or three when one of them is itself a product that can be taken in. */
static int find_factors(const builder *b, pcsim_value v, pcsim_value factors[3], pcsim_value *inner) {
  const pcsim_value *in = b->g->nodes[v].inputs;
  *inner = can_fold(b, v, in[0]) ? in[0] : can_fold(b, v, in[1]) ? in[1] : PCSIM_NO_VALUE;
  if (*inner < 0) {
    factors[0] = in[0];
    factors[1] = in[1];
    return 2;
  }
  factors[0] = b->g->nodes[*inner].inputs[0];
  factors[1] = b->g->nodes[*inner].inputs[1];
  factors[2] = *inner == in[0] ? in[1] : in[0];
  return 3;
}

/** Kernel and inputs of a sum or difference that takes in products. */
static int compose_sum(const builder *b, const node *n, pcsim_value v, pcsim_value in[KERNEL_INPUTS]) {
  const bool subtract = n->op == PCSIM_OP_SUB;
  const pcsim_value *of = n->inputs;
  pcsim_value factors[2][3], inner[2] = {PCSIM_NO_VALUE, PCSIM_NO_VALUE};
  int counts[2] = {0, 0};
  for (int i = 0; i < 2; i++)
    if (can_fold(b, v, of[i])) counts[i] = find_factors(b, of[i], factors[i], &inner[i]);
  if (!counts[0] && !counts[1]) return n->op;
  if (counts[0] == 2 && counts[1] == 2) {
    for (int i = 0; i < 4; i++) in[i] = factors[i / 2][i % 2];
    b->folded[of[0]] = b->folded[of[1]] = true;
    return subtract ? KERNEL_MULSUB : KERNEL_MULADD;
  }
  const int which = counts[1] > counts[0], count = counts[which];
  for (int i = 0; i < count; i++) in[i] = factors[which][i];
  in[count] = of[1 - which];
  b->folded[of[which]] = true;
  if (inner[which] >= 0) b->folded[inner[which]] = true;
  if (count == 2) return !subtract ? KERNEL_FMA : which ? KERNEL_FNMA : KERNEL_FMS;
  return !subtract ? KERNEL_FMA3 : which ? KERNEL_FNMA3 : KERNEL_FMS3;
}

/** Kernel and inputs of an elementwise value; from the last value of a group to the first, so that users come
 *  before what they take in. */
static int compose(const builder *b, pcsim_value v, pcsim_value in[KERNEL_INPUTS]) {
  const node *n = &b->g->nodes[v];
  for (int i = 0; i < KERNEL_INPUTS; i++) in[i] = i < n->num_inputs ? n->inputs[i] : PCSIM_NO_VALUE;
  if (n->kind == NODE_BROADCAST) return KERNEL_COPY;
  if (n->op == PCSIM_OP_ADD || n->op == PCSIM_OP_SUB) return compose_sum(b, n, v, in);
  if (n->op != PCSIM_OP_MUL) return n->op;
  pcsim_value inner;
  if (find_factors(b, v, in, &inner) == 2) return n->op;
  b->folded[inner] = true;
  return KERNEL_MUL3;
}

/** Strip buffers by liveness: a strip is free after the last step that reads it. */
static pcsim_status place_strips(builder *b, int first) {
  plan *p = b->p;
  const int n = p->num_micros - first;
  for (int i = 0; i < n; i++) {
    const micro *m = &p->micros[first + i];
    for (int j = -1; j < KERNEL_INPUTS; j++) {
      const operand *o = j < 0 ? &m->out : &m->in[j];
      if (o->kind != AT_STRIP || o->index < 0) continue;
      if (b->strips[o->index].from < 0) b->strips[o->index].from = i;
      b->strips[o->index].to = i;
    }
  }
  int rows;
  PCSIM_TRY(plan_place(b->strips, b->num_strips, n, &rows));
  if (rows > b->s->strips) b->s->strips = rows;
  for (int i = 0; i < n; i++) {
    micro *m = &p->micros[first + i];
    if (m->out.kind == AT_STRIP) m->out.index = b->strips[m->out.index].place;
    for (int j = 0; j < KERNEL_INPUTS; j++)
      if (m->in[j].kind == AT_STRIP && m->in[j].index >= 0) m->in[j].index = b->strips[m->in[j].index].place;
  }
  return PCSIM_OK;
}

static pcsim_status emit_elementwise(builder *b, const item *items, int n) {
  plan *p = b->p;
  const int rows = b->g->nodes[items[0].node].rows, group = b->group[items[0].node];
  for (int i = 0; i < n; i++) {
    const node *v = &b->g->nodes[items[i].node];
    for (int j = 0; j < v->num_inputs; j++)
      if (b->g->nodes[v->inputs[j]].space != PCSIM_NO_SPACE) PCSIM_TRY(bring(b, v->inputs[j]));
  }
  for (int i = n - 1; i >= 0; i--) {
    composed *c = &b->composed[i];
    if (!b->folded[items[i].node]) c->op = compose(b, items[i].node, c->in);
  }
  const int first = p->num_micros, first_reference = b->num_references;
  b->num_expansions = b->num_strips = 0;
  for (int i = 0; i < n; i++) {
    const pcsim_value v = items[i].node;
    if (b->folded[v]) continue;
    const composed *c = &b->composed[i];
    micro m = {.op = c->op, .node = v, .in = {NO_OPERAND, NO_OPERAND, NO_OPERAND, NO_OPERAND}};
    for (int j = 0; j < KERNEL_INPUTS; j++)
      if (c->in[j] >= 0) PCSIM_TRY(find_operand(b, c->in[j], rows, group, &m.in[j]));
    if (b->outside[v]) {
      m.out.kind = AT_TILE;
      PCSIM_TRY(define(b, v, &m.out.index));
    } else {
      m.out.kind = AT_STRIP;
      PCSIM_TRY(new_strip(b, &b->strip[v]));
      m.out.index = b->strip[v];
    }
    PCSIM_TRY(add_micro(b, m));
  }
  PCSIM_TRY(place_strips(b, first));
  PCSIM_TRY(append(b,
                   (instruction){.kind = DO_ELEMENTWISE,
                                 .node = items[0].node,
                                 .rows = rows,
                                 .first = first,
                                 .count = p->num_micros - first},
                   first_reference));
  for (int i = 0; i < n; i++)
    if (b->outside[items[i].node]) PCSIM_TRY(store_value(b, items[i].node));
  return PCSIM_OK;
}

/* ---------------------------------------------------------------------- dense */

static pcsim_status find_pack(plan *p, pcsim_value weight, bool transposed, int *number) {
  for (*number = 0; *number < p->num_packs; ++*number)
    if (p->packs[*number].weight == weight && p->packs[*number].transposed == transposed) return PCSIM_OK;
  PCSIM_TRY(room(p->num_packs, sizeof *p->packs, &p->packs));
  p->packs[p->num_packs++] = (pack){weight, transposed};
  return PCSIM_OK;
}

static pcsim_status emit_gemm(builder *b, const item *items, int n) {
  plan *p = b->p;
  const node *v = &b->g->nodes[items[0].node];
  for (int i = 0; i < n; i++) PCSIM_TRY(bring(b, b->g->nodes[items[i].node].inputs[1]));
  instruction step = {.kind = DO_GEMM,
                      .node = items[0].node,
                      .rows = v->rows,
                      .first = p->num_list,
                      .count = n,
                      .depth = b->g->nodes[v->inputs[1]].rows};
  PCSIM_TRY(find_pack(p, v->inputs[0], v->kind == NODE_DENSE_TRANSPOSED, &step.a));
  const int first_reference = b->num_references;
  for (int i = 0; i < n; i++) {
    const node *d = &b->g->nodes[items[i].node];
    int x = -1, y = -1;
    PCSIM_TRY(refer_value(b, d->inputs[1], &x));
    PCSIM_TRY(define(b, items[i].node, &y));
    PCSIM_TRY(add_list(p, x));
    PCSIM_TRY(add_list(p, y));
    PCSIM_TRY(add_list(p, d->num_inputs > 2 ? d->inputs[2] : -1));
    PCSIM_TRY(add_list(p, items[i].node));
  }
  PCSIM_TRY(append(b, step, first_reference));
  for (int i = 0; i < n; i++) PCSIM_TRY(store_value(b, items[i].node));
  return PCSIM_OK;
}

/** All members of a sum of sums over points. */
static pcsim_status emit_reduction(builder *b, const item *items, int n) {
  plan *p = b->p;
  const pcsim_value owner = p->merged[items[0].node];
  const node *v = &b->g->nodes[items[0].node];
  const int per = v->kind == NODE_OUTER ? 2 : 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < per; j++) PCSIM_TRY(bring(b, b->g->nodes[items[i].node].inputs[j]));
  instruction step = {.kind = per == 2 ? DO_OUTER : DO_SUM,
                      .node = owner,
                      .rows = v->rows,
                      .columns = v->columns,
                      .out = b->s->accumulators,
                      .first = p->num_list,
                      .count = n};
  const int first_reference = b->num_references;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < per; j++) {
      int at = -1;
      PCSIM_TRY(refer_value(b, b->g->nodes[items[i].node].inputs[j], &at));
      PCSIM_TRY(add_list(p, at));
    }
  PCSIM_TRY(room(p->num_reductions, sizeof *p->reductions, &p->reductions));
  p->reductions[p->num_reductions++] =
      (point_sum){owner, p->num_stages, b->s->accumulators, v->rows * v->columns};
  /* Each sum begins a cache line of its own. */
  b->s->accumulators += (v->rows * v->columns + 7) / 8 * 8;
  return append(b, step, first_reference);
}

/* --------------------------------------------------------------------- others */

/** Maps that go over the same entries of the same source. */
static pcsim_status emit_map(builder *b, const item *items, int n) {
  plan *p = b->p;
  const node *v = &b->g->nodes[items[0].node];
  instruction step = {.kind = DO_MAP,
                      .node = items[0].node,
                      .first = p->num_list,
                      .count = n,
                      .a = p->root[v->inputs[0]],
                      .a_row = p->root_row[v->inputs[0]]};
  if (v->num_inputs > 1) {
    step.b = p->root[v->inputs[1]];
    step.b_row = p->root_row[v->inputs[1]];
  }
  const int first_reference = b->num_references;
  for (int i = 0; i < n; i++) {
    int out = -1;
    PCSIM_TRY(define(b, items[i].node, &out));
    PCSIM_TRY(add_list(p, items[i].node));
    PCSIM_TRY(add_list(p, out));
    step.rows += b->g->nodes[items[i].node].rows;
  }
  PCSIM_TRY(append(b, step, first_reference));
  for (int i = 0; i < n; i++) PCSIM_TRY(store_value(b, items[i].node));
  return PCSIM_OK;
}

static pcsim_status emit_other(builder *b, pcsim_value v) {
  plan *p = b->p;
  const node *n = &b->g->nodes[v];
  for (int i = 0; i < n->num_inputs; i++) PCSIM_TRY(bring(b, n->inputs[i]));
  instruction step = {.node = v, .rows = n->rows, .first = p->num_list, .count = n->num_inputs};
  const int first_reference = b->num_references;
  PCSIM_TRY(define(b, v, &step.out));
  if (n->kind == NODE_ROW_SUM) {
    step.kind = DO_ROW_SUM;
    step.depth = b->g->nodes[n->inputs[0]].rows;
    PCSIM_TRY(refer_value(b, n->inputs[0], &step.a));
  } else if (n->kind == NODE_CONCAT || n->kind == NODE_USER || n->kind == NODE_TABLE) {
    step.kind = n->kind == NODE_CONCAT ? DO_COPY : DO_USER;
    /* The numbers of a table are not at the points. */
    const int first = n->kind == NODE_TABLE;
    step.count = n->num_inputs - first;
    for (int i = first; i < n->num_inputs; i++) {
      int at = -1;
      PCSIM_TRY(refer_value(b, n->inputs[i], &at));
      PCSIM_TRY(add_list(p, at));
      PCSIM_TRY(add_list(p, b->g->nodes[n->inputs[i]].rows));
    }
  } else
    PCSIM_FAIL(PCSIM_ERR_INTERNAL, "value %d: a '%s' on a space cannot be run", v, node_kind_name(n->kind));
  PCSIM_TRY(append(b, step, first_reference));
  return store_value(b, v);
}

/* --------------------------------------------------------------------- phases */

static bool is_near(node_kind kind) {
  return kind == NODE_SPARSE || kind == NODE_SEGMENT_MIN || kind == NODE_SEGMENT_MAX;
}

/** May two maps be one instruction: sums and extrema over the same entries of the same source, places of the
 * least and of the greatest, transposes of both? */
static bool go_together(const builder *b, pcsim_value v, pcsim_value w) {
  const plan *p = b->p;
  const node *n = &b->g->nodes[v], *m = &b->g->nodes[w];
  const bool near = is_near(n->kind) && is_near(m->kind);
  if (!p->live[w] || !in_stage(b, w) || n->index != m->index || (!near && n->kind != m->kind)) return false;
  if (n->kind == NODE_SEGMENT_PUT) return n->rows == m->rows;
  if (!near && n->kind != NODE_SEGMENT_PLACE) return false;
  const pcsim_value a = n->inputs[0], c = m->inputs[0];
  return p->root[a] == p->root[c] && p->root_row[a] == p->root_row[c] &&
         b->g->nodes[a].rows == b->g->nodes[c].rows;
}

/** The first map of this stage that v goes together with; v if there is none, or if one like v does already.
 */
static pcsim_value find_same_entries(const builder *b, pcsim_value v) {
  const node *n = &b->g->nodes[v];
  pcsim_value first = v;
  for (pcsim_value w = 0; w < v; w++) {
    const node *m = &b->g->nodes[w];
    if (!plan_is_map(m->kind) || !go_together(b, v, w)) continue;
    if (m->kind == n->kind && m->first == n->first) return v;
    if (first == v) first = w;
  }
  return first;
}

/** Items of one phase and kind become one instruction; -1: each its own. */
static int item_kind(const builder *b, pcsim_value v) {
  const node *n = &b->g->nodes[v];
  if (plan_is_map(n->kind)) return -4 - 2 * b->g->num_nodes - find_same_entries(b, v);
  if (is_elementwise(n)) return 2 * n->rows + exec_code_is_simple(n);
  if (n->kind == NODE_DENSE || n->kind == NODE_DENSE_TRANSPOSED)
    return -2 - 2 * n->inputs[0] - (n->kind == NODE_DENSE);
  return -1;
}

static int find_phase(const builder *b, pcsim_value v) {
  const node *n = &b->g->nodes[v];
  int phase = 0;
  for (int i = 0; i < n->num_inputs; i++) {
    const pcsim_value root = b->p->root[n->inputs[i]];
    if (plan_is_map(n->kind) || !in_stage(b, root) || b->group[root] < 0) continue;
    const node *r = &b->g->nodes[root];
    const bool together = is_elementwise(n) && is_elementwise(r) && n->rows == r->rows &&
                          exec_code_is_simple(n) == exec_code_is_simple(r) &&
                          b->g->nodes[n->inputs[i]].rows == n->rows;
    const int after = b->phase[root] + !together;
    if (after > phase) phase = after;
  }
  return phase;
}

static int compare_items(const void *a, const void *b) {
  const item *x = a, *y = b;
  if (x->phase != y->phase) return x->phase < y->phase ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

/** Values to compute in this stage, sums over points among them, in the order of execution. */
static pcsim_status list_items(builder *b) {
  const plan *p = b->p;
  const pcsim_program *g = b->g;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    b->group[v] = b->buffer[v] = b->strip[v] = -1;
    b->outside[v] = b->folded[v] = false;
  }
  b->num_items = 0;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    if (!p->live[v] || p->root[v] != v) continue;
    const bool reduction = plan_is_reduction(g, v);
    if (reduction ? plan_reduction_space(g, v) != b->s->space || p->level[v] - 1 != b->level
                  : !in_stage(b, v))
      continue;
    /* A sum's phase is that of its last member: set below. */
    b->phase[v] = find_phase(b, v);
    if (!reduction) b->group[v] = 0;
    b->items[b->num_items++] = (item){b->phase[v], reduction ? INT32_MIN + p->merged[v] : item_kind(b, v), v};
  }
  for (int i = 0; i < b->num_items; i++)
    for (int j = 0; j < b->num_items && b->items[i].kind < INT32_MIN / 2; j++)
      if (b->items[j].kind == b->items[i].kind && b->items[j].phase > b->items[i].phase)
        b->items[i].phase = b->items[j].phase;
  qsort(b->items, (size_t)b->num_items, sizeof *b->items, compare_items);
  return PCSIM_OK;
}

static int group_end(const builder *b, int i) {
  int end = i + 1;
  if (b->items[i].kind == -1) return end;
  while (end < b->num_items && b->items[end].phase == b->items[i].phase &&
         b->items[end].kind == b->items[i].kind)
    end++;
  return end;
}

/** Number the groups and find the values that are read outside theirs. */
static void find_groups(builder *b) {
  const plan *p = b->p;
  const pcsim_program *g = b->g;
  int groups = 0;
  for (int i = 0; i < b->num_items; groups++) {
    const int end = group_end(b, i);
    for (; i < end; i++)
      if (b->items[i].kind >= INT32_MIN / 2) b->group[b->items[i].node] = groups;
  }
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    if (!p->live[v]) continue;
    if (p->stored[v] >= 0) b->outside[v] = true;
    if (p->root[v] != v || plan_is_count(g, v)) continue;
    for (int i = 0; i < g->nodes[v].num_inputs; i++) {
      const pcsim_value root = p->root[g->nodes[v].inputs[i]];
      if (b->group[v] < 0 || b->group[root] != b->group[v]) b->outside[root] = true;
    }
  }
  for (int i = 0; i < g->num_outputs; i++) b->outside[p->root[g->outputs[i].value]] = true;
}

/* --------------------------------------------------------------------- stages */

static void resolve(const builder *b, int *number) {
  if (*number < 0) return;
  const reference r = b->references[*number];
  *number = b->buffers[r.buffer].place + r.row;
}

/** References become rows of the arena. */
static void resolve_all(builder *b) {
  plan *p = b->p;
  for (int i = 0; i < b->s->count; i++) {
    instruction *step = &p->instructions[b->s->first + i];
    if (step->kind != DO_ELEMENTWISE && step->kind != DO_GEMM && step->kind != DO_OUTER &&
        step->kind != DO_SUM && step->kind != DO_STORE && step->kind != DO_MAP && step->kind != DO_ADD)
      resolve(b, &step->out);
    if (step->kind == DO_STORE || step->kind == DO_ROW_SUM) resolve(b, &step->a);
    if (step->kind == DO_ELEMENTWISE)
      for (int j = step->first; j < step->first + step->count; j++)
        for (int k = -1; k < KERNEL_INPUTS; k++) {
          operand *o = k < 0 ? &p->micros[j].out : &p->micros[j].in[k];
          if (o->kind == AT_TILE) resolve(b, &o->index);
        }
    for (int j = 0; j < step->count; j++) {
      if (step->kind == DO_GEMM) {
        resolve(b, &p->list[step->first + 4 * j]);
        resolve(b, &p->list[step->first + 4 * j + 1]);
      }
      if (step->kind == DO_OUTER) {
        resolve(b, &p->list[step->first + 2 * j]);
        resolve(b, &p->list[step->first + 2 * j + 1]);
      }
      if (step->kind == DO_MAP) resolve(b, &p->list[step->first + 2 * j + 1]);
      if (step->kind == DO_ADD) resolve(b, &p->list[step->first + 3 * j + 1]);
      if (step->kind == DO_SUM) resolve(b, &p->list[step->first + j]);
      if (step->kind == DO_COPY || step->kind == DO_USER) resolve(b, &p->list[step->first + 2 * j]);
    }
  }
}

/** End of the groups from item i on that one body of machine code can make; i: there are none. */
static int run_end(const builder *b, int i) {
  for (;;) {
    if (i == b->num_items) return i;
    const int end = group_end(b, i);
    for (int j = i; j < end; j++)
      if (b->items[j].kind < INT32_MIN / 2 || !exec_code_takes(b->g, b->items[j].node)) return i;
    i = end;
  }
}

/** What a run reads is brought before it, what it gives is stored behind it. */
static pcsim_status begin_run(builder *b, int first, int end) {
  for (int i = first; i < end; i++) {
    const node *n = &b->g->nodes[b->items[i].node];
    for (int j = 0; j < n->num_inputs; j++)
      if (n->kind == NODE_CONCAT || b->g->nodes[n->inputs[j]].space != PCSIM_NO_SPACE)
        PCSIM_TRY(bring(b, n->inputs[j]));
  }
  b->deferred = true;
  return PCSIM_OK;
}

static pcsim_status end_run(builder *b, int first, int end) {
  b->deferred = false;
  for (int i = first; i < end; i++)
    if (b->outside[b->items[i].node]) PCSIM_TRY(store_value(b, b->items[i].node));
  return PCSIM_OK;
}

static pcsim_status emit_items(builder *b) {
  int run = 0, until = 0;
  for (int i = 0; i < b->num_items;) {
    if (i >= until) {
      if (until > run) PCSIM_TRY(end_run(b, run, until));
      run = i;
      until = run_end(b, i);
      if (until > run) PCSIM_TRY(begin_run(b, run, until));
    }
    const int end = group_end(b, i), kind = b->items[i].kind;
    if (kind < INT32_MIN / 2) PCSIM_TRY(emit_reduction(b, b->items + i, end - i));
    else if (kind > 0) PCSIM_TRY(emit_elementwise(b, b->items + i, end - i));
    else if (plan_is_map(b->g->nodes[b->items[i].node].kind)) PCSIM_TRY(emit_map(b, b->items + i, end - i));
    else if (kind < -1) PCSIM_TRY(emit_gemm(b, b->items + i, end - i));
    else PCSIM_TRY(emit_other(b, b->items[i].node));
    i = end;
  }
  return until > run ? end_run(b, run, until) : PCSIM_OK;
}

/** Inputs that are outputs, perhaps cut: carried over in the first pass of their space. */
static pcsim_status emit_inputs(builder *b) {
  const pcsim_program *g = b->g;
  for (pcsim_value v = 0; v < g->num_nodes && b->level == 0; v++) {
    if (g->nodes[v].kind != NODE_INPUT || g->nodes[v].space != b->s->space) continue;
    for (int i = 0; i < g->num_outputs; i++)
      if (b->p->root[g->outputs[i].value] == v) {
        PCSIM_TRY(bring(b, v));
        PCSIM_TRY(store_value(b, v));
        break;
      }
  }
  return PCSIM_OK;
}

/** What this stage computes for sums of scatter-adds: for each sum as many at a time as a kernel takes. */
static pcsim_status emit_adds(builder *b) {
  plan *p = b->p;
  const pcsim_program *g = b->g;
  for (pcsim_value sum = 0; sum < g->num_nodes; sum++) {
    if (p->added_to[sum] != sum) continue;
    instruction step = {.kind = DO_ADD, .node = sum, .rows = g->nodes[sum].rows, .first = p->num_list};
    int first_reference = b->num_references;
    for (pcsim_value v = 0; v <= sum; v++) {
      const node *n = &g->nodes[v];
      if (p->added_to[v] != sum || n->kind != NODE_SCATTER_ADD || !in_stage(b, p->root[n->inputs[0]]))
        continue;
      int at = -1;
      PCSIM_TRY(refer_value(b, n->inputs[0], &at));
      PCSIM_TRY(add_list(p, n->index));
      PCSIM_TRY(add_list(p, at));
      PCSIM_TRY(add_list(p, p->taken_away[v]));
      b->s->adds = true;
      if (++step.count < MAX_ADDS) continue;
      PCSIM_TRY(append(b, step, first_reference));
      step.first = p->num_list;
      step.count = 0;
      first_reference = b->num_references;
    }
    if (step.count) PCSIM_TRY(append(b, step, first_reference));
  }
  return PCSIM_OK;
}

static pcsim_status make_stage(builder *b, int level, pcsim_space space) {
  plan *p = b->p;
  stage s = {.space = space,
             .level = level,
             .first = p->num_instructions,
             .first_pack = p->num_packs,
             .first_splat = p->num_splats};
  b->s = &s;
  b->level = level;
  b->num_buffers = b->num_references = 0;
  PCSIM_TRY(list_items(b));
  find_groups(b);
  PCSIM_TRY(emit_items(b));
  PCSIM_TRY(emit_adds(b));
  PCSIM_TRY(emit_inputs(b));
  if (!s.count) return PCSIM_OK;
  PCSIM_TRY(plan_place(b->buffers, b->num_buffers, s.count, &s.tile_rows));
  resolve_all(b);
  s.num_packs = p->num_packs - s.first_pack;
  s.num_splats = p->num_splats - s.first_splat;
  PCSIM_TRY(room(p->num_stages, sizeof *p->stages, &p->stages));
  p->stages[p->num_stages++] = s;
  return PCSIM_OK;
}

static pcsim_status allocate(builder *b) {
  const size_t n = (size_t)b->g->num_nodes;
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->items, &b->items));
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->composed, &b->composed));
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->phase, &b->phase));
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->group, &b->group));
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->outside, &b->outside));
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->folded, &b->folded));
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->buffer, &b->buffer));
  return pcsim_alloc(n, sizeof *b->strip, &b->strip);
}

pcsim_status plan_stages(plan *p) {
  builder b = {.p = p, .g = p->program};
  pcsim_status status = allocate(&b);
  for (int level = 0; level < p->num_levels && status == PCSIM_OK; level++)
    for (pcsim_space space = 0; space < p->program->num_spaces && status == PCSIM_OK; space++)
      status = make_stage(&b, level, space);
  pcsim_free(&b.items);
  pcsim_free(&b.composed);
  pcsim_free(&b.phase);
  pcsim_free(&b.group);
  pcsim_free(&b.outside);
  pcsim_free(&b.folded);
  pcsim_free(&b.buffer);
  pcsim_free(&b.strip);
  pcsim_free(&b.buffers);
  pcsim_free(&b.references);
  pcsim_free(&b.expansions);
  pcsim_free(&b.strips);
  if (status != PCSIM_OK) return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  return PCSIM_OK;
}
