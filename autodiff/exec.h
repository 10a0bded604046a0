/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec.h  Private to autodiff/: the plan of a program, the kernels and the device table.
 *
 *  A plan is a list of stages. A stage is what can be computed for one index space in one pass over tiles of
 *  points; a value that a later stage or a map needs is stored for the whole space in between, nothing else
 *  is. Inside a tile a value is [row][point of the tile]; places are counted in rows. */
#ifndef PCSIM_AUTODIFF_EXEC_H
#define PCSIM_AUTODIFF_EXEC_H

#include "exec_kernels.h"
#include "graph.h"

/** Where an operand of an elementwise step is read. */
typedef enum {
  AT_TILE,  /**< rows of the tile from `index` */
  AT_STRIP, /**< strip buffer `index` */
  AT_SPLAT  /**< one number for all: splat `index` */
} operand_kind;
typedef struct {
  operand_kind kind;
  int index;
} operand;

/** One elementwise step on a strip. EXPAND_ROW repeats one row of the tile, EXPAND_COLUMN the numbers of a
 *  column that is the same for all points. */
typedef struct {
  int op; /**< a kernel_op, or one of the two below */
  pcsim_value node;
  operand out, in[KERNEL_INPUTS];
} micro;
enum { MICRO_EXPAND_ROW = NUM_KERNEL_OPS, MICRO_EXPAND_COLUMN };

typedef enum {
  DO_LOAD,        /**< `a`: source (see `source`), transposed into the tile */
  DO_FILL,        /**< rows of a value on no space, repeated for all points */
  DO_ELEMENTWISE, /**< micro steps first .. first + count - 1 */
  DO_GEMM,        /**< packed weight `a` on `count` values; list: x, y, bias (a value or -1) */
  DO_OUTER,       /**< accumulator at `out`; list: y, x */
  DO_SUM,         /**< accumulator at `out`; list: rows summed */
  DO_ROW_SUM,
  DO_COPY, /**< parts of a concatenation; list: from, to, rows */
  DO_USER, /**< operators of the host and tables; list: the inputs as `user_input` */
  DO_MAP,  /**< `a`, `b`: sources; list: value, to; several: sums and extrema over the same entries */
  DO_ADD,  /**< tile rows to the points of maps: list: map, rows, 1 if they are taken away; into `node` */
  DO_STORE /**< tile rows at `a` to store `b` */
} instruction_kind;

/** What one pass over a tile does, in order. */
typedef struct {
  instruction_kind kind;
  pcsim_value node;
  int rows, columns; /**< of the result (of the outer product) */
  int out;           /**< first row in the tile, or offset of the accumulator */
  int a, b, a_row, b_row;
  int first, count; /**< range in plan.micros or plan.list */
  int depth;        /**< GEMM: inner length */
} instruction;

typedef struct {
  pcsim_space space;
  int level;
  int first, count; /**< instructions */
  int tile_rows;    /**< rows of the arena of a tile */
  int strips;       /**< strip buffers */
  int accumulators; /**< numbers a chunk sums */
  int first_pack, num_packs;
  int first_splat, num_splats;
  bool adds; /**< has a DO_ADD: its tiles are added one after the other */
} stage;

/** A weight in the order in which the kernel reads it. */
typedef struct {
  pcsim_value weight;
  bool transposed;
} pack;
/** Sum over points: the accumulators of its stage that become the value. */
typedef struct {
  pcsim_value node;
  int stage, offset, count;
} point_sum;

typedef struct {
  pcsim_program *program; /**< with values in records where that is of use */
  int *origin; /**< [nodes] value of the program that was given, -1: a record; NULL: all as they were */
  int tile, lanes, panel; /**< points a tile; points in a vector; rows of a packed panel */
  int *root, *root_row;   /**< slices and frozen values on a space are rows of another value */
  int *at_least;          /**< [nodes] pass before which a value is not computed; NULL: 0 of all */
  int *level;             /**< stage level of a value on a space; level at which one on no space is there */
  bool *live;
  bool *exposed; /**< what is not finite in it reaches an output in other ways than a choice may leave out */
  int *uses;
  pcsim_value *added_to; /**< of a scatter-add made in the pass of its input, and of sums of such: the value
                            in whose store it is added up, itself when alone; -1: no such value */
  bool *taken_away;      /**< of those: with a minus */
  int *stored;           /**< store of a value, -1: none */
  int *merged; /**< sum of sums: the value whose accumulators it shares, itself when alone, -1: no sum */
  pcsim_value *merged_leaf; /**< one of the sums over points that a sum of sums consists of */
  int num_stores;
  pcsim_value *store_node;
  int num_levels;
  int num_stages, num_instructions, num_micros, num_list, num_packs, num_splats, num_reductions, num_uniforms;
  stage *stages;
  instruction *instructions;
  micro *micros;
  int *list;
  pack *packs;
  pcsim_value *splats;
  point_sum *reductions;
  pcsim_value *uniforms; /**< values on no space that are computed, by level */
} plan;

/** Stages and places for kernels with `lanes` and `panel`; tile 0: chosen. */
pcsim_status plan_create(const pcsim_program *program, int tile, const exec_kernels *kernels,
                         plan *p) PCSIM_NODISCARD;
void plan_destroy(plan *p);
/** The value and its row in the program that was given. */
void plan_origin(const plan *p, pcsim_value *v, int *row);
/** A sum over points of a value that is the same at all of them: no pass over points is needed. */
bool plan_is_count(const pcsim_program *program, pcsim_value v);

