/* SPDX-License-Identifier: BSD-2-Clause */
/* Potential flow as a start: div(grad phi) = 0 with the given normal velocities, phi = 0 where the pressure
 * is given. Two points a face; the velocity of a cell is the one whose fluxes through its faces are nearest
 * to those of phi. The pressure follows from Bernoulli's equation. */
#include "petsc_error.h"

#include <pcsim/solver.h>

#include <math.h>
#include <petscksp.h>

typedef struct {
  const pcsim_mesh_view *v;
  const pcsim_flow_view *problem;
  MPI_Comm comm;
  Mat matrix;
  Vec b, x;
  KSP ksp;
  double *phi;    /* [cells and ghosts] */
  double *normal; /* [num_cells][9] sum of S S^T/|S| */
  double *sum;    /* [num_cells][3] sum of flux S/|S| */
} potential;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static bool is_open(const potential *p, int64_t b) {
  return p->problem->kind[b] == PCSIM_FLOW_PRESSURE || p->problem->kind[b] == PCSIM_FLOW_TOTAL_PRESSURE;
}

/* |S|^2/(S . d) from a cell to a point: flux through the face by the difference of phi. */
static double conductance(const potential *p, int64_t face, const double *from, const double *to) {
  const double *S = p->v->face_area + 3 * face, d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  return dot(S, S) / dot(S, d);
}
static double inside(const potential *p, int64_t face) {
  return conductance(p, face, p->v->cell_centre + 3 * (int64_t)p->v->owner[face],
                     p->v->cell_centre + 3 * (int64_t)p->v->neighbour[face]);
}
static double outside(const potential *p, int64_t face) {
  return conductance(p, face, p->v->cell_centre + 3 * (int64_t)p->v->owner[face],
                     p->v->face_centre + 3 * face);
}

static PetscInt number_of(const pcsim_mesh_view *v, int64_t cell) {
  return (PetscInt)(cell < v->num_cells ? v->first_cell + cell : v->ghost_global[cell - v->num_cells]);
}

