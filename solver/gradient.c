/* SPDX-License-Identifier: BSD-2-Clause */
/* Building the gradient maps of gradient.h; compiled twice. */
#include "gradient.h"

#include <string.h>

/* The class of maps that serve all unknowns. */
enum { ALL = -1 };
/* What a node has: READY_ALL a row in the map of all unknowns, READY_EACH one or a given value a class. */
enum { NODE_UNUSED, NODE_WANTED, NODE_READY_ALL, NODE_READY_EACH };
enum { GIVEN = -1 };

/* What is built from, and what set-up throws away. */
typedef struct {
  const gradient_request *r;
  const pcsim_mesh_view *v;
  gradient_maps *g;
  int dim, num_classes;
  gradient_places at;
  int64_t ni; /* interior faces */
  map_builder node, cell, direct, *class_node, *class_cell, *class_face;
  int64_t *face_start; /* faces of each owned cell */
  int32_t *face;
  uint8_t *node_state; /* [num_nodes] */
  int64_t *node_row;   /* [num_nodes][C] row in the map of all or of the class, or GIVEN */
} builder;

static bool fixes(const builder *b, int64_t face, int class) {
  return class != ALL && b->r->fixed[(face - b->ni) * b->num_classes + class];
}

static bool other_material(const builder *b, int64_t c, int64_t d) {
  return b->r->material && b->r->material[c] != b->r->material[d];
}

static pcsim_status find_faces(builder *b) {
  const pcsim_mesh_view *v = b->v;
  PCSIM_TRY(pcsim_alloc((size_t)v->num_cells + 2, sizeof(int64_t), &b->face_start));
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t k = 0; k < v->num_faces; k++)
      for (int s = 0; s < (k < b->ni ? 2 : 1); s++) {
        const int32_t c = s ? v->neighbour[k] : v->owner[k];
        if (c >= v->num_cells) continue;
        if (pass) b->face[b->face_start[c + 1]++] = (int32_t)k;
        else b->face_start[c + 2]++;
      }
    if (pass) break;
    for (int64_t i = 0; i < v->num_cells; i++) b->face_start[i + 2] += b->face_start[i + 1];
    PCSIM_TRY(pcsim_alloc((size_t)b->face_start[v->num_cells + 1], sizeof(int32_t), &b->face));
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------ slopes at walls */

/* The difference quotient between cell and wall is the slope at half the wall distance y of the cell; the
 * cell's fitted gradient is the slope at some distance y_g, which the fit of y^2/2 tells. The slope at the
 * wall is their extrapolation: two + share (two - fitted), share = (y/2) / (y_g - y/2). */
static void set_share(builder *b, int64_t face, int class, pcsim_real y, pcsim_real y_g) {
  const pcsim_real share = 0.5 * y / (y_g - 0.5 * y);
  b->g->share[(face - b->ni) * b->num_classes + class] = pcsim_part(share) > 0 && pcsim_part(share) < 1
                                                             ? share
                                                         : pcsim_part(y_g) > 0 ? 1
                                                                               : 0;
}

/* Unit normal into the domain, and the distance of the cell, of a boundary face. */
static pcsim_real wall_normal(const builder *b, int64_t face, pcsim_real normal[3]) {
  const pcsim_real *S = b->at.face_area + 3 * face, *x = b->at.face_centre + 3 * face;
  const pcsim_real *centre = b->at.cell_centre + 3 * (int64_t)b->v->owner[face];
  pcsim_real area = 0, y = 0;
  normal[0] = normal[1] = normal[2] = 0;
  for (int i = 0; i < b->dim; i++) area += S[i] * S[i];
  area = pcsim_root(area);
  for (int i = 0; i < b->dim; i++) normal[i] = -S[i] / area;
  for (int i = 0; i < b->dim; i++) y -= normal[i] * (x[i] - centre[i]);
  return y;
}

