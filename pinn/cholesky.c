/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cholesky.c  Right-looking, by panels of 64 columns: the panel is kept transposed, [column][row], so
 *  that its own solution and the update of what is to the right of it run along rows of memory. */
#include "cholesky.h"

#include "simd.h"

#include <math.h>
#include <string.h>

enum {
  PANEL = 64,
  TILE_ROWS = 4,
  TILE_COLUMNS = 2 * LANES,
  TILES = 8 /**< tiles a piece of work has, squared */
};

int64_t dense_padded(int64_t n) { return (n + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS; }

/* --------------------------------------------------------------------- products */

/** c [4][16] += factor * a^T b, a [depth][stride] (4 columns), b [depth][stride] (16 columns). */
PCSIM_CLONES static void tile(int64_t depth, int64_t stride, double factor, const double *restrict a,
                              const double *restrict b, double *restrict c, int64_t stride_c) {
  v8 sum[TILE_ROWS][2];
  for (int i = 0; i < TILE_ROWS; i++) sum[i][0] = sum[i][1] = (v8){0};
  for (int64_t k = 0; k < depth; k++, a += stride, b += stride) {
    const v8 low = *(const v8 *)b, high = *(const v8 *)(b + LANES);
    for (int i = 0; i < TILE_ROWS; i++) {
      sum[i][0] += a[i] * low;
      sum[i][1] += a[i] * high;
    }
  }
  for (int i = 0; i < TILE_ROWS; i++) {
    v8 *row = (v8 *)(c + i * stride_c);
    row[0] += factor * sum[i][0];
    row[1] += factor * sum[i][1];
  }
}

typedef struct {
  int64_t first, end; /**< rows and columns of c that are changed */
  int64_t depth, stride;
  double factor;
  const double *b;
  double *c;
} product;

enum { PIECE = TILES * TILE_COLUMNS };

/** A piece of c below its diagonal, 128 x 128; the sum over `depth` is cut so that b stays in cache. */
static void add_piece(void *context, int number, int thread) {
  enum { DEPTH = 256 };
  const product *p = context;
  int64_t row = 0;
  (void)thread;
  for (; number > row; row++) number -= (int)row + 1;
  const int64_t i0 = p->first + PIECE * row, j0 = p->first + PIECE * number;
  const int64_t i1 = i0 + PIECE < p->end ? i0 + PIECE : p->end;
  const int64_t j1 = j0 + PIECE < p->end ? j0 + PIECE : p->end;
  for (int64_t k = 0; k < p->depth; k += DEPTH) {
    const double *b = p->b + k * p->stride;
    const int64_t depth = k + DEPTH < p->depth ? DEPTH : p->depth - k;
    for (int64_t j = j0; j < j1; j += TILE_COLUMNS)
      for (int64_t i = i0; i < i1; i += TILE_ROWS)
        if (i + TILE_ROWS > j)
          tile(depth, p->stride, p->factor, b + i, b + j, p->c + i * p->stride + j, p->stride);
  }
}

static void add_pieces(pcsim_pool *pool, product p) {
  const int64_t rows = (p.end - p.first + PIECE - 1) / PIECE;
  pcsim_pool_run(pool, (int)(rows * (rows + 1) / 2), add_piece, &p);
}

void dense_add_product(pcsim_pool *pool, int64_t n, int64_t depth, double factor, const double *b,
                       double *c) {
  const int64_t stride = dense_padded(n);
  add_pieces(pool, (product){0, stride, depth, stride, factor, b, c});
}

/* ---------------------------------------------------------------------- factors */

struct cholesky {
  int64_t n, stride;
  pcsim_pool *pool;
  double *l;             /**< [stride][stride]; past n it is the identity */
  double *panel;         /**< [PANEL][stride] columns of the panel, transposed */
  int64_t column, width; /**< of the panel at work */
};

pcsim_status cholesky_create(int64_t n, pcsim_pool *pool, cholesky **out) {
  cholesky *c = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *c, &c));
  c->n = n, c->stride = dense_padded(n), c->pool = pool;
  pcsim_status status = pcsim_alloc((size_t)(c->stride * c->stride), sizeof *c->l, &c->l);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)(PANEL * c->stride), sizeof *c->panel, &c->panel);
  if (status != PCSIM_OK) cholesky_destroy(&c);
  *out = c;
  return status;
}

void cholesky_destroy(cholesky **c) {
  if (!*c) return;
  pcsim_free(&(*c)->l);
  pcsim_free(&(*c)->panel);
  pcsim_free(c);
}

/** The square of `width` rows and columns at the diagonal. */
static bool factor_square(const cholesky *c) {
  double *l = c->l + c->column * c->stride + c->column;
  for (int64_t i = 0; i < c->width; i++)
    for (int64_t j = 0; j <= i; j++) {
      double sum = l[i * c->stride + j];
      for (int64_t k = 0; k < j; k++) sum -= l[i * c->stride + k] * l[j * c->stride + k];
      if (i > j) l[i * c->stride + j] = sum / l[j * c->stride + j];
      else if (!(sum > 0) || !isfinite(sum)) return false;
      else l[i * c->stride + i] = sqrt(sum);
    }
  return true;
}

