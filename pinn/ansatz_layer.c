/* SPDX-License-Identifier: BSD-2-Clause */
/* Walls whose conditions contradict the start. There the solution is not smooth at the start of time: the
 * rate is infinite at the wall, and what has changed is a layer that widens like the root of the time. For
 * one unknown that diffuses alike everywhere and conditions of a value and the normal derivative, the half
 * space has it as a formula (heat_kernel.h); about a ball times (R / r)^((k - 1) / 2), with the curvature
 * added to the coefficient of the value, what is left of the equation is (k - 1) (k - 3) / (4 r^2) of it. */
#include "ansatz_parts.h"
#include "heat_kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOOKED_AT = 64 /* points */, INPUTS = 2 + DOMAIN_MAX * (DOMAIN_MAX + 3) };
static const double same = 1e-7;     /* what differs by less, relatively, is one number */
static const double mismatch = 1e-6; /* of a condition at the start, over its coefficients */

/* ------------------------------------------------------------ a text at points, as a function of its inputs
 */

typedef struct {
  pcsim_program *program;
  pcsim_executor *executor;
  double *coordinates; /* [LOOKED_AT][num_coordinates] */
  double *normals;     /* [LOOKED_AT][num_space] */
  double *component;   /* [num_space][LOOKED_AT] of the normals */
  int num;             /* of inputs that are the unknown or its derivatives */
  int order[INPUTS][DOMAIN_MAX];
  double *value; /* [num][LOOKED_AT] */
  double residual[LOOKED_AT];
} probe;

static void close_probe(probe *r) {
  pcsim_executor_destroy(&r->executor);
  pcsim_program_destroy(&r->program);
  pcsim_free(&r->coordinates);
}

static pcsim_status bind_input(const ansatz_builder *b, probe *r, const char *input) {
  const domain_view *d = b->problem->domain;
  int unknown;
  char name[90];
  if (!strcmp(input, "coordinates")) return pcsim_executor_bind(r->executor, input, r->coordinates);
  for (int k = 0; k < d->num_space; k++) {
    snprintf(name, sizeof name, "n.%s", d->coordinate[k]);
    if (!strcmp(input, name)) return pcsim_executor_bind(r->executor, input, r->component + k * LOOKED_AT);
  }
  PCSIM_CHECK(r->num < INPUTS, PCSIM_ERR_INTERNAL, "more than %d derivatives", INPUTS);
  PCSIM_TRY(pcsim_lowering_derivative(&b->problem->names, input, &unknown, r->order[r->num]));
  return pcsim_executor_bind(r->executor, input, r->value + LOOKED_AT * r->num++);
}

/* Inputs bound; points are still to be drawn. */
static pcsim_status open_probe(const ansatz_builder *b, const problem_text *text, probe *r) {
  const domain_view *d = b->problem->domain;
  const size_t n = LOOKED_AT, space = (size_t)d->num_space;
  const char *input;
  *r = (probe){0};
  PCSIM_TRY(pcsim_alloc(n * ((size_t)d->num_coordinates + 2 * space + INPUTS), sizeof *r->coordinates,
                        &r->coordinates));
  r->normals = r->coordinates + n * (size_t)d->num_coordinates;
  r->component = r->normals + n * space, r->value = r->component + n * space;
  PCSIM_TRY(problem_lower(b->problem, &text, 1, &r->program));
  PCSIM_CHECK(r->program, PCSIM_ERR_INTERNAL, "a text that was lowered before is not any more: %s",
              text->text);
  PCSIM_TRY(pcsim_executor_create(r->program, NULL, &r->executor));
  PCSIM_TRY(pcsim_executor_points(r->executor, "points", LOOKED_AT));
  for (int i = 0; (input = pcsim_program_input(r->program, i, NULL, NULL)); i++)
    PCSIM_TRY(bind_input(b, r, input));
  return pcsim_executor_bind_output(r->executor, "0", r->residual);
}

/* By how much the residual changes where input `which` is larger by `step`, over that. One number: `*number`;
 * false: it differs from point to point. */
