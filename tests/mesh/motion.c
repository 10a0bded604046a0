/* SPDX-License-Identifier: BSD-2-Clause */
/* Meshes that move: what stays, slides and follows, what is refused; derivatives of the geometry against
 * central differences. */
#include "mesh/lattice.h"

#include <math.h>

enum { NX = 5, NY = 4, NZ = 3 };

static pcsim_raw_mesh *box_of(int kind) {
  const lattice shape = {(lattice_kind)kind, NX, NY, NZ, 0.15, true};
  return lattice_make(&shape);
}

/* left: x = 0, right: x = NX, rest: the other sides */
static const bool right_moves[3] = {false, true, false};

static double *displacement_of(const pcsim_raw_mesh *raw, void (*of)(const double *x, double *u)) {
  double *u = NULL;
  assert_ok(pcsim_alloc((size_t)raw->num_nodes, 3 * sizeof *u, &u));
  for (int64_t i = 0; i < raw->num_nodes; i++) of(raw->nodes + 3 * i, u + 3 * i);
  return u;
}

static void stretch(const double *x, double *u) { u[0] = 1.5, u[1] = u[2] = 0 * x[0]; }
static void bulge(const double *x, double *u) { u[0] = 0.1 * x[1] * x[1] * x[1], u[1] = u[2] = 0; }
static void lift(const double *x, double *u) { u[1] = 0.5, u[0] = u[2] = 0 * x[0]; }
static void crush(const double *x, double *u) { u[0] = -NX - 1, u[1] = u[2] = 0 * x[0]; }

static double volume_of(const pcsim_raw_mesh *raw) {
  double sum = 0, volume, centre[3];
  for (int64_t c = 0; c < raw->num_cells; c++) {
    pcsim_cell_geometry(raw->nodes, raw->cell_type[c], raw->cell_nodes + raw->cell_start[c], &volume, centre);
    sum += volume;
  }
  return sum;
}

/* A side that moves takes the others along: they stay in their planes, the far one stays as it is. */
static void box_grows(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    pcsim_raw_mesh *raw = box_of(kind), *before = box_of(kind);
    double *u = displacement_of(raw, stretch);
    const double high[3] = {NX, NY, NZ};
    const int dim = raw->dim;
    assert_ok(pcsim_raw_mesh_extend(raw, right_moves, u));
    assert_ok(pcsim_raw_mesh_move(raw, u));
    for (int64_t i = 0; i < raw->num_nodes; i++) {
      const double *x = before->nodes + 3 * i, *y = raw->nodes + 3 * i;
      assert_true(y[0] >= x[0] - 1e-12 && y[0] <= x[0] + 1.5 + 1e-12); /* between both sides' motions */
      if (x[0] == 0) assert_true(y[0] == 0 && y[1] == x[1] && y[2] == x[2]);
      if (x[0] == NX) assert_true(y[0] == NX + 1.5);
      for (int d = 1; d < dim; d++)
        if (x[d] == 0 || x[d] == high[d]) assert_true(y[d] == x[d]);
    }
    assert_close(volume_of(raw), (NX + 1.5) * NY * (dim == 3 ? NZ : 1), 1e-10);
    pcsim_free(&u);
    pcsim_raw_mesh_destroy(&raw), pcsim_raw_mesh_destroy(&before);
  }
}

static void linear(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box_of(LATTICE_MIXED_3D);
  double *a = displacement_of(raw, stretch), *b = displacement_of(raw, bulge), *c = NULL;
  assert_ok(pcsim_alloc((size_t)raw->num_nodes, 3 * sizeof *c, &c));
  for (int64_t i = 0; i < 3 * raw->num_nodes; i++) c[i] = 2 * a[i] - 0.7 * b[i];
  assert_ok(pcsim_raw_mesh_extend(raw, right_moves, a));
  assert_ok(pcsim_raw_mesh_extend(raw, right_moves, b));
  assert_ok(pcsim_raw_mesh_extend(raw, right_moves, c));
  for (int64_t i = 0; i < 3 * raw->num_nodes; i++) assert_true(fabs(c[i] - 2 * a[i] + 0.7 * b[i]) < 1e-12);
  pcsim_free(&a), pcsim_free(&b), pcsim_free(&c);
  pcsim_raw_mesh_destroy(&raw);
}

