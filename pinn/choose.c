/* SPDX-License-Identifier: BSD-2-Clause */
#include "choose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  TRIALS_MAX = 16,
  SIEVE_STEPS = 300,  /**< of every candidate */
  SIEVE_LEAST = 30,   /**< fewer tell nothing */
  FINAL_STEPS = 1200, /**< of the best few */
  FINALISTS = 3,
  NUM_SLABS = 4,
  SLAB_STEPS = 480, /**< of trials of slabs */
  TRIAL_WIDTH = 25, /**< a small network tells scales apart as well */
  TRIAL_POINTS = 1024,
  BODIES_MAX = 3, /**< of which each has as many points more as the space without them */
  TRIAL_LOOKS = 3,
  REFINED_INPUTS = 3 /**< beyond as many inputs, all have one scale */
};
/** A budget from which on trials take all their steps: they are then some tenth of it. */
static const double trial_seconds = 60;

typedef struct {
  const char *activation;
  double scale;
  bool waves; /**< sines and cosines of those of what is given are inputs */
  double held_out;
} trial;

/** Sines for what oscillates, tanh for what has layers; scales from a smooth function to some tens of
 *  oscillations. */
static const trial candidates[] = {
    {"tanh", 1, false, 0}, {"tanh", 3, false, 0}, {"sin", 1, false, 0},  {"sin", 2, false, 0},
    {"sin", 4, false, 0},  {"sin", 8, false, 0},  {"sin", 16, false, 0}, {"tanh", 1, true, 0},
    {"sin", 1, true, 0},   {"sin", 2, true, 0},
};

/** A choice at work. */
typedef struct {
  const choose_problem *p;
  choice *c;
  bool open_activation, open_layers;
  double best; /**< residual of `c` in the last trials */
} chooser;

static void set_scale(network_options *n, double scale) {
  for (int i = 0; i < n->num_inputs; i++) n->scale[i] = scale;
}

static void set_trial(const chooser *x, const trial *t) {
  network_options *n = &x->c->network;
  n->activation = t->activation;
  set_scale(n, t->scale);
  memset(n->num_waves, 0, sizeof n->num_waves);
  if (!t->waves) return;
  memcpy(n->num_waves, x->p->waves->num_waves, sizeof n->num_waves);
  memcpy(n->wave, x->p->waves->wave, sizeof n->wave);
}

static bool has_waves(const network_options *n) {
  for (int i = 0; n && i < NETWORK_COORDINATES; i++)
    if (n->num_waves[i]) return true;
  return false;
}

static int counted_bodies(const choose_problem *p) {
  return p->bodies > BODIES_MAX ? BODIES_MAX : p->bodies > 0 ? p->bodies : 0;
}

/** With fewer points trials in a space with bodies tell how well points are fitted, not the solution. */
static int64_t trial_points(const choose_problem *p) { return TRIAL_POINTS * (p->bodies > 0 ? 2 : 1); }

/** Share of their steps that trials take. */
static double trial_share(const choose_problem *p) {
  const int networks = p->networks > 1 ? p->networks : 1, /* a step is so much dearer */
      bodies = counted_bodies(p);                         /* likewise, by points and inputs */
  if (p->steps) return fmin(1, (double)p->steps / (20. * FINAL_STEPS));
  return fmin(1, p->seconds / (trial_seconds * networks * (1 + bodies)));
}

static pcsim_status run_trial(const chooser *x, const choice *c, int steps, double *held_out) {
  choice small = *c;
  const int64_t taken = (int64_t)(trial_share(x->p) * steps);
  if (small.points > trial_points(x->p)) small.points = trial_points(x->p);
  if (small.look > taken / TRIAL_LOOKS) small.look = taken / TRIAL_LOOKS;
  for (int i = 0; x->open_layers && i < small.network.num_layers; i++)
    if (small.network.width[i] > TRIAL_WIDTH) small.network.width[i] = TRIAL_WIDTH;
  PCSIM_TRY(x->p->try_choice(x->p->context, &small, taken, held_out));
  if (!(*held_out >= 0)) *held_out = INFINITY;
  return PCSIM_OK;
}

