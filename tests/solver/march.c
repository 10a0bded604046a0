/* SPDX-License-Identifier: BSD-2-Clause */
/* The march to the steady state: how it ends, what it says, state out and in, ranks, bits. */
#include "solver/march.h"

static const sample triangles = {LATTICE_TRIANGLE, 16, 12, 0, 0.15, &unit_box};
static const sample mixed = {LATTICE_MIXED_2D, 18, 14, 0, 0.15, &unit_box};
static const sample tetras = {LATTICE_TETRA, 6, 5, 4, 0.1, &unit_box};
static const sample prisms = {LATTICE_PRISM, 6, 5, 4, 0.1, &unit_box};

static double *unknowns_of(const march_run *r, double *scalars) {
  double *q = NULL;
  assert_ok(pcsim_alloc((size_t)(4 * pcsim_mesh_get(r->c.mesh)->num_cells), sizeof *q, &q));
  assert_ok(pcsim_flow_solver_get_state(r->solver, q, scalars));
  return q;
}

/* ---------------------------------------------------------------- ends */

typedef struct {
  int64_t calls, last, fail_at, linear_iterations;
  double residual;
} watcher;

static pcsim_status watch(void *context, const pcsim_solve_step *step) {
  watcher *w = context;
  assert_int_equal(step->step, w->calls ? w->last + 1 : step->step);
  assert_true(isfinite(step->residual) && step->residual <= 1 && step->cfl > 0 && step->wall_seconds >= 0);
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += step->residuals[i] * step->residuals[i];
  assert_close(sqrt(sum), step->residual, 1e-12);
  assert_true(step->residuals[2] == 0 && step->residuals[3] > 0); /* in the plane: no z-momentum */
  w->calls++, w->last = step->step, w->residual = step->residual;
  w->linear_iterations += step->linear_iterations;
  if (step->step == w->fail_at) PCSIM_FAIL(PCSIM_ERR_IO, "no room at step %lld", (long long)step->step);
  return PCSIM_OK;
}

static void converged(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  march_run r = march_begin(MPI_COMM_WORLD, &triangles, channel_2d);
  watcher w = {.fail_at = -1};
  assert_ok(pcsim_flow_solver_run(r.solver, watch, &w, &r.result));
  assert_int_equal(r.result.outcome, PCSIM_OUTCOME_CONVERGED);
  assert_true(r.result.residual <= 1e-12 && r.result.steps > 1 && r.result.steps < 40);
  assert_int_equal(w.calls, r.result.steps + 1);
  assert_int_equal(w.linear_iterations, r.result.linear_iterations);
  assert_close(w.residual, r.result.residual, 0);
  assert_int_equal(r.result.worst_cell, -1);
  assert_true(strlen(r.result.reason) > 0);
  const sides s = sides_of(r.solver, r.c.mesh);
  double rate = 0;
  for (int p = 0; p < 4; p++) rate += s.force[p][3];
  assert_close(s.force[0][3], -2.0 / 3, 1e-12);
  assert_close(rate, 0, 1e-10);
  for (int i = 0; i < 2; i++) /* what flows out is what the boundary pushes */
    assert_close(s.momentum[i] + s.force[0][i] + s.force[1][i] + s.force[2][i] + s.force[3][i], 0, 1e-10);
  assert_true(fabs(s.momentum[0]) > 1e-3);
  /* again from where it stands: nothing is left to do */
  const int64_t steps = r.result.steps;
  march_go(&r, PCSIM_OUTCOME_CONVERGED);
  assert_int_equal(r.result.steps, steps);
  march_end(&r);
  assert_int_equal(pcsim_memory_used(), before);
}

static void free_pressure(void **state) {
  (void)state;
  march_run r = march_begin(MPI_COMM_WORLD, &mixed, cavity_2d);
  march_go(&r, PCSIM_OUTCOME_CONVERGED);
  pcsim_flow_fields f;
  assert_ok(pcsim_flow_solver_fields(r.solver, &f));
  const pcsim_mesh_view *v = pcsim_mesh_get(r.c.mesh);
  double sum[2] = {0};
  for (int64_t c = 0; c < v->num_cells; c++)
    sum[0] += v->cell_volume[c] * f.pressure[c], sum[1] += v->cell_volume[c] * fabs(f.pressure[c]);
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  assert_close(sum[0], 0, 1e-12);
  assert_true(sum[1] > 1e-3);
  march_end(&r);
}

