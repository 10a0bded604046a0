/* SPDX-License-Identifier: BSD-2-Clause */
/* Every shape at a small size: area, names, validity; Gmsh files of every kind; what happens when the
 * mesher fails. Needs PCSIM_MESHER. */
#include "pcsim_test.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "msh_writer.h"

static const char raw_path[] = "test_mesh_mesher.raw", msh_path[] = "test_mesh_mesher.msh";

static pcsim_status generate(const char *mesh, double refine, bool with_msh, pcsim_raw_mesh **raw) {
  pcsim_tree *tree;
  pcsim_mesh_spec *spec;
  char text[600];
  snprintf(text, sizeof text, "mesh: %s\n", mesh);
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &tree));
  *raw = NULL;
  pcsim_status status = pcsim_mesh_spec_read(tree, &spec);
  if (status == PCSIM_OK && refine != 1) status = pcsim_mesh_spec_refine(spec, refine);
  if (status == PCSIM_OK) status = pcsim_mesh_spec_generate(spec, raw_path, with_msh ? msh_path : NULL);
  if (status == PCSIM_OK) status = pcsim_raw_mesh_read(raw_path, raw);
  pcsim_mesh_spec_destroy(&spec);
  pcsim_tree_destroy(&tree);
  unlink(raw_path);
  assert_false(pcsim_file_exists("test_mesh_mesher.raw.spec"));
  return status;
}

static void refuse(const char *mesh, pcsim_status status, const char *words) {
  pcsim_raw_mesh *raw;
  char copy[300], *rest = NULL;
  size_t before = pcsim_memory_used();
  pcsim_status found = generate(mesh, 1, false, &raw);
  if (found != status) print_error("%s: '%s'\n", mesh, pcsim_error_message());
  assert_int_equal(found, status);
  assert_int_equal(pcsim_memory_used(), before);
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word = strtok_r(copy, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
    if (!strstr(pcsim_error_message(), word)) print_error("'%s' lacks '%s'\n", pcsim_error_message(), word);
    assert_non_null(strstr(pcsim_error_message(), word));
  }
}

/* All cells positive and attached, every boundary facet named (pcsim_mesh_create checks), the volume. */
static void check_mesh(const pcsim_raw_mesh *raw, double volume, double tolerance,
                       pcsim_mesh_quality *quality) {
  pcsim_mesh *mesh;
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, raw, &mesh));
  assert_ok(pcsim_mesh_quality_compute(mesh, quality));
  assert_close(quality->volume, volume, tolerance * volume);
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  int64_t facets = 0;
  for (int i = 0; i < view->num_patches; i++) {
    assert_true(view->patch_size_global[i] > 0);
    facets += view->patch_size_global[i];
  }
  assert_int_equal(facets, raw->num_facets);
  pcsim_mesh_destroy(&mesh);
}

static int find(const pcsim_raw_mesh *raw, const char *name) {
  for (int i = 0; i < raw->num_patches; i++)
    if (!strcmp(raw->patches[i], name)) return i;
  print_error("no patch '%s'\n", name);
  fail();
  return -1;
}

static void check_names(const pcsim_raw_mesh *raw, const char *names) {
  char copy[100], *rest = NULL;
  int n = 0;
  snprintf(copy, sizeof copy, "%s", names);
  for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest), n++) find(raw, word);
  assert_int_equal(raw->num_patches, n);
}

static const double pi = 3.14159265358979323846;

/* Every corner of the patch 'cylinder' lies on the circle around (x, y), to rounding where we place it
 * ourselves. */
static void check_round(const pcsim_raw_mesh *raw, double x, double y, double tolerance) {
  int64_t count = 0;
  int cylinder = find(raw, "cylinder");
  for (int64_t f = 0; f < raw->num_facets; f++)
    for (int64_t k = raw->facet_start[f]; raw->facet_patch[f] == cylinder && k < raw->facet_start[f + 1];
         k++, count++) {
      const double *p = raw->nodes + 3 * raw->facet_nodes[k];
      assert_close(hypot(p[0] - x, p[1] - y), 0.05, tolerance);
    }
  assert_true(count >= 2 * 60);
}

