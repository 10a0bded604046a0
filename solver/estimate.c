/* SPDX-License-Identifier: BSD-2-Clause */
/* The error of a quantity by the dual-weighted residual on the mesh of halved cells (Venditti and Darmofal,
 * J. Comput. Phys. 164, 2000). State and adjoint are carried there by smoothing quadratics; the fine residual
 * of that state, weighted by that adjoint, says what the quantity would be there without a solve. What of the
 * carried state oscillates from cell to cell is no error of the solution but of the carrying: a few damped
 * Jacobi steps of the fine problem take it out, or it would meet the rough part of the adjoint's own error.
 */
#include "estimate.h"
#include "prolong.h"

#include <math.h>
#include <string.h>

extern void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *pivot, double *b,
                   const int *ldb, int *info);

enum { RELAXATIONS = 5 };
static const double DAMPING = 0.7;
/* Halving the cells takes 1 - 1/2^2 of an error of second order. */
static const double WHOLE = 4.0 / 3;

typedef struct {
  const estimate_fine *f;
  double *r, *psi;  /* [n][m] */
  double *diagonal; /* [n][m*m] */
  double *before;   /* [n][m] state before a relaxation */
} work;

static pcsim_status work_create(const estimate_fine *f, work *w) {
  const size_t n = (size_t)f->n, m = (size_t)f->m;
  *w = (work){.f = f};
  pcsim_status status = pcsim_alloc(n * m, sizeof *w->r, &w->r);
  if (status == PCSIM_OK) status = pcsim_alloc(n * m, sizeof *w->psi, &w->psi);
  if (status == PCSIM_OK) status = pcsim_alloc(n * m * m, sizeof *w->diagonal, &w->diagonal);
  if (status == PCSIM_OK) status = pcsim_alloc(n * m, sizeof *w->before, &w->before);
  return pcsim_status_agree(pcsim_mesh_comm(f->mesh), status);
}

static void work_free(work *w) {
  pcsim_free(&w->r), pcsim_free(&w->psi), pcsim_free(&w->diagonal), pcsim_free(&w->before);
}

/* ------------------------------------------------------------------ relaxation */

/* Each equation relative to what it began with, so that no equation hides another. */
static void norms_of(const work *w, double *norm) {
  const int m = w->f->m;
  memset(norm, 0, (size_t)m * sizeof *norm);
  for (int64_t c = 0; c < w->f->n; c++)
    for (int i = 0; i < m; i++) norm[i] += w->r[c * m + i] * w->r[c * m + i];
  MPI_Allreduce(MPI_IN_PLACE, norm, m, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(w->f->mesh));
}

static double growth(const work *w, const double *first) {
  double now[SYSTEM_UNKNOWNS_MAX], sum = 0;
  norms_of(w, now);
  for (int i = 0; i < w->f->m; i++) sum += first[i] > 0 ? now[i] / first[i] : 0;
  return sum / w->f->m;
}

/* One cell's step; a block without inverse leaves it as it is. */
static void relax_cell(work *w, int64_t c) {
  const int m = w->f->m, one = 1;
  double block[SYSTEM_UNKNOWNS_MAX * SYSTEM_UNKNOWNS_MAX], step[SYSTEM_UNKNOWNS_MAX];
  int pivot[SYSTEM_UNKNOWNS_MAX], info;
  memcpy(block, w->diagonal + c * m * m, (size_t)(m * m) * sizeof *block);
  memcpy(step, w->r + c * m, (size_t)m * sizeof *step);
  dgesv_(&m, &one, block, &m, pivot, step, &m, &info);
  for (int i = 0; i < m && info == 0; i++)
    if (isfinite(step[i])) w->f->q[c * m + i] -= DAMPING * step[i];
}

