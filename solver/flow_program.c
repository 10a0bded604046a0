/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs of the flow run on its mesh: groups of boundary faces, data bound by name, ghosts left out after.
 */
#include "flow_program.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 64 };

/* -------------------------------------------------------------------- groups */

static pcsim_status allocate_group(const flow *f, flow_group *g) {
  const size_t num = (size_t)g->num, d = (size_t)f->dim, m = d + 1;
  PCSIM_TRY(pcsim_alloc(num, sizeof *g->face, &g->face));
  PCSIM_TRY(pcsim_alloc(num, sizeof *g->owner, &g->owner));
  PCSIM_TRY(pcsim_alloc(num * FLOW_WALL_WIDTH(d), sizeof(double), &g->geometry));
  PCSIM_TRY(pcsim_alloc(num * m, sizeof(double), &g->value));
  PCSIM_TRY(pcsim_alloc(num, sizeof(double), &g->mass));
  PCSIM_TRY(pcsim_alloc(num * m, sizeof(double), &g->state));
  PCSIM_TRY(pcsim_alloc(num * d, sizeof(double), &g->viscous));
  PCSIM_TRY(pcsim_alloc(num, sizeof(double), &g->d_mass));
  PCSIM_TRY(pcsim_alloc(num * m, sizeof(double), &g->d_state));
  if (f->viscous.varies) {
    const size_t carried = (size_t)f->viscous.num;
    PCSIM_TRY(pcsim_alloc(num, sizeof(double), &g->nu));
    PCSIM_TRY(pcsim_alloc(num * 4, sizeof(double), &g->place));
    PCSIM_TRY(pcsim_alloc(num * carried, sizeof(double), &g->carried));
    PCSIM_TRY(pcsim_alloc(num * carried, sizeof(double), &g->d_carried));
  }
  return pcsim_alloc(num * m * m, sizeof(double), &g->block);
}

static pcsim_status make_groups(flow_programs *p) {
  const flow *f = p->f;
  const int width = FLOW_WALL_WIDTH(f->dim);
  for (int64_t k = 0; k < f->nb; k++) p->group[flow_group_of(f->wall_kind[k])].num++;
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    PCSIM_TRY(allocate_group(f, &p->group[i]));
    p->group[i].num = 0;
  }
  for (int64_t k = 0; k < f->nb; k++) {
    flow_group *g = &p->group[flow_group_of(f->wall_kind[k])];
    memcpy(g->geometry + g->num * width, f->wall + k * width, (size_t)width * sizeof(double));
    g->owner[g->num] = f->wall_owner[k];
    if (f->viscous.place)
      memcpy(g->place + 4 * g->num, f->viscous.place + 4 * (f->ni + k), 4 * sizeof(double));
    g->face[g->num++] = k;
  }
  return PCSIM_OK;
}

void flow_programs_set_values(flow_programs *p) {
  const int m = p->f->dim + 1;
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    for (int64_t k = 0; k < p->group[i].num; k++)
      memcpy(p->group[i].value + k * m, p->f->wall_value + p->group[i].face[k] * m,
             (size_t)m * sizeof(double));
}

void flow_programs_set_carried(flow_programs *p, bool along) {
  const flow *f = p->f;
  const int num = f->viscous.num;
  const double *from = (along ? f->viscous.d_carried : f->viscous.carried) + f->ni * num;
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    flow_group *g = &p->group[i];
    double *to = along ? g->d_carried : g->carried;
    for (int64_t k = 0; k < g->num; k++)
      memcpy(to + k * num, from + g->face[k] * num, (size_t)num * sizeof *to);
  }
}

/* ------------------------------------------------------------------- binding */

static pcsim_status bind(pcsim_executor *x, const pcsim_program *p, const char *name, const double *data) {
  const char *have;
  for (int i = 0; (have = pcsim_program_input(p, i, NULL, NULL)); i++)
    if (!strcmp(have, name)) return pcsim_executor_bind(x, name, data);
  return PCSIM_OK;
}

