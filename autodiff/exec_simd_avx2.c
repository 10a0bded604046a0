/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_simd_avx2.c  Kernels for AVX2 with fused multiply-add: 16 registers of 32 bytes. */
#include "exec_kernels.h"

#if defined(__x86_64__)
#define VECTOR_BYTES 32
#define GEMM_ROWS 4
#define OUTER_COLUMNS 4
#define NEAR_BYTES 16384
#define TILE_BYTES (384 * 1024)
#define TERMS_BYTES 18432
#define PIECE_BYTES (576 * 8)
#define INSTRUCTIONS "avx2"
#include "exec_simd_map.h"
#include "exec_simd_math.h"
#include "exec_simd_single.h"
#include "exec_simd_special.h"

#define SINGLE 0
#define NAME(x) double_##x
#define TABLE exec_avx2_double
#include "exec_simd_impl.h"
#undef SINGLE
#undef NAME
#undef TABLE

#define SINGLE 1
#define NAME(x) single_##x
#define TABLE exec_avx2_single
#include "exec_simd_impl.h"
#endif
