/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mesh.h  Finite-volume meshes: making, reading, partition and halo, quality. */
#ifndef PCSIM_MESH_H
#define PCSIM_MESH_H

#include <pcsim/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Cell and facet types, with their VTK numbers' node order. */
typedef enum {
  PCSIM_CELL_SEGMENT,  /**< facet of a 2D mesh */
  PCSIM_CELL_TRIANGLE, /**< counter-clockwise seen from +z in 2D */
  PCSIM_CELL_QUAD,
  PCSIM_CELL_TETRA,
  PCSIM_CELL_PYRAMID,
  PCSIM_CELL_PRISM,
  PCSIM_CELL_HEXA,
  PCSIM_NUM_CELL_TYPES
} pcsim_cell_type;
int pcsim_cell_num_nodes(pcsim_cell_type type);
int pcsim_cell_vtk_type(pcsim_cell_type type);
const char *pcsim_cell_name(pcsim_cell_type type);

/* ------------------------------------------------------------- raw meshes */

/** A mesh as it comes from the mesher: nodes, cells, named boundary facets. Lives on one rank. */
typedef struct {
  int dim; /**< 2 or 3 */
  int64_t num_nodes;
  double *nodes; /**< [num_nodes][3], m; z = 0 in 2D */
  int64_t num_cells;
  uint8_t *cell_type;  /**< [num_cells], pcsim_cell_type */
  int64_t *cell_start; /**< [num_cells + 1] into cell_nodes */
  int32_t *cell_nodes;
  int32_t *cell_region; /**< [num_cells], index into regions */
  int64_t num_facets;
  uint8_t *facet_type;
  int64_t *facet_start; /**< [num_facets + 1] */
  int32_t *facet_nodes;
  int32_t *facet_patch; /**< [num_facets], index into patches */
  int num_patches;
  char **patches; /**< names of boundaries */
  int num_regions;
  char **regions; /**< names of materials; at least one ("fluid" when the file names none) */
  int num_periodic;
  int32_t *periodic; /**< [num_periodic][2] pairs of patches: the second is the first moved by one
                          translation; a patch is in one pair at most */
  char *notes; /**< what the reader changed ("second-order cells reduced to first order"), one per line; "" if
                  nothing */
} pcsim_raw_mesh;

/** A plane mesh of n[0] by n[1] equal rectangles over range[2][2], of which those are left out whose `kept`
 * [n[1]] [n[0]] is false (NULL: none); all of its boundary is named "boundary". Caller destroys. Errors:
 * ERR_ARG, ERR_MESH (no cell is left). */
pcsim_status pcsim_raw_mesh_lattice(const double range[2][2], const int n[2], const bool *kept,
                                    pcsim_raw_mesh **raw) PCSIM_NODISCARD;
/** Every cell cut into cells of half its size (4 in 2D, 8 in 3D, 10 of a pyramid), facets along with them;
 *  new nodes lie in the middle of edges, faces and cells, so that the domain stays the same polyhedron. The
 *  parts of a cell follow each other in the order of the cells. Caller destroys. Errors: ERR_MEMORY, ERR_MESH
 *  (too many cells). */
pcsim_status pcsim_raw_mesh_refine(const pcsim_raw_mesh *raw, pcsim_raw_mesh **fine) PCSIM_NODISCARD;
/** Move the new boundary nodes of `fine`, made of `raw` by pcsim_raw_mesh_refine, from their edges to the
 * curves that neighbouring edges of the same boundary suggest (cubics; angles of more than 40 degrees are
 * corners): what a polygon loses of a smooth boundary, to second order. `*most`: the largest move over the
 * length of its edge. Plane meshes; in space nothing moves. Errors: ERR_ARG, ERR_MEMORY. */
pcsim_status pcsim_raw_mesh_round(const pcsim_raw_mesh *raw, pcsim_raw_mesh *fine,
                                  double *most) PCSIM_NODISCARD;
