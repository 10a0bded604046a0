/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ops.c  Operators point by point: name, value and derivative. A new one is a line in PCSIM_OP_LIST, a
 *  case in op_value and one in op_derivative; every transform, and its test, follows. */
#include "graph.h"

#include <math.h>

static const struct {
  const char *name;
  int num_inputs;
} ops[PCSIM_NUM_OPS] = {
#define OP_LINE(op, text, inputs) {text, inputs},
    PCSIM_OP_LIST(OP_LINE)
#undef OP_LINE
};

const char *op_name(pcsim_op op) { return (int)op >= 0 && op < PCSIM_NUM_OPS ? ops[op].name : "unknown"; }
int op_num_inputs(pcsim_op op) { return (int)op >= 0 && op < PCSIM_NUM_OPS ? ops[op].num_inputs : 0; }

static const double sqrt_half = 0.70710678118654752440, two_over_sqrt_pi = 1.12837916709551257390,
                    one_over_sqrt_two_pi = 0.39894228040143267794;

/** 1/(1 + exp(-x)) without overflow and without losing small values to cancellation. */
static double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + exp(-x));
  const double e = exp(x);
  return e / (1 + e);
}

double op_value(pcsim_op op, const double *in) {
  const double a = in[0];
  switch (op) {
  case PCSIM_OP_NEG:
    return -a;
  case PCSIM_OP_ADD:
    return a + in[1];
  case PCSIM_OP_SUB:
    return a - in[1];
  case PCSIM_OP_MUL:
    return a * in[1];
  case PCSIM_OP_DIV:
    return a / in[1];
  case PCSIM_OP_POW:
    return pow(a, in[1]);
  case PCSIM_OP_EXP:
    return exp(a);
  case PCSIM_OP_LOG:
    return log(a);
  case PCSIM_OP_SIN:
    return sin(a);
  case PCSIM_OP_COS:
    return cos(a);
  case PCSIM_OP_TAN:
    return tan(a);
  case PCSIM_OP_ASIN:
    return asin(a);
  case PCSIM_OP_ACOS:
    return acos(a);
  case PCSIM_OP_ATAN:
    return atan(a);
  case PCSIM_OP_ATAN2:
    return atan2(a, in[1]);
  case PCSIM_OP_SINH:
    return sinh(a);
  case PCSIM_OP_COSH:
    return cosh(a);
  case PCSIM_OP_TANH:
    return tanh(a);
  case PCSIM_OP_SQRT:
    return sqrt(a);
  case PCSIM_OP_CBRT:
    return cbrt(a);
  case PCSIM_OP_ABS:
    return fabs(a);
  /* A nan among the arguments is the result: fmin and fmax would hide it. */
  case PCSIM_OP_MIN:
    return in[1] < a || isnan(in[1]) ? in[1] : a;
  case PCSIM_OP_MAX:
    return in[1] > a || isnan(in[1]) ? in[1] : a;
  case PCSIM_OP_SIGN:
    return a > 0 ? 1.0 : a < 0 ? -1.0 : a;
  case PCSIM_OP_STEP:
    return a >= 0 ? 1.0 : a < 0 ? 0.0 : a;
  case PCSIM_OP_ERF:
    return erf(a);
  case PCSIM_OP_SIGMOID:
    return sigmoid(a);
  case PCSIM_OP_SOFTPLUS:
    return (a > 0 ? a : 0) + log1p(exp(-fabs(a)));
  case PCSIM_OP_GELU:
    return 0.5 * a * erfc(-a * sqrt_half);
  case PCSIM_OP_SWISH:
    return a * sigmoid(a);
  case PCSIM_OP_LT:
    return a < in[1];
  case PCSIM_OP_LE:
    return a <= in[1];
  case PCSIM_OP_EQ:
    return a == in[1];
  case PCSIM_OP_AND:
    return a != 0 && in[1] != 0;
  case PCSIM_OP_OR:
    return a != 0 || in[1] != 0;
  case PCSIM_OP_NOT:
    return a == 0;
  case PCSIM_OP_WHERE:
    return a != 0 ? in[1] : in[2];
  case PCSIM_OP_FLOOR:
    return floor(a);
  case PCSIM_OP_HYPOT:
    return hypot(a, in[1]);
  case PCSIM_NUM_OPS:
    break;
  }
  return NAN;
}

