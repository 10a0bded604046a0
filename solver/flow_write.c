/* SPDX-License-Identifier: BSD-2-Clause */
/* The laws at a face written out on a mesh: residual and coefficients, blocks of the compact Jacobian. */
#include "flow_program.h"
#include "flow_viscosity.h"

#include <stdio.h>
#include <string.h>

const char *flow_group_name(int group) {
  static const char *const name[FLOW_NUM_GROUPS] = {"given", "slip", "outlet", "total"};
  return name[group];
}

pcsim_status law_begin(const flow *f, writer *w) {
  *w = (writer){.m = f->dim + 1, .d = f->dim, .q = PCSIM_NO_VALUE, .grad = PCSIM_NO_VALUE};
  PCSIM_TRY(pcsim_program_create(&w->p));
  w->cells = pcsim_build_space(w->p, "cells");
  return PCSIM_OK;
}

/* What a reverse of the program takes from a run of it. */
static void put_stored(const writer *w, const char *name, pcsim_value value) {
  char text[WRITE_NAME];
  snprintf(text, sizeof text, "stored.%s", name);
  pcsim_build_output(w->p, text, pcsim_build_frozen(w->p, value));
}

static void put_out(const writer *w, const char *space, const char *name, pcsim_value value) {
  char text[WRITE_NAME];
  snprintf(text, sizeof text, "%s.%s", space, name);
  if (value >= 0) pcsim_build_output(w->p, text, value);
}

/* ------------------------------------------------------------------ residual */

/* What the faces give to the cells. */
typedef struct {
  pcsim_value tau, flux, pace; /* on cells */
  law_numbers shared;
} sums;

static void write_inside(const writer *w, const flow *f, sums *s) {
  pcsim_program *p = w->p;
  const pcsim_space faces = pcsim_build_space(p, "faces");
  const pcsim_map owner = write_map(w, "faces", "owner", faces);
  const pcsim_map neighbour = write_map(w, "faces", "neighbour", faces);
  const flow_choices choices = {f->central, f->kappa};
  const law_viscosity law = law_viscosity_of(w, f, "faces", faces, &s->shared);
  const law_face face = {.geometry = write_input(w, "faces", "geometry", faces, FLOW_FACE_WIDTH(w->d)),
                         .xp = pcsim_build_gather(p, owner, w->q),
                         .xn = pcsim_build_gather(p, neighbour, w->q),
                         .gp = pcsim_build_gather(p, owner, w->grad),
                         .gn = pcsim_build_gather(p, neighbour, w->grad),
                         .tau_p = pcsim_build_gather(p, owner, s->tau),
                         .tau_n = pcsim_build_gather(p, neighbour, s->tau),
                         .nu = s->shared.nu,
                         .law = f->viscous.varies ? &law : NULL};
  const law_face_flux out = law_write_face(w, &choices, &face);
  const pcsim_value area = pcsim_build_slice(p, face.geometry, 0, w->d);
  const pcsim_value pace = law_write_pace(w, f->through_time, true, area,
                                          write_row(w, face.geometry, 3 * w->d + 1), out.mass, out.nu);
  s->flux = write_sub(w, pcsim_build_scatter_add(p, owner, out.flux),
                      pcsim_build_scatter_add(p, neighbour, out.flux));
  s->pace =
      write_add(w, pcsim_build_scatter_add(p, owner, pace), pcsim_build_scatter_add(p, neighbour, pace));
  pcsim_build_output(p, "mass", out.mass);
  pcsim_build_output(p, "dissipation", out.dissipation);
  pcsim_build_output(p, "velocity", out.velocity);
  put_stored(w, "mass", out.mass);
  put_stored(w, "dissipation", out.dissipation);
  put_stored(w, "velocity", out.velocity);
  put_stored(w, "jump", out.jump);
  if (f->viscous.varies) pcsim_build_output(p, "viscosity", out.nu);
}

law_boundary law_boundary_of(const writer *w, int group, pcsim_space space, pcsim_value nu) {
  const char *name = flow_group_name(group);
  return (law_boundary){.geometry = write_input(w, name, "geometry", space, FLOW_WALL_WIDTH(w->d)),
                        .value = write_input(w, name, "value", space, w->m),
                        .nu = nu};
}

