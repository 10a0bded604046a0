/* SPDX-License-Identifier: BSD-2-Clause */
/** @file hand.h  Advection and diffusion of one unknown in the plane as one would build it into the solver:
 * the discretisation of docs/discretisation.md, central, in loops written by hand over the same arrays. */
#ifndef PCSIM_BENCH_TRANSPORT_HAND_H
#define PCSIM_BENCH_TRANSPORT_HAND_H

#include "solver/transport.h"

/** div(b u - nu grad u) with b (x, y) = (0.5 - y, x - 0.5), values given on every boundary. */
typedef struct {
  const transport *t; /**< borrowed: geometry, maps of the gradients, given values */
  double nu;
  double *flow, *stretch;                     /**< [ni] b.S; nu |S|^2 / (S.d) */
  double **boundary_flow, **boundary_stretch; /**< [num_conditions][num]; with 1 + share in the stretch */
} hand_laws;

/** Errors: ERR_ARG (more than one unknown, not in the plane). To be freed after a failure too. */
pcsim_status hand_create(const transport *t, double nu, hand_laws *h) PCSIM_NODISCARD;
void hand_free(hand_laws *h);
/** Residual of q [nt] into r [n]; `values` false: its tangent along q, boundary values being 0. One rank. */
void hand_residual(const hand_laws *h, const double *q, bool values, double *r);

#endif
