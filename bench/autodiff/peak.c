/* SPDX-License-Identifier: BSD-2-Clause */
/** @file peak.c  Peak of fused multiply-add and of memory, on one thread and several. */
#include "peak.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { MAX_THREADS = 64, ROUNDS = 100000 };

/* Enough independent sums to fill two pipes of latency four or five; ROUNDS of them. */
#define PEAK_12(name, type, bytes, options)                                                                  \
  typedef type name##_vector __attribute__((vector_size(bytes)));                                            \
  __attribute__((noinline, options)) static double name(void) {                                              \
    name##_vector a0 = {0}, a1 = {1}, a2 = {2}, a3 = {3}, a4 = {4}, a5 = {5}, a6 = {6}, a7 = {7}, a8 = {8},  \
                  a9 = {9}, a10 = {10}, a11 = {11}, x = {(type)0.5}, y = {(type)0.25};                       \
    x += (type)0.5, y += (type)0.25;                                                                         \
    for (int i = 0; i < ROUNDS; i++) {                                                                       \
      __asm__ volatile("" : "+x"(x), "+x"(y));                                                               \
      a0 = a0 * x + y, a1 = a1 * x + y, a2 = a2 * x + y, a3 = a3 * x + y, a4 = a4 * x + y, a5 = a5 * x + y;  \
      a6 = a6 * x + y, a7 = a7 * x + y, a8 = a8 * x + y, a9 = a9 * x + y, a10 = a10 * x + y;                 \
      a11 = a11 * x + y;                                                                                     \
    }                                                                                                        \
    a0 += a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11;                                            \
    return (double)a0[0] + (double)a0[1];                                                                    \
  }

#if defined(__x86_64__)
PEAK_12(avx2_double, double, 32, target("avx2,fma"))
PEAK_12(avx2_single, float, 32, target("avx2,fma"))
PEAK_12(avx512_double, double, 64, target("avx512f"))
PEAK_12(avx512_single, float, 64, target("avx512f"))
#else
#define target(x) unused
PEAK_12(avx2_double, double, 16, unused)
PEAK_12(avx2_single, float, 16, unused)
#endif

static volatile double sink;

/** Of an instruction set, NULL: the best of the processor. */
static int vector_bytes(const char *instructions) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && !(instructions && !strcmp(instructions, "avx2")) ? 64 : 32;
#else
  (void)instructions;
  return 16;
#endif
}

static double rounds(int bytes, bool single) {
  const double before = now();
#if defined(__x86_64__)
  if (bytes == 64) sink = single ? avx512_single() : avx512_double();
  else
#endif
    sink = single ? avx2_single() : avx2_double();
  const double operations = 2.0 * 12 * ROUNDS * bytes / (single ? 4 : 8);
  return operations / (now() - before);
}

typedef struct {
  bool single;
  int bytes; /**< of a vector */
  double *data;
  size_t n;
  double rate;
  pthread_barrier_t *barrier;
} job;

static void *operations_job(void *argument) {
  job *j = argument;
  pthread_barrier_wait(j->barrier);
  for (int i = 0; i < 8; i++) {
    const double rate = rounds(j->bytes, j->single);
    if (rate > j->rate) j->rate = rate;
  }
  return NULL;
}

static void *bandwidth_job(void *argument) {
  job *j = argument;
  pthread_barrier_wait(j->barrier);
  for (int k = 0; k < 3; k++) {
    const double before = now();
    double s[8] = {0};
    for (size_t i = 0; i < j->n; i += 8)
      for (int l = 0; l < 8; l++) s[l] += j->data[i + (size_t)l];
    const double rate = (double)j->n * 8 / (now() - before);
    sink = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
    if (rate > j->rate) j->rate = rate;
  }
  return NULL;
}

static double all(void *(*work)(void *), job *jobs, int threads) {
  pthread_t handles[MAX_THREADS];
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) {
    jobs[i].barrier = &barrier;
    if (pthread_create(&handles[i], NULL, work, &jobs[i])) abort();
  }
  double total = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(handles[i], NULL);
    total += jobs[i].rate;
  }
  pthread_barrier_destroy(&barrier);
  return total;
}

double peak_operations(const char *instructions, bool single, int threads) {
  job jobs[MAX_THREADS] = {{0}};
  for (int i = 0; i < threads; i++) jobs[i] = (job){.single = single, .bytes = vector_bytes(instructions)};
  return all(operations_job, jobs, threads);
}

double peak_bandwidth(int threads) {
  job jobs[MAX_THREADS] = {{0}};
  const size_t n = 8u << 20;
  for (int i = 0; i < threads; i++) {
    jobs[i].n = n;
    jobs[i].data = malloc(n * sizeof(double));
    if (!jobs[i].data) abort();
    /* Not zeros: memory that was never written is one page, which the first cache holds. */
    for (size_t j = 0; j < n; j++) jobs[i].data[j] = (double)j;
  }
  const double rate = all(bandwidth_job, jobs, threads);
  for (int i = 0; i < threads; i++) free(jobs[i].data);
  return rate;
}

double peak_stores(size_t bytes) {
  enum { TURNS = 12 };
  const size_t n = bytes / sizeof(double), total = (size_t)64 << 20;
  double *data = malloc(n * sizeof *data), best = 0;
  if (!data) abort();
  for (int turn = 0; turn < TURNS; turn++) {
    const double before = now();
    for (size_t written = 0; written < total; written += n * sizeof *data) {
      for (size_t i = 0; i < n; i++) data[i] = turn + 0.5;
      __asm__ volatile("" : : "r"(data) : "memory"); /* each round is made */
    }
    const double rate = (double)total / (now() - before);
    if (rate > best) best = rate;
  }
  free(data);
  return best;
}
