/* SPDX-License-Identifier: BSD-2-Clause */
/* Derivatives of what a flow is given by the parameters of its case: the tangent of the expressions, carried
 * through averages over faces and the balance of inflows as the values are. */
#include "flow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The parameters of a case and their derivatives by one of them. */
typedef struct {
  int num;
  const char *const *name;
  const double *value;
  double *along; /* [num] */
} direction;

enum { TEXTS = 3, NAME_SIZE = 128 };
static const char *const coordinates[NUM_NAMES] = {"x", "y", "z", "t"};

/* ---------------------------------------------------------------- expressions */

/* The tangents "d_0", ... of `num` texts along the parameters, as outputs on "points" of a program whose
 * input is "coordinates" [4]. NULL: no text depends on a parameter that changes. */
static pcsim_status write_tangent(const pcsim_program *texts, int num, const direction *d,
                                  pcsim_program **program) {
  static const char *const outputs[TEXTS] = {"d_0", "d_1", "d_2"};
  const char **wrt = NULL;
  char(*name)[NAME_SIZE] = NULL;
  pcsim_argument *argument = NULL;
  pcsim_program *tangent = NULL;
  pcsim_value value[TEXTS];
  int n = 0;
  pcsim_status status;
  *program = NULL;
  PCSIM_GOTO(pcsim_alloc((size_t)d->num, sizeof *wrt, &wrt), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)d->num, sizeof *name, &name), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)d->num + 1, sizeof *argument, &argument), status, done);
  for (int i = 0; i < d->num; ++i)
    if (d->along[i] != 0 && pcsim_program_parameter((pcsim_program *)texts, d->name[i], NULL, NULL))
      wrt[n++] = d->name[i];
  if (n == 0) goto done;
  PCSIM_GOTO(pcsim_transform_jvp(texts, wrt, n, &tangent), status, done);
  PCSIM_GOTO(pcsim_program_create(program), status, done);
  const pcsim_space points = pcsim_build_space(*program, "points");
  argument[0] =
      (pcsim_argument){"coordinates", pcsim_build_input(*program, "coordinates", points, NUM_NAMES)};
  for (int k = 0, i = 0; k < n; ++k) {
    while (wrt[k] != d->name[i]) ++i;
    snprintf(name[k], NAME_SIZE, "d_%s", wrt[k]);
    argument[k + 1] = (pcsim_argument){name[k], pcsim_build_constant(*program, d->along[i])};
  }
  pcsim_build_part(*program, tangent, points, argument, n + 1, outputs, num, value);
  for (int i = 0; i < num; ++i) pcsim_build_output(*program, outputs[i], value[i]);
  status = pcsim_program_simplify(*program);
done:
  if (status != PCSIM_OK) pcsim_program_destroy(program);
  pcsim_program_destroy(&tangent);
  pcsim_free(&wrt), pcsim_free(&name), pcsim_free(&argument);
  return status;
}

/* out[i][k], i < num: tangent of text i at point k. */
static pcsim_status run_tangent(const pcsim_program *program, int num, int64_t points, const double *x,
                                double *const *out) {
  pcsim_executor *executor = NULL;
  pcsim_status status;
  char name[16];
  PCSIM_GOTO(pcsim_executor_create(program, NULL, &executor), status, done);
  PCSIM_GOTO(pcsim_executor_points(executor, "points", points), status, done);
  PCSIM_GOTO(pcsim_executor_bind(executor, "coordinates", x), status, done);
  for (int i = 0; i < num; ++i) {
    snprintf(name, sizeof name, "d_%d", i);
    PCSIM_GOTO(pcsim_executor_bind_output(executor, name, out[i]), status, done);
  }
  status = pcsim_executor_run(executor, false);
done:
  pcsim_executor_destroy(&executor);
  return status;
}

/* Derivatives of texts along the parameters at points x [points][4]; those known so far are the first
 * `known`. */
