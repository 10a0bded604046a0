/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs of transport.h are put together from: inputs, states on faces and boundary faces. */
#include "transport_write.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ builders */

pcsim_value write_op(const writer *w, pcsim_op op, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(w->p, op, a, b);
}

/* Row by row: elementwise steps all of them, which an executor makes one piece of machine code of. */
pcsim_value write_dot(const writer *w, pcsim_value a, pcsim_value b) {
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int i = 0; i < w->d; i++) {
    const pcsim_value part = write_mul(w, write_row(w, a, i), write_row(w, b, i));
    sum = i ? write_add(w, sum, part) : part;
  }
  return sum;
}

pcsim_value write_input(const writer *w, const char *space_name, const char *name, pcsim_space space,
                        int rows) {
  char text[WRITE_NAME];
  snprintf(text, sizeof text, "%s.%s", space_name, name);
  return pcsim_build_input(w->p, text, space, rows);
}

pcsim_map write_map(const writer *w, const char *space_name, const char *name, pcsim_space space) {
  char text[WRITE_NAME];
  snprintf(text, sizeof text, "%s.%s", space_name, name);
  return pcsim_build_index_map(w->p, text, space, w->cells);
}

pcsim_value write_through(const writer *w, pcsim_value flux, pcsim_value area) {
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int j = 0; j < w->d; j++) {
    const pcsim_value part =
        write_mul(w, pcsim_build_slice(w->p, flux, j * w->m, w->m), write_row(w, area, j));
    sum = j ? write_add(w, sum, part) : part;
  }
  return sum;
}

pcsim_value write_weighted(const writer *w, pcsim_value weight, int i, pcsim_value value,
                           pcsim_value gradient) {
  const int first = i * (1 + w->d);
  return write_add(w, write_mul(w, write_row(w, weight, first), value),
                   write_dot(w, pcsim_build_slice(w->p, weight, first + 1, w->d), gradient));
}

/* ----------------------------------------------------------------- arguments */

/* The value that an input of this name asks for, PCSIM_NO_VALUE if it is none of the laws' own. */
static pcsim_value value_of(const writer *w, const place *at, const char *name) {
  static const char axes[] = "xyz";
  const pcsim_transport_view *view = w->t->problem;
  if (!strcmp(name, "coordinates")) return at->coordinates;
  for (int i = 0; i < view->num_fields; i++)
    if (!strcmp(name, view->field[i])) return at->field ? at->field[i] : PCSIM_NO_VALUE;
  for (int i = 0; i < view->num_carriers; i++)
    if (!strcmp(name, view->carrier[i])) return at->carrier ? at->carrier[i] : PCSIM_NO_VALUE;
  for (int j = 0; j < w->d; j++)
    if (name[0] == 'n' && name[1] == '.' && name[2] == axes[j] && !name[3])
      return at->normal < 0 ? PCSIM_NO_VALUE : write_row(w, at->normal, j);
  for (int i = 0; i < w->m; i++) {
    const size_t length = strlen(view->unknown[i]);
    if (strncmp(name, view->unknown[i], length) != 0) continue;
    if (!name[length]) return at->u[i];
    for (int j = 0; j < w->d; j++)
      if (name[length] == '_' && name[length + 1] == axes[j] && !name[length + 2])
        return at->g[i] < 0 ? PCSIM_NO_VALUE : write_row(w, at->g[i], j);
  }
  return PCSIM_NO_VALUE;
}

int write_arguments(const writer *w, const pcsim_program *part, const place *at, const place *du,
                    char (*names)[WRITE_NAME], pcsim_argument *arguments) {
  int n = 0;
  const char *name;
  bool used;
  for (int i = 0; (name = pcsim_program_input(part, i, NULL, &used)) && n < WRITE_INPUTS_MAX; i++) {
    const bool tangent = du && name[0] == 'd' && name[1] == '_';
    if (!used) continue;
    const pcsim_value value = value_of(w, tangent ? du : at, tangent ? name + 2 : name);
    if (value < 0) continue;
    snprintf(names[n], WRITE_NAME, "%s", name);
    arguments[n] = (pcsim_argument){names[n], value};
    n++;
  }
  return n;
}

/* The velocity that carries on the points of a space, as an input. */
static void write_carrier(const writer *w, const char *space_name, pcsim_space space, pcsim_value *carrier) {
  const int num = w->t->problem->num_carriers;
  const pcsim_value all = num ? write_input(w, space_name, "carrier", space, num) : PCSIM_NO_VALUE;
  for (int i = 0; i < num; i++) carrier[i] = write_row(w, all, i);
}

/* ---------------------------------------------------------------- faces inside */

