/* SPDX-License-Identifier: BSD-2-Clause */
/* Every cell of a raw mesh cut into cells of half its size: new nodes in the middle of edges, of faces with
 * four nodes and of quadrilaterals and hexahedra. Neighbours share the new nodes of their common face. */
#include "raw.h"

#include "fv.h"

#include <string.h>

/* --------------------------------------------------------- nodes between two */

/* New nodes by a pair of raw nodes: the ends of an edge, or a diagonal of a face with four nodes. Open
 * addressing; twice as many places as pairs at least. */
typedef struct {
  int64_t room, used;
  int32_t (*pair)[2]; /* [room]; -1: free */
  int32_t *node;      /* [room] */
} pair_table;

static void pair_table_free(pair_table *t) { pcsim_free(&t->pair), pcsim_free(&t->node); }

static int64_t place_of(const pair_table *t, int32_t a, int32_t b) {
  uint64_t hash = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) * 0x9e3779b97f4a7c15u;
  int64_t at = (int64_t)((hash ^ hash >> 29) & (uint64_t)(t->room - 1));
  while (t->pair[at][0] >= 0 && (t->pair[at][0] != a || t->pair[at][1] != b)) at = (at + 1) & (t->room - 1);
  return at;
}

static pcsim_status pair_table_grow(pair_table *t) {
  pair_table larger = {.room = t->room ? 2 * t->room : 4096, .used = t->used};
  PCSIM_TRY(pcsim_alloc((size_t)larger.room, sizeof *larger.pair, &larger.pair));
  pcsim_status status = pcsim_alloc((size_t)larger.room, sizeof *larger.node, &larger.node);
  if (status != PCSIM_OK) {
    pair_table_free(&larger);
    return status;
  }
  for (int64_t i = 0; i < larger.room; i++) larger.pair[i][0] = -1;
  for (int64_t i = 0; i < t->room; i++) {
    if (t->pair[i][0] < 0) continue;
    const int64_t at = place_of(&larger, t->pair[i][0], t->pair[i][1]);
    memcpy(larger.pair[at], t->pair[i], sizeof *t->pair);
    larger.node[at] = t->node[i];
  }
  pair_table_free(t);
  *t = larger;
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- the cut */

typedef struct {
  const pcsim_raw_mesh *raw;
  pcsim_raw_mesh *fine; /* NULL in the first pass, which counts */
  pair_table edges, faces;
  int64_t num_nodes, num_cells, num_facets;
  int64_t cell_place, facet_place; /* ends of the lists of nodes */
  int32_t *centre;                 /* [num_cells] node in the middle of a cell, -1: none yet */
  pcsim_status status;             /* of the first failure */
} cutter;

/* Average of raw nodes at a new node. */
static void place_node(const cutter *c, int32_t node, const int32_t *of, int n) {
  if (!c->fine) return;
  double *x = c->fine->nodes + 3 * (int64_t)node;
  for (int j = 0; j < 3; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += c->raw->nodes[3 * (int64_t)of[i] + j];
    x[j] = sum / n;
  }
}

static int32_t find_pair(cutter *c, pair_table *t, int32_t a, int32_t b) {
  if (c->status == PCSIM_OK && 2 * (t->used + 1) > t->room) c->status = pair_table_grow(t);
  if (c->status != PCSIM_OK) return 0;
  const int64_t at = place_of(t, a < b ? a : b, a < b ? b : a);
  if (t->pair[at][0] < 0) {
    t->pair[at][0] = a < b ? a : b, t->pair[at][1] = a < b ? b : a;
    t->node[at] = (int32_t)c->num_nodes++;
    t->used++;
  }
  return t->node[at];
}

static int32_t middle_of_edge(cutter *c, const int32_t *v, int a, int b) {
  const int32_t ends[2] = {v[a], v[b]}, node = find_pair(c, &c->edges, v[a], v[b]);
  place_node(c, node, ends, 2);
  return node;
}

/* Corners in cyclic order. The diagonal from the lowest node names the face. */
static int32_t middle_of_face(cutter *c, const int32_t *v, const int corner[4]) {
  int32_t q[4];
  int low = 0;
  for (int i = 0; i < 4; i++) q[i] = v[corner[i]];
  for (int i = 1; i < 4; i++)
    if (q[i] < q[low]) low = i;
  const int32_t node = find_pair(c, &c->faces, q[low], q[(low + 2) % 4]);
  place_node(c, node, q, 4);
  return node;
}

static int32_t middle_of_cell(cutter *c, int64_t cell, const int32_t *v, int n) {
  if (c->centre[cell] < 0) c->centre[cell] = (int32_t)c->num_nodes++;
  place_node(c, c->centre[cell], v, n);
  return c->centre[cell];
}

static void add_cell(cutter *c, int64_t parent, pcsim_cell_type type, const int32_t *nodes) {
  const int n = pcsim_cell_num_nodes(type);
  if (c->fine && c->status == PCSIM_OK) {
    c->fine->cell_type[c->num_cells] = (uint8_t)type;
    c->fine->cell_region[c->num_cells] = c->raw->cell_region[parent];
    memcpy(c->fine->cell_nodes + c->cell_place, nodes, (size_t)n * sizeof *nodes);
    c->fine->cell_start[c->num_cells + 1] = c->cell_place + n;
  }
  c->num_cells++;
  c->cell_place += n;
}

/* ------------------------------------------------------------ cells by type */

/* Corners and middles of a triangle's sides to its four parts. */
static void parts_of_triangle(const int32_t corner[3], const int32_t side[3], int32_t part[4][3]) {
  const int32_t parts[4][3] = {{corner[0], side[0], side[2]},
                               {side[0], corner[1], side[1]},
                               {side[2], side[1], corner[2]},
                               {side[0], side[1], side[2]}};
  memcpy(part, parts, sizeof parts);
}

static void cut_triangle(cutter *c, int64_t cell, const int32_t *v) {
  int32_t side[3], part[4][3];
  for (int i = 0; i < 3; i++) side[i] = middle_of_edge(c, v, i, (i + 1) % 3);
  parts_of_triangle(v, side, part);
  for (int i = 0; i < 4; i++) add_cell(c, cell, PCSIM_CELL_TRIANGLE, part[i]);
}

static void cut_quad(cutter *c, int64_t cell, const int32_t *v) {
  int32_t side[4];
  const int32_t centre = middle_of_cell(c, cell, v, 4);
  for (int i = 0; i < 4; i++) side[i] = middle_of_edge(c, v, i, (i + 1) % 4);
  for (int i = 0; i < 4; i++)
    add_cell(c, cell, PCSIM_CELL_QUAD, (int32_t[]){v[i], side[i], centre, side[(i + 3) % 4]});
}

static double distance2(const cutter *c, int32_t a, int32_t b) {
  double sum = 0;
  for (int j = 0; j < 3; j++) {
    const double d = c->fine->nodes[3 * (int64_t)a + j] - c->fine->nodes[3 * (int64_t)b + j];
    sum += d * d;
  }
  return sum;
}

/* Four corners, and the octahedron between them along its shortest diagonal (Bey, Computing 55, 1995). */
static void cut_tetra(cutter *c, int64_t cell, const int32_t *v) {
  /* middles: 0 of 01, 1 of 12, 2 of 02, 3 of 03, 4 of 13, 5 of 23; each diagonal with the ring around it,
   * in the sense that gives the parts the orientation of the whole */
  static const int8_t ends[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
  static const int8_t diagonal[3][6] = {{0, 5, 1, 2, 3, 4}, {1, 3, 0, 4, 5, 2}, {2, 4, 0, 1, 5, 3}};
  int32_t m[6];
  int best = 0;
  for (int i = 0; i < 6; i++) m[i] = middle_of_edge(c, v, ends[i][0], ends[i][1]);
  add_cell(c, cell, PCSIM_CELL_TETRA, (int32_t[]){v[0], m[0], m[2], m[3]});
  add_cell(c, cell, PCSIM_CELL_TETRA, (int32_t[]){m[0], v[1], m[1], m[4]});
  add_cell(c, cell, PCSIM_CELL_TETRA, (int32_t[]){m[2], m[1], v[2], m[5]});
  add_cell(c, cell, PCSIM_CELL_TETRA, (int32_t[]){m[3], m[4], m[5], v[3]});
  for (int k = 1; c->fine && k < 3; k++)
    if (distance2(c, m[diagonal[k][0]], m[diagonal[k][1]]) <
        (1 - 1e-12) * distance2(c, m[diagonal[best][0]], m[diagonal[best][1]]))
      best = k;
  const int8_t *d = diagonal[best];
  for (int i = 0; i < 4; i++) {
    const int32_t part[4] = {m[d[0]], m[d[2 + i]], m[d[2 + (i + 1) % 4]], m[d[1]]};
    add_cell(c, cell, PCSIM_CELL_TETRA, part);
  }
}

static void cut_pyramid(cutter *c, int64_t cell, const int32_t *v) {
  int32_t side[4], up[4];
  const int32_t base = middle_of_face(c, v, (int[]){0, 1, 2, 3});
  for (int i = 0; i < 4; i++) {
    side[i] = middle_of_edge(c, v, i, (i + 1) % 4);
    up[i] = middle_of_edge(c, v, i, 4);
  }
  for (int i = 0; i < 4; i++)
    add_cell(c, cell, PCSIM_CELL_PYRAMID, (int32_t[]){v[i], side[i], base, side[(i + 3) % 4], up[i]});
  add_cell(c, cell, PCSIM_CELL_PYRAMID, (int32_t[]){up[0], up[1], up[2], up[3], v[4]});
  add_cell(c, cell, PCSIM_CELL_PYRAMID, (int32_t[]){up[3], up[2], up[1], up[0], base});
  for (int i = 0; i < 4; i++)
    add_cell(c, cell, PCSIM_CELL_TETRA, (int32_t[]){side[i], up[i], up[(i + 1) % 4], base});
}

static void cut_prism(cutter *c, int64_t cell, const int32_t *v) {
  int32_t corner[3][3], side[3][3], part[3][4][3];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3;
    corner[0][i] = v[i], corner[2][i] = v[i + 3];
    corner[1][i] = middle_of_edge(c, v, i, i + 3);
    side[0][i] = middle_of_edge(c, v, i, j);
    side[2][i] = middle_of_edge(c, v, i + 3, j + 3);
    side[1][i] = middle_of_face(c, v, (int[]){i, j, j + 3, i + 3});
  }
  for (int level = 0; level < 3; level++) parts_of_triangle(corner[level], side[level], part[level]);
  for (int level = 0; level < 2; level++)
    for (int i = 0; i < 4; i++) {
      const int32_t *a = part[level][i], *b = part[level + 1][i];
      add_cell(c, cell, PCSIM_CELL_PRISM, (int32_t[]){a[0], a[1], a[2], b[0], b[1], b[2]});
    }
}

static const int8_t hexa_corner[8][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0},
                                         {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}};

