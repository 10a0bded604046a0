/* SPDX-License-Identifier: BSD-2-Clause */
/* Every operator, in one table: values, derivatives up to order 8, every pair of transforms. A new operator
 * is covered by adding its line. */
#include "interpret.h"
#include "reference.h"

#define I_ reference_i()
enum { NUM_POINTS = 3 };

typedef struct {
  pcsim_op op;
  double reach; /* distance to the nearest singularity, at most that of the point nearest to one */
  double points[NUM_POINTS][3];
  cplx (*value)(const cplx *z, const double *x); /* analytic near x: pieces are chosen at x */
} operator_line;

#define A z[0]
#define B z[1]
#define C_ z[2]
#define VALUE(op, expression)                                                                                \
  static cplx value_##op(const cplx *z, const double *x) {                                                   \
    (void)x;                                                                                                 \
    (void)z;                                                                                                 \
    return expression;                                                                                       \
  }
/* One line an operator: name, reach, three points, value, and in words where it has a kink. Points keep away
 * from kinks by the reach; what happens at a kink is the subject of test_kinks. */
#define ROOT_HALF (1 / F(sqrt)((real)2))
#define ATAN2_(y, w)                                                                                         \
  (F(catan)((y) / (w)) + (x[1] > 0 ? 0 : x[0] > 0 ? F(acos)((real)-1) : -F(acos)((real)-1)))
