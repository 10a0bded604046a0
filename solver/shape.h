/* SPDX-License-Identifier: BSD-2-Clause */
/** @file shape.h  Private to solver/: derivatives of what is made of the places of a mesh. */
#ifndef PCSIM_SOLVER_SHAPE_H
#define PCSIM_SOLVER_SHAPE_H

#include "gradient.h"
#include "look.h"

/** Places of a mesh with their derivatives along a motion. */
typedef struct {
  pcsim_dual *cell_centre, *face_centre, *face_area, *node; /**< as those of the mesh */
} shape_places;
/** Errors: ERR_MEMORY. Free after a failure too. */
pcsim_status shape_places_create(const pcsim_mesh_view *v, const pcsim_mesh_tangent *motion,
                                 shape_places *places) PCSIM_NODISCARD;
void shape_places_free(shape_places *places);
/** The same, constant. */
static inline dual_places shape_places_of(const shape_places *p) {
  return (dual_places){p->cell_centre, p->face_centre, p->face_area, p->node};
}
/** Derivatives of the parts of face k (face_parts.h), inside or at a boundary. */
void shape_face(const pcsim_mesh_view *v, const shape_places *places, int64_t k, double *along);

/** What comes to the places that a quantity looks at, [num], [num][d], [num][4], times their derivatives.
 * This rank's share; collective. `fixed`: a point that stays; `mean`: weights are shares of the volume. */
double shape_through_look(const pcsim_mesh *mesh, const look *l, bool fixed, bool mean, const double *weight,
                          const double *reach, const double *place, const pcsim_mesh_tangent *motion);

/** sum of a[i] b[i] */
double shape_dot(int64_t n, const double *a, const double *b);

#endif
