/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flow_adjoint.h  Private to solver/: transposed derivatives of the steady flow.
 *
 *  A converged state is one of R(q, tau, p) = 0 with tau = T(q, tau, p), Rhie and Chow's coefficients. Both
 * are unknowns of the adjoint:
 *
 *      R_q^T psi - T_q^T phi = J_q,    R_tau^T psi + phi - T_tau^T phi = J_tau
 *      dJ/dp = J_p - psi^T R_p + phi^T T_p
 *
 *  One vector holds psi and, last of a cell, phi in the scale of momentum: row [c][m] of the system is the
 *  equation of tau times a_P/tau, and its unknown the relative change of tau. Everything refers to the state
 *  and the coefficients that stand in the flow: call flow_residual first, and make a new adjoint of another
 *  state. Letters as in flow.h. */
#ifndef PCSIM_SOLVER_FLOW_ADJOINT_H
#define PCSIM_SOLVER_FLOW_ADJOINT_H

#include "flow_program.h"
#include "look.h"

/** What comes to everything that the flow is given, scaled as in flow.h; of this rank alone. */
typedef struct {
  double nu, force[3];
  double density; /**< in the units of the case, where the quantity itself depends on it */
  double *push;   /**< [n][d] to a force that varies; NULL where it does not */
  double *value;  /**< [nb][m] to the given values of boundary faces */
  double *node;   /**< [gradient.num_given][m] to those of boundary nodes */
  double *law;    /**< [parameters of the adjoint] to them where the law of the viscosity has them itself */
  /* To the geometry, where `shape` asks for it; else NULL. */
  bool shape;
  double *face;        /**< [ni][FLOW_FACE_WIDTH] */
  double *wall;        /**< [nb][FLOW_WALL_WIDTH] */
  double *place;       /**< [ni + nb][4] coordinates of faces that a viscosity asks for; NULL: none does */
  double *volume;      /**< [n] */
  double *grad;        /**< [n][m*d] to the gradients themselves: what their maps hand on */
  double *look_weight; /**< [looks] of a quantity of cells */
  double *look_reach;  /**< [looks][d] */
  double *look_place;  /**< [looks][4] */
} flow_cotangent;

typedef struct flow_adjoint flow_adjoint;
/** `f` and the parameters of the case [num] are borrowed; `shape`: what comes to the geometry is wanted too,
 *  exact where nothing joins. Errors: ERR_MEMORY. Caller destroys. Collective.
 */
pcsim_status flow_adjoint_create(flow *f, bool shape, const char *const *parameters, int num,
                                 flow_adjoint **adjoint) PCSIM_NODISCARD;
void flow_adjoint_destroy(flow_adjoint **adjoint);
/** y = the transposed system times w, both [n][m + 1]. Collective. */
pcsim_status flow_adjoint_product(flow_adjoint *adjoint, const double *w, double *y) PCSIM_NODISCARD;
/** given -= psi^T R_p - phi^T T_p for everything given; w [n][m + 1]. Collective. */
pcsim_status flow_adjoint_given(flow_adjoint *adjoint, const double *w,
                                flow_cotangent *given) PCSIM_NODISCARD;
/* The same in two steps, between which equations that join the flow add what they have. */

/** Seeds of what carries the equations and what came to what they hand over; the caller writes and reads. */
typedef struct {
  double *mass, *velocity; /**< [ni], [ni][d] to volume fluxes and convected velocities of faces */
  double *group_mass[FLOW_NUM_GROUPS], *group_state[FLOW_NUM_GROUPS]; /**< [num], [num][m] */
  double *carried, *group_carried[FLOW_NUM_GROUPS];                   /**< [ni], [num] times viscous.num */
} flow_joint;
/** NULL where nothing joins the flow. */
flow_joint *flow_adjoint_joint(flow_adjoint *adjoint);
/** Run backwards from w [n][m + 1] (NULL: 0) and the seeds of the joint; `full`: to everything given. */
pcsim_status flow_adjoint_begin(flow_adjoint *adjoint, const double *w, bool full) PCSIM_NODISCARD;
/** What came to cells.force, [nt][d]: where equations join after each run, else after those to all that is
 *  given. */
const double *flow_adjoint_force(const flow_adjoint *adjoint);
/** What came to the states of cells since, [nt][m]; more may be added. */
double *flow_adjoint_state(flow_adjoint *adjoint);
/** On to the owned unknowns, y [n][m + 1] (NULL: not wanted), and to everything given, times the factor
 * (NULL: not wanted). Collective. */
