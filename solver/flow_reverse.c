/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs of the flow run backwards: by what, where it goes, at what they are cut. */
#include "flow_reverse.h"
#include "transport.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 64 };

static void want_input(const pcsim_program *p, const char *name, reverse_wanted *w) {
  if (transport_needs(p, name)) w->name[w->num++] = name;
}

bool reverse_wants(const reverse_wanted *w, const char *name) {
  for (int i = 0; i < w->num; i++)
    if (!strcmp(w->name[i], name)) return true;
  return false;
}

static const char *value_name(int group) {
  static const char *const name[FLOW_NUM_GROUPS] = {"given.value", "slip.value", "outlet.value",
                                                    "total.value"};
  return name[group];
}

static const char *carried_name(int group) {
  static const char *const name[FLOW_NUM_GROUPS] = {"given.carried", "slip.carried", "outlet.carried",
                                                    "total.carried"};
  return name[group];
}

void reverse_want_unknowns(const flow_adjoint *a, const pcsim_program *p, reverse_wanted *w) {
  want_input(p, "cells.q", w), want_input(p, "cells.grad", w), want_input(p, "cells.tau", w);
  if (!a->joins) return;
  want_input(p, "cells.force", w), want_input(p, "faces.carried", w);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) want_input(p, carried_name(i), w);
}

void reverse_want_given(const flow_adjoint *a, const pcsim_program *p, reverse_wanted *w) {
  want_input(p, "flow.nu", w);
  want_input(p, "flow.force", w);
  if (!a->joins) want_input(p, "cells.force", w); /* else of what joins, with the unknowns */
  want_input(p, "flow.density", w);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) want_input(p, value_name(i), w);
}

static const char *geometry_name(int group) {
  static const char *const name[FLOW_NUM_GROUPS] = {"given.geometry", "slip.geometry", "outlet.geometry",
                                                    "total.geometry"};
  return name[group];
}

static const char *coordinates_name(int group) {
  static const char *const name[FLOW_NUM_GROUPS] = {"given.coordinates", "slip.coordinates",
                                                    "outlet.coordinates", "total.coordinates"};
  return name[group];
}

void reverse_want_shape(const flow_adjoint *a, const pcsim_program *p, reverse_wanted *w) {
  static const char *const names[] = {"faces.geometry", "cells.volume",      "looks.weight",
                                      "looks.reach",    "looks.coordinates", "faces.coordinates"};
  if (!a->shape) return;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) want_input(p, names[i], w);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    want_input(p, geometry_name(i), w), want_input(p, coordinates_name(i), w);
}

/* The cotangents that were asked for go to the arrays of the adjoint; those that were not are 0 there. */
static pcsim_status bind_cotangents(flow_adjoint *a, const reverse_wanted *w, pcsim_executor *x) {
  const struct {
    const char *name;
    double *data;
  } outputs[] = {{"cells.q", a->q},
                 {"cells.grad", a->grad},
                 {"cells.tau", a->tau},
                 {"flow.nu", &a->nu},
                 {"flow.force", a->force},
                 {"flow.density", &a->density},
                 {value_name(0), a->value[0]},
                 {value_name(1), a->value[1]},
                 {value_name(2), a->value[2]},
                 {value_name(3), a->value[3]},
                 {"faces.geometry", a->geometry},
                 {"cells.volume", a->volume},
                 {geometry_name(0), a->wall[0]},
                 {geometry_name(1), a->wall[1]},
                 {geometry_name(2), a->wall[2]},
                 {geometry_name(3), a->wall[3]},
                 {"faces.coordinates", a->place},
                 {coordinates_name(0), a->group_place[0]},
                 {coordinates_name(1), a->group_place[1]},
                 {coordinates_name(2), a->group_place[2]},
                 {coordinates_name(3), a->group_place[3]},
                 {"cells.force", a->push},
                 {"faces.carried", a->joint.carried},
                 {carried_name(0), a->joint.group_carried[0]},
                 {carried_name(1), a->joint.group_carried[1]},
                 {carried_name(2), a->joint.group_carried[2]},
                 {carried_name(3), a->joint.group_carried[3]}};
  char name[NAME];
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    if (!reverse_wants(w, outputs[i].name)) continue;
    snprintf(name, sizeof name, "b_%s", outputs[i].name);
    PCSIM_TRY(pcsim_executor_bind_output(x, name, outputs[i].data));
  }
  return PCSIM_OK;
}