/** Columns of the panel for 8 rows from `row` on: l x^T = a^T, both [column][8 rows]. */
PCSIM_CLONES static void solve_rows(const double *restrict l, int64_t stride, int64_t width,
                                    double *restrict x) {
  for (int64_t j = 0; j < width; j++) {
    v8 sum = *(v8 *)(x + j * stride);
    for (int64_t k = 0; k < j; k++) sum -= l[j * stride + k] * *(const v8 *)(x + k * stride);
    *(v8 *)(x + j * stride) = sum / l[j * stride + j];
  }
}

enum { PANEL_ROWS = 8 * LANES };

static void solve_panel(void *context, int part, int thread) {
  const cholesky *c = context;
  const int64_t first = c->column + c->width + PANEL_ROWS * part;
  const int64_t end = first + PANEL_ROWS < c->stride ? first + PANEL_ROWS : c->stride;
  (void)thread;
  for (int64_t row = first; row < end; row += LANES) {
    double *l = c->l + row * c->stride + c->column, *x = c->panel + row;
    for (int64_t j = 0; j < c->width; j++)
      for (int i = 0; i < LANES; i++) x[j * c->stride + i] = l[i * c->stride + j];
    solve_rows(c->l + c->column * c->stride + c->column, c->stride, c->width, x);
    for (int64_t j = 0; j < c->width; j++)
      for (int i = 0; i < LANES; i++) l[i * c->stride + j] = x[j * c->stride + i];
  }
}

bool cholesky_factor(cholesky *c, const double *a, const double *d) {
  for (int64_t i = 0; i < c->stride; i++) {
    double *row = c->l + i * c->stride;
    if (i < c->n) memcpy(row, a + i * c->n, (size_t)(i + 1) * sizeof *row);
    else memset(row, 0, (size_t)c->stride * sizeof *row);
    row[i] = i < c->n ? row[i] + d[i] : 1;
  }
  for (c->column = 0; c->column < c->stride; c->column += PANEL) {
    c->width = c->column + PANEL < c->stride ? PANEL : c->stride - c->column;
    if (!factor_square(c)) return false;
    const int64_t first = c->column + c->width;
    pcsim_pool_run(c->pool, (int)((c->stride - first + PANEL_ROWS - 1) / PANEL_ROWS), solve_panel, c);
    add_pieces(c->pool, (product){first, c->stride, c->width, c->stride, -1, c->panel, c->l});
  }
  return true;
}

/** The sum of products, in eight parts. */
PCSIM_CLONES static double dot(const double *a, const double *b, int64_t n) {
  double sum[LANES] = {0}, rest = 0;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int k = 0; k < LANES; k++) sum[k] += a[i + k] * b[i + k];
  for (; i < n; i++) rest += a[i] * b[i];
  for (int k = 0; k < LANES; k++) rest += sum[k];
  return rest;
}

PCSIM_CLONES static void subtract(double c, const double *restrict a, int64_t n, double *restrict x) {
  for (int64_t i = 0; i < n; i++) x[i] -= c * a[i];
}

void cholesky_solve(const cholesky *c, double *x) {
  int64_t zeros = 0; /* at the beginning of x */
  while (zeros < c->n && x[zeros] == 0) zeros++;
  for (int64_t i = zeros; i < c->n; i++) {
    const double *l = c->l + i * c->stride;
    x[i] = (x[i] - dot(l + zeros, x + zeros, i - zeros)) / l[i];
  }
  for (int64_t i = c->n - 1; i >= 0; i--) {
    const double *l = c->l + i * c->stride;
    x[i] /= l[i];
    subtract(x[i], l, i, x);
  }
}

pcsim_status cholesky_inverse(const cholesky *c, int64_t m, double *inverse) {
  const double *l = c->l + (c->n - m) * c->stride + c->n - m;
  double *x = NULL; /* of the same rows and columns of the factor the inverse, lower triangle */
  PCSIM_TRY(pcsim_alloc((size_t)m * (size_t)m, sizeof *x, &x));
  for (int64_t i = 0; i < m; i++) {
    double *row = x + i * m;
    row[i] = 1;
    for (int64_t k = 0; k < i; k++) {
      const double factor = l[i * c->stride + k];
      const double *other = x + k * m;
      for (int64_t j = 0; j <= k; j++) row[j] -= factor * other[j];
    }
    for (int64_t j = 0; j <= i; j++) row[j] /= l[i * c->stride + i];
  }
  memset(inverse, 0, (size_t)m * (size_t)m * sizeof *inverse);
  for (int64_t k = 0; k < m; k++)
    for (int64_t i = 0; i <= k; i++) {
      const double factor = x[k * m + i];
      for (int64_t j = 0; j <= i; j++) inverse[i * m + j] += factor * x[k * m + j];
    }
  pcsim_free(&x);
  return PCSIM_OK;
}