static pcsim_status bind_group(const flow_group *g, const char *space, const pcsim_program *program,
                               pcsim_executor *x) {
  char name[NAME];
  const struct {
    const char *name;
    const double *data;
  } inputs[] = {{"geometry", g->geometry}, {"value", g->value},       {"mass", g->mass},
                {"viscosity", g->nu},      {"coordinates", g->place}, {"carried", g->carried}};
  PCSIM_TRY(pcsim_executor_points(x, space, g->num));
  snprintf(name, sizeof name, "%s.owner", space);
  PCSIM_TRY(pcsim_executor_bind_index(x, name, g->owner));
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    snprintf(name, sizeof name, "%s.%s", space, inputs[i].name);
    PCSIM_TRY(bind(x, program, name, inputs[i].data));
  }
  snprintf(name, sizeof name, "d_%s.carried", space);
  return bind(x, program, name, g->d_carried);
}

pcsim_status flow_programs_executor(const flow_programs *p, const pcsim_program *program, int knows,
                                    pcsim_executor **x) {
  const flow *f = p->f;
  const struct {
    const char *name;
    const double *data;
  } inputs[] = {{"cells.q", f->q},
                {"cells.grad", f->grad},
                {"cells.tau", f->tau},
                {"flow.nu", &f->nu},
                {"flow.force", f->force},
                {"cells.volume", f->volume},
                {"mass", f->mass},
                {"velocity", f->face_velocity},
                {"dissipation", f->dissipation},
                {"stored.mass", f->mass},
                {"stored.velocity", f->face_velocity},
                {"stored.dissipation", f->dissipation},
                {"faces.geometry", f->face},
                {"rhie-chow", &f->rhie_chow},
                {"cells.force", f->cell_force},
                {"flow.density", &f->density},
                {"viscosity", f->viscous.nu},
                {"shear-floor", &f->viscous.floor},
                {"faces.coordinates", f->viscous.place},
                {"faces.carried", f->viscous.carried},
                {"d_faces.carried", f->viscous.d_carried}};
  PCSIM_TRY(pcsim_executor_create(program, NULL, x));
  PCSIM_TRY(pcsim_executor_points(*x, "cells", f->nt));
  if (knows & FLOW_FACES) PCSIM_TRY(pcsim_executor_points(*x, "faces", f->ni));
  if (knows & FLOW_FACE_MAPS) {
    PCSIM_TRY(pcsim_executor_bind_index(*x, "faces.owner", f->owner));
    PCSIM_TRY(pcsim_executor_bind_index(*x, "faces.neighbour", f->neighbour));
  }
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    PCSIM_TRY(bind(*x, program, inputs[i].name, inputs[i].data));
  for (int i = 0; (knows & FLOW_BOUNDARIES) && i < FLOW_NUM_GROUPS; i++)
    PCSIM_TRY(bind_group(&p->group[i], flow_group_name(i), program, *x));
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- executors */

/* Outputs of a program and where they go; an executor has room for so many. */
enum { OUTPUTS_MAX = 32 };
typedef struct {
  int num;
  char text[OUTPUTS_MAX][NAME];
  const char *name[OUTPUTS_MAX];
  double *data[OUTPUTS_MAX]; /* NULL: to be cut */
} output_list;

static void add_output(output_list *o, const char *name, double *data) {
  snprintf(o->text[o->num], NAME, "%s", name);
  o->name[o->num] = o->text[o->num];
  o->data[o->num++] = data;
}

static void add_group_output(output_list *o, int group, const char *name, double *data) {
  char text[NAME];
  snprintf(text, sizeof text, "%s.%s", flow_group_name(group), name);
  add_output(o, text, data);
}

/* Where it varies; `cut`: it is taken from the last residual. */
static void add_viscosities(flow_programs *p, output_list *o, bool cut) {
  if (!p->f->viscous.varies) return;
  add_output(o, "viscosity", cut ? NULL : p->f->viscous.nu);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) add_group_output(o, i, "viscosity", cut ? NULL : p->group[i].nu);
}

/* Volume fluxes through boundaries; slip has none. */
static void add_masses(flow_programs *p, output_list *o, bool cut) {
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    if (i != FLOW_GROUP_SLIP) add_group_output(o, i, "mass", cut ? NULL : p->group[i].mass);
}

/* The program with these outputs alone, cut at those that go nowhere. */
static pcsim_status choose_outputs(const pcsim_program *all, const output_list *o, pcsim_program **program) {
  const char *cut[OUTPUTS_MAX];
  int num = 0;
  for (int i = 0; i < o->num; i++)
    if (!o->data[i]) cut[num++] = o->name[i];
  PCSIM_TRY(pcsim_program_copy(all, program));
  PCSIM_TRY(pcsim_program_keep(*program, o->name, o->num));
  if (num) PCSIM_TRY(pcsim_program_cut(*program, cut, num));
  return pcsim_program_simplify(*program);
}

