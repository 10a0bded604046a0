/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_code_stream.c  Machine code that reads and writes points in memory: rows of four points at a
 * time, turned on the way.
 *
 *  Two rows of four points are two vectors of 16-byte halves (points 0 and 2, 1 and 3) and two unpackings.
 *  Addresses are made when they are wanted and stay in a few registers, the one used longest ago makes room.
 */
#include "exec_code_x86.h"

/* Those that hold addresses; one more to work with. The addresses of streams are at r8. */
static const int address_registers[NUM_ADDRESSES] = {R9, R10, RBX, RBP, R12, R13, R14, R15};
enum { FRAME = R8, SCRATCH = R11, NUM_SAVED = 6, LINE = 64, VECTOR_POINTS = 4 };
static const int saved[NUM_SAVED] = {RBX, RBP, R12, R13, R14, R15};

void streams_save(emitter *e) {
  for (int i = 0; i < NUM_SAVED; i++) code_push(e->out, saved[i]);
}

void streams_restore(emitter *e) {
  for (int i = NUM_SAVED - 1; i >= 0; i--) code_pop(e->out, saved[i]);
}

static operand_rm frame_slot(int slot) { return of_memory(FRAME, 8 * (int64_t)slot); }

/** Slot of the entries of an index, of those further on. */
static int index_slot(const emitter *e, int index, bool ahead) {
  return e->trace->num_streams + 2 * index + ahead;
}

static void move_from(emitter *e, int reg, operand_rm from) { code_integer(e->out, 0x8B, reg, from); }

/** reg: address of the point whose number is `entry`, of a gather. */
static void find_point(emitter *e, int stream, int reg, operand_rm entry) {
  const int64_t bytes = e->trace->streams[stream].point_bytes;
  code_integer(e->out, 0x63, reg, entry); /* sign-extended from 32 bits */
  int shift = 0;
  while ((int64_t)1 << shift < bytes) shift++;
  if ((int64_t)1 << shift == bytes) {
    code_integer(e->out, 0xC1, 4, of_register(reg));
    code_put(e->out, (unsigned)shift);
  } else {
    code_integer(e->out, 0x69, reg, of_register(reg));
    code_put_32(e->out, bytes);
  }
  code_integer(e->out, 0x03, reg, frame_slot(stream));
}

/** Register for a key, where it is already or the one used longest ago. */
static int find_register(emitter *e, int stream, int point, int at, bool *there) {
  int oldest = 0;
  *there = false;
  for (int i = 0; i < NUM_ADDRESSES; i++) {
    const address_register *r = &e->addresses[i];
    *there = r->stream == stream && r->point == point;
    if (*there || r->used < e->addresses[oldest].used) oldest = i;
    if (*there) break;
  }
  e->addresses[oldest] = (address_register){stream, point, at};
  return address_registers[oldest];
}

/** Where row bytes `bytes` of `point` are. */
static operand_rm find_address(emitter *e, int at, int point, int64_t bytes) {
  const int stream = e->trace->steps[at].stream;
  const code_stream *s = &e->trace->streams[stream];
  const bool gather = s->kind == STREAM_GATHER;
  bool there;
  const int reg = find_register(e, stream, gather ? point : 0, at, &there);
  if (!there && !gather) move_from(e, reg, frame_slot(stream));
  if (!there && gather) {
    move_from(e, SCRATCH, frame_slot(index_slot(e, s->index, false)));
    find_point(e, stream, reg, of_memory(SCRATCH, 4 * (int64_t)point));
  }
  return of_memory(reg, bytes + (gather ? 0 : (int64_t)point * s->point_bytes));
}

