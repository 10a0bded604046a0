/* SPDX-License-Identifier: BSD-2-Clause */
/* Equations whose derivatives go through a network as sums: every route gives what the derivatives one by one
 * give, values and gradients, and the one that is taken has the fewest operations. */
#include "interpret.h"

#include "autodiff/lower.h"

static const char *const coordinates[] = {"x", "y", "t"}, *const unknowns[] = {"u", "v"};
static const char *const parameters[] = {"nu"};
static const pcsim_lowering names = {3, coordinates, 2, unknowns, 1, parameters, NULL, 0, NULL, 0};
enum { POINTS = 4, WIDTH = 12, MOST = 3 };
static const double points[POINTS][3] = {{0.3, -0.4, 0.7}, {1.1, 0.2, 0}, {-0.6, 0.9, 0.4}, {0, 0, 0}};
static const double normals[POINTS] = {0.6, 1, 0, -0.8};

/** `vectors`: what must be saved at least, in vectors through the hidden layer (2 * 12 * 12 operations each),
 * compared with the derivatives one by one; 0: nothing to be saved. */
typedef struct {
  const char *texts[MOST];
  int vectors;
} sum_case;

static const sum_case cases[] = {
    {{"lap(u)"}, 1},
    {{"u_xx + 2*u_yy - 0.5*u_tt"}, 2},
    {{"nu*(u_xx + u_yy + sin(x))"}, 1},
    {{"u_t - nu*lap(u)"}, 2}, /* t, xx and yy are one vector */
    {{"u_t + u*u_x - 0.01*u_xx"}, 1},
    {{"lap(lap(u))"}, 2},
    {{"lap(lap(u)) + lap(u) - u^3"}, 2},
    {{"(1 + x^2)*u_xx + exp(y)*u_yy"}, 1}, /* weights that differ by point and direction */
    {{"sin(x)*u_xx - cos(y)*u_yy + u_t/(2 + x)"}, 2},
    {{"div((1 + u^2)*grad(u))"}, 1}, /* a weight that is an unknown */
    {{"where(x > 0, lap(u), u_t)"}, 1},
    {{"lap(u)^2 + exp(0.1*lap(u))*v + lap(u)"}, 1},
    {{"dn(u)"}, 1},
    {{"u_t + 2*u_x + 3*u_y"}, 2},
    {{"u_t + u*u_x + v*u_y - nu*lap(u)", "v_t + u*v_x + v*v_y - nu*lap(v)", "u_x + v_y"}, 2},
    {{"lap(u)", "lap(v) + u_t", "lap(u) - lap(v)"}, 1},
    {{"lap(u)", "u_xx"}, 0},
    {{"u_xx + u_yy", "u_yy + u_tt", "u_xx + u_tt"}, 0},
    {{"u_xx + u_yy + u_tt", "u_xx - 2*u_tt"}, 0},
    {{"u_xx*u_yy - u_xy^2"}, 0},
    {{"u_x*u_xx + u_y*u_yy"}, 1},
    {{"u_x"}, 0},
    {{"u_xx - u_xx + u_yy/3 + u_yy*2"}, 0},
};

static pcsim_program *lowered(const sum_case *c) {
  pcsim_program *p;
  int n = 0;
  while (n < MOST && c->texts[n]) n++;
  if (pcsim_lower(c->texts, n, &names, &p, NULL, NULL) != PCSIM_OK) fail_msg("%s", pcsim_error_message());
  return p;
}

