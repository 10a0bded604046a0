/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions of place and parameters at many points, with their derivatives by a parameter or along
 * displacements of the points (forward mode of the same expressions). */
#include "flow.h"

#include <stdio.h>
#include <string.h>

enum { TEXTS_MAX = 3, NAME_SIZE = 300 };
static const char *const coordinates[NUM_NAMES] = {"x", "y", "z", "t"};
static const char *const plain[TEXTS_MAX] = {"0", "1", "2"};
static const char *const along[TEXTS_MAX] = {"d_0", "d_1", "d_2"};

/* Name of what the derivative is by; NULL: the texts do not depend on it. */
static const char *direction_of(pcsim_program *values, const point_expressions *e) {
  const char *name;
  bool used;
  if (e->parameter) return pcsim_program_parameter(values, e->parameter, NULL, NULL) ? e->parameter : NULL;
  for (int i = 0; (name = pcsim_program_input(values, i, NULL, &used)); ++i)
    if (!strcmp(name, "coordinates")) return used ? "coordinates" : NULL;
  return NULL;
}

/* The texts or, with a `direction`, their derivatives as outputs "0", "1", .. on "points" of a program whose
 * inputs are "coordinates" and "displacement". */
static pcsim_status write_texts(const pcsim_program *values, const point_expressions *e,
                                const char *direction, pcsim_program **program) {
  pcsim_program *tangent = NULL;
  pcsim_value value[TEXTS_MAX];
  char name[NAME_SIZE];
  pcsim_status status;
  *program = NULL;
  if (direction) PCSIM_TRY(pcsim_transform_jvp(values, &direction, 1, &tangent));
  PCSIM_GOTO(pcsim_program_create(program), status, done);
  const pcsim_space points = pcsim_build_space(*program, "points");
  pcsim_argument argument[2] = {
      {"coordinates", pcsim_build_input(*program, "coordinates", points, e->num_coordinates)}};
  if (direction) {
    snprintf(name, sizeof name, "d_%s", direction);
    argument[1] = (pcsim_argument){
        name, e->parameter ? pcsim_build_constant(*program, 1)
                           : pcsim_build_input(*program, "displacement", points, e->num_coordinates)};
  }
  pcsim_build_part(*program, direction ? tangent : values, points, argument, direction ? 2 : 1,
                   direction ? along : plain, e->num, value);
  for (int k = 0; k < e->num; ++k) pcsim_build_output(*program, plain[k], value[k]);
  status = pcsim_program_simplify(*program);
done:
  if (status != PCSIM_OK) pcsim_program_destroy(program);
  pcsim_program_destroy(&tangent);
  return status;
}

static pcsim_status run_texts(const pcsim_program *values, const point_expressions *e, const char *direction,
                              double *const *out) {
  pcsim_program *program = NULL;
  pcsim_executor *executor = NULL;
  pcsim_status status;
  PCSIM_TRY(write_texts(values, e, direction, &program));
  PCSIM_GOTO(pcsim_executor_create(program, NULL, &executor), status, done);
  PCSIM_GOTO(pcsim_executor_points(executor, "points", e->num_points), status, done);
  PCSIM_GOTO(pcsim_executor_bind(executor, "coordinates", e->x), status, done);
  if (direction && !e->parameter)
    PCSIM_GOTO(pcsim_executor_bind(executor, "displacement", e->displacement), status, done);
  for (int k = 0; k < e->num; ++k)
    PCSIM_GOTO(pcsim_executor_bind_output(executor, plain[k], out[k]), status, done);
  status = pcsim_executor_run(executor, false);
done:
  pcsim_executor_destroy(&executor);
  pcsim_program_destroy(&program);
  return status;
}

pcsim_status point_expressions_evaluate(const pcsim_tree *tree, const point_expressions *e,
                                        double *const *value, double *const *derivative) {
  pcsim_lowering names = {.num_coordinates = e->num_coordinates, .coordinates = coordinates};
  const double *parameter;
  pcsim_program *values = NULL;
  pcsim_status status = PCSIM_OK;
  for (int k = 0; derivative && k < e->num; ++k)
    memset(derivative[k], 0, (size_t)e->num_points * sizeof(double));
  if (e->num_points == 0) return PCSIM_OK;
  names.num_parameters = pcsim_tree_parameters(tree, &names.parameters, &parameter);
  PCSIM_TRY(pcsim_lower(e->texts, e->num, &names, &values, NULL, NULL));
  for (int i = 0; i < names.num_parameters; ++i) {
    double *at = pcsim_program_parameter(values, names.parameters[i], NULL, NULL);
    if (at) *at = parameter[i];
  }
  const char *direction = derivative ? direction_of(values, e) : NULL;
  if (value) status = run_texts(values, e, NULL, value);
  if (status == PCSIM_OK && direction) status = run_texts(values, e, direction, derivative);
  pcsim_program_destroy(&values);
  return status;
}
