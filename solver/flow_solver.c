/* SPDX-License-Identifier: BSD-2-Clause */
/* Pseudo-transient continuation into Newton's method (Kelley and Keyes, SIAM J. Numer. Anal. 35, 1998).
 * A step solves (R'(q) + a_P/CFL) dq = -R(q) with the exact tangent; it is taken if the residual does not
 * grow, else shortened, else redone with a smaller CFL number. CFL follows the residual. */
#include "flow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REJECTIONS_MAX = 8, HALVINGS_MAX = 3, STALL_STEPS = 60 };
static const double GROWTH_ALLOWED = 1.5, CFL_MAX = 1e12, CFL_MIN = 1e-2;

struct pcsim_flow_solver {
  const pcsim_mesh *mesh;
  pcsim_flow_options options;
  flow *f;
  flow_linear *linear;
  /* marching state; what set_state restores */
  int64_t step, linear_total;
  double cfl, reference;
  bool started, coefficients_known;
  /* age of the preconditioner */
  int64_t built_at, iterations_fresh, iterations_last;
  double built_cfl;
  double *r, *r_new, *dq, *q_old; /* [n][m] */
  /* fields handed out */
  double *velocity, *pressure, *velocity_gradient, *pressure_gradient;
  double *wall_value, *wall_friction, *wall_flow, *face_velocity, *face_pressure, *face_friction;
};

/* ------------------------------------------------------------------ norms */

typedef struct {
  double total, part[4];
  int64_t worst; /* owned cell with the largest entry */
  int worst_part;
} residual_norm;

static void norm_of(const flow *f, const double *r, residual_norm *norm) {
  const int m = f->dim + 1;
  double sum[4] = {0}, worst = -1;
  norm->worst = 0, norm->worst_part = 0;
  for (int64_t c = 0; c < f->n; c++)
    for (int i = 0; i < m; i++) {
      const double x = r[c * m + i];
      sum[i] += x * x;
      if (fabs(x) > worst || isnan(x)) {
        worst = isnan(x) ? INFINITY : fabs(x);
        norm->worst = c, norm->worst_part = i;
      }
    }
  MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(f->mesh));
  norm->total = 0;
  for (int i = 0; i < 4; i++) {
    norm->part[i] = 0;
    norm->total += sum[i];
  }
  for (int i = 0; i < m; i++) norm->part[i == m - 1 ? 3 : i] = sqrt(sum[i]);
  norm->total = sqrt(norm->total);
}

/* Where the worst residual sits, over all ranks. */
static void report_worst(const flow *f, const residual_norm *norm, const double *r,
                         pcsim_flow_result *result) {
  MPI_Comm comm = pcsim_mesh_comm(f->mesh);
  const int m = f->dim + 1;
  struct {
    double value;
    int rank;
  } mine = {-1, 0}, all;
  MPI_Comm_rank(comm, &mine.rank);
  if (f->n) {
    mine.value = fabs(r[norm->worst * m + norm->worst_part]);
    if (!(mine.value < INFINITY)) mine.value = INFINITY;
  }
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  double packed[5] = {0};
  if (mine.rank == all.rank && f->n) {
    memcpy(packed, f->view->cell_centre + 3 * norm->worst, 3 * sizeof(double));
    packed[3] = (double)f->view->cell_original[norm->worst];
    packed[4] = norm->worst_part;
  }
  MPI_Bcast(packed, 5, MPI_DOUBLE, all.rank, comm);
  memcpy(result->worst_centre, packed, 3 * sizeof(double));
  result->worst_cell = (int64_t)packed[3];
  const int part = (int)packed[4];
  static const char *const name[] = {"x-momentum", "y-momentum", "z-momentum"};
  snprintf(
      result->reason, sizeof result->reason,
      "the %s equation diverges first in cell %lld at (%.6g, %.6g, %.6g); look at the mesh and the boundary "
      "conditions there, start from a smaller solve.cfl, or lower the Reynolds number",
      part == m - 1 ? "continuity" : name[part], (long long)result->worst_cell + 1, packed[0], packed[1],
      packed[2]);
}

