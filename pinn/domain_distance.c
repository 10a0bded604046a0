/* SPDX-License-Identifier: BSD-2-Clause */
/* Distance functions of pieces of the boundary, as programs.
 *
 * Each solid with marked faces gives a factor D: zero on these faces, positive in the rest of the closed
 * domain. Factors of solids that meet are multiplied: a product is smooth where the boundary has a corner, as
 * what it is to multiply. Those of solids that lie apart are joined by the harmonic mean D E / (D + E), which
 * is D close to the zero of D and does not get smaller with every further solid; it also is what the values
 * on them are weighed with (domain_blend.c). Sources: V. L. Rvachev, Theory of R-functions, 1982; Biswas and
 * Shapiro, Graphical Models 66 (2004); Sukumar and Srivastava, Comput. Methods Appl. Mech. Engrg. 389 (2022).
 * Factors, smooth inside unless a line says otherwise:
 *
 *   box, domain inside     product of 4 (x - a) (b - x) / (b - a)^2, or (x - a) / (b - a) where one side is
 *                          marked: a polynomial, also where two sides meet
 *   ball, domain inside    1 - r^2 / R^2
 *   ball, domain outside   harmonic: log(r / R) in the plane, 1 - (R / r)^(k - 2) in k > 2 coordinates,
 * scaled; on the line (r^2 - R^2) / (r^2 + R^2) box, domain outside    ((x - c)^2 - h^2) / ((x - c)^2 + h^2)
 * in each coordinate, joined by a + b + sqrt(a^2 + b^2); second derivatives grow as 1 / distance towards
 * re-entrant corners, as they must: no function that vanishes on both sides of one with a slope has bounded
 * ones. From three coordinates on the fourth root of the sum of fourth powers of positive parts union where a
 * part of a face is inside of another solid, trimmed (Sukumar and Srivastava, eq. 11): sqrt(f^2 + (sqrt(t^2 +
 * f^4) - t)^2 / 4), zero where f = 0 and t >= 0, both of them bounded first; on the face itself it has a kink
 */
#include "distance.h"

#include <math.h>
#include <string.h>

enum { TOUCH_TRIES = 256 };

static pcsim_value number(pcsim_program *p, double value) { return pcsim_build_constant(p, value); }
static pcsim_value add(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_ADD, a, b);
}
static pcsim_value sub(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_SUB, a, b);
}
static pcsim_value mul(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_MUL, a, b);
}
static pcsim_value over(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_DIV, a, b);
}
/** Of something that may be zero: the slope is finite there. */
static pcsim_value root(pcsim_program *p, pcsim_value a) {
  return pcsim_build_unary(p, PCSIM_OP_SQRT, add(p, a, number(p, 1e-60)));
}
static pcsim_value square(pcsim_program *p, pcsim_value a) { return mul(p, a, a); }
/** scale (x - origin) */
static pcsim_value linear(pcsim_program *p, pcsim_value x, double origin, double scale) {
  return mul(p, sub(p, x, number(p, origin)), number(p, scale));
}
static pcsim_value length(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return root(p, add(p, square(p, a), square(p, b)));
}

/* ------------------------------------------------------------------- solids */

/** Square of the distance from the centre of a ball over that of its radius. */
static pcsim_value ball_square(const domain *d, const solid *s, pcsim_program *p, pcsim_value x) {
  pcsim_value sum = PCSIM_NO_VALUE, part;
  int n = 0;
  for (int i = 0; i < d->view.num_space; i++) n += s->bounded[i];
  if (n == d->view.num_space) {
    part = sub(p, pcsim_build_slice(p, x, 0, n), pcsim_build_constants(p, n, s->centre));
    sum = n > 1 ? pcsim_build_row_sum(p, square(p, part)) : square(p, part);
    return mul(p, sum, number(p, 1 / (s->radius * s->radius)));
  }
  for (int i = 0; i < d->view.num_space; i++) {
    if (!s->bounded[i]) continue;
    part = square(p, linear(p, pcsim_build_slice(p, x, i, 1), s->centre[i], 1 / s->radius));
    sum = sum == PCSIM_NO_VALUE ? part : add(p, sum, part);
  }
  return sum;
}

