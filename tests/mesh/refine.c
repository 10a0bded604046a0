/* SPDX-License-Identifier: BSD-2-Clause */
/* Meshes of halved cells: number, volume and place of the parts, their order, boundaries and materials. */
#include "mesh/lattice.h"

static double volume_of(const pcsim_raw_mesh *raw, int64_t cell) {
  double volume, centre[3];
  pcsim_cell_geometry(raw->nodes, raw->cell_type[cell], raw->cell_nodes + raw->cell_start[cell], &volume,
                      centre);
  return volume;
}

/* Every part has volume; those of a cell fill it (exactly where its faces are plane). */
static void check_parts(const pcsim_raw_mesh *raw, const pcsim_raw_mesh *fine, double tolerance) {
  int64_t part = 0;
  for (int64_t c = 0; c < raw->num_cells; c++) {
    double sum = 0;
    for (int k = 0; k < pcsim_cell_num_parts(raw->cell_type[c]); k++, part++) {
      const double volume = volume_of(fine, part);
      assert_true(volume > 0);
      assert_int_equal(fine->cell_region[part], raw->cell_region[c]);
      sum += volume;
    }
    assert_close(sum, volume_of(raw, c), tolerance);
  }
  assert_int_equal(part, fine->num_cells);
}

/* A finite-volume mesh can be made of it: every face has two sides or a facet. */
static void check_mesh(const pcsim_raw_mesh *fine, double volume) {
  pcsim_mesh *mesh = NULL;
  double sum = 0;
  assert_ok(pcsim_raw_mesh_check(fine));
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, fine, &mesh));
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  for (int64_t c = 0; c < v->num_cells; c++) sum += v->cell_volume[c];
  assert_close(sum, volume, 1e-10);
  assert_int_equal(v->num_faces - v->num_interior_faces, fine->num_facets);
  pcsim_mesh_destroy(&mesh);
}

static void refine_each(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++)
    for (int jitter = 0; jitter < 2; jitter++) {
      const lattice shape = {(lattice_kind)kind, 4, 3, 3, jitter ? 0.15 : 0, true};
      const bool warped = jitter && kind >= LATTICE_HEXA && kind != LATTICE_TETRA;
      pcsim_raw_mesh *raw = lattice_make(&shape), *fine = NULL, *finer = NULL;
      assert_ok(pcsim_raw_mesh_refine(raw, &fine));
      assert_ok(pcsim_raw_mesh_refine(fine, &finer));
      check_parts(raw, fine, warped ? 0.1 : 1e-12);
      check_parts(fine, finer, warped ? 0.1 : 1e-12);
      check_mesh(fine, raw->dim == 2 ? 12 : 36);
      check_mesh(finer, raw->dim == 2 ? 12 : 36);
      assert_int_equal(fine->num_facets, raw->num_facets * (raw->dim == 2 ? 2 : 4));
      pcsim_raw_mesh_destroy(&raw);
      pcsim_raw_mesh_destroy(&fine);
      pcsim_raw_mesh_destroy(&finer);
    }
}

/* The facets of a boundary stay on its side. */
static void boundaries_stay(void **state) {
  (void)state;
  const lattice shape = {LATTICE_MIXED_3D, 3, 3, 2, 0.1, true};
  pcsim_raw_mesh *raw = lattice_make(&shape), *fine = NULL;
  assert_ok(pcsim_raw_mesh_refine(raw, &fine));
  int64_t on_left = 0;
  for (int64_t f = 0; f < fine->num_facets; f++) {
    const int patch = fine->facet_patch[f];
    on_left += patch == 0;
    for (int64_t k = fine->facet_start[f]; patch < 2 && k < fine->facet_start[f + 1]; k++)
      assert_close(fine->nodes[3 * (int64_t)fine->facet_nodes[k]], patch == 0 ? 0 : 3, 1e-14);
  }
  assert_true(on_left >= 4 * 6);
  pcsim_raw_mesh_destroy(&raw);
  pcsim_raw_mesh_destroy(&fine);
}

/* The left side bent into an arc, which ends in corners: its new nodes lie on the arc to the fourth order of
 * the edges, and nothing else moves. */
static void boundaries_round(void **state) {
  (void)state;
  double error[2] = {0, 0}, most = 0;
  for (int k = 0; k < 2; k++) {
    const int n = k ? 16 : 8;
    const double radius = 1.25, middle = 0.5, depth = sqrt(radius * radius - 0.25);
    const lattice shape = {LATTICE_MIXED_2D, n, n, 0, 0.1, true};
    pcsim_raw_mesh *raw = lattice_make(&shape), *fine = NULL, *flat = NULL;
    for (int64_t i = 0; i < raw->num_nodes; i++) {
      double *x = raw->nodes + 3 * i;
      x[0] /= n, x[1] /= n;
      const double arc = depth - sqrt(radius * radius - (x[1] - middle) * (x[1] - middle));
      x[0] += (1 - x[0]) * arc;
    }
    assert_ok(pcsim_raw_mesh_refine(raw, &fine));
    assert_ok(pcsim_raw_mesh_refine(raw, &flat));
    assert_ok(pcsim_raw_mesh_round(raw, fine, &most));
    assert_true(most > 1e-3);
    for (int64_t f = 0; f < fine->num_facets; f++)
      for (int e = 0; e < 2; e++) {
        const int64_t node = fine->facet_nodes[fine->facet_start[f] + e];
        const double *x = fine->nodes + 3 * node, *before = flat->nodes + 3 * node;
        if (fine->facet_patch[f] == 0)
          error[k] = fmax(error[k], fabs(hypot(x[0] - depth, x[1] - middle) - radius));
        else if (fabs(x[0]) > 1e-12) assert_close(hypot(x[0] - before[0], x[1] - before[1]), 0, 1e-14);
      }
    pcsim_mesh *mesh = NULL;
    assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, fine, &mesh));
    pcsim_mesh_destroy(&mesh);
    pcsim_raw_mesh_destroy(&raw), pcsim_raw_mesh_destroy(&fine), pcsim_raw_mesh_destroy(&flat);
  }
  assert_true(error[0] < 2e-5 && error[0] > 8 * error[1]);
}

/* Straight sides stay, and so do those of a mesh in space. */
static void boundaries_straight(void **state) {
  (void)state;
  for (int space = 0; space < 2; space++) {
    const lattice shape = {space ? LATTICE_HEXA : LATTICE_TRIANGLE, 4, 3, 2, 0.1, true};
    pcsim_raw_mesh *raw = lattice_make(&shape), *fine = NULL;
    double most = 1;
    assert_ok(pcsim_raw_mesh_refine(raw, &fine));
    assert_ok(pcsim_raw_mesh_round(raw, fine, &most));
    assert_close(most, 0, 1e-14);
    pcsim_raw_mesh_destroy(&raw), pcsim_raw_mesh_destroy(&fine);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refine_each), cmocka_unit_test(boundaries_stay),
                                     cmocka_unit_test(boundaries_round),
                                     cmocka_unit_test(boundaries_straight)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
