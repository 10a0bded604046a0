/* SPDX-License-Identifier: BSD-2-Clause */
/** @file measure.c  Share of the peak that jets and gradients of networks reach: see README.md. */
#include "bench/program.h"
#include "functions.h"
#include "networks.h"
#include "peak.h"
#include "residual.h"
#include "sequence.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 8192 };
static int num_points = MAX_POINTS;
static const char *instructions; /**< NULL: the best of the processor */

typedef enum { RUN, JACOBIAN, SQUARES, PRODUCT } mode;
typedef struct {
  const char *kind;
  mode mode;
  pcsim_status (*create)(int width, pcsim_program **program);
} figure;
static const figure figures[] = {{"jet", RUN, network_jet},
                                 {"gradient", RUN, network_gradient},
                                 {"jacobian", JACOBIAN, network_jacobian},
                                 {"squares", SQUARES, network_jacobian},
                                 {"jtj", PRODUCT, network_jacobian}};
static const int widths[] = {20, 40, 64, 128};

/** Data of every input: small numbers, directions along the axes. */
static void bind_all(const pcsim_program *p, pcsim_executor *x, double *data) {
  (void)p;
  static double along[2][2 * MAX_POINTS], ones[MAX_POINTS];
  for (int i = 0; i < 2 * MAX_POINTS; i++) {
    data[i] = (double)(i * 7919 % 4001) / 4001;
    along[0][i] = i % 2 == 0;
    along[1][i] = i % 2 == 1;
  }
  for (int i = 0; i < MAX_POINTS; i++) ones[i] = 1;
  struct {
    const char *name;
    const double *data;
  } inputs[] = {{"x", data}, {"v_0", along[0]}, {"v_1", along[1]},
                {"f", data}, {"b_loss", ones},  {"b_r", ones}};
  if (pcsim_executor_points(x, "points", num_points) != PCSIM_OK) bench_stop("points");
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (pcsim_executor_bind(x, inputs[i].name, inputs[i].data) != PCSIM_OK) pcsim_error_clear();
}

static const char *const parameters[] = {"b_w0", "b_b0", "b_w1", "b_b1", "b_w2",
                                         "b_b2", "b_w3", "b_b3", "b_w4", "b_b4"};

/** Numbers of all parameters. */
static double count_parameters(int width) {
  return (HIDDEN_LAYERS - 1.0) * width * (width + 1) + 3.0 * width + width + 1;
}

/** Points of a run: of the product, which costs P^2 a point, as many as take about a second. */
static int points_of(mode m, int width) {
  enum { LEAST = 576 };
  const double p = count_parameters(width), many = 5e10 / (p * p);
  if (m != PRODUCT || many > num_points) return num_points;
  const int n = many < LEAST ? LEAST : (int)many;
  return n < num_points ? n : num_points;
}

typedef struct {
  double *sums;
  int64_t rows;
} square_sums;

#define SQUARES_OF(name, type)                                                                               \
  static double name(const type *a, int64_t n) {                                                             \
    type sum[8] = {0};                                                                                       \
    int64_t i = 0;                                                                                           \
    for (; i + 8 <= n; i += 8)                                                                               \
      for (int l = 0; l < 8; l++) sum[l] += a[i + l] * a[i + l];                                             \
    for (; i < n; i++) sum[0] += a[i] * a[i];                                                                \
    return (double)(((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])));      \
  }
SQUARES_OF(squares, double)
SQUARES_OF(squares_single, float)

/** Numbers of the Jacobian that were shown, by parts, each on a cache line of its own. */
static struct { _Alignas(64) int64_t numbers; } seen[PCSIM_JACOBIAN_PARTS];
/** What a consumer costs is not measured; that every number is shown is. */
static void visit(void *context, const pcsim_jacobian_block *block) {
  (void)context;
  seen[block->part].numbers += block->rows * block->n;
}

/** The sums of the squares of each row, for each part [parts][rows]: the diagonal of J^T J. */
static void add_squares(void *context, const pcsim_jacobian_block *block) {
  const square_sums *s = context;
  for (int64_t k = 0; k < block->rows; k++) {
    double *sum = &s->sums[block->part * s->rows + pcsim_jacobian_row(block, k)];
    *sum += block->numbers ? squares(block->numbers + k * block->stride, block->n)
                           : squares_single(block->numbers_single + k * block->stride, block->n);
  }
  visit(NULL, block);
}

typedef struct {
  double clock, processor; /**< of all threads */
} duration;

/** Duration of a run, of the whole Jacobian (of so many rows) or of J^T J. */
static duration run_once(pcsim_executor *x, mode m, int points, int64_t rows, double *product) {
  const pcsim_jacobian j = {.outputs = parameters, .num_outputs = 10, .end = points};
  const duration before = {now(), pcsim_time_cpu()};
  memset(seen, 0, sizeof seen);
  if (m == JACOBIAN && pcsim_executor_jacobian(x, &j, visit, NULL) != PCSIM_OK) bench_stop("jacobian");
  if (m == SQUARES) {
    square_sums s = {product, rows};
    memset(product, 0, PCSIM_JACOBIAN_PARTS * (size_t)rows * sizeof *product);
    if (pcsim_executor_jacobian(x, &j, add_squares, &s) != PCSIM_OK) bench_stop("squares");
  }
  if (m == PRODUCT && pcsim_executor_jacobian_product(x, &j, product) != PCSIM_OK) bench_stop("product");
  if (m == RUN && pcsim_executor_run(x, false) != PCSIM_OK) bench_stop("run");
  const duration d = {now() - before.clock, pcsim_time_cpu() - before.processor};
  int64_t numbers = 0;
  for (int i = 0; i < PCSIM_JACOBIAN_PARTS; i++) numbers += seen[i].numbers;
  if ((m == JACOBIAN || m == SQUARES) && numbers != points * rows) bench_stop("numbers of the Jacobian");
  return d;
}

