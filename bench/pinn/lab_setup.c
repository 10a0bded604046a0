/* SPDX-License-Identifier: BSD-2-Clause */
/** @file lab_setup.c  From texts to a least-squares problem. */
#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 64 };

/** Points with a program of their own: the inside, or a condition. */
typedef struct {
  int num_rows;
  double weight;
  int fixed; /**< coordinate that is fixed, -1: none */
  double at; /**< its value */
  int64_t n;
  double *points;
  double *seeds; /**< [n] one number */
  double *zeros;
  pcsim_program *residual, *reverse; /**< outputs "0", ...; derivatives of them by parameters */
  pcsim_program *gradient;           /**< "loss" and its derivatives */
  pcsim_program *loss;
  pcsim_executor *run_loss, *run_gradient, *run_reverse;
} group;

struct lab_setup {
  objective base;
  const lab_problem *p;
  network_options network;
  int threads;
  double seed_loss;
  pcsim_program *fields;
  int num_names;
  const char *names[MAX_PARAMETERS];
  int64_t sizes[MAX_PARAMETERS];
  char outputs[MAX_PARAMETERS][80];
  const char *output[MAX_PARAMETERS];
  double *theta, *sum; /**< what the executors are bound to */
  int num_groups;
  group groups[1 + LAB_CONDITIONS];
};

static pcsim_lowering lowering_of(const lab_problem *p) {
  return (pcsim_lowering){.num_coordinates = p->num_coordinates,
                          .coordinates = p->coordinate,
                          .num_unknowns = p->num_unknowns,
                          .unknowns = p->unknown};
}

/** Inputs of the network: coordinates in [-1, 1], or sine and cosine of periodic ones. */
static pcsim_value network_inputs(const lab_problem *p, pcsim_program *f, pcsim_value x, network_options *o) {
  pcsim_value rows[2 * LAB_COORDINATES];
  double scale[2 * LAB_COORDINATES];
  int n = 0;
  for (int i = 0; i < p->num_coordinates; i++) {
    const double low = p->range[i][0], high = p->range[i][1];
    const bool periodic = p->periodic >> i & 1;
    const double c = periodic ? 2 * M_PI / (high - low) : 2 / (high - low);
    pcsim_value a = pcsim_build_binary(f, PCSIM_OP_SUB, pcsim_build_slice(f, x, i, 1),
                                       pcsim_build_constant(f, (low + high) / 2));
    a = pcsim_build_binary(f, PCSIM_OP_MUL, a, pcsim_build_constant(f, c));
    scale[n] = scale[n + 1] = o->scale[i];
    if (periodic) {
      rows[n++] = pcsim_build_unary(f, PCSIM_OP_SIN, a);
      rows[n++] = pcsim_build_unary(f, PCSIM_OP_COS, a);
    } else rows[n++] = a;
  }
  o->num_inputs = n;
  memcpy(o->scale, scale, (size_t)n * sizeof *scale);
  return pcsim_build_concat(f, rows, n);
}

static pcsim_status build_fields(lab_setup *s) {
  const lab_problem *p = s->p;
  PCSIM_TRY(pcsim_program_create(&s->fields));
  pcsim_program *f = s->fields;
  const pcsim_space space = pcsim_build_space(f, "points");
  const pcsim_value x = pcsim_build_input(f, "coordinates", space, p->num_coordinates);
  const pcsim_value inputs = network_inputs(p, f, x, &s->network);
  const pcsim_value out = network_find(s->network.kind)->build(&s->network, f, "", inputs);
  char names[LAB_EQUATIONS][8], outputs[LAB_EQUATIONS][8];
  const char *name[LAB_EQUATIONS], *output[LAB_EQUATIONS];
  pcsim_argument arguments[1 + LAB_EQUATIONS] = {{"coordinates", x}};
  pcsim_value values[LAB_EQUATIONS];
  for (int i = 0; i < p->num_unknowns; i++) {
    snprintf(names[i], sizeof names[i], "n%d", i), snprintf(outputs[i], sizeof outputs[i], "%d", i);
    name[i] = names[i], output[i] = outputs[i];
    arguments[1 + i] = (pcsim_argument){name[i], pcsim_build_slice(f, out, i, 1)};
  }
  pcsim_lowering l = lowering_of(p);
  l.unknowns = name;
  pcsim_program *ansatz;
  PCSIM_TRY(pcsim_lower(p->ansatz, p->num_unknowns, &l, &ansatz, NULL, NULL));
  pcsim_build_part(f, ansatz, space, arguments, 1 + p->num_unknowns, output, p->num_unknowns, values);
  pcsim_program_destroy(&ansatz);
  for (int i = 0; i < p->num_unknowns; i++) pcsim_build_output(f, p->unknown[i], values[i]);
  return pcsim_program_status(f);
}

