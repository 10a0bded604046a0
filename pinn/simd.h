/* SPDX-License-Identifier: BSD-2-Clause */
/** @file simd.h  Private: vectors of eight doubles, and functions compiled for several instruction sets, of
 * which the loader picks the best the processor has. */
#ifndef PCSIM_PINN_SIMD_H
#define PCSIM_PINN_SIMD_H

enum { LANES = 8 };
typedef double v8 __attribute__((vector_size(64)));

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PCSIM_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define PCSIM_SANITIZED 1
#endif

/* Sanitizers cannot start before the loader has chosen: portable code only there. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(PCSIM_SANITIZED) && !defined(__clang__)
#define PCSIM_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define PCSIM_CLONES
#endif

#endif
