/* SPDX-License-Identifier: BSD-2-Clause */
/* Building the gradient maps of flow.h. Which stencil a cell gets depends on the cells around it alone,
 * never on the partition, so that every rank count discretises alike. */
#include "flow.h"

#include <math.h>
#include <string.h>

/* Which unknowns a map serves; ALL is only for cells without a boundary face. */
enum { VELOCITY, PRESSURE, ALL };

/* ------------------------------------------------------------- growing maps */

typedef struct {
  flow_map map;
  int64_t rows_room, columns_room;
} map_builder;

static pcsim_status builder_begin_row(map_builder *b, int32_t row) {
  flow_map *m = &b->map;
  if (m->num_rows == b->rows_room) {
    b->rows_room = b->rows_room ? b->rows_room * 2 : 1024;
    PCSIM_TRY(pcsim_realloc((size_t)b->rows_room, sizeof *m->row, &m->row));
    PCSIM_TRY(pcsim_realloc((size_t)b->rows_room + 1, sizeof *m->start, &m->start));
  }
  m->row[m->num_rows] = row;
  m->start[m->num_rows + 1] = m->start[m->num_rows];
  m->num_rows++;
  return PCSIM_OK;
}

static pcsim_status builder_add(map_builder *b, int32_t column, const double *weight) {
  flow_map *m = &b->map;
  const int64_t at = m->start[m->num_rows];
  if (at == b->columns_room) {
    b->columns_room = b->columns_room ? b->columns_room + b->columns_room / 2 : 4096;
    PCSIM_TRY(pcsim_realloc((size_t)b->columns_room, sizeof *m->column, &m->column));
    PCSIM_TRY(pcsim_realloc((size_t)(b->columns_room * m->width), sizeof *m->weight, &m->weight));
  }
  m->column[at] = column;
  memcpy(m->weight + at * m->width, weight, (size_t)m->width * sizeof *weight);
  m->start[m->num_rows]++;
  return PCSIM_OK;
}

/* Give back the unused room. An empty map keeps start = {0}. */
static pcsim_status builder_end(map_builder *b, flow_map *map) {
  flow_map *m = &b->map;
  PCSIM_TRY(pcsim_realloc((size_t)m->num_rows + 1, sizeof *m->start, &m->start));
  if (m->num_rows) PCSIM_TRY(pcsim_realloc((size_t)m->num_rows, sizeof *m->row, &m->row));
  const int64_t nnz = m->start[m->num_rows];
  if (nnz) {
    PCSIM_TRY(pcsim_realloc((size_t)nnz, sizeof *m->column, &m->column));
    PCSIM_TRY(pcsim_realloc((size_t)(nnz * m->width), sizeof *m->weight, &m->weight));
  }
  *map = *m;
  memset(m, 0, sizeof *m);
  return PCSIM_OK;
}

static void map_free(flow_map *m) {
  pcsim_free(&m->row), pcsim_free(&m->start), pcsim_free(&m->column), pcsim_free(&m->weight);
}

/* ---------------------------------------------------------- small fits */

enum { FIT_MAX = 512 };
typedef struct {
  int num;
  int32_t column[FIT_MAX]; /* cell, or -1 - (boundary face) */
  double x[FIT_MAX][3];    /* relative to the target */
  double w[FIT_MAX];
} fit_data;

static void fit_add(fit_data *fit, int32_t column, const double *point, const double *target, int power) {
  if (fit->num == FIT_MAX) return;
  double *x = fit->x[fit->num], r2 = 0;
  for (int i = 0; i < 3; i++) x[i] = point[i] - target[i], r2 += x[i] * x[i];
  fit->column[fit->num] = column;
  fit->w[fit->num++] = r2 > 0 ? (power == 2 ? 1 / r2 : 1 / sqrt(r2)) : 1e30;
}

