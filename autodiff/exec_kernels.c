/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_kernels.c  Which kernels this processor runs. */
#include "exec_kernels.h"

#include <string.h>

typedef struct {
  const char *name;
  const exec_kernels *of_double, *of_single;
} kernel_set;

/** Best first. */
static const kernel_set sets[] = {
#if defined(__x86_64__)
    {"avx512", &exec_avx512_double, &exec_avx512_single},
    {"avx2", &exec_avx2_double, &exec_avx2_single},
#endif
    {"portable", &exec_portable_double, &exec_portable_single},
};

static bool has(const char *name) {
#if defined(__x86_64__)
  if (!strcmp(name, "avx512"))
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  if (!strcmp(name, "avx2")) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  (void)name;
  return true;
}

const exec_kernels *exec_kernels_get(const char *instructions, bool single) {
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    if ((!instructions || !strcmp(instructions, sets[i].name)) && has(sets[i].name))
      return single ? sets[i].of_single : sets[i].of_double;
  return NULL;
}
