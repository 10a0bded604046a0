/* SPDX-License-Identifier: BSD-2-Clause */
/* `network:` and `train:`. */
#include "train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const pcsim_key network_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "one of `pcsim list networks`", 0, 0},
    {"layers", PCSIM_KEY_NUMBERS, "", "", "", "width of each hidden layer, e.g. [20, 20, 20]", 0, 0},
    {"activation", PCSIM_KEY_CHOICE, "", "tanh|sin|swish", "", "between the layers", 0, 0},
    {"scale", PCSIM_KEY_ANY, "", "", "1",
     "of the first layer's weights, a number or one for each coordinate: how many oscillations it starts "
     "with",
     0, 0},
    {"polar", PCSIM_KEY_BOOL, "true", "", "",
     "it also sees the distance from each ball taken away (up to 32) and the direction (up to four)", 0, 0},
    {"seam", PCSIM_KEY_BOOL, "true", "", "",
     "a start that jumps or bends where its period ends is carried on by the heat equation, whose solution "
     "the "
     "network sees, too; one coordinate of space",
     0, 0},
    {"wall-layers", PCSIM_KEY_BOOL, "true", "", "",
     "where conditions of fluxes at walls contradict the start, what diffusion makes of that is built in, "
     "and the network sees it",
     0, 0},
    {"wall-rates", PCSIM_KEY_BOOL, "true", "", "",
     "likewise where a start agrees with the value at a wall but not with the equation there: one unknown, "
     "one coordinate of space",
     0, 0},
    {"divergence-free", PCSIM_KEY_BOOL, "", "", "",
     "velocities of the built-in flow in the plane are those of a stream function; without it they are where "
     "a "
     "steady flow has them given all around and its walls at rest hang together",
     0, 0},
    {"features", PCSIM_KEY_INTEGER, "", "", "", "of kinds with features", 1, 100000},
};
const size_t num_network_keys = sizeof network_keys / sizeof *network_keys;

const pcsim_key train_keys[] = {
    {"budget", PCSIM_KEY_TEXT, NULL, "", "", "how long: `60 s`, `5 min` or `2000 steps`", 0, 0},
    {"seed", PCSIM_KEY_INTEGER, "1", "", "", "of everything that is drawn at random", 0, 1e15},
    {"target", PCSIM_KEY_NUMBER, "", "", "",
     "root of the held-out loss to stop at (weighted root mean square of the residuals)", 0, 0},
    {"optimizer", PCSIM_KEY_ANY, "", "", "", "a name of `pcsim list optimizers`, or {NAME: {OPTION: ..}}", 0,
     0},
    {"points", PCSIM_KEY_INTEGER, "", "", "", "in the interior", 1, 1e8},
    {"condition-points", PCSIM_KEY_INTEGER, "", "", "", "on each place of penalised conditions", 1, 1e8},
    {"redraw", PCSIM_KEY_INTEGER, "", "", "", "steps after which all points are drawn anew; 0: never", 0,
     1e9},
    {"corner-points", PCSIM_KEY_NUMBER, "0.25", "", "",
     "share of the points that lie at corners in which the given velocities contradict continuity, evenly in "
     "the "
     "logarithm of the distance, each weighed by the density; 0: none",
     0, 0.9},
    {"slabs", PCSIM_KEY_INTEGER, "", "", "",
     "spans of time of equal length, one after the other, each with a network that starts where the last one "
     "ended",
     1, 1000},
    {"stages", PCSIM_KEY_INTEGER, "4", "", "",
     "networks at most, each a correction of those before, once these do not get any better", 1, 100},
    {"threads", PCSIM_KEY_INTEGER, "0", "", "",
     "0: as many as the process may use; the result does not depend on it", 0, 1024},
};
const size_t num_train_keys = sizeof train_keys / sizeof *train_keys;

const pcsim_key *pcsim_network_keys(size_t *n) {
  *n = num_network_keys;
  return network_keys;
}
const pcsim_key *pcsim_training_keys(size_t *n) {
  *n = num_train_keys;
  return train_keys;
}

