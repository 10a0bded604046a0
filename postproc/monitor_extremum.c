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

static double slope(const double *c, double t) {
  double sum = 0.0;
  for (int k = DEGREE; k >= 1; --k) sum = sum * t + k * c[k];
  return sum;
}

static double bend(const double *c, double t) {
  double sum = 0.0;
  for (int k = DEGREE; k >= 2; --k) sum = sum * t + k * (k - 1) * c[k];
  return sum;
}

/* Samples first..last, at t = (i - middle)/scale. */
typedef struct {
  int64_t first, last;
  double middle, scale;
} window;

static void powers(const window *w, int64_t i, double *t) {
  t[0] = 1.0;
  for (int k = 1; k < TERMS; ++k) t[k] = t[k - 1] * ((double)i - w->middle) / w->scale;
}

/* c = A^-1 b with the normal equations of the polynomial over a window; by Cholesky (five terms on [-1, 1]
 * are harmless). False if they are singular. */
static bool solve_normal(const window *w, const double *b, double *c) {
  double a[TERMS][TERMS] = {{0}}, t[TERMS];
  for (int64_t i = w->first; i <= w->last; ++i) {
    powers(w, i, t);
    for (int k = 0; k < TERMS; ++k)
      for (int j = 0; j <= k; ++j) a[k][j] += t[k] * t[j];
  }
  for (int k = 0; k < TERMS; ++k)
    for (int j = 0; j <= k; ++j) {
      for (int i = 0; i < j; ++i) a[k][j] -= a[k][i] * a[j][i];
      if (j < k) a[k][j] /= a[j][j];
      else if (a[k][k] > 1e-14) a[k][k] = sqrt(a[k][k]);
      else return false;
    }
  memcpy(c, b, TERMS * sizeof *c);
  for (int k = 0; k < TERMS; ++k) {
    for (int i = 0; i < k; ++i) c[k] -= a[k][i] * c[i];
    c[k] /= a[k][k];
  }
  for (int k = TERMS - 1; k >= 0; --k) {
    for (int i = k + 1; i < TERMS; ++i) c[k] -= a[i][k] * c[i];
    c[k] /= a[k][k];
  }
  return true;
}

/* Least-squares polynomial in t over the samples of a window. */
static bool fit_polynomial(const double *sample, const window *w, double *c) {
  double b[TERMS] = {0}, t[TERMS];
  for (int64_t i = w->first; i <= w->last; ++i) {
    powers(w, i, t);
    for (int k = 0; k < TERMS; ++k) b[k] += t[k] * sample[i];
  }
  return solve_normal(w, b, c);
}

/* Largest value of sign * polynomial on [low, high]: scan, golden section between the neighbours, and
 * Newton's method for what rounding leaves of the place. */
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
  for (int step = 0; step < 3 && sign * bend(c, inner) < 0; ++step) {
    const double next = inner - slope(c, inner) / bend(c, inner);
    if (!(next > low && next < high && fabs(next - inner) < 1e-4 * (high - low))) break;
    inner = next;
  }
  if (sign * polynomial(c, low) > sign * polynomial(c, inner)) inner = low;
  if (sign * polynomial(c, high) > sign * polynomial(c, inner)) inner = high;
  return inner;
}

/* A peak: of the polynomial over a window, or, where `fitted` is false, a sample. */
typedef struct {
  bool fitted;
  int64_t best;
  window w;
  double c[TERMS], t; /* of the place in the window */
  double step;        /* between samples, m */
} peak;

static peak find_peak(const pcsim_monitors *monitors, const monitor *m, double sign) {
  const extremum *e = m->data;
  const int64_t n = m->num_points;
  peak p = {.step = e->length / (double)(n - 1)};
  for (int64_t i = 1; i < n; ++i)
    if (sign * e->sample[i] > sign * e->sample[p.best]) p.best = i;
  double width = fmax(4.0, 2.0 * sampler_spacing(monitors->samples, m->first_point + p.best) / p.step);
  int64_t half = (int64_t)fmin(ceil(width), (double)n), first = p.best - half, last = p.best + half;
  if (first < 0) first = 0;
  if (last > n - 1) last = n - 1;
  p.w = (window){first, last, (double)p.best, (double)half};
  /* At an end of the line the sample itself is the extremum of what the line offers. */
  if (p.best == 0 || p.best == n - 1 || !fit_polynomial(e->sample, &p.w, p.c)) return p;
  p.fitted = true;
  p.t = polynomial_peak(p.c, sign, ((double)first - p.w.middle) / p.w.scale,
                        ((double)last - p.w.middle) / p.w.scale);
  return p;
}

static bool take_samples(const pcsim_monitors *monitors, const monitor *m) {
  extremum *e = m->data;
  const size_t num = (size_t)monitors->num_fields;
  bool finite = true;
  for (int64_t i = 0; i < m->num_points; ++i) {
    memcpy(e->argument, sampler_values(monitors->samples, m->first_point + i), num * sizeof(double));
    memcpy(e->argument + num, sampler_point(monitors->samples, m->first_point + i), 3 * sizeof(double));
    e->sample[i] = pcsim_expr_eval(e->of, e->argument);
    finite = finite && isfinite(e->sample[i]);
  }
  return finite;
}

