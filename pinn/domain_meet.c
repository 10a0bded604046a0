/* SPDX-License-Identifier: BSD-2-Clause */
/* Where pieces of the boundary meet, and whether what is said about them there contradicts itself. */
#include "shape.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 40, TRIES = 64, DIRECTIONS = 32, POINTS = 16 };

/** Level and slope [num_space] of the surface that a face is part of. */
static double face_surface(const domain *d, const face *f, const double *x, double *slope) {
  const solid *s = &d->solids[f->solid];
  const int n = d->view.num_space, c = f->side / 2;
  double square = 0;
  for (int i = 0; i < n; i++) slope[i] = 0;
  if (s->kind == SOLID_BOX) {
    slope[c] = 1;
    return x[c] - (f->side % 2 ? s->high[c] : s->low[c]);
  }
  for (int i = 0; i < n; i++)
    if (s->bounded[i]) square += (x[i] - s->centre[i]) * (x[i] - s->centre[i]);
  const double r = sqrt(square);
  for (int i = 0; i < n; i++)
    if (s->bounded[i]) slope[i] = r > 0 ? (x[i] - s->centre[i]) / r : 0;
  return r - s->radius;
}

/** Move x onto both surfaces by the shortest steps (Newton's method); false if they do not cross near. */
static bool move_onto(const domain *d, const face *f, const face *g, double *x) {
  const int n = d->view.num_space;
  double a[SPACE_MAX], b[SPACE_MAX];
  for (int round = 0; round < ROUNDS; round++) {
    const double p = face_surface(d, f, x, a), q = face_surface(d, g, x, b);
    double ab = 0;
    if (fabs(p) <= d->tolerance && fabs(q) <= d->tolerance) return true;
    for (int i = 0; i < n; i++) ab += a[i] * b[i];
    const double determinant = 1 - ab * ab;
    if (determinant < 1e-12) return false;
    for (int i = 0; i < n; i++) x[i] -= (a[i] * (p - ab * q) + b[i] * (q - ab * p)) / determinant;
  }
  return false;
}

/** Is x in the closure of what is left of a face? Looked for in points of its surface around x. */
static bool ends_at(const domain *d, const face *f, const double *x, uint64_t place) {
  const int n = d->view.num_space;
  double y[SPACE_MAX], normal[SPACE_MAX];
  const double reach = 1e3 * d->offset;
  for (int k = 0; k < DIRECTIONS; k++) {
    for (int i = 0; i < n; i++)
      y[i] = x[i] + reach * (2 * pcsim_random_uniform(0, place, (uint64_t)(k * SPACE_MAX + i)) - 1);
    if (domain_project(d, f, y, 4 * sqrt(n) * reach, y, normal) && face_keeps(d, f, y, normal)) return true;
  }
  return false;
}

/** The corners that patches of a surface share; whose time and inputs are those of points [n]. */
static void surface_corners(const domain *d, int a, int b, int64_t n, const double *start, double *points,
                            int64_t *found) {
  const int num = d->view.num_coordinates, num_space = d->view.num_space;
  double corner[3 * POINTS];
  for (int i = 0; i < d->num_faces; i++)
    for (int j = 0; j < d->num_faces; j++) {
      const face *f = &d->faces[i], *g = &d->faces[j];
      const solid *s = &d->solids[f->solid];
      if (f->piece != a || g->piece != b || f->solid != g->solid || s->kind != SOLID_SURFACE) continue;
      const int64_t most = n - *found < POINTS ? n - *found : POINTS;
      const int64_t k = surface_meeting(s->surface, f->side, g->side, most, corner);
      for (int64_t c = 0; c < k; c++, (*found)++) {
        memcpy(points + *found * num, start + *found * num, (size_t)num * sizeof *points);
        memcpy(points + *found * num, corner + c * num_space, (size_t)num_space * sizeof *points);
      }
    }
}