static pcsim_status find_parameters(lab_setup *s) {
  int rows, columns;
  int64_t n = 0;
  while ((s->names[s->num_names] = pcsim_program_parameter_name(s->fields, s->num_names, &rows, &columns))) {
    s->sizes[s->num_names] = (int64_t)rows * columns;
    snprintf(s->outputs[s->num_names], sizeof s->outputs[0], "b_%s", s->names[s->num_names]);
    s->output[s->num_names] = s->outputs[s->num_names];
    n += (int64_t)rows * columns;
    PCSIM_CHECK(++s->num_names < MAX_PARAMETERS, PCSIM_ERR_ARG, "too many parameters");
  }
  s->base.num_parameters = n;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *s->theta, &s->theta));
  PCSIM_TRY(pcsim_alloc((size_t)(2 * n), sizeof *s->sum, &s->sum));
  for (int i = 0; i < s->num_names; i++) {
    memcpy(s->theta, pcsim_program_parameter(s->fields, s->names[i], NULL, NULL),
           (size_t)s->sizes[i] * sizeof *s->theta);
    s->theta += s->sizes[i];
  }
  s->theta -= n;
  return PCSIM_OK;
}

static pcsim_status bind_parameters(lab_setup *s, pcsim_executor *e, bool outputs, double *to) {
  int64_t at = 0;
  for (int i = 0; i < s->num_names; at += s->sizes[i++]) {
    PCSIM_TRY(pcsim_executor_bind(e, s->names[i], s->theta + at));
    if (outputs) PCSIM_TRY(pcsim_executor_bind_output(e, s->output[i], to + at));
  }
  return PCSIM_OK;
}

/** Parameters that an equation does not depend on (a bias behind derivatives) are parameters of its program
 * too. */
static pcsim_status add_missing(const lab_setup *s, pcsim_program *p) {
  for (int i = 0; i < s->num_names; i++) {
    int rows, columns;
    if (pcsim_program_parameter(p, s->names[i], NULL, NULL)) continue;
    PCSIM_CHECK(pcsim_program_parameter(s->fields, s->names[i], &rows, &columns), PCSIM_ERR_INTERNAL,
                "no parameter");
    pcsim_build_parameter(p, s->names[i], rows, columns);
  }
  return pcsim_program_status(p);
}

/** Residual, "loss" = 1/2 sum (seed r)^2, gradient, and the reverse of the residual. */
static pcsim_status build_group(lab_setup *s, group *g, const char *const *texts, int n) {
  const lab_problem *p = s->p;
  const pcsim_lowering l = lowering_of(p);
  pcsim_program *lowered = NULL;
  g->num_rows = n;
  PCSIM_TRY(pcsim_lower(texts, n, &l, &lowered, NULL, NULL));
  pcsim_status status = pcsim_lower_compose(lowered, &l, s->fields, &g->residual);
  pcsim_program_destroy(&lowered);
  PCSIM_TRY(status);
  PCSIM_TRY(add_missing(s, g->residual));
  PCSIM_TRY(pcsim_transform_vjp(g->residual, s->names, s->num_names, &g->reverse));
  PCSIM_TRY(pcsim_program_create(&g->loss));
  pcsim_program *f = g->loss;
  const pcsim_space space = pcsim_build_space(f, "points");
  const pcsim_value x = pcsim_build_input(f, "coordinates", space, p->num_coordinates);
  const pcsim_value seed = pcsim_build_input(f, "seed", space, 1);
  const char *const output[] = {"0", "1", "2", "3"};
  pcsim_value r[LAB_EQUATIONS];
  const pcsim_argument argument = {"coordinates", x};
  pcsim_build_part(f, g->residual, space, &argument, 1, output, n, r);
  pcsim_value all = pcsim_build_binary(f, PCSIM_OP_MUL, pcsim_build_concat(f, r, n), seed);
  all = pcsim_build_row_sum(f, pcsim_build_binary(f, PCSIM_OP_MUL, all, all));
  pcsim_build_output(
      f, "loss", pcsim_build_binary(f, PCSIM_OP_MUL, pcsim_build_constant(f, 0.5), pcsim_build_sum(f, all)));
  PCSIM_TRY(pcsim_program_status(f));
  PCSIM_TRY(pcsim_program_simplify(f));
  PCSIM_TRY(add_missing(s, f));
  PCSIM_TRY(pcsim_transform_vjp(f, s->names, s->num_names, &g->gradient));
  PCSIM_TRY(pcsim_program_simplify(g->gradient));
  PCSIM_TRY(pcsim_program_simplify(g->reverse));
  PCSIM_TRY(pcsim_program_terms(g->reverse));
  const pcsim_executor_options options = {.threads = s->threads};
  PCSIM_TRY(pcsim_executor_create(g->loss, &options, &g->run_loss));
  PCSIM_TRY(pcsim_executor_create(g->gradient, &options, &g->run_gradient));
  PCSIM_TRY(pcsim_executor_create(g->reverse, &options, &g->run_reverse));
  PCSIM_TRY(bind_parameters(s, g->run_loss, false, NULL));
  PCSIM_TRY(bind_parameters(s, g->run_gradient, true, s->sum + s->base.num_parameters));
  return bind_parameters(s, g->run_reverse, false, NULL);
}

