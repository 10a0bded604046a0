/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_index.c  Which Taylor coefficients a transform needs: multi-indices and how they split. */
#include "transform.h"

#include <string.h>

static pcsim_status term_alloc(forward_index *index, int num_terms) {
  PCSIM_TRY(pcsim_alloc((size_t)num_terms, sizeof *index->terms, &index->terms));
  index->num_terms = num_terms;
  return PCSIM_OK;
}

/** Order k along direction j splits into i and k - i of the same. */
static pcsim_status lane_term(forward_term *term, int order, int j, int k, double weight) {
  term->weight = weight;
  term->factor = PCSIM_NO_VALUE;
  term->divisor = k;
  PCSIM_TRY(pcsim_alloc((size_t)(k - 1), sizeof *term->splits, &term->splits));
  for (int i = 1; i < k; i++)
    term->splits[term->num_splits++] = (forward_split){j * order + i - 1, j * order + k - i - 1, i};
  return PCSIM_OK;
}

pcsim_status forward_lanes(pcsim_program *p, int order, int directions, bool collapsed, const double *weights,
                           forward *f) {
  *f = (forward){.p = p, .order = order};
  PCSIM_TRY(pcsim_alloc((size_t)order * (size_t)directions + collapsed, sizeof *f->indices, &f->indices));
  f->num = order * directions + collapsed;
  for (int j = 0; j < directions; j++)
    for (int k = 1; k <= order; k++) {
      forward_index *index = &f->indices[j * order + k - 1];
      index->wanted = !collapsed || k < order;
      PCSIM_TRY(term_alloc(index, 1));
      PCSIM_TRY(lane_term(&index->terms[0], order, j, k, 1));
    }
  if (!collapsed) return PCSIM_OK;
  forward_index *sum = &f->indices[f->num - 1];
  sum->wanted = true;
  PCSIM_TRY(term_alloc(sum, directions));
  for (int j = 0; j < directions; j++)
    PCSIM_TRY(lane_term(&sum->terms[j], order, j, order, weights ? weights[j] : 1));
  return PCSIM_OK;
}

/* ------------------------------------------------------------ multi-indices */

static int total(const int *a, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += a[i];
  return sum;
}

/** Go through 0 <= b <= a. False: that was the last. */
static bool next(const int *a, int *b, int n) {
  for (int i = 0; i < n; i++) {
    if (++b[i] <= a[i]) return true;
    b[i] = 0;
  }
  return false;
}

int forward_place(const forward *f, const int *a) {
  const size_t bytes = (size_t)f->variables * sizeof *a;
  for (int i = 0; i < f->num_multi; i++)
    if (!memcmp(f->multi + i * f->variables, a, bytes)) return i;
  return -1;
}

/** Add all multi-indices up to `a` but 0; `b`: work space. */
static pcsim_status closure(forward *f, const int *a, int *b) {
  const size_t bytes = (size_t)f->variables * sizeof *a;
  memset(b, 0, bytes);
  while (next(a, b, f->variables)) {
    if (forward_place(f, b) >= 0) continue;
    PCSIM_TRY(pcsim_realloc((size_t)(f->num_multi + 1) * (size_t)f->variables, sizeof *f->multi, &f->multi));
    memcpy(f->multi + f->num_multi++ * f->variables, b, bytes);
  }
  return PCSIM_OK;
}

/** The variable with the least order in `a`: its chain rule has the fewest products. */
static int pivot(const int *a, int n) {
  int best = -1;
  for (int i = 0; i < n; i++)
    if (a[i] && (best < 0 || a[i] < a[best])) best = i;
  return best;
}

static pcsim_status multi_term(const forward *f, const int *a, forward_weight weight, int *b,
                               forward_term *term) {
  const int n = f->variables, i = pivot(a, n);
  int count = 1;
  for (int j = 0; j < n; j++) count *= a[j] + 1;
  term->weight = weight.number;
  term->factor = weight.value;
  term->divisor = a[i];
  PCSIM_TRY(pcsim_alloc((size_t)count, sizeof *term->splits, &term->splits));
  int *c = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *c, &c));
  memset(b, 0, (size_t)n * sizeof *b);
  while (next(a, b, n)) {
    for (int j = 0; j < n; j++) c[j] = a[j] - b[j];
    if (total(c, n))
      term->splits[term->num_splits++] = (forward_split){forward_place(f, b), forward_place(f, c), b[i]};
  }
  pcsim_free(&c);
  return PCSIM_OK;
}

static double factorials(const int *a, int n) {
  double product = 1;
  for (int i = 0; i < n; i++)
    for (int j = 2; j <= a[i]; j++) product *= j;
  return product;
}

static pcsim_status multi_indices(forward *f, const int *orders, int n, const forward_weight *weights,
                                  int *b) {
  for (int i = 0; i < n; i++) PCSIM_TRY(closure(f, orders + i * f->variables, b));
  const int count = f->num_multi + (weights ? 1 : 0);
  PCSIM_TRY(pcsim_alloc((size_t)count, sizeof *f->indices, &f->indices));
  f->num = count;
  for (int i = 0; i < f->num_multi; i++) {
    const int *a = f->multi + i * f->variables;
    if (total(a, f->variables) > f->order) f->order = total(a, f->variables);
    PCSIM_TRY(term_alloc(&f->indices[i], 1));
    PCSIM_TRY(multi_term(f, a, (forward_weight){1, PCSIM_NO_VALUE}, b, &f->indices[i].terms[0]));
    f->indices[i].wanted = !weights;
  }
  if (!weights) return PCSIM_OK;
  /* Apart from the sum only what its members split into is needed. */
  forward_index *sum = &f->indices[f->num_multi];
  sum->wanted = true;
  PCSIM_TRY(term_alloc(sum, n));
  for (int i = 0; i < n; i++) {
    const int *a = orders + i * f->variables;
    forward_term *term = &sum->terms[i];
    if (!total(a, f->variables)) {
      term->factor = PCSIM_NO_VALUE;
      term->divisor = 1; /* the value itself: no derivative, added by the caller */
      continue;
    }
    const forward_weight weight = {weights[i].number * factorials(a, f->variables), weights[i].value};
    PCSIM_TRY(multi_term(f, a, weight, b, term));
    for (int j = 0; j < term->num_splits; j++) f->indices[term->splits[j].left].wanted = true;
  }
  return PCSIM_OK;
}

pcsim_status forward_multi(pcsim_program *p, int variables, const int *orders, int n,
                           const forward_weight *weights, forward *f) {
  *f = (forward){.p = p, .variables = variables};
  int *b = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)variables, sizeof *b, &b));
  pcsim_status status = multi_indices(f, orders, n, weights, b);
  pcsim_free(&b);
  return status;
}
