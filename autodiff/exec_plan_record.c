/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_plan_record.c  Values that the same maps read, as one record.
 *
 *  What a map reads is kept for its whole space, and a map that looks at a point finds each value on cache
 *  lines of its own. Values of one pass that have the same readers are therefore put together: one value with
 *  all their rows, up to a cache line, which the maps carry as a whole and later passes read in parts. The
 *  program is written anew with these values; no number changes. */
#include "exec_plan.h"

#include <stdlib.h>

/** A reader of a value that is kept: what, along which map, in which pass. */
typedef struct {
  pcsim_value root;
  int kind, map, level;
  bool exposed;
} reading;

typedef struct {
  pcsim_value first; /**< the member with the readers to compare with */
  int rows, members;
  pcsim_value node; /**< in the new program, -1: not yet */
} record;

/** A map that carries a whole record. */
typedef struct {
  int record, kind, map, level;
  pcsim_value node;
} carried;

typedef struct {
  const plan *p;
  const pcsim_program *g;
  reading *readings;
  int num_readings;
  int *first_reading; /**< [nodes + 1] */
  bool *fits;         /**< [nodes] may be a member */
  record *records;
  int num_records;
  int *record_of, *offset; /**< [nodes] of a root: its record, -1; first row in it */
  carried *carried;        /**< [nodes] at most */
  int num_carried;
  plan_writing out;
  pcsim_value *place, *parted; /**< [nodes] in `to`: as computed; as a part of its record */
} writer;

/* ------------------------------------------------------------------- readers */

/** Maps whose rows follow those of what they read, each by itself. */
static bool is_row_by_row(node_kind kind) {
  return kind == NODE_GATHER || kind == NODE_SCATTER_ADD || kind == NODE_SPARSE || kind == NODE_SEGMENT_MIN ||
         kind == NODE_SEGMENT_MAX;
}

/** Does v read its input `root` from where it is kept? */
static bool reads_kept(const plan *p, pcsim_value v, pcsim_value root) {
  const node *n = &p->program->nodes[v], *r = &p->program->nodes[root];
  if (r->space == PCSIM_NO_SPACE || r->kind == NODE_INPUT || plan_is_count(p->program, v)) return false;
  if (p->added_to[v] >= 0 || p->added_to[root] >= 0) return false;
  return plan_is_map(n->kind) || p->level[v] - plan_is_reduction(p->program, v) > p->level[root];
}

static int compare_readings(const void *a, const void *b) {
  const reading *x = a, *y = b;
  if (x->root != y->root) return x->root < y->root ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->map != y->map) return x->map < y->map ? -1 : 1;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  return x->exposed - y->exposed;
}

/** Readings in the order of their roots, each once. */
static pcsim_status list_readings(writer *w) {
  const plan *p = w->p;
  int n = 0;
  for (pcsim_value v = 0; v < w->g->num_nodes; v++)
    for (int i = 0; p->live[v] && p->root[v] == v && i < w->g->nodes[v].num_inputs; i++)
      n += reads_kept(p, v, p->root[w->g->nodes[v].inputs[i]]);
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *w->readings, &w->readings));
  n = 0;
  for (pcsim_value v = 0; v < w->g->num_nodes; v++)
    for (int i = 0; p->live[v] && p->root[v] == v && i < w->g->nodes[v].num_inputs; i++) {
      const node *r = &w->g->nodes[v];
      const pcsim_value in = r->inputs[i], root = p->root[in];
      if (!reads_kept(p, v, root)) continue;
      const bool map = plan_is_map(r->kind);
      w->readings[n++] =
          (reading){root, map ? (int)r->kind : -1, map ? r->index : -1, p->level[v], p->exposed[v]};
      if (is_row_by_row(r->kind) && w->g->nodes[in].rows == w->g->nodes[root].rows) w->fits[root] = true;
    }
  /* A map that reads some rows of a value only would carry more in a record. */
  for (pcsim_value v = 0; v < w->g->num_nodes; v++) {
    const node *r = &w->g->nodes[v];
    if (!p->live[v] || !is_row_by_row(r->kind) || p->added_to[v] >= 0) continue;
    const pcsim_value root = p->root[r->inputs[0]];
    if (w->g->nodes[r->inputs[0]].rows != w->g->nodes[root].rows) w->fits[root] = false;
  }
  if (n) qsort(w->readings, (size_t)n, sizeof *w->readings, compare_readings);
  for (int i = 0; i < n; i++)
    if (!i || compare_readings(&w->readings[i], &w->readings[w->num_readings - 1]))
      w->readings[w->num_readings++] = w->readings[i];
  for (int i = 0; i < w->num_readings; i++) w->first_reading[w->readings[i].root + 1]++;
  for (pcsim_value v = 0; v < w->g->num_nodes; v++) w->first_reading[v + 1] += w->first_reading[v];
  return PCSIM_OK;
}