/** How all nodes follow the boundaries that move. `displacement` [num_nodes][3] holds that of the nodes of
 *  those; the others are filled in. A boundary that does not move stays, or slides in its planes (edges of
 * two planes, corners not at all) if it has nodes in common with one that moves; nodes inside are
 * interpolated by their distances to the boundaries (Luke, Collins and Blades, J. Comput. Phys. 231, 2012).
 * Linear in what is given, so that derivatives of displacements are carried by the same call.
 *  @param[in] moves  [num_patches]
 *  Errors: ERR_CASE (out of the plane of a boundary that slides; partners across a period that part),
 *  ERR_MEMORY, ERR_MESH (more than 2^31 nodes on boundaries). */
pcsim_status pcsim_raw_mesh_extend(const pcsim_raw_mesh *raw, const bool *moves,
                                   double *displacement) PCSIM_NODISCARD;
/** Add a displacement [num_nodes][3] to the nodes. Errors: ERR_CASE (a cell turned inside out; names it). */
pcsim_status pcsim_raw_mesh_move(pcsim_raw_mesh *raw, const double *displacement) PCSIM_NODISCARD;
/** Number of parts that pcsim_raw_mesh_refine makes of a cell or facet; 0 for an unknown type. */
int pcsim_cell_num_parts(pcsim_cell_type type);

/** The hand-over file between pcsim-mesh and pcsim: binary, checksummed, written whole or not at all. */
pcsim_status pcsim_raw_mesh_write(const pcsim_raw_mesh *raw, const char *path) PCSIM_NODISCARD;
/** Refuses truncated, foreign or damaged files (ERR_MESH, ERR_IO). Caller destroys. */
pcsim_status pcsim_raw_mesh_read(const char *path, pcsim_raw_mesh **raw) PCSIM_NODISCARD;
void pcsim_raw_mesh_destroy(pcsim_raw_mesh **raw);

/* --------------------------------------------------------- specifications */

/** What the case's `mesh:` asks for, checked and completed. */
typedef struct pcsim_mesh_spec pcsim_mesh_spec;
/** One parametric shape: name, help and the keys it understands beside the common ones. */
typedef struct {
  const char *name;
  const char *help;
  const pcsim_key *keys;
  size_t num_keys;
} pcsim_shape;
const pcsim_shape *pcsim_shape_list(size_t *n);

/** Keys of `mesh:` that every shape and a file share; `*n` gets how many. */
const pcsim_key *pcsim_mesh_keys(size_t *n);
/** Read `mesh:` (its own key tables), and which `boundaries:` are `{periodic: OTHER}`. Problems go to the
 * tree;
 *  `*spec` is NULL then. Caller destroys. */
pcsim_status pcsim_mesh_spec_read(pcsim_tree *tree, pcsim_mesh_spec **spec) PCSIM_NODISCARD;
/** Scale every size by `factor` (0.5: twice as fine), for mesh studies. Fails (ERR_CASE) for a file. */
pcsim_status pcsim_mesh_spec_refine(pcsim_mesh_spec *spec, double factor) PCSIM_NODISCARD;
/** Sizes of cells that something outside asks for (an estimate of errors on another mesh, a surrogate): no
 * cell is to be larger than the least of size[i] + growth |x - point[i]|, which needs values at centres of
 * cells only and no order among them. Beside what the shape and `near:` ask for. */
typedef struct {
  int64_t num;
  const double *point; /**< [num][3], m; z = 0 in the plane */
  const double *size;  /**< [num], m, positive: of triangles and tetrahedra the length of an edge */
  double growth;       /**< of the size with the distance, positive; 0.2 is usual */
} pcsim_mesh_sizes;
/** Take these sizes, copied, in place of those of `sizes:`. Errors: ERR_ARG (numbers), ERR_CASE (the mesh is
 * a file), ERR_MEMORY; pcsim_mesh_spec_generate refuses them for cells that follow lines. */
pcsim_status pcsim_mesh_spec_set_sizes(pcsim_mesh_spec *spec, const pcsim_mesh_sizes *sizes) PCSIM_NODISCARD;
/** True if it names a file, not a shape. */
bool pcsim_mesh_spec_is_file(const pcsim_mesh_spec *spec);
void pcsim_mesh_spec_destroy(pcsim_mesh_spec **spec);
/** Run pcsim-mesh as a child (call on one rank) to make the raw mesh file `out`; also a Gmsh file
 *  `msh` if not NULL (msh 2.2 ASCII). Errors: what the child printed (ERR_CASE, ERR_MESH, ERR_IO), or
 *  ERR_ENV when it crashed, hung past its limit or could not start. */
