/* SPDX-License-Identifier: BSD-2-Clause */
/* Time steps on small made-up systems with known solutions: order, control of the step, stops and kinks,
 * states out and in, giving up. Every cell holds the same equations with numbers of its own. */
#include "solver/timestep.h"
#include "solver/sample.h"

enum { UNKNOWNS_MAX = 3 };

/* Equations of one cell: `f` gives R [m] and its derivative J [m][m] at (q, t). */
typedef struct {
  int m;
  uint8_t evolves[UNKNOWNS_MAX];
  void (*f)(double number, const double *q, double t, double *R, double *J);
  void (*exact)(double number, double t, double *q);
} equations;

typedef struct {
  discrete_system s;
  pcsim_mesh *mesh;
  const equations *e;
  double *q, *volume, *number, *J; /* [n][m], [n], [n], [n][m][m] */
  double scale[UNKNOWNS_MAX], step;
  int64_t renewals, solves;
} model;

static pcsim_status residual(void *context, double t, double *r) {
  model *x = context;
  const int m = x->e->m;
  for (int64_t c = 0; c < x->s.n; c++) {
    x->e->f(x->number[c], x->q + c * m, t, r + c * m, x->J + c * m * m);
    for (int i = 0; i < m; i++) r[c * m + i] *= x->volume[c];
  }
  return PCSIM_OK;
}

static pcsim_status accumulation(void *context, double t, double *a) {
  const model *x = context;
  (void)t;
  for (int64_t k = 0; k < x->s.n * x->e->m; k++)
    a[k] = x->e->evolves[k % x->e->m] ? x->volume[k / x->e->m] * x->q[k] : 0;
  return PCSIM_OK;
}

static void set_shift(void *context, double cfl, double step) {
  (void)cfl;
  ((model *)context)->step = step;
}

static pcsim_status renew(void *context) {
  ((model *)context)->renewals++;
  return PCSIM_OK;
}

/* Gauss elimination with pivoting, cell by cell. */
static pcsim_status solve(void *context, const double *b, double tolerance, double *x, int64_t *iterations,
                          bool *converged) {
  model *y = context;
  const int m = y->e->m;
  (void)tolerance;
  for (int64_t c = 0; c < y->s.n; c++) {
    double a[UNKNOWNS_MAX][UNKNOWNS_MAX + 1];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < m; j++) a[i][j] = y->J[(c * m + i) * m + j] * y->volume[c];
      if (y->e->evolves[i]) a[i][i] += y->volume[c] / y->step;
      a[i][m] = b[c * m + i];
    }
    for (int k = 0; k < m; k++) {
      int pivot = k;
      for (int i = k + 1; i < m; i++)
        if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
      for (int j = 0; j <= m; j++) {
        const double keep = a[k][j];
        a[k][j] = a[pivot][j], a[pivot][j] = keep;
      }
      for (int i = 0; i < m; i++) {
        const double factor = a[i][k] / a[k][k];
        for (int j = k; i != k && j <= m; j++) a[i][j] -= factor * a[k][j];
      }
    }
    for (int i = 0; i < m; i++) x[c * m + i] = a[i][m] / a[i][i];
  }
  *iterations = 1, *converged = true;
  y->solves++;
  return PCSIM_OK;
}

static const char *equation(const void *context, int i) {
  static const char *const name[] = {"first", "second", "third"};
  (void)context;
  return name[i];
}

static model *model_new(const equations *e) {
  static const sample quads = {LATTICE_QUAD, 3, 2, 0, 0, &unit_box};
  model *x = NULL;
  assert_ok(pcsim_alloc(1, sizeof *x, &x));
  x->mesh = sample_mesh(MPI_COMM_WORLD, &quads);
  const pcsim_mesh_view *v = pcsim_mesh_get(x->mesh);
  const size_t n = (size_t)v->num_cells, m = (size_t)e->m;
  x->e = e;
  assert_ok(pcsim_alloc(n * m, sizeof(double), &x->q));
  assert_ok(pcsim_alloc(n * m * m, sizeof(double), &x->J));
  assert_ok(pcsim_alloc(n, sizeof(double), &x->volume));
  assert_ok(pcsim_alloc(n, sizeof(double), &x->number));
  for (size_t c = 0; c < n; c++) {
    x->volume[c] = v->cell_volume[c];
    x->number[c] = 1 + 0.1 * (double)v->cell_original[c];
    e->exact(x->number[c], 0, x->q + c * m);
  }
  for (int i = 0; i < e->m; i++) x->scale[i] = 1;
  x->s = (discrete_system){.context = x,
                           .mesh = x->mesh,
                           .m = e->m,
                           .n = (int64_t)n,
                           .q = x->q,
                           .volume = x->volume,
                           .evolves = e->evolves,
                           .scale = x->scale,
                           .advice = "and so on",
                           .residual = residual,
                           .accumulation = accumulation,
                           .set_shift = set_shift,
                           .renew = renew,
                           .solve = solve,
                           .equation = equation};
  return x;
}

