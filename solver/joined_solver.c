/* SPDX-License-Identifier: BSD-2-Clause */
/* The public solver of a flow and equations that join it: march or time steps, state in and out, fields. */
#include "flow_fields.h"
#include "joined_adjoint.h"
#include "timestep.h"
#include "transport_fields.h"

#include <math.h>
#include <string.h>

struct pcsim_joined_solver {
  pcsim_flow_problem *problem; /* borrowed */
  joined *j;
  discrete_system system;
  march *march;          /* of a steady solve, else NULL */
  timestep *timestep;    /* of a run through time, else NULL */
  outside_start outside; /* what is asked before the first step */
  int64_t num_kinks;
  double *kinks; /* of both parts, ascending */
  flow_field_arrays flow_fields;
  transport_field_arrays laws_fields;
};

/* Times at which the data of either part bend. */
static pcsim_status merge_kinks(pcsim_joined_solver *s) {
  const pcsim_flow_view *f = s->j->f->problem;
  const pcsim_transport_view *t = s->j->t->problem;
  int64_t a = 0, b = 0;
  PCSIM_TRY(pcsim_alloc((size_t)(f->num_kinks + t->num_kinks), sizeof *s->kinks, &s->kinks));
  while (a < f->num_kinks || b < t->num_kinks) {
    const double x = a < f->num_kinks ? f->kinks[a] : INFINITY, y = b < t->num_kinks ? t->kinks[b] : INFINITY;
    s->kinks[s->num_kinks++] = fmin(x, y);
    a += x <= y, b += y <= x;
  }
  return PCSIM_OK;
}

static pcsim_status create_timestep(pcsim_joined_solver *s, const pcsim_flow_options *o) {
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(s->j->f->mesh), merge_kinks(s)));
  const timestep_options unsteady =
      timestep_options_of(&o->time, o->num_stops, o->stops, s->num_kinks, s->kinks);
  return timestep_create(&s->system, &unsteady, &s->timestep);
}

static pcsim_status create_march(pcsim_joined_solver *s, const pcsim_flow_options *o) {
  const march_options steady = flow_march_options(s->j->f->mesh, o);
  return march_create(&s->system, &steady, &s->march);
}

pcsim_status pcsim_joined_solver_create(const pcsim_mesh *mesh, pcsim_flow_problem *flow_problem,
                                        const pcsim_transport_problem *laws,
                                        const pcsim_flow_options *options, pcsim_joined_solver **out) {
  pcsim_joined_solver *s = NULL;
  pcsim_status status;
  *out = NULL;
  PCSIM_CHECK(mesh && flow_problem && laws && options, PCSIM_ERR_ARG,
              "pcsim_joined_solver_create needs a mesh, two problems and options; found NULL");
  PCSIM_TRY(pcsim_alloc(1, sizeof *s, &s));
  PCSIM_GOTO(joined_create(mesh, flow_problem, laws, options, &s->j), status, fail);
  s->problem = flow_problem;
  joined_system(s->j, &s->system);
  PCSIM_GOTO(options->time.given ? create_timestep(s, options) : create_march(s, options), status, fail);
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
  timestep_destroy(&s->timestep);
  pcsim_free(&s->kinks);
  flow_fields_free(&s->flow_fields);
  if (s->j) transport_fields_free(s->j->t, &s->laws_fields);
  joined_destroy(&s->j);
  pcsim_free(out);
}

pcsim_status pcsim_joined_solver_set_hooks(pcsim_joined_solver *s, const pcsim_solver_hooks *hooks) {
  const joined *j = s->j;
  const double U = j->f->scale_velocity;
  PCSIM_CHECK(s->march, PCSIM_ERR_ARG, "hooks are of steady solves; this one goes through time");
  s->outside =
      (outside_start){.hooks = *hooks, .system = &s->system, .width = PCSIM_FLOW_NUM_FIELDS + j->m - j->mf};
  for (int i = 0; i < j->m; i++) { /* w stands between v and p in the plane, too */
    const bool pressure = i == j->mf - 1, law = i >= j->mf;
    s->outside.column[i] = law ? PCSIM_FLOW_NUM_FIELDS + i - j->mf : pressure ? PCSIM_FLOW_NUM_FIELDS - 1 : i;
    s->outside.factor[i] = law ? 1 : pressure ? j->f->density * U * U : U;
  }
  march_set_outside(s->march, &s->outside);
  return PCSIM_OK;
}

pcsim_status pcsim_joined_solver_run(pcsim_joined_solver *s, pcsim_solve_observer observer, void *context,
                                     pcsim_solve_result *result) {
  if (s->timestep) return timestep_run(s->timestep, observer, context, result);
  return march_run(s->march, observer, context, result);
}

pcsim_status pcsim_joined_solver_fields(pcsim_joined_solver *s, pcsim_flow_fields *flow_fields,
                                        pcsim_transport_fields *laws) {
  discrete_system *system = &s->system;
  const double time = s->timestep ? timestep_time(s->timestep) : 0;
  if (s->timestep) PCSIM_TRY(timestep_start(s->timestep));
  else if (!march_started(s->march)) PCSIM_TRY(march_start(s->march));
  /* state, gradients and carriers of the q that stands there */
  PCSIM_TRY(system->residual(system->context, time, s->j->part_y));
  PCSIM_TRY(transport_update_boundary(s->j->t));
  PCSIM_TRY(flow_fields_fill(s->j->f, &s->flow_fields, time, flow_fields));
  return transport_fields_fill(s->j->t, &s->laws_fields, time, laws);
}

/* --------------------------------------------------------------------- state */

int pcsim_joined_solver_state_width(const pcsim_joined_solver *s) {
  return s->timestep ? s->j->m * TIMESTEP_VECTORS : s->j->m;
}

int64_t pcsim_joined_solver_state_step(const pcsim_joined_solver *s) {
  return s->timestep ? timestep_state_step(s->timestep) : march_step(s->march);
}

void pcsim_joined_solver_get_state(const pcsim_joined_solver *s, double *unknowns,
                                   double scalars[PCSIM_NUM_STATE_SCALARS]) {
  memset(scalars, 0, PCSIM_NUM_STATE_SCALARS * sizeof *scalars);
  if (s->timestep) {
    timestep_pack(s->timestep, unknowns, scalars);
    return;
  }
  memcpy(unknowns, s->j->q, (size_t)(s->j->f->n * s->j->m) * sizeof *unknowns);
  march_get_state(s->march, scalars);
}

pcsim_status pcsim_joined_solver_set_state(pcsim_joined_solver *s, const double *unknowns,
                                           const double scalars[PCSIM_NUM_STATE_SCALARS]) {
  if (s->timestep) return timestep_unpack(s->timestep, unknowns, scalars);
  PCSIM_TRY(march_set_state(s->march, scalars));
  memcpy(s->j->q, unknowns, (size_t)(s->j->f->n * s->j->m) * sizeof *unknowns);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- adjoint */

pcsim_status pcsim_joined_solver_adjoint(pcsim_joined_solver *s, const pcsim_functional *quantity,
                                         const char *const *parameters, int num_parameters, double tolerance,
                                         pcsim_flow_sensitivity *out) {
  PCSIM_CHECK(s->march, PCSIM_ERR_ARG, "adjoints are of steady solutions; this one goes through time");
  PCSIM_CHECK(out->num_shapes == 0, PCSIM_ERR_ARG,
              "derivatives by shapes are of flows that no equations join; %d are asked for", out->num_shapes);
  return joined_sensitivity(s->j, &s->system, s->problem, quantity, parameters, num_parameters, tolerance,
                            out);
}
