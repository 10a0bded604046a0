/* SPDX-License-Identifier: BSD-2-Clause */
/* Meshes of halved cells: number, volume and place of the parts, their order, boundaries and materials. */
#include "mesh/lattice.h"

#include <math.h>

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

/* The octahedron in the middle of a tetrahedron is cut along the shortest of its three diagonals, whichever
 * it is: the inner four parts have its ends in common. */
static void shortest_diagonals(void **state) {
  (void)state;
  static const int opposite[3][4] = {{0, 1, 2, 3}, {1, 2, 0, 3}, {0, 2, 1, 3}};
  int taken[3] = {0};
  const lattice shape = {LATTICE_TETRA, 4, 3, 3, 0.3, true};
  pcsim_raw_mesh *raw = lattice_make(&shape), *fine = NULL;
  assert_ok(pcsim_raw_mesh_refine(raw, &fine));
  for (int64_t c = 0; c < raw->num_cells; c++) {
    const int32_t *v = raw->cell_nodes + raw->cell_start[c],
                  *part = fine->cell_nodes + fine->cell_start[8 * c + 4];
    double length[3], cut = 0;
    int32_t ends[2];
    int num = 0, shortest = 0;
    for (int k = 0; k < 3; k++) {
      double d[3];
      for (int j = 0; j < 3; j++) {
        const double *x = raw->nodes + j;
        d[j] = 0.5 * (x[3 * v[opposite[k][0]]] + x[3 * v[opposite[k][1]]] - x[3 * v[opposite[k][2]]] -
                      x[3 * v[opposite[k][3]]]);
      }
      length[k] = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (length[k] < length[shortest]) shortest = k;
    }
    for (int i = 0; i < 4; i++) {
      int parts = 0;
      for (int k = 0; k < 16; k++) parts += part[k] == part[i];
      assert_true(parts == 2 || parts == 4);
      if (parts == 4) ends[num++ % 2] = part[i];
    }
    assert_int_equal(num, 2);
    for (int j = 0; j < 3; j++) cut += pow(fine->nodes[3 * ends[0] + j] - fine->nodes[3 * ends[1] + j], 2);
    assert_close(sqrt(cut), length[shortest], 1e-12);
    taken[shortest]++;
  }
  assert_true(taken[0] && taken[1] && taken[2]);
  pcsim_raw_mesh_destroy(&raw);
  pcsim_raw_mesh_destroy(&fine);
}

/* Materials go to all parts of a cell, periods to the refined mesh. */
static void materials_and_periods_stay(void **state) {
  (void)state;
  const lattice shape = {LATTICE_MIXED_3D, 3, 3, 2, 0.1, true};
  pcsim_raw_mesh *raw = lattice_make(&shape), *fine = NULL;
  for (int64_t c = 0; c < raw->num_cells; c++) raw->cell_region[c] = (int32_t)(c % 7);
  pcsim_free(&raw->periodic);
  assert_ok(pcsim_alloc(2, sizeof *raw->periodic, &raw->periodic));
  raw->num_periodic = 1;
  raw->periodic[1] = 1;
  assert_ok(pcsim_raw_mesh_refine(raw, &fine));
  check_parts(raw, fine, 0.1);
  assert_int_equal(fine->num_periodic, 1);
  assert_int_equal(fine->periodic[0], 0);
  assert_int_equal(fine->periodic[1], 1);
  pcsim_raw_mesh_destroy(&raw);
  pcsim_raw_mesh_destroy(&fine);
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

/* The unit square with its left side bent; boundaries as `patch_of` the middle of a facet before. */
static pcsim_raw_mesh *bent_square(int (*patch_of)(const double middle[2])) {
  const lattice shape = {LATTICE_QUAD, 6, 6, 0, 0, true};
  pcsim_raw_mesh *raw = lattice_make(&shape);
  for (int64_t i = 0; i < raw->num_nodes; i++) raw->nodes[3 * i] /= 6, raw->nodes[3 * i + 1] /= 6;
  for (int64_t f = 0; f < raw->num_facets; f++) {
    const int32_t *ends = raw->facet_nodes + raw->facet_start[f];
    double middle[2];
    for (int j = 0; j < 2; j++) middle[j] = 0.5 * (raw->nodes[3 * ends[0] + j] + raw->nodes[3 * ends[1] + j]);
    raw->facet_patch[f] = patch_of(middle);
  }
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    double *x = raw->nodes + 3 * i;
    x[0] += 0.3 * (1 - x[0]) * x[1] * (1 - x[1]);
  }
  return raw;
}

static int left_alone(const double middle[2]) { return middle[0] == 0 ? 0 : 2; }
static int all_one(const double middle[2]) { return middle[0] < 0; }
/* Every other edge of the left side: nowhere do two edges of one boundary go on in each other. */
static int by_turns(const double middle[2]) { return middle[0] == 0 ? (int)(6 * middle[1]) % 2 : 2; }

