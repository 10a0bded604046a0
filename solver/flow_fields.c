/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of a flow handed out: back to the units of the case. */
#include "flow_fields.h"

static pcsim_status allocate(const flow *f, flow_field_arrays *a) {
  const size_t nt = (size_t)f->nt, nb = (size_t)f->nb, d = (size_t)f->dim;
  PCSIM_TRY(pcsim_alloc(nt * 3, sizeof(double), &a->velocity));
  PCSIM_TRY(pcsim_alloc(nt, sizeof(double), &a->pressure));
  PCSIM_TRY(pcsim_alloc(nt * 9, sizeof(double), &a->velocity_gradient));
  PCSIM_TRY(pcsim_alloc(nt * 3, sizeof(double), &a->pressure_gradient));
  PCSIM_TRY(pcsim_alloc(nb * (d + 1), sizeof(double), &a->wall_value));
  PCSIM_TRY(pcsim_alloc(nb * d, sizeof(double), &a->wall_friction));
  PCSIM_TRY(pcsim_alloc(nb, sizeof(double), &a->wall_flow));
  PCSIM_TRY(pcsim_alloc(nb * 3, sizeof(double), &a->face_velocity));
  PCSIM_TRY(pcsim_alloc(nb, sizeof(double), &a->face_pressure));
  return pcsim_alloc(nb * 3, sizeof(double), &a->face_friction);
}

void flow_fields_free(flow_field_arrays *a) {
  void *blocks[] = {&a->velocity,      &a->pressure,      &a->velocity_gradient, &a->pressure_gradient,
                    &a->wall_value,    &a->wall_friction, &a->wall_flow,         &a->face_velocity,
                    &a->face_pressure, &a->face_friction};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
}

pcsim_status flow_fields_fill(flow *f, flow_field_arrays *a, double time, pcsim_flow_fields *fields) {
  const int d = f->dim, m = d + 1;
  const double U = f->scale_velocity, pressure = f->density * U * U;
  const pcsim_status room = a->velocity ? PCSIM_OK : allocate(f, a);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(f->mesh), room));
  for (int64_t c = 0; c < f->nt; c++) {
    for (int i = 0; i < d; i++) {
      a->velocity[3 * c + i] = f->q[c * m + i] * U;
      for (int j = 0; j < d; j++) a->velocity_gradient[9 * c + 3 * i + j] = f->grad[(c * m + i) * d + j] * U;
      a->pressure_gradient[3 * c + i] = f->grad[(c * m + d) * d + i] * pressure;
    }
    a->pressure[c] = f->q[c * m + d] * pressure;
  }
  PCSIM_TRY(f->kernels->boundary(f, a->wall_value, a->wall_friction, a->wall_flow));
  for (int64_t k = 0; k < f->nb; k++) {
    for (int i = 0; i < d; i++) {
      a->face_velocity[3 * k + i] = a->wall_value[k * m + i] * U;
      a->face_friction[3 * k + i] = a->wall_friction[k * d + i] * pressure;
    }
    a->face_pressure[k] = a->wall_value[k * m + d] * pressure;
    a->wall_flow[k] *= U;
  }
  *fields = (pcsim_flow_fields){.mesh = f->mesh,
                                .density = f->density,
                                .viscosity = f->problem->viscosity,
                                .velocity = a->velocity,
                                .pressure = a->pressure,
                                .velocity_gradient = a->velocity_gradient,
                                .pressure_gradient = a->pressure_gradient,
                                .face_velocity = a->face_velocity,
                                .face_pressure = a->face_pressure,
                                .face_friction = a->face_friction,
                                .face_flow = a->wall_flow,
                                .time = time};
  return PCSIM_OK;
}