/** Bounded and increasing with s, zero at s = 1. */
static pcsim_value beyond(pcsim_program *p, pcsim_value s) {
  return over(p, sub(p, s, number(p, 1)), add(p, s, number(p, 1)));
}

/** Outside of a ball, by the square of the distance from its centre over that of its radius: harmonic in the
 *  coordinates that it is bounded in, 1 as far away as the domain is large. */
static pcsim_value around(const domain *d, const solid *s, pcsim_program *p, pcsim_value square) {
  const double far = d->size * d->size / (s->radius * s->radius);
  int k = 0;
  for (int i = 0; i < d->view.num_space; i++) k += s->bounded[i];
  if (k == 1) return beyond(p, square);
  if (k == 2) return mul(p, pcsim_build_unary(p, PCSIM_OP_LOG, square), number(p, 1 / log(far)));
  pcsim_value power = k == 3 ? over(p, number(p, 1), pcsim_build_unary(p, PCSIM_OP_SQRT, square))
                             : pcsim_build_binary(p, PCSIM_OP_POW, square, number(p, 1 - 0.5 * k));
  return mul(p, sub(p, number(p, 1), power), number(p, 1 / (1 - pow(far, 1 - 0.5 * k))));
}

/** Zero at the marked sides of coordinate i, positive between them; `sides` 1: the lower one, 2: the upper
 *  one. */
static pcsim_value between(const solid *s, int i, int sides, pcsim_program *p, pcsim_value x) {
  const double scale = 1 / (s->high[i] - s->low[i]);
  const pcsim_value xi = pcsim_build_slice(p, x, i, 1);
  const pcsim_value low = linear(p, xi, s->low[i], scale), high = linear(p, xi, s->high[i], -scale);
  return sides == 1 ? low : sides == 2 ? high : mul(p, number(p, 4), mul(p, low, high));
}

/** Zero at these sides of coordinate i, positive beyond them. */
static pcsim_value outside(const domain *d, const solid *s, int i, int sides, pcsim_program *p,
                           pcsim_value x) {
  const pcsim_value xi = pcsim_build_slice(p, x, i, 1);
  if (sides == 1) return linear(p, xi, s->low[i], -1 / d->size);
  if (sides == 2) return linear(p, xi, s->high[i], 1 / d->size);
  const double half = 0.5 * (s->high[i] - s->low[i]);
  return beyond(p, square(p, linear(p, xi, 0.5 * (s->high[i] + s->low[i]), 1 / half)));
}

/** Where any of a [n] is positive; see the head of the file. */
static pcsim_value any_positive(pcsim_program *p, const pcsim_value *a, int n) {
  pcsim_value sum = PCSIM_NO_VALUE;
  if (n == 1) return a[0];
  if (n == 2) return add(p, add(p, a[0], a[1]), length(p, a[0], a[1]));
  for (int i = 0; i < n; i++) {
    pcsim_value part = pcsim_build_binary(p, PCSIM_OP_MAX, a[i], number(p, 0));
    part = square(p, square(p, part));
    sum = i == 0 ? part : add(p, sum, part);
  }
  return root(p, root(p, sum));
}

/** Zero on the marked faces of a solid (sides [SPACE_MAX] of a box), positive on the side of the domain. */
static pcsim_value solid_factor(const domain *d, const solid *s, const int *sides, bool positive,
                                pcsim_program *p, pcsim_value x) {
  pcsim_value part[SPACE_MAX], product = PCSIM_NO_VALUE;
  int n = 0;
  if (s->kind == SOLID_BALL) {
    const pcsim_value r = ball_square(d, s, p, x);
    return positive ? sub(p, number(p, 1), r) : around(d, s, p, r);
  }
  for (int i = 0; i < d->view.num_space; i++) {
    if (!sides[i]) continue;
    part[n] = positive ? between(s, i, sides[i], p, x) : outside(d, s, i, sides[i], p, x);
    product = n == 0 ? part[n] : mul(p, product, part[n]);
    n++;
  }
  return positive ? product : any_positive(p, part, n);
}