static void write_group(const writer *w, const flow *f, int group, sums *s) {
  pcsim_program *p = w->p;
  const char *name = flow_group_name(group);
  const pcsim_space space = pcsim_build_space(p, name);
  const pcsim_map owner = write_map(w, name, "owner", space);
  law_boundary b = law_boundary_of(w, group, space, s->shared.nu);
  b.x = pcsim_build_gather(p, owner, w->q);
  b.g = pcsim_build_gather(p, owner, w->grad);
  b.tau = pcsim_build_gather(p, owner, s->tau);
  const law_viscosity law = law_viscosity_of(w, f, name, space, &s->shared);
  b.law = f->viscous.varies ? &law : NULL;
  const law_boundary_flux out = law_write_boundary(w, (flow_group_kind)group, &b);
  const pcsim_value area = pcsim_build_slice(p, b.geometry, 0, w->d), g = write_row(w, b.geometry, 2 * w->d);
  const pcsim_value pace =
      law_write_pace(w, f->through_time, group != FLOW_GROUP_OUTLET, area, g, out.mass, out.nu);
  s->flux = write_add(w, s->flux, pcsim_build_scatter_add(p, owner, out.flux));
  s->pace = write_add(w, s->pace, pcsim_build_scatter_add(p, owner, pace));
  put_out(w, name, "mass", out.mass);
  put_out(w, name, "state", out.state);
  put_out(w, name, "viscous", out.viscous);
  if (f->viscous.varies) put_out(w, name, "viscosity", out.nu);
}

/* -force times the volume; nothing for continuity. */
static pcsim_value write_source(const writer *w, const flow *f, pcsim_value volume) {
  pcsim_value force = pcsim_build_input(w->p, "flow.force", PCSIM_NO_SPACE, w->d);
  if (f->cell_force) force = write_add(w, force, write_input(w, "cells", "force", w->cells, w->d));
  const pcsim_value rows[2] = {pcsim_build_unary(w->p, PCSIM_OP_NEG, force), write_number(w, 0)};
  return write_mul(w, pcsim_build_concat(w->p, rows, 2), volume);
}

pcsim_status flow_write_program(const flow *f, pcsim_program **program) {
  writer w;
  *program = NULL;
  PCSIM_TRY(law_begin(f, &w));
  w.q = write_input(&w, "cells", "q", w.cells, w.m);
  w.grad = write_input(&w, "cells", "grad", w.cells, w.m * w.d);
  const pcsim_value volume = write_input(&w, "cells", "volume", w.cells, 1);
  sums s = {.tau = write_input(&w, "cells", "tau", w.cells, 1),
            .shared = law_numbers_of(&w, f),
            .flux = PCSIM_NO_VALUE,
            .pace = PCSIM_NO_VALUE};
  write_inside(&w, f, &s);
  for (int group = 0; group < FLOW_NUM_GROUPS; group++) write_group(&w, f, group, &s);
  /* last: what comes from faces is one sum */
  pcsim_build_output(w.p, "all", write_add(&w, s.flux, write_source(&w, f, volume)));
  pcsim_build_output(w.p, "pace", s.pace);
  put_stored(&w, "pace", s.pace);
  const pcsim_value factor = pcsim_build_input(w.p, "rhie-chow", PCSIM_NO_SPACE, 1);
  pcsim_build_output(w.p, "coefficient", write_div(&w, write_mul(&w, factor, volume), s.pace));
  return write_end(&w, program);
}

/* ----------------------------------------------------------- compact Jacobian */

/* As the residual has stored it, where it varies: it stands still. */
static pcsim_value compact_viscosity(const writer *w, const flow *f) {
  return pcsim_build_input(w->p, "nu", f->viscous.varies ? w->cells : PCSIM_NO_SPACE, 1);
}

static pcsim_value stored_viscosity(const writer *w, pcsim_value nu, const char *name, pcsim_space space) {
  return nu < 0 ? pcsim_build_input(w->p, name, space, 1) : nu;
}

/* The law at a face of which the compact Jacobian is the tangent by the cells' values: first-order upwind,
 * linear interpolation, two points at walls. Space "points". */
