/* SPDX-License-Identifier: BSD-2-Clause */
/** @file optimizer_lm.c  Gauss-Newton with a trust region (Levenberg, Marquardt).
 *
 *  The step d solves (J^T J + lambda D) d = -J^T r, D being the diagonal of J^T J (Marquardt 1963). Of the
 *  damping factors lambda, each three times the one before, the smallest is taken whose loss falls by a tenth
 * of what the model promises: a bold step of little use is worth more than the step with the lowest loss,
 * which is too short (measured: docs/training.md). Where there are more parameters than residuals the same
 * step is d = -D^-1 J^T (J D^-1 J^T + lambda I)^-1 r. */
#include "cholesky.h"
#include "gauss_newton.h"
#include "line_search.h"
#include "optimizer.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const pcsim_key keys[] = {
    {"gain", PCSIM_KEY_NUMBER, "0.1", NULL, "1",
     "share of the promised fall of the loss that a step must have", 1e-4, 0.9},
    {"factor", PCSIM_KEY_NUMBER, "3", NULL, "1", "between one damping and the next", 1.1, 100},
    {"floor", PCSIM_KEY_NUMBER, "1e-3", NULL, "1", "least diagonal of the damping, as a share of the mean",
     1e-15, 1},
    {"start", PCSIM_KEY_NUMBER, "1", NULL, "1", "first damping", 1e-12, 1e12},
};

enum { LAMBDA, NUM_SCALARS };

/** Memory of one form of the equations. */
typedef struct {
  double *matrix; /**< J^T J [n][n], or J D^-1 J^T [m][m] */
  double *j;      /**< [n][m], and its rows scaled, padded */
  double *scaled;
  double *residual, *y; /**< [m] */
  cholesky *factor;
  int64_t size, num_residuals; /**< that the memory is for */
} equations;

struct optimizer {
  int64_t n;
  double gain, factor, floor;
  double numbers[NUM_SCALARS];
  pcsim_pool *pool;
  equations e;
  double *memory;
  double *g, *d, *damping, *direction, *theta_new; /**< [n] */
};

static void equations_release(equations *e) {
  pcsim_free(&e->matrix);
  pcsim_free(&e->j);
  pcsim_free(&e->scaled);
  pcsim_free(&e->residual);
  pcsim_free(&e->y);
  cholesky_destroy(&e->factor);
  *e = (equations){0};
}

static void destroy(optimizer **optimizer_) {
  optimizer *o = *optimizer_;
  if (!o) return;
  equations_release(&o->e);
  pcsim_pool_destroy(&o->pool);
  pcsim_free(&o->memory);
  pcsim_free(optimizer_);
}

static pcsim_status create(int64_t n, const double *options, int threads, optimizer **out) {
  optimizer *o = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *o, &o));
  o->n = n, o->gain = options[0], o->factor = options[1], o->floor = options[2];
  o->numbers[LAMBDA] = options[3];
  pcsim_status status = pcsim_alloc((size_t)(5 * n), sizeof *o->memory, &o->memory);
  if (status == PCSIM_OK) status = pcsim_pool_create(threads, &o->pool);
  if (status != PCSIM_OK) {
    destroy(&o);
    return status;
  }
  double *m = o->memory;
  o->g = m, o->d = m + n, o->damping = m + 2 * n, o->direction = m + 3 * n, o->theta_new = m + 4 * n;
  *out = o;
  return PCSIM_OK;
}

static void changed(optimizer *o) { (void)o; }

static void state(optimizer *o, double **numbers, int64_t *n) {
  *numbers = o->numbers;
  *n = NUM_SCALARS;
}

/* --------------------------------------------------------------- the two forms */

static pcsim_status equations_prepare(optimizer *o, int64_t size, int64_t m, bool kernel) {
  equations *e = &o->e;
  if (e->factor && e->size == size && e->num_residuals == m) return PCSIM_OK;
  equations_release(e);
  const int64_t side = kernel ? dense_padded(m) : o->n;
  PCSIM_TRY(pcsim_alloc((size_t)(side * side), sizeof *e->matrix, &e->matrix));
  if (kernel) {
    PCSIM_TRY(pcsim_alloc((size_t)(o->n * m), sizeof *e->j, &e->j));
    PCSIM_TRY(pcsim_alloc((size_t)(o->n * side), sizeof *e->scaled, &e->scaled));
    PCSIM_TRY(pcsim_alloc((size_t)m, sizeof *e->residual, &e->residual));
    PCSIM_TRY(pcsim_alloc((size_t)side, sizeof *e->y, &e->y));
  }
  PCSIM_TRY(cholesky_create(kernel ? side : o->n, o->pool, &e->factor));
  e->size = size, e->num_residuals = m;
  return PCSIM_OK;
}

