/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups as the objective that optimisers see: loss, gradient, J^T J, J, J^T J v. */
#include "groups_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 200 };

static int64_t num_parameters(const groups *g) { return g->parameters->first[g->parameters->num]; }

void groups_theta(groups *g, const double *theta) {
  if (theta != g->theta) memcpy(g->theta, theta, (size_t)num_parameters(g) * sizeof *theta);
}

pcsim_status groups_bind_theta(groups *g, const group *a, pcsim_executor *x) {
  for (int i = 0; i < a->num_wrt; i++)
    PCSIM_TRY(pcsim_executor_bind(x, a->wrt[i], g->theta + g->parameters->first[a->place[i]]));
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- making executors */

static pcsim_status create(const groups *g, const pcsim_program *program, pcsim_executor **x) {
  return pcsim_executor_create(program, &(pcsim_executor_options){.threads = g->threads}, x);
}

/* Residuals that a row has. */
static int64_t num_residuals(const group *a) { return a->mean ? 1 : a->n; }

/* Sums over points of the squares of the residual, or squares of its means: output "s" [rows]. */
static pcsim_status squares_program(const group *a, pcsim_program **program) {
  const char *const output = "r";
  pcsim_program *p = NULL;
  pcsim_value r;
  PCSIM_TRY(groups_open(a->residual, &output, 1, &p, &r));
  if (a->mean) r = pcsim_build_mean(p, r);
  const pcsim_value square = pcsim_build_binary(p, PCSIM_OP_MUL, r, r);
  pcsim_build_output(p, "s", a->mean ? square : pcsim_build_sum(p, square));
  pcsim_status status = pcsim_program_status(p);
  if (status == PCSIM_OK) status = pcsim_program_simplify(p);
  if (status == PCSIM_OK) *program = p;
  else pcsim_program_destroy(&p);
  return status;
}

/* Outputs b_NAME of the parameters into the group's part of the gradient. */
static pcsim_status bind_part(const groups *g, const group *a, pcsim_executor *x) {
  int64_t at = 0;
  for (int i = 0; i < a->num_wrt; i++) {
    PCSIM_TRY(pcsim_executor_bind_output(x, a->output[i], a->part + at));
    at += g->parameters->first[a->place[i] + 1] - g->parameters->first[a->place[i]];
  }
  return PCSIM_OK;
}

static pcsim_status make_square(groups *g, group *a, bool gradient) {
  pcsim_executor **x = gradient ? &a->gradient : &a->square;
  pcsim_program *squares = NULL, *reverse = NULL;
  pcsim_status status = PCSIM_OK;
  if (*x) return PCSIM_OK;
  PCSIM_GOTO(squares_program(a, &squares), status, done);
  if (gradient) {
    PCSIM_GOTO(pcsim_transform_vjp(squares, a->wrt, a->num_wrt, &reverse), status, done);
    PCSIM_GOTO(pcsim_program_simplify(reverse), status, done);
  }
  PCSIM_GOTO(create(g, gradient ? reverse : squares, x), status, done);
  PCSIM_GOTO(groups_bind_theta(g, a, *x), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(*x, "s", a->squares), status, done);
  if (gradient) {
    PCSIM_GOTO(pcsim_executor_bind(*x, "b_s", a->scaled), status, done);
    PCSIM_GOTO(bind_part(g, a, *x), status, done);
  }
done:
  pcsim_program_destroy(&squares);
  pcsim_program_destroy(&reverse);
  if (status != PCSIM_OK) pcsim_executor_destroy(x);
  return status;
}

static pcsim_status make_reverse(groups *g, group *a) {
  pcsim_program *reverse = NULL;
  pcsim_status status = PCSIM_OK;
  if (a->reverse) return PCSIM_OK;
  PCSIM_GOTO(pcsim_transform_vjp(a->residual, a->wrt, a->num_wrt, &reverse), status, done);
  PCSIM_GOTO(pcsim_program_simplify(reverse), status, done);
  PCSIM_GOTO(pcsim_program_terms(reverse), status, done);
  PCSIM_GOTO(create(g, reverse, &a->reverse), status, done);
  PCSIM_GOTO(groups_bind_theta(g, a, a->reverse), status, done);
  PCSIM_GOTO(bind_part(g, a, a->reverse), status, done);
done:
  pcsim_program_destroy(&reverse);
  if (status != PCSIM_OK) pcsim_executor_destroy(&a->reverse);
  return status;
}

static pcsim_status make_tangent(groups *g, group *a) {
  pcsim_program *tangent = NULL;
  pcsim_status status = PCSIM_OK;
  const char *const output = "d_r";
  if (a->tangent) return PCSIM_OK;
  PCSIM_GOTO(pcsim_transform_jvp(a->residual, a->wrt, a->num_wrt, &tangent), status, done);
  PCSIM_GOTO(pcsim_program_keep(tangent, &output, 1), status, done);
  PCSIM_GOTO(pcsim_program_simplify(tangent), status, done);
  PCSIM_GOTO(create(g, tangent, &a->tangent), status, done);
  status = groups_bind_theta(g, a, a->tangent);
done:
  pcsim_program_destroy(&tangent);
  if (status != PCSIM_OK) pcsim_executor_destroy(&a->tangent);
  return status;
}

/* Inputs of the group at its points; a transform may have dropped the use of some. */
static pcsim_status bind_inputs(const group *a, pcsim_executor *x) {
  PCSIM_TRY(pcsim_executor_points(x, "points", a->n));
  for (int i = 0; i < a->num_inputs; i++)
    PCSIM_TRY(pcsim_executor_bind(x, a->input[i].name, a->input[i].data));
  return PCSIM_OK;
}

/* --------------------------------------------------------------------- loss, gradient */

static pcsim_status run_squares(groups *g, group *a, bool gradient) {
  PCSIM_TRY(make_square(g, a, gradient));
  pcsim_executor *x = gradient ? a->gradient : a->square;
  PCSIM_TRY(bind_inputs(a, x));
  for (int k = 0; k < a->rows; k++) a->scaled[k] = 0.5 * a->weight[k] / (double)num_residuals(a);
  return pcsim_executor_run(x, false);
}

/* gradient += the group's part */
static void add_part(const group *a, double *gradient) {
  for (int64_t k = 0; k < a->numbers; k++) gradient[a->at[k]] += a->part[k];
}

static pcsim_status loss(objective *o, const double *theta, double *value, double *gradient) {
  groups *g = (groups *)o;
  groups_theta(g, theta);
  *value = 0;
  if (gradient) memset(gradient, 0, (size_t)o->num_parameters * sizeof *gradient);
  for (int i = 0; i < g->num; i++) {
    group *a = &g->group[i];
    if (!a->n) continue;
    PCSIM_TRY(run_squares(g, a, gradient != NULL));
    for (int k = 0; k < a->rows; k++) *value += a->scaled[k] * a->squares[k];
    if (gradient) add_part(a, gradient);
  }
  return PCSIM_OK;
}

pcsim_status groups_mean_squares(groups *g, int which, const double *theta, double *squares) {
  group *a = &g->group[which];
  groups_theta(g, theta);
  PCSIM_TRY(run_squares(g, a, false));
  for (int k = 0; k < a->rows; k++) squares[k] = a->squares[k] / (double)num_residuals(a);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------ derivatives of rows */

typedef pcsim_status row_function(groups *g, group *a, int row, const pcsim_jacobian *j, void *context);

/* Call `function` for each row of the group with its seeds set: `factor[row]` (NULL: 1) in the row, 0
 * elsewhere. */
static pcsim_status for_rows(groups *g, group *a, const double *factor, row_function *function,
                             void *context) {
  PCSIM_TRY(make_reverse(g, a));
  PCSIM_TRY(bind_inputs(a, a->reverse));
  PCSIM_TRY(pcsim_executor_bind(a->reverse, "b_r", a->seeds));
  const pcsim_jacobian j = {.outputs = (const char *const *)a->output, .num_outputs = a->num_wrt};
  for (int row = 0; row < a->rows; row++) {
    for (int64_t i = 0; i < a->n; i++)
      for (int k = 0; k < a->rows; k++) a->seeds[i * a->rows + k] = k != row ? 0 : factor ? factor[k] : 1;
    PCSIM_TRY(function(g, a, row, &j, context));
  }
  return PCSIM_OK;
}

/* Derivatives of the mean of a row, times a factor, into the group's part. */
static pcsim_status mean_row(groups *g, group *a, int row, double factor) {
  PCSIM_TRY(make_reverse(g, a));
  PCSIM_TRY(bind_inputs(a, a->reverse));
  for (int64_t i = 0; i < a->n; i++)
    for (int k = 0; k < a->rows; k++) a->seeds[i * a->rows + k] = k == row ? factor / (double)a->n : 0;
  PCSIM_TRY(pcsim_executor_bind(a->reverse, "b_r", a->seeds));
  return pcsim_executor_run(a->reverse, false);
}

static pcsim_status add_mean_product(groups *g, group *a, double *product) {
  const int64_t n = num_parameters(g);
  for (int row = 0; row < a->rows; row++) {
    PCSIM_TRY(mean_row(g, a, row, sqrt(a->weight[row])));
    for (int64_t r = 0; r < a->numbers; r++)
      for (int64_t c = 0; c <= r; c++) product[a->at[r] * n + a->at[c]] += a->part[r] * a->part[c];
  }
  return PCSIM_OK;
}

static void set_factors(const group *a, double *factor) {
  for (int k = 0; k < a->rows; k++) factor[k] = sqrt(a->weight[k] / (double)a->n);
}

static pcsim_status add_product(groups *g, group *a, int row, const pcsim_jacobian *j, void *context) {
  (void)g, (void)row;
  return pcsim_executor_jacobian_product(a->reverse, j, context);
}

/* Lower triangle of a group that lacks parameters into the whole. */
static pcsim_status add_smaller(groups *g, group *a, const double *factor, double *product) {
  const int64_t n = num_parameters(g), m = a->numbers;
  if (!g->product) PCSIM_TRY(pcsim_alloc((size_t)n * (size_t)n, sizeof *g->product, &g->product));
  memset(g->product, 0, (size_t)(m * m) * sizeof *g->product);
  PCSIM_TRY(for_rows(g, a, factor, add_product, g->product));
  for (int64_t r = 0; r < m; r++)
    for (int64_t c = 0; c <= r; c++) product[a->at[r] * n + a->at[c]] += g->product[r * m + c];
  return PCSIM_OK;
}

/* product += the group's weighted J^T J */
static pcsim_status add_group_product(groups *g, group *a, double *product) {
  double factor[GROUPS_ROWS_MAX];
  if (!a->n) return PCSIM_OK;
  if (a->mean) return add_mean_product(g, a, product);
  set_factors(a, factor);
  return a->numbers == num_parameters(g) ? for_rows(g, a, factor, add_product, product)
                                         : add_smaller(g, a, factor, product);
}

static void clear_lower(int64_t n, double *product) {
  for (int64_t r = 0; r < n; r++) memset(product + r * n, 0, (size_t)(r + 1) * sizeof *product);
}

pcsim_status groups_product(groups *g, int which, const double *theta, double *product) {
  groups_theta(g, theta);
  clear_lower(num_parameters(g), product);
  return add_group_product(g, &g->group[which], product);
}

static pcsim_status normal(objective *o, const double *theta, double *value, double *gradient,
                           double *product) {
  groups *g = (groups *)o;
  PCSIM_TRY(loss(o, theta, value, gradient));
  clear_lower(o->num_parameters, product);
  for (int i = 0; i < g->num; i++) PCSIM_TRY(add_group_product(g, &g->group[i], product));
  return PCSIM_OK;
}

/* --------------------------------------------------------------------- J as a whole */

typedef struct {
  const group *a;
  double *j; /* [parameters][residuals] */
  int64_t stride, column;
} jacobian_copy;

static void copy_block(void *context, const pcsim_jacobian_block *block) {
  const jacobian_copy *c = context;
  for (int64_t r = 0; r < block->rows; r++)
    memcpy(c->j + c->a->at[pcsim_jacobian_row(block, r)] * c->stride + c->column + block->first,
           block->numbers + r * block->stride, (size_t)block->n * sizeof *c->j);
}

static pcsim_status copy_row(groups *g, group *a, int row, const pcsim_jacobian *j, void *context) {
  jacobian_copy *c = context, own = *c;
  (void)g;
  own.column += (int64_t)row * a->n;
  return pcsim_executor_jacobian(a->reverse, j, copy_block, &own);
}

/* Columns of a group of means, and its residuals. */
static pcsim_status mean_jacobian(groups *g, group *a, int64_t column, int64_t stride, double *value,
                                  double *residual, double *j) {
  PCSIM_TRY(make_reverse(g, a));
  PCSIM_TRY(pcsim_executor_bind_output(a->reverse, "r", a->rows_out));
  for (int row = 0; row < a->rows; row++) {
    const double factor = sqrt(a->weight[row]);
    double r = 0;
    PCSIM_TRY(mean_row(g, a, row, factor));
    for (int64_t m = 0; m < a->n; m++) r += factor * a->rows_out[m * a->rows + row] / (double)a->n;
    for (int64_t k = 0; k < a->numbers; k++) j[a->at[k] * stride + column + row] = a->part[k];
    residual[column + row] = r;
    *value += 0.5 * r * r;
  }
  return PCSIM_OK;
}

static pcsim_status jacobian(objective *o, const double *theta, double *value, double *residual, double *j) {
  groups *g = (groups *)o;
  int64_t column = 0;
  groups_theta(g, theta);
  memset(j, 0, (size_t)(o->num_parameters * o->num_residuals) * sizeof *j);
  *value = 0;
  for (int i = 0; i < g->num; i++) {
    group *a = &g->group[i];
    double factor[GROUPS_ROWS_MAX];
    if (!a->n) continue;
    if (a->mean) {
      PCSIM_TRY(mean_jacobian(g, a, column, o->num_residuals, value, residual, j));
      column += a->rows;
      continue;
    }
    set_factors(a, factor);
    jacobian_copy c = {.a = a, .j = j, .stride = o->num_residuals, .column = column};
    PCSIM_TRY(make_reverse(g, a));
    PCSIM_TRY(pcsim_executor_bind_output(a->reverse, "r", a->rows_out));
    PCSIM_TRY(for_rows(g, a, factor, copy_row, &c));
    for (int row = 0; row < a->rows; row++)
      for (int64_t m = 0; m < a->n; m++) {
        const double r = factor[row] * a->rows_out[m * a->rows + row];
        residual[column + (int64_t)row * a->n + m] = r;
        *value += 0.5 * r * r;
      }
    column += a->n * a->rows;
  }
  return PCSIM_OK;
}

/* --------------------------------------------------------------------- J^T J times a vector */

/* Each row of the seeds by its mean. */
static void spread_means(const group *a) {
  for (int k = 0; k < a->rows; k++) {
    double sum = 0;
    for (int64_t m = 0; m < a->n; m++) sum += a->seeds[m * a->rows + k];
    for (int64_t m = 0; m < a->n; m++) a->seeds[m * a->rows + k] = sum / (double)a->n;
  }
}

static pcsim_status product(objective *o, const double *v, double *out) {
  groups *g = (groups *)o;
  memset(out, 0, (size_t)o->num_parameters * sizeof *out);
  for (int i = 0; i < g->num; i++) {
    group *a = &g->group[i];
    if (!a->n) continue;
    PCSIM_TRY(make_tangent(g, a));
    PCSIM_TRY(make_reverse(g, a));
    PCSIM_TRY(bind_inputs(a, a->tangent));
    for (int k = 0; k < a->num_wrt; k++) {
      char name[NAME];
      snprintf(name, sizeof name, "d_%s", a->wrt[k]);
      PCSIM_TRY(pcsim_executor_bind(a->tangent, name, v + g->parameters->first[a->place[k]]));
    }
    PCSIM_TRY(pcsim_executor_bind_output(a->tangent, "d_r", a->seeds));
    PCSIM_TRY(pcsim_executor_run(a->tangent, false));
    if (a->mean) spread_means(a);
    for (int64_t m = 0; m < a->n; m++)
      for (int k = 0; k < a->rows; k++) a->seeds[m * a->rows + k] *= a->weight[k] / (double)a->n;
    PCSIM_TRY(bind_inputs(a, a->reverse));
    PCSIM_TRY(pcsim_executor_bind(a->reverse, "b_r", a->seeds));
    PCSIM_TRY(pcsim_executor_run(a->reverse, false));
    add_part(a, out);
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------------ traces */

typedef struct {
  double sum[PCSIM_JACOBIAN_PARTS];
} square_sums;

static void add_squares(void *context, const pcsim_jacobian_block *block) {
  square_sums *s = context;
  double sum = 0;
  for (int64_t r = 0; r < block->rows; r++)
    for (int64_t i = 0; i < block->n; i++) {
      const double x = block->numbers[r * block->stride + i];
      sum += x * x;
    }
  s->sum[block->part] += sum;
}

static pcsim_status trace_of_row(groups *g, group *a, int row, const pcsim_jacobian *j, void *context) {
  square_sums s = {{0}};
  double *traces = context;
  (void)g;
  PCSIM_TRY(pcsim_executor_jacobian(a->reverse, j, add_squares, &s));
  traces[row] = 0;
  for (int i = 0; i < PCSIM_JACOBIAN_PARTS; i++) traces[row] += s.sum[i] / (double)a->n;
  return PCSIM_OK;
}

pcsim_status groups_traces(groups *g, int which, const double *theta, double *traces) {
  group *a = &g->group[which];
  groups_theta(g, theta);
  if (!a->mean) return for_rows(g, a, NULL, trace_of_row, traces);
  for (int row = 0; row < a->rows; row++) {
    PCSIM_TRY(mean_row(g, a, row, 1));
    traces[row] = 0;
    for (int64_t k = 0; k < a->numbers; k++) traces[row] += a->part[k] * a->part[k];
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------- as an objective */

void groups_objective_count(groups *g) {
  g->objective.num_residuals = 0;
  for (int i = 0; i < g->num; i++)
    g->objective.num_residuals += num_residuals(&g->group[i]) * g->group[i].rows;
}

void groups_objective_begin(groups *g) {
  g->objective = (objective){.num_parameters = num_parameters(g),
                             .loss = loss,
                             .normal = normal,
                             .jacobian = jacobian,
                             .product = product};
}

objective *groups_objective(groups *g) { return &g->objective; }
