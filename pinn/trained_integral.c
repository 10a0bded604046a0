/* SPDX-License-Identifier: BSD-2-Clause */
/* Integrals of expressions of what a training has found. */
#include "train.h"

#include <stdio.h>
#include <string.h>

struct pcsim_training_integral {
  pcsim_training *t; /* borrowed */
  bool *on;          /* [num_pieces] of the boundary; NULL: inside */
  int num_texts, num_at;
  double (*at)[DOMAIN_MAX];
  pcsim_program *lowered;
  pcsim_executor *x;
};

void pcsim_training_integral_destroy(pcsim_training_integral **integral) {
  pcsim_training_integral *i = *integral;
  if (!i) return;
  pcsim_executor_destroy(&i->x);
  pcsim_program_destroy(&i->lowered);
  pcsim_free(&i->on), pcsim_free(&i->at);
  pcsim_free(integral);
}

/* Values and first derivatives are what the trained unknowns offer. */
static pcsim_status check_inputs(const problem *p, const pcsim_node *node, const pcsim_program *lowered,
                                 bool boundary, bool *good) {
  const char *name;
  bool any = false, used;
  *good = true;
  for (int i = 0; (name = pcsim_program_input(lowered, i, NULL, &used)); i++) {
    int unknown, orders[DOMAIN_MAX] = {0}, sum = 0;
    any = any || used;
    if (!strcmp(name, "coordinates")) continue;
    if (!strncmp(name, "n.", 2)) {
      if (!boundary) pcsim_tree_problem(p->tree, node, "there is a normal on boundaries only"), *good = false;
      continue;
    }
    PCSIM_TRY(pcsim_lowering_derivative(&p->names, name, &unknown, orders));
    for (int k = 0; k < p->names.num_coordinates; k++) sum += orders[k];
    if (sum < 2) continue;
    pcsim_tree_problem(p->tree, node, "`%s`: expected derivatives of first order", name);
    *good = false;
  }
  if (!any) pcsim_tree_problem(p->tree, node, "an integral of a number; expected unknowns"), *good = false;
  return PCSIM_OK;
}

static pcsim_status lower(pcsim_training_integral *i, const pcsim_training_integrand *of, bool *good) {
  const problem *p = &i->t->from->problem;
  problem_text text[PROBLEM_MAX] = {{0}};
  const problem_text *list[PROBLEM_MAX];
  pcsim_status status = PCSIM_OK;
  *good = false;
  PCSIM_CHECK(of->num_texts <= PROBLEM_MAX, PCSIM_ERR_ARG, "%d integrands; expected %d at most",
              of->num_texts, PROBLEM_MAX);
  for (int k = 0; k < of->num_texts && status == PCSIM_OK; k++) {
    status = text_expand(of->node, of->text[k], p->written.name, p->written.num, "", "", &text[k]);
    list[k] = &text[k];
  }
  if (status == PCSIM_OK) status = problem_lower(p, list, of->num_texts, &i->lowered);
  if (status == PCSIM_OK && i->lowered) status = check_inputs(p, of->node, i->lowered, of->on != NULL, good);
  for (int k = 0; k < of->num_texts; k++) text_clear(&text[k]);
  return status;
}

static pcsim_status create(pcsim_training_integral *i, const pcsim_training_integrand *of, bool *good) {
  const domain_view *d = i->t->from->problem.domain;
  i->num_texts = of->num_texts, i->num_at = of->num_at;
  PCSIM_TRY(pcsim_alloc((size_t)of->num_at, sizeof *i->at, &i->at));
  for (int k = 0; k < of->num_at; k++)
    for (int c = d->num_space; c < d->num_coordinates; c++) i->at[k][c] = of->at[k * d->num_coordinates + c];
  if (of->on) {
    PCSIM_TRY(pcsim_alloc((size_t)d->num_pieces, sizeof *i->on, &i->on));
    memcpy(i->on, of->on, (size_t)d->num_pieces * sizeof *i->on);
  }
  PCSIM_TRY(lower(i, of, good));
  if (!*good) return PCSIM_OK;
  return pcsim_executor_create(i->lowered, &(pcsim_executor_options){.threads = i->t->from->options.threads},
                               &i->x);
}

pcsim_status pcsim_training_integral_create(pcsim_training *t, const pcsim_training_integrand *of,
                                            pcsim_training_integral **integral) {
  pcsim_training_integral *i = NULL;
  bool good = false;
  *integral = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *i, &i));
  i->t = t;
  pcsim_status status = create(i, of, &good);
  if (status != PCSIM_OK || !good) pcsim_training_integral_destroy(&i);
  *integral = i;
  return status;
}

/* ------------------------------------------------------------------------ evaluating */

/* Points, and what each of them counts; time and inputs are those of one place at a time. */
typedef struct {
  int64_t num;
  double *x; /* [num][num_coordinates] */
  double *normal, *weight;
} quadrature;

static void quadrature_free(quadrature *q) {
  pcsim_free(&q->x), pcsim_free(&q->normal), pcsim_free(&q->weight);
}

