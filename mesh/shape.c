/* SPDX-License-Identifier: BSD-2-Clause */
/* Faces and edges of the cell types, in the node order that raw.h states. */
#include "fv.h"

const pcsim_cell_shape pcsim_cell_shapes[PCSIM_NUM_CELL_TYPES] = {
    [PCSIM_CELL_SEGMENT] = {1, 2, 2, 1, {1, 1}, {{0}, {1}}, {{0, 1}}},
    [PCSIM_CELL_TRIANGLE] = {2, 3, 3, 3, {2, 2, 2}, {{0, 1}, {1, 2}, {2, 0}}, {{0, 1}, {1, 2}, {2, 0}}},
    [PCSIM_CELL_QUAD] =
        {2, 4, 4, 4, {2, 2, 2, 2}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
    [PCSIM_CELL_TETRA] = {3,
                          4,
                          4,
                          6,
                          {3, 3, 3, 3},
                          {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}},
                          {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}},
    [PCSIM_CELL_PYRAMID] = {3,
                            5,
                            5,
                            8,
                            {4, 3, 3, 3, 3},
                            {{0, 3, 2, 1}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}},
                            {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}}},
    [PCSIM_CELL_PRISM] = {3,
                          6,
                          5,
                          9,
                          {3, 3, 4, 4, 4},
                          {{0, 1, 2}, {3, 5, 4}, {0, 3, 4, 1}, {1, 4, 5, 2}, {2, 5, 3, 0}},
                          {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}}},
    [PCSIM_CELL_HEXA] =
        {3,
         8,
         6,
         12,
         {4, 4, 4, 4, 4, 4},
         {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}},
         {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}},
};

int pcsim_cell_face_nodes(pcsim_cell_type type, const int32_t *cell_nodes, int f, int32_t face[4]) {
  const pcsim_cell_shape *shape = &pcsim_cell_shapes[type];
  int n = shape->face_size[f];
  for (int i = 0; i < n; i++) face[i] = cell_nodes[shape->face[f][i]];
  return n;
}
