/* SPDX-License-Identifier: BSD-2-Clause */
/* Derivatives of a flow by motions of its mesh: what came to everything that is made of places, times how
 * that changes. */
#include "face_parts.h"
#include "flow_adjoint.h"
#include "shape.h"

#include <string.h>

pcsim_status flow_cotangent_allocate(const flow *f, int num, int64_t num_looks, flow_cotangent *g) {
  const size_t d = (size_t)f->dim, m = d + 1, looks = (size_t)num_looks;
  PCSIM_TRY(pcsim_alloc((size_t)f->nb * m, sizeof(double), &g->value));
  PCSIM_TRY(pcsim_alloc((size_t)f->gradient.num_given * m, sizeof(double), &g->node));
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof(double), &g->law));
  if (f->problem->cell_force) PCSIM_TRY(pcsim_alloc((size_t)f->n * d, sizeof(double), &g->push));
  if (!g->shape) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)f->ni * FLOW_FACE_WIDTH(d), sizeof(double), &g->face));
  PCSIM_TRY(pcsim_alloc((size_t)f->nb * FLOW_WALL_WIDTH(d), sizeof(double), &g->wall));
  PCSIM_TRY(pcsim_alloc((size_t)f->n, sizeof(double), &g->volume));
  if (f->viscous.place) PCSIM_TRY(pcsim_alloc((size_t)(f->ni + f->nb) * 4, sizeof(double), &g->place));
  PCSIM_TRY(pcsim_alloc((size_t)f->n * m * d, sizeof(double), &g->grad));
  PCSIM_TRY(pcsim_alloc(looks, sizeof(double), &g->look_weight));
  PCSIM_TRY(pcsim_alloc(looks * d, sizeof(double), &g->look_reach));
  return pcsim_alloc(looks * 4, sizeof(double), &g->look_place);
}

void flow_cotangent_free(flow_cotangent *g) {
  void *blocks[] = {&g->push, &g->place,  &g->value, &g->node,        &g->law,        &g->face,
                    &g->wall, &g->volume, &g->grad,  &g->look_weight, &g->look_reach, &g->look_place};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
}

/* The layout of flow.h. */
static double through_faces(const flow *f, const flow_cotangent *given, const shape_places *places,
                            const pcsim_mesh_tangent *motion) {
  const int d = f->dim;
  double sum = 0, part[FACE_PARTS];
  for (int64_t k = 0; k < f->ni; k++) {
    const double *to = given->face + k * FLOW_FACE_WIDTH(d);
    shape_face(f->view, places, k, part);
    sum += shape_dot(d, to, motion->face_area + 3 * k) + shape_dot(d, to + d, part + FACE_LINE) +
           shape_dot(d, to + 2 * d, part + FACE_SKEW) + to[3 * d] * part[FACE_T] +
           to[3 * d + 1] * part[FACE_G];
  }
  return sum;
}

static double through_walls(const flow *f, const flow_cotangent *given, const shape_places *places,
                            const pcsim_mesh_tangent *motion, const gradient_maps *along) {
  const int d = f->dim;
  double sum = 0, part[FACE_PARTS];
  for (int64_t k = 0; k < f->nb; k++) {
    const double *to = given->wall + k * FLOW_WALL_WIDTH(d);
    shape_face(f->view, places, f->ni + k, part);
    sum += shape_dot(d, to, motion->face_area + 3 * (f->ni + k)) + shape_dot(d, to + d, part + FACE_LINE) +
           to[2 * d] * part[FACE_G] +
           to[2 * d + 1] * f->wall_order * along->share[k * FLOW_NUM_CLASSES + FLOW_CLASS_VELOCITY];
  }
  return sum;
}

/* Where a viscosity of place is taken. */
static double through_viscosity(const flow *f, const flow_cotangent *given,
                                const pcsim_mesh_tangent *motion) {
  double sum = 0;
  for (int64_t k = 0; given->place && k < f->ni + f->nb; k++)
    sum += shape_dot(f->dim, given->place + 4 * k, motion->face_centre + 3 * k);
  return sum;
}

static pcsim_status through_places(const flow *f, const flow_cotangent *given,
                                   const pcsim_mesh_tangent *motion, double *derivative) {
  const size_t size = (size_t)(f->n * (f->dim + 1) * f->dim);
  shape_places places;
  gradient_maps along = {0};
  double *d_grad = NULL;
  pcsim_status status;
  PCSIM_GOTO(shape_places_create(f->view, motion, &places), status, done);
  const dual_places constant = shape_places_of(&places);
  PCSIM_GOTO(flow_gradient_tangent(f, &constant, &along), status, done);
  PCSIM_GOTO(pcsim_alloc(size, sizeof *d_grad, &d_grad), status, done);
  flow_gradient_along(f, &along, d_grad);
  *derivative = shape_dot((int64_t)size, given->grad, d_grad) +
                shape_dot(f->n, given->volume, motion->cell_volume) + through_viscosity(f, given, motion) +
                through_faces(f, given, &places, motion) + through_walls(f, given, &places, motion, &along);
done:
  shape_places_free(&places);
  gradient_destroy(&along);
  pcsim_free(&d_grad);
  return status;
}

pcsim_status flow_shape_derivative(const flow *f, const flow_cotangent *given,
                                   const flow_functional *functional, const pcsim_mesh_tangent *motion,
                                   double *derivative) {
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(f->mesh), through_places(f, given, motion, derivative)));
  if (functional->on_faces) return PCSIM_OK;
  *derivative += shape_through_look(f->mesh, &functional->cells, functional->kind == PCSIM_FUNCTIONAL_POINT,
                                    functional->kind == PCSIM_FUNCTIONAL_MEAN, given->look_weight,
                                    given->look_reach, given->look_place, motion);
  return PCSIM_OK;
}
