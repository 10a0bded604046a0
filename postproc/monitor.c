/* SPDX-License-Identifier: BSD-2-Clause */
/* Monitors: the table of kinds, reading of `monitors:`, what kinds share. */
#include "monitor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const monitor_kind *const kinds[] = {
    &monitor_forces,     &monitor_pressure_difference,
    &monitor_probe,      &monitor_line,
    &monitor_extremum,   &monitor_flow_rate,
    &monitor_wall_shear, &monitor_reattachment,
    &monitor_integral,   &monitor_mean,
    &monitor_min,        &monitor_max,
    &monitor_norm,       &monitor_flux,
};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

const pcsim_monitor_kind *pcsim_monitor_kind_get(size_t i) { return i < NUM_KINDS ? &kinds[i]->about : NULL; }

bool monitor_is_root(const pcsim_monitors *monitors) {
  int rank = 0;
  MPI_Comm_rank(pcsim_mesh_comm(monitors->mesh), &rank);
  return rank == 0;
}

/* ------------------------------------------------------------ quantities and curves */

static pcsim_status add_quantity(pcsim_monitors *monitors, const char *name, const char *unit, double value) {
  if (monitors->num_quantities == monitors->capacity_quantities) {
    int capacity = monitors->capacity_quantities ? 2 * monitors->capacity_quantities : 16;
    PCSIM_TRY(pcsim_realloc((size_t)capacity, sizeof *monitors->quantity, &monitors->quantity));
    monitors->capacity_quantities = capacity;
  }
  pcsim_quantity *q = &monitors->quantity[monitors->num_quantities++];
  snprintf(q->name, sizeof q->name, "%s", name);
  snprintf(q->unit, sizeof q->unit, "%s", unit);
  q->value = value;
  return PCSIM_OK;
}

pcsim_status monitor_add_quantity(pcsim_monitors *monitors, monitor *m, const char *unit, const char *fmt,
                                  ...) {
  char name[96];
  int used = snprintf(name, sizeof name, "%s", m->name);
  va_list args;
  va_start(args, fmt);
  vsnprintf(name + used, sizeof name - (size_t)used, fmt, args);
  va_end(args);
  PCSIM_TRY(add_quantity(monitors, name, unit, NAN));
  ++m->num_quantities;
  return PCSIM_OK;
}

void monitor_set(pcsim_monitors *monitors, const monitor *m, int i, double value) {
  monitors->quantity[m->first_quantity + i].value = value;
}

pcsim_status pcsim_monitors_put(pcsim_monitors *monitors, const char *name, const char *unit, double value) {
  for (int i = 0; i < monitors->num_quantities; ++i)
    if (strcmp(monitors->quantity[i].name, name) == 0) {
      monitors->quantity[i].value = value;
      return PCSIM_OK;
    }
  return add_quantity(monitors, name, unit, value);
}

