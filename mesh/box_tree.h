/* SPDX-License-Identifier: BSD-2-Clause */
/** @file box_tree.h  Private to mesh/: which of many boxes meet a box; sizes may differ by any factor. */
#ifndef PCSIM_MESH_BOX_TREE_H
#define PCSIM_MESH_BOX_TREE_H

#include <pcsim/base.h>

typedef struct {
  double low[3], high[3];
} box;

/** Inner nodes: children at place + 1 and `other`. Leaves: `count` items from `first`. */
typedef struct {
  box around;
  int32_t count, first, other;
} box_node;

typedef struct {
  box_node *node;
  int32_t num_nodes;
  int32_t *item; /**< [number of boxes] */
} box_tree;

/** A tree over n boxes, halved at the median centre along the longest side. Free it with box_tree_free. */
pcsim_status box_tree_make(int32_t n, const box *boxes, box_tree *tree) PCSIM_NODISCARD;
void box_tree_free(box_tree *tree);
/** Calls `found` with each item whose box meets `query` (borders count). */
void box_tree_find(const box_tree *tree, const box *boxes, const box *query,
                   void (*found)(void *context, int32_t item), void *context);
/** Item whose box centre is nearest to a point, -1 for an empty tree. */
int32_t box_tree_nearest(const box_tree *tree, const box *boxes, const double point[3]);

#endif
