/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_map.h  Values carried along maps and into and out of tiles, in double; included once by
 * each exec_simd_*.c.
 *
 *  In memory the rows of a point stand side by side, in a tile the points of a row. So up to four rows of a
 * point are one vector, and four points at a time are turned. Row counts and widths are constants where these
 * functions are inlined: their loops over them vanish. */
#include <string.h>
#if defined(__AVX__)
#include <immintrin.h>
#endif

typedef double quad __attribute__((vector_size(32)));
/** The same anywhere in memory. */
typedef double quad_loose __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t quad_mask __attribute__((vector_size(32)));
#define MAP_INLINE static inline __attribute__((always_inline))

/** rows (1 to 4) numbers; not one more is touched. */
MAP_INLINE quad quad_read(const double *a, int rows) {
  if (rows == 4) return *(const quad_loose *)a;
  if (rows == 2) return (quad){a[0], a[1], 0, 0};
  if (rows == 1) return (quad){a[0], 0, 0, 0};
#if defined(__AVX512VL__)
  return (quad)_mm256_maskz_loadu_pd(7, a);
#elif defined(__AVX__)
  return (quad)_mm256_maskload_pd(a, _mm256_set_epi64x(0, -1, -1, -1));
#else
  return (quad){a[0], a[1], a[2], 0};
#endif
}

MAP_INLINE void quad_write(quad x, int rows, double *out) {
  if (rows == 4) {
    *(quad_loose *)out = x;
    return;
  }
  out[0] = x[0];
  if (rows > 1) out[1] = x[1];
  if (rows > 2) out[2] = x[2];
}

/** Four points, or four rows. */
typedef struct {
  quad a, b, c, d;
} quads;

/** Points to rows and back. */
MAP_INLINE quads turn(quads x) {
  const quad p = __builtin_shufflevector(x.a, x.b, 0, 4, 2, 6),
             q = __builtin_shufflevector(x.a, x.b, 1, 5, 3, 7),
             r = __builtin_shufflevector(x.c, x.d, 0, 4, 2, 6),
             s = __builtin_shufflevector(x.c, x.d, 1, 5, 3, 7);
  return (quads){__builtin_shufflevector(p, r, 0, 1, 4, 5), __builtin_shufflevector(q, s, 0, 1, 4, 5),
                 __builtin_shufflevector(p, r, 2, 3, 6, 7), __builtin_shufflevector(q, s, 2, 3, 6, 7)};
}

/** Four points with `rows` rows each to rows of a tile that are `stride` apart. */
MAP_INLINE void put_points(quads x, int rows, int64_t stride, double *out) {
  x = turn(x);
  *(quad_loose *)out = x.a;
  if (rows > 1) *(quad_loose *)(out + stride) = x.b;
  if (rows > 2) *(quad_loose *)(out + 2 * stride) = x.c;
  if (rows > 3) *(quad_loose *)(out + 3 * stride) = x.d;
}

/** call(rows, first row) for blocks of four rows and what is left. */
#define ROW_BLOCKS(total, call)                                                                              \
  {                                                                                                          \
    int first_row = 0;                                                                                       \
    for (; first_row + 4 <= (total); first_row += 4) { call(4, first_row); }                                 \
    switch ((total)-first_row) {                                                                             \
    case 3:                                                                                                  \
      call(3, first_row);                                                                                    \
      break;                                                                                                 \
    case 2:                                                                                                  \
      call(2, first_row);                                                                                    \
      break;                                                                                                 \
    case 1:                                                                                                  \
      call(1, first_row);                                                                                    \
      break;                                                                                                 \
    }                                                                                                        \
  }

/** Ask for bytes begin .. end - 1 from `from` on, those of the tile that follows: a tile's reading or writing
 * of one array is too short for the processor to notice that it goes on. Past the end of an array it does no
 * harm. */
