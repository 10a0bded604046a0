/* SPDX-License-Identifier: BSD-2-Clause */
/** @file lower.h  Private to lowering: names and their suffixes, the scratch program, derivatives in it. */
#ifndef PCSIM_AUTODIFF_LOWER_H
#define PCSIM_AUTODIFF_LOWER_H

#include "graph.h"

enum {
  LOWER_MAX_ORDER = 16,     /**< total order of a derivative of an unknown */
  LOWER_MAX_NODES = 200000, /**< of the scratch program: bounds what nested derivatives can grow to */
  LOWER_NAME_SIZE = 1152    /**< bytes of the longest name of an unknown with its longest suffix */
};

/** A derivative of an unknown: the coordinates it is taken by, in their order (u_xxt is {0, 0, 2}). */
typedef struct {
  int unknown;
  int order;
  int axes[LOWER_MAX_ORDER]; /**< [order], ascending: u_xy and u_yx are one */
} lower_derivative;

/** An input of the scratch program that stands for an unknown or one of its derivatives. */
typedef struct {
  lower_derivative what;
  pcsim_value value;
} lower_leaf;

/** Derivatives that are known already: value and coordinate -> value. Open addressing. */
typedef struct {
  int64_t *keys; /**< 0: free */
  pcsim_value *values;
  size_t size, used; /**< size is 0 or a power of two */
} lower_memo;

typedef struct {
  const pcsim_lowering *names;
  size_t offset; /**< place of what is being worked on in the current text: where a fault is shown */
  int time;      /**< coordinate "t", or -1 */
  int num_axes;
  int *axes; /**< [num_axes], the coordinates but time */

  pcsim_program *program; /**< scratch: shares equal values; holds everything that was ever built */
  pcsim_space points;
  pcsim_value zero, one;
  pcsim_value coordinates; /**< input, PCSIM_NO_VALUE if there are none */
  pcsim_value *coordinate; /**< [num_coordinates] row of the input */
  pcsim_value *normal;     /**< [num_coordinates] input "n.x"; PCSIM_NO_VALUE until used */
  pcsim_value *parameter;  /**< [num_parameters]; PCSIM_NO_VALUE until used */
  int num_leaves;
  lower_leaf *leaves;
  lower_memo memo;
} lowering;

/* ------------------------------------------------------------- lower_names.c */

/** The lists themselves: valid, nothing twice. Errors: ERR_CASE. */
pcsim_status lower_check_names(const pcsim_lowering *names);
/** What a name in an expression stands for. */
typedef enum { LOWER_COORDINATE, LOWER_UNKNOWN, LOWER_PARAMETER } lower_name_kind;
typedef struct {
  lower_name_kind kind;
  int index;                   /**< place in its list */
  lower_derivative derivative; /**< UNKNOWN */
} lower_name;
/** Resolve a name with its suffixes. On failure `*at` is the fault's place in the name. Errors: ERR_CASE. */
pcsim_status lower_resolve(const pcsim_lowering *names, const char *name, lower_name *out, size_t *at);
/** "u_xxt", or "u_x1_x1" where a coordinate has more than one letter. */
void lower_write_name(const pcsim_lowering *names, const lower_derivative *what, char out[LOWER_NAME_SIZE]);
/** By unknown, then order, then coordinates. */
int lower_compare(const lower_derivative *a, const lower_derivative *b);
/** "x, y, t" for messages. */
const char *lower_list(const char *const *names, int n, char *out, size_t size);

/* ------------------------------------------------------------- lower_graph.c */

pcsim_status lower_begin(lowering *l, const pcsim_lowering *names);
void lower_end(lowering *l);
/** Input of an unknown's derivative. */
pcsim_status lower_input(lowering *l, const lower_derivative *what, pcsim_value *out);
/** Component of the normal along coordinate `axis`. */
pcsim_status lower_normal(lowering *l, int axis, pcsim_value *out);
pcsim_status lower_parameter(lowering *l, int index, pcsim_value *out);
pcsim_status lower_number(lowering *l, double value, pcsim_value *out);
pcsim_status lower_op(lowering *l, pcsim_op op, const pcsim_value *in, int n, pcsim_value *out);
/** Derivative of a value by a coordinate. */
pcsim_status lower_differentiate(lowering *l, pcsim_value value, int axis, pcsim_value *out);
/** A program of what `outputs` [n] need and of the coordinates, inputs first. Caller destroys. */
pcsim_status lower_extract(lowering *l, const pcsim_value *outputs, int n, pcsim_program **program);

/* ------------------------------------------------------------- lower_table.c */

/** Points of the file of a table: x [*n] ascending, y [*n]; caller frees both. Errors: ERR_CASE with the
 * path, the line, what was found and expected. */
pcsim_status lower_table_read(const char *path, int *n, double **x, double **y) PCSIM_NODISCARD;

/* -------------------------------------------------------------- lower_sums.c */

/** How derivatives that are used in sums only go through the fields. */
typedef struct {
  bool by_weight;    /**< a sum for each weight; else one for each place, with weights inside */
  bool shared_apart; /**< derivatives that several sums have are computed by themselves */
} lower_route;
typedef struct {
  int sums;    /**< that went through as one */
  bool shared; /**< several sums have a derivative in common */
} lower_found;
/** pcsim_lower_compose by this route. Caller destroys. */
pcsim_status lower_with_sums(const pcsim_program *lowered, const pcsim_lowering *names,
                             const pcsim_program *fields, lower_route route, lower_found *found,
                             pcsim_program **out) PCSIM_NODISCARD;
/** The same with every derivative by itself. Caller destroys. */
pcsim_status lower_with_partials(const pcsim_program *lowered, const pcsim_lowering *names,
                                 const pcsim_program *fields, pcsim_program **out) PCSIM_NODISCARD;

#endif
