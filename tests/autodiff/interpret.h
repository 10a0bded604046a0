/* SPDX-License-Identifier: BSD-2-Clause */
/** @file interpret.h  The plainest executor: one value after the other, one point after the other, every kind
 * of value. Tests compare the transforms with closed forms through it, and the tiled executor with it. */
#ifndef PCSIM_TEST_INTERPRET_H
#define PCSIM_TEST_INTERPRET_H

#include "autodiff/graph.h"
#include "pcsim_test.h"

typedef struct {
  const int32_t *index; /**< index map */
  const int64_t *start; /**< sparse map */
  const int32_t *column;
  const double *weight;
} interpret_map;

typedef struct {
  const pcsim_program *p;
  int64_t *points;     /**< [num_spaces] */
  const double **data; /**< [num_names] */
  interpret_map *maps; /**< [num_maps] */
  double **values;     /**< [num_nodes] each [points][rows][columns] */
} interpreter;

static inline void interpret_begin(interpreter *it, const pcsim_program *p) {
  *it = (interpreter){.p = p};
  it->points = calloc((size_t)p->num_spaces + 1, sizeof *it->points);
  it->data = calloc((size_t)p->num_names + 1, sizeof *it->data);
  it->maps = calloc((size_t)p->num_maps + 1, sizeof *it->maps);
  it->values = calloc((size_t)p->num_nodes + 1, sizeof *it->values);
}

static inline void interpret_end(interpreter *it) {
  for (int v = 0; v < it->p->num_nodes; v++) free(it->values[v]);
  free(it->points);
  free(it->data);
  free(it->maps);
  free(it->values);
}

static inline void interpret_points(interpreter *it, const char *space, int64_t points) {
  for (int i = 0; i < it->p->num_spaces; i++)
    if (!strcmp(it->p->spaces[i], space)) it->points[i] = points;
}

static inline void interpret_bind(interpreter *it, const char *name, const double *data) {
  int found = 0;
  for (int i = 0; i < it->p->num_names; i++)
    if (!strcmp(it->p->names[i], name)) it->data[i] = data, found = 1;
  if (!found) fail_msg("no input or parameter '%s'", name);
}

static inline void interpret_bind_map(interpreter *it, const char *name, interpret_map map) {
  for (int i = 0; i < it->p->num_maps; i++)
    if (!strcmp(it->p->maps[i].name, name)) it->maps[i] = map;
}

static inline int64_t interpret_count(const interpreter *it, pcsim_value v) {
  const pcsim_space space = it->p->nodes[v].space;
  return space == PCSIM_NO_SPACE ? 1 : it->points[space];
}

/** Number `row`, `column` of a value at a point; one number and values on no space are the same everywhere.
 */
static inline double interpret_at(const interpreter *it, pcsim_value v, int64_t point, int row, int column) {
  const node *n = &it->p->nodes[v];
  if (n->space == PCSIM_NO_SPACE) point = 0;
  if (n->rows == 1 && n->columns == 1) row = column = 0;
  return it->values[v][(point * n->rows + row) * n->columns + column];
}

/** Place of the entry of segment `to` that attains the extremum of row `row` of `chosen`: the first one. */
static inline int64_t interpret_attains(const interpreter *it, const interpret_map *m, pcsim_value chosen,
                                        int64_t to, int row, int max) {
  int64_t best = m->start[to];
  for (int64_t e = best + 1; e < m->start[to + 1]; e++) {
    const double a = interpret_at(it, chosen, m->column[e], row, 0),
                 b = interpret_at(it, chosen, m->column[best], row, 0);
    if (max ? a > b : a < b) best = e;
  }
  return best;
}