MAP_INLINE void fetch_ahead(const void *from, int64_t begin, int64_t end, bool write) {
  for (int64_t at = begin; at < end; at += 64)
    if (write) __builtin_prefetch((const char *)from + at, 1, 2);
    else __builtin_prefetch((const char *)from + at, 0, 2);
}

/** Points past n repeat the last. */
#define POINT(p) ((p) < n ? (p) : n - 1)

/* ------------------------------------------------------------- into tiles, out of them */

MAP_INLINE void load_block(int rows, int n, const double *in, int64_t stride, int64_t tile, double *out,
                           bool fetch) {
  for (int64_t p = 0; p < tile; p += 4) {
    if (fetch) fetch_ahead(in + tile * stride, p * stride * 8, (p + 4) * stride * 8, false);
#define AT(j) quad_read(in + POINT(p + (j)) * stride, rows)
    put_points((quads){AT(0), AT(1), AT(2), AT(3)}, rows, tile, out + p);
#undef AT
  }
}

static void map_load(int rows, int n, const double *in, int stride, int tile, void *out) {
  double *o = out;
#define BLOCK(count, r) load_block(count, n, in + (r), stride, tile, o + (int64_t)(r)*tile, (r) == 0)
  ROW_BLOCKS(rows, BLOCK)
#undef BLOCK
}

/** Four points of three rows are three vectors in memory. */
MAP_INLINE void put_threes(quads x, double *out) {
  *(quad_loose *)out = __builtin_shufflevector(x.a, x.b, 0, 1, 2, 4);
  *(quad_loose *)(out + 4) = __builtin_shufflevector(x.b, x.c, 1, 2, 4, 5);
  *(quad_loose *)(out + 8) = __builtin_shufflevector(x.c, x.d, 2, 4, 5, 6);
}

/** `rows` of the `stride` numbers of a point; if they are all, memory further on is asked for. */
MAP_INLINE void store_rows(int rows, int n, const double *in, int64_t tile, int64_t stride, double *out) {
  int64_t p = 0;
  for (; p + 4 <= n; p += 4) {
    if (rows == stride) fetch_ahead(out + tile * stride, p * stride * 8, (p + 4) * stride * 8, true);
#define AT(r) (count > (r) ? *(const quad_loose *)(in + (first + (r)) * tile + p) : (quad_loose){0})
    for (int first = 0; first < rows; first += 4) {
      const int count = rows - first < 4 ? rows - first : 4;
      const quads x = turn((quads){AT(0), AT(1), AT(2), AT(3)});
      if (rows == 3 && stride == 3) {
        put_threes(x, out + 3 * p);
        continue;
      }
      quad_write(x.a, count, out + p * stride + first);
      quad_write(x.b, count, out + (p + 1) * stride + first);
      quad_write(x.c, count, out + (p + 2) * stride + first);
      quad_write(x.d, count, out + (p + 3) * stride + first);
    }
#undef AT
  }
  for (; p < n; p++)
    for (int r = 0; r < rows; r++) out[p * stride + r] = in[r * tile + p];
}

static void map_store(int rows, int n, const void *in, int tile, double *out) {
  const double *a = in;
  const int64_t stride = rows;
  for (; rows > 8; rows -= 8, a += (int64_t)8 * tile, out += 8) store_rows(8, n, a, tile, stride, out);
  switch (rows) {
  case 1:
    if (stride == 1) memcpy(out, a, (size_t)n * sizeof *out);
    else store_rows(1, n, a, tile, stride, out);
    break;
#define ROWS(count)                                                                                          \
  case count:                                                                                                \
    if (stride == count) store_rows(count, n, a, tile, count, out);                                          \
    else store_rows(count, n, a, tile, stride, out);                                                         \
    break;
    ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
#undef ROWS
  }
}

/* ------------------------------------------------------------------------ along maps */

/** Points and entries ahead of which sources and weights are asked for: enough to come from memory in time.
 */
