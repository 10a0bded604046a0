/* SPDX-License-Identifier: BSD-2-Clause */
/* How what a flow is given changes when its mesh moves: averages over faces of expressions of the place, flow
 * rates over areas, walls and inflows as flow_problem.c trims and balances them, a force that varies. */
#include "flow.h"

#include <string.h>

enum { TEXTS_MAX = 3 };

typedef struct {
  pcsim_flow_problem *problem;
  const pcsim_mesh_view *mesh;
  const pcsim_mesh_tangent *motion;
  pcsim_dual *node, *centre, *area; /* as of the mesh */
  pcsim_dual *velocity;             /* [nb][3] */
} moving;

static void moving_free(moving *m) {
  pcsim_free(&m->node), pcsim_free(&m->centre), pcsim_free(&m->area), pcsim_free(&m->velocity);
}

static pcsim_status join(int64_t num, const double *value, const double *derivative, pcsim_dual **out) {
  PCSIM_TRY(pcsim_alloc((size_t)num, 3 * sizeof **out, out));
  for (int64_t i = 0; i < 3 * num; ++i) (*out)[i] = pcsim_dual_of(value[i], derivative[i]);
  return PCSIM_OK;
}

static pcsim_status moving_create(moving *m) {
  const pcsim_mesh_view *v = m->mesh;
  PCSIM_TRY(join(v->num_nodes, v->node, m->motion->node, &m->node));
  PCSIM_TRY(join(v->num_faces, v->face_centre, m->motion->face_centre, &m->centre));
  PCSIM_TRY(join(v->num_faces, v->face_area, m->motion->face_area, &m->area));
  return pcsim_alloc((size_t)m->problem->num_faces, 3 * sizeof *m->velocity, &m->velocity);
}

