/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_code_trace.c  Runs of instructions as straight-line programs of single rows. */
#include "exec_code_trace.h"

#include <string.h>

void trace_room(tracer *t, int count, size_t size, void *ptr) {
  if (t->status != PCSIM_OK || (count & (count - 1))) return;
  t->status = pcsim_realloc(count ? 2 * (size_t)count : 1, size, ptr);
}

/* ---------------------------------------------------------------------- values */

static int new_value(tracer *t, code_home home) {
  const int v = t->trace.num_values;
  trace_room(t, v, sizeof *t->trace.homes, &t->trace.homes);
  trace_room(t, v, sizeof *t->mask, &t->mask);
  if (t->status != PCSIM_OK) return 0;
  t->trace.homes[v] = home;
  t->mask[v] = -1;
  return t->trace.num_values++;
}

static void push_step(tracer *t, code_step step) {
  trace_room(t, t->trace.num_steps, sizeof *t->trace.steps, &t->trace.steps);
  if (t->status == PCSIM_OK) t->trace.steps[t->trace.num_steps++] = step;
}

static int add_step(tracer *t, code_op op, int a, int b, int c) {
  const int out = new_value(t, (code_home){CODE_NOWHERE, 0});
  push_step(t, (code_step){.op = op, .out = out, .in = {a, b, c}});
  return out;
}

static int slot_value(tracer *t, int slot) {
  if (t->slot[slot] < 0) t->slot[slot] = new_value(t, (code_home){CODE_CONSTANT, slot});
  return t->slot[slot];
}

/** Row `row` of a value on no space. */
static int constant_value(tracer *t, pcsim_value of, int row) {
  exec_code *c = t->code;
  int i = t->first_constant;
  while (i < c->num_constants && (c->constants[i].node != of || c->constants[i].row != row)) i++;
  if (i == c->num_constants) {
    trace_room(t, i, sizeof *c->constants, &c->constants);
    if (t->status != PCSIM_OK) return 0;
    c->constants[c->num_constants++] = (code_constant){of, row};
    t->status = pcsim_realloc((size_t)(NUM_FIXED_SLOTS + i + 1), sizeof *t->slot, &t->slot);
    if (t->status != PCSIM_OK) return 0;
    t->slot[NUM_FIXED_SLOTS + i] = -1;
  }
  return slot_value(t, NUM_FIXED_SLOTS + i);
}

/* --------------------------------------------------------------------- streams */

static int add_take(tracer *t, code_op op, int stream, int point, int at) {
  const int out = new_value(t, (code_home){CODE_NOWHERE, 0});
  push_step(
      t, (code_step){.op = op, .out = out, .in = {-1, -1, -1}, .stream = stream, .point = point, .at = at});
  return out;
}

/** Row `row` of a stream. Rows come in pairs; the last of an odd number with the one before it. */
static int take_row(tracer *t, int stream, int row) {
  const code_stream *s = &t->trace.streams[stream];
  int *taken = t->taken + t->first_taken[stream];
  const int rows = s->used_bytes / (int)sizeof(double);
  if (taken[row] >= 0) return taken[row];
  if (s->point_bytes == (int)sizeof(double) && s->kind == STREAM_IN) {
    taken[row] = add_take(t, CODE_TAKE, stream, 0, 0);
  } else if (rows == 1) {
    const int low = add_take(t, CODE_TAKE_HALF, stream, 0, 0),
              high = add_take(t, CODE_TAKE_HALF, stream, 2, 0);
    taken[row] = add_step(t, CODE_JOIN, low, high, -1);
  } else {
    const int first = row / 2 * 2 + 1 < rows ? row / 2 * 2 : rows - 2, at = first * (int)sizeof(double);
    const int even = add_take(t, CODE_TAKE_PAIR, stream, 0, at),
              odd = add_take(t, CODE_TAKE_PAIR, stream, 1, at);
    const int low = add_step(t, CODE_UNPACK_LOW, even, odd, -1),
              high = add_step(t, CODE_UNPACK_HIGH, even, odd, -1);
    if (taken[first] < 0) taken[first] = low;
    taken[first + 1] = high;
  }
  return taken[row];
}

static int row_value(tracer *t, int row) {
  if (t->row[row] < 0)
    t->row[row] = t->stream[row] < 0 ? new_value(t, (code_home){CODE_ROW, row})
                                     : take_row(t, t->stream[row], t->stream_row[row]);
  return t->row[row];
}

