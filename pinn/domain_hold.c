/* SPDX-License-Identifier: BSD-2-Clause */
/* Which boundary values a distance function holds well.
 *
 * What is not smooth where pieces meet is a worse start for a network than a penalty: its second derivatives,
 * which grow as 1 / distance, are in every residual near there. */
#include "distance.h"

#include <string.h>

/** Are the sides of a box that is taken away so many that some meet in a re-entrant corner? */
static bool has_corners(const domain *d, int number) {
  int coordinates = 0;
  for (int i = 0; i < d->view.num_space; i++) {
    bool any = false;
    for (int k = 0; k < d->num_faces; k++)
      any = any || (d->faces[k].solid == number && d->faces[k].side / 2 == i && d->faces[k].piece >= 0);
    coordinates += any;
  }
  return coordinates > 1;
}

/** Does one value hold on all held faces of two solids? */
static bool same_values(const domain *d, const domain_value *values, const bool *held, int a, int b) {
  const domain_value *first = NULL;
  for (int k = 0; k < d->num_faces; k++) {
    const face *f = &d->faces[k];
    if ((f->solid != a && f->solid != b) || f->piece < 0 || !held[f->piece]) continue;
    if (!first) first = &values[f->piece];
    if (first->program != values[f->piece].program || strcmp(first->output, values[f->piece].output) != 0)
      return false;
  }
  return true;
}

static bool is_held(const domain *d, const bool *held, int number) {
  for (int k = 0; k < d->num_faces; k++)
    if (d->faces[k].solid == number && d->faces[k].piece >= 0 && held[d->faces[k].piece]) return true;
  return false;
}

static void leave(const domain *d, bool *held, int number) {
  for (int k = 0; k < d->num_faces; k++)
    if (d->faces[k].solid == number && d->faces[k].piece >= 0) held[d->faces[k].piece] = false;
}

void domain_hold(const domain *d, const domain_value *values, bool *held) {
  for (int i = 0; i < d->view.num_pieces; i++) held[i] = values[i].program != NULL;
  for (int i = 0; i < d->num_solids; i++) {
    const solid *s = &d->solids[i];
    if (!is_held(d, held, i)) continue;
    if (s->kind == SOLID_SURFACE || distance_is_trimmed(d, i) ||
        (s->kind == SOLID_BOX && distance_is_outside(d, i) && has_corners(d, i)))
      leave(d, held, i);
  }
  for (int i = 0; i < d->num_solids; i++)
    for (int j = i + 1; j < d->num_solids; j++)
      if (is_held(d, held, i) && is_held(d, held, j) && distance_meet(d, i, j) &&
          !same_values(d, values, held, i, j))
        leave(d, held, j);
}
