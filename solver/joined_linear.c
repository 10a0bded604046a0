/* SPDX-License-Identifier: BSD-2-Clause */
/* Linear systems of a flow and the equations that join it: flexible GMRES of PETSc on the exact tangent, rows
 * in the scale of the flow's. Functions are all-PETSc (PetscErrorCode) or all-pcsim; PCSIM_PETSC is the
 * border. */
#include "joined.h"
#include "krylov.h"
#include "petsc_error.h"

struct joined_linear {
  joined *j;
  KSP ksp;
  Mat tangent;
  krylov_map product, preconditioner;
  Vec b, x;
  double *work; /* [n][m] */
};

/* Rows in the scale of the flow's. */
static pcsim_status tangent(void *context, const double *v, double *w) {
  const joined *j = ((joined_linear *)context)->j;
  PCSIM_TRY(joined_tangent(((joined_linear *)context)->j, v, w));
  for (int64_t k = 0; k < j->f->n * j->m; k++) w[k] *= j->row_weight[k];
  return PCSIM_OK;
}

static pcsim_status precondition(void *context, const double *v, double *w) {
  joined_linear *l = context;
  for (int64_t k = 0; k < l->j->f->n * l->j->m; k++) l->work[k] = v[k] / l->j->row_weight[k];
  return joined_precondition(l->j, l->work, w);
}

static PetscErrorCode create(joined_linear *l, MPI_Comm comm) {
  const PetscInt m = l->j->m, n = (PetscInt)l->j->f->n;
  PetscFunctionBegin;
  l->product = (krylov_map){tangent, l, "tangent"};
  l->preconditioner = (krylov_map){precondition, l, "preconditioner"};
  PetscCall(krylov_create_operator(comm, m, n, &l->product, &l->b, &l->x, &l->tangent));
  if (l->j->f->problem->pressure_free) PetscCall(krylov_set_null_space(l->b, l->j->mf - 1, l->tangent));
  PetscCall(krylov_create(comm, l->tangent, l->tangent, 40, 120, &l->ksp));
  PetscCall(krylov_use_shell(l->ksp, &l->preconditioner, "pcsim flow and joined equations"));
  PetscFunctionReturn(0);
}

pcsim_status joined_linear_create(joined *j, joined_linear **out) {
  joined_linear *l = NULL;
  MPI_Comm comm = pcsim_mesh_comm(j->f->mesh);
  *out = NULL;
  PCSIM_TRY(pcsim_status_agree(comm, pcsim_alloc(1, sizeof *l, &l)));
  l->j = j;
  pcsim_status status = pcsim_alloc((size_t)(j->f->n * j->m), sizeof *l->work, &l->work);
  status = pcsim_status_agree(comm, status);
  if (status == PCSIM_OK) status = PCSIM_PETSC(create(l, comm));
  if (status != PCSIM_OK) joined_linear_destroy(&l);
  *out = l;
  return status;
}

static PetscErrorCode destroy(joined_linear *l) {
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&l->ksp));
  PetscCall(MatDestroy(&l->tangent));
  PetscCall(VecDestroy(&l->b));
  PetscCall(VecDestroy(&l->x));
  PetscFunctionReturn(0);
}

void joined_linear_destroy(joined_linear **out) {
  if (!*out) return;
  (void)destroy(*out);
  pcsim_free(&(*out)->work);
  pcsim_free(out);
}

static PetscErrorCode solve(joined_linear *l, const double *b, double *x, double tolerance,
                            PetscInt *iterations, KSPConvergedReason *reason) {
  PetscFunctionBegin;
  for (int64_t k = 0; k < l->j->f->n * l->j->m; k++) l->work[k] = b[k] * l->j->row_weight[k];
  PetscCall(krylov_put(l->work, l->b));
  PetscCall(krylov_solve(l->ksp, NULL, tolerance, l->b, l->x, iterations, reason));
  PetscCall(krylov_take(l->x, x));
  PetscFunctionReturn(0);
}

pcsim_status joined_linear_solve(joined_linear *l, const double *b, double *x, double tolerance,
                                 int64_t *iterations, bool *converged) {
  PetscInt its = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PCSIM_TRY(PCSIM_PETSC(solve(l, b, x, tolerance, &its, &reason)));
  *iterations = its;
  *converged = reason > 0;
  return PCSIM_OK;
}
