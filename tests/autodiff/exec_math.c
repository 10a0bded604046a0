/* SPDX-License-Identifier: BSD-2-Clause */
/* The vector functions of every instruction set: errors in units of the last place against the C library in
 * 113-bit arithmetic (long double where the compiler has none), and every special value and end of the range
 * against op_value, which is the C library in double. */
#include "autodiff/exec_kernels.h"
#include "autodiff/graph.h"
#include "pcsim_test.h"

#include <float.h>
#include <math.h>

enum { COUNT = 4000, PADDED = 4032 };
static const char *const instruction_sets[] = {"portable", "avx2", "avx512"};

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
typedef _Float128 real;
#define F(name) name##f128
#else
typedef long double real;
#define F(name) name##l
#endif

static real exact(pcsim_op op, real x, real y) {
  switch (op) {
#define EXACT(OP, name)                                                                                      \
  case PCSIM_OP_##OP:                                                                                        \
    return F(name)(x);
    EXACT(EXP, exp)
    EXACT(LOG, log)
    EXACT(SIN, sin)
    EXACT(COS, cos)
    EXACT(TAN, tan)
    EXACT(ASIN, asin)
    EXACT(ACOS, acos)
    EXACT(ATAN, atan)
    EXACT(SINH, sinh)
    EXACT(COSH, cosh)
    EXACT(TANH, tanh)
    EXACT(SQRT, sqrt)
    EXACT(CBRT, cbrt)
    EXACT(ERF, erf)
    EXACT(FLOOR, floor)
#undef EXACT
  case PCSIM_OP_POW:
    return F(pow)(x, y);
  case PCSIM_OP_ATAN2:
    return F(atan2)(x, y);
  case PCSIM_OP_HYPOT:
    return F(hypot)(x, y);
  case PCSIM_OP_SIGMOID:
    return 1 / (1 + F(exp)(-x));
  case PCSIM_OP_SOFTPLUS:
    return x > 0 ? x + F(log1p)(F(exp)(-x)) : F(log1p)(F(exp)(x));
  case PCSIM_OP_SWISH:
    return x / (1 + F(exp)(-x));
  case PCSIM_OP_GELU:
    return x / 2 * F(erfc)(-x / F(sqrt)(2));
  default:
    return (real)NAN;
  }
}

/** Distance in units of the last place of the exact value. */
static double distance(double value, real expected, bool single) {
  if (isnan(value) && isnan((double)expected)) return 0;
  const real size = F(fabs)(expected), largest = single ? FLT_MAX : DBL_MAX;
  if (size > largest || isinf(value)) {
    /* Past the largest number both are right: it and infinity. */
    return (size > largest * (1 - (real)1e-7) && fabs(value) >= (double)(largest * (1 - (real)1e-7)) &&
            (value > 0) == (expected > 0))
               ? 0
               : HUGE_VAL;
  }
  int exponent = 0;
  if (value != 0 && signbit(value) != (expected < 0)) return HUGE_VAL;
  F(frexp)(size, &exponent);
  const int least = single ? FLT_MIN_EXP : DBL_MIN_EXP, digits = single ? FLT_MANT_DIG : DBL_MANT_DIG;
  if (exponent < least) exponent = least;
  return (double)F(fabs)(((real)value - expected) / F(ldexp)(1, exponent - digits));
}

/** Arguments: spread evenly, or evenly in the logarithm of the size (with both signs); the second one alike.
 */
