/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/generate.h"

#include "bench/program.h"

#include <unistd.h>

pcsim_raw_mesh *bench_generate(pcsim_tree *tree) {
  char *path = NULL;
  pcsim_mesh_spec *spec = NULL;
  pcsim_raw_mesh *raw = NULL;
  bench_must(pcsim_mesh_spec_read(tree, &spec), "mesh");
  bench_must(pcsim_tree_status(tree), "case");
  bench_must(pcsim_temporary_make(false, &path), "mesh");
  pcsim_status status = pcsim_mesh_spec_generate(spec, path, NULL);
  if (status == PCSIM_OK) status = pcsim_raw_mesh_read(path, &raw);
  unlink(path);
  bench_must(status, "mesh");
  pcsim_free(&path);
  pcsim_mesh_spec_destroy(&spec);
  return raw;
}
