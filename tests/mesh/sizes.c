/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes that something outside asks for: a mesh is made, sizes are given at its cells' centres, the next mesh
 * follows them; from a case's file likewise; every fault of such a file. Needs PCSIM_MESHER. */
#include "pcsim_test.h"

#include <pcsim/mesh.h>

#include <math.h>
#include <unistd.h>

static const char raw_path[] = "test_mesh_sizes.raw", file_path[] = "test_mesh_sizes.csv";

static pcsim_mesh_spec *spec_of(const char *mesh) {
  pcsim_tree *tree;
  pcsim_mesh_spec *spec;
  char text[400];
  snprintf(text, sizeof text, "mesh: %s\n", mesh);
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &tree));
  assert_ok(pcsim_mesh_spec_read(tree, &spec));
  pcsim_tree_destroy(&tree);
  return spec;
}

static pcsim_mesh *generate(const pcsim_mesh_spec *spec) {
  pcsim_raw_mesh *raw;
  pcsim_mesh *mesh;
  assert_ok(pcsim_mesh_spec_generate(spec, raw_path, NULL));
  assert_ok(pcsim_raw_mesh_read(raw_path, &raw));
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, raw, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  unlink(raw_path);
  assert_false(pcsim_file_exists("test_mesh_sizes.raw.sizes"));
  return mesh;
}

/* Fine around a point off the middle and along a line: slopes below 0.2. */
static double wanted(const double *x, double factor) {
  const double d = sqrt(pow(x[0] - 0.7, 2) + pow(x[1] - 0.4, 2) + pow(x[2] - 0.3, 2));
  return factor * fmin(0.02 + 0.15 * d, 0.03 + 0.1 * fabs(x[0] - 0.1));
}

static pcsim_status set_sizes(pcsim_mesh_spec *spec, const pcsim_mesh *mesh, double factor) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  double *size = NULL;
  assert_ok(pcsim_alloc((size_t)v->num_cells, sizeof *size, &size));
  for (int64_t c = 0; c < v->num_cells; c++) size[c] = wanted(v->cell_centre + 3 * c, factor);
  const pcsim_mesh_sizes sizes = {v->num_cells, v->cell_centre, size, 0.2};
  const pcsim_status status = pcsim_mesh_spec_set_sizes(spec, &sizes);
  pcsim_free(&size);
  return status;
}

/* Length of the edges of a triangle or tetrahedron with all of them equal. */
static double edge(const pcsim_mesh_view *v, int64_t c) {
  return v->dim == 2 ? sqrt(v->cell_volume[c] * 4 / sqrt(3.0)) : cbrt(v->cell_volume[c] * 6 * sqrt(2.0));
}

/* Cells over what is wanted, or the shape's own size where that is less: within bounds in the mean and one by
 * one. */
static void check_sizes(const pcsim_mesh *mesh, double factor, double far, double spread) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  double sum = 0, least = INFINITY, most = 0;
  for (int64_t c = 0; c < v->num_cells; c++) {
    const double ratio = edge(v, c) / fmin(far, wanted(v->cell_centre + 3 * c, factor));
    sum += ratio;
    least = fmin(least, ratio), most = fmax(most, ratio);
  }
  const double mean = sum / (double)v->num_cells;
  print_message("%lld cells, size over wanted %.2f, %.2f to %.2f\n", (long long)v->num_cells, mean, least,
                most);
  assert_true(mean > 0.85 && mean < 1.1 && most < spread && least > 1 / (2 * spread));
}

static void followed(const char *plain, double far, double factor, double spread) {
  pcsim_mesh_spec *spec = spec_of(plain);
  pcsim_mesh *mesh = generate(spec);
  for (int round = 0; round < 2;
       round++) { /* the second from sizes on the first, which sees more of the field */
    assert_ok(set_sizes(spec, mesh, factor));
    pcsim_mesh_destroy(&mesh);
    mesh = generate(spec);
  }
  check_sizes(mesh, factor, far, spread);
  const int64_t cells = pcsim_mesh_get(mesh)->num_cells;
  pcsim_mesh_destroy(&mesh);
  assert_ok(pcsim_mesh_spec_refine(spec, 0.7));
  mesh = generate(spec);
  const double gain = (double)pcsim_mesh_get(mesh)->num_cells / (double)cells,
               expected = pow(0.7, -pcsim_mesh_get(mesh)->dim);
  assert_true(fabs(gain / expected - 1) < 0.15);
  pcsim_mesh_destroy(&mesh);
  pcsim_mesh_spec_destroy(&spec);
}

