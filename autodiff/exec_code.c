/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_code.c  Runs of elementwise instructions as straight-line programs of single rows. */
#include "exec_code.h"

#include <string.h>

#if defined(__x86_64__)
#include <sys/mman.h>
#endif

/* Rows that a body computes side by side; steps that a body may have. A body of more rows computes one and is
 * called for each of them. */
enum { BODY_ROWS = 8, BODY_STEPS = 4000 };
/* Constants of every code. */
enum { SLOT_SIGN, SLOT_ONE, SLOT_ZERO, NUM_FIXED_SLOTS };

/** A unit on its way. */
typedef struct {
  const plan *p;
  exec_code *code;
  code_trace trace;
  int *mask;          /**< [values] the mask that a value of ones and zeros comes from, -1 */
  bool *used;         /**< [values] */
  int *row, *fixed;   /**< [rows of the tile] value that stands there, -1: not seen yet */
  bool *written;      /**< [rows of the tile] by this unit */
  bool *live;         /**< [rows of the tile] read after the unit */
  int *strip;         /**< [strips][BODY_ROWS] */
  int *slot;          /**< [slots] value of a constant, -1 */
  int first_constant; /**< of the stage */
  bool wide;          /**< one row of many */
  pcsim_status status;
} tracer;

/** Grow an array so that it holds one more; capacities are powers of two. */
static void room(tracer *t, int count, size_t size, void *ptr) {
  if (t->status != PCSIM_OK || (count & (count - 1))) return;
  t->status = pcsim_realloc(count ? 2 * (size_t)count : 1, size, ptr);
}

/* ---------------------------------------------------------------------- values */

static int new_value(tracer *t, code_home home) {
  const int v = t->trace.num_values;
  room(t, v, sizeof *t->trace.homes, &t->trace.homes);
  room(t, v, sizeof *t->mask, &t->mask);
  if (t->status != PCSIM_OK) return 0;
  t->trace.homes[v] = home;
  t->mask[v] = -1;
  return t->trace.num_values++;
}

static int add_step(tracer *t, code_op op, int a, int b, int c) {
  const int out = new_value(t, (code_home){CODE_NOWHERE, 0});
  room(t, t->trace.num_steps, sizeof *t->trace.steps, &t->trace.steps);
  if (t->status == PCSIM_OK) t->trace.steps[t->trace.num_steps++] = (code_step){op, out, {a, b, c}, 0};
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
    room(t, i, sizeof *c->constants, &c->constants);
    if (t->status != PCSIM_OK) return 0;
    c->constants[c->num_constants++] = (code_constant){of, row};
    t->status = pcsim_realloc((size_t)(NUM_FIXED_SLOTS + i + 1), sizeof *t->slot, &t->slot);
    if (t->status != PCSIM_OK) return 0;
    t->slot[NUM_FIXED_SLOTS + i] = -1;
  }
  return slot_value(t, NUM_FIXED_SLOTS + i);
}

static int row_value(tracer *t, int row) {
  if (t->row[row] < 0) t->row[row] = new_value(t, (code_home){CODE_ROW, row});
  return t->row[row];
}

static int fixed_value(tracer *t, int row) {
  if (!t->wide) return row_value(t, row);
  if (t->fixed[row] < 0) t->fixed[row] = new_value(t, (code_home){CODE_FIXED, row});
  return t->fixed[row];
}

static void set_row(tracer *t, int row, int value) {
  t->row[row] = value;
  t->written[row] = true;
}

/* ------------------------------------------------------------------ operations */