/* The cells' fields on the points of a map. */
static void gather_fields(const writer *w, pcsim_map map, pcsim_value *field) {
  for (int i = 0; i < w->t->problem->num_fields; i++) field[i] = pcsim_build_gather(w->p, map, w->field[i]);
}

void write_faces(const writer *w, const char *name, bool speed, face_values *f) {
  pcsim_program *p = w->p;
  f->space = pcsim_build_space(p, name);
  f->owner = write_map(w, name, "owner", f->space);
  f->neighbour = write_map(w, name, "neighbour", f->space);
  f->area = write_input(w, name, "area", f->space, w->d);
  f->line = write_input(w, name, "line", f->space, w->d);
  f->skew = write_input(w, name, "skew", f->space, w->d);
  f->t = write_input(w, name, "t", f->space, 1);
  f->coordinates = write_input(w, name, "coordinates", f->space, 4);
  f->speed = speed ? write_input(w, name, "speed", f->space, 1) : PCSIM_NO_VALUE;
  f->normal = write_div(w, f->area, write_dot(w, f->area, f->line));
  f->up = pcsim_build_gather(p, f->owner, w->q);
  f->un = pcsim_build_gather(p, f->neighbour, w->q);
  f->gp = pcsim_build_gather(p, f->owner, w->grad);
  f->gn = pcsim_build_gather(p, f->neighbour, w->grad);
  gather_fields(w, f->owner, f->field);
  gather_fields(w, f->neighbour, f->other_field);
  write_carrier(w, name, f->space, f->carrier);
}

pcsim_value write_gradient(const writer *w, pcsim_value derivatives, int i) {
  return pcsim_build_slice(w->p, derivatives, i * w->t->derivatives, w->d);
}

/* The second derivative by axes a and b; with third ones the share `part` of the way `along` farther on. */
static pcsim_value write_second(const writer *w, pcsim_value derivatives, int i, int a, int b,
                                pcsim_value along, double part) {
  const int d = w->d, first = i * w->t->derivatives + d;
  const pcsim_value second = write_row(w, derivatives, first + second_index(d, a, b));
  pcsim_value more = PCSIM_NO_VALUE;
  for (int c = 0; w->t->choices.degree > 2 && c < d; c++) {
    const pcsim_value third = write_row(w, derivatives, first + second_count(d) + third_index(d, a, b, c));
    const pcsim_value term = write_mul(w, third, write_row(w, along, c));
    more = c ? write_add(w, more, term) : term;
  }
  return more < 0 ? second : write_add(w, second, write_mul(w, write_number(w, part), more));
}

/* How the gradient changes along a way, its second derivatives taken after the share `part` of it. */
static pcsim_value write_change(const writer *w, pcsim_value derivatives, int i, pcsim_value along,
                                double part) {
  const int d = w->d;
  pcsim_value rows[3];
  if (w->t->choices.degree < 2) return PCSIM_NO_VALUE;
  for (int a = 0; a < d; a++)
    for (int b = 0; b < d; b++) {
      const pcsim_value second = write_second(w, derivatives, i, a, b, along, part);
      const pcsim_value term = write_mul(w, second, write_row(w, along, b));
      rows[a] = b ? write_add(w, rows[a], term) : term;
    }
  return pcsim_build_concat(w->p, rows, d);
}

pcsim_value write_bend(const writer *w, pcsim_value derivatives, int i, pcsim_value along) {
  return write_change(w, derivatives, i, along, 0.5);
}

/* Taylor's: u + (g + (H + C r/3) r/2) r, and g + (H + C r/2) r. */
pcsim_value write_extrapolated(const writer *w, pcsim_value q, pcsim_value derivatives, int i,
                               pcsim_value reach, pcsim_value *g) {
  const pcsim_value slope = write_gradient(w, derivatives, i),
                    bend = write_change(w, derivatives, i, reach, 1.0 / 3);
  pcsim_value mean = slope;
  if (g) *g = bend < 0 ? slope : write_add(w, slope, write_bend(w, derivatives, i, reach));
  if (bend >= 0) mean = write_add(w, slope, write_mul(w, write_number(w, 0.5), bend));
  return write_add(w, write_row(w, q, i), write_dot(w, mean, reach));
}

/* Mean of the cubics of both cells; their jump corrects the gradient along the centre line. */
static void write_mean_of_cubics(const writer *w, const face_values *f, place *at) {
  const pcsim_value half = write_number(w, 0.5), t = f->t;
  const pcsim_value reach = write_add(w, f->skew, write_mul(w, t, f->line)),
                    back = write_sub(w, reach, f->line);
  for (int i = 0; i < w->m; i++) {
    pcsim_value gp, gn;
    const pcsim_value up = write_extrapolated(w, f->up, f->gp, i, reach, &gp);
    const pcsim_value jump = write_sub(w, write_extrapolated(w, f->un, f->gn, i, back, &gn), up);
    at->u[i] = write_add(w, up, write_mul(w, t, jump));
    at->g[i] = write_add(w, write_mul(w, half, write_add(w, gp, gn)), write_mul(w, jump, f->normal));
  }
}

