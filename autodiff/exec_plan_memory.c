/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_plan_memory.c  Places of values in the arena of a tile. */
#include "exec_plan.h"

typedef struct {
  int first, rows;
} gap;
typedef struct {
  gap *gaps; /**< ascending, never touching */
  int n, end;
} arena;

static int take(arena *a, int rows) {
  for (int i = 0; i < a->n; i++) {
    gap *g = &a->gaps[i];
    if (g->rows < rows) continue;
    const int place = g->first;
    g->first += rows;
    g->rows -= rows;
    if (!g->rows) {
      for (int j = i + 1; j < a->n; j++) a->gaps[j - 1] = a->gaps[j];
      a->n--;
    }
    return place;
  }
  /* A gap at the end is made larger instead of left behind. */
  int place = a->end;
  if (a->n && a->gaps[a->n - 1].first + a->gaps[a->n - 1].rows == a->end) place = a->gaps[--a->n].first;
  a->end = place + rows;
  return place;
}

static void give(arena *a, int first, int rows) {
  int i = 0;
  while (i < a->n && a->gaps[i].first < first) i++;
  for (int j = a->n; j > i; j--) a->gaps[j] = a->gaps[j - 1];
  a->gaps[i] = (gap){first, rows};
  a->n++;
  if (i + 1 < a->n && first + rows == a->gaps[i + 1].first) {
    a->gaps[i].rows += a->gaps[i + 1].rows;
    for (int j = i + 2; j < a->n; j++) a->gaps[j - 1] = a->gaps[j];
    a->n--;
  }
  if (i > 0 && a->gaps[i - 1].first + a->gaps[i - 1].rows == first) {
    a->gaps[i - 1].rows += a->gaps[i].rows;
    for (int j = i + 1; j < a->n; j++) a->gaps[j - 1] = a->gaps[j];
    a->n--;
  }
}

pcsim_status plan_place(tile_buffer *buffers, int n, int num_steps, int *rows) {
  arena a = {0};
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, sizeof *a.gaps, &a.gaps));
  for (int step = 0; step < num_steps; step++) {
    for (int i = 0; i < n; i++)
      if (buffers[i].from == step) buffers[i].place = take(&a, buffers[i].rows);
    for (int i = 0; i < n; i++)
      if (buffers[i].to == step) give(&a, buffers[i].place, buffers[i].rows);
  }
  *rows = a.end;
  pcsim_free(&a.gaps);
  return PCSIM_OK;
}
