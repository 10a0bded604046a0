/* SPDX-License-Identifier: BSD-2-Clause */
/* Functionals of typed laws as programs of the whole mesh: sums over cells or boundary faces. */
#include "transport_adjoint.h"
#include "transport_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ programs */

pcsim_status write_coordinates(const writer *w, const pcsim_program *quantity, pcsim_value *all) {
  const char *name;
  int rows;
  for (int i = 0; (name = pcsim_program_input(quantity, i, &rows, NULL)); i++) {
    if (strcmp(name, "coordinates") != 0 || rows == 4) continue;
    PCSIM_CHECK(rows == w->d, PCSIM_ERR_ARG,
                "a quantity of %d coordinates in %dD; expected %d, or 4 with the time", rows, w->d, w->d);
    *all = pcsim_build_slice(w->p, *all, 0, rows);
  }
  return PCSIM_OK;
}

/* The place in the cells that the functional looks at, and its coordinates as the quantity wants them. */
static pcsim_status write_place(const writer *w, const pcsim_program *quantity, place *at, pcsim_value *field,
                                pcsim_value *carrier) {
  pcsim_program *p = w->p;
  const pcsim_space space = pcsim_build_space(p, "looks");
  const pcsim_map owner = write_map(w, "looks", "owner", space);
  const pcsim_value reach = write_input(w, "looks", "reach", space, w->d);
  const pcsim_value q = pcsim_build_gather(p, owner, w->q), grad = pcsim_build_gather(p, owner, w->grad);
  *at = (place){.space = space,
                .coordinates = write_input(w, "looks", "coordinates", space, 4),
                .normal = PCSIM_NO_VALUE,
                .field = field,
                .carrier = carrier};
  for (int i = 0; i < w->t->problem->num_fields; i++) field[i] = pcsim_build_gather(p, owner, w->field[i]);
  for (int i = 0; i < w->t->problem->num_carriers; i++)
    carrier[i] = pcsim_build_gather(p, owner, w->carrier[i]);
  for (int i = 0; i < w->m; i++) {
    at->g[i] = write_gradient(w, grad, i);
    at->u[i] = write_add(w, write_row(w, q, i), write_dot(w, at->g[i], reach));
  }
  PCSIM_TRY(write_coordinates(w, quantity, &at->coordinates));
  return pcsim_program_status(p);
}

/* The quantity at a place, or its square. */
static pcsim_value write_quantity(const writer *w, const pcsim_functional *of, const place *at) {
  const pcsim_value value = write_evaluate(w, of->program, "0", at, NULL);
  return of->kind == PCSIM_FUNCTIONAL_NORM ? write_mul(w, value, value) : value;
}

/* sum of weight times the quantity */
static pcsim_status write_over_cells(const transport *t, const pcsim_functional *of,
                                     pcsim_program **program) {
  writer w;
  place at;
  pcsim_value field[SYSTEM_UNKNOWNS_MAX], carrier[3];
  PCSIM_TRY(write_begin(t, &w));
  const pcsim_status status = write_place(&w, of->program, &at, field, carrier);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&w.p);
    return status;
  }
  const pcsim_value weight = write_input(&w, "looks", "weight", at.space, 1);
  const pcsim_value value = write_quantity(&w, of, &at);
  pcsim_build_output(w.p, "value", pcsim_build_sum(w.p, write_mul(&w, weight, value)));
  return write_end(&w, program);
}

/* Integrand at the faces of condition k: the flux of an equation, or the quantity times the area, with the
 * gradients of the cells behind. */
static pcsim_status write_at_faces(const writer *w, const pcsim_functional *of, int k,
                                   const boundary_values *b, pcsim_value *value) {
  place at;
  write_boundary_state(w, k, b, &at);
  if (of->kind == PCSIM_FUNCTIONAL_FLUX) {
    *value = write_row(w, write_boundary_flux(w, k, b, &at), of->unknown);
    return pcsim_program_status(w->p);
  }
  for (int i = 0; i < w->m; i++) at.g[i] = write_gradient(w, b->gp, i);
  PCSIM_TRY(write_coordinates(w, of->program, &at.coordinates));
  *value = write_mul(w, write_quantity(w, of, &at), b->magnitude);
  return pcsim_program_status(w->p);
}

