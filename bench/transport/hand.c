/* SPDX-License-Identifier: BSD-2-Clause */
/* The yardstick of typed equations: what does not depend on the unknown is worked out once. */
#include "hand.h"

#include "solver/simd.h"

#include <string.h>

static double flow_through(const double *area, const double *x) {
  return (0.5 - x[1]) * area[0] + (x[0] - 0.5) * area[1];
}

static double stretch_of(double nu, const double *area, const double *line) {
  return nu * (area[0] * area[0] + area[1] * area[1]) / (area[0] * line[0] + area[1] * line[1]);
}

pcsim_status hand_create(const transport *t, double nu, hand_laws *h) {
  const size_t conditions = (size_t)t->problem->num_conditions;
  *h = (hand_laws){.t = t, .nu = nu};
  PCSIM_CHECK(t->m == 1 && t->dim == 2, PCSIM_ERR_ARG, "the loops are for one unknown in the plane");
  PCSIM_TRY(pcsim_alloc((size_t)t->ni, sizeof(double), &h->flow));
  PCSIM_TRY(pcsim_alloc((size_t)t->ni, sizeof(double), &h->stretch));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *h->boundary_flow, &h->boundary_flow));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *h->boundary_stretch, &h->boundary_stretch));
  for (int64_t k = 0; k < t->ni; k++) {
    h->flow[k] = flow_through(t->faces.area + 2 * k, t->faces.coordinates + 4 * k);
    h->stretch[k] = stretch_of(nu, t->faces.area + 2 * k, t->faces.line + 2 * k);
  }
  for (size_t c = 0; c < conditions; c++) {
    const transport_boundary *b = &t->boundary[c];
    PCSIM_TRY(pcsim_alloc((size_t)b->num, sizeof(double), &h->boundary_flow[c]));
    PCSIM_TRY(pcsim_alloc((size_t)b->num, sizeof(double), &h->boundary_stretch[c]));
    for (int64_t k = 0; k < b->num; k++) {
      h->boundary_flow[c][k] = flow_through(b->area + 2 * k, b->coordinates + 4 * k);
      h->boundary_stretch[c][k] = (1 + b->share[k]) * stretch_of(nu, b->area + 2 * k, b->line + 2 * k);
    }
  }
  return PCSIM_OK;
}

void hand_free(hand_laws *h) {
  for (int c = 0; h->boundary_stretch && c < h->t->problem->num_conditions; c++) {
    pcsim_free(&h->boundary_flow[c]);
    pcsim_free(&h->boundary_stretch[c]);
  }
  pcsim_free(&h->flow), pcsim_free(&h->stretch);
  pcsim_free(&h->boundary_flow), pcsim_free(&h->boundary_stretch);
}

static inline double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1]; }

PCSIM_CLONES static void inner_faces(const hand_laws *h, const double *q, double *restrict r) {
  const transport *t = h->t;
  const transport_faces *f = &t->faces;
  const double kappa = t->choices.kappa, nu = h->nu;
  for (int64_t k = 0; k < t->ni; k++) {
    const int64_t P = f->owner[k], N = f->neighbour[k];
    const double *S = f->area + 2 * k, *d = f->line + 2 * k, *skew = f->skew + 2 * k;
    const double *gp = t->grad + 2 * P, *gn = t->grad + 2 * N, at = f->t[k], rest = 1 - at;
    const double jump = q[N] - q[P], pd = dot(gp, d), nd = dot(gn, d);
    const double mean[2] = {rest * gp[0] + at * gn[0], rest * gp[1] + at * gn[1]};
    const double bend = (at - rest) * jump + rest * pd - at * nd;
    const double u = q[P] + at * jump + dot(mean, skew) + kappa * at * rest * bend;
    const double flux = h->flow[k] * u - nu * dot(mean, S) - h->stretch[k] * (jump - 0.5 * (pd + nd));
    if (P < t->n) r[P] += flux;
    if (N < t->n) r[N] -= flux;
  }
}

static void boundary_faces(const hand_laws *h, int condition, const double *q, bool values, double *r) {
  const transport_boundary *b = &h->t->boundary[condition];
  const double *flow = h->boundary_flow[condition], *stretch = h->boundary_stretch[condition];
  for (int64_t k = 0; k < b->num; k++) {
    const int64_t P = b->owner[k];
    const double *g = h->t->grad + 2 * P, value = values ? b->value[k] : 0;
    const double missing = value - q[P] - dot(g, b->line + 2 * k);
    r[P] += flow[k] * value - h->nu * dot(g, b->area + 2 * k) - stretch[k] * missing;
  }
}

void hand_residual(const hand_laws *h, const double *q, bool values, double *r) {
  const transport *t = h->t;
  const gradient_data data = {.m = 1,
                              .class_of = t->class_of,
                              .face = values ? t->face_given : NULL,
                              .node = values ? t->node_given : NULL,
                              .node_value = t->node_value};
  gradient_apply(&t->gradient, &data, q, t->grad);
  memset(r, 0, (size_t)t->n * sizeof *r);
  inner_faces(h, q, r);
  for (int c = 0; c < t->problem->num_conditions; c++) boundary_faces(h, c, q, values, r);
}
