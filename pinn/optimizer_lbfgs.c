/* SPDX-License-Identifier: BSD-2-Clause */
/** @file optimizer_lbfgs.c  Limited-memory BFGS (Liu, Nocedal, Math. Program. 45 (1989)): memory and work
 * grow with the number of parameters, not with its square. */
#include "line_search.h"
#include "optimizer.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const pcsim_key keys[] = {
    {"pairs", PCSIM_KEY_INTEGER, "50", NULL, "", "of steps and changes of the gradient that are kept", 1,
     1000},
    {"curvature", PCSIM_KEY_NUMBER, "0.9", NULL, "1", "share of the slope that a step may leave", 0.01, 0.99},
    {"evaluations", PCSIM_KEY_INTEGER, "30", NULL, "", "of the loss in one line search, at most", 2, 1000},
};

/** Numbers at the start of the state. */
enum { KNOWN, LOSS, PAIRS, NEWEST, BEST, IDLE, NUM_SCALARS };

struct optimizer {
  int64_t n, num_numbers;
  int pairs_max, evaluations_max;
  double curvature;
  double *numbers;
  double *g, *s, *y; /**< [n], [pairs_max][n] each */
  double *memory;
  double *theta_new, *g_new, *theta_best, *g_best, *direction; /**< [n] */
  double *weight;                                              /**< [pairs_max] */
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
  o->n = n, o->pairs_max = (int)options[0], o->curvature = options[1], o->evaluations_max = (int)options[2];
  o->num_numbers = NUM_SCALARS + n * (1 + 2 * (int64_t)o->pairs_max);
  pcsim_status status = pcsim_alloc((size_t)o->num_numbers, sizeof *o->numbers, &o->numbers);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)(5 * n + o->pairs_max), sizeof *o->memory, &o->memory);
  if (status != PCSIM_OK) {
    destroy(&o);
    return status;
  }
  o->g = o->numbers + NUM_SCALARS, o->s = o->g + n, o->y = o->s + n * o->pairs_max;
  double *m = o->memory;
  o->theta_new = m, o->g_new = m + n, o->theta_best = m + 2 * n, o->g_best = m + 3 * n;
  o->direction = m + 4 * n, o->weight = m + 5 * n;
  *out = o;
  return PCSIM_OK;
}

static void changed(optimizer *o) { o->numbers[KNOWN] = o->numbers[IDLE] = 0; }

static void state(optimizer *o, double **numbers, int64_t *n) {
  *numbers = o->numbers;
  *n = o->num_numbers;
}

static void add(int64_t n, double c, const double *x, double *y) {
  for (int64_t i = 0; i < n; i++) y[i] += c * x[i];
}

/** -H g by the two loops over the pairs, from the newest to the oldest and back. */
static void choose_direction(optimizer *o) {
  const int64_t n = o->n, pairs = (int64_t)o->numbers[PAIRS], newest = (int64_t)o->numbers[NEWEST];
  double *d = o->direction;
  for (int64_t i = 0; i < n; i++) d[i] = -o->g[i];
  for (int64_t k = 0; k < pairs; k++) {
    const int64_t at = (newest - k + o->pairs_max) % o->pairs_max;
    const double *s = o->s + at * n, *y = o->y + at * n;
    o->weight[at] = vector_dot(n, s, d) / vector_dot(n, s, y);
    add(n, -o->weight[at], y, d);
  }
  double scale;
  if (pairs) {
    const double *s = o->s + newest * n, *y = o->y + newest * n;
    scale = vector_dot(n, s, y) / vector_dot(n, y, y);
  } else scale = 1 / fmax(1, sqrt(vector_dot(n, o->g, o->g)));
  for (int64_t i = 0; i < n; i++) d[i] *= scale;
  for (int64_t k = pairs - 1; k >= 0; k--) {
    const int64_t at = (newest - k + o->pairs_max) % o->pairs_max;
    const double *s = o->s + at * n, *y = o->y + at * n;
    add(n, o->weight[at] - vector_dot(n, y, d) / vector_dot(n, s, y), s, d);
  }
}

/** Keep the pair of the step that was made, unless it tells nothing about curvature. */
static void keep_pair(optimizer *o, const double *theta) {
  const int64_t n = o->n, at = ((int64_t)o->numbers[NEWEST] + 1) % o->pairs_max;
  double sy = 0, ss = 0, yy = 0;
  for (int64_t i = 0; i < n; i++) {
    const double s = o->theta_new[i] - theta[i], y = o->g_new[i] - o->g[i];
    sy += s * y, ss += s * s, yy += y * y;
  }
  if (!(sy > DBL_EPSILON * sqrt(ss * yy))) return;
  for (int64_t i = 0; i < n; i++) {
    o->s[at * n + i] = o->theta_new[i] - theta[i];
    o->y[at * n + i] = o->g_new[i] - o->g[i];
  }
  o->numbers[NEWEST] = (double)at;
  if (o->numbers[PAIRS] < o->pairs_max) o->numbers[PAIRS]++;
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
  }
  line_search_result found = {0};
  while (isfinite(c[LOSS])) {
    choose_direction(o);
    const double slope = vector_dot(n, o->g, o->direction);
    if (slope < 0) {
      const line_search l = {theta,        o->direction,       c[LOSS],      slope,    1,
                             o->curvature, o->evaluations_max, o->theta_new, o->g_new, o->theta_best,
                             o->g_best};
      PCSIM_TRY(line_search_run(f, &l, &found));
      report->evaluations += found.evaluations;
    }
    /* Pairs that lead nowhere are forgotten: once more along the gradient. */
    if (found.step > 0 || c[PAIRS] == 0) break;
    c[PAIRS] = 0;
  }
  const bool moved = found.step > 0;
  if (moved) line_search_count(found.loss, &c[BEST], &c[IDLE]);
  report->stalled = !moved || c[IDLE] >= LINE_SEARCH_IDLE;
  if (moved) {
    keep_pair(o, theta);
    report->radius = found.step * sqrt(vector_dot(n, o->direction, o->direction));
    memcpy(theta, o->theta_new, (size_t)n * sizeof *theta);
    memcpy(o->g, o->g_new, (size_t)n * sizeof *theta);
    c[LOSS] = found.loss;
  }
  report->loss = c[LOSS];
  report->gradient_norm = sqrt(vector_dot(n, o->g, o->g));
  return PCSIM_OK;
}

const optimizer_kind optimizer_lbfgs = {"lbfgs", "limited-memory BFGS: networks of any size",
                                        keys,    sizeof keys / sizeof *keys,
                                        create,  step,
                                        changed, state,
                                        destroy};