static pcsim_status bind_stored(const flow_adjoint *a, const pcsim_program *back, pcsim_executor *x) {
  if (transport_needs(back, "stored.jump")) PCSIM_TRY(pcsim_executor_bind(x, "stored.jump", a->jump));
  return transport_needs(back, "stored.pace") ? pcsim_executor_bind(x, "stored.pace", a->pace) : PCSIM_OK;
}

const char *const reverse_stored[REVERSE_NUM_STORED] = {"stored.mass", "stored.velocity",
                                                        "stored.dissipation", "stored.jump", "stored.pace"};

pcsim_status reverse_make_flow(flow_adjoint *a, const pcsim_program *p, int knows, const reverse_wanted *w,
                               const char *also, bool cut, const char *const *parameters, int num_parameters,
                               pcsim_executor **x) {
  pcsim_program *back = NULL;
  const char **wrt = NULL, **keep = NULL;
  char(*text)[NAME + 2] = NULL;
  const int num = w->num + num_parameters;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)num + 1, sizeof *wrt, &wrt), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)num + 1 + REVERSE_NUM_STORED, sizeof *keep, &keep), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)num + 1, sizeof *text, &text), status, done);
  for (int i = 0; i < num; i++) {
    wrt[i] = i < w->num ? w->name[i] : parameters[i - w->num];
    snprintf(text[i], sizeof text[i], "b_%s", wrt[i]);
    keep[i] = text[i];
  }
  int kept = num;
  if (also) keep[kept++] = also;
  for (int i = 0; cut && i < REVERSE_NUM_STORED; i++) keep[kept++] = reverse_stored[i];
  PCSIM_GOTO(pcsim_transform_vjp(p, wrt, num, &back), status, done);
  PCSIM_GOTO(pcsim_program_keep(back, keep, kept), status, done);
  if (cut) PCSIM_GOTO(pcsim_program_cut(back, reverse_stored, REVERSE_NUM_STORED), status, done);
  PCSIM_GOTO(pcsim_program_simplify(back), status, done);
  PCSIM_GOTO(flow_programs_executor(a->f->programs, back, knows, x), status, done);
  if (cut) PCSIM_GOTO(bind_stored(a, back, *x), status, done);
  status = bind_cotangents(a, w, *x);
done:
  pcsim_program_destroy(&back);
  pcsim_free(&wrt), pcsim_free(&keep), pcsim_free(&text);
  return status;
}

pcsim_status reverse_evaluate_stored(flow_adjoint *a, const pcsim_program *p) {
  static const char *const wanted_here[] = {"stored.jump", "stored.pace", "stored.mass"};
  pcsim_program *values = NULL;
  pcsim_executor *x = NULL;
  pcsim_status status;
  PCSIM_TRY(pcsim_program_copy(p, &values));
  PCSIM_GOTO(pcsim_program_keep(values, wanted_here, 3), status, done);
  PCSIM_GOTO(pcsim_program_cut(values, wanted_here + 2, 1), status, done);
  PCSIM_GOTO(flow_programs_executor(a->f->programs, values, FLOW_EVERYTHING, &x), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(x, "stored.jump", a->jump), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(x, "stored.pace", a->pace), status, done);
  status = pcsim_executor_run(x, false);
done:
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&values);
  return status;
}

pcsim_status reverse_bind_parameters(pcsim_executor *x, const char *const *names, int num, double *to) {
  char name[NAME];
  for (int i = 0; i < num; i++) {
    snprintf(name, sizeof name, "b_%s", names[i]);
    PCSIM_TRY(pcsim_executor_bind_output(x, name, to + i));
  }
  return PCSIM_OK;
}