enum { GATHER_AHEAD = 64, ENTRIES_AHEAD = 128 };

/** A point's rows lie on one cache line or two: the first and the last are asked for. */
MAP_INLINE void gather_rows(int rows, const map_tile *t, int64_t stride, const double *a, double *out) {
  const int n = t->n;
  const int64_t last = n + t->after - GATHER_AHEAD;
  const bool lines = rows > 1 && !(stride % 8 == 0 && (uintptr_t)a % 64 == 0 && rows <= 8);
  for (int64_t p = 0; p < t->tile; p += 4) {
    for (int j = 0; j < 4 && p + 4 <= last; j++) {
      const double *next = a + t->column[p + j + GATHER_AHEAD] * stride;
      __builtin_prefetch(next, 0, 3);
      if (lines) __builtin_prefetch(next + rows - 1, 0, 3);
    }
    const double *const b = a + t->column[POINT(p)] * stride, *const c = a + t->column[POINT(p + 1)] * stride,
                        *const d = a + t->column[POINT(p + 2)] * stride,
                        *const e = a + t->column[POINT(p + 3)] * stride;
#define BLOCK(count, r)                                                                                      \
  put_points((quads){quad_read(b + (r), count), quad_read(c + (r), count), quad_read(d + (r), count),        \
                     quad_read(e + (r), count)},                                                             \
             count, t->tile, out + (r)*t->tile + p);
    ROW_BLOCKS(rows, BLOCK)
#undef BLOCK
  }
}

static void map_gather(const map_tile *t, int rows, const double *a, int64_t stride, double *out) {
  for (; rows > 8; rows -= 8, a += 8, out += 8 * t->tile) gather_rows(8, t, stride, a, out);
  switch (rows) {
#define ROWS(n)                                                                                              \
  case n:                                                                                                    \
    gather_rows(n, t, stride, a, out);                                                                       \
    break;
    ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
#undef ROWS
  }
}

/** a where it is less (more) than b, else b. */
MAP_INLINE quad quad_less(quad a, quad b) {
#if defined(__AVX__)
  return (quad)_mm256_min_pd((__m256d)a, (__m256d)b);
#else
  const quad_mask less = a < b;
  return (quad)((less & (quad_mask)a) | (~less & (quad_mask)b));
#endif
}
MAP_INLINE quad quad_more(quad a, quad b) {
#if defined(__AVX__)
  return (quad)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
  const quad_mask more = a > b;
  return (quad)((more & (quad_mask)a) | (~more & (quad_mask)b));
#endif
}

/** Up to three sums, the extrema. */
typedef struct {
  quad sum[3], low, high;
} near_values;

/** Over the entries of one point; `step` weights an entry, of which `width` (0: 1 is the weight) are used.
 * Sums run over even and odd entries apart, since each addition waits for the one before. `ahead`: weights
 * that far on are asked for, if it is not 0. */
MAP_INLINE near_values near_point(int rows, int width, bool sums, bool extrema, const map_tile *t,
                                  int64_t point, const double *weight, int step, const double *a,
                                  int64_t stride, int64_t ahead) {
  near_values y = {{{0}}, {0}, {0}};
  quad odd[3] = {{0}, {0}, {0}};
  const int64_t first = t->start[point], end = t->start[point + 1];
  if (extrema && first < end) y.low = y.high = quad_read(a + t->column[first] * stride, rows);
#define ENTRY(e, to)                                                                                         \
  {                                                                                                          \
    const quad v = quad_read(a + t->column[e] * stride, rows);                                               \
    if (sums && !width) (to)[0] += v;                                                                        \
    for (int w = 0; w < width; w++) (to)[w] += v * weight[(e)*step + w];                                     \
    if (extrema) {                                                                                           \
      y.low = quad_less(v, y.low);                                                                           \
      y.high = quad_more(v, y.high);                                                                         \
    }                                                                                                        \
  }
  int64_t e = first;
  for (; e + 1 < end; e += 2) {
    if (width && ahead) __builtin_prefetch(weight + ahead + e * step, 0, 3);
    ENTRY(e, y.sum)
    ENTRY(e + 1, odd)
  }
  if (e < end) ENTRY(e, y.sum)
#undef ENTRY
  for (int w = 0; w < (width ? width : sums); w++) y.sum[w] += odd[w];
  return y;
}

