/* SPDX-License-Identifier: BSD-2-Clause */
/* Linear systems of a flow and the equations that join it: flexible GMRES of PETSc on the exact tangent, rows
 * in the scale of the flow's. Functions are all-PETSc (PetscErrorCode) or all-pcsim; PCSIM_PETSC is the
 * border. */
#include "joined.h"
#include "petsc_error.h"

#include <petscksp.h>
#include <string.h>

struct joined_linear {
  joined *j;
  KSP ksp;
  Mat tangent;
  Vec b, x;
  double *work; /* [n][m] */
};

static PetscErrorCode apply_tangent(Mat mat, Vec x, Vec y) {
  joined_linear *l;
  const PetscScalar *v;
  PetscScalar *w;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(mat, &l));
  PetscCall(VecGetArrayRead(x, &v));
  PetscCall(VecGetArray(y, &w));
  const pcsim_status status = joined_tangent(l->j, v, w);
  for (int64_t k = 0; k < l->j->f->n * l->j->m; k++) w[k] *= l->j->row_weight[k];
  PetscCall(VecRestoreArrayRead(x, &v));
  PetscCall(VecRestoreArray(y, &w));
  if (status != PCSIM_OK) {
    pcsim_petsc_inner(status);
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "tangent");
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode apply_preconditioner(PC pc, Vec x, Vec y) {
  joined_linear *l;
  const PetscScalar *v;
  PetscScalar *w;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &l));
  PetscCall(VecGetArrayRead(x, &v));
  for (int64_t k = 0; k < l->j->f->n * l->j->m; k++) l->work[k] = v[k] / l->j->row_weight[k];
  PetscCall(VecRestoreArrayRead(x, &v));
  PetscCall(VecGetArray(y, &w));
  const pcsim_status status = joined_precondition(l->j, l->work, w);
  PetscCall(VecRestoreArray(y, &w));
  if (status != PCSIM_OK) {
    pcsim_petsc_inner(status);
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "preconditioner");
  }
  PetscFunctionReturn(0);
}

/* A pressure that nothing fixes. */
static PetscErrorCode set_null_space(joined_linear *l) {
  Vec constant;
  MatNullSpace space;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(l->b, &constant));
  PetscCall(VecSet(constant, 0));
  PetscCall(VecStrideSet(constant, l->j->mf - 1, 1));
  PetscCall(VecNormalize(constant, NULL));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)l->b), PETSC_FALSE, 1, &constant, &space));
  PetscCall(MatSetNullSpace(l->tangent, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroy(&constant));
  PetscFunctionReturn(0);
}

static PetscErrorCode create(joined_linear *l, MPI_Comm comm) {
  const PetscInt m = l->j->m, size = m * (PetscInt)l->j->f->n;
  PC pc;
  PetscFunctionBegin;
  PetscCall(VecCreateMPI(comm, size, PETSC_DETERMINE, &l->b));
  PetscCall(VecSetBlockSize(l->b, m));
  PetscCall(VecDuplicate(l->b, &l->x));
  PetscCall(MatCreateShell(comm, size, size, PETSC_DETERMINE, PETSC_DETERMINE, l, &l->tangent));
  PetscCall(MatShellSetOperation(l->tangent, MATOP_MULT, (void (*)(void))apply_tangent));
  if (l->j->f->problem->pressure_free) PetscCall(set_null_space(l));
  PetscCall(KSPCreate(comm, &l->ksp));
  PetscCall(KSPSetType(l->ksp, KSPFGMRES));
  PetscCall(KSPGMRESSetRestart(l->ksp, 40));
  PetscCall(KSPSetTolerances(l->ksp, 0.1, 1e-300, 1e10, 120));
  PetscCall(KSPSetOperators(l->ksp, l->tangent, l->tangent));
  PetscCall(KSPGetPC(l->ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, l));
  PetscCall(PCShellSetApply(pc, apply_preconditioner));
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
  const int64_t size = l->j->f->n * l->j->m;
  PetscScalar *w;
  const PetscScalar *v;
  MatNullSpace space;
  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(l->b, &w));
  for (int64_t k = 0; k < size; k++) w[k] = b[k] * l->j->row_weight[k];
  PetscCall(VecRestoreArrayWrite(l->b, &w));
  PetscCall(MatGetNullSpace(l->tangent, &space));
  if (space) PetscCall(MatNullSpaceRemove(space, l->b));
  PetscCall(KSPSetTolerances(l->ksp, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSolve(l->ksp, l->b, l->x));
  PetscCall(KSPGetIterationNumber(l->ksp, iterations));
  PetscCall(KSPGetConvergedReason(l->ksp, reason));
  PetscCall(VecGetArrayRead(l->x, &v));
  memcpy(x, v, (size_t)size * sizeof *x);
  PetscCall(VecRestoreArrayRead(l->x, &v));
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
