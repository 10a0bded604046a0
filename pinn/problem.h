/* SPDX-License-Identifier: BSD-2-Clause */
/** @file problem.h  Private: what a case asks a network to satisfy, as texts that pcsim_lower takes:
 * equations inside, conditions on pieces of the boundary, at the start of time, at places of their own. Knows
 * no network; which conditions are built in is the ansatz's affair. */
#ifndef PCSIM_PINN_PROBLEM_H
#define PCSIM_PINN_PROBLEM_H

#include "regions.h"

enum { PROBLEM_MAX = 64 /**< unknowns, equations; conditions are not bounded */ };

/** Where a condition holds. */
typedef enum {
  PLACE_PIECES,  /**< on pieces of the shape's boundary */
  PLACE_START,   /**< at the start of time */
  PLACE_FIXED,   /**< in the domain where some coordinates have given values */
  PLACE_INTEGRAL /**< its mean over the domain (`piece` NULL) or over pieces of its boundary is zero */
} problem_place;
typedef enum {
  CONDITION_VALUE,   /**< unknown = text, a function of the coordinates */
  CONDITION_RATE,    /**< derivative of the unknown by time = text, likewise */
  CONDITION_RESIDUAL /**< text = 0; of unknowns, their derivatives and the normal */
} problem_kind;

/** A text for lowering, with the column of the case that each of its characters comes from. */
typedef struct {
  char *text;     /**< owned */
  int32_t *place; /**< [strlen(text)] column in the scalar `node`; NULL: all from its beginning */
  const pcsim_node *node;
} problem_text;

typedef struct {
  char *name; /**< as the case calls the place: "x-min", "initial", "conditions.0"; owned */
  int entry;  /**< conditions of one entry of the case hold at the same points */
  problem_place place;
  bool *piece;            /**< [num_pieces] of PLACE_PIECES and PLACE_INTEGRAL; owned */
  bool fixed[DOMAIN_MAX]; /**< of PLACE_FIXED: coordinates that are given, */
  double at[DOMAIN_MAX];  /**< and their values */
  problem_kind kind;
  int unknown; /**< of VALUE and RATE, else -1 */
  problem_text text;
  bool exact; /**< may be built into the ansatz */
} problem_condition;

/** Opposite faces of the domain's box that are one. */
typedef struct {
  int coordinate;
  const pcsim_node *node;
} problem_period;

/** An unknown without an equation of its own, `unknown:` of a case: a number, or a function of some
 * coordinates. */
typedef struct {
  bool of[DOMAIN_MAX]; /**< coordinates that it depends on */
  int num_of;          /**< 0: a number */
  double start;        /**< value to begin with */
  double range[2];     /**< it stays inside; both 0: no bounds */
  bool positive;
} problem_coefficient;

/** A name and what stands for it. */
typedef struct {
  const char *name, *text;
} text_name;
/** What names of the case stand for in its texts. */
typedef struct {
  int num;
  text_name name[4 * PROBLEM_MAX]; /**< coefficients, then components of the normal */
  char *owned[4 * PROBLEM_MAX];
} problem_names;

typedef struct {
  pcsim_tree *tree;
  const domain_view *domain; /**< borrowed */
  problem_names written;     /**< owned */
  const regions *regions;    /**< borrowed; NULL: none */
  int region;                /**< that coefficients are written out for; -1: all, by `where` */
  const char **parameter;    /**< [names.num_parameters] those that are no inputs; owned */
  double *parameter_value;
  pcsim_lowering names; /**< coordinates, unknowns, parameters with values, tables */
  int num_unknowns;     /**< those with equations, then coefficients that are to be found */
  int num_solved;       /**< those with equations */
  problem_coefficient coefficient[PROBLEM_MAX]; /**< of unknown num_solved + i */
  char *unknown[PROBLEM_MAX];                   /**< owned */
  const pcsim_node *unknown_node[PROBLEM_MAX];
  int num_equations;
  problem_text equation[PROBLEM_MAX];
  int (*order)[DOMAIN_MAX]; /**< [num_unknowns] highest derivative by each coordinate in the equations; owned
                             */
  int num_conditions;
  problem_condition *condition; /**< [num_conditions] */
  int num_periods;
  problem_period period[DOMAIN_MAX];
} problem;

/** Read `physics:`, `boundaries:`, `initial:`, `conditions:` on a domain, as they are in one of its regions,
 * or (-1) in all. Problems go to the tree; what is wrong is left out, so that the rest is checked too. All
 * regions have the same conditions in the same order. Borrows tree, domain and regions. Caller clears, after
 * an error as well. */
pcsim_status problem_read(pcsim_tree *tree, const domain_view *d, const regions *r, int region,
                          problem *p) PCSIM_NODISCARD;
void problem_clear(problem *p);

/** Lower texts [n]; a fault is a problem of the tree, at its column, and leaves `*program` NULL (a success).
 * Caller destroys. */
pcsim_status problem_lower(const problem *p, const problem_text *const *texts, int n,
                           pcsim_program **program) PCSIM_NODISCARD;

/* ---- problem_text.c */

/** New text by a format; caller frees. */
pcsim_status text_format(char **text, const char *format, ...) PCSIM_PRINTF(2, 3) PCSIM_NODISCARD;
/** `node`'s text, or `text` where it is not NULL, with names [n] replaced by their texts in parentheses;
 * `before` and `behind` are put around it. */
pcsim_status text_expand(const pcsim_node *node, const char *text, const text_name *names, int n,
                         const char *before, const char *behind, problem_text *out) PCSIM_NODISCARD;
void text_clear(problem_text *text);
/** The outward flux of an equation: of its terms c*div(v) and c*lap(e) the sum of c*(v.n) and c*dn(e), with
 * the coordinates of space [n] of the normal. `*text` NULL: no such term, or one that is not the whole of its
 * term. */
pcsim_status text_flux(const char *equation, const char *const *coordinates, int n,
                       char **text) PCSIM_NODISCARD;

/* ---- problem_names.c: `physics:` */

pcsim_status problem_physics(problem *p, problem_names *names) PCSIM_NODISCARD;
void problem_names_clear(problem_names *names);

/* ---- problem_conditions.c: `boundaries:`, `initial:`, `conditions:` */

pcsim_status problem_conditions(problem *p, const problem_names *names) PCSIM_NODISCARD;
/** Are the first unknowns those of the built-in flow, u, v, (w,) p? */
bool problem_is_flow(const problem *p);
/** Place of an unknown by name, -1: none. */
int problem_unknown(const problem *p, const char *name);

#endif
