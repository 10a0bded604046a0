/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of typed laws handed out, one array for each unknown. */
#include "transport_fields.h"

#include <string.h>

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
    memset(a->face[i], 0, (size_t)t->nb * sizeof **a->face);
    memset(a->face_flux[i], 0, (size_t)t->nb * sizeof **a->face_flux);
    for (int k = 0; k < t->problem->num_conditions; k++)
      for (int64_t f = 0; f < t->boundary[k].num; f++) {
        const int64_t face = t->boundary[k].face[f];
        a->face[i][face] += t->boundary[k].part[f] * t->boundary[k].state[f * m + i];
        a->face_flux[i][face] += t->boundary[k].flux[f * m + i];
      }
  }
  *fields = (pcsim_transport_fields){.mesh = t->mesh,
                                     .num_unknowns = m,
                                     .name = t->problem->unknown,
                                     .value = (const double *const *)a->value,
                                     .gradient = (const double *const *)a->gradient,
                                     .face = (const double *const *)a->face,
                                     .face_flux = (const double *const *)a->face_flux,
                                     .degree = t->choices.degree > 1 ? t->choices.degree : 1,
                                     .num_derivatives = t->derivatives,
                                     .derivatives = t->grad,
                                     .time = time};
  return PCSIM_OK;
}

double pcsim_transport_value_at(const pcsim_transport_fields *f, int unknown, int64_t cell,
                                const double *point) {
  const pcsim_mesh_view *v = pcsim_mesh_get(f->mesh);
  const int d = v->dim;
  const double *first = f->derivatives + (cell * f->num_unknowns + unknown) * f->num_derivatives;
  const double *second = first + d, *third = second + second_count(d);
  double x[3], value = f->value[unknown][cell];
  for (int a = 0; a < d; a++) x[a] = point[a] - v->cell_centre[3 * cell + a];
  for (int a = 0; a < d; a++) {
    double slope = first[a];
    for (int b = 0; f->degree > 1 && b < d; b++) {
      double bend = second[second_index(d, a, b)];
      for (int c = 0; f->degree > 2 && c < d; c++) bend += third[third_index(d, a, b, c)] * x[c] / 3;
      slope += bend * x[b] / 2;
    }
    value += slope * x[a];
  }
  return value;
}