#define OPERATORS(X)                                                                                         \
  X(NEG, 2, (0.3), (-1.7), (0), -A, "none")                                                                  \
  X(ADD, 2, (0.3, 1.1), (-1.7, 0.4), (0, 0), A + B, "none")                                                  \
  X(SUB, 2, (0.3, 1.1), (-1.7, 0.4), (0, 0), A - B, "none")                                                  \
  X(MUL, 2, (0.3, 1.1), (-1.7, 0.4), (0, 2), A *B, "none")                                                   \
  X(DIV, 0.7, (0.3, 1.1), (-1.7, -0.8), (0, 2), A / B, "infinite at b = 0")                                  \
  X(POW, 0.7, (0.8, 1.3), (1.9, -2.2), (2.5, 3), F(cexp)(B * F(clog)(A)), "a <= 0 with a varying b")         \
  X(EXP, 4, (0.3), (-1.7), (2.2), F(cexp)(A), "none")                                                        \
  X(LOG, 0.4, (0.5), (1.7), (12), F(clog)(A), "infinite at 0")                                               \
  X(SIN, 4, (0.3), (-1.7), (2.2), F(csin)(A), "none")                                                        \
  X(COS, 4, (0.3), (-1.7), (2.2), F(ccos)(A), "none")                                                        \
  X(TAN, 0.4, (0.3), (-1.1), (2.2), F(csin)(A) / F(ccos)(A), "infinite at odd multiples of pi/2")            \
  X(ASIN, 0.4, (0.3), (-0.6), (0), F(casin)(A), "infinite slope at -1 and 1")                                \
  X(ACOS, 0.4, (0.3), (-0.6), (0), F(cacos)(A), "infinite slope at -1 and 1")                                \
  X(ATAN, 1, (0.3), (-1.7), (2.2), F(catan)(A), "none")                                                      \
  X(ATAN2, 0.4, (0.7, 0.9), (-0.6, -1.2), (0.8, -0.5), ATAN2_(A, B), "undefined at (0, 0)")                  \
  X(SINH, 4, (0.3), (-1.7), (2.2), F(csinh)(A), "none")                                                      \
  X(COSH, 4, (0.3), (-1.7), (2.2), F(ccosh)(A), "none")                                                      \
  X(TANH, 1.5, (0.3), (-1.7), (2.2), F(csinh)(A) / F(ccosh)(A), "none")                                      \
  X(SQRT, 0.4, (0.5), (1.7), (12), F(csqrt)(A), "infinite slope at 0")                                       \
  X(CBRT, 0.4, (0.5), (1.7), (-12), x[0] > 0 ? F(cexp)(F(clog)(A) / 3) : -F(cexp)(F(clog)(-A) / 3),          \
    "infinite slope at 0")                                                                                   \
  X(ABS, 1, (0.3), (-1.7), (2.2), x[0] > 0 ? A : -A, "slope 0 at 0")                                         \
  X(MIN, 1, (0.3, 1.1), (1.7, -0.4), (-3, -1), x[0] <= x[1] ? A : B, "slope of the first at a tie")          \
  X(MAX, 1, (0.3, 1.1), (1.7, -0.4), (-3, -1), x[0] >= x[1] ? A : B, "slope of the first at a tie")          \
  X(SIGN, 1, (0.3), (-1.7), (2.2), x[0] > 0 ? 1 : -1, "slope 0 at the jump")                                 \
  X(STEP, 1, (0.3), (-1.7), (2.2), x[0] > 0, "slope 0 at the jump")                                          \
  X(ERF, 2, (0.3), (-1.2), (0), reference_erf(A), "none")                                                    \
  X(SIGMOID, 2.5, (0.3), (-1.7), (2.2), 1 / (1 + F(cexp)(-A)), "none")                                       \
  X(SOFTPLUS, 2.5, (0.3), (-1.7), (2.2), F(clog)(1 + F(cexp)(A)), "none")                                    \
  X(GELU, 2, (0.3), (-1.2), (0), A *(1 + reference_erf(A * ROOT_HALF)) / 2, "none")                          \
  X(SWISH, 2.5, (0.3), (-1.7), (2.2), A / (1 + F(cexp)(-A)), "none")                                         \
  X(LT, 1, (0.3, 1.1), (1.7, -0.4), (-3, -1), x[0] < x[1], "slope 0 at the jump")                            \
  X(LE, 1, (0.3, 1.1), (1.7, -0.4), (-3, -1), x[0] <= x[1], "slope 0 at the jump")                           \
  X(EQ, 1, (0.3, 1.1), (1.7, -0.4), (2, 2), x[0] == x[1], "slope 0 everywhere")                              \
  X(AND, 1, (1, 0), (1, 1), (0, 0), x[0] != 0 && x[1] != 0, "slope 0 everywhere")                            \
  X(OR, 1, (1, 0), (1, 1), (0, 0), x[0] != 0 || x[1] != 0, "slope 0 everywhere")                             \
  X(NOT, 1, (1), (0), (-2), x[0] == 0, "slope 0 everywhere")                                                 \
  X(WHERE, 1, (1, 0.3, 1.1), (0, 1.7, -0.4), (-1, -3, -1), x[0] != 0 ? B : C_, "slope 0 of the condition")   \
  X(FLOOR, 0.2, (0.3), (-1.7), (2.2), x[0] < -1 ? -2 : x[0] < 1 ? 0 : 2, "slope 0 at the jumps")             \
  X(HYPOT, 0.4, (0.7, 0.9), (-0.6, -1.2), (0.8, -0.5), F(csqrt)(A * A + B * B), "undefined slope at (0, 0)")

#define LIST(...)                                                                                            \
  { __VA_ARGS__ }
