/* SPDX-License-Identifier: BSD-2-Clause */
/* Derivatives of typed laws by motions of the mesh. */
#include "transport_shape.h"
#include "face_parts.h"

#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------- inputs */

enum { PER_SPACE = 5 };

static pcsim_status add_input(shape_inputs *list, const char *space, const char *name, shape_input input) {
  shape_input *to = &list->input[list->num];
  *to = input;
  snprintf(to->name, sizeof to->name, "%s%s%s", space, space[0] ? "." : "", name);
  const size_t size = (size_t)(to->num * to->width);
  list->num++;
  PCSIM_TRY(pcsim_alloc(size, sizeof *to->now, &to->now));
  return pcsim_alloc(size, sizeof *to->sum, &to->sum);
}

static pcsim_status add_faces(const transport *t, shape_space space, int64_t num, shape_inputs *list) {
  const char *name = space == SHAPE_FACES ? "faces" : "interfaces";
  const shape_input base = {.space = space, .num = num};
  const struct {
    const char *name;
    shape_kind kind;
    int width;
  } parts[PER_SPACE] = {{"area", SHAPE_AREA, t->dim},
                        {"line", SHAPE_LINE, t->dim},
                        {"skew", SHAPE_SKEW, t->dim},
                        {"t", SHAPE_T, 1},
                        {"coordinates", SHAPE_COORDINATES, 4}};
  for (int i = 0; i < PER_SPACE; i++) {
    shape_input input = base;
    input.kind = parts[i].kind, input.width = parts[i].width;
    PCSIM_TRY(add_input(list, name, parts[i].name, input));
  }
  return PCSIM_OK;
}

static pcsim_status add_boundary(const transport *t, int k, shape_inputs *list) {
  char space[32];
  shape_input input = {.space = SHAPE_BOUNDARY, .condition = k, .num = t->boundary[k].num};
  snprintf(space, sizeof space, "boundary %d", k);
  input.kind = SHAPE_AREA, input.width = t->dim;
  PCSIM_TRY(add_input(list, space, "area", input));
  input.kind = SHAPE_LINE;
  PCSIM_TRY(add_input(list, space, "line", input));
  input.kind = SHAPE_COORDINATES, input.width = 4;
  PCSIM_TRY(add_input(list, space, "coordinates", input));
  input.kind = SHAPE_SHARE, input.width = t->m;
  return add_input(list, space, "share", input);
}

pcsim_status shape_inputs_of_mesh(const transport *t, const look *looks, shape_inputs *list) {
  const size_t room = 2 * PER_SPACE + 5 + (size_t)t->problem->num_conditions * 4;
  shape_input cells = {.space = SHAPE_CELLS, .num = t->nt, .width = 1, .kind = SHAPE_VOLUME};
  shape_input at = {.space = SHAPE_LOOKS, .num = looks->num, .width = 1, .kind = SHAPE_WEIGHT};
  *list = (shape_inputs){0};
  PCSIM_TRY(pcsim_alloc(room, sizeof *list->input, &list->input));
  PCSIM_TRY(add_faces(t, SHAPE_FACES, t->faces.ordinary, list));
  PCSIM_TRY(add_faces(t, SHAPE_INTERFACES, t->faces.num - t->faces.ordinary, list));
  PCSIM_TRY(add_input(list, "cells", "volume", cells));
  cells.kind = SHAPE_COORDINATES, cells.width = 4;
  PCSIM_TRY(add_input(list, "cells", "coordinates", cells));
  PCSIM_TRY(add_input(list, "looks", "weight", at));
  at.kind = SHAPE_REACH, at.width = t->dim;
  PCSIM_TRY(add_input(list, "looks", "reach", at));
  at.kind = SHAPE_COORDINATES, at.width = 4;
  PCSIM_TRY(add_input(list, "looks", "coordinates", at));
  for (int k = 0; k < t->problem->num_conditions; k++) PCSIM_TRY(add_boundary(t, k, list));
  return PCSIM_OK;
}

pcsim_status shape_inputs_of_values(const transport *t, int k, bool nodes, shape_inputs *list) {
  static const char *const normals[] = {"n.x", "n.y", "n.z"};
  shape_input input = {.space = nodes ? SHAPE_NODES : SHAPE_BOUNDARY,
                       .kind = SHAPE_COORDINATES,
                       .condition = k,
                       .width = 4,
                       .num = nodes ? t->nodes[k].num : t->boundary[k].num};
  *list = (shape_inputs){0};
  PCSIM_TRY(pcsim_alloc(4, sizeof *list->input, &list->input));
  PCSIM_TRY(add_input(list, "", "coordinates", input));
  input.kind = SHAPE_NORMAL, input.width = 1;
  for (int j = 0; !nodes && j < t->dim; j++) {
    input.component = j;
    PCSIM_TRY(add_input(list, "", normals[j], input));
  }
  return PCSIM_OK;
}

void shape_inputs_free(shape_inputs *list) {
  for (int i = 0; i < list->num; i++) pcsim_free(&list->input[i].now), pcsim_free(&list->input[i].sum);
  pcsim_free(&list->input);
  list->num = 0;
}

void shape_inputs_add(shape_inputs *list, const bool *by, double factor) {
  for (int i = 0; i < list->num; i++) {
    const shape_input *input = &list->input[i];
    for (int64_t k = 0; by[i] && k < input->num * input->width; k++) input->sum[k] += factor * input->now[k];
  }
}

/* -------------------------------------------------------------------- motion */

