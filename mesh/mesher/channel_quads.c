/* SPDX-License-Identifier: BSD-2-Clause */
/* Quads in a channel with a cylinder. The O-grid joins the circle to a rectangle as high as the channel:
 * its rays start at right angles to the circle and its first rings are circles; the difference between the
 * distances to the rectangle comes in with the square of the distance. */
#include "channel.h"

#include <math.h>

typedef struct {
  const channel *ch;
  double x1, x2; /* the rectangle of the O-grid in x */
  int nx, ny, m; /* cells along its horizontal and vertical sides; around */
  int nr;        /* rings of cells */
  double *x, *y; /* points along the sides, [nx + 1], [ny + 1] */
  double *rho;   /* [nr + 1] distances from the circle on the shortest ray */
  double d_min, d_mean;
  int32_t *node; /* [nr + 1][m] */

} ogrid;

static double size_bottom(const void *context, double s) {
  const ogrid *g = context;
  return fmin(mesher_size_at(&g->ch->sizes, g->x1 + s, 0, 0),
              mesher_size_at(&g->ch->sizes, g->x1 + s, g->ch->height, 0));
}

static double size_upright(const void *context, double s) {
  const ogrid *g = context;
  return fmin(mesher_size_at(&g->ch->sizes, g->x1, s, 0), mesher_size_at(&g->ch->sizes, g->x2, s, 0));
}

/* Distance from the circle on a mean ray for base distance rho, and its slope. */
static double mean_distance(const ogrid *g, double rho, double *slope) {
  double t = rho / g->d_min;
  *slope = 1 + 2 * t * (g->d_mean - g->d_min) / g->d_min;
  return rho + t * t * (g->d_mean - g->d_min);
}

static double size_radial(const void *context, double s) {
  const ogrid *g = context;
  const mesher_layers *l = &g->ch->layers;
  double thickness = l->n ? l->height[l->n] : 0, rho = thickness + s, slope,
         d = mean_distance(g, rho, &slope);
  /* the size at that distance from the cylinder: taken downstream, where no wall is near */
  double h = mesher_size_at(&g->ch->sizes, g->ch->centre[0] + g->ch->radius + d, g->ch->centre[1], 0) / slope;
  if (l->n == 0) return h;
  double last = l->height[l->n] - l->height[l->n - 1];
  double ratio = l->n > 1 ? last / (l->height[l->n - 1] - l->height[l->n - 2]) : 1.2;
  return fmin(h, last * ratio + fmax(ratio - 1, 0.05) * s);
}

/* Angle of the ray to point k of the perimeter, counter-clockwise from the lower right corner, and its end.
 */
static void perimeter_point(const ogrid *g, int k, double p[2]) {
  int nx = g->nx, ny = g->ny;
  if (k < ny) p[0] = g->x2, p[1] = g->y[k];
  else if (k < ny + nx) p[0] = g->x[nx - (k - ny)], p[1] = g->ch->height;
  else if (k < 2 * ny + nx) p[0] = g->x1, p[1] = g->y[ny - (k - ny - nx)];
  else p[0] = g->x[k - 2 * ny - nx], p[1] = 0;
}

/* Corner angles from the lower right corner on, rising; [4] is [0] + 2 pi. */
static void corner_angles(const ogrid *g, double angle[5]) {
  const double *c = g->ch->centre;
  angle[0] = atan2(-c[1], g->x2 - c[0]);
  angle[1] = atan2(g->ch->height - c[1], g->x2 - c[0]);
  angle[2] = atan2(g->ch->height - c[1], g->x1 - c[0]);
  angle[3] = atan2(-c[1], g->x1 - c[0]) + 2 * acos(-1);
  angle[4] = angle[0] + 2 * acos(-1);
}

