/* SPDX-License-Identifier: BSD-2-Clause */
/** @file measure.c  Share of the peak that jets and gradients of networks reach: see README.md. */
#include "networks.h"
#include "peak.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 8192 };
static int num_points = MAX_POINTS;

typedef enum { RUN, JACOBIAN, GRAM } mode;
typedef struct {
  const char *kind;
  mode mode;
  pcsim_status (*create)(int width, pcsim_program **program);
} figure;
static const figure figures[] = {{"jet", RUN, network_jet},
                                 {"gradient", RUN, network_gradient},
                                 {"jacobian", JACOBIAN, network_jacobian},
                                 {"jtj", GRAM, network_jacobian}};
static const int widths[] = {20, 40, 64, 128};

static void stop(const char *what) {
  fprintf(stderr, "%s: %s\n", what, pcsim_error_message());
  exit(1);
}

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
  if (pcsim_executor_points(x, "points", num_points) != PCSIM_OK) stop("points");
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (pcsim_executor_bind(x, inputs[i].name, inputs[i].data) != PCSIM_OK) pcsim_error_clear();
}

enum { GRAM_BLOCK = 288 };
/** Points a block of the Jacobian: it stays in the caches up to width 64. */
static int block_points(mode m, int width) { return m == GRAM ? GRAM_BLOCK : width > 64 ? 24 : 48; }

static void make_block(pcsim_executor *x, int first, int n, const double **block, int64_t *rows,
                       int64_t *stride) {
  static const char *const outputs[] = {"b_w0", "b_b0", "b_w1", "b_b1", "b_w2",
                                        "b_b2", "b_w3", "b_b3", "b_w4", "b_b4"};
  if (pcsim_executor_jacobian(x, first, n, outputs, 10, block, rows, stride) != PCSIM_OK) stop("jacobian");
}

/** Time of a run, of all blocks of the Jacobian or of the symmetric product of one: of the processor for one
 * thread, so that other programs do not count; of the clock for more. */
static double seconds(pcsim_executor *x, mode m, int width, int threads, double *product) {
  const double *block = NULL;
  int64_t rows = 0, stride = 0;
  const int n = block_points(m, width);
  if (m == GRAM) make_block(x, 0, n, &block, &rows, &stride);
  const double before = threads > 1 ? now() : pcsim_time_cpu();
  for (int first = 0; m == JACOBIAN && first < num_points; first += n)
    make_block(x, first, num_points - first < n ? num_points - first : n, &block, &rows, &stride);
  if (m == GRAM && pcsim_executor_gram(x, rows, block, stride, product) != PCSIM_OK) stop("gram");
  if (m == RUN && pcsim_executor_run(x, false) != PCSIM_OK) stop("run");
  return (threads > 1 ? now() : pcsim_time_cpu()) - before;
}

/** Numbers of all parameters. */
static double count_parameters(int width) {
  return (HIDDEN_LAYERS - 1.0) * width * (width + 1) + 3.0 * width + width + 1;
}

static void measure(const figure *f, int width, bool single, int threads, int tile, double budget) {
  pcsim_program *p = NULL;
  pcsim_executor *x = NULL;
  static double data[2 * MAX_POINTS];
  if (f->create(width, &p) != PCSIM_OK) stop(f->kind);
  if (pcsim_executor_create(p, &(pcsim_executor_options){.threads = threads, .single = single, .tile = tile},
                            &x) != PCSIM_OK)
    stop(f->kind);
  bind_all(p, x, data);
  const double parameters = count_parameters(width);
  double *product = f->mode == GRAM ? calloc((size_t)(parameters * parameters), sizeof *product) : NULL;
  seconds(x, f->mode, width, threads, product);
  double operations = pcsim_program_count(p).operations * num_points;
  if (f->mode == GRAM) operations = parameters * (parameters + 1) * GRAM_BLOCK;
  double best = 1e30, peak = 0, begin = now();
  int repeats = 0;
  /* By turns, so that both see the same machine; the best of each. */
  do {
    const double rate = peak_operations(single, threads);
    if (rate > peak) peak = rate;
    const int runs = f->mode == GRAM ? 1 : 3 * MAX_POINTS / num_points;
    for (int i = 0; i < runs; i++) {
      const double t = seconds(x, f->mode, width, threads, product);
      if (t < best) best = t;
    }
    repeats++;
  } while (now() - begin < budget || repeats < 3);
  char suffix[32] = "";
  if (threads > 1) snprintf(suffix, sizeof suffix, " %d threads", threads);
  printf("{\"bench\": \"autodiff\", \"figure\": \"%s w%d %s%s\", \"value\": %.4f, \"unit\": \"peak\", "
         "\"gflops\": %.2f, "
         "\"peak_gflops\": %.2f, \"ns_per_point\": %.1f, \"operations_per_point\": %.0f}\n",
         f->kind, width, single ? "single" : "double", suffix, operations / best / peak,
         operations / best * 1e-9, peak * 1e-9, best / num_points * 1e9, operations / num_points);
  fflush(stdout);
  free(product);
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&p);
}

int main(int argc, char **argv) {
  const char *only = argc > 1 ? argv[1] : "";
  const double budget = argc > 2 ? atof(argv[2]) : 0.5;
  const int tile = argc > 3 ? atoi(argv[3]) : 0;
  if (argc > 4) num_points = atoi(argv[4]) < MAX_POINTS ? atoi(argv[4]) : MAX_POINTS;
  for (int threads = 1; threads <= 2; threads++)
    printf("{\"bench\": \"autodiff\", \"figure\": \"bandwidth %d\", \"value\": %.2f, \"unit\": \"GB/s\"}\n",
           threads, peak_bandwidth(threads) * 1e-9);
  for (int threads = 1; threads <= 2; threads++)
    for (int single = 0; single < 2; single++)
      for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
          char name[64];
          snprintf(name, sizeof name, "%s w%d %s %d", figures[k].kind, widths[w],
                   single ? "single" : "double", threads);
          if (figures[k].mode == GRAM && (single || widths[w] > 40))
            continue; /* P^2 numbers; always in double */
          if (strstr(name, only)) measure(&figures[k], widths[w], single, threads, tile, budget);
        }
  return 0;
}
