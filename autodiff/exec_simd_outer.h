/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_outer.h  Products of rows that are summed over points, and their terms point by point;
 *  included by exec_simd_impl.h, whose names it uses. */

#if OUTER_COLUMNS == 8
#define LANE_HALVES(x)                                                                                       \
  (__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +                                                   \
   __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15))
#if SINGLE
#define PAIRS(a, b)                                                                                          \
  (__builtin_shufflevector(a, b, 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31) +                \
   __builtin_shufflevector(a, b, 1, 16, 3, 18, 5, 20, 7, 22, 9, 24, 11, 26, 13, 28, 15, 30))
#define FOURS(a, b)                                                                                          \
  (__builtin_shufflevector(a, b, 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31) +                 \
   __builtin_shufflevector(a, b, 2, 3, 16, 17, 6, 7, 20, 21, 10, 11, 24, 25, 14, 15, 28, 29))
#define EIGHTS(a, b)                                                                                         \
  (__builtin_shufflevector(a, b, 0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11, 28, 29, 30, 31) +                 \
   __builtin_shufflevector(a, b, 4, 5, 6, 7, 16, 17, 18, 19, 12, 13, 14, 15, 24, 25, 26, 27))
#else
#define PAIRS(a, b)                                                                                          \
  (__builtin_shufflevector(a, b, 0, 9, 2, 11, 4, 13, 6, 15) +                                                \
   __builtin_shufflevector(a, b, 1, 8, 3, 10, 5, 12, 7, 14))
#define FOURS(a, b)                                                                                          \
  (__builtin_shufflevector(a, b, 0, 1, 10, 11, 4, 5, 14, 15) +                                               \
   __builtin_shufflevector(a, b, 2, 3, 8, 9, 6, 7, 12, 13))
#define EIGHTS(a, b)                                                                                         \
  (__builtin_shufflevector(a, b, 0, 1, 2, 3, 12, 13, 14, 15) +                                               \
   __builtin_shufflevector(a, b, 4, 5, 6, 7, 8, 9, 10, 11))
#endif
/** Sums of eight vectors, added to eight doubles of which `n` count: half of what is added to what stays in
 * its lane, so that only every second shuffle crosses lanes. */
static inline __attribute__((always_inline)) void NAME(add_sums)(V a, V b, V c, V d, V e, V f, V g, V h,
                                                                 int n, double *sum) {
  const V ab = PAIRS(a, b), cd = PAIRS(c, d), ef = PAIRS(e, f), gh = PAIRS(g, h);
  const V abcd = FOURS(ab, cd), efgh = FOURS(ef, gh), all = EIGHTS(abcd, efgh);
#if SINGLE
  const vec s = __builtin_convertvector(LANE_HALVES(all), vec);
#else
  const vec s = all;
#endif
  if (n == 8) {
    typedef double vec_loose __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
    *(vec_loose *)sum += s;
    return;
  }
  for (int i = 0; i < n; i++) sum[i] += s[i];
}
#undef LANE_HALVES
#undef PAIRS
#undef FOURS
#undef EIGHTS
#else
/** Sums of four vectors, added to four doubles of which `n` count. */
static inline __attribute__((always_inline)) void NAME(add_sums)(V a, V b, V c, V d, int n, double *sum) {
#if VECTOR_BYTES / (4 + 4 * !SINGLE) == 2
  const V ab = __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
  const V cd = __builtin_shufflevector(c, d, 0, 2) + __builtin_shufflevector(c, d, 1, 3);
  const double s[4] = {(double)ab[0], (double)ab[1], (double)cd[0], (double)cd[1]};
#else
  typedef real four __attribute__((vector_size(4 * sizeof(real))));
#if VECTOR_BYTES / (4 + 4 * !SINGLE) == 4
#define FOLD(v) (v)
#elif VECTOR_BYTES / (4 + 4 * !SINGLE) == 8
#define FOLD(v) (__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7))
#else
#define FOLD(v)                                                                                              \
  ((__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7)) +                 \
   (__builtin_shufflevector(v, v, 8, 9, 10, 11) + __builtin_shufflevector(v, v, 12, 13, 14, 15)))
#endif
  const four p = FOLD(a), q = FOLD(b), r = FOLD(c), t = FOLD(d);
#undef FOLD
  const four ab = __builtin_shufflevector(p, q, 0, 4, 2, 6) + __builtin_shufflevector(p, q, 1, 5, 3, 7);
  const four cd = __builtin_shufflevector(r, t, 0, 4, 2, 6) + __builtin_shufflevector(r, t, 1, 5, 3, 7);
  const four s = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
#endif
  if (n == 4) {
    sum[0] += (double)s[0], sum[1] += (double)s[1], sum[2] += (double)s[2], sum[3] += (double)s[3];
    return;
  }
  for (int i = 0; i < n; i++) sum[i] += (double)s[i];
}
#endif

