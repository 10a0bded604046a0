/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoints. The file is an HDF5 image behind 512 bytes of our own (HDF5 calls that a user block and finds
 * its signature behind it). The header holds the size and a checksum of every byte, which is checked before
 * HDF5 sees any of them: its parser is not made for damaged files. */
#include "hdf.h"

#include <errno.h>
#include <inttypes.h>
#include <pcsim/postproc.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_SIZE = 512 };
static const char magic[] = "pcsim checkpoint 1";

/* 64-bit FNV-1a (Fowler, Noll, Vo): each step is a bijection of the state, so one changed byte always shows.
 */
static uint64_t checksum(uint64_t state, const void *bytes, size_t size) {
  const unsigned char *b = bytes;
  for (size_t i = 0; i < size; i++) state = (state ^ b[i]) * UINT64_C(0x100000001b3);
  return state;
}
static const uint64_t checksum_start = UINT64_C(0xcbf29ce484222325);

/* The header is readable text, padded with newlines: magic, bytes in all, checksum of the rest, and a
 * checksum of the header's own text. */
static void make_header(char header[HEADER_SIZE], size_t total, uint64_t sum) {
  memset(header, '\n', HEADER_SIZE);
  char text[256];
  int n = snprintf(text, sizeof text, "%s\nbytes %zu\nchecksum %016" PRIx64 "\n", magic, total, sum);
  n += snprintf(text + n, sizeof text - (size_t)n, "header %016" PRIx64 "\n",
                checksum(checksum_start, text, (size_t)n));
  memcpy(header, text, (size_t)n);
}

/* ---------------------------------------------------------------- writing */

static pcsim_status put_content(hid_t file, const pcsim_checkpoint *info, const double *all) {
  const int64_t numbers[3] = {info->step, info->width, info->num_cells_global};
  PCSIM_TRY(hdf_attribute_int(file, "step", &numbers[0], 1));
  PCSIM_TRY(hdf_attribute_int(file, "width", &numbers[1], 1));
  PCSIM_TRY(hdf_attribute_int(file, "cells", &numbers[2], 1));
  PCSIM_TRY(hdf_attribute_double(file, "scalars", info->scalars, 32));
  PCSIM_TRY(hdf_attribute_text(file, "case", info->case_hash));
  hsize_t size[2] = {(hsize_t)info->num_cells_global, (hsize_t)info->width};
  hid_t space = H5Screate_simple(2, size, NULL);
  hid_t create = hdf_timeless();
  hid_t set = H5Dcreate2(file, "values", H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Pclose(create);
  bool good = set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0;
  if (set >= 0) H5Dclose(set);
  H5Sclose(space);
  PCSIM_CHECK(good, PCSIM_ERR_LIBRARY, "HDF5 cannot hold %" PRId64 " cells in memory",
              info->num_cells_global);
  return PCSIM_OK;
}

/* `*image` is header and HDF5 file; caller frees. */
static pcsim_status make_image(const pcsim_checkpoint *info, const double *all, char **image, size_t *size) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 20, 0); /* in memory, never on disk */
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  hid_t file = H5Fcreate("pcsim-checkpoint", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  PCSIM_CHECK(file >= 0, PCSIM_ERR_LIBRARY, "HDF5 cannot make a file in memory");
  pcsim_status status = put_content(file, info, all);
  ssize_t bytes = -1;
  if (status == PCSIM_OK &&
      (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 || (bytes = H5Fget_file_image(file, NULL, 0)) < 0))
    status = pcsim_error_set(PCSIM_ERR_LIBRARY, __FILE__, __LINE__, __func__, "HDF5 gives no file image");
  if (status == PCSIM_OK) status = pcsim_alloc(HEADER_SIZE + (size_t)bytes, 1, image);
  if (status == PCSIM_OK && H5Fget_file_image(file, *image + HEADER_SIZE, (size_t)bytes) != bytes)
    status = pcsim_error_set(PCSIM_ERR_LIBRARY, __FILE__, __LINE__, __func__, "HDF5 gives no file image");
  H5Fclose(file);
  if (status != PCSIM_OK) {
    pcsim_free(image);
    return status;
  }
  *size = HEADER_SIZE + (size_t)bytes;
  make_header(*image, *size, checksum(checksum_start, *image + HEADER_SIZE, (size_t)bytes));
  return PCSIM_OK;
}

