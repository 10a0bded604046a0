/* SPDX-License-Identifier: BSD-2-Clause */
/* Volumes, centres and area vectors. A face with four nodes need not be plane: it stands for the four
 * triangles around the average of its nodes, for its own area and for both cells, so cells are closed and
 * fill space whatever the distortion. Compiled twice: geometry_dual.c gives the derivatives. */
#include "fv.h"

#include <pcsim/dual.h>

static void cross(const pcsim_real a[3], const pcsim_real b[3], pcsim_real c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}
static pcsim_real dot(const pcsim_real a[3], const pcsim_real b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void subtract(const pcsim_real a[3], const pcsim_real b[3], pcsim_real c[3]) {
  for (int d = 0; d < 3; d++) c[d] = a[d] - b[d];
}

static void triangle_geometry(const pcsim_real *a, const pcsim_real *b, const pcsim_real *c,
                              pcsim_real area[3], pcsim_real centre[3]) {
  pcsim_real u[3], v[3];
  subtract(b, a, u);
  subtract(c, a, v);
  cross(u, v, area);
  for (int d = 0; d < 3; d++) {
    area[d] *= 0.5;
    centre[d] = a[d] + (u[d] + v[d]) / 3;
  }
}

static void quad_middle(const pcsim_real *const p[4], pcsim_real middle[3]) {
  for (int d = 0; d < 3; d++) middle[d] = 0.25 * ((p[0][d] + p[1][d]) + (p[2][d] + p[3][d]));
}

/* The triangles' areas add up to half the product of the diagonals; the centre is their average with the
 * area along that sum as weight (exact for a plane quad, even one with a dent). */
static void quad_geometry(const pcsim_real *const p[4], pcsim_real area[3], pcsim_real centre[3]) {
  pcsim_real u[3], v[3], middle[3], sum[3] = {0, 0, 0}, total = 0;
  subtract(p[2], p[0], u);
  subtract(p[3], p[1], v);
  cross(u, v, area);
  for (int d = 0; d < 3; d++) area[d] *= 0.5;
  quad_middle(p, middle);
  for (int i = 0; i < 4; i++) {
    pcsim_real part[3], c[3];
    triangle_geometry(middle, p[i], p[(i + 1) % 4], part, c);
    pcsim_real weight = dot(part, area);
    for (int d = 0; d < 3; d++) sum[d] += weight * (c[d] - middle[d]);
    total += weight;
  }
  for (int d = 0; d < 3; d++) centre[d] = pcsim_part(total) > 0 ? middle[d] + sum[d] / total : middle[d];
}

void PCSIM_TWIN(pcsim_face_geometry)(const pcsim_real *nodes, const int32_t *face, int n, pcsim_real area[3],
                                     pcsim_real centre[3]) {
  const pcsim_real *p[4];
  for (int i = 0; i < n; i++) p[i] = nodes + 3 * (int64_t)face[i];
  if (n == 2) {
    area[0] = p[1][1] - p[0][1];
    area[1] = p[0][0] - p[1][0];
    area[2] = 0;
    for (int d = 0; d < 3; d++) centre[d] = 0.5 * (p[0][d] + p[1][d]);
  } else if (n == 3) {
    triangle_geometry(p[0], p[1], p[2], area, centre);
  } else {
    quad_geometry(p, area, centre);
  }
}

/* Tetrahedra (base, apex of the cell) of one triangle of the boundary: their volume and first moment about
 * `base` are summed. */
static void add_tetra(const pcsim_real *a, const pcsim_real *b, const pcsim_real *c, const pcsim_real base[3],
                      pcsim_real *volume, pcsim_real moment[3]) {
  pcsim_real u[3], v[3], w[3], n[3];
  subtract(a, base, u);
  subtract(b, base, v);
  subtract(c, base, w);
  cross(v, w, n);
  pcsim_real part = dot(u, n) / 6;
  *volume += part;
  for (int d = 0; d < 3; d++) moment[d] += part * 0.25 * (u[d] + v[d] + w[d]);
}

static void polygon_geometry(const pcsim_real *const *p, int n, const pcsim_real base[3], pcsim_real *volume,
                             pcsim_real centre[3]) {
  pcsim_real moment[3] = {0, 0, 0};
  *volume = 0;
  for (int i = 0; i < n; i++) {
    pcsim_real u[3], v[3];
    subtract(p[i], base, u);
    subtract(p[(i + 1) % n], base, v);
    pcsim_real part = 0.5 * (u[0] * v[1] - u[1] * v[0]);
    *volume += part;
    for (int d = 0; d < 2; d++) moment[d] += part * (u[d] + v[d]) / 3;
  }
  for (int d = 0; d < 3; d++) centre[d] = pcsim_part(*volume) != 0 ? base[d] + moment[d] / *volume : base[d];
}

static void tetra_geometry(const pcsim_real *const p[4], pcsim_real *volume, pcsim_real centre[3]) {
  pcsim_real u[3], v[3], w[3], n[3];
  subtract(p[1], p[0], u);
  subtract(p[2], p[0], v);
  subtract(p[3], p[0], w);
  cross(u, v, n);
  *volume = dot(n, w) / 6;
  for (int d = 0; d < 3; d++) centre[d] = p[0][d] + 0.25 * (u[d] + v[d] + w[d]);
}

void PCSIM_TWIN(pcsim_cell_geometry)(const pcsim_real *nodes, pcsim_cell_type type, const int32_t *cell,
                                     pcsim_real *volume, pcsim_real centre[3]) {
  const pcsim_cell_shape *shape = &pcsim_cell_shapes[type];
  const pcsim_real *p[8];
  pcsim_real base[3] = {0, 0, 0}, moment[3] = {0, 0, 0};
  for (int i = 0; i < shape->num_nodes; i++) p[i] = nodes + 3 * (int64_t)cell[i];
  if (type == PCSIM_CELL_TETRA) {
    tetra_geometry(p, volume, centre);
    return;
  }
  for (int i = 0; i < shape->num_nodes; i++)
    for (int d = 0; d < 3; d++) base[d] += p[i][d] / shape->num_nodes;
  if (shape->dim == 2) {
    polygon_geometry(p, shape->num_nodes, base, volume, centre);
    return;
  }
  *volume = 0;
  for (int f = 0; f < shape->num_faces; f++) {
    const pcsim_real *q[4];
    pcsim_real middle[3];
    int n = shape->face_size[f];
    for (int i = 0; i < n; i++) q[i] = p[shape->face[f][i]];
    if (n == 3) {
      add_tetra(q[0], q[1], q[2], base, volume, moment);
      continue;
    }
    quad_middle(q, middle);
    for (int i = 0; i < 4; i++) add_tetra(middle, q[i], q[(i + 1) % 4], base, volume, moment);
  }
  for (int d = 0; d < 3; d++) centre[d] = pcsim_part(*volume) != 0 ? base[d] + moment[d] / *volume : base[d];
}
