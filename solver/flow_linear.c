/* SPDX-License-Identifier: BSD-2-Clause */
/* Linear systems of a Newton step: flexible GMRES of PETSc on the exact tangent (a matrix-free operator),
 * preconditioned from the compact Jacobian by the aggregation multigrid of this folder, or by whatever the
 * case's PETSc options name. Functions are all-PETSc (PetscErrorCode) or all-pcsim; PCSIM_PETSC is the
 * border. */
#include "block.h"
#include "flow.h"
#include "halo.h"
#include "krylov.h"
#include "petsc_error.h"

#include <stdlib.h>
#include <string.h>

struct flow_linear {
  flow *f;
  bool multigrid, direct, singular;
  PetscOptions options; /* of this solver alone */
  char petsc[512];      /* their text */
  bool options_seen;    /* the unused ones have been named */
  KSP ksp;
  Mat tangent, compact; /* compact only without multigrid */
  krylov_map product, preconditioner;
  Vec b, x;
  block_matrix a;
  int64_t *slot; /* [4 ni + nb] entry of each contribution, -1: row of another rank */
  multigrid *mg;
  block_matrix transposed; /* of the adjoint, from its first use on; the pattern is that of `a` */
  multigrid *mg_transposed;
  multigrid_options mg_options;
  float *mg_b, *mg_x;
};

/* ---------------------------------------------------------- compact Jacobian */

static void count_pattern(const flow *f, int64_t *count) {
  for (int64_t i = 0; i < f->n; i++) count[i + 1] = 1;
  for (int64_t k = 0; k < f->ni; k++) {
    if (f->owner[k] < f->n) count[f->owner[k] + 1]++;
    if (f->neighbour[k] < f->n) count[f->neighbour[k] + 1]++;
  }
  for (int64_t i = 0; i < f->n; i++) count[i + 1] += count[i];
}

static pcsim_status make_pattern(flow_linear *l) {
  const flow *f = l->f;
  int64_t *start = NULL;
  pcsim_status status;
  PCSIM_TRY(pcsim_alloc((size_t)f->n + 1, sizeof *start, &start));
  count_pattern(f, start);
  PCSIM_GOTO(block_matrix_create(f->dim + 1, f->n, f->nt - f->n, start[f->n], &l->a), status, done);
  memcpy(l->a.start, start, (size_t)(f->n + 1) * sizeof *start);
  for (int64_t i = 0; i < f->n; i++) l->a.column[start[i]++] = (int32_t)i;
  for (int64_t k = 0; k < f->ni; k++) {
    const int32_t P = f->owner[k], N = f->neighbour[k];
    if (P < f->n) l->a.column[start[P]++] = column_of(f->view, N);
    if (N < f->n) l->a.column[start[N]++] = column_of(f->view, P);
  }
  rows_sort(f->n, l->a.start, l->a.column);
  for (int64_t i = 0; i < f->n; i++) l->a.diagonal[i] = block_matrix_find(&l->a, i, (int32_t)i);
  PCSIM_GOTO(pcsim_alloc((size_t)(4 * f->ni + f->nb), sizeof *l->slot, &l->slot), status, done);
  for (int64_t k = 0; k < f->ni; k++)
    for (int row = 0; row < 2; row++)
      for (int column = 0; column < 2; column++) {
        const int32_t i = row ? f->neighbour[k] : f->owner[k], j = column ? f->neighbour[k] : f->owner[k];
        l->slot[4 * k + 2 * row + column] =
            i < f->n ? block_matrix_find(&l->a, i, column_of(f->view, j)) : -1;
      }
  for (int64_t k = 0; k < f->nb; k++) l->slot[4 * f->ni + k] = l->a.diagonal[f->wall_owner[k]];
done:
  pcsim_free(&start);
  return status;
}

static void add_block(void *context, int32_t row, int32_t column, int64_t slot, const double *block) {
  flow_linear *l = context;
  const int m = l->a.m;
  (void)row, (void)column;
  if (l->slot[slot] < 0) return;
  float *to = l->a.value + l->slot[slot] * m * 4;
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++) to[4 * c + r] += (float)block[r * m + c];
}

/* The place of (column, row) gets the transposed block. */
static void add_transposed(void *context, int32_t row, int32_t column, int64_t slot, const double *block) {
  flow_linear *l = context;
  const int m = l->a.m;
  const int64_t kind = slot % 4, back = slot - kind + (kind == 1 ? 2 : kind == 2 ? 1 : kind);
  const int64_t entry = l->slot[slot < 4 * l->f->ni ? back : slot];
  (void)row, (void)column;
  if (entry < 0) return;
  float *to = l->transposed.value + entry * m * 4;
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++) to[4 * c + r] += (float)block[c * m + r];
}

