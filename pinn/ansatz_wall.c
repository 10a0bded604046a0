/* SPDX-License-Identifier: BSD-2-Clause */
/* A start that agrees with the value at a wall, but not with the equation there: u_t = D u_xx + ... of the
 * start is not the rate of the value. The difference R acts at once, but not at the wall,
 *
 *      u = start + value - value at the start + R t (1 - 4 i2erfc(r / s)),      s = sqrt(4 D t),
 *
 *  r the distance from the wall: w = t (1 - 4 i2erfc) solves w_t = D w_rr + 1, w = 0 at r = 0 (Carslaw and
 * Jaeger, Conduction of Heat in Solids, section 2.9); what is left is smoother by the root of t. */
#include "ansatz_parts.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846,
                    least_rate = 1e-6 /* times the length of time, over the start's size */,
                    agrees = 1e-6 /* of the start's size: larger jumps of the value are none of ours */;

/* Derivative of a text by (x, t) at n points [n][2]. */
static pcsim_status derivative(ansatz_builder *b, const problem_text *text, const int *orders, int n,
                               const double *points, double *values) {
  pcsim_program *given = NULL, *with = NULL;
  pcsim_executor *x = NULL;
  pcsim_status status;
  bool varies = false;
  const bool plain = !orders[0] && !orders[1];
  PCSIM_TRY(parts_lower(b, text, &given));
  PCSIM_GOTO(pcsim_transform_partials(given, "coordinates", orders, 1, &with), status, done);
  varies = pcsim_program_input(with, 0, NULL, &varies) && varies;
  PCSIM_GOTO(pcsim_executor_create(plain ? given : with, NULL, &x), status, done);
  if (varies) PCSIM_GOTO(pcsim_executor_points(x, "points", n), status, done);
  if (varies) PCSIM_GOTO(pcsim_executor_bind(x, "coordinates", points), status, done);
  for (int i = 0; i < n; i++) values[i] = 0; /* of a number */
  if (varies || plain) {
    PCSIM_GOTO(pcsim_executor_bind_output(x, plain ? "0" : "0_p_0", values), status, done);
    PCSIM_GOTO(pcsim_executor_run(x, false), status, done);
  }
  for (int i = 1; i < n && !varies; i++) values[i] = values[0];
done:
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&with);
  pcsim_program_destroy(&given);
  return status;
}

static const problem_condition *value_on(const problem *p, int piece) {
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    if (c->place == PLACE_PIECES && c->kind == CONDITION_VALUE && c->unknown == 0 && c->exact &&
        c->piece[piece])
      return c;
  }
  return NULL;
}

/* Residual of the equation where wall and start meet, with the start's derivatives by space and the value's
 * rate. `*known` false: it has other derivatives. */
static pcsim_status residual_at(ansatz_builder *b, const problem_text *start, const problem_text *value,
                                const double *edge, double *residual, bool *known) {
  enum { INPUTS = 16 };
  const problem *p = b->problem;
  const problem_text *equation = &p->equation[0];
  double of[INPUTS];
  pcsim_program *lowered = NULL;
  pcsim_executor *x = NULL;
  pcsim_status status = PCSIM_OK;
  const char *input;
  bool used;
  *known = false;
  PCSIM_TRY(problem_lower(p, &equation, 1, &lowered));
  PCSIM_GOTO(pcsim_executor_create(lowered, NULL, &x), status, done);
  PCSIM_GOTO(pcsim_executor_points(x, "points", 1), status, done);
  for (int i = 0; (input = pcsim_program_input(lowered, i, NULL, &used)); i++) {
    int unknown, orders[DOMAIN_MAX] = {0};
    if (!used) continue;
    if (!strcmp(input, "coordinates")) {
      PCSIM_GOTO(pcsim_executor_bind(x, input, edge), status, done);
      continue;
    }
    if (i == INPUTS || !strncmp(input, "n.", 2)) goto done;
    PCSIM_GOTO(pcsim_lowering_derivative(&p->names, input, &unknown, orders), status, done);
    if (orders[1] > 1 || (orders[1] && orders[0])) goto done;
    PCSIM_GOTO(derivative(b, orders[1] ? value : start, orders, 1, edge, &of[i]), status, done);
    PCSIM_GOTO(pcsim_executor_bind(x, input, &of[i]), status, done);
  }
  PCSIM_GOTO(pcsim_executor_bind_output(x, "0", residual), status, done);
  status = pcsim_executor_run(x, false);
  *known = isfinite(*residual);
done:
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&lowered);
  return status;
}

