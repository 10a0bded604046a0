/* SPDX-License-Identifier: BSD-2-Clause */
#include "hdf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void hdf_quiet(hdf_printing *saved) {
  H5Eget_auto2(H5E_DEFAULT, &saved->function, &saved->context);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void hdf_loud(const hdf_printing *saved) { H5Eset_auto2(H5E_DEFAULT, saved->function, saved->context); }

typedef struct {
  char *out;
  size_t size;
} reason_text;

static herr_t take_reason(unsigned n, const H5E_error2_t *error, void *context) {
  reason_text *reason = context;
  if (n > 1 || !error->desc || !error->desc[0]) return 0;
  size_t used = strlen(reason->out);
  snprintf(reason->out + used, reason->size - used, "%s%s", used ? "; " : "", error->desc);
  return 0;
}

const char *hdf_reason(char *out, size_t size) {
  out[0] = '\0';
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &(reason_text){out, size});
  for (char *s = out; *s; s++)
    if (*s == '\n') *s = ' ';
  if (!out[0]) snprintf(out, size, "HDF5 gives no reason");
  return out;
}

/* A disk that fills up in the middle of a collective write is reported late, by some ranks only, and an
 * H5Fclose that fails leaves a handle behind that crashes the process at its end. So room is asked for twice:
 * before HDF5 opens the file (which empties it), and held by blocks beyond its end while HDF5 writes. */
static int reserve(const char *path, int flags, int mode, int64_t bytes) {
  int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
  if (fd < 0) return errno;
  int error = fallocate(fd, mode, 0, bytes) ? errno : 0;
  close(fd);
  bool cannot = error == EOPNOTSUPP || error == ENOSYS || error == EINTR || error == EINVAL;
  return cannot ? 0 : error;
}

static pcsim_status no_room(const hdf_file *file, int error, int64_t bytes) {
  PCSIM_FAIL(PCSIM_ERR_IO, "cannot write '%s': %s (%.3g MB are needed)", file->path, strerror(error),
             (double)bytes / 1e6);
}

static pcsim_status probe(const hdf_file *file, int64_t bytes) {
  int fd = open(file->temporary, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666);
  PCSIM_CHECK(fd >= 0, PCSIM_ERR_IO, "cannot write '%s': %s", file->path, strerror(errno));
  close(fd);
  int error = reserve(file->temporary, 0, 0, bytes);
  unlink(file->temporary);
  return error ? no_room(file, error, bytes) : PCSIM_OK;
}

static pcsim_status open_file(hdf_file *file) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, file->comm, MPI_INFO_NULL);
  H5Pset_all_coll_metadata_ops(access, 1);
  /* An object left open by an error path must not keep the file open. */
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  file->file = H5Fcreate(file->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  char reason[400];
  PCSIM_CHECK(file->file >= 0, PCSIM_ERR_IO, "cannot write '%s': %s", file->path,
              hdf_reason(reason, sizeof reason));
  return PCSIM_OK;
}

pcsim_status hdf_temporary(const char *path, char **temporary) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t length = strlen(path) + sizeof ".pcsim-.tmp";
  PCSIM_TRY(pcsim_alloc(length, 1, temporary));
  snprintf(*temporary, length, "%.*s.pcsim-%s.tmp", (int)(name - path), path, name);
  return PCSIM_OK;
}

pcsim_status hdf_create(MPI_Comm comm, const char *path, int64_t bytes, hdf_file *file) {
  *file = (hdf_file){.comm = comm, .path = path, .file = H5I_INVALID_HID};
  MPI_Comm_rank(comm, &file->rank);
  MPI_Comm_size(comm, &file->size);
  pcsim_status status = hdf_temporary(path, &file->temporary);
  if (status == PCSIM_OK) {
    if (file->rank == 0) status = probe(file, bytes + 65536);
  }
  status = pcsim_status_agree(comm, status);
  if (status != PCSIM_OK) {
    pcsim_free(&file->temporary);
    return status;
  }
  hdf_quiet(&file->printing);
  status = pcsim_status_agree(comm, open_file(file));
  if (status == PCSIM_OK) {
    if (file->rank == 0) {
      int error = reserve(file->temporary, 0, FALLOC_FL_KEEP_SIZE, bytes + 65536);
      if (error) status = no_room(file, error, bytes + 65536);
    }
    status = pcsim_status_agree(comm, status);
  }
  return status == PCSIM_OK ? PCSIM_OK : hdf_finish(file, status);
}

pcsim_status hdf_give_name(const char *temporary, const char *path) {
  int fd = open(temporary, O_RDONLY | O_CLOEXEC), error = 0;
  if (fd < 0 || fsync(fd)) error = errno;
  if (fd >= 0 && close(fd) && !error) error = errno;
  PCSIM_CHECK(!error, PCSIM_ERR_IO, "cannot write '%s': %s", path, strerror(error));
  PCSIM_CHECK(rename(temporary, path) == 0, PCSIM_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
  const char *slash = strrchr(path, '/');
  char folder[4096] = ".";
  if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path);
  fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd); /* not every file system can; the name is there anyway */
    close(fd);
  }
  return PCSIM_OK;
}

static pcsim_status flush_file(hdf_file *file) {
  char reason[400];
  PCSIM_CHECK(H5Fflush(file->file, H5F_SCOPE_GLOBAL) >= 0, PCSIM_ERR_IO, "cannot write '%s': %s", file->path,
              hdf_reason(reason, sizeof reason));
  return PCSIM_OK;
}

