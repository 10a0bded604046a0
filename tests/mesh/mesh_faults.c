/* SPDX-License-Identifier: BSD-2-Clause */
/* Broken meshes: every fault is refused on every rank with a message that names the cell and the place. */
#include "lattice.h"

static pcsim_raw_mesh *box(lattice_kind kind) { return lattice_make(&(lattice){kind, 3, 2, 2, 0, false}); }

/* Creation fails with ERR_MESH and a message that holds each of the texts (NULL ends them). */
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

/* Facets or cells of a raw mesh kept by `keep`, in order. */
static void keep_facets(pcsim_raw_mesh *raw, bool (*keep)(const pcsim_raw_mesh *, int64_t)) {
  int64_t n = 0, place = 0;
  for (int64_t i = 0; i < raw->num_facets; i++) {
    if (!keep(raw, i)) continue;
    int64_t start = raw->facet_start[i], size = raw->facet_start[i + 1] - start;
    raw->facet_type[n] = raw->facet_type[i];
    raw->facet_patch[n] = raw->facet_patch[i];
    memmove(raw->facet_nodes + place, raw->facet_nodes + start, (size_t)size * sizeof *raw->facet_nodes);
    place += size;
    raw->facet_start[++n] = place;
  }
  raw->num_facets = n;
}
static void add_facet(pcsim_raw_mesh *raw, int patch, pcsim_cell_type type, const int32_t *nodes) {
  int64_t i = raw->num_facets++, start = raw->facet_start[i];
  int n = pcsim_cell_num_nodes(type);
  int32_t copy[4]; /* the nodes may lie in the array that moves */
  memcpy(copy, nodes, (size_t)n * sizeof *copy);
  assert_ok(pcsim_realloc((size_t)i + 1, sizeof *raw->facet_type, &raw->facet_type));
  assert_ok(pcsim_realloc((size_t)i + 1, sizeof *raw->facet_patch, &raw->facet_patch));
  assert_ok(pcsim_realloc((size_t)i + 2, sizeof *raw->facet_start, &raw->facet_start));
  assert_ok(pcsim_realloc((size_t)(start + n), sizeof *raw->facet_nodes, &raw->facet_nodes));
  raw->facet_type[i] = (uint8_t)type;
  raw->facet_patch[i] = patch;
  raw->facet_start[i + 1] = start + n;
  memcpy(raw->facet_nodes + start, copy, (size_t)n * sizeof *copy);
}
static void add_cell(pcsim_raw_mesh *raw, pcsim_cell_type type, const int32_t *nodes) {
  int64_t i = raw->num_cells++, start = raw->cell_start[i];
  int n = pcsim_cell_num_nodes(type);
  assert_ok(pcsim_realloc((size_t)i + 1, sizeof *raw->cell_type, &raw->cell_type));
  assert_ok(pcsim_realloc((size_t)i + 1, sizeof *raw->cell_region, &raw->cell_region));
  assert_ok(pcsim_realloc((size_t)i + 2, sizeof *raw->cell_start, &raw->cell_start));
  assert_ok(pcsim_realloc((size_t)(start + n), sizeof *raw->cell_nodes, &raw->cell_nodes));
  raw->cell_type[i] = (uint8_t)type;
  raw->cell_start[i + 1] = start + n;
  memcpy(raw->cell_nodes + start, nodes, (size_t)n * sizeof *nodes);
}
static int32_t add_node(pcsim_raw_mesh *raw, double x, double y, double z) {
  int64_t i = raw->num_nodes++;
  assert_ok(pcsim_realloc((size_t)i + 1, 3 * sizeof *raw->nodes, &raw->nodes));
  raw->nodes[3 * i] = x;
  raw->nodes[3 * i + 1] = y;
  raw->nodes[3 * i + 2] = z;
  return (int32_t)i;
}
static void swap_nodes(pcsim_raw_mesh *raw, int64_t cell, int a, int b) {
  int32_t *nodes = raw->cell_nodes + raw->cell_start[cell], t = nodes[a];
  nodes[a] = nodes[b];
  nodes[b] = t;
}

