/* SPDX-License-Identifier: BSD-2-Clause */
/** @file networks.c  A network, its second-order jet, the gradient of a second-order residual. */
#include "networks.h"

#include "autodiff/graph.h"

#include <math.h>
#include <stdio.h>

static void draw_numbers(pcsim_program *p, const char *name, double scale, uint64_t *state) {
  int rows, columns;
  double *a = pcsim_program_parameter(p, name, &rows, &columns);
  for (int i = 0; a && i < rows * columns; i++) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    a[i] = scale * (2 * (double)(*state >> 11) * 0x1p-53 - 1);
  }
}

pcsim_value network_build(pcsim_program *p, pcsim_value x, int width, int outputs) {
  uint64_t state = 1;
  for (int layer = 0; layer <= HIDDEN_LAYERS; layer++) {
    const int in = layer ? width : 2, out = layer < HIDDEN_LAYERS ? width : outputs;
    char w[8], b[8];
    snprintf(w, sizeof w, "w%d", layer);
    snprintf(b, sizeof b, "b%d", layer);
    pcsim_value weight = pcsim_build_parameter(p, w, out, in), bias = pcsim_build_parameter(p, b, out, 1);
    draw_numbers(p, w, sqrt(3.0 / in), &state);
    draw_numbers(p, b, 0.1, &state);
    x = pcsim_build_dense(p, weight, x, bias);
    if (layer < HIDDEN_LAYERS) x = pcsim_build_unary(p, PCSIM_OP_TANH, x);
  }
  return x;
}

pcsim_status network_create(int width, pcsim_program **program) {
  pcsim_program *p = NULL;
  PCSIM_TRY(pcsim_program_create(&p));
  const pcsim_value x = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), 2);
  pcsim_build_output(p, "u", network_build(p, x, width, 1));
  *program = p;
  return pcsim_program_status(p);
}

pcsim_status network_jet(int width, pcsim_program **program) {
  pcsim_program *network = NULL;
  PCSIM_TRY(network_create(width, &network));
  pcsim_status status = pcsim_transform_jet(network, "x", 2, 2, program);
  pcsim_program_destroy(&network);
  if (status == PCSIM_OK) status = pcsim_program_simplify(*program);
  return status;
}

/** The residual, or the mean of its square, in place of the outputs. */
static pcsim_status add_residual(pcsim_program *p, bool loss) {
  const pcsim_value u = graph_find_output(p, "u"), xx = graph_find_output(p, "u_0_2"),
                    yy = graph_find_output(p, "u_1_2");
  pcsim_value sum = pcsim_build_binary(p, PCSIM_OP_ADD, xx, yy);
  pcsim_value r = pcsim_build_binary(p, PCSIM_OP_MUL, sum, pcsim_build_constant(p, 2));
  r = pcsim_build_binary(p, PCSIM_OP_ADD, r, pcsim_build_unary(p, PCSIM_OP_SIN, u));
  r = pcsim_build_binary(p, PCSIM_OP_SUB, r, pcsim_build_input(p, "f", 0, 1));
  for (int i = 0; i < p->num_outputs; i++) pcsim_free(&p->outputs[i].name);
  p->num_outputs = 0;
  if (loss) pcsim_build_output(p, "loss", pcsim_build_mean(p, pcsim_build_binary(p, PCSIM_OP_MUL, r, r)));
  else pcsim_build_output(p, "r", r);
  return pcsim_program_status(p);
}

const char *const network_parameters[NUM_PARAMETERS] = {"w0", "b0", "w1", "b1", "w2",
                                                        "b2", "w3", "b3", "w4", "b4"};

static pcsim_status network_reverse(int width, bool loss, pcsim_program **program) {
  pcsim_program *jet = NULL;
  PCSIM_TRY(network_jet(width, &jet));
  pcsim_status status = add_residual(jet, loss);
  if (status == PCSIM_OK) status = pcsim_transform_vjp(jet, network_parameters, NUM_PARAMETERS, program);
  pcsim_program_destroy(&jet);
  if (status == PCSIM_OK) status = pcsim_program_simplify(*program);
  return status;
}

pcsim_status network_gradient(int width, pcsim_program **program) {
  return network_reverse(width, true, program);
}
pcsim_status network_jacobian(int width, pcsim_program **program) {
  return network_reverse(width, false, program);
}
