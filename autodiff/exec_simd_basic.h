/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_basic.h  Selection, bounds and rounding on vectors of one type; included twice by
 * exec_simd_vector.h, which sets
 *   BASIC(name)  name of a function; BASIC_FUNCTION: how one begins;
 *   BASIC_VECTOR, BASIC_INTEGERS, BASIC_NUMBER: the vector, integers of its size, its number;
 *   BASIC_SIZE   bits of a number without its sign; BASIC_ROOT: the square root of a number;
 *   BASIC_WHOLE  from here on all numbers are whole;
 *   BASIC_SIMD(name)  the processor's instruction;
 * all of which end with it. */

BASIC_FUNCTION BASIC(splat)(BASIC_NUMBER a) { return a - (BASIC_VECTOR){0}; }
BASIC_FUNCTION BASIC(select)(BASIC_INTEGERS mask, BASIC_VECTOR a, BASIC_VECTOR b) {
  return (BASIC_VECTOR)((mask & (BASIC_INTEGERS)a) | (~mask & (BASIC_INTEGERS)b));
}
BASIC_FUNCTION BASIC(abs)(BASIC_VECTOR a) { return (BASIC_VECTOR)((BASIC_INTEGERS)a & BASIC_SIZE); }
/** Size of a, sign of b. */
BASIC_FUNCTION BASIC(copysign)(BASIC_VECTOR a, BASIC_VECTOR b) {
  return (BASIC_VECTOR)(((BASIC_INTEGERS)a & BASIC_SIZE) | ((BASIC_INTEGERS)b & ~BASIC_SIZE));
}

/** The smaller, the larger of a bound and x; a nan stays one. */
#if defined(__SSE2__)
BASIC_FUNCTION BASIC(at_most)(BASIC_NUMBER bound, BASIC_VECTOR x) {
  return BASIC_SIMD(min)(BASIC(splat)(bound), x);
}
BASIC_FUNCTION BASIC(at_least)(BASIC_NUMBER bound, BASIC_VECTOR x) {
  return BASIC_SIMD(max)(BASIC(splat)(bound), x);
}
BASIC_FUNCTION BASIC(sqrt)(BASIC_VECTOR a) { return BASIC_SIMD(sqrt)(a); }
#else
BASIC_FUNCTION BASIC(at_most)(BASIC_NUMBER bound, BASIC_VECTOR x) {
  return BASIC(select)(x > bound, BASIC(splat)(bound), x);
}
BASIC_FUNCTION BASIC(at_least)(BASIC_NUMBER bound, BASIC_VECTOR x) {
  return BASIC(select)(x < bound, BASIC(splat)(bound), x);
}
BASIC_FUNCTION BASIC(sqrt)(BASIC_VECTOR a) {
  for (size_t i = 0; i < sizeof a / sizeof(BASIC_NUMBER); i++) a[i] = BASIC_ROOT(a[i]);
  return a;
}
#endif

#if defined(__AVX512F__)
BASIC_FUNCTION BASIC(floor)(BASIC_VECTOR a) {
  return BASIC_SIMD(roundscale)(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
#elif defined(__AVX__)
BASIC_FUNCTION BASIC(floor)(BASIC_VECTOR a) { return BASIC_SIMD(floor)(a); }
#else
BASIC_FUNCTION BASIC(floor)(BASIC_VECTOR a) {
  BASIC_VECTOR size = BASIC(abs)(a), near = BASIC(copysign)((size + BASIC_WHOLE) - BASIC_WHOLE, a);
  near -= BASIC(select)(near > a, BASIC(splat)(1), (BASIC_VECTOR){0});
  return BASIC(select)(size < BASIC_WHOLE, near, a);
}
#endif

#undef BASIC
#undef BASIC_FUNCTION
#undef BASIC_VECTOR
#undef BASIC_INTEGERS
#undef BASIC_NUMBER
#undef BASIC_SIZE
#undef BASIC_ROOT
#undef BASIC_WHOLE
#undef BASIC_SIMD
