/* SPDX-License-Identifier: BSD-2-Clause */
/* A mesh and typed laws packed for the programs: geometry, classes of unknowns, given values. */
#include "face_parts.h"
#include "quadrature.h"
#include "transport.h"

#include <math.h>
#include <string.h>

/* x, y, z and a place for the time. */
static pcsim_status copy_points(int64_t n, const double *points, double **out) {
  PCSIM_TRY(pcsim_alloc((size_t)n * 4, sizeof **out, out));
  for (int64_t i = 0; i < n; i++) memcpy(*out + 4 * i, points + 3 * i, 3 * sizeof(double));
  return PCSIM_OK;
}

/* --------------------------------------------------------------- faces inside */

static pcsim_status allocate_faces(transport_faces *f, int64_t num, size_t dim) {
  const size_t n = (size_t)num;
  f->num = num;
  PCSIM_TRY(pcsim_alloc(n, sizeof *f->mesh_face, &f->mesh_face));
  PCSIM_TRY(pcsim_alloc(n, sizeof *f->owner, &f->owner));
  PCSIM_TRY(pcsim_alloc(n, sizeof *f->neighbour, &f->neighbour));
  PCSIM_TRY(pcsim_alloc(n * dim, sizeof *f->area, &f->area));
  PCSIM_TRY(pcsim_alloc(n * dim, sizeof *f->line, &f->line));
  PCSIM_TRY(pcsim_alloc(n * dim, sizeof *f->skew, &f->skew));
  PCSIM_TRY(pcsim_alloc(n, sizeof *f->t, &f->t));
  PCSIM_TRY(pcsim_alloc(n * 4, sizeof *f->coordinates, &f->coordinates));
  return pcsim_alloc(n, sizeof *f->speed, &f->speed);
}

static pcsim_status pack_point(transport *t, int64_t k, const quadrature_point *point, int64_t at) {
  const pcsim_mesh_view *v = t->view;
  transport_faces *f = &t->faces;
  const int32_t P = v->owner[k], N = v->neighbour[k];
  const double *S = v->face_area + 3 * k, *xf = point->x;
  const face_parts parts =
      face_parts_inside(S, xf, v->cell_centre + 3 * (int64_t)P, v->cell_centre + 3 * (int64_t)N);
  PCSIM_CHECK(
      parts.through > 0, PCSIM_ERR_MESH,
      "cells %lld and %lld lie on the wrong sides of their common face at (%.6g, %.6g, %.6g): the mesh is "
      "too distorted there; improve it or remove a cell",
      (long long)v->cell_original[P] + 1, (long long)v->cell_original[N] + 1, xf[0], xf[1], xf[2]);
  f->mesh_face[at] = k;
  f->owner[at] = P, f->neighbour[at] = N;
  f->t[at] = parts.t;
  memcpy(f->coordinates + 4 * at, xf, 3 * sizeof *xf);
  for (int i = 0; i < t->dim; i++) {
    f->area[at * t->dim + i] = point->share * S[i];
    f->line[at * t->dim + i] = parts.line[i];
    f->skew[at * t->dim + i] = parts.skew[i];
  }
  return PCSIM_OK;
}

static bool is_interface(const transport *t, int64_t k) {
  const int32_t *material = t->problem->material;
  return material && material[t->view->owner[k]] != material[t->view->neighbour[k]];
}

static pcsim_status pack_faces(transport *t) {
  transport_faces *f = &t->faces;
  quadrature_point point[QUADRATURE_FACE_MAX];
  int64_t num = 0, at = 0;
  for (int64_t k = 0; k < t->ni; k++) num += quadrature_of_face(t->view, k, transport_flux_degree(t), point);
  PCSIM_TRY(allocate_faces(f, num, (size_t)t->dim));
  for (int interface = 0; interface < 2; interface++) {
    for (int64_t k = 0; k < t->ni; k++) {
      if (is_interface(t, k) != (interface == 1)) continue;
      num = quadrature_of_face(t->view, k, transport_flux_degree(t), point);
      for (int64_t i = 0; i < num; i++) PCSIM_TRY(pack_point(t, k, &point[i], at++));
    }
    if (!interface) f->ordinary = at;
  }
  return PCSIM_OK;
}