/** u and v of a tanh network 3 - 12 - 12 - 2. */
static pcsim_program *network(void) {
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  pcsim_value x = pcsim_build_input(p, "coordinates", pcsim_build_space(p, "points"), 3);
  pcsim_value w1 = pcsim_build_parameter(p, "w1", WIDTH, 3), b1 = pcsim_build_parameter(p, "b1", WIDTH, 1);
  pcsim_value w2 = pcsim_build_parameter(p, "w2", WIDTH, WIDTH);
  pcsim_value w3 = pcsim_build_parameter(p, "w3", 2, WIDTH);
  pcsim_value first = pcsim_build_unary(p, PCSIM_OP_TANH, pcsim_build_dense(p, w1, x, b1));
  pcsim_value second = pcsim_build_unary(p, PCSIM_OP_TANH, pcsim_build_dense(p, w2, first, PCSIM_NO_VALUE));
  pcsim_value out = pcsim_build_dense(p, w3, second, PCSIM_NO_VALUE);
  pcsim_build_output(p, "u", pcsim_build_slice(p, out, 0, 1));
  pcsim_build_output(p, "v", pcsim_build_slice(p, out, 1, 1));
  assert_ok(pcsim_program_status(p));
  for (int i = 0; i < 3 * WIDTH; i++) pcsim_program_parameter(p, "w1", NULL, NULL)[i] = sin(1.7 * i + 0.3);
  for (int i = 0; i < WIDTH; i++) pcsim_program_parameter(p, "b1", NULL, NULL)[i] = 0.4 * cos(2.1 * i);
  for (int i = 0; i < WIDTH * WIDTH; i++)
    pcsim_program_parameter(p, "w2", NULL, NULL)[i] = 0.4 * cos(0.9 * i - 0.2);
  for (int i = 0; i < 2 * WIDTH; i++) pcsim_program_parameter(p, "w3", NULL, NULL)[i] = sin(0.7 * i + 0.1);
  return p;
}

/** Outputs of `p` and their derivatives by w2 along the sum over points; `size` [3] are the largest numbers.
 */
static void evaluate(const pcsim_program *p, double values[MOST][POINTS], double gradient[WIDTH * WIDTH]) {
  pcsim_program *g;
  double ones[POINTS] = {1, 1, 1, 1}, nu = 0.37;
  assert_ok(pcsim_transform_vjp(p, (const char *[]){"w2"}, 1, &g));
  interpreter it;
  interpret_begin(&it, g);
  interpret_points(&it, "points", POINTS);
  for (int i = 0; i < g->num_names; i++) {
    if (!strncmp(g->names[i], "n.", 2)) interpret_bind(&it, g->names[i], normals);
    if (!strncmp(g->names[i], "b_", 2)) interpret_bind(&it, g->names[i], ones);
    if (!strcmp(g->names[i], "nu")) interpret_bind(&it, "nu", &nu);
  }
  interpret_bind(&it, "coordinates", points[0]);
  interpret_run(&it);
  for (int o = 0; o < p->num_outputs; o++)
    memcpy(values[o], interpret_output(&it, p->outputs[o].name), sizeof values[o]);
  memcpy(gradient, interpret_output(&it, "b_w2"), WIDTH * WIDTH * sizeof *gradient);
  interpret_end(&it);
  pcsim_program_destroy(&g);
}

static double largest(const double *a, int n) {
  double size = 0;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(a[i]));
  return size;
}

static double worst;

static void compare(const char *text, const pcsim_program *p, int outputs, const double values[MOST][POINTS],
                    const double *gradient) {
  double found[MOST][POINTS], slope[WIDTH * WIDTH];
  assert_int_equal(p->num_outputs, outputs);
  evaluate(p, found, slope);
  for (int o = 0; o < outputs; o++)
    for (int i = 0; i < POINTS; i++) {
      const double error = fabs(found[o][i] - values[o][i]) / (largest(values[o], POINTS) + 1);
      if (!(error <= 1e-12)) fail_msg("%s: %.17g, expected %.17g", text, found[o][i], values[o][i]);
      worst = fmax(worst, error);
    }
  for (int i = 0; i < WIDTH * WIDTH; i++) {
    const double error = fabs(slope[i] - gradient[i]) / (largest(gradient, WIDTH * WIDTH) + 1);
    if (!(error <= 1e-12)) fail_msg("%s: gradient %.17g, expected %.17g", text, slope[i], gradient[i]);
    worst = fmax(worst, error);
  }
}

