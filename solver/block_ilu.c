/* SPDX-License-Identifier: BSD-2-Clause */
/* Incomplete LU of a block matrix: rows in the given order, level of fill as in Saad, Iterative Methods for
 * Sparse Linear Systems, section 10.3. */
#include "block.h"
#include "simd.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- pattern */

/* Row i with levels, as a linked list in ascending column order. */
typedef struct {
  int32_t *next; /* [n + 1], head at n */
  int32_t *level;
} fill_row;

static void row_insert(fill_row *r, int32_t after, int32_t column, int32_t level) {
  r->next[column] = r->next[after];
  r->next[after] = column;
  r->level[column] = level;
}

typedef struct {
  int64_t room;
  int32_t *level; /* of each stored entry */
} fill_store;

static pcsim_status store_row(block_ilu *lu, fill_store *s, int64_t i, const fill_row *r, int64_t *nnz) {
  for (int32_t c = r->next[lu->n]; c >= 0; c = r->next[c]) {
    if (c == i) {
      lu->upper[i] = *nnz;
      continue;
    }
    if (*nnz == s->room) {
      s->room += s->room / 2 + 1024;
      PCSIM_TRY(pcsim_realloc((size_t)s->room, sizeof(int32_t), &lu->column));
      PCSIM_TRY(pcsim_realloc((size_t)s->room, sizeof(int32_t), &s->level));
    }
    lu->column[*nnz] = c;
    s->level[(*nnz)++] = r->level[c];
  }
  lu->start[i + 1] = *nnz;
  return PCSIM_OK;
}

static pcsim_status make_pattern(const block_matrix *a, int fill, block_ilu *lu, fill_store *s, fill_row *r) {
  const int64_t n = a->n;
  int64_t nnz = 0;
  s->room = a->start[n] + 1;
  PCSIM_TRY(pcsim_alloc((size_t)s->room, sizeof(int32_t), &lu->column));
  PCSIM_TRY(pcsim_alloc((size_t)s->room, sizeof(int32_t), &s->level));
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, sizeof(int32_t), &r->next));
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, sizeof(int32_t), &r->level));
  for (int64_t i = 0; i < n; i++) r->level[i] = INT32_MAX;
  for (int64_t i = 0; i < n; i++) {
    int32_t last = (int32_t)n;
    r->next[n] = -1;
    for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {
      const int32_t c = a->column[k];
      if (c >= n) continue;
      row_insert(r, last, c, 0);
      last = c;
    }
    for (int32_t c = r->next[n]; fill > 0 && c >= 0 && c < i; c = r->next[c]) {
      int32_t at = c;
      for (int64_t k = lu->upper[c]; k < lu->start[c + 1]; k++) {
        const int32_t j = lu->column[k], level = r->level[c] + s->level[k] + 1;
        if (level > fill) continue;
        if (r->level[j] != INT32_MAX) {
          if (level < r->level[j]) r->level[j] = level;
          continue;
        }
        while (r->next[at] >= 0 && r->next[at] < j) at = r->next[at];
        row_insert(r, at, j, level);
      }
    }
    PCSIM_TRY(store_row(lu, s, i, r, &nnz));
    for (int32_t c = r->next[n]; c >= 0; c = r->next[c]) r->level[c] = INT32_MAX;
  }
  PCSIM_TRY(pcsim_realloc((size_t)nnz, sizeof(int32_t), &lu->column));
  return pcsim_alloc((size_t)(nnz * lu->m * 4), sizeof(float), &lu->value);
}

pcsim_status block_ilu_create(const block_matrix *a, int level, block_ilu *lu) {
  fill_store store = {0};
  fill_row row = {0};
  memset(lu, 0, sizeof *lu);
  lu->m = a->m, lu->n = a->n;
  pcsim_status status = pcsim_alloc((size_t)a->n + 1, sizeof(int64_t), &lu->start);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)a->n, sizeof(int64_t), &lu->upper);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)(a->n * a->m * 4), sizeof(float), &lu->pivot);
  if (status == PCSIM_OK) status = make_pattern(a, level, lu, &store, &row);
  pcsim_free(&store.level), pcsim_free(&row.next), pcsim_free(&row.level);
  if (status != PCSIM_OK) block_ilu_destroy(lu);
  return status;
}

void block_ilu_destroy(block_ilu *lu) {
  pcsim_free(&lu->start), pcsim_free(&lu->upper), pcsim_free(&lu->column), pcsim_free(&lu->value),
      pcsim_free(&lu->pivot);
}

/* ----------------------------------------------------------------- values */

/* Inverse of a column-stored block in double; false and a regularised inverse if it is singular. */
static bool invert_block(int m, const float *a, float *inverse) {
  double w[4][8];
  bool regular = true;
  double largest = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      w[i][j] = a[4 * j + i];
      w[i][m + j] = i == j;
      largest = fmax(largest, fabs(w[i][j]));
    }
  for (int k = 0; k < m; k++) {
    int p = k;
    for (int i = k + 1; i < m; i++)
      if (fabs(w[i][k]) > fabs(w[p][k])) p = i;
    for (int j = 0; j < 2 * m && p != k; j++) {
      const double t = w[k][j];
      w[k][j] = w[p][j], w[p][j] = t;
    }
    if (!(fabs(w[k][k]) > 1e-12 * largest)) {
      w[k][k] = largest > 0 ? 1e-3 * largest : 1;
      regular = false;
    }
    const double s = 1 / w[k][k];
    for (int j = 0; j < 2 * m; j++) w[k][j] *= s;
    for (int i = 0; i < m; i++) {
      const double t = w[i][k];
      if (i == k || t == 0) continue;
      for (int j = 0; j < 2 * m; j++) w[i][j] -= t * w[k][j];
    }
  }
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < m; i++) inverse[4 * j + i] = (float)w[i][m + j];
    for (int i = m; i < 4; i++) inverse[4 * j + i] = 0;
  }
  return regular;
}

