/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_avx512.c  Kernels for AVX-512: 32 registers of 64 bytes. */
#include "exec_kernels.h"

#if defined(__x86_64__)
#define VECTOR_BYTES 64
#define GEMM_ROWS 8
#define OUTER_COLUMNS 8
#define NEAR_BYTES 24576
#define TILE_BYTES (1024 * 1024)
#define TERMS_BYTES 9216
#define PIECE_BYTES (576 * 8)
#define INSTRUCTIONS "avx512"
#include "exec_simd_map.h"
#include "exec_simd_math.h"
#include "exec_simd_single.h"
#include "exec_simd_special.h"

#define SINGLE 0
#define NAME(x) double_##x
#define TABLE exec_avx512_double
#include "exec_simd_impl.h"
#undef SINGLE
#undef NAME
#undef TABLE

#define SINGLE 1
#define NAME(x) single_##x
#define TABLE exec_avx512_single
#include "exec_simd_impl.h"
#endif
