/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transport_shape.h  Private to solver/: what comes to the places that programs of typed laws read,
 * and its product with how they move. */
#ifndef PCSIM_SOLVER_TRANSPORT_SHAPE_H
#define PCSIM_SOLVER_TRANSPORT_SHAPE_H

#include "look.h"
#include "shape.h"
#include "transport.h"

typedef enum {
  SHAPE_FACES,
  SHAPE_INTERFACES,
  SHAPE_CELLS,
  SHAPE_BOUNDARY,
  SHAPE_NODES,
  SHAPE_LOOKS
} shape_space;
typedef enum {
  SHAPE_AREA,        /**< [d] */
  SHAPE_LINE,        /**< [d] */
  SHAPE_SKEW,        /**< [d] */
  SHAPE_T,           /**< [1] */
  SHAPE_COORDINATES, /**< [4]; the time does not move */
  SHAPE_VOLUME,      /**< [1] */
  SHAPE_SHARE,       /**< [m] */
  SHAPE_NORMAL,      /**< [1] its `component` */
  SHAPE_WEIGHT,      /**< [1] of looks, and their reach and coordinates: shape_through_look */
  SHAPE_REACH        /**< [d] */
} shape_kind;

/** One input of programs that depends on places. */
typedef struct {
  char name[64];
  shape_space space;
  shape_kind kind;
  int condition, component, width;
  int64_t num;
  double *now; /**< [num][width] what a run puts out */
  double *sum; /**< [num][width] what has come so far */
} shape_input;

typedef struct {
  int num;
  shape_input *input;
} shape_inputs;

/** Those of programs of the whole mesh and of a quantity that looks at `looks`. Errors: ERR_MEMORY. Free
 * after a failure too. */
pcsim_status shape_inputs_of_mesh(const transport *t, const look *looks,
                                  shape_inputs *inputs) PCSIM_NODISCARD;
/** Those of the values that condition k gives on its faces, or its nodes. */
pcsim_status shape_inputs_of_values(const transport *t, int k, bool nodes,
                                    shape_inputs *inputs) PCSIM_NODISCARD;
void shape_inputs_free(shape_inputs *inputs);
/** Add factor times the last run to the sums of the inputs marked in `by` [num]. */
void shape_inputs_add(shape_inputs *inputs, const bool *by, double factor);

/** A motion and the derivatives of what is built from places: maps of gradients, slopes at walls. */
typedef struct {
  const pcsim_mesh_tangent *motion;
  shape_places places;
  gradient_maps gradient;
  second_maps second;
} transport_motion;
/** `motion` is borrowed. Collective. Errors: ERR_MEMORY, ERR_MESH. Free after a failure too. */
pcsim_status transport_motion_create(const transport *t, const pcsim_mesh_tangent *motion,
                                     transport_motion *out) PCSIM_NODISCARD;
void transport_motion_free(transport_motion *motion);
/** sum of the inputs' sums times their derivatives, looks left out; this rank's share. */
double shape_inputs_through(const transport *t, const shape_inputs *inputs, const transport_motion *motion);
/** What came to the derivatives of the unknowns, grad [n][m*e], times theirs by the maps; this rank's share.
 *  Of the state and the given values that stand; t->first is overwritten. Collective. */
pcsim_status transport_motion_of_gradients(transport *t, const transport_motion *motion, const double *grad,
                                           double *derivative) PCSIM_NODISCARD;

#endif
