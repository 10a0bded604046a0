/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network_random.c  Random features: one hidden layer that training does not change, of num_features
 *  neurons (0: the first width), and a linear layer that it does. A linear equation is then a linear
 * least-squares problem (Huang et al. 2006; Dong, Li, CMAME 387 (2021)). */
#include "network.h"

static pcsim_value build(const network_options *o, pcsim_program *p, const char *prefix, pcsim_value inputs) {
  network_builder b = {o, p, prefix, 0};
  const int features = o->num_features > 0 ? o->num_features : o->width[0];
  const pcsim_value x = network_activate(&b, network_fixed(&b, inputs, features));
  return network_layer(&b, 0, x, features, o->num_outputs);
}

const network_kind network_random = {"random-features", "random neurons and a linear layer", NULL, 0, build};
