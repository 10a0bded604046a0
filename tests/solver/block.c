/* SPDX-License-Identifier: BSD-2-Clause */
/* Block matrices, their incomplete factorisation, and the aggregation multigrid as a preconditioner. */
#include "solver/block.h"
#include "solver/sample.h"

static double random_number(uint64_t *state) { return lattice_random(state) / 1073741824.0 - 1; }

/* Rows of a chain with a few far couplings; diagonally dominant blocks of full random content. */
static block_matrix random_matrix(int m, int64_t n, int64_t ghosts) {
  block_matrix a;
  uint64_t random = 5;
  const int64_t far[4] = {1, 2, 7, 11};
  int64_t nnz = 0;
  assert_ok(block_matrix_create(m, n, ghosts, n * 9 + ghosts, &a));
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++)
      for (int k = 0; k < 4; k++)
        if (i == j ? k == 0 : llabs(i - j) == far[k] && (i * 5 + j * 3) % 4 != 0) {
          if (i == j) a.diagonal[i] = nnz;
          a.column[nnz++] = (int32_t)j;
        }
    if (i < ghosts) a.column[nnz++] = (int32_t)(n + i);
    a.start[i + 1] = nnz;
    for (int64_t e = a.start[i]; e < nnz; e++)
      for (int c = 0; c < m; c++)
        for (int r = 0; r < m; r++)
          a.value[(e * m + c) * 4 + r] =
              (float)(random_number(&random) + (e == a.diagonal[i] && r == c ? 12 : 0));
  }
  return a;
}

static float *random_rows(int m, int64_t n, int seed) {
  float *x = NULL;
  assert_ok(pcsim_alloc((size_t)(4 * n), sizeof *x, &x));
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < m; c++) x[4 * i + c] = (float)noise(i, seed + c);
  return x;
}

static void matrix_residual(void **state) {
  (void)state;
  for (int m = 3; m <= 4; m++) {
    const int64_t n = 40, ghosts = 6;
    block_matrix a = random_matrix(m, n, ghosts);
    float *x = random_rows(m, n + ghosts, 0), *b = random_rows(m, n, 4), *r = random_rows(m, n, 0);
    assert_int_equal(block_matrix_find(&a, 3, 3), a.diagonal[3]);
    assert_int_equal(block_matrix_find(&a, 3, 3 + 30), -1);
    assert_int_equal(block_matrix_find(&a, 3, (int32_t)n + 3), a.start[4] - 1);
    assert_int_equal(block_matrix_find(&a, (int32_t)n - 1, (int32_t)n + 5), -1);
    block_matrix_residual(&a, b, x, r);
    for (int64_t i = 0; i < n; i++)
      for (int c = 0; c < 4; c++) {
        double sum = b[4 * i + c];
        for (int64_t e = a.start[i]; e < a.start[i + 1] && c < m; e++)
          for (int j = 0; j < m; j++)
            sum -= (double)a.value[(e * m + j) * 4 + c] * x[4 * (int64_t)a.column[e] + j];
        assert_close(r[4 * i + c], c < m ? sum : 0, 1e-5);
      }
    block_matrix_destroy(&a);
    pcsim_free(&x), pcsim_free(&b), pcsim_free(&r);
  }
}

/* With fill of any level the factorisation is complete; with none it has the pattern of the matrix, and the
 * product of its factors agrees with the matrix there. */
