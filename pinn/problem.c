/* SPDX-License-Identifier: BSD-2-Clause */
/* What a case asks a network to satisfy: reading it and checking that it hangs together. */
#include "problem.h"

#include <stdio.h>
#include <string.h>

void problem_clear(problem *p) {
  for (int i = 0; i < p->num_unknowns; i++) pcsim_free(&p->unknown[i]);
  for (int i = 0; i < p->num_equations; i++) text_clear(&p->equation[i]);
  for (int i = 0; i < p->num_conditions; i++) {
    pcsim_free(&p->condition[i].name);
    pcsim_free(&p->condition[i].piece);
    text_clear(&p->condition[i].text);
  }
  for (int i = 0; i < p->names.num_tables; i++) {
    char *path = (char *)p->names.tables[i].path; /* made by read_tables */
    pcsim_free(&path);
  }
  pcsim_lowering_table *tables = (pcsim_lowering_table *)p->names.tables;
  pcsim_free(&tables);
  pcsim_free(&p->parameter), pcsim_free(&p->parameter_value);
  pcsim_free(&p->condition);
  pcsim_free(&p->order);
  problem_names_clear(&p->written);
  *p = (problem){0};
}

/* ------------------------------------------------------------------- lowering */

static void report(const problem *p, const problem_text *text, size_t offset) {
  const size_t n = strlen(text->text);
  const size_t column = text->place && n ? (size_t)text->place[offset < n ? offset : n - 1] : 0;
  const bool own = pcsim_node_get_kind(text->node) == PCSIM_NODE_SCALAR;
  if (own) pcsim_tree_problem_inside(p->tree, text->node, column, "%s", pcsim_error_message());
  else pcsim_tree_problem(p->tree, text->node, "%s", pcsim_error_message());
}

pcsim_status problem_lower(const problem *p, const problem_text *const *texts, int n,
                           pcsim_program **program) {
  const char **list = NULL;
  int which = -1;
  size_t offset = 0;
  *program = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *list, &list));
  for (int i = 0; i < n; i++) list[i] = texts[i]->text;
  pcsim_status status = pcsim_lower(list, n, &p->names, program, &which, &offset);
  pcsim_free(&list);
  if (status != PCSIM_ERR_CASE) return status;
  if (which >= 0) report(p, texts[which], offset);
  else pcsim_tree_problem(p->tree, NULL, "%s", pcsim_error_message());
  pcsim_error_clear();
  return PCSIM_OK;
}

/* --------------------------------------------------------------------- checking */

/* What the equations ask for: highest derivatives, and that every unknown is in one of them. */
static pcsim_status check_equations(problem *p) {
  const problem_text *texts[PROBLEM_MAX];
  pcsim_program *lowered = NULL;
  bool used[PROBLEM_MAX] = {false};
  const char *input;
  if (p->num_equations != p->num_solved)
    pcsim_tree_problem(p->tree,
                       pcsim_node_get(pcsim_node_get(pcsim_tree_root(p->tree), "physics"), "equations"),
                       "%d equation%s for %d unknown%s; expected one for each", p->num_equations,
                       p->num_equations == 1 ? "" : "s", p->num_solved, p->num_solved == 1 ? "" : "s");
  if (!p->num_equations || !p->num_unknowns) return PCSIM_OK;
  for (int i = 0; i < p->num_equations; i++) texts[i] = &p->equation[i];
  PCSIM_TRY(problem_lower(p, texts, p->num_equations, &lowered));
  if (!lowered) return PCSIM_OK;
  pcsim_status status = pcsim_alloc((size_t)p->num_unknowns, sizeof *p->order, &p->order);
  for (int i = 0; status == PCSIM_OK && (input = pcsim_program_input(lowered, i, NULL, NULL)); i++) {
    int unknown, orders[DOMAIN_MAX] = {0};
    if (!strcmp(input, "coordinates") || !strncmp(input, "n.", 2)) continue;
    status = pcsim_lowering_derivative(&p->names, input, &unknown, orders);
    if (status != PCSIM_OK) break;
    used[unknown] = true;
    for (int k = 0; k < p->names.num_coordinates; k++)
      if (orders[k] > p->order[unknown][k]) p->order[unknown][k] = orders[k];
  }
  pcsim_program_destroy(&lowered);
  for (int i = 0; status == PCSIM_OK && i < p->num_unknowns; i++)
    if (!used[i])
      pcsim_tree_problem(p->tree, p->unknown_node[i], "the unknown `%s` is in no equation", p->unknown[i]);
  return status;
}

