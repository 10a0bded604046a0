/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_math.h  Elementary functions on vectors of doubles; included by each exec_simd_*.c.
 *
 *  Argument reductions after Cody and Waite; the logarithm's, sine's and cosine's polynomials are the
 *  minimax ones of fdlibm (Sun Microsystems 1993). Errors below 2 units in the last place:
 * tests/autodiff/exec_math.c. */
#include <math.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef double vec __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t ivec __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t uvec __attribute__((vector_size(VECTOR_BYTES)));
enum { VEC_LANES = VECTOR_BYTES / 8 };
#define MATH static inline __attribute__((always_inline, unused)) vec

/** 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits. */
#define SHIFTER 6755399441055744.0
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10

MATH vec_splat(double a) { return a - (vec){0}; }
MATH vec_select(ivec mask, vec a, vec b) { return (vec)((mask & (ivec)a) | (~mask & (ivec)b)); }
MATH vec_abs(vec a) { return (vec)((ivec)a & INT64_MAX); }
/** Size of a, sign of b. */
MATH vec_copysign(vec a, vec b) { return (vec)(((ivec)a & INT64_MAX) | ((ivec)b & INT64_MIN)); }

/** The smaller, the larger of a bound and x; a nan stays one. */
#if defined(__AVX512F__)
MATH vec_at_most(double bound, vec x) { return _mm512_min_pd(vec_splat(bound), x); }
MATH vec_at_least(double bound, vec x) { return _mm512_max_pd(vec_splat(bound), x); }
#elif defined(__AVX__)
MATH vec_at_most(double bound, vec x) { return _mm256_min_pd(vec_splat(bound), x); }
MATH vec_at_least(double bound, vec x) { return _mm256_max_pd(vec_splat(bound), x); }
#elif defined(__SSE2__)
MATH vec_at_most(double bound, vec x) { return _mm_min_pd(vec_splat(bound), x); }
MATH vec_at_least(double bound, vec x) { return _mm_max_pd(vec_splat(bound), x); }
#else
MATH vec_at_most(double bound, vec x) { return vec_select(x > bound, vec_splat(bound), x); }
MATH vec_at_least(double bound, vec x) { return vec_select(x < bound, vec_splat(bound), x); }
#endif

/** 2^k of an integer |k| <= 1022. */
MATH vec_power_of_two(vec k) { return (vec)(((uvec)(k + SHIFTER) << 52) + 0x3ff0000000000000u); }

/** exp(x) = 2^k (1 + p): gives p, |x| < 750. The polynomial interpolates (exp(r) - 1 - r) / r^2 at the
 * Chebyshev points of |r| <= log(2) / 2; relative error of p 4e-17. */
MATH vec_exp_parts(vec x, vec *k) {
  vec n = (x * 1.44269504088896338700e+00 + SHIFTER) - SHIFTER;
  vec r = (x - n * LN2_HIGH) - n * LN2_LOW;
  /* Even and odd powers apart: half as long a chain. */
  vec z = r * r;
  vec even = z * 2.7620088445409748161e-7 + 2.4801521295954375131e-5;
  vec odd = z * 2.5100385495510319078e-8 + 2.7557268459997064772e-6;
  even = even * z + 1.3888888917213716901e-3;
  odd = odd * z + 1.9841269863053616878e-4;
  even = even * z + 4.1666666666624127873e-2;
  odd = odd * z + 8.3333333333300618325e-3;
  even = even * z + 5.0000000000000010221e-1;
  odd = odd * z + 1.6666666666666667453e-1;
  vec p = odd * r + even;
  *k = n;
  return p * z + r;
}

MATH vec_exp(vec x) {
  x = vec_at_least(-746.0, vec_at_most(710.0, x));
  vec k, p = vec_exp_parts(x, &k);
  /* Two factors: the ends of the range need 2^1024 and 2^-1074. */
  vec half = (k * 0.5 + SHIFTER) - SHIFTER;
  return (p + 1.0) * vec_power_of_two(half) * vec_power_of_two(k - half);
}

/** exp(x) - 1 for -700 <= x <= 700. */
MATH vec_expm1(vec x) {
  vec k, p = vec_exp_parts(x, &k), scale = vec_power_of_two(k);
  return scale * p + (scale - 1.0);
}

MATH vec_tanh(vec x) {
  vec e = vec_expm1(-2.0 * vec_at_most(22.0, vec_abs(x)));
  return vec_copysign(-e / (e + 2.0), x);
}

MATH vec_sigmoid(vec x) {
  vec e = vec_exp(-vec_abs(x));
  return vec_select(x < 0.0, e, vec_splat(1.0)) / (e + 1.0);
}

