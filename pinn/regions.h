/* SPDX-License-Identifier: BSD-2-Clause */
/** @file regions.h  Private: materials of a domain. A region is where its condition holds and that of no
 * region before it; what is left is the region `rest`. Conditions are of space alone. Between two regions
 * that touch lies an interface, with points on it and normals. */
#ifndef PCSIM_PINN_REGIONS_H
#define PCSIM_PINN_REGIONS_H

#include "domain.h"

enum { REGIONS_MAX = 64, INTERFACES_MAX = 256 };

/** Two regions that touch. */
typedef struct {
  int inner, outer; /**< normals point from the one to the other; the first has the lower number */
  double area;
} region_interface;

typedef struct regions regions;
/** Borrowed. */
typedef struct {
  int num;
  const char *const *name;              /**< [num] */
  const char *const *condition;         /**< [num] as the case has it; NULL: the rest */
  const char *const *closed;            /**< [num] the condition with its border; NULL: the rest */
  const double (*range)[DOMAIN_MAX][2]; /**< [num][num_space] of a box around what is in the domain */
  const double *volume;                 /**< [num] */
  int num_interfaces;
  const region_interface *interface; /**< [num_interfaces] */
} regions_view;

/** Read `regions:` of `domain:` or of `mesh:`,
 *
 *      regions: {core: "(x-1)^2 + (y-0.5)^2 < 0.09", left: "x < 0 and y > 0"}
 *
 *  comparisons joined by and, or, not. Problems go to the tree: what is no comparison, a region without a
 * point in the domain. `*r` is NULL then, and where there are no regions. Borrows the domain. Caller
 * destroys. Errors: ERR_MEMORY. */
pcsim_status regions_read(pcsim_tree *tree, const domain *d, regions **r) PCSIM_NODISCARD;
/** The node that names them, NULL: none. */
const pcsim_node *regions_node(const pcsim_tree *tree);
void regions_destroy(regions **r);
const regions_view *regions_get(const regions *r);

/** Region that x [num_space] lies in: the first whose condition holds, or else the rest; where nothing is the
 * rest, the first whose border x is on. */
int regions_find(const regions *r, const double *x);
/** Share of a piece of the domain's boundary that belongs to a region. */
double regions_share(const regions *r, int region, int piece);

/** As domain_draw_inside, domain_draw_start and domain_draw_piece, in one region. */
pcsim_status regions_draw_inside(const regions *r, int region, uint64_t seed, uint64_t draw, int64_t n,
                                 double *points) PCSIM_NODISCARD;
pcsim_status regions_draw_start(const regions *r, int region, uint64_t seed, uint64_t draw, int64_t n,
                                double *points) PCSIM_NODISCARD;
pcsim_status regions_draw_piece(const regions *r, int region, int piece, uint64_t seed, uint64_t draw,
                                int64_t n, double *points, double *normals) PCSIM_NODISCARD;
/** n points [n][num_coordinates] on an interface, uniform by area, with normals [n][num_space] from its inner
 * to its outer region: where random lines, uniform among all lines through the domain, cross it. */
pcsim_status regions_draw_interface(regions *r, int interface, uint64_t seed, uint64_t draw, int64_t n,
                                    double *points, double *normals) PCSIM_NODISCARD;

#endif
