/* SPDX-License-Identifier: BSD-2-Clause */
/** @file typed_case.h  Private to physics/: all that a case says about typed equations. */
#ifndef PCSIM_PHYSICS_TYPED_CASE_H
#define PCSIM_PHYSICS_TYPED_CASE_H

#include "typed.h"

/** What the case says, before it is put on the mesh; m unknowns. */
typedef struct {
  typed_names names;
  int num_equations, num_sources;
  typed_equation *equations;
  typed_source *sources;
  typed_conditions conditions;
  pcsim_expr **initial;            /* [m] */
  const pcsim_node **initial_text; /* [m] */
  bool has_initial;
  pcsim_expr *force[3]; /* of the flow that the equations join */
  const pcsim_node *force_text[3];
  bool has_force;
} typed_case;

/** Read it; `mesh` NULL: it is not known yet. Faults go to the tree. typed_case_clear after a failure too.
 * Errors: ERR_MEMORY. */
pcsim_status typed_case_read(pcsim_tree *tree, const pcsim_mesh *mesh, typed_case *c) PCSIM_NODISCARD;
void typed_case_clear(typed_case *c);

#endif
