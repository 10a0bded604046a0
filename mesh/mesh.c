/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a finite-volume mesh: the order of the stages, the names, the view. */
#include "fv.h"
#include "raw.h"

#include <string.h>

/* What rank 0 holds while a mesh is made. */
typedef struct {
  pcsim_mesh_links links;
  pcsim_mesh_order order;
  pcsim_mesh_ghosts ghosts;
  int32_t *patch_map; /* [raw patches] patch of the view, -1 for one without boundary faces */
} maker;

static void maker_free(maker *make) {
  pcsim_mesh_links_free(&make->links);
  pcsim_mesh_order_free(&make->order);
  pcsim_free(&make->ghosts.start);
  pcsim_free(&make->ghosts.cell);
  pcsim_free(&make->patch_map);
}

/* ----------------------------------------------------------------- names */

static void names_free(pcsim_mesh_names *names) {
  for (int i = 0; names->patch && i < names->num_patches; i++) pcsim_free(&names->patch[i]);
  for (int i = 0; names->region && i < names->num_regions; i++) pcsim_free(&names->region[i]);
  pcsim_free(&names->patch);
  pcsim_free(&names->region);
  pcsim_free(&names->patch_size);
}

static pcsim_status names_allocate(pcsim_mesh_names *names, int num_patches, int num_regions) {
  PCSIM_TRY(pcsim_alloc((size_t)num_patches, sizeof *names->patch, &names->patch));
  names->num_patches = num_patches;
  PCSIM_TRY(pcsim_alloc((size_t)num_regions, sizeof *names->region, &names->region));
  names->num_regions = num_regions;
  return pcsim_alloc((size_t)num_patches, sizeof *names->patch_size, &names->patch_size);
}

/* Rank 0: patches that have boundary faces, all regions. */
static pcsim_status names_take(const pcsim_raw_mesh *raw, maker *make, pcsim_mesh_names *names) {
  int num_patches = 0;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_patches, sizeof *make->patch_map, &make->patch_map));
  for (int p = 0; p < raw->num_patches; p++) {
    make->patch_map[p] = make->links.patch_size[p] > 0 ? num_patches++ : -1;
    if (make->patch_map[p] < 0)
      pcsim_log(PCSIM_LOG_INFO, "mesh: '%s' has no face on the boundary", raw->patches[p]);
  }
  PCSIM_TRY(names_allocate(names, num_patches, raw->num_regions));
  for (int p = 0; p < raw->num_patches; p++) {
    int view = make->patch_map[p];
    if (view < 0) continue;
    names->patch_size[view] = make->links.patch_size[p];
    PCSIM_TRY(pcsim_strdup(raw->patches[p], names->patch + view));
  }
  for (int r = 0; r < raw->num_regions; r++) PCSIM_TRY(pcsim_strdup(raw->regions[r], names->region + r));
  return PCSIM_OK;
}

static char **name_at(pcsim_mesh_names *names, int i) {
  return i < names->num_patches ? names->patch + i : names->region + (i - names->num_patches);
}

static pcsim_status names_pack(pcsim_mesh_names *names, char **text, int *size) {
  size_t total = 0;
  int n = names->num_patches + names->num_regions;
  for (int i = 0; i < n; i++) total += strlen(*name_at(names, i)) + 1;
  PCSIM_CHECK(total < 1 << 30, PCSIM_ERR_MESH, "the names of boundaries and regions take %zu bytes", total);
  PCSIM_TRY(pcsim_alloc(total, 1, text));
  char *end = *text;
  for (int i = 0; i < n; i++) end = stpcpy(end, *name_at(names, i)) + 1;
  *size = (int)total;
  return PCSIM_OK;
}

static pcsim_status names_unpack(pcsim_mesh_names *names, const char *text) {
  for (int i = 0; i < names->num_patches + names->num_regions; i++) {
    PCSIM_TRY(pcsim_strdup(text, name_at(names, i)));
    text += strlen(text) + 1;
  }
  return PCSIM_OK;
}

/* Collective: everybody gets the names of rank 0. */
static pcsim_status names_share(pcsim_mesh *mesh) {
  pcsim_mesh_names *names = &mesh->names;
  char *text = NULL;
  int counts[3] = {names->num_patches, names->num_regions, 0};
  pcsim_status status = mesh->rank == 0 ? names_pack(names, &text, counts + 2) : PCSIM_OK;
  PCSIM_TRY(pcsim_status_agree(mesh->comm, status));
  PCSIM_MPI(MPI_Bcast(counts, 3, MPI_INT, 0, mesh->comm));
  if (mesh->rank > 0) {
    status = names_allocate(names, counts[0], counts[1]);
    if (status == PCSIM_OK) status = pcsim_alloc((size_t)counts[2], 1, &text);
  }
  status = pcsim_status_agree(mesh->comm, status);
  if (status == PCSIM_OK) {
    PCSIM_MPI(MPI_Bcast(text, counts[2], MPI_CHAR, 0, mesh->comm));
    PCSIM_MPI(MPI_Bcast(names->patch_size, counts[0], MPI_INT64_T, 0, mesh->comm));
    status = pcsim_status_agree(mesh->comm, mesh->rank > 0 ? names_unpack(names, text) : PCSIM_OK);
  }
  pcsim_free(&text);
  return status;
}

