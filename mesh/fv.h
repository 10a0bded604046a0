/* SPDX-License-Identifier: BSD-2-Clause */
/** @file fv.h  Private to mesh/: the parts of a finite-volume mesh and the stages that make it.
 *
 *  Stages of pcsim_mesh_create, rank 0 first:
 *    shape.c    tables of faces and edges of each cell type
 *    geometry.c volumes, centres, area vectors
 *    connect.c  which cells and facets share a face (raw numbering), with every check
 *    order.c    recursive coordinate bisection and reverse Cuthill-McKee: raw -> global numbering
 *    part.c     what each rank needs, sent to it
 *    build.c    on every rank: faces, geometry, near cells
 *    halo.c     who sends what to whom, exchange */
#ifndef PCSIM_MESH_FV_H
#define PCSIM_MESH_FV_H

#include <pcsim/mesh.h>

/* ------------------------------------------------------------- cell shapes */

/** Faces and edges of a cell type; local node numbers, faces seen from outside counter-clockwise (in 2D
 *  a face is an edge of the counter-clockwise polygon). */
typedef struct {
  int dim, num_nodes, num_faces, num_edges;
  uint8_t face_size[6];
  uint8_t face[6][4];
  uint8_t edge[12][2];
} pcsim_cell_shape;
extern const pcsim_cell_shape pcsim_cell_shapes[PCSIM_NUM_CELL_TYPES];

/** Nodes of face `f` of a cell with these nodes; returns how many. */
int pcsim_cell_face_nodes(pcsim_cell_type type, const int32_t *cell_nodes, int f, int32_t face[4]);

/* ---------------------------------------------------------------- geometry */

/** Area vector and centre of a face from its nodes in order (2: edge in the plane, 3, 4). A quad is four
 *  triangles around the average of its nodes. */
void pcsim_face_geometry(const double *nodes, const int32_t *face, int n, double area[3], double centre[3]);
/** Volume and centre of the polyhedron bounded by those same triangles (2D: area of the polygon). A cell
 *  of volume 0 gets the average of its nodes as centre. */
void pcsim_cell_geometry(const double *nodes, pcsim_cell_type type, const int32_t *cell, double *volume,
                         double centre[3]);

/* --------------------------------------------- connection, in raw numbering */

/** Across each face of each cell. Lives on rank 0 while a mesh is made. */
typedef struct {
  const pcsim_raw_mesh *raw;
  double *centre;      /**< [num_cells][3] */
  int stride;          /**< most faces of any cell */
  int32_t *link;       /**< [num_cells][stride] cell on the other side, or -1 - patch of the raw mesh; unused
                            places are negative */
  int64_t *patch_size; /**< [raw patches] boundary faces */
  int64_t num_interior_faces, num_boundary_faces, num_used_nodes;
} pcsim_mesh_links;
/** Find all faces and check the mesh. Errors: ERR_MESH (names the cell), ERR_MEMORY. */
pcsim_status pcsim_mesh_connect(const pcsim_raw_mesh *raw, pcsim_mesh_links *links) PCSIM_NODISCARD;
void pcsim_mesh_links_free(pcsim_mesh_links *links);

/** Global numbering. */
typedef struct {
  int32_t *raw_of_global; /**< [num_cells] */
  int32_t *global_of_raw; /**< [num_cells] */
  int64_t *rank_start;    /**< [ranks + 1] */
} pcsim_mesh_order;
/** Bisect into ranks along the longest side of the box of centres (ties by cell number), then number
 *  each part by reverse Cuthill-McKee over its faces. */
pcsim_status pcsim_mesh_order_make(const pcsim_mesh_links *links, int ranks,
                                   pcsim_mesh_order *order) PCSIM_NODISCARD;
void pcsim_mesh_order_free(pcsim_mesh_order *order);

/* ------------------------------------------------------------------- parts */

/** What one rank gets: owned cells, then ghosts in ascending global number. */
typedef struct {
  int64_t num_cells, num_ghosts, first_cell;
  int64_t num_nodes;     /**< of owned cells; they come first */
  int64_t num_nodes_all; /**< of ghosts too */
  int64_t num_cell_nodes, num_links;
  uint8_t *cell_type;     /**< [num_cells + num_ghosts] */
  int32_t *cell_region;   /**< [num_cells + num_ghosts] */
  int64_t *cell_original; /**< [num_cells + num_ghosts] */
  int32_t *cell_node;     /**< [num_cell_nodes] local nodes of owned and ghost cells */
  int32_t *link;          /**< [num_links] of owned cells: global cell, or -1 - patch */
  int64_t *ghost_global;  /**< [num_ghosts] */
  double *node;           /**< [num_nodes_all][3] */
  int64_t *node_global;   /**< [num_nodes_all] */
  int32_t *node_patch;    /**< [num_nodes_all] patch at the node or PCSIM_NODE_* */
} pcsim_mesh_part;
void pcsim_mesh_part_free(pcsim_mesh_part *part);