/** Sign of a solid: positive inside if `positive`, else positive outside. */
static pcsim_value solid_sign(const domain *d, const solid *s, bool positive, pcsim_program *p,
                              pcsim_value x) {
  pcsim_value all = PCSIM_NO_VALUE;
  if (s->kind == SOLID_BALL) return solid_factor(d, s, NULL, positive, p, x);
  for (int i = 0; i < d->view.num_space; i++) {
    if (!s->bounded[i]) continue;
    const pcsim_value part = between(s, i, 3, p, x);
    all = all == PCSIM_NO_VALUE ? part : sub(p, add(p, all, part), length(p, all, part));
  }
  return positive ? all : pcsim_build_unary(p, PCSIM_OP_NEG, all);
}

/* --------------------------------------------------------------- operations */

/** Is the result of the operation, or its complement, a union? */
static bool is_union(step_kind kind, bool positive) { return (kind == STEP_PLUS) == positive; }

/** Positive inside (outside unless `positive`) the result of a step. */
static pcsim_value sign_of(const domain *d, int k, bool positive, pcsim_program *p, pcsim_value x) {
  const step *s = &d->steps[k];
  if (s->kind == STEP_SOLID) return solid_sign(d, &d->solids[s->solid], positive, p, x);
  const pcsim_value a = sign_of(d, s->left, positive, p, x);
  const pcsim_value b = sign_of(d, s->right, s->kind == STEP_MINUS ? !positive : positive, p, x);
  const pcsim_value l = length(p, a, b), sum = add(p, a, b);
  return is_union(s->kind, positive) ? add(p, sum, l) : sub(p, sum, l);
}

/** Between -1 and 1, of slope 1 at 0. */
static pcsim_value bound(pcsim_program *p, pcsim_value f) {
  return over(p, f, pcsim_build_unary(p, PCSIM_OP_SQRT, add(p, number(p, 1), square(p, f))));
}

/** f without its zeros where t < 0. */
static pcsim_value trim(pcsim_program *p, pcsim_value f, pcsim_value t) {
  f = bound(p, f);
  t = bound(p, t);
  const pcsim_value f2 = square(p, f), more = sub(p, length(p, t, f2), t);
  return root(p, add(p, f2, mul(p, number(p, 0.25), square(p, more))));
}

/** The operation that takes the result of each step [num_steps], -1 for the last. */
static void find_parents(const domain *d, int *parent) {
  for (int k = 0; k < d->num_steps; k++) {
    parent[k] = -1;
    if (d->steps[k].kind != STEP_SOLID) parent[d->steps[k].left] = parent[d->steps[k].right] = k;
  }
}

/** Is the result of step k taken as it is, not as what is outside of it? Counts what is taken away on the
 *  way up. */
static bool is_positive(const domain *d, const int *parent, int k) {
  bool positive = true;
  for (; parent[k] >= 0; k = parent[k])
    if (d->steps[parent[k]].kind == STEP_MINUS && d->steps[parent[k]].right == k) positive = !positive;
  return positive;
}

/** The factor of the solid of step k, trimmed where it runs through other parts of a union. */
static pcsim_value step_factor(const domain *d, const int *parent, int k, const int *sides, pcsim_program *p,
                               pcsim_value x) {
  pcsim_value f = solid_factor(d, &d->solids[d->steps[k].solid], sides, is_positive(d, parent, k), p, x);
  for (int up = parent[k]; up >= 0; k = up, up = parent[k]) {
    const bool positive = is_positive(d, parent, up);
    if (!is_union(d->steps[up].kind, positive)) continue;
    const int other = d->steps[up].left == k ? d->steps[up].right : d->steps[up].left;
    f = trim(p, f, sign_of(d, other, !is_positive(d, parent, other), p, x));
  }
  return f;
}

static bool is_marked(const face *f, const bool *of) { return f->piece >= 0 && of[f->piece]; }

/** Is x on the surface that the factor of a marked face vanishes on: the sphere, the whole plane of a side?
 */
static bool on_surface(const domain *d, const bool *of, const double *x) {
  for (int i = 0; i < d->num_faces; i++) {
    const face *f = &d->faces[i];
    const solid *s = &d->solids[f->solid];
    const int c = f->side / 2;
    if (!is_marked(f, of)) continue;
    const double off = s->kind == SOLID_BALL ? solid_level(s, d->view.num_space, x)
                                             : x[c] - (f->side % 2 ? s->high[c] : s->low[c]);
    if (fabs(off) <= d->tolerance) return true;
  }
  return false;
}

