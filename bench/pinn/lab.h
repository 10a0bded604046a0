/* SPDX-License-Identifier: BSD-2-Clause */
/** @file lab.h  Optimisers and networks on equations with hand-made ansatz, without the reader of cases: what
 * defaults are judged with. */
#ifndef PCSIM_BENCH_PINN_LAB_H
#define PCSIM_BENCH_PINN_LAB_H

#include "pinn/network.h"
#include "pinn/objective.h"

enum { LAB_COORDINATES = 12, LAB_EQUATIONS = 4, LAB_CONDITIONS = 24 };

/** A penalised condition at the low (0) or high (1) end of a coordinate. */
typedef struct {
  int coordinate, end;
  const char *text;
} lab_condition;

typedef struct {
  const char *name;
  int num_coordinates;
  const char *coordinate[LAB_COORDINATES];
  double range[LAB_COORDINATES][2];
  int periodic; /**< bits of the coordinates whose sine and cosine the network sees */
  int num_unknowns;
  const char *unknown[LAB_EQUATIONS];
  const char *ansatz[LAB_EQUATIONS]; /**< of the coordinates and the network's outputs n0, n1, ... */
  int num_equations;
  const char *equation[LAB_EQUATIONS];
  /** Exact first unknown, as an expression or a function; NULL: unknown. */
  const char *exact;
  double (*exact_function)(const double *x);
  int num_conditions;
  lab_condition condition[LAB_CONDITIONS];
} lab_problem;
const lab_problem *lab_problem_find(const char *name);
const lab_problem *lab_problem_get(int i); /**< NULL past the end */

/** A problem with a network and points; `weight` of the mean square of penalised conditions. */
typedef struct lab_setup lab_setup;
pcsim_status lab_create(const lab_problem *p, const network_options *network, double weight, int threads,
                        lab_setup **s);
void lab_destroy(lab_setup **s);
int64_t lab_num_parameters(const lab_setup *s);
/** Start values of the parameters. */
const double *lab_start(const lab_setup *s);
/** n points, the first `keep` of the inside being those that there are, the others new ones for each draw;
 * adaptive: their density grows with the residual at `theta`. */
pcsim_status lab_draw(lab_setup *s, uint64_t seed, uint64_t draw, int64_t n, bool adaptive, int64_t keep,
                      const double *theta);
objective *lab_objective(lab_setup *s);
/** Root mean square of the residual on n points that no draw gives, and its largest. */
pcsim_status lab_held_out(lab_setup *s, uint64_t seed, int64_t n, const double *theta, double *rms,
                          double *largest);
/** Relative L2 error of the first unknown on n points; NAN: no exact solution. */
pcsim_status lab_error(lab_setup *s, int64_t n, const double *theta, double *error);

#endif
