/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flow_law.h  Private to solver/: the discrete flow at one face and in one cell, written once as
 * values of programs. What runs on a mesh (flow_program.h) is put together from these; tangents, cotangents
 * and the blocks of the compact Jacobian are transforms of them.
 *
 *  Letters of shapes: d dimension, m = d + 1 unknowns (velocity, pressure). Gradients have row i*d + j. All
 *  numbers are scaled as in flow.h. */
#ifndef PCSIM_SOLVER_FLOW_LAW_H
#define PCSIM_SOLVER_FLOW_LAW_H

#include "flow.h"
#include "transport_write.h"

/** Choices of the discretisation, as in flow.h. */
typedef struct {
  double central, kappa;
} flow_choices;

/** What the laws at all faces of a program share, as inputs; once in a program. */
typedef struct {
  pcsim_value nu;      /**< PCSIM_NO_VALUE where the viscosity varies */
  pcsim_value density; /**< PCSIM_NO_VALUE where it is constant, as the next */
  pcsim_value floor;   /**< least shear rate, scaled: f->viscous.floor */
} law_numbers;

/** A viscosity that varies, at the points of a space: what it may depend on beside the velocity's gradient.
 * Stresses are then those of grad u + grad u^T. */
typedef struct {
  const flow *f;
  pcsim_space space;
  pcsim_value coordinates; /**< 4 rows; PCSIM_NO_VALUE where the viscosity does not ask, as the next */
  pcsim_value carried;     /**< f->viscous.num rows: unknowns of the equations that join */
  const law_numbers *shared;
} law_viscosity;

/** An interior face: owner P, neighbour N. */
typedef struct {
  pcsim_value geometry;     /**< FLOW_FACE_WIDTH rows */
  pcsim_value xp, xn;       /**< m rows each */
  pcsim_value gp, gn;       /**< m*d rows each */
  pcsim_value tau_p, tau_n; /**< Rhie and Chow's coefficients of both cells */
  pcsim_value nu;           /**< viscosity on the face; PCSIM_NO_VALUE: that of the law */
  const law_viscosity *law; /**< NULL: constant */
} law_face;
typedef struct {
  pcsim_value flux;        /**< m rows, out of P */
  pcsim_value mass;        /**< volume flux */
  pcsim_value velocity;    /**< d rows, convected */
  pcsim_value dissipation; /**< tau g of the face */
  pcsim_value jump;        /**< of pressure beyond its linear course: what is dissipated */
  pcsim_value nu;          /**< viscosity */
} law_face_flux;
law_face_flux law_write_face(const writer *w, const flow_choices *choices, const law_face *f);

/** A boundary face. */
typedef struct {
  pcsim_value geometry; /**< FLOW_WALL_WIDTH rows */
  pcsim_value value;    /**< m rows given; those of other unknowns are not looked at */
  pcsim_value x, g;     /**< m, m*d rows of the cell */
  pcsim_value tau, nu;  /**< nu as in law_face */
  const law_viscosity *law;
} law_boundary;
typedef struct {
  pcsim_value flux;    /**< m rows out of the domain */
  pcsim_value mass;    /**< volume flux out of the domain; PCSIM_NO_VALUE: none passes */
  pcsim_value state;   /**< m rows: velocity and pressure on the face */
  pcsim_value viscous; /**< d rows: what friction takes out of the cell; its negative acts on the boundary;
                            PCSIM_NO_VALUE: there is none */
  pcsim_value nu;
} law_boundary_flux;
law_boundary_flux law_write_boundary(const writer *w, flow_group_kind kind, const law_boundary *b);

/** A face's part of a_P: |m|/2 + nu g, without friction where there is none; `given`: the flux is that of the
 *  velocity scale. `area` d rows, `g` and `mass` (PCSIM_NO_VALUE: none passes) one. */
pcsim_value law_write_pace(const writer *w, bool given, bool friction, pcsim_value area, pcsim_value g,
                           pcsim_value mass, pcsim_value nu);

law_numbers law_numbers_of(const writer *w, const flow *f);
/** Inputs of a viscosity that varies on the points of a space. */
law_viscosity law_viscosity_of(const writer *w, const flow *f, const char *name, pcsim_space space,
                               const law_numbers *shared);

/** A program of the mesh that is being written: space "cells" and no values. */
pcsim_status law_begin(const flow *f, writer *w) PCSIM_NODISCARD;
/** Geometry and given values of a group's faces as inputs; the rest is the caller's. */
law_boundary law_boundary_of(const writer *w, int group, pcsim_space space, pcsim_value nu);

#endif
