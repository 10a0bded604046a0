/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network.h  A small network as a program and in complex arithmetic. */
#ifndef PCSIM_TEST_NETWORK_H
#define PCSIM_TEST_NETWORK_H

#include "autodiff/transform.h"
#include "chain.h"

enum { MAX_LAYERS = 4, MAX_WEIGHTS = 64 };
typedef struct {
  int layers; /* of weights */
  int sizes[MAX_LAYERS + 1];
  double weights[MAX_LAYERS][MAX_WEIGHTS], biases[MAX_LAYERS][16];
} network;

/** Numbers between -1 and 1 that are the same everywhere. */
static inline double noise(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / (double)(1ull << 52) - 1;
}

static inline network make_network(int layers, const int *sizes) {
  network net = {.layers = layers};
  uint64_t state = 7;
  for (int l = 0; l <= layers; l++) net.sizes[l] = sizes[l];
  for (int l = 0; l < layers; l++) {
    for (int i = 0; i < sizes[l] * sizes[l + 1]; i++) net.weights[l][i] = noise(&state);
    for (int i = 0; i < sizes[l + 1]; i++) net.biases[l][i] = 0.5 * noise(&state);
  }
  return net;
}

static inline pcsim_program *build_network(const network *net) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_create(&p));
  pcsim_value a = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), net->sizes[0]);
  for (int l = 0; l < net->layers; l++) {
    char name[16];
    snprintf(name, sizeof name, "W%d", l);
    const pcsim_value w = pcsim_build_parameter(p, name, net->sizes[l + 1], net->sizes[l]);
    memcpy(pcsim_program_parameter(p, name, NULL, NULL), net->weights[l],
           sizeof(double) * (size_t)(net->sizes[l + 1] * net->sizes[l]));
    snprintf(name, sizeof name, "c%d", l);
    const pcsim_value c = pcsim_build_parameter(p, name, net->sizes[l + 1], 1);
    memcpy(pcsim_program_parameter(p, name, NULL, NULL), net->biases[l],
           sizeof(double) * (size_t)net->sizes[l + 1]);
    a = pcsim_build_dense(p, w, a, c);
    if (l + 1 < net->layers) a = pcsim_build_unary(p, PCSIM_OP_TANH, a);
  }
  pcsim_build_output(p, "y", a);
  assert_ok(pcsim_program_status(p));
  return p;
}

static inline cplx network_value(const void *context, const cplx *z, const double *x) {
  const network *net = context;
  cplx a[16], b[16];
  (void)x;
  for (int i = 0; i < net->sizes[0]; i++) a[i] = z[i];
  for (int l = 0; l < net->layers; l++) {
    for (int i = 0; i < net->sizes[l + 1]; i++) {
      cplx sum = net->biases[l][i];
      for (int j = 0; j < net->sizes[l]; j++) sum += net->weights[l][i * net->sizes[l] + j] * a[j];
      const cplx e = F(cexp)(2 * sum);
      b[i] = l + 1 < net->layers ? (e - 1) / (e + 1) : sum;
    }
    memcpy(a, b, sizeof a);
  }
  return a[0];
}

#endif