/* Shares of a cell fitted from its neighbours: weights [num][d] of (phi_k - phi). */
static void shares_of_direct(builder *b, int64_t c, int class, const fit_data *fit,
                             const pcsim_real *weight) {
  for (int64_t j = b->face_start[c]; j < b->face_start[c + 1]; j++) {
    const int64_t face = b->face[j];
    if (face < b->ni || !fixes(b, face, class)) continue;
    pcsim_real normal[3], y_g = 0;
    const pcsim_real y = wall_normal(b, face, normal);
    for (int k = 0; k < fit->num; k++) {
      pcsim_real y_k = y, along = 0;
      for (int i = 0; i < b->dim; i++) {
        y_k += fit->x[k][i] * normal[i];
        along += weight[k * b->dim + i] * normal[i];
      }
      y_g += along * 0.5 * (y_k * y_k - y * y);
    }
    set_share(b, face, class, y, y_g);
  }
}

/* y^2/2 at a node as the unknowns of a class get it, y from the plane of a boundary face. */
static pcsim_real node_parabola(const builder *b, int64_t node, int class, const pcsim_real *face,
                                const pcsim_real *normal) {
  const int64_t row = b->node_row[node * b->num_classes + class];
  const linear_map *map = b->node_state[node] == NODE_READY_ALL ? &b->node.map : &b->class_node[class].map;
  pcsim_real sum = 0;
  const int64_t first = row < 0 ? 0 : map->start[row], last = row < 0 ? 1 : map->start[row + 1];
  for (int64_t k = first; k < last; k++) {
    const pcsim_real *x = row < 0 ? b->at.node + 3 * node : b->at.cell_centre + 3 * (int64_t)map->column[k];
    pcsim_real y = 0;
    for (int i = 0; i < b->dim; i++) y += normal[i] * (x[i] - face[i]);
    sum += (row < 0 ? 1 : map->weight[k]) * 0.5 * y * y;
  }
  return sum;
}

/* Shares of a cell whose gradient comes from its nodes. */
static void shares_of_nodes(builder *b, int64_t c, const fit_data *fit, const pcsim_real *weight) {
  for (int64_t j = b->face_start[c]; j < b->face_start[c + 1]; j++)
    for (int class = 0; class < b->num_classes; class ++) {
      const int64_t face = b->face[j];
      if (face < b->ni || !fixes(b, face, class)) continue;
      pcsim_real normal[3], y_g = 0;
      const pcsim_real y = wall_normal(b, face, normal), *x = b->at.face_centre + 3 * face;
      for (int k = 0; k < fit->num; k++) {
        const pcsim_real value = node_parabola(b, fit->column[k], class, x, normal);
        for (int i = 0; i < b->dim; i++) y_g += weight[k * b->dim + i] * normal[i] * value;
      }
      set_share(b, face, class, y, y_g);
    }
}

/* ------------------------------------------------------------------- nodes */

static bool uses_faces(uint8_t type) { return type == PCSIM_CELL_QUAD || type == PCSIM_CELL_HEXA; }

/* Value at a node from the cells around it. */
static pcsim_status fit_node(const builder *b, map_builder *map, int64_t node, bool *ok) {
  const pcsim_mesh_view *v = b->v;
  pcsim_real weight[FIT_MAX];
  fit_data fit;
  fit.num = 0;
  for (int64_t j = v->node_cell_start[node]; j < v->node_cell_start[node + 1]; j++)
    fit_add(&fit, v->node_cell[j], b->at.cell_centre + 3 * (int64_t)v->node_cell[j], b->at.node + 3 * node,
            1);
  *ok = fit_value(&fit, b->dim, weight);
  if (!*ok) return PCSIM_OK;
  PCSIM_TRY(map_begin_row(map, (int32_t)node));
  for (int k = 0; k < fit.num; k++) PCSIM_TRY(map_add(map, fit.column[k], &weight[k]));
  return PCSIM_OK;
}

static bool one_material(const builder *b, int64_t node) {
  const pcsim_mesh_view *v = b->v;
  for (int64_t j = v->node_cell_start[node] + 1; j < v->node_cell_start[node + 1]; j++)
    if (other_material(b, v->node_cell[j - 1], v->node_cell[j])) return false;
  return true;
}