static void test_shapes(void **state) {
  (void)state;
  const double plane = 2.2 * 0.41 - pi * 0.0025, solid = (2.5 * 0.41 - pi * 0.0025) * 0.41;
  static const char channel[] = "inlet outlet walls cylinder", box2[] = "x-min x-max y-min y-max",
                    box3[] = "x-min x-max y-min y-max z-min z-max";
  const struct {
    const char *mesh, *names;
    double volume, tolerance;
    int types; /* bits: which cell types must be there, and no others */
  } shape[] = {
      {"{shape: channel-cylinder, size: 0.05, near: {cylinder: {size: 0.005}}}", channel, plane, 2e-4,
       1 << PCSIM_CELL_TRIANGLE},
      {"{shape: channel-cylinder, size: 0.05, algorithm: delaunay, near: {cylinder: {size: 0.005}, walls: "
       "{size: 0.02, growth: "
       "0.3}}}",
       channel, plane, 2e-4, 1 << PCSIM_CELL_TRIANGLE},
      {"{shape: channel-cylinder, cells: quads, size: 0.05, near: {cylinder: {size: 0.005}}}", channel, plane,
       2e-4, 1 << PCSIM_CELL_QUAD},
      {"{shape: channel-cylinder, cells: quads, length: 3, height: 1, centre: [1.3, 0.3], size: 0.1, near: "
       "{cylinder: {size: "
       "0.005, layers: {first: 0.001, ratio: 1.3, thickness: 0.02}}, walls: {size: 0.02}}}",
       channel, 3 - pi * 0.0025, 2e-4, 1 << PCSIM_CELL_QUAD},
      {"{shape: channel-cylinder, cells: mixed, size: 0.05, near: {cylinder: {size: 0.005, layers: {first: "
       "0.001, thickness: "
       "0.006}}}}",
       channel, plane, 2e-4, 1 << PCSIM_CELL_TRIANGLE | 1 << PCSIM_CELL_QUAD},
      {"{shape: channel-cylinder-3d, size: 0.1, near: {cylinder: {size: 0.02}}, nz: 5, grading: 2}", channel,
       solid, 2e-3, 1 << PCSIM_CELL_HEXA},
      {"{shape: channel-cylinder-3d, cells: prisms, size: 0.1, near: {cylinder: {size: 0.02}}}", channel,
       solid, 2e-3, 1 << PCSIM_CELL_PRISM},
      {"{shape: channel-cylinder-3d, cells: tetrahedra, size: 0.12, near: {cylinder: {size: 0.03, growth: "
       "0.3}}}",
       channel, solid, 5e-3, 1 << PCSIM_CELL_TETRA},
      {"{shape: cavity, n: [8, 9], grading: 4}", "lid walls", 1, 1e-12, 1 << PCSIM_CELL_QUAD},
      {"{shape: cavity, width: 2, cells: triangles, size: 0.2, near: {lid: {size: 0.05, growth: 0.3}}}",
       "lid walls", 2, 1e-12, 1 << PCSIM_CELL_TRIANGLE},
      {"{shape: step, n: [40, 8], length: 10, grading: 3}", "inlet outlet walls", 10, 1e-12,
       1 << PCSIM_CELL_QUAD},
      {"{shape: step, size: 0.1, length: 10, upstream: 2}", "inlet outlet walls", 11, 1e-12,
       1 << PCSIM_CELL_QUAD},
      {"{shape: step, size: 0.2, length: 10, upstream: 2, cells: triangles}", "inlet outlet walls", 11, 1e-12,
       1 << PCSIM_CELL_TRIANGLE},
      {"{shape: step, size: 0.2, length: 10, cells: triangles}", "inlet outlet walls", 10, 1e-12,
       1 << PCSIM_CELL_TRIANGLE},
      {"{shape: box, low: [-1, 2], high: [1, 3], n: [6, 7], cells: triangles, distort: 0.3, seed: 5}", box2,
       2, 1e-12, 1 << PCSIM_CELL_TRIANGLE},
      {"{shape: box, low: [-1, 2], high: [1, 3], size: 0.2, cells: triangles, distort: 0.2}", box2, 2, 1e-12,
       1 << PCSIM_CELL_TRIANGLE},
      {"{shape: box, n: [6, 7], cells: mixed, distort: 0.2}", box2, 1, 1e-12,
       1 << PCSIM_CELL_TRIANGLE | 1 << PCSIM_CELL_QUAD},
      {"{shape: box, n: [6, 7], distort: 1}", box2, 1, 1e-12, 1 << PCSIM_CELL_QUAD},
      {"{shape: box, low: [0, 0, 0], high: [1, 2, 3], n: [3, 4, 5], distort: 0.2}", box3, 6, 1e-12,
       1 << PCSIM_CELL_HEXA},
      {"{shape: box, low: [0, 0, 0], high: [1, 2, 3], n: [3, 4, 5], cells: prisms}", box3, 6, 1e-12,
       1 << PCSIM_CELL_PRISM},
      {"{shape: box, low: [0, 0, 0], high: [1, 2, 3], n: [3, 4, 5], cells: tetrahedra, distort: 0.1}", box3,
       6, 1e-12, 1 << PCSIM_CELL_TETRA},
      {"{shape: box, low: [0, 0, 0], high: [1, 1, 1], size: 0.4, cells: tetrahedra}", box3, 1, 1e-12,
       1 << PCSIM_CELL_TETRA},
      {"{shape: box, low: [-1, 0], high: [2, 1], size: 0.1, cells: triangles, minus: {a1: {ball: {centre: "
       "[0, 0.5], radius: "
       "0.2}}, a2: {ball: {centre: [1, 0.4], radius: 0.3}}}, near: {\"a*\": {size: 0.02}, a2: {size: 0.01}}}",
       "x-min x-max y-min y-max a1 a2", 3 - pi * 0.13, 2e-4, 1 << PCSIM_CELL_TRIANGLE},
      {"{shape: box, low: [0, 0, 0], high: [1, 1, 2], size: 0.2, cells: tetrahedra, minus: {a: {ball: "
       "{centre: [0.4, 0.5, "
       "0.6], radius: 0.2}}, b: {ball: {centre: [0.5, 0.5, 1.4], radius: 0.3}}}, near: {\"[ab]\": {size: "
       "0.05}}}",
       "x-min x-max y-min y-max z-min z-max a b", 2 - 4. / 3 * pi * 0.035, 2e-3, 1 << PCSIM_CELL_TETRA},
      {"{shape: box, low: [0, 0, 0], high: [1, 2, 3], n: [8, 3, 3], cells: mixed, distort: 0.1}", box3, 6,
       1e-12, 1 << PCSIM_CELL_HEXA | 1 << PCSIM_CELL_PRISM | 1 << PCSIM_CELL_PYRAMID | 1 << PCSIM_CELL_TETRA},
  };
  for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
    pcsim_raw_mesh *raw;
    pcsim_mesh_quality quality;
    assert_ok(generate(shape[i].mesh, 1, false, &raw));
    check_names(raw, shape[i].names);
    check_mesh(raw, shape[i].volume, shape[i].tolerance, &quality);
    for (int t = 0; t < PCSIM_NUM_CELL_TYPES; t++)
      if ((quality.count[t] > 0) != (shape[i].types >> t & 1)) {
        print_error("%s: %lld %s\n", shape[i].mesh, (long long)quality.count[t],
                    pcsim_cell_name((pcsim_cell_type)t));
        fail();
      }
    assert_string_equal(raw->regions[0], "fluid");
    if (i < 3) check_round(raw, 0.2, 0.2, 1e-15);
    if (raw->dim == 3 && shape[i].names == channel) check_round(raw, 0.5, 0.2, 1e-12);
    pcsim_raw_mesh_destroy(&raw);
  }
}

