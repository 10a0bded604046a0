/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields from one mesh to another, conservatively: the mean over a cell is put together from the parts that
 * it has in common with the cells of the other mesh (Farrell et al., Comput. Methods Appl. Mech. Eng. 198,
 * 2009, for finite elements; here with values and gradients of cells). The other mesh is held whole by every
 * rank. */
#include "box_tree.h"
#include "fv.h"
#include "overlap.h"
#include "raw.h"

#include <math.h>
#include <string.h>

struct pcsim_transfer {
  const pcsim_mesh *from;
  int64_t num_from; /* cells of all ranks */
  int64_t num_to;   /* owned */
  double *centre;   /* [num_from][3] by raw number */
  int64_t *start;   /* [num_to + 1] parts of each cell */
  int32_t *cell;    /* [parts] raw number on the other mesh */
  double *weight;   /* [parts] share of what is covered */
  double *at;       /* [parts][3] centre of the part - centre of the other cell */
  double *rest;     /* [num_to][3] centre - centre of what is covered */
  double covered;   /* least share of a cell's volume that the other mesh covers */
};

void pcsim_transfer_destroy(pcsim_transfer **transfer) {
  pcsim_transfer *t = *transfer;
  if (!t) return;
  pcsim_free(&t->centre);
  pcsim_free(&t->start);
  pcsim_free(&t->cell);
  pcsim_free(&t->weight);
  pcsim_free(&t->at);
  pcsim_free(&t->rest);
  pcsim_free(transfer);
}

/* --------------------------------------------------- the other mesh, on every rank */

/* Cells and nodes of the mesh that fields come from. */
typedef struct {
  int64_t num_cells, num_nodes;
  double *node;
  uint8_t *type;
  int64_t *start;
  int32_t *cell_node;
  box *boxes;
  box_tree tree;
} source;

static void source_free(source *s) {
  pcsim_free(&s->node);
  pcsim_free(&s->type);
  pcsim_free(&s->start);
  pcsim_free(&s->cell_node);
  pcsim_free(&s->boxes);
  box_tree_free(&s->tree);
}

static box box_of(const double *nodes, const int32_t *cell, int n) {
  box b;
  for (int d = 0; d < 3; d++) {
    b.low[d] = b.high[d] = nodes[3 * (int64_t)cell[0] + d];
    for (int i = 1; i < n; i++) {
      b.low[d] = fmin(b.low[d], nodes[3 * (int64_t)cell[i] + d]);
      b.high[d] = fmax(b.high[d], nodes[3 * (int64_t)cell[i] + d]);
    }
  }
  return b;
}

static pcsim_status source_allocate(source *s, int64_t num_cell_nodes) {
  PCSIM_TRY(pcsim_alloc((size_t)s->num_nodes, 3 * sizeof *s->node, &s->node));
  PCSIM_TRY(pcsim_alloc((size_t)s->num_cells, sizeof *s->type, &s->type));
  PCSIM_TRY(pcsim_alloc((size_t)s->num_cells + 1, sizeof *s->start, &s->start));
  PCSIM_TRY(pcsim_alloc((size_t)num_cell_nodes, sizeof *s->cell_node, &s->cell_node));
  return pcsim_alloc((size_t)s->num_cells, sizeof *s->boxes, &s->boxes);
}

static pcsim_status source_make(const pcsim_mesh *from, source *s) {
  pcsim_raw_mesh *raw = NULL;
  int64_t counts[3] = {0};
  PCSIM_TRY(pcsim_mesh_gather_geometry(from, &raw));
  if (raw) {
    counts[0] = raw->num_cells;
    counts[1] = raw->num_nodes;
    counts[2] = raw->cell_start[raw->num_cells];
  }
  pcsim_status status = pcsim_mesh_broadcast(counts, sizeof counts, from->comm);
  s->num_cells = counts[0];
  s->num_nodes = counts[1];
  if (status == PCSIM_OK) status = pcsim_status_agree(from->comm, source_allocate(s, counts[2]));
  if (status == PCSIM_OK && raw) {
    memcpy(s->node, raw->nodes, 3 * (size_t)counts[1] * sizeof *s->node);
    memcpy(s->type, raw->cell_type, (size_t)counts[0]);
    memcpy(s->start, raw->cell_start, ((size_t)counts[0] + 1) * sizeof *s->start);
    memcpy(s->cell_node, raw->cell_nodes, (size_t)counts[2] * sizeof *s->cell_node);
  }
  pcsim_raw_mesh_destroy(&raw);
  PCSIM_TRY(status);
  PCSIM_TRY(pcsim_mesh_broadcast(s->node, 3 * (size_t)counts[1] * sizeof *s->node, from->comm));
  PCSIM_TRY(pcsim_mesh_broadcast(s->type, (size_t)counts[0], from->comm));
  PCSIM_TRY(pcsim_mesh_broadcast(s->start, ((size_t)counts[0] + 1) * sizeof *s->start, from->comm));
  PCSIM_TRY(pcsim_mesh_broadcast(s->cell_node, (size_t)counts[2] * sizeof *s->cell_node, from->comm));
  for (int64_t c = 0; c < s->num_cells; c++)
    s->boxes[c] = box_of(s->node, s->cell_node + s->start[c], (int)(s->start[c + 1] - s->start[c]));
  return pcsim_status_agree(from->comm, box_tree_make((int32_t)s->num_cells, s->boxes, &s->tree));
}

