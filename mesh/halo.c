/* SPDX-License-Identifier: BSD-2-Clause */
/* Halo: who sends which cells to whom, and the exchange. Ghosts ascend in global number, so those of one
 * rank are contiguous and are received in place. Images of a rank's own cells are copied. */
#include "fv.h"

#include <string.h>

enum { TAG_LIST = 11, TAG_VALUES };

void pcsim_mesh_halo_free(pcsim_mesh_halo *halo) {
  pcsim_free(&halo->recv_rank);
  pcsim_free(&halo->send_rank);
  pcsim_free(&halo->recv_start);
  pcsim_free(&halo->send_start);
  pcsim_free(&halo->send_cell);
  pcsim_free(&halo->requests);
  pcsim_free(&halo->buffer);
}

/* Ranks with a count, and where the cells of each begin. */
static pcsim_status list_ranks(const int *count, int ranks, int *num, int **rank, int64_t **start) {
  *num = 0;
  for (int r = 0; r < ranks; r++) *num += count[r] > 0;
  PCSIM_TRY(pcsim_alloc((size_t)*num, sizeof **rank, rank));
  PCSIM_TRY(pcsim_alloc((size_t)*num + 1, sizeof **start, start));
  int i = 0;
  for (int r = 0; r < ranks; r++) {
    if (count[r] == 0) continue;
    (*rank)[i] = r;
    (*start)[i + 1] = (*start)[i] + count[r];
    i++;
  }
  return PCSIM_OK;
}

static pcsim_status halo_allocate(pcsim_mesh *mesh, const int *recv, const int *send, int64_t **wanted) {
  pcsim_mesh_halo *halo = mesh->halo;
  PCSIM_TRY(list_ranks(recv, mesh->ranks, &halo->num_recv, &halo->recv_rank, &halo->recv_start));
  PCSIM_TRY(list_ranks(send, mesh->ranks, &halo->num_send, &halo->send_rank, &halo->send_start));
  size_t sends = (size_t)halo->send_start[halo->num_send];
  PCSIM_TRY(pcsim_alloc(sends, sizeof *halo->send_cell, &halo->send_cell));
  PCSIM_TRY(pcsim_alloc(sends, sizeof **wanted, wanted));
  return pcsim_alloc((size_t)(halo->num_recv + halo->num_send), sizeof *halo->requests, &halo->requests);
}

/* Each rank tells the owners of its ghosts which cells it wants. */
static pcsim_status swap_lists(pcsim_mesh *mesh, int64_t *wanted) {
  pcsim_mesh_halo *halo = mesh->halo;
  int n = 0;
  for (int i = 0; i < halo->num_send; i++) {
    int64_t start = halo->send_start[i], count = halo->send_start[i + 1] - start;
    PCSIM_MPI(MPI_Irecv(wanted + start, (int)count, MPI_INT64_T, halo->send_rank[i], TAG_LIST, mesh->comm,
                        halo->requests + n++));
  }
  for (int i = 0; i < halo->num_recv; i++) {
    int64_t start = halo->recv_start[i], count = halo->recv_start[i + 1] - start;
    PCSIM_MPI(MPI_Isend(mesh->part.ghost_global + start, (int)count, MPI_INT64_T, halo->recv_rank[i],
                        TAG_LIST, mesh->comm, halo->requests + n++));
  }
  PCSIM_MPI(MPI_Waitall(n, halo->requests, MPI_STATUSES_IGNORE));
  for (int64_t i = 0; i < halo->send_start[halo->num_send]; i++)
    halo->send_cell[i] = (int32_t)(wanted[i] - mesh->part.first_cell);
  return PCSIM_OK;
}

static pcsim_status halo_fill(pcsim_mesh *mesh, int *recv, int *send, int64_t **wanted) {
  const pcsim_mesh_part *part = &mesh->part;
  int r = 0;
  for (int64_t i = 0; i < part->num_ghosts; i++) {
    while (part->ghost_global[i] >= mesh->rank_start[r + 1]) r++;
    recv[r]++;
  }
  PCSIM_MPI(MPI_Alltoall(recv, 1, MPI_INT, send, 1, MPI_INT, mesh->comm));
  PCSIM_TRY(pcsim_status_agree(mesh->comm, halo_allocate(mesh, recv, send, wanted)));
  return swap_lists(mesh, *wanted);
}

pcsim_status pcsim_mesh_halo_make(pcsim_mesh *mesh) {
  int *counts = NULL;
  int64_t *wanted = NULL;
  pcsim_status status = pcsim_alloc(2 * (size_t)mesh->ranks, sizeof *counts, &counts);
  status = pcsim_status_agree(mesh->comm, status);
  if (status == PCSIM_OK) status = halo_fill(mesh, counts, counts + mesh->ranks, &wanted);
  pcsim_free(&counts);
  pcsim_free(&wanted);
  return status;
}

