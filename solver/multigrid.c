/* SPDX-License-Identifier: BSD-2-Clause */
/* Aggregation multigrid for block systems: repeated pairwise matching along the strongest couplings (Notay,
 * ETNA 37, 2010), piecewise constant transfer, Galerkin coarse matrices, incomplete LU smoothing. Aggregates
 * do not cross ranks; the coarsest system is gathered and factorised on every rank. */
#include "block.h"
#include "halo.h"
#include "simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 24 };

typedef struct {
  const block_matrix *a; /* finest: borrowed; else &own */
  block_matrix own;
  block_ilu ilu;
  halo *exchange;
  int64_t first;       /* global number of row 0 */
  int32_t *aggregate;  /* [n + ghosts] coarse row (or ghost) */
  int64_t *target;     /* [nnz] entry of the coarse matrix */
  float *x, *b, *r;    /* [n + ghosts][4], [n][4] twice */
  float *c, *v, *rest; /* [n][4], of the two accelerated visits; not on the finest level */
} mg_level;

struct multigrid {
  MPI_Comm comm;
  int rank, size, m;
  multigrid_options options;
  int num_levels;
  mg_level level[LEVELS_MAX];
  /* coarsest, dense on every rank; 0 rows: smoothed only */
  int dense_n;
  double *dense;
  int *dense_pivot, *dense_count, *dense_start;
  double *dense_x, *dense_local;
};

extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
extern void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
                    const int *pivot, double *b, const int *ldb, int *info, size_t length);

/* Measured on the cylinder in 2D and 3D and the cavity: aggregates of four with a K cycle need fewest
 * iterations; second-level fill pays in 2D on the finest level, in 3D on the coarse ones only. */
multigrid_options multigrid_options_default(int dim) {
  return (multigrid_options){.fill = dim == 2 ? 1 : 0,
                             .fill_coarse = 1,
                             .sweeps = 1,
                             .passes = 2,
                             .coarse_size = 100,
                             .cycle = 2,
                             .overcorrection = 1};
}

/* -------------------------------------------------------------- aggregation */

/* Symmetric graph of coupling strengths among owned rows. */
typedef struct {
  int64_t n;
  int64_t *start;
  int32_t *column;
  float *weight;
} graph;

static void graph_free(graph *g) { pcsim_free(&g->start), pcsim_free(&g->column), pcsim_free(&g->weight); }

/* Coupling of row i to entry k: both equations against their diagonals. */
static float coupling(const block_matrix *a, int64_t i, int64_t k) {
  const int64_t m = a->m, d = a->diagonal[i] * m * 4, e = k * m * 4, p = (m - 1) * 5;
  const float pp = fabsf(a->value[d + p]), uu = fabsf(a->value[d]);
  return (pp > 0 ? fabsf(a->value[e + p]) / pp : 0) + (uu > 0 ? fabsf(a->value[e]) / uu : 0);
}

static pcsim_status graph_of_matrix(const block_matrix *a, graph *g) {
  int64_t nnz = 0;
  for (int64_t k = 0; k < a->start[a->n]; k++) nnz += a->column[k] < a->n;
  g->n = a->n;
  PCSIM_TRY(pcsim_alloc((size_t)g->n + 1, sizeof *g->start, &g->start));
  PCSIM_TRY(pcsim_alloc((size_t)nnz, sizeof *g->column, &g->column));
  PCSIM_TRY(pcsim_alloc((size_t)nnz, sizeof *g->weight, &g->weight));
  int64_t at = 0;
  for (int64_t i = 0; i < a->n; i++) {
    for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {
      const int32_t j = a->column[k];
      if (j >= a->n || j == i) continue;
      const int64_t back = block_matrix_find(a, j, (int32_t)i);
      g->column[at] = j;
      g->weight[at++] = fmaxf(coupling(a, i, k), back >= 0 ? coupling(a, j, back) : 0);
    }
    g->start[i + 1] = at;
  }
  return PCSIM_OK;
}