/* Row by row elimination in place; where[column] is the place of the column in the current row. */
#define FACTORISE(M)                                                                                         \
  PCSIM_CLONES static int64_t factorise##M(const block_matrix *a, block_ilu *lu, int64_t *where) {           \
    int64_t singular = 0;                                                                                    \
    v4 *value = (v4 *)lu->value, *pivot = (v4 *)lu->pivot;                                                   \
    const v4 *source = (const v4 *)a->value;                                                                 \
    for (int64_t i = 0; i < lu->n; i++) {                                                                    \
      v4 diagonal[M];                                                                                        \
      memset(value + lu->start[i] * M, 0, (size_t)(lu->start[i + 1] - lu->start[i]) * M * sizeof(v4));       \
      for (int64_t k = lu->start[i]; k < lu->start[i + 1]; k++) where[lu->column[k]] = k;                    \
      for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {                                              \
        const int32_t c = a->column[k];                                                                      \
        if (c >= lu->n) continue;                                                                            \
        memcpy(c == i ? diagonal : value + where[c] * M, source + k * M, M * sizeof(v4));                    \
      }                                                                                                      \
      for (int64_t k = lu->start[i]; k < lu->upper[i]; k++) {                                                \
        const int32_t c = lu->column[k];                                                                     \
        v4 l[M];                                                                                             \
        for (int j = 0; j < M; j++) {                                                                        \
          const v4 p = pivot[(int64_t)c * M + j];                                                            \
          l[j] = value[k * M] * p[0];                                                                        \
          for (int s = 1; s < M; s++) l[j] += value[k * M + s] * p[s];                                       \
        }                                                                                                    \
        memcpy(value + k * M, l, sizeof l);                                                                  \
        for (int64_t e = lu->upper[c]; e < lu->start[c + 1]; e++) {                                          \
          const int32_t column = lu->column[e];                                                              \
          const int64_t w = where[column];                                                                   \
          v4 *target = column == i ? diagonal : w >= 0 ? value + w * M : NULL;                               \
          if (!target) continue;                                                                             \
          for (int j = 0; j < M; j++) {                                                                      \
            const v4 u = value[e * M + j];                                                                   \
            for (int s = 0; s < M; s++) target[j] -= l[s] * u[s];                                            \
          }                                                                                                  \
        }                                                                                                    \
      }                                                                                                      \
      singular += !invert_block(M, (const float *)diagonal, (float *)(pivot + i * M));                       \
      for (int64_t k = lu->start[i]; k < lu->start[i + 1]; k++) where[lu->column[k]] = -1;                   \
    }                                                                                                        \
    return singular;                                                                                         \
  }
FACTORISE(3)
FACTORISE(4)

pcsim_status block_ilu_update(const block_matrix *a, block_ilu *lu, int64_t *singular) {
  int64_t *where = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)lu->n, sizeof *where, &where));
  for (int64_t i = 0; i < lu->n; i++) where[i] = -1;
  *singular = (lu->m == 3 ? factorise3 : factorise4)(a, lu, where);
  pcsim_free(&where);
  return PCSIM_OK;
}

#define SOLVE(M)                                                                                             \
  PCSIM_CLONES static void solve##M(const block_ilu *lu, const float *b, float *x) {                         \
    const v4 *value = (const v4 *)lu->value, *pivot = (const v4 *)lu->pivot;                                 \
    v4 *y = (v4 *)x;                                                                                         \
    for (int64_t i = 0; i < lu->n; i++) {                                                                    \
      v4 s = ((const v4 *)b)[i], s2 = {0, 0, 0, 0};                                                          \
      for (int64_t k = lu->start[i]; k < lu->upper[i]; k++) {                                                \
        const float *z = x + 4 * (int64_t)lu->column[k];                                                     \
        const v4 *c = value + k * M;                                                                         \
        s -= c[0] * z[0];                                                                                    \
        s2 -= c[1] * z[1];                                                                                   \
        s -= c[2] * z[2];                                                                                    \
        if (M == 4) s2 -= c[M - 1] * z[3];                                                                   \
      }                                                                                                      \
      y[i] = s + s2;                                                                                         \
    }                                                                                                        \
    for (int64_t i = lu->n - 1; i >= 0; i--) {                                                               \
      v4 s = y[i], s2 = {0, 0, 0, 0};                                                                        \
      for (int64_t k = lu->upper[i]; k < lu->start[i + 1]; k++) {                                            \
        const float *z = x + 4 * (int64_t)lu->column[k];                                                     \
        const v4 *c = value + k * M;                                                                         \
        s -= c[0] * z[0];                                                                                    \
        s2 -= c[1] * z[1];                                                                                   \
        s -= c[2] * z[2];                                                                                    \
        if (M == 4) s2 -= c[M - 1] * z[3];                                                                   \
      }                                                                                                      \
      s += s2;                                                                                               \
      const v4 *p = pivot + i * M;                                                                           \
      v4 t = p[0] * s[0] + p[1] * s[1] + p[2] * s[2];                                                        \
      if (M == 4) t += p[M - 1] * s[3];                                                                      \
      y[i] = t;                                                                                              \
    }                                                                                                        \
  }
SOLVE(3)
SOLVE(4)

void block_ilu_solve(const block_ilu *lu, const float *b, float *x) {
  (lu->m == 3 ? solve3 : solve4)(lu, b, x);
}
