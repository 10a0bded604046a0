/* SPDX-License-Identifier: BSD-2-Clause */
/* What a training has found: unknowns at points, and as a program. */
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 160, LEVEL_POINTS = 4096 };

static pcsim_status bind_best(pcsim_training *t, pcsim_executor *x) {
  for (int i = 0; i < t->parameters.num; i++)
    PCSIM_TRY(pcsim_executor_bind(x, t->parameters.name[i], t->best + t->parameters.first[i]));
  return PCSIM_OK;
}

/* Unknowns on a span of time, and executors of them that are made when first needed. */
typedef struct {
  const pcsim_program *fields;
  bool best; /* with the numbers of the best state, not its own */
  pcsim_executor **values, **gradients;
  train_level *level; /* likewise */
  const double *time; /* the span */
} evaluator;

static evaluator of_now(pcsim_training *t) {
  return (evaluator){t->ansatz.fields, true, &t->values, &t->gradients, &t->level, t->part.time};
}
static evaluator of_finished(train_finished *f) {
  return (evaluator){f->fields, false, &f->values, &f->gradients, &f->level, f->time};
}

/* Unknown by unknown its value, then (with `derivatives`) its first derivatives: outputs "0", "1", ... */
static pcsim_status make_executor(pcsim_training *t, const evaluator *e, bool derivatives) {
  pcsim_executor **x = derivatives ? e->gradients : e->values;
  const problem *p = &t->from->problem;
  const int width = derivatives ? p->names.num_coordinates + 1 : 1, n = p->num_unknowns * width;
  char(*text)[TEXT] = NULL;
  const char **list = NULL;
  pcsim_program *lowered = NULL, *composed = NULL;
  pcsim_status status;
  if (*x) return PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *text, &text), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *list, &list), status, done);
  for (int i = 0; i < n; i++) {
    const char *u = p->unknown[i / width], *by = i % width ? p->names.coordinates[i % width - 1] : NULL;
    snprintf(text[i], TEXT, "%s%s%s", u, by ? "_" : "", by ? by : "");
    list[i] = text[i];
  }
  PCSIM_GOTO(pcsim_lower(list, n, &p->names, &lowered, NULL, NULL), status, done);
  PCSIM_GOTO(pcsim_lower_compose(lowered, &p->names, e->fields, &composed), status, done);
  PCSIM_GOTO(
      pcsim_executor_create(composed, &(pcsim_executor_options){.threads = t->from->options.threads}, x),
      status, done);
  if (e->best) status = bind_best(t, *x);
done:
  pcsim_free(&text), pcsim_free(&list);
  pcsim_program_destroy(&lowered);
  pcsim_program_destroy(&composed);
  if (status != PCSIM_OK) pcsim_executor_destroy(x);
  return status;
}

/* As the network has it, at any level. */
static pcsim_status evaluate_network(pcsim_training *t, const evaluator *e, int64_t n, const double *points,
                                     double *values, double *gradients) {
  pcsim_executor **x = gradients ? e->gradients : e->values;
  const int unknowns = t->from->problem.num_unknowns, coordinates = t->from->problem.names.num_coordinates,
            width = gradients ? coordinates + 1 : 1;
  double *columns = NULL;
  pcsim_status status;
  PCSIM_TRY(make_executor(t, e, gradients != NULL));
  PCSIM_TRY(pcsim_alloc((size_t)n * (size_t)(unknowns * width), sizeof *columns, &columns));
  PCSIM_GOTO(pcsim_executor_points(*x, "points", n), status, done);
  PCSIM_GOTO(pcsim_executor_bind(*x, "coordinates", points), status, done);
  for (int i = 0; i < unknowns * width; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    PCSIM_GOTO(pcsim_executor_bind_output(*x, name, columns + i * n), status, done);
  }
  PCSIM_GOTO(pcsim_executor_run(*x, false), status, done);
  for (int u = 0; u < unknowns; u++)
    for (int k = 0; k < width; k++) {
      const double *from = columns + (int64_t)(u * width + k) * n;
      double *to = k ? gradients + u * coordinates + k - 1 : values + u;
      const int64_t stride = k ? (int64_t)unknowns * coordinates : unknowns;
      for (int64_t i = 0; i < n; i++) to[i * stride] = from[i];
    }
done:
  pcsim_free(&columns);
  return status;
}

/* Training leaves the level of a pressure that only its derivatives fix anywhere; what is given out has the
 * mean 0 over space and the time of a slab. */