static int fixed_value(tracer *t, int row) {
  if (!t->wide) return row_value(t, row);
  if (t->fixed[row] < 0) t->fixed[row] = new_value(t, (code_home){CODE_FIXED, row});
  return t->fixed[row];
}

static void set_row(tracer *t, int row, int value) {
  t->row[row] = value;
  t->stream[row] = -1;
  t->written[row] = true;
}

/** A stream of the unit; its number. */
static int add_stream(tracer *t, code_stream s, int step) {
  exec_code *c = t->code;
  const int number = t->trace.num_streams;
  trace_room(t, number, sizeof *t->trace.streams, &t->trace.streams);
  trace_room(t, c->num_streams, sizeof *c->streams, &c->streams);
  if (t->status != PCSIM_OK) return 0;
  t->trace.streams[t->trace.num_streams++] = s;
  c->streams[c->num_streams++] = (unit_stream){s, step};
  return number;
}

/** Rows of the tile that a stream gives when they are wanted. */
static void give_rows(tracer *t, code_stream s, int step, int first, int rows) {
  const int number = add_stream(t, s, step);
  if (t->status == PCSIM_OK)
    t->status = pcsim_realloc((size_t)(t->num_taken + rows), sizeof *t->taken, &t->taken);
  if (t->status != PCSIM_OK) return;
  t->first_taken[number] = t->num_taken;
  for (int r = 0; r < rows; r++) {
    t->taken[t->num_taken++] = -1;
    t->row[first + r] = -1;
    t->stream[first + r] = number;
    t->stream_row[first + r] = r;
    t->written[first + r] = true;
  }
}

static void trace_load(tracer *t, int number) {
  const instruction *step = &t->p->instructions[number];
  const int bytes = step->rows * (int)sizeof(double);
  give_rows(t, (code_stream){STREAM_IN, bytes, bytes, -1}, number, step->out, step->rows);
}

static void trace_gather(tracer *t, int number) {
  const instruction *step = &t->p->instructions[number];
  const int *list = t->p->list + step->first, map = t->p->program->nodes[list[0]].index;
  const int rows = t->p->program->nodes[list[0]].rows;
  const int whole = t->p->program->nodes[step->a].rows;
  int index = 0;
  while (index < t->trace.num_indices && t->index_map[index] != map) index++;
  if (index == t->trace.num_indices) t->index_map[t->trace.num_indices++] = map;
  give_rows(t, (code_stream){STREAM_GATHER, whole * (int)sizeof(double), rows * (int)sizeof(double), index},
            number, list[1], rows);
}

static void add_put(tracer *t, code_op op, int value, int stream, int point, int at) {
  push_step(
      t, (code_step){.op = op, .out = -1, .in = {value, -1, -1}, .stream = stream, .point = point, .at = at});
}

static void trace_store(tracer *t, int number) {
  const instruction *step = &t->p->instructions[number];
  const int rows = step->rows, bytes = rows * (int)sizeof(double);
  const int stream = add_stream(t, (code_stream){STREAM_OUT, bytes, bytes, -1}, number);
  if (rows == 1) {
    add_put(t, CODE_PUT, row_value(t, step->a), stream, 0, 0);
    return;
  }
  for (int r = 0; r < rows; r += 2) {
    const int first = r + 1 < rows ? r : rows - 2, at = first * (int)sizeof(double);
    const int a = row_value(t, step->a + first), b = row_value(t, step->a + first + 1);
    add_put(t, CODE_PUT_PAIR, add_step(t, CODE_UNPACK_LOW, a, b, -1), stream, 0, at);
    add_put(t, CODE_PUT_PAIR, add_step(t, CODE_UNPACK_HIGH, a, b, -1), stream, 1, at);
  }
}

bool trace_takes_points(const plan *p, const instruction *step) {
  if (step->kind == DO_LOAD || step->kind == DO_STORE) return true;
  return step->kind == DO_MAP && p->program->nodes[step->node].kind == NODE_GATHER;
}

/* ------------------------------------------------------------------ operations */

