/* SPDX-License-Identifier: BSD-2-Clause */
/* Periodic boundaries on every kind of cell and any number of ranks: faces at both ends, images, closed
 * cells, exchange, stencils that do not see the end of the box, and the messages of boundaries that do not
 * match. */
#include "lattice.h"

#include <math.h>

static const lattice kinds[NUM_LATTICES] = {
    [LATTICE_QUAD] = {LATTICE_QUAD, 7, 6, 0, 0.2, true},
    [LATTICE_TRIANGLE] = {LATTICE_TRIANGLE, 7, 5, 0, 0.2, true},
    [LATTICE_MIXED_2D] = {LATTICE_MIXED_2D, 9, 7, 0, 0.2, true},
    [LATTICE_HEXA] = {LATTICE_HEXA, 5, 4, 4, 0.2, true},
    [LATTICE_TETRA] = {LATTICE_TETRA, 4, 4, 5, 0.15, true},
    [LATTICE_PRISM] = {LATTICE_PRISM, 4, 5, 4, 0.15, true},
    [LATTICE_PYRAMID] = {LATTICE_PYRAMID, 4, 4, 4, 0.15, true},
    [LATTICE_MIXED_3D] = {LATTICE_MIXED_3D, 6, 5, 4, 0.15, true},
};

static double side(const lattice *s, int axis) { return axis == 0 ? s->nx : axis == 1 ? s->ny : s->nz; }

/* The box with a boundary at each end of each axis, the first `axes` of them periodic; every other pair is
 * named from its high end. */
static pcsim_raw_mesh *make_raw(const lattice *shape, int axes) {
  static const char *const names[] = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
  pcsim_raw_mesh *raw = lattice_make(shape);
  for (int i = 0; i < 3; i++) pcsim_free(&raw->patches[i]);
  raw->num_patches = 2 * raw->dim;
  assert_ok(pcsim_realloc((size_t)raw->num_patches, sizeof *raw->patches, &raw->patches));
  for (int i = 0; i < raw->num_patches; i++) raw->patches[i] = lattice_name(names[i]);
  for (int64_t f = 0; f < raw->num_facets; f++)
    for (int p = 0; p < raw->num_patches; p++) {
      bool all = true;
      for (int64_t i = raw->facet_start[f]; i < raw->facet_start[f + 1]; i++)
        all = all && raw->nodes[3 * (int64_t)raw->facet_nodes[i] + p / 2] == (p % 2 ? side(shape, p / 2) : 0);
      if (all) raw->facet_patch[f] = p;
    }
  raw->num_periodic = axes;
  assert_ok(pcsim_alloc((size_t)axes, 2 * sizeof *raw->periodic, &raw->periodic));
  for (int k = 0; k < axes; k++) {
    raw->periodic[2 * k] = 2 * k + k % 2;
    raw->periodic[2 * k + 1] = 2 * k + 1 - k % 2;
  }
  return raw;
}

typedef struct {
  pcsim_raw_mesh *raw;
  pcsim_mesh *mesh, *serial;
  const pcsim_mesh_view *v, *all;
} meshes;

static meshes make(const lattice *shape, int axes) {
  int rank;
  meshes m = {.raw = make_raw(shape, axes)};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? m.raw : NULL, &m.mesh));
  assert_ok(pcsim_mesh_create(MPI_COMM_SELF, m.raw, &m.serial));
  m.v = pcsim_mesh_get(m.mesh);
  m.all = pcsim_mesh_get(m.serial);
  return m;
}
static void destroy(meshes *m) {
  pcsim_mesh_destroy(&m->mesh);
  pcsim_mesh_destroy(&m->serial);
  pcsim_raw_mesh_destroy(&m->raw);
}

static double total(double value) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/* Runs `check` for every kind of cell and every number of periodic axes. */
static void for_all(void (*check)(const lattice *, int, const meshes *)) {
  for (int k = 0; k < NUM_LATTICES; k++)
    for (int axes = 1; axes <= (k < LATTICE_HEXA ? 2 : 3); axes++) {
      meshes m = make(kinds + k, axes);
      check(kinds + k, axes, &m);
      destroy(&m);
    }
}

