/* SPDX-License-Identifier: BSD-2-Clause */
/* VTKHDF files read back with HDF5 on one rank: every cell once, its nodes around its centre, values in
 * place. */
#include "sample.h"

#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>

static const char *folder;
static int rank;

/* Whole data set as doubles; caller frees. */
static double *read_all(hid_t file, const char *name, int64_t *n) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  if (set < 0) print_error("no data set %s\n", name);
  assert_true(set >= 0);
  hid_t space = H5Dget_space(set);
  *n = H5Sget_simple_extent_npoints(space);
  double *values = malloc(sizeof *values * (size_t)(*n + 1));
  assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(set);
  return values;
}

typedef struct {
  int64_t pieces, cells;
  double *num_points, *num_cells, *num_ids, *points, *ids, *offsets, *types;
} grid;

static grid grid_read(hid_t file) {
  grid g;
  int64_t n, points, ids;
  g.num_points = read_all(file, "/VTKHDF/NumberOfPoints", &g.pieces);
  g.num_cells = read_all(file, "/VTKHDF/NumberOfCells", &n);
  assert_int_equal(n, g.pieces);
  g.num_ids = read_all(file, "/VTKHDF/NumberOfConnectivityIds", &n);
  assert_int_equal(n, g.pieces);
  g.points = read_all(file, "/VTKHDF/Points", &points);
  g.ids = read_all(file, "/VTKHDF/Connectivity", &ids);
  g.offsets = read_all(file, "/VTKHDF/Offsets", &n);
  g.types = read_all(file, "/VTKHDF/Types", &g.cells);
  assert_int_equal(n, g.cells + g.pieces);
  double sums[3] = {0, 0, 0};
  for (int64_t p = 0; p < g.pieces; p++)
    sums[0] += g.num_points[p], sums[1] += g.num_cells[p], sums[2] += g.num_ids[p];
  assert_true(sums[0] * 3 == (double)points && sums[1] == (double)g.cells && sums[2] == (double)ids);
  return g;
}

static void grid_free(grid *g) {
  double *all[] = {g->num_points, g->num_cells, g->num_ids, g->points, g->ids, g->offsets, g->types};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Mean of the nodes of each cell, [cells][3], and its number of nodes. */
static double *grid_centres(const grid *g, int *nodes) {
  double *centre = calloc((size_t)g->cells * 3, sizeof *centre);
  int64_t cell = 0, first_point = 0, first_id = 0;
  for (int64_t p = 0; p < g->pieces; p++) {
    const double *offsets = g->offsets + cell + p;
    assert_true(offsets[0] == 0 && offsets[(int64_t)g->num_cells[p]] == g->num_ids[p]);
    for (int64_t i = 0; i < (int64_t)g->num_cells[p]; i++, cell++) {
      int64_t n = (int64_t)(offsets[i + 1] - offsets[i]);
      nodes[cell] = (int)n;
      for (int64_t k = 0; k < n; k++) {
        int64_t id = (int64_t)g->ids[first_id + (int64_t)offsets[i] + k];
        assert_in_range(id, 0, (int64_t)g->num_points[p] - 1);
        for (int d = 0; d < 3; d++) centre[3 * cell + d] += g->points[3 * (first_point + id) + d] / (double)n;
      }
    }
    first_point += (int64_t)g->num_points[p];
    first_id += (int64_t)g->num_ids[p];
  }
  return centre;
}

static void check_header(hid_t file) {
  int64_t version[2] = {0, 0};
  hid_t group = H5Gopen2(file, "VTKHDF", H5P_DEFAULT), a = H5Aopen(group, "Version", H5P_DEFAULT);
  assert_true(H5Aread(a, H5T_NATIVE_INT64, version) >= 0);
  assert_true(version[0] == 1 && version[1] == 0);
  H5Aclose(a);
  char type[64] = "";
  a = H5Aopen(group, "Type", H5P_DEFAULT);
  hid_t text = H5Aget_type(a);
  assert_int_equal(H5Tget_size(text), strlen("UnstructuredGrid"));
  assert_true(H5Aread(a, text, type) >= 0);
  assert_string_equal(type, "UnstructuredGrid");
  H5Tclose(text);
  H5Aclose(a);
  H5Gclose(group);
}

static void check_fields(const char *path, int64_t num_cells) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  check_header(file);
  grid g = grid_read(file);
  assert_int_equal(g.cells, num_cells);
  int64_t n;
  double *original = read_all(file, "/VTKHDF/CellData/original", &n);
  assert_int_equal(n, num_cells);
  double *place = read_all(file, "/VTKHDF/CellData/place", &n);
  assert_int_equal(n, 3 * num_cells);
  int *nodes = calloc((size_t)num_cells, sizeof *nodes), *seen = calloc((size_t)num_cells, sizeof *seen);
  double *centre = grid_centres(&g, nodes);
  for (int64_t c = 0; c < num_cells; c++) {
    seen[(int64_t)original[c]]++;
    for (int d = 0; d < 3; d++)
      assert_close(place[3 * c + d], centre[3 * c + d], g.types[c] == 14 ? 0.02 : 1e-12); /* 14: pyramid */
    int expected = 0;
    for (int t = 0; t < PCSIM_NUM_CELL_TYPES; t++)
      if (pcsim_cell_vtk_type((pcsim_cell_type)t) == (int)g.types[c])
        expected = pcsim_cell_num_nodes((pcsim_cell_type)t);
    assert_int_equal(nodes[c], expected);
  }
  for (int64_t c = 0; c < num_cells; c++) assert_int_equal(seen[c], 1);
  free(original), free(place), free(nodes), free(seen), free(centre);
  grid_free(&g);
  H5Fclose(file);
}

