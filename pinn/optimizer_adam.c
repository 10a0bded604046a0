/* SPDX-License-Identifier: BSD-2-Clause */
/** @file optimizer_adam.c  Adam (Kingma, Ba, ICLR 2015): first-order steps, each number scaled by the size of
 * its gradients. A step may raise the loss. */
#include "line_search.h"
#include "optimizer.h"

#include <math.h>

static const pcsim_key keys[] = {
    {"rate", PCSIM_KEY_NUMBER, "1e-3", NULL, "1", "length of a step in each number", 1e-12, 10},
    {"decay", PCSIM_KEY_NUMBER, "5000", NULL, "", "steps in which the rate falls to 0.9 of itself", 1, 1e12},
    {"mean", PCSIM_KEY_NUMBER, "0.9", NULL, "1", "share of the mean gradient that is kept in a step", 0,
     0.9999},
    {"square", PCSIM_KEY_NUMBER, "0.999", NULL, "1", "share of the mean square that is kept in a step", 0,
     0.999999},
};

struct optimizer {
  int64_t n;
  double rate, decay, mean, square;
  double *numbers; /**< steps made, then the two means [n] each */
  double *g;       /**< [n] */
};

static void destroy(optimizer **o) {
  if (!*o) return;
  pcsim_free(&(*o)->numbers);
  pcsim_free(&(*o)->g);
  pcsim_free(o);
}

static pcsim_status create(int64_t n, const double *options, int threads, optimizer **out) {
  (void)threads;
  optimizer *o = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *o, &o));
  o->n = n, o->rate = options[0], o->decay = options[1], o->mean = options[2], o->square = options[3];
  pcsim_status status = pcsim_alloc((size_t)(1 + 2 * n), sizeof *o->numbers, &o->numbers);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)n, sizeof *o->g, &o->g);
  if (status != PCSIM_OK) destroy(&o);
  *out = o;
  return status;
}

static void changed(optimizer *o) { (void)o; }

static void state(optimizer *o, double **numbers, int64_t *n) {
  *numbers = o->numbers;
  *n = 1 + 2 * o->n;
}

static pcsim_status step(optimizer *o, objective *f, double *theta, optimizer_report *report) {
  const int64_t n = o->n;
  double *m = o->numbers + 1, *v = m + n;
  *report = (optimizer_report){.evaluations = 1};
  PCSIM_TRY(f->loss(f, theta, &report->loss, o->g));
  report->gradient_norm = sqrt(vector_dot(n, o->g, o->g));
  report->stalled = !(report->gradient_norm > 0) || !isfinite(report->gradient_norm);
  if (report->stalled) return PCSIM_OK;
  const double t = ++o->numbers[0], rate = o->rate * pow(0.9, t / o->decay);
  const double c1 = 1 - pow(o->mean, t), c2 = 1 - pow(o->square, t);
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    m[i] = o->mean * m[i] + (1 - o->mean) * o->g[i];
    v[i] = o->square * v[i] + (1 - o->square) * o->g[i] * o->g[i];
    const double d = rate * (m[i] / c1) / (sqrt(v[i] / c2) + 1e-8 * report->gradient_norm);
    theta[i] -= d;
    sum += d * d;
  }
  report->radius = sqrt(sum);
  return PCSIM_OK;
}

const optimizer_kind optimizer_adam = {
    "adam",  "first-order steps scaled by the size of gradients: to warm up, and for large networks",
    keys,    sizeof keys / sizeof *keys,
    create,  step,
    changed, state,
    destroy};
