/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_sample.c  pcsim sample DIR --at FILE.csv: the fields of a run at points.
 *
 *  A training has left its network, which is asked. Of a run of the solver mesh and last state are loaded
 * again, so that its gradients serve: the value of the cell that holds the point plus its gradient times the
 * distance to the centre, second order. */
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COORDINATES = 64 };

/* What the columns of the file are. */
typedef struct {
  int num, most; /* coordinates that are asked for, columns that there may be: a z though the mesh is plane */
  const char *const *name; /* [most]; checked where the file names its columns and `named` is set */
  bool named;
} columns;

typedef struct {
  int64_t count, room;
  int width;
  double *x; /* [count][width]; what the file lacks is 0 */
} points;

static pcsim_status add_point(points *p, const double *x) {
  if (p->count == p->room) {
    p->room = p->room ? 2 * p->room : 256;
    PCSIM_TRY(pcsim_realloc((size_t)(p->room * p->width), sizeof *p->x, &p->x));
  }
  memcpy(p->x + p->count++ * p->width, x, (size_t)p->width * sizeof *p->x);
  return PCSIM_OK;
}

/* "x, y": the coordinates that are asked for. */
static const char *list_names(const columns *c, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < c->num && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", c->name[i]);
  return text;
}

/* One row of numbers. */
static pcsim_status parse_row(const char *path, int number, const char *row, const columns *c, double *x) {
  const char *at = row;
  char names[300];
  int n = 0;
  for (; n < c->most && *at; n++) {
    char *end;
    x[n] = strtod(at, &end);
    PCSIM_CHECK(end != at && isfinite(x[n]), PCSIM_ERR_CASE, "%s:%d:%d: expected a number", path, number,
                (int)(at - row) + 1);
    at = end + strspn(end, " \t\r");
    if (*at == ',' || *at == ';') at++;
    else if (*at)
      PCSIM_CHECK(end != at, PCSIM_ERR_CASE, "%s:%d:%d: expected a comma", path, number, (int)(at - row) + 1);
    at += strspn(at, " \t\r");
  }
  PCSIM_CHECK(!*at, PCSIM_ERR_CASE, "%s:%d:%d: more than %d columns; expected %s", path, number,
              (int)(at - row) + 1, c->most, list_names(c, names, sizeof names));
  PCSIM_CHECK(n >= c->num, PCSIM_ERR_CASE, "%s:%d:1: %d columns; expected %s", path, number, n,
              list_names(c, names, sizeof names));
  for (int i = c->num; i < c->most; i++) x[i] = 0;
  return PCSIM_OK;
}

/* A line of names says the same as the order that is asked for. */
static pcsim_status check_header(const char *path, int number, const char *row, const columns *c) {
  const char *at = row;
  char names[300];
  for (int i = 0; c->named && i < c->num; i++) {
    at += strspn(at, " \t\",;\r");
    const size_t length = strcspn(at, " \t\",;\r");
    PCSIM_CHECK(length == strlen(c->name[i]) && !strncmp(at, c->name[i], length), PCSIM_ERR_CASE,
                "%s:%d:%d: column %d is `%.*s`; expected %s", path, number, (int)(at - row) + 1, i + 1,
                (int)length, at, list_names(c, names, sizeof names));
    at += length;
  }
  return PCSIM_OK;
}

/* Blank lines, lines with # and one line of names at the start are skipped. */
static pcsim_status read_points(const char *path, const columns *c, points *p) {
  char *text = NULL, *next;
  size_t size;
  int number = 0;
  p->width = c->most;
  PCSIM_TRY(pcsim_file_read(path, 0, &text, &size));
  pcsim_status status = PCSIM_OK;
  bool first = true;
  for (char *row = text; row && status == PCSIM_OK; row = next) {
    number++;
    next = strchr(row, '\n');
    if (next) *next++ = '\0';
    const char *word = row + strspn(row, " \t\r");
    if (!*word || *word == '#') continue;
    bool names = first && (isalpha((unsigned char)*word) || *word == '"');
    first = false;
    if (names) {
      status = check_header(path, number, word, c);
      continue;
    }
    double x[COORDINATES] = {0};
    status = parse_row(path, number, word, c, x);
    if (status == PCSIM_OK) status = add_point(p, x);
  }
  pcsim_free(&text);
  if (status != PCSIM_OK) return status;
  PCSIM_CHECK(p->count > 0, PCSIM_ERR_CASE, "%s: no points in it", path);
  return PCSIM_OK;
}

