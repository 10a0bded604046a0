/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_cpu.h  Private to the CPU's executor (exec_cpu*.c): desks, passes, tiles on their way. */
#ifndef PCSIM_AUTODIFF_EXEC_CPU_H
#define PCSIM_AUTODIFF_EXEC_CPU_H

#include "exec_code.h"

#include <stdatomic.h>

enum { MAX_CHUNKS = PCSIM_JACOBIAN_PARTS, STRIP = 512, SPLAT_BYTES = 64 };

/** The first value that is not finite. */
typedef struct {
  bool found;
  int64_t point;
  pcsim_value node;
  int row;
  double value;
} fault;

/** What a thread works in. */
typedef struct {
  char *tile, *strips;
  double *scratch;
  const void **in;
  void **out;
  const double **bias;
  char *spill, *pad; /**< of machine code */
  char *terms;       /**< of a Jacobian, as many as are shown together; NULL: none was wanted yet */
} desk;

typedef struct {
  pcsim_pool *pool;
  desk *desks;
  char *packed;
  size_t *pack_place; /**< bytes into `packed` */
  char *splats;
  exec_code code, block_code; /**< for tiles of the plan; for those of Jacobians, when they are smaller */
  double *partial;            /**< [MAX_CHUNKS][accumulators] */
  fault faults[MAX_CHUNKS];
  /* The pass that runs. */
  pcsim_executor *x;
  const stage *s;
  bool check;
  int64_t begin, points, tiles, chunk_tiles; /**< first point, end, ... */
  /* The Jacobian that runs: NULL: terms are summed. */
  const jacobian_rows *jacobian;
  pcsim_jacobian_visitor *visitor;
  void *visitor_context;
  /* The symmetric product that runs. */
  char *columns; /**< [rows][stride] of a few hundred points */
  size_t columns_room;
  int64_t stride, piece; /**< points whose products are summed at a time */
  double *product;
  int chunks;
  atomic_llong turn; /**< tile that is added next */
} cpu;

/** A tile on its way: first point, points, whose desk. */
typedef struct {
  const cpu *c;
  const pcsim_executor *x;
  desk *d;
  int64_t first, number; /**< of a tile that is added: which one */
  int n, tile;
  size_t row_bytes;
  double *sums;
  fault *fault; /**< NULL: nothing is checked */
  enum { ADD_UP, WRITE_TERMS, SHOW_TERMS } sums_are;
  char *block; /**< WRITE_TERMS: where they go, [rows][stride] from point block_first */
  int64_t block_first, stride;
  int thread, part; /**< SHOW_TERMS: for the visitor */
} pass;

static inline size_t cpu_real_size(const pcsim_executor *x) {
  return x->single ? sizeof(float) : sizeof(double);
}
static inline void *cpu_row_at(const pass *t, int row) { return t->d->tile + (size_t)row * t->row_bytes; }

/* exec_cpu_tile.c */
pass cpu_begin_pass(const cpu *c, desk *d, int tile);
/** All instructions for points first .. end - 1, a tile at most. What is made by machine code is not checked,
 * so checks take the kernels. */
void cpu_run_tile(pass *t, int64_t first, int64_t end);
/** What stands past the last point must not count in sums. */
void cpu_clear_end(const pass *t, int row, int rows);
/** Wait until all tiles before this one have been added; say that those before `next` have. */
void cpu_await_turn(const pass *t);
void cpu_end_turns(const pass *t, int64_t next);

/* exec_cpu.c */
/** Packed weights and repeated numbers that this stage is the first to use. */
void cpu_prepare_stage(cpu *c, const stage *s);
/** Deal out `tiles` of points begin .. end - 1 in chunks; of one tile where each waits for the one before it,
 * so that the threads take turns. Sums over points and checks are kept by chunk. */
void cpu_deal(cpu *c, const stage *s, int64_t begin, int64_t end, int64_t tiles);
/** The passes of levels first to last - 1, and what is on no space up to level last. */
pcsim_status cpu_run_levels(pcsim_executor *x, bool check, int last) PCSIM_NODISCARD;

/* exec_cpu_jacobian.c */
/** The terms of a sum (DO_OUTER, DO_SUM), written or shown. */
void cpu_run_terms(const pass *t, const instruction *step);
/** As in exec_device. */
pcsim_status cpu_jacobian(pcsim_executor *x, const jacobian_rows *rows, pcsim_jacobian_visitor *visitor,
                          void *context) PCSIM_NODISCARD;
pcsim_status cpu_product(pcsim_executor *x, const jacobian_rows *rows, double *product) PCSIM_NODISCARD;

#endif