/** Would a factor vanish where it should not: where parts of a union touch along a face inside, or where
 *  another boundary goes on in the plane of a marked one? Looked for in points of all faces. */
static bool vanishes_elsewhere(const domain *d, const bool *of) {
  double u[SEQUENCE_MAX], x[SPACE_MAX], normal[SPACE_MAX];
  for (int i = 0; i < d->num_faces && d->num_solids > 1; i++) {
    const face *f = &d->faces[i];
    sequence s;
    sequence_start(&s, SEQUENCE_SOBOL, face_numbers(d, f), 0, 0);
    for (int k = 0; k < TOUCH_TRIES; k++) {
      sequence_point(&s, (uint64_t)k, u);
      face_point(d, f, u, x, normal);
      if (!on_surface(d, of, x) || shape_level(d, x) > d->tolerance) continue;
      if (face_keeps(d, f, x, normal)) {
        if (!is_marked(f, of)) return true;
        continue;
      }
      for (int c = 0; c < d->view.num_space; c++) x[c] += d->offset * normal[c];
      const bool before = domain_inside(d, x);
      for (int c = 0; c < d->view.num_space; c++) x[c] -= 2 * d->offset * normal[c];
      if (before && domain_inside(d, x)) return true;
    }
  }
  return false;
}

/** Surfaces have no distance function here: is one marked, or might one trim the factor of another solid? */
static bool needs_surface(const domain *d, const bool *of) {
  bool any = false, joined = false;
  for (int k = 0; k < d->num_steps; k++) joined = joined || d->steps[k].kind == STEP_PLUS;
  for (int i = 0; i < d->num_faces; i++)
    any = any ||
          (d->solids[d->faces[i].solid].kind == SOLID_SURFACE && (joined || is_marked(&d->faces[i], of)));
  return any;
}

bool distance_factors(const domain *d, const bool *of, pcsim_program *p, pcsim_value coordinates,
                      pcsim_value *factor) {
  int parent[STEPS_MAX], sides[SPACE_MAX];
  bool any = false;
  if (needs_surface(d, of) || vanishes_elsewhere(d, of)) return false;
  find_parents(d, parent);
  for (int k = 0; k < d->num_steps; k++) {
    const step *s = &d->steps[k];
    bool marked = false;
    if (s->kind != STEP_SOLID) continue;
    for (int i = 0; i < SPACE_MAX; i++) sides[i] = 0;
    for (int i = 0; i < d->num_faces; i++) {
      const face *f = &d->faces[i];
      if (f->solid != s->solid || !is_marked(f, of)) continue;
      marked = true;
      sides[f->side / 2] |= 1 << f->side % 2;
    }
    factor[s->solid] = PCSIM_NO_VALUE;
    if (!marked) continue;
    factor[s->solid] = step_factor(d, parent, k, sides, p, coordinates);
    any = true;
  }
  return any;
}

/** May the surfaces of two solids meet? Points of the faces of the first are compared with the second. */
static bool crosses(const domain *d, int first, int second) {
  double u[SEQUENCE_MAX], x[SPACE_MAX], normal[SPACE_MAX];
  bool inside = false, outside = false;
  for (int i = 0; i < d->num_faces; i++) {
    const face *f = &d->faces[i];
    sequence s;
    if (f->solid != first) continue;
    sequence_start(&s, SEQUENCE_SOBOL, face_numbers(d, f), 0, 0);
    for (int k = 0; k < TOUCH_TRIES; k++) {
      sequence_point(&s, (uint64_t)k, u);
      face_point(d, f, u, x, normal);
      const double level = solid_level(&d->solids[second], d->view.num_space, x);
      if (fabs(level) < 1e-3 * d->size) return true;
      inside = inside || level > 0;
      outside = outside || level < 0;
    }
  }
  return inside && outside;
}

bool distance_meet(const domain *d, int a, int b) { return crosses(d, a, b) || crosses(d, b, a); }

