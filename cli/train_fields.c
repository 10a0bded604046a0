/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train_fields.c  Unknowns of a trained network as fields: over two of its coordinates, the others
 * held. */
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LATTICE = 160 /* cells along the longer side */ };

/* The plane that is shown. */
typedef struct {
  int axis[2];
  double held[64]; /* the other coordinates */
  double range[2][2];
  int n[2];
} plane;

/* Space and time where there is one coordinate of space; else the first two of space in the middle of the
 * others, at the end of time. */
static bool choose_plane(const pcsim_training_view *v, plane *p) {
  if (v->num_coordinates < 2 || v->num_coordinates > 64) return false;
  p->axis[0] = 0, p->axis[1] = 1;
  for (int i = 0; i < v->num_coordinates; i++)
    p->held[i] = i == v->time ? v->range[i][1] : 0.5 * (v->range[i][0] + v->range[i][1]);
  for (int k = 0; k < 2; k++) memcpy(p->range[k], v->range[p->axis[k]], sizeof p->range[k]);
  const double size[2] = {p->range[0][1] - p->range[0][0], p->range[1][1] - p->range[1][0]};
  const bool same = v->num_space > 1; /* lengths can be compared */
  for (int k = 0; k < 2; k++) {
    const double share = same ? size[k] / fmax(size[0], size[1]) : 1;
    p->n[k] = (int)fmax(8, round(LATTICE * share));
  }
  return true;
}

static void place(const plane *p, int coordinates, double x, double y, double *point) {
  memcpy(point, p->held, (size_t)coordinates * sizeof *point);
  point[p->axis[0]] = x, point[p->axis[1]] = y;
}

/* Which rectangles have their centre in the domain; returns how many. */
static int64_t find_kept(pcsim_training *t, const plane *p, bool *kept) {
  const int coordinates = pcsim_training_get(t)->num_coordinates;
  int64_t found = 0;
  double point[64];
  for (int j = 0; j < p->n[1]; j++)
    for (int i = 0; i < p->n[0]; i++) {
      place(p, coordinates, p->range[0][0] + (i + 0.5) * (p->range[0][1] - p->range[0][0]) / p->n[0],
            p->range[1][0] + (j + 0.5) * (p->range[1][1] - p->range[1][0]) / p->n[1], point);
      kept[(int64_t)j * p->n[0] + i] = pcsim_training_inside(t, point);
      found += kept[(int64_t)j * p->n[0] + i];
    }
  return found;
}

typedef struct {
  pcsim_mesh *mesh;
  int64_t n;         /* cells */
  double *values;    /* [unknowns][n] */
  double *gradients; /* [unknowns][n][3] */
} shown;

/* At the centres of the cells. */
static pcsim_status evaluate(pcsim_training *t, const plane *p, shown *s) {
  const pcsim_training_view *v = pcsim_training_get(t);
  const pcsim_mesh_view *mesh = pcsim_mesh_get(s->mesh);
  const int m = v->num_unknowns, d = v->num_coordinates;
  double *points = NULL, *values = NULL, *gradients = NULL;
  pcsim_status status;
  s->n = mesh->num_cells;
  const size_t n = (size_t)s->n;
  PCSIM_GOTO(pcsim_alloc(n * (size_t)d, sizeof *points, &points), status, done);
  PCSIM_GOTO(pcsim_alloc(n * (size_t)m, sizeof *values, &values), status, done);
  PCSIM_GOTO(pcsim_alloc(n * (size_t)(m * d), sizeof *gradients, &gradients), status, done);
  PCSIM_GOTO(pcsim_alloc(n * (size_t)m, sizeof *s->values, &s->values), status, done);
  PCSIM_GOTO(pcsim_alloc(n * (size_t)m * 3, sizeof *s->gradients, &s->gradients), status, done);
  for (int64_t c = 0; c < s->n; c++)
    place(p, d, mesh->cell_centre[3 * c], mesh->cell_centre[3 * c + 1], points + c * d);
  PCSIM_GOTO(pcsim_training_evaluate(t, s->n, points, values, gradients), status, done);
  for (int u = 0; u < m; u++)
    for (int64_t c = 0; c < s->n; c++) {
      s->values[u * s->n + c] = values[c * m + u];
      for (int k = 0; k < 2; k++)
        s->gradients[3 * (u * s->n + c) + k] = gradients[(c * m + u) * d + p->axis[k]];
    }
done:
  pcsim_free(&points), pcsim_free(&values), pcsim_free(&gradients);
  return status;
}

