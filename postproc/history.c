/* SPDX-License-Identifier: BSD-2-Clause */
/* history.csv: one row a step, each on disk (as far as the system is concerned) before the next step begins.
 */
#include "text.h"

#include <errno.h>
#include <math.h>
#include <pcsim/postproc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pcsim_history {
  FILE *file;
  char *path;
  int num_columns;
  char **names;
  int64_t num_rows, capacity;
  double *values; /* [num_rows][num_columns] */
};

static void history_free(pcsim_history **history) {
  pcsim_history *h = *history;
  if (!h) return;
  if (h->file) fclose(h->file);
  for (int i = 0; h->names && i < h->num_columns; i++) pcsim_free(&h->names[i]);
  pcsim_free(&h->names);
  pcsim_free(&h->values);
  pcsim_free(&h->path);
  pcsim_free(history);
}

static pcsim_status keep_row(pcsim_history *h, const double *values) {
  if (h->num_rows == h->capacity) {
    int64_t capacity = h->capacity ? h->capacity * 2 : 256;
    PCSIM_TRY(pcsim_realloc((size_t)(capacity * h->num_columns), sizeof *h->values, &h->values));
    h->capacity = capacity;
  }
  memcpy(h->values + h->num_rows++ * h->num_columns, values, (size_t)h->num_columns * sizeof *values);
  return PCSIM_OK;
}

static void add_row(text_buffer *text, const double *values, int n) {
  for (int i = 0; i < n; i++) {
    char number[32];
    text_number(values[i], number);
    text_add(text, "%s%s", i ? "," : "", number);
  }
  text_add(text, "\n");
}

/* Names with a comma, quote or newline are quoted as RFC 4180 wants it. */
static void add_header(text_buffer *text, const pcsim_history *h) {
  for (int i = 0; i < h->num_columns; i++) {
    if (i) text_add(text, ",");
    if (!strpbrk(h->names[i], ",\"\r\n")) {
      text_add(text, "%s", h->names[i]);
      continue;
    }
    text_add(text, "\"");
    for (const char *s = h->names[i]; *s; s++) text_add(text, *s == '"' ? "\"\"" : "%c", *s);
    text_add(text, "\"");
  }
  text_add(text, "\n");
}

/* A whole row: exactly n numbers up to the newline. */
static bool parse_row(const char *line, const char *end, int n, double *values) {
  for (int i = 0; i < n; i++) {
    char *stop;
    if (line >= end || *line == ' ' || *line == '\n') return false;
    values[i] = strtod(line, &stop);
    if (stop == line || stop > end || *stop != (i + 1 < n ? ',' : '\n')) return false;
    line = stop + 1;
  }
  return true;
}

/* Rows before `step` of an earlier run. A last row without its newline was cut off by a kill and is dropped;
 * any other row that does not parse means that this is not our file. */
static pcsim_status take_old_rows(pcsim_history *h, const char *data, int64_t step) {
  text_buffer header = {0};
  add_header(&header, h);
  pcsim_status status = header.status;
  bool same = status == PCSIM_OK && !strncmp(data, header.data, header.size);
  size_t start = header.size;
  text_free(&header);
  if (status != PCSIM_OK) return status;
  PCSIM_CHECK(same || !strchr(data, '\n'), PCSIM_ERR_IO,
              "'%s' has other columns than this run; use --force to start anew", h->path);
  if (!same) return PCSIM_OK;
  double *row = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)h->num_columns, sizeof *row, &row));
  int line_number = 2;
  for (const char *line = data + start, *end; (end = strchr(line, '\n')) != NULL;
       line = end + 1, line_number++) {
    if (!parse_row(line, end + 1, h->num_columns, row)) {
      status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "%s:%d: not a row of %d numbers",
                               h->path, line_number, h->num_columns);
      break;
    }
    if (!(row[0] < (double)step)) continue;
    status = keep_row(h, row);
    if (status != PCSIM_OK) break;
  }
  pcsim_free(&row);
  return status;
}

/* Header and kept rows, then open for more. */
static pcsim_status start_file(pcsim_history *h) {
  text_buffer text = {0};
  add_header(&text, h);
  for (int64_t i = 0; i < h->num_rows; i++) add_row(&text, h->values + i * h->num_columns, h->num_columns);
  pcsim_status status = text.status;
  if (status == PCSIM_OK) status = pcsim_file_write(h->path, text.data, text.size);
  text_free(&text);
  if (status != PCSIM_OK) return status;
  h->file = fopen(h->path, "ab");
  PCSIM_CHECK(h->file, PCSIM_ERR_IO, "cannot write '%s': %s", h->path, strerror(errno));
  return PCSIM_OK;
}

