/* SPDX-License-Identifier: BSD-2-Clause */
/** @file study.c  Studies of meshes and time steps: observed order, extrapolated value, grid convergence
 * index.
 *
 *  Celik, Ghia, Roache, Freitas, Coleman, Raad: Procedure for estimation and reporting of uncertainty due to
 *  discretization in CFD applications, J. Fluids Eng. 130 (2008) 078001. Sizes are (volume/cells)^(1/dim).
 *
 *  The order observed over three meshes is itself uncertain: one above the formal order would make the
 *  uncertainty far too small. It is therefore limited for the extrapolation and the index, whose safety
 *  factor is 3 unless the observed order agrees with the formal one. Roache: Perspective: a method for
 *  uniform reporting of grid refinement studies, J. Fluids Eng. 116 (1994) 405; Oberkampf, Roy: Verification
 *  and Validation in Scientific Computing, Cambridge (2010), section 8.6.4. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* What a study adds itself may stand among the quantities already, announced for the references. */
static bool is_own(const char *name) {
  return !strncmp(name, "order.", 6) || !strncmp(name, "extrapolated.", 13);
}

static pcsim_status start(cli_study_table *t, int count, const pcsim_quantity *quantities, int n) {
  size_t m = (size_t)n, columns = 0;
  t->capacity = count;
  PCSIM_TRY(pcsim_alloc((size_t)count, sizeof *t->cells, &t->cells));
  PCSIM_TRY(pcsim_alloc((size_t)count, sizeof *t->sizes, &t->sizes));
  PCSIM_TRY(pcsim_alloc((size_t)count * m, sizeof *t->values, &t->values));
  PCSIM_TRY(pcsim_alloc(m, sizeof *t->order, &t->order));
  PCSIM_TRY(pcsim_alloc(m, sizeof *t->extrapolated, &t->extrapolated));
  PCSIM_TRY(pcsim_alloc(m, sizeof *t->uncertainty, &t->uncertainty));
  PCSIM_TRY(pcsim_alloc(m, sizeof *t->names, &t->names));
  for (size_t q = 0; q < m; q++)
    if (!is_own(quantities[q].name))
      snprintf(t->names[columns++], sizeof t->names[0], "%s", quantities[q].name);
  t->view = (pcsim_study){.num_quantities = (int)columns,
                          .ratio = NAN,
                          .cells = t->cells,
                          .sizes = t->sizes,
                          .names = (const char(*)[96])t->names,
                          .values = t->values,
                          .order = t->order,
                          .extrapolated = t->extrapolated,
                          .uncertainty = t->uncertainty};
  return PCSIM_OK;
}

pcsim_status cli_study_add(cli_study_table *t, int count, int64_t cells, const pcsim_quantity *quantities,
                           int n) {
  if (!t->capacity) PCSIM_TRY(start(t, count, quantities, n));
  PCSIM_CHECK(t->view.num_meshes < t->capacity, PCSIM_ERR_INTERNAL, "more meshes than the study has");
  int row = t->view.num_meshes++;
  t->cells[row] = cells;
  for (int q = 0; q < t->view.num_quantities; q++) {
    double *value = &t->values[row * t->view.num_quantities + q];
    *value = NAN;
    for (int i = 0; i < n; i++)
      if (!strcmp(quantities[i].name, t->names[q])) *value = quantities[i].value;
  }
  return PCSIM_OK;
}

/* Order p of f = f0 + C h^p through three values (coarse, middle, fine), by fixed-point iteration for unequal
 * ratios r21 = h_middle/h_fine, r32 = h_coarse/h_middle. NaN unless they approach monotonically. */
static double order_of_three(double coarse, double middle, double fine, double r21, double r32) {
  double e32 = coarse - middle, e21 = middle - fine;
  if (!(e32 * e21 > 0) || !(r21 > 1) || !(r32 > 1)) return NAN;
  double p = fabs(log(e32 / e21)) / log(r21);
  for (int i = 0; i < 100; i++) {
    double q = log((pow(r21, p) - 1) / (pow(r32, p) - 1));
    double next = fabs(log(e32 / e21) + q) / log(r21);
    if (!isfinite(next)) return NAN;
    if (fabs(next - p) < 1e-12 * (1 + p)) return next;
    p = 0.5 * (p + next);
  }
  return p;
}

static void finish_quantity(cli_study_table *t, int q) {
  int n = t->view.num_meshes, m = t->view.num_quantities;
  const double *h = t->sizes;
  double fine = t->values[(n - 1) * m + q], middle = t->values[(n - 2) * m + q];
  double r21 = h[n - 2] / h[n - 1];
  t->order[q] = t->extrapolated[q] = t->uncertainty[q] = NAN;
  /* The limit of an error is known: two meshes are enough. Of smaller steps alone it is what the mesh leaves.
   */
  if (!t->view.of_steps && !strncmp(t->names[q], "error.", 6)) {
    if (fine > 0 && middle > 0) t->order[q] = log(middle / fine) / log(r21);
    return;
  }
  if (n < 3) return;
  double p = order_of_three(t->values[(n - 3) * m + q], middle, fine, r21, h[n - 3] / h[n - 2]);
  if (!isfinite(p) || p <= 0) return;
  t->order[q] = p;
  double correction = (fine - middle) / (pow(r21, fmin(fmax(p, 0.5), PCSIM_STUDY_FORMAL_ORDER)) - 1);
  double safety = pcsim_study_order_expected(p) ? 1.25 : 3;
  t->extrapolated[q] = fine + correction;
  t->uncertainty[q] = fine != 0 ? safety * fabs(correction / fine) : NAN; /* relative to the finest value */
}

static void finish(cli_study_table *t) {
  const int n = t->view.num_meshes;
  if (n < 2) return;
  t->view.ratio = pow(t->sizes[0] / t->sizes[n - 1], 1.0 / (n - 1));
  for (int q = 0; q < t->view.num_quantities; q++) finish_quantity(t, q);
}

void cli_study_finish(cli_study_table *t, double volume, int dim) {
  for (int i = 0; i < t->view.num_meshes; i++) t->sizes[i] = pow(volume / (double)t->cells[i], 1.0 / dim);
  finish(t);
}

void cli_study_finish_steps(cli_study_table *t, double step, double ratio) {
  t->view.of_steps = true;
  for (int i = 0; i < t->view.num_meshes; i++) t->sizes[i] = step * pow(ratio, t->view.num_meshes - 1 - i);
  finish(t);
}

void cli_study_free(cli_study_table *t) {
  pcsim_free(&t->cells);
  pcsim_free(&t->sizes);
  pcsim_free(&t->values);
  pcsim_free(&t->order);
  pcsim_free(&t->extrapolated);
  pcsim_free(&t->uncertainty);
  pcsim_free(&t->names);
  *t = (cli_study_table){0};
}
