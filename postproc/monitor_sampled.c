/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of fields at points, and what comes back from them: see monitor.h. */
#include "sampler.h"

#include <string.h>

static void add_cells(const sampler *s, const stencil *st, const pcsim_fields *fields, double *value) {
  for (int64_t k = st[0].first_cell; k < st[1].first_cell; ++k) {
    const int64_t cell = s->cells[k];
    for (int f = 0; f < s->num_fields; ++f) {
      const pcsim_scalar *field = &fields->scalar[f];
      const double *w = s->cell_weight + (k * s->num_classes + s->class_of[f]) * CELL_WEIGHTS;
      const double *gradient = field->gradient + 3 * field->stride * cell;
      value[f] += w[WEIGHT_VALUE] * field->value[field->stride * cell];
      for (int j = 0; j < 3; ++j) value[f] += w[WEIGHT_SLOPE + j] * gradient[j];
    }
  }
}

static double on_face(const pcsim_scalar *field, int64_t face) { return field->face[field->stride * face]; }

static void add_faces(const sampler *s, const stencil *st, const pcsim_fields *fields, double *value) {
  const int64_t boundary = sampler_num_boundary(pcsim_mesh_get(s->mesh));
  for (int64_t k = st[0].first_face; k < st[1].first_face; ++k) {
    const int64_t face = s->faces[k];
    const double *far = face < boundary ? NULL : s->halo.receive_buffer + s->num_fields * (face - boundary);
    for (int f = 0; f < s->num_fields; ++f)
      value[f] += s->face_weight[k * s->num_classes + s->class_of[f]] *
                  (far ? far[f] : on_face(&fields->scalar[f], face));
  }
}

pcsim_status sampler_evaluate(sampler *s, const pcsim_fields *fields) {
  if (s->num_points == 0) return PCSIM_OK;
  MPI_Comm comm = pcsim_mesh_comm(s->mesh);
  const int m = s->num_fields;
  for (int64_t k = 0; k < s->halo.num_send; ++k)
    for (int f = 0; f < m; ++f)
      s->halo.send_buffer[m * k + f] = on_face(&fields->scalar[f], s->halo.send_face[k]);
  PCSIM_TRY(sampler_exchange_faces(&s->halo, comm, m));
  memset(s->value, 0, (size_t)(s->num_points * m) * sizeof(double));
  for (int64_t k = 0; k < s->num_stencils; ++k) {
    double *value = s->value + m * s->stencils[k].point;
    add_cells(s, &s->stencils[k], fields, value);
    add_faces(s, &s->stencils[k], fields, value);
  }
  MPI_Allreduce(MPI_IN_PLACE, s->value, (int)(s->num_points * m), MPI_DOUBLE, MPI_SUM, comm);
  return PCSIM_OK;
}

/* ----------------------------------------------------------------------- transposed */

static void return_cells(const sampler *s, const stencil *st, const double *seed, double *cell) {
  for (int64_t k = st[0].first_cell; k < st[1].first_cell; ++k)
    for (int f = 0; f < s->num_fields; ++f) {
      const double *w = s->cell_weight + (k * s->num_classes + s->class_of[f]) * CELL_WEIGHTS;
      double *to = cell + 4 * ((int64_t)s->cells[k] * s->num_fields + f);
      for (int j = 0; j < CELL_WEIGHTS; ++j) to[j] += seed[f] * w[j];
    }
}

static void return_faces(sampler *s, const stencil *st, const double *seed, double *face) {
  const int64_t boundary = sampler_num_boundary(pcsim_mesh_get(s->mesh));
  for (int64_t k = st[0].first_face; k < st[1].first_face; ++k) {
    const int64_t b = s->faces[k];
    double *to =
        b < boundary ? face + b * s->num_fields : s->halo.receive_buffer + (b - boundary) * s->num_fields;
    for (int f = 0; f < s->num_fields; ++f)
      to[f] += seed[f] * s->face_weight[k * s->num_classes + s->class_of[f]];
  }
}

pcsim_status sampler_transposed(sampler *s, const double *seed, double *cell, double *face) {
  const int m = s->num_fields;
  memset(s->halo.receive_buffer, 0, (size_t)(s->halo.num_receive * m) * sizeof(double));
  for (int64_t k = 0; k < s->num_stencils; ++k) {
    return_cells(s, &s->stencils[k], seed + m * s->stencils[k].point, cell);
    return_faces(s, &s->stencils[k], seed + m * s->stencils[k].point, face);
  }
  PCSIM_TRY(sampler_return_faces(&s->halo, pcsim_mesh_comm(s->mesh), m));
  for (int64_t k = 0; k < s->halo.num_send; ++k)
    for (int f = 0; f < m; ++f) face[m * s->halo.send_face[k] + f] += s->halo.send_buffer[m * k + f];
  return PCSIM_OK;
}