static bool same_readers(const writer *w, pcsim_value a, pcsim_value b) {
  const int first = w->first_reading[a], n = w->first_reading[a + 1] - first, other = w->first_reading[b];
  if (w->first_reading[b + 1] - other != n) return false;
  for (int i = 0; i < n; i++) {
    reading r = w->readings[other + i];
    r.root = a;
    if (compare_readings(&w->readings[first + i], &r)) return false;
  }
  return true;
}

/** Each value into the first record that it fits; records of one value are none. */
static void find_records(writer *w) {
  const plan *p = w->p;
  for (pcsim_value v = 0; v < w->g->num_nodes; v++) {
    const int rows = w->g->nodes[v].rows;
    w->record_of[v] = -1;
    if (!w->fits[v] || rows > RECORD_ROWS) continue;
    int i = 0;
    for (; i < w->num_records; i++) {
      const record *r = &w->records[i];
      if (w->g->nodes[r->first].space == w->g->nodes[v].space && p->level[r->first] == p->level[v] &&
          p->exposed[r->first] == p->exposed[v] && r->rows + rows <= RECORD_ROWS &&
          same_readers(w, r->first, v))
        break;
    }
    if (i == w->num_records) w->records[w->num_records++] = (record){.first = v, .node = PCSIM_NO_VALUE};
    w->record_of[v] = i;
    w->offset[v] = w->records[i].rows;
    w->records[i].rows += rows;
    w->records[i].members++;
  }
  for (pcsim_value v = 0; v < w->g->num_nodes; v++)
    if (w->record_of[v] >= 0 && w->records[w->record_of[v]].members < 2) w->record_of[v] = -1;
}

/* --------------------------------------------------------------- the new program */

static pcsim_value append_slice(writer *w, pcsim_value of, int first, int rows, pcsim_value origin,
                                pcsim_status *status) {
  if (of < 0) return PCSIM_NO_VALUE;
  return plan_append(&w->out,
                     &(node){.kind = NODE_SLICE,
                             .space = w->out.to->nodes[of].space,
                             .rows = rows,
                             .columns = 1,
                             .first = first,
                             .num_inputs = 1,
                             .inputs = &of},
                     origin, status);
}

/** The value with inputs as they stand in the new program. */
static pcsim_value append_copy(writer *w, pcsim_value v, bool parted, pcsim_value *inputs,
                               pcsim_status *status) {
  node n = w->g->nodes[v];
  for (int i = 0; i < n.num_inputs; i++) {
    const pcsim_value in = n.inputs[i];
    inputs[i] = (parted || reads_kept(w->p, v, w->p->root[in]) ? w->parted : w->place)[in];
  }
  n.inputs = inputs;
  return plan_append(&w->out, &n, v, status);
}

/** A record, after all its members: rows that miss to whole vectors repeat the last. Then the members as its
 * parts, and what are rows of them. */
static pcsim_status append_record(writer *w, int number, pcsim_value *inputs) {
  const plan *p = w->p;
  record *r = &w->records[number];
  pcsim_value last = PCSIM_NO_VALUE;
  pcsim_status status = PCSIM_OK;
  int n = 0, rows = r->rows;
  for (pcsim_value v = 0; v < w->g->num_nodes; v++)
    if (w->record_of[v] == number) inputs[n++] = w->place[last = v];
  if (rows % 4 == 3) {
    inputs[n] = append_slice(w, w->place[last], w->g->nodes[last].rows - 1, 1, last, &status);
    n++, rows++;
  }
  r->node = plan_append(&w->out,
                        &(node){.kind = NODE_CONCAT,
                                .space = w->g->nodes[r->first].space,
                                .rows = rows,
                                .columns = 1,
                                .num_inputs = n,
                                .inputs = inputs},
                        -1, &status);
  for (pcsim_value v = 0; v < w->g->num_nodes && status == PCSIM_OK; v++) {
    if (w->record_of[p->root[v]] != number) continue;
    w->parted[v] = p->root[v] == v ? append_slice(w, r->node, w->offset[v], w->g->nodes[v].rows, v, &status)
                                   : append_copy(w, v, true, inputs, &status);
  }
  return status;
}

