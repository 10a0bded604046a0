/* SPDX-License-Identifier: BSD-2-Clause */
/* What two cells have in common: a convex piece of one is cut by the half-spaces of a convex piece of the
 * other (Sutherland and Hodgman, Commun. ACM 17, 1974; each cut of a polyhedron is closed by a new face). */
#include "overlap.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void cross(const double a[3], const double b[3], double c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}
static void subtract(const double a[3], const double b[3], double c[3]) {
  for (int d = 0; d < 3; d++) c[d] = a[d] - b[d];
}

/* --------------------------------------------------------------- pieces */

static void middle_of(const double *const *p, int n, double middle[3]) {
  for (int d = 0; d < 3; d++) {
    middle[d] = 0;
    for (int i = 0; i < n; i++) middle[d] += p[i][d] / n;
  }
}

static void add_face(overlap_piece *piece, const double *const *p, int n) {
  piece->size[piece->num_faces] = n;
  for (int i = 0; i < n; i++) memcpy(piece->corner[piece->num_faces][i], p[i], 3 * sizeof(double));
  piece->num_faces++;
}

/* The half-space behind the plane through a face, on the side of `inside`. */
static void add_bound(overlap_bounds *b, const double *const *p, int n, const double inside[3]) {
  double u[3], v[3], normal[3], middle[3], to[3];
  subtract(p[n == 4 ? 2 : 1], p[0], u);
  subtract(p[n == 4 ? 3 : 2], p[n == 4 ? 1 : 0], v);
  cross(u, v, normal);
  const double length = sqrt(dot(normal, normal));
  if (!(length > 0)) return;
  middle_of(p, n, middle);
  subtract(middle, inside, to);
  const double sign = dot(normal, to) < 0 ? -1 / length : 1 / length;
  for (int d = 0; d < 3; d++) b->normal[b->num][d] = sign * normal[d];
  b->offset[b->num] = dot(b->normal[b->num], middle);
  b->num++;
}

/* The same of an edge in the plane. */
static void add_edge(overlap_bounds *b, const double *p, const double *q, const double inside[3]) {
  const double n[3] = {q[1] - p[1], p[0] - q[0], 0}, length = sqrt(dot(n, n));
  double to[3];
  if (!(length > 0)) return;
  subtract(p, inside, to);
  const double sign = dot(n, to) < 0 ? -1 / length : 1 / length;
  for (int d = 0; d < 3; d++) b->normal[b->num][d] = sign * n[d];
  b->offset[b->num] = dot(b->normal[b->num], p);
  b->num++;
}

static void add_polygon(overlap_cell *out, const double *const *p, int n) {
  overlap_piece *piece = &out->piece[out->num];
  overlap_bounds *bounds = &out->bounds[out->num];
  double middle[3];
  piece->num_faces = bounds->num = 0;
  add_face(piece, p, n);
  middle_of(p, n, middle);
  for (int i = 0; i < n; i++) add_edge(bounds, p[i], p[(i + 1) % n], middle);
  out->num++;
}

static void add_tetra(overlap_cell *out, const double *a, const double *b, const double *c, const double *d) {
  overlap_piece *piece = &out->piece[out->num];
  overlap_bounds *bounds = &out->bounds[out->num];
  const double *const face[4][3] = {{a, b, c}, {a, b, d}, {b, c, d}, {c, a, d}};
  const double *const all[4] = {a, b, c, d};
  double middle[3];
  piece->num_faces = bounds->num = 0;
  middle_of(all, 4, middle);
  for (int f = 0; f < 4; f++) {
    add_face(piece, face[f], 3);
    add_bound(bounds, face[f], 3, middle);
  }
  out->num++;
}

/* No corner lies outside of the plane of any face by more than round-off: plane faces, and convex. */
static bool is_convex(const overlap_bounds *bounds, const double *nodes, const int32_t *cell, int num_nodes,
                      double size) {
  for (int b = 0; b < bounds->num; b++)
    for (int i = 0; i < num_nodes; i++)
      if (dot(bounds->normal[b], nodes + 3 * (int64_t)cell[i]) - bounds->offset[b] > 1e-11 * size)
        return false;
  return true;
}

static double size_of(const double *nodes, const int32_t *cell, int num_nodes, const double middle[3]) {
  double size = 0;
  for (int i = 0; i < num_nodes; i++)
    for (int d = 0; d < 3; d++) size = fmax(size, fabs(nodes[3 * (int64_t)cell[i] + d] - middle[d]));
  return size;
}

