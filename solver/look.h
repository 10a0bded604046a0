/* SPDX-License-Identifier: BSD-2-Clause */
/** @file look.h  Private to solver/: the cells that a quantity looks at, with weights and places. */
#ifndef PCSIM_SOLVER_LOOK_H
#define PCSIM_SOLVER_LOOK_H

#include <pcsim/autodiff.h>
#include <pcsim/mesh.h>

typedef struct {
  int64_t num;         /**< owned cells of this rank that count */
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
void look_free(look *l);
/** Bind the cells to space and inputs "looks" of a program: looks.owner, looks.weight, looks.reach,
 *  looks.coordinates. They are borrowed. */
pcsim_status look_bind(const look *l, pcsim_executor *x) PCSIM_NODISCARD;

#endif
