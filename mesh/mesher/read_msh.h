/* SPDX-License-Identifier: BSD-2-Clause */
/** @file read_msh.h  Private to pcsim-mesh: stages of reading a Gmsh file. */
#ifndef PCSIM_MESHER_READ_MSH_H
#define PCSIM_MESHER_READ_MSH_H

#include "mesher.h"

/** A list of names, each once. */
typedef struct {
  int n, max;
  char **name;
} msh_names;
pcsim_status msh_names_add(msh_names *names, const char *name, int *index) PCSIM_NODISCARD;
void msh_names_free(msh_names *names);

/** Elements of one dimension: corner nodes only, Gmsh's node tags. */
typedef struct {
  int dim;
  int64_t num, max, num_nodes, max_nodes;
  uint8_t *type;
  int32_t *group;
  uint64_t *tag; /**< [num_nodes] */
  msh_names names;
  int64_t count[PCSIM_NUM_CELL_TYPES];
  int order;         /**< highest order met */
  int64_t ungrouped; /**< elements left out for want of a group */
} msh_elements;
void msh_elements_free(msh_elements *elements);
/** All elements of a dimension with the names of their groups (see README: names). */
pcsim_status msh_elements_take(int dim, bool cells, msh_elements *elements) PCSIM_NODISCARD;

/** Nodes by tag. */
typedef struct {
  int64_t num;
  double *x;      /**< [num][3] */
  uint64_t *tag;  /**< [num], ascending */
  int32_t *place; /**< [num] place in x of the node with that tag */
} msh_nodes;
void msh_nodes_free(msh_nodes *nodes);
pcsim_status msh_nodes_take(msh_nodes *nodes) PCSIM_NODISCARD;
/** Place of a tag in x, -1 if there is none. */
int32_t msh_nodes_find(const msh_nodes *nodes, uint64_t tag);

#endif
