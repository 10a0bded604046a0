/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of gradient maps applied to polynomials; compiled twice. */
#include "gradient_excess.h"
#include "quadrature.h"

#include <string.h>

enum { DIM_MAX = 3, NUMBERS_MAX = 3 * THIRD_MAX };

static pcsim_status index_rows(const linear_map *map, int64_t num, int64_t **row) {
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof **row, row));
  for (int64_t i = 0; i < num; i++) (*row)[i] = -1;
  for (int64_t i = 0; i < map->num_rows; i++) (*row)[map->row[i]] = i;
  return PCSIM_OK;
}

void excess_rows_free(excess_rows *r) {
  pcsim_free(&r->cell), pcsim_free(&r->direct), pcsim_free(&r->class_cell), pcsim_free(&r->class_face);
  pcsim_free(&r->node), pcsim_free(&r->class_node), pcsim_free(&r->given);
}

pcsim_status excess_rows_create(const gradient_request *request, const gradient_maps *g, int class,
                                excess_rows *r) {
  const pcsim_mesh_view *v = pcsim_mesh_get(request->mesh);
  const int64_t n = v->num_cells;
  *r = (excess_rows){.g = g,
                     .v = v,
                     .at = gradient_places_of(request),
                     .class = class,
                     .dim = v->dim,
                     .face_degree = request->face_degree};
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

/* ------------------------------------------------------------- rows applied */

typedef struct {
  excess_field field;
  const void *context;
  int num;
} mapped;

static void value_at_node(const excess_rows *r, const mapped *f, int64_t node, pcsim_real *value) {
  pcsim_real at[NUMBERS_MAX];
  if (r->given[node]) {
    f->field(f->context, EXCESS_NODE, node, value);
    return;
  }
  const bool own = r->class_node[node] >= 0;
  const linear_map *map = own ? &r->g->class_node[r->class] : &r->g->node;
  const int64_t row = own ? r->class_node[node] : r->node[node];
  for (int s = 0; s < f->num; s++) value[s] = 0;
  for (int64_t k = map->start[row]; k < map->start[row + 1]; k++) {
    f->field(f->context, EXCESS_CELL, map->column[k], at);
    for (int s = 0; s < f->num; s++) value[s] += map->weight[k] * at[s];
  }
}

/* gradient [d][num] += one row of a map. */
static void add_row(const excess_rows *r, const linear_map *map, int64_t row, excess_place from,
                    const mapped *f, pcsim_real *gradient) {
  if (row < 0) return;
  for (int64_t k = map->start[row]; k < map->start[row + 1]; k++) {
    pcsim_real value[NUMBERS_MAX];
    if (from == EXCESS_NODE) value_at_node(r, f, map->column[k], value);
    else f->field(f->context, from, map->column[k], value);
    for (int j = 0; j < r->dim; j++)
      for (int s = 0; s < f->num; s++) gradient[j * f->num + s] += map->weight[k * r->dim + j] * value[s];
  }
}

void excess_gradient(const excess_rows *r, int64_t c, excess_field field, const void *context, int num,
                     pcsim_real *gradient) {
  const mapped f = {field, context, num};
  memset(gradient, 0, (size_t)(r->dim * num) * sizeof *gradient);
  add_row(r, &r->g->cell, r->cell[c], EXCESS_NODE, &f, gradient);
  add_row(r, &r->g->direct, r->direct[c], EXCESS_CELL, &f, gradient);
  add_row(r, &r->g->class_cell[r->class], r->class_cell[c], EXCESS_CELL, &f, gradient);
  add_row(r, &r->g->class_face[r->class], r->class_face[c], EXCESS_FACE, &f, gradient);
}

/* ---------------------------------------------------------------- monomials */

static int count_of(int dim, int degree) { return degree == 2 ? second_count(dim) : third_count(dim); }

typedef struct {
  const excess_rows *r;
  const pcsim_real *centre;
  int degree;
} monomials;

static void monomials_of(const monomials *m, const pcsim_real *point, pcsim_real *value) {
  const int dim = m->r->dim;
  pcsim_real x[DIM_MAX];
  for (int a = 0; a < dim; a++) x[a] = point[a] - m->centre[a];
  for (int a = 0; a < dim; a++)
    for (int b = a; b < dim; b++) {
      const pcsim_real square = (a == b ? 0.5 : 1) * x[a] * x[b];
      if (m->degree == 2) value[second_index(dim, a, b)] = square;
      for (int c = b; m->degree == 3 && c < dim; c++)
        value[third_index(dim, a, b, c)] = square * x[c] * (c != b ? 1 : b != a ? 0.5 : 1.0 / 3);
    }
}

/* Means over the points of a boundary face. */
static void monomials_on_face(const monomials *m, int64_t face, int num, pcsim_real *value) {
  quadrature_point point[QUADRATURE_FACE_MAX];
  const int points = quadrature_of_face(m->r->v, face, m->r->face_degree, point);
  memset(value, 0, (size_t)num * sizeof *value);
  for (int k = 0; k < points; k++) {
    pcsim_real x[3], at[THIRD_MAX];
    for (int i = 0; i < 3; i++) x[i] = point[k].x[i];
    monomials_of(m, x, at);
    for (int s = 0; s < num; s++) value[s] += point[k].share * at[s];
  }
}

static void monomials_at(const void *context, excess_place kind, int64_t place, pcsim_real *value) {
  const monomials *m = context;
  const gradient_places *at = &m->r->at;
  const int64_t face = m->r->v->num_interior_faces + place;
  if (kind == EXCESS_CELL) monomials_of(m, at->cell_centre + 3 * place, value);
  else if (kind == EXCESS_NODE) monomials_of(m, at->node + 3 * place, value);
  else if (m->r->face_degree < 2) monomials_of(m, at->face_centre + 3 * face, value);
  else monomials_on_face(m, face, count_of(m->r->dim, m->degree), value);
}

void excess_fill(const excess_rows *r, int degree, pcsim_real *excess) {
  const int num = count_of(r->dim, degree);
  for (int64_t c = 0; c < r->v->num_cells; c++) {
    const monomials m = {r, r->at.cell_centre + 3 * c, degree};
    excess_gradient(r, c, monomials_at, &m, num, excess + c * r->dim * num);
  }
}
