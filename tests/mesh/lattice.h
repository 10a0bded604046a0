/* SPDX-License-Identifier: BSD-2-Clause */
/** @file lattice.h  Raw meshes for tests: a box of nx x ny (x nz) blocks cut into cells of one kind or
 * several, inner nodes moved at random, cells and nodes in random order. Boundaries left (x = 0), right (x =
 * length), rest. The box is nx x ny x nz in size, so the volume is known. */
#ifndef PCSIM_TEST_LATTICE_H
#define PCSIM_TEST_LATTICE_H

#include "mesh/fv.h"
#include "mesh/raw.h"
#include "pcsim_test.h"

typedef enum {
  LATTICE_QUAD,
  LATTICE_TRIANGLE,
  LATTICE_MIXED_2D,
  LATTICE_HEXA,
  LATTICE_TETRA,
  LATTICE_PRISM,
  LATTICE_PYRAMID,
  LATTICE_MIXED_3D, /* columns of hexahedra, prisms, pyramids */
  NUM_LATTICES
} lattice_kind;

typedef struct {
  lattice_kind kind;
  int nx, ny, nz; /* nz is not used in 2D */
  double jitter;  /* largest move of an inner node */
  bool shuffle;
} lattice;

static inline uint32_t lattice_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

typedef struct {
  const lattice *shape;
  int dim, nz; /* nz is 0 in 2D */
  pcsim_raw_mesh *raw;
  int64_t num_cells, num_nodes, place;
} lattice_maker;

static inline int32_t lattice_node(const lattice_maker *m, int i, int j, int k) {
  return (int32_t)(i + (m->shape->nx + 1) * (j + (int64_t)(m->shape->ny + 1) * k));
}

/* Append a cell; in a first pass (no raw mesh) only count. */
static inline void lattice_cell(lattice_maker *m, pcsim_cell_type type, const int32_t *nodes) {
  int n = pcsim_cell_num_nodes(type);
  if (m->raw) {
    m->raw->cell_type[m->num_cells] = (uint8_t)type;
    m->raw->cell_start[m->num_cells + 1] = m->place + n;
    memcpy(m->raw->cell_nodes + m->place, nodes, (size_t)n * sizeof *nodes);
  }
  m->num_cells++;
  m->place += n;
}

static inline void lattice_block_2d(lattice_maker *m, int i, int j) {
  int32_t v[4] = {lattice_node(m, i, j, 0), lattice_node(m, i + 1, j, 0), lattice_node(m, i + 1, j + 1, 0),
                  lattice_node(m, i, j + 1, 0)};
  lattice_kind kind = m->shape->kind;
  if (kind == LATTICE_QUAD || (kind == LATTICE_MIXED_2D && (i + 2 * j) % 3)) {
    lattice_cell(m, PCSIM_CELL_QUAD, v);
  } else {
    lattice_cell(m, PCSIM_CELL_TRIANGLE, (int32_t[]){v[0], v[1], v[2]});
    lattice_cell(m, PCSIM_CELL_TRIANGLE, (int32_t[]){v[0], v[2], v[3]});
  }
}

static inline void lattice_tetras(lattice_maker *m, const int32_t v[8]) {
  /* corners 0 and 6 joined along the edges of the block, in each order of the axes */
  static const int8_t path[6][2] = {{1, 2}, {2, 3}, {3, 7}, {7, 4}, {4, 5}, {5, 1}};
  for (int t = 0; t < 6; t++)
    lattice_cell(m, PCSIM_CELL_TETRA, (int32_t[]){v[0], v[path[t][0]], v[path[t][1]], v[6]});
}

