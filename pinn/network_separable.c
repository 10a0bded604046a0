/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network_separable.c  Sums of products of functions of one input each, every one a network (Cho et
 * al., NeurIPS 2023): num_features products for each output (0: the last width). For many inputs. */
#include "network.h"

#include <stdio.h>

static pcsim_value build(const network_options *o, pcsim_program *p, const char *prefix, pcsim_value inputs) {
  const int rank = o->num_features > 0 ? o->num_features : o->width[o->num_layers - 1];
  pcsim_value product = PCSIM_NO_VALUE;
  for (int i = 0; i < o->num_inputs; i++) {
    char of_input[32];
    snprintf(of_input, sizeof of_input, "%sx%d.", prefix, i);
    network_options one = *o;
    one.num_inputs = 1, one.num_outputs = rank * o->num_outputs, one.scale[0] = o->scale[i];
    one.stream = o->stream ^ (uint64_t)(i + 1) << 32; /* functions of different inputs begin differently */
    const pcsim_value f = network_mlp.build(&one, p, of_input, pcsim_build_slice(p, inputs, i, 1));
    product = i ? pcsim_build_binary(p, PCSIM_OP_MUL, product, f) : f;
  }
  pcsim_value out[NETWORK_INPUTS];
  if (o->num_outputs > NETWORK_INPUTS) return pcsim_build_slice(p, inputs, 0, 0); /* a fault */
  for (int i = 0; i < o->num_outputs; i++)
    out[i] = pcsim_build_row_sum(p, pcsim_build_slice(p, product, i * rank, rank));
  return pcsim_build_concat(p, out, o->num_outputs);
}

const network_kind network_separable = {"separable", "sums of products of networks of one input each", NULL,
                                        0, build};
