/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_code.c  Machine code of a plan: which instructions one function makes, memory that runs, calls.
 */
#include "exec_code_trace.h"

#include <string.h>

#if defined(__x86_64__)
#include <sys/mman.h>
#endif

/* ------------------------------------------------------------------------ units */

/** Steps that an elementwise instruction, a copy or a fill adds to a body; -1: it is none that bodies take.
 */
static int count_steps(const plan *p, const instruction *step) {
  if (step->kind == DO_COPY || step->kind == DO_FILL) return step->rows;
  if (step->kind != DO_ELEMENTWISE) return -1;
  for (int j = step->first; j < step->first + step->count; j++)
    if (!trace_is_simple(p->micros[j].op)) return -1;
  return step->rows * step->count;
}

/** May one row of an instruction of many be a body? */
static bool is_wide(const plan *p, const instruction *step) {
  if (step->kind != DO_ELEMENTWISE || step->count > BODY_STEPS) return false;
  for (int j = step->first; j < step->first + step->count; j++)
    if (p->micros[j].op == MICRO_EXPAND_COLUMN) return false;
  return true;
}

/** Instructions that one body takes, from `first` on: 0 if that is no start of one. In double loads and
 * gathers may stand before others, stores behind: what is put is put last. */
static int unit_length(const plan *p, int first, int end, bool single, bool *wide) {
  int steps = 0, streams = 0, length = 0, elementwise = 0;
  bool put = false;
  *wide = false;
  for (int i = first; i < end; i++) {
    const instruction *step = &p->instructions[i];
    if (!single && trace_takes_points(p, step)) {
      put = put || step->kind == DO_STORE;
      if (++streams > MAX_UNIT_STREAMS || (put && step->kind != DO_STORE) || steps > BODY_STEPS) break;
      steps += 3 * step->rows;
      if (put) length = i + 1 - first;
      continue;
    }
    const int more = put ? -1 : count_steps(p, step);
    if (more < 0) break;
    if (step->rows > (step->kind == DO_ELEMENTWISE ? BODY_ROWS : COPIED_ROWS) || steps + more > BODY_STEPS) {
      *wide = i == first && is_wide(p, step);
      return *wide ? 1 : elementwise ? length : 0;
    }
    steps += more;
    elementwise += step->kind == DO_ELEMENTWISE;
    length = i + 1 - first;
  }
  return elementwise ? length : 0;
}

/** Bytes of a tile of all streams and indices of a unit. */
static size_t pad_bytes(int tile, const code_trace *t) {
  size_t bytes = (size_t)t->num_indices * sizeof(int32_t);
  for (int i = 0; i < t->num_streams; i++)
    if (t->streams[i].kind != STREAM_GATHER) bytes += (size_t)t->streams[i].point_bytes;
  return bytes * (size_t)tile;
}

static bool uses_fixed_rows(const code_trace *t) {
  for (int v = 0; v < t->num_values; v++)
    if (t->homes[v].base == CODE_FIXED) return true;
  return false;
}

static pcsim_status make_unit(tracer *t, const stage *s, code_unit *unit, code_bytes *out) {
  const plan *p = t->p;
  const bool single = t->kernels->single, avx512 = !strcmp(t->kernels->instructions, "avx512");
  const size_t real_size = single ? sizeof(float) : sizeof(double);
  trace_begin(t, s->tile_rows);
  trace_find_live(t, s, unit->first + unit->count);
  for (int i = unit->first; i < unit->first + unit->count; i++) {
    const bool put = p->instructions[i].kind == DO_STORE;
    if (put && p->instructions[i - 1].kind != DO_STORE) trace_streams_end(t, s->tile_rows);
    trace_instruction(t, i);
  }
  trace_streams_end(t, s->tile_rows);
  PCSIM_TRY(t->status);
  trace_finish(t, s->tile_rows);
  PCSIM_TRY(t->status);
  int spills = 0;
  unit->offset = out->size;
  unit->num_streams = t->trace.num_streams;
  unit->num_indices = t->trace.num_indices;
  const size_t pad = pad_bytes(t->code->tile, &t->trace);
  if (pad > t->code->pad_bytes) t->code->pad_bytes = pad;
  /* Rows that all read the same row are walked one by one, others as if they were one long row. */
  const int rows = uses_fixed_rows(&t->trace) ? 1 : unit->calls;
  unit->calls /= rows;
  PCSIM_TRY(
      code_emit(&t->trace, single, avx512, (int64_t)t->code->tile * (int64_t)real_size, rows, out, &spills));
  if (spills > t->code->spills) t->code->spills = spills;
  return PCSIM_OK;
}

