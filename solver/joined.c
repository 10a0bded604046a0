/* SPDX-License-Identifier: BSD-2-Clause */
/* A flow and typed equations that join it, as one system. */
#include "joined.h"

#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------- functions */

static void take_apart(const joined *j, const double *x, double *flow_part, double *laws_part) {
  const int mf = j->mf, mt = j->m - mf;
  for (int64_t c = 0; c < j->f->n; c++) {
    memcpy(flow_part + c * mf, x + c * j->m, (size_t)mf * sizeof *x);
    memcpy(laws_part + c * mt, x + c * j->m + mf, (size_t)mt * sizeof *x);
  }
}

static void put_together(const joined *j, const double *flow_part, const double *laws_part, double *x) {
  const int mf = j->mf, mt = j->m - mf;
  for (int64_t c = 0; c < j->f->n; c++) {
    memcpy(x + c * j->m, flow_part + c * mf, (size_t)mf * sizeof *x);
    memcpy(x + c * j->m + mf, laws_part + c * mt, (size_t)mt * sizeof *x);
  }
}

static double *laws_of(const joined *j, double *part) { return part + j->f->n * j->mf; }

static pcsim_status residual(void *context, double time, double *r) {
  joined *j = context;
  take_apart(j, j->q, j->f->q, j->t->q);
  PCSIM_TRY(flow_set_time(j->f, time));
  PCSIM_TRY(transport_update_gradient(j->t, time));
  PCSIM_TRY(joined_push(j));
  PCSIM_TRY(joined_trace(j));
  PCSIM_TRY(flow_residual(j->f, j->part));
  PCSIM_TRY(joined_carry(j));
  PCSIM_TRY(transport_residual_here(j->t, laws_of(j, j->part)));
  put_together(j, j->part, laws_of(j, j->part), r);
  return PCSIM_OK;
}

static pcsim_status accumulation(void *context, double time, double *a) {
  joined *j = context;
  take_apart(j, j->q, j->f->q, j->t->q);
  PCSIM_TRY(j->flow_system.accumulation(j->flow_system.context, time, j->part));
  PCSIM_TRY(j->transport_system.accumulation(j->transport_system.context, time, laws_of(j, j->part)));
  put_together(j, j->part, laws_of(j, j->part), a);
  return PCSIM_OK;
}

static pcsim_status freeze(void *context, double time, bool fresh) {
  joined *j = context;
  take_apart(j, j->q, j->f->q, j->t->q);
  if (fresh) PCSIM_TRY(residual(context, time, j->part_y)); /* the force that the flow's own start needs */
  if (j->flow_system.freeze) {
    PCSIM_TRY(j->flow_system.freeze(j->flow_system.context, time, fresh));
    PCSIM_TRY(residual(context, time, j->part_y)); /* carriers of the coefficients that are frozen now */
  }
  return transport_update_speed(j->t);
}

/* Residuals of the laws in the scale of the flow's; with a short step both in that of the fluxes. */
static void find_weights(joined *j) {
  const double U = j->f->scale_velocity;
  for (int64_t c = 0; c < j->f->n; c++) {
    const double *of_flow = j->f->row_weight + c * j->mf;
    for (int i = 0; i < j->m; i++)
      j->row_weight[c * j->m + i] = i < j->mf       ? of_flow[i]
                                    : j->evolves[i] ? of_flow[0] / (U * j->scale[i])
                                                    : 1 / (U * j->scale[i]);
  }
}

static void set_shift(void *context, double cfl, double step) {
  joined *j = context;
  j->flow_system.set_shift(j->flow_system.context, cfl, step);
  j->transport_system.set_shift(j->transport_system.context, cfl, step);
  if (j->f->through_time) find_weights(j);
}

pcsim_status joined_tangent(joined *j, const double *v, double *y) {
  double *laws = laws_of(j, j->part), *laws_y = laws_of(j, j->part_y);
  take_apart(j, v, j->part, laws);
  PCSIM_TRY(transport_set_direction(j->t, laws));
  PCSIM_TRY(joined_trace_along(j));
  PCSIM_TRY(flow_tangent(j->f, j->part, j->part_y));
  joined_carry_along(j);
  PCSIM_TRY(joined_push_along(j, true, j->part_y));
  PCSIM_TRY(transport_shifted_tangent_here(j->t, laws_y));
  put_together(j, j->part_y, laws_y, y);
  return PCSIM_OK;
}

static pcsim_status tangent(void *context, const double *v, double *y) {
  return joined_tangent(context, v, y);
}

static pcsim_status renew(void *context) {
  joined *j = context;
  PCSIM_TRY(flow_linear_update(j->flow_linear));
  return transport_linear_update(j->transport_linear);
}

pcsim_status joined_precondition(joined *j, const double *b, double *x) {
  double *laws = laws_of(j, j->part), *laws_x = laws_of(j, j->part_y);
  take_apart(j, b, j->part, laws);
  PCSIM_TRY(transport_linear_precondition(j->transport_linear, laws, laws_x));
  memcpy(j->t->v, laws_x, (size_t)(j->t->n * j->t->m) * sizeof *laws_x);
  for (int64_t k = 0; k < j->f->n * j->mf; k++) j->part[k] = -j->part[k];
  PCSIM_TRY(joined_push_along(j, false, j->part)); /* -(b + force) */
  for (int64_t k = 0; k < j->f->n * j->mf; k++) j->part[k] = -j->part[k];
  PCSIM_TRY(flow_linear_precondition(j->flow_linear, j->part, j->part_y));
  put_together(j, j->part_y, laws_x, x);
  return PCSIM_OK;
}

