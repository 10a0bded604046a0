/* SPDX-License-Identifier: BSD-2-Clause */
/** @file error.h  L2 error of a field of cells' polynomials against an expression. */
#ifndef PCSIM_BENCH_TRANSPORT_ERROR_H
#define PCSIM_BENCH_TRANSPORT_ERROR_H

#include <pcsim/solver.h>

typedef struct {
  double field;   /**< of the cells' polynomials over the whole domain, by quadrature of degree 5 */
  double centres; /**< of the values at the cells' centres, weighted with their volumes */
} error_norms;

/** Both relative to the norm of `exact`, an expression of x, y, z, t. Plane meshes; the raw mesh is the one
 * that the fields' mesh was made from. One rank. */
error_norms error_of(const pcsim_raw_mesh *raw, const pcsim_transport_fields *fields,
                     const pcsim_expr *exact);

#endif
