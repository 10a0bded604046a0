/* SPDX-License-Identifier: BSD-2-Clause */
/** @file graph.h  Private to autodiff/: the graph behind pcsim_program.
 *
 *  Nodes stand in an order in which every input comes before its use; transforms append, so the order holds
 *  without sorting. A node's number is its pcsim_value. */
#ifndef PCSIM_AUTODIFF_GRAPH_H
#define PCSIM_AUTODIFF_GRAPH_H

#include <pcsim/autodiff.h>

/** What a node is; OP and USER are pointwise. The order is part of the file format: append only. */
typedef enum {
  NODE_CONSTANT,         /**< number (rows 1) or column of numbers */
  NODE_INPUT,            /**< per point, or on no space: a matrix given at run time */
  NODE_PARAMETER,        /**< matrix [rows][columns] that the program keeps */
  NODE_OP,               /**< op on inputs, rows broadcast */
  NODE_USER,             /**< user operator `index` */
  NODE_DENSE,            /**< inputs: weight, x[, bias] */
  NODE_DENSE_TRANSPOSED, /**< inputs: weight, x */
  NODE_OUTER,            /**< inputs: y, x; sum over points of y x^T (both on no space: y x^T); no space */
  NODE_CONCAT,
  NODE_SLICE,     /**< rows first .. first + rows - 1 of the input */
  NODE_ROW_SUM,   /**< [rows][columns] -> [1][columns] */
  NODE_SUM,       /**< over points; no space */
  NODE_BROADCAST, /**< input of one row or `rows`, on no space or on `space`, as `rows` rows on `space` */
  NODE_FROZEN,
  NODE_GATHER, /**< map */
  NODE_SCATTER_ADD,
  NODE_SPARSE,
  NODE_SPARSE_TRANSPOSED,
  NODE_SEGMENT_MIN,
  NODE_SEGMENT_MAX,
  NODE_SEGMENT_PICK, /**< inputs: a, chosen; map: value of `a` at the entry that attains the segment's
                        extremum of `chosen` (flag: max); the derivative of SEGMENT_MIN and _MAX */
  NODE_SEGMENT_PUT,  /**< inputs: y (rows of the map), chosen: the transpose of PICK */
  NODE_TRANSPOSE,    /**< of a matrix on no space */
  NODE_TABLE,        /**< inputs: numbers (constant column: abscissae, then ordinates), x; first: 1 for the
                        slope. Piecewise linear, row by row of x */
  NUM_NODE_KINDS,
  NODE_SEGMENT_PLACE = NUM_NODE_KINDS /**< made by the planner of executors alone: map; which entry of the row
                                         PICK takes, from 0; first: 1 for the maximum. SEGMENT_PUT then has
                                         it in the place of `chosen` */
} node_kind;

typedef struct {
  node_kind kind;
  pcsim_op op;       /**< OP */
  int index;         /**< USER: operator; maps: map; INPUT and PARAMETER: place in `names` */
  pcsim_space space; /**< PCSIM_NO_SPACE: one value for all points */
  int rows, columns; /**< columns > 1 only for matrices on no space */
  int first;         /**< SLICE; SEGMENT_PICK and _PUT: 1 for the maximum; TABLE: 1 for the slope */
  int num_inputs;
  pcsim_value *inputs; /**< [num_inputs], owned */
  double *numbers;     /**< CONSTANT and PARAMETER: [rows * columns], owned; else NULL */
} node;

typedef struct {
  char *name;
  pcsim_space to, from; /**< of a map */
  int width;            /**< sparse map: weights an entry; 0: index map */
} graph_map;
typedef struct {
  char *name;
  pcsim_value value;
} graph_output;

struct pcsim_program {
  pcsim_status status; /**< first fault of building; its text in `fault` */
  char *fault;
  int num_nodes, room;
  node *nodes;
  int num_spaces;
  char **spaces;
  int num_maps;
  graph_map *maps;
  int num_names; /**< of inputs and parameters */
  char **names;
  int num_outputs;
  graph_output *outputs;
  int num_user_ops;
  pcsim_user_op *user_ops; /**< names owned */
  bool unique;             /**< builders fold, simplify and share equal values (transforms, simplification) */
  int table_size;          /**< power of two or 0 */
  pcsim_value *table;      /**< hash of the nodes while `unique`, else NULL */
};

