/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow as programs beside the hand-written kernels: each loop alone, and the march to the steady state.
 *   bench-flow-programs FOLDER [MARCHES]
 * FOLDER is one that `pcsim run` has written: its case.yaml and mesh.raw are used (MARCHES 0: the loops
 * alone). Processor seconds of this process, both by turns; the best of each counts. */
#include "bench/flow-programs/by_hand.h"
#include "solver/flow_adjoint.h"
#include "solver/flow_system.h"
#include "solver/march.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BY_HAND, AS_PROGRAMS, WAYS };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
  pcsim_tree *tree;
  pcsim_mesh *mesh;
  pcsim_flow_problem *problem;
  pcsim_flow_options options;
  flow *f;
  flow_linear *linear;
  double *r, *v;
} bench;

static pcsim_status open_case(const char *folder, bench *b) {
  char path[4096];
  pcsim_raw_mesh *raw = NULL;
  snprintf(path, sizeof path, "%s/case.yaml", folder);
  PCSIM_TRY(pcsim_tree_read(path, &b->tree));
  snprintf(path, sizeof path, "%s/mesh.raw", folder);
  PCSIM_TRY(pcsim_raw_mesh_read(path, &raw));
  pcsim_status status = pcsim_mesh_create(MPI_COMM_WORLD, raw, &b->mesh);
  pcsim_raw_mesh_destroy(&raw);
  PCSIM_TRY(status);
  pcsim_flow_options_read(b->tree, &b->options);
  PCSIM_TRY(pcsim_flow_problem_read(b->tree, b->mesh, &b->problem));
  return pcsim_tree_status(b->tree);
}

/* A flow at its start, evaluated one way or the other. */
static pcsim_status begin(bench *b, int way) {
  PCSIM_TRY(flow_create(b->mesh, b->problem, &b->options, &b->f));
  if (way == BY_HAND) b->f->kernels = flow_by_hand(b->f);
  return flow_linear_create(b->f, &b->options, &b->linear);
}

/* ------------------------------------------------------------------ the march */

static void end(bench *b) {
  flow_linear_destroy(&b->linear);
  flow_destroy(&b->f);
}

/* What it takes to write, transform and compile the programs, which a flow by hand would not do. */
static pcsim_status time_creation(flow *f, double *seconds) {
  flow_programs_destroy(&f->programs);
  const double start = now();
  PCSIM_TRY(flow_programs_create(f, &f->programs));
  *seconds = now() - start;
  return PCSIM_OK;
}

static pcsim_status march_once(bench *b, int way, double *seconds, pcsim_solve_result *result) {
  flow_context context;
  discrete_system system;
  march *m = NULL;
  double start = now(), creation = 0;
  PCSIM_TRY(begin(b, way));
  if (way == BY_HAND) {
    const double so_far = now() - start;
    PCSIM_TRY(time_creation(b->f, &creation));
    start = now() - so_far + creation;
  }
  context = (flow_context){b->f, b->linear};
  PCSIM_TRY(flow_system(&context, &system));
  const double cells = (double)pcsim_mesh_get(b->mesh)->num_cells_global, dim = b->f->dim;
  const march_options steady = {.tolerance = b->options.tolerance,
                                .steps_max = b->options.steps_max,
                                .cfl = b->options.cfl * fmax(1, pow(cells / 20000, 2 / dim)),
                                .linear_tolerance = b->options.linear_tolerance};
  PCSIM_TRY(march_create(&system, &steady, &m));
  const pcsim_status status = march_run(m, NULL, NULL, result);
  march_destroy(&m);
  *seconds = now() - start;
  return status;
}

/* ------------------------------------------------------------------- the adjoint */

static const char *parameters[] = {"U"};

/* From the converged state: one solve with the tangent and one whole gradient of the force on the cylinder,
 * both to 1e-8 with their preconditioners. */
static pcsim_status adjoint_once(bench *b, double seconds[WAYS], int64_t iterations[WAYS]) {
  flow *f = b->f;
  const char *const cylinder = "cylinder";
  const pcsim_functional drag = {
      .kind = PCSIM_FUNCTIONAL_FORCE, .num_where = 1, .where = &cylinder, .direction = {1, 0, 0}};
  double derivative;
  pcsim_flow_sensitivity s = {.derivative = &derivative};
  bool converged;
  const int64_t size = f->n * (f->dim + 1);
  for (int64_t i = 0; i < size; i++) b->v[i] = sin((double)i * (double)i);
  memset(f->diagonal, 0, (size_t)f->n * sizeof *f->diagonal);
  double start = now();
  PCSIM_TRY(flow_linear_update(b->linear));
  PCSIM_TRY(flow_linear_solve(b->linear, b->v, b->r, 1e-8, &iterations[0], &converged));
  seconds[0] = now() - start;
  PCSIM_CHECK(converged, PCSIM_ERR_INTERNAL, "the linearised solve did not converge");
  start = now();
  PCSIM_TRY(flow_sensitivity(f, b->linear, b->problem, &drag, parameters, 1, 1e-8, &s));
  seconds[1] = now() - start;
  iterations[1] = s.iterations;
  PCSIM_CHECK(s.converged, PCSIM_ERR_INTERNAL, "the adjoint did not converge");
  return PCSIM_OK;
}