static void check_faces(const lattice *s, int axes, const meshes *m) {
  const pcsim_mesh_view *v = m->v;
  double *sum = NULL, owned = 0, boundary = 0, twice = 0;
  assert_int_equal(v->num_periodic, axes);
  for (int k = 0; k < axes; k++)
    for (int d = 0; d < 3; d++)
      assert_true(v->period[3 * k + d] == (d == k ? (k % 2 ? -1 : 1) * side(s, k) : 0));
  assert_int_equal(v->num_patches, 2 * (v->dim - axes));
  assert_int_equal(pcsim_mesh_find_patch(m->mesh, "x-min"), -1);
  assert_ok(pcsim_alloc((size_t)v->num_cells, 4 * sizeof *sum, &sum));
  for (int64_t f = 0; f < v->num_faces; f++) {
    const double *S = v->face_area + 3 * f, *x = v->face_centre + 3 * f;
    owned += v->owner[f] < v->num_cells;
    boundary += f >= v->num_interior_faces;
    for (int k = 0; k < axes && f < v->num_interior_faces; k++)
      if (v->owner[f] < v->num_cells) twice += fabs(x[k]) < 1e-9 || fabs(x[k] - side(s, k)) < 1e-9;
    for (int i = 0; i < (f < v->num_interior_faces ? 2 : 1); i++) {
      const int64_t c = i ? v->neighbour[f] : v->owner[f];
      double out = 0;
      for (int d = 0; d < 3; d++) out += (i ? -1 : 1) * S[d] * (x[d] - v->cell_centre[3 * c + d]);
      assert_true(out > 0); /* both centres are beside their face: images are in place */
      if (c >= v->num_cells) continue;
      for (int d = 0; d < 3; d++) sum[4 * c + d] += (i ? -1 : 1) * S[d];
      sum[4 * c + 3] += out;
    }
  }
  for (int64_t c = 0; c < v->num_cells; c++)
    for (int d = 0; d < 3; d++) assert_close(sum[4 * c + d], 0, 1e-13);
  for (int64_t c = 0; c < v->num_cells && v->dim == 2; c++)
    assert_close(sum[4 * c + 3], 2 * v->cell_volume[c], 1e-12);
  pcsim_free(&sum);
  assert_int_equal((int64_t)total(owned), v->num_faces_global); /* each counted once */
  double ends = 0, raw_ends = 0;
  for (int64_t f = 0; f < m->raw->num_facets; f++) {
    raw_ends += m->raw->facet_patch[f] >= 2 * axes;
    ends += m->raw->facet_patch[f] < 2 * axes;
  }
  assert_int_equal((int64_t)total(boundary), (int64_t)raw_ends);
  assert_int_equal((int64_t)total(twice), (int64_t)ends / 2);
  assert_int_equal(v->num_faces_global, m->all->num_faces_global);
}

static void faces_are_interior(void **state) {
  (void)state;
  for_all(check_faces);
}

/* Flux through a face is the same from both ends to the last bit when the values are: what is added to cells
 * cancels. */
static void check_balance(const lattice *s, int axes, const meshes *m) {
  const pcsim_mesh_view *v = m->v;
  double *value = NULL, sum = 0, size = 0;
  if (axes < v->dim) return;
  (void)s;
  assert_ok(pcsim_alloc((size_t)(v->num_cells + v->num_ghosts), 3 * sizeof *value, &value));
  for (int64_t c = 0; c < v->num_cells; c++)
    for (int d = 0; d < 3; d++) value[3 * c + d] = sin(1.0 + 0.37 * (double)v->cell_original[c] + d);
  assert_ok(pcsim_mesh_exchange(m->mesh, 3, value));
  for (int64_t f = 0; f < v->num_faces; f++) {
    const int64_t o = v->owner[f], n = v->neighbour[f];
    double flux = 0;
    for (int d = 0; d < 3; d++) flux += v->face_area[3 * f + d] * 0.5 * (value[3 * o + d] + value[3 * n + d]);
    if (o < v->num_cells) sum += flux;
    if (n < v->num_cells) sum -= flux;
    size += fabs(flux);
  }
  assert_close(total(sum), 0, 1e-14 * total(size));
  pcsim_free(&value);
}