static inline void lattice_block_3d(lattice_maker *m, int i, int j, int k) {
  int32_t v[8];
  for (int c = 0; c < 8; c++) {
    static const int8_t corner[8][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}, {1, 0}, {1, 1}, {0, 1}};
    v[c] = lattice_node(m, i + corner[c][0], j + corner[c][1], k + c / 4);
  }
  lattice_kind kind = m->shape->kind;
  if (kind == LATTICE_MIXED_3D)
    kind = (i + 2 * j) % 3 == 0 ? LATTICE_HEXA : (i + 2 * j) % 3 == 1 ? LATTICE_PRISM : LATTICE_PYRAMID;
  if (kind == LATTICE_HEXA) {
    lattice_cell(m, PCSIM_CELL_HEXA, v);
  } else if (kind == LATTICE_TETRA) {
    lattice_tetras(m, v);
  } else if (kind == LATTICE_PRISM) {
    lattice_cell(m, PCSIM_CELL_PRISM, (int32_t[]){v[0], v[2], v[1], v[4], v[6], v[5]});
    lattice_cell(m, PCSIM_CELL_PRISM, (int32_t[]){v[0], v[3], v[2], v[4], v[7], v[6]});
  } else {
    const pcsim_cell_shape *hexa = &pcsim_cell_shapes[PCSIM_CELL_HEXA];
    int32_t apex = (int32_t)m->num_nodes++;
    if (m->raw)
      for (int d = 0; d < 3; d++) m->raw->nodes[3 * (int64_t)apex + d] = (d == 0 ? i : d == 1 ? j : k) + 0.5;
    for (int f = 0; f < 6; f++) { /* base of a pyramid seen from the apex is the face turned over */
      const uint8_t *q = hexa->face[f];
      lattice_cell(m, PCSIM_CELL_PYRAMID, (int32_t[]){v[q[3]], v[q[2]], v[q[1]], v[q[0]], apex});
    }
  }
}

static inline void lattice_blocks(lattice_maker *m) {
  m->num_cells = m->place = 0;
  m->num_nodes = (int64_t)(m->shape->nx + 1) * (m->shape->ny + 1) * (m->nz + 1);
  for (int k = 0; k < (m->nz ? m->nz : 1); k++)
    for (int j = 0; j < m->shape->ny; j++)
      for (int i = 0; i < m->shape->nx; i++) {
        if (m->dim == 2) lattice_block_2d(m, i, j);
        else lattice_block_3d(m, i, j, k);
      }
}

/* Patch of a face all of whose nodes are on one side of the box, -1 if none is. */
static inline int lattice_side(const lattice_maker *m, const int32_t *nodes, int n) {
  double high[3] = {m->shape->nx, m->shape->ny, m->nz};
  for (int d = 0; d < m->dim; d++)
    for (int s = 0; s < 2; s++) {
      bool all = true;
      for (int i = 0; i < n; i++) all = all && m->raw->nodes[3 * (int64_t)nodes[i] + d] == (s ? high[d] : 0);
      if (all) return d == 0 ? s : 2;
    }
  return -1;
}

static inline void lattice_facets(lattice_maker *m, bool fill) {
  pcsim_raw_mesh *raw = m->raw;
  int64_t count = 0, place = 0;
  for (int64_t c = 0; c < raw->num_cells; c++)
    for (int f = 0; f < pcsim_cell_shapes[raw->cell_type[c]].num_faces; f++) {
      int32_t nodes[4];
      int n = pcsim_cell_face_nodes(raw->cell_type[c], raw->cell_nodes + raw->cell_start[c], f, nodes);
      int patch = lattice_side(m, nodes, n);
      if (patch < 0) continue;
      if (fill) {
        raw->facet_type[count] = (uint8_t)(n == 2   ? PCSIM_CELL_SEGMENT
                                           : n == 3 ? PCSIM_CELL_TRIANGLE
                                                    : PCSIM_CELL_QUAD);
        raw->facet_patch[count] = patch;
        raw->facet_start[count + 1] = place + n;
        memcpy(raw->facet_nodes + place, nodes, (size_t)n * sizeof *nodes);
      }
      count++;
      place += n;
    }
  if (fill) return;
  raw->num_facets = count;
  assert_ok(pcsim_realloc((size_t)count, sizeof *raw->facet_type, &raw->facet_type));
  assert_ok(pcsim_realloc((size_t)count, sizeof *raw->facet_patch, &raw->facet_patch));
  assert_ok(pcsim_realloc((size_t)count + 1, sizeof *raw->facet_start, &raw->facet_start));
  assert_ok(pcsim_realloc((size_t)place, sizeof *raw->facet_nodes, &raw->facet_nodes));
}

