/* SPDX-License-Identifier: BSD-2-Clause */
/* Random numbers by their place: Philox 4x32 with ten rounds (Salmon, Moraes, Dror, Shaw: Parallel random
 * numbers: as easy as 1, 2, 3; SC 2011). The key is the seed, the counter is the stream and the place. */
#include <pcsim/base.h>

#include <math.h>

enum { ROUNDS = 10 };

/** 128 bits: out[0] holds the first two words. */
static void philox(uint64_t seed, uint64_t stream, uint64_t place, uint64_t out[2]) {
  const uint32_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u}, step[2] = {0x9E3779B9u, 0xBB67AE85u};
  uint32_t c[4] = {(uint32_t)place, (uint32_t)(place >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)};
  uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  for (int i = 0; i < ROUNDS; i++) {
    const uint64_t a = (uint64_t)multiplier[0] * c[0], b = (uint64_t)multiplier[1] * c[2];
    const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ key[0], (uint32_t)b,
                              (uint32_t)(a >> 32) ^ c[3] ^ key[1], (uint32_t)a};
    for (int k = 0; k < 4; k++) c[k] = next[k];
    key[0] += step[0];
    key[1] += step[1];
  }
  out[0] = c[0] | (uint64_t)c[1] << 32;
  out[1] = c[2] | (uint64_t)c[3] << 32;
}

/** 53 bits as a number of the open interval from 0 to 1. */
static double unit(uint64_t bits) { return ((double)(bits >> 11) + 0.5) * 0x1p-53; }

uint64_t pcsim_random_bits(uint64_t seed, uint64_t stream, uint64_t place) {
  uint64_t out[2];
  philox(seed, stream, place, out);
  return out[0];
}

double pcsim_random_uniform(uint64_t seed, uint64_t stream, uint64_t place) {
  return unit(pcsim_random_bits(seed, stream, place));
}

double pcsim_random_normal(uint64_t seed, uint64_t stream, uint64_t place) {
  uint64_t out[2];
  philox(seed, stream, place, out);
  /* Box and Muller (1958). */
  return sqrt(-2 * log(unit(out[0]))) * cos(6.283185307179586 * unit(out[1]));
}
