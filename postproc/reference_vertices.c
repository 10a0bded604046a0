/* SPDX-License-Identifier: BSD-2-Clause */
/* Pressure at the nodes of the mesh.
 *
 * On triangles cell pressures carry an oscillation between the two orientations of cells, which a mean around
 * a node does not see. Inside the domain the value at a node is that of a linear least-squares fit, weighted
 * by the inverse squared distance, through the cells around it; on the boundary, where those cells lie on one
 * side, it is the weighted mean of their linear reconstructions. A node that cells of several ranks share is
 * put together on the rank (its number) mod (ranks). */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  REC_NODE,
  REC_X,
  REC_MATRIX = 4,              /* lower triangle of sum w (1, d)(1, d)' */
  REC_RIGHT = REC_MATRIX + 10, /* sum w (1, d) p */
  REC_LINEAR = REC_RIGHT + 4,  /* sum w (p + grad p . d) */
  REC_VOLUME,                  /* of the cells around, shared among their nodes */
  REC_BOUNDARY,
  REC_WIDTH
};

/* Sums of value * weight over the nodes, and what norms are made of. */
typedef struct {
  double volume, error, exact, error2, exact2;
} node_sums;

static void add_cell(const pcsim_mesh_view *mesh, const pcsim_flow_fields *fields, int64_t c, int32_t node,
                     double *record) {
  double d[4] = {1, 0, 0, 0}, distance2 = 0.0, p = fields->pressure[c], linear = p;
  for (int i = 0; i < mesh->dim; ++i) {
    d[1 + i] = mesh->cell_centre[3 * c + i] - mesh->node[3 * (int64_t)node + i];
    distance2 += d[1 + i] * d[1 + i];
    linear -= fields->pressure_gradient[3 * c + i] * d[1 + i];
  }
  double w = 1.0 / distance2;
  int k = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j <= i; ++j) record[REC_MATRIX + k++] += w * d[i] * d[j];
  for (int i = 0; i < 4; ++i) record[REC_RIGHT + i] += w * d[i] * p;
  record[REC_LINEAR] += w * linear;
  record[REC_VOLUME] +=
      mesh->cell_volume[c] / (double)(mesh->cell_node_start[c + 1] - mesh->cell_node_start[c]);
}

/* Fit at the node by Cholesky; false where the cells around do not determine it. */
static bool fit_node(int dim, const double *record, double *value) {
  double a[4][4], y[4];
  int k = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j <= i; ++j) a[i][j] = record[REC_MATRIX + k++];
  for (int i = 0; i <= dim; ++i)
    for (int j = 0; j <= i; ++j) {
      double diagonal = a[i][i];
      for (int m = 0; m < j; ++m) a[i][j] -= a[i][m] * a[j][m];
      if (j < i) a[i][j] /= a[j][j];
      else if (a[i][i] > 1e-6 * diagonal) a[i][i] = sqrt(a[i][i]);
      else return false;
    }
  for (int i = 0; i <= dim; ++i) {
    y[i] = record[REC_RIGHT + i];
    for (int m = 0; m < i; ++m) y[i] -= a[i][m] * y[m];
    y[i] /= a[i][i];
  }
  for (int i = dim; i >= 0; --i) {
    for (int m = i + 1; m <= dim; ++m) y[i] -= a[m][i] * y[m];
    y[i] /= a[i][i];
  }
  *value = y[0];
  return true;
}

static void finish_node(const exact_field *exact, int dim, const double *record, node_sums *sums) {
  double value, right = exact_at(exact, record + REC_X), v = record[REC_VOLUME];
  if (record[REC_BOUNDARY] > 0.0 || !fit_node(dim, record, &value))
    value = record[REC_LINEAR] / record[REC_MATRIX];
  double error = value - right;
  sums->volume += v;
  sums->error += v * error;
  sums->exact += v * right;
  sums->error2 += v * error * error;
  sums->exact2 += v * right * right;
}

static void fill_records(const pcsim_mesh_view *mesh, const pcsim_flow_fields *fields, double *record,
                         bool *shared) {
  for (int64_t n = 0; n < mesh->num_nodes; ++n) {
    record[REC_WIDTH * n + REC_NODE] = (double)mesh->node_global[n];
    memcpy(record + REC_WIDTH * n + REC_X, mesh->node + 3 * n, 3 * sizeof(double));
  }
  for (int64_t f = mesh->num_interior_faces; f < mesh->num_faces; ++f)
    for (int64_t k = mesh->face_node_start[f]; k < mesh->face_node_start[f + 1]; ++k)
      record[REC_WIDTH * (int64_t)mesh->face_node[k] + REC_BOUNDARY] = 1.0;
  for (int64_t c = 0; c < mesh->num_cells; ++c) {
    bool border = false;
    for (int64_t k = mesh->near_start[c]; k < mesh->near_start[c + 1]; ++k)
      border = border || mesh->near[k] >= mesh->num_cells;
    for (int64_t k = mesh->cell_node_start[c]; k < mesh->cell_node_start[c + 1]; ++k) {
      int32_t n = mesh->cell_node[k];
      add_cell(mesh, fields, c, n, record + REC_WIDTH * (int64_t)n);
      shared[n] = shared[n] || border;
    }
  }
}

