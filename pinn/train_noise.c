/* SPDX-License-Identifier: BSD-2-Clause */
/* Coefficients from data with noise: how much the data count, and how smooth what is found has to be.
 *
 * With noise of deviation s in n values d_i and fields a that are found, what is most probable makes
 *
 *      sum_i (u(x_i) - d_i)^2 / s^2 + tau mean |second derivatives of a|^2        subject to the equations
 *
 * least (Tikhonov). The equations are kept by a penalty: the whole is weighed so that noise alone is `share`
 * of the mean square of the equations' residual at the start. tau, and s where it is not given, are those
 * under which the data are most probable (MacKay, Neural Comput. 4 (1992) 415): tau E = gamma, s^2 = misfit /
 * (n - gamma), gamma being how many numbers of the fields the data determine, by the Gauss-Newton matrix at
 * the present state. */
#include "cholesky.h"
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the mean square of the residual at the start. */
static const double share = 1e-3;
/* tau to begin with, for second derivatives over the size of the domain, squared, and over the field's start.
 */
static const double first_tau = 1;
/* Added to the diagonal of the Gauss-Newton matrix, over its largest element: directions below are not seen.
 */
static const double ridge = 1e-10;
/* Most that tau changes at once, and less than which it is left. */
static const double most_change = 30, least_change = 1.15;
enum { DENSE_MAX = 4000 /* parameters for which the matrix is made */ };

static bool has_field(const problem *p) {
  for (int i = 0; i < p->num_unknowns - p->num_solved; i++)
    if (p->coefficient[i].num_of) return true;
  return false;
}

/* ------------------------------------------------------------------ smoothness as residuals */

/* Second derivatives of field `i` over the size of the domain squared and over its start value. */
static pcsim_status add_field(pcsim_training *t, int i) {
  const problem *p = &t->from->problem;
  const domain_view *d = p->domain;
  const problem_coefficient *c = &p->coefficient[i];
  const char *name = p->unknown[p->num_solved + i];
  problem_text text[GROUPS_ROWS_MAX] = {{0}};
  const problem_text *list[GROUPS_ROWS_MAX];
  char *title = NULL;
  int n = 0;
  pcsim_status status = text_format(&title, "smoothness of %s", name);
  for (int j = 0; j < d->num_coordinates; j++)
    for (int k = j; k < d->num_coordinates && status == PCSIM_OK && n < GROUPS_ROWS_MAX; k++) {
      if (!c->of[j] || !c->of[k]) continue;
      const double size = (d->range[j][1] - d->range[j][0]) * (d->range[k][1] - d->range[k][0]);
      list[n] = &text[n];
      text[n].node = p->unknown_node[p->num_solved + i];
      status = text_format(&text[n++].text, "%.17g*%s_%s_%s",
                           (j == k ? 1 : sqrt(2)) * size / fmax(fabs(c->start), 1e-300), name,
                           d->coordinate[j], d->coordinate[k]);
    }
  const train_group like = {.kind = TRAIN_SMOOTHNESS, .region = -1, .n = t->choice.points / 2 + 1};
  if (status == PCSIM_OK) status = train_add_group(t, title, &like, list, n);
  for (int k = 0; k < n; k++) text_clear(&text[k]);
  pcsim_free(&title);
  return status;
}

pcsim_status train_add_priors(pcsim_training *t) {
  const problem *p = &t->from->problem;
  if (!t->from->data) return PCSIM_OK;
  for (int i = 0; i < p->num_unknowns - p->num_solved; i++)
    if (p->coefficient[i].num_of) PCSIM_TRY(add_field(t, i));
  return PCSIM_OK;
}

/* ----------------------------------------------------------------------- noise, at first */

/* Squared distance of two points, each coordinate over its range. */
static double distance_of(const domain_view *d, const double *x, const double *y) {
  double sum = 0;
  for (int k = 0; k < d->num_coordinates; k++) {
    const double part = (x[k] - y[k]) / (d->range[k][1] - d->range[k][0]);
    sum += part * part;
  }
  return sum;
}

