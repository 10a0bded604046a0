/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs of typed laws run backwards: products with transposed derivatives by state, parameters and
 * places. */
#include "transport_reverse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------- set-up */

static pcsim_status make_residual(transport_adjoint *a) {
  pcsim_program *p = NULL;
  reverse_request request = {.spaces = TRANSPORT_ALL_SPACES, .q = a->q, .grad = a->grad};
  PCSIM_TRY(transport_write_residual(a->t, &p));
  pcsim_status status = reverse_make(a, p, &request, &a->product);
  request.everything = true;
  if (status == PCSIM_OK) status = reverse_make(a, p, &request, &a->full);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  if (a->product.x) PCSIM_TRY(pcsim_executor_bind(a->product.x, "b_all", a->seed));
  return a->full.x ? pcsim_executor_bind(a->full.x, "b_all", a->seed) : PCSIM_OK;
}

static pcsim_status make_speed(transport_adjoint *a) {
  pcsim_program *p = NULL;
  const reverse_request request = {
      .spaces = TRANSPORT_FACES, .everything = true, .q = a->q_speed, .grad = a->grad_speed};
  if (!a->product.by_speed) return PCSIM_OK;
  PCSIM_TRY(transport_write_speed(a->t, &p));
  const pcsim_status status = reverse_make(a, p, &request, &a->speed_reverse);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  return a->speed_reverse.x ? pcsim_executor_bind(a->speed_reverse.x, "b_speed", a->speed) : PCSIM_OK;
}

static pcsim_status make_condition(transport_adjoint *a, int k) {
  const transport *t = a->t;
  pcsim_program *values = NULL, *back = NULL;
  pcsim_status status;
  if (a->shape) {
    PCSIM_TRY(shape_inputs_of_values(t, k, false, &a->face_given[k].places));
    PCSIM_TRY(shape_inputs_of_values(t, k, true, &a->node_given[k].places));
  }
  PCSIM_TRY(transport_values_program(t->boundary[k].c, &values));
  PCSIM_GOTO(reverse_make_values(a, values, t->boundary[k].num, &a->face_given[k], &back), status, done);
  if (a->face_given[k].r.x)
    PCSIM_GOTO(transport_bind_at_faces(a->t, k, back, a->face_given[k].r.x), status, done);
  pcsim_program_destroy(&back);
  PCSIM_GOTO(reverse_make_values(a, values, t->nodes[k].num, &a->node_given[k], &back), status, done);
  if (a->node_given[k].r.x) status = transport_bind_at_nodes(a->t, k, back, a->node_given[k].r.x);
done:
  pcsim_program_destroy(&values), pcsim_program_destroy(&back);
  return status;
}

static pcsim_status make_source(transport_adjoint *a, int k) {
  const pcsim_transport_source *s = &a->t->problem->source[k];
  pcsim_program *values = NULL, *back = NULL;
  PCSIM_TRY(pcsim_program_copy(s->program, &values));
  pcsim_status status = reverse_make_values(a, values, s->num_points, &a->source[k], &back);
  if (status == PCSIM_OK && a->source[k].r.x && transport_needs(back, "coordinates"))
    status = pcsim_executor_bind(a->source[k].r.x, "coordinates", a->t->source_coordinates[k]);
  pcsim_program_destroy(&values), pcsim_program_destroy(&back);
  return status;
}

/* ---------------------------------------------------------------------- all */

static pcsim_status allocate_carriers(const transport *t, transport_carrier_cotangent *c) {
  const size_t d = (size_t)t->dim, conditions = (size_t)t->problem->num_conditions;
  PCSIM_TRY(pcsim_alloc((size_t)t->nt * d, sizeof(double), &c->cell));
  PCSIM_TRY(pcsim_alloc((size_t)t->ni * d, sizeof(double), &c->face));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *c->boundary, &c->boundary));
  for (size_t k = 0; k < conditions; k++)
    PCSIM_TRY(pcsim_alloc((size_t)t->boundary[k].num * d, sizeof(double), &c->boundary[k]));
  return PCSIM_OK;
}

static void free_carriers(const transport *t, transport_carrier_cotangent *c) {
  for (int k = 0; c->boundary && k < t->problem->num_conditions; k++) pcsim_free(&c->boundary[k]);
  pcsim_free(&c->cell), pcsim_free(&c->face), pcsim_free(&c->boundary);
}

