/* SPDX-License-Identifier: BSD-2-Clause */
/* What a flow and the laws that join it hand over to each other: the velocity that carries, the force that
 * pushes, the unknowns on faces that the viscosity depends on; and the same along directions. */
#include "flow_program.h"
#include "joined.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- carried along */

/* The velocity u (scaled) with its normal part such that u.S is the volume flux; in m/s. Linear. */
static void carry(int d, double U, const double *S, const double *u, double flux, double *out) {
  double s2 = 0, un = 0;
  for (int i = 0; i < d; i++) s2 += S[i] * S[i], un += u[i] * S[i];
  for (int i = 0; i < d; i++) out[i] = U * (u[i] + (flux - un) / s2 * S[i]);
}

static void carry_inside(const joined *j, const double *velocity, const double *mass, double *to) {
  const flow *f = j->f;
  const int d = f->dim;
  for (int64_t at = 0; at < f->ni; at++) {
    const int64_t k = j->t->faces.mesh_face[at];
    carry(d, f->scale_velocity, f->face + k * FLOW_FACE_WIDTH(d), velocity + k * d, mass[k], to + at * d);
  }
}

static void carry_boundaries(const joined *j, const double *wall, double **to) {
  const int d = j->f->dim;
  for (int k = 0; k < j->t->problem->num_conditions; k++) {
    const transport_boundary *b = &j->t->boundary[k];
    for (int64_t i = 0; i < b->num; i++)
      memcpy(to[k] + i * d, wall + b->face[i] * d, (size_t)d * sizeof *wall);
  }
}

static void carry_cells(const joined *j, const double *q, double *to) {
  const flow *f = j->f;
  for (int64_t c = 0; c < f->nt; c++)
    for (int i = 0; i < f->dim; i++) to[c * f->dim + i] = f->scale_velocity * q[c * j->mf + i];
}

/* What the flow's last residual says. */
pcsim_status joined_carry(joined *j) {
  flow *f = j->f;
  const int d = f->dim;
  carry_inside(j, f->face_velocity, f->mass, j->t->carrier.face);
  PCSIM_TRY(f->kernels->boundary(f, j->value, j->friction, j->rate));
  for (int64_t k = 0; k < f->nb; k++)
    carry(d, f->scale_velocity, f->wall + k * FLOW_WALL_WIDTH(d), j->value + k * j->mf, j->rate[k],
          j->wall + k * d);
  carry_boundaries(j, j->wall, j->t->carrier.boundary);
  carry_cells(j, f->q, j->t->carrier.cell);
  return PCSIM_OK;
}

/* What its last tangent says: nothing moves where the velocity is given. */
void joined_carry_along(joined *j) {
  const flow *f = j->f;
  const int d = f->dim;
  carry_inside(j, f->d_face_velocity, f->d_mass, j->t->carrier.d_face);
  for (int g = FLOW_GROUP_SLIP; g < FLOW_NUM_GROUPS; g++) {
    const flow_group *group = &f->programs->group[g];
    for (int64_t i = 0; i < group->num; i++)
      carry(d, f->scale_velocity, group->geometry + i * FLOW_WALL_WIDTH(d), group->d_state + i * j->mf,
            group->d_mass[i], j->d_wall + group->face[i] * d);
  }
  carry_boundaries(j, j->d_wall, j->t->carrier.d_boundary);
  carry_cells(j, f->v, j->t->carrier.d_cell);
}

/* ------------------------------------------------------------------------ force */

/* The force of the laws on owned cells, from their state and the cells' velocity. */
pcsim_status joined_push(joined *j) {
  flow *f = j->f;
  if (!j->push) return PCSIM_OK;
  carry_cells(j, f->q, j->t->carrier.cell);
  PCSIM_TRY(pcsim_executor_run(j->push, false));
  for (int64_t k = 0; k < f->n * f->dim; k++) f->cell_force[k] = j->force[k] / joined_force_scale(f);
  return PCSIM_OK;
}

/* y -= the flow's force along the direction of the laws that stands in t->v, and, `moving`, of the velocity.
 */
