/* SPDX-License-Identifier: BSD-2-Clause */
/* Second derivatives by successive corrections: what the gradient maps make of quadratic fields. What is
 * built is compiled twice, with dual numbers for its derivatives. */
#include "gradient_second.h"

#include <math.h>
#include <string.h>

enum { DIM_MAX = 3 };
/* Second derivatives that differences see by less than this (regular meshes: by 0.7 and more, random ones:
 * down to 0.1 in one cell of ten thousand) are damped: an exact inverse would multiply noise. */
static const double WEAKEST = 0.1;

/* ----------------------------------------------------- quadratic fields, mapped */

/* Rows of the maps by cell and by node; -1: none. */
typedef struct {
  const gradient_maps *g;
  const pcsim_mesh_view *v;
  gradient_places at;
  int class, dim, num;
  int64_t *cell, *direct, *class_cell, *class_face; /* [n] */
  int64_t *node, *class_node;                       /* [num_nodes] */
  uint8_t *given;                                   /* [num_nodes] 1: the class has a given value there */
} rows_of_maps;

static pcsim_status index_rows(const linear_map *map, int64_t num, int64_t **row) {
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof **row, row));
  for (int64_t i = 0; i < num; i++) (*row)[i] = -1;
  for (int64_t i = 0; i < map->num_rows; i++) (*row)[map->row[i]] = i;
  return PCSIM_OK;
}

static void rows_free(rows_of_maps *r) {
  pcsim_free(&r->cell), pcsim_free(&r->direct), pcsim_free(&r->class_cell), pcsim_free(&r->class_face);
  pcsim_free(&r->node), pcsim_free(&r->class_node), pcsim_free(&r->given);
}

static pcsim_status rows_create(const gradient_request *request, const gradient_maps *g, int class,
                                rows_of_maps *r) {
  const pcsim_mesh_view *v = pcsim_mesh_get(request->mesh);
  const int64_t n = v->num_cells;
  *r = (rows_of_maps){.g = g,
                      .v = v,
                      .at = gradient_places_of(request),
                      .class = class,
                      .dim = v->dim,
                      .num = v->dim * (v->dim + 1) / 2};
  PCSIM_TRY(index_rows(&g->cell, n, &r->cell));
  PCSIM_TRY(index_rows(&g->direct, n, &r->direct));
  PCSIM_TRY(index_rows(&g->class_cell[class], n, &r->class_cell));
  PCSIM_TRY(index_rows(&g->class_face[class], n, &r->class_face));
  PCSIM_TRY(index_rows(&g->node, v->num_nodes, &r->node));
  PCSIM_TRY(index_rows(&g->class_node[class], v->num_nodes, &r->class_node));
  PCSIM_TRY(pcsim_alloc((size_t)v->num_nodes, sizeof *r->given, &r->given));
  for (int64_t i = 0; i < g->num_given; i++)
    r->given[g->given[i]] = g->given_class[i * g->num_classes + class];
  return PCSIM_OK;
}

/* x^2/2, xy, ... at a point seen from a cell's centre. */
static void monomials(int dim, const pcsim_real *point, const pcsim_real *centre, pcsim_real *value) {
  pcsim_real x[DIM_MAX];
  for (int a = 0; a < dim; a++) x[a] = point[a] - centre[a];
  for (int a = 0; a < dim; a++)
    for (int b = a; b < dim; b++) value[second_index(dim, a, b)] = (a == b ? 0.5 : 1) * x[a] * x[b];
}

static void node_monomials(const rows_of_maps *r, int64_t node, const pcsim_real *centre, pcsim_real *value) {
  pcsim_real at[SECOND_MAX];
  if (r->given[node]) {
    monomials(r->dim, r->at.node + 3 * node, centre, value);
    return;
  }
  const bool own = r->class_node[node] >= 0;
  const linear_map *map = own ? &r->g->class_node[r->class] : &r->g->node;
  const int64_t row = own ? r->class_node[node] : r->node[node];
  for (int s = 0; s < r->num; s++) value[s] = 0;
  for (int64_t k = map->start[row]; k < map->start[row + 1]; k++) {
    monomials(r->dim, r->at.cell_centre + 3 * (int64_t)map->column[k], centre, at);
    for (int s = 0; s < r->num; s++) value[s] += map->weight[k] * at[s];
  }
}