/** The best of several runs, by turns with the peak, so that both see the same machine. */
static duration best_of(pcsim_executor *x, mode m, int points, int64_t rows, double *product, bool single,
                        int threads, double budget, double *peak) {
  duration best = {1e30, 1e30};
  const double begin = now();
  int repeats = 0;
  run_once(x, m, m == PRODUCT ? 1 : points, rows, product);
  *peak = 0;
  do {
    const double rate = peak_operations(instructions, single, threads);
    if (rate > *peak) *peak = rate;
    const int runs = m == PRODUCT ? 1 : 3 * MAX_POINTS / num_points;
    for (int i = 0; i < runs; i++) {
      const duration d = run_once(x, m, points, rows, product);
      if (d.clock < best.clock) best.clock = d.clock;
      if (d.processor < best.processor) best.processor = d.processor;
    }
    repeats++;
  } while (now() - begin < budget || repeats < 3);
  return best;
}

static void measure(const figure *f, int width, bool single, int threads, int tile, double budget) {
  pcsim_program *p = NULL;
  pcsim_executor *x = NULL;
  static double data[2 * MAX_POINTS];
  if (f->create(width, &p) != PCSIM_OK) bench_stop(f->kind);
  if (pcsim_executor_create(
          p,
          &(pcsim_executor_options){
              .threads = threads, .single = single, .tile = tile, .instructions = instructions},
          &x) != PCSIM_OK)
    bench_stop(f->kind);
  bind_all(p, x, data);
  const double count = count_parameters(width);
  const int points = points_of(f->mode, width);
  double *product = NULL;
  if (f->mode == PRODUCT && !(product = calloc((size_t)(count * count), sizeof *product)))
    bench_stop("memory");
  if (f->mode == SQUARES && !(product = calloc(PCSIM_JACOBIAN_PARTS * (size_t)count, sizeof *product)))
    bench_stop("memory");
  double operations = pcsim_program_count(p).operations, peak;
  if (f->mode == SQUARES) operations += 2 * count;
  if (f->mode == PRODUCT) operations += count * (count + 1);
  const duration best = best_of(x, f->mode, points, (int64_t)count, product, single, threads, budget, &peak);
  const double share = operations * points / peak, processor = best.processor / threads;
  char suffix[32] = "";
  if (threads > 1) snprintf(suffix, sizeof suffix, " %d threads", threads);
  printf("{\"bench\": \"autodiff\", \"figure\": \"%s w%d %s%s\", \"value\": %.4f, \"unit\": \"peak\", "
         "\"of_processor_time\": %.4f, \"peak_gflops\": %.2f, \"ns_per_point\": %.1f, "
         "\"operations_per_point\": %.0f, \"points\": %d}\n",
         f->kind, width, single ? "single" : "double", suffix,
         share / (threads > 1 ? best.clock : best.processor), share / processor, peak * 1e-9,
         (threads > 1 ? best.clock : best.processor) / points * 1e9, operations, points);
  fflush(stdout);
  free(product);
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&p);
}

/** Argument `i` as a number from `least` to `most`, `otherwise` if it is not given. */
static double argument(int argc, char **argv, int i, const char *what, double otherwise, double least,
                       double most) {
  if (argc <= i) return otherwise;
  char *end;
  const double x = strtod(argv[i], &end);
  if (end != argv[i] && !*end && x >= least && x <= most) return x;
  fprintf(stderr, "%s '%s': expected a number from %g to %g\n", what, argv[i], least, most);
  exit(2);
}

int main(int argc, char **argv) {
  const char *only = argc > 1 ? argv[1] : "";
  const double budget = argument(argc, argv, 2, "seconds a figure", 0.5, 0, 3600);
  const int tile = (int)argument(argc, argv, 3, "points a tile", 0, 0, MAX_POINTS);
  num_points = (int)argument(argc, argv, 4, "points a run", MAX_POINTS, 1, MAX_POINTS);
  if (argc > 5) instructions = argv[5];
  for (int threads = 1; threads <= 2; threads++)
    printf("{\"bench\": \"autodiff\", \"figure\": \"bandwidth %d\", \"value\": %.2f, \"unit\": \"GB/s\"}\n",
           threads, peak_bandwidth(threads) * 1e-9);
  for (int kilobytes = 1024; kilobytes <= 8192; kilobytes *= 8)
    printf("{\"bench\": \"autodiff\", \"figure\": \"stores %d KB\", \"value\": %.2f, \"unit\": \"GB/s\"}\n",
           kilobytes, peak_stores((size_t)kilobytes * 1024) * 1e-9);
  for (int threads = 1; threads <= 2; threads++)
    for (int single = 0; single < 2; single++)
      for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
          char name[64];
          snprintf(name, sizeof name, "%s w%d %s %d", figures[k].kind, widths[w],
                   single ? "single" : "double", threads);
          if (figures[k].mode == PRODUCT && widths[w] > 64) continue; /* P^2 numbers: 20 GB */
          if (strstr(name, only)) measure(&figures[k], widths[w], single, threads, tile, budget);
        }
  measure_residual(only, budget, tile);
  measure_sequence(only, budget, tile);
  measure_functions(only);
  return 0;
}
