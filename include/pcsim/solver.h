/* SPDX-License-Identifier: BSD-2-Clause */
/** @file solver.h  Incompressible flow, steady or through time, and typed conservation laws by coupled
 *  finite-volume Newton methods. */
#ifndef PCSIM_SOLVER_H
#define PCSIM_SOLVER_H

#include <pcsim/physics.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Start and end PETSc where the host has not (collective over `comm`, MPI running). */
pcsim_status pcsim_solver_start(MPI_Comm comm) PCSIM_NODISCARD;
pcsim_status pcsim_solver_end(void) PCSIM_NODISCARD;

/** Choices of the solver; defaults from pcsim_flow_options_default. */
typedef struct {
  pcsim_time time;  /**< with `given` a run goes through time; the next three are of the steady march */
  double tolerance; /**< relative residual to stop at */
  int64_t steps_max;
  double cfl;              /**< first pseudo-time step in units of V/a_P, on 20,000 cells */
  double central;          /**< share of central in the convective flux, rest linear upwind */
  double kappa;            /**< face interpolation: 0 linear, 1 cubic */
  double wall_order;       /**< wall flux: 1 exact for parabolas, 0 two points */
  double rhie_chow;        /**< factor of the pressure dissipation, 1 is Rhie and Chow's */
  double linear_tolerance; /**< of the inner Krylov solve */
  char linear[16];         /**< auto | multigrid | direct | petsc */
  char petsc[512];         /**< extra PETSc options, "" none */
  int64_t num_stops;
  const double *stops; /**< [num_stops] ascending times that a step must end at; borrowed by the solver */
} pcsim_flow_options;
pcsim_flow_options pcsim_flow_options_default(void);
/** Read `solve:`; problems go to the tree. */
void pcsim_flow_options_read(pcsim_tree *tree, pcsim_flow_options *options);
/** Keys of `solve:`. */
const pcsim_key *pcsim_flow_option_keys(size_t *n);

typedef struct pcsim_flow_solver pcsim_flow_solver;

/** One finished step, as the observer sees it. */
typedef struct {
  int64_t step;            /**< 0 is the start, before any step */
  double residual;         /**< relative: |R| / reference, largest of the equations */
  const double *residuals; /**< [num_residuals] of the equations, relative; a flow's: momentum x, y, z,
                                continuity (4 in 2D too) */
  int num_residuals;
  double cfl;
  double time, dt, error;    /**< of a time step: where it ended, its size, its estimated error; else 0 */
  int64_t linear_iterations; /**< of this step */
  int64_t rejections;        /**< of this step */
  double wall_seconds;       /**< since the solve began */
} pcsim_solve_step;
/** Called after each step on every rank (collective inside is fine); a failure ends the solve with it. */
typedef pcsim_status (*pcsim_solve_observer)(void *context, const pcsim_solve_step *step);

typedef enum {
  PCSIM_OUTCOME_CONVERGED,
  PCSIM_OUTCOME_NOT_CONVERGED, /**< step limit, or stalled */
  PCSIM_OUTCOME_DIVERGED
} pcsim_outcome;
typedef struct {
  pcsim_outcome outcome;
  int64_t steps, linear_iterations;
  double residual;
  double time;      /**< reached by a time run, else 0 */
  double seconds;   /**< wall time of the solve, without set-up of mesh and files */
  char reason[512]; /**< a sentence: why it stopped; on divergence the equation, cell, coordinates, remedy */
  int64_t worst_cell; /**< on divergence: number in the raw mesh; else -1 */
  double worst_centre[3];
} pcsim_solve_result;

/* ------------------------------------------------------- what others may propose */

enum { PCSIM_SUBSPACE_MAX = 32 };
/** What something outside of the solver (a surrogate, a run on another mesh) proposes to a steady solve
 * before its first step; a function that is NULL proposes nothing. Nothing proposed can change what is
 * accepted: the residual that the tolerance is relative to is that of the case's own start, whatever replaces
 * it, and a subspace is searched only where the residual falls. Values are [num_cells][width] in the units of
 * the case: u, v, w, p of a flow (w = 0 in 2D), the unknowns of typed laws in their order. Every rank calls;
 * collective calls inside are fine; a failure ends the solve with it. What may be proposed before there is a
 * mesh, sizes of its cells, is pcsim_mesh_sizes (pcsim_mesh_spec_set_sizes). */
