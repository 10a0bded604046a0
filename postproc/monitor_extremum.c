/* SPDX-License-Identifier: BSD-2-Clause */
/* Extrema of an expression of the fields along a line, finer than the cells.
 *
 * The line is sampled densely. The fits of neighbouring cells differ by their third-order errors, so the
 * samples jump a little from cell to cell; a polynomial of degree four over two cells on either side of the
 * largest sample smooths the jumps, and its own largest value is taken. */
#include "monitor.h"

#include <math.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))
enum { DEGREE = 4, TERMS = DEGREE + 1 };

static const pcsim_key extremum_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "extremum", 0, 0},
    {"of", PCSIM_KEY_EXPRESSION, NULL, "", "",
     "expression in the unknowns (u, v, w, p), x, y, z and the parameters", 0, 0},
    {"along", PCSIM_KEY_MAPPING, NULL, "", "m", "the line, {from: [x, y], to: [x, y], count}", 0, 0},
};
static const pcsim_key along_keys[] = {
    {"from", PCSIM_KEY_SEQUENCE, NULL, "", "m", "first point", 0, 0},
    {"to", PCSIM_KEY_SEQUENCE, NULL, "", "m", "last point", 0, 0},
    {"count", PCSIM_KEY_INTEGER, "2001", "", "", "number of samples; several in each cell", 16, 100000},
};

typedef struct {
  pcsim_expr *of;
  double length;
  double *sample;   /* [num_points] */
  double *argument; /* [num_fields + 3] */
} extremum;

/* Of a field alone; an expression may be of any unit. */
static const char *unit_of(const pcsim_monitors *monitors, const pcsim_expr *of) {
  const pcsim_expr_node *root = pcsim_expr_root(of);
  const int num = monitors->num_fields;
  for (int i = 0; root->kind == PCSIM_EXPR_NAME && i < num + 3; ++i)
    if (pcsim_expr_uses(of, i)) return i < num ? monitors->field[i].unit : "m";
  return "";
}

static bool read_of(pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m, pcsim_expr **of) {
  static const char *const places[3] = {"x", "y", "z"};
  const char **names = NULL;
  const int num = monitors->num_fields;
  if (pcsim_alloc((size_t)num + 3, sizeof *names, &names) != PCSIM_OK) return false;
  for (int i = 0; i < num + 3; ++i) names[i] = i < num ? monitors->field[i].name : places[i - num];
  const bool good = pcsim_node_as_expr(tree, pcsim_node_get(m->node, "of"), names, num + 3, of);
  pcsim_free(&names);
  return good;
}

static pcsim_status read_extremum(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  double from[3], to[3], along[3], point[3];
  int64_t count = 2001;
  pcsim_node *line = pcsim_node_get(m->node, "along");
  PCSIM_TRY(pcsim_alloc(1, sizeof(extremum), &m->data));
  extremum *e = m->data;
  PCSIM_TRY(pcsim_alloc((size_t)monitors->num_fields + 3, sizeof(double), &e->argument));
  if (!read_of(tree, monitors, m, &e->of)) return PCSIM_OK;
  size_t before = pcsim_tree_num_problems(tree);
  pcsim_node_check(tree, line, along_keys, NUM(along_keys), "along");
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  pcsim_node_integer(tree, line, "count", &count);
  bool good = monitor_read_vector(tree, monitors, line, "from", from);
  if (!monitor_read_vector(tree, monitors, line, "to", to) || !good) return PCSIM_OK;
  for (int i = 0; i < 3; ++i) along[i] = to[i] - from[i];
  e->length = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
  if (!(e->length > 0.0)) {
    pcsim_tree_problem(tree, line, "`from` and `to` of `%s` are the same point", m->name);
    return PCSIM_OK;
  }
  for (int i = 0; i < 3; ++i) along[i] /= e->length;
  for (int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) point[k] = from[k] + e->length * along[k] * (double)i / (double)(count - 1);
    PCSIM_TRY(sampler_add(monitors->samples, point, along, pcsim_node_get(line, "from")));
  }
  PCSIM_TRY(pcsim_alloc((size_t)count, sizeof(double), &e->sample));
  const char *unit = unit_of(monitors, e->of);
  PCSIM_TRY(monitor_add_quantity(monitors, m, unit, ".min"));
  PCSIM_TRY(monitor_add_quantity(monitors, m, unit, ".max"));
  PCSIM_TRY(monitor_add_quantity(monitors, m, "m", ".min.at"));
  return monitor_add_quantity(monitors, m, "m", ".max.at");
}

static double polynomial(const double *c, double t) {
  double sum = 0.0;
  for (int k = DEGREE; k >= 0; --k) sum = sum * t + c[k];
  return sum;
}

/* Least-squares polynomial in t over samples first..last, t = (i - middle)/scale; normal equations by
 * Cholesky (five terms on [-1, 1] are harmless). False if they are singular. */
