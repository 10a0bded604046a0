/* SPDX-License-Identifier: BSD-2-Clause */
/* Integrals over boundaries: forces, moments, coefficients, flow rates. */
#include "monitor.h"

#include <math.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))
static const char axis_name[3] = {'x', 'y', 'z'};

/* ------------------------------------------------------------------- forces */

static const pcsim_key forces_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "forces", 0, 0},
    {"on", PCSIM_KEY_NAMES, NULL, "", "", "boundaries, names or patterns", 0, 0},
    {"density", PCSIM_KEY_NUMBER, "", "", "kg/m^3", "reference density of the coefficients", 0, 0},
    {"velocity", PCSIM_KEY_NUMBER, "", "", "m/s", "reference speed of the coefficients", 0, 0},
    {"area", PCSIM_KEY_NUMBER, "", "", "m^2", "reference area of the coefficients (in 2D a length)", 0, 0},
    {"drag", PCSIM_KEY_SEQUENCE, "", "", "", "direction of cd; along x if not given", 0, 0},
    {"lift", PCSIM_KEY_SEQUENCE, "", "", "", "direction of cl; along y if not given", 0, 0},
    {"centre", PCSIM_KEY_SEQUENCE, "", "", "m", "point that moments are taken about", 0, 0},
    {"axis", PCSIM_KEY_SEQUENCE, "", "", "", "axis of cm; along z if not given (3D only)", 0, 0},
    {"length", PCSIM_KEY_NUMBER, "", "", "m", "reference length of cm", 0, 0},
};

typedef struct {
  bool coefficients, moments, moment_coefficient;
  double pressure; /* 1/2 density velocity^2 area */
  double drag[3], lift[3], centre[3], axis[3], length;
  bool wanted[]; /* [num_patches] */
} forces;

/* All of density, velocity and area, or none: a coefficient without its reference values says nothing. */
static bool read_reference(pcsim_tree *tree, const monitor *m, forces *f) {
  static const char *const keys[3] = {"density", "velocity", "area"};
  double value[3];
  int given = 0;
  const char *missing = NULL;
  for (int i = 0; i < 3; ++i) {
    if (!pcsim_node_number(tree, m->node, keys[i], &value[i])) {
      missing = keys[i];
      continue;
    }
    ++given;
    if (value[i] > 0.0 && isfinite(value[i])) continue;
    pcsim_tree_problem(tree, pcsim_node_get(m->node, keys[i]), "`%s` is %g; expected a positive number",
                       keys[i], value[i]);
    return false;
  }
  if (given > 0 && given < 3) {
    pcsim_tree_problem(tree, m->node,
                       "the coefficients of `%s` need `density`, `velocity` and `area`; `%s` is missing",
                       m->name, missing);
    return false;
  }
  f->coefficients = given == 3;
  if (f->coefficients) f->pressure = 0.5 * value[0] * value[1] * value[1] * value[2];
  return true;
}

static void read_direction(pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m,
                           const char *key, int axis, double direction[3]) {
  if (monitor_read_vector(tree, monitors, m->node, key, direction)) {
    monitor_unit_vector(tree, m->node, key, direction);
    return;
  }
  memset(direction, 0, 3 * sizeof(double));
  direction[axis] = 1.0;
}

static void read_moments(pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m, forces *f) {
  const pcsim_node *length = pcsim_node_get(m->node, "length"), *axis = pcsim_node_get(m->node, "axis");
  f->moments = monitor_read_vector(tree, monitors, m->node, "centre", f->centre);
  if (!f->moments && (length || axis) && !pcsim_node_get(m->node, "centre"))
    pcsim_tree_problem(tree, m->node, "`%s` of `%s` is for moments, which need a `centre`",
                       length ? "length" : "axis", m->name);
  if (axis && pcsim_mesh_get(monitors->mesh)->dim == 2)
    pcsim_tree_problem(tree, axis, "in two dimensions moments are about z; expected no `axis`");
  else read_direction(tree, monitors, m, "axis", 2, f->axis);
  if (!pcsim_node_number(tree, m->node, "length", &f->length)) return;
  if (!(f->length > 0.0))
    pcsim_tree_problem(tree, length, "`length` is %g; expected a positive number", f->length);
  f->moment_coefficient = f->moments && f->coefficients;
}

