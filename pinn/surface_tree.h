/* SPDX-License-Identifier: BSD-2-Clause */
/** @file surface_tree.h  Private to surface*.c: what a surface is made of. */
#ifndef PCSIM_PINN_SURFACE_TREE_H
#define PCSIM_PINN_SURFACE_TREE_H

#include "surface.h"

/** Inner nodes (count 0): children at place + 1 and `other`. Leaves: `count` items from `first`. */
typedef struct {
  double low[3], high[3];
  double area[3];           /**< sum of the areas as vectors */
  double centre[3], radius; /**< mean of the elements by area, and how far they reach from it */
  int32_t first, count, other;
} surface_node;

struct surface {
  int dim, num_patches;
  int64_t num;
  double *corner;  /**< [num][3 corners][3]; z = 0 in the plane, where the third corner is unused */
  double *normal;  /**< [num][3] */
  double *measure; /**< [num] length or area */
  int32_t *patch;  /**< [num] */
  double volume;
  surface_node *node;
  int32_t *item; /**< [num] elements in the order of the leaves */

  int64_t *patch_start; /**< [num_patches + 1] */
  int64_t *by_patch;    /**< [num] elements patch by patch */
  double *area_until;   /**< [num] area of the patch up to and with this one */

  int64_t num_corners;     /**< different ones */
  int64_t *corner_number;  /**< [num][3] */
  int64_t *corner_start;   /**< [num_corners + 1] */
  int64_t *corner_element; /**< elements around each */
};

/** The tree over the elements. */
pcsim_status surface_grow(surface *s) PCSIM_NODISCARD;

#endif
