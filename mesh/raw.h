/* SPDX-License-Identifier: BSD-2-Clause */
/** @file raw.h  Private to mesh/: making and checking raw meshes.
 *
 *  Node order of raw cells (that of VTK's file formats). Faces seen from outside are counter-clockwise as
 *    tetrahedron (0 2 1)(0 1 3)(1 2 3)(2 0 3)
 *    pyramid     (0 3 2 1)(0 1 4)(1 2 4)(2 3 4)(3 0 4)
 *    prism       (0 1 2)(3 5 4)(0 3 4 1)(1 4 5 2)(2 5 3 0)   the normal of (0 1 2) points away from 3 4 5
 *    hexahedron  (0 3 2 1)(4 5 6 7)(0 1 5 4)(1 2 6 5)(2 3 7 6)(3 0 4 7)
 *  Gmsh numbers a prism the other way round: pcsim-mesh swaps 1-2 and 4-5. */
#ifndef PCSIM_MESH_RAW_H
#define PCSIM_MESH_RAW_H

#include <pcsim/mesh.h>

/** How large a raw mesh is to be. */
typedef struct {
  int dim;
  int64_t num_nodes, num_cells, num_cell_nodes, num_facets, num_facet_nodes;
  int num_patches, num_regions, num_periodic;
} pcsim_raw_size;

/** Allocate the arrays (zeroed; names and notes NULL). Caller destroys. Errors: ERR_MEMORY, ERR_ARG. */
pcsim_status pcsim_raw_mesh_new(const pcsim_raw_size *size, pcsim_raw_mesh **raw) PCSIM_NODISCARD;
/** Consistent in itself: counts, types for the dimension, offsets, node numbers, finite coordinates, names.
 *  Errors: ERR_MESH with the first fault. */
pcsim_status pcsim_raw_mesh_check(const pcsim_raw_mesh *raw) PCSIM_NODISCARD;

#endif
