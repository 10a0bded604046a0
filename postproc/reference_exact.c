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
  return field->expr ? pcsim_expr_eval(field->expr, point)
                     : field->solution->value(field->component, point, field->parameter);
}

void exact_clear(exact_field *field) {
  pcsim_expr_destroy(&field->expr);
  field->solution = NULL;
}

int exact_component(const char *name) {
  static const char *const names[NUM_SAMPLES] = {"u", "v", "w", "p"};
  if (strcmp(name, "velocity") == 0) return -1;
  if (strcmp(name, "pressure") == 0) return SAMPLE_P;
  for (int i = 0; i < NUM_SAMPLES; ++i)
    if (strcmp(name, names[i]) == 0) return i;
  return -2;
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

static void read_expression(pcsim_tree *tree, const pcsim_node *node, int dim, exact_field *field) {
  static const char *const names[3] = {"x", "y", "z"};
  const char *near = misspelt_solution(tree, pcsim_node_text(node));
  if (near)
    pcsim_tree_problem(tree, node, "no exact solution `%.64s`; did you mean `%s`?", pcsim_node_text(node),
                       near);
  else (void)pcsim_node_as_expr(tree, node, names, dim, &field->expr);
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
       "expression in x, y, z (velocity: a sequence), or a named solution", 0, 0},
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

void exact_read(pcsim_tree *tree, const pcsim_mesh *mesh, const char *name, pcsim_node *node,
                exact_field *fields) {
  int dim = pcsim_mesh_get(mesh)->dim, component = exact_component(name);
  const pcsim_node *exact = pcsim_node_get(node, "exact");
  bool scalar = pcsim_node_get_kind(exact) == PCSIM_NODE_SCALAR;
  const exact_solution *solution = scalar ? find_solution(pcsim_node_text(exact)) : NULL;
  if (!check_keys(tree, node, name, solution)) return;
  if (component == -2 || (dim == 2 && component == SAMPLE_W)) {
    pcsim_tree_problem(tree, exact,
                       "`exact` is for a field; `%s` is none; expected velocity, u, v%s, pressure or p", name,
                       dim == 3 ? ", w" : "");
    return;
  }
  for (int i = component < 0 ? 0 : component; i <= (component < 0 ? dim - 1 : component); ++i)
    if (exact_given(&fields[i])) {
      pcsim_tree_problem(tree, exact, "the exact field of `%s` is given twice", name);
      return;
    }
  if (solution) read_named(tree, solution, component, dim, node, fields);
  else if (component >= 0 && scalar) read_expression(tree, exact, dim, &fields[component]);
  else if (component < 0 && !scalar && pcsim_node_size(exact) == dim)
    for (int i = 0; i < dim; ++i) read_expression(tree, pcsim_node_child(exact, i), dim, &fields[i]);
  else if (component < 0 && scalar && misspelt_solution(tree, pcsim_node_text(exact)))
    read_expression(tree, exact, dim, &fields[0]);
  else
    pcsim_tree_problem(tree, exact, "expected %s or the name of a solution",
                       component >= 0 ? "one expression"
                       : dim == 2     ? "two expressions, [u, v],"
                                      : "three expressions, [u, v, w],");
}
