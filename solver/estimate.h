/* SPDX-License-Identifier: BSD-2-Clause */
/** @file estimate.h  Private to solver/: the error of a number by the dual-weighted residual on the mesh of
 *  halved cells, of any discrete problem. docs/discretisation.md has the method. */
#ifndef PCSIM_SOLVER_ESTIMATE_H
#define PCSIM_SOLVER_ESTIMATE_H

#include "system.h"

/** The problem on the refined mesh. n owned cells, m unknowns a cell. */
typedef struct {
  void *context; /**< first argument of the functions; borrowed */
  const pcsim_mesh *mesh;
  int m;
  int64_t n;
  double *q; /**< [n][m] the state */
  /** Residual of q into r [n][m], with everything frozen in a solve following q. Collective. */
  pcsim_status (*residual)(void *context, double *r);
  /** Diagonal blocks [n][m*m] of the compact Jacobian of the last residual, by columns. Collective. */
  pcsim_status (*diagonal)(void *context, double *block);
  /** The number, of the last residual's state. Collective. */
  pcsim_status (*value)(void *context, double *value);
} estimate_fine;

/** The solution, in the units of the fine problem. */
typedef struct {
  const pcsim_mesh *mesh;
  const int32_t *material; /**< [nt] cells of different ones share no fit; NULL: one */
  double *q, *psi;         /**< [nt][m] with room for ghosts: state, adjoint R'^T psi = dJ/dq */
} estimate_coarse;

/** `out->value` is given. Collective. Errors: ERR_ARG (meshes that do not belong together), ERR_MEMORY. */
pcsim_status estimate_error(const estimate_fine *fine, const estimate_coarse *coarse,
                            pcsim_estimate *out) PCSIM_NODISCARD;

#endif
