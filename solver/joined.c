/* SPDX-License-Identifier: BSD-2-Clause */
/* A flow and typed equations that join it: how their programs hand over to each other. */
#include "joined.h"
#include "flow_program.h"

#include <math.h>
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
      memcpy(to[k] + i * d, wall + b->c->face[i] * d, (size_t)d * sizeof *wall);
  }
}

static void carry_cells(const joined *j, const double *q, double *to) {
  const flow *f = j->f;
  for (int64_t c = 0; c < f->nt; c++)
    for (int i = 0; i < f->dim; i++) to[c * f->dim + i] = f->scale_velocity * q[c * j->mf + i];
}

/* What the flow's last residual says. */
static pcsim_status update_carriers(joined *j) {
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
static void update_directions(joined *j) {
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

/* -------------------------------------------------------------------- functions */

static double force_scale(const flow *f) { return f->density * f->scale_velocity * f->scale_velocity; }

static void take_apart(const joined *j, const double *x, double *flow_part, double *laws_part) {
  const int mf = j->mf, mt = j->m - mf;
  for (int64_t c = 0; c < j->f->n; c++) {
    memcpy(flow_part + c * mf, x + c * j->m, (size_t)mf * sizeof *x);
    memcpy(laws_part + c * mt, x + c * j->m + mf, (size_t)mt * sizeof *x);
  }
}

static void put_together(const joined *j, const double *flow_part, const double *laws_part, double *x) {
  const int mf = j->mf, mt = j->m - mf;
  for (int64_t c = 0; c < j->f->n; c++) {
    memcpy(x + c * j->m, flow_part + c * mf, (size_t)mf * sizeof *x);
    memcpy(x + c * j->m + mf, laws_part + c * mt, (size_t)mt * sizeof *x);
  }
}

static double *laws_of(const joined *j, double *part) { return part + j->f->n * j->mf; }

/* The force of the laws on owned cells, from their state and the cells' velocity. */
static pcsim_status push(joined *j) {
  flow *f = j->f;
  if (!j->push) return PCSIM_OK;
  carry_cells(j, f->q, j->t->carrier.cell);
  PCSIM_TRY(pcsim_executor_run(j->push, false));
  for (int64_t k = 0; k < f->n * f->dim; k++) f->cell_force[k] = j->force[k] / force_scale(f);
  return PCSIM_OK;
}

/* y -= the flow's force along the direction of the laws that stands in t->v, and, `moving`, of the velocity.
 */
static pcsim_status push_along(joined *j, bool moving, double *y) {
  const flow *f = j->f;
  const int d = f->dim;
  if (!j->push_tangent) return PCSIM_OK;
  if (!moving) memset(j->t->carrier.d_cell, 0, (size_t)(f->nt * d) * sizeof(double));
  PCSIM_TRY(pcsim_executor_run(j->push_tangent, false));
  for (int64_t c = 0; c < f->n; c++)
    for (int i = 0; i < d; i++) y[c * j->mf + i] -= f->volume[c] * j->d_force[c * d + i] / force_scale(f);
  return PCSIM_OK;
}

static pcsim_status residual(void *context, double time, double *r) {
  joined *j = context;
  take_apart(j, j->q, j->f->q, j->t->q);
  PCSIM_TRY(flow_set_time(j->f, time));
  PCSIM_TRY(transport_update_gradient(j->t, time));
  PCSIM_TRY(push(j));
  PCSIM_TRY(flow_residual(j->f, j->part));
  PCSIM_TRY(update_carriers(j));
  PCSIM_TRY(transport_residual_here(j->t, laws_of(j, j->part)));
  put_together(j, j->part, laws_of(j, j->part), r);
  return PCSIM_OK;
}

static pcsim_status freeze(void *context, double time, bool fresh) {
  joined *j = context;
  take_apart(j, j->q, j->f->q, j->t->q);
  if (fresh) PCSIM_TRY(residual(context, time, j->part_y)); /* the force that the flow's own start needs */
  PCSIM_TRY(j->flow_system.freeze(j->flow_system.context, time, fresh));
  PCSIM_TRY(residual(context, time, j->part_y)); /* carriers of the coefficients that are frozen now */
  return transport_update_speed(j->t);
}

static void set_shift(void *context, double cfl, double step) {
  joined *j = context;
  j->flow_system.set_shift(j->flow_system.context, cfl, step);
  j->transport_system.set_shift(j->transport_system.context, cfl, step);
}

pcsim_status joined_tangent(joined *j, const double *v, double *y) {
  double *laws = laws_of(j, j->part), *laws_y = laws_of(j, j->part_y);
  take_apart(j, v, j->part, laws);
  PCSIM_TRY(flow_tangent(j->f, j->part, j->part_y));
  update_directions(j);
  memcpy(j->t->v, laws, (size_t)(j->t->n * j->t->m) * sizeof *laws);
  PCSIM_TRY(push_along(j, true, j->part_y));
  PCSIM_TRY(transport_shifted_tangent(j->t, laws, laws_y));
  put_together(j, j->part_y, laws_y, y);
  return PCSIM_OK;
}

static pcsim_status tangent(void *context, const double *v, double *y) {
  return joined_tangent(context, v, y);
}

static pcsim_status renew(void *context) {
  joined *j = context;
  PCSIM_TRY(flow_linear_update(j->flow_linear));
  return transport_linear_update(j->transport_linear);
}

pcsim_status joined_precondition(joined *j, const double *b, double *x) {
  double *laws = laws_of(j, j->part), *laws_x = laws_of(j, j->part_y);
  take_apart(j, b, j->part, laws);
  PCSIM_TRY(transport_linear_precondition(j->transport_linear, laws, laws_x));
  memcpy(j->t->v, laws_x, (size_t)(j->t->n * j->t->m) * sizeof *laws_x);
  for (int64_t k = 0; k < j->f->n * j->mf; k++) j->part[k] = -j->part[k];
  PCSIM_TRY(push_along(j, false, j->part)); /* -(b + force) */
  for (int64_t k = 0; k < j->f->n * j->mf; k++) j->part[k] = -j->part[k];
  PCSIM_TRY(flow_linear_precondition(j->flow_linear, j->part, j->part_y));
  put_together(j, j->part_y, laws_x, x);
  return PCSIM_OK;
}

static pcsim_status solve(void *context, const double *b, double tolerance, double *x, int64_t *iterations,
                          bool *converged) {
  return joined_linear_solve(((joined *)context)->linear, b, x, tolerance, iterations, converged);
}

/* The level of the pressure, as the flow takes it out. */
static void normalise(void *context) {
  joined *j = context;
  take_apart(j, j->q, j->f->q, j->t->q);
  j->flow_system.normalise(j->flow_system.context);
  put_together(j, j->f->q, j->t->q, j->q);
}

static const char *equation(const void *context, int i) {
  const joined *j = context;
  if (i < j->mf) return j->flow_system.equation(j->flow_system.context, i);
  return j->transport_system.equation(j->transport_system.context, i - j->mf);
}

void joined_system(joined *j, discrete_system *s) {
  *s = (discrete_system){.context = j,
                         .mesh = j->f->mesh,
                         .m = j->m,
                         .n = j->f->n,
                         .q = j->q,
                         .volume = j->f->volume,
                         .evolves = j->evolves,
                         .scale = j->scale,
                         .row_weight = j->row_weight,
                         .advice = j->flow_system.advice,
                         .freeze = freeze,
                         .residual = residual,
                         .set_shift = set_shift,
                         .tangent = tangent,
                         .renew = renew,
                         .solve = solve,
                         .normalise = j->flow_system.normalise ? normalise : NULL,
                         .equation = equation};
}

/* ----------------------------------------------------------------------- set-up */

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
  PCSIM_GOTO(transport_tangent_of(force, "force", &along), status, done);
  PCSIM_GOTO(transport_make_executor(t, along, TRANSPORT_CELLS, &j->push_tangent), status, done);
  status = pcsim_executor_bind_output(j->push_tangent, "d_force", j->d_force);
done:
  pcsim_program_destroy(&force), pcsim_program_destroy(&along);
  return status;
}

static pcsim_status allocate(joined *j) {
  const flow *f = j->f;
  const size_t size = (size_t)(f->n * j->m), d = (size_t)f->dim, nb = (size_t)f->nb;
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &j->q));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &j->part));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &j->part_y));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &j->row_weight));
  PCSIM_TRY(pcsim_alloc(nb * d, sizeof(double), &j->wall));
  PCSIM_TRY(pcsim_alloc(nb * d, sizeof(double), &j->d_wall));
  PCSIM_TRY(pcsim_alloc(nb * (size_t)j->mf, sizeof(double), &j->value));
  PCSIM_TRY(pcsim_alloc(nb * d, sizeof(double), &j->friction));
  PCSIM_TRY(pcsim_alloc(nb, sizeof(double), &j->rate));
  return make_push(j);
}