static int compare_records(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct {
  int *send_count, *send_start, *receive_count, *receive_start; /* [ranks] doubles */
  double *send, *receive;
  int num_receive; /* records */
} transfer;

static void transfer_free(transfer *t) {
  pcsim_free(&t->send_count);
  pcsim_free(&t->send_start);
  pcsim_free(&t->receive_count);
  pcsim_free(&t->receive_start);
  pcsim_free(&t->send);
  pcsim_free(&t->receive);
}

static pcsim_status pack(const pcsim_mesh_view *mesh, const double *record, const bool *shared, int ranks,
                         transfer *t) {
  PCSIM_TRY(pcsim_alloc((size_t)ranks, sizeof(int), &t->send_count));
  PCSIM_TRY(pcsim_alloc((size_t)ranks, sizeof(int), &t->send_start));
  PCSIM_TRY(pcsim_alloc((size_t)ranks, sizeof(int), &t->receive_count));
  PCSIM_TRY(pcsim_alloc((size_t)ranks, sizeof(int), &t->receive_start));
  size_t total = 0;
  for (int64_t n = 0; n < mesh->num_nodes; ++n)
    if (shared[n]) t->send_count[mesh->node_global[n] % ranks] += REC_WIDTH, ++total;
  for (int r = 1; r < ranks; ++r) t->send_start[r] = t->send_start[r - 1] + t->send_count[r - 1];
  PCSIM_TRY(pcsim_alloc(total * REC_WIDTH, sizeof(double), &t->send));
  for (int64_t n = 0; n < mesh->num_nodes; ++n) {
    if (!shared[n]) continue;
    int *place = &t->send_start[mesh->node_global[n] % ranks];
    memcpy(t->send + *place, record + REC_WIDTH * n, REC_WIDTH * sizeof(double));
    *place += REC_WIDTH;
  }
  for (int r = 0; r < ranks; ++r) t->send_start[r] -= t->send_count[r];
  return PCSIM_OK;
}

static pcsim_status send_records(MPI_Comm comm, int ranks, transfer *t) {
  MPI_Alltoall(t->send_count, 1, MPI_INT, t->receive_count, 1, MPI_INT, comm);
  int total = 0;
  for (int r = 0; r < ranks; ++r) t->receive_start[r] = total, total += t->receive_count[r];
  t->num_receive = total / REC_WIDTH;
  PCSIM_TRY(pcsim_status_agree(comm, pcsim_alloc((size_t)total, sizeof(double), &t->receive)));
  MPI_Alltoallv(t->send, t->send_count, t->send_start, MPI_DOUBLE, t->receive, t->receive_count,
                t->receive_start, MPI_DOUBLE, comm);
  return PCSIM_OK;
}

/* Records of one node lie next to each other after sorting: add them up in the first. */
static void finish_shared(const exact_field *exact, int dim, transfer *t, node_sums *sums) {
  if (t->num_receive > 0)
    qsort(t->receive, (size_t)t->num_receive, REC_WIDTH * sizeof(double), compare_records);
  for (int i = 0; i < t->num_receive;) {
    double *first = t->receive + (size_t)REC_WIDTH * (size_t)i;
    int next = i + 1;
    for (; next < t->num_receive && t->receive[(size_t)REC_WIDTH * (size_t)next] == first[REC_NODE]; ++next)
      for (int k = REC_MATRIX; k < REC_WIDTH; ++k)
        first[k] += t->receive[(size_t)REC_WIDTH * (size_t)next + (size_t)k];
    finish_node(exact, dim, first, sums);
    i = next;
  }
}

pcsim_status vertices_error(const exact_field *exact, const pcsim_flow_fields *fields, bool free,
                            double *error, double *norm) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(fields->mesh);
  MPI_Comm comm = pcsim_mesh_comm(fields->mesh);
  double *record = NULL;
  bool *shared = NULL;
  transfer t = {0};
  node_sums sums = {0};
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  pcsim_status status = pcsim_alloc((size_t)mesh->num_nodes * REC_WIDTH, sizeof(double), &record);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)mesh->num_nodes, sizeof *shared, &shared);
  if (status == PCSIM_OK) fill_records(mesh, fields, record, shared);
  if (status == PCSIM_OK) status = pack(mesh, record, shared, ranks, &t);
  PCSIM_GOTO(pcsim_status_agree(comm, status), status, done);
  PCSIM_GOTO(send_records(comm, ranks, &t), status, done);
  for (int64_t n = 0; n < mesh->num_nodes; ++n)
    if (!shared[n]) finish_node(exact, mesh->dim, record + REC_WIDTH * n, &sums);
  finish_shared(exact, mesh->dim, &t, &sums);
  MPI_Allreduce(MPI_IN_PLACE, &sums, (int)(sizeof sums / sizeof(double)), MPI_DOUBLE, MPI_SUM, comm);
  *error = fmax(0.0, sums.error2 - (free ? sums.error * sums.error / sums.volume : 0.0));
  *norm = fmax(0.0, sums.exact2 - (free ? sums.exact * sums.exact / sums.volume : 0.0));
  if (isnan(sums.error2)) *error = NAN;
done:
  transfer_free(&t);
  pcsim_free(&record);
  pcsim_free(&shared);
  return status;
}
