/* SPDX-License-Identifier: BSD-2-Clause */
/** @file domain.h  Private: where a network solves its equations. A domain has d <= 10 coordinates of space,
 * perhaps time, perhaps parameters of the case as further inputs; it is a shape in space times an interval
 * for each of the rest. Its boundary has named pieces: those of the shape (as `boundaries:` names them),
 * which last through time, and the start of time. Points are drawn by their place in a sequence, so a draw is
 * (seed, number of the draw). */
#ifndef PCSIM_PINN_DOMAIN_H
#define PCSIM_PINN_DOMAIN_H

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

/** Read `domain:` (box, ball, minus, plus, and; or the mesh of `mesh:`) and `inputs:`; problems go to the
 * tree. Caller destroys. */
pcsim_status domain_read(pcsim_tree *tree, domain **d) PCSIM_NODISCARD;
const domain_view *domain_get(const domain *d);
void domain_destroy(domain **d);

/** Signed: is x [num_space] inside (true on the boundary within rounding)? */
bool domain_inside(const domain *d, const double *x);
/** Piece on whose boundary x [num_space] lies within `tolerance` times the size of the domain; -1: none. */
int domain_on_piece(const domain *d, const double *x, double tolerance);
/** n points [n][num_coordinates] spread evenly over the inside (volume, time and parameters): numbers `first`
 * ... of the sequence `draw` of `seed`. */
pcsim_status domain_draw_inside(const domain *d, uint64_t seed, uint64_t draw, int64_t n,
                                double *points) PCSIM_NODISCARD;
/** The same on a piece, with normals [n][num_space] out of the domain. */
pcsim_status domain_draw_piece(const domain *d, int piece, uint64_t seed, uint64_t draw, int64_t n,
                               double *points, double *normals) PCSIM_NODISCARD;
/** The same at the start of time. */
pcsim_status domain_draw_start(const domain *d, uint64_t seed, uint64_t draw, int64_t n,
                               double *points) PCSIM_NODISCARD;
/** A smooth function of `coordinates` [num_coordinates] that is zero on the pieces marked in `of`
 * [num_pieces], positive in the rest of the closed domain, with slope of order 1 at these pieces, and of
 * order 1 inside; written into `p`. PCSIM_NO_VALUE without a fault: none is known for this shape (the
 * condition is then penalised). */
pcsim_value domain_distance(const domain *d, const bool *of, pcsim_program *p, pcsim_value coordinates);

#endif
