/* SPDX-License-Identifier: BSD-2-Clause */
/** @file choose.h  Private: the one default. Network, scales, points and optimiser are chosen from the
 * equations, the domain and the budget, and from short trials that are judged by residuals on points which
 * training does not see. Nothing here knows an exact solution, a reference or a name of a case; nothing
 * depends on a clock, so that the same case makes the same choice on any machine. */
#ifndef PCSIM_PINN_CHOOSE_H
#define PCSIM_PINN_CHOOSE_H

#include "network.h"

typedef struct {
  network_options network; /**< kind NULL, num_layers 0, activation NULL, scale 0: open */
  const char *optimizer;   /**< NULL: open */
  int slabs;               /**< spans of time with a network each; 0: open */
  int64_t points;          /**< inside, at the start; 0: open */
  int64_t redraw;          /**< steps after which all points are drawn anew; -1: open, 0: never */
  bool stream;             /**< velocities of a plane flow are those of a stream function */
  int64_t look; /**< steps between looks at whether there are enough points (choose_points); 0: open */
} choice;

/** What there is to choose for. */
typedef struct {
  double seconds; /**< budget in seconds of wall clock; 0: one in steps */
  int64_t steps;  /**< budget in steps; 0: one in seconds */
  int threads;
  /** Waves of what is given, `num_waves` and `wave`; NULL: none are known. */
  const network_options *waves;
  /** What the network before this one was chosen to be, to be taken where there is no time for trials; NULL.
   */
  const network_options *before;
  int networks;     /**< that are trained together, one for each region; 0 counts as 1 */
  bool like_before; /**< it is taken without trials */
  int bodies;       /**< taken away from a space of three dimensions, whose layers want points of their own */
  /** Train from this choice's own start for `steps` steps; `*held_out` is the root mean square of the
   * weighted residuals on points of their own (infinite or not a number: no good). NULL: no trials. */
  pcsim_status (*try_choice)(void *context, const choice *c, int64_t steps, double *held_out);
  void *context;
} choose_problem;

/** Two fifths more. */
int64_t choose_more_points(int64_t points);
/** How many points to go on with. Those that there are stay as long as the residual on points not trained on,
 * `held_out` (root mean square, weighted), is like that on them, `trained`; where it is 2.5 times as large or
 * more, two fifths are added, to be drawn where residuals are large. Points drawn anew would undo what the
 * optimiser has fitted to the old ones: measured, docs/training.md. Never more than 16 for each parameter. */
int64_t choose_points(int64_t points, int64_t parameters, double trained, double held_out);

/** Fills what is open in `*c`; numbers of inputs and outputs, seed and stream of the network are given. `why`
 * gets what was chosen and why, in a line. Errors: those of the trials. */
pcsim_status choose(const choose_problem *p, choice *c, char *why, size_t size) PCSIM_NODISCARD;

#endif
