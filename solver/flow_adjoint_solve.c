/* SPDX-License-Identifier: BSD-2-Clause */
/* The transposed linear system of the flow and its coefficients: flexible GMRES of PETSc. Functions are
 * all-PETSc (PetscErrorCode) or all-pcsim; PCSIM_PETSC is the border. */
#include "flow_adjoint.h"
#include "petsc_error.h"

#include <petscksp.h>
#include <string.h>

typedef struct {
  flow_adjoint *adjoint;
  flow_linear *linear;
  const flow *f;
  double *part; /* [n][m] of a vector without the coefficients, and what comes out */
  Mat product;
  Vec b, x;
  KSP ksp;
} solver;

static PetscErrorCode apply_product(Mat mat, Vec x, Vec y) {
  solver *s;
  const PetscScalar *v;
  PetscScalar *w;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(mat, &s));
  PetscCall(VecGetArrayRead(x, &v));
  PetscCall(VecGetArray(y, &w));
  const pcsim_status status = flow_adjoint_product(s->adjoint, v, w);
  PetscCall(VecRestoreArrayRead(x, &v));
  PetscCall(VecRestoreArray(y, &w));
  if (status != PCSIM_OK) {
    pcsim_petsc_inner(status);
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "transposed product");
  }
  PetscFunctionReturn(0);
}

/* The state by the transposed compact Jacobian, each coefficient by itself. */
static pcsim_status precondition(solver *s, const double *v, double *w) {
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

static PetscErrorCode apply_preconditioner(PC pc, Vec x, Vec y) {
  solver *s;
  const PetscScalar *v;
  PetscScalar *w;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(VecGetArrayRead(x, &v));
  PetscCall(VecGetArray(y, &w));
  const pcsim_status status = precondition(s, v, w);
  PetscCall(VecRestoreArrayRead(x, &v));
  PetscCall(VecRestoreArray(y, &w));
  if (status != PCSIM_OK) {
    pcsim_petsc_inner(status);
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "transposed preconditioner");
  }
  PetscFunctionReturn(0);
}

/* A pressure that nothing fixes: neither is the sum of the continuity equations' multipliers. */
static PetscErrorCode create_null_space(solver *s) {
  const PetscInt m = s->f->dim + 1;
  Vec constant;
  MatNullSpace space;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(s->b, &constant));
  PetscCall(VecSet(constant, 0));
  PetscCall(VecStrideSet(constant, m - 1, 1));
  PetscCall(VecNormalize(constant, NULL));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)s->b), PETSC_FALSE, 1, &constant, &space));
  PetscCall(MatSetNullSpace(s->product, space));
  PetscCall(MatNullSpaceRemove(space, s->b));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroy(&constant));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_up(solver *s, MPI_Comm comm, const double *b, double tolerance) {
  const PetscInt width = s->f->dim + 2, size = width * (PetscInt)s->f->n;
  PetscScalar *w;
  PC pc;
  PetscFunctionBegin;
  PetscCall(VecCreateMPI(comm, size, PETSC_DETERMINE, &s->b));
  PetscCall(VecSetBlockSize(s->b, width));
  PetscCall(VecDuplicate(s->b, &s->x));
  PetscCall(VecGetArrayWrite(s->b, &w));
  memcpy(w, b, (size_t)size * sizeof *b);
  PetscCall(VecRestoreArrayWrite(s->b, &w));
  PetscCall(MatCreateShell(comm, size, size, PETSC_DETERMINE, PETSC_DETERMINE, s, &s->product));
  PetscCall(MatShellSetOperation(s->product, MATOP_MULT, (void (*)(void))apply_product));
  if (s->f->problem->pressure_free) PetscCall(create_null_space(s));
  PetscCall(KSPCreate(comm, &s->ksp));
  PetscCall(KSPSetType(s->ksp, KSPFGMRES));
  PetscCall(KSPGMRESSetRestart(s->ksp, 60));
  PetscCall(KSPSetTolerances(s->ksp, tolerance, 1e-300, 1e10, 600));
  PetscCall(KSPSetOperators(s->ksp, s->product, s->product));
  PetscCall(KSPGetPC(s->ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, s));
  PetscCall(PCShellSetApply(pc, apply_preconditioner));
  PetscFunctionReturn(0);
}

static PetscErrorCode run(solver *s, MPI_Comm comm, const double *b, double tolerance, double *w,
                          PetscInt *iterations, KSPConvergedReason *reason) {
  const PetscScalar *v;
  PetscFunctionBegin;
  PetscCall(set_up(s, comm, b, tolerance));
  PetscCall(KSPSolve(s->ksp, s->b, s->x));
  PetscCall(KSPGetIterationNumber(s->ksp, iterations));
  PetscCall(KSPGetConvergedReason(s->ksp, reason));
  PetscCall(VecGetArrayRead(s->x, &v));
  memcpy(w, v, (size_t)(s->f->n * (s->f->dim + 2)) * sizeof *w);
  PetscCall(VecRestoreArrayRead(s->x, &v));
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
  solver s = {.adjoint = adjoint, .linear = linear, .f = f};
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