double table_value(const double *numbers, int points, bool slope, double x) {
  const double *y = numbers + points;
  if (isnan(x)) return x;
  if (x < numbers[0]) return slope ? 0 : y[0];
  if (x >= numbers[points - 1]) return slope ? 0 : y[points - 1];
  int low = 0, high = points - 1; /* numbers[low] <= x < numbers[high] */
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (numbers[middle] <= x) low = middle;
    else high = middle;
  }
  const double rise = (y[high] - y[low]) / (numbers[high] - numbers[low]);
  return slope ? rise : y[low] + (x - numbers[low]) * rise;
}

/* ----------------------------------------------------------- derivative rules */

static pcsim_value num(pcsim_program *p, double x) { return pcsim_build_constant(p, x); }
static pcsim_value f1(pcsim_program *p, pcsim_op op, pcsim_value a) { return pcsim_build_unary(p, op, a); }
static pcsim_value add(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_ADD, a, b);
}
static pcsim_value sub(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_SUB, a, b);
}
static pcsim_value mul(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_MUL, a, b);
}
static pcsim_value quotient(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_DIV, a, b);
}
static pcsim_value where(pcsim_program *p, pcsim_value c, pcsim_value a, pcsim_value b) {
  return pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){c, a, b}, 3);
}

/** (1 - a)(1 + a): 1 - a^2 without cancellation near the ends. */
static pcsim_value one_minus_square(pcsim_program *p, pcsim_value a) {
  return mul(p, sub(p, num(p, 1), a), add(p, num(p, 1), a));
}

/** d pow(a, b). At a = 0 the rule for b would be 0 * log 0: the limit, 0, is taken instead. */
static pcsim_value pow_derivative(pcsim_program *p, int i, pcsim_value a, pcsim_value b, pcsim_value out) {
  if (i == 0) return mul(p, b, pcsim_build_binary(p, PCSIM_OP_POW, a, sub(p, b, num(p, 1))));
  pcsim_value zero = num(p, 0), at_zero = pcsim_build_binary(p, PCSIM_OP_EQ, a, zero);
  return where(p, at_zero, zero, mul(p, out, f1(p, PCSIM_OP_LOG, a)));
}

/** Comparison that says whether the first input of min or max is the result: it is at a tie. */
static pcsim_value first_wins(pcsim_program *p, pcsim_op op, const pcsim_value *in) {
  return op == PCSIM_OP_MIN ? pcsim_build_binary(p, PCSIM_OP_LE, in[0], in[1])
                            : pcsim_build_binary(p, PCSIM_OP_LE, in[1], in[0]);
}

static pcsim_value two_input_derivative(pcsim_program *p, pcsim_op op, int i, const pcsim_value *in,
                                        pcsim_value out) {
  const pcsim_value a = in[0], b = in[1];
  switch (op) {
  case PCSIM_OP_ADD:
    return num(p, 1);
  case PCSIM_OP_SUB:
    return num(p, i ? -1 : 1);
  case PCSIM_OP_MUL:
    return in[1 - i];
  case PCSIM_OP_DIV:
    return i ? f1(p, PCSIM_OP_NEG, quotient(p, out, b)) : quotient(p, num(p, 1), b);
  case PCSIM_OP_POW:
    return pow_derivative(p, i, a, b, out);
  case PCSIM_OP_ATAN2: {
    /* Divided twice by the radius: its square would leave the range first. */
    pcsim_value r = pcsim_build_binary(p, PCSIM_OP_HYPOT, a, b);
    pcsim_value top = i ? f1(p, PCSIM_OP_NEG, a) : b;
    return quotient(p, quotient(p, top, r), r);
  }
  case PCSIM_OP_HYPOT:
    return quotient(p, in[i], out);
  case PCSIM_OP_MIN:
  case PCSIM_OP_MAX:
    return where(p, first_wins(p, op, in), num(p, i == 0), num(p, i == 1));
  case PCSIM_OP_WHERE: {
    pcsim_value one = num(p, 1), zero = num(p, 0);
    if (i == 0) return PCSIM_NO_VALUE;
    return i == 1 ? where(p, a, one, zero) : where(p, a, zero, one);
  }
  default:
    return PCSIM_NO_VALUE; /* comparisons and logic: constant but at jumps */
  }
}

