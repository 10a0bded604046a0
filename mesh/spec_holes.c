/* SPDX-License-Identifier: BSD-2-Clause */
/* `minus:` of a box: balls (circles in the plane) that are taken away, NAME: {ball: {centre, radius}}. */
#include "spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const pcsim_key ball_keys[] = {
    {"centre", PCSIM_KEY_NUMBERS, NULL, NULL, "m", "of the ball", 0, 0},
    {"radius", PCSIM_KEY_NUMBER, NULL, NULL, "m", "of the ball", 1e-300, INFINITY},
};
static const pcsim_key hole_keys[] = {{"ball", PCSIM_KEY_MAPPING, NULL, NULL, "", "centre and radius", 0, 0}};

typedef struct {
  const pcsim_node *node;
  const char *name;
  double centre[3], radius;
} hole;

/* A name that can be a boundary beside those of the box and a part of a line of the specification. */
static bool check_name(pcsim_tree *tree, const pcsim_node *at, const char *name, const char *const *patches) {
  const char *fault = NULL;
  if (!*name || strlen(name) > PCSIM_SPEC_NAME) fault = "expected a name of 1 to 60 characters";
  for (const char *p = name; *p; p++)
    if ((unsigned char)*p <= ' ' || strchr(".=*?[", *p))
      fault = "expected a name without blanks and . = * ? [";
  for (int i = 0; i < PCSIM_SHAPE_PATCHES && patches[i]; i++)
    if (!strcmp(patches[i], name)) fault = "a side of the box has this name";
  if (fault) pcsim_tree_problem(tree, at, "'%s' cannot be the boundary of a ball: %s", name, fault);
  return !fault;
}

static bool read_ball(pcsim_tree *tree, pcsim_node *node, int dim, hole *h) {
  char where[PCSIM_SPEC_NAME + 32];
  pcsim_node *ball;
  int n = 0;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node, "'%s' must be a mapping such as {ball: {centre: [0.5, 0.5], radius: 0.1}}",
                       h->name);
    return false;
  }
  snprintf(where, sizeof where, "minus.%s", h->name);
  pcsim_node_check(tree, node, hole_keys, 1, where);
  ball = pcsim_node_get(node, "ball");
  if (!ball || pcsim_node_get_kind(ball) != PCSIM_NODE_MAPPING) return false;
  snprintf(where, sizeof where, "minus.%s.ball", h->name);
  pcsim_node_check(tree, ball, ball_keys, 2, where);
  if (!pcsim_node_numbers(tree, ball, "centre", h->centre, 3, &n) ||
      !pcsim_node_number(tree, ball, "radius", &h->radius))
    return false;
  if (n != dim)
    pcsim_tree_problem(tree, pcsim_node_get(ball, "centre"), "'centre' has %d numbers, expected %d", n, dim);
  return n == dim && h->radius > 0;
}

/* Each wholly inside the box and apart from the others: their boundaries have to be whole. */
static bool check_place(pcsim_tree *tree, int dim, const double *low, const double *high, const hole *before,
                        int num_before, const hole *h) {
  for (int i = 0; i < dim; i++)
    if (!(h->centre[i] - 1.0005 * h->radius > low[i] && h->centre[i] + 1.0005 * h->radius < high[i])) {
      pcsim_tree_problem(tree, h->node,
                         "'%s' reaches from %g to %g along %c, the box from %g to %g; expected "
                         "a ball inside the box",
                         h->name, h->centre[i] - h->radius, h->centre[i] + h->radius, "xyz"[i], low[i],
                         high[i]);
      return false;
    }
  for (int k = 0; k < num_before; k++) {
    double d = 0;
    for (int i = 0; i < dim; i++) d = hypot(d, h->centre[i] - before[k].centre[i]);
    if (d > 1.0005 * (h->radius + before[k].radius)) continue;
    pcsim_tree_problem(tree, h->node, "'%s' and '%s' touch each other; expected balls that lie apart",
                       h->name, before[k].name);
    return false;
  }
  return true;
}

static pcsim_status hand_over(const hole *h, int dim, pcsim_mesh_spec *spec) {
  char key[PCSIM_SPEC_NAME + 8], text[128];
  int used = 0;
  for (int i = 0; i < dim; i++)
    used += snprintf(text + used, sizeof text - (size_t)used, "%.17g,", h->centre[i]);
  snprintf(text + used, sizeof text - (size_t)used, "%.17g", h->radius);
  snprintf(key, sizeof key, "hole.%s", h->name);
  return pcsim_spec_add_text(spec, key, text);
}

pcsim_status pcsim_spec_read_holes(pcsim_tree *tree, const pcsim_node *mesh, const char *const *patches,
                                   pcsim_mesh_spec *spec) {
  pcsim_node *minus = pcsim_node_get(mesh, "minus");
  hole holes[PCSIM_SHAPE_HOLES];
  double low[3], high[3];
  int dim = 0, n = 0, num = 0;
  if (!minus || pcsim_node_get_kind(minus) != PCSIM_NODE_MAPPING) return PCSIM_OK;
  if (!pcsim_node_numbers(tree, mesh, "low", low, 3, &dim) ||
      !pcsim_node_numbers(tree, mesh, "high", high, 3, &n) || n != dim || dim < 2)
    return PCSIM_OK; /* it is told already */
  if (pcsim_node_size(minus) > PCSIM_SHAPE_HOLES) {
    pcsim_tree_problem(tree, minus, "%lld balls are taken away, the limit is %d",
                       (long long)pcsim_node_size(minus), PCSIM_SHAPE_HOLES);
    return PCSIM_OK;
  }
  const pcsim_node *cells = pcsim_node_get(mesh, "cells"), *counts = pcsim_node_get(mesh, "n");
  const char *right = dim == 2 ? "triangles" : "tetrahedra";
  if (pcsim_node_size(minus) > 0 && (counts || !cells || strcmp(pcsim_node_text(cells), right) != 0))
    pcsim_tree_problem(tree,
                       counts  ? counts
                       : cells ? cells
                               : minus,
                       "only %s made from a size go around what is taken away; expected cells: %s and size",
                       right, right);
  for (int64_t i = 0; i < pcsim_node_size(minus); i++) {
    hole *h = &holes[num];
    *h = (hole){.node = pcsim_node_key_node(minus, i), .name = pcsim_node_key(minus, i)};
    if (!check_name(tree, h->node, h->name, patches) ||
        !read_ball(tree, pcsim_node_child(minus, i), dim, h) ||
        !check_place(tree, dim, low, high, holes, num, h))
      continue;
    PCSIM_TRY(hand_over(h, dim, spec));
    num++;
  }
  return PCSIM_OK;
}