static pcsim_status choose_counts(ogrid *g) {
  const channel *ch = g->ch;
  double reach = fmax(ch->centre[1], ch->height - ch->centre[1]), angle[5];
  g->x1 = ch->centre[0] - reach > 0.25 * reach ? ch->centre[0] - reach : 0;
  g->x2 = ch->length - ch->centre[0] - reach > 0.25 * reach ? ch->centre[0] + reach : ch->length;
  corner_angles(g, angle);
  double at_body = mesher_size_at(&ch->sizes, ch->centre[0] + ch->radius, ch->centre[1], 0);
  double arc_y = ch->radius * fmax(angle[1] - angle[0], angle[3] - angle[2]);
  double arc_x = ch->radius * fmax(angle[2] - angle[1], angle[4] - angle[3]);
  PCSIM_TRY(mesher_check_line(fmax(arc_x, arc_y) / at_body));
  int nx = (int)ceil(arc_x / at_body - 1e-6), ny = (int)ceil(arc_y / at_body - 1e-6), n;
  PCSIM_TRY(mesher_line(size_bottom, g, g->x2 - g->x1, nx > 4 ? nx : 4, 0, &g->x, &g->nx));
  for (int i = 0; i <= g->nx; i++) g->x[i] += g->x1;
  PCSIM_TRY(mesher_line(size_upright, g, ch->height, ny > 4 ? ny : 4, 0, &g->y, &g->ny));
  g->m = 2 * (g->nx + g->ny);
  g->d_min = INFINITY;
  g->d_mean = 0;
  for (int k = 0; k < g->m; k++) {
    double p[2], d;
    perimeter_point(g, k, p);
    d = hypot(p[0] - ch->centre[0], p[1] - ch->centre[1]) - ch->radius;
    g->d_min = fmin(g->d_min, d);
    g->d_mean += d / g->m;
  }
  double thickness = ch->layers.n ? ch->layers.height[ch->layers.n] : 0, *rest;
  PCSIM_CHECK(thickness < 0.9 * g->d_min, PCSIM_ERR_CASE,
              "mesh: near.cylinder.layers.thickness is %g, the gap to the nearest wall only %g", thickness,
              g->d_min);
  PCSIM_TRY(mesher_line(size_radial, g, g->d_min - thickness, 2, 0, &rest, &n));
  g->nr = ch->layers.n + n;
  pcsim_status status = pcsim_alloc((size_t)g->nr + 1, sizeof *g->rho, &g->rho);
  if (status == PCSIM_OK) {
    for (int j = 0; j < ch->layers.n; j++) g->rho[j] = ch->layers.height[j];
    for (int j = 0; j <= n; j++) g->rho[ch->layers.n + j] = thickness + rest[j];
  }
  pcsim_free(&rest);
  PCSIM_TRY(status);
  /* and the columns of cells beside the rings, which are no longer than the size */
  return mesher_check_count((double)g->m * g->nr + g->ny * (ch->length - (g->x2 - g->x1)) / ch->sizes.far);
}

/* Equal steps on the circle within each quarter, the corners' directions between them. */
static double circle_angle(const ogrid *g, int k) {
  const int count[4] = {g->ny, g->nx, g->ny, g->nx};
  double angle[5];
  int q = 0;
  corner_angles(g, angle);
  for (; k >= count[q]; q++) k -= count[q];
  return angle[q] + (angle[q + 1] - angle[q]) * k / count[q];
}

static pcsim_status ring_nodes(ogrid *g, mesher_mesh *mesh) {
  const channel *ch = g->ch;
  PCSIM_TRY(pcsim_alloc((size_t)(g->nr + 1) * (size_t)g->m, sizeof *g->node, &g->node));
  for (int j = 0; j <= g->nr; j++)
    for (int k = 0; k < g->m; k++) {
      double end[2], p[2], t = g->rho[j] / g->d_min, inner = circle_angle(g, k);
      perimeter_point(g, k, end);
      double outer = atan2(end[1] - ch->centre[1], end[0] - ch->centre[0]);
      outer += 2 * acos(-1) * round((inner - outer) / (2 * acos(-1)));
      double d = hypot(end[0] - ch->centre[0], end[1] - ch->centre[1]) - ch->radius;
      channel ring = {.centre = {ch->centre[0], ch->centre[1]},
                      .radius = ch->radius + g->rho[j] + t * t * (d - g->d_min)};
      channel_circle_point(&ring, inner + t * t * (3 - 2 * t) * (outer - inner), p);
      if (j == g->nr) p[0] = end[0], p[1] = end[1];
      PCSIM_TRY(mesher_add_node(mesh, p[0], p[1], 0, &g->node[(size_t)j * (size_t)g->m + (size_t)k]));
    }
  for (int j = 0; j < g->nr; j++)
    for (int k = 0; k < g->m; k++) {
      const int32_t *in = g->node + (size_t)j * (size_t)g->m, *out = in + g->m;
      int next = (k + 1) % g->m;
      PCSIM_TRY(
          mesher_add_cell(mesh, PCSIM_CELL_QUAD, (const int32_t[4]){in[k], out[k], out[next], in[next]}));
    }
  return PCSIM_OK;
}

