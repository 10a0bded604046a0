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

MATH_SINGLE fvec_tanh(fvec x) {
  fvec k, p = fvec_exp_parts(-2.0f * fvec_at_most(10.0f, fvec_abs(x)), &k), scale = fvec_power_of_two(k);
  fvec e = scale * p + (scale - 1.0f);
  return (fvec)(((fivec)(-e / (e + 2.0f)) & INT32_MAX) | ((fivec)x & INT32_MIN));
}

MATH_SINGLE fvec_sigmoid(fvec x) {
  fvec e = fvec_exp(-fvec_abs(x));
  return fvec_select(x < 0.0f, e, fvec_splat(1.0f)) / (e + 1.0f);
}