static pcsim_status write_compact_face(const flow *f, pcsim_program **part) {
  writer w;
  *part = NULL;
  PCSIM_TRY(law_begin(f, &w));
  const flow_choices choices = {0, 0};
  const law_viscosity stored = {.f = f};
  pcsim_program *p = w.p;
  const law_face face = {.geometry = pcsim_build_input(p, "geometry", w.cells, FLOW_FACE_WIDTH(w.d)),
                         .xp = pcsim_build_input(p, "xp", w.cells, w.m),
                         .xn = pcsim_build_input(p, "xn", w.cells, w.m),
                         .gp = pcsim_build_input(p, "gp", w.cells, w.m * w.d),
                         .gn = pcsim_build_input(p, "gn", w.cells, w.m * w.d),
                         .tau_p = pcsim_build_input(p, "tau_p", w.cells, 1),
                         .tau_n = pcsim_build_input(p, "tau_n", w.cells, 1),
                         .nu = compact_viscosity(&w, f),
                         .law = f->viscous.varies ? &stored : NULL};
  const law_face_flux out = law_write_face(&w, &choices, &face);
  pcsim_build_output(p, "flux", out.flux);
  pcsim_build_output(p, "mass", out.mass);
  pcsim_build_output(p, "velocity", out.velocity);
  pcsim_build_output(p, "dissipation", out.dissipation);
  return write_end(&w, part);
}

static pcsim_status write_compact_boundary(const flow *f, int group, pcsim_program **part) {
  writer w;
  *part = NULL;
  const law_viscosity stored = {.f = f};
  PCSIM_TRY(law_begin(f, &w));
  pcsim_program *p = w.p;
  law_boundary b = {.geometry = pcsim_build_input(p, "geometry", w.cells, FLOW_WALL_WIDTH(w.d)),
                    .value = pcsim_build_input(p, "value", w.cells, w.m),
                    .x = pcsim_build_input(p, "x", w.cells, w.m),
                    .g = pcsim_build_input(p, "g", w.cells, w.m * w.d),
                    .tau = pcsim_build_input(p, "tau", w.cells, 1),
                    .nu = compact_viscosity(&w, f),
                    .law = f->viscous.varies ? &stored : NULL};
  /* two points: no share of the parabola */
  const pcsim_value parts[2] = {pcsim_build_slice(p, b.geometry, 0, 2 * w.d + 1), write_number(&w, 0)};
  b.geometry = pcsim_build_concat(p, parts, 2);
  const law_boundary_flux out = law_write_boundary(&w, (flow_group_kind)group, &b);
  pcsim_build_output(p, "flux", out.flux);
  if (group == FLOW_GROUP_OUTLET) pcsim_build_output(p, "mass", out.mass);
  return write_end(&w, part);
}

/* The tangent of a part by the cells' values, cut at what the residual has stored. */
static pcsim_status tangent_of_part(pcsim_program *part, const char *const *wrt, int num_wrt,
                                    const char *const *stored, int num_stored, pcsim_program **tangent) {
  const char *keep[4] = {"d_flux"};
  for (int i = 0; i < num_stored; i++) keep[1 + i] = stored[i];
  PCSIM_TRY(pcsim_transform_jvp(part, wrt, num_wrt, tangent));
  pcsim_status status = pcsim_program_keep(*tangent, keep, 1 + num_stored);
  if (status == PCSIM_OK && num_stored) status = pcsim_program_cut(*tangent, stored, num_stored);
  if (status != PCSIM_OK) pcsim_program_destroy(tangent);
  return status;
}

static pcsim_value unit(const writer *w, int c) {
  double rows[4] = {0};
  if (c >= 0) rows[c] = 1;
  return pcsim_build_constants(w->p, w->m, rows);
}

/* One block, row-major: `argument` [num] with the directions last, which are filled in. */
static pcsim_value write_block(const writer *w, const pcsim_program *tangent, pcsim_space space,
                               pcsim_argument *argument, int num, int directions, int which) {
  static const char *const flux = "d_flux";
  pcsim_value block[16];
  for (int c = 0; c < w->m; c++) {
    pcsim_value column;
    for (int i = 0; i < directions; i++) argument[num - directions + i].value = unit(w, i == which ? c : -1);
    pcsim_build_part(w->p, tangent, space, argument, num, &flux, 1, &column);
    for (int r = 0; r < w->m; r++) block[r * w->m + c] = write_row(w, column, r);
  }
  return pcsim_build_concat(w->p, block, w->m * w->m);
}

