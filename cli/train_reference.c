/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train_reference.c  `reference:` of a training: errors of unknowns against expressions, named
 * solutions, tables and runs of the solver, quantities of monitors against values. */
#include "train_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Components of the velocity, as a training calls them. */
static const char *const velocity[TRAIN_PARTS] = {"u", "v", "w"};

/* Burgers' equation u_t + u u_x = nu u_xx with u(x, 0) = -sin(pi x), period 2: the transform of Cole and
 * Hopf,
 *
 *      u = -integral sin(pi (x - e)) w(e) de / integral w(e) de,
 *      w = exp(-cos(pi (x - e))/(2 pi nu) - e^2/(4 nu t)),
 *
 *  by the trapezoidal rule, which converges exponentially here (Trefethen and Weideman 2014). */
static double cole_hopf(const double *x, double nu) {
  enum { N = 2000 };
  const double pi = 3.14159265358979323846, t = x[1];
  if (t <= 0) return -sin(pi * x[0]);
  const double reach = sqrt(4 * nu * t * (1 / (pi * nu) + 40)), h = 2 * reach / N;
  double most = -INFINITY, above = 0, below = 0;
  for (int i = 0; i <= N; i++) {
    const double e = -reach + h * i;
    most = fmax(most, -cos(pi * (x[0] - e)) / (2 * pi * nu) - e * e / (4 * nu * t));
  }
  for (int i = 0; i <= N; i++) {
    const double e = -reach + h * i;
    const double w = exp(-cos(pi * (x[0] - e)) / (2 * pi * nu) - e * e / (4 * nu * t) - most);
    above -= sin(pi * (x[0] - e)) * w, below += w;
  }
  return above / below;
}

static const train_solution solutions[] = {
    {"burgers-cole-hopf", "u_t + u u_x = nu u_xx in x and t, period 2, u = -sin(pi x) at the start; `nu`", 2,
     cole_hopf}};

const char *cli_train_solution(size_t i, const char **help) {
  if (i >= sizeof solutions / sizeof *solutions) return NULL;
  *help = solutions[i].help;
  return solutions[i].name;
}

void cli_train_references_destroy(cli_train_references **references) {
  cli_train_references *r = *references;
  if (!r) return;
  for (int i = 0; i < r->num; i++) {
    pcsim_expr_destroy(&r->field[i].expr);
    train_table_free(&r->field[i].table);
  }
  pcsim_free(&r->points), pcsim_free(&r->values), pcsim_free(&r->exact), pcsim_free(&r->room);
  pcsim_free(references);
}

int cli_train_references_quantities(const cli_train_references *r, const pcsim_quantity **quantities) {
  *quantities = r ? r->quantity : NULL;
  return r ? r->num_quantities : 0;
}
int cli_train_references_comparisons(const cli_train_references *r, const pcsim_comparison **comparisons) {
  *comparisons = r ? r->comparison : NULL;
  return r ? r->num_comparisons : 0;
}

/* ---------------------------------------------------------------------------- reading */

static const pcsim_key field_keys[] = {
    {"exact", PCSIM_KEY_EXPRESSION, "", "", "", "expression of the coordinates, or a named solution", 0, 0},
    {"table", PCSIM_KEY_MAPPING, "", "", "",
     "values at points: {file: f.csv, columns: [x, t, u]}, the coordinates and then the unknown", 0, 0},
    {"run", PCSIM_KEY_TEXT, "", "", "",
     "case of the same equations for the solver, which is run if it has not been, or the folder of its run",
     0, 0},
    {"at", PCSIM_KEY_MAPPING, "", "", "",
     "coordinates that a run has not: {nu: 0.01}; time is that of its end without it", 0, 0},
    {"nu", PCSIM_KEY_NUMBER, "", "", "", "parameter of the named solution; of the case where it has one", 0,
     0},
    {"tolerance", PCSIM_KEY_NUMBER, "", "", "1", "largest relative L2 error; none: reported only", 0, 0},
    {"absolute", PCSIM_KEY_NUMBER, "", "", "", "largest root mean square of the difference", 0, 0},
    {"source", PCSIM_KEY_TEXT, "", "", "", "where the reference comes from", 0, 0},
};
enum { NUM_FIELD_KEYS = sizeof field_keys / sizeof *field_keys };

const pcsim_key *cli_train_reference_keys(size_t *n) {
  *n = NUM_FIELD_KEYS;
  return field_keys;
}

