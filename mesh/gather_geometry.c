/* SPDX-License-Identifier: BSD-2-Clause */
/* The raw mesh again, on rank 0, from what the ranks hold. */
#include "fv.h"
#include "raw.h"

#include <string.h>

enum { TAG_PORTION = 31 };

/* What one rank adds, with node numbers of the raw mesh. */
typedef struct {
  int64_t num_cell_nodes, num_nodes, num_facets, num_facet_nodes;
  int32_t *cell_node, *facet_node, *facet_patch;
  uint8_t *facet_size;
  double *node;
  int64_t *node_global;
} portion;
enum { NUM_COUNTS = 4, NUM_BLOCKS = 6 };

static void portion_free(portion *p) {
  pcsim_free(&p->cell_node);
  pcsim_free(&p->facet_node);
  pcsim_free(&p->facet_patch);
  pcsim_free(&p->facet_size);
  pcsim_free(&p->node);
  pcsim_free(&p->node_global);
}

static pcsim_status portion_allocate(portion *p) {
  PCSIM_TRY(pcsim_alloc((size_t)p->num_cell_nodes, sizeof *p->cell_node, &p->cell_node));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_facet_nodes, sizeof *p->facet_node, &p->facet_node));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_facets, sizeof *p->facet_patch, &p->facet_patch));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_facets, sizeof *p->facet_size, &p->facet_size));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_nodes, 3 * sizeof *p->node, &p->node));
  return pcsim_alloc((size_t)p->num_nodes, sizeof *p->node_global, &p->node_global);
}

static void portion_count(const pcsim_mesh_view *v, portion *p) {
  p->num_cell_nodes = v->cell_node_start[v->num_cells];
  p->num_nodes = v->num_nodes;
  p->num_facets = v->num_faces - v->num_interior_faces;
  p->num_facet_nodes = v->face_node_start[v->num_faces] - v->face_node_start[v->num_interior_faces];
}

static pcsim_status portion_fill(const pcsim_mesh_view *v, portion *p) {
  int64_t place = 0, facet = 0;
  portion_count(v, p);
  PCSIM_TRY(portion_allocate(p));
  for (int64_t i = 0; i < p->num_cell_nodes; i++) p->cell_node[i] = (int32_t)v->node_global[v->cell_node[i]];
  for (int patch = 0; patch < v->num_patches; patch++)
    for (int64_t f = v->patch_start[patch]; f < v->patch_start[patch + 1]; f++, facet++) {
      p->facet_patch[facet] = patch;
      p->facet_size[facet] = (uint8_t)(v->face_node_start[f + 1] - v->face_node_start[f]);
      for (int64_t i = v->face_node_start[f]; i < v->face_node_start[f + 1]; i++)
        p->facet_node[place++] = (int32_t)v->node_global[v->face_node[i]];
    }
  if (p->num_nodes > 0) {
    memcpy(p->node, v->node, (size_t)p->num_nodes * 3 * sizeof *p->node);
    memcpy(p->node_global, v->node_global, (size_t)p->num_nodes * sizeof *p->node_global);
  }
  return PCSIM_OK;
}

typedef struct {
  void *data;
  size_t size;
} block;

static void portion_blocks(portion *p, block blocks[NUM_BLOCKS]) {
  blocks[0] = (block){p->cell_node, (size_t)p->num_cell_nodes * sizeof *p->cell_node};
  blocks[1] = (block){p->facet_node, (size_t)p->num_facet_nodes * sizeof *p->facet_node};
  blocks[2] = (block){p->facet_patch, (size_t)p->num_facets * sizeof *p->facet_patch};
  blocks[3] = (block){p->facet_size, (size_t)p->num_facets};
  blocks[4] = (block){p->node, (size_t)p->num_nodes * 3 * sizeof *p->node};
  blocks[5] = (block){p->node_global, (size_t)p->num_nodes * sizeof *p->node_global};
}

