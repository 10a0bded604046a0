/* SPDX-License-Identifier: BSD-2-Clause */
/* Face values, balance, start and scales of a flow problem. */
#include "physics/lattice.h"
#include <pcsim/physics.h>

static const lattice channel = {.nx = 8, .ny = 4, .names = {"walls", "outlet", "walls", "inlet"}};

static char last_log[512];
static void keep_log(void *context, pcsim_log_level level, const char *line) {
  (void)context, (void)level;
  snprintf(last_log, sizeof last_log, "%s", line);
}

static pcsim_flow_problem *read_good(pcsim_tree *tree, const pcsim_mesh *mesh) {
  pcsim_flow_problem *problem = NULL;
  pcsim_flow_problem_check(tree);
  assert_ok(pcsim_tree_status(tree));
  assert_ok(pcsim_flow_problem_read(tree, mesh, &problem));
  assert_ok(pcsim_tree_status(tree));
  assert_non_null(problem);
  return problem;
}

/* Flow out through a patch, all ranks. */
static double flow_out(const pcsim_mesh *mesh, const pcsim_flow_view *view, const char *name) {
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  int p = pcsim_mesh_find_patch(mesh, name);
  double sum = 0.0;
  for (int64_t f = m->patch_start[p]; f < m->patch_start[p + 1]; ++f)
    for (int i = 0; i < 3; ++i)
      sum += m->face_area[3 * f + i] * view->velocity[3 * (f - m->num_interior_faces) + i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

static void parabola(void **state) {
  (void)state;
  pcsim_mesh *mesh = mesh_lattice(&channel);
  pcsim_tree *tree = tree_of("parameters: {H: 1, U: 1.5}\n"
                             "physics: {model: navier-stokes, density: 2, viscosity: 1e-3, force: [0, 3]}\n"
                             "boundaries:\n"
                             "  inlet: {velocity: [\"4*U*y*(H-y)/H^2\", 0]}\n"
                             "  outlet: {pressure: 7}\n"
                             "  wall?: {wall: no-slip}\n");
  pcsim_flow_problem *problem = read_good(tree, mesh);
  const pcsim_flow_view *view = pcsim_flow_problem_get(problem);
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  assert_close(flow_out(mesh, view, "inlet"), -1.0, 1e-14); /* 2/3 U H, exact on any mesh */
  assert_close(view->density, 2, 0);
  assert_close(view->force[1], 3, 0);
  assert_false(view->pressure_free);
  assert_false(view->has_start);
  for (int64_t f = m->num_interior_faces; f < m->num_faces; ++f) {
    int64_t b = f - m->num_interior_faces;
    const char *name = m->patch_name[pcsim_mesh_face_patch(mesh, f)];
    assert_int_equal(view->kind[b], name[0] == 'i'   ? PCSIM_FLOW_VELOCITY
                                    : name[0] == 'o' ? PCSIM_FLOW_PRESSURE
                                                     : PCSIM_FLOW_WALL);
    assert_close(view->pressure[b], name[0] == 'o' ? 7.0 : 0.0, 0);
  }
  for (int64_t c = 0; c < m->num_cells; ++c) {
    /* Transport mean of the parabola: mean of u^2 over mean of u = 6/5 of the mean, less in the four
     * averages. */
    assert_in_range((int)(1000 * view->start[4 * c]), 1100, 1200);
    assert_close(view->start[4 * c + 3], 7.0, 1e-14);
  }
  assert_close(view->length_scale, 1.0, 1e-14);
  assert_true(view->velocity_scale > 1.3 && view->velocity_scale < 1.5);
  pcsim_flow_problem_destroy(&problem);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

static void exact_name_wins(void **state) {
  (void)state;
  pcsim_mesh *mesh = mesh_lattice(&channel);
  pcsim_tree *tree =
      tree_of("physics: {model: navier-stokes, density: 1, viscosity: 1}\n"
              "boundaries: {\"*\": {wall: slip}, inlet: {flow-rate: 3}, outlet: {total-pressure: x}}\n");
  pcsim_flow_problem *problem = read_good(tree, mesh);
  const pcsim_flow_view *view = pcsim_flow_problem_get(problem);
  int kind[3];
  pcsim_flow_kinds(tree, mesh, kind);
  assert_int_equal(kind[pcsim_mesh_find_patch(mesh, "walls")], PCSIM_FLOW_SLIP);
  assert_int_equal(kind[pcsim_mesh_find_patch(mesh, "inlet")], PCSIM_FLOW_VELOCITY);
  assert_int_equal(kind[pcsim_mesh_find_patch(mesh, "outlet")], PCSIM_FLOW_TOTAL_PRESSURE);
  assert_close(flow_out(mesh, view, "inlet"), -3.0, 1e-14);
  assert_close(view->start[0], 3.0, 1e-14);
  pcsim_flow_problem_destroy(&problem);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

static void cavity(void **state) {
  (void)state;
  lattice l = {.nx = 4, .ny = 4, .names = {"walls", "walls", "lid", "walls"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree =
      tree_of("physics: {model: navier-stokes, density: 1, viscosity: 1e-2}\n"
              "boundaries: {lid: {wall: no-slip, velocity: [1, 0.25]}, walls: {wall: no-slip}}\n"
              "initial: {velocity: [\"y\", \"-x\"], pressure: \"x+y\"}\n");
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pcsim_log_set_sink(keep_log, NULL);
  last_log[0] = '\0';
  pcsim_flow_problem *problem = read_good(tree, mesh);
  pcsim_log_set_sink(NULL, NULL);
  if (rank == 0) assert_non_null(strstr(last_log, "level is free"));
  else assert_string_equal(last_log, ""); /* one voice */
  const pcsim_flow_view *view = pcsim_flow_problem_get(problem);
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  assert_true(view->pressure_free);
  assert_true(view->has_start);
  assert_close(flow_out(mesh, view, "lid"), 0.0, 1e-15); /* the normal part is dropped */
  assert_close(view->velocity_scale, 1.0, 1e-15);
  for (int64_t c = 0; c < m->num_cells; ++c) {
    const double *x = m->cell_centre + 3 * c;
    assert_close(view->start[4 * c], x[1], 1e-15);
    assert_close(view->start[4 * c + 1], -x[0], 1e-15);
    assert_close(view->start[4 * c + 3], x[0] + x[1], 1e-15);
  }
  pcsim_flow_problem_destroy(&problem);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

/* A start from elsewhere; its speed is the scale only where nothing else moves the fluid. */
static void another_start(void **state) {
  (void)state;
  lattice l = {.nx = 4, .ny = 4, .names = {"walls", "walls", "lid", "walls"}};
  for (int moving = 0; moving < 2; ++moving) {
    pcsim_mesh *mesh = mesh_lattice(&l);
    pcsim_tree *tree =
        tree_of(moving ? "physics: {model: navier-stokes, density: 1, viscosity: 1e-2}\n"
                         "boundaries: {lid: {wall: no-slip, velocity: [1, 0]}, walls: {wall: no-slip}}\n"
                       : "physics: {model: navier-stokes, density: 1, viscosity: 1e-2}\n"
                         "boundaries: {\"*\": {wall: no-slip}}\n");
    pcsim_flow_problem *problem = read_good(tree, mesh);
    const pcsim_flow_view *view = pcsim_flow_problem_get(problem);
    const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
    double values[4 * 16];
    for (int64_t i = 0; i < 4 * m->num_cells; ++i) values[i] = i % 4 == 1 ? -3.0 : 0.0;
    pcsim_flow_problem_set_start(problem, values);
    assert_true(view->has_start);
    for (int64_t c = 0; c < m->num_cells; ++c) assert_close(view->start[4 * c + 1], -3.0, 0.0);
    assert_close(view->velocity_scale, moving ? 1.0 : 3.0, 1e-15);
    pcsim_flow_problem_destroy(&problem);
    pcsim_tree_destroy(&tree);
    pcsim_mesh_destroy(&mesh);
  }
}

/* A source-free field whose averages do not cancel to rounding on a coarse mesh: the correction makes them.
 */
static void balanced(void **state) {
  (void)state;
  lattice l = {.nx = 3, .ny = 3, .names = {"all", "all", "all", "all"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree = tree_of(
      "physics: {model: navier-stokes, density: 1, viscosity: 1e-2}\n"
      "boundaries: {all: {velocity: [\"1 + exp(9*x)*cos(9*y) + 1e-4*x\", \"-exp(9*x)*sin(9*y)\"]}}\n");
  pcsim_flow_problem *problem = read_good(tree, mesh);
  assert_close(flow_out(mesh, pcsim_flow_problem_get(problem), "all"), 0.0, 1e-11);
  pcsim_flow_problem_destroy(&problem);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

static void box(void **state) {
  (void)state;
  pcsim_mesh *mesh = mesh_box(3);
  pcsim_tree *tree = tree_of("physics: {model: navier-stokes, density: 1, viscosity: 1e-2}\n"
                             "boundaries:\n"
                             "  x-min: {velocity: [\"36*y*z*(1-y)*(1-z)\", 0, 0]}\n"
                             "  x-max: {pressure: \"y^2\"}\n"
                             "  sides: {symmetry: true}\n");
  pcsim_flow_problem *problem = read_good(tree, mesh);
  assert_close(flow_out(mesh, pcsim_flow_problem_get(problem), "x-min"), -1.0, 1e-14);
  assert_close(pcsim_flow_problem_get(problem)->length_scale, 1.0, 1e-14);
  pcsim_flow_problem_destroy(&problem);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

static void tables(void **state) {
  (void)state;
  size_t n = 0;
  const pcsim_model *models = pcsim_model_list(&n);
  assert_true(n >= 1);
  assert_string_equal(models[0].name, "navier-stokes");
  const pcsim_condition *conditions = pcsim_condition_list(&n);
  for (size_t i = 0; i < n; ++i) {
    assert_string_equal(conditions[i].keys[0].name, conditions[i].name);
    assert_true(strlen(conditions[i].help) > 0);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parabola),     cmocka_unit_test(exact_name_wins),
                                     cmocka_unit_test(cavity),       cmocka_unit_test(balanced),
                                     cmocka_unit_test(box),          cmocka_unit_test(tables),
                                     cmocka_unit_test(another_start)};
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (pcsim_memory_used() != before)
    print_error("%zu bytes are still held\n", pcsim_memory_used() - before), ++failed;
  return failed;
}
int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
