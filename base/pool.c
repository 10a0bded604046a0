/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pool.c  Threads for work in parts.
 *
 *  All pools of a process share one crew of threads, so that those which wait for one pool's next work are
 *  not in the way of another's. A thread looks for work for some microseconds before it sleeps: waking one
 *  takes longer than much of the work. The caller never waits for a thread that has not begun: on a machine
 *  that others use it does all parts by itself before the others get a processor. */
#include <pcsim/base.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { SPIN_NANOSECONDS = 30000 };

struct pcsim_pool {
  int threads;
};

static struct {
  pthread_mutex_t owner; /**< held by the caller whose work is done */
  pthread_mutex_t staff; /**< held while threads are started or joined; never by who holds `mutex` */
  pthread_mutex_t mutex; /**< of all that follows, but what is atomic */
  pthread_cond_t wake, done;
  int pools, started, sleeping;
  bool leave, waiting;
  pthread_t *handles;  /**< [started] */
  atomic_ullong round; /**< counts the calls with work for others */
  atomic_int busy;     /**< threads at work, the caller not counted */
  bool open;           /**< who comes now may join */
  int wanted;          /**< threads beside the caller */
  int parts;
  atomic_int next; /**< part that nobody has taken */
  pcsim_pool_work *work;
  void *context;
} crew = {.owner = PTHREAD_MUTEX_INITIALIZER,
          .staff = PTHREAD_MUTEX_INITIALIZER,
          .mutex = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void take_parts(int thread) {
  int part;
  while ((part = atomic_fetch_add(&crew.next, 1)) < crew.parts) crew.work(crew.context, part, thread);
}

static int64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void breathe(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/** Look out for a new round for a while. */
static void look_out(uint64_t seen) {
  const int64_t end = nanoseconds() + SPIN_NANOSECONDS;
  while (atomic_load_explicit(&crew.round, memory_order_acquire) == seen && nanoseconds() < end)
    for (int i = 0; i < 16; i++) breathe();
}

static void *worker(void *argument) {
  const int thread = (int)(intptr_t)argument;
  uint64_t seen = 0;
  for (;;) {
    look_out(seen);
    pthread_mutex_lock(&crew.mutex);
    while (!crew.leave && atomic_load(&crew.round) == seen) {
      crew.sleeping++;
      pthread_cond_wait(&crew.wake, &crew.mutex);
      crew.sleeping--;
    }
    const bool leave = crew.leave, join = !leave && crew.open && thread <= crew.wanted;
    seen = atomic_load(&crew.round);
    if (join) atomic_fetch_add(&crew.busy, 1);
    pthread_mutex_unlock(&crew.mutex);
    if (leave) return NULL;
    if (!join) continue;
    take_parts(thread);
    if (atomic_fetch_sub(&crew.busy, 1) != 1) continue;
    pthread_mutex_lock(&crew.mutex);
    if (crew.waiting) pthread_cond_signal(&crew.done);
    pthread_mutex_unlock(&crew.mutex);
  }
}

static pcsim_status hire(int threads) {
  PCSIM_TRY(pcsim_realloc((size_t)threads, sizeof *crew.handles, &crew.handles));
  for (; crew.started < threads; crew.started++)
    PCSIM_CHECK(
        pthread_create(&crew.handles[crew.started], NULL, worker, (void *)(intptr_t)(crew.started + 1)) == 0,
        PCSIM_ERR_ENV, "thread %d of %d could not be started", crew.started + 2, threads + 1);
  return PCSIM_OK;
}

/* While work is done, too, even from inside it: a thread that starts now is beyond those that the work wants.
 */
pcsim_status pcsim_pool_create(int threads, pcsim_pool **pool) {
  pcsim_pool *p = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(1, sizeof *p, &p));
  p->threads = threads < 1 ? 1 : threads;
  pthread_mutex_lock(&crew.staff);
  pthread_mutex_lock(&crew.mutex);
  crew.pools++;
  crew.leave = false;
  if (p->threads - 1 > crew.started) status = hire(p->threads - 1);
  pthread_mutex_unlock(&crew.mutex);
  pthread_mutex_unlock(&crew.staff);
  if (status != PCSIM_OK) {
    pcsim_pool_destroy(&p);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  *pool = p;
  return PCSIM_OK;
}

/** The last pool is gone. */
static void dismiss(void) {
  pthread_mutex_lock(&crew.mutex);
  crew.leave = true;
  pthread_cond_broadcast(&crew.wake);
  pthread_mutex_unlock(&crew.mutex);
  for (int i = 0; i < crew.started; i++) pthread_join(crew.handles[i], NULL);
  crew.started = 0;
  pcsim_free(&crew.handles);
}

void pcsim_pool_destroy(pcsim_pool **pool) {
  if (!*pool) return;
  pthread_mutex_lock(&crew.staff);
  if (--crew.pools == 0) dismiss();
  pthread_mutex_unlock(&crew.staff);
  pcsim_free(pool);
}

static void open_round(const pcsim_pool *pool, int parts, pcsim_pool_work *work, void *context) {
  pthread_mutex_lock(&crew.mutex);
  crew.work = work;
  crew.context = context;
  crew.parts = parts;
  crew.wanted = (parts < pool->threads ? parts : pool->threads) - 1;
  crew.open = true;
  atomic_store(&crew.next, 0);
  atomic_fetch_add(&crew.round, 1);
  if (crew.sleeping) pthread_cond_broadcast(&crew.wake);
  pthread_mutex_unlock(&crew.mutex);
}

static void close_round(void) {
  pthread_mutex_lock(&crew.mutex);
  crew.open = false;
  pthread_mutex_unlock(&crew.mutex);
  const int64_t end = nanoseconds() + SPIN_NANOSECONDS;
  while (atomic_load(&crew.busy) > 0 && nanoseconds() < end)
    for (int i = 0; i < 16; i++) breathe();
  if (atomic_load(&crew.busy) == 0) return;
  pthread_mutex_lock(&crew.mutex);
  crew.waiting = true;
  while (atomic_load(&crew.busy) > 0) pthread_cond_wait(&crew.done, &crew.mutex);
  crew.waiting = false;
  pthread_mutex_unlock(&crew.mutex);
}

void pcsim_pool_run(pcsim_pool *pool, int parts, pcsim_pool_work *work, void *context) {
  if (pool->threads == 1 || parts <= 1 || pthread_mutex_trylock(&crew.owner) != 0) {
    for (int part = 0; part < parts; part++) work(context, part, 0);
    return;
  }
  open_round(pool, parts, work, context);
  take_parts(0);
  close_round();
  pthread_mutex_unlock(&crew.owner);
}

int pcsim_pool_threads(const pcsim_pool *pool) { return pool->threads; }
