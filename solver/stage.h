/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stage.h  Private to solver/: the implicit equation of one stage of a time step, by Newton's method.
 *
 *      A(Q, t)/step + known + R(Q, t) = 0     equations that evolve
 *                             R(Q, t) = 0     the others
 *
 *  Shapes: n owned cells, m unknowns. */
#ifndef PCSIM_SOLVER_STAGE_H
#define PCSIM_SOLVER_STAGE_H

#include "system.h"

typedef struct stage stage;

/** How a stage ended. */
typedef struct {
  bool converged;
  int64_t linear_iterations;
  int newton_iterations;
  double first; /**< norm of the first correction: how far the start was off */
} stage_report;

/** `s` is borrowed. Caller destroys. Errors: ERR_MEMORY. */
pcsim_status stage_create(const discrete_system *s, stage **g) PCSIM_NODISCARD;
void stage_destroy(stage **g);
/** Root of the mean over volume and evolving unknowns of (x_i/scale_i)^2, x [n][m]. Collective. */
double stage_norm(const stage *g, const double *x);
/** The next solve builds a new preconditioner, whatever the age of the one at hand. */
void stage_renew(stage *g);
/** Solve for Q, which begins at what stands in the system's q and is left there. `known` [n][m] is 0 where
 *  nothing evolves; `goal` bounds the norm of what is left to correct; `expected`: the norm of the first
 *  correction, 0 unknown. Coefficients that the system freezes follow the start. Collective. */
pcsim_status stage_solve(stage *g, double t, double step, const double *known, double goal, double expected,
                         stage_report *report) PCSIM_NODISCARD;
/** After a solve: minus dA/dt [n][m] as the stage's equation says it, 0 where nothing evolves. */
void stage_rate(const stage *g, double *rate);
/** x = (A'/step + R')^-1 e/step at the last solve's point: an error of A as one of the unknowns, with what
 *  the equations without accumulation forbid taken out (Hosea and Shampine 1996). e, x [n][m]. Collective. */
pcsim_status stage_filter(stage *g, const double *e, double tolerance, double *x,
                          int64_t *iterations) PCSIM_NODISCARD;
/** Where the equation of the failed stage is off the most: as system_report_worst. Collective. */
void stage_report_worst(const stage *g, pcsim_solve_result *result);

#endif
