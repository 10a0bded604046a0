/* SPDX-License-Identifier: BSD-2-Clause */
/* Residual and tangent of advection and diffusion: the typed equation's programs and the loops by hand, by
 * turns. */
#include "case.h"
#include "hand.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  transport *t;
  hand_laws hand;
  double *q, *mine, *theirs; /* [nt], [n], [n] */
} loops;

static void open_loops(const bench_case *b, loops *l) {
  const transport_choices choices = {.central = 1, .kappa = 1};
  double nu = 0;
  const pcsim_node *parameters = pcsim_node_get(pcsim_tree_root(b->tree), "parameters");
  if (!pcsim_node_number(b->tree, parameters, "nu", &nu)) bench_stop("parameters.nu");
  MUST(transport_create(b->mesh, b->problem, &choices, &l->t));
  MUST(hand_create(l->t, nu, &l->hand));
  MUST(pcsim_alloc((size_t)l->t->nt, sizeof *l->q, &l->q));
  MUST(pcsim_alloc((size_t)l->t->n, sizeof *l->mine, &l->mine));
  MUST(pcsim_alloc((size_t)l->t->n, sizeof *l->theirs, &l->theirs));
  for (int64_t c = 0; c < l->t->nt; c++) {
    const double *x = l->t->cell_coordinates + 4 * c;
    l->q[c] = l->t->q[c] = sin(3 * x[0]) * cos(2 * x[1]) + 0.1 * sin(50 * x[0] * x[1]);
  }
  MUST(transport_set_time(l->t, 0));
  MUST(transport_update_gradient(l->t, 0));
  MUST(transport_update_speed(l->t));
}

static void close_loops(loops *l) {
  hand_free(&l->hand);
  transport_destroy(&l->t);
  pcsim_free(&l->q), pcsim_free(&l->mine), pcsim_free(&l->theirs);
}

static void evaluate(loops *l, bool program, bool values) {
  if (!program) hand_residual(&l->hand, l->q, values, l->theirs);
  else if (values) MUST(transport_residual(l->t, 0, l->mine));
  else MUST(transport_tangent(l->t, l->q, l->mine));
}

/* Largest difference relative to the largest value. */
static double difference(const loops *l) {
  double most = 0, size = 0;
  for (int64_t c = 0; c < l->t->n; c++) {
    most = fmax(most, fabs(l->mine[c] - l->theirs[c]));
    size = fmax(size, fabs(l->theirs[c]));
  }
  return most / size;
}

/* Seconds of one evaluation, the best of `repeats` groups of about a twentieth of a second, by turns. */
static void measure(loops *l, bool values, int repeats, double seconds[2]) {
  int group = 1;
  for (double taken = 0; taken < 0.05; group *= 2) {
    const double begin = pcsim_time_cpu();
    for (int i = 0; i < group; i++) evaluate(l, true, values);
    taken = pcsim_time_cpu() - begin;
    if (taken >= 0.05) break;
  }
  seconds[0] = seconds[1] = INFINITY;
  for (int k = 0; k < repeats; k++)
    for (int program = 0; program < 2; program++) {
      const double begin = pcsim_time_cpu();
      for (int i = 0; i < group; i++) evaluate(l, program, values);
      seconds[program] = fmin(seconds[program], (pcsim_time_cpu() - begin) / group);
    }
}

void bench_loops(const bench_case *b, int repeats) {
  static const char *const names[] = {"tangent", "residual"};
  loops l = {0};
  open_loops(b, &l);
  printf("{\"cells\": %lld", (long long)l.t->n);
  for (int values = 1; values >= 0; values--) {
    double seconds[2];
    measure(&l, values, repeats, seconds);
    printf(", \"%s\": {\"program\": %.6g, \"hand\": %.6g, \"difference\": %.3g}", names[values], seconds[1],
           seconds[0], difference(&l));
  }
  printf("}\n");
  close_loops(&l);
}
