/* SPDX-License-Identifier: BSD-2-Clause */
/* The reverses of programs of typed laws: what they are taken by, where cotangents go. */
#include "transport_reverse.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ programs */

/* What a reverse is taken by. */
typedef struct {
  const char **name;
  char (*text)[WRITE_NAME];
  int num;
} wanted;

static pcsim_status wanted_create(const transport_adjoint *a, const reverse *r, wanted *w) {
  const size_t places = r->places ? (size_t)r->places->num : 0;
  const size_t room = 6 + 2 * (size_t)a->t->problem->num_conditions + (size_t)a->num + places;
  *w = (wanted){0};
  PCSIM_TRY(pcsim_alloc(room, sizeof *w->name, &w->name));
  return pcsim_alloc(room, sizeof *w->text, &w->text);
}

static void wanted_free(wanted *w) { pcsim_free(&w->name), pcsim_free(&w->text); }

static void want(wanted *w, const char *name) {
  snprintf(w->text[w->num], WRITE_NAME, "%s", name);
  w->name[w->num] = w->text[w->num];
  w->num++;
}

static bool want_input(wanted *w, const pcsim_program *p, const char *name) {
  if (!transport_needs(p, name)) return false;
  want(w, name);
  return true;
}

static void want_parameters(const transport_adjoint *a, pcsim_program *p, wanted *w) {
  for (int i = 0; i < a->num; i++)
    if (pcsim_program_parameter(p, a->name[i], NULL, NULL)) want(w, a->name[i]);
}

static void want_values(const transport_adjoint *a, const pcsim_program *p, reverse *r, wanted *w) {
  for (int k = 0; k < a->t->problem->num_conditions; k++) {
    char name[WRITE_NAME];
    snprintf(name, sizeof name, "boundary %d.value", k);
    r->by_value[k] = want_input(w, p, name);
  }
}

/* By the velocities of a flow. */
static void want_carriers(const transport_adjoint *a, const pcsim_program *p, reverse *r, wanted *w) {
  if (!a->carrier.face) return;
  r->by_cells = want_input(w, p, "cells.carrier");
  r->by_faces = want_input(w, p, "faces.carrier");
  r->by_interfaces = want_input(w, p, "interfaces.carrier");
  for (int k = 0; k < a->t->problem->num_conditions; k++) {
    char name[WRITE_NAME];
    snprintf(name, sizeof name, "boundary %d.carrier", k);
    r->by_wall[k] = want_input(w, p, name);
  }
}

static void want_places(const pcsim_program *p, reverse *r, wanted *w) {
  for (int i = 0; r->places && i < r->places->num; i++)
    r->by_place[i] = want_input(w, p, r->places->input[i].name);
}

static pcsim_status bind_places(const reverse *r) {
  char name[WRITE_NAME + 2];
  for (int i = 0; r->places && i < r->places->num; i++) {
    snprintf(name, sizeof name, "b_%s", r->places->input[i].name);
    if (r->by_place[i]) PCSIM_TRY(pcsim_executor_bind_output(r->x, name, r->places->input[i].now));
  }
  return PCSIM_OK;
}

void reverse_add_places(const reverse *r, double factor) {
  if (r->x && r->places) shape_inputs_add(r->places, r->by_place, factor);
}

/* The reverse of `p` by what is wanted, with `also` (NULL: none) of its outputs. */
static pcsim_status reversed(const pcsim_program *p, const wanted *w, const char *also, pcsim_program **out) {
  const char **keep = NULL;
  char(*text)[WRITE_NAME + 2] = NULL;
  int num = 0;
  pcsim_status status;
  PCSIM_TRY(pcsim_transform_vjp(p, w->name, w->num, out));
  PCSIM_GOTO(pcsim_alloc((size_t)w->num + 1, sizeof *keep, &keep), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)w->num + 1, sizeof *text, &text), status, done);
  for (int i = 0; i < w->num; i++) {
    snprintf(text[i], sizeof text[i], "b_%s", w->name[i]);
    keep[num++] = text[i];
  }
  if (also) keep[num++] = also;
  status = pcsim_program_keep(*out, keep, num);
done:
  pcsim_free(&keep), pcsim_free(&text);
  if (status != PCSIM_OK) pcsim_program_destroy(out);
  return status;
}

static pcsim_status bind_parameters(const transport_adjoint *a, const wanted *w, reverse *r) {
  char name[WRITE_NAME + 2];
  for (int i = 0; i < a->num; i++)
    for (int j = 0; j < w->num; j++) {
      if (strcmp(a->name[i], w->name[j]) != 0) continue;
      snprintf(name, sizeof name, "b_%s", a->name[i]);
      PCSIM_TRY(pcsim_executor_bind_output(r->x, name, r->parameter + i));
    }
  return PCSIM_OK;
}

