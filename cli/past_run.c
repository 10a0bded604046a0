/* SPDX-License-Identifier: BSD-2-Clause */
/** @file past_run.c  A run folder opened again, and the text of the case that is kept in it. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ a past run */

static pcsim_status load_state(cli_session *s, const char *folder) {
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  pcsim_checkpoint info = {0};
  char *path = NULL;
  double *values = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_path_join(folder, "checkpoint.h5", &path), status, done);
  PCSIM_GOTO(cli_solver_create(s, -1), status, done);
  info.width = cli_solver_width(s);
  status = pcsim_alloc((size_t)(view->num_cells * info.width), sizeof *values, &values);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  PCSIM_GOTO(pcsim_checkpoint_read(s->mesh, path, &info, values), status, done);
  if (strcmp(info.case_hash, s->hash) != 0)
    PCSIM_GOTO(pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__,
                               "%s belongs to another case or mesh than the rest of the folder", path),
               status, done);
  PCSIM_GOTO(cli_solver_set_state(s, values, info.scalars), status, done);
done:
  pcsim_free(&values);
  pcsim_free(&path);
  return status;
}

/* A training leaves no mesh and no solver's state. */
static pcsim_status refuse_training(const char *folder) {
  char path[4200];
  snprintf(path, sizeof path, "%s/model.h5", folder);
  PCSIM_CHECK(!pcsim_file_exists(path), PCSIM_ERR_CASE,
              "%s: the run trained a network; its fields are in fields.hdf, the network in model.h5, which "
              "pcsim_program_load reads",
              folder);
  return PCSIM_OK;
}

pcsim_status cli_session_open_run(cli *c, const char *folder, cli_session *s) {
  char *path = NULL, *raw = NULL;
  char case_hash[65] = "";
  pcsim_status status = cli_folder_hash(folder, case_hash);
  if (status == PCSIM_OK) status = refuse_training(folder);
  *s = (cli_session){.c = c};
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  PCSIM_GOTO(pcsim_path_join(folder, "case.yaml", &path), status, done);
  PCSIM_GOTO(pcsim_path_join(folder, "mesh.raw", &raw), status, done);
  PCSIM_GOTO(cli_session_read(c, path, NULL, s), status, done);
  status = PCSIM_OK;
  if (c->rank == 0 && !pcsim_file_exists(raw))
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__,
                             "%s: the mesh of the run is missing; run the case again", raw);
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  memcpy(s->case_hash, case_hash, sizeof case_hash); /* of the case before it was completed */
  PCSIM_GOTO(cli_session_mesh(s, 1, raw, true, NULL), status, done);
  PCSIM_GOTO(cli_session_problem(s), status, done);
  PCSIM_GOTO(pcsim_solver_start(c->comm), status, done);
  PCSIM_GOTO(load_state(s, folder), status, done);
done:
  pcsim_free(&path);
  pcsim_free(&raw);
  return status;
}

pcsim_status cli_session_restore(cli_session *s, const pcsim_report *summary) {
  const int followed = pcsim_monitors_num_followed(s->monitors);
  for (int i = 0; i < summary->num_quantities; i++) {
    const pcsim_quantity *q = &summary->quantities[i], *own;
    pcsim_monitors_quantities(s->monitors, &own);
    bool evaluated = !strncmp(q->name, "error.", 6);
    for (int k = 0; k < followed; k++) evaluated = evaluated || !strcmp(own[k].name, q->name);
    if (!evaluated) PCSIM_TRY(pcsim_monitors_put(s->monitors, q->name, q->unit, q->value));
  }
  return PCSIM_OK;
}

/* ---------------------------------------------------- the completed case */

/* Append `text` to the path of keys; a sequence's elements are numbers. */
static pcsim_status longer_path(const char *path, const char *key, int64_t i, char **longer) {
  size_t size = strlen(path) + (key ? strlen(key) : 0) + 32;
  PCSIM_TRY(pcsim_alloc(size, 1, longer));
  if (key) snprintf(*longer, size, "%s%s%s", path, *path ? "." : "", key);
  else snprintf(*longer, size, "%s.%lld", path, (long long)i);
  return PCSIM_OK;
}

static pcsim_status set_file(pcsim_tree *tree, const char *path, const char *file) {
  size_t size = strlen(path) + 2 * strlen(file) + 4, used;
  char *text = NULL;
  PCSIM_TRY(pcsim_alloc(size, 1, &text));
  used = (size_t)snprintf(text, size, "%s=\"", path);
  for (const char *p = file; *p; p++) {
    if (*p == '"' || *p == '\\') text[used++] = '\\';
    text[used++] = *p;
  }
  text[used] = '"';
  pcsim_status status = pcsim_tree_set(tree, text);
  pcsim_free(&text);
  return status;
}

static bool names_file(const char *path, const char *key) {
  return !strcmp(key, "file") || !strcmp(key, "table") ||
         (!strcmp(key, "run") && (!strcmp(path, "initial") || !strncmp(path, "reference.", 10)));
}

/* Files named relative to the case are named absolutely in a run folder, from where they are read again. */
static pcsim_status make_absolute(pcsim_tree *tree, const pcsim_node *node, const char *path) {
  pcsim_status status = PCSIM_OK;
  for (int64_t i = 0; status == PCSIM_OK && i < pcsim_node_size(node); i++) {
    const pcsim_node *child = pcsim_node_child(node, i);
    const char *key = pcsim_node_key(node, i);
    char *below = NULL, *file = NULL, *whole = NULL;
    PCSIM_TRY(longer_path(path, key, i, &below));
    if (pcsim_node_get_kind(child) != PCSIM_NODE_SCALAR) {
      status = make_absolute(tree, child, below);
    } else if (key && names_file(path, key) && pcsim_node_text(child)[0] &&
               pcsim_node_text(child)[0] != '/') {
      status = pcsim_node_path(child, &file);
      if (status == PCSIM_OK) whole = realpath(file, NULL);
      if (whole) status = set_file(tree, below, whole); /* what is missing its reader has told already */
    }
    free(whole);
    pcsim_free(&file);
    pcsim_free(&below);
  }
  return status;
}

pcsim_status cli_session_text(const cli_session *s, char **text) {
  PCSIM_TRY(make_absolute(s->tree, pcsim_tree_root(s->tree), ""));
  return pcsim_tree_write(s->tree, text);
}
