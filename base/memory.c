/* SPDX-License-Identifier: BSD-2-Clause */
/* Counted, zeroed, aligned memory. */
#include <assert.h>
#include <pcsim/base.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Under the address sanitizer a block ends exactly where its content ends, so that the first byte past
 * it is caught; elsewhere up to 63 bytes of slack pay for calloc's lazily zeroed pages. */
#if defined(__SANITIZE_ADDRESS__)
#define EXACT_BLOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXACT_BLOCKS 1
#endif
#endif
#ifndef EXACT_BLOCKS
#define EXACT_BLOCKS 0
#endif

enum { ALIGNMENT = 64 };
#define BLOCK_MARK UINT64_C(0x706373696d6d656d)

/** Stands directly before the user's bytes. */
typedef struct {
  void *raw;   /**< what malloc gave */
  size_t size; /**< bytes the user asked for */
  uint64_t mark;
} block;

enum { OVERHEAD = 2 * ALIGNMENT };
_Static_assert(sizeof(block) <= ALIGNMENT, "the head of a block fits into its padding");

static atomic_size_t bytes_used;
static atomic_size_t bytes_peak;

static void count(size_t before, size_t after) {
  /* Unsigned wrap-around makes one addition serve growth and shrinkage. */
  size_t used =
      atomic_fetch_add_explicit(&bytes_used, after - before, memory_order_relaxed) + (after - before);
  size_t peak = atomic_load_explicit(&bytes_peak, memory_order_relaxed);
  while (after > before && used > peak &&
         !atomic_compare_exchange_weak_explicit(&bytes_peak, &peak, used, memory_order_relaxed,
                                                memory_order_relaxed)) {}
}

static block *block_of(void *user) {
  block *b = (block *)((char *)user - sizeof(block));
  assert(b->mark == BLOCK_MARK && "pointer from pcsim_alloc");
  return b;
}

static void *place_block(void *raw, size_t size) {
  uintptr_t at = ((uintptr_t)raw + sizeof(block) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  char *user = (char *)raw + (at - (uintptr_t)raw);
  *(block *)(user - sizeof(block)) = (block){.raw = raw, .size = size, .mark = BLOCK_MARK};
  return user;
}

static void *new_block(size_t size) {
  void *raw = NULL;
#if EXACT_BLOCKS
  if (posix_memalign(&raw, ALIGNMENT, ALIGNMENT + size)) return NULL;
  memset(raw, 0, ALIGNMENT + size);
#else
  raw = calloc(1, OVERHEAD + size);
  if (!raw) return NULL;
#endif
  count(0, size);
  return place_block(raw, size);
}

static pcsim_status check_size(size_t n, size_t size, size_t *total) {
  PCSIM_CHECK(!__builtin_mul_overflow(n, size, total) && *total <= PTRDIFF_MAX - OVERHEAD, PCSIM_ERR_MEMORY,
              "out of memory: %zu items of %zu bytes exceed the address space", n, size);
  return PCSIM_OK;
}

pcsim_status pcsim_alloc(size_t n, size_t size, void *ptr) {
  void *user = NULL;
  size_t total = 0;
  memcpy(ptr, &user, sizeof user);
  PCSIM_TRY(check_size(n, size, &total));
  if (!total) return PCSIM_OK;
  user = new_block(total);
  PCSIM_CHECK(user, PCSIM_ERR_MEMORY, "out of memory: %zu bytes wanted, %zu held", total,
              pcsim_memory_used());
  memcpy(ptr, &user, sizeof user);
  return PCSIM_OK;
}

/** New place for the block `user` with `total` bytes; NULL if there is none (the old block stays). */
static void *move_block(void *user, size_t total) {
  block old = *block_of(user);
#if EXACT_BLOCKS
  void *moved = new_block(total);
  if (!moved) return NULL;
  memcpy(moved, user, old.size < total ? old.size : total);
  pcsim_free(&user);
  return moved;
#else
  /* realloc may change the distance to the next multiple of 64: the content then moves with it. */
  size_t distance = (size_t)((char *)user - (char *)old.raw);
  size_t kept = old.size < total ? old.size : total;
  char *raw = realloc(old.raw, OVERHEAD + total);
  if (!raw) return NULL;
  uintptr_t at = ((uintptr_t)raw + sizeof(block) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  char *moved = raw + (at - (uintptr_t)raw);
  if (moved != raw + distance) memmove(moved, raw + distance, kept);
  place_block(raw, total);
  if (total > kept) memset(moved + kept, 0, total - kept);
  count(old.size, total);
  return moved;
#endif
}

pcsim_status pcsim_realloc(size_t n, size_t size, void *ptr) {
  void *user;
  size_t total = 0;
  memcpy(&user, ptr, sizeof user);
  if (!user) return pcsim_alloc(n, size, ptr);
  PCSIM_TRY(check_size(n, size, &total));
  if (!total) {
    pcsim_free(ptr);
    return PCSIM_OK;
  }
  void *moved = move_block(user, total);
  PCSIM_CHECK(moved, PCSIM_ERR_MEMORY, "out of memory: %zu bytes wanted, %zu held", total,
              pcsim_memory_used());
  memcpy(ptr, &moved, sizeof moved);
  return PCSIM_OK;
}

void pcsim_free(void *ptr) {
  void *user, *none = NULL;
  if (!ptr) return;
  memcpy(&user, ptr, sizeof user);
  if (!user) return;
  block *b = block_of(user);
  count(b->size, 0);
  b->mark = 0;
  free(b->raw);
  memcpy(ptr, &none, sizeof none);
}

pcsim_status pcsim_strdup(const char *text, char **copy) {
  *copy = NULL;
  PCSIM_CHECK(text, PCSIM_ERR_ARG, "no text to copy");
  size_t size = strlen(text) + 1;
  PCSIM_TRY(pcsim_alloc(size, 1, copy));
  memcpy(*copy, text, size);
  return PCSIM_OK;
}

size_t pcsim_memory_used(void) { return atomic_load_explicit(&bytes_used, memory_order_relaxed); }
size_t pcsim_memory_peak(void) { return atomic_load_explicit(&bytes_peak, memory_order_relaxed); }

size_t pcsim_memory_resident_peak(void) {
  /* VmHWM belongs to this program alone; ru_maxrss also remembers what was there before exec. */
  unsigned long kib = 0;
  char line[256];
  FILE *f = fopen("/proc/self/status", "re");
  if (f) {
    while (fgets(line, sizeof line, f))
      if (sscanf(line, "VmHWM: %lu kB", &kib) == 1) break;
    fclose(f);
    if (kib) return (size_t)kib * 1024;
  }
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage)) return 0;
  return (size_t)usage.ru_maxrss * 1024;
}
