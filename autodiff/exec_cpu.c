/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_cpu.c  The CPU: passes over tiles of points by a few threads.
 *
 *  Tiles are dealt out in chunks that depend on the number of points only. Sums over points are kept by
 *  chunk and added up in pairs, so that the result does not depend on who ran which chunk. */
#include "exec_code.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { MAX_CHUNKS = PCSIM_JACOBIAN_PARTS, STRIP = 512, SPLAT_BYTES = 64, MAX_MAP_VALUES = 3 };

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

static size_t real_size(const pcsim_executor *x) { return x->single ? sizeof(float) : sizeof(double); }

/* --------------------------------------------------------------------- set-up */

static pcsim_status create_desks(pcsim_executor *x, cpu *c) {
  const plan *p = &x->plan;
  size_t rows = 1, strips = 1, scratch = 1, pointers = 1;
  for (int i = 0; i < p->num_stages; i++) {
    if ((size_t)p->stages[i].tile_rows > rows) rows = (size_t)p->stages[i].tile_rows;
    if ((size_t)p->stages[i].strips > strips) strips = (size_t)p->stages[i].strips;
  }
  for (int i = 0; i < p->num_instructions; i++) {
    const instruction *step = &p->instructions[i];
    if (step->kind != DO_ELEMENTWISE && (size_t)step->count > pointers) pointers = (size_t)step->count;
    const size_t need = step->kind == DO_MAP    ? (size_t)step->rows
                        : step->kind == DO_ADD  ? (size_t)step->rows * (size_t)step->count
                        : step->kind == DO_USER ? (size_t)step->rows * (size_t)(step->count + 1)
                                                : 0;
    if (need > scratch) scratch = need;
  }
  const size_t tile = (size_t)p->tile, strip = tile > STRIP ? tile : STRIP;
  PCSIM_TRY(pcsim_alloc((size_t)x->threads, sizeof *c->desks, &c->desks));
  for (int i = 0; i < x->threads; i++) {
    desk *d = &c->desks[i];
    PCSIM_TRY(pcsim_alloc(rows * tile, real_size(x), &d->tile));
    PCSIM_TRY(pcsim_alloc(strips * strip, real_size(x), &d->strips));
    PCSIM_TRY(pcsim_alloc(scratch * tile, sizeof *d->scratch, &d->scratch));
    PCSIM_TRY(pcsim_alloc(pointers, sizeof *d->in, &d->in));
    PCSIM_TRY(pcsim_alloc(pointers, sizeof *d->out, &d->out));
    PCSIM_TRY(pcsim_alloc(pointers, sizeof *d->bias, &d->bias));
    PCSIM_TRY(pcsim_alloc((size_t)c->code.spills, CODE_SLOT_BYTES, &d->spill));
    PCSIM_TRY(pcsim_alloc(c->code.pad_bytes, 1, &d->pad));
  }
  return PCSIM_OK;
}

static pcsim_status create_shared(pcsim_executor *x, cpu *c) {
  const plan *p = &x->plan;
  PCSIM_TRY(pcsim_alloc((size_t)p->num_packs, sizeof *c->pack_place, &c->pack_place));
  size_t bytes = 0, accumulators = 0;
  for (int i = 0; i < p->num_packs; i++) {
    const node *w = &p->program->nodes[p->packs[i].weight];
    const size_t m = (size_t)(p->packs[i].transposed ? w->columns : w->rows);
    const size_t k = (size_t)(p->packs[i].transposed ? w->rows : w->columns), panel = (size_t)p->panel;
    c->pack_place[i] = bytes;
    bytes += ((m + panel - 1) / panel * panel * k * real_size(x) + 63) / 64 * 64;
  }
  for (int i = 0; i < p->num_stages; i++)
    if ((size_t)p->stages[i].accumulators > accumulators) accumulators = (size_t)p->stages[i].accumulators;
  PCSIM_TRY(pcsim_alloc(bytes, 1, &c->packed));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_splats * SPLAT_BYTES, 1, &c->splats));
  PCSIM_TRY(pcsim_alloc(accumulators * MAX_CHUNKS, sizeof *c->partial, &c->partial));
  return pcsim_pool_create(x->threads, &c->pool);
}

