/* SPDX-License-Identifier: BSD-2-Clause */
/* The adjoint of a flow: what it holds, products with transposed derivatives by state, coefficients and all
 * that is given, quantities. */
#include "flow_reverse.h"
#include "transport.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 64 };

/* ---------------------------------------------------------------------- set-up */

/* Parameters that the program has of the viscosity's law. */
static void find_law(flow_adjoint *a, pcsim_program *p) {
  for (int i = 0; i < a->num; i++) {
    if (!pcsim_program_parameter(p, a->parameter[i], NULL, NULL)) continue;
    a->law_place[a->num_law] = i;
    a->law[a->num_law++] = a->parameter[i];
  }
}

/* Outputs of the residual that have seeds: with equations that join, what carries them too. */
enum { SEEDS_MAX = 4 + 2 * FLOW_NUM_GROUPS };
typedef struct {
  int num;
  const char *name[SEEDS_MAX];
  const double *data[SEEDS_MAX];
} seed_list;

static void add_seed(seed_list *l, const char *name, const double *data) {
  l->name[l->num] = name;
  l->data[l->num++] = data;
}

static seed_list seeds_of(const flow_adjoint *a) {
  static const char *const mass[FLOW_NUM_GROUPS] = {"given.mass", "slip.mass", "outlet.mass", "total.mass"};
  static const char *const state[FLOW_NUM_GROUPS] = {"given.state", "slip.state", "outlet.state",
                                                     "total.state"};
  seed_list l = {0};
  add_seed(&l, "all", a->seed), add_seed(&l, "coefficient", a->seed_tau);
  if (!a->joins) return l;
  add_seed(&l, "mass", a->joint.mass), add_seed(&l, "velocity", a->joint.velocity);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    if (i != FLOW_GROUP_SLIP) add_seed(&l, mass[i], a->joint.group_mass[i]);
    add_seed(&l, state[i], a->joint.group_state[i]);
  }
  return l;
}

static pcsim_status make_residual(flow_adjoint *a) {
  const seed_list seeds = seeds_of(a);
  const char *keep[SEEDS_MAX + REVERSE_NUM_STORED];
  pcsim_program *p = NULL;
  reverse_wanted w = {0};
  char name[NAME];
  pcsim_status status;
  pcsim_executor **both[2] = {&a->product, &a->full};
  memcpy(keep, seeds.name, (size_t)seeds.num * sizeof *keep);
  memcpy(keep + seeds.num, reverse_stored, sizeof reverse_stored);
  PCSIM_TRY(flow_write_program(a->f, &p));
  PCSIM_GOTO(pcsim_program_keep(p, keep, seeds.num + REVERSE_NUM_STORED), status, done);
  PCSIM_GOTO(reverse_evaluate_stored(a, p), status, done);
  reverse_want_unknowns(a, p, &w);
  find_law(a, p);
  for (int full = 0; full < 2; full++) {
    if (full) reverse_want_given(a, p, &w), reverse_want_shape(a, p, &w);
    const int num = full ? a->num_law : 0;
    PCSIM_GOTO(reverse_make_flow(a, p, FLOW_EVERYTHING, &w, NULL, true, a->law, num, both[full]), status,
               done);
    PCSIM_GOTO(reverse_bind_parameters(*both[full], a->law, num, a->law_gradient), status, done);
    for (int i = 0; i < seeds.num; i++) {
      snprintf(name, sizeof name, "b_%s", seeds.name[i]);
      PCSIM_GOTO(pcsim_executor_bind(*both[full], name, seeds.data[i]), status, done);
    }
  }
done:
  pcsim_program_destroy(&p);
  return status;
}

static pcsim_status allocate_joint(flow_adjoint *a) {
  const flow *f = a->f;
  flow_joint *j = &a->joint;
  const size_t ni = (size_t)f->ni, d = (size_t)f->dim, m = d + 1, carried = (size_t)f->viscous.num;
  a->joins = f->problem->joined;
  if (f->cell_force) PCSIM_TRY(pcsim_alloc((size_t)f->nt * d, sizeof(double), &a->push));
  if (!a->joins) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(ni, sizeof(double), &j->mass));
  PCSIM_TRY(pcsim_alloc(ni * d, sizeof(double), &j->velocity));
  PCSIM_TRY(pcsim_alloc(ni * carried, sizeof(double), &j->carried));
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    const size_t num = (size_t)f->programs->group[i].num;
    PCSIM_TRY(pcsim_alloc(num, sizeof(double), &j->group_mass[i]));
    PCSIM_TRY(pcsim_alloc(num * m, sizeof(double), &j->group_state[i]));
    PCSIM_TRY(pcsim_alloc(num * carried, sizeof(double), &j->group_carried[i]));
  }
  return PCSIM_OK;
}

