/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs of a flow and of equations that join it run backwards, joined by the transposes of what they
 * hand over. */
#include "joined_adjoint.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------- set-up */

static pcsim_status allocate(joined_adjoint *a) {
  const joined *j = a->j;
  const flow *f = j->f;
  const transport *t = j->t;
  const size_t n = (size_t)f->n, d = (size_t)f->dim, num = (size_t)f->viscous.num;
  const size_t mf = (size_t)j->mf, mt = (size_t)(j->m - j->mf), width = num > d ? num : d;
  PCSIM_TRY(pcsim_alloc((size_t)f->nt * d, sizeof(double), &a->push_seed));
  PCSIM_TRY(pcsim_alloc((size_t)f->ni * num, sizeof(double), &a->trace_seed));
  PCSIM_TRY(pcsim_alloc((size_t)t->problem->num_conditions, sizeof *a->trace_walls, &a->trace_walls));
  for (int k = 0; k < t->problem->num_conditions; k++)
    PCSIM_TRY(pcsim_alloc((size_t)t->boundary[k].num * num, sizeof(double), &a->trace_walls[k]));
  PCSIM_TRY(pcsim_alloc((size_t)f->nb * width, sizeof(double), &a->wall));
  PCSIM_TRY(pcsim_alloc(n * (mf + 1), sizeof(double), &a->w_flow));
  PCSIM_TRY(pcsim_alloc(n * (mf + 1), sizeof(double), &a->y_flow));
  PCSIM_TRY(pcsim_alloc(n * mt, sizeof(double), &a->w_laws));
  return pcsim_alloc(n * mt, sizeof(double), &a->y_laws);
}

static pcsim_status make_push(joined_adjoint *a) {
  pcsim_program *p = NULL;
  pcsim_executor *x;
  if (!a->j->t->problem->force) return PCSIM_OK;
  PCSIM_TRY(transport_write_force(a->j->t, &p));
  const pcsim_status status = transport_reverse_create(a->t, p, TRANSPORT_CELLS, &a->push);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  x = transport_reverse_executor(a->push);
  return x ? pcsim_executor_bind(x, "b_force", a->push_seed) : PCSIM_OK;
}

static pcsim_status bind_trace(const joined_adjoint *a, pcsim_executor *x) {
  const transport *t = a->j->t;
  char name[32];
  PCSIM_TRY(pcsim_executor_bind(x, "b_trace", a->trace_seed));
  if (t->problem->material)
    PCSIM_TRY(pcsim_executor_bind(x, "b_interface trace",
                                  a->trace_seed + t->faces.ordinary * a->j->f->viscous.num));
  for (int k = 0; k < t->problem->num_conditions; k++) {
    snprintf(name, sizeof name, "b_trace %d", k);
    PCSIM_TRY(pcsim_executor_bind(x, name, a->trace_walls[k]));
  }
  return PCSIM_OK;
}

static pcsim_status make_trace(joined_adjoint *a) {
  pcsim_program *p = NULL;
  pcsim_executor *x;
  if (!a->j->tracing) return PCSIM_OK;
  PCSIM_TRY(joined_write_trace(a->j, &p));
  const pcsim_status status = transport_reverse_create(a->t, p, TRANSPORT_ALL_SPACES, &a->trace);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  x = transport_reverse_executor(a->trace);
  return x ? bind_trace(a, x) : PCSIM_OK;
}

static pcsim_status fill(joined_adjoint *a) {
  PCSIM_TRY(allocate(a));
  PCSIM_TRY(make_push(a));
  return make_trace(a);
}