/* Deviation of values from the mean of those at the nearest points (Rice): too large where the values change
 * between neighbours, which the evidence mends. */
static double neighbour_noise(const domain_view *d, const data_view *m, int fit) {
  enum { NEAREST = 4, POINTS = 400 };
  const int64_t step = m->num_points > POINTS ? m->num_points / POINTS : 1;
  double sum = 0;
  int64_t num = 0;
  if (m->num_points <= NEAREST) return 0;
  for (int64_t i = 0; i < m->num_points; i += step, num++) {
    double near[NEAREST], value[NEAREST], mean = 0;
    int n = 0;
    for (int64_t j = 0; j < m->num_points; j++) {
      if (j == i) continue;
      const double r = distance_of(d, m->points + i * d->num_coordinates, m->points + j * d->num_coordinates);
      if (n == NEAREST && r >= near[n - 1]) continue;
      int k = n < NEAREST ? n++ : n - 1;
      for (; k > 0 && near[k - 1] > r; k--) near[k] = near[k - 1], value[k] = value[k - 1];
      near[k] = r, value[k] = m->values[fit][j];
    }
    for (int k = 0; k < NEAREST; k++) mean += value[k] / NEAREST;
    const double r = m->values[fit][i] - mean;
    sum += r * r / (1 + 1. / NEAREST);
  }
  return sqrt(sum / (double)num);
}

static int64_t count_values(const pcsim_training *t) {
  int64_t n = 0;
  for (int g = 0; g < t->num_groups; g++)
    if (t->group[g].measured) n += t->group[g].n * groups_rows(t->groups, g);
  return n;
}

pcsim_status train_noise_weights(pcsim_training *t, int g, double *weights, bool *known) {
  const problem *p = &t->from->problem;
  const data_view *m = t->group[g].measured;
  double squares[GROUPS_ROWS_MAX];
  *known = t->group[g].kind == TRAIN_SMOOTHNESS || (m && (m->noise > 0 || has_field(p)));
  if (!*known) return PCSIM_OK;
  if (!(t->noise_unit > 0)) {
    PCSIM_TRY(groups_mean_squares(t->groups, 0, t->theta, squares));
    t->noise_unit = 0;
    for (int k = 0; k < groups_rows(t->groups, 0); k++) t->noise_unit += share * squares[k];
    if (!(t->noise_unit > 0 && isfinite(t->noise_unit))) t->noise_unit = share;
  }
  for (int k = 0; k < groups_rows(t->groups, g); k++) {
    if (!m) {
      weights[k] = first_tau * t->noise_unit / (double)count_values(t);
      continue;
    }
    double noise = m->noise > 0 ? m->noise : neighbour_noise(p->domain, m, k);
    if (!(noise > 0)) noise = 1e-6; /* exact values */
    weights[k] = t->noise_unit / (noise * noise);
  }
  return PCSIM_OK;
}