static void pack(const pcsim_mesh_halo *halo, int width, const double *values) {
  int64_t n = halo->send_start[halo->num_send];
  if (width == 1) {
    for (int64_t i = 0; i < n; i++) halo->buffer[i] = values[halo->send_cell[i]];
    return;
  }
  for (int64_t i = 0; i < n; i++)
    memcpy(halo->buffer + i * width, values + (int64_t)halo->send_cell[i] * width,
           (size_t)width * sizeof *values);
}

/* Cells in one message are counted by an int together with the width. */
static pcsim_status check_width(const pcsim_mesh *mesh, int width) {
  PCSIM_CHECK(width > 0 && (int64_t)width <= INT32_MAX / (mesh->view.num_cells + mesh->view.num_ghosts + 1),
              PCSIM_ERR_ARG, "exchange of %d values a cell for %lld cells", width,
              (long long)(mesh->view.num_cells + mesh->view.num_ghosts));
  return PCSIM_OK;
}

/* Room for `width` values of every cell that is sent. */
static pcsim_status make_room(const pcsim_mesh *mesh, int width) {
  pcsim_mesh_halo *halo = mesh->halo;
  PCSIM_TRY(check_width(mesh, width));
  if (width <= halo->buffer_width) return PCSIM_OK;
  PCSIM_TRY(pcsim_realloc((size_t)halo->send_start[halo->num_send], (size_t)width * sizeof *halo->buffer,
                          &halo->buffer));
  halo->buffer_width = width;
  return PCSIM_OK;
}

/* Images of own cells: message i of the ghosts is from and to oneself. */
static void copy_own(const pcsim_mesh *mesh, int i, int width, double *ghosts, bool back) {
  const pcsim_mesh_halo *halo = mesh->halo;
  int own = 0;
  while (halo->send_rank[own] != mesh->rank) own++;
  double *ghost = ghosts + halo->recv_start[i] * width, *cell = halo->buffer + halo->send_start[own] * width;
  const size_t bytes = (size_t)((halo->recv_start[i + 1] - halo->recv_start[i]) * width) * sizeof *ghosts;
  memcpy(back ? cell : ghost, back ? ghost : cell, bytes);
}

/* From the buffer of the cells that are wanted to the ghosts; `back`: from the ghosts to the buffer. */
static pcsim_status swap_values(const pcsim_mesh *mesh, int width, double *ghosts, bool back) {
  pcsim_mesh_halo *halo = mesh->halo;
  int n = 0;
  for (int pass = 0; pass < 2; pass++) { /* first what is received */
    const bool ghost = (pass == 0) != back;
    const int num = ghost ? halo->num_recv : halo->num_send;
    const int *rank = ghost ? halo->recv_rank : halo->send_rank;
    const int64_t *first = ghost ? halo->recv_start : halo->send_start;
    double *values = ghost ? ghosts : halo->buffer;
    for (int i = 0; i < num; i++) {
      double *at = values + first[i] * width;
      const int count = (int)((first[i + 1] - first[i]) * width);
      if (rank[i] == mesh->rank) {
        if (ghost) copy_own(mesh, i, width, ghosts, back);
        continue;
      }
      MPI_Request *request = halo->requests + n++;
      if (pass == 0) PCSIM_MPI(MPI_Irecv(at, count, MPI_DOUBLE, rank[i], TAG_VALUES, mesh->comm, request));
      else PCSIM_MPI(MPI_Isend(at, count, MPI_DOUBLE, rank[i], TAG_VALUES, mesh->comm, request));
    }
  }
  PCSIM_MPI(MPI_Waitall(n, halo->requests, MPI_STATUSES_IGNORE));
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_exchange(const pcsim_mesh *mesh, int width, double *values) {
  const pcsim_mesh_halo *halo = mesh->halo;
  if (halo->num_recv + halo->num_send == 0) return PCSIM_OK;
  PCSIM_TRY(make_room(mesh, width));
  pack(halo, width, values);
  return swap_values(mesh, width, values + mesh->view.num_cells * width, false);
}

pcsim_status pcsim_mesh_exchange_add(const pcsim_mesh *mesh, int width, double *values) {
  const pcsim_mesh_halo *halo = mesh->halo;
  if (halo->num_recv + halo->num_send == 0) return PCSIM_OK;
  PCSIM_TRY(make_room(mesh, width));
  PCSIM_TRY(swap_values(mesh, width, values + mesh->view.num_cells * width, true));
  for (int64_t i = 0; i < halo->send_start[halo->num_send]; i++)
    for (int w = 0; w < width; w++)
      values[(int64_t)halo->send_cell[i] * width + w] += halo->buffer[i * width + w];
  return PCSIM_OK;
}
