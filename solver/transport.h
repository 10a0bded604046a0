/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transport.h  Private to solver/: typed conservation laws dt A + div F + source = 0 discretised by
 *  programs.
 *
 *  The laws at one point come from physics/ (pcsim_transport_view). Here they are written out on cells, faces
 *  and boundary faces, joined by maps, into programs of the whole mesh: residual, its tangent, compact
 *  Jacobian, accumulation. docs/discretisation.md has the formulas. Before a residual stand the gradients
 *  (gradient.h) and a halo exchange.
 *
 *  Letters of array shapes: n owned cells, nt cells with ghosts, ni interior faces, nb boundary faces,
 *  d dimension, m unknowns a cell, e derivatives of an unknown: d first ones, then d (d + 1)/2 second ones
 *  (gradient_second.h) where the degree is 2, then third ones (gradient_third.h) where it is 3. A face has
 * one point, its centre, or at degree 3 several that share its area: nf points of faces inside. */
#ifndef PCSIM_SOLVER_TRANSPORT_H
#define PCSIM_SOLVER_TRANSPORT_H

#include "gradient_third.h"
#include "look.h"
#include "system.h"

#include <pcsim/solver.h>

/** One condition and the points of its boundary faces, num of them on this rank. */
typedef struct {
  const pcsim_transport_condition *c;
  int64_t num;
  int64_t *face;        /**< [num] boundary face of the mesh, counted from the first one; points of a face are
                             neighbours */
  double *part;         /**< [num] share of the face's area */
  int32_t *owner;       /**< [num] */
  double *area;         /**< [num][d] out of the domain */
  double *line;         /**< [num][d] point - cell centre */
  double *coordinates;  /**< [num][4] x, y, z, t */
  double *share;        /**< [num][m] of gradient_maps */
  double *value;        /**< [num][m] given values at the current time */
  double **field;       /**< [num_fields][num] the cell's */
  double *state, *flux; /**< [num][m] values on the faces, outward fluxes times the area, when asked for */
  double *normal[3];    /**< [num] unit normal by components, where `given` wants it */
  pcsim_executor *given; /**< `value` of `c->program` */
} transport_boundary;

/** Nodes of boundaries where a value is given, by condition. */
typedef struct {
  int64_t num;
  int64_t *place;      /**< [num] index into gradient_maps.given */
  double *coordinates; /**< [num][4] */
  double *value;       /**< [num][m] */
  pcsim_executor *given;
} transport_nodes;

/** Points of faces inside: first of the ordinary ones, then of the interfaces of two materials. */
typedef struct {
  int64_t num, ordinary;      /**< nf; how many of them are at no interfaces */
  int64_t *mesh_face;         /**< [num] face of the mesh; points of a face are neighbours */
  int32_t *owner, *neighbour; /**< [num] */
  double *area, *line,
      *skew; /**< [num][d] share of the area vector, centre line, point - point of the centre line */
  double *t; /**< [num] where the face cuts the centre line, 0 at the owner */
  double *coordinates; /**< [num][4] of the point */
  double *speed;       /**< [num] |S| times the frozen bound of the speed of signals; 0 at interfaces */
} transport_faces;

/** The velocity of a flow that the laws join, m/s, and its direction in tangents: on faces such that u.S is
 * the flow's volume flux. All NULL without one. */
typedef struct {
  double *face, *d_face;           /**< [ni][d] */
  double *cell, *d_cell;           /**< [nt][d] */
  double **boundary, **d_boundary; /**< [num_conditions][num][d] */
} transport_carrier;

typedef struct {
  double central;   /**< share of central interpolation in fluxes, the rest upwind */
  double kappa;     /**< face interpolation: 0 linear, 1 cubic */
  int degree;       /**< of the fields on which derivatives are exact: up to 1, 2 or 3, 3 in the plane and of
                       tetrahedra; all derivatives up to that order are there. At 3 fluxes and sources are
                       integrated by points of quadrature, else taken at centres */
  bool limited;     /**< upwind values limited after van Albada */
  uint64_t bounded; /**< bit i: unknown i stays between low[i] and high[i] */
  double low[SYSTEM_UNKNOWNS_MAX], high[SYSTEM_UNKNOWNS_MAX];
} transport_choices;