typedef struct {
  void *context;
  /** `values` holds the case's start and may be overwritten. */
  pcsim_status (*start)(void *context, const pcsim_mesh *mesh, int width, double *values);
  /** Directions [*num][num_cells][width], at most PCSIM_SUBSPACE_MAX, into `directions`, for the state
   * `values`: the solve begins at the sum of the state and those that has the least residual. */
  pcsim_status (*subspace)(void *context, const pcsim_mesh *mesh, int width, const double *values, int *num,
                           double *directions);
} pcsim_solver_hooks;

/** Collective. Mesh and problem are borrowed until destroy; a run through time sets the problem's time.
 * Errors: ERR_MESH (degenerate stencil; names the cell), ERR_MEMORY, ERR_LIBRARY (PETSc), ERR_CASE (PETSc
 * options). */
pcsim_status pcsim_flow_solver_create(const pcsim_mesh *mesh, pcsim_flow_problem *problem,
                                      const pcsim_flow_options *options,
                                      pcsim_flow_solver **solver) PCSIM_NODISCARD;
void pcsim_flow_solver_destroy(pcsim_flow_solver **solver);
/** Ask `hooks` (copied; its context is borrowed) before the first step. Errors: ERR_ARG (a run through time).
 */
pcsim_status pcsim_flow_solver_set_hooks(pcsim_flow_solver *solver,
                                         const pcsim_solver_hooks *hooks) PCSIM_NODISCARD;
/** March to the steady state, or through time to its end. Not getting there is a result, not an error. */
pcsim_status pcsim_flow_solver_run(pcsim_flow_solver *solver, pcsim_solve_observer observer, void *context,
                                   pcsim_solve_result *result) PCSIM_NODISCARD;
/** Fields of the current state (collective: gradients are recomputed). Borrowed until the next call. */
pcsim_status pcsim_flow_solver_fields(pcsim_flow_solver *solver, pcsim_flow_fields *fields) PCSIM_NODISCARD;

/** The state a checkpoint holds: unknowns [num_cells][width] and a few numbers, the first of which is the
 * number of its step. Of a steady march: the last state, width 4 (u, v, w, p; w = 0 in 2D). Of a run through
 * time: width 16, the state and what else the next step needs, in the solver's own scales, of the last step
 * whose number is a multiple of ten or where the run ended; going on from there gives the same bits on the
 * same ranks as not having stopped. */
enum { PCSIM_NUM_STATE_SCALARS = 16 };
int pcsim_flow_solver_state_width(const pcsim_flow_solver *solver);
/** Number of the step that the state to be had is of. */
int64_t pcsim_flow_solver_state_step(const pcsim_flow_solver *solver);
pcsim_status pcsim_flow_solver_get_state(const pcsim_flow_solver *solver, double *unknowns,
                                         double scalars[PCSIM_NUM_STATE_SCALARS]) PCSIM_NODISCARD;
/** Continue from a state; steps count on from it. */
pcsim_status pcsim_flow_solver_set_state(pcsim_flow_solver *solver, const double *unknowns,
                                         const double scalars[PCSIM_NUM_STATE_SCALARS]) PCSIM_NODISCARD;

/** What the error of a number is. */
typedef struct {
  double value;      /**< in: of the current state, as the adjoint gives it */
  double error;      /**< estimate of (the exact value on the same polyhedron) - value */
  double corrected;  /**< value + error */
  double *indicator; /**< [num_cells] magnitude of each cell's share of psi R; the caller's */
} pcsim_estimate;

/* Derivatives of one number by parameters of the case. */

/** What comes out; the arrays are the caller's. */
typedef struct {
  double value;       /**< J of the current state */
  double *derivative; /**< [num_parameters] dJ/dp along the solutions of the flow */
  double *own;     /**< [num_parameters] that part of it which programs have themselves, the functional's and
                        that of a viscosity that varies, without what later parameters make of it;
                        NULL: not wanted */
  double *adjoint; /**< [num_cells][dim + 1] of momentum and continuity, in the solver's own scales, for
                        pcsim_flow_solver_estimate; NULL: not wanted */
  int num_shapes;  /**< motions of the mesh to differentiate by; given by the caller */
  const pcsim_mesh_tangent *shape; /**< [num_shapes] given by the caller */
  double *by_shape;                /**< [num_shapes] dJ/ds along each: topology, given values and parameters
                                        kept as they are, but for values that depend on the place */
  int64_t iterations;              /**< of the adjoint's linear solve */
  bool converged; /**< false: it missed the tolerance, the derivatives are no better than it */
} pcsim_flow_sensitivity;
/** dJ/dp of a steady flow by the discrete adjoint: one transposed solve to `tolerance` for all parameters,
 *  named as in the case; what depends on them there is followed (pcsim_flow_problem_derivative). The
 * transpose is exact, Rhie and Chow's coefficients included, so that the derivatives are those of the
 * discrete flow; how far its residual has fallen bounds them. Where nothing fixes the pressure, the quantity
 * is that of the pressure with mean zero. Call it after pcsim_flow_solver_run has converged; the state stays.
 * Collective. Errors: ERR_ARG (a run through time, names, a point outside the mesh, a program that does not
 * fit), ERR_MEMORY, ERR_LIBRARY, ERR_CASE (PETSc options). */