static pcsim_status solve(void *context, const double *b, double tolerance, double *x, int64_t *iterations,
                          bool *converged) {
  return joined_linear_solve(((joined *)context)->linear, b, x, tolerance, iterations, converged);
}

/* The level of the pressure, as the flow takes it out. */
static void normalise(void *context) {
  joined *j = context;
  take_apart(j, j->q, j->f->q, j->t->q);
  j->flow_system.normalise(j->flow_system.context);
  put_together(j, j->f->q, j->t->q, j->q);
}

static const char *equation(const void *context, int i) {
  const joined *j = context;
  if (i < j->mf) return j->flow_system.equation(j->flow_system.context, i);
  return j->transport_system.equation(j->transport_system.context, i - j->mf);
}

static void ease(void *context, double share) {
  joined *j = context;
  j->flow_system.ease(j->flow_system.context, share);
}

static bool eased(const void *context) {
  const joined *j = context;
  return j->flow_system.eased(j->flow_system.context);
}

static bool blame(const void *context, char *reason, size_t size) {
  const joined *j = context;
  return j->flow_system.blame(j->flow_system.context, reason, size);
}

void joined_system(joined *j, discrete_system *s) {
  *s = (discrete_system){.context = j,
                         .mesh = j->f->mesh,
                         .m = j->m,
                         .n = j->f->n,
                         .q = j->q,
                         .volume = j->f->volume,
                         .evolves = j->evolves,
                         .scale = j->scale,
                         .row_weight = j->row_weight,
                         .advice = j->flow_system.advice,
                         .natural_step = j->natural_step,
                         .freeze = j->flow_system.freeze || j->t->choices.central < 1 ? freeze : NULL,
                         .residual = residual,
                         .accumulation = accumulation,
                         .set_shift = set_shift,
                         .tangent = tangent,
                         .renew = renew,
                         .solve = solve,
                         .normalise = j->flow_system.normalise ? normalise : NULL,
                         .equation = equation,
                         .blame = blame,
                         .ease = j->flow_system.ease ? ease : NULL,
                         .eased = eased};
}

/* ----------------------------------------------------------------------- set-up */

static pcsim_status allocate(joined *j) {
  const size_t size = (size_t)(j->f->n * j->m);
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &j->q));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &j->part));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &j->part_y));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &j->row_weight));
  return joined_exchange_create(j);
}

static void find_scales(joined *j) {
  for (int i = 0; i < j->m; i++) {
    j->evolves[i] = i < j->mf ? j->flow_system.evolves[i] : j->transport_system.evolves[i - j->mf];
    j->scale[i] = i < j->mf ? j->flow_system.scale[i] : j->transport_system.scale[i - j->mf];
  }
  find_weights(j);
}

/* Coefficients that depend on unknowns of the laws, and the step that follows from them. */
static pcsim_status find_step(joined *j) {
  j->natural_step = j->flow_system.natural_step;
  if (!j->f->through_time || !j->f->viscous.num) return PCSIM_OK;
  PCSIM_TRY(freeze(j, j->f->time, true));
  j->natural_step = flow_natural_step(j->f);
  return PCSIM_OK;
}

static pcsim_status create_parts(joined *j, const pcsim_mesh *mesh, pcsim_flow_problem *problem,
                                 const pcsim_transport_problem *laws, const pcsim_flow_options *options) {
  pcsim_transport_options typed = pcsim_transport_options_default();
  const transport_choices choices = {.central = options->central, .kappa = options->kappa};
  PCSIM_CHECK(pcsim_flow_problem_get(problem)->joined && pcsim_transport_problem_get(laws)->num_carriers,
              PCSIM_ERR_ARG, "the problems are of a case whose equations do not join the flow");
  PCSIM_TRY(flow_create(mesh, problem, options, &j->f));
  PCSIM_TRY(flow_linear_create(j->f, options, &j->flow_linear));
  PCSIM_TRY(transport_create(mesh, laws, &choices, &j->t));
  if (!strcmp(options->linear, "direct")) memcpy(typed.linear, "direct", sizeof "direct");
  PCSIM_TRY(transport_linear_create(j->t, &typed, &j->transport_linear));
  j->flow_context = (flow_context){j->f, j->flow_linear};
  j->transport_context.t = j->t, j->transport_context.linear = j->transport_linear;
  PCSIM_TRY(flow_system(&j->flow_context, &j->flow_system));
  transport_system(&j->transport_context, &j->transport_system);
  j->mf = j->f->dim + 1;
  j->m = j->mf + j->t->m;
  PCSIM_CHECK(j->m <= SYSTEM_UNKNOWNS_MAX, PCSIM_ERR_CASE, "%d unknowns; the solver takes at most %d", j->m,
              SYSTEM_UNKNOWNS_MAX);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(mesh), allocate(j)));
  find_scales(j);
  put_together(j, j->f->q, j->t->q, j->q);
  PCSIM_TRY(find_step(j));
  return joined_linear_create(j, &j->linear);
}

pcsim_status joined_create(const pcsim_mesh *mesh, pcsim_flow_problem *problem,
                           const pcsim_transport_problem *laws, const pcsim_flow_options *options,
                           joined **out) {
  joined *j = NULL;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *j, &j));
  const pcsim_status status = create_parts(j, mesh, problem, laws, options);
  if (status != PCSIM_OK) joined_destroy(&j);
  *out = j;
  return status;
}

void joined_destroy(joined **out) {
  joined *j = *out;
  if (!j) return;
  joined_linear_destroy(&j->linear);
  joined_exchange_destroy(j);
  flow_linear_destroy(&j->flow_linear);
  transport_linear_destroy(&j->transport_linear);
  flow_destroy(&j->f);
  transport_destroy(&j->t);
  void *blocks[] = {&j->q, &j->part, &j->part_y, &j->row_weight};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}
