/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network.c  The table of networks, and the layers that they share. */
#include "network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const network_kind network_fourier, network_modified, network_pirate, network_separable, network_kan,
    network_random;

static const network_kind *const kinds[] = {&network_mlp,    &network_fourier,   &network_modified,
                                            &network_pirate, &network_separable, &network_kan,
                                            &network_random};

const network_kind *const *network_list(size_t *n) {
  *n = sizeof kinds / sizeof *kinds;
  return kinds;
}

const network_kind *network_find(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(kinds[i]->name, name)) return kinds[i];
  return NULL;
}

/** A parameter and where its numbers are. */
static pcsim_value parameter(network_builder *b, const char *name, int rows, int columns, double **numbers) {
  char full[64];
  snprintf(full, sizeof full, "%s%s", b->prefix, name);
  const pcsim_value value = pcsim_build_parameter(b->program, full, rows, columns);
  *numbers = value == PCSIM_NO_VALUE ? NULL : pcsim_program_parameter(b->program, full, NULL, NULL);
  return value;
}

static double draw_normal(network_builder *b) {
  return pcsim_random_normal(b->options->seed, b->options->stream, b->place++);
}

pcsim_value network_normal(network_builder *b, const char *name, int rows, int columns, double deviation) {
  double *a;
  const pcsim_value value = parameter(b, name, rows, columns, &a);
  for (int i = 0; a && i < rows * columns; i++) a[i] = deviation * draw_normal(b);
  return value;
}

pcsim_value network_filled(network_builder *b, const char *name, int rows, int columns, double value) {
  double *a;
  const pcsim_value v = parameter(b, name, rows, columns, &a);
  for (int i = 0; a && i < rows * columns; i++) a[i] = value;
  return v;
}

/** Row of a first layer: weights w [num_inputs], result its bias. */
static double draw_row(network_builder *b, double *w) {
  const network_options *o = b->options;
  double bias = 0;
  for (int j = 0; j < o->num_inputs; j++) {
    const double scale = o->scale[j] > 0 ? o->scale[j] : 1;
    w[j] = scale * draw_normal(b) / sqrt(o->num_inputs);
    bias -= w[j] * (2 * pcsim_random_uniform(o->seed, o->stream, b->place++) - 1);
  }
  return bias;
}

pcsim_value network_first(network_builder *b, pcsim_value inputs, int width) {
  double *w, *c;
  const pcsim_value weight = parameter(b, "w0", width, b->options->num_inputs, &w);
  const pcsim_value bias = parameter(b, "b0", width, 1, &c);
  for (int i = 0; w && c && i < width; i++) c[i] = draw_row(b, w + i * b->options->num_inputs);
  return pcsim_build_dense(b->program, weight, inputs, bias);
}

pcsim_value network_fixed(network_builder *b, pcsim_value inputs, int rows) {
  enum { ROWS = 4096 };
  const int n = b->options->num_inputs;
  pcsim_program *p = b->program;
  double column[ROWS], w[NETWORK_INPUTS];
  if (rows < 1 || rows > ROWS) return pcsim_build_slice(p, inputs, 0, 0); /* a fault */
  const uint64_t place = b->place;
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int j = -1; j < n;
       j++) { /* the same numbers drawn for each column, of which one is kept; -1: the bias */
    b->place = place;
    for (int i = 0; i < rows; i++) {
      const double bias = draw_row(b, w);
      column[i] = j < 0 ? bias : w[j];
    }
    const pcsim_value constants = pcsim_build_constants(p, rows, column);
    sum = j < 0 ? constants
                : pcsim_build_binary(
                      p, PCSIM_OP_ADD, sum,
                      pcsim_build_binary(p, PCSIM_OP_MUL, constants, pcsim_build_slice(p, inputs, j, 1)));
  }
  return sum;
}

pcsim_value network_fourier_features(network_builder *b, pcsim_value inputs, int pairs) {
  const pcsim_value a = network_fixed(b, inputs, pairs);
  const pcsim_value both[2] = {pcsim_build_unary(b->program, PCSIM_OP_SIN, a),
                               pcsim_build_unary(b->program, PCSIM_OP_COS, a)};
  return pcsim_build_concat(b->program, both, 2);
}

pcsim_value network_mix(network_builder *b, pcsim_value a, pcsim_value u, pcsim_value v) {
  pcsim_program *p = b->program;
  const pcsim_value difference = pcsim_build_binary(p, PCSIM_OP_SUB, u, v);
  return pcsim_build_binary(p, PCSIM_OP_ADD, v, pcsim_build_binary(p, PCSIM_OP_MUL, a, difference));
}

pcsim_value network_layer(network_builder *b, int number, pcsim_value x, int from, int to) {
  char name[16];
  snprintf(name, sizeof name, "w%d", number);
  const pcsim_value weight = network_normal(b, name, to, from, sqrt(2. / (from + to)));
  snprintf(name, sizeof name, "b%d", number);
  return pcsim_build_dense(b->program, weight, x, network_filled(b, name, to, 1, 0));
}

pcsim_value network_activate(network_builder *b, pcsim_value x) {
  static const struct {
    const char *name;
    pcsim_op op;
  } table[] = {{"tanh", PCSIM_OP_TANH}, {"sin", PCSIM_OP_SIN}, {"swish", PCSIM_OP_SWISH}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (!strcmp(table[i].name, b->options->activation)) return pcsim_build_unary(b->program, table[i].op, x);
  return pcsim_build_unary(b->program, PCSIM_NUM_OPS, x);
}
