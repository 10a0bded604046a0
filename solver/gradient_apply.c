/* SPDX-License-Identifier: BSD-2-Clause */
/* Gradients from their maps, compiled for the usual numbers of unknowns and dimensions, and once with dual
 * numbers. */
#include "gradient.h"
#include "simd.h"

#include <string.h>

enum { ALL = -1, UNKNOWNS_MAX = 384 }; /* of six times 64: gradients of second derivatives */

/* Constant numbers of unknowns and dimensions reach the loops by inlining alone. */
#define INLINED static inline __attribute__((always_inline))

/* node[row] = sum weight * q[column] for the unknowns of a class. */
INLINED void to_nodes(const linear_map *map, const int *class_of, int class, int m, const pcsim_real *q,
                      pcsim_real *restrict node) {
  for (int64_t i = 0; i < map->num_rows; i++) {
    pcsim_real sum[UNKNOWNS_MAX];
    for (int c = 0; c < m; c++) sum[c] = 0;
    for (int64_t k = map->start[i]; k < map->start[i + 1]; k++) {
      const pcsim_real w = map->weight[k], *x = q + (int64_t)map->column[k] * m;
      for (int c = 0; c < m; c++) sum[c] += w * x[c];
    }
    for (int c = 0; c < m; c++)
      if (class == ALL || class_of[c] == class) node[(int64_t)map->row[i] * m + c] = sum[c];
  }
}

/* gradient[row][c][j] = (add: +=) sum weight[j] * source[column][c] for the unknowns of a class. */
INLINED void to_cells(const linear_map *map, const int *class_of, int class, int m, int dim, bool add,
                      const pcsim_real *source, pcsim_real *restrict grad) {
  for (int64_t i = 0; i < map->num_rows; i++) {
    pcsim_real sum[UNKNOWNS_MAX * 3];
    for (int c = 0; c < m * dim; c++) sum[c] = 0;
    for (int64_t k = map->start[i]; k < map->start[i + 1]; k++) {
      const pcsim_real *w = map->weight + k * dim, *x = source + (int64_t)map->column[k] * m;
      for (int c = 0; c < m; c++)
        for (int j = 0; j < dim; j++) sum[c * dim + j] += w[j] * x[c];
    }
    pcsim_real *g = grad + (int64_t)map->row[i] * m * dim;
    for (int c = 0; c < m; c++)
      if (class == ALL || class_of[c] == class)
        for (int j = 0; j < dim; j++) g[c * dim + j] = (add ? g[c * dim + j] : 0) + sum[c * dim + j];
  }
}

INLINED void give_nodes(const gradient_maps *g, const gradient_data *data, int m) {
  for (int64_t i = 0; i < g->num_given; i++)
    for (int c = 0; c < m; c++)
      if (g->given_class[i * g->num_classes + data->class_of[c]])
        data->node_value[(int64_t)g->given[i] * m + c] = data->node ? data->node[i * m + c] : 0;
}

INLINED void apply(const gradient_maps *g, const gradient_data *data, const pcsim_real *q, int m, int dim,
                   pcsim_real *grad) {
  const int *class_of = data->class_of;
  to_nodes(&g->node, class_of, ALL, m, q, data->node_value);
  for (int c = 0; c < g->num_classes; c++) to_nodes(&g->class_node[c], class_of, c, m, q, data->node_value);
  give_nodes(g, data, m);
  to_cells(&g->cell, class_of, ALL, m, dim, false, data->node_value, grad);
  to_cells(&g->direct, class_of, ALL, m, dim, false, q, grad);
  for (int c = 0; c < g->num_classes; c++) {
    to_cells(&g->class_cell[c], class_of, c, m, dim, false, q, grad);
    if (data->face) to_cells(&g->class_face[c], class_of, c, m, dim, true, data->face, grad);
  }
}

#ifdef PCSIM_DUAL
void gradient_apply(const gradient_maps *g, const gradient_data *data, const pcsim_real *q,
                    pcsim_real *grad) {
  apply(g, data, q, data->m, g->dim, grad);
}
#else
#define APPLY_OF(M, DIM)                                                                                     \
  PCSIM_CLONES static void apply_##M##_##DIM(const gradient_maps *g, const gradient_data *data,              \
                                             const double *q, double *grad) {                                \
    apply(g, data, q, M, DIM, grad);                                                                         \
  }
APPLY_OF(1, 2)
APPLY_OF(2, 2)
APPLY_OF(3, 2)
APPLY_OF(1, 3)
APPLY_OF(3, 3)
APPLY_OF(4, 3)

void gradient_apply(const gradient_maps *g, const gradient_data *data, const double *q, double *grad) {
  switch (10 * data->m + g->dim) {
  case 12:
    apply_1_2(g, data, q, grad);
    break;
  case 22:
    apply_2_2(g, data, q, grad);
    break;
  case 32:
    apply_3_2(g, data, q, grad);
    break;
  case 13:
    apply_1_3(g, data, q, grad);
    break;
  case 33:
    apply_3_3(g, data, q, grad);
    break;
  case 43:
    apply_4_3(g, data, q, grad);
    break;
  default:
    apply(g, data, q, data->m, g->dim, grad);
  }
}

