/* SPDX-License-Identifier: BSD-2-Clause */
/** @file program.h  What the programs of the benches share: they end at the first failure. */
#ifndef PCSIM_BENCH_PROGRAM_H
#define PCSIM_BENCH_PROGRAM_H

#include <pcsim/base.h>

/** Ends the program with `what` and the message of the failure on standard error; exit status 1. */
_Noreturn void bench_stop(const char *what);
/** The same unless `status` is PCSIM_OK. */
void bench_must(pcsim_status status, const char *what);

#endif