static void test_grading_and_layers(void **state) {
  (void)state;
  pcsim_raw_mesh *raw;
  assert_ok(generate("{shape: cavity, n: [64, 64], grading: 4}", 1, false, &raw));
  double wall = raw->nodes[3], middle = raw->nodes[3 * 33] - raw->nodes[3 * 32];
  assert_close(middle / wall, 4, 0.15);
  for (int i = 0; i < 65; i++) assert_close(raw->nodes[3 * i] + raw->nodes[3 * (64 - i)], 1, 1e-14);
  pcsim_raw_mesh_destroy(&raw);
  /* the first layer has the height asked for, the last ends at the thickness */
  assert_ok(generate("{shape: channel-cylinder, cells: quads, near: {cylinder: {size: 0.01, layers: {first: "
                     "0.001, ratio: 1.2, "
                     "thickness: 0.01}}}}",
                     1, false, &raw));
  double nearest = 1, at_thickness = 1;
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    double d = hypot(raw->nodes[3 * i] - 0.2, raw->nodes[3 * i + 1] - 0.2) - 0.05;
    if (d > 1e-9) nearest = fmin(nearest, d);
    at_thickness = fmin(at_thickness, fabs(d - 0.01));
  }
  assert_close(nearest, 0.001, 1.5e-4);
  assert_close(at_thickness, 0, 1e-9); /* on the shortest ray; others go farther */
  pcsim_raw_mesh_destroy(&raw);
}

