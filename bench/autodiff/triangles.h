/* SPDX-License-Identifier: BSD-2-Clause */
/** @file triangles.h  A mesh of triangles with the data of a finite-volume scheme. */
#ifndef PCSIM_BENCH_AUTODIFF_TRIANGLES_H
#define PCSIM_BENCH_AUTODIFF_TRIANGLES_H

#include <pcsim/base.h>

/** Unit square; all arrays owned by the mesh. Faces are sorted by owner; owner < neighbour. */
typedef struct {
  int64_t num_nodes, num_cells, num_faces, num_walls;
  double *node;    /**< [nodes][2] */
  int32_t *corner; /**< [cells][3] */
  double *centre;  /**< [cells][2] */
  double *volume;  /**< [cells] */
  double *reach;   /**< [cells][6]: from the centre to the middle of each face */
  int64_t *start;  /**< [cells + 1]: cells that share a node with the cell, and itself, the last of a row */
  int32_t *column; /**< [entries], ascending but for the cell itself */
  double *weight;  /**< [entries][2]: gradient by least squares */
  int32_t *owner;  /**< [faces] */
  int32_t *neighbour; /**< [faces] */
  double *face;    /**< [faces][7]: from the owner's, the neighbour's centre to the middle of the face (2, 2);
                      area vector out of the owner (2); area^2 / (area . distance of the centres) */
  int32_t *inside; /**< [walls]: the cell */
  double *wall;    /**< [walls][5]: from the centre to the middle of the face (2), area vector outwards (2),
                      area^2 / (area . distance) */
  int64_t *side_start; /**< [cells + 1]: the faces of each cell, without walls */
  int32_t *side_face;  /**< [2 faces], ascending in each cell */
  double *side_sign;   /**< [2 faces]: 1 of the owner, -1 of the neighbour */
} triangles;

/** side x side squares, cut along one diagonal or the other, nodes moved by up to a quarter of a side. Cells
 * are numbered along rows of strips of 32 squares. */
pcsim_status triangles_create(int side, triangles *mesh) PCSIM_NODISCARD;
void triangles_destroy(triangles *mesh);

#endif
