/* SPDX-License-Identifier: BSD-2-Clause */
/* The parametric shapes: their keys, the names of their boundaries, what must hold between the keys. The
 * meshes themselves are made in mesher/. */
#include "spec.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define POSITIVE 1e-300, DBL_MAX

/* Rows that stand in the table that checks and, with their place before the name, in the one that documents.
 */
#define REGIONS_ROW                                                                                          \
  {                                                                                                          \
    "regions", PCSIM_KEY_MAPPING, "", NULL, "",                                                              \
        "materials, NAME: expression of x, y, z: the cells whose centre makes it true; of several the "      \
        "first; "                                                                                            \
        "the other cells of a shape are `rest`, those of a file keep their group",                           \
        0, 0                                                                                                 \
  }
#define MOVE_ROW                                                                                             \
  {                                                                                                          \
    "move", PCSIM_KEY_MAPPING, "", NULL, "m",                                                                \
        "boundaries that are moved after meshing, NAME: [dx, dy], expressions of x, y, z and the "           \
        "parameters; "                                                                                       \
        "the nodes inside follow, boundaries that touch one slide in their planes",                          \
        0, 0                                                                                                 \
  }
#define COMMON_ROWS                                                                                          \
  {"shape", PCSIM_KEY_TEXT, NULL, NULL, "", "name of the shape (pcsim list shapes)", 0, 0}, REGIONS_ROW,     \
      MOVE_ROW,                                                                                              \
      {"near", PCSIM_KEY_MAPPING, "", NULL, "", "local sizes by boundary: NAME: {size, growth, layers}", 0,  \
       0},                                                                                                   \
      {"sizes",                                                                                              \
       PCSIM_KEY_MAPPING,                                                                                    \
       "",                                                                                                   \
       NULL,                                                                                                 \
       "",                                                                                                   \
       "sizes at places, {file, growth}: cells are no larger than any of them plus growth times the "        \
       "distance",                                                                                           \
       0,                                                                                                    \
       0},                                                                                                   \
  {                                                                                                          \
    "algorithm", PCSIM_KEY_CHOICE, "", "frontal|delaunay|hxt", "",                                           \
        "frontal (default) or delaunay for triangles, delaunay (default) or hxt for tetrahedra; hxt is "     \
        "fast, "                                                                                             \
        "but its meshes differ from run to run",                                                             \
        0, 0                                                                                                 \
  }
#define NEAR_ROWS(place)                                                                                     \
  {place "size", PCSIM_KEY_NUMBER, NULL, NULL, "m", "cell size at the boundary", POSITIVE},                  \
      {place "growth",                                                                                       \
       PCSIM_KEY_NUMBER,                                                                                     \
       "0.1",                                                                                                \
       NULL,                                                                                                 \
       "1",                                                                                                  \
       "increase of the size per distance from it",                                                          \
       0,                                                                                                    \
       10},                                                                                                  \
  {                                                                                                          \
    place "layers", PCSIM_KEY_MAPPING, "", NULL, "", "wall layers: first, ratio, thickness", 0, 0            \
  }
#define SIZES_ROWS(place)                                                                                    \
  {place "file",                                                                                             \
   PCSIM_KEY_TEXT,                                                                                           \
   NULL,                                                                                                     \
   NULL,                                                                                                     \
   "m",                                                                                                      \
   "x, y (z in space) and a size in each line, relative to the case; a first line may hold names",           \
   0,                                                                                                        \
   0},                                                                                                       \
  {                                                                                                          \
    place "growth", PCSIM_KEY_NUMBER, "0.2", NULL, "1", "increase of the sizes per distance", 1e-6, 10       \
  }
#define LAYER_ROWS(place)                                                                                    \
  {place "first", PCSIM_KEY_NUMBER, NULL, NULL, "m", "height of the first layer", POSITIVE},                 \
      {place "ratio", PCSIM_KEY_NUMBER, "1.2", NULL, "1", "height of each layer over the one before", 1, 3}, \
  {                                                                                                          \
    place "thickness", PCSIM_KEY_NUMBER, NULL, NULL, "m", "height of all layers", POSITIVE                   \
  }
