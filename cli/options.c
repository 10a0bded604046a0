/* SPDX-License-Identifier: BSD-2-Clause */
/** @file options.c  Options of a command by a table; a wrong one is answered with the nearest right one. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const cli_option *find(const cli_option *options, size_t n, const char *word, size_t length) {
  for (size_t i = 0; i < n; i++) {
    if (strlen(options[i].name) == length && !strncmp(options[i].name, word, length)) return &options[i];
    if (options[i].letter && strlen(options[i].letter) == length && !strncmp(options[i].letter, word, length))
      return &options[i];
  }
  return NULL;
}

static pcsim_status unknown(const char *command, const char *word, size_t length, const cli_option *options,
                            size_t n) {
  const char *names[32];
  char text[64], all[512] = "";
  for (size_t i = 0; i < n && i < 32; i++) {
    names[i] = options[i].name;
    size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", options[i].name);
  }
  snprintf(text, sizeof text, "%.*s", (int)length, word);
  const char *near = pcsim_nearest(text, names, n);
  if (near) PCSIM_FAIL(PCSIM_ERR_CASE, "pcsim %s: no option '%s'; did you mean '%s'?", command, text, near);
  PCSIM_FAIL(PCSIM_ERR_CASE, "pcsim %s: no option '%s'; %s%s", command, text,
             n ? "expected one of " : "it takes none", all);
}

static pcsim_status assign(const char *command, const cli_option *option, const char *value) {
  if (option->kind == CLI_TEXT) {
    *(const char **)option->target = value;
  } else if (option->kind == CLI_NUMBER) {
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    PCSIM_CHECK(errno == 0 && end != value && !*end && number >= 0, PCSIM_ERR_CASE,
                "pcsim %s: '%s' after %s is not a whole number of at least 0", command, value, option->name);
    *(int64_t *)option->target = number;
  } else {
    cli_list *list = option->target;
    PCSIM_CHECK(list->count < (int)(sizeof list->item / sizeof *list->item), PCSIM_ERR_CASE,
                "pcsim %s: more than %zu times %s", command, sizeof list->item / sizeof *list->item,
                option->name);
    list->item[list->count++] = value;
  }
  return PCSIM_OK;
}

pcsim_status cli_options_read(const char *command, int argc, char **argv, const cli_option *options, size_t n,
                              const char *what, int least, int most, const char **words, int *num_words) {
  bool only_words = false;
  *num_words = 0;
  for (int i = 0; i < argc; i++) {
    const char *arg = argv[i];
    if (only_words || arg[0] != '-' || !arg[1]) {
      PCSIM_CHECK(*num_words < most, PCSIM_ERR_CASE, "pcsim %s: unexpected '%s'; expected %s", command, arg,
                  most ? what : "no argument");
      words[(*num_words)++] = arg;
      continue;
    }
    if (!strcmp(arg, "--")) {
      only_words = true;
      continue;
    }
    const char *equals = arg[1] == '-' ? strchr(arg, '=') : NULL;
    size_t length = equals ? (size_t)(equals - arg) : strlen(arg);
    const cli_option *option = find(options, n, arg, length);
    if (!option) return unknown(command, arg, length, options, n);
    if (option->kind == CLI_FLAG) {
      PCSIM_CHECK(!equals, PCSIM_ERR_CASE, "pcsim %s: %s takes no value", command, option->name);
      *(bool *)option->target = true;
      continue;
    }
    PCSIM_CHECK(equals || i + 1 < argc, PCSIM_ERR_CASE, "pcsim %s: %s needs a value", command, option->name);
    PCSIM_TRY(assign(command, option, equals ? equals + 1 : argv[++i]));
  }
  PCSIM_CHECK(*num_words >= least, PCSIM_ERR_CASE, "pcsim %s: %s is missing; `pcsim help %s` shows the call",
              command, what, command);
  return PCSIM_OK;
}
