/* SPDX-License-Identifier: BSD-2-Clause */
/** @file zoom.c  The window of a second mesh picture: where the cells are too small to be told apart in the
 * first. */
#include "cli.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Below that many cells the whole mesh can be seen in one picture. */
static const int64_t cells_seen = 20000;
/* Widths of the smallest cell that fit into the window and can still be told apart. */
static const double widest = 440, narrowest = 220;

/* Low and negative high corners in the plane: one reduction by minimum joins them. */
typedef struct {
  double c[4];
} box;
static const box nothing = {{DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX}};

static void take(box *b, const double *point) {
  for (int k = 0; k < 2; k++) {
    b->c[k] = fmin(b->c[k], point[k]);
    b->c[2 + k] = fmin(b->c[2 + k], -point[k]);
  }
}

static double extent(const box *b) { return fmax(-b->c[2] - b->c[0], -b->c[3] - b->c[1]); }

/* Of the domain in z; 0 and 0 in 2D. */
static void depth(const pcsim_mesh_view *view, MPI_Comm comm, double *low, double *high) {
  double z[2] = {DBL_MAX, DBL_MAX};
  for (int64_t i = 0; i < view->num_nodes; i++) {
    z[0] = fmin(z[0], view->node[3 * i + 2]);
    z[1] = fmin(z[1], -view->node[3 * i + 2]);
  }
  MPI_Allreduce(MPI_IN_PLACE, z, 2, MPI_DOUBLE, MPI_MIN, comm);
  *low = z[0];
  *high = -z[1];
}

/* The smallest cell that the drawn plane meets: its size, its first place among equals, its centre. */
static void smallest_cell(const pcsim_mesh_view *view, MPI_Comm comm, double *size, double centre[2]) {
  double low, high, best = DBL_MAX;
  int64_t cell = -1;
  depth(view, comm, &low, &high);
  for (int64_t c = 0; c < view->num_cells; c++) {
    double h = pow(view->cell_volume[c], 1.0 / view->dim);
    if (view->dim == 3 && fabs(view->cell_centre[3 * c + 2] - (low + high) / 2) > h) continue;
    /* Cells of a uniform mesh differ in the last digits. */
    if (h < best * (1 - 1e-9)) best = h, cell = c;
  }
  *size = best;
  MPI_Allreduce(MPI_IN_PLACE, size, 1, MPI_DOUBLE, MPI_MIN, comm);
  int rank, owner;
  MPI_Comm_rank(comm, &rank);
  int mine = cell >= 0 && best <= *size * (1 + 1e-9) ? rank : INT32_MAX;
  MPI_Allreduce(&mine, &owner, 1, MPI_INT, MPI_MIN, comm);
  if (owner == rank) memcpy(centre, view->cell_centre + 3 * cell, 2 * sizeof *centre);
  if (owner != INT32_MAX) MPI_Bcast(centre, 2, MPI_DOUBLE, owner, comm);
}

/* Around patch p and around everything. */
static void boxes(const pcsim_mesh_view *view, MPI_Comm comm, int p, box *patch, box *all) {
  *patch = *all = nothing;
  for (int64_t f = view->patch_start[p]; f < view->patch_start[p + 1]; f++)
    for (int64_t k = view->face_node_start[f]; k < view->face_node_start[f + 1]; k++)
      take(patch, view->node + 3 * view->face_node[k]);
  for (int64_t i = 0; i < view->num_nodes; i++) take(all, view->node + 3 * i);
  MPI_Allreduce(MPI_IN_PLACE, patch->c, 4, MPI_DOUBLE, MPI_MIN, comm);
  MPI_Allreduce(MPI_IN_PLACE, all->c, 4, MPI_DOUBLE, MPI_MIN, comm);
}

/* Boundary with the smallest faces on average. */
static int finest_patch(const pcsim_mesh_view *view, MPI_Comm comm) {
  int best = 0;
  double least = DBL_MAX;
  for (int p = 0; p < view->num_patches; p++) {
    double area = 0;
    for (int64_t f = view->patch_start[p]; f < view->patch_start[p + 1]; f++) {
      const double *a = view->face_area + 3 * f;
      area += sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &area, 1, MPI_DOUBLE, MPI_SUM, comm);
    area /= (double)view->patch_size_global[p];
    if (area < least * (1 - 1e-9)) least = area, best = p;
  }
  return best;
}

const char *cli_zoom(const pcsim_mesh *mesh, double window[4]) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  if (view->num_cells_global < cells_seen || view->num_patches == 0) return NULL;
  double size = 0, centre[2] = {0, 0};
  box patch, all;
  smallest_cell(view, comm, &size, centre);
  boxes(view, comm, finest_patch(view, comm), &patch, &all);
  double whole = extent(&all), half = extent(&patch);
  /* A body fits in with half its size on each side; else as much around the smallest cell as can be seen. */
  bool body = 2 * half < whole / 2 && 2 * half <= widest * size;
  if (body)
    for (int k = 0; k < 2; k++) centre[k] = (patch.c[k] - patch.c[2 + k]) / 2;
  else half = narrowest * size / 2;
  if (!(size < DBL_MAX) || !(half > 0) || 2 * half >= whole / 2) return NULL;
  for (int k = 0; k < 2; k++) { /* moved into the domain where it would show what is outside */
    double low = fmax(centre[k] - half, all.c[k]), high = fmin(centre[k] + half, -all.c[2 + k]);
    low = fmax(fmin(low, high - 2 * half), all.c[k]);
    high = fmin(fmax(high, low + 2 * half), -all.c[2 + k]);
    window[k] = low;
    window[2 + k] = high;
  }
  return body ? "Mesh around the body with the smallest faces" : "Mesh around its smallest cell";
}
