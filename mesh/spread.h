/* SPDX-License-Identifier: BSD-2-Clause */
/** @file spread.h  Private to mesh/: inverse-distance interpolation of displacements from boundary nodes. */
#ifndef PCSIM_MESH_SPREAD_H
#define PCSIM_MESH_SPREAD_H

#include "box_tree.h"

/** A group of sources that are far away and close together: their weighted mean. */
typedef struct {
  double centre[3], value[3], weight, radius;
} spread_group;

/** What is interpolated. Explicit and linear in the values: w_i = A_i (r^-3 + l^2 r^-5) with the area A_i of
 * a boundary node and l a thirtieth of half the size of them all, so that nodes near a boundary follow its
 * nearest part (layers keep their shape) and the others each boundary by its distance and size. Groups that
 * are seen under less than an eighth count as one. Source: Luke, Collins and Blades, J. Comput. Phys. 231,
 * 2012. */
typedef struct {
  int64_t num;
  const double *point;  /**< [num][3] */
  const double *value;  /**< [num][3] */
  const double *weight; /**< [num] areas */
  double near2;         /**< l^2 */
  box *boxes;
  box_tree tree;
  spread_group *group; /**< [tree.num_nodes] */
} spread;

/** `point`, `value`, `weight` are borrowed. Errors: ERR_MEMORY. Free after a failure too. */
pcsim_status spread_make(int64_t num, const double *point, const double *value, const double *weight,
                         spread *s) PCSIM_NODISCARD;
void spread_free(spread *s);
/** The interpolated value at a point that is no source; 0 where there are no sources. */
void spread_at(const spread *s, const double point[3], double value[3]);

#endif
