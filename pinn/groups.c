/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of residuals: their programs, points, weights. What optimisers ask for is in groups_objective.c. */
#include "groups_parts.h"

#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------- parameters */

pcsim_status groups_parameters_of(const pcsim_program *program, const char *prefix, groups_parameters *p) {
  const char *name;
  int rows, columns, n = 0;
  *p = (groups_parameters){0};
  while (pcsim_program_parameter_name(program, n, NULL, NULL)) n++;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *p->name, &p->name));
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, sizeof *p->first, &p->first));
  for (int i = 0; (name = pcsim_program_parameter_name(program, i, &rows, &columns)); i++) {
    if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
    PCSIM_TRY(pcsim_strdup(name, &p->name[p->num++]));
    p->first[p->num] = p->first[p->num - 1] + (int64_t)rows * columns;
  }
  PCSIM_TRY(pcsim_alloc((size_t)p->first[p->num], sizeof *p->start, &p->start));
  for (int i = 0; i < p->num; i++) {
    /* reading alone: the program is not changed */
    const double *numbers = pcsim_program_parameter((pcsim_program *)program, p->name[i], NULL, NULL);
    memcpy(p->start + p->first[i], numbers, (size_t)(p->first[i + 1] - p->first[i]) * sizeof *numbers);
  }
  return PCSIM_OK;
}

void groups_parameters_clear(groups_parameters *p) {
  for (int i = 0; i < p->num; i++) pcsim_free(&p->name[i]);
  pcsim_free(&p->name);
  pcsim_free(&p->first);
  pcsim_free(&p->start);
  *p = (groups_parameters){0};
}

/* ------------------------------------------------------------------------ groups */

pcsim_status groups_open(const pcsim_program *from, const char *const *outputs, int n,
                         pcsim_program **program, pcsim_value *values) {
  pcsim_argument *arguments = NULL;
  pcsim_program *p = NULL;
  int num = 0;
  pcsim_status status;
  while (pcsim_program_input(from, num, NULL, NULL)) num++;
  PCSIM_GOTO(pcsim_program_create(&p), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)num, sizeof *arguments, &arguments), status, done);
  const pcsim_space space = pcsim_build_space(p, "points");
  for (int i = 0; i < num; i++) {
    int rows;
    const char *name = pcsim_program_input(from, i, &rows, NULL);
    arguments[i] = (pcsim_argument){name, pcsim_build_input(p, name, space, rows)};
  }
  pcsim_build_part(p, from, space, arguments, num, outputs, n, values);
  status = pcsim_program_status(p);
  if (status == PCSIM_OK) *program = p, p = NULL;
done:
  pcsim_free(&arguments);
  pcsim_program_destroy(&p);
  return status;
}

pcsim_status groups_create(const groups_parameters *parameters, int threads, groups **result) {
  groups *g = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *g, &g));
  g->parameters = parameters;
  g->threads = threads > 0 ? threads : 1;
  const int64_t n = parameters->first[parameters->num];
  pcsim_status status = pcsim_alloc((size_t)n, sizeof *g->theta, &g->theta);
  if (status != PCSIM_OK) {
    pcsim_free(&g);
    return status;
  }
  groups_objective_begin(g);
  *result = g;
  return PCSIM_OK;
}

static void clear_group(group *a) {
  pcsim_free(&a->name);
  pcsim_program_destroy(&a->whole);
  pcsim_program_destroy(&a->residual);
  pcsim_program_destroy(&a->given);
  pcsim_executor_destroy(&a->prepare);
  pcsim_executor_destroy(&a->square);
  pcsim_executor_destroy(&a->gradient);
  pcsim_executor_destroy(&a->reverse);
  pcsim_executor_destroy(&a->tangent);
  pcsim_executor_destroy(&a->elsewhere);
  for (int i = 0; i < a->num_inputs; i++) pcsim_free(&a->input[i].data);
  pcsim_free(&a->input);
  for (int i = 0; a->output && i < a->num_wrt; i++) pcsim_free(&a->output[i]);
  pcsim_free(&a->output);
  pcsim_free(&a->wrt);
  pcsim_free(&a->place);
  pcsim_free(&a->at);
  pcsim_free(&a->weight);
  pcsim_free(&a->scaled);
  pcsim_free(&a->squares);
  pcsim_free(&a->part);
  pcsim_free(&a->seeds);
  pcsim_free(&a->rows_out);
  pcsim_free(&a->points);
}

