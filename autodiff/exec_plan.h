/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_plan.h  Private to the planner: its steps. */
#ifndef PCSIM_AUTODIFF_EXEC_PLAN_H
#define PCSIM_AUTODIFF_EXEC_PLAN_H

#include "exec.h"

bool plan_is_map(node_kind kind);
/** A sum over points that needs a pass. */
bool plan_is_reduction(const pcsim_program *program, pcsim_value v);
pcsim_space plan_reduction_space(const pcsim_program *program, pcsim_value v);
/** The program of `p`, whose passes are known, with values in records; NULL where there is none to be made.
 *  `origin` [values]: as in the plan. Caller frees both (exec_plan_record.c). */
pcsim_status plan_records(const plan *p, pcsim_program **program, int **origin) PCSIM_NODISCARD;
/** Stages with their instructions and places (exec_plan_stage.c). */
pcsim_status plan_stages(plan *p) PCSIM_NODISCARD;

/** A value while it lives in the tile of a stage: rows, the instructions that make and last use it. */
typedef struct {
  int rows, from, to, place;
} tile_buffer;
/** Places for buffers, first fit; returns the rows of the arena (exec_plan_memory.c). */
pcsim_status plan_place(tile_buffer *buffers, int n, int num_steps, int *rows) PCSIM_NODISCARD;

#endif