static void sort_trials(trial *t, int n) {
  for (int i = 1; i < n; i++) {
    const trial moved = t[i];
    int j = i;
    for (; j > 0 && t[j - 1].held_out > moved.held_out; j--) t[j] = t[j - 1];
    t[j] = moved;
  }
}

/** Activation and one scale for all inputs: all candidates for a few steps, the best few for more. */
static pcsim_status choose_activation(chooser *x) {
  network_options *net = &x->c->network;
  trial t[TRIALS_MAX];
  int n = 0;
  for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
    if ((x->open_activation || !strcmp(candidates[i].activation, net->activation)) &&
        (!candidates[i].waves || has_waves(x->p->waves)))
      t[n++] = candidates[i];
  if (!n) { /* an activation that the case names and the list has not: its scales are those of tanh */
    t[n++] = (trial){net->activation, 1, false, 0};
    t[n++] = (trial){net->activation, 3, false, 0};
  }
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < n; i++) {
      set_trial(x, &t[i]);
      PCSIM_TRY(run_trial(x, x->c, round ? FINAL_STEPS : SIEVE_STEPS, &t[i].held_out));
    }
    sort_trials(t, n);
    if (n > FINALISTS) n = FINALISTS;
  }
  set_trial(x, &t[0]);
  x->best = t[0].held_out;
  return PCSIM_OK;
}

/** Twice or half the scale of one input after the other, where the residual falls by a fifth or more. */
static pcsim_status refine_scales(chooser *x) {
  const double worth = 0.8;
  for (int i = 0; i < x->c->network.num_inputs; i++)
    for (int down = 0; down < 2; down++) {
      choice other = *x->c;
      double held_out;
      other.network.scale[i] *= down ? 0.5 : 2;
      PCSIM_TRY(run_trial(x, &other, FINAL_STEPS, &held_out));
      if (!(held_out < worth * x->best)) continue;
      *x->c = other;
      x->best = held_out;
      break;
    }
  return PCSIM_OK;
}

/** Several slabs of time where one network does not carry the whole of it: after as many steps its residual
 * is still a good part of that at the start, and that of a first slab is far smaller. Measured:
 * docs/training.md. */
static pcsim_status choose_slabs(chooser *x) {
  const double carried = 5e-3, worth = 1. / 8;
  const int steps = (int)ceil(SLAB_STEPS / trial_share(x->p));
  choice other = *x->c;
  double start, whole, first;
  if (steps > FINAL_STEPS) return PCSIM_OK; /* slabs would be too short */
  PCSIM_TRY(run_trial(x, x->c, 0, &start));
  PCSIM_TRY(run_trial(x, x->c, steps, &whole));
  if (!(whole > carried * start)) return PCSIM_OK;
  other.slabs = NUM_SLABS;
  PCSIM_TRY(run_trial(x, &other, steps, &first));
  if (first < worth * whole) *x->c = other;
  return PCSIM_OK;
}

static bool scales_open(const network_options *n) {
  for (int i = 0; i < n->num_inputs; i++)
    if (n->scale[i] > 0) return false;
  return true;
}

/** Sizes by the budget: a longer one has time for more numbers. */
static void choose_sizes(const choose_problem *p, choice *c) {
  network_options *n = &c->network;
  const double seconds = p->steps ? 60 : p->seconds * (p->threads > 1 ? 2 : 1);
  if (!n->kind) n->kind = "mlp";
  if (!n->num_layers) {
    n->num_layers = 3;
    const int width = (seconds < 240 ? 20 : 30) + 5 * (n->num_outputs - 1);
    for (int i = 0; i < n->num_layers; i++) n->width[i] = width;
  }
  if (c->points <= 0) c->points = n->num_inputs <= 2 ? 1024 : 2048 * (1 + counted_bodies(p));
  if (c->redraw < 0) c->redraw = 0;
  if (c->look <= 0) c->look = 300;
  if (c->slabs <= 0) c->slabs = 1;
}

/** Numbers of the plain network, to tell what an optimiser has to hold. */
static int64_t count_numbers(const network_options *n) {
  int64_t sum = 0, from = n->num_inputs;
  for (int i = 0; i < n->num_layers; i++) {
    sum += (from + 1) * n->width[i];
    from = n->width[i];
  }
  return sum + (from + 1) * n->num_outputs;
}

