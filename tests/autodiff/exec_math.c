/* SPDX-License-Identifier: BSD-2-Clause */
/* The vector functions of every instruction set: errors in units of the last place against the C library in
 * long double, special values and the ends of the range. */
#include "autodiff/exec_kernels.h"
#include "autodiff/graph.h"
#include "pcsim_test.h"

#include <float.h>

enum { COUNT = 20000, PADDED = 20032 };
static const char *const instruction_sets[] = {"portable", "avx2", "avx512"};

static long double exact(pcsim_op op, long double x) {
  switch (op) {
  case PCSIM_OP_EXP:
    return expl(x);
  case PCSIM_OP_LOG:
    return logl(x);
  case PCSIM_OP_SIN:
    return sinl(x);
  case PCSIM_OP_COS:
    return cosl(x);
  case PCSIM_OP_TAN:
    return tanl(x);
  case PCSIM_OP_ATAN:
    return atanl(x);
  case PCSIM_OP_SINH:
    return sinhl(x);
  case PCSIM_OP_COSH:
    return coshl(x);
  case PCSIM_OP_TANH:
    return tanhl(x);
  case PCSIM_OP_SQRT:
    return sqrtl(x);
  case PCSIM_OP_CBRT:
    return cbrtl(x);
  case PCSIM_OP_ERF:
    return erfl(x);
  case PCSIM_OP_SIGMOID:
    return 1 / (1 + expl(-x));
  case PCSIM_OP_SOFTPLUS:
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
  case PCSIM_OP_SWISH:
    return x / (1 + expl(-x));
  default:
    return NAN;
  }
}

/** Distance in units of the last place of the exact value. */
static double distance(double value, long double expected, bool single) {
  if (isnan(value) && isnan((double)expected)) return 0;
  const long double size = fabsl(expected), largest = single ? FLT_MAX : DBL_MAX;
  if (size > largest || isinf(value)) {
    /* Past the largest number both are right: it and infinity. */
    return (size > largest * (1 - 1e-7L) && fabs(value) >= (double)(largest * (1 - 1e-7L)) &&
            (value > 0) == (expected > 0))
               ? 0
               : HUGE_VAL;
  }
  int exponent = 0;
  frexpl(size, &exponent);
  const int least = single ? FLT_MIN_EXP : DBL_MIN_EXP, digits = single ? FLT_MANT_DIG : DBL_MANT_DIG;
  if (exponent < least) exponent = least;
  return (double)fabsl(((long double)value - expected) / ldexpl(1, exponent - digits));
}

typedef struct {
  pcsim_op op;
  double from, to, units; /**< of the last place */
} range;
static const range ranges[] = {
    {PCSIM_OP_EXP, -750, 715, 2},      {PCSIM_OP_EXP, -1, 1, 1.5},         {PCSIM_OP_LOG, 1e-320, 1e-300, 1},
    {PCSIM_OP_LOG, 0.5, 2, 1},         {PCSIM_OP_LOG, 1, 1e300, 1},        {PCSIM_OP_SIN, -10, 10, 1},
    {PCSIM_OP_SIN, -1e6, 1e6, 1},      {PCSIM_OP_SIN, 1e6, 1e15, 1},       {PCSIM_OP_COS, -10, 10, 1},
    {PCSIM_OP_COS, -1e6, 1e6, 1},      {PCSIM_OP_TAN, -10, 10, 1.5},       {PCSIM_OP_ATAN, -10, 10, 1},
    {PCSIM_OP_SINH, -1e-3, 1e-3, 2.5}, {PCSIM_OP_SINH, -715, 715, 2.5},    {PCSIM_OP_COSH, -715, 715, 2.5},
    {PCSIM_OP_TANH, -1e-5, 1e-5, 2.5}, {PCSIM_OP_TANH, -3, 3, 2.5},        {PCSIM_OP_TANH, -30, 30, 2.5},
    {PCSIM_OP_SQRT, 0, 1e10, 1},       {PCSIM_OP_CBRT, -10, 10, 4},        {PCSIM_OP_ERF, -3, 3, 1.5},
    {PCSIM_OP_SIGMOID, -30, 30, 2.5},  {PCSIM_OP_SIGMOID, -720, 720, 2.5}, {PCSIM_OP_SOFTPLUS, -30, 30, 2.5},
    {PCSIM_OP_SOFTPLUS, -720, 720, 3}, {PCSIM_OP_SWISH, -30, 30, 3},
};

static void *in_precision(const double *x, bool single, float *room) {
  for (int i = 0; i < PADDED && single; i++) room[i] = (float)x[i];
  return single ? (void *)room : (void *)x;
}