static pcsim_status cpu_create(pcsim_executor *x) {
  cpu *c = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *c, &c));
  x->device_data = c;
  c->x = x;
  if (!x->interpreted) PCSIM_TRY(exec_code_create(&x->plan, x->kernels, x->plan.tile, &c->code));
  PCSIM_TRY(create_desks(x, c));
  return create_shared(x, c);
}

static void cpu_destroy(pcsim_executor *x) {
  cpu *c = x->device_data;
  pcsim_pool_destroy(&c->pool);
  for (int i = 0; c->desks && i < x->threads; i++) {
    pcsim_free(&c->desks[i].tile);
    pcsim_free(&c->desks[i].strips);
    pcsim_free(&c->desks[i].scratch);
    pcsim_free(&c->desks[i].in);
    pcsim_free(&c->desks[i].out);
    pcsim_free(&c->desks[i].bias);
    pcsim_free(&c->desks[i].spill);
    pcsim_free(&c->desks[i].pad);
    pcsim_free(&c->desks[i].terms);
  }
  pcsim_free(&c->desks);
  pcsim_free(&c->packed);
  pcsim_free(&c->pack_place);
  pcsim_free(&c->splats);
  exec_code_destroy(&c->code);
  exec_code_destroy(&c->block_code);
  pcsim_free(&c->partial);
  pcsim_free(&c->columns);
  pcsim_free(&x->device_data);
}

/* ------------------------------------------------------------------ one tile */

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

static void *row_at(const pass *t, int row) { return t->d->tile + (size_t)row * t->row_bytes; }

/** Look at rows x tile numbers; points past the end do not count, nor what only a choice sees, which looks at
 * the numbers it takes. */
static void check_rows(const pass *t, pcsim_value v, int first_row, int rows, const char *data) {
  if (!t->fault || t->fault->found) return;
  if (!t->x->plan.exposed[v] && t->x->plan.program->nodes[v].kind != NODE_INPUT) return;
  for (int r = 0; r < rows; r++) {
    const char *row = data + (size_t)r * t->row_bytes;
    const int64_t bad = t->x->kernels->find_bad(t->n, row);
    if (bad < 0) continue;
    const double value = t->x->single ? (double)((const float *)row)[bad] : ((const double *)row)[bad];
    *t->fault = (fault){true, t->first + bad, v, first_row + r, value};
    return;
  }
}

static void expand_row(const pass *t, const char *row, int rows, char *out) {
  for (int r = 0; r < rows; r++) memcpy(out + (size_t)r * t->row_bytes, row, t->row_bytes);
}

static void run_elementwise(const pass *t, const instruction *step) {
  const plan *p = &t->x->plan;
  const exec_kernels *k = t->x->kernels;
  const int per = t->tile < STRIP ? STRIP / t->tile : 1;
  const size_t strip_bytes = (size_t)(t->tile > STRIP ? t->tile : STRIP) * real_size(t->x);
  for (int row = 0; row < step->rows; row += per) {
    const int rows = step->rows - row < per ? step->rows - row : per;
    for (int i = step->first; i < step->first + step->count; i++) {
      const micro *m = &p->micros[i];
      const void *in[KERNEL_INPUTS];
      int64_t walk[KERNEL_INPUTS];
      char *out = m->out.kind == AT_TILE ? row_at(t, m->out.index + row)
                                         : t->d->strips + (size_t)m->out.index * strip_bytes;
      if (m->op == MICRO_EXPAND_ROW) {
        expand_row(t, row_at(t, m->in[0].index), rows, out);
        continue;
      }
      if (m->op == MICRO_EXPAND_COLUMN) {
        for (int r = 0; r < rows; r++)
          k->fill(t->tile, t->x->uniform[m->node][row + r], out + (size_t)r * t->row_bytes);
        continue;
      }
      for (int j = 0; j < KERNEL_INPUTS; j++) {
        const operand *o = &m->in[j];
        in[j] = o->kind == AT_SPLAT  ? t->c->splats + (size_t)o->index * SPLAT_BYTES
                : o->index < 0       ? NULL
                : o->kind == AT_TILE ? row_at(t, o->index + row)
                                     : t->d->strips + (size_t)o->index * strip_bytes;
        walk[j] = o->kind != AT_SPLAT;
      }
      k->elementwise[m->op]((int64_t)rows * t->tile, out, in, walk);
      check_rows(t, m->node, row, rows, out);
    }
  }
}

