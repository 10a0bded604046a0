/* SPDX-License-Identifier: BSD-2-Clause */
/* `physics:` of a network's case: unknowns, coefficients, equations typed or of a built-in model. */
#include "problem.h"

#include <stdio.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

static const pcsim_key typed_keys[] = {
    {"unknowns", PCSIM_KEY_NAMES, NULL, "", "", "names of the unknowns", 0, 0},
    {"equations", PCSIM_KEY_SEQUENCE, NULL, "", "",
     "one for each unknown, set to zero: strong form or sums of dt, div and sources", 0, 0},
    {"coefficients", PCSIM_KEY_MAPPING, "", "", "",
     "names with an expression, or one for each region: {k: {core: 1000, rest: 1}}", 0, 0},
    {"tables", PCSIM_KEY_MAPPING, "", "", "", "names with files that table(name, x) looks up", 0, 0},
};
static const pcsim_key flow_keys[] = {
    {"model", PCSIM_KEY_CHOICE, NULL, "navier-stokes", "", "incompressible flow", 0, 0},
    {"density", PCSIM_KEY_EXPRESSION, "1", "", "kg/m^3", "", 0, 0},
    {"viscosity", PCSIM_KEY_EXPRESSION, NULL, "", "Pa s", "dynamic", 0, 0},
    {"force", PCSIM_KEY_SEQUENCE, "", "", "N/m^3", "force on the fluid, expressions of place and time", 0, 0},
    {"coefficients", PCSIM_KEY_MAPPING, "", "", "", "names with an expression, or one for each region", 0, 0},
    {"tables", PCSIM_KEY_MAPPING, "", "", "", "names with files that table(name, x) looks up", 0, 0},
};

void problem_names_clear(problem_names *names) {
  for (int i = 0; i < names->num; i++) pcsim_free(&names->owned[i]);
  names->num = 0;
}

/* `text` is handed over. */
static bool add_name(problem_names *names, const char *name, char *text) {
  if (names->num == (int)NUM(names->name)) {
    pcsim_free(&text);
    return false;
  }
  names->owned[names->num] = text;
  names->name[names->num++] = (text_name){name, text};
  return true;
}

/* ---------------------------------------------------------------- coefficients */

static bool is_taken(const problem *p, const char *name) {
  for (int i = 0; i < p->names.num_coordinates; i++)
    if (!strcmp(p->names.coordinates[i], name)) return true;
  for (int i = 0; i < p->names.num_parameters; i++)
    if (!strcmp(p->names.parameters[i], name)) return true;
  return problem_unknown(p, name) >= 0;
}

static bool check_name(const problem *p, const pcsim_node *at, const char *name) {
  if (pcsim_expr_check_name(name) != PCSIM_OK) {
    pcsim_tree_problem(p->tree, at, "%s", pcsim_error_message());
    pcsim_error_clear();
    return false;
  }
  if (!is_taken(p, name)) return true;
  pcsim_tree_problem(p->tree, at, "`%s` is the name of a coordinate, a parameter or an unknown already",
                     name);
  return false;
}

/* Value of a coefficient in a region; NULL: none is given. */
static const pcsim_node *value_in(const problem *p, const pcsim_node *node, int region) {
  return pcsim_node_get(node, regions_get(p->regions)->name[region]);
}

static void check_regions(const problem *p, const pcsim_node *node) {
  const regions_view *r = regions_get(p->regions);
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const char *name = pcsim_node_key(node, i);
    bool known = false;
    for (int k = 0; k < r->num; k++) known = known || !strcmp(r->name[k], name);
    if (known || !strcmp(name, "rest")) continue;
    const char *near = pcsim_nearest(name, r->name, (size_t)r->num);
    pcsim_tree_problem(p->tree, pcsim_node_key_node(node, i), "no region `%.64s`%s%s%s", name,
                       near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  }
  for (int k = 0; k < r->num; k++)
    if (!value_in(p, node, k))
      pcsim_tree_problem(p->tree, node, "a coefficient by region needs a value for `%s`", r->name[k]);
}

