/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_vector.h  Vectors of doubles and of floats: selection, rounding, exact products. Included
 * by each exec_simd_*.c, which sets VECTOR_BYTES, through exec_simd_math.h. What the compiler's vector types
 * lack is written for each instruction set, and in plain operations for any other. */
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

/** Nearest integer of |a| < 2^51. */
MATH vec_round(vec a) { return (a + SHIFTER) - SHIFTER; }

#if defined(__AVX512F__)
MATH vec_sqrt(vec a) { return _mm512_sqrt_pd(a); }
MATH vec_floor(vec a) { return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
#elif defined(__AVX__)
MATH vec_sqrt(vec a) { return _mm256_sqrt_pd(a); }
MATH vec_floor(vec a) { return _mm256_floor_pd(a); }
#else
#if defined(__SSE2__)
MATH vec_sqrt(vec a) { return _mm_sqrt_pd(a); }
#else
MATH vec_sqrt(vec a) {
  for (int i = 0; i < VEC_LANES; i++) a[i] = sqrt(a[i]);
  return a;
}
#endif
MATH vec_floor(vec a) {
  vec size = vec_abs(a), near = vec_copysign((size + 4503599627370496.0) - 4503599627370496.0, a);
  near -= vec_select(near > a, vec_splat(1.0), vec_splat(0.0));
  return vec_select(size < 4503599627370496.0, near, a);
}
#endif

/** Whether any lane of a comparison holds. */
static inline __attribute__((always_inline, unused)) bool vec_any(ivec mask) {
#if defined(__AVX512DQ__)
  return _mm512_movepi64_mask((__m512i)mask) != 0;
#elif defined(__AVX__) && !defined(__AVX512F__)
  return _mm256_movemask_pd((__m256d)mask) != 0;
#elif defined(__SSE2__) && !defined(__AVX__)
  return _mm_movemask_pd((__m128d)mask) != 0;
#else
  int64_t any = 0;
  for (int i = 0; i < VEC_LANES; i++) any |= mask[i];
  return any != 0;
#endif
}

/** A value that the compiler takes as it is: what it is made of is not fused into what uses it. */
#if defined(__AVX512F__)
#define VEC_ROUNDED(a) __asm__("" : "+v"(a))
#elif defined(__SSE2__)
#define VEC_ROUNDED(a) __asm__("" : "+x"(a))
#else
#define VEC_ROUNDED(a) __asm__("" : "+m"(a))
#endif

/** a b - p exactly, where p is a b rounded; c - a b with one rounding, where c is close to a b. */
#if defined(__AVX512F__)
MATH vec_product_error(vec a, vec b, vec p) { return _mm512_fmsub_pd(a, b, p); }
MATH vec_residual(vec c, vec a, vec b) { return _mm512_fnmadd_pd(a, b, c); }
#elif defined(__FMA__)
MATH vec_product_error(vec a, vec b, vec p) { return _mm256_fmsub_pd(a, b, p); }
MATH vec_residual(vec c, vec a, vec b) { return _mm256_fnmadd_pd(a, b, c); }
#else
/* Dekker: halves of at most 27 bits. */
MATH vec_product_error(vec a, vec b, vec p) {
  vec ah = (vec)((ivec)a & -134217728), al = a - ah, bh = (vec)((ivec)b & -134217728), bl = b - bh;
  return (((ah * bh - p) + ah * bl) + al * bh) + al * bl;
}
MATH vec_residual(vec c, vec a, vec b) {
  vec p = a * b;
  VEC_ROUNDED(p);
  return (c - p) - vec_product_error(a, b, p);
}
#endif
/** a b = high + low. */
MATH vec_product(vec a, vec b, vec *low) {
  vec p = a * b;
  VEC_ROUNDED(p);
  *low = vec_product_error(a, b, p);
  return p;
}

/** (a + a_low) / (b + b_low), correct to little more than half a unit: the remainder of the first quotient,
 *  divided as well. Both of moderate size. */
MATH vec_quotient(vec a, vec a_low, vec b, vec b_low) {
  vec q = 1.0 / b, t = a * q;
  VEC_ROUNDED(t);
  return t + (vec_residual(a, t, b) + (a_low - t * b_low)) * q;
}

/* ---------------------------------------------------------------------- floats */

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

#if defined(__AVX512F__)
MATH_SINGLE fvec_sqrt(fvec a) { return _mm512_sqrt_ps(a); }
MATH_SINGLE fvec_floor(fvec a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
#elif defined(__AVX__)
MATH_SINGLE fvec_sqrt(fvec a) { return _mm256_sqrt_ps(a); }
MATH_SINGLE fvec_floor(fvec a) { return _mm256_floor_ps(a); }
#else
#if defined(__SSE2__)
MATH_SINGLE fvec_sqrt(fvec a) { return _mm_sqrt_ps(a); }
#else
MATH_SINGLE fvec_sqrt(fvec a) {
  for (int i = 0; i < 2 * VEC_LANES; i++) a[i] = sqrtf(a[i]);
  return a;
}
#endif
MATH_SINGLE fvec_floor(fvec a) {
  fvec size = fvec_abs(a), near = (size + 8388608.0f) - 8388608.0f;
  near = (fvec)((fivec)near | ((fivec)a & INT32_MIN));
  near -= fvec_select(near > a, fvec_splat(1.0f), fvec_splat(0.0f));
  return fvec_select(size < 8388608.0f, near, a);
}
#endif