static void run_gemm(const pass *t, const instruction *step) {
  const int *list = t->x->plan.list + step->first;
  for (int i = 0; i < step->count; i++) {
    t->d->in[i] = row_at(t, list[4 * i]);
    t->d->out[i] = row_at(t, list[4 * i + 1]);
    t->d->bias[i] = list[4 * i + 2] < 0 ? NULL : t->x->uniform[list[4 * i + 2]];
  }
  t->x->kernels->gemm(step->rows, step->depth, t->c->packed + t->c->pack_place[step->a], step->count,
                      t->d->in, t->d->out, t->d->bias, t->tile);
  for (int i = 0; i < step->count; i++) check_rows(t, list[4 * i + 3], 0, step->rows, t->d->out[i]);
}

/** What stands past the last point must not count in sums. */
static void clear_end(const pass *t, int row, int rows) {
  const size_t size = real_size(t->x), keep = (size_t)t->n * size;
  for (int r = 0; r < rows && t->n < t->tile; r++)
    memset((char *)row_at(t, row + r) + keep, 0, t->row_bytes - keep);
}

/** The terms of a sum, point by point: of `rows` and `columns` of it from first_row and first_column on. */
static void make_terms(const pass *t, const instruction *step, int first_row, int rows, int first_column,
                       int columns, char *out, int64_t stride) {
  const int *list = t->x->plan.list + step->first;
  const int per = step->kind == DO_SUM ? 1 : 2;
  for (int i = 0; i < step->count; i++) {
    t->d->out[i] = row_at(t, list[per * i] + first_row);
    if (per == 2) t->d->in[i] = row_at(t, list[2 * i + 1] + first_column);
  }
  const void *const *y = (const void *const *)t->d->out;
  if (per == 1) t->x->kernels->sum_points(rows, step->count, y, t->tile, out, stride);
  else t->x->kernels->outer_points(rows, columns, step->count, y, t->d->in, t->tile, out, stride);
}

/** Terms at hand to the visitor, also as the rows of outputs that are the same sum. `all` is the first row of
 * the sum, block->first_row that of the terms. */
static void show(const pass *t, int64_t all, pcsim_jacobian_block *block) {
  const cpu *c = t->c;
  const jacobian_rows *j = c->jacobian;
  const int64_t first_row = block->first_row;
  block->numbers = t->x->single ? NULL : (const double *)(const void *)t->d->terms;
  block->numbers_single = t->x->single ? (const float *)(const void *)t->d->terms : NULL;
  block->stride = t->tile;
  block->first = t->first;
  block->n = t->n;
  block->thread = t->thread;
  block->part = t->part;
  c->visitor(c->visitor_context, block);
  for (int i = 0; i < j->num_fills; i++) {
    if (j->fills[i].from < 0 || j->fills[i].from != all) continue;
    block->first_row = first_row + j->fills[i].to - all;
    c->visitor(c->visitor_context, block);
  }
}

/** Rows of terms that the first cache takes beside what they are made of. */
static int shown_rows(const pass *t) {
  const size_t rows = (size_t)t->x->kernels->terms_bytes / t->row_bytes;
  return rows > 1 ? (int)rows : 1;
}

/** The terms of a sum shown a few at a time. Of a product so many columns as one call of the kernel takes:
 * they stay in the first cache while the rows pass. */
static void show_terms(const pass *t, const instruction *step, int64_t row) {
  enum { COLUMNS = 8, ROWS = 3 };
  const int m = step->kind == DO_SUM ? 1 : step->rows, n = step->kind == DO_SUM ? step->rows : step->columns;
  const int most = shown_rows(t), few = m < ROWS ? most / m / COLUMNS * COLUMNS : COLUMNS;
  int columns = few < n ? few : n;
  if (columns < 1) columns = 1;
  int rows = most / columns;
  rows = rows < 1 ? 1 : rows > ROWS ? rows / ROWS * ROWS : rows;
  for (int j = 0; j < n; j += columns)
    for (int r = 0; r < m; r += rows) {
      pcsim_jacobian_block block = {.columns = n - j < columns ? n - j : columns, .step = n};
      const int high = m - r < rows ? m - r : rows;
      block.rows = high * block.columns;
      block.first_row = row + (int64_t)r * n + j;
      if (step->kind == DO_SUM) make_terms(t, step, j, (int)block.columns, 0, 0, t->d->terms, t->tile);
      else make_terms(t, step, r, high, j, (int)block.columns, t->d->terms, t->tile);
      show(t, row, &block);
    }
}

