/* SPDX-License-Identifier: BSD-2-Clause */
/** @file arena.h  Many small blocks that live and die together (nodes and texts of one tree). Private to
 * base. */
#ifndef PCSIM_BASE_ARENA_H
#define PCSIM_BASE_ARENA_H

#include <pcsim/base.h>
#include <stdarg.h>

typedef struct arena_chunk arena_chunk;
typedef struct {
  arena_chunk *chunks; /**< newest first; NULL when empty */
  size_t left;         /**< bytes free in the newest */
} arena;

/** Zeroed, 16-byte aligned; lives until arena_clear. Errors: ERR_MEMORY. */
pcsim_status arena_take(arena *a, size_t size, void *ptr) PCSIM_NODISCARD;
/** Copy of `size` bytes plus a terminating zero. */
pcsim_status arena_copy(arena *a, const char *text, size_t size, char **copy) PCSIM_NODISCARD;
void arena_clear(arena *a);

#endif
