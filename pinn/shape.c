/* SPDX-License-Identifier: BSD-2-Clause */
/* Boxes and balls: levels, points inside and on their faces, volumes and areas. A solid that is not bounded
 * in a coordinate is a cylinder along it, cut off where the box around the domain ends; the cut is no face.
 */
#include "shape.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------- levels */

static double box_level(const solid *s, int num_space, const double *x) {
  double level = INFINITY;
  for (int i = 0; i < num_space; i++)
    if (s->bounded[i]) level = fmin(level, fmin(x[i] - s->low[i], s->high[i] - x[i]));
  return level;
}

static double ball_level(const solid *s, int num_space, const double *x) {
  double square = 0;
  for (int i = 0; i < num_space; i++)
    if (s->bounded[i]) square += (x[i] - s->centre[i]) * (x[i] - s->centre[i]);
  return s->radius - sqrt(square);
}

double solid_level(const solid *s, int num_space, const double *x) {
  switch (s->kind) {
  case SOLID_BOX:
    return box_level(s, num_space, x);
  case SOLID_BALL:
    return ball_level(s, num_space, x);
  case SOLID_SURFACE:
    return surface_level(s->surface, x);
  }
  return -INFINITY;
}

double shape_level(const domain *d, const double *x) {
  double level[STEPS_MAX];
  for (int i = 0; i < d->num_steps; i++) {
    const step *s = &d->steps[i];
    switch (s->kind) {
    case STEP_SOLID:
      level[i] = solid_level(&d->solids[s->solid], d->view.num_space, x);
      break;
    case STEP_PLUS:
      level[i] = fmax(level[s->left], level[s->right]);
      break;
    case STEP_AND:
      level[i] = fmin(level[s->left], level[s->right]);
      break;
    case STEP_MINUS:
      level[i] = fmin(level[s->left], -level[s->right]);
      break;
    }
  }
  return level[d->num_steps - 1];
}

/* ------------------------------------------------------- volumes and areas */

static int bounded_in(const solid *s, int num_space) {
  int k = 0;
  for (int i = 0; i < num_space; i++) k += s->bounded[i];
  return k;
}

/** Length, area, volume, ... of the cut-off cylinder's axis: of the coordinates that are not bounded. */
static double unbounded_measure(const solid *s, int num_space) {
  double product = 1;
  for (int i = 0; i < num_space; i++)
    if (!s->bounded[i]) product *= s->high[i] - s->low[i];
  return product;
}

/** Of the ball of radius 1 in k dimensions. */
static double unit_ball(int k) { return pow(pi, 0.5 * k) / tgamma(0.5 * k + 1); }

double solid_volume(const solid *s, int num_space) {
  if (s->kind == SOLID_SURFACE) return surface_volume(s->surface);
  double product = unbounded_measure(s, num_space);
  if (s->kind == SOLID_BALL) {
    const int k = bounded_in(s, num_space);
    return product * unit_ball(k) * pow(s->radius, k);
  }
  for (int i = 0; i < num_space; i++)
    if (s->bounded[i]) product *= s->high[i] - s->low[i];
  return product;
}

int solid_num_faces(const domain *d, int number) {
  const solid *s = &d->solids[number];
  if (s->kind == SOLID_SURFACE) return surface_num_patches(s->surface);
  return s->kind == SOLID_BALL ? 1 : 2 * bounded_in(s, d->view.num_space);
}

void solid_faces(domain *d, int number) {
  const solid *s = &d->solids[number];
  const int n = d->view.num_space;
  const double volume = solid_volume(s, n);
  if (s->kind == SOLID_SURFACE) {
    for (int i = 0; i < surface_num_patches(s->surface); i++)
      d->faces[d->num_faces++] =
          (face){.solid = number, .side = i, .piece = s->patch_piece[i], .area = surface_area(s->surface, i)};
    return;
  }
  if (s->kind == SOLID_BALL) {
    const double area = volume * bounded_in(s, n) / s->radius;
    d->faces[d->num_faces++] = (face){.solid = number, .piece = s->piece[0], .area = area};
    return;
  }
  for (int i = 0; i < n; i++)
    for (int side = 0; side < 2 && s->bounded[i]; side++)
      d->faces[d->num_faces++] = (face){.solid = number,
                                        .side = 2 * i + side,
                                        .piece = s->piece[2 * i + side],
                                        .area = volume / (s->high[i] - s->low[i])};
}

/* ------------------------------------------------------------------- points */

