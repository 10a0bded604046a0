/* SPDX-License-Identifier: BSD-2-Clause */
/** @file shape.h  Private to domain_*.c: solids of space and what is made of them.
 *
 *  A domain is a list of solids (boxes, balls, what a surface encloses) and a list of operations on them,
 * each after what it works on. The surface of a solid is a list of faces (the sides of a box, the sphere of a
 * ball, the patches of a surface); the boundary of the domain is what is left of the faces. A piece is one or
 * more faces with one name.
 *
 *  The level of a solid is positive inside, negative outside, 0 on the surface and close to it the signed
 *  distance from it. Union, intersection and complement are the maximum, the minimum and the negative. */
#ifndef PCSIM_PINN_SHAPE_H
#define PCSIM_PINN_SHAPE_H

#include "domain.h"
#include "sequence.h"
#include "surface.h"

enum {
  SPACE_MAX = 10,
  SOLIDS_MAX = 256,
  STEPS_MAX = 2 * SOLIDS_MAX,
  PIECES_MAX = SOLIDS_MAX + 2 * SPACE_MAX /**< of the boundary */
};

typedef enum { SOLID_BOX, SOLID_BALL, SOLID_SURFACE } solid_kind;
typedef struct {
  solid_kind kind;
  bool bounded[SPACE_MAX];                /**< coordinates that the solid is bounded in */
  double low[SPACE_MAX], high[SPACE_MAX]; /**< a box around it; of the domain where it is not bounded */
  double centre[SPACE_MAX], radius;       /**< of a ball, in the bounded coordinates */
  int piece[2 * SPACE_MAX]; /**< whose boundary each of its faces makes: sides of a box, lower one first */
  surface *surface;         /**< owned by the domain; it bounds all coordinates */
  int *patch_piece;         /**< [patches of the surface] instead of `piece` */
  const pcsim_node *node;   /**< where the case names a piece; NULL after reading */
} solid;

typedef enum { STEP_SOLID, STEP_PLUS, STEP_AND, STEP_MINUS } step_kind;
/** A solid, or an operation on the results of two earlier steps. */
typedef struct {
  step_kind kind;
  int solid, left, right; /**< `solid` of STEP_SOLID, the others of the rest */
} step;

typedef struct {
  int solid, side; /**< 2 i: lower side of coordinate i, 2 i + 1: upper side; of a ball 0;
                      of a surface the patch */
  int piece;       /**< -1: nothing of it is left */
  double area;     /**< of the whole face */
  double kept;     /**< part of it that is boundary of the domain, 0 to 1 */
} face;

struct domain {
  domain_view view;
  sequence_kind sequence;
  int num_solids, num_steps, num_faces;
  solid *solids;
  step *steps; /**< the last one is the domain */
  face *faces;
  double size;        /**< diagonal of the box around the domain in space */
  double tolerance;   /**< lengths below are rounding */
  double offset;      /**< how far from a face it is looked for what lies on either side */
  double volume_part; /**< volume over that of the box around the domain */
  int num_names;
  char **names; /**< of coordinates, then of pieces */
  char **name_list;
  double (*range)[2], *area;
};

/* ------------------------------------------------------------------ shape.c */

/** Signed level of a solid, of the domain at x [num_space]. */
double solid_level(const solid *s, int num_space, const double *x);
double shape_level(const domain *d, const double *x);
/** Volume of a solid within its box. */
double solid_volume(const solid *s, int num_space);

/** How many numbers between 0 and 1 a point inside a box or ball, on any face takes. */
int solid_numbers(const solid *s, int num_space);
int face_numbers(const domain *d, const face *f);
/** The point inside a box or ball, uniform by volume, that belongs to u [solid_numbers]. */
void solid_point(const solid *s, int num_space, const double *u, double *x);
/** The point on a face, uniform by area, that belongs to u [face_numbers], and the normal out of the solid.
 */
void face_point(const domain *d, const face *f, const double *u, double *x, double *normal);
/** Is x on this face boundary of the domain? Then `normal`, out of the solid, is turned out of the domain. */
bool face_keeps(const domain *d, const face *f, const double *x, double *normal);
/** The point `on` (may be x) of a face nearest to x [num_space], and the normal out of the solid; false if it
 * is further than `distance`, or x is as far beyond the face's edges. */
bool domain_project(const domain *d, const face *f, const double *x, double distance, double *on,
                    double *normal);
/** Number of faces of a solid. */
int solid_num_faces(const domain *d, int solid);
/** Faces of a solid appended; `d->faces` has room. */
void solid_faces(domain *d, int solid);

/* ---------------------------------------------------------------- measure.c */

/** Parts of faces that are left, volume, areas; faults (nothing inside, solids without effect) go to the
 *  tree. */
pcsim_status domain_measure(domain *d, pcsim_tree *tree, const pcsim_node *at) PCSIM_NODISCARD;

#endif