static pcsim_status allocate_carriers(transport *t) {
  transport_carrier *c = &t->carrier;
  const size_t d = (size_t)t->dim, conditions = (size_t)t->problem->num_conditions;
  if (!t->problem->num_carriers) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)t->ni * d, sizeof(double), &c->face));
  PCSIM_TRY(pcsim_alloc((size_t)t->ni * d, sizeof(double), &c->d_face));
  PCSIM_TRY(pcsim_alloc((size_t)t->nt * d, sizeof(double), &c->cell));
  PCSIM_TRY(pcsim_alloc((size_t)t->nt * d, sizeof(double), &c->d_cell));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *c->boundary, &c->boundary));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *c->d_boundary, &c->d_boundary));
  for (size_t k = 0; k < conditions; k++) {
    const size_t num = (size_t)t->problem->condition[k].num_faces;
    PCSIM_TRY(pcsim_alloc(num * d, sizeof(double), &c->boundary[k]));
    PCSIM_TRY(pcsim_alloc(num * d, sizeof(double), &c->d_boundary[k]));
  }
  return PCSIM_OK;
}

static void free_carriers(transport *t) {
  transport_carrier *c = &t->carrier;
  for (int k = 0; k < t->problem->num_conditions; k++) {
    if (c->boundary) pcsim_free(&c->boundary[k]);
    if (c->d_boundary) pcsim_free(&c->d_boundary[k]);
  }
  pcsim_free(&c->face), pcsim_free(&c->d_face), pcsim_free(&c->cell), pcsim_free(&c->d_cell);
  pcsim_free(&c->boundary), pcsim_free(&c->d_boundary);
}

/* ------------------------------------------------------------- boundary faces */

static pcsim_status allocate_boundary(const transport *t, transport_boundary *b) {
  const size_t n = (size_t)b->num, dim = (size_t)t->dim, m = (size_t)t->m;
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->face, &b->face));
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->part, &b->part));
  PCSIM_TRY(pcsim_alloc(n, sizeof *b->owner, &b->owner));
  PCSIM_TRY(pcsim_alloc(n * dim, sizeof *b->area, &b->area));
  PCSIM_TRY(pcsim_alloc(n * dim, sizeof *b->line, &b->line));
  PCSIM_TRY(pcsim_alloc(n * 4, sizeof *b->coordinates, &b->coordinates));
  PCSIM_TRY(pcsim_alloc(n * m, sizeof *b->share, &b->share));
  PCSIM_TRY(pcsim_alloc(n * m, sizeof *b->value, &b->value));
  PCSIM_TRY(pcsim_alloc(n * m, sizeof *b->state, &b->state));
  PCSIM_TRY(pcsim_alloc(n * m, sizeof *b->flux, &b->flux));
  PCSIM_TRY(pcsim_alloc((size_t)t->problem->num_fields, sizeof *b->field, &b->field));
  for (int i = 0; i < t->problem->num_fields; i++) PCSIM_TRY(pcsim_alloc(n, sizeof **b->field, &b->field[i]));
  return PCSIM_OK;
}

/* Point `k` of a condition, on boundary face `face` of the mesh. */
static pcsim_status pack_wall_point(const transport *t, int64_t face, const quadrature_point *point,
                                    transport_boundary *b, int64_t k) {
  const pcsim_mesh_view *v = t->view;
  const int32_t P = v->owner[t->ni + face];
  const double *S = v->face_area + 3 * (t->ni + face), *xp = v->cell_centre + 3 * (int64_t)P;
  const face_parts parts = face_parts_at_wall(S, point->x, xp);
  PCSIM_CHECK(
      parts.through > 0, PCSIM_ERR_MESH,
      "cell %lld at (%.6g, %.6g, %.6g) lies outside its boundary face: the mesh is too distorted there",
      (long long)v->cell_original[P] + 1, xp[0], xp[1], xp[2]);
  b->face[k] = face, b->part[k] = point->share, b->owner[k] = P;
  for (int i = 0; i < t->dim; i++) {
    b->area[k * t->dim + i] = point->share * S[i];
    b->line[k * t->dim + i] = parts.line[i];
  }
  memcpy(b->coordinates + 4 * k, point->x, sizeof point->x);
  for (int i = 0; i < t->problem->num_fields; i++) b->field[i][k] = t->problem->values[i][P];
  return PCSIM_OK;
}