/* As long as the residual falls. It stands for the state at entry and at return. */
static pcsim_status relax(work *w) {
  const estimate_fine *f = w->f;
  const size_t bytes = (size_t)(f->n * f->m) * sizeof(double);
  double first[SYSTEM_UNKNOWNS_MAX], reached = 1;
  norms_of(w, first);
  PCSIM_TRY(f->diagonal(f->context, w->diagonal));
  for (int k = 0; k < RELAXATIONS; k++) {
    memcpy(w->before, f->q, bytes);
    for (int64_t c = 0; c < f->n; c++) relax_cell(w, c);
    PCSIM_TRY(f->residual(f->context, w->r));
    const double now = growth(w, first);
    if (now <= reached) {
      reached = now;
      continue;
    }
    memcpy(f->q, w->before, bytes);
    return f->residual(f->context, w->r);
  }
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- estimate */

/* What rough fluxes give to a cell they take from its neighbours: shares become means over the cells around,
 * twice. `share` [nt], `mean` [nt]. */
static pcsim_status smooth(const pcsim_mesh *mesh, double *share, double *mean) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  for (int pass = 0; pass < 2; pass++) {
    PCSIM_TRY(pcsim_mesh_exchange(mesh, 1, share));
    for (int64_t c = 0; c < v->num_cells; c++) {
      double sum = share[c], volume = v->cell_volume[c];
      for (int64_t k = v->near_start[c]; k < v->near_start[c + 1]; k++)
        sum += share[v->near[k]], volume += v->cell_volume[v->near[k]];
      mean[c] = sum / volume * v->cell_volume[c];
    }
    memcpy(share, mean, (size_t)v->num_cells * sizeof *share);
  }
  return PCSIM_OK;
}

/* -psi R of the fine mesh, its sum over all, and shares of coarse cells. */
static pcsim_status weigh(work *w, const prolongation *p, const pcsim_mesh *coarse, double *indicator,
                          double *sum) {
  const pcsim_mesh_view *v = pcsim_mesh_get(coarse);
  const size_t cells = (size_t)(v->num_cells + v->num_ghosts);
  const int m = w->f->m;
  double *share = NULL;
  *sum = 0;
  for (int64_t c = 0; c < w->f->n; c++) {
    double product = 0;
    for (int i = 0; i < m; i++) product -= w->psi[c * m + i] * w->r[c * m + i];
    w->before[c] = product;
    *sum += product;
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(coarse));
  pcsim_status status =
      pcsim_status_agree(pcsim_mesh_comm(coarse), pcsim_alloc(2 * cells, sizeof *share, &share));
  if (status == PCSIM_OK) status = prolong_sum(p, 1, w->before, share);
  if (status == PCSIM_OK) status = smooth(coarse, share, share + cells);
  for (int64_t c = 0; status == PCSIM_OK && c < v->num_cells; c++) indicator[c] = WHOLE * fabs(share[c]);
  pcsim_free(&share);
  return status;
}

static pcsim_status estimate(work *w, const prolongation *p, const estimate_coarse *coarse,
                             pcsim_estimate *out) {
  const estimate_fine *f = w->f;
  double value, product;
  PCSIM_TRY(prolong_apply(p, f->m, coarse->psi, w->psi));
  PCSIM_TRY(prolong_apply(p, f->m, coarse->q, f->q));
  PCSIM_TRY(f->residual(f->context, w->r));
  PCSIM_TRY(relax(w));
  PCSIM_TRY(f->value(f->context, &value));
  PCSIM_TRY(weigh(w, p, coarse->mesh, out->indicator, &product));
  out->error = WHOLE * (value + product - out->value);
  out->corrected = out->value + out->error;
  return PCSIM_OK;
}

pcsim_status estimate_error(const estimate_fine *fine, const estimate_coarse *coarse, pcsim_estimate *out) {
  work w;
  prolongation *p = NULL;
  pcsim_status status = work_create(fine, &w);
  PCSIM_GOTO(status, status, done);
  PCSIM_GOTO(prolong_create(coarse->mesh, fine->mesh, coarse->material, &p), status, done);
  status = estimate(&w, p, coarse, out);
done:
  prolong_destroy(&p);
  work_free(&w);
  return status;
}