static void step_limit(void **state) {
  (void)state;
  march_run r = march_begin(MPI_COMM_WORLD, &triangles, channel_2d);
  for (int limit = 0; limit <= 2; limit += 2) {
    r.c.options.steps_max = limit;
    march_restart(&r);
    march_go(&r, PCSIM_OUTCOME_NOT_CONVERGED);
    assert_int_equal(r.result.steps, limit);
    assert_non_null(strstr(r.result.reason, limit ? "limit of 2 steps" : "limit of 0 steps"));
    assert_true(isfinite(r.result.residual) && r.result.residual > 1e-12);
  }
  march_end(&r);
}

/* The sentence names equation, cell and place, and the cell is there. */
static void check_divergence(const march_run *r, const char *equation) {
  const pcsim_solve_result *result = &r->result;
  char place[128];
  const pcsim_mesh_view *v = pcsim_mesh_get(r->c.mesh);
  int found = 0;
  snprintf(place, sizeof place, "cell %lld at (%.6g, %.6g, %.6g)", (long long)result->worst_cell + 1,
           result->worst_centre[0], result->worst_centre[1], result->worst_centre[2]);
  if (!strstr(result->reason, place) || !strstr(result->reason, equation))
    print_error("%s\n", result->reason);
  assert_non_null(strstr(result->reason, place));
  assert_non_null(strstr(result->reason, equation));
  assert_non_null(strstr(result->reason, "solve.cfl"));
  for (int64_t c = 0; c < v->num_cells; c++)
    if (v->cell_original[c] == result->worst_cell) {
      found = 1;
      for (int i = 0; i < 3; i++) assert_close(v->cell_centre[3 * c + i], result->worst_centre[i], 1e-15);
    }
  MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  assert_int_equal(found, 1);
}

static void diverged(void **state) {
  (void)state;
  char text[1024];
  const size_t before = pcsim_memory_used();
  /* overflow at the start, in the middle of the upper half */
  snprintf(text, sizeof text,
           "%sinitial: {velocity: [\"where((x-0.5)^2 + (y-0.7)^2 < 0.03, 1e99, 0)\", 0], pressure: 1}\n",
           channel_2d);
  march_run r = march_begin(MPI_COMM_WORLD, &triangles, text);
  march_go(&r, PCSIM_OUTCOME_DIVERGED);
  check_divergence(&r, "x-momentum");
  assert_true(fabs(r.result.worst_centre[0] - 0.5) < 0.3 && fabs(r.result.worst_centre[1] - 0.7) < 0.3);
  assert_int_equal(r.result.steps, 0);
  pcsim_flow_fields f; /* what there is can be looked at */
  assert_ok(pcsim_flow_solver_fields(r.solver, &f));
  march_end(&r);
  assert_int_equal(pcsim_memory_used(), before);
}

/* A start far outside: finite, but beyond what single precision holds. No step can be taken from it. */
static void no_step_possible(void **state) {
  char text[1024];
  (void)state;
  snprintf(text, sizeof text, "%sinitial: {velocity: [\"where(x > 0.5, 1e60, 1)\", 0], pressure: 1}\n",
           channel_2d);
  march_run r = march_begin(MPI_COMM_WORLD, &triangles, text);
  march_go(&r, PCSIM_OUTCOME_DIVERGED);
  check_divergence(&r, "momentum");
  assert_true(r.result.worst_centre[0] > 0.4);
  march_end(&r);
}

static void observer_fails(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  march_run r = march_begin(MPI_COMM_WORLD, &triangles, channel_2d);
  for (int at = 0; at <= 3; at += 3) {
    watcher w = {.fail_at = at};
    march_restart(&r);
    assert_status(pcsim_flow_solver_run(r.solver, watch, &w, &r.result), PCSIM_ERR_IO);
    assert_non_null(strstr(pcsim_error_message(), at ? "no room at step 3" : "no room at step 0"));
    assert_int_equal(w.calls, at + 1);
  }
  march_end(&r);
  assert_int_equal(pcsim_memory_used(), before);
}

/* --------------------------------------------------------------- states */

