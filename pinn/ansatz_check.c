/* SPDX-License-Identifier: BSD-2-Clause */
/* Do the conditions that are built in hold? Where one does not, it contradicts another one. */
#include "ansatz_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUM_POINTS = 256 /* on each condition's place */ };
static const double tolerance = 1e-6; /* relative to the largest given value */

typedef struct {
  ansatz_builder *b;
  pcsim_executor *executor;
  double *points; /* [NUM_POINTS][num_coordinates] */
  double *normals;
  double *found, *given; /* [NUM_POINTS] */
} checker;

/* Unknowns, "u_p_0" their derivatives by time where rates are given, and "given" for one condition. */
static pcsim_status create_executor(checker *c, const problem_condition *condition) {
  ansatz_builder *b = c->b;
  pcsim_program *with = NULL, *value = NULL, *by_time = NULL;
  pcsim_value given;
  const pcsim_value coordinates = b->coordinates;
  pcsim_status status = PCSIM_OK;
  const char *outputs[2] = {b->problem->unknown[condition->unknown], "given"};
  char rate[160];
  PCSIM_GOTO(pcsim_program_copy(b->program, &with), status, done);
  PCSIM_GOTO(parts_lower(b, &condition->text, &value), status, done);
  const char *const output = "0";
  pcsim_build_part(with, value, b->space, &(pcsim_argument){"coordinates", coordinates}, 1, &output, 1,
                   &given);
  pcsim_build_output(with, "given", given);
  PCSIM_GOTO(pcsim_program_keep(with, outputs, 2), status, done);
  if (condition->kind == CONDITION_RATE) {
    int orders[DOMAIN_MAX] = {0};
    orders[b->problem->domain->time] = 1;
    PCSIM_GOTO(pcsim_transform_partials(with, "coordinates", orders, 1, &by_time), status, done);
    snprintf(rate, sizeof rate, "%s_p_0", outputs[0]);
    outputs[0] = rate;
  }
  PCSIM_GOTO(pcsim_executor_create(by_time ? by_time : with, NULL, &c->executor), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(c->executor, outputs[0], c->found), status, done);
  status = pcsim_executor_bind_output(c->executor, "given", c->given);
done:
  pcsim_program_destroy(&with);
  pcsim_program_destroy(&value);
  pcsim_program_destroy(&by_time);
  return status;
}

static pcsim_status run(checker *c) {
  PCSIM_TRY(pcsim_executor_points(c->executor, "points", NUM_POINTS));
  PCSIM_TRY(pcsim_executor_bind(c->executor, "coordinates", c->points));
  return pcsim_executor_run(c->executor, false);
}

/* Points on piece `piece` of the condition, or at the start, in the ansatz's span of time. */
static pcsim_status draw(checker *c, const problem_condition *condition, int piece) {
  const domain_view *d = c->b->problem->domain;
  const double *span = c->b->options->time;
  PCSIM_TRY(condition->place == PLACE_START
                ? domain_draw_start(c->b->domain, 1, 0, NUM_POINTS, c->points)
                : domain_draw_piece(c->b->domain, piece, 1, 0, NUM_POINTS, c->points, c->normals));
  for (int i = 0; d->time >= 0 && i < NUM_POINTS; i++) {
    double *t = &c->points[(size_t)i * (size_t)d->num_coordinates + (size_t)d->time];
    const double share = (*t - d->range[d->time][0]) / (d->range[d->time][1] - d->range[d->time][0]);
    *t = condition->place == PLACE_START ? span[0] : span[0] + share * (span[1] - span[0]);
  }
  return PCSIM_OK;
}

/* The corner that a contradiction is seen from: near ends of coordinates become the ends. */
static void place_text(const checker *c, const problem_condition *condition, int at, char *text,
                       size_t size) {
  const domain_view *d = c->b->problem->domain;
  const double *x = &c->points[(size_t)at * (size_t)d->num_coordinates];
  size_t used = 0;
  for (int i = 0; i < d->num_coordinates; i++) {
    double value = x[i];
    const double *range = d->range[i], near = 0.05 * (range[1] - range[0]);
    if (i == d->time && condition->place == PLACE_PIECES) value = c->b->options->time[0];
    for (int side = 0; side < 2; side++)
      if (fabs(value - range[side]) < near) value = range[side];
    used += (size_t)snprintf(text + used, used < size ? size - used : 0, "%s%s = %.6g", i ? ", " : "",
                             d->coordinate[i], value);
  }
}

static void compare(const checker *c, const problem_condition *condition, bool *bad) {
  const problem *p = c->b->problem;
  const char *const unknown = p->unknown[condition->unknown];
  double worst = 0, largest = 0;
  char text[400];
  int at = 0;
  for (int i = 0; i < NUM_POINTS && !*bad; i++) {
    const double apart = isfinite(c->found[i]) ? fabs(c->found[i] - c->given[i]) : INFINITY;
    if (!isfinite(c->given[i])) {
      place_text(c, condition, i, text, sizeof text);
      *bad = true;
      pcsim_tree_problem(p->tree, condition->text.node, "`%s` gives `%s` no number near %s", condition->name,
                         unknown, text);
    }
    largest = fmax(largest, fabs(c->given[i]));
    if (apart > worst) worst = apart, at = i;
  }
  if (*bad || worst <= tolerance * fmax(1, largest)) return;
  place_text(c, condition, at, text, sizeof text);
  *bad = true;
  pcsim_tree_problem(
      p->tree, condition->text.node,
      "conditions of `%s` contradict each other: `%s` gives %.6g near %s, another one %.6g; give "
      "values that agree there, or one of them `exact: false`",
      unknown, condition->name, c->given[at], text, c->found[at]);
}

