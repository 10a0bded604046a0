/* SPDX-License-Identifier: BSD-2-Clause */
/** @file data.h  Private: measured values at points, `data:` of a case. */
#ifndef PCSIM_PINN_DATA_H
#define PCSIM_PINN_DATA_H

#include "domain.h"

enum { DATA_FITS_MAX = 64 };

/** One file of values; borrowed. */
typedef struct {
  const char *name;
  int64_t num_points;
  const double *points;              /**< [num_points][num_coordinates] */
  int num_fits;                      /**< DATA_FITS_MAX at most */
  const char *const *fit;            /**< [num_fits] what is measured: an expression of the unknowns */
  const pcsim_node *const *fit_node; /**< [num_fits] where the case names it; while the tree lives */
  const double *const *values;       /**< [num_fits][num_points] */
  double noise;                      /**< standard deviation of the values; 0: not said */
} data_view;

typedef struct data data;
/** Keys of one entry of `data:`; `*n` gets how many. */
const pcsim_key *data_keys(size_t *n);
/** Read `data:`:
 *
 *      data: {probe: {file: p.csv, fits: {u: measured}, noise: 0.1}}
 *
 *  The first line of a file names its columns: every coordinate of the domain and what is fitted, others are
 * left aside; then a line of numbers a point. Separators are commas, semicolons or blanks, '#' starts a
 * comment. Problems go to the tree at the name of the file or of the fit, with the line: columns that are not
 * there, what is no number, points outside the domain; `*d` is NULL then, and where there is no `data:`.
 * Caller destroys. Errors: ERR_MEMORY. */
pcsim_status data_read(pcsim_tree *tree, const domain *space, data **d) PCSIM_NODISCARD;
/** Set i, NULL past the last; NULL-safe in d. */
const data_view *data_get(const data *d, int i);
void data_destroy(data **d);

#endif
