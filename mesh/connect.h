/* SPDX-License-Identifier: BSD-2-Clause */
/** @file connect.h  Private to connect.c and faults.c: what is wrong with a mesh, collected while faces are
 *  matched and reported in one order (the fault closest to the cause first). */
#ifndef PCSIM_MESH_CONNECT_H
#define PCSIM_MESH_CONNECT_H

#include "fv.h"

/** One face of one cell, or a facet, in 32 bits. */
#define PCSIM_SIDE_FACET 0x80000000u
static inline uint32_t pcsim_side_of_cell(int64_t cell, int f) { return (uint32_t)cell * 8u + (uint32_t)f; }
static inline bool pcsim_side_is_facet(uint32_t side) { return (side & PCSIM_SIDE_FACET) != 0; }
static inline int64_t pcsim_side_cell(uint32_t side) { return side >> 3; }
static inline int pcsim_side_face(uint32_t side) { return (int)(side & 7u); }
static inline int64_t pcsim_side_facet(uint32_t side) { return side & ~PCSIM_SIDE_FACET; }
#define PCSIM_MESH_MAX_CELLS (INT64_C(1) << 28)
/** Nodes of a side; returns how many. */
int pcsim_side_nodes(const pcsim_raw_mesh *raw, uint32_t side, int32_t nodes[4]);

/** "(0.5, 1)" */
void pcsim_print_point(const pcsim_raw_mesh *raw, const double x[3], char *text, size_t size);
/** "cell 17 (hexahedron at (0.5, 1, 2))" */
void pcsim_print_cell(const pcsim_raw_mesh *raw, int64_t cell, char *text, size_t size);

/** Kinds of faults of faces, in the order of reporting. */
typedef enum {
  PCSIM_FAULT_CROWDED, /**< face of three or more cells: three sides of cells */
  PCSIM_FAULT_OVERLAP, /**< two cells on the same side of their face: two sides */
  PCSIM_FAULT_APART,   /**< cells that no path of faces joins: a side of one; count is theirs */
  PCSIM_FAULT_LOOSE,   /**< facet that is no face of a cell */
  PCSIM_FAULT_TWICE,   /**< two facets on one face: both facets */
  PCSIM_FAULT_INSIDE,  /**< facet between two cells of one region: facet, both cells */
  PCSIM_FAULT_UNNAMED, /**< boundary face without facet: its side */
  PCSIM_NUM_FAULTS
} pcsim_fault;
typedef struct {
  int64_t count[PCSIM_NUM_FAULTS];
  uint32_t side[PCSIM_NUM_FAULTS][3]; /**< of the fault with the lowest first side */
  int64_t num_interfaces;             /**< facets between regions: allowed, reported */
} pcsim_faults;
void pcsim_faults_add(pcsim_faults *faults, pcsim_fault kind, uint32_t a, uint32_t b, uint32_t c);
/** The first fault as an error, or OK. */
pcsim_status pcsim_faults_report(const pcsim_faults *faults, const pcsim_raw_mesh *raw) PCSIM_NODISCARD;

/** Volumes and centres of all cells, with the checks that need one cell only: a node twice, volume not
 *  above zero. `centre` is [num_cells][3]. */
pcsim_status pcsim_mesh_check_cells(const pcsim_raw_mesh *raw, double *centre) PCSIM_NODISCARD;

#endif