static void free_joint(flow_joint *j) {
  pcsim_free(&j->mass), pcsim_free(&j->velocity), pcsim_free(&j->carried);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    pcsim_free(&j->group_mass[i]), pcsim_free(&j->group_state[i]), pcsim_free(&j->group_carried[i]);
}

const double *flow_adjoint_force(const flow_adjoint *a) { return a->push; }

flow_joint *flow_adjoint_joint(flow_adjoint *a) { return a->joins ? &a->joint : NULL; }

static pcsim_status fill(flow_adjoint *a) {
  const flow *f = a->f;
  const size_t m = (size_t)f->dim + 1, d = (size_t)f->dim, nt = (size_t)f->nt;
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &a->seed));
  PCSIM_TRY(pcsim_alloc(nt, sizeof(double), &a->seed_tau));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &a->q));
  PCSIM_TRY(pcsim_alloc(nt * m * d, sizeof(double), &a->grad));
  PCSIM_TRY(pcsim_alloc(nt, sizeof(double), &a->tau));
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    PCSIM_TRY(pcsim_alloc((size_t)f->programs->group[i].num * m, sizeof(double), &a->value[i]));
  if (a->shape) {
    PCSIM_TRY(pcsim_alloc((size_t)f->ni * FLOW_FACE_WIDTH(d), sizeof(double), &a->geometry));
    PCSIM_TRY(pcsim_alloc(nt, sizeof(double), &a->volume));
    for (int i = 0; i < FLOW_NUM_GROUPS; i++)
      PCSIM_TRY(
          pcsim_alloc((size_t)f->programs->group[i].num * FLOW_WALL_WIDTH(d), sizeof(double), &a->wall[i]));
    PCSIM_TRY(pcsim_alloc((size_t)f->ni * 4, sizeof(double), &a->place));
    for (int i = 0; i < FLOW_NUM_GROUPS; i++)
      PCSIM_TRY(pcsim_alloc((size_t)f->programs->group[i].num * 4, sizeof(double), &a->group_place[i]));
  }
  PCSIM_TRY(pcsim_alloc((size_t)a->num, sizeof *a->law, &a->law));
  PCSIM_TRY(pcsim_alloc((size_t)a->num, sizeof *a->law_place, &a->law_place));
  PCSIM_TRY(pcsim_alloc((size_t)a->num, sizeof *a->law_gradient, &a->law_gradient));
  PCSIM_TRY(pcsim_alloc((size_t)f->ni, sizeof(double), &a->jump));
  PCSIM_TRY(pcsim_alloc(nt, sizeof(double), &a->pace));
  PCSIM_TRY(pcsim_alloc((size_t)f->nb * m, sizeof(double), &a->face));
  PCSIM_TRY(pcsim_alloc((size_t)f->gradient.num_given * m, sizeof(double), &a->node));
  PCSIM_TRY(allocate_joint(a));
  return make_residual(a);
}

pcsim_status flow_adjoint_create(flow *f, bool shape, const char *const *parameters, int num,
                                 flow_adjoint **out) {
  flow_adjoint *a = NULL;
  *out = NULL;
  pcsim_status status = pcsim_alloc(1, sizeof *a, &a);
  if (status == PCSIM_OK) {
    a->f = f, a->shape = shape;
    a->parameter = parameters, a->num = num;
    status = fill(a);
  }
  status = pcsim_status_agree(pcsim_mesh_comm(f->mesh), status);
  if (status != PCSIM_OK) flow_adjoint_destroy(&a);
  *out = a;
  return status;
}

void flow_adjoint_destroy(flow_adjoint **out) {
  flow_adjoint *a = *out;
  if (!a) return;
  pcsim_executor_destroy(&a->product), pcsim_executor_destroy(&a->full);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    pcsim_free(&a->value[i]), pcsim_free(&a->wall[i]), pcsim_free(&a->group_place[i]);
  free_joint(&a->joint);
  void *blocks[] = {&a->seed, &a->seed_tau, &a->q,         &a->grad,        &a->tau,    &a->face,
                    &a->node, &a->push,     &a->place,     &a->geometry,    &a->volume, &a->jump,
                    &a->pace, &a->law,      &a->law_place, &a->law_gradient};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}

/* ------------------------------------------------------------------- products */

/* psi and phi of w [n][m + 1] as seeds of residual and coefficients. */
static void set_seeds(flow_adjoint *a, const double *w) {
  const flow *f = a->f;
  const int m = f->dim + 1;
  if (!w) {
    memset(a->seed, 0, (size_t)(f->n * m) * sizeof *a->seed);
    memset(a->seed_tau, 0, (size_t)f->n * sizeof *a->seed_tau);
    return;
  }
  for (int64_t c = 0; c < f->n; c++) {
    memcpy(a->seed + c * m, w + c * (m + 1), (size_t)m * sizeof *w);
    a->seed_tau[c] = -w[c * (m + 1) + m] * f->a_p[c] / f->tau[c];
  }
}