static pcsim_status save_image(const char *path, const char *image, size_t size) {
  char *temporary = NULL;
  PCSIM_TRY(hdf_temporary(path, &temporary));
  pcsim_status status = PCSIM_OK;
  FILE *file = fopen(temporary, "wb");
  bool good = file != NULL;
  if (good && fwrite(image, 1, size, file) != size) good = false;
  int error = errno;
  if (file && fclose(file) && good) good = false, error = errno;
  if (!good)
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "cannot write '%s': %s", path,
                             strerror(error));
  if (status == PCSIM_OK) status = hdf_give_name(temporary, path);
  if (status != PCSIM_OK && file) remove(temporary);
  pcsim_free(&temporary);
  return status;
}

static pcsim_status write_on_root(const pcsim_checkpoint *info, const double *all, const char *path) {
  char *image = NULL;
  size_t size = 0;
  hdf_printing printing;
  hdf_quiet(&printing);
  pcsim_status status = make_image(info, all, &image, &size);
  hdf_loud(&printing);
  if (status == PCSIM_OK) status = save_image(path, image, size);
  pcsim_free(&image);
  return status;
}

pcsim_status pcsim_checkpoint_write(const pcsim_mesh *mesh, const pcsim_checkpoint *info,
                                    const double *values, const char *path) {
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  int rank;
  MPI_Comm_rank(comm, &rank);
  PCSIM_CHECK(info->width > 0, PCSIM_ERR_ARG, "a checkpoint of %d values a cell", info->width);
  pcsim_checkpoint full = *info;
  full.num_cells_global = m->num_cells_global;
  full.case_hash[sizeof full.case_hash - 1] = '\0';
  double *all = NULL;
  pcsim_status status = PCSIM_OK;
  if (rank == 0) status = pcsim_alloc((size_t)(m->num_cells_global * info->width), sizeof *all, &all);
  PCSIM_GOTO(pcsim_status_agree(comm, status), status, done);
  PCSIM_GOTO(pcsim_mesh_gather(mesh, info->width, values, all), status, done);
  status = rank == 0 ? write_on_root(&full, all, path) : PCSIM_OK;
  status = pcsim_status_agree(comm, status);
done:
  pcsim_free(&all);
  return status;
}

/* ---------------------------------------------------------------- reading */

static pcsim_status check_image(const char *path, const char *image, size_t size) {
  const size_t length = sizeof magic - 1;
  PCSIM_CHECK(size >= length && memcmp(image, magic, length) == 0, PCSIM_ERR_IO,
              "'%s' is not a checkpoint of this version of pcsim", path);
  PCSIM_CHECK(size >= HEADER_SIZE, PCSIM_ERR_IO, "'%s' is cut short: %zu bytes, less than its header", path,
              size);
  char header[HEADER_SIZE];
  memcpy(header, image, HEADER_SIZE);
  header[HEADER_SIZE - 1] = '\0';
  size_t total = 0;
  bool readable = sscanf(header + length, "\nbytes %zu\n", &total) == 1;
  /* The one header that belongs to these bytes; anything else, be it in the header, is damage. */
  char expected[HEADER_SIZE];
  make_header(expected, total, checksum(checksum_start, image + HEADER_SIZE, size - HEADER_SIZE));
  PCSIM_CHECK(!readable || total <= size, PCSIM_ERR_IO, "'%s' is cut short: %zu of %zu bytes", path, size,
              total);
  PCSIM_CHECK(readable && total == size && memcmp(expected, image, HEADER_SIZE) == 0, PCSIM_ERR_IO,
              "'%s' is damaged: its checksum does not fit its content", path);
  return PCSIM_OK;
}

/* Attribute of exactly n numbers. */
static bool get_numbers(hid_t file, const char *name, hid_t type, int n, void *values) {
  hid_t a = H5Aopen(file, name, H5P_DEFAULT);
  if (a < 0) return false;
  hid_t space = H5Aget_space(a);
  bool good = H5Sget_simple_extent_npoints(space) == n && H5Aread(a, type, values) >= 0;
  H5Sclose(space);
  H5Aclose(a);
  return good;
}

static bool get_text(hid_t file, const char *name, char *text, size_t size) {
  hid_t a = H5Aopen(file, name, H5P_DEFAULT);
  if (a < 0) return false;
  hid_t type = H5Aget_type(a);
  memset(text, 0, size);
  bool good = H5Tget_class(type) == H5T_STRING && H5Tget_size(type) < size && H5Aread(a, type, text) >= 0;
  H5Tclose(type);
  H5Aclose(a);
  return good;
}

static bool get_info(hid_t file, pcsim_checkpoint *info) {
  int64_t width = 0;
  bool good = get_numbers(file, "step", H5T_NATIVE_INT64, 1, &info->step) &&
              get_numbers(file, "width", H5T_NATIVE_INT64, 1, &width) &&
              get_numbers(file, "cells", H5T_NATIVE_INT64, 1, &info->num_cells_global) &&
              get_numbers(file, "scalars", H5T_NATIVE_DOUBLE, 32, info->scalars) &&
              get_text(file, "case", info->case_hash, sizeof info->case_hash);
  info->width = (int)width;
  return good && width > 0 && width < 1 << 20 && info->num_cells_global >= 0;
}

