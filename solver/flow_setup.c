/* SPDX-License-Identifier: BSD-2-Clause */
/* Packing a mesh and a problem for the kernels, and the steps they are called in. */
#include "face_parts.h"
#include "flow_program.h"
#include "flow_viscosity.h"

#include <math.h>
#include <string.h>

static pcsim_status pack_interior(flow *f) {
  const pcsim_mesh_view *v = f->view;
  const int dim = f->dim, width = FLOW_FACE_WIDTH(dim);
  PCSIM_TRY(pcsim_alloc((size_t)f->ni, sizeof *f->owner, &f->owner));
  PCSIM_TRY(pcsim_alloc((size_t)f->ni, sizeof *f->neighbour, &f->neighbour));
  PCSIM_TRY(pcsim_alloc((size_t)(f->ni * width), sizeof *f->face, &f->face));
  for (int64_t k = 0; k < f->ni; k++) {
    const int32_t P = v->owner[k], N = v->neighbour[k];
    const double *S = v->face_area + 3 * k, *xf = v->face_centre + 3 * k;
    const face_parts parts =
        face_parts_inside(S, xf, v->cell_centre + 3 * (int64_t)P, v->cell_centre + 3 * (int64_t)N);
    PCSIM_CHECK(
        parts.through > 0, PCSIM_ERR_MESH,
        "cells %lld and %lld lie on the wrong sides of their common face at (%.6g, %.6g, %.6g): the mesh is "
        "too distorted there; improve it or remove a cell",
        (long long)v->cell_original[P] + 1, (long long)v->cell_original[N] + 1, xf[0], xf[1], xf[2]);
    f->owner[k] = P, f->neighbour[k] = N;
    double *x = f->face + k * width;
    for (int i = 0; i < dim; i++) {
      x[i] = S[i];
      x[dim + i] = parts.line[i];
      x[2 * dim + i] = parts.skew[i];
    }
    x[3 * dim] = parts.t;
    x[3 * dim + 1] = parts.g;
  }
  return PCSIM_OK;
}

/* Boundary values as the problem has them now. */
static void pack_values(flow *f) {
  const int dim = f->dim, m = dim + 1;
  const double U = f->scale_velocity, pressure = f->density * U * U;
  for (int64_t k = 0; k < f->nb; k++) {
    for (int i = 0; i < dim; i++) f->wall_value[k * m + i] = f->problem->velocity[3 * k + i] / U;
    f->wall_value[k * m + dim] = f->problem->pressure[k] / pressure;
  }
}

/* A force that varies as the problem has it now. */
static void pack_force(flow *f) {
  const double unit = f->density * f->scale_velocity * f->scale_velocity;
  for (int64_t c = 0; f->problem->cell_force && c < f->n; c++)
    for (int i = 0; i < f->dim; i++) f->cell_force[c * f->dim + i] = f->problem->cell_force[3 * c + i] / unit;
}

pcsim_status flow_set_time(flow *f, double t) {
  flow_viscosity_set_time(f, t);
  if (!f->changing || f->time == t) return PCSIM_OK;
  PCSIM_TRY(pcsim_flow_problem_set_time(f->changing, t));
  f->time = t;
  pack_values(f), pack_force(f);
  if (f->programs) flow_programs_set_values(f->programs); /* there are none while walls are looked for */
  flow_gradient_boundary(f);
  return PCSIM_OK;
}