static void test_refinement(void **state) {
  (void)state;
  static const char *const mesh[] = {
      "{shape: channel-cylinder, size: 0.05, near: {cylinder: {size: 0.01, growth: 0.1}}}",
      ("{shape: channel-cylinder, cells: quads, size: 0.02, near: {cylinder: {size: 0.004, layers: {first: "
       "0.001, thickness: 0.01}}}}"),
      "{shape: cavity, n: [10, 12], grading: 2}", "{shape: step, n: [60, 8]}"};
  for (int i = 0; i < 4; i++) {
    pcsim_raw_mesh *coarse, *fine;
    assert_ok(generate(mesh[i], 1, false, &coarse));
    assert_ok(generate(mesh[i], 0.5, false, &fine));
    assert_close((double)fine->num_cells / (double)coarse->num_cells, 4, i < 2 ? 0.4 : 0);
    pcsim_raw_mesh_destroy(&coarse);
    pcsim_raw_mesh_destroy(&fine);
  }
}

static void test_same_twice(void **state) {
  (void)state;
  static const char *const mesh[] = {"{shape: channel-cylinder, size: 0.05, near: {cylinder: {size: 0.005}}}",
                                     ("{shape: channel-cylinder-3d, cells: tetrahedra, size: 0.12, near: "
                                      "{cylinder: {size: 0.03, growth: 0.3}}}"),
                                     "{shape: box, n: [6, 7], cells: mixed, distort: 0.2, seed: 3}"};
  for (int i = 0; i < 3; i++) {
    pcsim_raw_mesh *a, *b;
    assert_ok(generate(mesh[i], 1, false, &a));
    assert_ok(generate(mesh[i], 1, false, &b));
    assert_int_equal(a->num_nodes, b->num_nodes);
    assert_int_equal(a->num_cells, b->num_cells);
    assert_memory_equal(a->nodes, b->nodes, (size_t)a->num_nodes * 24);
    assert_memory_equal(a->cell_nodes, b->cell_nodes, (size_t)a->cell_start[a->num_cells] * 4);
    pcsim_raw_mesh_destroy(&a);
    pcsim_raw_mesh_destroy(&b);
  }
  pcsim_raw_mesh *a, *b;
  assert_ok(generate("{shape: box, n: [6, 7], distort: 0.2, seed: 3}", 1, false, &a));
  assert_ok(generate("{shape: box, n: [6, 7], distort: 0.2, seed: 4}", 1, false, &b));
  assert_memory_not_equal(a->nodes, b->nodes, (size_t)a->num_nodes * 24);
  pcsim_raw_mesh_destroy(&a);
  pcsim_raw_mesh_destroy(&b);
}

/* -------------------------------------------------------------------- files */

static void same_mesh(const pcsim_raw_mesh *a, const pcsim_raw_mesh *b) {
  assert_int_equal(a->num_nodes, b->num_nodes);
  assert_int_equal(a->num_cells, b->num_cells);
  assert_int_equal(a->num_facets, b->num_facets);
  assert_memory_equal(a->nodes, b->nodes, (size_t)a->num_nodes * 24);
  assert_memory_equal(a->cell_type, b->cell_type, (size_t)a->num_cells);
  assert_memory_equal(a->cell_nodes, b->cell_nodes, (size_t)a->cell_start[a->num_cells] * 4);
  assert_memory_equal(a->facet_nodes, b->facet_nodes, (size_t)a->facet_start[a->num_facets] * 4);
  assert_memory_equal(a->facet_patch, b->facet_patch, (size_t)a->num_facets * 4);
  assert_int_equal(a->num_patches, b->num_patches);
  for (int i = 0; i < a->num_patches; i++) assert_string_equal(a->patches[i], b->patches[i]);
}

