/* SPDX-License-Identifier: BSD-2-Clause */
/* Domains: volumes and areas against closed forms, points inside and on the boundary with their normals. */
#include "domain_text.h"

static const double pi = 3.14159265358979323846;

static const char *const square =
    "domain: {box: {x: [0, 2], y: [-1, 3], t: [0, 0.5]}}\ninputs: {nu: [1, 3]}\n";
static const char *const disks = "domain:\n  box: {x: [-0.5, 0.5], y: [-0.5, 0.5]}\n  minus:\n"
                                 "    disk1: {ball: {centre: [0.3, 0.3], radius: 0.1}}\n"
                                 "    disk2: {ball: {centre: [-0.3, 0.3], radius: 0.1}}\n";
static const char *const lens =
    "domain: {ball: {centre: [0, 0], radius: 1}, and: {other: {ball: {centre: [1, 0], "
    "radius: 1}}}}\n";
static const char *const corner =
    "domain: {box: {x: [0, 2], y: [0, 2]}, minus: {notch: {box: {x: [1, 2], y: [1, "
    "2]}}}}\n";
static const char *const ell =
    "domain: {box: {x: [0, 1], y: [0, 2]}, plus: {right: {box: {x: [1, 2], y: [0, 1]}}}}\n";
static const char *const channel =
    "domain: {box: {x: [0, 3], y: [0, 1], z: [0, 1]}, minus: {pin: {ball: {centre: "
    "[1, 0.5], radius: 0.2, coordinates: [x, y]}}}}\n";
static const char *const shell =
    "domain: {ball: {centre: [0, 0, 0, 0, 0], radius: 2}, minus: {core: {ball: {centre: "
    "[0, 0, 0, 0, 0], radius: 1}}}, t: [1, 2]}\n";
static const char *const ring =
    "domain: {box: {x: [-2, 2], y: [-2, 2]}, minus: {ring: {ball: {centre: [0, 0], radius: "
    "1.5}, minus: {core: {ball: {centre: [0, 0], radius: 0.5}}}}}}\n";
static const char *const interval = "domain: {box: {x: [2, 5]}}\n";

static double area_of(const domain *d, const char *name) {
  const int piece = find_piece(d, name);
  assert_true(piece >= 0);
  return domain_get(d)->area[piece];
}

static void closed_forms(void **state) {
  (void)state;
  domain *d = read_domain(square);
  const domain_view *v = domain_get(d);
  assert_int_equal(v->num_coordinates, 4);
  assert_int_equal(v->num_space, 2);
  assert_int_equal(v->time, 2);
  assert_string_equal(v->coordinate[2], "t");
  assert_string_equal(v->coordinate[3], "nu");
  assert_close(v->range[2][1], 0.5, 0);
  assert_close(v->range[3][0], 1, 0);
  assert_close(v->volume, 8, 1e-14);
  assert_close(area_of(d, "x-max"), 4, 1e-14);
  assert_close(area_of(d, "y-min"), 2, 1e-14);
  domain_destroy(&d);
  d = read_domain(disks);
  assert_close(domain_get(d)->volume, 1 - 0.02 * pi, 1e-14);
  assert_close(area_of(d, "disk2"), 0.2 * pi, 1e-14);
  domain_destroy(&d);
  d = read_domain(shell);
  assert_int_equal(domain_get(d)->time, 5);
  assert_string_equal(domain_get(d)->coordinate[4], "x5");
  assert_close(domain_get(d)->volume, 8 * pi * pi / 15 * 31, 1e-11);
  assert_close(area_of(d, "ball"), 8 * pi * pi / 3 * 16, 1e-10);
  assert_close(area_of(d, "core"), 8 * pi * pi / 3, 1e-12);
  domain_destroy(&d);
  d = read_domain(ring);
  assert_close(domain_get(d)->volume, 16 - 2 * pi, 1e-13);
  assert_close(area_of(d, "ring"), 3 * pi, 1e-13);
  assert_close(area_of(d, "core"), pi, 1e-13);
  domain_destroy(&d);
  d = read_domain(interval);
  assert_close(domain_get(d)->volume, 3, 1e-15);
  assert_close(area_of(d, "x-max"), 1, 1e-15);
  domain_destroy(&d);
}

/** Where faces are left in part they are measured by points: to a few thousandths. */
static void measured(void **state) {
  (void)state;
  domain *d = read_domain(lens);
  assert_close(domain_get(d)->volume, 2 * pi / 3 - 0.5 * sqrt(3), 2e-4);
  assert_close(area_of(d, "ball"), 2 * pi / 3, 1e-3);
  assert_close(area_of(d, "other"), 2 * pi / 3, 1e-3);
  domain_destroy(&d);
  d = read_domain(corner);
  assert_close(domain_get(d)->volume, 3, 2e-4);
  assert_close(area_of(d, "notch"), 2, 1e-3);
  assert_close(area_of(d, "x-max"), 1, 1e-3);
  domain_destroy(&d);
  d = read_domain(ell);
  assert_close(domain_get(d)->volume, 3, 2e-4);
  assert_close(area_of(d, "x-max"), 1, 1e-3);
  assert_close(area_of(d, "right"), 3, 1e-3);
  domain_destroy(&d);
  d = read_domain(channel);
  assert_close(domain_get(d)->volume, 3 - 0.04 * pi, 1e-3);
  assert_close(area_of(d, "pin"), 0.4 * pi, 2e-3);
  assert_close(area_of(d, "z-max"), 3 - 0.04 * pi, 3e-3);
  domain_destroy(&d);
}

