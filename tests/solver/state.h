/* SPDX-License-Identifier: BSD-2-Clause */
/** @file state.h  Random states of a flow with every kind of boundary, on every kind of cell. */
#ifndef PCSIM_TEST_SOLVER_STATE_H
#define PCSIM_TEST_SOLVER_STATE_H

#include "solver/sample.h"

/* All kinds of boundaries; the outlet sucks on part of it in a random state. */
static const char *const boundaries[] = {
    "physics: {model: navier-stokes, density: 1.3, viscosity: 0.02, force: [0.3, -0.2]}\n"
    "boundaries:\n"
    "  x-min: {velocity: [\"1+y\", \"0.2*x\"]}\n"
    "  x-max: {pressure: \"0.1*y\"}\n"
    "  y-min: {wall: no-slip, velocity: [0.5, 0.2]}\n"
    "  y-max: {total-pressure: \"1+x\"}\n",
    "physics: {model: navier-stokes, density: 1.3, viscosity: 0.02, force: [0.3, -0.2, 0.1]}\n"
    "boundaries:\n"
    "  x-min: {velocity: [\"1+y\", \"0.2*x\", \"0.1*z\"]}\n"
    "  x-max: {pressure: \"0.1*y\"}\n"
    "  y-min: {wall: no-slip, velocity: [0.5, 0.2, -0.1]}\n"
    "  y-max: {total-pressure: \"1+x\"}\n"
    "  z-min: {wall: slip}\n"
    "  z-max: {symmetry: true}\n"};

typedef struct {
  sample_case c;
  flow *f;
  int64_t size; /* owned unknowns */
  double *v, *y, *plus, *minus, *q0;
} setup;

static inline void random_vector(const flow *f, int seed, double *x) {
  const int m = f->dim + 1;
  for (int64_t i = 0; i < f->n * m; i++) x[i] = noise(f->view->cell_original[i / m], seed + (int)(i % m));
}

/* A random state with its mass fluxes and coefficients, of the case that stands there. */
static inline void begin_state(setup *t) {
  assert_ok(flow_create(t->c.mesh, t->c.problem, &t->c.options, &t->f));
  t->size = t->f->n * (t->f->dim + 1);
  double **all[] = {&t->v, &t->y, &t->plus, &t->minus, &t->q0};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    assert_ok(pcsim_alloc((size_t)(t->f->nt * (t->f->dim + 1)), sizeof(double), all[i]));
  random_vector(t->f, 0, t->f->q);
  random_vector(t->f, 4, t->v);
  assert_ok(flow_residual(t->f, t->y)); /* mass fluxes */
  assert_ok(flow_update_coefficients(t->f));
  assert_ok(flow_residual(t->f, t->y));
  memcpy(t->q0, t->f->q, (size_t)t->size * sizeof(double));
}

static inline setup set_up(MPI_Comm comm, const sample *s, double central, double kappa, double wall_order) {
  setup t = {.c = case_of(sample_mesh(comm, s), boundaries[sample_dim(s) - 2])};
  t.c.options.central = central, t.c.options.kappa = kappa, t.c.options.wall_order = wall_order;
  begin_state(&t);
  return t;
}

static inline void tear_down(setup *t) {
  double **all[] = {&t->v, &t->y, &t->plus, &t->minus, &t->q0};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) pcsim_free(all[i]);
  flow_destroy(&t->f);
  case_free(&t->c);
}

static inline double norm2(int64_t n, const double *x) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(sum);
}

static inline sample small(lattice_kind kind) {
  const bool flat = kind < LATTICE_HEXA;
  return (sample){kind, flat ? 8 : 4, flat ? 7 : 4, flat ? 0 : 3, 0.12, flat ? &askew_2d : &askew_3d};
}

#endif
