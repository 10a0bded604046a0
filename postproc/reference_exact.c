/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact fields: expressions and named solutions. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

struct exact_solution {
  pcsim_exact_solution about;
  double (*value)(int component, const double x[3], const double *parameter);
};

/* Kovasznay (1948): flow behind a grid; density 1, viscosity 1/re, pressure up to a constant. */
static double kovasznay(int component, const double x[3], const double *parameter) {
  const double pi = 3.14159265358979323846, re = parameter[0];
  double lambda = 0.5 * re - sqrt(0.25 * re * re + 4.0 * pi * pi), grow = exp(lambda * x[0]);
  switch (component) {
  case SAMPLE_U:
    return 1.0 - grow * cos(2.0 * pi * x[1]);
  case SAMPLE_V:
    return lambda / (2.0 * pi) * grow * sin(2.0 * pi * x[1]);
  case SAMPLE_P:
    return 0.5 * (1.0 - grow * grow);
  default:
    return 0.0;
  }
}

/* Between plates at y = 0 and y = height; pressure zero at x = length. */
static double poiseuille(int component, const double x[3], const double *parameter) {
  double height = parameter[0], mean = parameter[1], viscosity = parameter[2], length = parameter[3];
  if (component == SAMPLE_U) return 6.0 * mean * x[1] / height * (1.0 - x[1] / height);
  if (component == SAMPLE_P) return 12.0 * viscosity * mean / (height * height) * (length - x[0]);
  return 0.0;
}

/* Between a plate at rest at y = 0 and one that moves at y = height. */
static double couette(int component, const double x[3], const double *parameter) {
  return component == SAMPLE_U ? parameter[1] * x[1] / parameter[0] : 0.0;
}

static const exact_solution solutions[] = {
    {{"kovasznay", "flow behind a grid; density 1, viscosity 1/re", {"re"}}, kovasznay},
    {{"poiseuille",
      "channel flow along x, walls y = 0 and y = height, p = 0 at x = length",
      {"height", "mean", "viscosity", "length"}},
     poiseuille},
    {{"couette", "shear flow along x, wall y = height moves with `velocity`", {"height", "velocity"}},
     couette},
};

const pcsim_exact_solution *pcsim_exact_solution_get(size_t i) {
  return i < NUM(solutions) ? &solutions[i].about : NULL;
}

bool exact_given(const exact_field *field) { return field->expr || field->solution; }

double exact_at(const exact_field *field, const double point[3]) {
  if (!field->expr) return field->solution->value(field->component, point, field->parameter);
  double argument[4] = {point[0], point[1], point[2], 0};
  argument[field->dim] = field->time;
  return pcsim_expr_eval(field->expr, argument);
}

void exact_clear(exact_field *field) {
  pcsim_expr_destroy(&field->expr);
  field->solution = NULL;
}

int exact_component(const pcsim_monitors *monitors, const char *name) {
  if (!monitors->typed && strcmp(name, "velocity") == 0) return EXACT_VELOCITY;
  const int field = monitors_find_field(monitors, name);
  return field >= 0 ? field : EXACT_NONE;
}

static const exact_solution *find_solution(const char *name) {
  for (size_t i = 0; i < NUM(solutions); ++i)
    if (strcmp(solutions[i].about.name, name) == 0) return &solutions[i];
  return NULL;
}

/* A word that is nearly a solution's name, and neither a coordinate nor a parameter of the case. */
static const char *misspelt_solution(const pcsim_tree *tree, const char *text) {
  const char *names[NUM(solutions)];
  const char *const *parameters = NULL;
  const double *values = NULL;
  if (strspn(text, "abcdefghijklmnopqrstuvwxyz-") != strlen(text) || strlen(text) < 4) return NULL;
  int n = pcsim_tree_parameters(tree, &parameters, &values);
  for (int i = 0; i < n; ++i)
    if (strcmp(parameters[i], text) == 0) return NULL;
  for (size_t i = 0; i < NUM(solutions); ++i) names[i] = solutions[i].about.name;
  return pcsim_nearest(text, names, NUM(solutions));
}

static void read_expression(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *node,
                            exact_field *field) {
  const char *names[4] = {"x", "y", "z"};
  field->dim = pcsim_mesh_get(monitors->mesh)->dim;
  names[field->dim] = "t";
  const char *near = misspelt_solution(tree, pcsim_node_text(node));
  if (near)
    pcsim_tree_problem(tree, node, "no exact solution `%.64s`; did you mean `%s`?", pcsim_node_text(node),
                       near);
  else (void)pcsim_node_as_expr(tree, node, names, field->dim + monitors->through_time, &field->expr);
}