typedef struct transport {
  const pcsim_mesh *mesh;
  const pcsim_mesh_view *view;
  const pcsim_transport_view *problem;
  transport_choices choices;
  int dim, m, derivatives; /**< d, m, e */
  bool linear;             /**< the residual is linear in the state */
  int64_t n, nt, ni, nb;

  int *class_of; /**< [m] unknowns that the same conditions fix */
  int num_classes;
  gradient_maps gradient;
  second_maps second; /**< degree 2 and 3 */
  third_maps third;   /**< degree 3 */
  look points;        /**< degree 3, where sources vary: points of quadrature of the cells */
  transport_faces faces;
  transport_boundary *boundary; /**< [num_conditions] */
  transport_nodes *nodes;       /**< [num_conditions] */
  transport_carrier carrier;
  double *volume;           /**< [nt] */
  double *cell_coordinates; /**< [nt][4] */
  double *face_given;       /**< [nb][m] */
  double *node_given;       /**< [gradient.num_given][m] */
  double *node_value;       /**< workspace of the gradients, [num_nodes][m*d], degree 3: [num_nodes][m*s] */
  double *fixed;            /**< [n][m] point and line sources at the current time */
  pcsim_executor **source;  /**< [num_sources] */
  double **source_coordinates; /**< [num_sources][points][4] */
  double **source_value;       /**< [num_sources][points][m] */
  double time;                 /**< of everything that is given; NAN before the first */

  double *q, *v;         /**< [nt][m] state, direction */
  double *grad, *v_grad; /**< [nt][m*e] */
  double *first;         /**< [nt][m*d] gradients exact for linear fields, degree 2 and 3 */
  double *differences;   /**< [n][m*d][d], degree 3: [n][m*s][d] workspace */
  double *corrected,
      *bend;               /**< [n][m*(d + s)], [nt][m*s] of second_apply, its second derivatives; degree 3 */
  double *all;             /**< [nt][m] what the programs put out on cells */
  pcsim_executor *surface; /**< state and flux of the boundary faces */
  pcsim_executor *residual, *tangent, *accumulation, *accumulation_tangent, *speed, *jacobian;

  /* compact Jacobian; blocks are stored by columns: [column][row] */
  double *block_owner,
      *block_neighbour;              /**< [nf][m*m] derivative of the face's flux by either cell's value */
  double **block_boundary;           /**< [num_conditions][num][m*m] */
  double *block_source, *block_mass; /**< [nt][m*m] of the source and the accumulation, times the volume */
  double *pace;                      /**< [n][m] pseudo-time term at cfl = 1 */
  double cfl, step;                  /**< of set_shift */
} transport;

/** Geometry, gradients, given values; the problem is borrowed. Collective. */
pcsim_status transport_create(const pcsim_mesh *mesh, const pcsim_transport_problem *problem,
                              const transport_choices *choices, transport **t) PCSIM_NODISCARD;
void transport_destroy(transport **t);
/** One output of a program alone. Caller destroys. */
pcsim_status transport_part_program(const pcsim_program *whole, const char *output,
                                    pcsim_program **program) PCSIM_NODISCARD;
/** The condition's program with the given values alone. Caller destroys. */
pcsim_status transport_values_program(const pcsim_transport_condition *c,
                                      pcsim_program **program) PCSIM_NODISCARD;
/** Points and inputs of such a program, or one made from it, on the faces, the nodes of condition k. */
pcsim_status transport_bind_at_faces(transport *t, int k, const pcsim_program *program,
                                     pcsim_executor *x) PCSIM_NODISCARD;
pcsim_status transport_bind_at_nodes(const transport *t, int k, const pcsim_program *program,
                                     pcsim_executor *x) PCSIM_NODISCARD;
/** Degree of the polynomials that fluxes are integrated of over faces (quadrature_of_face). */
static inline int transport_flux_degree(const transport *t) { return t->choices.degree > 2 ? 3 : 1; }
/** Part of transport_create: the gradients' maps, and what follows from them. Collective. */
pcsim_status transport_make_gradients(transport *t) PCSIM_NODISCARD;
/** Derivatives of the gradients' maps along those of places; `second` at degree 2. Collective.
 */
pcsim_status transport_gradient_tangent(const transport *t, const dual_places *places, gradient_maps *along,
                                        second_maps *second) PCSIM_NODISCARD;
/** Everything given follows the time. */
pcsim_status transport_set_time(transport *t, double time) PCSIM_NODISCARD;

/* -------------------------------------------------- evaluation (transport_apply.c) */

/** Parts of transport_create: executors of point and line sources, of the programs. */
pcsim_status transport_make_sources(transport *t) PCSIM_NODISCARD;
pcsim_status transport_make_executors(transport *t) PCSIM_NODISCARD;
/** Spaces that a program knows beside its cells. */
enum {
  TRANSPORT_CELLS = 0,
  TRANSPORT_FACES = 1,
  TRANSPORT_BOUNDARIES = 2,
  TRANSPORT_INTERFACES = 4,
  TRANSPORT_POINTS = 8,
  TRANSPORT_ALL_SPACES = 15
};
/** A program of the mesh ready to run with the arrays of `t`; outputs and other inputs are bound by the
 *  caller, who destroys it, after a failure too. */
