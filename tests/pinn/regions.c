/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions of a domain: where points lie, how large they are, points and normals on interfaces. */
#include "pinn/regions.h"
#include "domain_text.h"

enum { N = 400 };

/* A disk over the middle of two halves, through time. */
static const char *const halves =
    "domain:\n"
    "  box: {x: [0, 2], y: [0, 1], t: [2, 3]}\n"
    "  regions: {core: \"(x-1)^2 + (y-0.5)^2 < r^2\", left: \"x < 1 and y < 2\"}\n"
    "parameters: {r: 0.3}\n";

static regions *read_regions(const char *text, pcsim_tree **tree, domain **d) {
  regions *r = NULL;
  *tree = read_text(text);
  assert_ok(domain_read(*tree, d));
  assert_ok(regions_read(*tree, *d, &r));
  expect_problems(*tree, "");
  assert_non_null(r);
  return r;
}

static void sizes(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  pcsim_tree *tree;
  domain *d = NULL;
  regions *r = read_regions(halves, &tree, &d);
  const regions_view *v = regions_get(r);
  const double core = 0.09 * 3.14159265358979323846;
  assert_int_equal(v->num, 3);
  assert_string_equal(v->name[0], "core");
  assert_string_equal(v->name[2], "rest");
  assert_null(v->condition[2]);
  assert_int_equal(regions_find(r, (const double[]){0.9, 0.6}), 0);
  assert_int_equal(regions_find(r, (const double[]){0.5, 0.6}), 1);
  assert_int_equal(regions_find(r, (const double[]){1.5, 0.6}), 2);
  assert_close(v->volume[0], core, 0.01);
  assert_close(v->volume[1], 1 - core / 2, 0.01);
  assert_close(v->range[1][0][0], 0, 0.01);
  assert_close(v->range[1][0][1], 1, 0.01);
  assert_close(v->range[0][1][0], 0.2, 0.02);
  assert_close(regions_share(r, 1, find_piece(d, "y-min")), 0.5, 0.01);
  assert_close(regions_share(r, 1, find_piece(d, "x-min")), 1, 0);
  assert_close(regions_share(r, 0, find_piece(d, "y-max")), 0, 0);
  assert_int_equal(v->num_interfaces, 3);
  for (int i = 0; i < 3; i++) {
    const bool curved = v->interface[i].inner == 0;
    assert_close(v->interface[i].area, curved ? 0.3 * 3.14159265358979323846 : 0.4, 0.05);
  }
  regions_destroy(&r);
  domain_destroy(&d);
  pcsim_tree_destroy(&tree);
  assert_int_equal(pcsim_memory_used(), before);
}

/* A condition whose border lies in the boundary of the domain: the boundary there belongs to its region. */
static void borders_in_the_boundary(void **state) {
  (void)state;
  enum { FEW = 64 };
  pcsim_tree *tree;
  domain *d = NULL;
  regions *r = read_regions("domain: {box: {x: [0, 1], y: [0, 1]}, regions: {left: \"x > 0 and x < 0.5\"}}\n",
                            &tree, &d);
  double points[FEW][2], normals[FEW][2];
  assert_close(regions_share(r, 0, find_piece(d, "x-min")), 1, 0);
  assert_ok(regions_draw_piece(r, 0, find_piece(d, "x-min"), 1, 0, FEW, points[0], normals[0]));
  for (int k = 0; k < FEW; k++) {
    assert_close(points[k][0], 0, 0);
    assert_close(normals[k][0], -1, 0);
  }
  regions_destroy(&r);
  domain_destroy(&d);
  pcsim_tree_destroy(&tree);
}

/* Points lie where they should, normals are those of the circle and the line, draws are repeated. */
static void interfaces(void **state) {
  (void)state;
  pcsim_tree *tree;
  domain *d = NULL;
  regions *r = read_regions(halves, &tree, &d);
  const regions_view *v = regions_get(r);
  static double points[N][3], normals[N][2], again[N][3];
  for (int i = 0; i < v->num_interfaces; i++) {
    double mean[3] = {0, 0, 0};
    assert_ok(regions_draw_interface(r, i, 7, 3, N, points[0], normals[0]));
    assert_ok(regions_draw_interface(r, i, 7, 3, N / 2, again[0], normals[0]));
    assert_memory_equal(points, again, sizeof points / 2);
    assert_ok(regions_draw_interface(r, i, 7, 4, N, again[0], normals[0]));
    assert_memory_not_equal(points, again, sizeof points);
    assert_ok(regions_draw_interface(r, i, 7, 3, N, points[0], normals[0]));
    for (int k = 0; k < N; k++) {
      const double x = points[k][0] - 1, y = points[k][1] - 0.5;
      for (int j = 0; j < 3; j++) mean[j] += points[k][j] / N;
      if (v->interface[i].inner == 0) {
        assert_close(hypot(x, y), 0.3, 1e-12);
        assert_close(normals[k][0], x / 0.3, 1e-8);
        assert_close(normals[k][1], y / 0.3, 1e-8);
        assert_true(v->interface[i].outer == 1 ? x < 1e-9 : x > -1e-9);
      } else {
        assert_close(x, 0, 1e-12);
        assert_true(fabs(y) > 0.3 - 1e-9);
        assert_close(normals[k][0], 1, 1e-8);
        assert_close(normals[k][1], 0, 1e-8);
      }
    }
    assert_close(mean[1], 0.5, 0.05);
    assert_close(mean[2], 2.5, 0.05);
  }
  regions_destroy(&r);
  domain_destroy(&d);
  pcsim_tree_destroy(&tree);
}

