/* SPDX-License-Identifier: BSD-2-Clause */
/* Volumes, centres, areas of single cells in closed form, and the tables of shapes. */
#include "lattice.h"

/* Unit cells; nodes as raw.h numbers them. */
typedef struct {
  pcsim_cell_type type;
  double volume, centre[3];
  double nodes[8][3];
} unit_cell;
static const unit_cell units[] = {
    {PCSIM_CELL_TRIANGLE, 0.5, {1.0 / 3, 1.0 / 3, 0}, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
    {PCSIM_CELL_QUAD, 1, {0.5, 0.5, 0}, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}},
    {PCSIM_CELL_TETRA, 1.0 / 6, {0.25, 0.25, 0.25}, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {PCSIM_CELL_PYRAMID,
     1.0 / 3,
     {0.375, 0.375, 0.25},
     {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}}},
    {PCSIM_CELL_PRISM,
     0.5,
     {1.0 / 3, 1.0 / 3, 0.5},
     {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 0, 1}}},
    {PCSIM_CELL_HEXA,
     1,
     {0.5, 0.5, 0.5},
     {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}},
};
enum { NUM_UNITS = sizeof units / sizeof *units };
static const int32_t numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/* x -> A x + b, far from the origin; volume scales by det A, the centre goes along. */
static const double map_matrix[3][3] = {{2, 0.3, 0.1}, {-0.4, 1.5, 0.2}, {0.25, -0.1, 0.8}};
static const double map_shift[3] = {100, -30, 7};
static void map_point(const double x[3], int dim, double y[3]) {
  for (int i = 0; i < 3; i++) {
    y[i] = i < dim ? map_shift[i] : 0;
    for (int j = 0; j < dim && i < dim; j++) y[i] += map_matrix[i][j] * x[j];
  }
}
static double map_determinant(int dim) {
  const double(*a)[3] = map_matrix;
  double two = a[0][0] * a[1][1] - a[0][1] * a[1][0];
  if (dim == 2) return two;
  return a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]) -
         a[1][2] * (a[0][0] * a[2][1] - a[0][1] * a[2][0]) + a[2][2] * two;
}

static void affine_cells_are_exact(void **state) {
  (void)state;
  for (int u = 0; u < NUM_UNITS; u++) {
    double nodes[8][3], volume, centre[3], expected[3];
    int dim = pcsim_cell_shapes[units[u].type].dim;
    pcsim_cell_geometry(units[u].nodes[0], units[u].type, numbers, &volume, centre);
    assert_close(volume, units[u].volume, 1e-15);
    for (int d = 0; d < 3; d++) assert_close(centre[d], units[u].centre[d], 1e-15);
    for (int i = 0; i < 8; i++) map_point(units[u].nodes[i], dim, nodes[i]);
    pcsim_cell_geometry(nodes[0], units[u].type, numbers, &volume, centre);
    map_point(units[u].centre, dim, expected);
    assert_close(volume, units[u].volume * map_determinant(dim), 1e-12);
    for (int d = 0; d < 3; d++) assert_close(centre[d], expected[d], 1e-12);
  }
}

/* Sum over faces of area is zero, and of x . area is dim times the volume, for affine cells: areas are right
 * and point outwards on every face. */
static void faces_close_the_cell(void **state) {
  (void)state;
  for (int u = 0; u < NUM_UNITS; u++) {
    const pcsim_cell_shape *shape = &pcsim_cell_shapes[units[u].type];
    double nodes[8][3], sum[3] = {0, 0, 0}, flux = 0;
    for (int i = 0; i < 8; i++) map_point(units[u].nodes[i], shape->dim, nodes[i]);
    for (int f = 0; f < shape->num_faces; f++) {
      int32_t face[4];
      double area[3], centre[3], out = 0, volume, middle[3];
      int n = pcsim_cell_face_nodes(units[u].type, numbers, f, face);
      pcsim_face_geometry(nodes[0], face, n, area, centre);
      pcsim_cell_geometry(nodes[0], units[u].type, numbers, &volume, middle);
      for (int d = 0; d < 3; d++) {
        sum[d] += area[d];
        flux += area[d] * (centre[d] - middle[d]);
        out += area[d] * (centre[d] - middle[d]);
      }
      assert_true(out > 0);
    }
    for (int d = 0; d < 3; d++) assert_close(sum[d], 0, 1e-12);
    assert_close(flux / shape->dim, units[u].volume * map_determinant(shape->dim), 1e-12);
  }
}

/* A hexahedron whose top is z = 1 + s (4 xi eta - 2 xi - 2 eta + 1): corners up and down by s in turn. The
 * four triangles of the top meet at its middle, of height 1; each has the average height 1 (corner heights
 * 1 + s, 1 - s and middle 1), so the volume is 1 and the centre's height sum of z^2 / 2. */