static void test_file_kinds(void **state) {
  (void)state;
  pcsim_raw_mesh *made, *shape, *raw;
  pcsim_mesh_quality quality;
  assert_ok(generate("{shape: box, n: [6, 5], cells: mixed, distort: 0.2}", 1, true, &made));
  assert_ok(generate("{file: test_mesh_mesher.msh}", 1, false, &shape)); /* what pcsim-mesh itself writes */
  assert_int_equal(made->num_cells, shape->num_cells);
  assert_memory_equal(made->nodes, shape->nodes, (size_t)made->num_nodes * 24);
  check_mesh(shape, 1, 1e-12, &quality);
  pcsim_raw_mesh_destroy(&made);
  for (int version = 22; version <= 41; version += 19)
    for (int binary = 0; binary < 2; binary++)
      for (int order = 0; order < 2; order++) {
        const msh_kind kind = {.version = version, .binary = binary, .second_order = order};
        msh_write(shape, &kind, msh_path);
        assert_ok(generate("{file: test_mesh_mesher.msh}", 1, false, &raw));
        same_mesh(shape, raw);
        check_mesh(raw, 1, 1e-12, &quality);
        assert_true(!strstr(raw->notes, "reduced to first order") == !order);
        assert_non_null(strstr(raw->notes, "triangle 30, quad 15"));
        pcsim_raw_mesh_destroy(&raw);
      }
  pcsim_raw_mesh_destroy(&shape);
}

static void test_file_solid(void **state) {
  (void)state;
  pcsim_raw_mesh *shape, *raw;
  pcsim_mesh_quality quality;
  assert_ok(
      generate("{shape: box, low: [0, 0, 0], high: [1, 2, 3], n: [8, 3, 3], cells: mixed}", 1, true, &shape));
  assert_ok(
      generate("{file: test_mesh_mesher.msh, scale: 2, names: {x-min: inlet, y-min: walls, y-max: walls}}", 1,
               false, &raw));
  assert_int_equal(raw->num_cells, shape->num_cells);
  check_names(raw, "inlet x-max walls z-min z-max");
  check_mesh(raw, 48, 1e-12, &quality);
  pcsim_raw_mesh_destroy(&shape);
  pcsim_raw_mesh_destroy(&raw);
}

static void test_file_oddities(void **state) {
  (void)state;
  pcsim_raw_mesh *shape, *raw;
  pcsim_mesh_quality quality;
  assert_ok(generate("{shape: box, n: [6, 5], cells: mixed}", 1, false, &shape));
  msh_write(shape, &(msh_kind){.version = 41, .reversed = true, .z = 3}, msh_path);
  assert_ok(generate("{file: test_mesh_mesher.msh}", 1, false, &raw));
  assert_non_null(strstr(raw->notes, "clockwise cells were turned"));
  assert_non_null(strstr(raw->notes, "z = 3"));
  check_mesh(raw, 1, 1e-12, &quality);
  pcsim_raw_mesh_destroy(&raw);
  for (int version = 22; version <= 41; version += 19) {
    msh_write(shape, &(msh_kind){.version = version, .unnamed = true}, msh_path);
    assert_ok(generate("{file: test_mesh_mesher.msh, names: {curve 2: inlet}}", 1, false, &raw));
    find(raw, "curve 1");
    find(raw, "inlet");
    check_mesh(raw, 1, 1e-12, &quality);
    pcsim_raw_mesh_destroy(&raw);
    refuse("{file: test_mesh_mesher.msh, names: {curve 7: inlet}}", PCSIM_ERR_MESH,
           "case.yaml:1:14:|no 'curve 7'|curve 1, curve 2");
  }
  msh_write(shape, &(msh_kind){.version = 22, .no_facets = true}, msh_path);
  refuse("{file: test_mesh_mesher.msh}", PCSIM_ERR_MESH,
         "case.yaml:1:14:|no boundary elements|Physical Curve");
  pcsim_raw_mesh_destroy(&shape);
  unlink(msh_path);
}