static pcsim_status make_stage(tracer *t, const stage *s, code_bytes *out) {
  exec_code *c = t->code;
  t->first_constant = c->num_constants;
  for (int i = s->first; i < s->first + s->count;) {
    const int n = unit_length(t->p, i, s->first + s->count, t->kernels->single, &t->wide);
    if (n) {
      trace_room(t, c->num_units, sizeof *c->units, &c->units);
      PCSIM_TRY(t->status);
      code_unit *unit = &c->units[c->num_units];
      *unit = (code_unit){.stage = (int)(s - t->p->stages),
                          .first = i,
                          .count = n,
                          .calls = t->wide ? t->p->instructions[i].rows : 1,
                          .first_stream = c->num_streams};
      PCSIM_TRY(make_unit(t, s, unit, out));
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
  PCSIM_TRY(pcsim_alloc(rows, sizeof *t->stream, &t->stream));
  PCSIM_TRY(pcsim_alloc(rows, sizeof *t->stream_row, &t->stream_row));
  PCSIM_TRY(pcsim_alloc(rows, sizeof *t->written, &t->written));
  PCSIM_TRY(pcsim_alloc(rows, sizeof *t->live, &t->live));
  PCSIM_TRY(pcsim_alloc(strips * BODY_ROWS, sizeof *t->strip, &t->strip));
  PCSIM_TRY(pcsim_alloc(NUM_FIXED_SLOTS, sizeof *t->slot, &t->slot));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_stages + 1, sizeof *code->first_constant, &code->first_constant));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_instructions, sizeof *code->unit_of, &code->unit_of));
  for (int i = 0; i < p->num_instructions; i++) code->unit_of[i] = -1;
  return PCSIM_OK;
}

