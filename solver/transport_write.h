/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transport_write.h  Private to the writers of the programs of transport.h: a program that is being
 *  written, places at which the laws are evaluated, small builders. */
#ifndef PCSIM_SOLVER_TRANSPORT_WRITE_H
#define PCSIM_SOLVER_TRANSPORT_WRITE_H

#include "transport.h"

enum {
  WRITE_UNKNOWNS_MAX = SYSTEM_UNKNOWNS_MAX,
  WRITE_INPUTS_MAX = 8 * SYSTEM_UNKNOWNS_MAX,
  WRITE_NAME = 64
};

typedef struct {
  const transport *t;
  pcsim_program *p;
  int m, d;
  pcsim_space cells;
  pcsim_value q, grad;                    /* on cells */
  pcsim_value field[SYSTEM_UNKNOWNS_MAX]; /* on cells; [num_fields] */
  pcsim_value carrier[3];                 /* on cells; [num_carriers] */
} writer;

/** Where the laws are evaluated: everything that they may ask for, PCSIM_NO_VALUE what is not known. */
typedef struct {
  pcsim_space space;
  pcsim_value coordinates;
  pcsim_value u[WRITE_UNKNOWNS_MAX]; /**< [m] */
  pcsim_value g[WRITE_UNKNOWNS_MAX]; /**< [m] gradients, d rows */
  pcsim_value normal;                /**< d rows */
  const pcsim_value *field;          /**< [num_fields] */
  const pcsim_value *carrier;        /**< [num_carriers] */
} place;

/** The arguments of a part, with the derivatives "d_NAME" of all unknowns and gradients if `du` (a place with
 * u and g only) is given. `names` keeps the texts. Returns their number. */
int write_arguments(const writer *w, const pcsim_program *part, const place *at, const place *du,
                    char (*names)[WRITE_NAME], pcsim_argument *arguments);

pcsim_value write_op(const writer *w, pcsim_op op, pcsim_value a, pcsim_value b);
static inline pcsim_value write_add(const writer *w, pcsim_value a, pcsim_value b) {
  return write_op(w, PCSIM_OP_ADD, a, b);
}
static inline pcsim_value write_sub(const writer *w, pcsim_value a, pcsim_value b) {
  return write_op(w, PCSIM_OP_SUB, a, b);
}
static inline pcsim_value write_mul(const writer *w, pcsim_value a, pcsim_value b) {
  return write_op(w, PCSIM_OP_MUL, a, b);
}
static inline pcsim_value write_div(const writer *w, pcsim_value a, pcsim_value b) {
  return write_op(w, PCSIM_OP_DIV, a, b);
}
static inline pcsim_value write_row(const writer *w, pcsim_value a, int row) {
  return pcsim_build_slice(w->p, a, row, 1);
}
static inline pcsim_value write_number(const writer *w, double x) { return pcsim_build_constant(w->p, x); }
/** Product of two vectors of d rows. */
pcsim_value write_dot(const writer *w, pcsim_value a, pcsim_value b);
/** Input "SPACE.NAME". */
pcsim_value write_input(const writer *w, const char *space_name, const char *name, pcsim_space space,
                        int rows);
/** Gather of a value on cells. */
pcsim_map write_map(const writer *w, const char *space_name, const char *name, pcsim_space space);

/** sum_j flux[j*m + i] S_j: m rows. `flux` has d*m rows. */
pcsim_value write_through(const writer *w, pcsim_value flux, pcsim_value area);

/** Faces inside: geometry, both cells. */
typedef struct {
  pcsim_space space;
  pcsim_map owner, neighbour;
  pcsim_value area, line, skew, t, coordinates, speed;
  pcsim_value normal;         /**< S/(S.line) */
  pcsim_value up, un, gp, gn; /**< unknowns and derivatives of both cells */
  pcsim_value field[SYSTEM_UNKNOWNS_MAX], other_field[SYSTEM_UNKNOWNS_MAX]; /* the owner's, the neighbour's */
  pcsim_value carrier[3];
} face_values;
/** Faces of a space, "faces" or "interfaces"; `speed`: with the input "SPACE.speed". */
void write_faces(const writer *w, const char *name, bool speed, face_values *f);
/** State on one side of an interface whose common values are u [m]. `normal` gets the vector that the
 *  gradient grows by with each unit of u. */
void write_interface_side(const writer *w, const face_values *f, bool neighbour, const pcsim_value *u,
                          place *at, pcsim_value *normal);