static inline void interpret_maps(interpreter *it, const node *n, double *out, int64_t points) {
  const interpret_map *m = &it->maps[n->index];
  const graph_map *map = &it->p->maps[n->index];
  const pcsim_value a = n->inputs[0];
  const int64_t to_points = it->points[map->to];
  const int w = map->width, rows = it->p->nodes[a].rows;
  if (n->kind == NODE_GATHER) {
    for (int64_t i = 0; i < points; i++)
      for (int r = 0; r < rows; r++) out[i * rows + r] = interpret_at(it, a, m->index[i], r, 0);
    return;
  }
  if (n->kind == NODE_SCATTER_ADD) {
    for (int64_t i = 0; i < to_points; i++)
      for (int r = 0; r < rows; r++) out[m->index[i] * rows + r] += interpret_at(it, a, i, r, 0);
    return;
  }
  for (int64_t i = 0; i < to_points; i++) {
    if (n->kind == NODE_SPARSE || n->kind == NODE_SPARSE_TRANSPOSED) {
      for (int64_t e = m->start[i]; e < m->start[i + 1]; e++)
        for (int r = 0; r < (n->kind == NODE_SPARSE ? rows : n->rows); r++)
          for (int k = 0; k < w; k++) {
            if (n->kind == NODE_SPARSE)
              out[i * n->rows + r * w + k] += m->weight[e * w + k] * interpret_at(it, a, m->column[e], r, 0);
            else
              out[m->column[e] * n->rows + r] += m->weight[e * w + k] * interpret_at(it, a, i, r * w + k, 0);
          }
      continue;
    }
    const bool extremum = n->kind == NODE_SEGMENT_MIN || n->kind == NODE_SEGMENT_MAX;
    const pcsim_value chosen = extremum ? a : n->inputs[1];
    for (int r = 0; r < n->rows; r++) {
      const int max = extremum ? n->kind == NODE_SEGMENT_MAX : n->first;
      const int32_t column = m->column[interpret_attains(it, m, chosen, i, r, max)];
      if (n->kind == NODE_SEGMENT_PUT) out[column * n->rows + r] += interpret_at(it, a, i, r, 0);
      else out[i * n->rows + r] = interpret_at(it, a, column, r, 0);
    }
  }
}

static inline void interpret_products(interpreter *it, const node *n, double *out, int64_t points) {
  const pcsim_value a = n->inputs[0], b = n->inputs[1];
  const int depth = n->kind == NODE_DENSE ? it->p->nodes[a].columns : it->p->nodes[a].rows;
  if (n->kind == NODE_OUTER) {
    const int64_t terms = interpret_count(it, it->p->nodes[a].space == PCSIM_NO_SPACE ? b : a);
    for (int64_t i = 0; i < terms; i++)
      for (int r = 0; r < n->rows; r++)
        for (int c = 0; c < n->columns; c++)
          out[r * n->columns + c] += interpret_at(it, a, i, r, 0) * interpret_at(it, b, i, c, 0);
    return;
  }
  for (int64_t i = 0; i < points; i++)
    for (int r = 0; r < n->rows; r++) {
      double sum = n->num_inputs > 2 ? interpret_at(it, n->inputs[2], i, r, 0) : 0;
      for (int c = 0; c < depth; c++)
        sum += (n->kind == NODE_DENSE ? interpret_at(it, a, 0, r, c) : interpret_at(it, a, 0, c, r)) *
               interpret_at(it, b, i, c, 0);
      out[i * n->rows + r] = sum;
    }
}

static inline double interpret_pointwise(interpreter *it, const node *n, int64_t i, int r, int c) {
  double in[16], value;
  const double *pointers[16];
  assert_true(n->num_inputs <= 16);
  for (int k = 0; k < n->num_inputs; k++) {
    in[k] = interpret_at(it, n->inputs[k], i, r, c);
    pointers[k] = &in[k];
  }
  if (n->kind == NODE_OP) return op_value(n->op, in);
  const pcsim_user_op *user = &it->p->user_ops[n->index];
  user->value(user->context, 1, pointers, &value);
  return value;
}