static pcsim_status look_at(ansatz_builder *b, const problem_text *start, double size, int side,
                            double factor, ansatz_walls *w) {
  const domain_view *d = b->problem->domain;
  const double edge[2] = {d->range[0][side], d->range[1][0]};
  const int piece = domain_on_piece(b->domain, edge, 1e-9), orders[2] = {0, 0};
  const problem_condition *c = piece < 0 ? NULL : value_on(b->problem, piece);
  double residual, one, other;
  bool known;
  if (!c) return PCSIM_OK;
  PCSIM_TRY(derivative(b, start, orders, 1, edge, &one));
  PCSIM_TRY(derivative(b, &c->text, orders, 1, edge, &other));
  if (!(fabs(one - other) <= agrees * size)) return PCSIM_OK;
  PCSIM_TRY(residual_at(b, start, &c->text, edge, &residual, &known));
  if (!known) return PCSIM_OK;
  const double rate = -residual / factor;
  if (fabs(rate) * (d->range[1][1] - d->range[1][0]) > least_rate * size && isfinite(rate))
    w->rate[side] = rate;
  return PCSIM_OK;
}

pcsim_status parts_find_walls(ansatz_builder *b, ansatz_walls *w) {
  enum { POINTS = 65 };
  const problem *p = b->problem;
  const domain_view *d = p->domain;
  double points[POINTS][2], values[POINTS], size = 0, factor;
  const int orders[2] = {0, 0};
  *w = (ansatz_walls){.diffusion = 0};
  if (!b->options->wall_rates || d->num_space != 1 || d->num_coordinates != 2 || d->time != 1 ||
      p->num_periods || p->num_unknowns != 1 || p->num_equations != 1 || p->regions)
    return PCSIM_OK;
  const problem_condition *start = parts_held_start(p, 0);
  if (!start) return PCSIM_OK;
  PCSIM_TRY(parts_diffusion(p, 0, &w->diffusion, &factor));
  if (!(w->diffusion > 0)) return PCSIM_OK;
  for (int i = 0; i < POINTS; i++)
    points[i][0] = d->range[0][0] + (d->range[0][1] - d->range[0][0]) * i / (POINTS - 1),
    points[i][1] = d->range[1][0];
  PCSIM_TRY(derivative(b, &start->text, orders, POINTS, points[0], values));
  for (int i = 0; i < POINTS; i++) size = fmax(size, fabs(values[i]));
  for (int side = 0; side < 2; side++) PCSIM_TRY(look_at(b, &start->text, size, side, factor, w));
  return PCSIM_OK;
}

/* --------------------------------------------------------------------------------- kernels */

static pcsim_value mul(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_MUL, a, b);
}

/* 4 i2erfc(r / s) = (1 + 2 z^2) erfc(z) - 2 / sqrt(pi) z exp(-z^2): 1 at the wall, 0 away from it */
static pcsim_value layer(ansatz_builder *b, const ansatz_walls *w, pcsim_value r) {
  pcsim_program *p = b->program;
  const pcsim_value z = pcsim_build_binary(p, PCSIM_OP_DIV, r, parts_width(b, w->diffusion)),
                    square = mul(p, z, z);
  const pcsim_value erfc = parts_linear(b, pcsim_build_unary(p, PCSIM_OP_ERF, z), -1, 1);
  const pcsim_value bell = pcsim_build_unary(p, PCSIM_OP_EXP, parts_linear(b, square, -1, 0));
  return pcsim_build_binary(p, PCSIM_OP_SUB, mul(p, parts_linear(b, square, 2, 1), erfc),
                            parts_linear(b, mul(p, z, bell), 2 / sqrt(pi), 0));
}

/* Distance from the wall of a side. */
static pcsim_value distance(ansatz_builder *b, int side) {
  const double *range = b->problem->domain->range[0];
  const pcsim_value x = parts_coordinate(b, 0);
  return side ? parts_linear(b, x, -1, range[1]) : parts_linear(b, x, 1, -range[0]);
}

pcsim_value parts_from_walls(ansatz_builder *b, const ansatz_walls *w, pcsim_value start) {
  const domain_view *d = b->problem->domain;
  pcsim_program *p = b->program;
  const pcsim_value since = parts_linear(b, parts_coordinate(b, 1), 1, -d->range[1][0]);
  for (int side = 0; side < 2; side++) {
    if (w->rate[side] == 0) continue;
    const pcsim_value r = distance(b, side),
                      left = parts_linear(b, layer(b, w, r), -w->rate[side], w->rate[side]);
    /* 0 at the other wall */
    const pcsim_value fading = parts_linear(b, r, -1 / (d->range[0][1] - d->range[0][0]), 1);
    start = pcsim_build_binary(p, PCSIM_OP_ADD, start, mul(p, mul(p, since, fading), left));
  }
  return start;
}

int parts_wall_inputs(ansatz_builder *b, const ansatz_walls *w, pcsim_value *inputs) {
  int n = 0;
  for (int side = 0; side < 2; side++)
    if (w->rate[side] != 0) inputs[n++] = parts_linear(b, layer(b, w, distance(b, side)), 2, -1);
  return n;
}
