/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_special.h  Elementary functions on vectors of doubles: inverse circular functions, roots,
 * powers, the error function. After exec_simd_math.h.
 *
 *  Polynomials by Remez's exchange. Where a rounding in between would show, it is carried along as a low
 * part. Errors and special values: tests/autodiff/exec_math.c; those of C99. */

/* ------------------------------------------------------------ inverse circular */

/** (atan(t) - t) / t for z = t^2, |t| <= 0.44. */
MATH vec_atan_polynomial(vec z) {
  vec w = z * z;
  vec even = w * 0.016160771428279694 + 0.049714675589637963;
  vec odd = w * -0.036406188050112295 - 0.058322561151660991;
  even = even * w + 0.066608759413611732;
  odd = odd * w - 0.076918573107664742;
  even = even * w + 0.090908859801783939;
  odd = odd * w - 0.11111110362083131;
  even = even * w + 0.14285714271569286;
  odd = odd * w - 0.1999999999986655;
  even = even * w + 0.33333333333332893;
  return -z * (odd * z + even);
}

/** Angle of (x, y): atan t of the slope t to the nearest of the axes and the diagonal, in half a turn. */
MATH vec_atan2_finite(vec y, vec x) {
  vec a = vec_abs(x), b = vec_abs(y), largest = vec_select(a > b, a, b);
  /* Sums and quotients must stay in the range. */
  vec scale = vec_select(largest > 0x1p1000, vec_splat(0x1p-30),
                         vec_select(largest < 0x1p-500, vec_splat(0x1p500), vec_splat(1.0)));
  a *= scale, b *= scale;
  ivec axis = b * 16.0 <= a * 7.0, other = b > a * 2.5;
  vec difference = b - a, sum = a + b;
  /* Two-sum: what the two roundings lost. */
  vec part = difference - b, top_low = (b - (difference - part)) - (a + part);
  part = sum - a;
  vec bottom_low = (a - (sum - part)) + (b - part);
  ivec outer = axis | other;
  vec top = vec_select(axis, b, vec_select(other, -a, difference));
  vec bottom = vec_select(axis, a, vec_select(other, b, sum));
  bottom = vec_select((a == 0.0) & (b == 0.0), vec_splat(1.0), bottom);
  top_low = vec_select(outer, (vec){0}, top_low);
  bottom_low = vec_select(outer, (vec){0}, bottom_low);
  vec q = 1.0 / bottom, t = top * q;
  VEC_ROUNDED(t);
  vec low = (vec_residual(top, t, bottom) + (top_low - t * bottom_low)) * q;
  low += t * vec_atan_polynomial(t * t);
  /* From the positive or the negative axis. */
  ivec left = (ivec)x < 0;
  vec base =
      vec_select(axis, vec_select(left, vec_splat(3.1415926535897931), (vec){0}),
                 vec_select(other, vec_splat(1.5707963267948966),
                            vec_select(left, vec_splat(2.3561944901923448), vec_splat(0.78539816339744828))));
  ivec flip = left & INT64_MIN;
  t = (vec)((ivec)t ^ flip), low = (vec)((ivec)low ^ flip);
  vec angle = base + t;
  /* The low part of each base is the same share of it. */
  return vec_copysign(angle + (((base - angle) + t) + (low + base * 3.8981718325193755e-17)), y);
}

MATH vec_atan2(vec y, vec x) {
  vec angle = vec_atan2_finite(y, x);
  ivec far = ~((ivec)(vec_abs(x) < HUGE_VAL) & (ivec)(vec_abs(y) < HUGE_VAL));
  if (__builtin_expect(vec_any(far), 0))
    for (int i = 0; i < VEC_LANES; i++)
      if (far[i]) angle[i] = atan2(y[i], x[i]);
  return angle;
}