typedef enum { EVEN, POSITIVE, BOTH } spread;
typedef struct {
  pcsim_op op;
  double units; /**< of the last place, at most */
  double from, to;
  spread spread;
  double from_y, to_y;
  spread spread_y;
} range;
static const range ranges[] = {
    {PCSIM_OP_EXP, 1, -746, 710, EVEN, 0, 0, EVEN},
    {PCSIM_OP_EXP, 1, 1e-20, 1, BOTH, 0, 0, EVEN},
    {PCSIM_OP_LOG, 0.8, 5e-324, 1.7e308, POSITIVE, 0, 0, EVEN},
    {PCSIM_OP_LOG, 0.8, 0.5, 2, EVEN, 0, 0, EVEN},
    {PCSIM_OP_LOG, 0.8, 0.999, 1.001, EVEN, 0, 0, EVEN},
    {PCSIM_OP_SIN, 0.8, -10, 10, EVEN, 0, 0, EVEN},
    {PCSIM_OP_SIN, 0.8, 1e-310, 1e6, BOTH, 0, 0, EVEN},
    {PCSIM_OP_SIN, 0.8, 1e6, 1e308, BOTH, 0, 0, EVEN},
    {PCSIM_OP_COS, 0.8, -10, 10, EVEN, 0, 0, EVEN},
    {PCSIM_OP_COS, 0.8, 1, 1e6, BOTH, 0, 0, EVEN},
    {PCSIM_OP_COS, 0.8, 1e6, 1e308, BOTH, 0, 0, EVEN},
    {PCSIM_OP_TAN, 0.9, -10, 10, EVEN, 0, 0, EVEN},
    {PCSIM_OP_TAN, 0.9, 1e-310, 1e6, BOTH, 0, 0, EVEN},
    {PCSIM_OP_TAN, 0.9, 1e6, 1e308, BOTH, 0, 0, EVEN},
    {PCSIM_OP_ASIN, 0.8, -1, 1, EVEN, 0, 0, EVEN},
    {PCSIM_OP_ASIN, 0.8, 1e-310, 1, BOTH, 0, 0, EVEN},
    {PCSIM_OP_ASIN, 0.8, 0.999, 1, EVEN, 0, 0, EVEN},
    {PCSIM_OP_ACOS, 0.8, -1, 1, EVEN, 0, 0, EVEN},
    {PCSIM_OP_ACOS, 0.8, -1, -0.999, EVEN, 0, 0, EVEN},
    {PCSIM_OP_ACOS, 0.8, 0.999, 1, EVEN, 0, 0, EVEN},
    {PCSIM_OP_ATAN, 0.9, -10, 10, EVEN, 0, 0, EVEN},
    {PCSIM_OP_ATAN, 0.9, 0.4, 0.5, EVEN, 0, 0, EVEN},
    {PCSIM_OP_ATAN, 0.9, 1e-310, 1e308, BOTH, 0, 0, EVEN},
    {PCSIM_OP_ATAN2, 0.9, -1, 1, EVEN, -1, 1, EVEN},
    {PCSIM_OP_ATAN2, 0.9, 1e-3, 1e3, BOTH, 1e-3, 1e3, BOTH},
    {PCSIM_OP_ATAN2, 1.1, 1e-320, 1e308, BOTH, 1e-320, 1e308, BOTH},
    {PCSIM_OP_SINH, 1.5, 1e-310, 712, BOTH, 0, 0, EVEN},
    {PCSIM_OP_SINH, 1.5, -5, 5, EVEN, 0, 0, EVEN},
    {PCSIM_OP_COSH, 1.4, 1e-10, 712, BOTH, 0, 0, EVEN},
    {PCSIM_OP_COSH, 1.4, -5, 5, EVEN, 0, 0, EVEN},
    /* 2.4 where multiply-adds are fused */
    {PCSIM_OP_TANH, 3.7, 1e-310, 30, BOTH, 0, 0, EVEN},
    {PCSIM_OP_TANH, 3.7, -3, 3, EVEN, 0, 0, EVEN},
    {PCSIM_OP_SQRT, 0.51, 5e-324, 1.7e308, POSITIVE, 0, 0, EVEN},
    {PCSIM_OP_CBRT, 0.51, 5e-324, 1.7e308, BOTH, 0, 0, EVEN},
    {PCSIM_OP_CBRT, 0.51, -10, 10, EVEN, 0, 0, EVEN},
    {PCSIM_OP_HYPOT, 0.51, -1, 1, EVEN, -1, 1, EVEN},
    {PCSIM_OP_HYPOT, 0.51, 1e-3, 1e3, BOTH, 1e-3, 1e3, BOTH},
    {PCSIM_OP_HYPOT, 1, 5e-324, 1.7e308, BOTH, 5e-324, 1.7e308, BOTH},
    {PCSIM_OP_POW, 0.9, 0, 10, EVEN, -10, 10, EVEN},
    {PCSIM_OP_POW, 0.9, 1e-300, 1e300, POSITIVE, -1, 1, EVEN},
    {PCSIM_OP_POW, 0.9, 0.9, 1.1, EVEN, -6000, 6000, EVEN},
    {PCSIM_OP_POW, 0.9, 5e-324, 1.7e308, POSITIVE, 1e-5, 100, BOTH},
    {PCSIM_OP_POW, 0.9, 0.999999, 1.000001, EVEN, 1, 1e9, BOTH},
    {PCSIM_OP_ERF, 1.2, -3, 3, EVEN, 0, 0, EVEN},
    {PCSIM_OP_ERF, 1.2, 0.9, 1.5, EVEN, 0, 0, EVEN},
    {PCSIM_OP_ERF, 1.2, 1e-310, 7, BOTH, 0, 0, EVEN},
    {PCSIM_OP_SIGMOID, 2.4, -30, 30, EVEN, 0, 0, EVEN},
    {PCSIM_OP_SIGMOID, 2.4, -746, 720, EVEN, 0, 0, EVEN},
    {PCSIM_OP_SOFTPLUS, 2, -30, 30, EVEN, 0, 0, EVEN},
    {PCSIM_OP_SOFTPLUS, 2, -720, 720, EVEN, 0, 0, EVEN},
    {PCSIM_OP_SWISH, 3, -30, 30, EVEN, 0, 0, EVEN},
    {PCSIM_OP_GELU, 4, -3, 3, EVEN, 0, 0, EVEN},
    {PCSIM_OP_GELU, 4, -39, 10, EVEN, 0, 0, EVEN},
    {PCSIM_OP_GELU, 4, 1e-310, 1e300, BOTH, 0, 0, EVEN},
    {PCSIM_OP_FLOOR, 0, -10, 10, EVEN, 0, 0, EVEN},
    {PCSIM_OP_FLOOR, 0, 1e-310, 1e300, BOTH, 0, 0, EVEN},
};

