/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mesher.h  Private to pcsim-mesh: the specification as text, the mesh under construction, sizes,
 *  the shapes. Failures are pcsim_status with a message, as in the library. */
#ifndef PCSIM_MESHER_H
#define PCSIM_MESHER_H

#include "../raw.h"
#include "../spec.h"

/* ---------------------------------------------------------- specification */

/** Lines `key=value` in the order of the file. */
typedef struct mesher_spec mesher_spec;
pcsim_status mesher_spec_read(const char *path, mesher_spec **spec) PCSIM_NODISCARD;
void mesher_spec_destroy(mesher_spec **spec);
/** Value of a key, NULL if absent. Borrowed. */
const char *mesher_spec_text(const mesher_spec *spec, const char *key);
/** Item i as key and value; false past the end. */
bool mesher_spec_item(const mesher_spec *spec, int i, const char **key, const char **value);
/** A number that must be there and finite. Errors: ERR_CASE. */
pcsim_status mesher_spec_number(const mesher_spec *spec, const char *key, double *value) PCSIM_NODISCARD;
/** The same, greater than zero. */
pcsim_status mesher_spec_positive(const mesher_spec *spec, const char *key, double *value) PCSIM_NODISCARD;
/** Exactly `n` numbers separated by commas. */
pcsim_status mesher_spec_numbers(const mesher_spec *spec, const char *key, int n,
                                 double *values) PCSIM_NODISCARD;
/** How many numbers a key has; 0 if absent. */
int mesher_spec_count(const mesher_spec *spec, const char *key);

/* ------------------------------------------------- mesh under construction */

enum {
  MESHER_MAX_HOLES = PCSIM_SHAPE_HOLES,
  MESHER_MAX_PATCHES = 8 + MESHER_MAX_HOLES,
  MESHER_CELL_LIMIT = 100000000,
  MESHER_LINE_LIMIT = 1000000
};

/** Nodes and cells that grow; facets are found at the end. Cells have a stride of 8 nodes, facets of 4. */
typedef struct {
  int dim;
  int64_t num_nodes, max_nodes;
  double *nodes; /**< [num_nodes][3] */
  int64_t num_cells, max_cells;
  uint8_t *cell_type;
  int32_t *cell_nodes;
  int64_t num_facets, max_facets;
  uint8_t *facet_type;
  int32_t *facet_nodes;
  int32_t *facet_patch;
  int num_patches;
  const char *patches[MESHER_MAX_PATCHES]; /**< borrowed, constant texts */
} mesher_mesh;

void mesher_mesh_free(mesher_mesh *mesh);
pcsim_status mesher_add_node(mesher_mesh *mesh, double x, double y, double z, int32_t *node) PCSIM_NODISCARD;
pcsim_status mesher_add_cell(mesher_mesh *mesh, pcsim_cell_type type, const int32_t *nodes) PCSIM_NODISCARD;
/** Name of the patch that the facet with these corners lies on, NULL if on none. */
typedef const char *(*mesher_classify)(const void *context, int n, const double corner[][3]);
/** Find the faces that belong to one cell and name them. A face without a name is ERR_INTERNAL: the parts
 *  of the mesh do not fit together. */
pcsim_status mesher_find_facets(mesher_mesh *mesh, mesher_classify classify,
                                const void *context) PCSIM_NODISCARD;
/** Every cell has positive corner volumes. Errors: ERR_MESH with the cell's place. */
pcsim_status mesher_check_cells(const mesher_mesh *mesh) PCSIM_NODISCARD;
/** Move inner nodes by up to `fraction` of the shortest edge at the node, never so far that a cell turns
 *  over. The same seed gives the same mesh. */
pcsim_status mesher_distort(mesher_mesh *mesh, double fraction, uint64_t seed) PCSIM_NODISCARD;
/** Sweep a plane mesh with its facets along z [n + 1]: prisms and hexahedra; the ends get the patch names
 *  `low` and `high` (may be equal, or equal to one that exists). */
pcsim_status mesher_extrude(const mesher_mesh *plane, int n, const double *z, const char *low,
                            const char *high, mesher_mesh *solid) PCSIM_NODISCARD;
pcsim_status mesher_to_raw(const mesher_mesh *mesh, pcsim_raw_mesh **raw) PCSIM_NODISCARD;
/** Refuse a mesh that would be too large, before it is made. */
pcsim_status mesher_check_count(double cells) PCSIM_NODISCARD;
/** Refuse a line of too many cells, before it is made. */
pcsim_status mesher_check_line(double cells) PCSIM_NODISCARD;