bool trace_is_simple(int op) {
  switch (op) {
  case PCSIM_OP_NEG:
  case PCSIM_OP_ADD:
  case PCSIM_OP_SUB:
  case PCSIM_OP_MUL:
  case PCSIM_OP_DIV:
  case PCSIM_OP_SQRT:
  case PCSIM_OP_FLOOR:
  case PCSIM_OP_ABS:
  case PCSIM_OP_MIN:
  case PCSIM_OP_MAX:
  case PCSIM_OP_LT:
  case PCSIM_OP_LE:
  case PCSIM_OP_EQ:
  case PCSIM_OP_AND:
  case PCSIM_OP_OR:
  case PCSIM_OP_NOT:
  case PCSIM_OP_WHERE:
    return true;
  default:
    return op >= KERNEL_COPY;
  }
}

static int mask_of(tracer *t, int a) {
  return t->status == PCSIM_OK && t->mask[a] >= 0 ? t->mask[a]
                                                  : add_step(t, CODE_NOT_EQ, a, slot_value(t, SLOT_ZERO), -1);
}

/** Ones where the mask is set. */
static int ones(tracer *t, int mask) {
  const int out = add_step(t, CODE_AND, mask, slot_value(t, SLOT_ONE), -1);
  if (t->status == PCSIM_OK) t->mask[out] = mask;
  return out;
}

/** As the kernels: a nan is the result, the first of two equal numbers. */
static int extremum(tracer *t, code_op op, int a, int b) {
  const int of_numbers = add_step(t, op, b, a, -1);
  return add_step(t, CODE_BLEND, add_step(t, CODE_NAN, b, b, -1), b, of_numbers);
}

static int times(tracer *t, int a, int b) { return add_step(t, CODE_MUL, a, b, -1); }

static int translate_kernel(tracer *t, int op, const int in[KERNEL_INPUTS]) {
  const int a = in[0], b = in[1], c = in[2], d = in[3];
  switch (op) {
  case KERNEL_MUL3:
    return times(t, times(t, a, b), c);
  case KERNEL_FMA:
    return add_step(t, CODE_FMA, a, b, c);
  case KERNEL_FMS:
    return add_step(t, CODE_FMS, a, b, c);
  case KERNEL_FNMA:
    return add_step(t, CODE_FNMA, a, b, c);
  case KERNEL_FMA3:
    return add_step(t, CODE_FMA, times(t, a, b), c, d);
  case KERNEL_FMS3:
    return add_step(t, CODE_FMS, times(t, a, b), c, d);
  case KERNEL_FNMA3:
    return add_step(t, CODE_FNMA, times(t, a, b), c, d);
  case KERNEL_MULADD:
    return add_step(t, CODE_FMA, a, b, times(t, c, d));
  case KERNEL_MULSUB:
    return add_step(t, CODE_FMS, a, b, times(t, c, d));
  default: /* COPY, EXPAND_ROW */
    return a;
  }
}

static int translate(tracer *t, int op, const int in[KERNEL_INPUTS]) {
  const int a = in[0], b = in[1];
  switch (op) {
  case PCSIM_OP_NEG:
    return add_step(t, CODE_XOR, a, slot_value(t, SLOT_SIGN), -1);
  case PCSIM_OP_ABS:
    return add_step(t, CODE_AND_NOT, slot_value(t, SLOT_SIGN), a, -1);
  case PCSIM_OP_ADD:
    return add_step(t, CODE_ADD, a, b, -1);
  case PCSIM_OP_SUB:
    return add_step(t, CODE_SUB, a, b, -1);
  case PCSIM_OP_MUL:
    return times(t, a, b);
  case PCSIM_OP_DIV:
    return add_step(t, CODE_DIV, a, b, -1);
  case PCSIM_OP_SQRT:
    return add_step(t, CODE_SQRT, a, -1, -1);
  case PCSIM_OP_FLOOR:
    return add_step(t, CODE_FLOOR, a, -1, -1);
  case PCSIM_OP_MIN:
    return extremum(t, CODE_LESS_OF, a, b);
  case PCSIM_OP_MAX:
    return extremum(t, CODE_MORE_OF, a, b);
  case PCSIM_OP_LT:
    return ones(t, add_step(t, CODE_LT, a, b, -1));
  case PCSIM_OP_LE:
    return ones(t, add_step(t, CODE_LE, a, b, -1));
  case PCSIM_OP_EQ:
    return ones(t, add_step(t, CODE_EQ, a, b, -1));
  case PCSIM_OP_AND:
    return ones(t, add_step(t, CODE_AND, mask_of(t, a), mask_of(t, b), -1));
  case PCSIM_OP_OR:
    return ones(t, add_step(t, CODE_OR, mask_of(t, a), mask_of(t, b), -1));
  case PCSIM_OP_NOT:
    return ones(t, add_step(t, CODE_EQ, a, slot_value(t, SLOT_ZERO), -1));
  case PCSIM_OP_WHERE:
    return add_step(t, CODE_BLEND, mask_of(t, a), b, in[2]);
  default:
    return translate_kernel(t, op, in);
  }
}

