/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_kernels.h  Private: the vector kernels, compiled for several instruction sets in both
 * precisions. */
#ifndef PCSIM_AUTODIFF_EXEC_KERNELS_H
#define PCSIM_AUTODIFF_EXEC_KERNELS_H

#include <pcsim/autodiff.h>

/** Elementwise kernels: the operators (same numbers as pcsim_op), then those that only the planner makes. */
enum {
  KERNEL_COPY = PCSIM_NUM_OPS,
  KERNEL_MUL3,   /**< a b c */
  KERNEL_FMA,    /**< a b + c */
  KERNEL_FMS,    /**< a b - c */
  KERNEL_FNMA,   /**< c - a b */
  KERNEL_FMA3,   /**< a b c + d */
  KERNEL_FMS3,   /**< a b c - d */
  KERNEL_FNMA3,  /**< d - a b c */
  KERNEL_MULADD, /**< a b + c d */
  KERNEL_MULSUB, /**< a b - c d */
  NUM_KERNEL_OPS
};

enum { KERNEL_INPUTS = 4 };

/** Operands are arrays of the kernels' number type; a step of 0 repeats the first vector, 1 walks. `n` counts
 *  numbers and is a multiple of `lanes`. */
typedef void elementwise_kernel(int64_t n, void *out, const void *const in[KERNEL_INPUTS],
                                const int64_t step[KERNEL_INPUTS]);

/** Points first .. first + n - 1 of the space that a map writes, as a tile of `tile` points (a multiple of
 * 4): those past n repeat the last. The sources are points of memory [points][stride], `a` the first of their
 * rows that count. */
typedef struct {
  int n, tile;
  int64_t after;         /**< points of the space behind this tile */
  const int64_t *start;  /**< [n + 1] entries of each point, from the first on */
  const int32_t *column; /**< source of each entry; of a gather: of each point, from the first on */
  const double *weight;  /**< [entries][width] */
} map_tile;
/** What back operators read beside a map_tile of the transpose, whose columns are the rows of its entries. */
typedef struct {
  const int64_t *entry;     /**< of each entry of the transpose, from the first of the map on */
  const int64_t *row_start; /**< entries of each row of the map */
  const int32_t *column;    /**< of each entry of the map */
  const double *weight;     /**< of each entry of the map, [width] */
} map_back;
/** What is wanted of the entries of each point; NULL: not wanted. */
typedef struct {
  double *sum; /**< [rows][width][tile] */
  /** [rows][tile]; the first of equal numbers; a first nan stays, later ones do not count; 0 of none. */
  double *low, *high;
} map_outputs;

/** Values of rows with the places of their entries. */
typedef struct {
  const double *y, *place;
  int64_t y_stride, place_stride;
} map_put_source;
enum { MAX_PUTS = 2 };
/** Rows of a tile that are added to the points of an index, or taken away from them. */
typedef struct {
  const double *rows;   /**< [row][tile] */
  const int32_t *index; /**< of each point, from the first of the tile on */
  bool minus;
} map_add_source;
enum { MAX_ADDS = 2 };

