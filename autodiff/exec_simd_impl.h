/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_impl.h  The kernels of one precision; included twice by each exec_simd_*.c, which sets
 *  VECTOR_BYTES, GEMM_ROWS (4 or 8), OUTER_COLUMNS (4 or 8), NEAR_BYTES, TILE_BYTES, TERMS_BYTES,
 * PIECE_BYTES, INSTRUCTIONS, TABLE, SINGLE and NAME(x). */

#if SINGLE
typedef float NAME(real);
typedef int32_t NAME(mask_int);
#else
typedef double NAME(real);
typedef int64_t NAME(mask_int);
#endif
#define real NAME(real)
#define LANES (VECTOR_BYTES / (int)sizeof(real))
typedef real NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));
typedef NAME(mask_int) NAME(mask) __attribute__((vector_size(VECTOR_BYTES)));
#define V NAME(vector)
#define M NAME(mask)

/* ---------------------------------------------------------------- elementwise */

#define SIGNATURE                                                                                            \
  (int64_t n, void *out, const void *const in[KERNEL_INPUTS], const int64_t step[KERNEL_INPUTS])
#define ARRAY(type, i) const type *p##i = in[i]
#define WALK(i) const int64_t s##i = step[i]
#define ONE(m) ((V)((m) & (M)((V){0} + (real)1)))
#define SELECT(m, p, q) ((V)(((m) & (M)(p)) | (~(m) & (M)(q))))

#define UNARY(name, value)                                                                                   \
  static void NAME(name) SIGNATURE {                                                                         \
    V *o = out;                                                                                              \
    ARRAY(V, 0);                                                                                             \
    WALK(0);                                                                                                 \
    for (int64_t i = 0; i < n / LANES; i++) {                                                                \
      const V x = p0[i * s0];                                                                                \
      o[i] = value;                                                                                          \
    }                                                                                                        \
  }
#define BINARY(name, value)                                                                                  \
  static void NAME(name) SIGNATURE {                                                                         \
    V *o = out;                                                                                              \
    ARRAY(V, 0);                                                                                             \
    WALK(0);                                                                                                 \
    ARRAY(V, 1);                                                                                             \
    WALK(1);                                                                                                 \
    for (int64_t i = 0; i < n / LANES; i++) {                                                                \
      const V x = p0[i * s0], y = p1[i * s1];                                                                \
      o[i] = value;                                                                                          \
    }                                                                                                        \
  }
#define TERNARY(name, value)                                                                                 \
  static void NAME(name) SIGNATURE {                                                                         \
    V *o = out;                                                                                              \
    ARRAY(V, 0);                                                                                             \
    WALK(0);                                                                                                 \
    ARRAY(V, 1);                                                                                             \
    WALK(1);                                                                                                 \
    ARRAY(V, 2);                                                                                             \
    WALK(2);                                                                                                 \
    for (int64_t i = 0; i < n / LANES; i++) {                                                                \
      const V x = p0[i * s0], y = p1[i * s1], z = p2[i * s2];                                                \
      o[i] = value;                                                                                          \
    }                                                                                                        \
  }
#define QUATERNARY(name, value)                                                                              \
  static void NAME(name) SIGNATURE {                                                                         \
    V *o = out;                                                                                              \
    ARRAY(V, 0);                                                                                             \
    WALK(0);                                                                                                 \
    ARRAY(V, 1);                                                                                             \
    WALK(1);                                                                                                 \
    ARRAY(V, 2);                                                                                             \
    WALK(2);                                                                                                 \
    ARRAY(V, 3);                                                                                             \
    WALK(3);                                                                                                 \
    for (int64_t i = 0; i < n / LANES; i++) {                                                                \
      const V x = p0[i * s0], y = p1[i * s1], z = p2[i * s2], w = p3[i * s3];                                \
      o[i] = value;                                                                                          \
    }                                                                                                        \
  }
/* Functions that have a vector form in double: single precision goes through it half a vector at a time. */
#if SINGLE
typedef float NAME(half) __attribute__((vector_size(VECTOR_BYTES / 2)));
#define FUNCTION(name, function)                                                                             \
  static void NAME(name) SIGNATURE {                                                                         \
    NAME(half) *o = out;                                                                                     \
    ARRAY(NAME(half), 0);                                                                                    \
    WALK(0);                                                                                                 \
    for (int64_t i = 0; i < n / VEC_LANES; i++) {                                                            \
      const vec y = function(__builtin_convertvector(p0[s0 ? i : 0], vec));                                  \
      o[i] = __builtin_convertvector(y, NAME(half));                                                         \
    }                                                                                                        \
  }
