/* SPDX-License-Identifier: BSD-2-Clause */
/** @file gauss_newton.h  Private: what J^T J knows about curvature, for optimisers that hold an inverse. */
#ifndef PCSIM_PINN_GAUSS_NEWTON_H
#define PCSIM_PINN_GAUSS_NEWTON_H

#include "objective.h"

/** No number of a diagonal d [n] less than a share of the mean: a parameter of which the residuals hardly
 * know (a neuron that is saturated) would go any distance. */
void gauss_newton_bound(int64_t n, double share, double *d);
/** Lower triangle of (J^T J + lambda D)^-1 at theta into `inverse` [n][n], D being the diagonal of J^T J, no
 *  less than 1e-3 of its mean. lambda is the least, of those ten times one another, whose step lowers the
 * loss by a tenth of what the model promises. `*found` false: none does, or f has no J^T J. Adds to
 * `*evaluations` the losses computed. Errors: those of f, ERR_MEMORY. */
pcsim_status gauss_newton_inverse(objective *f, pcsim_pool *pool, const double *theta, double *inverse,
                                  bool *found, int *evaluations) PCSIM_NODISCARD;

#endif
