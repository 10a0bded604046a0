/* SPDX-License-Identifier: BSD-2-Clause */
/* A cell is cut into triangles from its first node; each is integrated by the seven points of Radon (1948).
 */
#include "error.h"

#include <math.h>

enum { POINTS = 7 };
static const double SHARE[POINTS] = {0.225,
                                     0.132394152788506181,
                                     0.132394152788506181,
                                     0.132394152788506181,
                                     0.125939180544827152,
                                     0.125939180544827152,
                                     0.125939180544827152};
static const double NEAR[3] = {0.333333333333333333, 0.470142064105115090, 0.101286507323456339};

/* Barycentric coordinates of a point: the middle, three near the sides, three near the corners. */
static void place_of(int point, double b[3]) {
  const double a = NEAR[point == 0 ? 0 : point <= 3 ? 1 : 2];
  for (int i = 0; i < 3; i++) b[i] = a;
  if (point) b[(point - 1) % 3] = 1 - 2 * a;
}

static double exact_at(const pcsim_expr *exact, const double x[2], double time) {
  return pcsim_expr_eval(exact, (const double[4]){x[0], x[1], 0, time});
}

/* Adds the squares of the error and of the exact field over one triangle. */
static void add_triangle(const double *const corner[3], const pcsim_transport_fields *fields, int64_t cell,
                         const pcsim_expr *exact, double sum[2]) {
  const double *a = corner[0], *b = corner[1], *c = corner[2];
  const double area = 0.5 * fabs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
  for (int k = 0; k < POINTS; k++) {
    double w[3], x[2];
    place_of(k, w);
    for (int i = 0; i < 2; i++) x[i] = w[0] * a[i] + w[1] * b[i] + w[2] * c[i];
    const double e = exact_at(exact, x, fields->time), u = pcsim_transport_value_at(fields, 0, cell, x);
    sum[0] += area * SHARE[k] * (u - e) * (u - e);
    sum[1] += area * SHARE[k] * e * e;
  }
}

error_norms error_of(const pcsim_raw_mesh *raw, const pcsim_transport_fields *fields,
                     const pcsim_expr *exact) {
  const pcsim_mesh_view *v = pcsim_mesh_get(fields->mesh);
  double field[2] = {0}, centres[2] = {0};
  for (int64_t c = 0; c < v->num_cells; c++) {
    const int64_t cell = v->cell_original[c];
    const int32_t *node = raw->cell_nodes + raw->cell_start[cell];
    const int64_t nodes = raw->cell_start[cell + 1] - raw->cell_start[cell];
    const double *centre = v->cell_centre + 3 * c, value = fields->value[0][c],
                 e = exact_at(exact, centre, fields->time);
    centres[0] += v->cell_volume[c] * (value - e) * (value - e);
    centres[1] += v->cell_volume[c] * e * e;
    for (int64_t k = 1; k + 1 < nodes; k++) {
      const double *const corner[3] = {raw->nodes + 3 * (int64_t)node[0], raw->nodes + 3 * (int64_t)node[k],
                                       raw->nodes + 3 * (int64_t)node[k + 1]};
      add_triangle(corner, fields, c, exact, field);
    }
  }
  return (error_norms){sqrt(field[0] / field[1]), sqrt(centres[0] / centres[1])};
}
