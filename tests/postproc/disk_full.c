/* SPDX-License-Identifier: BSD-2-Clause */
/* Writers on a disk that fills up; disk_full.sh mounts one of 1 MB and names it as the argument. */
#include "sample.h"

#include "postproc/hdf.h"

static char folder[256];
static int rank;

/* Leave about `left` bytes. */
static void fill_disk(long left) {
  char path[512], block[4096];
  memset(block, 1, sizeof block);
  snprintf(path, sizeof path, "%s/ballast", folder);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    while (fwrite(block, 1, sizeof block, file) == sizeof block) continue;
    long size = ftell(file);
    fclose(file);
    assert_int_equal(truncate(path, size - left), 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void empty_disk(void) {
  char path[512];
  snprintf(path, sizeof path, "%s/ballast", folder);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) assert_int_equal(remove(path), 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void assert_refused(pcsim_status status, const char *path) {
  assert_int_equal(status, PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), path));
  if (rank == 0) assert_int_equal(sample_entries(folder), 1); /* the ballast */
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_announced(void **state) {
  (void)state;
  lattice shape = {LATTICE_QUAD, 60, 60, 0, 0, false};
  pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, &shape, 0.1);
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  pcsim_field field = {"place", 3, m->cell_centre};
  pcsim_checkpoint info = {.width = 3};
  char path[512];
  const long left[] = {0, 100000};
  for (int i = 0; i < 2; i++) {
    fill_disk(left[i]);
    snprintf(path, sizeof path, "%s/fields.hdf", folder);
    assert_refused(pcsim_write_fields(mesh, &field, 1, path), path);
    assert_non_null(strstr(pcsim_error_message(), "No space left on device"));
    snprintf(path, sizeof path, "%s/checkpoint.h5", folder);
    if (i == 0) assert_refused(pcsim_checkpoint_write(mesh, &info, m->cell_centre, path), path);
    empty_disk();
  }
  assert_ok(pcsim_checkpoint_write(mesh, &info, m->cell_centre, path));
  if (rank == 0) remove(path);
  pcsim_mesh_destroy(&mesh);
}

/* Nothing announced: the error comes up inside a collective write of HDF5, from some of the ranks. It may
 * neither hang nor crash, now or at the end of the process. */
static void test_in_the_middle(void **state) {
  (void)state;
  char path[512];
  snprintf(path, sizeof path, "%s/big.hdf", folder);
  const int64_t rows = 200000;
  double *values = NULL;
  assert_ok(pcsim_alloc((size_t)rows, sizeof *values, &values));
  fill_disk(500000);
  hdf_file file;
  pcsim_status status = hdf_create(MPI_COMM_WORLD, path, 0, &file);
  if (status == PCSIM_OK) {
    status = hdf_write(&file, file.file, "small", H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, 10, 0, values);
    if (status == PCSIM_OK)
      status = hdf_write(&file, file.file, "big", H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, rows, 0, values);
    status = hdf_finish(&file, status);
  }
  assert_refused(status, path);
  empty_disk();
  pcsim_free(&values);
}

static void test_history(void **state) {
  (void)state;
  char path[512];
  snprintf(path, sizeof path, "%s/history.csv", folder);
  fill_disk(0);
  if (rank == 0) {
    pcsim_history *history;
    assert_status(pcsim_history_open(path, (const char *const[]){"step"}, 1, -1, &history), PCSIM_ERR_IO);
    assert_null(history);
  }
  empty_disk();
  if (rank == 0) {
    pcsim_history *history;
    assert_ok(pcsim_history_open(path, (const char *const[]){"step"}, 1, -1, &history));
    remove(path);
    pcsim_status closed = pcsim_history_close(&history);
    assert_int_equal(closed, PCSIM_OK);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_announced), cmocka_unit_test(test_in_the_middle),
                                     cmocka_unit_test(test_history)};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) {
  if (argc < 2) return 77;
  snprintf(folder, sizeof folder, "%s", argv[1]);
  return pcsim_test_main(run, &argc, &argv);
}
