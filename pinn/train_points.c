/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the points of groups lie, how groups are weighed against each other. */
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CANDIDATES = 8 /* for each adaptive point */ };
/* ---------------------------------------------------------------------------- drawing */

void train_into_span(const pcsim_training *t, const double *span, int64_t n, double *points) {
  const domain_view *d = t->from->problem.domain;
  if (d->time < 0 || t->choice.slabs < 2) return; /* the whole: no rounding */
  const double *range = d->range[d->time];
  const double factor = (span[1] - span[0]) / (range[1] - range[0]);
  for (int64_t i = 0; i < n; i++) {
    double *at = &points[i * d->num_coordinates + d->time];
    *at = span[0] + factor * (*at - range[0]);
  }
}

/* Inside, in the part's span of time. */
static pcsim_status draw_inside(const pcsim_training *t, int region, uint64_t draw, int64_t n,
                                double *points) {
  const uint64_t seed = t->from->options.seed;
  PCSIM_TRY(region < 0 ? domain_draw_inside(t->from->domain, seed, draw, n, points)
                       : regions_draw_inside(t->from->regions, region, seed, draw, n, points));
  train_into_span(t, t->part.time, n, points);
  return PCSIM_OK;
}

static pcsim_status draw_start(const pcsim_training *t, int region, uint64_t draw, int64_t n,
                               double *points) {
  const uint64_t seed = t->from->options.seed;
  return region < 0 ? domain_draw_start(t->from->domain, seed, draw, n, points)
                    : regions_draw_start(t->from->regions, region, seed, draw, n, points);
}

static pcsim_status draw_piece(const pcsim_training *t, int region, int piece, uint64_t draw, int64_t n,
                               double *points, double *normals) {
  const uint64_t seed = t->from->options.seed;
  return region < 0 ? domain_draw_piece(t->from->domain, piece, seed, draw, n, points, normals)
                    : regions_draw_piece(t->from->regions, region, piece, seed, draw, n, points, normals);
}

/* Area of a piece in a region. */
static double own_area(const pcsim_training *t, int region, int piece) {
  const double area = t->from->problem.domain->area[piece];
  return region < 0 ? area : area * regions_share(t->from->regions, region, piece);
}

/* Roots of the weights of points inside, the last of the columns. */
static void weigh_inside(const pcsim_training *t, int64_t n, const double *points, double *columns) {
  const domain_view *d = t->from->problem.domain;
  for (int64_t i = 0; i < n; i++)
    columns[i * (d->num_space + 1) + d->num_space] =
        sqrt(corners_weight_inside(t->from->domain, &t->from->corners, points + i * d->num_coordinates));
}

/* Points on a piece that are denser at corners; columns: normals and roots of weights. */
static pcsim_status corner_points(const pcsim_training *t, int piece, uint64_t draw, int64_t n,
                                  double *points, double *columns) {
  const domain_view *d = t->from->problem.domain;
  const corners *c = &t->from->corners;
  PCSIM_TRY(draw_piece(t, -1, piece, draw, n, points, columns));
  PCSIM_TRY(corners_move_piece(t->from->domain, c, piece, t->from->options.seed, draw, n, points, columns));
  for (int64_t i = n - 1; i >= 0; i--) { /* rows of num_space become rows of one more, from the end */
    double *to = columns + i * (d->num_space + 1);
    memmove(to, columns + i * d->num_space, (size_t)d->num_space * sizeof *to);
    const double *x = points + i * d->num_coordinates;
    to[d->num_space] = sqrt(corners_weight_piece(t->from->domain, c, piece, x) * corners_stress(c, piece, x));
  }
  return PCSIM_OK;
}

/* Points on the pieces of a group's condition, shared out by area. */
static pcsim_status piece_points(const pcsim_training *t, const train_group *g, uint64_t draw, int64_t n,
                                 double *points, double *columns) {
  const domain_view *d = t->from->problem.domain;
  double area = 0, before = 0;
  int64_t at = 0;
  for (int k = 0; k < d->num_pieces; k++)
    if (g->condition->piece[k]) area += own_area(t, g->region, k);
  for (int k = 0; k < d->num_pieces && area > 0; k++) {
    if (!g->condition->piece[k]) continue;
    before += own_area(t, g->region, k);
    const int64_t end = llround((double)n * before / area);
    double *to = points + at * d->num_coordinates;
    if (end > at && train_has_corners(t, g))
      PCSIM_TRY(corner_points(t, k, draw, end - at, to, columns + at * (d->num_space + 1)));
    else if (end > at)
      PCSIM_TRY(draw_piece(t, g->region, k, draw, end - at, to, columns + at * d->num_space));
    at = end;
  }
  return PCSIM_OK;
}

