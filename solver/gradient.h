/* SPDX-License-Identifier: BSD-2-Clause */
/** @file gradient.h  Private to solver/: cell gradients of m unknowns as sparse linear maps.
 *
 *  Values go to the nodes by linear least squares over the cells around them, and from the nodes to the cells
 *  by least squares over the cell's nodes: the support of all node neighbours at a sixth of the cost. Nodes
 *  of a boundary where a value is given hold that value. Other cells at a boundary fit their node neighbours
 *  and the given values of their boundary faces directly; quadrilaterals and hexahedra fit their face
 *  neighbours. Exact for linear fields on any mesh. Which stencil a cell gets depends on the cells around it
 *  alone, never on the partition.
 *
 *  Unknowns that the same boundary faces fix are a class: interior cells have one map for all, cells at a
 *  boundary one for each class. Letters of array shapes: n owned cells, nt cells with ghosts, nb boundary
 *  faces, d dimension, C classes. */
#ifndef PCSIM_SOLVER_GRADIENT_H
#define PCSIM_SOLVER_GRADIENT_H

#include <pcsim/dual.h>
#include <pcsim/mesh.h>

/* Compiled a second time with dual numbers (gradient_dual.c), for derivatives by the places of nodes. */
#ifdef PCSIM_DUAL
#define map_begin map_begin_dual
#define map_begin_row map_begin_row_dual
#define map_add map_add_dual
#define map_end map_end_dual
#define map_free map_free_dual
#define fit_add fit_add_dual
#define fit_value fit_value_dual
#define fit_gradient fit_gradient_dual
#define gradient_create gradient_create_dual
#define gradient_destroy gradient_destroy_dual
#define gradient_apply gradient_apply_dual
#endif

/** Rows of a sparse linear map: value of row = sum of weight * value of column. */
typedef struct {
  int64_t num_rows;
  int32_t *row;       /**< [num_rows] target (node or cell) */
  int64_t *start;     /**< [num_rows + 1] */
  int32_t *column;    /**< local cell, node or boundary face */
  pcsim_real *weight; /**< [nnz][width] */
  int width;          /**< weights a column: 1 to nodes, d to cell gradients */
} linear_map;

/** A map that grows row by row. */
typedef struct {
  linear_map map;
  int64_t rows_room, columns_room;
} map_builder;
/** An empty map; `width` weights a column. */
pcsim_status map_begin(map_builder *b, int width) PCSIM_NODISCARD;
pcsim_status map_begin_row(map_builder *b, int32_t row) PCSIM_NODISCARD;
/** One more column of the last row; weight [width]. */
pcsim_status map_add(map_builder *b, int32_t column, const pcsim_real *weight) PCSIM_NODISCARD;
/** Hand the map over without the unused room. */
pcsim_status map_end(map_builder *b, linear_map *map) PCSIM_NODISCARD;
void map_free(linear_map *map);

/** Points of a linear least-squares fit; `num` is 0 before the first fit_add, the rest need not be set. */
enum { FIT_MAX = 512 };
typedef struct {
  int num;
  int32_t column[FIT_MAX];  /**< cell or node, or -1 - (boundary face) */
  pcsim_real x[FIT_MAX][3]; /**< relative to the target */
  pcsim_real w[FIT_MAX];
} fit_data;
/** Weight 1/r^power, power 1 or 2. Points beyond FIT_MAX are left out. */
void fit_add(fit_data *fit, int32_t column, const pcsim_real *point, const pcsim_real *target, int power);
/** Weights [num] of the value at the target; false if it is not unique or extrapolates far. */
bool fit_value(const fit_data *fit, int dim, pcsim_real *weight);
/** Weights [num][dim] of the gradient at the target whose own value is known: grad = sum w (phi_k - phi). */
bool fit_gradient(const fit_data *fit, int dim, pcsim_real *weight);

/** What the nodes of a boundary are for a class. */
typedef enum {
  GRADIENT_NODE_NONE,  /**< no value: the cells beside fit their neighbours */
  GRADIENT_NODE_CELLS, /**< a value fitted from the cells around */
  GRADIENT_NODE_GIVEN  /**< a given value */
} gradient_node;

