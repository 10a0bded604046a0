/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_map.c  Maps between spaces: checks, transposes, and their values on a tile of points.
 *
 *  Back operators (transposed sparse, segment put, scatter-adds of inputs) run over the points they write, by
 *  the transpose of the map: sums have one order, whatever the number of threads. */
#include "exec_plan.h"

#include <string.h>

void exec_map_release(bound_map *map) {
  pcsim_free(&map->back_start);
  pcsim_free(&map->back_entry);
  pcsim_free(&map->back_row);
  map->transposed = false;
}

static pcsim_status check_columns(const pcsim_program *g, const graph_map *m, const int32_t *column,
                                  int64_t n, int64_t limit) {
  for (int64_t i = 0; i < n; i++)
    PCSIM_CHECK(column[i] >= 0 && column[i] < limit, PCSIM_ERR_ARG,
                "map '%s': entry %lld is %d, '%s' has %lld points", m->name, (long long)i, column[i],
                g->spaces[m->from], (long long)limit);
  return PCSIM_OK;
}

static pcsim_status check_map(const pcsim_executor *x, int number, bool weights) {
  const pcsim_program *g = x->plan.program;
  const graph_map *m = &g->maps[number];
  const bound_map *b = &x->maps[number];
  const int64_t to = x->points[m->to], from = x->points[m->from];
  if (m->width == 0) {
    PCSIM_CHECK(b->index || to == 0, PCSIM_ERR_ARG, "map '%s' is not bound", m->name);
    return check_columns(g, m, b->index, to, from);
  }
  PCSIM_CHECK(b->start, PCSIM_ERR_ARG, "map '%s' is not bound", m->name);
  PCSIM_CHECK(b->start[0] == 0, PCSIM_ERR_ARG, "map '%s': row 0 starts at %lld, expected 0", m->name,
              (long long)b->start[0]);
  for (int64_t i = 0; i < to; i++)
    PCSIM_CHECK(b->start[i] <= b->start[i + 1], PCSIM_ERR_ARG,
                "map '%s': row %lld ends at %lld before its start %lld", m->name, (long long)i,
                (long long)b->start[i + 1], (long long)b->start[i]);
  PCSIM_CHECK(b->start[to] == 0 || b->column, PCSIM_ERR_ARG, "map '%s' has no columns", m->name);
  PCSIM_CHECK(b->start[to] == 0 || b->weight || !weights, PCSIM_ERR_ARG, "map '%s' has no weights", m->name);
  return check_columns(g, m, b->column, b->start[to], from);
}

/** Counting sort of the entries by the point they name. */
static pcsim_status transpose_map(pcsim_executor *x, int number) {
  const graph_map *m = &x->plan.program->maps[number];
  bound_map *b = &x->maps[number];
  const int64_t to = x->points[m->to], from = x->points[m->from];
  const int64_t entries = m->width ? b->start[to] : to;
  const int32_t *column = m->width ? b->column : b->index;
  exec_map_release(b);
  PCSIM_TRY(pcsim_alloc((size_t)from + 2, sizeof *b->back_start, &b->back_start));
  PCSIM_TRY(pcsim_alloc((size_t)entries, sizeof *b->back_entry, &b->back_entry));
  PCSIM_TRY(pcsim_alloc((size_t)entries, sizeof *b->back_row, &b->back_row));
  /* Shifted by two, so that after filling, start[j] is where j begins. */
  for (int64_t e = 0; e < entries; e++) b->back_start[column[e] + 2]++;
  for (int64_t j = 2; j <= from + 1; j++) b->back_start[j] += b->back_start[j - 1];
  for (int64_t row = 0; row < to; row++) {
    const int64_t first = m->width ? b->start[row] : row, end = m->width ? b->start[row + 1] : row + 1;
    for (int64_t e = first; e < end; e++) {
      const int64_t at = b->back_start[column[e] + 1]++;
      b->back_entry[at] = e;
      b->back_row[at] = (int32_t)row;
    }
  }
  b->transposed = true;
  return PCSIM_OK;
}

