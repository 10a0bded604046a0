/* SPDX-License-Identifier: BSD-2-Clause */
/* The discrete flow as a system: A is the volume times the velocity; continuity has no accumulation. */
#include "flow_system.h"
#include "flow_viscosity.h"

#include <math.h>
#include <string.h>

static pcsim_status residual(void *context, double t, double *r) {
  flow_context *x = context;
  PCSIM_TRY(flow_set_time(x->f, t));
  return flow_residual(x->f, r);
}

/* Fluxes and coefficients depend on each other: fresh ones come from mass fluxes without the Rhie-Chow
 * term. */
static pcsim_status freeze(void *context, double t, bool fresh) {
  flow *f = ((flow_context *)context)->f;
  flow_viscosity_forgive(f);
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

/* With a short step, V/step outgrows the fluxes of momentum: the weights bring it back to their size, so that
 * continuity is solved as well. Fluxes are about those of the velocity scale, 1, through half the surface. */
static void set_shift(void *context, double cfl, double step) {
  flow *f = ((flow_context *)context)->f;
  const int m = f->dim + 1;
  const double time = step * f->scale_velocity;
  for (int64_t c = 0; c < f->n; c++) f->diagonal[c] = f->a_p[c] / cfl + f->volume[c] / time;
  if (!f->through_time) return;
  for (int64_t c = 0; c < f->n; c++)
    for (int i = 0; i < f->dim; i++) f->row_weight[c * m + i] = f->a_p[c] / (f->a_p[c] + f->volume[c] / time);
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

static void ease(void *context, double share) { flow_viscosity_ease(((flow_context *)context)->f, share); }

static bool eased(const void *context) { return flow_viscosity_is_eased(((const flow_context *)context)->f); }

static bool blame(const void *context, char *reason, size_t size) {
  return flow_viscosity_blame(((const flow_context *)context)->f, reason, size);
}

double flow_natural_step(const flow *f) {
  double sum[2] = {0, 0};
  for (int64_t c = 0; c < f->n; c++) {
    sum[0] += f->volume[c] * f->tau[c] / f->rhie_chow;
    sum[1] += f->volume[c];
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(f->mesh));
  return sum[0] / sum[1] / f->scale_velocity;
}

pcsim_status flow_system(flow_context *x, discrete_system *s) {
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
                         .advice = x->f->through_time
                                       ? "refine the mesh where it is coarse, or lower solve.central"
                                       : "start from a smaller solve.cfl, or lower the Reynolds number",
                         .row_weight = x->f->row_weight,
                         .freeze = x->f->through_time && !x->f->viscous.varies ? NULL : freeze,
                         .residual = residual,
                         .accumulation = accumulation,
                         .set_shift = set_shift,
                         .tangent = tangent,
                         .renew = renew,
                         .solve = solve,
                         .normalise = x->f->problem->pressure_free ? normalise : NULL,
                         .equation = equation,
                         .blame = blame,
                         .ease = x->f->viscous.varies ? ease : NULL,
                         .eased = eased};
  if (!x->f->through_time) return PCSIM_OK;
  if (x->f->viscous.varies) PCSIM_TRY(freeze(x, x->f->time, true));
  PCSIM_TRY(flow_update_coefficients(x->f));
  s->natural_step = flow_natural_step(x->f);
  return PCSIM_OK;
}

/* V/a_P shrinks with the square of the cell size where viscosity rules: the first step is the same in time on
 * meshes finer than 20,000 cells. */
march_options flow_march_options(const pcsim_mesh *mesh, const pcsim_flow_options *options) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  const double factor = fmax(1, pow((double)v->num_cells_global / 20000, 2. / v->dim));
  return (march_options){.tolerance = options->tolerance,
                         .steps_max = options->steps_max,
                         .cfl = options->cfl * factor,
                         .linear_tolerance = options->linear_tolerance};
}
