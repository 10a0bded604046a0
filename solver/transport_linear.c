/* SPDX-License-Identifier: BSD-2-Clause */
/* Linear systems of typed laws: flexible GMRES of PETSc on the exact tangent, preconditioned from the compact
 * Jacobian by algebraic multigrid or what the case's PETSc options name. Functions are all-PETSc
 * (PetscErrorCode) or all-pcsim; PCSIM_PETSC is the border. */
#include "transport_linear.h"
#include "block.h"
#include "halo.h"
#include "krylov.h"
#include "petsc_error.h"

#include <stdlib.h>
#include <string.h>

struct transport_linear {
  transport *t;
  PetscOptions options;
  char petsc[512], defaults[320];
  bool direct;
  KSP ksp;
  Mat tangent, compact;
  Vec b, x;
  /* of the adjoint, from its first solve on */
  KSP ksp_transposed;
  Mat product, compact_transposed;
  krylov_map tangent_map, product_map;
  /* compact Jacobian: block rows of owned cells */
  int64_t *start;  /* [n + 1] */
  int32_t *column; /* local cells, ascending */
  int64_t *slot;   /* [ni][4]: (owner, owner), (owner, neighbour), (neighbour, owner), (neighbour, neighbour);
                      -1: row of another rank */
  int64_t *diagonal;  /* [n] */
  double *value;      /* [nnz][m*m] row-major */
  PetscInt *global;   /* [largest row] columns of one row */
  double *row_values; /* [m][largest row * m] */
};

/* ------------------------------------------------------------------ pattern */

static int compare_int32(const void *x, const void *y) {
  const int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
  return (a > b) - (a < b);
}

static int64_t find(const transport_linear *l, int64_t row, int32_t cell) {
  const int32_t column = column_of(l->t->view, cell);
  if (row >= l->t->n) return -1;
  const int32_t *first = l->column + l->start[row];
  const int32_t *at =
      bsearch(&column, first, (size_t)(l->start[row + 1] - l->start[row]), sizeof column, compare_int32);
  return at ? at - l->column : -1;
}

/* Another point of the face before. */
static bool again(const transport_faces *f, int64_t k) {
  return k > 0 && f->mesh_face[k] == f->mesh_face[k - 1];
}

static pcsim_status fill_pattern(transport_linear *l, int64_t *next) {
  const transport *t = l->t;
  const transport_faces *f = &t->faces;
  for (int64_t i = 0; i < t->n; i++) l->start[i + 1] = 1;
  for (int64_t k = 0; k < f->num; k++) {
    if (again(f, k)) continue;
    if (f->owner[k] < t->n) l->start[f->owner[k] + 1]++;
    if (f->neighbour[k] < t->n) l->start[f->neighbour[k] + 1]++;
  }
  for (int64_t i = 0; i < t->n; i++) l->start[i + 1] += l->start[i];
  PCSIM_TRY(pcsim_alloc((size_t)l->start[t->n], sizeof *l->column, &l->column));
  memcpy(next, l->start, (size_t)t->n * sizeof *next);
  for (int64_t i = 0; i < t->n; i++) l->column[next[i]++] = (int32_t)i;
  for (int64_t k = 0; k < f->num; k++) {
    const int32_t P = f->owner[k], N = f->neighbour[k];
    if (again(f, k)) continue;
    if (P < t->n) l->column[next[P]++] = column_of(t->view, N);
    if (N < t->n) l->column[next[N]++] = column_of(t->view, P);
  }
  rows_sort(t->n, l->start, l->column);
  return PCSIM_OK;
}

static pcsim_status make_pattern(transport_linear *l) {
  const transport *t = l->t;
  const transport_faces *f = &t->faces;
  int64_t *next = NULL, largest = 1;
  const size_t m = (size_t)t->m;
  PCSIM_TRY(pcsim_alloc((size_t)t->n + 1, sizeof *l->start, &l->start));
  PCSIM_TRY(pcsim_alloc((size_t)t->n, sizeof *next, &next));
  pcsim_status status = fill_pattern(l, next);
  pcsim_free(&next);
  PCSIM_TRY(status);
  PCSIM_TRY(pcsim_alloc((size_t)t->n, sizeof *l->diagonal, &l->diagonal));
  PCSIM_TRY(pcsim_alloc((size_t)l->start[t->n] * m * m, sizeof *l->value, &l->value));
  PCSIM_TRY(pcsim_alloc((size_t)f->num * 4, sizeof *l->slot, &l->slot));
  for (int64_t i = 0; i < t->n; i++) {
    const int64_t count = l->start[i + 1] - l->start[i];
    l->diagonal[i] = find(l, i, (int32_t)i);
    if (count > largest) largest = count;
  }
  for (int64_t k = 0; k < f->num; k++)
    for (int s = 0; s < 4; s++)
      l->slot[4 * k + s] =
          find(l, s < 2 ? f->owner[k] : f->neighbour[k], s % 2 ? f->neighbour[k] : f->owner[k]);
  PCSIM_TRY(pcsim_alloc((size_t)largest, sizeof *l->global, &l->global));
  return pcsim_alloc((size_t)largest * m * m, sizeof *l->row_values, &l->row_values);
}

