/* SPDX-License-Identifier: BSD-2-Clause */
/* From a rank's part to its faces, geometry and near cells. Local to a rank. */
#include "fv.h"

#include <string.h>

/* ----------------------------------------------------------------- faces */

static int64_t num_all(const pcsim_mesh *mesh) { return mesh->part.num_cells + mesh->part.num_ghosts; }

static int32_t local_cell(const pcsim_mesh_part *part, int64_t global) {
  int64_t own = global - part->first_cell;
  if (own >= 0 && own < part->num_cells) return (int32_t)own;
  int64_t low = 0, high = part->num_ghosts;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (part->ghost_global[middle] < global) low = middle + 1;
    else high = middle;
  }
  while (part->ghost_shift[low] != PCSIM_SHIFT_NONE) low++; /* images of the same cell */
  return (int32_t)(part->num_cells + low);
}

/* Local cell across side h, or -1 - patch. */
static inline int32_t across(const pcsim_mesh *mesh, int64_t h) {
  const pcsim_mesh_part *part = &mesh->part;
  const int32_t link = part->link[h], ghost = -1 - link - mesh->names.num_patches;
  if (link >= 0) return local_cell(part, link);
  return ghost < 0 ? link : (int32_t)part->num_cells + ghost;
}

/* A face belongs to the walk over cell c when c is the lower local number of its two sides. */
static inline bool face_here(int32_t cell, int32_t other) { return other > cell; }

/* Count faces and their nodes; `patch_start` gets boundary faces. */
static void count_faces(pcsim_mesh *mesh, int64_t *interior, int64_t *face_nodes) {
  const pcsim_mesh_part *part = &mesh->part;
  int64_t h = 0;
  *interior = *face_nodes = 0;
  for (int32_t c = 0; c < part->num_cells; c++) {
    const pcsim_cell_shape *shape = &pcsim_cell_shapes[part->cell_type[c]];
    for (int f = 0; f < shape->num_faces; f++, h++) {
      const int32_t other = across(mesh, h);
      if (other < 0) mesh->patch_start[-1 - other + 1]++;
      else if (face_here(c, other)) ++*interior;
      else continue;
      *face_nodes += shape->face_size[f];
    }
  }
  mesh->patch_start[0] = *interior;
  for (int p = 0; p < mesh->names.num_patches; p++) mesh->patch_start[p + 1] += mesh->patch_start[p];
}

/* Which face of `other` has these nodes, in any order: n if none. */
static int matching_face(const pcsim_mesh *mesh, int32_t other, const int32_t *nodes, int n) {
  const pcsim_cell_shape *shape = &pcsim_cell_shapes[mesh->part.cell_type[other]];
  const int32_t *cell = mesh->part.cell_node + mesh->cell_node_start[other];
  for (int f = 0; f < shape->num_faces; f++) {
    int same = 0;
    for (int i = 0; i < shape->face_size[f]; i++)
      for (int j = 0; j < n; j++) same += cell[shape->face[f][i]] == nodes[j];
    if (same == n && shape->face_size[f] == n) return f;
  }
  return shape->num_faces;
}

/* Owner, neighbour and number of nodes of face f of cell c. Nodes are stored later, when starts are known. */
typedef struct {
  int32_t other;
  uint8_t face;
} interior_side;

static int gather_sides(const pcsim_mesh *mesh, int32_t c, int64_t h, interior_side sides[6]) {
  int count = 0;
  for (int f = 0; f < pcsim_cell_shapes[mesh->part.cell_type[c]].num_faces; f++) {
    int32_t other = across(mesh, h + f);
    if (!face_here(c, other)) continue;
    int i = count++;
    for (; i > 0 && sides[i - 1].other > other; i--) sides[i] = sides[i - 1];
    sides[i] = (interior_side){other, (uint8_t)f};
  }
  return count;
}

static int64_t global_cell(const pcsim_mesh_part *part, int32_t cell) {
  return cell < part->num_cells ? part->first_cell + cell : part->ghost_global[cell - part->num_cells];
}

/* Whether the other side owns the face with cell c. A cell and its own image: the one further back. */
static bool other_owns(const pcsim_mesh_part *part, int32_t c, int32_t other) {
  const int64_t own = global_cell(part, c), beyond = global_cell(part, other);
  return beyond < own || (beyond == own && part->ghost_shift[other - part->num_cells] < PCSIM_SHIFT_NONE);
}

/* Store one interior face seen from c; the owner's own order of nodes is taken, whichever side is local,
 * so that both ranks compute the same bits. */
