/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train.h  Private header of the command line's part that trains networks. */
#ifndef PCSIM_CLI_TRAIN_H
#define PCSIM_CLI_TRAIN_H

#include "cli.h"

/** `monitors:` of a training. Problems go to the tree; NULL where the case has none. Caller destroys, before
 * the training. */
typedef struct cli_train_monitors cli_train_monitors;
pcsim_status cli_train_monitors_read(pcsim_tree *tree, pcsim_training *training,
                                     cli_train_monitors **monitors) PCSIM_NODISCARD;
void cli_train_monitors_destroy(cli_train_monitors **monitors);
/** Of the best state; not `whole`: from fewer points. NULL-safe. */
pcsim_status cli_train_monitors_evaluate(cli_train_monitors *monitors, bool whole) PCSIM_NODISCARD;
/** Borrowed; NULL-safe (none). */
int cli_train_monitors_quantities(const cli_train_monitors *monitors, const pcsim_quantity **quantities);
/** Kind number i with its keys; false past the last. */
bool cli_train_monitor_kind(size_t i, pcsim_training_kind *kind);

/** What `reference:` says about a training. It is read and compared here, outside of the training, which does
 * not see it. */
typedef struct cli_train_references cli_train_references;
/** Problems go to the tree; NULL where the case has none. Caller destroys. */
pcsim_status cli_train_references_read(pcsim_tree *tree, pcsim_training *training,
                                       const cli_train_monitors *monitors,
                                       cli_train_references **references) PCSIM_NODISCARD;
/** Solve the cases that it names as runs, as far as they have not been, and take their values: to be called
 * before anything is compared. Errors: ERR_CASE (no such run, not converged, no such unknown). */
pcsim_status cli_train_references_prepare(cli_train_references *references, cli *c,
                                          pcsim_training *training) PCSIM_NODISCARD;
void cli_train_references_destroy(cli_train_references **references);
/** Errors of the best state into the quantities "error.NAME", and the verdicts; not `whole`: at fewer points.
 */
pcsim_status cli_train_references_compare(cli_train_references *references, pcsim_training *training,
                                          bool whole) PCSIM_NODISCARD;
/** Borrowed; NULL-safe (none). */
int cli_train_references_quantities(const cli_train_references *references,
                                    const pcsim_quantity **quantities);
int cli_train_references_comparisons(const cli_train_references *references,
                                     const pcsim_comparison **comparisons);

/** Keys of an entry that names an unknown; name of the named solution i, NULL past the last. */
const pcsim_key *cli_train_reference_keys(size_t *n);
const char *cli_train_solution(size_t i, const char **help);

enum { TRAIN_PICTURES = 8 };
/** Pictures of the unknowns over two of the coordinates, and the fields as a file. */
typedef struct {
  int count;
  pcsim_picture *picture[TRAIN_PICTURES];
  char caption[TRAIN_PICTURES][160];
} cli_train_album;
/** Write fields.hdf and the pictures of the best state into a folder; nothing for fewer than two coordinates.
 */
pcsim_status cli_train_fields(pcsim_training *training, const char *folder, bool pictures,
                              cli_train_album *album) PCSIM_NODISCARD;
void cli_train_album_free(cli_train_album *album);

#endif
