/* SPDX-License-Identifier: BSD-2-Clause */
/* The shapes channel-cylinder and channel-cylinder-3d. */
#include "channel.h"

#include <math.h>
#include <string.h>

void channel_circle_point(const channel *ch, double angle, double point[2]) {
  point[0] = ch->centre[0] + ch->radius * cos(angle);
  point[1] = ch->centre[1] + ch->radius * sin(angle);
}

static pcsim_status read_channel(const mesher_spec *spec, bool solid, channel *ch) {
  double diameter;
  *ch = (channel){0};
  PCSIM_TRY(mesher_spec_positive(spec, "length", &ch->length));
  PCSIM_TRY(mesher_spec_positive(spec, "height", &ch->height));
  PCSIM_TRY(mesher_spec_positive(spec, "diameter", &diameter));
  PCSIM_TRY(mesher_spec_numbers(spec, "centre", 2, ch->centre));
  if (solid) PCSIM_TRY(mesher_spec_positive(spec, "width", &ch->width));
  ch->radius = diameter / 2;
  double gap =
      fmin(fmin(ch->centre[0], ch->length - ch->centre[0]), fmin(ch->centre[1], ch->height - ch->centre[1]));
  PCSIM_CHECK(gap > 1.001 * ch->radius, PCSIM_ERR_CASE,
              "mesh: the cylinder (centre %g, %g, diameter %g) is not inside the channel of %g x %g",
              ch->centre[0], ch->centre[1], diameter, ch->length, ch->height);
  double l = ch->length, h = ch->height, w = ch->width;
  const mesher_piece pieces[] = {{"inlet", 0, {0, 0, 0}, {0, h, w}},
                                 {"outlet", 0, {l, 0, 0}, {l, h, w}},
                                 {"walls", 0, {0, 0, 0}, {l, 0, w}},
                                 {"walls", 0, {0, h, 0}, {l, h, w}},
                                 {"cylinder", 2, {ch->centre[0], ch->centre[1], 0}, {ch->radius, 0, 0}},
                                 {"walls", 0, {0, 0, 0}, {l, h, 0}},
                                 {"walls", 0, {0, 0, w}, {l, h, w}}};
  PCSIM_TRY(mesher_sizes_read(spec, solid ? 3 : 2, solid ? 7 : 5, pieces, &ch->sizes));
  return mesher_layers_read(spec, "cylinder", &ch->layers);
}

static bool all_at(int n, const double corner[][3], int axis, double value, double tolerance) {
  for (int i = 0; i < n; i++)
    if (!(fabs(corner[i][axis] - value) <= tolerance)) return false;
  return true;
}

static const char *classify(const void *context, int n, const double corner[][3]) {
  const channel *ch = context;
  double tolerance = 1e-7 * ch->radius;
  bool round = true;
  for (int i = 0; i < n; i++)
    round &= fabs(hypot(corner[i][0] - ch->centre[0], corner[i][1] - ch->centre[1]) - ch->radius) < tolerance;
  if (round && ch->width > 0) /* a small facet of an end wall can have all its corners on the circle */
    round = !all_at(n, corner, 2, 0, tolerance) && !all_at(n, corner, 2, ch->width, tolerance);
  if (round) return "cylinder";
  if (all_at(n, corner, 0, 0, tolerance)) return "inlet";
  if (all_at(n, corner, 0, ch->length, tolerance)) return "outlet";
  if (all_at(n, corner, 1, 0, tolerance) || all_at(n, corner, 1, ch->height, tolerance)) return "walls";
  if (ch->width > 0 && (all_at(n, corner, 2, 0, tolerance) || all_at(n, corner, 2, ch->width, tolerance)))
    return "walls";
  return NULL;
}

static pcsim_status plane_mesh(const mesher_spec *spec, const channel *ch, bool quads, bool split,
                               mesher_mesh *mesh) {
  mesh->dim = 2;
  PCSIM_TRY(quads ? channel_quads(ch, mesh)
                  : channel_triangles(ch, mesher_spec_text(spec, "algorithm"), split, mesh));
  PCSIM_TRY(mesher_check_cells(mesh));
  return mesher_find_facets(mesh, classify, ch);
}