/* Texts of all conditions are lowered once, so that faults are found before training. */
static pcsim_status check_conditions(problem *p) {
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_text *text = &p->condition[i].text;
    pcsim_program *lowered = NULL;
    PCSIM_TRY(problem_lower(p, &text, 1, &lowered));
    pcsim_program_destroy(&lowered);
  }
  return PCSIM_OK;
}

/* Each derivative by time but the highest is given at the start. */
static void check_initial(problem *p) {
  const int t = p->domain->time;
  for (int u = 0; t >= 0 && p->order && u < p->num_unknowns; u++) {
    bool value = false, rate = false;
    for (int i = 0; i < p->num_conditions; i++) {
      const problem_condition *c = &p->condition[i];
      value = value || (c->unknown == u && c->place == PLACE_START && c->kind == CONDITION_VALUE);
      rate = rate || (c->unknown == u && c->place == PLACE_START && c->kind == CONDITION_RATE);
    }
    if (p->order[u][t] > 0 && !value)
      pcsim_log(PCSIM_LOG_WARNING,
                "`initial` gives no `%s`: with its derivative by time alone it is not "
                "determined",
                p->unknown[u]);
    else if (p->order[u][t] > 1 && !rate)
      pcsim_log(PCSIM_LOG_WARNING, "`initial` gives no `%s_t`: an equation of second order in time needs it",
                p->unknown[u]);
    if (p->order[u][t] < 2 && rate)
      pcsim_tree_problem(
          p->tree, pcsim_node_get(pcsim_tree_root(p->tree), "initial"),
          "`%s_t` is given at the start, but the equations have no second derivative of `%s` by time",
          p->unknown[u], p->unknown[u]);
  }
}

/* Parameters of the case; those that the network takes as inputs are coordinates. */
static pcsim_status take_parameters(problem *p) {
  const char *const *names;
  const double *values;
  const domain_view *d = p->domain;
  const int all = pcsim_tree_parameters(p->tree, &names, &values);
  int n = 0;
  PCSIM_TRY(pcsim_alloc((size_t)all, sizeof *p->parameter, &p->parameter));
  PCSIM_TRY(pcsim_alloc((size_t)all, sizeof *p->parameter_value, &p->parameter_value));
  for (int i = 0; i < all; i++) {
    bool input = false;
    for (int k = d->num_space + (d->time >= 0); k < d->num_coordinates; k++)
      input = input || !strcmp(names[i], d->coordinate[k]);
    if (input) continue;
    p->parameter[n] = names[i];
    p->parameter_value[n++] = values[i];
  }
  p->names.num_parameters = n;
  p->names.parameters = p->parameter;
  p->names.values = p->parameter_value;
  return PCSIM_OK;
}

pcsim_status problem_read(pcsim_tree *tree, const domain_view *d, const regions *r, int region, problem *p) {
  *p = (problem){.tree = tree, .domain = d, .regions = r, .region = region};
  p->names.num_coordinates = d->num_coordinates;
  p->names.coordinates = d->coordinate;
  p->names.num_inputs = d->num_coordinates - d->num_space - (d->time >= 0);
  pcsim_status status = take_parameters(p);
  if (status == PCSIM_OK) status = problem_physics(p, &p->written);
  p->names.num_unknowns = p->num_unknowns;
  p->names.unknowns = (const char *const *)p->unknown;
  if (status == PCSIM_OK) status = check_equations(p);
  if (status == PCSIM_OK) status = problem_conditions(p, &p->written);
  if (status == PCSIM_OK) status = check_conditions(p);
  if (status == PCSIM_OK && region < 0) check_initial(p);
  return status;
}
