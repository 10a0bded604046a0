/* SPDX-License-Identifier: BSD-2-Clause */
/* The public solver of the flow: march, state in and out, fields. */
#include "flow_adjoint.h"
#include "flow_estimate.h"
#include "flow_fields.h"
#include "flow_system.h"
#include "march.h"
#include "timestep.h"

#include <stdio.h>
#include <string.h>

struct pcsim_flow_solver {
  const pcsim_mesh *mesh;
  pcsim_flow_problem *problem; /* borrowed */
  pcsim_flow_options options;
  flow *f;
  flow_linear *linear;
  flow_context context;
  discrete_system system;
  march *march;                  /* of a steady solve, else NULL */
  timestep *timestep;            /* of a run through time, else NULL */
  outside_start outside;         /* what is asked before the first step */
  pcsim_solve_observer observer; /* of the run */
  void *observer_context;
  double residuals[4];
  flow_field_arrays fields;
};

/* ------------------------------------------------------------------ set-up */

static pcsim_status create_march(pcsim_flow_solver *s) {
  const march_options steady = flow_march_options(s->mesh, &s->options);
  return march_create(&s->system, &steady, &s->march);
}

static pcsim_status create_timestep(pcsim_flow_solver *s) {
  const pcsim_flow_options *o = &s->options;
  const pcsim_flow_view *view = s->f->problem;
  const timestep_options unsteady =
      timestep_options_of(&o->time, o->num_stops, o->stops, view->num_kinks, view->kinks);
  return timestep_create(&s->system, &unsteady, &s->timestep);
}

pcsim_status pcsim_flow_solver_create(const pcsim_mesh *mesh, pcsim_flow_problem *problem,
                                      const pcsim_flow_options *options, pcsim_flow_solver **out) {
  pcsim_flow_solver *s = NULL;
  pcsim_status status;
  *out = NULL;
  PCSIM_CHECK(mesh, PCSIM_ERR_ARG, "pcsim_flow_solver_create needs a mesh, found NULL");
  PCSIM_CHECK(
      problem, PCSIM_ERR_ARG,
      "pcsim_flow_solver_create needs a flow problem, found NULL: pcsim_flow_problem_read makes none from "
      "a case with problems; call pcsim_tree_status after it, which tells them");
  PCSIM_CHECK(options, PCSIM_ERR_ARG, "pcsim_flow_solver_create needs options, found NULL");
  PCSIM_TRY(pcsim_alloc(1, sizeof *s, &s));
  s->mesh = mesh;
  s->problem = problem;
  s->options = *options;
  PCSIM_GOTO(flow_create(mesh, problem, options, &s->f), status, fail);
  PCSIM_GOTO(flow_linear_create(s->f, options, &s->linear), status, fail);
  s->context = (flow_context){s->f, s->linear};
  PCSIM_GOTO(flow_system(&s->context, &s->system), status, fail);
  PCSIM_GOTO(options->time.given ? create_timestep(s) : create_march(s), status, fail);
  *out = s;
  return PCSIM_OK;
fail:
  pcsim_flow_solver_destroy(&s);
  return status;
}

void pcsim_flow_solver_destroy(pcsim_flow_solver **out) {
  pcsim_flow_solver *s = *out;
  if (!s) return;
  march_destroy(&s->march);
  timestep_destroy(&s->timestep);
  flow_linear_destroy(&s->linear);
  flow_destroy(&s->f);
  flow_fields_free(&s->fields);
  pcsim_free(out);
}

/* Residuals in the places of the public declaration: the pressure's always last of four. */
static pcsim_status observe(void *context, const pcsim_solve_step *step) {
  pcsim_flow_solver *s = context;
  pcsim_solve_step mine = *step;
  memset(s->residuals, 0, sizeof s->residuals);
  for (int i = 0; i < s->f->dim && step->residuals; i++) s->residuals[i] = step->residuals[i];
  if (step->residuals) s->residuals[3] = step->residuals[s->f->dim];
  mine.residuals = s->residuals;
  mine.num_residuals = 4;
  return s->observer(s->observer_context, &mine);
}

pcsim_status pcsim_flow_solver_run(pcsim_flow_solver *s, pcsim_solve_observer observer, void *context,
                                   pcsim_solve_result *result) {
  s->observer = observer;
  s->observer_context = context;
  if (s->timestep) return timestep_run(s->timestep, observer ? observe : NULL, s, result);
  return march_run(s->march, observer ? observe : NULL, s, result);
}

/* -------------------------------------------------------------------- state */

/* Columns of a checkpoint: four of each vector, w between v and p left free in 2D. */
enum { COLUMNS = 4 };

int pcsim_flow_solver_state_width(const pcsim_flow_solver *s) {
  return s->timestep ? COLUMNS * TIMESTEP_VECTORS : COLUMNS;
}

static int column_of(const flow *f, int i) { return i == f->dim ? COLUMNS - 1 : i; }

pcsim_status pcsim_flow_solver_set_hooks(pcsim_flow_solver *s, const pcsim_solver_hooks *hooks) {
  const flow *f = s->f;
  const double U = f->scale_velocity;
  PCSIM_CHECK(s->march, PCSIM_ERR_ARG, "hooks are of steady solves; this one goes through time");
  s->outside = (outside_start){.hooks = *hooks, .system = &s->system, .width = COLUMNS};
  for (int i = 0; i <= f->dim; i++) {
    s->outside.column[i] = column_of(f, i);
    s->outside.factor[i] = i < f->dim ? U : f->density * U * U;
  }
  march_set_outside(s->march, &s->outside);
  return PCSIM_OK;
}

