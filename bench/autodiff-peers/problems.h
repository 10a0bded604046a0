/* SPDX-License-Identifier: BSD-2-Clause */
/** @file problems.h  The losses that are compared, each by one or several routes through the engine. */
#ifndef PCSIM_BENCH_AUTODIFF_PEERS_PROBLEMS_H
#define PCSIM_BENCH_AUTODIFF_PEERS_PROBLEMS_H

#include <pcsim/autodiff.h>

enum { LAYERS = 4, NUM_PARAMETERS = 2 * LAYERS + 2, MAX_ORDER = 6 };

/** "w0", "b0", ..., "b4": the parameters in the order of the data file. */
extern const char *const parameter_names[NUM_PARAMETERS];
/** Inputs of the networks of a problem; 0: no such problem. */
int problem_inputs(const char *problem);
/** Rows and columns of a parameter. */
void parameter_shape(int parameter, int inputs, int width, int *rows, int *columns);

/** Loss "loss" of a problem and its gradient "b_w0", "b_b0", ... Caller destroys.
 *  - Inputs: "x" and "f" at points, "b_loss" (1); of nested routes the directions "along_0_1" (axis 0, level
 *    1), "along_1_4", ... and the seeds "seed_1", ... (1).
 *  - Routes: "collapsed" (poisson, biharmonic), "partials" (all), "nested" (all: forward, one derivative at a
 *    time), "laplacians" (biharmonic: one collapsed Laplacian of the other), "reverse" (sixth: six times).
 *  Errors: ERR_ARG for another pair. */
pcsim_status problem_gradient(const char *problem, const char *route, int width,
                              pcsim_program **out) PCSIM_NODISCARD;

#endif
