/* SPDX-License-Identifier: BSD-2-Clause */
/* Boundary values carried into the domain.
 *
 * Values on sides of one box are joined by transfinite interpolation (W. J. Gordon, SIAM J. Numer. Anal. 8
 * (1971) 158-177): with P_i the interpolation along coordinate i, linear between two sides, constant from
 * one, it is the Boolean sum of the P_i,
 *
 *     sum over sets S of coordinates, not empty, of (-1)^(|S| + 1) times the product of the P_i in S:
 *
 * as smooth as the values, also in corners. Solids are joined by the weights w_i = 1 / D_i of their distance
 * factors (V. L. Rvachev, T. I. Sheiko, V. Shapiro, I. Tsukanov, Comput. Aided Geom. Design 18 (2001)
 * 195-220), which is linear between two plates. Higher powers would keep the normal derivatives of the values
 * too, which nothing needs, with steeper transitions that a network has to make up for. */
#include "distance.h"

#include <string.h>

enum { SIDES_MAX = 3 /**< coordinates with values on their sides that are joined exactly: 3^n - 1 terms */ };

/** What terms are made of. */
typedef struct {
  const domain *d;
  const domain_value *values;
  pcsim_program *p;
  pcsim_space space;
  pcsim_value coordinates;
  pcsim_value x[DOMAIN_MAX]; /**< one by one */
  int piece[SPACE_MAX][2];   /**< of the sides of a box that have values, -1: none */
} blend;

static bool same_value(const domain_value *a, const domain_value *b) {
  return a->program == b->program && !strcmp(a->output, b->output);
}

/** The value of a piece at the point, coordinate i being `fixed[i]` unless that is PCSIM_NO_VALUE. */
static pcsim_value value_at(blend *b, int piece, const pcsim_value *fixed) {
  pcsim_value rows[DOMAIN_MAX], value = PCSIM_NO_VALUE, at = b->coordinates;
  const int n = b->d->view.num_coordinates;
  if (fixed) {
    for (int i = 0; i < n; i++) rows[i] = fixed[i] == PCSIM_NO_VALUE ? b->x[i] : fixed[i];
    at = n > 1 ? pcsim_build_concat(b->p, rows, n) : rows[0];
  }
  pcsim_build_part(b->p, b->values[piece].program, b->space, &(pcsim_argument){"coordinates", at}, 1,
                   &b->values[piece].output, 1, &value);
  return value;
}

/** The share of a side in the interpolation along its coordinate. */
static pcsim_value share(blend *b, const solid *s, int i, int side) {
  const double scale = 1 / (s->high[i] - s->low[i]);
  if (b->piece[i][!side] < 0) return pcsim_build_constant(b->p, 1);
  const pcsim_value from = pcsim_build_constant(b->p, side ? s->low[i] : s->high[i]);
  return pcsim_build_binary(b->p, PCSIM_OP_MUL, pcsim_build_binary(b->p, PCSIM_OP_SUB, b->x[i], from),
                            pcsim_build_constant(b->p, side ? scale : -scale));
}

/** The sum over the choices of a side, or none, of each coordinate from `i` on. `first`: the piece that gives
 *  the values, -1 so far; `sign`: of the term. */
static pcsim_value boolean_sum(blend *b, const solid *s, int i, int first, double sign, pcsim_value weight,
                               pcsim_value *fixed, pcsim_value sum) {
  if (i == b->d->view.num_space) {
    if (first < 0) return sum;
    pcsim_value term = value_at(b, first, fixed);
    term = pcsim_build_binary(b->p, PCSIM_OP_MUL, weight, term);
    term = pcsim_build_binary(b->p, PCSIM_OP_MUL, pcsim_build_constant(b->p, sign), term);
    return sum == PCSIM_NO_VALUE ? term : pcsim_build_binary(b->p, PCSIM_OP_ADD, sum, term);
  }
  fixed[i] = PCSIM_NO_VALUE;
  sum = boolean_sum(b, s, i + 1, first, sign, weight, fixed, sum);
  for (int side = 0; side < 2; side++) {
    if (b->piece[i][side] < 0) continue;
    fixed[i] = pcsim_build_constant(b->p, side ? s->high[i] : s->low[i]);
    sum = boolean_sum(b, s, i + 1, first < 0 ? b->piece[i][side] : first, first < 0 ? 1 : -sign,
                      pcsim_build_binary(b->p, PCSIM_OP_MUL, weight, share(b, s, i, side)), fixed, sum);
    fixed[i] = PCSIM_NO_VALUE;
  }
  return sum;
}