/* A node of a patch on which some class is given; the cells around are the same for all others. */
static pcsim_status make_boundary_node(builder *b, int64_t node, const uint8_t *kind) {
  bool ok = true;
  gradient_maps *g = b->g;
  for (int c = 0; c < b->num_classes && ok; c++) {
    int64_t *row = &b->node_row[node * b->num_classes + c];
    *row = GIVEN;
    if (kind[c] == GRADIENT_NODE_GIVEN) continue;
    PCSIM_TRY(fit_node(b, &b->class_node[c], node, &ok));
    *row = b->class_node[c].map.num_rows - 1;
  }
  if (!ok) return PCSIM_OK;
  b->node_state[node] = NODE_READY_EACH;
  for (int c = 0; c < b->num_classes; c++)
    g->given_class[g->num_given * b->num_classes + c] = kind[c] == GRADIENT_NODE_GIVEN;
  g->given[g->num_given++] = (int32_t)node;
  return PCSIM_OK;
}

static pcsim_status make_node(builder *b, int64_t node) {
  const int32_t p = b->v->node_patch[node];
  const uint8_t *kind = p >= 0 ? b->r->node + (int64_t)p * b->num_classes : NULL;
  bool cells = p == PCSIM_NODE_INTERIOR || p >= 0, ok;
  if ((p < 0 && p != PCSIM_NODE_INTERIOR) || (kind && kind[0] == GRADIENT_NODE_NONE)) return PCSIM_OK;
  for (int c = 0; kind && c < b->num_classes; c++) cells &= kind[c] == GRADIENT_NODE_CELLS;
  if (!one_material(b, node)) return PCSIM_OK;
  if (!cells) return make_boundary_node(b, node, kind);
  PCSIM_TRY(fit_node(b, &b->node, node, &ok));
  if (!ok) return PCSIM_OK;
  b->node_state[node] = NODE_READY_ALL;
  for (int c = 0; c < b->num_classes; c++) b->node_row[node * b->num_classes + c] = b->node.map.num_rows - 1;
  return PCSIM_OK;
}

