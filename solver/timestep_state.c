/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of time steps as one array, cell by cell. */
#include "timestep.h"

#include <string.h>

void timestep_pack(const timestep *t, double *unknowns, double scalar[TIMESTEP_SCALARS]) {
  const discrete_system *s = timestep_system(t);
  const double *vector[TIMESTEP_VECTORS];
  timestep_get_state(t, vector, scalar);
  for (int64_t c = 0; c < s->n; c++)
    for (int k = 0; k < TIMESTEP_VECTORS; k++)
      memcpy(unknowns + (c * TIMESTEP_VECTORS + k) * s->m, vector[k] + c * s->m,
             (size_t)s->m * sizeof *unknowns);
}

pcsim_status timestep_unpack(timestep *t, const double *unknowns, const double scalar[TIMESTEP_SCALARS]) {
  const discrete_system *s = timestep_system(t);
  double *vector[TIMESTEP_VECTORS] = {0};
  pcsim_status status = PCSIM_OK;
  for (int k = 0; k < TIMESTEP_VECTORS; k++) {
    PCSIM_GOTO(pcsim_alloc((size_t)(s->n * s->m), sizeof(double), &vector[k]), status, done);
    for (int64_t c = 0; c < s->n; c++)
      memcpy(vector[k] + c * s->m, unknowns + (c * TIMESTEP_VECTORS + k) * s->m,
             (size_t)s->m * sizeof *unknowns);
  }
  status = timestep_set_state(t, vector, scalar);
done:
  for (int k = 0; k < TIMESTEP_VECTORS; k++) pcsim_free(&vector[k]);
  return pcsim_status_agree(pcsim_mesh_comm(s->mesh), status);
}