/* Places of the fields that are shown: not the w of a plane flow. Returns how many. */
static int shown_fields(const pcsim_fields *f, int dim, int *shown) {
  int n = 0;
  for (int k = 0; k < f->num; k++)
    if (!(f->flow && dim == 2 && k == 2)) shown[n++] = k;
  return n;
}

/* Every rank reads the file; all must have got the same. `values` is [points][num]. */
static pcsim_status sample_all(cli_session *s, const points *p, const pcsim_fields *f, double *values,
                               int64_t *outside) {
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  *outside = 0;
  for (int64_t i = 0; i < p->count; i++) {
    int rank;
    int64_t cell;
    bool inside;
    PCSIM_TRY(pcsim_mesh_locate(s->mesh, p->x + 3 * i, &rank, &cell, &inside));
    for (int k = 0; k < f->num; k++) values[f->num * i + k] = inside ? 0 : NAN;
    *outside += !inside;
    if (!inside || rank != s->c->rank) continue;
    const double *centre = view->cell_centre + 3 * cell;
    for (int k = 0; k < f->num; k++) {
      const pcsim_scalar *field = &f->scalar[k];
      const double *g = field->gradient + 3 * field->stride * cell;
      double value = field->value[field->stride * cell];
      for (int j = 0; j < 3; j++) value += g[j] * (p->x[3 * i + j] - centre[j]);
      values[f->num * i + k] = value;
    }
  }
  const int64_t most = 1 << 24, all = f->num * p->count; /* numbers at a time: MPI counts in int */
  for (int64_t i = 0; i < all; i += most)
    MPI_Allreduce(MPI_IN_PLACE, values + i, (int)(all - i < most ? all - i : most), MPI_DOUBLE, MPI_SUM,
                  s->c->comm);
  return PCSIM_OK;
}

/* Columns of coordinates, then those of fields that are shown; `values` [points][width]. */
static pcsim_status print_samples(const points *p, const columns *c, const char *const *field,
                                  const int *shown, int num_shown, const double *values, int width,
                                  const char *out) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  PCSIM_CHECK(file, PCSIM_ERR_MEMORY, "out of memory for %lld rows", (long long)p->count);
  for (int k = 0; k < c->num; k++) fprintf(file, "%s%s", k ? "," : "", c->name[k]);
  for (int k = 0; k < num_shown; k++) fprintf(file, ",%s", field[k]);
  fputc('\n', file);
  for (int64_t i = 0; i < p->count; i++) {
    for (int k = 0; k < c->num; k++) fprintf(file, "%s%.17g", k ? "," : "", p->x[i * p->width + k]);
    for (int k = 0; k < num_shown; k++) fprintf(file, ",%.17g", values[width * i + shown[k]]);
    fputc('\n', file);
  }
  bool bad = fclose(file) != 0;
  pcsim_status status = PCSIM_OK;
  if (bad)
    status = pcsim_error_set(PCSIM_ERR_MEMORY, __FILE__, __LINE__, __func__, "out of memory for the table");
  else if (out) status = pcsim_file_write(out, text, size);
  else fputs(text, stdout);
  free(text);
  return status;
}

static pcsim_status print_fields(const points *p, const columns *c, const pcsim_fields *f,
                                 const double *values, const char *out) {
  const char **names = NULL;
  int *shown = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)f->num, sizeof *shown, &shown), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)f->num, sizeof *names, &names), status, done);
  const int n = shown_fields(f, c->num, shown);
  for (int k = 0; k < n; k++) names[k] = f->scalar[shown[k]].name;
  status = print_samples(p, c, names, shown, n, values, f->num, out);
done:
  pcsim_free(&names), pcsim_free(&shown);
  return status;
}

/* ------------------------------------------------------------------ of a training */