static pcsim_status allocate(transport_adjoint *a) {
  const transport *t = a->t;
  const size_t m = (size_t)t->m, e = (size_t)t->derivatives, nt = (size_t)t->nt;
  const size_t conditions = (size_t)t->problem->num_conditions;
  if (t->problem->num_carriers) {
    PCSIM_TRY(allocate_carriers(t, &a->carrier));
    PCSIM_TRY(allocate_carriers(t, &a->last));
  }
  PCSIM_TRY(pcsim_alloc((size_t)a->num, sizeof *a->name, &a->name));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &a->seed));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &a->q));
  PCSIM_TRY(pcsim_alloc(nt * m * e, sizeof(double), &a->grad));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &a->q_speed));
  PCSIM_TRY(pcsim_alloc(nt * m * e, sizeof(double), &a->grad_speed));
  PCSIM_TRY(pcsim_alloc((size_t)t->faces.num, sizeof(double), &a->speed));
  PCSIM_TRY(pcsim_alloc((size_t)t->nb * m, sizeof(double), &a->face));
  PCSIM_TRY(pcsim_alloc((size_t)t->gradient.num_given * m, sizeof(double), &a->node));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *a->value, &a->value));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *a->wall, &a->wall));
  for (size_t k = 0; k < conditions; k++) {
    PCSIM_TRY(pcsim_alloc((size_t)t->boundary[k].num * m, sizeof(double), &a->value[k]));
    PCSIM_TRY(pcsim_alloc((size_t)t->boundary[k].num * m, sizeof(double), &a->wall[k]));
  }
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *a->face_given, &a->face_given));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *a->node_given, &a->node_given));
  return pcsim_alloc((size_t)t->problem->num_sources, sizeof *a->source, &a->source);
}

static pcsim_status fill(transport_adjoint *a, const char *const *parameters, const look *looks) {
  const transport *t = a->t;
  PCSIM_TRY(allocate(a));
  if (looks) {
    a->shape = true;
    PCSIM_TRY(shape_inputs_of_mesh(t, looks, &a->places));
    PCSIM_TRY(pcsim_alloc((size_t)(t->n * t->m * t->derivatives), sizeof(double), &a->to_grad));
  }
  for (int i = 0; i < a->num; i++) {
    PCSIM_CHECK(strlen(parameters[i]) < WRITE_NAME, PCSIM_ERR_ARG, "parameter \"%s\": the name is too long",
                parameters[i]);
    snprintf(a->name[i], WRITE_NAME, "%s", parameters[i]);
  }
  PCSIM_TRY(make_residual(a));
  PCSIM_TRY(make_speed(a));
  for (int k = 0; k < a->t->problem->num_conditions; k++) PCSIM_TRY(make_condition(a, k));
  for (int k = 0; k < a->t->problem->num_sources; k++) PCSIM_TRY(make_source(a, k));
  return PCSIM_OK;
}

pcsim_status transport_adjoint_create(transport *t, const char *const *parameters, int num, const look *looks,
                                      transport_adjoint **out) {
  transport_adjoint *a = NULL;
  *out = NULL;
  pcsim_status status = pcsim_alloc(1, sizeof *a, &a);
  if (status == PCSIM_OK) {
    a->t = t, a->num = num;
    status = fill(a, parameters, looks);
  }
  status = pcsim_status_agree(pcsim_mesh_comm(t->mesh), status);
  if (status != PCSIM_OK) transport_adjoint_destroy(&a);
  *out = a;
  return status;
}

static void given_free(given_reverse *g) {
  reverse_free(&g->r);
  shape_inputs_free(&g->places);
  pcsim_free(&g->seed);
}