#define DEFINE(op, reach, p, q, r, expression, kink) VALUE(op, expression)
OPERATORS(DEFINE)
#define LINE(op, reach, p, q, r, expression, kink)                                                           \
  {PCSIM_OP_##op, reach, {LIST p, LIST q, LIST r}, value_##op},
static const operator_line lines[] = {OPERATORS(LINE)};
enum { NUM_LINES = sizeof lines / sizeof lines[0] };

static cplx line_value(const void *context, const cplx *z, const double *x) {
  const operator_line *line = context;
  return line->value(z, x);
}

/** The operator on a curved path: inputs a + (a - x)^2/4, whose higher coefficients are not zero. */
static cplx curved_value(const void *context, const cplx *z, const double *x) {
  const operator_line *line = context;
  cplx inner[3] = {0};
  for (int i = 0; i < op_num_inputs(line->op); i++) inner[i] = z[i] + (z[i] - x[i]) * (z[i] - x[i]) / 4;
  return line->value(inner, x);
}

/** Program y = op(x_0, x_1, ...), on one point. */
static pcsim_program *build(const operator_line *line, const double *x, bool curved) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_create(&p));
  const int n = op_num_inputs(line->op);
  const pcsim_space space = pcsim_build_space(p, "points");
  const pcsim_value all = pcsim_build_input(p, "x", space, n);
  pcsim_value in[3];
  for (int i = 0; i < n; i++) {
    in[i] = pcsim_build_slice(p, all, i, 1);
    if (!curved) continue;
    const pcsim_value shift = pcsim_build_binary(p, PCSIM_OP_SUB, in[i], pcsim_build_constant(p, x[i]));
    const pcsim_value square = pcsim_build_binary(p, PCSIM_OP_MUL, shift, shift);
    in[i] = pcsim_build_binary(p, PCSIM_OP_ADD, in[i],
                               pcsim_build_binary(p, PCSIM_OP_MUL, pcsim_build_constant(p, 0.25), square));
  }
  pcsim_build_output(p, "y", pcsim_build_op(p, line->op, in, n));
  assert_ok(pcsim_program_status(p));
  return p;
}

static const double directions[6][16] = {{1, 0.7, -0.4},  {-0.6, 1, 0.8}, {0.5, -0.9, 1},
                                         {0.8, 0.3, 0.9}, {1, -0.2, 0.6}, {-0.7, 0.4, 1}};

static void test_table_is_complete(void **state) {
  (void)state;
  for (int op = 0; op < PCSIM_NUM_OPS; op++) {
    int found = 0;
    for (int i = 0; i < NUM_LINES; i++) found += lines[i].op == (pcsim_op)op;
    if (found != 1) fail_msg("operator '%s' has %d lines in the table", op_name((pcsim_op)op), found);
  }
}

static double worst;
static const char *worst_at = "";
/** Relative to the magnitude; remembers the worst. */
static void compare(const operator_line *line, const char *what, double got, double expected, double size,
                    double tolerance) {
  const double error = fabs(got - expected) / fmax(fmax(fabs(expected), size), 1e-15);
  if (!(error <= tolerance))
    fail_msg("%s, %s: %.17g, expected %.17g (relative to the magnitude %g: %g > %g)", op_name(line->op), what,
             got, expected, size, error, tolerance);
  if (error > worst) {
    worst = error;
    worst_at = op_name(line->op);
  }
}

static void check_orders(const operator_line *line, const double *x, bool curved) {
  enum { ORDER = REFERENCE_ORDER };
  const int n = op_num_inputs(line->op);
  pcsim_program *p = build(line, x, curved), *jet = NULL;
  assert_ok(pcsim_transform_jet(p, "x", ORDER, 2, &jet));
  interpreter it;
  interpret_begin(&it, jet);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "x", x);
  interpret_bind(&it, "v_0", directions[0]);
  interpret_bind(&it, "v_1", directions[1]);
  interpret_run(&it);
  double in[3] = {x[0], x[1], x[2]};
  compare(line, "value", interpret_output(&it, "y")[0], op_value(line->op, in), 0, 1e-15);
  for (int j = 0; j < 2; j++) {
    real c[ORDER + 2];
    reference_taylor(curved ? curved_value : line_value, line, n, x, directions[j], line->reach / 4, c);
    /* The magnitude of a coefficient: no less than what the lower ones and the function itself suggest. */
    double size = REFERENCE_FLOOR * (double)c[ORDER + 1] * line->reach;
    for (int k = 0; k <= ORDER; k++) {
      char name[32];
      snprintf(name, sizeof name, k ? "y_%d_%d" : "y", j, k);
      size = fmax(size / line->reach, fabs((double)c[k]));
      compare(line, name, interpret_output(&it, name)[0], (double)c[k], size, 1e-12);
    }
  }
  interpret_end(&it);
  pcsim_program_destroy(&jet);
  pcsim_program_destroy(&p);
}