typedef struct {
  const char *instructions; /**< "portable", "avx2", "avx512" */
  bool single;
  int lanes;       /**< numbers in a vector */
  int panel;       /**< rows of a packed panel */
  int tile_bytes;  /**< that a tile may take of the second cache of processors with these instructions */
  int terms_bytes; /**< that stay in the first cache beside what terms of a Jacobian are made of */
  int piece_bytes; /**< of a row whose products are summed at a time: OUTER_COLUMNS + 3 fit into the first
                      cache */
  elementwise_kernel *elementwise[NUM_KERNEL_OPS];
  /** Pack W [m][k] (or W^T of W [k][m]) into panels [m / panel][k][panel], zeros below. */
  void (*pack)(int m, int k, const double *weight, bool transposed, void *packed);
  /** y = W x (+ bias) for `count` values of `tile` points: x[i] is [k][tile], y[i] [m][tile], bias[i] [m] or
   * NULL. */
  void (*gemm)(int m, int k, const void *packed, int count, const void *const *x, void *const *y,
               const double *const *bias, int tile);
  /** sum [m][n] += sum over i and points of y[i] x[i]^T; y[i] [m][tile], x[i] [n][tile]. */
  void (*outer)(int m, int n, int count, const void *const *y, const void *const *x, int tile, double *sum);
  /** The terms of `outer` and of sums, point by point: out [m * n][stride] and [m][stride] from the first
   * point of the tile, in the kernels' number type. */
  void (*outer_points)(int m, int n, int count, const void *const *y, const void *const *x, int tile,
                       void *out, int64_t stride);
  void (*sum_points)(int m, int count, const void *const *a, int tile, void *out, int64_t stride);
  /** Rows first .. end - 1 of the lower triangle of c += a a^T; a [rows][stride] with n numbers a row, n a
   * multiple of `lanes`. */
  void (*gram)(int64_t first, int64_t end, int64_t n, const void *a, int64_t stride, double *c,
               int64_t c_stride);
  /** sum [m] += sum over points of a [m][tile]. */
  void (*sum)(int m, const void *a, int tile, double *sum);
  /** out [tile] = sum over rows of a [m][tile]. */
  void (*row_sum)(int m, const void *a, int tile, void *out);
  /** out [rows][tile] = in [n points][rows]; points past n repeat the last. */
  void (*load)(int rows, int n, const double *in, int stride, int tile, void *out);
  /** out [n points][rows] = in [rows][tile]. */
  void (*store)(int rows, int n, const void *in, int tile, double *out);
  /** Maps, always in double: out [rows][tile] of sources with `rows` rows. */
  void (*map_gather)(const map_tile *t, int rows, const double *a, int64_t stride, double *out);
  /** Sums with `width` weights (0: 1 is the weight; then without extrema) and extrema over the entries of
   * each point.
   */
  void (*map_near)(const map_tile *t, int rows, int width, const double *a, int64_t stride,
                   const map_outputs *out);
  /** Transposed sparse map: sum over entries and weights of a [rows][width]; out [rows][tile]. */
  void (*map_transposed)(const map_tile *t, const map_back *back, int rows, int width, const double *a,
                         int64_t stride, double *out);
  /** a of the first entry of each point at which `chosen` is least or greatest, 0 of none. */
  void (*map_pick)(const map_tile *t, int rows, bool max, const double *a, int64_t stride,
                   const double *chosen, int64_t chosen_stride, double *out);
  /** Which entry of its row that is, from 0: of the least, of the greatest of a (NULL: not wanted). */
  void (*map_place)(const map_tile *t, int rows, const double *a, int64_t stride, double *low, double *high);
  /** The transpose of map_pick: y of the rows whose place this is, summed; `count` (MAX_PUTS at most) of the
   * same rows along the same map. */
  void (*map_put)(const map_tile *t, const map_back *back, int rows, int count, const map_put_source *from,
                  double *const *out);
  /** out [points][rows] += the rows of `count` (MAX_ADDS at most) sources, point by point of the tile: n
   * points with `after` more behind them. */
  void (*map_add)(int n, int64_t after, int tile, int rows, int count, const map_add_source *from,
                  double *out);
  /** out [n] = value */
  void (*fill)(int64_t n, double value, void *out);
  /** First of n numbers that is not finite, or -1. */
  int64_t (*find_bad)(int64_t n, const void *a);
} exec_kernels;

/** The best set that this processor has, or the one named ("portable", "avx2", "avx512"); NULL: unknown here.
 */
const exec_kernels *exec_kernels_get(const char *instructions, bool single);
extern const exec_kernels exec_portable_double, exec_portable_single;
#if defined(__x86_64__)
extern const exec_kernels exec_avx2_double, exec_avx2_single, exec_avx512_double, exec_avx512_single;
#endif

#endif
