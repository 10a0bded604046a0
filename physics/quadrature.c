/* SPDX-License-Identifier: BSD-2-Clause */
/* Gauss points of faces; compiled twice: quadrature_dual.c gives the derivatives. */
#include "flow.h"

#include <string.h>

#ifdef PCSIM_DUAL
typedef flow_quadrature_dual rule;
#else
typedef flow_quadrature rule;
#endif

static void add_point(rule *q, const pcsim_real point[3], pcsim_real weight) {
  memcpy(q->point[q->num], point, 3 * sizeof *point);
  q->weight[q->num++] = weight;
}

static void add_segment(rule *q, const pcsim_real *a, const pcsim_real *b) {
  /* Gauss-Legendre, 5 points on [-1, 1]. */
  static const double place[5] = {-0.90617984593866399280, -0.53846931010568309104, 0.0,
                                  0.53846931010568309104, 0.90617984593866399280};
  static const double weight[5] = {0.23692688505618908751, 0.47862867049936646804, 0.56888888888888888889,
                                   0.47862867049936646804, 0.23692688505618908751};
  for (int k = 0; k < 5; ++k) {
    pcsim_real x[3];
    for (int i = 0; i < 3; ++i) x[i] = 0.5 * (a[i] + b[i]) + 0.5 * place[k] * (b[i] - a[i]);
    add_point(q, x, 0.5 * weight[k]);
  }
}

static pcsim_real add_triangle(rule *q, const pcsim_real *a, const pcsim_real *b, const pcsim_real *c) {
  /* Seven points, degree 5 (Radon 1948); r and s are (6 -+ sqrt 15)/21. */
  const double root = sqrt(15.0);
  const double r = (6.0 - root) / 21.0, s = (6.0 + root) / 21.0;
  const double wr = (155.0 - root) / 1200.0, ws = (155.0 + root) / 1200.0;
  const double rule_of[7][4] = {{1.0 / 3, 1.0 / 3, 1.0 / 3, 9.0 / 40},
                                {1 - 2 * r, r, r, wr},
                                {r, 1 - 2 * r, r, wr},
                                {r, r, 1 - 2 * r, wr},
                                {1 - 2 * s, s, s, ws},
                                {s, 1 - 2 * s, s, ws},
                                {s, s, 1 - 2 * s, ws}};
  pcsim_real e[3], f[3];
  for (int i = 0; i < 3; ++i) e[i] = b[i] - a[i], f[i] = c[i] - a[i];
  pcsim_real n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
  pcsim_real area = 0.5 * pcsim_root(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int k = 0; k < 7; ++k) {
    pcsim_real x[3];
    for (int i = 0; i < 3; ++i) x[i] = rule_of[k][0] * a[i] + rule_of[k][1] * b[i] + rule_of[k][2] * c[i];
    add_point(q, x, rule_of[k][3] * area);
  }
  return area;
}

static void fill(const pcsim_mesh_view *mesh, const pcsim_real *x, const pcsim_real *centre, int64_t face,
                 rule *q) {
  const int32_t *node = mesh->face_node + mesh->face_node_start[face];
  const int num = (int)(mesh->face_node_start[face + 1] - mesh->face_node_start[face]);
  pcsim_real area = 0;
  q->num = 0;
  if (mesh->dim == 2) {
    add_segment(q, x + 3 * (int64_t)node[0], x + 3 * (int64_t)node[1]);
    area = 1;
  } else if (num == 3) {
    area = add_triangle(q, x + 3 * (int64_t)node[0], x + 3 * (int64_t)node[1], x + 3 * (int64_t)node[2]);
  } else {
    for (int k = 0; k < num; ++k)
      area +=
          add_triangle(q, centre + 3 * face, x + 3 * (int64_t)node[k], x + 3 * (int64_t)node[(k + 1) % num]);
  }
  for (int k = 0; k < q->num; ++k) q->weight[k] /= area;
}

#ifdef PCSIM_DUAL
void flow_face_quadrature_dual(const pcsim_mesh_view *mesh, const pcsim_dual *node, const pcsim_dual *centre,
                               int64_t face, flow_quadrature_dual *q) {
  fill(mesh, node, centre, face, q);
}
#else
void flow_face_quadrature(const pcsim_mesh_view *mesh, int64_t face, flow_quadrature *q) {
  fill(mesh, mesh->node, mesh->face_centre, face, q);
}
#endif
