/* SPDX-License-Identifier: BSD-2-Clause */
/** @file fv.h  Private to mesh/: the parts of a finite-volume mesh and the stages that make it.
 *
 *  Stages of pcsim_mesh_create, rank 0 first:
 *    shape.c    tables of faces and edges of each cell type
 *    geometry.c volumes, centres, area vectors
 *    connect.c  which cells and facets share a face (raw numbering), with every check
 *    periodic.c which faces and nodes of periodic boundaries are the same
 *    order.c    recursive coordinate bisection and reverse Cuthill-McKee: raw -> global numbering
 *    part.c     what each rank needs, sent to it
 *    build.c    on every rank: faces, geometry, near cells
 *    halo.c     who sends what to whom, exchange */
#ifndef PCSIM_MESH_FV_H
#define PCSIM_MESH_FV_H

#include <pcsim/dual.h>
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

/** The same with derivatives along those of the nodes. */
void pcsim_face_geometry_dual(const pcsim_dual *nodes, const int32_t *face, int n, pcsim_dual area[3],
                              pcsim_dual centre[3]);
void pcsim_cell_geometry_dual(const pcsim_dual *nodes, pcsim_cell_type type, const int32_t *cell,
                              pcsim_dual *volume, pcsim_dual centre[3]);

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

/* ----------------------------------------------------------------- periods */

/** Shift of an image in base 3: digit k is 1 + how often period k is added, -1 to 1. */
enum { PCSIM_MAX_PERIODS = 3, PCSIM_NUM_SHIFTS = 27, PCSIM_SHIFT_NONE = 13 };
static inline uint8_t pcsim_shift_back(uint8_t shift) { return (uint8_t)(PCSIM_NUM_SHIFTS - 1 - shift); }

/** A face of a cell on a periodic boundary and what is beyond it. */
typedef struct {
  uint32_t side; /**< 8 * cell + face of the cell */
  int32_t cell;  /**< the cell beyond (raw) ... */
  uint8_t shift; /**< ... once it is moved so */
} pcsim_periodic_side;
/** Another place of a node. */
typedef struct {
  int32_t node;  /**< raw node that lies on the first one ... */
  uint8_t shift; /**< ... once it is moved so */
} pcsim_periodic_image;
/** What is the same across periods, in raw numbering. Lives on rank 0 while a mesh is made; all NULL and 0
 *  without periodic boundaries. */
typedef struct {
  int num_periods;
  double period[PCSIM_MAX_PERIODS][3];
  double *pair; /**< [raw num_periodic][3] translation of each pair */
  int64_t num_sides;
  pcsim_periodic_side *side; /**< [num_sides] ascending by side */
  int32_t *place;            /**< [raw nodes] index into node, -1 for a node on no periodic boundary */
  int64_t num_nodes;
  int32_t *node;               /**< [num_nodes] */
  int64_t *start;              /**< [num_nodes + 1] images of each */
  pcsim_periodic_image *image; /**< [start[num_nodes]] */
} pcsim_mesh_periodic;
/** Match the boundaries of each pair of `raw` (which `links` belong to), move the nodes of one onto those of
 *  the other (they may be apart by a millionth of a face), and count their faces as interior. Errors:
 * ERR_MESH (a face without partner; periods that are not independent), ERR_MEMORY. */
pcsim_status pcsim_mesh_periodic_find(pcsim_raw_mesh *raw, pcsim_mesh_links *links,
                                      pcsim_mesh_periodic *periodic) PCSIM_NODISCARD;
void pcsim_mesh_periodic_free(pcsim_mesh_periodic *periodic);
/** What is beyond a side on a periodic boundary. */
const pcsim_periodic_side *pcsim_mesh_periodic_beyond(const pcsim_mesh_periodic *periodic, int64_t cell,
                                                      int f);
/** Vector of a shift. */
void pcsim_shift_vector(int num_periods, const double (*period)[3], uint8_t shift, double vector[3]);

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
  int64_t num_nodes;       /**< of owned cells; they come first */
  int64_t num_nodes_all;   /**< of ghosts too; last those of images that lie on no other node */
  int64_t num_nodes_apart; /**< how many those are; rank 0 while it cuts */
  int64_t num_cell_nodes, num_links;
  uint8_t *cell_type;     /**< [num_cells + num_ghosts] */
  int32_t *cell_region;   /**< [num_cells + num_ghosts] */
  int64_t *cell_original; /**< [num_cells + num_ghosts] */
  int32_t *cell_node;     /**< [num_cell_nodes] local nodes of owned and ghost cells */
  int32_t *link;          /**< [num_links] of owned cells: global cell, or -1 - patch, or across a period
                             -1 - (number of patches + ghost) */
  int64_t *ghost_global;  /**< [num_ghosts] */
  uint8_t *ghost_shift;   /**< [num_ghosts] PCSIM_SHIFT_NONE but for images */
  double *node;           /**< [num_nodes_all][3] */
  int64_t *node_global;   /**< [num_nodes_all] */
  int32_t *node_patch;    /**< [num_nodes_all] patch at the node or PCSIM_NODE_* */
} pcsim_mesh_part;
void pcsim_mesh_part_free(pcsim_mesh_part *part);

/** Names that every rank holds. */
typedef struct {
  int num_patches, num_regions, num_periodic;
  char **patch, **region;
  char **periodic;     /**< [num_periodic][2] */
  int64_t *patch_size; /**< [num_patches] global */
  double *period;      /**< [num_periodic][3] translation of each pair */
} pcsim_mesh_names;

/** Per rank: cells that it needs as ghosts, ascending by global number, then shift. On rank 0. */
typedef struct {
  int64_t *start; /**< [ranks + 1] */
  int32_t *cell;  /**< global numbers */
  uint8_t *shift;
} pcsim_mesh_ghosts;
/** Cells of other ranks that share a node with cells of a rank. */
pcsim_status pcsim_mesh_ghosts_find(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                                    pcsim_mesh_ghosts *ghosts) PCSIM_NODISCARD;
/** Add the images that share a node with cells of a rank. */
pcsim_status pcsim_mesh_ghosts_add_images(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                                          const pcsim_mesh_periodic *periodic,
                                          pcsim_mesh_ghosts *ghosts) PCSIM_NODISCARD;
void pcsim_mesh_ghosts_free(pcsim_mesh_ghosts *ghosts);

/** What the parts are cut from; matters on rank 0. */
typedef struct {
  const pcsim_mesh_links *links;
  const pcsim_mesh_periodic *periodic;
  const pcsim_mesh_order *order;
  const pcsim_mesh_ghosts *ghosts;
  int num_patches;          /**< of the view */
  const int32_t *patch_map; /**< the view's patch of each patch of the raw mesh */
} pcsim_mesh_whole;
/** Hand every rank its part. Collective. */
pcsim_status pcsim_mesh_part_distribute(MPI_Comm comm, const pcsim_mesh_whole *whole,
                                        pcsim_mesh_part *part) PCSIM_NODISCARD;

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
  int32_t *ghost_same;
  double *ghost_shift;
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
/** From rank 0 to all. */
pcsim_status pcsim_mesh_broadcast(void *data, size_t size, MPI_Comm comm) PCSIM_NODISCARD;

#endif