/** Numbers that a point of the sphere in k dimensions takes: an end, an angle, a height and an angle, a
 *  direction from k normal variables. */
static int sphere_numbers(int k) { return k <= 2 ? 1 : k == 3 ? 2 : k; }

static void sphere_point(int k, const double *u, double *n) {
  if (k == 1) n[0] = u[0] < 0.5 ? -1 : 1;
  else if (k == 2) n[0] = cos(2 * pi * u[0]), n[1] = sin(2 * pi * u[0]);
  else if (k == 3) {
    const double z = 2 * u[0] - 1, r = sqrt(fmax(0, 1 - z * z));
    n[0] = r * cos(2 * pi * u[1]), n[1] = r * sin(2 * pi * u[1]), n[2] = z;
  } else {
    double square = 0;
    for (int i = 0; i < k; i++) n[i] = normal_quantile(u[i]), square += n[i] * n[i];
    for (int i = 0; i < k; i++) n[i] = square > 0 ? n[i] / sqrt(square) : i == 0;
  }
}

static double within(const solid *s, int i, double u) { return s->low[i] + u * (s->high[i] - s->low[i]); }

/** x from the direction n [bounded coordinates] at distance r, and u [the others]. */
static void cylinder_point(const solid *s, int num_space, const double *n, double r, const double *u,
                           double *x) {
  for (int i = 0; i < num_space; i++) x[i] = s->bounded[i] ? s->centre[i] + r * *n++ : within(s, i, *u++);
}

int solid_numbers(const solid *s, int num_space) {
  const int k = bounded_in(s, num_space);
  return s->kind == SOLID_BOX ? num_space : num_space - k + (k == 1 ? 1 : sphere_numbers(k) + 1);
}

void solid_point(const solid *s, int num_space, const double *u, double *x) {
  if (s->kind == SOLID_BOX) {
    for (int i = 0; i < num_space; i++) x[i] = within(s, i, u[i]);
    return;
  }
  const int k = bounded_in(s, num_space), m = k == 1 ? 1 : sphere_numbers(k) + 1;
  double n[SPACE_MAX];
  if (k == 1) n[0] = 1;
  else sphere_point(k, u + 1, n);
  const double r = k == 1 ? 2 * u[0] - 1 : k == 2 ? sqrt(u[0]) : k == 3 ? cbrt(u[0]) : pow(u[0], 1.0 / k);
  cylinder_point(s, num_space, n, s->radius * r, u + m, x);
}

int face_numbers(const domain *d, const face *f) {
  const solid *s = &d->solids[f->solid];
  const int n = d->view.num_space, k = bounded_in(s, n);
  return s->kind != SOLID_BALL ? n - 1 : sphere_numbers(k) + n - k;
}

void face_point(const domain *d, const face *f, const double *u, double *x, double *normal) {
  const solid *s = &d->solids[f->solid];
  const int num_space = d->view.num_space;
  if (s->kind == SOLID_SURFACE) {
    surface_point(s->surface, f->side, u, x, normal);
    return;
  }
  for (int i = 0; i < num_space; i++) normal[i] = 0;
  if (s->kind == SOLID_BOX) {
    for (int i = 0; i < num_space; i++)
      x[i] = i != f->side / 2 ? within(s, i, *u++) : f->side % 2 ? s->high[i] : s->low[i];
    normal[f->side / 2] = f->side % 2 ? 1 : -1;
    return;
  }
  const int k = bounded_in(s, num_space);
  double n[SPACE_MAX];
  sphere_point(k, u, n);
  cylinder_point(s, num_space, n, s->radius, u + sphere_numbers(k), x);
  for (int i = 0, j = 0; i < num_space; i++)
    if (s->bounded[i]) normal[i] = n[j++];
}

bool face_keeps(const domain *d, const face *f, const double *x, double *normal) {
  const int n = d->view.num_space;
  double before[SPACE_MAX], behind[SPACE_MAX];
  if (d->num_solids == 1) return true;
  for (int i = 0; i < n; i++) {
    before[i] = x[i] + d->offset * normal[i];
    behind[i] = x[i] - d->offset * normal[i];
  }
  const bool outward = shape_level(d, behind) >= -d->tolerance;
  if (outward == (shape_level(d, before) >= -d->tolerance)) return false;
  /* Of faces that lie on each other the first is the boundary. */
  for (int j = 0; j < f->solid; j++)
    if (fabs(solid_level(&d->solids[j], n, x)) <= d->tolerance) return false;
  for (int i = 0; i < n && !outward; i++) normal[i] = -normal[i];
  return true;
}