/* ---------------------------------------------------------------- instructions */

static int operand_value(tracer *t, const micro *m, int i, int row) {
  const operand *o = &m->in[i];
  if (o->kind == AT_SPLAT) return constant_value(t, t->p->splats[o->index], 0);
  if (o->index < 0) return -1;
  if (o->kind == AT_STRIP) return t->strip[o->index * BODY_ROWS + row];
  return m->op == MICRO_EXPAND_ROW ? fixed_value(t, o->index) : row_value(t, o->index + row);
}

static void trace_micro(tracer *t, const micro *m, int row) {
  int value;
  if (m->op == MICRO_EXPAND_COLUMN) {
    value = constant_value(t, m->node, row);
  } else {
    int in[KERNEL_INPUTS];
    for (int i = 0; i < KERNEL_INPUTS; i++) in[i] = operand_value(t, m, i, row);
    value = translate(t, m->op, in);
  }
  if (t->status != PCSIM_OK) return;
  if (m->out.kind == AT_STRIP) t->strip[m->out.index * BODY_ROWS + row] = value;
  else set_row(t, m->out.index + row, value);
}

void trace_instruction(tracer *t, int number) {
  const instruction *step = &t->p->instructions[number];
  const int *list = t->p->list + step->first;
  const int rows = t->wide ? 1 : step->rows;
  int to = step->out;
  switch (step->kind) {
  case DO_ELEMENTWISE:
    for (int row = 0; row < rows; row++)
      for (int i = step->first; i < step->first + step->count; i++) trace_micro(t, &t->p->micros[i], row);
    break;
  case DO_LOAD:
    trace_load(t, number);
    break;
  case DO_MAP:
    trace_gather(t, number);
    break;
  case DO_STORE:
    trace_store(t, number);
    break;
  case DO_FILL:
    for (int row = 0; row < rows; row++) set_row(t, to + row, constant_value(t, step->a, row));
    break;
  default: /* COPY */
    for (int i = 0; i < step->count; i++)
      for (int row = 0; row < list[2 * i + 1]; row++) set_row(t, to++, row_value(t, list[2 * i] + row));
  }
}

/* -------------------------------------------------------------------- liveness */

static void mark(bool *live, int first, int rows, bool as) {
  for (int r = first; r < first + rows; r++) live[r] = as;
}

/** Rows of the tile that an elementwise instruction reads, or writes. */
static void mark_micros(const plan *p, const instruction *step, bool *live, bool reads) {
  for (int i = step->first; i < step->first + step->count; i++) {
    const micro *m = &p->micros[i];
    if (!reads && m->out.kind == AT_TILE) mark(live, m->out.index, step->rows, false);
    for (int j = 0; reads && j < KERNEL_INPUTS; j++)
      if (m->in[j].kind == AT_TILE && m->in[j].index >= 0)
        mark(live, m->in[j].index, m->op == MICRO_EXPAND_ROW ? 1 : step->rows, true);
  }
}

static void mark_writes(const plan *p, const instruction *step, bool *live) {
  const int *list = p->list + step->first;
  switch (step->kind) {
  case DO_ELEMENTWISE:
    mark_micros(p, step, live, false);
    break;
  case DO_GEMM:
    for (int i = 0; i < step->count; i++) mark(live, list[4 * i + 1], step->rows, false);
    break;
  case DO_MAP:
    for (int i = 0; i < step->count; i++)
      mark(live, list[2 * i + 1], p->program->nodes[list[2 * i]].rows, false);
    break;
  case DO_OUTER:
  case DO_SUM:
  case DO_STORE:
  case DO_ADD:
    break;
  default:
    mark(live, step->out, step->rows, false);
  }
}