bool pcsim_network_kind(size_t i, pcsim_training_kind *kind) {
  size_t n;
  const network_kind *const *list = network_list(&n);
  if (i < n) *kind = (pcsim_training_kind){list[i]->name, list[i]->help, list[i]->keys, list[i]->num_keys};
  return i < n;
}
bool pcsim_optimizer_kind(size_t i, pcsim_training_kind *kind) {
  size_t n;
  const optimizer_kind *const *list = optimizer_list(&n);
  if (i < n) *kind = (pcsim_training_kind){list[i]->name, list[i]->help, list[i]->keys, list[i]->num_keys};
  return i < n;
}

bool pcsim_training_given(const pcsim_tree *tree) {
  const pcsim_node *root = pcsim_tree_root(tree);
  return pcsim_node_get(root, "network") || pcsim_node_get(root, "train");
}

/* -------------------------------------------------------------------- network */

static const char *list_networks(char *text, size_t size) {
  size_t n, used = 0;
  const network_kind *const *list = network_list(&n);
  text[0] = '\0';
  for (size_t i = 0; i < n && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", list[i]->name);
  return text;
}

static void read_layers(pcsim_tree *tree, const pcsim_node *node, choice *c) {
  double width[NETWORK_LAYERS];
  int n = 0;
  if (!pcsim_node_numbers(tree, node, "layers", width, NETWORK_LAYERS, &n)) return;
  for (int i = 0; i < n; i++) {
    if (!(width[i] >= 1 && width[i] <= 4096 && width[i] == (int)width[i])) {
      pcsim_tree_problem(tree, pcsim_node_get(node, "layers"), "a layer has %g neurons; expected 1 to 4096",
                         width[i]);
      return;
    }
    c->network.width[i] = (int)width[i];
  }
  c->network.num_layers = n;
}

static void read_scale(pcsim_tree *tree, const pcsim_node *node, choice *c) {
  const pcsim_node *scale = pcsim_node_get(node, "scale");
  double number;
  int n = 0;
  if (!scale) return;
  if (pcsim_node_get_kind(scale) == PCSIM_NODE_SEQUENCE)
    (void)pcsim_node_numbers(tree, node, "scale", c->network.scale, DOMAIN_MAX, &n);
  else if (pcsim_node_number(tree, node, "scale", &number))
    for (int i = 0; i < DOMAIN_MAX; i++) c->network.scale[i] = number;
}

static void read_network(pcsim_tree *tree, train_options *o, choice *c) {
  pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "network");
  const char *text;
  int64_t features;
  if (!node) return;
  o->fixed_network = pcsim_node_size(node) > 0;
  pcsim_node_check(tree, node, network_keys, num_network_keys, "network");
  if (!pcsim_node_string(tree, node, "kind", &text) || !*text) text = NULL;
  if (text) c->network.kind = text;
  if (text && !network_find(text)) {
    char known[300];
    pcsim_tree_problem(tree, pcsim_node_get(node, "kind"), "no network `%.64s`; expected one of: %s", text,
                       list_networks(known, sizeof known));
  }
  pcsim_node_bool(tree, node, "polar", &o->polar);
  pcsim_node_bool(tree, node, "seam", &o->seam);
  pcsim_node_bool(tree, node, "wall-layers", &o->wall_layers);
  pcsim_node_bool(tree, node, "wall-rates", &o->wall_rates);
  read_layers(tree, node, c);
  read_scale(tree, node, c);
  if (pcsim_node_string(tree, node, "activation", &text) && *text) c->network.activation = text;
  o->fixed_stream = pcsim_node_bool(tree, node, "divergence-free", &c->stream);
  if (pcsim_node_integer(tree, node, "features", &features)) c->network.num_features = (int)features;
}

/* ------------------------------------------------------------------------ train */

