/* SPDX-License-Identifier: BSD-2-Clause */
/** @file spectrum.h  Private: which waves functions of the coordinates carry, from samples along lines. */
#ifndef PCSIM_PINN_SPECTRUM_H
#define PCSIM_PINN_SPECTRUM_H

#include "domain.h"

enum {
  SPECTRUM_BINS = 128, /**< waves of 0, 1, ... periods in a coordinate's range */
  SPECTRUM_PEAKS = 4   /**< that are told apart in a coordinate */
};

/** Sums of squares of amplitudes: [coordinate][periods in its range]. */
typedef struct {
  int num_coordinates;
  double power[DOMAIN_MAX][SPECTRUM_BINS];
} spectrum;

/** Values [n] of a function at points [n][num_coordinates]. */
typedef pcsim_status spectrum_function(void *context, int64_t n, const double *points, double *values);

/** Add a function's: sampled along lines parallel to each coordinate through points of the domain, over
 * `range` [num_coordinates], with Hann's window, its mean along the line taken away; scaled so that the
 * function counts as much as any other. Lines with values that are no numbers are left out. `s` is zero at
 * first. Errors: those of the function. */
pcsim_status spectrum_add(spectrum *s, const domain *d, const double (*range)[2], spectrum_function *function,
                          void *context) PCSIM_NODISCARD;

/** The waves of a coordinate whose amplitude is a twentieth of the largest one of all coordinates or more, as
 *  phase for each unit of the coordinate scaled to [-1, 1]. Left aside are those of less than one and a half
 *  periods in the range, which a network carries anyhow. Returns how many. */
int spectrum_peaks(const spectrum *s, int coordinate, double *wave);

#endif
