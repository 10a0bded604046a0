/* SPDX-License-Identifier: BSD-2-Clause */
/* Inverse-distance interpolation with far sources taken in groups. */
#include "spread.h"

#include <math.h>
#include <string.h>

enum { DEPTH = 64 };
static const double SEEN = 0.125;      /* radius over distance of a group that counts as one */
static const double NEAR = 1.0 / 30.0; /* l over half the size */

void spread_free(spread *s) {
  pcsim_free(&s->boxes), pcsim_free(&s->group);
  box_tree_free(&s->tree);
}

/* Sums over the sources of a group. */
static void add_source(spread_group *g, const double *point, const double *value, double weight) {
  for (int d = 0; d < 3; d++) g->centre[d] += weight * point[d], g->value[d] += weight * value[d];
  g->weight += weight;
}

static void add_group(spread_group *g, const spread_group *part) {
  add_source(g, part->centre, part->value, 1);
  g->weight += part->weight - 1;
}

/* Children stand behind their parents. */
static void fill_groups(spread *s) {
  for (int32_t k = s->tree.num_nodes - 1; k >= 0; k--) {
    const box_node *node = &s->tree.node[k];
    spread_group *g = &s->group[k];
    for (int32_t i = 0; i < node->count; i++) {
      const int64_t item = s->tree.item[node->first + i];
      add_source(g, s->point + 3 * item, s->value + 3 * item, s->weight[item]);
    }
    if (!node->count) add_group(g, &s->group[k + 1]), add_group(g, &s->group[node->other]);
    double square = 0;
    for (int d = 0; d < 3; d++) {
      const double half = 0.5 * (node->around.high[d] - node->around.low[d]);
      square += half * half;
    }
    g->radius = sqrt(square);
  }
  for (int32_t k = 0; k < s->tree.num_nodes; k++)
    for (int d = 0; d < 3; d++) {
      s->group[k].centre[d] /= s->group[k].weight;
      s->group[k].value[d] /= s->group[k].weight;
    }
}

pcsim_status spread_make(int64_t num, const double *point, const double *value, const double *weight,
                         spread *s) {
  *s = (spread){.num = num, .point = point, .value = value, .weight = weight};
  PCSIM_CHECK(num <= INT32_MAX, PCSIM_ERR_MESH, "%lld nodes on boundaries; the limit is %d", (long long)num,
              INT32_MAX);
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *s->boxes, &s->boxes));
  for (int64_t i = 0; i < num; i++) {
    memcpy(s->boxes[i].low, point + 3 * i, 3 * sizeof *point);
    memcpy(s->boxes[i].high, point + 3 * i, 3 * sizeof *point);
  }
  PCSIM_TRY(box_tree_make((int32_t)num, s->boxes, &s->tree));
  PCSIM_TRY(pcsim_alloc((size_t)s->tree.num_nodes, sizeof *s->group, &s->group));
  fill_groups(s);
  if (num) s->near2 = NEAR * NEAR * s->group[0].radius * s->group[0].radius;
  return PCSIM_OK;
}

/* Add a value of some area at this distance; returns its weight. */
static double add_from(const spread *s, const double *value, double area, double r2, double sum[3]) {
  const double weight = area / (r2 * sqrt(r2)) * (1 + s->near2 / r2);
  for (int d = 0; d < 3; d++) sum[d] += weight * value[d];
  return weight;
}

static double distance2(const double *a, const double *b) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

void spread_at(const spread *s, const double point[3], double value[3]) {
  int32_t stack[DEPTH];
  int n = 0;
  double sum[3] = {0, 0, 0}, total = 0;
  if (s->tree.num_nodes) stack[n++] = 0;
  while (n > 0) {
    const int32_t k = stack[--n];
    const box_node *node = &s->tree.node[k];
    const spread_group *g = &s->group[k];
    const double r2 = distance2(g->centre, point);
    if (g->radius * g->radius < SEEN * SEEN * r2) {
      total += add_from(s, g->value, g->weight, r2, sum);
      continue;
    }
    for (int32_t i = 0; i < node->count; i++) {
      const int64_t item = s->tree.item[node->first + i];
      total += add_from(s, s->value + 3 * item, s->weight[item], distance2(s->point + 3 * item, point), sum);
    }
    if (node->count) continue;
    stack[n++] = node->other;
    stack[n++] = k + 1;
  }
  for (int d = 0; d < 3; d++) value[d] = total > 0 ? sum[d] / total : 0;
}
