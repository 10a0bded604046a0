/* SPDX-License-Identifier: BSD-2-Clause */
/* Small least-squares fits, and sparse maps that grow row by row; compiled twice. */
#include "gradient.h"

#include <string.h>

/* ------------------------------------------------------------- growing maps */

pcsim_status map_begin(map_builder *b, int width) {
  memset(b, 0, sizeof *b);
  b->map.width = width;
  return pcsim_alloc(1, sizeof(int64_t), &b->map.start);
}

pcsim_status map_begin_row(map_builder *b, int32_t row) {
  linear_map *m = &b->map;
  if (m->num_rows == b->rows_room) {
    b->rows_room = b->rows_room ? b->rows_room * 2 : 1024;
    PCSIM_TRY(pcsim_realloc((size_t)b->rows_room, sizeof *m->row, &m->row));
    PCSIM_TRY(pcsim_realloc((size_t)b->rows_room + 1, sizeof *m->start, &m->start));
  }
  m->row[m->num_rows] = row;
  m->start[m->num_rows + 1] = m->start[m->num_rows];
  m->num_rows++;
  return PCSIM_OK;
}

pcsim_status map_add(map_builder *b, int32_t column, const pcsim_real *weight) {
  linear_map *m = &b->map;
  const int64_t at = m->start[m->num_rows];
  if (at == b->columns_room) {
    b->columns_room = b->columns_room ? b->columns_room + b->columns_room / 2 : 4096;
    PCSIM_TRY(pcsim_realloc((size_t)b->columns_room, sizeof *m->column, &m->column));
    PCSIM_TRY(pcsim_realloc((size_t)(b->columns_room * m->width), sizeof *m->weight, &m->weight));
  }
  m->column[at] = column;
  memcpy(m->weight + at * m->width, weight, (size_t)m->width * sizeof *weight);
  m->start[m->num_rows]++;
  return PCSIM_OK;
}

/* Give back the unused room. An empty map keeps start = {0}. */
pcsim_status map_end(map_builder *b, linear_map *map) {
  linear_map *m = &b->map;
  PCSIM_TRY(pcsim_realloc((size_t)m->num_rows + 1, sizeof *m->start, &m->start));
  if (m->num_rows) PCSIM_TRY(pcsim_realloc((size_t)m->num_rows, sizeof *m->row, &m->row));
  const int64_t nnz = m->start[m->num_rows];
  if (nnz) {
    PCSIM_TRY(pcsim_realloc((size_t)nnz, sizeof *m->column, &m->column));
    PCSIM_TRY(pcsim_realloc((size_t)(nnz * m->width), sizeof *m->weight, &m->weight));
  }
  *map = *m;
  memset(m, 0, sizeof *m);
  return PCSIM_OK;
}

void map_free(linear_map *m) {
  pcsim_free(&m->row), pcsim_free(&m->start), pcsim_free(&m->column), pcsim_free(&m->weight);
}

/* ---------------------------------------------------------- small fits */

void fit_add(fit_data *fit, int32_t column, const pcsim_real *point, const pcsim_real *target, int power) {
  if (fit->num == FIT_MAX) return;
  pcsim_real *x = fit->x[fit->num], r2 = 0;
  for (int i = 0; i < 3; i++) x[i] = point[i] - target[i], r2 += x[i] * x[i];
  fit->column[fit->num] = column;
  fit->w[fit->num++] = pcsim_part(r2) > 0 ? (power == 2 ? 1 / r2 : 1 / pcsim_root(r2)) : 1e30;
}

/* Inverse of a symmetric positive matrix scaled to unit diagonal; false if it is singular to round-off. */
static bool invert(int dim, pcsim_real a[3][3], pcsim_real inv[3][3]) {
  pcsim_real s[3], c[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < dim; i++) {
    if (!(pcsim_part(a[i][i]) > 0)) return false;
    s[i] = 1 / pcsim_root(a[i][i]);
  }
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) c[i][j] = a[i][j] * s[i] * s[j];
  const pcsim_real c00 = c[1][1] * c[2][2] - c[1][2] * c[2][1], c01 = c[1][2] * c[2][0] - c[1][0] * c[2][2],
                   c02 = c[1][0] * c[2][1] - c[1][1] * c[2][0];
  const pcsim_real det = c[0][0] * c00 + c[0][1] * c01 + c[0][2] * c02;
  if (!(pcsim_part(det) > 1e-10)) return false;
  const pcsim_real m[3][3] = {
      {c00, c[0][2] * c[2][1] - c[0][1] * c[2][2], c[0][1] * c[1][2] - c[0][2] * c[1][1]},
      {c01, c[0][0] * c[2][2] - c[0][2] * c[2][0], c[0][2] * c[1][0] - c[0][0] * c[1][2]},
      {c02, c[0][1] * c[2][0] - c[0][0] * c[2][1], c[0][0] * c[1][1] - c[0][1] * c[1][0]}};
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) inv[i][j] = m[i][j] / det * s[i] * s[j];
  return true;
}

/* Weights of the value at the target of the linear least-squares fit; false if it is not unique or
 * extrapolates far. */
bool fit_value(const fit_data *fit, int dim, pcsim_real *weight) {
  pcsim_real sum = 0, mean[3] = {0}, a[3][3] = {{0}}, inv[3][3] = {{0}}, b[3];
  if (fit->num < dim + 1) return false;
  for (int k = 0; k < fit->num; k++) {
    sum += fit->w[k];
    for (int i = 0; i < dim; i++) mean[i] += fit->w[k] * fit->x[k][i];
  }
  for (int i = 0; i < dim; i++) mean[i] /= sum;
  for (int k = 0; k < fit->num; k++)
    for (int i = 0; i < dim; i++)
      for (int j = 0; j < dim; j++)
        a[i][j] += fit->w[k] * (fit->x[k][i] - mean[i]) * (fit->x[k][j] - mean[j]);
  if (!invert(dim, a, inv)) return false;
  double total = 0;
  for (int i = 0; i < dim; i++) {
    b[i] = 0;
    for (int j = 0; j < dim; j++) b[i] += inv[i][j] * mean[j];
  }
  for (int k = 0; k < fit->num; k++) {
    pcsim_real along = 0;
    for (int i = 0; i < dim; i++) along += b[i] * (fit->x[k][i] - mean[i]);
    weight[k] = fit->w[k] * (1 / sum - along);
    total += fabs(pcsim_part(weight[k]));
  }
  return total < 8;
}

/* Weights [num][dim] of the gradient at the target whose own value is known: grad = sum w (phi_k - phi). */
bool fit_gradient(const fit_data *fit, int dim, pcsim_real *weight) {
  pcsim_real a[3][3] = {{0}}, inv[3][3] = {{0}};
  if (fit->num < dim) return false;
  for (int k = 0; k < fit->num; k++)
    for (int i = 0; i < dim; i++)
      for (int j = 0; j < dim; j++) a[i][j] += fit->w[k] * fit->x[k][i] * fit->x[k][j];
  if (!invert(dim, a, inv)) return false;
  for (int k = 0; k < fit->num; k++)
    for (int i = 0; i < dim; i++) {
      pcsim_real s = 0;
      for (int j = 0; j < dim; j++) s += inv[i][j] * fit->x[k][j];
      weight[k * dim + i] = fit->w[k] * s;
    }
  return true;
}
