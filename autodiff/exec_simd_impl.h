/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_impl.h  The kernels of one precision; included twice by each exec_simd_*.c, which sets
 *  VECTOR_BYTES, GEMM_ROWS (4 or 8), OUTER_ROWS (3 or 6), INSTRUCTIONS, TABLE, SINGLE and NAME(x). */

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

static void NAME(gemm)(int m, int k, const void *packed, int count, const void *const *x, void *const *y,
                       const double *const *bias, int tile) {
  if (m == 1) {
    NAME(gemm_row)(k, packed, count, x, y, bias, tile);
    return;
  }
  const int per_tile = tile / LANES, columns = count * per_tile;
  for (int first = 0; first < columns; first += 3) {
    const int width = columns - first < 3 ? 1 : 3;
    const real *in[3];
    real *out[3];
    const double *b[3];
    for (int i = 0; i < width; i++) {
      const int value = (first + i) / per_tile, at = (first + i) % per_tile * LANES;
      in[i] = (const real *)x[value] + at;
      out[i] = (real *)y[value] + at;
      b[i] = bias[value];
    }
    const real *w = packed;
    for (int r = 0; r < m; r += GEMM_ROWS, w += (size_t)k * GEMM_ROWS) {
      const int rows = m - r < GEMM_ROWS ? m - r : GEMM_ROWS;
      const size_t at = (size_t)r * (size_t)tile;
#define BIAS(i) (b[i] ? b[i] + r : NULL)
      if (width == 3) NAME(panel_3)
      (rows, k, w, in[0], in[1], in[2], out[0] + at, out[1] + at, out[2] + at, BIAS(0), BIAS(1), BIAS(2),
       tile);
      else NAME(panel_1)(rows, k, w, in[0], out[0] + at, BIAS(0), tile);
#undef BIAS
    }
    if (width == 1) first -= 2;
  }
}

/* ---------------------------------------------------------------------- sums */

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

#if OUTER_ROWS == 6
#define EACH_OUTER(X) X(0) X(1) X(2) X(3) X(4) X(5)
#else
#define EACH_OUTER(X) X(0) X(1) X(2)
#endif
#define OUTER_DECLARE(r) V p##r = {0}, q##r = {0}, s##r = {0}, t##r = {0};
#define OUTER_ROW(r) const V *y##r = (const V *)((const real *)y[i] + row[r] * (size_t)tile);
#define OUTER_STEP(r)                                                                                        \
  {                                                                                                          \
    const V w = y##r[v];                                                                                     \
    p##r += w * a, q##r += w * b, s##r += w * c, t##r += w * d;                                              \
  }
#define OUTER_ADD(r)                                                                                         \
  if (r < rows) NAME(add_sums)(p##r, q##r, s##r, t##r, columns, sum + r * (size_t)stride);
/** Rows first_y .. of y against columns first_x .. of x, `length` points of each [row][tile]; what is past
 * the end repeats the last. */
static void NAME(outer_block)(int64_t first_y, int rows, int64_t first_x, int columns, int count,
                              const void *const *y, const void *const *x, int64_t tile, int64_t length,
                              double *sum, int64_t stride) {
  size_t row[OUTER_ROWS], column[4];
  for (int r = 0; r < OUTER_ROWS; r++) row[r] = (size_t)(first_y + (r < rows ? r : rows - 1));
  for (int j = 0; j < 4; j++) column[j] = (size_t)(first_x + (j < columns ? j : columns - 1)) * (size_t)tile;
  /* The sums are far away and needed late. */
  for (int r = 0; r < rows; r++) __builtin_prefetch(sum + r * stride, 1);
  EACH_OUTER(OUTER_DECLARE)
  for (int i = 0; i < count; i++) {
    EACH_OUTER(OUTER_ROW)
    const real *base = x[i];
    const V *x0 = (const V *)(base + column[0]), *x1 = (const V *)(base + column[1]);
    const V *x2 = (const V *)(base + column[2]), *x3 = (const V *)(base + column[3]);
    for (int64_t v = 0; v < length / LANES; v++) {
      const V a = x0[v], b = x1[v], c = x2[v], d = x3[v];
      EACH_OUTER(OUTER_STEP)
    }
  }
  EACH_OUTER(OUTER_ADD)
}

/** Rows of `length` numbers that stay in the first cache while others pass: a multiple of 4. */
static int NAME(near_rows)(int length) {
  const int rows = 16384 / (length * (int)sizeof(real)) / 4 * 4;
  return rows < 4 ? 4 : rows;
}

static void NAME(outer)(int m, int n, int count, const void *const *y, const void *const *x, int tile,
                        double *sum) {
  const int block = NAME(near_rows)(count * tile);
  for (int first = 0; first < n; first += block) {
    const int end = n - first < block ? n : first + block;
    for (int r = 0; r < m; r += OUTER_ROWS)
      for (int j = first; j < end; j += 4) NAME(outer_block)
    (r, m - r < OUTER_ROWS ? m - r : OUTER_ROWS, j, end - j < 4 ? end - j : 4, count, y, x, tile, tile,
     sum + (size_t)r * (size_t)n + (size_t)j, n);
  }
}

/** Blocks on the diagonal go through a buffer: what is above it stays as it is. */
static void NAME(gram_block)(int64_t r, int rows, int64_t j, int columns, int64_t n, const void *const *a,
                             int64_t stride, double *c, int64_t c_stride) {
  if (j + columns - 1 <= r) {
    NAME(outer_block)(r, rows, j, columns, 1, a, a, stride, n, c + r * c_stride + j, c_stride);
    return;
  }
  double buffer[OUTER_ROWS * 4] = {0};
  NAME(outer_block)(r, rows, j, columns, 1, a, a, stride, n, buffer, 4);
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < columns && j + k <= r + i; k++) c[(r + i) * c_stride + j + k] += buffer[4 * i + k];
}

