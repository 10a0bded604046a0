/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cylinder.c  Estimated errors of drag and lift of DFG 2D-1 against the solution on refined meshes of
 * the same polygon, and the time of solution, adjoint and estimate: see README.md. */
#include "bench/generate.h"
#include "bench/program.h"

#include <pcsim/solver.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  pcsim_mesh *mesh;
  pcsim_flow_problem *problem;
  pcsim_flow_solver *solver;
} run;

/* The flow on a mesh; solved with `options`, else only set up. */
static run make(pcsim_tree *tree, const pcsim_raw_mesh *raw, const pcsim_flow_options *options) {
  run r = {0};
  pcsim_solve_result result;
  bench_must(pcsim_mesh_create(MPI_COMM_WORLD, raw, &r.mesh), "mesh");
  bench_must(pcsim_flow_problem_read(tree, r.mesh, &r.problem), "problem");
  bench_must(pcsim_tree_status(tree), "case");
  if (!options) return r;
  bench_must(pcsim_flow_solver_create(r.mesh, r.problem, options, &r.solver), "solver");
  bench_must(pcsim_flow_solver_run(r.solver, NULL, NULL, &result), "run");
  if (result.outcome != PCSIM_OUTCOME_CONVERGED) fprintf(stderr, "not converged: %s\n", result.reason);
  return r;
}

static void unmake(run *r) {
  pcsim_flow_solver_destroy(&r->solver);
  pcsim_flow_problem_destroy(&r->problem);
  pcsim_mesh_destroy(&r->mesh);
}

/* Force on the cylinder in both directions, as coefficients. */
static void coefficients(run *r, double c[2]) {
  const pcsim_mesh_view *v = pcsim_mesh_get(r->mesh);
  const int patch = pcsim_mesh_find_patch(r->mesh, "cylinder");
  pcsim_flow_fields f;
  bench_must(pcsim_flow_solver_fields(r->solver, &f), "fields");
  c[0] = c[1] = 0;
  for (int64_t k = v->patch_start[patch]; k < v->patch_start[patch + 1]; k++)
    for (int i = 0; i < 2; i++) {
      const int64_t face = k - v->num_interior_faces;
      c[i] += 500 * (f.face_pressure[face] * v->face_area[3 * k + i] + f.face_friction[3 * face + i]);
    }
}

static void measure(const char *cells, double size, double near) {
  static const char *const cylinder = "cylinder";
  char text[1024];
  snprintf(
      text, sizeof text,
      "parameters: {H: 0.41, U: 0.3}\n"
      "mesh: {shape: channel-cylinder, cells: %s, size: %g, near: {cylinder: {size: %g, growth: 0.05}}}\n"
      "physics: {model: navier-stokes, density: 1, viscosity: 1e-3}\n"
      "boundaries: {inlet: {velocity: [\"4*U*y*(H-y)/H^2\", 0]}, outlet: {pressure: 0},\n"
      "             walls: {wall: no-slip}, cylinder: {wall: no-slip}}\n"
      "solve: {tolerance: 1e-11}\n",
      cells, size, near);
  pcsim_tree *tree = NULL;
  pcsim_raw_mesh *raw, *fine = NULL, *finest = NULL;
  pcsim_flow_options options;
  double none = 0, *psi = NULL, *indicator = NULL, value[3][2], seconds[3];
  bench_must(pcsim_tree_parse(text, strlen(text), "case", &tree), "case");
  raw = bench_generate(tree);
  pcsim_flow_options_read(tree, &options);
  bench_must(pcsim_raw_mesh_refine(raw, &fine), "refine");
  bench_must(pcsim_raw_mesh_refine(fine, &finest), "refine");
  seconds[0] = pcsim_time_cpu();
  run coarse = make(tree, raw, &options);
  seconds[0] = pcsim_time_cpu() - seconds[0];
  run halved = make(tree, fine, &options), quartered = make(tree, finest, &options);
  coefficients(&coarse, value[0]), coefficients(&halved, value[1]), coefficients(&quartered, value[2]);
  unmake(&quartered);
  const int64_t n = pcsim_mesh_get(coarse.mesh)->num_cells;
  bench_must(pcsim_alloc((size_t)n * 3, sizeof *psi, &psi), "memory");
  bench_must(pcsim_alloc((size_t)n, sizeof *indicator, &indicator), "memory");
  for (int i = 0; i < 2; i++) {
    const pcsim_functional force = {
        .kind = PCSIM_FUNCTIONAL_FORCE, .num_where = 1, .where = &cylinder, .direction = {i == 0, i == 1, 0}};
    pcsim_flow_sensitivity s = {.derivative = &none, .adjoint = psi};
    seconds[1] = pcsim_time_cpu();
    bench_must(pcsim_flow_solver_adjoint(coarse.solver, &force, NULL, 0, 1e-8, &s), "adjoint");
    seconds[1] = pcsim_time_cpu() - seconds[1];
    pcsim_estimate e = {.value = s.value, .indicator = indicator};
    seconds[2] = pcsim_time_cpu();
    bench_must(pcsim_flow_solver_estimate(coarse.solver, &force, psi, halved.mesh, halved.problem, &e),
               "estimate");
    seconds[2] = pcsim_time_cpu() - seconds[2];
    const double limit = value[2][i] + (value[2][i] - value[1][i]) / 3, error = limit - value[0][i];
    printf("%-10s %7lld  c%c %10.7f %10.2e %10.2e %6.2f %10.2e %7.2f %6.2f %6.2f\n", cells, (long long)n,
           i ? 'l' : 'd', value[0][i], error, 500 * e.error, 500 * e.error / error, limit - 500 * e.corrected,
           seconds[0], seconds[1], seconds[2]);
    printf("{\"bench\": \"adjoint\", \"figure\": \"effectivity c%c %s %lld\", \"value\": %.4g, \"unit\": "
           "\"1\"}\n",
           i ? 'l' : 'd', cells, (long long)n, 500 * e.error / error);
    fflush(stdout);
  }
  pcsim_free(&psi), pcsim_free(&indicator);
  unmake(&coarse), unmake(&halved);
  pcsim_raw_mesh_destroy(&raw), pcsim_raw_mesh_destroy(&fine), pcsim_raw_mesh_destroy(&finest);
  pcsim_tree_destroy(&tree);
}

int main(int argc, char **argv) {
  static const double sizes[][2] = {{0.04, 0.004}, {0.028, 0.0028}, {0.02, 0.0016}, {0.014, 0.001}};
  MPI_Init(&argc, &argv);
  bench_must(pcsim_solver_start(MPI_COMM_WORLD), "PETSc");
  printf("%-10s %7s  %13s %10s %10s %6s %10s %7s %6s %6s\n", "cells", "number", "coefficient", "error",
         "estimated", "ratio", "corrected", "solve/s", "adj/s", "est/s");
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    measure(argc > 1 ? argv[1] : "triangles", sizes[k][0], sizes[k][1]);
  bench_must(pcsim_solver_end(), "PETSc");
  return MPI_Finalize() != MPI_SUCCESS;
}