static bool get_values(hid_t file, const pcsim_checkpoint *info, double *all) {
  hid_t set = H5Dopen2(file, "values", H5P_DEFAULT);
  if (set < 0) return false;
  hid_t space = H5Dget_space(set);
  hsize_t size[2] = {0, 0};
  bool good = H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, size, NULL) == 2 &&
              size[0] == (hsize_t)info->num_cells_global && size[1] == (hsize_t)info->width &&
              H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0;
  H5Sclose(space);
  H5Dclose(set);
  return good;
}

static pcsim_status check_expected(const char *path, const pcsim_checkpoint *found,
                                   const pcsim_checkpoint *wanted, int64_t num_cells) {
  PCSIM_CHECK(found->num_cells_global == num_cells, PCSIM_ERR_IO,
              "'%s' belongs to another mesh: it has %" PRId64 " cells, the mesh of the case %" PRId64, path,
              found->num_cells_global, num_cells);
  PCSIM_CHECK(wanted->case_hash[0] == '\0' || !strcmp(wanted->case_hash, found->case_hash), PCSIM_ERR_IO,
              "'%s' belongs to another case or mesh: the case was changed since; use --force to start anew",
              path);
  PCSIM_CHECK(wanted->width == 0 || wanted->width == found->width, PCSIM_ERR_IO,
              "'%s' belongs to another model: %d values a cell, expected %d", path, found->width,
              wanted->width);
  return PCSIM_OK;
}

static pcsim_status read_image(const char *path, char *image, size_t size, const pcsim_checkpoint *wanted,
                               int64_t num_cells, pcsim_checkpoint *info, double **all) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 20, 0);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  herr_t set = H5Pset_file_image(access, image + HEADER_SIZE, size - HEADER_SIZE);
  hid_t file = set < 0 ? H5I_INVALID_HID : H5Fopen("pcsim-checkpoint", H5F_ACC_RDONLY, access);
  H5Pclose(access);
  PCSIM_CHECK(file >= 0, PCSIM_ERR_IO, "'%s' holds no HDF5 file", path);
  pcsim_status status = PCSIM_OK;
  if (!get_info(file, info))
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "'%s' lacks a part of a checkpoint",
                             path);
  if (status == PCSIM_OK) status = check_expected(path, info, wanted, num_cells);
  if (status == PCSIM_OK && all) {
    status = pcsim_alloc((size_t)(info->num_cells_global * info->width), sizeof **all, all);
    if (status == PCSIM_OK && !get_values(file, info, *all))
      status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "'%s' lacks the values", path);
  }
  H5Fclose(file);
  return status;
}

static pcsim_status read_on_root(const char *path, const pcsim_checkpoint *wanted, int64_t num_cells,
                                 pcsim_checkpoint *info, double **all) {
  char *image = NULL;
  size_t size = 0;
  PCSIM_TRY(pcsim_file_read(path, SIZE_MAX / 4, &image, &size));
  pcsim_status status = check_image(path, image, size);
  if (status == PCSIM_OK) {
    hdf_printing printing;
    hdf_quiet(&printing);
    status = read_image(path, image, size, wanted, num_cells, info, all);
    hdf_loud(&printing);
  }
  pcsim_free(&image);
  return status;
}

pcsim_status pcsim_checkpoint_read(const pcsim_mesh *mesh, const char *path, pcsim_checkpoint *info,
                                   double *values) {
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  int rank, with_values = values || m->num_cells == 0;
  MPI_Comm_rank(comm, &rank);
  /* A rank without cells may pass NULL. */
  MPI_Allreduce(MPI_IN_PLACE, &with_values, 1, MPI_INT, MPI_LAND, comm);
  PCSIM_CHECK(!with_values || info->width > 0, PCSIM_ERR_ARG, "reading a checkpoint of unknown width");
  pcsim_checkpoint found = {0};
  double *all = NULL;
  pcsim_status status = PCSIM_OK;
  if (rank == 0) status = read_on_root(path, info, m->num_cells_global, &found, with_values ? &all : NULL);
  PCSIM_GOTO(pcsim_status_agree(comm, status), status, done);
  MPI_Bcast(&found, (int)sizeof found, MPI_BYTE, 0, comm);
  if (with_values) PCSIM_GOTO(pcsim_mesh_scatter(mesh, found.width, all, values), status, done);
  *info = found;
done:
  pcsim_free(&all);
  return status;
}
