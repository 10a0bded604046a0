/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a finite-volume mesh: the order of the stages, the names, the view. */
#include "fv.h"
#include "raw.h"

#include <string.h>

/* What rank 0 holds while a mesh is made. */
typedef struct {
  pcsim_raw_mesh raw; /* the given one, with nodes of its own where periodic boundaries move them */
  double *nodes;
  pcsim_mesh_links links;
  pcsim_mesh_periodic periodic;
  pcsim_mesh_order order;
  pcsim_mesh_ghosts ghosts;
  int32_t *patch_map; /* [raw patches] patch of the view, -1 for one without boundary faces */
} maker;

static void maker_free(maker *make) {
  pcsim_free(&make->nodes);
  pcsim_mesh_links_free(&make->links);
  pcsim_mesh_periodic_free(&make->periodic);
  pcsim_mesh_order_free(&make->order);
  pcsim_mesh_ghosts_free(&make->ghosts);
  pcsim_free(&make->patch_map);
}

/* ----------------------------------------------------------------- names */

static int names_count(const pcsim_mesh_names *names) {
  return names->num_patches + names->num_regions + 2 * names->num_periodic;
}
/* Patches, regions, periodic boundaries. */
static char **name_at(pcsim_mesh_names *names, int i) {
  if (i < names->num_patches) return names->patch + i;
  i -= names->num_patches;
  return i < names->num_regions ? names->region + i : names->periodic + (i - names->num_regions);
}

static void list_free(char ***list, int n) {
  for (int i = 0; *list && i < n; i++) pcsim_free(*list + i);
  pcsim_free(list);
}

static void names_free(pcsim_mesh_names *names) {
  list_free(&names->patch, names->num_patches);
  list_free(&names->region, names->num_regions);
  list_free(&names->periodic, 2 * names->num_periodic);
  pcsim_free(&names->patch_size);
  pcsim_free(&names->period);
}

static pcsim_status names_allocate(pcsim_mesh_names *names, int num_patches, int num_regions,
                                   int num_periodic) {
  names->num_patches = num_patches;
  names->num_regions = num_regions;
  names->num_periodic = num_periodic;
  PCSIM_TRY(pcsim_alloc((size_t)num_patches, sizeof *names->patch, &names->patch));
  PCSIM_TRY(pcsim_alloc((size_t)num_regions, sizeof *names->region, &names->region));
  PCSIM_TRY(pcsim_alloc((size_t)num_periodic, 2 * sizeof *names->periodic, &names->periodic));
  PCSIM_TRY(pcsim_alloc((size_t)num_periodic, 3 * sizeof *names->period, &names->period));
  return pcsim_alloc((size_t)num_patches, sizeof *names->patch_size, &names->patch_size);
}

static bool is_periodic(const pcsim_raw_mesh *raw, int patch) {
  for (int i = 0; i < 2 * raw->num_periodic; i++)
    if (raw->periodic[i] == patch) return true;
  return false;
}

/* Rank 0: patches that have boundary faces, all regions, periodic boundaries. */
static pcsim_status names_take(maker *make, pcsim_mesh_names *names) {
  const pcsim_raw_mesh *raw = &make->raw;
  int num_patches = 0;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_patches, sizeof *make->patch_map, &make->patch_map));
  for (int p = 0; p < raw->num_patches; p++) {
    make->patch_map[p] = make->links.patch_size[p] > 0 ? num_patches++ : -1;
    if (make->patch_map[p] < 0 && !is_periodic(raw, p))
      pcsim_log(PCSIM_LOG_INFO, "mesh: '%s' has no face on the boundary", raw->patches[p]);
  }
  PCSIM_TRY(names_allocate(names, num_patches, raw->num_regions, raw->num_periodic));
  for (int p = 0; p < raw->num_patches; p++) {
    int view = make->patch_map[p];
    if (view < 0) continue;
    names->patch_size[view] = make->links.patch_size[p];
    PCSIM_TRY(pcsim_strdup(raw->patches[p], names->patch + view));
  }
  for (int r = 0; r < raw->num_regions; r++) PCSIM_TRY(pcsim_strdup(raw->regions[r], names->region + r));
  for (int i = 0; i < 2 * raw->num_periodic; i++)
    PCSIM_TRY(pcsim_strdup(raw->patches[raw->periodic[i]], names->periodic + i));
  for (int i = 0; i < 3 * raw->num_periodic; i++) names->period[i] = make->periodic.pair[i];
  return PCSIM_OK;
}