/** A map of a member becomes part of the map of the record. */
static pcsim_value append_carried(writer *w, pcsim_value v, pcsim_status *status) {
  const node *n = &w->g->nodes[v];
  const pcsim_value root = w->p->root[n->inputs[0]];
  const int number = w->record_of[root], width = n->kind == NODE_SPARSE ? w->g->maps[n->index].width : 1;
  const pcsim_value whole = w->records[number].node;
  int i = 0;
  for (; i < w->num_carried; i++) {
    const carried *c = &w->carried[i];
    if (c->record == number && c->kind == (int)n->kind && c->map == n->index && c->level == w->p->level[v])
      break;
  }
  if (i == w->num_carried) {
    node m = *n;
    m.rows = w->out.to->nodes[whole].rows * width;
    m.inputs = (pcsim_value[]){whole};
    w->carried[w->num_carried++] =
        (carried){number, (int)n->kind, n->index, w->p->level[v], plan_append(&w->out, &m, -1, status)};
  }
  return append_slice(w, w->carried[i].node, w->offset[root] * width, n->rows, v, status);
}

static pcsim_status append_value(writer *w, pcsim_value v, pcsim_value *inputs) {
  const node *n = &w->g->nodes[v];
  pcsim_status status = PCSIM_OK;
  const bool carry = w->p->live[v] && is_row_by_row(n->kind) && w->p->added_to[v] < 0 &&
                     w->record_of[w->p->root[n->inputs[0]]] >= 0;
  w->place[v] = carry ? append_carried(w, v, &status) : append_copy(w, v, false, inputs, &status);
  w->parted[v] = w->place[v];
  return status;
}

/** Pass by pass, so that a record stands behind its members and before its readers. */
static pcsim_status write_program(writer *w, const int *order, pcsim_value *inputs) {
  const plan *p = w->p;
  PCSIM_TRY(graph_copy_frame(w->g, &w->out.to));
  for (int level = 0; level < p->num_levels; level++) {
    for (pcsim_value v = 0; v < w->g->num_nodes; v++)
      if (order[v] == level) PCSIM_TRY(append_value(w, v, inputs));
    for (int i = 0; i < w->num_records; i++)
      if (w->records[i].members > 1 && p->level[w->records[i].first] == level)
        PCSIM_TRY(append_record(w, i, inputs));
  }
  for (int i = 0; i < w->g->num_outputs; i++)
    pcsim_build_output(w->out.to, w->g->outputs[i].name, w->place[w->g->outputs[i].value]);
  return pcsim_program_status(w->out.to);
}

static pcsim_status write_anew(writer *w) {
  int *order = NULL;
  pcsim_value *inputs = NULL;
  pcsim_status status = plan_order(w->p, &order, &inputs);
  if (status == PCSIM_OK) status = write_program(w, order, inputs);
  pcsim_free(&order);
  pcsim_free(&inputs);
  return status;
}

static pcsim_status make(writer *w) {
  const size_t n = (size_t)w->g->num_nodes;
  PCSIM_TRY(pcsim_alloc(n + 1, sizeof *w->first_reading, &w->first_reading));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->fits, &w->fits));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->records, &w->records));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->record_of, &w->record_of));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->offset, &w->offset));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->carried, &w->carried));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->place, &w->place));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->parted, &w->parted));
  PCSIM_TRY(list_readings(w));
  find_records(w);
  for (int i = 0; i < w->num_records; i++)
    if (w->records[i].members > 1) return write_anew(w);
  return PCSIM_OK;
}

pcsim_status plan_records(const plan *p, plan_writing *out) {
  writer w = {.p = p, .g = p->program};
  const pcsim_status status = make(&w);
  pcsim_free(&w.readings);
  pcsim_free(&w.first_reading);
  pcsim_free(&w.fits);
  pcsim_free(&w.records);
  pcsim_free(&w.record_of);
  pcsim_free(&w.offset);
  pcsim_free(&w.carried);
  pcsim_free(&w.place);
  pcsim_free(&w.parted);
  if (status != PCSIM_OK) {
    plan_writing_free(&w.out);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  *out = w.out;
  return PCSIM_OK;
}
