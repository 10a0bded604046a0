/* SPDX-License-Identifier: BSD-2-Clause */
/* The transposed linear system of a flow and equations that join it. */
#include "joined_adjoint.h"
#include "krylov.h"

#include <string.h>

/* With D the scales of unknowns and W the weights of equations the system D A^T W (W^-1 w) = D b is solved.
 */
typedef struct {
  joined_adjoint *a;
  double *work, *right; /* [n][width] of a product, of the solve */
  double *part, *laws;  /* [n][mf], [n][mt] */
} solver;

/* Of entry i of a cell: rows are unknowns, columns equations. */
static double row_scale(const joined *j, int i) { return i <= j->mf ? 1 : j->scale[i - 1]; }
static double column_scale(const joined *j, int i) {
  return i <= j->mf ? 1 : 1 / (j->f->scale_velocity * j->scale[i - 1]);
}

static void scale(const joined *j, double (*by)(const joined *, int), const double *v, double *w) {
  const int width = joined_adjoint_width(j);
  for (int64_t c = 0; c < j->f->n; c++)
    for (int i = 0; i < width; i++) w[c * width + i] = by(j, i) * v[c * width + i];
}

static pcsim_status product(void *context, const double *v, double *w) {
  const solver *s = context;
  const joined *j = s->a->j;
  scale(j, column_scale, v, s->work);
  PCSIM_TRY(joined_adjoint_product(s->a, s->work, w));
  scale(j, row_scale, w, w);
  return PCSIM_OK;
}

/* The flow by its transposed compact Jacobian, each coefficient by itself, then the laws with what the force
 * hands back. */
static pcsim_status precondition(void *context, const double *v, double *w) {
  const solver *s = context;
  const joined *j = s->a->j;
  const flow *f = j->f;
  const int mf = j->mf, mt = j->m - mf, width = joined_adjoint_width(j);
  for (int64_t c = 0; c < f->n; c++) {
    memcpy(s->part + c * mf, v + c * width, (size_t)mf * sizeof *v);
    w[c * width + mf] = v[c * width + mf] / f->a_p[c];
    for (int i = 0; i < mt; i++) s->laws[c * mt + i] = v[c * width + mf + 1 + i] / row_scale(j, mf + 1 + i);
  }
  PCSIM_TRY(flow_linear_precondition_transposed(j->flow_linear, s->part, s->part));
  PCSIM_TRY(joined_adjoint_push_back(s->a, s->part, s->laws));
  PCSIM_TRY(transport_linear_precondition_transposed(j->transport_linear, s->laws, s->laws));
  for (int64_t c = 0; c < f->n; c++) {
    memcpy(w + c * width, s->part + c * mf, (size_t)mf * sizeof *w);
    for (int i = 0; i < mt; i++)
      w[c * width + mf + 1 + i] = s->laws[c * mt + i] / column_scale(j, mf + 1 + i);
  }
  return PCSIM_OK;
}

static pcsim_status allocate(solver *s) {
  const joined *j = s->a->j;
  const size_t n = (size_t)j->f->n;
  PCSIM_TRY(pcsim_alloc(n * (size_t)joined_adjoint_width(j), sizeof(double), &s->work));
  PCSIM_TRY(pcsim_alloc(n * (size_t)joined_adjoint_width(j), sizeof(double), &s->right));
  PCSIM_TRY(pcsim_alloc(n * (size_t)j->mf, sizeof(double), &s->part));
  return pcsim_alloc(n * (size_t)(j->m - j->mf), sizeof(double), &s->laws);
}

pcsim_status joined_adjoint_solve(joined_adjoint *a, const double *b, double tolerance, double *w,
                                  int64_t *iterations, bool *converged) {
  const joined *j = a->j;
  solver s = {.a = a};
  krylov_map transposed = {product, &s, "transposed product"},
             preconditioner = {precondition, &s, "transposed preconditioner"};
  /* a pressure that nothing fixes: neither is the sum of the continuity equations' multipliers */
  const krylov_system system = {.width = joined_adjoint_width(j),
                                .cells = (PetscInt)j->f->n,
                                .level = j->f->problem->pressure_free ? j->mf - 1 : -1,
                                .product = &transposed,
                                .preconditioner = &preconditioner,
                                .name = "pcsim transposed flow and joined equations"};
  MPI_Comm comm = pcsim_mesh_comm(j->f->mesh);
  pcsim_status status = pcsim_status_agree(comm, allocate(&s));
  if (status == PCSIM_OK) status = flow_linear_update_transposed(j->flow_linear);
  if (status == PCSIM_OK) status = transport_linear_update(j->transport_linear);
  if (status == PCSIM_OK) status = transport_linear_update_transposed(j->transport_linear);
  if (status == PCSIM_OK) {
    scale(j, row_scale, b, s.right);
    status = krylov_solve_once(comm, &system, s.right, tolerance, w, iterations, converged);
  }
  if (status == PCSIM_OK) scale(j, column_scale, w, w);
  pcsim_free(&s.work), pcsim_free(&s.right), pcsim_free(&s.part), pcsim_free(&s.laws);
  return status;
}