/* Exchanges and gradients transposed: all that came to the unknowns, in the owned rows of a->q and a->tau;
 * `given`: what comes to given values is added to a->face and a->node. */
static pcsim_status pull_back(flow_adjoint *a, bool given) {
  const flow *f = a->f;
  const int m = f->dim + 1;
  PCSIM_TRY(pcsim_mesh_exchange_add(f->mesh, 1, a->tau));
  PCSIM_TRY(pcsim_mesh_exchange_add(f->mesh, m * f->dim, a->grad));
  flow_gradient_transposed(f, a->grad, a->q, given ? a->face : NULL, given ? a->node : NULL);
  return pcsim_mesh_exchange_add(f->mesh, m, a->q);
}

/* The unknowns' part [n][m + 1], without the identity of the coefficients. */
static void get_unknowns(const flow_adjoint *a, double *y) {
  const flow *f = a->f;
  const int m = f->dim + 1;
  for (int64_t c = 0; c < f->n; c++) {
    memcpy(y + c * (m + 1), a->q + c * m, (size_t)m * sizeof *y);
    y[c * (m + 1) + m] = a->tau[c] * f->tau[c];
  }
}

double *flow_adjoint_state(flow_adjoint *a) { return a->q; }

void flow_adjoint_add_identity(const flow_adjoint *a, const double *w, double *y) {
  const flow *f = a->f;
  const int m = f->dim + 1;
  for (int64_t c = 0; c < f->n; c++) y[c * (m + 1) + m] += f->a_p[c] * w[c * (m + 1) + m];
}

pcsim_status flow_adjoint_product(flow_adjoint *a, const double *w, double *y) {
  PCSIM_TRY(flow_adjoint_begin(a, w, false));
  PCSIM_TRY(flow_adjoint_finish(a, 1, NULL, y));
  flow_adjoint_add_identity(a, w, y);
  return PCSIM_OK;
}

/* ------------------------------------------------------------- what is given */

static void clear_given(flow_adjoint *a) {
  const flow *f = a->f;
  const int m = f->dim + 1;
  a->nu = a->density = 0;
  memset(a->force, 0, sizeof a->force);
  if (a->push) memset(a->push, 0, (size_t)(f->nt * f->dim) * sizeof *a->push);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    memset(a->value[i], 0, (size_t)(f->programs->group[i].num * m) * sizeof(double));
  memset(a->face, 0, (size_t)(f->nb * m) * sizeof(double));
  memset(a->node, 0, (size_t)(f->gradient.num_given * m) * sizeof(double));
  if (!a->shape) return;
  memset(a->geometry, 0, (size_t)(f->ni * FLOW_FACE_WIDTH(f->dim)) * sizeof(double));
  memset(a->volume, 0, (size_t)f->nt * sizeof(double));
  memset(a->place, 0, (size_t)f->ni * 4 * sizeof(double));
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    memset(a->group_place[i], 0, (size_t)f->programs->group[i].num * 4 * sizeof(double));
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    memset(a->wall[i], 0, (size_t)(f->programs->group[i].num * FLOW_WALL_WIDTH(f->dim)) * sizeof(double));
}

static void add(double factor, int64_t num, const double *from, double *to) {
  for (int64_t i = 0; i < num; i++) to[i] += factor * from[i];
}

/* given += factor times what came to the geometry. */
static void add_shape(const flow_adjoint *a, double factor, flow_cotangent *given) {
  const flow *f = a->f;
  const int width = FLOW_WALL_WIDTH(f->dim);
  if (!a->shape) return;
  add(factor, f->ni * FLOW_FACE_WIDTH(f->dim), a->geometry, given->face);
  add(factor, f->n, a->volume, given->volume); /* ghosts have no coefficient */
  add(factor, f->n * (f->dim + 1) * f->dim, a->grad, given->grad);
  if (given->place) add(factor, f->ni * 4, a->place, given->place);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    const flow_group *g = &f->programs->group[i];
    for (int64_t k = 0; k < g->num; k++)
      add(factor, width, a->wall[i] + k * width, given->wall + g->face[k] * width);
    for (int64_t k = 0; given->place && k < g->num; k++)
      add(factor, 4, a->group_place[i] + k * 4, given->place + (f->ni + g->face[k]) * 4);
  }
}

/* given += factor times what the last run and pull_back left. */
static void add_given(const flow_adjoint *a, double factor, flow_cotangent *given) {
  const flow *f = a->f;
  const int m = f->dim + 1;
  given->nu += factor * a->nu;
  given->density += factor * a->density;
  add(factor, 3, a->force, given->force);
  if (given->push) add(factor, f->n * f->dim, a->push, given->push);
  add(factor, f->nb * m, a->face, given->value);
  add(factor, f->gradient.num_given * m, a->node, given->node);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++) {
    const flow_group *g = &f->programs->group[i];
    for (int64_t k = 0; k < g->num; k++)
      for (int c = 0; c < m; c++) given->value[g->face[k] * m + c] += factor * a->value[i][k * m + c];
  }
  add_shape(a, factor, given);
}

