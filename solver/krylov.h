/* SPDX-License-Identifier: BSD-2-Clause */
/** @file krylov.h  Private to solver/: what the linear systems of this folder share around PETSc's KSP. All
 * of it is all-PETSc (PetscErrorCode) but for the last two. Vectors hold the unknowns of a rank's
 * owned cells; arrays beside them are as long. Collective unless said otherwise. */
#ifndef PCSIM_SOLVER_KRYLOV_H
#define PCSIM_SOLVER_KRYLOV_H

#include <pcsim/base.h>

#include <petscksp.h>

/** y = A x on a rank's unknowns; x and y are not the same. */
typedef pcsim_status (*krylov_function)(void *context, const double *x, double *y);

/** Such a map as PETSc calls it; `what` names it in the message of a failure. Lent to the operator or
 *  preconditioner that is made of it, and looked at in each product. */
typedef struct {
  krylov_function apply;
  void *context;
  const char *what;
} krylov_map;
/** Values of an array into a vector and back; local. */
PetscErrorCode krylov_put(const double *values, Vec x);
PetscErrorCode krylov_take(Vec x, double *values);
/** The operator of `size` unknowns on this rank whose product is `product`. Caller destroys. */
PetscErrorCode krylov_create_shell(MPI_Comm comm, PetscInt size, krylov_map *product, Mat *op);
/** Vectors b and x of `cells` blocks of m unknowns, and such an operator. Caller destroys them, after a
 * failure too. */
PetscErrorCode krylov_create_operator(MPI_Comm comm, PetscInt m, PetscInt cells, krylov_map *product, Vec *b,
                                      Vec *x, Mat *op);
/** A pressure that nothing fixes: unknown `component` of all blocks as the null space of `op`, which holds
 * it. */
PetscErrorCode krylov_set_null_space(Vec like, PetscInt component, Mat op);
/** Flexible GMRES on `op`, its preconditioner from `from`; tolerances may be changed later. Caller destroys.
 */
PetscErrorCode krylov_create(MPI_Comm comm, Mat op, Mat from, PetscInt restart, PetscInt iterations_max,
                             KSP *ksp);
/** The preconditioner of `ksp` is `apply`; PETSc shows it as `name`. */
PetscErrorCode krylov_use_shell(KSP ksp, krylov_map *apply, const char *name);
/** Solve to a relative tolerance with `options` (NULL: none) pushed; the null space of the operator is taken
 *  out of b. */
PetscErrorCode krylov_solve(KSP ksp, PetscOptions options, double tolerance, Vec b, Vec x,
                            PetscInt *iterations, KSPConvergedReason *reason);
/** to = the preconditioner of `ksp`, or its transpose, times from; b and x are workspaces. It is kept after.
 */
PetscErrorCode krylov_precondition(KSP ksp, PetscOptions options, bool transposed, const double *from, Vec b,
                                   Vec x, double *to);
/** A system that is solved once. */
typedef struct {
  PetscInt width, cells; /**< unknowns of a cell, cells of this rank */
  PetscInt level;        /**< component that nothing fixes, krylov_set_null_space; -1: none */
  krylov_map *product, *preconditioner;
  const char *name; /**< of the preconditioner, as PETSc shows it */
} krylov_system;
/** Flexible GMRES from 0, restarted after 60 of at most 600 steps; b and x [cells][width]. Errors: what the
 *  maps return, ERR_LIBRARY. */
pcsim_status krylov_solve_once(MPI_Comm comm, const krylov_system *system, const double *b, double tolerance,
                               double *x, int64_t *iterations, bool *converged) PCSIM_NODISCARD;
/** With options from the case, what PETSc refuses is the case's affair: ERR_LIBRARY becomes ERR_CASE with the
 *  text of the options in front, unless that is empty. Local. */
pcsim_status krylov_blame_options(const char *options, pcsim_status status);

#endif
