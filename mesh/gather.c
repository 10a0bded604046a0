/* SPDX-License-Identifier: BSD-2-Clause */
/* Values on rank 0 in the order of the raw mesh, and values back. One rank at a time goes
 * through one buffer, so that rank 0 never holds everything twice. */
#include "fv.h"

#include <string.h>

enum { TAG_GATHER = 21, TAG_SCATTER };

int64_t pcsim_mesh_raw_cell(const pcsim_mesh *mesh, int64_t global) {
  return mesh->raw_of_global ? mesh->raw_of_global[global] : mesh->part.cell_original[global];
}

static int64_t largest_part(const pcsim_mesh *mesh) {
  int64_t most = 0;
  for (int r = 1; r < mesh->ranks; r++)
    if (mesh->rank_start[r + 1] - mesh->rank_start[r] > most)
      most = mesh->rank_start[r + 1] - mesh->rank_start[r];
  return most;
}

/* Buffer on rank 0 for the cells of one other rank; everybody agrees that it is there. */
static pcsim_status make_buffer(const pcsim_mesh *mesh, int width, const double *all, double **buffer) {
  pcsim_status status = PCSIM_OK;
  *buffer = NULL;
  if (width < 1)
    status = pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__, "%d values a cell", width);
  else if (mesh->rank == 0 && !all)
    status = pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__, "no array for all cells on rank 0");
  else if (mesh->rank == 0)
    status = pcsim_alloc((size_t)largest_part(mesh), (size_t)width * sizeof **buffer, buffer);
  status = pcsim_status_agree(mesh->comm, status);
  if (status != PCSIM_OK) pcsim_free(buffer);
  return status;
}

pcsim_status pcsim_mesh_gather(const pcsim_mesh *mesh, int width, const double *values, double *all) {
  double *buffer;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(make_buffer(mesh, width, all, &buffer));
  size_t size = (size_t)width * sizeof *values;
  if (mesh->rank > 0)
    return pcsim_mesh_send(values, (size_t)mesh->view.num_cells * size, 0, TAG_GATHER, mesh->comm);
  for (int r = 0; r < mesh->ranks; r++) {
    int64_t first = mesh->rank_start[r], n = mesh->rank_start[r + 1] - first;
    const double *from = r == 0 ? values : buffer;
    if (r > 0)
      PCSIM_GOTO(pcsim_mesh_receive(buffer, (size_t)n * size, r, TAG_GATHER, mesh->comm), status, done);
    for (int64_t i = 0; i < n; i++)
      memcpy(all + pcsim_mesh_raw_cell(mesh, first + i) * width, from + i * width, size);
  }
done:
  pcsim_free(&buffer);
  return status;
}

pcsim_status pcsim_mesh_scatter(const pcsim_mesh *mesh, int width, const double *all, double *values) {
  double *buffer;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(make_buffer(mesh, width, all, &buffer));
  size_t size = (size_t)width * sizeof *values;
  if (mesh->rank > 0)
    return pcsim_mesh_receive(values, (size_t)mesh->view.num_cells * size, 0, TAG_SCATTER, mesh->comm);
  for (int r = 0; r < mesh->ranks; r++) {
    int64_t first = mesh->rank_start[r], n = mesh->rank_start[r + 1] - first;
    double *to = r == 0 ? values : buffer;
    for (int64_t i = 0; i < n; i++)
      memcpy(to + i * width, all + pcsim_mesh_raw_cell(mesh, first + i) * width, size);
    if (r > 0)
      PCSIM_GOTO(pcsim_mesh_send(buffer, (size_t)n * size, r, TAG_SCATTER, mesh->comm), status, done);
  }
done:
  pcsim_free(&buffer);
  return status;
}
