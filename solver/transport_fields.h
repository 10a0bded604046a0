/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transport_fields.h  Private to solver/: the fields of typed laws handed out. */
#ifndef PCSIM_SOLVER_TRANSPORT_FIELDS_H
#define PCSIM_SOLVER_TRANSPORT_FIELDS_H

#include "transport.h"

/** Room for what is handed out; zeros before the first use. */
typedef struct {
  double **value, **gradient, **face, **face_flux; /**< [m] */
} transport_field_arrays;
/** From the state, gradients and boundary fluxes that stand in `t`; `fields` borrows the arrays. Errors:
 *  ERR_MEMORY. */
pcsim_status transport_fields_fill(transport *t, transport_field_arrays *a, double time,
                                   pcsim_transport_fields *fields) PCSIM_NODISCARD;
void transport_fields_free(const transport *t, transport_field_arrays *a);

#endif
