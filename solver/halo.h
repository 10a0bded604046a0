/* SPDX-License-Identifier: BSD-2-Clause */
/** @file halo.h  Private: exchange of ghost rows of any distributed numbering (multigrid levels). */
#ifndef PCSIM_SOLVER_HALO_H
#define PCSIM_SOLVER_HALO_H

#include <pcsim/mesh.h>

typedef struct halo halo;
/** Collective. This rank owns global rows first .. first + n - 1 and wants `ghosts` [num_ghosts], ascending;
 * some may be its own, or repeated (images across a period). */
pcsim_status halo_create(MPI_Comm comm, int64_t n, int64_t first, int64_t num_ghosts, const int64_t *ghosts,
                         halo **h) PCSIM_NODISCARD;
void halo_destroy(halo **h);
/** ghost [num_ghosts][width] from the owners' own [n][width]; width <= 4. Collective. */
pcsim_status halo_exchange(halo *h, int width, const float *own, float *ghost) PCSIM_NODISCARD;
pcsim_status halo_exchange_int64(halo *h, const int64_t *own, int64_t *ghost) PCSIM_NODISCARD;

/** The column of a local cell in a matrix: one for a cell and all its images. */
static inline int32_t column_of(const pcsim_mesh_view *view, int32_t cell) {
  return cell < view->num_cells ? cell : view->ghost_same[cell - view->num_cells];
}
#endif
