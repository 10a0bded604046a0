/* SPDX-License-Identifier: BSD-2-Clause */
/* Third derivatives by one more successive correction: what the maps of second derivatives make of cubics. */
#include "gradient_third.h"
#include "gradient_correct.h"
#include "simd.h"

#include <string.h>

enum { DIM_MAX = 3 };

/* ------------------------------------------------------- cubic fields, mapped */

/* Gradients g1 of the monomials about one cell, as its neighbours have them: about the neighbour's own centre
 * a cubic is one of the same third derivative, a quadratic and a linear field. */
typedef struct {
  const gradient_places *at;
  int dim, quadratics, cubics;
  const double *second, *third; /* [nt][d][s], [nt][d][c] excess of g1 on monomials of degree 2 and 3 */
  const double *centre;
} cubic_gradients;

static void gradients_at(const void *context, excess_place kind, int64_t cell, double *value) {
  const cubic_gradients *f = context;
  const int dim = f->dim, s = f->quadratics, c = f->cubics;
  const double *T = f->second + cell * dim * s, *T3 = f->third + cell * dim * c;
  double x[DIM_MAX];
  (void)kind; /* nothing is given to the maps of gradients */
  for (int a = 0; a < dim; a++) x[a] = f->at->cell_centre[3 * cell + a] - f->centre[a];
  memcpy(value, T3, (size_t)(dim * c) * sizeof *value);
  for (int j = 0; j < dim; j++)
    for (int a = 0; a < dim; a++)
      for (int b = a; b < dim; b++)
        value[j * c + third_index(dim, j, a, b)] += (a == b ? 0.5 : 1) * x[a] * x[b];
  /* second derivatives at the neighbour: of component ab along axis l, x_l */
  for (int a = 0; a < dim; a++)
    for (int b = a; b < dim; b++)
      for (int l = 0; l < dim; l++)
        for (int j = 0; j < dim; j++)
          value[j * c + third_index(dim, a, b, l)] += T[j * s + second_index(dim, a, b)] * x[l];
}

/* excess [d + s][c] of one cell's g2 and H2: its own monomials have neither gradient nor second derivative.
 */
static void excess_of_cell(const second_maps *second, const excess_rows *rows, const cubic_gradients *f,
                           int64_t at, int64_t cell, double *excess) {
  const int dim = f->dim, s = f->quadratics, c = f->cubics;
  const double *S = second->inverse + at * s * dim * dim, *T = second->excess + at * dim * s;
  double slope[DIM_MAX * DIM_MAX * THIRD_MAX]; /* [direction][component][c] */
  excess_gradient(rows, cell, gradients_at, f, dim * c, slope);
  double *bend = excess + dim * c;
  for (int k = 0; k < s; k++)
    for (int q = 0; q < c; q++) {
      double sum = 0;
      for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) sum += S[k * dim * dim + i * dim + j] * slope[(j * dim + i) * c + q];
      bend[k * c + q] = sum;
    }
  memcpy(excess, f->third + cell * dim * c, (size_t)(dim * c) * sizeof *excess);
  for (int j = 0; j < dim; j++)
    for (int k = 0; k < s; k++)
      for (int q = 0; q < c; q++) excess[j * c + q] -= T[j * s + k] * bend[k * c + q];
}

/* From the gradients of the excess U, slope [n][s*c][d]. */
static void fill_inverse(const third_maps *m, const double *slope, double *inverse) {
  const int dim = m->second->dim, s = m->second->num, c = m->num;
  for (int64_t cell = 0; cell < m->second->num_cells; cell++) {
    double a[SECOND_MAX * DIM_MAX * THIRD_MAX];
    for (int p = 0; p < dim; p++)
      for (int q = p; q < dim; q++)
        for (int j = 0; j < dim; j++)
          for (int k = 0; k < c; k++) {
            const int row = second_index(dim, p, q);
            a[(row * dim + j) * c + k] =
                slope[((cell * s + row) * c + k) * dim + j] + (k == third_index(dim, p, q, j));
          }
    damped_inverse(s * dim, c, a, inverse + cell * c * s * dim);
  }
}

/* ---------------------------------------------------------------------- all */

/* What the set-up of one class needs and throws away. */
typedef struct {
  excess_rows first, differences;
  double *second, *third; /* as in cubic_gradients */
  double *bend;           /* [nt][s][c] U */
  double *slope;          /* [n][s*c][d] */
  double *node;           /* [num_nodes][s*c] */
  int *class_of;          /* [s*c] zeros */
} third_setup;

static void setup_free(third_setup *x) {
  excess_rows_free(&x->first), excess_rows_free(&x->differences);
  pcsim_free(&x->second), pcsim_free(&x->third), pcsim_free(&x->bend), pcsim_free(&x->slope);
  pcsim_free(&x->node), pcsim_free(&x->class_of);
}

