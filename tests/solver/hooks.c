/* SPDX-License-Identifier: BSD-2-Clause */
/* What others propose to a solve: a start and a subspace, good ones and nonsense. The answer is the solver's
 * own. */
#include "solver/march.h"

static const sample triangles = {LATTICE_TRIANGLE, 16, 12, 0, 0.15, &unit_box};
static const sample tetras = {LATTICE_TETRA, 5, 4, 4, 0.1, &unit_box};

/* Values on offer, and a subspace: the way from the start to them, and waves. */
typedef struct {
  int64_t calls, size;
  double *solution;
  int waves; /* directions beside that way */
  bool way, fails;
} proposal;

static pcsim_status propose_start(void *context, const pcsim_mesh *mesh, int width, double *values) {
  proposal *p = context;
  p->calls++;
  assert_int_equal(width * pcsim_mesh_get(mesh)->num_cells, p->size);
  if (p->fails) PCSIM_FAIL(PCSIM_ERR_IO, "nothing to propose");
  if (p->size > 0) memcpy(values, p->solution, (size_t)p->size * sizeof *values);
  return PCSIM_OK;
}

static pcsim_status propose_subspace(void *context, const pcsim_mesh *mesh, int width, const double *values,
                                     int *num, double *directions) {
  proposal *p = context;
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  p->calls++;
  *num = p->waves + p->way;
  for (int k = 0; k < *num; k++)
    for (int64_t c = 0; c < v->num_cells; c++)
      for (int i = 0; i < width; i++) {
        const int64_t at = c * width + i;
        const double *x = v->cell_centre + 3 * c, wave = sin((k + 2) * (x[0] + i) + (k + 1) * x[1] + x[2]);
        directions[k * p->size + at] = k == p->waves ? p->solution[at] - values[at] : wave;
      }
  return PCSIM_OK;
}

static double first_residual;
static pcsim_status note_first(void *context, const pcsim_solve_step *step) {
  (void)context;
  if (step->step == 0) first_residual = step->residual;
  return PCSIM_OK;
}

static proposal solve_plainly(march_run *r, sides *plain) {
  double scalars[PCSIM_NUM_STATE_SCALARS];
  proposal p = {.size = 4 * pcsim_mesh_get(r->c.mesh)->num_cells};
  march_go(r, PCSIM_OUTCOME_CONVERGED);
  p.solution = test_calloc((size_t)p.size + 1, sizeof *p.solution);
  assert_ok(pcsim_flow_solver_get_state(r->solver, p.solution, scalars));
  *plain = sides_of(r->solver, r->c.mesh);
  return p;
}

static void go_with(march_run *r, proposal *p, bool start, bool subspace) {
  const pcsim_solver_hooks hooks = {p, start ? propose_start : NULL, subspace ? propose_subspace : NULL};
  p->calls = 0;
  march_restart(r);
  assert_ok(pcsim_flow_solver_set_hooks(r->solver, &hooks));
  assert_ok(pcsim_flow_solver_run(r->solver, note_first, NULL, &r->result));
  assert_int_equal(r->result.outcome, PCSIM_OUTCOME_CONVERGED);
  assert_int_equal(p->calls, start + subspace);
}

static void proposals_of(const sample *shape, const char *text) {
  sides plain, other;
  march_run r = march_begin(MPI_COMM_WORLD, shape, text);
  proposal p = solve_plainly(&r, &plain);
  const int64_t steps = r.result.steps;
  assert_true(steps > 2);
  /* the solution itself: what is left is the little by which frozen coefficients lag */
  go_with(&r, &p, true, false);
  assert_true(first_residual < 1e-9 && r.result.steps <= 2);
  other = sides_of(r.solver, r.c.mesh);
  assert_same_sides(&other, &plain, 1e-9);
  /* a subspace that holds it, found from the case's own start */
  p.way = true;
  p.waves = 2;
  go_with(&r, &p, false, true);
  assert_true(first_residual < 1e-6 && r.result.steps < steps);
  other = sides_of(r.solver, r.c.mesh);
  assert_same_sides(&other, &plain, 1e-9);
  /* one that has nothing to do with it does no harm, nor does one direction twice */
  p.way = false;
  p.waves = 3;
  go_with(&r, &p, false, true);
  assert_true(first_residual <= 1 && r.result.steps <= steps + 3);
  other = sides_of(r.solver, r.c.mesh);
  assert_same_sides(&other, &plain, 1e-9);
  test_free(p.solution);
  march_end(&r);
}

static void in_the_plane(void **state) {
  (void)state;
  proposals_of(&triangles, channel_2d);
}
static void with_a_free_pressure(void **state) {
  (void)state;
  proposals_of(&triangles, cavity_2d);
}
static void in_space(void **state) {
  (void)state;
  proposals_of(&tetras, channel_3d);
}

static void a_failure_ends_the_solve(void **state) {
  (void)state;
  march_run r = march_begin(MPI_COMM_WORLD, &triangles, channel_2d);
  proposal p = {.size = 4 * pcsim_mesh_get(r.c.mesh)->num_cells, .fails = true};
  const pcsim_solver_hooks hooks = {&p, propose_start, NULL};
  assert_ok(pcsim_flow_solver_set_hooks(r.solver, &hooks));
  assert_int_equal(pcsim_flow_solver_run(r.solver, NULL, NULL, &r.result), PCSIM_ERR_IO);
  pcsim_error_clear();
  march_end(&r);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_the_plane),
      cmocka_unit_test(with_a_free_pressure),
      cmocka_unit_test(in_space),
      cmocka_unit_test(a_failure_ends_the_solve),
  };
  return cmocka_run_group_tests_name("hooks", tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
