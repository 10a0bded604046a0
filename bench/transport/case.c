/* SPDX-License-Identifier: BSD-2-Clause */
#include "case.h"

#include "bench/generate.h"

static void read_exact(bench_case *b) {
  static const char *const names[] = {"x", "y", "z", "t"};
  const pcsim_node *reference = pcsim_node_get(pcsim_tree_root(b->tree), "reference");
  const pcsim_node *exact = pcsim_node_get(pcsim_node_get(reference, "u"), "exact");
  if (exact && !pcsim_node_as_expr(b->tree, exact, names, 4, &b->exact)) bench_stop("reference.u.exact");
}

void bench_open(bench_case *b, const char *path, int num, char **settings) {
  *b = (bench_case){0};
  MUST(pcsim_tree_read(path, &b->tree));
  for (int i = 0; i < num; i++) MUST(pcsim_tree_set(b->tree, settings[i]));
  b->raw = bench_generate(b->tree);
  MUST(pcsim_mesh_create(MPI_COMM_WORLD, b->raw, &b->mesh));
  pcsim_transport_options_read(b->tree, &b->options);
  MUST(pcsim_transport_problem_read(b->tree, b->mesh, &b->problem));
  read_exact(b);
  MUST(pcsim_tree_status(b->tree));
}

void bench_close(bench_case *b) {
  pcsim_expr_destroy(&b->exact);
  pcsim_transport_problem_destroy(&b->problem);
  pcsim_mesh_destroy(&b->mesh);
  pcsim_raw_mesh_destroy(&b->raw);
  pcsim_tree_destroy(&b->tree);
}
