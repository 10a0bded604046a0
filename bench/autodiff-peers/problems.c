/* SPDX-License-Identifier: BSD-2-Clause */
/** @file problems.c  Losses built with the public interface alone: a network, its derivatives by a route, an
 *  equation composed with them, reverse mode. */
#include "problems.h"

#include <stdio.h>
#include <string.h>

const char *const parameter_names[NUM_PARAMETERS] = {"w0", "b0", "w1", "b1", "w2",
                                                     "b2", "w3", "b3", "w4", "b4"};

typedef struct {
  const char *name;
  int inputs;
  const char
      *residual;   /**< of u and of what a route gives: the operator "l" or the partials "p0", "p1", ... */
  const char *sum; /**< "l" as the sum of partials */
  int num_partials;
  int orders[3][2];
  double weights[3];
} problem;

/* The coordinates of burgers are x, t. */
static const problem problems[] = {
    {"poisson", 2, "l + sin(u) - f", "p0 + p1", 2, {{2, 0}, {0, 2}}, {1, 1}},
    {"burgers", 2, "p0 + u*p1 - 0.05*p2 - f", NULL, 3, {{0, 1}, {1, 0}, {2, 0}}, {0}},
    {"biharmonic", 2, "l + sin(u) - f", "p0 + 2*p1 + p2", 3, {{4, 0}, {2, 2}, {0, 4}}, {1, 2, 1}},
    {"sixth", 1, "l + sin(u) - f", "p0", 1, {{6, 0}}, {1}},
};

static const problem *find(const char *name) {
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
    if (!strcmp(problems[i].name, name)) return &problems[i];
  return NULL;
}

int problem_inputs(const char *name) {
  const problem *p = find(name);
  return p ? p->inputs : 0;
}

void parameter_shape(int parameter, int inputs, int width, int *rows, int *columns) {
  const int layer = parameter / 2;
  *rows = layer < LAYERS ? width : 1;
  *columns = parameter % 2 ? 1 : layer ? width : inputs;
}

static pcsim_status network(int inputs, int width, pcsim_program **out) {
  pcsim_program *p = NULL;
  PCSIM_TRY(pcsim_program_create(&p));
  *out = p;
  pcsim_value h = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), inputs);
  for (int i = 0; i < NUM_PARAMETERS; i += 2) {
    int rows, columns;
    parameter_shape(i, inputs, width, &rows, &columns);
    pcsim_value weight = pcsim_build_parameter(p, parameter_names[i], rows, columns);
    h = pcsim_build_dense(p, weight, h, pcsim_build_parameter(p, parameter_names[i + 1], rows, 1));
    if (i + 2 < NUM_PARAMETERS) h = pcsim_build_unary(p, PCSIM_OP_TANH, h);
  }
  pcsim_build_output(p, "u", h);
  return pcsim_program_status(p);
}

/** *program becomes `next` unless that failed. */
static pcsim_status replace(pcsim_program **program, pcsim_program *next, pcsim_status status) {
  if (status != PCSIM_OK) return status;
  pcsim_program_destroy(program);
  *program = next;
  return PCSIM_OK;
}

/** The input `name` [rows] of *program is called `as` from here on. */
static pcsim_status rename_input(pcsim_program **program, const char *name, const char *as, int rows) {
  pcsim_program *given = NULL, *next = NULL;
  PCSIM_TRY(pcsim_program_create(&given));
  pcsim_build_output(given, name, pcsim_build_input(given, as, pcsim_build_space(given, "points"), rows));
  pcsim_status status = pcsim_program_compose(*program, given, &next);
  pcsim_program_destroy(&given);
  return replace(program, next, status);
}

/** Program that hands on n inputs at points, each of one row, as outputs of other names. */
static pcsim_status hand_on(const char *const *names, const char *const *as, int n, pcsim_program **out) {
  PCSIM_TRY(pcsim_program_create(out));
  const pcsim_space points = pcsim_build_space(*out, "points");
  for (int i = 0; i < n; i++) pcsim_build_output(*out, as[i], pcsim_build_input(*out, names[i], points, 1));
  return pcsim_program_status(*out);
}

/** Of *program only the n outputs `names` stay, called `as`. */
static pcsim_status rename_outputs(pcsim_program **program, const char *const *names, const char *const *as,
                                   int n) {
  pcsim_program *outer = NULL, *next = NULL;
  pcsim_status status = hand_on(names, as, n, &outer);
  if (status == PCSIM_OK) status = pcsim_program_compose(outer, *program, &next);
  pcsim_program_destroy(&outer);
  return replace(program, next, status);
}

