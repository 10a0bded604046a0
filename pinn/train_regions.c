/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions with a network each: their problems, the whole made of them, what is continuous between them. */
#include "train.h"

#include <stdio.h>
#include <string.h>

int train_num_regions(const train_case *from) { return from->regions ? regions_get(from->regions)->num : 0; }

const problem *train_problem(const pcsim_training *t, int region) {
  return region < 0 ? &t->from->problem : &t->from->in[region];
}

const ansatz *train_ansatz(const pcsim_training *t, int region) {
  return region < 0 ? &t->ansatz : &t->in[region];
}

/* ----------------------------------------------------------------------------- reading */

/* What is continuous is known for equations of second order, with a flux that can be seen. */
static pcsim_status check(const train_case *from) {
  const problem *p = &from->problem;
  const domain_view *d = p->domain;
  if (problem_is_flow(p)) {
    pcsim_tree_problem(from->tree, regions_node(from->tree),
                       "regions are for typed equations; the built-in flow has one material");
    return PCSIM_OK;
  }
  for (int u = 0; u < p->num_solved && u < p->num_equations; u++) {
    int order = 0;
    char *flux = NULL;
    for (int k = 0; k < d->num_space; k++)
      if (p->order[u][k] > order) order = p->order[u][k];
    PCSIM_TRY(text_flux(pcsim_node_text(p->equation[u].node), d->coordinate, d->num_space, &flux));
    if (order > 2)
      pcsim_tree_problem(
          from->tree, p->equation[u].node,
          "across the interfaces of regions values and fluxes are continuous: equations are of "
          "second order at most, and `%s` has order %d",
          p->unknown[u], order);
    else if (order == 2 && !flux)
      pcsim_tree_problem(
          from->tree, p->equation[u].node,
          "the flux of `%s`, which is continuous between regions, is not to be seen: write the "
          "equation with div or lap, e.g. \"div(k*grad(%s)) + f\"",
          p->unknown[u], p->unknown[u]);
    pcsim_free(&flux);
  }
  return PCSIM_OK;
}

pcsim_status train_read_regions(train_case *from) {
  const size_t before = pcsim_tree_num_problems(from->tree);
  const int num = train_num_regions(from);
  if (!num) return PCSIM_OK;
  PCSIM_TRY(check(from));
  if (pcsim_tree_num_problems(from->tree) != before) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *from->in, &from->in));
  for (int i = 0; i < num; i++)
    PCSIM_TRY(problem_read(from->tree, domain_get(from->domain), from->regions, i, &from->in[i]));
  return PCSIM_OK;
}

/* ----------------------------------------------------------------------------- the whole */

typedef struct {
  const pcsim_training *t;
  pcsim_program *p;
  pcsim_space space;
  pcsim_argument at; /* coordinates */
} joiner;

/* Unknowns `whole` become those of a region where its condition `text` holds. */
static pcsim_status put_region(joiner *j, int region, const char *text, pcsim_value *whole) {
  const problem *q = &j->t->from->problem;
  const char *const output = "0";
  pcsim_value in, part[PROBLEM_MAX];
  pcsim_program *lowered = NULL;
  PCSIM_TRY(pcsim_lower(&text, 1, &q->names, &lowered, NULL, NULL));
  pcsim_build_part(j->p, lowered, j->space, &j->at, 1, &output, 1, &in);
  pcsim_program_destroy(&lowered);
  pcsim_build_part(j->p, j->t->in[region].fields, j->space, &j->at, 1, (const char *const *)q->unknown,
                   q->num_unknowns, part);
  for (int u = 0; u < q->num_unknowns; u++)
    whole[u] = pcsim_build_op(j->p, PCSIM_OP_WHERE, (const pcsim_value[]){in, part[u], whole[u]}, 3);
  return PCSIM_OK;
}

/* As regions_find finds them. */
static pcsim_status join(const pcsim_training *t, pcsim_program *p) {
  const problem *q = &t->from->problem;
  const regions_view *v = regions_get(t->from->regions);
  const int last = v->num - 1;
  const bool rest = !v->condition[last];
  pcsim_value whole[PROBLEM_MAX];
  joiner j = {.t = t, .p = p, .space = pcsim_build_space(p, "points"), .at = {.name = "coordinates"}};
  j.at.value = pcsim_build_input(p, "coordinates", j.space, q->domain->num_coordinates);
  pcsim_build_part(p, t->in[last].fields, j.space, &j.at, 1, (const char *const *)q->unknown, q->num_unknowns,
                   whole);
  for (int r = last - 1; !rest && r >= 0; r--) PCSIM_TRY(put_region(&j, r, v->closed[r], whole));
  for (int r = rest ? last - 1 : last; r >= 0; r--) PCSIM_TRY(put_region(&j, r, v->condition[r], whole));
  for (int u = 0; u < q->num_unknowns; u++) pcsim_build_output(p, q->unknown[u], whole[u]);
  return pcsim_program_status(p);
}

