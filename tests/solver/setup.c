/* SPDX-License-Identifier: BSD-2-Clause */
/* What the solver refuses before it starts: nothing given, meshes on which the method has no meaning. */
#include "solver/sample.h"

static void nothing_given(void **state) {
  (void)state;
  const sample quads = {LATTICE_QUAD, 3, 2, 0, 0, &unit_box};
  pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, &quads);
  static const char text[] =
      "physics: {model: navier-stokes, density: 1, viscosity: 0}\nboundaries: {\"*\": {wall: slip}}\n";
  pcsim_tree *tree = NULL;
  pcsim_flow_problem *problem = NULL;
  pcsim_flow_solver *solver = NULL;
  pcsim_flow_options options;
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &tree));
  pcsim_flow_options_read(tree, &options);
  assert_ok(pcsim_flow_problem_read(tree, mesh, &problem));
  assert_null(problem); /* the tree has a problem */
  assert_status(pcsim_flow_solver_create(mesh, problem, &options, &solver), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "pcsim_tree_status"));
  assert_null(solver);
  assert_status(pcsim_flow_solver_create(NULL, problem, &options, &solver), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "needs a mesh"));
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

/* A quadrilateral bent around the triangle beside it: its centre lies beyond the face between them. */
static pcsim_raw_mesh *bent(void) {
  static const double nodes[] = {0, 0, 0, 0, 1, 0, 5, 3, 0, -0.2, 1.5, 0, 0.5, 0.3, 0};
  static const int32_t cell_nodes[] = {0, 1, 2, 3, 0, 4, 1}, facet_nodes[] = {1, 2, 2, 3, 3, 0, 0, 4, 4, 1};
  const pcsim_raw_size size = {.dim = 2,
                               .num_nodes = 5,
                               .num_cells = 2,
                               .num_cell_nodes = 7,
                               .num_facets = 5,
                               .num_facet_nodes = 10,
                               .num_patches = 1,
                               .num_regions = 1};
  pcsim_raw_mesh *raw = NULL;
  assert_ok(pcsim_raw_mesh_new(&size, &raw));
  memcpy(raw->nodes, nodes, sizeof nodes);
  memcpy(raw->cell_nodes, cell_nodes, sizeof cell_nodes);
  memcpy(raw->facet_nodes, facet_nodes, sizeof facet_nodes);
  raw->cell_type[0] = PCSIM_CELL_QUAD, raw->cell_type[1] = PCSIM_CELL_TRIANGLE;
  raw->cell_start[1] = 4, raw->cell_start[2] = 7;
  for (int i = 0; i < 5; i++) raw->facet_type[i] = PCSIM_CELL_SEGMENT, raw->facet_start[i + 1] = 2 * (i + 1);
  raw->patches[0] = lattice_name("walls");
  raw->regions[0] = lattice_name("fluid");
  raw->notes = lattice_name("");
  return raw;
}

static void bent_around(void **state) {
  (void)state;
  int rank = 0;
  char message[300];
  pcsim_mesh *mesh = NULL;
  pcsim_flow_solver *solver = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pcsim_raw_mesh *raw = rank == 0 ? bent() : NULL;
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, raw, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  sample_case c = case_of(
      mesh,
      "physics: {model: navier-stokes, density: 1, viscosity: 1}\nboundaries: {walls: {wall: no-slip}}\n");
  assert_status(pcsim_flow_solver_create(mesh, c.problem, &c.options, &solver), PCSIM_ERR_MESH);
  assert_null(solver);
  snprintf(message, sizeof message, "%s", pcsim_error_message());
  assert_true(strstr(message, "cells 1 and 2 lie on the wrong sides") ||
              strstr(message, "cells 2 and 1 lie on the wrong sides"));
  assert_non_null(strstr(message, "(0, 0.5, 0)"));
  case_free(&c);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_given), cmocka_unit_test(bent_around)};
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests_name("setup", tests, NULL, NULL);
  if (pcsim_memory_used() != before)
    print_error("%zu bytes are still held\n", pcsim_memory_used() - before), ++failed;
  return failed;
}
int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
