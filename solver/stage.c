/* SPDX-License-Identifier: BSD-2-Clause */
/* Newton's method for one stage of a time step. Every solve and every test is as exact as the goal asks, no
 * more: the first correction is about the error of the extrapolated start, which is of the order of the
 * truncation error, so that one iteration with a few Krylov steps is the rule. */
#include "stage.h"

#include <math.h>
#include <string.h>

enum { NEWTON_MAX = 10 };
/* Loosest and tightest tolerance of a linear solve. */
static const double LINEAR_LOOSE = 0.01, LINEAR_TIGHT = 1e-6;
/* A correction that leaves more of the residual than this is no convergence. */
static const double SLOWEST = 0.9;
/* The preconditioner is renewed when the step has changed by more. */
static const double STEP_CHANGE = 4;

struct stage {
  const discrete_system *s;
  double weight[SYSTEM_UNKNOWNS_MAX]; /* 1/scale^2 of what evolves, else 0 */
  double volume;                      /* of the whole mesh, times the unknowns that evolve */
  double step;
  const double *known;
  double *a, *r, *g, *x; /* [n][m] accumulation, residual, equation, correction */
  /* age of the preconditioner */
  bool built;
  double built_step;
  int64_t iterations_fresh, iterations_last;
};

pcsim_status stage_create(const discrete_system *s, stage **out) {
  stage *g = NULL;
  pcsim_status status;
  const size_t size = (size_t)(s->n * s->m);
  double volume = 0;
  int evolving = 0;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *g, &g));
  g->s = s;
  for (int i = 0; i < s->m; i++) {
    evolving += s->evolves[i];
    g->weight[i] = s->evolves[i] ? 1 / (s->scale[i] * s->scale[i]) : 0;
  }
  for (int64_t c = 0; c < s->n; c++) volume += s->volume[c];
  MPI_Allreduce(MPI_IN_PLACE, &volume, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(s->mesh));
  g->volume = volume * evolving;
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &g->a), status, fail);
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &g->r), status, fail);
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &g->g), status, fail);
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &g->x), status, fail);
  *out = g;
  return PCSIM_OK;
fail:
  stage_destroy(&g);
  return status;
}

void stage_destroy(stage **out) {
  stage *g = *out;
  if (!g) return;
  pcsim_free(&g->a), pcsim_free(&g->r), pcsim_free(&g->g), pcsim_free(&g->x);
  pcsim_free(out);
}

void stage_renew(stage *g) { g->built = false; }

double stage_norm(const stage *g, const double *x) {
  const discrete_system *s = g->s;
  double sum = 0;
  for (int64_t c = 0; c < s->n; c++)
    for (int i = 0; i < s->m; i++)
      if (s->evolves[i]) sum += s->volume[c] * g->weight[i] * x[c * s->m + i] * x[c * s->m + i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(s->mesh));
  return sqrt(sum / g->volume);
}

/* The equation at the state that stands in q, and its norm. */
static pcsim_status evaluate(stage *g, double t, system_norm *norm) {
  const discrete_system *s = g->s;
  PCSIM_TRY(s->residual(s->context, t, g->r));
  PCSIM_TRY(s->accumulation(s->context, t, g->a));
  for (int64_t c = 0; c < s->n; c++)
    for (int i = 0; i < s->m; i++) {
      const int64_t k = c * s->m + i;
      g->g[k] = g->r[k] + (s->evolves[i] ? g->a[k] / g->step + g->known[k] : 0);
    }
  system_norm_of(s, g->g, norm);
  return PCSIM_OK;
}

/* Kept while the solves stay nearly as short as the first with it and the shift about the same. */
static bool preconditioner_is_old(const stage *g) {
  if (!g->built || g->step > STEP_CHANGE * g->built_step || g->step < g->built_step / STEP_CHANGE)
    return true;
  return g->iterations_last > g->iterations_fresh + g->iterations_fresh / 2 + 3;
}

