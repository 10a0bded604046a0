/* SPDX-License-Identifier: BSD-2-Clause */
/** @file line_search.h  Private: a step along a direction that lowers the loss and its slope. */
#ifndef PCSIM_PINN_LINE_SEARCH_H
#define PCSIM_PINN_LINE_SEARCH_H

#include "objective.h"

typedef struct {
  const double *theta, *direction; /**< [n] */
  double loss, slope;              /**< at theta; slope = direction . gradient < 0 */
  double first;                    /**< step to try first, in lengths of the direction */
  double curvature;                /**< of the slope's size that may be left: 0.9 for quasi-Newton methods */
  int evaluations_max;
  double *theta_new, *gradient_new;   /**< [n] result; `theta_new` is theta when nothing better was found */
  double *theta_best, *gradient_best; /**< [n] memory of the search */
} line_search;
typedef struct {
  double step; /**< 0: nothing better was found */
  double loss;
  bool wolfe; /**< both conditions hold: s . y > 0 */
  int evaluations;
} line_search_result;

/** Weak Wolfe conditions (the loss falls by 1e-4 of what the slope promises, the slope by a share) by halving
 * and extending an interval, with cubic interpolation inside it. A loss that is infinite or not a number
 * counts as too high. Within rounding of the loss, the slopes alone decide (approximate Wolfe conditions:
 * Hager and Zhang, SIAM J. Optim. 16 (2005)). When the evaluations are spent, the lowest loss that was seen
 * is taken. */
pcsim_status line_search_run(objective *f, const line_search *l, line_search_result *out) PCSIM_NODISCARD;

/** Count steps in turn that do not lower the least loss so far by more than rounding: with LINE_SEARCH_IDLE
 * of them an optimiser has stalled. */
void line_search_count(double loss, double *best, double *idle);
enum { LINE_SEARCH_IDLE = 10 };

double vector_dot(int64_t n, const double *a, const double *b);

#endif