static void explain(const choice *c, const char *reason, char *why, size_t size) {
  const network_options *n = &c->network;
  int at = snprintf(why, size, "%s, %s %d", c->optimizer, n->kind, n->width[0]);
  for (int i = 1; i < n->num_layers && at < (int)size; i++)
    at += snprintf(why + at, size - (size_t)at, "-%d", n->width[i]);
  if (at < (int)size) at += snprintf(why + at, size - (size_t)at, " %s, scale", n->activation);
  bool same = true;
  for (int i = 1; i < n->num_inputs; i++) same = same && n->scale[i] == n->scale[0];
  for (int i = 0; i < (same ? 1 : n->num_inputs) && at < (int)size; i++)
    at += snprintf(why + at, size - (size_t)at, "%s%g", i ? ", " : " ", n->scale[i]);
  if (has_waves(n) && at < (int)size) at += snprintf(why + at, size - (size_t)at, ", waves");
  for (int i = 0; i < n->num_inputs; i++)
    for (int k = 0; k < n->num_waves[i] && at < (int)size; k++)
      at += snprintf(why + at, size - (size_t)at, "%s%.3g", k ? ", " : " ", n->wave[i][k]);
  if (at < (int)size) at += snprintf(why + at, size - (size_t)at, ", %lld points", (long long)c->points);
  if (c->slabs > 1 && at < (int)size)
    at += snprintf(why + at, size - (size_t)at, ", %d slabs of time", c->slabs);
  if (c->redraw && at < (int)size)
    at += snprintf(why + at, size - (size_t)at, " drawn every %lld steps", (long long)c->redraw);
  if (at < (int)size) snprintf(why + at, size - (size_t)at, ": %s", reason);
}

int64_t choose_more_points(int64_t points) { return points + 2 * points / 5; }

int64_t choose_points(int64_t points, int64_t parameters, double trained, double held_out) {
  const int64_t most = 16 * parameters, more = choose_more_points(points);
  if (!(held_out > 2.5 * trained) || points >= most) return points;
  return more < most ? more : most;
}

/** What the case leaves open as in the network before; `layers`, `activation`: these are open. */
static void take_before(const network_options *before, network_options *n, bool layers, bool activation) {
  if (layers) {
    n->num_layers = before->num_layers;
    memcpy(n->width, before->width, sizeof n->width);
  }
  if (activation) n->activation = before->activation;
  memcpy(n->scale, before->scale, sizeof n->scale);
  memcpy(n->num_waves, before->num_waves, sizeof n->num_waves);
  memcpy(n->wave, before->wave, sizeof n->wave);
}

pcsim_status choose(const choose_problem *p, choice *c, char *why, size_t size) {
  enum {
    DENSE_MAX = 8000
  }; /* numbers for which a dense matrix is worth its memory and time: half a gigabyte */
  network_options *n = &c->network;
  chooser x = {p, c, !n->activation, !n->num_layers, INFINITY};
  const bool open_scales = scales_open(n), open_slabs = c->slabs <= 0;
  const char *reason = "as the case says";
  choose_sizes(p, c);
  if (!c->optimizer)
    c->optimizer =
        (p->networks > 1 ? p->networks : 1) * count_numbers(n) <= DENSE_MAX ? "ssbroyden" : "lbfgs";
  if (x.open_activation) n->activation = "tanh";
  if (open_scales) {
    set_scale(n, 1);
    reason = p->try_choice ? "no time for trials" : "no trials";
    if (p->try_choice && !(p->before && p->like_before) && trial_share(p) * SIEVE_STEPS >= SIEVE_LEAST) {
      PCSIM_TRY(choose_activation(&x));
      if (n->num_inputs <= REFINED_INPUTS && isfinite(x.best)) PCSIM_TRY(refine_scales(&x));
      if (open_slabs && isfinite(x.best)) PCSIM_TRY(choose_slabs(&x));
      reason = "least residual on points not trained on, in short trials";
    } else if (p->before) {
      take_before(p->before, n, x.open_layers, x.open_activation);
      reason = "as the network before";
    }
  }
  for (int i = 0; i < n->num_inputs; i++)
    if (!(n->scale[i] > 0)) n->scale[i] = 1;
  explain(c, reason, why, size);
  return PCSIM_OK;
}
