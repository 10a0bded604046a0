/* SPDX-License-Identifier: BSD-2-Clause */
#include "quadrature.h"

#include <math.h>
#include <string.h>

static const double GAUSS = 0.57735026918962576451; /* 1/sqrt(3): two points on [-1, 1] */

static int in_triangle(const double *const corner[3], quadrature_point *point) {
  static const double near[2] = {0.445948490915964886, 0.091576213509770743},
                      share[2] = {0.223381589678011466, 0.109951743655321868};
  for (int k = 0; k < 6; k++) {
    const double a = near[k / 3];
    point[k].share = share[k / 3];
    for (int i = 0; i < 3; i++) {
      point[k].x[i] = (1 - 3 * a) * corner[k % 3][i];
      for (int c = 0; c < 3; c++) point[k].x[i] += a * corner[c][i];
    }
  }
  return 6;
}

int quadrature_of_face(const pcsim_mesh_view *v, int64_t face, int degree, quadrature_point *point) {
  const double *centre = v->face_centre + 3 * face;
  if (degree < 2) {
    memcpy(point->x, centre, sizeof point->x);
    point->share = 1;
    return 1;
  }
  const int32_t *node = v->face_node + v->face_node_start[face];
  if (v->dim == 3) {
    const double *corner[3];
    for (int k = 0; k < 3; k++) corner[k] = v->node + 3 * (int64_t)node[k];
    return in_triangle(corner, point);
  }
  for (int k = 0; k < 2; k++) {
    point[k].share = 0.5;
    for (int i = 0; i < 3; i++) {
      const double half = 0.5 * (v->node[3 * (int64_t)node[1] + i] - v->node[3 * (int64_t)node[0] + i]);
      point[k].x[i] = centre[i] + (k ? GAUSS : -GAUSS) * half;
    }
  }
  return 2;
}

/* Gauss's points of the square that is mapped to the cell. */
static int in_quadrilateral(const double *const corner[4], double area, quadrature_point *point) {
  static const double side[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (int k = 0; k < 4; k++) {
    double along[2][3] = {{0}};
    memset(point[k].x, 0, sizeof point[k].x);
    for (int c = 0; c < 4; c++) {
      const double r = 1 + GAUSS * side[k][0] * side[c][0], s = 1 + GAUSS * side[k][1] * side[c][1];
      for (int i = 0; i < 3; i++) {
        point[k].x[i] += 0.25 * r * s * corner[c][i];
        along[0][i] += 0.25 * side[c][0] * s * corner[c][i];
        along[1][i] += 0.25 * r * side[c][1] * corner[c][i];
      }
    }
    point[k].share = fabs(along[0][0] * along[1][1] - along[0][1] * along[1][0]) / area;
  }
  return 4;
}

/* Corners and centres of faces: exact for cubics, all shares positive. */
static int in_tetrahedron(const double *const corner[4], quadrature_point *point) {
  for (int k = 0; k < 4; k++) {
    point[k].share = 1. / 40, point[4 + k].share = 9. / 40;
    for (int i = 0; i < 3; i++) {
      point[k].x[i] = corner[k][i];
      point[4 + k].x[i] = 0;
      for (int c = 0; c < 4; c++)
        if (c != k) point[4 + k].x[i] += corner[c][i] / 3;
    }
  }
  return 8;
}

int quadrature_of_cell(const pcsim_mesh_view *v, int64_t cell, quadrature_point *point) {
  const int32_t *node = v->cell_node + v->cell_node_start[cell];
  const int num = (int)(v->cell_node_start[cell + 1] - v->cell_node_start[cell]);
  const double *corner[4] = {0};
  for (int k = 0; k < num; k++) corner[k] = v->node + 3 * (int64_t)node[k];
  if (v->dim == 3) return in_tetrahedron(corner, point);
  return num == 3 ? in_triangle(corner, point) : in_quadrilateral(corner, v->cell_volume[cell], point);
}
