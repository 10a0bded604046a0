/* SPDX-License-Identifier: BSD-2-Clause */
/* Points towards singular corners, and their weights. */
#include "corners.h"

#include <math.h>

enum { STREAM = 0x61, MEASURE_POINTS = 1 << 14, MOST_TRIES = 1 << 12 /* for a point that is inside */ };
static const double pi = 3.14159265358979323846;
/* Radii and the distance from a side that is none, over the size of the domain. What lies within the least
 * radius adds 1e-6 to the norm of a logarithm. */
static const double least = 1e-6, largest = 0.1, off = 1e-9;
/* Of the largest radius: from there on values count more. */
static const double reach = 0.3;

static double size_of(const domain_view *d) {
  return hypot(d->range[0][1] - d->range[0][0], d->range[1][1] - d->range[1][0]);
}

/* Distance from a corner, or 0 where it is not one of those that are added. */
static double reached(const corners *c, const corner *at, const double *x) {
  const double r = hypot(x[0] - at->at[0], x[1] - at->at[1]);
  return r > c->radius[0] && r < c->radius[1] ? r : 0;
}

static double radius_of(const corners *c, double u) {
  return c->radius[0] * pow(c->radius[1] / c->radius[0], u);
}

/* Point of the numbers u about a corner; false: outside. Time and inputs are those of x. */
static bool place_inside(const domain *d, const corners *c, const corner *at, const double *u, double *x) {
  const double r = radius_of(c, u[0]), angle = 2 * pi * u[1];
  x[0] = at->at[0] + r * cos(angle), x[1] = at->at[1] + r * sin(angle);
  return domain_inside(d, x);
}

/* Does x lie on the straight line of a side, and on its piece? */
static bool is_on(const domain *d, const corner *at, const corner_side *s, const double *x) {
  const double y[2] = {x[0] - at->at[0], x[1] - at->at[1]};
  return fabs(y[0] * s->along[1] - y[1] * s->along[0]) < off * size_of(domain_get(d)) &&
         y[0] * s->along[0] + y[1] * s->along[1] > 0 && domain_on_piece(d, x, off) == s->piece;
}

static bool place_on(const domain *d, const corners *c, const corner *at, const corner_side *s, double u,
                     double *x) {
  const double r = radius_of(c, u);
  x[0] = at->at[0] + r * s->along[0], x[1] = at->at[1] + r * s->along[1];
  return is_on(d, at, s, x);
}

void corners_measure(const domain *d, corners *c) {
  const double size = size_of(domain_get(d));
  sequence s;
  double u[2], x[2];
  c->radius[0] = least * size, c->radius[1] = largest * size;
  const double length = log(c->radius[1] / c->radius[0]);
  sequence_start(&s, SEQUENCE_SOBOL, 2, 0, STREAM);
  const int num = c->num;
  c->num = 0;
  for (int k = 0; k < num; k++) {
    corner *at = &c->corner[c->num];
    int inside = 0, on[2] = {0};
    *at = c->corner[k];
    for (int i = 0; i < MEASURE_POINTS; i++) {
      sequence_point(&s, (uint64_t)i, u);
      inside += place_inside(d, c, at, u, x);
      for (int j = 0; j < 2; j++) on[j] += place_on(d, c, at, &at->side[j], u[0], x);
    }
    at->measure = 2 * pi * length * inside / MEASURE_POINTS;
    for (int j = 0; j < 2; j++) at->side[j].measure = length * on[j] / MEASURE_POINTS;
    if (inside * (MOST_TRIES / 4) > MEASURE_POINTS) c->num++; /* else too narrow to draw points in */
  }
}

/* Sides on a piece: how many, and number `which` of them with its corner. */
static int find_side(const corners *c, int piece, int which, const corner **at, const corner_side **side) {
  int n = 0;
  for (int k = 0; k < c->num; k++)
    for (int j = 0; j < 2; j++) {
      const corner_side *s = &c->corner[k].side[j];
      if (s->piece != piece || !(s->measure > 0)) continue;
      if (n++ == which) *at = &c->corner[k], *side = s;
    }
  return n;
}