/* ------------------------------------------------------------------ assembly */

/* The blocks of the programs are stored by columns, those of the matrix by rows. */
static void add_block(transport_linear *l, int64_t slot, double factor, const double *block) {
  const int m = l->t->m;
  if (slot < 0) return;
  double *to = l->value + slot * m * m;
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++) to[r * m + c] += factor * block[c * m + r];
}

static void assemble(transport_linear *l) {
  const transport *t = l->t;
  const int m = t->m;
  const int64_t size = (int64_t)m * m;
  memset(l->value, 0, (size_t)(l->start[t->n] * size) * sizeof *l->value);
  for (int64_t k = 0; k < t->faces.num; k++) {
    const double *owner = t->block_owner + k * size, *neighbour = t->block_neighbour + k * size;
    add_block(l, l->slot[4 * k], 1, owner);
    add_block(l, l->slot[4 * k + 1], 1, neighbour);
    add_block(l, l->slot[4 * k + 2], -1, owner);
    add_block(l, l->slot[4 * k + 3], -1, neighbour);
  }
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t f = 0; f < t->boundary[k].num; f++)
      add_block(l, l->diagonal[t->boundary[k].owner[f]], 1, t->block_boundary[k] + f * size);
  for (int64_t c = 0; c < t->n; c++) {
    add_block(l, l->diagonal[c], 1, t->block_source + c * size);
    if (t->step < INFINITY) add_block(l, l->diagonal[c], 1 / t->step, t->block_mass + c * size);
    for (int i = 0; i < m; i++) l->value[l->diagonal[c] * size + i * (m + 1)] += t->pace[c * m + i] / t->cfl;
  }
}

