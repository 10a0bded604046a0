/* SPDX-License-Identifier: BSD-2-Clause */
/* Cell gradients of the flow: which boundaries fix what, for the maps of gradient.h. */
#include "flow.h"
#include "gradient_second.h"

#include <math.h>
#include <string.h>

/* Collective, since a patch has faces on several ranks. `range` is [patches][2][4]: lowest value, and lowest
 * negative value, of velocity and kind. */
static void classify_patches(flow *f) {
  const double rounding = 1e-13; /* of the velocity scale: what trimming a wall's velocity may leave */
  flow_patch *kind = f->patch;
  double *range = f->patch_range;
  const pcsim_mesh_view *v = f->view;
  const int dim = f->dim;
  for (int p = 0; p < v->num_patches; p++) {
    double *low = range + 8 * p, *high = low + 4;
    for (int i = 0; i < 4; i++) low[i] = high[i] = 1e300;
    for (int64_t k = v->patch_start[p] - f->ni; k < v->patch_start[p + 1] - f->ni; k++)
      for (int i = 0; i <= dim; i++) {
        const double x = i < dim ? f->wall_value[k * (dim + 1) + i] : f->wall_kind[k];
        low[i] = fmin(low[i], x);
        high[i] = fmin(high[i], -x);
      }
  }
  MPI_Allreduce(MPI_IN_PLACE, range, 8 * v->num_patches, MPI_DOUBLE, MPI_MIN, pcsim_mesh_comm(f->mesh));
  for (int p = 0; p < v->num_patches; p++) {
    const double *low = range + 8 * p, *high = low + 4;
    bool uniform = true;
    for (int i = 0; i <= dim; i++) uniform &= -high[i] - low[i] <= rounding;
    for (int i = 0; i < dim; i++) kind[p].velocity[i] = low[i];
    kind[p].wall = uniform && low[dim] == PCSIM_FLOW_WALL;
    kind[p].slip = low[dim] == PCSIM_FLOW_SLIP && -high[dim] == PCSIM_FLOW_SLIP;
  }
}

/* What set-up needs and throws away. */
typedef struct {
  uint8_t *fixed; /* [nb][classes] */
  uint8_t *node;  /* [patches][classes] */
} workspace;

static void classify(const flow *f, workspace *w) {
  for (int64_t k = 0; k < f->nb; k++) {
    const uint8_t kind = f->wall_kind[k];
    uint8_t *fixed = w->fixed + k * FLOW_NUM_CLASSES;
    fixed[FLOW_CLASS_VELOCITY] = kind == PCSIM_FLOW_VELOCITY || kind == PCSIM_FLOW_WALL;
    fixed[FLOW_CLASS_PRESSURE] = kind == PCSIM_FLOW_PRESSURE;
  }
  for (int p = 0; p < f->view->num_patches; p++) {
    uint8_t *node = w->node + (ptrdiff_t)p * FLOW_NUM_CLASSES;
    const bool known = f->patch[p].wall || f->patch[p].slip;
    node[FLOW_CLASS_PRESSURE] = known ? GRADIENT_NODE_CELLS : GRADIENT_NODE_NONE;
    node[FLOW_CLASS_VELOCITY] = f->patch[p].wall ? GRADIENT_NODE_GIVEN : node[FLOW_CLASS_PRESSURE];
  }
}

static pcsim_status build(flow *f, workspace *w) {
  const size_t m = (size_t)f->dim + 1, nb = (size_t)f->nb;
  gradient_maps *g = &f->gradient;
  PCSIM_TRY(pcsim_alloc(nb * FLOW_NUM_CLASSES, sizeof *w->fixed, &w->fixed));
  classify(f, w);
  PCSIM_TRY(
      gradient_create(&(gradient_request){f->mesh, FLOW_NUM_CLASSES, w->fixed, w->node, NULL, NULL, 1}, g));
  for (int64_t k = 0; k < f->nb; k++)
    f->wall[k * FLOW_WALL_WIDTH(f->dim) + 2 * f->dim + 1] =
        f->wall_order * g->share[k * FLOW_NUM_CLASSES + FLOW_CLASS_VELOCITY];
  PCSIM_TRY(pcsim_alloc((size_t)f->view->num_nodes * m, sizeof *f->node_value, &f->node_value));
  PCSIM_TRY(pcsim_alloc((size_t)g->num_given * m, sizeof *f->node_given, &f->node_given));
  return PCSIM_OK;
}

