/* SPDX-License-Identifier: BSD-2-Clause */
/** @file log.c  Where lines go: terminal with a progress line, pipe with plain lines, log.txt of the run. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
  cli_log_mode mode;
  bool terminal; /* standard output is one */
  bool pending;  /* a progress line is on it */
  bool muted;    /* only warnings and errors pass */
  FILE *copy;
} state;

/* Cut to the terminal's width, or the line would wrap and could not be replaced. */
static void print_progress(const char *line) {
  struct winsize size;
  int width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col - 1 : 79;
  printf("\r\033[K%.*s", width, line);
  fflush(stdout);
  state.pending = true;
}

static void sink(void *context, pcsim_log_level level, const char *line) {
  (void)context;
  static const char *const prefix[] = {"error: ", "warning: ", "", ""};
  if (state.muted && level > PCSIM_LOG_WARNING) return;
  if (state.copy) {
    fprintf(state.copy, "%s%s\n", prefix[level], line);
    fflush(state.copy);
  }
  if (level <= PCSIM_LOG_WARNING) {
    cli_log_break();
    fprintf(stderr, "%s%s\n", prefix[level], line);
    return;
  }
  if (state.mode == CLI_LOG_QUIET) return;
  if (level == PCSIM_LOG_PROGRESS && state.terminal) {
    print_progress(line);
    return;
  }
  cli_log_break();
  printf("%s\n", line);
  fflush(stdout);
}

void cli_log_start(const cli *c, cli_log_mode mode) {
  state.mode = mode;
  state.terminal = !c->piped && isatty(STDOUT_FILENO) == 1;
  pcsim_log_set_sink(c->rank == 0 ? sink : NULL, NULL);
}

void cli_log_mute(bool muted) { state.muted = muted; }

pcsim_status cli_log_open(const char *path) {
  cli_log_close();
  state.copy = fopen(path, "a");
  PCSIM_CHECK(state.copy, PCSIM_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
  return PCSIM_OK;
}

void cli_log_close(void) {
  if (state.copy) fclose(state.copy);
  state.copy = NULL;
}

void cli_log_break(void) {
  if (!state.pending) return;
  printf("\n");
  fflush(stdout);
  state.pending = false;
}

void cli_print_failure(pcsim_status status) {
  cli_log_break();
  const char *message = pcsim_error_message();
  if (!*message) message = pcsim_status_text(status);
  /* A problem of a case starts with its place; everything else says who speaks. */
  const char *who = status == PCSIM_ERR_CASE ? "" : "pcsim: ";
  for (const char *line = message; *line;) {
    size_t length = strcspn(line, "\n");
    fprintf(stderr, "%s%.*s\n", who, (int)length, line);
    if (state.copy) fprintf(state.copy, "%s%.*s\n", who, (int)length, line);
    line += length + (line[length] == '\n');
  }
  if (pcsim_status_exit_code(status) < 5) return;
  const char *frame;
  for (size_t i = 0; (frame = pcsim_error_trace(i)); i++) fprintf(stderr, "  in %s\n", frame);
}

/* --------------------------------------------------------------- signals */

static volatile sig_atomic_t arrived;

static void remember(int signal_number) { arrived = signal_number; }

void cli_signals_catch(void) {
  struct sigaction action = {.sa_handler = remember, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int cli_signals_any(MPI_Comm comm) {
  int mine = arrived, any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm);
  return any;
}
