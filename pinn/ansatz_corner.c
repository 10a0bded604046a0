/* SPDX-License-Identifier: BSD-2-Clause */
/* Corners of a plane flow at which the given velocities contradict continuity: where a wall at rest meets one
 * along which the velocity changes, u_x + v_y of the two is not zero. There the vorticity depends on the
 * direction and the pressure is infinite like the logarithm of the distance, whatever the Reynolds number
 * (Batchelor, An Introduction to Fluid Dynamics, section 4.8; Hancock, Lewis, Moffatt, J. Engng Math. 15,
 * 1981). */
#include "ansatz_parts.h"

#include <math.h>
#include <string.h>

enum { NEAR_POINTS = 256 /* of a piece, of which the nearest tells its direction */ };
static const double worth = 0.01; /* least divergence, over the slopes of the velocities */

/* Velocity along a piece: its change by length at a corner, over two lengths, the second a tenth of the
 * first, and the direction. */
typedef struct {
  corner_side where;
  double slope[2][2];
} side;

static const problem_condition *given(const problem *p, int unknown, int piece) {
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    if (c->place == PLACE_PIECES && c->kind == CONDITION_VALUE && c->unknown == unknown && c->piece[piece])
      return c;
  }
  return NULL;
}

/* Difference of a given value between two points of the plane, other coordinates being those of `at`. */
static pcsim_status difference(ansatz_builder *b, const problem_condition *c, const double *at,
                               const double *from, const double *to, double *change) {
  const int n = b->problem->domain->num_coordinates;
  double points[2 * DOMAIN_MAX], values[2];
  bool used = false;
  pcsim_program *program = NULL;
  pcsim_executor *x = NULL;
  pcsim_status status = PCSIM_OK;
  for (int i = 0; i < 2; i++) {
    memcpy(points + i * n, at, (size_t)n * sizeof *points);
    memcpy(points + i * n, i ? to : from, 2 * sizeof *points);
  }
  PCSIM_TRY(parts_lower(b, &c->text, &program));
  values[0] = values[1] = 0; /* a number alone is on no space: its difference is 0 */
  if (pcsim_program_input(program, 0, NULL, &used) && used) {
    PCSIM_GOTO(pcsim_executor_create(program, NULL, &x), status, done);
    PCSIM_GOTO(pcsim_executor_points(x, "points", 2), status, done);
    PCSIM_GOTO(pcsim_executor_bind(x, "coordinates", points), status, done);
    PCSIM_GOTO(pcsim_executor_bind_output(x, "0", values), status, done);
    status = pcsim_executor_run(x, false);
  }
  *change = values[1] - values[0];
done:
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&program);
  return status;
}

/* `*found` false: the velocity is not given on the piece. */
static pcsim_status look_along(ansatz_builder *b, int piece, const double *from, side *s, bool *found) {
  const domain_view *d = b->problem->domain;
  const size_t n = (size_t)d->num_coordinates;
  double *points = NULL, nearest = INFINITY, to[2];
  *found = false;
  for (int u = 0; u < 2; u++)
    if (!given(b->problem, u, piece)) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(NEAR_POINTS * (n + 2), sizeof *points, &points));
  pcsim_status status =
      domain_draw_piece(b->domain, piece, 1, 0, NEAR_POINTS, points, points + NEAR_POINTS * n);
  for (size_t i = 0; status == PCSIM_OK && i < NEAR_POINTS; i++) {
    const double x = points[i * n] - from[0], y = points[i * n + 1] - from[1], r = hypot(x, y);
    if (r > 0 && r < nearest) {
      const double *normal = points + NEAR_POINTS * n + 2 * i;
      nearest = r;
      s->where = (corner_side){.piece = piece, .along = {x / r, y / r}, .normal = {normal[0], normal[1]}};
    }
  }
  pcsim_free(&points);
  PCSIM_TRY(status);
  double h = 1e-4 * (d->range[0][1] - d->range[0][0] + d->range[1][1] - d->range[1][0]);
  for (int i = 0; i < 2; i++, h *= 0.1) {
    for (int k = 0; k < 2; k++) to[k] = from[k] + h * s->where.along[k];
    for (int u = 0; u < 2; u++) {
      PCSIM_TRY(difference(b, given(b->problem, u, piece), from, from, to, &s->slope[i][u]));
      s->slope[i][u] /= h;
    }
  }
  *found = true;
  return PCSIM_OK;
}

/* G with G a = its slope on both sides; its trace, which continuity wants to be 0, against the slopes. One
 * that goes with the length over which slopes are taken is none. */
static bool contradicts(const side *a, const side *b) {
  const double *p = a->where.along, *q = b->where.along, det = p[0] * q[1] - p[1] * q[0];
  double trace[2], size = 0;
  if (fabs(det) < 1e-3) return false; /* one line */
  for (int i = 0; i < 2; i++) {
    trace[i] = (a->slope[i][0] * q[1] - b->slope[i][0] * p[1]) / det +
               (b->slope[i][1] * p[0] - a->slope[i][1] * q[0]) / det;
    size = hypot(a->slope[i][0], a->slope[i][1]) + hypot(b->slope[i][0], b->slope[i][1]);
  }
  return fabs(trace[1]) > worth * size && fabs(trace[1]) > 0.5 * fabs(trace[0]);
}

pcsim_status ansatz_corners(const problem *p, const domain *whole, corners *c) {
  ansatz_builder builder = {.problem = p, .domain = whole}, *b = &builder;
  const domain_view *d = p->domain;
  enum { MEET_POINTS = 8 };
  double points[MEET_POINTS * DOMAIN_MAX];
  *c = (corners){0};
  if (!problem_is_flow(b->problem) || d->num_space != 2) return PCSIM_OK;
  for (int i = 0; i < d->num_pieces; i++)
    for (int j = i + 1; j < d->num_pieces; j++) {
      int64_t found;
      PCSIM_TRY(domain_draw_meeting(b->domain, i, j, 1, 0, MEET_POINTS, points, &found));
      for (int64_t k = 0; k < found; k++) {
        const double *x = points + k * d->num_coordinates;
        const double same = 1e-6 * (d->range[0][1] - d->range[0][0]);
        side one, other;
        bool known = false, given_one, given_other = false;
        for (int l = 0; l < c->num; l++)
          known = known || hypot(x[0] - c->corner[l].at[0], x[1] - c->corner[l].at[1]) < same;
        if (known || c->num == CORNERS_MAX) continue;
        PCSIM_TRY(look_along(b, i, x, &one, &given_one));
        if (given_one) PCSIM_TRY(look_along(b, j, x, &other, &given_other));
        if (!given_other || !contradicts(&one, &other)) continue;
        c->corner[c->num++] = (corner){.at = {x[0], x[1]}, .side = {one.where, other.where}};
      }
    }
  return PCSIM_OK;
}
