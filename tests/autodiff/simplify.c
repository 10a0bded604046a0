/* SPDX-License-Identifier: BSD-2-Clause */
/* Building and its faults, user operators, simplification, cuts, printing, counting. */
#include "interpret.h"

static pcsim_value op2(pcsim_program *p, pcsim_op op, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, op, a, b);
}

static double evaluate(const pcsim_program *p, const char *output, double x) {
  interpreter it;
  interpret_begin(&it, p);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "x", &x);
  interpret_run(&it);
  const double value = interpret_output(&it, output)[0];
  interpret_end(&it);
  return value;
}

static pcsim_program *start(pcsim_value *x) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_create(&p));
  *x = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), 1);
  return p;
}

/** Number of values that compute something. */
static int computed(const pcsim_program *p) {
  int count = 0;
  for (int v = 0; v < p->num_nodes; v++) count += p->nodes[v].num_inputs > 0;
  return count;
}

static void test_rules(void **state) {
  (void)state;
  pcsim_value x;
  pcsim_program *p = start(&x);
  const pcsim_value zero = pcsim_build_constant(p, 0), one = pcsim_build_constant(p, 1),
                    two = pcsim_build_constant(p, 2);
  const pcsim_value a = op2(p, PCSIM_OP_ADD, op2(p, PCSIM_OP_MUL, x, one), zero);                  /* x */
  const pcsim_value b = pcsim_build_unary(p, PCSIM_OP_NEG, pcsim_build_unary(p, PCSIM_OP_NEG, x)); /* x */
  const pcsim_value c =
      op2(p, PCSIM_OP_MUL, op2(p, PCSIM_OP_SUB, two, two), pcsim_build_unary(p, PCSIM_OP_EXP, x));
  const pcsim_value d = op2(p, PCSIM_OP_POW, x, pcsim_build_constant(p, 3)); /* x x x */
  const pcsim_value e = op2(p, PCSIM_OP_ADD, op2(p, PCSIM_OP_MUL, a, d), op2(p, PCSIM_OP_MUL, d, b));
  pcsim_build_unary(p, PCSIM_OP_SIN, x); /* dead */
  pcsim_build_output(p, "y", op2(p, PCSIM_OP_ADD, e, c));
  pcsim_build_output(p, "nothing", c);
  const double before = evaluate(p, "y", 1.5);
  assert_ok(pcsim_program_simplify(p));
  /* x^2, x^3, x x^3, twice it; and the zero spread over the points. */
  assert_int_equal(computed(p), 5);
  assert_close(evaluate(p, "y", 1.5), before, 0);
  assert_close(evaluate(p, "nothing", 1.5), 0, 0);
  assert_int_equal(graph_node(p, graph_find_output(p, "nothing"))->space, 0);
  const int nodes = p->num_nodes;
  assert_ok(pcsim_program_simplify(p));
  assert_int_equal(p->num_nodes, nodes);
  pcsim_program_destroy(&p);
}

/** Every whole power from -16 to 16, and what is no whole power stays one. */
static void test_powers(void **state) {
  (void)state;
  for (int n = -18; n <= 18; n++) {
    pcsim_value x;
    pcsim_program *p = start(&x);
    pcsim_build_output(p, "y", op2(p, PCSIM_OP_POW, x, pcsim_build_constant(p, n)));
    assert_ok(pcsim_program_simplify(p));
    int powers = 0;
    for (int v = 0; v < p->num_nodes; v++)
      powers += p->nodes[v].kind == NODE_OP && p->nodes[v].op == PCSIM_OP_POW;
    assert_int_equal(powers, n < -16 || n > 16);
    assert_close(evaluate(p, "y", -1.3) / pow(-1.3, n), 1, 1e-15);
    pcsim_program_destroy(&p);
  }
}

/** What must not be simplified away: infinities, nan, rounding. */
static void test_ieee(void **state) {
  (void)state;
  pcsim_value x;
  pcsim_program *p = start(&x);
  const pcsim_value big = pcsim_build_constant(p, 1e16), three = pcsim_build_constant(p, 3);
  pcsim_build_output(p, "difference", op2(p, PCSIM_OP_SUB, x, x));
  pcsim_build_output(p, "ratio", op2(p, PCSIM_OP_DIV, x, x));
  pcsim_build_output(p, "sum", op2(p, PCSIM_OP_SUB, op2(p, PCSIM_OP_ADD, x, big), big));
  pcsim_build_output(p, "third", op2(p, PCSIM_OP_DIV, x, three));
  pcsim_build_output(p, "infinite",
                     op2(p, PCSIM_OP_DIV, pcsim_build_constant(p, 1), pcsim_build_constant(p, 0)));
  pcsim_build_output(p, "quarter", op2(p, PCSIM_OP_DIV, x, pcsim_build_constant(p, 4)));
  assert_ok(pcsim_program_simplify(p));
  assert_true(isnan(evaluate(p, "difference", INFINITY)));
  assert_true(isnan(evaluate(p, "ratio", 0)));
  assert_close(evaluate(p, "sum", 0.5), 0, 0);
  assert_close(evaluate(p, "third", 0.1), 0.1 / 3, 0);
  assert_true(isinf(evaluate(p, "infinite", 0)));
  assert_close(evaluate(p, "quarter", 0.1), 0.1 / 4, 0);
  pcsim_program_destroy(&p);
}