typedef enum { FROM_CELLS, FROM_NODES, FROM_FACES } source_kind;

/* excess [d][s] += one row of a map over the monomials. */
static void add_row(const rows_of_maps *r, const linear_map *map, int64_t row, source_kind from,
                    const pcsim_real *centre, pcsim_real *excess) {
  const pcsim_mesh_view *v = r->v;
  if (row < 0) return;
  for (int64_t k = map->start[row]; k < map->start[row + 1]; k++) {
    const int64_t column = map->column[k];
    pcsim_real value[SECOND_MAX];
    if (from == FROM_NODES) node_monomials(r, column, centre, value);
    else
      monomials(r->dim,
                from == FROM_CELLS ? r->at.cell_centre + 3 * column
                                   : r->at.face_centre + 3 * (v->num_interior_faces + column),
                centre, value);
    for (int j = 0; j < r->dim; j++)
      for (int s = 0; s < r->num; s++) excess[j * r->num + s] += map->weight[k * r->dim + j] * value[s];
  }
}

/* excess [n][d][s]: gradients of the monomials, whose own are zero at the cell's centre. */
static void fill_excess(const rows_of_maps *r, pcsim_real *excess) {
  for (int64_t c = 0; c < r->v->num_cells; c++) {
    const pcsim_real *centre = r->at.cell_centre + 3 * c;
    pcsim_real *to = excess + c * r->dim * r->num;
    memset(to, 0, (size_t)(r->dim * r->num) * sizeof *to);
    add_row(r, &r->g->cell, r->cell[c], FROM_NODES, centre, to);
    add_row(r, &r->g->direct, r->direct[c], FROM_CELLS, centre, to);
    add_row(r, &r->g->class_cell[r->class], r->class_cell[c], FROM_CELLS, centre, to);
    add_row(r, &r->g->class_face[r->class], r->class_face[c], FROM_FACES, centre, to);
  }
}

/* --------------------------------------------------------- inverses in cells */

/* Eigenvalues of a symmetric matrix on its diagonal, eigenvectors in the columns of `v`: Jacobi's rotations.
 */
static void diagonalise(int num, double a[SECOND_MAX][SECOND_MAX], double v[SECOND_MAX][SECOND_MAX]) {
  enum { SWEEPS = 30 };
  for (int i = 0; i < num; i++)
    for (int j = 0; j < num; j++) v[i][j] = i == j;
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int p = 0; p < num; p++)
      for (int q = p + 1; q < num; q++) {
        if (fabs(a[p][q]) <= 1e-17 * (fabs(a[p][p]) + fabs(a[q][q]))) continue;
        const double half = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
        const double t = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(1 + half * half));
        const double c = 1 / sqrt(1 + t * t), s = t * c;
        for (int k = 0; k < num; k++) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        }
        for (int k = 0; k < num; k++) {
          const double x = a[p][k], y = a[q][k], vx = v[k][p], vy = v[k][q];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
          v[k][p] = c * vx - s * vy, v[k][q] = s * vx + c * vy;
        }
      }
}

/* Derivatives of 1/max(x, least) between two eigenvalues, its slope where they are one. */
static double slope_between(double x, double y, double least) {
  if (x > least && y > least) return -1 / (x * y);
  if (x <= least && y <= least) return 0;
  return (1 / fmax(x, least) - 1 / fmax(y, least)) / (x - y);
}

/* The inverse of a symmetric matrix in which no direction is amplified by more than 1/WEAKEST^2: a function
 * of its eigenvalues, whose derivative along a matrix has the divided differences as factors in the basis of
 * eigenvectors (Daleckii and Krein 1965). */