static pcsim_status names_pack(pcsim_mesh_names *names, char **text, int *size) {
  size_t total = 0;
  int n = names_count(names);
  for (int i = 0; i < n; i++) total += strlen(*name_at(names, i)) + 1;
  PCSIM_CHECK(total < 1 << 30, PCSIM_ERR_MESH, "the names of boundaries and regions take %zu bytes", total);
  PCSIM_TRY(pcsim_alloc(total, 1, text));
  char *end = *text;
  for (int i = 0; i < n; i++) end = stpcpy(end, *name_at(names, i)) + 1;
  *size = (int)total;
  return PCSIM_OK;
}

static pcsim_status names_unpack(pcsim_mesh_names *names, const char *text) {
  for (int i = 0; i < names_count(names); i++) {
    PCSIM_TRY(pcsim_strdup(text, name_at(names, i)));
    text += strlen(text) + 1;
  }
  return PCSIM_OK;
}

/* Collective: everybody gets the names of rank 0. */
static pcsim_status names_share(pcsim_mesh *mesh) {
  pcsim_mesh_names *names = &mesh->names;
  char *text = NULL;
  int counts[4] = {names->num_patches, names->num_regions, names->num_periodic, 0};
  pcsim_status status = mesh->rank == 0 ? names_pack(names, &text, counts + 3) : PCSIM_OK;
  PCSIM_TRY(pcsim_status_agree(mesh->comm, status));
  PCSIM_MPI(MPI_Bcast(counts, 4, MPI_INT, 0, mesh->comm));
  if (mesh->rank > 0) {
    status = names_allocate(names, counts[0], counts[1], counts[2]);
    if (status == PCSIM_OK) status = pcsim_alloc((size_t)counts[3], 1, &text);
  }
  status = pcsim_status_agree(mesh->comm, status);
  if (status == PCSIM_OK) {
    PCSIM_MPI(MPI_Bcast(text, counts[3], MPI_CHAR, 0, mesh->comm));
    PCSIM_MPI(MPI_Bcast(names->patch_size, counts[0], MPI_INT64_T, 0, mesh->comm));
    PCSIM_MPI(MPI_Bcast(names->period, 3 * counts[2], MPI_DOUBLE, 0, mesh->comm));
    status = pcsim_status_agree(mesh->comm, mesh->rank > 0 ? names_unpack(names, text) : PCSIM_OK);
  }
  pcsim_free(&text);
  return status;
}

/* ---------------------------------------------------------------- stages */

/* Rank 0: faces, and what is joined across periods. */
static pcsim_status join(const pcsim_raw_mesh *given, maker *make) {
  PCSIM_CHECK(given, PCSIM_ERR_ARG, "no raw mesh on rank 0");
  PCSIM_TRY(pcsim_raw_mesh_check(given));
  make->raw = *given;
  if (given->num_periodic > 0) {
    PCSIM_TRY(pcsim_alloc((size_t)given->num_nodes, 3 * sizeof *make->nodes, &make->nodes));
    memcpy(make->nodes, given->nodes, (size_t)given->num_nodes * 3 * sizeof *make->nodes);
    make->raw.nodes = make->nodes;
  }
  PCSIM_TRY(pcsim_mesh_connect(&make->raw, &make->links));
  return pcsim_mesh_periodic_find(&make->raw, &make->links, &make->periodic);
}