pcsim_status pcsim_mesh_spec_generate(const pcsim_mesh_spec *spec, const char *out,
                                      const char *msh) PCSIM_NODISCARD;

/* ------------------------------------------------- finite-volume mesh */

/** Values of node_patch that are no patch. */
enum { PCSIM_NODE_INTERIOR = -1, PCSIM_NODE_SEVERAL = -2 };

/** A distributed face-based mesh. Every cell is owned by one rank; ghosts are all cells of other
 *  ranks that share a node with an owned cell.
 *
 *  Periodic boundaries become interior faces, by images: a cell that touches an owned cell across a period is
 *  a ghost too, moved by the period, on every rank and even on one rank alone. A face on a periodic boundary
 *  is there twice, once at each end, with one image each; as for any ghost, what flows through it is added to
 *  owned cells only. Everything that is built from the centres of faces and cells holds across a period with
 * no further thought. */
typedef struct pcsim_mesh pcsim_mesh;

/** The arrays of a mesh; borrowed, constant until the mesh is destroyed. Vectors have three
 *  components, z = 0 in 2D. In 2D "volume" is area and "area" is length (unit depth). */
typedef struct {
  int dim;
  int64_t num_cells;  /**< owned */
  int64_t num_ghosts; /**< cells num_cells .. num_cells + num_ghosts - 1 */
  int64_t num_cells_global;
  int64_t num_faces_global;    /**< each face once */
  int64_t num_nodes_global;    /**< nodes that a cell uses */
  int64_t first_cell;          /**< global number of owned cell 0; owned cells are contiguous */
  const int64_t *rank_start;   /**< [ranks + 1] global number of the first cell of each rank */
  const int64_t *ghost_global; /**< [num_ghosts], ascending; with periods a number may be there several times,
                                    and may be that of an owned cell */
  const double *ghost_shift; /**< [num_ghosts][3] by how much a ghost is moved: 0 but for images; NULL without
                                  periods */
  const int32_t *ghost_same; /**< [num_ghosts] the local cell that stands for all with this global number:
                                  the owned one, else the first of the ghosts. For systems of equations. */
  const double *cell_centre; /**< [num_cells + num_ghosts][3] */
  const double *cell_volume; /**< [num_cells + num_ghosts] */
  const int32_t *cell_region;   /**< [num_cells + num_ghosts] */
  const int64_t *cell_original; /**< [num_cells + num_ghosts] place in the raw mesh */

  int64_t num_faces;          /**< interior first, then boundary faces sorted by patch */
  int64_t num_interior_faces; /**< with at least one owned side; owner may be a ghost; ordered by the lower
                                   local cell of the two sides, then by the other */
  const int32_t *owner; /**< [num_faces] local cell; of two sides the one with the lower global number; of a
                             cell and its own image the one further back along the period */
  const int32_t *neighbour;  /**< [num_interior_faces] local cell */
  const double *face_centre; /**< [num_faces][3] */
  const double *face_area;   /**< [num_faces][3] area vector, from owner to neighbour or outwards; two ranks
                                  that share a face hold the same bits */
  int num_patches;           /**< boundaries with at least one face */
  const char *const *patch_name;    /**< [num_patches], the same on every rank */
  const int64_t *patch_start;       /**< [num_patches + 1] face numbers, first is num_interior_faces */
  const int64_t *patch_size_global; /**< [num_patches] */
  int num_regions;
  const char *const *region_name;
  int num_periodic;                 /**< pairs of periodic boundaries; they are no patches */
  const char *const *periodic_name; /**< [num_periodic][2] */
  const double *period;             /**< [num_periodic][3] translation from the first to the second */

  int64_t num_nodes;              /**< nodes of owned cells */
  const double *node;             /**< [num_nodes][3] */
  const int64_t *node_global;     /**< [num_nodes] number in the raw mesh */
  const uint8_t *cell_type;       /**< [num_cells] */
  const int64_t *cell_node_start; /**< [num_cells + 1] */
  const int32_t *cell_node;       /**< local nodes, VTK order */
  const int64_t *face_node_start; /**< [num_faces + 1] */
  const int32_t *face_node;       /**< local nodes in cyclic order, right-handed to the area vector; faces of
                                       owned cells only use local nodes */

  const int64_t *node_cell_start; /**< [num_nodes + 1] cells around each node, ghosts too */
  const int32_t *node_cell;       /**< local numbers, ascending by global number (images of owned cells
                                       after those) */
  const int32_t *node_patch;      /**< [num_nodes] patch of the boundary faces (of any rank, or at the node's
                                     other places across periods) at the node;
                                     PCSIM_NODE_*      where there is none or are several */

  const int64_t
      *near_start;     /**< [num_cells + 1] cells that share a node with an owned cell, itself excluded */
  const int32_t *near; /**< local numbers (ghosts too), in the order of node_cell */
} pcsim_mesh_view;