pcsim_status train_is_noise(pcsim_training *t, bool *noise) {
  const double most = 1.5; /* times the variance */
  *noise = false;
  for (int g = 1; t->noise_unit > 0 && g < t->num_groups; g++) {
    double squares[GROUPS_ROWS_MAX], sum = 0;
    const int rows = groups_rows(t->groups, g);
    if (!t->group[g].measured) continue;
    PCSIM_TRY(groups_mean_squares(t->groups, g, t->theta, squares));
    for (int k = 0; k < rows; k++) sum += groups_weights(t->groups, g)[k] * squares[k] / rows;
    *noise = sum < most * t->noise_unit;
    if (!*noise) return PCSIM_OK;
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------------ evidence */

/* The Gauss-Newton matrix, with what is left of its inverse for the last `m` parameters, those of
 * coefficients. */
typedef struct {
  int64_t n, m;
  double *h, *part; /* [n][n] */
  double *inverse;  /* [m][m] */
  double *vector;   /* [n] */
  double shift;
} evidence;

static int64_t first_coefficient(const pcsim_training *t) {
  const problem *p = &t->from->problem;
  for (int i = 0; i < t->parameters.num; i++)
    for (int u = p->num_solved; u < p->num_unknowns; u++) {
      char prefix[200];
      const int length = snprintf(prefix, sizeof prefix, "%s%s_", t->part.prefix, p->unknown[u]);
      if (!strncmp(t->parameters.name[i], prefix, (size_t)length)) return t->parameters.first[i];
    }
  return t->num_parameters;
}

static pcsim_status factor(pcsim_training *t, evidence *e, bool *good) {
  pcsim_pool *pool = NULL;
  cholesky *c = NULL;
  double most = 0;
  pcsim_status status;
  for (int64_t i = 0; i < e->n; i++) most = fmax(most, e->h[i * e->n + i]);
  e->shift = ridge * most;
  for (int64_t i = 0; i < e->n; i++) e->vector[i] = e->shift;
  PCSIM_GOTO(pcsim_pool_create(t->from->options.threads, &pool), status, done);
  PCSIM_GOTO(cholesky_create(e->n, pool, &c), status, done);
  *good = cholesky_factor(c, e->h, e->vector);
  if (*good) status = cholesky_inverse(c, e->m, e->inverse);
done:
  cholesky_destroy(&c);
  pcsim_pool_destroy(&pool);
  return status;
}

/* Numbers of the parameters [first, end) that the data determine: those that there are less the trace of the
 * inverse times what is not data: smoothness and ridge. */
static pcsim_status count_determined(pcsim_training *t, evidence *e, int g, double *gamma) {
  const int64_t skip = e->n - e->m;
  int64_t own = 0;
  PCSIM_TRY(groups_product(t->groups, g, t->theta, e->part));
  *gamma = 0;
  for (int64_t i = 0; i < e->m; i++) {
    const double *p = e->part + (i + skip) * e->n + skip, *q = e->inverse + i * e->m;
    const bool mine = p[i] > 0;
    own += mine;
    for (int64_t j = 0; j < i; j++) *gamma -= 2 * p[j] * q[j];
    *gamma -= p[i] * q[i] + (mine ? e->shift * q[i] : 0);
  }
  *gamma += (double)own;
  return PCSIM_OK;
}

static double bounded(double ratio) { return fmin(fmax(ratio, 1 / most_change), most_change); }

/* New weight of a prior, by its numbers that the data determine; `*ratio` of new and old. */
static pcsim_status weigh_prior(pcsim_training *t, evidence *e, int g, double *gamma, double *ratio) {
  double squares[GROUPS_ROWS_MAX], weights[GROUPS_ROWS_MAX], energy = 0;
  const int rows = groups_rows(t->groups, g);
  PCSIM_TRY(count_determined(t, e, g, gamma));
  PCSIM_TRY(groups_mean_squares(t->groups, g, t->theta, squares));
  for (int k = 0; k < rows; k++) energy += groups_weights(t->groups, g)[k] * squares[k];
  *gamma = fmax(*gamma, 1);
  *ratio = bounded(*gamma * t->noise_unit / ((double)count_values(t) * energy));
  if (!isfinite(*ratio)) *ratio = 1;
  for (int k = 0; k < rows; k++) weights[k] = *ratio * groups_weights(t->groups, g)[k];
  groups_weight(t->groups, g, weights);
  return PCSIM_OK;
}

/* Noise that is not given, from what is left of the data. */
static pcsim_status weigh_data(pcsim_training *t, int g, double gamma, double *ratio) {
  double squares[GROUPS_ROWS_MAX], weights[GROUPS_ROWS_MAX];
  const int rows = groups_rows(t->groups, g);
  const double n = (double)(t->group[g].n * rows), left = fmax(1 - gamma / n, 0.1);
  PCSIM_TRY(groups_mean_squares(t->groups, g, t->theta, squares));
  for (int k = 0; k < rows; k++) {
    const double old = groups_weights(t->groups, g)[k], now = t->noise_unit * left / squares[k];
    weights[k] = old * (isfinite(now) ? bounded(now / old) : 1);
    if (fabs(log(weights[k] / old)) > fabs(log(*ratio)))
      *ratio = weights[k] / old; /* of the row that changes most */
  }
  groups_weight(t->groups, g, weights);
  return PCSIM_OK;
}

static pcsim_status apply(pcsim_training *t, evidence *e, bool *changed) {
  double gamma_all = 0;
  for (int g = 1; g < t->num_groups; g++) {
    double gamma, ratio = 1;
    if (t->group[g].kind != TRAIN_SMOOTHNESS) continue;
    PCSIM_TRY(weigh_prior(t, e, g, &gamma, &ratio));
    gamma_all += gamma;
    *changed = *changed || fabs(log(ratio)) > log(least_change);
    pcsim_log(PCSIM_LOG_INFO, "step %lld: the data determine %.3g numbers of the %s; weight %.3g",
              (long long)t->step, gamma, t->group[g].name, groups_weights(t->groups, g)[0]);
  }
  for (int g = 1; g < t->num_groups; g++) {
    double ratio = 1;
    if (!t->group[g].measured || t->group[g].measured->noise > 0) continue;
    PCSIM_TRY(weigh_data(t, g, gamma_all, &ratio));
    *changed = *changed || fabs(log(ratio)) > log(least_change);
    pcsim_log(PCSIM_LOG_INFO, "step %lld: noise of %s %.3g", (long long)t->step, t->group[g].name,
              sqrt(t->noise_unit / groups_weights(t->groups, g)[0]));
  }
  return PCSIM_OK;
}

static pcsim_status estimate(pcsim_training *t, bool *changed) {
  evidence e = {.n = t->num_parameters, .m = t->num_parameters - first_coefficient(t)};
  objective *o = groups_objective(t->groups);
  double loss;
  bool good = false;
  const size_t all = (size_t)(e.n * e.n);
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(all, sizeof *e.h, &e.h), status, done);
  PCSIM_GOTO(pcsim_alloc(all, sizeof *e.part, &e.part), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)(e.m * e.m), sizeof *e.inverse, &e.inverse), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)e.n, sizeof *e.vector, &e.vector), status, done);
  PCSIM_GOTO(o->normal(o, t->theta, &loss, e.vector, e.h), status, done);
  PCSIM_GOTO(factor(t, &e, &good), status, done);
  if (good) status = apply(t, &e, changed);
done:
  pcsim_free(&e.h), pcsim_free(&e.part), pcsim_free(&e.inverse), pcsim_free(&e.vector);
  return status;
}

/* 300, 450, 600, 900, 1200, 1800, ... steps: each costs some hundred steps. */
static bool is_due(int64_t step) {
  enum { UNIT = 150 };
  int64_t n = step / UNIT;
  if (step % UNIT != 0 || n < 2) return false;
  while (n % 2 == 0) n /= 2;
  return n == 1 || n == 3;
}

pcsim_status train_reweigh(pcsim_training *t) {
  bool priors = false, changed = false;
  objective *o = groups_objective(t->groups);
  for (int g = 1; g < t->num_groups; g++) priors = priors || t->group[g].kind == TRAIN_SMOOTHNESS;
  if (!priors || !is_due(t->step) || t->num_parameters > DENSE_MAX) return PCSIM_OK;
  PCSIM_TRY(estimate(t, &changed));
  if (!changed) return PCSIM_OK;
  t->kind->changed(t->optimizer);
  PCSIM_TRY(o->loss(o, t->theta, &t->loss, NULL));
  return train_judge_best(t);
}