MATH vec_atan(vec x) {
  vec a = vec_abs(x);
  ivec near = a <= 0.4375, far = a > 2.5;
  vec top = vec_select(near, a, vec_select(far, vec_splat(-1.0), a - 1.0));
  vec bottom = vec_select(near, vec_splat(1.0), vec_select(far, a, a + 1.0));
  vec top_low = vec_select(near | far, (vec){0}, a - (top + 1.0));
  vec bottom_low = vec_select(near | far, (vec){0}, a - (bottom - 1.0));
  vec q = 1.0 / bottom, t = top * q;
  VEC_ROUNDED(t);
  /* An infinite bottom: nothing is left over. */
  vec low = (vec_residual(top, t, bottom) + (top_low - t * bottom_low)) * q;
  low = vec_select(a == HUGE_VAL, (vec){0}, low) + t * vec_atan_polynomial(t * t);
  vec base = vec_select(near, (vec){0},
                        vec_select(far, vec_splat(1.5707963267948966), vec_splat(0.78539816339744828)));
  vec angle = base + t;
  return vec_copysign(angle + (((base - angle) + t) + (low + base * 3.8981718325193755e-17)), x);
}

/** (asin(s) - s) / s for z = s^2 <= 1/4. */
MATH vec_asin_polynomial(vec z) {
  vec w = z * z;
  vec odd = w * 0.031958816937297976 + 0.01957375758711492;
  vec even = w * -0.016293848129057532 + 0.0065109090340371954;
  odd = odd * w + 0.012173266271802926;
  even = even * w + 0.013884600435676698;
  odd = odd * w + 0.017359770917232741;
  even = even * w + 0.022371753534688177;
  odd = odd * w + 0.030381959330854445;
  even = even * w + 0.044642856823489521;
  odd = odd * w + 0.075000000003430406;
  even = even * w + 0.16666666666665383;
  return z * (odd * z + even);
}

/** asin(|x|) = base + s + low with base 0 (|x| <= 1/2), else base - 2 (s + low) with base pi/2. */
MATH vec_asin_parts(vec x, ivec *near, vec *low) {
  vec a = vec_abs(x);
  *near = a <= 0.5;
  vec z = vec_select(*near, a * a, 0.5 - 0.5 * a), root = vec_sqrt(z);
  VEC_ROUNDED(root);
  vec rest = vec_residual(z, root, root) * 0.5 / root;
  rest = vec_select(*near | (ivec)(root == 0.0), (vec){0}, rest);
  vec s = vec_select(*near, a, root);
  *low = rest + s * vec_asin_polynomial(z);
  return s;
}

MATH vec_asin(vec x) {
  ivec near;
  vec low, s = vec_asin_parts(x, &near, &low), base = vec_splat(1.5707963267948966), twice = 2.0 * s;
  vec angle = base - twice;
  vec far = angle + (((base - angle) - twice) + (6.123233995736766e-17 - 2.0 * low));
  return vec_copysign(vec_select(near, s + low, far), x);
}

MATH vec_acos(vec x) {
  ivec near, left = (ivec)x < 0;
  vec low, s = vec_asin_parts(x, &near, &low);
  /* pi/2 - asin x; 2 (s + low) for x > 1/2, pi - 2 (s + low) for x < -1/2 */
  vec base = vec_select(near, vec_splat(1.5707963267948966),
                        vec_select(left, vec_splat(3.1415926535897931), (vec){0}));
  ivec minus = near ^ left;
  minus &= INT64_MIN;
  vec factor = vec_select(near, vec_splat(1.0), vec_splat(2.0));
  s = (vec)((ivec)(s * factor) ^ minus), low = (vec)((ivec)(low * factor) ^ minus);
  vec angle = base + s;
  return angle + (((base - angle) + s) + (low + base * 3.8981718325193755e-17));
}

/* ----------------------------------------------------------------------- roots */

/** Cube root from the inverse one of m 2^r in [0.35, 2.83]: a polynomial to 2^-17, a step of third order, and
 * the remainder of the cube. */
MATH vec_cbrt(vec x) {
  vec k, m = vec_split(vec_abs(x), &k), third = vec_round(k * 0.33333333333333333), r = k - 3.0 * third;
  vec y = m * -0.10806342788890767 + 0.70073407194033488;
  y = y * m - 1.898120650506576;
  y = y * m + 2.7921969302203866;
  y = y * m - 2.4859120335036042;
  y = y * m + 1.9991689563982691;
  y *= vec_select(r == 0.0, vec_splat(1.0),
                  vec_select(r > 0.0, vec_splat(0.79370052598409979), vec_splat(1.2599210498948732)));
  m *= vec_power_of_two(r);
  vec e = 1.0 - (y * y) * (y * m);
  y += y * e * (0.22222222222222222 * e + 0.33333333333333333);
  vec c = m * y * y, square_low, square = vec_product(c, c, &square_low);
  c += (vec_residual(m, square, c) - square_low * c) * (y * y * 0.33333333333333333);
  c = vec_copysign(c * vec_power_of_two(third), x);
  return vec_select(((ivec)(x == 0.0)) | ~(ivec)(vec_abs(x) < HUGE_VAL), x, c);
}