/* <E x, y> = <x, E^T y> with whole numbers, which add up exactly. */
static void check_transpose(const lattice *s, int axes, const meshes *m) {
  const pcsim_mesh_view *v = m->v;
  const int64_t cells = v->num_cells + v->num_ghosts;
  double *x = NULL, *y = NULL, product[2] = {0, 0};
  (void)s, (void)axes;
  assert_ok(pcsim_alloc((size_t)cells, 3 * sizeof *x, &x));
  assert_ok(pcsim_alloc((size_t)cells, 3 * sizeof *y, &y));
  for (int64_t i = 0; i < 3 * cells; i++) {
    x[i] = i < 3 * v->num_cells ? (double)(v->cell_original[i / 3] % 97 + i % 3) : NAN;
    y[i] = (double)((7 * i + v->first_cell) % 89);
  }
  assert_ok(pcsim_mesh_exchange(m->mesh, 3, x));
  for (int64_t i = 0; i < 3 * cells; i++) product[0] += x[i] * y[i];
  assert_ok(pcsim_mesh_exchange_add(m->mesh, 3, y));
  for (int64_t i = 0; i < 3 * v->num_cells; i++) product[1] += x[i] * y[i];
  assert_true(total(product[0]) == total(product[1]));
  pcsim_free(&x), pcsim_free(&y);
}

static void images_add_back(void **state) {
  (void)state;
  for_all(check_transpose);
}

static void fluxes_balance(void **state) {
  (void)state;
  for_all(check_balance);
}

static void check_images(const lattice *s, int axes, const meshes *m) {
  const pcsim_mesh_view *v = m->v;
  double *value = NULL;
  int64_t images = 0;
  assert_ok(pcsim_alloc((size_t)(v->num_cells + v->num_ghosts), 5 * sizeof *value, &value));
  for (int64_t c = 0; c < v->num_cells; c++) {
    memcpy(value + 5 * c, v->cell_centre + 3 * c, 3 * sizeof *value);
    value[5 * c + 3] = v->cell_volume[c];
    value[5 * c + 4] = (double)v->cell_original[c];
  }
  for (int repeat = 0; repeat < 2; repeat++) assert_ok(pcsim_mesh_exchange(m->mesh, 5, value));
  for (int64_t g = 0; g < v->num_ghosts; g++) {
    const int64_t c = v->num_cells + g, own = v->ghost_global[g] - v->first_cell;
    const int32_t same = v->ghost_same[g];
    bool moved = false;
    assert_true(value[5 * c + 3] == v->cell_volume[c]);
    assert_int_equal((int64_t)value[5 * c + 4], v->cell_original[c]);
    for (int d = 0; d < 3; d++) {
      const double move = v->cell_centre[3 * c + d] - value[5 * c + d];
      const double times = d < axes ? round(move / side(s, d)) : 0;
      assert_close(move, d < axes ? times * side(s, d) : 0, 1e-13);
      assert_true(fabs(times) <= 1);
      moved = moved || times != 0;
    }
    images += moved;
    if (own >= 0 && own < v->num_cells) {
      assert_true(moved);
      assert_int_equal(same, own);
    } else {
      assert_true(same >= v->num_cells && v->ghost_global[same - v->num_cells] == v->ghost_global[g]);
      assert_true(same <= c && (same == c) == (g == 0 || v->ghost_global[g - 1] != v->ghost_global[g]));
    }
    if (g > 0) assert_true(v->ghost_global[g - 1] <= v->ghost_global[g]);
  }
  assert_true(total((double)images) > 0);
  pcsim_free(&value);
}

static void ghosts_are_images(void **state) {
  (void)state;
  for_all(check_images);
}