static pcsim_status make_all(tracer *t, code_bytes *out) {
  const plan *p = t->p;
  PCSIM_TRY(allocate(t, p, t->code));
  for (int i = 0; i < p->num_stages; i++) {
    PCSIM_TRY(make_stage(t, &p->stages[i], out));
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
  pcsim_free(&code->streams);
  pcsim_free(&code->unit_of);
  pcsim_free(&code->constants);
  pcsim_free(&code->first_constant);
  pcsim_free(&code->slots);
  *code = (exec_code){0};
}

pcsim_status exec_code_create(const plan *p, const exec_kernels *kernels, int tile, exec_code *code) {
  tracer t = {.p = p, .kernels = kernels, .code = code};
  code_bytes out = {0};
  *code = (exec_code){.tile = tile};
  if (!strcmp(kernels->instructions, "portable")) return PCSIM_OK;
  pcsim_status status = make_all(&t, &out);
  if (status == PCSIM_OK && code->num_units) {
    const size_t slots = (size_t)(NUM_FIXED_SLOTS + code->num_constants);
    status = pcsim_alloc(slots * CODE_SLOT_BYTES, 1, &code->slots);
    if (status == PCSIM_OK) {
      fill_fixed_slots(code->slots, kernels->single);
      load_code(code, &out);
    }
  }
  trace_free(&t);
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

bool exec_code_is_simple(const node *n) {
  return n->kind == NODE_BROADCAST || (n->kind == NODE_OP && trace_is_simple(n->op));
}

bool exec_code_takes(const pcsim_program *program, pcsim_value v) {
  const node *n = &program->nodes[v];
  if (n->kind == NODE_CONCAT) return n->rows <= COPIED_ROWS;
  return n->rows <= BODY_ROWS && exec_code_is_simple(n);
}

/* --------------------------------------------------------------------- running */

/** Points past n repeat the last. */
static const void *pad_points(const void *from, size_t bytes, int n, int tile, char **pad) {
  char *to = *pad;
  memcpy(to, from, (size_t)n * bytes);
  for (int i = n; i < tile; i++) memcpy(to + (size_t)i * bytes, to + (size_t)(n - 1) * bytes, bytes);
  *pad += (size_t)tile * bytes;
  return to;
}

/** Addresses for the code of points first .. first + n - 1; `out`: where stores go. What is not there, for
 * the whole tile, is put up in `pad`. */
static void find_streams(const exec_code *code, const code_unit *u, const pcsim_executor *x, int64_t first,
                         int n, char *pad, const void **at) {
  const plan *p = &x->plan;
  const int32_t *index[MAX_UNIT_STREAMS];
  for (int i = 0; i < u->num_streams; i++) {
    const unit_stream *s = &code->streams[u->first_stream + i];
    const instruction *step = &p->instructions[s->instruction];
    const size_t bytes = (size_t)s->stream.point_bytes;
    if (s->stream.kind == STREAM_OUT) {
      double *base = step->b >= 0 ? x->stores[step->b] : x->outputs[-1 - step->b];
      at[i] = base + first * step->rows;
      if (base && n == code->tile) continue;
      at[i] = pad;
      pad += (size_t)code->tile * bytes;
    } else if (s->stream.kind == STREAM_IN) {
      at[i] = exec_source(x, step->a) + first * step->rows;
      if (n < code->tile) at[i] = pad_points(at[i], bytes, n, code->tile, &pad);
    } else {
      at[i] = exec_source(x, step->a) + step->a_row;
      index[s->stream.index] = x->maps[p->program->nodes[step->node].index].index + first;
    }
  }
  for (int i = 0; i < u->num_indices; i++) {
    const void *here = index[i];
    const bool ahead = first + code->tile + CODE_AHEAD <= x->points[p->stages[u->stage].space];
    if (n < code->tile) here = pad_points(here, sizeof(int32_t), n, code->tile, &pad);
    at[u->num_streams + 2 * i] = here;
    at[u->num_streams + 2 * i + 1] = ahead ? index[i] + CODE_AHEAD : here;
  }
}

/** What was put into pads. */
static void put_pads(const exec_code *code, const code_unit *u, const pcsim_executor *x, int64_t first, int n,
                     const void *const *at) {
  for (int i = 0; i < u->num_streams && n < code->tile; i++) {
    const unit_stream *s = &code->streams[u->first_stream + i];
    const instruction *step = &x->plan.instructions[s->instruction];
    if (s->stream.kind != STREAM_OUT) continue;
    double *base = step->b >= 0 ? x->stores[step->b] : x->outputs[-1 - step->b];
    if (base) memcpy(base + first * step->rows, at[i], (size_t)n * (size_t)s->stream.point_bytes);
  }
}

void exec_code_run(const exec_code *code, int unit, const pcsim_executor *x, char *tile, int64_t first, int n,
                   char *spill, char *pad) {
  const code_unit *u = &code->units[unit];
  const int64_t row_bytes = code->tile * (int64_t)(x->single ? sizeof(float) : sizeof(double));
  const void *streams[3 * MAX_UNIT_STREAMS], *begin[MAX_UNIT_STREAMS];
  code_function *run;
  const void *at = (const char *)code->memory + u->offset;
  memcpy(&run, &at, sizeof run);
  find_streams(code, u, x, first, n, pad, streams);
  if (u->num_streams) memcpy(begin, streams, (size_t)u->num_streams * sizeof *begin);
  for (int i = 0; i < u->calls; i++) run(tile + i * row_bytes, tile, code->slots, spill, streams);
  put_pads(code, u, x, first, n, begin);
}
