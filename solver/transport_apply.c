/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs of a mesh run: data bound by name, exchanges before, ghosts left out after. */
#include "transport.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------- binding */

/* Input or output that a program may not have. */
static pcsim_status bind_input(pcsim_executor *x, const pcsim_program *p, const char *name,
                               const double *data) {
  const char *have;
  for (int i = 0; (have = pcsim_program_input(p, i, NULL, NULL)); i++)
    if (!strcmp(have, name)) return pcsim_executor_bind(x, name, data);
  return PCSIM_OK;
}

/* The velocity that carries, and its direction. */
static pcsim_status bind_carrier(pcsim_executor *x, const pcsim_program *p, const char *space,
                                 const double *carrier, const double *direction) {
  char name[64];
  snprintf(name, sizeof name, "%s.carrier", space);
  PCSIM_TRY(bind_input(x, p, name, carrier));
  snprintf(name, sizeof name, "d_%s.carrier", space);
  return bind_input(x, p, name, direction);
}

static pcsim_status bind_boundary(const transport *t, int k, pcsim_executor *x, const pcsim_program *p) {
  const transport_boundary *b = &t->boundary[k];
  char space[32], name[64];
  snprintf(space, sizeof space, "boundary %d", k);
  PCSIM_TRY(pcsim_executor_points(x, space, b->num));
  snprintf(name, sizeof name, "%s.owner", space);
  PCSIM_TRY(pcsim_executor_bind_index(x, name, b->owner));
  const struct {
    const char *name;
    const double *data;
  } inputs[] = {{"area", b->area},
                {"line", b->line},
                {"coordinates", b->coordinates},
                {"share", b->share},
                {"value", b->value}};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    snprintf(name, sizeof name, "%s.%s", space, inputs[i].name);
    PCSIM_TRY(bind_input(x, p, name, inputs[i].data));
  }
  if (!t->carrier.boundary) return PCSIM_OK;
  return bind_carrier(x, p, space, t->carrier.boundary[k], t->carrier.d_boundary[k]);
}

static pcsim_status bind_cells(const transport *t, pcsim_executor *x, const pcsim_program *p) {
  PCSIM_TRY(pcsim_executor_points(x, "cells", t->nt));
  PCSIM_TRY(bind_input(x, p, "cells.q", t->q));
  PCSIM_TRY(bind_input(x, p, "cells.grad", t->grad));
  PCSIM_TRY(bind_input(x, p, "d_cells.q", t->v));
  PCSIM_TRY(bind_input(x, p, "d_cells.grad", t->v_grad));
  PCSIM_TRY(bind_input(x, p, "cells.volume", t->volume));
  PCSIM_TRY(bind_input(x, p, "cells.coordinates", t->cell_coordinates));
  for (int i = 0; i < t->problem->num_fields; i++) {
    char name[64];
    snprintf(name, sizeof name, "cells.field %d", i);
    PCSIM_TRY(bind_input(x, p, name, t->problem->values[i]));
  }
  return t->carrier.cell ? bind_carrier(x, p, "cells", t->carrier.cell, t->carrier.d_cell) : PCSIM_OK;
}

/* Faces first .. first + num - 1 as the points of a space. */
static pcsim_status bind_faces(const transport *t, pcsim_executor *x, const pcsim_program *p,
                               const char *space, int64_t first, int64_t num) {
  const transport_faces *f = &t->faces;
  char name[64];
  const struct {
    const char *name;
    const double *data;
    int width;
  } inputs[] = {{"area", f->area, t->dim},          {"line", f->line, t->dim},
                {"skew", f->skew, t->dim},          {"t", f->t, 1},
                {"coordinates", f->coordinates, 4}, {"speed", f->speed, 1}};
  PCSIM_TRY(pcsim_executor_points(x, space, num));
  snprintf(name, sizeof name, "%s.owner", space);
  PCSIM_TRY(pcsim_executor_bind_index(x, name, f->owner + first));
  snprintf(name, sizeof name, "%s.neighbour", space);
  PCSIM_TRY(pcsim_executor_bind_index(x, name, f->neighbour + first));
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    snprintf(name, sizeof name, "%s.%s", space, inputs[i].name);
    PCSIM_TRY(bind_input(x, p, name, inputs[i].data + first * inputs[i].width));
  }
  if (!t->carrier.face) return PCSIM_OK;
  return bind_carrier(x, p, space, t->carrier.face + first * t->dim, t->carrier.d_face + first * t->dim);
}

