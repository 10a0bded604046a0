/* SPDX-License-Identifier: BSD-2-Clause */
/* Several networks one after the other: slabs of time and what they hand over, stages, checkpoints. */
#include "base/case_text.h"
#include "pinn/train.h"

#include <unistd.h>

static const double pi = 3.14159265358979323846;

static const char *const wave = "domain: {box: {x: [0, 2], t: [0, 2]}}\n"
                                "physics: {unknowns: [u], equations: [\"u_tt - u_xx\"]}\n"
                                "boundaries: {x-min: {periodic: x-max}}\n"
                                "initial: {u: sin(pi*x), u_t: 0, exact: false}\n"
                                "network: {layers: [12, 12], activation: sin, scale: 1}\n"
                                "train: {budget: 600 steps, slabs: 3, points: 300, threads: 1}\n";

static pcsim_training *make(const char *text, pcsim_tree **tree) {
  pcsim_training *t = NULL;
  *tree = read_text(text);
  assert_ok(pcsim_training_read(*tree, &t));
  expect_problems(*tree, "");
  assert_non_null(t);
  return t;
}

static void train(pcsim_training *t, int64_t steps, pcsim_training_result *result) {
  assert_ok(pcsim_training_run(t, steps, NULL, NULL, result));
}

/* Values and derivatives at (x, t). */
static void at(pcsim_training *t, double x, double time, double *u, double *gradient) {
  assert_ok(pcsim_training_evaluate(t, 1, (double[]){x, time}, u, gradient));
}

/* The program of the whole gives what the training gives. */
static void compare_model(pcsim_training *t, int64_t n, const double *points, double tolerance) {
  pcsim_program *model;
  pcsim_executor *x;
  double u[64], v[64];
  assert_ok(pcsim_training_evaluate(t, n, points, u, NULL));
  assert_ok(pcsim_training_model(t, &model));
  assert_ok(pcsim_executor_create(model, NULL, &x));
  assert_ok(pcsim_executor_points(x, "points", n));
  assert_ok(pcsim_executor_bind(x, "coordinates", points));
  assert_ok(pcsim_executor_bind_output(x, "u", v));
  assert_ok(pcsim_executor_run(x, true));
  for (int64_t i = 0; i < n; i++) assert_close(u[i], v[i], tolerance);
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&model);
}

/* Second order in time, the start penalised: later slabs take over value and rate to rounding. */
static void slabs(void **state) {
  (void)state;
  pcsim_tree *tree;
  pcsim_training_result result;
  pcsim_training *t = make(wave, &tree);
  double points[2 * 40], error = 0;
  assert_int_equal(t->num_groups, 2);
  train(t, 199, &result);
  assert_int_equal(pcsim_training_get(t)->slab, 0);
  train(t, 201, &result);
  assert_int_equal(pcsim_training_get(t)->slab, 1);
  assert_int_equal(t->num_groups, 1);
  train(t, -1, &result);
  assert_int_equal(result.outcome, PCSIM_TRAINING_COMPLETED);
  assert_int_equal(result.steps, 600);
  assert_true(pcsim_training_get(t)->slab == 2 && pcsim_training_get(t)->num_slabs == 3);
  for (int k = 1; k < 3; k++)
    for (int i = 0; i < 5; i++) {
      double u[2], g[2][2];
      const double seam = 2. * k / 3, small = 1e-9;
      at(t, 0.3 * i, seam - small, &u[0], g[0]);
      at(t, 0.3 * i, seam + small, &u[1], g[1]);
      assert_close(u[0], u[1], 1e-7);
      assert_close(g[0][0], g[1][0], 1e-6);
      assert_close(g[0][1], g[1][1], 1e-6);
    }
  for (int i = 0; i < 40; i++) {
    double u, g[2];
    points[2 * i] = 2 * fmod(0.618 * i, 1), points[2 * i + 1] = 2 * (i + 0.5) / 40;
    at(t, points[2 * i], points[2 * i + 1], &u, g);
    error = fmax(error, fabs(u - sin(pi * points[2 * i]) * cos(pi * points[2 * i + 1])));
  }
  assert_true(error < 2e-2);
  compare_model(t, 40, points, 1e-12);
  /* residuals of all slabs together */
  assert_int_equal(pcsim_training_get(t)->num_groups, 2);
  const char *name;
  double norm;
  assert_ok(pcsim_training_residual(t, 0, &name, &norm));
  assert_string_equal(name, "interior");
  assert_true(norm > 0 && norm < 1);
  assert_ok(pcsim_training_residual(t, 1, &name, &norm));
  assert_string_equal(name, "initial");
  assert_true(norm > 0 && norm < 0.1);
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
}