static pcsim_status assemble(flow_linear *l, block_matrix *a, flow_add_block add) {
  flow *f = l->f;
  const int m = a->m;
  memset(a->value, 0, (size_t)(a->start[f->n] * m * 4) * sizeof(float));
  PCSIM_TRY(f->kernels->jacobian(f, l, add));
  for (int64_t i = 0; i < f->n; i++)
    for (int c = 0; c + 1 < m; c++) a->value[a->diagonal[i] * m * 4 + 5 * c] += (float)f->diagonal[i];
  return PCSIM_OK;
}

/* The same blocks as a PETSc matrix, for its own preconditioners. */
static PetscErrorCode copy_to_petsc(flow_linear *l) {
  const flow *f = l->f;
  const int m = l->a.m;
  PetscScalar block[16];
  PetscFunctionBegin;
  PetscCall(MatZeroEntries(l->compact));
  for (int64_t i = 0; i < f->n; i++) {
    const PetscInt row = (PetscInt)(f->view->first_cell + i);
    for (int64_t k = l->a.start[i]; k < l->a.start[i + 1]; k++) {
      const int64_t j = l->a.column[k];
      const PetscInt column =
          (PetscInt)(j < f->n ? f->view->first_cell + j : f->view->ghost_global[j - f->n]);
      for (int r = 0; r < m; r++)
        for (int c = 0; c < m; c++)
          block[r * m + c] = f->row_weight[i * m + r] * l->a.value[k * m * 4 + 4 * c + r];
      PetscCall(MatSetValuesBlocked(l->compact, 1, &row, 1, &column, block, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(l->compact, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(l->compact, MAT_FINAL_ASSEMBLY));
  if (l->singular && l->direct) { /* hold the pressure of cell 0 for the factorisation */
    PetscInt row = m - 1;
    PetscScalar d = 0;
    PetscMPIInt rank;
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)l->compact), &rank));
    if (rank == 0) PetscCall(MatGetValue(l->compact, row, row, &d));
    if (rank == 0) PetscCall(MatSetValue(l->compact, row, row, 2 * d, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(l->compact, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(l->compact, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(0);
}

/* ---------------------------------------------------------------- call-backs */

static pcsim_status tangent(void *context, const double *v, double *w) {
  const flow_linear *l = context;
  PCSIM_TRY(flow_tangent(l->f, v, w));
  for (int64_t k = 0; l->f->through_time && k < l->f->n * l->a.m; k++) w[k] *= l->f->row_weight[k];
  return PCSIM_OK;
}

/* One cycle on rows that are divided by `weight` (NULL: as they are). */
static pcsim_status apply_cycle(flow_linear *l, multigrid *mg, const double *weight, const double *b,
                                double *x) {
  const int m = l->a.m;
  const int64_t n = l->a.n;
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < m; c++)
      l->mg_b[4 * i + c] = (float)(weight ? b[i * m + c] / weight[i * m + c] : b[i * m + c]);
  PCSIM_TRY(multigrid_apply(mg, l->mg_b, l->mg_x));
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < m; c++) x[i * m + c] = l->mg_x[4 * i + c];
  return PCSIM_OK;
}

static pcsim_status cycle(void *context, const double *v, double *w) {
  flow_linear *l = context;
  return apply_cycle(l, l->mg, l->f->row_weight, v, w);
}

/* -------------------------------------------------------------------- set-up */

static PetscErrorCode create_compact(flow_linear *l) {
  const flow *f = l->f;
  const PetscInt m = l->a.m, n = (PetscInt)f->n;
  PetscInt *own, *other;
  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &own, n, &other));
  for (PetscInt i = 0; i < n; i++) {
    own[i] = other[i] = 0;
    for (int64_t k = l->a.start[i]; k < l->a.start[i + 1]; k++) (l->a.column[k] < n ? own : other)[i]++;
  }
  PetscCall(MatCreate(PetscObjectComm((PetscObject)l->b), &l->compact));
  PetscCall(MatSetSizes(l->compact, m * n, m * n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(l->compact, m));
  PetscCall(MatSetType(l->compact, MATAIJ));
  PetscCall(PetscObjectSetOptions((PetscObject)l->compact, l->options));
  PetscCall(MatSetFromOptions(l->compact));
  PetscCall(MatXAIJSetPreallocation(l->compact, m, own, other, NULL, NULL));
  PetscCall(PetscFree2(own, other));
  PetscFunctionReturn(0);
}

/* What reads the case's PETSc options. */
static PetscErrorCode configure_ksp(flow_linear *l, MPI_Comm comm) {
  PC pc;
  PetscFunctionBegin;
  if (!l->multigrid) PetscCall(create_compact(l));
  PetscCall(krylov_create(comm, l->tangent, l->multigrid ? l->tangent : l->compact, 40, 80, &l->ksp));
  PetscCall(KSPGetPC(l->ksp, &pc));
  if (l->multigrid) {
    PetscCall(krylov_use_shell(l->ksp, &l->preconditioner, "pcsim aggregation multigrid"));
  } else if (l->direct) {
    PetscCall(PCSetType(pc, PCLU));
    PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  }
  PetscCall(KSPSetFromOptions(l->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_ksp(flow_linear *l, MPI_Comm comm) {
  const PetscInt m = l->a.m, n = (PetscInt)l->f->n;
  PetscFunctionBegin;
  l->product = (krylov_map){tangent, l, "tangent"};
  l->preconditioner = (krylov_map){cycle, l, "multigrid"};
  PetscCall(PetscOptionsCreate(&l->options));
  PetscCall(PetscOptionsInsertString(l->options, l->petsc));
  PetscCall(krylov_create_operator(comm, m, n, &l->product, &l->b, &l->x, &l->tangent));
  if (l->singular) PetscCall(krylov_set_null_space(l->b, m - 1, l->tangent));
  PetscCall(PetscOptionsPush(l->options));
  const PetscErrorCode code = configure_ksp(l, comm);
  PetscCall(PetscOptionsPop()); /* after a failure too: pushed options cannot be destroyed */
  PetscCall(code);
  PetscFunctionReturn(0);
}

pcsim_status flow_linear_create(flow *f, const pcsim_flow_options *options, flow_linear **out) {
  flow_linear *l = NULL;
  pcsim_status status;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *l, &l));
  l->f = f;
  l->singular = f->problem->pressure_free;
  l->direct = !strcmp(options->linear, "direct");
  l->multigrid = !l->direct && strcmp(options->linear, "petsc") != 0;
  l->mg_options = multigrid_options_default(f->dim);
  PCSIM_GOTO(make_pattern(l), status, fail);
  if (l->multigrid) {
    PCSIM_GOTO(pcsim_alloc(4 * (size_t)f->n, sizeof(float), &l->mg_b), status, fail);
    PCSIM_GOTO(pcsim_alloc(4 * (size_t)f->n, sizeof(float), &l->mg_x), status, fail);
  }
  snprintf(l->petsc, sizeof l->petsc, "%s", options->petsc);
  PCSIM_GOTO(krylov_blame_options(l->petsc, PCSIM_PETSC(create_ksp(l, pcsim_mesh_comm(f->mesh)))), status,
             fail);
  *out = l;
  return PCSIM_OK;
fail:
  flow_linear_destroy(&l);
  return status;
}

static PetscErrorCode destroy_petsc(flow_linear *l) {
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&l->ksp));
  PetscCall(MatDestroy(&l->tangent));
  PetscCall(MatDestroy(&l->compact));
  PetscCall(VecDestroy(&l->b));
  PetscCall(VecDestroy(&l->x));
  PetscCall(PetscOptionsDestroy(&l->options));
  PetscFunctionReturn(0);
}

void flow_linear_destroy(flow_linear **out) {
  flow_linear *l = *out;
  if (!l) return;
  (void)destroy_petsc(l);
  multigrid_destroy(&l->mg), multigrid_destroy(&l->mg_transposed);
  block_matrix_destroy(&l->a), block_matrix_destroy(&l->transposed);
  pcsim_free(&l->slot), pcsim_free(&l->mg_b), pcsim_free(&l->mg_x);
  pcsim_free(out);
}

pcsim_status flow_linear_update(flow_linear *l) {
  PCSIM_TRY(assemble(l, &l->a, add_block));
  if (l->multigrid) {
    /* aggregates follow the first matrix: through time they follow the last, for the bits of resumed runs */
    if (l->f->through_time) multigrid_destroy(&l->mg);
    if (!l->mg) return multigrid_create(l->f->mesh, &l->a, &l->mg_options, &l->mg);
    return multigrid_update(l->mg);
  }
  PCSIM_TRY(PCSIM_PETSC(copy_to_petsc(l)));
  PCSIM_TRY(PCSIM_PETSC(KSPSetReusePreconditioner(l->ksp, PETSC_FALSE)));
  PCSIM_TRY(PCSIM_PETSC(KSPSetOperators(l->ksp, l->tangent, l->compact)));
  return PCSIM_OK;
}

static PetscErrorCode solve(flow_linear *l, const double *b, double *x, double tolerance,
                            PetscInt *iterations, KSPConvergedReason *reason) {
  PetscScalar *w;
  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(l->b, &w));
  for (int64_t k = 0; k < l->f->n * l->a.m; k++) w[k] = b[k] * l->f->row_weight[k];
  PetscCall(VecRestoreArrayWrite(l->b, &w));
  PetscCall(krylov_solve(l->ksp, l->options, tolerance, l->b, l->x, iterations, reason));
  if (!l->multigrid) PetscCall(KSPSetReusePreconditioner(l->ksp, PETSC_TRUE));
  PetscCall(krylov_take(l->x, x));
  PetscFunctionReturn(0);
}

