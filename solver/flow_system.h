/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flow_system.h  Private to solver/: the discrete flow as a system. */
#ifndef PCSIM_SOLVER_FLOW_SYSTEM_H
#define PCSIM_SOLVER_FLOW_SYSTEM_H

#include "flow.h"
#include "march.h"

/** What the system's functions work on; borrowed, must outlive the system. */
typedef struct {
  flow *f;
  flow_linear *linear;
} flow_context;

/** Of a steady march of the flow, alone or with equations that join it. */
march_options flow_march_options(const pcsim_mesh *mesh, const pcsim_flow_options *options);

/** Mean over the domain of what a cell's fluxes take to fill it, s, from the coefficients. Collective. */
double flow_natural_step(const flow *f);

/** Collective. Errors: of the exchange of coefficients. */
pcsim_status flow_system(flow_context *context, discrete_system *s) PCSIM_NODISCARD;

#endif