/* Inverse of a symmetric positive matrix scaled to unit diagonal; false if it is singular to round-off. */
static bool invert(int dim, double a[3][3], double inv[3][3]) {
  double s[3], c[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < dim; i++) {
    if (!(a[i][i] > 0)) return false;
    s[i] = 1 / sqrt(a[i][i]);
  }
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) c[i][j] = a[i][j] * s[i] * s[j];
  const double c00 = c[1][1] * c[2][2] - c[1][2] * c[2][1], c01 = c[1][2] * c[2][0] - c[1][0] * c[2][2],
               c02 = c[1][0] * c[2][1] - c[1][1] * c[2][0];
  const double det = c[0][0] * c00 + c[0][1] * c01 + c[0][2] * c02;
  if (!(det > 1e-10)) return false;
  const double m[3][3] = {
      {c00, c[0][2] * c[2][1] - c[0][1] * c[2][2], c[0][1] * c[1][2] - c[0][2] * c[1][1]},
      {c01, c[0][0] * c[2][2] - c[0][2] * c[2][0], c[0][2] * c[1][0] - c[0][0] * c[1][2]},
      {c02, c[0][1] * c[2][0] - c[0][0] * c[2][1], c[0][0] * c[1][1] - c[0][1] * c[1][0]}};
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) inv[i][j] = m[i][j] / det * s[i] * s[j];
  return true;
}

/* Weights of the value at the target of the linear least-squares fit; false if it is not unique or
 * extrapolates far. */
static bool fit_value(const fit_data *fit, int dim, double *weight) {
  double sum = 0, mean[3] = {0}, a[3][3] = {{0}}, inv[3][3] = {{0}}, b[3];
  if (fit->num < dim + 1) return false;
  for (int k = 0; k < fit->num; k++) {
    sum += fit->w[k];
    for (int i = 0; i < dim; i++) mean[i] += fit->w[k] * fit->x[k][i];
  }
  for (int i = 0; i < dim; i++) mean[i] /= sum;
  for (int k = 0; k < fit->num; k++)
    for (int i = 0; i < dim; i++)
      for (int j = 0; j < dim; j++)
        a[i][j] += fit->w[k] * (fit->x[k][i] - mean[i]) * (fit->x[k][j] - mean[j]);
  if (!invert(dim, a, inv)) return false;
  double total = 0;
  for (int i = 0; i < dim; i++) {
    b[i] = 0;
    for (int j = 0; j < dim; j++) b[i] += inv[i][j] * mean[j];
  }
  for (int k = 0; k < fit->num; k++) {
    double along = 0;
    for (int i = 0; i < dim; i++) along += b[i] * (fit->x[k][i] - mean[i]);
    weight[k] = fit->w[k] * (1 / sum - along);
    total += fabs(weight[k]);
  }
  return total < 8;
}

/* Weights [num][dim] of the gradient at the target whose own value is known: grad = sum w (phi_k - phi). */
static bool fit_gradient(const fit_data *fit, int dim, double *weight) {
  double a[3][3] = {{0}}, inv[3][3] = {{0}};
  if (fit->num < dim) return false;
  for (int k = 0; k < fit->num; k++)
    for (int i = 0; i < dim; i++)
      for (int j = 0; j < dim; j++) a[i][j] += fit->w[k] * fit->x[k][i] * fit->x[k][j];
  if (!invert(dim, a, inv)) return false;
  for (int k = 0; k < fit->num; k++)
    for (int i = 0; i < dim; i++) {
      double s = 0;
      for (int j = 0; j < dim; j++) s += inv[i][j] * fit->x[k][j];
      weight[k * dim + i] = fit->w[k] * s;
    }
  return true;
}

/* ------------------------------------------------------------------- nodes */

/* Value at a node from the cells around it. */
static pcsim_status add_node(const flow *f, map_builder *b, int64_t node, bool *ok) {
  const pcsim_mesh_view *v = f->view;
  double weight[FIT_MAX];
  fit_data fit = {0};
  for (int64_t j = v->node_cell_start[node]; j < v->node_cell_start[node + 1]; j++)
    fit_add(&fit, v->node_cell[j], v->cell_centre + 3 * (int64_t)v->node_cell[j], v->node + 3 * node, 1);
  *ok = fit_value(&fit, f->dim, weight);
  if (!*ok) return PCSIM_OK;
  PCSIM_TRY(builder_begin_row(b, (int32_t)node));
  for (int k = 0; k < fit.num; k++) PCSIM_TRY(builder_add(b, fit.column[k], &weight[k]));
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- cells */

/* Faces of each owned cell. */
typedef struct {
  int64_t *start;
  int32_t *face;
} cell_faces;

static pcsim_status cell_faces_create(const flow *f, cell_faces *t) {
  const pcsim_mesh_view *v = f->view;
  PCSIM_TRY(pcsim_alloc((size_t)f->n + 2, sizeof(int64_t), &t->start));
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t k = 0; k < v->num_faces; k++)
      for (int s = 0; s < (k < f->ni ? 2 : 1); s++) {
        const int32_t c = s ? v->neighbour[k] : v->owner[k];
        if (c >= f->n) continue;
        if (pass) t->face[t->start[c + 1]++] = (int32_t)k;
        else t->start[c + 2]++;
      }
    if (pass) break;
    for (int64_t i = 0; i < f->n; i++) t->start[i + 2] += t->start[i + 1];
    PCSIM_TRY(pcsim_alloc((size_t)t->start[f->n + 1], sizeof(int32_t), &t->face));
  }
  return PCSIM_OK;
}