/** Rows of zeros: what is differentiated does not depend on these. */
static void show_zeros(const pass *t) {
  const jacobian_rows *j = t->c->jacobian;
  const int most = shown_rows(t);
  for (int i = 0; i < j->num_fills; i++) {
    const row_fill *f = &j->fills[i];
    for (int64_t at = 0; f->from < 0 && at < f->count; at += most) {
      pcsim_jacobian_block block = {.first_row = f->to + at};
      block.rows = block.columns = block.step = f->count - at < most ? f->count - at : most;
      memset(t->d->terms, 0, (size_t)block.rows * t->row_bytes);
      show(t, -1, &block);
    }
  }
}

static void run_terms(const pass *t, const instruction *step) {
  const int64_t row = t->c->jacobian->row[step->out];
  if (row < 0) return;
  const int *list = t->x->plan.list + step->first;
  const int per = step->kind == DO_SUM ? 1 : 2;
  for (int i = 0; i < step->count; i++) {
    clear_end(t, list[per * i], step->rows);
    if (per == 2) clear_end(t, list[2 * i + 1], step->columns);
  }
  if (t->sums_are == SHOW_TERMS) {
    show_terms(t, step, row);
    return;
  }
  char *out = t->block + (size_t)(row * t->stride + t->first - t->block_first) * real_size(t->x);
  make_terms(t, step, 0, step->rows, 0, step->columns, out, t->stride);
}

static void run_sums(const pass *t, const instruction *step) {
  if (t->sums_are != ADD_UP) {
    run_terms(t, step);
    return;
  }
  const int *list = t->x->plan.list + step->first;
  double *sums = t->sums + step->out;
  if (step->kind == DO_SUM) {
    for (int i = 0; i < step->count; i++) {
      clear_end(t, list[i], step->rows);
      t->x->kernels->sum(step->rows, row_at(t, list[i]), t->tile, sums);
    }
    return;
  }
  for (int i = 0; i < step->count; i++) {
    clear_end(t, list[2 * i], step->rows);
    clear_end(t, list[2 * i + 1], step->columns);
    t->d->out[i] = row_at(t, list[2 * i]);
    t->d->in[i] = row_at(t, list[2 * i + 1]);
  }
  t->x->kernels->outer(step->rows, step->columns, step->count, (const void *const *)t->d->out, t->d->in,
                       t->tile, sums);
}

static void to_doubles(const pass *t, const void *in, size_t n, double *out) {
  if (!t->x->single) {
    memcpy(out, in, n * sizeof *out);
    return;
  }
  for (size_t i = 0; i < n; i++) out[i] = (double)((const float *)in)[i];
}

static void from_doubles(const pass *t, const double *in, size_t n, void *out) {
  if (!t->x->single) {
    memcpy(out, in, n * sizeof *in);
    return;
  }
  for (size_t i = 0; i < n; i++) ((float *)out)[i] = (float)in[i];
}

static void run_user(const pass *t, const instruction *step) {
  const plan *p = &t->x->plan;
  const node *n = &p->program->nodes[step->node];
  const size_t count = (size_t)step->rows * (size_t)t->tile, tile = (size_t)t->tile;
  double *out = t->d->scratch + (size_t)step->count * count;
  for (int i = 0; i < step->count; i++) {
    const int row = p->list[step->first + 2 * i], rows = p->list[step->first + 2 * i + 1];
    double *in = t->d->scratch + (size_t)i * count;
    t->d->in[i] = in;
    for (int r = 0; r < step->rows; r++)
      to_doubles(t, row_at(t, row + (rows == 1 ? 0 : r)), tile, in + (size_t)r * tile);
  }
  if (n->kind == NODE_TABLE) {
    exec_table(t->x, step->node, (int64_t)count, t->d->in[0], out);
  } else {
    const pcsim_user_op *op = &p->program->user_ops[n->index];
    op->value(op->context, (int64_t)count, (const double *const *)t->d->in, out);
  }
  from_doubles(t, out, count, row_at(t, step->out));
}

static void run_copy(const pass *t, const instruction *step) {
  const int *list = t->x->plan.list + step->first;
  int row = step->out;
  for (int i = 0; i < step->count; i++) {
    memcpy(row_at(t, row), row_at(t, list[2 * i]), (size_t)list[2 * i + 1] * t->row_bytes);
    row += list[2 * i + 1];
  }
}

