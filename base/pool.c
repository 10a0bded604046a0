/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pool.c  A few threads that sleep until there is work. */
#include <pcsim/base.h>

#include <pthread.h>

typedef struct {
  pcsim_pool *pool;
  int number;
} seat;

struct pcsim_pool {
  int threads, started;
  pthread_t *handles; /**< [threads - 1] */
  seat *seats;
  pthread_mutex_t mutex;
  pthread_cond_t wake, done;
  uint64_t round; /**< counts the calls of pcsim_pool_run */
  int busy;
  bool leave;
  void (*work)(void *context, int thread);
  void *context;
};

static void *worker(void *argument) {
  const seat *s = argument;
  pcsim_pool *pool = s->pool;
  uint64_t seen = 0;
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    while (!pool->leave && pool->round == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
    if (pool->leave) break;
    seen = pool->round;
    pthread_mutex_unlock(&pool->mutex);
    pool->work(pool->context, s->number);
    pthread_mutex_lock(&pool->mutex);
    if (--pool->busy == 0) pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

static pcsim_status start(pcsim_pool *pool) {
  const size_t extra = (size_t)pool->threads - 1;
  PCSIM_TRY(pcsim_alloc(extra, sizeof *pool->handles, &pool->handles));
  PCSIM_TRY(pcsim_alloc(extra, sizeof *pool->seats, &pool->seats));
  for (int i = 0; i < pool->threads - 1; i++) {
    pool->seats[i] = (seat){.pool = pool, .number = i + 1};
    PCSIM_CHECK(pthread_create(&pool->handles[i], NULL, worker, &pool->seats[i]) == 0, PCSIM_ERR_ENV,
                "thread %d of %d could not be started", i + 2, pool->threads);
    pool->started++;
  }
  return PCSIM_OK;
}

pcsim_status pcsim_pool_create(int threads, pcsim_pool **pool) {
  pcsim_pool *p = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *p, &p));
  p->threads = threads < 1 ? 1 : threads;
  pthread_mutex_init(&p->mutex, NULL);
  pthread_cond_init(&p->wake, NULL);
  pthread_cond_init(&p->done, NULL);
  pcsim_status status = start(p);
  if (status != PCSIM_OK) {
    pcsim_pool_destroy(&p);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  *pool = p;
  return PCSIM_OK;
}

void pcsim_pool_destroy(pcsim_pool **pool) {
  pcsim_pool *p = *pool;
  if (!p) return;
  pthread_mutex_lock(&p->mutex);
  p->leave = true;
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->mutex);
  for (int i = 0; i < p->started; i++) pthread_join(p->handles[i], NULL);
  pthread_cond_destroy(&p->wake);
  pthread_cond_destroy(&p->done);
  pthread_mutex_destroy(&p->mutex);
  pcsim_free(&p->handles);
  pcsim_free(&p->seats);
  pcsim_free(pool);
}

void pcsim_pool_run(pcsim_pool *pool, void (*work)(void *context, int thread), void *context) {
  if (pool->threads > 1) {
    pthread_mutex_lock(&pool->mutex);
    pool->work = work;
    pool->context = context;
    pool->busy = pool->threads - 1;
    pool->round++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
  }
  work(context, 0);
  if (pool->threads > 1) {
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0) pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
  }
}

int pcsim_pool_threads(const pcsim_pool *pool) { return pool->threads; }
