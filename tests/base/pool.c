/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools of threads: every part once, from any number of callers, pools made and used inside a part. */
#include "pcsim_test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PARTS = 1000 };

typedef struct {
  atomic_int done[PARTS];
  atomic_int wrong; /**< threads beyond those of the pool */
  int threads;
} tally;

static void count(void *context, int part, int thread) {
  tally *t = context;
  atomic_fetch_add(&t->done[part], 1);
  if (thread < 0 || thread >= t->threads) atomic_fetch_add(&t->wrong, 1);
}

static int faults(tally *t, int parts) {
  int wrong = atomic_load(&t->wrong);
  for (int i = 0; i < PARTS; i++) wrong += atomic_load(&t->done[i]) != (i < parts);
  return wrong;
}

static void each_part_once(void **state) {
  (void)state;
  for (int threads = 0; threads <= 5; threads++) {
    pcsim_pool *pool;
    assert_ok(pcsim_pool_create(threads, &pool));
    assert_int_equal(pcsim_pool_threads(pool), threads < 1 ? 1 : threads);
    for (int parts = 0; parts <= PARTS; parts = 3 * parts + 1) {
      tally t = {.threads = pcsim_pool_threads(pool)};
      pcsim_pool_run(pool, parts, count, &t);
      assert_int_equal(faults(&t, parts), 0);
    }
    pcsim_pool_destroy(&pool);
    assert_null(pool);
  }
}

/* A pool of its own in each part, larger than the one outside, so that threads are started meanwhile. */
static void nest(void *context, int part, int thread) {
  atomic_int *wrong = context;
  pcsim_pool *inner = NULL;
  tally t = {.threads = 3 + part % 4};
  (void)thread;
  if (pcsim_pool_create(t.threads, &inner) != PCSIM_OK) {
    atomic_fetch_add(wrong, 1);
    return;
  }
  pcsim_pool_run(inner, 7, count, &t);
  pcsim_pool_destroy(&inner);
  atomic_fetch_add(wrong, faults(&t, 7));
}

static void made_inside_a_part(void **state) {
  (void)state;
  atomic_int wrong = 0;
  pcsim_pool *pool;
  assert_ok(pcsim_pool_create(2, &pool));
  for (int round = 0; round < 20; round++) pcsim_pool_run(pool, 8, nest, &wrong);
  pcsim_pool_destroy(&pool);
  assert_int_equal(atomic_load(&wrong), 0);
}

static void *caller(void *context) {
  atomic_int *wrong = context;
  for (int round = 0; round < 200; round++) nest(wrong, round, 0);
  return NULL;
}

static void from_several_threads(void **state) {
  (void)state;
  atomic_int wrong = 0;
  pthread_t other[3];
  for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&other[i], NULL, caller, &wrong), 0);
  caller(&wrong);
  for (int i = 0; i < 3; i++) pthread_join(other[i], NULL);
  assert_int_equal(atomic_load(&wrong), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_part_once), cmocka_unit_test(made_inside_a_part),
                                     cmocka_unit_test(from_several_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