static pcsim_dual dot(const pcsim_dual *a, const pcsim_dual *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ------------------------------------------------------------------ expressions */

/* The points of quadrature of a boundary's faces. */
typedef struct {
  int64_t num;
  double *x, *displacement; /* [num][4] */
  pcsim_dual *weight;
  int64_t *face; /* [num] boundary face */
  double *value[TEXTS_MAX], *along[TEXTS_MAX];
} face_points;

static void points_free(face_points *p) {
  pcsim_free(&p->x), pcsim_free(&p->displacement), pcsim_free(&p->weight), pcsim_free(&p->face);
  for (int i = 0; i < TEXTS_MAX; ++i) pcsim_free(&p->value[i]), pcsim_free(&p->along[i]);
}

static pcsim_status points_find(const moving *m, int patch, face_points *p) {
  const int64_t first = m->mesh->patch_start[patch], end = m->mesh->patch_start[patch + 1];
  const size_t room = (size_t)(end - first) * FLOW_QUADRATURE_MAX;
  flow_quadrature_dual q;
  PCSIM_TRY(pcsim_alloc(room, 4 * sizeof(double), &p->x));
  PCSIM_TRY(pcsim_alloc(room, 4 * sizeof(double), &p->displacement));
  PCSIM_TRY(pcsim_alloc(room, sizeof *p->weight, &p->weight));
  PCSIM_TRY(pcsim_alloc(room, sizeof *p->face, &p->face));
  for (int i = 0; i < TEXTS_MAX; ++i) {
    PCSIM_TRY(pcsim_alloc(room, sizeof(double), &p->value[i]));
    PCSIM_TRY(pcsim_alloc(room, sizeof(double), &p->along[i]));
  }
  for (int64_t f = first; f < end; ++f) {
    flow_face_quadrature_dual(m->mesh, m->node, m->centre, f, &q);
    for (int k = 0; k < q.num; ++k, ++p->num) {
      for (int j = 0; j < 3; ++j) {
        p->x[4 * p->num + j] = creal(q.point[k][j]);
        p->displacement[4 * p->num + j] = pcsim_derivative_of(q.point[k][j]);
      }
      p->x[4 * p->num + NAME_T] = m->problem->view.time;
      p->weight[p->num] = q.weight[k];
      p->face[p->num] = f - m->mesh->num_interior_faces;
    }
  }
  return PCSIM_OK;
}

/* What component i of a condition gives one face, by one of its points. */
static void add_share(moving *m, const flow_condition *condition, pcsim_dual patch_area, int64_t b, int i,
                      pcsim_dual share) {
  pcsim_flow_problem *problem = m->problem;
  const pcsim_dual *area = m->area + 3 * (m->mesh->num_interior_faces + b);
  if (condition->gives == GIVES_PRESSURE) problem->pressure_along[b] += pcsim_derivative_of(share);
  if (condition->gives == GIVES_VELOCITY) m->velocity[3 * b + i] += share;
  if (condition->gives == GIVES_FLOW_RATE)
    for (int j = 0; j < 3; ++j)
      m->velocity[3 * b + j] -= share / patch_area * area[j] / pcsim_dual_root(dot(area, area));
}

/* Of a boundary over all ranks. Collective. */
static pcsim_dual area_of(const moving *m, int patch) {
  double part[2] = {0, 0};
  for (int64_t f = m->mesh->patch_start[patch]; f < m->mesh->patch_start[patch + 1]; ++f) {
    const pcsim_dual size = pcsim_dual_root(dot(m->area + 3 * f, m->area + 3 * f));
    part[0] += creal(size), part[1] += pcsim_derivative_of(size);
  }
  MPI_Allreduce(MPI_IN_PLACE, part, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(m->problem->mesh));
  return pcsim_dual_of(part[0], part[1]);
}

static pcsim_status fill_patch(moving *m, int patch) {
  const flow_boundaries *all = &m->problem->boundaries;
  const int of = all->of_patch[patch];
  if (of < 0 || all->condition[of].gives == GIVES_NOTHING) return PCSIM_OK;
  const flow_condition *condition = &all->condition[of];
  const pcsim_dual area = area_of(m, patch);
  const char *texts[TEXTS_MAX];
  face_points p = {0};
  for (int i = 0; i < condition->value.num; ++i) texts[i] = pcsim_expr_text(condition->value.expr[i]);
  pcsim_status status = points_find(m, patch, &p);
  const point_expressions e = {.num = condition->value.num,
                               .texts = texts,
                               .num_coordinates = 4,
                               .num_points = p.num,
                               .x = p.x,
                               .displacement = p.displacement};
  if (status == PCSIM_OK) status = point_expressions_evaluate(m->problem->tree, &e, p.value, p.along);
  for (int i = 0; status == PCSIM_OK && i < e.num; ++i)
    for (int64_t k = 0; k < p.num; ++k)
      add_share(m, condition, area, p.face[k], i, p.weight[k] * pcsim_dual_of(p.value[i][k], p.along[i][k]));
  points_free(&p);
  return status;
}

/* ----------------------------------------------------------------------- all */

/* As flow_problem.c trims walls and balances inflows. Collective. */
static void finish(moving *m) {
  pcsim_flow_problem *problem = m->problem;
  double part[4] = {0}; /* net outflow, area of given velocities: values and derivatives */
  for (int pass = 0; pass < 2; ++pass) {
    const pcsim_dual excess = pass ? pcsim_dual_of(part[0], part[1]) / pcsim_dual_of(part[2], part[3]) : 0;
    for (int64_t b = 0; b < problem->num_faces; ++b) {
      const pcsim_dual *area = m->area + 3 * (m->mesh->num_interior_faces + b);
      const bool wall = problem->kind[b] == PCSIM_FLOW_WALL, given = problem->kind[b] == PCSIM_FLOW_VELOCITY;
      pcsim_dual *v = m->velocity + 3 * b;
      const pcsim_dual size = pcsim_dual_root(dot(area, area)), normal = dot(v, area) / size;
      if (pass == 0 && given) {
        part[0] += creal(normal * size), part[1] += pcsim_derivative_of(normal * size);
        part[2] += creal(size), part[3] += pcsim_derivative_of(size);
      }
      const bool drop = pass == 0 ? wall : given && problem->view.pressure_free;
      for (int i = 0; drop && i < 3; ++i) v[i] -= (wall ? normal : excess) * area[i] / size;
    }
    if (pass == 0) MPI_Allreduce(MPI_IN_PLACE, part, 4, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(problem->mesh));
  }
}

/* Of a force that varies, at the centres of cells. */
static pcsim_status force_moves(moving *m) {
  pcsim_flow_problem *problem = m->problem;
  const int64_t n = m->mesh->num_cells;
  double *x = NULL, *displacement = NULL, *along[TEXTS_MAX] = {0};
  const char *texts[TEXTS_MAX];
  pcsim_status status;
  if (!problem->cell_force) return PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)n, 4 * sizeof *x, &x), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, 4 * sizeof *x, &displacement), status, done);
  for (int i = 0; i < problem->push.num; ++i) {
    texts[i] = pcsim_expr_text(problem->push.expr[i]);
    PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof(double), &along[i]), status, done);
  }
  for (int64_t c = 0; c < n; ++c) {
    memcpy(x + 4 * c, m->mesh->cell_centre + 3 * c, 3 * sizeof *x);
    memcpy(displacement + 4 * c, m->motion->cell_centre + 3 * c, 3 * sizeof *x);
    x[4 * c + NAME_T] = problem->view.time;
  }
  const point_expressions e = {.num = problem->push.num,
                               .texts = texts,
                               .num_coordinates = 4,
                               .num_points = n,
                               .x = x,
                               .displacement = displacement};
  PCSIM_GOTO(point_expressions_evaluate(problem->tree, &e, NULL, along), status, done);
  for (int64_t c = 0; c < n; ++c)
    for (int i = 0; i < 3; ++i) problem->force_along[3 * c + i] = i < e.num ? along[i][c] : 0;
done:
  pcsim_free(&x), pcsim_free(&displacement);
  for (int i = 0; i < TEXTS_MAX; ++i) pcsim_free(&along[i]);
  return status;
}

pcsim_status pcsim_flow_problem_motion(pcsim_flow_problem *problem, const pcsim_mesh_tangent *motion,
                                       pcsim_flow_derivative *out) {
  moving m = {.problem = problem, .mesh = pcsim_mesh_get(problem->mesh), .motion = motion};
  pcsim_status status = flow_problem_allocate_along(problem);
  if (status == PCSIM_OK) status = moving_create(&m);
  if (status == PCSIM_OK) status = force_moves(&m);
  status = pcsim_status_agree(pcsim_mesh_comm(problem->mesh), status);
  if (status == PCSIM_OK) memset(problem->pressure_along, 0, (size_t)problem->num_faces * sizeof(double));
  for (int p = 0; p < m.mesh->num_patches && status == PCSIM_OK; ++p)
    status = pcsim_status_agree(pcsim_mesh_comm(problem->mesh), fill_patch(&m, p));
  if (status == PCSIM_OK) {
    finish(&m);
    for (int64_t i = 0; i < 3 * problem->num_faces; ++i)
      problem->velocity_along[i] = pcsim_derivative_of(m.velocity[i]);
    *out = (pcsim_flow_derivative){.velocity = problem->velocity_along,
                                   .pressure = problem->pressure_along,
                                   .cell_force = problem->force_along};
  }
  moving_free(&m);
  return status;
}