pcsim_status joined_push_along(joined *j, bool moving, double *y) {
  const flow *f = j->f;
  const int d = f->dim;
  if (!j->push_tangent) return PCSIM_OK;
  if (!moving) memset(j->t->carrier.d_cell, 0, (size_t)(f->nt * d) * sizeof(double));
  PCSIM_TRY(pcsim_executor_run(j->push_tangent, false));
  for (int64_t c = 0; c < f->n; c++)
    for (int i = 0; i < d; i++)
      y[c * j->mf + i] -= f->volume[c] * j->d_force[c * d + i] / joined_force_scale(f);
  return PCSIM_OK;
}

static pcsim_status make_push(joined *j) {
  const transport *t = j->t;
  pcsim_program *force = NULL, *along = NULL;
  pcsim_status status;
  if (!t->problem->force) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)(t->nt * t->dim), sizeof(double), &j->force));
  PCSIM_TRY(pcsim_alloc((size_t)(t->nt * t->dim), sizeof(double), &j->d_force));
  PCSIM_TRY(transport_write_force(t, &force));
  PCSIM_GOTO(transport_make_executor(t, force, TRANSPORT_CELLS, &j->push), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(j->push, "force", j->force), status, done);
  PCSIM_GOTO(transport_tangent_of(force, (const char *const[]){"force"}, 1, &along), status, done);
  PCSIM_GOTO(transport_make_executor(t, along, TRANSPORT_CELLS, &j->push_tangent), status, done);
  status = pcsim_executor_bind_output(j->push_tangent, "d_force", j->d_force);
done:
  pcsim_program_destroy(&force), pcsim_program_destroy(&along);
  return status;
}

/* -------------------------------------------------------- unknowns on faces */

/* From the laws' order of faces to the flow's. */
static void hand_over(const joined *j, const double *inside, double *const *walls, double *to) {
  const transport *t = j->t;
  const int num = j->f->viscous.num;
  const size_t bytes = (size_t)num * sizeof *to;
  for (int64_t at = 0; at < t->ni; at++) memcpy(to + t->faces.mesh_face[at] * num, inside + at * num, bytes);
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++)
      memcpy(to + (t->ni + t->boundary[k].face[i]) * num, walls[k] + i * num, bytes);
}

pcsim_status joined_trace(joined *j) {
  if (!j->tracing) return PCSIM_OK;
  PCSIM_TRY(pcsim_executor_run(j->tracing, false));
  hand_over(j, j->trace, j->trace_wall, j->f->viscous.carried);
  flow_programs_set_carried(j->f->programs, false);
  return PCSIM_OK;
}

pcsim_status joined_trace_along(joined *j) {
  if (!j->tracing) return PCSIM_OK;
  PCSIM_TRY(pcsim_executor_run(j->tracing_tangent, false));
  hand_over(j, j->trace, j->trace_wall, j->f->viscous.d_carried);
  flow_programs_set_carried(j->f->programs, true);
  return PCSIM_OK;
}

/* Outputs of the program, "d_" in front for its tangent. */
static pcsim_status bind_traces(const joined *j, const char *front, pcsim_executor *x) {
  const transport *t = j->t;
  char name[64];
  snprintf(name, sizeof name, "%strace", front);
  PCSIM_TRY(pcsim_executor_bind_output(x, name, j->trace));
  snprintf(name, sizeof name, "%sinterface trace", front);
  if (t->problem->material)
    PCSIM_TRY(pcsim_executor_bind_output(x, name, j->trace + t->faces.ordinary * j->f->viscous.num));
  for (int k = 0; k < t->problem->num_conditions; k++) {
    snprintf(name, sizeof name, "%strace %d", front, k);
    PCSIM_TRY(pcsim_executor_bind_output(x, name, j->trace_wall[k]));
  }
  return PCSIM_OK;
}

static pcsim_status trace_tangent(const joined *j, const pcsim_program *p, pcsim_program **along) {
  const transport *t = j->t;
  const int conditions = t->problem->num_conditions;
  const char **outputs = NULL;
  char(*text)[32] = NULL;
  int num = 0;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)conditions + 2, sizeof *outputs, &outputs), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)conditions, sizeof *text, &text), status, done);
  outputs[num++] = "trace";
  if (t->problem->material) outputs[num++] = "interface trace";
  for (int k = 0; k < conditions; k++) {
    snprintf(text[k], sizeof text[k], "trace %d", k);
    outputs[num++] = text[k];
  }
  status = transport_tangent_of(p, outputs, num, along);