pcsim_status monitors_add_curve(pcsim_monitors *monitors, const char *name, const char *columns,
                                int64_t num_rows, int *index) {
  if (monitors->num_curves == monitors->capacity_curves) {
    int capacity = monitors->capacity_curves ? 2 * monitors->capacity_curves : 4;
    PCSIM_TRY(pcsim_realloc((size_t)capacity, sizeof *monitors->curve, &monitors->curve));
    monitors->capacity_curves = capacity;
  }
  pcsim_curve *curve = &monitors->curve[monitors->num_curves];
  memset(curve, 0, sizeof *curve);
  snprintf(curve->name, sizeof curve->name, "%s", name);
  int columns_max = (int)(sizeof curve->column / sizeof *curve->column);
  for (const char *c = columns; *c && curve->num_columns < columns_max;) {
    int length = (int)strcspn(c, " ");
    snprintf(curve->column[curve->num_columns++], sizeof *curve->column, "%.*s", length, c);
    c += length;
    c += strspn(c, " ");
  }
  curve->num_rows = num_rows;
  PCSIM_TRY(pcsim_alloc((size_t)num_rows * (size_t)curve->num_columns, sizeof(double), &curve->values));
  for (int64_t i = 0; i < num_rows * curve->num_columns; ++i) curve->values[i] = NAN;
  *index = monitors->num_curves++;
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- shared readers */

bool monitor_read_on(pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m, bool *wanted) {
  const pcsim_node *on = pcsim_node_get(m->node, "on");
  if (!on) return false;
  if (pcsim_node_get_kind(on) == PCSIM_NODE_SCALAR)
    return pcsim_patch_select(tree, on, monitors->mesh, pcsim_node_text(on), wanted);
  bool good = true;
  for (int64_t i = 0; i < pcsim_node_size(on); ++i) {
    const pcsim_node *name = pcsim_node_child(on, i);
    if (!pcsim_patch_select(tree, name, monitors->mesh, pcsim_node_text(name), wanted)) good = false;
  }
  if (pcsim_node_size(on) == 0) {
    pcsim_tree_problem(tree, on, "`on` of monitor `%s` names no boundary", m->name);
    good = false;
  }
  return good;
}

bool monitor_read_point(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_node *node, double point[3]) {
  int dim = pcsim_mesh_get(mesh)->dim;
  point[0] = point[1] = point[2] = 0.0;
  int64_t n = pcsim_node_get_kind(node) == PCSIM_NODE_SEQUENCE ? pcsim_node_size(node) : 0;
  if (n != dim) {
    pcsim_tree_problem(tree, node, "expected %s",
                       dim == 2 ? "two numbers, [x, y]" : "three numbers, [x, y, z]");
    return false;
  }
  bool good = true;
  for (int64_t i = 0; i < n; ++i) {
    const pcsim_node *child = pcsim_node_child(node, i);
    if (!pcsim_node_as_number(tree, child, &point[i])) good = false;
    else if (!isfinite(point[i])) {
      pcsim_tree_problem(tree, child, "`%.64s` is not a finite number", pcsim_node_text(child));
      good = false;
    }
  }
  return good;
}

bool monitor_read_vector(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *node,
                         const char *key, double vector[3]) {
  const pcsim_node *child = pcsim_node_get(node, key);
  return child && monitor_read_point(tree, monitors->mesh, child, vector);
}

bool monitor_unit_vector(pcsim_tree *tree, const pcsim_node *node, const char *key, double vector[3]) {
  double length = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
  if (!(length > 0.0)) {
    pcsim_tree_problem(tree, pcsim_node_get(node, key), "`%s` is zero; expected a direction such as [1, 0]",
                       key);
    return false;
  }
  for (int i = 0; i < 3; ++i) vector[i] /= length;
  return true;
}

/* -------------------------------------------------------------------------- reading */

static const monitor_kind *find_kind(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *at,
                                     const char *name) {
  const char *names[NUM_KINDS];
  size_t num = 0;
  bool elsewhere = false;
  for (size_t k = 0; k < NUM_KINDS; ++k) {
    const bool same = strcmp(kinds[k]->about.name, name) == 0;
    const bool offered = monitors->joined || kinds[k]->of != (monitors->typed ? OF_FLOW : OF_TYPED);
    if (same && offered) return kinds[k];
    elsewhere = elsewhere || same;
    if (offered) names[num++] = kinds[k]->about.name;
  }
  char known[256] = "";
  for (size_t k = 0; k < num; ++k) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", names[k]);
  }
  const char *near = elsewhere ? NULL : pcsim_nearest(name, names, num);
  pcsim_tree_problem(tree, at, "no kind of monitor `%.64s`%s; expected one of: %s%s%s%s", name,
                     !elsewhere        ? ""
                     : monitors->typed ? " of typed equations"
                                       : " of a flow",
                     known, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  return NULL;
}

static bool good_name(const char *name) {
  if (strlen(name) > 40 || !name[0] || strcmp(name, "error") == 0) return false;
  return name[strcspn(name, ".: \t/,\"")] == '\0';
}

static const pcsim_key after_key = {
    "after", PCSIM_KEY_NUMBER, "", "", "s", "statistics over time begin here; else at the start", 0, 0};

/* The kind's keys, and in a run through time the one of the window. */
static void check_keys(pcsim_tree *tree, monitor *m, const char *where) {
  enum { KEYS_MAX = 32 };
  pcsim_key keys[KEYS_MAX];
  size_t n = m->kind->about.num_keys;
  memcpy(keys, m->kind->about.keys, n * sizeof *keys);
  if (pcsim_time_given(tree) && n < KEYS_MAX) keys[n++] = after_key;
  pcsim_node_check(tree, m->node, keys, n, where);
  m->after = -INFINITY;
  if (pcsim_time_given(tree)) pcsim_node_number(tree, m->node, "after", &m->after);
}

static pcsim_status read_one(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m, const pcsim_node *key) {
  if (!good_name(m->name)) {
    pcsim_tree_problem(tree, key,
                       "`%.64s` cannot name a monitor; expected at most 40 characters without blanks, dots, "
                       "colons, commas and slashes, other than `error`",
                       m->name);
    return PCSIM_OK;
  }
  if (pcsim_node_get_kind(m->node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, m->node, "monitor `%s` must be a mapping, e.g. {kind: forces, on: cylinder}",
                       m->name);
    return PCSIM_OK;
  }
  const pcsim_node *kind = pcsim_node_get(m->node, "kind");
  m->kind =
      kind ? find_kind(tree, monitors, kind, pcsim_node_text(kind)) : find_kind(tree, monitors, key, m->name);
  if (!m->kind) return PCSIM_OK;
  size_t before = pcsim_tree_num_problems(tree);
  char where[64];
  snprintf(where, sizeof where, "monitors.%s", m->name);
  check_keys(tree, m, where);
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  m->first_quantity = monitors->num_quantities;
  m->first_curve = -1;
  m->first_point = sampler_num_points(monitors->samples);
  PCSIM_TRY(m->kind->read(tree, monitors, m));
  m->num_points = sampler_num_points(monitors->samples) - m->first_point;
  return PCSIM_OK;
}

static pcsim_status read_all(pcsim_tree *tree, pcsim_monitors *monitors) {
  pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "monitors");
  if (!node) return PCSIM_OK;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node, "`monitors` must be a mapping of names, e.g. {forces: {on: cylinder}}");
    return PCSIM_OK;
  }
  int64_t n = pcsim_node_size(node);
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *monitors->monitor, &monitors->monitor));
  monitors->num = (int)n;
  for (int64_t i = 0; i < n; ++i) {
    monitor *m = &monitors->monitor[i];
    m->name = pcsim_node_key(node, i);
    m->node = pcsim_node_get(node, m->name);
    PCSIM_TRY(read_one(tree, monitors, m, pcsim_node_key_node(node, i)));
  }
  return PCSIM_OK;
}