/* Node at (i, j, k) of the lattice of 27: the middle of the corners that agree with it where it is no 1. */
static int32_t hexa_node(cutter *c, int64_t cell, const int32_t *v, const int at[3]) {
  int corner[8], n = 0;
  for (int k = 0; k < 8; k++) {
    bool agrees = true;
    for (int d = 0; d < 3; d++) agrees = agrees && (at[d] == 1 || at[d] == hexa_corner[k][d]);
    if (agrees) corner[n++] = k;
  }
  if (n == 1) return v[corner[0]];
  if (n == 2) return middle_of_edge(c, v, corner[0], corner[1]);
  if (n == 8) return middle_of_cell(c, cell, v, 8);
  /* into cyclic order: two corners of a face that differ in both directions lie across */
  int differ = 0;
  for (int d = 0; d < 3; d++) differ += hexa_corner[corner[1]][d] != hexa_corner[corner[2]][d];
  if (differ == 2) {
    const int swapped = corner[2];
    corner[2] = corner[3], corner[3] = swapped;
  }
  return middle_of_face(c, v, corner);
}

static void cut_hexa(cutter *c, int64_t cell, const int32_t *v) {
  for (int part = 0; part < 8; part++) {
    int32_t nodes[8];
    for (int k = 0; k < 8; k++) {
      int at[3];
      for (int d = 0; d < 3; d++) at[d] = (hexa_corner[part][d] + hexa_corner[k][d]) / 2;
      nodes[k] = hexa_node(c, cell, v, at);
    }
    add_cell(c, cell, PCSIM_CELL_HEXA, nodes);
  }
}

