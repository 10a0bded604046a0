/* SPDX-License-Identifier: BSD-2-Clause */
/* Time steps with error control: which method, which size, when to give up. */
#include "timestep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STAGES = 3, POINTS = 3, ALIGNED = 10 };
enum { REJECTIONS_MAX = 40 };
/* Algebra is left at this share of the tolerance. */
static const double ALGEBRA = 0.002;
/* Proportional-integral control of the step (Gustafsson 1991), for an estimate of order p. */
static const double SAFETY = 0.9, INTEGRAL = 0.7, PROPORTIONAL = 0.4, GROWTH = 2.5, CUT = 0.1;

/* A diagonally implicit method: stage i at t + c_i dt, all implicit ones with the same diagonal. */
typedef struct {
  int stages;
  bool explicit_first; /* the first stage is the state at t: its rate is known */
  double c[STAGES], a[STAGES][STAGES], diagonal;
  double error[STAGES]; /* weights of the rates in the estimate */
  double order;         /* power of dt in the estimate */
} tableau;

#define ROOT2 1.41421356237309504880
#define DIAGONAL (1 - 0.5 * ROOT2)
#define W (0.25 * ROOT2)
static const tableau tr_bdf2 = {.stages = 3,
                                .explicit_first = true,
                                .c = {0, 2 * DIAGONAL, 1},
                                .a = {{0}, {DIAGONAL, DIAGONAL}, {W, W, DIAGONAL}},
                                .diagonal = DIAGONAL,
                                .error = {(1 - 4 * W) / 3, 1.0 / 3, -2 * DIAGONAL / 3},
                                .order = 3};
static const tableau alexander = {.stages = 2,
                                  .c = {DIAGONAL, 1},
                                  .a = {{DIAGONAL}, {1 - DIAGONAL, DIAGONAL}},
                                  .diagonal = DIAGONAL,
                                  .error = {DIAGONAL, -DIAGONAL},
                                  .order = 2};

/* For a first step that is not judged: what the initial state has against the equations without accumulation
 * is no error of the step. */
static const tableau backward_euler = {.stages = 1, .c = {1}, .a = {{1}}, .diagonal = 1, .order = 2};

/* The numbers a run goes on from; what checkpoints hold. */
typedef struct {
  int64_t step, linear_total;
  double time, wanted; /* now; size of the next step if nothing forbids it */
  double ratio;        /* error over tolerance of the last whole step */
  double error;        /* estimate of the last step */
  int64_t num_points;  /* 1 to POINTS: how many of `point` are there; 1: the rate is not known */
  double point_time[POINTS];
  double expected[STAGES - 1]; /* first correction of each implicit stage over the cube of the step */
} state;

struct timestep {
  const discrete_system *s;
  timestep_options options;
  stage *stage;
  state now, aligned;
  bool started;
  bool projects;         /* the first step brings the state to equations without accumulation */
  double *point[POINTS]; /* [n][m] states at now.point_time, the newest first */
  double *middle;        /* inner stage of the step at hand */
  double middle_time;
  double *k[STAGES];              /* [n][m] rates of the stages; k[0] of TR-BDF2 is `rate` */
  double *rate;                   /* minus dA/dt at now.time */
  double *a, *a_before;           /* accumulation at now.time and one step before */
  double *known, *x;              /* workspaces */
  double *kept[TIMESTEP_VECTORS]; /* the aligned state */
};

/* ------------------------------------------------------------------ set-up */

timestep_options timestep_options_of(const pcsim_time *time, int64_t num_stops, const double *stops,
                                     int64_t num_kinks, const double *kinks) {
  return (timestep_options){.scheme = time->scheme,
                            .start = time->start,
                            .end = time->end,
                            .tolerance = time->tolerance,
                            .step = time->step,
                            .first = time->first,
                            .most = time->most,
                            .least = time->least,
                            .steps_max = time->steps,
                            .num_stops = num_stops,
                            .stops = stops,
                            .num_kinks = num_kinks,
                            .kinks = kinks};
}