/** Root of the sum of the squares, both with what rounding lost. */
MATH vec_hypot(vec x, vec y) {
  vec a = vec_abs(x), b = vec_abs(y);
  ivec swap = a < b, infinite = (ivec)(a == HUGE_VAL) | (ivec)(b == HUGE_VAL);
  vec large = vec_select(swap, b, a), small = vec_select(swap, a, b);
  ivec high = large > 0x1p500, deep = large < 0x1p-450;
  vec scale = vec_select(high, vec_splat(0x1p-600), vec_select(deep, vec_splat(0x1p600), vec_splat(1.0)));
  vec back = vec_select(high, vec_splat(0x1p600), vec_select(deep, vec_splat(0x1p-600), vec_splat(1.0)));
  vec large_low, small_low;
  large = vec_product(large * scale, large * scale, &large_low);
  small = vec_product(small * scale, small * scale, &small_low);
  vec sum = large + small, root = vec_sqrt(sum);
  VEC_ROUNDED(root);
  vec rest = vec_residual(sum, root, root) + (((large - sum) + small) + (large_low + small_low));
  root = vec_select(sum == 0.0, sum, root + rest * 0.5 / root) * back;
  return vec_select(infinite, vec_splat(HUGE_VAL), root);
}

/* ---------------------------------------------------------------------- powers */

/** Log of a positive normal or subnormal number as high + low, relative error about 2^-65: with s = f / (2 +
 * f) it is 2 s (1 + z / 3 + z^2 (...)), z = s^2. */
MATH vec_log_precise(vec x, vec *low) {
  vec k, m = vec_split(x, &k), f = m - 1.0, d = m + 1.0, d_low = m - (d - 1.0);
  vec q = 1.0 / d, s = f * q;
  VEC_ROUNDED(s);
  vec s_low = (vec_residual(f, s, d) - s * d_low) * q;
  vec z_low, z = vec_product(s, s, &z_low);
  z_low += 2.0 * s * s_low;
  vec p = z * 0.059854019758607303 + 0.058386150239929366;
  p = p * z + 0.066680924752799547;
  p = p * z + 0.07692280381373727;
  p = p * z + 0.090909094023582146;
  p = p * z + 0.11111111109082669;
  p = p * z + 0.14285714285720988;
  p = p * z + 0.19999999999999993;
  vec t = z * p;
  VEC_ROUNDED(t);
  vec u = 0.33333333333333333 + t,
      u_low = (0.33333333333333333 - u) + t + (z_low * p + 1.8503717077085941e-17);
  vec w_low, w = vec_product(z, u, &w_low);
  w_low += z * u_low + z_low * u;
  vec v_low, v = vec_product(s, w, &v_low);
  v_low += s * w_low + s_low * w;
  vec h = s + v, h_low = ((s - h) + v) + (s_low + v_low);
  vec a = k * LN2_HIGH, sum = a + 2.0 * h;
  vec sum_low = ((a - sum) + 2.0 * h) + (2.0 * h_low + k * LN2_LOW);
  vec high = sum + sum_low;
  *low = (sum - high) + sum_low;
  return high;
}

/** x^y from |x|^y: the sign of odd powers, and where the logarithm does not decide. */
MATH vec_pow_signed(vec x, vec y, vec value) {
  vec size = vec_abs(y), whole = vec_floor(size), half = 0.5 * whole;
  ivec is_whole = whole == size, odd = is_whole & (ivec)(vec_floor(half) != half), negative = (ivec)x < 0;
  value = (vec)((ivec)value ^ (negative & odd & INT64_MIN));
  value = vec_select((ivec)(x < 0.0) & (ivec)(x > -HUGE_VAL) & ~is_whole, vec_splat(NAN), value);
  return vec_select((y == 0.0) | (x == 1.0) | ((x == -1.0) & (size == HUGE_VAL)), vec_splat(1.0), value);
}

/* In two steps, for kernels that take one after the other over some vectors: log |x| as high + low, the
 * power. For floats the high part is enough. */
