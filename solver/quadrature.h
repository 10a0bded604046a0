/* SPDX-License-Identifier: BSD-2-Clause */
/** @file quadrature.h  Private to solver/: points at which integrals over faces and cells are taken. */
#ifndef PCSIM_SOLVER_QUADRATURE_H
#define PCSIM_SOLVER_QUADRATURE_H

#include <pcsim/mesh.h>

enum { QUADRATURE_FACE_MAX = 6, QUADRATURE_CELL_MAX = 8 };

typedef struct {
  double x[3], share; /**< of the area or volume; all shares are 1 together */
} quadrature_point;

/** Points of a face for integrals of polynomials of a degree: its centre up to 1; up to 3 Gauss's two points
 * in the plane, six points of a triangle in space (Strang and Fix 1973). Returns their number. */
int quadrature_of_face(const pcsim_mesh_view *v, int64_t face, int degree, quadrature_point *point);
/** Points of an owned cell for polynomials of degree 3 (4 in triangles: Strang and Fix 1973): any cell in the
 *  plane, a tetrahedron in space. Returns their number. */
int quadrature_of_cell(const pcsim_mesh_view *v, int64_t cell, quadrature_point *point);

#endif