#define FUNCTION_2(name, function)                                                                           \
  static void NAME(name) SIGNATURE {                                                                         \
    NAME(half) *o = out;                                                                                     \
    ARRAY(NAME(half), 0);                                                                                    \
    WALK(0);                                                                                                 \
    ARRAY(NAME(half), 1);                                                                                    \
    WALK(1);                                                                                                 \
    for (int64_t i = 0; i < n / VEC_LANES; i++) {                                                            \
      const vec y = function(__builtin_convertvector(p0[s0 ? i : 0], vec),                                   \
                             __builtin_convertvector(p1[s1 ? i : 0], vec));                                  \
      o[i] = __builtin_convertvector(y, NAME(half));                                                         \
    }                                                                                                        \
  }
#else
#define FUNCTION(name, function) UNARY(name, function(x))
#define FUNCTION_2(name, function) BINARY(name, function(x, y))
#endif

/* Long functions in two steps over a block of vectors: the chains of operations of both would keep the
 * processor from beginning the next vectors. */
#if SINGLE
#define PART NAME(half)
#else
#define PART V
#endif
#define TWO_STEPS(name, inputs, first, second)                                                               \
  static void NAME(name) SIGNATURE {                                                                         \
    enum { BLOCK = 16 };                                                                                     \
    vec high[BLOCK], low[BLOCK];                                                                             \
    PART *o = out;                                                                                           \
    const PART *p0 = in[0], *p1 = in[(inputs)-1];                                                            \
    const int64_t s0 = step[0] != 0, s1 = step[(inputs)-1] != 0, all = n / VEC_LANES;                        \
    for (int64_t begin = 0; begin < all; begin += BLOCK) {                                                   \
      const int64_t end = begin + BLOCK < all ? begin + BLOCK : all;                                         \
      for (int64_t i = begin; i < end; i++)                                                                  \
        high[i - begin] = first(__builtin_convertvector(p0[i * s0], vec),                                    \
                                __builtin_convertvector(p1[i * s1], vec), &low[i - begin]);                  \
      for (int64_t i = begin; i < end; i++) {                                                                \
        const vec y = second(__builtin_convertvector(p0[i * s0], vec),                                       \
                             __builtin_convertvector(p1[i * s1], vec), high[i - begin], low[i - begin]);     \
        o[i] = __builtin_convertvector(y, PART);                                                             \
      }                                                                                                      \
    }                                                                                                        \
  }