MATH vec_pow_first(vec x, vec y, vec *low) {
  (void)y;
  return vec_log_precise(vec_abs(x), low);
}
MATH vec_pow_first_single(vec x, vec y, vec *low) {
  (void)y;
  vec k, m = vec_split(vec_abs(x), &k);
  *low = (vec){0};
  return vec_log_sum(k, m - 1.0);
}
MATH vec_pow_second(vec x, vec y, vec log_high, vec log_low) {
  vec a = vec_abs(x), low, high;
  ivec special = ~((ivec)(x > 0.0) & (ivec)(x < HUGE_VAL) & (ivec)(vec_abs(y) < HUGE_VAL));
  bool any = vec_any(special);
  if (__builtin_expect(any, 0))
    log_high = vec_select(a == 0.0, vec_splat(-HUGE_VAL), vec_select(a < HUGE_VAL, log_high, a));
  high = vec_product(y, log_high, &low);
  low += y * log_low;
  /* Out of the range of exp, or special: the high part decides. */
  low = vec_select(vec_abs(high) < 1024.0, low, (vec){0});
  vec k, f = vec_exp_precise(vec_at_least(-746.0, vec_at_most(710.0, high)), low, &k),
         value = vec_scale(f, k);
  return __builtin_expect(any, 0) ? vec_pow_signed(x, y, value) : value;
}

/* -------------------------------------------------------------- error function */

/* In two steps as well: below 1 the series, above 1 - exp(log(erfc)). */
MATH vec_erf_first(vec x, vec y, vec *near) {
  (void)y;
  vec a = vec_abs(x), z = a * a;
  vec p = z * -7.8168004288013847e-10 + 1.3731927256153419e-08;
  p = p * z - 1.6211406260323757e-07;
  p = p * z + 1.6447834268713639e-06;
  p = p * z - 1.4924772858398491e-05;
  p = p * z + 0.00012055296955864952;
  p = p * z - 0.00085483260517778715;
  p = p * z + 0.0052239776089334526;
  p = p * z - 0.026866170643499759;
  p = p * z + 0.1128379167094708;
  p = p * z - 0.37612638903183615;
  *near = a + a * (0.12837916709551256 + (p * z + 1.5335459613165881e-17));
  vec u = vec_at_most(5.93, a) - 1.5;
  p = u * -4.9284236719546577e-12 + 7.8814173708046101e-11;
  p = p * u - 5.3449919934309423e-10;
  p = p * u + 1.8048382783136973e-09;
  p = p * u - 7.7686598294367752e-10;
  p = p * u - 2.7609455167729033e-08;
  p = p * u + 1.9217463441023252e-07;
  p = p * u - 8.18676118459311e-07;
  p = p * u + 2.3709920150244612e-06;
  p = p * u - 2.6469011042935259e-06;
  p = p * u - 2.2473714766394878e-05;
  p = p * u + 0.00021596331886915694;
  p = p * u - 0.0012572166840737495;
  p = p * u + 0.0060067463852734376;
  p = p * u - 0.025824140633804546;
  p = p * u - 0.89264033061500503;
  p = p * u - 3.5088008017795245;
  p = p * u - 3.3844920895515527;
  return p;
}
/* Past the end of the polynomial the difference from 1 does not show; for small |x| it has no meaning. */
MATH vec_erf_second(vec x, vec y, vec log_erfc, vec near) {
  (void)y;
  vec far = -vec_expm1(vec_at_most(0.0, log_erfc));
  return vec_copysign(vec_select(vec_abs(x) < 1.0, near, far), x);
}

/* x Phi(x), Phi the normal distribution, in two steps. */
/** exp(a^2 / 2) Phi(-a) = g / (a + 5) , a = |x| <= 40; g is a polynomial of
 *  (a - 5) / (a + 5). */