/* Pressure is fixed up to a constant only: keep its mean at zero. */
static void remove_pressure_level(flow *f) {
  const int m = f->dim + 1;
  double sum[2] = {0, 0};
  if (!f->problem->pressure_free) return;
  for (int64_t c = 0; c < f->n; c++) {
    sum[0] += f->volume[c] * f->q[c * m + m - 1];
    sum[1] += f->volume[c];
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(f->mesh));
  for (int64_t c = 0; c < f->n; c++) f->q[c * m + m - 1] -= sum[0] / sum[1];
}

/* ------------------------------------------------------------------ set-up */

/* V/a_P shrinks with the square of the cell size where viscosity rules: the first step is the same in time on
 * meshes finer than 20,000 cells. */
static double mesh_factor(const pcsim_mesh_view *v) {
  return fmax(1, pow((double)v->num_cells_global / 20000, 2. / v->dim));
}

pcsim_status pcsim_flow_solver_create(const pcsim_mesh *mesh, const pcsim_flow_problem *problem,
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
  s->options = *options;
  PCSIM_GOTO(flow_create(mesh, problem, options, &s->f), status, fail);
  const size_t size = (size_t)(s->f->n * (s->f->dim + 1));
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &s->r), status, fail);
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &s->r_new), status, fail);
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &s->dq), status, fail);
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &s->q_old), status, fail);
  PCSIM_GOTO(flow_linear_create(s->f, options, &s->linear), status, fail);
  s->cfl = options->cfl * mesh_factor(pcsim_mesh_get(mesh));
  s->built_at = -1;
  *out = s;
  return PCSIM_OK;
fail:
  pcsim_flow_solver_destroy(&s);
  return status;
}

void pcsim_flow_solver_destroy(pcsim_flow_solver **out) {
  pcsim_flow_solver *s = *out;
  if (!s) return;
  flow_linear_destroy(&s->linear);
  flow_destroy(&s->f);
  void *blocks[] = {&s->r,
                    &s->r_new,
                    &s->dq,
                    &s->q_old,
                    &s->velocity,
                    &s->pressure,
                    &s->velocity_gradient,
                    &s->pressure_gradient,
                    &s->wall_value,
                    &s->wall_friction,
                    &s->wall_flow,
                    &s->face_velocity,
                    &s->face_pressure,
                    &s->face_friction};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}

/* ----------------------------------------------------------------- marching */

static void set_diagonal(pcsim_flow_solver *s) {
  for (int64_t c = 0; c < s->f->n; c++) s->f->diagonal[c] = s->f->a_p[c] / s->cfl;
}

/* A preconditioner is kept while the solves stay nearly as short as the first with it. */
static bool preconditioner_is_old(const pcsim_flow_solver *s) {
  if (s->built_at < 0 || s->step < 2) return true;
  if (s->cfl < 0.2 * s->built_cfl) return true;
  if (s->built_cfl < 1e3 && s->cfl > 5 * s->built_cfl) return true;
  return s->iterations_last > s->iterations_fresh + s->iterations_fresh / 2 + 3;
}

static pcsim_status refresh_preconditioner(pcsim_flow_solver *s) {
  PCSIM_TRY(flow_linear_update(s->linear));
  s->built_at = s->step;
  s->built_cfl = s->cfl;
  s->iterations_fresh = -1;
  return PCSIM_OK;
}

/* Try q_old + dq, then shorter; true if the residual r_new is acceptable. */
static pcsim_status try_step(pcsim_flow_solver *s, double before, residual_norm *after, double *taken,
                             bool *ok) {
  flow *f = s->f;
  const int64_t size = f->n * (f->dim + 1);
  double lambda = 1;
  *ok = false;
  for (int k = 0; k <= HALVINGS_MAX && !*ok; k++, lambda *= 0.5) {
    for (int64_t i = 0; i < size; i++) f->q[i] = s->q_old[i] + lambda * s->dq[i];
    remove_pressure_level(f);
    PCSIM_TRY(flow_residual(f, s->r_new));
    norm_of(f, s->r_new, after);
    *taken = lambda;
    *ok = isfinite(after->total) && after->total <= GROWTH_ALLOWED * before;
  }
  return PCSIM_OK;
}

