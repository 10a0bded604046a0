/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw meshes: cell tables, the hand-over file there and back, damaged files refused. */
#include "pcsim_test.h"

#include <pcsim/mesh.h>
#include <unistd.h>

#include "mesh/raw.h"

static const char path[] = "test_mesh_raw.tmp";

/* A square of a quad and two triangles: nodes 0 1 2 / 3 4 5. */
static pcsim_raw_mesh *square(void) {
  static const int32_t nodes[10] = {0, 1, 4, 3, 1, 2, 5, 1, 5, 4};
  static const uint8_t type[3] = {PCSIM_CELL_QUAD, PCSIM_CELL_TRIANGLE, PCSIM_CELL_TRIANGLE};
  static const int32_t edge[6][2] = {{0, 1}, {1, 2}, {2, 5}, {5, 4}, {4, 3}, {3, 0}};
  const pcsim_raw_size size = {2, 6, 3, 10, 6, 12, 2, 1, 1};
  pcsim_raw_mesh *m;
  assert_ok(pcsim_raw_mesh_new(&size, &m));
  for (int i = 0; i < 6; i++) {
    m->nodes[3 * i] = i % 3 + 0.1 * i;
    m->nodes[3 * i + 1] = i / 3;
    m->facet_type[i] = PCSIM_CELL_SEGMENT;
    m->facet_start[i + 1] = 2 * i + 2;
    memcpy(m->facet_nodes + 2 * i, edge[i], sizeof edge[i]);
    m->facet_patch[i] = i < 2;
  }
  for (int i = 0; i < 3; i++) {
    m->cell_type[i] = type[i];
    m->cell_start[i + 1] = m->cell_start[i] + pcsim_cell_num_nodes(type[i]);
  }
  memcpy(m->cell_nodes, nodes, sizeof nodes);
  assert_ok(pcsim_strdup("walls", &m->patches[0]));
  assert_ok(pcsim_strdup("inlet of the duct", &m->patches[1]));
  assert_ok(pcsim_strdup("fluid", &m->regions[0]));
  m->periodic[0] = 1, m->periodic[1] = 0;
  assert_ok(pcsim_strdup("first line\nsecond line\n", &m->notes));
  return m;
}

static void test_tables(void **state) {
  (void)state;
  static const int nodes[] = {2, 3, 4, 4, 5, 6, 8}, vtk[] = {3, 5, 9, 10, 14, 13, 12};
  for (int t = 0; t < PCSIM_NUM_CELL_TYPES; t++) {
    assert_int_equal(pcsim_cell_num_nodes((pcsim_cell_type)t), nodes[t]);
    assert_int_equal(pcsim_cell_vtk_type((pcsim_cell_type)t), vtk[t]);
    assert_non_null(pcsim_cell_name((pcsim_cell_type)t));
  }
  assert_int_equal(pcsim_cell_num_nodes(PCSIM_NUM_CELL_TYPES), 0);
}

static void test_round_trip(void **state) {
  (void)state;
  size_t before = pcsim_memory_used();
  pcsim_raw_mesh *m = square(), *back;
  assert_ok(pcsim_raw_mesh_write(m, path));
  assert_ok(pcsim_raw_mesh_read(path, &back));
  assert_int_equal(back->dim, 2);
  assert_int_equal(back->num_nodes, 6);
  assert_int_equal(back->num_cells, 3);
  assert_int_equal(back->num_facets, 6);
  assert_int_equal(back->num_periodic, 1);
  assert_memory_equal(back->periodic, m->periodic, 2 * sizeof *m->periodic);
  assert_memory_equal(back->nodes, m->nodes, 18 * sizeof(double));
  assert_memory_equal(back->cell_type, m->cell_type, 3);
  assert_memory_equal(back->cell_start, m->cell_start, 4 * sizeof(int64_t));
  assert_memory_equal(back->cell_nodes, m->cell_nodes, 10 * sizeof(int32_t));
  assert_memory_equal(back->facet_nodes, m->facet_nodes, 12 * sizeof(int32_t));
  assert_memory_equal(back->facet_patch, m->facet_patch, 6 * sizeof(int32_t));
  assert_string_equal(back->patches[1], "inlet of the duct");
  assert_string_equal(back->regions[0], "fluid");
  assert_string_equal(back->notes, "first line\nsecond line\n");
  pcsim_raw_mesh_destroy(&m);
  pcsim_raw_mesh_destroy(&back);
  assert_null(back);
  assert_int_equal(pcsim_memory_used(), before);
  unlink(path);
}

