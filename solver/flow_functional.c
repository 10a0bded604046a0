/* SPDX-License-Identifier: BSD-2-Clause */
/* Quantities of a flow as programs of the whole mesh: sums over cells or boundary faces. */
#include "flow_adjoint.h"
#include "flow_viscosity.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ programs */

static void write_unknowns(writer *w) {
  w->q = write_input(w, "cells", "q", w->cells, w->m);
  w->grad = write_input(w, "cells", "grad", w->cells, w->m * w->d);
}

/* density U^2: pressures, and forces on an area */
static pcsim_value write_pressure_scale(const writer *w, const flow *f, pcsim_value density) {
  if (density < 0) density = pcsim_build_input(w->p, "flow.density", PCSIM_NO_SPACE, 1);
  return write_mul(w, density, write_number(w, f->scale_velocity * f->scale_velocity));
}

/* What passes and acts on the faces of one group; `b` and `law` are what it is made of. */
static law_boundary_flux write_group(const writer *w, const flow *f, int group, pcsim_value tau,
                                     const law_numbers *shared, law_boundary *b, law_viscosity *law) {
  pcsim_program *p = w->p;
  const char *name = flow_group_name(group);
  const pcsim_space space = pcsim_build_space(p, name);
  const pcsim_map owner = write_map(w, name, "owner", space);
  *b = law_boundary_of(w, group, space, shared->nu);
  b->x = pcsim_build_gather(p, owner, w->q);
  b->g = pcsim_build_gather(p, owner, w->grad);
  b->tau = pcsim_build_gather(p, owner, tau);
  *law = law_viscosity_of(w, f, name, space, shared);
  b->law = f->viscous.varies ? law : NULL;
  return law_write_boundary(w, (flow_group_kind)group, b);
}

/* Force or flow of the faces of one group; PCSIM_NO_VALUE: nothing flows there. */
static pcsim_value write_of_group(const writer *w, const flow *f, int group, const double *direction,
                                  pcsim_value tau, const law_numbers *shared) {
  pcsim_program *p = w->p;
  const char *name = flow_group_name(group);
  law_boundary b;
  law_viscosity law;
  const law_boundary_flux out = write_group(w, f, group, tau, shared, &b, &law);
  const pcsim_value weight = write_input(w, name, "weight", law.space, 1);
  pcsim_value value = out.mass;
  if (direction) {
    const pcsim_value area = pcsim_build_slice(p, b.geometry, 0, w->d);
    const pcsim_value along = pcsim_build_constants(p, w->d, direction);
    value = write_mul(w, write_row(w, out.state, w->d), write_dot(w, along, area));
    if (out.viscous >= 0) value = write_sub(w, value, write_dot(w, along, out.viscous));
  }
  return value < 0 ? value : pcsim_build_sum(p, write_mul(w, weight, value));
}

pcsim_status flow_write_surface_sum(const flow *f, const double *direction, pcsim_program **program) {
  writer w;
  *program = NULL;
  PCSIM_TRY(law_begin(f, &w));
  write_unknowns(&w);
  const pcsim_value tau = write_input(&w, "cells", "tau", w.cells, 1);
  const law_numbers shared = law_numbers_of(&w, f);
  pcsim_value sum = write_number(&w, 0);
  for (int group = 0; group < FLOW_NUM_GROUPS; group++) {
    const pcsim_value part = write_of_group(&w, f, group, direction, tau, &shared);
    if (part >= 0) sum = write_add(&w, sum, part);
  }
  const pcsim_value scale =
      direction ? write_pressure_scale(&w, f, shared.density) : write_number(&w, f->scale_velocity);
  pcsim_build_output(w.p, "value", write_mul(&w, scale, sum));
  return write_end(&w, program);
}