/** Collective. Rank 0 passes the raw mesh (others NULL): faces, checks (inverted, degenerate,
 *  unattached or duplicate cells, boundary facets without name or cell: ERR_MESH naming the cell and its
 *  coordinates), reordering (reverse Cuthill-McKee), recursive coordinate bisection, halo. The faces of
 *  periodic pairs are matched (ERR_MESH names the first without a partner); their nodes may miss each other
 * by a millionth of a face and are moved onto each other. The raw mesh stays the caller's. Caller destroys
 * the mesh. The same raw mesh and rank count give the same mesh. */
pcsim_status pcsim_mesh_create(MPI_Comm comm, const pcsim_raw_mesh *raw, pcsim_mesh **mesh) PCSIM_NODISCARD;
void pcsim_mesh_destroy(pcsim_mesh **mesh);
const pcsim_mesh_view *pcsim_mesh_get(const pcsim_mesh *mesh);
MPI_Comm pcsim_mesh_comm(const pcsim_mesh *mesh);
/** Index of a patch by name, -1 if absent. */
int pcsim_mesh_find_patch(const pcsim_mesh *mesh, const char *name);
/** Patch of a local face, -1 for an interior one. */
int pcsim_mesh_face_patch(const pcsim_mesh *mesh, int64_t face);

/** Copy owned values into the ghosts of all ranks, images too. Collective. `values` is
 *  [num_cells + num_ghosts][width] double. No allocation after the first call with a width. */
pcsim_status pcsim_mesh_exchange(const pcsim_mesh *mesh, int width, double *values) PCSIM_NODISCARD;
/** The transpose: what stands in the ghosts is added to the owned values of other ranks; ghosts keep theirs.
 *  Sums are taken in the order of the ranks. Arguments, allocation as pcsim_mesh_exchange. Collective. */
pcsim_status pcsim_mesh_exchange_add(const pcsim_mesh *mesh, int width, double *values) PCSIM_NODISCARD;
/** Collect owned values [num_cells][width] on rank 0 as `all` [num_cells_global][width] in the order of
 *  the raw mesh; `all` may be NULL elsewhere. Collective. */
pcsim_status pcsim_mesh_gather(const pcsim_mesh *mesh, int width, const double *values,
                               double *all) PCSIM_NODISCARD;
/** The way back: from `all` on rank 0 to owned values (not to ghosts: exchange does that). Collective. */
pcsim_status pcsim_mesh_scatter(const pcsim_mesh *mesh, int width, const double *all,
                                double *values) PCSIM_NODISCARD;
/** Put the raw mesh together again on rank 0 (`*raw` is NULL elsewhere): cells in raw order, node numbers
 *  as they were (a node that no cell uses lies on the first used one), facets of the boundary only. Its
 *  patches are those of the view: periodic boundaries are not among them. Collective. Caller destroys. */
pcsim_status pcsim_mesh_gather_geometry(const pcsim_mesh *mesh, pcsim_raw_mesh **raw) PCSIM_NODISCARD;
/** Owned cell that holds the point, or the nearest by centre over all ranks if none does (then
 *  `*inside` is false). Collective; `*rank` is the owner, `*cell` valid there only. */
pcsim_status pcsim_mesh_locate(const pcsim_mesh *mesh, const double point[3], int *rank, int64_t *cell,
                               bool *inside) PCSIM_NODISCARD;