static void write_bytes(const char *data, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* Each single changed bit and each cut must be noticed, and nothing be leaked. */
static void test_damaged(void **state) {
  (void)state;
  size_t before = pcsim_memory_used(), size;
  pcsim_raw_mesh *m = square(), *back;
  char *data;
  assert_ok(pcsim_raw_mesh_write(m, path));
  pcsim_raw_mesh_destroy(&m);
  assert_ok(pcsim_file_read(path, 0, &data, &size));
  for (size_t i = 0; i < size; i++) {
    data[i] ^= (char)(1 << i % 8);
    write_bytes(data, size);
    assert_status(pcsim_raw_mesh_read(path, &back), PCSIM_ERR_MESH);
    assert_null(back);
    assert_non_null(strstr(pcsim_error_message(), path));
    data[i] ^= (char)(1 << i % 8);
  }
  for (size_t cut = 0; cut < size; cut += 7) {
    write_bytes(data, cut);
    assert_status(pcsim_raw_mesh_read(path, &back), PCSIM_ERR_MESH);
  }
  write_bytes(
      "a text of some length that is no mesh at all, but long enough for a header, which has a hundred bytes",
      100);
  assert_status(pcsim_raw_mesh_read(path, &back), PCSIM_ERR_MESH);
  pcsim_free(&data);
  unlink(path);
  assert_status(pcsim_raw_mesh_read(path, &back), PCSIM_ERR_IO);
  assert_status(pcsim_raw_mesh_read(".", &back), PCSIM_ERR_IO);
  assert_int_equal(pcsim_memory_used(), before);
}

static void refuse(pcsim_raw_mesh *m, const char *words) {
  assert_status(pcsim_raw_mesh_check(m), PCSIM_ERR_MESH);
  if (!strstr(pcsim_error_message(), words)) print_error("'%s' lacks '%s'\n", pcsim_error_message(), words);
  assert_non_null(strstr(pcsim_error_message(), words));
  assert_status(pcsim_raw_mesh_write(m, path), PCSIM_ERR_MESH);
  assert_false(pcsim_file_exists(path));
}

static void test_inconsistent(void **state) {
  (void)state;
  pcsim_raw_mesh *m = square();
  assert_ok(pcsim_raw_mesh_check(m));
  m->cell_nodes[4] = 6;
  refuse(m, "uses node 6");
  m->cell_nodes[4] = -1;
  refuse(m, "uses node -1");
  m->cell_nodes[4] = 1;
  m->cell_type[1] = PCSIM_CELL_TETRA;
  refuse(m, "not a 2-dimensional cell type");
  m->cell_type[1] = PCSIM_CELL_QUAD;
  refuse(m, "expected 4");
  m->cell_type[1] = PCSIM_CELL_TRIANGLE;
  m->facet_patch[5] = 2;
  refuse(m, "group 2 of 2");
  m->facet_patch[5] = 0;
  m->nodes[4] = NAN;
  refuse(m, "node 2");
  m->nodes[4] = 0;
  m->dim = 4;
  refuse(m, "dimension 4");
  m->dim = 2;
  m->patches[1][0] = 0;
  refuse(m, "no name");
  pcsim_raw_mesh_destroy(&m);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tables),
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_inconsistent),
  };
  return cmocka_run_group_tests_name("raw meshes", tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