/* Cubic along the centre line (docs/flow.md), from there to the face's centre with the mean derivatives. */
void write_central(const writer *w, const face_values *f, place *at) {
  const pcsim_value one = write_number(w, 1), t = f->t, s = write_sub(w, one, t);
  const pcsim_value c = write_mul(w, write_number(w, w->t->choices.kappa), write_mul(w, t, s));
  *at = (place){.space = f->space,
                .coordinates = f->coordinates,
                .normal = PCSIM_NO_VALUE,
                .field = f->field,
                .carrier = f->carrier};
  if (w->t->choices.degree > 2) {
    write_mean_of_cubics(w, f, at);
    return;
  }
  for (int i = 0; i < w->m; i++) {
    const pcsim_value up = write_row(w, f->up, i), un = write_row(w, f->un, i), jump = write_sub(w, un, up);
    const pcsim_value gp = write_gradient(w, f->gp, i), gn = write_gradient(w, f->gn, i);
    pcsim_value mean = write_add(w, gp, write_mul(w, t, write_sub(w, gn, gp))), halfway = mean;
    const pcsim_value half = write_number(w, 0.5);
    if (w->t->choices.degree > 1) {
      const pcsim_value bend = write_mul(w, half, write_bend(w, write_add(w, f->gp, f->gn), i, f->skew));
      halfway = write_add(w, mean, write_mul(w, half, bend));
      mean = write_add(w, mean, bend);
    }
    const pcsim_value sp = write_mul(w, s, write_dot(w, gp, f->line));
    const pcsim_value sn = write_mul(w, t, write_dot(w, gn, f->line));
    /* (2t - 1) jump + (1 - t) gp.d - t gn.d */
    const pcsim_value bend = write_add(w, write_mul(w, write_sub(w, t, s), jump), write_sub(w, sp, sn));
    const pcsim_value linear = write_add(w, up, write_mul(w, t, jump));
    at->u[i] = write_admitted(
        w, i, write_add(w, write_add(w, linear, write_dot(w, halfway, f->skew)), write_mul(w, c, bend)));
    const pcsim_value centred = write_mul(w, half, write_add(w, gp, gn));
    const pcsim_value missing = write_sub(w, jump, write_dot(w, centred, f->line));
    at->g[i] = write_add(w, mean, write_mul(w, missing, f->normal));
  }
}

/* The parabola with a cell's value and slope meets a value at a distance with a slope there that is larger by
 * twice the quotient of what is missing and the distance. With second derivatives in what is missing any
 * factor is exact for parabolas; this one leaves them out of the normal slope. */
static const double PARABOLA = 2;

/* The gradient of a cell, corrected along the way from its centre to the face. */
void write_interface_side(const writer *w, const face_values *f, bool neighbour, const pcsim_value *u,
                          place *at, pcsim_value *normal) {
  const pcsim_value q = neighbour ? f->un : f->up, grad = neighbour ? f->gn : f->gp;
  const pcsim_value t = neighbour ? write_sub(w, f->t, write_number(w, 1)) : f->t;
  const pcsim_value reach = write_add(w, f->skew, write_mul(w, t, f->line));
  *normal = write_div(w, f->area, write_dot(w, f->area, reach));
  if (w->t->choices.degree > 1) *normal = write_mul(w, write_number(w, PARABOLA), *normal);
  *at = (place){.space = f->space,
                .coordinates = f->coordinates,
                .normal = PCSIM_NO_VALUE,
                .field = neighbour ? f->other_field : f->field,
                .carrier = f->carrier};
  for (int i = 0; i < w->m; i++) {
    pcsim_value g;
    const pcsim_value there = write_extrapolated(w, q, grad, i, reach, &g);
    at->u[i] = u[i];
    at->g[i] = write_add(w, g, write_mul(w, write_sub(w, u[i], there), *normal));
  }
}

/* -------------------------------------------------------------- boundary faces */

void write_boundary(const writer *w, int k, boundary_values *b) {
  pcsim_program *p = w->p;
  char name[WRITE_NAME];
  snprintf(name, sizeof name, "boundary %d", k);
  b->space = pcsim_build_space(p, name);
  b->owner = write_map(w, name, "owner", b->space);
  b->area = write_input(w, name, "area", b->space, w->d);
  b->line = write_input(w, name, "line", b->space, w->d);
  b->coordinates = write_input(w, name, "coordinates", b->space, 4);
  b->share = write_input(w, name, "share", b->space, w->m);
  b->value = write_input(w, name, "value", b->space, w->m);
  b->magnitude = pcsim_build_unary(p, PCSIM_OP_SQRT, write_dot(w, b->area, b->area));
  b->normal = write_div(w, b->area, write_dot(w, b->area, b->line));
  b->up = pcsim_build_gather(p, b->owner, w->q);
  b->gp = pcsim_build_gather(p, b->owner, w->grad);
  gather_fields(w, b->owner, b->field);
  write_carrier(w, name, b->space, b->carrier);
}