static pcsim_status evaluate_extremum(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  const extremum *e = m->data;
  const bool finite = take_samples(monitors, m);
  (void)fields;
  for (int k = 0; k < 2; ++k) {
    double value = NAN, at = NAN;
    if (finite) {
      const peak p = find_peak(monitors, m, k == 0 ? -1.0 : 1.0);
      value = p.fitted ? polynomial(p.c, p.t) : e->sample[p.best];
      at = p.step * (p.fitted ? p.w.middle + p.w.scale * p.t : (double)p.best);
    }
    monitor_set(monitors, m, k, value);
    monitor_set(monitors, m, 2 + k, at);
  }
  return PCSIM_OK;
}

/* --------------------------------------------------------------------- backwards */

/* Derivatives of the peak's value, or of its place, by the samples: the coefficients are A^-1 times moments
 * of the samples, and a place where the slope is zero moves by minus its change over the bend. */
static void back_to_samples(const peak *p, bool place, double *seed) {
  double b[TERMS] = {1}, y[TERMS], t[TERMS], factor = 1;
  if (!p->fitted) {
    if (!place) seed[p->best] = 1;
    return;
  }
  const double low = ((double)p->w.first - p->w.middle) / p->w.scale,
               high = ((double)p->w.last - p->w.middle) / p->w.scale;
  if (place && (p->t == low || p->t == high)) return; /* it stays at the end of the window */
  for (int k = 1; k < TERMS; ++k) b[k] = place ? k * pow(p->t, k - 1) : b[k - 1] * p->t;
  if (place) b[0] = 0, factor = -p->step * p->w.scale / bend(p->c, p->t);
  if (!solve_normal(&p->w, b, y)) return;
  for (int64_t i = p->w.first; i <= p->w.last; ++i) {
    powers(&p->w, i, t);
    for (int k = 0; k < TERMS; ++k) seed[i] += factor * y[k] * t[k];
  }
}

/* Room of one pass backwards. */
typedef struct {
  double *seed, *argument, *place, *back, *field_seed;
} back_room;

static pcsim_status make_room(const pcsim_monitors *monitors, const monitor *m, int num, back_room *r) {
  const size_t n = (size_t)m->num_points;
  PCSIM_TRY(pcsim_alloc(n, sizeof(double), &r->seed));
  PCSIM_TRY(pcsim_alloc(n, 3 * sizeof(double), &r->place));
  PCSIM_TRY(pcsim_alloc(n * (size_t)num, sizeof(double), &r->argument));
  PCSIM_TRY(pcsim_alloc(n * (size_t)num, sizeof(double), &r->back));
  return pcsim_alloc(n * (size_t)monitors->num_fields, sizeof(double), &r->field_seed);
}

static void free_room(back_room *r) {
  pcsim_free(&r->seed), pcsim_free(&r->argument), pcsim_free(&r->place), pcsim_free(&r->back);
  pcsim_free(&r->field_seed);
}

/* Every rank has all samples; parameters of the expression count once. */
static pcsim_status through_expression(const pcsim_tree *tree, const pcsim_monitors *monitors,
                                       const monitor *m, int num, const back_room *r, double *own) {
  const int fields = monitors->num_fields;
  const char *const *parameters;
  double *mine = NULL;
  const int num_parameters = pcsim_tree_parameters(tree, &parameters, NULL);
  PCSIM_TRY(pcsim_alloc((size_t)num_parameters, sizeof *mine, &mine));
  for (int64_t i = 0; i < m->num_points; ++i) {
    memcpy(r->place + 3 * i, sampler_point(monitors->samples, m->first_point + i), 3 * sizeof(double));
    memcpy(r->argument + num * i, sampler_values(monitors->samples, m->first_point + i),
           (size_t)fields * sizeof(double));
  }
  const monitor_points points = {m->num_points, r->seed, r->argument, r->place};
  const pcsim_status status = monitor_expression_back(
      tree, monitors, pcsim_node_text(pcsim_node_get(m->node, "of")), &points, r->back, mine);
  for (int i = 0; monitor_is_root(monitors) && i < num_parameters; ++i) own[i] += mine[i];
  for (int64_t i = 0; i < m->num_points; ++i)
    memcpy(r->field_seed + fields * i, r->back + num * i, (size_t)fields * sizeof(double));
  pcsim_free(&mine);
  return status;
}

static pcsim_status back_extremum(const pcsim_tree *tree, pcsim_monitors *monitors, const monitor *m,
                                  int which, const pcsim_fields *fields, pcsim_monitor_functional *f) {
  MPI_Comm comm = pcsim_mesh_comm(monitors->mesh);
  const int num = monitor_num_arguments(monitors, pcsim_mesh_get(monitors->mesh)->dim);
  back_room r = {0};
  pcsim_status status = make_room(monitors, m, num, &r);
  (void)fields;
  if (status == PCSIM_OK && take_samples(monitors, m)) {
    const peak p = find_peak(monitors, m, which % 2 == 0 ? -1.0 : 1.0);
    back_to_samples(&p, which >= 2, r.seed);
    status = through_expression(tree, monitors, m, num, &r, f->own);
  }
  status = pcsim_status_agree(comm, status);
  if (status == PCSIM_OK) status = monitor_points_back(monitors, m, r.field_seed, f);
  free_room(&r);
  return status;
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
    NULL,
    back_extremum};
