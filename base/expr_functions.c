/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that an expression can call: one line each. */
#include "expr.h"

#include <math.h>
#include <string.h>

typedef double (*function_body)(const double *a, int n);

#define BODY(name, value)                                                                                    \
  static double body_##name(const double *a, int n) {                                                        \
    (void)n;                                                                                                 \
    return value;                                                                                            \
  }

BODY(exp, exp(a[0]))
BODY(log, log(a[0]))
BODY(sin, sin(a[0]))
BODY(cos, cos(a[0]))
BODY(tan, tan(a[0]))
BODY(asin, asin(a[0]))
BODY(acos, acos(a[0]))
BODY(atan, atan(a[0]))
BODY(atan2, atan2(a[0], a[1]))
BODY(sinh, sinh(a[0]))
BODY(cosh, cosh(a[0]))
BODY(tanh, tanh(a[0]))
BODY(sqrt, sqrt(a[0]))
BODY(cbrt, cbrt(a[0]))
BODY(abs, fabs(a[0]))
BODY(sign, a[0] > 0 ? 1.0 : a[0] < 0 ? -1.0 : a[0])
BODY(step, a[0] >= 0 ? 1.0 : a[0] < 0 ? 0.0 : a[0])
BODY(erf, erf(a[0]))
BODY(floor, floor(a[0]))
BODY(mod, a[0] - a[1] * floor(a[0] / a[1]))
BODY(where, a[0] != 0 ? a[1] : a[2])
BODY(pow, pow(a[0], a[1]))
BODY(hypot, hypot(a[0], a[1]))
BODY(softplus, (a[0] > 0 ? a[0] : 0) + log1p(exp(-fabs(a[0]))))
BODY(gelu, 0.5 * a[0] * erfc(-0.70710678118654752440 * a[0]))
BODY(swish, a[0] * (0.5 * (1 + tanh(0.5 * a[0]))))
BODY(sigmoid, 0.5 * (1 + tanh(0.5 * a[0]))) /* exp(-x) would overflow */

/* A nan among the arguments is the result: fmin and fmax would hide it. */
static double body_min(const double *a, int n) {
  double best = a[0];
  for (int i = 1; i < n; i++)
    if (a[i] < best || isnan(a[i])) best = a[i];
  return best;
}

static double body_max(const double *a, int n) {
  double best = a[0];
  for (int i = 1; i < n; i++)
    if (a[i] > best || isnan(a[i])) best = a[i];
  return best;
}

static const struct {
  pcsim_expr_function shown;
  function_body body;
} functions[] = {
    {{"exp", 1, 1, "exponential", false}, body_exp},
    {{"log", 1, 1, "natural logarithm", false}, body_log},
    {{"sin", 1, 1, "sine (radian)", false}, body_sin},
    {{"cos", 1, 1, "cosine (radian)", false}, body_cos},
    {{"tan", 1, 1, "tangent (radian)", false}, body_tan},
    {{"asin", 1, 1, "inverse sine", false}, body_asin},
    {{"acos", 1, 1, "inverse cosine", false}, body_acos},
    {{"atan", 1, 1, "inverse tangent", false}, body_atan},
    {{"atan2", 2, 2, "angle of the point (x, y): atan2(y, x)", false}, body_atan2},
    {{"sinh", 1, 1, "hyperbolic sine", false}, body_sinh},
    {{"cosh", 1, 1, "hyperbolic cosine", false}, body_cosh},
    {{"tanh", 1, 1, "hyperbolic tangent", false}, body_tanh},
    {{"sqrt", 1, 1, "square root", false}, body_sqrt},
    {{"cbrt", 1, 1, "cube root", false}, body_cbrt},
    {{"abs", 1, 1, "magnitude", false}, body_abs},
    {{"min", 2, EXPR_MAX_ARGS, "least of its arguments", false}, body_min},
    {{"max", 2, EXPR_MAX_ARGS, "greatest of its arguments", false}, body_max},
    {{"sign", 1, 1, "-1, 0 or 1", false}, body_sign},
    {{"step", 1, 1, "0 below 0, else 1", false}, body_step},
    {{"erf", 1, 1, "error function", false}, body_erf},
    {{"floor", 1, 1, "greatest whole number not above", false}, body_floor},
    {{"mod", 2, 2, "a - b*floor(a/b): remainder with the sign of b", false}, body_mod},
    {{"where", 3, 3, "where(c, a, b): a where c is true, else b", false}, body_where},
    {{"pow", 2, 2, "power, as ^", false}, body_pow},
    {{"hypot", 2, 2, "sqrt(a^2 + b^2) without overflow", false}, body_hypot},
    {{"sigmoid", 1, 1, "1/(1 + exp(-x))", false}, body_sigmoid},
    {{"softplus", 1, 1, "log(1 + exp(x))", false}, body_softplus},
    {{"gelu", 1, 1, "x times the normal distribution function of x", false}, body_gelu},
    {{"swish", 1, 1, "x*sigmoid(x)", false}, body_swish},
    /* In equations only: parsed, but without a value of their own. */
    {{"lap", 1, 1, "Laplacian (equations only, as all below)", true}, NULL},
    {{"grad", 1, 1, "gradient, a vector", true}, NULL},
    {{"div", 1, EXPR_MAX_ARGS, "divergence of a vector or of components: div(k*grad(u)), div(a, b)", true},
     NULL},
    {{"dt", 1, 1, "time derivative", true}, NULL},
    {{"dn", 1, 1, "derivative along the outward normal of a boundary", true}, NULL},
    {{"vector", 1, EXPR_MAX_ARGS, "vector of components: vector(a, b)*u", true}, NULL},
    {{"dot", 2, 2, "product of two vectors: dot(vector(a, b), grad(u))", true}, NULL},
    {{"table", 2, 2, "table(name, x): piecewise linear through the points of a named file", true}, NULL},
};
enum { NUM_FUNCTIONS = sizeof functions / sizeof functions[0] };

size_t pcsim_expr_num_functions(void) { return NUM_FUNCTIONS; }

const pcsim_expr_function *pcsim_expr_get_function(size_t i) {
  return i < NUM_FUNCTIONS ? &functions[i].shown : NULL;
}

int expr_function_find(const char *name) {
  for (int i = 0; i < NUM_FUNCTIONS; i++)
    if (!strcmp(functions[i].shown.name, name)) return i;
  return -1;
}

bool expr_function_reserves(const char *name) {
  int i = expr_function_find(name);
  return i >= 0 && !functions[i].shown.differential;
}

double expr_function_call(int index, const double *a, int num_args) {
  return functions[index].body ? functions[index].body(a, num_args) : (double)NAN;
}
