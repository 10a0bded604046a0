/* SPDX-License-Identifier: BSD-2-Clause */
/** @file reference.h  Derivatives that owe nothing to the engine: Taylor coefficients of a function of a
 * complex variable by Cauchy's integral on a circle (trapezoidal rule: exponentially exact), in 113-bit
 * arithmetic where the compiler has it (about 29 digits at order 8), else in long double (about 14). */
#ifndef PCSIM_TEST_REFERENCE_H
#define PCSIM_TEST_REFERENCE_H

#include <complex.h>
#include <math.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
typedef _Float128 real;
typedef _Complex _Float128 cplx;
#define F(name) name##f128
/* Share of the largest |f| near the point that counts as magnitude where derivatives vanish: the reference
 * has this many digits to spare. */
#define REFERENCE_FLOOR 1e-8
#else
typedef long double real;
typedef _Complex long double cplx;
#define F(name) name##l
#define REFERENCE_FLOOR 1.0
#endif

enum { REFERENCE_NODES = 64, REFERENCE_ORDER = 8 };

static inline cplx reference_i(void) { return F(csqrt)((cplx)-1); }

/** erf by its series (entire): the arguments here are below 4 in size. */
static inline cplx reference_erf(cplx z) {
  cplx term = z, sum = z;
  for (int n = 1; n < 160; n++) {
    term *= -z * z / n;
    sum += term / (2 * n + 1);
  }
  return sum * 2 / F(sqrt)(F(acos)((real)-1));
}
/** A function analytic near its point: z [inputs], at the complex parameter of a line. */
typedef cplx (*reference_function)(const void *context, const cplx *z, const double *centre);

/** Coefficients 0 .. REFERENCE_ORDER of t -> f(x + t v), x and v [n], circle of radius `radius` in t; the one
 * after them is the largest |f| on the circle. */
static inline void reference_taylor(reference_function f, const void *context, int n, const double *x,
                                    const double *v, double radius, real *coefficients) {
  cplx values[REFERENCE_NODES], z[16];
  real largest = 0;
  const real turn = 2 * F(acos)((real)-1) / REFERENCE_NODES;
  /* Functions here are real on the real line: the lower half of the circle is the conjugate of the upper one.
   */
  for (int i = 0; i <= REFERENCE_NODES / 2; i++) {
    const cplx t = radius * (F(cos)(turn * i) + reference_i() * F(sin)(turn * i));
    for (int j = 0; j < n; j++) z[j] = x[j] + t * v[j];
    values[i] = f(context, z, x);
    largest = F(fmax)(largest, F(cabs)(values[i]));
    if (i) values[REFERENCE_NODES - i] = F(conj)(values[i]);
  }
  for (int k = 0; k <= REFERENCE_ORDER; k++) {
    cplx sum = 0;
    for (int i = 0; i < REFERENCE_NODES; i++)
      sum += values[i] * (F(cos)(turn * (i * k % REFERENCE_NODES)) -
                          reference_i() * F(sin)(turn * (i * k % REFERENCE_NODES)));
    coefficients[k] = F(creal)(sum) / REFERENCE_NODES / F(pow)((real)radius, (real)k);
  }
  coefficients[REFERENCE_ORDER + 1] = largest;
}

/** The same, remembered: polarisation asks for the same lines again and again. Radius: a quarter of `reach`.
 */
static inline const real *reference_line(reference_function f, const void *context, int n, const double *x,
                                         const double *v, double reach) {
  enum { ROOM = 256 };
  static struct {
    reference_function f;
    const void *context;
    double x[16], v[16];
    real coefficients[REFERENCE_ORDER + 2];
  } memory[ROOM];
  static int used, next;
  for (int i = 0; i < used; i++)
    if (memory[i].f == f && memory[i].context == context && !memcmp(memory[i].x, x, (size_t)n * sizeof *x) &&
        !memcmp(memory[i].v, v, (size_t)n * sizeof *v))
      return memory[i].coefficients;
  const int at = next;
  next = (next + 1) % ROOM;
  if (used < ROOM) used++;
  memory[at].f = f;
  memory[at].context = context;
  memcpy(memory[at].x, x, (size_t)n * sizeof *x);
  memcpy(memory[at].v, v, (size_t)n * sizeof *v);
  double length = 0;
  for (int j = 0; j < n; j++) length = fmax(length, fabs(v[j]));
  reference_taylor(f, context, n, x, v, reach / 4 / length, memory[at].coefficients);
  return memory[at].coefficients;
}

/** D_{v_1} ... D_{v_n} f by polarisation: sum over signs of prod(sign) D^n along sum sign v, over 2^n n!.
 * `reach` is the distance to the nearest singularity in the size of the inputs; *size gets the magnitude of
 * the terms. */
static inline double reference_mixed(reference_function f, const void *context, int inputs, const double *x,
                                     double reach, int n, const double (*v)[16], double *size) {
  real sum = 0, magnitude = 0;
  if (n == 0) {
    const double none[16] = {0};
    real coefficients[REFERENCE_ORDER + 2];
    reference_taylor(f, context, inputs, x, none, 1, coefficients);
    *size = fabs((double)coefficients[0]);
    return (double)coefficients[0];
  }
  /* The sum is the same for the opposite signs: the first one stays plus. */
  for (int signs = 0; signs < 1 << (n - 1); signs++) {
    double d[16] = {0}, length = 0;
    int sign = 1;
    for (int i = 0; i < n; i++) {
      const int s = i && signs >> (i - 1) & 1 ? -1 : 1;
      sign *= s;
      for (int j = 0; j < inputs; j++) d[j] += s * v[i][j];
    }
    for (int j = 0; j < inputs; j++) length = fmax(length, fabs(d[j]));
    if (length == 0) continue;
    const real *coefficients = reference_line(f, context, inputs, x, d, reach);
    sum += sign * coefficients[n];
    magnitude += F(fmax)(F(fabs)(coefficients[n]), REFERENCE_FLOOR * coefficients[REFERENCE_ORDER + 1] *
                                                       F(pow)((real)(length / reach), (real)n));
  }
  /* D^n = n! c_n; twice half the signs. */
  const real over = (real)(1 << (n - 1));
  *size = (double)(magnitude / over);
  return (double)(sum / over);
}

#endif