static void incomplete_lu(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  for (int m = 3; m <= 4; m++) {
    const int64_t n = 60, ghosts = 4;
    block_matrix a = random_matrix(m, n, ghosts);
    float *x = random_rows(m, n + ghosts, 0), *b = random_rows(m, n, 0), *r = random_rows(m, n, 0);
    double error[3];
    static const int level[3] = {0, 1, 1000};
    memset(x + 4 * n, 0, (size_t)(4 * ghosts) * sizeof *x); /* ghosts are left out */
    for (int k = 0; k < 3; k++) {
      block_ilu lu;
      int64_t singular = -1;
      assert_ok(block_ilu_create(&a, level[k], &lu));
      for (int repeat = 0; repeat < 2; repeat++) assert_ok(block_ilu_update(&a, &lu, &singular));
      assert_int_equal(singular, 0);
      block_ilu_solve(&lu, b, x);
      block_matrix_residual(&a, b, x, r);
      error[k] = 0;
      for (int64_t i = 0; i < 4 * n; i++) error[k] += (double)r[i] * r[i];
      for (int64_t i = 0; i < n && k == 0; i++) {
        int64_t at = lu.start[i];
        for (int64_t e = a.start[i]; e < a.start[i + 1]; e++)
          if (a.column[e] < n && a.column[e] != i) assert_int_equal(lu.column[at++], a.column[e]);
        assert_int_equal(at, lu.start[i + 1]);
        for (int64_t e = lu.start[i]; e < lu.start[i + 1]; e++)
          assert_true((lu.column[e] > i) == (e >= lu.upper[i]));
      }
      memcpy(r, b, (size_t)(4 * n) * sizeof *r); /* in place */
      block_ilu_solve(&lu, r, r);
      assert_memory_equal(r, x, (size_t)(4 * n) * sizeof *r);
      block_ilu_destroy(&lu);
    }
    assert_true(error[0] > 1e-6 && error[1] < error[0]); /* incomplete, and better with more fill */
    assert_close(sqrt(error[2]), 0, 1e-5);
    block_matrix_destroy(&a);
    pcsim_free(&x), pcsim_free(&b), pcsim_free(&r);
  }
  assert_int_equal(pcsim_memory_used(), before);
}

/* Levels of fill by the definition, on a full table: that of a pair is the least over all eliminations. */
static void levels_of_fill(void **state) {
  enum { N = 60, NONE = 1000 };
  static int level[N][N];
  (void)state;
  block_matrix a;
  uint64_t random = 3;
  int64_t nnz = 0;
  assert_ok(block_matrix_create(3, N, 0, (int64_t)N * N, &a));
  for (int i = 0; i < N; i++, a.start[i] = nnz)
    for (int j = 0; j < N; j++) {
      if (i != j && lattice_random(&random) % 25 != 0) continue;
      if (i == j) a.diagonal[i] = nnz;
      a.column[nnz++] = j;
    }
  for (int fill = 0; fill <= 4; fill++) {
    block_ilu lu;
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) level[i][j] = block_matrix_find(&a, i, j) >= 0 ? 0 : NONE;
      for (int k = 0; k < i; k++)
        for (int j = k + 1; j < N && level[i][k] <= fill; j++)
          if (level[k][j] <= fill && level[i][k] + level[k][j] + 1 < level[i][j])
            level[i][j] = level[i][k] + level[k][j] + 1;
    }
    assert_ok(block_ilu_create(&a, fill, &lu));
    for (int i = 0; i < N; i++) {
      int64_t at = lu.start[i];
      for (int j = 0; j < N; j++)
        if (j != i && level[i][j] <= fill) {
          assert_true(at < lu.start[i + 1]);
          assert_int_equal(lu.column[at++], j);
        }
      assert_int_equal(at, lu.start[i + 1]);
    }
    block_ilu_destroy(&lu);
  }
  block_matrix_destroy(&a);
}

static void singular_pivots(void **state) {
  (void)state;
  for (int m = 3; m <= 4; m++) {
    block_matrix a = random_matrix(m, 30, 0);
    block_ilu lu;
    int64_t singular = -1;
    /* a row of its own whose block has rank m - 1, and one that is all zero */
    for (int64_t e = a.start[0]; e < a.start[1]; e++) memset(a.value + e * m * 4, 0, (size_t)m * 16);
    for (int c = 0; c < m; c++)
      for (int r = 0; r < m; r++)
        a.value[(a.diagonal[0] * m + c) * 4 + r] = (float)((r < 2 ? 1 : r) * (c + 1) + (r == c && r > 1));
    for (int64_t e = a.start[20]; e < a.start[21]; e++) memset(a.value + e * m * 4, 0, (size_t)m * 16);
    assert_ok(block_ilu_create(&a, 0, &lu));
    assert_ok(block_ilu_update(&a, &lu, &singular));
    assert_int_equal(singular, 2);
    float *b = random_rows(m, 30, 0);
    block_ilu_solve(&lu, b, b);
    for (int i = 0; i < 120; i++) assert_true(isfinite(b[i]));
    pcsim_free(&b);
    block_ilu_destroy(&lu);
    block_matrix_destroy(&a);
  }
}

