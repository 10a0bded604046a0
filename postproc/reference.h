/* SPDX-License-Identifier: BSD-2-Clause */
/** @file reference.h  Private to postproc/: entries of `reference:` and what each kind of them does. */
#ifndef PCSIM_POSTPROC_REFERENCE_H
#define PCSIM_POSTPROC_REFERENCE_H

#include "monitor.h"

/* ------------------------------------------------ reference_exact.c: exact fields */

enum { EXACT_PARAMETERS = 4 };
typedef struct exact_solution exact_solution;

/** One component of an exact field. */
typedef struct {
  pcsim_expr *expr;               /**< owned; NULL where it is a named solution or not given */
  const exact_solution *solution; /**< NULL where it is an expression */
  int component;                  /**< of the solution: SAMPLE_U ... */
  int dim;                        /**< coordinates of the expression; behind them t */
  double time;                    /**< at which it is asked for */
  double parameter[EXACT_PARAMETERS];
} exact_field;

bool exact_given(const exact_field *field);
double exact_at(const exact_field *field, const double point[3]);
void exact_clear(exact_field *field);
/** Read the entry `name` (a field of the monitors, or velocity) into `fields` [num_fields]; problems go to
 *  the tree. */
void exact_read(pcsim_tree *tree, const pcsim_monitors *monitors, const char *name, pcsim_node *node,
                exact_field *fields);
/** Place of a field by its name; EXACT_VELOCITY: the vector; EXACT_NONE: no field. */
enum { EXACT_VELOCITY = -1, EXACT_NONE = -2 };
int exact_component(const pcsim_monitors *monitors, const char *name);

/* ------------------------------------------- reference_errors.c: errors of fields */

/** Call `visit` with the name of every error quantity that the exact fields lead to. */
pcsim_status errors_names(const exact_field *exact, const pcsim_monitors *monitors,
                          pcsim_status (*visit)(void *context, const char *name),
                          void *context) PCSIM_NODISCARD;
/** Compute them all and put them into the monitors. Collective. */
pcsim_status errors_compute(const exact_field *exact, pcsim_monitors *monitors,
                            const pcsim_fields *fields) PCSIM_NODISCARD;

/* ------------------------------------ reference_vertices.c: pressure at the nodes */

/** Squared norms over the nodes: of the error, and of the exact pressure, both without their mean if `free`.
 */
pcsim_status vertices_error(const exact_field *exact, const pcsim_flow_fields *fields, bool free,
                            double *error, double *norm) PCSIM_NODISCARD;

/* ------------------------------------------- reference_table.c: curves from files */

typedef struct {
  int curve;        /**< of the line monitor */
  int place, field; /**< its columns */
  int64_t num_rows;
  double *rows; /**< [num_rows][2] place, value */
  char columns[64];
  int reference_curve; /**< -1 until added */
} reference_table;
pcsim_status table_read(pcsim_tree *tree, const pcsim_monitors *monitors, const char *name, pcsim_node *node,
                        reference_table *table) PCSIM_NODISCARD;
/** Largest deviation of the run from the rows, and the largest value of the rows. */
void table_compare(const reference_table *table, const pcsim_monitors *monitors, double *deviation,
                   double *largest);
void table_clear(reference_table *table);

#endif