static void (*const cut[PCSIM_NUM_CELL_TYPES])(cutter *, int64_t, const int32_t *) = {
    [PCSIM_CELL_TRIANGLE] = cut_triangle, [PCSIM_CELL_QUAD] = cut_quad,   [PCSIM_CELL_TETRA] = cut_tetra,
    [PCSIM_CELL_PYRAMID] = cut_pyramid,   [PCSIM_CELL_PRISM] = cut_prism, [PCSIM_CELL_HEXA] = cut_hexa,
};

int pcsim_cell_num_parts(pcsim_cell_type type) {
  static const int parts[PCSIM_NUM_CELL_TYPES] = {2, 4, 4, 8, 10, 8, 8};
  return type >= 0 && type < PCSIM_NUM_CELL_TYPES ? parts[type] : 0;
}

/* --------------------------------------------------------------------- facets */

static void add_facet(cutter *c, int64_t parent, pcsim_cell_type type, const int32_t *nodes) {
  const int n = pcsim_cell_num_nodes(type);
  if (c->fine && c->status == PCSIM_OK) {
    c->fine->facet_type[c->num_facets] = (uint8_t)type;
    c->fine->facet_patch[c->num_facets] = c->raw->facet_patch[parent];
    memcpy(c->fine->facet_nodes + c->facet_place, nodes, (size_t)n * sizeof *nodes);
    c->fine->facet_start[c->num_facets + 1] = c->facet_place + n;
  }
  c->num_facets++;
  c->facet_place += n;
}

