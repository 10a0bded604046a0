/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform.h  Private to autodiff/: what the transforms share. */
#ifndef PCSIM_AUTODIFF_TRANSFORM_H
#define PCSIM_AUTODIFF_TRANSFORM_H

#include "graph.h"

/** A transform at work: the program copied into `p` (in sharing mode). */
typedef struct {
  pcsim_program *p;
  int num_source;     /**< values of the source program */
  pcsim_value *place; /**< [num_source] where they are in p */
  int num_wrt;
  pcsim_value *wrt; /**< [num_wrt] in p */
} transform;

/** Copy `program`, find `names` [n] among its inputs and parameters. On failure everything is freed. */
pcsim_status transform_begin(const pcsim_program *program, const char *const *names, int n,
                             transform *t) PCSIM_NODISCARD;
/** Drop dead values and hand the program over, or free everything when `status` or the program is at fault.
 */
pcsim_status transform_end(transform *t, pcsim_status status, pcsim_program **out) PCSIM_NODISCARD;
/** Is `name` an input, a parameter or an output? */
bool transform_taken(const pcsim_program *program, const char *name);

/** A way to write a multi-index as the sum of two others. */
typedef struct {
  int left, right; /**< places of the two; neither is 0 */
  int factor;      /**< component of `left` that the chain rule weighs with */
} forward_split;
typedef struct {
  double weight;
  pcsim_value factor; /**< besides the weight; PCSIM_NO_VALUE: 1 */
  int divisor;        /**< that component of the multi-index itself */
  int num_splits;
  forward_split *splits;
} forward_term;
/** A coefficient: one term, or the weighted sum of several that goes through as one. */
typedef struct {
  bool wanted; /**< computed for every value; else only where asked for */
  int num_terms;
  forward_term *terms;
} forward_index;

/** What a member of a sum is multiplied with: number * value, the value of one row or PCSIM_NO_VALUE for 1.
 */
typedef struct {
  double number;
  pcsim_value value;
} forward_weight;

/** Taylor coefficients, computed as they are asked for (transform_index.c, transform_forward.c). */
typedef struct {
  pcsim_program *p;
  int order; /**< highest total order */
  int num;
  forward_index *indices; /**< [num] */
  int variables, num_multi;
  int *multi; /**< [num_multi][variables] the multi-indices of forward_multi */
  int room;
  signed char *depends; /**< [room] does the value depend on a seed? -1: not yet known */
  pcsim_value **series; /**< [room] NULL, or [num] */
} forward;

/** Orders 1 .. order along each of the directions: order k along j at j * order + k - 1. Collapsed: the
 * highest order only as a weighted sum (NULL: ones), at the last place. On failure too, forward_end frees. */
pcsim_status forward_lanes(pcsim_program *p, int order, int directions, bool collapsed, const double *weights,
                           forward *f) PCSIM_NODISCARD;
/** The multi-indices `orders` [n][variables] and all below them. With `weights` [n] the sum over them of
 * weight times partial derivative, at the last place. */
pcsim_status forward_multi(pcsim_program *p, int variables, const int *orders, int n,
                           const forward_weight *weights, forward *f) PCSIM_NODISCARD;
/** Place of a multi-index of forward_multi, -1 if it is not there. */
int forward_place(const forward *f, const int *a);
void forward_end(forward *f);
/** A coefficient of an input or parameter (PCSIM_NO_VALUE: zero, as all that are not given). */
pcsim_status forward_seed(forward *f, pcsim_value v, int index, pcsim_value direction) PCSIM_NODISCARD;
/** Coefficients of the first `count` values: after it each is at hand without deep recursion. */
pcsim_status forward_run(forward *f, int count) PCSIM_NODISCARD;
/** Coefficient of a value, PCSIM_NO_VALUE for zero; its shape may be smaller than the value's. */
pcsim_value forward_coefficient(forward *f, pcsim_value v, int index);

/** Seed the unit directions of `wrt`, where they are among the multi-indices. */
pcsim_status transform_seed_units(forward *f, pcsim_value wrt) PCSIM_NODISCARD;
/** Of each of `values` [num] the sum over i of weights[i] times the partial derivative orders[i] [n][rows of
 * wrt] by the column `wrt`, propagated as one; results [num], PCSIM_NO_VALUE for zero. The values are among
 * the first `count` of the program. With one member it is a partial derivative. Weights that differ from
 * point to point need every value in between to live where they do. */
pcsim_status transform_sum(pcsim_program *p, pcsim_value wrt, const int *orders,
                           const forward_weight *weights, int n, int count, const pcsim_value *values,
                           int num, pcsim_value *results) PCSIM_NODISCARD;

/** pcsim_transform_partials by a given route. */
pcsim_status transform_partials_by(const pcsim_program *program, const char *wrt, const int *orders, int n,
                                   bool nested, pcsim_program **out) PCSIM_NODISCARD;

#endif