static pcsim_status pack_boundary(transport *t, const pcsim_transport_condition *c, transport_boundary *b) {
  quadrature_point point[QUADRATURE_FACE_MAX];
  b->c = c;
  for (int64_t k = 0; k < c->num_faces; k++)
    b->num += quadrature_of_face(t->view, t->ni + c->face[k], transport_flux_degree(t), point);
  PCSIM_TRY(allocate_boundary(t, b));
  for (int64_t k = 0, at = 0; k < c->num_faces; k++) {
    const int num = quadrature_of_face(t->view, t->ni + c->face[k], transport_flux_degree(t), point);
    for (int i = 0; i < num; i++) PCSIM_TRY(pack_wall_point(t, c->face[k], &point[i], b, at++));
  }
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- classes */

/* Unknowns with the same conditions everywhere are one class. */
static pcsim_status find_classes(transport *t) {
  const pcsim_transport_view *p = t->problem;
  PCSIM_TRY(pcsim_alloc((size_t)t->m, sizeof *t->class_of, &t->class_of));
  for (int i = 0; i < t->m; i++) {
    t->class_of[i] = -1;
    for (int j = 0; j < i && t->class_of[i] < 0; j++) {
      bool same = true;
      for (int k = 0; k < p->num_conditions; k++)
        same &= (p->condition[k].kind[i] == PCSIM_TRANSPORT_VALUE) ==
                (p->condition[k].kind[j] == PCSIM_TRANSPORT_VALUE);
      if (same) t->class_of[i] = t->class_of[j];
    }
    if (t->class_of[i] < 0) t->class_of[i] = t->num_classes++;
  }
  return PCSIM_OK;
}

pcsim_status transport_part_program(const pcsim_program *whole, const char *output, pcsim_program **program) {
  PCSIM_TRY(pcsim_program_copy(whole, program));
  pcsim_status status = pcsim_program_keep(*program, &output, 1);
  if (status == PCSIM_OK) status = pcsim_program_simplify(*program);
  if (status != PCSIM_OK) pcsim_program_destroy(program);
  return status;
}

pcsim_status transport_values_program(const pcsim_transport_condition *c, pcsim_program **program) {
  return transport_part_program(c->program, "value", program);
}

/* --------------------------------------------------------------- given values */

static pcsim_status bind_fields(const transport *t, pcsim_executor *x, const pcsim_program *program,
                                double *const *field) {
  for (int i = 0; i < t->problem->num_fields; i++)
    if (transport_needs(program, t->problem->field[i]))
      PCSIM_TRY(pcsim_executor_bind(x, t->problem->field[i], field[i]));
  return PCSIM_OK;
}

/* The unit normals of a condition's faces, by components; kept with the condition. */
static pcsim_status make_normal(const transport *t, transport_boundary *b, int j) {
  if (b->normal[j]) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)b->num, sizeof *b->normal[j], &b->normal[j]));
  for (int64_t k = 0; k < b->num; k++) {
    double square = 0;
    for (int i = 0; i < t->dim; i++) square += b->area[k * t->dim + i] * b->area[k * t->dim + i];
    b->normal[j][k] = b->area[k * t->dim + j] / sqrt(square);
  }
  return PCSIM_OK;
}

pcsim_status transport_bind_at_faces(transport *t, int k, const pcsim_program *program, pcsim_executor *x) {
  static const char *const names[] = {"n.x", "n.y", "n.z"};
  transport_boundary *b = &t->boundary[k];
  PCSIM_TRY(pcsim_executor_points(x, "points", b->num));
  if (transport_needs(program, "coordinates"))
    PCSIM_TRY(pcsim_executor_bind(x, "coordinates", b->coordinates));
  for (int j = 0; j < t->dim; j++) {
    if (!transport_needs(program, names[j])) continue;
    PCSIM_TRY(make_normal(t, b, j));
    PCSIM_TRY(pcsim_executor_bind(x, names[j], b->normal[j]));
  }
  return bind_fields(t, x, program, b->field);
}

