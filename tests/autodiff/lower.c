/* SPDX-License-Identifier: BSD-2-Clause */
/* Lowering: values against closed forms of exponentials, whose every derivative is known; the inputs that are
 * asked for; places and words of every fault. */
#include "interpret.h"

static const char *const coordinates[] = {"x", "y", "t"};
static const char *const unknowns[] = {"u", "v"};
static const char *const parameters[] = {"k", "nu"};
static const double values[] = {1.7, 0.03};
static const pcsim_lowering line_without_tables = {1, coordinates, 1, unknowns, 0, NULL, NULL, 0, NULL, 0};
static const pcsim_lowering plain = {3, coordinates, 2, unknowns, 2, parameters, values, 0, NULL, 0};

static const double point[] = {0.3, -0.4, 0.7}, normal[] = {0.6, 0.8, 0};
/* u = exp(a.x), v = exp(b.x). */
static const double rates[2][3] = {{0.9, -0.5, 0.4}, {0.3, 0.8, -1.1}};

static double exponential(int unknown, const int *orders, int n) {
  double exponent = 0, factor = 1;
  for (int i = 0; i < n; i++) {
    exponent += rates[unknown][i] * point[i];
    for (int k = 0; k < orders[i]; k++) factor *= rates[unknown][i];
  }
  return factor * exp(exponent);
}

/** Value of an input at the point. */
static double input_value(const pcsim_lowering *names, const char *name) {
  int unknown, orders[8];
  if (!strncmp(name, "n.", 2)) {
    for (int i = 0; i < names->num_coordinates; i++)
      if (!strcmp(names->coordinates[i], name + 2)) return normal[i];
    fail();
  }
  assert_ok(pcsim_lowering_derivative(names, name, &unknown, orders));
  return exponential(unknown, orders, names->num_coordinates);
}

/** Output `output` at the point: the few kinds that lowering makes. */
static double evaluate(const pcsim_program *program, const pcsim_lowering *names, int output) {
  double *value = calloc((size_t)program->num_nodes, sizeof *value);
  for (int v = 0; v < program->num_nodes; v++) {
    const node *n = &program->nodes[v];
    double in[3];
    for (int i = 0; i < n->num_inputs; i++) {
      assert_true(n->inputs[i] >= 0 && n->inputs[i] < v);
      in[i] = value[n->inputs[i]];
    }
    switch (n->kind) {
    case NODE_CONSTANT:
    case NODE_PARAMETER:
      value[v] = n->numbers[0];
      break;
    case NODE_INPUT:
      if (!strcmp(program->names[n->index], "coordinates")) value[v] = point[0];
      else value[v] = input_value(names, program->names[n->index]);
      break;
    case NODE_SLICE:
      value[v] = point[n->first];
      break;
    case NODE_OP:
      value[v] = op_value(n->op, in);
      break;
    case NODE_BROADCAST:
      value[v] = in[0];
      break;
    default:
      fail();
    }
  }
  double result = value[program->outputs[output].value];
  free(value);
  return result;
}

/** Names of the inputs but "coordinates", in their order. */
static void list_inputs(const pcsim_program *program, char *out, size_t size) {
  out[0] = '\0';
  for (int v = 0; v < program->num_nodes; v++)
    if (program->nodes[v].kind == NODE_INPUT &&
        strcmp(program->names[program->nodes[v].index], "coordinates") != 0)
      snprintf(out + strlen(out), size - strlen(out), "%s%s", *out ? " " : "",
               program->names[program->nodes[v].index]);
}

static void expect_lowered(const pcsim_lowering *names, const char *text, double expected,
                           const char *inputs) {
  pcsim_program *program;
  char found[512];
  size_t offset = 0;
  pcsim_status status = pcsim_lower(&text, 1, names, &program, NULL, &offset);
  if (status != PCSIM_OK) print_error("%s:%zu: %s\n", text, offset, pcsim_error_message());
  assert_int_equal(status, PCSIM_OK);
  list_inputs(program, found, sizeof found);
  if (inputs && strcmp(found, inputs) != 0)
    print_error("%s: inputs '%s', expected '%s'\n", text, found, inputs);
  if (inputs) assert_string_equal(found, inputs);
  double value = evaluate(program, names, 0);
  if (!(fabs(value - expected) <= 1e-13 * (1 + fabs(expected)))) print_error("%s:\n", text);
  assert_close(value, expected, 1e-13 * (1 + fabs(expected)));
  pcsim_program_destroy(&program);
}

