/* SPDX-License-Identifier: BSD-2-Clause */
/** @file optimizer_cg.c  Gauss-Newton without matrices: J^T J d = -J^T r by conjugate gradients that end at
 * the border of a trust region (Steihaug, SIAM J. Numer. Anal. 20 (1983)). Memory grows with the number of
 * parameters; an iteration costs a product with J^T J, about two gradients. */
#include "line_search.h"
#include "optimizer.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const pcsim_key keys[] = {
    {"iterations", PCSIM_KEY_INTEGER, "100", NULL, "", "of conjugate gradients in one step, at most", 1,
     100000},
    {"forcing", PCSIM_KEY_NUMBER, "0.01", NULL, "1", "share of the gradient that they may leave", 1e-12,
     0.99},
    {"radius", PCSIM_KEY_NUMBER, "1", NULL, "1", "first radius of the trust region", 1e-12, 1e12},
};

enum { KNOWN, LOSS, RADIUS, BEST, IDLE, NUM_SCALARS };

struct optimizer {
  int64_t n;
  int iterations_max;
  double forcing;
  double *numbers, *g; /**< scalars, then the gradient [n] */
  double *memory;
  double *d, *r, *p, *product, *theta_new; /**< [n] */
};

static void destroy(optimizer **optimizer_) {
  optimizer *o = *optimizer_;
  if (!o) return;
  pcsim_free(&o->numbers);
  pcsim_free(&o->memory);
  pcsim_free(optimizer_);
}

static pcsim_status create(int64_t n, const double *options, int threads, optimizer **out) {
  (void)threads;
  optimizer *o = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *o, &o));
  o->n = n, o->iterations_max = (int)options[0], o->forcing = options[1];
  pcsim_status status = pcsim_alloc((size_t)(NUM_SCALARS + n), sizeof *o->numbers, &o->numbers);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)(5 * n), sizeof *o->memory, &o->memory);
  if (status != PCSIM_OK) {
    destroy(&o);
    return status;
  }
  double *m = o->memory;
  o->g = o->numbers + NUM_SCALARS;
  o->d = m, o->r = m + n, o->p = m + 2 * n, o->product = m + 3 * n, o->theta_new = m + 4 * n;
  o->numbers[RADIUS] = options[2];
  *out = o;
  return PCSIM_OK;
}

static void changed(optimizer *o) { o->numbers[KNOWN] = o->numbers[IDLE] = 0; }

static void state(optimizer *o, double **numbers, int64_t *n) {
  *numbers = o->numbers;
  *n = NUM_SCALARS + o->n;
}

/** How far along p from d the border of the trust region is. */
static double to_border(const optimizer *o, double radius) {
  const double pp = vector_dot(o->n, o->p, o->p), dp = vector_dot(o->n, o->d, o->p);
  const double c = vector_dot(o->n, o->d, o->d) - radius * radius;
  const double root = sqrt(fmax(dp * dp - pp * c, 0));
  return dp > 0 ? -c / (dp + root) : (root - dp) / pp; /* the form without cancellation */
}

/** d: the model's minimum in the region; `*fall` what it promises, `*border` whether it ends there. */
static pcsim_status solve(optimizer *o, objective *f, double radius, double *fall, bool *border,
                          int *products) {
  const int64_t n = o->n;
  double rr = vector_dot(n, o->g, o->g);
  const double enough = o->forcing * o->forcing * rr;
  memset(o->d, 0, (size_t)n * sizeof *o->d);
  for (int64_t i = 0; i < n; i++) o->r[i] = o->p[i] = -o->g[i];
  *fall = 0, *border = false;
  for (int k = 0; k < o->iterations_max && rr > enough && !*border; k++) {
    PCSIM_TRY(f->product(f, o->p, o->product));
    ++*products;
    const double curvature = vector_dot(n, o->p, o->product), limit = to_border(o, radius);
    double step = curvature > 0 ? rr / curvature : INFINITY;
    if (!(step < limit)) step = limit, *border = true;
    if (!isfinite(step)) break;
    *fall += step * vector_dot(n, o->p, o->r) - 0.5 * step * step * curvature;
    for (int64_t i = 0; i < n; i++) {
      o->d[i] += step * o->p[i];
      o->r[i] -= step * o->product[i];
    }
    const double before = rr;
    rr = vector_dot(n, o->r, o->r);
    for (int64_t i = 0; i < n; i++) o->p[i] = o->r[i] + rr / before * o->p[i];
  }
  return PCSIM_OK;
}

static pcsim_status step(optimizer *o, objective *f, double *theta, optimizer_report *report) {
  enum { RETRIES = 40 };
  const int64_t n = o->n;
  double *c = o->numbers;
  *report = (optimizer_report){.stalled = true};
  PCSIM_CHECK(f->product, PCSIM_ERR_ARG, "the problem offers no products with J^T J, which `cg` needs");
  /* Products are those at the last gradient, so it is computed where the step begins. */
  PCSIM_TRY(f->loss(f, theta, &c[LOSS], o->g));
  report->evaluations = 1;
  if (c[KNOWN] == 0) c[BEST] = c[LOSS], c[KNOWN] = 1;
  report->loss = c[LOSS];
  report->gradient_norm = sqrt(vector_dot(n, o->g, o->g));
  if (!(report->gradient_norm > 0) || !isfinite(c[LOSS]) || !isfinite(report->gradient_norm)) return PCSIM_OK;
  for (int k = 0; k < RETRIES; k++) {
    double fall, loss;
    bool border;
    PCSIM_TRY(solve(o, f, c[RADIUS], &fall, &border, &report->evaluations));
    const double length = sqrt(vector_dot(n, o->d, o->d));
    for (int64_t i = 0; i < n; i++) o->theta_new[i] = theta[i] + o->d[i];
    if (!(fall > 0) || !memcmp(o->theta_new, theta, (size_t)n * sizeof *theta)) break;
    PCSIM_TRY(f->loss(f, o->theta_new, &loss, NULL));
    report->evaluations++;
    const double gain = isfinite(loss) ? (c[LOSS] - loss) / fall : -1;
    if (gain > 0.75 && border) c[RADIUS] *= 3;
    if (gain < 0.25) c[RADIUS] = 0.3 * length;
    if (!(gain > 0.05) || !(loss < c[LOSS])) continue;
    memcpy(theta, o->theta_new, (size_t)n * sizeof *theta);
    c[LOSS] = report->loss = loss;
    report->radius = length;
    line_search_count(loss, &c[BEST], &c[IDLE]);
    report->stalled = c[IDLE] >= LINE_SEARCH_IDLE;
    break;
  }
  return PCSIM_OK;
}

const optimizer_kind optimizer_cg = {
    "cg",
    "Gauss-Newton by conjugate gradients in a trust region: few steps without matrices, networks of any size",
    keys,
    sizeof keys / sizeof *keys,
    create,
    step,
    changed,
    state,
    destroy};