static pcsim_status pack_boundary(flow *f) {
  const pcsim_mesh_view *v = f->view;
  const pcsim_flow_view *p = f->problem;
  const int dim = f->dim, width = FLOW_WALL_WIDTH(dim), m = dim + 1;
  PCSIM_TRY(pcsim_alloc((size_t)f->nb, sizeof *f->wall_owner, &f->wall_owner));
  PCSIM_TRY(pcsim_alloc((size_t)f->nb, sizeof *f->wall_kind, &f->wall_kind));
  PCSIM_TRY(pcsim_alloc((size_t)(f->nb * width), sizeof *f->wall, &f->wall));
  PCSIM_TRY(pcsim_alloc((size_t)(f->nb * m), sizeof *f->wall_value, &f->wall_value));
  for (int64_t k = 0; k < f->nb; k++) {
    const int64_t face = f->ni + k;
    const int32_t P = v->owner[face];
    const double *S = v->face_area + 3 * face, *xf = v->face_centre + 3 * face;
    const double *xp = v->cell_centre + 3 * (int64_t)P;
    const face_parts parts = face_parts_at_wall(S, xf, xp);
    PCSIM_CHECK(
        parts.through > 0, PCSIM_ERR_MESH,
        "cell %lld at (%.6g, %.6g, %.6g) lies outside its boundary face: the mesh is too distorted there",
        (long long)v->cell_original[P] + 1, xp[0], xp[1], xp[2]);
    f->wall_owner[k] = P, f->wall_kind[k] = p->kind[k];
    double *x = f->wall + k * width;
    for (int i = 0; i < dim; i++) {
      x[i] = S[i];
      x[dim + i] = parts.line[i];
    }
    x[2 * dim] = parts.g;
  }
  pack_values(f);
  return PCSIM_OK;
}

static pcsim_status allocate_state(flow *f) {
  const size_t m = (size_t)f->dim + 1, d = (size_t)f->dim, nt = (size_t)f->nt;
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &f->q));
  PCSIM_TRY(pcsim_alloc(nt * m * d, sizeof(double), &f->grad));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &f->v));
  PCSIM_TRY(pcsim_alloc(nt * m * d, sizeof(double), &f->v_grad));
  PCSIM_TRY(pcsim_alloc((size_t)f->n * m, sizeof(double), &f->scratch));
  PCSIM_TRY(pcsim_alloc((size_t)f->n * m, sizeof(double), &f->row_weight));
  for (size_t k = 0; k < (size_t)f->n * m; k++) f->row_weight[k] = 1;
  PCSIM_TRY(pcsim_alloc(nt, sizeof(double), &f->a_p));
  PCSIM_TRY(pcsim_alloc(nt, sizeof(double), &f->tau));
  PCSIM_TRY(pcsim_alloc(nt, sizeof(double), &f->volume));
  PCSIM_TRY(pcsim_alloc((size_t)f->n, sizeof(double), &f->diagonal));
  PCSIM_TRY(pcsim_alloc((size_t)(f->ni + f->nb), sizeof(double), &f->mass));
  PCSIM_TRY(pcsim_alloc((size_t)f->ni * d, sizeof(double), &f->face_velocity));
  PCSIM_TRY(pcsim_alloc((size_t)f->ni, sizeof(double), &f->dissipation));
  if (f->problem->joined || f->problem->cell_force)
    PCSIM_TRY(pcsim_alloc(nt * d, sizeof(double), &f->cell_force));
  if (f->problem->joined) {
    PCSIM_TRY(pcsim_alloc((size_t)f->ni, sizeof(double), &f->d_mass));
    PCSIM_TRY(pcsim_alloc((size_t)f->ni * d, sizeof(double), &f->d_face_velocity));
  }
  memcpy(f->volume, f->view->cell_volume, nt * sizeof(double));
  pack_force(f);
  return PCSIM_OK;
}

static void start_values(flow *f) {
  const int dim = f->dim, m = dim + 1;
  const double U = f->scale_velocity, pressure = f->density * U * U;
  for (int64_t c = 0; c < f->n; c++) {
    for (int i = 0; i < dim; i++) f->q[c * m + i] = f->problem->start[4 * c + i] / U;
    f->q[c * m + dim] = f->problem->start[4 * c + 3] / pressure;
  }
}