static void test_routes(void **state) {
  (void)state;
  pcsim_program *fields = network();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = cases[i].texts[0];
    pcsim_program *equation = lowered(&cases[i]), *p;
    double values[MOST][POINTS], gradient[WIDTH * WIDTH], least;
    assert_ok(lower_with_partials(equation, &names, fields, &p));
    const int outputs = p->num_outputs;
    const double apart = pcsim_program_count(p).operations;
    evaluate(p, values, gradient);
    pcsim_program_destroy(&p);
    least = apart;
    for (int route = 0; route < 4; route++) {
      lower_found found;
      assert_ok(lower_with_sums(equation, &names, fields, (lower_route){route & 1, route >> 1}, &found, &p));
      compare(text, p, outputs, (const double(*)[POINTS])values, gradient);
      least = fmin(least, pcsim_program_count(p).operations);
      pcsim_program_destroy(&p);
    }
    assert_ok(pcsim_lower_compose(equation, &names, fields, &p));
    compare(text, p, outputs, (const double(*)[POINTS])values, gradient);
    const double taken = pcsim_program_count(p).operations;
    print_message("%-48s %6.0f operations, one by one %6.0f\n", text, taken, apart);
    assert_close(taken, least, 0);
    if (apart - taken < cases[i].vectors * 1.9 * WIDTH * WIDTH) fail_msg("%s: nothing saved", text);
    pcsim_program_destroy(&p);
    pcsim_program_destroy(&equation);
  }
  print_message("worst difference %.1e\n", worst);
  pcsim_program_destroy(&fields);
}

/** Fields that go through a map: a weight for each point cannot follow them there, one for all can. */
static void test_maps(void **state) {
  (void)state;
  pcsim_program *fields, *p, *q;
  assert_ok(pcsim_program_create(&fields));
  const pcsim_space at = pcsim_build_space(fields, "points"), cells = pcsim_build_space(fields, "cells");
  const pcsim_map there = pcsim_build_index_map(fields, "there", cells, at);
  const pcsim_map back = pcsim_build_index_map(fields, "back", at, cells);
  pcsim_value x = pcsim_build_input(fields, "coordinates", at, 3);
  pcsim_value w = pcsim_build_parameter(fields, "w", 4, 3);
  for (int i = 0; i < 12; i++) pcsim_program_parameter(fields, "w", NULL, NULL)[i] = sin(1.7 * i + 0.3);
  pcsim_value hidden =
      pcsim_build_unary(fields, PCSIM_OP_TANH, pcsim_build_dense(fields, w, x, PCSIM_NO_VALUE));
  hidden = pcsim_build_unary(fields, PCSIM_OP_SIN, pcsim_build_gather(fields, there, hidden));
  pcsim_build_output(fields, "u", pcsim_build_row_sum(fields, pcsim_build_gather(fields, back, hidden)));
  assert_ok(pcsim_program_status(fields));
  static const char *const texts[] = {"(1 + x^2)*u_xx + exp(y)*u_yy + u_t", "lap(u)", "nu*lap(u) + u_t"};
  const int32_t index[2][POINTS] = {{2, 0, 3, 1}, {1, 3, 0, 2}}; /* there and back: the same point */
  const double nu = 0.37;
  for (int i = 0; i < 3; i++) {
    double values[POINTS];
    pcsim_program *equation = lowered(&(sum_case){{texts[i]}, 0});
    assert_ok(lower_with_partials(equation, &names, fields, &q));
    for (int route = -1; route < 4; route++) {
      lower_found found;
      const lower_route way = {route & 1, route >> 1};
      if (route < 0) p = q;
      else assert_ok(lower_with_sums(equation, &names, fields, way, &found, &p));
      interpreter it;
      interpret_begin(&it, p);
      interpret_points(&it, "points", POINTS);
      interpret_points(&it, "cells", POINTS);
      interpret_bind(&it, "coordinates", points[0]);
      if (i == 2) interpret_bind(&it, "nu", &nu);
      interpret_bind_map(&it, "there", (interpret_map){.index = index[0]});
      interpret_bind_map(&it, "back", (interpret_map){.index = index[1]});
      interpret_run(&it);
      for (int k = 0; k < POINTS; k++) {
        const double found_there = interpret_output(&it, "0")[k];
        if (route < 0) values[k] = found_there;
        else assert_close(found_there, values[k], 1e-12 * (1 + fabs(values[k])));
      }
      interpret_end(&it);
      pcsim_program_destroy(&p);
    }
    pcsim_program_destroy(&equation);
  }
  pcsim_program_destroy(&fields);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_routes), cmocka_unit_test(test_maps)};
  return interpret_balance(cmocka_run_group_tests_name("sums", tests, NULL, NULL));
}