static void expect(pcsim_status status, const char *text) {
  assert_int_equal(status, PCSIM_ERR_CASE);
  if (!strstr(pcsim_error_message(), text)) print_error("%s\n", pcsim_error_message());
  assert_non_null(strstr(pcsim_error_message(), text));
  pcsim_error_clear();
}

static void refusals(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box_of(LATTICE_QUAD);
  double *u = displacement_of(raw, lift);
  expect(pcsim_raw_mesh_extend(raw, right_moves, u), "leaves the plane of boundary 'rest'");
  pcsim_free(&u);
  u = displacement_of(raw, crush);
  assert_ok(pcsim_raw_mesh_extend(raw, right_moves, u));
  expect(pcsim_raw_mesh_move(raw, u), "inside out");
  pcsim_free(&u);
  pcsim_raw_mesh_destroy(&raw);
}

static void make_periodic(pcsim_raw_mesh *raw) {
  raw->num_periodic = 1;
  assert_ok(pcsim_alloc(1, 2 * sizeof *raw->periodic, &raw->periodic));
  raw->periodic[0] = 0, raw->periodic[1] = 1;
}

static void wave(const double *x, double *u) {
  u[1] = x[1] > NY / 2.0 ? 0.3 * sin(2 * acos(-1) * x[0] / NX + 1) : 0;
  u[0] = u[2] = 0;
}

/* Partners move alike, those that slide too. */
static void periods(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box_of(LATTICE_TRIANGLE);
  pcsim_mesh *mesh = NULL;
  make_periodic(raw);
  double *u = displacement_of(raw, stretch);
  expect(pcsim_raw_mesh_extend(raw, right_moves, u), "'right' is periodic with 'left'");
  pcsim_free(&u);
  u = displacement_of(raw, wave);
  assert_ok(pcsim_raw_mesh_extend(raw, (const bool[3]){false, false, true}, u));
  assert_ok(pcsim_raw_mesh_move(raw, u));
  assert_ok(pcsim_mesh_create(MPI_COMM_SELF, raw, &mesh));
  assert_int_equal(pcsim_mesh_get(mesh)->num_periodic, 1);
  pcsim_mesh_destroy(&mesh);
  pcsim_free(&u);
  pcsim_raw_mesh_destroy(&raw);
}

/* ------------------------------------------------------------------ derivatives */

static void swirl(const double *x, double *u) {
  u[0] = sin(0.7 * x[1]) + 0.2 * x[2], u[1] = cos(0.5 * x[0]) * (1 + 0.1 * x[2]),
  u[2] = 0.3 * sin(x[0] + x[1]);
}

