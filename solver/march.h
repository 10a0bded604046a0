/* SPDX-License-Identifier: BSD-2-Clause */
/** @file march.h  Private to solver/: the march of any system to its steady state. */
#ifndef PCSIM_SOLVER_MARCH_H
#define PCSIM_SOLVER_MARCH_H

#include "subspace.h"

typedef struct {
  double tolerance; /**< relative residual to stop at */
  int64_t steps_max;
  double cfl;              /**< first pseudo-time step */
  double linear_tolerance; /**< of each linear solve */
  bool finish; /**< a step that did what its linear model said is followed by a solve to the end: the
                  problem is linear, or nearly solved */
} march_options;

typedef struct march march;

/** `s` is borrowed. Caller destroys. Errors: ERR_MEMORY. */
pcsim_status march_create(const discrete_system *s, const march_options *options, march **m) PCSIM_NODISCARD;
void march_destroy(march **m);
/** What is asked before the first step; borrowed. */
void march_set_outside(march *m, const outside_start *outside);
/** Frozen coefficients and residual of the state that stands in q: before anything of it is looked at.
 *  Collective. */
pcsim_status march_start(march *m) PCSIM_NODISCARD;
/** March until the tolerance, the limit of steps or a stall; `observer` is called as pcsim_solve_observer
 *  says, with the equations' residuals [m]. Collective. */
pcsim_status march_run(march *m, pcsim_solve_observer observer, void *context,
                       pcsim_solve_result *result) PCSIM_NODISCARD;
int64_t march_step(const march *m);
/** Numbers that going on needs beside q: step, CFL, reference, Krylov iterations, then zeros. Local. */
void march_get_state(const march *m, double scalars[PCSIM_NUM_STATE_SCALARS]);
/** The caller sets q then. Local. Errors: ERR_ARG (no such numbers; nothing is changed). */
pcsim_status march_set_state(march *m, const double scalars[PCSIM_NUM_STATE_SCALARS]) PCSIM_NODISCARD;
/** Whether march_start or march_run has seen the q that stands there since march_set_state. */
bool march_started(const march *m);

#endif