#define FILE_ROWS                                                                                             \
  {                                                                                                           \
      "file", PCSIM_KEY_TEXT, NULL, NULL, "", "Gmsh mesh (.msh) instead of a shape, relative to the case", 0, \
      0},                                                                                                     \
      {"scale", PCSIM_KEY_NUMBER, "1", NULL, "1", "factor on the coordinates of the file", POSITIVE},         \
      REGIONS_ROW, MOVE_ROW, {                                                                                \
    "names", PCSIM_KEY_MAPPING, "", NULL, "",                                                                 \
        "other names for groups of the file, {\"surface 12\": inlet}; a group without a name is 'curve "      \
        "TAG' "                                                                                               \
        "or 'surface TAG'",                                                                                   \
        0, 0                                                                                                  \
  }

const pcsim_key pcsim_shape_common_keys[] = {COMMON_ROWS};
const size_t pcsim_shape_num_common_keys = COUNT(pcsim_shape_common_keys);
const pcsim_key pcsim_near_keys[] = {NEAR_ROWS("")};
const size_t pcsim_near_num_keys = COUNT(pcsim_near_keys);
const pcsim_key pcsim_sizes_keys[] = {SIZES_ROWS("")};
const size_t pcsim_sizes_num_keys = COUNT(pcsim_sizes_keys);
const pcsim_key pcsim_layer_keys[] = {LAYER_ROWS("")};
const size_t pcsim_layer_num_keys = COUNT(pcsim_layer_keys);
const pcsim_key pcsim_mesh_file_keys[] = {FILE_ROWS};
const size_t pcsim_mesh_num_file_keys = COUNT(pcsim_mesh_file_keys);

#define SIZE_OR_N                                                                                            \
  {                                                                                                          \
    "size", PCSIM_KEY_NUMBER, "", NULL, "m", "cell size far from every boundary in near; or give n",         \
        POSITIVE                                                                                             \
  }
#define DISTORT                                                                                              \
  {"distort", PCSIM_KEY_NUMBER,                                                                              \
   "0",       NULL,                                                                                          \
   "1",       "random shift of inner nodes, as a part of the shortest edge",                                 \
   0,         1},                                                                                            \
  {                                                                                                          \
    "seed", PCSIM_KEY_INTEGER, "1", NULL, "", "seed of the distortion", 0, 9e15                              \
  }
#define GRADING                                                                                              \
  { "grading", PCSIM_KEY_NUMBER, "1", NULL, "1", "size of the middle cells over those at the walls", 1, 1e6 }

