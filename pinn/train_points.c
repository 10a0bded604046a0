/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of residuals, where their points lie, how they are weighed against each other. */
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CANDIDATES = 8 /* for each adaptive point */ };
_Static_assert((int)DATA_FITS_MAX <= (int)GROUPS_ROWS_MAX, "a file of measured values is one group");

/* ------------------------------------------------------------------------- making them */

/* Residual of a condition that is not built in. */
static pcsim_status residual_text(const pcsim_training *t, const problem_condition *c, problem_text *text) {
  *text = (problem_text){.node = c->text.node};
  if (c->kind == CONDITION_RESIDUAL) return pcsim_strdup(c->text.text, &text->text);
  const char *u = t->from->problem.unknown[c->unknown];
  if (c->kind == CONDITION_VALUE) return text_format(&text->text, "%s - (%s)", u, c->text.text);
  return text_format(&text->text, "dt(%s) - (%s)", u, c->text.text);
}

/* Lower texts [n], put in the network, add the group. */
static pcsim_status add_group(pcsim_training *t, const char *name, const problem_condition *condition,
                              const data_view *measured, const problem_text *const *texts, int n,
                              int64_t points) {
  pcsim_program *lowered = NULL, *composed = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_realloc((size_t)t->num_groups + 1, sizeof *t->group, &t->group), status, done);
  PCSIM_GOTO(problem_lower(&t->from->problem, texts, n, &lowered), status, done);
  if (!lowered) goto done;
  PCSIM_GOTO(pcsim_lower_compose(lowered, &t->from->problem.names, t->ansatz.fields, &composed), status,
             done);
  PCSIM_GOTO(groups_add(t->groups, name, composed, n, measured != NULL), status, done);
  t->group[t->num_groups] = (train_group){.name = groups_name(t->groups, t->num_groups),
                                          .condition = condition,
                                          .measured = measured,
                                          .n = points};
  t->num_groups++;
done:
  pcsim_program_destroy(&lowered);
  pcsim_program_destroy(&composed);
  return status;
}

/* All conditions of the entry of condition `first` that are not built in. */
static pcsim_status add_entry(pcsim_training *t, int first) {
  const problem *p = &t->from->problem;
  problem_text text[GROUPS_ROWS_MAX];
  const problem_text *list[GROUPS_ROWS_MAX];
  int n = 0;
  pcsim_status status = PCSIM_OK;
  for (int i = first; i < p->num_conditions && status == PCSIM_OK; i++) {
    if (t->ansatz.built[i] || p->condition[i].entry != p->condition[first].entry) continue;
    if (n == GROUPS_ROWS_MAX) {
      pcsim_tree_problem(t->from->tree, p->condition[i].text.node, "more than %d conditions on one place", n);
      break;
    }
    status = residual_text(t, &p->condition[i], &text[n]);
    if (status == PCSIM_OK) list[n] = &text[n], n++;
  }
  const problem_condition *c = &p->condition[first];
  const int time = p->domain->time;
  const bool elsewhere = c->place == PLACE_FIXED && time >= 0 && c->fixed[time] &&
                         (c->at[time] < t->part.time[0] || c->at[time] > t->part.time[1]);
  int64_t points = t->from->options.on > 0 ? t->from->options.on : t->choice.points / 4 + 1;
  if (c->place == PLACE_FIXED) { /* a point alone is one point */
    bool all = true;
    for (int i = 0; i < p->domain->num_coordinates; i++) all = all && c->fixed[i];
    if (all) points = 1;
  }
  if (status == PCSIM_OK && !elsewhere) status = add_group(t, c->name, c, NULL, list, n, points);
  for (int i = 0; i < n; i++) text_clear(&text[i]);
  return status;
}

static pcsim_status add_data(pcsim_training *t, const data_view *d) {
  problem_text text[GROUPS_ROWS_MAX];
  const problem_text *list[GROUPS_ROWS_MAX];
  int n = 0;
  pcsim_status status = PCSIM_OK;
  for (; n < d->num_fits && status == PCSIM_OK; n++) {
    text[n] = (problem_text){.node = d->fit_node[n]};
    status = pcsim_strdup(d->fit[n], &text[n].text);
    list[n] = &text[n];
  }
  if (status == PCSIM_OK) status = add_group(t, d->name, NULL, d, list, n, d->num_points);
  for (int i = 0; i < n; i++) text_clear(&text[i]);
  return status;
}

