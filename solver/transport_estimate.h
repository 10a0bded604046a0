/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transport_estimate.h  Private to solver/: error of a quantity of typed laws. */
#ifndef PCSIM_SOLVER_TRANSPORT_ESTIMATE_H
#define PCSIM_SOLVER_TRANSPORT_ESTIMATE_H

#include "transport.h"

/** As pcsim_transport_solver_estimate, of the state in `coarse`; out->value is given. Collective. */
pcsim_status transport_estimate(const transport *coarse, const pcsim_mesh *mesh,
                                const pcsim_transport_problem *problem, const pcsim_functional *quantity,
                                const double *psi, pcsim_estimate *out) PCSIM_NODISCARD;

#endif