/* ------------------------------------------------------------------- parts */

/* The parts of one cell while they are found. */
typedef struct {
  pcsim_transfer *t;
  const source *s;
  int dim;
  double volume; /* of the cell */
  overlap_cell own, other;
  double sum, moment[3];
  int64_t num, capacity;
  pcsim_status status;
} search;

static pcsim_status grow(search *f) {
  const int64_t capacity = 2 * f->capacity + 64;
  PCSIM_TRY(pcsim_realloc((size_t)capacity, sizeof *f->t->cell, &f->t->cell));
  PCSIM_TRY(pcsim_realloc((size_t)capacity, sizeof *f->t->weight, &f->t->weight));
  PCSIM_TRY(pcsim_realloc((size_t)capacity, 3 * sizeof *f->t->at, &f->t->at));
  f->capacity = capacity;
  return PCSIM_OK;
}

static void add_part(search *f, int32_t cell, double volume, const double centre[3]) {
  pcsim_transfer *t = f->t;
  if (f->num == f->capacity) f->status = grow(f);
  if (f->status != PCSIM_OK) return;
  t->cell[f->num] = cell;
  t->weight[f->num] = volume;
  for (int d = 0; d < 3; d++) t->at[3 * f->num + d] = centre[d] - t->centre[3 * (int64_t)cell + d];
  f->num++;
}

static pcsim_status refuse_pair(const search *f, int32_t cell) {
  const double *x = f->t->centre + 3 * (int64_t)cell;
  PCSIM_FAIL(
      PCSIM_ERR_MESH,
      "cell %d of the other mesh at (%g, %g, %g) is so distorted that it cannot be cut with one of this mesh",
      cell, x[0], x[1], x[2]);
}

static void common_part(void *context, int32_t cell) {
  search *f = context;
  const source *s = f->s;
  double volume = 0, moment[3] = {0}, centre[3];
  if (f->status != PCSIM_OK) return;
  overlap_cell_make(s->node, (pcsim_cell_type)s->type[cell], s->cell_node + s->start[cell], &f->other);
  if (!overlap_cells(f->dim, &f->own, &f->other, &volume, moment)) {
    f->status = refuse_pair(f, cell);
    return;
  }
  if (!(volume > 1e-13 * f->volume)) return;
  for (int d = 0; d < 3; d++) {
    centre[d] = moment[d] / volume;
    f->moment[d] += moment[d];
  }
  f->sum += volume;
  add_part(f, cell, volume, centre);
}

/* A cell that the other mesh does not reach takes the nearest cell's value and no gradient. */
static void outside_part(search *f, const double *centre) {
  const int32_t cell = box_tree_nearest(&f->s->tree, f->s->boxes, centre);
  add_part(f, cell, 1, f->t->centre + 3 * (int64_t)cell);
}

static pcsim_status find_parts(pcsim_transfer *t, const source *s, const pcsim_mesh_view *v) {
  search f = {.t = t, .s = s, .dim = v->dim};
  double least = 1;
  for (int64_t c = 0; c < v->num_cells && f.status == PCSIM_OK; c++) {
    const int32_t *nodes = v->cell_node + v->cell_node_start[c];
    const double *centre = v->cell_centre + 3 * c;
    const box around = box_of(v->node, nodes, (int)(v->cell_node_start[c + 1] - v->cell_node_start[c]));
    t->start[c] = f.num;
    f.volume = v->cell_volume[c];
    f.sum = 0;
    memset(f.moment, 0, sizeof f.moment);
    overlap_cell_make(v->node, (pcsim_cell_type)v->cell_type[c], nodes, &f.own);
    box_tree_find(&s->tree, s->boxes, &around, common_part, &f);
    const bool reached = f.sum > 0;
    least = fmin(least, f.sum / f.volume);
    if (!reached) outside_part(&f, centre);
    for (int d = 0; d < 3; d++) t->rest[3 * c + d] = reached ? centre[d] - f.moment[d] / f.sum : 0;
    for (int64_t i = t->start[c]; reached && i < f.num; i++) t->weight[i] /= f.sum;
  }
  t->start[v->num_cells] = f.num;
  t->covered = least;
  return f.status;
}