static pcsim_status name_forces(pcsim_monitors *monitors, monitor *m, const forces *f) {
  int dim = pcsim_mesh_get(monitors->mesh)->dim;
  const char *unit = dim == 2 ? "N/m" : "N", *moment = dim == 2 ? "N" : "N m";
  if (f->coefficients) {
    PCSIM_TRY(monitor_add_quantity(monitors, m, "1", ".cd"));
    PCSIM_TRY(monitor_add_quantity(monitors, m, "1", ".cl"));
  }
  if (f->moment_coefficient) PCSIM_TRY(monitor_add_quantity(monitors, m, "1", ".cm"));
  for (int i = 0; i < dim; ++i) PCSIM_TRY(monitor_add_quantity(monitors, m, unit, ".force.%c", axis_name[i]));
  for (int i = 0; i < dim; ++i)
    PCSIM_TRY(monitor_add_quantity(monitors, m, unit, ".pressure.%c", axis_name[i]));
  for (int i = 0; i < dim; ++i)
    PCSIM_TRY(monitor_add_quantity(monitors, m, unit, ".friction.%c", axis_name[i]));
  if (f->moments && dim == 2) PCSIM_TRY(monitor_add_quantity(monitors, m, moment, ".moment"));
  for (int i = 0; f->moments && dim == 3 && i < 3; ++i)
    PCSIM_TRY(monitor_add_quantity(monitors, m, moment, ".moment.%c", axis_name[i]));
  return PCSIM_OK;
}

static pcsim_status read_forces(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  PCSIM_TRY(pcsim_alloc(sizeof(forces) + (size_t)mesh->num_patches * sizeof(bool), 1, &m->data));
  forces *f = m->data;
  monitor_read_on(tree, monitors, m, f->wanted);
  if (!read_reference(tree, m, f)) return PCSIM_OK;
  read_direction(tree, monitors, m, "drag", 0, f->drag);
  read_direction(tree, monitors, m, "lift", 1, f->lift);
  read_moments(tree, monitors, m, f);
  return name_forces(monitors, m, f);
}

static pcsim_status evaluate_forces(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const forces *f = m->data;
  double sum[9] = {0}; /* pressure, friction, moment */
  for (int p = 0; p < mesh->num_patches; ++p) {
    if (!f->wanted[p]) continue;
    for (int64_t face = mesh->patch_start[p]; face < mesh->patch_start[p + 1]; ++face) {
      int64_t b = face - mesh->num_interior_faces;
      double force[3], arm[3];
      for (int i = 0; i < 3; ++i) {
        double pressure = fields->flow->face_pressure[b] * mesh->face_area[3 * face + i];
        double friction = fields->flow->face_friction[3 * b + i];
        sum[i] += pressure;
        sum[3 + i] += friction;
        force[i] = pressure + friction;
        arm[i] = mesh->face_centre[3 * face + i] - f->centre[i];
      }
      for (int i = 0; i < 3; ++i)
        sum[6 + i] += arm[(i + 1) % 3] * force[(i + 2) % 3] - arm[(i + 2) % 3] * force[(i + 1) % 3];
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 9, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(monitors->mesh));
  double drag = 0.0, lift = 0.0, moment = 0.0;
  for (int i = 0; i < 3; ++i) {
    drag += f->drag[i] * (sum[i] + sum[3 + i]);
    lift += f->lift[i] * (sum[i] + sum[3 + i]);
    moment += f->axis[i] * sum[6 + i];
  }
  int q = 0;
  if (f->coefficients) {
    monitor_set(monitors, m, q++, drag / f->pressure);
    monitor_set(monitors, m, q++, lift / f->pressure);
  }
  if (f->moment_coefficient) monitor_set(monitors, m, q++, moment / (f->pressure * f->length));
  for (int i = 0; i < mesh->dim; ++i) monitor_set(monitors, m, q++, sum[i] + sum[3 + i]);
  for (int i = 0; i < mesh->dim; ++i) monitor_set(monitors, m, q++, sum[i]);
  for (int i = 0; i < mesh->dim; ++i) monitor_set(monitors, m, q++, sum[3 + i]);
  if (f->moments && mesh->dim == 2) monitor_set(monitors, m, q++, sum[8]);
  for (int i = 0; f->moments && mesh->dim == 3 && i < 3; ++i) monitor_set(monitors, m, q++, sum[6 + i]);
  return PCSIM_OK;
}

/* Drag and lift as coefficients, and the components of the force. */
static pcsim_status functional_of_forces(const pcsim_tree *tree, const pcsim_monitors *monitors,
                                         const monitor *m, int which, pcsim_monitor_functional *f) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const forces *of = m->data;
  const int first = 2 * of->coefficients + of->moment_coefficient, axis = which - first;
  (void)tree;
  f->of.kind = PCSIM_FUNCTIONAL_FORCE;
  f->of.on_boundary = true;
  if (of->coefficients && which < 2) {
    memcpy(f->of.direction, which ? of->lift : of->drag, sizeof f->of.direction);
    f->factor = 1 / of->pressure;
  } else {
    PCSIM_CHECK(axis >= 0 && axis < mesh->dim, PCSIM_ERR_ARG,
                "`%s`: only whole forces and their coefficients are functionals", m->name);
    f->of.direction[axis] = 1;
  }
  return monitor_name_places(of->wanted, mesh->num_patches, mesh->patch_name, f);
}