static void write_face_blocks(const writer *w, const pcsim_program *tangent, pcsim_value nu) {
  pcsim_program *p = w->p;
  const pcsim_space faces = pcsim_build_space(p, "faces");
  pcsim_argument argument[] = {
      {"geometry", write_input(w, "faces", "geometry", faces, FLOW_FACE_WIDTH(w->d))},
      {"nu", stored_viscosity(w, nu, "viscosity", faces)},
      {"mass", pcsim_build_input(p, "mass", faces, 1)},
      {"velocity", pcsim_build_input(p, "velocity", faces, w->d)},
      {"dissipation", pcsim_build_input(p, "dissipation", faces, 1)},
      {"d_xp", PCSIM_NO_VALUE},
      {"d_xn", PCSIM_NO_VALUE}};
  const int num = sizeof argument / sizeof *argument;
  pcsim_build_output(p, "owner", write_block(w, tangent, faces, argument, num, 2, 0));
  pcsim_build_output(p, "neighbour", write_block(w, tangent, faces, argument, num, 2, 1));
}

static void write_group_blocks(const writer *w, const pcsim_program *tangent, int group, pcsim_value tau,
                               pcsim_value nu) {
  pcsim_program *p = w->p;
  const char *name = flow_group_name(group);
  char viscosity[WRITE_NAME];
  snprintf(viscosity, sizeof viscosity, "%s.viscosity", name);
  const pcsim_space space = pcsim_build_space(p, name);
  const pcsim_map owner = write_map(w, name, "owner", space);
  const law_boundary b = law_boundary_of(w, group, space, stored_viscosity(w, nu, viscosity, space));
  pcsim_argument argument[] = {{"geometry", b.geometry},
                               {"value", b.value},
                               {"x", pcsim_build_gather(p, owner, w->q)},
                               {"tau", pcsim_build_gather(p, owner, tau)},
                               {"nu", b.nu},
                               {"mass", write_input(w, name, "mass", space, 1)},
                               {"d_x", PCSIM_NO_VALUE}};
  put_out(w, name, "block",
          write_block(w, tangent, space, argument, sizeof argument / sizeof *argument, 1, 0));
}

static pcsim_status write_all_blocks(const flow *f, const writer *w) {
  static const char *const cells[] = {"xp", "xn"}, *const cell[] = {"x"};
  static const char *const stored[] = {"mass", "velocity", "dissipation"};
  const pcsim_value tau = write_input(w, "cells", "tau", w->cells, 1);
  const pcsim_value nu =
      f->viscous.varies ? PCSIM_NO_VALUE : pcsim_build_input(w->p, "flow.nu", PCSIM_NO_SPACE, 1);
  pcsim_program *part = NULL, *tangent = NULL;
  PCSIM_TRY(write_compact_face(f, &part));
  pcsim_status status = tangent_of_part(part, cells, 2, stored, 3, &tangent);
  if (status == PCSIM_OK) write_face_blocks(w, tangent, nu);
  pcsim_program_destroy(&part), pcsim_program_destroy(&tangent);
  for (int group = 0; group < FLOW_NUM_GROUPS && status == PCSIM_OK; group++) {
    PCSIM_TRY(write_compact_boundary(f, group, &part));
    status = tangent_of_part(part, cell, 1, stored, group == FLOW_GROUP_OUTLET, &tangent);
    if (status == PCSIM_OK) write_group_blocks(w, tangent, group, tau, nu);
    pcsim_program_destroy(&part), pcsim_program_destroy(&tangent);
  }
  return status;
}

pcsim_status flow_write_blocks(const flow *f, pcsim_program **program) {
  writer w;
  *program = NULL;
  PCSIM_TRY(law_begin(f, &w));
  w.q = write_input(&w, "cells", "q", w.cells, w.m);
  const pcsim_status status = write_all_blocks(f, &w);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&w.p);
    return status;
  }
  return write_end(&w, program);
}