static double u_of(int i, int j, int k) { return exponential(0, (const int[]){i, j, k}, 3); }
static double v_of(int i, int j, int k) { return exponential(1, (const int[]){i, j, k}, 3); }

static void test_suffixes(void **state) {
  (void)state;
  expect_lowered(&plain, "u_t + u*u_x - nu*(u_xx + u_yy)",
                 u_of(0, 0, 1) + u_of(0, 0, 0) * u_of(1, 0, 0) - 0.03 * (u_of(2, 0, 0) + u_of(0, 2, 0)),
                 "u u_x u_t u_xx u_yy");
  expect_lowered(&plain, "u_xxxx", u_of(4, 0, 0), "u_xxxx");
  expect_lowered(&plain, "u_yx + u_xy", 2 * u_of(1, 1, 0), "u_xy");
  expect_lowered(&plain, "u_tyx", u_of(1, 1, 1), "u_xyt");
  expect_lowered(&plain, "u_y_x", u_of(1, 1, 0), "u_xy");
  expect_lowered(&plain, "v - u + v_x + u_x", v_of(0, 0, 0) - u_of(0, 0, 0) + v_of(1, 0, 0) + u_of(1, 0, 0),
                 "u u_x v v_x");
}

static void test_operators(void **state) {
  (void)state;
  const double u = u_of(0, 0, 0), v = v_of(0, 0, 0), a = 0.9, b = -0.5, c = 0.4, d = 0.3, e = 0.8, f = -1.1;
  const double x = point[0], y = point[1], t = point[2], k = 1.7;
  expect_lowered(&plain, "lap(u)", (a * a + b * b) * u, "u_xx u_yy");
  expect_lowered(&plain, "lap(lap(u))", (a * a + b * b) * (a * a + b * b) * u, "u_xxxx u_xxyy u_yyyy");
  expect_lowered(&plain, "lap(u^2)", 4 * (a * a + b * b) * u * u, "u u_x u_y u_xx u_yy");
  expect_lowered(&plain, "lap(u^3)", 9 * (a * a + b * b) * u * u * u, "u u_x u_y u_xx u_yy");
  expect_lowered(&plain, "lap(lap(u*v))", pow(pow(a + d, 2) + pow(b + e, 2), 2) * u * v, NULL);
  expect_lowered(&plain, "dt(u*v)", (c + f) * u * v, "u u_t v v_t");
  expect_lowered(&plain, "dt(dt(u))", c * c * u, "u_tt");
  expect_lowered(&plain, "dt(x*y)", 0, "");
  expect_lowered(&plain, "dt(t^2*u)", 2 * t * u + t * t * c * u, NULL);
  expect_lowered(&plain, "div(grad(u))", (a * a + b * b) * u, "u_xx u_yy");
  expect_lowered(&plain, "div(k*grad(u))", k * (a * a + b * b) * u, NULL);
  expect_lowered(&plain, "div((1 + u^2)*grad(u))", (a * a + b * b) * (u + 3 * u * u * u),
                 "u u_x u_y u_xx u_yy");
  expect_lowered(&plain, "div(-grad(u)/x + 2*grad(v))",
                 -(a * a + b * b) * u / x + a * u / (x * x) + 2 * (d * d + e * e) * v, NULL);
  expect_lowered(&plain, "div(u*v, x*v)", (a + d) * u * v + x * e * v, NULL);
  expect_lowered(&plain, "div(vector(u, v)*u - k*grad(u))",
                 2 * a * u * u + (b + e) * u * v - k * (a * a + b * b) * u, NULL);
  expect_lowered(&plain, "dot(vector(u, v), grad(v))", u * d * v + v * e * v, "u v v_x v_y");
  expect_lowered(&plain, "dot(grad(u), grad(u))", (a * a + b * b) * u * u, "u_x u_y");
  expect_lowered(&plain, "dn(u)", 0.6 * a * u + 0.8 * b * u, "u_x u_y n.x n.y");
  expect_lowered(&plain, "-k*dn(u*v) - (u - v)", -k * (0.6 * (a + d) + 0.8 * (b + e)) * u * v - (u - v),
                 NULL);
  expect_lowered(&plain, "dt(dn(u))", 0.6 * a * c * u + 0.8 * b * c * u, "u_xt u_yt n.x n.y");
  expect_lowered(&plain, "dn(x)", 0.6, "n.x");
  expect_lowered(&plain, "div(where(x > 0, grad(u), vector(u, u)))", (a * a + b * b) * u, NULL);
  expect_lowered(&plain, "lap(x^2*y^3)", 2 * y * y * y + 6 * x * x * y, "");
}