static _Alignas(64) double x[PADDED], y[PADDED];
static _Alignas(64) float x_single[PADDED], y_single[PADDED];

static void run(const exec_kernels *k, pcsim_op op) {
  const void *const in[KERNEL_INPUTS] = {in_precision(x, k->single, x_single)};
  const int64_t step[KERNEL_INPUTS] = {1};
  k->elementwise[op](PADDED, k->single ? (void *)y_single : (void *)y, in, step);
  for (int i = 0; i < PADDED && k->single; i++) {
    x[i] = (double)x_single[i];
    y[i] = (double)y_single[i];
  }
}

/** Number of ranges whose largest error is too large; each is told. */
static int check(const exec_kernels *k) {
  int failures = 0;
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
    const range *at = &ranges[r];
    for (int i = 0; i < PADDED; i++)
      x[i] = at->from + (at->to - at->from) * ((double)(i < COUNT ? i : COUNT - 1) + 0.37) / COUNT;
    run(k, at->op);
    double worst = 0, where = 0;
    for (int i = 0; i < COUNT; i++) {
      const double units = distance(y[i], exact(at->op, (long double)x[i]), k->single);
      if (units > worst || isnan(units)) worst = units, where = x[i];
    }
    if (worst <= at->units) continue;
    failures++;
    print_error("%s %s: %s at %.17g is %g units of the last place off, expected at most %g\n",
                k->instructions, k->single ? "single" : "double", op_name(at->op), where, worst, at->units);
  }
  return failures;
}

static void test_errors(void **unused) {
  (void)unused;
  int failures = 0;
  for (size_t i = 0; i < sizeof instruction_sets / sizeof *instruction_sets; i++)
    for (int single = 0; single < 2; single++) {
      const exec_kernels *k = exec_kernels_get(instruction_sets[i], single);
      if (k) failures += check(k);
    }
  assert_int_equal(failures, 0);
}

static void test_special(void **unused) {
  (void)unused;
  static const struct {
    pcsim_op op;
    double x, y;
  } cases[] = {
      {PCSIM_OP_EXP, HUGE_VAL, HUGE_VAL},
      {PCSIM_OP_EXP, -HUGE_VAL, 0},
      {PCSIM_OP_EXP, 0, 1},
      {PCSIM_OP_LOG, 0, -HUGE_VAL},
      {PCSIM_OP_LOG, HUGE_VAL, HUGE_VAL},
      {PCSIM_OP_LOG, -1, NAN},
      {PCSIM_OP_SIN, HUGE_VAL, NAN},
      {PCSIM_OP_COS, 0, 1},
      {PCSIM_OP_TANH, HUGE_VAL, 1},
      {PCSIM_OP_TANH, -HUGE_VAL, -1},
      {PCSIM_OP_TANH, 0, 0},
      {PCSIM_OP_SINH, -HUGE_VAL, -HUGE_VAL},
      {PCSIM_OP_COSH, -HUGE_VAL, HUGE_VAL},
      {PCSIM_OP_SIGMOID, HUGE_VAL, 1},
      {PCSIM_OP_SIGMOID, -HUGE_VAL, 0},
      {PCSIM_OP_SOFTPLUS, -HUGE_VAL, 0},
      {PCSIM_OP_SQRT, -1, NAN},
      {PCSIM_OP_STEP, NAN, NAN},
      {PCSIM_OP_EXP, NAN, NAN},
      {PCSIM_OP_LOG, NAN, NAN},
      {PCSIM_OP_SIN, NAN, NAN},
      {PCSIM_OP_TANH, NAN, NAN},
      {PCSIM_OP_SINH, NAN, NAN},
      {PCSIM_OP_COSH, NAN, NAN},
      {PCSIM_OP_SIGMOID, NAN, NAN},
      {PCSIM_OP_SOFTPLUS, NAN, NAN},
      {PCSIM_OP_SIGN, NAN, NAN},
  };
  for (size_t i = 0; i < sizeof instruction_sets / sizeof *instruction_sets; i++)
    for (int single = 0; single < 2; single++) {
      const exec_kernels *k = exec_kernels_get(instruction_sets[i], single);
      for (size_t j = 0; k && j < sizeof cases / sizeof *cases; j++) {
        for (int l = 0; l < PADDED; l++) x[l] = cases[j].x;
        run(k, cases[j].op);
        if (isnan(cases[j].y) ? !isnan(y[0]) : y[0] != cases[j].y)
          fail_msg("%s %s: %s of %g is %g", k->instructions, single ? "single" : "double",
                   op_name(cases[j].op), cases[j].x, y[0]);
      }
    }
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors), cmocka_unit_test(test_special)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
