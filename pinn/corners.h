/* SPDX-License-Identifier: BSD-2-Clause */
/** @file corners.h  Private: points that are denser towards corners of a plane domain in which the solution
 * is singular, each with the weight that keeps sums over them integrals.
 *
 *  Inside, a share s of the points lies at the corners, the logarithm of the distance r and the direction
 * spread evenly; the density of all is
 *
 *      q(x) = (1 - s) / V + (s / num) sum_k 1 / (M_k r_k^2),    M_k = integral of 1 / r_k^2,
 *
 *  over the part of the domain with radius[0] < r_k < radius[1], and a point has the weight 1 / (V q). On a
 * straight side of a corner it is the same with 1 / r_k and the length of the piece. Residuals of size 1 / r
 * so count alike in each power of ten of the distance. */
#ifndef PCSIM_PINN_CORNERS_H
#define PCSIM_PINN_CORNERS_H

#include "domain.h"

enum { CORNERS_MAX = 4 };

/** A straight side. */
typedef struct {
  int piece;
  double along[2];  /**< direction away from the corner, a unit vector */
  double normal[2]; /**< out of the domain */
  double measure;   /**< integral of 1 / r over what lies on the piece */
} corner_side;
typedef struct {
  double at[2];
  corner_side side[2];
  double measure; /**< M */
} corner;
typedef struct {
  int num; /**< 0: points are as they were, weights are 1 */
  corner corner[CORNERS_MAX];
  double radius[2]; /**< least and largest distance of the points that are added */
  double share;     /**< s */
} corners;

/** Fill radii and measures in for the corners, sides and share that are there. */
void corners_measure(const domain *d, corners *c);
/** Move a share of n points [n][num_coordinates] that are spread evenly over the inside (the last ones; their
 *  time and inputs stay) to the corners. What comes out depends on the arguments alone. Errors: ERR_CASE
 * where hardly any point near a corner is inside. */
pcsim_status corners_move_inside(const domain *d, const corners *c, uint64_t seed, uint64_t draw, int64_t n,
                                 double *points) PCSIM_NODISCARD;
/** The same on a piece, with normals [n][num_space]. */
pcsim_status corners_move_piece(const domain *d, const corners *c, int piece, uint64_t seed, uint64_t draw,
                                int64_t n, double *points, double *normals) PCSIM_NODISCARD;
/** Weight of a point inside, of a point on a piece. */
double corners_weight_inside(const domain *d, const corners *c, const double *x);
double corners_weight_piece(const domain *d, const corners *c, int piece, const double *x);
/** How much more the square of a value counts at a point of a piece near a corner, beside its weight: (R /
 * r)^3 for r < R, part of the largest radius; 1 beyond. A velocity that is wrong by e r on a side makes the
 * vorticity at the distance r wrong by e, and residuals by e / r: with this both count alike in each power of
 * ten, as they do in the norms that belong together (squares of second derivatives inside, H^3/2 on the
 * boundary). */
double corners_stress(const corners *c, int piece, const double *x);

#endif