static const pcsim_key value_keys[] = {
    {"value", PCSIM_KEY_NUMBER, NULL, "", "", "known value", 0, 0},
    {"tolerance", PCSIM_KEY_NUMBER, "", "", "1", "largest deviation relative to the value", 0, 0},
    {"absolute", PCSIM_KEY_NUMBER, "", "", "", "largest deviation", 0, 0},
    {"source", PCSIM_KEY_TEXT, NULL, "", "", "where the value comes from", 0, 0},
};
enum { NUM_VALUE_KEYS = sizeof value_keys / sizeof *value_keys };

static double parameter_nu(pcsim_tree *tree, const pcsim_node *node) {
  const char *const *names;
  const double *values;
  double nu = NAN;
  const int n = pcsim_tree_parameters(tree, &names, &values);
  for (int i = 0; i < n; i++)
    if (!strcmp(names[i], "nu")) nu = values[i];
  pcsim_node_number(tree, node, "nu", &nu);
  return nu;
}

/* An expression of the coordinates, inputs of the network among them, and of the other parameters. */
static void read_expression(pcsim_tree *tree, const pcsim_training_view *v, const pcsim_node *node,
                            train_field *f) {
  const char *const *names, *other[256];
  const double *values;
  double number[256];
  size_t offset = 0;
  const int n = pcsim_tree_parameters(tree, &names, &values);
  int m = 0;
  for (int i = 0; i < n && m < 256; i++) {
    bool input = false;
    for (int k = 0; k < v->num_coordinates; k++) input = input || !strcmp(names[i], v->coordinate[k]);
    if (!input) other[m] = names[i], number[m++] = values[i];
  }
  if (pcsim_expr_parse(pcsim_node_text(node), &f->expr, &offset) == PCSIM_OK &&
      pcsim_expr_bind(f->expr, v->coordinate, v->num_coordinates, other, number, m, &offset) == PCSIM_OK)
    return;
  pcsim_tree_problem_inside(tree, node, offset, "%s", pcsim_error_message());
  pcsim_error_clear();
}

static void read_exact(pcsim_tree *tree, const pcsim_training_view *v, const pcsim_node *node,
                       train_field *f) {
  const pcsim_node *exact = pcsim_node_get(node, "exact");
  for (size_t i = 0; i < sizeof solutions / sizeof *solutions; i++)
    if (!strcmp(pcsim_node_text(exact), solutions[i].name)) f->solution = &solutions[i];
  if (!f->solution) {
    read_expression(tree, v, exact, f);
    return;
  }
  f->nu = parameter_nu(tree, node);
  if (!(f->nu > 0))
    pcsim_tree_problem(tree, exact, "`%s` needs a positive `nu`, here or among the parameters",
                       f->solution->name);
  if (f->solution->num_coordinates != v->num_coordinates)
    pcsim_tree_problem(tree, exact, "`%s` has %d coordinates, the case %d", f->solution->name,
                       f->solution->num_coordinates, v->num_coordinates);
}

/* The run is looked for here and opened later: reading a case solves nothing. */
static pcsim_status read_run(pcsim_tree *tree, const pcsim_training_view *v, const pcsim_node *node,
                             train_field *f) {
  const pcsim_node *at = pcsim_node_get(node, "at");
  char *path = NULL;
  f->run = pcsim_node_get(node, "run");
  for (int k = 0; k < v->num_coordinates; k++) f->held[k] = NAN;
  for (int64_t i = 0; i < pcsim_node_size(at); i++) {
    int k = v->num_space;
    while (k < v->num_coordinates && strcmp(v->coordinate[k], pcsim_node_key(at, i)) != 0) k++;
    if (k == v->num_coordinates)
      pcsim_tree_problem(tree, pcsim_node_key_node(at, i), "`%.64s` is neither the time nor an input",
                         pcsim_node_key(at, i));
    else (void)pcsim_node_number(tree, (pcsim_node *)at, v->coordinate[k], &f->held[k]);
  }
  for (int k = v->num_space; k < v->num_coordinates; k++)
    if (k != v->time && isnan(f->held[k]))
      pcsim_tree_problem(tree, node, "a run has one value of `%s`: give it by `at: {%s: ..}`",
                         v->coordinate[k], v->coordinate[k]);
  PCSIM_TRY(pcsim_node_path(f->run, &path));
  if (!cli_run_there(path)) pcsim_tree_problem(tree, f->run, "%s: no case file and no folder of a run", path);
  pcsim_free(&path);
  return PCSIM_OK;
}