/** Names that every rank holds. */
typedef struct {
  int num_patches, num_regions;
  char **patch, **region;
  int64_t *patch_size; /**< [num_patches] global */
} pcsim_mesh_names;

/** Per rank: cells that it needs as ghosts (global numbers, ascending). On rank 0. */
typedef struct {
  int64_t *start; /**< [ranks + 1] */
  int32_t *cell;
} pcsim_mesh_ghosts;
pcsim_status pcsim_mesh_ghosts_find(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                                    pcsim_mesh_ghosts *ghosts) PCSIM_NODISCARD;
/** Hand every rank its part. Collective; `links`, `order`, `ghosts` matter on rank 0. `patch_map` is the
 *  view's patch of each patch of the raw mesh. */
pcsim_status pcsim_mesh_part_distribute(MPI_Comm comm, const pcsim_mesh_links *links,
                                        const pcsim_mesh_order *order, const pcsim_mesh_ghosts *ghosts,
                                        const int32_t *patch_map, pcsim_mesh_part *part) PCSIM_NODISCARD;

/* -------------------------------------------------------------------- halo */

typedef struct {
  int num_recv, num_send;
  int *recv_rank, *send_rank;       /**< ascending */
  int64_t *recv_start, *send_start; /**< [num + 1]; recv counts ghosts */
  int32_t *send_cell;               /**< owned cells, grouped by rank */
  MPI_Request *requests;            /**< [num_recv + num_send] */
  double *buffer;                   /**< [sends][buffer_width] */
  int buffer_width;
} pcsim_mesh_halo;
pcsim_status pcsim_mesh_halo_make(pcsim_mesh *mesh) PCSIM_NODISCARD;
void pcsim_mesh_halo_free(pcsim_mesh_halo *halo);

/* ------------------------------------------------------------------ locate */

/** Buckets over the box of the owned cells; each lists the cells whose box touches it. */
typedef struct {
  double low[3], width[3]; /**< corner of the grid, size of a bucket */
  int32_t count[3];
  int64_t *start; /**< [buckets + 1] */
  int32_t *cell;
} pcsim_mesh_buckets;
void pcsim_mesh_buckets_free(pcsim_mesh_buckets *buckets);

/* -------------------------------------------------------------------- mesh */

struct pcsim_mesh {
  pcsim_mesh_view view;
  MPI_Comm comm; /**< own duplicate: errors come back as codes */
  int rank, ranks;
  pcsim_mesh_part part;
  pcsim_mesh_names names;
  int64_t raw_num_nodes;
  int64_t *rank_start;
  double *cell_centre, *cell_volume;
  int64_t *cell_node_start;
  int32_t *owner, *neighbour;
  double *face_centre, *face_area;
  int64_t *face_node_start;
  int32_t *face_node;
  int64_t *patch_start;
  int64_t *node_cell_start;
  int32_t *node_cell;
  int64_t *near_start;
  int32_t *near;
  int32_t *raw_of_global; /**< rank 0 of several ranks: place in the raw mesh of every cell; else NULL */
  pcsim_mesh_halo *halo;  /**< apart, since an exchange changes it while the mesh is constant */
  pcsim_mesh_buckets **buckets; /**< filled at the first search */
};

/** Faces, geometry and near cells from the part. Local. */
pcsim_status pcsim_mesh_build(pcsim_mesh *mesh) PCSIM_NODISCARD;
pcsim_status pcsim_mesh_build_near(pcsim_mesh *mesh) PCSIM_NODISCARD;

/** Place in the raw mesh of a global cell; rank 0 only. */
int64_t pcsim_mesh_raw_cell(const pcsim_mesh *mesh, int64_t global);

/* --------------------------------------------------------------------- MPI */

/** A failure of an MPI call as a status. */
pcsim_status pcsim_mesh_mpi_error(int code, const char *file, int line, const char *func);
#define PCSIM_MPI(call)                                                                                      \
  do {                                                                                                       \
    int mpi_code_ = (call);                                                                                  \
    if (mpi_code_ != MPI_SUCCESS) return pcsim_mesh_mpi_error(mpi_code_, __FILE__, __LINE__, __func__);      \
  } while (0)
/** Messages of any length, in pieces that MPI can count. */
pcsim_status pcsim_mesh_send(const void *data, size_t size, int rank, int tag, MPI_Comm comm) PCSIM_NODISCARD;
pcsim_status pcsim_mesh_receive(void *data, size_t size, int rank, int tag, MPI_Comm comm) PCSIM_NODISCARD;

#endif