static pcsim_status store_interior(pcsim_mesh *mesh, int64_t face, int32_t c, interior_side side) {
  const pcsim_mesh_part *part = &mesh->part;
  int32_t owner = c, neighbour = side.other, nodes[4];
  int f = side.face;
  int n = pcsim_cell_face_nodes(part->cell_type[c], part->cell_node + mesh->cell_node_start[c], f, nodes);
  if (other_owns(part, c, side.other)) {
    owner = side.other;
    neighbour = c;
    f = matching_face(mesh, owner, nodes, n);
    PCSIM_CHECK(f < pcsim_cell_shapes[part->cell_type[owner]].num_faces, PCSIM_ERR_INTERNAL,
                "ghost %lld lacks the face it shares with cell %d", (long long)global_cell(part, owner), c);
    pcsim_cell_face_nodes(part->cell_type[owner], part->cell_node + mesh->cell_node_start[owner], f, nodes);
  }
  mesh->owner[face] = owner;
  mesh->neighbour[face] = neighbour;
  memcpy(mesh->face_node + mesh->face_node_start[face], nodes, (size_t)n * sizeof *nodes);
  mesh->face_node_start[face + 1] = mesh->face_node_start[face] + n;
  return PCSIM_OK;
}

static pcsim_status fill_interior(pcsim_mesh *mesh) {
  const pcsim_mesh_part *part = &mesh->part;
  int64_t h = 0, face = 0;
  for (int32_t c = 0; c < part->num_cells; c++) {
    interior_side sides[6];
    int count = gather_sides(mesh, c, h, sides);
    for (int i = 0; i < count; i++) PCSIM_TRY(store_interior(mesh, face++, c, sides[i]));
    h += pcsim_cell_shapes[part->cell_type[c]].num_faces;
  }
  return PCSIM_OK;
}

/* Boundary faces go to their places by patch; their numbers of nodes first, then starts, then nodes. */
static pcsim_status fill_boundary(pcsim_mesh *mesh, int64_t num_faces) {
  const pcsim_mesh_part *part = &mesh->part;
  int64_t first = mesh->patch_start[0], *place = NULL;
  uint8_t *which = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)mesh->names.num_patches, sizeof *place, &place), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)(num_faces - first), sizeof *which, &which), status, done);
  for (int p = 0; p < mesh->names.num_patches; p++) place[p] = mesh->patch_start[p];
  int64_t h = 0;
  for (int32_t c = 0; c < part->num_cells; c++)
    for (int f = 0; f < pcsim_cell_shapes[part->cell_type[c]].num_faces; f++, h++)
      if (across(mesh, h) < 0) {
        int64_t face = place[-1 - part->link[h]]++;
        mesh->owner[face] = c;
        which[face - first] = (uint8_t)f;
      }
  for (int64_t face = first; face < num_faces; face++) {
    int32_t c = mesh->owner[face];
    int64_t start = mesh->face_node_start[face];
    int n = pcsim_cell_face_nodes(part->cell_type[c], part->cell_node + mesh->cell_node_start[c],
                                  which[face - first], mesh->face_node + start);
    mesh->face_node_start[face + 1] = start + n;
  }
done:
  pcsim_free(&place);
  pcsim_free(&which);
  return status;
}

static pcsim_status build_faces(pcsim_mesh *mesh) {
  int64_t interior, face_nodes;
  size_t patches = (size_t)mesh->names.num_patches;
  PCSIM_TRY(pcsim_alloc(patches + 1, sizeof *mesh->patch_start, &mesh->patch_start));
  count_faces(mesh, &interior, &face_nodes);
  int64_t num_faces = mesh->patch_start[patches];
  PCSIM_CHECK(num_faces <= INT32_MAX && face_nodes <= INT32_MAX, PCSIM_ERR_MESH,
              "rank %d has %lld faces; the limit of one rank is %d: use more ranks", mesh->rank,
              (long long)num_faces, INT32_MAX);
  PCSIM_TRY(pcsim_alloc((size_t)num_faces, sizeof *mesh->owner, &mesh->owner));
  PCSIM_TRY(pcsim_alloc((size_t)interior, sizeof *mesh->neighbour, &mesh->neighbour));
  PCSIM_TRY(pcsim_alloc((size_t)num_faces + 1, sizeof *mesh->face_node_start, &mesh->face_node_start));
  PCSIM_TRY(pcsim_alloc((size_t)face_nodes, sizeof *mesh->face_node, &mesh->face_node));
  PCSIM_TRY(fill_interior(mesh));
  PCSIM_TRY(fill_boundary(mesh, num_faces));
  pcsim_free(&mesh->part.link);
  return PCSIM_OK;
}

/* -------------------------------------------------------------- geometry */

