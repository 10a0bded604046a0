/* SPDX-License-Identifier: BSD-2-Clause */
/* The laws at a point written out on a mesh: residual, accumulation, speed of signals, compact Jacobian. */
#include "transport_write.h"

#include <stdio.h>
#include <string.h>

bool transport_needs(const pcsim_program *program, const char *input) {
  const char *name;
  bool used;
  for (int i = 0; (name = pcsim_program_input(program, i, NULL, &used)); i++)
    if (!strcmp(name, input)) return used;
  return false;
}

bool transport_diffuses(const pcsim_transport_view *view) {
  const char *name;
  bool used;
  for (int i = 0; (name = pcsim_program_input(view->terms, i, NULL, &used)); i++)
    for (int u = 0; u < view->num_unknowns; u++) {
      const size_t length = strlen(view->unknown[u]);
      if (used && !strncmp(name, view->unknown[u], length) && name[length] == '_') return true;
    }
  return false;
}

/* One output of a part at a place. */
pcsim_value write_evaluate(const writer *w, const pcsim_program *part, const char *output, const place *at,
                           const place *du) {
  char names[WRITE_INPUTS_MAX][WRITE_NAME];
  pcsim_argument arguments[WRITE_INPUTS_MAX];
  pcsim_value value;
  const int n = write_arguments(w, part, at, du, names, arguments);
  pcsim_build_part(w->p, part, at->space, arguments, n, &output, 1, &value);
  return value;
}

/* What is transported at a place: the accumulation where an equation has one, else the unknown. */
static pcsim_value carried(const writer *w, const place *at) {
  const pcsim_transport_view *view = w->t->problem;
  pcsim_value rows[WRITE_UNKNOWNS_MAX];
  const pcsim_value a =
      view->has_any_time ? write_evaluate(w, view->terms, "accumulation", at, NULL) : PCSIM_NO_VALUE;
  for (int i = 0; i < w->m; i++) rows[i] = view->has_time[i] ? write_row(w, a, i) : at->u[i];
  return pcsim_build_concat(w->p, rows, w->m);
}

/* --------------------------------------------------------- speed of signals */

/* ||J^8||^(1/8) of m columns: at least the spectral radius, and close to it. */
static pcsim_value radius(const writer *w, pcsim_value *a) {
  pcsim_program *p = w->p;
  const int m = w->m;
  pcsim_value b[WRITE_UNKNOWNS_MAX], sum = PCSIM_NO_VALUE;
  if (m == 1) return pcsim_build_unary(p, PCSIM_OP_ABS, a[0]);
  for (int c = 0; c < m; c++) {
    const pcsim_value part = pcsim_build_row_sum(p, write_mul(w, a[c], a[c]));
    sum = c ? write_add(w, sum, part) : part;
  }
  const pcsim_value size = pcsim_build_unary(p, PCSIM_OP_SQRT, write_add(w, sum, write_number(w, 1e-200)));
  for (int c = 0; c < m; c++) a[c] = write_div(w, a[c], size);
  for (int power = 0; power < 3; power++) {
    for (int c = 0; c < m; c++)
      for (int k = 0; k < m; k++) {
        const pcsim_value part = write_mul(w, a[k], write_row(w, a[c], k));
        b[c] = k ? write_add(w, b[c], part) : part;
      }
    memcpy(a, b, (size_t)m * sizeof *a);
  }
  for (int c = 0; c < m; c++) {
    const pcsim_value part = pcsim_build_row_sum(p, write_mul(w, a[c], a[c]));
    sum = c ? write_add(w, sum, part) : part;
  }
  sum = write_add(w, sum, write_number(w, 1e-300)); /* the root has a derivative where nothing moves */
  return write_mul(w, size, write_op(w, PCSIM_OP_POW, sum, write_number(w, 1.0 / 16)));
}

/* Of the flux without gradients: what diffuses has no speed. */
static pcsim_value speed_at(const writer *w, const pcsim_program *tangent, const face_values *f, place *at) {
  const double none[3] = {0, 0, 0};
  pcsim_value columns[WRITE_UNKNOWNS_MAX];
  for (int i = 0; i < w->m; i++) at->g[i] = pcsim_build_constants(w->p, w->d, none);
  for (int c = 0; c < w->m; c++)
    columns[c] = write_through(
        w, write_column(w, tangent, "d_flux", at, c, write_number(w, 1), PCSIM_NO_VALUE), f->area);
  return radius(w, columns);
}

