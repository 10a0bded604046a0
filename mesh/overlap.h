/* SPDX-License-Identifier: BSD-2-Clause */
/** @file overlap.h  Private to mesh/: what two cells have in common, for transfer between meshes.
 *
 *  A cell is a few convex pieces: itself where it is convex with plane faces, else the tetrahedra (triangles
 * in the plane) between the average of its nodes and the triangles of its faces, the same ones as for its
 * volume. */
#ifndef PCSIM_MESH_OVERLAP_H
#define PCSIM_MESH_OVERLAP_H

#include "fv.h"

/* Pieces: a hexahedron's six faces of four triangles. */
enum { OVERLAP_PIECES = 24, OVERLAP_FACES = 6, OVERLAP_CORNERS = 4 };

/** A convex polyhedron by its faces, or in the plane a convex polygon as its one face. */
typedef struct {
  int num_faces;
  int size[OVERLAP_FACES];
  double corner[OVERLAP_FACES][OVERLAP_CORNERS][3];
} overlap_piece;

/** The half-spaces x . normal <= offset whose intersection a piece is. */
typedef struct {
  int num;
  double normal[OVERLAP_FACES][3], offset[OVERLAP_FACES];
} overlap_bounds;

typedef struct {
  int num;
  overlap_piece piece[OVERLAP_PIECES];
  overlap_bounds bounds[OVERLAP_PIECES];
  double low[OVERLAP_PIECES][3], high[OVERLAP_PIECES][3]; /**< box around each piece */
} overlap_cell;

/** The pieces of a cell with these nodes ([..][3], of the array `nodes`). */
void overlap_cell_make(const double *nodes, pcsim_cell_type type, const int32_t *cell, overlap_cell *out);
/** Adds the volume (area) that both have in common, and its first moment about the origin. False, with part
 * of it, if there was no room for the corners: round-off has made a plane meet the rim of a face more than
 * twice. */
bool overlap_cells(int dim, const overlap_cell *a, const overlap_cell *b, double *volume,
                   double moment[3]) PCSIM_NODISCARD;

#endif