MAP_INLINE void near_block(int rows, int width, bool sums, bool extrema, const map_tile *t, int first_weight,
                           int step, const double *a, int64_t stride, int first_row, const map_outputs *out) {
  const int n = t->n;
  const int64_t tile = t->tile, apart = step ? step * tile : tile,
                ahead = first_row == 0 && first_weight == 0 ? ENTRIES_AHEAD : 0;
  for (int64_t p = 0; p < tile; p += 4) {
    quad sum[3][4], low[4], high[4];
    for (int j = 0; j < 4; j++) {
      const int64_t point = POINT(p + j);
      if (ahead) __builtin_prefetch(t->column + ahead + t->start[point], 0, 3);
      const near_values y = near_point(rows, width, sums, extrema, t, point, t->weight + first_weight, step,
                                       a + first_row, stride, ahead * step);
      for (int w = 0; w < 3; w++) sum[w][j] = y.sum[w];
      low[j] = y.low;
      high[j] = y.high;
    }
    for (int w = 0; w < (width ? width : sums); w++)
      put_points((quads){sum[w][0], sum[w][1], sum[w][2], sum[w][3]}, rows, apart,
                 out->sum + first_row * apart + (first_weight + w) * tile + p);
    if (extrema && out->low)
      put_points((quads){low[0], low[1], low[2], low[3]}, rows, tile, out->low + first_row * tile + p);
    if (extrema && out->high)
      put_points((quads){high[0], high[1], high[2], high[3]}, rows, tile, out->high + first_row * tile + p);
  }
}

