/* SPDX-License-Identifier: BSD-2-Clause */
/* Derivatives of one number by parameters of the case: dJ/dp = J_p - psi^T R_p + phi^T T_p, where everything
 * given joins the parameters with residual and quantity. */
#include "flow_adjoint.h"

#include <math.h>
#include <string.h>

typedef struct {
  flow *f;
  flow_adjoint *adjoint;
  flow_functional *functional;
  flow_cotangent given;
  double *b, *w;      /* [n][m + 1] right-hand side; psi and phi */
  const char **inner; /* [num_inner] parameters that the quantity's program has itself */
  double *inner_derivative;
  int num_inner;
  double *patch; /* [patches][m] how the velocities of walls change */
  double level;  /* what the quantity gains with the level of the pressure, over the volume */
} sensitivity;

static pcsim_status allocate(sensitivity *s, int num) {
  const flow *f = s->f;
  const size_t m = (size_t)f->dim + 1, size = (size_t)f->n * (m + 1);
  PCSIM_TRY(flow_cotangent_allocate(f, num, s->functional->cells.num, &s->given));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &s->b));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &s->w));
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *s->inner, &s->inner));
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof(double), &s->inner_derivative));
  return pcsim_alloc((size_t)f->view->num_patches * m, sizeof(double), &s->patch);
}

static void release(sensitivity *s) {
  flow_adjoint_destroy(&s->adjoint);
  flow_functional_destroy(&s->functional);
  flow_cotangent_free(&s->given);
  pcsim_free(&s->b), pcsim_free(&s->w);
  pcsim_free(&s->inner), pcsim_free(&s->inner_derivative), pcsim_free(&s->patch);
}

/* Coefficients that belong to the state: they and the fluxes depend on each other, more weakly each time. */
static pcsim_status settle(flow *f) {
  enum { ROUNDS = 4 };
  PCSIM_TRY(flow_residual(f, f->scratch));
  for (int i = 0; i < ROUNDS; i++) {
    PCSIM_TRY(flow_update_coefficients(f));
    PCSIM_TRY(flow_residual(f, f->scratch));
  }
  return PCSIM_OK;
}

double flow_take_out_level(const flow *f, int width, double *b) {
  const int m = f->dim + 1;
  double sum[2] = {0, 0};
  if (!f->problem->pressure_free) return 0;
  for (int64_t c = 0; c < f->n; c++) sum[0] += b[c * width + m - 1], sum[1] += f->volume[c];
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(f->mesh));
  const double level = sum[0] / sum[1];
  for (int64_t c = 0; c < f->n; c++) b[c * width + m - 1] -= level * f->volume[c];
  return level;
}

/* -------------------------------------------------------------- one parameter */

/* Walls of one velocity: what it gains, from any of their faces. Collective. */
static void gains_of_walls(const flow *f, const double *velocity, double *patch) {
  const pcsim_mesh_view *v = f->view;
  const int m = f->dim + 1;
  for (int i = 0; i < v->num_patches * m; i++) patch[i] = INFINITY;
  for (int p = 0; p < v->num_patches; p++)
    for (int64_t k = v->patch_start[p] - f->ni; k < v->patch_start[p + 1] - f->ni; k++)
      for (int i = 0; i < f->dim; i++) patch[p * m + i] = fmin(patch[p * m + i], velocity[3 * k + i]);
  MPI_Allreduce(MPI_IN_PLACE, patch, v->num_patches * m, MPI_DOUBLE, MPI_MIN, pcsim_mesh_comm(f->mesh));
}

/* What comes of the values given at boundaries, scaled: u/U, p/(rho U^2). This rank's share. */
static double through_boundaries(const flow *f, const flow_cotangent *given, const double *patch,
                                 const pcsim_flow_derivative *d) {
  const int m = f->dim + 1;
  const double U = f->scale_velocity, pressure = f->density * U * U;
  double sum = 0;
  for (int64_t k = 0; k < f->nb; k++) {
    const double *to = given->value + k * m;
    for (int i = 0; i < f->dim; i++) sum += to[i] * d->velocity[3 * k + i] / U;
    sum += to[f->dim] * (d->pressure[k] / pressure - f->wall_value[k * m + f->dim] * d->density / f->density);
  }
  for (int64_t i = 0; i < f->gradient.num_given; i++) {
    const int p = f->view->node_patch[f->gradient.given[i]];
    for (int j = 0; j < f->dim; j++) sum += given->node[i * m + j] * patch[p * m + j] / U;
  }
  return sum;
}

/* What comes of a force that varies, force/(rho U^2). This rank's share. */
static double through_force(const flow *f, const flow_cotangent *given, const pcsim_flow_derivative *d) {
  const double U = f->scale_velocity, share = d->density / f->density;
  double sum = 0;
  for (int64_t c = 0; given->push && c < f->n; c++)
    for (int i = 0; i < f->dim; i++) {
      const int64_t k = c * f->dim + i;
      sum += given->push[k] * (d->cell_force[3 * c + i] / (f->density * U * U) - f->cell_force[k] * share);
    }
  return sum;
}

/* nu = mu/(rho U), force/(rho U^2) */
static double through_numbers(const flow *f, const flow_cotangent *given, const pcsim_flow_derivative *d) {
  const double U = f->scale_velocity, share = d->density / f->density;
  double sum = given->density * d->density;
  sum += given->nu * (d->viscosity / (f->density * U) - f->nu * share);
  for (int i = 0; i < f->dim; i++)
    sum += given->force[i] * (d->force[i] / (f->density * U * U) - f->force[i] * share);
  return sum;
}

