/* SPDX-License-Identifier: BSD-2-Clause */
/* Triangles in a channel with a cylinder: boundary points by the local size, layers of our own around the
 * cylinder, the rest filled by Gmsh. */
#include "channel.h"

#include <math.h>

typedef struct {
  const channel *ch;
  double from[2], along[2]; /* a straight side; the circle if `along` is zero */
} side;

static double size_on_side(const void *context, double s) {
  const side *at = context;
  return mesher_size_at(&at->ch->sizes, at->from[0] + at->along[0] * s, at->from[1] + at->along[1] * s, 0);
}

static double size_on_circle(const void *context, double s) {
  const channel *ch = context;
  double p[2];
  channel_circle_point(ch, s / ch->radius, p);
  return mesher_size_at(&ch->sizes, p[0], p[1], 0);
}

static pcsim_status outer_loop(const channel *ch, mesher_mesh *mesh, int32_t **loop, int *size) {
  const double corner[5][2] = {{0, 0}, {ch->length, 0}, {ch->length, ch->height}, {0, ch->height}, {0, 0}};
  *size = 0;
  for (int i = 0; i < 4; i++) {
    double d[2] = {corner[i + 1][0] - corner[i][0], corner[i + 1][1] - corner[i][1]},
           length = hypot(d[0], d[1]), *s;
    const side at = {ch, {corner[i][0], corner[i][1]}, {d[0] / length, d[1] / length}};
    int n;
    PCSIM_TRY(mesher_line(size_on_side, &at, length, 2, 0, &s, &n));
    pcsim_status status = pcsim_realloc((size_t)(*size + n), sizeof **loop, loop);
    for (int k = 0; k < n && status == PCSIM_OK; k++) {
      double t = s[k] / length;
      status =
          mesher_add_node(mesh, corner[i][0] + t * d[0], corner[i][1] + t * d[1], 0, &(*loop)[(*size)++]);
    }
    pcsim_free(&s);
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}

static pcsim_status add_layer(mesher_mesh *mesh, int m, const int32_t *inner, const int32_t *outer,
                              bool split) {
  for (int i = 0; i < m; i++) {
    int j = (i + 1) % m;
    const int32_t quad[4] = {inner[i], outer[i], outer[j], inner[j]};
    if (!split) {
      PCSIM_TRY(mesher_add_cell(mesh, PCSIM_CELL_QUAD, quad));
      continue;
    }
    const int32_t half[2][3] = {{quad[0], quad[1], quad[2]}, {quad[0], quad[2], quad[3]}};
    PCSIM_TRY(mesher_add_cell(mesh, PCSIM_CELL_TRIANGLE, half[0]));
    PCSIM_TRY(mesher_add_cell(mesh, PCSIM_CELL_TRIANGLE, half[1]));
  }
  return PCSIM_OK;
}

/* Rings of nodes from the cylinder outwards; `loop` ends as the outermost ring. */
static pcsim_status body_loop(const channel *ch, bool split, mesher_mesh *mesh, int32_t **loop, int *size) {
  int32_t *inner = NULL;
  double *s = NULL;
  pcsim_status status;
  PCSIM_GOTO(mesher_line(size_on_circle, ch, 2 * acos(-1) * ch->radius, 16, 0, &s, size), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)*size, sizeof *inner, &inner), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)*size, sizeof **loop, loop), status, done);
  for (int k = 0; k <= ch->layers.n; k++) {
    channel ring = *ch;
    if (k > 0) ring.radius += ch->layers.height[k];
    for (int i = 0; i < *size; i++) {
      double p[2];
      channel_circle_point(&ring, s[i] / ch->radius, p);
      inner[i] = (*loop)[i];
      PCSIM_GOTO(mesher_add_node(mesh, p[0], p[1], 0, &(*loop)[i]), status, done);
    }
    if (k > 0) PCSIM_GOTO(add_layer(mesh, *size, inner, *loop, split), status, done);
  }
done:
  pcsim_free(&s);
  pcsim_free(&inner);
  return status;
}

pcsim_status channel_triangles(const channel *ch, const char *algorithm, bool split, mesher_mesh *mesh) {
  int size[2] = {0, 0};
  int32_t *loop[2] = {NULL, NULL};
  pcsim_status status;
  double thickness = ch->layers.n ? ch->layers.height[ch->layers.n] : 0;
  double gap =
      fmin(fmin(ch->centre[0], ch->length - ch->centre[0]), fmin(ch->centre[1], ch->height - ch->centre[1]));
  PCSIM_CHECK(ch->radius + thickness < gap, PCSIM_ERR_CASE,
              "mesh: near.cylinder.layers.thickness is %g, the gap to the nearest wall only %g", thickness,
              gap - ch->radius);
  const double low[3] = {0, 0, 0}, high[3] = {ch->length, ch->height, 0};
  PCSIM_TRY(mesher_check_count(mesher_estimate(&ch->sizes, 2, low, high)));
  PCSIM_GOTO(outer_loop(ch, mesh, &loop[0], &size[0]), status, done);
  PCSIM_GOTO(body_loop(ch, split, mesh, &loop[1], &size[1]), status, done);
  PCSIM_GOTO(mesher_triangulate(mesh, 2, size, loop, &ch->sizes, algorithm), status, done);
done:
  pcsim_free(&loop[0]);
  pcsim_free(&loop[1]);
  return status;
}