/** The values on the faces of one solid, carried on. PCSIM_NO_VALUE: too many sides. */
static pcsim_value solid_values(blend *b, int number) {
  const domain *d = b->d;
  int sides = 0, last = -1;
  bool same = true;
  for (int i = 0; i < SPACE_MAX; i++) b->piece[i][0] = b->piece[i][1] = -1;
  for (int k = 0; k < d->num_faces; k++) {
    const face *f = &d->faces[k];
    if (f->solid != number || f->piece < 0 || !b->values[f->piece].program) continue;
    if (b->piece[f->side / 2][0] < 0 && b->piece[f->side / 2][1] < 0) sides++;
    b->piece[f->side / 2][f->side % 2] = f->piece;
    if (last >= 0) same = same && same_value(&b->values[last], &b->values[f->piece]);
    last = f->piece;
  }
  if (same) return value_at(b, last, NULL);
  if (sides > SIDES_MAX) return PCSIM_NO_VALUE;
  pcsim_value fixed[DOMAIN_MAX];
  for (int i = 0; i < DOMAIN_MAX; i++) fixed[i] = PCSIM_NO_VALUE;
  return boolean_sum(b, &d->solids[number], 0, -1, 1, pcsim_build_constant(b->p, 1), fixed, PCSIM_NO_VALUE);
}

/** The values on a group of solids that meet: one for all of them, if there are several solids. Joined by
 * distances, different ones would have second derivatives that grow as 1 / distance towards where they meet.
 *  PCSIM_NO_VALUE: different ones. */
static pcsim_value group_values(blend *b, const int *group, int which) {
  const domain *d = b->d;
  int last = -1, solids = 0;
  bool same = true;
  for (int i = 0; i < d->num_solids; i++) solids += group[i] == which;
  if (solids == 1) return solid_values(b, which);
  for (int k = 0; k < d->num_faces; k++) {
    const face *f = &d->faces[k];
    if (group[f->solid] != which || f->piece < 0 || !b->values[f->piece].program) continue;
    if (last >= 0) same = same && same_value(&b->values[last], &b->values[f->piece]);
    last = f->piece;
  }
  return same ? value_at(b, last, NULL) : PCSIM_NO_VALUE;
}

/** Of the values [n] of solids with the distance factors [n]: the next one is joined to what there is, both
 *  weighted by the other's distance. */
static pcsim_value join(pcsim_program *p, const pcsim_value *value, const pcsim_value *factor, int n) {
  pcsim_value all = value[0], distance = factor[0];
  for (int i = 1; i < n; i++) {
    const pcsim_value sum = pcsim_build_binary(p, PCSIM_OP_ADD, distance, factor[i]);
    const pcsim_value above =
        pcsim_build_binary(p, PCSIM_OP_ADD, pcsim_build_binary(p, PCSIM_OP_MUL, factor[i], all),
                           pcsim_build_binary(p, PCSIM_OP_MUL, distance, value[i]));
    all = pcsim_build_binary(p, PCSIM_OP_DIV, above, sum);
    distance =
        pcsim_build_binary(p, PCSIM_OP_DIV, pcsim_build_binary(p, PCSIM_OP_MUL, distance, factor[i]), sum);
  }
  return all;
}

pcsim_value domain_blend(const domain *d, const domain_value *values, pcsim_program *p, pcsim_space space,
                         pcsim_value coordinates) {
  blend b = {.d = d, .values = values, .p = p, .space = space, .coordinates = coordinates};
  bool of[PIECES_MAX], same = true;
  pcsim_value factor[SOLIDS_MAX], value[SOLIDS_MAX] = {0}, used[SOLIDS_MAX] = {0};
  int last = -1, n = 0, group[SOLIDS_MAX];
  bool marked[SOLIDS_MAX];
  for (int i = 0; i < d->view.num_pieces; i++) {
    of[i] = values[i].program != NULL;
    if (!of[i]) continue;
    if (last >= 0) same = same && same_value(&values[last], &values[i]);
    last = i;
  }
  if (last < 0) return PCSIM_NO_VALUE;
  if (same) return value_at(&b, last, NULL);
  if (!distance_factors(d, of, p, coordinates, factor)) return PCSIM_NO_VALUE;
  for (int i = 0; i < d->view.num_coordinates; i++) b.x[i] = pcsim_build_slice(p, coordinates, i, 1);
  for (int i = 0; i < d->num_solids; i++) marked[i] = factor[i] != PCSIM_NO_VALUE;
  distance_groups(d, marked, group);
  for (int i = 0; i < d->num_solids; i++) {
    if (group[i] != i) continue;
    value[n] = group_values(&b, group, i);
    if (value[n] == PCSIM_NO_VALUE) return PCSIM_NO_VALUE;
    used[n++] = distance_of_group(d, factor, group, i, p);
  }
  return n ? join(p, value, used, n) : PCSIM_NO_VALUE;
}
