/* SPDX-License-Identifier: BSD-2-Clause */
/** @file lattice.h  Small meshes made by hand for tests: mapped lattices of quadrilaterals and triangles,
 * rings, boxes of hexahedra. */
#ifndef PCSIM_TEST_LATTICE_H
#define PCSIM_TEST_LATTICE_H

#include "pcsim_test.h"
#include <pcsim/mesh.h>

typedef enum { LATTICE_QUADS, LATTICE_TRIANGLES, LATTICE_MIXED } lattice_cells;
typedef struct {
  int nx, ny;
  lattice_cells cells;
  bool ring;                                  /**< the last column of nodes is the first */
  void (*map)(double s, double t, double *x); /**< from the unit square; NULL: itself */
  const char *names[4]; /**< bottom, right, top, left; right and left unused in a ring */
} lattice;

static inline void raw_alloc_(size_t count, size_t size, void *ptr) {
  assert_ok(pcsim_alloc(count, size, ptr));
}

static inline char **raw_names_(const char *const *names, int n) {
  char **copy = NULL;
  raw_alloc_((size_t)n, sizeof *copy, &copy);
  for (int i = 0; i < n; ++i) assert_ok(pcsim_strdup(names[i], &copy[i]));
  return copy;
}

static inline pcsim_raw_mesh *raw_new_(int dim, int64_t nodes, int64_t cells, int64_t cell_nodes,
                                       int64_t facets, int per_facet, const char *const *names,
                                       int num_names) {
  pcsim_raw_mesh *raw = NULL;
  const char *region = "fluid";
  raw_alloc_(1, sizeof *raw, &raw);
  raw->dim = dim;
  raw->num_nodes = nodes;
  raw->num_cells = cells;
  raw->num_facets = facets;
  raw_alloc_(3 * (size_t)nodes, sizeof(double), &raw->nodes);
  raw_alloc_((size_t)cells, 1, &raw->cell_type);
  raw_alloc_((size_t)cells + 1, sizeof(int64_t), &raw->cell_start);
  raw_alloc_((size_t)cell_nodes, sizeof(int32_t), &raw->cell_nodes);
  raw_alloc_((size_t)cells, sizeof(int32_t), &raw->cell_region);
  raw_alloc_((size_t)facets, 1, &raw->facet_type);
  raw_alloc_((size_t)facets + 1, sizeof(int64_t), &raw->facet_start);
  raw_alloc_((size_t)(facets * per_facet), sizeof(int32_t), &raw->facet_nodes);
  raw_alloc_((size_t)facets, sizeof(int32_t), &raw->facet_patch);
  raw->patches = raw_names_(names, num_names);
  raw->num_patches = num_names;
  raw->regions = raw_names_(&region, 1);
  raw->num_regions = 1;
  assert_ok(pcsim_strdup("", &raw->notes));
  return raw;
}

static inline void raw_cell_(pcsim_raw_mesh *raw, int64_t *c, pcsim_cell_type type, const int64_t *nodes) {
  int n = pcsim_cell_num_nodes(type);
  raw->cell_type[*c] = (uint8_t)type;
  for (int i = 0; i < n; ++i) raw->cell_nodes[raw->cell_start[*c] + i] = (int32_t)nodes[i];
  raw->cell_start[*c + 1] = raw->cell_start[*c] + n;
  ++*c;
}

static inline void raw_facet_(pcsim_raw_mesh *raw, int64_t *f, int patch, int n, const int64_t *nodes) {
  raw->facet_type[*f] = n == 2 ? PCSIM_CELL_SEGMENT : PCSIM_CELL_QUAD;
  raw->facet_patch[*f] = patch;
  for (int i = 0; i < n; ++i) raw->facet_nodes[raw->facet_start[*f] + i] = (int32_t)nodes[i];
  raw->facet_start[*f + 1] = raw->facet_start[*f] + n;
  ++*f;
}

static inline int64_t lattice_node_(const lattice *l, int i, int j) {
  int columns = l->ring ? l->nx : l->nx + 1;
  return (int64_t)j * columns + (l->ring ? i % l->nx : i);
}