/* A training that stops at a step and goes on in another process has the bits of one that does not. */
static void resumed(const char *text, int64_t stop, int64_t n, const double *points) {
  pcsim_tree *tree;
  pcsim_training_result result;
  char *path;
  double whole[64], parted[64];
  pcsim_training *t = make(text, &tree);
  train(t, -1, &result);
  assert_ok(pcsim_training_evaluate(t, n, points, whole, NULL));
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
  assert_ok(pcsim_temporary_make(false, &path));
  t = make(text, &tree);
  train(t, stop, &result);
  assert_int_equal(result.outcome, PCSIM_TRAINING_STOPPED);
  assert_ok(pcsim_training_save(t, "hash", path));
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
  t = make(text, &tree);
  assert_ok(pcsim_training_load(t, "hash", path));
  assert_int_equal(pcsim_training_at(t), stop);
  train(t, -1, &result);
  assert_ok(pcsim_training_evaluate(t, n, points, parted, NULL));
  assert_memory_equal(whole, parted, (size_t)n * sizeof *whole);
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
  assert_int_equal(unlink(path), 0);
  pcsim_free(&path);
}

static void resumes(void **state) {
  (void)state;
  static const char *const heat = "domain: {box: {x: [0, 1], t: [0, 1]}}\n"
                                  "physics: {unknowns: [u], equations: [\"u_t - 0.1*u_xx - u*(1 - u)\"]}\n"
                                  "boundaries: {x-min: {u: 0}, x-max: {\"dn(u)\": 0}}\n"
                                  "initial: {u: \"sin(pi*x/2)\"}\n"
                                  "network: {layers: [8, 8], activation: tanh, scale: 1}\n"
                                  "train: {budget: 150 steps, slabs: 3, points: 100, threads: 1}\n";
  const double points[] = {0.3, 0.1, 0.9, 0.3, 0.2, 0.5, 0.7, 0.6, 0.5, 0.9, 1, 1};
  for (int64_t stop = 20; stop < 150; stop += 30) resumed(heat, stop, 6, points);
  resumed(heat, 50, 6, points);
  static const char *const boundaries[] = {"x-min: {periodic: x-max}", "\"x-*\": {u: 0}"};
  for (int i = 0; i < 2; i++) { /* the seam, the walls carry the start on */
    char text[500];
    snprintf(text, sizeof text,
             "domain: {box: {x: [0, 1], t: [0, 1]}}\n"
             "physics: {unknowns: [u], equations: [\"u_t - 0.01*u_xx - u*(1 - u)\"]}\n"
             "boundaries: {%s}\n"
             "initial: {u: \"x*(1 - x)\"}\n"
             "network: {layers: [8, 8], activation: tanh, scale: 1}\n"
             "train: {budget: 90 steps, slabs: 3, points: 100, threads: 1}\n",
             boundaries[i]);
    for (int64_t stop = 20; stop < 90; stop += 30) resumed(text, stop, 6, points);
  }
}

/* A budget of seconds: whoever goes on knows the seconds that went, those at which the part and its slab
 * began, and ends when they are used, not later by those of before. */
static void seconds_resume(void **state) {
  (void)state;
  static const char *const decay = "domain: {box: {x: [0, 1], t: [0, 1]}}\n"
                                   "physics: {unknowns: [u], equations: [\"u_t - 0.1*u_xx\"]}\n"
                                   "boundaries: {\"*\": {u: 0}}\n"
                                   "initial: {u: \"sin(pi*x)\"}\n"
                                   "network: {layers: [8, 8], activation: tanh, scale: 1}\n"
                                   "train: {budget: 2 s, slabs: 2, points: 50, threads: 1, stages: 1}\n";
  pcsim_tree *tree;
  pcsim_training_result result;
  char *path;
  pcsim_training *t = make(decay, &tree);
  assert_ok(pcsim_temporary_make(false, &path));
  for (int64_t step = 20; t->part.slab == 0; step += 20) train(t, step, &result);
  train(t, t->step + 5, &result);
  assert_int_equal(result.outcome, PCSIM_TRAINING_STOPPED);
  const double seconds = t->seconds, last = train_last_second(t), began = t->part.seconds;
  assert_true(began > 0.5 && seconds >= began && last > seconds && last <= 2);
  assert_ok(pcsim_training_save(t, "hash", path));
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
  t = make(decay, &tree);
  assert_ok(pcsim_training_load(t, "hash", path));
  assert_true(t->seconds == seconds && t->part.seconds == began && train_last_second(t) == last);
  const double then = pcsim_time_wall();
  train(t, -1, &result);
  assert_int_equal(result.outcome, PCSIM_TRAINING_COMPLETED);
  assert_true(result.seconds >= 2);
  /* the clock of the process and that of the training agree on what was left */
  assert_close(pcsim_time_wall() - then, result.seconds - seconds, 0.1);
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
  assert_int_equal(unlink(path), 0);
  pcsim_free(&path);
}

static const char *const poisson = "domain: {box: {x: [0, 1]}}\n"
                                   "physics: {unknowns: [u], equations: [\"u_xx + pi^2*sin(pi*x)\"]}\n"
                                   "boundaries: {\"*\": {u: 0}}\n"
                                   "network: {layers: [10, 10], activation: tanh, scale: 1}\n";

static void stage_case(char *text, size_t size, int stages) {
  snprintf(text, size, "%strain: {budget: 12000 steps, points: 60, threads: 1, stages: %d}\n", poisson,
           stages);
}