static pcsim_status rename_output(pcsim_program **program, const char *name, const char *as) {
  return rename_outputs(program, &name, &as, 1);
}

/** Program of one expression of inputs at points, each of one row: output "0". */
static pcsim_status equation(const char *text, pcsim_program **out) {
  static const char *const unknowns[] = {"u", "l", "p0", "p1", "p2", "f"};
  return pcsim_lower(&text, 1, &(pcsim_lowering){.num_unknowns = 6, .unknowns = unknowns}, out, NULL, NULL);
}

/** *outer with what `inner` gives, which is destroyed. */
static pcsim_status take(pcsim_program **outer, pcsim_program **inner) {
  pcsim_program *next = NULL;
  pcsim_status status = pcsim_program_compose(*outer, *inner, &next);
  pcsim_program_destroy(inner);
  return replace(outer, next, status);
}

/* ----------------------------------------------------------------- routes */

/** One tangent more, along an axis: only the new derivative stays, as "u". */
static pcsim_status one_forward(pcsim_program **p, int axis, int level, int inputs) {
  const char *const x = "x";
  char name[24];
  pcsim_program *next = NULL;
  pcsim_status status = pcsim_transform_jvp(*p, &x, 1, &next);
  PCSIM_TRY(replace(p, next, status));
  snprintf(name, sizeof name, "along_%d_%d", axis, level);
  PCSIM_TRY(rename_input(p, "d_x", name, inputs));
  return rename_output(p, "d_u", "u");
}

/** One cotangent more: the derivative by the one input, as "u". */
static pcsim_status one_reverse(pcsim_program **p, int level) {
  const char *const x = "x";
  char name[24];
  pcsim_program *next = NULL;
  pcsim_status status = pcsim_transform_vjp(*p, &x, 1, &next);
  PCSIM_TRY(replace(p, next, status));
  snprintf(name, sizeof name, "seed_%d", level);
  PCSIM_TRY(rename_input(p, "b_u", name, 1));
  return rename_output(p, "b_x", "u");
}

/** The partial derivative i of a problem by first derivatives, nested: *p becomes its output "p<i>". */
static pcsim_status nest(const problem *q, int i, bool reverse, pcsim_program **p) {
  int level = 0;
  char name[24];
  for (int axis = 0; axis < q->inputs; axis++)
    for (int k = 0; k < q->orders[i][axis]; k++) {
      level++;
      if (reverse) PCSIM_TRY(one_reverse(p, level));
      else PCSIM_TRY(one_forward(p, axis, level, q->inputs));
    }
  snprintf(name, sizeof name, "p%d", i);
  return rename_output(p, "u", name);
}

/** *p, a network, becomes the program of u and all partials. */
static pcsim_status nested(const problem *q, bool reverse, pcsim_program **p) {
  static const char *const names[] = {"u", "p0", "p1", "p2"};
  pcsim_program *outer = NULL, *one = NULL;
  pcsim_status status = hand_on(names, names, q->num_partials + 1, &outer);
  if (status != PCSIM_OK) goto done;
  for (int i = 0; i < q->num_partials; i++) {
    PCSIM_GOTO(pcsim_program_copy(*p, &one), status, done);
    PCSIM_GOTO(nest(q, i, reverse, &one), status, done);
    PCSIM_GOTO(take(&outer, &one), status, done);
  }
  PCSIM_GOTO(take(&outer, p), status, done);
  *p = outer;
  return PCSIM_OK;
done:
  pcsim_program_destroy(&one);
  pcsim_program_destroy(&outer);
  return status;
}

static pcsim_status partials(const problem *q, pcsim_program **p) {
  static const char *const names[] = {"u", "u_p_0", "u_p_1", "u_p_2"}, *const as[] = {"u", "p0", "p1", "p2"};
  int orders[6];
  for (int i = 0; i < q->num_partials; i++)
    memcpy(orders + i * q->inputs, q->orders[i], (size_t)q->inputs * sizeof *orders);
  pcsim_program *next = NULL;
  pcsim_status status = pcsim_transform_partials(*p, "x", orders, q->num_partials, &next);
  PCSIM_TRY(replace(p, next, status));
  return rename_outputs(p, names, as, q->num_partials + 1);
}

