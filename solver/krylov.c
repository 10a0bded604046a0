/* SPDX-License-Identifier: BSD-2-Clause */
#include "krylov.h"
#include "petsc_error.h"

#include <stdio.h>
#include <string.h>

static PetscErrorCode call(const krylov_map *map, Vec x, Vec y) {
  const PetscScalar *v;
  PetscScalar *w;
  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &v));
  PetscCall(VecGetArray(y, &w));
  const pcsim_status status = map->apply(map->context, v, w);
  PetscCall(VecRestoreArrayRead(x, &v));
  PetscCall(VecRestoreArray(y, &w));
  if (status != PCSIM_OK) {
    pcsim_petsc_inner(status);
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", map->what);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode multiply(Mat mat, Vec x, Vec y) {
  krylov_map *map;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(mat, &map));
  PetscCall(call(map, x, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode precondition(PC pc, Vec x, Vec y) {
  krylov_map *map;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &map));
  PetscCall(call(map, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode krylov_put(const double *values, Vec x) {
  PetscInt size;
  PetscScalar *w;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &size));
  PetscCall(VecGetArrayWrite(x, &w));
  memcpy(w, values, (size_t)size * sizeof *w);
  PetscCall(VecRestoreArrayWrite(x, &w));
  PetscFunctionReturn(0);
}

PetscErrorCode krylov_take(Vec x, double *values) {
  PetscInt size;
  const PetscScalar *v;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &size));
  PetscCall(VecGetArrayRead(x, &v));
  memcpy(values, v, (size_t)size * sizeof *values);
  PetscCall(VecRestoreArrayRead(x, &v));
  PetscFunctionReturn(0);
}

PetscErrorCode krylov_create_shell(MPI_Comm comm, PetscInt size, krylov_map *product, Mat *op) {
  PetscFunctionBegin;
  PetscCall(MatCreateShell(comm, size, size, PETSC_DETERMINE, PETSC_DETERMINE, product, op));
  PetscCall(MatShellSetOperation(*op, MATOP_MULT, (void (*)(void))multiply));
  PetscFunctionReturn(0);
}

PetscErrorCode krylov_create_operator(MPI_Comm comm, PetscInt m, PetscInt cells, krylov_map *product, Vec *b,
                                      Vec *x, Mat *op) {
  PetscFunctionBegin;
  PetscCall(VecCreateMPI(comm, m * cells, PETSC_DETERMINE, b));
  PetscCall(VecSetBlockSize(*b, m));
  PetscCall(VecDuplicate(*b, x));
  PetscCall(krylov_create_shell(comm, m * cells, product, op));
  PetscFunctionReturn(0);
}

PetscErrorCode krylov_set_null_space(Vec like, PetscInt component, Mat op) {
  Vec constant;
  MatNullSpace space;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(like, &constant));
  PetscCall(VecSet(constant, 0));
  PetscCall(VecStrideSet(constant, component, 1));
  PetscCall(VecNormalize(constant, NULL));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)like), PETSC_FALSE, 1, &constant, &space));
  PetscCall(MatSetNullSpace(op, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroy(&constant));
  PetscFunctionReturn(0);
}

PetscErrorCode krylov_create(MPI_Comm comm, Mat op, Mat from, PetscInt restart, PetscInt iterations_max,
                             KSP *ksp) {
  PetscFunctionBegin;
  PetscCall(KSPCreate(comm, ksp));
  PetscCall(KSPSetType(*ksp, KSPFGMRES));
  PetscCall(KSPGMRESSetRestart(*ksp, restart));
  PetscCall(KSPSetTolerances(*ksp, 0.1, 1e-300, 1e10, iterations_max));
  PetscCall(KSPSetOperators(*ksp, op, from));
  PetscFunctionReturn(0);
}

PetscErrorCode krylov_use_shell(KSP ksp, krylov_map *apply, const char *name) {
  PC pc;
  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, apply));
  PetscCall(PCShellSetApply(pc, precondition));
  PetscCall(PCShellSetName(pc, name));
  PetscFunctionReturn(0);
}

PetscErrorCode krylov_solve(KSP ksp, PetscOptions options, double tolerance, Vec b, Vec x,
                            PetscInt *iterations, KSPConvergedReason *reason) {
  Mat op;
  MatNullSpace space;
  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &op, NULL));
  PetscCall(MatGetNullSpace(op, &space));
  if (space) PetscCall(MatNullSpaceRemove(space, b));
  PetscCall(KSPSetTolerances(ksp, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  if (options) PetscCall(PetscOptionsPush(options));
  const PetscErrorCode code = KSPSolve(ksp, b, x);
  if (options) PetscCall(PetscOptionsPop()); /* after a failure too: pushed options cannot be destroyed */
  PetscCall(code);
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscFunctionReturn(0);
}

PetscErrorCode krylov_precondition(KSP ksp, PetscOptions options, bool transposed, const double *from, Vec b,
                                   Vec x, double *to) {
  PC pc;
  PetscFunctionBegin;
  PetscCall(krylov_put(from, b));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscOptionsPush(options));
  PetscErrorCode code = KSPSetUp(ksp);
  if (!code) code = transposed ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x);
  PetscCall(PetscOptionsPop());
  PetscCall(code);
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  PetscCall(krylov_take(x, to));
  PetscFunctionReturn(0);
}

/* What one solve makes. */
typedef struct {
  Mat product;
  Vec b, x;
  KSP ksp;
} once;

static PetscErrorCode run_once(once *o, MPI_Comm comm, const krylov_system *s, const double *b,
                               double tolerance, double *x, PetscInt *iterations,
                               KSPConvergedReason *reason) {
  PetscFunctionBegin;
  PetscCall(krylov_create_operator(comm, s->width, s->cells, s->product, &o->b, &o->x, &o->product));
  if (s->level >= 0) PetscCall(krylov_set_null_space(o->b, s->level, o->product));
  PetscCall(krylov_create(comm, o->product, o->product, 60, 600, &o->ksp));
  PetscCall(krylov_use_shell(o->ksp, s->preconditioner, s->name));
  PetscCall(krylov_put(b, o->b));
  PetscCall(krylov_solve(o->ksp, NULL, tolerance, o->b, o->x, iterations, reason));
  PetscCall(krylov_take(o->x, x));
  PetscFunctionReturn(0);
}

static PetscErrorCode tear_down(once *o) {
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&o->ksp));
  PetscCall(MatDestroy(&o->product));
  PetscCall(VecDestroy(&o->b));
  PetscCall(VecDestroy(&o->x));
  PetscFunctionReturn(0);
}

pcsim_status krylov_solve_once(MPI_Comm comm, const krylov_system *system, const double *b, double tolerance,
                               double *x, int64_t *iterations, bool *converged) {
  once o = {0};
  PetscInt its = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  const pcsim_status status = PCSIM_PETSC(run_once(&o, comm, system, b, tolerance, x, &its, &reason));
  (void)tear_down(&o);
  *iterations = its;
  *converged = reason > 0;
  return status;
}

pcsim_status krylov_blame_options(const char *options, pcsim_status status) {
  char text[640];
  if (status != PCSIM_ERR_LIBRARY || !options[0]) return status;
  snprintf(text, sizeof text, "%s", pcsim_error_message());
  PCSIM_FAIL(PCSIM_ERR_CASE, "solve.linear.petsc: \"%s\" does not work; %s", options, text);
}
