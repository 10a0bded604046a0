/* SPDX-License-Identifier: BSD-2-Clause */
/* Log lines to the host's sink; clocks. */
#include <pcsim/base.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pcsim_log_sink log_sink;
static void *log_context;

void pcsim_log_set_sink(pcsim_log_sink sink, void *context) {
  log_sink = sink;
  log_context = context;
}

void pcsim_log(pcsim_log_level level, const char *fmt, ...) {
  if (!log_sink) return;
  char line[1024], *longer = NULL;
  va_list args;
  va_start(args, fmt);
  int size = vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  if (size >= (int)sizeof line) {
    va_start(args, fmt);
    if (vasprintf(&longer, fmt, args) < 0) longer = NULL; /* the cut line is better than none */
    va_end(args);
  }
  log_sink(log_context, level, longer ? longer : line);
  free(longer);
}

static double seconds(clockid_t clock) {
  struct timespec t;
  if (clock_gettime(clock, &t)) return 0;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double pcsim_time_wall(void) { return seconds(CLOCK_MONOTONIC); }
double pcsim_time_cpu(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }
