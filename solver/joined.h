/* SPDX-License-Identifier: BSD-2-Clause */
/** @file joined.h  Private to solver/: a flow and typed equations that join it, as one system.
 *
 *  The unknowns of a cell are those of the flow (velocity, pressure, scaled as in flow.h) and those of the
 * laws. The programs of both run one after the other, joined by arrays: the laws' force on the flow and what
 * its viscosity depends on, then the
 * flow's residual, whose volume fluxes and velocities carry the laws. The tangent goes the same way, so that
 * it is exact; a preconditioner step takes the laws first, then the flow with the force that follows. */
#ifndef PCSIM_SOLVER_JOINED_H
#define PCSIM_SOLVER_JOINED_H

#include "flow_system.h"
#include "transport_linear.h"

typedef struct joined_linear joined_linear; /**< joined_linear.c */

typedef struct {
  flow *f;
  transport *t;
  flow_linear *flow_linear;
  transport_linear *transport_linear;
  flow_context flow_context;
  transport_context transport_context;
  discrete_system flow_system, transport_system; /**< the parts */
  int mf, m;                                     /**< unknowns of the flow, of both */
  double *q;                                     /**< [n][m] */
  double *part, *part_y;               /**< [n][m] a vector taken apart: flow [n][mf], laws [n][m - mf] */
  double *row_weight;                  /**< [n][m] */
  double *force, *d_force;             /**< [nt][d] N/m^3; NULL: the laws push nothing */
  double *wall, *d_wall;               /**< [nb][d] velocity on boundary faces, m/s */
  double *value, *friction, *rate;     /**< [nb][mf], [nb][d], [nb] of the flow's boundaries */
  pcsim_executor *push, *push_tangent; /**< force, its tangent by the laws' state */
  double *trace, **trace_wall;         /**< [ni][viscous.num], [num_conditions][num of its faces][viscous.num]
                                          unknowns on faces in the laws' order, or their directions */
  pcsim_executor *tracing, *tracing_tangent; /**< NULL: the viscosity depends on no unknown */
  joined_linear *linear;
  uint8_t evolves[SYSTEM_UNKNOWNS_MAX];
  double scale[SYSTEM_UNKNOWNS_MAX];
  double natural_step; /**< s, through time */
} joined;

/** Both parts on one mesh; the problems are borrowed. Collective. Errors: of the parts. Caller destroys. */
pcsim_status joined_create(const pcsim_mesh *mesh, pcsim_flow_problem *flow_problem,
                           const pcsim_transport_problem *laws, const pcsim_flow_options *options,
                           joined **out) PCSIM_NODISCARD;
void joined_destroy(joined **out);
/** The system; `j` must outlive it. */
void joined_system(joined *j, discrete_system *s);
/** y = the shifted tangent times v, both [n][m]. Collective. */
pcsim_status joined_tangent(joined *j, const double *v, double *y) PCSIM_NODISCARD;
/** x = what the preconditioners of both make of b, [n][m]. Collective. */
pcsim_status joined_precondition(joined *j, const double *b, double *x) PCSIM_NODISCARD;

/* ---------------------------------------------- what is handed over (joined_exchange.c) */

pcsim_status joined_exchange_create(joined *j) PCSIM_NODISCARD;
void joined_exchange_destroy(joined *j);
/** The laws' carriers from what the flow's last residual says; along its last tangent: nothing moves where
 *  the velocity is given. */
pcsim_status joined_carry(joined *j) PCSIM_NODISCARD;
void joined_carry_along(joined *j);
/** A force of the laws, per volume, over that of the scaled flow: rho U^2. */
static inline double joined_force_scale(const flow *f) {
  return f->density * f->scale_velocity * f->scale_velocity;
}
/** The flow's force from the laws' state and the cells' velocity. */
pcsim_status joined_push(joined *j) PCSIM_NODISCARD;
/** y [n][mf] -= the flow's force along the direction of the laws that stands in t->v, and, `moving`, of the
 *  velocity. */
pcsim_status joined_push_along(joined *j, bool moving, double *y) PCSIM_NODISCARD;
/** The unknowns on faces that the flow's viscosity depends on, from the laws' state and gradients; along
 *  their directions. */
pcsim_status joined_trace(joined *j) PCSIM_NODISCARD;
pcsim_status joined_trace_along(joined *j) PCSIM_NODISCARD;
/** Their program (transport_write_trace). Caller destroys. Errors: ERR_ARG (the viscosity depends on what is
 *  no unknown). */
pcsim_status joined_write_trace(const joined *j, pcsim_program **program) PCSIM_NODISCARD;

/* -------------------------------------------------------------- linear systems */

pcsim_status joined_linear_create(joined *j, joined_linear **linear) PCSIM_NODISCARD;
void joined_linear_destroy(joined_linear **linear);
pcsim_status joined_linear_solve(joined_linear *linear, const double *b, double *x, double tolerance,
                                 int64_t *iterations, bool *converged) PCSIM_NODISCARD;

#endif