/* Residuals of the laws in the scale of the flow's. */
static void find_scales(joined *j) {
  for (int i = 0; i < j->m; i++) {
    j->evolves[i] = i < j->mf ? j->flow_system.evolves[i] : j->transport_system.evolves[i - j->mf];
    j->scale[i] = i < j->mf ? j->flow_system.scale[i] : j->transport_system.scale[i - j->mf];
  }
  for (int64_t k = 0; k < j->f->n * j->m; k++) {
    const int i = (int)(k % j->m);
    j->row_weight[k] = i < j->mf ? 1 : 1 / (j->f->scale_velocity * j->scale[i]);
  }
}

static pcsim_status create_parts(joined *j, const pcsim_mesh *mesh, pcsim_flow_problem *problem,
                                 const pcsim_transport_problem *laws, const pcsim_flow_options *options) {
  pcsim_transport_options typed = pcsim_transport_options_default();
  const transport_choices choices = {.central = options->central, .kappa = options->kappa};
  PCSIM_CHECK(pcsim_flow_problem_get(problem)->joined && pcsim_transport_problem_get(laws)->num_carriers,
              PCSIM_ERR_ARG, "the problems are of a case whose equations do not join the flow");
  PCSIM_TRY(flow_create(mesh, problem, options, &j->f));
  PCSIM_TRY(flow_linear_create(j->f, options, &j->flow_linear));
  PCSIM_TRY(transport_create(mesh, laws, &choices, &j->t));
  if (!strcmp(options->linear, "direct")) memcpy(typed.linear, "direct", sizeof "direct");
  PCSIM_TRY(transport_linear_create(j->t, &typed, &j->transport_linear));
  j->flow_context = (flow_context){j->f, j->flow_linear};
  j->transport_context.t = j->t, j->transport_context.linear = j->transport_linear;
  PCSIM_TRY(flow_system(&j->flow_context, &j->flow_system));
  transport_system(&j->transport_context, &j->transport_system);
  j->mf = j->f->dim + 1;
  j->m = j->mf + j->t->m;
  PCSIM_CHECK(j->m <= SYSTEM_UNKNOWNS_MAX, PCSIM_ERR_CASE, "%d unknowns; the solver takes at most %d", j->m,
              SYSTEM_UNKNOWNS_MAX);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(mesh), allocate(j)));
  find_scales(j);
  put_together(j, j->f->q, j->t->q, j->q);
  return joined_linear_create(j, &j->linear);
}

pcsim_status joined_create(const pcsim_mesh *mesh, pcsim_flow_problem *problem,
                           const pcsim_transport_problem *laws, const pcsim_flow_options *options,
                           joined **out) {
  joined *j = NULL;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *j, &j));
  const pcsim_status status = create_parts(j, mesh, problem, laws, options);
  if (status != PCSIM_OK) joined_destroy(&j);
  *out = j;
  return status;
}

void joined_destroy(joined **out) {
  joined *j = *out;
  if (!j) return;
  joined_linear_destroy(&j->linear);
  pcsim_executor_destroy(&j->push), pcsim_executor_destroy(&j->push_tangent);
  flow_linear_destroy(&j->flow_linear);
  transport_linear_destroy(&j->transport_linear);
  flow_destroy(&j->f);
  transport_destroy(&j->t);
  void *blocks[] = {&j->q,    &j->part,   &j->part_y, &j->row_weight, &j->force, &j->d_force,
                    &j->wall, &j->d_wall, &j->value,  &j->friction,   &j->rate};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}
