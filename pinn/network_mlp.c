/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network_mlp.c  Layers one after the other. */
#include "network.h"

static pcsim_value build(const network_options *o, pcsim_program *p, const char *prefix, pcsim_value inputs) {
  network_builder b = {o, p, prefix, 0};
  pcsim_value x = network_activate(&b, network_first(&b, inputs, o->width[0]));
  for (int i = 1; i < o->num_layers; i++)
    x = network_activate(&b, network_layer(&b, i, x, o->width[i - 1], o->width[i]));
  return network_layer(&b, o->num_layers, x, o->width[o->num_layers - 1], o->num_outputs);
}

const network_kind network_mlp = {"mlp", "layers one after the other", NULL, 0, build};
