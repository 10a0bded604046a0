/* SPDX-License-Identifier: BSD-2-Clause */
/** @file block.h  Private: sparse matrices of small dense blocks in single precision, their incomplete
 *  factorisation, and an aggregation multigrid built from them. Preconditioners only: the residual that
 *  decides is computed in double elsewhere.
 *
 *  Blocks are m x m with m = 3 or 4, stored by columns of four floats (row 4 is zero for m = 3), so that
 *  y += A x is m fused multiply-adds of one vector register. Vectors are [n][4]. */
#ifndef PCSIM_SOLVER_BLOCK_H
#define PCSIM_SOLVER_BLOCK_H

#include <pcsim/mesh.h>

/** Rows are owned; columns below n are owned, those from n on are ghosts. */
typedef struct {
  int m;
  int64_t n, num_ghosts;
  int64_t *start;    /**< [n + 1] */
  int32_t *column;   /**< ascending within a row */
  int64_t *diagonal; /**< [n] place of (i, i) */
  float *value;      /**< [nnz][m][4] */
} block_matrix;

/** Room for the pattern; values zero. start is taken over by the caller filling it afterwards. */
/** Sort the columns of each row and drop repeated ones; start [n + 1] is closed up. */
void rows_sort(int64_t n, int64_t *start, int32_t *column);
pcsim_status block_matrix_create(int m, int64_t n, int64_t num_ghosts, int64_t nnz,
                                 block_matrix *a) PCSIM_NODISCARD;
void block_matrix_destroy(block_matrix *a);
/** Place of (row, column), -1 if absent. */
int64_t block_matrix_find(const block_matrix *a, int64_t row, int32_t column);
/** r = b - A x; x has n + num_ghosts rows. */
void block_matrix_residual(const block_matrix *a, const float *b, const float *x, float *r);

/** Incomplete LU of the owned square, level of fill k. */
typedef struct {
  int m;
  int64_t n;
  int64_t *start;
  int64_t *upper;  /**< [n] first entry right of the diagonal */
  int32_t *column; /**< without the diagonal */
  float *value;    /**< [nnz][m][4]; lower part scaled by the inverse pivots */
  float *pivot;    /**< [n][m][4] inverse of the diagonal blocks */
} block_ilu;
pcsim_status block_ilu_create(const block_matrix *a, int level, block_ilu *lu) PCSIM_NODISCARD;
/** New values, same pattern. Singular pivots are regularised and counted in `*singular`. */
pcsim_status block_ilu_update(const block_matrix *a, block_ilu *lu, int64_t *singular) PCSIM_NODISCARD;
/** x = (LU)^-1 b; x may be b. */
void block_ilu_solve(const block_ilu *lu, const float *b, float *x);
void block_ilu_destroy(block_ilu *lu);

/** Aggregation multigrid. */
typedef struct multigrid multigrid;
typedef struct {
  int fill;        /**< level of fill of the smoother on the finest level */
  int fill_coarse; /**< on the others */
  int sweeps;      /**< before and after */
  int passes;      /**< pairwise matchings a level: aggregates of up to 2^passes */
  int coarse_size; /**< blocks at which to factorise */
  int cycle;       /**< 1 V, 2 K: two accelerated visits of each coarse level */
  float overcorrection;
} multigrid_options;
multigrid_options multigrid_options_default(int dim);
/** Hierarchy from the fine matrix (borrowed, halo by the mesh). Collective. */
pcsim_status multigrid_create(const pcsim_mesh *mesh, const block_matrix *fine,
                              const multigrid_options *options, multigrid **mg) PCSIM_NODISCARD;
/** New values of the fine matrix, same pattern and aggregates. Collective. */
pcsim_status multigrid_update(multigrid *mg) PCSIM_NODISCARD;
/** x = M b, both [n][4]. Collective. */
pcsim_status multigrid_apply(multigrid *mg, const float *b, float *x) PCSIM_NODISCARD;
void multigrid_destroy(multigrid **mg);
/** Levels and total blocks over blocks of the finest. */
int multigrid_levels(const multigrid *mg, double *complexity);

#endif
