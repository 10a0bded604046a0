/* SPDX-License-Identifier: BSD-2-Clause */
/* A start that its period does not continue smoothly. Where u_t = D u_xx + terms of lower order, the jump of
 * u_x over the seam is gone at once: a start |x|/2 becomes
 *
 *      K(x, t) = x/2 erf(x / s) + s / (2 sqrt(pi)) exp(-(x / s)^2),      s = sqrt(4 D t),
 *
 *  the solution of the heat equation (Carslaw and Jaeger, Conduction of Heat in Solids, section 2.2), and
 * what the other terms add to it is smoother by two derivatives. A jump of u becomes that of K_x. K - |x|/2
 * is G here, added at the seam and at its images one or more periods away. */
#include "ansatz_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_IMAGES = 8 };
static const double pi = 3.14159265358979323846, far = 6 /* G is below rounding at so many s */,
                    least_jump =
                        1e-6 /* of the slope times the period, of the value, over the start's size */,
                    least_width = 1e-10 /* s at the start over the period, so that nothing is divided by 0 */;

/* ------------------------------------------------------------------------------ diffusion */

/* Coefficients of u_t and u_xx in an equation: numbers at every point, whatever the unknowns are. */
typedef struct {
  double rate, second;
  bool known;
} coefficients;

/* Cotangents `names` [n] of a program with output "0", where they depend on nothing. */
static pcsim_status constants(const pcsim_program *reverse, const char *const *names, int n, double *values,
                              bool *constant) {
  pcsim_program *copy = NULL;
  pcsim_executor *x = NULL;
  pcsim_status status;
  const char *input;
  double one = 1;
  bool used;
  PCSIM_TRY(pcsim_program_copy(reverse, &copy));
  PCSIM_GOTO(pcsim_program_keep(copy, names, n), status, done);
  PCSIM_GOTO(pcsim_program_simplify(copy), status, done);
  *constant = true;
  for (int i = 0; (input = pcsim_program_input(copy, i, NULL, &used)); i++)
    *constant = *constant && (!used || !strcmp(input, "b_0"));
  if (!*constant) goto done;
  PCSIM_GOTO(pcsim_executor_create(copy, NULL, &x), status, done);
  PCSIM_GOTO(pcsim_executor_points(x, "points", 1), status, done);
  for (int i = 0; (input = pcsim_program_input(copy, i, NULL, &used)); i++)
    if (used) PCSIM_GOTO(pcsim_executor_bind(x, input, &one), status, done);
  for (int i = 0; i < n; i++) PCSIM_GOTO(pcsim_executor_bind_output(x, names[i], &values[i]), status, done);
  status = pcsim_executor_run(x, false);
done:
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&copy);
  return status;
}

/* Of the equation: `c->known` false where it has no rate of the unknown, or coefficients that vary. */
static pcsim_status find_coefficients(const problem *p, const problem_text *text, int unknown,
                                      coefficients *c) {
  const char *input, *wrt[2] = {NULL, NULL};
  char names[2][160];
  double values[2];
  pcsim_program *lowered = NULL, *reverse = NULL;
  pcsim_status status = PCSIM_OK;
  bool used, constant = false;
  *c = (coefficients){.known = false};
  PCSIM_TRY(problem_lower(p, &text, 1, &lowered));
  if (!lowered) return PCSIM_OK;
  for (int i = 0; (input = pcsim_program_input(lowered, i, NULL, &used)); i++) {
    int of, orders[DOMAIN_MAX] = {0};
    if (!used || !strcmp(input, "coordinates") || !strncmp(input, "n.", 2)) continue;
    PCSIM_GOTO(pcsim_lowering_derivative(&p->names, input, &of, orders), status, done);
    if (of != unknown) continue;
    if (orders[1] == 1 && orders[0] == 0) wrt[0] = input;
    if (orders[1] == 0 && orders[0] == 2) wrt[1] = input;
  }
  if (!wrt[0] || !wrt[1]) goto done;
  for (int i = 0; i < 2; i++) snprintf(names[i], sizeof names[i], "b_%s", wrt[i]);
  PCSIM_GOTO(pcsim_transform_vjp(lowered, wrt, 2, &reverse), status, done);
  PCSIM_GOTO(constants(reverse, (const char *const[]){names[0], names[1]}, 2, values, &constant), status,
             done);
  if (constant) *c = (coefficients){values[0], values[1], true};
done:
  pcsim_program_destroy(&lowered);
  pcsim_program_destroy(&reverse);
  return status;
}

