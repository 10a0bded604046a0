/* SPDX-License-Identifier: BSD-2-Clause */
/** @file optimizer_ssbroyden.c  Self-scaled Broyden: a dense inverse Hessian H whose member of Broyden's
 * family and whose scale are chosen anew in each step.
 *
 *  With s the step, y the change of the gradient, rho = 1 / (y . s), z = H y, h = rho y . z and
 *  b = -alpha rho s . g, the quantities of Al-Baali (Comput. Optim. Appl. 9 (1998), 191-203; Al-Baali,
 * Khalfan, Optim. Methods Softw. 2005) as Urban, Stefanou, Pons (J. Comput. Phys. 523 (2025) 113656, formulas
 * 13-23) use them for networks. Written out in s and z the new H is tau^-1 H plus a matrix of rank two, so
 * that changing H and the product with the next gradient are one pass over memory. H is changed when its next
 * product is wanted; until then the change is pending. */
#include "gauss_newton.h"
#include "line_search.h"
#include "optimizer.h"
#include "symmetric.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const pcsim_key keys[] = {
    {"curvature", PCSIM_KEY_NUMBER, "0.9", NULL, "1", "share of the slope that a step may leave", 0.01, 0.99},
    {"evaluations", PCSIM_KEY_INTEGER, "30", NULL, "", "of the loss in one line search, at most", 2, 1000},
};

/** Numbers at the start of the state. */
enum { KNOWN, STARTED, FRESH, LOSS, FALL, GAMMA, SCALE, SS, SZ, ZZ, BEST, IDLE, NUM_SCALARS };

struct optimizer {
  int64_t n, num_numbers;
  double curvature;
  int evaluations_max;
  double *numbers; /**< all that lasts: scalars, then the four vectors, then h */
  double *g, *hg;  /**< [n] gradient, H g */
  double *s, *z;   /**< [n] of the pending change */
  double *h;
  double *memory; /**< of a step */
  double *theta_new, *g_new, *theta_best, *g_best, *direction;
  pcsim_pool *pool;
  symmetric_work *work;
};

static void destroy(optimizer **optimizer_) {
  optimizer *o = *optimizer_;
  if (!o) return;
  symmetric_work_destroy(&o->work);
  pcsim_pool_destroy(&o->pool);
  pcsim_free(&o->numbers);
  pcsim_free(&o->memory);
  pcsim_free(optimizer_);
}

static pcsim_status start(optimizer *o, int threads) {
  const int64_t n = o->n;
  o->num_numbers = NUM_SCALARS + 4 * n;
  o->num_numbers = (o->num_numbers + 7) / 8 * 8; /* h is aligned to vectors */
  const int64_t h_at = o->num_numbers;
  o->num_numbers += symmetric_size(n);
  PCSIM_TRY(pcsim_alloc((size_t)o->num_numbers, sizeof *o->numbers, &o->numbers));
  PCSIM_TRY(pcsim_alloc((size_t)(5 * n), sizeof *o->memory, &o->memory));
  double *v = o->numbers + NUM_SCALARS, *m = o->memory;
  o->g = v, o->hg = v + n, o->s = v + 2 * n, o->z = v + 3 * n, o->h = o->numbers + h_at;
  o->theta_new = m, o->g_new = m + n, o->theta_best = m + 2 * n, o->g_best = m + 3 * n,
  o->direction = m + 4 * n;
  PCSIM_TRY(pcsim_pool_create(threads, &o->pool));
  return symmetric_work_create(n, o->pool, &o->work);
}

static pcsim_status create(int64_t n, const double *options, int threads, optimizer **out) {
  optimizer *o = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *o, &o));
  o->n = n, o->curvature = options[0], o->evaluations_max = (int)options[1];
  const pcsim_status status = start(o, threads);
  if (status != PCSIM_OK) destroy(&o);
  *out = o;
  return status;
}

static void changed(optimizer *o) { o->numbers[KNOWN] = o->numbers[IDLE] = 0; }

static void state(optimizer *o, double **numbers, int64_t *n) {
  *numbers = o->numbers;
  *n = o->num_numbers;
}

