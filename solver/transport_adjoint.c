/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs of typed laws run backwards: products with transposed derivatives by state and parameters. */
#include "transport_adjoint.h"
#include "transport_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The reverse of one program. */
typedef struct {
  pcsim_executor *x; /* NULL: it depends on nothing that is asked for */
  bool by_q, by_grad, by_speed;
  uint8_t *by_value; /* [num_conditions] */
  double *parameter; /* [num_parameters] of the last run, this rank */
} reverse;

/* The reverse of the values that a condition or a source gives at its points. */
typedef struct {
  reverse r;
  double *seed; /* [points][m] */
} given_reverse;

struct transport_adjoint {
  transport *t;
  int num;
  char (*name)[WRITE_NAME];
  double *seed;     /* [nt][m], 0 in ghosts */
  double *q, *grad; /* [nt][m], [nt][m*e] what came to state and derivatives */
  double *q_speed, *grad_speed;
  double *speed;             /* [ni] */
  double **value;            /* [num_conditions][num][m] */
  double *face, *node;       /* [nb][m], [num_given][m] */
  reverse product, full;     /* of the residual: by the state, by everything */
  reverse speed_reverse;     /* of the speeds, by everything */
  given_reverse *face_given; /* [num_conditions] */
  given_reverse *node_given; /* [num_conditions] */
  given_reverse *source;     /* [num_sources] */
};

/* ------------------------------------------------------------------ programs */

/* What a reverse is taken by. */
typedef struct {
  const char **name;
  char (*text)[WRITE_NAME];
  int num;
} wanted;

static pcsim_status wanted_create(const transport_adjoint *a, wanted *w) {
  const size_t room = 3 + (size_t)a->t->problem->num_conditions + (size_t)a->num;
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
  PCSIM_TRY(pcsim_alloc((size_t)a->t->problem->num_conditions, sizeof *r->by_value, &r->by_value));
  return pcsim_alloc((size_t)a->num, sizeof *r->parameter, &r->parameter);
}

static void reverse_free(reverse *r) {
  pcsim_executor_destroy(&r->x);
  pcsim_free(&r->by_value), pcsim_free(&r->parameter);
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
  return bind_parameters(a, w, r);
}

/* How the reverse of a program of the mesh is made. */
typedef struct {
  int spaces;       /* transport_make_executor's */
  bool everything;  /* by given values and parameters too */
  const char *also; /* an output to keep */
  double *q, *grad; /* where cotangents go */
} reverse_request;