static void resumed(void **state) {
  (void)state;
  double scalars[PCSIM_NUM_STATE_SCALARS];
  march_run whole = march_begin(MPI_COMM_WORLD, &triangles, channel_2d);
  march_go(&whole, PCSIM_OUTCOME_CONVERGED);
  const sides expected = sides_of(whole.solver, whole.c.mesh);
  march_run half = march_begin(MPI_COMM_WORLD, &triangles, channel_2d);
  half.c.options.steps_max = whole.result.steps / 2;
  march_restart(&half);
  march_go(&half, PCSIM_OUTCOME_NOT_CONVERGED);
  double *q = unknowns_of(&half, scalars);
  march_run rest = march_begin(MPI_COMM_WORLD, &triangles, channel_2d);
  assert_ok(pcsim_flow_solver_set_state(rest.solver, q, scalars));
  watcher w = {.fail_at = -1};
  assert_ok(pcsim_flow_solver_run(rest.solver, watch, &w, &rest.result));
  assert_int_equal(rest.result.outcome, PCSIM_OUTCOME_CONVERGED);
  assert_int_equal(w.calls, rest.result.steps - half.result.steps); /* counts on */
  assert_true(llabs(rest.result.steps - whole.result.steps) <= 2);
  assert_true(rest.result.linear_iterations > half.result.linear_iterations);
  const sides found = sides_of(rest.solver, rest.c.mesh);
  assert_same_sides(&found, &expected, 1e-9);
  /* what went in comes out */
  double again[PCSIM_NUM_STATE_SCALARS];
  assert_ok(pcsim_flow_solver_set_state(rest.solver, q, scalars));
  double *copy = unknowns_of(&rest, again);
  for (int i = 0; i < PCSIM_NUM_STATE_SCALARS; i++) assert_close(again[i], scalars[i], 0);
  for (int64_t i = 0; i < 4 * pcsim_mesh_get(rest.c.mesh)->num_cells; i++) assert_close(copy[i], q[i], 1e-15);
  scalars[1] = NAN;
  assert_status(pcsim_flow_solver_set_state(rest.solver, q, scalars), PCSIM_ERR_ARG);
  pcsim_free(&q), pcsim_free(&copy);
  march_end(&whole), march_end(&half), march_end(&rest);
}

static void same_bits(void **state) {
  (void)state;
  const sample *samples[2] = {&mixed, &prisms};
  for (int k = 0; k < 2; k++) {
    double scalars[2][PCSIM_NUM_STATE_SCALARS], *q[2];
    size_t bytes = 0;
    for (int repeat = 0; repeat < 2; repeat++) {
      march_run r = march_begin(MPI_COMM_WORLD, samples[k], k ? channel_3d : channel_2d);
      march_go(&r, PCSIM_OUTCOME_CONVERGED);
      q[repeat] = unknowns_of(&r, scalars[repeat]);
      bytes = (size_t)(4 * pcsim_mesh_get(r.c.mesh)->num_cells) * sizeof(double);
      march_end(&r);
    }
    assert_memory_equal(q[0], q[1], bytes);
    assert_memory_equal(scalars[0], scalars[1], sizeof scalars[0]);
    pcsim_free(&q[0]), pcsim_free(&q[1]);
  }
}

static void one_answer(void **state) {
  (void)state;
  const sample *samples[4] = {&triangles, &mixed, &tetras, &prisms};
  for (int k = 0; k < 4; k++) {
    const char *text = k < 2 ? channel_2d : channel_3d;
    march_run alone = march_begin(MPI_COMM_SELF, samples[k], text);
    march_go(&alone, PCSIM_OUTCOME_CONVERGED);
    march_run all = march_begin(MPI_COMM_WORLD, samples[k], text);
    march_go(&all, PCSIM_OUTCOME_CONVERGED);
    const sides expected = sides_of(alone.solver, alone.c.mesh), found = sides_of(all.solver, all.c.mesh);
    assert_same_sides(&found, &expected, 1e-9);
    march_end(&alone), march_end(&all);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(converged), cmocka_unit_test(free_pressure),    cmocka_unit_test(step_limit),
      cmocka_unit_test(diverged),  cmocka_unit_test(no_step_possible), cmocka_unit_test(observer_fails),
      cmocka_unit_test(resumed),   cmocka_unit_test(same_bits),        cmocka_unit_test(one_answer)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