static void damped_inverse(int num, const pcsim_real normal[SECOND_MAX][SECOND_MAX],
                           pcsim_real inverse[SECOND_MAX][SECOND_MAX]) {
  const double least = WEAKEST * WEAKEST;
  double a[SECOND_MAX][SECOND_MAX], v[SECOND_MAX][SECOND_MAX];
  for (int i = 0; i < num; i++)
    for (int j = 0; j < num; j++) a[i][j] = pcsim_part(normal[i][j]);
  diagonalise(num, a, v);
  for (int i = 0; i < num; i++)
    for (int j = 0; j < num; j++) {
      inverse[i][j] = 0;
      for (int e = 0; e < num; e++) inverse[i][j] += v[i][e] * v[j][e] / fmax(a[e][e], least);
    }
  for (int e = 0; e < num; e++)
    for (int f = 0; f < num; f++) {
      pcsim_real along = 0;
      for (int i = 0; i < num; i++)
        for (int j = 0; j < num; j++) along += v[i][e] * v[j][f] * (normal[i][j] - pcsim_part(normal[i][j]));
      along *= slope_between(a[e][e], a[f][f], least);
      for (int i = 0; i < num; i++)
        for (int j = 0; j < num; j++) inverse[i][j] += v[i][e] * v[j][f] * along;
    }
}

/* inverse [s][rows] of the least-squares problem a [rows][s]. */
static void invert(int rows, int num, const pcsim_real *a, pcsim_real *inverse) {
  pcsim_real normal[SECOND_MAX][SECOND_MAX], damped[SECOND_MAX][SECOND_MAX];
  for (int i = 0; i < num; i++)
    for (int j = 0; j < num; j++) {
      normal[i][j] = 0;
      for (int k = 0; k < rows; k++) normal[i][j] += a[k * num + i] * a[k * num + j];
    }
  damped_inverse(num, normal, damped);
  for (int i = 0; i < num; i++)
    for (int r = 0; r < rows; r++) {
      pcsim_real sum = 0;
      for (int j = 0; j < num; j++) sum += damped[i][j] * a[r * num + j];
      inverse[i * rows + r] = sum;
    }
}

/* From the gradients of the excess, [n][d*s][d]. */
static void fill_inverse(const second_maps *m, int64_t n, const pcsim_real *slope, pcsim_real *inverse) {
  const int dim = m->dim, num = m->num, rows = dim * dim;
  for (int64_t c = 0; c < n; c++) {
    pcsim_real a[DIM_MAX * DIM_MAX * SECOND_MAX];
    pcsim_real *to = inverse + c * num * rows;
    for (int i = 0; i < dim; i++)
      for (int j = 0; j < dim; j++)
        for (int s = 0; s < num; s++)
          a[(i * dim + j) * num + s] =
              slope[((c * dim + i) * num + s) * dim + j] + (s == second_index(dim, i, j));
    invert(rows, num, a, to);
  }
}

/* ---------------------------------------------------------------------- all */

static pcsim_status fill_class(const gradient_request *request, const gradient_maps *first, int class,
                               second_maps *m) {
  const pcsim_mesh *mesh = request->mesh;
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  const size_t n = (size_t)v->num_cells, nt = n + (size_t)v->num_ghosts;
  const int width = m->dim * m->num;
  const size_t per_cell = (size_t)width;
  rows_of_maps rows = {0};
  pcsim_real *all = NULL, *slope = NULL, *node = NULL;
  int *class_of = NULL;
  pcsim_status status;
  PCSIM_GOTO(rows_create(request, first, class, &rows), status, agree);
  PCSIM_GOTO(pcsim_alloc(nt * per_cell, sizeof *all, &all), status, agree);
  PCSIM_GOTO(pcsim_alloc(n * per_cell * (size_t)m->dim, sizeof *slope, &slope), status, agree);
  PCSIM_GOTO(pcsim_alloc((size_t)v->num_nodes * per_cell, sizeof *node, &node), status, agree);
  status = pcsim_alloc(per_cell, sizeof *class_of, &class_of);
agree:
  status = pcsim_status_agree(pcsim_mesh_comm(mesh), status);
  if (status != PCSIM_OK) goto done;
  fill_excess(&rows, all);
  PCSIM_GOTO(pcsim_mesh_exchange(mesh, width * (int)(sizeof *all / sizeof(double)), (double *)all), status,
             done);
  gradient_apply(&m->maps, &(gradient_data){.m = width, .class_of = class_of, .node_value = node}, all,
                 slope);
  memcpy(m->excess + (size_t) class * n * per_cell, all, n * per_cell * sizeof *all);
  fill_inverse(m, v->num_cells, slope, m->inverse + (size_t) class * n * (size_t)(m->num * m->dim * m->dim));
done:
  rows_free(&rows);
  pcsim_free(&all), pcsim_free(&slope), pcsim_free(&node), pcsim_free(&class_of);
  return status;
}