static void write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static void test_file_refused(void **state) {
  (void)state;
  write_file(msh_path, "");
  refuse("{file: test_mesh_mesher.msh}", PCSIM_ERR_MESH, "case.yaml:1:14:|test_mesh_mesher.msh|empty");
  write_file(msh_path, "Point(1) = {0, 0, 0};\n");
  refuse("{file: test_mesh_mesher.msh}", PCSIM_ERR_MESH, "not a Gmsh mesh");
  write_file(msh_path, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1000000\n1 0 0 "
                       "0\n$EndNodes\n$Elements\n0\n$EndElements\n");
  refuse("{file: test_mesh_mesher.msh}", PCSIM_ERR_MESH, "1000000 entries");
  write_file(msh_path, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n");
  refuse("{file: test_mesh_mesher.msh}", PCSIM_ERR_MESH, "no end ($EndNodes)");
  static const char whole[] =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 %s\n$EndNodes\n"
      "$Elements\n4\n1 1 2 1 1 1 2\n2 1 2 1 1 2 3\n3 1 2 1 1 3 1\n4 2 2 2 2 1 2 %d\n$EndElements\n";
  char text[500];
  snprintf(text, sizeof text, whole, "0", 9);
  write_file(msh_path, text);
  refuse("{file: test_mesh_mesher.msh}", PCSIM_ERR_MESH, "node");
  snprintf(text, sizeof text, whole, "0.5", 3);
  write_file(msh_path, text);
  refuse("{file: test_mesh_mesher.msh}", PCSIM_ERR_MESH, "plane z = const|0.5");
  static const char *const odd[] = {"nan", "inf", "-inf"};
  for (int i = 0; i < 3; i++) {
    snprintf(text, sizeof text, whole, odd[i], 3);
    write_file(msh_path, text);
    refuse("{file: test_mesh_mesher.msh}", PCSIM_ERR_MESH,
           "node 3 has the coordinates (0, 1, |expected finite");
  }
  snprintf(text, sizeof text, whole, "0", 3);
  write_file(msh_path, text);
  pcsim_raw_mesh *raw;
  assert_ok(generate("{file: test_mesh_mesher.msh}", 1, false, &raw));
  assert_int_equal(raw->num_cells, 1);
  pcsim_raw_mesh_destroy(&raw);
  unlink(msh_path);
}

/* ----------------------------------------------------------------- failures */

static void test_mesher_failures(void **state) {
  (void)state;
  static const char small[] = "{shape: cavity, n: [2, 2]}", script[] = "./test_mesh_mesher.sh";
  char *real = getenv("PCSIM_MESHER") ? strdup(getenv("PCSIM_MESHER")) : NULL;
  static const struct {
    const char *script;
    pcsim_status status;
    const char *words;
  } fault[] = {
      {"#!/bin/sh\nkill -SEGV $$\n", PCSIM_ERR_ENV, "ended by signal 11|meshing 'cavity'"},
      {"#!/bin/sh\nexit 3\n", PCSIM_ERR_ENV, "exit code 3"},
      {"#!/bin/sh\nexit 2\n", PCSIM_ERR_ENV, "exit code 2"},
      {"#!/bin/sh\necho first >&2\necho second >&2\nexit 2\n", PCSIM_ERR_CASE,
       "case.yaml:1:15: first\ncase.yaml:1:15: second"},
      {"#!/bin/sh\necho no room >&2\nexit 4\n", PCSIM_ERR_IO, "no room"},
      {"#!/bin/sh\nexit 0\n", PCSIM_ERR_IO, "test_mesh_mesher.raw"},
  };
  for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
    write_file(script, fault[i].script);
    assert_int_equal(chmod(script, 0755), 0);
    setenv("PCSIM_MESHER", script, 1);
    refuse(small, fault[i].status, fault[i].words);
  }
  unlink(script);
  refuse(small, PCSIM_ERR_ENV, "PCSIM_MESHER names './test_mesh_mesher.sh'");
  if (real) setenv("PCSIM_MESHER", real, 1);
  else unsetenv("PCSIM_MESHER");
  free(real);
}

