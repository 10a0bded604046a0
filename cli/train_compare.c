/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train_compare.c  Errors of what is trained against its references. */
#include "train_reference.h"

#include <math.h>
#include <string.h>

/* Points that expressions are compared at, and how many of them, or of the values of a table or a run, at a
 * look on the way. */
enum { NUM_POINTS = 20000, LOOK_POINTS = 2000, BLOCK = 200 };

static bool is_table(const train_field *f) { return !f->expr && !f->solution; }

static double value_at(const train_field *f, const double *x) {
  return f->solution ? f->solution->value(x, f->nu) : pcsim_expr_eval(f->expr, x);
}

/* What looks see; the error of the whole may be another where few points hold much of it. */
static void log_looks(const cli_train_references *r) {
  for (int i = 0; i < r->num; i++) {
    const int64_t all = is_table(&r->field[i]) ? r->field[i].table.rows : NUM_POINTS;
    if (all > LOOK_POINTS)
      pcsim_log(PCSIM_LOG_INFO, "%s: of %d of %lld points on the way, of all at the end",
                r->quantity[r->field[i].quantity].name, LOOK_POINTS, (long long)all);
  }
}

/* Is an unknown compared whose level is a function of time and inputs? */
static bool has_level(const cli_train_references *r, const pcsim_training_view *v) {
  bool any = false;
  for (int i = 0; i < r->num; i++) any = any || v->gauge[r->field[i].part[0]];
  return any && v->num_coordinates > v->num_space;
}

/* Means over space need points of one time and of one set of inputs: those of the first point of each block.
 */
static void make_blocks(const pcsim_training_view *v, double *points) {
  const size_t d = (size_t)v->num_coordinates, space = (size_t)v->num_space;
  for (size_t i = 0; i < NUM_POINTS; i++)
    memcpy(points + i * d + space, points + i / BLOCK * BLOCK * d + space, (d - space) * sizeof *points);
}

/* Points that all expressions are compared at, with the exact values: made once. */
static pcsim_status make_points(cli_train_references *r, pcsim_training *t) {
  const pcsim_training_view *v = pcsim_training_get(t);
  if (r->points) return PCSIM_OK;
  log_looks(r);
  PCSIM_TRY(pcsim_alloc((size_t)NUM_POINTS * (size_t)v->num_coordinates, sizeof *r->points, &r->points));
  PCSIM_TRY(pcsim_alloc((size_t)NUM_POINTS * (size_t)v->num_unknowns, sizeof *r->values, &r->values));
  PCSIM_TRY(pcsim_alloc((size_t)NUM_POINTS * (size_t)r->num, sizeof *r->exact, &r->exact));
  PCSIM_TRY(pcsim_training_points(t, 0, NUM_POINTS, r->points));
  if (has_level(r, v)) make_blocks(v, r->points);
  for (int i = 0; i < r->num; i++)
    for (int64_t k = 0; !is_table(&r->field[i]) && k < NUM_POINTS; k++)
      r->exact[(int64_t)i * NUM_POINTS + k] = value_at(&r->field[i], r->points + k * v->num_coordinates);
  return PCSIM_OK;
}

/* Sums over points for an error. */
typedef struct {
  double difference, size, weight;
} sums;

/* What one unknown is compared at: n points, those of one time and one set of inputs in a row. */
typedef struct {
  const double *points; /* [n][num_coordinates] */
  const double *exact;  /* [n] */
  const double *values; /* [n][num_unknowns], from the unknown on */
  const double *weight; /* [n]; NULL: 1 */
} compared;

/* Points first .. end - 1: without the means where the unknown has no level. */
static void add_range(const compared *c, const pcsim_training_view *v, bool gauge, int64_t first, int64_t end,
                      sums *s) {
  const int stride = v->num_unknowns;
  double mean[2] = {0, 0}, all = 0;
  for (int64_t k = first; k < end; k++) {
    const double w = c->weight ? c->weight[k] : 1;
    all += w;
    if (gauge) mean[0] += w * c->exact[k], mean[1] += w * c->values[k * stride];
  }
  s->weight += all;
  for (int64_t k = first; k < end; k++) {
    const double w = c->weight ? c->weight[k] : 1;
    const double e = c->exact[k] - mean[0] / all, u = c->values[k * stride] - mean[1] / all;
    s->difference += w * (u - e) * (u - e), s->size += w * e * e;
  }
}