static void run_map(const pass *t, const instruction *step) {
  const plan *p = &t->x->plan;
  const int *list = p->list + step->first;
  const size_t tile = (size_t)t->tile;
  double *next = t->d->scratch, *out[MAX_MAP_VALUES];
  for (int i = 0; i < step->count; i++) {
    out[i] = t->x->single ? next : row_at(t, list[2 * i + 1]);
    next += (size_t)p->program->nodes[list[2 * i]].rows * tile;
  }
  exec_map(t->x, step, t->first, t->n, t->tile, out);
  for (int i = 0; i < step->count; i++) {
    const int rows = p->program->nodes[list[2 * i]].rows;
    if (t->x->single) from_doubles(t, out[i], (size_t)rows * tile, row_at(t, list[2 * i + 1]));
    check_rows(t, list[2 * i], 0, rows, row_at(t, list[2 * i + 1]));
  }
}

/** Wait until all tiles before this one have been added. */
static void await_turn(const pass *t) {
  cpu *c = t->x->device_data;
  if (t->x->threads == 1) return;
  while (atomic_load_explicit(&c->turn, memory_order_acquire) < t->number) sched_yield();
}

static void end_turns(const pass *t, int64_t next) {
  cpu *c = t->x->device_data;
  if (t->x->threads > 1) atomic_store_explicit(&c->turn, next, memory_order_release);
}

/** The terms of a Jacobian come after all that is added up. */
static void run_add(const pass *t, const instruction *step) {
  const int *list = t->x->plan.list + step->first;
  const double *rows[MAX_ADDS];
  double *next = t->d->scratch;
  if (t->sums_are != ADD_UP) return;
  for (int i = 0; i < step->count; i++) {
    const void *at = row_at(t, list[3 * i + 1]);
    rows[i] = t->x->single ? next : at;
    if (!t->x->single) continue;
    to_doubles(t, at, (size_t)step->rows * (size_t)t->tile, next);
    next += (size_t)step->rows * (size_t)t->tile;
  }
  await_turn(t);
  exec_add(t->x, step, t->c->s->space, t->first, t->n, t->tile, rows);
}

static void run_store(const pass *t, const instruction *step) {
  double *base = step->b >= 0 ? t->x->stores[step->b] : t->x->outputs[-1 - step->b];
  if (base) t->x->kernels->store(step->rows, t->n, row_at(t, step->a), t->tile, base + t->first * step->rows);
}

static void run_step(const pass *t, const instruction *step) {
  const exec_kernels *k = t->x->kernels;
  switch (step->kind) {
  case DO_LOAD:
    k->load(step->rows, t->n, exec_source(t->x, step->a) + t->first * step->rows, step->rows, t->tile,
            row_at(t, step->out));
    break;
  case DO_FILL:
    for (int r = 0; r < step->rows; r++)
      k->fill(t->tile, t->x->uniform[step->a][r], row_at(t, step->out + r));
    break;
  case DO_ELEMENTWISE:
    run_elementwise(t, step);
    return;
  case DO_GEMM:
    run_gemm(t, step);
    return;
  case DO_OUTER:
  case DO_SUM:
    run_sums(t, step);
    return;
  case DO_ROW_SUM:
    k->row_sum(step->depth, row_at(t, step->a), t->tile, row_at(t, step->out));
    break;
  case DO_COPY:
    run_copy(t, step);
    break;
  case DO_USER:
    run_user(t, step);
    break;
  case DO_MAP:
    run_map(t, step);
    return;
  case DO_ADD:
    run_add(t, step);
    return;
  case DO_STORE:
    run_store(t, step);
    return;
  }
  check_rows(t, step->node, 0, step->rows, row_at(t, step->out));
}

/* ------------------------------------------------------------------- one pass */

static pass begin_pass(const cpu *c, desk *d, int tile) {
  return (pass){.c = c, .x = c->x, .d = d, .tile = tile, .row_bytes = (size_t)tile * real_size(c->x)};
}

/** All instructions for points first .. end - 1, a tile at most. What is made by machine code is not checked,
 * so checks take the kernels. */
