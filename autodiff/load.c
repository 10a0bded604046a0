/* SPDX-License-Identifier: BSD-2-Clause */
/* Files to programs: first the header's checksum, then HDF5, then the arrays, each checked before the next.
 */
#include "file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------- header */

static pcsim_status check_version(const char *path, const char *image, size_t size) {
  const size_t length = strlen(file_magic);
  char number[16] = "", expected[16];
  PCSIM_CHECK(size >= length && !memcmp(image, file_magic, length), PCSIM_ERR_IO,
              "'%s' is no saved program: it does not begin with '%s'", path, file_magic);
  size_t n = 0;
  while (n + 1 < sizeof number && length + n < size && image[length + n] >= '0' && image[length + n] <= '9')
    n++;
  memcpy(number, image + length, n);
  snprintf(expected, sizeof expected, "%d", FILE_VERSION);
  /* A file cut within its number is cut short, not of another version. */
  if (n && length + n < size && strcmp(number, expected) != 0)
    PCSIM_FAIL(PCSIM_ERR_IO, "'%s' has version %s of the format of programs; this pcsim reads version %s",
               path, number, expected);
  PCSIM_CHECK(size >= FILE_HEADER_SIZE, PCSIM_ERR_IO, "'%s' is cut short: %zu bytes, less than its header",
              path, size);
  return PCSIM_OK;
}

static pcsim_status check_header(const char *path, const char *image, size_t size) {
  PCSIM_TRY(check_version(path, image, size));
  char found[FILE_HEADER_SIZE + 1], expected[FILE_HEADER_SIZE];
  size_t total = 0;
  memcpy(found, image, FILE_HEADER_SIZE);
  found[FILE_HEADER_SIZE] = '\0';
  bool readable = sscanf(found + strlen(file_magic), "%*d\nbytes %zu\n", &total) == 1;
  PCSIM_CHECK(!readable || total <= size, PCSIM_ERR_IO, "'%s' is cut short: %zu of %zu bytes", path, size,
              total);
  /* The one header that belongs to these bytes; anything else, be it in the header, is damage. */
  file_header(expected, image + FILE_HEADER_SIZE, size - FILE_HEADER_SIZE);
  PCSIM_CHECK(!memcmp(expected, image, FILE_HEADER_SIZE), PCSIM_ERR_IO,
              "'%s' is damaged: its checksum does not fit its content", path);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------ parts */

static bool is_type(hid_t set, file_part_type type) {
  hid_t found = H5Dget_type(set);
  if (found < 0) return false;
  bool good = H5Tget_class(found) == (type == PART_DOUBLE ? H5T_FLOAT : H5T_INTEGER) &&
              H5Tget_size(found) == file_element_size(type);
  H5Tclose(found);
  return good;
}

/** Elements of a data set, at most `limit`; false if it is no array of one dimension. */
static bool count_of(hid_t set, size_t limit, size_t *count) {
  hid_t space = H5Dget_space(set);
  hsize_t size = 0;
  if (space < 0) return false;
  bool good = H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, &size, NULL) == 1 &&
              size <= limit;
  H5Sclose(space);
  *count = (size_t)size;
  return good;
}

/** No part can have more elements than the file has bytes. */
static pcsim_status get_part(hid_t file, const char *path, file_part part, size_t bytes, program_flat *flat) {
  const hid_t memory[] = {H5T_NATIVE_INT32, H5T_NATIVE_DOUBLE, H5T_NATIVE_UCHAR};
  const file_part_info *info = &file_parts[part];
  size_t element = file_element_size(info->type), count = 0;
  hid_t set = H5Dopen2(file, info->name, H5P_DEFAULT);
  PCSIM_CHECK(set >= 0, PCSIM_ERR_IO, "'%s' lacks the part '%s' of a program", path, info->name);
  pcsim_status status = PCSIM_OK;
  bool good = is_type(set, info->type) && count_of(set, bytes / element, &count);
  if (good) status = pcsim_alloc(count, element, &flat->part[part].data);
  if (good && status == PCSIM_OK) {
    flat->part[part].count = count;
    good =
        !count || H5Dread(set, memory[info->type], H5S_ALL, H5S_ALL, H5P_DEFAULT, flat->part[part].data) >= 0;
  }
  H5Dclose(set);
  PCSIM_TRY(status);
  PCSIM_CHECK(good, PCSIM_ERR_IO, "'%s': the part '%s' is not the array that a program has there", path,
              info->name);
  return PCSIM_OK;
}

static pcsim_status get_content(const char *path, const char *content, size_t size, program_flat *flat) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, 0);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  herr_t set = H5Pset_file_image(access, (void *)content, size); /* copied */
  hid_t file = set < 0 ? H5I_INVALID_HID : H5Fopen("pcsim-program", H5F_ACC_RDONLY, access);
  H5Pclose(access);
  PCSIM_CHECK(file >= 0, PCSIM_ERR_IO, "'%s' holds no HDF5 file", path);
  pcsim_status status = PCSIM_OK;
  for (int part = 0; status == PCSIM_OK && part < NUM_PARTS; part++)
    status = get_part(file, path, (file_part)part, size, flat);
  H5Fclose(file);
  return status;
}

/* ------------------------------------------------------------------ entry */

pcsim_status program_image_read(const char *path, const char *image, size_t size, file_operators operators,
                                pcsim_program **program) {
  program_flat flat = {0};
  file_printing printing;
  *program = NULL;
  PCSIM_TRY(check_header(path, image, size));
  file_quiet(&printing);
  pcsim_status status = get_content(path, image + FILE_HEADER_SIZE, size - FILE_HEADER_SIZE, &flat);
  file_loud(&printing);
  if (status == PCSIM_OK) {
    status = program_unflatten(&flat, operators, program);
    if (status == PCSIM_ERR_IO) {
      char reason[512];
      snprintf(reason, sizeof reason, "%s", pcsim_error_message());
      status = pcsim_error_set(status, __FILE__, __LINE__, __func__, "'%s' holds no valid program: %s", path,
                               reason);
    }
  }
  program_flat_free(&flat);
  return status;
}

pcsim_status pcsim_program_load_with(const char *path, const pcsim_user_op *ops, int num_ops,
                                     pcsim_program **program) {
  char *image = NULL;
  size_t size = 0;
  *program = NULL;
  PCSIM_CHECK(path && *path, PCSIM_ERR_ARG, "the file has no name");
  PCSIM_TRY(pcsim_file_read(path, SIZE_MAX / 4, &image, &size));
  pcsim_status status = program_image_read(path, image, size, (file_operators){ops, num_ops}, program);
  pcsim_free(&image);
  return status;
}

pcsim_status pcsim_program_load(const char *path, pcsim_program **program) {
  return pcsim_program_load_with(path, NULL, 0, program);
}