/* Every function and operator: its value, and its derivative by x inside dn-free chain rules against central
 * differences of the expression itself. */
static double plain_value(const char *text, double x, double y) {
  pcsim_expr *expr;
  static const char *const names[] = {"x", "y", "t", "k", "nu"};
  double at[] = {x, y, point[2], values[0], values[1]};
  assert_ok(pcsim_expr_parse(text, &expr, NULL));
  assert_ok(pcsim_expr_bind(expr, names, 5, NULL, NULL, 0, NULL));
  double value = pcsim_expr_eval(expr, at);
  pcsim_expr_destroy(&expr);
  return value;
}

static void test_functions(void **state) {
  (void)state;
  static const char *const texts[] = {"exp(x*y)",
                                      "log(1 + x)",
                                      "sin(x)",
                                      "cos(x)",
                                      "tan(x)",
                                      "asin(x)",
                                      "acos(x)",
                                      "atan(x*y)",
                                      "atan2(y, x)",
                                      "sinh(x)",
                                      "cosh(x)",
                                      "tanh(x)",
                                      "sqrt(x)",
                                      "cbrt(y*x)",
                                      "abs(x*y)",
                                      "min(x, x^2, y)",
                                      "max(x, x*x, y)",
                                      "sign(x)*x",
                                      "step(y)*x",
                                      "erf(x)",
                                      "floor(8*x)*x",
                                      "mod(x, 0.07)",
                                      "mod(1, x)",
                                      "where(x > y, x^2, y)",
                                      "where(x < y, x, x^3)",
                                      "pow(x, 2.5)",
                                      "pow(2, x)",
                                      "x^x",
                                      "x^3",
                                      "x^-2",
                                      "hypot(x, y)",
                                      "hypot(x, 1e200)",
                                      "sigmoid(x)",
                                      "softplus(x)",
                                      "gelu(x)",
                                      "swish(x*y)",
                                      "x/(1 + y*x)",
                                      "-x + (x - y)",
                                      "+x",
                                      "(x <= y)*x",
                                      "(x >= y)*x",
                                      "(x == 0.3)*x",
                                      "(x != y)*x",
                                      "(x > 0 and y < 0)*x",
                                      "(x < 0 or y < 0)*x",
                                      "(not x)*x",
                                      "k*x + nu",
                                      "50%*x",
                                      "pi*x + e",
                                      "x^2^0.5"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[96];
    const double x = point[0], y = point[1], h = 1e-6;
    expect_lowered(&plain, texts[i], plain_value(texts[i], x, y), "");
    snprintf(text, sizeof text, "dn(%s)", texts[i]);
    double dx = (plain_value(texts[i], x + h, y) - plain_value(texts[i], x - h, y)) / (2 * h);
    double dy = (plain_value(texts[i], x, y + h) - plain_value(texts[i], x, y - h)) / (2 * h);
    if (!strcmp(texts[i], "(x == 0.3)*x")) dx = 1; /* true at the point alone */
    pcsim_program *program;
    const char *const given = text;
    assert_ok(pcsim_lower(&given, 1, &plain, &program, NULL, NULL));
    double found = evaluate(program, &plain, 0), expected = 0.6 * dx + 0.8 * dy;
    if (!(fabs(found - expected) <= 2e-8 * (1 + fabs(expected)))) print_error("%s\n", text);
    assert_close(found, expected, 2e-8 * (1 + fabs(expected)));
    pcsim_program_destroy(&program);
  }
}

