/* SPDX-License-Identifier: BSD-2-Clause */
/** @file main.c  Start of the program: environment, MPI, the command, one exit code for all ranks. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* OpenBLAS starts one thread a core when it is loaded, before main, and they only cost here: parallelism is
 * MPI's. What it reads must stand in the environment before the program is loaded, so start once more. A
 * value that the user has set stays. */
static void one_thread_a_rank(char **argv) {
  static const char *const names[] = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"};
  bool changed = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!getenv(names[i]) && setenv(names[i], "1", 1) == 0) changed = true;
  if (changed) execv("/proc/self/exe", argv); /* where that fails, run with the threads */
}

/* Before MPI starts: it may set the same variables for a program that nobody started in parallel. */
static bool under_launcher(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return true;
  return false;
}

static pcsim_status dispatch(cli *c, int argc, char **argv) {
  size_t n;
  const cli_command *commands = cli_commands(&n);
  const char *name = argc > 1 ? argv[1] : "help";
  if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) name = "version";
  for (size_t i = 0; i < n; i++)
    if (!strcmp(name, commands[i].name)) {
      for (int k = 2; k < argc; k++)
        if (!strcmp(argv[k], "--help") || !strcmp(argv[k], "-h")) return cmd_help(c, 1, &argv[1]);
      return commands[i].function(c, argc > 2 ? argc - 2 : 0, argv + 2);
    }
  const char *known[32];
  for (size_t i = 0; i < n; i++) known[i] = commands[i].name;
  const char *near = pcsim_nearest(name, known, n);
  PCSIM_FAIL(PCSIM_ERR_CASE, "no command '%s'%s%s%s; `pcsim help` lists them", name,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int main(int argc, char **argv) {
  one_thread_a_rank(argv);
  bool launched = under_launcher();
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
    fprintf(stderr, "pcsim: MPI does not start\n");
    return 4;
  }
  cli c = {.comm = MPI_COMM_WORLD, .piped = launched};
  MPI_Comm_rank(c.comm, &c.rank);
  MPI_Comm_size(c.comm, &c.ranks);
  cli_log_start(&c, CLI_LOG_QUIET);

  pcsim_status status = pcsim_status_agree(c.comm, dispatch(&c, argc, argv));
  cli_log_break();
  int code = status == PCSIM_OK ? c.exit_code : pcsim_status_exit_code(status);
  if (c.rank == 0 && status != PCSIM_OK) cli_print_failure(status);
  /* Data that cannot be delivered is a failure too (a full disk behind a redirection). */
  if (c.rank == 0 && (fflush(stdout) != 0 || ferror(stdout)) && code == 0) {
    fprintf(stderr, "pcsim: standard output cannot be written\n");
    code = 4;
  }
  cli_log_close();
  pcsim_log_set_sink(NULL, NULL);
  MPI_Bcast(&code, 1, MPI_INT, 0, c.comm);
  if (pcsim_solver_end() != PCSIM_OK && code == 0) code = 5;
  MPI_Finalize();
  return code;
}
