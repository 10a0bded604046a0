/* SPDX-License-Identifier: BSD-2-Clause */
/** @file domain.h  Private: where a network solves its equations. A domain has d <= 10 coordinates of space,
 * perhaps time, perhaps parameters of the case as further inputs; it is a shape in space times an interval
 * for each of the rest. Its boundary has named pieces: those of the shape (as `boundaries:` names them),
 * which last through time, and the start of time. Points are drawn by their place in a sequence, so a draw is
 * (seed, number of the draw). */
#ifndef PCSIM_PINN_DOMAIN_H
#define PCSIM_PINN_DOMAIN_H

#include "sequence.h"

#include <pcsim/autodiff.h>
#include <pcsim/mesh.h>

enum { DOMAIN_MAX = 12 /**< coordinates of all kinds */ };

typedef struct domain domain;
/** Borrowed. */
typedef struct {
  int num_coordinates;           /**< space, then time, then parameters */
  int num_space;                 /**< d */
  int time;                      /**< place of the time among the coordinates, -1: steady */
  const char *const *coordinate; /**< [num_coordinates] names */
  const double (*range)[2];      /**< [num_coordinates] of a box around the domain */
  int num_pieces;
  const char *const *piece; /**< [num_pieces] names of the shape's boundary; the start of time is no piece */
  double volume;            /**< of the shape in space, measured by points where there is no formula */
  const double *area;       /**< [num_pieces] likewise */
} domain_view;

/** Keys of `domain:`; `*n` gets how many. */
const pcsim_key *domain_keys(size_t *n);
/** Read `domain:` or `mesh:`, and `inputs:`:
 *
 *      domain: {box: {x: [0, 1], y: [0, 1], t: [0, 2]}, minus: {disk: {ball: {centre: [0.5, 0.5], radius:
 * 0.1}}}}
 *
 *  `plus`, `and`, `minus` hold named pieces, taken in this order; a piece is a box or a ball with pieces of
 * its own. Boundaries of the first box are x-min, x-max, ..., that of a first ball is `ball`, those of pieces
 * have their names. The shapes of `mesh:` are taken as boxes and cylinders, exactly, with the names of
 * boundaries that their meshes have; `domain: {t: [0, 1]}` may stand beside. Pieces of which nothing is left
 * are no longer in the view. Problems go to the tree; `*d` is NULL then. Caller destroys. Errors: ERR_MEMORY.
 */
pcsim_status domain_read(pcsim_tree *tree, domain **d) PCSIM_NODISCARD;
const domain_view *domain_get(const domain *d);
void domain_destroy(domain **d);
/** The sequence that points are drawn from, Sobol's unless told otherwise. */
void domain_use(domain *d, sequence_kind kind);

/** Is x [num_space] inside (true on the boundary within rounding)? */
bool domain_inside(const domain *d, const double *x);
/** The same with points that lie outside by less than `tolerance` times the size of the domain. */
bool domain_near(const domain *d, const double *x, double tolerance);
/** Piece on whose boundary x [num_space] lies within `tolerance` times the size of the domain; -1: none. */
int domain_on_piece(const domain *d, const double *x, double tolerance);
/** n points [n][num_coordinates] spread evenly over the inside (volume, time and parameters). Draws of a seed
 *  are independent of each other; the first points of a longer draw are those of a shorter one. Errors:
 * ERR_CASE where the domain is so thin that points are not found. */
pcsim_status domain_draw_inside(const domain *d, uint64_t seed, uint64_t draw, int64_t n,
                                double *points) PCSIM_NODISCARD;
/** The same on a piece, with normals [n][num_space] out of the domain. */
pcsim_status domain_draw_piece(const domain *d, int piece, uint64_t seed, uint64_t draw, int64_t n,
                               double *points, double *normals) PCSIM_NODISCARD;
/** The same at the start of time. */
pcsim_status domain_draw_start(const domain *d, uint64_t seed, uint64_t draw, int64_t n,
                               double *points) PCSIM_NODISCARD;
/** At most n points [n][num_coordinates] where pieces a and b meet (corners, edges, circles, at any time),
 * `*found` of them; 0: they do not meet. */
pcsim_status domain_draw_meeting(const domain *d, int a, int b, uint64_t seed, uint64_t draw, int64_t n,
                                 double *points, int64_t *found) PCSIM_NODISCARD;
/** A smooth function of `coordinates` [num_coordinates] that is zero on the pieces marked in `of`
 * [num_pieces] and positive in the rest of the closed domain, of order 1 inside, its slope at these pieces of
 * order 1 over the size of what they bound; written into `p`. PCSIM_NO_VALUE without a fault: none is known
 * for this shape, or nothing is marked (the condition is then penalised). domain_distance.c says which
 * function is used where, and how smooth it is. */
pcsim_value domain_distance(const domain *d, const bool *of, pcsim_program *p, pcsim_value coordinates);

/** Ball `i` of those taken away: centre [num_space] in the coordinates marked in `of`, radius. False past the
 * last. */
bool domain_hole(const domain *d, int i, bool *of, double *centre, double *radius);

/** A face of which the distance from it is a formula: a sphere, or a flat side behind which nothing of the
 * domain lies. */
typedef struct {
  bool sphere;
  bool outside;          /**< of a sphere: the domain lies outside of the ball */
  bool of[DOMAIN_MAX];   /**< coordinates of space that the ball is bounded in; of a side the one across it */
  double at[DOMAIN_MAX]; /**< centre of the ball; of a side its place */
  double radius;         /**< of the ball */
  int sign;              /**< of a side: 1 where the domain lies at larger coordinates */
} domain_wall;
/** Face `i` of a piece; `*known` false: it is none of these. False past the last. */
bool domain_get_wall(const domain *d, int piece, int i, domain_wall *wall, bool *known);

/** A value on a piece of the boundary: the output `output` of a program of the input "coordinates" (as
 * pcsim_lower makes it); `program` NULL: none. Two are the same if they share program and output. */
typedef struct {
  const pcsim_program *program;
  const char *output;
} domain_value;
/** Of the pieces that have values [num_pieces], those that domain_distance and domain_blend hold better than
 * a penalty: not surfaces, boxes that are taken away (re-entrant corners), parts of a union, and of two
 * solids that meet with different values the first one alone. The others are best left out of both. */
void domain_hold(const domain *d, const domain_value *values, bool *held);
/** A pair of conditions that do not agree where both hold. */
typedef struct {
  int piece, other; /**< -1: none found; `other` -1: the start of time */
  double point[DOMAIN_MAX];
  double value, other_value, difference;
} domain_contradiction;
/** The largest difference between the values of two pieces where they meet, and between those of a piece and
 *  `start` at the start of time (NULL: none), found in a few points of each pair. `difference` 0: none.
 *  Errors: those of evaluating the programs. */
pcsim_status domain_find_contradiction(const domain *d, const domain_value *values, const domain_value *start,
                                       domain_contradiction *worst) PCSIM_NODISCARD;
/** A function of `coordinates` (on `space`) that equals values[i] [num_pieces] on piece i, for all that have
 *  one; smooth where these are and agree where pieces meet. One value for all pieces is its own continuation.
 *  PCSIM_NO_VALUE without a fault: none is known, or solids meet on which values differ. */
pcsim_value domain_blend(const domain *d, const domain_value *values, pcsim_program *p, pcsim_space space,
                         pcsim_value coordinates);

#endif