pcsim_status pcsim_flow_solver_adjoint(pcsim_flow_solver *solver, const pcsim_functional *quantity,
                                       const char *const *parameters, int num_parameters, double tolerance,
                                       pcsim_flow_sensitivity *sensitivity) PCSIM_NODISCARD;
/** Error of a quantity of a steady flow by the dual-weighted residual, as pcsim_transport_solver_estimate has
 *  it: `fine` is the mesh of pcsim_raw_mesh_refine of the solver's raw mesh, `problem` the same case on it,
 *  `adjoint` [num_cells][dim + 1] what pcsim_flow_solver_adjoint gave for the quantity; all borrowed for the
 *  call. Collective. Errors: ERR_ARG (a run through time, meshes that do not belong together), ERR_MEMORY,
 *  ERR_MESH. */
pcsim_status pcsim_flow_solver_estimate(pcsim_flow_solver *solver, const pcsim_functional *quantity,
                                        const double *adjoint, const pcsim_mesh *fine,
                                        pcsim_flow_problem *problem,
                                        pcsim_estimate *estimate) PCSIM_NODISCARD;

/** Potential flow as a start: values [num_cells][4], the caller's, in m/s and Pa: the velocity without
 * rotation that passes the boundaries as given (free where the pressure is given), and Bernoulli's pressure.
 * Collective; PETSc has been started. Errors: ERR_MEMORY, ERR_LIBRARY. */
pcsim_status pcsim_flow_potential(const pcsim_mesh *mesh, const pcsim_flow_problem *problem,
                                  double *values) PCSIM_NODISCARD;

/* --------------------------------------------------- typed conservation laws */

enum { PCSIM_UNKNOWNS_MAX = 64 }; /**< of a cell */

/** Choices of the solver of typed laws; defaults from pcsim_transport_options_default. */
typedef struct {
  pcsim_time time;  /**< with `given` a run goes through time; the next three are of the steady march */
  double tolerance; /**< relative residual to stop at */
  int64_t steps_max;
  double cfl;     /**< first pseudo-time step in units of a cell's own time; 1e12: Newton's method at once */
  double central; /**< share of central interpolation in fluxes, rest upwind; NAN: 1 where the flux has
                       gradients in it, else 0 */
  double kappa;   /**< face interpolation: 0 linear, 1 cubic */
  int degree;     /**< of the fields that the reconstruction is exact for: 1, 2, or in steady problems in the
                     plane 3,     where fluxes and sources are integrated over faces and cells and the scheme is
                     of     fourth order */
  bool limited;   /**< limit what upwind fluxes are reconstructed from (van Albada) */
  uint64_t bounded; /**< bit i: unknown i is kept between low[i] and high[i], which may be infinite */
  double low[PCSIM_UNKNOWNS_MAX], high[PCSIM_UNKNOWNS_MAX];
  double linear_tolerance; /**< of the inner Krylov solve */
  char linear[16];         /**< auto | direct | petsc */
  char petsc[512];         /**< extra PETSc options, "" none */
  int64_t num_stops;
  const double *stops; /**< [num_stops] ascending times that a step must end at; borrowed by the solver */
} pcsim_transport_options;
pcsim_transport_options pcsim_transport_options_default(void);
/** Read `solve:` of typed equations; problems go to the tree. */
void pcsim_transport_options_read(pcsim_tree *tree, pcsim_transport_options *options);
/** Keys of `solve:` there. */
const pcsim_key *pcsim_transport_option_keys(size_t *n);