pcsim_status flow_adjoint_begin(flow_adjoint *a, const double *w, bool full) {
  if (full) clear_given(a);
  set_seeds(a, w);
  return pcsim_executor_run(full ? a->full : a->product, false);
}

pcsim_status flow_adjoint_finish(flow_adjoint *a, double factor, flow_cotangent *given, double *y) {
  PCSIM_TRY(pull_back(a, given != NULL));
  if (given) add_given(a, factor, given);
  if (y) get_unknowns(a, y);
  return PCSIM_OK;
}

void flow_adjoint_add_law(const flow_adjoint *a, double factor, flow_cotangent *given) {
  for (int i = 0; i < a->num_law; i++) given->law[a->law_place[i]] += factor * a->law_gradient[i];
}

pcsim_status flow_adjoint_given(flow_adjoint *a, const double *w, flow_cotangent *given) {
  PCSIM_TRY(flow_adjoint_begin(a, w, true));
  flow_adjoint_add_law(a, -1, given);
  return flow_adjoint_finish(a, -1, given, NULL);
}

/* ---------------------------------------------------------------- functionals */

/* What comes to the places that a quantity of cells looks at. */
static pcsim_status bind_looks(const reverse_wanted *w, const flow_cotangent *given, pcsim_executor *x) {
  if (reverse_wants(w, "looks.weight"))
    PCSIM_TRY(pcsim_executor_bind_output(x, "b_looks.weight", given->look_weight));
  if (reverse_wants(w, "looks.reach"))
    PCSIM_TRY(pcsim_executor_bind_output(x, "b_looks.reach", given->look_reach));
  return reverse_wants(w, "looks.coordinates")
             ? pcsim_executor_bind_output(x, "b_looks.coordinates", given->look_place)
             : PCSIM_OK;
}

/* What does not come to what joins: a functional may not ask for it. */
static void clear_joint(flow_adjoint *a) {
  const flow *f = a->f;
  const int carried = f->viscous.num;
  if (!a->joins) return;
  memset(a->joint.carried, 0, (size_t)(f->ni * carried) * sizeof(double));
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    memset(a->joint.group_carried[i], 0, (size_t)(f->programs->group[i].num * carried) * sizeof(double));
}

static pcsim_status evaluate(flow_adjoint *a, const flow_functional *functional, const char *const *names,
                             int num, double *parameter, double *value, const flow_cotangent *given,
                             pcsim_executor **x) {
  const flow *f = a->f;
  const double one = 1;
  reverse_wanted w = {0};
  reverse_want_unknowns(a, functional->program, &w);
  reverse_want_given(a, functional->program, &w);
  reverse_want_shape(a, functional->program, &w);
  PCSIM_TRY(reverse_make_flow(a, functional->program, functional->on_faces ? FLOW_BOUNDARIES : 0, &w, "value",
                              false, names, num, x));
  PCSIM_TRY(flow_functional_bind(functional, *x));
  PCSIM_TRY(bind_looks(&w, given, *x));
  PCSIM_TRY(pcsim_executor_bind_output(*x, "value", value));
  PCSIM_TRY(pcsim_executor_bind(*x, "b_value", &one));
  PCSIM_TRY(reverse_bind_parameters(*x, names, num, parameter));
  memset(a->q, 0, (size_t)(f->nt * (f->dim + 1)) * sizeof *a->q);
  memset(a->grad, 0, (size_t)(f->nt * (f->dim + 1) * f->dim) * sizeof *a->grad);
  memset(a->tau, 0, (size_t)f->nt * sizeof *a->tau);
  clear_joint(a);
  clear_given(a);
  return pcsim_executor_run(*x, false);
}

pcsim_status flow_adjoint_begin_functional(flow_adjoint *a, const flow_functional *functional,
                                           const char *const *names, int num, double *value,
                                           const flow_cotangent *given, double *parameter) {
  pcsim_executor *x = NULL;
  const pcsim_status status = evaluate(a, functional, names, num, parameter, value, given, &x);
  pcsim_executor_destroy(&x);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(a->f->mesh), status));
  MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(a->f->mesh));
  return PCSIM_OK;
}

pcsim_status flow_adjoint_functional(flow_adjoint *a, const flow_functional *functional,
                                     const char *const *names, int num, double *value, double *b,
                                     flow_cotangent *given, double *parameter) {
  PCSIM_TRY(flow_adjoint_begin_functional(a, functional, names, num, value, given, parameter));
  return flow_adjoint_finish(a, 1, given, b);
}