pcsim_status transport_make_executor(const transport *t, const pcsim_program *p, int spaces,
                                     pcsim_executor **x) {
  PCSIM_TRY(pcsim_executor_create(p, NULL, x));
  PCSIM_TRY(bind_cells(t, *x, p));
  const transport_faces *f = &t->faces;
  if (spaces & TRANSPORT_FACES) PCSIM_TRY(bind_faces(t, *x, p, "faces", 0, f->ordinary));
  if ((spaces & TRANSPORT_INTERFACES) && t->problem->material)
    PCSIM_TRY(bind_faces(t, *x, p, "interfaces", f->ordinary, f->num - f->ordinary));
  if ((spaces & TRANSPORT_POINTS) && t->points.owner) PCSIM_TRY(look_bind(&t->points, "points", *x));
  for (int k = 0; (spaces & TRANSPORT_BOUNDARIES) && k < t->problem->num_conditions; k++)
    PCSIM_TRY(bind_boundary(t, k, *x, p));
  return PCSIM_OK;
}

static pcsim_status make(const transport *t, const pcsim_program *p, int spaces, const char *output,
                         double *data, pcsim_executor **x) {
  PCSIM_TRY(transport_make_executor(t, p, spaces, x));
  return output ? pcsim_executor_bind_output(*x, output, data) : PCSIM_OK;
}

pcsim_status transport_tangent_of(const pcsim_program *p, const char *const *outputs, int num,
                                  pcsim_program **tangent) {
  enum { NUM = 64, SIZE = 40 };
  const char **wrt = NULL, *name, *keep[NUM];
  char text[NUM][SIZE];
  int n = 0, all = 0;
  PCSIM_CHECK(num <= NUM, PCSIM_ERR_CASE, "%d outputs of one tangent; at most %d are taken", num, NUM);
  while (pcsim_program_input(p, all, NULL, NULL)) all++;
  PCSIM_TRY(pcsim_alloc((size_t)all, sizeof *wrt, &wrt));
  for (int i = 0; i < all; i++) {
    name = pcsim_program_input(p, i, NULL, NULL);
    const char *dot = strrchr(name, '.');
    if (!strcmp(name, "cells.q") || !strcmp(name, "cells.grad") || (dot && !strcmp(dot, ".carrier")))
      wrt[n++] = name;
  }
  pcsim_status status = pcsim_transform_jvp(p, wrt, n, tangent);
  pcsim_free(&wrt);
  PCSIM_TRY(status);
  for (int i = 0; i < num; i++) {
    snprintf(text[i], SIZE, "d_%s", outputs[i]);
    keep[i] = text[i];
  }
  status = pcsim_program_keep(*tangent, keep, num);
  if (status != PCSIM_OK) pcsim_program_destroy(tangent);
  return status;
}

/* The program and its tangent by the state; does that not depend on the state (`linear` may be NULL)? */
static pcsim_status make_pair(const transport *t, const pcsim_program *p, int spaces, pcsim_executor **x,
                              pcsim_executor **along, bool *linear) {
  pcsim_program *tangent = NULL;
  PCSIM_TRY(make(t, p, spaces, "all", t->all, x));
  PCSIM_TRY(transport_tangent_of(p, (const char *const[]){"all"}, 1, &tangent));
  if (linear) *linear = !transport_needs(tangent, "cells.q") && !transport_needs(tangent, "cells.grad");
  const pcsim_status status = make(t, tangent, spaces, "d_all", t->all, along);
  pcsim_program_destroy(&tangent);
  return status;
}

static pcsim_status make_jacobian(transport *t) {
  pcsim_program *p = NULL;
  char name[64];
  PCSIM_TRY(transport_write_jacobian(t, &p));
  pcsim_status status =
      make(t, p, TRANSPORT_ALL_SPACES & ~TRANSPORT_POINTS, "owner", t->block_owner, &t->jacobian);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  PCSIM_TRY(pcsim_executor_bind_output(t->jacobian, "neighbour", t->block_neighbour));
  if (t->problem->material) {
    const int64_t first = t->faces.ordinary * t->m * t->m;
    PCSIM_TRY(pcsim_executor_bind_output(t->jacobian, "interface owner", t->block_owner + first));
    PCSIM_TRY(pcsim_executor_bind_output(t->jacobian, "interface neighbour", t->block_neighbour + first));
  }
  PCSIM_TRY(pcsim_executor_bind_output(t->jacobian, "source", t->block_source));
  PCSIM_TRY(pcsim_executor_bind_output(t->jacobian, "mass", t->block_mass));
  for (int k = 0; k < t->problem->num_conditions; k++) {
    snprintf(name, sizeof name, "boundary %d", k);
    PCSIM_TRY(pcsim_executor_bind_output(t->jacobian, name, t->block_boundary[k]));
  }
  return PCSIM_OK;
}