int train_num_columns(const pcsim_training *t, int which) {
  const train_group *g = &t->group[which];
  return g->measured ? g->measured->num_fits : t->from->problem.domain->num_space + train_has_corners(t, g);
}

static void copy_data(const data_view *m, int width, int64_t n, double *points, double *columns) {
  memcpy(points, m->points, (size_t)(n * width) * sizeof *points);
  for (int k = 0; k < m->num_fits; k++)
    for (int64_t i = 0; i < n; i++) columns[i * m->num_fits + k] = m->values[k][i];
}

static pcsim_status interior_points(const pcsim_training *t, int which, uint64_t draw, int64_t n,
                                    double *points, double *columns) {
  const train_group *g = &t->group[which];
  PCSIM_TRY(draw_inside(t, g->region, draw, n, points));
  if (!train_has_corners(t, g)) return PCSIM_OK;
  PCSIM_TRY(corners_move_inside(t->from->domain, &t->from->corners, t->from->options.seed, draw, n, points));
  weigh_inside(t, n, points, columns);
  return PCSIM_OK;
}

pcsim_status train_points(const pcsim_training *t, int which, uint64_t draw, int64_t n, double *points,
                          double *columns) {
  const domain_view *d = t->from->problem.domain;
  const train_group *g = &t->group[which];
  const problem_condition *c = g->condition;
  memset(columns, 0, (size_t)(n * train_num_columns(t, which)) * sizeof *columns);
  if (g->kind == TRAIN_MEASURED) {
    copy_data(g->measured, d->num_coordinates, n, points, columns);
    return PCSIM_OK;
  }
  if (g->kind == TRAIN_INTERIOR || g->kind == TRAIN_SMOOTHNESS)
    return interior_points(t, which, draw, n, points, columns);
  if (train_is_integral(g)) {
    const uint64_t always = sample_draw(SAMPLE_TRAINING, 0);
    return c->piece ? piece_points(t, g, always, n, points, columns)
                    : draw_inside(t, g->region, always, n, points);
  }
  if (g->kind == TRAIN_INTERFACE)
    PCSIM_TRY(regions_draw_interface(t->from->regions, g->interface, t->from->options.seed, draw, n, points,
                                     columns));
  else if (c->place == PLACE_START) PCSIM_TRY(draw_start(t, g->region, draw, n, points));
  else if (c->place == PLACE_PIECES) PCSIM_TRY(piece_points(t, g, draw, n, points, columns));
  if (g->kind == TRAIN_INTERFACE || c->place != PLACE_FIXED) {
    train_into_span(t, t->part.time, n, points);
    return PCSIM_OK;
  }
  PCSIM_TRY(draw_inside(t, g->region, draw, n, points));
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < d->num_coordinates; k++)
      if (c->fixed[k]) points[i * d->num_coordinates + k] = c->at[k];
  return PCSIM_OK;
}

/* A group's columns by their names. */
static groups_columns columns_of(const pcsim_training *t, int which, const double *values) {
  return (groups_columns){train_num_columns(t, which),
                          t->group[which].measured ? t->from->data_name : t->from->normal, values};
}

pcsim_status train_residuals(pcsim_training *t, int which, const double *theta, uint64_t draw, int64_t n,
                             double *residuals) {
  const int width = t->from->problem.domain->num_coordinates;
  double *points = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)(n * (width + train_num_columns(t, which))), sizeof *points, &points));
  const groups_columns columns = columns_of(t, which, points + n * width);
  pcsim_status status = train_points(t, which, draw, n, points, points + n * width);
  if (status == PCSIM_OK) status = groups_residuals(t->groups, which, theta, n, points, &columns, residuals);
  pcsim_free(&points);
  return status;
}

