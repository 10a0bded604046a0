/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_check.c  pcsim check CASE: everything but the solve. */
#include "cli.h"

static pcsim_status check(cli_session *s, const char *path, const cli_list *sets) {
  char *folder = NULL, raw[4200] = "", *text = NULL;
  cli *c = s->c;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(cli_session_read(c, path, sets, s));
  if (s->training) {
    if (c->rank == 0) fputs(s->text, stdout);
    return PCSIM_OK;
  }
  PCSIM_TRY(cli_start_check(s));
  status = c->rank == 0 ? pcsim_temporary_make(true, &folder) : PCSIM_OK;
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  if (folder) snprintf(raw, sizeof raw, "%s/mesh.raw", folder);
  PCSIM_GOTO(cli_session_mesh(s, 1, raw, false, NULL), status, done);
  PCSIM_GOTO(cli_session_problem(s), status, done);
  if (c->rank == 0) {
    status = pcsim_tree_write(s->tree, &text);
    if (status == PCSIM_OK) fputs(text, stdout);
  }
done:
  pcsim_free(&text);
  cli_temporary_remove(&folder);
  return status;
}

pcsim_status cmd_check(cli *c, int argc, char **argv) {
  cli_list sets = {0};
  const cli_option options[] = {{"--set", NULL, CLI_LIST, &sets}};
  const char *path;
  int n;
  PCSIM_TRY(cli_options_read("check", argc, argv, options, 1, "CASE", 1, 1, &path, &n));
  cli_session session = {.c = c};
  pcsim_status status = check(&session, path, &sets);
  cli_session_close(&session);
  return status;
}