/* Absurd sizes are refused by counting, with little memory, before anything is made. */
static void test_too_many_cells(void **state) {
  (void)state;
  refuse("{shape: cavity, size: 1e-9}", PCSIM_ERR_CASE, "case.yaml:1:15:|limit");
  refuse("{shape: channel-cylinder, size: 1e-9}", PCSIM_ERR_CASE, "limit");
  refuse("{shape: channel-cylinder-3d, size: 1e-6, cells: tetrahedra}", PCSIM_ERR_CASE, "limit");
  refuse("{shape: channel-cylinder-3d, cells: tetrahedra, near: {cylinder: {size: 1e-6}}}", PCSIM_ERR_CASE,
         "limit");
  refuse("{shape: channel-cylinder-3d, size: 1e-4, nz: 1000}", PCSIM_ERR_CASE, "limit");
  refuse("{shape: channel-cylinder-3d, size: 1e-3, nz: 1000, cells: prisms}", PCSIM_ERR_CASE, "limit");
  refuse("{shape: cavity, size: 1.1e-8, grading: 4}", PCSIM_ERR_CASE, "limit");
  refuse("{shape: cavity, n: [99000000, 1]}", PCSIM_ERR_CASE, "limit");
  refuse("{shape: step, n: [1000000, 1000000]}", PCSIM_ERR_CASE, "limit");
  refuse("{shape: box, low: [0, 0, 0], high: [1, 1, 1], size: 1e-5}", PCSIM_ERR_CASE, "limit");
  struct rusage used;
  assert_int_equal(getrusage(RUSAGE_CHILDREN, &used), 0);
  assert_true(used.ru_maxrss < 500 * 1024); /* of the largest child so far */
}

static void test_no_place_to_write(void **state) {
  (void)state;
  pcsim_tree *tree;
  pcsim_mesh_spec *spec;
  static const char text[] = "mesh: {shape: cavity, n: [2, 2]}\n";
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &tree));
  assert_ok(pcsim_mesh_spec_read(tree, &spec));
  assert_status(pcsim_mesh_spec_generate(spec, "no-such-folder/x.raw", NULL), PCSIM_ERR_IO);
  assert_status(pcsim_mesh_spec_generate(spec, raw_path, "no-such-folder/x.msh"), PCSIM_ERR_IO);
  unlink(raw_path);
  pcsim_mesh_spec_destroy(&spec);
  pcsim_tree_destroy(&tree);
}

/* Both ends of periodic axes have the same faces, for every kind of cells, also where sizes differ; from a
 * Gmsh file too. Names that are not there are left to the reader of the conditions. */
static void test_periodic(void **state) {
  (void)state;
#define PLANE "{shape: box, low: [0, 0], high: [2, 1], "
#define SPACE "{shape: box, low: [0, 0, 0], high: [2, 1, 1], "
#define BOTH                                                                                                 \
  "}\nboundaries: {x-min: {periodic: x-max}, x-max: {periodic: x-min}, y-max: {periodic: y-min}, "           \
  "q: {periodic: x-min}}"
#define SIZES "size: 0.3, near: {x-min: {size: 0.1, growth: 0.2}, y-max: {size: 0.15, growth: 0.3}}, "
  static const char *const meshes[] = {
      PLANE "n: [5, 4], cells: quads, distort: 0.3" BOTH,
      PLANE "n: [5, 4], cells: mixed" BOTH,
      PLANE SIZES "cells: quads" BOTH,
      PLANE SIZES "cells: triangles" BOTH,
      "{file: test_mesh_mesher.msh" BOTH, /* the one before */
      PLANE SIZES "cells: triangles, algorithm: delaunay" BOTH,
      SPACE "n: [4, 3, 3], cells: hexahedra, distort: 0.3" BOTH,
      SPACE "n: [4, 3, 3], cells: prisms, grading: 2" BOTH,
      SPACE "n: [4, 3, 3], cells: tetrahedra, distort: 0.2" BOTH,
      SPACE SIZES "cells: tetrahedra" BOTH,
      SPACE SIZES "cells: tetrahedra, algorithm: hxt" BOTH,
  };
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
    pcsim_raw_mesh *raw;
    pcsim_mesh *mesh;
    if (generate(meshes[i], 1, i == 3, &raw) != PCSIM_OK) fail_msg("%s", pcsim_error_message());
    assert_int_equal(raw->num_periodic, 2);
    assert_string_equal(raw->patches[raw->periodic[2]], "y-max");
    assert_string_equal(raw->patches[raw->periodic[3]], "y-min");
    if (pcsim_mesh_create(MPI_COMM_WORLD, raw, &mesh) != PCSIM_OK) fail_msg("%s", pcsim_error_message());
    const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
    assert_int_equal(v->num_patches, v->dim == 3 ? 2 : 0);
    assert_close(v->period[0], 2, 1e-9);
    assert_close(v->period[4], -1, 1e-9);
    pcsim_mesh_destroy(&mesh);
    pcsim_raw_mesh_destroy(&raw);
  }
  unlink(msh_path);
}