pcsim_status timestep_create(const discrete_system *s, const timestep_options *options, timestep **out) {
  timestep *t = NULL;
  pcsim_status status;
  const size_t size = (size_t)(s->n * s->m);
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *t, &t));
  double **blocks[] = {&t->point[0], &t->point[1], &t->point[2], &t->middle,   &t->k[0],  &t->k[1],
                       &t->k[2],     &t->rate,     &t->a,        &t->a_before, &t->known, &t->x,
                       &t->kept[0],  &t->kept[1],  &t->kept[2],  &t->kept[3]};
  t->s = s;
  t->options = *options;
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    PCSIM_GOTO(pcsim_alloc(size, sizeof(double), blocks[i]), status, fail);
  PCSIM_GOTO(stage_create(s, &t->stage), status, fail);
  t->now = (state){.time = options->start, .ratio = 1, .num_points = 1};
  const double span = options->end - options->start;
  const double first = options->first > 0    ? options->first
                       : s->natural_step > 0 ? fmin(s->natural_step, 0.01 * span)
                                             : 1e-4 * span;
  t->now.wanted = options->step > 0 ? options->step : options->most > 0 ? fmin(first, options->most) : first;
  for (int i = 0; i < s->m; i++) t->projects |= !s->evolves[i] && !(options->step > 0);
  *out = t;
  return PCSIM_OK;
fail:
  timestep_destroy(&t);
  return status;
}

void timestep_destroy(timestep **out) {
  timestep *t = *out;
  if (!t) return;
  stage_destroy(&t->stage);
  void *blocks[] = {&t->point[0], &t->point[1], &t->point[2], &t->middle,   &t->k[0],  &t->k[1],
                    &t->k[2],     &t->rate,     &t->a,        &t->a_before, &t->known, &t->x,
                    &t->kept[0],  &t->kept[1],  &t->kept[2],  &t->kept[3]};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}

static size_t bytes_of(const timestep *t) { return (size_t)(t->s->n * t->s->m) * sizeof(double); }
static int64_t size_of(const timestep *t) { return t->s->n * t->s->m; }

/* ------------------------------------------------------------------ one step */

/* The polynomial through the newest states (and the inner stage where there is one) at time `at`, into x. */
static void extrapolate(const timestep *t, bool with_middle, double at, double *x) {
  const double *value[POINTS] = {0};
  double time[POINTS], weight[POINTS];
  int n = 0;
  if (with_middle) time[n] = t->middle_time, value[n++] = t->middle;
  for (int i = 0; i < t->now.num_points && n < POINTS; i++)
    time[n] = t->now.point_time[i], value[n++] = t->point[i];
  for (int i = 0; i < n; i++) {
    weight[i] = 1;
    for (int j = 0; j < n; j++)
      if (j != i) weight[i] *= (at - time[j]) / (time[i] - time[j]);
  }
  for (int64_t k = 0; k < size_of(t); k++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += weight[i] * value[i][k];
    x[k] = sum;
  }
}

typedef struct {
  bool solved;              /* every stage converged */
  double error, order;      /* estimate; power of dt in it */
  double first[STAGES - 1]; /* first corrections */
  int64_t linear_iterations;
  const tableau *method; /* NULL: BDF2 */
} trial;

static double goal_of(const timestep *t) {
  if (!(t->options.step > 0)) return ALGEBRA * t->options.tolerance;
  return ALGEBRA * (t->now.error > 0 ? fmin(fmax(t->now.error, 1e-12), 1e-5) : 1e-8);
}

static pcsim_status solve_stage(timestep *t, double at, double step, double dt, int number, trial *out) {
  stage_report report;
  PCSIM_TRY(
      stage_solve(t->stage, at, step, t->known, goal_of(t), t->now.expected[number] * dt * dt * dt, &report));
  out->solved = report.converged;
  out->first[number] = report.first;
  out->linear_iterations += report.linear_iterations;
  return PCSIM_OK;
}