static pcsim_status make(const flow_programs *p, const pcsim_program *all, int knows, const output_list *o,
                         pcsim_executor **x) {
  pcsim_program *program = NULL;
  pcsim_status status;
  PCSIM_GOTO(choose_outputs(all, o, &program), status, done);
  PCSIM_GOTO(flow_programs_executor(p, program, knows, x), status, done);
  for (int i = 0; i < o->num; i++)
    if (o->data[i]) PCSIM_GOTO(pcsim_executor_bind_output(*x, o->name[i], o->data[i]), status, done);
done:
  pcsim_program_destroy(&program);
  return status;
}

static pcsim_status make_residual(flow_programs *p, const pcsim_program *all) {
  output_list o = {0};
  add_output(&o, "all", p->all);
  add_output(&o, "mass", p->f->mass);
  add_output(&o, "velocity", p->f->face_velocity);
  add_output(&o, "dissipation", p->f->dissipation);
  add_masses(p, &o, false);
  add_viscosities(p, &o, false);
  return make(p, all, FLOW_EVERYTHING, &o, &p->residual);
}

/* The tangent of `all`; with `viscosity` cut at the stored one. */
static pcsim_status make_tangent(flow_programs *p, const pcsim_program *all, bool viscosity,
                                 pcsim_executor **x) {
  static const char *const wrt[] = {"cells.q",      "cells.grad",     "faces.carried", "given.carried",
                                    "slip.carried", "outlet.carried", "total.carried"};
  const int num_wrt = p->f->viscous.num && viscosity ? 3 + FLOW_NUM_GROUPS : 2;
  pcsim_program *tangent = NULL;
  output_list o = {0};
  PCSIM_TRY(pcsim_transform_jvp(all, wrt, num_wrt, &tangent));
  add_output(&o, "d_all", p->all);
  add_output(&o, "mass", NULL);
  add_output(&o, "velocity", NULL);
  add_output(&o, "dissipation", NULL);
  if (viscosity) add_viscosities(p, &o, true);
  if (p->f->problem->joined) { /* what is carried by the flow follows it */
    add_output(&o, "d_mass", p->f->d_mass);
    add_output(&o, "d_velocity", p->f->d_face_velocity);
    for (int i = FLOW_GROUP_SLIP; i < FLOW_NUM_GROUPS; i++) {
      char name[NAME];
      snprintf(name, sizeof name, "d_%s.state", flow_group_name(i));
      add_output(&o, name, p->group[i].d_state);
      snprintf(name, sizeof name, "d_%s.mass", flow_group_name(i));
      if (i != FLOW_GROUP_SLIP) add_output(&o, name, p->group[i].d_mass);
    }
  }
  const pcsim_status status = make(p, tangent, FLOW_EVERYTHING, &o, x);
  pcsim_program_destroy(&tangent);
  return status;
}

/* The viscosity becomes an input, which is what stands still. */
static pcsim_status make_frozen_tangent(flow_programs *p, const pcsim_program *all) {
  pcsim_program *frozen = NULL;
  output_list o = {0};
  pcsim_status status;
  if (!p->f->viscous.varies) return PCSIM_OK;
  add_viscosities(p, &o, true);
  PCSIM_TRY(pcsim_program_copy(all, &frozen));
  PCSIM_GOTO(pcsim_program_cut(frozen, o.name, o.num), status, done);
  status = make_tangent(p, frozen, false, &p->frozen_tangent);
done:
  pcsim_program_destroy(&frozen);
  return status;
}

static pcsim_status make_coefficients(flow_programs *p, const pcsim_program *all) {
  output_list o = {0};
  add_output(&o, "pace", p->f->a_p);
  add_output(&o, "coefficient", p->f->tau);
  add_output(&o, "mass", NULL);
  add_masses(p, &o, true);
  return make(p, all, FLOW_EVERYTHING, &o, &p->coefficients);
}