typedef struct pcsim_transport_solver pcsim_transport_solver;
/** Collective. Mesh and problem are borrowed until destroy. Errors: as pcsim_flow_solver_create, and ERR_ARG
 *  for laws that the solver cannot write out. */
pcsim_status pcsim_transport_solver_create(const pcsim_mesh *mesh, const pcsim_transport_problem *problem,
                                           const pcsim_transport_options *options,
                                           pcsim_transport_solver **solver) PCSIM_NODISCARD;
void pcsim_transport_solver_destroy(pcsim_transport_solver **solver);
/** The polynomial of an unknown in a cell at a point [dimension]: what the discretisation takes it for there.
 */
double pcsim_transport_value_at(const pcsim_transport_fields *fields, int unknown, int64_t cell,
                                const double *point);
/** As pcsim_flow_solver_set_hooks. */
pcsim_status pcsim_transport_solver_set_hooks(pcsim_transport_solver *solver,
                                              const pcsim_solver_hooks *hooks) PCSIM_NODISCARD;
/** March to the steady state, or through time to its end. Not getting there is a result, not an error. */
pcsim_status pcsim_transport_solver_run(pcsim_transport_solver *solver, pcsim_solve_observer observer,
                                        void *context, pcsim_solve_result *result) PCSIM_NODISCARD;
/** Fields of the current state (collective: gradients are recomputed). Borrowed until the next call. */
pcsim_status pcsim_transport_solver_fields(pcsim_transport_solver *solver,
                                           pcsim_transport_fields *fields) PCSIM_NODISCARD;

/** The state a checkpoint holds, as of a flow: unknowns [num_cells][width] in the units of the case and a few
 *  numbers, the first of which is the number of its step. m wide; through time 4 m, with what else the next
 *  step needs. */
int pcsim_transport_solver_state_width(const pcsim_transport_solver *solver);
int64_t pcsim_transport_solver_state_step(const pcsim_transport_solver *solver);
void pcsim_transport_solver_get_state(const pcsim_transport_solver *solver, double *unknowns,
                                      double scalars[PCSIM_NUM_STATE_SCALARS]);
/** Continue from a state; steps count on from it. Errors: ERR_ARG (numbers that no state has). */
pcsim_status pcsim_transport_solver_set_state(pcsim_transport_solver *solver, const double *unknowns,
                                              const double scalars[PCSIM_NUM_STATE_SCALARS]) PCSIM_NODISCARD;

/* Derivatives of one number by parameters of the case. */

/** What comes out; the arrays are the caller's. */
typedef struct {
  double value;                    /**< J of the current state */
  double *derivative;              /**< [num_parameters] dJ/dp along the solution of R(q, p) = 0 */
  double *adjoint;                 /**< [num_cells][m] psi, R'^T psi = dJ/dq; NULL: not wanted */
  int num_shapes;                  /**< motions of the mesh to differentiate by; given by the caller */
  const pcsim_mesh_tangent *shape; /**< [num_shapes] given by the caller */
  double *by_shape;                /**< [num_shapes] dJ/ds along each; points stay in place */
  int64_t iterations;              /**< of the adjoint's linear solve */
  bool converged; /**< false: it missed the tolerance, the derivatives are no better than it */
} pcsim_transport_sensitivity;
/** dJ/dp of a steady solution by the discrete adjoint: dJ/dp = J_p - psi^T R_p with one transposed solve to
 *  `tolerance` for all `num_parameters` parameters, named as in the case; a name that neither laws,
 *  conditions, sources nor the quantity use has derivative 0. The transpose is exact, the speeds of upwinding
 *  included, so that the derivatives are those of the discrete solution; how far the residual has fallen
 *  bounds them. Point sources stay in place. Call it after pcsim_transport_solver_run has converged; the
 * state stays. Collective. Errors: ERR_ARG (a run through time, names, a point outside the mesh, a program
 * that does not fit), ERR_MEMORY, ERR_LIBRARY, ERR_CASE (PETSc options). Source: Giles and Pierce, Flow
 * Turbul. Combust. 65, 2000. */
pcsim_status pcsim_transport_solver_adjoint(pcsim_transport_solver *solver, const pcsim_functional *quantity,
                                            const char *const *parameters, int num_parameters,
                                            double tolerance,
                                            pcsim_transport_sensitivity *sensitivity) PCSIM_NODISCARD;