/* Error of the step as one of the unknowns. */
static pcsim_status estimate(timestep *t, const tableau *method, double dt, trial *out) {
  const int64_t size = size_of(t);
  int64_t iterations;
  for (int64_t k = 0; k < size; k++) {
    double sum = 0;
    for (int i = 0; i < method->stages; i++) sum += method->error[i] * t->k[i][k];
    t->known[k] = dt * sum;
  }
  /* the rates of a start hold what the equations without accumulation push away */
  PCSIM_TRY(stage_filter(t->stage, t->known, t->now.step < 3 ? 1e-4 : 0.05, t->x, &iterations));
  out->linear_iterations += iterations;
  out->error = stage_norm(t->stage, t->x);
  return PCSIM_OK;
}

static pcsim_status try_one_step(timestep *t, const tableau *method, double dt, trial *out) {
  const discrete_system *s = t->s;
  const double step = method->diagonal * dt;
  int number = 0;
  *out = (trial){.solved = true, .order = method->order, .method = method};
  if (method->explicit_first) memcpy(t->k[0], t->rate, bytes_of(t));
  for (int i = method->explicit_first ? 1 : 0; i < method->stages; i++, number++) {
    const double at = i + 1 == method->stages ? t->now.time + dt : t->now.time + method->c[i] * dt;
    for (int64_t k = 0; k < size_of(t); k++) {
      double sum = -t->a[k] / dt;
      for (int j = 0; j < i; j++) sum += method->a[i][j] * t->k[j][k];
      t->known[k] = s->evolves[k % s->m] ? sum / method->diagonal : 0;
    }
    extrapolate(t, number > 0 && method->explicit_first, at, s->q);
    PCSIM_TRY(solve_stage(t, at, step, dt, number, out));
    if (!out->solved) return PCSIM_OK;
    stage_rate(t->stage, t->k[i]);
    if (i + 1 == method->stages) break;
    memcpy(t->middle, s->q, bytes_of(t));
    t->middle_time = at;
  }
  return method == &backward_euler ? PCSIM_OK : estimate(t, method, dt, out);
}

/* BDF2 over the last steps of dt_before and dt. */
static pcsim_status try_bdf2(timestep *t, double dt, trial *out) {
  const discrete_system *s = t->s;
  const double at = t->now.time + dt, *time = t->now.point_time, before = time[0] - time[1];
  const double omega = dt / before, a0 = (1 + 2 * omega) / (1 + omega), a1 = -(1 + omega),
               a2 = omega * omega / (1 + omega);
  *out = (trial){.solved = true, .order = 3};
  for (int64_t k = 0; k < size_of(t); k++)
    t->known[k] = s->evolves[k % s->m] ? (a1 * t->a[k] + a2 * t->a_before[k]) / dt : 0;
  extrapolate(t, false, at, t->x);
  memcpy(s->q, t->x, bytes_of(t));
  PCSIM_TRY(solve_stage(t, at, dt / a0, dt, 0, out));
  if (!out->solved) return PCSIM_OK;
  stage_rate(t->stage, t->k[STAGES - 1]);
  for (int64_t k = 0; k < size_of(t); k++) t->x[k] = s->q[k] - t->x[k];
  /* errors of both formulae are multiples of the third derivative */
  const double ours = dt * dt * (dt + before) * (dt + before) / (6 * (2 * dt + before)),
               extrapolated = dt * (dt + before) * (at - time[2]) / 6;
  out->error = ours / (ours + extrapolated) * stage_norm(t->stage, t->x);
  return PCSIM_OK;
}

static pcsim_status try_step(timestep *t, double dt, trial *out) {
  const int64_t points = t->now.num_points;
  if (t->now.step == 0 && t->projects) return try_one_step(t, &backward_euler, dt, out);
  if (points == 1) return try_one_step(t, &alexander, dt, out);
  if (t->options.scheme == PCSIM_TIME_BDF2 && points == POINTS) return try_bdf2(t, dt, out);
  return try_one_step(t, &tr_bdf2, dt, out);
}

