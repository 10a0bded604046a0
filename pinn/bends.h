/* SPDX-License-Identifier: BSD-2-Clause */
/** @file bends.h  Private: functions of a case that are not smooth enough for what points see.
 *
 *  A residual is looked at in points. Where a function that is built in (or a flux) jumps or bends, its
 *  derivatives hold what no point sees: a kink that is built into u has a second derivative that is infinite
 * on a line and of order 1 beside it, and a network trained at points keeps the kink for ever. */
#ifndef PCSIM_PINN_BENDS_H
#define PCSIM_PINN_BENDS_H

#include "problem.h"

/** Does `output` of a program of "coordinates" jump in the domain, or a derivative of it by coordinate i
 * below order[i] (of those with order[i] > 0), or (`ends`) do they not meet over a period? `place`
 * [num_coordinates] gets a point there. Looked for between 1024 points of the domain; bends of operators that
 * pcsim_program_switches names. Errors: ERR_MEMORY, what drawing points may fail with. */
pcsim_status bends_find(const problem *p, const domain *d, const pcsim_program *program, const char *output,
                        const int *order, bool ends, bool *found, double *place) PCSIM_NODISCARD;
/** Values on pieces and at the start that are not smooth enough for the equations are not built in (a line of
 *  the log says so): of `all` [n] problems of the regions, or the one, those of the whole like theirs.
 *  `seams`: jumps over a period that the ansatz carries on do not count. */
pcsim_status bends_release(const domain *d, problem *all, int n, problem *whole, bool seams) PCSIM_NODISCARD;
/** Fluxes of equations that jump where no region ends are problems of the tree. */
pcsim_status bends_fluxes(const domain *d, const problem *p) PCSIM_NODISCARD;

#endif
