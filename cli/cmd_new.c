/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_new.c  pcsim new KIND [FILE]: a commented starter case. */
#include "cli.h"

#include <string.h>

static const cli_starter *find(const char *name) {
  size_t n;
  const cli_starter *starters = cli_starters(&n);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(name, starters[i].name)) return &starters[i];
  return NULL;
}

static pcsim_status unknown(const char *name) {
  size_t n;
  const char *names[16], *near;
  const cli_starter *starters = cli_starters(&n);
  for (size_t i = 0; i < n; i++) names[i] = starters[i].name;
  near = pcsim_nearest(name, names, n);
  PCSIM_FAIL(PCSIM_ERR_CASE, "pcsim new: no kind '%s'%s%s%s; `pcsim new` names them", name,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

pcsim_status cmd_new(cli *c, int argc, char **argv) {
  const char *words[2];
  int n;
  PCSIM_TRY(cli_options_read("new", argc, argv, NULL, 0, "KIND [FILE]", 0, 2, words, &n));
  if (n == 0) {
    size_t count;
    const cli_starter *starters = cli_starters(&count);
    for (size_t i = 0; c->rank == 0 && i < count; i++)
      printf("pcsim new %-8s %s\n", starters[i].name, starters[i].help);
    return PCSIM_OK;
  }
  const cli_starter *starter = find(words[0]);
  if (!starter) return unknown(words[0]);
  if (c->rank != 0) return PCSIM_OK;
  if (n == 1) {
    fputs(starter->text, stdout);
    return PCSIM_OK;
  }
  PCSIM_CHECK(!pcsim_file_exists(words[1]), PCSIM_ERR_CASE, "pcsim new: %s exists and is not overwritten",
              words[1]);
  PCSIM_TRY(pcsim_file_write(words[1], starter->text, strlen(starter->text)));
  printf("%s: a case to change; `pcsim run %s` solves it\n", words[1], words[1]);
  return PCSIM_OK;
}
