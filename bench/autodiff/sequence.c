/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sequence.c  The finite-volume sequence: executor and hand-written loops by turns. */
#include "sequence.h"

#include "autodiff/exec.h"
#include "bench/program.h"
#include "peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 2 };

typedef struct {
  triangles mesh;
  double *q, *length, *r, *seed, *cotangent;
  hand_loops hand;
  hand_cells *cells;
  hand_faces *faces;
  int threads;
  pcsim_pool *pool;
  int64_t bound[MAX_THREADS + 1]; /**< cells of each thread */
  int32_t *others[MAX_THREADS];   /**< faces of earlier threads' cells that touch those of this one */
  int64_t num_others[MAX_THREADS];
} bench;

/* -------------------------------------------------------------------- data */

/** A smooth flow and some noise, so that limiters act. */
static void make_fields(bench *b) {
  const triangles *m = &b->mesh;
  uint64_t state = 5;
  for (int64_t c = 0; c < m->num_cells; c++) {
    const double x = m->centre[2 * c], y = m->centre[2 * c + 1];
    const double value[3] = {sin(3 * x) * cos(2 * y), -cos(3 * x) * sin(2 * y), x * y + 0.3 * sin(5 * x)};
    b->length[c] = sqrt(m->volume[c]);
    for (int k = 0; k < 3; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      b->q[3 * c + k] = value[k] + b->length[c] * (2 * (double)(state >> 11) * 0x1p-53 - 1);
      b->seed[3 * c + k] = value[2 - k];
    }
  }
}

static void create_hand(bench *b) {
  const triangles *m = &b->mesh;
  const size_t cells = (size_t)m->num_cells, entries = (size_t)(m->start[cells] - m->num_cells);
  hand_loops *h = &b->hand;
  *h = (hand_loops){.mesh = m, .q = b->q, .length = b->length};
  bench_must(pcsim_alloc(cells + 1, sizeof *h->near_start, &h->near_start), "hand");
  bench_must(pcsim_alloc(entries, sizeof *h->near, &h->near), "hand");
  bench_must(pcsim_alloc(2 * entries, sizeof *h->weight, &h->weight), "hand");
  bench_must(pcsim_alloc(8 * cells, sizeof *h->slope, &h->slope), "hand");
  bench_must(pcsim_alloc(3 * cells, sizeof *h->r, &h->r), "hand");
  for (size_t c = 0; c < cells; c++) {
    int32_t at = h->near_start[c];
    for (int64_t e = m->start[c]; e < m->start[c + 1] - 1; e++, at++) {
      h->near[at] = m->column[e];
      for (int d = 0; d < 2; d++) h->weight[2 * at + d] = m->weight[2 * e + d];
    }
    h->near_start[c + 1] = at;
  }
  b->cells = hand_cells_portable;
  b->faces = hand_faces_portable;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    b->cells = hand_cells_avx2;
    b->faces = hand_faces_avx2;
  }
#endif
}

/** Cells of each thread, and the faces it has to add that belong to others. */
static void share_out(bench *b, int threads) {
  const triangles *m = &b->mesh;
  b->threads = threads;
  bench_must(pcsim_pool_create(threads, &b->pool), "threads");
  for (int t = 0; t <= threads; t++) b->bound[t] = m->num_cells * t / threads;
  for (int t = 0; t < threads; t++) {
    b->num_others[t] = 0;
    bench_must(pcsim_alloc((size_t)m->num_faces, sizeof *b->others[t], &b->others[t]), "threads");
    for (int64_t f = 0; f < m->num_faces; f++)
      if (m->owner[f] < b->bound[t] && m->neighbour[f] >= b->bound[t] && m->neighbour[f] < b->bound[t + 1])
        b->others[t][b->num_others[t]++] = (int32_t)f;
  }
}

static void gather_in(bench *b) {
  for (int t = 0; t < b->threads; t++) pcsim_free(&b->others[t]);
  pcsim_pool_destroy(&b->pool);
}

