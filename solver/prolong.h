/* SPDX-License-Identifier: BSD-2-Clause */
/** @file prolong.h  Private to solver/: values of cells carried to the parts of the cells on a refined mesh.
 *
 *  Each cell fits a quadratic to the cells of its material within two rings of node neighbours; at a part's
 *  centre the quadratics of the cell and of its neighbours are averaged. So what oscillates from cell to cell
 *  is smoothed, quadratics are exact, and the halo of one ring is enough (moments.h). The two meshes have
 *  partitions of their own: values go from one to the other through rank 0. */
#ifndef PCSIM_SOLVER_PROLONG_H
#define PCSIM_SOLVER_PROLONG_H

#include <pcsim/mesh.h>

typedef struct prolongation prolongation;
/** `fine` is pcsim_raw_mesh_refine of the raw mesh of `coarse`; both are borrowed. `material` [nt] of coarse
 *  cells, NULL: one. Collective. Errors: ERR_ARG (meshes that do not belong together), ERR_MEMORY. Caller
 *  destroys. */
pcsim_status prolong_create(const pcsim_mesh *coarse, const pcsim_mesh *fine, const int32_t *material,
                            prolongation **p) PCSIM_NODISCARD;
void prolong_destroy(prolongation **p);
/** to [fine cells][width] = from [coarse cells and ghosts][width], whose ghosts are filled here. Collective.
 */
pcsim_status prolong_apply(const prolongation *p, int width, double *from, double *to) PCSIM_NODISCARD;
/** to [coarse cells][width] = sums of from [fine cells][width] over the parts of each cell. Collective. */
pcsim_status prolong_sum(const prolongation *p, int width, const double *from, double *to) PCSIM_NODISCARD;

#endif
