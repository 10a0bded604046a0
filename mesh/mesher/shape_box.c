/* SPDX-License-Identifier: BSD-2-Clause */
/* The shapes box (two or three dimensions) and cavity. */
#include "grid.h"

#include <math.h>
#include <string.h>

typedef struct {
  int dim;
  double low[3], high[3], tolerance;
  const char *name[3][2]; /* patch at the low and the high end of each axis */
  mesher_holes holes;
} box;

static const char *classify(const void *context, int n, const double corner[][3]) {
  const box *b = context;
  for (int k = 0; k < b->dim; k++)
    for (int end = 0; end < 2; end++)
      if (mesher_all_at(n, corner, k, end ? b->high[k] : b->low[k], b->tolerance)) return b->name[k][end];
  return mesher_holes_classify(&b->holes, n, corner);
}

/* Axes whose two ends are to have the same nodes. */
static void find_periodic(const mesher_spec *spec, const box *b, bool periodic[3]) {
  for (int k = 0, i = 0, pair[2]; k < 3; k++, i = 0)
    periodic[k] = k < b->dim && mesher_periodic_next(spec, 2, b->name[k], &i, pair) && pair[0] != pair[1];
}

static pcsim_status read_sizes(const mesher_spec *spec, const box *b, mesher_sizes *sizes, int n[3]) {
  mesher_piece piece[12 + MESHER_MAX_HOLES];
  int pieces = 0;
  bool periodic[3];
  double counts[3];
  find_periodic(spec, b, periodic);
  for (int k = 0; k < b->dim; k++)
    for (int i = 0; i < (periodic[k] ? 4 : 2); i++) { /* of a periodic axis each end is near both */
      const int end = i % 2;
      mesher_piece *p = &piece[pieces++];
      *p = (mesher_piece){.patch = b->name[k][i < 2 ? end : !end]};
      memcpy(p->a, b->low, sizeof p->a);
      memcpy(p->b, b->high, sizeof p->b);
      p->a[k] = p->b[k] = end ? b->high[k] : b->low[k];
    }
  for (int i = 0; i < b->holes.n; i++) {
    const mesher_ball *ball = &b->holes.ball[i];
    piece[pieces] = (mesher_piece){.patch = ball->patch, .round = b->dim, .b = {ball->radius}};
    memcpy(piece[pieces++].a, ball->centre, sizeof ball->centre);
  }
  PCSIM_TRY(mesher_sizes_read(spec, b->dim, pieces, piece, sizes));
  if (!mesher_spec_text(spec, "n")) return PCSIM_OK;
  PCSIM_TRY(mesher_spec_numbers(spec, "n", b->dim, counts));
  for (int k = 0; k < b->dim; k++) {
    PCSIM_CHECK(counts[k] >= 1 && counts[k] == floor(counts[k]), PCSIM_ERR_CASE,
                "mesh: n has the entry %g, expected a whole number of at least 1", counts[k]);
    PCSIM_TRY(mesher_check_line(counts[k]));
    n[k] = (int)counts[k];
  }
  return PCSIM_OK;
}

static pcsim_status unstructured(const mesher_spec *spec, const box *b, const mesher_sizes *sizes,
                                 mesher_mesh *mesh) {
  const char *algorithm = mesher_spec_text(spec, "algorithm");
  bool periodic[3];
  find_periodic(spec, b, periodic);
  if (b->dim == 2) {
    const double corner[4][2] = {
        {b->low[0], b->low[1]}, {b->high[0], b->low[1]}, {b->high[0], b->high[1]}, {b->low[0], b->high[1]}};
    const int against[4] = {-1, -1, periodic[1] ? 0 : -1, periodic[0] ? 1 : -1};
    return mesher_polygon_fill(sizes, 4, corner, against, &b->holes, algorithm, mesh);
  }
  const mesher_solid solid = {.low = {b->low[0], b->low[1], b->low[2]},
                              .high = {b->high[0], b->high[1], b->high[2]},
                              .holes = &b->holes,
                              .periodic = {periodic[0], periodic[1], periodic[2]}};
  mesh->dim = 3;
  PCSIM_TRY(mesher_check_count(mesher_estimate(sizes, 3, b->low, b->high)));
  return mesher_tetrahedralise(mesh, &solid, sizes, algorithm);
}

