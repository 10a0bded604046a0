/* SPDX-License-Identifier: BSD-2-Clause */
/** @file gradient_correct.h  Private to gradient_second.c, gradient_third.c: the step from derivatives of one
 * degree to the next in each cell. The higher ones are a matrix times the differences of the lower ones over
 * the neighbours; the lower ones lose what the higher ones make of them.
 *
 * Per cell and unknown: lower [L], differences [R], out [L + H]; per class and cell: excess [L][H], inverse
 * [H][R]. */
#ifndef PCSIM_SOLVER_GRADIENT_CORRECT_H
#define PCSIM_SOLVER_GRADIENT_CORRECT_H

#include <stdint.h>

typedef struct {
  int m;               /**< unknowns */
  const int *class_of; /**< [m] */
  int64_t n;           /**< cells */
  const double *excess, *inverse;
} gradient_correction;

enum { GRADIENT_HIGHER_MAX = 10 /**< third derivatives in space */ };

/** Inlined where L, H and R are constants. */
static inline __attribute__((always_inline)) void correct_cells(const gradient_correction *c, int L, int H,
                                                                int R, const double *lower,
                                                                const double *differences,
                                                                double *restrict out) {
  for (int64_t cell = 0; cell < c->n; cell++)
    for (int i = 0; i < c->m; i++) {
      const int64_t at = c->class_of[i] * c->n + cell, one = cell * c->m + i;
      const double *excess = c->excess + at * L * H, *inverse = c->inverse + at * H * R;
      const double *D = differences + one * R, *from = lower + one * L;
      double *to = out + one * (L + H), higher[GRADIENT_HIGHER_MAX];
      for (int h = 0; h < H; h++) {
        higher[h] = 0;
        for (int r = 0; r < R; r++) higher[h] += inverse[h * R + r] * D[r];
        to[L + h] = higher[h];
      }
      for (int l = 0; l < L; l++) {
        double sum = from[l];
        for (int h = 0; h < H; h++) sum -= excess[l * H + h] * higher[h];
        to[l] = sum;
      }
    }
}

/** Cotangents: `out` is given, `differences` are set, `lower` are added to. */
static inline void correct_cells_transposed(const gradient_correction *c, int L, int H, int R,
                                            const double *out, double *differences, double *lower) {
  for (int64_t cell = 0; cell < c->n; cell++)
    for (int i = 0; i < c->m; i++) {
      const int64_t at = c->class_of[i] * c->n + cell, one = cell * c->m + i;
      const double *excess = c->excess + at * L * H, *inverse = c->inverse + at * H * R;
      const double *from = out + one * (L + H);
      double *D = differences + one * R, *to = lower + one * L, higher[GRADIENT_HIGHER_MAX];
      for (int h = 0; h < H; h++) {
        higher[h] = from[L + h];
        for (int l = 0; l < L; l++) higher[h] -= excess[l * H + h] * from[l];
      }
      for (int r = 0; r < R; r++) {
        D[r] = 0;
        for (int h = 0; h < H; h++) D[r] += inverse[h * R + r] * higher[h];
      }
      for (int l = 0; l < L; l++) to[l] += from[l];
    }
}

#endif