static pcsim_status renew(stage *g) {
  PCSIM_TRY(g->s->renew(g->s->context));
  g->built = true;
  g->built_step = g->step;
  g->iterations_fresh = -1;
  return PCSIM_OK;
}

/* x = -(A'/step + R')^-1 g; an old preconditioner that fails is renewed once. */
static pcsim_status correct(stage *g, double tolerance, stage_report *report, bool *solved) {
  const discrete_system *s = g->s;
  int64_t iterations;
  bool fresh = false;
  if (preconditioner_is_old(g)) {
    PCSIM_TRY(renew(g));
    fresh = true;
  }
  for (int64_t k = 0; k < s->n * s->m; k++) g->r[k] = -g->g[k];
  for (;;) {
    PCSIM_TRY(s->solve(s->context, g->r, tolerance, g->x, &iterations, solved));
    report->linear_iterations += iterations;
    if (*solved || fresh) break;
    PCSIM_TRY(renew(g));
    fresh = true;
  }
  /* counts are compared as if every solve had one tolerance */
  const int64_t decades = (int64_t)ceil((double)iterations / fmax(1, -log10(tolerance)));
  g->iterations_last = decades;
  if (g->iterations_fresh < 0) g->iterations_fresh = decades;
  return PCSIM_OK;
}

pcsim_status stage_solve(stage *g, double t, double step, const double *known, double goal, double expected,
                         stage_report *report) {
  const discrete_system *s = g->s;
  system_norm before, after;
  double tolerance =
      expected > 0 ? fmin(fmax(0.5 * goal / expected, LINEAR_TIGHT), LINEAR_LOOSE) : LINEAR_LOOSE;
  *report = (stage_report){0};
  g->step = step;
  g->known = known;
  if (s->admit) s->admit(s->context);
  if (s->freeze) PCSIM_TRY(s->freeze(s->context, t, true));
  s->set_shift(s->context, INFINITY, step);
  PCSIM_TRY(evaluate(g, t, &before));
  if (before.total == 0) report->converged = true;
  for (int k = 0; k < NEWTON_MAX && !report->converged; k++) {
    bool solved;
    if (!isfinite(before.total)) return PCSIM_OK;
    PCSIM_TRY(correct(g, tolerance, report, &solved));
    for (int64_t i = 0; i < s->n * s->m; i++) s->q[i] += g->x[i];
    if (s->normalise) s->normalise(s->context);
    if (s->admit) s->admit(s->context);
    const double moved = stage_norm(g, g->x);
    PCSIM_TRY(evaluate(g, t, &after));
    const double ratio = after.total / before.total;
    report->newton_iterations++;
    if (k == 0) report->first = moved;
    if (!isfinite(moved) || !(ratio < (k == 0 ? 1e3 : SLOWEST))) return PCSIM_OK;
    report->converged = ratio * moved <= goal;
    tolerance = fmin(fmax(0.5 * goal / fmax(ratio * moved, 1e-300), LINEAR_TIGHT), LINEAR_LOOSE);
    before = after;
  }
  return PCSIM_OK;
}

void stage_rate(const stage *g, double *rate) {
  const discrete_system *s = g->s;
  for (int64_t c = 0; c < s->n; c++)
    for (int i = 0; i < s->m; i++) {
      const int64_t k = c * s->m + i;
      rate[k] = s->evolves[i] ? -(g->a[k] / g->step + g->known[k]) : 0;
    }
}

pcsim_status stage_filter(stage *g, const double *e, double tolerance, double *x, int64_t *iterations) {
  const discrete_system *s = g->s;
  bool solved;
  for (int64_t k = 0; k < s->n * s->m; k++) g->r[k] = e[k] / g->step;
  return s->solve(s->context, g->r, tolerance, x, iterations, &solved);
}

void stage_report_worst(const stage *g, pcsim_solve_result *result) {
  system_norm norm;
  system_norm_of(g->s, g->g, &norm);
  system_report_worst(g->s, &norm, g->g, result);
}
