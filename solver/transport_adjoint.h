/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transport_adjoint.h  Private to solver/: transposed derivatives of typed laws.
 *
 *      R'^T psi = dJ/dq,    dJ/dp = J_p - psi^T R_p
 *
 *  The transpose runs the sequence of a residual backwards: the reverse of the program on faces, what came to
 *  the gradients of ghosts added to their owners, the gradients' maps transposed, what came to the states of
 *  ghosts added to their owners. What came to given values goes on to the parameters of the conditions.
 *  Everything refers to the state, gradients and speeds that stand in the transport: call transport_residual
 *  first. Letters of array shapes as in transport.h. */
#ifndef PCSIM_SOLVER_TRANSPORT_ADJOINT_H
#define PCSIM_SOLVER_TRANSPORT_ADJOINT_H

#include "look.h"
#include "transport.h"

typedef struct transport_adjoint transport_adjoint;

/** Names of parameters [num], copied; what no program knows has derivative 0. `looks` of the quantity: what
 *  comes to places is wanted too, for transport_adjoint_shape; else NULL. `t` is borrowed. Collective.
 * Errors: ERR_MEMORY. Caller destroys. */
pcsim_status transport_adjoint_create(transport *t, const char *const *parameters, int num, const look *looks,
                                      transport_adjoint **adjoint) PCSIM_NODISCARD;
void transport_adjoint_destroy(transport_adjoint **adjoint);
/** y = R'(q)^T w without any shift, both [n][m]. `follow`: the speeds of upwinding count as functions of the
 *  state; else they are frozen, which is the transpose of transport_tangent. Collective. */
pcsim_status transport_adjoint_product(transport_adjoint *adjoint, const double *w, bool follow,
                                       double *y) PCSIM_NODISCARD;
/** derivative [num] += factor w^T R_p, of this rank alone; w [n][m]. Speeds follow. Collective. */
pcsim_status transport_adjoint_parameters(transport_adjoint *adjoint, const double *w, double factor,
                                          double *derivative) PCSIM_NODISCARD;

/* The same in steps, between which a flow that the laws join adds what it has; nothing comes to places. */

/** What came to the carriers; all NULL without them. */
typedef struct {
  double *face, *cell; /**< [ni][d], [nt][d] */
  double **boundary;   /**< [num_conditions][num][d] */
} transport_carrier_cotangent;
/** Run backwards from w [n][m] (NULL: 0); `full`: to given values and parameters too. */
pcsim_status transport_adjoint_begin(transport_adjoint *adjoint, const double *w, bool full,
                                     bool follow) PCSIM_NODISCARD;
const transport_carrier_cotangent *transport_adjoint_carriers(const transport_adjoint *adjoint);
/** The reverse of another program of the mesh by everything; the caller binds its seeds. Destroyed before the
 * adjoint, after a failure too. */
typedef struct transport_reverse transport_reverse;
pcsim_status transport_reverse_create(transport_adjoint *adjoint, pcsim_program *p, int spaces,
                                      transport_reverse **reverse) PCSIM_NODISCARD;
void transport_reverse_destroy(transport_reverse **reverse);
pcsim_executor *transport_reverse_executor(const transport_reverse *reverse);
/** Run it: to state, gradients, carriers and given values comes what it says. */
pcsim_status transport_adjoint_add(transport_adjoint *adjoint,
                                   const transport_reverse *reverse) PCSIM_NODISCARD;
/** y [n][m] += what it says of the states of this rank's cells alone. */
pcsim_status transport_reverse_apply(transport_adjoint *adjoint, const transport_reverse *reverse,
                                     double *y) PCSIM_NODISCARD;
/** derivative [num] += factor times what its last run says of the parameters of its program. */
void transport_adjoint_add_parameters(const transport_adjoint *adjoint, const transport_reverse *reverse,
                                      double factor, double *derivative);
/** The same of the laws and their sources, after a full run. */
pcsim_status transport_adjoint_add_own(transport_adjoint *adjoint, double factor,
                                       double *derivative) PCSIM_NODISCARD;
/** y [n][m] = factor times what came to the state (NULL: not wanted); what came to given values goes on to
 *  the parameters of conditions (derivative NULL: not wanted). Collective. */
pcsim_status transport_adjoint_finish(transport_adjoint *adjoint, double factor, double *derivative,
                                      double *y) PCSIM_NODISCARD;

/** A program "value" (on no space) of the whole mesh, with inputs as those of transport.h and its own. */
typedef struct {
  pcsim_program *program; /**< owned */
  look cells;             /**< that it looks at */
  double **face_weight; /**< [num_conditions][num of its faces] NULL: looks at no face; of fields [num][m] */
  bool is_weighted;     /**< of PCSIM_FUNCTIONAL_WEIGHTED: */
  look_weighted weighted;
  bool root;        /**< the functional is the root of the program's value */
  bool mean, fixed; /**< weights are shares of a volume or area; it looks at a point that stays */
} transport_functional;
/** Errors: ERR_ARG (names, a point outside, a program that does not fit). Collective. */
pcsim_status transport_functional_create(const transport *t, const pcsim_functional *quantity,
                                         transport_functional **functional) PCSIM_NODISCARD;
void transport_functional_destroy(const transport *t, transport_functional **functional);
/** Bind what the functional's program has of its own. */
pcsim_status transport_functional_bind(const transport *t, const transport_functional *functional,
                                       pcsim_executor *x) PCSIM_NODISCARD;
/** The functional's value, of all ranks; b [n][m] = dJ/dq, derivative [num] += J_p of this rank alone.
 *  Collective. */
pcsim_status transport_adjoint_functional(transport_adjoint *adjoint, const transport_functional *functional,
                                          double *value, double *b, double *derivative) PCSIM_NODISCARD;

/** Its first step: the rest is transport_adjoint_finish with `*factor`. */
pcsim_status transport_adjoint_begin_functional(transport_adjoint *adjoint,
                                                const transport_functional *functional, double *value,
                                                double *factor, double *derivative) PCSIM_NODISCARD;

/** After functional (`value` its value) and parameters: the derivative along a motion of the mesh, point and
 *  line sources left in place; this rank's share. Collective. Errors: ERR_MEMORY, ERR_MESH. */
pcsim_status transport_adjoint_shape(transport_adjoint *adjoint, const transport_functional *functional,
                                     double value, const pcsim_mesh_tangent *motion,
                                     double *derivative) PCSIM_NODISCARD;

#endif