/* The new state is that in the system's q. Arrays change places, nothing is copied twice. */
static pcsim_status accept(timestep *t, double time, double dt, const trial *done) {
  const discrete_system *s = t->s;
  state *now = &t->now;
  const bool stages_too = done->method == &tr_bdf2 && t->options.scheme != PCSIM_TIME_BDF2;
  double *oldest = t->point[2];
  t->point[2] = t->point[1], now->point_time[2] = now->point_time[1];
  t->point[1] = t->point[0], now->point_time[1] = now->point_time[0];
  if (stages_too) { /* the newest three: new state, inner stage, old state */
    double *middle = t->middle;
    t->middle = t->point[2];
    t->point[2] = t->point[1], now->point_time[2] = now->point_time[1];
    t->point[1] = middle, now->point_time[1] = t->middle_time;
  }
  t->point[0] = oldest, now->point_time[0] = time;
  memcpy(t->point[0], s->q, bytes_of(t));
  now->num_points = stages_too ? POINTS : now->num_points < POINTS ? now->num_points + 1 : POINTS;
  if (done->method == &backward_euler) now->num_points = 1;
  const int last = done->method ? done->method->stages - 1 : STAGES - 1;
  double *rate = t->k[last];
  t->k[last] = t->rate, t->rate = rate;
  double *a = t->a_before;
  t->a_before = t->a, t->a = a;
  for (int i = 0; i < STAGES - 1; i++) now->expected[i] = done->first[i] / (dt * dt * dt);
  now->time = time;
  now->error = done->error;
  now->step++;
  return s->accumulation(s->context, time, t->a);
}

/* ------------------------------------------------------------------- control */

/* The next time that a step must end at. */
static double next_stop(const timestep *t) {
  const timestep_options *o = &t->options;
  double stop = o->end;
  for (int64_t i = 0; i < o->num_stops; i++)
    if (o->stops[i] > t->now.time) stop = fmin(stop, o->stops[i]);
  for (int64_t i = 0; i < o->num_kinks; i++)
    if (o->kinks[i] > t->now.time) stop = fmin(stop, o->kinks[i]);
  return stop;
}

static bool is_kink(const timestep *t) {
  for (int64_t i = 0; i < t->options.num_kinks; i++)
    if (t->options.kinks[i] == t->now.time) return true;
  return false;
}

/* A step of `size` or a little more or less, so that the stop is met and no sliver is left before it. */
static double fit_step(const timestep *t, double size, double *time) {
  const double rest = next_stop(t) - t->now.time;
  const bool fixed = t->options.step > 0;
  if (rest <= size * (fixed ? 1 + 1e-9 : 1.1)) {
    *time = next_stop(t);
    return rest;
  }
  const double dt = !fixed && rest < 2 * size ? 0.5 * rest : size;
  *time = t->now.time + dt;
  return dt;
}

/* Size of the next step after one of `dt` that was accepted. */
static void choose_next(timestep *t, double dt, const trial *done, bool rejected) {
  state *now = &t->now;
  if (t->options.step > 0) return;
  const double ratio = fmax(done->error / t->options.tolerance, 1e-8);
  const bool whole = dt > 0.9 * now->wanted || rejected;
  double factor =
      SAFETY * pow(ratio, -INTEGRAL / done->order) * pow(fmax(now->ratio, 1e-4), PROPORTIONAL / done->order);
  if (rejected) factor = fmin(factor, 1);
  const double size = dt * fmax(factor, 0.2);
  if (whole) now->wanted = fmin(size, GROWTH * dt), now->ratio = ratio;
  else now->wanted = fmin(fmax(size, 0.2 * now->wanted), GROWTH * now->wanted);
  if (t->options.most > 0) now->wanted = fmin(now->wanted, t->options.most);
}

/* Keep what a resumed run goes on from, and what follows from it alone: the preconditioner is renewed. */
static void align(timestep *t) {
  const double *from[TIMESTEP_VECTORS] = {t->point[0], t->point[1], t->point[2], t->rate};
  for (int i = 0; i < TIMESTEP_VECTORS; i++) memcpy(t->kept[i], from[i], bytes_of(t));
  t->aligned = t->now;
  stage_renew(t->stage);
}