static pcsim_status make_nodes(builder *b) {
  const pcsim_mesh_view *v = b->v;
  for (int64_t c = 0; c < v->num_cells; c++)
    if (!uses_faces(v->cell_type[c]))
      for (int64_t j = v->cell_node_start[c]; j < v->cell_node_start[c + 1]; j++)
        b->node_state[v->cell_node[j]] = NODE_WANTED;
  for (int64_t node = 0; node < v->num_nodes; node++)
    if (b->node_state[node] == NODE_WANTED) PCSIM_TRY(make_node(b, node));
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- cells */

/* What a direct fit may take. */
typedef struct {
  bool faces; /* face neighbours only, else every node neighbour */
  bool all;   /* cells of other materials too */
} reach;

static void collect(const builder *b, int64_t c, int class, reach how, fit_data *fit) {
  const pcsim_mesh_view *v = b->v;
  const pcsim_real *x = b->at.cell_centre + 3 * c;
  for (int64_t j = b->face_start[c]; j < b->face_start[c + 1]; j++) {
    const int64_t k = b->face[j];
    if (k >= b->ni) {
      if (fixes(b, k, class)) fit_add(fit, (int32_t)(-1 - (k - b->ni)), b->at.face_centre + 3 * k, x, 2);
    } else if (how.faces) {
      const int32_t other = v->owner[k] == c ? v->neighbour[k] : v->owner[k];
      if (how.all || !other_material(b, c, other))
        fit_add(fit, other, b->at.cell_centre + 3 * (int64_t)other, x, 2);
    }
  }
  for (int64_t j = v->near_start[c]; !how.faces && j < v->near_start[c + 1]; j++)
    if (how.all || !other_material(b, c, v->near[j]))
      fit_add(fit, v->near[j], b->at.cell_centre + 3 * (int64_t)v->near[j], x, 2);
}

/* Gradient of one cell straight from cells around it and boundary faces. */
static pcsim_status add_direct(builder *b, int64_t c, int class, reach how, bool *ok) {
  map_builder *map = class == ALL ? &b->direct : &b->class_cell[class];
  fit_data fit;
  pcsim_real weight[FIT_MAX * 3], own[3] = {0};
  bool begun = false;
  fit.num = 0;
  collect(b, c, class, how, &fit);
  *ok = fit_gradient(&fit, b->dim, weight);
  if (!*ok) return PCSIM_OK;
  if (class != ALL) shares_of_direct(b, c, class, &fit, weight);
  PCSIM_TRY(map_begin_row(map, (int32_t)c));
  for (int k = 0; k < fit.num; k++) {
    const pcsim_real *w = weight + k * b->dim;
    for (int i = 0; i < b->dim; i++) own[i] -= w[i];
    if (fit.column[k] >= 0) {
      PCSIM_TRY(map_add(map, fit.column[k], w));
      continue;
    }
    if (!begun) PCSIM_TRY(map_begin_row(&b->class_face[class], (int32_t)c));
    begun = true;
    PCSIM_TRY(map_add(&b->class_face[class], -1 - fit.column[k], w));
  }
  return map_add(map, (int32_t)c, own);
}

/* Gradient of one cell from its nodes; exact through the nodes of a simplex. */
static pcsim_status add_from_nodes(builder *b, int64_t c, bool *ok) {
  const pcsim_mesh_view *v = b->v;
  const int dim = b->dim;
  const int64_t first = v->cell_node_start[c], n = v->cell_node_start[c + 1] - first;
  pcsim_real mean[3] = {0}, weight[8 * 3];
  fit_data fit;
  fit.num = 0;
  for (int64_t j = 0; j < n; j++)
    for (int i = 0; i < 3; i++) mean[i] += b->at.node[3 * (int64_t)v->cell_node[first + j] + i] / (double)n;
  for (int64_t j = 0; j < n; j++) {
    const int32_t node = v->cell_node[first + j];
    fit_add(&fit, node, b->at.node + 3 * (int64_t)node, mean, 2);
    fit.w[j] = 1;
  }
  *ok = fit_gradient(&fit, dim, weight);
  if (!*ok) return PCSIM_OK;
  shares_of_nodes(b, c, &fit, weight);
  PCSIM_TRY(map_begin_row(&b->cell, (int32_t)c));
  for (int64_t j = 0; j < n; j++) PCSIM_TRY(map_add(&b->cell, fit.column[j], weight + j * dim));
  return PCSIM_OK;
}

/* Face neighbours where the cell type allows and they suffice, else all node neighbours; the own material
 * where it is thick enough. */
static pcsim_status direct_cell(builder *b, int64_t c, int class) {
  bool ok = false;
  for (int all = 0; all < (b->r->material ? 2 : 1) && !ok; all++) {
    if (uses_faces(b->v->cell_type[c])) PCSIM_TRY(add_direct(b, c, class, (reach){true, all}, &ok));
    if (!ok) PCSIM_TRY(add_direct(b, c, class, (reach){false, all}, &ok));
  }
  const pcsim_real *x = b->at.cell_centre + 3 * c;
  PCSIM_CHECK(
      ok, PCSIM_ERR_MESH,
      "cell %lld at (%.6g, %.6g, %.6g): its neighbours lie on one line or plane, no gradient can be fitted; "
      "refine the mesh there",
      (long long)b->v->cell_original[c] + 1, pcsim_part(x[0]), pcsim_part(x[1]), pcsim_part(x[2]));
  return PCSIM_OK;
}

static pcsim_status make_cells(builder *b) {
  const pcsim_mesh_view *v = b->v;
  for (int64_t c = 0; c < v->num_cells; c++) {
    bool boundary = false, from_nodes = !uses_faces(v->cell_type[c]);
    for (int64_t j = b->face_start[c]; j < b->face_start[c + 1]; j++) boundary |= b->face[j] >= b->ni;
    for (int64_t j = v->cell_node_start[c]; j < v->cell_node_start[c + 1]; j++)
      from_nodes &= b->node_state[v->cell_node[j]] >= NODE_READY_ALL;
    if (from_nodes) PCSIM_TRY(add_from_nodes(b, c, &from_nodes));
    if (from_nodes) continue;
    if (!boundary) PCSIM_TRY(direct_cell(b, c, ALL));
    for (int class = 0; boundary && class < b->num_classes; class ++) PCSIM_TRY(direct_cell(b, c, class));
  }
  return PCSIM_OK;
}

/* --------------------------------------------------------------- all maps */

static pcsim_status allocate(builder *b) {
  gradient_maps *g = b->g;
  const size_t classes = (size_t)b->num_classes, nodes = (size_t)b->v->num_nodes;
  const size_t walls = (size_t)(b->v->num_faces - b->ni);
  PCSIM_TRY(pcsim_alloc(classes, sizeof *b->class_node, &b->class_node));
  PCSIM_TRY(pcsim_alloc(classes, sizeof *b->class_cell, &b->class_cell));
  PCSIM_TRY(pcsim_alloc(classes, sizeof *b->class_face, &b->class_face));
  PCSIM_TRY(pcsim_alloc(classes, sizeof *g->class_node, &g->class_node));
  PCSIM_TRY(pcsim_alloc(classes, sizeof *g->class_cell, &g->class_cell));
  PCSIM_TRY(pcsim_alloc(classes, sizeof *g->class_face, &g->class_face));
  PCSIM_TRY(pcsim_alloc(nodes, sizeof *b->node_state, &b->node_state));
  PCSIM_TRY(pcsim_alloc(nodes * classes, sizeof *b->node_row, &b->node_row));
  PCSIM_TRY(pcsim_alloc(nodes, sizeof *g->given, &g->given));
  PCSIM_TRY(pcsim_alloc(nodes * classes, sizeof *g->given_class, &g->given_class));
  PCSIM_TRY(pcsim_alloc(walls * classes, sizeof *g->share, &g->share));
  PCSIM_TRY(map_begin(&b->node, 1));
  PCSIM_TRY(map_begin(&b->cell, b->dim));
  PCSIM_TRY(map_begin(&b->direct, b->dim));
  for (int c = 0; c < b->num_classes; c++) {
    PCSIM_TRY(map_begin(&b->class_node[c], 1));
    PCSIM_TRY(map_begin(&b->class_cell[c], b->dim));
    PCSIM_TRY(map_begin(&b->class_face[c], b->dim));
  }
  return PCSIM_OK;
}

static pcsim_status hand_over(builder *b) {
  gradient_maps *g = b->g;
  PCSIM_TRY(map_end(&b->node, &g->node));
  PCSIM_TRY(map_end(&b->cell, &g->cell));
  PCSIM_TRY(map_end(&b->direct, &g->direct));
  for (int c = 0; c < b->num_classes; c++) {
    PCSIM_TRY(map_end(&b->class_node[c], &g->class_node[c]));
    PCSIM_TRY(map_end(&b->class_cell[c], &g->class_cell[c]));
    PCSIM_TRY(map_end(&b->class_face[c], &g->class_face[c]));
  }
  return PCSIM_OK;
}

static pcsim_status build(builder *b) {
  PCSIM_TRY(allocate(b));
  PCSIM_TRY(find_faces(b));
  PCSIM_TRY(make_nodes(b));
  PCSIM_TRY(make_cells(b));
  return hand_over(b);
}

static void builder_free(builder *b) {
  map_free(&b->node.map), map_free(&b->cell.map), map_free(&b->direct.map);
  for (int c = 0; c < b->num_classes; c++) {
    if (b->class_node) map_free(&b->class_node[c].map);
    if (b->class_cell) map_free(&b->class_cell[c].map);
    if (b->class_face) map_free(&b->class_face[c].map);
  }
  pcsim_free(&b->class_node), pcsim_free(&b->class_cell), pcsim_free(&b->class_face);
  pcsim_free(&b->face_start), pcsim_free(&b->face), pcsim_free(&b->node_state), pcsim_free(&b->node_row);
}

pcsim_status gradient_create(const gradient_request *request, gradient_maps *maps) {
  const pcsim_mesh_view *v = pcsim_mesh_get(request->mesh);
  builder b = {.r = request,
               .v = v,
               .g = maps,
               .at = gradient_places_of(request),
               .dim = v->dim,
               .num_classes = request->num_classes,
               .ni = v->num_interior_faces};
  *maps = (gradient_maps){.dim = v->dim, .num_classes = request->num_classes, .num_nodes = v->num_nodes};
  pcsim_status status = build(&b);
  builder_free(&b);
  if (status != PCSIM_OK) gradient_destroy(maps);
  return status;
}

void gradient_destroy(gradient_maps *g) {
  map_free(&g->node), map_free(&g->cell), map_free(&g->direct);
  for (int c = 0; c < g->num_classes; c++) {
    if (g->class_node) map_free(&g->class_node[c]);
    if (g->class_cell) map_free(&g->class_cell[c]);
    if (g->class_face) map_free(&g->class_face[c]);
  }
  pcsim_free(&g->class_node), pcsim_free(&g->class_cell), pcsim_free(&g->class_face);
  pcsim_free(&g->given), pcsim_free(&g->given_class), pcsim_free(&g->share);
}
