/* SPDX-License-Identifier: BSD-2-Clause */
/* Pseudo-transient continuation into Newton's method (Kelley and Keyes, SIAM J. Numer. Anal. 35, 1998).
 * A step solves (R'(q) + pseudo-time/CFL) dq = -R(q) with the exact tangent; it is taken if the residual does
 * not grow, else shortened, else redone with a smaller CFL number. CFL follows the residual. */
#include "march.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REJECTIONS_MAX = 8, HALVINGS_MAX = 3, STALL_STEPS = 60 };
static const double GROWTH_ALLOWED = 1.5, CFL_MAX = 1e12, CFL_MIN = 1e-2, LINEAR_TOLERANCE_MIN = 1e-12;

/* The numbers beside q that a march goes on from. */
typedef struct {
  int64_t step, linear_total;
  double cfl, reference; /**< pseudo-time step; largest residual so far */
} march_state;

struct march {
  const discrete_system *s;
  march_options options;
  march_state now;
  const outside_start *outside; /* NULL: nobody is asked */
  bool started;                 /* the reference is known */
  bool seen;                    /* coefficients and residual belong to q */
  /* age of the preconditioner */
  int64_t built_at, iterations_fresh, iterations_last;
  double built_cfl;
  double linear_tolerance;        /* of the next solve */
  double *r, *r_new, *dq, *q_old; /* [n][m] */
  double residuals[SYSTEM_UNKNOWNS_MAX];
};

pcsim_status march_create(const discrete_system *s, const march_options *options, march **out) {
  march *m = NULL;
  pcsim_status status;
  const size_t size = (size_t)(s->n * s->m);
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *m, &m));
  m->s = s;
  m->options = *options;
  m->now.cfl = options->cfl;
  m->linear_tolerance = options->linear_tolerance;
  m->built_at = -1;
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &m->r), status, fail);
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &m->r_new), status, fail);
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &m->dq), status, fail);
  PCSIM_GOTO(pcsim_alloc(size, sizeof(double), &m->q_old), status, fail);
  *out = m;
  return PCSIM_OK;
fail:
  march_destroy(&m);
  return status;
}

void march_destroy(march **out) {
  march *m = *out;
  if (!m) return;
  pcsim_free(&m->r), pcsim_free(&m->r_new), pcsim_free(&m->dq), pcsim_free(&m->q_old);
  pcsim_free(out);
}

void march_set_outside(march *m, const outside_start *outside) { m->outside = outside; }

int64_t march_step(const march *m) { return m->now.step; }

void march_get_state(const march *m, double scalars[PCSIM_NUM_STATE_SCALARS]) {
  memset(scalars, 0, PCSIM_NUM_STATE_SCALARS * sizeof *scalars);
  scalars[0] = (double)m->now.step;
  scalars[1] = m->now.cfl;
  scalars[2] = m->now.reference;
  scalars[3] = (double)m->now.linear_total;
}

pcsim_status march_set_state(march *m, const double scalars[PCSIM_NUM_STATE_SCALARS]) {
  PCSIM_CHECK(scalars[0] >= 0 && scalars[1] > 0 && scalars[2] > 0, PCSIM_ERR_ARG,
              "state of step %g, CFL %g, reference %g", scalars[0], scalars[1], scalars[2]);
  m->now = (march_state){.step = (int64_t)scalars[0],
                         .cfl = scalars[1],
                         .reference = scalars[2],
                         .linear_total = (int64_t)scalars[3]};
  m->started = true;
  m->seen = false;
  m->built_at = -1;
  return PCSIM_OK;
}

bool march_started(const march *m) { return m->seen; }

/* -------------------------------------------------------------------- steps */

/* A preconditioner is kept while the solves stay nearly as short as the first with it. */
static bool preconditioner_is_old(const march *m) {
  if (m->built_at < 0 || m->now.step < 2) return true;
  if (m->now.cfl < 0.2 * m->built_cfl) return true;
  if (m->built_cfl < 1e3 && m->now.cfl > 5 * m->built_cfl) return true;
  return m->iterations_last > m->iterations_fresh + m->iterations_fresh / 2 + 3;
}

static pcsim_status refresh_preconditioner(march *m) {
  PCSIM_TRY(m->s->renew(m->s->context));
  m->built_at = m->now.step;
  m->built_cfl = m->now.cfl;
  m->iterations_fresh = -1;
  return PCSIM_OK;
}