void transport_adjoint_destroy(transport_adjoint **out) {
  transport_adjoint *a = *out;
  if (!a) return;
  for (int k = 0; k < a->t->problem->num_conditions; k++) {
    if (a->face_given) given_free(&a->face_given[k]);
    if (a->node_given) given_free(&a->node_given[k]);
    if (a->value) pcsim_free(&a->value[k]);
    if (a->wall) pcsim_free(&a->wall[k]);
  }
  for (int k = 0; a->source && k < a->t->problem->num_sources; k++) given_free(&a->source[k]);
  free_carriers(a->t, &a->carrier), free_carriers(a->t, &a->last);
  reverse_free(&a->product), reverse_free(&a->full), reverse_free(&a->speed_reverse);
  shape_inputs_free(&a->places);
  void *blocks[] = {&a->name,       &a->seed,       &a->q,          &a->grad,   &a->q_speed,
                    &a->grad_speed, &a->speed,      &a->value,      &a->wall,   &a->face,
                    &a->node,       &a->face_given, &a->node_given, &a->source, &a->to_grad};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}

/* ------------------------------------------------------------------ products */

static void add_numbers(int64_t n, const double *more, double *sum) {
  for (int64_t i = 0; i < n; i++) sum[i] += more[i];
}

static void clear_carriers(const transport_adjoint *a) {
  const transport *t = a->t;
  const size_t bytes = (size_t)t->dim * sizeof(double);
  if (!a->carrier.face) return;
  memset(a->carrier.cell, 0, (size_t)t->nt * bytes);
  memset(a->carrier.face, 0, (size_t)t->ni * bytes);
  for (int k = 0; k < t->problem->num_conditions; k++)
    memset(a->carrier.boundary[k], 0, (size_t)t->boundary[k].num * bytes);
}

/* What the last run of a reverse says. */
static void add_carriers(const transport_adjoint *a, const reverse *r) {
  const transport *t = a->t;
  const int d = t->dim;
  const int64_t first = t->faces.ordinary * d, faces = t->ni * d;
  if (r->by_cells) add_numbers(t->nt * d, a->last.cell, a->carrier.cell);
  if (r->by_faces) add_numbers(first, a->last.face, a->carrier.face);
  if (r->by_interfaces) add_numbers(faces - first, a->last.face + first, a->carrier.face + first);
  for (int k = 0; r->x && k < t->problem->num_conditions; k++)
    if (r->by_wall[k]) add_numbers(t->boundary[k].num * d, a->last.boundary[k], a->carrier.boundary[k]);
}

/* What the last run of a reverse says of given values at faces. */
static void add_values(const transport_adjoint *a, const reverse *r) {
  const int m = a->t->m;
  for (int k = 0; r->x && k < a->t->problem->num_conditions; k++)
    if (r->by_value[k]) add_numbers(a->t->boundary[k].num * m, a->value[k], a->wall[k]);
}

static void clear_given(const transport_adjoint *a) {
  const transport *t = a->t;
  memset(a->face, 0, (size_t)(t->nb * t->m) * sizeof *a->face);
  for (int k = 0; k < t->problem->num_conditions; k++)
    memset(a->wall[k], 0, (size_t)(t->boundary[k].num * t->m) * sizeof *a->wall[k]);
  memset(a->node, 0, (size_t)(t->gradient.num_given * t->m) * sizeof *a->node);
}

static pcsim_status run(const transport_adjoint *a, const reverse *r, double *q, double *grad) {
  const transport *t = a->t;
  if (!r->by_q) memset(q, 0, (size_t)(t->nt * t->m) * sizeof *q);
  if (!r->by_grad) memset(grad, 0, (size_t)(t->nt * t->m * t->derivatives) * sizeof *grad);
  if (!r->x) return PCSIM_OK;
  PCSIM_TRY(pcsim_executor_run(r->x, false));
  add_carriers(a, r);
  return PCSIM_OK;
}

static void set_seed(transport_adjoint *a, const double *w) {
  const size_t bytes = (size_t)(a->t->n * a->t->m) * sizeof *a->seed;
  if (w) memcpy(a->seed, w, bytes);
  else memset(a->seed, 0, bytes);
}

/* A reverse beside the one that a->q and a->grad are of. */
static pcsim_status run_beside(transport_adjoint *a, const reverse *r) {
  const int64_t size = a->t->nt * a->t->m;
  if (!r->x) return PCSIM_OK;
  PCSIM_TRY(run(a, r, a->q_speed, a->grad_speed));
  add_numbers(size, a->q_speed, a->q);
  add_numbers(size * a->t->derivatives, a->grad_speed, a->grad);
  return PCSIM_OK;
}