static void test_orders(void **state) {
  (void)state;
  worst = 0;
  for (int i = 0; i < NUM_LINES; i++)
    for (int q = 0; q < NUM_POINTS; q++)
      for (int curved = 0; curved < 2; curved++) check_orders(&lines[i], lines[i].points[q], curved);
  print_message("orders 1 to 8: worst %.1e (%s)\n", worst, worst_at);
}

static cplx power_value(const void *context, const cplx *z, const double *x) {
  (void)x;
  return F(cexp)(F(clog)(z[0]) * *(const double *)context);
}

/** Powers with a constant exponent have rules of their own: whole ones up to 16, others up to and above
 * order 3. */
static void test_constant_powers(void **state) {
  (void)state;
  const double exponents[] = {2.5, -1.3, 0.5, 1.0 / 3, 3, -2, 16, 20, -17}, x = 1.7, v = 0.8, reach = 1.2;
  worst = 0;
  for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++)
    for (int order = 1; order <= REFERENCE_ORDER; order++) {
      const operator_line line = {.op = PCSIM_OP_POW};
      pcsim_program *p = NULL, *jet = NULL;
      assert_ok(pcsim_program_create(&p));
      const pcsim_value a = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), 1);
      pcsim_build_output(p, "y",
                         pcsim_build_binary(p, PCSIM_OP_POW, a, pcsim_build_constant(p, exponents[i])));
      assert_ok(pcsim_transform_jet(p, "x", order, 1, &jet));
      interpreter it;
      interpret_begin(&it, jet);
      interpret_points(&it, "points", 1);
      interpret_bind(&it, "x", &x);
      interpret_bind(&it, "v_0", &v);
      interpret_run(&it);
      real c[REFERENCE_ORDER + 2];
      reference_taylor(power_value, &exponents[i], 1, &x, &v, reach / 4, c);
      double size = REFERENCE_FLOOR * (double)c[REFERENCE_ORDER + 1] * reach;
      for (int k = 0; k <= order; k++) {
        char name[32];
        snprintf(name, sizeof name, k ? "y_0_%d" : "y", k);
        size = fmax(size / reach, fabs((double)c[k]));
        compare(&line, name, interpret_output(&it, name)[0], (double)c[k], size, 1e-12);
      }
      interpret_end(&it);
      pcsim_program_destroy(&jet);
      pcsim_program_destroy(&p);
    }
  print_message("constant exponents: worst %.1e\n", worst);
}

/** Central differences of op_value itself: a witness that shares neither rules nor reference. */
static void test_differences(void **state) {
  (void)state;
  for (int i = 0; i < NUM_LINES; i++)
    for (int q = 0; q < NUM_POINTS; q++) {
      const operator_line *line = &lines[i];
      const double *x = line->points[q];
      const int n = op_num_inputs(line->op);
      double h = 1e-5, f[2];
      /* Where a condition or an equality decides, stepping would change the piece: it stays. */
      const bool decides = line->op == PCSIM_OP_WHERE || line->op == PCSIM_OP_EQ ||
                           line->op == PCSIM_OP_AND || line->op == PCSIM_OP_OR || line->op == PCSIM_OP_NOT;
      if (decides && line->op != PCSIM_OP_WHERE) continue;
      for (int s = 0; s < 2; s++) {
        double in[3];
        for (int j = 0; j < n; j++) in[j] = x[j] + (decides && j == 0 ? 0 : (s ? -h : h) * directions[0][j]);
        f[s] = op_value(line->op, in);
      }
      pcsim_program *p = build(line, x, false), *d = NULL;
      assert_ok(pcsim_transform_jvp(p, (const char *[]){"x"}, 1, &d));
      interpreter it;
      interpret_begin(&it, d);
      interpret_points(&it, "points", 1);
      interpret_bind(&it, "x", x);
      interpret_bind(&it, "d_x", directions[0]);
      interpret_run(&it);
      compare(line, "central difference", interpret_output(&it, "d_y")[0], (f[0] - f[1]) / (2 * h),
              fabs(f[0]) + 1e-3, 1e-6);
      interpret_end(&it);
      pcsim_program_destroy(&d);
      pcsim_program_destroy(&p);
    }
}

