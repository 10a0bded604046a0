/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoints: the way there and back over any rank counts, and everything that must be refused. */
#include "sample.h"

static const char *folder;
static int rank, size;
static const lattice shape = {LATTICE_MIXED_2D, 9, 6, 0, 0.1, true};

enum { WIDTH = 4 };
static double value_of(int64_t original, int k) {
  return sin((double)(original * WIDTH + k)) * pow(10, k - 2);
}

static double *values_for(const pcsim_mesh_view *m) {
  double *values = calloc((size_t)(m->num_cells * WIDTH + 1), sizeof *values);
  for (int64_t c = 0; c < m->num_cells; c++)
    for (int k = 0; k < WIDTH; k++) values[c * WIDTH + k] = value_of(m->cell_original[c], k);
  return values;
}

static pcsim_checkpoint sample_info(void) {
  pcsim_checkpoint info = {.step = 123456789012, .width = WIDTH};
  strcpy(info.case_hash, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
  for (int i = 0; i < 32; i++) info.scalars[i] = 1.0 / (i + 3);
  info.scalars[5] = NAN;
  return info;
}

/* Read on `comm`, with its own mesh, and compare to the last bit. */
static void read_on(MPI_Comm comm, const char *path) {
  pcsim_mesh *mesh = sample_mesh(comm, &shape, 1);
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  double *expected = values_for(m), *values = calloc((size_t)(m->num_cells * WIDTH + 1), sizeof *values);
  pcsim_checkpoint written = sample_info(), info = {.width = WIDTH}, head = {0};
  assert_ok(pcsim_checkpoint_read(mesh, path, &info, values));
  assert_ok(pcsim_checkpoint_read(mesh, path, &head, NULL));
  assert_memory_equal(values, expected, sizeof(double) * (size_t)(m->num_cells * WIDTH));
  assert_memory_equal(&info, &head, sizeof info);
  assert_true(info.step == written.step && info.width == WIDTH &&
              info.num_cells_global == m->num_cells_global);
  assert_string_equal(info.case_hash, written.case_hash);
  assert_memory_equal(info.scalars, written.scalars, sizeof info.scalars);
  free(expected), free(values);
  pcsim_mesh_destroy(&mesh);
}

static void write_on(MPI_Comm comm, const char *path) {
  pcsim_mesh *mesh = sample_mesh(comm, &shape, 1);
  double *values = values_for(pcsim_mesh_get(mesh));
  pcsim_checkpoint info = sample_info();
  assert_ok(pcsim_checkpoint_write(mesh, &info, values, path));
  free(values);
  pcsim_mesh_destroy(&mesh);
}

/* Written by the first n ranks, read by the first k, for all n and k. */
static void test_rank_counts(void **state) {
  (void)state;
  char path[256];
  sample_path(path, folder, "checkpoint.h5");
  for (int n = 1; n <= size; n++)
    for (int k = 1; k <= size; k++) {
      MPI_Comm writers, readers;
      MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &writers);
      MPI_Comm_split(MPI_COMM_WORLD, rank < k ? 0 : MPI_UNDEFINED, rank, &readers);
      if (writers != MPI_COMM_NULL) write_on(writers, path);
      MPI_Barrier(MPI_COMM_WORLD);
      if (readers != MPI_COMM_NULL) read_on(readers, path);
      MPI_Barrier(MPI_COMM_WORLD);
      if (writers != MPI_COMM_NULL) MPI_Comm_free(&writers);
      if (readers != MPI_COMM_NULL) MPI_Comm_free(&readers);
    }
  if (rank == 0) assert_int_equal(sample_entries(folder), 1), remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The file does not depend on who wrote it. */
static void test_same_bytes(void **state) {
  (void)state;
  char all[256], one[256];
  sample_path(all, folder, "all.h5");
  sample_path(one, folder, "one.h5");
  write_on(MPI_COMM_WORLD, all);
  if (rank == 0) {
    char *a, *b;
    size_t na, nb;
    write_on(MPI_COMM_SELF, one);
    assert_ok(pcsim_file_read(all, 0, &a, &na));
    assert_ok(pcsim_file_read(one, 0, &b, &nb));
    assert_int_equal(na, nb);
    assert_memory_equal(a, b, na);
    pcsim_free(&a), pcsim_free(&b);
    remove(all), remove(one);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static pcsim_mesh *damage_mesh;
static double *damage_values;
static char damage_path[256];

static pcsim_status read_bytes(const char *bytes, size_t n) {
  FILE *file = fopen(damage_path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
  pcsim_checkpoint info = {.width = WIDTH, .step = -7};
  pcsim_status status = pcsim_checkpoint_read(damage_mesh, damage_path, &info, damage_values);
  if (status != PCSIM_OK) {
    assert_non_null(strstr(pcsim_error_message(), damage_path));
    assert_true(info.step == -7);
  }
  return status;
}

static void test_damaged(void **state) {
  (void)state;
  if (rank != 0) return;
  char *bytes, *more;
  size_t n;
  sample_path(damage_path, folder, "damaged.h5");
  damage_mesh = sample_mesh(MPI_COMM_SELF, &shape, 1);
  damage_values = values_for(pcsim_mesh_get(damage_mesh));
  write_on(MPI_COMM_SELF, damage_path);
  assert_ok(pcsim_file_read(damage_path, 0, &bytes, &n));
  assert_ok(read_bytes(bytes, n));
  for (size_t i = 0; i < n; i += i < 1024 ? 1 : 7) { /* one bit of a byte */
    bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
    assert_status(read_bytes(bytes, n), PCSIM_ERR_IO);
    bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
  }
  for (size_t i = 0; i < 100; i++) assert_status(read_bytes(bytes, n * i / 100), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), "cut short"));
  for (size_t i = 1; i < 20; i++) assert_status(read_bytes(bytes, n - i), PCSIM_ERR_IO);
  assert_ok(pcsim_alloc(n + 1, 1, &more));
  memcpy(more, bytes, n);
  assert_status(read_bytes(more, n + 1), PCSIM_ERR_IO);
  assert_status(read_bytes(bytes + 512, n - 512), PCSIM_ERR_IO); /* a foreign HDF5 file */
  assert_non_null(strstr(pcsim_error_message(), "is not a checkpoint"));
  assert_status(read_bytes("hello\n", 6), PCSIM_ERR_IO);
  assert_ok(read_bytes(bytes, n));
  pcsim_free(&bytes), pcsim_free(&more);
  free(damage_values);
  pcsim_mesh_destroy(&damage_mesh);
  remove(damage_path);
}

static void test_of_another(void **state) {
  (void)state;
  char path[256];
  sample_path(path, folder, "checkpoint.h5");
  write_on(MPI_COMM_WORLD, path);
  pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, &shape, 1);
  double *values = values_for(pcsim_mesh_get(mesh));
  pcsim_checkpoint info = sample_info();
  assert_ok(pcsim_checkpoint_read(mesh, path, &info, values));
  info.case_hash[3] = 'z';
  assert_status(pcsim_checkpoint_read(mesh, path, &info, values), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), "another case"));
  info = (pcsim_checkpoint){.width = 3};
  assert_status(pcsim_checkpoint_read(mesh, path, &info, values), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), "4 values a cell, expected 3"));
  free(values);
  pcsim_mesh_destroy(&mesh);
  lattice larger = shape;
  larger.nx++;
  mesh = sample_mesh(MPI_COMM_WORLD, &larger, 1);
  values = values_for(pcsim_mesh_get(mesh));
  info = (pcsim_checkpoint){.width = WIDTH};
  assert_status(pcsim_checkpoint_read(mesh, path, &info, values), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), "another mesh"));
  sample_path(path, folder, "absent.h5");
  assert_status(pcsim_checkpoint_read(mesh, path, &info, values), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), path));
  sample_path(path, folder, "absent/checkpoint.h5");
  assert_status(pcsim_checkpoint_write(mesh, &info, values, path), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), path));
  free(values);
  pcsim_mesh_destroy(&mesh);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rank_counts), cmocka_unit_test(test_same_bytes),
                                     cmocka_unit_test(test_damaged), cmocka_unit_test(test_of_another)};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  folder = sample_folder();
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sample_remove(folder);
  if (pcsim_memory_used() != before)
    failed++, print_error("%zu bytes are left\n", pcsim_memory_used() - before);
  return failed;
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