/* Try q_old + dq, then shorter; true if the residual r_new is acceptable. */
static pcsim_status try_step(march *m, double before, system_norm *after, double *taken, bool *ok) {
  const discrete_system *s = m->s;
  const int64_t size = s->n * s->m;
  double lambda = 1;
  *ok = false;
  for (int k = 0; k <= HALVINGS_MAX && !*ok; k++, lambda *= 0.5) {
    for (int64_t i = 0; i < size; i++) s->q[i] = m->q_old[i] + lambda * m->dq[i];
    if (s->normalise) s->normalise(s->context);
    if (s->admit) s->admit(s->context);
    PCSIM_TRY(s->residual(s->context, 0, m->r_new));
    system_norm_of(s, m->r_new, after);
    *taken = lambda;
    *ok = isfinite(after->total) && after->total <= GROWTH_ALLOWED * before;
  }
  return PCSIM_OK;
}

/* After a whole Newton step: did the residual fall as far as the linear model said? */
static void choose_tolerance(march *m, double before, double after, bool whole) {
  const double wanted = m->options.tolerance * fmax(m->now.reference, before);
  const bool kept = whole && m->now.cfl >= CFL_MAX && after <= 1.1 * m->linear_tolerance * before;
  m->linear_tolerance = m->options.linear_tolerance;
  if (m->options.finish && kept && after > 0)
    m->linear_tolerance = fmin(m->linear_tolerance, fmax(0.3 * wanted / after, LINEAR_TOLERANCE_MIN));
}

/* One accepted step, or `*ok` false when the CFL number has been cut to its limit in vain. */
static pcsim_status take_step(march *m, system_norm *norm, pcsim_solve_step *info, bool *ok) {
  const discrete_system *s = m->s;
  const int64_t size = s->n * s->m;
  info->linear_iterations = info->rejections = 0;
  *ok = false;
  if (s->ease) s->ease(s->context, fmin(norm->total / m->now.reference, 0.999));
  /* coefficients are frozen within a step: the residual is taken again with the new ones */
  if (s->freeze) PCSIM_TRY(s->freeze(s->context, 0, false));
  PCSIM_TRY(s->residual(s->context, 0, m->r));
  system_norm_of(s, m->r, norm);
  memcpy(m->q_old, s->q, (size_t)size * sizeof *s->q);
  while (!*ok) {
    int64_t iterations;
    double taken = 1;
    bool solved;
    system_norm after;
    s->set_shift(s->context, m->now.cfl, INFINITY);
    if (preconditioner_is_old(m)) PCSIM_TRY(refresh_preconditioner(m));
    for (int64_t i = 0; i < size; i++) m->r_new[i] = -m->r[i];
    PCSIM_TRY(s->solve(s->context, m->r_new, m->linear_tolerance, m->dq, &iterations, &solved));
    info->linear_iterations += iterations;
    m->iterations_last = iterations;
    if (m->iterations_fresh < 0) m->iterations_fresh = iterations;
    if (!solved && m->built_at != m->now.step) { /* an old preconditioner: renew it and solve again */
      PCSIM_TRY(refresh_preconditioner(m));
      continue;
    }
    PCSIM_TRY(try_step(m, norm->total, &after, &taken, ok));
    /* a solve that broke down and moved nothing is no step */
    if (!solved && fabs(after.total - norm->total) <= 1e-12 * norm->total) *ok = false;
    choose_tolerance(m, norm->total, after.total, *ok && solved && taken == 1);
    if (*ok) {
      const double drop = norm->total / fmax(after.total, 1e-300);
      info->cfl = m->now.cfl;
      if (taken < 1) m->now.cfl *= taken;
      else m->now.cfl *= solved ? fmin(fmax(drop, 0.5), 1e3) : 1;
      m->now.cfl = fmin(fmax(m->now.cfl, CFL_MIN), CFL_MAX);
      *norm = after;
      memcpy(m->r, m->r_new, (size_t)size * sizeof *m->r);
      break;
    }
    memcpy(s->q, m->q_old, (size_t)size * sizeof *s->q);
    PCSIM_TRY(s->residual(s->context, 0, m->r)); /* mass fluxes and gradients of the old state */
    info->rejections++;
    m->now.cfl /= 10;
    if (m->now.cfl < CFL_MIN || info->rejections > REJECTIONS_MAX) break;
  }
  m->now.linear_total += info->linear_iterations;
  return PCSIM_OK;
}

/* What others propose, once the residual of the case's own start is known. */
static pcsim_status ask_outside(march *m, system_norm *norm) {
  const discrete_system *s = m->s;
  PCSIM_TRY(outside_take_start(m->outside));
  PCSIM_TRY(system_settle(s, true, m->r));
  PCSIM_TRY(outside_search(m->outside, m->r));
  system_norm_of(s, m->r, norm);
  return PCSIM_OK;
}

