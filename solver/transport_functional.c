/* SPDX-License-Identifier: BSD-2-Clause */
/* Functionals of typed laws as programs of the whole mesh: sums over cells or boundary faces. */
#include "transport_adjoint.h"
#include "transport_write.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ programs */

/* The place in the cells that the functional looks at, and its coordinates as the quantity wants them. */
static pcsim_status write_place(const writer *w, const pcsim_program *quantity, place *at,
                                pcsim_value *field) {
  pcsim_program *p = w->p;
  const pcsim_space space = pcsim_build_space(p, "looks");
  const pcsim_map owner = write_map(w, "looks", "owner", space);
  const pcsim_value reach = write_input(w, "looks", "reach", space, w->d);
  const pcsim_value q = pcsim_build_gather(p, owner, w->q), grad = pcsim_build_gather(p, owner, w->grad);
  const char *name;
  int rows;
  *at = (place){.space = space,
                .coordinates = write_input(w, "looks", "coordinates", space, 4),
                .normal = PCSIM_NO_VALUE,
                .field = field};
  for (int i = 0; i < w->t->problem->num_fields; i++) field[i] = pcsim_build_gather(p, owner, w->field[i]);
  for (int i = 0; i < w->m; i++) {
    at->g[i] = pcsim_build_slice(p, grad, i * w->d, w->d);
    at->u[i] = write_add(w, write_row(w, q, i), write_dot(w, at->g[i], reach));
  }
  for (int i = 0; (name = pcsim_program_input(quantity, i, &rows, NULL)); i++) {
    if (strcmp(name, "coordinates") != 0 || rows == 4) continue;
    PCSIM_CHECK(rows == w->d, PCSIM_ERR_ARG,
                "a quantity of %d coordinates in %dD; expected %d, or 4 with the "
                "time",
                rows, w->d, w->d);
    at->coordinates = pcsim_build_slice(p, at->coordinates, 0, rows);
  }
  return pcsim_program_status(p);
}

/* sum of weight times the quantity */
static pcsim_status write_over_cells(const transport *t, const pcsim_program *quantity,
                                     pcsim_program **program) {
  writer w;
  place at;
  pcsim_value field[SYSTEM_UNKNOWNS_MAX];
  PCSIM_TRY(write_begin(t, &w));
  const pcsim_status status = write_place(&w, quantity, &at, field);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&w.p);
    return status;
  }
  const pcsim_value weight = write_input(&w, "looks", "weight", at.space, 1);
  const pcsim_value value = write_evaluate(&w, quantity, "0", &at, NULL);
  pcsim_build_output(w.p, "value", pcsim_build_sum(w.p, write_mul(&w, weight, value)));
  return write_end(&w, program);
}

/* sum of weight times the flux of an equation through the faces of all conditions */
static pcsim_status write_over_faces(const transport *t, int unknown, pcsim_program **program) {
  writer w;
  PCSIM_TRY(write_begin(t, &w));
  pcsim_value sum = write_number(&w, 0);
  for (int k = 0; k < t->problem->num_conditions; k++) {
    boundary_values b;
    place at;
    char name[WRITE_NAME];
    write_boundary(&w, k, &b);
    write_boundary_state(&w, k, &b, &at);
    snprintf(name, sizeof name, "boundary %d", k);
    const pcsim_value flux = write_row(&w, write_boundary_flux(&w, k, &b, &at), unknown);
    const pcsim_value weight = write_input(&w, name, "weight", b.space, 1);
    sum = write_add(&w, sum, pcsim_build_sum(w.p, write_mul(&w, weight, flux)));
  }
  pcsim_build_output(w.p, "value", sum);
  return write_end(&w, program);
}

/* ------------------------------------------------------------- what it looks at */

static pcsim_status find_region(const transport *t, const char *name, int *region) {
  const pcsim_mesh_view *v = t->view;
  *region = -1;
  if (!name) return PCSIM_OK;
  for (int r = 0; r < v->num_regions; r++)
    if (!strcmp(v->region_name[r], name)) *region = r;
  PCSIM_CHECK(*region >= 0, PCSIM_ERR_ARG, "the mesh has no region \"%s\"", name);
  return PCSIM_OK;
}

static pcsim_status allocate_cells(const transport *t, int64_t num, transport_functional *f) {
  const size_t n = (size_t)num;
  f->num = num;
  PCSIM_TRY(pcsim_alloc(n, sizeof *f->owner, &f->owner));
  PCSIM_TRY(pcsim_alloc(n, sizeof *f->weight, &f->weight));
  PCSIM_TRY(pcsim_alloc(n * (size_t)t->dim, sizeof *f->reach, &f->reach));
  return pcsim_alloc(n * 4, sizeof *f->coordinates, &f->coordinates);
}

/* The owned cells of a region, or all, weighted by their volumes. */
static pcsim_status look_at_region(const transport *t, int region, transport_functional *f) {
  int64_t num = 0;
  for (int64_t c = 0; c < t->n; c++) num += region < 0 || t->view->cell_region[c] == region;
  PCSIM_TRY(allocate_cells(t, num, f));
  for (int64_t c = 0, at = 0; c < t->n; c++) {
    if (region >= 0 && t->view->cell_region[c] != region) continue;
    f->owner[at] = (int32_t)c;
    f->weight[at] = t->volume[c];
    memcpy(f->coordinates + 4 * at++, t->view->cell_centre + 3 * c, 3 * sizeof(double));
  }
  return PCSIM_OK;
}

/* Collective. */
static void weigh_mean(const transport *t, transport_functional *f) {
  double total = 0;
  for (int64_t i = 0; i < f->num; i++) total += f->weight[i];
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(t->mesh));
  for (int64_t i = 0; i < f->num; i++) f->weight[i] /= total;
}