pcsim_status joined_adjoint_create(joined *j, const char *const *parameters, int num, joined_adjoint **out) {
  joined_adjoint *a = NULL;
  MPI_Comm comm = pcsim_mesh_comm(j->f->mesh);
  *out = NULL;
  PCSIM_TRY(pcsim_status_agree(comm, pcsim_alloc(1, sizeof *a, &a)));
  a->j = j;
  pcsim_status status = flow_adjoint_create(j->f, false, parameters, num, &a->f);
  if (status == PCSIM_OK) status = transport_adjoint_create(j->t, parameters, num, NULL, &a->t);
  if (status == PCSIM_OK) status = pcsim_status_agree(comm, fill(a));
  if (status != PCSIM_OK) joined_adjoint_destroy(&a);
  *out = a;
  return status;
}

void joined_adjoint_destroy(joined_adjoint **out) {
  joined_adjoint *a = *out;
  if (!a) return;
  transport_reverse_destroy(&a->push), transport_reverse_destroy(&a->trace);
  for (int k = 0; a->trace_walls && k < a->j->t->problem->num_conditions; k++) pcsim_free(&a->trace_walls[k]);
  transport_adjoint_destroy(&a->t);
  flow_adjoint_destroy(&a->f);
  void *blocks[] = {&a->push_seed, &a->trace_seed, &a->trace_walls, &a->wall,
                    &a->w_flow,    &a->y_flow,     &a->w_laws,      &a->y_laws};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}

/* ------------------------------------------------------------- handed back */

/* The transpose of carry in joined_exchange.c: from a carrier to the velocity u (scaled) and the flux. */
static void carry_back(int d, double U, const double *S, const double *b, double *u, double *flux) {
  double s2 = 0, bs = 0;
  for (int i = 0; i < d; i++) s2 += S[i] * S[i], bs += b[i] * S[i];
  for (int i = 0; i < d; i++) u[i] = U * (b[i] - bs / s2 * S[i]);
  *flux = U * bs / s2;
}

/* What came to the carriers on faces becomes seeds of the flow's programs. */
static void laws_to_flow(joined_adjoint *a) {
  const flow *f = a->j->f;
  const transport *t = a->j->t;
  const int d = f->dim, m = d + 1;
  const double U = f->scale_velocity;
  const transport_carrier_cotangent *from = transport_adjoint_carriers(a->t);
  const flow_joint *to = flow_adjoint_joint(a->f);
  for (int64_t at = 0; at < t->ni; at++) {
    const int64_t k = t->faces.mesh_face[at];
    carry_back(d, U, f->face + k * FLOW_FACE_WIDTH(d), from->face + at * d, to->velocity + k * d,
               to->mass + k);
  }
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++)
      memcpy(a->wall + t->boundary[k].face[i] * d, from->boundary[k] + i * d, (size_t)d * sizeof(double));
  for (int g = 0; g < FLOW_NUM_GROUPS; g++) {
    const flow_group *group = &f->programs->group[g];
    for (int64_t i = 0; i < group->num; i++) {
      carry_back(d, U, group->geometry + i * FLOW_WALL_WIDTH(d), a->wall + group->face[i] * d,
                 to->group_state[g] + i * m, to->group_mass[g] + i);
      to->group_state[g][i * m + d] = 0;
    }
  }
}

/* What came to the traces in the flow's order of faces. */
static void collect_traces(joined_adjoint *a) {
  const flow *f = a->j->f;
  const transport *t = a->j->t;
  const int num = f->viscous.num;
  const size_t bytes = (size_t)num * sizeof(double);
  const flow_joint *from = flow_adjoint_joint(a->f);
  for (int64_t at = 0; at < t->ni; at++)
    memcpy(a->trace_seed + at * num, from->carried + t->faces.mesh_face[at] * num, bytes);
  for (int g = 0; g < FLOW_NUM_GROUPS; g++)
    for (int64_t i = 0; i < f->programs->group[g].num; i++)
      memcpy(a->wall + f->programs->group[g].face[i] * num, from->group_carried[g] + i * num, bytes);
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++)
      memcpy(a->trace_walls[k] + i * num, a->wall + t->boundary[k].face[i] * num, bytes);
}

