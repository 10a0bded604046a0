/* SPDX-License-Identifier: BSD-2-Clause */
/* A binary tree of boxes. */
#include "box_tree.h"

#include <float.h>
#include <math.h>

enum { LEAF = 4, DEPTH = 64 };

void box_tree_free(box_tree *tree) {
  pcsim_free(&tree->node);
  pcsim_free(&tree->item);
  tree->num_nodes = 0;
}

static double centre(const box *b, int d) { return 0.5 * (b->low[d] + b->high[d]); }

static box around(const box *boxes, const int32_t *item, int32_t n, bool centres) {
  box all;
  for (int d = 0; d < 3; d++) {
    all.low[d] = DBL_MAX;
    all.high[d] = -DBL_MAX;
    for (int32_t i = 0; i < n; i++) {
      const box *b = &boxes[item[i]];
      all.low[d] = fmin(all.low[d], centres ? centre(b, d) : b->low[d]);
      all.high[d] = fmax(all.high[d], centres ? centre(b, d) : b->high[d]);
    }
  }
  return all;
}

/* The items with the `half` lowest centres along axis d come first (Hoare's selection; ties by number, so
 * that the tree does not depend on the order before). */
static bool before(const box *boxes, int d, int32_t a, int32_t b) {
  const double x = centre(&boxes[a], d), y = centre(&boxes[b], d);
  return x < y || (x == y && a < b);
}
static void halve(const box *boxes, int d, int32_t *item, int32_t n, int32_t half) {
  int32_t low = 0, high = n - 1;
  while (low < high) {
    const int32_t pivot = item[low + (high - low) / 2];
    int32_t i = low, k = high;
    while (i <= k) {
      while (before(boxes, d, item[i], pivot)) i++;
      while (before(boxes, d, pivot, item[k])) k--;
      if (i > k) break;
      const int32_t swap = item[i];
      item[i++] = item[k];
      item[k--] = swap;
    }
    if (half <= k) high = k;
    else if (half >= i) low = i;
    else return;
  }
}

static int32_t build(box_tree *tree, const box *boxes, int32_t first, int32_t n) {
  const int32_t place = tree->num_nodes++;
  int32_t *item = tree->item + first;
  tree->node[place] = (box_node){.around = around(boxes, item, n, false), .count = n, .first = first};
  if (n <= LEAF) return place;
  const box centres = around(boxes, item, n, true);
  int axis = 0;
  for (int d = 1; d < 3; d++)
    if (centres.high[d] - centres.low[d] > centres.high[axis] - centres.low[axis]) axis = d;
  halve(boxes, axis, item, n, n / 2);
  tree->node[place].count = 0;
  build(tree, boxes, first, n / 2);
  const int32_t other = build(tree, boxes, first + n / 2, n - n / 2);
  tree->node[place].other = other;
  return place;
}

pcsim_status box_tree_make(int32_t n, const box *boxes, box_tree *tree) {
  *tree = (box_tree){0};
  if (n == 0) return PCSIM_OK;
  pcsim_status status = pcsim_alloc((size_t)n, sizeof *tree->item, &tree->item);
  if (status == PCSIM_OK) status = pcsim_alloc(2 * (size_t)n, sizeof *tree->node, &tree->node);
  if (status != PCSIM_OK) {
    box_tree_free(tree);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  for (int32_t i = 0; i < n; i++) tree->item[i] = i;
  build(tree, boxes, 0, n);
  return PCSIM_OK;
}

static bool meets(const box *a, const box *b) {
  for (int d = 0; d < 3; d++)
    if (a->low[d] > b->high[d] || b->low[d] > a->high[d]) return false;
  return true;
}

void box_tree_find(const box_tree *tree, const box *boxes, const box *query,
                   void (*found)(void *context, int32_t item), void *context) {
  int32_t stack[DEPTH];
  int n = 0;
  if (tree->num_nodes) stack[n++] = 0;
  while (n > 0) {
    const int32_t place = stack[--n];
    const box_node *node = &tree->node[place];
    if (!meets(&node->around, query)) continue;
    for (int32_t i = 0; i < node->count; i++) {
      const int32_t item = tree->item[node->first + i];
      if (meets(&boxes[item], query)) found(context, item);
    }
    if (node->count) continue;
    stack[n++] = node->other;
    stack[n++] = place + 1;
  }
}

static double distance(const box *b, const double p[3]) {
  double sum = 0;
  for (int d = 0; d < 3; d++) {
    const double x = fmax(fmax(b->low[d] - p[d], p[d] - b->high[d]), 0);
    sum += x * x;
  }
  return sum;
}

int32_t box_tree_nearest(const box_tree *tree, const box *boxes, const double point[3]) {
  int32_t stack[DEPTH], best = -1;
  double least = DBL_MAX;
  int n = 0;
  if (tree->num_nodes) stack[n++] = 0;
  while (n > 0) {
    const int32_t place = stack[--n];
    const box_node *node = &tree->node[place];
    if (distance(&node->around, point) > least) continue;
    for (int32_t i = 0; i < node->count; i++) {
      const int32_t item = tree->item[node->first + i];
      double sum = 0;
      for (int d = 0; d < 3; d++) {
        const double x = centre(&boxes[item], d) - point[d];
        sum += x * x;
      }
      if (sum < least || (sum == least && item < best)) {
        least = sum;
        best = item;
      }
    }
    if (node->count) continue;
    const bool left =
        distance(&tree->node[place + 1].around, point) < distance(&tree->node[node->other].around, point);
    stack[n++] = left ? node->other : place + 1;
    stack[n++] = left ? place + 1 : node->other;
  }
  return best;
}
