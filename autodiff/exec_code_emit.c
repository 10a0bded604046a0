/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_code_emit.c  Machine code of straight-line programs: AVX2 with fused multiply-add, AVX-512
 * where the processor has it and the program neither compares nor reads points.
 *
 *  Registers are given out in one pass; the value that is wanted last makes room (L. A. Belady, IBM Systems
 *  Journal 5 (1966), 78-101). */
#include "exec_code_x86.h"

#include <limits.h>
#include <string.h>

enum { NEVER = INT_MAX };

/** prefix opcode reg, second, rm; second -1: the instruction has none. The forms of AVX-512 all say how wide
 * a number is. */
static void encode(emitter *e, int map, int prefix, bool wide, unsigned opcode, int reg, int second,
                   operand_rm rm) {
  if (e->vector_bytes == 64) code_vector_512(e->out, map, prefix, !e->single, opcode, reg, second, rm);
  else code_vector(e->out, map, prefix, wide, opcode, reg, second, rm);
}

static int packed(const emitter *e) { return e->single ? PREFIX_NONE : PREFIX_66; }

static operand_rm of_home(const emitter *e, code_home h) {
  switch (h.base) {
  case CODE_ROW:
    return of_memory(RDI, h.index * e->row_bytes);
  case CODE_FIXED:
    return of_memory(RSI, h.index * e->row_bytes);
  case CODE_CONSTANT:
    return of_memory(RDX, (int64_t)h.index * CODE_SLOT_BYTES);
  default:
    return of_memory(RCX, (int64_t)h.index * CODE_SLOT_BYTES);
  }
}

static void move_in(emitter *e, int reg, operand_rm from) {
  encode(e, MAP_0F, packed(e), false, 0x10, reg, -1, from);
}
static void move_out(emitter *e, int reg, operand_rm to) {
  encode(e, MAP_0F, packed(e), false, 0x11, reg, -1, to);
}

/* ------------------------------------------------------------------ registers */

static void release(emitter *e, int value) {
  if (e->held[value] >= 0) e->in_register[e->held[value]] = -1;
  e->held[value] = -1;
  if (e->homes[value].base != CODE_SPILL) return;
  e->free_spills[e->num_free++] = e->homes[value].index;
  e->homes[value].base = CODE_NOWHERE;
}

/** Into memory if it is nowhere else, and out of its register. */
static void evict(emitter *e, int reg) {
  const int value = e->in_register[reg];
  if (e->homes[value].base == CODE_NOWHERE) {
    e->homes[value] = (code_home){CODE_SPILL, e->num_free ? e->free_spills[--e->num_free] : e->spills++};
    move_out(e, reg, of_home(e, e->homes[value]));
  }
  e->held[value] = e->in_register[reg] = -1;
}

static int take_register(emitter *e, int value) {
  int best = -1, last = -1;
  for (int r = 0; r < e->num_registers && last < NEVER; r++) {
    const int when = e->in_register[r] < 0 ? NEVER : e->wanted[e->in_register[r]];
    if (e->locked[r] || when <= last) continue;
    best = r;
    last = when;
  }
  if (e->in_register[best] >= 0) evict(e, best);
  e->in_register[best] = value;
  e->held[value] = best;
  return best;
}

/** The value in a register that stays until the step is done. */
static int fetch(emitter *e, int value) {
  if (e->held[value] < 0) {
    const int reg = take_register(e, value);
    move_in(e, reg, of_home(e, e->homes[value]));
  }
  e->locked[e->held[value]] = true;
  return e->held[value];
}

/** The value where it is, if this step is the last to read it or a constant, else in a register. */
static operand_rm fetch_rm(emitter *e, int value, bool last) {
  if (e->held[value] < 0 && (last || e->homes[value].base == CODE_CONSTANT))
    return of_home(e, e->homes[value]);
  return of_register(fetch(e, value));
}

/* ---------------------------------------------------------------------- steps */

/** A register for the result: inputs that this step is the last to read leave theirs first. What they hold in
 * memory is given back last, since making room writes before the step reads. */
static int finish_inputs(emitter *e, int at) {
  const code_step *s = &e->trace->steps[at];
  for (int i = 0; i < CODE_INPUTS; i++) {
    const int value = s->in[i];
    if (value < 0) continue;
    e->wanted[value] = e->later[at][i];
    if (e->wanted[value] != NEVER || e->held[value] < 0) continue;
    e->locked[e->held[value]] = false;
    e->in_register[e->held[value]] = -1;
    e->held[value] = -1;
  }
  const int reg = take_register(e, s->out);
  for (int i = 0; i < CODE_INPUTS; i++)
    if (s->in[i] >= 0 && e->wanted[s->in[i]] == NEVER) release(e, s->in[i]);
  return reg;
}