static void run_tile(pass *t, int64_t first, int64_t end) {
  const stage *s = t->c->s;
  const exec_code *code = t->tile == t->c->code.tile ? &t->c->code : &t->c->block_code;
  const bool fast = code->num_units && !t->fault && t->tile == code->tile;
  t->first = first;
  t->n = end - first < t->tile ? (int)(end - first) : t->tile;
  for (int j = s->first; j < s->first + s->count; j++) {
    const int unit = fast ? code->unit_of[j] : -1;
    if (unit < 0) {
      run_step(t, &t->x->plan.instructions[j]);
      continue;
    }
    exec_code_run(code, unit, t->x, t->d->tile, first, t->n, t->d->spill, t->d->pad);
    j += code->units[unit].count - 1;
  }
}

static void run_chunk(void *context, int chunk, int thread) {
  cpu *c = context;
  const stage *s = c->s;
  double *sums = s->accumulators ? c->partial + (size_t)chunk * (size_t)s->accumulators : NULL;
  for (int i = 0; sums && i < s->accumulators; i++) sums[i] = 0;
  pass t = begin_pass(c, &c->desks[thread], c->x->plan.tile);
  t.sums = sums;
  t.fault = c->check ? &c->faults[chunk] : NULL;
  int64_t end = (chunk + 1) * c->chunk_tiles;
  if (end > c->tiles) end = c->tiles;
  for (int64_t i = chunk * c->chunk_tiles; i < end; i++) {
    t.number = i;
    run_tile(&t, c->begin + i * t.tile, c->points);
    const bool found = t.fault && t.fault->found;
    if (s->adds) {
      await_turn(&t);
      end_turns(&t, found ? end : i + 1);
    }
    if (found) return;
  }
}

/** Packed weights and repeated numbers that this stage is the first to use. */
static void prepare_stage(cpu *c, const stage *s) {
  const pcsim_executor *x = c->x;
  const plan *p = &x->plan;
  for (int i = s->first_pack; i < s->first_pack + s->num_packs; i++) {
    const node *w = &p->program->nodes[p->packs[i].weight];
    const bool transposed = p->packs[i].transposed;
    x->kernels->pack(transposed ? w->columns : w->rows, transposed ? w->rows : w->columns,
                     x->uniform[p->packs[i].weight], transposed, c->packed + c->pack_place[i]);
  }
  for (int i = s->first_splat; i < s->first_splat + s->num_splats; i++)
    x->kernels->fill(x->kernels->lanes, x->uniform[p->splats[i]][0], c->splats + (size_t)i * SPLAT_BYTES);
  exec_code_prepare(&c->code, (int)(s - p->stages), x->kernels, x->uniform);
  exec_code_prepare(&c->block_code, (int)(s - p->stages), x->kernels, x->uniform);
}

/** Chunks in pairs, pairs of pairs, ...; the result stands in the first. */
static void combine(cpu *c, const stage *s) {
  const size_t n = (size_t)s->accumulators;
  if (!n) return;
  for (size_t j = 0; j < n && !c->chunks; j++) c->partial[j] = 0;
  for (int step = 1; step < c->chunks; step *= 2)
    for (int i = 0; i + step < c->chunks; i += 2 * step) {
      double *a = c->partial + (size_t)i * n;
      const double *b = c->partial + (size_t)(i + step) * n;
      for (size_t j = 0; j < n; j++) a[j] += b[j];
    }
}

static pcsim_status report(const cpu *c) {
  const pcsim_program *g = c->x->plan.program;
  for (int i = 0; i < c->chunks; i++) {
    const fault *f = &c->faults[i];
    if (!f->found) continue;
    char text[128];
    int row = f->row;
    exec_describe(&c->x->plan, f->node, &row, text, sizeof text);
    PCSIM_FAIL(PCSIM_ERR_CASE, "%s is %s at point %lld of '%s' (row %d)", text, exec_bad_name(f->value),
               (long long)f->point, g->spaces[c->s->space], row);
  }
  return PCSIM_OK;
}

/** Deal out `tiles` of points begin .. end - 1 in chunks; of one tile where each waits for the one before it,
 * so that the threads take turns. Sums over points and checks are kept by chunk. */
static void deal(cpu *c, const stage *s, int64_t begin, int64_t end, int64_t tiles) {
  const bool turns = s->adds && c->x->threads > 1 && !s->accumulators && !c->check && tiles <= INT32_MAX;
  c->s = s;
  c->begin = begin;
  c->points = end;
  c->tiles = tiles;
  c->chunk_tiles = turns ? 1 : (c->tiles + MAX_CHUNKS - 1) / MAX_CHUNKS;
  atomic_store(&c->turn, 0);
  c->chunks = c->tiles ? (int)((c->tiles + c->chunk_tiles - 1) / c->chunk_tiles) : 0;
}