/* One accepted step; `*ok` false when its size fell under the least. */
static pcsim_status step_on(timestep *t, pcsim_solve_step *info, pcsim_solve_result *result, bool *ok) {
  double size = t->now.wanted;
  *ok = false;
  info->linear_iterations = info->rejections = 0;
  for (;;) {
    trial done;
    double time;
    const bool first = t->now.step == 0 && t->projects;
    const double dt = fit_step(t, first ? 0.1 * size : size, &time);
    PCSIM_TRY(try_step(t, dt, &done));
    info->linear_iterations += done.linear_iterations;
    t->now.linear_total += done.linear_iterations;
    const bool fixed = t->options.step > 0, finite = done.solved && isfinite(done.error);
    if (finite && (fixed || done.error <= t->options.tolerance)) {
      info->dt = dt, info->error = done.error;
      if (!first) choose_next(t, dt, &done, info->rejections > 0);
      PCSIM_TRY(accept(t, time, dt, &done));
      *ok = true;
      return PCSIM_OK;
    }
    info->rejections++;
    const double factor = finite ? SAFETY * pow(done.error / t->options.tolerance, -1 / done.order) : 0.25;
    if (!finite) stage_renew(t->stage);
    size = dt * fmin(fmax(factor, CUT), 0.8);
    if (size < t->options.least || t->now.time + size <= t->now.time || info->rejections > REJECTIONS_MAX) {
      stage_report_worst(t->stage, result);
      return PCSIM_OK;
    }
  }
}

/* -------------------------------------------------------------------- running */

const discrete_system *timestep_system(const timestep *t) { return t->s; }

double timestep_time(const timestep *t) { return t->now.time; }

pcsim_status timestep_start(timestep *t) {
  const discrete_system *s = t->s;
  if (t->started) return PCSIM_OK;
  if (s->normalise) s->normalise(s->context);
  if (s->admit) s->admit(s->context);
  if (t->now.step == 0) {
    memcpy(t->point[0], s->q, bytes_of(t));
    t->now.point_time[0] = t->now.time;
    t->aligned = t->now;
  }
  if (t->now.num_points > 1) { /* only BDF2 asks for it, whose second point is one step before */
    memcpy(s->q, t->point[1], bytes_of(t));
    PCSIM_TRY(s->accumulation(s->context, t->now.point_time[1], t->a_before));
  }
  memcpy(s->q, t->point[0], bytes_of(t));
  PCSIM_TRY(s->accumulation(s->context, t->now.time, t->a));
  if (s->freeze) PCSIM_TRY(s->freeze(s->context, t->now.time, true));
  PCSIM_TRY(s->residual(s->context, t->now.time, t->x));
  align(t);
  t->started = true;
  return PCSIM_OK;
}

static pcsim_status give_up(timestep *t, const pcsim_solve_step *info, pcsim_solve_result *result) {
  const discrete_system *s = t->s;
  char where[sizeof result->reason];
  snprintf(where, sizeof where, "%s", result->reason);
  result->outcome = PCSIM_OUTCOME_DIVERGED;
  snprintf(result->reason, sizeof result->reason,
           "at t = %.6g the step fell under its limit of %.3g after %lld rejections: %.400s", t->now.time,
           t->options.least, (long long)info->rejections, where);
  memcpy(s->q, t->point[0], bytes_of(t));
  if (s->freeze) PCSIM_TRY(s->freeze(s->context, t->now.time, true));
  return s->residual(s->context, t->now.time, t->x);
}

static void fill_info(const timestep *t, double begin, pcsim_solve_step *info) {
  info->step = t->now.step;
  info->time = t->now.time;
  info->residual = info->error;
  info->wall_seconds = pcsim_time_wall() - begin;
}

