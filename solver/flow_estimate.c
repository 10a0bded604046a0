/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow on the refined mesh, for the estimate of errors (estimate.h). */
#include "flow_estimate.h"

#include "estimate.h"
#include "flow_adjoint.h"
#include "flow_viscosity.h"

#include <string.h>

typedef struct {
  flow *f; /* of the fine mesh */
  const pcsim_functional *quantity;
} fine_flow;

/* A viscosity that varies may have no value for what is carried to the fine mesh. */
static pcsim_status check_viscosity(const flow *f) {
  char reason[512];
  if (flow_viscosity_blame(f, reason, sizeof reason))
    PCSIM_FAIL(PCSIM_ERR_CASE, "no estimate of errors: on the mesh of halved cells %s", reason);
  return PCSIM_OK;
}

/* Rhie and Chow's coefficients follow the state: they and the fluxes depend on each other, more weakly each
 * time. */
static pcsim_status residual(void *context, double *r) {
  enum { ROUNDS = 2 };
  flow *f = ((fine_flow *)context)->f;
  PCSIM_TRY(flow_residual(f, r));
  PCSIM_TRY(check_viscosity(f));
  for (int i = 0; i < ROUNDS; i++) {
    PCSIM_TRY(flow_update_coefficients(f));
    PCSIM_TRY(flow_residual(f, r));
  }
  return PCSIM_OK;
}

/* ---------------------------------------------------------------------- blocks */

typedef struct {
  const flow *f;
  double *diagonal;
} gathering;

/* Blocks come by rows and leave by columns. */
static void add_block(void *context, int32_t row, int32_t column, int64_t slot, const double *block) {
  const gathering *g = context;
  const int m = g->f->dim + 1;
  (void)slot;
  if (row != column || row >= g->f->n) return;
  for (int i = 0; i < m; i++)
    for (int k = 0; k < m; k++) g->diagonal[(int64_t)row * m * m + k * m + i] += block[i * m + k];
}

static pcsim_status diagonal(void *context, double *block) {
  flow *f = ((fine_flow *)context)->f;
  const int m = f->dim + 1;
  memset(block, 0, (size_t)(f->n * m * m) * sizeof *block);
  return f->kernels->jacobian(f, &(gathering){f, block}, add_block);
}

/* ----------------------------------------------------------------------- value */

static pcsim_status value(void *context, double *out) {
  const fine_flow *x = context;
  flow *f = x->f;
  const size_t m = (size_t)f->dim + 1;
  flow_functional *functional = NULL;
  flow_adjoint *adjoint = NULL;
  flow_cotangent given = {0};
  double *b = NULL;
  pcsim_status status;
  PCSIM_TRY(flow_functional_create(f, x->quantity, &functional));
  PCSIM_GOTO(flow_adjoint_create(f, false, NULL, 0, &adjoint), status, done);
  status = pcsim_alloc((size_t)f->n * (m + 1), sizeof *b, &b);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)f->nb * m, sizeof(double), &given.value);
  if (status == PCSIM_OK)
    status = pcsim_alloc((size_t)f->gradient.num_given * m, sizeof(double), &given.node);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(f->mesh), status), status, done);
  status = flow_adjoint_functional(adjoint, functional, NULL, 0, out, b, &given, NULL);
done:
  pcsim_free(&b), pcsim_free(&given.value), pcsim_free(&given.node);
  flow_adjoint_destroy(&adjoint);
  flow_functional_destroy(&functional);
  return status;
}

/* -------------------------------------------------------------------- estimate */

/* Velocity scales of the two meshes differ where boundary values are averages over faces: velocities are in
 * units of U, pressures and momentum of U^2, mass of U. */
static void carry(const flow *coarse, const flow *fine, const double *psi, double *q, double *adjoint) {
  const int m = coarse->dim + 1;
  const double ratio = coarse->scale_velocity / fine->scale_velocity;
  for (int64_t c = 0; c < coarse->n; c++)
    for (int i = 0; i < m; i++) {
      const double momentum = i < m - 1 ? ratio : 1;
      q[c * m + i] = coarse->q[c * m + i] * (i < m - 1 ? ratio : ratio * ratio);
      adjoint[c * m + i] = psi[c * m + i] / (ratio * momentum);
    }
}

/* Where nothing fixes the pressure, nothing fixes the level of the continuity's multiplier: that of mean 0.
 * Collective. */
static void take_out_level(const flow *coarse, double *adjoint) {
  const int m = coarse->dim + 1;
  double sum[2] = {0, 0};
  if (!coarse->problem->pressure_free) return;
  for (int64_t c = 0; c < coarse->n; c++) {
    sum[0] += coarse->volume[c] * adjoint[c * m + m - 1];
    sum[1] += coarse->volume[c];
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(coarse->mesh));
  for (int64_t c = 0; c < coarse->n; c++) adjoint[c * m + m - 1] -= sum[0] / sum[1];
}

pcsim_status flow_estimate(const flow *coarse, const pcsim_flow_options *options, const pcsim_mesh *mesh,
                           pcsim_flow_problem *problem, const pcsim_functional *quantity, const double *psi,
                           pcsim_estimate *out) {
  const size_t size = (size_t)(coarse->nt * (coarse->dim + 1));
  fine_flow f = {.quantity = quantity};
  double *room = NULL;
  pcsim_status status;
  PCSIM_CHECK(quantity->kind != PCSIM_FUNCTIONAL_WEIGHTED, PCSIM_ERR_ARG, "the error of weights of fields");
  PCSIM_GOTO(flow_create(mesh, problem, options, &f.f), status, done);
  status = pcsim_alloc(2 * size, sizeof *room, &room);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(mesh), status), status, done);
  carry(coarse, f.f, psi, room, room + size);
  take_out_level(coarse, room + size);
  const estimate_fine fine = {.context = &f,
                              .mesh = mesh,
                              .m = f.f->dim + 1,
                              .n = f.f->n,
                              .q = f.f->q,
                              .residual = residual,
                              .diagonal = diagonal,
                              .value = value};
  status = estimate_error(&fine, &(estimate_coarse){coarse->mesh, NULL, room, room + size}, out);
done:
  pcsim_free(&room);
  flow_destroy(&f.f);
  return status;
}
