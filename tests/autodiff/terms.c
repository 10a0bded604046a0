/* SPDX-License-Identifier: BSD-2-Clause */
/** @file terms.c  Sums over points behind linear operations become sums of terms: the same sums, and
 * Jacobians of them. A first layer beside the constant directions of derivatives is where they come from. */
#include "pcsim_test.h"

#include <pcsim/autodiff.h>

enum { WIDTH = 5, POINTS = 37, PARAMETERS = WIDTH * 2 + WIDTH + WIDTH + 1 };
static const char *const names[] = {"w", "b", "v", "c"};
static const int sizes[] = {WIDTH * 2, WIDTH, WIDTH, 1};
static const char *const outputs[] = {"b_w", "b_b", "b_v", "b_c"};

static double draw(uint64_t place) { return 2 * pcsim_random_uniform(3, 1, place) - 1; }

/** Reverse of an equation for a network of one hidden layer, whose inputs are multiples of the coordinates.
 */
static pcsim_program *reverse_of(const char *equation) {
  const char *const x[] = {"x", "t"}, *const u[] = {"u"};
  const pcsim_lowering l = {.num_coordinates = 2, .coordinates = x, .num_unknowns = 1, .unknowns = u};
  pcsim_program *f, *lowered, *residual, *reverse;
  assert_ok(pcsim_program_create(&f));
  const pcsim_value in = pcsim_build_input(f, "coordinates", pcsim_build_space(f, "points"), 2);
  const pcsim_value scaled =
      pcsim_build_binary(f, PCSIM_OP_MUL, in, pcsim_build_constants(f, 2, (double[]){2, 0.5}));
  const pcsim_value w = pcsim_build_parameter(f, "w", WIDTH, 2), b = pcsim_build_parameter(f, "b", WIDTH, 1);
  const pcsim_value v = pcsim_build_parameter(f, "v", 1, WIDTH), c = pcsim_build_parameter(f, "c", 1, 1);
  const pcsim_value h = pcsim_build_unary(f, PCSIM_OP_TANH, pcsim_build_dense(f, w, scaled, b));
  pcsim_build_output(f, "u", pcsim_build_dense(f, v, h, c));
  assert_ok(pcsim_lower(&equation, 1, &l, &lowered, NULL, NULL));
  assert_ok(pcsim_lower_compose(lowered, &l, f, &residual));
  assert_ok(pcsim_transform_vjp(residual, names, 4, &reverse));
  assert_ok(pcsim_program_simplify(reverse));
  pcsim_program_destroy(&f), pcsim_program_destroy(&lowered), pcsim_program_destroy(&residual);
  return reverse;
}

typedef struct {
  double x[POINTS * 2], theta[PARAMETERS], seed[POINTS], gradient[PARAMETERS];
  pcsim_executor *executor;
} setting;

static void begin(setting *s, const pcsim_program *p) {
  for (int i = 0; i < POINTS * 2; i++) s->x[i] = draw((uint64_t)i);
  for (int i = 0; i < PARAMETERS; i++) s->theta[i] = draw((uint64_t)(1000 + i));
  assert_ok(pcsim_executor_create(p, NULL, &s->executor));
  assert_ok(pcsim_executor_points(s->executor, "points", POINTS));
  assert_ok(pcsim_executor_bind(s->executor, "coordinates", s->x));
  assert_ok(pcsim_executor_bind(s->executor, "b_0", s->seed));
  for (int i = 0, at = 0; i < 4; at += sizes[i++]) {
    assert_ok(pcsim_executor_bind(s->executor, names[i], s->theta + at));
    assert_ok(pcsim_executor_bind_output(s->executor, outputs[i], s->gradient + at));
  }
}

static void equation(const char *text) {
  pcsim_program *before = reverse_of(text), *after;
  setting a = {0}, b = {0};
  double j[POINTS][PARAMETERS], product[PARAMETERS * PARAMETERS] = {0};
  const pcsim_jacobian all = {.outputs = outputs, .num_outputs = 4};
  assert_ok(pcsim_program_copy(before, &after));
  assert_ok(pcsim_program_terms(after));
  begin(&a, before), begin(&b, after);
  for (int i = 0; i < POINTS; i++) {
    for (int k = 0; k < POINTS; k++) a.seed[k] = b.seed[k] = k == i ? 1 + draw((uint64_t)k) / 2 : 0;
    assert_ok(pcsim_executor_run(a.executor, true));
    assert_ok(pcsim_executor_run(b.executor, true));
    for (int k = 0; k < PARAMETERS; k++) assert_close(b.gradient[k], a.gradient[k], 1e-13);
    memcpy(j[i], a.gradient, sizeof j[i]);
  }
  for (int k = 0; k < POINTS; k++) b.seed[k] = 1 + draw((uint64_t)k) / 2;
  assert_ok(pcsim_executor_jacobian_product(b.executor, &all, product));
  for (int r = 0; r < PARAMETERS; r++)
    for (int c = 0; c <= r; c++) {
      double sum = 0;
      for (int i = 0; i < POINTS; i++) sum += j[i][r] * j[i][c];
      assert_close(product[r * PARAMETERS + c], sum, 1e-11);
    }
  pcsim_executor_destroy(&a.executor), pcsim_executor_destroy(&b.executor);
  pcsim_program_destroy(&before), pcsim_program_destroy(&after);
}

static void equations(void **state) {
  (void)state;
  equation("u_x + u_t");
  equation("u_t - u*u_xx");
  equation("3*u_xt - u_x^2 + sin(x)*u_tt");
  equation("u_xxx + u_tt");
  equation("u - x");
}

/** Without it there is no Jacobian: the first layer's derivative is no sum over points. */
static void needed(void **state) {
  (void)state;
  pcsim_program *p = reverse_of("u_t - u*u_xx");
  setting s = {0};
  double product[PARAMETERS * PARAMETERS] = {0};
  begin(&s, p);
  assert_status(pcsim_executor_jacobian_product(
                    s.executor, &(pcsim_jacobian){.outputs = outputs, .num_outputs = 4}, product),
                PCSIM_ERR_ARG);
  pcsim_executor_destroy(&s.executor);
  pcsim_program_destroy(&p);
}

/** What is no sum stays. */
static void others(void **state) {
  (void)state;
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  const pcsim_value x = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), 2);
  const pcsim_value sum = pcsim_build_sum(p, x);
  pcsim_build_output(p, "square", pcsim_build_binary(p, PCSIM_OP_MUL, sum, sum));
  pcsim_build_output(p, "x", x);
  pcsim_build_output(p, "mixed", pcsim_build_binary(p, PCSIM_OP_SUB, sum, pcsim_build_constant(p, 3)));
  const double data[] = {1, 2, 3, 4};
  double square[2], copy[4], mixed[2];
  assert_ok(pcsim_program_terms(p));
  pcsim_executor *e;
  assert_ok(pcsim_executor_create(p, NULL, &e));
  assert_ok(pcsim_executor_points(e, "points", 2));
  assert_ok(pcsim_executor_bind(e, "x", data));
  assert_ok(pcsim_executor_bind_output(e, "square", square));
  assert_ok(pcsim_executor_bind_output(e, "x", copy));
  assert_ok(pcsim_executor_bind_output(e, "mixed", mixed));
  assert_ok(pcsim_executor_run(e, true));
  assert_true(square[0] == 16 && square[1] == 36 && mixed[0] == 1 && mixed[1] == 3 && copy[3] == 4);
  pcsim_executor_destroy(&e);
  pcsim_program_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(equations), cmocka_unit_test(needed),
                                     cmocka_unit_test(others)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