static pcsim_status tangent_at(const char *const *texts, int num, const direction *d, int known,
                               int64_t points, const double *x, double *const *out) {
  const pcsim_lowering names = {.num_coordinates = NUM_NAMES,
                                .coordinates = coordinates,
                                .num_parameters = known,
                                .parameters = d->name};
  pcsim_program *values = NULL, *tangent = NULL;
  pcsim_status status;
  for (int i = 0; i < num; ++i) memset(out[i], 0, (size_t)points * sizeof *out[i]);
  if (points == 0) return PCSIM_OK;
  PCSIM_TRY(pcsim_lower(texts, num, &names, &values, NULL, NULL));
  for (int i = 0; i < known; ++i) {
    double *at = pcsim_program_parameter(values, d->name[i], NULL, NULL);
    if (at) *at = d->value[i];
  }
  status = write_tangent(values, num, &(direction){known, d->name, d->value, d->along}, &tangent);
  if (status == PCSIM_OK && tangent) status = run_tangent(tangent, num, points, x, out);
  pcsim_program_destroy(&values), pcsim_program_destroy(&tangent);
  return status;
}

/* Of one number that depends on parameters alone; a node that is not there gives 0. */
static pcsim_status number_along(const pcsim_node *node, const direction *d, int known, double *along) {
  const double nowhere[NUM_NAMES] = {0};
  const char *text = node ? pcsim_node_text(node) : "";
  *along = 0;
  return text[0] ? tangent_at(&text, 1, d, known, 1, nowhere, &along) : PCSIM_OK;
}

/* Later parameters are made of earlier ones. */
static pcsim_status follow_parameters(const pcsim_tree *tree, int first, direction *d) {
  const pcsim_node *all = pcsim_node_get(pcsim_tree_root(tree), "parameters");
  d->along[first] = 1;
  for (int i = first + 1; i < d->num; ++i)
    PCSIM_TRY(number_along(pcsim_node_get(all, d->name[i]), d, i, &d->along[i]));
  return PCSIM_OK;
}

/* ------------------------------------------------------------------ boundaries */

/* The faces of one patch: their points of quadrature, x [points][4]. */
typedef struct {
  int64_t num;
  double *x, *weight, *value[TEXTS];
  int64_t *face; /* [num] boundary face */
} patch_points;

static void free_points(patch_points *p) {
  pcsim_free(&p->x), pcsim_free(&p->weight), pcsim_free(&p->face);
  for (int i = 0; i < TEXTS; ++i) pcsim_free(&p->value[i]);
}

static pcsim_status find_points(const pcsim_flow_problem *problem, int patch, patch_points *p) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(problem->mesh);
  const int64_t first = mesh->patch_start[patch], end = mesh->patch_start[patch + 1];
  const size_t room = (size_t)(end - first) * FLOW_QUADRATURE_MAX;
  flow_quadrature q;
  PCSIM_TRY(pcsim_alloc(room * NUM_NAMES, sizeof(double), &p->x));
  PCSIM_TRY(pcsim_alloc(room, sizeof(double), &p->weight));
  PCSIM_TRY(pcsim_alloc(room, sizeof *p->face, &p->face));
  for (int i = 0; i < TEXTS; ++i) PCSIM_TRY(pcsim_alloc(room, sizeof(double), &p->value[i]));
  for (int64_t f = first; f < end; ++f) {
    flow_face_quadrature(mesh, f, &q);
    for (int k = 0; k < q.num; ++k) {
      memcpy(p->x + p->num * NUM_NAMES, q.point[k], 3 * sizeof(double));
      p->x[p->num * NUM_NAMES + NAME_T] = problem->view.time;
      p->weight[p->num] = q.weight[k];
      p->face[p->num++] = f - mesh->num_interior_faces;
    }
  }
  return PCSIM_OK;
}

