/* SPDX-License-Identifier: BSD-2-Clause */
/** @file look.h  Private to solver/: the cells that a quantity looks at, with weights and places. */
#ifndef PCSIM_SOLVER_LOOK_H
#define PCSIM_SOLVER_LOOK_H

#include <pcsim/mesh.h>

typedef struct {
  int64_t num;         /**< owned cells of this rank that count */
  int32_t *owner;      /**< [num] */
  double *weight;      /**< [num] */
  double *reach;       /**< [num][d] place - cell centre */
  double *coordinates; /**< [num][4] x, y, z of the places; the time is the caller's */
} look;

/** Cells of a region (NULL: all), weighted by their volumes, `mean`: divided by their sum. Collective.
 * Errors: ERR_ARG (no such region), ERR_MEMORY. look_free after a failure too. */
pcsim_status look_at_region(const pcsim_mesh *mesh, const char *region, bool mean, look *l) PCSIM_NODISCARD;
/** The cell around a point, weight 1. Collective. Errors: ERR_ARG (outside the mesh), ERR_MEMORY. */
pcsim_status look_at_point(const pcsim_mesh *mesh, const double point[3], look *l) PCSIM_NODISCARD;
void look_free(look *l);

#endif
