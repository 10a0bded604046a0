/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of typed laws handed out, one array for each unknown. */
#include "transport_fields.h"

static pcsim_status allocate_each(const transport *t, int64_t points, int components, double ***fields) {
  PCSIM_TRY(pcsim_alloc((size_t)t->m, sizeof **fields, fields));
  for (int i = 0; i < t->m; i++)
    PCSIM_TRY(pcsim_alloc((size_t)(points * components), sizeof(double), &(*fields)[i]));
  return PCSIM_OK;
}

static pcsim_status allocate(const transport *t, transport_field_arrays *a) {
  PCSIM_TRY(allocate_each(t, t->nt, 1, &a->value));
  PCSIM_TRY(allocate_each(t, t->nt, 3, &a->gradient));
  PCSIM_TRY(allocate_each(t, t->nb, 1, &a->face));
  return allocate_each(t, t->nb, 1, &a->face_flux);
}

static void free_each(const transport *t, double ***fields) {
  for (int i = 0; *fields && i < t->m; i++) pcsim_free(&(*fields)[i]);
  pcsim_free(fields);
}

void transport_fields_free(const transport *t, transport_field_arrays *a) {
  free_each(t, &a->value), free_each(t, &a->gradient), free_each(t, &a->face), free_each(t, &a->face_flux);
}

pcsim_status transport_fields_fill(transport *t, transport_field_arrays *a, double time,
                                   pcsim_transport_fields *fields) {
  const int m = t->m, d = t->dim;
  const pcsim_status room = a->value ? PCSIM_OK : allocate(t, a);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(t->mesh), room));
  for (int i = 0; i < m; i++) {
    for (int64_t c = 0; c < t->nt; c++) {
      a->value[i][c] = t->q[c * m + i];
      for (int j = 0; j < d; j++) a->gradient[i][3 * c + j] = t->grad[(c * m + i) * t->derivatives + j];
    }
    for (int k = 0; k < t->problem->num_conditions; k++)
      for (int64_t f = 0; f < t->boundary[k].num; f++) {
        const int64_t face = t->boundary[k].c->face[f];
        a->face[i][face] = t->boundary[k].state[f * m + i];
        a->face_flux[i][face] = t->boundary[k].flux[f * m + i];
      }
  }
  *fields = (pcsim_transport_fields){.mesh = t->mesh,
                                     .num_unknowns = m,
                                     .name = t->problem->unknown,
                                     .value = (const double *const *)a->value,
                                     .gradient = (const double *const *)a->gradient,
                                     .face = (const double *const *)a->face,
                                     .face_flux = (const double *const *)a->face_flux,
                                     .time = time};
  return PCSIM_OK;
}