/* At the face's state; where limits rest on it, the largest of it and both cells. */
static pcsim_value face_speed(const writer *w, const pcsim_program *tangent, const face_values *f,
                              const place *central) {
  place at = *central;
  pcsim_value speed = speed_at(w, tangent, f, &at);
  for (int side = 0; transport_is_limited(w->t) && side < 2; side++) {
    for (int i = 0; i < w->m; i++) at.u[i] = write_row(w, side ? f->un : f->up, i);
    speed = write_op(w, PCSIM_OP_MAX, speed, speed_at(w, tangent, f, &at));
  }
  return speed;
}

pcsim_status transport_write_speed(const transport *t, pcsim_program **program) {
  writer w;
  place at;
  face_values f;
  pcsim_program *tangent = NULL;
  *program = NULL;
  PCSIM_TRY(write_begin(t, &w));
  pcsim_status status = write_tangent_of(&w, t->problem->terms, &tangent);
  if (status == PCSIM_OK) {
    write_faces(&w, "faces", false, &f);
    write_central(&w, &f, &at);
    pcsim_build_output(w.p, "speed", face_speed(&w, tangent, &f, &at));
  }
  pcsim_program_destroy(&tangent);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&w.p);
    return status;
  }
  return write_end(&w, program);
}

/* ------------------------------------------------------------------ residual */

/* State reconstructed from one cell with its gradient. */
static void write_side(const writer *w, const face_values *f, bool neighbour, const place *central,
                       place *at) {
  *at = *central;
  const pcsim_value q = neighbour ? f->un : f->up, grad = neighbour ? f->gn : f->gp;
  const pcsim_value t = neighbour ? write_sub(w, f->t, write_number(w, 1)) : f->t;
  const pcsim_value reach = write_add(w, f->skew, write_mul(w, t, f->line));
  for (int i = 0; i < w->m; i++)
    at->u[i] = write_admitted(w, i,
                              w->t->choices.limited ? write_limited(w, f, neighbour, i, reach)
                                                    : write_extrapolated(w, q, grad, i, reach, NULL));
}

/* 1/2 (F(L) + F(R)) - 1/2 speed (A(R) - A(L)) */
static pcsim_value upwind_flux(const writer *w, const face_values *f, const place *central) {
  place left, right;
  const pcsim_value half = write_number(w, 0.5);
  write_side(w, f, false, central, &left);
  write_side(w, f, true, central, &right);
  const pcsim_program *terms = w->t->problem->terms;
  const pcsim_value a = write_through(w, write_evaluate(w, terms, "flux", &left, NULL), f->area);
  const pcsim_value b = write_through(w, write_evaluate(w, terms, "flux", &right, NULL), f->area);
  const pcsim_value jump = write_sub(w, carried(w, &right), carried(w, &left));
  return write_mul(w, half, write_sub(w, write_add(w, a, b), write_mul(w, f->speed, jump)));
}

static pcsim_value mixed_flux(const writer *w, const face_values *f, const place *at) {
  const double share = w->t->choices.central;
  const pcsim_value central =
      write_through(w, write_evaluate(w, w->t->problem->terms, "flux", at, NULL), f->area);
  if (share >= 1) return central;
  const pcsim_value upwind = upwind_flux(w, f, at);
  return write_add(w, write_mul(w, write_number(w, share), central),
                   write_mul(w, write_number(w, 1 - share), upwind));
}

pcsim_value write_boundary_flux(const writer *w, int k, const boundary_values *b, const place *at) {
  const pcsim_transport_condition *c = &w->t->problem->condition[k];
  pcsim_value rows[WRITE_UNKNOWNS_MAX], law = PCSIM_NO_VALUE, given = PCSIM_NO_VALUE;
  for (int i = 0; i < w->m; i++) {
    if (c->kind[i] == PCSIM_TRANSPORT_FLUX) {
      if (given < 0) given = write_mul(w, write_evaluate(w, c->program, "flux", at, NULL), b->magnitude);
      rows[i] = write_row(w, given, i);
    } else {
      if (law < 0) law = write_through(w, write_evaluate(w, w->t->problem->terms, "flux", at, NULL), b->area);
      rows[i] = write_row(w, law, i);
    }
  }
  return write_bounded_wall(w, b, c->kind, at, pcsim_build_concat(w->p, rows, w->m));
}

