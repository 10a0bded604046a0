/* SPDX-License-Identifier: BSD-2-Clause */
/* Closed polygons and triangulated surfaces: volume, area, distance, winding number, points; STL files; the
 * domains that they make; what is wrong with them. */
#include "pinn/surface.h"
#include "domain_text.h"
#include "pinn/stl.h"

#include <unistd.h>

static const double pi = 3.14159265358979323846;

enum { MOST = 20 * 4096 };
static double corner_[MOST * 9];
static int32_t patch_[MOST];

/** The cube from 0 to 1, a patch for each pair of opposite sides. */
static int64_t cube(void) {
  static const int side[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                 {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  int64_t n = 0;
  for (int s = 0; s < 6; s++)
    for (int half = 0; half < 2; half++) {
      const int k[3] = {side[s][0], side[s][1 + half], side[s][2 + half]};
      for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++) corner_[9 * n + 3 * c + i] = k[c] >> i & 1;
      patch_[n++] = s / 2;
    }
  return n;
}

/** A sphere of radius r about c, each triangle of an octahedron cut n x n times. */
static int64_t sphere(int n, double r, const double *c) {
  int64_t num = 0;
  for (int o = 0; o < 8; o++)
    for (int i = 0; i < n; i++)
      for (int j = 0; i + j < n; j++)
        for (int up = 0; up < 2 && i + j + up < n; up++) {
          static const int step[2][3][2] = {{{0, 0}, {1, 0}, {0, 1}}, {{1, 0}, {1, 1}, {0, 1}}};
          const bool mirrored = (o & 1) ^ (o >> 1 & 1) ^ (o >> 2 & 1);
          for (int k = 0; k < 3; k++) {
            const int a = i + step[up][k][0], b = j + step[up][k][1];
            double x[3] = {a, b, n - a - b}, length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            for (int l = 0; l < 3; l++)
              corner_[9 * num + 3 * (mirrored ? 2 - k : k) + l] =
                  c[l] + r * (o >> l & 1 ? -x[l] : x[l]) / length;
          }
          patch_[num++] = 0;
        }
  return num;
}

static int64_t polygon(int n) {
  for (int k = 0; k < n; k++) {
    const double a = 2 * pi * k / n, b = 2 * pi * (k + 1) / n;
    const double x[] = {cos(a), sin(a), cos(b), sin(b)};
    memcpy(corner_ + 4 * k, x, sizeof x);
    patch_[k] = k < n / 2 ? 0 : 1;
  }
  return n;
}

static void cubes(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  surface *s = NULL;
  double x[3], normal[3], low[3], high[3], points[24];
  int64_t n = cube();
  assert_ok(surface_create(3, n, corner_, patch_, 3, &s));
  assert_close(surface_volume(s), 1, 1e-14);
  for (int p = 0; p < 3; p++) assert_close(surface_area(s, p), 2, 1e-14);
  surface_box(s, low, high);
  assert_close(low[1] + high[2], 1, 0);
  for (int k = 0; k < 2000; k++) {
    double exact = INFINITY, beyond = 0;
    for (int i = 0; i < 3; i++) {
      x[i] = 3 * pcsim_random_uniform(1, 1, (uint64_t)(3 * k + i)) - 1;
      const double in = fmin(x[i], 1 - x[i]);
      exact = fmin(exact, in);
      beyond += in < 0 ? in * in : 0;
    }
    assert_close(surface_level(s, x), exact < 0 ? -sqrt(beyond) : exact, 1e-14);
    assert_close(surface_winding(s, x), exact > 0, 0.02);
  }
  for (int k = 0; k < 500; k++) {
    const double u[2] = {pcsim_random_uniform(2, 1, (uint64_t)k), pcsim_random_uniform(2, 2, (uint64_t)k)};
    for (int p = 0; p < 3; p++) {
      double on[3], other[3];
      surface_point(s, p, u, x, normal);
      assert_close(surface_level(s, x), 0, 1e-14);
      assert_close(fabs(normal[2 - p]), 1, 1e-14);
      assert_close(x[2 - p], normal[2 - p] > 0, 1e-14);
      assert_int_equal(surface_nearest(s, x, on, other), p);
      assert_close(fabs(on[0] - x[0]) + fabs(on[1] - x[1]) + fabs(on[2] - x[2]), 0, 1e-14);
    }
  }
  assert_int_equal(surface_meeting(s, 0, 1, 8, points), 8);
  surface_destroy(&s);
  /* Inside out, with a triangle without area. */
  for (int64_t k = 0; k < n; k++)
    for (int i = 0; i < 3; i++) {
      const double kept = corner_[9 * k + i];
      corner_[9 * k + i] = corner_[9 * k + 3 + i], corner_[9 * k + 3 + i] = kept;
    }
  memcpy(corner_ + 9 * n, corner_, 9 * sizeof *corner_);
  memcpy(corner_ + 9 * n + 3, corner_, 3 * sizeof *corner_);
  assert_ok(surface_create(3, n + 1, corner_, patch_, 3, &s));
  assert_close(surface_volume(s), 1, 1e-14);
  assert_close(surface_level(s, (const double[]){0.5, 0.5, 0.6}), 0.4, 1e-14);
  surface_destroy(&s);
  assert_int_equal(pcsim_memory_used(), before);
}

static void spheres(void **state) {
  (void)state;
  surface *s = NULL;
  const double c[3] = {10, -3, 2};
  const int64_t n = sphere(40, 2, c);
  assert_int_equal(n, 8 * 1600);
  assert_ok(surface_create(3, n, corner_, patch_, 1, &s));
  assert_close(surface_volume(s), 32 * pi / 3, 0.02 * 32 * pi / 3);
  assert_close(surface_area(s, 0), 16 * pi, 0.01 * 16 * pi);
  for (int k = 0; k < 3000; k++) {
    double x[3], r = 0;
    for (int i = 0; i < 3; i++) {
      x[i] = c[i] + 6 * pcsim_random_uniform(1, 1, (uint64_t)(3 * k + i)) - 3;
      r += (x[i] - c[i]) * (x[i] - c[i]);
    }
    r = sqrt(r);
    assert_close(surface_level(s, x), 2 - r, 0.004);
    if (fabs(r - 2) > 0.004) assert_close(surface_winding(s, x), r < 2, 0.03);
  }
  surface_destroy(&s);
}

static void polygons(void **state) {
  (void)state;
  surface *s = NULL;
  double x[2], normal[2], points[8];
  const int64_t n = polygon(1000);
  assert_ok(surface_create(2, n, corner_, patch_, 2, &s));
  assert_close(surface_volume(s), 500 * sin(2 * pi / 1000), 1e-12);
  assert_close(surface_area(s, 1), 1000 * sin(pi / 1000), 1e-12);
  for (int k = 0; k < 3000; k++) {
    for (int i = 0; i < 2; i++) x[i] = 4 * pcsim_random_uniform(1, 1, (uint64_t)(2 * k + i)) - 2;
    const double r = hypot(x[0], x[1]);
    assert_close(surface_level(s, x), 1 - r, 1e-5);
    surface_point(s, k % 2, (const double[]){(k + 0.5) / 3000}, x, normal);
    assert_true(k % 2 ? x[1] <= 1e-12 : x[1] >= -1e-12);
    assert_close(hypot(x[0], x[1]), 1, 1e-5);
    assert_true(normal[0] * x[0] + normal[1] * x[1] > 0.99);
  }
  assert_int_equal(surface_meeting(s, 0, 1, 4, points), 2);
  assert_close(fabs(points[0] * points[2]), 1, 1e-12);
  surface_destroy(&s);
}

static void refused(int dim, int64_t n, const char *message) {
  surface *s = NULL;
  const size_t before = pcsim_memory_used();
  assert_status(surface_create(dim, n, corner_, patch_, 3, &s), PCSIM_ERR_CASE);
  assert_string_equal(pcsim_error_message(), message);
  assert_int_equal(pcsim_memory_used(), before);
}

static void faults(void **state) {
  (void)state;
  int64_t n = cube();
  refused(3, n - 1,
          "the surface is not closed, or its triangles do not agree about what is inside: 3 edges without a "
          "counterpart, the first at (1, 0, 1)");
  memcpy(corner_ + 9 * 11, (const double[]){1, 0, 0, 1, 0, 1, 1, 1, 1}, 9 * sizeof(double));
  refused(3, n,
          "the surface is not closed, or its triangles do not agree about what is inside: 6 edges without a "
          "counterpart, the first at (1, 0, 1)");
  refused(3, 0, "the surface is empty");
  n = polygon(8);
  refused(2, n - 1,
          "the surface is not closed, or its segments do not agree about what is inside: 2 ends without a "
          "counterpart, the first at (1, 0)");
  corner_[5] = NAN;
  refused(2, n, "a corner of the surface is not finite");
}

/* --------------------------------------------------------------------- files */

static char *path_;

static void write_text(int64_t n) {
  FILE *f = fopen(path_, "w");
  fprintf(f, "solid a part\r\n");
  for (int64_t k = 0; k < n; k++) {
    fprintf(f, " facet normal 0 0 0\r\n  outer loop\r\n");
    for (int c = 0; c < 3; c++)
      fprintf(f, "   vertex %.9g %.9g %.9g\r\n", corner_[9 * k + 3 * c], corner_[9 * k + 3 * c + 1],
              corner_[9 * k + 3 * c + 2]);
    fprintf(f, "  endloop\r\n endfacet\r\n");
  }
  fprintf(f, "endsolid\r\n");
  fclose(f);
}

static void write_binary(int64_t n) {
  FILE *f = fopen(path_, "wb");
  char header[84] = "solid as some say";
  for (int i = 0; i < 4; i++) header[80 + i] = (char)(n >> 8 * i & 255);
  fwrite(header, 1, sizeof header, f);
  for (int64_t k = 0; k < n; k++) {
    float number[12] = {0};
    for (int i = 0; i < 9; i++) number[3 + i] = (float)corner_[9 * k + i];
    fwrite(number, sizeof *number, 12, f);
    fwrite("\0", 1, 2, f);
  }
  fclose(f);
}

static void bad_file(const char *text, const char *message) {
  double *corners = NULL;
  int64_t n;
  assert_ok(pcsim_file_write(path_, text, strlen(text)));
  assert_status(stl_read(path_, 1, &n, &corners), PCSIM_ERR_CASE);
  assert_non_null(strstr(pcsim_error_message(), message));
  assert_null(corners);
}

static void files(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  for (int kind = 0; kind < 2; kind++) {
    double *corners = NULL;
    int64_t n = cube(), found;
    if (kind) write_binary(n);
    else write_text(n);
    assert_ok(stl_read(path_, 2, &found, &corners));
    assert_int_equal(found, n);
    for (int64_t i = 0; i < 9 * n; i++) assert_close(corners[i], 2 * corner_[i], 1e-7);
    pcsim_free(&corners);
  }
  bad_file("solid\n", "has no triangles");
  bad_file("nothing\n", "is no STL file: it neither begins with `solid` nor is it binary");
  bad_file("solid\nouter loop\nvertex 1 2\n", ":3: expected `vertex` and three finite numbers");
  bad_file("solid\nouter loop\nvertex 1 2 x\n", ":3: expected `vertex` and three finite numbers");
  bad_file("solid\nvertex 1 2 3\n", ":2: a corner outside of a loop");
  bad_file("solid\nouter loop\nvertex 1 2 3\nvertex 1 2 4\nendloop\n",
           ":5: the loop has another number of corners");
  bad_file("solid\nouter loop\nvertex 1 2 3\nvertex 1 2 4\n", "ends within a triangle");
  assert_int_equal(pcsim_memory_used(), before);
}

/** A sphere of a file in a box, and one with a hole. */
static void domains(void **state) {
  (void)state;
  enum { N = 2000 };
  static double points[N * 4], normals[N * 3];
  char text[600];
  const size_t before = pcsim_memory_used();
  write_binary(sphere(24, 1, (const double[]){0, 0, 0}));
  snprintf(text, sizeof text, "domain: {surface: {file: %s, scale: 0.5}, t: [0, 1]}\n", path_);
  domain *d = read_domain(text);
  const domain_view *v = domain_get(d);
  assert_int_equal(v->num_space, 3);
  assert_int_equal(v->time, 3);
  assert_close(v->volume, pi / 6, 0.02);
  assert_close(v->area[find_piece(d, "surface")], pi, 0.03);
  assert_ok(domain_draw_inside(d, 1, 1, N, points));
  for (int i = 0; i < N; i++)
    assert_true(sqrt(points[4 * i] * points[4 * i] + points[4 * i + 1] * points[4 * i + 1] +
                     points[4 * i + 2] * points[4 * i + 2]) <= 0.5);
  assert_ok(domain_draw_piece(d, 0, 1, 1, N, points, normals));
  for (int i = 0; i < N; i++) {
    assert_close(points[4 * i] * normals[3 * i] + points[4 * i + 1] * normals[3 * i + 1] +
                     points[4 * i + 2] * normals[3 * i + 2],
                 0.5, 2e-3);
    assert_int_equal(domain_on_piece(d, points + 4 * i, 1e-9), 0);
  }
  domain_destroy(&d);
  snprintf(text, sizeof text,
           "domain: {box: {x: [-1, 1], y: [-1, 1], z: [-1, 1]}, minus: {body: {surface: {file: %s, scale: "
           "0.5}}}}\n",
           path_);
  d = read_domain(text);
  v = domain_get(d);
  assert_int_equal(v->num_pieces, 7);
  assert_close(v->volume, 8 - pi / 6, 0.02);
  assert_ok(domain_draw_inside(d, 1, 1, N, points));
  for (int i = 0; i < N; i++)
    assert_true(sqrt(points[3 * i] * points[3 * i] + points[3 * i + 1] * points[3 * i + 1] +
                     points[3 * i + 2] * points[3 * i + 2]) >= 0.495);
  assert_ok(domain_draw_piece(d, find_piece(d, "body"), 1, 1, N, points, normals));
  for (int i = 0; i < N; i++)
    assert_true(points[3 * i] * normals[3 * i] + points[3 * i + 1] * normals[3 * i + 1] +
                    points[3 * i + 2] * normals[3 * i + 2] <
                -0.49);
  domain_destroy(&d);
  assert_int_equal(pcsim_memory_used(), before);
}

/** A mesh file: the shape again, by its faces. */
static void mesh_file(void **state) {
  (void)state;
  pcsim_tree *tree =
      read_text("mesh: {shape: channel-cylinder, size: 0.05, near: {cylinder: {size: 0.005}}}\n");
  pcsim_mesh_spec *spec = NULL;
  char text[600], raw[300], msh[300];
  snprintf(raw, sizeof raw, "%s.raw", path_);
  snprintf(msh, sizeof msh, "%s.msh", path_);
  assert_ok(pcsim_mesh_spec_read(tree, &spec));
  assert_ok(pcsim_mesh_spec_generate(spec, raw, msh));
  pcsim_mesh_spec_destroy(&spec);
  pcsim_tree_destroy(&tree);
  snprintf(text, sizeof text, "mesh: {file: %s}\ndomain: {t: [0, 2]}\n", msh);
  domain *d = read_domain(text);
  const domain_view *v = domain_get(d);
  assert_int_equal(v->num_pieces, 4);
  assert_int_equal(v->time, 2);
  assert_close(v->volume, 2.2 * 0.41 - 0.0025 * pi, 1e-4);
  assert_close(v->area[find_piece(d, "cylinder")], 0.1 * pi, 1e-3);
  assert_close(v->area[find_piece(d, "walls")], 4.4, 1e-12);
  assert_false(domain_inside(d, (const double[]){0.2, 0.2}));
  assert_true(domain_inside(d, (const double[]){0.3, 0.2}));
  double points[8 * 3];
  int64_t found;
  assert_ok(domain_draw_meeting(d, find_piece(d, "inlet"), find_piece(d, "walls"), 1, 1, 8, points, &found));
  assert_int_equal(found, 2);
  assert_close(points[0], 0, 1e-12);
  domain_destroy(&d);
  unlink(raw);
  unlink(msh);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cubes),    cmocka_unit_test(spheres),
                                     cmocka_unit_test(polygons), cmocka_unit_test(faults),
                                     cmocka_unit_test(files),    cmocka_unit_test(domains),
                                     cmocka_unit_test(mesh_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) {
  if (pcsim_temporary_make(false, &path_) != PCSIM_OK) return 1;
  const int result = pcsim_test_main(run, &argc, &argv);
  unlink(path_);
  pcsim_free(&path_);
  return result;
}