static void cut_up(const double *nodes, pcsim_cell_type type, const int32_t *cell, overlap_cell *out) {
  const pcsim_cell_shape *shape = &pcsim_cell_shapes[type];
  const double *all[8], *p[4];
  double middle[3];
  for (int i = 0; i < shape->num_nodes; i++) all[i] = nodes + 3 * (int64_t)cell[i];
  middle_of(all, shape->num_nodes, middle);
  const double size = size_of(nodes, cell, shape->num_nodes, middle);
  out->num = 0;
  if (shape->dim == 2) add_polygon(out, all, shape->num_nodes);
  else {
    out->piece[0].num_faces = out->bounds[0].num = 0;
    for (int f = 0; f < shape->num_faces; f++) {
      for (int i = 0; i < shape->face_size[f]; i++) p[i] = all[shape->face[f][i]];
      add_face(&out->piece[0], p, shape->face_size[f]);
      add_bound(&out->bounds[0], p, shape->face_size[f], middle);
    }
    out->num = 1;
  }
  if (is_convex(&out->bounds[0], nodes, cell, shape->num_nodes, size)) return;
  out->num = 0;
  for (int f = 0; f < shape->num_faces; f++) {
    double centre[3];
    const int n = shape->face_size[f];
    for (int i = 0; i < n; i++) p[i] = all[shape->face[f][i]];
    middle_of(p, n, centre);
    if (n == 2) add_polygon(out, (const double *const[]){p[0], p[1], middle}, 3);
    else if (n == 3) add_tetra(out, p[0], p[1], p[2], middle);
    else
      for (int i = 0; i < 4; i++) add_tetra(out, p[i], p[(i + 1) % 4], centre, middle);
  }
}

static void find_boxes(overlap_cell *c) {
  for (int i = 0; i < c->num; i++)
    for (int d = 0; d < 3; d++) {
      const overlap_piece *p = &c->piece[i];
      double low = p->corner[0][0][d], high = low;
      for (int f = 0; f < p->num_faces; f++)
        for (int k = 0; k < p->size[f]; k++) {
          low = fmin(low, p->corner[f][k][d]);
          high = fmax(high, p->corner[f][k][d]);
        }
      c->low[i][d] = low;
      c->high[i][d] = high;
    }
}

void overlap_cell_make(const double *nodes, pcsim_cell_type type, const int32_t *cell, overlap_cell *out) {
  cut_up(nodes, type, cell, out);
  find_boxes(out);
}

/* --------------------------------------------------------------- cutting */

/* Room for what is left of a piece. It has up to OVERLAP_FACES faces and is cut by a plane for each face of
 * the other. A cut adds one face, and one corner at most to each other face: a plane meets the rim of a
 * convex polygon twice. The new face gets those two corners of each other face, each of its corners from both
 * faces that meet there. The last cut's face has the most, twice the number of faces before; the rest is for
 * round-off, by which a plane close to an edge can meet the rim more often. */
enum { FACES = 2 * OVERLAP_FACES, MOST = 2 * (FACES - 1), CORNERS = MOST + 10 };
_Static_assert(OVERLAP_CORNERS + OVERLAP_FACES <= MOST, "the faces of the piece itself have fewer corners");

typedef struct {
  int num_faces;
  int size[FACES];
  double corner[FACES][CORNERS][3];
} remainder_piece;

/* Corners on the new face of a cut, in any order. */
typedef struct {
  int num;
  double corner[CORNERS][3];
} rim;

static bool add_corner(double (*corner)[3], int *num, const double x[3]) {
  if (*num == CORNERS) return false;
  memcpy(corner[(*num)++], x, sizeof *corner);
  return true;
}

/* The part of a polygon behind a plane; where it crosses the plane, to the rim. -1: no room. */
static int cut_polygon(double (*corner)[3], int n, const double normal[3], double offset, rim *r) {
  double kept[CORNERS][3];
  int num = 0;
  for (int i = 0; i < n; i++) {
    const double *a = corner[i], *b = corner[(i + 1) % n];
    const double da = dot(normal, a) - offset, db = dot(normal, b) - offset;
    if (da <= 0 && !add_corner(kept, &num, a)) return -1;
    if ((da <= 0) == (db <= 0)) continue;
    const double t = da / (da - db);
    double x[3];
    for (int d = 0; d < 3; d++) x[d] = a[d] + t * (b[d] - a[d]);
    if (!add_corner(kept, &num, x)) return -1;
    if (r && !add_corner(r->corner, &r->num, x)) return -1;
  }
  memcpy(corner, kept, (size_t)num * sizeof kept[0]);
  return num;
}