/* Pair each row with its strongest free neighbour; map[i] is the pair's number, in order of its first row. */
static int64_t match(const graph *g, int32_t *map) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < g->n; i++) map[i] = -1;
  for (int64_t i = 0; i < g->n; i++) {
    if (map[i] >= 0) continue;
    float best = 0, strongest = 0;
    int32_t with = -1;
    for (int64_t k = g->start[i]; k < g->start[i + 1]; k++) {
      strongest = fmaxf(strongest, g->weight[k]);
      if (map[g->column[k]] < 0 && g->weight[k] > best) best = g->weight[k], with = g->column[k];
    }
    map[i] = (int32_t)pairs;
    if (with >= 0 && best >= 0.2f * strongest) map[with] = (int32_t)pairs;
    pairs++;
  }
  return pairs;
}

static pcsim_status contract(const graph *g, const int32_t *map, int64_t n, graph *coarse) {
  int64_t *member = NULL, *begin = NULL, *mark = NULL;
  pcsim_status status = PCSIM_OK;
  coarse->n = n;
  PCSIM_GOTO(pcsim_alloc((size_t)n + 2, sizeof *begin, &begin), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)g->n, sizeof *member, &member), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *mark, &mark), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n + 1, sizeof *coarse->start, &coarse->start), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)g->start[g->n], sizeof *coarse->column, &coarse->column), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)g->start[g->n], sizeof *coarse->weight, &coarse->weight), status, done);
  for (int64_t i = 0; i < g->n; i++) begin[map[i] + 2]++;
  for (int64_t i = 0; i < n; i++) begin[i + 2] += begin[i + 1];
  for (int64_t i = 0; i < g->n; i++) member[begin[map[i] + 1]++] = i;
  for (int64_t i = 0; i < n; i++) mark[i] = -1;
  int64_t at = 0;
  for (int64_t I = 0; I < n; I++) {
    const int64_t row = at;
    for (int64_t s = begin[I]; s < begin[I + 1]; s++)
      for (int64_t k = g->start[member[s]]; k < g->start[member[s] + 1]; k++) {
        const int32_t J = map[g->column[k]];
        if (J == I) continue;
        if (mark[J] < row) {
          mark[J] = at;
          coarse->column[at] = J;
          coarse->weight[at++] = 0;
        }
        coarse->weight[mark[J]] += g->weight[k];
      }
    coarse->start[I + 1] = at;
  }
done:
  pcsim_free(&member), pcsim_free(&begin), pcsim_free(&mark);
  return status;
}

/* aggregate [n] of the owned rows after `passes` matchings; returns the number of aggregates. */
static pcsim_status aggregate(const block_matrix *a, int passes, int32_t *map, int64_t *num) {
  graph g = {0}, coarse = {0};
  int32_t *step = NULL;
  pcsim_status status;
  PCSIM_GOTO(graph_of_matrix(a, &g), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)a->n, sizeof *step, &step), status, done);
  for (int64_t i = 0; i < a->n; i++) map[i] = (int32_t)i;
  *num = a->n;
  for (int pass = 0; pass < passes; pass++) {
    const int64_t n = match(&g, step);
    for (int64_t i = 0; i < a->n; i++) map[i] = step[map[i]];
    *num = n;
    if (pass + 1 == passes) break;
    PCSIM_GOTO(contract(&g, step, n, &coarse), status, done);
    graph_free(&g);
    g = coarse;
    memset(&coarse, 0, sizeof coarse);
  }
done:
  graph_free(&g), graph_free(&coarse);
  pcsim_free(&step);
  return status;
}

/* ----------------------------------------------------------- coarse matrices */

static int compare_int64(const void *x, const void *y) {
  const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}
static int compare_int32(const void *x, const void *y) {
  const int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
  return (a > b) - (a < b);
}