/* How quantity `which` counts pressure and friction: along a direction, or with arms about an axis. */
typedef struct {
  double pressure, friction, direction[3];
  bool moment; /* the direction is the axis */
} force_part;

static force_part part_of(const forces *of, int dim, int which) {
  force_part p = {.pressure = 1, .friction = 1};
  const int first = 2 * of->coefficients + of->moment_coefficient, at = which - first;
  if (at < 0 && which < 2) {
    memcpy(p.direction, which ? of->lift : of->drag, sizeof p.direction);
    p.pressure = p.friction = 1 / of->pressure;
  } else if (at < 0) {
    memcpy(p.direction, of->axis, sizeof p.direction);
    p.pressure = p.friction = 1 / (of->pressure * of->length);
    p.moment = true;
  } else if (at < 3 * dim) {
    p.direction[at % dim] = 1;
    if (at / dim == 1) p.friction = 0;
    if (at / dim == 2) p.pressure = 0;
  } else {
    p.direction[dim == 2 ? 2 : at - 3 * dim] = 1;
    p.moment = true;
  }
  return p;
}

static pcsim_status back_forces(const pcsim_tree *tree, pcsim_monitors *monitors, const monitor *m, int which,
                                const pcsim_fields *fields, pcsim_monitor_functional *f) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const forces *of = m->data;
  const force_part part = part_of(of, mesh->dim, which);
  (void)tree, (void)fields;
  for (int p = 0; p < mesh->num_patches; ++p) {
    if (!of->wanted[p]) continue;
    for (int64_t face = mesh->patch_start[p]; face < mesh->patch_start[p + 1]; ++face) {
      const int64_t b = face - mesh->num_interior_faces;
      double arm[3], along[3];
      for (int i = 0; i < 3; ++i) arm[i] = mesh->face_centre[3 * face + i] - of->centre[i];
      for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3; /* axis . (arm x F) = F . (axis x arm) */
        along[i] = part.moment ? part.direction[j] * arm[k] - part.direction[k] * arm[j] : part.direction[i];
      }
      for (int i = 0; i < 3; ++i) {
        f->face[b * monitors->num_fields + SAMPLE_P] +=
            part.pressure * along[i] * mesh->face_area[3 * face + i];
        f->friction[3 * b + i] += part.friction * along[i];
      }
    }
  }
  return PCSIM_OK;
}

const monitor_kind monitor_forces = {{"forces",
                                      "force of the fluid on boundaries, with moments and coefficients",
                                      forces_keys, NUM(forces_keys),
                                      "NAME.cd, NAME.cl (with density, velocity, area), NAME.cm (with "
                                      "centre, length), NAME.force.x, NAME.pressure.x, "
                                      "NAME.friction.x, NAME.moment"},
                                     read_forces,
                                     NULL,
                                     evaluate_forces,
                                     NULL,
                                     OF_FLOW,
                                     functional_of_forces,
                                     back_forces};

/* ---------------------------------------------------------------- flow rate */

static const pcsim_key flow_rate_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "flow-rate", 0, 0},
    {"on", PCSIM_KEY_NAMES, NULL, "", "", "boundaries, names or patterns", 0, 0},
};

static pcsim_status read_flow_rate(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  PCSIM_TRY(pcsim_alloc((size_t)mesh->num_patches + 1, sizeof(bool), &m->data));
  monitor_read_on(tree, monitors, m, m->data);
  return monitor_add_quantity(monitors, m, mesh->dim == 2 ? "m^2/s" : "m^3/s", "%s", "");
}

static pcsim_status evaluate_flow_rate(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const bool *wanted = m->data;
  double sum = 0.0;
  for (int p = 0; p < mesh->num_patches; ++p)
    for (int64_t face = mesh->patch_start[p]; wanted[p] && face < mesh->patch_start[p + 1]; ++face)
      sum += fields->flow->face_flow[face - mesh->num_interior_faces];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(monitors->mesh));
  monitor_set(monitors, m, 0, sum);
  return PCSIM_OK;
}

static pcsim_status functional_of_flow_rate(const pcsim_tree *tree, const pcsim_monitors *monitors,
                                            const monitor *m, int which, pcsim_monitor_functional *f) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  (void)tree, (void)which;
  f->of.kind = PCSIM_FUNCTIONAL_FLOW_RATE;
  f->of.on_boundary = true;
  return monitor_name_places(m->data, mesh->num_patches, mesh->patch_name, f);
}

const monitor_kind monitor_flow_rate = {{"flow-rate", "volume flow out of the domain through boundaries",
                                         flow_rate_keys, NUM(flow_rate_keys), "NAME"},
                                        read_flow_rate,
                                        NULL,
                                        evaluate_flow_rate,
                                        NULL,
                                        OF_FLOW,
                                        functional_of_flow_rate,
                                        NULL};
