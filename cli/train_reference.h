/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train_reference.h  Private to train_reference.c, train_table.c, train_run.c: values at points that a
 * trained network is compared with. */
#ifndef PCSIM_CLI_TRAIN_REFERENCE_H
#define PCSIM_CLI_TRAIN_REFERENCE_H

#include "train.h"

enum { TRAIN_PARTS = 3 /**< components that are compared together */ };

typedef struct {
  int64_t rows;
  double *points; /**< [rows][coordinates] */
  double *values; /**< [parts][rows] */
  double *weight; /**< [rows]; NULL: all alike */
} train_table;
void train_table_free(train_table *table);

/** `table:` of a reference; problems go to the tree. (train_table.c) */
pcsim_status cli_train_read_table(pcsim_tree *tree, const pcsim_training_view *v, const pcsim_node *table,
                                  train_table *to) PCSIM_NODISCARD;

/** Is there a case file or the folder of a run? */
bool cli_run_there(const char *path);
/** Values of the unknowns `names` [n] in the cells of a run, weighed by their volumes: the cells whose
 * centres lie in the domain of the training. `path`: a folder, or a case, which is solved in the folder that
 * `pcsim run` gives it unless a finished run of it is there. `held` [coordinates]: what the run has no
 * coordinate for; a time that is NaN is that of the run. Caller frees. Errors: ERR_CASE. */
pcsim_status cli_train_run_table(cli *c, const char *path, pcsim_training *training, const char *const *names,
                                 int n, const double *held, train_table *table) PCSIM_NODISCARD;

#endif