pcsim_status transport_bind_at_nodes(const transport *t, int k, const pcsim_program *program,
                                     pcsim_executor *x) {
  const transport_nodes *nodes = &t->nodes[k];
  PCSIM_TRY(pcsim_executor_points(x, "points", nodes->num));
  if (!transport_needs(program, "coordinates")) return PCSIM_OK;
  return pcsim_executor_bind(x, "coordinates", nodes->coordinates);
}

static pcsim_status make_given(transport *t, int k) {
  transport_boundary *b = &t->boundary[k];
  transport_nodes *nodes = &t->nodes[k];
  pcsim_program *values;
  pcsim_status status;
  PCSIM_TRY(transport_values_program(b->c, &values));
  PCSIM_GOTO(pcsim_executor_create(values, NULL, &b->given), status, done);
  PCSIM_GOTO(transport_bind_at_faces(t, k, values, b->given), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(b->given, "value", b->value), status, done);
  if (!nodes->num) goto done;
  PCSIM_GOTO(pcsim_executor_create(values, NULL, &nodes->given), status, done);
  PCSIM_GOTO(transport_bind_at_nodes(t, k, values, nodes->given), status, done);
  status = pcsim_executor_bind_output(nodes->given, "value", nodes->value);
done:
  pcsim_program_destroy(&values);
  return status;
}

static void stamp(int64_t n, double *coordinates, double time) {
  for (int64_t i = 0; i < n; i++) coordinates[4 * i + 3] = time;
}

pcsim_status transport_set_time(transport *t, double time) {
  const int m = t->m;
  if (t->time == time) return PCSIM_OK;
  t->time = time;
  stamp(t->nt, t->cell_coordinates, time);
  stamp(t->faces.num, t->faces.coordinates, time);
  stamp(t->points.num, t->points.coordinates, time);
  memset(t->face_given, 0, (size_t)(t->nb * m) * sizeof *t->face_given);
  for (int k = 0; k < t->problem->num_conditions; k++) {
    const transport_boundary *b = &t->boundary[k];
    const transport_nodes *nodes = &t->nodes[k];
    stamp(b->num, b->coordinates, time);
    stamp(nodes->num, nodes->coordinates, time);
    if (b->num) PCSIM_TRY(pcsim_executor_run(b->given, false));
    if (nodes->given) PCSIM_TRY(pcsim_executor_run(nodes->given, false));
    for (int64_t i = 0; i < b->num; i++)
      for (int c = 0; c < m; c++) t->face_given[b->face[i] * m + c] += b->part[i] * b->value[i * m + c];
    for (int64_t i = 0; i < nodes->num; i++)
      memcpy(t->node_given + nodes->place[i] * m, nodes->value + i * m, (size_t)m * sizeof(double));
  }
  return transport_update_sources(t);
}

/* --------------------------------------------------------------------- all */