/* Moments of what is near a cell, in the order of the raw mesh: [num_cells][6]. */
static double *near_moments(const pcsim_mesh *mesh) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  double *own = NULL, *all = NULL;
  assert_ok(pcsim_alloc((size_t)v->num_cells, 6 * sizeof *own, &own));
  assert_ok(pcsim_alloc((size_t)v->num_cells_global, 6 * sizeof *all, &all));
  for (int64_t c = 0; c < v->num_cells; c++)
    for (int64_t k = v->near_start[c]; k < v->near_start[c + 1]; k++) {
      double square = 0;
      for (int d = 0; d < 3; d++) {
        const double x = v->cell_centre[3 * (int64_t)v->near[k] + d] - v->cell_centre[3 * c + d];
        own[6 * c + 1 + d] += x;
        square += x * x;
      }
      own[6 * c] += 1;
      own[6 * c + 4] += square;
      own[6 * c + 5] += (double)v->cell_original[v->near[k]];
    }
  assert_ok(pcsim_mesh_gather(mesh, 6, own, all));
  pcsim_free(&own);
  return all;
}

static void check_near(const lattice *s, int axes, const meshes *m) {
  double *some = near_moments(m->mesh), *one = near_moments(m->serial);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int64_t i = 0; rank == 0 && i < 6 * m->all->num_cells; i++) assert_close(some[i], one[i], 1e-11);
  /* without an end every block has the same number of blocks around */
  if (axes == m->v->dim && (s->kind == LATTICE_QUAD || s->kind == LATTICE_HEXA))
    for (int64_t c = 0; rank == 0 && c < m->all->num_cells; c++)
      assert_true(some[6 * c] == (s->kind == LATTICE_QUAD ? 8 : 26));
  pcsim_free(&some);
  pcsim_free(&one);
}

static void stencils_reach_across(void **state) {
  (void)state;
  for_all(check_near);
}

static void check_nodes(const lattice *s, int axes, const meshes *m) {
  const pcsim_mesh_view *v = m->v;
  for (int64_t n = 0; n < v->num_nodes; n++) {
    const double *x = v->node + 3 * n;
    int ends = 0, end = PCSIM_NODE_INTERIOR;
    for (int d = axes; d < v->dim; d++)
      for (int high = 0; high < 2; high++)
        if (x[d] == (high ? side(s, d) : 0)) ends++, end = 2 * d + high;
    const char *const name = ends == 1 ? m->raw->patches[end] : NULL;
    assert_int_equal(v->node_patch[n], ends == 0   ? PCSIM_NODE_INTERIOR
                                       : ends == 1 ? pcsim_mesh_find_patch(m->mesh, name)
                                                   : PCSIM_NODE_SEVERAL);
    double mean = 0; /* cells around a node without an end are on all its sides */
    for (int64_t k = v->node_cell_start[n]; k < v->node_cell_start[n + 1]; k++)
      mean += v->cell_centre[3 * (int64_t)v->node_cell[k]] - x[0];
    assert_true(fabs(mean) < 0.35 * (double)(v->node_cell_start[n + 1] - v->node_cell_start[n]));
  }
}

static void nodes_have_both_sides(void **state) {
  (void)state;
  for_all(check_nodes);
}

/* One cell between the ends: it is its own neighbour, on both sides. */
static void one_cell_thick(void **state) {
  (void)state;
  const lattice s = {LATTICE_HEXA, 1, 6, 1, 0, true};
  meshes m = make(&s, 3);
  const pcsim_mesh_view *v = m.v;
  double owned = 0;
  for (int64_t f = 0; f < v->num_faces; f++) {
    const int64_t o = v->owner[f], n = v->neighbour[f];
    for (int d = 0; d < 3; d++)
      assert_close(v->cell_centre[3 * n + d] - v->cell_centre[3 * o + d], v->face_area[3 * f + d], 1e-14);
    owned += o < v->num_cells;
  }
  assert_int_equal((int64_t)total(owned), 18);
  for (int64_t c = 0; c < v->num_cells; c++) assert_int_equal(v->near_start[c + 1] - v->near_start[c], 26);
  pcsim_mesh_quality quality;
  assert_ok(pcsim_mesh_quality_compute(m.mesh, &quality));
  assert_int_equal(quality.num_faces, 18);
  assert_close(quality.non_orthogonality.max, 0, 1e-10);
  destroy(&m);
}