/* True if the boundary face fixes this variable. */
static bool fixes(const flow *f, int64_t face, int variable) {
  const uint8_t kind = f->wall_kind[face];
  if (variable == PRESSURE) return kind == PCSIM_FLOW_PRESSURE;
  return variable == VELOCITY && (kind == PCSIM_FLOW_VELOCITY || kind == PCSIM_FLOW_WALL);
}

/* The difference quotient between cell and wall is the slope at half the wall distance y of the cell; the
 * cell's fitted gradient is the slope at some distance y_g, which the fit of y^2/2 tells. The slope at the
 * wall is their extrapolation: two + share (two - fitted), share = (y/2) / (y_g - y/2). */
static void set_wall_share(flow *f, double *wall, double y, double y_g) {
  const double share = 0.5 * y / (y_g - 0.5 * y);
  wall[2 * f->dim + 1] = f->wall_order * (share > 0 && share < 1 ? share : y_g > 0 ? 1 : 0);
}

/* Unit normal into the flow and distance of the cell, of a boundary face. */
static double wall_normal(const flow *f, const double *wall, double normal[3]) {
  double area = 0, y = 0;
  normal[0] = normal[1] = normal[2] = 0;
  for (int i = 0; i < f->dim; i++) area += wall[i] * wall[i];
  area = sqrt(area);
  for (int i = 0; i < f->dim; i++) normal[i] = -wall[i] / area;
  for (int i = 0; i < f->dim; i++) y -= normal[i] * wall[f->dim + i];
  return y;
}

/* Shares of a cell fitted from its neighbours: weights [num][d] of (phi_k - phi). */
static void shares_of_direct(flow *f, int64_t c, const cell_faces *t, const fit_data *fit,
                             const double *weight) {
  const int dim = f->dim;
  for (int64_t j = t->start[c]; j < t->start[c + 1]; j++) {
    const int64_t k = t->face[j] - f->ni;
    if (k < 0 || !fixes(f, k, VELOCITY)) continue;
    double *wall = f->wall + k * FLOW_WALL_WIDTH(dim), normal[3], y_g = 0;
    const double y = wall_normal(f, wall, normal);
    for (int m = 0; m < fit->num; m++) {
      double y_m = y, along = 0;
      for (int i = 0; i < dim; i++) {
        y_m += fit->x[m][i] * normal[i];
        along += weight[m * dim + i] * normal[i];
      }
      y_g += along * 0.5 * (y_m * y_m - y * y);
    }
    set_wall_share(f, wall, y, y_g);
  }
}

/* y^2/2 at a node as the node map would give it, y from the plane of a boundary face; row -1: a wall node. */
static double node_parabola(const flow *f, const flow_map *map, int64_t row, int64_t node, const double *face,
                            const double *normal) {
  const pcsim_mesh_view *v = f->view;
  double sum = 0;
  const int64_t first = row < 0 ? 0 : map->start[row], last = row < 0 ? 1 : map->start[row + 1];
  for (int64_t k = first; k < last; k++) {
    const double *x = row < 0 ? v->node + 3 * node : v->cell_centre + 3 * (int64_t)map->column[k];
    double y = 0;
    for (int i = 0; i < f->dim; i++) y += normal[i] * (x[i] - face[i]);
    sum += (row < 0 ? 1 : map->weight[k]) * 0.5 * y * y;
  }
  return sum;
}

/* Shares of a cell whose gradient comes from its nodes; node_row is the row in the node map, -1 at walls. */
static void shares_of_nodes(flow *f, int64_t c, const cell_faces *t, const fit_data *fit,
                            const double *weight, const flow_map *node_map, const int64_t *node_row) {
  const int dim = f->dim;
  for (int64_t j = t->start[c]; j < t->start[c + 1]; j++) {
    const int64_t k = t->face[j] - f->ni;
    if (k < 0 || !fixes(f, k, VELOCITY)) continue;
    double *wall = f->wall + k * FLOW_WALL_WIDTH(dim), normal[3], y_g = 0;
    const double y = wall_normal(f, wall, normal), *face = f->view->face_centre + 3 * (int64_t)t->face[j];
    for (int m = 0; m < fit->num; m++) {
      const double value = node_parabola(f, node_map, node_row[fit->column[m]], fit->column[m], face, normal);
      for (int i = 0; i < dim; i++) y_g += weight[m * dim + i] * normal[i] * value;
    }
    set_wall_share(f, wall, y, y_g);
  }
}