static void inverted_cells(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box(LATTICE_TETRA);
  swap_nodes(raw, 16, 0, 1);
  REFUSED(raw, "cell 17 (tetrahedron at (", "inverted", "-0.166667", "1 such cell of 72");
  raw = box(LATTICE_TRIANGLE);
  swap_nodes(raw, 4, 1, 2);
  swap_nodes(raw, 7, 1, 2);
  REFUSED(raw, "cell 5 (triangle at (2.66667, 0.333333))", "inverted", "area is -0.5", "2 such cells of 12");
  raw = box(LATTICE_PRISM); /* the order of Gmsh */
  swap_nodes(raw, 2, 1, 2);
  swap_nodes(raw, 2, 4, 5);
  REFUSED(raw, "cell 3 (prism at (", "inverted");
  raw = box(LATTICE_HEXA);
  for (int i = 0; i < 4; i++) swap_nodes(raw, 11, i, i + 4);
  REFUSED(raw, "cell 12 (hexahedron at (2.5, 1.5, 1.5))", "inverted", "volume is -1");
}

static void degenerate_cells(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box(LATTICE_QUAD);
  raw->cell_nodes[raw->cell_start[3] + 2] = raw->cell_nodes[raw->cell_start[3] + 1];
  REFUSED(raw, "cell 4 (quad at (", "degenerate", "uses node", "twice");
  raw = box(LATTICE_TETRA); /* flat: the fourth node onto the plane of three */
  int32_t *n = raw->cell_nodes + raw->cell_start[8];
  for (int d = 0; d < 3; d++)
    raw->nodes[3 * n[3] + d] =
        (raw->nodes[3 * n[0] + d] + raw->nodes[3 * n[1] + d] + raw->nodes[3 * n[2] + d]) / 3;
  REFUSED(raw, "tetrahedron at (", "such cell");
  raw = box(LATTICE_TRIANGLE);
  n = raw->cell_nodes + raw->cell_start[0];
  for (int d = 0; d < 3; d++)
    raw->nodes[3 * n[2] + d] = (raw->nodes[3 * n[0] + d] + raw->nodes[3 * n[1] + d]) / 2;
  REFUSED(raw, "cell 1 (triangle at (0.5, 0))", "degenerate", "area is 0");
  raw = box(LATTICE_QUAD);
  raw->nodes[4] = NAN;
  REFUSED(raw, "node 2 ", "nan");
}

/* Node a of a cell goes to the place of its node b. */
static void pinch(pcsim_raw_mesh *raw, int64_t cell, int a, int b) {
  const int32_t *n = raw->cell_nodes + raw->cell_start[cell];
  memcpy(raw->nodes + 3 * (int64_t)n[a], raw->nodes + 3 * (int64_t)n[b], 3 * sizeof *raw->nodes);
}

/* Cells with a volume, but a side without length or area. */
static void pinched_cells(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = lattice_make(&(lattice){LATTICE_QUAD, 1, 1, 0, 0, false});
  pinch(raw, 0, 2, 3);
  REFUSED(raw, "cell 1 (quad at (0.25, 0.5))", "degenerate", "nodes 4 and 3 lie at the same place (0, 1)",
          "1 such cell of 1");
  raw = lattice_make(&(lattice){LATTICE_HEXA, 1, 1, 1, 0, false});
  pinch(raw, 0, 2, 3);
  pinch(raw, 0, 6, 7);
  REFUSED(raw, "cell 1 (hexahedron at (0.25, 0.5, 0.5))", "degenerate", "lie at the same place");
  raw = lattice_make(&(lattice){LATTICE_HEXA, 1, 1, 1, 0, false}); /* the top folded to its diagonal */
  const int32_t *n = raw->cell_nodes;
  const double in = 0.5;
  for (int i = 5; i < 8; i += 2)
    for (int d = 0; d < 2; d++) raw->nodes[3 * (int64_t)n[i] + d] = in + (i == 5 ? 0.1 : -0.1);
  REFUSED(raw, "cell 1 (hexahedron at (0.5, 0.5, 0.5))", "degenerate",
          "its face at (0.5, 0.5, 1) has no area");
}

