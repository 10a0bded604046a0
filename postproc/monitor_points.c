/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields at points: pressure difference, probes, lines. */
#include "monitor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))
enum { CURVE_COLUMNS = sizeof((pcsim_curve *)0)->column / sizeof *((pcsim_curve *)0)->column };

/* ---------------------------------------------------------------- fields by name */

typedef struct {
  int num, *field; /* [num] places among the fields of the monitors; behind the list itself */
} field_list;

static void add_field(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *node,
                      field_list *list) {
  const int field = monitors_find_field(monitors, pcsim_node_text(node));
  bool twice = false;
  for (int k = 0; k < list->num; ++k) twice = twice || list->field[k] == field;
  if (field < 0) {
    char known[256];
    monitors_field_names(monitors, known, sizeof known);
    pcsim_tree_problem(tree, node, "no field `%.64s`; expected %s", pcsim_node_text(node), known);
  } else if (twice) pcsim_tree_problem(tree, node, "field `%s` is named twice", monitors->field[field].name);
  else list->field[list->num++] = field;
}

/* `fields:` one name or several; all if not given. */
static pcsim_status read_fields(pcsim_tree *tree, const pcsim_monitors *monitors, monitor *m,
                                field_list **made) {
  const size_t size = sizeof(field_list) + (size_t)monitors->num_fields * sizeof(int);
  PCSIM_TRY(pcsim_alloc(1, size, &m->data));
  field_list *list = *made = m->data;
  list->field = (int *)(list + 1);
  const pcsim_node *node = pcsim_node_get(m->node, "fields");
  bool given = node && (pcsim_node_size(node) > 0 || pcsim_node_text(node)[0]);
  if (given && pcsim_node_get_kind(node) == PCSIM_NODE_SCALAR) add_field(tree, monitors, node, list);
  for (int64_t i = 0; given && i < pcsim_node_size(node); ++i)
    add_field(tree, monitors, pcsim_node_child(node, i), list);
  for (int f = 0; !given && f < monitors->num_fields; ++f)
    if (monitors->field[f].offered) list->field[list->num++] = f;
  return PCSIM_OK;
}

/* ---------------------------------------------------------- pressure difference */

static const pcsim_key difference_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "pressure-difference", 0, 0},
    {"points", PCSIM_KEY_SEQUENCE, NULL, "", "m",
     "two points; the second's pressure is taken from the first's", 0, 0},
};

static pcsim_status read_difference(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  const pcsim_node *points = pcsim_node_get(m->node, "points");
  if (pcsim_node_size(points) != 2) {
    pcsim_tree_problem(tree, points, "`points` of `%s` are %lld; expected two, [[x, y], [x, y]]", m->name,
                       (long long)pcsim_node_size(points));
    return PCSIM_OK;
  }
  for (int i = 0; i < 2; ++i) {
    double point[3];
    const pcsim_node *node = pcsim_node_child(points, i);
    if (monitor_read_point(tree, monitors->mesh, node, point))
      PCSIM_TRY(sampler_add(monitors->samples, point, NULL, node));
  }
  return monitor_add_quantity(monitors, m, "Pa", "%s", "");
}

static pcsim_status evaluate_difference(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  (void)fields;
  const sampler *s = monitors->samples;
  monitor_set(monitors, m, 0,
              sampler_values(s, m->first_point)[SAMPLE_P] - sampler_values(s, m->first_point + 1)[SAMPLE_P]);
  return PCSIM_OK;
}

static pcsim_status back_difference(const pcsim_tree *tree, pcsim_monitors *monitors, const monitor *m,
                                    int which, const pcsim_fields *fields, pcsim_monitor_functional *f) {
  const size_t num = (size_t)monitors->num_fields;
  double *seed = NULL;
  (void)tree, (void)which, (void)fields;
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(monitors->mesh), pcsim_alloc(2 * num, sizeof *seed, &seed)));
  seed[SAMPLE_P] = 1;
  seed[num + SAMPLE_P] = -1;
  const pcsim_status status = monitor_points_back(monitors, m, seed, f);
  pcsim_free(&seed);
  return status;
}

const monitor_kind monitor_pressure_difference = {{"pressure-difference",
                                                   "pressure at one point less that at another",
                                                   difference_keys, NUM(difference_keys), "NAME"},
                                                  read_difference,
                                                  NULL,
                                                  evaluate_difference,
                                                  NULL,
                                                  OF_FLOW,
                                                  NULL,
                                                  back_difference};

/* ------------------------------------------------------------------------ probe */

static const pcsim_key probe_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "probe", 0, 0},
    {"points", PCSIM_KEY_SEQUENCE, NULL, "", "m", "one point or a sequence of points", 0, 0},
    {"fields", PCSIM_KEY_NAMES, "", "", "",
     "unknowns; of a flow u, v, w, p (velocity.x, ..., pressure); all if not given", 0, 0},
};

static pcsim_status read_probe(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  const pcsim_node *points = pcsim_node_get(m->node, "points");
  field_list *list;
  PCSIM_TRY(read_fields(tree, monitors, m, &list));
  int64_t n = pcsim_node_size(points);
  bool single = n > 0 && pcsim_node_get_kind(pcsim_node_child(points, 0)) == PCSIM_NODE_SCALAR;
  if (n == 0) pcsim_tree_problem(tree, points, "`points` of `%s` is empty", m->name);
  for (int64_t i = 0; i < (single ? 1 : n); ++i) {
    double point[3];
    const pcsim_node *node = single ? points : pcsim_node_child(points, i);
    if (monitor_read_point(tree, monitors->mesh, node, point))
      PCSIM_TRY(sampler_add(monitors->samples, point, NULL, node));
    for (int k = 0; k < list->num; ++k) {
      const char *name = monitors->field[list->field[k]].name, *unit = monitors->field[list->field[k]].unit;
      if (single || n == 1) PCSIM_TRY(monitor_add_quantity(monitors, m, unit, ".%s", name));
      else PCSIM_TRY(monitor_add_quantity(monitors, m, unit, ".%lld.%s", (long long)i + 1, name));
    }
  }
  return PCSIM_OK;
}