/* ---------------------------------------------------------------- stages */

/* Rank 0, before anything is sent. */
static pcsim_status prepare(pcsim_mesh *mesh, const pcsim_raw_mesh *raw, maker *make) {
  PCSIM_CHECK(raw, PCSIM_ERR_ARG, "no raw mesh on rank 0");
  PCSIM_TRY(pcsim_raw_mesh_check(raw));
  PCSIM_TRY(pcsim_mesh_connect(raw, &make->links));
  PCSIM_TRY(names_take(raw, make, &mesh->names));
  PCSIM_TRY(pcsim_mesh_order_make(&make->links, mesh->ranks, &make->order));
  pcsim_free(&make->links.centre);
  memcpy(mesh->rank_start, make->order.rank_start, ((size_t)mesh->ranks + 1) * sizeof *mesh->rank_start);
  mesh->raw_num_nodes = raw->num_nodes;
  mesh->view.dim = raw->dim;
  mesh->view.num_faces_global = make->links.num_interior_faces + make->links.num_boundary_faces;
  mesh->view.num_nodes_global = make->links.num_used_nodes;
  return pcsim_mesh_ghosts_find(raw, &make->order, mesh->ranks, &make->ghosts);
}

static pcsim_status share_counts(pcsim_mesh *mesh) {
  int64_t counts[4] = {mesh->view.dim, mesh->view.num_faces_global, mesh->view.num_nodes_global,
                       mesh->raw_num_nodes};
  PCSIM_MPI(MPI_Bcast(counts, 4, MPI_INT64_T, 0, mesh->comm));
  PCSIM_MPI(MPI_Bcast(mesh->rank_start, mesh->ranks + 1, MPI_INT64_T, 0, mesh->comm));
  mesh->view.dim = (int)counts[0];
  mesh->view.num_faces_global = counts[1];
  mesh->view.num_nodes_global = counts[2];
  mesh->raw_num_nodes = counts[3];
  mesh->view.num_cells_global = mesh->rank_start[mesh->ranks];
  return PCSIM_OK;
}

static void set_view(pcsim_mesh *mesh) {
  pcsim_mesh_view *view = &mesh->view;
  const pcsim_mesh_part *part = &mesh->part;
  view->num_cells = part->num_cells;
  view->num_ghosts = part->num_ghosts;
  view->first_cell = part->first_cell;
  view->rank_start = mesh->rank_start;
  view->ghost_global = part->ghost_global;
  view->cell_centre = mesh->cell_centre;
  view->cell_volume = mesh->cell_volume;
  view->cell_region = part->cell_region;
  view->cell_original = part->cell_original;
  view->num_interior_faces = mesh->patch_start[0];
  view->num_faces = mesh->patch_start[mesh->names.num_patches];
  view->owner = mesh->owner;
  view->neighbour = mesh->neighbour;
  view->face_centre = mesh->face_centre;
  view->face_area = mesh->face_area;
  view->num_patches = mesh->names.num_patches;
  view->patch_name = (const char *const *)mesh->names.patch;
  view->patch_start = mesh->patch_start;
  view->patch_size_global = mesh->names.patch_size;
  view->num_regions = mesh->names.num_regions;
  view->region_name = (const char *const *)mesh->names.region;
  view->num_nodes = part->num_nodes;
  view->node = part->node;
  view->node_global = part->node_global;
  view->cell_type = part->cell_type;
  view->cell_node_start = mesh->cell_node_start;
  view->cell_node = part->cell_node;
  view->face_node_start = mesh->face_node_start;
  view->face_node = mesh->face_node;
  view->node_cell_start = mesh->node_cell_start;
  view->node_cell = mesh->node_cell;
  view->node_patch = part->node_patch;
  view->near_start = mesh->near_start;
  view->near = mesh->near;
}