/** Where the parts of a mesh are and how they move: arrays of the names of the mesh. */
typedef struct {
  const pcsim_dual *cell_centre, *face_centre, *face_area, *node;
} dual_places;

/** What is asked for; borrowed during gradient_create. */
typedef struct {
  const pcsim_mesh *mesh;
  int num_classes;
  const uint8_t *fixed;    /**< [nb][C] 1: the face fixes the unknowns of the class */
  const uint8_t *node;     /**< [patches][C] gradient_node; a patch with NONE has NONE for all classes */
  const int32_t *material; /**< [nt] cells of another one stay out of a fit; NULL: one material */
  const dual_places *dual; /**< of derivatives; else NULL */
  int face_degree; /**< given values of boundary faces are means over the points of quadrature_of_face of
                        this degree; up to 1: values at their centres */
} gradient_request;

/** The places that one of the two compilations calculates with. */
typedef struct {
  const pcsim_real *cell_centre, *face_centre, *face_area, *node;
} gradient_places;
static inline gradient_places gradient_places_of(const gradient_request *request) {
#ifdef PCSIM_DUAL
  const dual_places *from = request->dual;
#else
  const pcsim_mesh_view *from = pcsim_mesh_get(request->mesh);
#endif
  return (gradient_places){from->cell_centre, from->face_centre, from->face_area, from->node};
}

/** The maps. */
typedef struct {
  int dim, num_classes;
  linear_map node;        /**< cells to nodes, all unknowns */
  linear_map *class_node; /**< [C] cells to boundary nodes, unknowns of one class */
  int64_t num_given;      /**< boundary nodes at which at least one class is given */
  int32_t *given;         /**< [num_given] the nodes */
  uint8_t *given_class;   /**< [num_given][C] 1: this class is */
  linear_map cell;        /**< nodes to cells, all unknowns */
  linear_map direct;      /**< cells to cells, all unknowns */
  linear_map *class_cell; /**< [C] cells to cells at a boundary, unknowns of one class */
  linear_map *class_face; /**< [C] given values of boundary faces to those cells */
  pcsim_real *share;      /**< [nb][C] where fixed: slope at the wall = two + share (two - fitted), `two` the
                             quotient between cell and face, `fitted` the cell's gradient: exact for parabolas */
  int64_t num_nodes;
} gradient_maps;

/** Local. Errors: ERR_MESH (a cell whose neighbours lie on a line or plane; names it), ERR_MEMORY. */
pcsim_status gradient_create(const gradient_request *request, gradient_maps *maps) PCSIM_NODISCARD;
void gradient_destroy(gradient_maps *maps);

/** Data of one application. */
typedef struct {
  int m;                  /**< unknowns, >= 1 */
  const int *class_of;    /**< [m] */
  const pcsim_real *face; /**< [nb][m] given values of boundary faces; NULL: zeros */
  const pcsim_real *node; /**< [num_given][m] given values of boundary nodes; NULL: zeros */
  pcsim_real *node_value; /**< [num_nodes][m] workspace */
} gradient_data;
/** grad [n][m][d] = gradients of q [nt][m]; ghosts of q are filled. */
void gradient_apply(const gradient_maps *maps, const gradient_data *data, const pcsim_real *q,
                    pcsim_real *grad);

/** d_grad [n][m][d] along derivatives `d` of the maps (gradient_tangent_create) and d_q [nt][m] of q, NULL: q
 *  stays; the given values of `data` stay. */
void gradient_tangent_apply(const gradient_maps *maps, const gradient_maps *d, const gradient_data *data,
                            const double *q, const double *d_q, double *d_grad);
/** What the transposed maps add to. */
typedef struct {
  int m;
  const int *class_of; /**< [m] */
  double *q;           /**< [nt][m] */
  double *face;        /**< [nb][m] to given values of boundary faces; NULL: left out */
  double *node;        /**< [num_given][m] to given values of boundary nodes; NULL: left out */
  double *node_value;  /**< [num_nodes][m] workspace */
} gradient_cotangent;
/** Add the transposed maps times grad [n][m][d] (rows of owned cells). What comes to ghosts belongs to their
 *  owners: pcsim_mesh_exchange_add. */
void gradient_apply_transposed(const gradient_maps *maps, const gradient_cotangent *to, const double *grad);

#endif