static pcsim_status build_geometry(pcsim_mesh *mesh) {
  const pcsim_mesh_part *part = &mesh->part;
  size_t cells = (size_t)num_all(mesh), faces = (size_t)mesh->patch_start[mesh->names.num_patches];
  PCSIM_TRY(pcsim_alloc(cells, 3 * sizeof *mesh->cell_centre, &mesh->cell_centre));
  PCSIM_TRY(pcsim_alloc(cells, sizeof *mesh->cell_volume, &mesh->cell_volume));
  PCSIM_TRY(pcsim_alloc(faces, 3 * sizeof *mesh->face_centre, &mesh->face_centre));
  PCSIM_TRY(pcsim_alloc(faces, 3 * sizeof *mesh->face_area, &mesh->face_area));
  for (size_t c = 0; c < cells; c++)
    pcsim_cell_geometry(part->node, part->cell_type[c], part->cell_node + mesh->cell_node_start[c],
                        mesh->cell_volume + c, mesh->cell_centre + 3 * c);
  for (size_t f = 0; f < faces; f++) {
    int64_t start = mesh->face_node_start[f];
    pcsim_face_geometry(part->node, mesh->face_node + start, (int)(mesh->face_node_start[f + 1] - start),
                        mesh->face_area + 3 * f, mesh->face_centre + 3 * f);
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------ near cells */

static int64_t ghosts_below(const pcsim_mesh_part *part) {
  int64_t n = 0;
  while (n < part->num_ghosts && part->ghost_global[n] < part->first_cell) n++;
  return n;
}
/* Local number of the k-th of all cells by global number; `below` ghosts come before the owned ones. */
static int64_t cell_in_order(const pcsim_mesh_part *part, int64_t below, int64_t k) {
  if (k < below) return part->num_cells + k;
  return k < below + part->num_cells ? k - below : k;
}

/* Cells around the nodes of owned cells. */
static pcsim_status build_node_cells(pcsim_mesh *mesh) {
  const pcsim_mesh_part *part = &mesh->part;
  size_t nodes = (size_t)part->num_nodes;
  int64_t below = ghosts_below(part);
  PCSIM_TRY(pcsim_alloc(nodes + 1, sizeof *mesh->node_cell_start, &mesh->node_cell_start));
  int64_t *start = mesh->node_cell_start;
  for (int64_t i = 0; i < part->num_cell_nodes; i++)
    if (part->cell_node[i] < part->num_nodes) start[part->cell_node[i] + 1]++;
  for (size_t i = 0; i < nodes; i++) start[i + 1] += start[i];
  PCSIM_TRY(pcsim_alloc((size_t)start[nodes], sizeof *mesh->node_cell, &mesh->node_cell));
  for (int64_t k = 0; k < num_all(mesh); k++) {
    int64_t c = cell_in_order(part, below, k);
    for (int64_t i = mesh->cell_node_start[c]; i < mesh->cell_node_start[c + 1]; i++)
      if (part->cell_node[i] < part->num_nodes) mesh->node_cell[start[part->cell_node[i]]++] = (int32_t)c;
  }
  memmove(start + 1, start, nodes * sizeof *start);
  start[0] = 0;
  return PCSIM_OK;
}

/* Distinct cells around the nodes of cell j, itself excluded, into `list`. Without a branch that depends on
 * the data: three of four candidates are new, which no processor can guess. `owned` leaves out ghosts. */
static int64_t cells_around(const pcsim_mesh *mesh, int32_t j, bool owned, int32_t *met, int32_t *list) {
  const pcsim_mesh_part *part = &mesh->part;
  int64_t n = 0;
  met[j] = j;
  for (int64_t k = mesh->cell_node_start[j]; k < mesh->cell_node_start[j + 1]; k++) {
    int32_t node = part->cell_node[k];
    if (node >= part->num_nodes) continue;
    for (int64_t m = mesh->node_cell_start[node]; m < mesh->node_cell_start[node + 1]; m++) {
      int32_t i = mesh->node_cell[m];
      if (owned && i >= part->num_cells) continue;
      list[n] = i;
      n += met[i] != j;
      met[i] = j;
    }
  }
  return n;
}

/* Room that cells_around may write to. */
static int64_t most_around(const pcsim_mesh *mesh) {
  int64_t most = 0;
  for (int64_t c = 0; c < num_all(mesh); c++) {
    int64_t n = 0;
    for (int64_t k = mesh->cell_node_start[c]; k < mesh->cell_node_start[c + 1]; k++) {
      int32_t node = mesh->part.cell_node[k];
      if (node < mesh->part.num_nodes) n += mesh->node_cell_start[node + 1] - mesh->node_cell_start[node];
    }
    if (n > most) most = n;
  }
  return most;
}

/* "Near" is mutual: walking over all cells j in global order and appending j to the list of each owned cell
 * around it gives every list in order without a sort. */
static void near_fill(pcsim_mesh *mesh, int32_t *met, int32_t *list) {
  const pcsim_mesh_part *part = &mesh->part;
  int64_t below = ghosts_below(part);
  for (int64_t i = 0; i < num_all(mesh); i++) met[i] = -1;
  for (int64_t k = 0; k < num_all(mesh); k++) {
    int64_t j = cell_in_order(part, below, k);
    int64_t n = cells_around(mesh, (int32_t)j, true, met, list);
    for (int64_t i = 0; i < n; i++) mesh->near[mesh->near_start[list[i]]++] = (int32_t)j;
  }
}

pcsim_status pcsim_mesh_build_near(pcsim_mesh *mesh) {
  int32_t *met = NULL, *list = NULL;
  pcsim_status status = PCSIM_OK;
  size_t n = (size_t)mesh->part.num_cells, all = (size_t)num_all(mesh);
  PCSIM_GOTO(pcsim_alloc(n + 1, sizeof *mesh->near_start, &mesh->near_start), status, done);
  PCSIM_GOTO(build_node_cells(mesh), status, done);
  PCSIM_GOTO(pcsim_alloc(all, sizeof *met, &met), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)most_around(mesh) + 1, sizeof *list, &list), status, done);
  for (size_t i = 0; i < all; i++) met[i] = -1;
  for (size_t i = 0; i < n; i++)
    mesh->near_start[i + 1] = mesh->near_start[i] + cells_around(mesh, (int32_t)i, false, met, list);
  PCSIM_GOTO(pcsim_alloc((size_t)mesh->near_start[n], sizeof *mesh->near, &mesh->near), status, done);
  near_fill(mesh, met, list);
  memmove(mesh->near_start + 1, mesh->near_start, n * sizeof *mesh->near_start);
  mesh->near_start[0] = 0;
done:
  pcsim_free(&met);
  pcsim_free(&list);
  return status;
}

