/* SPDX-License-Identifier: BSD-2-Clause */
/** @file lab.c  One problem, one network, one optimiser:
 *
 *      bench-pinn-lab PROBLEM [name=value ...]
 *
 *  choose (1: network, scales, points and optimiser by the default), seconds (of processor time), steps,
 * seed, kind, layers (20,20,20), activation, scale (one for all, or one for each coordinate), points, redraw
 * (steps; 0: never), adaptive (0, 1), weight (of penalised conditions), optimizer, threads, every (steps
 * between lines). A line holds step, evaluations, processor seconds, loss, residual on held-out points and,
 * where it is known, the error. */
#include "lab.h"
#include "pinn/choose.h"
#include "pinn/optimizer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *option(int argc, char **argv, const char *name, const char *fallback) {
  const size_t n = strlen(name);
  for (int i = 2; i < argc; i++)
    if (!strncmp(argv[i], name, n) && argv[i][n] == '=') return argv[i] + n + 1;
  return fallback;
}
static double number(int argc, char **argv, const char *name, const char *fallback) {
  return strtod(option(argc, argv, name, fallback), NULL);
}
static int numbers(const char *text, int max, double *values) {
  int n = 0;
  for (char *end; n < max; text = end + 1) {
    values[n] = strtod(text, &end);
    if (end == text) break;
    n++;
    if (*end != ',') break;
  }
  return n;
}

/** What the trials of the default need. */
typedef struct {
  const lab_problem *p;
  double weight;
  uint64_t seed;
  int threads;
} trial_context;

/** Add points where they are too few: choose_points. */
static pcsim_status grow(lab_setup *s, uint64_t seed, uint64_t draw, double loss, const double *theta,
                         const optimizer_kind *kind, optimizer *o, int64_t *points) {
  double rms, largest;
  PCSIM_TRY(lab_held_out(s, seed, 2000, theta, &rms, &largest));
  const int64_t more = choose_points(*points, lab_num_parameters(s), sqrt(2 * loss), rms);
  if (more == *points) return PCSIM_OK;
  PCSIM_TRY(lab_draw(s, seed, draw, more, true, *points, theta));
  kind->changed(o);
  *points = more;
  return PCSIM_OK;
}

/** Steps by steps from the start of a choice, with its draws of points; then the residual on points not seen.
 */
static pcsim_status try_choice(void *context, const choice *c, int64_t steps, double *held_out) {
  const trial_context *t = context;
  const optimizer_kind *kind = optimizer_find(c->optimizer);
  lab_setup *s = NULL;
  optimizer *o = NULL;
  double *theta = NULL, options[16], largest;
  const double begin = pcsim_time_cpu();
  PCSIM_TRY(lab_create(t->p, &c->network, t->weight, t->threads, &s));
  PCSIM_TRY(pcsim_alloc((size_t)lab_num_parameters(s), sizeof *theta, &theta));
  memcpy(theta, lab_start(s), (size_t)lab_num_parameters(s) * sizeof *theta);
  PCSIM_TRY(lab_draw(s, t->seed, 0, c->points, false, 0, theta));
  optimizer_defaults(kind, options);
  PCSIM_TRY(kind->create(lab_num_parameters(s), options, t->threads, &o));
  optimizer_report report = {0};
  int64_t points = c->points;
  for (int64_t i = 1; i <= steps && !report.stalled; i++) {
    PCSIM_TRY(kind->step(o, lab_objective(s), theta, &report));
    if (i < steps && i % c->look == 0)
      PCSIM_TRY(grow(s, t->seed, (uint64_t)(i / c->look), report.loss, theta, kind, o, &points));
  }
  PCSIM_TRY(lab_held_out(s, t->seed, 2000, theta, held_out, &largest));
  printf("# %s %g, %g: %lld steps %.2f s loss %.3e held-out %.3e\n", c->network.activation,
         c->network.scale[0], c->network.scale[1], (long long)steps, pcsim_time_cpu() - begin, report.loss,
         *held_out);
  kind->destroy(&o);
  pcsim_free(&theta);
  lab_destroy(&s);
  return PCSIM_OK;
}