/* Gradient of one cell straight from cells around it: face neighbours, or every node neighbour. */
static pcsim_status add_direct(flow *f, map_builder *b, int64_t c, const cell_faces *t, int variable,
                               bool faces, bool *ok) {
  const pcsim_mesh_view *v = f->view;
  const int dim = f->dim, m = dim + 1;
  const double *x = v->cell_centre + 3 * c;
  fit_data fit = {0};
  double weight[FIT_MAX * 3], own[3] = {0};
  for (int64_t j = t->start[c]; j < t->start[c + 1]; j++) {
    const int64_t k = t->face[j];
    if (k >= f->ni) {
      if (fixes(f, k - f->ni, variable))
        fit_add(&fit, (int32_t)(-1 - (k - f->ni)), v->face_centre + 3 * k, x, 2);
    } else if (faces) {
      const int32_t other = v->owner[k] == c ? v->neighbour[k] : v->owner[k];
      fit_add(&fit, other, v->cell_centre + 3 * (int64_t)other, x, 2);
    }
  }
  if (!faces)
    for (int64_t j = v->near_start[c]; j < v->near_start[c + 1]; j++)
      fit_add(&fit, v->near[j], v->cell_centre + 3 * (int64_t)v->near[j], x, 2);
  *ok = fit_gradient(&fit, dim, weight);
  if (!*ok) return PCSIM_OK;
  if (variable == VELOCITY) shares_of_direct(f, c, t, &fit, weight);
  PCSIM_TRY(builder_begin_row(b, (int32_t)c));
  for (int k = 0; k < fit.num; k++) {
    const double *w = weight + k * dim;
    for (int i = 0; i < dim; i++) own[i] -= w[i];
    if (fit.column[k] >= 0) {
      PCSIM_TRY(builder_add(b, fit.column[k], w));
      continue;
    }
    const double *given = f->wall_value + (int64_t)(-1 - fit.column[k]) * m;
    double *constant = f->gradient.cell_constant + c * m * dim;
    for (int a = variable == PRESSURE ? dim : 0; a < (variable == PRESSURE ? m : dim); a++)
      for (int i = 0; i < dim; i++) constant[a * dim + i] += w[i] * given[a];
  }
  return builder_add(b, (int32_t)c, own);
}

/* Gradient of one cell from its nodes; exact through the nodes of a simplex. */
static pcsim_status add_from_nodes(flow *f, map_builder *b, int64_t c, const cell_faces *t,
                                   const flow_map *node_map, const int64_t *node_row, bool *ok) {
  const pcsim_mesh_view *v = f->view;
  const int dim = f->dim;
  const int64_t first = v->cell_node_start[c], n = v->cell_node_start[c + 1] - first;
  double mean[3] = {0}, weight[8 * 3];
  fit_data fit = {0};
  for (int64_t j = 0; j < n; j++)
    for (int i = 0; i < 3; i++) mean[i] += v->node[3 * (int64_t)v->cell_node[first + j] + i] / (double)n;
  for (int64_t j = 0; j < n; j++) {
    const int32_t node = v->cell_node[first + j];
    fit_add(&fit, node, v->node + 3 * (int64_t)node, mean, 2);
    fit.w[j] = 1;
  }
  *ok = fit_gradient(&fit, dim, weight);
  if (!*ok) return PCSIM_OK;
  shares_of_nodes(f, c, t, &fit, weight, node_map, node_row);
  PCSIM_TRY(builder_begin_row(b, (int32_t)c));
  for (int64_t j = 0; j < n; j++) PCSIM_TRY(builder_add(b, fit.column[j], weight + j * dim));
  return PCSIM_OK;
}

static bool uses_faces(uint8_t type) { return type == PCSIM_CELL_QUAD || type == PCSIM_CELL_HEXA; }

