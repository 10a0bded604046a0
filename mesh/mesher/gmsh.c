/* SPDX-License-Identifier: BSD-2-Clause */
/* Gmsh: start and stop, triangles in a plane, tetrahedra in a box. The out-parameters of the interface
 * must never be NULL (version 4.8.4 writes through them). */
#include "mesher.h"

#include <gmshc.h>
#include <math.h>
#include <string.h>

pcsim_status mesher_gmsh_check(int ierr, const char *what) {
  if (!ierr) return PCSIM_OK;
  char *text = NULL;
  int again;
  gmshLoggerGetLastError(&text, &again);
  pcsim_error_set(PCSIM_ERR_LIBRARY, __FILE__, __LINE__, __func__, "mesh: Gmsh failed at %s: %s", what,
                  !again && text && *text ? text : "no reason given");
  if (!again) gmshFree(text);
  return PCSIM_ERR_LIBRARY;
}

static const double pi = 3.14159265358979323846;

#define GMSH(what, ...)                                                                                      \
  do {                                                                                                       \
    __VA_ARGS__;                                                                                             \
    PCSIM_TRY(mesher_gmsh_check(e, what));                                                                   \
  } while (0)

pcsim_status mesher_gmsh_start(void) {
  int e;
  static const struct {
    const char *name;
    double value;
  } option[] = {{"General.Terminal", 0},
                {"General.NumThreads", 1},
                {"Mesh.MeshSizeFromPoints", 0},
                {"Mesh.MeshSizeFromCurvature", 0},
                {"Mesh.MeshSizeExtendFromBoundary", 0},
                {"Mesh.Optimize", 1}};
  gmshInitialize(0, NULL, 0, &e); /* 0: the user's own option files do not change our meshes */
  PCSIM_TRY(mesher_gmsh_check(e, "start"));
  for (size_t i = 0; i < sizeof option / sizeof *option; i++)
    GMSH(option[i].name, gmshOptionSetNumber(option[i].name, option[i].value, &e));
  GMSH("the log", gmshLoggerStart(&e));
  GMSH("a new model", gmshModelAdd("pcsim", &e));
  return PCSIM_OK;
}

void mesher_gmsh_stop(void) {
  int e;
  gmshFinalize(&e);
}

static double size_callback(int dim, int tag, double x, double y, double z, void *data) {
  (void)dim;
  (void)tag;
  return mesher_size_at(data, x, y, z);
}

/* Gmsh's node tags to ours: those in `known` keep theirs, others are added. */
static pcsim_status take_nodes(mesher_mesh *mesh, int32_t **node_of_tag, size_t *max_tag) {
  size_t *tag = NULL, n, nx, np;
  double *x = NULL, *parameter = NULL;
  int e;
  pcsim_status status = PCSIM_OK;
  GMSH("taking the nodes", gmshModelMeshGetNodes(&tag, &n, &x, &nx, &parameter, &np, -1, -1, 0, 0, &e));
  size_t max = 0;
  for (size_t i = 0; i < n; i++) max = tag[i] > max ? tag[i] : max;
  if (max > *max_tag) {
    PCSIM_GOTO(pcsim_realloc(max + 1, sizeof **node_of_tag, node_of_tag), status, done);
    for (size_t i = *max_tag + 1; i <= max; i++) (*node_of_tag)[i] = -1;
    *max_tag = max;
  }
  for (size_t i = 0; i < n; i++) { /* those given to Gmsh must have come back unmoved */
    int32_t known = (*node_of_tag)[tag[i]];
    if (known < 0 || memcmp(mesh->nodes + 3 * (int64_t)known, x + 3 * i, 3 * sizeof *x) == 0) continue;
    status = pcsim_error_set(PCSIM_ERR_INTERNAL, __FILE__, __LINE__, __func__,
                             "mesh: Gmsh renumbered the boundary point at (%g, %g)", x[3 * i], x[3 * i + 1]);
    goto done;
  }
  for (size_t i = 0; i < n; i++)
    if ((*node_of_tag)[tag[i]] < 0)
      PCSIM_GOTO(mesher_add_node(mesh, x[3 * i], x[3 * i + 1], x[3 * i + 2], &(*node_of_tag)[tag[i]]), status,
                 done);
done:
  gmshFree(tag);
  gmshFree(x);
  gmshFree(parameter);
  return status;
}