/** Number `i` of COUNT in the range; `shuffle` sets the order, so that two arguments do not go together. */
static double argument(double from, double to, spread s, int i, int shuffle) {
  const int place = (int)((int64_t)i * shuffle % COUNT);
  const double share = ((double)place + 0.37) / COUNT;
  if (s == EVEN) return from + (to - from) * share;
  const double size = exp(log(from) + (log(to) - log(from)) * share);
  return s == BOTH && i % 2 ? -size : size;
}

static void *in_precision(const double *x, bool single, float *room) {
  for (int i = 0; i < PADDED && single; i++) room[i] = (float)x[i];
  return single ? (void *)room : (void *)x;
}

static _Alignas(64) double x[PADDED], y[PADDED], out[PADDED];
static _Alignas(64) float x_single[PADDED], y_single[PADDED], out_single[PADDED];

/** out = op(x, y); in single precision x and y become what was rounded to it. */
static void run(const exec_kernels *k, pcsim_op op) {
  const void *const in[KERNEL_INPUTS] = {in_precision(x, k->single, x_single),
                                         in_precision(y, k->single, y_single)};
  const int64_t step[KERNEL_INPUTS] = {1, 1};
  k->elementwise[op](PADDED, k->single ? (void *)out_single : (void *)out, in, step);
  for (int i = 0; i < PADDED && k->single; i++) {
    x[i] = (double)x_single[i];
    y[i] = (double)y_single[i];
    out[i] = (double)out_single[i];
  }
}