/* One accepted step, or `*ok` false when the CFL number has been cut to its limit in vain. */
static pcsim_status march(pcsim_flow_solver *s, residual_norm *norm, pcsim_flow_step *info, bool *ok) {
  flow *f = s->f;
  const int64_t size = f->n * (f->dim + 1);
  info->linear_iterations = info->rejections = 0;
  *ok = false;
  /* Rhie-Chow coefficients are frozen within a step: the residual is taken again with the new ones */
  PCSIM_TRY(flow_update_coefficients(f));
  PCSIM_TRY(flow_residual(f, s->r));
  norm_of(f, s->r, norm);
  memcpy(s->q_old, f->q, (size_t)size * sizeof *f->q);
  while (!*ok) {
    int64_t iterations;
    double taken = 1;
    bool solved;
    residual_norm after;
    set_diagonal(s);
    if (preconditioner_is_old(s)) PCSIM_TRY(refresh_preconditioner(s));
    for (int64_t i = 0; i < size; i++) s->r_new[i] = -s->r[i];
    PCSIM_TRY(
        flow_linear_solve(s->linear, s->r_new, s->dq, s->options.linear_tolerance, &iterations, &solved));
    info->linear_iterations += iterations;
    s->iterations_last = iterations;
    if (s->iterations_fresh < 0) s->iterations_fresh = iterations;
    if (!solved && s->built_at != s->step) { /* an old preconditioner: renew it and solve again */
      PCSIM_TRY(refresh_preconditioner(s));
      continue;
    }
    PCSIM_TRY(try_step(s, norm->total, &after, &taken, ok));
    /* a solve that broke down and moved nothing is no step */
    if (!solved && fabs(after.total - norm->total) <= 1e-12 * norm->total) *ok = false;
    if (*ok) {
      const double drop = norm->total / fmax(after.total, 1e-300);
      info->cfl = s->cfl;
      if (taken < 1) s->cfl *= taken;
      else s->cfl *= solved ? fmin(fmax(drop, 0.5), 1e3) : 1;
      s->cfl = fmin(fmax(s->cfl, CFL_MIN), CFL_MAX);
      *norm = after;
      memcpy(s->r, s->r_new, (size_t)size * sizeof *s->r);
      break;
    }
    memcpy(f->q, s->q_old, (size_t)size * sizeof *f->q);
    PCSIM_TRY(flow_residual(f, s->r)); /* mass fluxes and gradients of the old state */
    info->rejections++;
    s->cfl /= 10;
    if (s->cfl < CFL_MIN || info->rejections > REJECTIONS_MAX) break;
  }
  s->linear_total += info->linear_iterations;
  return PCSIM_OK;
}

static pcsim_status start(pcsim_flow_solver *s, residual_norm *norm) {
  flow *f = s->f;
  /* mass fluxes first without, then with the Rhie-Chow term */
  remove_pressure_level(f);
  memset(f->tau, 0, (size_t)f->nt * sizeof *f->tau);
  PCSIM_TRY(flow_residual(f, s->r));
  /* fluxes and coefficients depend on each other: a state to go on from gets those it was left with */
  for (int pass = 0; pass < (s->step > 0 ? 6 : 1); pass++) {
    PCSIM_TRY(flow_update_coefficients(f));
    PCSIM_TRY(flow_residual(f, s->r));
  }
  s->coefficients_known = true;
  norm_of(f, s->r, norm);
  if (!s->started) s->reference = norm->total;
  s->started = true;
  return PCSIM_OK;
}

static void fill_info(const pcsim_flow_solver *s, const residual_norm *norm, double begin,
                      pcsim_flow_step *info) {
  info->step = s->step;
  info->residual = norm->total / s->reference;
  for (int i = 0; i < 4; i++) info->residuals[i] = norm->part[i] / s->reference;
  info->wall_seconds = pcsim_time_wall() - begin;
}

