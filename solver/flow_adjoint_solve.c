/* SPDX-License-Identifier: BSD-2-Clause */
/* The transposed linear system of the flow and its coefficients: flexible GMRES of PETSc. Functions are
 * all-PETSc (PetscErrorCode) or all-pcsim; PCSIM_PETSC is the border. */
#include "flow_adjoint.h"
#include "krylov.h"
#include "petsc_error.h"

#include <string.h>

typedef struct {
  flow_adjoint *adjoint;
  flow_linear *linear;
  const flow *f;
  double *part; /* [n][m] of a vector without the coefficients, and what comes out */
  krylov_map transposed, preconditioner;
  Mat product;
  Vec b, x;
  KSP ksp;
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

static PetscErrorCode run(solver *s, MPI_Comm comm, const double *b, double tolerance, double *w,
                          PetscInt *iterations, KSPConvergedReason *reason) {
  const PetscInt width = s->f->dim + 2;
  PetscFunctionBegin;
  PetscCall(
      krylov_create_operator(comm, width, (PetscInt)s->f->n, &s->transposed, &s->b, &s->x, &s->product));
  /* a pressure that nothing fixes: neither is the sum of the continuity equations' multipliers */
  if (s->f->problem->pressure_free) PetscCall(krylov_set_null_space(s->b, s->f->dim, s->product));
  PetscCall(krylov_create(comm, s->product, s->product, 60, 600, &s->ksp));
  PetscCall(krylov_use_shell(s->ksp, &s->preconditioner, "pcsim transposed flow and coefficients"));
  PetscCall(krylov_put(b, s->b));
  PetscCall(krylov_solve(s->ksp, NULL, tolerance, s->b, s->x, iterations, reason));
  PetscCall(krylov_take(s->x, w));
  PetscFunctionReturn(0);
}

static PetscErrorCode tear_down(solver *s) {
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(MatDestroy(&s->product));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscFunctionReturn(0);
}

pcsim_status flow_adjoint_solve(flow_adjoint *adjoint, const flow *f, flow_linear *linear, const double *b,
                                double tolerance, double *w, int64_t *iterations, bool *converged) {
  solver s = {.adjoint = adjoint,
              .linear = linear,
              .f = f,
              .transposed = {product, &s, "transposed product"},
              .preconditioner = {precondition, &s, "transposed preconditioner"}};
  PetscInt its = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  MPI_Comm comm = pcsim_mesh_comm(f->mesh);
  pcsim_status status = pcsim_alloc((size_t)(f->n * (f->dim + 1)), sizeof(double), &s.part);
  status = pcsim_status_agree(comm, status);
  if (status == PCSIM_OK) status = flow_linear_update_transposed(linear);
  if (status == PCSIM_OK) status = PCSIM_PETSC(run(&s, comm, b, tolerance, w, &its, &reason));
  (void)tear_down(&s);
  pcsim_free(&s.part);
  *iterations = its;
  *converged = reason > 0;
  return status;
}