/* Means of functions over the domain and over its boundary, and what holds of every point. */
static void points_of(const char *text, const double *mean) {
  enum { N = 4096 };
  domain *d = read_domain(text);
  const domain_view *v = domain_get(d);
  const int num = v->num_coordinates, num_space = v->num_space;
  double *points = malloc((size_t)(N * num) * sizeof *points),
         *again = malloc((size_t)(N * num) * sizeof *again);
  double *normals = malloc((size_t)(N * num_space) * sizeof *normals), flux = 0;
  for (int kind = SEQUENCE_SOBOL; kind <= SEQUENCE_HALTON; kind++) {
    domain_use(d, (sequence_kind)kind);
    assert_ok(domain_draw_inside(d, 3, 5, N, points));
    for (int i = 0; i < N; i++) {
      assert_true(domain_inside(d, points + i * num));
      for (int k = 0; k < num; k++)
        assert_true(points[i * num + k] >= v->range[k][0] && points[i * num + k] <= v->range[k][1]);
    }
    for (int k = 0; k < num_space; k++) {
      double sum = 0;
      for (int i = 0; i < N; i++) sum += points[i * num + k] / N;
      assert_close(sum, mean[k], 4e-3 * (v->range[k][1] - v->range[k][0]));
    }
    /* The same draw again, a shorter one, another one, another seed. */
    assert_ok(domain_draw_inside(d, 3, 5, N / 2 + 1, again));
    assert_memory_equal(again, points, (size_t)((N / 2 + 1) * num) * sizeof *points);
    assert_ok(domain_draw_inside(d, 3, 6, N, again));
    assert_memory_not_equal(again, points, (size_t)(N * num) * sizeof *points);
    assert_ok(domain_draw_inside(d, 4, 5, N, again));
    assert_memory_not_equal(again, points, (size_t)(N * num) * sizeof *points);
  }
  domain_use(d, SEQUENCE_SOBOL);
  for (int p = 0; p < v->num_pieces; p++) {
    int elsewhere = 0;
    assert_ok(domain_draw_piece(d, p, 3, 5, N, points, normals));
    for (int i = 0; i < N; i++) {
      double x[10], length = 0;
      for (int k = 0; k < num_space; k++) length += normals[i * num_space + k] * normals[i * num_space + k];
      assert_close(length, 1, 1e-14);
      assert_true(domain_inside(d, points + i * num));
      for (int k = 0; k < num_space; k++) x[k] = points[i * num + k] + 1e-6 * normals[i * num_space + k];
      assert_false(domain_inside(d, x));
      for (int k = 0; k < num_space; k++) x[k] = points[i * num + k] - 1e-6 * normals[i * num_space + k];
      assert_true(domain_inside(d, x));
      /* Another piece only where they meet. */
      elsewhere += domain_on_piece(d, points + i * num, 1e-9) != p;
      /* Divergence theorem: the flux of x is d times the volume. */
      for (int k = 0; k < num_space; k++)
        flux += points[i * num + k] * normals[i * num_space + k] * v->area[p] / N;
    }
    assert_int_equal(elsewhere, 0);
    assert_ok(domain_draw_piece(d, p, 3, 5, N / 2, again, normals));
    assert_memory_equal(again, points, (size_t)(N / 2 * num) * sizeof *points);
  }
  assert_close(flux / (num_space * v->volume), 1, 2e-3);
  if (v->time >= 0) {
    assert_ok(domain_draw_start(d, 3, 5, N, points));
    for (int i = 0; i < N; i++) assert_close(points[i * num + v->time], v->range[v->time][0], 0);
  }
  free(points);
  free(again);
  free(normals);
  domain_destroy(&d);
}

static void points(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  const double zero[10] = {0};
  points_of(square, (const double[]){1, 1});
  points_of(disks, (const double[]){0, -0.3 * 0.02 * pi / (1 - 0.02 * pi)});
  points_of(lens, (const double[]){0.5, 0});
  points_of(corner, (const double[]){5.0 / 6, 5.0 / 6});
  points_of(ell, (const double[]){5.0 / 6, 5.0 / 6});
  points_of(channel, (const double[]){(4.5 - 0.04 * pi) / (3 - 0.04 * pi), 0.5, 0.5});
  points_of(shell, zero);
  points_of(ring, zero);
  points_of(interval, (const double[]){3.5});
  points_of("mesh: {shape: step, upstream: 1, length: 1, height: 2, step: 1, n: [2, 2]}\n",
            (const double[]){0.5 / 3, 0.5 / 3});
  assert_int_equal(pcsim_memory_used(), before);
}

