/* SPDX-License-Identifier: BSD-2-Clause */
/* The transposed linear system of the flow and its coefficients. */
#include "flow_adjoint.h"
#include "krylov.h"

#include <string.h>

typedef struct {
  flow_adjoint *adjoint;
  flow_linear *linear;
  const flow *f;
  double *part; /* [n][m] of a vector without the coefficients, and what comes out */
} solver;

static pcsim_status product(void *context, const double *v, double *w) {
  return flow_adjoint_product(((solver *)context)->adjoint, v, w);
}

/* The state by the transposed compact Jacobian, each coefficient by itself. */
static pcsim_status precondition(void *context, const double *v, double *w) {
  const solver *s = context;
  const flow *f = s->f;
  const int m = f->dim + 1;
  for (int64_t c = 0; c < f->n; c++) {
    memcpy(s->part + c * m, v + c * (m + 1), (size_t)m * sizeof *v);
    w[c * (m + 1) + m] = v[c * (m + 1) + m] / f->a_p[c];
  }
  PCSIM_TRY(flow_linear_precondition_transposed(s->linear, s->part, s->part));
  for (int64_t c = 0; c < f->n; c++) memcpy(w + c * (m + 1), s->part + c * m, (size_t)m * sizeof *w);
  return PCSIM_OK;
}

pcsim_status flow_adjoint_solve(flow_adjoint *adjoint, const flow *f, flow_linear *linear, const double *b,
                                double tolerance, double *w, int64_t *iterations, bool *converged) {
  solver s = {.adjoint = adjoint, .linear = linear, .f = f};
  krylov_map transposed = {product, &s, "transposed product"},
             preconditioner = {precondition, &s, "transposed preconditioner"};
  /* a pressure that nothing fixes: neither is the sum of the continuity equations' multipliers */
  const krylov_system system = {.width = f->dim + 2,
                                .cells = (PetscInt)f->n,
                                .level = f->problem->pressure_free ? f->dim : -1,
                                .product = &transposed,
                                .preconditioner = &preconditioner,
                                .name = "pcsim transposed flow and coefficients"};
  MPI_Comm comm = pcsim_mesh_comm(f->mesh);
  pcsim_status status = pcsim_alloc((size_t)(f->n * (f->dim + 1)), sizeof(double), &s.part);
  status = pcsim_status_agree(comm, status);
  if (status == PCSIM_OK) status = flow_linear_update_transposed(linear);
  if (status == PCSIM_OK) status = krylov_solve_once(comm, &system, b, tolerance, w, iterations, converged);
  pcsim_free(&s.part);
  return status;
}