/* n points of interior g where the residuals at t->theta are large, of the candidates of this number. */
static pcsim_status adaptive_points(pcsim_training *t, int g, uint64_t number, int64_t n, double *points) {
  const int width = t->from->problem.domain->num_coordinates, rows = groups_rows(t->groups, g);
  const int64_t from = CANDIDATES * n;
  const int num_columns = train_num_columns(t, g);
  const double *weight = groups_weights(t->groups, g);
  const sample_density density = {1, 1};
  double *room = NULL;
  int64_t *chosen = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)(from * (width + rows + 1 + num_columns)), sizeof *room, &room), status,
             done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *chosen, &chosen), status, done);
  double *candidates = room, *r = room + from * width, *size = r + from * rows, *columns = size + from;
  PCSIM_GOTO(interior_points(t, g, sample_draw(SAMPLE_CANDIDATES, number), from, candidates, columns), status,
             done);
  const groups_columns given = columns_of(t, g, columns);
  PCSIM_GOTO(groups_residuals(t->groups, g, t->theta, from, candidates, &given, r), status, done);
  for (int64_t i = 0; i < from; i++) {
    for (int k = 0; k < rows; k++) size[i] += weight[k] * r[i * rows + k] * r[i * rows + k];
    size[i] = sqrt(size[i]);
  }
  PCSIM_GOTO(sample_choose(candidates, width, size, from, &density, t->from->options.seed, number, n, chosen),
             status, done);
  sample_take(candidates, width, chosen, n, points);
done:
  pcsim_free(&room), pcsim_free(&chosen);
  return status;
}