static void create_bench(int side, bench *b) {
  *b = (bench){0};
  bench_must(triangles_create(side, &b->mesh), "mesh");
  const size_t cells = (size_t)b->mesh.num_cells;
  /* One number more: the loops read four from the last three. */
  bench_must(pcsim_alloc(3 * cells + 1, sizeof *b->q, &b->q), "fields");
  bench_must(pcsim_alloc(3 * cells, sizeof *b->r, &b->r), "fields");
  bench_must(pcsim_alloc(3 * cells, sizeof *b->seed, &b->seed), "fields");
  bench_must(pcsim_alloc(3 * cells, sizeof *b->cotangent, &b->cotangent), "fields");
  bench_must(pcsim_alloc(cells, sizeof *b->length, &b->length), "fields");
  make_fields(b);
  create_hand(b);
}

static void destroy_bench(bench *b) {
  triangles_destroy(&b->mesh);
  pcsim_free(&b->q);
  pcsim_free(&b->r);
  pcsim_free(&b->seed);
  pcsim_free(&b->cotangent);
  pcsim_free(&b->length);
  pcsim_free(&b->hand.near_start);
  pcsim_free(&b->hand.near);
  pcsim_free(&b->hand.weight);
  pcsim_free(&b->hand.slope);
  pcsim_free(&b->hand.r);
}

/* ----------------------------------------------------------------- the runs */

static void cells_of_part(void *context, int t, int thread) {
  bench *b = context;
  (void)thread;
  b->cells(&b->hand, b->bound[t], b->bound[t + 1]);
}

static void faces_of_part(void *context, int t, int thread) {
  bench *b = context;
  (void)thread;
  b->faces(&b->hand, b->bound[t], b->bound[t + 1], b->others[t], b->num_others[t]);
}

static double clock_of(int threads) { return threads > 1 ? now() : pcsim_time_cpu(); }

static double run_hand(bench *b) {
  const double before = clock_of(b->threads);
  pcsim_pool_run(b->pool, b->threads, cells_of_part, b);
  pcsim_pool_run(b->pool, b->threads, faces_of_part, b);
  return clock_of(b->threads) - before;
}

static double run_program(pcsim_executor *x, int threads) {
  const double before = clock_of(threads);
  bench_must(pcsim_executor_run(x, false), "run");
  return clock_of(threads) - before;
}

static double least(double a, double b) { return b < a ? b : a; }

/** `reverse`: the cotangent of q from b->seed, that of r. */
static pcsim_executor *create_executor(const bench *b, const pcsim_program *p, bool reverse, int tile,
                                       double *out) {
  const triangles *m = &b->mesh;
  pcsim_executor *x = NULL;
  bench_must(pcsim_executor_create(p, &(pcsim_executor_options){.threads = b->threads, .tile = tile}, &x),
             "executor");
  bench_must(pcsim_executor_points(x, "cells", m->num_cells), "cells");
  bench_must(pcsim_executor_points(x, "faces", m->num_faces), "faces");
  bench_must(pcsim_executor_points(x, "walls", m->num_walls), "walls");
  const struct {
    const char *name;
    const double *data;
  } inputs[] = {
      {"q", b->q}, {"length", b->length}, {"reach", m->reach}, {"face", m->face}, {"wall", m->wall}};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    bench_must(pcsim_executor_bind(x, inputs[i].name, inputs[i].data), inputs[i].name);
  bench_must(pcsim_executor_bind_sparse(x, "gradient", m->start, m->column, m->weight), "gradient");
  bench_must(pcsim_executor_bind_sparse(x, "sides", m->side_start, m->side_face, m->side_sign), "sides");
  bench_must(pcsim_executor_bind_index(x, "owner", m->owner), "owner");
  bench_must(pcsim_executor_bind_index(x, "neighbour", m->neighbour), "neighbour");
  bench_must(pcsim_executor_bind_index(x, "inside", m->inside), "inside");
  if (reverse) bench_must(pcsim_executor_bind(x, "b_r", b->seed), "b_r");
  bench_must(pcsim_executor_bind_output(x, reverse ? "b_q" : "r", out), "output");
  return x;
}

/** Largest difference of the residuals over the largest residual. */
static double difference(const bench *b) {
  double size = 0, most = 0;
  for (int64_t i = 0; i < 3 * b->mesh.num_cells; i++) {
    const double d = fabs(b->r[i] - b->hand.r[i]);
    if (fabs(b->r[i]) > size) size = fabs(b->r[i]);
    if (!(d <= most)) most = d;
  }
  return most / size;
}

