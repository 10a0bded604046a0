/* SPDX-License-Identifier: BSD-2-Clause */
/* Quality over the whole mesh. A face is measured by the rank of its owner, so each counts once; the worst
 * five are merged in an order that does not depend on the ranks. */
#include "fv.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NUM_MEASURES = 4, NUM_WORST = 5 };
enum { NON_ORTHOGONALITY, SKEWNESS, VOLUME_RATIO, ASPECT_RATIO };

typedef struct {
  double value, centre[3];
  int64_t cell;
} worst_entry;
typedef struct {
  double min, max, sum;
  int64_t count;
  int num_worst;
  worst_entry worst[NUM_WORST];
} measure;

/* Total order: worse value, then lower cell, then place. */
static bool worse(const worst_entry *a, const worst_entry *b) {
  if (a->value != b->value) return a->value > b->value;
  if (a->cell != b->cell) return a->cell < b->cell;
  return memcmp(a->centre, b->centre, sizeof a->centre) < 0;
}

static void insert_worst(measure *m, const worst_entry *entry) {
  int i = m->num_worst;
  while (i > 0 && worse(entry, m->worst + i - 1)) i--;
  if (i == NUM_WORST) return;
  if (m->num_worst < NUM_WORST) m->num_worst++;
  for (int j = m->num_worst - 1; j > i; j--) m->worst[j] = m->worst[j - 1];
  m->worst[i] = *entry;
}

static void add(measure *m, double value, const double *centre, int64_t cell) {
  if (m->count == 0 || value < m->min) m->min = value;
  if (m->count == 0 || value > m->max) m->max = value;
  m->count++;
  m->sum += value;
  if (m->num_worst == NUM_WORST && value < m->worst[NUM_WORST - 1].value) return;
  worst_entry entry = {value, {centre[0], centre[1], centre[2]}, cell};
  insert_worst(m, &entry);
}

static void measure_face(const pcsim_mesh_view *v, int64_t f, measure measures[NUM_MEASURES]) {
  int64_t o = v->owner[f], n = v->neighbour[f];
  const double *area = v->face_area + 3 * f, *centre = v->face_centre + 3 * f;
  double line[3], to_face[3], square = 0, size = 0, along = 0, face_along = 0;
  for (int d = 0; d < 3; d++) {
    line[d] = v->cell_centre[3 * n + d] - v->cell_centre[3 * o + d];
    to_face[d] = centre[d] - v->cell_centre[3 * o + d];
    square += line[d] * line[d];
    size += area[d] * area[d];
    along += line[d] * area[d];
    face_along += to_face[d] * area[d];
  }
  /* atan2 of both components, for acos loses half the digits at small angles */
  double cross[3] = {line[1] * area[2] - line[2] * area[1], line[2] * area[0] - line[0] * area[2],
                     line[0] * area[1] - line[1] * area[0]};
  double across = sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
  int64_t cell = v->cell_original[o];
  add(measures + NON_ORTHOGONALITY, atan2(across, along) * 180 / acos(-1.0), centre, cell);

  /* Where the centre line meets the plane of the face; along the line's middle if they are parallel. */
  double t = fabs(along) > 1e-12 * sqrt(square * size) ? face_along / along : 0.5, miss = 0;
  for (int d = 0; d < 3; d++) miss += (to_face[d] - t * line[d]) * (to_face[d] - t * line[d]);
  add(measures + SKEWNESS, square > 0 ? sqrt(miss / square) : 0, centre, cell);

  double a = v->cell_volume[o], b = v->cell_volume[n];
  add(measures + VOLUME_RATIO, a > b ? a / b : b / a, centre, cell);
}

static void measure_cell(const pcsim_mesh_view *v, int64_t c, measure measures[NUM_MEASURES]) {
  const pcsim_cell_shape *shape = &pcsim_cell_shapes[v->cell_type[c]];
  const int32_t *nodes = v->cell_node + v->cell_node_start[c];
  double shortest = DBL_MAX, longest = 0;
  for (int e = 0; e < shape->num_edges; e++) {
    const double *a = v->node + 3 * (int64_t)nodes[shape->edge[e][0]];
    const double *b = v->node + 3 * (int64_t)nodes[shape->edge[e][1]];
    double square =
        (b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) + (b[2] - a[2]) * (b[2] - a[2]);
    shortest = fmin(shortest, square);
    longest = fmax(longest, square);
  }
  /* finite: a mesh with an edge without length is not made (faults.c) */
  add(measures + ASPECT_RATIO, sqrt(longest / shortest), v->cell_centre + 3 * c, v->cell_original[c]);
}