/* --------------------------------------------------------------- derivatives */

void gradient_tangent_apply(const gradient_maps *g, const gradient_maps *d, const gradient_data *data,
                            const double *q, const double *d_q, double *d_grad) {
  const int *class_of = data->class_of;
  const int m = data->m, dim = g->dim;
  double *node = data->node_value;
  /* changed weights of the second stage, and of what has only one */
  to_nodes(&g->node, class_of, ALL, m, q, node);
  for (int c = 0; c < g->num_classes; c++) to_nodes(&g->class_node[c], class_of, c, m, q, node);
  give_nodes(g, data, m);
  to_cells(&d->cell, class_of, ALL, m, dim, false, node, d_grad);
  to_cells(&d->direct, class_of, ALL, m, dim, false, q, d_grad);
  for (int c = 0; c < g->num_classes; c++) {
    to_cells(&d->class_cell[c], class_of, c, m, dim, false, q, d_grad);
    if (data->face) to_cells(&d->class_face[c], class_of, c, m, dim, true, data->face, d_grad);
  }
  /* changed values at the nodes: by their weights, then by q itself */
  const gradient_data none = {.m = m, .class_of = class_of, .node_value = node};
  to_nodes(&d->node, class_of, ALL, m, q, node);
  for (int c = 0; c < g->num_classes; c++) to_nodes(&d->class_node[c], class_of, c, m, q, node);
  give_nodes(g, &none, m);
  to_cells(&g->cell, class_of, ALL, m, dim, true, node, d_grad);
  if (!d_q) return;
  to_nodes(&g->node, class_of, ALL, m, d_q, node);
  for (int c = 0; c < g->num_classes; c++) to_nodes(&g->class_node[c], class_of, c, m, d_q, node);
  give_nodes(g, &none, m);
  to_cells(&g->cell, class_of, ALL, m, dim, true, node, d_grad);
  to_cells(&g->direct, class_of, ALL, m, dim, true, d_q, d_grad);
  for (int c = 0; c < g->num_classes; c++)
    to_cells(&g->class_cell[c], class_of, c, m, dim, true, d_q, d_grad);
}

/* ----------------------------------------------------------------- transposed */

/* source[column] += sum weight[j] * grad[row][c][j] for the unknowns of a class: to_cells the other way. */
static void from_cells(const linear_map *map, const int *class_of, int class, int m, int dim,
                       const double *grad, double *source) {
  for (int64_t i = 0; i < map->num_rows; i++) {
    const double *g = grad + (int64_t)map->row[i] * m * dim;
    for (int64_t k = map->start[i]; k < map->start[i + 1]; k++) {
      const double *w = map->weight + k * dim;
      double *x = source + (int64_t)map->column[k] * m;
      for (int c = 0; c < m; c++)
        for (int j = 0; (class == ALL || class_of[c] == class) && j < dim; j++) x[c] += w[j] * g[c * dim + j];
    }
  }
}

/* to_nodes the other way. */
static void from_nodes(const linear_map *map, const int *class_of, int class, int m, const double *node,
                       double *q) {
  for (int64_t i = 0; i < map->num_rows; i++) {
    const double *y = node + (int64_t)map->row[i] * m;
    for (int64_t k = map->start[i]; k < map->start[i + 1]; k++) {
      double *x = q + (int64_t)map->column[k] * m;
      for (int c = 0; c < m; c++)
        if (class == ALL || class_of[c] == class) x[c] += map->weight[k] * y[c];
    }
  }
}

/* Nodes where a value is given stand in no map from cells. */
static void take_nodes(const gradient_maps *g, const gradient_cotangent *to) {
  const int m = to->m;
  for (int64_t i = 0; i < g->num_given; i++)
    for (int c = 0; c < m; c++)
      if (g->given_class[i * g->num_classes + to->class_of[c]])
        to->node[i * m + c] += to->node_value[(int64_t)g->given[i] * m + c];
}

void gradient_apply_transposed(const gradient_maps *g, const gradient_cotangent *to, const double *grad) {
  const int *class_of = to->class_of;
  const int m = to->m;
  memset(to->node_value, 0, (size_t)(g->num_nodes * m) * sizeof *to->node_value);
  for (int c = 0; c < g->num_classes; c++) {
    if (to->face) from_cells(&g->class_face[c], class_of, c, m, g->dim, grad, to->face);
    from_cells(&g->class_cell[c], class_of, c, m, g->dim, grad, to->q);
  }
  from_cells(&g->direct, class_of, ALL, m, g->dim, grad, to->q);
  from_cells(&g->cell, class_of, ALL, m, g->dim, grad, to->node_value);
  if (to->node) take_nodes(g, to);
  for (int c = 0; c < g->num_classes; c++)
    from_nodes(&g->class_node[c], class_of, c, m, to->node_value, to->q);
  from_nodes(&g->node, class_of, ALL, m, to->node_value, to->q);
}
#endif
