/* SPDX-License-Identifier: BSD-2-Clause */
/* What a case leaves open, chosen by short trials of trainings of its own. */
#include "train.h"

#include <math.h>
#include <string.h>

/* Trials are judged alike: by the weights of the first one. */
typedef struct {
  pcsim_training *t;
  int num; /* groups judged so far: 0 before the first trial */
  double weight[PROBLEM_MAX][PROBLEM_MAX];
} judge;

static void set_judgement(judge *j, pcsim_training *trial) {
  if (!j->num)
    for (; j->num < trial->num_groups && j->num < PROBLEM_MAX; j->num++)
      for (int k = 0; k < groups_rows(trial->groups, j->num); k++)
        j->weight[j->num][k] = groups_weights(trial->groups, j->num)[k];
  for (int g = 0; g < j->num; g++) groups_weight(trial->groups, g, j->weight[g]);
}

static pcsim_status run_steps(pcsim_training *trial, int64_t steps) {
  optimizer_report report = {0};
  while (trial->step < steps && trial->stalls < 2 && isfinite(trial->loss))
    PCSIM_TRY(train_step(trial, &report));
  return PCSIM_OK;
}

/* What is built in alone may be better than with the numbers that a network starts from. */
static pcsim_status without_network(pcsim_training *trial, double *held_out) {
  double zero;
  memset(trial->best, 0, (size_t)trial->num_parameters * sizeof *trial->best);
  PCSIM_TRY(train_held_out(trial, trial->best, &zero));
  if (zero < *held_out) *held_out = zero;
  return PCSIM_OK;
}

static pcsim_status try_choice(void *context, const choice *c, int64_t steps, double *held_out) {
  judge *j = context;
  pcsim_training trial = {.from = j->t->from, .choice = *c, .part = j->t->part};
  *held_out = INFINITY;
  if (!trial.part.number) train_first(trial.from, c->slabs, &trial.part);
  trial.part.step = 0;
  pcsim_status status = train_build(&trial, true);
  if (status == PCSIM_OK && trial.optimizer && isfinite(trial.loss)) {
    status = run_steps(&trial, steps);
    set_judgement(j, &trial);
    if (status == PCSIM_OK) status = train_held_out(&trial, trial.theta, held_out);
    if (status == PCSIM_OK && steps == 0) status = without_network(&trial, held_out);
    *held_out = sqrt(2 * *held_out);
  }
  train_release(&trial);
  return status;
}

/* Balls taken away from a space of three dimensions. */
static int count_bodies(const train_case *from) {
  bool of[DOMAIN_MAX];
  double centre[DOMAIN_MAX], radius;
  int bodies = 0;
  while (from->problem.domain->num_space > 2 && domain_hole(from->domain, bodies, of, centre, &radius))
    bodies++;
  return bodies;
}

/* What the case leaves open, by trials or without. */
static pcsim_status choose_now(pcsim_training *t, const network_options *before) {
  judge j = {.t = t};
  const train_options *o = &t->from->options;
  network_options waves = {.num_inputs = 0};
  PCSIM_TRY(train_find_waves(t, &waves));
  const choose_problem p = {.seconds = o->seconds > 0 ? fmax(0, train_last_second(t) - t->part.seconds) : 0,
                            .steps = o->steps > 0 ? train_last_step(t) - t->part.step : 0,
                            .threads = t->from->options.threads,
                            .waves = &waves,
                            .before = before,
                            .networks = t->from->regions ? train_num_regions(t->from) : 1,
                            .like_before = !t->part.stage, /* a slab goes on with what the last one did */
                            .bodies = count_bodies(t->from),
                            .try_choice = t->from->tries ? try_choice : NULL,
                            .context = &j};
  char why[400];
  t->choice.network.num_inputs = t->from->problem.domain->num_coordinates;
  t->choice.network.num_outputs = t->from->problem.num_solved - t->choice.stream;
  if (t->from->options.optimizer) t->choice.optimizer = t->from->options.optimizer->name;
  PCSIM_TRY(choose(&p, &t->choice, why, sizeof why));
  if (t->from->tries) pcsim_log(PCSIM_LOG_INFO, "%s", why);
  return PCSIM_OK;
}

pcsim_status train_choose(pcsim_training *t, const network_options *before) {
  train_case *from = t->from;
  if (t->part.number < from->num_chosen) {
    t->choice = from->chosen[t->part.number];
    return PCSIM_OK;
  }
  PCSIM_TRY(choose_now(t, before));
  PCSIM_TRY(pcsim_realloc((size_t)from->num_chosen + 1, sizeof *from->chosen, &from->chosen));
  from->chosen[from->num_chosen++] = t->choice;
  return PCSIM_OK;
}