static pcsim_status reverse_allocate(const transport_adjoint *a, reverse *r) {
  const size_t conditions = (size_t)a->t->problem->num_conditions;
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *r->by_value, &r->by_value));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *r->by_wall, &r->by_wall));
  if (r->places) PCSIM_TRY(pcsim_alloc((size_t)r->places->num, sizeof *r->by_place, &r->by_place));
  return pcsim_alloc((size_t)a->num, sizeof *r->parameter, &r->parameter);
}

void reverse_free(reverse *r) {
  pcsim_executor_destroy(&r->x);
  pcsim_free(&r->by_value), pcsim_free(&r->by_wall), pcsim_free(&r->parameter), pcsim_free(&r->by_place);
}

static pcsim_status bind_carriers(const transport_adjoint *a, const reverse *r) {
  const transport *t = a->t;
  char name[WRITE_NAME];
  if (r->by_cells) PCSIM_TRY(pcsim_executor_bind_output(r->x, "b_cells.carrier", a->last.cell));
  if (r->by_faces) PCSIM_TRY(pcsim_executor_bind_output(r->x, "b_faces.carrier", a->last.face));
  if (r->by_interfaces)
    PCSIM_TRY(
        pcsim_executor_bind_output(r->x, "b_interfaces.carrier", a->last.face + t->faces.ordinary * t->dim));
  for (int k = 0; k < t->problem->num_conditions; k++) {
    snprintf(name, sizeof name, "b_boundary %d.carrier", k);
    if (r->by_wall[k]) PCSIM_TRY(pcsim_executor_bind_output(r->x, name, a->last.boundary[k]));
  }
  return PCSIM_OK;
}

/* Outputs of the reverse of a program of the mesh. */
static pcsim_status bind_cotangents(const transport_adjoint *a, const wanted *w, double *q, double *grad,
                                    reverse *r) {
  if (r->by_q) PCSIM_TRY(pcsim_executor_bind_output(r->x, "b_cells.q", q));
  if (r->by_grad) PCSIM_TRY(pcsim_executor_bind_output(r->x, "b_cells.grad", grad));
  if (r->by_speed) PCSIM_TRY(pcsim_executor_bind_output(r->x, "b_faces.speed", a->speed));
  for (int k = 0; k < a->t->problem->num_conditions; k++) {
    char name[WRITE_NAME];
    snprintf(name, sizeof name, "b_boundary %d.value", k);
    if (r->by_value[k]) PCSIM_TRY(pcsim_executor_bind_output(r->x, name, a->value[k]));
  }
  PCSIM_TRY(bind_carriers(a, r));
  PCSIM_TRY(bind_places(r));
  return bind_parameters(a, w, r);
}

pcsim_status reverse_make(transport_adjoint *a, pcsim_program *p, const reverse_request *request,
                          reverse *r) {
  wanted w;
  pcsim_program *back = NULL;
  if (request->everything && a->shape) r->places = &a->places;
  PCSIM_TRY(reverse_allocate(a, r));
  pcsim_status status = wanted_create(a, r, &w);
  if (status != PCSIM_OK) goto done;
  r->by_q = want_input(&w, p, "cells.q");
  r->by_grad = want_input(&w, p, "cells.grad");
  r->by_speed = want_input(&w, p, "faces.speed");
  want_carriers(a, p, r, &w);
  if (request->everything) {
    want_values(a, p, r, &w);
    want_places(p, r, &w);
    want_parameters(a, p, &w);
  }
  if (w.num == 0 && !request->also) goto done;
  PCSIM_GOTO(reversed(p, &w, request->also, &back), status, done);
  PCSIM_GOTO(transport_make_executor(a->t, back, request->spaces, &r->x), status, done);
  status = bind_cotangents(a, &w, request->q, request->grad, r);
done:
  pcsim_program_destroy(&back);
  wanted_free(&w);
  return status;
}

pcsim_status reverse_make_values(const transport_adjoint *a, pcsim_program *values, int64_t points,
                                 given_reverse *g, pcsim_program **back) {
  wanted w;
  *back = NULL;
  if (!points) return PCSIM_OK;
  if (g->places.num) g->r.places = &g->places;
  PCSIM_TRY(reverse_allocate(a, &g->r));
  pcsim_status status = wanted_create(a, &g->r, &w);
  if (status == PCSIM_OK) want_places(values, &g->r, &w), want_parameters(a, values, &w);
  if (status != PCSIM_OK || w.num == 0) goto done;
  PCSIM_GOTO(pcsim_alloc((size_t)(points * a->t->m), sizeof *g->seed, &g->seed), status, done);
  PCSIM_GOTO(reversed(values, &w, NULL, back), status, done);
  PCSIM_GOTO(pcsim_executor_create(*back, NULL, &g->r.x), status, done);
  PCSIM_GOTO(pcsim_executor_points(g->r.x, "points", points), status, done);
  PCSIM_GOTO(pcsim_executor_bind(g->r.x, "b_value", g->seed), status, done);
  PCSIM_GOTO(bind_places(&g->r), status, done);
  status = bind_parameters(a, &w, &g->r);
done:
  wanted_free(&w);
  return status;
}