static inline double interpret_moved(interpreter *it, const node *n, int64_t i, int r, int c) {
  const pcsim_value a = n->inputs[0];
  double sum = 0;
  switch (n->kind) {
  case NODE_CONCAT: {
    int k = 0;
    while (r >= it->p->nodes[n->inputs[k]].rows) r -= it->p->nodes[n->inputs[k++]].rows;
    return interpret_at(it, n->inputs[k], i, r, 0);
  }
  case NODE_SLICE:
    return it->values[a][((n->space < 0 ? 0 : i) * it->p->nodes[a].rows + n->first + r) * n->columns + c];
  case NODE_ROW_SUM:
    for (int k = 0; k < it->p->nodes[a].rows; k++) sum += interpret_at(it, a, i, k, c);
    return sum;
  case NODE_SUM:
    for (int64_t k = 0; k < interpret_count(it, a); k++) sum += interpret_at(it, a, k, r, 0);
    return sum;
  case NODE_TRANSPOSE:
    return interpret_at(it, a, 0, c, r);
  case NODE_TABLE:
    return table_value(it->values[a], it->p->nodes[a].rows / 2, n->first,
                       interpret_at(it, n->inputs[1], i, r, 0));
  default:
    return interpret_at(it, a, i, r, c);
  }
}

static inline void interpret_node(interpreter *it, pcsim_value v) {
  const node *n = &it->p->nodes[v];
  const int64_t points = interpret_count(it, v);
  double *out = calloc((size_t)(points * n->rows * n->columns) + 1, sizeof *out);
  it->values[v] = out;
  const size_t bytes = (size_t)(points * n->rows * n->columns) * sizeof *out;
  const double *given = n->kind == NODE_INPUT || n->kind == NODE_PARAMETER ? it->data[n->index] : NULL;
  switch (n->kind) {
  case NODE_CONSTANT:
    memcpy(out, n->numbers, bytes);
    return;
  case NODE_PARAMETER:
    memcpy(out, given ? given : n->numbers, bytes);
    return;
  case NODE_INPUT:
    if (!given) fail_msg("input '%s' is not bound", it->p->names[n->index]);
    memcpy(out, given, bytes);
    return;
  case NODE_DENSE:
  case NODE_DENSE_TRANSPOSED:
  case NODE_OUTER:
    interpret_products(it, n, out, points);
    return;
  case NODE_GATHER:
  case NODE_SCATTER_ADD:
  case NODE_SPARSE:
  case NODE_SPARSE_TRANSPOSED:
  case NODE_SEGMENT_MIN:
  case NODE_SEGMENT_MAX:
  case NODE_SEGMENT_PICK:
  case NODE_SEGMENT_PUT:
    interpret_maps(it, n, out, points);
    return;
  default:
    break;
  }
  for (int64_t i = 0; i < points; i++)
    for (int r = 0; r < n->rows; r++)
      for (int c = 0; c < n->columns; c++)
        out[(i * n->rows + r) * n->columns + c] = n->kind == NODE_OP || n->kind == NODE_USER
                                                      ? interpret_pointwise(it, n, i, r, c)
                                                      : interpret_moved(it, n, i, r, c);
}

static inline void interpret_run(interpreter *it) {
  for (int v = 0; v < it->p->num_nodes; v++) {
    free(it->values[v]);
    interpret_node(it, v);
  }
}

/** Numbers of an output [points][rows][columns]; of the interpreter. */
static inline const double *interpret_output(const interpreter *it, const char *name) {
  const pcsim_value v = graph_find_output(it->p, name);
  if (v < 0) fail_msg("no output '%s'", name);
  return it->values[v];
}

/** Result of a test program: that of its tests, and all memory given back. */
static inline int interpret_balance(int failed) {
  pcsim_error_clear();
  if (!pcsim_memory_used()) return failed;
  print_error("%zu bytes were not given back\n", pcsim_memory_used());
  return 1;
}

#endif
