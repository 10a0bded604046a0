/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_cpu_jacobian.c  Terms of sums over points, shown a few rows at a time or gathered for the
 *  symmetric product. */
#include "exec_cpu.h"

#include <string.h>

/** The terms of a sum, point by point: of `rows` and `columns` of it from first_row and first_column on. */
static void make_terms(const pass *t, const instruction *step, int first_row, int rows, int first_column,
                       int columns, char *out, int64_t stride) {
  const int *list = t->x->plan.list + step->first;
  const int per = step->kind == DO_SUM ? 1 : 2;
  for (int i = 0; i < step->count; i++) {
    t->d->out[i] = cpu_row_at(t, list[per * i] + first_row);
    if (per == 2) t->d->in[i] = cpu_row_at(t, list[2 * i + 1] + first_column);
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

void cpu_run_terms(const pass *t, const instruction *step) {
  const int64_t row = t->c->jacobian->row[step->out];
  if (row < 0) return;
  const int *list = t->x->plan.list + step->first;
  const int per = step->kind == DO_SUM ? 1 : 2;
  for (int i = 0; i < step->count; i++) {
    cpu_clear_end(t, list[per * i], step->rows);
    if (per == 2) cpu_clear_end(t, list[2 * i + 1], step->columns);
  }
  if (t->sums_are == SHOW_TERMS) {
    show_terms(t, step, row);
    return;
  }
  char *out = t->block + (size_t)(row * t->stride + t->first - t->block_first) * cpu_real_size(t->x);
  make_terms(t, step, 0, step->rows, 0, step->columns, out, t->stride);
}

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
  pass t = cpu_begin_pass(c, &c->desks[thread], c->jacobian->tile);
  t.sums_are = SHOW_TERMS;
  t.thread = thread;
  t.part = part;
  int64_t end = (part + 1) * c->chunk_tiles;
  if (end > c->tiles) end = c->tiles;
  for (int64_t i = part * c->chunk_tiles; i < end; i++) {
    cpu_run_tile(&t, c->begin + i * t.tile, c->points);
    show_zeros(&t);
  }
}

/** What earlier passes give, and the weights of the pass whose terms are wanted. */
static pcsim_status begin_jacobian(pcsim_executor *x, const jacobian_rows *rows) {
  cpu *c = x->device_data;
  PCSIM_TRY(cpu_run_levels(x, false, x->plan.stages[rows->stage].level));
  cpu_prepare_stage(c, &x->plan.stages[rows->stage]);
  c->jacobian = rows;
  return PCSIM_OK;
}

/** Bytes for the terms that are shown together: at least one row of any tile. */
static size_t terms_room(const pcsim_executor *x) {
  const size_t row = (size_t)x->plan.tile * cpu_real_size(x), room = (size_t)x->kernels->terms_bytes;
  return row > room ? row : room;
}

pcsim_status cpu_jacobian(pcsim_executor *x, const jacobian_rows *rows, pcsim_jacobian_visitor *visitor,
                          void *context) {
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
  cpu_deal(c, &x->plan.stages[rows->stage], rows->first, rows->end,
           (rows->end - rows->first + rows->tile - 1) / rows->tile);
  pcsim_pool_run(c->pool, c->chunks, visit_part, c);
  return PCSIM_OK;
}

/** A tile of the columns that all threads make together. */
static void make_columns(void *context, int number, int thread) {
  cpu *c = context;
  pass t = cpu_begin_pass(c, &c->desks[thread], c->x->plan.tile);
  t.sums_are = WRITE_TERMS;
  t.block = c->columns;
  t.block_first = c->begin;
  t.stride = c->stride;
  cpu_run_tile(&t, c->begin + (int64_t)number * t.tile, c->points);
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
                        c->columns + (size_t)at * cpu_real_size(c->x), c->stride, c->product, rows);
}

enum { COLUMNS_BYTES = 4 << 20 };

pcsim_status cpu_product(pcsim_executor *x, const jacobian_rows *rows, double *product) {
  cpu *c = x->device_data;
  const stage *s = &x->plan.stages[rows->stage];
  const int64_t tile = x->plan.tile, size = (int64_t)cpu_real_size(x);
  /* Long, since each product of two rows ends with a sum over the lanes and far memory. */
  c->piece = (x->kernels->piece_bytes / size + tile - 1) / tile * tile;
  const int64_t pieces = COLUMNS_BYTES / (rows->rows * c->piece * size);
  const int64_t most = (pieces > 1 ? pieces : 1) * c->piece;
  PCSIM_TRY(grow(&c->columns, &c->columns_room, (size_t)rows->rows * (size_t)most * cpu_real_size(x)));
  PCSIM_TRY(begin_jacobian(x, rows));
  c->product = product;
  for (int64_t first = rows->first; first < rows->end; first += most) {
    const int64_t end = rows->end - first < most ? rows->end : first + most;
    cpu_deal(c, s, first, end, (end - first + tile - 1) / tile);
    c->stride = c->tiles * tile;
    pcsim_pool_run(c->pool, (int)c->tiles, make_columns, c);
    fill_rows(rows, c->columns, (size_t)c->stride * cpu_real_size(x));
    pcsim_pool_run(c->pool, product_groups(rows->rows), add_product, c);
  }
  return PCSIM_OK;
}