static void warped_hexahedron(void **state) {
  (void)state;
  const double s = 0.3;
  double nodes[8][3], volume, centre[3];
  memcpy(nodes, units[NUM_UNITS - 1].nodes, sizeof nodes);
  for (int i = 4; i < 8; i++) nodes[i][2] = 1 + (i % 2 ? -s : s);
  pcsim_cell_geometry(nodes[0], PCSIM_CELL_HEXA, numbers, &volume, centre);
  assert_close(volume, 1, 1e-15);
  /* mean of z^2 over a triangle with heights a, b, c: (a^2 + b^2 + c^2 + ab + bc + ca) / 6 */
  double a = 1 + s, b = 1 - s, c = 1, mean = (a * a + b * b + c * c + a * b + b * c + c * a) / 6;
  assert_close(centre[2], mean / 2, 1e-14);
  assert_close(centre[0], 0.5, 1e-14);
  assert_close(centre[1], 0.5, 1e-14);
  /* its top: area vector of the four triangles is that of the diagonals */
  double area[3], middle[3];
  pcsim_face_geometry(nodes[0], (int32_t[]){4, 5, 6, 7}, 4, area, middle);
  assert_close(area[2], 1, 1e-15);
  assert_close(area[0], 0, 1e-15);
  assert_close(middle[2], 1, 1e-15);
}

/* Trapezium with the long side 3, short side 1, height 2 (centroid height h/3 (a + 2b) / (a + b)), and a
 * quad with a dent, as difference of two triangles. */
static void plane_quads(void **state) {
  (void)state;
  const double trapezium[4][3] = {{0, 0, 0}, {3, 0, 0}, {2, 2, 0}, {1, 2, 0}};
  const double dent[4][3] = {{0, 0, 0}, {4, 0, 0}, {1, 1, 0}, {0, 4, 0}};
  double volume, centre[3], area[3];
  pcsim_cell_geometry(trapezium[0], PCSIM_CELL_QUAD, numbers, &volume, centre);
  assert_close(volume, 4, 1e-14);
  assert_close(centre[0], 1.5, 1e-14);
  assert_close(centre[1], 2.0 / 3 * (3 + 2 * 1) / (3 + 1), 1e-14);
  pcsim_face_geometry(trapezium[0], numbers, 4, area, centre);
  assert_close(area[2], 4, 1e-14);
  assert_close(centre[1], 2.0 / 3 * (3 + 2 * 1) / (3 + 1), 1e-14);
  pcsim_cell_geometry(dent[0], PCSIM_CELL_QUAD, numbers, &volume, centre);
  /* whole (0,0)(4,0)(0,4): area 8, centre 4/3; cut out (4,0)(0,4)(1,1): area 4, centre 5/3 */
  assert_close(volume, 4, 1e-14);
  assert_close(centre[0], (8 * 4.0 / 3 - 4 * 5.0 / 3) / 4, 1e-14);
  pcsim_face_geometry(dent[0], numbers, 4, area, centre);
  assert_close(area[2], 4, 1e-14);
  assert_close(centre[0], (8 * 4.0 / 3 - 4 * 5.0 / 3) / 4, 1e-14);
}

/* Edges of the tables: each pair of neighbours on a face is an edge, each edge on two faces (3D). */
static void edges_fit_the_faces(void **state) {
  (void)state;
  for (int t = PCSIM_CELL_TRIANGLE; t < PCSIM_NUM_CELL_TYPES; t++) {
    const pcsim_cell_shape *shape = &pcsim_cell_shapes[t];
    int count[12] = {0};
    assert_int_equal(shape->num_nodes, pcsim_cell_num_nodes((pcsim_cell_type)t));
    for (int f = 0; f < shape->num_faces; f++)
      for (int i = 0; i < shape->face_size[f]; i++) {
        int a = shape->face[f][i], b = shape->face[f][(i + 1) % shape->face_size[f]], found = 0;
        for (int e = 0; e < shape->num_edges; e++)
          if ((shape->edge[e][0] == a && shape->edge[e][1] == b) ||
              (shape->edge[e][0] == b && shape->edge[e][1] == a)) {
            count[e]++;
            found++;
          }
        assert_int_equal(found, 1);
      }
    for (int e = 0; e < shape->num_edges; e++) assert_int_equal(count[e], 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(affine_cells_are_exact), cmocka_unit_test(faces_close_the_cell),
      cmocka_unit_test(warped_hexahedron),      cmocka_unit_test(plane_quads),
      cmocka_unit_test(edges_fit_the_faces),
  };
  return cmocka_run_group_tests_name("geometry", tests, NULL, NULL);
}