static bool is_simple(int op) {
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

static void trace_instruction(tracer *t, const instruction *step) {
  const int *list = t->p->list + step->first;
  const int rows = t->wide ? 1 : step->rows;
  int to = step->out;
  switch (step->kind) {
  case DO_ELEMENTWISE:
    for (int row = 0; row < rows; row++)
      for (int i = step->first; i < step->first + step->count; i++) trace_micro(t, &t->p->micros[i], row);
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
    if (step->kind == DO_COPY || step->kind == DO_USER) mark(live, list[2 * i], list[2 * i + 1], true);
    if (step->kind != DO_OUTER) continue;
    mark(live, list[2 * i], step->rows, true);
    mark(live, list[2 * i + 1], step->columns, true);
  }
}

/** Rows of the tile that are read after instruction `end` - 1 of a stage. */
static void find_live(tracer *t, const stage *s, int end) {
  memset(t->live, 0, (size_t)s->tile_rows * sizeof *t->live);
  for (int i = s->first + s->count - 1; i >= end; i--) {
    mark_writes(t->p, &t->p->instructions[i], t->live);
    mark_reads(t->p, &t->p->instructions[i], t->live);
  }
}

/* ------------------------------------------------------------------------ units */

/** Steps that something wants, each followed by the rows it is written to. */
static void finish_trace(tracer *t, int rows) {
  code_trace *trace = &t->trace;
  code_step *steps = NULL;
  int n = 0;
  for (int r = 0; r < rows; r++)
    if (t->written[r] && (t->live[r] || t->wide)) t->used[t->row[r]] = true;
  for (int i = trace->num_steps - 1; i >= 0; i--)
    for (int j = 0; j < CODE_INPUTS && t->used[trace->steps[i].out]; j++)
      if (trace->steps[i].in[j] >= 0) t->used[trace->steps[i].in[j]] = true;
  t->status = pcsim_alloc((size_t)(trace->num_steps + rows), sizeof *steps, &steps);
  if (t->status != PCSIM_OK) return;
  /* Rows written with the result of step i; at the end those with what was not made here. */
  for (int i = 0; i <= trace->num_steps; i++) {
    const code_step *s = i < trace->num_steps ? &trace->steps[i] : NULL;
    if (s && !t->used[s->out]) continue;
    if (s) steps[n++] = *s;
    for (int r = 0; r < rows; r++)
      if (t->written[r] && (t->live[r] || t->wide) &&
          (s ? t->row[r] == s->out : trace->homes[t->row[r]].base != CODE_NOWHERE))
        steps[n++] = (code_step){CODE_STORE, -1, {t->row[r], -1, -1}, r};
  }
  pcsim_free(&trace->steps);
  trace->steps = steps;
  trace->num_steps = n;
}

/** Instructions that one body takes, from `first` on: 0 if that is no start of one. */
static int unit_length(const plan *p, int first, int end, bool *wide) {
  int steps = 0, elementwise = 0, n = 0;
  *wide = false;
  for (int i = first; i < end; i++) {
    const instruction *step = &p->instructions[i];
    if (step->kind != DO_ELEMENTWISE && step->kind != DO_COPY && step->kind != DO_FILL) break;
    bool simple = true, columns = false;
    for (int j = step->first; j < step->first + step->count && step->kind == DO_ELEMENTWISE; j++) {
      simple = simple && is_simple(p->micros[j].op);
      columns = columns || p->micros[j].op == MICRO_EXPAND_COLUMN;
    }
    const int more = step->rows * (step->kind == DO_ELEMENTWISE ? step->count : 1);
    if (!simple) break;
    if (step->rows > BODY_ROWS || steps + more > BODY_STEPS) {
      *wide = n == 0 && step->kind == DO_ELEMENTWISE && !columns && step->count <= BODY_STEPS;
      if (*wide) return 1;
      break;
    }
    steps += more;
    elementwise += step->kind == DO_ELEMENTWISE;
    n++;
  }
  return elementwise ? n : 0;
}

static pcsim_status make_unit(tracer *t, const stage *s, code_unit *unit, bool single, code_bytes *out) {
  const plan *p = t->p;
  const size_t rows = (size_t)s->tile_rows, real_size = single ? sizeof(float) : sizeof(double);
  t->trace.num_values = t->trace.num_steps = 0;
  pcsim_free(&t->trace.homes);
  pcsim_free(&t->trace.steps);
  pcsim_free(&t->mask);
  pcsim_free(&t->used);
  for (size_t r = 0; r < rows; r++) t->row[r] = t->fixed[r] = -1;
  memset(t->written, 0, rows * sizeof *t->written);
  for (int i = 0; i < NUM_FIXED_SLOTS + t->code->num_constants; i++) t->slot[i] = -1;
  for (int i = unit->first; i < unit->first + unit->count; i++) trace_instruction(t, &p->instructions[i]);
  PCSIM_TRY(t->status);
  PCSIM_TRY(pcsim_alloc((size_t)t->trace.num_values, sizeof *t->used, &t->used));
  find_live(t, s, unit->first + unit->count);
  finish_trace(t, s->tile_rows);
  PCSIM_TRY(t->status);
  int spills = 0;
  unit->offset = out->size;
  PCSIM_TRY(code_emit(&t->trace, single, (int64_t)p->tile * (int64_t)real_size, out, &spills));
  if (spills > t->code->spills) t->code->spills = spills;
  return PCSIM_OK;
}

static pcsim_status make_stage(tracer *t, const stage *s, bool single, code_bytes *out) {
  exec_code *c = t->code;
  t->first_constant = c->num_constants;
  for (int i = s->first; i < s->first + s->count;) {
    const int n = unit_length(t->p, i, s->first + s->count, &t->wide);
    if (n) {
      room(t, c->num_units, sizeof *c->units, &c->units);
      PCSIM_TRY(t->status);
      code_unit *unit = &c->units[c->num_units];
      *unit = (code_unit){i, n, t->wide ? t->p->instructions[i].rows : 1, 0};
      PCSIM_TRY(make_unit(t, s, unit, single, out));
      c->unit_of[i] = c->num_units++;
    }
    i += n ? n : 1;
  }
  return PCSIM_OK;
}

static pcsim_status allocate(tracer *t, const plan *p, exec_code *code) {
  size_t rows = 1, strips = 1;
  for (int i = 0; i < p->num_stages; i++) {
    if ((size_t)p->stages[i].tile_rows > rows) rows = (size_t)p->stages[i].tile_rows;
    if ((size_t)p->stages[i].strips > strips) strips = (size_t)p->stages[i].strips;
  }
  PCSIM_TRY(pcsim_alloc(rows, sizeof *t->row, &t->row));
  PCSIM_TRY(pcsim_alloc(rows, sizeof *t->fixed, &t->fixed));
  PCSIM_TRY(pcsim_alloc(rows, sizeof *t->written, &t->written));
  PCSIM_TRY(pcsim_alloc(rows, sizeof *t->live, &t->live));
  PCSIM_TRY(pcsim_alloc(strips * BODY_ROWS, sizeof *t->strip, &t->strip));
  PCSIM_TRY(pcsim_alloc(NUM_FIXED_SLOTS, sizeof *t->slot, &t->slot));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_stages + 1, sizeof *code->first_constant, &code->first_constant));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_instructions, sizeof *code->unit_of, &code->unit_of));
  for (int i = 0; i < p->num_instructions; i++) code->unit_of[i] = -1;
  return PCSIM_OK;
}