static pcsim_status history_make(pcsim_history *h, const char *path, const char *const *columns, int n,
                                 int64_t resume_step) {
  PCSIM_CHECK(n > 0, PCSIM_ERR_ARG, "a history without columns");
  h->num_columns = n;
  PCSIM_TRY(pcsim_strdup(path, &h->path));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *h->names, &h->names));
  for (int i = 0; i < n; i++) PCSIM_TRY(pcsim_strdup(columns[i], &h->names[i]));
  if (resume_step >= 0 && pcsim_file_exists(path)) {
    char *data = NULL;
    size_t size;
    PCSIM_TRY(pcsim_file_read(path, 0, &data, &size));
    pcsim_status status = take_old_rows(h, data, resume_step);
    pcsim_free(&data);
    PCSIM_TRY(status);
  }
  return start_file(h);
}

pcsim_status pcsim_history_open(const char *path, const char *const *columns, int n, int64_t resume_step,
                                pcsim_history **history) {
  *history = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof **history, history));
  pcsim_status status = history_make(*history, path, columns, n, resume_step);
  if (status != PCSIM_OK) history_free(history);
  return status;
}

/* One field of the header row, quotes taken off; `*at` moves behind the comma or newline. */
static pcsim_status header_name(const char **at, char **name, bool *last) {
  text_buffer text = {0};
  const char *s = *at;
  bool quoted = *s == '"';
  if (quoted) s++;
  for (; *s && (quoted || !strchr(",\n", *s)); s++) {
    if (quoted && *s == '"') {
      if (s[1] != '"') break;
      s++;
    }
    if (*s != '\r') text_add_bytes(&text, s, 1);
  }
  if (quoted && *s == '"') s++;
  *last = *s != ',';
  pcsim_status status = text.status;
  if (status == PCSIM_OK && *s == '\0')
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "its header row is not whole");
  if (status == PCSIM_OK) status = pcsim_strdup(text.data ? text.data : "", name);
  text_free(&text);
  *at = s + 1;
  return status;
}

static pcsim_status read_whole(pcsim_history *h, const char *path, const char *data) {
  PCSIM_TRY(pcsim_strdup(path, &h->path));
  int n = 1;
  for (const char *s = data; *s && *s != '\n'; s++) n += *s == ','; /* at least as many as there are names */
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *h->names, &h->names));
  const char *at = data;
  for (bool last = false; !last && h->num_columns < n;) {
    pcsim_status status = header_name(&at, &h->names[h->num_columns], &last);
    PCSIM_CHECK(status == PCSIM_OK, status, "'%s' is not a history: its header row is not whole", path);
    h->num_columns++;
  }
  PCSIM_TRY(take_old_rows(h, data, INT64_MAX));
  return PCSIM_OK;
}

pcsim_status pcsim_history_read(const char *path, pcsim_history **history) {
  char *data = NULL;
  size_t size;
  *history = NULL;
  PCSIM_TRY(pcsim_file_read(path, 0, &data, &size));
  pcsim_status status = pcsim_alloc(1, sizeof **history, history);
  if (status == PCSIM_OK) status = read_whole(*history, path, data);
  if (status != PCSIM_OK) history_free(history);
  pcsim_free(&data);
  return status;
}

pcsim_status pcsim_history_add(pcsim_history *h, const double *values) {
  PCSIM_CHECK(h->file, PCSIM_ERR_ARG, "'%s' was opened for reading", h->path);
  text_buffer text = {0};
  add_row(&text, values, h->num_columns);
  pcsim_status status = text.status;
  if (status == PCSIM_OK && (fwrite(text.data, 1, text.size, h->file) != text.size || fflush(h->file)))
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "cannot write '%s': %s", h->path,
                             strerror(errno));
  text_free(&text);
  PCSIM_TRY(status);
  PCSIM_TRY(keep_row(h, values));
  return PCSIM_OK;
}

int64_t pcsim_history_rows(const pcsim_history *h, const double **values, int *num_columns) {
  if (values) *values = h->values;
  if (num_columns) *num_columns = h->num_columns;
  return h->num_rows;
}

const char *const *pcsim_history_names(const pcsim_history *h) { return (const char *const *)h->names; }

pcsim_status pcsim_history_close(pcsim_history **history) {
  pcsim_history *h = *history;
  if (!h) return PCSIM_OK;
  pcsim_status status = PCSIM_OK;
  int closed = h->file ? fclose(h->file) : 0, error = errno;
  h->file = NULL;
  if (closed)
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "cannot write '%s': %s", h->path,
                             strerror(error));
  history_free(history);
  return status;
}
