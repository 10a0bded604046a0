/* SPDX-License-Identifier: BSD-2-Clause */
/* `{table: f.csv, profile: ...}` as the value of a condition: numbers over time, linear in between. */
#include "flow.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t largest_file = (size_t)64 << 20;

void flow_table_clear(flow_table *table) {
  pcsim_free(&table->row);
  *table = (flow_table){0};
}

void flow_table_at(const flow_table *table, double t, double *value) {
  const int width = 1 + table->num;
  int64_t low = 0, high = table->num_rows - 1;
  if (t <= table->row[0]) high = 0;
  if (t >= table->row[high * width]) low = high;
  while (high - low > 1) {
    const int64_t mid = (low + high) / 2;
    if (table->row[mid * width] <= t) low = mid;
    else high = mid;
  }
  const double *a = table->row + low * width, *b = table->row + high * width;
  const double share = low == high ? 0 : (t - a[0]) / (b[0] - a[0]);
  for (int i = 0; i < table->num; ++i) value[i] = (1 - share) * a[1 + i] + share * b[1 + i];
}

/* Cells of one line as numbers; returns how many, -1 where one is none (`*bad` gets it). */
static int numbers_of(const char *line, const char *end, double value[4], char bad[32]) {
  int n = 0;
  while (line <= end) {
    const char *stop = memchr(line, ',', (size_t)(end - line));
    char cell[64], *rest;
    if (!stop) stop = end;
    while (line < stop && isspace((unsigned char)*line)) ++line;
    snprintf(cell, sizeof cell, "%.*s", (int)(stop - line), line);
    for (size_t k = strlen(cell); k > 0 && isspace((unsigned char)cell[k - 1]);) cell[--k] = '\0';
    if (n == 4) return 5;
    value[n++] = strtod(cell, &rest);
    if (rest == cell || *rest || !isfinite(value[n - 1])) {
      snprintf(bad, 32, "%.31s", cell);
      return -1;
    }
    line = stop + 1;
  }
  return n;
}

static pcsim_status add_row(flow_table *table, int64_t *capacity, const double *value, int width) {
  if (table->num_rows == *capacity) {
    *capacity = *capacity ? 2 * *capacity : 64;
    PCSIM_TRY(pcsim_realloc((size_t)(*capacity * width), sizeof(double), &table->row));
  }
  memcpy(table->row + table->num_rows++ * width, value, (size_t)width * sizeof *value);
  return PCSIM_OK;
}

/* Rows of numbers under a row of names, the first of which is t; # begins a comment. False: a problem. */
static bool parse(pcsim_tree *tree, const pcsim_node *node, const char *text, flow_table *table) {
  const char *file = pcsim_node_text(node);
  int64_t capacity = 0, number = 0;
  bool header = false;
  for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
    double value[4];
    char bad[32];
    end = line + strcspn(line, "\n");
    ++number;
    const char *first = line + strspn(line, " \t\r");
    if (first >= end || *first == '#') continue;
    if (!header) {
      header = *first == 't' && strchr(", \t\r\n", first[1]);
      for (const char *c = line; c < end; ++c) table->num += *c == ',';
      if (!header || table->num < 1 || table->num > 3) {
        pcsim_tree_problem(tree, node,
                           "%s:%lld: expected a row of names that begins with `t`, then one to three columns "
                           "of values",
                           file, (long long)number);
        return false;
      }
      continue;
    }
    const int n = numbers_of(line, end, value, bad);
    if (n != 1 + table->num) {
      if (n < 0) pcsim_tree_problem(tree, node, "%s:%lld: `%s` is no number", file, (long long)number, bad);
      else
        pcsim_tree_problem(tree, node, "%s:%lld: %d columns, but the first row has %d", file,
                           (long long)number, n, 1 + table->num);
      return false;
    }
    if (table->num_rows && !(value[0] > table->row[(table->num_rows - 1) * n])) {
      pcsim_tree_problem(tree, node, "%s:%lld: the time %g is not later than the one before", file,
                         (long long)number, value[0]);
      return false;
    }
    if (add_row(table, &capacity, value, n) != PCSIM_OK) {
      pcsim_tree_problem(tree, node, "%s", pcsim_error_message());
      return false;
    }
  }
  if (table->num_rows < 2) pcsim_tree_problem(tree, node, "`%s` has less than two rows of numbers", file);
  return table->num_rows >= 2;
}

/* The values must be known all the way. */
static bool covers(pcsim_tree *tree, const pcsim_node *node, const flow_table *table) {
  pcsim_time time;
  pcsim_time_read(tree, &time);
  const double from = table->row[0], to = table->row[(table->num_rows - 1) * (1 + table->num)];
  if (from <= time.start && to >= time.end) return true;
  pcsim_tree_problem(tree, node, "`%s` goes from t = %g to %g, but the case from %g to %g",
                     pcsim_node_text(node), from, to, time.start, time.end);
  return false;
}

bool flow_table_read(pcsim_tree *tree, const pcsim_node *node, flow_table *table) {
  char *path = NULL, *text = NULL;
  size_t size;
  bool good = false;
  *table = (flow_table){0};
  if (pcsim_node_get_kind(node) != PCSIM_NODE_SCALAR) {
    pcsim_tree_problem(tree, node, "`table` must be the name of a file");
    return false;
  }
  if (!pcsim_time_given(tree)) {
    pcsim_tree_problem(tree, node,
                       "values over time, but the case is steady; expected `solve: {time: {end: ..}}`");
    return false;
  }
  pcsim_status status = pcsim_node_path(node, &path);
  if (status == PCSIM_OK) status = pcsim_file_read(path, largest_file, &text, &size);
  if (status != PCSIM_OK) {
    pcsim_tree_problem(tree, node, "%s", pcsim_error_message());
    pcsim_error_clear();
  } else {
    good = parse(tree, node, text, table) && covers(tree, node, table);
  }
  pcsim_free(&path), pcsim_free(&text);
  if (!good) flow_table_clear(table);
  return good;
}
