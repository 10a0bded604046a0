/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network_pirate.c  Residual blocks that begin as the identity (Wang, Li, Chen, Perdikaris:
 * PirateNets, J. Mach. Learn. Res. 25 (2024)): each of the num_layers blocks has three layers, the first two
 * mixed with two encodings, and a trained share of the block, 0 at the start. Random Fourier features of the
 * inputs are what it begins with. All widths are that of the first layer. */
#include "network.h"

#include <stdio.h>

static pcsim_value build(const network_options *o, pcsim_program *p, const char *prefix, pcsim_value inputs) {
  network_builder b = {o, p, prefix, 0};
  const int width = o->width[0];
  int number = 0;
  pcsim_value x = pcsim_build_slice(p, network_fourier_features(&b, inputs, (width + 1) / 2), 0, width);
  const pcsim_value u = network_activate(&b, network_layer(&b, number++, x, width, width));
  const pcsim_value v = network_activate(&b, network_layer(&b, number++, x, width, width));
  for (int i = 0; i < o->num_layers; i++) {
    pcsim_value h = x;
    for (int k = 0; k < 3; k++) {
      h = network_activate(&b, network_layer(&b, number++, h, width, width));
      if (k < 2) h = network_mix(&b, h, u, v);
    }
    char name[16];
    snprintf(name, sizeof name, "share%d", i);
    x = network_mix(&b, network_filled(&b, name, 1, 1, 0), h, x);
  }
  return network_layer(&b, number, x, width, o->num_outputs);
}

const network_kind network_pirate = {"piratenet", "residual blocks that begin as the identity", NULL, 0,
                                     build};
