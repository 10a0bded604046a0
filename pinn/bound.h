/* SPDX-License-Identifier: BSD-2-Clause */
/** @file bound.h  Private: the error that a residual allows where one linear equation of second order is
 * coercive:
 *
 *      L u = sum a_ij u_ij + sum b_i u_i + c u = f      or      m u_t = L u - f,  m a positive number,
 *
 *  u being given on the whole boundary (and at the start). The error e of a network with residual r solves
 *  L e = r. With zero values -(L e, e) >= mu |e|^2,
 *
 *      mu = sum_i kappa_i (pi / L_i)^2 - max q,      q = c - 1/2 div b + 1/2 sum (a_ij)_ij,
 *
 *  kappa_i the least a_ii - sum_j |a_ij| (rows of diagonally dominant matrices), L_i the sides of a box
 * around the domain (one-dimensional Poincare inequalities along the coordinates). So |e| <= |r| / mu. What
 * is off on the boundary adds its largest absolute value where c <= 0 (maximum principle). Through time of
 *  length T norms are over space and time, and |e| <= (1 - exp(-mu T / m)) / mu |r|; what is off at the start
 *  adds its norm times the root of the mean of exp(-2 mu t / m). Evans: Partial Differential Equations, 6.2,
 *  6.4, 7.1. Coefficients of derivatives that jump or bend are refused: a jump leaves a jump of the flux that
 *  no residual at points holds. */
#ifndef PCSIM_PINN_BOUND_H
#define PCSIM_PINN_BOUND_H

#include "problem.h"

typedef struct {
  bool known;
  char why[200];    /**< not known: what is missing */
  double residual;  /**< root mean square of e <= residual * that of r */
  double start;     /**< + start * root mean square of e at the start */
  bool has_maximum; /**< + largest |e| on the boundary; false: e has to be zero there */
} bound;

/** The constants of a problem; coefficients are looked at in n points [n][num_coordinates]: their extremes
 * are those found there. */
pcsim_status bound_find(const problem *p, int64_t n, const double *points, bound *b) PCSIM_NODISCARD;

#endif