static pcsim_status check_condition(checker *c, const problem_condition *condition, bool *bad) {
  const domain_view *d = c->b->problem->domain;
  PCSIM_TRY(create_executor(c, condition));
  pcsim_status status = PCSIM_OK;
  const int pieces = condition->place == PLACE_START ? 1 : d->num_pieces;
  for (int k = 0; k < pieces && status == PCSIM_OK; k++) {
    if (condition->place == PLACE_PIECES && !condition->piece[k]) continue;
    status = draw(c, condition, k);
    if (status == PCSIM_OK) status = run(c);
    if (status == PCSIM_OK) compare(c, condition, bad);
  }
  pcsim_executor_destroy(&c->executor);
  return status;
}

/* ------------------------------------------------------------------- where pieces meet */

/* Values of an unknown that are to be held: on pieces, with their conditions, and at the start. */
typedef struct {
  domain_value *on;             /* [num_pieces] */
  const problem_condition **of; /* [num_pieces] NULL: none */
  domain_value start;
  const problem_condition *of_start; /* NULL: none */
  int num_made;
  pcsim_program **made; /* [num_made] */
} held_values;

static pcsim_status gather(ansatz_builder *b, int unknown, held_values *v) {
  const problem *p = b->problem;
  const size_t pieces = (size_t)p->domain->num_pieces;
  PCSIM_TRY(pcsim_alloc(pieces, sizeof *v->on, &v->on));
  PCSIM_TRY(pcsim_alloc(pieces, sizeof *v->of, &v->of));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_conditions, sizeof *v->made, &v->made));
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    if (c->unknown != unknown || c->kind != CONDITION_VALUE || !c->exact || c->place == PLACE_FIXED) continue;
    pcsim_program *made = NULL;
    PCSIM_TRY(parts_lower(b, &c->text, &made));
    v->made[v->num_made++] = made;
    if (c->place == PLACE_START) v->start = (domain_value){made, "0"}, v->of_start = c;
    for (size_t k = 0; c->place == PLACE_PIECES && k < pieces; k++)
      if (c->piece[k]) v->on[k] = (domain_value){made, "0"}, v->of[k] = c;
  }
  return PCSIM_OK;
}

static void report(const ansatz_builder *b, int unknown, const held_values *v,
                   const domain_contradiction *worst) {
  const problem *p = b->problem;
  const domain_view *d = p->domain;
  const problem_condition *one = v->of[worst->piece],
                          *other = worst->other < 0 ? v->of_start : v->of[worst->other];
  char place[400];
  size_t used = 0;
  for (int i = 0; i < d->num_coordinates && used < sizeof place; i++)
    used += (size_t)snprintf(place + used, sizeof place - used, "%s%s = %.6g", i ? ", " : "",
                             d->coordinate[i], worst->point[i]);
  pcsim_tree_problem(
      p->tree, other->text.node,
      "conditions contradict each other at %s: `%s` gives %s = %.6g, `%s` gives %.6g; give values "
      "that agree there, or one of them `exact: false`",
      place, one->name, p->unknown[unknown], worst->value, other->name, worst->other_value);
}

pcsim_status parts_contradictions(ansatz_builder *b, bool *found) {
  pcsim_status status = PCSIM_OK;
  *found = false;
  /* a start that is handed over holds its boundary values as well as it has learnt them */
  for (int u = 0; u < b->problem->num_unknowns && status == PCSIM_OK && !b->options->start; u++) {
    held_values v = {0};
    domain_contradiction worst = {.piece = -1};
    status = gather(b, u, &v);
    if (status == PCSIM_OK && v.num_made > 0)
      status = domain_find_contradiction(b->domain, v.on, v.of_start ? &v.start : NULL, &worst);
    if (status == PCSIM_OK && worst.piece >= 0 &&
        worst.difference > tolerance * fmax(1, fmax(fabs(worst.value), fabs(worst.other_value)))) {
      report(b, u, &v, &worst);
      *found = true;
    }
    for (int i = 0; i < v.num_made; i++) pcsim_program_destroy(&v.made[i]);
    pcsim_free(&v.on), pcsim_free(&v.of), pcsim_free(&v.made);
  }
  return status;
}

pcsim_status parts_check(ansatz_builder *b) {
  const problem *p = b->problem;
  const size_t n = NUM_POINTS, width = (size_t)p->domain->num_coordinates;
  checker c = {.b = b};
  bool bad[PROBLEM_MAX] = {false}; /* one message for each unknown */
  double *room = NULL;
  PCSIM_TRY(pcsim_alloc(n * (2 * width + 2), sizeof *room, &room));
  c.points = room, c.normals = room + n * width, c.found = room + 2 * n * width, c.given = c.found + n;
  pcsim_status status = PCSIM_OK;
  for (int i = 0; i < p->num_conditions && status == PCSIM_OK; i++) {
    const problem_condition *condition = &p->condition[i];
    /* what a start hands over is no text of the case */
    if (!b->ansatz->built[i] || (condition->place == PLACE_START && b->options->start)) continue;
    status = check_condition(&c, condition, &bad[condition->unknown]);
  }
  pcsim_free(&room);
  return status;
}
