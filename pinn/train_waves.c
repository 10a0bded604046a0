/* SPDX-License-Identifier: BSD-2-Clause */
/* Waves that a network has to carry, from what the case gives: values at the start and on the boundary,
 * sources. Those of a stage are the same: its network corrects what was made of them. */
#include "spectrum.h"
#include "train.h"

#include <stdio.h>
#include <string.h>

static pcsim_status sample(void *context, int64_t n, const double *points, double *values) {
  pcsim_executor *x = context;
  PCSIM_TRY(pcsim_executor_points(x, "points", n));
  PCSIM_TRY(pcsim_executor_bind(x, "coordinates", points));
  PCSIM_TRY(pcsim_executor_bind_output(x, "0", values));
  return pcsim_executor_run(x, false);
}

/* A text with zeros for unknowns, derivatives and normals: what is given of it. Texts of numbers alone have
 * no waves. */
static pcsim_status add_text(const train_case *from, const problem_text *text, const double (*range)[2],
                             spectrum *s) {
  enum { MOST = 4096 }; /* points at a time */
  pcsim_program *lowered = NULL;
  pcsim_executor *x = NULL;
  double *zeros = NULL;
  const char *name;
  bool varies = false;
  pcsim_status status;
  PCSIM_TRY(problem_lower(&from->problem, &text, 1, &lowered));
  if (!lowered) return PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc(MOST, sizeof *zeros, &zeros), status, done);
  PCSIM_GOTO(pcsim_executor_create(lowered, NULL, &x), status, done);
  for (int i = 0; (name = pcsim_program_input(lowered, i, NULL, NULL)); i++)
    if (!strcmp(name, "coordinates")) (void)pcsim_program_input(lowered, i, NULL, &varies);
    else PCSIM_GOTO(pcsim_executor_bind(x, name, zeros), status, done);
  if (varies) status = spectrum_add(s, from->domain, range, sample, x);
done:
  pcsim_program_destroy(&lowered);
  pcsim_executor_destroy(&x);
  pcsim_free(&zeros);
  return status;
}

pcsim_status train_find_waves(const pcsim_training *t, network_options *n) {
  const problem *p = &t->from->problem;
  const domain_view *d = p->domain;
  double range[DOMAIN_MAX][2];
  spectrum s = {0};
  memcpy(range, d->range, (size_t)d->num_coordinates * sizeof *range);
  if (d->time >= 0) memcpy(range[d->time], t->part.time, sizeof t->part.time);
  for (int i = 0; i < p->num_conditions; i++) PCSIM_TRY(add_text(t->from, &p->condition[i].text, range, &s));
  for (int i = 0; i < p->num_equations; i++) PCSIM_TRY(add_text(t->from, &p->equation[i], range, &s));
  for (int i = 0; i < d->num_coordinates; i++) n->num_waves[i] = spectrum_peaks(&s, i, n->wave[i]);
  for (int k = 0; k < p->num_periods; k++) n->num_waves[p->period[k].coordinate] = 0;
  return PCSIM_OK;
}
