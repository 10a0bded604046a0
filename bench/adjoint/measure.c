/* SPDX-License-Identifier: BSD-2-Clause */
/** @file measure.c  What an adjoint costs beside a linearised solve, and an estimated error beside the whole
 *  solution: see README.md. */
#include "bench/generate.h"
#include "bench/program.h"
#include "solver/transport_linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A law with parameters and a quantity. */
typedef struct {
  const char *name, *text;
  const char *unknown, *of; /* the quantity integrated over the domain */
  int num;
  const char *parameter[8];
} law;

static const law laws[] = {
    {"heat",
     "parameters: {k: 1, a: 1, h: 2, q: 3}\n"
     "mesh: {shape: box, n: [N, N], cells: CELLS, distort: 0.2, seed: 1}\n"
     "physics: {unknowns: [u], equations: [\"-div(k*(1 + u^2)*grad(u)) - q*x\"]}\n"
     "boundaries: {x-min: {u: \"a*y\"}, x-max: {flux: {u: \"h*(u - 1)\"}}, \"*\": {symmetry: true}}\n",
     "u",
     "u^2",
     4,
     {"k", "a", "h", "q"}},
    {"advection-diffusion",
     "parameters: {k: 0.02, w: 1, a: 1}\n"
     "mesh: {shape: box, n: [N, N], cells: CELLS, distort: 0.2, seed: 1}\n"
     "physics: {unknowns: [u], equations: [\"div(vector(w*(1 + y), 0.5 - x)*u - k*grad(u))\"]}\n"
     "boundaries: {x-min: {u: \"a*sin(pi*y)\"}, \"*\": {u: 0}}\n",
     "u",
     "x*u",
     3,
     {"k", "w", "a"}},
    {"elasticity",
     "parameters: {E: 1, p: 0.3, g: 0.1}\n"
     "mesh: {shape: box, n: [N, N], cells: CELLS, distort: 0.2, seed: 1}\n"
     "physics: {unknowns: [ux, uy], coefficients: {l: \"E*p/((1 + p)*(1 - 2*p))\", m: \"E/(2*(1 + p))\"},\n"
     "  equations: [\"-div(l*(ux_x + uy_y) + 2*m*ux_x, m*(ux_y + uy_x))\",\n"
     "              \"-div(m*(ux_y + uy_x), l*(ux_x + uy_y) + 2*m*uy_y) + g\"]}\n"
     "boundaries: {x-min: {ux: 0, uy: 0}, \"*\": {symmetry: true}}\n",
     "ux",
     "ux",
     3,
     {"E", "p", "g"}},
};
enum { NUM_LAWS = sizeof laws / sizeof *laws };

/** Seconds of processor time, the least of the repetitions. */
typedef struct {
  double whole;   /* the whole nonlinear solution */
  double solve;   /* one linearised solve with its preconditioner */
  double adjoint; /* value, adjoint, derivatives by all parameters */
  double estimate;
} times;

/* The law's text with N blocks a side of these cells. */
static void write_text(const law *l, int blocks, const char *cells, char *text, size_t size) {
  size_t used = 0;
  for (const char *at = l->text; *at && used + 32 < size;) {
    if (!strncmp(at, "[N, N]", 6)) {
      used += (size_t)snprintf(text + used, size - used, "[%d, %d]", blocks, blocks);
      at += 6;
    } else if (!strncmp(at, "CELLS", 5)) {
      used += (size_t)snprintf(text + used, size - used, "%s", cells);
      at += 5;
    } else {
      text[used++] = *at++;
    }
  }
  text[used] = '\0';
}

/* ---------------------------------------------------------------------- a case */

typedef struct {
  pcsim_tree *tree;
  pcsim_mesh *mesh, *fine;
  pcsim_transport_problem *problem, *fine_problem;
  pcsim_transport_solver *solver;
  pcsim_program *of;
} made;

static void make_mesh(made *m) {
  pcsim_raw_mesh *raw = bench_generate(m->tree), *fine = NULL;
  bench_must(pcsim_raw_mesh_refine(raw, &fine), "refine");
  bench_must(pcsim_mesh_create(MPI_COMM_WORLD, raw, &m->mesh), "mesh");
  bench_must(pcsim_mesh_create(MPI_COMM_WORLD, fine, &m->fine), "refined mesh");
  pcsim_raw_mesh_destroy(&raw), pcsim_raw_mesh_destroy(&fine);
}

static void make(const law *l, int blocks, const char *cells, made *m) {
  static const char *const coordinates[] = {"x", "y"};
  const pcsim_lowering names = {
      .num_coordinates = 2, .coordinates = coordinates, .num_unknowns = 1, .unknowns = &l->unknown};
  const pcsim_transport_options options = pcsim_transport_options_default();
  char text[2048];
  write_text(l, blocks, cells, text, sizeof text);
  *m = (made){0};
  bench_must(pcsim_tree_parse(text, strlen(text), "case", &m->tree), "case");
  make_mesh(m);
  bench_must(pcsim_transport_problem_read(m->tree, m->mesh, &m->problem), "problem");
  bench_must(pcsim_transport_problem_read(m->tree, m->fine, &m->fine_problem), "problem");
  bench_must(pcsim_tree_status(m->tree), "case");
  bench_must(pcsim_transport_solver_create(m->mesh, m->problem, &options, &m->solver), "solver");
  bench_must(pcsim_lower(&l->of, 1, &names, &m->of, NULL, NULL), l->of);
}

static void unmake(made *m) {
  pcsim_program_destroy(&m->of);
  pcsim_transport_solver_destroy(&m->solver);
  pcsim_transport_problem_destroy(&m->problem), pcsim_transport_problem_destroy(&m->fine_problem);
  pcsim_mesh_destroy(&m->mesh), pcsim_mesh_destroy(&m->fine);
  pcsim_tree_destroy(&m->tree);
}