static pcsim_status run(int argc, char **argv) {
  const lab_problem *p = lab_problem_find(argc > 1 ? argv[1] : "");
  PCSIM_CHECK(p, PCSIM_ERR_ARG, "no problem '%s'", argc > 1 ? argv[1] : "");
  const double seconds = number(argc, argv, "seconds", "20"), weight = number(argc, argv, "weight", "100");
  const int64_t steps = (int64_t)number(argc, argv, "steps", "1e9");
  int64_t n = (int64_t)number(argc, argv, "points", "2048");
  int64_t redraw = (int64_t)number(argc, argv, "redraw", "0"),
          every = (int64_t)number(argc, argv, "every", "200");
  int64_t look = (int64_t)number(argc, argv, "look", "0");
  const uint64_t seed = (uint64_t)number(argc, argv, "seed", "1");
  const int threads = (int)number(argc, argv, "threads", "1");
  network_options net = {.kind = option(argc, argv, "kind", "mlp"),
                         .activation = option(argc, argv, "activation", "tanh"),
                         .num_outputs = p->num_unknowns,
                         .seed = seed,
                         .num_features = (int)number(argc, argv, "features", "16")};
  double layers[NETWORK_LAYERS], scales[LAB_COORDINATES];
  net.num_layers = numbers(option(argc, argv, "layers", "20,20"), NETWORK_LAYERS, layers);
  for (int i = 0; i < net.num_layers; i++) net.width[i] = (int)layers[i];
  const int given = numbers(option(argc, argv, "scale", "1"), LAB_COORDINATES, scales);
  for (int i = 0; i < p->num_coordinates; i++) net.scale[i] = scales[i < given ? i : given - 1];
  choice c = {.network = net,
              .points = n,
              .redraw = redraw,
              .optimizer = option(argc, argv, "optimizer", "ssbroyden")};
  if (number(argc, argv, "choose", "0") != 0) {
    trial_context context = {p, weight, seed, threads};
    char why[400];
    c = (choice){.network = {.num_inputs = p->num_coordinates, .num_outputs = p->num_unknowns, .seed = seed},
                 .redraw = -1};
    PCSIM_TRY(choose(
        &(choose_problem){
            .seconds = seconds / 2, .threads = 2, .try_choice = try_choice, .context = &context},
        &c, why, sizeof why));
    printf("# %s\n", why);
    net = c.network, n = c.points, redraw = c.redraw, look = c.look;
  }
  const optimizer_kind *kind = optimizer_find(c.optimizer);
  PCSIM_CHECK(kind, PCSIM_ERR_ARG, "no such optimizer");

  lab_setup *s = NULL;
  PCSIM_TRY(lab_create(p, &net, weight, threads, &s));
  const size_t bytes = (size_t)lab_num_parameters(s) * sizeof(double);
  double *theta, options[16];
  PCSIM_TRY(pcsim_alloc((size_t)lab_num_parameters(s), sizeof *theta, &theta));
  memcpy(theta, lab_start(s), bytes);
  PCSIM_TRY(lab_draw(s, seed, 0, n, false, 0, theta));
  optimizer *o = NULL;
  optimizer_defaults(kind, options);
  for (size_t i = 0; i < kind->num_keys; i++)
    options[i] = number(argc, argv, kind->keys[i].name, kind->keys[i].fallback);
  PCSIM_TRY(kind->create(lab_num_parameters(s), options, threads, &o));
  printf("# %s: %lld parameters, %lld residuals\n", p->name, (long long)lab_num_parameters(s),
         (long long)lab_objective(s)->num_residuals);
  const double begin = pcsim_time_cpu();
  double aside = 0;
  int64_t evaluations = 0;
  const optimizer_kind *then = optimizer_find(option(argc, argv, "then", ""));
  const double after = number(argc, argv, "after", "10");
  double loss = INFINITY;
  const bool adaptive = number(argc, argv, "adaptive", "1") != 0;
  for (int64_t step = 1; step <= steps; step++) {
    optimizer_report report;
    if (redraw && step % redraw == 0) {
      PCSIM_TRY(lab_draw(s, seed, (uint64_t)(step / redraw), n, adaptive, 0, theta));
      kind->changed(o);
    }
    if (then && pcsim_time_cpu() - begin - aside > after) {
      kind->destroy(&o);
      kind = then, then = NULL;
      optimizer_defaults(kind, options);
      PCSIM_TRY(kind->create(lab_num_parameters(s), options, threads, &o));
    }
    if (look && step > 1 && step % look == 1)
      PCSIM_TRY(grow(s, seed, (uint64_t)(step / look), loss, theta, kind, o, &n));
    PCSIM_TRY(kind->step(o, lab_objective(s), theta, &report));
    evaluations += report.evaluations;
    loss = report.loss;
    const double spent = pcsim_time_cpu() - begin - aside;
    const bool last = step == steps || spent > seconds || (report.stalled && !redraw);
    if (step % every == 0 || last) {
      const double before = pcsim_time_cpu();
      double rms, largest, error;
      PCSIM_TRY(lab_held_out(s, seed, 4000, theta, &rms, &largest));
      PCSIM_TRY(lab_error(s, 4000, theta, &error));
      printf("%6lld %7lld %7.2f s  loss %.3e  |g| %.2e  held-out %.3e  largest %.2e  error %.3e  points "
             "%lld%s\n",
             (long long)step, (long long)evaluations, spent, report.loss, report.gradient_norm, rms, largest,
             error, (long long)n, report.stalled ? " stalled" : "");
      fflush(stdout);
      aside += pcsim_time_cpu() - before;
    }
    if (last) break;
  }
  kind->destroy(&o);
  pcsim_free(&theta);
  lab_destroy(&s);
  return PCSIM_OK;
}

int main(int argc, char **argv) {
  if (run(argc, argv) == PCSIM_OK) return 0;
  fprintf(stderr, "%s\n", pcsim_error_message());
  return 1;
}