void distance_groups(const domain *d, const bool *marked, int *group) {
  for (int i = 0; i < d->num_solids; i++) group[i] = marked[i] ? i : -1;
  for (int i = 0; i < d->num_solids; i++)
    for (int j = i + 1; j < d->num_solids; j++) {
      if (group[i] < 0 || group[j] < 0 || group[i] == group[j] || !distance_meet(d, i, j)) continue;
      const int from = group[j] > group[i] ? group[j] : group[i],
                to = group[j] > group[i] ? group[i] : group[j];
      for (int k = 0; k < d->num_solids; k++)
        if (group[k] == from) group[k] = to;
    }
}

pcsim_value distance_of_group(const domain *d, const pcsim_value *factor, const int *group, int which,
                              pcsim_program *p) {
  pcsim_value product = PCSIM_NO_VALUE;
  for (int i = 0; i < d->num_solids; i++)
    if (group[i] == which) product = product == PCSIM_NO_VALUE ? factor[i] : mul(p, product, factor[i]);
  return product;
}

bool distance_is_trimmed(const domain *d, int number) {
  int parent[STEPS_MAX], k = 0;
  find_parents(d, parent);
  while (d->steps[k].kind != STEP_SOLID || d->steps[k].solid != number) k++;
  for (int up = parent[k]; up >= 0; up = parent[up])
    if (is_union(d->steps[up].kind, is_positive(d, parent, up))) return true;
  return false;
}

bool distance_is_outside(const domain *d, int number) {
  int parent[STEPS_MAX], k = 0;
  find_parents(d, parent);
  while (d->steps[k].kind != STEP_SOLID || d->steps[k].solid != number) k++;
  return !is_positive(d, parent, k);
}

bool domain_hole(const domain *d, int i, bool *of, double *centre, double *radius) {
  for (int k = 0; k < d->num_solids; k++) {
    const solid *s = &d->solids[k];
    if (s->kind != SOLID_BALL || !distance_is_outside(d, k) || i-- > 0) continue;
    memcpy(of, s->bounded, (size_t)d->view.num_space * sizeof *of);
    memcpy(centre, s->centre, (size_t)d->view.num_space * sizeof *centre);
    *radius = s->radius;
    return true;
  }
  return false;
}

bool domain_get_wall(const domain *d, int piece, int i, domain_wall *wall, bool *known) {
  for (int k = 0; k < d->num_faces; k++) {
    const face *f = &d->faces[k];
    const solid *s = &d->solids[f->solid];
    if (f->piece != piece || i-- > 0) continue;
    *wall = (domain_wall){.sphere = s->kind == SOLID_BALL, .outside = distance_is_outside(d, f->solid)};
    *known = wall->sphere;
    if (wall->sphere) {
      wall->radius = s->radius;
      memcpy(wall->of, s->bounded, (size_t)d->view.num_space * sizeof *wall->of);
      memcpy(wall->at, s->centre, (size_t)d->view.num_space * sizeof *wall->at);
    } else if (s->kind == SOLID_BOX) {
      const int across = f->side / 2;
      wall->of[across] = true;
      wall->at[across] = f->side % 2 ? s->high[across] : s->low[across];
      wall->sign = (f->side % 2 ? -1 : 1) * (wall->outside ? -1 : 1);
      const double end = d->view.range[across][wall->sign > 0 ? 0 : 1];
      *known = fabs(wall->at[across] - end) <= d->tolerance;
    }
    return true;
  }
  return false;
}

pcsim_value domain_distance(const domain *d, const bool *of, pcsim_program *p, pcsim_value coordinates) {
  pcsim_value factor[SOLIDS_MAX], all = PCSIM_NO_VALUE;
  int group[SOLIDS_MAX];
  bool marked[SOLIDS_MAX];
  if (!distance_factors(d, of, p, coordinates, factor)) return PCSIM_NO_VALUE;
  for (int i = 0; i < d->num_solids; i++) marked[i] = factor[i] != PCSIM_NO_VALUE;
  distance_groups(d, marked, group);
  for (int i = 0; i < d->num_solids; i++) {
    if (group[i] != i) continue;
    const pcsim_value one = distance_of_group(d, factor, group, i, p);
    all = all == PCSIM_NO_VALUE ? one : over(p, mul(p, all, one), add(p, all, one));
  }
  return all;
}
