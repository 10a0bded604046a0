/* SPDX-License-Identifier: BSD-2-Clause */
/* How the geometry of a mesh changes when its nodes move. */
#include "fv.h"

#include <string.h>

void pcsim_mesh_tangent_free(pcsim_mesh_tangent *t) {
  pcsim_free(&t->node), pcsim_free(&t->cell_centre), pcsim_free(&t->cell_volume);
  pcsim_free(&t->face_centre), pcsim_free(&t->face_area);
}

static pcsim_status allocate(const pcsim_mesh_view *v, pcsim_mesh_tangent *t) {
  const size_t cells = (size_t)(v->num_cells + v->num_ghosts), faces = (size_t)v->num_faces;
  PCSIM_TRY(pcsim_alloc((size_t)v->num_nodes, 3 * sizeof *t->node, &t->node));
  PCSIM_TRY(pcsim_alloc(cells, 3 * sizeof *t->cell_centre, &t->cell_centre));
  PCSIM_TRY(pcsim_alloc(cells, sizeof *t->cell_volume, &t->cell_volume));
  PCSIM_TRY(pcsim_alloc(faces, 3 * sizeof *t->face_centre, &t->face_centre));
  return pcsim_alloc(faces, 3 * sizeof *t->face_area, &t->face_area);
}

/* This rank's part of what rank 0 has for the raw mesh. Collective. */
static pcsim_status take_nodes(const pcsim_mesh *mesh, const double *displacement, double *node) {
  const pcsim_mesh_view *v = &mesh->view;
  const size_t size = (size_t)mesh->raw_num_nodes * 3;
  double *all = NULL;
  pcsim_status status = pcsim_alloc(size, sizeof *all, &all);
  if (status == PCSIM_OK && mesh->rank == 0) memcpy(all, displacement, size * sizeof *all);
  status = pcsim_status_agree(mesh->comm, status);
  if (status == PCSIM_OK) status = pcsim_mesh_broadcast(all, size * sizeof *all, mesh->comm);
  for (int64_t i = 0; status == PCSIM_OK && i < v->num_nodes; i++)
    memcpy(node + 3 * i, all + 3 * v->node_global[i], 3 * sizeof *node);
  pcsim_free(&all);
  return status;
}

static void keep(int n, const pcsim_dual *x, double *derivative) {
  for (int d = 0; d < n; d++) derivative[d] = pcsim_derivative_of(x[d]);
}

static pcsim_status fill(const pcsim_mesh_view *v, pcsim_mesh_tangent *t) {
  pcsim_dual *node = NULL, volume, area[3], centre[3];
  PCSIM_TRY(pcsim_alloc((size_t)v->num_nodes, 3 * sizeof *node, &node));
  for (int64_t i = 0; i < 3 * v->num_nodes; i++) node[i] = pcsim_dual_of(v->node[i], t->node[i]);
  for (int64_t c = 0; c < v->num_cells; c++) {
    pcsim_cell_geometry_dual(node, (pcsim_cell_type)v->cell_type[c], v->cell_node + v->cell_node_start[c],
                             &volume, centre);
    keep(1, &volume, t->cell_volume + c), keep(3, centre, t->cell_centre + 3 * c);
  }
  for (int64_t f = 0; f < v->num_faces; f++) {
    const int64_t start = v->face_node_start[f];
    pcsim_face_geometry_dual(node, v->face_node + start, (int)(v->face_node_start[f + 1] - start), area,
                             centre);
    keep(3, area, t->face_area + 3 * f), keep(3, centre, t->face_centre + 3 * f);
  }
  pcsim_free(&node);
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_tangent_create(const pcsim_mesh *mesh, const double *displacement,
                                       pcsim_mesh_tangent *t) {
  *t = (pcsim_mesh_tangent){0};
  pcsim_status status = pcsim_status_agree(mesh->comm, allocate(&mesh->view, t));
  if (status == PCSIM_OK) status = take_nodes(mesh, displacement, t->node);
  if (status == PCSIM_OK) status = pcsim_status_agree(mesh->comm, fill(&mesh->view, t));
  if (status == PCSIM_OK) status = pcsim_mesh_exchange(mesh, 1, t->cell_volume);
  if (status == PCSIM_OK) status = pcsim_mesh_exchange(mesh, 3, t->cell_centre);
  if (status != PCSIM_OK) pcsim_mesh_tangent_free(t);
  return status;
}
