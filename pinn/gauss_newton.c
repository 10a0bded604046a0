/* SPDX-License-Identifier: BSD-2-Clause */
#include "gauss_newton.h"

#include "cholesky.h"
#include "line_search.h"

#include <math.h>
#include <string.h>

void gauss_newton_bound(int64_t n, double share, double *d) {
  double mean = 0;
  for (int64_t i = 0; i < n; i++) mean += d[i] / (double)n;
  for (int64_t i = 0; i < n; i++)
    if (!(d[i] > share * mean)) d[i] = mean > 0 ? share * mean : 1;
}

typedef struct {
  objective *f;
  int64_t n;
  cholesky *factor;
  double *product;                  /**< [n][n] J^T J */
  double *g, *d, *damping, *s, *at; /**< [n] */
  double *inverse;
} work;

static pcsim_status start(work *w, pcsim_pool *pool) {
  const size_t n = (size_t)w->n;
  PCSIM_TRY(pcsim_alloc(n * n, sizeof *w->product, &w->product));
  PCSIM_TRY(pcsim_alloc(5 * n, sizeof *w->g, &w->g));
  w->d = w->g + n, w->damping = w->d + n, w->s = w->damping + n, w->at = w->s + n;
  return cholesky_create(w->n, pool, &w->factor);
}

static void stop(work *w) {
  cholesky_destroy(&w->factor);
  pcsim_free(&w->product);
  pcsim_free(&w->g);
}

/** Factor for this lambda, and try its step. */
static pcsim_status try_damping(work *w, const double *theta, double loss, double lambda, bool *good,
                                int *evaluations) {
  const int64_t n = w->n;
  double promised = 0, then;
  *good = false;
  for (int64_t i = 0; i < n; i++) w->damping[i] = lambda * w->d[i], w->s[i] = -w->g[i];
  if (!cholesky_factor(w->factor, w->product, w->damping)) return PCSIM_OK;
  cholesky_solve(w->factor, w->s);
  for (int64_t i = 0; i < n; i++) {
    promised += 0.5 * w->s[i] * (w->damping[i] * w->s[i] - w->g[i]);
    w->at[i] = theta[i] + w->s[i];
  }
  if (!(promised > 0) || !isfinite(promised)) return PCSIM_OK;
  PCSIM_TRY(w->f->loss(w->f, w->at, &then, NULL));
  ++*evaluations;
  *good = isfinite(then) && loss - then >= 0.1 * promised;
  return PCSIM_OK;
}

/** Row j of the inverse, from its diagonal to the left: column j of what solves unit vectors. */
enum { ROWS = 16 };
static void invert_rows(void *context, int part, int thread) {
  const work *w = context;
  const int64_t n = w->n, end = ROWS * (part + 1) < n ? ROWS * (part + 1) : n;
  (void)thread;
  for (int64_t j = ROWS * part; j < end; j++) {
    double *row = w->inverse + j * n;
    memset(row, 0, (size_t)n * sizeof *row);
    row[j] = 1;
    cholesky_solve(w->factor, row);
  }
}

pcsim_status gauss_newton_inverse(objective *f, pcsim_pool *pool, const double *theta, double *inverse,
                                  bool *found, int *evaluations) {
  const double least = 1e-15, most = 1e3;
  work w = {.f = f, .n = f->num_parameters, .inverse = inverse};
  double loss;
  *found = false;
  if (!f->normal) return PCSIM_OK;
  pcsim_status status = start(&w, pool);
  if (status == PCSIM_OK) status = f->normal(f, theta, &loss, w.g, w.product);
  for (int64_t i = 0; status == PCSIM_OK && i < w.n; i++) w.d[i] = w.product[i * w.n + i];
  if (status == PCSIM_OK) gauss_newton_bound(w.n, 1e-3, w.d);
  for (double lambda = least; status == PCSIM_OK && lambda < most && !*found; lambda *= 10)
    status = try_damping(&w, theta, loss, lambda, found, evaluations);
  if (*found) pcsim_pool_run(pool, (int)((w.n + ROWS - 1) / ROWS), invert_rows, &w);
  stop(&w);
  return status;
}
