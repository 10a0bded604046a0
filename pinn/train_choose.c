/* SPDX-License-Identifier: BSD-2-Clause */
/* What a case leaves open, chosen by short trials of trainings of its own. */
#include "train.h"

#include <math.h>

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
    *held_out = sqrt(2 * *held_out);
  }
  train_release(&trial);
  return status;
}

pcsim_status train_choose(pcsim_training *t, const network_options *before) {
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
                            .try_choice = try_choice,
                            .context = &j};
  char why[400];
  t->choice.network.num_inputs = t->from->problem.domain->num_coordinates;
  t->choice.network.num_outputs = t->from->problem.num_solved - t->choice.stream;
  if (t->from->options.optimizer) t->choice.optimizer = t->from->options.optimizer->name;
  PCSIM_TRY(choose(&p, &t->choice, why, sizeof why));
  pcsim_log(PCSIM_LOG_INFO, "%s", why);
  return PCSIM_OK;
}
