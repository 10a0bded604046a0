/* SPDX-License-Identifier: BSD-2-Clause */
/** @file optimizer.h  Private: the table of optimisers. One is a file optimizer_NAME.c and a line in the
 * table of optimizer.c. An optimiser knows an objective and nothing else. */
#ifndef PCSIM_PINN_OPTIMIZER_H
#define PCSIM_PINN_OPTIMIZER_H

#include "objective.h"

/** What a step did. */
typedef struct {
  double loss;          /**< at the new theta (first-order methods: the old one), on the points of the step */
  double gradient_norm; /**< Euclidean, at the last theta where the gradient was computed */
  double radius;        /**< length of the step */
  int evaluations;      /**< of the loss, gradient included */
  bool stalled;         /**< steps lower the loss no more than rounding does; theta is no worse than it was */
} optimizer_report;

typedef struct optimizer optimizer;
typedef struct {
  const char *name, *help;
  const pcsim_key *keys; /**< options, read from `train: {optimizer: {NAME: {...}}}` */
  size_t num_keys;
  /** `options`: numbers in the order of `keys`. Caller destroys. */
  pcsim_status (*create)(int64_t num_parameters, const double *options, int threads, optimizer **o);
  /** One step from theta [n], which is changed in place and never made worse than it was (first-order methods
   *  excepted). The same numbers give the same bits on any number of threads. */
  pcsim_status (*step)(optimizer *o, objective *f, double *theta, optimizer_report *report);
  /** The objective has other points or weights from now on: what is known of its loss and gradient is void,
   *  what is known of its curvature is kept. */
  void (*changed)(optimizer *o);
  /** The whole state as numbers, so that a resumed run has the same bits: `*numbers` is borrowed, to be
   *  written out or filled in. */
  void (*state)(optimizer *o, double **numbers, int64_t *n);
  void (*destroy)(optimizer **o);
} optimizer_kind;

/** Every optimiser, [*n]. */
const optimizer_kind *const *optimizer_list(size_t *n);
/** NULL: there is none of this name. */
const optimizer_kind *optimizer_find(const char *name);
/** The fallbacks of its keys, [num_keys]. */
void optimizer_defaults(const optimizer_kind *kind, double *options);

#endif
