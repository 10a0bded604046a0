/* SPDX-License-Identifier: BSD-2-Clause */
/* Measured values: files of columns with names. */
#include "data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 256, FAULTS_MAX = 5 };
/** How far outside the domain a point may lie, over the size of the domain: files hold rounded numbers. */
static const double slack = 1e-6;

typedef struct {
  data_view view;
  double *points, *values[DATA_FITS_MAX];
  char *name, *fit[DATA_FITS_MAX];
  const pcsim_node *fit_node[DATA_FITS_MAX];
} data_set;

struct data {
  int num_sets;
  data_set *sets;
};

static const pcsim_key keys[] = {
    {"file", PCSIM_KEY_TEXT, NULL, NULL, "", "columns with a line of names: coordinates and values", 0, 0},
    {"fits", PCSIM_KEY_MAPPING, NULL, NULL, "", "EXPRESSION: COLUMN, what the values of a column are", 0, 0},
    {"noise", PCSIM_KEY_NUMBER, "", NULL, "", "standard deviation of the values", 1e-300, 1e300},
};

const pcsim_key *data_keys(size_t *n) {
  *n = sizeof keys / sizeof *keys;
  return keys;
}

void data_destroy(data **d) {
  if (!d || !*d) return;
  for (int i = 0; i < (*d)->num_sets; i++) {
    data_set *s = &(*d)->sets[i];
    for (int k = 0; k < DATA_FITS_MAX; k++) {
      pcsim_free(&s->values[k]);
      pcsim_free(&s->fit[k]);
    }
    pcsim_free(&s->points);
    pcsim_free(&s->name);
  }
  pcsim_free(&(*d)->sets);
  pcsim_free(d);
}

const data_view *data_get(const data *d, int i) { return d && i < d->num_sets ? &d->sets[i].view : NULL; }

/* -------------------------------------------------------------------- lines */

/** A file while it is read. */
typedef struct {
  pcsim_tree *tree;
  const pcsim_node *at; /**< name of the file in the case */
  const char *path;
  const domain *space;
  char *column[COLUMNS_MAX]; /**< names, in the text of the first line */
  int num_columns;
  int coordinate[DOMAIN_MAX]; /**< column of each */
  int fit[DATA_FITS_MAX];
  int64_t room;
  int line, faults;
} reading;

static bool is_separator(char c) { return c == ',' || c == ';' || c == ' ' || c == '\t'; }

/** The next word of a line, cut off in it; NULL at the end. */
static char *next_word(char **at) {
  while (is_separator(**at)) (*at)++;
  char *word = *at;
  if (!*word) return NULL;
  while (**at && !is_separator(**at)) (*at)++;
  if (**at) *(*at)++ = 0;
  size_t length = strlen(word);
  if (length >= 2 && word[0] == '"' && word[length - 1] == '"') word[length - 1] = 0, word++;
  return word;
}

/** The next line that is not empty, without comment; NULL at the end. */
static char *next_line(reading *f, char **rest) {
  while (*rest) {
    char *text = *rest, *end = strchr(text, '\n');
    *rest = end ? end + 1 : NULL;
    if (end) *end = 0;
    if ((end = strchr(text, '#'))) *end = 0;
    if ((end = strchr(text, '\r'))) *end = 0;
    f->line++;
    while (is_separator(*text)) text++;
    if (*text) return text;
  }
  return NULL;
}

/** Shall one more fault of this file be told? The last one says that there may be more. */
static bool tell(reading *f) {
  f->faults++;
  if (f->faults == FAULTS_MAX + 1) pcsim_tree_problem(f->tree, f->at, "%s: more lines are wrong", f->path);
  return f->faults <= FAULTS_MAX;
}

/* ------------------------------------------------------------------ columns */

static int find_column(const reading *f, const char *name) {
  for (int i = 0; i < f->num_columns; i++)
    if (!strcmp(f->column[i], name)) return i;
  return -1;
}