static void finish(const measure *parts, int ranks, pcsim_quality_measure *result) {
  measure all = {0};
  for (int r = 0; r < ranks; r++) {
    const measure *m = parts + (int64_t)r * NUM_MEASURES;
    if (m->count == 0) continue;
    if (all.count == 0 || m->min < all.min) all.min = m->min;
    if (all.count == 0 || m->max > all.max) all.max = m->max;
    all.sum += m->sum;
    all.count += m->count;
    for (int i = 0; i < m->num_worst; i++) insert_worst(&all, m->worst + i);
  }
  *result = (pcsim_quality_measure){.min = all.min, .max = all.max, .num_worst = all.num_worst};
  result->mean = all.count > 0 ? all.sum / (double)all.count : 0;
  for (int i = 0; i < all.num_worst; i++) {
    result->worst_value[i] = all.worst[i].value;
    result->worst_cell[i] = all.worst[i].cell;
    memcpy(result->worst_centre[i], all.worst[i].centre, sizeof result->worst_centre[i]);
  }
}

static pcsim_status reduce_totals(const pcsim_mesh *mesh, pcsim_mesh_quality *quality) {
  const pcsim_mesh_view *v = &mesh->view;
  int64_t count[PCSIM_NUM_CELL_TYPES] = {0};
  double least = DBL_MAX, most = 0, volume = 0, limits[2];
  for (int64_t c = 0; c < v->num_cells; c++) {
    count[v->cell_type[c]]++;
    volume += v->cell_volume[c];
    least = fmin(least, v->cell_volume[c]);
    most = fmax(most, v->cell_volume[c]);
  }
  PCSIM_MPI(MPI_Allreduce(count, quality->count, PCSIM_NUM_CELL_TYPES, MPI_INT64_T, MPI_SUM, mesh->comm));
  PCSIM_MPI(MPI_Allreduce(&volume, &quality->volume, 1, MPI_DOUBLE, MPI_SUM, mesh->comm));
  double mine[2] = {-least, most};
  PCSIM_MPI(MPI_Allreduce(mine, limits, 2, MPI_DOUBLE, MPI_MAX, mesh->comm));
  quality->size_min = pow(-limits[0], 1.0 / v->dim);
  quality->size_max = pow(limits[1], 1.0 / v->dim);
  quality->num_cells = v->num_cells_global;
  quality->num_faces = v->num_faces_global;
  quality->num_nodes = v->num_nodes_global;
  return PCSIM_OK;
}

static pcsim_status merge(const pcsim_mesh *mesh, measure *parts, const measure *own,
                          pcsim_mesh_quality *quality) {
  const int size = (int)(NUM_MEASURES * sizeof *own);
  PCSIM_MPI(MPI_Allgather(own, size, MPI_BYTE, parts, size, MPI_BYTE, mesh->comm));
  finish(parts + NON_ORTHOGONALITY, mesh->ranks, &quality->non_orthogonality);
  finish(parts + SKEWNESS, mesh->ranks, &quality->skewness);
  finish(parts + VOLUME_RATIO, mesh->ranks, &quality->volume_ratio);
  finish(parts + ASPECT_RATIO, mesh->ranks, &quality->aspect_ratio);
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_quality_compute(const pcsim_mesh *mesh, pcsim_mesh_quality *quality) {
  const pcsim_mesh_view *v = &mesh->view;
  measure own[NUM_MEASURES], *parts = NULL;
  memset(own, 0, sizeof own); /* padding too: it is sent */
  memset(quality, 0, sizeof *quality);
  for (int64_t c = 0; c < v->num_cells; c++) measure_cell(v, c, own);
  for (int64_t f = 0; f < v->num_interior_faces; f++)
    if (v->owner[f] < v->num_cells) measure_face(v, f, own);
  PCSIM_TRY(reduce_totals(mesh, quality));
  pcsim_status status = pcsim_alloc((size_t)mesh->ranks, sizeof own, &parts);
  status = pcsim_status_agree(mesh->comm, status);
  if (status == PCSIM_OK) status = merge(mesh, parts, own, quality);
  pcsim_free(&parts);
  return status;
}
