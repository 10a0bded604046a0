/* SPDX-License-Identifier: BSD-2-Clause */
/* The shape step: a channel that widens downwards at x = 0. The upper edge of the step is the origin; the
 * inlet lies above it, at x = 0 or `upstream` before. */
#include "grid.h"

#include <math.h>
#include <string.h>

typedef struct {
  double length, height, step, upstream, tolerance;
} step;

static const char *classify(const void *context, int n, const double corner[][3]) {
  const step *s = context;
  double tol = s->tolerance;
  if (mesher_all_at(n, corner, 0, s->length, tol)) return "outlet";
  bool above = true;
  for (int i = 0; i < n; i++) above &= corner[i][1] > -tol;
  if (mesher_all_at(n, corner, 0, -s->upstream, tol) && above) return "inlet";
  if (mesher_all_at(n, corner, 0, 0, tol) || mesher_all_at(n, corner, 1, -s->step, tol) ||
      mesher_all_at(n, corner, 1, s->height - s->step, tol) || mesher_all_at(n, corner, 1, 0, tol))
    return "walls";
  return NULL;
}

/* Join two lines that meet in one point. */
static pcsim_status join(double **first, int n_first, double **second, int n_second, double **line) {
  pcsim_status status = pcsim_alloc((size_t)(n_first + n_second) + 1, sizeof **line, line);
  if (status == PCSIM_OK) {
    if (n_first > 0) memcpy(*line, *first, (size_t)n_first * sizeof **line);
    memcpy(*line + n_first, *second, ((size_t)n_second + 1) * sizeof **line);
  }
  pcsim_free(first);
  pcsim_free(second);
  return status;
}

static pcsim_status x_lines(const step *s, const mesher_sizes *sizes, int n, double grading,
                            mesher_grid *grid) {
  double *before = NULL, *behind = NULL;
  int n_before = 0, n_behind = n;
  if (n == 0 && grading == 1) {
    PCSIM_TRY(mesher_axis_line(sizes, 0, 0, s->length, 0, 1, &behind, &n_behind));
  } else {
    if (n == 0) { /* the size holds in the middle of the length */
      PCSIM_TRY(mesher_check_line(s->length / sizes->far));
      n_behind = (int)ceil(s->length / sizes->far - 1e-6);
    }
    PCSIM_TRY(mesher_line_geometric(0, s->length, n_behind, grading, &behind));
  }
  if (s->upstream > 0) { /* as long as the first cell behind the step */
    double count = ceil(s->upstream / behind[1] - 1e-6);
    pcsim_status status = mesher_check_line(count);
    if (status == PCSIM_OK)
      status = mesher_line_geometric(-s->upstream, 0, n_before = (int)count, 1, &before);
    if (status != PCSIM_OK) pcsim_free(&behind);
    PCSIM_TRY(status);
  }
  grid->skip[0] = n_before;
  grid->n[0] = n_before + n_behind;
  return join(&before, n_before, &behind, n_behind, &grid->line[0]);
}

static pcsim_status y_lines(const step *s, const mesher_sizes *sizes, int n, mesher_grid *grid) {
  double *low = NULL, *high = NULL;
  int n_low = 0, n_high = 0;
  if (n > 0) { /* the corner of the step lies on a line */
    n_low = (int)fmax(1, round(n * s->step / s->height));
    n_high = n - n_low > 0 ? n - n_low : 1;
  }
  PCSIM_TRY(mesher_axis_line(sizes, 1, -s->step, 0, n_low, 1, &low, &n_low));
  pcsim_status status = mesher_axis_line(sizes, 1, 0, s->height - s->step, n_high, 1, &high, &n_high);
  if (status != PCSIM_OK) pcsim_free(&low);
  PCSIM_TRY(status);
  grid->skip[1] = n_low;
  grid->n[1] = n_low + n_high;
  return join(&low, n_low, &high, n_high, &grid->line[1]);
}

static pcsim_status read_step(const mesher_spec *spec, step *s, mesher_sizes *sizes) {
  PCSIM_TRY(mesher_spec_positive(spec, "length", &s->length));
  PCSIM_TRY(mesher_spec_positive(spec, "height", &s->height));
  PCSIM_TRY(mesher_spec_positive(spec, "step", &s->step));
  PCSIM_TRY(mesher_spec_number(spec, "upstream", &s->upstream));
  PCSIM_CHECK(s->step < s->height, PCSIM_ERR_CASE, "mesh: step is %g, it must be less than the height %g",
              s->step, s->height);
  PCSIM_CHECK(s->upstream >= 0, PCSIM_ERR_CASE, "mesh: upstream is %g, it must not be negative", s->upstream);
  s->tolerance = 1e-9 * fmin(s->step, s->height - s->step);
  double u = -s->upstream, l = s->length, low = -s->step, top = s->height - s->step;
  const mesher_piece piece[] = {
      {"inlet", 0, {u, 0, 0}, {u, top, 0}},   {"outlet", 0, {l, low, 0}, {l, top, 0}},
      {"walls", 0, {0, low, 0}, {l, low, 0}}, {"walls", 0, {u, top, 0}, {l, top, 0}},
      {"walls", 0, {0, low, 0}, {0, 0, 0}},   {"walls", 0, {u, 0, 0}, {0, 0, 0}}};
  return mesher_sizes_read(spec, 2, s->upstream > 0 ? 6 : 5, piece, sizes);
}

static pcsim_status fill_step(const mesher_spec *spec, step *at, mesher_sizes *sizes, mesher_mesh *mesh) {
  const char *cells = mesher_spec_text(spec, "cells");
  double n[2] = {0, 0}, grading = 1;
  PCSIM_TRY(read_step(spec, at, sizes));
  const step s = *at;
  if (mesher_spec_text(spec, "n")) PCSIM_TRY(mesher_spec_numbers(spec, "n", 2, n));
  if (mesher_spec_text(spec, "grading")) PCSIM_TRY(mesher_spec_positive(spec, "grading", &grading));
  PCSIM_TRY(mesher_check_line(fmax(n[0], n[1])));
  if (!cells) cells = "quads";
  if (!strcmp(cells, "triangles") && n[0] == 0) {
    double u = -s.upstream, l = s.length, low = -s.step, top = s.height - s.step;
    const double corner[6][2] = {{0, low}, {l, low}, {l, top}, {u, top}, {u, 0}, {0, 0}};
    return mesher_polygon_fill(sizes, s.upstream > 0 ? 6 : 5, corner, NULL, NULL,
                               mesher_spec_text(spec, "algorithm"), mesh);
  }
  mesher_grid grid = {.dim = 2};
  pcsim_status status = x_lines(&s, sizes, (int)n[0], grading, &grid);
  if (status == PCSIM_OK) status = y_lines(&s, sizes, (int)n[1], &grid);
  if (status == PCSIM_OK) status = mesher_grid_fill(&grid, cells, mesh);
  mesher_grid_free(&grid);
  return status;
}

pcsim_status mesher_shape_step(const mesher_spec *spec, mesher_mesh *mesh) {
  step s;
  mesher_sizes sizes = {0};
  const pcsim_status status = fill_step(spec, &s, &sizes, mesh);
  mesher_sizes_free(&sizes);
  PCSIM_TRY(status);
  PCSIM_TRY(mesher_find_facets(mesh, classify, &s));
  PCSIM_TRY(mesher_apply_distort(spec, mesh));
  return mesher_check_cells(mesh);
}