#include "chain.h"

static void test_pairs(void **state) {
  (void)state;
  worst = 0;
  for (int i = 0; i < NUM_LINES; i++)
    for (int q = 0; q < NUM_POINTS; q++)
      for (int first = 0; first < NUM_STEPS; first++)
        for (int second = 0; second < NUM_STEPS; second++) {
          const operator_line *line = &lines[i];
          const step steps[2] = {(step)first, (step)second};
          char what[64];
          double size;
          snprintf(what, sizeof what, "%s of %s", step_names[second], step_names[first]);
          pcsim_program *p = build(line, line->points[q], true);
          const int n = op_num_inputs(line->op);
          const double got = chain_value(p, line->points[q], n, steps, 2, directions);
          const double expected = chain_reference(curved_value, line, n, line->points[q], line->reach, steps,
                                                  2, directions, &size);
          compare(line, what, got, expected, size, 1e-12);
          pcsim_program_destroy(&p);
        }
  print_message("pairs of transforms: worst %.1e (%s)\n", worst, worst_at);
}

static double slope(pcsim_op op, const double *x, int i, bool reverse) {
  const operator_line line = {.op = op};
  const int n = op_num_inputs(op);
  pcsim_program *p = build(&line, x, false), *d = NULL;
  const char *wrt[] = {"x"};
  double unit[3] = {0}, one = 1;
  unit[i] = 1;
  if (reverse) assert_ok(pcsim_transform_vjp(p, wrt, 1, &d));
  else assert_ok(pcsim_transform_jvp(p, wrt, 1, &d));
  interpreter it;
  interpret_begin(&it, d);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "x", x);
  interpret_bind(&it, reverse ? "b_y" : "d_x", reverse ? &one : unit);
  interpret_run(&it);
  const double value = interpret_output(&it, reverse ? "b_x" : "d_y")[reverse ? i : 0];
  interpret_end(&it);
  (void)n;
  pcsim_program_destroy(&d);
  pcsim_program_destroy(&p);
  return value;
}

/** What is documented at kinks, forward and reverse. */
static void test_kinks(void **state) {
  (void)state;
  const double tie[2] = {0.5, 0.5}, zero[3] = {0, 0, 0}, where_false[3] = {0, 2, 3};
  for (int reverse = 0; reverse < 2; reverse++) {
    assert_close(slope(PCSIM_OP_ABS, zero, 0, reverse), 0, 0);
    assert_close(slope(PCSIM_OP_MIN, tie, 0, reverse), 1, 0);
    assert_close(slope(PCSIM_OP_MIN, tie, 1, reverse), 0, 0);
    assert_close(slope(PCSIM_OP_MAX, tie, 0, reverse), 1, 0);
    assert_close(slope(PCSIM_OP_MAX, tie, 1, reverse), 0, 0);
    assert_close(slope(PCSIM_OP_SIGN, zero, 0, reverse), 0, 0);
    assert_close(slope(PCSIM_OP_STEP, zero, 0, reverse), 0, 0);
    assert_close(slope(PCSIM_OP_FLOOR, zero, 0, reverse), 0, 0);
    assert_close(slope(PCSIM_OP_WHERE, where_false, 0, reverse), 0, 0);
    assert_close(slope(PCSIM_OP_WHERE, where_false, 1, reverse), 0, 0);
    assert_close(slope(PCSIM_OP_WHERE, where_false, 2, reverse), 1, 0);
    assert_true(isinf(slope(PCSIM_OP_SQRT, zero, 0, reverse)));
    assert_true(isinf(slope(PCSIM_OP_LOG, zero, 0, reverse)));
  }
}

