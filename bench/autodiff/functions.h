/* SPDX-License-Identifier: BSD-2-Clause */
/** @file functions.h  Elementary functions on vectors beside the C library. */
#ifndef PCSIM_BENCH_AUTODIFF_FUNCTIONS_H
#define PCSIM_BENCH_AUTODIFF_FUNCTIONS_H

/** A JSON line for each function and precision whose figure ("function tanh double") holds `only`:
 * nanoseconds of processor time for a number, of the kernels and of the C library. */
void measure_functions(const char *only);

#endif