/* What one face gains when component i of what its condition gives gains `gain`. */
static void add_gain(pcsim_flow_problem *problem, const flow_condition *condition, double patch_area,
                     int64_t b, int i, double gain) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(problem->mesh);
  const double *area = mesh->face_area + 3 * (mesh->num_interior_faces + b);
  const double size = sqrt(area[0] * area[0] + area[1] * area[1] + area[2] * area[2]);
  if (condition->gives == GIVES_PRESSURE) problem->pressure_along[b] += gain;
  if (condition->gives == GIVES_VELOCITY) problem->velocity_along[3 * b + i] += gain;
  if (condition->gives == GIVES_FLOW_RATE)
    for (int j = 0; j < 3; ++j) problem->velocity_along[3 * b + j] -= gain / patch_area * area[j] / size;
}

static pcsim_status patch_along(pcsim_flow_problem *problem, int patch, const direction *d) {
  const int of = problem->boundaries.of_patch[patch];
  if (of < 0 || problem->boundaries.condition[of].gives == GIVES_NOTHING) return PCSIM_OK;
  const flow_condition *condition = &problem->boundaries.condition[of];
  const char *texts[TEXTS];
  const int num = condition->value.num;
  patch_points p = {0};
  for (int i = 0; i < num; ++i) texts[i] = pcsim_expr_text(condition->value.expr[i]);
  pcsim_status status = find_points(problem, patch, &p);
  if (status == PCSIM_OK) status = tangent_at(texts, num, d, d->num, p.num, p.x, p.value);
  for (int i = 0; status == PCSIM_OK && i < num; ++i)
    for (int64_t k = 0; k < p.num; ++k)
      add_gain(problem, condition, problem->patch_area[patch], p.face[k], i, p.weight[k] * p.value[i][k]);
  free_points(&p);
  return status;
}

/* ----------------------------------------------------------------------- force */

/* At the centres of cells, into problem->force_along. */
static pcsim_status force_along(pcsim_flow_problem *problem, const direction *d) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(problem->mesh);
  const int num = problem->push.num;
  const size_t n = (size_t)mesh->num_cells;
  const char *texts[TEXTS];
  double *x = NULL, *part[TEXTS] = {0};
  pcsim_status status;
  for (int i = 0; i < num; ++i) texts[i] = pcsim_expr_text(problem->push.expr[i]);
  PCSIM_GOTO(pcsim_alloc(n * NUM_NAMES, sizeof *x, &x), status, done);
  for (int i = 0; i < num; ++i) PCSIM_GOTO(pcsim_alloc(n, sizeof(double), &part[i]), status, done);
  for (size_t c = 0; c < n; ++c) {
    memcpy(x + c * NUM_NAMES, mesh->cell_centre + 3 * c, 3 * sizeof *x);
    x[c * NUM_NAMES + NAME_T] = problem->view.time;
  }
  PCSIM_GOTO(tangent_at(texts, num, d, d->num, mesh->num_cells, x, part), status, done);
  for (size_t c = 0; c < n; ++c)
    for (int i = 0; i < 3; ++i) problem->force_along[3 * c + (size_t)i] = i < num ? part[i][c] : 0;
done:
  pcsim_free(&x);
  for (int i = 0; i < TEXTS; ++i) pcsim_free(&part[i]);
  return status;
}

/* ------------------------------------------------------------------------- all */

/* As flow_problem.c trims walls and balances inflows. Collective. */
static void finish_velocities(pcsim_flow_problem *problem) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(problem->mesh);
  double sum[2] = {0, 0}; /* net outflow, area of given velocities */
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t b = 0; b < problem->num_faces; ++b) {
      const double *area = mesh->face_area + 3 * (mesh->num_interior_faces + b);
      double *v = problem->velocity_along + 3 * b;
      const double size = sqrt(area[0] * area[0] + area[1] * area[1] + area[2] * area[2]);
      const double normal = (v[0] * area[0] + v[1] * area[1] + v[2] * area[2]) / size;
      const bool given = problem->kind[b] == PCSIM_FLOW_VELOCITY;
      if (pass == 0 && given) sum[0] += normal * size, sum[1] += size;
      const double excess = pass == 0 ? (problem->kind[b] == PCSIM_FLOW_WALL ? normal : 0)
                                      : (given && problem->view.pressure_free ? sum[0] / sum[1] : 0);
      for (int i = 0; i < 3; ++i) v[i] -= excess * area[i] / size;
    }
    if (pass == 0) MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(problem->mesh));
  }
}

