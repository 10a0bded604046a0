/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ansatz.h  Private: unknowns made of a network so that conditions hold whatever its weights are,
 *
 *      u = A(x, t) + B(x, t) N(x, t)
 *
 *  A takes the given values on the boundary and at the start, B is zero there (once for values, twice where
 * the derivative by time is given too). Between the pieces of the boundary A is domain_blend. Periods are
 * embedded: the network sees sine and cosine of the coordinate. About balls that are taken away it also sees
 * the logarithm of the distance (of up to ANSATZ_HOLES) and the direction (where there are no more than
 * ANSATZ_DIRECTIONS), in which what happens at a small body is as wide as the rest. Where conditions at walls
 * contradict the start, A has what diffusion makes of that, and the network sees it (ansatz_layer.c). */
#ifndef PCSIM_PINN_ANSATZ_H
#define PCSIM_PINN_ANSATZ_H

#include "corners.h"
#include "network.h"
#include "problem.h"

enum { ANSATZ_HOLES = 32, ANSATZ_DIRECTIONS = 4 };

typedef struct {
  const network_kind *network;
  network_options options;       /**< inputs and outputs are set here; `scale` is by coordinate */
  bool polar;                    /**< the network also sees polar coordinates about balls taken away */
  bool seam;                     /**< starts that jump or bend where their period ends are carried on */
  bool wall_layers;              /**< layers of walls that contradict the start are in A and inputs */
  bool wall_rates;               /**< what walls make of starts that do not fit is carried on, too */
  const char *prefix;            /**< of the network's parameters */
  double magnitude[PROBLEM_MAX]; /**< [num_unknowns] of the unknowns: the network's outputs are of order 1 */
  const double (*range)[2];      /**< [num_space] of a box around where it is wanted; NULL: the domain's */
  bool stream;                   /**< u, v of the built-in flow in the plane are u = psi_y, v = -psi_x of
                                    the first output; the network has one less */
  const char *shared;            /**< prefix of coefficients that are numbers; NULL: as `prefix` */
  double time[2];                /**< span of time that it is for; unused in a steady problem */
  const pcsim_program *start;    /**< unknowns at time[0] in place of `initial:`: outputs by their names and,
                                    where the equations have a second derivative by time, "NAME_t"; NULL: as
                                    the case has it. Its parameters are to be left as they are */
  const pcsim_program *base;     /**< A is this, outputs by the names of the unknowns, which satisfies what is
                                    built in; NULL: as said above. Its parameters are to be left as they are */
} ansatz_options;

/** Walls at which the start does not agree with the equation (ansatz_wall.c). */
typedef struct {
  double diffusion; /**< D of u_t = D u_xx + ... */
  double rate[2];   /**< u_t of the start by the equation less that of the wall's value, at the begin and the
                       end of   x; 0: they agree, or nothing is known */
} ansatz_walls;

/** Where the ends of a period meet and the start, or its slope, jumps: it is carried on by the heat equation,
 * in A and as inputs of the network (ansatz_seam.c). */
typedef struct {
  double diffusion; /**< D of u_t = D u_xx + ... */
  double jump[2];   /**< of the start and of its slope, from the end of the period to its begin */
  int images;       /**< of the seam on either side; 0: there is no seam, or nothing is known of it */
} ansatz_seam;

typedef struct {
  pcsim_program
      *fields; /**< of input "coordinates" on space "points": outputs by the names of the unknowns */
  bool *built; /**< [num_conditions] holds whatever the weights are */
  ansatz_walls walls;
  ansatz_seam *seam; /**< [num_solved]; owned; NULL: of a whole that is made of regions */
  bool *layered;     /**< [num_conditions] contradicts the start; the layers of its walls are in A */
} ansatz;

/** Are the jumps of an unknown's start over the period carried on by an ansatz with the option `seam`? */
pcsim_status ansatz_carries_seam(const problem *p, int unknown, bool *carried) PCSIM_NODISCARD;
/** Is it a steady plane flow with velocities given all around, whose walls at rest hang together? Then a
 * stream function is worth its third derivatives. */
pcsim_status ansatz_closed(const problem *p, const domain *d, bool *closed) PCSIM_NODISCARD;
/** Corners and sides of a plane flow at which the given velocities contradict continuity: the vorticity
 * depends on the direction there, the pressure is infinite like the logarithm of the distance. */
pcsim_status ansatz_corners(const problem *p, const domain *d, corners *c) PCSIM_NODISCARD;
/** Problems of the case (values that contradict each other, with the place) go to the tree; `a->fields` stays
 * NULL then. Caller clears. */
pcsim_status ansatz_build(const problem *p, const domain *d, const ansatz_options *options,
                          ansatz *a) PCSIM_NODISCARD;
void ansatz_clear(ansatz *a);
/** Names of the places of conditions whose layers are in A, as "big*, small*"; caller frees. */
pcsim_status ansatz_layer_names(const problem *p, const ansatz *a, char **text) PCSIM_NODISCARD;
/** Names of what is built in, or is not, as "u on x-min, x-max; initial u"; caller frees. */
pcsim_status ansatz_names(const problem *p, const ansatz *a, bool built, char **text) PCSIM_NODISCARD;

#endif