/* Everything that a quantity may ask for at the places that are looked at, in the units of the case. */
enum { ARGUMENTS_MAX = 1 + 4 + 4 * 3 };
typedef struct {
  int num;
  char name[ARGUMENTS_MAX][16];
  pcsim_argument argument[ARGUMENTS_MAX];
} argument_list;

static void give(argument_list *list, const char *unknown, char axis, pcsim_value value) {
  const int k = list->num++;
  if (axis) snprintf(list->name[k], sizeof list->name[k], "%s_%c", unknown, axis);
  else snprintf(list->name[k], sizeof list->name[k], "%s", unknown);
  list->argument[k] = (pcsim_argument){list->name[k], value};
}

static void give_unknowns(const writer *w, const flow *f, pcsim_map owner, pcsim_value reach,
                          argument_list *list) {
  static const char *const names[] = {"u", "v", "w"};
  pcsim_program *p = w->p;
  const pcsim_value q = pcsim_build_gather(p, owner, w->q), grad = pcsim_build_gather(p, owner, w->grad);
  const pcsim_value velocity = write_number(w, f->scale_velocity),
                    pressure = write_pressure_scale(w, f, PCSIM_NO_VALUE);
  for (int i = 0; i < w->m; i++) {
    const char *name = i == w->d ? "p" : names[i];
    const pcsim_value scale = i == w->d ? pressure : velocity;
    const pcsim_value g = write_mul(w, scale, pcsim_build_slice(p, grad, i * w->d, w->d));
    give(list, name, 0, write_add(w, write_mul(w, scale, write_row(w, q, i)), write_dot(w, g, reach)));
    for (int j = 0; j < w->d; j++) give(list, name, "xyz"[j], write_row(w, g, j));
  }
}

pcsim_status flow_write_cell_sum(const flow *f, const pcsim_program *quantity, pcsim_program **program) {
  static const char *const output = "0";
  writer w;
  argument_list list = {0};
  pcsim_value value;
  *program = NULL;
  PCSIM_TRY(law_begin(f, &w));
  write_unknowns(&w);
  const pcsim_space space = pcsim_build_space(w.p, "looks");
  const pcsim_map owner = write_map(&w, "looks", "owner", space);
  const pcsim_value reach = write_input(&w, "looks", "reach", space, w.d);
  const pcsim_value weight = write_input(&w, "looks", "weight", space, 1);
  give_unknowns(&w, f, owner, reach, &list);
  pcsim_value coordinates = write_input(&w, "looks", "coordinates", space, 4);
  const pcsim_status status = write_coordinates(&w, quantity, &coordinates);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&w.p);
    return status;
  }
  give(&list, "coordinates", 0, coordinates);
  pcsim_build_part(w.p, quantity, space, list.argument, list.num, &output, 1, &value);
  pcsim_build_output(w.p, "value", pcsim_build_sum(w.p, write_mul(&w, weight, value)));
  return write_end(&w, program);
}

/* ------------------------------------------------------------ weights of fields */

/* What unknown i is in units of the case: velocities, the pressure. */
static pcsim_value scale_of(const writer *w, int i, pcsim_value velocity, pcsim_value pressure) {
  return i == w->d ? pressure : velocity;
}

static pcsim_value write_weighted_cells(const writer *w, pcsim_value velocity, pcsim_value pressure) {
  pcsim_program *p = w->p;
  const pcsim_space space = pcsim_build_space(p, "weighted");
  const pcsim_map owner = write_map(w, "weighted", "owner", space);
  const pcsim_value weight = write_input(w, "weighted", "weight", space, w->m * (1 + w->d));
  const pcsim_value q = pcsim_build_gather(p, owner, w->q), grad = pcsim_build_gather(p, owner, w->grad);
  pcsim_value sum = write_number(w, 0);
  for (int i = 0; i < w->m; i++) {
    const pcsim_value part =
        write_weighted(w, weight, i, write_row(w, q, i), pcsim_build_slice(p, grad, i * w->d, w->d));
    sum = write_add(w, sum, write_mul(w, scale_of(w, i, velocity, pressure), part));
  }
  return pcsim_build_sum(p, sum);
}