/* ------------------------------------------------------------- multigrid */

/* Convection and diffusion of m unknowns coupled in every cell: upwind and two points, values given all
 * around; the cell Peclet number is about `wind`. */
typedef struct {
  const pcsim_mesh *mesh;
  const pcsim_mesh_view *v;
  int m;
  block_matrix a;
} transport;

static void set_block(transport *t, int64_t row, int32_t column, double value) {
  const int64_t e = block_matrix_find(&t->a, row, column), m = t->m;
  assert_true(e >= 0);
  for (int64_t c = 0; c < m; c++)
    for (int64_t r = 0; r < m; r++) {
      /* unknowns mix with each other, not symmetrically */
      const double mix = r == c ? 1 : 0.2 * (double)(c - r) / (double)m;
      t->a.value[(e * m + c) * 4 + r] += (float)(value * mix);
    }
}

static int by_column(const void *x, const void *y) {
  const int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
  return (a > b) - (a < b);
}

static void transport_pattern(transport *t) {
  const pcsim_mesh_view *v = t->v;
  const int64_t n = v->num_cells;
  int64_t *at = NULL;
  assert_ok(block_matrix_create(t->m, n, v->num_ghosts, n + 2 * v->num_interior_faces, &t->a));
  assert_ok(pcsim_alloc((size_t)n + 1, sizeof *at, &at));
  for (int64_t i = 0; i < n; i++) at[i + 1] = 1;
  for (int64_t k = 0; k < v->num_interior_faces; k++) {
    if (v->owner[k] < n) at[v->owner[k] + 1]++;
    if (v->neighbour[k] < n) at[v->neighbour[k] + 1]++;
  }
  for (int64_t i = 0; i < n; i++) at[i + 1] += at[i];
  memcpy(t->a.start, at, (size_t)(n + 1) * sizeof *at);
  for (int64_t i = 0; i < n; i++) t->a.column[at[i]++] = (int32_t)i;
  for (int64_t k = 0; k < v->num_interior_faces; k++) {
    if (v->owner[k] < n) t->a.column[at[v->owner[k]]++] = v->neighbour[k];
    if (v->neighbour[k] < n) t->a.column[at[v->neighbour[k]]++] = v->owner[k];
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t s = t->a.start[i];
    qsort(t->a.column + s, (size_t)(t->a.start[i + 1] - s), sizeof(int32_t), by_column);
    t->a.diagonal[i] = block_matrix_find(&t->a, i, (int32_t)i);
  }
  pcsim_free(&at);
}

static transport transport_make(const pcsim_mesh *mesh, int m, double wind) {
  transport t = {.mesh = mesh, .v = pcsim_mesh_get(mesh), .m = m};
  const pcsim_mesh_view *v = t.v;
  const int64_t n = v->num_cells;
  transport_pattern(&t);
  for (int64_t k = 0; k < v->num_faces; k++) {
    const double *S = v->face_area + 3 * k, *x = v->face_centre + 3 * k;
    const double *xp = v->cell_centre + 3 * (int64_t)v->owner[k];
    const bool inside = k < v->num_interior_faces;
    const double *xn = inside ? v->cell_centre + 3 * (int64_t)v->neighbour[k] : x;
    double sd = 0, s2 = 0;
    for (int i = 0; i < 3; i++) sd += S[i] * (xn[i] - xp[i]), s2 += S[i] * S[i];
    const double flux = wind * (S[0] * (x[1] - 0.4) - S[1] * (x[0] - 0.6)); /* an eddy */
    const double diffusion = s2 / sd;
    if (v->owner[k] < n) {
      set_block(&t, v->owner[k], v->owner[k], diffusion + fmax(flux, 0));
      if (inside) set_block(&t, v->owner[k], v->neighbour[k], fmin(flux, 0) - diffusion);
    }
    if (inside && v->neighbour[k] < n) {
      set_block(&t, v->neighbour[k], v->neighbour[k], diffusion - fmin(flux, 0));
      set_block(&t, v->neighbour[k], v->owner[k], -fmax(flux, 0) - diffusion);
    }
  }
  return t;
}