static pcsim_status fill(pcsim_mesh *mesh, const pcsim_raw_mesh *raw, maker *make) {
  pcsim_status status = mesh->rank == 0 ? prepare(mesh, raw, make) : PCSIM_OK;
  PCSIM_TRY(pcsim_status_agree(mesh->comm, status));
  PCSIM_TRY(share_counts(mesh));
  PCSIM_TRY(names_share(mesh));
  PCSIM_TRY(pcsim_mesh_part_distribute(mesh->comm, &make->links, &make->order, &make->ghosts, make->patch_map,
                                       &mesh->part));
  if (mesh->ranks > 1) { /* a single rank has it as cell_original */
    mesh->raw_of_global = make->order.raw_of_global;
    make->order.raw_of_global = NULL;
  }
  maker_free(make);
  PCSIM_TRY(pcsim_status_agree(mesh->comm, pcsim_mesh_build(mesh)));
  set_view(mesh);
  return pcsim_mesh_halo_make(mesh);
}

static pcsim_status allocate(pcsim_mesh *mesh) {
  PCSIM_TRY(pcsim_alloc((size_t)mesh->ranks + 1, sizeof *mesh->rank_start, &mesh->rank_start));
  PCSIM_TRY(pcsim_alloc(1, sizeof *mesh->halo, &mesh->halo));
  return pcsim_alloc(1, sizeof *mesh->buckets, &mesh->buckets);
}

pcsim_status pcsim_mesh_create(MPI_Comm comm, const pcsim_raw_mesh *raw, pcsim_mesh **mesh) {
  pcsim_mesh *m = NULL;
  maker make = {0};
  *mesh = NULL;
  pcsim_status status = pcsim_alloc(1, sizeof *m, &m);
  status = pcsim_status_agree(comm, status);
  if (status != PCSIM_OK) {
    pcsim_free(&m);
    return status;
  }
  m->comm = MPI_COMM_NULL;
  if (MPI_Comm_dup(comm, &m->comm) != MPI_SUCCESS ||
      MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
      MPI_Comm_rank(m->comm, &m->rank) != MPI_SUCCESS || MPI_Comm_size(m->comm, &m->ranks) != MPI_SUCCESS)
    status = pcsim_error_set(PCSIM_ERR_LIBRARY, __FILE__, __LINE__, __func__,
                             "MPI cannot make a communicator for the mesh");
  if (status == PCSIM_OK) status = pcsim_status_agree(m->comm, allocate(m));
  if (status == PCSIM_OK) status = fill(m, raw, &make);
  maker_free(&make);
  if (status != PCSIM_OK) {
    pcsim_mesh_destroy(&m);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  *mesh = m;
  return PCSIM_OK;
}

void pcsim_mesh_destroy(pcsim_mesh **mesh) {
  if (!mesh || !*mesh) return;
  pcsim_mesh *m = *mesh;
  pcsim_mesh_part_free(&m->part);
  names_free(&m->names);
  pcsim_free(&m->rank_start);
  pcsim_free(&m->cell_centre);
  pcsim_free(&m->cell_volume);
  pcsim_free(&m->cell_node_start);
  pcsim_free(&m->owner);
  pcsim_free(&m->neighbour);
  pcsim_free(&m->face_centre);
  pcsim_free(&m->face_area);
  pcsim_free(&m->face_node_start);
  pcsim_free(&m->face_node);
  pcsim_free(&m->patch_start);
  pcsim_free(&m->node_cell_start);
  pcsim_free(&m->node_cell);
  pcsim_free(&m->near_start);
  pcsim_free(&m->near);
  pcsim_free(&m->raw_of_global);
  if (m->halo) pcsim_mesh_halo_free(m->halo);
  pcsim_free(&m->halo);
  if (m->buckets && *m->buckets) pcsim_mesh_buckets_free(*m->buckets);
  if (m->buckets) pcsim_free(m->buckets);
  pcsim_free(&m->buckets);
  if (m->comm != MPI_COMM_NULL) MPI_Comm_free(&m->comm);
  pcsim_free(mesh);
}

const pcsim_mesh_view *pcsim_mesh_get(const pcsim_mesh *mesh) { return &mesh->view; }

MPI_Comm pcsim_mesh_comm(const pcsim_mesh *mesh) { return mesh->comm; }

int pcsim_mesh_find_patch(const pcsim_mesh *mesh, const char *name) {
  for (int p = 0; p < mesh->view.num_patches; p++)
    if (strcmp(mesh->view.patch_name[p], name) == 0) return p;
  return -1;
}

int pcsim_mesh_face_patch(const pcsim_mesh *mesh, int64_t face) {
  const pcsim_mesh_view *view = &mesh->view;
  if (face < view->num_interior_faces || face >= view->num_faces) return -1;
  int low = 0, high = view->num_patches; /* patch_start[low] <= face < patch_start[high] */
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (view->patch_start[middle] <= face) low = middle;
    else high = middle;
  }
  return low;
}