pcsim_status train_draw(pcsim_training *t, const double *interior) {
  const int width = t->from->problem.domain->num_coordinates;
  const uint64_t draw = sample_draw(SAMPLE_TRAINING, (uint64_t)t->draw);
  for (int g = 0; g < t->num_groups; g++) {
    const int64_t n = t->group[g].n;
    double *points = NULL;
    PCSIM_TRY(pcsim_alloc((size_t)(n * (width + train_num_columns(t, g))), sizeof *points, &points));
    const groups_columns columns = columns_of(t, g, points + n * width);
    pcsim_status status = train_points(t, g, draw, n, points, points + n * width);
    if (t->group[g].kind == TRAIN_INTERIOR && interior) {
      memcpy(points, interior, (size_t)(n * width) * sizeof *points);
      if (train_has_corners(t, &t->group[g])) weigh_inside(t, n, points, points + n * width);
      interior += n * width;
    }
    if (status == PCSIM_OK) status = groups_points(t->groups, g, n, width, points, &columns);
    pcsim_free(&points);
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}

/* Points of all groups whose number is free, times `share`. */
static void multiply_numbers(pcsim_training *t, double share) {
  for (int g = 0; g < t->num_groups; g++)
    if (t->group[g].n > 1 && t->group[g].kind != TRAIN_MEASURED && !train_is_integral(&t->group[g]))
      t->group[g].n = llround(share * (double)t->group[g].n);
}

pcsim_status train_take_points(pcsim_training *t, int64_t n, const double *points) {
  multiply_numbers(t, (double)n / (double)t->group[0].n);
  return train_draw(t, points);
}

pcsim_status train_grow(pcsim_training *t, int64_t n) {
  const int width = t->from->problem.domain->num_coordinates;
  const double share = (double)n / (double)t->group[0].n;
  double *points = NULL;
  int64_t at = 0;
  pcsim_status status = PCSIM_OK;
  for (int g = 0; g < t->num_groups; g++)
    if (t->group[g].kind == TRAIN_INTERIOR) at += llround(share * (double)t->group[g].n);
  PCSIM_TRY(pcsim_alloc((size_t)(at * width), sizeof *points, &points));
  at = 0;
  multiply_numbers(t, share);
  for (int g = 0; g < t->num_groups && status == PCSIM_OK; g++) {
    const double *old;
    const int64_t had = groups_get_points(t->groups, g, &old), more = t->group[g].n;
    if (t->group[g].kind != TRAIN_INTERIOR) continue;
    memcpy(points + at * width, old, (size_t)(had * width) * sizeof *points);
    status = adaptive_points(t, g, (uint64_t)t->step, more - had, points + (at + had) * width);
    at += more;
  }
  if (status == PCSIM_OK) status = train_draw(t, points);
  pcsim_free(&points);
  return status;
}

/* ---------------------------------------------------------------------- loss elsewhere */

/* Mean squares [rows] of residuals r [n][rows] of a group; of an integral the square of the mean. */
static void take_mean_squares(const pcsim_training *t, int g, int64_t n, const double *r, double *squares) {
  const int rows = groups_rows(t->groups, g);
  const bool mean = train_is_integral(&t->group[g]);
  for (int k = 0; k < rows; k++) squares[k] = 0;
  for (int64_t i = 0; i < n * rows; i++) squares[i % rows] += (mean ? r[i] : r[i] * r[i]) / (double)n;
  for (int k = 0; mean && k < rows; k++) squares[k] *= squares[k];
}

/* Those that training does not see, the same at each look. */
static pcsim_status hold_points(pcsim_training *t, int g) {
  train_group *group = &t->group[g];
  const int width = t->from->problem.domain->num_coordinates, columns = train_num_columns(t, g);
  if (group->num_held == group->n) return PCSIM_OK;
  group->num_held = 0;
  PCSIM_TRY(pcsim_realloc((size_t)(group->n * (width + columns + groups_rows(t->groups, g))),
                          sizeof *group->held, &group->held));
  PCSIM_TRY(train_points(t, g, sample_draw(SAMPLE_HELD_OUT, 0), group->n, group->held,
                         group->held + group->n * width));
  group->num_held = group->n;
  return PCSIM_OK;
}

pcsim_status train_held_out(pcsim_training *t, const double *theta, double *loss) {
  const int width = t->from->problem.domain->num_coordinates;
  *loss = 0;
  for (int g = 0; g < t->num_groups; g++) {
    double squares[GROUPS_ROWS_MAX];
    const double *weight = groups_weights(t->groups, g);
    PCSIM_TRY(hold_points(t, g));
    const int64_t n = t->group[g].n;
    double *points = t->group[g].held, *columns = points + n * width,
           *r = columns + n * train_num_columns(t, g);
    const groups_columns beside = columns_of(t, g, columns);
    PCSIM_TRY(groups_residuals(t->groups, g, theta, n, points, &beside, r));
    take_mean_squares(t, g, n, r, squares);
    for (int k = 0; k < groups_rows(t->groups, g); k++) *loss += 0.5 * weight[k] * squares[k];
  }
  return PCSIM_OK;
}

pcsim_status train_judge_best(pcsim_training *t) {
  objective *o = groups_objective(t->groups);
  PCSIM_TRY(o->loss(o, t->best, &t->best_loss, NULL));
  return train_held_out(t, t->best, &t->best_held_out);
}

pcsim_status train_fresh_squares(pcsim_training *t, int g, double *squares) {
  enum { POINTS = 4096 };
  const int rows = groups_rows(t->groups, g);
  const int64_t n = t->group[g].n > 1 && t->group[g].kind != TRAIN_MEASURED ? POINTS : t->group[g].n;
  double of[GROUPS_ROWS_MAX], *r = NULL;
  *squares = 0;
  PCSIM_TRY(pcsim_alloc((size_t)(n * rows), sizeof *r, &r));
  const pcsim_status status = train_residuals(t, g, t->best, sample_draw(SAMPLE_FRESH, 0), n, r);
  take_mean_squares(t, g, n, r, of);
  for (int k = 0; k < rows; k++) *squares += of[k];
  pcsim_free(&r);
  return status;
}

/* Numbers: groups of slabs that are done first, then others of now. */
pcsim_status pcsim_training_residual(pcsim_training *t, int which, const char **name, double *norm) {
  const train_measure *m = which < t->num_measures ? &t->measure[which] : NULL;
  const double length = m ? t->part.time[1] - t->part.time[0] : 1;
  double sum = m ? m->squares : 0, over = m ? m->length : 0;
  if (m) *name = m->name;
  for (int g = 0, other = t->num_measures; g < t->num_groups; g++) {
    double squares;
    const bool known = train_find_measure(t, t->group[g].name) != NULL;
    if (m ? strcmp(m->name, t->group[g].name) != 0 : known || other++ != which) continue;
    PCSIM_TRY(train_fresh_squares(t, g, &squares));
    if (!m) *name = t->group[g].name;
    sum += length * squares, over += length;
  }
  *norm = sqrt(sum / over);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------------ weights */

/* Trace of the interior of a region, of those of all groups. */
static double interior_trace(const pcsim_training *t, const double *of, int region) {
  for (int g = 0; g < t->num_groups; g++)
    if (t->group[g].kind == TRAIN_INTERIOR && t->group[g].region == region) return of[g];
  return of[0];
}

/* What a row of a group is weighed against. Conditions of a region: its interior. Between two regions an
 * error of the values acts on the one that conducts less as that much more of its residual, an error of the
 * fluxes on the other one: values count as much as the lesser interior, fluxes as the greater. */
static double weighed_against(const pcsim_training *t, const double *of, int g, int row) {
  const train_group *a = &t->group[g];
  if (a->kind != TRAIN_INTERFACE) return interior_trace(t, of, a->region);
  const region_interface *i = &regions_get(t->from->regions)->interface[a->interface];
  const double one = interior_trace(t, of, i->inner), other = interior_trace(t, of, i->outer);
  return train_is_flux(t, row) ? fmax(one, other) : fmin(one, other);
}

/* A penalised row counts as much as the interior in the trace of J^T J: what a step of the weights changes in
 * the one it changes in the other (Wang, Yu, Perdikaris 2022, with the mean squares of the rows). Interiors
 * of regions keep the weight 1: their residuals are sources of one unit, whatever the material.
 * Noise has its own weights. */
pcsim_status train_balance(pcsim_training *t, bool quiet) {
  double traces[GROUPS_ROWS_MAX], *interior = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)t->num_groups, sizeof *interior, &interior));
  for (int g = 0; g < t->num_groups && status == PCSIM_OK; g++) {
    if (t->group[g].kind != TRAIN_INTERIOR) continue;
    status = groups_traces(t->groups, g, t->theta, traces);
    for (int k = 0; k < groups_rows(t->groups, g); k++) interior[g] += traces[k];
  }
  for (int g = 0; g < t->num_groups && status == PCSIM_OK; g++) {
    double weights[GROUPS_ROWS_MAX];
    bool known = false;
    if (t->group[g].kind == TRAIN_INTERIOR) continue;
    status = train_noise_weights(t, g, weights, &known);
    if (status == PCSIM_OK && !known) status = groups_traces(t->groups, g, t->theta, traces);
    for (int k = 0; k < groups_rows(t->groups, g) && status == PCSIM_OK; k++) {
      const double against = weighed_against(t, interior, g, k);
      if (!known) weights[k] = traces[k] > 0 && isfinite(against / traces[k]) ? against / traces[k] : 1;
      if (!quiet)
        pcsim_log(PCSIM_LOG_INFO, "weight of %s%s: %.3g", t->group[g].name,
                  groups_rows(t->groups, g) > 1 ? " (one of several)" : "", weights[k]);
    }
    if (status == PCSIM_OK) groups_weight(t->groups, g, weights);
  }
  pcsim_free(&interior);
  return status;
}