static const pcsim_key channel_keys[] = {
    {"length", PCSIM_KEY_NUMBER, "2.2", NULL, "m", "of the channel, along x", POSITIVE},
    {"height", PCSIM_KEY_NUMBER, "0.41", NULL, "m", "of the channel, along y", POSITIVE},
    {"centre", PCSIM_KEY_NUMBERS, "[0.2, 0.2]", NULL, "m", "of the cylinder", 0, 0},
    {"diameter", PCSIM_KEY_NUMBER, "0.1", NULL, "m", "of the cylinder", POSITIVE},
    {"cells", PCSIM_KEY_CHOICE, "triangles", "triangles|quads|mixed", "",
     "mixed: triangles with quad layers around the cylinder; quads: an O-grid and rectangular blocks", 0, 0},
    {"size", PCSIM_KEY_NUMBER, "0.02", NULL, "m", "cell size far from every boundary in near", POSITIVE},
};
static const pcsim_key channel_3d_keys[] = {
    {"length", PCSIM_KEY_NUMBER, "2.5", NULL, "m", "of the channel, along x", POSITIVE},
    {"height", PCSIM_KEY_NUMBER, "0.41", NULL, "m", "of the channel, along y", POSITIVE},
    {"width", PCSIM_KEY_NUMBER, "0.41", NULL, "m", "of the channel, along z, and length of the cylinder",
     POSITIVE},
    {"centre", PCSIM_KEY_NUMBERS, "[0.5, 0.2]", NULL, "m", "of the cylinder in the x-y plane", 0, 0},
    {"diameter", PCSIM_KEY_NUMBER, "0.1", NULL, "m", "of the cylinder", POSITIVE},
    {"cells", PCSIM_KEY_CHOICE, "hexahedra", "hexahedra|prisms|tetrahedra", "",
     "hexahedra: an O-grid swept along z; prisms: triangles swept along z", 0, 0},
    {"size", PCSIM_KEY_NUMBER, "0.03", NULL, "m", "cell size far from every boundary in near", POSITIVE},
    {"nz", PCSIM_KEY_INTEGER, "", NULL, "", "cells along z (hexahedra, prisms); without it width / size", 1,
     100000},
    GRADING,
};
static const pcsim_key cavity_keys[] = {
    {"width", PCSIM_KEY_NUMBER, "1", NULL, "m", "along x", POSITIVE},
    {"height", PCSIM_KEY_NUMBER, "1", NULL, "m", "along y", POSITIVE},
    {"cells", PCSIM_KEY_CHOICE, "quads", "quads|triangles|mixed", "",
     "mixed: quads in the left half, triangles in the right", 0, 0},
    {"n", PCSIM_KEY_NUMBERS, "", NULL, "", "cells along x and y; or give size", 0, 0},
    SIZE_OR_N,
    GRADING,
    DISTORT,
};
static const pcsim_key box_keys[] = {
    {"low", PCSIM_KEY_NUMBERS, "[0, 0]", NULL, "m", "lower corner, two or three numbers", 0, 0},
    {"high", PCSIM_KEY_NUMBERS, "[1, 1]", NULL, "m", "upper corner", 0, 0},
    {"minus", PCSIM_KEY_MAPPING, "", NULL, "m",
     "what is taken away, NAME: {ball: {centre, radius}}, a circle in 2D; for triangles and tetrahedra with "
     "a size",
     0, 0},
    {"cells", PCSIM_KEY_CHOICE, "", "quads|triangles|mixed|hexahedra|prisms|tetrahedra", "",
     "quads in 2D and hexahedra in 3D by default; mixed: all types of the dimension, in zones along x", 0, 0},
    {"n", PCSIM_KEY_NUMBERS, "", NULL, "", "cells along each axis; or give size", 0, 0},
    SIZE_OR_N,
    GRADING,
    DISTORT,
};
static const pcsim_key step_keys[] = {
    {"length", PCSIM_KEY_NUMBER, "30", NULL, "m", "of the channel behind the step, along x", POSITIVE},
    {"height", PCSIM_KEY_NUMBER, "1", NULL, "m", "of the channel behind the step", POSITIVE},
    {"step", PCSIM_KEY_NUMBER, "0.5", NULL, "m", "height of the step; its upper edge is the origin",
     POSITIVE},
    {"upstream", PCSIM_KEY_NUMBER, "0", NULL, "m", "length of the channel before the step", 0, DBL_MAX},
    {"cells", PCSIM_KEY_CHOICE, "quads", "quads|triangles|mixed", "",
     "mixed: quads in the left half, triangles in the right", 0, 0},
    {"n", PCSIM_KEY_NUMBERS, "", NULL, "", "cells along the length and over the height; or give size", 0, 0},
    SIZE_OR_N,
    {"grading", PCSIM_KEY_NUMBER, "1", NULL, "1",
     "length of the last cell over the first one behind the step", 1e-6, 1e6},
    DISTORT,
};

/* ----------------------------------------------------------- between keys */

/* A number that has been checked already; `otherwise` if absent or faulty. */
static double number_of(pcsim_tree *tree, const pcsim_node *mesh, const char *key, double otherwise) {
  double value = otherwise;
  return pcsim_node_number(tree, mesh, key, &value) ? value : otherwise;
}

static bool cells_are(const pcsim_node *mesh, const char *a, const char *b) {
  const pcsim_node *node = pcsim_node_get(mesh, "cells");
  return node && (!strcmp(pcsim_node_text(node), a) || !strcmp(pcsim_node_text(node), b));
}