/* The correction by third derivatives transposed: from a->grad to t->corrected. */
static pcsim_status pull_back_third(const transport_adjoint *a) {
  const transport *t = a->t;
  const int d = t->dim, s = t->second.num;
  memset(t->bend, 0, (size_t)(t->nt * t->m * s) * sizeof *t->bend);
  memset(t->corrected, 0, (size_t)(t->n * t->m * (d + s)) * sizeof *t->corrected);
  third_apply_transposed(&t->third, t->m, t->class_of, a->grad, t->differences, t->node_value, t->corrected,
                         t->bend);
  PCSIM_TRY(pcsim_mesh_exchange_add(t->mesh, t->m * s, t->bend));
  for (int64_t i = 0; i < t->n * t->m; i++) add_numbers(s, t->bend + i * s, t->corrected + i * (d + s) + d);
  return PCSIM_OK;
}

/* Exchanges and gradients transposed: all that came to the state, in the owned rows of a->q. `given`: what
 * came to given values is added to a->face and a->node. */
static pcsim_status pull_back(transport_adjoint *a, bool given) {
  const transport *t = a->t;
  const gradient_cotangent to = {.m = t->m,
                                 .class_of = t->class_of,
                                 .q = a->q,
                                 .face = given ? a->face : NULL,
                                 .node = given ? a->node : NULL,
                                 .node_value = t->node_value};
  const double *first = a->grad;
  PCSIM_TRY(pcsim_mesh_exchange_add(t->mesh, t->m * t->derivatives, a->grad));
  if (t->choices.degree > 1) {
    if (t->choices.degree > 2) PCSIM_TRY(pull_back_third(a));
    memset(t->first, 0, (size_t)(t->nt * t->m * t->dim) * sizeof *t->first);
    second_apply_transposed(&t->second, t->m, t->class_of, t->choices.degree > 2 ? t->corrected : a->grad,
                            t->differences, t->node_value, t->first);
    PCSIM_TRY(pcsim_mesh_exchange_add(t->mesh, t->m * t->dim, t->first));
    first = t->first;
  }
  gradient_apply_transposed(&t->gradient, &to, first);
  return pcsim_mesh_exchange_add(t->mesh, t->m, a->q);
}

/* `factor`: of what comes to places. */
static pcsim_status begin(transport_adjoint *a, const double *w, bool full, bool follow, double factor) {
  const reverse *r = full ? &a->full : &a->product;
  set_seed(a, w);
  clear_carriers(a);
  PCSIM_TRY(run(a, r, a->q, a->grad));
  if (full) reverse_add_places(r, factor);                 /* the next run writes to the same places */
  if (follow) PCSIM_TRY(run_beside(a, &a->speed_reverse)); /* what came to the speeds goes on to the state */
  if (!full) return PCSIM_OK;
  if (follow) reverse_add_places(&a->speed_reverse, factor);
  clear_given(a);
  add_values(a, r);
  return PCSIM_OK;
}

pcsim_status transport_adjoint_begin(transport_adjoint *a, const double *w, bool full, bool follow) {
  return begin(a, w, full, follow, 0);
}

const transport_carrier_cotangent *transport_adjoint_carriers(const transport_adjoint *a) {
  return &a->carrier;
}

pcsim_status transport_adjoint_product(transport_adjoint *a, const double *w, bool follow, double *y) {
  PCSIM_TRY(begin(a, w, false, follow, 0));
  return transport_adjoint_finish(a, 1, NULL, y);
}

/* ---------------------------------------------------------------- parameters */

static void add_parameters(const transport_adjoint *a, const reverse *r, double factor, double *derivative) {
  for (int i = 0; r->x && i < a->num; i++) derivative[i] += factor * r->parameter[i];
}

