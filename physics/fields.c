/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of any problem as one list of named scalars. */
#include <pcsim/physics.h>

pcsim_fields pcsim_fields_of_flow(const pcsim_flow_fields *f, pcsim_scalar *scalar) {
  static const char *const names[3] = {"u", "v", "w"};
  for (int i = 0; i < 3; i++)
    scalar[i] = (pcsim_scalar){.name = names[i],
                               .unit = "m/s",
                               .stride = 3,
                               .value = f->velocity + i,
                               .gradient = f->velocity_gradient + 3 * i,
                               .face = f->face_velocity + i};
  scalar[3] = (pcsim_scalar){.name = "p",
                             .unit = "Pa",
                             .stride = 1,
                             .value = f->pressure,
                             .gradient = f->pressure_gradient,
                             .face = f->face_pressure};
  return (pcsim_fields){
      .mesh = f->mesh, .time = f->time, .num = PCSIM_FLOW_NUM_FIELDS, .scalar = scalar, .flow = f};
}

pcsim_fields pcsim_fields_of_transport(const pcsim_transport_fields *f, pcsim_scalar *scalar) {
  for (int i = 0; i < f->num_unknowns; i++)
    scalar[i] = (pcsim_scalar){.name = f->name[i],
                               .unit = "",
                               .stride = 1,
                               .value = f->value[i],
                               .gradient = f->gradient[i],
                               .face = f->face[i],
                               .flux = f->face_flux[i]};
  return (pcsim_fields){.mesh = f->mesh, .time = f->time, .num = f->num_unknowns, .scalar = scalar};
}

pcsim_fields pcsim_fields_of_joined(const pcsim_flow_fields *flow, const pcsim_transport_fields *laws,
                                    pcsim_scalar *scalar) {
  pcsim_fields all = pcsim_fields_of_flow(flow, scalar);
  all.num += pcsim_fields_of_transport(laws, scalar + all.num).num;
  return all;
}
