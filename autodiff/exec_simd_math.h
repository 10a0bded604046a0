/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_math.h  Exponential, logarithm, circular and hyperbolic functions on vectors of doubles;
 * included by each exec_simd_*.c.
 *
 *  Argument reductions after Cody and Waite; the logarithm's, sine's and cosine's polynomials are the minimax
 *  ones of fdlibm (Sun Microsystems 1993). Errors: tests/autodiff/exec_math.c. */
#include "exec_simd_vector.h"

/** (exp(r) - 1 - r) / r^2: interpolates at the Chebyshev points of |r| <= log(2) / 2. */
MATH vec_exp_polynomial(vec r, vec z) {
  /* Even and odd powers apart: half as long a chain. */
  vec even = z * 2.7620088445409748161e-7 + 2.4801521295954375131e-5;
  vec odd = z * 2.5100385495510319078e-8 + 2.7557268459997064772e-6;
  even = even * z + 1.3888888917213716901e-3;
  odd = odd * z + 1.9841269863053616878e-4;
  even = even * z + 4.1666666666624127873e-2;
  odd = odd * z + 8.3333333333300618325e-3;
  even = even * z + 5.0000000000000010221e-1;
  odd = odd * z + 1.6666666666666667453e-1;
  return odd * r + even;
}

/** exp(x) = 2^k (1 + p): gives p, |x| < 750; relative error of the polynomial 4e-17. */
MATH vec_exp_parts(vec x, vec *k) {
  vec n = vec_round(x * 1.44269504088896338700e+00);
  vec r = (x - n * LN2_HIGH) - n * LN2_LOW, z = r * r;
  *k = n;
  return vec_exp_polynomial(r, z) * z + r;
}

/** exp(x + low) = 2^k (1 + r + rest); |x| < 750, low far smaller. */
MATH vec_exp_terms(vec x, vec low, vec *rest, vec *k) {
  vec n = vec_round(x * 1.44269504088896338700e+00);
  vec t = x - n * LN2_HIGH, w = n * LN2_LOW - low, r = t - w, z = r * r;
  *rest = vec_exp_polynomial(r, z) * z + ((t - r) - w);
  *k = n;
  return r;
}

/** exp(x + low) = 2^k f: gives f to little more than half a unit. */
MATH vec_exp_precise(vec x, vec low, vec *k) {
  vec rest, r = vec_exp_terms(x, low, &rest, k), one = 1.0 + r;
  return one + (((1.0 - one) + r) + rest);
}

/** a 2^k in two factors: the ends of the range need 2^1024 and 2^-1074. */
MATH vec_scale(vec a, vec k) {
  vec half = vec_round(k * 0.5);
  return a * vec_power_of_two(half) * vec_power_of_two(k - half);
}

MATH vec_exp(vec x) {
  vec k, f = vec_exp_precise(vec_at_least(-746.0, vec_at_most(710.0, x)), (vec){0}, &k);
  return vec_scale(f, k);
}

/** exp(x) - 1 for -700 <= x <= 700. */
MATH vec_expm1(vec x) {
  vec k, p = vec_exp_parts(x, &k), scale = vec_power_of_two(k);
  return scale * p + (scale - 1.0);
}

/** tanh(r) = a / b for -1e-16 <= r <= log(2) / 2, to 2^-57 (rational interpolation). */
MATH vec_tanh_parts(vec r, vec *b) {
  vec z = r * r, a = z * -6.3882625684534049e-06 + 0.0013456684826862251;
  *b = (z * 0.017501996454500318 + 0.4484689839153615) * z + 1.0;
  return (a * z + 0.11513565058202821) * (z * r) + r;
}

/** Of 2 a = n log(2) + 2 r: exp(2 a) = 2^n (B + A) / (B - A) with tanh(r) = A / B, so that one quotient
 * serves for all of it; r >= 0 keeps the terms of one sign. */
