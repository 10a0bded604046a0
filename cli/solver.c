/* SPDX-License-Identifier: BSD-2-Clause */
/** @file solver.c  The solver that a case asks for: of a flow, of typed equations, of both together. */
#include "cli.h"

#include <string.h>

void cli_solver_read(cli_session *s) {
  const bool typed = pcsim_transport_given(s->tree);
  s->flow_options = pcsim_flow_options_default();
  s->transport_options = pcsim_transport_options_default();
  if (typed) pcsim_transport_options_read(s->tree, &s->transport_options);
  else pcsim_flow_options_read(s->tree, &s->flow_options);
  s->time = typed ? s->transport_options.time : s->flow_options.time;
  s->tolerance = typed ? s->transport_options.tolerance : s->flow_options.tolerance;
}

static pcsim_status create_typed(cli_session *s, const pcsim_solver_hooks *hooks, int64_t steps) {
  pcsim_transport_options options = s->transport_options;
  options.time.step *= s->step_factor;
  options.stops = s->output.times;
  options.num_stops = s->output.num_times;
  if (steps >= 0) options.steps_max = options.time.steps = steps;
  PCSIM_TRY(pcsim_transport_solver_create(s->mesh, s->transport, &options, &s->transport_solver));
  return s->start_values ? pcsim_transport_solver_set_hooks(s->transport_solver, hooks) : PCSIM_OK;
}

static pcsim_status give_start(void *context, const pcsim_mesh *mesh, int width, double *values) {
  const cli_session *s = context;
  const size_t size = (size_t)pcsim_mesh_get(mesh)->num_cells * (size_t)width;
  if (size > 0) memcpy(values, s->start_values, size * sizeof *values);
  return PCSIM_OK;
}

pcsim_status cli_solver_create(cli_session *s, int64_t steps) {
  const int unknowns = s->transport ? pcsim_transport_problem_get(s->transport)->num_unknowns : 0;
  const int scalars = unknowns + (s->problem ? PCSIM_FLOW_NUM_FIELDS : 0);
  const pcsim_solver_hooks hooks = {.context = s, .start = give_start};
  PCSIM_TRY(pcsim_alloc((size_t)scalars, sizeof *s->scalar, &s->scalar));
  if (!s->problem) return create_typed(s, &hooks, steps);
  pcsim_flow_options options = s->flow_options;
  options.time.step *= s->step_factor;
  options.stops = s->output.times;
  options.num_stops = s->output.num_times;
  if (steps >= 0) options.steps_max = options.time.steps = steps;
  if (s->transport) {
    PCSIM_TRY(pcsim_joined_solver_create(s->mesh, s->problem, s->transport, &options, &s->joined_solver));
    return s->start_values ? pcsim_joined_solver_set_hooks(s->joined_solver, &hooks) : PCSIM_OK;
  }
  PCSIM_TRY(pcsim_flow_solver_create(s->mesh, s->problem, &options, &s->flow_solver));
  return s->start_values ? pcsim_flow_solver_set_hooks(s->flow_solver, &hooks) : PCSIM_OK;
}

void cli_solver_destroy(cli_session *s) {
  pcsim_flow_solver_destroy(&s->flow_solver);
  pcsim_transport_solver_destroy(&s->transport_solver);
  pcsim_joined_solver_destroy(&s->joined_solver);
  pcsim_free(&s->scalar);
  pcsim_free(&s->start_values);
}

pcsim_status cli_solver_run(cli_session *s, pcsim_solve_observer observer, void *context,
                            pcsim_solve_result *result) {
  if (s->joined_solver) return pcsim_joined_solver_run(s->joined_solver, observer, context, result);
  return s->transport_solver ? pcsim_transport_solver_run(s->transport_solver, observer, context, result)
                             : pcsim_flow_solver_run(s->flow_solver, observer, context, result);
}

pcsim_status cli_solver_fields(cli_session *s, pcsim_fields *fields) {
  pcsim_transport_fields laws;
  if (s->joined_solver) {
    PCSIM_TRY(pcsim_joined_solver_fields(s->joined_solver, &s->flow_fields, &laws));
    *fields = pcsim_fields_of_joined(&s->flow_fields, &laws, s->scalar);
  } else if (s->transport_solver) {
    PCSIM_TRY(pcsim_transport_solver_fields(s->transport_solver, &laws));
    *fields = pcsim_fields_of_transport(&laws, s->scalar);
  } else {
    PCSIM_TRY(pcsim_flow_solver_fields(s->flow_solver, &s->flow_fields));
    *fields = pcsim_fields_of_flow(&s->flow_fields, s->scalar);
  }
  return PCSIM_OK;
}

int cli_solver_width(const cli_session *s) {
  if (s->joined_solver) return pcsim_joined_solver_state_width(s->joined_solver);
  return s->transport_solver ? pcsim_transport_solver_state_width(s->transport_solver)
                             : pcsim_flow_solver_state_width(s->flow_solver);
}

int64_t cli_solver_step(const cli_session *s) {
  if (s->joined_solver) return pcsim_joined_solver_state_step(s->joined_solver);
  return s->transport_solver ? pcsim_transport_solver_state_step(s->transport_solver)
                             : pcsim_flow_solver_state_step(s->flow_solver);
}

pcsim_status cli_solver_get_state(const cli_session *s, double *unknowns,
                                  double scalars[PCSIM_NUM_STATE_SCALARS]) {
  if (s->flow_solver) return pcsim_flow_solver_get_state(s->flow_solver, unknowns, scalars);
  if (s->joined_solver) pcsim_joined_solver_get_state(s->joined_solver, unknowns, scalars);
  else pcsim_transport_solver_get_state(s->transport_solver, unknowns, scalars);
  return PCSIM_OK;
}

pcsim_status cli_solver_set_state(cli_session *s, const double *unknowns,
                                  const double scalars[PCSIM_NUM_STATE_SCALARS]) {
  if (s->joined_solver) return pcsim_joined_solver_set_state(s->joined_solver, unknowns, scalars);
  return s->transport_solver ? pcsim_transport_solver_set_state(s->transport_solver, unknowns, scalars)
                             : pcsim_flow_solver_set_state(s->flow_solver, unknowns, scalars);
}