/** Make the pending change and multiply: out = H x. */
static void multiply(optimizer *o, const double *x, double *out) {
  const double *c = o->numbers;
  symmetric_change_multiply(o->work, o->h, &(symmetric_change){c[SCALE], c[SS], c[SZ], c[ZZ], o->s, o->z}, x,
                            out);
}
static void nothing_pending(optimizer *o) {
  o->numbers[SCALE] = 1;
  o->numbers[SS] = o->numbers[SZ] = o->numbers[ZZ] = 0;
}

/** H begins as a multiple of the identity: a first step no longer than 1, and where gradients are small
 * (losses may be of any size) to where the loss would be 0 if it were linear; when it begins again, by the
 * curvature of the last step. */
static void begin(optimizer *o) {
  const double norm = sqrt(vector_dot(o->n, o->g, o->g));
  double c = norm > 0 ? 1 / norm : 1;
  if (norm < 1e-3) c = fmin(c, o->numbers[LOSS] / norm / norm);
  else if (norm < 1) c = 1;
  if (o->numbers[GAMMA] > 0) c = o->numbers[GAMMA];
  symmetric_identity(o->n, c, o->h);
  nothing_pending(o);
  for (int64_t i = 0; i < o->n; i++) o->hg[i] = c * o->g[i];
  o->numbers[STARTED] = o->numbers[FRESH] = 1;
}

/** H begins again where rounding has cost it its definiteness, or no step along it lowers the loss: with what
 * J^T J says, since from a multiple of the identity the way back would be long; without J^T J from that. */
static pcsim_status begin_again(optimizer *o, objective *f, const double *theta, int *evaluations) {
  double *inverse = NULL;
  bool found = false;
  PCSIM_TRY(pcsim_alloc((size_t)(o->n * o->n), sizeof *inverse, &inverse));
  const pcsim_status status = gauss_newton_inverse(f, o->pool, theta, inverse, &found, evaluations);
  if (status == PCSIM_OK && found) {
    symmetric_take(o->n, inverse, o->h);
    nothing_pending(o);
    multiply(o, o->g, o->hg);
    o->numbers[FRESH] = o->numbers[FALL] = 0;
  } else begin(o);
  pcsim_free(&inverse);
  return status;
}

/** The next H from the step s = o->s and H y = o->z, and its product with the new gradient, `product` being
 *  that of H. False: the step tells nothing about curvature. */
static bool update(optimizer *o, double step, double yy, double *product) {
  const int64_t n = o->n;
  double *c = o->numbers, ys = 0;
  for (int64_t i = 0; i < n; i++) ys += o->s[i] * (o->g_new[i] - o->g[i]);
  double yz = 0;
  for (int64_t i = 0; i < n; i++) yz += o->z[i] * (o->g_new[i] - o->g[i]);
  const double ss = vector_dot(n, o->s, o->s);
  if (!(ys > DBL_EPSILON * sqrt(yy * ss)) || !(yz > 0) || !isfinite(yz)) return false;
  c[GAMMA] = ys / yy;
  const double rho = 1 / ys, h = yz * rho, b = -step * rho * vector_dot(n, o->s, o->g);
  const double a = fmax(h * b - 1, DBL_EPSILON);
  const double rho_minus = fmin(1, h * (1 - sqrt(a / (1 + a))));
  const double theta_minus = (rho_minus - 1) / a, theta_plus = 1 / rho_minus;
  const double theta = fmax(theta_minus, fmin(theta_plus, (1 - b) / b));
  const double sigma = 1 + theta * a;
  double tau;
  if (c[FRESH] != 0) tau = h / sigma;
  else {
    const double rho_scale = fmin(1, 1 / b), spread = n > 1 ? pow(fabs(sigma), 1. / (1 - (double)n)) : 1;
    tau = theta <= 0 ? fmin(rho_scale * spread, sigma) : rho_scale * fmin(spread, 1 / theta);
  }
  const double phi = (1 - theta) / sigma;
  if (!(tau > 0) || !isfinite(1 / tau) || !isfinite(phi)) return false;
  c[SCALE] = 1 / tau;
  c[ZZ] = (phi - 1) / (yz * tau);
  c[SZ] = -phi * rho / tau;
  c[SS] = rho + phi * yz * rho * rho / tau;
  c[FRESH] = 0;
  const double sg = vector_dot(n, o->s, o->g_new), zg = vector_dot(n, o->z, o->g_new);
  const double by_s = c[SS] * sg + c[SZ] * zg, by_z = c[SZ] * sg + c[ZZ] * zg;
  for (int64_t i = 0; i < n; i++) product[i] = c[SCALE] * product[i] + by_s * o->s[i] + by_z * o->z[i];
  return true;
}