/* y = A x in double; x has room for ghosts. */
static void apply(const transport *t, double *x, double *y) {
  const int m = t->m;
  assert_ok(pcsim_mesh_exchange(t->mesh, m, x));
  memset(y, 0, (size_t)(t->a.n * m) * sizeof *y);
  for (int64_t i = 0; i < t->a.n; i++)
    for (int64_t e = t->a.start[i]; e < t->a.start[i + 1]; e++)
      for (int c = 0; c < m; c++)
        for (int r = 0; r < m; r++)
          y[i * m + r] += (double)t->a.value[(e * m + c) * 4 + r] * x[(int64_t)t->a.column[e] * m + c];
}

static double product(const transport *t, const double *x, const double *y) {
  double sum = 0;
  for (int64_t i = 0; i < t->a.n * t->m; i++) sum += x[i] * y[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(t->mesh));
  return sum;
}

static void precondition(const transport *t, multigrid *mg, const double *b, double *x) {
  const int m = t->m;
  float *in = NULL, *out = NULL;
  assert_ok(pcsim_alloc((size_t)(4 * t->a.n), sizeof *in, &in));
  assert_ok(pcsim_alloc((size_t)(4 * t->a.n), sizeof *out, &out));
  for (int64_t i = 0; i < t->a.n; i++)
    for (int c = 0; c < m; c++) in[4 * i + c] = (float)b[i * m + c];
  assert_ok(multigrid_apply(mg, in, out));
  for (int64_t i = 0; i < t->a.n; i++)
    for (int c = 0; c < m; c++) x[i * m + c] = out[4 * i + c];
  pcsim_free(&in), pcsim_free(&out);
}

/* Minimal residuals over all directions so far (GCR); returns the iterations, 100 if it did not converge. */
static int solve(const transport *t, multigrid *mg, const double *b, double *x, double tolerance) {
  enum { MAX = 100 };
  double *p[MAX] = {NULL}, *ap[MAX] = {NULL}, *r = NULL;
  const size_t own = (size_t)(t->a.n * t->m), room = own + (size_t)(t->a.num_ghosts * t->m);
  int k = 0;
  assert_ok(pcsim_alloc(room, sizeof *r, &r));
  memcpy(r, b, own * sizeof *r);
  memset(x, 0, own * sizeof *x);
  const double start = sqrt(product(t, b, b));
  for (; k < MAX && sqrt(product(t, r, r)) > tolerance * start; k++) {
    assert_ok(pcsim_alloc(room, sizeof *r, &p[k]));
    assert_ok(pcsim_alloc(own, sizeof *r, &ap[k]));
    precondition(t, mg, r, p[k]);
    apply(t, p[k], ap[k]);
    for (int j = 0; j < k; j++) {
      const double h = product(t, ap[k], ap[j]);
      for (size_t i = 0; i < own; i++) p[k][i] -= h * p[j][i], ap[k][i] -= h * ap[j][i];
    }
    const double size = sqrt(product(t, ap[k], ap[k])), along = product(t, r, ap[k]) / size;
    for (size_t i = 0; i < own; i++) {
      p[k][i] /= size, ap[k][i] /= size;
      x[i] += along * p[k][i], r[i] -= along * ap[k][i];
    }
  }
  for (int j = 0; j < k; j++) pcsim_free(&p[j]), pcsim_free(&ap[j]);
  pcsim_free(&r);
  return k;
}

