/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions: values against closed forms, precedence, places and words of every fault. */
#include "pcsim_test.h"

static const char *const names[] = {"x", "y", "u_x1_x1"};
static const char *const constants[] = {"H", "nu"};
static const double values[] = {0.41, 1e-3};

static double value_of(const char *text, double x, double y) {
  pcsim_expr *expr;
  double at[] = {x, y, 7};
  assert_ok(pcsim_expr_parse(text, &expr, NULL));
  assert_string_equal(pcsim_expr_text(expr), text);
  assert_ok(pcsim_expr_bind(expr, names, 3, constants, values, 2, NULL));
  double value = pcsim_expr_eval(expr, at);
  pcsim_expr_destroy(&expr);
  assert_null(expr);
  return value;
}

static void test_precedence(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"7-2-3", 2},
      {"8/4/2", 1},
      {"2^3^2", 512},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^-1", 0.5},
      {"2^-1^2", 0.5},
      {"-2^-2", -0.25},
      {"--3", 3},
      {"+-+3", -3},
      {"2*-3", -6},
      {"6/-3", -2},
      {"1-(-1)", 2},
      {"0.1%", 0.001},
      {"50%*4", 2},
      {"5 %", 0.05},
      {"2^50%", 0},
      {".5+1.", 1.5},
      {"1e3+1E-3", 1000.001},
      {"1e+2", 100},
      {"1<2", 1},
      {"1<1", 0},
      {"1>1", 0},
      {"1<=1", 1},
      {"2>=3", 0},
      {"2!=3", 1},
      {"2==3", 0},
      {"2<=1", 0},
      {"2>=2", 1},
      {"1>2", 0},
      {"1==1", 1},
      {"1!=1", 0},
      {"1+1<3 and 2>1", 1},
      {"0 or 2", 1},
      {"not 0", 1},
      {"not 1 or 1", 1},
      {"not (1 or 1)", 0},
      {"1 or 0 and 0", 1},
      {"not 1 == 2", 1},
      {"not not 5", 1},
      {"1 < 2 and not 2 < 1", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double expected = strcmp(cases[i].text, "2^50%") ? cases[i].value : sqrt(2);
    assert_close(value_of(cases[i].text, 0, 0), expected, 1e-15 * fabs(expected));
  }
}

