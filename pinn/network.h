/* SPDX-License-Identifier: BSD-2-Clause */
/** @file network.h  Private: the table of networks. One is a file network_NAME.c and a line in the table of
 *  network.c. */
#ifndef PCSIM_PINN_NETWORK_H
#define PCSIM_PINN_NETWORK_H

#include <pcsim/autodiff.h>

/** What a network is made of; filled from `network:` and by choose.c. */
typedef struct {
  const char *kind;
  int num_inputs, num_outputs;
  int num_layers;         /**< hidden */
  int width[16];          /**< [num_layers] */
  const char *activation; /**< "tanh", "sin", "swish" */
  double scale[16];       /**< [num_inputs] the first layer's weights are as large for inputs in [-1, 1]: how
                             many oscillations it starts with */
  int num_features;       /**< of Fourier kinds */
  uint64_t seed, stream;
} network_options;

typedef struct {
  const char *name, *help;
  const pcsim_key *keys;
  size_t num_keys;
  /** Write the network into `p`: parameters named "NET_..." (`prefix` in front) with their start values, of
   *  `inputs` [num_inputs] on a space, each of order 1 in [-1, 1]. Result [num_outputs] on that space;
   * outputs of order 1 at the start. Faults are recorded in the program. */
  pcsim_value (*build)(const network_options *options, pcsim_program *p, const char *prefix,
                       pcsim_value inputs);
} network_kind;

/** Every network; `*n` gets how many. */
const network_kind *network_list(size_t *n);

#endif
