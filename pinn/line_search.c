/* SPDX-License-Identifier: BSD-2-Clause */
#include "line_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

double vector_dot(int64_t n, const double *a, const double *b) {
  double sum[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
  for (; i < n; i++) sum[0] += a[i] * b[i];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

void line_search_count(double loss, double *best, double *idle) {
  if (loss < *best * (1 - 4 * DBL_EPSILON)) *best = loss, *idle = 0;
  else ++*idle;
}

typedef struct {
  double step, loss, slope;
} trial;

/** Least point of the cubic through two trials, kept from their ends; the middle where there is none. */
static double between(const trial *low, const trial *high) {
  const double width = high->step - low->step;
  double at = NAN;
  if (isfinite(high->loss) && isfinite(high->slope)) {
    const double d = low->slope + high->slope - 3 * (high->loss - low->loss) / width;
    const double root = d * d - low->slope * high->slope;
    if (root >= 0) {
      const double r = sqrt(root);
      at = high->step - width * (high->slope + r - d) / (high->slope - low->slope + 2 * r);
    }
  }
  if (!(at > low->step && at < high->step)) at = low->step + 0.5 * width;
  return fmin(fmax(at, low->step + 0.1 * width), high->step - 0.1 * width);
}

static pcsim_status evaluate(objective *f, const line_search *l, trial *t) {
  const int64_t n = f->num_parameters;
  for (int64_t i = 0; i < n; i++) l->theta_new[i] = l->theta[i] + t->step * l->direction[i];
  PCSIM_TRY(f->loss(f, l->theta_new, &t->loss, l->gradient_new));
  t->slope = vector_dot(n, l->direction, l->gradient_new);
  return PCSIM_OK;
}

enum { TOO_FAR, TOO_SHORT, FOUND };
static int judge(const line_search *l, const trial *t) {
  const double armijo = 1e-4, rounding = 16 * DBL_EPSILON * fabs(l->loss);
  if (!isfinite(t->loss) || !isfinite(t->slope)) return TOO_FAR;
  const bool lower = t->loss <= l->loss + armijo * t->step * l->slope;
  const bool level = t->loss <= l->loss + rounding && t->slope <= (2 * armijo - 1) * l->slope;
  if (!lower && !level) return TOO_FAR;
  return t->slope >= l->curvature * l->slope ? FOUND : TOO_SHORT;
}

/** What a spent search gives back: the best trial, or theta itself. */
static void take_best(const line_search *l, const trial *best, int64_t n, line_search_result *out) {
  const bool any = best->step > 0;
  memcpy(l->theta_new, any ? l->theta_best : l->theta, (size_t)n * sizeof *l->theta);
  if (any) memcpy(l->gradient_new, l->gradient_best, (size_t)n * sizeof *l->theta);
  out->step = best->step, out->loss = best->loss, out->wolfe = false;
}

pcsim_status line_search_run(objective *f, const line_search *l, line_search_result *out) {
  const int64_t n = f->num_parameters;
  trial low = {0, l->loss, l->slope}, high = {INFINITY, NAN, NAN}, best = low, t = {.step = l->first};
  *out = (line_search_result){0};
  while (out->evaluations < l->evaluations_max) {
    PCSIM_TRY(evaluate(f, l, &t));
    out->evaluations++;
    const int verdict = judge(l, &t);
    if (verdict == FOUND) {
      out->step = t.step, out->loss = t.loss, out->wolfe = true;
      return PCSIM_OK;
    }
    if (t.loss < best.loss && isfinite(t.slope)) {
      best = t;
      memcpy(l->theta_best, l->theta_new, (size_t)n * sizeof *l->theta);
      memcpy(l->gradient_best, l->gradient_new, (size_t)n * sizeof *l->theta);
    }
    if (verdict == TOO_FAR) high = t;
    else low = t;
    if (isinf(high.step)) t.step = 3 * low.step;
    else if (isfinite(high.loss)) t.step = between(&low, &high);
    else t.step = low.step + 0.1 * (high.step - low.step);
    if (!(t.step > low.step) || high.step - low.step <= DBL_EPSILON * low.step) break;
  }
  take_best(l, &best, n, out);
  return PCSIM_OK;
}