static pcsim_status take_cells(mesher_mesh *mesh, int gmsh_type, pcsim_cell_type type,
                               const int32_t *node_of_tag) {
  size_t *tag = NULL, n, *nodes = NULL, num_nodes;
  int e, k = pcsim_cell_num_nodes(type);
  pcsim_status status = PCSIM_OK;
  GMSH("taking the cells",
       gmshModelMeshGetElementsByType(gmsh_type, &tag, &n, &nodes, &num_nodes, -1, 0, 1, &e));
  for (size_t i = 0; i < n && status == PCSIM_OK; i++) {
    int32_t cell[8];
    for (int j = 0; j < k; j++) cell[j] = node_of_tag[nodes[i * (size_t)k + (size_t)j]];
    status = mesher_add_cell(mesh, type, cell);
  }
  gmshFree(tag);
  gmshFree(nodes);
  PCSIM_TRY(status);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------ plane */

/* One straight curve with a single segment for each boundary edge: the points are ours exactly. */
static pcsim_status add_loop(const mesher_mesh *mesh, int n, const int32_t *loop, int first_point,
                             int *curve_loop) {
  int e, *line = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *line, &line));
  for (int i = 0; i < n && status == PCSIM_OK; i++) {
    const double *p = mesh->nodes + 3 * (int64_t)loop[i];
    gmshModelGeoAddPoint(p[0], p[1], 0, 0, first_point + i, &e);
    status = mesher_gmsh_check(e, "a boundary point");
  }
  for (int i = 0; i < n && status == PCSIM_OK; i++) {
    line[i] = gmshModelGeoAddLine(first_point + i, first_point + (i + 1) % n, -1, &e);
    status = mesher_gmsh_check(e, "a boundary line");
    if (status == PCSIM_OK) gmshModelGeoMeshSetTransfiniteCurve(line[i], 2, "Progression", 1, &e);
  }
  if (status == PCSIM_OK) {
    *curve_loop = gmshModelGeoAddCurveLoop(line, (size_t)n, -1, 0, &e);
    status = mesher_gmsh_check(e, "a boundary loop");
  }
  pcsim_free(&line);
  PCSIM_TRY(status);
  return PCSIM_OK;
}

static int algorithm_2d(const char *name) { return name && !strcmp(name, "delaunay") ? 5 : 6; }

typedef struct {
  int num_loops;
  const int *size;
  int32_t *const *loop;
} loops;

static pcsim_status fill_plane(mesher_mesh *mesh, const loops *l, const mesher_sizes *sizes,
                               const char *algorithm, int *num_points) {
  int e, curve_loop[MESHER_MAX_PATCHES], first = 1;
  for (int i = 0; i < l->num_loops; i++) {
    PCSIM_TRY(add_loop(mesh, l->size[i], l->loop[i], first, &curve_loop[i]));
    first += l->size[i];
  }
  *num_points = first - 1;
  GMSH("the surface", gmshModelGeoAddPlaneSurface(curve_loop, (size_t)l->num_loops, -1, &e));
  GMSH("the geometry", gmshModelGeoSynchronize(&e));
  GMSH("the sizes", gmshModelMeshSetSizeCallback(size_callback, (void *)sizes, &e));
  GMSH("the algorithm", gmshOptionSetNumber("Mesh.Algorithm", algorithm_2d(algorithm), &e));
  GMSH("meshing the plane", gmshModelMeshGenerate(2, &e));
  return PCSIM_OK;
}