void streams_take(emitter *e, int at, int reg) {
  const code_step *s = &e->trace->steps[at];
  if (s->op == CODE_TAKE) {
    code_vector(e->out, MAP_0F, PREFIX_66, false, 0x10, reg, -1, find_address(e, at, 0, s->at));
    return;
  }
  const bool pair = s->op == CODE_TAKE_PAIR;
  const operand_rm first = find_address(e, at, s->point, s->at);
  code_vector(e->out, MAP_0F, (pair ? PREFIX_66 : PREFIX_F2) | NARROW, false, 0x10, reg, -1, first);
  const operand_rm second = find_address(e, at, s->point + (pair ? 2 : 1), s->at);
  if (!pair) {
    code_vector(e->out, MAP_0F, PREFIX_66 | NARROW, false, 0x16, reg, reg, second);
    return;
  }
  code_vector(e->out, MAP_0F3A, PREFIX_66, false, 0x18, reg, reg, second);
  code_put(e->out, 1);
}

void streams_put(emitter *e, int at, int reg) {
  const code_step *s = &e->trace->steps[at];
  const operand_rm first = find_address(e, at, s->point, s->at);
  if (s->op == CODE_PUT) {
    code_vector(e->out, MAP_0F, PREFIX_66, false, 0x11, reg, -1, first);
    return;
  }
  code_vector(e->out, MAP_0F, PREFIX_66 | NARROW, false, 0x11, reg, -1, first);
  code_vector(e->out, MAP_0F3A, PREFIX_66, false, 0x19, reg, -1, find_address(e, at, s->point + 2, s->at));
  code_put(e->out, 1);
}

/** The lines of the same four points of the tile that follows: a tile's part of one array is too short for
 * the processor to notice that it goes on. Past the end of an array it does no harm. */
static void fetch_tile(emitter *e, int stream) {
  const code_stream *s = &e->trace->streams[stream];
  const int64_t points = e->row_bytes / (int64_t)sizeof(double), bytes = VECTOR_POINTS * s->point_bytes;
  move_from(e, SCRATCH, frame_slot(stream));
  for (int64_t i = 0; i < bytes; i += LINE) {
    const operand_rm line = of_memory(SCRATCH, points * s->point_bytes + i);
    if (s->kind == STREAM_OUT) code_memory(e->out, 0x0D, 1, line); /* prefetchw */
    else code_memory(e->out, 0x18, 2, line);                       /* prefetcht1 */
  }
}

/** The points that an index names further on. */
static void fetch_points(emitter *e, int stream) {
  const code_stream *s = &e->trace->streams[stream];
  for (int point = 0; point < VECTOR_POINTS; point++) {
    move_from(e, SCRATCH, frame_slot(index_slot(e, s->index, true)));
    find_point(e, stream, SCRATCH, of_memory(SCRATCH, 4 * (int64_t)point));
    code_memory(e->out, 0x18, 1, of_memory(SCRATCH, 0)); /* prefetcht0 */
    if (s->used_bytes > LINE / 2 && s->point_bytes % LINE)
      code_memory(e->out, 0x18, 1, of_memory(SCRATCH, s->used_bytes - 1));
  }
}

void streams_begin(emitter *e) {
  for (int i = 0; i < NUM_ADDRESSES; i++) e->addresses[i] = (address_register){-1, 0, -1};
  for (int i = 0; i < e->trace->num_streams; i++) {
    if (e->trace->streams[i].kind == STREAM_GATHER) fetch_points(e, i);
    else fetch_tile(e, i);
  }
}

static void walk(emitter *e, int slot, int64_t bytes) {
  code_integer(e->out, 0x81, 0, frame_slot(slot));
  code_put_32(e->out, bytes);
}

void streams_walk(emitter *e) {
  const code_trace *t = e->trace;
  for (int i = 0; i < t->num_streams; i++)
    if (t->streams[i].kind != STREAM_GATHER) walk(e, i, VECTOR_POINTS * (int64_t)t->streams[i].point_bytes);
  for (int i = 0; i < t->num_indices; i++)
    for (int ahead = 0; ahead < 2; ahead++) walk(e, index_slot(e, i, ahead), VECTOR_POINTS * 4);
}
