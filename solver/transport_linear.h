/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transport_linear.h  Private to solver/: linear systems of typed laws, and the laws as a system. */
#ifndef PCSIM_SOLVER_TRANSPORT_LINEAR_H
#define PCSIM_SOLVER_TRANSPORT_LINEAR_H

#include "transport.h"

typedef struct transport_linear transport_linear;

/** `t` is borrowed. Collective. Errors: ERR_MEMORY, ERR_LIBRARY, ERR_CASE (PETSc options). */
pcsim_status transport_linear_create(transport *t, const pcsim_transport_options *options,
                                     transport_linear **linear) PCSIM_NODISCARD;
void transport_linear_destroy(transport_linear **linear);
/** New preconditioner from the current state and shift. */
pcsim_status transport_linear_update(transport_linear *linear) PCSIM_NODISCARD;
/** Solve (A'/step + pace/cfl + R') x = b, both [n][m]; `*converged` false if the tolerance was missed. */
pcsim_status transport_linear_solve(transport_linear *linear, const double *b, double *x, double tolerance,
                                    int64_t *iterations, bool *converged) PCSIM_NODISCARD;
/** x = what the preconditioner of the last update makes of b, both [n][m]. */
pcsim_status transport_linear_precondition(transport_linear *linear, const double *b,
                                           double *x) PCSIM_NODISCARD;
/** The preconditioner of the transposed compact Jacobian, from the point of the last transport_linear_update;
 *  x = what it makes of b, both [n][m]. */
pcsim_status transport_linear_update_transposed(transport_linear *linear) PCSIM_NODISCARD;
pcsim_status transport_linear_precondition_transposed(transport_linear *linear, const double *b,
                                                      double *x) PCSIM_NODISCARD;
/** y = A^T v, both [n][m], of the adjoint; its own context. */
typedef pcsim_status (*transport_product)(void *context, const double *v, double *y);
/** Solve A^T x = b with the transposed product and the transposed compact Jacobian as preconditioner, both of
 *  the point of the last transport_linear_update; PETSc options as for transport_linear_solve. */
pcsim_status transport_linear_solve_transposed(transport_linear *linear, transport_product product,
                                               void *context, const double *b, double *x, double tolerance,
                                               int64_t *iterations, bool *converged) PCSIM_NODISCARD;

/** What the system's functions work on; borrowed, must outlive the system. */
typedef struct {
  transport *t;
  transport_linear *linear;
  uint8_t evolves[SYSTEM_UNKNOWNS_MAX];
} transport_context;
void transport_system(transport_context *context, discrete_system *s);
/** y = (A'/step + pace/cfl + R') v (transport_system.c). */
pcsim_status transport_shifted_tangent(transport *t, const double *v, double *y) PCSIM_NODISCARD;
/** The same along the direction that is set (transport_set_direction). */
pcsim_status transport_shifted_tangent_here(transport *t, double *y) PCSIM_NODISCARD;

#endif