/** The share of the points in a part of the domain is its share of the volume, much closer than for
 * independent points. */
static void even(void **state) {
  (void)state;
  enum { N = 8192 };
  static double points_[N * 2];
  domain *d = read_domain(disks);
  assert_ok(domain_draw_inside(d, 1, 1, N, points_));
  double worst = 0;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 4; j++) { /* the part below the disks */
      int count = 0;
      for (int k = 0; k < N; k++)
        count += floor((points_[2 * k] + 0.5) * 8) == i && floor((points_[2 * k + 1] + 0.5) * 8) == j;
      worst = fmax(worst, fabs(count / (N / 64.0) * domain_get(d)->volume - 1));
    }
  /* Independent points would miss by up to 20 percent in one of 32. */
  assert_true(worst < 0.05);
  domain_destroy(&d);
}

/** The shapes of meshes, exactly. */
static void shapes(void **state) {
  (void)state;
  domain *d = read_domain("mesh: {shape: cavity, width: 2, n: [4, 4]}\ndomain: {t: [0, 3]}\n");
  assert_int_equal(domain_get(d)->num_coordinates, 3);
  assert_int_equal(domain_get(d)->time, 2);
  assert_int_equal(domain_get(d)->num_pieces, 2);
  assert_close(area_of(d, "lid"), 2, 1e-15);
  assert_close(area_of(d, "walls"), 4, 1e-15);
  domain_destroy(&d);
  d = read_domain("mesh: {shape: channel-cylinder}\n");
  assert_close(domain_get(d)->volume, 2.2 * 0.41 - 0.0025 * pi, 1e-14);
  assert_close(area_of(d, "cylinder"), 0.1 * pi, 1e-14);
  assert_close(area_of(d, "walls"), 4.4, 1e-14);
  assert_close(area_of(d, "inlet"), 0.41, 1e-14);
  domain_destroy(&d);
  d = read_domain("mesh: {shape: channel-cylinder-3d}\n");
  assert_close(domain_get(d)->volume, 0.41 * (2.5 * 0.41 - 0.0025 * pi), 1e-4);
  assert_close(area_of(d, "cylinder"), 0.041 * pi, 5e-4);
  domain_destroy(&d);
  d = read_domain("mesh: {shape: box, low: [-1, 0, 0], n: [2, 2, 2], high: [1, 1, 1]}\n");
  assert_close(domain_get(d)->volume, 2, 1e-15);
  assert_close(area_of(d, "z-max"), 2, 1e-15);
  domain_destroy(&d);
  d = read_domain(
      "mesh: {shape: box, low: [0, 0, 0], high: [1, 1, 1], cells: tetrahedra, size: 0.1, minus: {a: {ball: "
      "{centre: [0.3, 0.3, 0.3], radius: 0.1}}, b: {ball: {centre: [0.7, 0.6, 0.5], radius: 0.2}}}}\n");
  assert_close(domain_get(d)->volume, 1 - 4. / 3 * pi * 0.009, 1e-14);
  assert_close(area_of(d, "a"), 0.04 * pi, 1e-14);
  assert_close(area_of(d, "b"), 0.16 * pi, 1e-14);
  domain_destroy(&d);
  d = read_domain("mesh: {shape: step, upstream: 2, length: 10, n: [2, 2]}\n");
  assert_close(domain_get(d)->volume, 11, 2e-3);
  assert_close(area_of(d, "inlet"), 0.5, 1e-3);
  assert_close(area_of(d, "outlet"), 1, 1e-14);
  assert_close(area_of(d, "walls"), 24.5, 2e-2);
  domain_destroy(&d);
}

static void on_pieces(void **state) {
  (void)state;
  domain *d = read_domain(corner);
  assert_int_equal(domain_on_piece(d, (const double[]){1, 1.5}, 1e-9), find_piece(d, "notch"));
  assert_int_equal(domain_on_piece(d, (const double[]){2, 0.5}, 1e-9), find_piece(d, "x-max"));
  assert_int_equal(domain_on_piece(d, (const double[]){2, 1.5}, 1e-9), -1);
  assert_int_equal(domain_on_piece(d, (const double[]){1, 0.5}, 1e-9), -1);
  assert_int_equal(domain_on_piece(d, (const double[]){1.5, 1.0001}, 1e-3), find_piece(d, "notch"));
  assert_true(domain_inside(d, (const double[]){1, 1.5}));
  assert_false(domain_inside(d, (const double[]){1.01, 1.5}));
  assert_false(domain_inside(d, (const double[]){NAN, 1.5}));
  domain_destroy(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(closed_forms), cmocka_unit_test(measured),
                                     cmocka_unit_test(points),       cmocka_unit_test(even),
                                     cmocka_unit_test(shapes),       cmocka_unit_test(on_pieces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