/** Number of ranges whose largest error is too large; each is told. */
static int check(const exec_kernels *k) {
  int failures = 0;
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
    const range *at = &ranges[r];
    for (int i = 0; i < PADDED; i++) {
      const int n = i < COUNT ? i : COUNT - 1;
      x[i] = argument(at->from, at->to, at->spread, n, 1);
      y[i] = at->to_y > 0 ? argument(at->from_y, at->to_y, at->spread_y, n, 1571) : 0;
    }
    run(k, at->op);
    double worst = 0;
    int where = 0;
    for (int i = 0; i < COUNT; i++) {
      const double units = distance(out[i], exact(at->op, (real)x[i], (real)y[i]), k->single);
      if (units > worst || isnan(units)) worst = units, where = i;
    }
    if (worst <= at->units) continue;
    failures++;
    print_error("%s %s: %s at %.17g, %.17g is %g units of the last place off, expected at most %g\n",
                k->instructions, k->single ? "single" : "double", op_name(at->op), x[where], y[where], worst,
                at->units);
  }
  return failures;
}

/** Failures of all instruction sets that are here, in both precisions. */
static int each_set(int (*f)(const exec_kernels *)) {
  int failures = 0;
  for (size_t i = 0; i < sizeof instruction_sets / sizeof *instruction_sets; i++)
    for (int single = 0; single < 2; single++) {
      const exec_kernels *k = exec_kernels_get(instruction_sets[i], single);
      if (k) failures += f(k);
    }
  return failures;
}

static void test_errors(void **unused) {
  (void)unused;
  assert_int_equal(each_set(check), 0);
}

/** Signs of zeros and of infinities are part of the value; the rest to some units. */
static bool agree(double value, double expected, double units, bool single) {
  if (isnan(value) || isnan(expected)) return isnan(value) && isnan(expected);
  if (expected == 0 || isinf(expected)) return value == expected && signbit(value) == signbit(expected);
  return distance(value, (real)expected, single) <= units;
}

/** Units that the expected value, or a factor below the normal range, is off by. */
static double allowance(pcsim_op op, double a) {
  if (op == PCSIM_OP_GELU) return a * a; /* op_value rounds its argument first */
  return op == PCSIM_OP_SWISH ? fabs(a) : 0;
}

/** Every operator of one and of two inputs on every pair of special values. */
static int check_special(const exec_kernels *k) {
  static const double values[] = {0,
                                  1,
                                  0.5,
                                  2,
                                  3,
                                  2.5,
                                  1e-3,
                                  0.75,
                                  0.4375,
                                  25,
                                  39,
                                  104,
                                  710,
                                  746,
                                  1e6,
                                  1e22,
                                  HUGE_VAL,
                                  DBL_MAX,
                                  DBL_MIN,
                                  5e-324,
                                  1e-310,
                                  FLT_MAX,
                                  FLT_MIN,
                                  1e-45,
                                  M_PI,
                                  0.5 * M_PI,
                                  1e300,
                                  4503599627370497.0,
                                  9007199254740991.0,
                                  9007199254740993.0};
  enum { N = sizeof values / sizeof *values, ALL = 2 * N + 1 };
  double special[ALL];
  for (int i = 0; i < N; i++) special[2 * i] = values[i], special[2 * i + 1] = -values[i];
  special[ALL - 1] = NAN;
  _Static_assert(ALL * ALL <= PADDED, "room for all pairs");
  int failures = 0;
  for (int op = 0; op < PCSIM_NUM_OPS; op++) {
    if (op_num_inputs((pcsim_op)op) > 2) continue;
    for (int i = 0; i < PADDED; i++) x[i] = special[i / ALL % ALL], y[i] = special[i % ALL];
    run(k, (pcsim_op)op);
    for (int i = 0; i<ALL * ALL; i += op_num_inputs((pcsim_op)op)> 1 ? 1 : ALL) {
      const double expected = op_value((pcsim_op)op, (double[]){x[i], y[i]});
      const double units = 5 + allowance((pcsim_op)op, x[i]);
      if (agree(out[i], expected, units, k->single)) continue;
      failures++;
      print_error("%s %s: %s of %.17g, %.17g is %.17g, expected %.17g\n", k->instructions,
                  k->single ? "single" : "double", op_name((pcsim_op)op), x[i], y[i], out[i], expected);
    }
  }
  return failures;
}

static void test_special(void **unused) {
  (void)unused;
  assert_int_equal(each_set(check_special), 0);
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors), cmocka_unit_test(test_special)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