static void add_comparison(pcsim_tree *tree, cli_train_references *r, const pcsim_node *node,
                           train_field *f) {
  double relative = NAN, absolute = NAN;
  const pcsim_node *source = pcsim_node_get(node, "source");
  pcsim_node_number(tree, node, "tolerance", &relative);
  pcsim_node_number(tree, node, "absolute", &absolute);
  f->comparison = -1;
  if (isnan(relative) && isnan(absolute)) return;
  if (!isnan(relative) && !isnan(absolute))
    pcsim_tree_problem(tree, node, "both `tolerance` and `absolute`; keep one");
  f->absolute = isnan(relative);
  f->comparison = r->num_comparisons++;
  pcsim_comparison *c = &r->comparison[f->comparison];
  *c = (pcsim_comparison){.value = NAN,
                          .error = NAN,
                          .low = NAN,
                          .high = NAN,
                          .absolute = true, /* the quantity is an error already */
                          .tolerance = isnan(relative) ? absolute : relative};
  memcpy(c->quantity, r->quantity[f->quantity].name, sizeof c->quantity);
  snprintf(c->source, sizeof c->source, "%s", source ? pcsim_node_text(source) : "");
}

/* Unknowns that a name stands for; none: `num_parts` 0. */
static void find_parts(const pcsim_training_view *v, const char *name, train_field *f) {
  const int most = !strcmp(name, "velocity") && v->flow ? v->num_space : 1;
  f->num_parts = 0;
  for (int i = 0; i < most; i++)
    for (int u = 0; u < v->num_unknowns; u++)
      if (!strcmp(v->unknown[u], most > 1 ? velocity[i] : name)) f->part[f->num_parts++] = u;
}

static pcsim_status read_field(pcsim_tree *tree, const pcsim_training_view *v, cli_train_references *r,
                               const char *name, pcsim_node *node) {
  char where[120];
  snprintf(where, sizeof where, "reference.%.64s", name);
  const size_t before = pcsim_tree_num_problems(tree);
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node,
                       "a reference is a mapping, e.g. %s: {exact: \"sin(pi*x)\", tolerance: 1e-6}", name);
    return PCSIM_OK;
  }
  pcsim_node_check(tree, node, field_keys, NUM_FIELD_KEYS, where);
  train_field *f = &r->field[r->num];
  *f = (train_field){.num_parts = 0};
  find_parts(v, name, f);
  const pcsim_node *exact = pcsim_node_get(node, "exact"), *table = pcsim_node_get(node, "table"),
                   *run = pcsim_node_get(node, "run");
  const bool has_exact = exact && *pcsim_node_text(exact), has_table = table && pcsim_node_size(table) > 0,
             has_run = run && *pcsim_node_text(run);
  if (has_exact + has_table + has_run != 1)
    pcsim_tree_problem(tree, node, "`%s` needs one of `exact`, `table` and `run`", name);
  else if (f->num_parts > 1 && !has_run)
    pcsim_tree_problem(tree, node, "`%s` as a whole is compared with a run; give its components", name);
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  r->num++;
  if (has_exact) read_exact(tree, v, node, f);
  else
    PCSIM_TRY(has_run ? read_run(tree, v, node, f)
                      : cli_train_read_table(tree, v, pcsim_node_get(node, "table"), f->part[0], &f->table));
  f->quantity = r->num_quantities++;
  pcsim_quantity *q = &r->quantity[f->quantity];
  snprintf(q->name, sizeof q->name, "error.%s", name);
  snprintf(q->unit, sizeof q->unit, "1");
  q->value = NAN;
  add_comparison(tree, r, node, f);
  return PCSIM_OK;
}

static int find_monitored(const cli_train_references *r, const char *name) {
  const pcsim_quantity *q;
  const int n = cli_train_monitors_quantities(r->monitors, &q);
  for (int i = 0; i < n; i++)
    if (!strcmp(q[i].name, name)) return i;
  return -1;
}