/* Steps until the tolerance, the limit or a stall; fills the outcome and the reason. */
static pcsim_status march_on(pcsim_flow_solver *s, pcsim_flow_observer observer, void *context, double begin,
                             residual_norm *norm, pcsim_flow_result *result) {
  pcsim_flow_step info = {.cfl = s->cfl};
  double lowest = norm->total;
  fill_info(s, norm, begin, &info);
  if (observer && s->step == 0) PCSIM_TRY(observer(context, &info));
  for (int64_t stalled = 0; norm->total > s->options.tolerance * s->reference;) {
    bool ok;
    if (s->step >= s->options.steps_max) {
      snprintf(result->reason, sizeof result->reason, "the limit of %lld steps is reached",
               (long long)s->options.steps_max);
      return PCSIM_OK;
    }
    PCSIM_TRY(march(s, norm, &info, &ok));
    if (!ok) {
      result->outcome = PCSIM_OUTCOME_DIVERGED;
      PCSIM_TRY(flow_residual(s->f, s->r));
      norm_of(s->f, s->r, norm);
      report_worst(s->f, norm, s->r, result);
      return PCSIM_OK;
    }
    s->step++;
    s->reference = fmax(s->reference, norm->total);
    fill_info(s, norm, begin, &info);
    if (observer) PCSIM_TRY(observer(context, &info));
    stalled = norm->total < 0.9 * lowest ? 0 : stalled + 1;
    lowest = fmin(lowest, norm->total);
    if (stalled >= STALL_STEPS) {
      snprintf(result->reason, sizeof result->reason,
               "the residual has not fallen for %lld steps; the flow may not be steady", (long long)stalled);
      return PCSIM_OK;
    }
  }
  result->outcome = PCSIM_OUTCOME_CONVERGED;
  snprintf(result->reason, sizeof result->reason, "the residual fell below the tolerance");
  return PCSIM_OK;
}

