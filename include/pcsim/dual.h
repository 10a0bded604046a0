/* SPDX-License-Identifier: BSD-2-Clause */
/** @file dual.h  One source for two kinds of numbers, for modules alone.
 *
 *  A source written in pcsim_real is compiled a second time with PCSIM_DUAL defined, and then calculates with
 *  dual numbers a + b e, e^2 = 0: complex ones whose imaginary part is b times a step so small that its
 * square vanishes beside a. So every value comes out as without it, with its exact derivative along whatever
 * the inputs were given; nothing is differenced. Branches ask pcsim_part, so both compilations take the same
 *  ones. Source: Squire and Trapp, SIAM Review 40, 1998. */
#ifndef PCSIM_DUAL_H
#define PCSIM_DUAL_H

#include <complex.h>
#include <math.h>
#undef I

typedef double _Complex pcsim_dual;
#define PCSIM_DUAL_STEP 1e-100

/** The dual number with this value and derivative. */
static inline pcsim_dual pcsim_dual_of(double value, double derivative) {
  return value + derivative * PCSIM_DUAL_STEP * (pcsim_dual)_Complex_I;
}
static inline double pcsim_derivative_of(pcsim_dual x) { return cimag(x) / PCSIM_DUAL_STEP; }

static inline pcsim_dual pcsim_dual_root(pcsim_dual x) {
  const double root = sqrt(creal(x));
  return root + cimag(x) / (2 * root) * (pcsim_dual)_Complex_I;
}

#ifdef PCSIM_DUAL
typedef pcsim_dual pcsim_real;
/** The name of a function that is there twice. */
#define PCSIM_TWIN(name) name##_dual
static inline double pcsim_part(pcsim_real x) { return creal(x); }
static inline pcsim_real pcsim_root(pcsim_real x) { return pcsim_dual_root(x); }
#else
typedef double pcsim_real;
#define PCSIM_TWIN(name) name
/** The value alone. */
static inline double pcsim_part(pcsim_real x) { return x; }
static inline pcsim_real pcsim_root(pcsim_real x) { return sqrt(x); }
#endif

#endif
