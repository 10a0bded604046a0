/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_plan.h  Private to the planner: its steps. */
#ifndef PCSIM_AUTODIFF_EXEC_PLAN_H
#define PCSIM_AUTODIFF_EXEC_PLAN_H

#include "exec.h"

bool plan_is_map(node_kind kind);
/** Does `v` need its input from an earlier pass? Inputs and what was added up are there before a pass begins.
 */
bool plan_reads_earlier(const plan *p, pcsim_value v, pcsim_value root);
/** Which scatter-adds are made in the pass of their inputs, and where they are added up
 * (exec_plan_add.c). */
void plan_adds(plan *p);
/** A sum over points that needs a pass. */
bool plan_is_reduction(const pcsim_program *program, pcsim_value v);
pcsim_space plan_reduction_space(const pcsim_program *program, pcsim_value v);
/** A program written anew, with the values that its values were (as in the plan); both owned by the caller.
 */
typedef struct {
  pcsim_program *to; /**< NULL: the program stays as it is */
  int *origin;       /**< [values], room for `room` */
  int room;
} plan_writing;
/** Append a value that was `origin`, -1: a new one; PCSIM_NO_VALUE with `status` if that fails or has failed.
 */
pcsim_value plan_append(plan_writing *w, const node *n, pcsim_value origin, pcsim_status *status);
void plan_writing_free(plan_writing *w);
/** What SEGMENT_PUT needs of the rows as values of their own (exec_plan_place.c). */
pcsim_status plan_places(const pcsim_program *program, plan_writing *w) PCSIM_NODISCARD;
/** Pass after which each value of `p` stands, not before those of its inputs, and room for the inputs of any
 * value or record; caller frees both. */
pcsim_status plan_order(const plan *p, int **order, pcsim_value **inputs) PCSIM_NODISCARD;
/** The program of `p`, whose passes are known, with values computed again in later passes; `at_least` (owned
 * by the caller): as in the plan, which has none yet (exec_plan_again.c). */
pcsim_status plan_again(const plan *p, plan_writing *w, int **at_least) PCSIM_NODISCARD;
/** A record has this many rows at most: a cache line of doubles. */
enum { RECORD_ROWS = 8 };
/** The program of `p`, whose passes are known, with values in records (exec_plan_record.c). */
pcsim_status plan_records(const plan *p, plan_writing *w) PCSIM_NODISCARD;
/** Stages with their instructions and places (exec_plan_stage.c). */
pcsim_status plan_stages(plan *p) PCSIM_NODISCARD;

/** A value while it lives in the tile of a stage: rows, the instructions that make and last use it. */
typedef struct {
  int rows, from, to, place;
} tile_buffer;
/** Places for buffers, first fit; returns the rows of the arena (exec_plan_memory.c). */
pcsim_status plan_place(tile_buffer *buffers, int n, int num_steps, int *rows) PCSIM_NODISCARD;

#endif
