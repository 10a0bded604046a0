/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flow.h  Private to solver/: the discretised steady incompressible flow.
 *
 *  Unknowns are scaled: velocity by U = velocity_scale, pressure by density U^2; lengths keep the unit of
 *  the mesh, so the kinematic viscosity is divided by U. Letters of array shapes: n owned cells, nt cells
 *  with ghosts, ni interior faces, nb boundary faces, d dimension, m = d + 1 unknowns a cell (velocity,
 *  pressure). */
#ifndef PCSIM_SOLVER_FLOW_H
#define PCSIM_SOLVER_FLOW_H

#include "gradient.h"
#include "system.h"

#include <pcsim/solver.h>

/** Numbers stored per interior face: area S[d], centre line d[d], skewness r[d], t, g. */
#define FLOW_FACE_WIDTH(dim) (3 * (dim) + 2)
/** Numbers stored per boundary face: area S[d], face centre - cell centre[d], g, share of the slope
 * difference in the wall flux. */
#define FLOW_WALL_WIDTH(dim) (2 * (dim) + 2)

/** What a boundary face does: conditions with one formula are one group. */
typedef enum {
  FLOW_GROUP_GIVEN,  /**< velocity given: inlets and walls */
  FLOW_GROUP_SLIP,   /**< no flow through, no shear */
  FLOW_GROUP_OUTLET, /**< pressure given */
  FLOW_GROUP_TOTAL,  /**< total pressure given */
  FLOW_NUM_GROUPS
} flow_group_kind;
static inline flow_group_kind flow_group_of(uint8_t kind) {
  return kind == PCSIM_FLOW_PRESSURE         ? FLOW_GROUP_OUTLET
         : kind == PCSIM_FLOW_TOTAL_PRESSURE ? FLOW_GROUP_TOTAL
         : kind == PCSIM_FLOW_SLIP           ? FLOW_GROUP_SLIP
                                             : FLOW_GROUP_GIVEN;
}

/** What the boundary says of velocity at the nodes of a patch. */
typedef struct {
  bool wall; /**< no-slip, one velocity on all of it */
  bool slip; /**< nothing: nodes take both variables from the cells */
  double velocity[3];
} flow_patch;

/** A viscosity that varies (flow_viscosity.h); all 0 and NULL where it is constant. */
typedef struct {
  bool varies;
  double floor;                          /**< least shear rate, scaled */
  bool frozen;                           /**< tangents leave out that it changes */
  int steps;                             /**< of the march */
  int num;                               /**< unknowns of equations that join which it depends on */
  const char *name[SYSTEM_UNKNOWNS_MAX]; /**< [num] borrowed from the problem */
  double *nu;                            /**< [ni] on faces inside, scaled, of the last residual */
  double *place;                         /**< [ni + nb][4] x, y, z, t of faces; NULL: it does not ask */
  double *carried, *d_carried;           /**< [ni + nb][num] the unknowns, their direction in tangents */
  bool wrong;                            /**< it was not positive somewhere: */
  double wrong_value, wrong_centre[3];   /**< Pa s, m */
  int64_t wrong_cell;
} flow_viscosity;

typedef struct flow_linear flow_linear;     /**< flow_linear.c */
typedef struct flow_programs flow_programs; /**< flow_program.h */
typedef struct flow_kernels flow_kernels;

/** The discrete flow. */
typedef struct flow {
  const pcsim_mesh *mesh;
  const pcsim_mesh_view *view;
  const pcsim_flow_view *problem;
  pcsim_flow_problem *changing; /**< the problem if its boundary values change in time, else NULL */
  double time;                  /**< the one that wall_value is of */
  flow_programs *programs;
  const flow_kernels *kernels; /**< what evaluates: the programs, if nobody puts others in their place */
  int dim;
  int64_t n, nt, ni, nb;
  double scale_velocity, nu, density;
  double force[3]; /**< scaled; 0 where it varies */
  flow_viscosity viscous;
  double central;    /**< share of central interpolation in the convective flux */
  double kappa;      /**< share of cubic (Hermite) in face interpolation, 0: linear */
  double wall_order; /**< share of the parabola in the wall flux, 0: two points */
  double rhie_chow;  /**< factor of the pressure dissipation */
  bool through_time; /**< its coefficients are then constant */

  int32_t *owner, *neighbour; /**< [ni] */
  double *face;               /**< [ni][FLOW_FACE_WIDTH] */
  int32_t *wall_owner;        /**< [nb] */
  uint8_t *wall_kind;         /**< [nb] pcsim_flow_kind */
  double *wall;               /**< [nb][FLOW_WALL_WIDTH] */
  double *wall_value;         /**< [nb][m] given velocity and pressure, scaled */
  double *volume;             /**< [nt] */
  gradient_maps gradient;     /**< classes: FLOW_CLASS_VELOCITY, FLOW_CLASS_PRESSURE */
  double *node_given;         /**< [gradient.num_given][m] values of boundary nodes, scaled */
  double *node_value;         /**< [num_nodes][m] workspace */

  double *q;             /**< [nt][m] state */
  double *grad;          /**< [nt][m][d] */
  double *a_p;           /**< [nt] sum of |m|/2 + nu g: momentum scale of a cell */
  double *tau;           /**< [nt] volume / a_p, frozen within a step */
  double *mass;          /**< [ni + nb] mass flux of the last residual */
  double *face_velocity; /**< [ni][d] convected velocity of the last residual */
  double *dissipation;   /**< [ni] tau g of a face of the last residual */
  double *cell_force;    /**< [nt][d] scaled, one that varies or of equations that join the flow; else NULL */
  double *d_mass, *d_face_velocity; /**< [ni], [ni][d] of the last tangent; NULL where nothing joins */
  double *diagonal;                 /**< [n] shift of momentum: a_p / CFL, volume / time step */
  double *v, *v_grad;               /**< [nt][m], [nt][m][d] for tangents */
  double *scratch;                  /**< [n][m] */
  flow_patch *patch;                /**< [patches] */
  double *patch_range;              /**< [patches][2][4] workspace of what finds them */
  bool *patch_several;              /**< [patches] not of one velocity at some time */
  double *row_weight; /**< [n][m] factors of equations in norms and linear solves: 1 without a time step */
} flow;