/* Cells get the first region that holds at their centre; parameters may be used; Gmsh files carry them on. */
static void test_regions(void **state) {
  (void)state;
  static const char *const names[] = {"rest", "core", "slab"};
  const char *const meshes[] = {
      ("{shape: box, low: [0, 0], high: [2, 1], n: [20, 10], cells: mixed, regions: {core: \"(x-1)^2 + "
       "(y-0.5)^2 < r^2\", slab: \"x < 1\"}}\nparameters: {d: 0.6, r: d/2}"),
      "{file: test_mesh_mesher.msh}", /* what the first one wrote */
      "{file: test_mesh_mesher.msh, regions: {slab: \"not (x > 1.5)\"}}",
  };
  for (size_t k = 0; k < sizeof meshes / sizeof *meshes; k++) {
    pcsim_raw_mesh *raw;
    if (generate(meshes[k], 1, k == 0, &raw) != PCSIM_OK) fail_msg("%s", pcsim_error_message());
    assert_int_equal(raw->num_regions, k == 2 ? 2 : 3);
    for (int64_t c = 0; c < raw->num_cells; c++) {
      double x = 0, y = 0;
      const int n = (int)(raw->cell_start[c + 1] - raw->cell_start[c]);
      for (int i = 0; i < n; i++) {
        x += raw->nodes[3 * (int64_t)raw->cell_nodes[raw->cell_start[c] + i]] / n;
        y += raw->nodes[3 * (int64_t)raw->cell_nodes[raw->cell_start[c] + i] + 1] / n;
      }
      int expected = (x - 1) * (x - 1) + (y - 0.5) * (y - 0.5) < 0.09 ? 1 : x < 1 ? 2 : 0;
      if (k == 2 && x <= 1.5) expected = 2;
      assert_string_equal(raw->regions[raw->cell_region[c]], names[expected]);
    }
    pcsim_raw_mesh_destroy(&raw);
  }
  unlink(msh_path);
  refuse("{shape: cavity, n: [2, 2], regions: {core: \"x < 0.1\"}}", PCSIM_ERR_CASE,
         "no cell has its centre in 'core' (x < 0.1)");
  refuse("{shape: cavity, n: [2, 2], regions: {core: \"sqrt(x - 0.5)\"}}", PCSIM_ERR_CASE,
         "has no value at (0.25, 0.25, 0)");
}

static int run_here(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_grading_and_layers),
      cmocka_unit_test(test_refinement),
      cmocka_unit_test(test_same_twice),
      cmocka_unit_test(test_file_kinds),
      cmocka_unit_test(test_file_solid),
      cmocka_unit_test(test_file_oddities),
      cmocka_unit_test(test_file_refused),
      cmocka_unit_test(test_mesher_failures),
      cmocka_unit_test(test_too_many_cells),
      cmocka_unit_test(test_no_place_to_write),
      cmocka_unit_test(test_periodic),
      cmocka_unit_test(test_regions),
  };
  return cmocka_run_group_tests_name("mesher", tests, NULL, NULL);
}

/* In a folder of its own: two runs of this test at once would take each other's files. */
static int run(void) {
  char folder[] = "test_mesh_mesher.XXXXXX", *mesher = getenv("PCSIM_MESHER");
  if (mesher && (mesher = realpath(mesher, NULL))) {
    setenv("PCSIM_MESHER", mesher, 1);
    free(mesher);
  }
  if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
  int failed = run_here();
  if (chdir("..") != 0 || rmdir(folder) != 0) return 1; /* a file is left */
  return failed;
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