static void test_several(void **state) {
  (void)state;
  static const char *const texts[] = {"u_x + v_y", "u*u_x + v*u_y - nu*lap(u)", "3"};
  pcsim_program *program;
  char inputs[256];
  assert_ok(pcsim_lower(texts, 3, &plain, &program, NULL, NULL));
  list_inputs(program, inputs, sizeof inputs);
  assert_string_equal(inputs, "u u_x u_y u_xx u_yy v v_y");
  assert_int_equal(program->num_outputs, 3);
  assert_close(evaluate(program, &plain, 0), u_of(1, 0, 0) + v_of(0, 1, 0), 1e-14);
  assert_close(evaluate(program, &plain, 2), 3, 0);
  assert_string_equal(program->outputs[1].name, "1");
  assert_int_equal(program->nodes[0].kind, NODE_INPUT);
  assert_string_equal(program->names[program->nodes[0].index], "coordinates");
  assert_int_equal(program->nodes[0].rows, 3);
  pcsim_program_destroy(&program);
}

/* Coordinates of several letters; one coordinate; parameters without values. */
static void test_other_names(void **state) {
  (void)state;
  static const char *const numbered[] = {"x1", "x2", "t"};
  const pcsim_lowering long_names = {3, numbered, 1, unknowns, 0, NULL, NULL, 0, NULL, 0};
  expect_lowered(&long_names, "u_x1_x1 + u_x2_x1", u_of(2, 0, 0) + u_of(1, 1, 0), "u_x1_x1 u_x1_x2");
  expect_lowered(&long_names, "lap(u) + dt(u)", u_of(2, 0, 0) + u_of(0, 2, 0) + u_of(0, 0, 1),
                 "u_t u_x1_x1 u_x2_x2");
  expect_lowered(&long_names, "u_tt", u_of(0, 0, 2), "u_t_t");
  const pcsim_lowering line = {1, coordinates, 1, unknowns, 0, NULL, NULL, 0, NULL, 0};
  const double u = exp(0.27), a = 0.9, x = point[0];
  expect_lowered(&line, "lap(u) + x", a * a * u + x, "u_xx");
  expect_lowered(&line, "div(u) + div(x*grad(u))", a * u + a * u + x * a * a * u, NULL);
  expect_lowered(&line, "dot(u, grad(u))", u * a * u, NULL);
  const pcsim_lowering nothing = {0, NULL, 1, unknowns, 0, NULL, NULL, 0, NULL, 0};
  expect_lowered(&nothing, "u^2", 1, "u");
  const pcsim_lowering fitted = {3, coordinates, 1, unknowns, 2, parameters, NULL, 0, NULL, 0};
  const char *const text = "k*u - nu*u_x";
  pcsim_program *program;
  int rows = 0, columns = 0;
  assert_ok(pcsim_lower(&text, 1, &fitted, &program, NULL, NULL));
  double *k = pcsim_program_parameter(program, "k", &rows, &columns);
  assert_non_null(k);
  assert_true(rows == 1 && columns == 1 && *k == 0);
  *k = 2;
  *pcsim_program_parameter(program, "nu", NULL, NULL) = 3;
  assert_close(evaluate(program, &fitted, 0), 2 * u_of(0, 0, 0) - 3 * u_of(1, 0, 0), 1e-13);
  pcsim_program_destroy(&program);
  int unknown, orders[3];
  assert_ok(pcsim_lowering_derivative(&plain, "v_xxt", &unknown, orders));
  assert_true(unknown == 1 && orders[0] == 2 && orders[1] == 0 && orders[2] == 1);
  assert_status(pcsim_lowering_derivative(&plain, "x", &unknown, orders), PCSIM_ERR_CASE);
  assert_status(pcsim_lowering_derivative(&plain, "n.x", &unknown, orders), PCSIM_ERR_CASE);
}