pcsim_status flow_create(const pcsim_mesh *mesh, pcsim_flow_problem *problem,
                         const pcsim_flow_options *options, flow **out) {
  pcsim_status status;
  flow *f = NULL;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *f, &f));
  f->mesh = mesh;
  f->view = pcsim_mesh_get(mesh);
  f->problem = pcsim_flow_problem_get(problem);
  f->changing = f->problem->changes ? problem : NULL;
  f->time = f->problem->time;
  f->dim = f->view->dim;
  f->n = f->view->num_cells;
  f->nt = f->n + f->view->num_ghosts;
  f->ni = f->view->num_interior_faces;
  f->nb = f->view->num_faces - f->ni;
  f->density = f->problem->density;
  f->scale_velocity = f->problem->velocity_scale;
  f->nu = f->problem->viscosity / f->density / f->scale_velocity;
  for (int i = 0; i < 3; i++)
    f->force[i] = f->problem->force[i] / (f->density * f->scale_velocity * f->scale_velocity);
  f->central = options->central;
  f->kappa = options->kappa;
  f->wall_order = options->wall_order;
  f->rhie_chow = options->rhie_chow;
  f->through_time = options->time.given;
  f->kernels = &flow_program_kernels;
  status = pack_interior(f);
  if (status == PCSIM_OK) status = pack_boundary(f);
  if (status == PCSIM_OK) status = allocate_state(f);
  if (status == PCSIM_OK) status = flow_viscosity_create(f);
  if (status == PCSIM_OK)
    status = flow_gradient_create(f, (const double[2]){options->time.start, options->time.end});
  if (status == PCSIM_OK) status = flow_programs_create(f, &f->programs);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(mesh), status), status, fail);
  start_values(f);
  *out = f;
  return PCSIM_OK;
fail:
  flow_destroy(&f);
  return status;
}

void flow_destroy(flow **out) {
  flow *f = *out;
  if (!f) return;
  gradient_destroy(&f->gradient);
  flow_programs_destroy(&f->programs);
  flow_viscosity_destroy(f);
  void *blocks[] = {&f->owner,       &f->neighbour,
                    &f->face,        &f->wall_owner,
                    &f->wall_kind,   &f->wall,
                    &f->wall_value,  &f->volume,
                    &f->q,           &f->grad,
                    &f->a_p,         &f->tau,
                    &f->mass,        &f->face_velocity,
                    &f->dissipation, &f->cell_force,
                    &f->d_mass,      &f->d_face_velocity,
                    &f->diagonal,    &f->v,
                    &f->v_grad,      &f->scratch,
                    &f->node_given,  &f->node_value,
                    &f->row_weight,  &f->patch,
                    &f->patch_range, &f->patch_several};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}

/* ------------------------------------------------------------------- steps */

pcsim_status flow_update_gradient(flow *f) {
  const int m = f->dim + 1;
  PCSIM_TRY(pcsim_mesh_exchange(f->mesh, m, f->q));
  flow_gradient_of(f, f->q, true, f->grad);
  PCSIM_TRY(pcsim_mesh_exchange(f->mesh, m * f->dim, f->grad));
  return PCSIM_OK;
}

pcsim_status flow_residual(flow *f, double *r) {
  PCSIM_TRY(flow_update_gradient(f));
  PCSIM_TRY(f->kernels->residual(f, r));
  flow_viscosity_check(f, r);
  return PCSIM_OK;
}

pcsim_status flow_update_coefficients(flow *f) {
  PCSIM_TRY(f->kernels->coefficients(f));
  return pcsim_mesh_exchange(f->mesh, 1, f->tau);
}

pcsim_status flow_tangent(flow *f, const double *v, double *y) {
  const int m = f->dim + 1;
  memcpy(f->v, v, (size_t)(f->n * m) * sizeof *v);
  PCSIM_TRY(pcsim_mesh_exchange(f->mesh, m, f->v));
  flow_gradient_of(f, f->v, false, f->v_grad);
  PCSIM_TRY(pcsim_mesh_exchange(f->mesh, m * f->dim, f->v_grad));
  return f->kernels->tangent(f, f->v, f->v_grad, y);
}
