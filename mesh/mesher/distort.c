/* SPDX-License-Identifier: BSD-2-Clause */
/* Validity of cells by the Jacobians at their corners, and random distortion that keeps it. */
#include "mesher.h"

#include "../fv.h"
#include <math.h>
#include <string.h>

/* Neighbours of each corner, right-handed; a pyramid's apex has four and is checked through its base. */
static const int8_t corner_tetra[4][3] = {{1, 2, 3}, {2, 0, 3}, {0, 1, 3}, {0, 2, 1}};
static const int8_t corner_pyramid[4][3] = {{1, 3, 4}, {2, 0, 4}, {3, 1, 4}, {0, 2, 4}};
static const int8_t corner_prism[6][3] = {{2, 1, 3}, {0, 2, 4}, {1, 0, 5}, {4, 5, 0}, {5, 3, 1}, {3, 4, 2}};
static const int8_t corner_hexa[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                         {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};

static double corner_volume(const double *x, const int32_t *cell, int at, const int8_t to[3]) {
  double e[3][3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) e[i][k] = x[3 * (int64_t)cell[to[i]] + k] - x[3 * (int64_t)cell[at] + k];
  return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
         e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static double corner_area(const double *x, const int32_t *cell, int n, int at) {
  const double *p = x + 3 * (int64_t)cell[at], *q = x + 3 * (int64_t)cell[(at + 1) % n],
               *r = x + 3 * (int64_t)cell[(at + n - 1) % n];
  return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
}

/* The smallest corner volume (2D: area) of a cell. */
static double worst_corner(const double *x, pcsim_cell_type type, const int32_t *cell) {
  double worst = INFINITY;
  const int8_t(*table)[3] = type == PCSIM_CELL_TETRA     ? corner_tetra
                            : type == PCSIM_CELL_PYRAMID ? corner_pyramid
                            : type == PCSIM_CELL_PRISM   ? corner_prism
                                                         : corner_hexa;
  int n = pcsim_cell_num_nodes(type);
  if (type == PCSIM_CELL_TRIANGLE || type == PCSIM_CELL_QUAD)
    for (int i = 0; i < n; i++) worst = fmin(worst, corner_area(x, cell, n, i));
  else
    for (int i = 0; i < (type == PCSIM_CELL_PYRAMID ? 4 : n); i++)
      worst = fmin(worst, corner_volume(x, cell, i, table[i]));
  return worst;
}

pcsim_status mesher_check_cells(const mesher_mesh *mesh) {
  for (int64_t c = 0; c < mesh->num_cells; c++) {
    const int32_t *cell = mesh->cell_nodes + 8 * c;
    const double *p = mesh->nodes + 3 * (int64_t)cell[0];
    PCSIM_CHECK(worst_corner(mesh->nodes, mesh->cell_type[c], cell) > 0, PCSIM_ERR_MESH,
                "mesh: these sizes make an inverted or degenerate %s at (%g, %g, %g); choose a smaller size "
                "or growth",
                pcsim_cell_name(mesh->cell_type[c]), p[0], p[1], p[2]);
  }
  return PCSIM_OK;
}

/* Uniform in [-1, 1) from a counter (splitmix64): independent of the order in which nodes are visited. */
static double noise(uint64_t seed, uint64_t counter) {
  uint64_t z = seed * 0xd1342543de82ef95u + (counter + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

/* shift [node][3]: the wished displacement; zero on the boundary. */
static void wish_shifts(const mesher_mesh *mesh, double fraction, uint64_t seed, double *edge,
                        double *shift) {
  for (int64_t i = 0; i < mesh->num_nodes; i++) edge[i] = INFINITY;
  for (int64_t c = 0; c < mesh->num_cells; c++) {
    const pcsim_cell_shape *s = &pcsim_cell_shapes[mesh->cell_type[c]];
    for (int e = 0; e < s->num_edges; e++) {
      int64_t a = mesh->cell_nodes[8 * c + s->edge[e][0]], b = mesh->cell_nodes[8 * c + s->edge[e][1]];
      double d = 0;
      for (int k = 0; k < 3; k++) d += pow(mesh->nodes[3 * a + k] - mesh->nodes[3 * b + k], 2);
      edge[a] = fmin(edge[a], d);
      edge[b] = fmin(edge[b], d);
    }
  }
  for (int64_t f = 0; f < mesh->num_facets; f++)
    for (int i = 0; i < pcsim_cell_num_nodes(mesh->facet_type[f]); i++)
      edge[mesh->facet_nodes[4 * f + i]] = 0;
  for (int64_t i = 0; i < mesh->num_nodes; i++)
    for (int k = 0; k < mesh->dim; k++)
      shift[3 * i + k] = fraction * sqrt(edge[i]) * noise(seed, (uint64_t)(3 * i + k));
}

/* Apply the shifts, then halve those at cells that lost more than nine tenths of a corner until none has. */
static void apply_shifts(mesher_mesh *mesh, const double *old, double *shift, uint8_t *bad) {
  for (int round = 0; round < 60; round++) {
    int64_t count = 0;
    for (int64_t i = 0; i < 3 * mesh->num_nodes; i++) mesh->nodes[i] = old[i] + shift[i];
    memset(bad, 0, (size_t)mesh->num_nodes);
    for (int64_t c = 0; c < mesh->num_cells; c++) {
      const int32_t *cell = mesh->cell_nodes + 8 * c;
      if (worst_corner(mesh->nodes, mesh->cell_type[c], cell) >
          0.1 * worst_corner(old, mesh->cell_type[c], cell))
        continue;
      count++;
      for (int i = 0; i < pcsim_cell_num_nodes(mesh->cell_type[c]); i++) bad[cell[i]] = 1;
    }
    if (count == 0) return;
    for (int64_t i = 0; i < 3 * mesh->num_nodes; i++)
      if (bad[i / 3]) shift[i] *= round < 59 ? 0.5 : 0;
  }
}

pcsim_status mesher_distort(mesher_mesh *mesh, double fraction, uint64_t seed) {
  double *edge = NULL, *shift = NULL, *old = NULL;
  uint8_t *bad = NULL;
  pcsim_status status = PCSIM_OK;
  size_t n = (size_t)mesh->num_nodes;
  PCSIM_GOTO(pcsim_alloc(n, sizeof *edge, &edge), status, done);
  PCSIM_GOTO(pcsim_alloc(n, 3 * sizeof *shift, &shift), status, done);
  PCSIM_GOTO(pcsim_alloc(n, 3 * sizeof *old, &old), status, done);
  PCSIM_GOTO(pcsim_alloc(n, 1, &bad), status, done);
  memcpy(old, mesh->nodes, n * 3 * sizeof *old);
  wish_shifts(mesh, fraction, seed, edge, shift);
  apply_shifts(mesh, old, shift, bad);
done:
  pcsim_free(&edge);
  pcsim_free(&shift);
  pcsim_free(&old);
  pcsim_free(&bad);
  return status;
}
