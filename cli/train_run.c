/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train_run.c  A run of the solver as the reference of a training. */
#include "train_reference.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool cli_run_there(const char *path) { return is_folder(path) || pcsim_file_exists(path); }

/* ------------------------------------------------------------------------- the run */

/* Hash of a case for the solver. */
static pcsim_status hash_of(cli *c, const char *path, char hash[65]) {
  cli_session s;
  PCSIM_TRY(cli_refuse_network(c, path, "the reference of a training is a case for the solver"));
  pcsim_status status = cli_session_read(c, path, NULL, &s);
  if (status == PCSIM_OK) memcpy(hash, s.case_hash, 65);
  cli_session_close(&s);
  return status;
}

/* The folder in which a case is run is made, or completed, unless it is there. */
static pcsim_status solve(cli *c, const char *path, const char *folder) {
  char wanted[65], found[65] = "", summary[4200];
  cli_run run = {.case_path = path, .folder = folder, .steps = -1};
  snprintf(summary, sizeof summary, "%s/summary.json", folder);
  PCSIM_TRY(hash_of(c, path, wanted));
  if (is_folder(folder)) {
    PCSIM_TRY(cli_folder_hash(folder, found));
    PCSIM_CHECK(!strcmp(found, wanted), PCSIM_ERR_CASE,
                "%s holds a run of another case than %s, or of an older one; `pcsim run %s --force` makes it "
                "again",
                folder, path, path);
    if (pcsim_file_exists(summary)) return PCSIM_OK;
    run.rules.resume = true;
  }
  pcsim_log(PCSIM_LOG_INFO, "reference: %s is solved first", path);
  PCSIM_TRY(cli_pipeline(c, &run));
  const int code = c->exit_code;
  c->exit_code = CLI_DONE;
  PCSIM_CHECK(code == CLI_DONE || code == CLI_MISSED, PCSIM_ERR_CASE,
              "the reference %s did not converge (%s)", path, folder);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------ its values */

static pcsim_status find_scalars(const pcsim_fields *fields, const char *folder, const char *const *names,
                                 int n, const pcsim_scalar **scalar) {
  for (int k = 0; k < n; k++) {
    scalar[k] = NULL;
    for (int i = 0; i < fields->num; i++)
      if (!strcmp(fields->scalar[i].name, names[k])) scalar[k] = &fields->scalar[i];
    PCSIM_CHECK(scalar[k], PCSIM_ERR_CASE, "the run in %s has no unknown `%s`", folder, names[k]);
  }
  return PCSIM_OK;
}

/* Coordinates of all points but those of space. */
static pcsim_status held_coordinates(const pcsim_training_view *v, const pcsim_fields *fields,
                                     const char *folder, const double *held, double *point) {
  for (int k = v->num_space; k < v->num_coordinates; k++) {
    point[k] = k == v->time && isnan(held[k]) ? fields->time : held[k];
    PCSIM_CHECK(point[k] >= v->range[k][0] - 1e-9 * fabs(v->range[k][1]) &&
                    point[k] <= v->range[k][1] + 1e-9 * fabs(v->range[k][1]),
                PCSIM_ERR_CASE, "the run in %s has %s = %g, the training %g to %g", folder, v->coordinate[k],
                point[k], v->range[k][0], v->range[k][1]);
  }
  return PCSIM_OK;
}

static pcsim_status take(const pcsim_fields *fields, const char *folder, pcsim_training *t,
                         const char *const *names, int n, const double *held, train_table *table) {
  const pcsim_training_view *v = pcsim_training_get(t);
  const pcsim_mesh_view *mesh = pcsim_mesh_get(fields->mesh);
  const pcsim_scalar *scalar[TRAIN_PARTS];
  const size_t cells = (size_t)mesh->num_cells, d = (size_t)v->num_coordinates;
  double point[64];
  int64_t rows = 0;
  PCSIM_CHECK(mesh->dim == v->num_space, PCSIM_ERR_CASE, "the run in %s is in %dD, the training in %dD",
              folder, mesh->dim, v->num_space);
  PCSIM_TRY(find_scalars(fields, folder, names, n, scalar));
  PCSIM_TRY(held_coordinates(v, fields, folder, held, point));
  PCSIM_TRY(pcsim_alloc(cells * d, sizeof *table->points, &table->points));
  PCSIM_TRY(pcsim_alloc(cells * (size_t)n, sizeof *table->values, &table->values));
  PCSIM_TRY(pcsim_alloc(cells, sizeof *table->weight, &table->weight));
  for (int64_t c = 0; c < mesh->num_cells; c++) {
    memcpy(point, mesh->cell_centre + 3 * c, (size_t)v->num_space * sizeof *point);
    if (!pcsim_training_inside(t, point)) continue;
    memcpy(table->points + (size_t)rows * d, point, d * sizeof *point);
    table->weight[rows] = mesh->cell_volume[c];
    for (int k = 0; k < n; k++)
      table->values[k * mesh->num_cells + rows] = scalar[k]->value[scalar[k]->stride * c];
    rows++;
  }
  PCSIM_CHECK(rows > 0, PCSIM_ERR_CASE, "no cell of the run in %s lies in the domain of the training",
              folder);
  for (int k = 1; k < n; k++)
    memmove(table->values + k * rows, table->values + k * mesh->num_cells, (size_t)rows * sizeof(double));
  table->rows = rows;
  if (rows < mesh->num_cells)
    pcsim_log(PCSIM_LOG_INFO, "reference: %lld of %lld cells of %s lie in the domain", (long long)rows,
              (long long)mesh->num_cells, folder);
  return PCSIM_OK;
}

pcsim_status cli_train_run_table(cli *c, const char *path, pcsim_training *training, const char *const *names,
                                 int n, const double *held, train_table *table) {
  char *folder = NULL;
  cli_session past = {0};
  pcsim_fields fields;
  pcsim_status status = PCSIM_OK;
  if (is_folder(path)) status = pcsim_strdup(path, &folder);
  else {
    PCSIM_GOTO(cli_folder_default(path, &folder), status, done);
    PCSIM_GOTO(solve(c, path, folder), status, done);
  }
  cli_log_mute(true);
  status = cli_session_open_run(c, folder, &past);
  cli_log_mute(false);
  if (status == PCSIM_OK) status = cli_solver_fields(&past, &fields);
  if (status == PCSIM_OK) status = take(&fields, folder, training, names, n, held, table);
done:
  cli_session_close(&past);
  pcsim_free(&folder);
  if (status != PCSIM_OK) train_table_free(table);
  return status;
}