pcsim_status train_make_groups(pcsim_training *t) {
  const problem *p = &t->from->problem;
  const problem_text *texts[PROBLEM_MAX];
  int done = -1;
  for (int i = 0; i < p->num_equations; i++) texts[i] = &p->equation[i];
  PCSIM_TRY(add_group(t, "interior", NULL, NULL, texts, p->num_equations, t->choice.points));
  for (int i = 0; i < p->num_conditions; i++) {
    if (t->ansatz.built[i] || p->condition[i].entry <= done) continue;
    done = p->condition[i].entry;
    PCSIM_TRY(add_entry(t, i));
  }
  for (int i = 0; data_get(t->from->data, i); i++) PCSIM_TRY(add_data(t, data_get(t->from->data, i)));
  return PCSIM_OK;
}

/* ---------------------------------------------------------------------------- drawing */

/* Points [n] drawn from all of the time come into the part's span. */
static void into_span(const pcsim_training *t, int64_t n, double *points) {
  const domain_view *d = t->from->problem.domain;
  if (d->time < 0 || t->choice.slabs < 2) return; /* the whole: no rounding */
  const double *range = d->range[d->time], *span = t->part.time;
  const double factor = (span[1] - span[0]) / (range[1] - range[0]);
  for (int64_t i = 0; i < n; i++) {
    double *at = &points[i * d->num_coordinates + d->time];
    *at = span[0] + factor * (*at - range[0]);
  }
}

/* Inside, in the part's span of time. */
static pcsim_status inside_points(const pcsim_training *t, uint64_t draw, int64_t n, double *points) {
  PCSIM_TRY(domain_draw_inside(t->from->domain, t->from->options.seed, draw, n, points));
  into_span(t, n, points);
  return PCSIM_OK;
}

/* Points on the pieces of a condition, shared out by area. */
static pcsim_status piece_points(const pcsim_training *t, const problem_condition *c, uint64_t draw,
                                 int64_t n, double *points, double *normals) {
  const domain_view *d = t->from->problem.domain;
  double area = 0, before = 0;
  int64_t at = 0;
  for (int k = 0; k < d->num_pieces; k++) area += c->piece[k] ? d->area[k] : 0;
  for (int k = 0; k < d->num_pieces && area > 0; k++) {
    if (!c->piece[k]) continue;
    before += d->area[k];
    const int64_t end = llround((double)n * before / area);
    if (end > at)
      PCSIM_TRY(domain_draw_piece(t->from->domain, k, t->from->options.seed, draw, end - at,
                                  points + at * d->num_coordinates, normals + at * d->num_space));
    at = end;
  }
  return PCSIM_OK;
}

int train_num_columns(const pcsim_training *t, int which) {
  const data_view *measured = t->group[which].measured;
  return measured ? measured->num_fits : t->from->problem.domain->num_space;
}

static void copy_data(const data_view *m, int width, int64_t n, double *points, double *columns) {
  memcpy(points, m->points, (size_t)(n * width) * sizeof *points);
  for (int k = 0; k < m->num_fits; k++)
    for (int64_t i = 0; i < n; i++) columns[i * m->num_fits + k] = m->values[k][i];
}

pcsim_status train_points(const pcsim_training *t, int which, uint64_t draw, int64_t n, double *points,
                          double *columns) {
  const domain_view *d = t->from->problem.domain;
  const problem_condition *c = t->group[which].condition;
  memset(columns, 0, (size_t)(n * train_num_columns(t, which)) * sizeof *columns);
  if (t->group[which].measured) {
    copy_data(t->group[which].measured, d->num_coordinates, n, points, columns);
    return PCSIM_OK;
  }
  if (!c) return inside_points(t, draw, n, points);
  if (c->place == PLACE_START)
    PCSIM_TRY(domain_draw_start(t->from->domain, t->from->options.seed, draw, n, points));
  if (c->place == PLACE_PIECES) PCSIM_TRY(piece_points(t, c, draw, n, points, columns));
  if (c->place != PLACE_FIXED) {
    into_span(t, n, points);
    return PCSIM_OK;
  }
  PCSIM_TRY(inside_points(t, draw, n, points));
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

/* n interior points where the residuals at t->theta are large, of the candidates of this number. */
static pcsim_status adaptive_points(pcsim_training *t, uint64_t number, int64_t n, double *points) {
  const int width = t->from->problem.domain->num_coordinates, rows = groups_rows(t->groups, 0);
  const int64_t from = CANDIDATES * n;
  const double *weight = groups_weights(t->groups, 0);
  const sample_density density = {1, 1};
  double *room = NULL;
  int64_t *chosen = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)(from * (width + rows + 1)), sizeof *room, &room), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *chosen, &chosen), status, done);
  double *candidates = room, *r = room + from * width, *size = r + from * rows;
  PCSIM_GOTO(inside_points(t, sample_draw(SAMPLE_CANDIDATES, number), from, candidates), status, done);
  PCSIM_GOTO(groups_residuals(t->groups, 0, t->theta, from, candidates, &(groups_columns){0}, r), status,
             done);
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
    if (g == 0 && interior) memcpy(points, interior, (size_t)(n * width) * sizeof *points);
    if (status == PCSIM_OK) status = groups_points(t->groups, g, n, width, points, &columns);
    pcsim_free(&points);
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}