pcsim_status flow_through_given(const flow *f, const flow_cotangent *given, pcsim_flow_problem *problem,
                                const char *parameter, double *patch, double *derivative) {
  pcsim_flow_derivative d;
  PCSIM_TRY(pcsim_flow_problem_derivative(problem, parameter, &d));
  gains_of_walls(f, d.velocity, patch);
  *derivative =
      through_numbers(f, given, &d) + through_force(f, given, &d) + through_boundaries(f, given, patch, &d);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------ all */

static pcsim_status solve(sensitivity *s, flow_linear *linear, double tolerance,
                          pcsim_flow_sensitivity *out) {
  flow *f = s->f;
  PCSIM_TRY(flow_adjoint_functional(s->adjoint, s->functional, s->inner, s->num_inner, &out->value, s->b,
                                    &s->given, s->inner_derivative));
  s->level = flow_take_out_level(f, f->dim + 2, s->b);
  memset(f->diagonal, 0, (size_t)f->n * sizeof *f->diagonal);
  PCSIM_TRY(
      flow_adjoint_solve(s->adjoint, f, linear, s->b, tolerance, s->w, &out->iterations, &out->converged));
  return flow_adjoint_given(s->adjoint, s->w, &s->given);
}

static pcsim_status differentiate(sensitivity *s, pcsim_flow_problem *problem, const char *const *parameters,
                                  int num, double *derivative, double *own) {
  for (int i = 0; i < num; i++) {
    PCSIM_TRY(flow_through_given(s->f, &s->given, problem, parameters[i], s->patch, &derivative[i]));
    double inner = s->given.law[i];
    for (int k = 0; k < s->num_inner; k++)
      if (strcmp(s->inner[k], parameters[i]) == 0) inner += s->inner_derivative[k];
    derivative[i] += inner;
    if (own) own[i] = inner;
  }
  MPI_Allreduce(MPI_IN_PLACE, derivative, num, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(s->f->mesh));
  if (own) MPI_Allreduce(MPI_IN_PLACE, own, num, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(s->f->mesh));
  return PCSIM_OK;
}

/* The mean that is taken out follows the volumes; the state's is 0. This rank's share. */
static double through_level(const sensitivity *s, const pcsim_mesh_tangent *motion) {
  const flow *f = s->f;
  double sum = 0;
  for (int64_t c = 0; c < f->n; c++)
    sum -= s->level * motion->cell_volume[c] * f->q[c * (f->dim + 1) + f->dim];
  return sum;
}

static pcsim_status differentiate_by_shapes(const sensitivity *s, pcsim_flow_problem *problem,
                                            const pcsim_flow_sensitivity *out) {
  for (int i = 0; i < out->num_shapes; i++) {
    pcsim_flow_derivative d;
    PCSIM_TRY(flow_shape_derivative(s->f, &s->given, s->functional, &out->shape[i], &out->by_shape[i]));
    PCSIM_TRY(pcsim_flow_problem_motion(problem, &out->shape[i], &d));
    gains_of_walls(s->f, d.velocity, s->patch);
    out->by_shape[i] += through_level(s, &out->shape[i]) + through_force(s->f, &s->given, &d) +
                        through_boundaries(s->f, &s->given, s->patch, &d);
  }
  if (out->num_shapes)
    MPI_Allreduce(MPI_IN_PLACE, out->by_shape, out->num_shapes, MPI_DOUBLE, MPI_SUM,
                  pcsim_mesh_comm(s->f->mesh));
  return PCSIM_OK;
}

static void find_inner(sensitivity *s, const char *const *parameters, int num) {
  for (int i = 0; i < num; i++)
    if (pcsim_program_parameter(s->functional->program, parameters[i], NULL, NULL))
      s->inner[s->num_inner++] = parameters[i];
}

pcsim_status flow_sensitivity(flow *f, flow_linear *linear, pcsim_flow_problem *problem,
                              const pcsim_functional *quantity, const char *const *parameters, int num,
                              double tolerance, pcsim_flow_sensitivity *out) {
  sensitivity s = {.f = f, .given = {.shape = out->num_shapes > 0}};
  pcsim_status status;
  PCSIM_CHECK(out->num_shapes == 0 || quantity->kind != PCSIM_FUNCTIONAL_WEIGHTED, PCSIM_ERR_ARG,
              "derivatives by shapes of weights of fields");
  PCSIM_GOTO(flow_functional_create(f, quantity, &s.functional), status, done);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(f->mesh), allocate(&s, num)), status, done);
  find_inner(&s, parameters, num);
  PCSIM_GOTO(settle(f), status, done);
  PCSIM_GOTO(flow_adjoint_create(f, s.given.shape, parameters, num, &s.adjoint), status, done);
  PCSIM_GOTO(solve(&s, linear, tolerance, out), status, done);
  if (out->adjoint) {
    const int m = f->dim + 1; /* behind them stands what belongs to the coefficient */
    for (int64_t c = 0; c < f->n; c++)
      memcpy(out->adjoint + c * m, s.w + c * (m + 1), (size_t)m * sizeof *s.w);
  }
  PCSIM_GOTO(differentiate(&s, problem, parameters, num, out->derivative, out->own), status, done);
  status = differentiate_by_shapes(&s, problem, out);
done:
  release(&s);
  return status;
}