/** Gradient of unknown i (d rows) in a record of derivatives on cells, or gathered from there. */
pcsim_value write_gradient(const writer *w, pcsim_value derivatives, int i);
/** How it changes along a way from the cell's centre; PCSIM_NO_VALUE at degree 1. */
pcsim_value write_bend(const writer *w, pcsim_value derivatives, int i, pcsim_value along);
/** Value and gradient (`g` may be NULL) of unknown i at `reach` from a cell's centre. */
pcsim_value write_extrapolated(const writer *w, pcsim_value q, pcsim_value derivatives, int i,
                               pcsim_value reach, pcsim_value *g);
/** The value, for a bounded unknown within its bounds. */
pcsim_value write_admitted(const writer *w, int i, pcsim_value value);
/** Value of unknown i at `reach` from one of a face's cells, limited by what its neighbours say about the
 * slope. */
pcsim_value write_limited(const writer *w, const face_values *f, bool neighbour, int i, pcsim_value reach);
/** The rows of bounded unknowns of a flux [m] through faces inside, drawn towards those of first order as
 * far as their bounds ask for. `central` is the state of the face. */
pcsim_status write_bounded_flux(const writer *w, const face_values *f, const place *central,
                                pcsim_value *flux) PCSIM_NODISCARD;
/** Central state of a face, with full gradients. */
void write_central(const writer *w, const face_values *f, place *at);

/** Faces of condition k. */
typedef struct {
  pcsim_space space;
  pcsim_map owner;
  pcsim_value area, magnitude, line, coordinates, share, value;
  pcsim_value normal; /**< S/(S.line) */
  pcsim_value up, gp;
  pcsim_value field[SYSTEM_UNKNOWNS_MAX];
  pcsim_value carrier[3];
} boundary_values;
void write_boundary(const writer *w, int k, boundary_values *b);
/** How much the slope at the wall grows by what the cell's state misses of unknown i, over the distance. */
pcsim_value write_wall_factor(const writer *w, const boundary_values *b, int i);
/** State on the faces of a condition. */
void write_boundary_state(const writer *w, int k, const boundary_values *b, place *at);

/** A flux [m] at a boundary after what write_bounded_flux does, where values are given: `kind` of the
 * condition, `at` the state. PCSIM_NO_VALUE: no memory. */
pcsim_value write_bounded_wall(const writer *w, const boundary_values *b, const uint8_t *kind,
                               const place *at, pcsim_value flux);
/** Flux out of the faces of condition k, times the area: as given, or of the state there. */
pcsim_value write_boundary_flux(const writer *w, int k, const boundary_values *b, const place *at);

/** Integrals over the cells of one output of a part by their points of quadrature, degree 3: on cells. */
pcsim_value write_over_points(const writer *w, const pcsim_program *part, const char *output);
/** State of the cells. */
void write_cell_state(const writer *w, place *at);

/** One output of a part at a place; with `du` of the part's tangent. */
pcsim_value write_evaluate(const writer *w, const pcsim_program *part, const char *output, const place *at,
                           const place *du);
/** Tangent of a part by all unknowns and gradients that it has. Caller destroys. */
pcsim_status write_tangent_of(const writer *w, const pcsim_program *part,
                              pcsim_program **tangent) PCSIM_NODISCARD;
/** Derivative of an output along unknown c by `du` and its gradient by `dg` (PCSIM_NO_VALUE: 0). */
pcsim_value write_column(const writer *w, const pcsim_program *tangent, const char *output, const place *at,
                         int c, pcsim_value du, pcsim_value dg);
/** Interfaces (transport_interface.c): their fluxes added to what is summed up on cells; their blocks as
 *  outputs "interface owner", "interface neighbour". */
pcsim_status transport_write_interfaces(const writer *w, pcsim_value *sum) PCSIM_NODISCARD;
void transport_write_interface_blocks(const writer *w, const pcsim_program *tangent);

/** `all` [4] of a place, or as many of them as the quantity wants. Errors: ERR_ARG (some other number). */
pcsim_status write_coordinates(const writer *w, const pcsim_program *quantity,
                               pcsim_value *all) PCSIM_NODISCARD;

/** Row i of weights [m][1 + d] times a value and its gradient. */
pcsim_value write_weighted(const writer *w, pcsim_value weight, int i, pcsim_value value,
                           pcsim_value gradient);

pcsim_status write_begin(const transport *t, writer *w) PCSIM_NODISCARD;
/** Take the outcome: the program, simplified, or what went wrong with it. */
pcsim_status write_end(writer *w, pcsim_program **program) PCSIM_NODISCARD;

#endif