static pcsim_status write_fields(const pcsim_training_view *v, const shown *s, const char *folder) {
  pcsim_field *list = NULL;
  char path[4200];
  snprintf(path, sizeof path, "%s/fields.hdf", folder);
  PCSIM_TRY(pcsim_alloc((size_t)v->num_unknowns, sizeof *list, &list));
  for (int u = 0; u < v->num_unknowns; u++) list[u] = (pcsim_field){v->unknown[u], 1, s->values + u * s->n};
  pcsim_status status = pcsim_write_fields(s->mesh, list, v->num_unknowns, path);
  pcsim_free(&list);
  return status;
}

static void caption(const pcsim_training_view *v, const plane *p, int unknown, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "%s over %s and %s", v->unknown[unknown],
                                 v->coordinate[p->axis[0]], v->coordinate[p->axis[1]]);
  const char *joint = " at ";
  for (int i = 0; i < v->num_coordinates && used < size; i++) {
    if (i == p->axis[0] || i == p->axis[1]) continue;
    used += (size_t)snprintf(text + used, size - used, "%s%s = %.4g", joint, v->coordinate[i], p->held[i]);
    joint = ", ";
  }
}

static pcsim_status draw(const pcsim_training_view *v, const plane *p, const shown *s, const char *folder,
                         cli_train_album *album) {
  for (int u = 0; u < v->num_unknowns && u < TRAIN_PICTURES; u++) {
    char path[4300];
    uint8_t *png = NULL;
    size_t size;
    const pcsim_picture_options options = {.title = v->unknown[u], .width = 1200};
    PCSIM_TRY(pcsim_picture_field(s->mesh, s->values + u * s->n, s->gradients + 3 * u * s->n, &options,
                                  &album->picture[u]));
    caption(v, p, u, album->caption[u], sizeof album->caption[u]);
    album->count = u + 1;
    PCSIM_TRY(pcsim_picture_png(album->picture[u], &png, &size));
    snprintf(path, sizeof path, "%s/field-%s.png", folder, v->unknown[u]);
    pcsim_status status = pcsim_file_write(path, png, size);
    pcsim_free(&png);
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}

pcsim_status cli_train_fields(pcsim_training *t, const char *folder, bool pictures, cli_train_album *album) {
  const pcsim_training_view *v = pcsim_training_get(t);
  plane p = {.axis = {0, 1}};
  shown s = {0};
  bool *kept = NULL;
  pcsim_raw_mesh *raw = NULL;
  pcsim_status status = PCSIM_OK;
  *album = (cli_train_album){0};
  if (!choose_plane(v, &p)) return PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)p.n[0] * (size_t)p.n[1], sizeof *kept, &kept), status, done);
  if (!find_kept(t, &p, kept)) goto done;
  PCSIM_GOTO(pcsim_raw_mesh_lattice((const double(*)[2])p.range, p.n, kept, &raw), status, done);
  PCSIM_GOTO(pcsim_mesh_create(MPI_COMM_SELF, raw, &s.mesh), status, done);
  PCSIM_GOTO(evaluate(t, &p, &s), status, done);
  PCSIM_GOTO(write_fields(v, &s, folder), status, done);
  if (pictures) PCSIM_GOTO(draw(v, &p, &s, folder, album), status, done);
done:
  pcsim_free(&kept);
  pcsim_free(&s.values), pcsim_free(&s.gradients);
  pcsim_raw_mesh_destroy(&raw);
  pcsim_mesh_destroy(&s.mesh);
  return status;
}

void cli_train_album_free(cli_train_album *album) {
  for (int i = 0; i < album->count; i++) pcsim_picture_destroy(&album->picture[i]);
  album->count = 0;
}
