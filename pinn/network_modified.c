/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network_modified.c  Layers whose results mix two encodings of the inputs (Wang, Teng, Perdikaris,
 * SIAM J. Sci. Comput. 43 (2021)). All widths are that of the first layer. */
#include "network.h"

#include <stdio.h>

/** The second encoding has numbers of its own. */
static pcsim_value encode(network_builder *b, const char *which, pcsim_value inputs, int width) {
  char prefix[32];
  snprintf(prefix, sizeof prefix, "%s%s.", b->prefix, which);
  network_builder part = *b;
  part.prefix = prefix;
  const pcsim_value x = network_activate(&part, network_first(&part, inputs, width));
  b->place = part.place;
  return x;
}

static pcsim_value build(const network_options *o, pcsim_program *p, const char *prefix, pcsim_value inputs) {
  network_builder b = {o, p, prefix, 0};
  const int width = o->width[0];
  const pcsim_value u = encode(&b, "u", inputs, width), v = encode(&b, "v", inputs, width);
  pcsim_value x = network_mix(&b, network_activate(&b, network_first(&b, inputs, width)), u, v);
  for (int i = 1; i < o->num_layers; i++)
    x = network_mix(&b, network_activate(&b, network_layer(&b, i, x, width, width)), u, v);
  return network_layer(&b, o->num_layers, x, width, o->num_outputs);
}

const network_kind network_modified = {"modified-mlp", "layers that mix two encodings of the inputs", NULL, 0,
                                       build};