static pcsim_status look_at_point(const transport *t, const double point[3], int rank, int64_t cell,
                                  transport_functional *f) {
  int mine;
  MPI_Comm_rank(pcsim_mesh_comm(t->mesh), &mine);
  PCSIM_TRY(allocate_cells(t, mine == rank, f));
  if (mine != rank) return PCSIM_OK;
  f->owner[0] = (int32_t)cell;
  f->weight[0] = 1;
  memcpy(f->coordinates, point, 3 * sizeof *point);
  for (int j = 0; j < t->dim; j++) f->reach[j] = point[j] - t->view->cell_centre[3 * cell + j];
  return PCSIM_OK;
}

static pcsim_status look_at_faces(const transport *t, const char *name, transport_functional *f) {
  const size_t conditions = (size_t)t->problem->num_conditions;
  const int patch = name ? pcsim_mesh_find_patch(t->mesh, name) : -1;
  PCSIM_CHECK(patch >= 0, PCSIM_ERR_ARG, "the mesh has no boundary \"%s\"", name ? name : "");
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *f->face_weight, &f->face_weight));
  for (size_t k = 0; k < conditions; k++) {
    const transport_boundary *b = &t->boundary[k];
    PCSIM_TRY(pcsim_alloc((size_t)b->num, sizeof **f->face_weight, &f->face_weight[k]));
    for (int64_t i = 0; i < b->num; i++) {
      const int64_t face = t->ni + b->c->face[i];
      f->face_weight[k][i] = face >= t->view->patch_start[patch] && face < t->view->patch_start[patch + 1];
    }
  }
  return PCSIM_OK;
}

/* --------------------------------------------------------------------- all */

static pcsim_status fill_cells(const transport *t, const pcsim_transport_quantity *quantity, int rank,
                               int64_t cell, transport_functional *f) {
  int region;
  PCSIM_CHECK(quantity->program, PCSIM_ERR_ARG, "a quantity without a program");
  PCSIM_TRY(find_region(t, quantity->where, &region));
  if (quantity->kind == PCSIM_QUANTITY_POINT) PCSIM_TRY(look_at_point(t, quantity->point, rank, cell, f));
  else PCSIM_TRY(look_at_region(t, region, f));
  for (int64_t i = 0; i < f->num; i++) f->coordinates[4 * i + 3] = t->time;
  return write_over_cells(t, quantity->program, &f->program);
}

static pcsim_status fill(const transport *t, const pcsim_transport_quantity *quantity, int rank, int64_t cell,
                         transport_functional *f) {
  if (quantity->kind != PCSIM_QUANTITY_FLUX) return fill_cells(t, quantity, rank, cell, f);
  PCSIM_CHECK(quantity->unknown >= 0 && quantity->unknown < t->m, PCSIM_ERR_ARG,
              "the flux of equation %d of %d", quantity->unknown, t->m);
  PCSIM_TRY(look_at_faces(t, quantity->where, f));
  return write_over_faces(t, quantity->unknown, &f->program);
}

pcsim_status transport_functional_create(const transport *t, const pcsim_transport_quantity *quantity,
                                         transport_functional **out) {
  transport_functional *f = NULL;
  int rank = 0;
  int64_t cell = 0;
  bool inside = true;
  *out = NULL;
  if (quantity->kind == PCSIM_QUANTITY_POINT)
    PCSIM_TRY(pcsim_mesh_locate(t->mesh, quantity->point, &rank, &cell, &inside));
  PCSIM_CHECK(inside, PCSIM_ERR_ARG, "the point (%.6g, %.6g, %.6g) lies outside the mesh", quantity->point[0],
              quantity->point[1], quantity->point[2]);
  pcsim_status status = pcsim_alloc(1, sizeof *f, &f);
  if (status == PCSIM_OK) status = fill(t, quantity, rank, cell, f);
  status = pcsim_status_agree(pcsim_mesh_comm(t->mesh), status);
  if (status != PCSIM_OK) transport_functional_destroy(t, &f);
  else if (quantity->kind == PCSIM_QUANTITY_MEAN) weigh_mean(t, f);
  *out = f;
  return status;
}

void transport_functional_destroy(const transport *t, transport_functional **out) {
  transport_functional *f = *out;
  if (!f) return;
  pcsim_program_destroy(&f->program);
  pcsim_free(&f->owner), pcsim_free(&f->weight), pcsim_free(&f->reach), pcsim_free(&f->coordinates);
  for (int k = 0; f->face_weight && k < t->problem->num_conditions; k++) pcsim_free(&f->face_weight[k]);
  pcsim_free(&f->face_weight);
  pcsim_free(out);
}

pcsim_status transport_functional_bind(const transport *t, const transport_functional *f, pcsim_executor *x) {
  char name[WRITE_NAME];
  for (int k = 0; f->face_weight && k < t->problem->num_conditions; k++) {
    snprintf(name, sizeof name, "boundary %d.weight", k);
    PCSIM_TRY(pcsim_executor_bind(x, name, f->face_weight[k]));
  }
  if (f->face_weight) return PCSIM_OK;
  PCSIM_TRY(pcsim_executor_points(x, "looks", f->num));
  PCSIM_TRY(pcsim_executor_bind_index(x, "looks.owner", f->owner));
  PCSIM_TRY(pcsim_executor_bind(x, "looks.weight", f->weight));
  PCSIM_TRY(pcsim_executor_bind(x, "looks.reach", f->reach));
  return pcsim_executor_bind(x, "looks.coordinates", f->coordinates);
}
