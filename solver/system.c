/* SPDX-License-Identifier: BSD-2-Clause */
/* Norms of a system's residual, and where the largest entry sits. */
#include "system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PASSES = 6 };

void system_norm_of(const discrete_system *s, const double *r, system_norm *norm) {
  double worst = -1;
  memset(norm, 0, sizeof *norm);
  for (int64_t c = 0; c < s->n; c++)
    for (int i = 0; i < s->m; i++) {
      const double x = r[c * s->m + i] * (s->row_weight ? s->row_weight[c * s->m + i] : 1);
      norm->part[i] += x * x;
      if (fabs(x) > worst || isnan(x)) {
        worst = isnan(x) ? INFINITY : fabs(x);
        norm->worst = c, norm->worst_part = i;
      }
    }
  MPI_Allreduce(MPI_IN_PLACE, norm->part, s->m, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(s->mesh));
  for (int i = 0; i < s->m; i++) {
    norm->total += norm->part[i];
    norm->part[i] = sqrt(norm->part[i]);
  }
  norm->total = sqrt(norm->total);
}

void system_report_worst(const discrete_system *s, const system_norm *norm, const double *r,
                         pcsim_solve_result *result) {
  MPI_Comm comm = pcsim_mesh_comm(s->mesh);
  const pcsim_mesh_view *v = pcsim_mesh_get(s->mesh);
  struct {
    double value;
    int rank;
  } mine = {-1, 0}, all;
  MPI_Comm_rank(comm, &mine.rank);
  if (s->n) {
    const int64_t at = norm->worst * s->m + norm->worst_part;
    mine.value = fabs(r[at] * (s->row_weight ? s->row_weight[at] : 1));
    if (!(mine.value < INFINITY)) mine.value = INFINITY;
  }
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  double packed[5] = {0};
  if (mine.rank == all.rank && s->n) {
    memcpy(packed, v->cell_centre + 3 * norm->worst, 3 * sizeof(double));
    packed[3] = (double)v->cell_original[norm->worst];
    packed[4] = norm->worst_part;
  }
  MPI_Bcast(packed, 5, MPI_DOUBLE, all.rank, comm);
  memcpy(result->worst_centre, packed, 3 * sizeof(double));
  result->worst_cell = (int64_t)packed[3];
  if (s->blame && s->blame(s->context, result->reason, sizeof result->reason)) return;
  snprintf(result->reason, sizeof result->reason,
           "the %s equation diverges first in cell %lld at (%.6g, %.6g, %.6g); look at the mesh and the "
           "boundary conditions there, %s",
           s->equation(s->context, (int)packed[4]), (long long)result->worst_cell + 1, packed[0], packed[1],
           packed[2], s->advice);
}

pcsim_status system_settle(const discrete_system *s, bool whole, double *r) {
  if (s->normalise) s->normalise(s->context);
  if (s->admit) s->admit(s->context);
  for (int pass = 0; pass < (whole ? PASSES : 1); pass++) {
    if (s->freeze) PCSIM_TRY(s->freeze(s->context, 0, pass == 0));
    PCSIM_TRY(s->residual(s->context, 0, r));
    if (!s->freeze) break;
  }
  return PCSIM_OK;
}