static void mark_reads(const plan *p, const instruction *step, bool *live) {
  const int *list = p->list + step->first;
  if (step->kind == DO_ELEMENTWISE) mark_micros(p, step, live, true);
  if (step->kind == DO_STORE) mark(live, step->a, step->rows, true);
  if (step->kind == DO_ROW_SUM) mark(live, step->a, step->depth, true);
  for (int i = 0; i < step->count; i++) {
    if (step->kind == DO_GEMM) mark(live, list[4 * i], step->depth, true);
    if (step->kind == DO_SUM) mark(live, list[i], step->rows, true);
    if (step->kind == DO_ADD) mark(live, list[3 * i + 1], step->rows, true);
    if (step->kind == DO_COPY || step->kind == DO_USER) mark(live, list[2 * i], list[2 * i + 1], true);
    if (step->kind != DO_OUTER) continue;
    mark(live, list[2 * i], step->rows, true);
    mark(live, list[2 * i + 1], step->columns, true);
  }
}

void trace_find_live(tracer *t, const stage *s, int end) {
  memset(t->live, 0, (size_t)s->tile_rows * sizeof *t->live);
  for (int i = s->first + s->count - 1; i >= end; i--) {
    mark_writes(t->p, &t->p->instructions[i], t->live);
    mark_reads(t->p, &t->p->instructions[i], t->live);
  }
}

/* -------------------------------------------------------------------------- all */

void trace_finish(tracer *t, int rows) {
  code_trace *trace = &t->trace;
  code_step *steps = NULL;
  int n = 0;
  t->status = pcsim_alloc((size_t)trace->num_values, sizeof *t->used, &t->used);
  if (t->status != PCSIM_OK) return;
  for (int r = 0; r < rows; r++)
    if (t->written[r] && (t->live[r] || t->wide)) t->used[t->row[r]] = true;
  for (int i = trace->num_steps - 1; i >= 0; i--)
    for (int j = 0; j < CODE_INPUTS && (trace->steps[i].out < 0 || t->used[trace->steps[i].out]); j++)
      if (trace->steps[i].in[j] >= 0) t->used[trace->steps[i].in[j]] = true;
  t->status = pcsim_alloc((size_t)(trace->num_steps + rows), sizeof *steps, &steps);
  if (t->status != PCSIM_OK) return;
  /* Rows written with the result of step i; at the end those with what was not made here. */
  for (int i = 0; i <= trace->num_steps; i++) {
    const code_step *s = i < trace->num_steps ? &trace->steps[i] : NULL;
    if (s && s->out >= 0 && !t->used[s->out]) continue;
    if (s) steps[n++] = *s;
    for (int r = 0; r < rows; r++)
      if (t->written[r] && (t->live[r] || t->wide) &&
          (s ? s->out >= 0 && t->row[r] == s->out : trace->homes[t->row[r]].base != CODE_NOWHERE))
        steps[n++] = (code_step){.op = CODE_STORE, .out = -1, .in = {t->row[r], -1, -1}, .row = r};
  }
  pcsim_free(&trace->steps);
  trace->steps = steps;
  trace->num_steps = n;
}

void trace_streams_end(tracer *t, int rows) {
  for (int r = 0; r < rows; r++)
    if (t->live[r] && t->stream[r] >= 0) row_value(t, r);
}

void trace_begin(tracer *t, int rows) {
  t->trace.num_values = t->trace.num_steps = t->trace.num_streams = t->trace.num_indices = t->num_taken = 0;
  pcsim_free(&t->trace.homes);
  pcsim_free(&t->trace.steps);
  pcsim_free(&t->trace.streams);
  pcsim_free(&t->mask);
  pcsim_free(&t->used);
  pcsim_free(&t->taken);
  for (int r = 0; r < rows; r++) t->row[r] = t->fixed[r] = t->stream[r] = -1;
  memset(t->written, 0, (size_t)rows * sizeof *t->written);
  for (int i = 0; i < NUM_FIXED_SLOTS + t->code->num_constants; i++) t->slot[i] = -1;
}

void trace_free(tracer *t) {
  pcsim_free(&t->trace.homes);
  pcsim_free(&t->trace.steps);
  pcsim_free(&t->trace.streams);
  pcsim_free(&t->mask);
  pcsim_free(&t->used);
  pcsim_free(&t->row);
  pcsim_free(&t->fixed);
  pcsim_free(&t->stream);
  pcsim_free(&t->stream_row);
  pcsim_free(&t->written);
  pcsim_free(&t->live);
  pcsim_free(&t->strip);
  pcsim_free(&t->slot);
  pcsim_free(&t->taken);
}
