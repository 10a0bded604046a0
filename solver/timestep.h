/* SPDX-License-Identifier: BSD-2-Clause */
/** @file timestep.h  Private to solver/: time steps of any system.
 *
 *  TR-BDF2 is a diagonally implicit Runge-Kutta pair (Bank et al. 1985; Hosea and Shampine 1996): order 2,
 *  L-stable, its last stage is the new state, with an estimate of third order from the difference to an
 *  embedded formula. BDF2 has variable steps; its estimate compares with the extrapolation of the last three
 *  states. The first step, and the one after a kink of the data, is the two-stage method of Alexander (1977),
 *  which needs no rate at the start: there the pressure is not known, or jumps. */
#ifndef PCSIM_SOLVER_TIMESTEP_H
#define PCSIM_SOLVER_TIMESTEP_H

#include "stage.h"

typedef struct {
  pcsim_time_scheme scheme;
  double start, end;   /**< start < end */
  double tolerance;    /**< bound of a step's error relative to the unknowns' scales; with `step` unused */
  double step;         /**< > 0: steps of this size, no error control; 0: adaptive */
  double first, least; /**< adaptive: first step, 0 chosen; step below which the run is given up, > 0 */
  double most;         /**< adaptive: largest step; 0: no limit */
  int64_t steps_max;
  int64_t num_stops;
  const double *stops; /**< [num_stops] ascending times that a step must end at; borrowed */
  int64_t num_kinks;
  const double *kinks; /**< [num_kinks] ascending: as stops, and the data bend there; borrowed */
} timestep_options;

/** What `solve: {time: ..}` says; the lists are borrowed. */
timestep_options timestep_options_of(const pcsim_time *time, int64_t num_stops, const double *stops,
                                     int64_t num_kinks, const double *kinks);

enum { TIMESTEP_VECTORS = 4 }; /**< vectors [n][m] of a state: q, two earlier states, rate */
enum { TIMESTEP_SCALARS = 12 };

typedef struct timestep timestep;

/** `s` and the lists are borrowed. Caller destroys. Errors: ERR_MEMORY. */
pcsim_status timestep_create(const discrete_system *s, const timestep_options *options,
                             timestep **t) PCSIM_NODISCARD;
void timestep_destroy(timestep **t);
/** From the state in the system's q, or from the one of timestep_set_state, to the end. Not reaching it is a
 *  result; the system's q is then the last good state. The observer is called as pcsim_solve_observer says.
 *  Collective. */
pcsim_status timestep_run(timestep *t, pcsim_solve_observer observer, void *context,
                          pcsim_solve_result *result) PCSIM_NODISCARD;
/** What it steps; borrowed. */
const discrete_system *timestep_system(const timestep *t);
/** Time of the state that stands in the system's q between steps. */
double timestep_time(const timestep *t);
/** Coefficients and residual of the state to go on from, before anything of it is looked at. Collective. */
pcsim_status timestep_start(timestep *t) PCSIM_NODISCARD;
/** The state to go on from with the same bits: of the last step whose number is a multiple of ten, or where
 *  the run ended. `vector[k]` gets borrowed arrays [n][m]; `scalar` [TIMESTEP_SCALARS]: step and Krylov
 *  steps so far, time, step size wanted, ... */
void timestep_get_state(const timestep *t, const double *vector[TIMESTEP_VECTORS],
                        double scalar[TIMESTEP_SCALARS]);
/** The number of its step. */
int64_t timestep_state_step(const timestep *t);
/** Go on from such a state; the vectors are copied. Errors: ERR_ARG (numbers that no state has). */
pcsim_status timestep_set_state(timestep *t, double *const vector[TIMESTEP_VECTORS],
                                const double scalar[TIMESTEP_SCALARS]) PCSIM_NODISCARD;
/** The same as one array [n][TIMESTEP_VECTORS][m]. timestep_unpack is collective. */
void timestep_pack(const timestep *t, double *unknowns, double scalar[TIMESTEP_SCALARS]);
pcsim_status timestep_unpack(timestep *t, const double *unknowns,
                             const double scalar[TIMESTEP_SCALARS]) PCSIM_NODISCARD;

#endif