/* Differences of gradients over cells of one material: nothing is given anywhere. */
static pcsim_status make_maps(const gradient_request *request, second_maps *m) {
  const pcsim_mesh_view *v = pcsim_mesh_get(request->mesh);
  uint8_t *fixed = NULL, *node = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)(v->num_faces - v->num_interior_faces), sizeof *fixed, &fixed), status,
             done);
  PCSIM_GOTO(pcsim_alloc((size_t)v->num_patches, sizeof *node, &node), status, done);
  memset(node, GRADIENT_NODE_NONE, (size_t)v->num_patches);
  status = gradient_create(
      &(gradient_request){request->mesh, 1, fixed, node, request->material, request->dual}, &m->maps);
done:
  pcsim_free(&fixed), pcsim_free(&node);
  return status;
}

pcsim_status second_create(const gradient_request *request, const gradient_maps *first, second_maps *m) {
  const int dim = first->dim, num = dim * (dim + 1) / 2;
  const int64_t n = pcsim_mesh_get(request->mesh)->num_cells;
  const size_t cells = (size_t)n * (size_t)first->num_classes;
  *m = (second_maps){.dim = dim, .num = num, .num_classes = first->num_classes, .num_cells = n};
  pcsim_status status = make_maps(request, m);
  if (status == PCSIM_OK) status = pcsim_alloc(cells * (size_t)(dim * num), sizeof *m->excess, &m->excess);
  if (status == PCSIM_OK)
    status = pcsim_alloc(cells * (size_t)(num * dim * dim), sizeof *m->inverse, &m->inverse);
  status = pcsim_status_agree(pcsim_mesh_comm(request->mesh), status);
  for (int c = 0; c < first->num_classes && status == PCSIM_OK; c++)
    status = fill_class(request, first, c, m);
  if (status != PCSIM_OK) second_destroy(m);
  return status;
}

void second_destroy(second_maps *m) {
  gradient_destroy(&m->maps);
  pcsim_free(&m->excess), pcsim_free(&m->inverse);
}

#ifdef PCSIM_DUAL

/* --------------------------------------------------------------- derivatives */

static void keep_derivatives(int64_t n, pcsim_real *x) {
  double *to = (double *)x;
  for (int64_t i = 0; i < n; i++) to[i] = pcsim_derivative_of(x[i]);
}

static void keep_map(linear_map *map) {
  keep_derivatives(map->start ? map->start[map->num_rows] * map->width : 0, map->weight);
}

/* In place: what is left of the memory stays unused. */
static void keep_maps(int64_t num_walls, gradient_maps *g) {
  keep_map(&g->node), keep_map(&g->cell), keep_map(&g->direct);
  for (int c = 0; c < g->num_classes; c++)
    keep_map(&g->class_node[c]), keep_map(&g->class_cell[c]), keep_map(&g->class_face[c]);
  keep_derivatives(num_walls * g->num_classes, g->share);
}

pcsim_status gradient_tangent_create(const gradient_request *request, void *maps, void *second) {
  const pcsim_mesh_view *v = pcsim_mesh_get(request->mesh);
  const int64_t walls = v->num_faces - v->num_interior_faces;
  gradient_maps g;
  second_maps s;
  PCSIM_TRY(gradient_create(request, &g));
  if (second) {
    const pcsim_status status = second_create(request, &g, &s);
    if (status != PCSIM_OK) {
      gradient_destroy(&g);
      return status;
    }
    const int64_t size = s.num_classes * s.num_cells * s.dim * s.num;
    keep_maps(walls, &s.maps);
    keep_derivatives(size, s.excess), keep_derivatives(size * s.dim, s.inverse);
    memcpy(second, &s, sizeof s);
  }
  keep_maps(walls, &g);
  memcpy(maps, &g, sizeof g);
  return PCSIM_OK;
}

#else

/* ------------------------------------------------------------------ applied */

static const int all_one_class[DIM_MAX * 64];

