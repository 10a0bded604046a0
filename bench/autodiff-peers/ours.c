/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ours.c  Training steps of pcsim's engine; speaks with `run` as the peers do (worker.py):
 *  FILE PROBLEM WIDTH POINTS PRECISION THREADS ROUTE. */
#include "problems.h"

#include "bench/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double rate = 1e-4, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8; /* of Adam, as in worker.py */

typedef struct {
  int num_numbers;        /**< of all parameters */
  double *numbers;        /**< [num_numbers], then points [n][inputs] and f [n] */
  double *gradient;       /**< [num_numbers] */
  double *first, *second; /**< [num_numbers]: moments of Adam */
  double loss;
  int start[NUM_PARAMETERS + 1]; /**< of each parameter in `numbers` */
  int steps;
  double *constant[3]; /**< [n][2], [n][2], [n]: both axes, ones */
  pcsim_program *program;
  pcsim_executor *executor;
} trainer;

static double *reserve(size_t n) {
  double *a = aligned_alloc(64, (n * sizeof *a + 63) / 64 * 64);
  if (!a) abort();
  memset(a, 0, n * sizeof *a);
  return a;
}

static void read_numbers(trainer *t, const char *path, int inputs, int width, int points) {
  for (int i = 0; i < NUM_PARAMETERS; i++) {
    int rows, columns;
    parameter_shape(i, inputs, width, &rows, &columns);
    t->start[i + 1] = t->start[i] + rows * columns;
  }
  t->num_numbers = t->start[NUM_PARAMETERS];
  const size_t n = (size_t)t->num_numbers + (size_t)points * (size_t)(inputs + 1);
  t->numbers = reserve(n);
  FILE *f = fopen(path, "rb");
  if (!f || fread(t->numbers, sizeof *t->numbers, n, f) != n || fgetc(f) != EOF) {
    fprintf(stderr, "%s: not the %zu numbers that were expected\n", path, n);
    exit(1);
  }
  fclose(f);
}

static void bind(trainer *t, const char *name, const double *data) {
  if (pcsim_executor_bind(t->executor, name, data) != PCSIM_OK) bench_stop(name);
}

/** Inputs that only nested routes have. */
static void bind_nested(trainer *t) {
  char name[24];
  for (int level = 1; level <= MAX_ORDER; level++)
    for (int axis = -1; axis < 2; axis++) {
      snprintf(name, sizeof name, axis < 0 ? "seed_%d" : "along_%d_%d", axis < 0 ? level : axis, level);
      if (pcsim_executor_bind(t->executor, name, t->constant[axis < 0 ? 2 : axis]) != PCSIM_OK)
        pcsim_error_clear();
    }
}

static void bind_all(trainer *t, int inputs, int points) {
  for (int i = 0; i < 3; i++) t->constant[i] = reserve(2 * (size_t)points);
  for (int i = 0; i < points; i++) {
    t->constant[0][i * inputs] = 1;
    if (inputs > 1) t->constant[1][i * inputs + 1] = 1;
    t->constant[2][i] = 1;
  }
  if (pcsim_executor_points(t->executor, "points", points) != PCSIM_OK) bench_stop("points");
  bind(t, "x", t->numbers + t->num_numbers);
  bind(t, "f", t->numbers + t->num_numbers + (size_t)points * (size_t)inputs);
  bind(t, "b_loss", t->constant[2]);
  bind_nested(t);
  for (int i = 0; i < NUM_PARAMETERS; i++) {
    char name[8];
    snprintf(name, sizeof name, "b_%s", parameter_names[i]);
    bind(t, parameter_names[i], t->numbers + t->start[i]);
    if (pcsim_executor_bind_output(t->executor, name, t->gradient + t->start[i]) != PCSIM_OK)
      bench_stop(name);
  }
  if (pcsim_executor_bind_output(t->executor, "loss", &t->loss) != PCSIM_OK) bench_stop("loss");
}

/** Loss and gradient, then Adam: in double, also where the engine works in single. */
static void step(trainer *t) {
  if (pcsim_executor_run(t->executor, false) != PCSIM_OK) bench_stop("run");
  t->steps++;
  const double a = rate / (1 - pow(beta1, t->steps)), b = 1 / (1 - pow(beta2, t->steps));
  double *restrict x = t->numbers, *restrict m = t->first, *restrict v = t->second;
  const double *restrict g = t->gradient;
  for (int i = 0; i < t->num_numbers; i++) {
    m[i] = beta1 * m[i] + (1 - beta1) * g[i];
    v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
    x[i] -= a * m[i] / (sqrt(v[i] * b) + epsilon);
  }
}

static void print_check(trainer *t) {
  step(t);
  printf("{\"operations\": %.0f, \"loss\": %.17g, \"norms\": [", pcsim_program_count(t->program).operations,
         t->loss);
  for (int i = 0; i < NUM_PARAMETERS; i++) {
    double sum = 0;
    for (int k = t->start[i]; k < t->start[i + 1]; k++) sum += t->gradient[k] * t->gradient[k];
    printf("%s%.17g", i ? ", " : "", sqrt(sum));
  }
  for (int i = 0; i < 3; i++) step(t);
  puts("]}");
  fflush(stdout);
}

static double seconds(int threads) {
  if (threads == 1) return pcsim_time_cpu();
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 8) return fprintf(stderr, "started by bench/autodiff-peers/run\n"), 2;
  const char *problem = argv[2];
  const int width = atoi(argv[3]), points = atoi(argv[4]), threads = atoi(argv[6]);
  const int inputs = problem_inputs(problem);
  if (!inputs) return fprintf(stderr, "no problem '%s'\n", problem), 2;
  trainer t = {0};
  read_numbers(&t, argv[1], inputs, width, points);
  t.gradient = reserve((size_t)t.num_numbers);
  t.first = reserve((size_t)t.num_numbers);
  t.second = reserve((size_t)t.num_numbers);
  if (problem_gradient(problem, argv[7], width, &t.program) != PCSIM_OK) bench_stop(problem);
  const pcsim_executor_options options = {.threads = threads, .single = !strcmp(argv[5], "single")};
  if (pcsim_executor_create(t.program, &options, &t.executor) != PCSIM_OK) bench_stop("executor");
  bind_all(&t, inputs, points);
  print_check(&t);
  for (char line[32]; fgets(line, sizeof line, stdin);) {
    for (int i = 0, n = atoi(line); i < n; i++) {
      const double before = seconds(threads);
      step(&t);
      printf("%s%.9g", i ? ", " : "[", seconds(threads) - before);
    }
    puts("]");
    fflush(stdout);
  }
  pcsim_executor_destroy(&t.executor);
  pcsim_program_destroy(&t.program);
  return 0;
}