MATH vec_tanh(vec x) {
  vec a = vec_at_most(22.0, vec_abs(x));
  vec shifted = (a * 2.88539008177792676600e+00 - 0.5) + SHIFTER, n = shifted - SHIFTER;
  vec r = (a - n * (0.5 * LN2_HIGH)) - n * (0.5 * LN2_LOW);
  vec bottom, top = vec_tanh_parts(r, &bottom);
  vec power = (vec)(((uvec)shifted << 52) + 0x3ff0000000000000u), less = power - 1.0, more = power + 1.0;
  vec y = (less * bottom + more * top) / (more * bottom + less * top);
  return (vec)((ivec)y | ((ivec)x & INT64_MIN));
}

MATH vec_sigmoid(vec x) {
  vec k, p = vec_exp_parts(-vec_at_most(746.0, vec_abs(x)), &k), e = vec_scale(p + 1.0, k);
  return vec_select(x < 0.0, e, vec_splat(1.0)) / (e + 1.0);
}

/** A positive normal or subnormal number as m 2^k, sqrt(1/2) <= m < sqrt(2). */
MATH vec_split(vec x, vec *k) {
  ivec small = x < 2.2250738585072014e-308;
  uvec u = (uvec)vec_select(small, x * 18014398509481984.0, x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  /* The exponent as a number: its bits under those of the shifter. */
  vec e = (vec)((u >> 52) + 0x4338000000000000u) - SHIFTER;
  *k = e - vec_select(small, vec_splat(1077.0), vec_splat(1023.0));
  return (vec)((u & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
}

/** k log(2) + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2). */
MATH vec_log_sum(vec k, vec f) {
  vec half_square = 0.5 * f * f, s = f / (2.0 + f), z = s * s, w = z * z;
  vec even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  vec odd =
      z * (6.666666666666735130e-01 +
           w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  return s * (half_square + (even + odd)) + k * LN2_LOW - half_square + f + k * LN2_HIGH;
}

MATH vec_log(vec x) {
  vec k, m = vec_split(x, &k), y = vec_log_sum(k, m - 1.0);
  y = vec_select(x == HUGE_VAL, x, y);
  y = vec_select(x == 0.0, vec_splat(-HUGE_VAL), y);
  y = vec_select(x < 0.0, vec_splat(NAN), y);
  return vec_select(x != x, x, y);
}

/** log(1 + e), e = exp(-|x|), beside the positive part; (1 + e) / 2 where 1 + e is past sqrt(2). */
MATH vec_softplus(vec x) {
  vec e = vec_exp(-vec_abs(x));
  ivec far = e > 0.41421356237309505;
  vec y = vec_log_sum(vec_select(far, vec_splat(1.0), (vec){0}), vec_select(far, 0.5 * e - 0.5, e));
  return vec_select(x > 0.0, x, (vec){0}) + y;
}

/** |x| <= 1e6 less the nearest multiple of pi/2, as y + low; its number mod 4 in the low bits of q. */
MATH vec_reduce(vec x, vec *low, uvec *q) {
  vec shifted = x * 6.36619772367581382433e-01 + SHIFTER, n = shifted - SHIFTER;
  vec t = x - n * 1.57079632673412561417e+00, w = n * 6.07710050630396597660e-11, r = t - w;
  w = n * 2.02226624879595063154e-21 - ((t - r) - w);
  vec y = r - w;
  *low = (r - y) - w;
  *q = (uvec)shifted;
  return y;
}

/** Sine, cosine of y + y_low near zero as a sum; the low part below a tenth, a third of a unit of the high.
 */
MATH vec_sin_parts(vec y, vec y_low, vec *low) {
  vec z = y * y, v = z * y;
  vec p = z * 1.58969099521155010221e-10 - 2.50507602534068634195e-08;
  p = p * z + 2.75573137070700676789e-06;
  p = p * z - 1.98412698298579493134e-04;
  p = p * z + 8.33333333332248946124e-03;
  *low = -((z * (0.5 * y_low - v * p) - y_low) - v * -1.66666666666666324348e-01);
  return y;
}
MATH vec_cos_parts(vec y, vec y_low, vec *low) {
  vec z = y * y;
  vec p = z * -1.13596475577881948265e-11 + 2.08757232129817482790e-09;
  p = p * z - 2.75573143513906633035e-07;
  p = p * z + 2.48015872894767294178e-05;
  p = p * z - 1.38888888888741095749e-03;
  p = p * z + 4.16666666666666019037e-02;
  vec half = 0.5 * z, one = 1.0 - half;
  *low = ((1.0 - one) - half) + (z * (z * p) - y * y_low);
  return one;
}

/** Lanes that the reduction cannot take go to the C library: large, infinite, no number, and those so close
 * to a multiple of pi/2 that it has lost digits. */
MATH vec_repair(vec x, vec reduced, vec y, double (*f)(double)) {
  ivec far = ~(ivec)(vec_abs(x) <= 1e6) | (ivec)(vec_abs(reduced) < 1e-11 * vec_abs(x));
  if (__builtin_expect(vec_any(far), 0))
    for (int i = 0; i < VEC_LANES; i++)
      if (far[i]) y[i] = f(x[i]);
  return y;
}

/** sin(x + quarter pi/2) for quarter 0 or 1. */
MATH vec_sin_cos(vec x, uint64_t quarter, double (*f)(double)) {
  uvec q;
  vec y_low, y = vec_reduce(x, &y_low, &q), s_low, c_low;
  vec s = vec_sin_parts(y, y_low, &s_low), c = vec_cos_parts(y, y_low, &c_low);
  q += quarter;
  vec value = vec_select(-(ivec)(q & 1), c + c_low, s + s_low);
  return vec_repair(x, y, (vec)((uvec)value ^ ((q & 2) << 62)), f);
}
MATH vec_sin(vec x) { return vec_sin_cos(x, 0, sin); }
MATH vec_cos(vec x) { return vec_sin_cos(x, 1, cos); }

/** Sine over cosine, or the negative inverse of that. */
MATH vec_tan(vec x) {
  uvec q;
  vec y_low, y = vec_reduce(x, &y_low, &q), s_low, c_low;
  vec s = vec_sin_parts(y, y_low, &s_low), c = vec_cos_parts(y, y_low, &c_low);
  vec sine = s + s_low, cosine = c + c_low;
  s_low = (s - sine) + s_low, c_low = (c - cosine) + c_low;
  ivec swap = -(ivec)(q & 1);
  vec value = vec_quotient(vec_select(swap, cosine, sine), vec_select(swap, c_low, s_low),
                           vec_select(swap, sine, cosine), vec_select(swap, s_low, c_low));
  return vec_repair(x, y, vec_select(x == 0.0, x, (vec)((uvec)value ^ ((q & 1) << 63))), tan);
}

/** (E + E / (2 E + 1)) / 2 with E = (exp(a) - 1) / 2 and its low part; a quarter of it all, so that the ends
 * of the range stay inside. */
MATH vec_sinh(vec x) {
  vec rest, k, r = vec_exp_terms(vec_at_most(710.6, vec_abs(x)), (vec){0}, &rest, &k);
  vec scale = vec_power_of_two(k - 2.0), a = scale - 0.25, b = scale * r, sum = a + b;
  vec low = ((a - sum) + b) + scale * rest, e = sum + low;
  low = (sum - e) + low;
  /* Past 2^60 the quotient no longer shows. */
  vec near = 4.0 * vec_at_most(0x1p60, e), d = near + 1.0, d_low = (near - (d - 1.0)) + 4.0 * low;
  vec y = 2.0 * (e + (low + 0.25 * vec_quotient(near, 4.0 * low, d, d_low)));
  return vec_select(vec_abs(x) < 1e-100, x, vec_copysign(y, x));
}
MATH vec_cosh(vec x) {
  vec k, f = vec_exp_precise(vec_at_most(711.0, vec_abs(x)), (vec){0}, &k), half = vec_scale(f, k - 1.0);
  return half + 0.25 / half;
}