/* For linear gradients see gradient.h. */
pcsim_value write_wall_factor(const writer *w, const boundary_values *b, int i) {
  if (w->t->choices.degree > 1) return write_number(w, PARABOLA);
  return write_add(w, write_number(w, 1), write_row(w, b->share, i));
}

/* Given values with the slope at the wall that meets them; else the cell's state extrapolated. */
void write_boundary_state(const writer *w, int k, const boundary_values *b, place *at) {
  const uint8_t *kind = w->t->problem->condition[k].kind;
  *at = (place){.space = b->space,
                .coordinates = b->coordinates,
                .normal = write_div(w, b->area, b->magnitude),
                .field = b->field,
                .carrier = b->carrier};
  for (int i = 0; i < w->m; i++) {
    pcsim_value g;
    const pcsim_value reach = write_extrapolated(w, b->up, b->gp, i, b->line, &g);
    at->u[i] = write_admitted(w, i, reach);
    at->g[i] = g;
    if (kind[i] != PCSIM_TRANSPORT_VALUE) continue;
    at->u[i] = write_row(w, b->value, i);
    const pcsim_value missing = write_mul(w, write_wall_factor(w, b, i), write_sub(w, at->u[i], reach));
    at->g[i] = write_add(w, g, write_mul(w, missing, b->normal));
  }
}

/* ---------------------------------------------------------------------- cells */

void write_cell_state(const writer *w, place *at) {
  *at = (place){.space = w->cells,
                .coordinates = write_input(w, "cells", "coordinates", w->cells, 4),
                .normal = PCSIM_NO_VALUE,
                .field = w->field,
                .carrier = w->carrier};
  for (int i = 0; i < w->m; i++) {
    at->u[i] = write_row(w, w->q, i);
    at->g[i] = w->grad < 0 ? PCSIM_NO_VALUE : write_gradient(w, w->grad, i);
  }
}

/* The cells' polynomials at their points. */
pcsim_value write_over_points(const writer *w, const pcsim_program *part, const char *output) {
  pcsim_program *p = w->p;
  const pcsim_space space = pcsim_build_space(p, "points");
  const pcsim_map owner = write_map(w, "points", "owner", space);
  const pcsim_value reach = write_input(w, "points", "reach", space, w->d);
  const pcsim_value q = pcsim_build_gather(p, owner, w->q), grad = pcsim_build_gather(p, owner, w->grad);
  pcsim_value field[SYSTEM_UNKNOWNS_MAX];
  place at = {.space = space,
              .coordinates = write_input(w, "points", "coordinates", space, 4),
              .normal = PCSIM_NO_VALUE,
              .field = field};
  gather_fields(w, owner, field);
  for (int i = 0; i < w->m; i++) at.u[i] = write_extrapolated(w, q, grad, i, reach, &at.g[i]);
  const pcsim_value value = write_evaluate(w, part, output, &at, NULL);
  return pcsim_build_scatter_add(p, owner, write_mul(w, value, write_input(w, "points", "weight", space, 1)));
}

/* --------------------------------------------------------------- begin and end */

pcsim_status write_begin(const transport *t, writer *w) {
  *w = (writer){.t = t, .m = t->m, .d = t->dim, .q = PCSIM_NO_VALUE, .grad = PCSIM_NO_VALUE};
  PCSIM_TRY(pcsim_program_create(&w->p));
  w->cells = pcsim_build_space(w->p, "cells");
  w->q = write_input(w, "cells", "q", w->cells, w->m); /* names with a dot: no parameter has one */
  w->grad = write_input(w, "cells", "grad", w->cells, w->m * t->derivatives);
  for (int i = 0; i < t->problem->num_fields; i++) {
    char name[WRITE_NAME];
    snprintf(name, sizeof name, "field %d", i);
    w->field[i] = write_input(w, "cells", name, w->cells, 1);
  }
  write_carrier(w, "cells", w->cells, w->carrier);
  return pcsim_program_status(w->p);
}

pcsim_status write_end(writer *w, pcsim_program **program) {
  pcsim_status status = pcsim_program_status(w->p);
  if (status == PCSIM_OK) status = pcsim_program_simplify(w->p);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&w->p);
    return status;
  }
  *program = w->p;
  return PCSIM_OK;
}