/** One pass over all points. */
static void run_pass(cpu *c, const stage *s) {
  const int64_t points = c->x->points[s->space], tile = c->x->plan.tile;
  prepare_stage(c, s);
  deal(c, s, 0, points, (points + tile - 1) / tile);
  memset(c->faults, 0, sizeof c->faults);
  pcsim_pool_run(c->pool, c->chunks, run_chunk, c);
}

static pcsim_status run_stage(cpu *c, int number) {
  const plan *p = &c->x->plan;
  const stage *s = &p->stages[number];
  run_pass(c, s);
  if (c->check) PCSIM_TRY(report(c));
  combine(c, s);
  for (int i = 0; i < p->num_reductions; i++) {
    const point_sum *r = &p->reductions[i];
    if (r->stage != number) continue;
    double *sum = c->x->uniform[r->node];
    memcpy(sum, c->partial + r->offset, (size_t)r->count * sizeof *sum);
    const int64_t bad = c->check && p->exposed[r->node] ? c->x->kernels_double->find_bad(r->count, sum) : -1;
    if (bad < 0) continue;
    char text[128];
    int row = 0;
    exec_describe(p, r->node, &row, text, sizeof text);
    PCSIM_FAIL(PCSIM_ERR_CASE, "%s over the points of '%s' is %s (number %lld of %d)", text,
               p->program->spaces[s->space], exec_bad_name(sum[bad]), (long long)bad, r->count);
  }
  return PCSIM_OK;
}

/** The passes of levels first to last - 1, and what is on no space up to level last. */
static pcsim_status run_levels(pcsim_executor *x, bool check, int last) {
  cpu *c = x->device_data;
  const plan *p = &x->plan;
  c->check = check;
  exec_sums_clear(x);
  for (int level = 0, i = 0; level < p->num_levels && level <= last; level++) {
    if (check) PCSIM_TRY(exec_sums_check(x, level));
    PCSIM_TRY(exec_uniforms(x, level, check));
    for (; i < p->num_stages && p->stages[i].level == level && level < last; i++) PCSIM_TRY(run_stage(c, i));
  }
  return PCSIM_OK;
}

static pcsim_status cpu_run(pcsim_executor *x, bool check) {
  return run_levels(x, check, x->plan.num_levels);
}

/* ------------------------------------------------------------------- Jacobians */

static pcsim_status grow(char **memory, size_t *room, size_t bytes) {
  if (bytes <= *room) return PCSIM_OK;
  pcsim_free(memory);
  *room = 0;
  PCSIM_TRY(pcsim_alloc(bytes, 1, memory));
  *room = bytes;
  return PCSIM_OK;
}

/** Rows that are copies or zeros. */
static void fill_rows(const jacobian_rows *j, char *block, size_t row_bytes) {
  for (int i = 0; i < j->num_fills; i++) {
    const row_fill *f = &j->fills[i];
    char *to = block + (size_t)f->to * row_bytes;
    if (f->from < 0) memset(to, 0, (size_t)f->count * row_bytes);
    else memcpy(to, block + (size_t)f->from * row_bytes, (size_t)f->count * row_bytes);
  }
}

/** All tiles of a part, whose terms are shown as soon as they are made. */
static void visit_part(void *context, int part, int thread) {
  cpu *c = context;
  pass t = begin_pass(c, &c->desks[thread], c->jacobian->tile);
  t.sums_are = SHOW_TERMS;
  t.thread = thread;
  t.part = part;
  int64_t end = (part + 1) * c->chunk_tiles;
  if (end > c->tiles) end = c->tiles;
  for (int64_t i = part * c->chunk_tiles; i < end; i++) {
    run_tile(&t, c->begin + i * t.tile, c->points);
    show_zeros(&t);
  }
}

/** What earlier passes give, and the weights of the pass whose terms are wanted. */
static pcsim_status begin_jacobian(pcsim_executor *x, const jacobian_rows *rows) {
  cpu *c = x->device_data;
  PCSIM_TRY(run_levels(x, false, x->plan.stages[rows->stage].level));
  prepare_stage(c, &x->plan.stages[rows->stage]);
  c->jacobian = rows;
  return PCSIM_OK;
}