pcsim_status hdf_finish(hdf_file *file, pcsim_status status) {
  if (!file->temporary) return status;
  status = pcsim_status_agree(file->comm, status == PCSIM_OK ? flush_file(file) : status);
  /* The last bytes that HDF5 insists on writing at the close of a failed file must find room. */
  if (status != PCSIM_OK && file->rank == 0) (void)!truncate(file->temporary, 0);
  MPI_Barrier(file->comm);
  pcsim_status closed = status;
  if (file->file >= 0 && H5Fclose(file->file) < 0 && status == PCSIM_OK) {
    char reason[400];
    closed = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "cannot write '%s': closing: %s",
                             file->path, hdf_reason(reason, sizeof reason));
  }
  hdf_loud(&file->printing);
  status = pcsim_status_agree(file->comm, closed);
  if (status == PCSIM_OK) {
    pcsim_status named = file->rank == 0 ? hdf_give_name(file->temporary, file->path) : PCSIM_OK;
    status = pcsim_status_agree(file->comm, named);
  }
  if (status != PCSIM_OK && file->rank == 0) unlink(file->temporary);
  pcsim_free(&file->temporary);
  file->file = H5I_INVALID_HID;
  return status;
}

pcsim_status hdf_group(hdf_file *file, hid_t where, const char *name, hid_t *group) {
  *group = H5Gcreate2(where, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  pcsim_status status = PCSIM_OK;
  if (*group < 0) {
    char reason[400];
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "cannot write '%s': group '%s': %s",
                             file->path, name, hdf_reason(reason, sizeof reason));
  }
  return pcsim_status_agree(file->comm, status);
}

hid_t hdf_timeless(void) {
  hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(create, false);
  return create;
}

static pcsim_status write_rows(hdf_file *file, hid_t set, hid_t memory, hid_t on_disk, const char *name,
                               const hsize_t start[2], const hsize_t count[2], int rank, const void *data) {
  static const double nothing = 0; /* HDF5 wants an address even for no rows */
  hid_t in_memory = H5Screate_simple(rank, count, NULL), transfer = H5Pcreate(H5P_DATASET_XFER);
  /* Each rank's rows are one contiguous piece of the file, so there is nothing to gain from a collective
   * transfer, and one thing to lose: Open MPI's (4.1, three ranks, a disk that fills up) reports success when
   * a write fails. For the same reason metadata are not written collectively. */
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_INDEPENDENT);
  if (count[0] > 0) H5Sselect_hyperslab(on_disk, H5S_SELECT_SET, start, NULL, count, NULL);
  else {
    H5Sselect_none(on_disk);
    H5Sselect_none(in_memory);
  }
  herr_t written = H5Dwrite(set, memory, in_memory, on_disk, transfer, data ? data : &nothing);
  char reason[400] = "";
  if (written < 0) hdf_reason(reason, sizeof reason); /* before later calls clear HDF5's stack */
  H5Pclose(transfer);
  H5Sclose(in_memory);
  PCSIM_CHECK(written >= 0, PCSIM_ERR_IO, "cannot write '%s': data set '%s': %s", file->path, name, reason);
  return PCSIM_OK;
}

pcsim_status hdf_write(hdf_file *file, hid_t where, const char *name, hid_t memory, hid_t disk, int64_t rows,
                       int width, const void *data) {
  int64_t before = 0, total = 0;
  MPI_Exscan(&rows, &before, 1, MPI_INT64_T, MPI_SUM, file->comm);
  if (file->rank == 0) before = 0; /* MPI leaves it undefined there */
  MPI_Allreduce(&rows, &total, 1, MPI_INT64_T, MPI_SUM, file->comm);
  int rank = width > 0 ? 2 : 1;
  hsize_t size[2] = {(hsize_t)total, (hsize_t)width}, start[2] = {(hsize_t)before, 0};
  hsize_t count[2] = {(hsize_t)rows, (hsize_t)width};
  hid_t space = H5Screate_simple(rank, size, NULL);
  hid_t create = hdf_timeless();
  hid_t set = H5Dcreate2(where, name, disk, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Pclose(create);
  pcsim_status status = PCSIM_OK;
  if (set < 0) {
    char reason[400];
    status =
        pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "cannot write '%s': data set '%s': %s",
                        file->path, name, hdf_reason(reason, sizeof reason));
  }
  status = pcsim_status_agree(file->comm, status);
  if (status == PCSIM_OK) {
    if (total > 0) status = write_rows(file, set, memory, space, name, start, count, rank, data);
    status = pcsim_status_agree(file->comm, status);
  }
  if (set >= 0 && H5Dclose(set) < 0 && status == PCSIM_OK)
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__,
                             "cannot write '%s': closing data set '%s'", file->path, name);
  H5Sclose(space);
  return status;
}

static pcsim_status attribute(hid_t where, const char *name, hid_t type, hid_t space, const void *value) {
  hid_t a = H5Acreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = a >= 0 && H5Awrite(a, type, value) >= 0;
  char reason[400] = "";
  if (!good) hdf_reason(reason, sizeof reason);
  if (a >= 0) H5Aclose(a);
  H5Sclose(space);
  PCSIM_CHECK(good, PCSIM_ERR_IO, "cannot write the attribute '%s': %s", name, reason);
  return PCSIM_OK;
}

pcsim_status hdf_attribute_int(hid_t where, const char *name, const int64_t *values, int n) {
  hsize_t size = (hsize_t)n;
  return attribute(where, name, H5T_NATIVE_INT64, H5Screate_simple(1, &size, NULL), values);
}

pcsim_status hdf_attribute_double(hid_t where, const char *name, const double *values, int n) {
  hsize_t size = (hsize_t)n;
  return attribute(where, name, H5T_NATIVE_DOUBLE, H5Screate_simple(1, &size, NULL), values);
}

pcsim_status hdf_attribute_text(hid_t where, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) > 0 ? strlen(text) : 1);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  pcsim_status status = attribute(where, name, type, H5Screate(H5S_SCALAR), text);
  H5Tclose(type);
  return status;
}