static pcsim_status measure_adjoint(bench *b, const char *name, int repeats) {
  double best[WAYS] = {INFINITY, INFINITY}, seconds[WAYS] = {0, 0};
  int64_t iterations[WAYS] = {0, 0};
  const int64_t size = b->f->nt * (b->f->dim + 1);
  PCSIM_TRY(pcsim_alloc((size_t)size, sizeof(double), &b->r));
  PCSIM_TRY(pcsim_alloc((size_t)size, sizeof(double), &b->v));
  for (int k = 0; k < repeats + 1; k++) {
    PCSIM_TRY(adjoint_once(b, seconds, iterations));
    for (int way = 0; way < WAYS; way++) best[way] = fmin(best[way], seconds[way]);
  }
  pcsim_free(&b->r), pcsim_free(&b->v);
  printf("%-28s %9.3f s  %9.3f s  %6.2f   (a linearised solve, a gradient by the adjoint: %lld and %lld "
         "iterations)\n",
         "adjoint", best[0], best[1], best[1] / best[0], (long long)iterations[0], (long long)iterations[1]);
  printf("{\"bench\": \"flow-programs\", \"figure\": \"%s adjoint\", \"value\": %.4g, \"unit\": \"s\", "
         "\"peer\": \"linearised solve\", \"peer_value\": %.4g, \"ratio\": %.3g}\n",
         name, best[1], best[0], best[0] / best[1]);
  return PCSIM_OK;
}

static pcsim_status measure_march(bench *b, const char *name, int repeats) {
  double best[WAYS] = {INFINITY, INFINITY};
  pcsim_solve_result result[WAYS];
  for (int k = 0; k < repeats; k++)
    for (int way = 0; way < WAYS; way++) {
      double seconds = 0;
      end(b);
      PCSIM_TRY(march_once(b, way, &seconds, &result[way]));
      best[way] = fmin(best[way], seconds);
    }
  printf("%-28s %9.3f s  %9.3f s  %6.2f   (%lld and %lld steps, %lld and %lld linear iterations)\n", "march",
         best[BY_HAND], best[AS_PROGRAMS], best[AS_PROGRAMS] / best[BY_HAND],
         (long long)result[BY_HAND].steps, (long long)result[AS_PROGRAMS].steps,
         (long long)result[BY_HAND].linear_iterations, (long long)result[AS_PROGRAMS].linear_iterations);
  printf(
      "{\"bench\": \"flow-programs\", \"figure\": \"%s march\", \"value\": %.4g, \"unit\": \"s\", \"peer\": "
      "\"by hand\", \"peer_value\": %.4g, \"ratio\": %.3g}\n",
      name, best[AS_PROGRAMS], best[BY_HAND], best[BY_HAND] / best[AS_PROGRAMS]);
  return measure_adjoint(b, name, repeats);
}

/* ------------------------------------------------------------------ the loops */

static void ignore(void *context, int32_t row, int32_t column, int64_t slot, const double *block) {
  *(double *)context += block[0] + (double)(row + column) + (double)slot;
}

enum { RESIDUAL, TANGENT, COEFFICIENTS, BLOCKS, GRADIENT, LOOPS };
static const char *const loop_names[LOOPS] = {"residual", "tangent", "coefficients", "blocks", "(gradients)"};

static pcsim_status run_loop(bench *b, const flow_kernels *k, int loop) {
  double sum = 0;
  switch (loop) {
  case RESIDUAL:
    return k->residual(b->f, b->r);
  case TANGENT:
    return k->tangent(b->f, b->f->v, b->f->v_grad, b->r);
  case COEFFICIENTS:
    return k->coefficients(b->f);
  case BLOCKS:
    return k->jacobian(b->f, &sum, ignore);
  default:
    flow_gradient_of(b->f, b->f->v, false, b->f->v_grad);
    return PCSIM_OK;
  }
}

static pcsim_status time_loop(bench *b, const flow_kernels *k, int loop, int calls, double *best) {
  const double start = now();
  for (int i = 0; i < calls; i++) PCSIM_TRY(run_loop(b, k, loop));
  *best = fmin(*best, (now() - start) / calls);
  return PCSIM_OK;
}