static pcsim_status draw(const pcsim_training_integral *i, int64_t n, quadrature *q) {
  const domain_view *d = i->t->from->problem.domain;
  const uint64_t seed = i->t->from->options.seed, number = sample_draw(SAMPLE_FRESH, 0);
  const size_t width = (size_t)d->num_coordinates, space = (size_t)d->num_space;
  int pieces = i->on ? 0 : 1;
  for (int k = 0; i->on && k < d->num_pieces; k++) pieces += i->on[k];
  q->num = pieces * n;
  PCSIM_TRY(pcsim_alloc((size_t)q->num, width * sizeof *q->x, &q->x));
  PCSIM_TRY(pcsim_alloc((size_t)q->num, space * sizeof *q->normal, &q->normal));
  PCSIM_TRY(pcsim_alloc((size_t)q->num, sizeof *q->weight, &q->weight));
  int64_t at = 0;
  if (!i->on) PCSIM_TRY(domain_draw_inside(i->t->from->domain, seed, number, n, q->x));
  for (int64_t k = 0; !i->on && k < n; k++) q->weight[k] = d->volume / (double)n;
  for (int k = 0; i->on && k < d->num_pieces; k++) {
    if (!i->on[k]) continue;
    PCSIM_TRY(domain_draw_piece(i->t->from->domain, k, seed, number, n, q->x + at * (int64_t)width,
                                q->normal + at * (int64_t)space));
    for (int64_t j = at; j < at + n; j++) q->weight[j] = d->area[k] / (double)n;
    at += n;
  }
  return PCSIM_OK;
}

static void go_to(const pcsim_training_integral *i, int place, quadrature *q) {
  const domain_view *d = i->t->from->problem.domain;
  for (int64_t j = 0; j < q->num; j++)
    for (int c = d->num_space; c < d->num_coordinates; c++)
      q->x[j * d->num_coordinates + c] = i->at[place][c];
}

/* Column of an input of the lowered program; NULL-terminated names are those of the program. */
static pcsim_status fill(const problem *p, const char *name, const quadrature *q, const double *values,
                         const double *gradients, double *column) {
  const int space = p->domain->num_space, unknowns = p->num_unknowns, width = p->names.num_coordinates;
  int unknown, orders[DOMAIN_MAX] = {0}, by = -1;
  if (!strncmp(name, "n.", 2)) {
    int k = 0;
    while (k < space && strcmp(p->domain->coordinate[k], name + 2) != 0) k++;
    for (int64_t j = 0; j < q->num; j++) column[j] = q->normal[j * space + k];
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_lowering_derivative(&p->names, name, &unknown, orders));
  for (int k = 0; k < width; k++)
    if (orders[k]) by = k;
  for (int64_t j = 0; j < q->num; j++)
    column[j] = by < 0 ? values[j * unknowns + unknown] : gradients[(j * unknowns + unknown) * width + by];
  return PCSIM_OK;
}

/* Memory of one place. */
typedef struct {
  int inputs;                  /* of the lowered program */
  double *u, *gradients;       /* [num][unknowns], [num][unknowns][width] */
  double *columns, *integrand; /* [inputs][num], [num_texts][num] */
} workspace;

static pcsim_status make_workspace(const pcsim_training_integral *i, int64_t num, workspace *w) {
  const problem *p = &i->t->from->problem;
  const size_t n = (size_t)num, m = (size_t)p->num_unknowns;
  while (pcsim_program_input(i->lowered, w->inputs, NULL, NULL)) w->inputs++;
  PCSIM_TRY(pcsim_alloc(n * m, sizeof *w->u, &w->u));
  PCSIM_TRY(pcsim_alloc(n * m * (size_t)p->names.num_coordinates, sizeof *w->gradients, &w->gradients));
  PCSIM_TRY(pcsim_alloc(n * (size_t)(w->inputs + i->num_texts), sizeof *w->columns, &w->columns));
  w->integrand = w->columns + w->inputs * num;
  return PCSIM_OK;
}

static pcsim_status evaluate_place(pcsim_training_integral *i, const quadrature *q, workspace *w,
                                   double *values) {
  const problem *p = &i->t->from->problem;
  const char *name;
  PCSIM_TRY(pcsim_training_evaluate(i->t, q->num, q->x, w->u, w->gradients));
  PCSIM_TRY(pcsim_executor_points(i->x, "points", q->num));
  for (int k = 0; (name = pcsim_program_input(i->lowered, k, NULL, NULL)); k++) {
    double *column = w->columns + k * q->num;
    if (!strcmp(name, "coordinates")) {
      PCSIM_TRY(pcsim_executor_bind(i->x, name, q->x));
      continue;
    }
    PCSIM_TRY(fill(p, name, q, w->u, w->gradients, column));
    PCSIM_TRY(pcsim_executor_bind(i->x, name, column));
  }
  for (int r = 0; r < i->num_texts; r++) {
    char output[16];
    snprintf(output, sizeof output, "%d", r);
    PCSIM_TRY(pcsim_executor_bind_output(i->x, output, w->integrand + r * q->num));
  }
  PCSIM_TRY(pcsim_executor_run(i->x, false));
  for (int r = 0; r < i->num_texts; r++) {
    values[r] = 0;
    for (int64_t j = 0; j < q->num; j++) values[r] += q->weight[j] * w->integrand[r * q->num + j];
  }
  return PCSIM_OK;
}

/* Place by place: memory does not grow with their number. */
pcsim_status pcsim_training_integral_evaluate(pcsim_training_integral *i, int64_t n, double *values) {
  quadrature q = {0};
  workspace w = {0};
  pcsim_status status;
  PCSIM_GOTO(draw(i, n, &q), status, done);
  PCSIM_GOTO(make_workspace(i, q.num, &w), status, done);
  for (int k = 0; k < i->num_at; k++) {
    go_to(i, k, &q);
    PCSIM_GOTO(evaluate_place(i, &q, &w, values + k * i->num_texts), status, done);
  }
done:
  quadrature_free(&q);
  pcsim_free(&w.u), pcsim_free(&w.gradients), pcsim_free(&w.columns);
  return status;
}