/* From a->wall, a->face and a->node through the conditions' programs. */
static pcsim_status through_conditions(transport_adjoint *a, double factor, double *derivative) {
  const transport *t = a->t;
  const size_t bytes = (size_t)t->m * sizeof(double);
  for (int k = 0; k < t->problem->num_conditions; k++) {
    given_reverse *face = &a->face_given[k], *node = &a->node_given[k];
    if (face->r.x) {
      const transport_boundary *b = &t->boundary[k];
      for (int64_t i = 0; i < b->num; i++)
        for (int c = 0; c < t->m; c++)
          face->seed[i * t->m + c] = a->wall[k][i * t->m + c] + b->part[i] * a->face[b->face[i] * t->m + c];
      PCSIM_TRY(pcsim_executor_run(face->r.x, false));
      reverse_add_places(&face->r, factor);
      add_parameters(a, &face->r, factor, derivative);
    }
    if (!node->r.x) continue;
    for (int64_t i = 0; i < t->nodes[k].num; i++)
      memcpy(node->seed + i * t->m, a->node + t->nodes[k].place[i] * t->m, bytes);
    PCSIM_TRY(pcsim_executor_run(node->r.x, false));
    reverse_add_places(&node->r, factor);
    add_parameters(a, &node->r, factor, derivative);
  }
  return PCSIM_OK;
}

/* Point and line sources stand in the residual with a minus. */
static pcsim_status through_sources(transport_adjoint *a, double factor, double *derivative) {
  const transport *t = a->t;
  for (int k = 0; k < t->problem->num_sources; k++) {
    const pcsim_transport_source *s = &t->problem->source[k];
    given_reverse *g = &a->source[k];
    if (!g->r.x) continue;
    for (int64_t i = 0; i < s->num_points; i++)
      for (int c = 0; c < t->m; c++) g->seed[i * t->m + c] = -s->weight[i] * a->seed[s->cell[i] * t->m + c];
    PCSIM_TRY(pcsim_executor_run(g->r.x, false));
    add_parameters(a, &g->r, factor, derivative);
  }
  return PCSIM_OK;
}

pcsim_status transport_adjoint_finish(transport_adjoint *a, double factor, double *derivative, double *y) {
  const transport *t = a->t;
  PCSIM_TRY(pull_back(a, derivative != NULL));
  for (int64_t i = 0; derivative && a->shape && i < t->n * t->m * t->derivatives; i++)
    a->to_grad[i] += factor * a->grad[i];
  for (int64_t i = 0; y && i < t->n * t->m; i++) y[i] = factor * a->q[i];
  return derivative ? through_conditions(a, factor, derivative) : PCSIM_OK;
}

pcsim_status transport_adjoint_add_own(transport_adjoint *a, double factor, double *derivative) {
  add_parameters(a, &a->full, factor, derivative);
  add_parameters(a, &a->speed_reverse, factor, derivative);
  return through_sources(a, factor, derivative);
}

pcsim_status transport_adjoint_parameters(transport_adjoint *a, const double *w, double factor,
                                          double *derivative) {
  PCSIM_TRY(begin(a, w, true, true, factor));
  PCSIM_TRY(transport_adjoint_add_own(a, factor, derivative));
  return transport_adjoint_finish(a, factor, derivative, NULL);
}

/* ------------------------------------------------------------ other programs */

pcsim_status transport_reverse_create(transport_adjoint *a, pcsim_program *p, int spaces,
                                      transport_reverse **out) {
  const reverse_request request = {
      .spaces = spaces, .everything = true, .q = a->q_speed, .grad = a->grad_speed};
  PCSIM_TRY(pcsim_alloc(1, sizeof **out, out));
  return reverse_make(a, p, &request, &(*out)->r);
}

void transport_reverse_destroy(transport_reverse **out) {
  if (!*out) return;
  reverse_free(&(*out)->r);
  pcsim_free(out);
}

pcsim_executor *transport_reverse_executor(const transport_reverse *r) { return r->r.x; }

pcsim_status transport_adjoint_add(transport_adjoint *a, const transport_reverse *r) {
  PCSIM_TRY(run_beside(a, &r->r));
  add_values(a, &r->r);
  return PCSIM_OK;
}

pcsim_status transport_reverse_apply(transport_adjoint *a, const transport_reverse *r, double *y) {
  if (!r->r.x) return PCSIM_OK;
  PCSIM_TRY(run(a, &r->r, a->q_speed, a->grad_speed));
  add_numbers(a->t->n * a->t->m, a->q_speed, y);
  return PCSIM_OK;
}

void transport_adjoint_add_parameters(const transport_adjoint *a, const transport_reverse *r, double factor,
                                      double *derivative) {
  add_parameters(a, &r->r, factor, derivative);
}