/** Bytes for the terms that are shown together: at least one row of any tile. */
static size_t terms_room(const pcsim_executor *x) {
  const size_t row = (size_t)x->plan.tile * real_size(x), room = (size_t)x->kernels->terms_bytes;
  return row > room ? row : room;
}

static pcsim_status cpu_jacobian(pcsim_executor *x, const jacobian_rows *rows,
                                 pcsim_jacobian_visitor *visitor, void *context) {
  cpu *c = x->device_data;
  for (int i = 0; i < x->threads; i++)
    if (!c->desks[i].terms) PCSIM_TRY(pcsim_alloc(terms_room(x), 1, &c->desks[i].terms));
  if (c->code.num_units && rows->tile != c->code.tile && rows->tile != c->block_code.tile) {
    exec_code_destroy(&c->block_code);
    PCSIM_TRY(exec_code_create(&x->plan, x->kernels, rows->tile, &c->block_code));
  }
  PCSIM_TRY(begin_jacobian(x, rows));
  c->visitor = visitor;
  c->visitor_context = context;
  deal(c, &x->plan.stages[rows->stage], rows->first, rows->end,
       (rows->end - rows->first + rows->tile - 1) / rows->tile);
  pcsim_pool_run(c->pool, c->chunks, visit_part, c);
  return PCSIM_OK;
}

/** A tile of the columns that all threads make together. */
static void make_columns(void *context, int number, int thread) {
  cpu *c = context;
  pass t = begin_pass(c, &c->desks[thread], c->x->plan.tile);
  t.sums_are = WRITE_TERMS;
  t.block = c->columns;
  t.block_first = c->begin;
  t.stride = c->stride;
  run_tile(&t, c->begin + (int64_t)number * t.tile, c->points);
}

enum { PRODUCT_ROWS = 96 };
static int product_groups(int64_t rows) { return (int)((rows + PRODUCT_ROWS - 1) / PRODUCT_ROWS); }

/** Rows of the product by groups, the longest first; each number is made by one thread. The rows of a group
 *  stay in the second cache while all rows before them pass. */
static void add_product(void *context, int number, int thread) {
  cpu *c = context;
  (void)thread;
  const int64_t rows = c->jacobian->rows, first = (int64_t)(product_groups(rows) - 1 - number) * PRODUCT_ROWS;
  const int64_t end = first + PRODUCT_ROWS < rows ? first + PRODUCT_ROWS : rows;
  for (int64_t at = 0; at < c->stride; at += c->piece)
    c->x->kernels->gram(first, end, c->stride - at < c->piece ? c->stride - at : c->piece,
                        c->columns + (size_t)at * real_size(c->x), c->stride, c->product, rows);
}

enum { COLUMNS_BYTES = 4 << 20 };

static pcsim_status cpu_product(pcsim_executor *x, const jacobian_rows *rows, double *product) {
  cpu *c = x->device_data;
  const stage *s = &x->plan.stages[rows->stage];
  const int64_t tile = x->plan.tile, size = (int64_t)real_size(x);
  /* Long, since each product of two rows ends with a sum over the lanes and far memory. */
  c->piece = (x->kernels->piece_bytes / size + tile - 1) / tile * tile;
  const int64_t pieces = COLUMNS_BYTES / (rows->rows * c->piece * size);
  const int64_t most = (pieces > 1 ? pieces : 1) * c->piece;
  PCSIM_TRY(grow(&c->columns, &c->columns_room, (size_t)rows->rows * (size_t)most * real_size(x)));
  PCSIM_TRY(begin_jacobian(x, rows));
  c->product = product;
  for (int64_t first = rows->first; first < rows->end; first += most) {
    const int64_t end = rows->end - first < most ? rows->end : first + most;
    deal(c, s, first, end, (end - first + tile - 1) / tile);
    c->stride = c->tiles * tile;
    pcsim_pool_run(c->pool, (int)c->tiles, make_columns, c);
    fill_rows(rows, c->columns, (size_t)c->stride * real_size(x));
    pcsim_pool_run(c->pool, product_groups(rows->rows), add_product, c);
  }
  return PCSIM_OK;
}

const exec_device exec_cpu = {
    .name = "cpu",
    .help = "vector units of this processor, a few threads",
    .create = cpu_create,
    .run = cpu_run,
    .jacobian = cpu_jacobian,
    .product = cpu_product,
    .destroy = cpu_destroy,
};