/** Forward, the branch that where does not take stays out, infinite or not. */
static void test_branch_not_taken(void **state) {
  (void)state;
  pcsim_program *p = NULL, *jet = NULL;
  assert_ok(pcsim_program_create(&p));
  const pcsim_value x = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), 1);
  const pcsim_value zero = pcsim_build_constant(p, 0), positive = pcsim_build_binary(p, PCSIM_OP_LT, zero, x);
  const pcsim_value in[3] = {positive, pcsim_build_unary(p, PCSIM_OP_SQRT, x), x};
  pcsim_build_output(p, "y", pcsim_build_op(p, PCSIM_OP_WHERE, in, 3));
  assert_ok(pcsim_transform_jet(p, "x", 3, 1, &jet));
  interpreter it;
  const double at = 0, one = 1;
  interpret_begin(&it, jet);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "x", &at);
  interpret_bind(&it, "v_0", &one);
  interpret_run(&it);
  assert_close(interpret_output(&it, "y_0_1")[0], 1, 0);
  assert_close(interpret_output(&it, "y_0_2")[0], 0, 0);
  assert_close(interpret_output(&it, "y_0_3")[0], 0, 0);
  interpret_end(&it);
  pcsim_program_destroy(&jet);
  pcsim_program_destroy(&p);
}

/** Gradient of the sum of output 0 by "coordinates" [n], the tangent along a direction, and the gradient's
 * own cotangent, which must be finite. */
static void expect_gradient(const char *text, const double *x, int n, const double *expected) {
  static const char *const xy[] = {"x", "y"};
  const char *const wrt = "coordinates";
  const double one = 1;
  pcsim_program *p, *reverse, *twice, *forward;
  assert_ok(
      pcsim_lower(&text, 1, &(pcsim_lowering){n, xy, 0, NULL, 0, NULL, NULL, 0, NULL, 0}, &p, NULL, NULL));
  assert_ok(pcsim_transform_vjp(p, &wrt, 1, &reverse));
  assert_ok(pcsim_transform_jvp(p, &wrt, 1, &forward));
  assert_ok(pcsim_transform_vjp(reverse, &wrt, 1, &twice));
  interpreter it;
  double v[2] = {0.7, -1.3}, b[2], slope = 0;
  interpret_begin(&it, reverse);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "coordinates", x);
  interpret_bind(&it, "b_0", &one);
  interpret_run(&it);
  memcpy(b, interpret_output(&it, "b_coordinates"), (size_t)n * sizeof *b);
  interpret_end(&it);
  for (int i = 0; i < n; i++) {
    if (!(fabs(b[i] - expected[i]) <= 1e-14))
      fail_msg("%s: slope %d is %.17g, not %g", text, i, b[i], expected[i]);
    slope += b[i] * v[i];
  }
  interpret_begin(&it, forward);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "coordinates", x);
  interpret_bind(&it, "d_coordinates", v);
  interpret_run(&it);
  assert_close(interpret_output(&it, "d_0")[0], slope, 1e-14);
  interpret_end(&it);
  interpret_begin(&it, twice);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "coordinates", x);
  interpret_bind(&it, "b_0", &one);
  interpret_bind(&it, "b2_0", &(double){0});
  interpret_bind(&it, "b2_b_coordinates", v);
  interpret_run(&it);
  for (int i = 0; i < n; i++) assert_true(isfinite(interpret_output(&it, "b2_coordinates")[i]));
  interpret_end(&it);
  pcsim_program_destroy(&twice);
  pcsim_program_destroy(&forward);
  pcsim_program_destroy(&reverse);
  pcsim_program_destroy(&p);
}