/* What came to force and traces goes on to the laws, what came to the cells' velocity to the flow. */
static pcsim_status flow_to_laws(joined_adjoint *a) {
  const flow *f = a->j->f;
  const int d = f->dim, m = d + 1;
  const double *force = flow_adjoint_force(a->f);
  if (a->push) {
    for (int64_t i = 0; i < f->nt * d; i++) a->push_seed[i] = force[i] / joined_force_scale(f);
    PCSIM_TRY(transport_adjoint_add(a->t, a->push));
  }
  if (a->trace) {
    collect_traces(a);
    PCSIM_TRY(transport_adjoint_add(a->t, a->trace));
  }
  const double *cell = transport_adjoint_carriers(a->t)->cell;
  double *q = flow_adjoint_state(a->f);
  for (int64_t c = 0; c < f->nt; c++)
    for (int i = 0; i < d; i++) q[c * m + i] += f->scale_velocity * cell[c * d + i];
  return PCSIM_OK;
}

pcsim_status joined_adjoint_push_back(joined_adjoint *a, const double *x, double *y) {
  const flow *f = a->j->f;
  const int d = f->dim;
  if (!a->push) return PCSIM_OK;
  memset(a->push_seed, 0, (size_t)(f->nt * d) * sizeof(double));
  for (int64_t c = 0; c < f->n; c++)
    for (int i = 0; i < d; i++)
      a->push_seed[c * d + i] = f->volume[c] * x[c * a->j->mf + i] / joined_force_scale(f);
  return transport_reverse_apply(a->t, a->push, y);
}

/* -------------------------------------------------------------------- products */

static void take_apart(const joined_adjoint *a, const double *w) {
  const int first = a->j->mf + 1, more = a->j->m - a->j->mf, width = first + more;
  for (int64_t c = 0; c < a->j->f->n; c++) {
    memcpy(a->w_flow + c * first, w + c * width, (size_t)first * sizeof *w);
    memcpy(a->w_laws + c * more, w + c * width + first, (size_t)more * sizeof *w);
  }
}

static void put_together(const joined_adjoint *a, double *y) {
  const int first = a->j->mf + 1, more = a->j->m - a->j->mf, width = first + more;
  for (int64_t c = 0; c < a->j->f->n; c++) {
    memcpy(y + c * width, a->y_flow + c * first, (size_t)first * sizeof *y);
    memcpy(y + c * width + first, a->y_laws + c * more, (size_t)more * sizeof *y);
  }
}

pcsim_status joined_adjoint_product(joined_adjoint *a, const double *w, double *y) {
  take_apart(a, w);
  PCSIM_TRY(transport_adjoint_begin(a->t, a->w_laws, false, true));
  laws_to_flow(a);
  PCSIM_TRY(flow_adjoint_begin(a->f, a->w_flow, false));
  PCSIM_TRY(flow_to_laws(a));
  PCSIM_TRY(flow_adjoint_finish(a->f, 1, NULL, a->y_flow));
  flow_adjoint_add_identity(a->f, a->w_flow, a->y_flow);
  PCSIM_TRY(transport_adjoint_finish(a->t, 1, NULL, a->y_laws));
  put_together(a, y);
  return PCSIM_OK;
}

/* ------------------------------------------------- everything given, quantities */

/* The rest after both have begun in full; b [n][width] (NULL: not wanted) is what comes to the unknowns. */
static pcsim_status finish(joined_adjoint *a, double factor, flow_cotangent *given, double *derivative,
                           double *b) {
  const flow *f = a->j->f;
  const int d = f->dim;
  const double *force = flow_adjoint_force(a->f);
  PCSIM_TRY(flow_to_laws(a));
  for (int64_t i = 0; a->push && i < f->n * d; i++) /* the scaled force goes as 1/density */
    given->density -= factor * force[i] * f->cell_force[i] / f->density;
  if (a->push) transport_adjoint_add_parameters(a->t, a->push, factor, derivative);
  if (a->trace) transport_adjoint_add_parameters(a->t, a->trace, factor, derivative);
  PCSIM_TRY(flow_adjoint_finish(a->f, factor, given, b ? a->y_flow : NULL));
  PCSIM_TRY(transport_adjoint_finish(a->t, factor, derivative, b ? a->y_laws : NULL));
  if (!b) return PCSIM_OK;
  for (int64_t i = 0; i < f->n * (a->j->mf + 1); i++) a->y_flow[i] *= factor;
  put_together(a, b);
  return PCSIM_OK;
}