/* Three rows against OUTER_COLUMNS columns: s01 is the sum of row 0 and column 1. */
#define OUTER_ROWS 3
#if OUTER_COLUMNS == 8
#define EACH_COLUMN(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ROW_SUMS(r) s##r##0, s##r##1, s##r##2, s##r##3, s##r##4, s##r##5, s##r##6, s##r##7
#else
#define EACH_COLUMN(X) X(0) X(1) X(2) X(3)
#define ROW_SUMS(r) s##r##0, s##r##1, s##r##2, s##r##3
#endif
#define OUTER_DECLARE(j) V s0##j = {0}, s1##j = {0}, s2##j = {0};
/* The number of a column is read once, not by each of the three that it meets: KEEP holds it in a register.
 */
#if defined(__SSE2__)
#define KEEP(w) VEC_ROUNDED(w)
#else
#define KEEP(w)
#endif
#define OUTER_STEP(j)                                                                                        \
  if (j < columns) {                                                                                         \
    V w = *(const V *)(of_x + j * tile + v);                                                                 \
    KEEP(w);                                                                                                 \
    s0##j += a * w;                                                                                          \
    if (rows > 1) s1##j += b * w;                                                                            \
    if (rows > 2) s2##j += c * w;                                                                            \
  }
/** Rows from first_y of y against columns from first_x of x, `length` points of each [row][tile]. `rows` and
 * `columns` are constants wherever a block is worth it: places are then multiples of the tile, found without
 * vector instructions, behind which the first numbers of a block would wait. */
static inline __attribute__((always_inline)) void
NAME(outer_rows)(int64_t first_y, int rows, int64_t first_x, int columns, int count, const void *const *y,
                 const void *const *x, int64_t tile, int64_t length, double *sum, int64_t stride) {
  /* The sums are far away and needed late; those of a row may lie on two lines. */
  for (int r = 0; r < rows; r++) {
    __builtin_prefetch(sum + r * stride, 1);
    __builtin_prefetch(sum + r * stride + columns - 1, 1);
  }
  EACH_COLUMN(OUTER_DECLARE)
  for (int i = 0; i < count; i++) {
    const real *of_x = (const real *)x[i] + first_x * tile, *of_y = (const real *)y[i] + first_y * tile;
    for (int64_t v = 0; v < length; v += LANES) {
      const V a = *(const V *)(of_y + v), b = *(const V *)(of_y + (rows > 1 ? tile : 0) + v),
              c = *(const V *)(of_y + (rows - 1) * tile + v);
      EACH_COLUMN(OUTER_STEP)
    }
  }
  NAME(add_sums)(ROW_SUMS(0), columns, sum);
  if (rows > 1) NAME(add_sums)(ROW_SUMS(1), columns, sum + stride);
  if (rows > 2) NAME(add_sums)(ROW_SUMS(2), columns, sum + 2 * stride);
}

static void NAME(outer_block)(int64_t first_y, int rows, int64_t first_x, int columns, int count,
                              const void *const *y, const void *const *x, int64_t tile, int64_t length,
                              double *sum, int64_t stride) {
#define ROWS(r, j) NAME(outer_rows)(first_y, r, first_x, j, count, y, x, tile, length, sum, stride)
  if (columns == OUTER_COLUMNS && rows == OUTER_ROWS) ROWS(OUTER_ROWS, OUTER_COLUMNS);
  else if (columns == OUTER_COLUMNS && rows == 2) ROWS(2, OUTER_COLUMNS);
  else if (columns == OUTER_COLUMNS) ROWS(1, OUTER_COLUMNS);
#if OUTER_COLUMNS == 8
  else if (columns == 4 && rows == OUTER_ROWS) ROWS(OUTER_ROWS, 4);
#endif
  else ROWS(rows, columns);
#undef ROWS
}

/** Rows of `length` numbers that stay in the first cache while others pass: a multiple of OUTER_COLUMNS. */
static int64_t NAME(near_rows)(int64_t length) {
  const int64_t rows = NEAR_BYTES / (length * (int64_t)sizeof(real)) / OUTER_COLUMNS * OUTER_COLUMNS;
  return rows < OUTER_COLUMNS ? OUTER_COLUMNS : rows;
}

static void NAME(outer)(int m, int n, int count, const void *const *y, const void *const *x, int tile,
                        double *sum) {
  const int block = (int)NAME(near_rows)((int64_t)count * tile);
  for (int first = 0; first < n; first += block) {
    const int end = n - first < block ? n : first + block;
    for (int r = 0; r < m; r += OUTER_ROWS)
      for (int j = first; j < end; j += OUTER_COLUMNS) NAME(outer_block)
    (r, m - r < OUTER_ROWS ? m - r : OUTER_ROWS, j, end - j < OUTER_COLUMNS ? end - j : OUTER_COLUMNS, count,
     y, x, tile, tile, sum + (size_t)r * (size_t)n + (size_t)j, n);
  }
}

