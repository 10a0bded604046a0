/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network_kan.c  Layers of trained functions of one number each, sums of Chebyshev polynomials of tanh
 * of it (Liu et al. 2024; Shukla et al., CMAME 431 (2024): cPIKAN): num_features is the highest degree (0:
 * 5). The constant polynomial of all functions of a sum is one bias. */
#include "network.h"

#include <math.h>
#include <stdio.h>

enum { DEGREE_MAX = 32 };

/** T_1 ... T_degree of tanh(x), [degree][rows]. */
static pcsim_value polynomials(network_builder *b, pcsim_value x, int degree) {
  pcsim_program *p = b->program;
  pcsim_value t[DEGREE_MAX], one = pcsim_build_constant(p, 1), two = pcsim_build_constant(p, 2);
  t[0] = pcsim_build_unary(p, PCSIM_OP_TANH, x);
  const pcsim_value twice = pcsim_build_binary(p, PCSIM_OP_MUL, two, t[0]);
  for (int k = 1; k < degree; k++)
    t[k] = pcsim_build_binary(p, PCSIM_OP_SUB, pcsim_build_binary(p, PCSIM_OP_MUL, twice, t[k - 1]),
                              k > 1 ? t[k - 2] : one);
  return pcsim_build_concat(p, t, degree);
}

static pcsim_value build(const network_options *o, pcsim_program *p, const char *prefix, pcsim_value inputs) {
  network_builder b = {o, p, prefix, 0};
  const int degree = o->num_features > 0 ? o->num_features : 5;
  if (degree > DEGREE_MAX) return pcsim_build_slice(p, inputs, 0, 0); /* a fault */
  pcsim_value x = inputs;
  for (int i = 0, from = o->num_inputs; i <= o->num_layers; i++) {
    const int to = i < o->num_layers ? o->width[i] : o->num_outputs;
    char weight[16], bias[16];
    snprintf(weight, sizeof weight, "w%d", i), snprintf(bias, sizeof bias, "b%d", i);
    x = pcsim_build_dense(p, network_normal(&b, weight, to, from * degree, sqrt(1. / (from * degree))),
                          polynomials(&b, x, degree), network_filled(&b, bias, to, 1, 0));
    from = to;
  }
  return x;
}

const network_kind network_kan = {"kan", "layers of trained functions of one number (Chebyshev polynomials)",
                                  NULL, 0, build};
