/* SPDX-License-Identifier: BSD-2-Clause */
/** @file dense.c  Dense matrices of the optimisers against plain loops. */
#include "pcsim_test.h"
#include "pinn/cholesky.h"
#include "pinn/symmetric.h"

static double draw(uint64_t place) { return 2 * pcsim_random_uniform(5, 0, place) - 1; }

/** Changes of rank two and products with what they leave, for sizes around a band. */
static void symmetric(void **s) {
  (void)s;
  const int sizes[] = {1, 2, 7, 8, 9, 16, 63, 64, 65, 200, 333};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int n = sizes[k];
    double *a = NULL, *full, *v;
    assert_ok(pcsim_alloc((size_t)symmetric_size(n), sizeof *a, &a));
    assert_ok(pcsim_alloc((size_t)(n * n), sizeof *full, &full));
    assert_ok(pcsim_alloc((size_t)(6 * n), sizeof *v, &v));
    double *one = v, *two = v + n, *x = v + 2 * n, *sv = v + 3 * n, *zv = v + 4 * n;
    pcsim_pool *pool[2];
    symmetric_work *work[2];
    for (int t = 0; t < 2; t++) {
      assert_ok(pcsim_pool_create(1 + 2 * t, &pool[t]));
      assert_ok(symmetric_work_create(n, pool[t], &work[t]));
    }
    symmetric_identity(n, 0.5, a);
    for (int i = 0; i < n; i++) full[i * n + i] = 0.5;
    uint64_t place = 0;
    for (int round = 0; round < 4; round++) {
      for (int i = 0; i < n; i++) x[i] = draw(place++), sv[i] = draw(place++), zv[i] = draw(place++);
      symmetric_change c = {.s = sv, .z = zv};
      c.scale = 1 + 0.1 * draw(place++);
      c.ss = draw(place++), c.sz = draw(place++), c.zz = draw(place++);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          full[i * n + j] = c.scale * full[i * n + j] + c.ss * sv[i] * sv[j] +
                            c.sz * (sv[i] * zv[j] + zv[i] * sv[j]) + c.zz * zv[i] * zv[j];
      symmetric_change_multiply(work[0], a, &c, x, one);
      for (int i = 0; i < n; i++) {
        double sum = 0, size = 0;
        for (int j = 0; j < n; j++) sum += full[i * n + j] * x[j], size += fabs(full[i * n + j] * x[j]);
        assert_close(one[i], sum, 1e-14 * size);
      }
      /* The same matrix once more: the bits of the product do not depend on the threads. */
      const symmetric_change none = {.scale = 1, .s = sv, .z = zv};
      symmetric_change_multiply(work[1], a, &none, x, two);
      assert_memory_equal(one, two, (size_t)n * sizeof *one);
    }
    for (int t = 0; t < 2; t++) symmetric_work_destroy(&work[t]), pcsim_pool_destroy(&pool[t]);
    pcsim_free(&a), pcsim_free(&full), pcsim_free(&v);
  }
}

/** b^T b, its factor and its solution; the same bits on three threads. */
static void factor(void **s) {
  (void)s;
  const int sizes[] = {1, 3, 16, 17, 64, 65, 130, 300};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int64_t n = sizes[k], depth = n + 5, stride = dense_padded(n);
    double *b, *c[2], *a, *d, *x[2];
    assert_ok(pcsim_alloc((size_t)(depth * stride), sizeof *b, &b));
    assert_ok(pcsim_alloc((size_t)(n * n), sizeof *a, &a));
    assert_ok(pcsim_alloc((size_t)n, sizeof *d, &d));
    for (int64_t i = 0; i < depth; i++)
      for (int64_t j = 0; j < n; j++) b[i * stride + j] = draw((uint64_t)(i * n + j));
    for (int64_t i = 0; i < n; i++) d[i] = 1 + 0.5 * draw((uint64_t)i);
    for (int t = 0; t < 2; t++) {
      pcsim_pool *pool;
      cholesky *work;
      assert_ok(pcsim_pool_create(1 + 2 * t, &pool));
      assert_ok(pcsim_alloc((size_t)(stride * stride), sizeof *c[t], &c[t]));
      assert_ok(pcsim_alloc((size_t)n, sizeof *x[t], &x[t]));
      dense_add_product(pool, n, depth, 0.5, b, c[t]);
      for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
          double sum = 0;
          for (int64_t l = 0; l < depth; l++) sum += b[l * stride + i] * b[l * stride + j];
          assert_close(c[t][i * stride + j], 0.5 * sum, 1e-13 * (double)depth);
          a[i * n + j] = c[t][i * stride + j];
        }
      assert_ok(cholesky_create(n, pool, &work));
      assert_true(cholesky_factor(work, a, d));
      for (int64_t i = 0; i < n; i++) x[t][i] = draw((uint64_t)(1000 + i));
      cholesky_solve(work, x[t]);
      for (int64_t i = 0; i < n; i++) {
        double sum = d[i] * x[t][i];
        for (int64_t j = 0; j < n; j++) sum += (j <= i ? a[i * n + j] : a[j * n + i]) * x[t][j];
        assert_close(sum, draw((uint64_t)(1000 + i)), 1e-11);
      }
      /* A matrix that is not positive definite has no factor; nor has one with what is no number. */
      d[n / 2] = -1e6;
      assert_false(cholesky_factor(work, a, d));
      d[n / 2] = NAN;
      assert_false(cholesky_factor(work, a, d));
      d[n / 2] = 1 + 0.5 * draw((uint64_t)(n / 2));
      cholesky_destroy(&work);
      pcsim_pool_destroy(&pool);
    }
    assert_memory_equal(x[0], x[1], (size_t)n * sizeof **x);
    for (int t = 0; t < 2; t++) pcsim_free(&c[t]), pcsim_free(&x[t]);
    pcsim_free(&b), pcsim_free(&a), pcsim_free(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(symmetric), cmocka_unit_test(factor)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
