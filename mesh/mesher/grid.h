/* SPDX-License-Identifier: BSD-2-Clause */
/** @file grid.h  Private to pcsim-mesh: meshes on lines of x, y, z, and polygons filled with triangles. */
#ifndef PCSIM_MESHER_GRID_H
#define PCSIM_MESHER_GRID_H

#include "mesher.h"

/** Lines of a grid; cells with i < skip[0] and j < skip[1] are left out. */
typedef struct {
  int dim;
  int n[3];        /**< cells */
  double *line[3]; /**< [n + 1] */
  int skip[2];
} mesher_grid;

/** `cells`: quads | triangles | mixed (left half quads) in 2D; hexahedra | prisms | tetrahedra | mixed (four
 *  zones along x: hexahedra, prisms, pyramids, tetrahedra) in 3D. */
pcsim_status mesher_grid_fill(const mesher_grid *grid, const char *cells, mesher_mesh *mesh) PCSIM_NODISCARD;
void mesher_grid_free(mesher_grid *grid);
/** A line from a to b along an axis: `n` cells if n > 0, else as the sizes ask for. `grading` is the middle
 *  over the end cell. Only pieces at right angles to the axis count. Caller frees. */
pcsim_status mesher_axis_line(const mesher_sizes *sizes, int axis, double a, double b, int n, double grading,
                              double **line, int *num) PCSIM_NODISCARD;
enum { MESHER_MAX_CORNERS = 8 };
/** Fill a polygon, its corners counter-clockwise, less holes (NULL: none) with triangles. Side i lies between
 * corner i and the next; against[i] is an earlier side of the same length in the opposite direction whose
 * points it takes, -1 if it has its own (NULL: all have). */
pcsim_status mesher_polygon_fill(const mesher_sizes *sizes, int num_corners, const double corner[][2],
                                 const int *against, const mesher_holes *holes, const char *algorithm,
                                 mesher_mesh *mesh) PCSIM_NODISCARD;
/** Whether all corners of a facet have one coordinate. */
bool mesher_all_at(int n, const double corner[][3], int axis, double value, double tolerance);
/** `distort` and `seed`, if given. After the facets are known. */
pcsim_status mesher_apply_distort(const mesher_spec *spec, mesher_mesh *mesh) PCSIM_NODISCARD;

#endif