static void report_no_column(const reading *f, const pcsim_node *at, const char *name, const char *what) {
  const char *near = pcsim_nearest(name, (const char *const *)f->column, (size_t)f->num_columns);
  char list[300] = "";
  size_t used = 0;
  for (int i = 0; i < f->num_columns && used + 40 < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%.30s", i ? ", " : "", f->column[i]);
  pcsim_tree_problem(f->tree, at, "%s has no column '%s'%s; it has %s%s%s%s", f->path, name, what, list,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool read_header(reading *f, char *text, const data_set *s) {
  const domain_view *v = domain_get(f->space);
  bool right = true;
  char *word, *end;
  while ((word = next_word(&text))) {
    (void)strtod(word, &end);
    if (end != word && !*end) {
      pcsim_tree_problem(f->tree, f->at, "%s:%d: '%.60s' is a number; expected the names of the columns",
                         f->path, f->line, word);
      return false;
    }
    if (find_column(f, word) >= 0) {
      pcsim_tree_problem(f->tree, f->at, "%s:%d: there are two columns '%.60s'", f->path, f->line, word);
      return false;
    }
    if (f->num_columns == COLUMNS_MAX) {
      pcsim_tree_problem(f->tree, f->at, "%s has more than %d columns", f->path, COLUMNS_MAX);
      return false;
    }
    f->column[f->num_columns++] = word;
  }
  for (int i = 0; i < v->num_coordinates; i++) {
    f->coordinate[i] = find_column(f, v->coordinate[i]);
    if (f->coordinate[i] >= 0) continue;
    report_no_column(f, f->at, v->coordinate[i], ", a coordinate of the domain");
    right = false;
  }
  for (int i = 0; i < s->view.num_fits; i++) {
    const char *name = pcsim_node_text(s->fit_node[i]);
    f->fit[i] = find_column(f, name);
    if (f->fit[i] >= 0) continue;
    report_no_column(f, s->fit_node[i], name, "");
    right = false;
  }
  return right;
}

/* ------------------------------------------------------------------- points */

/** Is the point [num_coordinates] in the domain, its time and inputs in their ranges? */
static bool check_point(reading *f, const double *point) {
  const domain_view *v = domain_get(f->space);
  for (int i = v->num_space; i < v->num_coordinates; i++) {
    const double allowed = slack * (v->range[i][1] - v->range[i][0]);
    if (point[i] >= v->range[i][0] - allowed && point[i] <= v->range[i][1] + allowed) continue;
    if (tell(f))
      pcsim_tree_problem(f->tree, f->at, "%s:%d: '%s' is %g, outside of its range from %g to %g", f->path,
                         f->line, v->coordinate[i], point[i], v->range[i][0], v->range[i][1]);
    return false;
  }
  if (domain_near(f->space, point, slack)) return true;
  char text[400] = "";
  size_t used = 0;
  for (int i = 0; i < v->num_space && used + 40 < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%g", i ? ", " : "", point[i]);
  if (tell(f))
    pcsim_tree_problem(f->tree, f->at, "%s:%d: the point (%s) is outside of the domain", f->path, f->line,
                       text);
  return false;
}

static bool read_numbers(reading *f, char *text, double *number) {
  int n = 0;
  char *word, *end;
  while ((word = next_word(&text))) {
    if (n < f->num_columns) {
      number[n] = strtod(word, &end);
      if (end == word || *end || !isfinite(number[n])) {
        if (tell(f))
          pcsim_tree_problem(f->tree, f->at, "%s:%d: '%.60s' in column '%.60s' is no finite number", f->path,
                             f->line, word, f->column[n]);
        return false;
      }
    }
    n++;
  }
  if (n == f->num_columns) return true;
  if (tell(f))
    pcsim_tree_problem(f->tree, f->at, "%s:%d: %d number%s for %d columns", f->path, f->line, n,
                       n == 1 ? "" : "s", f->num_columns);
  return false;
}

static pcsim_status add_point(reading *f, const double *number, data_set *s) {
  const int num = domain_get(f->space)->num_coordinates;
  if (s->view.num_points == f->room) {
    const int64_t room = f->room ? 2 * f->room : 64;
    PCSIM_TRY(pcsim_realloc((size_t)(room * num), sizeof *s->points, &s->points));
    for (int i = 0; i < s->view.num_fits; i++)
      PCSIM_TRY(pcsim_realloc((size_t)room, sizeof *s->values[i], &s->values[i]));
    f->room = room;
  }
  double *point = s->points + s->view.num_points * num;
  for (int i = 0; i < num; i++) point[i] = number[f->coordinate[i]];
  if (!check_point(f, point)) return PCSIM_OK;
  for (int i = 0; i < s->view.num_fits; i++) s->values[i][s->view.num_points] = number[f->fit[i]];
  s->view.num_points++;
  return PCSIM_OK;
}

static pcsim_status read_lines(reading *f, char *text, data_set *s) {
  double number[COLUMNS_MAX];
  char *rest = text, *line = next_line(f, &rest);
  if (!line) {
    pcsim_tree_problem(f->tree, f->at, "%s is empty; expected a line of names, then numbers", f->path);
    return PCSIM_OK;
  }
  if (!read_header(f, line, s)) return PCSIM_OK;
  while ((line = next_line(f, &rest)) && f->faults <= FAULTS_MAX)
    if (read_numbers(f, line, number)) PCSIM_TRY(add_point(f, number, s));
  if (s->view.num_points == 0 && f->faults == 0)
    pcsim_tree_problem(f->tree, f->at, "%s has no points, only names of columns", f->path);
  return PCSIM_OK;
}

static pcsim_status read_file(pcsim_tree *tree, const domain *space, const pcsim_node *node, data_set *s) {
  reading f = {.tree = tree, .at = pcsim_node_get(node, "file"), .space = space};
  char *path = NULL, *text = NULL;
  size_t size;
  if (!f.at || pcsim_node_get_kind(f.at) != PCSIM_NODE_SCALAR) return PCSIM_OK;
  PCSIM_TRY(pcsim_node_path(f.at, &path));
  f.path = path;
  pcsim_status status = pcsim_file_read(path, (size_t)1 << 30, &text, &size);
  if (status == PCSIM_ERR_IO) {
    pcsim_tree_problem(tree, f.at, "%s", pcsim_error_message());
    pcsim_error_clear();
    status = PCSIM_OK;
  } else if (status == PCSIM_OK && strlen(text) != size)
    pcsim_tree_problem(tree, f.at, "%s is no text", path);
  else if (status == PCSIM_OK) status = read_lines(&f, text, s);
  pcsim_free(&text);
  pcsim_free(&path);
  return status;
}

static pcsim_status read_set(pcsim_tree *tree, const domain *space, const char *name, pcsim_node *node,
                             data_set *s) {
  const pcsim_node *fits;
  PCSIM_TRY(pcsim_strdup(name, &s->name));
  s->view.name = s->name;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node, "'%s' must be a mapping such as {file: p.csv, fits: {u: measured}}", name);
    return PCSIM_OK;
  }
  pcsim_node_check(tree, node, keys, sizeof keys / sizeof *keys, "data");
  fits = pcsim_node_get(node, "fits");
  if (!fits || pcsim_node_get_kind(fits) != PCSIM_NODE_MAPPING) return PCSIM_OK;
  if (pcsim_node_size(fits) == 0 || pcsim_node_size(fits) > DATA_FITS_MAX)
    pcsim_tree_problem(tree, fits, "'fits' names %lld columns; expected 1 to %d",
                       (long long)pcsim_node_size(fits), DATA_FITS_MAX);
  for (int64_t i = 0; i < pcsim_node_size(fits) && i < DATA_FITS_MAX; i++) {
    const char *key = pcsim_node_key(fits, i);
    s->fit_node[i] = pcsim_node_get(fits, key);
    if (pcsim_node_get_kind(s->fit_node[i]) != PCSIM_NODE_SCALAR || !*pcsim_node_text(s->fit_node[i]))
      pcsim_tree_problem(tree, s->fit_node[i], "'%s' must be the name of a column", key);
    PCSIM_TRY(pcsim_strdup(key, &s->fit[i]));
    s->view.num_fits++;
  }
  (void)pcsim_node_number(tree, node, "noise", &s->view.noise);
  return read_file(tree, space, node, s);
}

pcsim_status data_read(pcsim_tree *tree, const domain *space, data **out) {
  const pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "data");
  const size_t before = pcsim_tree_num_problems(tree);
  data *d = NULL;
  pcsim_status status = PCSIM_OK;
  *out = NULL;
  if (!node) return PCSIM_OK;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node,
                       "'data' must be a mapping such as {probe: {file: p.csv, fits: {u: measured}}}");
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_alloc(1, sizeof *d, &d));
  PCSIM_GOTO(pcsim_alloc((size_t)pcsim_node_size(node), sizeof *d->sets, &d->sets), status, done);
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const char *name = pcsim_node_key(node, i);
    data_set *s = &d->sets[d->num_sets++];
    PCSIM_GOTO(read_set(tree, space, name, pcsim_node_get(node, name), s), status, done);
    s->view.points = s->points;
    s->view.fit = (const char *const *)s->fit;
    s->view.fit_node = s->fit_node;
    s->view.values = (const double *const *)s->values;
  }
done:
  if (status != PCSIM_OK || pcsim_tree_num_problems(tree) != before) data_destroy(&d);
  *out = d;
  return status;
}
