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

typedef struct {
  const char *kind;
  pcsim_status (*create)(int width, pcsim_program **program);
} figure;
static const figure figures[] = {{"jet", network_jet}, {"gradient", network_gradient}};
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
  } inputs[] = {{"x", data}, {"v_0", along[0]}, {"v_1", along[1]}, {"f", data}, {"b_loss", ones}};
  if (pcsim_executor_points(x, "points", num_points) != PCSIM_OK) stop("points");
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (pcsim_executor_bind(x, inputs[i].name, inputs[i].data) != PCSIM_OK) pcsim_error_clear();
}

/** Time of a run: of the processor for one thread, so that other programs do not count; of the clock for
 * more. */
static double seconds(pcsim_executor *x, int threads) {
  const double before = threads > 1 ? now() : pcsim_time_cpu();
  if (pcsim_executor_run(x, false) != PCSIM_OK) stop("run");
  return (threads > 1 ? now() : pcsim_time_cpu()) - before;
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
  seconds(x, threads);
  const double operations = pcsim_program_count(p).operations * num_points;
  double best = 1e30, peak = 0, begin = now();
  int repeats = 0;
  /* By turns, so that both see the same machine; the best of each. */
  do {
    const double rate = peak_operations(single, threads);
    if (rate > peak) peak = rate;
    for (int i = 0; i < 3 * MAX_POINTS / num_points; i++) {
      const double t = seconds(x, threads);
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
          if (strstr(name, only)) measure(&figures[k], widths[w], single, threads, tile, budget);
        }
  return 0;
}