static bool keep_not_right(const pcsim_raw_mesh *raw, int64_t i) { return raw->facet_patch[i] != 1; }
static void unnamed_boundary(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box(LATTICE_HEXA);
  keep_facets(raw, keep_not_right);
  REFUSED(raw, "4 faces of the boundary belong to no named boundary", "(3, 0.5, 0.5)",
          "cell 3 (hexahedron at (2.5, 0.5, 0.5))", "physical group");
}
static bool keep_none(const pcsim_raw_mesh *raw, int64_t i) {
  (void)raw;
  (void)i;
  return false;
}
static void no_names_at_all(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box(LATTICE_TRIANGLE);
  keep_facets(raw, keep_none);
  REFUSED(raw, "10 faces of the boundary",
          "the first at (0.5, 0) of cell 1 (triangle at (0.666667, 0.333333))");
}

static void unattached_cells(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box(LATTICE_HEXA);
  int32_t a = add_node(raw, 10, 0, 0);
  add_node(raw, 11, 0, 0);
  add_node(raw, 10, 1, 0);
  add_node(raw, 10, 0, 1);
  add_cell(raw, PCSIM_CELL_TETRA, (int32_t[]){a, a + 1, a + 2, a + 3});
  REFUSED(raw, "cell 13 (tetrahedron at (10.25, 0.25, 0.25)) is not attached", "1 of 13 cells");
  /* touching in one node only is not attached either */
  raw = box(LATTICE_QUAD);
  int32_t corner = 11; /* (3, 2) */
  a = add_node(raw, 4, 2, 0);
  add_node(raw, 4, 3, 0);
  add_cell(raw, PCSIM_CELL_TRIANGLE, (int32_t[]){corner, a, a + 1});
  REFUSED(raw, "cell 7 (triangle at (3.66667, 2.33333)) is not attached", "1 of 7 cells");
}

static void the_smaller_part_is_named(void **state) {
  (void)state;
  /* the first cell alone: its nodes are new ones at the same places */
  pcsim_raw_mesh *raw = box(LATTICE_HEXA);
  for (int i = 0; i < 8; i++) {
    int32_t *node = raw->cell_nodes + raw->cell_start[0] + i;
    double x[3];
    memcpy(x, raw->nodes + 3 * (int64_t)*node, sizeof x);
    *node = add_node(raw, x[0], x[1], x[2]);
  }
  REFUSED(raw, "cell 1 (hexahedron at (0.5, 0.5, 0.5)) is not attached", "1 of 12 cells", "nodes not merged");
}

static void duplicate_cells(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box(LATTICE_TETRA);
  int32_t nodes[8];
  memcpy(nodes, raw->cell_nodes + raw->cell_start[20], 4 * sizeof *nodes);
  add_cell(raw, PCSIM_CELL_TETRA, nodes);
  REFUSED(raw, "cell 21 (tetrahedron", "cell 73 (tetrahedron", "share the face at (", "duplicate cells?");
  /* a copy in a corner of the mesh, where a face has only the two: they are on one side of it */
  raw = lattice_make(&(lattice){LATTICE_QUAD, 1, 1, 0, 0, false});
  memcpy(nodes, raw->cell_nodes, 4 * sizeof *nodes);
  add_cell(raw, PCSIM_CELL_QUAD, nodes);
  REFUSED(raw, "cell 1 (quad at (0.5, 0.5)) and cell 2 (quad at (0.5, 0.5)) lie on the same side",
          "duplicate");
}

