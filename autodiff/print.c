/* SPDX-License-Identifier: BSD-2-Clause */
/** @file print.c  A program as text, and what it costs. */
#include "graph.h"

#include <stdarg.h>
#include <stdio.h>

/** Text that grows; `status` keeps the first failure. */
typedef struct {
  char *data;
  size_t size, room;
  pcsim_status status;
} text;

static void put(text *t, const char *fmt, ...) PCSIM_PRINTF(2, 3);
static void put(text *t, const char *fmt, ...) {
  for (int attempt = 0; attempt < 2 && t->status == PCSIM_OK; attempt++) {
    va_list args;
    va_start(args, fmt);
    const int length = vsnprintf(t->data ? t->data + t->size : NULL, t->room - t->size, fmt, args);
    va_end(args);
    if (length >= 0 && (size_t)length < t->room - t->size) {
      t->size += (size_t)length;
      return;
    }
    t->room = 2 * t->room + (size_t)(length < 0 ? 0 : length) + 256;
    t->status = pcsim_realloc(t->room, 1, &t->data);
  }
}

static void put_constant(text *t, const node *n) {
  const int64_t count = (int64_t)n->rows * n->columns, shown = count < 8 ? count : 6;
  for (int64_t i = 0; i < shown; i++) put(t, " %.17g", n->numbers[i]);
  if (shown < count) put(t, " ... (%lld numbers)", (long long)count);
}

static void put_node(text *t, const pcsim_program *program, pcsim_value v) {
  const node *n = &program->nodes[v];
  put(t, "%%%d = %s", v, n->kind == NODE_OP ? op_name(n->op) : node_kind_name(n->kind));
  if (n->kind == NODE_USER) put(t, " \"%s\"", program->user_ops[n->index].name);
  if (n->kind == NODE_INPUT || n->kind == NODE_PARAMETER) put(t, " \"%s\"", program->names[n->index]);
  if (n->kind == NODE_CONSTANT) put_constant(t, n);
  if (n->kind >= NODE_GATHER && n->kind <= NODE_SEGMENT_PUT) put(t, " \"%s\"", program->maps[n->index].name);
  if (n->kind == NODE_SEGMENT_PICK || n->kind == NODE_SEGMENT_PUT) put(t, n->first ? " max" : " min");
  for (int i = 0; i < n->num_inputs; i++) put(t, " %%%d", n->inputs[i]);
  if (n->kind == NODE_TABLE && n->first) put(t, " slope");
  if (n->kind == NODE_SLICE) put(t, " rows %d to %d", n->first, n->first + n->rows - 1);
  if (n->columns > 1) put(t, " : %d x %d", n->rows, n->columns);
  else if (n->kind != NODE_CONSTANT) put(t, " : %d", n->rows);
  if (n->space != PCSIM_NO_SPACE) put(t, " on %s", graph_space_name(program, n->space));
  put(t, "\n");
}

pcsim_status pcsim_program_print(const pcsim_program *program, char **out) {
  text t = {0};
  for (int i = 0; i < program->num_maps; i++) {
    const graph_map *m = &program->maps[i];
    put(&t, "map \"%s\": %s from %s", m->name, graph_space_name(program, m->to),
        graph_space_name(program, m->from));
    put(&t, m->width ? ", %d weights an entry\n" : "\n", m->width);
  }
  for (int v = 0; v < program->num_nodes; v++) put_node(&t, program, v);
  for (int i = 0; i < program->num_outputs; i++)
    put(&t, "output \"%s\" = %%%d\n", program->outputs[i].name, program->outputs[i].value);
  put(&t, "%s", "");
  if (t.status != PCSIM_OK) {
    pcsim_free(&t.data);
    return pcsim_error_frame(t.status, __FILE__, __LINE__, __func__);
  }
  *out = t.data;
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- counts */

static double operations(const pcsim_program *program, const node *n) {
  const double rows = n->rows;
  switch (n->kind) {
  case NODE_OP:
  case NODE_USER:
  case NODE_TABLE:
    return rows;
  case NODE_DENSE:
    return 2 * rows * program->nodes[n->inputs[0]].columns;
  case NODE_DENSE_TRANSPOSED:
    return 2 * rows * program->nodes[n->inputs[0]].rows;
  case NODE_ROW_SUM:
  case NODE_SUM:
    return program->nodes[n->inputs[0]].rows;
  case NODE_OUTER:
    return 2 * rows * n->columns;
  case NODE_SCATTER_ADD:
  case NODE_SEGMENT_PUT:
    return rows;
  case NODE_SPARSE:
    return 2 * rows;
  case NODE_SPARSE_TRANSPOSED:
    return 2 * rows * program->maps[n->index].width;
  default:
    return 0;
  }
}

/** Does computing this value have to wait until its inputs are there at all points? */
static bool waits(const node *n) { return n->kind >= NODE_GATHER && n->kind <= NODE_SEGMENT_PUT; }
static bool sums(const node *n) { return n->kind == NODE_SUM || n->kind == NODE_OUTER; }

/** Is the work done at every point, or once? */
static bool at_points(const pcsim_program *program, const node *n) {
  if (n->space != PCSIM_NO_SPACE) return true;
  bool any = false;
  for (int i = 0; sums(n) && i < n->num_inputs; i++)
    any = any || program->nodes[n->inputs[i]].space != PCSIM_NO_SPACE;
  return any;
}

/** Passes over points: a new one starts after a sum or a map, for each space on its own. */
static int64_t passes(const pcsim_program *program, int *level) {
  int64_t count = 0;
  int highest = 0;
  for (int v = 0; v < program->num_nodes; v++) {
    const node *n = &program->nodes[v];
    level[v] = 0;
    for (int i = 0; i < n->num_inputs; i++) {
      const pcsim_value a = n->inputs[i];
      const bool after = sums(&program->nodes[a]) || (waits(n) && program->nodes[a].kind != NODE_INPUT);
      if (level[a] + after > level[v]) level[v] = level[a] + after;
    }
    if (level[v] > highest) highest = level[v];
  }
  for (int l = 0; l <= highest; l++)
    for (int s = 0; s < program->num_spaces; s++) {
      bool any = false;
      for (int v = 0; v < program->num_nodes && !any; v++) {
        const node *n = &program->nodes[v];
        any = level[v] == l && n->num_inputs && n->space == s;
      }
      count += any;
    }
  return count;
}

pcsim_program_cost pcsim_program_count(const pcsim_program *program) {
  pcsim_program_cost cost = {.nodes = program->num_nodes};
  bool *put_out = NULL;
  int *level = NULL;
  if (pcsim_alloc((size_t)program->num_nodes, sizeof *put_out, &put_out) == PCSIM_OK &&
      pcsim_alloc((size_t)program->num_nodes, sizeof *level, &level) == PCSIM_OK) {
    for (int i = 0; i < program->num_outputs; i++) {
      const node *n = &program->nodes[program->outputs[i].value];
      put_out[program->outputs[i].value] = true;
      if (n->space != PCSIM_NO_SPACE) cost.bytes += 8.0 * n->rows;
    }
    for (int v = 0; v < program->num_nodes; v++) {
      const node *n = &program->nodes[v];
      if (n->kind == NODE_INPUT && n->space != PCSIM_NO_SPACE) cost.bytes += 8.0 * n->rows;
      if (!n->num_inputs || !at_points(program, n)) continue;
      cost.operations += operations(program, n);
      cost.temporaries += n->space != PCSIM_NO_SPACE && !put_out[v];
    }
    cost.stages = passes(program, level);
  }
  pcsim_free(&put_out);
  pcsim_free(&level);
  return cost;
}
