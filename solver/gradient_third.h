/* SPDX-License-Identifier: BSD-2-Clause */
/** @file gradient_third.h  Private to solver/: third derivatives of cells, and first and second ones that
 * they correct: gradient_second.h once more.
 *
 *  What its maps make of a cubic field is known from the mesh: with third derivatives C, g2 = g + T:C and
 *  H2 = H + U:C. The differences of H2 over neighbouring cells are D = (1 + grad U):C, so C = S:D with the
 *  damped least-squares inverse S in each cell, g = g2 - T:C and H = H2 - U:C, all exact for cubic fields on
 *  any mesh (Haider, Courbet and Croisille, SIAM J. Numer. Anal. 56, 2018).
 *
 *  Letters of array shapes as in gradient_second.h; c = d (d + 1) (d + 2)/6 third derivatives (third_index).
 */
#ifndef PCSIM_SOLVER_GRADIENT_THIRD_H
#define PCSIM_SOLVER_GRADIENT_THIRD_H

#include "gradient_second.h"

typedef struct {
  const second_maps *second; /**< borrowed */
  int num;                   /**< c */
  double *excess;            /**< [C][n][d + s][c] T, then U */
  double *inverse;           /**< [C][n][c][s*d] S, by second derivative and direction of D */
} third_maps;

/** Maps beside those of a request; `second` is borrowed for the maps' life. Collective. Errors: as
 *  gradient_create. */
pcsim_status third_create(const gradient_request *request, const gradient_maps *first,
                          const second_maps *second, third_maps *maps) PCSIM_NODISCARD;
void third_destroy(third_maps *maps);

/** From corrected [n][m][d + s] of second_apply and its second derivatives alone, bend [nt][m][s], ghosts
 *  filled, to out [n][m][d + s + c]. `differences` [n][m][s][d] and `node_value` [num_nodes][m*s] are
 *  workspaces. */
void third_apply(const third_maps *maps, int m, const int *class_of, const double *corrected,
                 const double *bend, double *differences, double *node_value, double *out);
/** The transposed: out [n][m][d + s + c] (rows of owned cells) adds to corrected [n][m][d + s] and to
 *  bend [nt][m][s]; what comes to ghosts belongs to their owners. Same workspaces. */
void third_apply_transposed(const third_maps *maps, int m, const int *class_of, const double *out,
                            double *differences, double *node_value, double *corrected, double *bend);

#endif