static pcsim_status steps(timestep *t, pcsim_solve_observer observer, void *context, double begin,
                          pcsim_solve_result *result) {
  pcsim_solve_step info = {0};
  bool ok = true;
  fill_info(t, begin, &info);
  if (observer && t->now.step == 0) PCSIM_TRY(observer(context, &info));
  while (t->now.time < t->options.end) {
    if (t->now.step >= t->options.steps_max) {
      snprintf(result->reason, sizeof result->reason, "the limit of %lld steps is reached at t = %.6g",
               (long long)t->options.steps_max, t->now.time);
      return PCSIM_OK;
    }
    PCSIM_TRY(step_on(t, &info, result, &ok));
    if (!ok) return give_up(t, &info, result);
    if (is_kink(t)) t->now.num_points = 1;
    if (t->now.step % ALIGNED == 0 || !(t->now.time < t->options.end)) align(t);
    fill_info(t, begin, &info);
    if (observer) PCSIM_TRY(observer(context, &info));
  }
  result->outcome = PCSIM_OUTCOME_CONVERGED;
  snprintf(result->reason, sizeof result->reason, "the end of the time span is reached");
  return PCSIM_OK;
}

pcsim_status timestep_run(timestep *t, pcsim_solve_observer observer, void *context,
                          pcsim_solve_result *result) {
  const double begin = pcsim_time_wall();
  memset(result, 0, sizeof *result);
  result->worst_cell = -1;
  result->outcome = PCSIM_OUTCOME_NOT_CONVERGED;
  PCSIM_TRY(timestep_start(t));
  PCSIM_TRY(steps(t, observer, context, begin, result));
  if (t->aligned.step != t->now.step) align(t); /* where it ended is what a checkpoint then holds */
  result->steps = t->now.step;
  result->linear_iterations = t->now.linear_total;
  result->residual = t->now.error;
  result->time = t->now.time;
  result->seconds = pcsim_time_wall() - begin;
  return PCSIM_OK;
}

/* ---------------------------------------------------------------------- state */

void timestep_get_state(const timestep *t, const double *vector[TIMESTEP_VECTORS],
                        double scalar[TIMESTEP_SCALARS]) {
  const state *s = &t->aligned;
  const double values[TIMESTEP_SCALARS] = {(double)s->step,
                                           (double)s->linear_total,
                                           s->time,
                                           s->wanted,
                                           s->ratio,
                                           s->error,
                                           (double)s->num_points,
                                           s->point_time[1],
                                           s->point_time[2],
                                           s->expected[0],
                                           s->expected[1],
                                           0};
  memcpy(scalar, values, sizeof values);
  for (int i = 0; i < TIMESTEP_VECTORS; i++) vector[i] = t->kept[i];
}

int64_t timestep_state_step(const timestep *t) { return t->aligned.step; }

pcsim_status timestep_set_state(timestep *t, double *const vector[TIMESTEP_VECTORS],
                                const double scalar[TIMESTEP_SCALARS]) {
  PCSIM_CHECK(scalar[0] >= 0 && scalar[3] > 0 && scalar[6] >= 1 && scalar[6] <= POINTS &&
                  scalar[2] >= t->options.start,
              PCSIM_ERR_ARG, "state of step %g at t = %g, step size %g, %g points", scalar[0], scalar[2],
              scalar[3], scalar[6]);
  t->now = (state){.step = (int64_t)scalar[0],
                   .linear_total = (int64_t)scalar[1],
                   .time = scalar[2],
                   .wanted = scalar[3],
                   .ratio = scalar[4],
                   .error = scalar[5],
                   .num_points = (int64_t)scalar[6],
                   .point_time = {scalar[2], scalar[7], scalar[8]},
                   .expected = {scalar[9], scalar[10]}};
  double *to[TIMESTEP_VECTORS] = {t->point[0], t->point[1], t->point[2], t->rate};
  for (int i = 0; i < TIMESTEP_VECTORS; i++) memcpy(to[i], vector[i], bytes_of(t));
  memcpy(t->s->q, vector[0], bytes_of(t));
  t->started = false;
  return PCSIM_OK;
}