pcsim_status train_restart(pcsim_training *t) {
  train_release(t);
  t->choice = t->from->asked;
  train_first(t->from, 1, &t->part);
  PCSIM_TRY(train_choose(t, NULL));
  train_first(t->from, t->choice.slabs, &t->part);
  t->step = t->draw = t->stalls = t->watched_step = 0;
  PCSIM_TRY(train_build(t, false));
  PCSIM_CHECK(t->optimizer, PCSIM_ERR_CASE, "what was chosen cannot be built");
  train_fill_view(t);
  pcsim_log(PCSIM_LOG_INFO, "%lld parameters, %lld points", (long long)t->num_parameters,
            (long long)pcsim_training_get(t)->num_points);
  return PCSIM_OK;
}

pcsim_status pcsim_training_choose(pcsim_training *t) {
  const double began = pcsim_time_wall();
  t->from->tries = true;
  t->from->num_chosen = 0;
  PCSIM_TRY(train_restart(t));
  t->seconds = pcsim_time_wall() - began; /* trials are part of the budget, not of the first slab's share */
  t->part.seconds = t->part.slab_seconds = t->seconds;
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------ as numbers */

static const char *const activations[] = {"tanh", "sin", "swish"};
enum { NUM_ACTIVATIONS = sizeof activations / sizeof *activations };

/* Place of a name among those of a table. */
static int network_number(const char *name) {
  size_t n;
  const network_kind *const *list = network_list(&n);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(list[i]->name, name)) return (int)i;
  return -1;
}
static int optimizer_number(const char *name) {
  size_t n;
  const optimizer_kind *const *list = optimizer_list(&n);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(list[i]->name, name)) return (int)i;
  return -1;
}

static void pass_int(double **at, int *value, bool out) {
  if (out) **at = *value;
  else *value = (int)**at;
  ++*at;
}
static void pass_count(double **at, int64_t *value, bool out) {
  if (out) **at = (double)*value;
  else *value = (int64_t) * *at;
  ++*at;
}
static void pass_double(double **at, double *value, bool out) {
  if (out) **at = *value;
  else *value = **at;
  ++*at;
}

/* All but names, seed and stream; `numbers` [TRAIN_CHOICE]. */
static void pass_numbers(choice *c, double *numbers, bool out) {
  network_options *n = &c->network;
  double *at = numbers + 3;
  pass_int(&at, &n->num_inputs, out), pass_int(&at, &n->num_outputs, out);
  pass_int(&at, &n->num_layers, out), pass_int(&at, &n->num_features, out);
  pass_int(&at, &c->slabs, out);
  pass_count(&at, &c->points, out), pass_count(&at, &c->redraw, out), pass_count(&at, &c->look, out);
  for (int i = 0; i < NETWORK_LAYERS; i++) pass_int(&at, &n->width[i], out);
  for (int i = 0; i < NETWORK_INPUTS; i++) pass_double(&at, &n->scale[i], out);
  for (int i = 0; i < NETWORK_COORDINATES; i++) {
    pass_int(&at, &n->num_waves[i], out);
    for (int k = 0; k < NETWORK_WAVES; k++) pass_double(&at, &n->wave[i][k], out);
  }
}
_Static_assert(TRAIN_CHOICE ==
                   3 + 8 + NETWORK_LAYERS + NETWORK_INPUTS + NETWORK_COORDINATES * (1 + NETWORK_WAVES),
               "what pass_numbers writes");

void train_choice_write(const choice *c, double *numbers) {
  choice copy = *c;
  numbers[0] = network_number(c->network.kind), numbers[2] = optimizer_number(c->optimizer);
  for (int i = 0; i < NUM_ACTIVATIONS; i++)
    if (!strcmp(activations[i], c->network.activation)) numbers[1] = i;
  pass_numbers(&copy, numbers, true);
}

bool train_choice_read(const double *numbers, const choice *asked, choice *c) {
  double copy[TRAIN_CHOICE];
  size_t networks, optimizers;
  const network_kind *const *network = network_list(&networks);
  const optimizer_kind *const *kind = optimizer_list(&optimizers);
  if (!(numbers[0] >= 0 && numbers[0] < (double)networks && numbers[1] >= 0 && numbers[1] < NUM_ACTIVATIONS &&
        numbers[2] >= 0 && numbers[2] < (double)optimizers))
    return false;
  memcpy(copy, numbers, sizeof copy);
  *c = *asked;
  c->network.kind = network[(int)numbers[0]]->name;
  c->network.activation = activations[(int)numbers[1]];
  c->optimizer = kind[(int)numbers[2]]->name;
  pass_numbers(c, copy, false);
  return c->network.num_layers > 0 && c->network.num_layers <= NETWORK_LAYERS && c->slabs > 0;
}
