/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_run.c  pcsim run CASE */
#include "cli.h"

pcsim_status cmd_run(cli *c, int argc, char **argv) {
  cli_run run = {.steps = -1};
  const cli_option options[] = {{"--output", "-o", CLI_TEXT, &run.folder},
                                {"--set", NULL, CLI_LIST, &run.sets},
                                {"--resume", NULL, CLI_FLAG, &run.rules.resume},
                                {"--force", NULL, CLI_FLAG, &run.rules.force},
                                {"--steps", NULL, CLI_NUMBER, &run.steps}};
  int n;
  PCSIM_TRY(cli_options_read("run", argc, argv, options, sizeof options / sizeof *options, "CASE", 1, 1,
                             &run.case_path, &n));
  PCSIM_CHECK(!(run.rules.resume && run.rules.force), PCSIM_ERR_CASE,
              "pcsim run: --resume goes on with a run and --force starts it again; give one of them");
  PCSIM_CHECK(!run.folder || *run.folder, PCSIM_ERR_CASE, "pcsim run: the folder after -o has no name");
  cli_log_start(c, CLI_LOG_LINES);
  return cli_pipeline(c, &run);
}