/** Reverse, twice and forward: what is not chosen counts as nothing, however infinite its slope is. */
static void test_masks(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double x[2], slope[2];
  } choices[] = {
      {"where(x > 0, sqrt(x), 0)", {0, 0}, {0, 0}},
      {"where(x > 0, sqrt(x), 0)", {4, 0}, {0.25, 0}},
      {"where(x <= 0, 0, 3*exp(sqrt(x)))", {0, 0}, {0, 0}},
      {"where(x > 0, x*log(x), y)", {0, 2}, {0, 1}},
      {"where(x != 0, sin(x)/x, 1)", {0, 0}, {0, 0}},
      {"where(x != 0, y/x, 2*y)", {0, 5}, {0, 2}},
      /* nested, both ways */
      {"where(y > 0, where(x > 0, sqrt(x), x), 0)", {0, 1}, {1, 0}},
      {"where(y > 0, where(x > 0, sqrt(x), x), 0)", {0, -1}, {0, 0}},
      {"where(x > 0, sqrt(where(y > 0, sqrt(y), x)), y)", {0, 0}, {0, 1}},
      {"where(x > 0, 1/sqrt(where(y > 0, y, x)), y)", {0, -1}, {0, 1}},
      /* one value in two branches that are not chosen, and in one that is */
      {"where(x > 0, sqrt(x), 0) + where(x > 1, 2*sqrt(x)*y, y)", {0, 3}, {0, 1}},
      {"where(x > 2, sqrt(x - 1), 0) + where(x > 0, 2*sqrt(x - 1), 0)", {2, 0}, {1, 0}},
      {"div(where(x > 0, sqrt(x), 0), y^2)", {0, 1}, {0, 2}},
      {"div(max(sqrt(x), 0.1), y^2)", {0, 1}, {0, 2}},
      {"max(sqrt(x), 0.1) + min(x, y)", {0, 1}, {1, 0}},
      {"where(x > 0, log(max(sqrt(x), y)), x)", {0, 0}, {1, 0}},
  };
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
    expect_gradient(choices[i].text, choices[i].x, 2, choices[i].slope);
}

/** Masks through rows, products with matrices, sums over points and index maps. */
static void test_masks_elsewhere(void **state) {
  (void)state;
  pcsim_program *p, *q;
  assert_ok(pcsim_program_create(&p));
  const pcsim_space points = pcsim_build_space(p, "points"), faces = pcsim_build_space(p, "faces");
  const pcsim_map owner = pcsim_build_index_map(p, "owner", faces, points);
  const pcsim_value x = pcsim_build_input(p, "x", points, 3), w = pcsim_build_parameter(p, "w", 2, 3);
  const pcsim_value k = pcsim_build_parameter(p, "k", 1, 1), zero = pcsim_build_constant(p, 0);
  for (int i = 0; i < 6; i++) pcsim_program_parameter(p, "w", NULL, NULL)[i] = 1 + i;
  /* sqrt(k) at k = 0, chosen nowhere; logarithms of 0 under a matrix; square roots seen from faces. */
  const pcsim_value root = pcsim_build_unary(p, PCSIM_OP_SQRT, k);
  const pcsim_value logs = pcsim_build_unary(p, PCSIM_OP_LOG, x);
  const pcsim_value layer = pcsim_build_dense(p, w, logs, PCSIM_NO_VALUE);
  const pcsim_value first = pcsim_build_slice(p, x, 0, 1);
  const pcsim_value positive = pcsim_build_binary(p, PCSIM_OP_LT, zero, first);
  const pcsim_value rows = pcsim_build_binary(p, PCSIM_OP_LT, pcsim_build_constant(p, 10), x);
  const pcsim_value far = pcsim_build_binary(p, PCSIM_OP_LT, pcsim_build_constant(p, 10), first);
  const pcsim_value joined = pcsim_build_concat(
      p, (pcsim_value[]){pcsim_build_row_sum(p, layer), pcsim_build_slice(p, logs, 1, 2)}, 2);
  const pcsim_value a = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){positive, joined, zero}, 3);
  const pcsim_value b = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){far, root, zero}, 3);
  const pcsim_value c = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){rows, logs, zero}, 3);
  const pcsim_value seen = pcsim_build_gather(p, owner, pcsim_build_unary(p, PCSIM_OP_SQRT, first));
  const pcsim_value there = pcsim_build_input(p, "there", faces, 1);
  const pcsim_value d = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){there, seen, zero}, 3);
  pcsim_build_output(p, "a", a);
  pcsim_build_output(p, "b", b);
  pcsim_build_output(p, "c", pcsim_build_row_sum(p, c));
  pcsim_build_output(p, "d", d);
  assert_ok(pcsim_transform_vjp(p, (const char *[]){"x", "w", "k"}, 3, &q));
  const double at[2][3] = {{0, 0, 0}, {1, 1, 4}}, ones[6] = {1, 1, 1, 1, 1, 1}, there_is[3] = {0, 0, 1};
  const int32_t index[3] = {0, 0, 1};
  interpreter it;
  interpret_begin(&it, q);
  interpret_points(&it, "points", 2);
  interpret_points(&it, "faces", 3);
  interpret_bind(&it, "x", at[0]);
  interpret_bind(&it, "there", there_is);
  for (int i = 0; i < 4; i++) interpret_bind(&it, (const char *[]){"b_a", "b_b", "b_c", "b_d"}[i], ones);
  interpret_bind_map(&it, "owner", (interpret_map){.index = index});
  interpret_run(&it);
  /* At the second point: columns of w over x, one over x for the rows joined, and the root seen by one face.
   */
  const double slopes[6] = {0, 0, 0, 5 + 0.5, 7 + 1, 9.0 / 4 + 0.25}, logs_there[3] = {0, 0, log(4)};
  for (int i = 0; i < 6; i++) assert_close(interpret_output(&it, "b_x")[i], slopes[i], 1e-14);
  for (int i = 0; i < 6; i++) assert_close(interpret_output(&it, "b_w")[i], logs_there[i % 3], 1e-14);
  assert_close(interpret_output(&it, "b_k")[0], 0, 0);
  interpret_end(&it);
  pcsim_program_destroy(&q);
  pcsim_program_destroy(&p);
}

