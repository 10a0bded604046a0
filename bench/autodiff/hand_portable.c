/* SPDX-License-Identifier: BSD-2-Clause */
/** @file hand_portable.c  The hand-written loops for any processor. */
#define NAME(x) x##_portable
#include "hand_impl.h"