static void test_functions(void **state) {
  (void)state;
  double x = 0.7, y = -0.3;
  const struct {
    const char *text;
    double value;
  } cases[] = {
      {"exp(x)", exp(x)},
      {"log(x)", log(x)},
      {"sin(x)", sin(x)},
      {"cos(x)", cos(x)},
      {"tan(x)", tan(x)},
      {"asin(x)", asin(x)},
      {"acos(x)", acos(x)},
      {"atan(x)", atan(x)},
      {"atan2(y, x)", atan2(y, x)},
      {"sinh(x)", sinh(x)},
      {"cosh(x)", cosh(x)},
      {"tanh(x)", tanh(x)},
      {"sqrt(x)", sqrt(x)},
      {"cbrt(y)", cbrt(y)},
      {"abs(y)", 0.3},
      {"min(x, y)", y},
      {"max(x, y, 3)", 3},
      {"min(5, 4, 3, 2, 6, 7, 8, 9)", 2},
      {"sign(y)", -1},
      {"sign(0)", 0},
      {"step(y)", 0},
      {"step(0)", 1},
      {"step(x)", 1},
      {"erf(x)", erf(x)},
      {"floor(y)", -1},
      {"mod(y, 1)", 0.7},
      {"mod(7, -4)", -1},
      {"where(x > y, 1, 2)", 1},
      {"where(x < y, 1, 2)", 2},
      {"pow(x, 3)", x * x * x},
      {"hypot(3, 4)", 5},
      {"sigmoid(0)", 0.5},
      {"sigmoid(x)", 1 / (1 + exp(-x))},
      {"sigmoid(-1000)", 0},
      {"softplus(x)", log(1 + exp(x))},
      {"softplus(-1000)", 0},
      {"softplus(1000)", 1000},
      {"gelu(x)", x * 0.5 * (1 + erf(x / sqrt(2)))},
      {"swish(y)", y / (1 + exp(-y))},
      {"4*x*(H-x)/H^2", 4 * x * (0.41 - x) / (0.41 * 0.41)},
      {"sin(pi*x)^2 + cos(pi*x)^2", 1},
      {"log(e)", 1},
      {"u_x1_x1*nu", 7e-3},
      {"cos(pi)", -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_close(value_of(cases[i].text, x, y), cases[i].value, 1e-14 * (1 + fabs(cases[i].value)));
  for (size_t i = 0; i < pcsim_expr_num_functions(); i++) {
    const pcsim_expr_function *f = pcsim_expr_get_function(i);
    assert_true(f->min_args >= 1 && f->max_args >= f->min_args && *f->help);
  }
  assert_null(pcsim_expr_get_function(1000));
}

static void test_ieee(void **state) {
  (void)state;
  assert_true(isinf(value_of("1/0", 0, 0)));
  assert_true(isnan(value_of("sqrt(-1)", 0, 0)));
  assert_true(isnan(value_of("min(1, sqrt(-1))", 0, 0)));
  assert_true(isnan(value_of("max(sqrt(-1), 1)", 0, 0)));
  assert_close(value_of("where(x == 0, 1, sin(x)/x)", 0, 0), 1, 0);
}

static void expect_parse(const char *text, size_t place, const char *words) {
  pcsim_expr *expr;
  size_t offset = 999;
  assert_status(pcsim_expr_parse(text, &expr, &offset), PCSIM_ERR_CASE);
  assert_null(expr);
  assert_string_equal(pcsim_error_message(), words);
  if (offset != place) print_error("%s: at %zu, expected %zu\n", text, offset, place);
  assert_int_equal(offset, place);
}

static void test_faults(void **state) {
  (void)state;
  expect_parse("", 0, "empty; expected a number or an expression");
  expect_parse("  ", 0, "empty; expected a number or an expression");
  expect_parse("1+", 2, "the expression ends too early; expected a number, a name or '('");
  expect_parse("1+*2", 2, "unexpected '*'; expected a number, a name or '('");
  expect_parse("(1+2", 0, "this '(' is not closed");
  expect_parse("2*(1+2", 2, "this '(' is not closed");
  expect_parse("1+2)", 3, "this ')' has no '('");
  expect_parse("(1 2)", 3, "unexpected '2'; expected an operator or ')'");
  expect_parse("x y", 2, "unexpected 'y'; expected an operator or the end");
  expect_parse("0.01x", 4, "unexpected 'x' after the number 0.01; a product is written 0.01*x");
  expect_parse("1.2.3", 3, "unexpected '.3' after the number 1.2");
  expect_parse("1e", 1, "unexpected 'e' after the number 1");
  expect_parse("0x10", 1, "unexpected 'x10' after the number 0; a product is written 0*x10");
  expect_parse("1e999", 0, "the number 1e999 is too large");
  expect_parse("2**3", 1, "unexpected '**'; a power is written ^");
  expect_parse("a && b", 2, "unexpected '&&'; write 'and'");
  expect_parse("a || b", 2, "unexpected '||'; write 'or' or abs(...)");
  expect_parse("!a", 0, "unexpected '!'; write 'not'");
  expect_parse("a = b", 2, "unexpected '='; equality is written ==");
  expect_parse("[1]", 0, "unexpected '['; write parentheses ()");
  expect_parse("1 $ 2", 2, "unexpected '$'; expected a number, a name, an operator or a parenthesis");
  expect_parse("1 \xc3\xa9", 2,
               "unexpected '\xc3\xa9'; expected a number, a name, an operator or a parenthesis");
  expect_parse("1 < 2 < 3", 6, "comparisons cannot be chained; write 'a < b and b < c'");
  expect_parse("7 % 3", 4, "unexpected '3'; expected an operator or the end");
  expect_parse("x % 3", 2, "unexpected '%'; per cent follows a number, a remainder is written mod(a, b)");
  expect_parse("sinn(x)", 0, "unknown function 'sinn'; did you mean 'sin'?");
  expect_parse("2*ln(x)", 2, "unknown function 'ln'; did you mean 'log'?");
  expect_parse("2*sin", 5, "the function 'sin' needs its argument in parentheses");
  expect_parse("sin()", 4, "'sin' takes 1 argument; found 0");
  expect_parse("sin(1, 2)", 7, "'sin' takes 1 argument; found more");
  expect_parse("atan2(1)", 7, "'atan2' takes 2 arguments; found 1");
  expect_parse("min(1)", 5, "'min' takes at least 2 arguments; found 1");
  expect_parse("min(1,2,3,4,5,6,7,8,9)", 20, "'min' takes at most 8 arguments; found more");
  expect_parse("max(1 2)", 6, "unexpected '2'; expected an operator, ',' or ')'");
  expect_parse("and", 0, "unexpected 'and'; expected a number, a name or '('");
  expect_parse("a_", 1, "'_' after 'a'; a name has no underscore, but for derivatives such as u_x");
  expect_parse(
      "_a", 0,
      "unexpected '_'; a name starts with a letter and has no underscore, but for derivatives such as u_x");
  pcsim_error_clear();
}

static void test_unknown_names(void **state) {
  (void)state;
  pcsim_expr *expr;
  size_t offset;
  assert_ok(pcsim_expr_parse("2*Hx + 1", &expr, NULL));
  assert_false(pcsim_expr_is_constant(expr, NULL));
  assert_true(isnan(pcsim_expr_eval(expr, NULL)));
  assert_status(pcsim_expr_bind(expr, names, 3, constants, values, 2, &offset), PCSIM_ERR_CASE);
  assert_int_equal(offset, 2);
  assert_string_equal(pcsim_error_message(),
                      "unknown name 'Hx'; did you mean 'x'? (known: x, y, u_x1_x1, H, nu)");
  assert_status(pcsim_expr_bind(expr, NULL, 0, NULL, NULL, 0, &offset), PCSIM_ERR_CASE);
  assert_string_equal(pcsim_error_message(),
                      "unknown name 'Hx'; no names are known here, only numbers and functions");
  /* A failed bind changes nothing: the same expression can be bound to other names. */
  static const char *const other[] = {"Hx"};
  double at = 4, value = 0;
  assert_ok(pcsim_expr_bind(expr, other, 1, NULL, NULL, 0, NULL));
  assert_close(pcsim_expr_eval(expr, &at), 9, 0);
  assert_true(pcsim_expr_uses(expr, 0));
  assert_false(pcsim_expr_uses(expr, 1));
  pcsim_expr_destroy(&expr);
  assert_ok(pcsim_expr_parse("inf", &expr, NULL));
  assert_status(pcsim_expr_bind(expr, names, 3, NULL, NULL, 0, &offset), PCSIM_ERR_CASE);
  assert_string_equal(pcsim_error_message(), "'inf' is not a number here; expected a finite number");
  pcsim_expr_destroy(&expr);
  assert_ok(pcsim_expr_parse("H^2*(1 + 2)", &expr, NULL));
  assert_ok(pcsim_expr_bind(expr, names, 3, constants, values, 2, NULL));
  assert_int_equal(pcsim_expr_root(expr)->kind, PCSIM_EXPR_NUMBER);
  assert_true(pcsim_expr_is_constant(expr, &value));
  assert_close(value, 3 * 0.41 * 0.41, 1e-16);
  pcsim_expr_destroy(&expr);
  pcsim_error_clear();
}

/* Operators of equations: parsed as calls, refused where there is nothing to differentiate, and no reserved
 * words. */
static void test_equations(void **state) {
  (void)state;
  static const char *const texts[] = {"lap(x)", "grad(x)", "div(x)",       "div(x, y)",
                                      "dt(2)",  "dn(x*y)", "vector(x, y)", "dot(x, y)"};
  pcsim_expr *expr;
  size_t offset;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char text[64];
    snprintf(text, sizeof text, "1 + %s", texts[i]);
    assert_ok(pcsim_expr_parse(text, &expr, NULL));
    const pcsim_expr_node *call = pcsim_expr_root(expr)->args[1];
    assert_int_equal(call->kind, PCSIM_EXPR_CALL);
    assert_true(pcsim_expr_get_function((size_t)call->index)->differential);
    assert_false(pcsim_expr_is_constant(expr, NULL));
    offset = 99;
    assert_status(pcsim_expr_bind(expr, names, 3, NULL, NULL, 0, &offset), PCSIM_ERR_CASE);
    assert_int_equal(offset, 4);
    assert_non_null(strstr(pcsim_error_message(), "has a meaning in equations only"));
    assert_true(isnan(pcsim_expr_eval(expr, NULL)));
    pcsim_expr_destroy(&expr);
  }
  expect_parse("lap(x, y)", 7, "'lap' takes 1 argument; found more");
  expect_parse("lapp(x)", 0, "unknown function 'lapp'; did you mean 'lap'?");
  assert_ok(pcsim_expr_check_name("dt"));
  static const char *const own[] = {"dt"};
  double at = 0.5;
  assert_ok(pcsim_expr_parse("2*dt", &expr, NULL));
  assert_ok(pcsim_expr_bind(expr, own, 1, NULL, NULL, 0, NULL));
  assert_close(pcsim_expr_eval(expr, &at), 1, 0);
  pcsim_expr_destroy(&expr);
  pcsim_error_clear();
}

/* The tree as others read it: kinds, columns, places; only constant branches are folded. */
static void test_tree(void **state) {
  (void)state;
  pcsim_expr *expr;
  assert_ok(pcsim_expr_parse(" x*sin( 2*pi ) - max(x, y)", &expr, NULL));
  assert_ok(pcsim_expr_bind(expr, names, 3, NULL, NULL, 0, NULL));
  const pcsim_expr_node *root = pcsim_expr_root(expr);
  assert_int_equal(root->kind, PCSIM_EXPR_SUB);
  assert_int_equal(root->num_args, 2);
  assert_int_equal(root->column, 1);
  const pcsim_expr_node *product = root->args[0], *call = root->args[1];
  assert_int_equal(product->kind, PCSIM_EXPR_MUL);
  assert_int_equal(product->args[0]->kind, PCSIM_EXPR_NAME);
  assert_int_equal(product->args[0]->index, 0);
  assert_int_equal(product->args[1]->kind, PCSIM_EXPR_NUMBER);
  assert_int_equal(product->args[1]->column, 3);
  assert_int_equal(call->kind, PCSIM_EXPR_CALL);
  assert_string_equal(call->name, "max");
  assert_string_equal(pcsim_expr_get_function((size_t)call->index)->name, "max");
  assert_int_equal(call->column, 17);
  assert_int_equal(call->args[1]->column, 24);
  pcsim_expr_destroy(&expr);
}

static void test_bounds(void **state) {
  (void)state;
  pcsim_expr *expr;
  size_t n = 70000;
  char *text = malloc(n + 1);
  memset(text, '(', n);
  text[n] = '\0';
  assert_status(pcsim_expr_parse(text, &expr, NULL), PCSIM_ERR_CASE);
  text[60000] = '\0';
  assert_status(pcsim_expr_parse(text, &expr, NULL), PCSIM_ERR_CASE);
  assert_non_null(strstr(pcsim_error_message(), "levels inside each other"));
  for (size_t i = 0; i < 60000; i++) text[i] = i % 2 ? '+' : '1';
  text[59999] = '\0';
  assert_status(pcsim_expr_parse(text, &expr, NULL), PCSIM_ERR_CASE);
  assert_non_null(strstr(pcsim_error_message(), "chained more than"));
  text[1001] = '\0'; /* 501 terms */
  assert_ok(pcsim_expr_parse(text, &expr, NULL));
  assert_close(pcsim_expr_eval(expr, NULL), 501, 0);
  pcsim_expr_destroy(&expr);
  memset(text, '-', 60000);
  assert_status(pcsim_expr_parse(text, &expr, NULL), PCSIM_ERR_CASE);
  for (size_t i = 0; i < 60000; i++) text[i] = "not "[i % 4];
  assert_status(pcsim_expr_parse(text, &expr, NULL), PCSIM_ERR_CASE);
  memset(text, '1', 60000);
  assert_status(pcsim_expr_parse(text, &expr, NULL), PCSIM_ERR_CASE);
  memset(text, 'a', 60000);
  assert_status(pcsim_expr_parse(text, &expr, NULL), PCSIM_ERR_CASE);
  free(text);
  pcsim_error_clear();
}

static void test_names(void **state) {
  (void)state;
  assert_ok(pcsim_expr_check_name("nu"));
  assert_ok(pcsim_expr_check_name("U2"));
  static const char *const wrong[] = {"",  "2a",  "a_b",  "a b", "sin",     "pi",
                                      "e", "and", "true", "a-b", "\xc3\xa9"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_status(pcsim_expr_check_name(wrong[i]), PCSIM_ERR_CASE);
  pcsim_error_clear();
}

static void test_nearest(void **state) {
  (void)state;
  static const char *const known[] = {"viscosity", "velocity", "density", "u", "no-slip"};
  assert_string_equal(pcsim_nearest("viscocity", known, 5), "viscosity");
  assert_string_equal(pcsim_nearest("VISCOSITY", known, 5), "viscosity");
  assert_string_equal(pcsim_nearest("velcoity", known, 5), "velocity"); /* one swap */
  assert_string_equal(pcsim_nearest("noslip", known, 5), "no-slip");
  assert_string_equal(pcsim_nearest("U", known, 5), "u");
  assert_null(pcsim_nearest("q", known, 5));
  assert_null(pcsim_nearest("pressure", known, 5));
  assert_null(pcsim_nearest("", known, 5));
  assert_null(pcsim_nearest("viscosity", NULL, 0));
  char word[500];
  memset(word, 'a', 499);
  word[499] = '\0';
  assert_null(pcsim_nearest(word, known, 5));
}

static void test_balance(void **state) {
  (void)state;
  size_t before = pcsim_memory_used();
  value_of("sin(x)*max(x, 2, 3)^2 + where(x<1 and not y>2, H, nu)", 1, 2);
  expect_parse("sin(x)*max(x, 2, 3)^2 + where(x<1, H", 29, "this '(' is not closed");
  assert_int_equal(pcsim_memory_used(), before);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_precedence), cmocka_unit_test(test_functions),     cmocka_unit_test(test_ieee),
      cmocka_unit_test(test_faults),     cmocka_unit_test(test_unknown_names), cmocka_unit_test(test_tree),
      cmocka_unit_test(test_bounds),     cmocka_unit_test(test_names),         cmocka_unit_test(test_nearest),
      cmocka_unit_test(test_balance),    cmocka_unit_test(test_equations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Without MPI, whose own leaks would hide ours from the sanitizer. */
int main(void) { return run() != 0; }