static pcsim_status make_surface(flow_programs *p, const pcsim_program *all) {
  output_list o = {0};
  add_masses(p, &o, false);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    add_group_output(&o, i, "state", p->group[i].state);
    if (i == FLOW_GROUP_GIVEN || i == FLOW_GROUP_SLIP || p->f->viscous.varies)
      add_group_output(&o, i, "viscous", p->group[i].viscous);
  }
  return make(p, all, FLOW_EVERYTHING, &o, &p->surface);
}

static pcsim_status make_blocks(flow_programs *p) {
  pcsim_program *blocks = NULL;
  output_list inside = {0}, boundary = {0};
  pcsim_status status;
  PCSIM_TRY(flow_write_blocks(p->f, &blocks));
  add_output(&inside, "owner", p->block_owner);
  add_output(&inside, "neighbour", p->block_neighbour);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) add_group_output(&boundary, i, "block", p->group[i].block);
  PCSIM_GOTO(make(p, blocks, FLOW_FACES | FLOW_BOUNDARIES, &inside, &p->blocks), status, done);
  status = make(p, blocks, FLOW_FACES | FLOW_BOUNDARIES, &boundary, &p->boundary_blocks);
done:
  pcsim_program_destroy(&blocks);
  return status;
}

static pcsim_status fill(flow_programs *p) {
  const flow *f = p->f;
  const size_t m = (size_t)f->dim + 1;
  pcsim_program *all = NULL;
  pcsim_status status;
  PCSIM_TRY(make_groups(p));
  flow_programs_set_values(p);
  PCSIM_TRY(pcsim_alloc((size_t)f->nt * m, sizeof(double), &p->all));
  PCSIM_TRY(pcsim_alloc(FLOW_BLOCKS_AT_ONCE * m * m, sizeof(double), &p->block_owner));
  PCSIM_TRY(pcsim_alloc(FLOW_BLOCKS_AT_ONCE * m * m, sizeof(double), &p->block_neighbour));
  PCSIM_TRY(flow_write_program(f, &all));
  PCSIM_GOTO(make_residual(p, all), status, done);
  PCSIM_GOTO(make_tangent(p, all, true, &p->tangent), status, done);
  PCSIM_GOTO(make_frozen_tangent(p, all), status, done);
  PCSIM_GOTO(make_coefficients(p, all), status, done);
  PCSIM_GOTO(make_surface(p, all), status, done);
  status = make_blocks(p);
done:
  pcsim_program_destroy(&all);
  return status;
}

pcsim_status flow_programs_create(flow *f, flow_programs **out) {
  flow_programs *p = NULL;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *p, &p));
  p->f = f;
  const pcsim_status status = fill(p);
  if (status != PCSIM_OK) flow_programs_destroy(&p);
  *out = p;
  return status;
}

void flow_programs_destroy(flow_programs **out) {
  flow_programs *p = *out;
  if (!p) return;
  pcsim_executor_destroy(&p->residual), pcsim_executor_destroy(&p->tangent);
  pcsim_executor_destroy(&p->frozen_tangent);
  pcsim_executor_destroy(&p->coefficients), pcsim_executor_destroy(&p->surface);
  pcsim_executor_destroy(&p->blocks), pcsim_executor_destroy(&p->boundary_blocks);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    flow_group *g = &p->group[i];
    pcsim_free(&g->face), pcsim_free(&g->owner), pcsim_free(&g->geometry), pcsim_free(&g->value);
    pcsim_free(&g->mass), pcsim_free(&g->state), pcsim_free(&g->viscous), pcsim_free(&g->block);
    pcsim_free(&g->d_mass), pcsim_free(&g->d_state);
    pcsim_free(&g->nu), pcsim_free(&g->place), pcsim_free(&g->carried), pcsim_free(&g->d_carried);
  }
  pcsim_free(&p->all), pcsim_free(&p->block_owner), pcsim_free(&p->block_neighbour);
  pcsim_free(out);
}

/* ---------------------------------------------------------------- evaluation */

static pcsim_status residual(flow *f, double *r) {
  const flow_programs *p = f->programs;
  PCSIM_TRY(pcsim_executor_run(p->residual, false));
  memcpy(r, p->all, (size_t)(f->n * (f->dim + 1)) * sizeof *r);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    for (int64_t k = 0; k < p->group[i].num; k++) f->mass[f->ni + p->group[i].face[k]] = p->group[i].mass[k];
  return PCSIM_OK;
}