/* ----------------------------------------------------------------------- times */

static void least(double *time, double since) { *time = fmin(*time, pcsim_time_cpu() - since); }

/* One Newton step's system at the solution, with a right side of every frequency. */
static void time_solve(const discrete_system *system, double tolerance, times *t) {
  const size_t size = (size_t)(system->n * system->m);
  double *b = NULL, *x = NULL;
  int64_t iterations;
  bool converged;
  bench_must(pcsim_alloc(size, sizeof *b, &b), "memory");
  bench_must(pcsim_alloc(size, sizeof *x, &x), "memory");
  for (size_t i = 0; i < size; i++)
    b[i] = system->volume[i / (size_t)system->m] * (1 + (double)(i * 7919 % 4001) / 4001);
  const double begin = pcsim_time_cpu();
  bench_must(system->freeze(system->context, 0, true), "freeze");
  bench_must(system->residual(system->context, 0, x), "residual");
  system->set_shift(system->context, INFINITY, INFINITY);
  bench_must(system->renew(system->context), "preconditioner");
  bench_must(system->solve(system->context, b, tolerance, x, &iterations, &converged), "solve");
  if (!converged) bench_stop("the linearised solve missed its tolerance");
  least(&t->solve, begin);
  pcsim_free(&b), pcsim_free(&x);
}

static void measure(const law *l, int blocks, const char *cells, int repetitions) {
  const double tolerance = 1e-8;
  const pcsim_transport_options options = pcsim_transport_options_default();
  times t = {INFINITY, INFINITY, INFINITY, INFINITY};
  double derivative[8], *psi = NULL, *indicator = NULL;
  made m;
  make(l, blocks, cells, &m);
  const int64_t n = pcsim_mesh_get(m.mesh)->num_cells;
  const int unknowns = pcsim_transport_problem_get(m.problem)->num_unknowns;
  bench_must(pcsim_alloc((size_t)(n * unknowns), sizeof *psi, &psi), "memory");
  bench_must(pcsim_alloc((size_t)n, sizeof *indicator, &indicator), "memory");
  const double begin = pcsim_time_cpu();
  pcsim_solve_result result;
  bench_must(pcsim_transport_solver_run(m.solver, NULL, NULL, &result), "run");
  t.whole = pcsim_time_cpu() - begin;
  /* the same discrete laws, to time the parts of a Newton step */
  const transport_choices choices = {.central = 1, .kappa = options.kappa, .degree = options.degree};
  transport_context context = {0};
  discrete_system system;
  pcsim_transport_fields fields;
  bench_must(transport_create(m.mesh, m.problem, &choices, &context.t), "laws");
  bench_must(transport_linear_create(context.t, &options, &context.linear), "linear");
  transport_system(&context, &system);
  bench_must(pcsim_transport_solver_fields(m.solver, &fields), "fields");
  for (int64_t c = 0; c < n; c++)
    for (int i = 0; i < unknowns; i++) system.q[c * unknowns + i] = fields.value[i][c];
  const pcsim_functional of = {.kind = PCSIM_FUNCTIONAL_INTEGRAL, .program = m.of};
  pcsim_transport_sensitivity s = {.derivative = derivative, .adjoint = psi};
  for (int k = 0; k < repetitions; k++) {
    time_solve(&system, tolerance, &t);
    const double adjoint = pcsim_time_cpu();
    bench_must(pcsim_transport_solver_adjoint(m.solver, &of, l->parameter, l->num, tolerance, &s), "adjoint");
    if (!s.converged) bench_stop("the adjoint missed its tolerance");
    least(&t.adjoint, adjoint);
    const double estimate = pcsim_time_cpu();
    pcsim_estimate e = {.value = s.value, .indicator = indicator};
    bench_must(pcsim_transport_solver_estimate(m.solver, &of, psi, m.fine, m.fine_problem, &e), "estimate");
    least(&t.estimate, estimate);
  }
  printf("%-22s %-10s %8lld %9.3f %9.3f %9.3f %9.2f %9.3f %9.2f\n", l->name, cells, (long long)n, t.whole,
         t.solve, t.adjoint, t.adjoint / t.solve, t.estimate, t.estimate / t.whole);
  printf("{\"bench\": \"adjoint\", \"figure\": \"%s %s\", \"value\": %.4g, \"unit\": \"s\", \"peer\": "
         "\"linearised solve\", \"peer_value\": %.4g, \"ratio\": %.3f}\n",
         l->name, cells, t.adjoint, t.solve, t.solve / t.adjoint);
  fflush(stdout);
  pcsim_free(&psi), pcsim_free(&indicator);
  transport_linear_destroy(&context.linear);
  transport_destroy(&context.t);
  unmake(&m);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int blocks = argc > 1 ? atoi(argv[1]) : 120, repetitions = argc > 2 ? atoi(argv[2]) : 4;
  if (blocks < 2 || repetitions < 1) {
    fprintf(stderr, "usage: bench-adjoint [BLOCKS A SIDE [REPETITIONS]]\n");
    return 2;
  }
  bench_must(pcsim_solver_start(MPI_COMM_WORLD), "PETSc");
  printf("%-22s %-10s %8s %9s %9s %9s %9s %9s %9s\n", "law", "cells", "number", "whole/s", "solve/s",
         "adjoint/s", "ratio", "error/s", "of whole");
  for (int k = 0; k < NUM_LAWS; k++) {
    measure(&laws[k], blocks, "quads", repetitions);
    measure(&laws[k], blocks, "triangles", repetitions);
  }
  bench_must(pcsim_solver_end(), "PETSc");
  return MPI_Finalize() != MPI_SUCCESS;
}