pcsim_status pcsim_flow_solver_run(pcsim_flow_solver *s, pcsim_flow_observer observer, void *context,
                                   pcsim_flow_result *result) {
  const double begin = pcsim_time_wall();
  residual_norm norm = {0};
  memset(result, 0, sizeof *result);
  result->worst_cell = -1;
  result->outcome = PCSIM_OUTCOME_NOT_CONVERGED;
  PCSIM_TRY(start(s, &norm));
  if (isfinite(norm.total)) {
    s->reference = fmax(s->reference, norm.total);
    if (!(s->reference > 0)) s->reference = 1;
    PCSIM_TRY(march_on(s, observer, context, begin, &norm, result));
  } else {
    result->outcome = PCSIM_OUTCOME_DIVERGED;
    report_worst(s->f, &norm, s->r, result);
  }
  result->steps = s->step;
  result->linear_iterations = s->linear_total;
  result->residual = norm.total / s->reference;
  result->seconds = pcsim_time_wall() - begin;
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- state */

pcsim_status pcsim_flow_solver_get_state(const pcsim_flow_solver *s, double *unknowns,
                                         double scalars[PCSIM_FLOW_NUM_SCALARS]) {
  const flow *f = s->f;
  const int m = f->dim + 1;
  const double U = f->scale_velocity, pressure = f->density * U * U;
  for (int64_t c = 0; c < f->n; c++) {
    for (int i = 0; i < 3; i++) unknowns[4 * c + i] = i < f->dim ? f->q[c * m + i] * U : 0;
    unknowns[4 * c + 3] = f->q[c * m + m - 1] * pressure;
  }
  memset(scalars, 0, PCSIM_FLOW_NUM_SCALARS * sizeof *scalars);
  scalars[0] = (double)s->step;
  scalars[1] = s->cfl;
  scalars[2] = s->reference;
  scalars[3] = (double)s->linear_total;
  return PCSIM_OK;
}

pcsim_status pcsim_flow_solver_set_state(pcsim_flow_solver *s, const double *unknowns,
                                         const double scalars[PCSIM_FLOW_NUM_SCALARS]) {
  flow *f = s->f;
  const int m = f->dim + 1;
  const double U = f->scale_velocity, pressure = f->density * U * U;
  for (int64_t c = 0; c < f->n; c++) {
    for (int i = 0; i < f->dim; i++) f->q[c * m + i] = unknowns[4 * c + i] / U;
    f->q[c * m + m - 1] = unknowns[4 * c + 3] / pressure;
  }
  PCSIM_CHECK(scalars[0] >= 0 && scalars[1] > 0 && scalars[2] > 0, PCSIM_ERR_ARG,
              "state of step %g, CFL %g, reference %g", scalars[0], scalars[1], scalars[2]);
  s->step = (int64_t)scalars[0];
  s->cfl = scalars[1];
  s->reference = scalars[2];
  s->linear_total = (int64_t)scalars[3];
  s->started = true;
  s->coefficients_known = false;
  s->built_at = -1;
  return PCSIM_OK;
}

static pcsim_status allocate_fields(pcsim_flow_solver *s) {
  const size_t nt = (size_t)s->f->nt, nb = (size_t)s->f->nb, d = (size_t)s->f->dim;
  PCSIM_TRY(pcsim_alloc(nt * 3, sizeof(double), &s->velocity));
  PCSIM_TRY(pcsim_alloc(nt, sizeof(double), &s->pressure));
  PCSIM_TRY(pcsim_alloc(nt * 9, sizeof(double), &s->velocity_gradient));
  PCSIM_TRY(pcsim_alloc(nt * 3, sizeof(double), &s->pressure_gradient));
  PCSIM_TRY(pcsim_alloc(nb * (d + 1), sizeof(double), &s->wall_value));
  PCSIM_TRY(pcsim_alloc(nb * d, sizeof(double), &s->wall_friction));
  PCSIM_TRY(pcsim_alloc(nb, sizeof(double), &s->wall_flow));
  PCSIM_TRY(pcsim_alloc(nb * 3, sizeof(double), &s->face_velocity));
  PCSIM_TRY(pcsim_alloc(nb, sizeof(double), &s->face_pressure));
  return pcsim_alloc(nb * 3, sizeof(double), &s->face_friction);
}

pcsim_status pcsim_flow_solver_fields(pcsim_flow_solver *s, pcsim_flow_fields *fields) {
  flow *f = s->f;
  const int d = f->dim, m = d + 1;
  const double U = f->scale_velocity, pressure = f->density * U * U;
  if (!s->velocity) PCSIM_TRY(allocate_fields(s));
  if (!s->coefficients_known) { /* a state that no run has gone on from yet */
    residual_norm norm;
    PCSIM_TRY(start(s, &norm));
  }
  PCSIM_TRY(flow_update_gradient(f));
  for (int64_t c = 0; c < f->nt; c++) {
    for (int i = 0; i < d; i++) {
      s->velocity[3 * c + i] = f->q[c * m + i] * U;
      for (int j = 0; j < d; j++) s->velocity_gradient[9 * c + 3 * i + j] = f->grad[(c * m + i) * d + j] * U;
      s->pressure_gradient[3 * c + i] = f->grad[(c * m + d) * d + i] * pressure;
    }
    s->pressure[c] = f->q[c * m + d] * pressure;
  }
  flow_kernels_of(f)->boundary(f, s->wall_value, s->wall_friction, s->wall_flow);
  for (int64_t k = 0; k < f->nb; k++) {
    for (int i = 0; i < d; i++) {
      s->face_velocity[3 * k + i] = s->wall_value[k * m + i] * U;
      s->face_friction[3 * k + i] = s->wall_friction[k * d + i] * pressure;
    }
    s->face_pressure[k] = s->wall_value[k * m + d] * pressure;
    s->wall_flow[k] *= U;
  }
  *fields = (pcsim_flow_fields){.mesh = s->mesh,
                                .density = f->density,
                                .viscosity = f->problem->viscosity,
                                .velocity = s->velocity,
                                .pressure = s->pressure,
                                .velocity_gradient = s->velocity_gradient,
                                .pressure_gradient = s->pressure_gradient,
                                .face_velocity = s->face_velocity,
                                .face_pressure = s->face_pressure,
                                .face_friction = s->face_friction,
                                .face_flow = s->wall_flow};
  return PCSIM_OK;
}
