/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_code_trace.h  Private: instructions of a plan written out as a straight-line program of single
 * rows. */
#ifndef PCSIM_AUTODIFF_EXEC_CODE_TRACE_H
#define PCSIM_AUTODIFF_EXEC_CODE_TRACE_H

#include "exec_code.h"

/* Rows that a body computes side by side, rows that it copies at most; steps that it may have. A body of more
 * rows computes one and is called for each of them. */
enum { BODY_ROWS = 8, COPIED_ROWS = 32, BODY_STEPS = 4000 };
/* Constants of every code. */
enum { SLOT_SIGN, SLOT_ONE, SLOT_ZERO, NUM_FIXED_SLOTS };

/** A unit on its way. */
typedef struct {
  const plan *p;
  const exec_kernels *kernels;
  exec_code *code;
  code_trace trace;
  int *mask;        /**< [values] the mask that a value of ones and zeros comes from, -1 */
  bool *used;       /**< [values] */
  int *row, *fixed; /**< [rows of the tile] value that stands there, -1: not seen yet */
  int *stream;      /**< [rows of the tile] stream that the row comes from when it is first wanted, -1 */
  int *stream_row;  /**< [rows of the tile] */
  bool *written;    /**< [rows of the tile] by this unit */
  bool *live;       /**< [rows of the tile] read after the unit */
  int *strip;       /**< [strips][BODY_ROWS] */
  int *slot;        /**< [slots] value of a constant, -1 */
  int *taken;       /**< [rows of all streams of the unit] value of a row, -1 */
  int num_taken;
  int first_taken[MAX_UNIT_STREAMS], index_map[MAX_UNIT_STREAMS];
  int first_constant; /**< of the stage */
  bool wide;          /**< one row of many */
  pcsim_status status;
} tracer;

/** Grow an array so that it holds one more; capacities are powers of two. */
void trace_room(tracer *t, int count, size_t size, void *ptr);
/** Nothing is known of any row, no steps. `rows` of the tile. */
void trace_begin(tracer *t, int rows);
void trace_instruction(tracer *t, int number);
/** Rows that a stream gives and something behind the unit reads: before anything is put. */
void trace_streams_end(tracer *t, int rows);
/** Steps that something wants, each followed by the rows it is written to. */
void trace_finish(tracer *t, int rows);
/** Rows of the tile that are read after instruction `end` - 1 of a stage. */
void trace_find_live(tracer *t, const stage *s, int end);
void trace_free(tracer *t);
/** Is this a kernel that bodies take? */
bool trace_is_simple(int op);
/** Does an instruction of a body in double take points from memory, or put them there? */
bool trace_takes_points(const plan *p, const instruction *step);

#endif
