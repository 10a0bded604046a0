/* SPDX-License-Identifier: BSD-2-Clause */
#include "arena.h"

#include <string.h>

/* Sanitizer builds give every block a chunk of its own, so that overruns are seen. */
#if defined(__SANITIZE_ADDRESS__)
#define CHUNK_SIZE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHUNK_SIZE 0
#endif
#endif
#ifndef CHUNK_SIZE
#define CHUNK_SIZE 4096
#endif

struct arena_chunk {
  arena_chunk *next;
  size_t size;
};

enum { HEAD = 16, GRAIN = 16 };
_Static_assert(sizeof(arena_chunk) <= HEAD, "the head keeps the alignment of the blocks");

pcsim_status arena_take(arena *a, size_t size, void *ptr) {
  size_t wanted = CHUNK_SIZE ? (size + GRAIN - 1) / GRAIN * GRAIN : size;
  if (!a->chunks || wanted > a->left || !CHUNK_SIZE) {
    arena_chunk *chunk = NULL;
    size_t room = wanted > CHUNK_SIZE ? wanted : CHUNK_SIZE;
    PCSIM_TRY(pcsim_alloc(HEAD + room, 1, &chunk));
    chunk->next = a->chunks;
    chunk->size = room;
    a->chunks = chunk;
    a->left = room;
  }
  void *block = (char *)a->chunks + HEAD + (a->chunks->size - a->left);
  a->left -= wanted;
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