/** Node of a value; borrowed until the next append. */
static inline const node *graph_node(const pcsim_program *program, pcsim_value v) {
  return &program->nodes[v];
}
/** Append a node (inputs and numbers are copied); checks nothing. PCSIM_NO_VALUE when out of memory. */
pcsim_value graph_append(pcsim_program *program, const node *n);
/** Record the first fault; returns PCSIM_NO_VALUE. */
pcsim_value graph_fault(pcsim_program *program, pcsim_status status, const char *fmt, ...) PCSIM_PRINTF(3, 4);
/** Value of an operator on numbers: the one definition that folding, the harness and portable executors
 * share. */
double op_value(pcsim_op op, const double *in);
/** Value or slope of a table of `points` points at x; numbers [2 * points]. */
double table_value(const double *numbers, int points, bool slope, double x);
const char *op_name(pcsim_op op);
int op_num_inputs(pcsim_op op);
const char *node_kind_name(node_kind kind);

/** Number of an input or parameter node by name, PCSIM_NO_VALUE if absent. */
pcsim_value graph_find(const pcsim_program *program, const char *name);
/** Value of an output by name, PCSIM_NO_VALUE if absent. */
pcsim_value graph_find_output(const pcsim_program *program, const char *name);
/** Which values outputs depend on, [num_nodes]: those from number `least` on. NULL without memory, no error
 * is left; caller frees. */
bool *graph_live(const pcsim_program *program, pcsim_value least);
const char *graph_space_name(const pcsim_program *program, pcsim_space space);

/* Builders that only transforms need; faults as the public ones. */
pcsim_value graph_input(pcsim_program *program, const char *name, pcsim_space space, int rows, int columns);
pcsim_value graph_broadcast(pcsim_program *program, pcsim_value a, pcsim_space space, int rows);
pcsim_value graph_segment_pick(pcsim_program *program, pcsim_map map, pcsim_value a, pcsim_value chosen,
                               bool max);
pcsim_value graph_segment_put(pcsim_program *program, pcsim_map map, pcsim_value y, pcsim_value chosen,
                              bool max);
pcsim_value graph_transpose(pcsim_program *program, pcsim_value a);
/** Table of a constant column `numbers`, or its slope, at `a`. */
pcsim_value graph_table(pcsim_program *program, pcsim_value numbers, pcsim_value a, bool slope);
/** With `unique`: the equal older value or a simpler one; else appends. Used by every builder. */
pcsim_value graph_add(pcsim_program *program, const node *n);

/** Spaces, maps, names and user operators of a program, without values. Caller destroys. */
pcsim_status graph_copy_frame(const pcsim_program *program, pcsim_program **copy) PCSIM_NODISCARD;

/** From here on builders fold, simplify and share (unique.c); end frees the table. */
pcsim_status graph_unique_begin(pcsim_program *program) PCSIM_NODISCARD;
void graph_unique_end(pcsim_program *program);
/** `a` spread to a shape: rows, columns and space may only grow. PCSIM_NO_VALUE passes. */
pcsim_value graph_as_shape(pcsim_program *program, pcsim_value a, pcsim_space space, int rows, int columns);
/** Is the value a constant with all numbers `x`? */
bool graph_is_number(const pcsim_program *program, pcsim_value v, double x);
/** Add the (live; NULL: all) values of `from` to `to`, which has the same names; place [num_nodes of from].
 */
pcsim_status graph_import(const pcsim_program *from, pcsim_program *to, const bool *live,
                          pcsim_value *place) PCSIM_NODISCARD;
/** Drop the values that no output needs. */
pcsim_status graph_compact(pcsim_program *program) PCSIM_NODISCARD;

/** Rules of a pointwise operator, in ops.c: d out / d in[i] built in the program (PCSIM_NO_VALUE: zero).
 * Kinks: abs has 0 at 0; min and max have the first input's at a tie; sign, step, floor and comparisons have
 * 0. */
pcsim_value op_derivative(pcsim_program *program, pcsim_op op, int i, const pcsim_value *in, pcsim_value out);

#endif
