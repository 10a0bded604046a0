/* SPDX-License-Identifier: BSD-2-Clause */
/** @file networks.h  The programs that are measured. */
#ifndef PCSIM_BENCH_AUTODIFF_NETWORKS_H
#define PCSIM_BENCH_AUTODIFF_NETWORKS_H

#include <pcsim/autodiff.h>

enum { HIDDEN_LAYERS = 4, NUM_PARAMETERS = 2 * HIDDEN_LAYERS + 2 };
extern const char *const network_parameters[NUM_PARAMETERS];

/** Network 2 - width x HIDDEN_LAYERS - outputs with tanh, of x [2]; parameters as below. */
pcsim_value network_build(pcsim_program *p, pcsim_value x, int width, int outputs);

/** Network 2 - width x HIDDEN_LAYERS - 1 with tanh: input "x" on "points", parameters "w0", "b0", ... with
 *  numbers, output "u". */
pcsim_status network_create(int width, pcsim_program **program) PCSIM_NODISCARD;
/** u and its first and second derivatives along x and y (halved: Taylor coefficients): 5 channels. */
pcsim_status network_jet(int width, pcsim_program **program) PCSIM_NODISCARD;
/** Gradient "b_w0", ... of the mean of (u_xx + u_yy + sin(u) - f)^2; f is an input. */
pcsim_status network_gradient(int width, pcsim_program **program) PCSIM_NODISCARD;
/** Reverse of the residual alone, seed "b_r": for its Jacobian. */
pcsim_status network_jacobian(int width, pcsim_program **program) PCSIM_NODISCARD;

#endif
