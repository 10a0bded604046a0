/* SPDX-License-Identifier: BSD-2-Clause */
/** @file residual.c  The training gradient of the Navier-Stokes equations as a user types them, beside a loop
 * in C for residuals and their derivatives between the same network's jets and their reverse. */
#include "residual.h"

#include "autodiff/graph.h"
#include "bench/program.h"
#include "networks.h"
#include "peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 8192, WIDTH = 64, MAX_NUMBERS = WIDTH * WIDTH };

static const char *const typed[] = {"u*u_x + v*u_y + p_x - nu*(u_xx + u_yy)",
                                    "u*v_x + v*v_y + p_y - nu*(v_xx + v_yy)", "u_x + v_y"};
/** What the loop needs of the network. */
static const char *const needed[RESIDUAL_INPUTS] = {"u",   "v",   "u_x", "u_y",         "v_x",
                                                    "v_y", "p_x", "p_y", "u_xx + u_yy", "v_xx + v_yy"};

/** Expressions of the network's outputs u, v and p. */
static pcsim_program *expressions_of_network(const char *const *texts, int n) {
  static const char *const coordinates[] = {"x", "y"}, *const unknowns[] = {"u", "v", "p"},
                           *const nu[] = {"nu"};
  const double value = RESIDUAL_NU;
  const pcsim_lowering names = {.num_coordinates = 2,
                                .coordinates = coordinates,
                                .num_unknowns = 3,
                                .unknowns = unknowns,
                                .num_parameters = 1,
                                .parameters = nu,
                                .values = &value};
  pcsim_program *lowered = NULL, *fields = NULL, *composed = NULL;
  bench_must(pcsim_lower(texts, n, &names, &lowered, NULL, NULL), "lower");
  bench_must(pcsim_program_create(&fields), "network");
  const pcsim_value x = pcsim_build_input(fields, "coordinates", pcsim_build_space(fields, "points"), 2);
  const pcsim_value y = network_build(fields, x, WIDTH, 3);
  for (int i = 0; i < 3; i++) pcsim_build_output(fields, unknowns[i], pcsim_build_slice(fields, y, i, 1));
  bench_must(pcsim_lower_compose(lowered, &names, fields, &composed), "compose");
  pcsim_program_destroy(&lowered);
  pcsim_program_destroy(&fields);
  return composed;
}

static pcsim_program *reverse_of(pcsim_program *p) {
  pcsim_program *reverse = NULL;
  bench_must(pcsim_transform_vjp(p, network_parameters, NUM_PARAMETERS, &reverse), "reverse");
  bench_must(pcsim_program_simplify(reverse), "reverse");
  pcsim_program_destroy(&p);
  return reverse;
}

/** Gradient of the mean of the sum of squares of all outputs. */
static pcsim_program *typed_gradient(void) {
  pcsim_program *p = expressions_of_network(typed, 3);
  pcsim_value loss = PCSIM_NO_VALUE;
  for (int i = 0; i < p->num_outputs; i++) {
    const pcsim_value r = p->outputs[i].value, square = pcsim_build_binary(p, PCSIM_OP_MUL, r, r);
    loss = i ? pcsim_build_binary(p, PCSIM_OP_ADD, loss, square) : square;
  }
  pcsim_build_output(p, "loss", pcsim_build_mean(p, loss));
  bench_must(pcsim_program_keep(p, (const char *const[]){"loss"}, 1), "loss");
  return reverse_of(p);
}

typedef struct {
  pcsim_executor *typed, *hand;
  hand_residual *loop;
  double points[2 * POINTS], one;
  double jets[RESIDUAL_INPUTS][POINTS], seeds[RESIDUAL_INPUTS][POINTS];
  double gradient[2][NUM_PARAMETERS][MAX_NUMBERS]; /**< of the typed residual, by hand */
} bench;

static void bind(bench *b, pcsim_executor *x, int which) {
  bench_must(pcsim_executor_points(x, "points", POINTS), "points");
  bench_must(pcsim_executor_bind(x, "coordinates", b->points), "coordinates");
  for (int i = 0; i < NUM_PARAMETERS; i++) {
    char name[8];
    snprintf(name, sizeof name, "b_%s", network_parameters[i]);
    bench_must(pcsim_executor_bind_output(x, name, b->gradient[which][i]), name);
  }
}