/* Limits need the speed of the state itself: that of an extrapolated one may be too small at a front. */
static pcsim_status follow_speed(const writer *w, const place *central, face_values *f) {
  pcsim_program *tangent = NULL;
  PCSIM_TRY(write_tangent_of(w, w->t->problem->terms, &tangent));
  f->speed = face_speed(w, tangent, f, central);
  pcsim_program_destroy(&tangent);
  return PCSIM_OK;
}

/* Integrals over the cells, by their centres where no points are asked for. */
static pcsim_value write_source(const writer *w, place *at) {
  const pcsim_program *terms = w->t->problem->terms;
  if (w->t->points.owner) return write_over_points(w, terms, "source");
  write_cell_state(w, at);
  return write_mul(w, write_evaluate(w, terms, "source", at, NULL),
                   write_input(w, "cells", "volume", w->cells, 1));
}

pcsim_status transport_write_residual(const transport *t, pcsim_program **program) {
  writer w;
  place at, central;
  face_values f;
  *program = NULL;
  PCSIM_TRY(write_begin(t, &w));
  const pcsim_value source = write_source(&w, &at);
  write_faces(&w, "faces", t->choices.central < 1 && !transport_is_limited(t), &f);
  write_central(&w, &f, &central);
  pcsim_status status = transport_is_limited(t) ? follow_speed(&w, &central, &f) : PCSIM_OK;
  pcsim_value flux = mixed_flux(&w, &f, &central);
  if (status == PCSIM_OK) status = write_bounded_flux(&w, &f, &central, &flux);
  pcsim_value sum = write_sub(&w, pcsim_build_scatter_add(w.p, f.owner, flux),
                              pcsim_build_scatter_add(w.p, f.neighbour, flux));
  if (status == PCSIM_OK && t->problem->material) status = transport_write_interfaces(&w, &sum);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&w.p);
    return status;
  }
  for (int k = 0; k < t->problem->num_conditions; k++) {
    boundary_values b;
    write_boundary(&w, k, &b);
    write_boundary_state(&w, k, &b, &at);
    sum = write_add(&w, sum, pcsim_build_scatter_add(w.p, b.owner, write_boundary_flux(&w, k, &b, &at)));
  }
  /* the source last: what comes from faces is one sum */
  pcsim_build_output(w.p, "all", write_add(&w, sum, source));
  return write_end(&w, program);
}

pcsim_status transport_write_surface(const transport *t, pcsim_program **program) {
  writer w;
  *program = NULL;
  PCSIM_TRY(write_begin(t, &w));
  for (int k = 0; k < t->problem->num_conditions; k++) {
    boundary_values b;
    place at;
    char name[WRITE_NAME];
    write_boundary(&w, k, &b);
    write_boundary_state(&w, k, &b, &at);
    snprintf(name, sizeof name, "state %d", k);
    pcsim_build_output(w.p, name, pcsim_build_concat(w.p, at.u, w.m));
    snprintf(name, sizeof name, "flux %d", k);
    pcsim_build_output(w.p, name, write_boundary_flux(&w, k, &b, &at));
  }
  return write_end(&w, program);
}

pcsim_status transport_write_accumulation(const transport *t, pcsim_program **program) {
  writer w;
  place at;
  *program = NULL;
  PCSIM_TRY(write_begin(t, &w));
  write_cell_state(&w, &at);
  const pcsim_value volume = write_input(&w, "cells", "volume", w.cells, 1);
  pcsim_build_output(w.p, "all",
                     write_mul(&w, write_evaluate(&w, t->problem->terms, "accumulation", &at, NULL), volume));
  return write_end(&w, program);
}

pcsim_status transport_write_force(const transport *t, pcsim_program **program) {
  writer w;
  place at;
  *program = NULL;
  PCSIM_TRY(write_begin(t, &w));
  write_cell_state(&w, &at);
  pcsim_build_output(w.p, "force", write_evaluate(&w, t->problem->force, "force", &at, NULL));
  return write_end(&w, program);
}

/* ---------------------------------------------------------- unknowns on faces */