static pcsim_status start(march *m, system_norm *norm) {
  const discrete_system *s = m->s;
  if (m->now.step == 0 && s->ease) s->ease(s->context, 1);
  /* a state to go on from gets the coefficients that it was left with */
  PCSIM_TRY(system_settle(s, m->now.step > 0, m->r));
  m->seen = true;
  system_norm_of(s, m->r, norm);
  if (!m->started) {
    m->now.reference = norm->total;
    if (m->outside) PCSIM_TRY(ask_outside(m, norm));
  }
  m->started = true;
  /* nothing is gained by a step towards the solution of a linear problem */
  if (s->linear && m->options.finish && norm->total > 0)
    m->linear_tolerance =
        fmin(m->linear_tolerance,
             fmax(0.3 * m->options.tolerance * m->now.reference / norm->total, LINEAR_TOLERANCE_MIN));
  return PCSIM_OK;
}

pcsim_status march_start(march *m) {
  system_norm norm;
  return start(m, &norm);
}

static void fill_info(march *m, const system_norm *norm, double begin, pcsim_solve_step *info) {
  info->step = m->now.step;
  info->residual = norm->total / m->now.reference;
  for (int i = 0; i < m->s->m; i++) m->residuals[i] = norm->part[i] / m->now.reference;
  info->residuals = m->residuals;
  info->num_residuals = m->s->m;
  info->wall_seconds = pcsim_time_wall() - begin;
}

static bool is_eased(const discrete_system *s) { return s->eased && s->eased(s->context); }

/* Steps until the tolerance, the limit or a stall; fills the outcome and the reason. */
static pcsim_status march_on(march *m, pcsim_solve_observer observer, void *context, double begin,
                             system_norm *norm, pcsim_solve_result *result) {
  const discrete_system *s = m->s;
  pcsim_solve_step info = {.cfl = m->now.cfl};
  double lowest = norm->total;
  fill_info(m, norm, begin, &info);
  if (observer && m->now.step == 0) PCSIM_TRY(observer(context, &info));
  for (int64_t stalled = 0; norm->total > m->options.tolerance * m->now.reference || is_eased(s);) {
    bool ok;
    if (m->now.step >= m->options.steps_max) {
      snprintf(result->reason, sizeof result->reason, "the limit of %lld steps is reached",
               (long long)m->options.steps_max);
      return PCSIM_OK;
    }
    PCSIM_TRY(take_step(m, norm, &info, &ok));
    if (!ok) {
      result->outcome = PCSIM_OUTCOME_DIVERGED;
      PCSIM_TRY(s->residual(s->context, 0, m->r));
      system_norm_of(s, m->r, norm);
      system_report_worst(s, norm, m->r, result);
      return PCSIM_OK;
    }
    m->now.step++;
    m->now.reference = fmax(m->now.reference, norm->total);
    fill_info(m, norm, begin, &info);
    if (observer) PCSIM_TRY(observer(context, &info));
    stalled = norm->total < 0.9 * lowest ? 0 : stalled + 1;
    lowest = fmin(lowest, norm->total);
    if (stalled >= STALL_STEPS) {
      snprintf(result->reason, sizeof result->reason,
               "the residual has not fallen for %lld steps; the solution may not be steady",
               (long long)stalled);
      return PCSIM_OK;
    }
  }
  result->outcome = PCSIM_OUTCOME_CONVERGED;
  snprintf(result->reason, sizeof result->reason, "the residual fell below the tolerance");
  return PCSIM_OK;
}

pcsim_status march_run(march *m, pcsim_solve_observer observer, void *context, pcsim_solve_result *result) {
  const double begin = pcsim_time_wall();
  system_norm norm = {0};
  memset(result, 0, sizeof *result);
  result->worst_cell = -1;
  result->outcome = PCSIM_OUTCOME_NOT_CONVERGED;
  PCSIM_TRY(start(m, &norm));
  if (isfinite(norm.total)) {
    m->now.reference = fmax(m->now.reference, norm.total);
    if (!(m->now.reference > 0)) m->now.reference = 1;
    PCSIM_TRY(march_on(m, observer, context, begin, &norm, result));
  } else {
    result->outcome = PCSIM_OUTCOME_DIVERGED;
    system_report_worst(m->s, &norm, m->r, result);
  }
  result->steps = m->now.step;
  result->linear_iterations = m->now.linear_total;
  result->residual = norm.total / m->now.reference;
  result->seconds = pcsim_time_wall() - begin;
  return PCSIM_OK;
}