static bool fit_polynomial(const double *sample, int64_t first, int64_t last, double middle, double scale,
                           double *c) {
  double a[TERMS][TERMS] = {{0}}, b[TERMS] = {0};
  for (int64_t i = first; i <= last; ++i) {
    double t[TERMS] = {1.0};
    for (int k = 1; k < TERMS; ++k) t[k] = t[k - 1] * ((double)i - middle) / scale;
    for (int k = 0; k < TERMS; ++k) {
      b[k] += t[k] * sample[i];
      for (int j = 0; j <= k; ++j) a[k][j] += t[k] * t[j];
    }
  }
  for (int k = 0; k < TERMS; ++k)
    for (int j = 0; j <= k; ++j) {
      for (int i = 0; i < j; ++i) a[k][j] -= a[k][i] * a[j][i];
      if (j < k) a[k][j] /= a[j][j];
      else if (a[k][k] > 1e-14) a[k][k] = sqrt(a[k][k]);
      else return false;
    }
  for (int k = 0; k < TERMS; ++k) {
    for (int i = 0; i < k; ++i) b[k] -= a[k][i] * b[i];
    b[k] /= a[k][k];
  }
  for (int k = TERMS - 1; k >= 0; --k) {
    for (int i = k + 1; i < TERMS; ++i) b[k] -= a[i][k] * b[i];
    b[k] /= a[k][k];
  }
  memcpy(c, b, sizeof b);
  return true;
}

/* Largest value of sign * polynomial on [low, high]: scan, then golden section between the neighbours. */
static double polynomial_peak(const double *c, double sign, double low, double high) {
  enum { SCAN = 64 };
  int best = 0;
  for (int i = 1; i <= SCAN; ++i)
    if (sign * polynomial(c, low + (high - low) * i / SCAN) >
        sign * polynomial(c, low + (high - low) * best / SCAN))
      best = i;
  double a = low + (high - low) * fmax(best - 1, 0) / SCAN,
         b = low + (high - low) * fmin(best + 1, SCAN) / SCAN;
  const double golden = 0.6180339887498949;
  for (int step = 0; step < 60; ++step) {
    double x = b - golden * (b - a), y = a + golden * (b - a);
    if (sign * polynomial(c, x) > sign * polynomial(c, y)) b = y;
    else a = x;
  }
  double inner = 0.5 * (a + b);
  if (sign * polynomial(c, low) > sign * polynomial(c, inner)) inner = low;
  if (sign * polynomial(c, high) > sign * polynomial(c, inner)) inner = high;
  return inner;
}

static void find_peak(const pcsim_monitors *monitors, const monitor *m, double sign, double *value,
                      double *at) {
  const extremum *e = m->data;
  int64_t n = m->num_points, best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (sign * e->sample[i] > sign * e->sample[best]) best = i;
  double step = e->length / (double)(n - 1);
  double width = fmax(4.0, 2.0 * sampler_spacing(monitors->samples, m->first_point + best) / step);
  int64_t half = (int64_t)fmin(ceil(width), (double)n), first = best - half, last = best + half;
  if (first < 0) first = 0;
  if (last > n - 1) last = n - 1;
  double c[TERMS], middle = (double)best, scale = (double)half, peak;
  *value = e->sample[best];
  *at = step * (double)best;
  /* At an end of the line the sample itself is the extremum of what the line offers. */
  if (best == 0 || best == n - 1 || !fit_polynomial(e->sample, first, last, middle, scale, c)) return;
  peak = polynomial_peak(c, sign, ((double)first - middle) / scale, ((double)last - middle) / scale);
  *value = polynomial(c, peak);
  *at = step * (middle + scale * peak);
}

static pcsim_status evaluate_extremum(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  (void)fields;
  extremum *e = m->data;
  const size_t num = (size_t)monitors->num_fields;
  double value[2], at[2];
  bool finite = true;
  for (int64_t i = 0; i < m->num_points; ++i) {
    memcpy(e->argument, sampler_values(monitors->samples, m->first_point + i), num * sizeof(double));
    memcpy(e->argument + num, sampler_point(monitors->samples, m->first_point + i), 3 * sizeof(double));
    e->sample[i] = pcsim_expr_eval(e->of, e->argument);
    finite = finite && isfinite(e->sample[i]);
  }
  for (int k = 0; k < 2; ++k) {
    value[k] = at[k] = NAN;
    if (finite) find_peak(monitors, m, k == 0 ? -1.0 : 1.0, &value[k], &at[k]);
    monitor_set(monitors, m, k, value[k]);
    monitor_set(monitors, m, 2 + k, at[k]);
  }
  return PCSIM_OK;
}

static void clear_extremum(monitor *m) {
  extremum *e = m->data;
  pcsim_expr_destroy(&e->of);
  pcsim_free(&e->sample);
  pcsim_free(&e->argument);
}

const monitor_kind monitor_extremum = {
    {"extremum", "smallest and largest value along a line, finer than the cells", extremum_keys,
     NUM(extremum_keys), "NAME.min, NAME.max, and NAME.min.at, NAME.max.at: distances from the first point"},
    read_extremum,
    NULL,
    evaluate_extremum,
    clear_extremum,
    OF_ANY,
    NULL};
