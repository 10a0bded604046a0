/* SPDX-License-Identifier: BSD-2-Clause */
/* The discrete flow as a system: A is the volume times the velocity; continuity has no accumulation. */
#include "flow_system.h"

#include <math.h>
#include <string.h>

static pcsim_status residual(void *context, double t, double *r) {
  flow_context *x = context;
  (void)t;
  return flow_residual(x->f, r);
}

/* Fluxes and coefficients depend on each other: fresh ones come from mass fluxes without the Rhie-Chow
 * term. */
static pcsim_status freeze(void *context, double t, bool fresh) {
  flow_context *x = context;
  flow *f = x->f;
  if (fresh) {
    memset(f->tau, 0, (size_t)f->nt * sizeof *f->tau);
    PCSIM_TRY(residual(context, t, f->scratch));
  }
  return flow_update_coefficients(f);
}

static pcsim_status accumulation(void *context, double t, double *a) {
  const flow *f = ((flow_context *)context)->f;
  const int m = f->dim + 1;
  (void)t;
  for (int64_t c = 0; c < f->n; c++) {
    for (int i = 0; i < f->dim; i++) a[c * m + i] = f->volume[c] * f->q[c * m + i] / f->scale_velocity;
    a[c * m + f->dim] = 0;
  }
  return PCSIM_OK;
}

static void set_shift(void *context, double cfl, double step) {
  flow *f = ((flow_context *)context)->f;
  const double time = step * f->scale_velocity;
  for (int64_t c = 0; c < f->n; c++) f->diagonal[c] = f->a_p[c] / cfl + f->volume[c] / time;
}

static pcsim_status tangent(void *context, const double *v, double *y) {
  return flow_tangent(((flow_context *)context)->f, v, y);
}

static pcsim_status renew(void *context) { return flow_linear_update(((flow_context *)context)->linear); }

static pcsim_status solve(void *context, const double *b, double tolerance, double *x, int64_t *iterations,
                          bool *converged) {
  return flow_linear_solve(((flow_context *)context)->linear, b, x, tolerance, iterations, converged);
}

/* Pressure is fixed up to a constant only: keep its mean at zero. */
static void normalise(void *context) {
  flow *f = ((flow_context *)context)->f;
  const int m = f->dim + 1;
  double sum[2] = {0, 0};
  for (int64_t c = 0; c < f->n; c++) {
    sum[0] += f->volume[c] * f->q[c * m + m - 1];
    sum[1] += f->volume[c];
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(f->mesh));
  for (int64_t c = 0; c < f->n; c++) f->q[c * m + m - 1] -= sum[0] / sum[1];
}

static const char *equation(const void *context, int i) {
  static const char *const momentum[] = {"x-momentum", "y-momentum", "z-momentum"};
  const flow *f = ((const flow_context *)context)->f;
  return i == f->dim ? "continuity" : momentum[i];
}

void flow_system(flow_context *x, discrete_system *s) {
  static const uint8_t evolves[2][4] = {{1, 1, 0, 0}, {1, 1, 1, 0}};
  static const double scale[4] = {1, 1, 1, 1};
  *s = (discrete_system){.context = x,
                         .mesh = x->f->mesh,
                         .m = x->f->dim + 1,
                         .n = x->f->n,
                         .q = x->f->q,
                         .volume = x->f->volume,
                         .evolves = evolves[x->f->dim - 2],
                         .scale = scale,
                         .advice = "start from a smaller solve.cfl, or lower the Reynolds number",
                         .freeze = freeze,
                         .residual = residual,
                         .accumulation = accumulation,
                         .set_shift = set_shift,
                         .tangent = tangent,
                         .renew = renew,
                         .solve = solve,
                         .normalise = x->f->problem->pressure_free ? normalise : NULL,
                         .equation = equation};
}