/* ------------------------------------------------------------ user operators */

/** Softsign, x / (1 + |x|), scaled by the context. */
static void softsign_value(void *context, int64_t n, const double *const *in, double *out) {
  const double scale = *(const double *)context;
  for (int64_t i = 0; i < n; i++) out[i] = scale * in[0][i] / (1 + fabs(in[0][i]));
}
static pcsim_value softsign_derivative(void *context, pcsim_program *p, int i, const pcsim_value *in,
                                       pcsim_value out) {
  (void)i;
  (void)out;
  const pcsim_value one = pcsim_build_constant(p, 1),
                    scale = pcsim_build_constant(p, *(const double *)context);
  const pcsim_value below = op2(p, PCSIM_OP_ADD, one, pcsim_build_unary(p, PCSIM_OP_ABS, in[0]));
  return op2(p, PCSIM_OP_DIV, scale, op2(p, PCSIM_OP_MUL, below, below));
}

static void test_user_operator(void **state) {
  (void)state;
  double scale = 1.5;
  pcsim_value x;
  pcsim_program *p = start(&x), *jet = NULL, *g = NULL, *h = NULL;
  const int op =
      pcsim_program_add_op(p, &(pcsim_user_op){"softsign", 1, softsign_value, softsign_derivative, &scale});
  pcsim_build_output(p, "y", pcsim_build_user(p, op, &x));
  const double at = 0.7, one = 1;
  assert_ok(pcsim_transform_jet(p, "x", 8, 1, &jet));
  interpreter it;
  interpret_begin(&it, jet);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "x", &at);
  interpret_bind(&it, "v_0", &one);
  interpret_run(&it);
  /* x/(1 + x) = 1 - 1/(1 + x): coefficients -(-1)^k / (1 + x)^(k+1) */
  for (int k = 1; k <= 8; k++) {
    char name[16];
    snprintf(name, sizeof name, "y_0_%d", k);
    const double expected = scale * (k % 2 ? 1 : -1) / pow(1 + at, k + 1);
    assert_close(interpret_output(&it, name)[0] / expected, 1, 1e-14);
  }
  interpret_end(&it);
  const char *wrt[] = {"x"};
  assert_ok(pcsim_transform_vjp(p, wrt, 1, &g));
  assert_ok(pcsim_transform_vjp(g, wrt, 1, &h));
  interpret_begin(&it, h);
  interpret_points(&it, "points", 1);
  const double zero = 0;
  interpret_bind(&it, "x", &at);
  interpret_bind(&it, "b_y", &one);
  interpret_bind(&it, "b2_y", &zero);
  interpret_bind(&it, "b2_b_x", &one);
  interpret_run(&it);
  assert_close(interpret_output(&it, "b2_x")[0], -2 * scale / pow(1 + at, 3), 1e-14);
  interpret_end(&it);
  pcsim_program_destroy(&h);
  pcsim_program_destroy(&g);
  pcsim_program_destroy(&jet);
  pcsim_program_destroy(&p);
  /* Without a rule every transform says so. */
  p = start(&x);
  const int bare = pcsim_program_add_op(p, &(pcsim_user_op){"bare", 1, softsign_value, NULL, &scale});
  pcsim_build_output(p, "y", pcsim_build_user(p, bare, &x));
  assert_status(pcsim_transform_vjp(p, wrt, 1, &g), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "'bare' has no derivative rule"));
  assert_status(pcsim_transform_jet(p, "x", 2, 1, &g), PCSIM_ERR_ARG);
  pcsim_program_destroy(&p);
}

/* ------------------------------------------------------------------- faults */

static void expect_fault(pcsim_program **p, const char *text) {
  assert_status(pcsim_program_status(*p), PCSIM_ERR_ARG);
  if (!strstr(pcsim_error_message(), text)) fail_msg("'%s' does not say '%s'", pcsim_error_message(), text);
  pcsim_program *q = NULL;
  assert_status(pcsim_program_simplify(*p), PCSIM_ERR_ARG);
  assert_status(pcsim_transform_jvp(*p, (const char *[]){"x"}, 1, &q), PCSIM_ERR_ARG);
  assert_null(q);
  pcsim_program_destroy(p);
}