/* After a solve every option has been asked for that ever will be: the others are slips of the pen. */
static PetscErrorCode name_unused_options(flow_linear *l) {
  PetscInt n;
  char **names, **values;
  PetscMPIInt rank;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)l->ksp), &rank));
  PetscCall(PetscOptionsLeftGet(l->options, &n, &names, &values));
  for (PetscInt i = 0; i < n && rank == 0; i++)
    pcsim_log(PCSIM_LOG_WARNING, "solve.linear.petsc: PETSc has no use for -%s here", names[i]);
  PetscCall(PetscOptionsLeftRestore(l->options, &n, &names, &values));
  l->options_seen = true;
  PetscFunctionReturn(0);
}

pcsim_status flow_linear_solve(flow_linear *l, const double *b, double *x, double tolerance,
                               int64_t *iterations, bool *converged) {
  PetscInt its = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  const pcsim_status status = PCSIM_PETSC(solve(l, b, x, tolerance, &its, &reason));
  PCSIM_TRY(krylov_blame_options(l->petsc, status));
  if (l->petsc[0] && !l->options_seen) PCSIM_TRY(PCSIM_PETSC(name_unused_options(l)));
  *iterations = its;
  *converged = reason > 0;
  return PCSIM_OK;
}

int flow_linear_describe(const flow_linear *l, char *text, size_t size) {
  if (!l->mg) return snprintf(text, size, "%s", l->direct ? "direct (MUMPS)" : "PETSc options");
  double complexity;
  const int levels = multigrid_levels(l->mg, &complexity);
  return snprintf(text, size, "aggregation multigrid, %d levels, operator complexity %.2f", levels,
                  complexity);
}