static pcsim_status make(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_transport_view *typed,
                         pcsim_monitors **made) {
  PCSIM_TRY(pcsim_alloc(1, sizeof **made, made));
  pcsim_monitors *monitors = *made;
  monitors->mesh = mesh;
  if (typed && typed->num_carriers) monitors->joined = typed;
  else monitors->typed = typed;
  monitors->through_time = pcsim_time_given(tree);
  PCSIM_TRY(monitors_read_fields(tree, monitors));
  PCSIM_TRY(sampler_create(mesh, monitors->field, monitors->num_fields, &monitors->samples));
  return read_all(tree, monitors);
}

static pcsim_status prepare(pcsim_tree *tree, pcsim_monitors *monitors, size_t before) {
  PCSIM_TRY(sampler_prepare(monitors->samples, tree));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  for (int i = 0; i < monitors->num; ++i)
    if (monitors->monitor[i].kind->prepare)
      PCSIM_TRY(monitors->monitor[i].kind->prepare(monitors, &monitors->monitor[i]));
  return PCSIM_OK;
}

pcsim_status pcsim_monitors_read(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_transport_view *typed,
                                 pcsim_monitors **result) {
  *result = NULL;
  pcsim_monitors *monitors = NULL;
  size_t before = pcsim_tree_num_problems(tree);
  pcsim_status status = pcsim_status_agree(pcsim_mesh_comm(mesh), make(tree, mesh, typed, &monitors));
  if (status == PCSIM_OK && pcsim_tree_num_problems(tree) == before) status = prepare(tree, monitors, before);
  if (monitors) monitors->num_followed = monitors->num_quantities;
  if (status != PCSIM_OK || pcsim_tree_num_problems(tree) != before) pcsim_monitors_destroy(&monitors);
  PCSIM_TRY(status);
  *result = monitors;
  return PCSIM_OK;
}

pcsim_status pcsim_monitors_evaluate(pcsim_monitors *monitors, const pcsim_fields *fields) {
  PCSIM_CHECK(fields->mesh == monitors->mesh, PCSIM_ERR_ARG,
              "the fields are of another mesh than the monitors");
  PCSIM_CHECK(fields->num == monitors->num_fields && !fields->flow == !!monitors->typed, PCSIM_ERR_ARG,
              "%d fields; the monitors were read for %d %s", fields->num, monitors->num_fields,
              monitors->typed ? "unknowns of typed laws" : "of a flow");
  PCSIM_TRY(sampler_evaluate(monitors->samples, fields));
  for (int i = 0; i < monitors->num; ++i)
    PCSIM_TRY(monitors->monitor[i].kind->evaluate(monitors, &monitors->monitor[i], fields));
  return PCSIM_OK;
}

int pcsim_monitors_quantities(const pcsim_monitors *monitors, const pcsim_quantity **quantities) {
  *quantities = monitors->quantity;
  return monitors->num_quantities;
}

int pcsim_monitors_curves(const pcsim_monitors *monitors, const pcsim_curve **curves) {
  *curves = monitors->curve;
  return monitors->num_curves;
}

void pcsim_monitors_destroy(pcsim_monitors **result) {
  if (!result || !*result) return;
  pcsim_monitors *monitors = *result;
  for (int i = 0; i < monitors->num; ++i) {
    monitor *m = &monitors->monitor[i];
    if (m->kind && m->kind->clear && m->data) m->kind->clear(m);
    pcsim_free(&m->data);
  }
  for (int i = 0; i < monitors->num_curves; ++i) pcsim_free(&monitors->curve[i].values);
  pcsim_free(&monitors->monitor);
  pcsim_free(&monitors->quantity);
  pcsim_free(&monitors->curve);
  pcsim_free(&monitors->patch_kind);
  pcsim_free(&monitors->field);
  pcsim_free(&monitors->given);
  sampler_destroy(&monitors->samples);
  pcsim_free(result);
}