/** Sums of joined values with zeros, as the cotangents of slices are: joined of what is there, and no number
 * changes. Without zeros they stay sums of all rows. */
static void test_joined(void **state) {
  (void)state;
  enum { ROWS = 5 };
  pcsim_value x;
  pcsim_program *p = start(&x);
  const pcsim_value zero = pcsim_build_constant(p, 0), y = pcsim_build_unary(p, PCSIM_OP_EXP, x);
  const pcsim_value two_zeros = pcsim_build_constants(p, 2, (double[]){0, 0});
  const pcsim_value pair = pcsim_build_concat(p, (pcsim_value[]){x, y}, 2),
                    three = pcsim_build_concat(p, (pcsim_value[]){y, x, y}, 3);
  const pcsim_value a = pcsim_build_concat(p, (pcsim_value[]){pair, three}, 2);
  const pcsim_value b = pcsim_build_concat(p, (pcsim_value[]){zero, three, zero}, 3);
  const pcsim_value c = pcsim_build_concat(p, (pcsim_value[]){y, two_zeros, pair}, 3);
  const pcsim_value d = pcsim_build_concat(p, (pcsim_value[]){two_zeros, y, two_zeros}, 3);
  pcsim_build_output(p, "a + b", op2(p, PCSIM_OP_ADD, a, b));
  pcsim_build_output(p, "b - c", op2(p, PCSIM_OP_SUB, b, c));
  pcsim_build_output(p, "d - c", op2(p, PCSIM_OP_SUB, d, c));
  pcsim_build_output(p, "a - a",
                     op2(p, PCSIM_OP_ADD, a, pcsim_build_concat(p, (pcsim_value[]){three, pair}, 2)));
  double before[4][ROWS];
  const double at = 0.3;
  for (int simplified = 0; simplified < 2; simplified++) {
    interpreter it;
    interpret_begin(&it, p);
    interpret_points(&it, "points", 1);
    interpret_bind(&it, "x", &at);
    interpret_run(&it);
    for (int i = 0; i < 4; i++)
      for (int r = 0; r < ROWS; r++) {
        const double value = interpret_output(&it, p->outputs[i].name)[r];
        if (simplified) assert_close(value, before[i][r], 0);
        else before[i][r] = value;
      }
    interpret_end(&it);
    if (!simplified) assert_ok(pcsim_program_simplify(p));
  }
  for (int i = 0; i < 4; i++)
    assert_int_equal(graph_node(p, p->outputs[i].value)->kind, i < 3 ? NODE_CONCAT : NODE_OP);
  int sums = 0; /* x + ..., y + ..., twice y in three places; of d - c a change of sign */
  for (int v = 0; v < p->num_nodes; v++) sums += p->nodes[v].kind == NODE_OP && p->nodes[v].rows == ROWS;
  assert_int_equal(sums, 1);
  pcsim_program_destroy(&p);
}

/** A tangent and a cotangent cut at a value of the program that they are made from: the same numbers, and
 * what the value was made of is gone. */
static void test_cut(void **state) {
  (void)state;
  for (int back = 0; back < 2; back++) {
    pcsim_value x;
    pcsim_program *p = start(&x), *d = NULL;
    const pcsim_value inner = pcsim_build_unary(p, PCSIM_OP_EXP, pcsim_build_unary(p, PCSIM_OP_SIN, x));
    pcsim_build_output(p, "y", op2(p, PCSIM_OP_MUL, x, op2(p, PCSIM_OP_MUL, inner, inner)));
    pcsim_build_output(p, "inner", back ? pcsim_build_frozen(p, inner) : inner);
    const char *wrt = "x", *keep[] = {back ? "b_x" : "d_y", "inner"};
    assert_ok(back ? pcsim_transform_vjp(p, &wrt, 1, &d) : pcsim_transform_jvp(p, &wrt, 1, &d));
    const double at = 0.7, one = 1, value = exp(sin(at));
    double result[2];
    for (int cut = 0; cut < 2; cut++) {
      if (cut) {
        assert_ok(pcsim_program_keep(d, keep, 2));
        assert_ok(pcsim_program_cut(d, keep + 1, 1));
      }
      interpreter it;
      interpret_begin(&it, d);
      interpret_points(&it, "points", 1);
      interpret_bind(&it, "x", &at);
      interpret_bind(&it, back ? "b_y" : "d_x", &one);
      if (back) interpret_bind(&it, "b_inner", &one); /* no seed: it is frozen */
      if (cut) interpret_bind(&it, "inner", &value);
      interpret_run(&it);
      result[cut] = interpret_output(&it, keep[0])[0];
      interpret_end(&it);
    }
    assert_close(result[1], result[0], 1e-15);
    assert_close(result[1], value * value * (1 + 2 * at * cos(at)), 1e-14);
    for (int v = 0; v < d->num_nodes; v++)
      assert_false(d->nodes[v].kind == NODE_OP && d->nodes[v].op == PCSIM_OP_EXP);
    assert_status(pcsim_program_cut(d, (const char *[]){"inner"}, 1), PCSIM_ERR_ARG);
    pcsim_program_destroy(&d);
    pcsim_program_destroy(&p);
  }
}