static pcsim_status make_reverse(const transport_adjoint *a, pcsim_program *p, const reverse_request *request,
                                 reverse *r) {
  wanted w;
  pcsim_program *back = NULL;
  PCSIM_TRY(reverse_allocate(a, r));
  pcsim_status status = wanted_create(a, &w);
  if (status != PCSIM_OK) goto done;
  r->by_q = want_input(&w, p, "cells.q");
  r->by_grad = want_input(&w, p, "cells.grad");
  r->by_speed = want_input(&w, p, "faces.speed");
  if (request->everything) {
    want_values(a, p, r, &w);
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

static pcsim_status make_residual(transport_adjoint *a) {
  pcsim_program *p = NULL;
  reverse_request request = {.spaces = TRANSPORT_ALL_SPACES, .q = a->q, .grad = a->grad};
  PCSIM_TRY(transport_write_residual(a->t, &p));
  pcsim_status status = make_reverse(a, p, &request, &a->product);
  request.everything = true;
  if (status == PCSIM_OK) status = make_reverse(a, p, &request, &a->full);
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
  const pcsim_status status = make_reverse(a, p, &request, &a->speed_reverse);
  pcsim_program_destroy(&p);
  PCSIM_TRY(status);
  return a->speed_reverse.x ? pcsim_executor_bind(a->speed_reverse.x, "b_speed", a->speed) : PCSIM_OK;
}

/* -------------------------------------------------------------- given values */

/* The reverse of "value" at `points` points; its data are bound by the caller. */
static pcsim_status make_given(const transport_adjoint *a, pcsim_program *values, int64_t points,
                               given_reverse *g, pcsim_program **back) {
  wanted w;
  *back = NULL;
  if (!points) return PCSIM_OK;
  PCSIM_TRY(reverse_allocate(a, &g->r));
  pcsim_status status = wanted_create(a, &w);
  if (status == PCSIM_OK) want_parameters(a, values, &w);
  if (status != PCSIM_OK || w.num == 0) goto done;
  PCSIM_GOTO(pcsim_alloc((size_t)(points * a->t->m), sizeof *g->seed, &g->seed), status, done);
  PCSIM_GOTO(reversed(values, &w, NULL, back), status, done);
  PCSIM_GOTO(pcsim_executor_create(*back, NULL, &g->r.x), status, done);
  PCSIM_GOTO(pcsim_executor_points(g->r.x, "points", points), status, done);
  PCSIM_GOTO(pcsim_executor_bind(g->r.x, "b_value", g->seed), status, done);
  status = bind_parameters(a, &w, &g->r);
done:
  wanted_free(&w);
  return status;
}

static pcsim_status make_condition(transport_adjoint *a, int k) {
  const transport *t = a->t;
  pcsim_program *values = NULL, *back = NULL;
  pcsim_status status;
  PCSIM_TRY(transport_values_program(t->boundary[k].c, &values));
  PCSIM_GOTO(make_given(a, values, t->boundary[k].num, &a->face_given[k], &back), status, done);
  if (a->face_given[k].r.x)
    PCSIM_GOTO(transport_bind_at_faces(a->t, k, back, a->face_given[k].r.x), status, done);
  pcsim_program_destroy(&back);
  PCSIM_GOTO(make_given(a, values, t->nodes[k].num, &a->node_given[k], &back), status, done);
  if (a->node_given[k].r.x) status = transport_bind_at_nodes(a->t, k, back, a->node_given[k].r.x);
done:
  pcsim_program_destroy(&values), pcsim_program_destroy(&back);
  return status;
}

static pcsim_status make_source(transport_adjoint *a, int k) {
  const pcsim_transport_source *s = &a->t->problem->source[k];
  pcsim_program *values = NULL, *back = NULL;
  PCSIM_TRY(pcsim_program_copy(s->program, &values));
  pcsim_status status = make_given(a, values, s->num_points, &a->source[k], &back);
  if (status == PCSIM_OK && a->source[k].r.x && transport_needs(back, "coordinates"))
    status = pcsim_executor_bind(a->source[k].r.x, "coordinates", a->t->source_coordinates[k]);
  pcsim_program_destroy(&values), pcsim_program_destroy(&back);
  return status;
}

/* ---------------------------------------------------------------------- all */

static pcsim_status allocate(transport_adjoint *a) {
  const transport *t = a->t;
  const size_t m = (size_t)t->m, e = (size_t)t->derivatives, nt = (size_t)t->nt;
  const size_t conditions = (size_t)t->problem->num_conditions;
  PCSIM_TRY(pcsim_alloc((size_t)a->num, sizeof *a->name, &a->name));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &a->seed));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &a->q));
  PCSIM_TRY(pcsim_alloc(nt * m * e, sizeof(double), &a->grad));
  PCSIM_TRY(pcsim_alloc(nt * m, sizeof(double), &a->q_speed));
  PCSIM_TRY(pcsim_alloc(nt * m * e, sizeof(double), &a->grad_speed));
  PCSIM_TRY(pcsim_alloc((size_t)t->ni, sizeof(double), &a->speed));
  PCSIM_TRY(pcsim_alloc((size_t)t->nb * m, sizeof(double), &a->face));
  PCSIM_TRY(pcsim_alloc((size_t)t->gradient.num_given * m, sizeof(double), &a->node));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *a->value, &a->value));
  for (size_t k = 0; k < conditions; k++)
    PCSIM_TRY(pcsim_alloc((size_t)t->boundary[k].num * m, sizeof(double), &a->value[k]));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *a->face_given, &a->face_given));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *a->node_given, &a->node_given));
  return pcsim_alloc((size_t)t->problem->num_sources, sizeof *a->source, &a->source);
}

