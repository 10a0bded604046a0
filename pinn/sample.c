/* SPDX-License-Identifier: BSD-2-Clause */
/* Points by their residuals: systematic sampling along a space-filling curve. */
#include "sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM = 0x60 };

uint64_t sample_draw(sample_purpose purpose, uint64_t number) {
  return (uint64_t)purpose << 36 | (number & 0xFFFFFFFFF);
}

typedef struct {
  uint64_t code;
  int64_t number;
} placed;

static int by_code(const void *a, const void *b) {
  const placed *p = a, *q = b;
  if (p->code != q->code) return p->code < q->code ? -1 : 1;
  return p->number < q->number ? -1 : p->number > q->number;
}

static int by_number(const void *a, const void *b) {
  const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
  return p < q ? -1 : p > q;
}

/** Places of the points along Morton's curve: the bits of their coordinates in turn. */
static void find_order(const double *points, int width, int64_t num, placed *order) {
  const int axes = width < 16 ? width : 16, bits = 60 / axes;
  double low[16], scale[16];
  for (int k = 0; k < axes; k++) {
    double high = -INFINITY;
    low[k] = INFINITY;
    for (int64_t i = 0; i < num; i++) {
      low[k] = fmin(low[k], points[i * width + k]);
      high = fmax(high, points[i * width + k]);
    }
    scale[k] = high > low[k] ? ldexp(1, bits) / (high - low[k]) : 0;
  }
  for (int64_t i = 0; i < num; i++) {
    uint64_t cell[16], code = 0;
    for (int k = 0; k < axes; k++) {
      const double place = (points[i * width + k] - low[k]) * scale[k];
      cell[k] = (uint64_t)fmin(fmax(place, 0), ldexp(1, bits) - 1);
    }
    for (int bit = bits - 1; bit >= 0; bit--)
      for (int k = 0; k < axes; k++) code = code << 1 | (cell[k] >> bit & 1);
    order[i] = (placed){code, i};
  }
  qsort(order, (size_t)num, sizeof *order, by_code);
}

/** Weights [num] of the candidates, 0 where the residual is not finite; their number that is not 0. */
static int64_t find_weights(const double *residual, int64_t num, const sample_density *density,
                            double *weight) {
  double largest = 0, sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < num; i++)
    if (isfinite(residual[i])) largest = fmax(largest, fabs(residual[i])), finite++;
  /* Over the largest one, so that powers neither overflow nor vanish together. */
  for (int64_t i = 0; i < num; i++) {
    weight[i] = isfinite(residual[i]) && largest > 0 ? pow(fabs(residual[i]) / largest, density->power) : 0;
    sum += weight[i];
  }
  for (int64_t i = 0; i < num; i++) {
    if (!isfinite(residual[i])) continue;
    const double part = sum > 0 ? weight[i] / sum * (double)finite : 1;
    weight[i] = fmax(part + density->floor, 1e-300);
  }
  return finite;
}

/** Probabilities: multiples of the weights, at most 1, with the sum n. */
static void find_probabilities(double *weight, int64_t num, int64_t n) {
  double factor = 0, before = -1;
  for (int round = 0; round < 100 && factor != before; round++) {
    double sum = 0, full = 0;
    for (int64_t i = 0; i < num; i++)
      if (factor * weight[i] >= 1) full++;
      else sum += weight[i];
    before = factor;
    if (sum > 0 && (double)n > full) factor = fmax(factor, ((double)n - full) / sum);
  }
  for (int64_t i = 0; i < num; i++) weight[i] = fmin(1, factor * weight[i]);
}

pcsim_status sample_choose(const double *points, int width, const double *residual, int64_t num,
                           const sample_density *density, uint64_t seed, uint64_t draw, int64_t n,
                           int64_t *chosen) {
  double *weight = NULL, sum = pcsim_random_uniform(seed, (uint64_t)STREAM << 56 | draw, 0);
  placed *order = NULL;
  pcsim_status status = PCSIM_OK;
  int64_t got = 0, finite;
  PCSIM_CHECK(n >= 0 && width >= 1, PCSIM_ERR_ARG, "%lld points of %d coordinates", (long long)n, width);
  PCSIM_GOTO(pcsim_alloc((size_t)num, sizeof *weight, &weight), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)num, sizeof *order, &order), status, done);
  finite = find_weights(residual, num, density, weight);
  if (finite < n) {
    status = pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__,
                             "%lld points wanted of %lld, of which %lld have a finite residual", (long long)n,
                             (long long)num, (long long)finite);
    goto done;
  }
  find_probabilities(weight, num, n);
  find_order(points, width, num, order);
  for (int64_t i = 0; i < num && got < n; i++) {
    const double next = sum + weight[order[i].number];
    if (floor(next) > floor(sum)) chosen[got++] = order[i].number;
    sum = next;
  }
  /* Rounding may lose the last one. */
  for (int64_t i = num - 1; i >= 0 && got < n; i--) {
    bool there = !(weight[order[i].number] > 0);
    for (int64_t k = 0; k < got; k++) there = there || chosen[k] == order[i].number;
    if (!there) chosen[got++] = order[i].number;
  }
  qsort(chosen, (size_t)n, sizeof *chosen, by_number);
done:
  pcsim_free(&weight);
  pcsim_free(&order);
  return status;
}

void sample_take(const double *from, int width, const int64_t *chosen, int64_t n, double *to) {
  for (int64_t i = 0; i < n; i++)
    memcpy(to + i * width, from + chosen[i] * width, (size_t)width * sizeof *to);
}