/* Values on the faces of a group and the friction that acts on them. */
static pcsim_value write_weighted_group(const writer *w, const flow *f, int group, pcsim_value tau,
                                        const law_numbers *shared, pcsim_value velocity,
                                        pcsim_value pressure) {
  pcsim_program *p = w->p;
  const char *name = flow_group_name(group);
  law_boundary b;
  law_viscosity law;
  const law_boundary_flux out = write_group(w, f, group, tau, shared, &b, &law);
  const pcsim_value weight = write_input(w, name, "weight", law.space, w->m + w->d);
  pcsim_value sum = write_number(w, 0);
  for (int i = 0; i < w->m; i++)
    sum = write_add(w, sum,
                    write_mul(w, scale_of(w, i, velocity, pressure),
                              write_mul(w, write_row(w, weight, i), write_row(w, out.state, i))));
  if (out.viscous >= 0)
    sum = write_sub(
        w, sum, write_mul(w, pressure, write_dot(w, pcsim_build_slice(p, weight, w->m, w->d), out.viscous)));
  return pcsim_build_sum(p, sum);
}

static pcsim_status write_weighted_sum(const flow *f, pcsim_program **program) {
  writer w;
  *program = NULL;
  PCSIM_TRY(law_begin(f, &w));
  write_unknowns(&w);
  const pcsim_value tau = write_input(&w, "cells", "tau", w.cells, 1);
  const law_numbers shared = law_numbers_of(&w, f);
  const pcsim_value velocity = write_number(&w, f->scale_velocity),
                    pressure = write_pressure_scale(&w, f, shared.density);
  pcsim_value sum = write_weighted_cells(&w, velocity, pressure);
  for (int group = 0; group < FLOW_NUM_GROUPS; group++)
    sum = write_add(&w, sum, write_weighted_group(&w, f, group, tau, &shared, velocity, pressure));
  pcsim_build_output(w.p, "value", sum);
  return write_end(&w, program);
}

/* ------------------------------------------------------------- what it looks at */

static pcsim_status weigh_faces(const flow *f, const bool *wanted, flow_functional *out) {
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    const flow_group *g = &f->programs->group[i];
    PCSIM_TRY(pcsim_alloc((size_t)g->num, sizeof(double), &out->face_weight[i]));
    for (int64_t k = 0; k < g->num; k++)
      out->face_weight[i][k] = wanted[pcsim_mesh_face_patch(f->mesh, f->ni + g->face[k])];
  }
  return PCSIM_OK;
}

static pcsim_status look_at_faces(const flow *f, const pcsim_functional *of, flow_functional *out) {
  bool *wanted = NULL;
  pcsim_status status = look_for_boundaries(f->mesh, of->num_where, of->where, &wanted);
  if (status == PCSIM_OK) status = weigh_faces(f, wanted, out);
  pcsim_free(&wanted);
  return status;
}

/* Weights of the fields of cells and faces. */
static pcsim_status take_weights(const flow *f, const pcsim_field_weights *weights, flow_functional *out) {
  const int d = f->dim, m = d + 1, width = m + d;
  const int field[4] = {0, 1, d == 3 ? 2 : PCSIM_FLOW_NUM_FIELDS - 1, PCSIM_FLOW_NUM_FIELDS - 1};
  PCSIM_TRY(look_at_weights(f->mesh, weights, m, field, &out->weighted));
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    const flow_group *g = &f->programs->group[i];
    PCSIM_TRY(pcsim_alloc((size_t)(g->num * width), sizeof(double), &out->face_weight[i]));
    for (int64_t k = 0; k < g->num; k++) {
      double *to = out->face_weight[i] + k * width;
      for (int c = 0; c < m; c++) to[c] = weights->face[g->face[k] * weights->num + field[c]];
      for (int j = 0; weights->friction && j < d; j++) to[m + j] = weights->friction[3 * g->face[k] + j];
    }
  }
  return PCSIM_OK;
}