static pcsim_value chosen(const writer *w, const place *at, const int *unknown, int num) {
  pcsim_value rows[WRITE_UNKNOWNS_MAX];
  for (int i = 0; i < num; i++) rows[i] = at->u[unknown[i]];
  return num == 1 ? rows[0] : pcsim_build_concat(w->p, rows, num);
}

pcsim_status transport_write_trace(const transport *t, const int *unknown, int num, pcsim_program **program) {
  writer w;
  face_values f;
  place at;
  *program = NULL;
  PCSIM_TRY(write_begin(t, &w));
  write_faces(&w, "faces", false, &f);
  write_central(&w, &f, &at);
  pcsim_build_output(w.p, "trace", chosen(&w, &at, unknown, num));
  if (t->problem->material) {
    write_faces(&w, "interfaces", false, &f);
    const pcsim_value jump = write_sub(&w, f.un, f.up);
    const pcsim_value mean = write_add(&w, f.up, write_mul(&w, f.t, jump));
    for (int i = 0; i < w.m; i++) at.u[i] = write_row(&w, mean, i);
    pcsim_build_output(w.p, "interface trace", chosen(&w, &at, unknown, num));
  }
  for (int k = 0; k < t->problem->num_conditions; k++) {
    boundary_values b;
    char name[WRITE_NAME];
    write_boundary(&w, k, &b);
    write_boundary_state(&w, k, &b, &at);
    snprintf(name, sizeof name, "trace %d", k);
    pcsim_build_output(w.p, name, chosen(&w, &at, unknown, num));
  }
  return write_end(&w, program);
}

/* --------------------------------------------------------------- derivatives */

/* Derivatives of a part by all unknowns and gradients that it has. */
pcsim_status write_tangent_of(const writer *w, const pcsim_program *part, pcsim_program **tangent) {
  const char *wrt[WRITE_INPUTS_MAX], *name;
  int n = 0;
  bool used;
  for (int i = 0; (name = pcsim_program_input(part, i, NULL, &used)) && n < WRITE_INPUTS_MAX; i++) {
    bool unknown = false;
    for (int u = 0; u < w->m && !unknown; u++) {
      const size_t length = strlen(w->t->problem->unknown[u]);
      unknown = !strncmp(name, w->t->problem->unknown[u], length) && (!name[length] || name[length] == '_');
    }
    for (int k = 0; k < w->t->problem->num_fields; k++)
      unknown = unknown && strcmp(name, w->t->problem->field[k]) != 0;
    if (unknown && used) wrt[n++] = name;
  }
  return pcsim_transform_jvp(part, wrt, n, tangent);
}

/* A direction at `at`: unknown `c` by `du` and its gradient by `dg` (PCSIM_NO_VALUE: 0). */
static void direction(const writer *w, const place *at, int c, pcsim_value du, pcsim_value dg, place *out) {
  const double none[3] = {0, 0, 0};
  const pcsim_value zero = write_number(w, 0), zeros = pcsim_build_constants(w->p, w->d, none);
  *out = (place){.space = at->space, .coordinates = PCSIM_NO_VALUE, .normal = PCSIM_NO_VALUE};
  for (int i = 0; i < w->m; i++) {
    out->u[i] = i == c && du >= 0 ? du : zero;
    out->g[i] = i == c && dg >= 0 ? dg : zeros;
  }
}

/* Column `c` of a block: derivative of m rows along the direction. */
pcsim_value write_column(const writer *w, const pcsim_program *tangent, const char *output, const place *at,
                         int c, pcsim_value du, pcsim_value dg) {
  place along;
  direction(w, at, c, du, dg, &along);
  return write_evaluate(w, tangent, output, at, &along);
}

/* ----------------------------------------------------------- compact Jacobian */

static pcsim_value rows_of_unit(const writer *w, int c) {
  double unit[WRITE_UNKNOWNS_MAX] = {0};
  unit[c] = 1;
  return pcsim_build_constants(w->p, w->m, unit);
}

