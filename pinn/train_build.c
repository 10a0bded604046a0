/* SPDX-License-Identifier: BSD-2-Clause */
/* A training made from a case, and anew from another choice. */
#include "train.h"

#include <stdio.h>
#include <string.h>

void train_release(pcsim_training *t) {
  if (t->optimizer) t->kind->destroy(&t->optimizer);
  groups_destroy(&t->groups);
  groups_parameters_clear(&t->parameters);
  ansatz_clear(&t->ansatz);
  pcsim_executor_destroy(&t->values);
  pcsim_executor_destroy(&t->gradients);
  pcsim_free(&t->group);
  pcsim_free(&t->theta);
  pcsim_free(&t->best);
  t->num_groups = 0;
}

static void case_destroy(train_case **from) {
  if (!*from) return;
  problem_clear(&(*from)->problem);
  data_destroy(&(*from)->data);
  domain_destroy(&(*from)->domain);
  pcsim_free(from);
}

void pcsim_training_destroy(pcsim_training **training) {
  if (!*training) return;
  train_release(*training);
  case_destroy(&(*training)->from);
  pcsim_free(training);
}

static pcsim_status make_ansatz(pcsim_training *t, bool quiet) {
  const domain_view *d = t->from->problem.domain;
  ansatz_options options = {
      .network = network_find(t->choice.network.kind), .options = t->choice.network, .prefix = "net_"};
  char *text = NULL;
  for (int u = 0; u < PROBLEM_MAX; u++) options.magnitude[u] = 1;
  for (int side = 0; d->time >= 0 && side < 2; side++) options.time[side] = d->range[d->time][side];
  PCSIM_TRY(ansatz_build(&t->from->problem, t->from->domain, &options, &t->ansatz));
  for (int built = 1; built >= 0 && t->ansatz.fields && !quiet; built--) {
    PCSIM_TRY(ansatz_names(&t->from->problem, &t->ansatz, built, &text));
    pcsim_log(PCSIM_LOG_INFO, "%s: %s", built ? "built in" : "penalised", *text ? text : "nothing");
    pcsim_free(&text);
  }
  return PCSIM_OK;
}

static pcsim_status make_state(pcsim_training *t, bool quiet) {
  const size_t n = (size_t)t->num_parameters;
  objective *o = groups_objective(t->groups);
  PCSIM_TRY(pcsim_alloc(n, sizeof *t->theta, &t->theta));
  PCSIM_TRY(pcsim_alloc(n, sizeof *t->best, &t->best));
  memcpy(t->theta, t->parameters.start, n * sizeof *t->theta);
  memcpy(t->best, t->theta, n * sizeof *t->best);
  PCSIM_TRY(train_draw(t, NULL));
  PCSIM_TRY(train_balance(t, quiet));
  PCSIM_TRY(train_held_out(t, t->theta, &t->held_out));
  t->first_loss = t->best_held_out = t->held_out;
  PCSIM_TRY(o->loss(o, t->theta, &t->loss, NULL));
  t->best_loss = t->loss;
  t->kind = optimizer_find(t->choice.optimizer);
  if (t->kind == t->from->options.optimizer)
    memcpy(t->option, t->from->options.optimizer_option, sizeof t->option);
  else optimizer_defaults(t->kind, t->option);
  return t->kind->create(t->num_parameters, t->option, t->from->options.threads, &t->optimizer);
}

pcsim_status train_build(pcsim_training *t, bool quiet) {
  const size_t before = pcsim_tree_num_problems(t->from->tree);
  PCSIM_TRY(make_ansatz(t, quiet));
  if (!t->ansatz.fields) return PCSIM_OK;
  PCSIM_TRY(groups_parameters_of(t->ansatz.fields, "net_", &t->parameters));
  t->num_parameters = t->parameters.first[t->parameters.num];
  PCSIM_TRY(groups_create(&t->parameters, t->from->options.threads, &t->groups));
  PCSIM_TRY(train_make_groups(t));
  if (pcsim_tree_num_problems(t->from->tree) != before) return PCSIM_OK;
  return make_state(t, quiet);
}