void groups_destroy(groups **groups_) {
  groups *g = *groups_;
  if (!g) return;
  for (int i = 0; i < g->num; i++) clear_group(&g->group[i]);
  pcsim_free(&g->group);
  pcsim_free(&g->theta);
  pcsim_free(&g->product);
  pcsim_free(groups_);
}

/* The outputs "0", "1", ... as one output "r" of a program that knows nothing else. */
static pcsim_status stack(const pcsim_program *residual, int rows, bool measured, const char *factor,
                          pcsim_program **stacked) {
  pcsim_program *p = NULL;
  pcsim_value *values = NULL;
  char(*text)[16] = NULL;
  const char **names = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)rows, sizeof *values, &values), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)rows, sizeof *text, &text), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)rows, sizeof *names, &names), status, done);
  for (int k = 0; k < rows; k++) {
    snprintf(text[k], sizeof text[k], "%d", k);
    names[k] = text[k];
  }
  PCSIM_GOTO(groups_open(residual, names, rows, &p, values), status, done);
  for (int k = 0; measured && k < rows; k++) {
    char data[24];
    snprintf(data, sizeof data, "data_%d", k);
    const pcsim_value value = pcsim_build_input(p, data, 0, 1); /* the one space */
    values[k] = pcsim_build_binary(p, PCSIM_OP_SUB, values[k], value);
  }
  const pcsim_value by = factor ? pcsim_build_input(p, factor, 0, 1) : PCSIM_NO_VALUE;
  for (int k = 0; factor && k < rows; k++) values[k] = pcsim_build_binary(p, PCSIM_OP_MUL, values[k], by);
  pcsim_build_output(p, "r", rows == 1 ? values[0] : pcsim_build_concat(p, values, rows));
  PCSIM_GOTO(pcsim_program_status(p), status, done);
  PCSIM_GOTO(pcsim_program_simplify(p), status, done);
  *stacked = p;
  p = NULL;
done:
  pcsim_program_destroy(&p);
  pcsim_free(&values), pcsim_free(&text), pcsim_free(&names);
  return status;
}

static pcsim_status name_output(const char *parameter, char **output) {
  const size_t size = strlen(parameter) + 3;
  PCSIM_TRY(pcsim_alloc(size, 1, output));
  snprintf(*output, size, "b_%s", parameter);
  return PCSIM_OK;
}

/* Which parameters the residual has, and where they lie in theta. */
static pcsim_status find_parameters(const groups *g, group *a) {
  const groups_parameters *p = g->parameters;
  PCSIM_TRY(pcsim_alloc((size_t)p->num, sizeof *a->wrt, &a->wrt));
  PCSIM_TRY(pcsim_alloc((size_t)p->num, sizeof *a->place, &a->place));
  for (int i = 0; i < p->num; i++) {
    if (!pcsim_program_parameter(a->whole, p->name[i], NULL, NULL)) continue;
    a->place[a->num_wrt] = i;
    a->wrt[a->num_wrt++] = p->name[i];
    a->numbers += p->first[i + 1] - p->first[i];
  }
  PCSIM_TRY(pcsim_alloc((size_t)a->numbers, sizeof *a->at, &a->at));
  PCSIM_TRY(pcsim_alloc((size_t)a->num_wrt, sizeof *a->output, &a->output));
  for (int64_t i = 0, k = 0; i < a->num_wrt; i++) {
    for (int64_t j = p->first[a->place[i]]; j < p->first[a->place[i] + 1]; j++) a->at[k++] = j;
    PCSIM_TRY(name_output(a->wrt[i], &a->output[i]));
  }
  PCSIM_CHECK(a->num_wrt, PCSIM_ERR_ARG, "'%s' depends on nothing that training changes", a->name);
  return PCSIM_OK;
}

