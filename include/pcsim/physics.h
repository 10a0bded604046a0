/* SPDX-License-Identifier: BSD-2-Clause */
/** @file physics.h  The problem: model, coefficients, boundary conditions, start; and the fields a
 *  solver hands to who evaluates them. */
#ifndef PCSIM_PHYSICS_H
#define PCSIM_PHYSICS_H

#include <pcsim/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Condition on a boundary face of an incompressible flow. */
typedef enum {
  PCSIM_FLOW_VELOCITY,       /**< velocity given (inlet) */
  PCSIM_FLOW_PRESSURE,       /**< static pressure given (outlet; safe against backflow) */
  PCSIM_FLOW_TOTAL_PRESSURE, /**< total pressure given, inflow normal to the face */
  PCSIM_FLOW_WALL,           /**< no-slip wall, may move */
  PCSIM_FLOW_SLIP            /**< no flow through, no shear: slip wall, symmetry */
} pcsim_flow_kind;

/* ------------------------------------------------- what can be named in a case */

/** A built-in model: the name `physics: {model: NAME}` and the keys it reads beside it. */
typedef struct {
  const char *name;
  const char *help;
  const pcsim_key *keys;
  size_t num_keys;
} pcsim_model;
/** Every model; `*n` gets how many. */
const pcsim_model *pcsim_model_list(size_t *n);

/** A boundary condition, named by the key that decides it: `{velocity: [1, 0]}`. */
typedef struct {
  const char *name;
  const char *help;
  const pcsim_key *keys; /**< all keys of its mapping, the deciding one first */
  size_t num_keys;
  const char *absent; /**< why the steady flow does not offer it, "" where it does */
} pcsim_condition;
const pcsim_condition *pcsim_condition_list(size_t *n);

/** Mark the boundaries that `pattern` names (a name, or a pattern such as "disk*"; an exact name wins) in
 *  `wanted` [num_patches]. None: a problem at `at` that lists the mesh's names and the nearest; returns
 * false. */
bool pcsim_patch_select(pcsim_tree *tree, const pcsim_node *at, const pcsim_mesh *mesh, const char *pattern,
                        bool *wanted);
/** What kind of condition each boundary has: `kind` [num_patches] gets a pcsim_flow_kind, or -1 where the
 *  case names none or a wrong one. Records no problems. */
void pcsim_flow_kinds(const pcsim_tree *tree, const pcsim_mesh *mesh, int *kind);

/* ------------------------------------------------------------------- the problem */

/** An incompressible flow on one mesh: what the case says, evaluated on that mesh. Steady for now. */
typedef struct pcsim_flow_problem pcsim_flow_problem;

/** Arrays of a problem; borrowed. Boundary faces count from 0 = face num_interior_faces of the mesh. */
typedef struct {
  int dim;
  double density;         /**< kg/m^3 */
  double viscosity;       /**< dynamic, Pa s */
  double force[3];        /**< per volume, N/m^3 */
  const uint8_t *kind;    /**< [num_boundary_faces] pcsim_flow_kind */
  const double *velocity; /**< [num_boundary_faces][3] face average for VELOCITY and WALL; else 0 */
  const double *pressure; /**< [num_boundary_faces] face average for (TOTAL_)PRESSURE; else 0 */
  const double *start;    /**< [num_cells][4] velocity and pressure to start from */
  bool has_start;         /**< false: the case gives no `initial`, `start` holds a uniform guess */
  bool pressure_free;     /**< no boundary fixes the pressure: the solver must fix its level */
  double velocity_scale;  /**< largest boundary velocity or sqrt(pressure difference/density), > 0 */
  double length_scale;    /**< volume/boundary area based size of the domain, m */
} pcsim_flow_view;

/** Read `physics:`, `boundaries:`, `initial:` of a flow model for this mesh (collective). Every fault is
 *  a problem in the tree: misspelt boundary (lists the mesh's names), boundary without condition, two
 *  conditions on one, patterns, wrong expressions, negative viscosity, all-velocity boundaries with a net
 *  inflow. Face values are averages by Gauss quadrature; where every boundary gives the velocity they
 *  are corrected to sum to zero (by a uniform normal velocity where the flow is given, at most 0.1 % of
 *  the inflow; more is a problem). `{flow-rate: q}` is uniform and normal, q > 0 into the domain. The
 * velocity of a wall is handed out without its normal part. Returns OK with `*problem` NULL if it found
 * problems, so that other readers can add theirs: ask pcsim_tree_status. Caller destroys. */
pcsim_status pcsim_flow_problem_read(pcsim_tree *tree, const pcsim_mesh *mesh,
                                     pcsim_flow_problem **problem) PCSIM_NODISCARD;
const pcsim_flow_view *pcsim_flow_problem_get(const pcsim_flow_problem *problem);
void pcsim_flow_problem_destroy(pcsim_flow_problem **problem);

/** Check the parts of the case that do not need a mesh; problems go to the tree. */
void pcsim_flow_problem_check(pcsim_tree *tree);

/** Fields of a flow as a solver hands them out; borrowed from the solver, valid until its next step.
 *  n = num_cells + num_ghosts, nb = boundary faces. */
typedef struct {
  const pcsim_mesh *mesh;
  double density, viscosity;
  const double *velocity;          /**< [n][3] m/s */
  const double *pressure;          /**< [n] Pa */
  const double *velocity_gradient; /**< [n][3][3] d u_i / d x_j */
  const double *pressure_gradient; /**< [n][3] */
  const double *face_velocity;     /**< [nb][3] on boundary faces */
  const double *face_pressure;     /**< [nb] */
  const double
      *face_friction;      /**< [nb][3] viscous force of the fluid on the boundary, N (per m depth in 2D) */
  const double *face_flow; /**< [nb] volume flow out of the domain, m^3/s */
} pcsim_flow_fields;

#ifdef __cplusplus
}
#endif
#endif
