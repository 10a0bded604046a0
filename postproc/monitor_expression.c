/* SPDX-License-Identifier: BSD-2-Clause */
/* The expression of a monitor at many points, backwards: what comes to its arguments and to parameters. */
#include "monitor.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 80 };

/* One input of the expression's program: where its numbers stand among the arguments. */
typedef struct {
  const char *name;
  int rows;
  int argument;        /* place of the first among the arguments; -1: the place in space */
  double *data, *back; /* [num][rows] */
} input;

typedef struct {
  int num, num_parameters;
  input *input;           /* [num] those that are used */
  const char **wrt;       /* of these all but the place, then parameters */
  int *parameter;         /* [num_parameters] place among those of the case */
  double *by_parameter;   /* [num_parameters] */
  double *value;          /* [points] of the expression */
  pcsim_program *program; /* of the expression, then its reverse */
  pcsim_executor *x;
} reverse;

static void release(reverse *r) {
  for (int i = 0; r->input && i < r->num; ++i) pcsim_free(&r->input[i].data), pcsim_free(&r->input[i].back);
  pcsim_executor_destroy(&r->x);
  pcsim_program_destroy(&r->program);
  pcsim_free(&r->input), pcsim_free(&r->wrt), pcsim_free(&r->parameter), pcsim_free(&r->by_parameter);
  pcsim_free(&r->value);
}

/* Of "u" and "u_x"; -1: neither. */
static int argument_of(const pcsim_monitors *monitors, int dim, const char *name) {
  for (int f = 0; f < monitors->num_fields; ++f) {
    const size_t length = strlen(monitors->field[f].name);
    if (strncmp(name, monitors->field[f].name, length) != 0) continue;
    if (!name[length]) return f;
    for (int j = 0; j < dim; ++j)
      if (name[length] == '_' && name[length + 1] == "xyz"[j] && !name[length + 2])
        return monitors->num_fields + f * dim + j;
  }
  return -1;
}

static pcsim_status find_inputs(reverse *r, const pcsim_monitors *monitors, int dim, const pcsim_program *p) {
  const char *name;
  bool used;
  int all = 0, rows;
  while (pcsim_program_input(p, all, NULL, NULL)) ++all;
  PCSIM_TRY(pcsim_alloc((size_t)all, sizeof *r->input, &r->input));
  for (int i = 0; (name = pcsim_program_input(p, i, &rows, &used)); ++i) {
    const bool place = !strcmp(name, "coordinates");
    if (!used) continue;
    r->input[r->num++] = (input){name, rows, place ? -1 : argument_of(monitors, dim, name), NULL, NULL};
    PCSIM_CHECK(place || r->input[r->num - 1].argument >= 0, PCSIM_ERR_CASE,
                "`%s` has no derivative in a monitor", name);
  }
  return PCSIM_OK;
}

static pcsim_status find_parameters(reverse *r, const pcsim_tree *tree, pcsim_program *p) {
  const char *const *names;
  const int num = pcsim_tree_parameters(tree, &names, NULL);
  int n = 0;
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *r->parameter, &r->parameter));
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *r->by_parameter, &r->by_parameter));
  PCSIM_TRY(pcsim_alloc((size_t)(r->num + num), sizeof *r->wrt, &r->wrt));
  for (int i = 0; i < r->num; ++i)
    if (r->input[i].argument >= 0) r->wrt[n++] = r->input[i].name;
  for (int i = 0; i < num; ++i) {
    if (!pcsim_program_parameter(p, names[i], NULL, NULL)) continue;
    r->parameter[r->num_parameters++] = i;
    r->wrt[n++] = names[i];
  }
  return PCSIM_OK;
}

static pcsim_status bind_input(reverse *r, input *in, const monitor_points *points, int num_arguments) {
  char name[NAME + 2];
  PCSIM_TRY(pcsim_alloc((size_t)points->num * (size_t)in->rows, sizeof(double), &in->data));
  for (int64_t k = 0; k < points->num; ++k)
    memcpy(in->data + k * in->rows,
           in->argument < 0 ? points->place + 3 * k : points->argument + k * num_arguments + in->argument,
           (size_t)in->rows * sizeof(double));
  PCSIM_TRY(pcsim_executor_bind(r->x, in->name, in->data));
  if (in->argument < 0) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)points->num, sizeof(double), &in->back));
  snprintf(name, sizeof name, "b_%s", in->name);
  return pcsim_executor_bind_output(r->x, name, in->back);
}