UNARY(op_NEG, -x)
BINARY(op_ADD, x + y)
BINARY(op_SUB, x - y)
BINARY(op_MUL, x *y)
BINARY(op_DIV, x / y)
FUNCTION(op_SINH, vec_sinh)
FUNCTION(op_COSH, vec_cosh)
FUNCTION(op_TAN, vec_tan)
FUNCTION(op_ASIN, vec_asin)
FUNCTION(op_ACOS, vec_acos)
FUNCTION(op_ATAN, vec_atan)
FUNCTION_2(op_ATAN2, vec_atan2)
FUNCTION(op_CBRT, vec_cbrt)
FUNCTION_2(op_HYPOT, vec_hypot)
#if SINGLE
UNARY(op_SQRT, fvec_sqrt(x))
UNARY(op_FLOOR, fvec_floor(x))
TWO_STEPS(op_POW, 2, vec_pow_first_single, vec_pow_second)
FUNCTION(op_ERF, vec_erf_single)
FUNCTION(op_GELU, vec_gelu_single)
UNARY(op_EXP, fvec_exp(x))
UNARY(op_LOG, fvec_log(x))
UNARY(op_SIN, fvec_sin(x))
UNARY(op_COS, fvec_cos(x))
UNARY(op_SOFTPLUS, fvec_softplus(x))
UNARY(op_TANH, fvec_tanh(x))
UNARY(op_SIGMOID, fvec_sigmoid(x))
UNARY(op_SWISH, x *fvec_sigmoid(x))
#else
UNARY(op_SQRT, vec_sqrt(x))
UNARY(op_FLOOR, vec_floor(x))
TWO_STEPS(op_POW, 2, vec_pow_first, vec_pow_second)
TWO_STEPS(op_ERF, 1, vec_erf_first, vec_erf_second)
TWO_STEPS(op_GELU, 1, vec_gelu_first, vec_gelu_second)
UNARY(op_EXP, vec_exp(x))
UNARY(op_LOG, vec_log(x))
UNARY(op_SIN, vec_sin(x))
UNARY(op_COS, vec_cos(x))
UNARY(op_SOFTPLUS, vec_softplus(x))
UNARY(op_TANH, vec_tanh(x))
UNARY(op_SIGMOID, vec_sigmoid(x))
UNARY(op_SWISH, x *vec_sigmoid(x))
#endif
UNARY(op_ABS, ((V)((M)x & ~(M)(-(V){0}))))
/* As op_value: a nan is the result, the first of two equal numbers, a signed zero of sign. */
BINARY(op_MIN, SELECT((y < x) | (y != y), y, x))
BINARY(op_MAX, SELECT((y > x) | (y != y), y, x))
UNARY(op_SIGN, SELECT((x > 0) | (x < 0), ONE(x > 0) - ONE(x < 0), x))
UNARY(op_STEP, SELECT((x >= 0) | (x < 0), ONE(x >= 0), x))
BINARY(op_LT, ONE(x < y))
BINARY(op_LE, ONE(x <= y))
BINARY(op_EQ, ONE(x == y))
BINARY(op_AND, ONE((x != 0) & (y != 0)))
BINARY(op_OR, ONE((x != 0) | (y != 0)))
UNARY(op_NOT, ONE(x == 0))
TERNARY(op_WHERE, SELECT(x != 0, y, z))
UNARY(op_COPY, x)
TERNARY(op_MUL3, x *y *z)
/* Fused by name, not by the compiler's choice: machine code made for a program has to round the same way. */
#if VECTOR_BYTES == 64 && SINGLE
#define FUSED(kind, x, y, z) ((V)_mm512_##kind##_ps((__m512)(x), (__m512)(y), (__m512)(z)))
#elif VECTOR_BYTES == 64
#define FUSED(kind, x, y, z) ((V)_mm512_##kind##_pd((__m512d)(x), (__m512d)(y), (__m512d)(z)))
#elif VECTOR_BYTES == 32 && SINGLE
#define FUSED(kind, x, y, z) ((V)_mm256_##kind##_ps((__m256)(x), (__m256)(y), (__m256)(z)))
#elif VECTOR_BYTES == 32
#define FUSED(kind, x, y, z) ((V)_mm256_##kind##_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))
#else
#define PLAIN_fmadd(x, y, z) ((x) * (y) + (z))
#define PLAIN_fmsub(x, y, z) ((x) * (y) - (z))
#define PLAIN_fnmadd(x, y, z) ((z) - (x) * (y))
#define FUSED(kind, x, y, z) PLAIN_##kind(x, y, z)
#endif
TERNARY(op_FMA, FUSED(fmadd, x, y, z))
TERNARY(op_FMS, FUSED(fmsub, x, y, z))
TERNARY(op_FNMA, FUSED(fnmadd, x, y, z))
QUATERNARY(op_FMA3, FUSED(fmadd, x *y, z, w))
QUATERNARY(op_FMS3, FUSED(fmsub, x *y, z, w))
QUATERNARY(op_FNMA3, FUSED(fnmadd, x *y, z, w))
QUATERNARY(op_MULADD, FUSED(fmadd, x, y, z *w))
QUATERNARY(op_MULSUB, FUSED(fmsub, x, y, z *w))
#undef FUSED
#undef PLAIN_fmadd
#undef PLAIN_fmsub
#undef PLAIN_fnmadd

/* ---------------------------------------------------------------------- dense */

static void NAME(pack)(int m, int k, const double *weight, bool transposed, void *packed) {
  real *out = packed;
  for (int first = 0; first < m; first += GEMM_ROWS)
    for (int j = 0; j < k; j++)
      for (int r = first; r < first + GEMM_ROWS; r++)
        *out++ = r >= m ? 0
                        : (real)(transposed ? weight[(size_t)j * (size_t)m + (size_t)r]
                                            : weight[(size_t)r * (size_t)k + (size_t)j]);
}

#if GEMM_ROWS == 8
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#else
#define EACH_ROW(X) X(0) X(1) X(2) X(3)
#endif

