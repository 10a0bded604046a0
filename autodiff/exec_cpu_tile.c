/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_cpu_tile.c  What a pass does with one tile of points, instruction by instruction. */
#include "exec_cpu.h"

#include <sched.h>
#include <string.h>

enum { MAX_MAP_VALUES = 3 };

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
  const size_t strip_bytes = (size_t)(t->tile > STRIP ? t->tile : STRIP) * cpu_real_size(t->x);
  for (int row = 0; row < step->rows; row += per) {
    const int rows = step->rows - row < per ? step->rows - row : per;
    for (int i = step->first; i < step->first + step->count; i++) {
      const micro *m = &p->micros[i];
      const void *in[KERNEL_INPUTS];
      int64_t walk[KERNEL_INPUTS];
      char *out = m->out.kind == AT_TILE ? cpu_row_at(t, m->out.index + row)
                                         : t->d->strips + (size_t)m->out.index * strip_bytes;
      if (m->op == MICRO_EXPAND_ROW) {
        expand_row(t, cpu_row_at(t, m->in[0].index), rows, out);
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
                : o->kind == AT_TILE ? cpu_row_at(t, o->index + row)
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
    t->d->in[i] = cpu_row_at(t, list[4 * i]);
    t->d->out[i] = cpu_row_at(t, list[4 * i + 1]);
    t->d->bias[i] = list[4 * i + 2] < 0 ? NULL : t->x->uniform[list[4 * i + 2]];
  }
  t->x->kernels->gemm(step->rows, step->depth, t->c->packed + t->c->pack_place[step->a], step->count,
                      t->d->in, t->d->out, t->d->bias, t->tile);
  for (int i = 0; i < step->count; i++) check_rows(t, list[4 * i + 3], 0, step->rows, t->d->out[i]);
}

void cpu_clear_end(const pass *t, int row, int rows) {
  const size_t size = cpu_real_size(t->x), keep = (size_t)t->n * size;
  for (int r = 0; r < rows && t->n < t->tile; r++)
    memset((char *)cpu_row_at(t, row + r) + keep, 0, t->row_bytes - keep);
}

static void run_sums(const pass *t, const instruction *step) {
  if (t->sums_are != ADD_UP) {
    cpu_run_terms(t, step);
    return;
  }
  const int *list = t->x->plan.list + step->first;
  double *sums = t->sums + step->out;
  if (step->kind == DO_SUM) {
    for (int i = 0; i < step->count; i++) {
      cpu_clear_end(t, list[i], step->rows);
      t->x->kernels->sum(step->rows, cpu_row_at(t, list[i]), t->tile, sums);
    }
    return;
  }
  for (int i = 0; i < step->count; i++) {
    cpu_clear_end(t, list[2 * i], step->rows);
    cpu_clear_end(t, list[2 * i + 1], step->columns);
    t->d->out[i] = cpu_row_at(t, list[2 * i]);
    t->d->in[i] = cpu_row_at(t, list[2 * i + 1]);
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
      to_doubles(t, cpu_row_at(t, row + (rows == 1 ? 0 : r)), tile, in + (size_t)r * tile);
  }
  if (n->kind == NODE_TABLE) {
    exec_table(t->x, step->node, (int64_t)count, t->d->in[0], out);
  } else {
    const pcsim_user_op *op = &p->program->user_ops[n->index];
    op->value(op->context, (int64_t)count, (const double *const *)t->d->in, out);
  }
  from_doubles(t, out, count, cpu_row_at(t, step->out));
}

static void run_copy(const pass *t, const instruction *step) {
  const int *list = t->x->plan.list + step->first;
  int row = step->out;
  for (int i = 0; i < step->count; i++) {
    memcpy(cpu_row_at(t, row), cpu_row_at(t, list[2 * i]), (size_t)list[2 * i + 1] * t->row_bytes);
    row += list[2 * i + 1];
  }
}

static void run_map(const pass *t, const instruction *step) {
  const plan *p = &t->x->plan;
  const int *list = p->list + step->first;
  const size_t tile = (size_t)t->tile;
  double *next = t->d->scratch, *out[MAX_MAP_VALUES];
  for (int i = 0; i < step->count; i++) {
    out[i] = t->x->single ? next : cpu_row_at(t, list[2 * i + 1]);
    next += (size_t)p->program->nodes[list[2 * i]].rows * tile;
  }
  exec_map(t->x, step, t->first, t->n, t->tile, out);
  for (int i = 0; i < step->count; i++) {
    const int rows = p->program->nodes[list[2 * i]].rows;
    if (t->x->single) from_doubles(t, out[i], (size_t)rows * tile, cpu_row_at(t, list[2 * i + 1]));
    check_rows(t, list[2 * i], 0, rows, cpu_row_at(t, list[2 * i + 1]));
  }
}

void cpu_await_turn(const pass *t) {
  cpu *c = t->x->device_data;
  if (t->x->threads == 1) return;
  while (atomic_load_explicit(&c->turn, memory_order_acquire) < t->number) sched_yield();
}

void cpu_end_turns(const pass *t, int64_t next) {
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
    const void *at = cpu_row_at(t, list[3 * i + 1]);
    rows[i] = t->x->single ? next : at;
    if (!t->x->single) continue;
    to_doubles(t, at, (size_t)step->rows * (size_t)t->tile, next);
    next += (size_t)step->rows * (size_t)t->tile;
  }
  cpu_await_turn(t);
  exec_add(t->x, step, t->c->s->space, t->first, t->n, t->tile, rows);
}

static void run_store(const pass *t, const instruction *step) {
  double *base = step->b >= 0 ? t->x->stores[step->b] : t->x->outputs[-1 - step->b];
  if (base)
    t->x->kernels->store(step->rows, t->n, cpu_row_at(t, step->a), t->tile, base + t->first * step->rows);
}

static void run_step(const pass *t, const instruction *step) {
  const exec_kernels *k = t->x->kernels;
  switch (step->kind) {
  case DO_LOAD:
    k->load(step->rows, t->n, exec_source(t->x, step->a) + t->first * step->rows, step->rows, t->tile,
            cpu_row_at(t, step->out));
    break;
  case DO_FILL:
    for (int r = 0; r < step->rows; r++)
      k->fill(t->tile, t->x->uniform[step->a][r], cpu_row_at(t, step->out + r));
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
    k->row_sum(step->depth, cpu_row_at(t, step->a), t->tile, cpu_row_at(t, step->out));
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
  check_rows(t, step->node, 0, step->rows, cpu_row_at(t, step->out));
}

pass cpu_begin_pass(const cpu *c, desk *d, int tile) {
  return (pass){.c = c, .x = c->x, .d = d, .tile = tile, .row_bytes = (size_t)tile * cpu_real_size(c->x)};
}

void cpu_run_tile(pass *t, int64_t first, int64_t end) {
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