static bool is_last(const emitter *e, int at, int i) { return e->later[at][i] == NEVER; }

static void emit_two(emitter *e, int at, unsigned opcode, bool commutes, int comparison) {
  const code_step *s = &e->trace->steps[at];
  int a = 0, b = 1;
  if (commutes && e->held[s->in[0]] < 0 && (e->held[s->in[1]] >= 0 || !is_last(e, at, 1))) a = 1, b = 0;
  const int first = fetch(e, s->in[a]);
  const operand_rm second = fetch_rm(e, s->in[b], is_last(e, at, b));
  encode(e, MAP_0F, packed(e), false, opcode, finish_inputs(e, at), first, second);
  if (comparison >= 0) code_put(e->out, (unsigned)comparison);
}

static void emit_one(emitter *e, int at) {
  const code_step *s = &e->trace->steps[at];
  const operand_rm in = fetch_rm(e, s->in[0], is_last(e, at, 0));
  const int out = finish_inputs(e, at);
  if (s->op == CODE_SQRT) {
    encode(e, MAP_0F, packed(e), false, 0x51, out, -1, in);
    return;
  }
  encode(e, MAP_0F3A, PREFIX_66, false, e->single ? 0x08 : 0x09, out, -1, in);
  code_put(e->out, 1); /* down */
}

static void emit_blend(emitter *e, int at) {
  const code_step *s = &e->trace->steps[at];
  const int mask = fetch(e, s->in[0]), no = fetch(e, s->in[2]);
  const operand_rm yes = fetch_rm(e, s->in[1], is_last(e, at, 1));
  encode(e, MAP_0F3A, PREFIX_66, false, e->single ? 0x4A : 0x4B, finish_inputs(e, at), no, yes);
  code_put(e->out, (unsigned)mask << 4);
}

/** Opcodes of a fused operation whose result stands in the place of the addend, of a factor. */
static unsigned fused_opcode(code_op op, bool addend) {
  const unsigned of_fma = addend ? 0xB8 : 0xA8;
  return of_fma + (op == CODE_FMS ? 2u : op == CODE_FNMA ? 4u : 0u);
}

/** The result takes the place of an input that is not wanted any more, of a copy of the addend if there is
 * none. */
static void emit_fused(emitter *e, int at) {
  const code_step *s = &e->trace->steps[at];
  const int a = s->in[0], b = s->in[1], c = s->in[2];
  bool ends[CODE_INPUTS];
  for (int i = 0; i < CODE_INPUTS; i++) ends[i] = is_last(e, at, i) && e->held[s->in[i]] >= 0;
  if (!ends[2] && a != b && (ends[0] || ends[1]) && s->in[ends[0] ? 0 : 1] != c) {
    const int place = ends[0] ? a : b, other = ends[0] ? b : a;
    const int reg = fetch(e, place), factor = fetch(e, other);
    const operand_rm addend = fetch_rm(e, c, is_last(e, at, 2));
    encode(e, MAP_0F38, PREFIX_66, !e->single, fused_opcode(s->op, false), reg, factor, addend);
    release(e, place);
    e->in_register[reg] = s->out;
    e->held[s->out] = reg;
    e->wanted[place] = NEVER;
    for (int i = 0; i < CODE_INPUTS; i++)
      if (s->in[i] != place) {
        e->wanted[s->in[i]] = e->later[at][i];
        if (e->later[at][i] == NEVER) release(e, s->in[i]);
      }
    return;
  }
  int reg;
  if (ends[2] && c != a && c != b) {
    reg = fetch(e, c);
  } else {
    /* A copy: a value without a number until the step is done. */
    const operand_rm from = e->held[c] >= 0 ? of_register(e->held[c]) : of_home(e, e->homes[c]);
    if (e->held[c] >= 0) e->locked[e->held[c]] = true;
    reg = take_register(e, s->out);
    move_in(e, reg, from);
    e->locked[reg] = true;
  }
  const int first = e->held[a] >= 0 || e->held[b] < 0 ? a : b, second = first == a ? b : a;
  const int factor = fetch(e, first);
  const operand_rm rm = fetch_rm(e, second, is_last(e, at, second == b ? 1 : 0));
  encode(e, MAP_0F38, PREFIX_66, !e->single, fused_opcode(s->op, true), reg, factor, rm);
  for (int i = 0; i < CODE_INPUTS; i++) e->wanted[s->in[i]] = e->later[at][i];
  for (int i = 0; i < CODE_INPUTS; i++)
    if (e->wanted[s->in[i]] == NEVER) release(e, s->in[i]);
  e->in_register[reg] = s->out;
  e->held[s->out] = reg;
}

