/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed laws as a system of system.h. */
#include "transport_linear.h"

#include <math.h>
#include <string.h>

pcsim_status transport_shifted_tangent(transport *t, const double *v, double *y) {
  PCSIM_TRY(transport_set_direction(t, v));
  return transport_shifted_tangent_here(t, y);
}

pcsim_status transport_shifted_tangent_here(transport *t, double *y) {
  const int64_t size = t->n * t->m;
  PCSIM_TRY(transport_tangent_here(t, y));
  if (t->cfl < INFINITY)
    for (int64_t i = 0; i < size; i++) y[i] += t->pace[i] / t->cfl * t->v[i];
  if (!(t->step < INFINITY)) return PCSIM_OK;
  PCSIM_TRY(pcsim_executor_run(t->accumulation_tangent, false));
  for (int64_t i = 0; i < size; i++) y[i] += t->all[i] / t->step;
  return PCSIM_OK;
}

static pcsim_status residual(void *context, double time, double *r) {
  return transport_residual(((transport_context *)context)->t, time, r);
}

/* The speeds follow the state alone: they are the same whether it is fresh or not. */
static pcsim_status freeze(void *context, double time, bool fresh) {
  transport *t = ((transport_context *)context)->t;
  (void)fresh;
  PCSIM_TRY(transport_update_gradient(t, time));
  return transport_update_speed(t);
}

static pcsim_status accumulation(void *context, double time, double *a) {
  transport *t = ((transport_context *)context)->t;
  PCSIM_TRY(transport_set_time(t, time));
  return transport_accumulation(t, a);
}

static void set_shift(void *context, double cfl, double step) {
  transport *t = ((transport_context *)context)->t;
  t->cfl = cfl, t->step = step;
}

static pcsim_status tangent(void *context, const double *v, double *y) {
  return transport_shifted_tangent(((transport_context *)context)->t, v, y);
}

static pcsim_status renew(void *context) {
  return transport_linear_update(((transport_context *)context)->linear);
}

static pcsim_status solve(void *context, const double *b, double tolerance, double *x, int64_t *iterations,
                          bool *converged) {
  return transport_linear_solve(((transport_context *)context)->linear, b, x, tolerance, iterations,
                                converged);
}

/* Projected Newton's method: bounded unknowns end at the bound that an update would take them over. */
static void admit(void *context) {
  transport *t = ((transport_context *)context)->t;
  for (int i = 0; i < t->m; i++)
    for (int64_t c = 0; transport_is_bounded(t, i) && c < t->n; c++) {
      double *q = &t->q[c * t->m + i];
      if (*q < t->choices.low[i]) *q = t->choices.low[i];
      if (*q > t->choices.high[i]) *q = t->choices.high[i];
    }
}

static const char *equation(const void *context, int i) {
  return ((const transport_context *)context)->t->problem->unknown[i];
}

void transport_system(transport_context *x, discrete_system *s) {
  const transport *t = x->t;
  for (int i = 0; i < t->m; i++) x->evolves[i] = t->problem->has_time[i];
  *s = (discrete_system){.context = x,
                         .mesh = t->mesh,
                         .m = t->m,
                         .n = t->n,
                         .q = t->q,
                         .volume = t->volume,
                         .evolves = x->evolves,
                         .scale = t->problem->scale,
                         .linear = t->linear,
                         .advice = "or start from a smaller solve.cfl",
                         .freeze = freeze,
                         .residual = residual,
                         .accumulation = accumulation,
                         .set_shift = set_shift,
                         .tangent = tangent,
                         .renew = renew,
                         .solve = solve,
                         .admit = t->choices.bounded ? admit : NULL,
                         .equation = equation};
}