/* Aggregates of ghosts: their global numbers, then local ghost numbers on the coarse level. */
static pcsim_status coarse_ghosts(multigrid *mg, mg_level *fine, mg_level *coarse, int64_t n,
                                  int64_t *num_ghosts) {
  const int64_t nf = fine->a->n, ng = fine->a->num_ghosts;
  int64_t *global = NULL, *unique = NULL, count = n, first = 0;
  pcsim_status status = PCSIM_OK;
  MPI_Exscan(&count, &first, 1, MPI_INT64_T, MPI_SUM, mg->comm);
  if (mg->rank == 0) first = 0;
  coarse->first = first;
  PCSIM_GOTO(pcsim_alloc((size_t)(nf + ng), sizeof *global, &global), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)ng, sizeof *unique, &unique), status, done);
  for (int64_t i = 0; i < nf; i++) global[i] = first + fine->aggregate[i];
  PCSIM_GOTO(halo_exchange_int64(fine->exchange, global, global + nf), status, done);
  int64_t u = 0, others = 0;
  for (int64_t i = 0; i < ng; i++) /* images of own rows are those rows */
    if (global[nf + i] < first || global[nf + i] >= first + n) unique[others++] = global[nf + i];
  if (others) qsort(unique, (size_t)others, sizeof *unique, compare_int64);
  for (int64_t i = 0; i < others; i++)
    if (u == 0 || unique[u - 1] != unique[i]) unique[u++] = unique[i];
  for (int64_t i = 0; i < ng; i++) {
    if (global[nf + i] >= first && global[nf + i] < first + n) {
      fine->aggregate[nf + i] = (int32_t)(global[nf + i] - first);
      continue;
    }
    const int64_t *p = bsearch(&global[nf + i], unique, (size_t)u, sizeof *unique, compare_int64);
    fine->aggregate[nf + i] = (int32_t)(n + (p - unique));
  }
  *num_ghosts = u;
  PCSIM_GOTO(halo_create(mg->comm, n, first, u, unique, &coarse->exchange), status, done);
done:
  pcsim_free(&global), pcsim_free(&unique);
  return status;
}

/* Pattern of P^T A P and the place each fine entry adds to. */
static pcsim_status coarse_pattern(const mg_level *fine, int64_t n, int64_t num_ghosts, block_matrix *c,
                                   int64_t *target) {
  const block_matrix *a = fine->a;
  const int32_t *map = fine->aggregate;
  int64_t *begin = NULL, *member = NULL, *mark = NULL;
  int32_t *column = NULL;
  int64_t *start = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)n + 2, sizeof *begin, &begin), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)a->n, sizeof *member, &member), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)(n + num_ghosts), sizeof *mark, &mark), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n + 1, sizeof *start, &start), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)a->start[a->n], sizeof *column, &column), status, done);
  for (int64_t i = 0; i < a->n; i++) begin[map[i] + 2]++;
  for (int64_t i = 0; i < n; i++) begin[i + 2] += begin[i + 1];
  for (int64_t i = 0; i < a->n; i++) member[begin[map[i] + 1]++] = i;
  for (int64_t i = 0; i < n + num_ghosts; i++) mark[i] = -1;
  int64_t at = 0;
  for (int64_t I = 0; I < n; I++) {
    const int64_t row = at;
    for (int64_t s = begin[I]; s < begin[I + 1]; s++)
      for (int64_t k = a->start[member[s]]; k < a->start[member[s] + 1]; k++) {
        const int32_t J = map[a->column[k]];
        if (mark[J] < row) mark[J] = at, column[at++] = J;
      }
    qsort(column + row, (size_t)(at - row), sizeof *column, compare_int32);
    for (int64_t k = row; k < at; k++) mark[column[k]] = k;
    for (int64_t s = begin[I]; s < begin[I + 1]; s++)
      for (int64_t k = a->start[member[s]]; k < a->start[member[s] + 1]; k++)
        target[k] = mark[map[a->column[k]]];
    start[I + 1] = at;
  }
  PCSIM_GOTO(block_matrix_create(a->m, n, num_ghosts, at, c), status, done);
  memcpy(c->start, start, (size_t)(n + 1) * sizeof *start);
  memcpy(c->column, column, (size_t)at * sizeof *column);
  for (int64_t i = 0; i < n; i++) c->diagonal[i] = block_matrix_find(c, i, (int32_t)i);