static pcsim_status sample_model(pcsim_trained *model, const char *at, const char *out) {
  const pcsim_trained_view *v = pcsim_trained_get(model);
  const columns c = {v->num_coordinates, v->num_coordinates, v->coordinate, true};
  points p = {0};
  double *values = NULL;
  int *shown = NULL;
  int64_t outside = 0;
  pcsim_status status;
  PCSIM_GOTO(read_points(at, &c, &p), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)(p.count * v->num_unknowns), sizeof *values, &values), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)v->num_unknowns, sizeof *shown, &shown), status, done);
  for (int u = 0; u < v->num_unknowns; u++) shown[u] = u;
  PCSIM_GOTO(pcsim_trained_evaluate(model, p.count, p.x, values), status, done);
  for (int64_t i = 0; i < p.count; i++) outside += isnan(values[i * v->num_unknowns]);
  PCSIM_GOTO(print_samples(&p, &c, v->unknown, shown, v->num_unknowns, values, v->num_unknowns, out), status,
             done);
  if (outside)
    pcsim_log(PCSIM_LOG_WARNING, "%lld of %lld points lie outside the domain or the ranges (nan)",
              (long long)outside, (long long)p.count);
done:
  pcsim_free(&values), pcsim_free(&shown);
  pcsim_free(&p.x);
  return status;
}

/* The network of a run folder: its file, and what the case says of the domain. */
static pcsim_status sample_training(const char *folder, const char *file, const char *at, const char *out) {
  pcsim_tree *tree = NULL;
  pcsim_trained *model = NULL;
  char path[4200];
  pcsim_status status;
  snprintf(path, sizeof path, "%s/case.yaml", folder);
  PCSIM_GOTO(pcsim_tree_read(path, &tree), status, done);
  PCSIM_GOTO(pcsim_trained_open(tree, file, &model), status, done);
  PCSIM_GOTO(pcsim_tree_status(tree), status, done);
  status = sample_model(model, at, out);
done:
  pcsim_trained_destroy(&model);
  pcsim_tree_destroy(&tree);
  return status;
}

/* -------------------------------------------------------------------- of the solver */

static pcsim_status sample(cli_session *s, const char *folder, const char *at, const char *out) {
  points p = {0};
  pcsim_fields fields;
  double *values = NULL;
  int64_t outside = 0;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(cli_session_open_run(s->c, folder, s), status, done);
  static const char *const axes[] = {"x", "y", "z"};
  const columns c = {pcsim_mesh_get(s->mesh)->dim, 3, axes, false};
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, read_points(at, &c, &p)), status, done);
  PCSIM_GOTO(cli_solver_fields(s, &fields), status, done);
  status = pcsim_alloc((size_t)(p.count * fields.num), sizeof *values, &values);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  PCSIM_GOTO(sample_all(s, &p, &fields, values, &outside), status, done);
  status = s->c->rank == 0 ? print_fields(&p, &c, &fields, values, out) : PCSIM_OK;
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  if (outside)
    pcsim_log(PCSIM_LOG_WARNING, "%lld of %lld points lie outside the mesh (nan)", (long long)outside,
              (long long)p.count);
done:
  pcsim_free(&values);
  pcsim_free(&p.x);
  cli_session_close(s);
  return status;
}

pcsim_status cmd_sample(cli *c, int argc, char **argv) {
  const char *at = NULL, *out = NULL, *folder;
  const cli_option options[] = {{"--at", NULL, CLI_TEXT, &at}, {"--output", "-o", CLI_TEXT, &out}};
  int n;
  PCSIM_TRY(cli_options_read("sample", argc, argv, options, 2, "DIR", 1, 1, &folder, &n));
  PCSIM_CHECK(at, PCSIM_ERR_CASE,
              "pcsim sample: --at FILE.csv is missing: the points, one x, y (, z) a line");
  char model[4200];
  snprintf(model, sizeof model, "%s/model.h5", folder);
  if (pcsim_file_exists(model))
    return pcsim_status_agree(c->comm, c->rank == 0 ? sample_training(folder, model, at, out) : PCSIM_OK);
  cli_session session = {.c = c};
  return sample(&session, folder, at, out);
}