void flow_gradient_boundary(flow *f) {
  const gradient_maps *g = &f->gradient;
  classify_patches(f);
  for (int64_t i = 0; i < g->num_given; i++)
    memcpy(f->node_given + i * (f->dim + 1), f->patch[f->view->node_patch[g->given[i]]].velocity,
           (size_t)f->dim * sizeof(double));
}

/* A wall has one velocity if it has at every time; three tell. */
static pcsim_status find_walls(flow *f, const double span[2]) {
  static const double at[] = {0.37, 0.71, 0};
  classify_patches(f);
  for (size_t k = 0; f->changing && k < sizeof at / sizeof *at; k++) {
    PCSIM_TRY(flow_set_time(f, span[0] + at[k] * (span[1] - span[0])));
    for (int p = 0; p < f->view->num_patches; p++) f->patch_several[p] |= !f->patch[p].wall;
  }
  for (int p = 0; p < f->view->num_patches; p++) f->patch[p].wall &= !f->patch_several[p];
  return PCSIM_OK;
}

pcsim_status flow_gradient_create(flow *f, const double span[2]) {
  workspace w;
  MPI_Comm comm = pcsim_mesh_comm(f->mesh);
  memset(&w, 0, sizeof w);
  const size_t patches = (size_t)f->view->num_patches;
  pcsim_status status = pcsim_alloc(patches, sizeof *f->patch, &f->patch);
  if (status == PCSIM_OK) status = pcsim_alloc(8 * patches, sizeof *f->patch_range, &f->patch_range);
  if (status == PCSIM_OK) status = pcsim_alloc(patches, sizeof *f->patch_several, &f->patch_several);
  if (status == PCSIM_OK) status = pcsim_alloc(FLOW_NUM_CLASSES * patches, sizeof *w.node, &w.node);
  status = pcsim_status_agree(comm, status);
  if (status == PCSIM_OK) status = find_walls(f, span);
  if (status == PCSIM_OK) status = pcsim_status_agree(comm, build(f, &w));
  if (status == PCSIM_OK) flow_gradient_boundary(f);
  pcsim_free(&w.fixed), pcsim_free(&w.node);
  return status;
}

pcsim_status flow_gradient_tangent(const flow *f, const dual_places *places, gradient_maps *along) {
  workspace w = {0};
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)f->nb * FLOW_NUM_CLASSES, sizeof *w.fixed, &w.fixed), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)f->view->num_patches * FLOW_NUM_CLASSES, sizeof *w.node, &w.node), status,
             done);
  classify(f, &w);
  status = gradient_tangent_create(
      &(gradient_request){f->mesh, FLOW_NUM_CLASSES, w.fixed, w.node, NULL, places, 1}, along, NULL);
done:
  pcsim_free(&w.fixed), pcsim_free(&w.node);
  return status;
}

static const int *classes_of(const flow *f) {
  static const int class_2d[] = {FLOW_CLASS_VELOCITY, FLOW_CLASS_VELOCITY, FLOW_CLASS_PRESSURE};
  static const int class_3d[] = {FLOW_CLASS_VELOCITY, FLOW_CLASS_VELOCITY, FLOW_CLASS_VELOCITY,
                                 FLOW_CLASS_PRESSURE};
  return f->dim == 2 ? class_2d : class_3d;
}

void flow_gradient_of(const flow *f, const double *q, bool constant, double *grad) {
  const gradient_data data = {.m = f->dim + 1,
                              .class_of = classes_of(f),
                              .face = constant ? f->wall_value : NULL,
                              .node = constant ? f->node_given : NULL,
                              .node_value = f->node_value};
  gradient_apply(&f->gradient, &data, q, grad);
}

void flow_gradient_along(const flow *f, const gradient_maps *along, double *d_grad) {
  const gradient_data data = {.m = f->dim + 1,
                              .class_of = classes_of(f),
                              .face = f->wall_value,
                              .node = f->node_given,
                              .node_value = f->node_value};
  gradient_tangent_apply(&f->gradient, along, &data, f->q, NULL, d_grad);
}

void flow_gradient_transposed(const flow *f, const double *grad, double *q, double *face, double *node) {
  const gradient_cotangent to = {.m = f->dim + 1,
                                 .class_of = classes_of(f),
                                 .q = q,
                                 .face = face,
                                 .node = node,
                                 .node_value = f->node_value};
  gradient_apply_transposed(&f->gradient, &to, grad);
}