/* Where a small network has reached its floor another one goes on. */
static void stages(void **state) {
  (void)state;
  char text[600];
  double held_out[2], points[10];
  int64_t first = 0;
  for (int i = 0; i < 10; i++) points[i] = (i + 0.5) / 10;
  for (int more = 0; more < 2; more++) {
    pcsim_tree *tree;
    pcsim_training_result result;
    stage_case(text, sizeof text, more ? 3 : 1);
    pcsim_training *t = make(text, &tree);
    train(t, -1, &result);
    held_out[more] = result.held_out;
    const pcsim_training_view *v = pcsim_training_get(t);
    assert_int_equal(result.outcome, PCSIM_TRAINING_COMPLETED);
    assert_int_equal(v->stage > 0, more);
    if (more) first = t->finished[0].step;
    compare_model(t, 10, points, 1e-12);
    pcsim_training_destroy(&t);
    pcsim_tree_destroy(&tree);
  }
  assert_true(held_out[1] < 1e-2 * held_out[0]); /* its root by ten */
  resumed(text, first + 100, 10, points);
}

/* Points that are added are added to those held out, too: what was best is judged by these. A stage goes on
 * with the points of the network that it corrects. */
static void points_grow(void **state) {
  (void)state;
  enum { MOST = 2 * 4096 };
  static double before[MOST];
  pcsim_tree *tree;
  pcsim_training *t = make("domain: {box: {x: [0, 1], y: [0, 2]}}\n"
                           "physics: {unknowns: [u], equations: [\"lap(u) + sin(5*x)\"]}\n"
                           "boundaries: {\"*\": {u: 0, exact: false}}\n"
                           "network: {layers: [10, 10], activation: tanh, scale: 3}\n"
                           "train: {budget: 1000 steps, points: 40, threads: 1}\n",
                           &tree);
  const int64_t few = t->group[0].n, on = t->group[1].n;
  const double old = t->best_held_out;
  const double *points;
  optimizer_report report;
  double loss;
  while (t->group[0].n == few && t->step < 1000) assert_ok(train_step(t, &report));
  assert_true(t->group[0].n > few && t->group[1].n > on);
  assert_true(t->best_held_out != old); /* the start, by more points */
  assert_ok(train_held_out(t, t->best, &loss));
  assert_true(loss == t->best_held_out);
  const int64_t many = groups_get_points(t->groups, 0, &points), many_on = t->group[1].n;
  assert_true(many == t->group[0].n && 2 * many <= MOST);
  memcpy(before, points, (size_t)many * 2 * sizeof *points);
  assert_ok(train_next(t, TRAIN_STAGE));
  assert_int_equal(groups_get_points(t->groups, 0, &points), many);
  assert_memory_equal(before, points, (size_t)many * 2 * sizeof *points);
  assert_true(t->group[0].n == many && t->group[1].n == many_on);
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
}

static void refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *problem;
  } bad[] = {
      {"domain: {box: {x: [0, 1], y: [0, 1]}}\n"
       "physics: {unknowns: [u], equations: [\"lap(u) + 1\"]}\n"
       "boundaries: {\"*\": {u: 0}}\n"
       "train: {slabs: 2, budget: 1 steps}\n",
       "case.yaml:4:16: `slabs` part the time, but the domain has no coordinate t"},
      {"domain: {box: {x: [0, 1], t: [0, 1]}}\n"
       "physics: {unknowns: [u], equations: [\"u_t - k*u_xx\"]}\n"
       "unknown: {k: {start: 1}}\n"
       "boundaries: {\"*\": {u: 0}}\n"
       "initial: {u: \"sin(pi*x)\"}\n"
       "train: {budget: 1 steps, slabs: 2}\n",
       "case.yaml:6:33: `slabs` part the time, but coefficients are to be found"},
      {"domain: {box: {x: [0, 1], t: [0, 1]}}\n"
       "physics: {unknowns: [u], equations: [\"u_xx + t\"]}\n"
       "boundaries: {\"*\": {u: 0}}\n"
       "train: {budget: 1 steps, slabs: 2}\n",
       "case.yaml:4:33: `slabs` part the time, but the equations have no derivative by time"},
      {"domain: {box: {x: [0, 1], t: [0, 1]}}\n"
       "physics: {unknowns: [u], equations: [\"u_t - u_xx\"]}\n"
       "boundaries: {\"*\": {u: 0}}\n"
       "initial: {u: \"sin(pi*x)\"}\n"
       "train: {budget: 1 steps, slabs: 0}\n",
       "case.yaml:5:33: 'slabs' must be from 1 to 1000, found 0"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    pcsim_tree *tree = read_text(bad[i].text);
    pcsim_training *t;
    assert_ok(pcsim_training_read(tree, &t));
    assert_null(t);
    expect_problems(tree, bad[i].problem);
    pcsim_tree_destroy(&tree);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slabs),          cmocka_unit_test(resumes),
                                     cmocka_unit_test(seconds_resume), cmocka_unit_test(stages),
                                     cmocka_unit_test(points_grow),    cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
