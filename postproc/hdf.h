/* SPDX-License-Identifier: BSD-2-Clause */
/** @file hdf.h  The bridge to HDF5: parallel files that appear whole or not at all, errors as messages. */
#ifndef PCSIM_POSTPROC_HDF_H
#define PCSIM_POSTPROC_HDF_H

#include <hdf5.h>
#include <pcsim/base.h>

/** Silences HDF5's own printing until hdf_loud; nests. The host's setting comes back. */
typedef struct {
  H5E_auto2_t function;
  void *context;
} hdf_printing;
void hdf_quiet(hdf_printing *saved);
void hdf_loud(const hdf_printing *saved);
/** What HDF5 says went wrong last, innermost first, in one line. */
const char *hdf_reason(char *out, size_t size);

/** A file being written by all ranks of `comm` under a temporary name. */
typedef struct {
  MPI_Comm comm;
  int rank, size;
  const char *path; /**< borrowed */
  char *temporary;
  hid_t file;
  hdf_printing printing;
} hdf_file;

/** Collective. `bytes` (global) is roughly what will be written; a disk without that room is refused before
 *  anything is written. After a failure there is nothing to finish. */
pcsim_status hdf_create(MPI_Comm comm, const char *path, int64_t bytes, hdf_file *file) PCSIM_NODISCARD;
/** Collective. Close; with every rank's `status` OK the file gets its name, else it is removed. Returns the
 *  agreed status. */
pcsim_status hdf_finish(hdf_file *file, pcsim_status status) PCSIM_NODISCARD;

/** Collective, and the status is agreed. */
pcsim_status hdf_group(hdf_file *file, hid_t where, const char *name, hid_t *group) PCSIM_NODISCARD;
/** Rows of this rank behind those of the lower ranks: [rows][width], or one-dimensional for width 0.
 *  Collective, and the status is agreed. */
pcsim_status hdf_write(hdf_file *file, hid_t where, const char *name, hid_t memory, hid_t disk, int64_t rows,
                       int width, const void *data) PCSIM_NODISCARD;
pcsim_status hdf_attribute_int(hid_t where, const char *name, const int64_t *values, int n) PCSIM_NODISCARD;
pcsim_status hdf_attribute_double(hid_t where, const char *name, const double *values, int n) PCSIM_NODISCARD;
/** Properties of a data set without its time of birth: the same run gives the same file. Caller closes. */
hid_t hdf_timeless(void);
/** Fixed-length string, as VTK's reader wants it. */
pcsim_status hdf_attribute_text(hid_t where, const char *name, const char *text) PCSIM_NODISCARD;

/** `FOLDER/.pcsim-NAME.tmp` for FOLDER/NAME: always the same, so that killed runs leave one such file at
 * most. Caller frees. */
pcsim_status hdf_temporary(const char *path, char **temporary) PCSIM_NODISCARD;
/** Force a finished file to the disk and rename it. Errors: ERR_IO; the temporary file stays then. */
pcsim_status hdf_give_name(const char *temporary, const char *path) PCSIM_NODISCARD;

#endif