/** Bytes that the hand-written loops move at least: every array once, what is written twice (read to be
 * changed). */
static double least_bytes(const bench *b) {
  const triangles *m = &b->mesh;
  const double cells = (double)m->num_cells, faces = (double)m->num_faces,
               near = (double)m->start[m->num_cells] - cells;
  return near * 20 + cells * (4 + 24 + 8 + 48 + 128) + faces * (8 + 56) + cells * (64 + 24 + 48);
}

static void print(const bench *b, const char *kind, const char *unit, double value, double seconds) {
  printf("{\"bench\": \"autodiff\", \"figure\": \"sequence %s %lldk%s\", \"value\": %.4g, \"unit\": \"%s\", "
         "\"ns_per_cell\": %.1f}\n",
         kind, (long long)(b->mesh.num_cells + 500) / 1000, b->threads > 1 ? " 2 threads" : "", value, unit,
         seconds / (double)b->mesh.num_cells * 1e9);
  fflush(stdout);
}

/** Numbers that a program keeps between passes for each point of a space. */
static int kept_numbers(const pcsim_executor *x, const char *space) {
  const plan *p = &x->plan;
  int rows = 0;
  for (int i = 0; i < p->num_stores; i++) {
    const node *n = &p->program->nodes[p->store_node[i]];
    if (!strcmp(p->program->spaces[n->space], space)) rows += n->rows;
  }
  return rows;
}

/** r and the cotangent of q, each by a program of its own, from the same start. */
typedef struct {
  pcsim_program *forward, *reverse;
} programs;

static void measure(bench *b, const programs *p, int threads, int tile, double budget) {
  share_out(b, threads);
  pcsim_executor *x = create_executor(b, p->forward, false, tile, b->r),
                 *back = create_executor(b, p->reverse, true, tile, b->cotangent);
  run_program(x, threads);
  run_program(back, threads);
  run_hand(b);
  const double apart = difference(b);
  if (!(apart < 1e-12)) {
    fprintf(stderr, "program and hand-written loops differ by %.1e\n", apart);
    exit(1);
  }
  double hand = 1e30, program = 1e30, reverse = 1e30, peak = 0;
  const double begin = now();
  int repeats = 0;
  do {
    /* Twice each: the second run finds in the cache what the cache can hold. */
    for (int i = 0; i < 2; i++) hand = least(hand, run_hand(b));
    for (int i = 0; i < 2; i++) program = least(program, run_program(x, threads));
    for (int i = 0; i < 2; i++) reverse = least(reverse, run_program(back, threads));
    const double rate = repeats % 4 ? 0 : peak_bandwidth(threads);
    if (rate > peak) peak = rate;
  } while (now() - begin < budget || ++repeats < 5);
  print(b, "difference", "1", apart, 0);
  print(b, "hand", "bandwidth", least_bytes(b) / hand / peak, hand);
  print(b, "program", "bandwidth", least_bytes(b) / program / peak, program);
  print(b, "ratio", "hand", program / hand, program);
  print(b, "reverse", "program", reverse / program, reverse);
  print(b, "reverse keeps", "numbers a cell", kept_numbers(back, "cells"), reverse);
  pcsim_executor_destroy(&x);
  pcsim_executor_destroy(&back);
  gather_in(b);
}

void measure_sequence(const char *only, double budget, int tile) {
  static const int sides[] = {40, 224, 708}; /* the first lies in the second cache */
  if (!strstr("sequence", only) && strncmp(only, "sequence", 8) != 0) return; /* its figures come together */
  programs p = {0};
  const char *const wrt[] = {"q"}, *const cotangent[] = {"b_q"};
  bench_must(sequence_program(&p.forward), "program");
  bench_must(pcsim_transform_vjp(p.forward, wrt, 1, &p.reverse), "reverse");
  bench_must(pcsim_program_keep(p.reverse, cotangent, 1), "reverse");
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
    bench b;
    create_bench(sides[i], &b);
    for (int threads = 1; threads <= (i ? MAX_THREADS : 1); threads++) measure(&b, &p, threads, tile, budget);
    destroy_bench(&b);
  }
  pcsim_program_destroy(&p.forward);
  pcsim_program_destroy(&p.reverse);
}