static pcsim_status structured(const box *b, const mesher_sizes *sizes, const int n[3], double grading,
                               const char *cells, mesher_mesh *mesh) {
  mesher_grid grid = {.dim = b->dim};
  pcsim_status status = PCSIM_OK;
  for (int k = 0; k < b->dim && status == PCSIM_OK; k++)
    status = mesher_axis_line(sizes, k, b->low[k], b->high[k], n[k], grading, &grid.line[k], &grid.n[k]);
  if (status == PCSIM_OK) status = mesher_grid_fill(&grid, cells, mesh);
  mesher_grid_free(&grid);
  PCSIM_TRY(status);
  return PCSIM_OK;
}

static pcsim_status make_box(const mesher_spec *spec, box *b, mesher_mesh *mesh) {
  const char *cells = mesher_spec_text(spec, "cells");
  mesher_sizes sizes = {0};
  int n[3] = {0};
  double grading = 1;
  pcsim_status status;
  b->tolerance = INFINITY;
  for (int k = 0; k < b->dim; k++) {
    PCSIM_CHECK(b->low[k] < b->high[k], PCSIM_ERR_CASE, "mesh: the box reaches from %g to %g along %c",
                b->low[k], b->high[k], "xyz"[k]);
    b->tolerance = fmin(b->tolerance, 1e-9 * (b->high[k] - b->low[k]));
  }
  if (mesher_spec_text(spec, "grading")) PCSIM_TRY(mesher_spec_positive(spec, "grading", &grading));
  PCSIM_TRY(mesher_holes_read(spec, b->dim, &b->holes));
  PCSIM_GOTO(read_sizes(spec, b, &sizes, n), status, done);
  if (!cells) cells = b->dim == 2 ? "quads" : "hexahedra";
  bool simplices = !strcmp(cells, "triangles") || !strcmp(cells, "tetrahedra");
  if (b->holes.n > 0 && !(simplices && n[0] == 0)) {
    status = pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__,
                             "mesh: only triangles and tetrahedra made from a size go around holes");
    goto done;
  }
  status = simplices && n[0] == 0 ? unstructured(spec, b, &sizes, mesh)
                                  : structured(b, &sizes, n, grading, cells, mesh);
done:
  mesher_sizes_free(&sizes);
  PCSIM_TRY(status);
  PCSIM_TRY(mesher_find_facets(mesh, classify, b));
  PCSIM_TRY(mesher_apply_distort(spec, mesh));
  return mesher_check_cells(mesh);
}

pcsim_status mesher_shape_box(const mesher_spec *spec, mesher_mesh *mesh) {
  box b = {.name = {{"x-min", "x-max"}, {"y-min", "y-max"}, {"z-min", "z-max"}}};
  b.dim = mesher_spec_count(spec, "low");
  PCSIM_CHECK(b.dim == 2 || b.dim == 3, PCSIM_ERR_CASE, "mesh: low has %d numbers, expected 2 or 3", b.dim);
  PCSIM_TRY(mesher_spec_numbers(spec, "low", b.dim, b.low));
  PCSIM_TRY(mesher_spec_numbers(spec, "high", b.dim, b.high));
  return make_box(spec, &b, mesh);
}

pcsim_status mesher_shape_cavity(const mesher_spec *spec, mesher_mesh *mesh) {
  box b = {.dim = 2, .name = {{"walls", "walls"}, {"walls", "lid"}}};
  PCSIM_TRY(mesher_spec_positive(spec, "width", &b.high[0]));
  PCSIM_TRY(mesher_spec_positive(spec, "height", &b.high[1]));
  return make_box(spec, &b, mesh);
}