pcsim_status joined_adjoint_parameters(joined_adjoint *a, const double *w, flow_cotangent *given,
                                       double *derivative) {
  take_apart(a, w);
  PCSIM_TRY(transport_adjoint_begin(a->t, a->w_laws, true, true));
  PCSIM_TRY(transport_adjoint_add_own(a->t, -1, derivative));
  laws_to_flow(a);
  PCSIM_TRY(flow_adjoint_begin(a->f, a->w_flow, true));
  flow_adjoint_add_law(a->f, -1, given);
  return finish(a, -1, given, derivative, NULL);
}

static pcsim_status of_the_laws(joined_adjoint *a, const pcsim_functional *quantity, double *value, double *b,
                                flow_cotangent *given, double *derivative) {
  transport_functional *functional = NULL;
  double factor = 1;
  PCSIM_TRY(transport_functional_create(a->j->t, quantity, &functional));
  const pcsim_status status =
      transport_adjoint_begin_functional(a->t, functional, value, &factor, derivative);
  transport_functional_destroy(a->j->t, &functional);
  PCSIM_TRY(status);
  laws_to_flow(a);
  PCSIM_TRY(flow_adjoint_begin(a->f, NULL, true));
  flow_adjoint_add_law(a->f, factor, given);
  return finish(a, factor, given, derivative, b);
}

/* Parameters that the quantity's program has itself. */
static pcsim_status begin_flow(joined_adjoint *a, const flow_functional *functional,
                               const char *const *parameters, int num, double *value,
                               const flow_cotangent *given, double *derivative) {
  const char **inner = NULL;
  double *gained = NULL;
  int *place = NULL, n = 0;
  pcsim_status status = pcsim_alloc((size_t)num, sizeof *inner, &inner);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)num, sizeof *place, &place);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)num, sizeof *gained, &gained);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(a->j->f->mesh), status), status, done);
  for (int i = 0; i < num; i++) {
    if (!pcsim_program_parameter(functional->program, parameters[i], NULL, NULL)) continue;
    inner[n] = parameters[i];
    place[n++] = i;
  }
  status = flow_adjoint_begin_functional(a->f, functional, inner, n, value, given, gained);
  for (int i = 0; status == PCSIM_OK && i < n; i++) derivative[place[i]] += gained[i];
done:
  pcsim_free(&inner), pcsim_free(&place), pcsim_free(&gained);
  return status;
}

static pcsim_status of_the_flow(joined_adjoint *a, const pcsim_functional *quantity,
                                const char *const *parameters, int num, double *value, double *b,
                                flow_cotangent *given, double *derivative) {
  flow_functional *functional = NULL;
  PCSIM_TRY(flow_functional_create(a->j->f, quantity, &functional));
  pcsim_status status = transport_adjoint_begin(a->t, NULL, true, false);
  if (status == PCSIM_OK) status = begin_flow(a, functional, parameters, num, value, given, derivative);
  flow_functional_destroy(&functional);
  PCSIM_TRY(status);
  return finish(a, 1, given, derivative, b);
}

pcsim_status joined_adjoint_functional(joined_adjoint *a, const pcsim_functional *quantity, bool of_laws,
                                       const char *const *parameters, int num, double *value, double *b,
                                       flow_cotangent *given, double *derivative) {
  if (of_laws) return of_the_laws(a, quantity, value, b, given, derivative);
  return of_the_flow(a, quantity, parameters, num, value, b, given, derivative);
}