pcsim_status mesher_shape_channel(const mesher_spec *spec, mesher_mesh *mesh) {
  const char *cells = mesher_spec_text(spec, "cells");
  channel ch = {0};
  pcsim_status status;
  PCSIM_GOTO(read_channel(spec, false, &ch), status, done);
  bool quads = cells && !strcmp(cells, "quads"), mixed = cells && !strcmp(cells, "mixed");
  PCSIM_GOTO(plane_mesh(spec, &ch, quads, !mixed, mesh), status, done);
done:
  mesher_sizes_free(&ch.sizes);
  pcsim_free(&ch.layers.height);
  return status;
}

/* ----------------------------------------------------------------- in space */

/* The plane mesh alone can be large: what it is swept to is estimated before it is made, from below. */
static pcsim_status check_sweep(const channel *flat, bool quads, double n) {
  const double low[3] = {0, 0, 0}, high[3] = {flat->length, flat->height, 0};
  PCSIM_TRY(mesher_check_line(n));
  return mesher_check_count(n * mesher_estimate(&flat->sizes, 2, low, high) / (quads ? 4 : 2));
}

static pcsim_status sweep(const mesher_spec *spec, const channel *ch, bool quads, mesher_mesh *mesh) {
  mesher_mesh plane = {0};
  double *z = NULL, n = 0, grading;
  channel flat = *ch;
  pcsim_status status;
  flat.width = 0;
  PCSIM_TRY(mesher_sizes_on_lines(&ch->sizes));
  for (int i = 0; i < flat.sizes.num_sources;
       i++) { /* the end walls are graded by `grading`, not by distance */
    mesher_source *s = &flat.sizes.source[i];
    int kept = 0;
    for (int k = 0; k < s->num_pieces; k++)
      if (s->piece[k].round || s->piece[k].a[0] == s->piece[k].b[0] || s->piece[k].a[1] == s->piece[k].b[1])
        s->piece[kept++] = s->piece[k];
    s->num_pieces = kept;
  }
  PCSIM_GOTO(mesher_spec_positive(spec, "grading", &grading), status, done);
  if (mesher_spec_text(spec, "nz")) PCSIM_GOTO(mesher_spec_positive(spec, "nz", &n), status, done);
  else n = ceil(ch->width / ch->sizes.far - 1e-6);
  PCSIM_GOTO(check_sweep(&flat, quads, n), status, done);
  PCSIM_GOTO(plane_mesh(spec, &flat, quads, true, &plane), status, done);
  PCSIM_GOTO(mesher_line_symmetric(0, ch->width, (int)n, grading, &z), status, done);
  PCSIM_GOTO(mesher_extrude(&plane, (int)n, z, "walls", "walls", mesh), status, done);
  PCSIM_GOTO(mesher_check_cells(mesh), status, done);
done:
  pcsim_free(&z);
  mesher_mesh_free(&plane);
  return status;
}

static pcsim_status tetrahedra(const mesher_spec *spec, const channel *ch, mesher_mesh *mesh) {
  const mesher_solid solid = {.high = {ch->length, ch->height, ch->width},
                              .centre = {ch->centre[0], ch->centre[1]},
                              .radius = ch->radius};
  mesh->dim = 3;
  PCSIM_TRY(mesher_check_count(mesher_estimate(&ch->sizes, 3, solid.low, solid.high)));
  PCSIM_TRY(mesher_tetrahedralise(mesh, &solid, &ch->sizes, mesher_spec_text(spec, "algorithm")));
  PCSIM_TRY(mesher_check_cells(mesh));
  return mesher_find_facets(mesh, classify, ch);
}

pcsim_status mesher_shape_channel_3d(const mesher_spec *spec, mesher_mesh *mesh) {
  const char *cells = mesher_spec_text(spec, "cells");
  channel ch = {0};
  pcsim_status status;
  PCSIM_GOTO(read_channel(spec, true, &ch), status, done);
  if (cells && !strcmp(cells, "tetrahedra")) PCSIM_GOTO(tetrahedra(spec, &ch, mesh), status, done);
  else PCSIM_GOTO(sweep(spec, &ch, !cells || !strcmp(cells, "hexahedra"), mesh), status, done);
done:
  mesher_sizes_free(&ch.sizes);
  pcsim_free(&ch.layers.height);
  return status;
}
