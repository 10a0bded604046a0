/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves from files: `table: {file, columns: [y, u], except, scale}` against a line monitor. */
#include "reference.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))
enum { EXCEPT_MAX = 64 };

static const pcsim_key entry_keys[] = {
    {"table", PCSIM_KEY_MAPPING, NULL, "", "", "where the curve stands", 0, 0},
    {"line", PCSIM_KEY_TEXT, "", "", "", "line monitor to compare with; the entry's own name if not given", 0,
     0},
    {"field", PCSIM_KEY_TEXT, "", "", "", "a field of the line; the table's column if it is one of these", 0,
     0},
    {"tolerance", PCSIM_KEY_NUMBER, "", "", "1", "largest deviation, of the largest value of the table", 0,
     0},
    {"absolute", PCSIM_KEY_NUMBER, "", "", "", "largest deviation", 0, 0},
    {"source", PCSIM_KEY_TEXT, NULL, "", "", "where the values come from", 0, 0},
};
static const pcsim_key table_keys[] = {
    {"file", PCSIM_KEY_TEXT, NULL, "", "",
     "comma-separated values; # begins a comment, the first row names the columns", 0, 0},
    {"columns", PCSIM_KEY_SEQUENCE, NULL, "", "", "two of the file's columns: place (s, x, y, z) and value",
     0, 0},
    {"place", PCSIM_KEY_TEXT, "", "", "", "s, x, y or z, where the file's column has another name", 0, 0},
    {"except", PCSIM_KEY_SEQUENCE, "", "", "", "places of rows to leave out", 0, 0},
    {"scale", PCSIM_KEY_NUMBER, "1", "", "", "factor on the values", 0, 0},
};

/* ---------------------------------------------------------------------- the file */

/* Read on rank 0 and handed to all. Caller frees. */
static pcsim_status read_shared(MPI_Comm comm, const char *path, char **text) {
  int rank = 0;
  unsigned long long size = 0;
  size_t bytes = 0;
  pcsim_status status = PCSIM_OK;
  MPI_Comm_rank(comm, &rank);
  *text = NULL;
  if (rank == 0) status = pcsim_file_read(path, (size_t)64 << 20, text, &bytes);
  PCSIM_TRY(pcsim_status_agree(comm, status));
  size = bytes;
  MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, comm);
  if (rank != 0) status = pcsim_alloc((size_t)size + 1, 1, text);
  status = pcsim_status_agree(comm, status);
  if (status != PCSIM_OK) pcsim_free(text);
  PCSIM_TRY(status);
  MPI_Bcast(*text, (int)size, MPI_BYTE, 0, comm);
  return PCSIM_OK;
}

/* Cell `index` of a line, without blanks around it; false past the end. */
static bool get_cell(const char *line, const char *end, int index, char *cell, size_t size) {
  for (; index > 0; --index) {
    line = memchr(line, ',', (size_t)(end - line));
    if (!line) return false;
    ++line;
  }
  const char *stop = memchr(line, ',', (size_t)(end - line));
  if (!stop) stop = end;
  while (line < stop && isspace((unsigned char)*line)) ++line;
  while (stop > line && isspace((unsigned char)stop[-1])) --stop;
  snprintf(cell, size, "%.*s", (int)(stop - line), line);
  return true;
}

static bool find_columns(pcsim_tree *tree, const char *line, const char *end, const pcsim_node *columns,
                         const char *file, int index[2]) {
  char cell[64], known[600] = "";
  index[0] = index[1] = -1;
  for (int k = 0; get_cell(line, end, k, cell, sizeof cell); ++k) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", cell);
    for (int c = 0; c < 2; ++c)
      if (strcmp(cell, pcsim_node_text(pcsim_node_child(columns, c))) == 0) index[c] = k;
  }
  for (int c = 0; c < 2; ++c)
    if (index[c] < 0)
      pcsim_tree_problem(tree, pcsim_node_child(columns, c), "`%s` has no column `%.64s`; it has: %s", file,
                         pcsim_node_text(pcsim_node_child(columns, c)), known);
  return index[0] >= 0 && index[1] >= 0;
}

static bool get_number(pcsim_tree *tree, const pcsim_node *at, const char *file, int number, const char *cell,
                       double *value) {
  char *rest;
  *value = strtod(cell, &rest);
  if (rest != cell && *rest == '\0' && isfinite(*value)) return true;
  pcsim_tree_problem(tree, at, "%s:%d: `%.64s` is no number", file, number, cell);
  return false;
}

typedef struct {
  double place[EXCEPT_MAX];
  bool found[EXCEPT_MAX];
  int num;
} exceptions;

static bool is_exception(exceptions *except, double place) {
  bool left_out = false;
  for (int i = 0; i < except->num; ++i)
    if (fabs(place - except->place[i]) <= 1e-9 * (1.0 + fabs(place))) left_out = except->found[i] = true;
  return left_out;
}