static pcsim_mesh *moved(MPI_Comm comm, int kind, double amount, double **displacement) {
  pcsim_raw_mesh *raw = NULL;
  pcsim_mesh *mesh = NULL;
  int rank;
  MPI_Comm_rank(comm, &rank);
  *displacement = NULL;
  if (rank == 0) {
    raw = box_of(kind);
    *displacement = displacement_of(raw, swirl);
    for (int64_t i = 0; i < 3 * raw->num_nodes; i++)
      if (raw->dim == 2 && i % 3 == 2) (*displacement)[i] = 0;
    for (int64_t i = 0; i < 3 * raw->num_nodes; i++) raw->nodes[i] += amount * (*displacement)[i];
  }
  assert_ok(pcsim_mesh_create(comm, raw, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  return mesh;
}

/* Cells, nodes and faces of a serial mesh, whose order may be another one. */
static int64_t cell_in(const pcsim_mesh_view *v, int64_t original) {
  int64_t c = 0;
  while (v->cell_original[c] != original) c++;
  return c;
}
static int64_t node_in(const pcsim_mesh_view *v, int64_t global) {
  int64_t i = 0;
  while (v->node_global[i] != global) i++;
  return i;
}
static bool same_nodes(const pcsim_mesh_view *v, int64_t f, const pcsim_mesh_view *w, int64_t g) {
  const int64_t n = v->face_node_start[f + 1] - v->face_node_start[f];
  int64_t same = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = w->face_node_start[g]; j < w->face_node_start[g + 1]; j++)
      same += v->node_global[v->face_node[v->face_node_start[f] + i]] == w->node_global[w->face_node[j]];
  return same == n;
}
static int64_t face_in(const pcsim_mesh_view *w, const pcsim_mesh_view *v, int64_t f) {
  int64_t g = 0;
  while (!same_nodes(v, f, w, g)) g++;
  return g;
}

static void check(const char *what, int n, const double *exact, const double *up, double sign_up,
                  const double *down, double sign_down, double h) {
  for (int i = 0; i < n; i++) {
    const double difference = (sign_up * up[i] - sign_down * down[i]) / (2 * h);
    if (!(fabs(exact[i] - difference) < 1e-7))
      print_error("%s: %.12g, differences %.12g\n", what, exact[i], difference);
    assert_true(fabs(exact[i] - difference) < 1e-7);
  }
}

/* 1, or -1 where the face is seen from its other side. */
static double side(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] > 0 ? 1 : -1;
}

static void tangents(void **state) {
  (void)state;
  const double h = 1e-5;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    double *u, *other;
    pcsim_mesh *mesh = moved(MPI_COMM_WORLD, kind, 0, &u), *up = moved(MPI_COMM_SELF, kind, h, &other), *down;
    pcsim_free(&other);
    down = moved(MPI_COMM_SELF, kind, -h, &other);
    pcsim_free(&other);
    const pcsim_mesh_view *v = pcsim_mesh_get(mesh), *a = pcsim_mesh_get(up), *b = pcsim_mesh_get(down);
    pcsim_mesh_tangent t;
    assert_ok(pcsim_mesh_tangent_create(mesh, u, &t));
    for (int64_t c = 0; c < v->num_cells + v->num_ghosts; c++) {
      const int64_t i = cell_in(a, v->cell_original[c]), j = cell_in(b, v->cell_original[c]);
      check("centre", 3, t.cell_centre + 3 * c, a->cell_centre + 3 * i, 1, b->cell_centre + 3 * j, 1, h);
      check("volume", 1, t.cell_volume + c, a->cell_volume + i, 1, b->cell_volume + j, 1, h);
    }
    for (int64_t k = 0; k < v->num_nodes; k++)
      check("node", 3, t.node + 3 * k, a->node + 3 * node_in(a, v->node_global[k]), 1,
            b->node + 3 * node_in(b, v->node_global[k]), 1, h);
    for (int64_t f = 0; f < v->num_faces; f++) {
      const int64_t i = face_in(a, v, f), j = face_in(b, v, f);
      const double *area = v->face_area + 3 * f, *above = a->face_area + 3 * i, *below = b->face_area + 3 * j;
      check("area", 3, t.face_area + 3 * f, above, side(area, above), below, side(area, below), h);
      check("face", 3, t.face_centre + 3 * f, a->face_centre + 3 * i, 1, b->face_centre + 3 * j, 1, h);
    }
    pcsim_mesh_tangent_free(&t);
    pcsim_free(&u);
    pcsim_mesh_destroy(&mesh), pcsim_mesh_destroy(&up), pcsim_mesh_destroy(&down);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(box_grows), cmocka_unit_test(linear),
                                     cmocka_unit_test(refusals), cmocka_unit_test(periods),
                                     cmocka_unit_test(tangents)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