pcsim_status exec_maps_prepare(pcsim_executor *x) {
  const pcsim_program *g = x->plan.program;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    const node *n = &g->nodes[v];
    if (!x->plan.live[v] || !plan_is_map(n->kind)) continue;
    bound_map *b = &x->maps[n->index];
    const bool weights = n->kind == NODE_SPARSE || n->kind == NODE_SPARSE_TRANSPOSED;
    const bool back = (n->kind == NODE_SCATTER_ADD && x->plan.added_to[v] < 0) ||
                      n->kind == NODE_SPARSE_TRANSPOSED || n->kind == NODE_SEGMENT_PUT;
    const graph_map *m = &g->maps[n->index];
    PCSIM_CHECK(x->points[m->to] >= 0 && x->points[m->from] >= 0, PCSIM_ERR_ARG,
                "map '%s': the numbers of points of '%s' and '%s' are not both given", m->name,
                g->spaces[m->to], g->spaces[m->from]);
    if (!b->checked || (weights && !b->weight)) PCSIM_TRY(check_map(x, n->index, weights));
    b->checked = true;
    if (back && !b->transposed) PCSIM_TRY(transpose_map(x, n->index));
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------- values on a tile */

typedef struct {
  const double *at; /**< first row of point 0 */
  int64_t stride;   /**< numbers a point */
} source;

static source source_of(const pcsim_executor *x, pcsim_value root, int row) {
  const double *data = exec_source(x, root);
  return (source){data ? data + row : NULL, x->plan.program->nodes[root].rows};
}

/** The points first .. first + n - 1 of what the map writes. */
static map_tile tile_of(const bound_map *b, bool back, int64_t points, int64_t first, int n, int tile) {
  const int64_t after = points - first - n;
  if (back) return (map_tile){n, tile, after, b->back_start + first, b->back_row, NULL};
  if (b->index) return (map_tile){n, tile, after, NULL, b->index + first, NULL};
  return (map_tile){n, tile, after, b->start + first, b->column, b->weight};
}

/** Sums and extrema of the list, over the same entries. */
static void near(const pcsim_executor *x, const instruction *step, const map_tile *t, source a, int width,
                 double *const *out) {
  const plan *p = &x->plan;
  map_outputs o = {NULL, NULL, NULL};
  for (int i = 0; i < step->count; i++) {
    const node_kind kind = p->program->nodes[p->list[step->first + 2 * i]].kind;
    if (kind == NODE_SEGMENT_MIN) o.low = out[i];
    else if (kind == NODE_SEGMENT_MAX) o.high = out[i];
    else o.sum = out[i];
  }
  const node *v = &p->program->nodes[step->node];
  x->kernels->map_near(t, v->kind == NODE_SPARSE ? v->rows / width : v->rows, width, a.at, a.stride, &o);
}

/** Places by the least and the greatest of the list. */
static void place(const pcsim_executor *x, const instruction *step, const map_tile *t, source a,
                  double *const *out) {
  const plan *p = &x->plan;
  double *of[2] = {NULL, NULL};
  for (int i = 0; i < step->count; i++)
    of[p->program->nodes[p->list[step->first + 2 * i]].first != 0] = out[i];
  x->kernels->map_place(t, p->program->nodes[step->node].rows, a.at, a.stride, of[0], of[1]);
}

/** Transposes of one or two of the list: of the least and of the greatest. */
static void put(const pcsim_executor *x, const instruction *step, const map_tile *t, const map_back *back,
                double *const *out) {
  const plan *p = &x->plan;
  map_put_source from[MAX_PUTS];
  for (int i = 0; i < step->count; i++) {
    const node *n = &p->program->nodes[p->list[step->first + 2 * i]];
    const source y = source_of(x, p->root[n->inputs[0]], p->root_row[n->inputs[0]]),
                 at = source_of(x, p->root[n->inputs[1]], p->root_row[n->inputs[1]]);
    from[i] = (map_put_source){y.at, at.at, y.stride, at.stride};
  }
  x->kernels->map_put(t, back, p->program->nodes[step->node].rows, step->count, from, out);
}

void exec_map(const pcsim_executor *x, const instruction *step, int64_t first, int n, int tile,
              double *const *out) {
  const node *v = &x->plan.program->nodes[step->node];
  const bound_map *b = &x->maps[v->index];
  const int width = x->plan.program->maps[v->index].width;
  const source a = source_of(x, step->a, step->a_row);
  const bool transposed =
      v->kind == NODE_SCATTER_ADD || v->kind == NODE_SPARSE_TRANSPOSED || v->kind == NODE_SEGMENT_PUT;
  const map_tile t = tile_of(b, transposed, x->points[v->space], first, n, tile);
  const map_back back = {b->back_entry, b->start, b->column, b->weight};
  const source chosen = v->num_inputs > 1 ? source_of(x, step->b, step->b_row) : (source){NULL, 0};
  switch (v->kind) {
  case NODE_GATHER:
    x->kernels->map_gather(&t, v->rows, a.at, a.stride, out[0]);
    return;
  case NODE_SCATTER_ADD:
    if (t.start[0] == t.start[n]) { /* nothing comes here, as in most tiles of what comes from a boundary */
      memset(out[0], 0, (size_t)v->rows * (size_t)tile * sizeof *out[0]);
      return;
    }
    x->kernels->map_near(&t, v->rows, 0, a.at, a.stride, &(map_outputs){out[0], NULL, NULL});
    return;
  case NODE_SPARSE:
  case NODE_SEGMENT_MIN:
  case NODE_SEGMENT_MAX:
    near(x, step, &t, a, width, out);
    return;
  case NODE_SPARSE_TRANSPOSED:
    x->kernels->map_transposed(&t, &back, v->rows, width, a.at, a.stride, out[0]);
    return;
  case NODE_SEGMENT_PICK:
    x->kernels->map_pick(&t, v->rows, v->first != 0, a.at, a.stride, chosen.at, chosen.stride, out[0]);
    return;
  case NODE_SEGMENT_PLACE:
    place(x, step, &t, a, out);
    return;
  default: /* SEGMENT_PUT */
    put(x, step, &t, &back, out);
  }
}
