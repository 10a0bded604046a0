/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of reconstructed values and of fluxes (docs/discretisation.md, Limits). */
#include "transport_write.h"

#include <math.h>

pcsim_value write_admitted(const writer *w, int i, pcsim_value value) {
  const transport_choices *c = &w->t->choices;
  if (!transport_is_bounded(w->t, i)) return value;
  if (c->low[i] > -INFINITY) value = write_op(w, PCSIM_OP_MAX, value, write_number(w, c->low[i]));
  if (c->high[i] < INFINITY) value = write_op(w, PCSIM_OP_MIN, value, write_number(w, c->high[i]));
  return value;
}

/* ------------------------------------------------------------------- limiter */

/* Jumps smaller than this share of the unknown's scale times (distance over size of the domain)^(3/2) are
 * taken for smooth extrema (Venkatakrishnan 1995): they are of the order of the distance squared. */
static const double SMOOTH = 1;

pcsim_value write_limited(const writer *w, const face_values *f, bool neighbour, int i, pcsim_value reach) {
  const pcsim_value q = neighbour ? f->un : f->up, slope = write_gradient(w, neighbour ? f->gn : f->gp, i);
  const pcsim_transport_view *view = w->t->problem;
  const double size = SMOOTH * view->scale[i] * pow(view->length_scale, -1.5);
  pcsim_value ahead = write_sub(w, write_row(w, f->un, i), write_row(w, f->up, i));
  pcsim_value along = write_dot(w, slope, f->line);
  if (neighbour)
    ahead = pcsim_build_unary(w->p, PCSIM_OP_NEG, ahead),
    along = pcsim_build_unary(w->p, PCSIM_OP_NEG, along);
  const pcsim_value two = write_number(w, 2), behind = write_sub(w, write_mul(w, two, along), ahead);
  const pcsim_value square = write_dot(w, f->line, f->line);
  const pcsim_value smooth = write_mul(w, write_number(w, size * size),
                                       write_mul(w, square, pcsim_build_unary(w->p, PCSIM_OP_SQRT, square)));
  const pcsim_value product = write_op(w, PCSIM_OP_MAX, write_mul(w, ahead, behind), write_number(w, 0));
  const pcsim_value squares = write_add(w, write_mul(w, ahead, ahead), write_mul(w, behind, behind));
  const pcsim_value tiny = write_number(w, 1e-200);
  const pcsim_value share = write_div(w, write_add(w, write_mul(w, two, product), smooth),
                                      write_add(w, write_add(w, squares, smooth), tiny));
  return write_add(w, write_row(w, q, i), write_mul(w, share, write_dot(w, slope, reach)));
}

/* -------------------------------------------------------------------- bounds */

/* Flux of values alone, without gradients. */
static pcsim_value flux_without_gradients(const writer *w, const place *at, pcsim_value area) {
  const double none[3] = {0, 0, 0};
  place still = *at;
  for (int i = 0; i < w->m; i++) still.g[i] = pcsim_build_constants(w->p, w->d, none);
  return write_through(w, write_evaluate(w, w->t->problem->terms, "flux", &still, NULL), area);
}

/* Minus the derivative of equation i's flux by the difference of its unknown over a distance: >= 0 where it
 * diffuses. */
static pcsim_value spread(const writer *w, const pcsim_program *tangent, const place *at, int i,
                          pcsim_value normal, pcsim_value area) {
  const pcsim_value column =
      write_through(w, write_column(w, tangent, "d_flux", at, i, PCSIM_NO_VALUE, normal), area);
  return write_op(w, PCSIM_OP_MAX, pcsim_build_unary(w->p, PCSIM_OP_NEG, write_row(w, column, i)),
                  write_number(w, 0));
}

/* low + (high - low, at most `room` either way). Room is what twice `size` times the mean state of two cells,
 * the bar state of the flux `low`, has to the bounds; `convected` is half the difference of their fluxes. */