/* In one region its value; else where(region a, value, where(region b, value, the last)). */
static pcsim_status region_text(problem *p, const pcsim_node *node, const problem_names *names, char **text) {
  const size_t before = pcsim_tree_num_problems(p->tree);
  problem_text part;
  *text = NULL;
  if (!p->regions) {
    pcsim_tree_problem(p->tree, node,
                       "a coefficient by region needs regions: `domain: {regions: {%s: \"x < 0.5\"}}`",
                       pcsim_node_size(node) ? pcsim_node_key(node, 0) : "core");
    return PCSIM_OK;
  }
  check_regions(p, node);
  if (pcsim_tree_num_problems(p->tree) != before) return PCSIM_OK;
  const regions_view *r = regions_get(p->regions);
  const int first = p->region < 0 ? r->num - 1 : p->region;
  PCSIM_TRY(text_expand(value_in(p, node, first), NULL, names->name, names->num, "", "", &part));
  char *whole = part.text;
  pcsim_free(&part.place);
  for (int i = first - 1; i >= 0 && p->region < 0; i--) {
    char *next = NULL;
    pcsim_status status = text_expand(value_in(p, node, i), NULL, names->name, names->num, "", "", &part);
    if (status == PCSIM_OK)
      status = text_format(&next, "where(%s, %s, %s)", r->condition[i], part.text, whole);
    text_clear(&part);
    pcsim_free(&whole);
    PCSIM_TRY(status);
    whole = next;
  }
  *text = whole;
  return PCSIM_OK;
}

/* Each may use the ones before it. */
static pcsim_status read_coefficients(problem *p, problem_names *names) {
  const pcsim_node *node =
      pcsim_node_get(pcsim_node_get(pcsim_tree_root(p->tree), "physics"), "coefficients");
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const char *name = pcsim_node_key(node, i);
    const pcsim_node *value = pcsim_node_get(node, name);
    problem_text text = {0};
    if (!check_name(p, pcsim_node_key_node(node, i), name)) continue;
    if (pcsim_node_get_kind(value) == PCSIM_NODE_MAPPING) PCSIM_TRY(region_text(p, value, names, &text.text));
    if (pcsim_node_get_kind(value) == PCSIM_NODE_MAPPING && !text.text) /* a fault; the name is known */
      PCSIM_TRY(pcsim_strdup("1", &text.text));
    if (pcsim_node_get_kind(value) != PCSIM_NODE_MAPPING)
      PCSIM_TRY(text_expand(value, NULL, names->name, names->num, "", "", &text));
    pcsim_free(&text.place);
    if (text.text && !add_name(names, name, text.text))
      pcsim_tree_problem(p->tree, value, "too many coefficients");
  }
  return PCSIM_OK;
}

/* nx, ny, nz are what the normal's components are called in texts. */
static pcsim_status add_normals(problem *p, problem_names *names) {
  static const char *const normal[] = {"nx", "ny", "nz"};
  for (int i = 0; i < p->domain->num_space && i < 3; i++) {
    char *text = NULL;
    PCSIM_TRY(text_format(&text, "dn(%s)", p->domain->coordinate[i]));
    (void)add_name(names, normal[i], text);
  }
  return PCSIM_OK;
}