/** One pass over the entries for blocks of rows. */
#define NEAR(name, width, sums, extrema)                                                                     \
  static void name(const map_tile *t, int rows, int first_weight, int step, const double *a, int64_t stride, \
                   const map_outputs *out) {                                                                 \
    ROW_BLOCKS(rows, NEAR_##width##sums##extrema)                                                            \
  }
#define NEAR_BLOCK(count, r, width, sums, extrema)                                                           \
  near_block(count, width, sums, extrema, t, first_weight, step, a, stride, r, out)
#define NEAR_001(count, r) NEAR_BLOCK(count, r, 0, 0, 1)
#define NEAR_010(count, r) NEAR_BLOCK(count, r, 0, 1, 0)
#define NEAR_110(count, r) NEAR_BLOCK(count, r, 1, 1, 0)
#define NEAR_111(count, r) NEAR_BLOCK(count, r, 1, 1, 1)
#define NEAR_210(count, r) NEAR_BLOCK(count, r, 2, 1, 0)
#define NEAR_211(count, r) NEAR_BLOCK(count, r, 2, 1, 1)
#define NEAR_310(count, r) NEAR_BLOCK(count, r, 3, 1, 0)
#define NEAR_311(count, r) NEAR_BLOCK(count, r, 3, 1, 1)
NEAR(near_extrema, 0, 0, 1)
NEAR(near_sum, 0, 1, 0)
NEAR(near_weights_1, 1, 1, 0)
NEAR(near_weights_2, 2, 1, 0)
NEAR(near_weights_3, 3, 1, 0)
NEAR(near_all_1, 1, 1, 1)
NEAR(near_all_2, 2, 1, 1)
NEAR(near_all_3, 3, 1, 1)

static void map_near(const map_tile *t, int rows, int width, const double *a, int64_t stride,
                     const map_outputs *out) {
  typedef void near_pass(const map_tile *, int, int, int, const double *, int64_t, const map_outputs *);
  static near_pass *const weights[] = {near_sum, near_weights_1, near_weights_2, near_weights_3},
                          *const all[] = {near_extrema, near_all_1, near_all_2, near_all_3};
  bool extrema = out->low || out->high;
  if (t->start[0] == t->start[t->n]) { /* no point of the tile has entries */
    const size_t bytes = (size_t)rows * (size_t)t->tile * sizeof(double);
    if (out->sum) memset(out->sum, 0, (width ? (size_t)width : 1) * bytes);
    if (out->low) memset(out->low, 0, bytes);
    if (out->high) memset(out->high, 0, bytes);
    return;
  }
  if (!out->sum) {
    near_extrema(t, rows, 0, 0, a, stride, out);
    return;
  }
  for (int w = 0; w < width || w == 0; w += 3, extrema = false) {
    const int count = width - w < 3 ? width - w : 3;
    (extrema && count ? all : weights)[count](t, rows, w, width, a, stride, out);
  }
}

/* ---------------------------------------------------------------------- their transposes */

/** Up to four rows with their weights side by side, as in memory: three vectors at most. */
MAP_INLINE void transposed_block(int rows, int width, const map_tile *t, const map_back *back,
                                 const double *a, int64_t stride, double *out) {
  const int n = t->n, flat = rows * width;
  for (int64_t p = 0; p < t->tile; p++) {
    const int64_t point = POINT(p);
    quad sum[3] = {{0}, {0}, {0}};
    for (int64_t e = t->start[point]; e < t->start[point + 1]; e++) {
      const double *w = back->weight + back->entry[e] * width, *v = a + t->column[e] * stride;
      for (int k = 0; 4 * k < flat; k++)
        sum[k] +=
            quad_read(v + 4 * k, flat - 4 * k < 4 ? flat - 4 * k : 4) *
            (quad){w[4 * k % width], w[(4 * k + 1) % width], w[(4 * k + 2) % width], w[(4 * k + 3) % width]};
    }
    for (int r = 0; r < rows; r++) {
      double s = 0;
      for (int k = r * width; k < (r + 1) * width; k++) s += sum[k / 4][k % 4];
      out[r * t->tile + p] = s;
    }
  }
}

/** One row, any number of weights. */
static void transposed_row(const map_tile *t, const map_back *back, int width, const double *a,
                           int64_t stride, double *out) {
  const int n = t->n;
  for (int64_t p = 0; p < t->tile; p++) {
    double sum = 0;
    for (int64_t e = t->start[POINT(p)]; e < t->start[POINT(p) + 1]; e++)
      for (int w = 0; w < width; w++)
        sum += back->weight[back->entry[e] * width + w] * a[t->column[e] * stride + w];
    out[p] = sum;
  }
}

static void map_transposed(const map_tile *t, const map_back *back, int rows, int width, const double *a,
                           int64_t stride, double *out) {
#define BLOCK(count, r)                                                                                      \
  transposed_block(count, WIDTH, t, back, a + (r)*WIDTH, stride, out + (int64_t)(r)*t->tile)
#define WIDTH 1
  if (width == 1) ROW_BLOCKS(rows, BLOCK)
#undef WIDTH
#define WIDTH 2
  if (width == 2) ROW_BLOCKS(rows, BLOCK)
#undef WIDTH
#define WIDTH 3
  if (width == 3) ROW_BLOCKS(rows, BLOCK)
#undef WIDTH
#undef BLOCK
  for (int r = 0; r < rows && width > 3; r++)
    transposed_row(t, back, width, a + r * width, stride, out + (int64_t)r * t->tile);
}

MAP_INLINE quad quad_select(quad_mask m, quad a, quad b) {
#if defined(__AVX__)
  return (quad)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
#else
  return (quad)((m & (quad_mask)a) | (~m & (quad_mask)b));
#endif
}
/** Is a before b: less, or greater? */
MAP_INLINE quad_mask quad_before(quad a, quad b, bool max) { return max ? a > b : a < b; }

MAP_INLINE void pick_block(int rows, bool max, const map_tile *t, const double *a, int64_t stride,
                           const double *chosen, int64_t chosen_stride, double *out) {
  const int n = t->n;
  for (int64_t p = 0; p < t->tile; p += 4) {
    quad value[4] = {{0}, {0}, {0}, {0}};
    for (int j = 0; j < 4; j++) {
      const int64_t first = t->start[POINT(p + j)], end = t->start[POINT(p + j) + 1];
      quad best = {0};
      for (int64_t e = first; e < end; e++) {
        const quad c = quad_read(chosen + t->column[e] * chosen_stride, rows),
                   v = quad_read(a + t->column[e] * stride, rows);
        const quad_mask better = e == first ? (quad_mask){-1, -1, -1, -1} : quad_before(c, best, max);
        best = quad_select(better, c, best);
        value[j] = quad_select(better, v, value[j]);
      }
    }
    put_points((quads){value[0], value[1], value[2], value[3]}, rows, t->tile, out + p);
  }
}

static void map_pick(const map_tile *t, int rows, bool max, const double *a, int64_t stride,
                     const double *chosen, int64_t chosen_stride, double *out) {
#define BLOCK(count, r)                                                                                      \
  pick_block(count, MAX, t, a + (r), stride, chosen + (r), chosen_stride, out + (int64_t)(r)*t->tile)
#define MAX true
  if (max) ROW_BLOCKS(rows, BLOCK)
#undef MAX
#define MAX false
  if (!max) ROW_BLOCKS(rows, BLOCK)
#undef MAX
#undef BLOCK
}

/** As map_pick chooses: a later entry has to be before the best, so that a nan that is first stays. */
MAP_INLINE void place_block(int rows, bool low, bool high, const map_tile *t, const double *a, int64_t stride,
                            double *out_low, double *out_high) {
  const int n = t->n;
  for (int64_t p = 0; p < t->tile; p += 4) {
    quad least[4] = {{0}, {0}, {0}, {0}}, most[4] = {{0}, {0}, {0}, {0}};
    for (int j = 0; j < 4; j++) {
      const int64_t first = t->start[POINT(p + j)], end = t->start[POINT(p + j) + 1];
      if (first == end) continue;
      quad below = quad_read(a + t->column[first] * stride, rows), above = below, number = {0};
      for (int64_t e = first + 1; e < end; e++) {
        const quad v = quad_read(a + t->column[e] * stride, rows);
        number += 1.0;
        if (low) least[j] = quad_select(v < below, number, least[j]);
        if (high) most[j] = quad_select(v > above, number, most[j]);
        below = quad_less(v, below);
        above = quad_more(v, above);
      }
    }
    if (low) put_points((quads){least[0], least[1], least[2], least[3]}, rows, t->tile, out_low + p);
    if (high) put_points((quads){most[0], most[1], most[2], most[3]}, rows, t->tile, out_high + p);
  }
}

static void map_place(const map_tile *t, int rows, const double *a, int64_t stride, double *low,
                      double *high) {
#define BLOCK(count, r)                                                                                      \
  place_block(count, LOW, HIGH, t, a + (r), stride, LOW ? low + (int64_t)(r)*t->tile : NULL,                 \
              HIGH ? high + (int64_t)(r)*t->tile : NULL)
#define LOW true
#define HIGH true
  if (low && high) ROW_BLOCKS(rows, BLOCK)
#undef HIGH
#define HIGH false
  if (!high) ROW_BLOCKS(rows, BLOCK)
#undef HIGH
#undef LOW
#define LOW false
#define HIGH true
  if (!low) ROW_BLOCKS(rows, BLOCK)
#undef HIGH
#undef LOW
#undef BLOCK
}

MAP_INLINE void put_block(int rows, int count, const map_tile *t, const map_back *back,
                          const map_put_source *from, int first_row, double *const *out) {
  const int n = t->n;
  for (int64_t p = 0; p < t->tile; p += 4) {
    quad sum[MAX_PUTS][4] = {{{0}}};
    for (int j = 0; j < 4; j++)
      for (int64_t e = t->start[POINT(p + j)]; e < t->start[POINT(p + j) + 1]; e++) {
        const int64_t row = t->column[e];
        const double number = (double)(back->entry[e] - back->row_start[row]);
        for (int k = 0; k < count; k++) {
          const quad at = quad_read(from[k].place + row * from[k].place_stride + first_row, rows),
                     y = quad_read(from[k].y + row * from[k].y_stride + first_row, rows);
          sum[k][j] += (quad)((at == number) & (quad_mask)y);
        }
      }
    for (int k = 0; k < count; k++)
      put_points((quads){sum[k][0], sum[k][1], sum[k][2], sum[k][3]}, rows, t->tile,
                 out[k] + first_row * t->tile + p);
  }
}

static void map_put(const map_tile *t, const map_back *back, int rows, int count, const map_put_source *from,
                    double *const *out) {
#define BLOCK(block, r) put_block(block, COUNT, t, back, from, r, out)
#define COUNT 1
  if (count == 1) ROW_BLOCKS(rows, BLOCK)
#undef COUNT
#define COUNT MAX_PUTS
  if (count == MAX_PUTS) ROW_BLOCKS(rows, BLOCK)
#undef COUNT
#undef BLOCK
}

/* ------------------------------------------------------- into the points that tiles name */

/** Up to four rows of four points at a time; the points of a tile in their order, so that a sum does not
 * depend on its rows. */
MAP_INLINE void add_block(int rows, int count, int n, int64_t last, int64_t tile, const map_add_source *from,
                          int first_row, int64_t stride, double *out) {
  for (int64_t p = 0; p < n; p += 4) {
    quad v[MAX_ADDS][4];
    for (int k = 0; k < count; k++) {
      const double *in = from[k].rows + first_row * tile + p;
#define ROW(r) (rows > (r) ? *(const quad_loose *)(in + (r)*tile) : (quad_loose){0})
      quads x = {ROW(0), ROW(1), ROW(2), ROW(3)};
#undef ROW
      if (from[k].minus) x = (quads){-x.a, -x.b, -x.c, -x.d};
      x = turn(x);
      v[k][0] = x.a, v[k][1] = x.b, v[k][2] = x.c, v[k][3] = x.d;
    }
    for (int j = 0; j < 4 && p + j < n; j++)
      for (int k = 0; k < count; k++) {
        double *to = out + from[k].index[p + j] * stride + first_row;
        if (first_row == 0 && p + j < last)
          __builtin_prefetch(out + from[k].index[p + j + GATHER_AHEAD] * stride, 1, 3);
        quad_write(quad_read(to, rows) + v[k][j], rows, to);
      }
  }
}

static void add_row(int count, int n, const map_add_source *from, double *out) {
  for (int64_t p = 0; p < n; p++)
    for (int k = 0; k < count; k++) {
      const double x = from[k].rows[p];
      out[from[k].index[p]] += from[k].minus ? -x : x;
    }
}

static void map_add(int n, int64_t after, int tile, int rows, int count, const map_add_source *from,
                    double *out) {
  const int64_t last = n + after - GATHER_AHEAD;
  if (rows == 1) {
    add_row(count, n, from, out);
    return;
  }
#define BLOCK(block, r) add_block(block, COUNT, n, last, tile, from, r, rows, out)
#define COUNT 1
  if (count == 1) ROW_BLOCKS(rows, BLOCK)
#undef COUNT
#define COUNT MAX_ADDS
  if (count == MAX_ADDS) ROW_BLOCKS(rows, BLOCK)
#undef COUNT
#undef BLOCK
}