/** Blocks on the diagonal go through a buffer: what is above it stays as it is. */
static void NAME(gram_block)(int64_t r, int rows, int64_t j, int columns, int64_t n, const void *const *a,
                             int64_t stride, double *c, int64_t c_stride) {
  if (j + columns - 1 <= r) {
    NAME(outer_block)(r, rows, j, columns, 1, a, a, stride, n, c + r * c_stride + j, c_stride);
    return;
  }
  double buffer[OUTER_ROWS * OUTER_COLUMNS] = {0};
  NAME(outer_block)(r, rows, j, columns, 1, a, a, stride, n, buffer, OUTER_COLUMNS);
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < columns && j + k <= r + i; k++)
      c[(r + i) * c_stride + j + k] += buffer[OUTER_COLUMNS * i + k];
}

static void NAME(gram)(int64_t first, int64_t end, int64_t n, const void *a, int64_t stride, double *c,
                       int64_t c_stride) {
  const int64_t near = NAME(near_rows)(n);
  for (int64_t block = 0; block < end; block += near)
    for (int64_t r = first; r < end; r += OUTER_ROWS) {
      const int rows = end - r < OUTER_ROWS ? (int)(end - r) : OUTER_ROWS;
      const int64_t last = r + rows < block + near ? r + rows : block + near;
      for (int64_t j = block; j < last; j += OUTER_COLUMNS) NAME(gram_block)
      (r, rows, j, last - j < OUTER_COLUMNS ? (int)(last - j) : OUTER_COLUMNS, n, &a, stride, c, c_stride);
    }
}

/* Point by point: nothing is summed over points. `out` is in the kernels' precision. */
#define POINT_COLUMN(j)                                                                                      \
  if (j < columns) {                                                                                         \
    V w = *(const V *)(of_x + j * tile);                                                                     \
    KEEP(w);                                                                                                 \
    s0##j += a * w, s1##j += b * w, s2##j += c * w;                                                          \
  }
#define POINT_STORE(r, j)                                                                                    \
  if (j < columns) *(V *)(to + j * stride) = s##r##j;
#define POINT_STORE_0(j) POINT_STORE(0, j)
#define POINT_STORE_1(j) POINT_STORE(1, j)
#define POINT_STORE_2(j) POINT_STORE(2, j)
/** Rows from first_y of y against columns from first_x of x; `rows` and `columns` are constants where the
 * block is whole or half, so that places are multiples of the tile. */
static inline __attribute__((always_inline)) void NAME(point_rows)(int64_t first_y, int rows, int64_t first_x,
                                                                   int columns, int64_t n, int count,
                                                                   const void *const *y, const void *const *x,
                                                                   int64_t tile, real *out, int64_t stride) {
  for (int64_t v = 0; v < tile; v += LANES) {
    EACH_COLUMN(OUTER_DECLARE)
    for (int i = 0; i < count; i++) {
      const real *of_x = (const real *)x[i] + first_x * tile + v,
                 *of_y = (const real *)y[i] + first_y * tile + v;
      const V a = *(const V *)of_y, b = *(const V *)(of_y + (rows > 1 ? tile : 0)),
              c = *(const V *)(of_y + (rows - 1) * tile);
      EACH_COLUMN(POINT_COLUMN)
    }
    real *to = out + v;
    EACH_COLUMN(POINT_STORE_0)
    to += n * stride;
    if (rows > 1) { EACH_COLUMN(POINT_STORE_1) }
    to += n * stride;
    if (rows > 2) { EACH_COLUMN(POINT_STORE_2) }
  }
}

static void NAME(point_block)(int64_t first_y, int rows, int64_t first_x, int columns, int64_t n, int count,
                              const void *const *y, const void *const *x, int64_t tile, real *out,
                              int64_t stride) {
#define ROWS(r, j) NAME(point_rows)(first_y, r, first_x, j, n, count, y, x, tile, out, stride)
  if (rows == OUTER_ROWS && columns == OUTER_COLUMNS) ROWS(OUTER_ROWS, OUTER_COLUMNS);
  else if (rows == OUTER_ROWS && columns == 4) ROWS(OUTER_ROWS, 4);
  else ROWS(rows, columns);
#undef ROWS
}

static void NAME(outer_points)(int m, int n, int count, const void *const *y, const void *const *x, int tile,
                               void *out, int64_t stride) {
  const int block = (int)NAME(near_rows)((int64_t)count * tile);
  for (int first = 0; first < n; first += block) {
    const int end = n - first < block ? n : first + block;
    for (int r = 0; r < m; r += OUTER_ROWS)
      for (int j = first; j < end; j += OUTER_COLUMNS) NAME(point_block)
    (r, m - r < OUTER_ROWS ? m - r : OUTER_ROWS, j, end - j < OUTER_COLUMNS ? end - j : OUTER_COLUMNS, n,
     count, y, x, tile, (real *)out + ((int64_t)r * n + j) * stride, stride);
  }
}

#undef OUTER_ROWS
#undef EACH_COLUMN
#undef ROW_SUMS
#undef OUTER_DECLARE
#undef OUTER_STEP
#undef KEEP
#undef POINT_COLUMN
#undef POINT_STORE
#undef POINT_STORE_0
#undef POINT_STORE_1
#undef POINT_STORE_2
