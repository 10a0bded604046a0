/* SPDX-License-Identifier: BSD-2-Clause */
/** @file peak.h  What the processor can do at most, measured beside the work. */
#ifndef PCSIM_BENCH_AUTODIFF_PEAK_H
#define PCSIM_BENCH_AUTODIFF_PEAK_H

#include <stdbool.h>
#include <stddef.h>

/** Fused multiply-adds on registers only: operations (2 each) a second of `threads` threads together, with
 * the widest vectors of the processor or those of "avx2". */
double peak_operations(const char *instructions, bool single, int threads);
/** Bytes read a second by `threads` threads together, from arrays that no cache holds. */
double peak_bandwidth(int threads);
/** Bytes that one thread writes a second, over and over into `bytes` bytes. */
double peak_stores(size_t bytes);
double now(void);

#endif
