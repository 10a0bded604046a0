/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train_table.c  Values at points from a file, as a reference of a training. */
#include "train_reference.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void train_table_free(train_table *table) {
  pcsim_free(&table->points), pcsim_free(&table->values), pcsim_free(&table->weight);
  *table = (train_table){0};
}

/* Columns of a file in the order that is asked for, by the names in its first row. */
typedef struct {
  int num;
  int place[72]; /* column of the file */
} column_order;

static bool read_header(pcsim_tree *tree, const pcsim_node *columns, char *row, column_order *order) {
  char *names[72];
  int n = 0;
  for (char *s = strtok(row, ",;\r"); s && n < 72; s = strtok(NULL, ",;\r")) {
    while (isspace((unsigned char)*s)) s++;
    for (char *end = s + strlen(s); end > s && isspace((unsigned char)end[-1]);) *--end = '\0';
    names[n++] = s;
  }
  for (int i = 0; i < order->num; i++) {
    const pcsim_node *wanted = pcsim_node_child(columns, i);
    order->place[i] = -1;
    for (int k = 0; k < n; k++)
      if (!strcmp(names[k], pcsim_node_text(wanted))) order->place[i] = k;
    if (order->place[i] >= 0) continue;
    const char *near = pcsim_nearest(pcsim_node_text(wanted), (const char *const *)names, (size_t)n);
    pcsim_tree_problem(tree, wanted, "the file has no column `%.64s`%s%s%s", pcsim_node_text(wanted),
                       near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    return false;
  }
  return true;
}

/* One row of numbers into `to` [order->num]. */
static bool read_row(const char *row, const column_order *order, double *to) {
  double numbers[72];
  int n = 0;
  for (const char *s = row; *s && n < 72; n++) {
    char *end;
    numbers[n] = strtod(s, &end);
    if (end == s) return false;
    s = end + strspn(end, " \t\r");
    if (*s == ',' || *s == ';') s++;
  }
  for (int i = 0; i < order->num; i++) {
    if (order->place[i] >= n) return false;
    to[i] = numbers[order->place[i]];
    if (!isfinite(to[i])) return false;
  }
  return true;
}

static pcsim_status read_lines(pcsim_tree *tree, const pcsim_training_view *v, const pcsim_node *table,
                               char *text, train_table *f) {
  const int d = v->num_coordinates;
  column_order order = {.num = d + 1};
  char *next;
  int line = 0;
  int64_t room = 0;
  bool header = false;
  for (char *row = text; row; row = next) {
    line++;
    next = strchr(row, '\n');
    if (next) *next++ = '\0';
    const char *word = row + strspn(row, " \t\r");
    if (!*word || *word == '#') continue;
    if (!header) {
      header = true;
      if (!read_header(tree, pcsim_node_get(table, "columns"), row, &order)) return PCSIM_OK;
      continue;
    }
    if (f->rows == room) {
      room = room ? 2 * room : 1024;
      PCSIM_TRY(pcsim_realloc((size_t)(room * d), sizeof *f->points, &f->points));
      PCSIM_TRY(pcsim_realloc((size_t)room, sizeof *f->values, &f->values));
    }
    double numbers[72];
    if (!read_row(word, &order, numbers)) {
      pcsim_tree_problem(tree, pcsim_node_get(table, "file"),
                         "line %d of the file is no row of numbers with all columns", line);
      return PCSIM_OK;
    }
    memcpy(f->points + f->rows * d, numbers, (size_t)d * sizeof *numbers);
    f->values[f->rows++] = numbers[d];
  }
  if (!f->rows) pcsim_tree_problem(tree, pcsim_node_get(table, "file"), "the file has no rows");
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- rows of one time */

/* A row of the table by what is not space. */
typedef struct {
  const double *key; /* [width] */
  size_t width;
  int64_t row;
} ordered;

static int compare_keys(const ordered *a, const ordered *b) {
  for (size_t k = 0; k < a->width; k++)
    if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
  return 0;
}
static int compare_rows(const void *one, const void *other) {
  const ordered *a = one, *b = other;
  const int keys = compare_keys(a, b);
  return keys ? keys : (a->row > b->row) - (a->row < b->row);
}

/* An unknown that has no level is compared without its mean over the rows of each time and set of inputs. */
static pcsim_status group_rows(pcsim_tree *tree, const pcsim_training_view *v, const pcsim_node *table,
                               train_table *f) {
  const int64_t d = v->num_coordinates, n = f->rows;
  ordered *order = NULL;
  double *room = NULL;
  bool alone = false;
  pcsim_status status;
  if (!n || v->num_coordinates == v->num_space) return PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *order, &order), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)(n * (d + 1)), sizeof *room, &room), status, done);
  for (int64_t i = 0; i < n; i++)
    order[i] = (ordered){f->points + i * d + v->num_space, (size_t)(d - v->num_space), i};
  qsort(order, (size_t)n, sizeof *order, compare_rows);
  for (int64_t i = 0; i < n; i++) {
    memcpy(room + i * d, f->points + order[i].row * d, (size_t)d * sizeof *room);
    room[n * d + i] = f->values[order[i].row];
    alone = alone || ((i == 0 || compare_keys(&order[i - 1], &order[i])) &&
                      (i == n - 1 || compare_keys(&order[i], &order[i + 1])));
  }
  memcpy(f->points, room, (size_t)(n * d) * sizeof *room);
  memcpy(f->values, room + n * d, (size_t)n * sizeof *room);
  if (alone)
    pcsim_tree_problem(tree, pcsim_node_get(table, "file"),
                       "the equations fix this unknown up to a function of time and inputs: it needs several "
                       "rows for each time and set of inputs");
done:
  pcsim_free(&order), pcsim_free(&room);
  return status;
}

pcsim_status cli_train_read_table(pcsim_tree *tree, const pcsim_training_view *v, const pcsim_node *table,
                                  int part, train_table *f) {
  const pcsim_node *file = pcsim_node_get(table, "file"), *columns = pcsim_node_get(table, "columns");
  char *path = NULL, *text = NULL;
  size_t size;
  if (!file || pcsim_node_size(columns) != v->num_coordinates + 1 || v->num_coordinates > 64) {
    pcsim_tree_problem(tree, table,
                       "a table needs a `file` and %d `columns`: the coordinates, then the unknown",
                       v->num_coordinates + 1);
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_node_path(file, &path));
  if (pcsim_file_read(path, 0, &text, &size) != PCSIM_OK) {
    pcsim_tree_problem(tree, file, "%s", pcsim_error_message());
    pcsim_error_clear();
    pcsim_free(&path);
    return PCSIM_OK;
  }
  pcsim_status status = read_lines(tree, v, table, text, f);
  if (status == PCSIM_OK && v->gauge[part]) status = group_rows(tree, v, table, f);
  pcsim_free(&text);
  pcsim_free(&path);
  return status;
}
