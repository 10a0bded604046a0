/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_sample.c  pcsim sample DIR --at FILE.csv: the fields of a run at points.
 *
 *  The run's mesh and last state are loaded again, so that the gradients of the solver serve: the value of
 * the cell that holds the point plus its gradient times the distance to the centre, second order. */
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t count, room;
  double (*x)[3];
} points;

static pcsim_status add_point(points *p, const double x[3]) {
  if (p->count == p->room) {
    p->room = p->room ? 2 * p->room : 256;
    PCSIM_TRY(pcsim_realloc((size_t)p->room, sizeof *p->x, &p->x));
  }
  memcpy(p->x[p->count++], x, sizeof *p->x);
  return PCSIM_OK;
}

/* One row: `dim` numbers, or three where z stands though the mesh is plane. */
static pcsim_status parse_row(const char *path, int number, const char *row, int dim, double x[3]) {
  const char *at = row;
  int n = 0;
  for (; n < 3 && *at; n++) {
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
  PCSIM_CHECK(!*at, PCSIM_ERR_CASE, "%s:%d:%d: more than three columns; expected x, y%s", path, number,
              (int)(at - row) + 1, dim == 3 ? ", z" : "");
  PCSIM_CHECK(n >= dim, PCSIM_ERR_CASE, "%s:%d:1: %d columns; expected %d coordinates", path, number, n, dim);
  if (dim == 2) x[2] = 0;
  return PCSIM_OK;
}

/* Blank lines, lines with # and one line of names at the start are skipped. */
static pcsim_status read_points(const char *path, int dim, points *p) {
  char *text = NULL, *next;
  size_t size;
  int number = 0;
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
    if (names) continue;
    double x[3] = {0};
    status = parse_row(path, number, word, dim, x);
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
    PCSIM_TRY(pcsim_mesh_locate(s->mesh, p->x[i], &rank, &cell, &inside));
    for (int k = 0; k < f->num; k++) values[f->num * i + k] = inside ? 0 : NAN;
    *outside += !inside;
    if (!inside || rank != s->c->rank) continue;
    const double *centre = view->cell_centre + 3 * cell;
    for (int k = 0; k < f->num; k++) {
      const pcsim_scalar *field = &f->scalar[k];
      const double *g = field->gradient + 3 * field->stride * cell;
      double value = field->value[field->stride * cell];
      for (int j = 0; j < 3; j++) value += g[j] * (p->x[i][j] - centre[j]);
      values[f->num * i + k] = value;
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, values, (int)(f->num * p->count), MPI_DOUBLE, MPI_SUM, s->c->comm);
  return PCSIM_OK;
}

static pcsim_status print_samples(const points *p, const pcsim_fields *f, const double *values, int dim,
                                  const char *out) {
  char *text = NULL;
  size_t size;
  int *shown = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)f->num, sizeof *shown, &shown));
  const int n = shown_fields(f, dim, shown);
  FILE *file = open_memstream(&text, &size);
  if (!file) pcsim_free(&shown);
  PCSIM_CHECK(file, PCSIM_ERR_MEMORY, "out of memory for %lld rows", (long long)p->count);
  fprintf(file, dim == 3 ? "x,y,z" : "x,y");
  for (int k = 0; k < n; k++) fprintf(file, ",%s", f->scalar[shown[k]].name);
  fputc('\n', file);
  for (int64_t i = 0; i < p->count; i++) {
    for (int k = 0; k < dim; k++) fprintf(file, "%s%.17g", k ? "," : "", p->x[i][k]);
    for (int k = 0; k < n; k++) fprintf(file, ",%.17g", values[f->num * i + shown[k]]);
    fputc('\n', file);
  }
  pcsim_free(&shown);
  bool bad = fclose(file) != 0;
  pcsim_status status = PCSIM_OK;
  if (bad)
    status = pcsim_error_set(PCSIM_ERR_MEMORY, __FILE__, __LINE__, __func__, "out of memory for the table");
  else if (out) status = pcsim_file_write(out, text, size);
  else fputs(text, stdout);
  free(text);
  return status;
}

static pcsim_status sample(cli_session *s, const char *folder, const char *at, const char *out) {
  points p = {0};
  pcsim_fields fields;
  double *values = NULL;
  int64_t outside = 0;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(cli_session_open_run(s->c, folder, s), status, done);
  int dim = pcsim_mesh_get(s->mesh)->dim;
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, read_points(at, dim, &p)), status, done);
  PCSIM_GOTO(cli_solver_fields(s, &fields), status, done);
  status = pcsim_alloc((size_t)(p.count * fields.num), sizeof *values, &values);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  PCSIM_GOTO(sample_all(s, &p, &fields, values, &outside), status, done);
  status = s->c->rank == 0 ? print_samples(&p, &fields, values, dim, out) : PCSIM_OK;
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
  cli_session session = {.c = c};
  return sample(&session, folder, at, out);
}