static void model_free(model **x) {
  pcsim_mesh_destroy(&(*x)->mesh);
  pcsim_free(&(*x)->q), pcsim_free(&(*x)->J), pcsim_free(&(*x)->volume), pcsim_free(&(*x)->number);
  pcsim_free(x);
}

/* Largest deviation from the exact solution in unknown i, over all ranks. */
static double error_of(const model *x, double t, int i) {
  double worst = 0, exact[UNKNOWNS_MAX];
  for (int64_t c = 0; c < x->s.n; c++) {
    x->e->exact(x->number[c], t, exact);
    worst = fmax(worst, fabs(x->q[c * x->e->m + i] - exact[i]));
  }
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

/* ------------------------------------------------------------------ equations */

/* u' = -u^2 cos t: u = 1/(a + sin t) */
static void decay_f(double a, const double *q, double t, double *R, double *J) {
  (void)a;
  R[0] = q[0] * q[0] * cos(t);
  J[0] = 2 * q[0] * cos(t);
}
static void decay_exact(double a, double t, double *q) { q[0] = 1 / (a + sin(t)); }
static const equations decay = {1, {1}, decay_f, decay_exact};

/* Index 2 as incompressible flow, one direction stiff: u' = -p + f, v' = -1e4 (v - w) + w' - p + p*, u + v =
 * g. */
static double stiffness = 1e4;
static void dae_exact(double a, double t, double *q) {
  q[0] = sin(a * t), q[1] = cos(t), q[2] = exp(-t) + 0.5;
}
static void dae_f(double a, const double *q, double t, double *R, double *J) {
  double e[3];
  dae_exact(a, t, e);
  R[0] = q[2] - e[2] - a * cos(a * t) + 0.3 * (q[0] * q[1] - e[0] * e[1]);
  R[1] = q[2] - e[2] + sin(t) + stiffness * (q[1] - e[1]);
  R[2] = q[0] + q[1] - e[0] - e[1];
  const double j[9] = {0.3 * q[1], 0.3 * q[0], 1, 0, stiffness, 1, 1, 1, 0};
  memcpy(J, j, sizeof j);
}
static const equations dae = {3, {1, 1, 0}, dae_f, dae_exact};

/* u' = u^2 blows up at t = 1/a; v' = -v beside it. */
static void blow_f(double a, const double *q, double t, double *R, double *J) {
  (void)a, (void)t;
  R[0] = q[0];
  R[1] = -q[1] * q[1];
  const double j[4] = {1, 0, 0, -2 * q[1]};
  memcpy(J, j, sizeof j);
}
static void blow_exact(double a, double t, double *q) { q[0] = exp(-t), q[1] = 1 / (1 / a - t); }
static const equations blow = {2, {1, 1}, blow_f, blow_exact};

/* u' = |t - 1/3|: a kink in the data */
static void bent_f(double a, const double *q, double t, double *R, double *J) {
  (void)q;
  R[0] = -a * fabs(t - 1.0 / 3);
  J[0] = 0;
}
static void bent_exact(double a, double t, double *q) {
  const double s = t - 1.0 / 3;
  q[0] = a * 0.5 * (s * fabs(s) + 1.0 / 9);
}
static const equations bent = {1, {1}, bent_f, bent_exact};

/* --------------------------------------------------------------------- order */

static timestep_options options_of(pcsim_time_scheme scheme, double end) {
  return (timestep_options){.scheme = scheme, .end = end, .least = 1e-12, .steps_max = 1000000};
}

static pcsim_solve_result go(model *x, const timestep_options *o, pcsim_solve_observer observer,
                             void *context) {
  timestep *t = NULL;
  pcsim_solve_result result;
  assert_ok(timestep_create(&x->s, o, &t));
  assert_ok(timestep_run(t, observer, context, &result));
  timestep_destroy(&t);
  return result;
}

/* Errors with steps of 1/20 and its halves; the observed order of each unknown over the last two. */
static void orders(const equations *e, pcsim_time_scheme scheme, double *order) {
  double error[3][UNKNOWNS_MAX];
  for (int k = 0; k < 3; k++) {
    model *x = model_new(e);
    timestep_options o = options_of(scheme, 2);
    o.step = 0.05 / (1 << k);
    const pcsim_solve_result r = go(x, &o, NULL, NULL);
    assert_int_equal(r.outcome, PCSIM_OUTCOME_CONVERGED);
    assert_int_equal(r.steps, 40 << k);
    for (int i = 0; i < e->m; i++) error[k][i] = error_of(x, 2, i);
    model_free(&x);
  }
  for (int i = 0; i < e->m; i++) {
    order[i] = log2(error[1][i] / error[2][i]);
    print_message("%s unknown %d: %.3g %.3g %.3g, order %.3f\n",
                  scheme == PCSIM_TIME_BDF2 ? "BDF2" : "TR-BDF2", i, error[0][i], error[1][i], error[2][i],
                  order[i]);
  }
}

static void fixed_steps(void **state) {
  double order[UNKNOWNS_MAX];
  (void)state;
  stiffness = 1e4;
  for (int scheme = PCSIM_TIME_TR_BDF2; scheme <= PCSIM_TIME_BDF2; scheme++) {
    orders(&decay, scheme, order);
    assert_true(order[0] > 1.9 && order[0] < 2.2);
    orders(&dae, scheme, order);
    for (int i = 0; i < 3; i++) assert_true(order[i] > 1.8);
  }
}

/* The error follows the tolerance, and the steps with it. */
static void tolerances(void **state) {
  (void)state;
  stiffness = 5;
  for (int which = 0; which < 2; which++)
    for (int scheme = PCSIM_TIME_TR_BDF2; scheme <= PCSIM_TIME_BDF2; scheme++) {
      double before = 0;
      int64_t steps = 0;
      for (double tolerance = 1e-4; tolerance > 1e-9; tolerance *= 1e-2) {
        model *x = model_new(which ? &dae : &decay);
        timestep_options o = options_of(scheme, 3);
        o.tolerance = tolerance;
        const pcsim_solve_result r = go(x, &o, NULL, NULL);
        const double error = error_of(x, 3, 0);
        print_message("tolerance %.0e: %lld steps, error %.3g\n", tolerance, (long long)r.steps, error);
        assert_int_equal(r.outcome, PCSIM_OUTCOME_CONVERGED);
        assert_true(error < 30 * pow(tolerance, 2.0 / 3));
        if (steps) assert_true(r.steps > 3 * steps && r.steps < 7 * steps && error < 0.2 * before);
        steps = r.steps, before = error;
        model_free(&x);
      }
    }
}

/* ------------------------------------------------------------------ stops, kinks */

typedef struct {
  const double *wanted;
  int found;
  int64_t steps, fail_at;
  double time;
} watcher;

static pcsim_status watch(void *context, const pcsim_solve_step *step) {
  watcher *w = context;
  assert_int_equal(step->step, w->steps);
  if (step->step) assert_close(step->time - w->time, step->dt, 1e-12);
  w->steps++, w->time = step->time;
  if (w->wanted && step->time == w->wanted[w->found]) w->found++;
  if (step->step == w->fail_at) PCSIM_FAIL(PCSIM_ERR_IO, "enough");
  return PCSIM_OK;
}

static void stops(void **state) {
  static const double at[] = {0.1, 1.0 / 3, 0.33334, 1.7, 1.75, 2, 100};
  (void)state;
  for (int fixed = 0; fixed < 2; fixed++) {
    model *x = model_new(&decay);
    timestep_options o = options_of(PCSIM_TIME_TR_BDF2, 2);
    o.tolerance = 1e-5, o.step = fixed ? 0.07 : 0;
    o.stops = at, o.num_stops = 7;
    watcher w = {.wanted = at, .fail_at = -1};
    const pcsim_solve_result r = go(x, &o, watch, &w);
    assert_int_equal(w.found, 6);
    assert_int_equal(r.steps + 1, w.steps);
    assert_close(r.time, 2, 0);
    assert_true(error_of(x, 2, 0) < 1e-3);
    model_free(&x);
  }
}

/* Where the data bend the step ends, and the order stays. */
static void kinks(void **state) {
  static const double at[] = {1.0 / 3};
  (void)state;
  for (int scheme = PCSIM_TIME_TR_BDF2; scheme <= PCSIM_TIME_BDF2; scheme++) {
    model *x = model_new(&bent);
    timestep_options o = options_of(scheme, 1);
    o.step = 0.05, o.kinks = at, o.num_kinks = 1;
    go(x, &o, NULL, NULL);
    assert_true(error_of(x, 1, 0) < 1e-12); /* between kinks the data are linear */
    model_free(&x);
    x = model_new(&bent);
    o.num_kinks = 0;
    go(x, &o, NULL, NULL);
    assert_true(error_of(x, 1, 0) > 1e-5);
    model_free(&x);
  }
}

/* -------------------------------------------------------------------- states */

static void resumed(void **state) {
  (void)state;
  stiffness = 5;
  for (int scheme = PCSIM_TIME_TR_BDF2; scheme <= PCSIM_TIME_BDF2; scheme++) {
    timestep_options o = options_of(scheme, 3);
    o.tolerance = 1e-6;
    model *whole = model_new(&dae), *first = model_new(&dae), *rest = model_new(&dae);
    const pcsim_solve_result expected = go(whole, &o, NULL, NULL);
    timestep *t = NULL, *u = NULL;
    pcsim_solve_result r;
    watcher w = {.fail_at = 37};
    assert_ok(timestep_create(&first->s, &o, &t));
    assert_status(timestep_run(t, watch, &w, &r), PCSIM_ERR_IO);
    const double *vector[TIMESTEP_VECTORS];
    double *copy[TIMESTEP_VECTORS], scalar[TIMESTEP_SCALARS];
    timestep_get_state(t, vector, scalar);
    assert_close(scalar[0], 30, 0);
    for (int i = 0; i < TIMESTEP_VECTORS; i++) {
      const size_t size = (size_t)(rest->s.n * 3);
      assert_ok(pcsim_alloc(size, sizeof(double), &copy[i]));
      memcpy(copy[i], vector[i], size * sizeof(double));
    }
    assert_ok(timestep_create(&rest->s, &o, &u));
    assert_ok(timestep_set_state(u, copy, scalar));
    assert_ok(timestep_run(u, NULL, NULL, &r));
    assert_int_equal(r.steps, expected.steps);
    assert_int_equal(r.linear_iterations, expected.linear_iterations);
    assert_memory_equal(rest->q, whole->q, (size_t)(rest->s.n * 3) * sizeof(double));
    scalar[3] = NAN;
    assert_status(timestep_set_state(u, copy, scalar), PCSIM_ERR_ARG);
    for (int i = 0; i < TIMESTEP_VECTORS; i++) pcsim_free(&copy[i]);
    timestep_destroy(&t), timestep_destroy(&u);
    model_free(&whole), model_free(&first), model_free(&rest);
  }
}

/* ------------------------------------------------------------------ giving up */

static void gives_up(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  model *x = model_new(&blow); /* the cell with the largest number first: at t = 1/1.5 */
  timestep_options o = options_of(PCSIM_TIME_TR_BDF2, 2);
  o.tolerance = 1e-4, o.least = 1e-9;
  const pcsim_solve_result r = go(x, &o, NULL, NULL);
  print_message("%s\n", r.reason);
  assert_int_equal(r.outcome, PCSIM_OUTCOME_DIVERGED);
  assert_close(r.time, 1 / 1.5, 1e-3);
  assert_non_null(strstr(r.reason, "step fell under its limit of 1e-09"));
  assert_non_null(strstr(r.reason, "second equation"));
  assert_non_null(strstr(r.reason, "cell 6 at"));
  assert_int_equal(r.worst_cell, 5);
  for (int64_t k = 0; k < x->s.n * 2; k++) assert_true(isfinite(x->q[k])); /* the last good state */
  model_free(&x);
  x = model_new(&decay);
  o = options_of(PCSIM_TIME_TR_BDF2, 2);
  o.step = 0.01, o.steps_max = 17;
  const pcsim_solve_result limited = go(x, &o, NULL, NULL);
  assert_int_equal(limited.outcome, PCSIM_OUTCOME_NOT_CONVERGED);
  assert_non_null(strstr(limited.reason, "limit of 17 steps"));
  assert_close(limited.time, 0.17, 1e-12);
  model_free(&x);
  assert_int_equal(pcsim_memory_used(), before);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_steps), cmocka_unit_test(tolerances),
                                     cmocka_unit_test(stops),       cmocka_unit_test(kinks),
                                     cmocka_unit_test(resumed),     cmocka_unit_test(gives_up)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
