/* SPDX-License-Identifier: BSD-2-Clause */
/** @file symmetric.h  Private: a symmetric matrix that is changed by rank two and multiplied in one pass.
 *
 *  Stored is the lower triangle in bands of 8 rows, each as long as its last row; the square at the end of a
 *  band is whole. Results do not depend on the number of threads. */
#ifndef PCSIM_PINN_SYMMETRIC_H
#define PCSIM_PINN_SYMMETRIC_H

#include <pcsim/base.h>

/** Numbers of the matrix [n][n]. */
int64_t symmetric_size(int64_t n);
/** The lower triangle of a matrix from [n][n]. */
void symmetric_take(int64_t n, const double *from, double *a);
/** c times the identity. */
void symmetric_identity(int64_t n, double c, double *a);

/** a -> scale * a + ss * s s^T + sz * (s z^T + z s^T) + zz * z z^T */
typedef struct {
  double scale, ss, sz, zz;
  const double *s, *z; /**< [n] */
} symmetric_change;

typedef struct symmetric_work symmetric_work;
/** Memory for matrices [n][n]; the pool is borrowed. Caller destroys. */
pcsim_status symmetric_work_create(int64_t n, pcsim_pool *pool, symmetric_work **w) PCSIM_NODISCARD;
void symmetric_work_destroy(symmetric_work **w);
/** Change `a` and multiply: out [n] = a x, a as it is afterwards. */
void symmetric_change_multiply(symmetric_work *w, double *a, const symmetric_change *c, const double *x,
                               double *out);

#endif