/* All rows that have both values; an empty cell leaves a row out. */
static pcsim_status parse_rows(pcsim_tree *tree, const pcsim_node *node, const char *text, exceptions *except,
                               double scale, reference_table *table) {
  const pcsim_node *file = pcsim_node_get(node, "file"), *columns = pcsim_node_get(node, "columns");
  int index[2] = {-1, -1}, number = 0;
  int64_t capacity = 0;
  for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
    char cell[2][64];
    double value[2];
    end = line + strcspn(line, "\n");
    ++number;
    const char *first = line + strspn(line, " \t\r");
    if (first >= end || *first == '#') continue;
    if (index[0] < 0) {
      if (!find_columns(tree, line, end, columns, pcsim_node_text(file), index)) return PCSIM_OK;
      continue;
    }
    bool both = get_cell(line, end, index[0], cell[0], 64) && get_cell(line, end, index[1], cell[1], 64);
    if (!both || !cell[0][0] || !cell[1][0]) continue;
    for (int c = 0; c < 2; ++c)
      if (!get_number(tree, file, pcsim_node_text(file), number, cell[c], &value[c])) return PCSIM_OK;
    if (is_exception(except, value[0])) continue;
    if (table->num_rows == capacity) {
      capacity = capacity ? 2 * capacity : 64;
      PCSIM_TRY(pcsim_realloc(2 * (size_t)capacity, sizeof(double), &table->rows));
    }
    table->rows[2 * table->num_rows] = value[0];
    table->rows[2 * table->num_rows++ + 1] = scale * value[1];
  }
  if (table->num_rows == 0)
    pcsim_tree_problem(tree, file, "`%s` has no rows of numbers", pcsim_node_text(file));
  return PCSIM_OK;
}

static bool read_exceptions(pcsim_tree *tree, const pcsim_node *node, exceptions *except) {
  const pcsim_node *list = pcsim_node_get(node, "except");
  except->num = 0;
  if (!list) return true;
  int64_t n = pcsim_node_size(list);
  if (n > EXCEPT_MAX) {
    pcsim_tree_problem(tree, list, "`except` has %lld entries; expected at most %d", (long long)n,
                       EXCEPT_MAX);
    return false;
  }
  bool good = true;
  for (int64_t i = 0; i < n; ++i) {
    except->found[i] = false;
    good = pcsim_node_as_number(tree, pcsim_node_child(list, i), &except->place[i]) && good;
  }
  except->num = (int)n;
  return good;
}

static pcsim_status read_file(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *node,
                              reference_table *table) {
  const pcsim_node *file = pcsim_node_get(node, "file"), *columns = pcsim_node_get(node, "columns");
  double scale = 1.0;
  exceptions except;
  char *path = NULL, *text = NULL;
  if (pcsim_node_size(columns) != 2) {
    pcsim_tree_problem(tree, columns, "`columns` has %lld entries; expected two, place and value: [y, u]",
                       (long long)pcsim_node_size(columns));
    return PCSIM_OK;
  }
  (void)pcsim_node_number(tree, node, "scale", &scale);
  if (!read_exceptions(tree, node, &except)) return PCSIM_OK;
  PCSIM_TRY(pcsim_node_path(file, &path));
  pcsim_status status = read_shared(pcsim_mesh_comm(monitors->mesh), path, &text);
  pcsim_free(&path);
  if (status == PCSIM_ERR_IO) {
    pcsim_tree_problem(tree, file, "%s", pcsim_error_message());
    return PCSIM_OK;
  }
  PCSIM_TRY(status);
  size_t before = pcsim_tree_num_problems(tree);
  status = parse_rows(tree, node, text, &except, scale, table);
  for (int i = 0; i < except.num && pcsim_tree_num_problems(tree) == before; ++i)
    if (!except.found[i])
      pcsim_tree_problem(tree, pcsim_node_child(pcsim_node_get(node, "except"), i), "`%s` has no row at %g",
                         pcsim_node_text(file), except.place[i]);
  pcsim_free(&text);
  return status;
}

/* ------------------------------------------------------------------ the line monitor */

static int find_column(const pcsim_curve *curve, int first, int last, const char *name) {
  for (int c = first; c < last; ++c)
    if (strcmp(curve->column[c], name) == 0) return c;
  return -1;
}

static int find_line(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *at,
                     const char *name) {
  const char *names[32];
  char known[400] = "";
  size_t n = 0;
  for (int i = 0; i < monitors->num; ++i) {
    const monitor *m = &monitors->monitor[i];
    if (m->kind != &monitor_line) continue;
    if (strcmp(m->name, name) == 0) return m->first_curve;
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", known[0] ? ", " : "", m->name);
    if (n < NUM(names)) names[n++] = m->name;
  }
  const char *near = n ? pcsim_nearest(name, names, n) : NULL;
  pcsim_tree_problem(tree, at, "no line monitor `%.64s`; the case has: %s%s%s%s", name,
                     known[0] ? known : "none", near ? "; did you mean `" : "", near ? near : "",
                     near ? "`?" : "");
  return -1;
}