static bool on_faces(const pcsim_functional *q) {
  return q->kind == PCSIM_FUNCTIONAL_WEIGHTED || q->kind == PCSIM_FUNCTIONAL_FORCE ||
         q->kind == PCSIM_FUNCTIONAL_FLOW_RATE;
}

static pcsim_status fill(const flow *f, const pcsim_functional *q, flow_functional *out) {
  if (q->kind == PCSIM_FUNCTIONAL_WEIGHTED) {
    PCSIM_TRY(take_weights(f, q->weights, out));
    return write_weighted_sum(f, &out->program);
  }
  if (!on_faces(q)) return flow_write_cell_sum(f, q->program, &out->program);
  PCSIM_TRY(look_at_faces(f, q, out));
  return flow_write_surface_sum(f, q->kind == PCSIM_FUNCTIONAL_FORCE ? q->direction : NULL, &out->program);
}

static pcsim_status create(const flow *f, const pcsim_functional *q, flow_functional *out) {
  PCSIM_CHECK(on_faces(q) || q->program, PCSIM_ERR_ARG, "a quantity without a program");
  PCSIM_CHECK(q->kind != PCSIM_FUNCTIONAL_FLUX && q->kind != PCSIM_FUNCTIONAL_NORM &&
                  (on_faces(q) || !q->on_boundary),
              PCSIM_ERR_ARG, "a functional of typed laws asked of a flow");
  PCSIM_CHECK(q->kind != PCSIM_FUNCTIONAL_WEIGHTED ||
                  (q->weights && q->weights->num >= PCSIM_FLOW_NUM_FIELDS),
              PCSIM_ERR_ARG, "weights of fewer fields than a flow has");
  out->on_faces = on_faces(q);
  out->kind = q->kind;
  if (q->kind == PCSIM_FUNCTIONAL_POINT) PCSIM_TRY(look_at_point(f->mesh, q->point, &out->cells));
  else if (!on_faces(q))
    PCSIM_TRY(
        look_at_regions(f->mesh, q->num_where, q->where, q->kind == PCSIM_FUNCTIONAL_MEAN, &out->cells));
  for (int64_t i = 0; i < out->cells.num; i++) out->cells.coordinates[4 * i + 3] = f->time;
  return pcsim_status_agree(pcsim_mesh_comm(f->mesh), fill(f, q, out));
}

pcsim_status flow_functional_create(const flow *f, const pcsim_functional *quantity, flow_functional **out) {
  flow_functional *made = NULL;
  *out = NULL;
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(f->mesh), pcsim_alloc(1, sizeof *made, &made)));
  const pcsim_status status = create(f, quantity, made);
  if (status != PCSIM_OK) flow_functional_destroy(&made);
  *out = made;
  return status;
}

void flow_functional_destroy(flow_functional **out) {
  flow_functional *f = *out;
  if (!f) return;
  pcsim_program_destroy(&f->program);
  look_free(&f->cells);
  look_free_weighted(&f->weighted);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) pcsim_free(&f->face_weight[i]);
  pcsim_free(out);
}

pcsim_status flow_functional_bind(const flow_functional *functional, pcsim_executor *x) {
  char name[WRITE_NAME];
  for (int i = 0; functional->on_faces && i < FLOW_NUM_GROUPS; i++) {
    snprintf(name, sizeof name, "%s.weight", flow_group_name(i));
    if (transport_needs(functional->program, name))
      PCSIM_TRY(pcsim_executor_bind(x, name, functional->face_weight[i]));
  }
  if (functional->kind == PCSIM_FUNCTIONAL_WEIGHTED) return look_bind_weighted(&functional->weighted, x);
  if (functional->on_faces) return PCSIM_OK;
  return look_bind(&functional->cells, "looks", x);
}