/** A step was made: what it says about curvature goes into H. */
static void learn(optimizer *o, const double *theta, const line_search_result *found) {
  const int64_t n = o->n;
  double *product = o->direction, yy = 0; /* the direction is no longer needed */
  multiply(o, o->g_new, product);
  nothing_pending(o);
  for (int64_t i = 0; i < n; i++) {
    const double y = o->g_new[i] - o->g[i];
    yy += y * y;
    o->s[i] = o->theta_new[i] - theta[i];
    o->z[i] = product[i] - o->hg[i];
  }
  if (!update(o, found->step, yy, product)) nothing_pending(o);
  memcpy(o->hg, product, (size_t)n * sizeof *product);
  memcpy(o->g, o->g_new, (size_t)n * sizeof *o->g);
  o->numbers[FALL] = o->numbers[LOSS] - found->loss;
  o->numbers[LOSS] = found->loss;
}

/** Along -H g. */
static pcsim_status search(optimizer *o, objective *f, const double *theta, double slope,
                           line_search_result *found) {
  const double *c = o->numbers;
  for (int64_t i = 0; i < o->n; i++) o->direction[i] = -o->hg[i];
  /* Where the loss falls as much again as in the last step, if it is a parabola: with H too large, as its
   * scale often is, a step of 1 would have to be taken back (Nocedal, Wright: Numerical Optimization, 2006,
   * 3.5). */
  const double first = c[FALL] > 0 && c[FRESH] == 0 ? fmin(1, 2.02 * c[FALL] / -slope) : 1;
  const line_search l = {theta,        o->direction,       c[LOSS],      slope,    first,
                         o->curvature, o->evaluations_max, o->theta_new, o->g_new, o->theta_best,
                         o->g_best};
  return line_search_run(f, &l, found);
}

static pcsim_status step(optimizer *o, objective *f, double *theta, optimizer_report *report) {
  const int64_t n = o->n;
  double *c = o->numbers;
  *report = (optimizer_report){0};
  if (c[KNOWN] == 0) {
    PCSIM_TRY(f->loss(f, theta, &c[LOSS], o->g));
    report->evaluations++;
    c[KNOWN] = 1;
    c[BEST] = c[LOSS];
    if (c[STARTED] == 0) begin(o);
    else {
      multiply(o, o->g, o->hg);
      nothing_pending(o);
    }
  }
  line_search_result found = {0};
  for (bool again = false; isfinite(c[LOSS]); again = true) {
    const double slope = -vector_dot(n, o->g, o->hg);
    found = (line_search_result){0};
    if (slope < 0) PCSIM_TRY(search(o, f, theta, slope, &found));
    report->evaluations += found.evaluations;
    if (found.step > 0 || again) break;
    PCSIM_TRY(begin_again(o, f, theta, &report->evaluations));
  }
  const bool moved = found.step > 0;
  if (moved) line_search_count(found.loss, &c[BEST], &c[IDLE]);
  report->stalled = !moved || c[IDLE] >= LINE_SEARCH_IDLE;
  report->loss = c[LOSS];
  if (moved) {
    learn(o, theta, &found);
    report->radius = sqrt(vector_dot(n, o->s, o->s));
    report->loss = found.loss;
    memcpy(theta, o->theta_new, (size_t)n * sizeof *theta);
  }
  report->gradient_norm = sqrt(vector_dot(n, o->g, o->g));
  return PCSIM_OK;
}

const optimizer_kind optimizer_ssbroyden = {
    "ssbroyden", "self-scaled Broyden with a dense inverse Hessian: networks of up to some 3000 numbers",
    keys,        sizeof keys / sizeof *keys,
    create,      step,
    changed,     state,
    destroy};
