/* SPDX-License-Identifier: BSD-2-Clause */
/* Which cell holds a point. Cells are tested as the tetrahedra (2D: triangles) between their centre and the
 * triangles of their faces: the same triangles for both cells of a face, so no point falls between cells. */
#include "fv.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

void pcsim_mesh_buckets_free(pcsim_mesh_buckets *buckets) {
  pcsim_free(&buckets->start);
  pcsim_free(&buckets->cell);
}

static void cell_box(const pcsim_mesh_view *v, int64_t c, double low[3], double high[3]) {
  for (int d = 0; d < 3; d++) {
    low[d] = DBL_MAX;
    high[d] = -DBL_MAX;
  }
  for (int64_t i = v->cell_node_start[c]; i < v->cell_node_start[c + 1]; i++)
    for (int d = 0; d < 3; d++) {
      double x = v->node[3 * (int64_t)v->cell_node[i] + d];
      if (x < low[d]) low[d] = x;
      if (x > high[d]) high[d] = x;
    }
}

/* Bucket along axis d, kept inside the grid. */
static int32_t bucket_of(const pcsim_mesh_buckets *b, int d, double x) {
  double place = (x - b->low[d]) / b->width[d];
  if (!(place > 0)) return 0;
  return place >= b->count[d] ? b->count[d] - 1 : (int32_t)place;
}
static int64_t bucket_place(const pcsim_mesh_buckets *b, int32_t i, int32_t j, int32_t k) {
  return i + (int64_t)b->count[0] * (j + (int64_t)b->count[1] * k);
}

/* About two cells a bucket were they evenly spread. */
static void choose_grid(const pcsim_mesh_view *v, pcsim_mesh_buckets *b) {
  double high[3], side[3], volume = 1;
  for (int d = 0; d < 3; d++) {
    b->low[d] = DBL_MAX;
    high[d] = -DBL_MAX;
    for (int64_t i = 0; i < v->num_nodes; i++) {
      b->low[d] = fmin(b->low[d], v->node[3 * i + d]);
      high[d] = fmax(high[d], v->node[3 * i + d]);
    }
    side[d] = v->num_nodes > 0 ? high[d] - b->low[d] : 0;
    if (d < v->dim) volume *= side[d];
  }
  double size = pow(2 * volume / (double)(v->num_cells + 1), 1.0 / v->dim);
  for (int d = 0; d < 3; d++) {
    double n = size > 0 && d < v->dim ? floor(side[d] / size) : 1;
    b->count[d] = n < 1 ? 1 : n > 4096 ? 4096 : (int32_t)n;
    b->width[d] = side[d] > 0 ? side[d] / b->count[d] : 1;
  }
}

/* A pass that counts and a pass that lists. */
static void buckets_pass(const pcsim_mesh_view *v, pcsim_mesh_buckets *b, bool fill) {
  for (int64_t c = 0; c < v->num_cells; c++) {
    double low[3], high[3];
    int32_t from[3], to[3];
    cell_box(v, c, low, high);
    for (int d = 0; d < 3; d++) { /* wider by round-off: a point on a border may fall to either side */
      double slack = 1e-9 * (high[d] - low[d]);
      from[d] = bucket_of(b, d, low[d] - slack);
      to[d] = bucket_of(b, d, high[d] + slack);
    }
    for (int32_t k = from[2]; k <= to[2]; k++)
      for (int32_t j = from[1]; j <= to[1]; j++)
        for (int32_t i = from[0]; i <= to[0]; i++) {
          int64_t place = bucket_place(b, i, j, k);
          if (fill) b->cell[b->start[place]++] = (int32_t)c;
          else b->start[place + 1]++;
        }
  }
}

static pcsim_status buckets_fill(const pcsim_mesh_view *v, pcsim_mesh_buckets *b) {
  choose_grid(v, b);
  int64_t n = (int64_t)b->count[0] * b->count[1] * b->count[2];
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, sizeof *b->start, &b->start));
  buckets_pass(v, b, false);
  for (int64_t i = 0; i < n; i++) b->start[i + 1] += b->start[i];
  PCSIM_TRY(pcsim_alloc((size_t)b->start[n], sizeof *b->cell, &b->cell));
  buckets_pass(v, b, true);
  for (int64_t i = n; i > 0; i--) b->start[i] = b->start[i - 1];
  b->start[0] = 0;
  return PCSIM_OK;
}