/* A sequence of exactly n numbers; false (with a problem) if it is not. */
static bool numbers_of(pcsim_tree *tree, const pcsim_node *mesh, const char *key, int n, double *values) {
  const pcsim_node *node = pcsim_node_get(mesh, key);
  int found = 0;
  if (!node || pcsim_node_get_kind(node) != PCSIM_NODE_SEQUENCE) return false;
  if (pcsim_node_size(node) != n) {
    pcsim_tree_problem(tree, node, "'%s' has %lld numbers, expected %d", key,
                       (long long)pcsim_node_size(node), n);
    return false;
  }
  return pcsim_node_numbers(tree, mesh, key, values, n, &found) && found == n;
}

static void check_algorithm(pcsim_tree *tree, const pcsim_node *mesh, bool triangles, bool tetrahedra) {
  const pcsim_node *node = pcsim_node_get(mesh, "algorithm");
  if (!node) return;
  const char *name = pcsim_node_text(node);
  if (!triangles && !tetrahedra)
    pcsim_tree_problem(
        tree, node,
        "'algorithm' is for triangles and tetrahedra made from a size; these cells follow a pattern");
  else if (triangles && !strcmp(name, "hxt"))
    pcsim_tree_problem(tree, node, "'hxt' makes tetrahedra; expected frontal or delaunay for triangles");
  else if (tetrahedra && !strcmp(name, "frontal"))
    pcsim_tree_problem(tree, node, "'frontal' makes triangles; expected delaunay or hxt for tetrahedra");
}

static void check_channel(pcsim_tree *tree, const pcsim_node *mesh) {
  double l = number_of(tree, mesh, "length", NAN), h = number_of(tree, mesh, "height", NAN),
         d = number_of(tree, mesh, "diameter", NAN), c[2];
  if (numbers_of(tree, mesh, "centre", 2, c)) {
    double gap = fmin(fmin(c[0], l - c[0]), fmin(c[1], h - c[1]));
    if (gap <= 0.5005 * d)
      pcsim_tree_problem(tree, pcsim_node_get(mesh, "centre"),
                         "the cylinder (centre %g, %g, diameter %g) is not inside the channel of %g x %g",
                         c[0], c[1], d, l, h);
  }
  check_algorithm(tree, mesh, cells_are(mesh, "triangles", "mixed") || cells_are(mesh, "prisms", "prisms"),
                  cells_are(mesh, "tetrahedra", "tetrahedra"));
  const pcsim_node *nz = pcsim_node_get(mesh, "nz");
  if (nz && cells_are(mesh, "tetrahedra", "tetrahedra"))
    pcsim_tree_problem(tree, nz,
                       "'nz' is for hexahedra and prisms; the size of tetrahedra is set by size and near");
}

/* n or size, and n of the right length and whole. */
static void check_counts(pcsim_tree *tree, const pcsim_node *mesh, int dim) {
  const pcsim_node *n = pcsim_node_get(mesh, "n"), *size = pcsim_node_get(mesh, "size");
  double count[3];
  if (!n && !size)
    pcsim_tree_problem(tree, mesh, "'mesh' needs 'n' (cells along each axis) or 'size' (cell size)");
  if (n && size) pcsim_tree_problem(tree, size, "'size' and 'n' are both given; expected one of them");
  if (!n || !numbers_of(tree, mesh, "n", dim, count)) return;
  for (int i = 0; i < dim; i++)
    if (!(count[i] >= 1 && count[i] == floor(count[i]) && count[i] <= 1e8))
      pcsim_tree_problem(tree, pcsim_node_child(n, i),
                         "%g is no number of cells, expected a whole number from 1 to 1e8", count[i]);
}

static void check_rectangle(pcsim_tree *tree, const pcsim_node *mesh) {
  check_counts(tree, mesh, 2);
  check_algorithm(tree, mesh, cells_are(mesh, "triangles", "triangles") && !pcsim_node_get(mesh, "n"), false);
}