static void NAME(gram)(int64_t first, int64_t end, int64_t n, const void *a, int64_t stride, double *c,
                       int64_t c_stride) {
  /* Rows that stay in the first cache while those of the outer range pass from the second. */
  int64_t near = 20480 / (n * (int64_t)sizeof(real)) / 4 * 4;
  if (near < 4) near = 4;
  for (int64_t block = 0; block < end; block += near)
    for (int64_t r = first; r < end; r += OUTER_ROWS) {
      const int rows = end - r < OUTER_ROWS ? (int)(end - r) : OUTER_ROWS;
      const int64_t last = r + rows < block + near ? r + rows : block + near;
      for (int64_t j = block; j < last; j += 4)
        NAME(gram_block)(r, rows, j, last - j < 4 ? (int)(last - j) : 4, n, &a, stride, c, c_stride);
    }
}

/* Point by point: nothing is summed over points. `out` is in the kernels' precision. */
#define POINT_DECLARE(r) V p##r = {0}, q##r = {0}, s##r = {0}, t##r = {0};
#define POINT_STEP(r)                                                                                        \
  {                                                                                                          \
    const V w = ((const V *)((const real *)y[i] + row[r]))[v];                                               \
    p##r += w * a, q##r += w * b, s##r += w * c, t##r += w * d;                                              \
  }
#define POINT_STORE(r)                                                                                       \
  if (r < rows) {                                                                                            \
    real *at = out + r * (int64_t)n * stride + v * LANES;                                                    \
    *(V *)at = p##r;                                                                                         \
    if (columns > 1) *(V *)(at + stride) = q##r;                                                             \
    if (columns > 2) *(V *)(at + 2 * stride) = s##r;                                                         \
    if (columns > 3) *(V *)(at + 3 * stride) = t##r;                                                         \
  }
static void NAME(point_block)(int first_y, int rows, int first_x, int columns, int n, int count,
                              const void *const *y, const void *const *x, int tile, real *out,
                              int64_t stride) {
  size_t row[OUTER_ROWS], column[4];
  for (int r = 0; r < OUTER_ROWS; r++) row[r] = (size_t)(first_y + (r < rows ? r : rows - 1)) * (size_t)tile;
  for (int j = 0; j < 4; j++) column[j] = (size_t)(first_x + (j < columns ? j : columns - 1)) * (size_t)tile;
  for (int v = 0; v < tile / LANES; v++) {
    EACH_OUTER(POINT_DECLARE)
    for (int i = 0; i < count; i++) {
      const real *base = x[i];
      const V a = ((const V *)(base + column[0]))[v], b = ((const V *)(base + column[1]))[v];
      const V c = ((const V *)(base + column[2]))[v], d = ((const V *)(base + column[3]))[v];
      EACH_OUTER(POINT_STEP)
    }
    EACH_OUTER(POINT_STORE)
  }
}

static void NAME(outer_points)(int m, int n, int count, const void *const *y, const void *const *x, int tile,
                               void *out, int64_t stride) {
  const int block = NAME(near_rows)(count * tile);
  for (int first = 0; first < n; first += block) {
    const int end = n - first < block ? n : first + block;
    for (int r = 0; r < m; r += OUTER_ROWS)
      for (int j = first; j < end; j += 4) NAME(point_block)
    (r, m - r < OUTER_ROWS ? m - r : OUTER_ROWS, j, end - j < 4 ? end - j : 4, n, count, y, x, tile,
     (real *)out + ((int64_t)r * n + j) * stride, stride);
  }
}

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
#undef EACH_OUTER
#undef DECLARE_3
#undef STEP_3
#undef STORE_3
#undef DECLARE_1
#undef STEP_1
#undef STORE_1
#undef EACH_8
#undef ROW_DECLARE
#undef ROW_STEP
#undef ROW_STORE
#undef POINT_DECLARE
#undef POINT_STEP
#undef POINT_STORE
#undef OUTER_DECLARE
#undef OUTER_ROW
#undef OUTER_STEP
#undef OUTER_ADD