static pcsim_value gelu_derivative(pcsim_program *p, pcsim_value a) {
  pcsim_value scaled = mul(p, num(p, sqrt_half), a);
  pcsim_value half = num(p, 0.5), share = add(p, half, mul(p, half, f1(p, PCSIM_OP_ERF, scaled)));
  pcsim_value bell = f1(p, PCSIM_OP_EXP, mul(p, mul(p, num(p, -0.5), a), a));
  return add(p, share, mul(p, mul(p, num(p, one_over_sqrt_two_pi), a), bell));
}

pcsim_value op_derivative(pcsim_program *p, pcsim_op op, int i, const pcsim_value *in, pcsim_value out) {
  const pcsim_value a = in[0];
  if (op_num_inputs(op) > 1) return two_input_derivative(p, op, i, in, out);
  switch (op) {
  case PCSIM_OP_NEG:
    return num(p, -1);
  case PCSIM_OP_EXP:
    return out;
  case PCSIM_OP_LOG:
    return quotient(p, num(p, 1), a);
  case PCSIM_OP_SIN:
    return f1(p, PCSIM_OP_COS, a);
  case PCSIM_OP_COS:
    return f1(p, PCSIM_OP_NEG, f1(p, PCSIM_OP_SIN, a));
  case PCSIM_OP_TAN:
    return add(p, num(p, 1), mul(p, out, out));
  case PCSIM_OP_ASIN:
    return quotient(p, num(p, 1), f1(p, PCSIM_OP_SQRT, one_minus_square(p, a)));
  case PCSIM_OP_ACOS:
    return quotient(p, num(p, -1), f1(p, PCSIM_OP_SQRT, one_minus_square(p, a)));
  case PCSIM_OP_ATAN:
    return quotient(p, num(p, 1), add(p, num(p, 1), mul(p, a, a)));
  case PCSIM_OP_SINH:
    return f1(p, PCSIM_OP_COSH, a);
  case PCSIM_OP_COSH:
    return f1(p, PCSIM_OP_SINH, a);
  case PCSIM_OP_TANH:
    return sub(p, num(p, 1), mul(p, out, out));
  case PCSIM_OP_SQRT:
    return quotient(p, num(p, 0.5), out);
  case PCSIM_OP_CBRT:
    return quotient(p, num(p, 1), mul(p, num(p, 3), mul(p, out, out)));
  case PCSIM_OP_ABS:
    return f1(p, PCSIM_OP_SIGN, a);
  case PCSIM_OP_ERF: {
    pcsim_value bell = f1(p, PCSIM_OP_EXP, f1(p, PCSIM_OP_NEG, mul(p, a, a)));
    return mul(p, num(p, two_over_sqrt_pi), bell);
  }
  case PCSIM_OP_SIGMOID:
    return sub(p, out, mul(p, out, out));
  case PCSIM_OP_SOFTPLUS:
    return f1(p, PCSIM_OP_SIGMOID, a);
  case PCSIM_OP_GELU:
    return gelu_derivative(p, a);
  case PCSIM_OP_SWISH: {
    /* s + x s (1 - s) = s + out (1 - s) */
    pcsim_value s = f1(p, PCSIM_OP_SIGMOID, a);
    return add(p, s, mul(p, out, sub(p, num(p, 1), s)));
  }
  default:
    return PCSIM_NO_VALUE; /* sign, step, floor, not: constant but at jumps */
  }
}