/** A row that another value still needs is read before it is written over. */
static void emit_store(emitter *e, int at) {
  const code_step *s = &e->trace->steps[at];
  const int value = s->in[0], old = e->owner[s->row];
  const code_home to = {CODE_ROW, s->row};
  if (old >= 0 && old != value && e->wanted[old] != NEVER) {
    fetch(e, old);
    e->homes[old].base = CODE_NOWHERE;
  }
  if (old != value) move_out(e, fetch(e, value), of_home(e, to));
  e->wanted[value] = e->later[at][0];
  if (e->wanted[value] == NEVER) {
    release(e, value);
    e->owner[s->row] = -1;
    return;
  }
  if (e->homes[value].base == CODE_NOWHERE || old == value) {
    e->homes[value] = to;
    e->owner[s->row] = value;
  } else e->owner[s->row] = -1;
}

static void emit_take(emitter *e, int at) { streams_take(e, at, take_register(e, e->trace->steps[at].out)); }

static void emit_put(emitter *e, int at) {
  const int value = e->trace->steps[at].in[0];
  streams_put(e, at, fetch(e, value));
  e->wanted[value] = e->later[at][0];
  if (e->wanted[value] == NEVER) release(e, value);
}

/** The lower half of the second beside that of the first. */
static void emit_join(emitter *e, int at) {
  const code_step *s = &e->trace->steps[at];
  const int first = fetch(e, s->in[0]);
  const operand_rm second = fetch_rm(e, s->in[1], is_last(e, at, 1));
  encode(e, MAP_0F3A, PREFIX_66, false, 0x18, finish_inputs(e, at), first, second);
  code_put(e->out, 1);
}

static void emit_step(emitter *e, int at) {
  static const struct {
    unsigned opcode;
    bool commutes;
    int comparison;
  } two[] = {[CODE_ADD] = {0x58, true, -1},         [CODE_SUB] = {0x5C, false, -1},
             [CODE_MUL] = {0x59, true, -1},         [CODE_DIV] = {0x5E, false, -1},
             [CODE_LESS_OF] = {0x5D, false, -1},    [CODE_MORE_OF] = {0x5F, false, -1},
             [CODE_AND] = {0x54, true, -1},         [CODE_AND_NOT] = {0x55, false, -1},
             [CODE_OR] = {0x56, true, -1},          [CODE_XOR] = {0x57, true, -1},
             [CODE_LT] = {0xC2, false, 1},          [CODE_LE] = {0xC2, false, 2},
             [CODE_EQ] = {0xC2, true, 0},           [CODE_NOT_EQ] = {0xC2, true, 4},
             [CODE_NAN] = {0xC2, true, 3},          [CODE_UNPACK_LOW] = {0x14, false, -1},
             [CODE_UNPACK_HIGH] = {0x15, false, -1}};
  const code_op op = e->trace->steps[at].op;
  memset(e->locked, 0, sizeof e->locked);
  switch (op) {
  case CODE_SQRT:
  case CODE_FLOOR:
    emit_one(e, at);
    return;
  case CODE_BLEND:
    emit_blend(e, at);
    return;
  case CODE_FMA:
  case CODE_FMS:
  case CODE_FNMA:
    emit_fused(e, at);
    return;
  case CODE_STORE:
    emit_store(e, at);
    return;
  case CODE_TAKE_PAIR:
  case CODE_TAKE_HALF:
  case CODE_TAKE:
    emit_take(e, at);
    return;
  case CODE_PUT_PAIR:
  case CODE_PUT:
    emit_put(e, at);
    return;
  case CODE_JOIN:
    emit_join(e, at);
    return;
  default:
    emit_two(e, at, two[op].opcode, two[op].commutes, two[op].comparison);
  }
}

/* ----------------------------------------------------------------------- loop */

static void find_uses(emitter *e) {
  const code_trace *t = e->trace;
  for (int v = 0; v < t->num_values; v++) e->wanted[v] = NEVER;
  for (int at = t->num_steps - 1; at >= 0; at--) {
    const code_step *s = &t->steps[at];
    /* The same value twice: both see the next step. */
    for (int i = 0; i < CODE_INPUTS; i++)
      if (s->in[i] >= 0) e->later[at][i] = e->wanted[s->in[i]];
    for (int i = 0; i < CODE_INPUTS; i++)
      if (s->in[i] >= 0) e->wanted[s->in[i]] = at;
  }
}

