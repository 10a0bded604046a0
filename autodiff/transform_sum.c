/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_sum.c  Sums of partial derivatives that go through a program as one: the highest
 * coefficients of the members enter every recurrence linearly, so their weighted sum takes their place, be
 * the weights numbers or values. */
#include "transform.h"

typedef struct {
  pcsim_program *p;
  pcsim_value wrt;
  const int *orders; /**< [n][variables] */
  int n, variables;
} members;

static int total(const members *m, int which) {
  int sum = 0;
  for (int i = 0; i < m->variables; i++) sum += m->orders[which * m->variables + i];
  return sum;
}

static double factorials(const members *m, int which) {
  double product = 1;
  for (int i = 0; i < m->variables; i++)
    for (int k = 2; k <= m->orders[which * m->variables + i]; k++) product *= k;
  return product;
}

pcsim_status transform_seed_units(forward *f, pcsim_value wrt) {
  int *a = NULL;
  double *unit = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)f->variables, sizeof *a, &a), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)f->variables, sizeof *unit, &unit), status, done);
  for (int i = 0; i < f->variables; i++) {
    a[i] = 1;
    unit[i] = 1;
    const int at = forward_place(f, a);
    const pcsim_value direction = at < 0 ? at : pcsim_build_constants(f->p, f->variables, unit);
    if (at >= 0) PCSIM_GOTO(forward_seed(f, wrt, at, direction), status, done);
    a[i] = 0;
    unit[i] = 0;
  }
done:
  pcsim_free(&a);
  pcsim_free(&unit);
  return status;
}

/** First coefficient of the sum at the variables: what its members of order 1 give. */
static pcsim_value sum_seed(const members *m, const forward_weight *weights) {
  pcsim_program *p = m->p;
  pcsim_value seed = PCSIM_NO_VALUE;
  double *unit = NULL;
  if (pcsim_alloc((size_t)m->variables, sizeof *unit, &unit) != PCSIM_OK)
    return graph_fault(p, PCSIM_ERR_MEMORY, "out of memory for a direction");
  for (int i = 0; i < m->n; i++) {
    if (total(m, i) != 1) continue;
    for (int j = 0; j < m->variables; j++) unit[j] = m->orders[i * m->variables + j] ? weights[i].number : 0;
    pcsim_value part = pcsim_build_constants(p, m->variables, unit);
    if (weights[i].value >= 0) part = pcsim_build_binary(p, PCSIM_OP_MUL, weights[i].value, part);
    seed = seed < 0 ? part : pcsim_build_binary(p, PCSIM_OP_ADD, seed, part);
  }
  pcsim_free(&unit);
  return seed;
}

/** The factor that most members have in common: it is taken out of the sum, so that they need none inside. */
static double common_factor(const members *m, const forward_weight *weights) {
  double best = 1;
  int most = 0;
  for (int i = 0; i < m->n; i++) {
    const double factor = weights[i].number * factorials(m, i);
    int count = 0;
    for (int j = 0; j < m->n; j++) count += weights[j].number * factorials(m, j) == factor && total(m, j) > 1;
    if (factor == 0 || count <= most) continue;
    most = count;
    best = factor;
  }
  return best;
}

/** Result = factor * sum + the weights of the value itself * value. */
static pcsim_value put_together(const members *m, const forward_weight *weights, double factor,
                                pcsim_value value, pcsim_value c) {
  pcsim_program *p = m->p;
  if (c >= 0) c = pcsim_build_binary(p, PCSIM_OP_MUL, pcsim_build_constant(p, factor), c);
  for (int i = 0; i < m->n; i++) {
    if (total(m, i) || weights[i].number == 0) continue;
    pcsim_value own = pcsim_build_binary(p, PCSIM_OP_MUL, pcsim_build_constant(p, weights[i].number), value);
    if (weights[i].value >= 0) own = pcsim_build_binary(p, PCSIM_OP_MUL, weights[i].value, own);
    c = c < 0 ? own : pcsim_build_binary(p, PCSIM_OP_ADD, c, own);
  }
  return c;
}

pcsim_status transform_sum(pcsim_program *p, pcsim_value wrt, const int *orders,
                           const forward_weight *weights, int n, int count, const pcsim_value *values,
                           int num, pcsim_value *results) {
  const members m = {.p = p, .wrt = wrt, .orders = orders, .n = n, .variables = p->nodes[wrt].rows};
  forward f = {0};
  forward_weight *inside = NULL;
  const double factor = common_factor(&m, weights);
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *inside, &inside), status, done);
  for (int i = 0; i < n; i++) inside[i] = (forward_weight){weights[i].number / factor, weights[i].value};
  PCSIM_GOTO(forward_multi(p, m.variables, orders, n, inside, &f), status, done);
  PCSIM_GOTO(transform_seed_units(&f, wrt), status, done);
  PCSIM_GOTO(forward_seed(&f, wrt, f.num - 1, sum_seed(&m, inside)), status, done);
  PCSIM_GOTO(forward_run(&f, count), status, done);
  for (int i = 0; i < num; i++)
    results[i] = put_together(&m, weights, factor, values[i], forward_coefficient(&f, values[i], f.num - 1));
  status = pcsim_program_status(p);
done:
  pcsim_free(&inside);
  forward_end(&f);
  return status;
}