/** Log of a positive normal or subnormal number. */
MATH vec_log_positive(vec x) {
  ivec small = x < 2.2250738585072014e-308;
  vec scaled = vec_select(small, x * 18014398509481984.0, x);
  uvec u = (uvec)scaled + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  /* The exponent as a number: its bits under those of the shifter. */
  vec k = (vec)((u >> 52) + 0x4338000000000000u) - SHIFTER - 1023.0;
  k = k - vec_select(small, vec_splat(54.0), vec_splat(0.0));
  vec f = (vec)((u & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
  vec half_square = 0.5 * f * f, s = f / (2.0 + f), z = s * s, w = z * z;
  vec even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  vec odd =
      z * (6.666666666666735130e-01 +
           w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  return s * (half_square + (even + odd)) + k * LN2_LOW - half_square + f + k * LN2_HIGH;
}

MATH vec_log(vec x) {
  vec y = vec_log_positive(x);
  y = vec_select(x == HUGE_VAL, x, y);
  y = vec_select(x == 0.0, vec_splat(-HUGE_VAL), y);
  y = vec_select(x < 0.0, vec_splat(NAN), y);
  return vec_select(x != x, x, y);
}

/** log(1 + x) for 0 <= x <= 1: the rounding of 1 + x is put right to first order. */
MATH vec_log1p(vec x) {
  vec u = 1.0 + x;
  return vec_log_positive(u) + (x - (u - 1.0)) / u;
}

MATH vec_softplus(vec x) {
  vec y = vec_select(x > 0.0, x, vec_splat(0.0)) + vec_log1p(vec_exp(-vec_abs(x)));
  return vec_select(x != x, x, y);
}

/** Sine and cosine for |x| <= 1e6: x = q pi/2 + y0 + y1. */
static inline __attribute__((always_inline, unused)) void vec_sin_cos(vec x, vec *sine, vec *cosine) {
  vec shifted = x * 6.36619772367581382433e-01 + SHIFTER, n = shifted - SHIFTER;
  vec t = x - n * 1.57079632673412561417e+00, w = n * 6.07710050630396597660e-11, r = t - w;
  w = n * 2.02226624879595063154e-21 - ((t - r) - w);
  vec y0 = r - w, y1 = (r - y0) - w, z = y0 * y0, v = z * y0;
  vec p = z * 1.58969099521155010221e-10 - 2.50507602534068634195e-08;
  p = p * z + 2.75573137070700676789e-06;
  p = p * z - 1.98412698298579493134e-04;
  p = p * z + 8.33333333332248946124e-03;
  vec s = y0 - ((z * (0.5 * y1 - v * p) - y1) - v * -1.66666666666666324348e-01);
  p = z * -1.13596475577881948265e-11 + 2.08757232129817482790e-09;
  p = p * z - 2.75573143513906633035e-07;
  p = p * z + 2.48015872894767294178e-05;
  p = p * z - 1.38888888888741095749e-03;
  p = p * z + 4.16666666666666019037e-02;
  vec half = 0.5 * z, one = 1.0 - half;
  vec c = one + (((1.0 - one) - half) + (z * (z * p) - y0 * y1));
  uvec q = (uvec)shifted;
  ivec swap = -(ivec)(q & 1);
  *sine = (vec)((uvec)vec_select(swap, c, s) ^ ((q & 2) << 62));
  *cosine = (vec)((uvec)vec_select(swap, s, c) ^ (((q + 1) & 2) << 62));
}

/** Lanes that the reduction above cannot take (large, infinite, no number) go to the C library. */
MATH vec_repair(vec x, vec y, double (*f)(double)) {
  ivec far = ~(ivec)(vec_abs(x) <= 1e6);
  int64_t any = 0;
  for (int i = 0; i < VEC_LANES; i++) any |= far[i];
  if (__builtin_expect(any != 0, 0))
    for (int i = 0; i < VEC_LANES; i++)
      if (far[i]) y[i] = f(x[i]);
  return y;
}

MATH vec_sin(vec x) {
  vec s, c;
  vec_sin_cos(x, &s, &c);
  return vec_repair(x, s, sin);
}
MATH vec_cos(vec x) {
  vec s, c;
  vec_sin_cos(x, &s, &c);
  return vec_repair(x, c, cos);
}

/** Hyperbolic sine and cosine: halves of exp(a) +- exp(-a), from exp(a) - 1 where they cancel. Past 700 the
 *  factor 1/2 is drawn into the exponent. */
MATH vec_sinh(vec x) {
  vec a = vec_abs(x);
  ivec large = a > 700.0;
  vec e = vec_expm1(vec_select(large, vec_splat(0.0), a));
  vec near = 0.5 * (e + e / (e + 1.0));
  vec half = vec_exp(0.5 * vec_select(large, a, vec_splat(0.0)));
  return vec_copysign(vec_select(large, 0.5 * half * half, near), x);
}
MATH vec_cosh(vec x) {
  vec half, a = vec_abs(x), e = vec_exp(a);
  half = vec_exp(0.5 * a);
  return vec_select(a > 700.0, 0.5 * half * half, 0.5 * e + 0.5 / e);
}

/* ------------------------------------------------------------ single precision
 * What networks use most has forms of its own; the rest goes through double. */

typedef float fvec __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t fivec __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t fuvec __attribute__((vector_size(VECTOR_BYTES)));
#define MATH_SINGLE static inline __attribute__((always_inline, unused)) fvec
/** 1.5 * 2^23 */
#define SHIFTER_SINGLE 12582912.0f

MATH_SINGLE fvec_splat(float a) { return a - (fvec){0}; }
MATH_SINGLE fvec_select(fivec mask, fvec a, fvec b) { return (fvec)((mask & (fivec)a) | (~mask & (fivec)b)); }
MATH_SINGLE fvec_abs(fvec a) { return (fvec)((fivec)a & INT32_MAX); }
#if defined(__AVX512F__)
MATH_SINGLE fvec_at_most(float bound, fvec x) { return _mm512_min_ps(fvec_splat(bound), x); }
MATH_SINGLE fvec_at_least(float bound, fvec x) { return _mm512_max_ps(fvec_splat(bound), x); }
#elif defined(__AVX__)
MATH_SINGLE fvec_at_most(float bound, fvec x) { return _mm256_min_ps(fvec_splat(bound), x); }
MATH_SINGLE fvec_at_least(float bound, fvec x) { return _mm256_max_ps(fvec_splat(bound), x); }
#elif defined(__SSE2__)
MATH_SINGLE fvec_at_most(float bound, fvec x) { return _mm_min_ps(fvec_splat(bound), x); }
MATH_SINGLE fvec_at_least(float bound, fvec x) { return _mm_max_ps(fvec_splat(bound), x); }
#else
MATH_SINGLE fvec_at_most(float bound, fvec x) { return fvec_select(x > bound, fvec_splat(bound), x); }
MATH_SINGLE fvec_at_least(float bound, fvec x) { return fvec_select(x < bound, fvec_splat(bound), x); }
#endif

/** 2^k of an integer |k| <= 126. */
MATH_SINGLE fvec_power_of_two(fvec k) { return (fvec)(((fuvec)(k + SHIFTER_SINGLE) << 23) + 0x3f800000u); }

/** exp(x) = 2^k (1 + p): gives p; as vec_exp_parts, relative error of the polynomial 5e-10. */
MATH_SINGLE fvec_exp_parts(fvec x, fvec *k) {
  fvec n = (x * 1.44269504f + SHIFTER_SINGLE) - SHIFTER_SINGLE;
  fvec r = (x - n * 0.693145752f) - n * 1.42860677e-6f, z = r * r;
  fvec even = z * 0.00139337307158f + 0.0416664641974f, odd = z * 0.00019891080464f + 0.00833331084465f;
  even = even * z + 0.500000001354f;
  odd = odd * z + 0.166666666817f;
  *k = n;
  return (odd * r + even) * z + r;
}

MATH_SINGLE fvec_exp(fvec x) {
  x = fvec_at_least(-105.0f, fvec_at_most(89.0f, x));
  fvec k, p = fvec_exp_parts(x, &k), half = (k * 0.5f + SHIFTER_SINGLE) - SHIFTER_SINGLE;
  return (p + 1.0f) * fvec_power_of_two(half) * fvec_power_of_two(k - half);
}

MATH_SINGLE fvec_tanh(fvec x) {
  fvec k, p = fvec_exp_parts(-2.0f * fvec_at_most(10.0f, fvec_abs(x)), &k), scale = fvec_power_of_two(k);
  fvec e = scale * p + (scale - 1.0f);
  return (fvec)(((fivec)(-e / (e + 2.0f)) & INT32_MAX) | ((fivec)x & INT32_MIN));
}

MATH_SINGLE fvec_sigmoid(fvec x) {
  fvec e = fvec_exp(-fvec_abs(x));
  return fvec_select(x < 0.0f, e, fvec_splat(1.0f)) / (e + 1.0f);
}