static pcsim_status setup_create(const gradient_request *request, const gradient_maps *first, int class,
                                 const third_maps *m, third_setup *x) {
  const pcsim_mesh_view *v = pcsim_mesh_get(request->mesh);
  gradient_request free_of_values = *request;
  const size_t n = (size_t)v->num_cells, nt = n + (size_t)v->num_ghosts, d = (size_t)m->second->dim,
               s = (size_t)m->second->num, c = (size_t)m->num;
  *x = (third_setup){0};
  free_of_values.num_classes = 1;
  PCSIM_TRY(excess_rows_create(request, first, class, &x->first));
  PCSIM_TRY(excess_rows_create(&free_of_values, &m->second->maps, 0, &x->differences));
  PCSIM_TRY(pcsim_alloc(nt * d * s, sizeof(double), &x->second));
  PCSIM_TRY(pcsim_alloc(nt * d * c, sizeof(double), &x->third));
  PCSIM_TRY(pcsim_alloc(nt * s * c, sizeof(double), &x->bend));
  PCSIM_TRY(pcsim_alloc(n * s * c * d, sizeof(double), &x->slope));
  PCSIM_TRY(pcsim_alloc((size_t)v->num_nodes * s * c, sizeof(double), &x->node));
  return pcsim_alloc(s * c, sizeof(int), &x->class_of);
}

static pcsim_status fill_class(const pcsim_mesh *mesh, int class, third_maps *m, third_setup *x) {
  const second_maps *second = m->second;
  const int dim = second->dim, s = second->num, c = m->num;
  const int64_t n = second->num_cells, record = (int64_t)(dim + s) * c;
  memcpy(x->second, second->excess + class * n * dim * s, (size_t)(n * dim * s) * sizeof(double));
  excess_fill(&x->first, 3, x->third);
  PCSIM_TRY(pcsim_mesh_exchange(mesh, dim * s, x->second));
  PCSIM_TRY(pcsim_mesh_exchange(mesh, dim * c, x->third));
  cubic_gradients f = {&x->differences.at, dim, s, c, x->second, x->third, NULL};
  for (int64_t cell = 0; cell < n; cell++) {
    double *excess = m->excess + (class * n + cell) * record;
    f.centre = f.at->cell_centre + 3 * cell;
    excess_of_cell(second, &x->differences, &f, class * n + cell, cell, excess);
    memcpy(x->bend + cell * s * c, excess + dim * c, (size_t)(s * c) * sizeof(double));
  }
  PCSIM_TRY(pcsim_mesh_exchange(mesh, s * c, x->bend));
  gradient_apply(&second->maps, &(gradient_data){.m = s * c, .class_of = x->class_of, .node_value = x->node},
                 x->bend, x->slope);
  fill_inverse(m, x->slope, m->inverse + class * n * c * s * dim);
  return PCSIM_OK;
}

pcsim_status third_create(const gradient_request *request, const gradient_maps *first,
                          const second_maps *second, third_maps *m) {
  MPI_Comm comm = pcsim_mesh_comm(request->mesh);
  const int num = third_count(second->dim);
  const size_t cells = (size_t)second->num_cells * (size_t)second->num_classes * (size_t)num;
  *m = (third_maps){.second = second, .num = num};
  pcsim_status status = pcsim_alloc(cells * (size_t)(second->dim + second->num), sizeof(double), &m->excess);
  if (status == PCSIM_OK)
    status = pcsim_alloc(cells * (size_t)(second->dim * second->num), sizeof(double), &m->inverse);
  for (int class = 0; class < second->num_classes; class ++) {
    third_setup x = {0};
    if (status == PCSIM_OK) status = setup_create(request, first, class, m, &x);
    status = pcsim_status_agree(comm, status);
    if (status == PCSIM_OK) status = fill_class(request->mesh, class, m, &x);
    setup_free(&x);
  }
  if (status != PCSIM_OK) third_destroy(m);
  return status;
}

void third_destroy(third_maps *m) { pcsim_free(&m->excess), pcsim_free(&m->inverse); }

/* ------------------------------------------------------------------ applied */

static const int all_one_class[SECOND_MAX * 64];

static gradient_correction correction_of(const third_maps *maps, int m, const int *class_of) {
  return (gradient_correction){m, class_of, maps->second->num_cells, maps->excess, maps->inverse};
}

PCSIM_CLONES static void correct_2(const gradient_correction *c, const double *corrected,
                                   const double *differences, double *out) {
  correct_cells(c, 5, 4, 6, corrected, differences, out);
}
PCSIM_CLONES static void correct_3(const gradient_correction *c, const double *corrected,
                                   const double *differences, double *out) {
  correct_cells(c, 9, 10, 18, corrected, differences, out);
}

void third_apply(const third_maps *maps, int m, const int *class_of, const double *corrected,
                 const double *bend, double *differences, double *node_value, double *out) {
  const gradient_data data = {
      .m = m * maps->second->num, .class_of = all_one_class, .node_value = node_value};
  const gradient_correction c = correction_of(maps, m, class_of);
  gradient_apply(&maps->second->maps, &data, bend, differences);
  (maps->second->dim == 2 ? correct_2 : correct_3)(&c, corrected, differences, out);
}

void third_apply_transposed(const third_maps *maps, int m, const int *class_of, const double *out,
                            double *differences, double *node_value, double *corrected, double *bend) {
  const int dim = maps->second->dim, s = maps->second->num;
  const gradient_correction c = correction_of(maps, m, class_of);
  correct_cells_transposed(&c, dim + s, maps->num, s * dim, out, differences, corrected);
  const gradient_cotangent to = {.m = m * s, .class_of = all_one_class, .q = bend, .node_value = node_value};
  gradient_apply_transposed(&maps->second->maps, &to, differences);
}