static pcsim_status read_tables(problem *p) {
  const pcsim_node *node = pcsim_node_get(pcsim_node_get(pcsim_tree_root(p->tree), "physics"), "tables");
  const int n = (int)pcsim_node_size(node);
  pcsim_lowering_table *tables = NULL;
  if (!n) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *tables, &tables));
  p->names.tables = tables;
  for (int i = 0; i < n; i++) {
    char *path = NULL;
    tables[i].name = pcsim_node_key(node, i);
    PCSIM_TRY(pcsim_node_path(pcsim_node_child(node, i), &path));
    tables[i].path = path;
    p->names.num_tables = i + 1;
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- equations */

static pcsim_status add_unknown(problem *p, const pcsim_node *node, const char *name) {
  if (p->num_unknowns == PROBLEM_MAX) {
    pcsim_tree_problem(p->tree, node, "more than %d unknowns", PROBLEM_MAX);
    return PCSIM_OK;
  }
  if (!check_name(p, node, name)) return PCSIM_OK;
  p->unknown_node[p->num_unknowns] = node;
  return pcsim_strdup(name, &p->unknown[p->num_unknowns++]);
}

/* ------------------------------------------------------- coefficients to be found */

static const pcsim_key unknown_keys[] = {
    {"of", PCSIM_KEY_NAMES, "", "", "", "coordinates that it depends on; none: a number", 0, 0},
    {"start", PCSIM_KEY_NUMBER, "1", "", "", "value to begin with", 0, 0},
    {"range", PCSIM_KEY_NUMBERS, "", "", "", "[low, high] that it stays in", 0, 0},
    {"positive", PCSIM_KEY_BOOL, "false", "", "", "it stays above zero", 0, 0},
};

static void read_of(const problem *p, const pcsim_node *at, problem_coefficient *c) {
  const domain_view *d = p->domain;
  int i = 0;
  while (i < d->num_coordinates && strcmp(d->coordinate[i], pcsim_node_text(at)) != 0) i++;
  if (i == d->num_coordinates)
    pcsim_tree_problem(p->tree, at, "`%.64s` is no coordinate of the domain", pcsim_node_text(at));
  else if (!c->of[i]) c->of[i] = true, c->num_of++;
}

static void read_coefficient(const problem *p, pcsim_node *node, problem_coefficient *c) {
  const pcsim_node *of = pcsim_node_get(node, "of");
  int n = 0;
  *c = (problem_coefficient){.start = 1};
  pcsim_node_check(p->tree, node, unknown_keys, NUM(unknown_keys), "unknown");
  if (of && pcsim_node_get_kind(of) == PCSIM_NODE_SCALAR && *pcsim_node_text(of)) read_of(p, of, c);
  for (int64_t i = 0; i < pcsim_node_size(of); i++) read_of(p, pcsim_node_child(of, i), c);
  pcsim_node_number(p->tree, node, "start", &c->start);
  pcsim_node_bool(p->tree, node, "positive", &c->positive);
  if (pcsim_node_numbers(p->tree, node, "range", c->range, 2, &n) && n > 0 &&
      !(n == 2 && c->range[0] < c->start && c->start < c->range[1]))
    pcsim_tree_problem(p->tree, pcsim_node_get(node, "range"),
                       "expected [low, high] with the start, %g, between them", c->start);
  if (c->positive && !(c->start > 0))
    pcsim_tree_problem(p->tree, pcsim_node_get(node, "start"), "what is positive starts above zero");
}

/* `unknown:` behind the unknowns with equations. */
static pcsim_status read_unknown(problem *p) {
  const pcsim_node *node = pcsim_node_get(pcsim_tree_root(p->tree), "unknown");
  p->num_solved = p->num_unknowns;
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const int before = p->num_unknowns;
    PCSIM_TRY(add_unknown(p, pcsim_node_key_node(node, i), pcsim_node_key(node, i)));
    if (p->num_unknowns > before)
      read_coefficient(p, pcsim_node_child(node, i), &p->coefficient[before - p->num_solved]);
  }
  return PCSIM_OK;
}

static pcsim_status read_typed(problem *p, pcsim_node *physics, problem_names *names) {
  pcsim_node_check(p->tree, physics, typed_keys, NUM(typed_keys), "physics");
  const pcsim_node *unknowns = pcsim_node_get(physics, "unknowns"),
                   *equations = pcsim_node_get(physics, "equations");
  if (!unknowns || !equations || pcsim_node_get_kind(equations) != PCSIM_NODE_SEQUENCE) return PCSIM_OK;
  if (pcsim_node_get_kind(unknowns) == PCSIM_NODE_SCALAR)
    PCSIM_TRY(add_unknown(p, unknowns, pcsim_node_text(unknowns)));
  for (int64_t i = 0; i < pcsim_node_size(unknowns); i++)
    PCSIM_TRY(add_unknown(p, pcsim_node_child(unknowns, i), pcsim_node_text(pcsim_node_child(unknowns, i))));
  PCSIM_TRY(read_unknown(p));
  PCSIM_TRY(read_coefficients(p, names));
  for (int64_t i = 0; i < pcsim_node_size(equations) && p->num_equations < PROBLEM_MAX; i++) {
    const pcsim_node *node = pcsim_node_child(equations, i);
    if (pcsim_node_get_kind(node) == PCSIM_NODE_SCALAR)
      PCSIM_TRY(text_expand(node, NULL, names->name, names->num, "", "", &p->equation[p->num_equations++]));
    else pcsim_tree_problem(p->tree, node, "an equation is one expression, set to zero");
  }
  return PCSIM_OK;
}