static void expect_fault(const pcsim_lowering *names, const char *text, int text_number, size_t place,
                         const char *words) {
  pcsim_program *program;
  size_t offset = 999, held = pcsim_memory_used();
  int which = 99;
  const char *const texts[] = {"1", text};
  assert_status(pcsim_lower(texts, 2, names, &program, &which, &offset), PCSIM_ERR_CASE);
  assert_null(program);
  if (strcmp(pcsim_error_message(), words) != 0)
    print_error("%s:\n%s\nexpected\n%s\n", text, pcsim_error_message(), words);
  assert_string_equal(pcsim_error_message(), words);
  if (offset != place) print_error("%s: at %zu, expected %zu\n", text, offset, place);
  assert_int_equal(offset, place);
  assert_int_equal(which, text_number);
  assert_int_equal(pcsim_memory_used(), held);
}

static void test_faults(void **state) {
  (void)state;
  const pcsim_lowering family = {3,    coordinates, 1, unknowns, 0,
                                 NULL, NULL,        0, NULL,     2}; /* y and t are inputs */
  const pcsim_lowering steady = {2, coordinates, 1, unknowns, 0, NULL, NULL, 0, NULL, 0};
  const pcsim_lowering time_only = {1, coordinates + 2, 1, unknowns, 0, NULL, NULL, 0, NULL, 0};
  const pcsim_lowering line = {1, coordinates, 1, unknowns, 0, NULL, NULL, 0, NULL, 0};
  const pcsim_lowering nothing = {0, NULL, 1, unknowns, 0, NULL, NULL, 0, NULL, 0};
  expect_fault(&family, "div(u, u)", 1, 0, "'div' has 2 components; expected 1, one for each of x");
  expect_fault(&plain, "u_t + w", 1, 6, "unknown name 'w' (known: x, y, t, u, v, k, nu)");
  expect_fault(&plain, "u_t + nuu*u", 1, 6,
               "unknown name 'nuu'; did you mean 'nu'? (known: x, y, t, u, v, k, nu)");
  expect_fault(&plain, "2*w_xx", 1, 2, "unknown name 'w' (known: x, y, t, u, v, k, nu)");
  expect_fault(&plain, "u_xz", 1, 3, "unknown coordinate 'z' in 'u_xz' (known: x, y, t)");
  expect_fault(&plain, "1 + u_x1_x1", 1, 7, "unknown coordinate '1' in 'u_x1_x1' (known: x, y, t)");
  expect_fault(&plain, "u_x_q", 1, 4, "unknown coordinate 'q' in 'u_x_q' (known: x, y, t)");
  expect_fault(&steady, "u_t", 1, 2, "unknown coordinate 't' in 'u_t' (known: x, y)");
  expect_fault(&nothing, "u_x", 1, 2, "'u_x' is a derivative, but there are no coordinates here");
  expect_fault(&plain, "nu_x", 1, 0,
               "'nu' is a parameter and has no derivative 'nu_x'; expected an unknown (known: u, v)");
  expect_fault(&plain, "x_x", 1, 0,
               "'x' is a coordinate and has no derivative 'x_x'; expected an unknown (known: u, v)");
  expect_fault(&plain, "u + ", 1, 4, "the expression ends too early; expected a number, a name or '('");
  expect_fault(&plain, "u + lapp(u)", 1, 4, "unknown function 'lapp'; did you mean 'lap'?");
  expect_fault(&steady, "1 + dt(u)", 1, 4, "'dt' needs the coordinate 't'; the coordinates here are: x, y");
  expect_fault(&time_only, "lap(u)", 1, 0, "'lap' needs coordinates in space; there are none here");
  expect_fault(&plain, "1 + grad(u)", 1, 0,
               "a number meets a vector; expected a vector, as the other side of '+' is");
  expect_fault(&plain, "grad(u)", 1, 0,
               "an equation needs a number; found a vector (div or dot makes a number of it)");
  expect_fault(&plain, "2*sin(grad(u))", 1, 6,
               "'sin' needs a number; found a vector (div or dot makes a number of it)");
  expect_fault(&plain, "lap(grad(u))", 1, 4,
               "'lap' needs a number; found a vector (div or dot makes a number of it)");
  expect_fault(
      &plain, "div(u)", 1, 4,
      "'div' needs a vector; found a number (grad(...), or vector(...) with a component for each of x, y)");
  expect_fault(&plain, "1 + div(u, v, u)", 1, 4, "'div' has 3 components; expected 2, one for each of x, y");
  expect_fault(&line, "dot(vector(u, u), u)", 1, 4,
               "'vector' has 2 components; expected 1, one for each of x");
  expect_fault(&plain, "div(grad(u)*grad(v))", 1, 12,
               "a vector times a vector; expected a number (dot(a, b) is their product)");
  expect_fault(&plain, "div(u/grad(v))", 1, 6, "a division by a vector; expected a number");
  expect_fault(&plain, "grad(u)^2", 1, 0, "found a vector; expected a number");
  expect_fault(&plain, "not grad(u)", 1, 4, "found a vector; expected a number");
  expect_fault(&plain, "u < grad(u)", 1, 4, "found a vector; expected a number");
  expect_fault(&plain, "div(where(u, grad(u), 1))", 1, 22,
               "'where' chooses between a vector and a number; expected two of the same kind");
  expect_fault(&plain, "u + lap(dn(u))", 1, 4,
               "the normal is known on the boundary only and has no derivative in space; expected 'dn(...)' "
               "outside of "
               "lap, grad, div and dn");
  expect_fault(&plain, "u_xxxxxxxxxxxxxxxxx", 1, 2,
               "'u_xxxxxxxxxxxxxxxxx' is a derivative of order above 16; expected at most that");
  expect_fault(&plain, "dt(u_xxxxxxxxxxxxxxxx)", 1, 0,
               "this needs a derivative of 'u_xxxxxxxxxxxxxxxx' of order above 16; expected at most that");
  static const char *const twice[] = {"u", "u"}, *const clash[] = {"x"}, *const reserved[] = {"coordinates"},
                           *const wrong[] = {"u_x"};
  const pcsim_lowering two = {0, NULL, 2, twice, 0, NULL, NULL, 0, NULL, 0},
                       both = {3, coordinates, 1, clash, 0, NULL, NULL, 0, NULL, 0},
                       taken = {0, NULL, 1, reserved, 0, NULL, NULL, 0, NULL, 0},
                       bad = {0, NULL, 1, wrong, 0, NULL, NULL, 0, NULL, 0};
  expect_fault(&two, "1", -1, 0, "the unknown 'u' is named twice");
  expect_fault(&both, "1", -1, 0, "'x' is a coordinate and an unknown; expected different names");
  expect_fault(&taken, "1", -1, 0,
               "'coordinates' cannot be an unknown: the input of the coordinates has this name");
  expect_fault(&bad, "1", -1, 0, "'u_x' cannot be a name: letters and digits only, a letter first");
  pcsim_error_clear();
}