static pcsim_status portion_move(const pcsim_mesh *mesh, int rank, portion *p) {
  block blocks[NUM_BLOCKS];
  portion_blocks(p, blocks);
  for (int i = 0; i < NUM_BLOCKS; i++) {
    if (mesh->rank > 0)
      PCSIM_TRY(pcsim_mesh_send(blocks[i].data, blocks[i].size, 0, TAG_PORTION, mesh->comm));
    else PCSIM_TRY(pcsim_mesh_receive(blocks[i].data, blocks[i].size, rank, TAG_PORTION, mesh->comm));
  }
  return PCSIM_OK;
}

/* What rank 0 puts together. */
typedef struct {
  pcsim_raw_mesh *raw;
  double *kinds;   /* [num_cells][2] type and region in raw order */
  uint8_t *used;   /* [num_nodes] */
  int64_t *counts; /* [ranks][NUM_COUNTS] */
  int64_t facet, facet_place;
} assembly;

static void add_portion(const pcsim_mesh *mesh, int rank, const portion *p, assembly *a) {
  static const pcsim_cell_type facet_types[5] = {
      [2] = PCSIM_CELL_SEGMENT, [3] = PCSIM_CELL_TRIANGLE, [4] = PCSIM_CELL_QUAD};
  pcsim_raw_mesh *raw = a->raw;
  int64_t from = 0;
  for (int64_t g = mesh->rank_start[rank]; g < mesh->rank_start[rank + 1]; g++) {
    int64_t c = pcsim_mesh_raw_cell(mesh, g);
    for (int64_t k = raw->cell_start[c]; k < raw->cell_start[c + 1]; k++)
      raw->cell_nodes[k] = p->cell_node[from++];
  }
  for (int64_t i = 0; i < p->num_nodes; i++) {
    memcpy(raw->nodes + 3 * p->node_global[i], p->node + 3 * i, 3 * sizeof *p->node);
    a->used[p->node_global[i]] = 1;
  }
  from = 0;
  for (int64_t i = 0; i < p->num_facets; i++, a->facet++) {
    raw->facet_type[a->facet] = (uint8_t)facet_types[p->facet_size[i]];
    raw->facet_patch[a->facet] = p->facet_patch[i];
    for (int k = 0; k < p->facet_size[i]; k++) raw->facet_nodes[a->facet_place++] = p->facet_node[from++];
    raw->facet_start[a->facet + 1] = a->facet_place;
  }
}

static pcsim_status copy_names(const pcsim_mesh_view *v, pcsim_raw_mesh *raw) {
  for (int i = 0; i < v->num_patches; i++) PCSIM_TRY(pcsim_strdup(v->patch_name[i], raw->patches + i));
  for (int i = 0; i < v->num_regions; i++) PCSIM_TRY(pcsim_strdup(v->region_name[i], raw->regions + i));
  return pcsim_strdup("", &raw->notes);
}

/* Rank 0: the arrays, with cell types and starts. */
static pcsim_status assembly_start(const pcsim_mesh *mesh, assembly *a) {
  const pcsim_mesh_view *v = &mesh->view;
  pcsim_raw_size size = {.dim = v->dim,
                         .num_nodes = mesh->raw_num_nodes,
                         .num_cells = v->num_cells_global,
                         .num_patches = v->num_patches,
                         .num_regions = v->num_regions};
  for (int r = 0; r < mesh->ranks; r++) {
    const int64_t *counts = a->counts + (int64_t)r * NUM_COUNTS;
    size.num_cell_nodes += counts[0];
    size.num_facets += counts[2];
    size.num_facet_nodes += counts[3];
  }
  PCSIM_TRY(pcsim_alloc((size_t)mesh->raw_num_nodes, sizeof *a->used, &a->used));
  PCSIM_TRY(pcsim_raw_mesh_new(&size, &a->raw));
  for (int64_t c = 0; c < size.num_cells; c++) {
    a->raw->cell_type[c] = (uint8_t)a->kinds[2 * c];
    a->raw->cell_region[c] = (int32_t)a->kinds[2 * c + 1];
    a->raw->cell_start[c + 1] = a->raw->cell_start[c] + pcsim_cell_num_nodes(a->raw->cell_type[c]);
  }
  return copy_names(v, a->raw);
}