/* ------------------------------------------------------------------- faults */

/* The raw node of one corner. */
static double *node_at(pcsim_raw_mesh *raw, double x, double y, double z) {
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    double *p = raw->nodes + 3 * i;
    if (p[0] == x && p[1] == y && p[2] == z) return p;
  }
  fail();
  return NULL;
}

/* A node that misses its partner by less than a millionth of a face is moved onto it: cells stay closed. */
static void nodes_are_moved_together(void **state) {
  (void)state;
  const lattice s = {LATTICE_HEXA, 4, 4, 4, 0.1, true};
  pcsim_raw_mesh *raw = make_raw(&s, 3);
  pcsim_mesh *mesh;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *node = node_at(raw, 4, 2, 1), before[3];
  node[0] += 3e-7, node[1] -= 4e-7;
  node_at(raw, 4, 4, 4)[2] += 5e-7;
  memcpy(before, node, sizeof before);
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? raw : NULL, &mesh));
  assert_true(memcmp(before, node, sizeof before) == 0); /* the raw mesh is the caller's */
  meshes m = {raw, mesh, NULL, pcsim_mesh_get(mesh), NULL};
  check_balance(&s, 3, &m);
  destroy(&m);
}

static void refused(pcsim_raw_mesh *raw, const char *const *texts) {
  int rank;
  pcsim_mesh *mesh = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_status(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? raw : NULL, &mesh), PCSIM_ERR_MESH);
  assert_null(mesh);
  for (; *texts; texts++)
    if (!strstr(pcsim_error_message(), *texts)) {
      print_error("message \"%s\" lacks \"%s\"\n", pcsim_error_message(), *texts);
      fail();
    }
  pcsim_raw_mesh_destroy(&raw);
}
#define REFUSED(raw, ...) refused(raw, (const char *const[]){__VA_ARGS__, NULL})

static void what_does_not_match_is_named(void **state) {
  (void)state;
  const lattice plain = {LATTICE_QUAD, 4, 3, 0, 0, false};
  pcsim_raw_mesh *raw = make_raw(&plain, 1);
  node_at(raw, 4, 1, 0)[1] += 1e-3;
  REFUSED(raw,
          "the periodic boundaries 'x-min' (3 faces) and 'x-max' (3 faces), (4, 0) apart, do not match: the "
          "face at (0, 0.5) of 'x-min', of cell 1 (quad at (0.5, 0.5)), has no partner; 2 such faces");
  raw = make_raw(&plain, 2);
  raw->periodic[1] = 0;
  REFUSED(raw, "'x-min' is periodic twice, with 'x-min' and with 'x-min'");
  raw = make_raw(&plain, 2);
  raw->periodic[2] = 1;
  REFUSED(raw, "'x-max' is periodic twice, with 'x-min' and with 'y-min'");
  raw = make_raw(&plain, 1);
  raw->periodic[1] = 2;
  REFUSED(raw, "'x-min' (3 faces) and 'y-min' (4 faces), (2, -1.5) apart, do not match");
  raw = make_raw(&plain, 1);
  for (int64_t f = 0; f < raw->num_facets; f++)
    if (raw->facet_patch[f] == 1) raw->facet_patch[f] = 2;
  REFUSED(raw, "'x-min' is periodic with 'x-max', but 'x-max' has no faces");
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faces_are_interior),
      cmocka_unit_test(fluxes_balance),
      cmocka_unit_test(images_add_back),
      cmocka_unit_test(ghosts_are_images),
      cmocka_unit_test(stencils_reach_across),
      cmocka_unit_test(nodes_have_both_sides),
      cmocka_unit_test(one_cell_thick),
      cmocka_unit_test(nodes_are_moved_together),
      cmocka_unit_test(what_does_not_match_is_named),
  };
  return cmocka_run_group_tests_name("periodic", tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