static void inside(void **state) {
  (void)state;
  pcsim_tree *tree;
  domain *d = NULL;
  regions *r = read_regions("domain: {ball: {centre: [0, 0, 0], radius: 1, coordinates: [x, y, z]}, regions: "
                            "{low: \"z < -0.5\", high: \"not z < -0.5\"}}\n",
                            &tree, &d);
  static double points[N][3], shorter[N / 4][3], normals[N][3];
  assert_int_equal(regions_get(r)->num, 2); /* nothing is left */
  assert_close(regions_get(r)->volume[0], 3.14159265358979323846 * 0.25 * (3 - 0.5) / 3, 0.03);
  assert_ok(regions_draw_inside(r, 0, 1, 0, N, points[0]));
  assert_ok(regions_draw_inside(r, 0, 1, 0, N / 4, shorter[0]));
  assert_memory_equal(points, shorter, sizeof shorter);
  for (int k = 0; k < N; k++) assert_true(points[k][2] < -0.5 && domain_inside(d, points[k]));
  assert_ok(regions_draw_piece(r, 0, 0, 1, 0, N, points[0], normals[0]));
  for (int k = 0; k < N; k++) {
    assert_true(points[k][2] < -0.5);
    assert_close(normals[k][2], points[k][2], 1e-12);
  }
  assert_ok(regions_draw_interface(r, 0, 1, 0, N, points[0], normals[0]));
  for (int k = 0; k < N; k++) {
    assert_close(points[k][2], -0.5, 1e-12);
    assert_close(normals[k][2], 1, 1e-8);
  }
  regions_destroy(&r);
  domain_destroy(&d);
  pcsim_tree_destroy(&tree);
}

/** On a border that no condition holds and without a rest: the first region that is bounded by it. */
static void borders(void **state) {
  (void)state;
  pcsim_tree *tree;
  domain *d = NULL;
  regions *r =
      read_regions("domain: {box: {x: [0, 3], y: [0, 1]}, regions: {a: \"x < 1\", b: \"not (x <= 1) and "
                   "x<2\", c: \"(x) > (2)\"}}\n",
                   &tree, &d);
  const regions_view *v = regions_get(r);
  assert_int_equal(v->num, 3);
  assert_string_equal(v->closed[0], "x <= 1");
  assert_string_equal(v->closed[1], "not (x < 1) and x<=2");
  assert_string_equal(v->closed[2], "(x) >= (2)");
  assert_int_equal(regions_find(r, (const double[]){1, 0.5}), 0);
  assert_int_equal(regions_find(r, (const double[]){2, 0.5}), 1);
  assert_int_equal(regions_find(r, (const double[]){2.5, 0.5}), 2);
  regions_destroy(&r);
  domain_destroy(&d);
  pcsim_tree_destroy(&tree);
}

static void expect_region_faults(const char *regions_text, const char *problems) {
  char text[400];
  domain *d = NULL;
  regions *r = NULL;
  snprintf(text, sizeof text, "domain: {box: {x: [0, 1], y: [0, 1]}, regions: {%s}}", regions_text);
  const size_t before = pcsim_memory_used();
  pcsim_tree *tree = read_text(text);
  assert_ok(domain_read(tree, &d));
  assert_ok(regions_read(tree, d, &r));
  assert_null(r);
  expect_problems(tree, problems);
  domain_destroy(&d);
  pcsim_tree_destroy(&tree);
  assert_int_equal(pcsim_memory_used(), before);
}

static void faults(void **state) {
  (void)state;
  expect_region_faults(
      "a: \"x + y\"", "case.yaml:1:52: `x + y` is no comparison; a region is e.g. \"x < 0.5\" or \"x < 0 and "
                      "y > 0\"");
  expect_region_faults("a: \"x < 2\", b: \"y < 1\"",
                       "case.yaml:1:64: the region `b` has no point in the domain (or only those of regions "
                       "before it)");
  expect_region_faults("rest: \"x < 0.5\"",
                       "case.yaml:1:49: `rest` is what no region holds; it has no condition");
  expect_region_faults(
      "a: \"t < 0.5\"",
      "case.yaml:1:53: 'a' must be a number or an expression: unknown name 't' (known: x, y)");
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes),   cmocka_unit_test(borders_in_the_boundary),
                                     cmocka_unit_test(borders), cmocka_unit_test(interfaces),
                                     cmocka_unit_test(inside),  cmocka_unit_test(faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