/* Face neighbours where the cell type allows and they suffice, else all node neighbours. */
static pcsim_status direct_cell(flow *f, map_builder *b, int64_t c, const cell_faces *t, int variable) {
  bool ok = false;
  if (uses_faces(f->view->cell_type[c])) PCSIM_TRY(add_direct(f, b, c, t, variable, true, &ok));
  if (!ok) PCSIM_TRY(add_direct(f, b, c, t, variable, false, &ok));
  const double *x = f->view->cell_centre + 3 * c;
  PCSIM_CHECK(
      ok, PCSIM_ERR_MESH,
      "cell %lld at (%.6g, %.6g, %.6g): its neighbours lie on one line or plane, no gradient can be fitted; "
      "refine the mesh there",
      (long long)f->view->cell_original[c] + 1, x[0], x[1], x[2]);
  return PCSIM_OK;
}

/* --------------------------------------------------------------- all maps */

typedef struct {
  map_builder node, wall_node, cell, direct[3];
} builders;

static void builders_free(builders *b) {
  map_free(&b->node.map), map_free(&b->wall_node.map), map_free(&b->cell.map);
  for (int s = 0; s < 3; s++) map_free(&b->direct[s].map);
}

static pcsim_status builders_start(builders *b, int dim) {
  map_builder *all[] = {&b->node, &b->wall_node, &b->cell, &b->direct[0], &b->direct[1], &b->direct[2]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    all[i]->map.width = i < 2 ? 1 : dim;
    PCSIM_TRY(pcsim_alloc(1, sizeof(int64_t), &all[i]->map.start));
  }
  return PCSIM_OK;
}

/* What the boundary says of velocity at the nodes of a patch. */
typedef struct {
  bool wall; /* no-slip, one velocity on all of it */
  bool slip; /* nothing: nodes take both variables from the cells */
  double velocity[3];
} patch_kind;

/* Collective, since a patch has faces on several ranks. `range` is [patches][2][4]: lowest value, and lowest
 * negative value, of velocity and kind. */
static void classify_patches(const flow *f, patch_kind *kind, double *range) {
  const pcsim_mesh_view *v = f->view;
  const int dim = f->dim;
  for (int p = 0; p < v->num_patches; p++) {
    double *low = range + 8 * p, *high = low + 4;
    for (int i = 0; i < 4; i++) low[i] = high[i] = 1e300;
    for (int64_t k = v->patch_start[p] - f->ni; k < v->patch_start[p + 1] - f->ni; k++)
      for (int i = 0; i <= dim; i++) {
        const double x = i < dim ? f->wall_value[k * (dim + 1) + i] : f->wall_kind[k];
        low[i] = fmin(low[i], x);
        high[i] = fmin(high[i], -x);
      }
  }
  MPI_Allreduce(MPI_IN_PLACE, range, 8 * v->num_patches, MPI_DOUBLE, MPI_MIN, pcsim_mesh_comm(f->mesh));
  for (int p = 0; p < v->num_patches; p++) {
    const double *low = range + 8 * p, *high = low + 4;
    bool uniform = true;
    for (int i = 0; i <= dim; i++) uniform &= low[i] == -high[i];
    for (int i = 0; i < dim; i++) kind[p].velocity[i] = low[i];
    kind[p].wall = uniform && low[dim] == PCSIM_FLOW_WALL;
    kind[p].slip = low[dim] == PCSIM_FLOW_SLIP && -high[dim] == PCSIM_FLOW_SLIP;
  }
}

enum { NODE_UNUSED, NODE_WANTED, NODE_READY }; /* READY: a value can be given to the node */

static pcsim_status make_nodes(flow *f, builders *b, const patch_kind *patch, uint8_t *node_state,
                               int64_t *node_row) {
  const pcsim_mesh_view *v = f->view;
  for (int64_t c = 0; c < f->n; c++)
    if (!uses_faces(v->cell_type[c]))
      for (int64_t j = v->cell_node_start[c]; j < v->cell_node_start[c + 1]; j++)
        node_state[v->cell_node[j]] = NODE_WANTED;
  for (int64_t node = 0; node < v->num_nodes; node++) {
    const int32_t p = v->node_patch[node];
    const bool wall = p >= 0 && patch[p].wall, inside = p == PCSIM_NODE_INTERIOR || (p >= 0 && patch[p].slip);
    bool ok = false;
    node_row[node] = -1;
    if (node_state[node] != NODE_WANTED || !(wall || inside)) continue;
    PCSIM_TRY(add_node(f, wall ? &b->wall_node : &b->node, node, &ok));
    if (!ok) continue;
    node_state[node] = NODE_READY;
    if (!wall) node_row[node] = b->node.map.num_rows - 1;
  }
  return PCSIM_OK;
}

