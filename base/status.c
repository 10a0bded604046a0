/* SPDX-License-Identifier: BSD-2-Clause */
/* Status texts, the per-thread message with its frames, agreement between ranks. */
#include <limits.h>
#include <pcsim/base.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_FRAMES = 32, FRAME_SIZE = 128, FALLBACK_SIZE = 512 };

/** What one thread holds of its last failure. The message is plain malloc, not pcsim_alloc: it must not
 *  show in the memory balance, and "out of memory" must be sayable without memory (`fallback`). */
typedef struct {
  char *message; /**< NULL, or a block of its own */
  char fallback[FALLBACK_SIZE];
  const char *shown; /**< message or fallback */
  size_t num_frames;
  char frames[NUM_FRAMES][FRAME_SIZE];
} failure;

static pthread_key_t failure_key;
static pthread_once_t failure_once = PTHREAD_ONCE_INIT;
static bool failure_key_made;
static _Thread_local failure thread_failure;

static void release_failure(void *f) { free(((failure *)f)->message); }

static void make_failure_key(void) {
  failure_key_made = pthread_key_create(&failure_key, release_failure) == 0;
}

static failure *this_failure(void) {
  failure *f = &thread_failure;
  if (!f->shown) {
    f->shown = f->fallback;
    pthread_once(&failure_once, make_failure_key);
    if (failure_key_made) pthread_setspecific(failure_key, f);
  }
  return f;
}

static const struct {
  const char *text;
  int exit_code;
} statuses[PCSIM_NUM_STATUS] = {
#define STATUS_ENTRY(name, code, text) {text, code},
    PCSIM_STATUS_LIST(STATUS_ENTRY)
#undef STATUS_ENTRY
};

const char *pcsim_status_text(pcsim_status status) {
  if ((unsigned)status >= PCSIM_NUM_STATUS) return "unknown status";
  return statuses[status].text;
}

int pcsim_status_exit_code(pcsim_status status) {
  if ((unsigned)status >= PCSIM_NUM_STATUS) return 5;
  return statuses[status].exit_code;
}

/** Replace the message by `text` (malloc'ed, taken over; NULL: what stands in the fallback). */
static void take_message(failure *f, char *text) {
  free(f->message);
  f->message = text;
  f->shown = text ? text : f->fallback;
  f->num_frames = 0;
}

pcsim_status pcsim_error_set(pcsim_status status, const char *file, int line, const char *func,
                             const char *fmt, ...) {
  failure *f = this_failure();
  va_list args;
  char *text = NULL;
  /* The arguments may point into the old message, so it lives until the new one is formatted. */
  va_start(args, fmt);
  if (vasprintf(&text, fmt, args) < 0) text = NULL;
  va_end(args);
  if (!text) {
    va_start(args, fmt);
    char shorter[FALLBACK_SIZE];
    vsnprintf(shorter, sizeof shorter, fmt, args);
    va_end(args);
    memcpy(f->fallback, shorter, sizeof shorter);
  }
  take_message(f, text);
  return pcsim_error_frame(status, file, line, func);
}

pcsim_status pcsim_error_frame(pcsim_status status, const char *file, int line, const char *func) {
  failure *f = this_failure();
  if (status != PCSIM_OK && f->num_frames < NUM_FRAMES) {
    const char *slash = strrchr(file, '/');
    snprintf(f->frames[f->num_frames++], FRAME_SIZE, "%s (%s:%d)", func, slash ? slash + 1 : file, line);
  }
  return status;
}

const char *pcsim_error_message(void) { return this_failure()->shown; }

const char *pcsim_error_trace(size_t i) {
  const failure *f = this_failure();
  return i < f->num_frames ? f->frames[i] : NULL;
}

void pcsim_error_clear(void) {
  failure *f = this_failure();
  f->fallback[0] = '\0';
  take_message(f, NULL);
}

pcsim_status pcsim_status_agree(MPI_Comm comm, pcsim_status status) {
  int running = 0, stopped = 0, rank = 0, lowest = INT_MAX;
  MPI_Initialized(&running);
  if (running) MPI_Finalized(&stopped);
  if (!running || stopped) return status;
  MPI_Comm_rank(comm, &rank);
  int mine = status == PCSIM_OK ? INT_MAX : rank;
  PCSIM_CHECK(MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS, PCSIM_ERR_LIBRARY,
              "MPI failed while the ranks agreed on a status");
  if (lowest == INT_MAX) return PCSIM_OK;

  failure *f = this_failure();
  int head[2] = {(int)status, (int)strnlen(f->shown, INT_MAX - 1)};
  PCSIM_CHECK(MPI_Bcast(head, 2, MPI_INT, lowest, comm) == MPI_SUCCESS, PCSIM_ERR_LIBRARY,
              "MPI failed while the ranks agreed on a status");
  /* Without memory for the copy the text still has to be received: everybody must take part. */
  char *text = rank == lowest ? NULL : calloc((size_t)head[1] + 1, 1);
  char *target = rank == lowest ? (char *)f->shown : text;
  int missing = target == NULL, any_missing = 0;
  MPI_Allreduce(&missing, &any_missing, 1, MPI_INT, MPI_MAX, comm);
  if (any_missing) {
    if (rank != lowest) {
      free(text);
      snprintf(f->fallback, FALLBACK_SIZE, "rank %d failed; its message cannot be shown for lack of memory",
               lowest);
      take_message(f, NULL);
    }
    return (pcsim_status)head[0];
  }
  MPI_Bcast(target, head[1], MPI_CHAR, lowest, comm);
  if (rank != lowest) take_message(f, text);
  return (pcsim_status)head[0];
}
