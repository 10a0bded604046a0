/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_jet.c  Tangents and jets: names around the engine of transform_forward.c. */
#include "transform.h"

#include <stdio.h>

enum { NAME_ROOM = 512, LEVEL_MAX = 64 };

/** Name of a derivative: prefix, level from 2 on, then the name. */
static void tangent_name(char *text, int level, const char *name) {
  if (level == 1) snprintf(text, NAME_ROOM, "d_%s", name);
  else snprintf(text, NAME_ROOM, "d%d_%s", level, name);
}

static void direction_name(char *text, int level, int direction) {
  if (level == 1) snprintf(text, NAME_ROOM, "v_%d", direction);
  else snprintf(text, NAME_ROOM, "v%d_%d", level, direction);
}

/** `tail` is "J_K" or "sum". */
static void coefficient_name(char *text, int level, const char *output, const char *tail) {
  if (level == 1) snprintf(text, NAME_ROOM, "%s_%s", output, tail);
  else snprintf(text, NAME_ROOM, "%s_v%d_%s", output, level, tail);
}

/** Put out a derivative of `value` in its full shape, zeros included. */
static void put_out(pcsim_program *p, const char *name, pcsim_value value, pcsim_value c) {
  if (c < 0) c = pcsim_build_constant(p, 0);
  const node n = p->nodes[value];
  pcsim_build_output(p, name, graph_as_shape(p, c, n.space, n.rows, n.columns));
}

static int tangent_level(const pcsim_program *program, const char *const *wrt, int n) {
  char text[NAME_ROOM];
  int level = 1;
  for (bool taken = true; taken && level < LEVEL_MAX; level += taken) {
    taken = false;
    for (int i = 0; i < n; i++) {
      tangent_name(text, level, wrt[i]);
      taken = taken || transform_taken(program, text);
    }
    for (int i = 0; i < program->num_outputs; i++) {
      tangent_name(text, level, program->outputs[i].name);
      taken = taken || transform_taken(program, text);
    }
  }
  return level;
}

static pcsim_status tangents(transform *t, const char *const *wrt, int level, forward *f) {
  char text[NAME_ROOM];
  pcsim_program *p = t->p;
  PCSIM_TRY(forward_lanes(p, 1, 1, false, NULL, f));
  for (int i = 0; i < t->num_wrt; i++) {
    const node n = p->nodes[t->wrt[i]];
    tangent_name(text, level, wrt[i]);
    const pcsim_value d = graph_input(p, text, n.space, n.rows, n.columns);
    PCSIM_TRY(pcsim_program_status(p));
    PCSIM_TRY(forward_seed(f, t->wrt[i], 0, d));
  }
  PCSIM_TRY(forward_run(f, p->num_nodes));
  const int num_outputs = p->num_outputs;
  for (int i = 0; i < num_outputs; i++) {
    tangent_name(text, level, p->outputs[i].name);
    put_out(p, text, p->outputs[i].value, forward_coefficient(f, p->outputs[i].value, 0));
  }
  return pcsim_program_status(p);
}

pcsim_status pcsim_transform_jvp(const pcsim_program *program, const char *const *wrt, int n,
                                 pcsim_program **out) {
  transform t;
  forward f = {0};
  PCSIM_TRY(transform_begin(program, wrt, n, &t));
  pcsim_status status = tangents(&t, wrt, tangent_level(program, wrt, n), &f);
  forward_end(&f);
  return transform_end(&t, status, out);
}

/* ------------------------------------------------------------------- jets */

static int jet_level(const pcsim_program *program) {
  char text[NAME_ROOM];
  int level = 1;
  for (; level < LEVEL_MAX; level++) {
    direction_name(text, level, 0);
    if (!transform_taken(program, text)) break;
  }
  return level;
}

/** What is asked for. */
typedef struct {
  int order, directions;
  bool collapsed;
  const double *weights;
} jet_shape;

static pcsim_status seed_directions(const transform *t, int level, const jet_shape *shape, forward *f) {
  char text[NAME_ROOM];
  pcsim_program *p = t->p;
  const node n = p->nodes[t->wrt[0]];
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int j = 0; j < shape->directions; j++) {
    direction_name(text, level, j);
    const pcsim_value v = graph_input(p, text, n.space, n.rows, n.columns);
    PCSIM_TRY(pcsim_program_status(p));
    PCSIM_TRY(forward_seed(f, t->wrt[0], j * shape->order, v));
    if (!shape->collapsed || shape->order > 1) continue;
    const pcsim_value weight = pcsim_build_constant(p, shape->weights ? shape->weights[j] : 1);
    const pcsim_value term = pcsim_build_binary(p, PCSIM_OP_MUL, weight, v);
    sum = sum < 0 ? term : pcsim_build_binary(p, PCSIM_OP_ADD, sum, term);
  }
  return shape->collapsed ? forward_seed(f, t->wrt[0], f->num - 1, sum) : PCSIM_OK;
}

static pcsim_status jets(transform *t, int level, const jet_shape *shape, forward *f) {
  char text[NAME_ROOM], tail[64];
  pcsim_program *p = t->p;
  PCSIM_TRY(forward_lanes(p, shape->order, shape->directions, shape->collapsed, shape->weights, f));
  PCSIM_TRY(seed_directions(t, level, shape, f));
  PCSIM_TRY(forward_run(f, p->num_nodes));
  const int num_outputs = p->num_outputs;
  for (int i = 0; i < num_outputs; i++) {
    const pcsim_value y = p->outputs[i].value;
    for (int j = 0; j < shape->directions; j++)
      for (int k = 1; k <= shape->order - shape->collapsed; k++) {
        snprintf(tail, sizeof tail, "%d_%d", j, k);
        coefficient_name(text, level, p->outputs[i].name, tail);
        put_out(p, text, y, forward_coefficient(f, y, j * shape->order + k - 1));
      }
    if (!shape->collapsed) continue;
    coefficient_name(text, level, p->outputs[i].name, "sum");
    put_out(p, text, y, forward_coefficient(f, y, f->num - 1));
  }
  return pcsim_program_status(p);
}

static pcsim_status jet(const pcsim_program *program, const char *wrt, const jet_shape *shape,
                        pcsim_program **out) {
  PCSIM_CHECK(shape->order >= 1 && shape->order <= 64, PCSIM_ERR_ARG, "a jet of order %d; expected 1 to 64",
              shape->order);
  PCSIM_CHECK(shape->directions >= 1 && shape->directions <= 4096, PCSIM_ERR_ARG,
              "a jet along %d directions; expected 1 to 4096", shape->directions);
  transform t;
  forward f = {0};
  PCSIM_TRY(transform_begin(program, &wrt, 1, &t));
  pcsim_status status = jets(&t, jet_level(program), shape, &f);
  forward_end(&f);
  return transform_end(&t, status, out);
}

pcsim_status pcsim_transform_jet(const pcsim_program *program, const char *wrt, int order, int num_directions,
                                 pcsim_program **out) {
  return jet(program, wrt, &(jet_shape){order, num_directions, false, NULL}, out);
}

pcsim_status pcsim_transform_jet_collapsed(const pcsim_program *program, const char *wrt, int order,
                                           int num_directions, const double *weights, pcsim_program **out) {
  return jet(program, wrt, &(jet_shape){order, num_directions, true, weights}, out);
}