static pcsim_status make_all(tracer *t, bool single, code_bytes *out) {
  const plan *p = t->p;
  PCSIM_TRY(allocate(t, p, t->code));
  for (int i = 0; i < p->num_stages; i++) {
    PCSIM_TRY(make_stage(t, &p->stages[i], single, out));
    t->code->first_constant[i + 1] = t->code->num_constants;
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------ what runs */

/** The bit patterns that every code uses. */
static void fill_fixed_slots(char *slots, bool single) {
  const float signs = -0.0f, unit = 1;
  const double sign = -0.0, one = 1;
  const size_t size = single ? sizeof signs : sizeof sign;
  for (size_t i = 0; i < CODE_SLOT_BYTES; i += size) {
    memcpy(slots + SLOT_SIGN * CODE_SLOT_BYTES + i, single ? (const void *)&signs : (const void *)&sign,
           size);
    memcpy(slots + SLOT_ONE * CODE_SLOT_BYTES + i, single ? (const void *)&unit : (const void *)&one, size);
  }
}

/** Into memory that runs; none if the system gives none. */
static void load_code(exec_code *code, const code_bytes *bytes) {
#if defined(__x86_64__)
  void *memory = mmap(NULL, bytes->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  memcpy(memory, bytes->bytes, bytes->size);
  code->memory = memory;
  code->memory_bytes = bytes->size;
  if (!mprotect(memory, bytes->size, PROT_READ | PROT_EXEC)) return;
  munmap(memory, bytes->size);
  code->memory = NULL;
#else
  (void)code;
  (void)bytes;
#endif
}

void exec_code_destroy(exec_code *code) {
#if defined(__x86_64__)
  if (code->memory) munmap(code->memory, code->memory_bytes);
#endif
  pcsim_free(&code->units);
  pcsim_free(&code->unit_of);
  pcsim_free(&code->constants);
  pcsim_free(&code->first_constant);
  pcsim_free(&code->slots);
  *code = (exec_code){0};
}

pcsim_status exec_code_create(const plan *p, const exec_kernels *kernels, exec_code *code) {
  tracer t = {.p = p, .code = code};
  code_bytes out = {0};
  *code = (exec_code){0};
  if (!strcmp(kernels->instructions, "portable")) return PCSIM_OK;
  pcsim_status status = make_all(&t, kernels->single, &out);
  if (status == PCSIM_OK && code->num_units) {
    const size_t slots = (size_t)(NUM_FIXED_SLOTS + code->num_constants);
    status = pcsim_alloc(slots * CODE_SLOT_BYTES, 1, &code->slots);
    if (status == PCSIM_OK) {
      fill_fixed_slots(code->slots, kernels->single);
      load_code(code, &out);
    }
  }
  pcsim_free(&t.trace.homes);
  pcsim_free(&t.trace.steps);
  pcsim_free(&t.mask);
  pcsim_free(&t.used);
  pcsim_free(&t.row);
  pcsim_free(&t.fixed);
  pcsim_free(&t.written);
  pcsim_free(&t.live);
  pcsim_free(&t.strip);
  pcsim_free(&t.slot);
  pcsim_free(&out.bytes);
  if (status != PCSIM_OK || !code->memory) exec_code_destroy(code);
  if (status != PCSIM_OK) return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  return PCSIM_OK;
}

void exec_code_prepare(exec_code *code, int number, const exec_kernels *kernels, double *const *uniform) {
  if (!code->num_units) return;
  for (int i = code->first_constant[number]; i < code->first_constant[number + 1]; i++)
    kernels->fill(kernels->lanes, uniform[code->constants[i].node][code->constants[i].row],
                  code->slots + (size_t)(NUM_FIXED_SLOTS + i) * CODE_SLOT_BYTES);
}

bool exec_code_takes(const pcsim_program *program, pcsim_value v) {
  const node *n = &program->nodes[v];
  if (n->rows > BODY_ROWS) return false;
  return n->kind == NODE_CONCAT || n->kind == NODE_BROADCAST || (n->kind == NODE_OP && is_simple(n->op));
}

void exec_code_run(const exec_code *code, int unit, char *tile, int64_t row_bytes, char *spill) {
  const code_unit *u = &code->units[unit];
  code_function *run;
  const void *at = (const char *)code->memory + u->offset;
  memcpy(&run, &at, sizeof run);
  for (int i = 0; i < u->calls; i++) run(tile + i * row_bytes, tile, code->slots, spill);
}