pcsim_status parts_diffusion(const problem *p, int unknown, double *diffusion, double *rate) {
  *diffusion = *rate = 0;
  if (p->order[unknown][1] != 1 || p->order[unknown][0] != 2) return PCSIM_OK;
  for (int i = 0; i < p->num_equations; i++) {
    coefficients c;
    PCSIM_TRY(find_coefficients(p, &p->equation[i], unknown, &c));
    if (!c.known) continue;
    const double found = -c.second / c.rate;
    if (*diffusion > 0 || !(found > 0) || !isfinite(found)) {
      *diffusion = 0;
      return PCSIM_OK;
    }
    *diffusion = found, *rate = c.rate;
  }
  return PCSIM_OK;
}

/* ----------------------------------------------------------------------------------- jumps */

const problem_condition *parts_held_start(const problem *p, int unknown) {
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    if (c->place == PLACE_START && c->unknown == unknown && c->kind == CONDITION_VALUE && c->exact) return c;
  }
  return NULL;
}

/* Value and slope [2][2] of the start at both ends of the period, its largest value inside. */
static pcsim_status ends(ansatz_builder *b, const problem_text *text, double (*value)[2], double *size) {
  enum { INSIDE = 64, POINTS = INSIDE + 2 };
  const domain_view *d = b->problem->domain;
  const double *range = d->range[0];
  double points[POINTS][2], u[POINTS] = {0}, slope[POINTS] = {0};
  const int orders[2] = {1, 0};
  pcsim_program *start = NULL, *with = NULL;
  pcsim_executor *x = NULL;
  pcsim_status status;
  bool varies = false;
  PCSIM_GOTO(parts_lower(b, text, &start), status, done);
  PCSIM_GOTO(pcsim_transform_partials(start, "coordinates", orders, 1, &with), status, done);
  if (!pcsim_program_input(with, 0, NULL, &varies) || !varies) goto done; /* a number has no jump */
  for (int i = 0; i < POINTS; i++)
    points[i][0] = range[0] + (range[1] - range[0]) * i / (POINTS - 1), points[i][1] = d->range[1][0];
  PCSIM_GOTO(pcsim_executor_create(with, NULL, &x), status, done);
  PCSIM_GOTO(pcsim_executor_points(x, "points", POINTS), status, done);
  PCSIM_GOTO(pcsim_executor_bind(x, "coordinates", points[0]), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(x, "0", u), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(x, "0_p_0", slope), status, done);
  status = pcsim_executor_run(x, false);
done:
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&start);
  pcsim_program_destroy(&with);
  *size = 0;
  for (int i = 0; i < POINTS; i++) *size = fmax(*size, fabs(u[i]));
  for (int i = 0; i < 2; i++) value[i][0] = u[i * (POINTS - 1)], value[i][1] = slope[i * (POINTS - 1)];
  return status;
}

pcsim_status parts_find_seam(ansatz_builder *b, int unknown, ansatz_seam *s) {
  const problem *p = b->problem;
  const domain_view *d = p->domain;
  double value[2][2], size, rate;
  *s = (ansatz_seam){.images = 0};
  if (!b->options->seam || d->num_space != 1 || d->num_coordinates != 2 || d->time != 1 ||
      p->num_periods != 1)
    return PCSIM_OK;
  const problem_condition *start = parts_held_start(p, unknown);
  if (!start) return PCSIM_OK;
  PCSIM_TRY(parts_diffusion(p, unknown, &s->diffusion, &rate));
  if (!(s->diffusion > 0)) return PCSIM_OK;
  PCSIM_TRY(ends(b, &start->text, value, &size));
  const double length = d->range[0][1] - d->range[0][0];
  for (int k = 0; k < 2; k++) {
    s->jump[k] = value[0][k] - value[1][k];
    if (fabs(s->jump[k]) * (k ? length : 1) < least_jump * size || !isfinite(s->jump[k])) s->jump[k] = 0;
  }
  const double width = sqrt(4 * s->diffusion * (d->range[1][1] - d->range[1][0]));
  const double images = 1 + ceil(far * width / length);
  if ((s->jump[0] != 0 || s->jump[1] != 0) && images <= MOST_IMAGES) s->images = (int)images;
  return PCSIM_OK;
}

