/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_single.h  Elementary functions on vectors of floats: what networks use most. */
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

/** As vec_tanh; the rational function to 2^-34. */
MATH_SINGLE fvec_tanh(fvec x) {
  fvec a = fvec_at_most(10.0f, fvec_abs(x));
  fvec shifted = (a * 2.88539008f - 0.5f) + SHIFTER_SINGLE, n = shifted - SHIFTER_SINGLE;
  fvec r = (a - n * 0.346572876f) - n * 7.14303385e-7f, z = r * r;
  fvec top = (z * r) * 0.0951563061f + r, bottom = (z * 0.00949662798f + 0.428489639f) * z + 1.0f;
  fvec power = (fvec)(((fuvec)shifted << 23) + 0x3f800000u), less = power - 1.0f, more = power + 1.0f;
  fvec y = (less * bottom + more * top) / (more * bottom + less * top);
  return (fvec)((fivec)y | ((fivec)x & INT32_MIN));
}

MATH_SINGLE fvec_sigmoid(fvec x) {
  fvec e = fvec_exp(-fvec_abs(x));
  return fvec_select(x < 0.0f, e, fvec_splat(1.0f)) / (e + 1.0f);
}

/** k log(2) + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2); polynomial of fdlibm. */
MATH_SINGLE fvec_log_sum(fvec k, fvec f) {
  fvec half_square = 0.5f * f * f, s = f / (2.0f + f), z = s * s, w = z * z;
  fvec rest = z * (0.66666662693f + w * 0.28498786688f) + w * (0.40000972152f + w * 0.24279078841f);
  return s * (half_square + rest) + k * 9.0580006145e-06f - half_square + f + k * 6.9313812256e-01f;
}

MATH_SINGLE fvec_log(fvec x) {
  fivec small = x < 1.17549435e-38f;
  fuvec u = (fuvec)fvec_select(small, x * 33554432.0f, x) + (0x3f800000u - 0x3f3504f3u);
  /* The exponent as a number: its bits under those of the shifter. */
  fvec k = (fvec)((u >> 23) + 0x4b400000u) - SHIFTER_SINGLE;
  k -= fvec_select(small, fvec_splat(152.0f), fvec_splat(127.0f));
  fvec y = fvec_log_sum(k, (fvec)((u & 0x007fffffu) + 0x3f3504f3u) - 1.0f);
  y = fvec_select(x == HUGE_VALF, x, y);
  y = fvec_select(x == 0.0f, fvec_splat(-HUGE_VALF), y);
  y = fvec_select(x < 0.0f, fvec_splat(NAN), y);
  return fvec_select(x != x, x, y);
}

/** As vec_softplus. */
MATH_SINGLE fvec_softplus(fvec x) {
  fvec e = fvec_exp(-fvec_abs(x));
  fivec far = e > 0.41421357f;
  fvec y = fvec_log_sum(fvec_select(far, fvec_splat(1.0f), (fvec){0}), fvec_select(far, 0.5f * e - 0.5f, e));
  return fvec_select(x > 0.0f, x, (fvec){0}) + y;
}

/** Lanes that the reduction of sines cannot take go to the C library, as in vec_repair. */
MATH_SINGLE fvec_repair(fvec x, fvec reduced, fvec y, double (*f)(double)) {
  fivec far = ~(fivec)(fvec_abs(x) <= 12000.0f) | (fivec)(fvec_abs(reduced) < 1e-9f * fvec_abs(x));
  /* Pairs of lanes: the sign of a double is that of its second float. */
  if (__builtin_expect(vec_any((ivec)(far | (fivec)((uvec)far << 32))), 0))
    for (int i = 0; i < 2 * VEC_LANES; i++)
      if (far[i]) y[i] = (float)f((double)x[i]);
  return y;
}

/** sin(x + quarter pi/2) for quarter 0 or 1: pi/2 in parts of 11 bits, of which 8192 multiples are exact;
 * polynomials by Remez's exchange on |y| <= pi/4. */
MATH_SINGLE fvec_sin_cos(fvec x, uint32_t quarter, double (*f)(double)) {
  fvec shifted = x * 0.636619772f + SHIFTER_SINGLE, n = shifted - SHIFTER_SINGLE;
  fvec t = (x - n * 1.5703125f) - n * 0.000483751297f, w = n * 7.54953362e-08f, r = t - w;
  w = n * 2.56334407e-12f - ((t - r) - w);
  fvec y = r - w, rest = w - (r - y), z = y * y;
  fvec s = y - (((z * 0.000195175287f - 0.00833218040f) * z + 0.166666550f) * (z * y) + rest);
  fvec half = 0.5f * z, one = 1.0f - half;
  fvec c = one + (((1.0f - one) - half) +
                  (((z * 2.44384813e-05f - 0.00138873679f) * z + 0.0416666469f) * (z * z) + y * rest));
  fuvec q = (fuvec)shifted + quarter;
  fvec value = fvec_select(-(fivec)(q & 1), c, s);
  return fvec_repair(x, y, (fvec)((fuvec)value ^ ((q & 2) << 30)), f);
}
MATH_SINGLE fvec_sin(fvec x) { return fvec_sin_cos(x, 0, sin); }
MATH_SINGLE fvec_cos(fvec x) { return fvec_sin_cos(x, 1, cos); }