/* One panel times 3, 2 or 1 vectors of points: the accumulators stay in registers. */
#define DECLARE_3(r) V a##r = {0}, b##r = {0}, c##r = {0};
#define STEP_3(r) a##r += w[r] * x, b##r += w[r] * y, c##r += w[r] * z;
#define STORE_3(r)                                                                                           \
  if (r < rows) {                                                                                            \
    *(V *)(y0 + r * tile) = a##r + (bias0 ? (real)bias0[r] : 0);                                             \
    *(V *)(y1 + r * tile) = b##r + (bias1 ? (real)bias1[r] : 0);                                             \
    *(V *)(y2 + r * tile) = c##r + (bias2 ? (real)bias2[r] : 0);                                             \
  }
static void NAME(panel_3)(int rows, int k, const real *restrict w, const real *x0, const real *x1,
                          const real *x2, real *y0, real *y1, real *y2, const double *bias0,
                          const double *bias1, const double *bias2, int64_t tile) {
  EACH_ROW(DECLARE_3)
  for (int j = 0; j < k; j++) {
    const V x = *(const V *)x0, y = *(const V *)x1, z = *(const V *)x2;
    EACH_ROW(STEP_3)
    x0 += tile, x1 += tile, x2 += tile, w += GEMM_ROWS;
  }
  EACH_ROW(STORE_3)
}

#define DECLARE_1(r) V a##r = {0};
#define STEP_1(r) a##r += w[r] * x;
#define STORE_1(r)                                                                                           \
  if (r < rows) *(V *)(y0 + r * tile) = a##r + (bias0 ? (real)bias0[r] : 0);
static void NAME(panel_1)(int rows, int k, const real *restrict w, const real *x0, real *y0,
                          const double *bias0, int64_t tile) {
  EACH_ROW(DECLARE_1)
  for (int j = 0; j < k; j++) {
    const V x = *(const V *)x0;
    EACH_ROW(STEP_1)
    x0 += tile, w += GEMM_ROWS;
  }
  EACH_ROW(STORE_1)
}

#if GEMM_ROWS == 8
/* Half a panel times six vectors of points: as many accumulators as a whole one times three. */
#define EACH_HALF_ROW(X) X(0) X(1) X(2) X(3)
#define DECLARE_6(r) V a##r = {0}, b##r = {0}, c##r = {0}, d##r = {0}, e##r = {0}, f##r = {0};
#define STEP_6(r)                                                                                            \
  a##r += w[r] * x, b##r += w[r] * y, c##r += w[r] * z, d##r += w[r] * p, e##r += w[r] * q, f##r += w[r] * s;
#define STORE_6(r)                                                                                           \
  if (r < rows) {                                                                                            \
    const size_t to = (size_t)r * (size_t)tile;                                                              \
    *(V *)(out[0] + to) = a##r + (bias[0] ? (real)bias[0][r] : 0);                                           \
    *(V *)(out[1] + to) = b##r + (bias[1] ? (real)bias[1][r] : 0);                                           \
    *(V *)(out[2] + to) = c##r + (bias[2] ? (real)bias[2][r] : 0);                                           \
    *(V *)(out[3] + to) = d##r + (bias[3] ? (real)bias[3][r] : 0);                                           \
    *(V *)(out[4] + to) = e##r + (bias[4] ? (real)bias[4][r] : 0);                                           \
    *(V *)(out[5] + to) = f##r + (bias[5] ? (real)bias[5][r] : 0);                                           \
  }
static void NAME(panel_6)(int rows, int k, const real *restrict w, const real *const in[6],
                          real *const out[6], const double *const bias[6], int64_t tile) {
  const real *x0 = in[0], *x1 = in[1], *x2 = in[2], *x3 = in[3], *x4 = in[4], *x5 = in[5];
  EACH_HALF_ROW(DECLARE_6)
  for (int64_t j = 0, at = 0; j < k; j++, at += tile, w += GEMM_ROWS) {
    const V x = *(const V *)(x0 + at), y = *(const V *)(x1 + at), z = *(const V *)(x2 + at);
    const V p = *(const V *)(x3 + at), q = *(const V *)(x4 + at), s = *(const V *)(x5 + at);
    EACH_HALF_ROW(STEP_6)
  }
  EACH_HALF_ROW(STORE_6)
}
#endif

/* One row of results: eight vectors of points at a time, so that the sums do not wait for each other. */
#define EACH_8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ROW_DECLARE(i) V a##i = {0};
#define ROW_STEP(i) a##i += w[0] * *(const V *)(in[i] + at);
#define ROW_STORE(i)                                                                                         \
  if (i < width) *(V *)out[i] = a##i + (bias[i] ? (real)bias[i][0] : 0);