static void take(lab_setup *s, const double *theta) {
  memmove(s->theta, theta, (size_t)s->base.num_parameters * sizeof *theta);
}

static pcsim_status loss(objective *o, const double *theta, double *value, double *gradient) {
  lab_setup *s = (lab_setup *)o;
  const int64_t n = o->num_parameters;
  take(s, theta);
  *value = 0;
  if (gradient) memset(gradient, 0, (size_t)n * sizeof *gradient);
  for (int i = 0; i < s->num_groups; i++) {
    group *g = &s->groups[i];
    pcsim_executor *e = gradient ? g->run_gradient : g->run_loss;
    double part;
    PCSIM_TRY(pcsim_executor_bind_output(e, "loss", &part));
    PCSIM_TRY(pcsim_executor_run(e, false));
    *value += part;
    for (int64_t k = 0; gradient && k < n; k++) gradient[k] += s->sum[n + k];
  }
  return PCSIM_OK;
}

static pcsim_status normal(objective *o, const double *theta, double *value, double *gradient,
                           double *product) {
  lab_setup *s = (lab_setup *)o;
  const int64_t n = o->num_parameters;
  PCSIM_TRY(loss(o, theta, value, gradient));
  for (int64_t i = 0; i < n; i++) memset(product + i * n, 0, (size_t)(i + 1) * sizeof *product);
  for (int i = 0; i < s->num_groups; i++) {
    group *g = &s->groups[i];
    for (int row = 0; row < g->num_rows; row++) {
      for (int k = 0; k < g->num_rows; k++) {
        char name[16];
        snprintf(name, sizeof name, "b_%d", k);
        PCSIM_TRY(pcsim_executor_bind(g->run_reverse, name, k == row ? g->seeds : g->zeros));
      }
      PCSIM_TRY(pcsim_executor_jacobian_product(
          g->run_reverse, &(pcsim_jacobian){.outputs = s->output, .num_outputs = s->num_names}, product));
    }
  }
  return PCSIM_OK;
}

pcsim_status lab_create(const lab_problem *p, const network_options *network, double weight, int threads,
                        lab_setup **out) {
  lab_setup *s = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *s, &s));
  *out = s;
  s->p = p, s->network = *network, s->threads = threads, s->seed_loss = 1;
  s->base.loss = loss, s->base.normal = normal;
  PCSIM_TRY(build_fields(s));
  PCSIM_TRY(find_parameters(s));
  s->num_groups = 1 + p->num_conditions;
  s->groups[0].fixed = -1, s->groups[0].weight = 1;
  PCSIM_TRY(build_group(s, &s->groups[0], p->equation, p->num_equations));
  for (int i = 0; i < p->num_conditions; i++) {
    group *g = &s->groups[1 + i];
    g->fixed = p->condition[i].coordinate, g->at = p->range[g->fixed][p->condition[i].end];
    g->weight = weight / p->num_conditions;
    PCSIM_TRY(build_group(s, g, &p->condition[i].text, 1));
  }
  return PCSIM_OK;
}

void lab_destroy(lab_setup **out) {
  lab_setup *s = *out;
  if (!s) return;
  for (int i = 0; i < s->num_groups; i++) {
    group *g = &s->groups[i];
    pcsim_executor_destroy(&g->run_loss), pcsim_executor_destroy(&g->run_gradient);
    pcsim_executor_destroy(&g->run_reverse);
    pcsim_program_destroy(&g->residual), pcsim_program_destroy(&g->reverse);
    pcsim_program_destroy(&g->gradient), pcsim_program_destroy(&g->loss);
    pcsim_free(&g->points), pcsim_free(&g->seeds), pcsim_free(&g->zeros);
  }
  pcsim_program_destroy(&s->fields);
  pcsim_free(&s->theta), pcsim_free(&s->sum);
  pcsim_free(out);
}