done:
  pcsim_free(&begin), pcsim_free(&member), pcsim_free(&mark), pcsim_free(&column), pcsim_free(&start);
  return status;
}

static void coarse_values(const mg_level *fine, block_matrix *c) {
  const block_matrix *a = fine->a;
  const int64_t m = a->m;
  v4 *to = (v4 *)c->value;
  const v4 *from = (const v4 *)a->value;
  memset(to, 0, (size_t)(c->start[c->n] * m) * sizeof *to);
  for (int64_t k = 0; k < a->start[a->n]; k++)
    for (int j = 0; j < m; j++) to[fine->target[k] * m + j] += from[k * m + j];
}

static pcsim_status level_workspace(mg_level *l, bool finest) {
  const size_t n = (size_t)l->a->n, all = n + (size_t)l->a->num_ghosts;
  PCSIM_TRY(pcsim_alloc(4 * all, sizeof(float), &l->x));
  if (!finest) {
    PCSIM_TRY(pcsim_alloc(4 * n, sizeof(float), &l->b));
    PCSIM_TRY(pcsim_alloc(4 * n, sizeof(float), &l->c));
    PCSIM_TRY(pcsim_alloc(4 * n, sizeof(float), &l->v));
    PCSIM_TRY(pcsim_alloc(4 * n, sizeof(float), &l->rest));
  }
  return pcsim_alloc(4 * n, sizeof(float), &l->r);
}

/* ------------------------------------------------------------ coarsest level */

static pcsim_status dense_create(multigrid *mg) {
  mg_level *l = &mg->level[mg->num_levels - 1];
  const int local = (int)(l->a->n * mg->m);
  PCSIM_TRY(pcsim_alloc((size_t)mg->size, sizeof(int), &mg->dense_count));
  PCSIM_TRY(pcsim_alloc((size_t)mg->size + 1, sizeof(int), &mg->dense_start));
  MPI_Allgather(&local, 1, MPI_INT, mg->dense_count, 1, MPI_INT, mg->comm);
  for (int i = 0; i < mg->size; i++) mg->dense_start[i + 1] = mg->dense_start[i] + mg->dense_count[i];
  const int n = mg->dense_start[mg->size];
  if (n > 4 * mg->m * mg->options.coarse_size) return PCSIM_OK; /* coarsening stalled: smooth only */
  mg->dense_n = n;
  PCSIM_TRY(pcsim_alloc((size_t)n * (size_t)n, sizeof(double), &mg->dense));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof(int), &mg->dense_pivot));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof(double), &mg->dense_x));
  return pcsim_alloc((size_t)local, sizeof(double), &mg->dense_local);
}

static pcsim_status dense_update(multigrid *mg) {
  const mg_level *l = &mg->level[mg->num_levels - 1];
  const block_matrix *a = l->a;
  const int m = mg->m, n = mg->dense_n;
  if (!n) return PCSIM_OK;
  memset(mg->dense, 0, (size_t)n * (size_t)n * sizeof *mg->dense);
  int64_t *global = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)(a->n + a->num_ghosts), sizeof *global, &global));
  for (int64_t i = 0; i < a->n; i++) global[i] = l->first + i;
  pcsim_status status = halo_exchange_int64(l->exchange, global, global + a->n);
  for (int64_t i = 0; i < a->n && status == PCSIM_OK; i++)
    for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
      for (int r = 0; r < m; r++)
        for (int c = 0; c < m; c++)
          mg->dense[(size_t)(global[a->column[k]] * m + c) * (size_t)n + (size_t)(global[i] * m + r)] =
              a->value[(k * m + c) * 4 + r];
  pcsim_free(&global);
  PCSIM_TRY(status);
  MPI_Allreduce(MPI_IN_PLACE, mg->dense, n * n, MPI_DOUBLE, MPI_SUM, mg->comm);
  /* a pressure free to float leaves the matrix singular: hold it at one cell, the level is removed later */
  const size_t at = (size_t)(m - 1) * (size_t)n + (size_t)(m - 1);
  mg->dense[at] += 1e-3 * fabs(mg->dense[at]);
  int info = 0;
  dgetrf_(&n, &n, mg->dense, &n, mg->dense_pivot, &info);
  PCSIM_CHECK(info >= 0, PCSIM_ERR_INTERNAL, "dgetrf: argument %d", -info);
  for (int i = 0; i < n && info > 0; i++) {
    double *d = &mg->dense[(size_t)i * (size_t)n + (size_t)i];
    if (*d == 0) *d = 1; /* an unused unknown */
  }
  return PCSIM_OK;
}