static void NAME(single_row)(int width, int k, const real *restrict w, const real *const in[8],
                             real *const out[8], const double *const bias[8], int64_t tile) {
  EACH_8(ROW_DECLARE)
  for (int64_t j = 0, at = 0; j < k; j++, at += tile, w += GEMM_ROWS) { EACH_8(ROW_STEP) }
  EACH_8(ROW_STORE)
}

static void NAME(gemm_row)(int k, const void *packed, int count, const void *const *x, void *const *y,
                           const double *const *bias, int tile) {
  const int per_tile = tile / LANES, columns = count * per_tile;
  for (int first = 0; first < columns; first += 8) {
    const int width = columns - first < 8 ? columns - first : 8;
    const real *in[8];
    real *out[8];
    const double *b[8];
    for (int i = 0; i < 8; i++) {
      /* Past the end the last column is computed again, but not written. */
      const int column = first + (i < width ? i : width - 1), value = column / per_tile,
                at = column % per_tile * LANES;
      in[i] = (const real *)x[value] + at;
      out[i] = (real *)y[value] + at;
      b[i] = bias[value];
    }
    NAME(single_row)(width, k, packed, in, out, b, tile);
  }
}

/** `columns` (6, 3 or 1) vectors of points, from number `first` of all on, times all panels. */
static void NAME(gemm_columns)(int m, int k, const real *packed, int first, int columns, const void *const *x,
                               void *const *y, const double *const *bias, int tile) {
  const int per_tile = tile / LANES;
  const real *in[6];
  real *out[6];
  const double *b[6];
  for (int i = 0; i < columns; i++) {
    const int value = (first + i) / per_tile, at = (first + i) % per_tile * LANES;
    in[i] = (const real *)x[value] + at;
    out[i] = (real *)y[value] + at;
    b[i] = bias[value];
  }
  const real *w = packed;
  for (int r = 0; r < m; r += GEMM_ROWS, w += (size_t)k * GEMM_ROWS) {
    const int rows = m - r < GEMM_ROWS ? m - r : GEMM_ROWS;
#if GEMM_ROWS == 8
    if (columns == 6 && rows <= 4) {
      NAME(panel_6)(rows, k, w, in, out, b, tile);
      return;
    }
#endif
    for (int i = 0; i + 3 <= columns; i += 3) NAME(panel_3)
    (rows, k, w, in[i], in[i + 1], in[i + 2], out[i], out[i + 1], out[i + 2], b[i], b[i + 1], b[i + 2], tile);
    if (columns == 1) NAME(panel_1)(rows, k, w, in[0], out[0], b[0], tile);
    for (int i = 0; i < columns; i++) {
      out[i] += (size_t)GEMM_ROWS * (size_t)tile;
      if (b[i]) b[i] += GEMM_ROWS;
    }
  }
}

static void NAME(gemm)(int m, int k, const void *packed, int count, const void *const *x, void *const *y,
                       const double *const *bias, int tile) {
  if (m == 1) {
    NAME(gemm_row)(k, packed, count, x, y, bias, tile);
    return;
  }
  /* Six where the last panel is half empty at least and what is read of x stays in the first cache. */
  const bool half = GEMM_ROWS == 8 && m % 8 >= 1 && m % 8 <= 4 && (size_t)k * 6 * sizeof(V) <= 32768;
  const int columns = count * (tile / LANES);
  for (int first = 0; first < columns;) {
    const int left = columns - first, width = half && left >= 6 ? 6 : left >= 3 ? 3 : 1;
    NAME(gemm_columns)(m, k, packed, first, width, x, y, bias, tile);
    first += width;
  }
}

#include "exec_simd_outer.h"

static void NAME(sum_points)(int m, int count, const void *const *a, int tile, void *out, int64_t stride) {
  for (int r = 0; r < m; r++)
    for (int v = 0; v < tile / LANES; v++) {
      V s = {0};
      for (int i = 0; i < count; i++) s += ((const V *)((const real *)a[i] + (size_t)r * (size_t)tile))[v];
      *(V *)((real *)out + r * stride + v * LANES) = s;
    }
}

static void NAME(sum)(int m, const void *a, int tile, double *sum) {
  const real *in = a;
  for (int r = 0; r < m; r++, in += tile) {
    V s = {0};
    for (int v = 0; v < tile / LANES; v++) s += ((const V *)in)[v];
    double total = 0;
    for (int i = 0; i < LANES; i++) total += (double)s[i];
    sum[r] += total;
  }
}