/* Iterations to reduce the residual by 1e10; `all` gets the solution in the order of the raw mesh. */
static int multigrid_iterations(MPI_Comm comm, const sample *s, double wind, double *all) {
  pcsim_mesh *mesh = sample_mesh(comm, s);
  const int m = sample_dim(s) + 1;
  transport t = transport_make(mesh, m, wind);
  multigrid_options options = multigrid_options_default(m - 1);
  multigrid *mg = NULL;
  double *b = NULL, *x = NULL, complexity;
  assert_ok(multigrid_create(mesh, &t.a, &options, &mg));
  const int levels = multigrid_levels(mg, &complexity);
  assert_true(levels >= 2 && complexity > 1 && complexity < 2.5);
  assert_ok(pcsim_alloc((size_t)(t.a.n * m), sizeof *b, &b));
  assert_ok(pcsim_alloc((size_t)((t.a.n + t.a.num_ghosts) * m), sizeof *x, &x));
  for (int64_t i = 0; i < t.a.n * m; i++) b[i] = noise(t.v->cell_original[i / m], (int)(i % m));
  const int iterations = solve(&t, mg, b, x, 1e-10);
  /* new values in the same pattern */
  for (int64_t i = 0; i < t.a.start[t.a.n] * m * 4; i++) t.a.value[i] *= 2;
  assert_ok(multigrid_update(mg));
  assert_true(abs(solve(&t, mg, b, x, 1e-10) - iterations) <= 1);
  if (all) assert_ok(pcsim_mesh_gather(mesh, m, x, all));
  multigrid_destroy(&mg);
  block_matrix_destroy(&t.a);
  pcsim_free(&b), pcsim_free(&x);
  pcsim_mesh_destroy(&mesh);
  return iterations;
}

static void multigrid_rate(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  static const double wind[3] = {100, 0, 3000};
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int w = 0; w < (size > 1 ? 1 : 3); w++)
    for (int kind = 0; kind < NUM_LATTICES; kind += LATTICE_TETRA - LATTICE_TRIANGLE) {
      int iterations[3];
      for (int k = 0; k < 3; k++) {
        const bool flat = kind < LATTICE_HEXA;
        const int n = flat ? 16 << k : (int[]){5, 8, 12}[k];
        const sample s = {kind, n, n, flat ? 0 : n, 0.15, &unit_box};
        iterations[k] = multigrid_iterations(MPI_COMM_WORLD, &s, wind[w], NULL);
      }
      /* a smoother alone takes twice as many on each finer mesh */
      if (!(iterations[2] <= 28))
        print_error("%s, wind %g: %d, %d, %d iterations\n", kind_names[kind], wind[w], iterations[0],
                    iterations[1], iterations[2]);
      assert_true(iterations[2] <= 28);
    }
  assert_int_equal(pcsim_memory_used(), before);
}

static void multigrid_ranks(void **state) {
  (void)state;
  const sample s = {LATTICE_MIXED_2D, 24, 20, 0, 0.15, &askew_2d};
  int rank;
  double *alone = NULL, *all = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t size = (size_t)(24 * 20 * 2 * 3); /* at most */
  assert_ok(pcsim_alloc(size, sizeof *alone, &alone));
  assert_ok(pcsim_alloc(size, sizeof *all, &all));
  const int one = multigrid_iterations(MPI_COMM_SELF, &s, 50, alone);
  const int many = multigrid_iterations(MPI_COMM_WORLD, &s, 50, all);
  assert_true(many <= 2 * one);
  double largest = 0;
  for (size_t i = 0; i < size; i++) largest = fmax(largest, fabs(alone[i]));
  for (size_t i = 0; i < size && rank == 0; i++)
    assert_close(all[i], alone[i], 1e-5 * largest); /* entries are floats */
  pcsim_free(&alone), pcsim_free(&all);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matrix_residual), cmocka_unit_test(incomplete_lu),
                                     cmocka_unit_test(levels_of_fill),  cmocka_unit_test(singular_pivots),
                                     cmocka_unit_test(multigrid_rate),  cmocka_unit_test(multigrid_ranks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