/** Classes of unknowns that the same boundary faces fix. */
enum { FLOW_CLASS_VELOCITY, FLOW_CLASS_PRESSURE, FLOW_NUM_CLASSES };

/** Set-up (flow_setup.c, flow_gradient.c). */
pcsim_status flow_create(const pcsim_mesh *mesh, pcsim_flow_problem *problem,
                         const pcsim_flow_options *options, flow **out) PCSIM_NODISCARD;
void flow_destroy(flow **f);
/** `span`: first and last time of boundary values that change. */
pcsim_status flow_gradient_create(flow *f, const double span[2]) PCSIM_NODISCARD;
/** Values of boundary nodes from the boundary values as they are now. Collective. */
void flow_gradient_boundary(flow *f);
/** Boundary values of another time. Collective. */
pcsim_status flow_set_time(flow *f, double t) PCSIM_NODISCARD;

/** Where a block of the compact Jacobian goes: row-major [m][m] of (row, column), any local cells, those of
 * other ranks among them; slot 4 k + 2 (row is the neighbour) + (column is the neighbour) for face k, 4 ni +
 * k for boundary face k. */
typedef void (*flow_add_block)(void *context, int32_t row, int32_t column, int64_t slot, const double *block);

/** What a discrete flow asks to be evaluated: by programs (flow_program.h), or by hand (bench/flow-programs).
 */
struct flow_kernels {
  /** Rhie-Chow coefficients from the current mass fluxes: a_p, tau of owned cells. */
  pcsim_status (*coefficients)(flow *f);
  /** Residual [n][m] of f->q with f->grad and f->tau; stores mass fluxes and face velocities. */
  pcsim_status (*residual)(flow *f, double *r);
  /** y = R'(q) v + diagonal v, with the gradients of v; tau frozen. */
  pcsim_status (*tangent)(flow *f, const double *v, const double *v_grad, double *y);
  /** Compact Jacobian: first-order upwind convection, two-point diffusion, of the last residual. */
  pcsim_status (*jacobian)(flow *f, void *context, flow_add_block add);
  /** Value, viscous force (scaled) and mass flux on each boundary face. */
  pcsim_status (*boundary)(flow *f, double *value /* [nb][m] */, double *friction /* [nb][d] */,
                           double *flow_rate);
};

/** Residual of f->q: halo, gradients, halo of gradients, fluxes. r is [n][m]. */
pcsim_status flow_residual(flow *f, double *r) PCSIM_NODISCARD;
/** Gradients of q [nt][m] (ghosts filled) into grad [nt][m][d], owned part; `constant` adds the boundary
 * values. */
void flow_gradient_of(const flow *f, const double *q, bool constant, double *grad);
/** Derivatives of the gradients' maps along those of places; gradient_destroy them. */
pcsim_status flow_gradient_tangent(const flow *f, const dual_places *places,
                                   gradient_maps *along) PCSIM_NODISCARD;
/** Derivatives [n][m][d] of the gradients of f->q along such maps, state and given values kept. */
void flow_gradient_along(const flow *f, const gradient_maps *along, double *d_grad);
/** What came to the gradients grad [nt][m][d] added to q [nt][m] and, where they are not NULL, to the given
 * values of boundary faces [nb][m] and nodes [gradient.num_given][m]. */
void flow_gradient_transposed(const flow *f, const double *grad, double *q, double *face, double *node);
/** Gradients of f->q only. */
pcsim_status flow_update_gradient(flow *f) PCSIM_NODISCARD;
/** Mass fluxes and Rhie-Chow coefficients of f->q; call at the start of a step. */
pcsim_status flow_update_coefficients(flow *f) PCSIM_NODISCARD;
/** y [n][m] = tangent of v [n][m]. */
pcsim_status flow_tangent(flow *f, const double *v, double *y) PCSIM_NODISCARD;

/* ------------------------------------------------------ linear systems (flow_linear.c) */

pcsim_status flow_linear_create(flow *f, const pcsim_flow_options *options,
                                flow_linear **linear) PCSIM_NODISCARD;
void flow_linear_destroy(flow_linear **linear);
/** New preconditioner from the flow's current state and diagonal. */
pcsim_status flow_linear_update(flow_linear *linear) PCSIM_NODISCARD;
/** Solve R'(q) x + diagonal x = b, both [n][m]; `*converged` false if the tolerance was missed. */
pcsim_status flow_linear_solve(flow_linear *linear, const double *b, double *x, double tolerance,
                               int64_t *iterations, bool *converged) PCSIM_NODISCARD;

/** New preconditioner of the transposed tangent, from the flow's current state without any shift. */
pcsim_status flow_linear_update_transposed(flow_linear *linear) PCSIM_NODISCARD;
/** x = what it makes of b, both [n][m]. */
pcsim_status flow_linear_precondition_transposed(flow_linear *linear, const double *b,
                                                 double *x) PCSIM_NODISCARD;

/** x = what the preconditioner of the last update makes of b, both [n][m]. */
pcsim_status flow_linear_precondition(flow_linear *linear, const double *b, double *x) PCSIM_NODISCARD;

/** What preconditions, for the log. */
int flow_linear_describe(const flow_linear *linear, char *text, size_t size);

#endif