pcsim_status domain_draw_meeting(const domain *d, int a, int b, uint64_t seed, uint64_t draw, int64_t n,
                                 double *points, int64_t *found) {
  const int num = d->view.num_coordinates;
  double *start = NULL, *normals = NULL;
  const int64_t tries = TRIES * n;
  pcsim_status status = PCSIM_OK;
  *found = 0;
  PCSIM_GOTO(pcsim_alloc((size_t)(tries * num), sizeof *start, &start), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)(tries * num), sizeof *normals, &normals), status, done);
  PCSIM_GOTO(domain_draw_piece(d, a, seed, draw, tries, start, normals), status, done);
  surface_corners(d, a, b, n, start, points, found);
  for (int64_t k = 0; k < tries && *found < n; k++) {
    double *x = start + k * num, y[DOMAIN_MAX];
    /* Every pair of faces in turn. */
    for (int i = 0; i < d->num_faces; i++) {
      bool there = false;
      const face *f = &d->faces[i];
      if (f->piece != a || d->solids[f->solid].kind == SOLID_SURFACE) continue;
      for (int j = 0; j < d->num_faces && !there && *found < n; j++) {
        const face *g = &d->faces[j];
        if (g->piece != b || d->solids[g->solid].kind == SOLID_SURFACE) continue;
        memcpy(y, x, (size_t)num * sizeof *y);
        there = move_onto(d, f, g, y) && ends_at(d, f, y, (uint64_t)k) && ends_at(d, g, y, (uint64_t)k);
        if (there) memcpy(points + (*found)++ * num, y, (size_t)num * sizeof *y);
      }
      if (there || *found == n) break;
    }
  }
done:
  pcsim_free(&start);
  pcsim_free(&normals);
  return status;
}

/* ------------------------------------------------------------ contradictions */

/** Values of a condition at points [n][num_coordinates]. */
static pcsim_status evaluate(const domain_value *value, const double *points, int64_t n, double *out) {
  pcsim_executor *run = NULL;
  pcsim_status status;
  bool varies = false, used;
  const char *name;
  for (int i = 0; (name = pcsim_program_input(value->program, i, NULL, &used)); i++)
    varies = varies || (used && !strcmp(name, "coordinates"));
  PCSIM_TRY(pcsim_executor_create(value->program, NULL, &run));
  if (varies) {
    PCSIM_GOTO(pcsim_executor_points(run, "points", n), status, done);
    PCSIM_GOTO(pcsim_executor_bind(run, "coordinates", points), status, done);
  }
  PCSIM_GOTO(pcsim_executor_bind_output(run, value->output, out), status, done);
  status = pcsim_executor_run(run, false);
  /* A constant is put out once. */
  for (int64_t i = 1; i < n && !varies; i++) out[i] = out[0];
done:
  pcsim_executor_destroy(&run);
  return status;
}

/** Keep the largest difference of two conditions at points where both hold. */
static pcsim_status compare(const domain *d, const domain_value *a, const domain_value *b, int piece,
                            int other, const double *points, int64_t n, domain_contradiction *worst) {
  double u[POINTS], v[POINTS];
  if (n == 0 || (a->program == b->program && !strcmp(a->output, b->output))) return PCSIM_OK;
  PCSIM_TRY(evaluate(a, points, n, u));
  PCSIM_TRY(evaluate(b, points, n, v));
  for (int64_t i = 0; i < n; i++) {
    const double difference = fabs(u[i] - v[i]);
    if (!(difference > worst->difference)) continue;
    *worst = (domain_contradiction){
        .piece = piece, .other = other, .value = u[i], .other_value = v[i], .difference = difference};
    memcpy(worst->point, points + i * d->view.num_coordinates,
           (size_t)d->view.num_coordinates * sizeof *points);
  }
  return PCSIM_OK;
}

pcsim_status domain_find_contradiction(const domain *d, const domain_value *values, const domain_value *start,
                                       domain_contradiction *worst) {
  const int num = d->view.num_coordinates;
  double points[POINTS * DOMAIN_MAX], normals[POINTS * SPACE_MAX];
  int64_t found;
  *worst = (domain_contradiction){.piece = -1, .other = -1};
  for (int a = 0; a < d->view.num_pieces; a++) {
    if (!values[a].program) continue;
    for (int b = a + 1; b < d->view.num_pieces; b++) {
      if (!values[b].program) continue;
      PCSIM_TRY(domain_draw_meeting(d, a, b, 0, 0, POINTS, points, &found));
      PCSIM_TRY(compare(d, &values[a], &values[b], a, b, points, found, worst));
    }
    if (!start || d->view.time < 0) continue;
    PCSIM_TRY(domain_draw_piece(d, a, 0, 0, POINTS, points, normals));
    for (int i = 0; i < POINTS; i++) points[i * num + d->view.time] = d->range[d->view.time][0];
    PCSIM_TRY(compare(d, &values[a], start, a, -1, points, POINTS, worst));
  }
  return PCSIM_OK;
}
