/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flow_reverse.h  Private to the adjoint of the flow: what it holds, its programs run backwards. */
#ifndef PCSIM_SOLVER_FLOW_REVERSE_H
#define PCSIM_SOLVER_FLOW_REVERSE_H

#include "flow_adjoint.h"

/** Unknowns, what equations that join hand over, what is given, the geometry */
enum { REVERSE_WRT_MAX = 3 + 2 + 3 + 6 + 4 * FLOW_NUM_GROUPS };

/** Names that a reverse is taken by. */
typedef struct {
  int num;
  const char *name[REVERSE_WRT_MAX];
} reverse_wanted;

struct flow_adjoint {
  flow *f;
  bool shape;
  double *seed, *seed_tau;                      /* [nt][m], [nt], 0 in ghosts */
  double *q, *grad, *tau;                       /* [nt][m], [nt][m*d], [nt] what came to the unknowns */
  double *value[FLOW_NUM_GROUPS];               /* [num][m] */
  double *face, *node;                          /* [nb][m], [num_given][m] */
  double *place, *group_place[FLOW_NUM_GROUPS]; /* [ni][4], [num][4]: coordinates that a viscosity asks for */
  double *push;                  /* [nt][d], NULL where the force is constant and nothing joins */
  double *geometry, *volume;     /* [ni][FLOW_FACE_WIDTH], [nt] */
  double *wall[FLOW_NUM_GROUPS]; /* [num][FLOW_WALL_WIDTH] */
  double *jump, *pace;           /* [ni], [nt] of the state: what the reverse takes in place of making it */
  double nu, force[3], density;
  int num; /* parameters of the case */
  const char *const *parameter;
  int num_law;          /* those that the law of the viscosity has */
  const char **law;     /* [num_law] */
  int *law_place;       /* [num_law] among the parameters */
  double *law_gradient; /* [num_law] of the last run, this rank */
  bool joins;           /* equations do: */
  flow_joint joint;
  pcsim_executor *product, *full; /* reverses of the residual by unknowns and, `full`, by everything given */
};

/** Add those of its inputs that the program has. */
void reverse_want_unknowns(const flow_adjoint *a, const pcsim_program *p, reverse_wanted *w);
void reverse_want_given(const flow_adjoint *a, const pcsim_program *p, reverse_wanted *w);
void reverse_want_shape(const flow_adjoint *a, const pcsim_program *p, reverse_wanted *w);
bool reverse_wants(const reverse_wanted *w, const char *name);

/** Values of the state that a reverse is cut at, where its program has them. */
enum { REVERSE_NUM_STORED = 5 };
extern const char *const reverse_stored[REVERSE_NUM_STORED];
/** What the flow has not stored, from what it has; `p` has the outputs. */
pcsim_status reverse_evaluate_stored(flow_adjoint *a, const pcsim_program *p) PCSIM_NODISCARD;

/** The reverse of `p` by what is wanted and by parameters, its own outputs left out but for `also` (NULL:
 *  none); `cut`: at what is stored; `knows` as flow_programs_executor has it. The cotangents that were asked
 * for go to the arrays of the adjoint. Caller destroys. Errors: ERR_MEMORY, ERR_ARG. */
pcsim_status reverse_make_flow(flow_adjoint *a, const pcsim_program *p, int knows, const reverse_wanted *w,
                               const char *also, bool cut, const char *const *parameters, int num_parameters,
                               pcsim_executor **x) PCSIM_NODISCARD;
/** Cotangents of parameters go to `to` [num]. */
pcsim_status reverse_bind_parameters(pcsim_executor *x, const char *const *names, int num,
                                     double *to) PCSIM_NODISCARD;

#endif