pcsim_status transport_motion_create(const transport *t, const pcsim_mesh_tangent *motion,
                                     transport_motion *out) {
  *out = (transport_motion){.motion = motion};
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(t->mesh), shape_places_create(t->view, motion, &out->places)));
  const dual_places places = shape_places_of(&out->places);
  return transport_gradient_tangent(t, &places, &out->gradient, &out->second);
}

void transport_motion_free(transport_motion *m) {
  shape_places_free(&m->places);
  gradient_destroy(&m->gradient);
  second_destroy(&m->second);
}

/* Of the unit normal of a face. */
static double normal_along(const pcsim_dual *area, int component) {
  return pcsim_derivative_of(area[component] /
                             pcsim_dual_root(area[0] * area[0] + area[1] * area[1] + area[2] * area[2]));
}

/* Derivatives of point i of an input; `face` of the mesh where it is one. */
static void input_along(const transport *t, const shape_input *input, const transport_motion *m, int64_t face,
                        int64_t i, double *along) {
  const pcsim_mesh_tangent *motion = m->motion;
  double part[FACE_PARTS];
  const double *from = part;
  int n = input->width;
  switch (input->kind) {
  case SHAPE_AREA:
    from = motion->face_area + 3 * face;
    break;
  case SHAPE_COORDINATES:
    along[3] = 0, n = 3;
    from = input->space == SHAPE_CELLS   ? motion->cell_centre + 3 * i
           : input->space == SHAPE_NODES ? motion->node + 3 * face
                                         : motion->face_centre + 3 * face;
    break;
  case SHAPE_VOLUME:
    from = motion->cell_volume + i;
    break;
  case SHAPE_SHARE:
    for (int c = 0; c < t->m; c++)
      along[c] = m->gradient.share[(face - t->ni) * t->num_classes + t->class_of[c]];
    return;
  case SHAPE_NORMAL:
    along[0] = normal_along(m->places.face_area + 3 * face, input->component);
    return;
  default:
    shape_face(t->view, &m->places, face, part);
    from += input->kind == SHAPE_LINE ? FACE_LINE : input->kind == SHAPE_SKEW ? FACE_SKEW : FACE_T;
  }
  memcpy(along, from, (size_t)n * sizeof *along);
}

/* Face (or node) of the mesh of point i of an input, -1 for cells. */
static int64_t place_of(const transport *t, const shape_input *input, int64_t i) {
  switch (input->space) {
  case SHAPE_FACES:
    return t->faces.mesh_face[i];
  case SHAPE_INTERFACES:
    return t->faces.mesh_face[t->faces.ordinary + i];
  case SHAPE_BOUNDARY:
    return t->ni + t->boundary[input->condition].face[i];
  case SHAPE_NODES:
    return t->gradient.given[t->nodes[input->condition].place[i]];
  default:
    return -1;
  }
}

double shape_inputs_through(const transport *t, const shape_inputs *list, const transport_motion *m) {
  double sum = 0, along[SYSTEM_UNKNOWNS_MAX + FACE_PARTS];
  for (int k = 0; k < list->num; k++) {
    const shape_input *input = &list->input[k];
    if (input->space == SHAPE_LOOKS) continue;
    for (int64_t i = 0; i < input->num; i++) {
      input_along(t, input, m, place_of(t, input, i), i, along);
      sum += shape_dot(input->width, input->sum + i * input->width, along);
    }
  }
  return sum;
}

/* ----------------------------------------------------------------- gradients */

static pcsim_status gradients_along(transport *t, const transport_motion *m, double *d_first,
                                    double *differences, double *d_grad) {
  const gradient_data data = {.m = t->m,
                              .class_of = t->class_of,
                              .face = t->face_given,
                              .node = t->node_given,
                              .node_value = t->node_value};
  double *const both[2] = {t->differences, differences};
  gradient_tangent_apply(&t->gradient, &m->gradient, &data, t->q, NULL, d_first);
  if (t->choices.degree < 2) {
    memcpy(d_grad, d_first, (size_t)(t->n * t->m * t->dim) * sizeof *d_grad);
    return PCSIM_OK;
  }
  gradient_apply(&t->gradient, &data, t->q, t->first);
  PCSIM_TRY(pcsim_mesh_exchange(t->mesh, t->m * t->dim, t->first));
  PCSIM_TRY(pcsim_mesh_exchange(t->mesh, t->m * t->dim, d_first));
  second_apply_tangent(&t->second, &m->second, t->m, t->class_of, t->first, d_first, both, t->node_value,
                       d_grad);
  return PCSIM_OK;
}

pcsim_status transport_motion_of_gradients(transport *t, const transport_motion *m, const double *grad,
                                           double *derivative) {
  const size_t n = (size_t)t->n, d = (size_t)t->dim, u = (size_t)t->m, e = (size_t)t->derivatives;
  double *d_first = NULL, *differences = NULL, *d_grad = NULL;
  pcsim_status status = pcsim_alloc((size_t)t->nt * u * d, sizeof *d_first, &d_first);
  if (status == PCSIM_OK) status = pcsim_alloc(n * u * d * d, sizeof *differences, &differences);
  if (status == PCSIM_OK) status = pcsim_alloc(n * u * e, sizeof *d_grad, &d_grad);
  status = pcsim_status_agree(pcsim_mesh_comm(t->mesh), status);
  if (status == PCSIM_OK) status = gradients_along(t, m, d_first, differences, d_grad);
  if (status == PCSIM_OK) *derivative = shape_dot((int64_t)(n * u * e), grad, d_grad);
  pcsim_free(&d_first), pcsim_free(&differences), pcsim_free(&d_grad);
  return status;
}
