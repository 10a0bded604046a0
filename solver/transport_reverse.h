/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transport_reverse.h  Private to the adjoints of typed laws: programs run backwards, their cotangents
 *  bound. Letters of array shapes as in transport.h. */
#ifndef PCSIM_SOLVER_TRANSPORT_REVERSE_H
#define PCSIM_SOLVER_TRANSPORT_REVERSE_H

#include "transport_adjoint.h"
#include "transport_shape.h"
#include "transport_write.h"

/* The reverse of one program. */
typedef struct {
  pcsim_executor *x; /* NULL: it depends on nothing that is asked for */
  bool by_q, by_grad, by_speed;
  bool by_cells, by_faces, by_interfaces; /* by the carriers there */
  uint8_t *by_value, *by_wall;            /* [num_conditions] by given values, by carriers */
  shape_inputs *places;                   /* that may be asked for; NULL: none */
  bool *by_place;                         /* [places->num] */
  double *parameter;                      /* [num_parameters] of the last run, this rank */
} reverse;

struct transport_reverse {
  reverse r;
};

/* The reverse of the values that a condition or a source gives at its points. */
typedef struct {
  reverse r;
  shape_inputs places;
  double *seed; /* [points][m] */
} given_reverse;

struct transport_adjoint {
  transport *t;
  int num;
  char (*name)[WRITE_NAME];
  double *seed;     /* [nt][m], 0 in ghosts */
  double *q, *grad; /* [nt][m], [nt][m*e] what came to state and derivatives */
  double *q_speed, *grad_speed;
  double *speed;                             /* [nf] */
  double **value;                            /* [num_conditions][num][m] of the last run */
  double **wall;                             /* [num_conditions][num][m] sums: to values at walls' points */
  transport_carrier_cotangent carrier, last; /* sums, of the last run; NULL where nothing carries */
  double *face, *node;                       /* [nb][m], [num_given][m] to values that gradients are given */
  reverse product, full;                     /* of the residual: by the state, by everything */
  reverse speed_reverse;                     /* of the speeds, by everything */
  given_reverse *face_given;                 /* [num_conditions] */
  given_reverse *node_given;                 /* [num_conditions] */
  given_reverse *source;                     /* [num_sources] */
  bool shape;                                /* places are asked for, too */
  shape_inputs places;                       /* of the programs of the mesh */
  double *to_grad;                           /* [n][m*e] what has come to the derivatives of the unknowns */
};

/* How the reverse of a program of the mesh is made. */
typedef struct {
  int spaces;       /* transport_make_executor's */
  bool everything;  /* by given values, parameters and, where asked for, places too */
  const char *also; /* an output to keep */
  double *q, *grad; /* where cotangents go */
} reverse_request;

/* r->x stays NULL where the program depends on nothing that is asked for. Errors: ERR_MEMORY. reverse_free
 * after a failure too. */
pcsim_status reverse_make(transport_adjoint *a, pcsim_program *p, const reverse_request *request,
                          reverse *r) PCSIM_NODISCARD;
/* The reverse of "value" at `points` points by parameters and g->places; the data of `back` are bound by the
 * caller, who destroys it. */
pcsim_status reverse_make_values(const transport_adjoint *a, pcsim_program *values, int64_t points,
                                 given_reverse *g, pcsim_program **back) PCSIM_NODISCARD;
void reverse_free(reverse *r);
/* Add factor times what the last run says of places to their sums. */
void reverse_add_places(const reverse *r, double factor);

#endif