pcsim_status train_join_regions(pcsim_training *t) {
  const size_t n = (size_t)t->from->problem.num_conditions;
  PCSIM_TRY(pcsim_alloc(n, sizeof *t->ansatz.built, &t->ansatz.built));
  memcpy(t->ansatz.built, t->in[0].built,
         n * sizeof *t->ansatz.built); /* the boundary is that of the domain */
  PCSIM_TRY(pcsim_program_create(&t->ansatz.fields));
  return join(t, t->ansatz.fields);
}

/* ------------------------------------------------------------------------ what is continuous */

/* Equations of second order in space have one that is continuous. */
static bool has_flux(const problem *p, int unknown) {
  bool second = false;
  for (int k = 0; k < p->domain->num_space; k++) second = second || p->order[unknown][k] > 1;
  return second;
}

/* Values and fluxes of a region, in the order of the unknowns; `text` [2 PROBLEM_MAX] are the caller's. */
static pcsim_status continuous(const problem *p, problem_text *text, int *n) {
  const domain_view *d = p->domain;
  *n = 0;
  for (int u = 0; u < p->num_solved; u++) {
    char *flux = NULL;
    text[*n] = (problem_text){.node = p->equation[u].node};
    PCSIM_TRY(pcsim_strdup(p->unknown[u], &text[*n].text));
    ++*n;
    if (!has_flux(p, u)) continue;
    PCSIM_TRY(text_flux(p->equation[u].text, d->coordinate, d->num_space, &flux));
    text[*n] = (problem_text){.node = p->equation[u].node, .text = flux};
    ++*n;
  }
  return PCSIM_OK;
}

bool train_is_flux(const pcsim_training *t, int row) {
  const problem *p = &t->from->problem;
  int n = 0;
  for (int u = 0; u < p->num_solved; u++) {
    if (n++ == row) return false;
    if (has_flux(p, u) && n++ == row) return true;
  }
  return false;
}

/* Those of one side, by the network of its region. */
static pcsim_status of_side(const pcsim_training *t, int region, pcsim_program **program, int *rows) {
  const problem *p = train_problem(t, region);
  problem_text text[2 * PROBLEM_MAX];
  const problem_text *list[2 * PROBLEM_MAX];
  pcsim_program *lowered = NULL;
  *program = NULL;
  pcsim_status status = continuous(p, text, rows);
  for (int i = 0; i < *rows; i++) list[i] = &text[i];
  if (status == PCSIM_OK) status = problem_lower(p, list, *rows, &lowered);
  if (status == PCSIM_OK && lowered)
    status = pcsim_lower_compose(lowered, &p->names, train_ansatz(t, region)->fields, program);
  pcsim_program_destroy(&lowered);
  for (int i = 0; i < *rows; i++) text_clear(&text[i]);
  return status;
}

/* Inputs of a side, those of the joint program by their names. */
static pcsim_status add_side(pcsim_program *p, pcsim_space space, const pcsim_program *side,
                             const char *const *outputs, int rows, const pcsim_argument *have, int num,
                             pcsim_value *values) {
  pcsim_build_part(p, side, space, have, num, outputs, rows, values);
  return pcsim_program_status(p);
}

static pcsim_status difference(const pcsim_training *t, const pcsim_program *const side[2], int rows,
                               pcsim_program *p) {
  const domain_view *d = t->from->problem.domain;
  const pcsim_space space = pcsim_build_space(p, "points");
  pcsim_argument have[DOMAIN_MAX + 1];
  pcsim_value values[2][2 * PROBLEM_MAX];
  char text[2 * PROBLEM_MAX][16];
  const char *names[2 * PROBLEM_MAX];
  int num = 0;
  have[num++] =
      (pcsim_argument){"coordinates", pcsim_build_input(p, "coordinates", space, d->num_coordinates)};
  for (int k = 0; k < d->num_space; k++)
    have[num++] = (pcsim_argument){t->from->normal[k], pcsim_build_input(p, t->from->normal[k], space, 1)};
  for (int i = 0; i < rows; i++) {
    snprintf(text[i], sizeof text[i], "%d", i);
    names[i] = text[i];
  }
  for (int k = 0; k < 2; k++) PCSIM_TRY(add_side(p, space, side[k], names, rows, have, num, values[k]));
  for (int i = 0; i < rows; i++)
    pcsim_build_output(p, names[i], pcsim_build_binary(p, PCSIM_OP_SUB, values[0][i], values[1][i]));
  return pcsim_program_status(p);
}

pcsim_status train_jump(const pcsim_training *t, int interface, pcsim_program **program, int *rows) {
  const region_interface *i = &regions_get(t->from->regions)->interface[interface];
  pcsim_program *side[2] = {NULL, NULL}, *p = NULL;
  pcsim_status status;
  *program = NULL;
  PCSIM_GOTO(of_side(t, i->inner, &side[0], rows), status, done);
  PCSIM_GOTO(of_side(t, i->outer, &side[1], rows), status, done);
  if (!side[0] || !side[1]) goto done;
  PCSIM_GOTO(pcsim_program_create(&p), status, done);
  PCSIM_GOTO(difference(t, (const pcsim_program *const[]){side[0], side[1]}, *rows, p), status, done);
  *program = p, p = NULL;
done:
  pcsim_program_destroy(&p);
  for (int k = 0; k < 2; k++) pcsim_program_destroy(&side[k]);
  return status;
}