static void test_faults(void **state) {
  (void)state;
  pcsim_value x, other;
  pcsim_program *p = start(&x);
  other = pcsim_build_input(p, "other", pcsim_build_space(p, "faces"), 1);
  const pcsim_value sum = op2(p, PCSIM_OP_ADD, x, other);
  assert_int_equal(sum, PCSIM_NO_VALUE);
  pcsim_build_output(p, "y", op2(p, PCSIM_OP_MUL, sum, x)); /* silent: the first fault counts */
  expect_fault(&p, "values on 'points' and on 'faces' meet");
  p = start(&x);
  pcsim_build_dense(p, pcsim_build_parameter(p, "W", 3, 2), x, PCSIM_NO_VALUE);
  expect_fault(&p, "weights 3 x 2 act on 1 x 1 numbers, expected 2 x 1");
  p = start(&x);
  pcsim_build_input(p, "x", 0, 1);
  expect_fault(&p, "'x' is there already");
  p = start(&x);
  pcsim_build_slice(p, x, 1, 1);
  expect_fault(&p, "1 rows from row 1 of a value with 1");
  p = start(&x);
  pcsim_build_sum(p, pcsim_build_constant(p, 2));
  expect_fault(&p, "lives on no space");
  p = start(&x);
  pcsim_build_unary(p, PCSIM_OP_ADD, x);
  expect_fault(&p, "add takes 2 inputs, 1 given");
  p = start(&x);
  const pcsim_map map = pcsim_build_index_map(p, "owner", pcsim_build_space(p, "faces"), 0);
  pcsim_build_scatter_add(p, map, x);
  expect_fault(&p, "map 'owner' needs a value on 'faces', this one lives on 'points'");
  p = start(&x);
  pcsim_program *q = NULL;
  assert_status(pcsim_transform_jet(p, "x", 0, 1, &q), PCSIM_ERR_ARG);
  assert_status(pcsim_transform_jet(p, "x", 1, 0, &q), PCSIM_ERR_ARG);
  pcsim_program_destroy(&p);
}

static void test_print(void **state) {
  (void)state;
  pcsim_value x;
  pcsim_program *p = start(&x);
  char *text = NULL;
  const pcsim_value w = pcsim_build_parameter(p, "W", 3, 1), y = pcsim_build_dense(p, w, x, PCSIM_NO_VALUE);
  const pcsim_value quarter = pcsim_build_constant(p, 0.25), t = pcsim_build_unary(p, PCSIM_OP_TANH, y);
  pcsim_build_output(p, "y", op2(p, PCSIM_OP_MUL, quarter, t));
  assert_ok(pcsim_program_print(p, &text));
  assert_string_equal(text, "%0 = input \"x\" : 1 on points\n"
                            "%1 = parameter \"W\" : 3\n"
                            "%2 = dense %1 %0 : 3 on points\n"
                            "%3 = constant 0.25\n"
                            "%4 = tanh %2 : 3 on points\n"
                            "%5 = mul %3 %4 : 3 on points\n"
                            "output \"y\" = %5\n");
  pcsim_free(&text);
  const pcsim_program_cost cost = pcsim_program_count(p);
  assert_int_equal(cost.nodes, 6);
  assert_int_equal(cost.stages, 1);
  assert_int_equal(cost.temporaries, 2);
  assert_close(cost.operations, 6 + 3 + 3, 0);
  assert_close(cost.bytes, 8 + 24, 0);
  pcsim_program_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rules),         cmocka_unit_test(test_powers), cmocka_unit_test(test_ieee),
      cmocka_unit_test(test_user_operator), cmocka_unit_test(test_faults), cmocka_unit_test(test_print),
      cmocka_unit_test(test_joined),        cmocka_unit_test(test_cut),
  };
  return interpret_balance(cmocka_run_group_tests_name("simplification", tests, NULL, NULL));
}
