/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/generate.h"

#include "bench/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pcsim_status make_file(char **path) {
  const char *folder = getenv("TMPDIR");
  PCSIM_TRY(pcsim_path_join(folder && *folder ? folder : "/tmp", "pcsim-bench-XXXXXX", path));
  const int file = mkstemp(*path);
  PCSIM_CHECK(file >= 0, PCSIM_ERR_IO, "%s: no temporary file can be made: %s", *path, strerror(errno));
  close(file);
  return PCSIM_OK;
}

pcsim_raw_mesh *bench_generate(pcsim_tree *tree) {
  char *path = NULL;
  pcsim_mesh_spec *spec = NULL;
  pcsim_raw_mesh *raw = NULL;
  bench_must(pcsim_mesh_spec_read(tree, &spec), "mesh");
  bench_must(pcsim_tree_status(tree), "case");
  bench_must(make_file(&path), "mesh");
  pcsim_status status = pcsim_mesh_spec_generate(spec, path, NULL);
  if (status == PCSIM_OK) status = pcsim_raw_mesh_read(path, &raw);
  unlink(path);
  bench_must(status, "mesh");
  pcsim_free(&path);
  pcsim_mesh_spec_destroy(&spec);
  return raw;
}