/* The local cell that stands for all with a ghost's global number. */
static pcsim_status find_same(pcsim_mesh *mesh) {
  const pcsim_mesh_part *part = &mesh->part;
  PCSIM_TRY(pcsim_alloc((size_t)part->num_ghosts, sizeof *mesh->ghost_same, &mesh->ghost_same));
  for (int64_t g = 0; g < part->num_ghosts; g++) {
    const int64_t own = part->ghost_global[g] - part->first_cell;
    if (own >= 0 && own < part->num_cells) mesh->ghost_same[g] = (int32_t)own;
    else if (g > 0 && part->ghost_global[g - 1] == part->ghost_global[g])
      mesh->ghost_same[g] = mesh->ghost_same[g - 1];
    else mesh->ghost_same[g] = (int32_t)(part->num_cells + g);
  }
  return PCSIM_OK;
}

/* Nodes and types of ghosts have served: keep what the view shows. */
static pcsim_status trim_part(pcsim_mesh *mesh) {
  pcsim_mesh_part *part = &mesh->part;
  if (part->num_ghosts == 0) return PCSIM_OK;
  size_t cells = (size_t)part->num_cells, nodes = (size_t)part->num_nodes;
  part->num_cell_nodes = mesh->cell_node_start[cells];
  part->num_nodes_all = part->num_nodes;
  PCSIM_TRY(pcsim_realloc(cells, sizeof *part->cell_type, &part->cell_type));
  PCSIM_TRY(pcsim_realloc((size_t)part->num_cell_nodes, sizeof *part->cell_node, &part->cell_node));
  PCSIM_TRY(pcsim_realloc(cells + 1, sizeof *mesh->cell_node_start, &mesh->cell_node_start));
  PCSIM_TRY(pcsim_realloc(nodes, sizeof *part->node_patch, &part->node_patch));
  PCSIM_TRY(pcsim_realloc(nodes, 3 * sizeof *part->node, &part->node));
  return pcsim_realloc(nodes, sizeof *part->node_global, &part->node_global);
}

pcsim_status pcsim_mesh_build(pcsim_mesh *mesh) {
  const pcsim_mesh_part *part = &mesh->part;
  size_t cells = (size_t)num_all(mesh);
  PCSIM_CHECK(cells < INT32_MAX, PCSIM_ERR_MESH,
              "rank %d has %lld cells and ghosts; the limit of one rank is %d", mesh->rank, (long long)cells,
              INT32_MAX - 1);
  PCSIM_TRY(pcsim_alloc(cells + 1, sizeof *mesh->cell_node_start, &mesh->cell_node_start));
  for (size_t c = 0; c < cells; c++)
    mesh->cell_node_start[c + 1] = mesh->cell_node_start[c] + pcsim_cell_shapes[part->cell_type[c]].num_nodes;
  PCSIM_TRY(build_faces(mesh));
  PCSIM_TRY(build_geometry(mesh));
  PCSIM_TRY(pcsim_mesh_build_near(mesh));
  PCSIM_TRY(find_same(mesh));
  return trim_part(mesh);
}