/* ------------------------------------------------------------------------- what went wrong */

/* Of an interior at points that are there. */
static pcsim_status interior_residuals(pcsim_training *t, int which, const double *theta, int64_t n,
                                       const double *points, double *residuals) {
  double *columns = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)(n * train_num_columns(t, which)), sizeof *columns, &columns));
  if (train_has_corners(t, &t->group[which])) weigh_inside(t, n, points, columns);
  const groups_columns given = columns_of(t, which, columns);
  pcsim_status status = groups_residuals(t->groups, which, theta, n, points, &given, residuals);
  pcsim_free(&columns);
  return status;
}

bool train_find_bad(pcsim_training *t, const double *theta, char *text, size_t size) {
  const domain_view *d = t->from->problem.domain;
  for (int g = 0; g < t->num_groups; g++) {
    const double *points;
    const int rows = groups_rows(t->groups, g);
    const int64_t n = groups_get_points(t->groups, g, &points);
    double *r = NULL;
    if (pcsim_alloc((size_t)(n * rows), sizeof *r, &r) != PCSIM_OK) return false;
    /* interiors have no normals; others are drawn again, to have theirs */
    pcsim_status status =
        t->group[g].kind != TRAIN_INTERIOR
            ? train_residuals(t, g, theta, sample_draw(SAMPLE_TRAINING, (uint64_t)t->draw), n, r)
            : interior_residuals(t, g, theta, n, points, r);
    int64_t bad = 0;
    while (status == PCSIM_OK && bad < n * rows && isfinite(r[bad])) bad++;
    pcsim_free(&r);
    if (status != PCSIM_OK) pcsim_error_clear();
    if (status != PCSIM_OK || bad == n * rows) continue;
    size_t used = (size_t)snprintf(text, size, "the residual of %s is no number at (", t->group[g].name);
    for (int k = 0; k < d->num_coordinates && used < size; k++)
      used += (size_t)snprintf(text + used, size - used, "%s%s = %.6g", k ? ", " : "", d->coordinate[k],
                               points[bad / rows * d->num_coordinates + k]);
    if (used < size) snprintf(text + used, size - used, ")");
    return true;
  }
  return false;
}
