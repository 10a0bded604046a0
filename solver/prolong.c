/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of cells carried to the parts of these cells. The two meshes have partitions of their own: what
 * goes from one to the other goes through rank 0 in the order of the raw meshes. */
#include "prolong.h"

#include "moments.h"

#include <string.h>

enum { PARTS_MAX = 10 };

struct prolongation {
  const pcsim_mesh *coarse, *fine;
  const int32_t *material;
  double *centre;    /* [n][PARTS_MAX][3] of the parts of owned coarse cells */
  int64_t num_cells; /* of all ranks */
  int64_t *first;    /* [num_cells + 1] first part of each raw coarse cell; rank 0 */
};

/* ------------------------------------------------------ from mesh to mesh */

/* [raw fine cells][width] to [raw coarse cells][PARTS_MAX][width], or back. Rank 0. */
static void pack(const prolongation *p, int width, double *parts, double *cells, bool to_parts) {
  const size_t size = (size_t)width * sizeof *parts;
  for (int64_t c = 0; c < p->num_cells; c++)
    for (int64_t k = p->first[c]; k < p->first[c + 1]; k++) {
      double *part = parts + (c * PARTS_MAX + k - p->first[c]) * width, *cell = cells + k * width;
      if (to_parts) memcpy(part, cell, size);
      else memcpy(cell, part, size);
    }
}

/* What both ways need on rank 0: all cells of both. */
static pcsim_status make_room(const prolongation *p, int width, double **parts, double **cells) {
  int rank;
  pcsim_status status = PCSIM_OK;
  *parts = *cells = NULL;
  MPI_Comm_rank(pcsim_mesh_comm(p->coarse), &rank);
  if (rank == 0) {
    status = pcsim_alloc((size_t)p->num_cells * PARTS_MAX * (size_t)width, sizeof **parts, parts);
    if (status == PCSIM_OK)
      status = pcsim_alloc((size_t)p->first[p->num_cells] * (size_t)width, sizeof **cells, cells);
  }
  status = pcsim_status_agree(pcsim_mesh_comm(p->coarse), status);
  if (status != PCSIM_OK) pcsim_free(parts), pcsim_free(cells);
  return status;
}

/* parts [n][PARTS_MAX][width] of owned coarse cells to owned fine cells [][width]. */
static pcsim_status send_down(const prolongation *p, int width, const double *parts, double *to) {
  double *all, *cells;
  pcsim_status status;
  PCSIM_TRY(make_room(p, width, &all, &cells));
  PCSIM_GOTO(pcsim_mesh_gather(p->coarse, PARTS_MAX * width, parts, all), status, done);
  if (all) pack(p, width, all, cells, false);
  status = pcsim_mesh_scatter(p->fine, width, cells, to);
done:
  pcsim_free(&all), pcsim_free(&cells);
  return status;
}

static pcsim_status send_up(const prolongation *p, int width, const double *from, double *parts) {
  double *all, *cells;
  pcsim_status status;
  PCSIM_TRY(make_room(p, width, &all, &cells));
  PCSIM_GOTO(pcsim_mesh_gather(p->fine, width, from, cells), status, done);
  if (all) pack(p, width, all, cells, true);
  status = pcsim_mesh_scatter(p->coarse, PARTS_MAX * width, all, parts);
done:
  pcsim_free(&all), pcsim_free(&cells);
  return status;
}

/* ------------------------------------------------------------------- creation */

/* How many parts each raw cell has. Collective. */
static pcsim_status count_parts(prolongation *p) {
  const pcsim_mesh_view *v = pcsim_mesh_get(p->coarse);
  MPI_Comm comm = pcsim_mesh_comm(p->coarse);
  double *mine = NULL, *all = NULL;
  int rank;
  MPI_Comm_rank(comm, &rank);
  pcsim_status status = pcsim_alloc((size_t)v->num_cells, sizeof *mine, &mine);
  if (status == PCSIM_OK && rank == 0) status = pcsim_alloc((size_t)p->num_cells, sizeof *all, &all);
  if (status == PCSIM_OK && rank == 0)
    status = pcsim_alloc((size_t)p->num_cells + 1, sizeof *p->first, &p->first);
  PCSIM_GOTO(pcsim_status_agree(comm, status), status, done);
  for (int64_t c = 0; c < v->num_cells; c++) mine[c] = pcsim_cell_num_parts(v->cell_type[c]);
  PCSIM_GOTO(pcsim_mesh_gather(p->coarse, 1, mine, all), status, done);
  for (int64_t c = 0; all && c < p->num_cells; c++) p->first[c + 1] = p->first[c] + (int64_t)all[c];
  if (all && p->first[p->num_cells] != pcsim_mesh_get(p->fine)->num_cells_global)
    status = pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__,
                             "the refined mesh has %lld cells; expected %lld parts of the coarse ones",
                             (long long)pcsim_mesh_get(p->fine)->num_cells_global,
                             (long long)p->first[p->num_cells]);
  status = pcsim_status_agree(comm, status);