typedef struct {
  const ogrid *g;
  double start, growth;
  int direction;
} run_off;

/* Behind (or before) the O-grid the cells go on as long as the last ring and grow up to the local size. */
static double size_run_off(const void *context, double s) {
  const run_off *r = context;
  double x = r->direction > 0 ? r->g->x2 + s : r->g->x1 - s;
  return fmin(r->start + r->growth * s, mesher_size_at(&r->g->ch->sizes, x, r->g->ch->centre[1], 0));
}

/* Columns of nodes away from the side of the O-grid at x1 (direction -1) or x2. */
static pcsim_status rectangle(ogrid *g, int direction, mesher_mesh *mesh) {
  double from = direction > 0 ? g->x2 : g->x1, length = direction > 0 ? g->ch->length - g->x2 : g->x1,
         *s = NULL;
  int32_t *column[2] = {NULL, NULL};
  int n;
  pcsim_status status;
  if (length <= 0) return PCSIM_OK;
  const int32_t *last = g->node + (size_t)g->nr * (size_t)g->m;
  int middle = direction > 0 ? g->ny / 2 : g->ny + g->nx + g->ny / 2;
  const double *a = mesh->nodes + 3 * (int64_t)last[middle],
               *b = mesh->nodes + 3 * (int64_t)last[middle - g->m];
  run_off r = {g, fabs(a[0] - b[0]), 0.1, direction};
  PCSIM_GOTO(mesher_line(size_run_off, &r, length, 2, 0, &s, &n), status, done);
  PCSIM_GOTO(mesher_check_count((double)n * g->ny + (double)mesh->num_cells), status, done);
  for (int i = 0; i < 2; i++)
    PCSIM_GOTO(pcsim_alloc((size_t)g->ny + 1, sizeof *column[i], &column[i]), status, done);
  for (int j = 0; j <= g->ny; j++)
    column[0][j] = last[(direction > 0 ? j : g->ny + g->nx + g->ny - j) % g->m];
  for (int i = 1; i <= n; i++) {
    double x = i < n ? from + direction * s[i] : direction > 0 ? g->ch->length : 0;
    for (int j = 0; j <= g->ny; j++)
      PCSIM_GOTO(mesher_add_node(mesh, x, g->y[j], 0, &column[1][j]), status, done);
    const int32_t *left = column[direction > 0 ? 0 : 1], *right = column[direction > 0 ? 1 : 0];
    for (int j = 0; j < g->ny; j++)
      PCSIM_GOTO(mesher_add_cell(mesh, PCSIM_CELL_QUAD,
                                 (const int32_t[4]){left[j], right[j], right[j + 1], left[j + 1]}),
                 status, done);
    int32_t *swap = column[0];
    column[0] = column[1];
    column[1] = swap;
  }
done:
  pcsim_free(&s);
  pcsim_free(&column[0]);
  pcsim_free(&column[1]);
  return status;
}

pcsim_status channel_quads(const channel *ch, mesher_mesh *mesh) {
  ogrid g = {.ch = ch};
  pcsim_status status;
  PCSIM_TRY(mesher_sizes_on_lines(&ch->sizes));
  PCSIM_GOTO(choose_counts(&g), status, done);
  PCSIM_GOTO(ring_nodes(&g, mesh), status, done);
  PCSIM_GOTO(rectangle(&g, -1, mesh), status, done);
  PCSIM_GOTO(rectangle(&g, 1, mesh), status, done);
done:
  pcsim_free(&g.x);
  pcsim_free(&g.y);
  pcsim_free(&g.rho);
  pcsim_free(&g.node);
  return status;
}