/* ------------------------------------------------------- derivatives by shape */

/** How the geometry changes with a number that the nodes depend on, the topology being kept: derivatives of
 *  the arrays of the same names of a mesh, and as long as those. */
typedef struct {
  double *node;        /**< [num_nodes][3] */
  double *cell_centre; /**< [num_cells + num_ghosts][3] */
  double *cell_volume; /**< [num_cells + num_ghosts] */
  double *face_centre; /**< [num_faces][3] */
  double *face_area;   /**< [num_faces][3] */
} pcsim_mesh_tangent;
/** From that of the nodes of the raw mesh, `displacement` [raw num_nodes][3] on rank 0 (others NULL);
 * partners across periods move alike. Exact: the geometry is evaluated with dual numbers. Collective. Caller
 * frees with pcsim_mesh_tangent_free. Errors: ERR_MEMORY, ERR_LIBRARY. */
pcsim_status pcsim_mesh_tangent_create(const pcsim_mesh *mesh, const double *displacement,
                                       pcsim_mesh_tangent *tangent) PCSIM_NODISCARD;
void pcsim_mesh_tangent_free(pcsim_mesh_tangent *tangent);

/* ------------------------------------------------- from one mesh to another */

/** Which parts of the cells of one mesh make up the cells of another. */
typedef struct pcsim_transfer pcsim_transfer;
/** Cells are cut with each other, so that means over cells come out conservatively: where both meshes fill
 * the same domain the integral of a field over it stays what it was. Every rank holds the geometry of `from`
 * while this runs, and a part (48 bytes) for each pair of cells that meet. `from` is borrowed; both have the
 * same communicator. Collective. Caller destroys. Errors: ERR_CASE (a mesh in the plane and one in space),
 * ERR_MESH (a cell too distorted to be cut), ERR_MEMORY. Source: Farrell et al., Comput. Methods Appl. Mech.
 * Eng. 198, 2009. */
pcsim_status pcsim_transfer_create(const pcsim_mesh *from, const pcsim_mesh *to,
                                   pcsim_transfer **transfer) PCSIM_NODISCARD;
void pcsim_transfer_destroy(pcsim_transfer **transfer);
/** Least share of a cell of `to` that `from` covers, over all ranks: 1 where both fill the same domain. What
 * is not covered follows the slope beside it; a cell that is not reached at all takes the nearest cell's
 * value. */
double pcsim_transfer_covered(const pcsim_transfer *transfer);
/** Means over the owned cells of `to`, out [num_cells], of a field on `from`: value [num_cells] at centres
 * and gradient [num_cells][3] (unit of the value / m), or NULL for a field that is constant in each cell;
 * caller's arrays. Exact for linear fields. Collective. Errors: ERR_MEMORY, ERR_LIBRARY. */
pcsim_status pcsim_transfer_apply(const pcsim_transfer *transfer, const double *value, const double *gradient,
                                  double *out) PCSIM_NODISCARD;

/** One measure of quality over the whole mesh. */
typedef struct {
  double min, mean, max;
  double worst_value[5];     /**< the worst five, worst first */
  double worst_centre[5][3]; /**< their cell (or face) centres */
  int64_t worst_cell[5];     /**< number in the raw mesh */
  int num_worst;
} pcsim_quality_measure;
typedef struct {
  int64_t num_cells, num_faces, num_nodes;
  int64_t count[PCSIM_NUM_CELL_TYPES]; /**< cells by type */
  double volume;                       /**< sum of the cells */
  double size_min, size_max;           /**< volume^(1/dim) */
  /* The first three are measured on interior faces and name the owner; all are 0 if there is none. */
  pcsim_quality_measure non_orthogonality; /**< degrees between face area and centre line */
  pcsim_quality_measure skewness;          /**< |face centre - intersection| / |centre line| */
  pcsim_quality_measure volume_ratio;      /**< larger over smaller volume across a face */
  pcsim_quality_measure aspect_ratio;      /**< longest over shortest edge of a cell */
} pcsim_mesh_quality;
/** Collective; every rank gets the result. */
pcsim_status pcsim_mesh_quality_compute(const pcsim_mesh *mesh, pcsim_mesh_quality *quality) PCSIM_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