void second_apply(const second_maps *maps, int m, const int *class_of, const double *g1, double *differences,
                  double *node_value, double *out) {
  const int dim = maps->dim, num = maps->num, rows = dim * dim;
  const int64_t n = maps->num_cells;
  const gradient_data data = {.m = m * dim, .class_of = all_one_class, .node_value = node_value};
  gradient_apply(&maps->maps, &data, g1, differences);
  for (int64_t c = 0; c < n; c++)
    for (int i = 0; i < m; i++) {
      const int64_t at = class_of[i] * n + c;
      const double *T = maps->excess + at * dim * num, *S = maps->inverse + at * num * rows;
      const double *D = differences + (c * m + i) * rows, *g = g1 + (c * m + i) * dim;
      double *to = out + (c * m + i) * (dim + num);
      for (int s = 0; s < num; s++) {
        double sum = 0;
        for (int k = 0; k < rows; k++) sum += S[s * rows + k] * D[k];
        to[dim + s] = sum;
      }
      for (int j = 0; j < dim; j++) {
        to[j] = g[j];
        for (int s = 0; s < num; s++) to[j] -= T[j * num + s] * to[dim + s];
      }
    }
}

void second_apply_transposed(const second_maps *maps, int m, const int *class_of, const double *out,
                             double *differences, double *node_value, double *g1) {
  const int dim = maps->dim, num = maps->num, rows = dim * dim;
  const int64_t n = maps->num_cells;
  for (int64_t c = 0; c < n; c++)
    for (int i = 0; i < m; i++) {
      const int64_t at = class_of[i] * n + c;
      const double *T = maps->excess + at * dim * num, *S = maps->inverse + at * num * rows;
      const double *from = out + (c * m + i) * (dim + num);
      double *D = differences + (c * m + i) * rows, *g = g1 + (c * m + i) * dim, second[SECOND_MAX];
      for (int s = 0; s < num; s++) {
        second[s] = from[dim + s];
        for (int j = 0; j < dim; j++) second[s] -= T[j * num + s] * from[j];
      }
      for (int k = 0; k < rows; k++) {
        D[k] = 0;
        for (int s = 0; s < num; s++) D[k] += S[s * rows + k] * second[s];
      }
      for (int j = 0; j < dim; j++) g[j] += from[j];
    }
  const gradient_cotangent to = {.m = m * dim, .class_of = all_one_class, .q = g1, .node_value = node_value};
  gradient_apply_transposed(&maps->maps, &to, differences);
}

void second_apply_tangent(const second_maps *maps, const second_maps *d_maps, int m, const int *class_of,
                          const double *g1, const double *d_g1, double *const differences[2],
                          double *node_value, double *d_out) {
  const int dim = maps->dim, num = maps->num, rows = dim * dim;
  const int64_t n = maps->num_cells;
  const gradient_data data = {.m = m * dim, .class_of = all_one_class, .node_value = node_value};
  gradient_apply(&maps->maps, &data, g1, differences[0]);
  gradient_tangent_apply(&maps->maps, &d_maps->maps, &data, g1, d_g1, differences[1]);
  for (int64_t c = 0; c < n; c++)
    for (int i = 0; i < m; i++) {
      const int64_t at = class_of[i] * n + c;
      const double *T = maps->excess + at * dim * num, *S = maps->inverse + at * num * rows;
      const double *dT = d_maps->excess + at * dim * num, *dS = d_maps->inverse + at * num * rows;
      const double *D = differences[0] + (c * m + i) * rows, *dD = differences[1] + (c * m + i) * rows;
      double *to = d_out + (c * m + i) * (dim + num), H[SECOND_MAX];
      for (int s = 0; s < num; s++) {
        double sum = 0;
        H[s] = 0;
        for (int k = 0; k < rows; k++) {
          H[s] += S[s * rows + k] * D[k];
          sum += dS[s * rows + k] * D[k] + S[s * rows + k] * dD[k];
        }
        to[dim + s] = sum;
      }
      for (int j = 0; j < dim; j++) {
        to[j] = d_g1[(c * m + i) * dim + j];
        for (int s = 0; s < num; s++) to[j] -= dT[j * num + s] * H[s] + T[j * num + s] * to[dim + s];
      }
    }
}
#endif
