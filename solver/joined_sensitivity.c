/* SPDX-License-Identifier: BSD-2-Clause */
/* Derivatives of one number of a flow and equations that join it by parameters of the case. */
#include "joined_adjoint.h"

#include <math.h>
#include <string.h>

typedef struct {
  joined *j;
  joined_adjoint *adjoint;
  flow_cotangent given;
  double *b, *w; /* [n][width] */
  double *own;   /* [num] what programs say of the parameters themselves */
  double *patch; /* [patches][mf] workspace */
} sensitivity;

static pcsim_status allocate(sensitivity *s, int num) {
  const flow *f = s->j->f;
  const size_t size = (size_t)f->n * (size_t)joined_adjoint_width(s->j);
  PCSIM_TRY(flow_cotangent_allocate(f, num, 0, &s->given));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &s->b));
  PCSIM_TRY(pcsim_alloc(size, sizeof(double), &s->w));
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof(double), &s->own));
  return pcsim_alloc((size_t)(f->view->num_patches * s->j->mf), sizeof(double), &s->patch);
}

static void release(sensitivity *s) {
  joined_adjoint_destroy(&s->adjoint);
  flow_cotangent_free(&s->given);
  pcsim_free(&s->b), pcsim_free(&s->w), pcsim_free(&s->own), pcsim_free(&s->patch);
}

/* Forces and flow rates are the flow's, fluxes the laws'; of an expression its names decide. */
static bool is_of_laws(const transport *t, const pcsim_functional *of) {
  const char *name;
  bool used;
  if (of->kind == PCSIM_FUNCTIONAL_FORCE || of->kind == PCSIM_FUNCTIONAL_FLOW_RATE) return false;
  if (of->kind == PCSIM_FUNCTIONAL_FLUX || of->kind == PCSIM_FUNCTIONAL_NORM || of->on_boundary) return true;
  for (int i = 0; of->program && (name = pcsim_program_input(of->program, i, NULL, &used)); i++)
    for (int u = 0; used && u < t->m; u++) {
      const size_t length = strlen(t->problem->unknown[u]);
      if (!strncmp(name, t->problem->unknown[u], length) && (!name[length] || name[length] == '_'))
        return true;
    }
  return false;
}

/* Weights of fields are of both parts: their sum. */
static pcsim_status begin(sensitivity *s, const pcsim_functional *quantity, const char *const *parameters,
                          int num, double *value) {
  const int64_t size = s->j->f->n * joined_adjoint_width(s->j);
  double laws;
  if (quantity->kind != PCSIM_FUNCTIONAL_WEIGHTED)
    return joined_adjoint_functional(s->adjoint, quantity, is_of_laws(s->j->t, quantity), parameters, num,
                                     value, s->b, &s->given, s->own);
  PCSIM_TRY(joined_adjoint_functional(s->adjoint, quantity, false, parameters, num, value, s->b, &s->given,
                                      s->own));
  PCSIM_TRY(
      joined_adjoint_functional(s->adjoint, quantity, true, parameters, num, &laws, s->w, &s->given, s->own));
  for (int64_t i = 0; i < size; i++) s->b[i] += s->w[i];
  *value += laws;
  return PCSIM_OK;
}

static pcsim_status solve(sensitivity *s, const discrete_system *system, const pcsim_functional *quantity,
                          const char *const *parameters, int num, double tolerance,
                          pcsim_flow_sensitivity *out) {
  flow *f = s->j->f;
  /* coefficients that belong to the state; the adjoint holds what the settled state makes */
  PCSIM_TRY(system_settle(system, true, s->j->part_y));
  system->set_shift(system->context, INFINITY, INFINITY);
  PCSIM_TRY(joined_adjoint_create(s->j, parameters, num, &s->adjoint));
  PCSIM_TRY(begin(s, quantity, parameters, num, &out->value));
  flow_take_out_level(f, joined_adjoint_width(s->j), s->b);
  PCSIM_TRY(joined_adjoint_solve(s->adjoint, s->b, tolerance, s->w, &out->iterations, &out->converged));
  return joined_adjoint_parameters(s->adjoint, s->w, &s->given, s->own);
}

static pcsim_status differentiate(sensitivity *s, pcsim_flow_problem *problem, const char *const *parameters,
                                  int num, double *derivative, double *own) {
  MPI_Comm comm = pcsim_mesh_comm(s->j->f->mesh);
  for (int i = 0; i < num; i++) {
    PCSIM_TRY(flow_through_given(s->j->f, &s->given, problem, parameters[i], s->patch, &derivative[i]));
    s->own[i] += s->given.law[i];
    derivative[i] += s->own[i];
    if (own) own[i] = s->own[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, derivative, num, MPI_DOUBLE, MPI_SUM, comm);
  if (own) MPI_Allreduce(MPI_IN_PLACE, own, num, MPI_DOUBLE, MPI_SUM, comm);
  return PCSIM_OK;
}

pcsim_status joined_sensitivity(joined *j, const discrete_system *system, pcsim_flow_problem *problem,
                                const pcsim_functional *quantity, const char *const *parameters, int num,
                                double tolerance, pcsim_flow_sensitivity *out) {
  sensitivity s = {.j = j};
  pcsim_status status;
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(j->f->mesh), allocate(&s, num)), status, done);
  PCSIM_GOTO(solve(&s, system, quantity, parameters, num, tolerance, out), status, done);
  status = differentiate(&s, problem, parameters, num, out->derivative, out->own);
done:
  release(&s);
  return status;
}