pcsim_status transport_make_executor(const transport *t, const pcsim_program *p, int spaces,
                                     pcsim_executor **x) PCSIM_NODISCARD;
/** The tangent of a program of the mesh by state, gradients and carriers: inputs "d_cells.q", "d_cells.grad",
 *  "d_faces.carrier", ...; of its outputs only those of `outputs` [num], "d_NAME". Caller destroys. Errors:
 * ERR_CASE (more than 64 outputs). */
pcsim_status transport_tangent_of(const pcsim_program *p, const char *const *outputs, int num,
                                  pcsim_program **tangent) PCSIM_NODISCARD;
/** Point and line sources at the time that the coordinates hold, into t->fixed. */
pcsim_status transport_update_sources(transport *t) PCSIM_NODISCARD;

/** Gradients of t->q and everything given at the time. Collective. */
pcsim_status transport_update_gradient(transport *t, double time) PCSIM_NODISCARD;
/** Residual r [n][m] of the gradients and carriers that stand there. */
pcsim_status transport_residual_here(transport *t, double *r) PCSIM_NODISCARD;
/** Residual of t->q into r [n][m]. Collective. */
pcsim_status transport_residual(transport *t, double time, double *r) PCSIM_NODISCARD;
/** The direction of tangents with its gradients: v [n][m]. Collective. */
pcsim_status transport_set_direction(transport *t, const double *v) PCSIM_NODISCARD;
/** y [n][m] = R'(q) times the direction that is set, without any shift. */
pcsim_status transport_tangent_here(transport *t, double *y) PCSIM_NODISCARD;
/** y = R'(q) v, both [n][m]. Collective. */
pcsim_status transport_tangent(transport *t, const double *v, double *y) PCSIM_NODISCARD;
/** a [n][m] = volume times A(q). */
pcsim_status transport_accumulation(transport *t, double *a) PCSIM_NODISCARD;
/** y [n][m] = derivative of the accumulation along v [n][m]. */
pcsim_status transport_accumulation_tangent(transport *t, const double *v, double *y) PCSIM_NODISCARD;
/** Speeds of signals on faces from the current state and gradients. */
pcsim_status transport_update_speed(transport *t) PCSIM_NODISCARD;
/** Blocks of the compact Jacobian and the pseudo-time terms, from the current state and gradients. */
pcsim_status transport_update_blocks(transport *t) PCSIM_NODISCARD;

/** State and flux of the boundary faces from the current state and gradients. */
pcsim_status transport_update_boundary(transport *t) PCSIM_NODISCARD;

/* ----------------------------------------------------- programs (transport_program.c) */

/** Is unknown i kept between bounds? */
static inline bool transport_is_bounded(const transport *t, int i) { return t->choices.bounded >> i & 1; }
/** Are values or fluxes limited? Then the speed of signals is part of the residual, not frozen. */
static inline bool transport_is_limited(const transport *t) {
  return t->choices.limited || t->choices.bounded;
}
/** Programs of the whole mesh. Inputs and maps are named as transport_apply.c binds them. Caller destroys. */
pcsim_status transport_write_residual(const transport *t, pcsim_program **program) PCSIM_NODISCARD;
pcsim_status transport_write_surface(const transport *t, pcsim_program **program) PCSIM_NODISCARD;
pcsim_status transport_write_accumulation(const transport *t, pcsim_program **program) PCSIM_NODISCARD;
pcsim_status transport_write_speed(const transport *t, pcsim_program **program) PCSIM_NODISCARD;
pcsim_status transport_write_jacobian(const transport *t, pcsim_program **program) PCSIM_NODISCARD;
/** The force on a flow that the laws join, output "force" [nt][d]. */
pcsim_status transport_write_force(const transport *t, pcsim_program **program) PCSIM_NODISCARD;
/** Unknowns [num] on faces: outputs "trace" [ordinary faces][num], "interface trace" [the others][num],
 * "trace K" on those of condition K. Across interfaces they are linear. */
pcsim_status transport_write_trace(const transport *t, const int *unknown, int num,
                                   pcsim_program **program) PCSIM_NODISCARD;
/** Are there gradients in the flux (or the source)? Without them the laws are of first order. */
bool transport_diffuses(const pcsim_transport_view *problem);
/** Does the program need this input? */
bool transport_needs(const pcsim_program *program, const char *input);

#endif