/* Largest move of a new node on the left side, and elsewhere. */
static void moves(const pcsim_raw_mesh *raw, double *left, double *elsewhere) {
  pcsim_raw_mesh *flat = NULL, *fine = NULL;
  double most;
  *left = *elsewhere = 0;
  assert_ok(pcsim_raw_mesh_refine(raw, &flat));
  assert_ok(pcsim_raw_mesh_refine(raw, &fine));
  assert_ok(pcsim_raw_mesh_round(raw, fine, &most));
  for (int64_t i = 0; i < fine->num_nodes; i++) {
    const double *x = fine->nodes + 3 * i, *y = flat->nodes + 3 * i, move = hypot(x[0] - y[0], x[1] - y[1]);
    double *largest =
        y[0] < 0.3 * y[1] * (1 - y[1]) + 1e-12 && y[1] > 1e-12 && y[1] < 1 - 1e-12 ? left : elsewhere;
    *largest = fmax(*largest, move);
  }
  assert_true((*left > 1e-13 || *elsewhere > 1e-13) == (most > 1e-12));
  pcsim_raw_mesh_destroy(&flat);
  pcsim_raw_mesh_destroy(&fine);
}

/* The sides of a square that are one boundary keep its corners; nothing goes on from one boundary into
 * another; the two of a period have to stay what they are. */
static void boundaries_round_by_themselves(void **state) {
  (void)state;
  double left, elsewhere, all;
  pcsim_raw_mesh *raw = bent_square(left_alone);
  moves(raw, &left, &elsewhere);
  assert_true(left > 1e-4 && elsewhere < 1e-14);
  pcsim_free(&raw->periodic);
  assert_ok(pcsim_alloc(2, sizeof *raw->periodic, &raw->periodic));
  raw->num_periodic = 1;
  raw->periodic[0] = 1;
  moves(raw, &all, &elsewhere); /* the second of the pair is boundary 0 */
  assert_true(all == 0 && elsewhere == 0);
  pcsim_raw_mesh_destroy(&raw);
  raw = bent_square(all_one);
  moves(raw, &all, &elsewhere);
  assert_close(all, left, 1e-14);
  assert_true(elsewhere < 1e-14);
  pcsim_raw_mesh_destroy(&raw);
  raw = bent_square(by_turns);
  moves(raw, &left, &elsewhere);
  assert_true(left == 0 && elsewhere < 1e-14);
  pcsim_raw_mesh_destroy(&raw);
}

/* Where more than two edges of a boundary meet no curve goes on: two triangles that touch at a node, whose
 * first edges are nearly in line. */
static void boundaries_branch(void **state) {
  (void)state;
  static const double nodes[5][3] = {{0, 0, 0}, {1, 0.1, 0}, {1, 1, 0}, {-1, 0.1, 0}, {-1, -1, 0}};
  static const int32_t cell[6] = {0, 1, 2, 0, 3, 4}, edge[12] = {0, 1, 3, 0, 1, 2, 2, 0, 3, 4, 4, 0};
  pcsim_raw_mesh *raw = NULL, *fine = NULL;
  double most = 1;
  assert_ok(pcsim_raw_mesh_new(&(pcsim_raw_size){2, 5, 2, 6, 6, 12, 1, 1, 0}, &raw));
  memcpy(raw->nodes, nodes, sizeof nodes);
  memcpy(raw->cell_nodes, cell, sizeof cell);
  memcpy(raw->facet_nodes, edge, sizeof edge);
  for (int c = 0; c < 2; c++) raw->cell_type[c] = PCSIM_CELL_TRIANGLE, raw->cell_start[c + 1] = 3 * c + 3;
  for (int f = 0; f < 6; f++) raw->facet_type[f] = PCSIM_CELL_SEGMENT, raw->facet_start[f + 1] = 2 * f + 2;
  assert_ok(pcsim_strdup("wall", raw->patches));
  assert_ok(pcsim_strdup("fluid", raw->regions));
  assert_ok(pcsim_raw_mesh_check(raw));
  assert_ok(pcsim_raw_mesh_refine(raw, &fine));
  assert_ok(pcsim_raw_mesh_round(raw, fine, &most));
  assert_true(most == 0);
  assert_int_equal(pcsim_raw_mesh_round(raw, raw, &most), PCSIM_ERR_ARG); /* not the refined one */
  pcsim_error_clear();
  pcsim_raw_mesh_destroy(&raw), pcsim_raw_mesh_destroy(&fine);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refine_each),
                                     cmocka_unit_test(boundaries_stay),
                                     cmocka_unit_test(boundaries_round),
                                     cmocka_unit_test(boundaries_straight),
                                     cmocka_unit_test(shortest_diagonals),
                                     cmocka_unit_test(materials_and_periods_stay),
                                     cmocka_unit_test(boundaries_round_by_themselves),
                                     cmocka_unit_test(boundaries_branch)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
