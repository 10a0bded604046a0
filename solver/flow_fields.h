/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flow_fields.h  Private to solver/: the fields of a flow in the units of the case. */
#ifndef PCSIM_SOLVER_FLOW_FIELDS_H
#define PCSIM_SOLVER_FLOW_FIELDS_H

#include "flow.h"

/** Room for what is handed out; zeros before the first use. */
typedef struct {
  double *velocity, *pressure, *velocity_gradient, *pressure_gradient;
  double *wall_value, *wall_friction, *wall_flow, *face_velocity, *face_pressure, *face_friction;
} flow_field_arrays;
/** From the state, gradients and coefficients that stand in the flow; `fields` borrows the arrays. Errors:
 *  ERR_MEMORY. */
pcsim_status flow_fields_fill(flow *f, flow_field_arrays *a, double time,
                              pcsim_flow_fields *fields) PCSIM_NODISCARD;
void flow_fields_free(flow_field_arrays *a);

#endif
