/* SPDX-License-Identifier: BSD-2-Clause */
/* Meshes on lines of x, y, z, and polygons filled with triangles. */
#include "grid.h"

#include <math.h>
#include <string.h>

void mesher_grid_free(mesher_grid *grid) {
  for (int k = 0; k < 3; k++) pcsim_free(&grid->line[k]);
}

bool mesher_all_at(int n, const double corner[][3], int axis, double value, double tolerance) {
  for (int i = 0; i < n; i++)
    if (!(fabs(corner[i][axis] - value) <= tolerance)) return false;
  return true;
}

pcsim_status mesher_apply_distort(const mesher_spec *spec, mesher_mesh *mesh) {
  double fraction = 0, seed = 1;
  if (!mesher_spec_text(spec, "distort")) return PCSIM_OK;
  PCSIM_TRY(mesher_spec_number(spec, "distort", &fraction));
  if (mesher_spec_text(spec, "seed")) PCSIM_TRY(mesher_spec_number(spec, "seed", &seed));
  PCSIM_CHECK(fraction >= 0 && fraction <= 1, PCSIM_ERR_CASE, "mesh: distort is %g, expected 0 to 1",
              fraction);
  PCSIM_CHECK(fabs(seed) < 9e15, PCSIM_ERR_CASE, "mesh: seed is %g, expected at most 9e15", seed);
  if (fraction > 0) PCSIM_TRY(mesher_distort(mesh, fraction, (uint64_t)(int64_t)seed));
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- lines */

typedef struct {
  mesher_sizes sizes;
  int axis;
  double from;
} axis_size;

static double size_on_axis(const void *context, double s) {
  const axis_size *at = context;
  double h = at->sizes.far;
  for (int i = 0; i < at->sizes.num_sources; i++) {
    const mesher_source *source = &at->sizes.source[i];
    for (int k = 0; k < source->num_pieces; k++)
      h = fmin(h, source->size + source->growth * fabs(at->from + s - source->piece[k].a[at->axis]));
  }
  return h;
}

pcsim_status mesher_axis_line(const mesher_sizes *sizes, int axis, double a, double b, int n, double grading,
                              double **line, int *num) {
  axis_size at = {*sizes, axis, a};
  int kept = 0;
  PCSIM_TRY(mesher_sizes_on_lines(sizes));
  for (int i = 0; i < sizes->num_sources; i++) {
    mesher_source source = sizes->source[i];
    int pieces = 0;
    for (int k = 0; k < source.num_pieces; k++)
      if (source.piece[k].a[axis] == source.piece[k].b[axis]) source.piece[pieces++] = source.piece[k];
    source.num_pieces = pieces;
    if (pieces) at.sizes.source[kept++] = source;
  }
  at.sizes.num_sources = kept;
  if (n == 0) PCSIM_TRY(mesher_check_line((b - a) / sizes->far)); /* no cell is longer than that */
  if (n > 0 && (grading > 1 || kept == 0)) {
    *num = n;
    return mesher_line_symmetric(a, b, n, grading, line);
  }
  if (grading > 1) {
    *num = (int)ceil((b - a) / sizes->far - 1e-6);
    return mesher_line_symmetric(a, b, *num, grading, line);
  }
  PCSIM_TRY(mesher_line(size_on_axis, &at, b - a, 1, n, line, num));
  for (int i = 0; i < *num; i++) (*line)[i] += a;
  (*line)[*num] = b;
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- plane */

static pcsim_status add_rectangle(mesher_mesh *mesh, const int32_t q[4], bool split, bool other_way) {
  if (!split) return mesher_add_cell(mesh, PCSIM_CELL_QUAD, q);
  const int32_t half[2][2][3] = {{{q[0], q[1], q[2]}, {q[0], q[2], q[3]}},
                                 {{q[0], q[1], q[3]}, {q[1], q[2], q[3]}}};
  PCSIM_TRY(mesher_add_cell(mesh, PCSIM_CELL_TRIANGLE, half[other_way][0]));
  return mesher_add_cell(mesh, PCSIM_CELL_TRIANGLE, half[other_way][1]);
}

static pcsim_status fill_plane(const mesher_grid *g, const char *cells, int32_t *node, mesher_mesh *mesh) {
  bool triangles = !strcmp(cells, "triangles"), mixed = !strcmp(cells, "mixed");
  int row = g->n[0] + 1;
  for (int j = 0; j <= g->n[1]; j++)
    for (int i = 0; i < row; i++) {
      if (i < g->skip[0] && j < g->skip[1]) continue; /* inside what is left out */
      PCSIM_TRY(
          mesher_add_node(mesh, g->line[0][i], g->line[1][j], 0, &node[(size_t)j * (size_t)row + (size_t)i]));
    }
  for (int j = 0; j < g->n[1]; j++)
    for (int i = 0; i < g->n[0]; i++) {
      const int32_t *low = node + (size_t)j * (size_t)row + i, *high = low + row;
      if (i < g->skip[0] && j < g->skip[1]) continue;
      PCSIM_TRY(add_rectangle(mesh, (const int32_t[4]){low[0], low[1], high[1], high[0]},
                              triangles || (mixed && 2 * i >= g->n[0]), (i + j) % 2));
    }
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- space */

typedef enum { ZONE_HEXA, ZONE_PRISM, ZONE_PYRAMID, ZONE_TETRA } zone;

/* Corners of a brick: bit 0 of the index is x, bit 1 y, bit 2 z. */
static pcsim_status add_brick(mesher_mesh *mesh, const int32_t v[8], zone kind, bool next_is_tetra) {
  static const int8_t hexa[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  static const int8_t prism[2][6] = {{0, 3, 1, 4, 7, 5}, {0, 2, 3, 4, 6, 7}};
  /* six tetrahedra along the paths from corner 0 to 7: the diagonals of opposite faces are the same */
  static const int8_t tetra[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                     {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
  /* faces seen from inside counter-clockwise: bases of pyramids with the centre as apex; the last is +x */
  static const int8_t base[6][4] = {{0, 2, 6, 4}, {0, 4, 5, 1}, {2, 3, 7, 6},
                                    {0, 1, 3, 2}, {4, 6, 7, 5}, {1, 5, 7, 3}};
  int32_t cell[8];
  switch (kind) {
  case ZONE_HEXA:
    for (int i = 0; i < 8; i++) cell[i] = v[hexa[i]];
    return mesher_add_cell(mesh, PCSIM_CELL_HEXA, cell);
  case ZONE_PRISM:
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < 6; i++) cell[i] = v[prism[k][i]];
      PCSIM_TRY(mesher_add_cell(mesh, PCSIM_CELL_PRISM, cell));
    }
    return PCSIM_OK;
  case ZONE_TETRA:
    for (int k = 0; k < 6; k++) {
      for (int i = 0; i < 4; i++) cell[i] = v[tetra[k][i]];
      PCSIM_TRY(mesher_add_cell(mesh, PCSIM_CELL_TETRA, cell));
    }
    return PCSIM_OK;
  case ZONE_PYRAMID:
    break;
  }
  double c[3] = {0};
  int32_t apex;
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++) c[k] += mesh->nodes[3 * (int64_t)v[i] + k] / 8;
  PCSIM_TRY(mesher_add_node(mesh, c[0], c[1], c[2], &apex));
  for (int f = 0; f < 6; f++) {
    int32_t q[5] = {v[base[f][0]], v[base[f][1]], v[base[f][2]], v[base[f][3]], apex};
    if (f < 5 || !next_is_tetra) {
      PCSIM_TRY(mesher_add_cell(mesh, PCSIM_CELL_PYRAMID, q));
      continue;
    }
    /* the neighbour's diagonal on this face goes from corner 1 to 7 */
    PCSIM_TRY(mesher_add_cell(mesh, PCSIM_CELL_TETRA, (const int32_t[4]){q[0], q[1], q[2], apex}));
    PCSIM_TRY(mesher_add_cell(mesh, PCSIM_CELL_TETRA, (const int32_t[4]){q[0], q[2], q[3], apex}));
  }
  return PCSIM_OK;
}

static zone zone_of(const mesher_grid *g, const char *cells, int i) {
  if (!strcmp(cells, "hexahedra")) return ZONE_HEXA;
  if (!strcmp(cells, "prisms")) return ZONE_PRISM;
  if (!strcmp(cells, "tetrahedra")) return ZONE_TETRA;
  int column = g->n[0] / 2; /* one column of pyramids joins quads to triangles */
  return i < column / 2 ? ZONE_HEXA : i < column ? ZONE_PRISM : i == column ? ZONE_PYRAMID : ZONE_TETRA;
}

static pcsim_status fill_space(const mesher_grid *g, const char *cells, int32_t *node, mesher_mesh *mesh) {
  size_t row = (size_t)g->n[0] + 1, layer = row * ((size_t)g->n[1] + 1);
  int64_t at = 0;
  for (int k = 0; k <= g->n[2]; k++)
    for (int j = 0; j <= g->n[1]; j++)
      for (int i = 0; i <= g->n[0]; i++)
        PCSIM_TRY(mesher_add_node(mesh, g->line[0][i], g->line[1][j], g->line[2][k], &node[at++]));
  for (int k = 0; k < g->n[2]; k++)
    for (int j = 0; j < g->n[1]; j++)
      for (int i = 0; i < g->n[0]; i++) {
        const int32_t *p = node + (size_t)k * layer + (size_t)j * row + i;
        int32_t v[8];
        for (int c = 0; c < 8; c++) v[c] = p[(c & 1 ? 1 : 0) + (c & 2 ? row : 0) + (c & 4 ? layer : 0)];
        zone kind = zone_of(g, cells, i);
        PCSIM_TRY(add_brick(mesh, v, kind, i + 1 < g->n[0] && zone_of(g, cells, i + 1) == ZONE_TETRA));
      }
  return PCSIM_OK;
}

pcsim_status mesher_grid_fill(const mesher_grid *grid, const char *cells, mesher_mesh *mesh) {
  double cells_total = 1, nodes_total = 1;
  int32_t *node = NULL;
  for (int k = 0; k < grid->dim; k++) {
    cells_total *= grid->n[k];
    nodes_total *= grid->n[k] + 1.0;
  }
  PCSIM_TRY(mesher_check_count(cells_total * (!strcmp(cells, "tetrahedra") ? 6 : 1)));
  PCSIM_TRY(pcsim_alloc((size_t)nodes_total, sizeof *node, &node));
  mesh->dim = grid->dim;
  pcsim_status status =
      grid->dim == 2 ? fill_plane(grid, cells, node, mesh) : fill_space(grid, cells, node, mesh);
  pcsim_free(&node);
  PCSIM_TRY(status);
  return PCSIM_OK;
}

/* ----------------------------------------------------------------- polygons */

typedef struct {
  const mesher_sizes *sizes;
  double from[2], along[2];
} side;

static double size_on_side(const void *context, double s) {
  const side *at = context;
  return mesher_size_at(at->sizes, at->from[0] + at->along[0] * s, at->from[1] + at->along[1] * s, 0);
}

/* Places along side i, from a along d; a side that runs against an earlier one takes its points. */
static pcsim_status side_places(const mesher_sizes *sizes, const double a[2], const double d[2], int i,
                                int against, double **s, int *n) {
  const double length = hypot(d[0], d[1]);
  const side at = {sizes, {a[0], a[1]}, {d[0] / length, d[1] / length}};
  if (against < 0) return mesher_line(size_on_side, &at, length, 1, 0, &s[i], &n[i]);
  n[i] = n[against];
  PCSIM_TRY(pcsim_alloc((size_t)n[i] + 1, sizeof **s, &s[i]));
  for (int k = 0; k <= n[i]; k++) s[i][k] = length - s[against][n[i] - k];
  return PCSIM_OK;
}

static pcsim_status polygon_loop(const mesher_sizes *sizes, int num_corners, const double corner[][2],
                                 const int *against, mesher_mesh *mesh, int32_t **loop, int *size) {
  double *s[MESHER_MAX_CORNERS] = {NULL};
  int n[MESHER_MAX_CORNERS];
  pcsim_status status = PCSIM_OK;
  *size = 0;
  for (int i = 0; i < num_corners; i++) {
    const double *a = corner[i], *b = corner[(i + 1) % num_corners];
    const double d[2] = {b[0] - a[0], b[1] - a[1]}, length = hypot(d[0], d[1]);
    PCSIM_GOTO(side_places(sizes, a, d, i, against ? against[i] : -1, s, n), status, done);
    PCSIM_GOTO(pcsim_realloc((size_t)(*size + n[i]), sizeof **loop, loop), status, done);
    for (int k = 0; k < n[i]; k++) {
      const double t = s[i][k] / length;
      PCSIM_GOTO(mesher_add_node(mesh, a[0] + t * d[0], a[1] + t * d[1], 0, &(*loop)[(*size)++]), status,
                 done);
    }
  }
done:
  for (int i = 0; i < num_corners; i++) pcsim_free(&s[i]);
  return status;
}

pcsim_status mesher_polygon_fill(const mesher_sizes *sizes, int num_corners, const double corner[][2],
                                 const int *against, const mesher_holes *holes, const char *algorithm,
                                 mesher_mesh *mesh) {
  int32_t *loop[1 + MESHER_MAX_HOLES] = {NULL};
  int size[1 + MESHER_MAX_HOLES] = {0}, num_holes = holes ? holes->n : 0;
  double low[3] = {INFINITY, INFINITY, 0}, high[3] = {-INFINITY, -INFINITY, 0};
  pcsim_status status;
  for (int i = 0; i < num_corners; i++)
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], corner[i][k]);
      high[k] = fmax(high[k], corner[i][k]);
    }
  PCSIM_TRY(mesher_check_count(mesher_estimate(sizes, 2, low, high)));
  mesh->dim = 2;
  PCSIM_GOTO(polygon_loop(sizes, num_corners, corner, against, mesh, &loop[0], &size[0]), status, done);
  for (int i = 0; i < num_holes; i++)
    PCSIM_GOTO(mesher_hole_loop(&holes->ball[i], sizes, mesh, &loop[1 + i], &size[1 + i]), status, done);
  status = mesher_triangulate(mesh, 1 + num_holes, size, loop, sizes, algorithm);
done:
  for (int i = 0; i <= num_holes; i++) pcsim_free(&loop[i]);
  return status;
}