/* ---------------------------------------------------------------- functionals */

/* On this rank: the value's share, what came to state and parameters. */
static pcsim_status run_functional(transport_adjoint *a, const transport_functional *f, reverse *r,
                                   double *value) {
  const double one = 1;
  const reverse_request request = {.spaces = TRANSPORT_BOUNDARIES * (f->face_weight != NULL),
                                   .everything = true,
                                   .also = "value",
                                   .q = a->q,
                                   .grad = a->grad};
  PCSIM_TRY(reverse_make(a, f->program, &request, r));
  PCSIM_TRY(transport_functional_bind(a->t, f, r->x));
  PCSIM_TRY(pcsim_executor_bind_output(r->x, "value", value));
  PCSIM_TRY(pcsim_executor_bind(r->x, "b_value", &one));
  clear_carriers(a);
  return run(a, r, a->q, a->grad);
}

static pcsim_status begin_functional(transport_adjoint *a, const transport_functional *f, reverse *r,
                                     double *value, double *factor, double *derivative) {
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(a->t->mesh), run_functional(a, f, r, value)));
  MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(a->t->mesh));
  if (f->root) *value = sqrt(*value);
  *factor = f->root ? 0.5 / *value : 1; /* the root of 0 has no derivative: not finite */
  reverse_add_places(r, *factor);
  clear_given(a);
  add_values(a, r);
  add_parameters(a, r, *factor, derivative);
  return PCSIM_OK;
}

pcsim_status transport_adjoint_begin_functional(transport_adjoint *a, const transport_functional *f,
                                                double *value, double *factor, double *derivative) {
  reverse r = {0};
  const pcsim_status status = begin_functional(a, f, &r, value, factor, derivative);
  reverse_free(&r);
  return status;
}

pcsim_status transport_adjoint_functional(transport_adjoint *a, const transport_functional *f, double *value,
                                          double *b, double *derivative) {
  double factor;
  PCSIM_TRY(transport_adjoint_begin_functional(a, f, value, &factor, derivative));
  return transport_adjoint_finish(a, factor, derivative, b);
}

/* -------------------------------------------------------------------- shapes */

/* A mean over boundaries is divided by their area. */
static double through_mean(const transport_adjoint *a, const transport_functional *f, double value,
                           const pcsim_mesh_tangent *motion) {
  const transport *t = a->t;
  double sum = 0;
  for (int k = 0; f->mean && f->face_weight && k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++) {
      const double *area = t->boundary[k].area + i * t->dim;
      const double *along = motion->face_area + 3 * (t->ni + t->boundary[k].face[i]);
      sum += f->face_weight[k][i] * shape_dot(t->dim, area, along) / sqrt(shape_dot(t->dim, area, area));
    }
  return -value * sum;
}

static const double *look_of(const shape_inputs *list, shape_kind kind) {
  for (int i = 0; i < list->num; i++)
    if (list->input[i].space == SHAPE_LOOKS && list->input[i].kind == kind) return list->input[i].sum;
  return NULL;
}

pcsim_status transport_adjoint_shape(transport_adjoint *a, const transport_functional *f, double value,
                                     const pcsim_mesh_tangent *motion, double *derivative) {
  const transport *t = a->t;
  transport_motion m;
  double gradients = 0;
  pcsim_status status = transport_motion_create(t, motion, &m);
  if (status == PCSIM_OK) status = transport_motion_of_gradients(a->t, &m, a->to_grad, &gradients);
  if (status == PCSIM_OK) {
    *derivative = gradients + shape_inputs_through(t, &a->places, &m) + through_mean(a, f, value, motion);
    if (!f->face_weight)
      *derivative += shape_through_look(t->mesh, &f->cells, f->fixed, f->mean,
                                        look_of(&a->places, SHAPE_WEIGHT), look_of(&a->places, SHAPE_REACH),
                                        look_of(&a->places, SHAPE_COORDINATES), motion);
    for (int k = 0; k < t->problem->num_conditions; k++)
      *derivative += shape_inputs_through(t, &a->face_given[k].places, &m) +
                     shape_inputs_through(t, &a->node_given[k].places, &m);
  }
  transport_motion_free(&m);
  return status;
}
