/* SPDX-License-Identifier: BSD-2-Clause */
#include "block.h"
#include "simd.h"

#include <stdlib.h>
#include <string.h>

static int compare_int32(const void *x, const void *y) {
  const int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
  return (a > b) - (a < b);
}

void rows_sort(int64_t n, int64_t *start, int32_t *column) {
  int64_t from = 0, at = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t end = start[i + 1];
    start[i] = at;
    qsort(column + from, (size_t)(end - from), sizeof *column, compare_int32);
    for (int64_t k = from; k < end; k++)
      if (at == start[i] || column[at - 1] != column[k]) column[at++] = column[k];
    from = end;
  }
  start[n] = at;
}

pcsim_status block_matrix_create(int m, int64_t n, int64_t num_ghosts, int64_t nnz, block_matrix *a) {
  memset(a, 0, sizeof *a);
  a->m = m, a->n = n, a->num_ghosts = num_ghosts;
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, sizeof *a->start, &a->start));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *a->diagonal, &a->diagonal));
  PCSIM_TRY(pcsim_alloc((size_t)nnz, sizeof *a->column, &a->column));
  PCSIM_TRY(pcsim_alloc((size_t)(nnz * m * 4), sizeof *a->value, &a->value));
  return PCSIM_OK;
}

void block_matrix_destroy(block_matrix *a) {
  pcsim_free(&a->start), pcsim_free(&a->diagonal), pcsim_free(&a->column), pcsim_free(&a->value);
}

int64_t block_matrix_find(const block_matrix *a, int64_t row, int32_t column) {
  int64_t low = a->start[row], high = a->start[row + 1];
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (a->column[middle] < column) low = middle + 1;
    else high = middle;
  }
  return low < a->start[row + 1] && a->column[low] == column ? low : -1;
}

#define RESIDUAL(M)                                                                                          \
  PCSIM_CLONES static void residual##M(const block_matrix *a, const float *b, const float *x, float *r) {    \
    const v4 *value = (const v4 *)a->value;                                                                  \
    for (int64_t i = 0; i < a->n; i++) {                                                                     \
      v4 s = ((const v4 *)b)[i], s2 = {0, 0, 0, 0};                                                          \
      for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {                                              \
        const float *y = x + 4 * (int64_t)a->column[k];                                                      \
        const v4 *c = value + k * M;                                                                         \
        s -= c[0] * y[0];                                                                                    \
        s2 -= c[1] * y[1];                                                                                   \
        s -= c[2] * y[2];                                                                                    \
        if (M == 4) s2 -= c[M - 1] * y[3];                                                                   \
      }                                                                                                      \
      ((v4 *)r)[i] = s + s2;                                                                                 \
    }                                                                                                        \
  }
RESIDUAL(3)
RESIDUAL(4)

void block_matrix_residual(const block_matrix *a, const float *b, const float *x, float *r) {
  (a->m == 3 ? residual3 : residual4)(a, b, x, r);
}