static void fill_view(pcsim_training *t) {
  const problem *p = &t->from->problem;
  for (int u = p->num_solved; u < p->num_unknowns; u++)
    t->from->number[u] = !p->coefficient[u - p->num_solved].num_of;
  const domain_view *d = t->from->problem.domain;
  t->view = (pcsim_training_view){.num_coordinates = d->num_coordinates,
                                  .num_space = d->num_space,
                                  .time = d->time,
                                  .coordinate = d->coordinate,
                                  .range = d->range,
                                  .num_unknowns = t->from->problem.num_unknowns,
                                  .unknown = (const char *const *)t->from->problem.unknown,
                                  .num_solved = t->from->problem.num_solved,
                                  .number = t->from->number,
                                  .gauge = t->from->problem.gauge,
                                  .network = t->choice.network.kind,
                                  .optimizer = t->kind->name,
                                  .num_parameters = t->num_parameters,
                                  .seed = t->from->options.seed,
                                  .budget_seconds = t->from->options.seconds,
                                  .budget_steps = t->from->options.steps,
                                  .num_groups = t->num_groups};
}

/* What is measured is made of unknowns. */
static pcsim_status check_data(const train_case *from) {
  const data_view *d;
  for (int i = 0; (d = data_get(from->data, i)); i++)
    for (int k = 0; k < d->num_fits; k++) {
      problem_text text = {.node = d->fit_node[k]};
      pcsim_program *lowered = NULL;
      PCSIM_TRY(pcsim_strdup(d->fit[k], &text.text));
      const problem_text *list = &text;
      pcsim_status status = problem_lower(&from->problem, &list, 1, &lowered);
      pcsim_program_destroy(&lowered);
      text_clear(&text);
      PCSIM_TRY(status);
    }
  return PCSIM_OK;
}

static void name_columns(train_case *from) {
  const domain_view *d = from->problem.domain;
  for (int i = 0; i < d->num_space; i++) {
    snprintf(from->normal_name[i], sizeof from->normal_name[i], "n.%s", d->coordinate[i]);
    from->normal[i] = from->normal_name[i];
  }
  for (int i = 0; i < GROUPS_ROWS_MAX; i++) {
    snprintf(from->data_text[i], sizeof from->data_text[i], "data_%d", i);
    from->data_name[i] = from->data_text[i];
  }
}

static pcsim_status create(pcsim_tree *tree, pcsim_training *t) {
  const size_t before = pcsim_tree_num_problems(tree);
  const double began = pcsim_time_wall();
  PCSIM_TRY(pcsim_alloc(1, sizeof *t->from, &t->from));
  t->from->tree = tree;
  train_read_options(tree, &t->from->options, &t->choice);
  PCSIM_TRY(domain_read(tree, &t->from->domain));
  if (!t->from->domain) return PCSIM_OK;
  PCSIM_TRY(problem_read(tree, domain_get(t->from->domain), &t->from->problem));
  PCSIM_TRY(data_read(tree, t->from->domain, &t->from->data));
  PCSIM_TRY(check_data(t->from));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  name_columns(t->from);
  PCSIM_TRY(train_choose(t));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  PCSIM_TRY(train_build(t, false));
  if (!t->optimizer) return PCSIM_OK;
  fill_view(t);
  t->seconds = pcsim_time_wall() - began; /* trials are part of the budget */
  pcsim_log(PCSIM_LOG_INFO, "%lld parameters, %lld points", (long long)t->num_parameters,
            (long long)pcsim_training_get(t)->num_points);
  return PCSIM_OK;
}

pcsim_status pcsim_training_read(pcsim_tree *tree, pcsim_training **training) {
  const size_t before = pcsim_tree_num_problems(tree);
  pcsim_training *t = NULL;
  *training = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *t, &t));
  pcsim_status status = create(tree, t);
  if (status != PCSIM_OK || pcsim_tree_num_problems(tree) != before) pcsim_training_destroy(&t);
  *training = t;
  return status;
}

const pcsim_training_view *pcsim_training_get(pcsim_training *t) {
  t->view.num_points = 0;
  for (int g = 0; g < t->num_groups; g++) t->view.num_points += t->group[g].n;
  return &t->view;
}
int64_t pcsim_training_at(const pcsim_training *t) { return t->step; }
