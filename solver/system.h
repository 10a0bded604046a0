/* SPDX-License-Identifier: BSD-2-Clause */
/** @file system.h  Private to solver/: a problem discretised in space, as the marches see it.
 *
 *      d/dt A(q, t) + R(q, t) = 0
 *
 *  integrated over each cell, with m unknowns and m equations a cell. An equation without accumulation
 *  (continuity) holds at every time. The steady march (march.h) and the time steps (timestep.h) know only
 *  this; the built-in flow (flow_system.c) and a problem made of programs are systems.
 *
 *  Order of calls: write q, then `residual`; it leaves the system linearised at that q and t, which is the
 *  point that `tangent`, `renew` and `solve` refer to, with the shift of the last `set_shift`. Letters of
 *  array shapes: n owned cells, m unknowns. What returns a status is collective, and so is `normalise`.
 * Arrays belong to the system. */
#ifndef PCSIM_SOLVER_SYSTEM_H
#define PCSIM_SOLVER_SYSTEM_H

#include <pcsim/solver.h>

typedef struct discrete_system {
  void *context; /**< first argument of the functions; borrowed */
  const pcsim_mesh *mesh;
  int m;                    /**< unknowns of a cell, 1 to SYSTEM_UNKNOWNS_MAX */
  int64_t n;                /**< owned cells, >= 0 */
  double *q;                /**< [n][m] the state, scaled as the system likes; written by the march */
  const double *volume;     /**< [n] > 0, in 2D area: weights of norms over cells */
  const uint8_t *evolves;   /**< [m] 1: equation i has an accumulation; unknown i is then in the error norm */
  const double *scale;      /**< [m] size of unknown i in the units of q, > 0: what errors are relative to */
  const double *row_weight; /**< [n][m] > 0 factors on equations in norms; follow the shift; NULL: 1 */
  double natural_step;      /**< about the step of an explicit method, s; 0: not known */
  bool linear; /**< the residual is linear in q: one step solves it, as exactly as its linear system is solved
                */
  const char *advice; /**< what may help when no step can be taken: the end of a sentence */

  /** Coefficients that are frozen until the next call (Rhie and Chow's) follow the state and what the last
   *  `residual` left behind; `fresh`: they follow q and t alone, so that equal states give equal bits.
   *  Call `residual` after it. NULL: nothing is frozen. */
  pcsim_status (*freeze)(void *context, double t, bool fresh);
  /** R(q, t) into r [n][m]; of a steady problem t is 0. What is not finite in q shows in r. */
  pcsim_status (*residual)(void *context, double t, double *r);
  /** A(q, t) into a [n][m], 0 where an equation has none. */
  pcsim_status (*accumulation)(void *context, double t, double *a);
  /** Shift of `tangent`, `renew` and `solve`: A'/step + (pseudo-time term of a cell)/cfl. The pseudo-time
   *  term is the system's own choice such that cfl = 1 is about an explicit step. Either may be INFINITY:
   *  no such term. */
  void (*set_shift)(void *context, double cfl, double step);
  /** y = (A'/step + pseudo-time/cfl + R') v, both [n][m]; frozen coefficients stay frozen. */
  pcsim_status (*tangent)(void *context, const double *v, double *y);
  /** New preconditioner at the current point and shift. Needed once before the first solve. */
  pcsim_status (*renew)(void *context);
  /** Solve (A'/step + pseudo-time/cfl + R') x = b, both [n][m], until the residual is `tolerance` times b;
   *  the preconditioner is that of the last `renew`. `*converged` false: x is the best there is. */
  pcsim_status (*solve)(void *context, const double *b, double tolerance, double *x, int64_t *iterations,
                        bool *converged);
  /** Take out of q what no equation decides (the level of the pressure). NULL: nothing. */
  void (*normalise)(void *context);
  /** Move q to the nearest state that the unknowns may have (none below its bound). NULL: all may be. */
  void (*admit)(void *context);
  /** What equation i (0 .. m-1) is called in messages, such as "x-momentum"; lives as long as the system. */
  const char *(*equation)(const void *context, int i);
  /** A steady march begins far from the solution: the problem may be eased, as much as a residual of `share`
   *  of the largest so far asks for (1: at the start). Called before `freeze`. While `eased` says so a small
   *  residual is not the end. Both NULL: never. */
  void (*ease)(void *context, double share);
  bool (*eased)(const void *context);
  /** Why the last residuals since `freeze` were not finite, as a sentence, if that is known. The same on all
   *  ranks. NULL: never. */
  bool (*blame)(const void *context, char *reason, size_t size);
} discrete_system;

enum { SYSTEM_UNKNOWNS_MAX = PCSIM_UNKNOWNS_MAX };

/* ------------------------------------------------------------------ norms (system.c) */

/** Euclidean norms of a residual, times row_weight, over all cells of all ranks. */
typedef struct {
  double total, part[SYSTEM_UNKNOWNS_MAX]; /**< of all equations together, of each */
  int64_t worst;                           /**< owned cell with the largest entry of this rank */
  int worst_part;                          /**< and its equation */
} system_norm;
/** Collective. */
void system_norm_of(const discrete_system *s, const double *r, system_norm *norm);
/** Cell, place and equation of the largest entry over all ranks: fills `worst_cell`, `worst_centre` and the
 *  reason "the E equation diverges first in cell ...; look at ...". Collective. */
void system_report_worst(const discrete_system *s, const system_norm *norm, const double *r,
                         pcsim_solve_result *result);

/** Residual r [n][m] of a steady state that has just been put in q, with its level and its frozen
 * coefficients taken from it. Fluxes and coefficients depend on each other: `whole` repeats until both are
 * what a march would have left behind, else coefficients follow q alone. Collective. */
pcsim_status system_settle(const discrete_system *s, bool whole, double *r) PCSIM_NODISCARD;

#endif