/** Loss, gradient, D, and the matrix of the form. */
static pcsim_status look(optimizer *o, objective *f, const double *theta, bool kernel, double *loss) {
  equations *e = &o->e;
  const int64_t n = o->n, m = f->num_residuals;
  if (!kernel) {
    PCSIM_TRY(f->normal(f, theta, loss, o->g, e->matrix));
    for (int64_t i = 0; i < n; i++) o->d[i] = e->matrix[i * n + i];
    gauss_newton_bound(n, o->floor, o->d);
    return PCSIM_OK;
  }
  PCSIM_TRY(f->jacobian(f, theta, loss, e->residual, e->j));
  for (int64_t i = 0; i < n; i++) {
    o->g[i] = vector_dot(m, e->j + i * m, e->residual);
    o->d[i] = vector_dot(m, e->j + i * m, e->j + i * m);
  }
  gauss_newton_bound(n, o->floor, o->d);
  const int64_t side = dense_padded(m);
  for (int64_t i = 0; i < n; i++) {
    const double scale = 1 / sqrt(o->d[i]);
    for (int64_t k = 0; k < m; k++) e->scaled[i * side + k] = scale * e->j[i * m + k];
  }
  memset(e->matrix, 0, (size_t)(side * side) * sizeof *e->matrix);
  dense_add_product(o->pool, m, n, 1, e->scaled, e->matrix);
  return PCSIM_OK;
}

/** The step for a damping; false: the matrix has no factor. */
static bool solve(optimizer *o, int64_t m, double lambda, bool kernel) {
  equations *e = &o->e;
  const int64_t n = o->n;
  if (!kernel) {
    for (int64_t i = 0; i < n; i++) o->damping[i] = lambda * o->d[i], o->direction[i] = -o->g[i];
    if (!cholesky_factor(e->factor, e->matrix, o->damping)) return false;
    cholesky_solve(e->factor, o->direction);
    return true;
  }
  const int64_t side = dense_padded(m);
  for (int64_t i = 0; i < side; i++) e->y[i] = lambda;
  if (!cholesky_factor(e->factor, e->matrix, e->y)) return false;
  memset(e->y, 0, (size_t)side * sizeof *e->y);
  memcpy(e->y, e->residual, (size_t)m * sizeof *e->y);
  cholesky_solve(e->factor, e->y);
  for (int64_t i = 0; i < n; i++) o->direction[i] = -vector_dot(m, e->j + i * m, e->y) / o->d[i];
  return true;
}

/** What the model says the loss falls by: -(g . d + d^T J^T J d / 2), with (J^T J + lambda D) d = -g. */
static double promised(const optimizer *o, double lambda) {
  double sum = 0;
  for (int64_t i = 0; i < o->n; i++) sum += o->direction[i] * (lambda * o->d[i] * o->direction[i] - o->g[i]);
  return 0.5 * sum;
}

static pcsim_status step(optimizer *o, objective *f, double *theta, optimizer_report *report) {
  const int64_t n = o->n, m = f->num_residuals;
  const bool kernel = f->jacobian && (n > m || !f->normal);
  const double lambda_max = 1e18;
  *report = (optimizer_report){.stalled = true};
  PCSIM_TRY(equations_prepare(o, kernel ? m : n, kernel ? m : 0, kernel));
  double loss, loss_new;
  PCSIM_TRY(look(o, f, theta, kernel, &loss));
  report->evaluations++;
  report->loss = loss;
  report->gradient_norm = sqrt(vector_dot(n, o->g, o->g));
  if (!isfinite(loss) || !isfinite(report->gradient_norm)) return PCSIM_OK;
  double lambda = fmax(o->numbers[LAMBDA] / (o->factor * o->factor), DBL_EPSILON * DBL_EPSILON);
  for (; lambda < lambda_max; lambda *= o->factor) {
    if (!solve(o, m, lambda, kernel)) continue;
    const double fall = promised(o, lambda);
    if (!(fall > 0) || !isfinite(fall)) continue;
    for (int64_t i = 0; i < n; i++) o->theta_new[i] = theta[i] + o->direction[i];
    if (!memcmp(o->theta_new, theta, (size_t)n * sizeof *theta)) break;
    PCSIM_TRY(f->loss(f, o->theta_new, &loss_new, NULL));
    report->evaluations++;
    if (!isfinite(loss_new) || loss - loss_new < o->gain * fall || !(loss_new < loss)) continue;
    memcpy(theta, o->theta_new, (size_t)n * sizeof *theta);
    o->numbers[LAMBDA] = lambda;
    report->stalled = false;
    report->loss = loss_new;
    report->radius = sqrt(vector_dot(n, o->direction, o->direction));
    break;
  }
  return PCSIM_OK;
}

const optimizer_kind optimizer_lm = {
    "lm",    "Gauss-Newton with a trust region: few, dear steps; networks of up to some 2000 numbers",
    keys,    sizeof keys / sizeof *keys,
    create,  step,
    changed, state,
    destroy};
