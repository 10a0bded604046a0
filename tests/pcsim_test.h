/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pcsim_test.h  What every test includes: cmocka with its prerequisites, comparison of doubles. */
#ifndef PCSIM_TEST_H
#define PCSIM_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcsim/base.h>

/** |a - b| <= tolerance; NaN fails (cmocka's own float comparison goes through `float`). */
#define assert_close(a, b, tolerance)                                                                        \
  do {                                                                                                       \
    double a_ = (a), b_ = (b), t_ = (tolerance);                                                             \
    if (!(fabs(a_ - b_) <= t_)) {                                                                            \
      print_error("%s = %.17g, expected %.17g (difference %g > %g)\n", #a, a_, b_, fabs(a_ - b_), t_);       \
      fail();                                                                                                \
    }                                                                                                        \
  } while (0)
/** The call succeeds; prints its message if not. */
#define assert_ok(call)                                                                                      \
  do {                                                                                                       \
    pcsim_status s_ = (call);                                                                                \
    if (s_ != PCSIM_OK) {                                                                                    \
      print_error("%s: %s: %s\n", #call, pcsim_status_text(s_), pcsim_error_message());                      \
      fail();                                                                                                \
    }                                                                                                        \
  } while (0)
/** The call fails with this status. */
#define assert_status(call, expected) assert_int_equal((call), (expected))

/** Run a group under MPI: every rank runs it, the result is the worst of all. */
static inline int pcsim_test_main(int (*run)(void), int *argc, char ***argv) {
  MPI_Init(argc, argv);
  int failed = run(), any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any ? 1 : 0;
}
#endif