/* Two-point diffusion along the face's normal, central convection with first-order upwinding. */
static void face_blocks(const writer *w, const pcsim_program *tangent) {
  face_values f;
  place at;
  pcsim_value own[WRITE_UNKNOWNS_MAX], other[WRITE_UNKNOWNS_MAX];
  write_faces(w, "faces", true, &f);
  write_central(w, &f, &at);
  const pcsim_value one = write_number(w, 1), s = write_sub(w, one, f.t);
  const pcsim_value upwind = write_mul(w, write_number(w, 0.5), f.speed);
  for (int c = 0; c < w->m; c++) {
    const pcsim_value by_value =
        write_through(w, write_column(w, tangent, "d_flux", &at, c, one, PCSIM_NO_VALUE), f.area);
    const pcsim_value by_slope =
        write_through(w, write_column(w, tangent, "d_flux", &at, c, PCSIM_NO_VALUE, f.normal), f.area);
    const pcsim_value spread = write_sub(w, by_slope, write_mul(w, rows_of_unit(w, c), upwind));
    own[c] = write_sub(w, write_mul(w, s, by_value), spread);
    other[c] = write_add(w, write_mul(w, f.t, by_value), spread);
  }
  pcsim_build_output(w->p, "owner", pcsim_build_concat(w->p, own, w->m));
  pcsim_build_output(w->p, "neighbour", pcsim_build_concat(w->p, other, w->m));
}

static pcsim_status boundary_blocks(const writer *w, const pcsim_program *tangent, int k) {
  const pcsim_transport_condition *c = &w->t->problem->condition[k];
  boundary_values b;
  place at;
  char name[WRITE_NAME];
  pcsim_program *given = NULL;
  pcsim_value columns[WRITE_UNKNOWNS_MAX], rows[WRITE_UNKNOWNS_MAX];
  const pcsim_value one = write_number(w, 1);
  PCSIM_TRY(write_tangent_of(w, c->program, &given));
  write_boundary(w, k, &b);
  write_boundary_state(w, k, &b, &at);
  for (int i = 0; i < w->m; i++) {
    pcsim_value du = one, dg = PCSIM_NO_VALUE;
    if (c->kind[i] == PCSIM_TRANSPORT_VALUE) {
      const pcsim_value factor = pcsim_build_unary(w->p, PCSIM_OP_NEG, write_wall_factor(w, &b, i));
      du = PCSIM_NO_VALUE;
      dg = write_mul(w, factor, b.normal);
    }
    const pcsim_value law = write_through(w, write_column(w, tangent, "d_flux", &at, i, du, dg), b.area);
    const pcsim_value flux = write_mul(w, write_column(w, given, "d_flux", &at, i, du, dg), b.magnitude);
    for (int r = 0; r < w->m; r++) rows[r] = write_row(w, c->kind[r] == PCSIM_TRANSPORT_FLUX ? flux : law, r);
    columns[i] = pcsim_build_concat(w->p, rows, w->m);
  }
  snprintf(name, sizeof name, "boundary %d", k);
  pcsim_build_output(w->p, name, pcsim_build_concat(w->p, columns, w->m));
  pcsim_program_destroy(&given);
  return PCSIM_OK;
}

static void cell_blocks(const writer *w, const pcsim_program *tangent) {
  place at;
  pcsim_value source[WRITE_UNKNOWNS_MAX], mass[WRITE_UNKNOWNS_MAX];
  const pcsim_value one = write_number(w, 1), volume = write_input(w, "cells", "volume", w->cells, 1);
  write_cell_state(w, &at);
  for (int c = 0; c < w->m; c++) {
    source[c] = write_mul(w, write_column(w, tangent, "d_source", &at, c, one, PCSIM_NO_VALUE), volume);
    mass[c] = write_mul(w, write_column(w, tangent, "d_accumulation", &at, c, one, PCSIM_NO_VALUE), volume);
  }
  pcsim_build_output(w->p, "source", pcsim_build_concat(w->p, source, w->m));
  pcsim_build_output(w->p, "mass", pcsim_build_concat(w->p, mass, w->m));
}

pcsim_status transport_write_jacobian(const transport *t, pcsim_program **program) {
  writer w;
  pcsim_program *tangent = NULL;
  *program = NULL;
  PCSIM_TRY(write_begin(t, &w));
  pcsim_status status = write_tangent_of(&w, t->problem->terms, &tangent);
  if (status == PCSIM_OK) {
    face_blocks(&w, tangent);
    if (t->problem->material) transport_write_interface_blocks(&w, tangent);
    cell_blocks(&w, tangent);
    for (int k = 0; k < t->problem->num_conditions && status == PCSIM_OK; k++)
      status = boundary_blocks(&w, tangent, k);
  }
  pcsim_program_destroy(&tangent);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&w.p);
    return status;
  }
  return write_end(&w, program);
}