/* ------------------------------------------------------- preconditioners alone */

static pcsim_status precondition(flow_linear *l, multigrid *mg, bool transposed, const double *b, double *x) {
  if (l->multigrid) return apply_cycle(l, mg, NULL, b, x);
  return krylov_blame_options(
      l->petsc, PCSIM_PETSC(krylov_precondition(l->ksp, l->options, transposed, b, l->b, l->x, x)));
}

pcsim_status flow_linear_precondition(flow_linear *l, const double *b, double *x) {
  return precondition(l, l->mg, false, b, x);
}

/* ------------------------------------------------------------------ transposed */

static pcsim_status copy_pattern(const block_matrix *a, block_matrix *to) {
  PCSIM_TRY(block_matrix_create(a->m, a->n, a->num_ghosts, a->start[a->n], to));
  memcpy(to->start, a->start, (size_t)(a->n + 1) * sizeof *a->start);
  memcpy(to->column, a->column, (size_t)a->start[a->n] * sizeof *a->column);
  memcpy(to->diagonal, a->diagonal, (size_t)a->n * sizeof *a->diagonal);
  return PCSIM_OK;
}

pcsim_status flow_linear_update_transposed(flow_linear *l) {
  if (!l->multigrid) return flow_linear_update(l);
  if (!l->transposed.start) {
    const pcsim_status status = copy_pattern(&l->a, &l->transposed);
    PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(l->f->mesh), status));
  }
  PCSIM_TRY(assemble(l, &l->transposed, add_transposed));
  if (!l->mg_transposed)
    return multigrid_create(l->f->mesh, &l->transposed, &l->mg_options, &l->mg_transposed);
  return multigrid_update(l->mg_transposed);
}

pcsim_status flow_linear_precondition_transposed(flow_linear *l, const double *b, double *x) {
  return precondition(l, l->mg_transposed, true, b, x);
}