static void test_followed(void **state) {
  (void)state;
  followed("{shape: box, high: [1, 1], cells: triangles, size: 0.1}", 0.1, 1, 1.8);
  followed("{shape: step, cells: triangles, size: 0.3}", 0.3, 8, 1.8);
  followed("{shape: channel-cylinder, size: 0.05}", 0.05, 0.5, 1.8);
  followed("{shape: box, low: [0, 0, 0], high: [1, 1, 1], cells: tetrahedra, size: 0.3}", 0.3, 3, 2);
}

/* ------------------------------------------------------------------- from a file */

static void write_file(const char *text) { assert_ok(pcsim_file_write(file_path, text, strlen(text))); }

static void test_file(void **state) {
  (void)state;
  static const char mesh[] =
      "{shape: box, cells: triangles, size: 0.2, sizes: {file: test_mesh_sizes.csv, growth: 0.3}}";
  write_file("x, y, size\n0.5, 0.5, 0.01 # the middle\n\n0 0 0.05\n");
  pcsim_mesh_spec *spec = spec_of(mesh);
  pcsim_mesh *made = generate(spec);
  const pcsim_mesh_view *v = pcsim_mesh_get(made);
  double least = INFINITY, corner = 0, far = 0;
  for (int64_t c = 0; c < v->num_cells; c++) {
    const double *x = v->cell_centre + 3 * c, h = edge(v, c);
    if (hypot(x[0] - 0.5, x[1] - 0.5) < 0.02) least = fmin(least, h);
    if (hypot(x[0], x[1]) < 0.06) corner = fmax(corner, h);
    if (hypot(x[0] - 1, x[1]) < 0.2) far = fmax(far, h);
  }
  assert_true(least > 0.006 && least < 0.014 && corner > 0.02 && corner < 0.08 && far > 0.1);
  pcsim_mesh_destroy(&made);
  pcsim_mesh_spec_destroy(&spec);
  unlink(file_path);
}

static void refuse(const char *mesh, const char *file, const char *words) {
  write_file(file);
  pcsim_mesh_spec *spec = spec_of(mesh);
  const pcsim_status status = pcsim_mesh_spec_generate(spec, raw_path, NULL);
  if (status != PCSIM_ERR_CASE || !strstr(pcsim_error_message(), words))
    print_error("expected '%s', found '%s'\n", words, pcsim_error_message());
  assert_int_equal(status, PCSIM_ERR_CASE);
  assert_non_null(strstr(pcsim_error_message(), words));
  pcsim_error_clear();
  pcsim_mesh_spec_destroy(&spec);
  unlink(file_path);
}

static void test_refused(void **state) {
  (void)state;
#define MESH(more) "{shape: box, " more ", sizes: {file: test_mesh_sizes.csv}}"
  static const char plain[] = MESH("cells: triangles, size: 0.2");
  refuse(plain, "", "there is no size in");
  refuse(plain, "x y size\n0 0 0 0.1 0.1\n", ":2: expected 3 numbers, x, y and the size there");
  refuse(plain, "0 0\n", ":1: expected 3 numbers");
  refuse(plain, "0 0 0.1\n0 nought 0.1\n", ":2: expected 3 numbers");
  refuse(plain, "0 0 -0.1\n", ":1: the size -0.1, expected a positive one");
  refuse(plain, "0 inf 0.1\n", ":1: a number is not finite");
  refuse(MESH("low: [0, 0, 0], high: [1, 1, 1], cells: tetrahedra, size: 0.3"), "0 0 0.1\n",
         "expected 4 numbers, x, y, z");
  refuse(MESH("size: 0.2"), "0 0 0.1\n", "these cells follow lines");
  refuse(MESH("cells: triangles, n: [3, 3]"), "0 0 0.1\n", "these cells follow lines");
  refuse("{shape: channel-cylinder, cells: quads, sizes: {file: test_mesh_sizes.csv}}", "0 0 0.1\n",
         "these cells follow lines");
  pcsim_mesh_spec *spec = spec_of("{shape: box, cells: triangles, size: 0.2}");
  const double point[3] = {0, 0, 0}, size[1] = {0};
  assert_status(pcsim_mesh_spec_set_sizes(spec, &(pcsim_mesh_sizes){1, point, size, 0.2}), PCSIM_ERR_ARG);
  assert_status(pcsim_mesh_spec_set_sizes(spec, &(pcsim_mesh_sizes){0, point, size, 0.2}), PCSIM_ERR_ARG);
  pcsim_mesh_spec_destroy(&spec);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_followed), cmocka_unit_test(test_file),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