/* "60 s", "5 min", "2 h" or "2000 steps". */
static void read_budget(pcsim_tree *tree, const pcsim_node *node, train_options *o) {
  const pcsim_node *budget = pcsim_node_get(node, "budget");
  if (!budget || pcsim_node_get_kind(budget) != PCSIM_NODE_SCALAR) return;
  const char *text = pcsim_node_text(budget);
  char *end;
  const double number = strtod(text, &end);
  end += strspn(end, " ");
  if (number > 0 && (!strcmp(end, "s") || !strcmp(end, "seconds"))) o->seconds = number;
  else if (number > 0 && (!strcmp(end, "min") || !strcmp(end, "minutes"))) o->seconds = 60 * number;
  else if (number > 0 && (!strcmp(end, "h") || !strcmp(end, "hours"))) o->seconds = 3600 * number;
  else if (number >= 0 && number < 1e15 && (!strcmp(end, "steps") || !strcmp(end, "step"))) {
    o->steps = (int64_t)number;
    if (!o->steps) pcsim_tree_problem(tree, budget, "a budget of no steps");
  } else
    pcsim_tree_problem(tree, budget,
                       "'budget' is `%.64s`; expected a positive number of s, min, h or steps, e.g. "
                       "`60 s`",
                       text);
}

static void report_optimizer(pcsim_tree *tree, const pcsim_node *at, const char *name) {
  size_t n;
  char known[300] = "";
  const optimizer_kind *const *list = optimizer_list(&n);
  for (size_t i = 0, used = 0; i < n && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", list[i]->name);
  pcsim_tree_problem(tree, at, "no optimizer `%.64s`; expected one of: %s", name, known);
}

static void read_optimizer(pcsim_tree *tree, pcsim_node *node, train_options *c) {
  pcsim_node *given = pcsim_node_get(node, "optimizer"), *options = NULL;
  if (!given) return;
  const bool named = pcsim_node_get_kind(given) == PCSIM_NODE_MAPPING && pcsim_node_size(given) == 1;
  const char *name = named ? pcsim_node_key(given, 0) : pcsim_node_text(given);
  if (named) options = pcsim_node_get(given, name);
  if (!*name) return;
  if (!(c->optimizer = optimizer_find(name))) {
    report_optimizer(tree, given, name);
    return;
  }
  optimizer_defaults(c->optimizer, c->optimizer_option);
  if (!options || pcsim_node_get_kind(options) != PCSIM_NODE_MAPPING) return;
  pcsim_node_check(tree, options, c->optimizer->keys, c->optimizer->num_keys, name);
  for (size_t i = 0; i < c->optimizer->num_keys; i++)
    pcsim_node_number(tree, options, c->optimizer->keys[i].name, &c->optimizer_option[i]);
}

/* Processors that this process may use. */
static int processors(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (int)n : 1;
}

void train_read_options(pcsim_tree *tree, train_options *o, choice *c) {
  int64_t number;
  *o = (train_options){.seed = 1,
                       .look = 20,
                       .on = -1,
                       .stages = 4,
                       .polar = true,
                       .seam = true,
                       .wall_layers = true,
                       .wall_rates = true,
                       .corner_points = 0.25};
  *c = (choice){.redraw = -1};
  read_network(tree, o, c);
  pcsim_node *node = pcsim_node_mapping(tree, pcsim_tree_root(tree), "train");
  if (!node) return;
  pcsim_node_check(tree, node, train_keys, num_train_keys, "train");
  read_budget(tree, node, o);
  read_optimizer(tree, node, o);
  if (pcsim_node_integer(tree, node, "seed", &number)) o->seed = (uint64_t)number;
  if (pcsim_node_integer(tree, node, "threads", &number)) o->threads = (int)number;
  if (!o->threads) o->threads = processors();
  pcsim_node_number(tree, node, "target", &o->target);
  pcsim_node_number(tree, node, "corner-points", &o->corner_points);
  o->fixed_points = pcsim_node_integer(tree, node, "points", &c->points);
  pcsim_node_integer(tree, node, "condition-points", &o->on);
  pcsim_node_integer(tree, node, "redraw", &c->redraw);
  if (pcsim_node_integer(tree, node, "slabs", &number)) c->slabs = (int)number;
  if (pcsim_node_integer(tree, node, "stages", &number)) o->stages = (int)number;
  c->network.seed = o->seed;
}