static void NAME(row_sum)(int m, const void *a, int tile, void *out) {
  for (int v = 0; v < tile / LANES; v++) {
    V s = {0};
    for (int r = 0; r < m; r++) s += ((const V *)((const real *)a + (size_t)r * (size_t)tile))[v];
    ((V *)out)[v] = s;
  }
}

/* ---------------------------------------------------------------- in and out */

#if SINGLE
static void NAME(load)(int rows, int n, const double *in, int stride, int tile, void *out) {
  real *o = out;
  for (int r = 0; r < rows; r++, o += tile) {
    for (int p = 0; p < n; p++) o[p] = (real)in[(size_t)p * (size_t)stride + (size_t)r];
    for (int p = n; p < tile; p++) o[p] = o[n - 1];
  }
}

static void NAME(store)(int rows, int n, const void *in, int tile, double *out) {
  const real *a = in;
  for (int r = 0; r < rows; r++)
    for (int p = 0; p < n; p++)
      out[(size_t)p * (size_t)rows + (size_t)r] = (double)a[(size_t)r * (size_t)tile + (size_t)p];
}
#endif

static void NAME(fill)(int64_t n, double value, void *out) {
  real *o = out;
  for (int64_t i = 0; i < n; i++) o[i] = (real)value;
}

static int64_t NAME(find_bad)(int64_t n, const void *a) {
  const real *x = a;
  real any = 0;
  for (int64_t i = 0; i < n; i++) any += x[i] - x[i];
  if (any == 0) return -1;
  for (int64_t i = 0; i < n; i++)
    if (!(x[i] - x[i] == 0)) return i;
  return -1;
}

const exec_kernels TABLE = {
    .instructions = INSTRUCTIONS,
    .single = SINGLE,
    .lanes = LANES,
    .panel = GEMM_ROWS,
    .tile_bytes = TILE_BYTES,
    .terms_bytes = TERMS_BYTES,
    .piece_bytes = PIECE_BYTES,
    .elementwise =
        {
#define KERNEL(op, name, inputs) [PCSIM_OP_##op] = NAME(op_##op),
            PCSIM_OP_LIST(KERNEL)
#undef KERNEL
                [KERNEL_COPY] = NAME(op_COPY),
            [KERNEL_MUL3] = NAME(op_MUL3),
            [KERNEL_FMA3] = NAME(op_FMA3),
            [KERNEL_FMS3] = NAME(op_FMS3),
            [KERNEL_FNMA3] = NAME(op_FNMA3),
            [KERNEL_MULADD] = NAME(op_MULADD),
            [KERNEL_MULSUB] = NAME(op_MULSUB),
            [KERNEL_FMA] = NAME(op_FMA),
            [KERNEL_FMS] = NAME(op_FMS),
            [KERNEL_FNMA] = NAME(op_FNMA),
        },
    .pack = NAME(pack),
    .gemm = NAME(gemm),
    .outer = NAME(outer),
    .gram = NAME(gram),
    .outer_points = NAME(outer_points),
    .sum_points = NAME(sum_points),
    .sum = NAME(sum),
    .row_sum = NAME(row_sum),
#if SINGLE
    .load = NAME(load),
    .store = NAME(store),
#else
    .load = map_load,
    .store = map_store,
#endif
    .map_gather = map_gather,
    .map_near = map_near,
    .map_transposed = map_transposed,
    .map_pick = map_pick,
    .map_place = map_place,
    .map_put = map_put,
    .map_add = map_add,
    .fill = NAME(fill),
    .find_bad = NAME(find_bad),
};

#undef real
#undef LANES
#undef V
#undef M
#undef UNARY
#undef BINARY
#undef TERNARY
#undef FUNCTION
#undef FUNCTION_2
#undef PART
#undef TWO_STEPS
#undef SIGNATURE
#undef ARRAY
#undef WALK
#undef QUATERNARY
#undef ONE
#undef SELECT
#undef EACH_ROW
#undef DECLARE_3
#undef STEP_3
#undef STORE_3
#undef EACH_HALF_ROW
#undef DECLARE_6
#undef STEP_6
#undef STORE_6
#undef DECLARE_1
#undef STEP_1
#undef STORE_1
#undef EACH_8
#undef ROW_DECLARE
#undef ROW_STEP
#undef ROW_STORE