static pcsim_status allocate_state(transport *t) {
  const size_t m = (size_t)t->m, d = (size_t)t->dim, nt = (size_t)t->nt, n = (size_t)t->n;
  const size_t e = (size_t)t->derivatives, s = (size_t)second_count(t->dim);
  const size_t wide = t->choices.degree > 2 ? s : t->choices.degree > 1 ? d : 1;
  const size_t conditions = (size_t)t->problem->num_conditions;
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &t->q));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &t->v));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &t->all));
  PCSIM_TRY(pcsim_alloc(nt * m * e, sizeof(double), &t->grad));
  PCSIM_TRY(pcsim_alloc(nt * m * e, sizeof(double), &t->v_grad));
  if (t->choices.degree > 1) {
    PCSIM_TRY(pcsim_alloc(nt * m * d, sizeof(double), &t->first));
    PCSIM_TRY(pcsim_alloc(n * m * d * wide, sizeof(double), &t->differences));
  }
  if (t->choices.degree > 2) {
    PCSIM_TRY(pcsim_alloc(n * m * (d + s), sizeof(double), &t->corrected));
    PCSIM_TRY(pcsim_alloc(nt * m * s, sizeof(double), &t->bend));
  }
  PCSIM_TRY(pcsim_alloc(n * m, sizeof(double), &t->fixed));
  PCSIM_TRY(pcsim_alloc(n * m, sizeof(double), &t->pace));
  PCSIM_TRY(pcsim_alloc((size_t)t->nb * m, sizeof(double), &t->face_given));
  PCSIM_TRY(pcsim_alloc((size_t)t->gradient.num_given * m, sizeof(double), &t->node_given));
  PCSIM_TRY(pcsim_alloc((size_t)t->view->num_nodes * m * wide, sizeof(double), &t->node_value));
  PCSIM_TRY(pcsim_alloc((size_t)t->faces.num * m * m, sizeof(double), &t->block_owner));
  PCSIM_TRY(pcsim_alloc((size_t)t->faces.num * m * m, sizeof(double), &t->block_neighbour));
  PCSIM_TRY(pcsim_alloc(nt * m * m, sizeof(double), &t->block_source));
  PCSIM_TRY(pcsim_alloc(nt * m * m, sizeof(double), &t->block_mass));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *t->block_boundary, &t->block_boundary));
  for (size_t k = 0; k < conditions; k++)
    PCSIM_TRY(pcsim_alloc((size_t)t->boundary[k].num * m * m, sizeof(double), &t->block_boundary[k]));
  memcpy(t->q, t->problem->start, n * m * sizeof(double));
  return PCSIM_OK;
}

/* A source that depends on nothing needs no points. */
static pcsim_status pack_points(transport *t) {
  pcsim_program *source;
  bool varies = false, used;
  PCSIM_TRY(transport_part_program(t->problem->terms, "source", &source));
  for (int i = 0; pcsim_program_input(source, i, NULL, &used); i++) varies |= used;
  pcsim_program_destroy(&source);
  return varies ? look_at_points(t->mesh, &t->points) : PCSIM_OK;
}

/* In space points of quadrature are those of tetrahedra. */
static pcsim_status check_cubic(const transport *t) {
  const pcsim_mesh_view *v = t->view;
  for (int64_t c = 0; c < v->num_cells && t->dim == 3 && t->choices.degree > 2; c++)
    PCSIM_CHECK(v->cell_type[c] == PCSIM_CELL_TETRA, PCSIM_ERR_CASE,
                "cubic reconstruction on a %s; in space it is of tetrahedra so far",
                pcsim_cell_name((pcsim_cell_type)v->cell_type[c]));
  return PCSIM_OK;
}

static pcsim_status pack(transport *t) {
  const size_t conditions = (size_t)t->problem->num_conditions;
  PCSIM_TRY(check_cubic(t));
  PCSIM_CHECK(t->m <= SYSTEM_UNKNOWNS_MAX, PCSIM_ERR_CASE, "%d unknowns; the solver takes at most %d", t->m,
              SYSTEM_UNKNOWNS_MAX);
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *t->boundary, &t->boundary));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *t->nodes, &t->nodes));
  PCSIM_TRY(find_classes(t));
  PCSIM_TRY(allocate_carriers(t));
  PCSIM_TRY(pack_faces(t));
  for (size_t k = 0; k < conditions; k++)
    PCSIM_TRY(pack_boundary(t, &t->problem->condition[k], &t->boundary[k]));
  PCSIM_TRY(copy_points(t->nt, t->view->cell_centre, &t->cell_coordinates));
  PCSIM_TRY(pcsim_alloc((size_t)t->nt, sizeof *t->volume, &t->volume));
  memcpy(t->volume, t->view->cell_volume, (size_t)t->nt * sizeof *t->volume);
  return t->choices.degree > 2 ? pack_points(t) : PCSIM_OK;
}

