/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train_reference.h  Private to train_reference.c, train_compare.c, train_table.c, train_run.c: what a
 * trained network is compared with. */
#ifndef PCSIM_CLI_TRAIN_REFERENCE_H
#define PCSIM_CLI_TRAIN_REFERENCE_H

#include "train.h"

enum {
  TRAIN_PARTS = 3,      /**< components that are compared together */
  TRAIN_REFERENCES = 64 /**< entries of `reference:` */
};

/** A named solution: its value at a point of coordinates (x, t), parameter `nu` of the entry or of the case.
 */
typedef struct {
  const char *name, *help;
  int num_coordinates;
  double (*value)(const double *x, double nu);
} train_solution;

/** Values at points. */
typedef struct {
  int64_t rows;
  double *points; /**< [rows][coordinates] */
  double *values; /**< [parts][rows] */
  double *weight; /**< [rows]; NULL: all alike */
} train_table;
void train_table_free(train_table *table);

/** One compared unknown, or the velocity as a whole. */
typedef struct {
  int num_parts;
  int part[TRAIN_PARTS]; /**< [num_parts] unknowns */
  pcsim_expr *expr;      /**< of the coordinates; or */
  const train_solution *solution;
  double nu;
  train_table table;        /**< or values at points; of a run once it is there */
  const pcsim_node *run;    /**< NULL: none */
  double held[64];          /**< of a run: [coordinates] NaN where they are not held */
  int quantity, comparison; /**< places; comparison -1: reported only */
  bool absolute;            /**< not relative to the size of the reference */
} train_field;

/** A quantity of a monitor and its known value. */
typedef struct {
  int monitored, comparison; /**< places */
} train_valued;

struct cli_train_references {
  int num;
  train_field field[TRAIN_REFERENCES];
  const cli_train_monitors *monitors; /**< borrowed */
  int num_valued;
  train_valued valued[TRAIN_REFERENCES];
  int num_quantities, num_comparisons;
  pcsim_quantity quantity[TRAIN_REFERENCES];
  pcsim_comparison comparison[TRAIN_REFERENCES];
  double *points, *values, *exact; /**< of expressions; made when first needed */
  double *room;                    /**< [num_room] of tables, likewise */
  int64_t num_room;
};

/** `table:` of a reference of unknown `part`; problems go to the tree. Rows of one time and one set of inputs
 * stand together where the unknown has no level. (train_table.c) */
pcsim_status cli_train_read_table(pcsim_tree *tree, const pcsim_training_view *v, const pcsim_node *table,
                                  int part, train_table *to) PCSIM_NODISCARD;

/** Is there a case file or the folder of a run? */
bool cli_run_there(const char *path);
/** Values of the unknowns `names` [n] in the cells of a run, weighed by their volumes: the cells whose
 * centres lie in the domain of the training. `path`: a folder, or a case, which is solved in the folder that
 * `pcsim run` gives it unless a finished run of it is there. `held` [coordinates]: what the run has no
 * coordinate for; a time that is NaN is that of the run. Caller frees. Errors: ERR_CASE. */
pcsim_status cli_train_run_table(cli *c, const char *path, pcsim_training *training, const char *const *names,
                                 int n, const double *held, train_table *table) PCSIM_NODISCARD;

#endif