/* Text of a key that is a number or an expression. */
static pcsim_status expanded(const pcsim_node *node, const problem_names *names, char **text) {
  problem_text t;
  PCSIM_TRY(text_expand(node, NULL, names->name, names->num, "(", ")", &t));
  pcsim_free(&t.place);
  *text = t.text;
  return PCSIM_OK;
}

/* Momentum and continuity in d coordinates of space: density (u_t + u . grad u) + grad p - div(viscosity
 * (grad u + its transpose)) - force, which is viscosity lap u for a constant viscosity and velocities without
 * divergence. */
static pcsim_status read_flow(problem *p, pcsim_node *physics, problem_names *names) {
  static const char *const velocity[] = {"u", "v", "w"};
  const domain_view *d = p->domain;
  pcsim_node_check(p->tree, physics, flow_keys, NUM(flow_keys), "physics");
  const pcsim_node *density = pcsim_node_get(physics, "density"),
                   *viscosity = pcsim_node_get(physics, "viscosity"),
                   *force = pcsim_node_get(physics, "force");
  const int dim = d->num_space;
  if (dim < 2 || dim > 3) {
    pcsim_tree_problem(p->tree, physics,
                       "navier-stokes needs two or three coordinates of space; there are %d", dim);
    return PCSIM_OK;
  }
  if (!density || !viscosity) return PCSIM_OK;
  for (int i = 0; i < dim; i++) PCSIM_TRY(add_unknown(p, physics, velocity[i]));
  PCSIM_TRY(add_unknown(p, physics, "p"));
  PCSIM_TRY(read_unknown(p));
  PCSIM_TRY(read_coefficients(p, names));
  char *rho = NULL, *mu = NULL, *divergence = NULL;
  pcsim_status status = expanded(density, names, &rho);
  if (status == PCSIM_OK) status = expanded(viscosity, names, &mu);
  for (int i = 0; i < dim && status == PCSIM_OK; i++) {
    char *text = NULL, *carried = NULL, *f = NULL, *sum = NULL;
    const char *u = velocity[i];
    const bool forced = force && pcsim_node_size(force) == dim;
    if (forced) status = expanded(pcsim_node_child(force, i), names, &f);
    if (status == PCSIM_OK && dim == 2)
      status = text_format(&carried, "u*%s_%s + v*%s_%s", u, d->coordinate[0], u, d->coordinate[1]);
    else if (status == PCSIM_OK)
      status = text_format(&carried, "u*%s_%s + v*%s_%s + w*%s_%s", u, d->coordinate[0], u, d->coordinate[1],
                           u, d->coordinate[2]);
    if (status == PCSIM_OK)
      status = text_format(&text, "%s*(%s%s%s%s) + p_%s - %s*lap(%s)%s%s", rho, d->time >= 0 ? "dt(" : "",
                           d->time >= 0 ? u : "", d->time >= 0 ? ") + " : "", carried, d->coordinate[i], mu,
                           u, f ? " - " : "", f ? f : "");
    p->equation[p->num_equations++] = (problem_text){.text = text, .node = physics};
    if (status == PCSIM_OK)
      status = text_format(&sum, "%s%s%s_%s", divergence ? divergence : "", divergence ? " + " : "", u,
                           d->coordinate[i]);
    pcsim_free(&divergence), pcsim_free(&carried), pcsim_free(&f);
    divergence = sum;
  }
  p->equation[p->num_equations++] = (problem_text){.text = divergence, .node = physics};
  pcsim_free(&rho), pcsim_free(&mu);
  return status;
}

pcsim_status problem_physics(problem *p, problem_names *names) {
  pcsim_node *physics = pcsim_node_get(pcsim_tree_root(p->tree), "physics");
  if (!physics || pcsim_node_get_kind(physics) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(p->tree, physics, "`physics` is missing: unknowns and equations, or a model");
    return PCSIM_OK;
  }
  PCSIM_TRY(add_normals(p, names));
  PCSIM_TRY(read_tables(p));
  return pcsim_node_get(physics, "model") ? read_flow(p, physics, names) : read_typed(p, physics, names);
}