static void set_solution(const exact_solution *solution, int component, const double *parameter,
                         exact_field *field) {
  field->solution = solution;
  field->component = component;
  memcpy(field->parameter, parameter, sizeof field->parameter);
}

static void read_named(pcsim_tree *tree, const exact_solution *solution, int component, int dim,
                       const pcsim_node *node, exact_field *fields) {
  double parameter[EXACT_PARAMETERS] = {0};
  for (int i = 0; i < EXACT_PARAMETERS && solution->about.parameters[i]; ++i)
    (void)pcsim_node_number(tree, node, solution->about.parameters[i], &parameter[i]);
  if (component >= 0) set_solution(solution, component, parameter, &fields[component]);
  for (int i = 0; component < 0 && i < dim; ++i) set_solution(solution, i, parameter, &fields[i]);
}

/* The keys of a field's entry, with the parameters of its named solution. */
static bool check_keys(pcsim_tree *tree, pcsim_node *node, const char *name, const exact_solution *solution) {
  pcsim_key keys[4 + EXACT_PARAMETERS] = {
      {"exact", PCSIM_KEY_ANY, NULL, "", "",
       "expression in x, y, z, t (velocity: a sequence), or a named solution", 0, 0},
      {"tolerance", PCSIM_KEY_NUMBER, "", "", "1", "largest relative L2 error; none: reported only", 0, 0},
      {"absolute", PCSIM_KEY_NUMBER, "", "", "1", "as tolerance, for a field that is zero", 0, 0},
      {"source", PCSIM_KEY_TEXT, "", "", "", "where the solution comes from", 0, 0},
  };
  size_t n = 4, before = pcsim_tree_num_problems(tree);
  for (int i = 0; solution && i < EXACT_PARAMETERS && solution->about.parameters[i]; ++i)
    keys[n++] =
        (pcsim_key){solution->about.parameters[i], PCSIM_KEY_NUMBER, NULL, "", "", "of the solution", 0, 0};
  char where[96];
  snprintf(where, sizeof where, "reference.%.64s", name);
  pcsim_node_check(tree, node, keys, n, where);
  return pcsim_tree_num_problems(tree) == before;
}

/* What `exact` can be given for. */
static void report_no_field(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *exact,
                            const char *name) {
  char known[256];
  const bool plane = pcsim_mesh_get(monitors->mesh)->dim == 2;
  if (monitors->typed) monitors_field_names(monitors, known, sizeof known);
  else snprintf(known, sizeof known, "velocity, u, v%s, pressure or p", plane ? "" : ", w");
  pcsim_tree_problem(tree, exact, "`exact` is for a field; `%s` is none; expected %s", name, known);
}

void exact_read(pcsim_tree *tree, const pcsim_monitors *monitors, const char *name, pcsim_node *node,
                exact_field *fields) {
  int dim = pcsim_mesh_get(monitors->mesh)->dim, component = exact_component(monitors, name);
  const pcsim_node *exact = pcsim_node_get(node, "exact");
  bool scalar = pcsim_node_get_kind(exact) == PCSIM_NODE_SCALAR;
  const exact_solution *solution = scalar && !monitors->typed ? find_solution(pcsim_node_text(exact)) : NULL;
  if (!check_keys(tree, node, name, solution)) return;
  if (component == EXACT_NONE) {
    report_no_field(tree, monitors, exact, name);
    return;
  }
  for (int i = component < 0 ? 0 : component; i <= (component < 0 ? dim - 1 : component); ++i)
    if (exact_given(&fields[i])) {
      pcsim_tree_problem(tree, exact, "the exact field of `%s` is given twice", name);
      return;
    }
  if (solution) read_named(tree, solution, component, dim, node, fields);
  else if (component >= 0 && scalar) read_expression(tree, monitors, exact, &fields[component]);
  else if (component < 0 && !scalar && pcsim_node_size(exact) == dim)
    for (int i = 0; i < dim; ++i) read_expression(tree, monitors, pcsim_node_child(exact, i), &fields[i]);
  else if (component < 0 && scalar && misspelt_solution(tree, pcsim_node_text(exact)))
    read_expression(tree, monitors, exact, &fields[0]);
  else
    pcsim_tree_problem(tree, exact, "expected %s%s",
                       component >= 0 ? "one expression"
                       : dim == 2     ? "two expressions, [u, v],"
                                      : "three expressions, [u, v, w],",
                       monitors->typed ? "" : " or the name of a solution");
}
