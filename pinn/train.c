/* SPDX-License-Identifier: BSD-2-Clause */
/* A training, step by step. */
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Times in a row that no step is found, before it is taken as the end. */
enum { MOST_STALLS = 3 };
/* A root of the loss that is smaller than at the start by this is a floor, not a failure. */
static const double floor_reduction = 1e-4;

/* --------------------------------------------------------------------------- running */

typedef struct {
  pcsim_training *t;
  pcsim_training_result *result;
  pcsim_training_observer observer;
  void *context;
  double began;
  int64_t last;    /* step to stop at, not the budget */
  bool done, next; /* the next part is due */
  train_kind kind; /* of the next part */
} course;

static double seconds_of(const course *c) { return c->t->seconds + pcsim_time_wall() - c->began; }

static void finish(course *c, pcsim_training_outcome outcome, const char *reason) {
  c->done = true;
  c->result->outcome = outcome;
  snprintf(c->result->reason, sizeof c->result->reason, "%s", reason);
}

/* The part is done: the training, too, where no slab is left. */
static void end_part(course *c, pcsim_training_outcome outcome, const char *reason) {
  c->kind = TRAIN_SLAB;
  if (train_more_slabs(c->t)) c->next = true;
  else finish(c, outcome, reason);
}

/* Is a correction by another network worth what is left of the budget? */
static bool may_correct(const course *c) {
  const pcsim_training *t = c->t;
  const train_options *o = &t->from->options;
  const double share = 0.25, worth = 0.25;
  if (t->part.stage + 1 >= o->stages || t->from->problem.num_unknowns > t->from->problem.num_solved ||
      t->from->regions)
    return false;
  const double before = t->part.stage ? t->finished[t->num_finished - 1].held_out : t->first_loss;
  if (!(t->best_held_out < worth * before)) return false;
  const double steps = (double)(t->step - t->part.step), seconds = seconds_of(c) - t->part.seconds;
  return o->steps > 0 ? (double)(train_last_step(t) - t->step) > share * steps
                      : train_last_second(t) - seconds_of(c) > share * seconds;
}

/* The loss is no number: which residual, and where. */
static void finish_bad(course *c) {
  char text[400];
  if (!train_find_bad(c->t, c->t->theta, text, sizeof text))
    snprintf(text, sizeof text, "the loss is no number, though every residual is");
  finish(c, PCSIM_TRAINING_DIVERGED, text);
}

/* All points anew. */
static pcsim_status redraw(pcsim_training *t) {
  t->draw++;
  PCSIM_TRY(train_draw(t, NULL));
  t->kind->changed(t->optimizer);
  return PCSIM_OK;
}

/* More points where those that training does not see are fitted worse; `*grown` says so. There are more of
 * these, too: what was best is judged by the same ones as what comes. */
static pcsim_status grow(pcsim_training *t, bool *grown) {
  const int64_t num = train_num_regions(t->from), parts = num ? num : 1;
  double held_out;
  PCSIM_TRY(train_held_out(t, t->theta, &held_out));
  const int64_t points =
      choose_points(t->group[0].n, t->num_parameters / parts, sqrt(2 * t->loss), sqrt(2 * held_out));
  *grown = points > t->group[0].n;
  if (!*grown) return PCSIM_OK;
  PCSIM_TRY(train_grow(t, points));
  t->kind->changed(t->optimizer);
  return train_judge_best(t);
}

/* Before a step: what is due at its number, and a way out where no step was found. */
static pcsim_status renew(pcsim_training *t) {
  bool grown = false;
  const int64_t step = t->step - t->part.step;
  if (t->choice.redraw > 0 && (t->stalls > 0 || (step > 0 && step % t->choice.redraw == 0))) return redraw(t);
  if (step > 0 && t->choice.look > 0 && (t->stalls > 0 || step % t->choice.look == 0))
    PCSIM_TRY(grow(t, &grown));
  if (t->stalls > 0 && !grown) t->kind->changed(t->optimizer);
  return PCSIM_OK;
}

/* The group whose share of the loss is the largest, for people. */
static pcsim_status finish_stalled(course *c) {
  pcsim_training *t = c->t;
  bool noise;
  PCSIM_TRY(train_is_noise(t, &noise));
  if (noise) {
    finish(c, PCSIM_TRAINING_COMPLETED, "no step lowers the loss any more, which is the noise of the data");
    return PCSIM_OK;
  }
  char text[400];
  double most = -1;
  const char *name = "";
  if (may_correct(c)) {
    c->kind = TRAIN_STAGE, c->next = true;
    return PCSIM_OK;
  }
  if (sqrt(t->best_held_out / t->first_loss) < floor_reduction) {
    end_part(c, PCSIM_TRAINING_COMPLETED, "the loss has reached its floor: no step lowers it any more");
    return PCSIM_OK;
  }
  for (int g = 0; g < t->num_groups; g++) {
    double squares[GROUPS_ROWS_MAX], sum = 0;
    PCSIM_TRY(groups_mean_squares(t->groups, g, t->theta, squares));
    for (int k = 0; k < groups_rows(t->groups, g); k++) sum += groups_weights(t->groups, g)[k] * squares[k];
    if (sum > most) most = sum, name = t->group[g].name;
  }
  snprintf(text, sizeof text,
           "no step lowers the loss %d times in a row, though its root is still %.2g of that at the "
           "start; the largest part is that of %s",
           MOST_STALLS, sqrt(t->best_held_out / t->first_loss), name);
  finish(c, PCSIM_TRAINING_STAGNATED, text);
  return PCSIM_OK;
}

