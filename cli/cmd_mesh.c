/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_mesh.c  pcsim mesh CASE: the mesh alone, its quality and a picture of it. */
#include "cli.h"

#include <string.h>

static void print_measure(const char *name, const pcsim_quality_measure *m) {
  printf("%-28s %12.4g %12.4g %12.4g\n", name, m->min, m->mean, m->max);
}

static void print_worst(const char *name, const pcsim_quality_measure *m) {
  for (int i = 0; i < m->num_worst; i++)
    printf("%-28s %12.4g  cell %-10lld (%.6g, %.6g, %.6g)\n", i ? "" : name, m->worst_value[i],
           (long long)m->worst_cell[i], m->worst_centre[i][0], m->worst_centre[i][1], m->worst_centre[i][2]);
}

static void print_quality(const cli_session *s, double memory) {
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  const pcsim_mesh_quality *q = &s->quality;
  printf("\n%lld cells, %lld faces, %lld nodes in %dD\n", (long long)q->num_cells, (long long)q->num_faces,
         (long long)q->num_nodes, view->dim);
  for (int t = 0; t < PCSIM_NUM_CELL_TYPES; t++)
    if (q->count[t]) printf("  %-26s %12lld\n", pcsim_cell_name((pcsim_cell_type)t), (long long)q->count[t]);
  printf("\n%-28s %12s\n", "boundary", "faces");
  for (int p = 0; p < view->num_patches; p++)
    printf("  %-26s %12lld\n", view->patch_name[p], (long long)view->patch_size_global[p]);
  printf("\n%-28s %12.6g m^%d\n", "volume", q->volume, view->dim);
  printf("%-28s %12.4g m to %.4g m\n", "cell size", q->size_min, q->size_max);
  printf("%-28s %12.1f MB\n", "memory", memory / 1e6);
  printf("\n%-28s %12s %12s %12s\n", "quality", "min", "mean", "max");
  print_measure("non-orthogonality (deg)", &q->non_orthogonality);
  print_measure("skewness", &q->skewness);
  print_measure("volume ratio", &q->volume_ratio);
  print_measure("aspect ratio", &q->aspect_ratio);
  printf("\n%-28s %12s\n", "worst", "value");
  print_worst("non-orthogonality (deg)", &q->non_orthogonality);
  print_worst("skewness", &q->skewness);
  print_worst("volume ratio", &q->volume_ratio);
  print_worst("aspect ratio", &q->aspect_ratio);
}

/* The folder given by -o, or the run folder of the case. It may hold a run: only mesh.png and mesh-zoom.png
 * are written into it.
 */
static pcsim_status choose_folder(const char *wanted, const char *case_path, char **folder) {
  if (wanted) PCSIM_TRY(cli_folder_parent(wanted));
  PCSIM_TRY(wanted ? pcsim_strdup(wanted, folder) : cli_folder_default(case_path, folder));
  return pcsim_folder_make(*folder);
}

static pcsim_status make(cli_session *s, const char *path, const cli_list *sets, const char *wanted,
                         const char *msh) {
  cli *c = s->c;
  char *folder = NULL, *temporary = NULL, raw[4200] = "";
  pcsim_picture *picture = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(cli_refuse_network(c, path, "it draws points of its domain and has no mesh"));
  PCSIM_TRY(cli_session_read(c, path, sets, s));
  if (c->rank == 0) status = choose_folder(wanted, path, &folder);
  if (c->rank == 0 && status == PCSIM_OK) status = pcsim_temporary_make(true, &temporary);
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  if (temporary) snprintf(raw, sizeof raw, "%s/mesh.raw", temporary);
  PCSIM_GOTO(cli_session_mesh(s, 1, raw, false, msh), status, done);
  double mine = (double)pcsim_memory_used(), memory = 0;
  MPI_Allreduce(&mine, &memory, 1, MPI_DOUBLE, MPI_SUM, c->comm);
  if (c->rank == 0) print_quality(s, memory);
  pcsim_picture_options options = {.title = "mesh", .width = 1600, .edges = true};
  PCSIM_GOTO(cli_picture(s, NULL, NULL, &options, folder ? folder : "", "mesh.png", &picture), status, done);
  if (c->rank == 0) printf("\npicture: %s/mesh.png\n", folder);
  const char *caption = cli_zoom(s->mesh, options.window);
  if (caption) {
    pcsim_picture_destroy(&picture);
    options.title = "mesh, smallest cells";
    PCSIM_GOTO(cli_picture(s, NULL, NULL, &options, folder ? folder : "", "mesh-zoom.png", &picture), status,
               done);
    if (c->rank == 0) printf("picture: %s/mesh-zoom.png (%s)\n", folder, caption);
  }
  if (c->rank == 0 && msh) printf("Gmsh file: %s\n", msh);
done:
  pcsim_picture_destroy(&picture);
  cli_temporary_remove(&temporary);
  pcsim_free(&folder);
  return status;
}

pcsim_status cmd_mesh(cli *c, int argc, char **argv) {
  cli_list sets = {0};
  const char *folder = NULL, *msh = NULL, *path;
  const cli_option options[] = {{"--output", "-o", CLI_TEXT, &folder},
                                {"--msh", NULL, CLI_TEXT, &msh},
                                {"--set", NULL, CLI_LIST, &sets}};
  int n;
  PCSIM_TRY(cli_options_read("mesh", argc, argv, options, 3, "CASE", 1, 1, &path, &n));
  PCSIM_CHECK(!folder || *folder, PCSIM_ERR_CASE, "pcsim mesh: the folder after -o has no name");
  PCSIM_CHECK(!msh || *msh, PCSIM_ERR_CASE, "pcsim mesh: the file after --msh has no name");
  cli_log_start(c, CLI_LOG_LINES);
  cli_session session = {.c = c};
  pcsim_status status = make(&session, path, &sets, folder, msh);
  cli_session_close(&session);
  return status;
}
