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

/* Points of all places, and what each of them counts. */
typedef struct {
  int64_t num; /* of one place */
  double *x;   /* [num_at][num][num_coordinates] */
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
  const size_t all = (size_t)(q->num * i->num_at);
  PCSIM_TRY(pcsim_alloc(all, width * sizeof *q->x, &q->x));
  PCSIM_TRY(pcsim_alloc(all, space * sizeof *q->normal, &q->normal));
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
  for (int k = 0; k < i->num_at; k++) {
    double *x = q->x + k * q->num * (int64_t)width;
    if (k) {
      memcpy(x, q->x, (size_t)q->num * width * sizeof *x);
      memcpy(q->normal + k * q->num * (int64_t)space, q->normal, (size_t)q->num * space * sizeof *x);
    }
    for (int64_t j = 0; j < q->num; j++)
      for (size_t c = space; c < width; c++) x[j * (int64_t)width + (int64_t)c] = i->at[k][c];
  }
  return PCSIM_OK;
}

/* Column of an input of the lowered program; NULL-terminated names are those of the program. */
static pcsim_status fill(const problem *p, const char *name, const quadrature *q, int64_t all,
                         const double *values, const double *gradients, double *column) {
  const int space = p->domain->num_space, unknowns = p->num_unknowns, width = p->names.num_coordinates;
  int unknown, orders[DOMAIN_MAX] = {0}, by = -1;
  if (!strncmp(name, "n.", 2)) {
    int k = 0;
    while (k < space && strcmp(p->domain->coordinate[k], name + 2) != 0) k++;
    for (int64_t j = 0; j < all; j++) column[j] = q->normal[j * space + k];
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_lowering_derivative(&p->names, name, &unknown, orders));
  for (int k = 0; k < width; k++)
    if (orders[k]) by = k;
  for (int64_t j = 0; j < all; j++)
    column[j] = by < 0 ? values[j * unknowns + unknown] : gradients[(j * unknowns + unknown) * width + by];
  return PCSIM_OK;
}

static void add_up(const pcsim_training_integral *i, const quadrature *q, const double *integrand,
                   double *values) {
  for (int k = 0; k < i->num_at; k++)
    for (int r = 0; r < i->num_texts; r++) {
      const double *of = integrand + (r * i->num_at + k) * q->num;
      double sum = 0;
      for (int64_t j = 0; j < q->num; j++) sum += q->weight[j] * of[j];
      values[k * i->num_texts + r] = sum;
    }
}

pcsim_status pcsim_training_integral_evaluate(pcsim_training_integral *i, int64_t n, double *values) {
  const problem *p = &i->t->from->problem;
  const int width = p->names.num_coordinates;
  quadrature q = {0};
  double *u = NULL, *gradients = NULL, *columns = NULL;
  const char *name;
  int inputs = 0;
  pcsim_status status;
  while (pcsim_program_input(i->lowered, inputs, NULL, NULL)) inputs++;
  PCSIM_GOTO(draw(i, n, &q), status, done);
  const int64_t all = q.num * i->num_at;
  PCSIM_GOTO(pcsim_alloc((size_t)(all * p->num_unknowns), sizeof *u, &u), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)(all * p->num_unknowns * width), sizeof *gradients, &gradients), status,
             done);
  PCSIM_GOTO(pcsim_alloc((size_t)(all * (inputs + i->num_texts)), sizeof *columns, &columns), status, done);
  PCSIM_GOTO(pcsim_training_evaluate(i->t, all, q.x, u, gradients), status, done);
  PCSIM_GOTO(pcsim_executor_points(i->x, "points", all), status, done);
  for (int k = 0; (name = pcsim_program_input(i->lowered, k, NULL, NULL)); k++) {
    double *column = columns + k * all;
    if (!strcmp(name, "coordinates")) {
      PCSIM_GOTO(pcsim_executor_bind(i->x, name, q.x), status, done);
      continue;
    }
    PCSIM_GOTO(fill(p, name, &q, all, u, gradients, column), status, done);
    PCSIM_GOTO(pcsim_executor_bind(i->x, name, column), status, done);
  }
  double *integrand = columns + inputs * all;
  for (int r = 0; r < i->num_texts; r++) {
    char output[16];
    snprintf(output, sizeof output, "%d", r);
    PCSIM_GOTO(pcsim_executor_bind_output(i->x, output, integrand + r * all), status, done);
  }
  PCSIM_GOTO(pcsim_executor_run(i->x, false), status, done);
  add_up(i, &q, integrand, values);
done:
  quadrature_free(&q);
  pcsim_free(&u), pcsim_free(&gradients), pcsim_free(&columns);
  return status;
}