static void dense_solve(multigrid *mg, const float *b, float *x) {
  const mg_level *l = &mg->level[mg->num_levels - 1];
  const int m = mg->m, n = mg->dense_n, one = 1;
  for (int64_t i = 0; i < l->a->n; i++)
    for (int c = 0; c < m; c++) mg->dense_local[i * m + c] = b[4 * i + c];
  MPI_Allgatherv(mg->dense_local, mg->dense_count[mg->rank], MPI_DOUBLE, mg->dense_x, mg->dense_count,
                 mg->dense_start, MPI_DOUBLE, mg->comm);
  int info = 0;
  dgetrs_("N", &n, &one, mg->dense, &n, mg->dense_pivot, mg->dense_x, &n, &info, 1);
  for (int64_t i = 0; i < l->a->n; i++)
    for (int c = 0; c < m; c++) x[4 * i + c] = (float)mg->dense_x[mg->dense_start[mg->rank] + i * m + c];
}

/* -------------------------------------------------------------------- set-up */

static pcsim_status add_level(multigrid *mg, bool *stop) {
  mg_level *fine = &mg->level[mg->num_levels - 1], *coarse = fine + 1;
  const block_matrix *a = fine->a;
  int64_t n = 0, ghosts = 0, sizes[2];
  PCSIM_TRY(pcsim_alloc((size_t)(a->n + a->num_ghosts), sizeof *fine->aggregate, &fine->aggregate));
  PCSIM_TRY(aggregate(a, mg->options.passes, fine->aggregate, &n));
  sizes[0] = a->n, sizes[1] = n;
  MPI_Allreduce(MPI_IN_PLACE, sizes, 2, MPI_INT64_T, MPI_SUM, mg->comm);
  *stop = sizes[0] <= mg->options.coarse_size || (double)sizes[1] > 0.9 * (double)sizes[0];
  if (*stop) return PCSIM_OK;
  mg->num_levels++;
  PCSIM_TRY(coarse_ghosts(mg, fine, coarse, n, &ghosts));
  PCSIM_TRY(pcsim_alloc((size_t)a->start[a->n], sizeof *fine->target, &fine->target));
  PCSIM_TRY(coarse_pattern(fine, n, ghosts, &coarse->own, fine->target));
  coarse->a = &coarse->own;
  coarse_values(fine, &coarse->own);
  *stop = sizes[1] <= mg->options.coarse_size || mg->num_levels == LEVELS_MAX;
  return PCSIM_OK;
}

static pcsim_status build(multigrid *mg, const pcsim_mesh *mesh, const block_matrix *fine) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  mg_level *top = &mg->level[0];
  mg->num_levels = 1;
  top->a = fine;
  top->first = v->first_cell;
  PCSIM_TRY(halo_create(mg->comm, fine->n, v->first_cell, fine->num_ghosts, v->ghost_global, &top->exchange));
  for (bool stop = false; !stop;) PCSIM_TRY(add_level(mg, &stop));
  for (int i = 0; i < mg->num_levels; i++) {
    mg_level *l = &mg->level[i];
    PCSIM_TRY(level_workspace(l, i == 0));
    PCSIM_TRY(block_ilu_create(l->a, i ? mg->options.fill_coarse : mg->options.fill, &l->ilu));
  }
  return dense_create(mg);
}