/* Block rows into the matrix of PETSc. */
static PetscErrorCode copy_to_petsc(transport_linear *l) {
  const transport *t = l->t;
  const int m = t->m;
  PetscFunctionBegin;
  PetscCall(MatZeroEntries(l->compact));
  for (int64_t i = 0; i < t->n; i++) {
    const PetscInt row = (PetscInt)(t->view->first_cell + i);
    const int64_t first = l->start[i], count = l->start[i + 1] - first;
    for (int64_t k = 0; k < count; k++) {
      const int64_t j = l->column[first + k];
      l->global[k] = (PetscInt)(j < t->n ? t->view->first_cell + j : t->view->ghost_global[j - t->n]);
      for (int r = 0; r < m; r++)
        memcpy(l->row_values + (r * count + k) * m, l->value + ((first + k) * m + r) * m,
               (size_t)m * sizeof(double));
    }
    PetscCall(
        MatSetValuesBlocked(l->compact, 1, &row, (PetscInt)count, l->global, l->row_values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(l->compact, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(l->compact, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* -------------------------------------------------------------------- set-up */

static pcsim_status tangent_of(void *t, const double *v, double *y) {
  return transport_shifted_tangent(t, v, y);
}

static PetscErrorCode create_compact(transport_linear *l, MPI_Comm comm) {
  const PetscInt m = l->t->m, n = (PetscInt)l->t->n;
  PetscInt *own, *other;
  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &own, n, &other));
  for (PetscInt i = 0; i < n; i++) {
    own[i] = other[i] = 0;
    for (int64_t k = l->start[i]; k < l->start[i + 1]; k++) (l->column[k] < n ? own : other)[i]++;
  }
  PetscCall(MatCreate(comm, &l->compact));
  PetscCall(MatSetSizes(l->compact, m * n, m * n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(l->compact, m));
  PetscCall(MatSetType(l->compact, MATAIJ));
  PetscCall(PetscObjectSetOptions((PetscObject)l->compact, l->options));
  PetscCall(MatSetFromOptions(l->compact));
  PetscCall(MatXAIJSetPreallocation(l->compact, m, own, other, NULL, NULL));
  PetscCall(PetscFree2(own, other));
  PetscFunctionReturn(0);
}

static PetscErrorCode configure_solver(const transport_linear *l, MPI_Comm comm, Mat operator, Mat compact,
                                       KSP *ksp) {
  PC pc;
  PetscFunctionBegin;
  PetscCall(krylov_create(comm, operator, compact, 40, 200, ksp));
  PetscCall(KSPGetPC(*ksp, &pc));
  if (l->direct) {
    PetscCall(PCSetType(pc, PCLU));
    PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  }
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* What reads the options. */
static PetscErrorCode configure_ksp(transport_linear *l, MPI_Comm comm) {
  PetscFunctionBegin;
  PetscCall(create_compact(l, comm));
  PetscCall(configure_solver(l, comm, l->tangent, l->compact, &l->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_ksp(transport_linear *l, MPI_Comm comm) {
  const PetscInt m = l->t->m, n = (PetscInt)l->t->n;
  PetscFunctionBegin;
  l->tangent_map = (krylov_map){tangent_of, l->t, "product with the tangent"};
  PetscCall(PetscOptionsCreate(&l->options));
  PetscCall(PetscOptionsInsertString(l->options, l->defaults));
  PetscCall(PetscOptionsInsertString(l->options, l->petsc));
  PetscCall(krylov_create_operator(comm, m, n, &l->tangent_map, &l->b, &l->x, &l->tangent));
  PetscCall(PetscOptionsPush(l->options));
  const PetscErrorCode code = configure_ksp(l, comm);
  PetscCall(PetscOptionsPop()); /* after a failure too: pushed options cannot be destroyed */
  PetscCall(code);
  PetscFunctionReturn(0);
}

#define BOOMERAMG "-pc_type hypre -pc_hypre_boomeramg_"
/* `factorise`: a steady problem, and the case chooses nothing. BoomerAMG where something diffuses, a cell's
 * unknowns as one node; what only runs through the domain is best factorised incompletely; few unknowns in
 * the plane are factorised as fast as anything else. CPU seconds of Poisson's equation with BoomerAMG as here
 * / with its threshold of the other dimension / GAMG: 100,000 triangles 0.41 / 0.94 / 1.0, 83,000 tetrahedra
 * 0.92 / 1.4 / not seen. ML took 0.53 and 0.58. */
static void choose_options(transport_linear *l, bool factorise) {
  enum { FEW = 2000 };
  const transport *t = l->t;
  int ranks;
  MPI_Comm_size(pcsim_mesh_comm(t->mesh), &ranks);
  if (factorise && ranks == 1 && t->dim == 2 && t->n * t->m <= FEW) {
    snprintf(l->defaults, sizeof l->defaults,
             "-pc_type lu -pc_factor_mat_ordering_type nd -pc_factor_shift_type nonzero");
    return;
  }
  const char *text = "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_levels 1";
  if (transport_diffuses(t->problem))
    text = t->dim == 2 ? BOOMERAMG "strong_threshold 0.25"
                       : BOOMERAMG "strong_threshold 0.5 -pc_hypre_boomeramg_coarsen_type HMIS "
                                   "-pc_hypre_boomeramg_interp_type ext+i -pc_hypre_boomeramg_P_max 4";
  const bool nodes = t->m > 1 && transport_diffuses(t->problem);
  snprintf(l->defaults, sizeof l->defaults, "%s%s", text,
           nodes ? " -pc_hypre_boomeramg_nodal_coarsen 1" : "");
}

pcsim_status transport_linear_create(transport *t, const pcsim_transport_options *options,
                                     transport_linear **out) {
  transport_linear *l = NULL;
  pcsim_status status;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *l, &l));
  l->t = t;
  l->direct = !strcmp(options->linear, "direct");
  if (!l->direct) choose_options(l, !options->time.given && !options->petsc[0]);
  snprintf(l->petsc, sizeof l->petsc, "%s", options->petsc);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(t->mesh), make_pattern(l)), status, fail);
  PCSIM_GOTO(krylov_blame_options(l->petsc, PCSIM_PETSC(create_ksp(l, pcsim_mesh_comm(t->mesh)))), status,
             fail);
  *out = l;
  return PCSIM_OK;
fail:
  transport_linear_destroy(&l);
  return status;
}

static PetscErrorCode destroy_petsc(transport_linear *l) {
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&l->ksp));
  PetscCall(KSPDestroy(&l->ksp_transposed));
  PetscCall(MatDestroy(&l->product));
  PetscCall(MatDestroy(&l->compact_transposed));
  PetscCall(MatDestroy(&l->tangent));
  PetscCall(MatDestroy(&l->compact));
  PetscCall(VecDestroy(&l->b));
  PetscCall(VecDestroy(&l->x));
  PetscCall(PetscOptionsDestroy(&l->options));
  PetscFunctionReturn(0);
}

void transport_linear_destroy(transport_linear **out) {
  transport_linear *l = *out;
  if (!l) return;
  (void)destroy_petsc(l);
  void *blocks[] = {&l->start, &l->column, &l->slot, &l->diagonal, &l->value, &l->global, &l->row_values};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) pcsim_free(blocks[i]);
  pcsim_free(out);
}

/* --------------------------------------------------------------------- solve */

pcsim_status transport_linear_update(transport_linear *l) {
  PCSIM_TRY(transport_update_blocks(l->t));
  assemble(l);
  PCSIM_TRY(PCSIM_PETSC(copy_to_petsc(l)));
  PCSIM_TRY(PCSIM_PETSC(KSPSetReusePreconditioner(l->ksp, PETSC_FALSE)));
  return PCSIM_PETSC(KSPSetOperators(l->ksp, l->tangent, l->compact));
}

static PetscErrorCode solve(transport_linear *l, KSP ksp, const double *b, double *x, double tolerance,
                            PetscInt *iterations, KSPConvergedReason *reason) {
  PetscFunctionBegin;
  PetscCall(krylov_put(b, l->b));
  PetscCall(krylov_solve(ksp, l->options, tolerance, l->b, l->x, iterations, reason));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  PetscCall(krylov_take(l->x, x));
  PetscFunctionReturn(0);
}

pcsim_status transport_linear_solve(transport_linear *l, const double *b, double *x, double tolerance,
                                    int64_t *iterations, bool *converged) {
  PetscInt its = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  const pcsim_status status = PCSIM_PETSC(solve(l, l->ksp, b, x, tolerance, &its, &reason));
  PCSIM_TRY(krylov_blame_options(l->petsc, status));
  *iterations = its;
  *converged = reason > 0;
  return PCSIM_OK;
}

pcsim_status transport_linear_precondition(transport_linear *l, const double *b, double *x) {
  return krylov_blame_options(l->petsc,
                              PCSIM_PETSC(krylov_precondition(l->ksp, l->options, false, b, l->b, l->x, x)));
}

static PetscErrorCode update_transposed(transport_linear *l, MPI_Comm comm) {
  const PetscInt size = (PetscInt)l->t->m * (PetscInt)l->t->n;
  PetscFunctionBegin;
  if (l->compact_transposed) {
    PetscCall(MatTranspose(l->compact, MAT_REUSE_MATRIX, &l->compact_transposed));
    PetscCall(KSPSetReusePreconditioner(l->ksp_transposed, PETSC_FALSE));
    PetscCall(KSPSetOperators(l->ksp_transposed, l->product, l->compact_transposed));
    PetscFunctionReturn(0);
  }
  PetscCall(MatTranspose(l->compact, MAT_INITIAL_MATRIX, &l->compact_transposed));
  PetscCall(krylov_create_shell(comm, size, &l->product_map, &l->product));
  PetscCall(PetscOptionsPush(l->options));
  const PetscErrorCode code =
      configure_solver(l, comm, l->product, l->compact_transposed, &l->ksp_transposed);
  PetscCall(PetscOptionsPop());
  PetscCall(code);
  PetscFunctionReturn(0);
}

pcsim_status transport_linear_update_transposed(transport_linear *l) {
  return krylov_blame_options(l->petsc, PCSIM_PETSC(update_transposed(l, pcsim_mesh_comm(l->t->mesh))));
}

pcsim_status transport_linear_precondition_transposed(transport_linear *l, const double *b, double *x) {
  return krylov_blame_options(
      l->petsc, PCSIM_PETSC(krylov_precondition(l->ksp_transposed, l->options, false, b, l->b, l->x, x)));
}

pcsim_status transport_linear_solve_transposed(transport_linear *l, transport_product product, void *context,
                                               const double *b, double *x, double tolerance,
                                               int64_t *iterations, bool *converged) {
  PetscInt its = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  l->product_map = (krylov_map){product, context, "transposed product"};
  pcsim_status status = PCSIM_PETSC(update_transposed(l, pcsim_mesh_comm(l->t->mesh)));
  if (status == PCSIM_OK) status = PCSIM_PETSC(solve(l, l->ksp_transposed, b, x, tolerance, &its, &reason));
  PCSIM_TRY(krylov_blame_options(l->petsc, status));
  *iterations = its;
  *converged = reason > 0;
  return PCSIM_OK;
}