/* Rank 0, before anything is sent. */
static pcsim_status prepare(pcsim_mesh *mesh, const pcsim_raw_mesh *given, maker *make) {
  const pcsim_raw_mesh *raw = &make->raw;
  PCSIM_TRY(join(given, make));
  PCSIM_TRY(names_take(make, &mesh->names));
  PCSIM_TRY(pcsim_mesh_order_make(&make->links, mesh->ranks, &make->order));
  pcsim_free(&make->links.centre);
  memcpy(mesh->rank_start, make->order.rank_start, ((size_t)mesh->ranks + 1) * sizeof *mesh->rank_start);
  mesh->raw_num_nodes = raw->num_nodes;
  mesh->view.dim = raw->dim;
  mesh->view.num_faces_global = make->links.num_interior_faces + make->links.num_boundary_faces;
  mesh->view.num_nodes_global = make->links.num_used_nodes;
  PCSIM_TRY(pcsim_mesh_ghosts_find(raw, &make->order, mesh->ranks, &make->ghosts));
  return pcsim_mesh_ghosts_add_images(raw, &make->order, mesh->ranks, &make->periodic, &make->ghosts);
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
  view->ghost_same = mesh->ghost_same;
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
  view->num_periodic = mesh->names.num_periodic;
  view->periodic_name = (const char *const *)mesh->names.periodic;
  view->period = mesh->names.period;
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

/* Images have the bits of their cells, but for the shift of the centre. */
static pcsim_status place_images(pcsim_mesh *mesh, int num_periods, const double (*period)[3]) {
  const pcsim_mesh_part *part = &mesh->part;
  pcsim_status status = pcsim_alloc((size_t)part->num_ghosts, 3 * sizeof(double), &mesh->ghost_shift);
  PCSIM_TRY(pcsim_status_agree(mesh->comm, status));
  PCSIM_TRY(pcsim_mesh_exchange(mesh, 1, mesh->cell_volume));
  PCSIM_TRY(pcsim_mesh_exchange(mesh, 3, mesh->cell_centre));
  for (int64_t g = 0; g < part->num_ghosts; g++) {
    double *move = mesh->ghost_shift + 3 * g;
    pcsim_shift_vector(num_periods, period, part->ghost_shift[g], move);
    for (int d = 0; d < 3; d++) mesh->cell_centre[3 * (part->num_cells + g) + d] += move[d];
  }
  mesh->view.ghost_shift = mesh->ghost_shift;
  return PCSIM_OK;
}

static pcsim_status fill(pcsim_mesh *mesh, const pcsim_raw_mesh *raw, maker *make) {
  pcsim_status status = mesh->rank == 0 ? prepare(mesh, raw, make) : PCSIM_OK;
  PCSIM_TRY(pcsim_status_agree(mesh->comm, status));
  PCSIM_TRY(share_counts(mesh));
  PCSIM_TRY(names_share(mesh));
  const pcsim_mesh_whole whole = {&make->links,  &make->periodic,         &make->order,
                                  &make->ghosts, mesh->names.num_patches, make->patch_map};
  PCSIM_TRY(pcsim_mesh_part_distribute(mesh->comm, &whole, &mesh->part));
  if (mesh->ranks > 1) { /* a single rank has it as cell_original */
    mesh->raw_of_global = make->order.raw_of_global;
    make->order.raw_of_global = NULL;
  }
  int num_periods = make->periodic.num_periods;
  double period[PCSIM_MAX_PERIODS][3];
  memcpy(period, make->periodic.period, sizeof period);
  maker_free(make);
  PCSIM_TRY(pcsim_status_agree(mesh->comm, pcsim_mesh_build(mesh)));
  set_view(mesh);
  PCSIM_TRY(pcsim_mesh_halo_make(mesh));
  if (mesh->names.num_periodic == 0) return PCSIM_OK;
  PCSIM_MPI(MPI_Bcast(&num_periods, 1, MPI_INT, 0, mesh->comm));
  PCSIM_MPI(MPI_Bcast(period, 3 * PCSIM_MAX_PERIODS, MPI_DOUBLE, 0, mesh->comm));
  return place_images(mesh, num_periods, (const double(*)[3])period);
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
  pcsim_free(&m->ghost_same);
  pcsim_free(&m->ghost_shift);
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
