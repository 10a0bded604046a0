/* SPDX-License-Identifier: BSD-2-Clause */
/* A training: made from a case, run step by step. */
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Draws in a row at which no step is found, before it is taken as the end. */
enum { MOST_STALLS = 3 };
/* A root of the loss that is smaller than at the start by this is a floor, not a failure. */
static const double floor_reduction = 1e-4;

void pcsim_training_destroy(pcsim_training **training) {
  pcsim_training *t = *training;
  if (!t) return;
  if (t->optimizer) t->options.optimizer->destroy(&t->optimizer);
  groups_destroy(&t->groups);
  groups_parameters_clear(&t->parameters);
  ansatz_clear(&t->ansatz);
  problem_clear(&t->problem);
  domain_destroy(&t->domain);
  pcsim_executor_destroy(&t->values);
  pcsim_executor_destroy(&t->gradients);
  pcsim_program_destroy(&t->gradient_program);
  pcsim_free(&t->group);
  pcsim_free(&t->theta);
  pcsim_free(&t->best);
  pcsim_free(&t->drawn);
  pcsim_free(training);
}

/* ---------------------------------------------------------------------------- making */

static pcsim_status make_ansatz(pcsim_training *t) {
  const domain_view *d = t->problem.domain;
  ansatz_options options = {
      .network = network_find(t->choice.network.kind), .options = t->choice.network, .prefix = "net_"};
  char *text = NULL;
  for (int u = 0; u < PROBLEM_MAX; u++) options.magnitude[u] = 1;
  for (int side = 0; d->time >= 0 && side < 2; side++) options.time[side] = d->range[d->time][side];
  PCSIM_TRY(ansatz_build(&t->problem, t->domain, &options, &t->ansatz));
  if (!t->ansatz.fields) return PCSIM_OK;
  for (int built = 1; built >= 0; built--) {
    PCSIM_TRY(ansatz_names(&t->problem, &t->ansatz, built, &text));
    pcsim_log(PCSIM_LOG_INFO, "%s: %s", built ? "built in" : "penalised", *text ? text : "nothing");
    pcsim_free(&text);
  }
  return PCSIM_OK;
}

static pcsim_status make_state(pcsim_training *t) {
  const size_t n = (size_t)t->num_parameters;
  PCSIM_TRY(pcsim_alloc(n, sizeof *t->theta, &t->theta));
  PCSIM_TRY(pcsim_alloc(n, sizeof *t->best, &t->best));
  PCSIM_TRY(pcsim_alloc(n, sizeof *t->drawn, &t->drawn));
  memcpy(t->theta, t->parameters.start, n * sizeof *t->theta);
  memcpy(t->best, t->theta, n * sizeof *t->best);
  memcpy(t->drawn, t->theta, n * sizeof *t->drawn);
  PCSIM_TRY(train_draw(t));
  PCSIM_TRY(train_balance(t));
  PCSIM_TRY(train_held_out(t, t->theta, &t->held_out));
  t->first_loss = t->best_held_out = t->held_out;
  PCSIM_TRY(groups_objective(t->groups)->loss(groups_objective(t->groups), t->theta, &t->loss, NULL));
  t->best_loss = t->loss;
  return t->options.optimizer->create(t->num_parameters, t->options.optimizer_option, t->options.threads,
                                      &t->optimizer);
}

static void fill_view(pcsim_training *t) {
  const domain_view *d = t->problem.domain;
  t->view = (pcsim_training_view){.num_coordinates = d->num_coordinates,
                                  .num_space = d->num_space,
                                  .time = d->time,
                                  .coordinate = d->coordinate,
                                  .range = d->range,
                                  .num_unknowns = t->problem.num_unknowns,
                                  .unknown = (const char *const *)t->problem.unknown,
                                  .gauge = t->problem.gauge,
                                  .network = t->choice.network.kind,
                                  .optimizer = t->options.optimizer->name,
                                  .num_parameters = t->num_parameters,
                                  .seed = t->options.seed,
                                  .budget_seconds = t->options.seconds,
                                  .budget_steps = t->options.steps,
                                  .num_groups = t->num_groups};
  for (int g = 0; g < t->num_groups; g++) t->view.num_points += t->group[g].n;
}

static pcsim_status create(pcsim_tree *tree, pcsim_training *t) {
  const size_t before = pcsim_tree_num_problems(tree);
  train_read_options(tree, &t->options, &t->choice);
  PCSIM_TRY(domain_read(tree, &t->domain));
  if (!t->domain) return PCSIM_OK;
  PCSIM_TRY(problem_read(tree, domain_get(t->domain), &t->problem));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  PCSIM_TRY(train_choose(t));
  PCSIM_TRY(make_ansatz(t));
  if (!t->ansatz.fields) return PCSIM_OK;
  PCSIM_TRY(groups_parameters_of(t->ansatz.fields, "net_", &t->parameters));
  t->num_parameters = t->parameters.first[t->parameters.num];
  PCSIM_TRY(groups_create(&t->parameters, t->options.threads, &t->groups));
  PCSIM_TRY(train_make_groups(t));
  PCSIM_TRY(make_state(t));
  fill_view(t);
  pcsim_log(PCSIM_LOG_INFO, "%lld parameters, %lld points", (long long)t->num_parameters,
            (long long)t->view.num_points);
  return PCSIM_OK;
}

