/* SPDX-License-Identifier: BSD-2-Clause */
/* The level of unknowns that only their derivatives fix, the pressure of a closed flow above all. Training
 * leaves it anywhere; what is given out has the mean 0 over space and the span of time of a slab. */
#include "train.h"

#include <string.h>

/* ------------------------------------------------------------------------ which unknowns */

/* Those of which a text has more than derivatives by space have a level. */
static pcsim_status look_at(train_case *from, const problem_text *text) {
  const problem *p = &from->problem;
  pcsim_program *lowered = NULL;
  const char *input;
  bool used;
  pcsim_status status = problem_lower(p, &text, 1, &lowered);
  for (int i = 0; status == PCSIM_OK && lowered && (input = pcsim_program_input(lowered, i, NULL, &used));
       i++) {
    int unknown, orders[DOMAIN_MAX] = {0}, by_space = 0;
    if (!used || !strcmp(input, "coordinates") || !strncmp(input, "n.", 2)) continue;
    status = pcsim_lowering_derivative(&p->names, input, &unknown, orders);
    for (int k = 0; k < p->domain->num_space; k++) by_space += orders[k];
    if (status == PCSIM_OK && !by_space) from->gauge[unknown] = false;
  }
  pcsim_program_destroy(&lowered);
  return status;
}

pcsim_status train_find_gauges(train_case *from) {
  const problem *p = &from->problem;
  const data_view *d;
  for (int u = 0; u < p->num_unknowns; u++) from->gauge[u] = u < p->num_solved;
  for (int i = 0; i < p->num_equations; i++) PCSIM_TRY(look_at(from, &p->equation[i]));
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    if (c->kind == CONDITION_RESIDUAL) PCSIM_TRY(look_at(from, &c->text));
    else from->gauge[c->unknown] = false;
  }
  for (int i = 0; (d = data_get(from->data, i)); i++)
    for (int k = 0; k < d->num_fits; k++) {
      problem_text text = {.node = d->fit_node[k]};
      PCSIM_TRY(pcsim_strdup(d->fit[k], &text.text));
      const pcsim_status status = look_at(from, &text);
      text_clear(&text);
      PCSIM_TRY(status);
    }
  return PCSIM_OK;
}

bool train_has_gauge(const train_case *from) {
  bool any = false;
  for (int u = 0; u < from->problem.num_unknowns; u++) any = any || from->gauge[u];
  return any;
}

/* ----------------------------------------------------------------------------- the means */

pcsim_status train_level_points(const pcsim_training *t, const double *span, int64_t n, double *points) {
  PCSIM_TRY(
      domain_draw_inside(t->from->domain, t->from->options.seed, sample_draw(SAMPLE_FRESH, 0), n, points));
  train_into_span(t, span, n, points);
  return PCSIM_OK;
}

void train_level_take(const train_case *from, int64_t n, const double *values, train_level *level) {
  const int unknowns = from->problem.num_unknowns;
  for (int u = 0; u < unknowns; u++) {
    level->mean[u] = 0;
    for (int64_t i = 0; from->gauge[u] && i < n; i++) level->mean[u] += values[i * unknowns + u] / (double)n;
  }
  level->known = true;
}
