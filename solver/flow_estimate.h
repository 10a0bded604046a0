/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flow_estimate.h  Private to solver/: error of a quantity of the flow. */
#ifndef PCSIM_SOLVER_FLOW_ESTIMATE_H
#define PCSIM_SOLVER_FLOW_ESTIMATE_H

#include "flow.h"

/** As pcsim_flow_solver_estimate, of the state in `coarse`; out->value is given. psi [n][m]. Collective. */
pcsim_status flow_estimate(const flow *coarse, const pcsim_flow_options *options, const pcsim_mesh *mesh,
                           pcsim_flow_problem *problem, const pcsim_functional *quantity, const double *psi,
                           pcsim_estimate *out) PCSIM_NODISCARD;

#endif