static pcsim_status bind(reverse *r, const monitor_points *points, int num_arguments,
                         const char *const *names) {
  char name[NAME + 2];
  PCSIM_TRY(pcsim_alloc((size_t)points->num, sizeof(double), &r->value));
  PCSIM_TRY(pcsim_executor_points(r->x, "points", points->num));
  PCSIM_TRY(pcsim_executor_bind(r->x, "b_0", points->seed));
  PCSIM_TRY(pcsim_executor_bind_output(r->x, "0", r->value));
  for (int i = 0; i < r->num; ++i) PCSIM_TRY(bind_input(r, &r->input[i], points, num_arguments));
  for (int i = 0; i < r->num_parameters; ++i) {
    snprintf(name, sizeof name, "b_%s", names[r->parameter[i]]);
    PCSIM_TRY(pcsim_executor_bind_output(r->x, name, &r->by_parameter[i]));
  }
  return PCSIM_OK;
}

/* An expression without fields and place lies on no space: every point has its value. */
static pcsim_status of_numbers(reverse *r, const char *const *names, const monitor_points *points) {
  char name[NAME + 2];
  double sum = 0, value;
  for (int64_t k = 0; k < points->num; ++k) sum += points->seed[k];
  PCSIM_TRY(pcsim_executor_bind(r->x, "b_0", &sum));
  PCSIM_TRY(pcsim_executor_bind_output(r->x, "0", &value));
  for (int i = 0; i < r->num_parameters; ++i) {
    snprintf(name, sizeof name, "b_%s", names[r->parameter[i]]);
    PCSIM_TRY(pcsim_executor_bind_output(r->x, name, &r->by_parameter[i]));
  }
  return pcsim_executor_run(r->x, false);
}

static pcsim_status run(reverse *r, const pcsim_tree *tree, const pcsim_monitors *monitors,
                        const monitor_points *points, int num_arguments, double *back, double *own) {
  const int dim = pcsim_mesh_get(monitors->mesh)->dim;
  const char *const *names;
  pcsim_program *reversed = NULL;
  int n = r->num_parameters;
  pcsim_tree_parameters(tree, &names, NULL);
  PCSIM_TRY(find_inputs(r, monitors, dim, r->program));
  PCSIM_TRY(find_parameters(r, tree, r->program));
  n = r->num_parameters;
  for (int i = 0; i < r->num; ++i) n += r->input[i].argument >= 0;
  if (n == 0) return PCSIM_OK;
  PCSIM_TRY(pcsim_transform_vjp(r->program, r->wrt, n, &reversed));
  const pcsim_status status = pcsim_executor_create(reversed, NULL, &r->x);
  pcsim_program_destroy(&reversed);
  PCSIM_TRY(status);
  if (r->num == 0) PCSIM_TRY(of_numbers(r, names, points));
  else PCSIM_TRY(bind(r, points, num_arguments, names));
  if (r->num) PCSIM_TRY(pcsim_executor_run(r->x, false));
  for (int i = 0; i < r->num; ++i)
    for (int64_t k = 0; r->input[i].back && k < points->num; ++k)
      back[k * num_arguments + r->input[i].argument] = r->input[i].back[k];
  for (int i = 0; i < r->num_parameters; ++i) own[r->parameter[i]] += r->by_parameter[i];
  return PCSIM_OK;
}

pcsim_status monitor_expression_back(const pcsim_tree *tree, const pcsim_monitors *monitors, const char *text,
                                     const monitor_points *points, double *back, double *own) {
  const int num = monitor_num_arguments(monitors, pcsim_mesh_get(monitors->mesh)->dim);
  reverse r = {0};
  memset(back, 0, (size_t)(points->num * num) * sizeof *back);
  if (points->num == 0) return PCSIM_OK;
  PCSIM_TRY(monitor_lower(tree, monitors, text, &r.program));
  const pcsim_status status = run(&r, tree, monitors, points, num, back, own);
  release(&r);
  return status;
}
