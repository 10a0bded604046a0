/* SPDX-License-Identifier: BSD-2-Clause */
#include "heat_kernel.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
/* Below this q sqrt(s) a flux does not feel the value. */
static const double insulated = 1e-6;

static pcsim_value number(pcsim_program *p, double value) { return pcsim_build_constant(p, value); }
static pcsim_value add(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_ADD, a, b);
}
static pcsim_value sub(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_SUB, a, b);
}
static pcsim_value mul(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_MUL, a, b);
}
static pcsim_value over(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_DIV, a, b);
}

/* Weideman's polynomial: coefficients by the Fourier series of exp(-t^2) (L^2 + t^2), t = L tan(angle / 2).
 */
enum { TERMS = 40 };
static double weideman(double *a) {
  const int half = 2 * TERMS;
  const double length = sqrt(TERMS / sqrt(2));
  for (int n = 0; n < TERMS; n++) {
    a[n] = 0;
    for (int k = 1 - half; k < half; k++) {
      const double angle = k * pi / half, t = length * tan(angle / 2);
      a[n] += exp(-t * t) * (length * length + t * t) * cos((n + 1) * angle) / (2 * half);
    }
  }
  return length;
}

pcsim_value heat_erfcx(pcsim_program *p, pcsim_value x) {
  double a[TERMS];
  const double length = weideman(a);
  const pcsim_value below = add(p, x, number(p, length)), z = over(p, sub(p, number(p, length), x), below);
  pcsim_value sum = add(p, mul(p, z, number(p, a[TERMS - 1])), number(p, a[TERMS - 2]));
  for (int n = TERMS - 3; n >= 0; n--) sum = add(p, mul(p, sum, z), number(p, a[n]));
  const pcsim_value first = over(p, mul(p, number(p, 2), sum), below);
  return over(p, add(p, first, number(p, 1 / sqrt(pi))), below);
}

pcsim_value heat_half_space(pcsim_program *p, pcsim_value distance, pcsim_value s, double q, double longest) {
  const pcsim_value root = pcsim_build_unary(p, PCSIM_OP_SQRT, s),
                    y = over(p, distance, mul(p, number(p, 2), root)),
                    fall =
                        pcsim_build_unary(p, PCSIM_OP_EXP, pcsim_build_unary(p, PCSIM_OP_NEG, mul(p, y, y))),
                    e = heat_erfcx(p, y);
  if (q * sqrt(longest) < insulated)
    return mul(p, mul(p, number(p, 2), root), mul(p, fall, sub(p, number(p, 1 / sqrt(pi)), mul(p, y, e))));
  const pcsim_value cooled = heat_erfcx(p, add(p, y, mul(p, number(p, q), root)));
  return mul(p, fall, mul(p, number(p, 1 / q), sub(p, e, cooled)));
}

double heat_at_wall(double q, double s) {
  const double x = q * sqrt(s);
  if (x < insulated) return 2 * sqrt(s / pi);
  /* beyond 5 the series, of which the next term is below 1e-3 */
  const double e = x < 5 ? exp(x * x) * erfc(x) : (1 - 0.5 / (x * x)) / (x * sqrt(pi));
  return (1 - e) / q;
}