/* The matrix of -div grad: positive definite, or with the constants in its kernel. */
static PetscErrorCode assemble(potential *p, const PetscInt *own, const PetscInt *other, bool is_free) {
  const pcsim_mesh_view *v = p->v;
  const PetscInt n = (PetscInt)v->num_cells;
  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(p->comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, 0, own, 0, other, &p->matrix));
  PetscCall(MatCreateVecs(p->matrix, &p->x, &p->b));
  for (int64_t f = 0; f < v->num_interior_faces; f++) {
    const int64_t cell[2] = {v->owner[f], v->neighbour[f]};
    const double g = inside(p, f);
    for (int i = 0; i < 2; i++) {
      if (cell[i] >= v->num_cells) continue;
      const PetscInt row = number_of(v, cell[i]), column[2] = {row, number_of(v, cell[1 - i])};
      PetscCall(MatSetValues(p->matrix, 1, &row, 2, column, (double[]){g, -g}, ADD_VALUES));
    }
  }
  for (int64_t f = v->num_interior_faces; f < v->num_faces; f++) {
    const int64_t b = f - v->num_interior_faces;
    const PetscInt row = number_of(v, v->owner[f]);
    if (is_open(p, b)) {
      PetscCall(MatSetValue(p->matrix, row, row, outside(p, f), ADD_VALUES));
    } else {
      const double flux = dot(p->problem->velocity + 3 * b, v->face_area + 3 * f);
      PetscCall(VecSetValue(p->b, row, flux, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(p->matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p->matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(p->b));
  PetscCall(VecAssemblyEnd(p->b));
  if (is_free) {
    MatNullSpace constants;
    PetscCall(MatNullSpaceCreate(p->comm, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(p->matrix, constants));
    PetscCall(MatNullSpaceRemove(constants, p->b));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode solve(potential *p) {
  PC pc;
  const PetscScalar *x;
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(p->comm, &p->ksp));
  PetscCall(KSPSetType(p->ksp, KSPCG));
  PetscCall(KSPSetOperators(p->ksp, p->matrix, p->matrix));
  PetscCall(KSPSetTolerances(p->ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(PCSetType(pc, PCHYPRE));
  PetscCall(KSPSolve(p->ksp, p->b, p->x));
  PetscCall(VecGetArrayRead(p->x, &x));
  for (int64_t c = 0; c < p->v->num_cells; c++) p->phi[c] = x[c];
  PetscCall(VecRestoreArrayRead(p->x, &x));
  PetscFunctionReturn(0);
}

static pcsim_status count_entries(const potential *p, PetscInt **own, PetscInt **other) {
  const pcsim_mesh_view *v = p->v;
  PCSIM_TRY(pcsim_alloc((size_t)v->num_cells + 1, sizeof **own, own));
  PCSIM_TRY(pcsim_alloc((size_t)v->num_cells + 1, sizeof **other, other));
  for (int64_t c = 0; c < v->num_cells; c++) (*own)[c] = 1;
  for (int64_t f = 0; f < v->num_interior_faces; f++) {
    const int64_t cell[2] = {v->owner[f], v->neighbour[f]};
    for (int i = 0; i < 2; i++) {
      if (cell[i] >= v->num_cells) continue;
      const PetscInt beyond = number_of(v, cell[1 - i]) - (PetscInt)v->first_cell;
      const bool local = beyond >= 0 && beyond < v->num_cells;
      (local ? *own : *other)[cell[i]]++;
    }
  }
  return PCSIM_OK;
}

/* -------------------------------------------------------------- velocities */

static void add_flux(potential *p, int64_t face, int64_t cell, double flux) {
  const double *S = p->v->face_area + 3 * face, size = sqrt(dot(S, S));
  if (cell >= p->v->num_cells || !(size > 0)) return;
  for (int i = 0; i < 3; i++) {
    p->sum[3 * cell + i] += flux * S[i] / size;
    for (int j = 0; j < 3; j++) p->normal[9 * cell + 3 * i + j] += S[i] * S[j] / size;
  }
}

static void add_fluxes(potential *p) {
  const pcsim_mesh_view *v = p->v;
  for (int64_t f = 0; f < v->num_interior_faces; f++) {
    const double flux = inside(p, f) * (p->phi[v->neighbour[f]] - p->phi[v->owner[f]]);
    add_flux(p, f, v->owner[f], flux);
    add_flux(p, f, v->neighbour[f], flux);
  }
  for (int64_t f = v->num_interior_faces; f < v->num_faces; f++) {
    const int64_t b = f - v->num_interior_faces;
    const double flux = is_open(p, b) ? -outside(p, f) * p->phi[v->owner[f]]
                                      : dot(p->problem->velocity + 3 * b, v->face_area + 3 * f);
    add_flux(p, f, v->owner[f], flux);
  }
}

/* x with a x = b for a symmetric positive definite a [3][3] (Cramer). */
static void solve3(const double a[9], const double b[3], double x[3]) {
  const double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8], c2 = a[3] * a[7] - a[4] * a[6];
  const double det = a[0] * c0 + a[1] * c1 + a[2] * c2;
  x[0] = (b[0] * c0 + b[1] * (a[2] * a[7] - a[1] * a[8]) + b[2] * (a[1] * a[5] - a[2] * a[4])) / det;
  x[1] = (b[0] * c1 + b[1] * (a[0] * a[8] - a[2] * a[6]) + b[2] * (a[2] * a[3] - a[0] * a[5])) / det;
  x[2] = (b[0] * c2 + b[1] * (a[1] * a[6] - a[0] * a[7]) + b[2] * (a[0] * a[4] - a[1] * a[3])) / det;
}

/* Mean pressure and dynamic pressure of the faces where the pressure is given: Bernoulli's constant. */
static double total_pressure(const potential *p) {
  const pcsim_mesh_view *v = p->v;
  double sum[2] = {0};
  for (int64_t f = v->num_interior_faces; f < v->num_faces; f++) {
    const int64_t b = f - v->num_interior_faces;
    if (!is_open(p, b)) continue;
    const double area = sqrt(dot(v->face_area + 3 * f, v->face_area + 3 * f));
    const double speed = -outside(p, f) * p->phi[v->owner[f]] / area;
    const bool total = p->problem->kind[b] == PCSIM_FLOW_TOTAL_PRESSURE;
    sum[0] += area * (p->problem->pressure[b] + (total ? 0 : 0.5 * p->problem->density * speed * speed));
    sum[1] += area;
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, p->comm);
  return sum[1] > 0 ? sum[0] / sum[1] : 0;
}

static void fill(potential *p, double *values) {
  const double constant = total_pressure(p);
  for (int64_t c = 0; c < p->v->num_cells; c++) {
    if (p->v->dim == 2) p->normal[9 * c + 8] = 1;
    solve3(p->normal + 9 * c, p->sum + 3 * c, values + 4 * c);
    values[4 * c + 3] = constant - 0.5 * p->problem->density * dot(values + 4 * c, values + 4 * c);
  }
}

static pcsim_status allocate(potential *p) {
  const size_t n = (size_t)p->v->num_cells, all = n + (size_t)p->v->num_ghosts;
  PCSIM_TRY(pcsim_alloc(all, sizeof(double), &p->phi));
  PCSIM_TRY(pcsim_alloc(9 * n, sizeof(double), &p->normal));
  return pcsim_alloc(3 * n, sizeof(double), &p->sum);
}

static pcsim_status release(potential *p, pcsim_status status) {
  pcsim_status closed =
      PCSIM_PETSC(KSPDestroy(&p->ksp) || VecDestroy(&p->x) || VecDestroy(&p->b) || MatDestroy(&p->matrix));
  pcsim_free(&p->phi);
  pcsim_free(&p->normal);
  pcsim_free(&p->sum);
  return status == PCSIM_OK ? closed : status;
}

pcsim_status pcsim_flow_potential(const pcsim_mesh *mesh, const pcsim_flow_problem *problem, double *values) {
  potential p = {
      .v = pcsim_mesh_get(mesh), .problem = pcsim_flow_problem_get(problem), .comm = pcsim_mesh_comm(mesh)};
  PetscInt *own = NULL, *other = NULL;
  pcsim_status status = allocate(&p);
  if (status == PCSIM_OK) status = count_entries(&p, &own, &other);
  PCSIM_GOTO(pcsim_status_agree(p.comm, status), status, done);
  PCSIM_GOTO(PCSIM_PETSC(assemble(&p, own, other, p.problem->pressure_free)), status, done);
  PCSIM_GOTO(PCSIM_PETSC(solve(&p)), status, done);
  PCSIM_GOTO(pcsim_mesh_exchange(mesh, 1, p.phi), status, done);
  add_fluxes(&p);
  fill(&p, values);
done:
  pcsim_free(&own);
  pcsim_free(&other);
  return release(&p, status);
}
