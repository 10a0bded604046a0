/* SPDX-License-Identifier: BSD-2-Clause */
/** @file residual.h  Training gradient of a residual that a user typed, beside one written by hand. */
#ifndef PCSIM_BENCH_AUTODIFF_RESIDUAL_H
#define PCSIM_BENCH_AUTODIFF_RESIDUAL_H

#include <stdint.h>

#define RESIDUAL_NU 0.01
enum { RESIDUAL_INPUTS = 10 };
/** Steady Navier-Stokes equations in two dimensions at n points: from u, v, u_x, u_y, v_x, v_y, p_x, p_y and
 * the Laplacians of u and v, each [n], the derivatives by them of the mean of the sum of the three squared
 * residuals. */
typedef void hand_residual(int64_t n, const double *const in[RESIDUAL_INPUTS],
                           double *const seed[RESIDUAL_INPUTS]);
extern hand_residual hand_residual_portable, hand_residual_avx2;

/** What the typed residual costs more, over the whole gradient of a 4 x 64 network, on one thread and on
 * two, if `only` begins with "residual" or is a part of "residual w64". Exits on failure. */
void measure_residual(const char *only, double budget, int tile);

#endif