static pcsim_status make_surface(transport *t) {
  pcsim_program *p = NULL;
  char name[64];
  PCSIM_TRY(transport_write_surface(t, &p));
  pcsim_status status = make(t, p, TRANSPORT_BOUNDARIES, NULL, NULL, &t->surface);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  for (int k = 0; k < t->problem->num_conditions; k++) {
    snprintf(name, sizeof name, "state %d", k);
    PCSIM_TRY(pcsim_executor_bind_output(t->surface, name, t->boundary[k].state));
    snprintf(name, sizeof name, "flux %d", k);
    PCSIM_TRY(pcsim_executor_bind_output(t->surface, name, t->boundary[k].flux));
  }
  return PCSIM_OK;
}

pcsim_status transport_make_executors(transport *t) {
  pcsim_program *p = NULL;
  PCSIM_TRY(transport_write_residual(t, &p));
  pcsim_status status = make_pair(t, p, TRANSPORT_ALL_SPACES, &t->residual, &t->tangent, &t->linear);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  PCSIM_TRY(transport_write_accumulation(t, &p));
  status = make_pair(t, p, TRANSPORT_CELLS, &t->accumulation, &t->accumulation_tangent, NULL);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  PCSIM_TRY(transport_write_speed(t, &p));
  status = make(t, p, TRANSPORT_FACES, "speed", t->faces.speed, &t->speed);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  PCSIM_TRY(make_surface(t));
  return make_jacobian(t);
}

/* --------------------------------------------------- point and line sources */

pcsim_status transport_make_sources(transport *t) {
  const size_t sources = (size_t)t->problem->num_sources;
  PCSIM_TRY(pcsim_alloc(sources, sizeof *t->source, &t->source));
  PCSIM_TRY(pcsim_alloc(sources, sizeof *t->source_coordinates, &t->source_coordinates));
  PCSIM_TRY(pcsim_alloc(sources, sizeof *t->source_value, &t->source_value));
  for (size_t k = 0; k < sources; k++) {
    const pcsim_transport_source *s = &t->problem->source[k];
    PCSIM_TRY(pcsim_alloc((size_t)s->num_points * 4, sizeof(double), &t->source_coordinates[k]));
    PCSIM_TRY(pcsim_alloc((size_t)(s->num_points * t->m), sizeof(double), &t->source_value[k]));
    for (int64_t i = 0; i < s->num_points; i++)
      memcpy(t->source_coordinates[k] + 4 * i, s->point + 3 * i, 3 * sizeof(double));
    PCSIM_TRY(pcsim_executor_create(s->program, NULL, &t->source[k]));
    PCSIM_TRY(pcsim_executor_points(t->source[k], "points", s->num_points));
    PCSIM_TRY(bind_input(t->source[k], s->program, "coordinates", t->source_coordinates[k]));
    PCSIM_TRY(pcsim_executor_bind_output(t->source[k], "value", t->source_value[k]));
  }
  return PCSIM_OK;
}