static void place_unused_nodes(const assembly *a) {
  int64_t first = 0;
  while (first < a->raw->num_nodes && !a->used[first]) first++;
  for (int64_t i = 0; i < a->raw->num_nodes; i++)
    if (!a->used[i]) memcpy(a->raw->nodes + 3 * i, a->raw->nodes + 3 * first, 3 * sizeof *a->raw->nodes);
}

/* Cell types and regions go through the gather of values. */
static pcsim_status gather_kinds(const pcsim_mesh *mesh, assembly *a) {
  const pcsim_mesh_view *v = &mesh->view;
  double *own = NULL;
  pcsim_status status = pcsim_alloc((size_t)v->num_cells, 2 * sizeof *own, &own);
  if (status == PCSIM_OK && mesh->rank == 0)
    status = pcsim_alloc((size_t)v->num_cells_global, 2 * sizeof *a->kinds, &a->kinds);
  status = pcsim_status_agree(mesh->comm, status);
  for (int64_t c = 0; status == PCSIM_OK && c < v->num_cells; c++) {
    own[2 * c] = v->cell_type[c];
    own[2 * c + 1] = v->cell_region[c];
  }
  if (status == PCSIM_OK) status = pcsim_mesh_gather(mesh, 2, own, a->kinds);
  pcsim_free(&own);
  return status;
}

static pcsim_status gather_counts(const pcsim_mesh *mesh, const portion *own, assembly *a) {
  int64_t counts[NUM_COUNTS] = {own->num_cell_nodes, own->num_nodes, own->num_facets, own->num_facet_nodes};
  pcsim_status status = PCSIM_OK;
  if (mesh->rank == 0) status = pcsim_alloc((size_t)mesh->ranks, NUM_COUNTS * sizeof *a->counts, &a->counts);
  PCSIM_TRY(pcsim_status_agree(mesh->comm, status));
  PCSIM_MPI(MPI_Gather(counts, NUM_COUNTS, MPI_INT64_T, a->counts, NUM_COUNTS, MPI_INT64_T, 0, mesh->comm));
  return PCSIM_OK;
}

/* One rank after another; the ranks agree before each that rank 0 has room. */
static pcsim_status gather_portions(const pcsim_mesh *mesh, portion *own, assembly *a) {
  if (mesh->rank == 0) add_portion(mesh, 0, own, a);
  for (int r = 1; r < mesh->ranks; r++) {
    portion other = {0};
    pcsim_status status = PCSIM_OK;
    if (mesh->rank == 0) {
      const int64_t *counts = a->counts + (int64_t)r * NUM_COUNTS;
      other = (portion){counts[0], counts[1], counts[2], counts[3], NULL, NULL, NULL, NULL, NULL, NULL};
      status = portion_allocate(&other);
    }
    status = pcsim_status_agree(mesh->comm, status);
    if (status == PCSIM_OK && mesh->rank == 0) status = portion_move(mesh, r, &other);
    if (status == PCSIM_OK && mesh->rank == r) status = portion_move(mesh, r, own);
    if (status == PCSIM_OK && mesh->rank == 0) add_portion(mesh, r, &other, a);
    portion_free(&other);
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}

static pcsim_status assemble(const pcsim_mesh *mesh, portion *own, assembly *a) {
  PCSIM_TRY(gather_kinds(mesh, a));
  PCSIM_TRY(pcsim_status_agree(mesh->comm, portion_fill(&mesh->view, own)));
  PCSIM_TRY(gather_counts(mesh, own, a));
  pcsim_status status = mesh->rank == 0 ? assembly_start(mesh, a) : PCSIM_OK;
  PCSIM_TRY(pcsim_status_agree(mesh->comm, status));
  PCSIM_TRY(gather_portions(mesh, own, a));
  if (mesh->rank == 0) place_unused_nodes(a);
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_gather_geometry(const pcsim_mesh *mesh, pcsim_raw_mesh **raw) {
  assembly a = {0};
  portion own = {0};
  pcsim_status status = pcsim_status_agree(mesh->comm, assemble(mesh, &own, &a));
  portion_free(&own);
  pcsim_free(&a.kinds);
  pcsim_free(&a.used);
  pcsim_free(&a.counts);
  if (status != PCSIM_OK) pcsim_raw_mesh_destroy(&a.raw);
  *raw = a.raw;
  return status;
}
