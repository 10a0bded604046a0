/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sequence.h  Private: points of the unit cube that are spread evenly, each known by its place. */
#ifndef PCSIM_PINN_SEQUENCE_H
#define PCSIM_PINN_SEQUENCE_H

#include <pcsim/base.h>

enum { SEQUENCE_MAX = 18 /**< numbers a point */ };

typedef enum {
  SEQUENCE_SOBOL, /**< digital net in base 2: direction numbers of Joe and Kuo (2008), random digital shift */
  SEQUENCE_HALTON, /**< radical inverses in the first primes, shifted modulo 1 */
  SEQUENCE_RANDOM  /**< independent */
} sequence_kind;

/** A sequence of points: streams and draws of a seed are shifted independently of each other. */
typedef struct {
  sequence_kind kind;
  int num; /**< numbers a point, at most SEQUENCE_MAX */
  uint64_t seed, stream;
  uint64_t shift[SEQUENCE_MAX];
  uint32_t direction[SEQUENCE_MAX][32]; /**< of Sobol's sequence */
} sequence;

/** The sequence of a stream; no memory of its own. */
void sequence_start(sequence *s, sequence_kind kind, int num, uint64_t seed, uint64_t stream);
/** Point `place` (below 2^32), u [num], each number between 0 and 1, both excluded. */
void sequence_point(const sequence *s, uint64_t place, double *u);

/** Number below which a standard normal variable lies with probability u, 0 < u < 1. */
double normal_quantile(double u);

#endif