static void get_time_state(const pcsim_flow_solver *s, double *unknowns, double *scalars) {
  const flow *f = s->f;
  const int m = f->dim + 1, width = pcsim_flow_solver_state_width(s);
  const double *vector[TIMESTEP_VECTORS];
  timestep_get_state(s->timestep, vector, scalars);
  memset(unknowns, 0, (size_t)(f->n * width) * sizeof *unknowns);
  for (int k = 0; k < TIMESTEP_VECTORS; k++)
    for (int64_t c = 0; c < f->n; c++)
      for (int i = 0; i < m; i++) unknowns[c * width + COLUMNS * k + column_of(f, i)] = vector[k][c * m + i];
}

static pcsim_status set_time_state(pcsim_flow_solver *s, const double *unknowns, const double *scalars) {
  const flow *f = s->f;
  const int m = f->dim + 1, width = pcsim_flow_solver_state_width(s);
  double *vector[TIMESTEP_VECTORS] = {0};
  pcsim_status status = PCSIM_OK;
  for (int k = 0; k < TIMESTEP_VECTORS; k++) {
    PCSIM_GOTO(pcsim_alloc((size_t)(f->n * m), sizeof(double), &vector[k]), status, done);
    for (int64_t c = 0; c < f->n; c++)
      for (int i = 0; i < m; i++) vector[k][c * m + i] = unknowns[c * width + COLUMNS * k + column_of(f, i)];
  }
  status = timestep_set_state(s->timestep, vector, scalars);
done:
  for (int k = 0; k < TIMESTEP_VECTORS; k++) pcsim_free(&vector[k]);
  return pcsim_status_agree(pcsim_mesh_comm(f->mesh), status);
}

int64_t pcsim_flow_solver_state_step(const pcsim_flow_solver *s) {
  return s->timestep ? timestep_state_step(s->timestep) : march_step(s->march);
}

pcsim_status pcsim_flow_solver_get_state(const pcsim_flow_solver *s, double *unknowns,
                                         double scalars[PCSIM_NUM_STATE_SCALARS]) {
  const flow *f = s->f;
  const int m = f->dim + 1;
  const double U = f->scale_velocity, pressure = f->density * U * U;
  memset(scalars, 0, PCSIM_NUM_STATE_SCALARS * sizeof *scalars);
  if (s->timestep) {
    get_time_state(s, unknowns, scalars);
    return PCSIM_OK;
  }
  for (int64_t c = 0; c < f->n; c++) {
    for (int i = 0; i < 3; i++) unknowns[4 * c + i] = i < f->dim ? f->q[c * m + i] * U : 0;
    unknowns[4 * c + 3] = f->q[c * m + m - 1] * pressure;
  }
  march_get_state(s->march, scalars);
  return PCSIM_OK;
}

pcsim_status pcsim_flow_solver_set_state(pcsim_flow_solver *s, const double *unknowns,
                                         const double scalars[PCSIM_NUM_STATE_SCALARS]) {
  flow *f = s->f;
  const int m = f->dim + 1;
  const double U = f->scale_velocity, pressure = f->density * U * U;
  if (s->timestep) return set_time_state(s, unknowns, scalars);
  PCSIM_TRY(march_set_state(s->march, scalars));
  for (int64_t c = 0; c < f->n; c++) {
    for (int i = 0; i < f->dim; i++) f->q[c * m + i] = unknowns[4 * c + i] / U;
    f->q[c * m + m - 1] = unknowns[4 * c + 3] / pressure;
  }
  return PCSIM_OK;
}

pcsim_status pcsim_flow_solver_fields(pcsim_flow_solver *s, pcsim_flow_fields *fields) {
  /* a state that no run has gone on from */
  if (s->timestep) PCSIM_TRY(timestep_start(s->timestep));
  else if (!march_started(s->march)) PCSIM_TRY(march_start(s->march));
  PCSIM_TRY(flow_update_gradient(s->f));
  return flow_fields_fill(s->f, &s->fields, s->timestep ? timestep_time(s->timestep) : 0, fields);
}

pcsim_status pcsim_flow_solver_adjoint(pcsim_flow_solver *s, const pcsim_functional *quantity,
                                       const char *const *parameters, int num_parameters, double tolerance,
                                       pcsim_flow_sensitivity *sensitivity) {
  PCSIM_CHECK(s->march, PCSIM_ERR_ARG, "adjoints are of steady flows; this one goes through time");
  return flow_sensitivity(s->f, s->linear, s->problem, quantity, parameters, num_parameters, tolerance,
                          sensitivity);
}

pcsim_status pcsim_flow_solver_estimate(pcsim_flow_solver *s, const pcsim_functional *quantity,
                                        const double *adjoint, const pcsim_mesh *fine,
                                        pcsim_flow_problem *problem, pcsim_estimate *estimate) {
  PCSIM_CHECK(s->march, PCSIM_ERR_ARG, "errors are estimated of steady flows; this one goes through time");
  return flow_estimate(s->f, &s->options, fine, problem, quantity, adjoint, estimate);
}