/** A linear operator of the output "u" as one sum, called `as`. */
static pcsim_status one_sum(const problem *q, const char *as, pcsim_program **p) {
  const char *const names[] = {"u", "u_operator"}, *const called[] = {"u", as};
  int orders[6];
  for (int i = 0; i < q->num_partials; i++)
    memcpy(orders + i * q->inputs, q->orders[i], (size_t)q->inputs * sizeof *orders);
  pcsim_program *next = NULL;
  pcsim_status status = pcsim_transform_operator(*p, "x", orders, q->weights, q->num_partials, &next);
  PCSIM_TRY(replace(p, next, status));
  return rename_outputs(p, names, called, 2);
}

/** *p, a network, becomes the program of u and the Laplacian "l" of its Laplacian. */
static pcsim_status laplacians(pcsim_program **p) {
  static const char *const names[] = {"u", "l"};
  const problem *q = find("poisson");
  pcsim_program *outer = NULL, *twice = NULL;
  pcsim_status status = hand_on(names, names, 2, &outer);
  if (status != PCSIM_OK) goto done;
  PCSIM_GOTO(pcsim_program_copy(*p, &twice), status, done);
  PCSIM_GOTO(one_sum(q, "l", &twice), status, done);
  PCSIM_GOTO(rename_output(&twice, "l", "u"), status, done);
  PCSIM_GOTO(one_sum(q, "l", &twice), status, done);
  PCSIM_GOTO(rename_output(&twice, "l", "l"), status, done);
  PCSIM_GOTO(take(&outer, &twice), status, done);
  PCSIM_GOTO(take(&outer, p), status, done);
  *p = outer;
  return PCSIM_OK;
done:
  pcsim_program_destroy(&twice);
  pcsim_program_destroy(&outer);
  return status;
}

/* ------------------------------------------------------------------- loss */

/** *p, a network, becomes the program of u and what the residual asks for. */
static pcsim_status take_route(const problem *q, const char *route, pcsim_program **p) {
  const bool sixth = q->orders[0][0] == MAX_ORDER, fourth = q->orders[0][0] == 4;
  if (!strcmp(route, "collapsed") && q->sum) return one_sum(q, "l", p);
  if (!strcmp(route, "laplacians") && fourth) return laplacians(p);
  if (!strcmp(route, "partials")) return partials(q, p);
  if (!strcmp(route, "nested")) return nested(q, false, p);
  if (!strcmp(route, "reverse") && sixth) return nested(q, true, p);
  PCSIM_FAIL(PCSIM_ERR_ARG, "no route '%s' for '%s'", route, q->name);
}

/** The mean of the square of the residual. */
static pcsim_status mean_square(const problem *q, bool summed, pcsim_program **out) {
  pcsim_program *part = NULL;
  PCSIM_TRY(pcsim_program_create(out));
  pcsim_value r = pcsim_build_input(*out, "0", pcsim_build_space(*out, "points"), 1);
  pcsim_build_output(*out, "loss", pcsim_build_mean(*out, pcsim_build_binary(*out, PCSIM_OP_MUL, r, r)));
  PCSIM_TRY(equation(q->residual, &part));
  PCSIM_TRY(take(out, &part));
  if (summed || !q->sum) return PCSIM_OK;
  PCSIM_TRY(equation(q->sum, &part));
  PCSIM_TRY(rename_output(&part, "0", "l"));
  return take(out, &part);
}

pcsim_status problem_gradient(const char *name, const char *route, int width, pcsim_program **out) {
  const problem *q = find(name);
  PCSIM_CHECK(q, PCSIM_ERR_ARG, "no problem '%s'", name);
  const bool summed = !strcmp(route, "collapsed") || !strcmp(route, "laplacians");
  pcsim_program *p = NULL, *loss = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(network(q->inputs, width, &p), status, done);
  PCSIM_GOTO(take_route(q, route, &p), status, done);
  PCSIM_GOTO(mean_square(q, summed, &loss), status, done);
  PCSIM_GOTO(take(&loss, &p), status, done);
  PCSIM_GOTO(pcsim_transform_vjp(loss, parameter_names, NUM_PARAMETERS, out), status, done);
  status = pcsim_program_simplify(*out);
done:
  pcsim_program_destroy(&p);
  pcsim_program_destroy(&loss);
  return status;
}