/* A quantity of a monitor: value, and a tolerance of one of two kinds. */
static void read_value(pcsim_tree *tree, cli_train_references *r, const char *name, int monitored,
                       pcsim_node *node) {
  char where[120];
  double value = NAN, relative = NAN, absolute = NAN;
  snprintf(where, sizeof where, "reference.%.64s", name);
  const size_t before = pcsim_tree_num_problems(tree);
  pcsim_node_check(tree, node, value_keys, NUM_VALUE_KEYS, where);
  if (pcsim_tree_num_problems(tree) != before) return;
  pcsim_node_number(tree, node, "value", &value);
  pcsim_node_number(tree, node, "tolerance", &relative);
  pcsim_node_number(tree, node, "absolute", &absolute);
  if (isnan(relative) == isnan(absolute) || !(isnan(relative) ? absolute > 0 : relative > 0 && value != 0))
    pcsim_tree_problem(tree, node,
                       "`%s` needs either a positive `tolerance`, relative to a value that is not zero, or "
                       "a positive `absolute` one",
                       name);
  r->valued[r->num_valued++] = (train_valued){monitored, r->num_comparisons};
  pcsim_comparison *c = &r->comparison[r->num_comparisons++];
  *c = (pcsim_comparison){.value = NAN,
                          .reference = value,
                          .error = NAN,
                          .low = NAN,
                          .high = NAN,
                          .absolute = isnan(relative),
                          .tolerance = isnan(relative) ? absolute : relative};
  snprintf(c->quantity, sizeof c->quantity, "%s", name);
  snprintf(c->source, sizeof c->source, "%s", pcsim_node_text(pcsim_node_get(node, "source")));
}

static void report_unknown(pcsim_tree *tree, const pcsim_training_view *v, const cli_train_references *r,
                           const pcsim_node *at, const char *name) {
  const pcsim_quantity *q;
  const int n = cli_train_monitors_quantities(r->monitors, &q);
  const char *names[4 * TRAIN_REFERENCES];
  int num = 0;
  for (int u = 0; u < v->num_unknowns && num < 4 * TRAIN_REFERENCES; u++) names[num++] = v->unknown[u];
  for (int i = 0; i < n && num < 4 * TRAIN_REFERENCES; i++) names[num++] = q[i].name;
  const char *near = pcsim_nearest(name, names, (size_t)num);
  pcsim_tree_problem(tree, at, "`%.64s` is no unknown%s%s%s%s", name,
                     n ? " and no quantity of a monitor" : "", near ? "; did you mean `" : "",
                     near ? near : "", near ? "`?" : "");
}

static pcsim_status read_all(pcsim_tree *tree, pcsim_training *t, cli_train_references *r) {
  const pcsim_training_view *v = pcsim_training_get(t);
  const pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "reference");
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const char *name = pcsim_node_key(node, i);
    train_field named;
    find_parts(v, name, &named);
    const bool known = named.num_parts > 0;
    const int monitored = known ? -1 : find_monitored(r, name);
    if (r->num + r->num_valued == TRAIN_REFERENCES)
      pcsim_tree_problem(tree, node, "more than %d references", TRAIN_REFERENCES);
    else if (monitored >= 0) read_value(tree, r, name, monitored, pcsim_node_get(node, name));
    else if (!known) report_unknown(tree, v, r, pcsim_node_key_node(node, i), name);
    else PCSIM_TRY(read_field(tree, v, r, name, pcsim_node_get(node, name)));
  }
  return PCSIM_OK;
}

pcsim_status cli_train_references_read(pcsim_tree *tree, pcsim_training *training,
                                       const cli_train_monitors *monitors,
                                       cli_train_references **references) {
  const pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "reference");
  cli_train_references *r = NULL;
  *references = NULL;
  if (!node) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(1, sizeof *r, &r));
  *references = r;
  r->monitors = monitors;
  return read_all(tree, training, r);
}

/* ------------------------------------------------------------------- runs of the solver */

pcsim_status cli_train_references_prepare(cli_train_references *r, cli *c, pcsim_training *t) {
  const pcsim_training_view *v = pcsim_training_get(t);
  for (int i = 0; r && i < r->num; i++) {
    train_field *f = &r->field[i];
    const char *names[TRAIN_PARTS];
    char *path = NULL;
    if (!f->run) continue;
    for (int k = 0; k < f->num_parts; k++) names[k] = v->unknown[f->part[k]];
    PCSIM_TRY(pcsim_node_path(f->run, &path));
    train_table_free(&f->table);
    pcsim_status status = cli_train_run_table(c, path, t, names, f->num_parts, f->held, &f->table);
    pcsim_free(&path);
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}