static pcsim_value clip(const writer *w, int i, pcsim_value low, pcsim_value high, pcsim_value size,
                        pcsim_value sum, pcsim_value convected) {
  const transport_choices *c = &w->t->choices;
  pcsim_value room = PCSIM_NO_VALUE, missing = write_sub(w, high, low);
  for (int side = 0; side < 2; side++) {
    const double bound = side ? c->high[i] : c->low[i];
    if (!isfinite(bound)) continue;
    pcsim_value one = write_mul(w, size, write_sub(w, sum, write_number(w, 2 * bound)));
    if (convected >= 0) one = write_sub(w, one, convected);
    if (side) one = pcsim_build_unary(w->p, PCSIM_OP_NEG, one);
    room = room < 0 ? one : write_op(w, PCSIM_OP_MIN, room, one);
  }
  if (room < 0) return high;
  room = write_op(w, PCSIM_OP_MAX, room, write_number(w, 0));
  missing = write_op(w, PCSIM_OP_MAX, write_op(w, PCSIM_OP_MIN, missing, room),
                     pcsim_build_unary(w->p, PCSIM_OP_NEG, room));
  return write_add(w, low, missing);
}

static void cell_values(const writer *w, const face_values *f, bool neighbour, const place *central,
                        place *at) {
  *at = *central;
  for (int i = 0; i < w->m; i++) at->u[i] = write_row(w, neighbour ? f->un : f->up, i);
}

pcsim_status write_bounded_flux(const writer *w, const face_values *f, const place *central,
                                pcsim_value *flux) {
  pcsim_program *tangent = NULL;
  pcsim_value rows[WRITE_UNKNOWNS_MAX];
  place owner, neighbour;
  const pcsim_value half = write_number(w, 0.5);
  if (!w->t->choices.bounded) return PCSIM_OK;
  PCSIM_TRY(write_tangent_of(w, w->t->problem->terms, &tangent));
  cell_values(w, f, false, central, &owner);
  cell_values(w, f, true, central, &neighbour);
  const pcsim_value a = flux_without_gradients(w, &owner, f->area);
  const pcsim_value b = flux_without_gradients(w, &neighbour, f->area);
  for (int i = 0; i < w->m; i++) {
    const pcsim_value high = write_row(w, *flux, i);
    rows[i] = high;
    if (!transport_is_bounded(w->t, i)) continue;
    const pcsim_value up = owner.u[i], un = neighbour.u[i], fa = write_row(w, a, i), fb = write_row(w, b, i);
    const pcsim_value both = write_add(w, spread(w, tangent, &owner, i, f->normal, f->area),
                                       spread(w, tangent, &neighbour, i, f->normal, f->area));
    const pcsim_value size = write_mul(w, half, write_add(w, f->speed, both));
    const pcsim_value low =
        write_sub(w, write_mul(w, half, write_add(w, fa, fb)), write_mul(w, size, write_sub(w, un, up)));
    rows[i] = clip(w, i, low, high, size, write_add(w, up, un), write_mul(w, half, write_sub(w, fb, fa)));
  }
  pcsim_program_destroy(&tangent);
  *flux = pcsim_build_concat(w->p, rows, w->m);
  return PCSIM_OK;
}

pcsim_value write_bounded_wall(const writer *w, const boundary_values *b, const uint8_t *kind,
                               const place *at, pcsim_value flux) {
  pcsim_program *tangent = NULL;
  pcsim_value rows[WRITE_UNKNOWNS_MAX];
  place cell = *at;
  if (!w->t->choices.bounded) return flux;
  if (write_tangent_of(w, w->t->problem->terms, &tangent) != PCSIM_OK) return PCSIM_NO_VALUE;
  for (int i = 0; i < w->m; i++) cell.u[i] = write_row(w, b->up, i);
  const pcsim_value still = flux_without_gradients(w, at, b->area);
  for (int i = 0; i < w->m; i++) {
    rows[i] = write_row(w, flux, i);
    if (!transport_is_bounded(w->t, i) || kind[i] != PCSIM_TRANSPORT_VALUE) continue;
    const pcsim_value half = write_number(w, 0.5);
    const pcsim_value size = write_mul(w, half,
                                       write_add(w, spread(w, tangent, at, i, b->normal, b->area),
                                                 spread(w, tangent, &cell, i, b->normal, b->area)));
    const pcsim_value low =
        write_sub(w, write_row(w, still, i), write_mul(w, size, write_sub(w, at->u[i], cell.u[i])));
    rows[i] = clip(w, i, low, rows[i], size, write_add(w, at->u[i], cell.u[i]), PCSIM_NO_VALUE);
  }
  pcsim_program_destroy(&tangent);
  return pcsim_build_concat(w->p, rows, w->m);
}