static inline void lattice_shuffle_cells(pcsim_raw_mesh *raw, uint64_t *random) {
  int64_t n = raw->num_cells, *order = NULL, place = 0;
  uint8_t *type = NULL;
  int32_t *nodes = NULL;
  int64_t *start = NULL;
  assert_ok(pcsim_alloc((size_t)n, sizeof *order, &order));
  assert_ok(pcsim_alloc((size_t)n, sizeof *type, &type));
  assert_ok(pcsim_alloc((size_t)raw->cell_start[n], sizeof *nodes, &nodes));
  assert_ok(pcsim_alloc((size_t)n + 1, sizeof *start, &start));
  for (int64_t i = 0; i < n; i++) {
    int64_t j = lattice_random(random) % (i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t c = order[i], k = raw->cell_start[c + 1] - raw->cell_start[c];
    type[i] = raw->cell_type[c];
    memcpy(nodes + place, raw->cell_nodes + raw->cell_start[c], (size_t)k * sizeof *nodes);
    place += k;
    start[i + 1] = place;
  }
  pcsim_free(&raw->cell_type);
  pcsim_free(&raw->cell_nodes);
  pcsim_free(&raw->cell_start);
  pcsim_free(&order);
  raw->cell_type = type;
  raw->cell_nodes = nodes;
  raw->cell_start = start;
}

static inline void lattice_shuffle_nodes(pcsim_raw_mesh *raw, uint64_t *random) {
  int64_t n = raw->num_nodes;
  int32_t *place = NULL;
  double *nodes = NULL;
  assert_ok(pcsim_alloc((size_t)n, sizeof *place, &place));
  assert_ok(pcsim_alloc((size_t)n, 3 * sizeof *nodes, &nodes));
  for (int64_t i = 0; i < n; i++) {
    int64_t j = lattice_random(random) % (i + 1);
    place[i] = place[j];
    place[j] = (int32_t)i;
  }
  for (int64_t i = 0; i < n; i++)
    memcpy(nodes + 3 * (int64_t)place[i], raw->nodes + 3 * i, 3 * sizeof *nodes);
  for (int64_t i = 0; i < raw->cell_start[raw->num_cells]; i++)
    raw->cell_nodes[i] = place[raw->cell_nodes[i]];
  pcsim_free(&raw->nodes);
  pcsim_free(&place);
  raw->nodes = nodes;
}

static inline char *lattice_name(const char *text) {
  char *name = NULL;
  assert_ok(pcsim_strdup(text, &name));
  return name;
}

static inline pcsim_raw_mesh *lattice_make(const lattice *shape) {
  int dim = shape->kind < LATTICE_HEXA ? 2 : 3;
  lattice_maker m = {.shape = shape, .dim = dim, .nz = dim == 3 ? shape->nz : 0};
  uint64_t random = 42;
  lattice_blocks(&m);
  pcsim_raw_size size = {.dim = dim,
                         .num_nodes = m.num_nodes,
                         .num_cells = m.num_cells,
                         .num_cell_nodes = m.place,
                         .num_patches = 3,
                         .num_regions = 1};
  pcsim_raw_mesh *raw = NULL;
  assert_ok(pcsim_raw_mesh_new(&size, &raw));
  m.raw = raw;
  for (int k = 0; k <= m.nz; k++)
    for (int j = 0; j <= shape->ny; j++)
      for (int i = 0; i <= shape->nx; i++) {
        bool inner = i > 0 && i < shape->nx && j > 0 && j < shape->ny && (dim == 2 || (k > 0 && k < m.nz));
        double *x = raw->nodes + 3 * (int64_t)lattice_node(&m, i, j, k), place[3] = {i, j, k};
        for (int d = 0; d < 3; d++) {
          double move = (lattice_random(&random) / 1073741824.0 - 1) * shape->jitter;
          x[d] = place[d] + (inner && d < dim ? move : 0);
        }
      }
  lattice_blocks(&m);
  if (shape->shuffle) {
    lattice_shuffle_cells(raw, &random);
    lattice_shuffle_nodes(raw, &random);
  }
  lattice_facets(&m, false);
  lattice_facets(&m, true);
  raw->patches[0] = lattice_name("left");
  raw->patches[1] = lattice_name("right");
  raw->patches[2] = lattice_name("rest");
  raw->regions[0] = lattice_name("fluid");
  raw->notes = lattice_name("");
  return raw;
}
#endif
