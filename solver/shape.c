/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of a mesh that moves, with their derivatives. */
#include "shape.h"
#include "face_parts.h"

#include <string.h>

double shape_dot(int64_t n, const double *a, const double *b) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static pcsim_status join(int64_t num, const double *value, const double *along, pcsim_dual **out) {
  PCSIM_TRY(pcsim_alloc((size_t)num, 3 * sizeof **out, out));
  for (int64_t i = 0; i < 3 * num; i++) (*out)[i] = pcsim_dual_of(value[i], along[i]);
  return PCSIM_OK;
}

pcsim_status shape_places_create(const pcsim_mesh_view *v, const pcsim_mesh_tangent *motion,
                                 shape_places *p) {
  *p = (shape_places){0};
  PCSIM_TRY(join(v->num_cells + v->num_ghosts, v->cell_centre, motion->cell_centre, &p->cell_centre));
  PCSIM_TRY(join(v->num_faces, v->face_centre, motion->face_centre, &p->face_centre));
  PCSIM_TRY(join(v->num_faces, v->face_area, motion->face_area, &p->face_area));
  return join(v->num_nodes, v->node, motion->node, &p->node);
}

void shape_places_free(shape_places *p) {
  pcsim_free(&p->cell_centre), pcsim_free(&p->face_centre), pcsim_free(&p->face_area), pcsim_free(&p->node);
}

void shape_face(const pcsim_mesh_view *v, const shape_places *p, int64_t k, double *along) {
  const pcsim_dual *other = k < v->num_interior_faces ? p->cell_centre + 3 * (int64_t)v->neighbour[k] : NULL;
  face_parts_along(p->face_area + 3 * k, p->face_centre + 3 * k, p->cell_centre + 3 * (int64_t)v->owner[k],
                   other, along);
}

/* w = V / sum V: dw = (dV - w sum dV) / sum V, and sum V = V / w. */
static double through_weights(const pcsim_mesh *mesh, const look *l, bool mean, const double *to,
                              const pcsim_mesh_tangent *motion) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  double sum[4] = {0}; /* of to dV, to w, dV, V */
  for (int64_t i = 0; i < l->num; i++) {
    const int32_t c = l->owner[i];
    sum[0] += to[i] * motion->cell_volume[c];
    sum[1] += to[i] * l->weight[i];
    sum[2] += motion->cell_volume[c];
    sum[3] += v->cell_volume[c];
  }
  if (!mean) return sum[0];
  MPI_Allreduce(MPI_IN_PLACE, sum + 2, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(mesh));
  return (sum[0] - sum[1] * sum[2]) / sum[3];
}

double shape_through_look(const pcsim_mesh *mesh, const look *l, bool fixed, bool mean, const double *weight,
                          const double *reach, const double *place, const pcsim_mesh_tangent *motion) {
  const int dim = pcsim_mesh_get(mesh)->dim;
  double sum = fixed ? 0 : through_weights(mesh, l, mean, weight, motion);
  for (int64_t i = 0; i < l->num; i++)
    for (int d = 0; d < dim; d++) {
      const double centre = motion->cell_centre[3 * (int64_t)l->owner[i] + d];
      sum += fixed ? -reach[i * dim + d] * centre : place[4 * i + d] * centre;
    }
  return sum;
}