static void facets_without_a_cell(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box(LATTICE_QUAD);
  int32_t a = add_node(raw, 8, 9, 0);
  add_facet(raw, 1, PCSIM_CELL_SEGMENT, (int32_t[]){a, 0});
  REFUSED(raw, "facet 11 of 'right' (segment at (4, 4.5)) is not the face of any cell", "1 such facet");
  /* a triangle on a quadrilateral face: three nodes in common, not the same face */
  raw = box(LATTICE_HEXA);
  add_facet(raw, 0, PCSIM_CELL_TRIANGLE, raw->facet_nodes);
  REFUSED(raw, "of 'left' (triangle at (", "is not the face of any cell");
}

static void facets_given_twice(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box(LATTICE_QUAD);
  int64_t facet = 0;
  while (raw->facet_patch[facet] != 1) facet++;
  add_facet(raw, 2, PCSIM_CELL_SEGMENT, raw->facet_nodes + raw->facet_start[facet]);
  REFUSED(raw, "facet 11 of 'rest' (segment at (3, 0.5)) lies on the same face as facet", "of 'right'",
          "belongs to one boundary");
}

/* A facet between cells: refused inside one region, an interior face between two. */
static void facets_inside(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = box(LATTICE_QUAD);
  add_facet(raw, 1, PCSIM_CELL_SEGMENT, (int32_t[]){1, 5});
  REFUSED(raw,
          "facet 11 of 'right' (segment at (1, 0.5)) lies between cell 1 (quad at (0.5, 0.5)) and cell 2",
          "same region");
  raw = box(LATTICE_QUAD);
  char **names = NULL;
  assert_ok(pcsim_alloc(2, sizeof *names, &names));
  names[0] = raw->regions[0];
  names[1] = lattice_name("solid");
  pcsim_free(&raw->regions);
  raw->regions = names;
  raw->num_regions = 2;
  raw->cell_region[0] = raw->cell_region[3] = 1;
  raw->num_patches = 4;
  assert_ok(pcsim_realloc(4, sizeof *raw->patches, &raw->patches));
  raw->patches[3] = lattice_name("interface");
  add_facet(raw, 3, PCSIM_CELL_SEGMENT, (int32_t[]){1, 5});
  int rank;
  pcsim_mesh *mesh = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? raw : NULL, &mesh));
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  assert_int_equal(v->num_patches, 3); /* the interface has no boundary face */
  assert_int_equal(pcsim_mesh_find_patch(mesh, "interface"), -1);
  assert_int_equal(v->num_regions, 2);
  assert_string_equal(v->region_name[1], "solid");
  for (int64_t c = 0; c < v->num_cells + v->num_ghosts; c++)
    assert_int_equal(v->cell_region[c], raw->cell_region[v->cell_original[c]]);
  pcsim_mesh_destroy(&mesh);
  pcsim_raw_mesh_destroy(&raw);
}

static void nothing_leaks(void **state) {
  (void)state;
  size_t before = pcsim_memory_used();
  inverted_cells(state);
  unattached_cells(state);
  unnamed_boundary(state);
  duplicate_cells(state);
  assert_true(pcsim_memory_used() == before);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inverted_cells),
      cmocka_unit_test(degenerate_cells),
      cmocka_unit_test(pinched_cells),
      cmocka_unit_test(unnamed_boundary),
      cmocka_unit_test(no_names_at_all),
      cmocka_unit_test(unattached_cells),
      cmocka_unit_test(the_smaller_part_is_named),
      cmocka_unit_test(duplicate_cells),
      cmocka_unit_test(facets_without_a_cell),
      cmocka_unit_test(facets_given_twice),
      cmocka_unit_test(facets_inside),
      cmocka_unit_test(nothing_leaks),
  };
  return cmocka_run_group_tests_name("mesh_faults", tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