done:
  pcsim_free(&mine), pcsim_free(&all);
  return status;
}

pcsim_status prolong_create(const pcsim_mesh *coarse, const pcsim_mesh *fine, const int32_t *material,
                            prolongation **out) {
  prolongation *p = NULL;
  const pcsim_mesh_view *v = pcsim_mesh_get(coarse);
  pcsim_status status;
  *out = NULL;
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(coarse), pcsim_alloc(1, sizeof *p, &p)));
  *p = (prolongation){.coarse = coarse, .fine = fine, .material = material, .num_cells = v->num_cells_global};
  PCSIM_GOTO(count_parts(p), status, fail);
  status = pcsim_alloc((size_t)v->num_cells * PARTS_MAX * 3, sizeof *p->centre, &p->centre);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(coarse), status), status, fail);
  PCSIM_GOTO(send_up(p, 3, pcsim_mesh_get(fine)->cell_centre, p->centre), status, fail);
  *out = p;
  return PCSIM_OK;
fail:
  prolong_destroy(&p);
  return status;
}

void prolong_destroy(prolongation **out) {
  if (!*out) return;
  pcsim_free(&(*out)->centre), pcsim_free(&(*out)->first);
  pcsim_free(out);
}

/* ------------------------------------------------------------------ quadratics */

/* Of each cell, ghosts too: [nt][size] moments of itself and its neighbours, then in their place [nt][1 +
 * width * terms] is there a quadratic, and its coefficients. */
typedef struct {
  const prolongation *p;
  const pcsim_mesh_view *v;
  int width, terms, size;
  double *moments, *fit;
} quadratics;

static pcsim_status quadratics_create(const prolongation *p, int width, quadratics *q) {
  const pcsim_mesh_view *v = pcsim_mesh_get(p->coarse);
  const size_t cells = (size_t)(v->num_cells + v->num_ghosts);
  *q = (quadratics){
      .p = p, .v = v, .width = width, .terms = moments_terms(v->dim), .size = moments_size(v->dim, width)};
  PCSIM_TRY(pcsim_alloc(cells * (size_t)q->size, sizeof *q->moments, &q->moments));
  return pcsim_alloc(cells * (size_t)(1 + width * q->terms), sizeof *q->fit, &q->fit);
}

static void quadratics_free(quadratics *q) { pcsim_free(&q->moments), pcsim_free(&q->fit); }

/* Neighbour k of cell c from near_start[c] - 1, which is the cell itself; -1: of another material. */
static int64_t neighbour(const quadratics *q, int64_t c, int64_t k) {
  const int64_t other = k < q->v->near_start[c] ? c : q->v->near[k];
  const int32_t *material = q->p->material;
  return material && material[c] != material[other] ? -1 : other;
}

static void offset(const pcsim_mesh_view *v, int64_t of, const double *from, double *x) {
  for (int j = 0; j < 3; j++) x[j] = v->cell_centre[3 * of + j] - from[j];
}

static void sum_up(quadratics *q, const double *from, int64_t c) {
  const pcsim_mesh_view *v = q->v;
  for (int64_t k = v->near_start[c] - 1; k < v->near_start[c + 1]; k++) {
    const int64_t other = neighbour(q, c, k);
    double x[3];
    if (other < 0) continue;
    offset(v, other, v->cell_centre + 3 * c, x);
    moments_add(v->dim, q->width, x, from + other * q->width, q->moments + c * q->size);
  }
}