pcsim_status multigrid_create(const pcsim_mesh *mesh, const block_matrix *fine,
                              const multigrid_options *options, multigrid **out) {
  multigrid *mg = NULL;
  *out = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *mg, &mg));
  mg->comm = pcsim_mesh_comm(mesh);
  MPI_Comm_rank(mg->comm, &mg->rank);
  MPI_Comm_size(mg->comm, &mg->size);
  mg->m = fine->m;
  mg->options = *options;
  pcsim_status status = build(mg, mesh, fine);
  if (status == PCSIM_OK) status = multigrid_update(mg);
  if (status != PCSIM_OK) {
    pcsim_error_frame(status, __FILE__, __LINE__, __func__);
    multigrid_destroy(&mg);
    return status;
  }
  *out = mg;
  return PCSIM_OK;
}

pcsim_status multigrid_update(multigrid *mg) {
  for (int i = 0; i < mg->num_levels; i++) {
    mg_level *l = &mg->level[i];
    int64_t singular = 0;
    if (i) coarse_values(l - 1, &l->own);
    PCSIM_TRY(block_ilu_update(l->a, &l->ilu, &singular));
  }
  return dense_update(mg);
}

void multigrid_destroy(multigrid **out) {
  multigrid *mg = *out;
  if (!mg) return;
  for (int i = 0; i < mg->num_levels; i++) {
    mg_level *l = &mg->level[i];
    block_matrix_destroy(&l->own);
    block_ilu_destroy(&l->ilu);
    halo_destroy(&l->exchange);
    pcsim_free(&l->aggregate), pcsim_free(&l->target), pcsim_free(&l->x), pcsim_free(&l->b),
        pcsim_free(&l->r);
    pcsim_free(&l->c), pcsim_free(&l->v), pcsim_free(&l->rest);
  }
  pcsim_free(&mg->dense), pcsim_free(&mg->dense_pivot), pcsim_free(&mg->dense_count),
      pcsim_free(&mg->dense_start);
  pcsim_free(&mg->dense_x), pcsim_free(&mg->dense_local);
  pcsim_free(out);
}

int multigrid_levels(const multigrid *mg, double *complexity) {
  double all = 0;
  for (int i = 0; i < mg->num_levels; i++) all += (double)mg->level[i].a->start[mg->level[i].a->n];
  *complexity = all / (double)mg->level[0].a->start[mg->level[0].a->n];
  return mg->num_levels;
}

/* --------------------------------------------------------------------- cycle */

static void add_to(int64_t n, const float *d, float *x) {
  for (int64_t i = 0; i < n; i++) ((v4 *)x)[i] += ((const v4 *)d)[i];
}

static pcsim_status smooth(mg_level *l, const float *b) {
  PCSIM_TRY(halo_exchange(l->exchange, 4, l->x, l->x + 4 * l->a->n));
  block_matrix_residual(l->a, b, l->x, l->r);
  block_ilu_solve(&l->ilu, l->r, l->r);
  add_to(l->a->n, l->r, l->x);
  return PCSIM_OK;
}

/* sums[k] = <a[k], b[k]> over all ranks */
static void inner_products(const multigrid *mg, int64_t n, int count, const float *const *a,
                           const float *const *b, double *sums) {
  for (int k = 0; k < count; k++) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
      const v4 p = ((const v4 *)a[k])[i] * ((const v4 *)b[k])[i];
      sum += (double)p[0] + p[1] + p[2] + p[3];
    }
    sums[k] = sum;
  }
  if (mg->size > 1) MPI_Allreduce(MPI_IN_PLACE, sums, count, MPI_DOUBLE, MPI_SUM, mg->comm);
}

static pcsim_status cycle(multigrid *mg, int at, const float *b);

/* rest = b - A x and product = A x for the vector in l->x */
static pcsim_status apply_level(mg_level *l, const float *b, float *rest, float *product) {
  const int64_t n = l->a->n;
  PCSIM_TRY(halo_exchange(l->exchange, 4, l->x, l->x + 4 * n));
  block_matrix_residual(l->a, b, l->x, rest);
  for (int64_t i = 0; i < n; i++) ((v4 *)product)[i] = ((const v4 *)b)[i] - ((const v4 *)rest)[i];
  return PCSIM_OK;
}

