/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that embeds the library: its mesh from arrays, the quality of it. Links what the solver needs
 * too. */
#include <pcsim.h>
#include <stdio.h>

/* Called by nobody: a link without the libraries for files fails here and not in somebody's program. */
void (*volatile used[])(void) = {(void (*)(void))pcsim_write_fields, (void (*)(void))pcsim_picture_png,
                                 (void (*)(void))pcsim_flow_solver_create,
                                 (void (*)(void))pcsim_executor_create};

static pcsim_status work(const char *path) {
  pcsim_tree *tree = NULL;
  double viscosity = 0;
  pcsim_status status = pcsim_solver_start(MPI_COMM_WORLD);
  if (status == PCSIM_OK) status = pcsim_tree_read(path, &tree);
  if (status == PCSIM_OK)
    pcsim_node_number(tree, pcsim_node_get(pcsim_tree_root(tree), "physics"), "viscosity", &viscosity);
  if (status == PCSIM_OK) printf("viscosity %g\n", viscosity);
  pcsim_tree_destroy(&tree);
  return status == PCSIM_OK ? pcsim_solver_end() : status;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  pcsim_status status = argc == 2 ? work(argv[1]) : PCSIM_ERR_ARG;
  if (status != PCSIM_OK) fprintf(stderr, "%s\n", pcsim_error_message());
  MPI_Finalize();
  return status == PCSIM_OK ? 0 : 1;
}
