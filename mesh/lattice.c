/* SPDX-License-Identifier: BSD-2-Clause */
/* Plane meshes of equal rectangles, for fields that are known everywhere. */
#include "raw.h"

#include <string.h>

typedef struct {
  int n[2];
  const bool *kept;
  int64_t *node; /* [n0 + 1][n1 + 1] number, -1: no cell touches it */
} lattice;

static bool is_kept(const lattice *l, int i, int j) {
  return i >= 0 && j >= 0 && i < l->n[0] && j < l->n[1] && (!l->kept || l->kept[(int64_t)j * l->n[0] + i]);
}
static int64_t *node_at(const lattice *l, int i, int j) { return &l->node[(int64_t)j * (l->n[0] + 1) + i]; }

/* Corners of edge e of cell (i, j), counter-clockwise, and the cell beyond it. */
static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
static const int beyond[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};

static void count(lattice *l, pcsim_raw_size *size) {
  for (int j = 0; j <= l->n[1]; j++)
    for (int i = 0; i <= l->n[0]; i++) {
      const bool used =
          is_kept(l, i, j) || is_kept(l, i - 1, j) || is_kept(l, i, j - 1) || is_kept(l, i - 1, j - 1);
      *node_at(l, i, j) = used ? size->num_nodes++ : -1;
    }
  for (int j = 0; j < l->n[1]; j++)
    for (int i = 0; i < l->n[0]; i++) {
      if (!is_kept(l, i, j)) continue;
      size->num_cells++;
      for (int e = 0; e < 4; e++) size->num_facets += !is_kept(l, i + beyond[e][0], j + beyond[e][1]);
    }
  size->num_cell_nodes = 4 * size->num_cells;
  size->num_facet_nodes = 2 * size->num_facets;
}

static void fill(const lattice *l, const double range[2][2], pcsim_raw_mesh *m) {
  int64_t cells = 0, facets = 0;
  for (int j = 0; j <= l->n[1]; j++)
    for (int i = 0; i <= l->n[0]; i++) {
      if (*node_at(l, i, j) < 0) continue;
      double *x = m->nodes + 3 * *node_at(l, i, j);
      x[0] = range[0][0] + (range[0][1] - range[0][0]) * i / l->n[0];
      x[1] = range[1][0] + (range[1][1] - range[1][0]) * j / l->n[1];
    }
  for (int j = 0; j < l->n[1]; j++)
    for (int i = 0; i < l->n[0]; i++) {
      if (!is_kept(l, i, j)) continue;
      m->cell_type[cells] = PCSIM_CELL_QUAD;
      for (int e = 0; e < 4; e++) {
        const int f = (e + 1) % 4;
        const int64_t a = *node_at(l, i + corner[e][0], j + corner[e][1]),
                      b = *node_at(l, i + corner[f][0], j + corner[f][1]);
        m->cell_nodes[4 * cells + e] = (int32_t)a;
        if (is_kept(l, i + beyond[e][0], j + beyond[e][1])) continue;
        m->facet_type[facets] = PCSIM_CELL_SEGMENT;
        m->facet_nodes[2 * facets] = (int32_t)a, m->facet_nodes[2 * facets + 1] = (int32_t)b;
        facets++;
        m->facet_start[facets] = 2 * facets;
      }
      cells++;
      m->cell_start[cells] = 4 * cells;
    }
}

pcsim_status pcsim_raw_mesh_lattice(const double range[2][2], const int n[2], const bool *kept,
                                    pcsim_raw_mesh **raw) {
  lattice l = {.n = {n[0], n[1]}, .kept = kept};
  pcsim_raw_size size = {.dim = 2, .num_patches = 1, .num_regions = 1};
  pcsim_raw_mesh *m = NULL;
  *raw = NULL;
  PCSIM_CHECK(n[0] > 0 && n[1] > 0 && range[0][1] > range[0][0] && range[1][1] > range[1][0], PCSIM_ERR_ARG,
              "a lattice of %d by %d cells", n[0], n[1]);
  PCSIM_TRY(pcsim_alloc(((size_t)n[0] + 1) * ((size_t)n[1] + 1), sizeof *l.node, &l.node));
  count(&l, &size);
  pcsim_status status;
  PCSIM_GOTO(pcsim_raw_mesh_new(&size, &m), status, done);
  PCSIM_GOTO(pcsim_strdup("boundary", &m->patches[0]), status, done);
  PCSIM_GOTO(pcsim_strdup("domain", &m->regions[0]), status, done);
  PCSIM_GOTO(pcsim_strdup("", &m->notes), status, done);
  fill(&l, range, m);
  PCSIM_GOTO(pcsim_raw_mesh_check(m), status, done);
  *raw = m;
  m = NULL;
done:
  pcsim_raw_mesh_destroy(&m);
  pcsim_free(&l.node);
  return status;
}