/* Derivatives inside each other grow by the number of different ones, not by 2^n; long texts neither recurse
 * too deep nor take long. */
static void test_bounds(void **state) {
  (void)state;
  pcsim_program *program;
  const char *text = "lap(lap(lap(u^2*v)))";
  assert_ok(pcsim_lower(&text, 1, &plain, &program, NULL, NULL));
  assert_true(program->num_nodes < 3000);
  pcsim_program_destroy(&program);
  char *chain = calloc(1, 20000);
  strcpy(chain, "dt(u");
  for (int i = 0; i < 900; i++) strcat(chain, i % 2 ? "*v" : "*u");
  strcat(chain, ")");
  text = chain;
  assert_ok(pcsim_lower(&text, 1, &plain, &program, NULL, NULL));
  double expected = (451 * 0.4 - 450 * 1.1) * pow(u_of(0, 0, 0), 451) * pow(v_of(0, 0, 0), 450);
  assert_close(evaluate(program, &plain, 0), expected, 1e-10 * fabs(expected));
  pcsim_program_destroy(&program);
  memset(chain, 0, 20000);
  for (int i = 0; i < 16; i++) strcat(chain, "dt(");
  strcat(chain, "exp(sin(u*v)/(1 + u^2*tanh(x*v*t + u)))");
  for (int i = 0; i < 16; i++) strcat(chain, ")");
  size_t offset = 0;
  pcsim_status status = pcsim_lower(&text, 1, &plain, &program, NULL, &offset);
  assert_true(status == PCSIM_OK || strstr(pcsim_error_message(), "operations; expected fewer derivatives"));
  pcsim_program_destroy(&program);
  free(chain);
  pcsim_error_clear();
}