static pcsim_status fill(transport_adjoint *a, const char *const *parameters) {
  PCSIM_TRY(allocate(a));
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

pcsim_status transport_adjoint_create(transport *t, const char *const *parameters, int num,
                                      transport_adjoint **out) {
  transport_adjoint *a = NULL;
  *out = NULL;
  pcsim_status status = pcsim_alloc(1, sizeof *a, &a);
  if (status == PCSIM_OK) {
    a->t = t, a->num = num;
    status = fill(a, parameters);
  }
  status = pcsim_status_agree(pcsim_mesh_comm(t->mesh), status);
  if (status != PCSIM_OK) transport_adjoint_destroy(&a);
  *out = a;
  return status;
}

static void given_free(given_reverse *g) {
  reverse_free(&g->r);
  pcsim_free(&g->seed);
}

void transport_adjoint_destroy(transport_adjoint **out) {
  transport_adjoint *a = *out;
  if (!a) return;
  for (int k = 0; k < a->t->problem->num_conditions; k++) {
    if (a->face_given) given_free(&a->face_given[k]);
    if (a->node_given) given_free(&a->node_given[k]);
    if (a->value) pcsim_free(&a->value[k]);
  }
  for (int k = 0; a->source && k < a->t->problem->num_sources; k++) given_free(&a->source[k]);
  reverse_free(&a->product), reverse_free(&a->full), reverse_free(&a->speed_reverse);
  void *blocks[] = {&a->name,  &a->seed, &a->q,    &a->grad,       &a->q_speed,    &a->grad_speed, &a->speed,
                    &a->value, &a->face, &a->node, &a->face_given, &a->node_given, &a->source};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}

/* ------------------------------------------------------------------ products */

static pcsim_status run(const reverse *r, const transport *t, double *q, double *grad) {
  if (!r->by_q) memset(q, 0, (size_t)(t->nt * t->m) * sizeof *q);
  if (!r->by_grad) memset(grad, 0, (size_t)(t->nt * t->m * t->derivatives) * sizeof *grad);
  return r->x ? pcsim_executor_run(r->x, false) : PCSIM_OK;
}

static void set_seed(transport_adjoint *a, const double *w) {
  memcpy(a->seed, w, (size_t)(a->t->n * a->t->m) * sizeof *w);
}

/* What came to the speeds goes on to the state. */
static pcsim_status follow_speeds(transport_adjoint *a) {
  const int64_t size = a->t->nt * a->t->m;
  if (!a->speed_reverse.x) return PCSIM_OK;
  PCSIM_TRY(run(&a->speed_reverse, a->t, a->q_speed, a->grad_speed));
  for (int64_t i = 0; i < size; i++) a->q[i] += a->q_speed[i];
  for (int64_t i = 0; i < size * a->t->derivatives; i++) a->grad[i] += a->grad_speed[i];
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
  if (t->choices.quadratic) {
    memset(t->first, 0, (size_t)(t->nt * t->m * t->dim) * sizeof *t->first);
    second_apply_transposed(&t->second, t->m, t->class_of, a->grad, t->differences, t->node_value, t->first);
    PCSIM_TRY(pcsim_mesh_exchange_add(t->mesh, t->m * t->dim, t->first));
    first = t->first;
  }
  gradient_apply_transposed(&t->gradient, &to, first);
  return pcsim_mesh_exchange_add(t->mesh, t->m, a->q);
}

pcsim_status transport_adjoint_product(transport_adjoint *a, const double *w, bool follow, double *y) {
  set_seed(a, w);
  PCSIM_TRY(run(&a->product, a->t, a->q, a->grad));
  if (follow) PCSIM_TRY(follow_speeds(a));
  PCSIM_TRY(pull_back(a, false));
  memcpy(y, a->q, (size_t)(a->t->n * a->t->m) * sizeof *y);
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- parameters */

static void add_parameters(const transport_adjoint *a, const reverse *r, double factor, double *derivative) {
  for (int i = 0; r->x && i < a->num; i++) derivative[i] += factor * r->parameter[i];
}

/* From a->face and a->node through the conditions' programs. */
static pcsim_status through_conditions(transport_adjoint *a, double factor, double *derivative) {
  const transport *t = a->t;
  const size_t bytes = (size_t)t->m * sizeof(double);
  for (int k = 0; k < t->problem->num_conditions; k++) {
    given_reverse *face = &a->face_given[k], *node = &a->node_given[k];
    if (face->r.x) {
      for (int64_t i = 0; i < t->boundary[k].num; i++)
        memcpy(face->seed + i * t->m, a->face + t->boundary[k].c->face[i] * t->m, bytes);
      PCSIM_TRY(pcsim_executor_run(face->r.x, false));
      add_parameters(a, &face->r, factor, derivative);
    }
    if (!node->r.x) continue;
    for (int64_t i = 0; i < t->nodes[k].num; i++)
      memcpy(node->seed + i * t->m, a->node + t->nodes[k].place[i] * t->m, bytes);
    PCSIM_TRY(pcsim_executor_run(node->r.x, false));
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

/* After a run of `r` by everything: the rest of the way to state and parameters. */
static pcsim_status finish(transport_adjoint *a, const reverse *r, double factor, double *derivative) {
  const transport *t = a->t;
  const int m = t->m;
  memset(a->face, 0, (size_t)(t->nb * m) * sizeof *a->face);
  memset(a->node, 0, (size_t)(t->gradient.num_given * m) * sizeof *a->node);
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; r->by_value[k] && i < t->boundary[k].num; i++)
      memcpy(a->face + t->boundary[k].c->face[i] * m, a->value[k] + i * m, (size_t)m * sizeof(double));
  PCSIM_TRY(pull_back(a, true));
  add_parameters(a, r, factor, derivative);
  return through_conditions(a, factor, derivative);
}

pcsim_status transport_adjoint_parameters(transport_adjoint *a, const double *w, double factor,
                                          double *derivative) {
  set_seed(a, w);
  PCSIM_TRY(run(&a->full, a->t, a->q, a->grad));
  PCSIM_TRY(follow_speeds(a));
  add_parameters(a, &a->speed_reverse, factor, derivative);
  PCSIM_TRY(finish(a, &a->full, factor, derivative));
  return through_sources(a, factor, derivative);
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
  PCSIM_TRY(make_reverse(a, f->program, &request, r));
  PCSIM_TRY(transport_functional_bind(a->t, f, r->x));
  PCSIM_TRY(pcsim_executor_bind_output(r->x, "value", value));
  PCSIM_TRY(pcsim_executor_bind(r->x, "b_value", &one));
  return run(r, a->t, a->q, a->grad);
}

static pcsim_status evaluate(transport_adjoint *a, const transport_functional *f, reverse *r, double *value,
                             double *b, double *derivative) {
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(a->t->mesh), run_functional(a, f, r, value)));
  MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(a->t->mesh));
  if (f->root) *value = sqrt(*value);
  const double factor = f->root ? 0.5 / *value : 1; /* the root of 0 has no derivative: not finite */
  PCSIM_TRY(finish(a, r, factor, derivative));
  for (int64_t i = 0; i < a->t->n * a->t->m; i++) b[i] = factor * a->q[i];
  return PCSIM_OK;
}

pcsim_status transport_adjoint_functional(transport_adjoint *a, const transport_functional *f, double *value,
                                          double *b, double *derivative) {
  reverse r = {0};
  const pcsim_status status = evaluate(a, f, &r, value, b, derivative);
  reverse_free(&r);
  return status;
}
