/* SPDX-License-Identifier: BSD-2-Clause */
/* The public solver of a flow and equations that join it: march, state in and out, fields. */
#include "flow_fields.h"
#include "joined.h"
#include "march.h"
#include "transport_fields.h"

#include <string.h>

struct pcsim_joined_solver {
  joined *j;
  discrete_system system;
  march *march;
  flow_field_arrays flow_fields;
  transport_field_arrays laws_fields;
};

pcsim_status pcsim_joined_solver_create(const pcsim_mesh *mesh, pcsim_flow_problem *flow_problem,
                                        const pcsim_transport_problem *laws,
                                        const pcsim_flow_options *options, pcsim_joined_solver **out) {
  pcsim_joined_solver *s = NULL;
  pcsim_status status;
  *out = NULL;
  PCSIM_CHECK(mesh && flow_problem && laws && options, PCSIM_ERR_ARG,
              "pcsim_joined_solver_create needs a mesh, two problems and options; found NULL");
  PCSIM_CHECK(!options->time.given, PCSIM_ERR_CASE,
              "equations that join a flow are solved to the steady state only; remove `solve.time`");
  PCSIM_TRY(pcsim_alloc(1, sizeof *s, &s));
  PCSIM_GOTO(joined_create(mesh, flow_problem, laws, options, &s->j), status, fail);
  joined_system(s->j, &s->system);
  const march_options steady = flow_march_options(mesh, options);
  PCSIM_GOTO(march_create(&s->system, &steady, &s->march), status, fail);
  *out = s;
  return PCSIM_OK;
fail:
  pcsim_joined_solver_destroy(&s);
  return status;
}

void pcsim_joined_solver_destroy(pcsim_joined_solver **out) {
  pcsim_joined_solver *s = *out;
  if (!s) return;
  march_destroy(&s->march);
  flow_fields_free(&s->flow_fields);
  if (s->j) transport_fields_free(s->j->t, &s->laws_fields);
  joined_destroy(&s->j);
  pcsim_free(out);
}

pcsim_status pcsim_joined_solver_run(pcsim_joined_solver *s, pcsim_solve_observer observer, void *context,
                                     pcsim_solve_result *result) {
  return march_run(s->march, observer, context, result);
}

pcsim_status pcsim_joined_solver_fields(pcsim_joined_solver *s, pcsim_flow_fields *flow_fields,
                                        pcsim_transport_fields *laws) {
  discrete_system *system = &s->system;
  if (!march_started(s->march)) PCSIM_TRY(march_start(s->march));
  /* state, gradients and carriers of the q that stands there */
  PCSIM_TRY(system->residual(system->context, 0, s->j->part_y));
  PCSIM_TRY(transport_update_boundary(s->j->t));
  PCSIM_TRY(flow_fields_fill(s->j->f, &s->flow_fields, 0, flow_fields));
  return transport_fields_fill(s->j->t, &s->laws_fields, 0, laws);
}

/* --------------------------------------------------------------------- state */

int pcsim_joined_solver_state_width(const pcsim_joined_solver *s) { return s->j->m; }

int64_t pcsim_joined_solver_state_step(const pcsim_joined_solver *s) {
  return march_get_state(s->march).step;
}

void pcsim_joined_solver_get_state(const pcsim_joined_solver *s, double *unknowns,
                                   double scalars[PCSIM_NUM_STATE_SCALARS]) {
  const march_state now = march_get_state(s->march);
  memcpy(unknowns, s->j->q, (size_t)(s->j->f->n * s->j->m) * sizeof *unknowns);
  memset(scalars, 0, PCSIM_NUM_STATE_SCALARS * sizeof *scalars);
  scalars[0] = (double)now.step;
  scalars[1] = now.cfl;
  scalars[2] = now.reference;
  scalars[3] = (double)now.linear_total;
}

pcsim_status pcsim_joined_solver_set_state(pcsim_joined_solver *s, const double *unknowns,
                                           const double scalars[PCSIM_NUM_STATE_SCALARS]) {
  PCSIM_CHECK(scalars[0] >= 0 && scalars[1] > 0 && scalars[2] > 0, PCSIM_ERR_ARG,
              "state of step %g, CFL %g, reference %g", scalars[0], scalars[1], scalars[2]);
  memcpy(s->j->q, unknowns, (size_t)(s->j->f->n * s->j->m) * sizeof *unknowns);
  const march_state then = {.step = (int64_t)scalars[0],
                            .cfl = scalars[1],
                            .reference = scalars[2],
                            .linear_total = (int64_t)scalars[3]};
  march_set_state(s->march, &then);
  return PCSIM_OK;
}
