/* SPDX-License-Identifier: BSD-2-Clause */
/* Boundaries of a refined plane mesh rounded: the new node of each boundary edge goes from the edge to the
 * curve that its neighbours of the same boundary suggest. */
#include "raw.h"

#include <math.h>
#include <string.h>

/* Edges that meet in a sharper angle are a corner: cosine of 40 degrees. */
static const double CORNER = 0.766;

/* Edges of one boundary at each node, at most two: more is a place where curves branch. */
typedef struct {
  int64_t edge[2];
  int num;
} meeting;

static const double *node_of(const pcsim_raw_mesh *raw, int32_t node) {
  return raw->nodes + 3 * (int64_t)node;
}

static int32_t end_of(const pcsim_raw_mesh *raw, int64_t edge, int which) {
  return raw->facet_nodes[raw->facet_start[edge] + which];
}

static double direction(const double *from, const double *to, double *unit) {
  const double d[2] = {to[0] - from[0], to[1] - from[1]}, length = hypot(d[0], d[1]);
  for (int j = 0; j < 2; j++) unit[j] = d[j] / length;
  return length;
}

/* Unit tangent at end `which` of an edge, from its first end to its second: that of the circle through both
 * and the other end of the next edge; false at a corner or where the boundary ends. */
static bool tangent(const pcsim_raw_mesh *raw, const meeting *at, int64_t edge, int which, double *t) {
  const int32_t a = end_of(raw, edge, 0), b = end_of(raw, edge, 1), here = which ? b : a;
  const meeting *m = &at[here];
  double own[2], next[2];
  const double length = direction(node_of(raw, a), node_of(raw, b), own);
  if (m->num != 2) return false;
  const int64_t other = m->edge[m->edge[0] == edge];
  const int32_t far = end_of(raw, other, end_of(raw, other, 0) == here);
  const double reach = which ? direction(node_of(raw, b), node_of(raw, far), next)
                             : direction(node_of(raw, far), node_of(raw, a), next);
  if (own[0] * next[0] + own[1] * next[1] < CORNER) return false;
  for (int j = 0; j < 2; j++) t[j] = (own[j] * reach + next[j] * length) / (reach + length);
  const double size = hypot(t[0], t[1]);
  for (int j = 0; j < 2; j++) t[j] /= size;
  return true;
}

/* The middle of the cubic through both ends with these tangents; with one of them the parabola. */
static double round_edge(const pcsim_raw_mesh *raw, const meeting *at, int64_t edge, double *middle) {
  double own[2], t[2][2], offset[2];
  const double length =
      direction(node_of(raw, end_of(raw, edge, 0)), node_of(raw, end_of(raw, edge, 1)), own);
  const bool known[2] = {tangent(raw, at, edge, 0, t[0]), tangent(raw, at, edge, 1, t[1])};
  if (!known[0] && !known[1]) return 0;
  for (int j = 0; j < 2; j++) {
    if (!known[0]) t[0][j] = 2 * own[j] - t[1][j];
    if (!known[1]) t[1][j] = 2 * own[j] - t[0][j];
    offset[j] = length / 8 * (t[0][j] - t[1][j]);
    middle[j] += offset[j];
  }
  return hypot(offset[0], offset[1]) / length;
}

static void meet(const pcsim_raw_mesh *raw, int patch, meeting *at) {
  memset(at, 0, (size_t)raw->num_nodes * sizeof *at);
  for (int64_t f = 0; f < raw->num_facets; f++)
    for (int end = 0; raw->facet_patch[f] == patch && end < 2; end++) {
      meeting *m = &at[end_of(raw, f, end)];
      if (m->num < 2) m->edge[m->num] = f;
      m->num++;
    }
}

pcsim_status pcsim_raw_mesh_round(const pcsim_raw_mesh *raw, pcsim_raw_mesh *fine, double *most) {
  meeting *at = NULL;
  *most = 0;
  if (raw->dim != 2) return PCSIM_OK;
  PCSIM_CHECK(fine->num_facets == 2 * raw->num_facets, PCSIM_ERR_ARG,
              "a mesh of %lld boundary edges is not the refined one of %lld", (long long)fine->num_facets,
              (long long)raw->num_facets);
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_nodes, sizeof *at, &at));
  for (int p = 0; p < raw->num_patches; p++) {
    bool periodic = false;
    for (int i = 0; i < 2 * raw->num_periodic; i++) periodic = periodic || raw->periodic[i] == p;
    if (periodic) continue;
    meet(raw, p, at);
    for (int64_t f = 0; f < raw->num_facets; f++) {
      if (raw->facet_patch[f] != p) continue;
      const int32_t middle = fine->facet_nodes[fine->facet_start[2 * f] + 1];
      *most = fmax(*most, round_edge(raw, at, f, fine->nodes + 3 * (int64_t)middle));
    }
  }
  pcsim_free(&at);
  return PCSIM_OK;
}