static pcsim_status slope(probe *r, int which, double step, double *number, bool *constant) {
  double before[LOOKED_AT], sum = 0, off = 0;
  double *value = r->value + LOOKED_AT * which;
  PCSIM_TRY(pcsim_executor_run(r->executor, false));
  memcpy(before, r->residual, sizeof before);
  for (int i = 0; i < LOOKED_AT; i++) value[i] += step;
  PCSIM_TRY(pcsim_executor_run(r->executor, false));
  for (int i = 0; i < LOOKED_AT; i++) {
    value[i] -= step;
    sum += (r->residual[i] - before[i]) / step / LOOKED_AT;
  }
  for (int i = 0; i < LOOKED_AT; i++) off = fmax(off, fabs((r->residual[i] - before[i]) / step - sum));
  *number = sum;
  *constant = *constant && isfinite(sum) && off <= same * (1 + fabs(sum));
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------------- diffusion */

/* Order of an input in all, and the coordinate that it is by alone; -1: by none, or by several. */
static int order_of(const probe *r, int which, int num_coordinates, int *by) {
  int sum = 0;
  *by = -1;
  for (int k = 0; k < num_coordinates; k++) {
    sum += r->order[which][k];
    if (r->order[which][k]) *by = k;
  }
  if (*by >= 0 && r->order[which][*by] != sum) *by = -1;
  return sum;
}

/* c of u_t = c lap u + what is of lower order; false: the equation is not of this kind. */
static pcsim_status find_diffusion(const ansatz_builder *b, double *c, bool *found) {
  const problem *p = b->problem;
  const domain_view *d = p->domain;
  double rate[2] = {0}, second[2][DOMAIN_MAX] = {{0}};
  probe r = {0};
  pcsim_status status;
  *found = d->time >= 0 && p->num_unknowns == 1 && p->num_equations == 1 && !p->regions;
  if (!*found) return PCSIM_OK;
  PCSIM_GOTO(open_probe(b, &p->equation[0], &r), status, done);
  PCSIM_GOTO(domain_draw_inside(b->domain, 1, 0, LOOKED_AT, r.coordinates), status, done);
  for (int state = 0; state < 2; state++) { /* a coefficient that depends on the unknown differs */
    for (int i = 0; i < r.num * LOOKED_AT; i++) r.value[i] = 0.5 + state * 0.3 * sin(2 + 7 * i);
    for (int i = 0; i < r.num; i++) {
      int by;
      double number;
      const int order = order_of(&r, i, d->num_coordinates, &by);
      if (order == 0 || (order == 1 && by != d->time)) continue;
      PCSIM_GOTO(slope(&r, i, 1, &number, found), status, done);
      if (order == 1) rate[state] = number;
      else if (order == 2 && by >= 0 && by < d->num_space) second[state][by] = number;
      else *found = false;
    }
  }
  *c = -second[0][0] / rate[0];
  for (int state = 0; state < 2; state++)
    for (int k = 0; k < d->num_space; k++)
      *found = *found && fabs(-second[state][k] / rate[state] - *c) <= same * *c;
  *found = *found && isfinite(*c) && *c > 0;
done:
  close_probe(&r);
  return status;
}

/* ------------------------------------------------------------------------------ conditions */

/* dn(u) + q u = jump, u being counted from the start. */
typedef struct {
  double q, jump;
} wall_law;

/* Values [LOOKED_AT] of the start at points of the probe, moved into the domain by `depth`. */
static pcsim_status start_values(const ansatz_builder *b, const probe *r, const pcsim_program *start,
                                 double depth, double *values) {
  const domain_view *d = b->problem->domain;
  const int n = d->num_coordinates;
  double *points = NULL;
  bool used = false;
  pcsim_executor *x = NULL;
  pcsim_status status;
  PCSIM_TRY(pcsim_alloc((size_t)(LOOKED_AT * n), sizeof *points, &points));
  memcpy(points, r->coordinates, (size_t)(LOOKED_AT * n) * sizeof *points);
  for (int i = 0; i < LOOKED_AT; i++)
    for (int k = 0; k < d->num_space; k++) points[i * n + k] -= depth * r->normals[i * d->num_space + k];
  const bool number = !(pcsim_program_input(start, 0, NULL, &used) && used); /* it is on no space */
  PCSIM_GOTO(pcsim_executor_create(start, NULL, &x), status, done);
  if (!number) {
    PCSIM_GOTO(pcsim_executor_points(x, "points", LOOKED_AT), status, done);
    PCSIM_GOTO(pcsim_executor_bind(x, "coordinates", points), status, done);
  }
  PCSIM_GOTO(pcsim_executor_bind_output(x, "0", values), status, done);
  PCSIM_GOTO(pcsim_executor_run(x, false), status, done);
  for (int i = 1; number && i < LOOKED_AT; i++) values[i] = values[0];
done:
  pcsim_executor_destroy(&x);
  pcsim_free(&points);
  return status;
}

/* The start and its normal derivative are what the text is a function of. */
static pcsim_status take_start(const ansatz_builder *b, probe *r, const pcsim_program *start) {
  const domain_view *d = b->problem->domain;
  double u[3][LOOKED_AT], size = INFINITY;
  for (int k = 0; k < d->num_space; k++) size = fmin(size, d->range[k][1] - d->range[k][0]);
  const double depth = 1e-5 * size;
  for (int i = 0; i < 3; i++) PCSIM_TRY(start_values(b, r, start, i * depth, u[i]));
  for (int k = 0; k < r->num; k++) {
    int by;
    const int order = order_of(r, k, d->num_coordinates, &by);
    for (int i = 0; i < LOOKED_AT; i++)
      r->value[k * LOOKED_AT + i] =
          order ? (3 * u[0][i] - 4 * u[1][i] + u[2][i]) / (2 * depth) * r->component[by * LOOKED_AT + i]
                : u[0][i];
  }
  return PCSIM_OK;
}

/* Change of the residual with the normal derivative: its coefficient, if the residual knows no other one. */
static pcsim_status normal_slope(const ansatz_builder *b, probe *r, double *number, bool *constant) {
  const domain_view *d = b->problem->domain;
  double before[LOOKED_AT], by_component[DOMAIN_MAX][LOOKED_AT] = {{0}}, sum = 0;
  PCSIM_TRY(pcsim_executor_run(r->executor, false));
  memcpy(before, r->residual, sizeof before);
  for (int k = 0; k < r->num; k++) {
    int by;
    double *value = r->value + k * LOOKED_AT;
    if (!order_of(r, k, d->num_coordinates, &by)) continue;
    for (int i = 0; i < LOOKED_AT; i++) value[i] += 1;
    PCSIM_TRY(pcsim_executor_run(r->executor, false));
    for (int i = 0; i < LOOKED_AT; i++) value[i] -= 1, by_component[by][i] = r->residual[i] - before[i];
  }
  for (int k = 0; k < d->num_space; k++)
    for (int i = 0; i < LOOKED_AT; i++)
      sum += by_component[k][i] * r->component[k * LOOKED_AT + i] / LOOKED_AT;
  *number = sum;
  for (int k = 0; k < d->num_space; k++)
    for (int i = 0; i < LOOKED_AT; i++)
      *constant = *constant &&
                  fabs(by_component[k][i] - sum * r->component[k * LOOKED_AT + i]) <= same * (1 + fabs(sum));
  return PCSIM_OK;
}

/* Law of a condition on a piece; false: it is of another kind, or the start suits it. */
static pcsim_status find_law(const ansatz_builder *b, const problem_condition *c, int piece,
                             const pcsim_program *start, wall_law *law, bool *found) {
  const domain_view *d = b->problem->domain;
  double normal = 0, value = 0, largest = 0;
  probe r = {0};
  pcsim_status status;
  *found = false;
  PCSIM_GOTO(open_probe(b, &c->text, &r), status, done);
  for (int k = 0; k < r.num; k++) {
    int by;
    const int order = order_of(&r, k, d->num_coordinates, &by);
    if (order > 1 || (order == 1 && (by < 0 || by >= d->num_space))) goto done;
  }
  PCSIM_GOTO(domain_draw_piece(b->domain, piece, 1, 0, LOOKED_AT, r.coordinates, r.normals), status, done);
  for (int i = 0; i < LOOKED_AT; i++) {
    r.coordinates[i * d->num_coordinates + d->time] = d->range[d->time][0];
    for (int k = 0; k < d->num_space; k++) r.component[k * LOOKED_AT + i] = r.normals[i * d->num_space + k];
  }
  PCSIM_GOTO(take_start(b, &r, start), status, done);
  *found = true;
  for (int k = 0; k < r.num; k++) {
    int by;
    if (!order_of(&r, k, d->num_coordinates, &by))
      PCSIM_GOTO(slope(&r, k, 1e-5, &value, found), status, done);
  }
  PCSIM_GOTO(normal_slope(b, &r, &normal, found), status, done);
  PCSIM_GOTO(pcsim_executor_run(r.executor, false), status, done);
  *law = (wall_law){.q = value / normal};
  for (int i = 0; i < LOOKED_AT; i++) {
    law->jump -= r.residual[i] / normal / LOOKED_AT;
    largest = fmax(largest, fabs(r.residual[i] / normal));
  }
  /* one that changes its sign along the piece is not made less by its mean */
  *found = *found && isfinite(law->q) && isfinite(law->jump) && largest > mismatch &&
           fabs(law->jump) > 0.5 * largest;
done:
  close_probe(&r);
  return status;
}

/* ----------------------------------------------------------------------------------- walls */

/* The layer of a wall with jump 1. */
static void add_layer(ansatz_builder *b, int condition, const domain_wall *w, const wall_law *law, double c) {
  const domain_view *d = b->problem->domain;
  pcsim_program *p = b->program;
  pcsim_value square = PCSIM_NO_VALUE, distance = PCSIM_NO_VALUE, factor = PCSIM_NO_VALUE;
  const double *range = d->range[d->time], length = range[1] - range[0];
  double q = law->q;
  int num = 0;
  for (int k = 0; k < d->num_space; k++) {
    if (!w->of[k]) continue;
    const pcsim_value x = parts_linear(b, parts_coordinate(b, k), 1, -w->at[k]);
    num++;
    if (!w->sphere) distance = parts_linear(b, x, w->sign, 0);
    else {
      const pcsim_value part = pcsim_build_binary(p, PCSIM_OP_MUL, x, x);
      square = square < 0 ? part : pcsim_build_binary(p, PCSIM_OP_ADD, square, part);
    }
  }
  if (w->sphere && !w->outside) /* smooth in the centre */
    distance = parts_linear(b, square, -0.5 / w->radius, 0.5 * w->radius);
  else if (w->sphere) {
    const pcsim_value r = pcsim_build_unary(p, PCSIM_OP_SQRT, square);
    distance = parts_linear(b, r, 1, -w->radius);
    q += (num - 1) / (2 * w->radius);
    if (num > 1)
      factor = pcsim_build_binary(p, PCSIM_OP_POW, parts_linear(b, r, 1 / w->radius, 0),
                                  pcsim_build_constant(p, -0.5 * (num - 1)));
  }
  q = fmax(q, 0);
  /* at the start itself the roots are those of rounding */
  const pcsim_value since = parts_linear(b, parts_coordinate(b, d->time), 1, -range[0]),
                    s = parts_linear(b, since, c, 1e-16 * c * length);
  wall_layer *l = &b->layer[b->num_layers++];
  b->ansatz->layered[condition] = true;
  *l = (wall_layer){heat_half_space(p, distance, s, q, c * length), law->jump, heat_at_wall(q, c * length),
                    condition};
  if (factor >= 0) l->value = pcsim_build_binary(p, PCSIM_OP_MUL, l->value, factor);
}

static const problem_condition *start_of(const problem *p) {
  for (int i = 0; i < p->num_conditions; i++)
    if (p->condition[i].place == PLACE_START && p->condition[i].kind == CONDITION_VALUE)
      return &p->condition[i];
  return NULL;
}

/* Is a value held on the boundary? What is added to A would be added there. */
static bool holds_values(const problem *p) {
  for (int i = 0; i < p->num_conditions; i++)
    if (p->condition[i].place == PLACE_PIECES && p->condition[i].kind == CONDITION_VALUE) return true;
  return p->num_periods > 0;
}

pcsim_status parts_layers(ansatz_builder *b) {
  const problem *p = b->problem;
  const problem_condition *begin = start_of(p);
  pcsim_program *start = NULL;
  bool found = false;
  double c = 0;
  if (!begin || holds_values(p)) return PCSIM_OK;
  PCSIM_TRY(find_diffusion(b, &c, &found));
  if (!found) return PCSIM_OK;
  PCSIM_TRY(parts_lower(b, &begin->text, &start));
  pcsim_status status = PCSIM_OK;
  for (int i = 0; i < p->num_conditions && status == PCSIM_OK; i++) {
    const problem_condition *condition = &p->condition[i];
    if (condition->place != PLACE_PIECES || condition->kind != CONDITION_RESIDUAL) continue;
    for (int k = 0; k < p->domain->num_pieces && status == PCSIM_OK; k++) {
      wall_law law;
      domain_wall wall;
      bool known;
      if (!condition->piece[k]) continue;
      status = find_law(b, condition, k, start, &law, &found);
      for (int j = 0; status == PCSIM_OK && found && domain_get_wall(b->domain, k, j, &wall, &known); j++)
        if (known && b->num_layers < LAYERS_MAX) add_layer(b, i, &wall, &law, c);
    }
  }
  pcsim_program_destroy(&start);
  return status == PCSIM_OK ? pcsim_program_status(b->program) : status;
}

pcsim_value parts_layer_sum(ansatz_builder *b) {
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int i = 0; i < b->num_layers; i++) {
    const pcsim_value one = parts_linear(b, b->layer[i].value, b->layer[i].jump, 0);
    sum = sum < 0 ? one : pcsim_build_binary(b->program, PCSIM_OP_ADD, sum, one);
  }
  return sum;
}

pcsim_status ansatz_layer_names(const problem *p, const ansatz *a, char **text) {
  PCSIM_TRY(pcsim_strdup("", text));
  for (int i = 0; i < p->num_conditions; i++) {
    char *next = NULL;
    if (!a->layered || !a->layered[i]) continue;
    const pcsim_status status = text_format(&next, "%s%s%s", *text, **text ? ", " : "", p->condition[i].name);
    pcsim_free(text);
    PCSIM_TRY(status);
    *text = next;
  }
  return PCSIM_OK;
}
