/* SPDX-License-Identifier: BSD-2-Clause */
/* The public solver of typed laws: march or time steps, fields. */
#include "march.h"
#include "timestep.h"
#include "transport_adjoint.h"
#include "transport_estimate.h"
#include "transport_fields.h"
#include "transport_linear.h"

#include <math.h>
#include <string.h>

struct pcsim_transport_solver {
  transport *t;
  transport_linear *linear;
  transport_context context;
  discrete_system system;
  march *march;          /* of a steady run, else NULL */
  timestep *timestep;    /* of a run through time, else NULL */
  outside_start outside; /* what is asked before the first step */
  transport_field_arrays fields;
};

static pcsim_status create_march(pcsim_transport_solver *s, const pcsim_transport_options *o) {
  const march_options steady = {.tolerance = o->tolerance,
                                .steps_max = o->steps_max,
                                .cfl = o->cfl,
                                .linear_tolerance = o->linear_tolerance,
                                .finish = true};
  return march_create(&s->system, &steady, &s->march);
}

static pcsim_status create_timestep(pcsim_transport_solver *s, const pcsim_transport_options *o) {
  PCSIM_CHECK(s->t->problem->has_any_time, PCSIM_ERR_CASE,
              "no equation has a time derivative: nothing goes through time");
  const pcsim_transport_view *view = s->t->problem;
  const timestep_options unsteady =
      timestep_options_of(&o->time, o->num_stops, o->stops, view->num_kinks, view->kinks);
  return timestep_create(&s->system, &unsteady, &s->timestep);
}

pcsim_status pcsim_transport_solver_create(const pcsim_mesh *mesh, const pcsim_transport_problem *problem,
                                           const pcsim_transport_options *options,
                                           pcsim_transport_solver **out) {
  pcsim_transport_solver *s = NULL;
  pcsim_status status;
  *out = NULL;
  PCSIM_CHECK(mesh && problem && options, PCSIM_ERR_ARG,
              "pcsim_transport_solver_create needs a mesh, a problem and options; found NULL (a case with "
              "problems gives none: call pcsim_tree_status after reading it)");
  const pcsim_transport_view *view = pcsim_transport_problem_get(problem);
  transport_choices choices = {.central = options->central,
                               .kappa = options->kappa,
                               .degree = options->degree,
                               .limited = options->limited,
                               .bounded = options->bounded};
  memcpy(choices.low, options->low, sizeof choices.low);
  memcpy(choices.high, options->high, sizeof choices.high);
  PCSIM_CHECK(options->degree < 3 || (!options->time.given && !options->limited && !options->bounded),
              PCSIM_ERR_CASE, "cubic reconstruction is of steady problems without limiter and bounds so far");
  if (isnan(choices.central)) choices.central = transport_diffuses(view) ? 1 : 0;
  PCSIM_TRY(pcsim_alloc(1, sizeof *s, &s));
  PCSIM_GOTO(transport_create(mesh, problem, &choices, &s->t), status, fail);
  PCSIM_GOTO(transport_linear_create(s->t, options, &s->linear), status, fail);
  s->context.t = s->t;
  s->context.linear = s->linear;
  transport_system(&s->context, &s->system);
  PCSIM_GOTO(options->time.given ? create_timestep(s, options) : create_march(s, options), status, fail);
  *out = s;
  return PCSIM_OK;
fail:
  pcsim_transport_solver_destroy(&s);
  return status;
}

void pcsim_transport_solver_destroy(pcsim_transport_solver **out) {
  pcsim_transport_solver *s = *out;
  if (!s) return;
  transport_fields_free(s->t, &s->fields);
  march_destroy(&s->march);
  timestep_destroy(&s->timestep);
  transport_linear_destroy(&s->linear);
  transport_destroy(&s->t);
  pcsim_free(out);
}

pcsim_status pcsim_transport_solver_set_hooks(pcsim_transport_solver *s, const pcsim_solver_hooks *hooks) {
  PCSIM_CHECK(s->march, PCSIM_ERR_ARG, "hooks are of steady solves; this one goes through time");
  s->outside = (outside_start){.hooks = *hooks, .system = &s->system, .width = s->t->m};
  for (int i = 0; i < s->t->m; i++) {
    s->outside.column[i] = i;
    s->outside.factor[i] = 1;
  }
  march_set_outside(s->march, &s->outside);
  return PCSIM_OK;
}

pcsim_status pcsim_transport_solver_run(pcsim_transport_solver *s, pcsim_solve_observer observer,
                                        void *context, pcsim_solve_result *result) {
  if (s->timestep) return timestep_run(s->timestep, observer, context, result);
  return march_run(s->march, observer, context, result);
}

/* -------------------------------------------------------------------- fields */

pcsim_status pcsim_transport_solver_fields(pcsim_transport_solver *s, pcsim_transport_fields *fields) {
  const double time = s->timestep ? timestep_time(s->timestep) : 0;
  /* a state that no run has gone on from */
  if (s->timestep) PCSIM_TRY(timestep_start(s->timestep));
  else if (!march_started(s->march)) PCSIM_TRY(march_start(s->march));
  PCSIM_TRY(transport_update_gradient(s->t, time));
  PCSIM_TRY(transport_update_boundary(s->t));
  return transport_fields_fill(s->t, &s->fields, time, fields);
}

/* --------------------------------------------------------------------- state */

int pcsim_transport_solver_state_width(const pcsim_transport_solver *s) {
  return s->timestep ? s->t->m * TIMESTEP_VECTORS : s->t->m;
}

int64_t pcsim_transport_solver_state_step(const pcsim_transport_solver *s) {
  return s->timestep ? timestep_state_step(s->timestep) : march_step(s->march);
}

