/* SPDX-License-Identifier: BSD-2-Clause */
/** @file petsc_error.h  Private: the border between PETSc's error codes and pcsim's statuses. */
#ifndef PCSIM_SOLVER_PETSC_ERROR_H
#define PCSIM_SOLVER_PETSC_ERROR_H

#include <pcsim/base.h>

/** Call an all-PETSc expression with pcsim's error handler in place of PETSc's printing one. */
#define PCSIM_PETSC(call) (pcsim_petsc_begin(), pcsim_petsc_end((int)(call), __FILE__, __LINE__, __func__))
void pcsim_petsc_begin(void);
/** A call-back that PETSc runs has failed with this status: it and its message win over PETSc's. */
void pcsim_petsc_inner(pcsim_status status);
pcsim_status pcsim_petsc_end(int code, const char *file, int line, const char *func);

#endif