/* sum of weight times that over the faces of all conditions */
static pcsim_status write_over_faces(const transport *t, const pcsim_functional *of,
                                     pcsim_program **program) {
  writer w;
  PCSIM_TRY(write_begin(t, &w));
  pcsim_value sum = write_number(&w, 0);
  for (int k = 0; k < t->problem->num_conditions; k++) {
    pcsim_value value = PCSIM_NO_VALUE;
    char name[WRITE_NAME];
    boundary_values b;
    write_boundary(&w, k, &b);
    const pcsim_status status = write_at_faces(&w, of, k, &b, &value);
    if (status != PCSIM_OK) {
      pcsim_program_destroy(&w.p);
      return status;
    }
    snprintf(name, sizeof name, "boundary %d", k);
    const pcsim_value weight = write_input(&w, name, "weight", b.space, 1);
    sum = write_add(&w, sum, pcsim_build_sum(w.p, write_mul(&w, weight, value)));
  }
  pcsim_build_output(w.p, "value", sum);
  return write_end(&w, program);
}

/* ------------------------------------------------------------ weights of fields */

static pcsim_value write_weighted_cells(const writer *w) {
  const pcsim_space space = pcsim_build_space(w->p, "weighted");
  const pcsim_map owner = write_map(w, "weighted", "owner", space);
  const pcsim_value weight = write_input(w, "weighted", "weight", space, w->m * (1 + w->d));
  const pcsim_value q = pcsim_build_gather(w->p, owner, w->q),
                    grad = pcsim_build_gather(w->p, owner, w->grad);
  pcsim_value sum = write_number(w, 0);
  for (int i = 0; i < w->m; i++)
    sum = write_add(w, sum, write_weighted(w, weight, i, write_row(w, q, i), write_gradient(w, grad, i)));
  return pcsim_build_sum(w->p, sum);
}

static pcsim_value write_weighted_faces(const writer *w, int k) {
  char name[WRITE_NAME];
  boundary_values b;
  place at;
  write_boundary(w, k, &b);
  write_boundary_state(w, k, &b, &at);
  snprintf(name, sizeof name, "boundary %d", k);
  const pcsim_value weight = write_input(w, name, "weight", b.space, w->m);
  pcsim_value sum = write_number(w, 0);
  for (int i = 0; i < w->m; i++) sum = write_add(w, sum, write_mul(w, write_row(w, weight, i), at.u[i]));
  return pcsim_build_sum(w->p, sum);
}

static pcsim_status write_weighted_sum(const transport *t, pcsim_program **program) {
  writer w;
  PCSIM_TRY(write_begin(t, &w));
  pcsim_value sum = write_weighted_cells(&w);
  for (int k = 0; k < t->problem->num_conditions; k++) sum = write_add(&w, sum, write_weighted_faces(&w, k));
  pcsim_build_output(w.p, "value", sum);
  return write_end(&w, program);
}

/* ------------------------------------------------------------- what it looks at */

/* Over the area of the faces that are looked at. Collective. */
static void weigh_mean(const transport *t, transport_functional *f) {
  double total = 0;
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++) {
      const double *s = t->boundary[k].area + i * t->dim;
      double square = 0;
      for (int j = 0; j < t->dim; j++) square += s[j] * s[j];
      total += f->face_weight[k][i] * sqrt(square);
    }
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(t->mesh));
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++) f->face_weight[k][i] /= total;
}

static pcsim_status weigh_faces(const transport *t, const bool *wanted, transport_functional *f) {
  const pcsim_mesh_view *v = t->view;
  const size_t conditions = (size_t)t->problem->num_conditions;
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *f->face_weight, &f->face_weight));
  for (size_t k = 0; k < conditions; k++) {
    const transport_boundary *b = &t->boundary[k];
    PCSIM_TRY(pcsim_alloc((size_t)b->num, sizeof **f->face_weight, &f->face_weight[k]));
    for (int64_t i = 0; i < b->num; i++) {
      const int patch = pcsim_mesh_face_patch(t->mesh, t->ni + b->face[i]);
      f->face_weight[k][i] = patch >= 0 && patch < v->num_patches && wanted[patch];
    }
  }
  return PCSIM_OK;
}

static pcsim_status look_at_faces(const transport *t, const pcsim_functional *of, transport_functional *f) {
  bool *wanted = NULL;
  pcsim_status status = look_for_boundaries(t->mesh, of->num_where, of->where, &wanted);
  if (status == PCSIM_OK) status = weigh_faces(t, wanted, f);
  pcsim_free(&wanted);
  return status;
}

