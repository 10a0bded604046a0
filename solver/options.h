/* SPDX-License-Identifier: BSD-2-Clause */
/** @file options.h  Private to solver/: keys of `solve:` that every solver reads alike. */
#ifndef PCSIM_SOLVER_OPTIONS_H
#define PCSIM_SOLVER_OPTIONS_H

#include <pcsim/solver.h>

/** Where `linear:` goes. */
typedef struct {
  const char *const *methods; /**< [num] names; a mapping may say petsc too */
  size_t num;
  char *linear; /**< [16] gets the name */
  char *petsc;  /**< [PETSC_OPTIONS] gets PETSc's options */
  double *tolerance;
  const char *fallback; /**< of the tolerance, as the completed case has it */
} linear_choice;
enum { PETSC_OPTIONS = sizeof((pcsim_flow_options *)0)->petsc };

/** `linear:`, a name or a mapping; problems go to the tree. */
void options_read_linear(pcsim_tree *tree, const pcsim_node *solve, linear_choice choice);
/** `time:`, and `steady:` if it contradicts it. */
void options_read_time(pcsim_tree *tree, const pcsim_node *solve, pcsim_time *time);

#endif