done:
  pcsim_free(&outputs), pcsim_free(&text);
  return status;
}

/* Which unknowns of the laws the viscosity asks for. */
static pcsim_status find_unknowns(const joined *j, int *unknown) {
  const pcsim_transport_view *laws = j->t->problem;
  for (int i = 0; i < j->f->viscous.num; i++) {
    unknown[i] = 0;
    while (unknown[i] < laws->num_unknowns && strcmp(laws->unknown[unknown[i]], j->f->viscous.name[i]) != 0)
      unknown[i]++;
    PCSIM_CHECK(unknown[i] < laws->num_unknowns, PCSIM_ERR_ARG,
                "the viscosity depends on \"%s\", which is no unknown of the equations that join the flow",
                j->f->viscous.name[i]);
  }
  return PCSIM_OK;
}

static pcsim_status allocate_traces(joined *j) {
  const transport *t = j->t;
  const size_t num = (size_t)j->f->viscous.num, conditions = (size_t)t->problem->num_conditions;
  PCSIM_TRY(pcsim_alloc((size_t)t->ni * num, sizeof(double), &j->trace));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *j->trace_wall, &j->trace_wall));
  for (size_t k = 0; k < conditions; k++)
    PCSIM_TRY(pcsim_alloc((size_t)t->boundary[k].num * num, sizeof(double), &j->trace_wall[k]));
  return PCSIM_OK;
}

pcsim_status joined_write_trace(const joined *j, pcsim_program **program) {
  int unknown[SYSTEM_UNKNOWNS_MAX];
  *program = NULL;
  PCSIM_TRY(find_unknowns(j, unknown));
  return transport_write_trace(j->t, unknown, j->f->viscous.num, program);
}

static pcsim_status make_traces(joined *j) {
  pcsim_program *p = NULL, *along = NULL;
  pcsim_status status;
  if (!j->f->viscous.num) return PCSIM_OK;
  PCSIM_TRY(allocate_traces(j));
  PCSIM_TRY(joined_write_trace(j, &p));
  PCSIM_GOTO(transport_make_executor(j->t, p, TRANSPORT_ALL_SPACES, &j->tracing), status, done);
  PCSIM_GOTO(bind_traces(j, "", j->tracing), status, done);
  PCSIM_GOTO(trace_tangent(j, p, &along), status, done);
  PCSIM_GOTO(transport_make_executor(j->t, along, TRANSPORT_ALL_SPACES, &j->tracing_tangent), status, done);
  status = bind_traces(j, "d_", j->tracing_tangent);
done:
  pcsim_program_destroy(&p), pcsim_program_destroy(&along);
  return status;
}

/* ----------------------------------------------------------------------- set-up */

pcsim_status joined_exchange_create(joined *j) {
  const flow *f = j->f;
  const size_t d = (size_t)f->dim, nb = (size_t)f->nb;
  PCSIM_TRY(pcsim_alloc(nb * d, sizeof(double), &j->wall));
  PCSIM_TRY(pcsim_alloc(nb * d, sizeof(double), &j->d_wall));
  PCSIM_TRY(pcsim_alloc(nb * (size_t)j->mf, sizeof(double), &j->value));
  PCSIM_TRY(pcsim_alloc(nb * d, sizeof(double), &j->friction));
  PCSIM_TRY(pcsim_alloc(nb, sizeof(double), &j->rate));
  PCSIM_TRY(make_push(j));
  return make_traces(j);
}

void joined_exchange_destroy(joined *j) {
  pcsim_executor_destroy(&j->push), pcsim_executor_destroy(&j->push_tangent);
  pcsim_executor_destroy(&j->tracing), pcsim_executor_destroy(&j->tracing_tangent);
  for (int k = 0; j->trace_wall && k < j->t->problem->num_conditions; k++) pcsim_free(&j->trace_wall[k]);
  void *blocks[] = {&j->force,    &j->d_force, &j->wall,  &j->d_wall,    &j->value,
                    &j->friction, &j->rate,    &j->trace, &j->trace_wall};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
}
