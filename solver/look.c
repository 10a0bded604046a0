/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells of regions and around points, for integrals, means and values. */
#include "look.h"
#include "quadrature.h"

#include <stdio.h>
#include <string.h>

static pcsim_status allocate(int dim, int64_t num, look *l) {
  const size_t n = (size_t)num;
  l->num = num;
  PCSIM_TRY(pcsim_alloc(n, sizeof *l->owner, &l->owner));
  PCSIM_TRY(pcsim_alloc(n, sizeof *l->weight, &l->weight));
  PCSIM_TRY(pcsim_alloc(n * (size_t)dim, sizeof *l->reach, &l->reach));
  return pcsim_alloc(n * 4, sizeof *l->coordinates, &l->coordinates);
}

void look_free(look *l) {
  pcsim_free(&l->owner), pcsim_free(&l->weight), pcsim_free(&l->reach), pcsim_free(&l->coordinates);
}

/* Which of `num` names are meant by `num_wanted` others; `what` they are for the message. */
static pcsim_status find_names(int num_wanted, const char *const *wanted_names, const char *what, int num,
                               const char *const *names, bool *wanted) {
  for (int i = 0; i < num_wanted; i++) {
    bool known = false;
    for (int k = 0; k < num; k++)
      if (!strcmp(names[k], wanted_names[i])) wanted[k] = known = true;
    PCSIM_CHECK(known, PCSIM_ERR_ARG, "the mesh has no %s \"%s\"", what, wanted_names[i]);
  }
  return PCSIM_OK;
}

pcsim_status look_for_boundaries(const pcsim_mesh *mesh, int num_names, const char *const *names,
                                 bool **wanted) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  *wanted = NULL;
  PCSIM_CHECK(num_names > 0, PCSIM_ERR_ARG, "a functional over boundaries names none");
  PCSIM_TRY(pcsim_alloc((size_t)v->num_patches, sizeof **wanted, wanted));
  return find_names(num_names, names, "boundary", v->num_patches, v->patch_name, *wanted);
}

static pcsim_status fill_regions(const pcsim_mesh_view *v, int num_names, const char *const *names, look *l) {
  bool *wanted = NULL;
  int64_t num = 0;
  PCSIM_TRY(pcsim_alloc((size_t)v->num_regions, sizeof *wanted, &wanted));
  pcsim_status status = find_names(num_names, names, "region", v->num_regions, v->region_name, wanted);
  for (int r = 0; r < v->num_regions && num_names == 0; r++) wanted[r] = true;
  for (int64_t c = 0; c < v->num_cells; c++) num += wanted[v->cell_region[c]];
  if (status == PCSIM_OK) status = allocate(v->dim, num, l);
  for (int64_t c = 0, at = 0; status == PCSIM_OK && c < v->num_cells; c++) {
    if (!wanted[v->cell_region[c]]) continue;
    l->owner[at] = (int32_t)c;
    l->weight[at] = v->cell_volume[c];
    memcpy(l->coordinates + 4 * at++, v->cell_centre + 3 * c, 3 * sizeof(double));
  }
  pcsim_free(&wanted);
  return status;
}

pcsim_status look_at_regions(const pcsim_mesh *mesh, int num_names, const char *const *names, bool mean,
                             look *l) {
  double total = 0;
  *l = (look){0};
  PCSIM_TRY(
      pcsim_status_agree(pcsim_mesh_comm(mesh), fill_regions(pcsim_mesh_get(mesh), num_names, names, l)));
  if (!mean) return PCSIM_OK;
  for (int64_t i = 0; i < l->num; i++) total += l->weight[i];
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(mesh));
  for (int64_t i = 0; i < l->num; i++) l->weight[i] /= total;
  return PCSIM_OK;
}

static pcsim_status fill_point(const pcsim_mesh_view *v, const double point[3], int64_t cell, look *l) {
  PCSIM_TRY(allocate(v->dim, cell >= 0, l));
  if (cell < 0) return PCSIM_OK;
  l->owner[0] = (int32_t)cell;
  l->weight[0] = 1;
  memcpy(l->coordinates, point, 3 * sizeof *point);
  for (int j = 0; j < v->dim; j++) l->reach[j] = point[j] - v->cell_centre[3 * cell + j];
  return PCSIM_OK;
}

