/* SPDX-License-Identifier: BSD-2-Clause */
/** @file joined_adjoint.h  Private to solver/: transposed derivatives of a steady flow and the equations that
 * join it.
 *
 *  Residuals run laws' force and viscosity, then the flow, then the laws with what the flow carries them by
 *  (joined.h); the transpose runs the reverses of the same programs in the opposite order. Rhie and Chow's
 *  coefficients are unknowns as in flow_adjoint.h: a vector holds for each cell psi of the flow [mf], phi,
 * psi of the laws [mt]; its width is mf + 1 + mt. Everything refers to the state that stands in the parts:
 * call the system's residual first. */
#ifndef PCSIM_SOLVER_JOINED_ADJOINT_H
#define PCSIM_SOLVER_JOINED_ADJOINT_H

#include "flow_adjoint.h"
#include "joined.h"
#include "transport_adjoint.h"

typedef struct {
  joined *j; /**< borrowed */
  flow_adjoint *f;
  transport_adjoint *t;
  transport_reverse *push, *trace;   /**< of force and traces; NULL: there are none */
  double *push_seed;                 /**< [nt][d] */
  double *trace_seed, **trace_walls; /**< [ni][viscous.num], [num_conditions][num][viscous.num] */
  double *wall;                      /**< [nb][d or viscous.num] workspace */
  double *w_flow, *w_laws;           /**< [n][mf + 1], [n][mt] a vector taken apart */
  double *y_flow, *y_laws;
} joined_adjoint;

static inline int joined_adjoint_width(const joined *j) { return j->m + 1; }
/** `j` and the parameters of the case [num] are borrowed. Caller destroys. Collective. Errors: ERR_MEMORY. */
pcsim_status joined_adjoint_create(joined *j, const char *const *parameters, int num,
                                   joined_adjoint **adjoint) PCSIM_NODISCARD;
void joined_adjoint_destroy(joined_adjoint **adjoint);
/** y = the transposed system times w, both [n][width]. Collective. */
pcsim_status joined_adjoint_product(joined_adjoint *a, const double *w, double *y) PCSIM_NODISCARD;
/** given and derivative [num] -= w^T R_p for everything given and all parameters that programs have; of this
 *  rank alone. Collective. */
pcsim_status joined_adjoint_parameters(joined_adjoint *a, const double *w, flow_cotangent *given,
                                       double *derivative) PCSIM_NODISCARD;
/** Value of all ranks and derivative b [n][width] of a quantity of the flow or, `of_laws`, of the laws; what
 *  comes to everything given and to parameters is added, of this rank alone. Collective. */
pcsim_status joined_adjoint_functional(joined_adjoint *a, const pcsim_functional *quantity, bool of_laws,
                                       const char *const *parameters, int num, double *value, double *b,
                                       flow_cotangent *given, double *derivative) PCSIM_NODISCARD;
/** Solve the transposed system by flexible GMRES, preconditioned by both parts one after the other; b, w
 *  [n][width]. Collective. Errors: ERR_LIBRARY. */
pcsim_status joined_adjoint_solve(joined_adjoint *a, const double *b, double tolerance, double *w,
                                  int64_t *iterations, bool *converged) PCSIM_NODISCARD;
/** What the laws' rows gain from the flow's: y [n][mt] += F^T x with the force's derivative F by the laws'
 *  state, x [n][mf]. */
pcsim_status joined_adjoint_push_back(joined_adjoint *a, const double *x, double *y) PCSIM_NODISCARD;

/** dJ/dp as pcsim_joined_solver_adjoint says (joined_sensitivity.c). */
pcsim_status joined_sensitivity(joined *j, const discrete_system *system, pcsim_flow_problem *problem,
                                const pcsim_functional *quantity, const char *const *parameters, int num,
                                double tolerance, pcsim_flow_sensitivity *out) PCSIM_NODISCARD;

#endif