/* ------------------------------------------------------------------------ all */

pcsim_status flow_problem_allocate_along(pcsim_flow_problem *problem) {
  const size_t faces = (size_t)problem->num_faces, n = (size_t)pcsim_mesh_get(problem->mesh)->num_cells;
  if (!problem->velocity_along) PCSIM_TRY(pcsim_alloc(3 * faces, sizeof(double), &problem->velocity_along));
  if (!problem->pressure_along) PCSIM_TRY(pcsim_alloc(faces, sizeof(double), &problem->pressure_along));
  return problem->cell_force && !problem->force_along
             ? pcsim_alloc(3 * n, sizeof(double), &problem->force_along)
             : PCSIM_OK;
}

static pcsim_status fill(pcsim_flow_problem *problem, const direction *d, pcsim_flow_derivative *out) {
  const pcsim_node *physics = pcsim_node_get(pcsim_tree_root(problem->tree), "physics");
  const pcsim_node *force = pcsim_node_get(physics, "force");
  const size_t faces = (size_t)problem->num_faces;
  const int patches = pcsim_mesh_get(problem->mesh)->num_patches;
  PCSIM_TRY(number_along(pcsim_node_get(physics, "density"), d, d->num, &out->density));
  if (!problem->law)
    PCSIM_TRY(number_along(pcsim_node_get(physics, "viscosity"), d, d->num, &out->viscosity));
  for (int64_t i = 0; force && !problem->view.joined && !problem->cell_force && i < pcsim_node_size(force);
       ++i)
    PCSIM_TRY(number_along(pcsim_node_child(force, i), d, d->num, &out->force[i]));
  PCSIM_TRY(flow_problem_allocate_along(problem));
  memset(problem->velocity_along, 0, 3 * faces * sizeof(double));
  memset(problem->pressure_along, 0, faces * sizeof(double));
  for (int p = 0; p < patches; ++p) PCSIM_TRY(patch_along(problem, p, d));
  return problem->cell_force ? force_along(problem, d) : PCSIM_OK;
}

static int find_parameter(const direction *d, const char *name) {
  for (int i = 0; i < d->num; ++i)
    if (!strcmp(d->name[i], name)) return i;
  return -1;
}

pcsim_status pcsim_flow_problem_derivative(pcsim_flow_problem *problem, const char *parameter,
                                           pcsim_flow_derivative *out) {
  direction d = {0};
  *out = (pcsim_flow_derivative){0};
  d.num = pcsim_tree_parameters(problem->tree, &d.name, &d.value);
  const int first = find_parameter(&d, parameter);
  if (first < 0) {
    const char *near = pcsim_nearest(parameter, d.name, (size_t)d.num);
    PCSIM_FAIL(PCSIM_ERR_ARG, "the case has no parameter `%s`%s%s%s", parameter,
               near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  }
  pcsim_status status = pcsim_alloc((size_t)d.num, sizeof *d.along, &d.along);
  if (status == PCSIM_OK) status = follow_parameters(problem->tree, first, &d);
  if (status == PCSIM_OK) status = fill(problem, &d, out);
  status = pcsim_status_agree(pcsim_mesh_comm(problem->mesh), status);
  pcsim_free(&d.along);
  PCSIM_TRY(status);
  finish_velocities(problem);
  out->velocity = problem->velocity_along;
  out->pressure = problem->pressure_along;
  out->cell_force = problem->force_along;
  return PCSIM_OK;
}
