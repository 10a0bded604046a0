/* SPDX-License-Identifier: BSD-2-Clause */
/** @file look.h  Private to solver/: the cells that a quantity looks at, with weights and places. */
#ifndef PCSIM_SOLVER_LOOK_H
#define PCSIM_SOLVER_LOOK_H

#include <pcsim/autodiff.h>
#include <pcsim/physics.h>

typedef struct {
  int64_t num;         /**< owned cells of this rank that count, or places in them */
  int32_t *owner;      /**< [num] */
  double *weight;      /**< [num] */
  double *reach;       /**< [num][d] place - cell centre */
  double *coordinates; /**< [num][4] x, y, z of the places; the time is the caller's */
} look;

/** Which boundaries are named, [num_patches]; caller frees, after a failure too. Errors: ERR_ARG (none named,
 * no such boundary), ERR_MEMORY. */
pcsim_status look_for_boundaries(const pcsim_mesh *mesh, int num_names, const char *const *names,
                                 bool **wanted) PCSIM_NODISCARD;
/** Cells of regions (none named: all), weighted by their volumes, `mean`: divided by their sum. Collective.
 * Errors: ERR_ARG (no such region), ERR_MEMORY. look_free after a failure too. */
pcsim_status look_at_regions(const pcsim_mesh *mesh, int num_names, const char *const *names, bool mean,
                             look *l) PCSIM_NODISCARD;
/** The cell around a point, weight 1. Collective. Errors: ERR_ARG (outside the mesh), ERR_MEMORY. */
pcsim_status look_at_point(const pcsim_mesh *mesh, const double point[3], look *l) PCSIM_NODISCARD;
/** Points of quadrature of all cells in the plane, weighted by their shares of the volumes. Local. Errors:
 * ERR_MEMORY. look_free after a failure too. */
pcsim_status look_at_points(const pcsim_mesh *mesh, look *l) PCSIM_NODISCARD;
void look_free(look *l);
/** Bind the places to a space of a program and its inputs SPACE.owner, SPACE.weight, SPACE.reach,
 *  SPACE.coordinates. They are borrowed. */
pcsim_status look_bind(const look *l, const char *space, pcsim_executor *x) PCSIM_NODISCARD;

/** Cells whose fields have weights in a functional. */
typedef struct {
  int64_t num;    /**< owned cells with a weight that is not 0 */
  int32_t *owner; /**< [num] */
  double *weight; /**< [num][m][1 + d] of values and gradients */
} look_weighted;
/** Those of the fields `field` [m]. Local. Errors: ERR_MEMORY. look_free_weighted after a failure too. */
pcsim_status look_at_weights(const pcsim_mesh *mesh, const pcsim_field_weights *weights, int m,
                             const int *field, look_weighted *l) PCSIM_NODISCARD;
void look_free_weighted(look_weighted *l);
/** Bind to space and inputs "weighted" of a program: weighted.owner, weighted.weight. They are borrowed. */
pcsim_status look_bind_weighted(const look_weighted *l, pcsim_executor *x) PCSIM_NODISCARD;

#endif