/* ------------------------------------------------------------------- tables */

static void write_file(const char *path, const char *text) {
  assert_ok(pcsim_file_write(path, text, strlen(text)));
}

/** Values and slopes at, between and beyond the points; the program keeps the numbers when the file is gone.
 */
static void test_tables(void **state) {
  (void)state;
  const pcsim_lowering_table tables[] = {{"inflow", "lower-table-1.csv"}, {"k", "lower-table-2.csv"}};
  const pcsim_lowering names = {1, coordinates, 1, unknowns, 0, NULL, NULL, 2, tables, 0};
  const char *const texts[] = {"table(inflow, x)", "div(table(inflow, x^2))", "div(table(k, u)*grad(u))",
                               "div(div(table(inflow, x^2)))"};
  static const double x[6] = {-3, -1, 0, 0.5, 2, 7}, expected[6] = {4, 4, 1, 1.5, 3, 3};
  pcsim_program *p, *q;
  write_file(tables[0].path, "# one\nx, \"u\"\n-1, 4 # a point\n\n0;1\r\n 2\t3e0 \n");
  write_file(tables[1].path, "0 1\n1 3");
  assert_ok(pcsim_lower(texts, 4, &names, &p, NULL, NULL));
  remove(tables[0].path);
  remove(tables[1].path);
  assert_ok(pcsim_program_save(p, "lower-table.h5"));
  assert_ok(pcsim_program_load("lower-table.h5", &q));
  remove("lower-table.h5");
  const double u = 0.25, u_x = 3, u_xx = 5;
  interpreter it;
  interpret_begin(&it, q);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "u", &u);
  interpret_bind(&it, "u_x", &u_x);
  interpret_bind(&it, "u_xx", &u_xx);
  for (int i = 0; i < 6; i++) {
    interpret_bind(&it, "coordinates", &x[i]);
    interpret_run(&it);
    assert_close(interpret_output(&it, "0")[0], expected[i], 1e-15);
    /* Of the function of x^2: slope 1 from 0 to 2, 0 beyond. */
    const double slope = x[i] * x[i] < 2 ? 1 : 0;
    assert_close(interpret_output(&it, "1")[0], slope * 2 * x[i], 1e-15);
    assert_close(interpret_output(&it, "2")[0], 1.5 * u_xx + 2 * u_x * u_x, 1e-14);
    assert_close(interpret_output(&it, "3")[0], slope * 2, 1e-15);
  }
  interpret_end(&it);
  /* Forward and reverse. */
  const char *const wrt = "coordinates";
  const double one = 1;
  for (int reverse = 0; reverse < 2; reverse++) {
    pcsim_program *d;
    if (reverse) assert_ok(pcsim_transform_vjp(q, &wrt, 1, &d));
    else assert_ok(pcsim_transform_jet(q, wrt, 2, 1, &d));
    if (!reverse) assert_ok(pcsim_program_keep(d, (const char *[]){"0_0_1", "0_0_2"}, 2));
    interpret_begin(&it, d);
    interpret_points(&it, "points", 1);
    interpret_bind(&it, "u", &u);
    interpret_bind(&it, "u_x", &u_x);
    interpret_bind(&it, "u_xx", &u_xx);
    if (!reverse) interpret_bind(&it, "v_0", &one);
    const double seeds[] = {1, 0, 0, 0};
    for (int i = 0; reverse && i < 4; i++) {
      char name[] = {'b', '_', (char)('0' + i), 0};
      interpret_bind(&it, name, &seeds[i]);
    }
    for (int i = 0; i < 6; i++) {
      const double slope = x[i] < -1 || x[i] >= 2 ? 0 : x[i] < 0 ? -3 : 1;
      interpret_bind(&it, "coordinates", &x[i]);
      interpret_run(&it);
      assert_close(interpret_output(&it, reverse ? "b_coordinates" : "0_0_1")[0], slope, 1e-15);
      if (!reverse) assert_close(interpret_output(&it, "0_0_2")[0], 0, 0);
    }
    interpret_end(&it);
    pcsim_program_destroy(&d);
  }
  pcsim_program_destroy(&q);
  pcsim_program_destroy(&p);
}

