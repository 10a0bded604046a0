/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding the cell of a point, and quality: each on any number of ranks against the same on one. */
#include "lattice.h"

static const lattice kinds[NUM_LATTICES] = {
    [LATTICE_QUAD] = {LATTICE_QUAD, 9, 7, 0, 0.2, true},
    [LATTICE_TRIANGLE] = {LATTICE_TRIANGLE, 8, 6, 0, 0.2, true},
    [LATTICE_MIXED_2D] = {LATTICE_MIXED_2D, 9, 7, 0, 0.2, true},
    [LATTICE_HEXA] = {LATTICE_HEXA, 5, 4, 6, 0.2, true},
    [LATTICE_TETRA] = {LATTICE_TETRA, 4, 3, 5, 0.15, true},
    [LATTICE_PRISM] = {LATTICE_PRISM, 4, 5, 3, 0.15, true},
    [LATTICE_PYRAMID] = {LATTICE_PYRAMID, 3, 4, 3, 0.15, true},
    [LATTICE_MIXED_3D] = {LATTICE_MIXED_3D, 6, 5, 4, 0.15, true},
};

typedef struct {
  pcsim_raw_mesh *raw;
  pcsim_mesh *mesh, *serial;
  const pcsim_mesh_view *view, *all;
} pair;
static pair make(const lattice *shape) {
  pair p = {.raw = lattice_make(shape)};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? p.raw : NULL, &p.mesh));
  assert_ok(pcsim_mesh_create(MPI_COMM_SELF, p.raw, &p.serial));
  p.view = pcsim_mesh_get(p.mesh);
  p.all = pcsim_mesh_get(p.serial);
  return p;
}
static void destroy(pair *p) {
  pcsim_mesh_destroy(&p->mesh);
  pcsim_mesh_destroy(&p->serial);
  pcsim_raw_mesh_destroy(&p->raw);
}

/* Raw number of the cell that holds a point, known on every rank. */
static int64_t locate(const pcsim_mesh *mesh, const double x[3], bool *inside) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  int rank = -1, own;
  int64_t cell = -1, original = -1;
  MPI_Comm_rank(pcsim_mesh_comm(mesh), &own);
  assert_ok(pcsim_mesh_locate(mesh, x, &rank, &cell, inside));
  if (rank == own) {
    assert_in_range(cell, 0, v->num_cells - 1);
    original = v->cell_original[cell];
  }
  MPI_Bcast(&original, 1, MPI_INT64_T, rank, pcsim_mesh_comm(mesh));
  return original;
}

static void centres_are_found(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    bool inside;
    for (int64_t c = 0; c < p.all->num_cells; c++) {
      assert_int_equal(locate(p.mesh, p.all->cell_centre + 3 * c, &inside), p.all->cell_original[c]);
      assert_true(inside);
    }
    destroy(&p);
  }
}

/* Random points, nodes and face centres: always inside some cell, the same on any number of ranks. */
static void every_point_of_the_box_is_inside(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    uint64_t random = 7;
    bool inside, inside_serial;
    double size[3] = {kinds[k].nx, kinds[k].ny, kinds[k].nz};
    for (int i = 0; i < 400; i++) {
      double x[3];
      for (int d = 0; d < 3; d++) {
        x[d] = size[d] * (lattice_random(&random) / 2147483648.0);
        if (i % 10 == 0) x[d] = floor(x[d]); /* nodes, edges, walls */
      }
      if (i < 100 && i < p.all->num_faces) memcpy(x, p.all->face_centre + 3 * i, sizeof x);
      int64_t found = locate(p.mesh, x, &inside), serial = locate(p.serial, x, &inside_serial);
      assert_true(inside && inside_serial);
      assert_int_equal(found, serial);
    }
    destroy(&p);
  }
}

static void points_outside_get_the_nearest_centre(void **state) {
  (void)state;
  const double points[][3] = {{-1, 2, 1}, {100, 100, 100}, {3, -0.01, 2}, {2, 40, -7}, {-1e6, 1e5, 3}};
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
      bool inside = true;
      int64_t best = -1, found = locate(p.mesh, points[i], &inside), at = -1;
      double least = 0, distance = 0;
      for (int64_t c = 0; c < p.all->num_cells; c++) {
        double square = 0;
        for (int d = 0; d < p.all->dim; d++) square += pow(p.all->cell_centre[3 * c + d] - points[i][d], 2);
        if (best < 0 || square < least) {
          best = c;
          least = square;
        }
        if (p.all->cell_original[c] == found) {
          at = c;
          distance = square;
        }
      }
      assert_false(inside);
      assert_true(at >= 0);
      assert_close(distance, least, 1e-14 * least);
    }
    destroy(&p);
  }
}

static void points_must_be_finite(void **state) {
  (void)state;
  pair p = make(kinds);
  int rank;
  int64_t cell;
  bool inside;
  assert_status(pcsim_mesh_locate(p.mesh, (double[]){NAN, 0, 0}, &rank, &cell, &inside), PCSIM_ERR_ARG);
  destroy(&p);
}

static void same_measure(const pcsim_quality_measure *a, const pcsim_quality_measure *b) {
  assert_close(a->min, b->min, 1e-9);
  assert_close(a->mean, b->mean, 1e-9);
  assert_close(a->max, b->max, 1e-9);
  assert_int_equal(a->num_worst, b->num_worst);
  for (int i = 0; i < a->num_worst; i++) {
    assert_close(a->worst_value[i], b->worst_value[i], 1e-9);
    for (int d = 0; d < 3; d++) assert_close(a->worst_centre[i][d], b->worst_centre[i][d], 1e-12);
    if (i > 0) assert_true(a->worst_value[i] <= a->worst_value[i - 1]);
  }
}

