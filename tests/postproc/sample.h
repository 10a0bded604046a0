/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sample.h  Meshes and folders for the tests of files and pictures. */
#ifndef PCSIM_TEST_POSTPROC_SAMPLE_H
#define PCSIM_TEST_POSTPROC_SAMPLE_H

#include "mesh/lattice.h"

#include <dirent.h>
#include <pcsim/postproc.h>
#include <sys/stat.h>
#include <unistd.h>

/** A lattice shrunk to `scale` on every rank of `comm`. */
static inline pcsim_mesh *sample_mesh(MPI_Comm comm, const lattice *shape, double scale) {
  int rank;
  pcsim_raw_mesh *raw = NULL;
  pcsim_mesh *mesh = NULL;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    raw = lattice_make(shape);
    for (int64_t i = 0; i < 3 * raw->num_nodes; i++) raw->nodes[i] *= scale;
  }
  assert_ok(pcsim_mesh_create(comm, raw, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  return mesh;
}

/** A new empty folder, the same on every rank. */
static inline const char *sample_folder(void) {
  static char folder[224];
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char *place = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/pcsim-test-XXXXXX", place && strlen(place) < 200 ? place : "/tmp");
  if (rank == 0) assert_non_null(mkdtemp(folder));
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  return folder;
}

/** How many entries a folder has. */
static inline int sample_entries(const char *folder) {
  int n = 0;
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent *entry; (entry = readdir(dir));)
    n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(dir);
  return n;
}

/** Remove a folder and the files in it. Rank 0, after a barrier. */
static inline void sample_remove(const char *folder) {
  int rank;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  DIR *dir = opendir(folder);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) remove(path);
  }
  if (dir) closedir(dir);
  rmdir(folder);
}

static inline void sample_path(char path[256], const char *folder, const char *name) {
  snprintf(path, 256, "%s/%s", folder, name);
}

#endif