int64_t lab_num_parameters(const lab_setup *s) { return s->base.num_parameters; }
const double *lab_start(const lab_setup *s) { return s->theta; }
objective *lab_objective(lab_setup *s) { return &s->base; }

/* ------------------------------------------------------------------------ points */

/** Point `i` of the sequence with the golden ratio of the dimension (M. Roberts 2018), shifted. */
static void place(const lab_problem *p, const group *g, uint64_t seed, uint64_t draw, int64_t i, double *x) {
  const int d = p->num_coordinates - (g->fixed >= 0);
  double phi = 2;
  for (int k = 0; k < 40; k++) phi = pow(1 + phi, 1. / (d + 1));
  for (int k = 0, axis = 0; k < p->num_coordinates; k++) {
    const double low = p->range[k][0], high = p->range[k][1];
    if (k == g->fixed) {
      x[k] = g->at;
      continue;
    }
    double ignored;
    const double shift = pcsim_random_uniform(seed, 77 + (uint64_t)k, draw);
    x[k] = low + (high - low) * modf(shift + (double)(i + 1) * pow(phi, -(double)(++axis)), &ignored);
  }
}

static pcsim_status hold(lab_setup *s, group *g, int64_t n) {
  if (g->n != n) {
    pcsim_free(&g->seeds), pcsim_free(&g->zeros);
    PCSIM_TRY(pcsim_realloc((size_t)(n * s->p->num_coordinates), sizeof *g->points, &g->points));
    PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *g->seeds, &g->seeds));
    PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *g->zeros, &g->zeros));
    g->n = n;
  }
  for (int64_t i = 0; i < n; i++) g->seeds[i] = sqrt(g->weight / (double)n);
  pcsim_executor *const all[] = {g->run_loss, g->run_gradient, g->run_reverse};
  for (int k = 0; k < 3; k++) {
    PCSIM_TRY(pcsim_executor_points(all[k], "points", n));
    PCSIM_TRY(pcsim_executor_bind(all[k], "coordinates", g->points));
    if (k < 2) PCSIM_TRY(pcsim_executor_bind(all[k], "seed", g->seeds));
  }
  return pcsim_executor_bind(g->run_gradient, "b_loss", &s->seed_loss);
}

/** Root of the sum of squares of the residuals at points, [n]. */
static pcsim_status residuals(lab_setup *s, group *g, int64_t n, const double *points, const double *theta,
                              double *r) {
  pcsim_executor *e = NULL;
  double *rows = NULL;
  take(s, theta);
  PCSIM_TRY(pcsim_executor_create(g->residual, &(pcsim_executor_options){.threads = s->threads}, &e));
  PCSIM_TRY(pcsim_alloc((size_t)(n * g->num_rows), sizeof *rows, &rows));
  PCSIM_TRY(pcsim_executor_points(e, "points", n));
  PCSIM_TRY(pcsim_executor_bind(e, "coordinates", points));
  PCSIM_TRY(bind_parameters(s, e, false, NULL));
  const char *const output[] = {"0", "1", "2", "3"};
  for (int k = 0; k < g->num_rows; k++) PCSIM_TRY(pcsim_executor_bind_output(e, output[k], rows + k * n));
  PCSIM_TRY(pcsim_executor_run(e, false));
  for (int64_t i = 0; i < n; i++) {
    r[i] = 0;
    for (int k = 0; k < g->num_rows; k++) r[i] += rows[k * n + i] * rows[k * n + i];
    r[i] = sqrt(r[i]);
  }
  pcsim_free(&rows);
  pcsim_executor_destroy(&e);
  return PCSIM_OK;
}

typedef struct {
  double key;
  int64_t index;
} keyed;
static int compare(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  return (x->key < y->key) - (x->key > y->key);
}

/** Points from `keep` on: n of 8 n candidates, drawn with probabilities |r| / mean + 1 (Wu et al., CMAME 403
 * (2023): RAD) without replacement (Efraimidis, Spirakis 2006). */