/* ------------------------------------------------------------------ sizes */

/** A piece of a patch: a circle (in 3D a cylinder along z), a sphere, or a box that may be flat in any
 * direction.
 */
typedef struct {
  const char *patch;
  int round;         /**< 2: circle, 3: sphere, 0: box */
  double a[3], b[3]; /**< circle, sphere: centre and radius b[0]; box: corners */
} mesher_piece;
typedef struct {
  double size, growth;
  int num_pieces;
  mesher_piece piece[8];
} mesher_source;
/** Sizes asked for at places, `sizes.file`: a line for each, coordinates and the size. */
typedef struct mesher_field mesher_field;
/** NULL where the specification has none. Errors: ERR_CASE with file and line, ERR_IO. Caller destroys. */
pcsim_status mesher_field_read(const mesher_spec *spec, int dim, mesher_field **field) PCSIM_NODISCARD;
void mesher_field_destroy(mesher_field **field);
/** The least of `most` and size + growth * distance over all places; of NULL `most`. */
double mesher_field_at(const mesher_field *field, const double place[3], double most);
double mesher_field_growth(const mesher_field *field);

/** Local size: the smallest of `far`, size + growth * distance over all sources, and the field's. */
typedef struct {
  double far;
  mesher_field *field; /**< owned; NULL: none */
  int num_sources;
  mesher_source source[MESHER_MAX_PATCHES];
} mesher_sizes;

/** Read `size`, `near.*` and `sizes.*` for a shape with these pieces. Free after a failure too. */
pcsim_status mesher_sizes_read(const mesher_spec *spec, int dim, int num_pieces, const mesher_piece *pieces,
                               mesher_sizes *sizes) PCSIM_NODISCARD;
void mesher_sizes_free(mesher_sizes *sizes);
/** Refuse a field where cells follow lines (ERR_CASE). */
pcsim_status mesher_sizes_on_lines(const mesher_sizes *sizes) PCSIM_NODISCARD;
double mesher_size_at(const mesher_sizes *sizes, double x, double y, double z);
/** About how many triangles (dim 2) or tetrahedra (3) fill a box with these sizes. */
double mesher_estimate(const mesher_sizes *sizes, int dim, const double low[3], const double high[3]);
double mesher_distance(const mesher_piece *piece, double x, double y, double z);

/** Wall layers `near.NAME.layers`. */
typedef struct {
  int n;
  double *height; /**< [n + 1] distances from the wall, 0 first */
} mesher_layers;
pcsim_status mesher_layers_read(const mesher_spec *spec, const char *patch,
                                mesher_layers *layers) PCSIM_NODISCARD;

/* ------------------------------------------------------------------ holes */

/** A ball that is taken away, a circle in the plane; its name is the specification's. */
typedef struct {
  const char *patch;
  double centre[3], radius;
} mesher_ball;
typedef struct {
  int n;
  mesher_ball ball[MESHER_MAX_HOLES];
} mesher_holes;
/** `hole.NAME=x,y[,z],radius`. */
pcsim_status mesher_holes_read(const mesher_spec *spec, int dim, mesher_holes *holes) PCSIM_NODISCARD;
/** Name of the hole whose boundary has all these corners, NULL if none has. */
const char *mesher_holes_classify(const mesher_holes *holes, int n, const double corner[][3]);
/** Nodes around a hole in the plane, counter-clockwise, as close as the sizes ask for. Caller frees, after a
 * failure too. */
pcsim_status mesher_hole_loop(const mesher_ball *ball, const mesher_sizes *sizes, mesher_mesh *mesh,
                              int32_t **loop, int *size) PCSIM_NODISCARD;

/* ---------------------------------------------------------------- regions */

/** Give cells the regions of the specification, `region=NAME<tab>EXPRESSION`: the first that is true at the
 *  centre of a cell. The other cells of a shape become `rest`. Errors: ERR_CASE (an expression without a
 * value somewhere, a region without a cell). */
pcsim_status mesher_regions_set(const mesher_spec *spec, pcsim_raw_mesh *raw) PCSIM_NODISCARD;

/* ---------------------------------------------------------------- periods */