static pcsim_status evaluate_probe(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  (void)fields;
  const field_list *list = m->data;
  for (int64_t i = 0; i < m->num_points; ++i)
    for (int k = 0; k < list->num; ++k)
      monitor_set(monitors, m, (int)(i * list->num + k),
                  sampler_values(monitors->samples, m->first_point + i)[list->field[k]]);
  return PCSIM_OK;
}

static pcsim_status back_probe(const pcsim_tree *tree, pcsim_monitors *monitors, const monitor *m, int which,
                               const pcsim_fields *fields, pcsim_monitor_functional *f) {
  const field_list *list = m->data;
  const size_t size = (size_t)m->num_points * (size_t)monitors->num_fields;
  double *seed = NULL;
  (void)tree, (void)fields;
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(monitors->mesh), pcsim_alloc(size, sizeof *seed, &seed)));
  seed[which / list->num * monitors->num_fields + list->field[which % list->num]] = 1;
  const pcsim_status status = monitor_points_back(monitors, m, seed, f);
  pcsim_free(&seed);
  return status;
}

const monitor_kind monitor_probe = {{"probe", "fields at points", probe_keys, NUM(probe_keys),
                                     "NAME.u, NAME.p, ... (several points: NAME.1.u, NAME.2.u, ...)"},
                                    read_probe,
                                    NULL,
                                    evaluate_probe,
                                    NULL,
                                    OF_ANY,
                                    NULL,
                                    back_probe};

/* ------------------------------------------------------------------------- line */

static const pcsim_key line_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "line", 0, 0},
    {"from", PCSIM_KEY_SEQUENCE, NULL, "", "m", "first point", 0, 0},
    {"to", PCSIM_KEY_SEQUENCE, NULL, "", "m", "last point", 0, 0},
    {"count", PCSIM_KEY_INTEGER, "401", "", "", "number of points, equally spaced", 2, 100000},
    {"fields", PCSIM_KEY_NAMES, "", "", "",
     "unknowns; of a flow u, v, w, p (velocity.x, ..., pressure); all if not given", 0, 0},
};

/* Places stand in the curve from the start: references are checked against them before the run. */
static void fill_places(const pcsim_monitors *monitors, const monitor *m, int64_t count, int dim) {
  const pcsim_curve *curve = &monitors->curve[m->first_curve];
  const double *first = sampler_point(monitors->samples, m->first_point);
  for (int64_t i = 0; i < count; ++i) {
    const double *x = sampler_point(monitors->samples, m->first_point + i);
    double *row = curve->values + i * curve->num_columns, s = 0.0;
    for (int k = 0; k < 3; ++k) s += (x[k] - first[k]) * (x[k] - first[k]);
    row[0] = sqrt(s);
    for (int k = 0; k < dim; ++k) row[1 + k] = x[k];
  }
}

static pcsim_status read_line(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  double from[3], to[3], point[3];
  int64_t count = 401;
  int dim = pcsim_mesh_get(monitors->mesh)->dim;
  field_list *list;
  PCSIM_TRY(read_fields(tree, monitors, m, &list));
  pcsim_node_integer(tree, m->node, "count", &count);
  bool good = monitor_read_vector(tree, monitors, m->node, "from", from);
  if (!monitor_read_vector(tree, monitors, m->node, "to", to) || !good) return PCSIM_OK;
  for (int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) point[k] = from[k] + (to[k] - from[k]) * (double)i / (double)(count - 1);
    PCSIM_TRY(sampler_add(monitors->samples, point, NULL, pcsim_node_get(m->node, "from")));
  }
  char columns[512];
  if (1 + dim + list->num > CURVE_COLUMNS) {
    pcsim_tree_problem(tree, m->node, "line `%s` has %d fields; at most %d fit: name them with `fields`",
                       m->name, list->num, CURVE_COLUMNS - 1 - dim);
    return PCSIM_OK;
  }
  snprintf(columns, sizeof columns, "s x y%s", dim == 3 ? " z" : "");
  for (int k = 0; k < list->num; ++k) {
    size_t used = strlen(columns);
    snprintf(columns + used, sizeof columns - used, " %s", monitors->field[list->field[k]].name);
  }
  PCSIM_TRY(monitors_add_curve(monitors, m->name, columns, count, &m->first_curve));
  fill_places(monitors, m, count, dim);
  return PCSIM_OK;
}

static pcsim_status evaluate_line(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  (void)fields;
  const field_list *list = m->data;
  const pcsim_curve *curve = &monitors->curve[m->first_curve];
  int dim = pcsim_mesh_get(monitors->mesh)->dim;
  for (int64_t i = 0; i < m->num_points; ++i) {
    const double *value = sampler_values(monitors->samples, m->first_point + i);
    for (int k = 0; k < list->num; ++k)
      curve->values[i * curve->num_columns + 1 + dim + k] = value[list->field[k]];
  }
  return PCSIM_OK;
}

const monitor_kind monitor_line = {{"line", "fields along a straight line", line_keys, NUM(line_keys),
                                    "the curve NAME: s, x, y, z and the fields"},
                                   read_line,
                                   NULL,
                                   evaluate_line,
                                   NULL,
                                   OF_ANY,
                                   NULL,
                                   NULL};
