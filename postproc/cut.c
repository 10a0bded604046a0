/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of cells and faces with a plane of constant z. */
#include "draw.h"

#include <math.h>
#include <string.h>

/* Edges of each cell type in VTK's node order. */
static const int8_t tetra_edges[][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
static const int8_t pyramid_edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}};
static const int8_t prism_edges[][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5},
                                        {5, 3}, {0, 3}, {1, 4}, {2, 5}};
static const int8_t hexa_edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                       {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
static const struct {
  const int8_t (*edges)[2];
  int n;
} edges_of[PCSIM_NUM_CELL_TYPES] = {[PCSIM_CELL_TETRA] = {tetra_edges, 6},
                                    [PCSIM_CELL_PYRAMID] = {pyramid_edges, 8},
                                    [PCSIM_CELL_PRISM] = {prism_edges, 9},
                                    [PCSIM_CELL_HEXA] = {hexa_edges, 12}};

/* Where the edge a-b crosses the plane; the order of a and b does not change the bits, so that cells that
 * share an edge agree. */
static void add_crossing(const double *a, const double *b, double z, cut_shape *shape) {
  if ((a[2] < z) == (b[2] < z) || shape->n == CUT_MAX) return;
  if (a[2] > b[2]) {
    const double *swap = a;
    a = b, b = swap;
  }
  double t = (z - a[2]) / (b[2] - a[2]);
  double *p = shape->point[shape->n++];
  for (int k = 0; k < 2; k++) p[k] = a[k] + t * (b[k] - a[k]);
  p[2] = z;
}

/* Corners of a convex section in cyclic order. */
static void sort_around(cut_shape *shape) {
  double cx = 0, cy = 0, angle[CUT_MAX];
  for (int i = 0; i < shape->n; i++) cx += shape->point[i][0] / shape->n, cy += shape->point[i][1] / shape->n;
  for (int i = 0; i < shape->n; i++) angle[i] = atan2(shape->point[i][1] - cy, shape->point[i][0] - cx);
  for (int i = 1; i < shape->n; i++) {
    double a = angle[i], p[3];
    memcpy(p, shape->point[i], sizeof p);
    int j = i;
    for (; j > 0 && angle[j - 1] > a; j--) {
      angle[j] = angle[j - 1];
      memcpy(shape->point[j], shape->point[j - 1], sizeof p);
    }
    angle[j] = a;
    memcpy(shape->point[j], p, sizeof p);
  }
}

void cut_cell(const pcsim_mesh_view *mesh, int64_t cell, double z, cut_shape *shape) {
  const int32_t *node = mesh->cell_node + mesh->cell_node_start[cell];
  const int n = (int)(mesh->cell_node_start[cell + 1] - mesh->cell_node_start[cell]),
            type = mesh->cell_type[cell];
  shape->n = 0;
  if (mesh->dim == 2) {
    for (int i = 0; i < n; i++)
      memcpy(shape->point[shape->n++], mesh->node + 3 * (int64_t)node[i], 3 * sizeof(double));
    return;
  }
  for (int e = 0; e < edges_of[type].n; e++)
    add_crossing(mesh->node + 3 * (int64_t)node[edges_of[type].edges[e][0]],
                 mesh->node + 3 * (int64_t)node[edges_of[type].edges[e][1]], z, shape);
  sort_around(shape);
}

void cut_face(const pcsim_mesh_view *mesh, int64_t face, double z, cut_shape *shape) {
  const int32_t *node = mesh->face_node + mesh->face_node_start[face];
  const int n = (int)(mesh->face_node_start[face + 1] - mesh->face_node_start[face]);
  shape->n = 0;
  if (mesh->dim == 2) {
    for (int i = 0; i < n && i < 2; i++)
      memcpy(shape->point[shape->n++], mesh->node + 3 * (int64_t)node[i], 3 * sizeof(double));
    return;
  }
  for (int i = 0; i < n; i++)
    add_crossing(mesh->node + 3 * (int64_t)node[i], mesh->node + 3 * (int64_t)node[(i + 1) % n], z, shape);
  if (shape->n != 2) shape->n = 0;
}
