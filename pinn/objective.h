/* SPDX-License-Identifier: BSD-2-Clause */
/** @file objective.h  Private: what an optimiser sees, a nonlinear least-squares problem
 *
 *      loss(theta) = 1/2 sum_i r_i(theta)^2        weights are part of r
 *
 *  as a struct of functions, so that optimisers are tested on small problems with known solutions. The loss
 * may come out infinite or not a number: that is a value, not a failure. */
#ifndef PCSIM_PINN_OBJECTIVE_H
#define PCSIM_PINN_OBJECTIVE_H

#include <pcsim/base.h>

typedef struct objective objective;
struct objective {
  int64_t num_parameters; /**< n */
  int64_t num_residuals;  /**< m; may change when points are redrawn */
  /** Loss, and its gradient [n] unless `gradient` is NULL. */
  pcsim_status (*loss)(objective *o, const double *theta, double *loss, double *gradient);
  /** Loss, gradient [n] and the lower triangle of J^T J [n][n], row-major; what is above the diagonal is not
   *  touched. NULL: not offered. */
  pcsim_status (*normal)(objective *o, const double *theta, double *loss, double *gradient, double *product);
  /** J [n][m], parameter by parameter (the kernel form needs it where n > m). NULL: not offered. */
  pcsim_status (*jacobian)(objective *o, const double *theta, double *loss, double *residual, double *j);
  /** J^T J v [n] at the theta of the last call of `loss` with a gradient. NULL: not offered. */
  pcsim_status (*product)(objective *o, const double *v, double *out);
};

#endif