static const lattice shapes[] = {{LATTICE_MIXED_2D, 7, 5, 0, 0, true},
                                 {LATTICE_TRIANGLE, 1, 1, 0, 0, false},
                                 {LATTICE_MIXED_3D, 4, 3, 3, 0, true},
                                 {LATTICE_TETRA, 3, 2, 2, 0, true}};

static void test_fields(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, &shapes[i], 0.1);
    const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
    double *original = malloc(sizeof(double) * (size_t)(m->num_cells + 1));
    for (int64_t c = 0; c < m->num_cells; c++) original[c] = (double)m->cell_original[c];
    pcsim_field fields[] = {{"original", 1, original}, {"place", 3, m->cell_centre}};
    char path[256];
    sample_path(path, folder, "fields.hdf");
    assert_ok(pcsim_write_fields(mesh, fields, 2, path));
    assert_ok(pcsim_write_fields(mesh, fields, 2, path)); /* over an old one */
    if (rank == 0) {
      check_fields(path, m->num_cells_global);
      assert_int_equal(sample_entries(folder), 1);
      remove(path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(original);
    pcsim_mesh_destroy(&mesh);
  }
}

/* The force on the boundary from the file, by area, normal and pressure; and the file's own geometry. */
static void check_surface(const char *path, int dim, double area, const double force[3], int wanted) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  check_header(file);
  grid g = grid_read(file);
  int64_t n;
  double *size = read_all(file, "/VTKHDF/CellData/area", &n);
  assert_int_equal(n, g.cells);
  double *normal = read_all(file, "/VTKHDF/CellData/normal", &n);
  assert_int_equal(n, 3 * g.cells);
  double *pressure = read_all(file, "/VTKHDF/CellData/pressure", &n),
         *patch = read_all(file, "/VTKHDF/CellData/patch", &n);
  double *place = read_all(file, "/VTKHDF/CellData/place", &n);
  int *nodes = calloc((size_t)g.cells + 1, sizeof *nodes);
  double *centre = grid_centres(&g, nodes), sum = 0, total[3] = {0, 0, 0};
  for (int64_t c = 0; c < g.cells; c++) {
    sum += size[c];
    assert_int_equal((int)patch[c], wanted);
    assert_int_equal((int)g.types[c], dim == 2 ? 3 : nodes[c] == 3 ? 5 : 9);
    for (int d = 0; d < 3; d++) {
      total[d] += pressure[c] * size[c] * normal[3 * c + d];
      assert_close(place[3 * c + d], centre[3 * c + d], 1e-12);
    }
  }
  assert_close(sum, area, 1e-12);
  for (int d = 0; d < 3; d++) assert_close(total[d], force[d], 1e-12);
  free(size), free(normal), free(pressure), free(patch), free(place), free(nodes), free(centre);
  grid_free(&g);
  H5Fclose(file);
}

static void surface_case(const lattice *shape, int patch) {
  pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, shape, 0.1);
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  const int64_t first = m->num_interior_faces, nb = m->num_faces - first;
  double *pressure = malloc(sizeof(double) * (size_t)(nb + 1)), sums[4] = {0, 0, 0, 0};
  for (int64_t f = 0; f < nb; f++) {
    const double *x = m->face_centre + 3 * (first + f), *a = m->face_area + 3 * (first + f);
    pressure[f] = 1 + x[0] + 2 * x[1] * x[1];
    if (first + f < m->patch_start[patch] || first + f >= m->patch_start[patch + 1]) continue;
    sums[3] += sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int d = 0; d < 3; d++) sums[d] += pressure[f] * a[d];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  bool wanted[3] = {false, false, false};
  wanted[patch] = true;
  pcsim_face_field fields[] = {{"pressure", 1, pressure}, {"place", 3, m->face_centre + 3 * first}};
  char path[256];
  sample_path(path, folder, "surface.hdf");
  assert_ok(pcsim_write_surface(mesh, wanted, fields, 2, path));
  if (rank == 0) check_surface(path, m->dim, sums[3], sums, patch), remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
  free(pressure);
  pcsim_mesh_destroy(&mesh);
}

