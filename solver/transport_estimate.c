/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed laws on the refined mesh, for the estimate of errors (estimate.h). */
#include "transport_estimate.h"

#include "estimate.h"
#include "transport_adjoint.h"

#include <string.h>

typedef struct {
  transport *t; /* of the fine mesh */
  const pcsim_functional *functional;
} fine_laws;

static pcsim_status residual(void *context, double *r) {
  transport *t = ((fine_laws *)context)->t;
  PCSIM_TRY(transport_update_gradient(t, 0));
  PCSIM_TRY(transport_update_speed(t));
  return transport_residual(t, 0, r);
}

static void add_block(const transport *t, double *diagonal, int64_t cell, const double *block, double sign) {
  const int64_t size = (int64_t)t->m * t->m;
  for (int64_t i = 0; cell < t->n && i < size; i++) diagonal[cell * size + i] += sign * block[i];
}

static pcsim_status diagonal(void *context, double *block) {
  transport *t = ((fine_laws *)context)->t;
  const int64_t size = (int64_t)t->m * t->m;
  PCSIM_TRY(transport_update_blocks(t));
  memcpy(block, t->block_source, (size_t)(t->n * size) * sizeof *block);
  for (int64_t i = 0; i < t->faces.num; i++) {
    add_block(t, block, t->faces.owner[i], t->block_owner + i * size, 1);
    add_block(t, block, t->faces.neighbour[i], t->block_neighbour + i * size, -1);
  }
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++)
      add_block(t, block, t->boundary[k].owner[i], t->block_boundary[k] + i * size, 1);
  return PCSIM_OK;
}

static pcsim_status value(void *context, double *out) {
  fine_laws *f = context;
  transport_functional *functional = NULL;
  transport_adjoint *adjoint = NULL;
  double *b = NULL;
  pcsim_status status;
  PCSIM_TRY(transport_functional_create(f->t, f->functional, &functional));
  PCSIM_GOTO(transport_adjoint_create(f->t, NULL, 0, NULL, &adjoint), status, done);
  status = pcsim_alloc((size_t)(f->t->n * f->t->m), sizeof *b, &b);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(f->t->mesh), status), status, done);
  status = transport_adjoint_functional(adjoint, functional, out, b, NULL);
done:
  pcsim_free(&b);
  transport_adjoint_destroy(&adjoint);
  transport_functional_destroy(f->t, &functional);
  return status;
}

pcsim_status transport_estimate(const transport *coarse, const pcsim_mesh *mesh,
                                const pcsim_transport_problem *problem, const pcsim_functional *functional,
                                const double *psi, pcsim_estimate *out) {
  const size_t size = (size_t)(coarse->nt * coarse->m), owned = (size_t)(coarse->n * coarse->m);
  fine_laws f = {.functional = functional};
  double *room = NULL;
  pcsim_status status;
  PCSIM_CHECK(functional->kind != PCSIM_FUNCTIONAL_WEIGHTED, PCSIM_ERR_ARG, "the error of weights of fields");
  PCSIM_GOTO(transport_create(mesh, problem, &coarse->choices, &f.t), status, done);
  PCSIM_GOTO(transport_set_time(f.t, 0), status, done);
  status = pcsim_alloc(2 * size, sizeof *room, &room);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(mesh), status), status, done);
  memcpy(room, coarse->q, owned * sizeof *room);
  memcpy(room + size, psi, owned * sizeof *room);
  const estimate_fine fine = {.context = &f,
                              .mesh = mesh,
                              .m = f.t->m,
                              .n = f.t->n,
                              .q = f.t->q,
                              .residual = residual,
                              .diagonal = diagonal,
                              .value = value};
  status = estimate_error(
      &fine, &(estimate_coarse){coarse->mesh, coarse->problem->material, room, room + size}, out);
done:
  pcsim_free(&room);
  transport_destroy(&f.t);
  return status;
}
