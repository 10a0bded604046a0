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

/** Taylor coefficients along several lanes at once, computed as they are asked for. Lanes 0 .. directions - 1
 * are the directions; with `collapsed` lane `directions` is their weighted sum, which has only the highest
 * order. */
typedef struct {
  pcsim_program *p;
  int order, directions, lanes;
  bool collapsed;
  const double *weights; /**< [directions] or NULL: ones */
  int room;
  signed char *depends; /**< [room] does the value depend on a seed? -1: not yet known */
  pcsim_value **series; /**< [room] NULL, or [lanes * order]: coefficient k of lane j at j * order + k - 1 */
} forward;

pcsim_status forward_begin(pcsim_program *p, int order, int directions, bool collapsed, const double *weights,
                           forward *f) PCSIM_NODISCARD;
void forward_end(forward *f);
/** Coefficient 1 of `v` along a lane is `direction` (PCSIM_NO_VALUE: zero), the higher ones are zero. */
pcsim_status forward_seed(forward *f, pcsim_value v, int lane, pcsim_value direction) PCSIM_NODISCARD;
/** Coefficients of all values in p so far: after it each is at hand without deep recursion. */
pcsim_status forward_run(forward *f, const pcsim_value *values, int n) PCSIM_NODISCARD;
/** Coefficient k of a value along a lane, PCSIM_NO_VALUE for zero; its shape may be smaller than the value's.
 */
pcsim_value forward_coefficient(forward *f, pcsim_value v, int lane, int k);

/** pcsim_transform_partials by a given route. */
pcsim_status transform_partials_by(const pcsim_program *program, const char *wrt, const int *orders, int n,
                                   bool nested, pcsim_program **out) PCSIM_NODISCARD;

#endif