/* Values of the other mesh's cells on every rank, by raw number. */
static pcsim_status share(const pcsim_mesh *from, int64_t num, int width, const double *values, double *all) {
  PCSIM_TRY(pcsim_mesh_gather(from, width, values, all));
  return pcsim_mesh_broadcast(all, (size_t)num * (size_t)width * sizeof *all, from->comm);
}

static pcsim_status least_of_all(MPI_Comm comm, double *x) {
  PCSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE, MPI_MIN, comm));
  return PCSIM_OK;
}

static pcsim_status allocate(pcsim_transfer *t) {
  PCSIM_TRY(pcsim_alloc((size_t)t->num_from, 3 * sizeof *t->centre, &t->centre));
  PCSIM_TRY(pcsim_alloc((size_t)t->num_to + 1, sizeof *t->start, &t->start));
  return pcsim_alloc((size_t)t->num_to, 3 * sizeof *t->rest, &t->rest);
}

pcsim_status pcsim_transfer_create(const pcsim_mesh *from, const pcsim_mesh *to, pcsim_transfer **transfer) {
  const pcsim_mesh_view *view = pcsim_mesh_get(to);
  source s = {0};
  *transfer = NULL;
  PCSIM_CHECK(pcsim_mesh_get(from)->dim == view->dim, PCSIM_ERR_CASE,
              "the field is of a mesh in %dD, the mesh here is in %dD", pcsim_mesh_get(from)->dim, view->dim);
  pcsim_transfer *t = NULL;
  pcsim_status status = pcsim_alloc(1, sizeof *t, &t);
  PCSIM_GOTO(pcsim_status_agree(to->comm, status), status, done);
  *t = (pcsim_transfer){
      .from = from, .num_from = pcsim_mesh_get(from)->num_cells_global, .num_to = view->num_cells};
  PCSIM_GOTO(pcsim_status_agree(to->comm, allocate(t)), status, done);
  PCSIM_GOTO(share(from, t->num_from, 3, pcsim_mesh_get(from)->cell_centre, t->centre), status, done);
  PCSIM_GOTO(source_make(from, &s), status, done);
  PCSIM_GOTO(pcsim_status_agree(to->comm, find_parts(t, &s, view)), status, done);
  PCSIM_GOTO(least_of_all(to->comm, &t->covered), status, done);
  *transfer = t;
  t = NULL;
done:
  source_free(&s);
  pcsim_transfer_destroy(&t);
  return status;
}

double pcsim_transfer_covered(const pcsim_transfer *t) { return t->covered; }

/* --------------------------------------------------------------- application */

static double part_value(const double *x, const double *at, bool linear) {
  return linear ? x[0] + x[1] * at[0] + x[2] * at[1] + x[3] * at[2] : x[0];
}

pcsim_status pcsim_transfer_apply(const pcsim_transfer *t, const double *value, const double *gradient,
                                  double *out) {
  const int64_t own = pcsim_mesh_get(t->from)->num_cells;
  double *mine = NULL, *all = NULL; /* [..][4] value and gradient */
  pcsim_status status = pcsim_alloc((size_t)own, 4 * sizeof *mine, &mine);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)t->num_from, 4 * sizeof *all, &all);
  PCSIM_GOTO(pcsim_status_agree(t->from->comm, status), status, done);
  for (int64_t c = 0; c < own; c++) {
    mine[4 * c] = value[c];
    for (int d = 0; d < 3; d++) mine[4 * c + 1 + d] = gradient ? gradient[3 * c + d] : 0;
  }
  PCSIM_GOTO(share(t->from, t->num_from, 4, mine, all), status, done);
  for (int64_t c = 0; c < t->num_to; c++) {
    double sum = 0;
    for (int64_t i = t->start[c]; i < t->start[c + 1]; i++) {
      const double *x = all + 4 * (int64_t)t->cell[i];
      double at[3];
      /* the part of the cell beyond the other mesh follows the mean slope */
      for (int d = 0; d < 3; d++) at[d] = t->at[3 * i + d] + t->rest[3 * c + d];
      sum += t->weight[i] * part_value(x, at, gradient != NULL);
    }
    out[c] = sum;
  }
done:
  pcsim_free(&mine);
  pcsim_free(&all);
  return status;
}