/* Over the neighbours' neighbours, those that are several cells' neighbours with more weight. */
static void fit_cell(quadratics *q, int64_t c, double *moments) {
  const pcsim_mesh_view *v = q->v;
  double *fit = q->fit + c * (1 + q->width * q->terms);
  memset(moments, 0, (size_t)q->size * sizeof *moments);
  for (int64_t k = v->near_start[c] - 1; k < v->near_start[c + 1]; k++) {
    const int64_t other = neighbour(q, c, k);
    double x[3];
    if (other < 0) continue;
    offset(v, other, v->cell_centre + 3 * c, x);
    moments_add_shifted(v->dim, q->width, q->moments + other * q->size, x, moments);
  }
  fit[0] = moments_solve(v->dim, q->width, moments, fit + 1);
}

static bool add_fit(const quadratics *q, int64_t of, const double *place, double *sum) {
  const double *fit = q->fit + of * (1 + q->width * q->terms);
  double x[3];
  if (fit[0] == 0) return false;
  for (int j = 0; j < 3; j++) x[j] = place[j] - q->v->cell_centre[3 * of + j];
  for (int f = 0; f < q->width; f++) sum[f] += moments_value(q->v->dim, fit + 1 + f * q->terms, x);
  return true;
}

/* The mean over the cell and its neighbours; the cell's value where none of them has a quadratic. */
static void at_part(const quadratics *q, const double *from, int64_t c, const double *place, double *value) {
  const pcsim_mesh_view *v = q->v;
  int num = 0;
  memset(value, 0, (size_t)q->width * sizeof *value);
  for (int64_t k = v->near_start[c] - 1; k < v->near_start[c + 1]; k++) {
    const int64_t other = neighbour(q, c, k);
    num += other >= 0 && add_fit(q, other, place, value);
  }
  for (int f = 0; f < q->width; f++) value[f] = num ? value[f] / num : from[c * q->width + f];
}

pcsim_status prolong_apply(const prolongation *p, int width, double *from, double *to) {
  const pcsim_mesh_view *v = pcsim_mesh_get(p->coarse);
  quadratics q;
  double *parts = NULL, *work = NULL;
  pcsim_status status = quadratics_create(p, width, &q);
  if (status == PCSIM_OK)
    status = pcsim_alloc((size_t)(v->num_cells * PARTS_MAX * width), sizeof *parts, &parts);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)q.size, sizeof *work, &work);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(p->coarse), status), status, done);
  PCSIM_GOTO(pcsim_mesh_exchange(p->coarse, width, from), status, done);
  for (int64_t c = 0; c < v->num_cells; c++) sum_up(&q, from, c);
  PCSIM_GOTO(pcsim_mesh_exchange(p->coarse, q.size, q.moments), status, done);
  for (int64_t c = 0; c < v->num_cells; c++) fit_cell(&q, c, work);
  PCSIM_GOTO(pcsim_mesh_exchange(p->coarse, 1 + width * q.terms, q.fit), status, done);
  for (int64_t c = 0; c < v->num_cells; c++)
    for (int k = 0; k < pcsim_cell_num_parts(v->cell_type[c]); k++) {
      const int64_t at = c * PARTS_MAX + k;
      at_part(&q, from, c, p->centre + 3 * at, parts + at * width);
    }
  status = send_down(p, width, parts, to);
done:
  quadratics_free(&q);
  pcsim_free(&parts), pcsim_free(&work);
  return status;
}

pcsim_status prolong_sum(const prolongation *p, int width, const double *from, double *to) {
  const pcsim_mesh_view *v = pcsim_mesh_get(p->coarse);
  double *parts = NULL;
  pcsim_status status = pcsim_alloc((size_t)(v->num_cells * PARTS_MAX * width), sizeof *parts, &parts);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(p->coarse), status), status, done);
  PCSIM_GOTO(send_up(p, width, from, parts), status, done);
  for (int64_t c = 0; c < v->num_cells; c++)
    for (int f = 0; f < width; f++) {
      to[c * width + f] = 0;
      for (int k = 0; k < pcsim_cell_num_parts(v->cell_type[c]); k++)
        to[c * width + f] += parts[(c * PARTS_MAX + k) * width + f];
    }
done:
  pcsim_free(&parts);
  return status;
}
