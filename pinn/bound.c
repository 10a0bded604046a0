/* SPDX-License-Identifier: BSD-2-Clause */
#include "bound.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TERMS = 2 + DOMAIN_MAX + DOMAIN_MAX * (DOMAIN_MAX + 1) / 2, NAME = 120 };

/** A derivative of the unknown in the equation. */
typedef struct {
  const char *input; /**< borrowed from the lowered program */
  int num;           /**< of coordinates that it is by, 0 to 2 */
  int by[2];
  double value, adjoint; /**< its coefficient at a point; its part of 2 q - c */
} term;

typedef struct {
  const problem *p;
  bound *b;
  pcsim_program *lowered, *program; /**< program: coefficients and their derivatives */
  int num_terms;
  term term[TERMS];
  /* extremes over the points */
  double kappa[DOMAIN_MAX], q, c, rate[2];
  double sign;
} finder;

static void refuse(finder *f, const char *why) {
  f->b->known = false;
  if (!*f->b->why) snprintf(f->b->why, sizeof f->b->why, "%s", why);
}

/* ------------------------------------------------------------------------- which problems */

static void check_conditions(finder *f) {
  const problem *p = f->p;
  const domain_view *d = p->domain;
  bool start = d->time < 0;
  if (p->num_unknowns != 1 || p->num_equations != 1) refuse(f, "there is more than one unknown");
  if (d->num_coordinates > d->num_space + (d->time >= 0)) refuse(f, "it is a family of problems");
  if (p->num_periods) refuse(f, "it is periodic");
  for (int i = 0; i < p->num_conditions; i++)
    start = start || (p->condition[i].place == PLACE_START && p->condition[i].kind == CONDITION_VALUE);
  if (!start) refuse(f, "no value is given at the start");
  for (int k = 0; k < d->num_pieces; k++) {
    bool given = false;
    for (int i = 0; i < p->num_conditions && !given; i++)
      given = p->condition[i].place == PLACE_PIECES && p->condition[i].kind == CONDITION_VALUE &&
              p->condition[i].piece[k];
    if (!given) refuse(f, "the unknown is not given on the whole boundary");
  }
}