static pcsim_status find_level(pcsim_training *t, const evaluator *e) {
  const problem *p = &t->from->problem;
  const int width = p->names.num_coordinates;
  double *points = NULL;
  if (e->level->known || !train_has_gauge(t->from)) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)(LEVEL_POINTS * (width + p->num_unknowns)), sizeof *points, &points));
  double *values = points + LEVEL_POINTS * width;
  pcsim_status status = train_level_points(t, e->time, LEVEL_POINTS, points);
  if (status == PCSIM_OK) status = evaluate_network(t, e, LEVEL_POINTS, points, values, NULL);
  if (status == PCSIM_OK) train_level_take(t->from, LEVEL_POINTS, values, e->level);
  pcsim_free(&points);
  return status;
}

static pcsim_status evaluate(pcsim_training *t, const evaluator *e, int64_t n, const double *points,
                             double *values, double *gradients) {
  const int unknowns = t->from->problem.num_unknowns;
  PCSIM_TRY(find_level(t, e));
  PCSIM_TRY(evaluate_network(t, e, n, points, values, gradients));
  for (int u = 0; u < unknowns; u++)
    for (int64_t i = 0; t->from->gauge[u] && i < n; i++) values[i * unknowns + u] -= e->level->mean[u];
  return PCSIM_OK;
}

/* At those of the points whose time is from <= t < to. */
static pcsim_status evaluate_span(pcsim_training *t, const evaluator *e, double from, double to, int64_t n,
                                  const double *points, double *values, double *gradients) {
  const int d = t->from->problem.names.num_coordinates, time = t->from->problem.domain->time;
  const size_t m = (size_t)t->from->problem.num_unknowns, width = m * (size_t)d;
  int64_t *at = NULL, found = 0;
  double *room = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *at, &at), status, done);
  for (int64_t i = 0; i < n; i++)
    if (points[i * d + time] >= from && points[i * d + time] < to) at[found++] = i;
  if (!found) goto done;
  PCSIM_GOTO(pcsim_alloc((size_t)found * ((size_t)d + m + width), sizeof *room, &room), status, done);
  double *x = room, *u = x + found * d, *g = gradients ? u + (size_t)found * m : NULL;
  for (int64_t i = 0; i < found; i++) memcpy(x + i * d, points + at[i] * d, (size_t)d * sizeof *x);
  PCSIM_GOTO(evaluate(t, e, found, x, u, g), status, done);
  for (size_t i = 0; i < (size_t)found; i++) {
    memcpy(values + (size_t)at[i] * m, u + i * m, m * sizeof *u);
    if (g) memcpy(gradients + (size_t)at[i] * width, g + i * width, width * sizeof *g);
  }
done:
  pcsim_free(&at), pcsim_free(&room);
  return status;
}

pcsim_status pcsim_training_evaluate(pcsim_training *t, int64_t n, const double *points, double *values,
                                     double *gradients) {
  const evaluator now = of_now(t);
  double from = -INFINITY;
  if (!t->part.slab) return evaluate(t, &now, n, points, values, gradients);
  for (int i = 0; i < t->num_finished; i++) {
    train_finished *f = &t->finished[i];
    if (!f->fields) continue;
    const evaluator then = of_finished(f);
    PCSIM_TRY(evaluate_span(t, &then, from, f->time[1], n, points, values, gradients));
    from = f->time[1];
  }
  return evaluate_span(t, &now, from, INFINITY, n, points, values, gradients);
}

pcsim_status pcsim_training_points(pcsim_training *t, uint64_t draw, int64_t n, double *points) {
  return domain_draw_inside(t->from->domain, t->from->options.seed, sample_draw(SAMPLE_FRESH, draw + 1), n,
                            points);
}

bool pcsim_training_inside(const pcsim_training *t, const double *point) {
  return domain_inside(t->from->domain, point);
}

pcsim_status train_part_model(const pcsim_training *t, pcsim_program **model) {
  PCSIM_TRY(pcsim_program_copy(t->ansatz.fields, model));
  for (int i = 0; i < t->parameters.num; i++) {
    double *numbers = pcsim_program_parameter(*model, t->parameters.name[i], NULL, NULL);
    const int64_t first = t->parameters.first[i];
    memcpy(numbers, t->best + first, (size_t)(t->parameters.first[i + 1] - first) * sizeof *numbers);
  }
  return PCSIM_OK;
}

pcsim_status train_find_levels(pcsim_training *t) {
  const evaluator now = of_now(t);
  for (int i = 0; i < t->num_finished; i++) {
    const evaluator then = of_finished(&t->finished[i]);
    if (then.fields) PCSIM_TRY(find_level(t, &then));
  }
  return find_level(t, &now);
}