/* The rim's corners around their middle: the face that closes the cut. */
static void close_cut(remainder_piece *piece, rim *r, const double normal[3]) {
  double middle[3] = {0}, u[3] = {0}, v[3], angle[CORNERS];
  if (r->num < 3) return;
  for (int i = 0; i < r->num; i++)
    for (int d = 0; d < 3; d++) middle[d] += r->corner[i][d] / r->num;
  for (int i = 0; i < r->num; i++) {
    double w[3];
    subtract(r->corner[i], middle, w);
    if (dot(w, w) > dot(u, u)) memcpy(u, w, sizeof u);
  }
  cross(normal, u, v);
  for (int i = 0; i < r->num; i++) {
    double w[3];
    subtract(r->corner[i], middle, w);
    const double a = atan2(dot(w, v), dot(w, u));
    double x[3];
    memcpy(x, r->corner[i], sizeof x);
    int k = i;
    for (; k > 0 && angle[k - 1] > a; k--) {
      angle[k] = angle[k - 1];
      memcpy(r->corner[k], r->corner[k - 1], sizeof x);
    }
    angle[k] = a;
    memcpy(r->corner[k], x, sizeof x);
  }
  memcpy(piece->corner[piece->num_faces], r->corner, (size_t)r->num * sizeof r->corner[0]);
  piece->size[piece->num_faces++] = r->num;
}

/* Faces with less than three corners left go. False: no room. */
static bool cut(int dim, remainder_piece *piece, const double normal[3], double offset) {
  rim r = {0};
  int left = 0;
  for (int f = 0; f < piece->num_faces; f++) {
    const int n = cut_polygon(piece->corner[f], piece->size[f], normal, offset, dim == 3 ? &r : NULL);
    if (n < 0) return false;
    if (n < 3) continue;
    if (left != f) memcpy(piece->corner[left], piece->corner[f], (size_t)n * sizeof piece->corner[f][0]);
    piece->size[left++] = n;
  }
  piece->num_faces = left;
  if (dim == 3 && left > 0) close_cut(piece, &r, normal);
  return true;
}

/* Triangles of the faces, in space with a corner of the piece as tip; a convex piece has all on one side. */
static void measure(int dim, const remainder_piece *piece, double *volume, double moment[3]) {
  const double *tip = piece->corner[0][0];
  for (int f = 0; f < piece->num_faces; f++)
    for (int i = 1; i + 1 < piece->size[f]; i++) {
      const double *a = piece->corner[f][0], *b = piece->corner[f][i], *c = piece->corner[f][i + 1];
      double u[3], v[3], w[3], n[3];
      subtract(b, a, u);
      subtract(c, a, v);
      cross(u, v, n);
      subtract(a, tip, w);
      const double part = dim == 2 ? 0.5 * fabs(n[2]) : fabs(dot(n, w)) / 6;
      *volume += part;
      for (int d = 0; d < 3; d++)
        moment[d] += part * (dim == 2 ? (a[d] + b[d] + c[d]) / 3 : 0.25 * (a[d] + b[d] + c[d] + tip[d]));
    }
}

/* True where no corner of the piece is behind the plane. */
static bool is_beyond(const overlap_piece *piece, const double normal[3], double offset) {
  for (int f = 0; f < piece->num_faces; f++)
    for (int i = 0; i < piece->size[f]; i++)
      if (dot(normal, piece->corner[f][i]) < offset) return false;
  return true;
}

bool overlap_cells(int dim, const overlap_cell *a, const overlap_cell *b, double *volume, double moment[3]) {
  for (int i = 0; i < a->num; i++)
    for (int j = 0; j < b->num; j++) {
      const overlap_bounds *bounds = &b->bounds[j];
      bool apart = false;
      for (int d = 0; d < dim; d++)
        apart = apart || a->low[i][d] > b->high[j][d] || b->low[j][d] > a->high[i][d];
      for (int k = 0; k < bounds->num && !apart; k++)
        apart = is_beyond(&a->piece[i], bounds->normal[k], bounds->offset[k]);
      if (apart) continue;
      remainder_piece rest;
      rest.num_faces = a->piece[i].num_faces;
      for (int f = 0; f < rest.num_faces; f++) {
        rest.size[f] = a->piece[i].size[f];
        memcpy(rest.corner[f], a->piece[i].corner[f], (size_t)rest.size[f] * sizeof rest.corner[f][0]);
      }
      for (int k = 0; k < bounds->num && rest.num_faces > 0; k++)
        if (!cut(dim, &rest, bounds->normal[k], bounds->offset[k])) return false;
      if (rest.num_faces > 0) measure(dim, &rest, volume, moment);
    }
  return true;
}
