/* SPDX-License-Identifier: BSD-2-Clause */
/** @file analytic.h  Closed-form fields in place of a solver's. */
#ifndef PCSIM_TEST_ANALYTIC_H
#define PCSIM_TEST_ANALYTIC_H

#include "physics/lattice.h"
#include <pcsim/postproc.h>

/** u, v, w, p at a point. */
typedef void (*analytic)(const double *x, double *value);

typedef struct {
  pcsim_flow_fields *flow; /**< allocated: the list points to it */
  pcsim_scalar *scalar;
  pcsim_fields fields;
  double *block[8];
} analytic_fields;

/* Derivative of component i along j by central differences of high order. */
static inline double slope_(analytic f, const double *x, int i, int j) {
  static const double weight[3] = {0.75, -0.15, 1.0 / 60.0};
  double h = 1e-3, sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    double y[3] = {x[0], x[1], x[2]}, a[4], b[4];
    y[j] = x[j] + (k + 1) * h;
    f(y, a);
    y[j] = x[j] - (k + 1) * h;
    f(y, b);
    sum += weight[k] * (a[i] - b[i]) / h;
  }
  return sum;
}

static inline void fill_cells_(analytic_fields *a, const pcsim_mesh_view *m, analytic f) {
  for (int64_t c = 0; c < m->num_cells + m->num_ghosts; ++c) {
    const double *x = m->cell_centre + 3 * c;
    double value[4];
    f(x, value);
    for (int i = 0; i < 3; ++i) {
      a->block[0][3 * c + i] = value[i];
      for (int j = 0; j < m->dim; ++j) a->block[2][9 * c + 3 * i + j] = slope_(f, x, i, j);
      a->block[3][3 * c + i] = i < m->dim ? slope_(f, x, 3, i) : 0.0;
    }
    a->block[1][c] = value[3];
  }
}

static inline void fill_faces_(analytic_fields *a, const pcsim_mesh_view *m, analytic f, double viscosity) {
  for (int64_t face = m->num_interior_faces; face < m->num_faces; ++face) {
    int64_t b = face - m->num_interior_faces;
    const double *x = m->face_centre + 3 * face, *s = m->face_area + 3 * face;
    double value[4];
    f(x, value);
    for (int i = 0; i < 3; ++i) {
      a->block[4][3 * b + i] = value[i];
      a->block[7][b] += value[i] * s[i];
      for (int j = 0; j < m->dim && i < m->dim; ++j)
        a->block[6][3 * b + i] -= viscosity * (slope_(f, x, i, j) + slope_(f, x, j, i)) * s[j];
    }
    a->block[5][b] = value[3];
  }
}

static inline analytic_fields analytic_make(const pcsim_mesh *mesh, analytic f, double viscosity) {
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  size_t n = (size_t)(m->num_cells + m->num_ghosts), nb = (size_t)(m->num_faces - m->num_interior_faces);
  size_t size[8] = {3 * n, n, 9 * n, 3 * n, 3 * nb, nb, 3 * nb, nb};
  analytic_fields a;
  memset(&a, 0, sizeof a);
  for (int k = 0; k < 8; ++k) assert_ok(pcsim_alloc(size[k], sizeof(double), &a.block[k]));
  fill_cells_(&a, m, f);
  fill_faces_(&a, m, f, viscosity);
  assert_ok(pcsim_alloc(1, sizeof *a.flow, &a.flow));
  assert_ok(pcsim_alloc(PCSIM_FLOW_NUM_FIELDS, sizeof *a.scalar, &a.scalar));
  *a.flow = (pcsim_flow_fields){mesh,       1.0,        viscosity,  a.block[0], a.block[1], a.block[2],
                                a.block[3], a.block[4], a.block[5], a.block[6], a.block[7], 0};
  a.fields = pcsim_fields_of_flow(a.flow, a.scalar);
  return a;
}

static inline void analytic_free(analytic_fields *a) {
  for (int k = 0; k < 8; ++k) pcsim_free(&a->block[k]);
  pcsim_free(&a->flow);
  pcsim_free(&a->scalar);
}

static inline double quantity_of(const pcsim_monitors *monitors, const char *name) {
  const pcsim_quantity *q;
  int n = pcsim_monitors_quantities(monitors, &q);
  for (int i = 0; i < n; ++i)
    if (strcmp(q[i].name, name) == 0) return q[i].value;
  print_error("no quantity %s\n", name);
  fail();
  return NAN;
}

static inline const pcsim_curve *curve_of(const pcsim_monitors *monitors, const char *name) {
  const pcsim_curve *c;
  int n = pcsim_monitors_curves(monitors, &c);
  for (int i = 0; i < n; ++i)
    if (strcmp(c[i].name, name) == 0) return &c[i];
  print_error("no curve %s\n", name);
  fail();
  return NULL;
}

/** Read the monitors of a case and evaluate them on f; `*tree` and `*monitors` are the caller's. */
static inline void monitor_analytic(const pcsim_mesh *mesh, const char *text, analytic f, double viscosity,
                                    pcsim_tree **tree, pcsim_monitors **monitors) {
  *tree = tree_of(text);
  *monitors = NULL;
  assert_ok(pcsim_monitors_read(*tree, mesh, NULL, monitors));
  assert_ok(pcsim_tree_status(*tree));
  assert_non_null(*monitors);
  analytic_fields a = analytic_make(mesh, f, viscosity);
  assert_ok(pcsim_monitors_evaluate(*monitors, &a.fields));
  analytic_free(&a);
}
#endif
