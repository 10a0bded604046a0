/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sample.h  Private: which points a network is trained and judged on. */
#ifndef PCSIM_PINN_SAMPLE_H
#define PCSIM_PINN_SAMPLE_H

#include <pcsim/base.h>

/** What points are drawn for: each purpose has draws of its own, none sees the points of another. */
typedef enum {
  SAMPLE_TRAINING,
  SAMPLE_CANDIDATES, /**< from which training points are chosen by their residuals */
  SAMPLE_HELD_OUT,   /**< never trained on: shows overfitting, judges the best state */
  SAMPLE_FRESH       /**< for the report */
} sample_purpose;
/** Number of a draw (below 2^36) as domain_draw_* take it. */
uint64_t sample_draw(sample_purpose purpose, uint64_t number);

typedef struct {
  double power; /**< k */
  double floor; /**< c */
} sample_density;

/** Choose n of `num` candidates, points [num][width], with a density that grows with the residuals there:
 *
 *      probability of candidate i  ~  |r_i|^k / mean |r|^k + c       (at most 1)
 *
 *  (C. Wu, M. Zhu, Q. Tan, Y. Kartha, L. Lu, Comput. Methods Appl. Mech. Engrg. 403 (2023) 115671: RAD, k =
 * 1, c = 1 for most). No candidate is chosen twice. Candidates are gone through along a curve that fills the
 * space, so that the chosen ones are spread as evenly as the density allows (systematic sampling). What is
 * chosen depends on the arguments alone. Candidates whose residual is not finite are not chosen.
 *  @param[in]  residual  [num]
 *  @param[out] chosen    [n], numbers of candidates, ascending
 *  Errors: ERR_ARG (fewer finite residuals than points wanted), ERR_MEMORY. */
pcsim_status sample_choose(const double *points, int width, const double *residual, int64_t num,
                           const sample_density *density, uint64_t seed, uint64_t draw, int64_t n,
                           int64_t *chosen) PCSIM_NODISCARD;
/** Rows `chosen` [n] of from [..][width]. */
void sample_take(const double *from, int width, const int64_t *chosen, int64_t n, double *to);

#endif