static inline pcsim_raw_mesh *raw_lattice(const lattice *l) {
  int columns = l->ring ? l->nx : l->nx + 1, num_names = 0, patch[4] = {0, 0, 0, 0};
  const char *names[4];
  for (int k = 0; k < 4; ++k) {
    if (l->ring && k % 2) continue;
    patch[k] = -1;
    for (int i = 0; i < num_names; ++i)
      if (strcmp(names[i], l->names[k]) == 0) patch[k] = i;
    if (patch[k] >= 0) continue;
    patch[k] = num_names;
    names[num_names++] = l->names[k];
  }
  int64_t cells = (int64_t)l->nx * l->ny * 2, facets = 2 * l->nx + (l->ring ? 0 : 2 * l->ny), c = 0, f = 0;
  pcsim_raw_mesh *raw =
      raw_new_(2, (int64_t)columns * (l->ny + 1), cells, 3 * cells, facets, 2, names, num_names);
  for (int j = 0; j <= l->ny; ++j)
    for (int i = 0; i < columns; ++i) {
      double *x = raw->nodes + 3 * lattice_node_(l, i, j), s = (double)i / l->nx, t = (double)j / l->ny;
      x[0] = s;
      x[1] = t;
      if (l->map) l->map(s, t, x);
    }
  for (int j = 0; j < l->ny; ++j)
    for (int i = 0; i < l->nx; ++i) {
      int64_t q[4] = {lattice_node_(l, i, j), lattice_node_(l, i + 1, j), lattice_node_(l, i + 1, j + 1),
                      lattice_node_(l, i, j + 1)};
      bool split = l->cells == LATTICE_TRIANGLES || (l->cells == LATTICE_MIXED && (i + j) % 3 == 0);
      if (!split) raw_cell_(raw, &c, PCSIM_CELL_QUAD, q);
      else if ((i + j) % 2) {
        raw_cell_(raw, &c, PCSIM_CELL_TRIANGLE, (int64_t[]){q[0], q[1], q[2]});
        raw_cell_(raw, &c, PCSIM_CELL_TRIANGLE, (int64_t[]){q[0], q[2], q[3]});
      } else {
        raw_cell_(raw, &c, PCSIM_CELL_TRIANGLE, (int64_t[]){q[0], q[1], q[3]});
        raw_cell_(raw, &c, PCSIM_CELL_TRIANGLE, (int64_t[]){q[1], q[2], q[3]});
      }
    }
  raw->num_cells = c;
  for (int i = 0; i < l->nx; ++i) {
    raw_facet_(raw, &f, patch[0], 2, (int64_t[]){lattice_node_(l, i, 0), lattice_node_(l, i + 1, 0)});
    raw_facet_(raw, &f, patch[2], 2, (int64_t[]){lattice_node_(l, i, l->ny), lattice_node_(l, i + 1, l->ny)});
  }
  for (int j = 0; !l->ring && j < l->ny; ++j) {
    raw_facet_(raw, &f, patch[1], 2, (int64_t[]){lattice_node_(l, l->nx, j), lattice_node_(l, l->nx, j + 1)});
    raw_facet_(raw, &f, patch[3], 2, (int64_t[]){lattice_node_(l, 0, j), lattice_node_(l, 0, j + 1)});
  }
  return raw;
}

/** n x n x n hexahedra on the unit cube; boundaries x-min, x-max and "sides". */
static inline pcsim_raw_mesh *raw_box(int n) {
  static const char *const names[3] = {"x-min", "x-max", "sides"};
  int64_t m = n + 1, cells = (int64_t)n * n * n, c = 0, f = 0;
  pcsim_raw_mesh *raw = raw_new_(3, m * m * m, cells, 8 * cells, 6 * (int64_t)n * n, 4, names, 3);
  for (int64_t k = 0; k < m; ++k)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t i = 0; i < m; ++i) {
        double *x = raw->nodes + 3 * (i + m * (j + m * k));
        x[0] = (double)i / n, x[1] = (double)j / n, x[2] = (double)k / n;
      }
#define AT_(i, j, k) ((i) + m * ((j) + m * (k)))
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i)
        raw_cell_(raw, &c, PCSIM_CELL_HEXA,
                  (int64_t[]){AT_(i, j, k), AT_(i + 1, j, k), AT_(i + 1, j + 1, k), AT_(i, j + 1, k),
                              AT_(i, j, k + 1), AT_(i + 1, j, k + 1), AT_(i + 1, j + 1, k + 1),
                              AT_(i, j + 1, k + 1)});
  for (int64_t a = 0; a < n; ++a)
    for (int64_t b = 0; b < n; ++b)
      for (int64_t end = 0; end <= n; end += n) {
        raw_facet_(
            raw, &f, end ? 1 : 0, 4,
            (int64_t[]){AT_(end, a, b), AT_(end, a + 1, b), AT_(end, a + 1, b + 1), AT_(end, a, b + 1)});
        raw_facet_(
            raw, &f, 2, 4,
            (int64_t[]){AT_(a, end, b), AT_(a + 1, end, b), AT_(a + 1, end, b + 1), AT_(a, end, b + 1)});
        raw_facet_(
            raw, &f, 2, 4,
            (int64_t[]){AT_(a, b, end), AT_(a + 1, b, end), AT_(a + 1, b + 1, end), AT_(a, b + 1, end)});
      }
#undef AT_
  return raw;
}

/** Distribute and free the raw mesh; collective. */
static inline pcsim_mesh *mesh_of(pcsim_raw_mesh *(*make)(const void *), const void *what) {
  int rank = 0;
  pcsim_mesh *mesh = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pcsim_raw_mesh *raw = rank == 0 ? make(what) : NULL;
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, raw, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  return mesh;
}
static inline pcsim_raw_mesh *make_lattice_(const void *what) { return raw_lattice(what); }
static inline pcsim_raw_mesh *make_box_(const void *what) { return raw_box(*(const int *)what); }
static inline pcsim_mesh *mesh_lattice(const lattice *l) { return mesh_of(make_lattice_, l); }
static inline pcsim_mesh *mesh_box(int n) { return mesh_of(make_box_, &n); }

static inline pcsim_tree *tree_of(const char *text) {
  pcsim_tree *tree = NULL;
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &tree));
  return tree;
}
#endif