static void add_sums(const compared *c, const pcsim_training_view *v, bool gauge, int64_t n, sums *s) {
  const size_t d = (size_t)v->num_coordinates, space = (size_t)v->num_space;
  int64_t first = 0;
  for (int64_t k = 1; gauge && k < n; k++) {
    const double *x = c->points + (size_t)k * d + space;
    if (!memcmp(x, x - d, (d - space) * sizeof *x)) continue;
    add_range(c, v, gauge, first, k, s);
    first = k;
  }
  add_range(c, v, gauge, first, n, s);
}

/* Root mean square of the difference, over that of the exact values where these are not zero. */
static double error_of(const sums *s, bool absolute) {
  if (absolute || s->size == 0) return sqrt(s->difference / s->weight);
  return sqrt(s->difference / s->size);
}

/* Row k of the n rows of a table that are compared: of all, or at a look one of each of n parts of equal
 * length, the same at all looks. Each row is as likely as any other, also where rows go along the lines of a
 * mesh. */
static int64_t row_of(const train_table *table, int64_t n, int64_t k) {
  if (n == table->rows) return k;
  const double at = (double)k + pcsim_random_uniform(1, 0, (uint64_t)k);
  const int64_t row = (int64_t)(at * ((double)table->rows / (double)n));
  return row < table->rows ? row : table->rows - 1;
}

/* At all points of a table, or at some of them. */
static pcsim_status compare_table(cli_train_references *r, const train_field *f, pcsim_training *t,
                                  bool whole, double *error) {
  const pcsim_training_view *v = pcsim_training_get(t);
  const train_table *table = &f->table;
  const int d = v->num_coordinates, m = v->num_unknowns;
  const int64_t n = whole || table->rows <= LOOK_POINTS ? table->rows : LOOK_POINTS, room = n * (d + m + 2);
  sums s = {0};
  if (room > r->num_room) {
    PCSIM_TRY(pcsim_realloc((size_t)room, sizeof *r->room, &r->room));
    r->num_room = room;
  }
  double *points = r->room, *values = points + n * d, *exact = values + n * m, *weight = exact + n;
  for (int64_t k = 0; k < n; k++) {
    const int64_t row = row_of(table, n, k);
    memcpy(points + k * d, table->points + row * d, (size_t)d * sizeof *points);
    weight[k] = table->weight ? table->weight[row] : 1;
  }
  PCSIM_TRY(pcsim_training_evaluate(t, n, points, values, NULL));
  for (int i = 0; i < f->num_parts; i++) {
    for (int64_t k = 0; k < n; k++) exact[k] = table->values[i * table->rows + row_of(table, n, k)];
    const compared c = {points, exact, values + f->part[i], weight};
    add_sums(&c, v, v->gauge[f->part[i]], n, &s);
  }
  *error = error_of(&s, f->absolute);
  return PCSIM_OK;
}

static void compare_values(cli_train_references *r) {
  const pcsim_quantity *q;
  (void)cli_train_monitors_quantities(r->monitors, &q);
  for (int i = 0; i < r->num_valued; i++) {
    pcsim_comparison *c = &r->comparison[r->valued[i].comparison];
    c->value = q[r->valued[i].monitored].value;
    c->error = fabs(c->value - c->reference) / (c->absolute ? 1 : fabs(c->reference));
    c->met = c->error <= c->tolerance;
  }
}

pcsim_status cli_train_references_compare(cli_train_references *r, pcsim_training *t, bool whole) {
  const pcsim_training_view *v = pcsim_training_get(t);
  if (!r) return PCSIM_OK;
  compare_values(r);
  if (!r->num) return PCSIM_OK;
  PCSIM_TRY(make_points(r, t));
  const int64_t n = whole ? NUM_POINTS : LOOK_POINTS; /* the first points of a draw are spread evenly too */
  PCSIM_TRY(pcsim_training_evaluate(t, n, r->points, r->values, NULL));
  for (int i = 0; i < r->num; i++) {
    train_field *f = &r->field[i];
    double error = NAN;
    if (is_table(f)) {
      PCSIM_TRY(compare_table(r, f, t, whole, &error));
    } else {
      sums s = {0};
      const compared c = {r->points, r->exact + (int64_t)i * NUM_POINTS, r->values + f->part[0], NULL};
      add_sums(&c, v, v->gauge[f->part[0]], n, &s);
      error = error_of(&s, f->absolute);
    }
    r->quantity[f->quantity].value = error;
    if (f->comparison < 0) continue;
    pcsim_comparison *c = &r->comparison[f->comparison];
    c->value = c->error = error;
    c->met = error <= c->tolerance;
  }
  return PCSIM_OK;
}