/* ----------------------------------------------------------- bound data, run */

/** A map with what is bound to it. The transpose is made when a back operator first needs it. */
typedef struct {
  const int32_t *index;  /**< index map: [points of to] */
  const int64_t *start;  /**< sparse map: [points of to + 1] */
  const int32_t *column; /**< [start of the end] */
  const double *weight;  /**< [entries][width]; may be NULL if no weights are needed */
  bool checked, transposed;
  int64_t *back_start; /**< [points of from + 1]; owned */
  int64_t *back_entry; /**< entries of each point of `from`, in ascending order; owned */
  int32_t *back_row;   /**< the row of each of them; owned */
} bound_map;

typedef struct exec_device exec_device;

struct pcsim_executor {
  plan plan;
  const exec_kernels *kernels;
  const exec_kernels *kernels_double; /**< for values on no space */
  const exec_device *device;
  void *device_data;
  int threads;
  bool single, interpreted;
  int64_t *points;       /**< [spaces], -1: not given */
  const double **inputs; /**< [names] */
  double **outputs;      /**< [outputs] */
  bound_map *maps;       /**< [maps] */
  double **uniform; /**< [nodes] values on no space [rows][columns], padded to whole vectors; else NULL */
  double *uniform_block;      /**< owned memory of all of them */
  int64_t *block_row;         /**< [accumulators of the largest stage]: rows of Jacobians */
  struct row_fill *row_fills; /**< [outputs] */
  double **stores;            /**< [stores][points][rows] */
  int64_t *store_room;
  double **in_place; /**< [stores] output in which values are added up during a run; NULL: in the store */
};

/** Rows of a block that are no terms of their own: a copy of others, or zeros (from -1). */
typedef struct row_fill {
  int64_t to, from, count;
} row_fill;

/** Terms of the sums over points of stage `stage`: the sum at accumulator k has the rows from row[k] of a
 *  block [rows][points of the block], row[k] < 0: none. */
typedef struct {
  int stage;
  const int64_t *row;
  const row_fill *fills;
  int num_fills;
  int64_t rows, first, end; /**< points first .. end - 1 */
  int tile;                 /**< of a visit: that of the plan or a smaller one */
} jacobian_rows;

/** A back end. `run` and the others find everything bound, checked and stored by the common part. */
struct exec_device {
  const char *name, *help;
  pcsim_status (*create)(pcsim_executor *executor);
  pcsim_status (*run)(pcsim_executor *executor, bool check);
  /** Blocks one after the other to a visitor: see pcsim_executor_jacobian. */
  pcsim_status (*jacobian)(pcsim_executor *executor, const jacobian_rows *rows,
                           pcsim_jacobian_visitor *visitor, void *context);
  /** Lower triangle of c [rows][rows] += J^T J. */
  pcsim_status (*product)(pcsim_executor *executor, const jacobian_rows *rows, double *c);
  void (*destroy)(pcsim_executor *executor);
};
extern const exec_device exec_cpu;

/** Everything that a run reads is bound; parameters and inputs on no space are taken over. `run`: outputs are
 * written, else only what comes before a Jacobian. */
pcsim_status exec_prepare(pcsim_executor *x, bool run) PCSIM_NODISCARD;
/** Values of a table at x [n], n numbers out. */
void exec_table(const pcsim_executor *x, pcsim_value table, int64_t n, const double *at, double *out);
/** Compute the values on no space of one level. */
pcsim_status exec_uniforms(pcsim_executor *x, int level, bool check) PCSIM_NODISCARD;
/** Number of an output; -1 with a message if there is none of this name. */
int exec_find_output(const pcsim_executor *x, const char *name);
/** "value 12 (mul)", as it is called in the program that was given; `row` becomes the row there. */
void exec_describe(const plan *p, pcsim_value v, int *row, char *text, size_t size);
/** "inf", "-inf" or "nan" (whose sign means nothing) */
const char *exec_bad_name(double value);
/** Source of a map or load: [points][rows] of the root of v, which is an input or stored. */
const double *exec_source(const pcsim_executor *x, pcsim_value root);
/** Where a value is added up, [points][rows]. */
double *exec_sum(const pcsim_executor *x, pcsim_value v);
/** Values are added up in the outputs that they are (`run`), or all in stores. */
void exec_sums_choose(pcsim_executor *x, bool run);
void exec_sums_clear(const pcsim_executor *x);
/** Look at what has been added up before the passes of a level. */
pcsim_status exec_sums_check(const pcsim_executor *x, int level) PCSIM_NODISCARD;
/** Outputs that are rows of a value that was added up elsewhere. */
void exec_sums_copy(const pcsim_executor *x);
/** The tile operation of DO_MAP: out[i] of value i of the list is [row][tile] in double. */
void exec_map(const pcsim_executor *x, const instruction *step, int64_t first, int n, int tile,
              double *const *out);
/** The tile operation of DO_ADD: value i of the list is rows[i], [row][tile] in double. */
void exec_add(const pcsim_executor *x, const instruction *step, pcsim_space space, int64_t first, int n,
              int tile, const double *const *rows);
pcsim_status exec_maps_prepare(pcsim_executor *x) PCSIM_NODISCARD;
void exec_map_release(bound_map *map);

#endif