pcsim_status look_at_point(const pcsim_mesh *mesh, const double point[3], look *l) {
  int rank = 0, mine = 0;
  int64_t cell = 0;
  bool inside = false;
  *l = (look){0};
  PCSIM_TRY(pcsim_mesh_locate(mesh, point, &rank, &cell, &inside));
  PCSIM_CHECK(inside, PCSIM_ERR_ARG, "the point (%.6g, %.6g, %.6g) lies outside the mesh", point[0], point[1],
              point[2]);
  MPI_Comm_rank(pcsim_mesh_comm(mesh), &mine);
  return pcsim_status_agree(pcsim_mesh_comm(mesh),
                            fill_point(pcsim_mesh_get(mesh), point, mine == rank ? cell : -1, l));
}

static void fill_points(const pcsim_mesh_view *v, look *l) {
  quadrature_point point[QUADRATURE_CELL_MAX];
  for (int64_t c = 0, at = 0; c < v->num_cells; c++) {
    const int num = quadrature_of_cell(v, c, point);
    for (int k = 0; k < num; k++, at++) {
      l->owner[at] = (int32_t)c;
      l->weight[at] = point[k].share * v->cell_volume[c];
      memcpy(l->coordinates + 4 * at, point[k].x, sizeof point[k].x);
      for (int j = 0; j < v->dim; j++) l->reach[at * v->dim + j] = point[k].x[j] - v->cell_centre[3 * c + j];
    }
  }
}

pcsim_status look_at_points(const pcsim_mesh *mesh, look *l) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  quadrature_point point[QUADRATURE_CELL_MAX];
  int64_t num = 0;
  *l = (look){0};
  for (int64_t c = 0; c < v->num_cells; c++) num += quadrature_of_cell(v, c, point);
  PCSIM_TRY(allocate(v->dim, num, l));
  fill_points(v, l);
  return PCSIM_OK;
}

pcsim_status look_bind(const look *l, const char *space, pcsim_executor *x) {
  enum { SIZE = 64 };
  char name[SIZE];
  const struct {
    const char *name;
    const double *data;
  } inputs[] = {{"weight", l->weight}, {"reach", l->reach}, {"coordinates", l->coordinates}};
  PCSIM_TRY(pcsim_executor_points(x, space, l->num));
  snprintf(name, SIZE, "%s.owner", space);
  PCSIM_TRY(pcsim_executor_bind_index(x, name, l->owner));
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    snprintf(name, SIZE, "%s.%s", space, inputs[i].name);
    PCSIM_TRY(pcsim_executor_bind(x, name, inputs[i].data));
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------- weights of fields */

static bool has_weight(const pcsim_field_weights *w, int64_t c, int dim, int m, const int *field) {
  for (int i = 0; i < m; i++) {
    const double *at = w->cell + 4 * (c * w->num + field[i]);
    for (int j = 0; j < 1 + dim; j++)
      if (at[j] != 0) return true;
  }
  return false;
}

pcsim_status look_at_weights(const pcsim_mesh *mesh, const pcsim_field_weights *weights, int m,
                             const int *field, look_weighted *l) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  const int rows = 1 + v->dim;
  *l = (look_weighted){0};
  for (int64_t c = 0; c < v->num_cells; c++) l->num += has_weight(weights, c, v->dim, m, field);
  PCSIM_TRY(pcsim_alloc((size_t)l->num, sizeof *l->owner, &l->owner));
  PCSIM_TRY(pcsim_alloc((size_t)l->num * (size_t)(m * rows), sizeof *l->weight, &l->weight));
  for (int64_t c = 0, at = 0; c < v->num_cells; c++) {
    if (!has_weight(weights, c, v->dim, m, field)) continue;
    l->owner[at] = (int32_t)c;
    for (int i = 0; i < m; i++)
      memcpy(l->weight + (at * m + i) * rows, weights->cell + 4 * (c * weights->num + field[i]),
             (size_t)rows * sizeof *l->weight);
    at++;
  }
  return PCSIM_OK;
}

void look_free_weighted(look_weighted *l) { pcsim_free(&l->owner), pcsim_free(&l->weight); }

pcsim_status look_bind_weighted(const look_weighted *l, pcsim_executor *x) {
  PCSIM_TRY(pcsim_executor_points(x, "weighted", l->num));
  PCSIM_TRY(pcsim_executor_bind_index(x, "weighted.owner", l->owner));
  return pcsim_executor_bind(x, "weighted.weight", l->weight);
}
