/* SPDX-License-Identifier: BSD-2-Clause */
/* Quantities over time: extrema with their times, mean, frequency, over a window. */
#include "monitor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A crossing of the middle level counts once the signal has left it by this share of its range. */
static const double HYSTERESIS = 0.1;

/* One quantity as it went: value at time[i * stride]. */
typedef struct {
  const double *time, *value;
  int64_t n;
  int stride;
} course;

static double time_of(const course *c, int64_t i) { return c->time[i * c->stride]; }
static double value_of(const course *c, int64_t i) { return c->value[i * c->stride]; }

/* The vertex of the parabola through three neighbours, where the middle one is an extremum. */
static void vertex(const course *c, int64_t i, double *time, double *value) {
  *time = time_of(c, i), *value = value_of(c, i);
  if (i == 0 || i + 1 == c->n) return;
  const double a = time_of(c, i - 1) - *time, b = time_of(c, i + 1) - *time;
  const double fa = (value_of(c, i - 1) - *value) / a, fb = (value_of(c, i + 1) - *value) / b;
  const double half = (fb - fa) / (b - a); /* half of the second derivative */
  const double slope = fa - half * a, move = -0.5 * slope / half;
  if (!(move > a && move < b)) return;
  *time += move;
  *value += move * (slope + half * move);
}

/* sign 1: the largest, -1: the smallest. */
static void extremum(const course *c, int sign, double *time, double *value) {
  int64_t at = 0;
  for (int64_t i = 1; i < c->n; ++i)
    if (sign * value_of(c, i) > sign * value_of(c, at)) at = i;
  vertex(c, at, time, value);
}

static double mean_of(const course *c) {
  double sum = 0;
  for (int64_t i = 1; i < c->n; ++i)
    sum += 0.5 * (value_of(c, i) + value_of(c, i - 1)) * (time_of(c, i) - time_of(c, i - 1));
  return c->n > 1 ? sum / (time_of(c, c->n - 1) - time_of(c, 0)) : value_of(c, 0);
}

/* Whole periods between the first and the last crossing of the middle level upwards. NaN under two crossings.
 */
static double frequency_of(const course *c, double low, double high) {
  const double middle = 0.5 * (low + high), margin = HYSTERESIS * (high - low);
  double first = NAN, last = NAN, candidate = NAN;
  int64_t periods = -1;
  bool below = false; /* the signal has been well under the level since the last crossing */
  if (!(high > low)) return NAN;
  for (int64_t i = 0; i < c->n; ++i) {
    const double x = value_of(c, i) - middle;
    if (x < -margin) below = true;
    if (i && x >= 0 && value_of(c, i - 1) < middle) {
      const double before = value_of(c, i - 1) - middle;
      candidate = time_of(c, i - 1) - before * (time_of(c, i) - time_of(c, i - 1)) / (x - before);
    }
    if (!(x > margin && below && isfinite(candidate))) continue;
    if (periods < 0) first = candidate;
    last = candidate, below = false, ++periods;
  }
  return periods > 0 ? (double)periods / (last - first) : NAN;
}

/* Of the rows after the beginning of the window; NaN where there are none or one value is none. */
static void statistics_of(course c, double after, double result[PCSIM_NUM_STATISTICS]) {
  for (int i = 0; i < PCSIM_NUM_STATISTICS; ++i) result[i] = NAN;
  int64_t skip = 0;
  while (skip < c.n && time_of(&c, skip) < after) ++skip;
  c.time += skip * c.stride, c.value += skip * c.stride, c.n -= skip;
  for (int64_t i = 0; i < c.n; ++i)
    if (!isfinite(value_of(&c, i))) return;
  if (c.n == 0) return;
  extremum(&c, -1, &result[4], &result[0]);
  extremum(&c, 1, &result[5], &result[1]);
  result[2] = mean_of(&c);
  result[3] = frequency_of(&c, result[0], result[1]);
}

static const char *const suffixes[PCSIM_NUM_STATISTICS] = {"min",       "max",      "mean",
                                                           "frequency", "min.time", "max.time"};

int pcsim_monitors_num_followed(const pcsim_monitors *monitors) { return monitors->num_followed; }

pcsim_status pcsim_monitors_announce_statistics(pcsim_monitors *monitors) {
  for (int q = 0; q < monitors->num_followed; ++q)
    for (int i = 0; i < PCSIM_NUM_STATISTICS; ++i) {
      char name[128];
      const pcsim_quantity base = monitors->quantity[q]; /* the list may move */
      snprintf(name, sizeof name, "%s.%s", base.name, suffixes[i]);
      PCSIM_TRY(pcsim_monitors_put(monitors, name, i < 3 ? base.unit : i == 3 ? "1/s" : "s", NAN));
    }
  return PCSIM_OK;
}

static double window_of(const pcsim_monitors *monitors, int quantity) {
  for (int i = 0; i < monitors->num; ++i) {
    const monitor *m = &monitors->monitor[i];
    if (quantity >= m->first_quantity && quantity < m->first_quantity + m->num_quantities) return m->after;
  }
  return -INFINITY;
}

pcsim_status pcsim_monitors_statistics(pcsim_monitors *monitors, const double *rows, int64_t num_rows,
                                       int num_columns, int time_column, int first_column) {
  for (int q = 0; q < monitors->num_followed; ++q) {
    double result[PCSIM_NUM_STATISTICS];
    if (monitor_is_root(monitors))
      statistics_of((course){rows + time_column, rows + first_column + q, num_rows, num_columns},
                    window_of(monitors, q), result);
    MPI_Bcast(result, PCSIM_NUM_STATISTICS, MPI_DOUBLE, 0, pcsim_mesh_comm(monitors->mesh));
    for (int i = 0; i < PCSIM_NUM_STATISTICS; ++i) {
      char name[128];
      snprintf(name, sizeof name, "%s.%s", monitors->quantity[q].name, suffixes[i]);
      PCSIM_TRY(pcsim_monitors_put(monitors, name, "", result[i]));
    }
  }
  return PCSIM_OK;
}