static pcsim_status find_terms(finder *f) {
  const problem *p = f->p;
  const problem_text *text = &p->equation[0];
  const char *input;
  PCSIM_TRY(problem_lower(p, &text, 1, &f->lowered));
  if (!f->lowered) refuse(f, "the equation is not understood");
  for (int i = 0; f->lowered && (input = pcsim_program_input(f->lowered, i, NULL, NULL)); i++) {
    int unknown, orders[DOMAIN_MAX] = {0};
    term t = {.input = input};
    if (!strcmp(input, "coordinates") || !strncmp(input, "n.", 2)) continue;
    PCSIM_TRY(pcsim_lowering_derivative(&p->names, input, &unknown, orders));
    for (int k = 0; k < p->domain->num_coordinates; k++)
      for (int j = 0; j < orders[k]; j++) {
        if (t.num == 2 || (k == p->domain->time && t.num > 0) || (t.num == 1 && t.by[0] == p->domain->time)) {
          refuse(f, "it is of higher order");
          return PCSIM_OK;
        }
        t.by[t.num++] = k;
      }
    if (f->num_terms < TERMS) f->term[f->num_terms++] = t;
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------- coefficients */

/* Those of derivatives: of a jump or a bend the residual and q do not hold what it adds to the equation. */
static pcsim_status check_smooth(finder *f, const pcsim_program *reverse, const char *const *names) {
  const char *of_derivative[TERMS];
  pcsim_program *copy = NULL;
  int n = 0;
  for (int i = 0; i < f->num_terms; i++)
    if (f->term[i].num > 0) of_derivative[n++] = names[i];
  PCSIM_TRY(pcsim_program_copy(reverse, &copy));
  const pcsim_status status = pcsim_program_keep(copy, of_derivative, n);
  if (status == PCSIM_OK && !pcsim_program_is_smooth(copy)) refuse(f, "a coefficient jumps or bends");
  pcsim_program_destroy(&copy);
  return status;
}

/* Their names: cotangents of the derivatives. Nonlinear: a coefficient depends on the unknown. */
static pcsim_status make_program(finder *f) {
  const char *wrt[TERMS], *names[TERMS];
  char(*text)[NAME] = NULL;
  int(*orders)[DOMAIN_MAX] = NULL, n = 0;
  const int width = f->p->domain->num_coordinates;
  pcsim_program *reverse = NULL;
  pcsim_status status;
  bool used;
  PCSIM_GOTO(pcsim_alloc(TERMS, sizeof *text, &text), status, done);
  PCSIM_GOTO(pcsim_alloc(TERMS, sizeof *orders, &orders), status, done);
  for (int i = 0; i < f->num_terms; i++) {
    wrt[i] = f->term[i].input;
    snprintf(text[i], NAME, "b_%s", wrt[i]);
    names[i] = text[i];
  }
  PCSIM_GOTO(pcsim_transform_vjp(f->lowered, wrt, f->num_terms, &reverse), status, done);
  PCSIM_GOTO(pcsim_program_keep(reverse, names, f->num_terms), status, done);
  PCSIM_GOTO(pcsim_program_simplify(reverse), status, done);
  const char *input;
  for (int i = 0; (input = pcsim_program_input(reverse, i, NULL, &used)); i++)
    for (int k = 0; k < f->num_terms; k++)
      if (used && !strcmp(input, wrt[k])) refuse(f, "the equation is not linear");
  PCSIM_GOTO(check_smooth(f, reverse, names), status, done);
  if (*f->b->why) goto done;
  /* the derivatives of coefficients that q takes: of term i by what it is by, as number i */
  int *packed = &orders[0][0];
  for (int i = 0; i < f->num_terms; i++, n++)
    for (int k = 0; k < width; k++)
      packed[n * width + k] =
          (f->term[i].num > 0 && f->term[i].by[0] == k) + (f->term[i].num > 1 && f->term[i].by[1] == k);
  status = pcsim_transform_partials(reverse, "coordinates", packed, n, &f->program);
done:
  pcsim_program_destroy(&reverse);
  pcsim_free(&text), pcsim_free(&orders);
  return status;
}

/* One point at a time: a coefficient that is the same everywhere is one number. */
static pcsim_status make_executor(finder *f, double *point, double *zero, double *one, pcsim_executor **x) {
  const char *input;
  pcsim_executor *e = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_executor_create(f->program, NULL, &e), status, done);
  PCSIM_GOTO(pcsim_executor_points(e, "points", 1), status, done);
  for (int i = 0; (input = pcsim_program_input(f->program, i, NULL, NULL)); i++)
    PCSIM_GOTO(pcsim_executor_bind(e, input,
                                   !strcmp(input, "coordinates") ? point
                                   : !strcmp(input, "b_0")       ? one
                                                                 : zero),
               status, done);
  for (int i = 0; i < f->num_terms; i++) {
    char name[NAME];
    snprintf(name, sizeof name, "b_%s", f->term[i].input);
    PCSIM_GOTO(pcsim_executor_bind_output(e, name, &f->term[i].value), status, done);
    if (!f->term[i].num) continue;
    snprintf(name, sizeof name, "b_%s_p_%d", f->term[i].input, i);
    PCSIM_GOTO(pcsim_executor_bind_output(e, name, &f->term[i].adjoint), status, done);
  }
  *x = e, e = NULL;
done:
  pcsim_executor_destroy(&e);
  return status;
}

/* What this point says about the extremes. */
static void take_point(finder *f, bool first) {
  const domain_view *d = f->p->domain;
  double a[DOMAIN_MAX] = {0}, beside[DOMAIN_MAX] = {0}, c = 0, twice = 0, rate = 0;
  if (first)
    for (int i = 0; i < f->num_terms; i++)
      if (f->term[i].num == 2 && f->term[i].by[0] == f->term[i].by[1] && f->term[i].value != 0)
        f->sign = f->term[i].value < 0 ? -1 : 1;
  for (int i = 0; i < f->num_terms; i++) {
    const term *t = &f->term[i];
    const double value = f->sign * t->value, adjoint = f->sign * t->adjoint;
    if (t->num == 0) c += value;
    else if (t->num == 1 && t->by[0] == d->time) rate -= value;
    else if (t->num == 1) twice -= adjoint;
    else {
      twice += adjoint;
      if (t->by[0] == t->by[1]) a[t->by[0]] += value;
      else beside[t->by[0]] += 0.5 * fabs(value), beside[t->by[1]] += 0.5 * fabs(value);
    }
  }
  for (int k = 0; k < d->num_space; k++) f->kappa[k] = fmin(f->kappa[k], a[k] - beside[k]);
  f->c = fmax(f->c, c);
  f->q = fmax(f->q, c + 0.5 * twice);
  f->rate[0] = fmin(f->rate[0], rate), f->rate[1] = fmax(f->rate[1], rate);
  if (!isfinite(c) || !isfinite(twice) || !isfinite(rate)) refuse(f, "a coefficient is no number somewhere");
}

static pcsim_status visit_points(finder *f, int64_t n, const double *points) {
  const int width = f->p->domain->num_coordinates;
  double point[DOMAIN_MAX], zero = 0, one = 1;
  pcsim_executor *x = NULL;
  PCSIM_TRY(make_executor(f, point, &zero, &one, &x));
  pcsim_status status = PCSIM_OK;
  for (int64_t i = 0; i < n && status == PCSIM_OK; i++) {
    memcpy(point, points + i * width, (size_t)width * sizeof *point);
    status = pcsim_executor_run(x, false);
    take_point(f, i == 0);
  }
  pcsim_executor_destroy(&x);
  return status;
}

/* ------------------------------------------------------------------------- the constants */

static void conclude(finder *f) {
  const domain_view *d = f->p->domain;
  bound *b = f->b;
  double mu = -f->q;
  for (int k = 0; k < d->num_space; k++) {
    const double wave = M_PI / (d->range[k][1] - d->range[k][0]);
    if (!(f->kappa[k] > 0)) refuse(f, "its diffusion is not positive");
    mu += f->kappa[k] * wave * wave;
  }
  b->has_maximum = f->c <= 0;
  if (d->time < 0) {
    if (!(mu > 0)) refuse(f, "it is not coercive");
    b->residual = 1 / mu;
  } else {
    const double length = d->range[d->time][1] - d->range[d->time][0], m = f->rate[0];
    if (!(m > 0) || f->rate[1] - m > 1e-12 * m)
      refuse(f, "the coefficient of its rate is no positive number");
    const double by = mu * length / m; /* -expm1(-x) / x -> 1 */
    b->residual = length / m * (fabs(by) > 1e-12 ? -expm1(-by) / by : 1);
    b->start = sqrt(fabs(by) > 1e-12 ? -expm1(-2 * by) / (2 * by) : 1);
  }
  if (!isfinite(b->residual) || !isfinite(b->start)) refuse(f, "its constants are too large");
  b->known = !*b->why;
}

pcsim_status bound_find(const problem *p, int64_t n, const double *points, bound *b) {
  finder f = {.p = p, .b = b, .q = -INFINITY, .c = -INFINITY, .rate = {INFINITY, -INFINITY}, .sign = 1};
  pcsim_status status = PCSIM_OK;
  *b = (bound){0};
  for (int k = 0; k < DOMAIN_MAX; k++) f.kappa[k] = INFINITY;
  check_conditions(&f);
  if (!*b->why) status = find_terms(&f);
  if (status == PCSIM_OK && !*b->why) status = make_program(&f);
  if (status == PCSIM_OK && !*b->why) status = visit_points(&f, n, points);
  if (status == PCSIM_OK && !*b->why) conclude(&f);
  pcsim_program_destroy(&f.lowered);
  pcsim_program_destroy(&f.program);
  return status;
}