static pcsim_status tangent(flow *f, const double *v, const double *v_grad, double *y) {
  const flow_programs *p = f->programs;
  const int m = f->dim + 1;
  pcsim_executor *x = f->viscous.frozen ? p->frozen_tangent : p->tangent;
  PCSIM_TRY(pcsim_executor_bind(x, "d_cells.q", v));
  PCSIM_TRY(pcsim_executor_bind(x, "d_cells.grad", v_grad));
  PCSIM_TRY(pcsim_executor_run(x, false));
  for (int64_t c = 0; c < f->n; c++) {
    for (int i = 0; i < m - 1; i++) y[c * m + i] = p->all[c * m + i] + f->diagonal[c] * v[c * m + i];
    y[c * m + m - 1] = p->all[c * m + m - 1];
  }
  return PCSIM_OK;
}

static pcsim_status coefficients(flow *f) { return pcsim_executor_run(f->programs->coefficients, false); }

/* The blocks of `num` faces from `first` on. */
static pcsim_status run_blocks(const flow *f, int64_t first, int64_t num) {
  pcsim_executor *x = f->programs->blocks;
  const int width = FLOW_FACE_WIDTH(f->dim);
  PCSIM_TRY(pcsim_executor_points(x, "faces", num));
  PCSIM_TRY(pcsim_executor_bind(x, "faces.geometry", f->face + first * width));
  PCSIM_TRY(pcsim_executor_bind(x, "mass", f->mass + first));
  PCSIM_TRY(pcsim_executor_bind(x, "velocity", f->face_velocity + first * f->dim));
  PCSIM_TRY(pcsim_executor_bind(x, "dissipation", f->dissipation + first));
  if (f->viscous.varies) PCSIM_TRY(pcsim_executor_bind(x, "viscosity", f->viscous.nu + first));
  return pcsim_executor_run(x, false);
}

/* What leaves the owner enters the neighbour. */
static void add_face(const flow *f, int64_t k, const double *owner, const double *neighbour, void *context,
                     flow_add_block add) {
  const int size = (f->dim + 1) * (f->dim + 1);
  const int32_t cell[2] = {f->owner[k], f->neighbour[k]};
  double minus[16];
  for (int column = 0; column < 2; column++) {
    const double *block = column ? neighbour : owner;
    for (int i = 0; i < size; i++) minus[i] = -block[i];
    add(context, cell[0], cell[column], 4 * k + column, block);
    add(context, cell[1], cell[column], 4 * k + 2 + column, minus);
  }
}

static pcsim_status jacobian(flow *f, void *context, flow_add_block add) {
  const flow_programs *p = f->programs;
  const int size = (f->dim + 1) * (f->dim + 1);
  for (int64_t first = 0; first < f->ni; first += FLOW_BLOCKS_AT_ONCE) {
    const int64_t rest = f->ni - first, num = rest < FLOW_BLOCKS_AT_ONCE ? rest : FLOW_BLOCKS_AT_ONCE;
    PCSIM_TRY(run_blocks(f, first, num));
    for (int64_t k = 0; k < num; k++)
      add_face(f, first + k, p->block_owner + k * size, p->block_neighbour + k * size, context, add);
  }
  PCSIM_TRY(pcsim_executor_run(p->boundary_blocks, false));
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    for (int64_t k = 0; k < p->group[i].num; k++) {
      const int32_t c = p->group[i].owner[k];
      add(context, c, c, 4 * f->ni + p->group[i].face[k], p->group[i].block + k * size);
    }
  return PCSIM_OK;
}

static pcsim_status boundary(flow *f, double *value, double *friction, double *flow_rate) {
  const flow_programs *p = f->programs;
  const int d = f->dim, m = d + 1;
  PCSIM_TRY(pcsim_executor_run(p->surface, false));
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    for (int64_t k = 0; k < p->group[i].num; k++) {
      const flow_group *g = &p->group[i];
      memcpy(value + g->face[k] * m, g->state + k * m, (size_t)m * sizeof *value);
      for (int j = 0; j < d; j++) friction[g->face[k] * d + j] = -g->viscous[k * d + j];
      flow_rate[g->face[k]] = g->mass[k];
    }
  return PCSIM_OK;
}

const flow_kernels flow_program_kernels = {coefficients, residual, tangent, jacobian, boundary};