/* Weights of the fields of cells and faces; a flow's fields may stand before them. */
static pcsim_status take_weights(const transport *t, const pcsim_field_weights *weights,
                                 transport_functional *f) {
  const int first = weights->num - t->m;
  const size_t conditions = (size_t)t->problem->num_conditions;
  int field[SYSTEM_UNKNOWNS_MAX];
  for (int i = 0; i < t->m; i++) field[i] = first + i;
  PCSIM_TRY(look_at_weights(t->mesh, weights, t->m, field, &f->weighted));
  PCSIM_TRY(pcsim_alloc(conditions, sizeof *f->face_weight, &f->face_weight));
  for (size_t k = 0; k < conditions; k++) {
    const transport_boundary *b = &t->boundary[k];
    PCSIM_TRY(pcsim_alloc((size_t)(b->num * t->m), sizeof **f->face_weight, &f->face_weight[k]));
    for (int64_t i = 0; i < b->num; i++) /* the value of a face is the mean over its points */
      for (int c = 0; c < t->m; c++)
        f->face_weight[k][i * t->m + c] = b->part[i] * weights->face[b->face[i] * weights->num + first + c];
  }
  return PCSIM_OK;
}

/* --------------------------------------------------------------------- all */

static bool on_faces(const pcsim_functional *of) {
  return of->kind == PCSIM_FUNCTIONAL_FLUX || (of->on_boundary && of->kind != PCSIM_FUNCTIONAL_POINT);
}

static pcsim_status check(const transport *t, const pcsim_functional *of) {
  const bool flux = of->kind == PCSIM_FUNCTIONAL_FLUX, weighted = of->kind == PCSIM_FUNCTIONAL_WEIGHTED;
  PCSIM_CHECK(!weighted || (of->weights && of->weights->num >= t->m), PCSIM_ERR_ARG,
              "weights of fewer fields than the laws have");
  PCSIM_CHECK(weighted || of->kind <= PCSIM_FUNCTIONAL_FLUX, PCSIM_ERR_ARG,
              "a functional of a flow asked of typed laws");
  PCSIM_CHECK(weighted || flux || of->program, PCSIM_ERR_ARG, "a functional without a program");
  PCSIM_CHECK(!flux || (of->unknown >= 0 && of->unknown < t->m), PCSIM_ERR_ARG,
              "the flux of equation %d of %d", of->unknown, t->m);
  return PCSIM_OK;
}

static pcsim_status fill(const transport *t, const pcsim_functional *of, transport_functional *f) {
  f->root = of->kind == PCSIM_FUNCTIONAL_NORM;
  f->mean = of->kind == PCSIM_FUNCTIONAL_MEAN;
  f->fixed = of->kind == PCSIM_FUNCTIONAL_POINT;
  f->is_weighted = of->kind == PCSIM_FUNCTIONAL_WEIGHTED;
  if (f->is_weighted) {
    PCSIM_TRY(take_weights(t, of->weights, f));
    return write_weighted_sum(t, &f->program);
  }
  if (!on_faces(of)) return write_over_cells(t, of, &f->program);
  PCSIM_TRY(look_at_faces(t, of, f));
  return write_over_faces(t, of, &f->program);
}

static pcsim_status create(const transport *t, const pcsim_functional *of, transport_functional *f) {
  const bool mean = of->kind == PCSIM_FUNCTIONAL_MEAN;
  PCSIM_TRY(check(t, of));
  if (of->kind == PCSIM_FUNCTIONAL_POINT) PCSIM_TRY(look_at_point(t->mesh, of->point, &f->cells));
  else if (!on_faces(of) && of->kind != PCSIM_FUNCTIONAL_WEIGHTED)
    PCSIM_TRY(look_at_regions(t->mesh, of->num_where, of->where, mean, &f->cells));
  for (int64_t i = 0; i < f->cells.num; i++) f->cells.coordinates[4 * i + 3] = t->time;
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(t->mesh), fill(t, of, f)));
  if (mean && on_faces(of)) weigh_mean(t, f);
  return PCSIM_OK;
}

pcsim_status transport_functional_create(const transport *t, const pcsim_functional *of,
                                         transport_functional **out) {
  transport_functional *f = NULL;
  *out = NULL;
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(t->mesh), pcsim_alloc(1, sizeof *f, &f)));
  const pcsim_status status = create(t, of, f);
  if (status != PCSIM_OK) transport_functional_destroy(t, &f);
  *out = f;
  return status;
}

void transport_functional_destroy(const transport *t, transport_functional **out) {
  transport_functional *f = *out;
  if (!f) return;
  pcsim_program_destroy(&f->program);
  look_free(&f->cells);
  look_free_weighted(&f->weighted);
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
  if (f->is_weighted) return look_bind_weighted(&f->weighted, x);
  if (f->face_weight) return PCSIM_OK;
  return look_bind(&f->cells, "looks", x);
}