/* Points come first in Gmsh's numbering: their node tags are the point tags. */
static pcsim_status take_triangles(mesher_mesh *mesh, const loops *l, int num_points) {
  int32_t *node_of_tag = NULL;
  size_t max_tag = (size_t)num_points;
  int64_t before = mesh->num_cells;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(max_tag + 1, sizeof *node_of_tag, &node_of_tag), status, done);
  for (int i = 0, t = 1; i < l->num_loops; i++)
    for (int k = 0; k < l->size[i]; k++) node_of_tag[t++] = l->loop[i][k];
  PCSIM_GOTO(take_nodes(mesh, &node_of_tag, &max_tag), status, done);
  PCSIM_GOTO(take_cells(mesh, 2, PCSIM_CELL_TRIANGLE, node_of_tag), status, done);
  if (mesh->num_cells == before)
    status = pcsim_error_set(PCSIM_ERR_LIBRARY, __FILE__, __LINE__, __func__, "mesh: Gmsh made no triangles");
done:
  pcsim_free(&node_of_tag);
  return status;
}

pcsim_status mesher_triangulate(mesher_mesh *mesh, int num_loops, const int *loop_size, int32_t *const *loop,
                                const mesher_sizes *sizes, const char *algorithm) {
  const loops l = {num_loops, loop_size, loop};
  int num_points = 0;
  pcsim_status status;
  PCSIM_CHECK(num_loops <= MESHER_MAX_PATCHES, PCSIM_ERR_INTERNAL, "more than %d loops", MESHER_MAX_PATCHES);
  PCSIM_TRY(mesher_gmsh_start());
  PCSIM_GOTO(fill_plane(mesh, &l, sizes, algorithm, &num_points), status, done);
  PCSIM_GOTO(take_triangles(mesh, &l, num_points), status, done);
done:
  mesher_gmsh_stop();
  return status;
}

/* ------------------------------------------------------------------- solid */

/* What is taken away from the box, as pairs of dimension and tag. */
static pcsim_status add_tools(const mesher_solid *s, int *tool, size_t *num) {
  int e, tag;
  *num = 0;
  if (s->radius > 0) {
    GMSH("the cylinder", tag = gmshModelOccAddCylinder(s->centre[0], s->centre[1], s->low[2], 0, 0,
                                                       s->high[2] - s->low[2], s->radius, -1, 2 * pi, &e));
    tool[(*num)++] = 3;
    tool[(*num)++] = tag;
  }
  for (int i = 0; s->holes && i < s->holes->n; i++) {
    const mesher_ball *b = &s->holes->ball[i];
    GMSH("a ball", tag = gmshModelOccAddSphere(b->centre[0], b->centre[1], b->centre[2], b->radius, -1,
                                               -pi / 2, pi / 2, 2 * pi, &e));
    tool[(*num)++] = 3;
    tool[(*num)++] = tag;
  }
  return PCSIM_OK;
}

static pcsim_status add_solid(const mesher_solid *s) {
  int e, *out = NULL, **map = NULL;
  size_t num_out, *map_size = NULL, num_map, num_tools;
  double d[3] = {s->high[0] - s->low[0], s->high[1] - s->low[1], s->high[2] - s->low[2]};
  int box[2] = {3, 0}, tool[2 * (1 + MESHER_MAX_HOLES)];
  GMSH("the box", box[1] = gmshModelOccAddBox(s->low[0], s->low[1], s->low[2], d[0], d[1], d[2], -1, &e));
  PCSIM_TRY(add_tools(s, tool, &num_tools));
  if (num_tools > 0) {
    GMSH("cutting out what is taken away",
         gmshModelOccCut(box, 2, tool, num_tools, &out, &num_out, &map, &map_size, &num_map, -1, 1, 1, &e));
    for (size_t i = 0; i < num_map; i++) gmshFree(map[i]);
    gmshFree(map);
    gmshFree(map_size);
    gmshFree(out);
  }
  GMSH("the geometry", gmshModelOccSynchronize(&e));
  return PCSIM_OK;
}