pcsim_status flow_adjoint_finish(flow_adjoint *adjoint, double factor, flow_cotangent *given,
                                 double *y) PCSIM_NODISCARD;
/** given->law += factor times what a full run left. */
void flow_adjoint_add_law(const flow_adjoint *adjoint, double factor, flow_cotangent *given);
/** y += the identity of the coefficients times w. */
void flow_adjoint_add_identity(const flow_adjoint *adjoint, const double *w, double *y);

/** Solve the transposed system by flexible GMRES, preconditioned by `linear`'s transposed one; b, w
 *  [n][m + 1]. Collective. Errors: ERR_LIBRARY, ERR_CASE (PETSc options). */
pcsim_status flow_adjoint_solve(flow_adjoint *adjoint, const flow *f, flow_linear *linear, const double *b,
                                double tolerance, double *w, int64_t *iterations,
                                bool *converged) PCSIM_NODISCARD;
/** Arrays of a cotangent for `num` parameters and a quantity that looks at so many places. Errors:
 *  ERR_MEMORY. Free after a failure too. */
pcsim_status flow_cotangent_allocate(const flow *f, int num, int64_t num_looks,
                                     flow_cotangent *given) PCSIM_NODISCARD;
void flow_cotangent_free(flow_cotangent *given);
/** dJ/dp of a quantity of the flow's converged state for the parameters of its problem
 *  (pcsim_flow_solver_adjoint). */
pcsim_status flow_sensitivity(flow *f, flow_linear *linear, pcsim_flow_problem *problem,
                              const pcsim_functional *quantity, const char *const *parameters, int num,
                              double tolerance, pcsim_flow_sensitivity *out) PCSIM_NODISCARD;

/** The derivative by one parameter through everything given, this rank's share; the laws' own parameters are
 *  left out. `patch` [patches][m] is a workspace. Collective. Errors: of pcsim_flow_problem_derivative. */
pcsim_status flow_through_given(const flow *f, const flow_cotangent *given, pcsim_flow_problem *problem,
                                const char *parameter, double *patch, double *derivative) PCSIM_NODISCARD;
/** A quantity of a pressure that nothing fixes is that of the pressure less its mean: b [n][width] is its
 *  derivative. Returns what the quantity gains with the level of the pressure, over the volume. Collective.
 */
double flow_take_out_level(const flow *f, int width, double *b);

/** A program "value" (on no space) of the whole mesh, with inputs as those of flow_program.h and its own. */
typedef struct {
  pcsim_program *program; /**< owned */
  look cells;             /**< that it looks at */
  bool on_faces;          /**< it looks at boundary faces */
  pcsim_functional_kind kind;
  double
      *face_weight[FLOW_NUM_GROUPS]; /**< [num of the group] 1: counts; of fields [num][m + d], see below */
  look_weighted weighted;            /**< of PCSIM_FUNCTIONAL_WEIGHTED; the faces' weights are then those of
                                          the m fields and of friction */
} flow_functional;
/** Errors: ERR_ARG (names, a point outside, a program that does not fit). Caller destroys. Collective. */
pcsim_status flow_functional_create(const flow *f, const pcsim_functional *quantity,
                                    flow_functional **functional) PCSIM_NODISCARD;
void flow_functional_destroy(flow_functional **functional);
/** What of the derivative by a motion of the mesh comes from the geometry, state and given values kept: this
 *  rank's share of sum of `given` times the derivatives of everything that is made of places. Collective.
 *  Errors: ERR_MEMORY. */
pcsim_status flow_shape_derivative(const flow *f, const flow_cotangent *given,
                                   const flow_functional *functional, const pcsim_mesh_tangent *motion,
                                   double *derivative) PCSIM_NODISCARD;
/** Bind what the functional's program has of its own. */
pcsim_status flow_functional_bind(const flow_functional *functional, pcsim_executor *x) PCSIM_NODISCARD;
/** The functional's value, of all ranks; b [n][m + 1] its derivative by the unknowns, what comes to
 * everything given added to `given`, and to `parameter` [num] of the quantity's program, by their names.
 * Collective. */
pcsim_status flow_adjoint_functional(flow_adjoint *adjoint, const flow_functional *functional,
                                     const char *const *names, int num, double *value, double *b,
                                     flow_cotangent *given, double *parameter) PCSIM_NODISCARD;
/** Its first step: the rest is flow_adjoint_finish. What comes to places looked at goes to `given`. */
pcsim_status flow_adjoint_begin_functional(flow_adjoint *adjoint, const flow_functional *functional,
                                           const char *const *names, int num, double *value,
                                           const flow_cotangent *given, double *parameter) PCSIM_NODISCARD;

#endif