static void quality_does_not_depend_on_ranks(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    pcsim_mesh_quality q, s;
    assert_ok(pcsim_mesh_quality_compute(p.mesh, &q));
    assert_ok(pcsim_mesh_quality_compute(p.serial, &s));
    assert_int_equal(q.num_cells, p.raw->num_cells);
    assert_int_equal(q.num_faces, p.all->num_faces);
    assert_int_equal(q.num_nodes, p.raw->num_nodes);
    for (int t = 0; t < PCSIM_NUM_CELL_TYPES; t++) assert_int_equal(q.count[t], s.count[t]);
    assert_close(q.volume, s.volume, 1e-11);
    assert_close(q.size_min, s.size_min, 1e-14);
    assert_close(q.size_max, s.size_max, 1e-14);
    same_measure(&q.non_orthogonality, &s.non_orthogonality);
    same_measure(&q.volume_ratio, &s.volume_ratio);
    same_measure(&q.aspect_ratio, &s.aspect_ratio);
    assert_close(q.skewness.max, s.skewness.max, 1e-9); /* measured from either side: the same place */
    assert_close(q.skewness.mean, s.skewness.mean, 1e-9);
    destroy(&p);
  }
}

/* Closed form: squares are perfect; right triangles of halved squares; a stretched, sheared lattice. */
static void quality_in_closed_form(void **state) {
  (void)state;
  pcsim_mesh_quality q;
  pair p = make(&(lattice){LATTICE_HEXA, 3, 3, 3, 0, true});
  assert_ok(pcsim_mesh_quality_compute(p.mesh, &q));
  assert_close(q.non_orthogonality.max, 0, 1e-7);
  assert_close(q.skewness.max, 0, 1e-14);
  assert_close(q.volume_ratio.max, 1, 1e-14);
  assert_close(q.aspect_ratio.max, 1, 1e-14);
  assert_close(q.size_max, 1, 1e-14);
  assert_int_equal(q.count[PCSIM_CELL_HEXA], 27);
  assert_int_equal(q.aspect_ratio.num_worst, 5);
  destroy(&p);

  pcsim_raw_mesh *raw = lattice_make(&(lattice){LATTICE_QUAD, 4, 4, 0, 0, false});
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    raw->nodes[3 * i] *= 2;
    raw->nodes[3 * i] += raw->nodes[3 * i + 1]; /* edges (2, 0) and (1, 1): 45 degrees */
  }
  int rank;
  pcsim_mesh *mesh = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? raw : NULL, &mesh));
  assert_ok(pcsim_mesh_quality_compute(mesh, &q));
  /* centre line (2, 0) against normal of edge (1, 1); (1, 1) against (0, 1): both 45 degrees */
  assert_close(q.non_orthogonality.min, 45, 1e-12);
  assert_close(q.non_orthogonality.max, 45, 1e-12);
  assert_close(q.skewness.max, 0, 1e-14);
  assert_close(q.aspect_ratio.max, sqrt(2), 1e-14);
  assert_close(q.volume, 32, 1e-12);
  pcsim_mesh_destroy(&mesh);
  pcsim_raw_mesh_destroy(&raw);
}

/* Two rectangles of widths 1 and 3, the second's far side raised: the face between them is vertical at x = 1,
 * centre (1, 0.5); centres (0.5, 0.5) and that of the trapezium, so skewness has a closed form. */
static void skewness_of_two_cells(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = lattice_make(&(lattice){LATTICE_QUAD, 2, 1, 0, 0, false});
  raw->nodes[3 * 2] = 4;
  raw->nodes[3 * 5] = 4;
  raw->nodes[3 * 2 + 1] = 1; /* (4, 1) and (4, 2): a parallelogram, centre (2.5, 1) */
  raw->nodes[3 * 5 + 1] = 2;
  int rank;
  pcsim_mesh *mesh = NULL;
  pcsim_mesh_quality q;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? raw : NULL, &mesh));
  assert_ok(pcsim_mesh_quality_compute(mesh, &q));
  /* the line from (0.5, 0.5) to (2.5, 1) meets x = 1 at y = 0.625: 0.125 off the centre of the face */
  assert_close(q.skewness.max, 0.125 / sqrt(4 + 0.25), 1e-14);
  assert_close(q.volume_ratio.max, 3, 1e-14);
  assert_close(q.non_orthogonality.max, atan2(0.5, 2) * 180 / acos(-1.0), 1e-12);
  assert_int_equal(q.skewness.num_worst, 1);
  assert_close(q.skewness.worst_centre[0][0], 1, 1e-15);
  assert_close(q.aspect_ratio.worst_value[0], sqrt(10), 1e-14);
  assert_int_equal(q.aspect_ratio.worst_cell[0], 1);
  assert_close(q.aspect_ratio.worst_centre[0][0], 2.5, 1e-14);
  pcsim_mesh_destroy(&mesh);
  pcsim_raw_mesh_destroy(&raw);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(centres_are_found),
      cmocka_unit_test(every_point_of_the_box_is_inside),
      cmocka_unit_test(points_outside_get_the_nearest_centre),
      cmocka_unit_test(points_must_be_finite),
      cmocka_unit_test(quality_does_not_depend_on_ranks),
      cmocka_unit_test(quality_in_closed_form),
      cmocka_unit_test(skewness_of_two_cells),
  };
  return cmocka_run_group_tests_name("mesh_search", tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