void pcsim_transport_solver_get_state(const pcsim_transport_solver *s, double *unknowns,
                                      double scalars[PCSIM_NUM_STATE_SCALARS]) {
  memset(scalars, 0, PCSIM_NUM_STATE_SCALARS * sizeof *scalars);
  if (s->timestep) {
    timestep_pack(s->timestep, unknowns, scalars);
    return;
  }
  memcpy(unknowns, s->t->q, (size_t)(s->t->n * s->t->m) * sizeof *unknowns);
  march_get_state(s->march, scalars);
}

pcsim_status pcsim_transport_solver_set_state(pcsim_transport_solver *s, const double *unknowns,
                                              const double scalars[PCSIM_NUM_STATE_SCALARS]) {
  if (s->timestep) return timestep_unpack(s->timestep, unknowns, scalars);
  PCSIM_TRY(march_set_state(s->march, scalars));
  memcpy(s->t->q, unknowns, (size_t)(s->t->n * s->t->m) * sizeof *unknowns);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- adjoint */

static pcsim_status transposed(void *adjoint, const double *v, double *y) {
  return transport_adjoint_product(adjoint, v, true, y);
}

/* Solve for psi [n][m] and add what it says to the derivatives; b [n][m] holds dJ/dq. */
static pcsim_status solve_adjoint(pcsim_transport_solver *s, transport_adjoint *a, double tolerance,
                                  const double *b, double *psi, pcsim_transport_sensitivity *out) {
  PCSIM_TRY(transport_linear_update(s->linear));
  PCSIM_TRY(transport_linear_solve_transposed(s->linear, transposed, a, b, psi, tolerance, &out->iterations,
                                              &out->converged));
  return transport_adjoint_parameters(a, psi, -1, out->derivative);
}

/* Speeds, gradients and given values of the state that stands. b and psi [n][m] are workspaces. */
static pcsim_status evaluate_adjoint(pcsim_transport_solver *s, transport_adjoint *a,
                                     const transport_functional *f, double tolerance, double *b, double *psi,
                                     pcsim_transport_sensitivity *out) {
  const discrete_system *system = &s->system;
  PCSIM_TRY(system->freeze(system->context, 0, true));
  PCSIM_TRY(system->residual(system->context, 0, b));
  system->set_shift(system->context, INFINITY, INFINITY);
  PCSIM_TRY(transport_adjoint_functional(a, f, &out->value, b, out->derivative));
  return solve_adjoint(s, a, tolerance, b, psi, out);
}

pcsim_status pcsim_transport_solver_adjoint(pcsim_transport_solver *s, const pcsim_functional *quantity,
                                            const char *const *parameters, int num_parameters,
                                            double tolerance, pcsim_transport_sensitivity *out) {
  transport_functional *functional = NULL;
  transport_adjoint *adjoint = NULL;
  double *work = NULL, *b, *psi;
  pcsim_status status;
  PCSIM_CHECK(s->march, PCSIM_ERR_ARG, "adjoints are of steady solutions; this one goes through time");
  PCSIM_CHECK(out->num_shapes == 0 || quantity->kind != PCSIM_FUNCTIONAL_WEIGHTED, PCSIM_ERR_ARG,
              "derivatives by shapes of weights of fields");
  PCSIM_CHECK(s->t->choices.degree < 3 || !out->num_shapes, PCSIM_ERR_CASE,
              "derivatives by shapes are of linear and quadratic reconstruction; this one is cubic");
  MPI_Comm comm = pcsim_mesh_comm(s->t->mesh);
  const size_t size = (size_t)(s->t->n * s->t->m);
  PCSIM_TRY(transport_set_time(s->t, 0));
  PCSIM_TRY(transport_functional_create(s->t, quantity, &functional));
  PCSIM_GOTO(transport_adjoint_create(s->t, parameters, num_parameters,
                                      out->num_shapes ? &functional->cells : NULL, &adjoint),
             status, done);
  PCSIM_GOTO(pcsim_status_agree(comm, pcsim_alloc(2 * size, sizeof *work, &work)), status, done);
  b = work, psi = out->adjoint ? out->adjoint : work + size;
  memset(out->derivative, 0, (size_t)num_parameters * sizeof *out->derivative);
  PCSIM_GOTO(evaluate_adjoint(s, adjoint, functional, tolerance, b, psi, out), status, done);
  MPI_Allreduce(MPI_IN_PLACE, out->derivative, num_parameters, MPI_DOUBLE, MPI_SUM, comm);
  for (int i = 0; i < out->num_shapes; i++)
    PCSIM_GOTO(transport_adjoint_shape(adjoint, functional, out->value, &out->shape[i], &out->by_shape[i]),
               status, done);
  if (out->num_shapes) MPI_Allreduce(MPI_IN_PLACE, out->by_shape, out->num_shapes, MPI_DOUBLE, MPI_SUM, comm);
done:
  pcsim_free(&work);
  transport_adjoint_destroy(&adjoint);
  transport_functional_destroy(s->t, &functional);
  return status;
}

pcsim_status pcsim_transport_solver_estimate(pcsim_transport_solver *s, const pcsim_functional *quantity,
                                             const double *adjoint, const pcsim_mesh *fine,
                                             const pcsim_transport_problem *problem,
                                             pcsim_estimate *estimate) {
  PCSIM_CHECK(s->march, PCSIM_ERR_ARG,
              "errors are estimated of steady solutions; this one goes through time");
  PCSIM_CHECK(s->t->choices.degree < 3, PCSIM_ERR_CASE,
              "errors are estimated of schemes of second order; cubic reconstruction is of fourth");
  return transport_estimate(s->t, fine, problem, quantity, adjoint, estimate);
}
