/* SPDX-License-Identifier: BSD-2-Clause */
/** @file subspace.h  Private to solver/: what comes from outside of the solver before its first step. */
#ifndef PCSIM_SOLVER_SUBSPACE_H
#define PCSIM_SOLVER_SUBSPACE_H

#include "system.h"

/** The hooks of a solver with how its public values lie in a system's state. */
typedef struct {
  pcsim_solver_hooks hooks;
  const discrete_system *system;
  int width;                          /**< public values of a cell */
  int column[SYSTEM_UNKNOWNS_MAX];    /**< [m] place of unknown i among them */
  double factor[SYSTEM_UNKNOWNS_MAX]; /**< [m] public value = factor times that of the state */
} outside_start;

/** The start that the hook gives, if there is one, into the state. Collective. */
pcsim_status outside_take_start(const outside_start *o) PCSIM_NODISCARD;
/** The state moves within the hook's subspace, if there is one, to where the residual r [n][m] of the state
 * is least: Gauss-Newton steps that are taken only as long as it falls. r stays the residual of the state.
 * Collective. */
pcsim_status outside_search(const outside_start *o, double *r) PCSIM_NODISCARD;

#endif