/* Held-out loss, the best state, and what the observer is told. */
static pcsim_status look(course *c, const optimizer_report *report) {
  pcsim_training *t = c->t;
  t->seconds = seconds_of(c), c->began = pcsim_time_wall(); /* a checkpoint taken now knows them */
  PCSIM_TRY(train_held_out(t, t->theta, &t->held_out));
  if (t->held_out < t->best_held_out) {
    t->best_held_out = t->held_out, t->best_loss = t->loss;
    memcpy(t->best, t->theta, (size_t)t->num_parameters * sizeof *t->best);
    t->level.known = false;
  }
  if (t->from->options.target > 0 && sqrt(2 * t->best_held_out) <= t->from->options.target)
    end_part(c, PCSIM_TRAINING_CONVERGED, "the residual target is reached");
  const pcsim_training_step step = {.step = t->step,
                                    .loss = t->loss,
                                    .held_out = t->held_out,
                                    .best = t->best_held_out,
                                    .gradient = report->gradient_norm,
                                    .radius = report->radius,
                                    .seconds = seconds_of(c)};
  return c->observer ? c->observer(c->context, &step) : PCSIM_OK;
}

/* Where the last third of a part's steps has not halved a held-out loss that is small, or not quartered one
 * that is near to what rounding leaves of second derivatives, another network gets further: its rounding is
 * relative to what it corrects. */
static void watch(course *c) {
  enum { LEAST = 1000 }; /* steps of a part before it is watched */
  const double near_rounding = 1e-9;
  pcsim_training *t = c->t;
  const int64_t since = t->step - t->part.step;
  if (since < LEAST || 2 * since < 3 * t->watched_step) return;
  const double left = sqrt(t->best_held_out / t->first_loss);
  const bool slow =
      t->watched_step && t->best_held_out > (left < near_rounding ? 0.25 : 0.5) * t->watched_loss;
  if (slow && left < floor_reduction && may_correct(c)) c->kind = TRAIN_STAGE, c->next = true;
  t->watched_step = since, t->watched_loss = t->best_held_out;
}

pcsim_status train_step(pcsim_training *t, optimizer_report *report) {
  PCSIM_TRY(renew(t));
  PCSIM_TRY(t->kind->step(t->optimizer, groups_objective(t->groups), t->theta, report));
  t->step++;
  t->loss = report->loss;
  t->stalls = report->stalled ? t->stalls + 1 : 0;
  return PCSIM_OK;
}

static pcsim_status next_part(course *c) {
  pcsim_training *t = c->t;
  c->next = false;
  t->seconds = seconds_of(c), c->began = pcsim_time_wall();
  PCSIM_TRY(train_next(t, c->kind));
  t->seconds = seconds_of(c), c->began = pcsim_time_wall(); /* trials of the new part count, too */
  if (!isfinite(t->loss)) finish_bad(c);
  return PCSIM_OK;
}

static pcsim_status advance(course *c) {
  pcsim_training *t = c->t;
  optimizer_report report = {0};
  PCSIM_TRY(train_step(t, &report));
  PCSIM_TRY(train_reweigh(t));
  if (!isfinite(t->loss)) finish_bad(c);
  else if (t->stalls >= MOST_STALLS) PCSIM_TRY(finish_stalled(c));
  else if (t->from->options.steps > 0 && t->step >= train_last_step(t))
    end_part(c, PCSIM_TRAINING_COMPLETED, "the budget of steps is used");
  else if (t->from->options.seconds > 0 && seconds_of(c) >= train_last_second(t))
    end_part(c, PCSIM_TRAINING_COMPLETED, "the budget of time is used");
  if (t->step % t->from->options.look == 0 && !c->done && !c->next) watch(c);
  if (isfinite(t->loss) && (c->done || c->next || t->step % t->from->options.look == 0))
    PCSIM_TRY(look(c, &report));
  if (c->next && !c->done) PCSIM_TRY(next_part(c));
  /* no look of its own: whoever goes on from here has the bits of one who never stopped */
  if (!c->done && t->step >= c->last) finish(c, PCSIM_TRAINING_STOPPED, "the last step asked for is done");
  return PCSIM_OK;
}

pcsim_status pcsim_training_run(pcsim_training *t, int64_t steps, pcsim_training_observer observer,
                                void *context, pcsim_training_result *result) {
  course c = {.t = t, .result = result, .observer = observer, .context = context, .began = pcsim_time_wall()};
  *result = (pcsim_training_result){0};
  c.last = steps >= 0 ? steps : INT64_MAX;
  pcsim_status status = PCSIM_OK;
  if (!isfinite(t->loss)) finish_bad(&c);
  else if (t->from->options.steps > 0 && t->step >= t->from->options.steps)
    finish(&c, PCSIM_TRAINING_COMPLETED, "the budget of steps is used");
  else if (t->step >= c.last) finish(&c, PCSIM_TRAINING_STOPPED, "the last step asked for is done");
  while (!c.done && status == PCSIM_OK) status = advance(&c);
  t->seconds = seconds_of(&c);
  result->steps = t->step, result->seconds = t->seconds;
  result->loss = t->best_loss, result->held_out = train_mean_held_out(t);
  return status;
}