/** The next pair `periodic=A<tab>B` from item `*i` on, whose places among `names` [n] are given; false after
 * the last. A pair with a name that is not there, or that was there before, turned round or not, is passed
 * over: whoever reads the case's boundaries reports it. */
bool mesher_periodic_next(const mesher_spec *spec, int n, const char *const *names, int *i, int pair[2]);
/** Enter the pairs of the specification in a mesh. */
pcsim_status mesher_periodic_set(const mesher_spec *spec, pcsim_raw_mesh *raw) PCSIM_NODISCARD;

/* ----------------------------------------------------- points along a line */

typedef double (*mesher_line_size)(const void *context, double s);
/** Places 0 = s[0] < ... < s[n] = length whose spacing follows a size function; n at least `n_min`, as
 *  many as the sizes ask for if `n_fixed` is 0. Caller frees. */
pcsim_status mesher_line(mesher_line_size size, const void *context, double length, int n_min, int n_fixed,
                         double **s, int *n) PCSIM_NODISCARD;
/** n cells from a to b, `ratio` = middle over end cell, symmetric (hyperbolic tangent). Caller frees. */
pcsim_status mesher_line_symmetric(double a, double b, int n, double ratio, double **s) PCSIM_NODISCARD;
/** n cells from a to b, `ratio` = last over first cell (geometric). Caller frees. */
pcsim_status mesher_line_geometric(double a, double b, int n, double ratio, double **s) PCSIM_NODISCARD;

/* ------------------------------------------------------------------- Gmsh */

pcsim_status mesher_gmsh_start(void) PCSIM_NODISCARD;
void mesher_gmsh_stop(void);
/** Turn an error code of Gmsh into a status with its message. */
pcsim_status mesher_gmsh_check(int ierr, const char *what) PCSIM_NODISCARD;
/** Fill the inside of closed loops of nodes with triangles; the first loop is the outer one. Nodes on the
 *  loops stay as they are. `algorithm`: frontal or delaunay. */
pcsim_status mesher_triangulate(mesher_mesh *mesh, int num_loops, const int *loop_size, int32_t *const *loop,
                                const mesher_sizes *sizes, const char *algorithm) PCSIM_NODISCARD;
/** Tetrahedra in a box, less a cylinder along z if `radius` > 0 and less balls (NULL: none); opposite ends of
 * a periodic axis have the same triangles. */
typedef struct {
  double low[3], high[3], centre[2], radius;
  const mesher_holes *holes;
  bool periodic[3];
} mesher_solid;
pcsim_status mesher_tetrahedralise(mesher_mesh *mesh, const mesher_solid *solid, const mesher_sizes *sizes,
                                   const char *algorithm) PCSIM_NODISCARD;
/* ------------------------------------------------------------------ files */

/** Refuse what is plainly no Gmsh mesh before Gmsh sees it: header, sections, counts against the size. */
pcsim_status mesher_msh_check(const char *path) PCSIM_NODISCARD;
/** Read the Gmsh file that the specification names; ERR_MESH, ERR_IO. Gmsh can crash on damaged files: run it
 *  in a process of its own (mesher_contain). */
pcsim_status mesher_msh_read(const mesher_spec *spec, pcsim_raw_mesh **raw) PCSIM_NODISCARD;
/** Write as Gmsh 2.2 ASCII with physical names. */
pcsim_status mesher_msh_write(const pcsim_raw_mesh *raw, const char *path) PCSIM_NODISCARD;

/** Run `work` in a child process whose memory and time are limited by the size of the file `path`. Its
 *  message becomes ours; a crash or a passed limit is ERR_MESH: the file is damaged. */
pcsim_status mesher_contain(pcsim_status (*work)(void *), void *context, const char *path) PCSIM_NODISCARD;

/* ----------------------------------------------------------------- shapes */

/** Make the mesh with its facets. */
typedef pcsim_status (*mesher_shape)(const mesher_spec *spec, mesher_mesh *mesh);
pcsim_status mesher_shape_channel(const mesher_spec *spec, mesher_mesh *mesh);
pcsim_status mesher_shape_channel_3d(const mesher_spec *spec, mesher_mesh *mesh);
pcsim_status mesher_shape_box(const mesher_spec *spec, mesher_mesh *mesh);
pcsim_status mesher_shape_cavity(const mesher_spec *spec, mesher_mesh *mesh);
pcsim_status mesher_shape_step(const mesher_spec *spec, mesher_mesh *mesh);

#endif
