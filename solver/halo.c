/* SPDX-License-Identifier: BSD-2-Clause */
#include "halo.h"

#include <string.h>

struct halo {
  MPI_Comm comm;
  int size;
  int num_receive, num_send; /* neighbour ranks */
  int *receive_rank, *send_rank;
  int64_t *receive_start, *send_start; /* [num + 1] rows */
  int64_t *send_row;                   /* local rows to send, by neighbour */
  char *buffer;                        /* rows of at most 16 bytes */
  MPI_Request *request;
};

enum { ROW_BYTES_MAX = 16, TAG = 71 };

/* Rank that owns a global row. */
static int owner_of(const int64_t *begin, int size, int64_t row) {
  int low = 0, high = size;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (begin[middle] <= row) low = middle;
    else high = middle;
  }
  return low;
}

static pcsim_status wire(halo *h, const int64_t *begin, int64_t first, int64_t num_ghosts,
                         const int64_t *ghosts, int64_t *counts, int64_t *asked) {
  int64_t total = 0;
  for (int64_t i = 0; i < num_ghosts; i++) counts[owner_of(begin, h->size, ghosts[i])]++;
  MPI_Alltoall(counts, 1, MPI_INT64_T, asked, 1, MPI_INT64_T, h->comm);
  PCSIM_TRY(pcsim_alloc((size_t)h->size, sizeof(int), &h->receive_rank));
  PCSIM_TRY(pcsim_alloc((size_t)h->size, sizeof(int), &h->send_rank));
  PCSIM_TRY(pcsim_alloc((size_t)h->size + 1, sizeof(int64_t), &h->receive_start));
  PCSIM_TRY(pcsim_alloc((size_t)h->size + 1, sizeof(int64_t), &h->send_start));
  for (int r = 0; r < h->size; r++) {
    if (counts[r]) {
      h->receive_rank[h->num_receive++] = r;
      h->receive_start[h->num_receive] = h->receive_start[h->num_receive - 1] + counts[r];
    }
    if (asked[r]) {
      h->send_rank[h->num_send++] = r;
      h->send_start[h->num_send] = h->send_start[h->num_send - 1] + asked[r];
      total += asked[r];
    }
  }
  PCSIM_TRY(pcsim_alloc((size_t)total, sizeof(int64_t), &h->send_row));
  PCSIM_TRY(pcsim_alloc((size_t)total, ROW_BYTES_MAX, &h->buffer));
  PCSIM_TRY(pcsim_alloc((size_t)(h->num_send + h->num_receive), sizeof(MPI_Request), &h->request));
  int q = 0;
  for (int i = 0; i < h->num_send; i++)
    MPI_Irecv(h->send_row + h->send_start[i], (int)(h->send_start[i + 1] - h->send_start[i]), MPI_INT64_T,
              h->send_rank[i], TAG, h->comm, &h->request[q++]);
  for (int i = 0; i < h->num_receive; i++)
    MPI_Isend(ghosts + h->receive_start[i], (int)(h->receive_start[i + 1] - h->receive_start[i]), MPI_INT64_T,
              h->receive_rank[i], TAG, h->comm, &h->request[q++]);
  MPI_Waitall(q, h->request, MPI_STATUSES_IGNORE);
  for (int64_t i = 0; i < total; i++) h->send_row[i] -= first;
  return PCSIM_OK;
}

pcsim_status halo_create(MPI_Comm comm, int64_t n, int64_t first, int64_t num_ghosts, const int64_t *ghosts,
                         halo **out) {
  halo *h = NULL;
  int64_t *begin = NULL, *counts = NULL, *asked = NULL;
  pcsim_status status;
  (void)n;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *h, &h));
  h->comm = comm;
  MPI_Comm_size(comm, &h->size);
  PCSIM_GOTO(pcsim_alloc((size_t)h->size, sizeof *begin, &begin), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)h->size, sizeof *counts, &counts), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)h->size, sizeof *asked, &asked), status, done);
  MPI_Allgather(&first, 1, MPI_INT64_T, begin, 1, MPI_INT64_T, comm);
  PCSIM_GOTO(wire(h, begin, first, num_ghosts, ghosts, counts, asked), status, done);
  *out = h;
  h = NULL;
done:
  pcsim_free(&begin), pcsim_free(&counts), pcsim_free(&asked);
  halo_destroy(&h);
  return status;
}

void halo_destroy(halo **out) {
  halo *h = *out;
  if (!h) return;
  pcsim_free(&h->receive_rank), pcsim_free(&h->send_rank), pcsim_free(&h->receive_start),
      pcsim_free(&h->send_start);
  pcsim_free(&h->send_row), pcsim_free(&h->buffer), pcsim_free(&h->request);
  pcsim_free(out);
}

static pcsim_status exchange(halo *h, size_t bytes, const char *own, char *ghost) {
  int q = 0;
  for (int i = 0; i < h->num_receive; i++)
    MPI_Irecv(ghost + (size_t)h->receive_start[i] * bytes,
              (int)((size_t)(h->receive_start[i + 1] - h->receive_start[i]) * bytes), MPI_BYTE,
              h->receive_rank[i], TAG, h->comm, &h->request[q++]);
  for (int i = 0; i < h->num_send; i++) {
    for (int64_t k = h->send_start[i]; k < h->send_start[i + 1]; k++)
      memcpy(h->buffer + (size_t)k * bytes, own + (size_t)h->send_row[k] * bytes, bytes);
    MPI_Isend(h->buffer + (size_t)h->send_start[i] * bytes,
              (int)((size_t)(h->send_start[i + 1] - h->send_start[i]) * bytes), MPI_BYTE, h->send_rank[i],
              TAG, h->comm, &h->request[q++]);
  }
  PCSIM_CHECK(MPI_Waitall(q, h->request, MPI_STATUSES_IGNORE) == MPI_SUCCESS, PCSIM_ERR_ENV,
              "MPI exchange failed");
  return PCSIM_OK;
}

pcsim_status halo_exchange(halo *h, int width, const float *own, float *ghost) {
  return exchange(h, (size_t)width * sizeof *own, (const char *)own, (char *)ghost);
}

pcsim_status halo_exchange_int64(halo *h, const int64_t *own, int64_t *ghost) {
  return exchange(h, sizeof *own, (const char *)own, (char *)ghost);
}