/* The inputs of the parted residual: given values, coordinates, normals. */
static pcsim_status find_inputs(group *a) {
  int n = 0;
  while (pcsim_program_input(a->residual, n, NULL, NULL)) n++;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *a->input, &a->input));
  for (int i = 0; i < n; i++)
    a->input[i].name = pcsim_program_input(a->residual, i, &a->input[i].rows, &a->input[i].used);
  a->num_inputs = n;
  return PCSIM_OK;
}

pcsim_status groups_add(groups *g, const char *name, const pcsim_program *residual, int rows, bool measured,
                        const char *factor) {
  PCSIM_CHECK(rows > 0 && rows <= GROUPS_ROWS_MAX, PCSIM_ERR_ARG, "'%s' has %d rows; expected 1 to %d", name,
              rows, GROUPS_ROWS_MAX);
  PCSIM_TRY(pcsim_realloc((size_t)g->num + 1, sizeof *g->group, &g->group));
  group *a = &g->group[g->num];
  *a = (group){.rows = rows};
  pcsim_status status;
  PCSIM_GOTO(pcsim_strdup(name, &a->name), status, done);
  PCSIM_GOTO(stack(residual, rows, measured, factor, &a->whole), status, done);
  PCSIM_GOTO(find_parameters(g, a), status, done);
  PCSIM_GOTO(pcsim_program_copy(a->whole, &a->residual), status, done);
  PCSIM_GOTO(pcsim_program_part(a->residual, a->wrt, a->num_wrt, &a->given), status, done);
  PCSIM_GOTO(find_inputs(a), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)rows, sizeof *a->weight, &a->weight), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)rows, sizeof *a->scaled, &a->scaled), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)rows, sizeof *a->squares, &a->squares), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)a->numbers, sizeof *a->part, &a->part), status, done);
  for (int k = 0; k < rows; k++) a->weight[k] = 1;
  g->num++;
done:
  if (status != PCSIM_OK) clear_group(a);
  return status;
}

/* ------------------------------------------------------------------------ points */

static int column_of(const char *input, const groups_columns *columns) {
  for (int i = 0; i < columns->num; i++)
    if (!strcmp(input, columns->name[i])) return i;
  return -1;
}

static void copy_column(const groups_columns *columns, int column, int64_t n, double *to) {
  for (int64_t i = 0; i < n; i++) to[i] = columns->values[i * columns->num + column];
}

static int count_inputs(const pcsim_program *p) {
  int n = 0;
  while (pcsim_program_input(p, n, NULL, NULL)) n++;
  return n;
}

/* Bind all inputs of a program by their names; `*room` holds columns until the run. */
static pcsim_status bind_points(const pcsim_program *p, pcsim_executor *x, int64_t n, const double *points,
                                const groups_columns *columns, double **room) {
  const int inputs = count_inputs(p);
  PCSIM_TRY(pcsim_executor_points(x, "points", n));
  PCSIM_TRY(pcsim_alloc((size_t)n * (size_t)inputs, sizeof **room, room));
  for (int i = 0; i < inputs; i++) {
    bool used;
    const char *name = pcsim_program_input(p, i, NULL, &used);
    const int column = column_of(name, columns);
    if (!strcmp(name, "coordinates")) {
      PCSIM_TRY(pcsim_executor_bind(x, name, points));
    } else if (used) {
      PCSIM_CHECK(column >= 0, PCSIM_ERR_ARG, "the residual asks for '%s', which is not given", name);
      copy_column(columns, column, n, *room + (int64_t)i * n);
      PCSIM_TRY(pcsim_executor_bind(x, name, *room + (int64_t)i * n));
    }
  }
  return PCSIM_OK;
}

