/* SPDX-License-Identifier: BSD-2-Clause */
/* The error of a quantity by the dual-weighted residual on the mesh of halved cells (Venditti and Darmofal,
 * J. Comput. Phys. 164, 2000). State and adjoint are carried there by smoothing quadratics; the fine residual
 * of that state, weighted by that adjoint, says what the quantity would be there without a solve. What of the
 * carried state oscillates from cell to cell is no error of the solution but of the carrying: a few damped
 * Jacobi steps of the fine problem take it out, or it would meet the rough part of the adjoint's own error.
 */
#include "transport_estimate.h"
#include "prolong.h"
#include "transport_adjoint.h"

#include <math.h>
#include <string.h>

extern void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *pivot, double *b,
                   const int *ldb, int *info);

enum { RELAXATIONS = 5 };
static const double DAMPING = 0.7;
/* Halving the cells takes 1 - 1/2^2 of an error of second order. */
static const double WHOLE = 4.0 / 3;

typedef struct {
  transport *t;           /* of the fine mesh */
  double *r, *psi;        /* [n][m] */
  double *diagonal;       /* [n][m*m] */
  double *before, *after; /* [n][m] states of a relaxation */
} fine_problem;

static void fine_free(fine_problem *f) {
  pcsim_free(&f->r), pcsim_free(&f->psi), pcsim_free(&f->diagonal);
  pcsim_free(&f->before), pcsim_free(&f->after);
  transport_destroy(&f->t);
}

static pcsim_status fine_create(const transport *coarse, const pcsim_mesh *mesh,
                                const pcsim_transport_problem *problem, fine_problem *f) {
  *f = (fine_problem){0};
  PCSIM_TRY(transport_create(mesh, problem, &coarse->choices, &f->t));
  const size_t n = (size_t)f->t->n, m = (size_t)f->t->m;
  pcsim_status status = pcsim_alloc(n * m, sizeof *f->r, &f->r);
  if (status == PCSIM_OK) status = pcsim_alloc(n * m, sizeof *f->psi, &f->psi);
  if (status == PCSIM_OK) status = pcsim_alloc(n * m * m, sizeof *f->diagonal, &f->diagonal);
  if (status == PCSIM_OK) status = pcsim_alloc(n * m, sizeof *f->before, &f->before);
  if (status == PCSIM_OK) status = pcsim_alloc(n * m, sizeof *f->after, &f->after);
  return pcsim_status_agree(pcsim_mesh_comm(mesh), status);
}

/* ------------------------------------------------------------------ relaxation */

static pcsim_status fine_residual(fine_problem *f) {
  PCSIM_TRY(transport_update_gradient(f->t, 0));
  PCSIM_TRY(transport_update_speed(f->t));
  return transport_residual(f->t, 0, f->r);
}

static void add_block(const transport *t, double *diagonal, int64_t cell, const double *block, double sign) {
  const int64_t size = (int64_t)t->m * t->m;
  for (int64_t i = 0; cell < t->n && i < size; i++) diagonal[cell * size + i] += sign * block[i];
}

/* Diagonal blocks of the compact Jacobian, by columns. */
static pcsim_status fine_diagonal(fine_problem *f) {
  transport *t = f->t;
  const int64_t size = (int64_t)t->m * t->m;
  PCSIM_TRY(transport_update_blocks(t));
  memcpy(f->diagonal, t->block_source, (size_t)(t->n * size) * sizeof *f->diagonal);
  for (int64_t i = 0; i < t->ni; i++) {
    add_block(t, f->diagonal, t->faces.owner[i], t->block_owner + i * size, 1);
    add_block(t, f->diagonal, t->faces.neighbour[i], t->block_neighbour + i * size, -1);
  }
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++)
      add_block(t, f->diagonal, t->boundary[k].owner[i], t->block_boundary[k] + i * size, 1);
  return PCSIM_OK;
}

static double norm_of(const fine_problem *f) {
  double sum = 0;
  for (int64_t i = 0; i < f->t->n * f->t->m; i++) sum += f->r[i] * f->r[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(f->t->mesh));
  return sqrt(sum);
}

/* One cell's step; a block without inverse leaves it as it is. */
static void relax_cell(fine_problem *f, int64_t c) {
  const int m = f->t->m, one = 1;
  double block[SYSTEM_UNKNOWNS_MAX * SYSTEM_UNKNOWNS_MAX], step[SYSTEM_UNKNOWNS_MAX];
  int pivot[SYSTEM_UNKNOWNS_MAX], info;
  memcpy(block, f->diagonal + c * m * m, (size_t)(m * m) * sizeof *block);
  memcpy(step, f->r + c * m, (size_t)m * sizeof *step);
  dgesv_(&m, &one, block, &m, pivot, step, &m, &info);
  for (int i = 0; i < m && info == 0; i++)
    if (isfinite(step[i])) f->t->q[c * m + i] -= DAMPING * step[i];
}

