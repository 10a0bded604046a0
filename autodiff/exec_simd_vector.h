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

/* The processor's instructions for vectors of this size. */
#if defined(__AVX512F__)
#define SIMD(name) _mm512_##name
#elif defined(__AVX__)
#define SIMD(name) _mm256_##name
#else
#define SIMD(name) _mm_##name
#endif

#define BASIC(name) vec_##name
#define BASIC_FUNCTION MATH
#define BASIC_VECTOR vec
#define BASIC_INTEGERS ivec
#define BASIC_NUMBER double
#define BASIC_SIZE INT64_MAX
#define BASIC_ROOT sqrt
#define BASIC_WHOLE 4503599627370496.0
#define BASIC_SIMD(name) SIMD(name##_pd)
#include "exec_simd_basic.h"

/** 2^k of an integer |k| <= 1022. */
MATH vec_power_of_two(vec k) { return (vec)(((uvec)(k + SHIFTER) << 52) + 0x3ff0000000000000u); }

/** Nearest integer of |a| < 2^51. */
MATH vec_round(vec a) { return (a + SHIFTER) - SHIFTER; }

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

#define BASIC(name) fvec_##name
#define BASIC_FUNCTION MATH_SINGLE
#define BASIC_VECTOR fvec
#define BASIC_INTEGERS fivec
#define BASIC_NUMBER float
#define BASIC_SIZE INT32_MAX
#define BASIC_ROOT sqrtf
#define BASIC_WHOLE 8388608.0f
#define BASIC_SIMD(name) SIMD(name##_ps)
#include "exec_simd_basic.h"

/** 2^k of an integer |k| <= 126. */
MATH_SINGLE fvec_power_of_two(fvec k) { return (fvec)(((fuvec)(k + SHIFTER_SINGLE) << 23) + 0x3f800000u); }
