/* SPDX-License-Identifier: BSD-2-Clause */
/** @file gradient_second.h  Private to solver/: second derivatives of cells, and gradients that they correct.
 *
 *  The maps of gradient.h are exact for linear fields. What they make of a quadratic one is known from the
 *  mesh: with second derivatives H, g1 = g + T:H. Their differences over neighbouring cells, D = grad g1, are
 *  known as well: D = (1 + grad T):H. So H = S:D, S the least-squares inverse of 1 + grad T in each cell, and
 *  g = g1 - T:H, both exact for quadratic fields on any mesh, from two applications of compact maps
 *  (reconstruction by successive corrections: Haider, Courbet and Croisille, SIAM J. Numer. Anal. 56, 2018).
 *  Parts of H that the differences hardly see (a cell with too few neighbours) are damped.
 *
 *  Letters of array shapes as in gradient.h; s = d (d + 1)/2 second derivatives: xx, xy, yy, or xx, xy, xz,
 *  yy, yz, zz. */
#ifndef PCSIM_SOLVER_GRADIENT_SECOND_H
#define PCSIM_SOLVER_GRADIENT_SECOND_H

#include "gradient_excess.h"

#ifdef PCSIM_DUAL
#define second_create second_create_dual
#define second_destroy second_destroy_dual
#endif

typedef struct {
  int dim, num, num_classes; /**< num: s */
  int64_t num_cells;         /**< n */
  gradient_maps maps;        /**< of g1: nothing is given at boundaries */
  pcsim_real *excess;        /**< [C][n][d][s] T */
  pcsim_real *inverse;       /**< [C][n][s][d*d] S, by component and direction of D */
} second_maps;

/** Maps beside those of a request. Collective. Errors: as gradient_create. */
pcsim_status second_create(const gradient_request *request, const gradient_maps *first,
                           second_maps *maps) PCSIM_NODISCARD;
void second_destroy(second_maps *maps);

/** From g1 [nt][m][d], ghosts filled, to out [n][m][d + s]: gradients, then second derivatives.
 *  `differences` [n][m][d][d] and `node_value` [num_nodes][m*d] are workspaces. */
void second_apply(const second_maps *maps, int m, const int *class_of, const double *g1, double *differences,
                  double *node_value, double *out);
/** The transposed: out [n][m][d + s] (rows of owned cells) adds to g1 [nt][m][d]; what comes to ghosts
 * belongs to their owners. Same workspaces. */
void second_apply_transposed(const second_maps *maps, int m, const int *class_of, const double *out,
                             double *differences, double *node_value, double *g1);

/** Along the derivatives of the maps (gradient_tangent_create): d_out [n][m][d + s] of g1, whose own
 * derivative is d_g1 [nt][m][d]. Workspaces as before, and one more `differences`. */
void second_apply_tangent(const second_maps *maps, const second_maps *d_maps, int m, const int *class_of,
                          const double *g1, const double *d_g1, double *const differences[2],
                          double *node_value, double *d_out);

/** Derivatives of the maps of a request along those of its places (`dual`): `maps`, a gradient_maps, gets the
 *  structure of what gradient_create gives, with the derivatives in place of weights and shares; `second`, a
 *  second_maps, likewise, NULL: not wanted. The caller destroys both as those. Collective. Errors: as
 *  gradient_create. */
pcsim_status gradient_tangent_create(const gradient_request *request, void *maps,
                                     void *second) PCSIM_NODISCARD;

#endif