pcsim_status ansatz_carries_seam(const problem *p, int unknown, bool *carried) {
  const ansatz_options options = {.seam = true};
  ansatz_builder b = {.problem = p, .options = &options};
  ansatz_seam s;
  PCSIM_TRY(parts_find_seam(&b, unknown, &s));
  *carried = s.images > 0;
  return PCSIM_OK;
}

/* --------------------------------------------------------------------------------- kernels */

static pcsim_value mul(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_MUL, a, b);
}
static pcsim_value add(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return a < 0 ? b : pcsim_build_binary(p, PCSIM_OP_ADD, a, b);
}

/* the difference of times first, or rounding makes it negative at the start */
pcsim_value parts_width(ansatz_builder *b, double diffusion) {
  const domain_view *d = b->problem->domain;
  const double least = least_width * (d->range[0][1] - d->range[0][0]);
  const pcsim_value since = parts_linear(b, parts_coordinate(b, 1), 1, -d->range[1][0]);
  return pcsim_build_unary(b->program, PCSIM_OP_SQRT, parts_linear(b, since, 4 * diffusion, least * least));
}

void parts_kernel(ansatz_builder *b, const ansatz_seam *s, pcsim_value *smooth, pcsim_value *slope) {
  const domain_view *d = b->problem->domain;
  const double *range = d->range[0], length = range[1] - range[0];
  pcsim_program *p = b->program;
  const pcsim_value width = parts_width(b, s->diffusion), x = parts_coordinate(b, 0);
  *smooth = *slope = PCSIM_NO_VALUE;
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < s->images; i++) {
      const pcsim_value r =
          side ? parts_linear(b, x, -1, range[1] + i * length) : parts_linear(b, x, 1, i * length - range[0]);
      const pcsim_value z = pcsim_build_binary(p, PCSIM_OP_DIV, r, width);
      const pcsim_value bell = pcsim_build_unary(p, PCSIM_OP_EXP, parts_linear(b, mul(p, z, z), -1, 0));
      const pcsim_value step = parts_linear(b, pcsim_build_unary(p, PCSIM_OP_ERF, z), 0.5, -0.5); /* G' */
      *smooth =
          add(p, *smooth, add(p, mul(p, r, step), parts_linear(b, mul(p, width, bell), 0.5 / sqrt(pi), 0)));
      *slope = add(p, *slope, parts_linear(b, step, side ? -1 : 1, 0));
    }
}

pcsim_value parts_carried(ansatz_builder *b, const ansatz_seam *s, pcsim_value start) {
  pcsim_value smooth, slope;
  parts_kernel(b, s, &smooth, &slope);
  if (s->jump[1] != 0) start = add(b->program, start, parts_linear(b, smooth, s->jump[1], 0));
  if (s->jump[0] != 0) start = add(b->program, start, parts_linear(b, slope, s->jump[0], 0));
  return start;
}

void parts_seam_inputs(ansatz_builder *b, const ansatz_seam *s, pcsim_value *inputs) {
  const double *range = b->problem->domain->range[0], length = range[1] - range[0];
  pcsim_program *p = b->program;
  pcsim_value smooth, slope;
  parts_kernel(b, s, &smooth, &slope);
  /* a parabola over the period has the kink of |x|/2 at its ends, and the kernel takes it away: */
  const pcsim_value left = parts_linear(b, parts_coordinate(b, 0), 1, -range[0]),
                    right = parts_linear(b, parts_coordinate(b, 0), -1, range[1]);
  const pcsim_value bent = add(p, parts_linear(b, mul(p, left, right), 0.5 / length, 0), smooth);
  const pcsim_value bend = add(p, parts_linear(b, left, -1 / length, 0.5), slope);
  inputs[0] = parts_linear(b, bent, 16 / length, -1);
  inputs[1] = parts_linear(b, bend, 2, 0);
}
