/* SPDX-License-Identifier: BSD-2-Clause */
/* What a training knows about its error: bound.h with the residuals of the best state. */
#include "bound.h"
#include "train.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 4096, LOOKED_AT = 1024 };

/* Root mean square of a group's residuals at fresh points, and the largest. */
static pcsim_status measure(pcsim_training *t, int g, double *mean, double *largest) {
  const int rows = groups_rows(t->groups, g);
  const int64_t n = t->group[g].n > 1 ? POINTS : 1;
  double *r = NULL, sum = 0;
  PCSIM_TRY(pcsim_alloc((size_t)(n * rows), sizeof *r, &r));
  pcsim_status status = train_residuals(t, g, t->best, sample_draw(SAMPLE_FRESH, 0), n, r);
  *largest = 0;
  for (int64_t i = 0; i < n * rows; i++) {
    sum += r[i] * r[i] / (double)n;
    *largest = fmax(*largest, fabs(r[i]));
  }
  *mean = sqrt(sum);
  pcsim_free(&r);
  return status;
}

/* Root mean square of the error, no larger than this: `*absolute`; INFINITY where nothing is known. */
static pcsim_status add_up(pcsim_training *t, const bound *b, double *absolute) {
  double start = 0, boundary = 0;
  for (int g = 0; g < t->num_groups; g++) {
    const problem_condition *c = t->group[g].condition;
    double mean = 0, largest = 0;
    if (g && (!c || c->kind != CONDITION_VALUE || c->place == PLACE_FIXED)) continue;
    PCSIM_TRY(measure(t, g, &mean, &largest));
    if (!g) *absolute = b->residual * mean;
    else if (c->place == PLACE_START) start = fmax(start, mean);
    else boundary = fmax(boundary, largest);
  }
  *absolute += b->start * start + boundary;
  if (boundary > 0 && !b->has_maximum) *absolute = INFINITY;
  return PCSIM_OK;
}

/* Jumps between networks are in no residual of the equation. What they add to the error depends on how the
 * interface lies in the domain: the normal derivatives there of the equation's solutions for all sources of
 * norm 1 would have to be bounded. */
static const char *not_one_network(pcsim_training *t) {
  if (t->from->regions)
    return "regions have a network each, and what jumps between them is in no residual of the equation";
  return t->choice.slabs > 1 ? "there are several slabs of time" : NULL;
}

static pcsim_status find(pcsim_training *t, double *points, double *values, pcsim_training_bound *out) {
  bound b;
  double absolute = INFINITY, sum = 0;
  const char *several = not_one_network(t);
  if (several) {
    snprintf(out->reason, sizeof out->reason, "%s", several);
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_training_points(t, 0, POINTS, points));
  PCSIM_TRY(bound_find(&t->from->problem, LOOKED_AT, points, &b));
  if (b.known) PCSIM_TRY(add_up(t, &b, &absolute));
  if (b.known && isinf(absolute))
    snprintf(b.why, sizeof b.why, "values at the boundary are penalised and there is no maximum principle");
  out->known = b.known && isfinite(absolute);
  if (!out->known) {
    snprintf(out->reason, sizeof out->reason, "%s", b.why);
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_training_evaluate(t, POINTS, points, values, NULL));
  for (int i = 0; i < POINTS; i++) sum += values[i] * values[i] / POINTS;
  out->absolute = absolute;
  out->relative = sqrt(sum) > absolute ? absolute / (sqrt(sum) - absolute) : INFINITY;
  snprintf(out->reason, sizeof out->reason,
           "linear and coercive: %.3g times the residual%s; residuals and coefficients as they are in %d "
           "points",
           b.residual, t->num_groups > 1 ? ", and what conditions leave" : "", POINTS);
  return PCSIM_OK;
}

pcsim_status pcsim_training_error_bound(pcsim_training *t, pcsim_training_bound *out) {
  const int width = t->from->problem.domain->num_coordinates, unknowns = t->from->problem.num_unknowns;
  double *room = NULL;
  *out = (pcsim_training_bound){0};
  PCSIM_TRY(pcsim_alloc((size_t)(POINTS * (width + unknowns)), sizeof *room, &room));
  const pcsim_status status = find(t, room, room + POINTS * width, out);
  pcsim_free(&room);
  return status;
}