pcsim_status pcsim_training_read(pcsim_tree *tree, pcsim_training **training) {
  const size_t before = pcsim_tree_num_problems(tree);
  pcsim_training *t = NULL;
  *training = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *t, &t));
  t->tree = tree;
  pcsim_status status = create(tree, t);
  if (status != PCSIM_OK || pcsim_tree_num_problems(tree) != before) pcsim_training_destroy(&t);
  *training = t;
  return status;
}

const pcsim_training_view *pcsim_training_get(const pcsim_training *t) { return &t->view; }
int64_t pcsim_training_at(const pcsim_training *t) { return t->step; }

/* --------------------------------------------------------------------------- running */

typedef struct {
  pcsim_training *t;
  pcsim_training_result *result;
  pcsim_training_observer observer;
  void *context;
  double began;
  int64_t last; /* step to stop at, not the budget */
  bool done;
} course;

static double seconds_of(const course *c) { return c->t->seconds + pcsim_time_wall() - c->began; }

static void finish(course *c, pcsim_training_outcome outcome, const char *reason) {
  c->done = true;
  c->result->outcome = outcome;
  snprintf(c->result->reason, sizeof c->result->reason, "%s", reason);
}

/* The loss is no number: which residual, and where. */
static void finish_bad(course *c) {
  char text[400];
  if (!train_find_bad(c->t, c->t->theta, text, sizeof text))
    snprintf(text, sizeof text, "the loss is no number, though every residual is");
  finish(c, PCSIM_TRAINING_DIVERGED, text);
}

static pcsim_status redraw(pcsim_training *t) {
  t->draw++;
  memcpy(t->drawn, t->theta, (size_t)t->num_parameters * sizeof *t->drawn);
  PCSIM_TRY(train_draw(t));
  t->options.optimizer->changed(t->optimizer);
  return PCSIM_OK;
}

/* The group whose share of the loss is the largest, for people. */
static pcsim_status finish_stalled(course *c) {
  pcsim_training *t = c->t;
  char text[400];
  double most = -1;
  const char *name = "";
  if (sqrt(t->best_held_out / t->first_loss) < floor_reduction) {
    finish(c, PCSIM_TRAINING_COMPLETED, "the loss has reached its floor: no step lowers it any more");
    return PCSIM_OK;
  }
  for (int g = 0; g < t->num_groups; g++) {
    double squares[64], sum = 0;
    PCSIM_TRY(groups_mean_squares(t->groups, g, t->theta, squares));
    for (int k = 0; k < groups_rows(t->groups, g); k++) sum += groups_weights(t->groups, g)[k] * squares[k];
    if (sum > most) most = sum, name = t->group[g].name;
  }
  snprintf(
      text, sizeof text,
      "no step lowers the loss at %d draws of points in a row, though its root is still %.2g of that at the "
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
  }
  if (t->options.target > 0 && sqrt(2 * t->best_held_out) <= t->options.target)
    finish(c, PCSIM_TRAINING_CONVERGED, "the residual target is reached");
  const pcsim_training_step step = {.step = t->step,
                                    .loss = t->loss,
                                    .held_out = t->held_out,
                                    .best = t->best_held_out,
                                    .gradient = report->gradient_norm,
                                    .radius = report->radius,
                                    .seconds = seconds_of(c)};
  return c->observer ? c->observer(c->context, &step) : PCSIM_OK;
}

static pcsim_status advance(course *c) {
  pcsim_training *t = c->t;
  optimizer_report report = {0};
  const bool due = t->choice.redraw > 0 && t->step > 0 && t->step % t->choice.redraw == 0;
  if (due || (t->stalls > 0 && t->choice.redraw > 0)) PCSIM_TRY(redraw(t));
  PCSIM_TRY(t->options.optimizer->step(t->optimizer, groups_objective(t->groups), t->theta, &report));
  t->step++;
  t->loss = report.loss;
  t->stalls = report.stalled ? t->stalls + 1 : 0;
  if (!isfinite(t->loss)) finish_bad(c);
  else if (t->stalls >= (t->choice.redraw > 0 ? MOST_STALLS : 1)) PCSIM_TRY(finish_stalled(c));
  else if (t->options.steps > 0 && t->step >= t->options.steps)
    finish(c, PCSIM_TRAINING_COMPLETED, "the budget of steps is used");
  else if (t->options.seconds > 0 && seconds_of(c) >= t->options.seconds)
    finish(c, PCSIM_TRAINING_COMPLETED, "the budget of time is used");
  if (isfinite(t->loss) && (c->done || t->step % t->options.look == 0)) PCSIM_TRY(look(c, &report));
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
  else if (t->options.steps > 0 && t->step >= t->options.steps)
    finish(&c, PCSIM_TRAINING_COMPLETED, "the budget of steps is used");
  else if (t->step >= c.last) finish(&c, PCSIM_TRAINING_STOPPED, "the last step asked for is done");
  while (!c.done && status == PCSIM_OK) status = advance(&c);
  t->seconds = seconds_of(&c);
  result->steps = t->step, result->seconds = t->seconds;
  result->loss = t->best_loss, result->held_out = t->best_held_out;
  return status;
}