pcsim_status train_grow(pcsim_training *t, int64_t n) {
  const int width = t->from->problem.domain->num_coordinates;
  const double *old, share = (double)n / (double)t->group[0].n;
  const int64_t had = groups_get_points(t->groups, 0, &old);
  double *points = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)(n * width), sizeof *points, &points));
  memcpy(points, old, (size_t)(had * width) * sizeof *points);
  pcsim_status status = adaptive_points(t, (uint64_t)t->step, n - had, points + had * width);
  for (int g = 0; g < t->num_groups; g++)
    if (t->group[g].n > 1 && !t->group[g].measured) t->group[g].n = llround(share * (double)t->group[g].n);
  t->group[0].n = n;
  if (status == PCSIM_OK) status = train_draw(t, points);
  pcsim_free(&points);
  return status;
}

/* ---------------------------------------------------------------------- loss elsewhere */

/* Mean squares [rows] of a group at points of a draw. */
static pcsim_status mean_squares(pcsim_training *t, int g, const double *theta, uint64_t draw, int64_t n,
                                 double *squares) {
  const int rows = groups_rows(t->groups, g);
  double *r = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)(n * rows), sizeof *r, &r));
  pcsim_status status = train_residuals(t, g, theta, draw, n, r);
  for (int k = 0; k < rows; k++) squares[k] = 0;
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < rows; k++) squares[k] += r[i * rows + k] * r[i * rows + k] / (double)n;
  pcsim_free(&r);
  return status;
}

pcsim_status train_held_out(pcsim_training *t, const double *theta, double *loss) {
  *loss = 0;
  for (int g = 0; g < t->num_groups; g++) {
    double squares[GROUPS_ROWS_MAX];
    const double *weight = groups_weights(t->groups, g);
    PCSIM_TRY(mean_squares(t, g, theta, sample_draw(SAMPLE_HELD_OUT, 0), t->group[g].n, squares));
    for (int k = 0; k < groups_rows(t->groups, g); k++) *loss += 0.5 * weight[k] * squares[k];
  }
  return PCSIM_OK;
}

pcsim_status train_fresh_squares(pcsim_training *t, int g, double *squares) {
  double of[GROUPS_ROWS_MAX];
  PCSIM_TRY(mean_squares(t, g, t->best, sample_draw(SAMPLE_FRESH, 0),
                         t->group[g].n > 1 && !t->group[g].measured ? 4096 : t->group[g].n, of));
  *squares = 0;
  for (int k = 0; k < groups_rows(t->groups, g); k++) *squares += of[k];
  return PCSIM_OK;
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

/* A penalised row counts as much as the interior in the trace of J^T J: what a step of the weights changes in
 * the one it changes in the other (Wang, Yu, Perdikaris 2022, with the mean squares of the rows). */
pcsim_status train_balance(pcsim_training *t, bool quiet) {
  double traces[GROUPS_ROWS_MAX], interior = 0;
  PCSIM_TRY(groups_traces(t->groups, 0, t->theta, traces));
  for (int k = 0; k < groups_rows(t->groups, 0); k++) interior += traces[k];
  for (int g = 1; g < t->num_groups; g++) {
    double weights[GROUPS_ROWS_MAX];
    PCSIM_TRY(groups_traces(t->groups, g, t->theta, traces));
    for (int k = 0; k < groups_rows(t->groups, g); k++) {
      weights[k] = traces[k] > 0 && isfinite(interior / traces[k]) ? interior / traces[k] : 1;
      if (!quiet)
        pcsim_log(PCSIM_LOG_INFO, "weight of %s%s: %.3g", t->group[g].name,
                  groups_rows(t->groups, g) > 1 ? " (one of several)" : "", weights[k]);
    }
    groups_weight(t->groups, g, weights);
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------- what went wrong */

bool train_find_bad(pcsim_training *t, const double *theta, char *text, size_t size) {
  const domain_view *d = t->from->problem.domain;
  for (int g = 0; g < t->num_groups; g++) {
    const double *points;
    const int rows = groups_rows(t->groups, g);
    const int64_t n = groups_get_points(t->groups, g, &points);
    double *r = NULL;
    if (pcsim_alloc((size_t)(n * rows), sizeof *r, &r) != PCSIM_OK) return false;
    /* the interior has no normals; others are drawn again, to have theirs */
    pcsim_status status =
        g ? train_residuals(t, g, theta, sample_draw(SAMPLE_TRAINING, (uint64_t)t->draw), n, r)
          : groups_residuals(t->groups, g, theta, n, points, &(groups_columns){0}, r);
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