static void test_table_faults(void **state) {
  (void)state;
  const pcsim_lowering_table tables[] = {{"inflow", "lower-table-3.csv"}};
  const pcsim_lowering names = {1, coordinates, 1, unknowns, 0, NULL, NULL, 1, tables, 0};
  static const struct {
    const char *content, *words;
  } files[] = {
      {"0 1\n1 x\n", "lower-table-3.csv:2: '1 x' is no point of a table; expected two numbers"},
      {"0 1\n1 2 3\n", "lower-table-3.csv:2: '1 2 3' is no point of a table; expected two numbers"},
      {"0 1\n1\n", "lower-table-3.csv:2: '1' is no point of a table; expected two numbers"},
      {"0 1\n1 inf\n", "lower-table-3.csv:2: '1 inf' is no point of a table; expected two numbers"},
      {"x y\n0 1\n2 5\n2 6\n",
       "lower-table-3.csv:4: 2 comes after 2; expected ascending numbers in the first column"},
      {"x y\nu v\n", "lower-table-3.csv:2: 'u v' is no point of a table; expected two numbers"},
      {"x,y\n0,1\n", "lower-table-3.csv has 1 point; expected a table of two or more"},
      {"", "lower-table-3.csv has 0 points; expected a table of two or more"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    write_file(tables[0].path, files[i].content);
    expect_fault(&names, "u + table(inflow, x)", 1, 10, files[i].words);
  }
  remove(tables[0].path);
  pcsim_program *p;
  size_t offset;
  const char *const text = "u + table(inflow, x)";
  assert_status(pcsim_lower(&text, 1, &names, &p, NULL, &offset), PCSIM_ERR_CASE);
  assert_non_null(strstr(pcsim_error_message(), "lower-table-3.csv"));
  assert_int_equal(offset, 10);
  expect_fault(&names, "table(inflo, x)", 1, 6,
               "unknown table 'inflo'; did you mean 'inflow'? (known: inflow)");
  expect_fault(&line_without_tables, "table(inflow, x)", 1, 6, "unknown table 'inflow' (known: none)");
  expect_fault(&names, "table(2*inflow, x)", 1, 6, "'table' needs the name of a table first");
  expect_fault(&names, "table(inflow, grad(u)/0 + y)", 1, 26, "unknown name 'y' (known: x, u)");
  pcsim_error_clear();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_suffixes),     cmocka_unit_test(test_operators),
      cmocka_unit_test(test_functions),    cmocka_unit_test(test_several),
      cmocka_unit_test(test_other_names),  cmocka_unit_test(test_faults),
      cmocka_unit_test(test_bounds),       cmocka_unit_test(test_tables),
      cmocka_unit_test(test_table_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