/* The faces of the box at one end of an axis. */
static pcsim_status faces_at(const mesher_solid *s, int axis, double at, int **face, size_t *n) {
  int e, *tags = NULL;
  double low[3], high[3], slack = 0;
  for (int k = 0; k < 3; k++) slack = fmax(slack, 1e-6 * (s->high[k] - s->low[k]));
  for (int k = 0; k < 3; k++) {
    low[k] = (k == axis ? at : s->low[k]) - slack;
    high[k] = (k == axis ? at : s->high[k]) + slack;
  }
  GMSH("the ends of the box",
       gmshModelGetEntitiesInBoundingBox(low[0], low[1], low[2], high[0], high[1], high[2], &tags, n, 2, &e));
  pcsim_status status = pcsim_alloc(*n / 2, sizeof **face, face); /* pairs of dimension and tag */
  *n /= 2;
  for (size_t i = 0; i < *n && status == PCSIM_OK; i++) (*face)[i] = tags[2 * i + 1];
  gmshFree(tags);
  return status;
}

static pcsim_status make_periodic(const mesher_solid *s, int axis) {
  int e, *face[2] = {NULL, NULL};
  size_t n[2] = {0, 0};
  double move[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  pcsim_status status;
  move[4 * axis + 3] = s->high[axis] - s->low[axis];
  PCSIM_GOTO(faces_at(s, axis, s->low[axis], &face[0], &n[0]), status, done);
  PCSIM_GOTO(faces_at(s, axis, s->high[axis], &face[1], &n[1]), status, done);
  gmshModelMeshSetPeriodic(2, face[1], n[1], face[0], n[0], move, 16, &e);
  status = mesher_gmsh_check(e, "the periodic boundaries");
done:
  pcsim_free(&face[0]);
  pcsim_free(&face[1]);
  return status;
}

static pcsim_status fill_solid(const mesher_solid *solid, const mesher_sizes *sizes, const char *algorithm) {
  int e, hxt = algorithm && !strcmp(algorithm, "hxt");
  PCSIM_TRY(add_solid(solid));
  for (int k = 0; k < 3; k++)
    if (solid->periodic[k]) PCSIM_TRY(make_periodic(solid, k));
  GMSH("the sizes", gmshModelMeshSetSizeCallback(size_callback, (void *)sizes, &e));
  GMSH("the algorithm", gmshOptionSetNumber("Mesh.Algorithm", 6, &e));
  GMSH("the algorithm", gmshOptionSetNumber("Mesh.Algorithm3D", hxt ? 10 : 1, &e));
  GMSH("meshing the volume", gmshModelMeshGenerate(3, &e));
  return PCSIM_OK;
}

pcsim_status mesher_tetrahedralise(mesher_mesh *mesh, const mesher_solid *solid, const mesher_sizes *sizes,
                                   const char *algorithm) {
  int32_t *node_of_tag = NULL;
  size_t max_tag = 0;
  pcsim_status status;
  PCSIM_TRY(mesher_gmsh_start());
  PCSIM_GOTO(fill_solid(solid, sizes, algorithm), status, done);
  PCSIM_GOTO(pcsim_alloc(1, sizeof *node_of_tag, &node_of_tag), status, done);
  node_of_tag[0] = -1;
  PCSIM_GOTO(take_nodes(mesh, &node_of_tag, &max_tag), status, done);
  PCSIM_GOTO(take_cells(mesh, 4, PCSIM_CELL_TETRA, node_of_tag), status, done);
  if (mesh->num_cells == 0)
    status =
        pcsim_error_set(PCSIM_ERR_LIBRARY, __FILE__, __LINE__, __func__, "mesh: Gmsh made no tetrahedra");
done:
  pcsim_free(&node_of_tag);
  mesher_gmsh_stop();
  return status;
}