static void check_box(pcsim_tree *tree, const pcsim_node *mesh) {
  const pcsim_node *low_node = pcsim_node_get(mesh, "low"), *high_node = pcsim_node_get(mesh, "high"),
                   *cells = pcsim_node_get(mesh, "cells");
  double low[3], high[3];
  int64_t size = low_node ? pcsim_node_size(low_node) : 0;
  if (low_node && size != 2 && size != 3)
    pcsim_tree_problem(tree, low_node, "'low' has %lld numbers, expected 2 or 3", (long long)size);
  int dim = size == 3 ? 3 : 2;
  if (size == dim && numbers_of(tree, mesh, "low", dim, low) && numbers_of(tree, mesh, "high", dim, high))
    for (int i = 0; i < dim; i++)
      if (!(low[i] < high[i]))
        pcsim_tree_problem(tree, pcsim_node_child(high_node, i),
                           "the box reaches from %g to %g along %c; expected low < high", low[i], high[i],
                           "xyz"[i]);
  bool plane = cells_are(mesh, "quads", "triangles"),
       solid = cells_are(mesh, "hexahedra", "prisms") || cells_are(mesh, "tetrahedra", "tetrahedra");
  if (cells && ((dim == 3 && plane) || (dim == 2 && solid)))
    pcsim_tree_problem(tree, cells, "a box in %d dimensions has no %s; expected %s or mixed", dim,
                       pcsim_node_text(cells),
                       dim == 2 ? "quads, triangles" : "hexahedra, prisms, tetrahedra");
  check_counts(tree, mesh, dim);
  bool free_form = !pcsim_node_get(mesh, "n");
  check_algorithm(tree, mesh, free_form && cells_are(mesh, "triangles", "triangles"),
                  free_form && cells_are(mesh, "tetrahedra", "tetrahedra"));
}

static void check_step(pcsim_tree *tree, const pcsim_node *mesh) {
  double step = number_of(tree, mesh, "step", NAN), height = number_of(tree, mesh, "height", NAN);
  if (step >= height)
    pcsim_tree_problem(tree, pcsim_node_get(mesh, "step"), "'step' is %g, it must be less than 'height', %g",
                       step, height);
  check_rectangle(tree, mesh);
}

/* ----------------------------------------------------------------- table */

static const pcsim_shape shapes[] = {
    {"box", "rectangle or brick; boundaries x-min, x-max, y-min, ... and those of what is taken away",
     box_keys, COUNT(box_keys)},
    {"cavity", "rectangle; boundaries lid (the upper side), walls", cavity_keys, COUNT(cavity_keys)},
    {"channel-cylinder", "plane channel with a round cylinder; boundaries inlet, outlet, walls, cylinder",
     channel_keys, COUNT(channel_keys)},
    {"channel-cylinder-3d", "duct with a round cylinder along z; boundaries inlet, outlet, walls, cylinder",
     channel_3d_keys, COUNT(channel_3d_keys)},
    {"step", "channel that widens downwards behind a step; boundaries inlet, outlet, walls", step_keys,
     COUNT(step_keys)},
};

/* in the order of `shapes` */
static const pcsim_shape_entry entries[COUNT(shapes)] = {
    {&shapes[0], {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"}, NULL, check_box},
    {&shapes[1], {"lid", "walls"}, NULL, check_rectangle},
    {&shapes[2], {"inlet", "outlet", "walls", "cylinder"}, "cylinder", check_channel},
    {&shapes[3], {"inlet", "outlet", "walls", "cylinder"}, "cylinder", check_channel},
    {&shapes[4], {"inlet", "outlet", "walls"}, NULL, check_step},
};

const pcsim_shape_entry *pcsim_shape_entries(size_t *n) {
  *n = COUNT(entries);
  return entries;
}

const pcsim_shape *pcsim_shape_list(size_t *n) {
  *n = COUNT(shapes);
  return shapes;
}

const pcsim_key *pcsim_mesh_keys(size_t *n) {
  static const pcsim_key keys[] = {COMMON_ROWS, NEAR_ROWS("near.NAME."), LAYER_ROWS("near.NAME.layers."),
                                   SIZES_ROWS("sizes."), FILE_ROWS};
  *n = COUNT(keys);
  return keys;
}
