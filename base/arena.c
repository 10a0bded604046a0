/* SPDX-License-Identifier: BSD-2-Clause */
#include "arena.h"

#include <string.h>

/* Under the address sanitizer what is not handed out is poisoned, so that overruns are seen in here too. */
#if defined(__SANITIZE_ADDRESS__)
#define POISONED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONED 1
#endif
#endif
#ifdef POISONED
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
static void poison(void *from, size_t size) { ASAN_POISON_MEMORY_REGION(from, size); }
static void release(void *from, size_t size) { ASAN_UNPOISON_MEMORY_REGION(from, size); }
#else
enum { GAP = 0 };
static void poison(void *from, size_t size) { (void)from, (void)size; }
static void release(void *from, size_t size) { (void)from, (void)size; }
#endif

struct arena_chunk {
  arena_chunk *next;
  size_t size;
};

enum { HEAD = 16, GRAIN = 16, CHUNK_SIZE = 4096 };
_Static_assert(sizeof(arena_chunk) <= HEAD, "the head keeps the alignment of the blocks");

pcsim_status arena_take(arena *a, size_t size, void *ptr) {
  size_t wanted = (size + GRAIN - 1) / GRAIN * GRAIN + GAP;
  if (!a->chunks || wanted > a->left) {
    arena_chunk *chunk = NULL;
    size_t room = wanted > CHUNK_SIZE ? wanted : CHUNK_SIZE;
    PCSIM_TRY(pcsim_alloc(HEAD + room, 1, &chunk));
    chunk->next = a->chunks;
    chunk->size = room;
    a->chunks = chunk;
    a->left = room;
    poison((char *)chunk + HEAD, room);
  }
  void *block = (char *)a->chunks + HEAD + (a->chunks->size - a->left);
  a->left -= wanted;
  release(block, size);
  memcpy(ptr, &block, sizeof block);
  return PCSIM_OK;
}

pcsim_status arena_copy(arena *a, const char *text, size_t size, char **copy) {
  PCSIM_TRY(arena_take(a, size + 1, copy));
  if (size) memcpy(*copy, text, size);
  return PCSIM_OK;
}

void arena_clear(arena *a) {
  while (a->chunks) {
    arena_chunk *next = a->chunks->next;
    pcsim_free(&a->chunks);
    a->chunks = next;
  }
  a->left = 0;
}