pcsim_status transport_update_sources(transport *t) {
  memset(t->fixed, 0, (size_t)(t->n * t->m) * sizeof *t->fixed);
  for (int k = 0; k < t->problem->num_sources; k++) {
    const pcsim_transport_source *s = &t->problem->source[k];
    if (!s->num_points) continue;
    for (int64_t i = 0; i < s->num_points; i++) t->source_coordinates[k][4 * i + 3] = t->time;
    PCSIM_TRY(pcsim_executor_run(t->source[k], false));
    for (int64_t i = 0; i < s->num_points; i++)
      for (int c = 0; c < t->m; c++)
        t->fixed[s->cell[i] * t->m + c] += s->weight[i] * t->source_value[k][i * t->m + c];
  }
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- evaluation */

/* From t->corrected on: third derivatives, and the others without what these make of them. */
static pcsim_status fill_third(transport *t, double *grad) {
  const int d = t->dim, s = t->second.num;
  for (int64_t i = 0; i < t->n * t->m; i++)
    memcpy(t->bend + i * s, t->corrected + i * (d + s) + d, (size_t)s * sizeof *t->bend);
  PCSIM_TRY(pcsim_mesh_exchange(t->mesh, t->m * s, t->bend));
  third_apply(&t->third, t->m, t->class_of, t->corrected, t->bend, t->differences, t->node_value, grad);
  return PCSIM_OK;
}

static pcsim_status fill_gradient(transport *t, bool given, double *q, double *grad) {
  const gradient_data data = {.m = t->m,
                              .class_of = t->class_of,
                              .face = given ? t->face_given : NULL,
                              .node = given ? t->node_given : NULL,
                              .node_value = t->node_value};
  PCSIM_TRY(pcsim_mesh_exchange(t->mesh, t->m, q));
  if (t->choices.degree < 2) {
    gradient_apply(&t->gradient, &data, q, grad);
    return pcsim_mesh_exchange(t->mesh, t->m * t->dim, grad);
  }
  gradient_apply(&t->gradient, &data, q, t->first);
  PCSIM_TRY(pcsim_mesh_exchange(t->mesh, t->m * t->dim, t->first));
  double *corrected = t->choices.degree > 2 ? t->corrected : grad;
  second_apply(&t->second, t->m, t->class_of, t->first, t->differences, t->node_value, corrected);
  if (t->choices.degree > 2) PCSIM_TRY(fill_third(t, grad));
  return pcsim_mesh_exchange(t->mesh, t->m * t->derivatives, grad);
}

pcsim_status transport_update_gradient(transport *t, double time) {
  PCSIM_TRY(transport_set_time(t, time));
  return fill_gradient(t, true, t->q, t->grad);
}

pcsim_status transport_residual(transport *t, double time, double *r) {
  PCSIM_TRY(transport_update_gradient(t, time));
  return transport_residual_here(t, r);
}

pcsim_status transport_residual_here(transport *t, double *r) {
  PCSIM_TRY(pcsim_executor_run(t->residual, false));
  for (int64_t i = 0; i < t->n * t->m; i++) r[i] = t->all[i] - t->fixed[i];
  return PCSIM_OK;
}

pcsim_status transport_set_direction(transport *t, const double *v) {
  memcpy(t->v, v, (size_t)(t->n * t->m) * sizeof *v);
  return fill_gradient(t, false, t->v, t->v_grad);
}

pcsim_status transport_tangent_here(transport *t, double *y) {
  PCSIM_TRY(pcsim_executor_run(t->tangent, false));
  memcpy(y, t->all, (size_t)(t->n * t->m) * sizeof *y);
  return PCSIM_OK;
}

pcsim_status transport_tangent(transport *t, const double *v, double *y) {
  PCSIM_TRY(transport_set_direction(t, v));
  return transport_tangent_here(t, y);
}

pcsim_status transport_accumulation(transport *t, double *a) {
  PCSIM_TRY(pcsim_executor_run(t->accumulation, false));
  memcpy(a, t->all, (size_t)(t->n * t->m) * sizeof *a);
  return PCSIM_OK;
}

pcsim_status transport_accumulation_tangent(transport *t, const double *v, double *y) {
  const size_t bytes = (size_t)(t->n * t->m) * sizeof *v;
  memcpy(t->v, v, bytes);
  PCSIM_TRY(pcsim_executor_run(t->accumulation_tangent, false));
  memcpy(y, t->all, bytes);
  return PCSIM_OK;
}

pcsim_status transport_update_speed(transport *t) { return pcsim_executor_run(t->speed, false); }

pcsim_status transport_update_boundary(transport *t) { return pcsim_executor_run(t->surface, false); }

/* Pseudo-time term of a cell: the diagonal of the compact Jacobian, as far as it is positive. */
static void update_pace(transport *t) {
  const int m = t->m, step = m + 1;
  const int64_t size = (int64_t)m * m;
  memset(t->pace, 0, (size_t)(t->n * m) * sizeof *t->pace);
  for (int64_t k = 0; k < t->faces.num; k++)
    for (int side = 0; side < 2; side++) {
      const int64_t c = side ? t->faces.neighbour[k] : t->faces.owner[k];
      const double *block = (side ? t->block_neighbour : t->block_owner) + k * size;
      for (int i = 0; c < t->n && i < m; i++) t->pace[c * m + i] += fabs(block[i * step]);
    }
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t f = 0; f < t->boundary[k].num; f++)
      for (int i = 0; i < m; i++)
        t->pace[t->boundary[k].owner[f] * m + i] += fabs(t->block_boundary[k][f * size + i * step]);
  for (int64_t c = 0; c < t->n; c++)
    for (int i = 0; i < m; i++) t->pace[c * m + i] += fabs(t->block_source[c * size + i * step]);
}

pcsim_status transport_update_blocks(transport *t) {
  PCSIM_TRY(transport_update_speed(t));
  PCSIM_TRY(pcsim_executor_run(t->jacobian, false));
  update_pace(t);
  return PCSIM_OK;
}
