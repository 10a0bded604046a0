/* SPDX-License-Identifier: BSD-2-Clause */
/** @file face_parts.h  Private to solver/: what a face makes of the places of its cells. */
#ifndef PCSIM_SOLVER_FACE_PARTS_H
#define PCSIM_SOLVER_FACE_PARTS_H

#include <pcsim/dual.h>

typedef struct {
  pcsim_real line[3]; /**< centre line, from the owner to the neighbour; at a boundary to the face */
  pcsim_real skew[3]; /**< face centre - point of the centre line; inside */
  pcsim_real t;       /**< where the face cuts the centre line, 0 at the owner; inside */
  pcsim_real g;       /**< S.S / S.d */
  pcsim_real through; /**< S.d, positive on a mesh that can be used */
} face_parts;

static inline pcsim_real face_dot(const pcsim_real *a, const pcsim_real *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Of area vector, face centre, centres of owner and neighbour, each [3]. */
static inline face_parts face_parts_inside(const pcsim_real *area, const pcsim_real *face,
                                           const pcsim_real *owner, const pcsim_real *neighbour) {
  face_parts p;
  pcsim_real e[3];
  for (int i = 0; i < 3; i++) p.line[i] = neighbour[i] - owner[i], e[i] = face[i] - owner[i];
  p.through = face_dot(area, p.line);
  p.t = face_dot(area, e) / p.through;
  for (int i = 0; i < 3; i++) p.skew[i] = e[i] - p.t * p.line[i];
  p.g = face_dot(area, area) / p.through;
  return p;
}

/** The same at a boundary. */
static inline face_parts face_parts_at_wall(const pcsim_real *area, const pcsim_real *face,
                                            const pcsim_real *owner) {
  face_parts p = {.t = 1};
  for (int i = 0; i < 3; i++) p.line[i] = face[i] - owner[i];
  p.through = face_dot(area, p.line);
  p.g = face_dot(area, area) / p.through;
  return p;
}

/** Derivatives of the parts, in the order line, skew, t, g (8 numbers), of a face; `neighbour` NULL: at a
 *  boundary (skew and t are 0). */
enum { FACE_LINE = 0, FACE_SKEW = 3, FACE_T = 6, FACE_G = 7, FACE_PARTS = 8 };
void face_parts_along(const pcsim_dual *area, const pcsim_dual *face, const pcsim_dual *owner,
                      const pcsim_dual *neighbour, double along[FACE_PARTS]);

#endif
