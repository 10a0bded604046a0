/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cholesky.h  Private: products and Cholesky factors of dense symmetric matrices, on threads. Results
 * do not depend on the number of threads. */
#ifndef PCSIM_PINN_CHOLESKY_H
#define PCSIM_PINN_CHOLESKY_H

#include <pcsim/base.h>

typedef struct cholesky cholesky;
/** Memory for matrices [n][n]; the pool is borrowed. Caller destroys. */
pcsim_status cholesky_create(int64_t n, pcsim_pool *pool, cholesky **c) PCSIM_NODISCARD;
void cholesky_destroy(cholesky **c);
/** Factor a + diag(d): a [n][n] row-major, of which the lower triangle is read; d [n]. False: not positive
 * definite in floating-point numbers. */
bool cholesky_factor(cholesky *c, const double *a, const double *d);
/** Solve with the last factor, in place: x [n]. */
void cholesky_solve(const cholesky *c, double *x);

/** The last m rows and columns of the inverse of what was factored: lower triangle of `inverse` [m][m]. */
pcsim_status cholesky_inverse(const cholesky *c, int64_t m, double *inverse) PCSIM_NODISCARD;

/** Numbers in a row of a padded matrix of n columns. */
int64_t dense_padded(int64_t n);
/** Lower triangle of c [n][stride] += factor * b^T b, b being [depth][stride], stride = dense_padded(n),
 * zeros past column n; c has dense_padded(n) rows. Above the diagonal c holds anything. */
void dense_add_product(pcsim_pool *pool, int64_t n, int64_t depth, double factor, const double *b, double *c);

#endif