/** The executor on 40 points around those of the table, with each instruction set, in both precisions. */
static void check_executor(const operator_line *line, const char *instructions, bool single) {
  enum { COUNT = 40 };
  const int n = op_num_inputs(line->op);
  double x[COUNT * 3], out[COUNT];
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < n; j++) {
      const bool exact = line->op == PCSIM_OP_EQ || line->op == PCSIM_OP_AND || line->op == PCSIM_OP_OR ||
                         line->op == PCSIM_OP_NOT || (line->op == PCSIM_OP_WHERE && j == 0);
      const double shift = exact ? 0 : 0.3 * line->reach * (i / NUM_POINTS % 5 - 2) / 2;
      x[i * n + j] = (float)(line->points[i % NUM_POINTS][j] + shift);
    }
  pcsim_program *p = build(line, x, false);
  pcsim_executor *e = NULL;
  const pcsim_executor_options options = {.single = single, .instructions = instructions};
  if (pcsim_executor_create(p, &options, &e) != PCSIM_OK) { /* not on this processor */
    pcsim_program_destroy(&p);
    return;
  }
  assert_ok(pcsim_executor_points(e, "points", COUNT));
  assert_ok(pcsim_executor_bind(e, "x", x));
  assert_ok(pcsim_executor_bind_output(e, "y", out));
  assert_ok(pcsim_executor_run(e, true));
  for (int i = 0; i < COUNT; i++)
    compare(line, single ? "single" : "double", out[i], op_value(line->op, x + i * n), single ? 0.1 : 0.01,
            single ? 2e-5 : 1e-14);
  pcsim_executor_destroy(&e);
  pcsim_program_destroy(&p);
}

static void test_executor(void **state) {
  (void)state;
  const char *sets[] = {"portable", "avx2", "avx512"};
  for (int single = 0; single < 2; single++) {
    worst = 0;
    for (int i = 0; i < NUM_LINES; i++)
      for (int s = 0; s < 3; s++) check_executor(&lines[i], sets[s], single);
    print_message("executor, %s: worst %.1e (%s)\n", single ? "single" : "double", worst, worst_at);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table_is_complete), cmocka_unit_test(test_orders),
      cmocka_unit_test(test_differences),       cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_constant_powers),   cmocka_unit_test(test_kinks),
      cmocka_unit_test(test_branch_not_taken),  cmocka_unit_test(test_masks),
      cmocka_unit_test(test_masks_elsewhere),   cmocka_unit_test(test_executor),
  };
  return interpret_balance(cmocka_run_group_tests_name("operators", tests, NULL, NULL));
}