MATH vec_gelu_first(vec x, vec y, vec *unused) {
  (void)y;
  *unused = (vec){0};
  vec a = vec_at_most(40.0, vec_abs(x)), d = a + 5.0, d_low = a - (d - 5.0), q = 1.0 / d, t = (a - 5.0) * q;
  vec g = t * 2.0139254974304281e-09 + 7.1819884869244863e-09;
  g = g * t - 1.0210919740524659e-08;
  g = g * t - 6.5319902783346665e-08;
  g = g * t + 4.3612354606404546e-08;
  g = g * t + 4.3268654477053513e-07;
  g = g * t - 3.3774311441642773e-07;
  g = g * t - 2.7690553036068259e-06;
  g = g * t + 3.9814912161296479e-06;
  g = g * t + 1.6681144884862905e-05;
  g = g * t - 4.9763010227126333e-05;
  g = g * t - 5.9375711297656016e-05;
  g = g * t + 0.00054489910586577052;
  g = g * t - 0.00079786940147678063;
  g = g * t - 0.0029933767756956399;
  g = g * t + 0.020795066800241967;
  g = g * t - 0.069118638705951987;
  g = g * t + 0.16502036617036159;
  g = g * t - 0.31353315667131576;
  g = g * t + 0.49530561596997702;
  g = g * t - 0.66538250289005663;
  g = g * t + 0.76919304975006297;
  vec h = g * q;
  VEC_ROUNDED(h);
  return h + (vec_residual(g, h, d) - h * d_low) * q;
}

/** x Phi(x): near zero by the series of Phi, else by its tail. */
MATH vec_gelu_second(vec x, vec y, vec tail, vec unused) {
  (void)y, (void)unused;
  vec z = x * x;
  vec p = z * 1.991889723905002e-09 - 4.091734030894522e-08;
  p = p * z + 6.6578135909412302e-07;
  p = p * z - 9.4445880441763595e-06;
  p = p * z + 0.0001154346726212524;
  p = p * z - 0.0011873282135418102;
  p = p * z + 0.0099735570098999533;
  p = p * z - 0.066490380066901111;
  p = p * z + 0.39894228040143265;
  vec near = x * (0.5 + p * x);
  vec a = vec_at_most(40.0, vec_abs(x)), low, square = vec_product(a, a, &low);
  vec k, f = vec_exp_precise(-0.5 * square, -0.5 * low, &k) * tail;
  /* What is below the range comes back by the factor x. */
  vec left = vec_select(x == -HUGE_VAL, vec_splat(NAN), vec_scale(f * vec_at_least(-40.0, x), k));
  vec right = x * (1.0 - vec_scale(f, k));
  return vec_select(vec_abs(x) < 0.75, near, vec_select(x < 0.0, left, right));
}

/** Both once more for floats, to 2^-29. */
MATH vec_erf_single(vec x) {
  vec a = vec_abs(x), z = a * a, u = vec_at_most(4.0, a) - 1.5;
  vec p = z * 7.9331172540425364e-05 - 0.00080350347259489454;
  p = p * z + 0.0051912921973418218;
  p = p * z - 0.026855484402848462;
  p = p * z + 0.1128362988597896;
  p = p * z - 0.37612630720374912;
  vec q = u * -2.1697613940016378e-05 + 0.00021364770372692702;
  q = q * u - 0.0012572431682377444;
  q = q * u + 0.0060073754403508258;
  q = q * u - 0.025824110049547332;
  q = q * u - 0.89264038064738271;
  q = q * u - 3.5088008058409965;
  q = q * u - 3.3844920891304628;
  vec near = a * (p * z + 1.1283791670955126), far = -vec_expm1(vec_at_most(0.0, q));
  return vec_copysign(vec_select(a < 1.0, near, far), x);
}

MATH vec_gelu_single(vec x) {
  vec a = vec_at_most(16.0, vec_abs(x)), q = 1.0 / (a + 3.0), t = (a - 3.0) * q;
  vec g = t * 5.448914934051308e-05 + 0.00013133018489567695;
  g = g * t - 0.00024473019940523085;
  g = g * t - 0.0010325734465623192;
  g = g * t + 0.0010247541020182301;
  g = g * t + 0.0069693111560560923;
  g = g * t - 0.010462512911747466;
  g = g * t - 0.047262687952464702;
  g = g * t + 0.23001769941607592;
  g = g * t - 0.50933199141442553;
  g = g * t + 0.72908369037620846;
  vec k, p = vec_exp_parts(-0.5 * a * a, &k), tail = (p + 1.0) * vec_power_of_two(k) * (g * q);
  vec left = vec_select(x == -HUGE_VAL, vec_splat(NAN), vec_at_least(-16.0, x) * tail);
  return vec_select(x < 0.0, left, x * (1.0 - tail));
}
