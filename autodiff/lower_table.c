/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of tables: two numbers a line, separated by a comma, a semicolon or blanks; '#' starts a comment, and
 * the first line may hold names. */
#include "lower.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_separator(char c) { return c == ',' || c == ';' || c == ' ' || c == '\t'; }

static char *skip(char *at) {
  while (is_separator(*at) || *at == '\r') at++;
  return at;
}

/** One finite number followed by a separator or the end of the line. */
static bool read_number(char **at, double *value) {
  char *end;
  *at = skip(*at);
  *value = strtod(*at, &end);
  if (end == *at || (*end && !is_separator(*end) && *end != '\r') || !isfinite(*value)) return false;
  *at = end;
  return true;
}

static pcsim_status add_point(const char *path, int line, char *text, int *n, double **x, double **y) {
  char *at = text;
  double a, b;
  if (!read_number(&at, &a) || !read_number(&at, &b) || *skip(at))
    PCSIM_FAIL(PCSIM_ERR_CASE, "%s:%d: '%.60s' is no point of a table; expected two numbers", path, line,
               text);
  if (*n && a <= (*x)[*n - 1])
    PCSIM_FAIL(PCSIM_ERR_CASE, "%s:%d: %g comes after %g; expected ascending numbers in the first column",
               path, line, a, (*x)[*n - 1]);
  if (!(*n & (*n - 1))) {
    const size_t room = *n ? 2 * (size_t)*n : 1;
    PCSIM_TRY(pcsim_realloc(room, sizeof **x, x));
    PCSIM_TRY(pcsim_realloc(room, sizeof **y, y));
  }
  (*x)[*n] = a;
  (*y)[(*n)++] = b;
  return PCSIM_OK;
}

static pcsim_status read_lines(const char *path, char *data, int *n, double **x, double **y) {
  bool first = true;
  int line = 1;
  for (char *next = data; next; line++) {
    char *text = next, *end = strchr(text, '\n');
    next = end ? end + 1 : NULL;
    if (end) *end = 0;
    if ((end = strchr(text, '#'))) *end = 0;
    if ((end = strchr(text, '\r'))) *end = 0;
    text = skip(text);
    if (!*text) continue;
    const bool heading = first && (isalpha((unsigned char)*text) || *text == '"');
    first = false;
    if (!heading) PCSIM_TRY(add_point(path, line, text, n, x, y));
  }
  PCSIM_CHECK(*n >= 2, PCSIM_ERR_CASE, "%s has %d point%s; expected a table of two or more", path, *n,
              *n == 1 ? "" : "s");
  return PCSIM_OK;
}

pcsim_status lower_table_read(const char *path, int *n, double **x, double **y) {
  char *data = NULL;
  size_t size;
  *n = 0;
  *x = *y = NULL;
  pcsim_status status = pcsim_file_read(path, 64 << 20, &data, &size);
  if (status == PCSIM_ERR_IO) { /* the case names it */
    char reason[512];
    snprintf(reason, sizeof reason, "%s", pcsim_error_message());
    status = pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__, "%s", reason);
  }
  if (status == PCSIM_OK) status = read_lines(path, data, n, x, y);
  pcsim_free(&data);
  if (status != PCSIM_OK) {
    pcsim_free(x);
    pcsim_free(y);
  }
  return status;
}