static pcsim_status make_cells(flow *f, builders *b, const cell_faces *t, const uint8_t *node_state,
                               const int64_t *node_row) {
  const pcsim_mesh_view *v = f->view;
  for (int64_t c = 0; c < f->n; c++) {
    bool boundary = false, from_nodes = !uses_faces(v->cell_type[c]);
    for (int64_t j = t->start[c]; j < t->start[c + 1]; j++) boundary |= t->face[j] >= f->ni;
    for (int64_t j = v->cell_node_start[c]; j < v->cell_node_start[c + 1]; j++)
      from_nodes &= node_state[v->cell_node[j]] == NODE_READY;
    if (from_nodes) PCSIM_TRY(add_from_nodes(f, &b->cell, c, t, &b->node.map, node_row, &from_nodes));
    if (from_nodes) continue;
    for (int s = boundary ? VELOCITY : ALL; s <= (boundary ? PRESSURE : ALL); s++)
      PCSIM_TRY(direct_cell(f, &b->direct[s], c, t, s));
  }
  return PCSIM_OK;
}

/* What set-up needs and throws away. */
typedef struct {
  builders b;
  cell_faces faces;
  uint8_t *node_state;
  int64_t *node_row;
  patch_kind *patch;
  double *range;
} workspace;

static pcsim_status build(flow *f, workspace *w) {
  flow_gradient *g = &f->gradient;
  const pcsim_mesh_view *v = f->view;
  const size_t m = (size_t)f->dim + 1, nodes = (size_t)v->num_nodes, dim = (size_t)f->dim;
  PCSIM_TRY(builders_start(&w->b, f->dim));
  PCSIM_TRY(cell_faces_create(f, &w->faces));
  PCSIM_TRY(pcsim_alloc(nodes, sizeof(uint8_t), &w->node_state));
  PCSIM_TRY(pcsim_alloc(nodes, sizeof(int64_t), &w->node_row));
  PCSIM_TRY(pcsim_alloc(nodes * m, sizeof(double), &g->node_value));
  PCSIM_TRY(pcsim_alloc((size_t)f->n * m * dim, sizeof(double), &g->cell_constant));
  PCSIM_TRY(make_nodes(f, &w->b, w->patch, w->node_state, w->node_row));
  PCSIM_TRY(make_cells(f, &w->b, &w->faces, w->node_state, w->node_row));
  PCSIM_TRY(builder_end(&w->b.node, &g->node));
  PCSIM_TRY(builder_end(&w->b.wall_node, &g->wall_node));
  PCSIM_TRY(builder_end(&w->b.cell, &g->cell));
  for (int s = 0; s < 3; s++) PCSIM_TRY(builder_end(&w->b.direct[s], &g->direct[s]));
  PCSIM_TRY(pcsim_alloc((size_t)g->wall_node.num_rows * dim, sizeof(double), &g->wall_velocity));
  for (int64_t i = 0; i < g->wall_node.num_rows; i++)
    memcpy(g->wall_velocity + i * f->dim, w->patch[v->node_patch[g->wall_node.row[i]]].velocity,
           dim * sizeof(double));
  return PCSIM_OK;
}

pcsim_status flow_gradient_create(flow *f) {
  workspace w;
  memset(&w, 0, sizeof w);
  const size_t patches = (size_t)f->view->num_patches;
  pcsim_status status = pcsim_alloc(patches, sizeof *w.patch, &w.patch);
  if (status == PCSIM_OK) status = pcsim_alloc(8 * patches, sizeof *w.range, &w.range);
  status = pcsim_status_agree(pcsim_mesh_comm(f->mesh), status);
  if (status == PCSIM_OK) {
    classify_patches(f, w.patch, w.range);
    status = build(f, &w);
  }
  pcsim_free(&w.faces.start), pcsim_free(&w.faces.face);
  builders_free(&w.b);
  pcsim_free(&w.node_state), pcsim_free(&w.node_row), pcsim_free(&w.patch), pcsim_free(&w.range);
  return status;
}

void flow_gradient_destroy(flow_gradient *g) {
  map_free(&g->node), map_free(&g->wall_node), map_free(&g->cell);
  for (int s = 0; s < 3; s++) map_free(&g->direct[s]);
  pcsim_free(&g->node_value), pcsim_free(&g->cell_constant), pcsim_free(&g->wall_velocity);
}