/* One level below the finest: two cycles joined by the combination of least residual (the K cycle of Notay
 * and Vassilevski, NLAA 15, 2008), the second only where the first leaves more than a quarter. */
static pcsim_status solve_level(multigrid *mg, int at, const float *b) {
  mg_level *l = &mg->level[at];
  const int64_t n = l->a->n;
  double s[3];
  PCSIM_TRY(cycle(mg, at, b));
  if (mg->options.cycle < 2 || (at == mg->num_levels - 1 && mg->dense_n)) return PCSIM_OK;
  memcpy(l->c, l->x, (size_t)(4 * n) * sizeof *l->c);
  PCSIM_TRY(apply_level(l, b, l->rest, l->v));
  inner_products(mg, n, 3, (const float *[]){l->v, l->v, b}, (const float *[]){l->v, b, b}, s);
  const double vv = s[0], alpha = vv > 0 ? s[1] / vv : 0;
  if (!(vv > 0) || !isfinite(alpha)) return PCSIM_OK;
  for (int64_t i = 0; i < n; i++)
    ((v4 *)l->rest)[i] = ((const v4 *)b)[i] - (float)alpha * ((const v4 *)l->v)[i];
  double beta = 0, gamma = 0;
  if (s[2] - alpha * s[1] > 0.0625 * s[2]) {
    PCSIM_TRY(cycle(mg, at, l->rest));
    PCSIM_TRY(apply_level(l, l->rest, l->r, l->r)); /* r = A x */
    inner_products(mg, n, 3, (const float *[]){l->r, l->r, l->r}, (const float *[]){l->v, l->r, l->rest}, s);
    gamma = s[0] / vv;
    const double ww = s[1] - gamma * s[0];
    beta = ww > 1e-12 * s[1] ? s[2] / ww : 0;
  }
  const float p = (float)(alpha - beta * gamma), q = (float)beta;
  for (int64_t i = 0; i < n; i++) ((v4 *)l->x)[i] = p * ((const v4 *)l->c)[i] + q * ((const v4 *)l->x)[i];
  return PCSIM_OK;
}

/* l->x = approximate solution from zero */
static pcsim_status cycle(multigrid *mg, int at, const float *b) {
  mg_level *l = &mg->level[at];
  const int64_t n = l->a->n;
  if (at == mg->num_levels - 1 && mg->dense_n) {
    dense_solve(mg, b, l->x);
    return PCSIM_OK;
  }
  block_ilu_solve(&l->ilu, b, l->x);
  for (int s = 1; s < mg->options.sweeps; s++) PCSIM_TRY(smooth(l, b));
  if (at < mg->num_levels - 1) {
    mg_level *c = l + 1;
    PCSIM_TRY(halo_exchange(l->exchange, 4, l->x, l->x + 4 * n));
    block_matrix_residual(l->a, b, l->x, l->r);
    memset(c->b, 0, (size_t)(4 * c->a->n) * sizeof *c->b);
    for (int64_t i = 0; i < n; i++) ((v4 *)c->b)[l->aggregate[i]] += ((const v4 *)l->r)[i];
    PCSIM_TRY(solve_level(mg, at + 1, c->b));
    const float w = mg->options.overcorrection;
    for (int64_t i = 0; i < n; i++) ((v4 *)l->x)[i] += w * ((const v4 *)c->x)[l->aggregate[i]];
  }
  for (int s = 0; s < mg->options.sweeps; s++) PCSIM_TRY(smooth(l, b));
  return PCSIM_OK;
}

pcsim_status multigrid_apply(multigrid *mg, const float *b, float *x) {
  PCSIM_TRY(cycle(mg, 0, b));
  memcpy(x, mg->level[0].x, (size_t)(4 * mg->level[0].a->n) * sizeof *x);
  return PCSIM_OK;
}
