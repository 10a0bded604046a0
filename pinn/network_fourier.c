/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network_fourier.c  Layers on sines and cosines of random linear functions of the inputs (Tancik et
 * al., NeurIPS 2020), whose frequencies have the deviation `scale`: num_features pairs (0: half the first
 * width). */
#include "network.h"

static pcsim_value build(const network_options *o, pcsim_program *p, const char *prefix, pcsim_value inputs) {
  network_builder b = {o, p, prefix, 0};
  const int pairs = o->num_features > 0 ? o->num_features : (o->width[0] + 1) / 2;
  pcsim_value x = network_fourier_features(&b, inputs, pairs);
  for (int i = 0; i < o->num_layers; i++)
    x = network_activate(&b, network_layer(&b, i, x, i ? o->width[i - 1] : 2 * pairs, o->width[i]));
  return network_layer(&b, o->num_layers, x, o->width[o->num_layers - 1], o->num_outputs);
}

const network_kind network_fourier = {"fourier", "layers on random Fourier features of the inputs", NULL, 0,
                                      build};