/* Columns of the line that the table's are compared with. */
static bool match_columns(pcsim_tree *tree, const pcsim_monitors *monitors, pcsim_node *node,
                          const pcsim_node *columns, reference_table *table) {
  const pcsim_curve *curve = &monitors->curve[table->curve];
  int places = pcsim_mesh_get(monitors->mesh)->dim + 1;
  const pcsim_node *place = pcsim_node_get(pcsim_node_get(node, "table"), "place"),
                   *field = pcsim_node_get(node, "field");
  if (!place || !pcsim_node_text(place)[0]) place = pcsim_node_child(columns, 0);
  table->place = find_column(curve, 0, places, pcsim_node_text(place));
  if (table->place < 0) {
    pcsim_tree_problem(tree, place, "`%.64s` is no place along a line; expected s, x, y%s%s",
                       pcsim_node_text(place), places == 4 ? ", z" : "",
                       place == pcsim_node_child(columns, 0) ? ", or say which with `place`" : "");
    return false;
  }
  bool named = field && pcsim_node_text(field)[0];
  if (!named) field = pcsim_node_child(columns, 1);
  int component = exact_component(monitors, pcsim_node_text(field));
  table->field =
      component >= 0 ? find_column(curve, places, curve->num_columns, monitors->field[component].name) : -1;
  if (table->field < 0 && !named && curve->num_columns == places + 1) table->field = places;
  if (table->field < 0)
    pcsim_tree_problem(tree, field, "line `%s` has no field `%.64s`; say which with `field: u`", curve->name,
                       pcsim_node_text(field));
  snprintf(table->columns, sizeof table->columns, "%s %s", curve->column[table->place],
           table->field >= 0 ? curve->column[table->field] : "");
  return table->field >= 0;
}

static void check_places(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *at,
                         const reference_table *table) {
  const pcsim_curve *curve = &monitors->curve[table->curve];
  double a = curve->values[table->place],
         b = curve->values[(curve->num_rows - 1) * curve->num_columns + table->place];
  double low = fmin(a, b), high = fmax(a, b), slack = 1e-9 * (high - low);
  if (!(high > low)) {
    pcsim_tree_problem(tree, at, "line `%s` does not run along %s", curve->name, curve->column[table->place]);
    return;
  }
  for (int64_t i = 0; i < table->num_rows; ++i)
    if (table->rows[2 * i] < low - slack || table->rows[2 * i] > high + slack) {
      pcsim_tree_problem(tree, at, "the table has a row at %s = %g, off the line `%s` (%g to %g)",
                         curve->column[table->place], table->rows[2 * i], curve->name, low, high);
      return;
    }
}

pcsim_status table_read(pcsim_tree *tree, const pcsim_monitors *monitors, const char *name, pcsim_node *node,
                        reference_table *table) {
  size_t before = pcsim_tree_num_problems(tree);
  char where[96];
  snprintf(where, sizeof where, "reference.%.64s", name);
  table->reference_curve = -1;
  pcsim_node_check(tree, node, entry_keys, NUM(entry_keys), where);
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  pcsim_node *inner = pcsim_node_get(node, "table");
  pcsim_node_check(tree, inner, table_keys, NUM(table_keys), "table");
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  const pcsim_node *line = pcsim_node_get(node, "line");
  bool named = line && pcsim_node_text(line)[0];
  table->curve = find_line(tree, monitors, named ? line : node, named ? pcsim_node_text(line) : name);
  PCSIM_TRY(read_file(tree, monitors, inner, table));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  if (match_columns(tree, monitors, node, pcsim_node_get(inner, "columns"), table))
    check_places(tree, monitors, pcsim_node_get(inner, "file"), table);
  return PCSIM_OK;
}

/* The line's points are equally spaced: cubic through the four around the place. */
static double line_value(const pcsim_curve *curve, int place, int field, double at) {
  int64_t n = curve->num_rows, w = curve->num_columns;
  double a = curve->values[place], b = curve->values[(n - 1) * w + place],
         t = (at - a) / (b - a) * (double)(n - 1);
  int points = n < 4 ? (int)n : 4;
  int64_t first = (int64_t)floor(t) - (points / 2 - 1);
  if (first < 0) first = 0;
  if (first > n - points) first = n - points;
  double sum = 0.0;
  for (int i = 0; i < points; ++i) {
    double weight = 1.0;
    for (int j = 0; j < points; ++j)
      if (j != i) weight *= (t - (double)(first + j)) / (double)(i - j);
    sum += weight * curve->values[(first + i) * w + field];
  }
  return sum;
}

void table_compare(const reference_table *table, const pcsim_monitors *monitors, double *deviation,
                   double *largest) {
  *deviation = *largest = 0.0;
  for (int64_t i = 0; i < table->num_rows; ++i) {
    double value = line_value(&monitors->curve[table->curve], table->place, table->field, table->rows[2 * i]);
    double off = fabs(value - table->rows[2 * i + 1]);
    if (!(off <= *deviation)) *deviation = off; /* NaN stays */
    *largest = fmax(*largest, fabs(table->rows[2 * i + 1]));
    if (isnan(off)) return;
  }
}

void table_clear(reference_table *table) { pcsim_free(&table->rows); }
