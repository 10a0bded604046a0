/* SPDX-License-Identifier: BSD-2-Clause */
/* Second derivatives by successive corrections: what the gradient maps make of quadratic fields. What is
 * built is compiled twice, with dual numbers for its derivatives. */
#include "gradient_second.h"
#include "gradient_correct.h"
#include "simd.h"

#include <string.h>

enum { DIM_MAX = 3 };

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
    damped_inverse(rows, num, a, to);
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
  excess_rows rows = {0};
  pcsim_real *all = NULL, *slope = NULL, *node = NULL;
  int *class_of = NULL;
  pcsim_status status;
  PCSIM_GOTO(excess_rows_create(request, first, class, &rows), status, agree);
  PCSIM_GOTO(pcsim_alloc(nt * per_cell, sizeof *all, &all), status, agree);
  PCSIM_GOTO(pcsim_alloc(n * per_cell * (size_t)m->dim, sizeof *slope, &slope), status, agree);
  PCSIM_GOTO(pcsim_alloc((size_t)v->num_nodes * per_cell, sizeof *node, &node), status, agree);
  status = pcsim_alloc(per_cell, sizeof *class_of, &class_of);
agree:
  status = pcsim_status_agree(pcsim_mesh_comm(mesh), status);
  if (status != PCSIM_OK) goto done;
  excess_fill(&rows, 2, all);
  PCSIM_GOTO(pcsim_mesh_exchange(mesh, width * (int)(sizeof *all / sizeof(double)), (double *)all), status,
             done);
  gradient_apply(&m->maps, &(gradient_data){.m = width, .class_of = class_of, .node_value = node}, all,
                 slope);
  memcpy(m->excess + (size_t) class * n * per_cell, all, n * per_cell * sizeof *all);
  fill_inverse(m, v->num_cells, slope, m->inverse + (size_t) class * n * (size_t)(m->num * m->dim * m->dim));
done:
  excess_rows_free(&rows);
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
      &(gradient_request){request->mesh, 1, fixed, node, request->material, request->dual, 1}, &m->maps);
done:
  pcsim_free(&fixed), pcsim_free(&node);
  return status;
}

pcsim_status second_create(const gradient_request *request, const gradient_maps *first, second_maps *m) {
  const int dim = first->dim, num = second_count(dim);
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

static gradient_correction correction_of(const second_maps *maps, int m, const int *class_of) {
  return (gradient_correction){m, class_of, maps->num_cells, maps->excess, maps->inverse};
}

PCSIM_CLONES static void correct_2(const gradient_correction *c, const double *g1, const double *differences,
                                   double *out) {
  correct_cells(c, 2, 3, 4, g1, differences, out);
}
PCSIM_CLONES static void correct_3(const gradient_correction *c, const double *g1, const double *differences,
                                   double *out) {
  correct_cells(c, 3, 6, 9, g1, differences, out);
}

void second_apply(const second_maps *maps, int m, const int *class_of, const double *g1, double *differences,
                  double *node_value, double *out) {
  const gradient_data data = {.m = m * maps->dim, .class_of = all_one_class, .node_value = node_value};
  const gradient_correction c = correction_of(maps, m, class_of);
  gradient_apply(&maps->maps, &data, g1, differences);
  (maps->dim == 2 ? correct_2 : correct_3)(&c, g1, differences, out);
}

void second_apply_transposed(const second_maps *maps, int m, const int *class_of, const double *out,
                             double *differences, double *node_value, double *g1) {
  const int dim = maps->dim;
  const gradient_correction c = correction_of(maps, m, class_of);
  correct_cells_transposed(&c, dim, maps->num, dim * dim, out, differences, g1);
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