static pcsim_status finish(transport *t) {
  PCSIM_TRY(allocate_state(t));
  for (int k = 0; k < t->problem->num_conditions; k++) PCSIM_TRY(make_given(t, k));
  PCSIM_TRY(transport_make_sources(t));
  return transport_make_executors(t);
}

pcsim_status transport_create(const pcsim_mesh *mesh, const pcsim_transport_problem *problem,
                              const transport_choices *choices, transport **out) {
  pcsim_status status;
  transport *t = NULL;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *t, &t));
  t->mesh = mesh;
  t->view = pcsim_mesh_get(mesh);
  t->problem = pcsim_transport_problem_get(problem);
  t->choices = *choices;
  t->dim = t->view->dim;
  t->m = t->problem->num_unknowns;
  t->derivatives =
      t->dim + (choices->degree > 1) * second_count(t->dim) + (choices->degree > 2) * third_count(t->dim);
  t->n = t->view->num_cells;
  t->nt = t->n + t->view->num_ghosts;
  t->ni = t->view->num_interior_faces;
  t->nb = t->view->num_faces - t->ni;
  t->time = NAN;
  t->cfl = t->step = INFINITY;
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(mesh), pack(t)), status, fail);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(mesh), transport_make_gradients(t)), status, fail);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(mesh), finish(t)), status, fail);
  *out = t;
  return PCSIM_OK;
fail:
  transport_destroy(&t);
  return status;
}

static void destroy_boundary(const transport *t, int k) {
  transport_boundary *b = &t->boundary[k];
  pcsim_free(&b->face), pcsim_free(&b->part);
  pcsim_free(&b->owner), pcsim_free(&b->area), pcsim_free(&b->line), pcsim_free(&b->coordinates);
  pcsim_free(&b->share), pcsim_free(&b->value), pcsim_free(&b->state), pcsim_free(&b->flux);
  for (int i = 0; b->field && i < t->problem->num_fields; i++) pcsim_free(&b->field[i]);
  pcsim_free(&b->field);
  for (int j = 0; j < 3; j++) pcsim_free(&b->normal[j]);
  pcsim_executor_destroy(&b->given);
  if (t->nodes) {
    transport_nodes *nodes = &t->nodes[k];
    pcsim_free(&nodes->place), pcsim_free(&nodes->coordinates), pcsim_free(&nodes->value);
    pcsim_executor_destroy(&nodes->given);
  }
  if (t->block_boundary) pcsim_free(&t->block_boundary[k]);
}

void transport_destroy(transport **out) {
  transport *t = *out;
  if (!t) return;
  for (int k = 0; t->boundary && k < t->problem->num_conditions; k++) destroy_boundary(t, k);
  for (int k = 0; k < t->problem->num_sources; k++) {
    if (t->source) pcsim_executor_destroy(&t->source[k]);
    if (t->source_coordinates) pcsim_free(&t->source_coordinates[k]);
    if (t->source_value) pcsim_free(&t->source_value[k]);
  }
  free_carriers(t);
  gradient_destroy(&t->gradient);
  second_destroy(&t->second);
  third_destroy(&t->third);
  look_free(&t->points);
  pcsim_executor **const programs[] = {&t->residual, &t->tangent,  &t->accumulation, &t->accumulation_tangent,
                                       &t->speed,    &t->jacobian, &t->surface};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) pcsim_executor_destroy(programs[i]);
  transport_faces *f = &t->faces;
  void *blocks[] = {&t->boundary,     &t->nodes,       &t->block_boundary,
                    &t->class_of,     &f->mesh_face,   &f->owner,
                    &f->neighbour,    &f->area,        &f->line,
                    &f->skew,         &f->t,           &f->coordinates,
                    &f->speed,        &t->volume,      &t->cell_coordinates,
                    &t->face_given,   &t->node_given,  &t->node_value,
                    &t->fixed,        &t->source,      &t->source_coordinates,
                    &t->source_value, &t->q,           &t->v,
                    &t->grad,         &t->v_grad,      &t->first,
                    &t->differences,  &t->corrected,   &t->bend,
                    &t->all,          &t->block_owner, &t->block_neighbour,
                    &t->block_source, &t->block_mass,  &t->pace};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}
