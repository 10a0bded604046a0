/* SPDX-License-Identifier: BSD-2-Clause */
/* What a case leaves open: network, scales, points, optimiser. */
#include "train.h"

#include <stdio.h>

/* Highest derivative of any unknown by any coordinate. */
static int highest_order(const problem *p) {
  int most = 0;
  for (int u = 0; p->order && u < p->num_unknowns; u++)
    for (int i = 0; i < p->names.num_coordinates; i++)
      if (p->order[u][i] > most) most = p->order[u][i];
  return most;
}

pcsim_status train_choose(pcsim_training *t) {
  const problem *p = &t->problem;
  const int dim = p->domain->num_coordinates;
  network_options *n = &t->choice.network;
  if (!n->kind) n->kind = "mlp";
  if (!n->num_layers) {
    n->num_layers = dim <= 2 && p->num_unknowns == 1 ? 2 : 3;
    for (int i = 0; i < n->num_layers; i++) n->width[i] = 20 + 4 * (dim > 2) + 4 * (p->num_unknowns > 1);
  }
  if (!n->activation) n->activation = "tanh";
  for (int i = 0; i < dim; i++)
    if (!(n->scale[i] > 0)) n->scale[i] = 1;
  if (!t->options.optimizer) {
    t->options.optimizer = optimizer_find("ssbroyden");
    optimizer_defaults(t->options.optimizer, t->options.optimizer_option);
  }
  t->choice.optimizer = t->options.optimizer->name;
  if (t->choice.points <= 0) t->choice.points = 2048;
  if (t->choice.redraw < 0) t->choice.redraw = 500;
  pcsim_log(PCSIM_LOG_INFO,
            "%s, %d hidden layers of %d, %s: derivatives to order %d of %d unknowns in %d coordinates",
            t->choice.optimizer, n->num_layers, n->width[0], n->activation, highest_order(p), p->num_unknowns,
            dim);
  return PCSIM_OK;
}