static int count_rows(const code_trace *t) {
  int rows = 0;
  for (int v = 0; v < t->num_values; v++)
    if (t->homes[v].base == CODE_ROW && t->homes[v].index >= rows) rows = t->homes[v].index + 1;
  for (int i = 0; i < t->num_steps; i++)
    if (t->steps[i].op == CODE_STORE && t->steps[i].row >= rows) rows = t->steps[i].row + 1;
  return rows;
}

static pcsim_status prepare(emitter *e) {
  const code_trace *t = e->trace;
  const size_t values = (size_t)t->num_values, rows = (size_t)count_rows(t);
  PCSIM_TRY(pcsim_alloc((size_t)t->num_steps, sizeof *e->later, &e->later));
  PCSIM_TRY(pcsim_alloc(values, sizeof *e->wanted, &e->wanted));
  PCSIM_TRY(pcsim_alloc(values, sizeof *e->held, &e->held));
  PCSIM_TRY(pcsim_alloc(values, sizeof *e->homes, &e->homes));
  PCSIM_TRY(pcsim_alloc(values, sizeof *e->free_spills, &e->free_spills));
  PCSIM_TRY(pcsim_alloc(rows, sizeof *e->owner, &e->owner));
  for (size_t r = 0; r < rows; r++) e->owner[r] = -1;
  for (int r = 0; r < MAX_REGISTERS; r++) e->in_register[r] = -1;
  for (int v = 0; v < t->num_values; v++) {
    e->held[v] = -1;
    e->homes[v] = t->homes[v];
    if (e->homes[v].base == CODE_ROW) e->owner[e->homes[v].index] = v;
  }
  find_uses(e);
  return PCSIM_OK;
}

/** The body for each vector of the rows: rdi and rsi walk, rax is where rdi ends. */
static void emit_loop(emitter *e) {
  const unsigned char step = (unsigned char)e->vector_bytes,
                      walk[] = {0x48, 0x83, 0xC7, step, /* add rdi, 32 or 64 */
                                0x48, 0x83, 0xC6, step, /* add rsi, 32 or 64 */
                                0x48, 0x39, 0xC7,       /* cmp rdi, rax */
                                0x0F, 0x82},            /* jb */
      back[] = {0xC5, 0xF8, 0x77, 0xC3};                /* vzeroupper, ret */
  code_bytes *out = e->out;
  const bool streams = e->trace->num_streams > 0;
  if (streams) streams_save(e);
  code_put(out, 0x48), code_put(out, 0x8D), code_put(out, 0x87); /* lea rax, [rdi + ...] */
  code_put_32(out, e->loop_bytes);
  const size_t begin = out->size;
  if (streams) streams_begin(e);
  for (int at = 0; at < e->trace->num_steps; at++) emit_step(e, at);
  if (streams) streams_walk(e);
  for (size_t i = 0; i < sizeof walk; i++) code_put(out, walk[i]);
  code_put_32(out, (int64_t)begin - (int64_t)out->size - 4);
  if (streams) streams_restore(e);
  for (size_t i = 0; i < sizeof back; i++) code_put(out, back[i]);
}

/** Comparisons of AVX-512 give masks in registers of their own, and points are read four at a time: programs
 * with these stay with vectors of 32 bytes. */
static bool takes_64(const code_trace *t) {
  for (int i = 0; i < t->num_steps; i++)
    if (t->steps[i].op >= CODE_LT && t->steps[i].op <= CODE_BLEND) return false;
  return t->num_streams == 0;
}

pcsim_status code_emit(const code_trace *trace, bool single, bool avx512, int64_t row_bytes, int rows,
                       code_bytes *out, int *spills) {
  const bool wide = avx512 && takes_64(trace);
  emitter e = {.trace = trace,
               .out = out,
               .single = single,
               .vector_bytes = wide ? 64 : 32,
               .num_registers = wide ? 32 : 16,
               .row_bytes = row_bytes,
               .loop_bytes = rows * row_bytes};
  pcsim_status status = prepare(&e);
  if (status == PCSIM_OK) {
    emit_loop(&e);
    status = out->status;
  }
  *spills = e.spills;
  pcsim_free(&e.later);
  pcsim_free(&e.wanted);
  pcsim_free(&e.held);
  pcsim_free(&e.homes);
  pcsim_free(&e.free_spills);
  pcsim_free(&e.owner);
  return status;
}