/* Run what is computed once, into the data of the inputs that it gives. */
static pcsim_status prepare(groups *g, group *a, int64_t n, const double *points,
                            const groups_columns *columns) {
  double *room = NULL;
  pcsim_status status = PCSIM_OK;
  if (!a->given) return PCSIM_OK;
  if (!a->prepare)
    PCSIM_TRY(pcsim_executor_create(a->given, &(pcsim_executor_options){.threads = g->threads}, &a->prepare));
  PCSIM_GOTO(bind_points(a->given, a->prepare, n, points, columns, &room), status, done);
  for (int i = 0; i < a->num_inputs; i++)
    if (!strncmp(a->input[i].name, "given_", 6))
      PCSIM_GOTO(pcsim_executor_bind_output(a->prepare, a->input[i].name, a->input[i].data), status, done);
  status = pcsim_executor_run(a->prepare, false);
done:
  pcsim_free(&room);
  return status;
}

pcsim_status groups_points(groups *g, int which, int64_t n, int width, const double *points,
                           const groups_columns *columns) {
  group *a = &g->group[which];
  for (int i = 0; i < a->num_inputs; i++) {
    group_input *in = &a->input[i];
    const int column = column_of(in->name, columns);
    pcsim_free(&in->data);
    PCSIM_TRY(pcsim_alloc((size_t)n * (size_t)in->rows, sizeof *in->data, &in->data));
    if (!strcmp(in->name, "coordinates"))
      memcpy(in->data, points, (size_t)n * (size_t)width * sizeof *in->data);
    if (column >= 0) copy_column(columns, column, n, in->data);
  }
  pcsim_free(&a->points);
  PCSIM_TRY(pcsim_alloc((size_t)n * (size_t)width, sizeof *a->points, &a->points));
  memcpy(a->points, points, (size_t)n * (size_t)width * sizeof *a->points);
  a->n = n;
  pcsim_free(&a->seeds);
  pcsim_free(&a->rows_out);
  PCSIM_TRY(pcsim_alloc((size_t)n * (size_t)a->rows, sizeof *a->seeds, &a->seeds));
  PCSIM_TRY(pcsim_alloc((size_t)n * (size_t)a->rows, sizeof *a->rows_out, &a->rows_out));
  groups_objective_count(g);
  return prepare(g, a, n, points, columns);
}

void groups_mean(groups *g, int which) { g->group[which].mean = true; }

void groups_weight(groups *g, int which, const double *weights) {
  memcpy(g->group[which].weight, weights, (size_t)g->group[which].rows * sizeof *weights);
}

int groups_num(const groups *g) { return g->num; }
const char *groups_name(const groups *g, int which) { return g->group[which].name; }
int groups_rows(const groups *g, int which) { return g->group[which].rows; }
const double *groups_weights(const groups *g, int which) { return g->group[which].weight; }
int64_t groups_get_points(const groups *g, int which, const double **points) {
  if (points) *points = g->group[which].points;
  return g->group[which].n;
}

pcsim_status groups_residuals(groups *g, int which, const double *theta, int64_t n, const double *points,
                              const groups_columns *columns, double *residuals) {
  group *a = &g->group[which];
  double *room = NULL;
  pcsim_status status = PCSIM_OK;
  groups_theta(g, theta);
  if (!a->elsewhere) {
    PCSIM_TRY(
        pcsim_executor_create(a->whole, &(pcsim_executor_options){.threads = g->threads}, &a->elsewhere));
    PCSIM_TRY(groups_bind_theta(g, a, a->elsewhere));
  }
  PCSIM_GOTO(bind_points(a->whole, a->elsewhere, n, points, columns, &room), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(a->elsewhere, "r", residuals), status, done);
  status = pcsim_executor_run(a->elsewhere, false);
done:
  pcsim_free(&room);
  return status;
}