/** Error of a quantity of a steady solution by the dual-weighted residual. `fine` is the mesh of
 *  pcsim_raw_mesh_refine of the solver's raw mesh, `problem` the same case on it, `adjoint` [num_cells][m]
 * what pcsim_transport_solver_adjoint gave for the quantity. State and adjoint are carried to the fine mesh;
 * its residual, weighted by the adjoint, is what the quantity would change by if it were solved there, and
 * 4/3 of that the whole error, the scheme being of second order. Nothing is solved: it costs a few residuals
 * of the fine mesh and the memory of one. Reliable where the quantity converges with second order; next to
 *  singularities, shocks and for values at points it gives the size only. Collective. Errors: ERR_ARG (a run
 *  through time, meshes that do not belong together), ERR_MEMORY, ERR_MESH. Source: Venditti and Darmofal, J.
 *  Comput. Phys. 164, 2000. */
pcsim_status pcsim_transport_solver_estimate(pcsim_transport_solver *solver, const pcsim_functional *quantity,
                                             const double *adjoint, const pcsim_mesh *fine,
                                             const pcsim_transport_problem *problem,
                                             pcsim_estimate *estimate) PCSIM_NODISCARD;

/* ------------------------------------------- typed equations that join a flow */

typedef struct pcsim_joined_solver pcsim_joined_solver;
/** A flow and typed equations as one system (pcsim_joined_problem_read), with the options of a flow, to the
 * steady state or through time;
 * its volume fluxes carry the equations, whose force pushes it. Collective. Mesh and problems are borrowed
 * until destroy. Errors: as of both solvers. */
pcsim_status pcsim_joined_solver_create(const pcsim_mesh *mesh, pcsim_flow_problem *flow_problem,
                                        const pcsim_transport_problem *laws,
                                        const pcsim_flow_options *options,
                                        pcsim_joined_solver **solver) PCSIM_NODISCARD;
void pcsim_joined_solver_destroy(pcsim_joined_solver **solver);
/** As pcsim_flow_solver_set_hooks; a cell's values are velocity (three), pressure, unknowns of the laws. */
pcsim_status pcsim_joined_solver_set_hooks(pcsim_joined_solver *solver,
                                           const pcsim_solver_hooks *hooks) PCSIM_NODISCARD;
/** March to the steady state, or through time; residuals of a march's steps [d + 1 + m]: of momentum,
 *  continuity, the equations. Not getting there is a result, not an error. Collective. Errors: as
 * pcsim_flow_solver_run. */
pcsim_status pcsim_joined_solver_run(pcsim_joined_solver *solver, pcsim_solve_observer observer,
                                     void *context, pcsim_solve_result *result) PCSIM_NODISCARD;
/** Fields of the current state, in the units of the case. Collective. Borrowed until the next call. Errors:
 *  ERR_MEMORY, ERR_LIBRARY. */
pcsim_status pcsim_joined_solver_fields(pcsim_joined_solver *solver, pcsim_flow_fields *flow,
                                        pcsim_transport_fields *laws) PCSIM_NODISCARD;
/** The state a checkpoint holds, in the solver's own scales: unknowns [num_cells][width] and a few numbers,
 * the first of which is the number of its step. */
int pcsim_joined_solver_state_width(const pcsim_joined_solver *solver);
int64_t pcsim_joined_solver_state_step(const pcsim_joined_solver *solver);
void pcsim_joined_solver_get_state(const pcsim_joined_solver *solver, double *unknowns,
                                   double scalars[PCSIM_NUM_STATE_SCALARS]);
/** Continue from a state. Errors: ERR_ARG (numbers that no state has). */
pcsim_status pcsim_joined_solver_set_state(pcsim_joined_solver *solver, const double *unknowns,
                                           const double scalars[PCSIM_NUM_STATE_SCALARS]) PCSIM_NODISCARD;
/** As pcsim_flow_solver_adjoint, of a quantity of the flow or of the laws: expressions may name fields of the
 *  flow, or unknowns of the laws and the velocity. Parameters may stand in either
 *  part. `adjoint` of the result is not offered (NULL), nor are shapes (num_shapes 0). Collective. Errors:
 * ERR_ARG (the run goes through time, names, a quantity that does not fit), ERR_MEMORY, ERR_LIBRARY. */
pcsim_status pcsim_joined_solver_adjoint(pcsim_joined_solver *solver, const pcsim_functional *quantity,
                                         const char *const *parameters, int num_parameters, double tolerance,
                                         pcsim_flow_sensitivity *sensitivity) PCSIM_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