static void cut_facet(cutter *c, int64_t facet) {
  const int32_t *v = c->raw->facet_nodes + c->raw->facet_start[facet];
  const pcsim_cell_type type = c->raw->facet_type[facet];
  const int n = pcsim_cell_num_nodes(type);
  int32_t side[4], part[4][3];
  for (int i = 0; i < (n == 2 ? 1 : n); i++) side[i] = middle_of_edge(c, v, i, (i + 1) % n);
  if (type == PCSIM_CELL_SEGMENT) {
    add_facet(c, facet, type, (int32_t[]){v[0], side[0]});
    add_facet(c, facet, type, (int32_t[]){side[0], v[1]});
  } else if (type == PCSIM_CELL_TRIANGLE) {
    parts_of_triangle(v, side, part);
    for (int i = 0; i < 4; i++) add_facet(c, facet, type, part[i]);
  } else {
    const int32_t centre = middle_of_face(c, v, (int[]){0, 1, 2, 3});
    for (int i = 0; i < 4; i++)
      add_facet(c, facet, type, (int32_t[]){v[i], side[i], centre, side[(i + 3) % 4]});
  }
}

/* ------------------------------------------------------------------------ all */

static pcsim_status cut_all(cutter *c) {
  const pcsim_raw_mesh *raw = c->raw;
  c->num_cells = c->num_facets = c->cell_place = c->facet_place = 0;
  for (int64_t i = 0; i < raw->num_cells; i++)
    cut[raw->cell_type[i]](c, i, raw->cell_nodes + raw->cell_start[i]);
  for (int64_t i = 0; i < raw->num_facets; i++) cut_facet(c, i);
  PCSIM_CHECK(c->num_nodes <= INT32_MAX && c->num_cells <= INT32_MAX, PCSIM_ERR_MESH,
              "a mesh of %lld cells is too large to be cut once more", (long long)raw->num_cells);
  return c->status;
}

static pcsim_status copy_names(const pcsim_raw_mesh *raw, pcsim_raw_mesh *fine) {
  for (int i = 0; i < raw->num_patches; i++) PCSIM_TRY(pcsim_strdup(raw->patches[i], fine->patches + i));
  for (int i = 0; i < raw->num_regions; i++) PCSIM_TRY(pcsim_strdup(raw->regions[i], fine->regions + i));
  if (raw->num_periodic)
    memcpy(fine->periodic, raw->periodic, (size_t)raw->num_periodic * 2 * sizeof *raw->periodic);
  return pcsim_strdup("", &fine->notes);
}

static pcsim_status refine(cutter *c) {
  const pcsim_raw_mesh *raw = c->raw;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_cells, sizeof *c->centre, &c->centre));
  for (int64_t i = 0; i < raw->num_cells; i++) c->centre[i] = -1;
  c->num_nodes = raw->num_nodes;
  PCSIM_TRY(cut_all(c));
  const pcsim_raw_size size = {.dim = raw->dim,
                               .num_nodes = c->num_nodes,
                               .num_cells = c->num_cells,
                               .num_cell_nodes = c->cell_place,
                               .num_facets = c->num_facets,
                               .num_facet_nodes = c->facet_place,
                               .num_patches = raw->num_patches,
                               .num_regions = raw->num_regions,
                               .num_periodic = raw->num_periodic};
  PCSIM_TRY(pcsim_raw_mesh_new(&size, &c->fine));
  memcpy(c->fine->nodes, raw->nodes, (size_t)raw->num_nodes * 3 * sizeof *raw->nodes);
  PCSIM_TRY(cut_all(c));
  return copy_names(raw, c->fine);
}

pcsim_status pcsim_raw_mesh_refine(const pcsim_raw_mesh *raw, pcsim_raw_mesh **fine) {
  cutter c = {.raw = raw};
  *fine = NULL;
  const pcsim_status status = refine(&c);
  pcsim_free(&c.centre);
  pair_table_free(&c.edges);
  pair_table_free(&c.faces);
  if (status != PCSIM_OK) pcsim_raw_mesh_destroy(&c.fine);
  *fine = c.fine;
  return status;
}