static void create(bench *b, int threads, int tile) {
  const pcsim_executor_options options = {.threads = threads, .tile = tile};
  pcsim_program *gradient = typed_gradient(),
                *network = reverse_of(expressions_of_network(needed, RESIDUAL_INPUTS));
  for (int i = 0; i < 2 * POINTS; i++) b->points[i] = (double)(i * 7919 % 4001) / 4001;
  b->one = 1;
  b->loop = hand_residual_portable;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) b->loop = hand_residual_avx2;
#endif
  bench_must(pcsim_executor_create(gradient, &options, &b->typed), "typed");
  bench_must(pcsim_executor_create(network, &options, &b->hand), "hand");
  bind(b, b->typed, 0);
  bind(b, b->hand, 1);
  bench_must(pcsim_executor_bind(b->typed, "b_loss", &b->one), "b_loss");
  for (int i = 0; i < RESIDUAL_INPUTS; i++) {
    char name[8];
    snprintf(name, sizeof name, "b_%d", i);
    bench_must(pcsim_executor_bind(b->hand, name, b->seeds[i]), name);
    bench_must(pcsim_executor_bind_output(b->hand, name + 2, b->jets[i]), name);
  }
  pcsim_program_destroy(&gradient);
  pcsim_program_destroy(&network);
}

static double clock_of(int threads) { return threads > 1 ? now() : pcsim_time_cpu(); }

static double run_typed(bench *b, int threads) {
  const double before = clock_of(threads);
  bench_must(pcsim_executor_run(b->typed, false), "typed");
  return clock_of(threads) - before;
}

/** Jets and reverse come from one run, with the seeds of the run before: the second run's gradient is right.
 */
static double run_hand(bench *b, int threads) {
  const double *in[RESIDUAL_INPUTS];
  double *seed[RESIDUAL_INPUTS];
  for (int i = 0; i < RESIDUAL_INPUTS; i++) in[i] = b->jets[i], seed[i] = b->seeds[i];
  const double before = clock_of(threads);
  bench_must(pcsim_executor_run(b->hand, false), "hand");
  b->loop(POINTS, in, seed);
  return clock_of(threads) - before;
}

static double difference(const bench *b) {
  double size = 0, most = 0;
  for (int i = 0; i < NUM_PARAMETERS; i++)
    for (int j = 0; j < MAX_NUMBERS; j++) {
      const double d = fabs(b->gradient[0][i][j] - b->gradient[1][i][j]);
      if (fabs(b->gradient[0][i][j]) > size) size = fabs(b->gradient[0][i][j]);
      if (!(d <= most)) most = d;
    }
  return most / size;
}

static void measure(bench *b, int threads, int tile, double budget) {
  *b = (bench){0};
  create(b, threads, tile);
  for (int i = 0; i < 2; i++) run_hand(b, threads);
  run_typed(b, threads);
  const double apart = difference(b);
  if (!(apart < 1e-12)) {
    fprintf(stderr, "typed residual and loop differ by %.1e\n", apart);
    exit(1);
  }
  double by_text = 1e30, by_hand = 1e30;
  const double begin = now();
  int repeats = 0;
  do {
    double t = run_typed(b, threads);
    if (t < by_text) by_text = t;
    t = run_hand(b, threads);
    if (t < by_hand) by_hand = t;
  } while (now() - begin < budget || ++repeats < 10);
  printf("{\"bench\": \"autodiff\", \"figure\": \"residual w%d%s\", \"value\": %.4f, \"unit\": \"whole "
         "gradient\", "
         "\"typed_ns_per_point\": %.1f, \"hand_ns_per_point\": %.1f, \"difference\": %.1e}\n",
         WIDTH, threads > 1 ? " 2 threads" : "", (by_text - by_hand) / by_text, by_text / POINTS * 1e9,
         by_hand / POINTS * 1e9, apart);
  fflush(stdout);
  pcsim_executor_destroy(&b->typed);
  pcsim_executor_destroy(&b->hand);
}

void measure_residual(const char *only, double budget, int tile) {
  if (!strstr("residual w64", only) && strncmp(only, "residual", 8) != 0) return; /* both threads together */
  bench *b = NULL;
  bench_must(pcsim_alloc(1, sizeof *b, &b), "residual");
  for (int threads = 1; threads <= 2; threads++) measure(b, threads, tile, budget);
  pcsim_free(&b);
}
