/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network.h  Private: the table of networks. One is a file network_NAME.c and a line in the table of
 *  network.c. */
#ifndef PCSIM_PINN_NETWORK_H
#define PCSIM_PINN_NETWORK_H

#include <pcsim/autodiff.h>

enum { NETWORK_LAYERS = 16, NETWORK_INPUTS = 128, NETWORK_COORDINATES = 12, NETWORK_WAVES = 4 };

/** What a network is made of; filled from `network:` and by choose.c. */
typedef struct {
  const char *kind;
  int num_inputs, num_outputs;
  int num_layers;               /**< hidden, at least 1 */
  int width[NETWORK_LAYERS];    /**< [num_layers] */
  const char *activation;       /**< "tanh", "sin", "swish" */
  double scale[NETWORK_INPUTS]; /**< [num_inputs] how large the first layer's weights are for inputs in [-1,
                                   1]: how many oscillations it starts with; 0 counts as 1 */
  /** Waves in each coordinate whose sines and cosines are inputs too (ansatz.h makes them): phase for each
   * unit of the coordinate scaled to [-1, 1]; a wave of 0 is none. By coordinate, not by input. */
  int num_waves[NETWORK_COORDINATES];
  double wave[NETWORK_COORDINATES][NETWORK_WAVES];
  int num_features; /**< what it counts is said by the kind; 0: the kind's own choice */
  uint64_t seed, stream;
} network_options;

typedef struct {
  const char *name, *help;
  const pcsim_key *keys; /**< options of its own; NULL: none */
  size_t num_keys;
  /** Write the network into `p`: parameters whose names begin with `prefix`, with their start values, of
   *  `inputs` [num_inputs] on a space, each of order 1 in [-1, 1]. Result [num_outputs] on that space, of
   * order 1 at the start. Faults are recorded in the program. */
  pcsim_value (*build)(const network_options *options, pcsim_program *p, const char *prefix,
                       pcsim_value inputs);
} network_kind;

/** Every network, [*n]. */
const network_kind *const *network_list(size_t *n);
/** NULL: there is none of this name. */
const network_kind *network_find(const char *name);

/** The plain network, which others are made of. */
extern const network_kind network_mlp;

/* ------------------------------------------------------- what networks are made of */

/** A network while it is written: numbers are drawn by their place, so that a network has the same start
 * wherever it is built. */
typedef struct {
  const network_options *options;
  pcsim_program *program;
  const char *prefix;
  uint64_t place; /**< of the next number drawn */
} network_builder;

/** Parameter PREFIXname [rows][columns] with normal numbers of this deviation. */
pcsim_value network_normal(network_builder *b, const char *name, int rows, int columns, double deviation);
/** The same with one value for all. */
pcsim_value network_filled(network_builder *b, const char *name, int rows, int columns, double value);
/** First layer, without activation: row i is w_i . (x - c_i), w_i normal with deviations `scale`, c_i
 * anywhere in [-1, 1]^n, so that what the neurons tell apart is spread over the domain. Parameters PREFIXw0,
 * PREFIXb0. */
pcsim_value network_first(network_builder *b, pcsim_value inputs, int width);
/** Layer `number` from `from` to `to` rows, without activation: Glorot and Bengio 2010 (normal), zero bias.
 *  Parameters PREFIXw<number>, PREFIXb<number>. */
pcsim_value network_layer(network_builder *b, int number, pcsim_value x, int from, int to);
/** w_i . x + c_i with numbers that training does not change, `rows` of them, drawn as those of network_first.
 */
pcsim_value network_fixed(network_builder *b, pcsim_value inputs, int rows);
/** Sines and cosines of `pairs` such values: random Fourier features, [2 pairs]. */
pcsim_value network_fourier_features(network_builder *b, pcsim_value inputs, int pairs);
/** a * u + (1 - a) * v */
pcsim_value network_mix(network_builder *b, pcsim_value a, pcsim_value u, pcsim_value v);
/** The activation of the options; an unknown name is a fault of the program. */
pcsim_value network_activate(network_builder *b, pcsim_value x);

#endif
