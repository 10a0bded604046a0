/* SPDX-License-Identifier: BSD-2-Clause */
/* Sobol and Halton sequences with random shifts.
 *
 * Sobol: S. Joe, F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM J.
 * Sci. Comput. 30 (2008) 2635-2654; degree s, coefficients a of the primitive polynomial and initial numbers
 * m of their table new-joe-kuo-6. A digital shift (exclusive or with random bits) keeps the net: of 2^k
 * points each interval of length 2^-k of an axis holds one. */
#include "sequence.h"

#include <math.h>

enum { BITS = 32, DEGREE_MAX = 6 };

typedef struct {
  uint8_t s, a, m[DEGREE_MAX];
} polynomial;

/** Of numbers 1, 2, ... of a point; number 0 is the radical inverse in base 2. */
static const polynomial joe_kuo[SEQUENCE_MAX - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
};

static const int primes[SEQUENCE_MAX] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61};

static void find_directions(int number, uint32_t direction[BITS]) {
  if (number == 0) {
    for (int i = 0; i < BITS; i++) direction[i] = 1u << (31 - i);
    return;
  }
  const polynomial *p = &joe_kuo[number - 1];
  for (int i = 0; i < p->s; i++) direction[i] = (uint32_t)p->m[i] << (31 - i);
  for (int i = p->s; i < BITS; i++) {
    direction[i] = direction[i - p->s] ^ (direction[i - p->s] >> p->s);
    for (int k = 1; k < p->s; k++)
      if (p->a >> (p->s - 1 - k) & 1) direction[i] ^= direction[i - k];
  }
}

static uint32_t sobol(const uint32_t direction[BITS], uint64_t place) {
  uint32_t x = 0;
  for (int i = 0; i < BITS && place >> i; i++)
    if (place >> i & 1) x ^= direction[i];
  return x;
}

static double radical_inverse(uint64_t place, int base) {
  double x = 0, digit = 1;
  for (; place; place /= (uint64_t)base) x += (double)(place % (uint64_t)base) * (digit /= base);
  return x;
}

/** 53 bits as a number of the open interval from 0 to 1. */
static double unit(uint64_t bits) { return ((double)bits + 0.5) * 0x1p-53; }

void sequence_start(sequence *s, sequence_kind kind, int num, uint64_t seed, uint64_t stream) {
  *s = (sequence){.kind = kind, .num = num, .seed = seed, .stream = stream};
  for (int i = 0; i < num; i++) {
    s->shift[i] = pcsim_random_bits(seed, stream, (uint64_t)i) >> 11;
    if (kind == SEQUENCE_SOBOL) find_directions(i, s->direction[i]);
  }
}

void sequence_point(const sequence *s, uint64_t place, double *u) {
  for (int i = 0; i < s->num; i++) switch (s->kind) {
    case SEQUENCE_SOBOL:
      u[i] = unit((uint64_t)sobol(s->direction[i], place) << 21 ^ s->shift[i]);
      break;
    case SEQUENCE_HALTON: {
      const double x = radical_inverse(place, primes[i]) + unit(s->shift[i]);
      u[i] = fmin(fmax(x - floor(x), 0x1p-54), 1 - 0x1p-53);
      break;
    }
    case SEQUENCE_RANDOM:
      u[i] = pcsim_random_uniform(s->seed, s->stream, (place + 1) * SEQUENCE_MAX + (uint64_t)i);
      break;
    }
}

double normal_quantile(double u) {
  /* Abramowitz and Stegun 26.2.23, to 4.5e-4, then Halley's method on the distribution itself. */
  const double tail = fmin(u, 1 - u), t = sqrt(-2 * log(tail));
  double x =
      t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 3; i++) {
    const double miss = tail - 0.5 * erfc(x * 0.7071067811865476);
    const double step = miss / (exp(-0.5 * x * x) * 0.3989422804014327);
    x -= step / (1 + 0.5 * x * step);
  }
  return u < 0.5 ? -x : x;
}
