/* SPDX-License-Identifier: BSD-2-Clause */
/** @file commands.c  The command table, help and version. */
#include "cli.h"

#include <string.h>

static const cli_command table[] = {
    {"run", cmd_run, "CASE [-o DIR] [--set path=value]... [--resume | --force] [--steps N]",
     "solve a case: mesh, flow, files, pictures, report"},
    {"check", cmd_check, "CASE [--set path=value]...",
     "read, complete and validate a case, mesh included; print it with every default; run nothing"},
    {"new", cmd_new, "KIND [FILE]", "write a commented starter case (without FILE: print it)"},
    {"list", cmd_list, "[TABLE]", "what can be named in a case"},
    {"mesh", cmd_mesh, "CASE [-o DIR] [--msh FILE] [--set path=value]...",
     "only the mesh: its quality and a picture of it"},
    {"explain", cmd_explain,
     "CASE | EXPR... [--unknowns u,v] [--coordinates x,y,t] [--parameters nu] [-- -EXPR]",
     "what equations become: the program before and after it is simplified, with counts"},
    {"sample", cmd_sample, "DIR --at FILE.csv [-o FILE.csv]", "fields of a run at points"},
    {"compare", cmd_compare, "DIR REFERENCE.yaml", "a run against reference values or curves"},
    {"report", cmd_report, "DIR | --table DIR...",
     "write a run's report.html again, or print a table of runs"},
    {"doctor", cmd_doctor, "", "versions and abilities of this build and machine"},
    {"help", cmd_help, "[COMMAND]", "this text"},
    {"version", cmd_version, "", "the version"},
};

const cli_command *cli_commands(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}

pcsim_status cmd_help(cli *c, int argc, char **argv) {
  size_t n;
  const cli_command *commands = cli_commands(&n);
  if (argc > 0) {
    for (size_t i = 0; i < n; i++)
      if (!strcmp(argv[0], commands[i].name)) {
        if (c->rank == 0)
          printf("usage: pcsim %s %s\n\n%s\n", commands[i].name, commands[i].usage, commands[i].help);
        return PCSIM_OK;
      }
    const char *names[32];
    for (size_t i = 0; i < n; i++) names[i] = commands[i].name;
    const char *near = pcsim_nearest(argv[0], names, n);
    PCSIM_FAIL(PCSIM_ERR_CASE, "no command '%s'%s%s%s; `pcsim help` lists them", argv[0],
               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  if (c->rank != 0) return PCSIM_OK;
  printf("pcsim %s: from a case file to a solution and to how well it agrees with what is known\n\n",
         PCSIM_VERSION);
  for (size_t i = 0; i < n; i++)
    printf("  pcsim %s %s\n      %s\n", commands[i].name, commands[i].usage, commands[i].help);
  printf("\n`mpirun -n N pcsim run ...` works the same. Exit codes: 0 done; 1 a reference was missed; 2 the "
         "case or\n"
         "the call is wrong; 3 not converged or diverged (results kept); 4 files, memory or another part of "
         "the\n"
         "environment failed; 5 internal error.\n");
  return PCSIM_OK;
}

pcsim_status cmd_version(cli *c, int argc, char **argv) {
  (void)argc;
  (void)argv;
  if (c->rank == 0) printf("pcsim %s\n", PCSIM_VERSION);
  return PCSIM_OK;
}