/* The next point of a sequence that lies where it is to lie: inside, or on a side where that is not NULL. */
static pcsim_status next_point(const domain *d, const corners *c, const corner *at, const corner_side *side,
                               const sequence *s, uint64_t *place, double *x) {
  double u[2];
  for (int i = 0; i < MOST_TRIES; i++) {
    sequence_point(s, (*place)++, u);
    if (side ? place_on(d, c, at, side, u[0], x) : place_inside(d, c, at, u, x)) return PCSIM_OK;
  }
  PCSIM_FAIL(PCSIM_ERR_CASE, "no point near the corner (%g, %g) is in the domain", at->at[0], at->at[1]);
}

/* The last points, in equal parts; `piece` -1: inside. */
static pcsim_status move(const domain *d, const corners *c, int piece, uint64_t seed, uint64_t draw,
                         int64_t n, double *points, double *normals) {
  const domain_view *v = domain_get(d);
  const corner *at = NULL;
  const corner_side *side = NULL;
  const int num = piece < 0 ? c->num : find_side(c, piece, -1, &at, &side);
  const int64_t first = num ? n - (int64_t)floor(c->share * (double)n) : n;
  for (int k = 0; k < num; k++) {
    const int64_t begin = first + (n - first) * k / num, end = first + (n - first) * (k + 1) / num;
    sequence s;
    uint64_t place = 0;
    if (piece < 0) at = &c->corner[k];
    else (void)find_side(c, piece, k, &at, &side);
    const uint64_t own = (uint64_t)((piece + 1) * CORNERS_MAX * 2 + k) << 40; /* draws are below 2^40 */
    sequence_start(&s, SEQUENCE_SOBOL, 2, seed, (uint64_t)STREAM << 56 | own | draw);
    for (int64_t i = begin; i < end; i++) {
      PCSIM_TRY(next_point(d, c, at, side, &s, &place, points + i * v->num_coordinates));
      for (int j = 0; side && j < 2; j++) normals[i * v->num_space + j] = side->normal[j];
    }
  }
  return PCSIM_OK;
}

pcsim_status corners_move_inside(const domain *d, const corners *c, uint64_t seed, uint64_t draw, int64_t n,
                                 double *points) {
  return move(d, c, -1, seed, draw, n, points, NULL);
}

pcsim_status corners_move_piece(const domain *d, const corners *c, int piece, uint64_t seed, uint64_t draw,
                                int64_t n, double *points, double *normals) {
  return move(d, c, piece, seed, draw, n, points, normals);
}

double corners_weight_inside(const domain *d, const corners *c, const double *x) {
  double added = 0;
  if (!c->num) return 1;
  for (int k = 0; k < c->num; k++) {
    const double r = reached(c, &c->corner[k], x);
    if (r > 0) added += 1 / (c->corner[k].measure * r * r);
  }
  return 1 / (1 - c->share + c->share / c->num * domain_get(d)->volume * added);
}

double corners_weight_piece(const domain *d, const corners *c, int piece, const double *x) {
  const corner *at = NULL;
  const corner_side *side = NULL;
  const int num = find_side(c, piece, -1, &at, &side);
  double added = 0;
  if (!num) return 1;
  for (int k = 0; k < num; k++) {
    (void)find_side(c, piece, k, &at, &side);
    const double r = reached(c, at, x);
    if (r > 0 && is_on(d, at, side, x)) added += 1 / (side->measure * r);
  }
  return 1 / (1 - c->share + c->share / num * domain_get(d)->area[piece] * added);
}

double corners_stress(const corners *c, int piece, const double *x) {
  const corner *at = NULL;
  const corner_side *side = NULL;
  const int num = find_side(c, piece, -1, &at, &side);
  double nearest = c->radius[1] * reach;
  for (int k = 0; k < num; k++) {
    (void)find_side(c, piece, k, &at, &side);
    nearest = fmin(nearest, hypot(x[0] - at->at[0], x[1] - at->at[1]));
  }
  return num ? pow(c->radius[1] * reach / fmax(nearest, c->radius[0]), 3) : 1;
}