/* A whole product with the tangent, gradients included, and one with its transpose. */
static pcsim_status measure_products(bench *b, const char *name) {
  flow *f = b->f;
  flow_adjoint *adjoint = NULL;
  double best[2] = {INFINITY, INFINITY}, *w = NULL, *y = NULL;
  const size_t size = (size_t)(f->n * (f->dim + 2));
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(size, sizeof *w, &w), status, done);
  PCSIM_GOTO(pcsim_alloc(size, sizeof *y, &y), status, done);
  for (size_t i = 0; i < size; i++) w[i] = cos((double)i);
  PCSIM_GOTO(flow_adjoint_create(f, false, NULL, 0, &adjoint), status, done);
  for (int k = 0; k < 12 * 3; k++) {
    const double begin = now();
    PCSIM_GOTO(flow_tangent(f, w, b->r), status, done);
    const double middle = now();
    PCSIM_GOTO(flow_adjoint_product(adjoint, w, y), status, done);
    best[0] = fmin(best[0], middle - begin);
    best[1] = fmin(best[1], now() - middle);
  }
  const double cells = (double)f->n * 1e-9;
  printf("%-28s %8.1f ns  %8.1f ns  %6.2f   (a cell; with the tangent, with its transpose)\n",
         "whole products", best[0] / cells, best[1] / cells, best[1] / best[0]);
  printf("{\"bench\": \"flow-programs\", \"figure\": \"%s transposed product\", \"value\": %.4g, \"unit\": "
         "\"ns a cell\", \"peer\": \"product\", \"peer_value\": %.4g, \"ratio\": %.3g}\n",
         name, best[1] / cells, best[0] / cells, best[0] / best[1]);
done:
  flow_adjoint_destroy(&adjoint);
  pcsim_free(&w), pcsim_free(&y);
  return status;
}

static pcsim_status measure_loops(bench *b, const char *name) {
  flow *f;
  PCSIM_TRY(begin(b, AS_PROGRAMS));
  f = b->f;
  const int64_t size = f->nt * (f->dim + 1);
  PCSIM_TRY(pcsim_alloc((size_t)size, sizeof(double), &b->r));
  for (int64_t i = 0; i < size; i++) f->q[i] += 0.1 * sin((double)i), f->v[i] = cos((double)i);
  PCSIM_TRY(flow_residual(f, b->r));
  flow_gradient_of(f, f->v, false, f->v_grad);
  const flow_kernels *kernels[WAYS] = {flow_by_hand(f), &flow_program_kernels};
  for (int loop = 0; loop < LOOPS; loop++) {
    double best[WAYS] = {INFINITY, INFINITY};
    for (int k = 0; k < 12; k++)
      for (int way = 0; way < WAYS; way++) PCSIM_TRY(time_loop(b, kernels[way], loop, 3, &best[way]));
    const double cells = (double)f->n * 1e-9;
    printf("%-28s %8.1f ns  %8.1f ns  %6.2f   (a cell)\n", loop_names[loop], best[BY_HAND] / cells,
           best[AS_PROGRAMS] / cells, best[AS_PROGRAMS] / best[BY_HAND]);
    if (loop == GRADIENT) continue;
    printf("{\"bench\": \"flow-programs\", \"figure\": \"%s %s\", \"value\": %.4g, \"unit\": \"ns a cell\", "
           "\"peer\": \"by hand\", \"peer_value\": %.4g, \"ratio\": %.3g}\n",
           name, loop_names[loop], best[AS_PROGRAMS] / cells, best[BY_HAND] / cells,
           best[BY_HAND] / best[AS_PROGRAMS]);
  }
  PCSIM_TRY(measure_products(b, name));
  pcsim_free(&b->r);
  end(b);
  return PCSIM_OK;
}

static pcsim_status measure(const char *folder, int marches) {
  bench b = {0};
  const char *name = strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder;
  PCSIM_TRY(open_case(folder, &b));
  printf("%s: %lld cells in %dD\n%-28s %11s  %11s  %6s\n", name,
         (long long)pcsim_mesh_get(b.mesh)->num_cells_global, pcsim_mesh_get(b.mesh)->dim, "", "by hand",
         "programs", "times");
  PCSIM_TRY(measure_loops(&b, name));
  if (marches) PCSIM_TRY(measure_march(&b, name, marches));
  end(&b);
  pcsim_flow_problem_destroy(&b.problem);
  pcsim_mesh_destroy(&b.mesh);
  pcsim_tree_destroy(&b.tree);
  return PCSIM_OK;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  pcsim_status status = argc < 2 ? PCSIM_ERR_ARG : pcsim_solver_start(MPI_COMM_WORLD);
  if (argc < 2) fprintf(stderr, "usage: bench-flow-programs FOLDER [MARCHES]\n");
  if (status == PCSIM_OK) status = measure(argv[1], argc > 2 ? atoi(argv[2]) : 2);
  if (status != PCSIM_OK && argc >= 2) fprintf(stderr, "%s\n", pcsim_error_message());
  if (argc >= 2 && pcsim_solver_end() != PCSIM_OK) status = PCSIM_ERR_LIBRARY;
  MPI_Finalize();
  return status != PCSIM_OK;
}