static pcsim_status draw_adaptive(lab_setup *s, group *g, uint64_t seed, uint64_t draw, int64_t keep,
                                  const double *theta) {
  const int64_t m = 8 * (g->n - keep);
  const int d = s->p->num_coordinates;
  double *x, *r, mean = 0;
  keyed *keys;
  PCSIM_TRY(pcsim_alloc((size_t)(m * d), sizeof *x, &x));
  PCSIM_TRY(pcsim_alloc((size_t)m, sizeof *r, &r));
  PCSIM_TRY(pcsim_alloc((size_t)m, sizeof *keys, &keys));
  for (int64_t i = 0; i < m; i++) place(s->p, g, seed, draw, i, x + i * d);
  PCSIM_TRY(residuals(s, g, m, x, theta, r));
  for (int64_t i = 0; i < m; i++) mean += r[i] / (double)m;
  for (int64_t i = 0; i < m; i++)
    keys[i] =
        (keyed){log(pcsim_random_uniform(seed, 5, draw * (uint64_t)m + (uint64_t)i)) / (r[i] / mean + 1), i};
  qsort(keys, (size_t)m, sizeof *keys, compare);
  for (int64_t i = keep; i < g->n; i++)
    memcpy(g->points + i * d, x + keys[i - keep].index * d, (size_t)d * sizeof *x);
  pcsim_free(&x), pcsim_free(&r), pcsim_free(&keys);
  return PCSIM_OK;
}

pcsim_status lab_draw(lab_setup *s, uint64_t seed, uint64_t draw, int64_t n, bool adaptive, int64_t keep,
                      const double *theta) {
  s->base.num_residuals = 0;
  for (int k = 0; k < s->num_groups; k++) {
    group *g = &s->groups[k];
    int64_t count = n;
    if (k) count = n / (4 * (s->num_groups - 1)) > 64 ? n / (4 * (s->num_groups - 1)) : 64;
    PCSIM_TRY(hold(s, g, count));
    s->base.num_residuals += count * g->num_rows;
    if (adaptive && !k) PCSIM_TRY(draw_adaptive(s, g, seed, draw, keep, theta));
    else
      for (int64_t i = 0; i < count; i++)
        place(s->p, g, seed, 100 * (keep ? 0 : draw) + (uint64_t)k, i, g->points + i * s->p->num_coordinates);
  }
  return PCSIM_OK;
}

pcsim_status lab_held_out(lab_setup *s, uint64_t seed, int64_t n, const double *theta, double *rms,
                          double *largest) {
  double *x, *r, sum = 0;
  const int d = s->p->num_coordinates;
  PCSIM_TRY(pcsim_alloc((size_t)(n * d), sizeof *x, &x));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *r, &r));
  *largest = 0;
  for (int k = 0; k < s->num_groups; k++) {
    group *g = &s->groups[k];
    for (int64_t i = 0; i < n; i++) place(s->p, g, seed + 1, UINT64_MAX / 2 - (uint64_t)k, i, x + i * d);
    PCSIM_TRY(residuals(s, g, n, x, theta, r));
    for (int64_t i = 0; i < n; i++) {
      sum += g->weight * r[i] * r[i] / (double)n;
      *largest = fmax(*largest, r[i]);
    }
  }
  *rms = sqrt(sum);
  pcsim_free(&x), pcsim_free(&r);
  return PCSIM_OK;
}

pcsim_status lab_error(lab_setup *s, int64_t n, const double *theta, double *error) {
  const lab_problem *p = s->p;
  const int d = p->num_coordinates;
  *error = NAN;
  if (!p->exact && !p->exact_function) return PCSIM_OK;
  double *x, *u, above = 0, below = 0;
  pcsim_expr *exact = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)(n * d), sizeof *x, &x));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *u, &u));
  for (int64_t i = 0; i < n; i++) place(p, &s->groups[0], 4711, 1, i, x + i * d);
  take(s, theta);
  pcsim_executor *e = NULL;
  PCSIM_TRY(pcsim_executor_create(s->fields, NULL, &e));
  PCSIM_TRY(pcsim_executor_points(e, "points", n));
  PCSIM_TRY(pcsim_executor_bind(e, "coordinates", x));
  PCSIM_TRY(bind_parameters(s, e, false, NULL));
  PCSIM_TRY(pcsim_executor_bind_output(e, p->unknown[0], u));
  PCSIM_TRY(pcsim_executor_run(e, false));
  if (p->exact) {
    PCSIM_TRY(pcsim_expr_parse(p->exact, &exact, NULL));
    PCSIM_TRY(pcsim_expr_bind(exact, p->coordinate, d, NULL, NULL, 0, NULL));
  }
  for (int64_t i = 0; i < n; i++) {
    const double v = exact ? pcsim_expr_eval(exact, x + i * d) : p->exact_function(x + i * d);
    above += (u[i] - v) * (u[i] - v), below += v * v;
  }
  *error = sqrt(above / below);
  pcsim_expr_destroy(&exact);
  pcsim_executor_destroy(&e);
  pcsim_free(&x), pcsim_free(&u);
  return PCSIM_OK;
}
