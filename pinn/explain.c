/* SPDX-License-Identifier: BSD-2-Clause */
/* What the texts of a case become, without training: for people. */
#include "problem.h"

#include <pcsim/pinn.h>

#include <stdio.h>

static pcsim_status show(const problem *p, const char *title, const problem_text *text,
                         pcsim_training_reader visit, void *context) {
  pcsim_program *lowered = NULL;
  PCSIM_TRY(problem_lower(p, &text, 1, &lowered));
  pcsim_status status = lowered ? visit(context, title, text->text, lowered) : PCSIM_OK;
  pcsim_program_destroy(&lowered);
  return status;
}

static pcsim_status show_condition(const problem *p, const problem_condition *c, pcsim_training_reader visit,
                                   void *context) {
  char title[300];
  const char *what = c->unknown >= 0 ? p->unknown[c->unknown] : NULL;
  if (what) snprintf(title, sizeof title, "%s%s on %s", what, c->kind == CONDITION_RATE ? "_t" : "", c->name);
  else snprintf(title, sizeof title, "zero on %s", c->name);
  return show(p, title, &c->text, visit, context);
}

pcsim_status pcsim_training_explain(pcsim_tree *tree, pcsim_training_reader visit, void *context) {
  const size_t before = pcsim_tree_num_problems(tree);
  domain *d = NULL;
  regions *r = NULL;
  problem p = {0};
  pcsim_status status = domain_read(tree, &d);
  if (status == PCSIM_OK && d) status = regions_read(tree, d, &r);
  if (status == PCSIM_OK && d) status = problem_read(tree, domain_get(d), r, -1, &p);
  const bool good = status == PCSIM_OK && d && pcsim_tree_num_problems(tree) == before;
  for (int i = 0; good && i < p.num_equations && status == PCSIM_OK; i++) {
    char title[40];
    snprintf(title, sizeof title, "equation %d", i + 1);
    status = show(&p, title, &p.equation[i], visit, context);
  }
  for (int i = 0; good && i < p.num_conditions && status == PCSIM_OK; i++)
    status = show_condition(&p, &p.condition[i], visit, context);
  problem_clear(&p);
  regions_destroy(&r);
  domain_destroy(&d);
  return status;
}
