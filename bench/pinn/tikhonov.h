/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tikhonov.h  Private to bench-pinn-tikhonov: the problems on a grid. */
#ifndef BENCH_PINN_TIKHONOV_H
#define BENCH_PINN_TIKHONOV_H

#include <pcsim/base.h>

typedef struct {
  bool heat, wrong;
  int cells, steps; /* along a side, in time; 0: steady */
  double low, h, dt;
  int side, nodes, inner, levels; /* nodes along a side, all, inside; times */
  int64_t num_data;
  double noise, *x, *y, *t, *d; /* [num_data] */
  int num_g, num_a, n;          /* parameters: values of u that are free, then a inside */
  double *theta;                /* [n] */
  double *a, *u;                /* [nodes], [levels][nodes] */
  double *band;                 /* factor of I/dt + A/2, or of A: [inner][width + 1] */
  int width;
} peer;

double peer_exact_u(const peer *p, double x, double y, double t);
double peer_exact_a(const peer *p, double x, double y);
/** Coordinate of a node; is it inside, and then its number among those. */
double peer_place(const peer *p, int i);
bool peer_is_inner(const peer *p, int i, int j);
int peer_inner_of(const peer *p, int i, int j);
/** Node number k around the square from its lower left corner. */
int peer_around(const peer *p, int k);
/** a and u from theta; `work` [inner]. */
void peer_forward(peer *p, double *work);
/** Weights [levels][nodes] of the value at datum i: cubic in space, linear in time. */
void peer_observe(const peer *p, int64_t i, double *w);
double peer_value(const peer *p, const double *w);
/** Derivatives [n] by theta of the value with weights w, which are used up; `work` [inner], `lambda`
 * [2][nodes]. */
void peer_adjoint(const peer *p, double *w, double *work, double *lambda, double *row);

#endif