static void test_surface(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int patch = 0; patch < 3; patch++) surface_case(&shapes[i], patch);
}

/* What must hold after a refused write: ERR_IO, the path in the message, an old file untouched, nothing
 * beside. */
static void test_refused(void **state) {
  (void)state;
  pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, &shapes[0], 0.1);
  pcsim_field field = {"place", 3, pcsim_mesh_get(mesh)->cell_centre}, twice[2] = {field, field};
  pcsim_field odd = {"a", 2, field.values}, slash = {"a/b", 1, field.values};
  char path[256];
  sample_path(path, folder, "missing/fields.hdf");
  assert_status(pcsim_write_fields(mesh, &field, 1, path), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), path));
  assert_non_null(strstr(pcsim_error_message(), "No such file"));
  sample_path(path, folder, "folder.hdf");
  if (rank == 0) assert_int_equal(mkdir(path, 0777), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  assert_status(pcsim_write_fields(mesh, &field, 1, path), PCSIM_ERR_IO);
  if (rank == 0) assert_int_equal(sample_entries(folder), 1), rmdir(path);
  sample_path(path, folder, "fields.hdf");
  assert_status(pcsim_write_fields(mesh, twice, 2, path), PCSIM_ERR_ARG);
  assert_status(pcsim_write_fields(mesh, &odd, 1, path), PCSIM_ERR_ARG);
  assert_status(pcsim_write_fields(mesh, &slash, 1, path), PCSIM_ERR_ARG);
  pcsim_field area = {"area", 1, field.values};
  assert_status(pcsim_write_surface(mesh, NULL, &area, 1, path), PCSIM_ERR_ARG);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) assert_int_equal(sample_entries(folder), 0);
  pcsim_mesh_destroy(&mesh);
}

/* A limit on the size of files stands for a full disk (disk_full has a real one). */
static void test_no_room(void **state) {
  (void)state;
  struct rlimit old, small;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 100000;
  lattice shape = {LATTICE_QUAD, 80, 80, 0, 0, false};
  pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, &shape, 0.1);
  pcsim_field field = {"place", 3, pcsim_mesh_get(mesh)->cell_centre};
  char path[256];
  sample_path(path, folder, "fields.hdf");
  assert_ok(pcsim_write_fields(mesh, &field, 1, path));
  struct stat before, after;
  if (rank == 0) assert_int_equal(stat(path, &before), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  pcsim_status status = pcsim_write_fields(mesh, &field, 1, path);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  assert_int_equal(status, PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), "File too large"));
  assert_non_null(strstr(pcsim_error_message(), path));
  if (rank == 0) {
    assert_int_equal(sample_entries(folder), 1);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
    remove(path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  pcsim_mesh_destroy(&mesh);
}

static void test_series(void **state) {
  (void)state;
  if (rank != 0) return;
  char path[256];
  sample_path(path, folder, "fields.hdf.series");
  assert_ok(pcsim_write_series(path, (const char *const[]){"fields_0.hdf", "fields_1.hdf"},
                               (const double[]){0, 0.1}, 2));
  pcsim_json *json;
  assert_ok(pcsim_json_read(path, &json));
  assert_string_equal(pcsim_json_string(pcsim_json_get(json, "file-series-version")), "1.0");
  const pcsim_json *files = pcsim_json_get(json, "files");
  assert_int_equal(pcsim_json_size(files), 2);
  assert_string_equal(pcsim_json_string(pcsim_json_get(pcsim_json_item(files, 1), "name")), "fields_1.hdf");
  assert_true(pcsim_json_number(pcsim_json_get(pcsim_json_item(files, 1), "time")) == 0.1);
  pcsim_json_destroy(&json);
  remove(path);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields), cmocka_unit_test(test_surface),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_no_room),
                                     cmocka_unit_test(test_series)};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  folder = sample_folder();
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sample_remove(folder);
  if (pcsim_memory_used() != before)
    failed++, print_error("%zu bytes are left\n", pcsim_memory_used() - before);
  return failed;
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
