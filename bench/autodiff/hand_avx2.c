/* SPDX-License-Identifier: BSD-2-Clause */
/** @file hand_avx2.c  The hand-written loops with AVX2 and fused multiply-add. */
#define NAME(x) x##_avx2
#include "hand_impl.h"