/* As long as the residual falls. It stands for the state at entry and at return. */
static pcsim_status relax(fine_problem *f) {
  const size_t bytes = (size_t)(f->t->n * f->t->m) * sizeof(double);
  double norm = norm_of(f);
  PCSIM_TRY(fine_diagonal(f));
  for (int k = 0; k < RELAXATIONS; k++) {
    memcpy(f->before, f->t->q, bytes);
    for (int64_t c = 0; c < f->t->n; c++) relax_cell(f, c);
    PCSIM_TRY(fine_residual(f));
    const double now = norm_of(f);
    if (now <= norm) {
      norm = now;
      continue;
    }
    memcpy(f->t->q, f->before, bytes);
    return fine_residual(f);
  }
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- estimate */

/* Value of the quantity of the fine state. */
static pcsim_status fine_value(fine_problem *f, const pcsim_functional *quantity, double *value) {
  transport_functional *functional = NULL;
  transport_adjoint *adjoint = NULL;
  pcsim_status status;
  PCSIM_TRY(transport_functional_create(f->t, quantity, &functional));
  PCSIM_GOTO(transport_adjoint_create(f->t, NULL, 0, &adjoint), status, done);
  status = transport_adjoint_functional(adjoint, functional, value, f->after, NULL);
done:
  transport_adjoint_destroy(&adjoint);
  transport_functional_destroy(f->t, &functional);
  return status;
}

/* What rough fluxes give to a cell they take from its neighbours: shares become means over the cells around,
 * twice. `share` [nt], `work` [nt]. */
static pcsim_status smooth(const transport *coarse, double *share, double *work) {
  const pcsim_mesh_view *v = coarse->view;
  for (int pass = 0; pass < 2; pass++) {
    PCSIM_TRY(pcsim_mesh_exchange(coarse->mesh, 1, share));
    for (int64_t c = 0; c < coarse->n; c++) {
      double sum = share[c], volume = coarse->volume[c];
      for (int64_t k = v->near_start[c]; k < v->near_start[c + 1]; k++)
        sum += share[v->near[k]], volume += coarse->volume[v->near[k]];
      work[c] = sum / volume * coarse->volume[c];
    }
    memcpy(share, work, (size_t)coarse->n * sizeof *share);
  }
  return PCSIM_OK;
}

/* -psi R of the fine mesh, its sum over all, and shares of coarse cells. */
static pcsim_status weigh(fine_problem *f, const prolongation *p, const transport *coarse, double *indicator,
                          double *sum) {
  const int m = f->t->m;
  double *share = NULL;
  *sum = 0;
  for (int64_t c = 0; c < f->t->n; c++) {
    double product = 0;
    for (int i = 0; i < m; i++) product -= f->psi[c * m + i] * f->r[c * m + i];
    f->after[c] = product;
    *sum += product;
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(f->t->mesh));
  pcsim_status status = pcsim_status_agree(pcsim_mesh_comm(coarse->mesh),
                                           pcsim_alloc(2 * (size_t)coarse->nt, sizeof *share, &share));
  if (status == PCSIM_OK) status = prolong_sum(p, 1, f->after, share);
  if (status == PCSIM_OK) status = smooth(coarse, share, share + coarse->nt);
  for (int64_t c = 0; status == PCSIM_OK && c < coarse->n; c++) indicator[c] = WHOLE * fabs(share[c]);
  pcsim_free(&share);
  return status;
}

static pcsim_status carry(fine_problem *f, const prolongation *p, const transport *coarse,
                          const double *psi) {
  const size_t size = (size_t)(coarse->nt * coarse->m);
  double *work = NULL;
  pcsim_status status =
      pcsim_status_agree(pcsim_mesh_comm(coarse->mesh), pcsim_alloc(size, sizeof *work, &work));
  if (status != PCSIM_OK) return status;
  memcpy(work, psi, (size_t)(coarse->n * coarse->m) * sizeof *work);
  PCSIM_GOTO(prolong_apply(p, coarse->m, work, f->psi), status, done);
  memcpy(work, coarse->q, (size_t)(coarse->n * coarse->m) * sizeof *work);
  status = prolong_apply(p, coarse->m, work, f->t->q);
done:
  pcsim_free(&work);
  return status;
}

static pcsim_status estimate(fine_problem *f, const prolongation *p, const transport *coarse,
                             const pcsim_functional *quantity, const double *psi,
                             pcsim_transport_estimate *out) {
  double value, product;
  PCSIM_TRY(carry(f, p, coarse, psi));
  PCSIM_TRY(transport_set_time(f->t, 0));
  PCSIM_TRY(fine_residual(f));
  PCSIM_TRY(relax(f));
  PCSIM_TRY(fine_value(f, quantity, &value));
  PCSIM_TRY(weigh(f, p, coarse, out->indicator, &product));
  out->error = WHOLE * (value + product - out->value);
  out->corrected = out->value + out->error;
  return PCSIM_OK;
}

pcsim_status transport_estimate(const transport *coarse, const pcsim_mesh *mesh,
                                const pcsim_transport_problem *problem, const pcsim_functional *quantity,
                                const double *psi, pcsim_transport_estimate *out) {
  fine_problem f;
  prolongation *p = NULL;
  pcsim_status status = fine_create(coarse, mesh, problem, &f);
  PCSIM_GOTO(status, status, done);
  PCSIM_GOTO(prolong_create(coarse->mesh, mesh, coarse->problem->material, &p), status, done);
  status = estimate(&f, p, coarse, quantity, psi, out);
done:
  prolong_destroy(&p);
  fine_free(&f);
  return status;
}