/* Collective: all ranks have buckets, or none. */
static pcsim_status buckets_make(const pcsim_mesh *mesh) {
  pcsim_mesh_buckets *b = NULL;
  pcsim_status status = pcsim_alloc(1, sizeof *b, &b);
  if (status == PCSIM_OK) status = buckets_fill(&mesh->view, b);
  status = pcsim_status_agree(mesh->comm, status);
  if (status != PCSIM_OK) {
    if (b) pcsim_mesh_buckets_free(b);
    pcsim_free(&b);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  *mesh->buckets = b;
  return PCSIM_OK;
}

/* ----------------------------------------------------------- point in cell */

static double tetra_volume(const double *a, const double *b, const double *c, const double *d) {
  double u[3], v[3], w[3];
  for (int i = 0; i < 3; i++) {
    u[i] = b[i] - a[i];
    v[i] = c[i] - a[i];
    w[i] = d[i] - a[i];
  }
  return u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
         u[2] * (v[0] * w[1] - v[1] * w[0]);
}
static double triangle_area(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Lowest barycentric coordinate of p: not below zero inside. A flat simplex holds nothing. */
static double inside_tetra(const double *p, const double *centre, const double *a, const double *b,
                           const double *c) {
  double all = tetra_volume(centre, a, b, c);
  if (all == 0) return -DBL_MAX;
  double low = fmin(tetra_volume(p, a, b, c) / all, tetra_volume(centre, p, b, c) / all);
  return fmin(low, fmin(tetra_volume(centre, a, p, c) / all, tetra_volume(centre, a, b, p) / all));
}
static double inside_triangle(const double *p, const double *centre, const double *a, const double *b) {
  double all = triangle_area(centre, a, b);
  if (all == 0) return -DBL_MAX;
  return fmin(triangle_area(p, a, b) / all,
              fmin(triangle_area(centre, p, b) / all, triangle_area(centre, a, p) / all));
}

/* Best of the simplices of a cell. */
static double inside_cell(const pcsim_mesh_view *v, int64_t c, const double *p) {
  const pcsim_cell_shape *shape = &pcsim_cell_shapes[v->cell_type[c]];
  const int32_t *nodes = v->cell_node + v->cell_node_start[c];
  const double *centre = v->cell_centre + 3 * c;
  double best = -DBL_MAX;
  for (int f = 0; f < shape->num_faces; f++) {
    const double *q[4];
    int n = shape->face_size[f];
    for (int i = 0; i < n; i++) q[i] = v->node + 3 * (int64_t)nodes[shape->face[f][i]];
    if (n == 2) {
      best = fmax(best, inside_triangle(p, centre, q[0], q[1]));
    } else if (n == 3) {
      best = fmax(best, inside_tetra(p, centre, q[0], q[1], q[2]));
    } else {
      double middle[3];
      for (int d = 0; d < 3; d++) middle[d] = 0.25 * ((q[0][d] + q[1][d]) + (q[2][d] + q[3][d]));
      for (int i = 0; i < 4; i++) best = fmax(best, inside_tetra(p, centre, middle, q[i], q[(i + 1) % 4]));
    }
  }
  return best;
}

/* Owned cell that holds p: of several (on a border) the one with the lowest raw number. -1 if none. */
static int64_t find_inside(const pcsim_mesh *mesh, const double *p) {
  const double tolerance = -1e-9; /* of a cell */
  const pcsim_mesh_view *v = &mesh->view;
  const pcsim_mesh_buckets *b = *mesh->buckets;
  int64_t found = -1;
  int32_t at[3];
  for (int d = 0; d < v->dim; d++) {
    double slack = 1e-6 * b->width[d], high = b->low[d] + b->width[d] * b->count[d];
    if (p[d] < b->low[d] - slack || p[d] > high + slack) return -1;
  }
  for (int d = 0; d < 3; d++) at[d] = d < v->dim ? bucket_of(b, d, p[d]) : 0;
  int64_t place = bucket_place(b, at[0], at[1], at[2]);
  for (int64_t i = b->start[place]; i < b->start[place + 1]; i++) {
    int64_t c = b->cell[i];
    if (found >= 0 && v->cell_original[c] > v->cell_original[found]) continue;
    if (inside_cell(v, c, p) >= tolerance) found = c;
  }
  return found;
}

/* ----------------------------------------------------------- nearest centre */

typedef struct {
  int64_t cell;
  double square;
} nearest;

static void try_bucket(const pcsim_mesh_view *v, const pcsim_mesh_buckets *b, int64_t place, const double *p,
                       nearest *best) {
  for (int64_t i = b->start[place]; i < b->start[place + 1]; i++) {
    int64_t c = b->cell[i];
    double square = 0;
    for (int d = 0; d < v->dim; d++) {
      double x = v->cell_centre[3 * c + d] - p[d];
      square += x * x;
    }
    if (best->cell < 0 || square < best->square ||
        (square == best->square && v->cell_original[c] < v->cell_original[best->cell]))
      *best = (nearest){c, square};
  }
}

/* Rings of buckets around the point's (or the nearest) bucket, until no unseen bucket can be nearer: those
 * are at least ring * width away from the point's foot in the box of the grid. */
static nearest find_nearest(const pcsim_mesh *mesh, const double *p) {
  const pcsim_mesh_view *v = &mesh->view;
  const pcsim_mesh_buckets *b = *mesh->buckets;
  nearest best = {-1, DBL_MAX};
  double outside = 0, width = DBL_MAX;
  int32_t at[3] = {0, 0, 0}, most = 1;
  for (int d = 0; d < v->dim; d++) {
    double foot = fmin(fmax(p[d], b->low[d]), b->low[d] + b->width[d] * b->count[d]);
    outside += (p[d] - foot) * (p[d] - foot);
    at[d] = bucket_of(b, d, foot);
    if (b->count[d] > 1) width = fmin(width, b->width[d]);
    if (b->count[d] > most) most = b->count[d];
  }
  for (int32_t ring = 0; ring < most; ring++) {
    double reach = ring > 1 ? (ring - 1) * width : 0;
    if (best.cell >= 0 && best.square < outside + reach * reach) break;
    int32_t from[3], to[3];
    for (int d = 0; d < 3; d++) {
      from[d] = at[d] - ring > 0 ? at[d] - ring : 0;
      to[d] = at[d] + ring < b->count[d] - 1 ? at[d] + ring : b->count[d] - 1;
    }
    for (int32_t k = from[2]; k <= to[2]; k++)
      for (int32_t j = from[1]; j <= to[1]; j++) {
        bool whole = abs(k - at[2]) == ring || abs(j - at[1]) == ring;
        for (int32_t i = from[0]; i <= to[0]; i++)
          if (whole || abs(i - at[0]) == ring) try_bucket(v, b, bucket_place(b, i, j, k), p, &best);
      }
  }
  return best;
}

/* The rank whose `key` is least; of equal ones the lowest raw number `original` wins. */
static pcsim_status agree_on_rank(const pcsim_mesh *mesh, double key, int64_t original, int *rank) {
  double least;
  int64_t candidate, first;
  PCSIM_MPI(MPI_Allreduce(&key, &least, 1, MPI_DOUBLE, MPI_MIN, mesh->comm));
  candidate = key == least ? original : INT64_MAX;
  PCSIM_MPI(MPI_Allreduce(&candidate, &first, 1, MPI_INT64_T, MPI_MIN, mesh->comm));
  int mine = candidate == first && first < INT64_MAX ? mesh->rank : -1;
  PCSIM_MPI(MPI_Allreduce(&mine, rank, 1, MPI_INT, MPI_MAX, mesh->comm));
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_locate(const pcsim_mesh *mesh, const double point[3], int *rank, int64_t *cell,
                               bool *inside) {
  const pcsim_mesh_view *v = &mesh->view;
  bool finite = true;
  for (int d = 0; d < v->dim; d++) finite = finite && isfinite(point[d]);
  PCSIM_CHECK(finite, PCSIM_ERR_ARG, "the point (%g, %g, %g) is not finite", point[0], point[1], point[2]);
  if (!*mesh->buckets) PCSIM_TRY(buckets_make(mesh));
  int64_t found = v->num_cells > 0 ? find_inside(mesh, point) : -1;
  int any = found >= 0, all = 0;
  PCSIM_MPI(MPI_Allreduce(&any, &all, 1, MPI_INT, MPI_MAX, mesh->comm));
  *inside = all != 0;
  double key = found >= 0 ? 0 : DBL_MAX;
  if (!*inside && v->num_cells > 0) {
    nearest best = find_nearest(mesh, point);
    found = best.cell;
    key = best.square;
  }
  *cell = found;
  return agree_on_rank(mesh, key, found >= 0 ? v->cell_original[found] : INT64_MAX, rank);
}
