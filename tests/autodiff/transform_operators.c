/* SPDX-License-Identifier: BSD-2-Clause */
/* Linear operators: collapsed jets, sums of partials, mixed partials, estimators. */
#include "network.h"

/* ----------------------------------------------------------- collapsed jets */

/** Laplacian and biharmonic of a network: collapsed against one direction after the other, and the reference.
 */
static void test_linear_operators(void **state) {
  (void)state;
  const network net = make_network(3, (const int[]){2, 5, 5, 1});
  const double x[2] = {0.35, -0.2};
  /* Fourth derivatives along (1, 1) and (1, -1) give 2 (u_xxxx + 6 u_xxyy + u_yyyy). */
  const double units[4][16] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
  const double weights[2][4] = {{2, 2}, {16, 16, 4, 4}};
  double size, parts[3];
  const double xx[2][16] = {{1, 0}, {1, 0}}, yy[2][16] = {{0, 1}, {0, 1}};
  const double fourth[3][4][16] = {
      {{1, 0}, {1, 0}, {1, 0}, {1, 0}}, {{1, 0}, {1, 0}, {0, 1}, {0, 1}}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}};
  double expected[2] = {reference_mixed(network_value, &net, 2, x, 0.5, 2, xx, &size) +
                            reference_mixed(network_value, &net, 2, x, 0.5, 2, yy, &size),
                        0};
  for (int i = 0; i < 3; i++) parts[i] = reference_mixed(network_value, &net, 2, x, 0.5, 4, fourth[i], &size);
  expected[1] = parts[0] + 2 * parts[1] + parts[2];
  for (int which = 0; which < 2; which++) {
    const int order = which ? 4 : 2, directions = which ? 4 : 2;
    pcsim_program *p = build_network(&net), *q[2] = {NULL, NULL};
    assert_ok(pcsim_transform_jet_collapsed(p, "x", order, directions, weights[which], &q[0]));
    assert_ok(pcsim_transform_jet(p, "x", order, directions, &q[1]));
    assert_ok(pcsim_program_keep(q[0], (const char *[]){"y_sum"}, 1));
    double values[2] = {0};
    for (int way = 0; way < 2; way++) {
      interpreter it;
      char name[32];
      interpret_begin(&it, q[way]);
      interpret_points(&it, "points", 1);
      interpret_bind(&it, "x", x);
      for (int j = 0; j < directions; j++) {
        snprintf(name, sizeof name, "v_%d", j);
        interpret_bind(&it, name, units[j]);
      }
      interpret_run(&it);
      for (int j = 0; way && j < directions; j++) {
        snprintf(name, sizeof name, "y_%d_%d", j, order);
        values[1] += weights[which][j] * interpret_output(&it, name)[0];
      }
      if (!way) values[0] = interpret_output(&it, "y_sum")[0];
      interpret_end(&it);
    }
    const double cost[2] = {pcsim_program_count(q[0]).operations, pcsim_program_count(q[1]).operations};
    print_message("%s: %.15g, operations a point %.0f collapsed, %.0f apart\n",
                  which ? "biharmonic" : "Laplacian", values[0], cost[0], cost[1]);
    assert_close(values[0], values[1], 1e-12 * fabs(expected[which]));
    assert_close(values[0], expected[which], 1e-12 * fabs(expected[which]));
    assert_true(cost[0] < cost[1]);
    pcsim_program_destroy(&q[0]);
    pcsim_program_destroy(&q[1]);
    pcsim_program_destroy(&p);
  }
}

/** Operators from partials: of one order, mixed orders, the value itself; nested with a gradient. */
static void test_operators(void **state) {
  (void)state;
  const network net = make_network(3, (const int[]){2, 5, 5, 1});
  const double x[2] = {0.35, -0.2};
  const struct {
    int n, orders[6][2];
    double weights[6];
  } operators[] = {{2, {{2, 0}, {0, 2}}, {1, 1}},
                   {3, {{4, 0}, {2, 2}, {0, 4}}, {1, 2, 1}},
                   {5, {{2, 0}, {1, 1}, {0, 1}, {1, 0}, {0, 0}}, {0.3, -0.7, 1.1, 0.4, 2.5}},
                   {4, {{0, 1}, {3, 0}, {2, 3}, {0, 1}}, {1, -0.01, 0.2, 0.5}}};
  for (size_t o = 0; o < sizeof operators / sizeof operators[0]; o++) {
    double expected = 0, size = 0, slope[2] = {0}, one = 1, zero = 0;
    for (int i = 0; i < operators[o].n; i++) {
      double v[7][16] = {{0}}, part;
      int m = 0;
      for (int j = 0; j < 2; j++)
        for (int k = 0; k < operators[o].orders[i][j]; k++) v[m++][j] = 1;
      expected += operators[o].weights[i] *
                  reference_mixed(network_value, &net, 2, x, 0.5, m, (const double(*)[16])v, &part);
      size += fabs(operators[o].weights[i]) * part;
      for (int j = 0; j < 2; j++) {
        memset(v[m], 0, sizeof v[m]);
        v[m][j] = 1;
        slope[j] += operators[o].weights[i] *
                    reference_mixed(network_value, &net, 2, x, 0.5, m + 1, (const double(*)[16])v, &part);
      }
    }
    pcsim_program *p = build_network(&net), *q = NULL, *g = NULL;
    assert_ok(
        pcsim_transform_operator(p, "x", operators[o].orders[0], operators[o].weights, operators[o].n, &q));
    assert_ok(pcsim_transform_vjp(q, (const char *[]){"x"}, 1, &g));
    interpreter it;
    interpret_begin(&it, g);
    interpret_points(&it, "points", 1);
    interpret_bind(&it, "x", x);
    interpret_bind(&it, "b_y", &zero);
    interpret_bind(&it, "b_y_operator", &one);
    interpret_run(&it);
    assert_close(interpret_output(&it, "y_operator")[0] / size, expected / size, 1e-12);
    for (int j = 0; j < 2; j++) assert_close(interpret_output(&it, "b_x")[j] / size, slope[j] / size, 1e-11);
    interpret_end(&it);
    pcsim_program_destroy(&g);
    assert_ok(pcsim_transform_operator(q, "x", operators[0].orders[0], operators[0].weights, 2, &g));
    assert_true(graph_find_output(g, "y_operator_operator2") >= 0);
    pcsim_program_destroy(&g);
    pcsim_program_destroy(&q);
    pcsim_program_destroy(&p);
  }
}

/** Estimator of a Laplacian in many variables: second derivatives along random signs have it as their mean.
 */
static void test_estimator(void **state) {
  (void)state;
  enum { VARIABLES = 6, SAMPLES = 1 << VARIABLES };
  const network net = make_network(2, (const int[]){VARIABLES, 5, 1});
  double x[VARIABLES], points[SAMPLES * VARIABLES], signs[SAMPLES * VARIABLES], expected = 0, mean = 0;
  uint64_t seed = 9;
  for (int i = 0; i < VARIABLES; i++) x[i] = noise(&seed);
  for (int i = 0; i < VARIABLES; i++) {
    double v[2][16] = {{0}}, size;
    v[0][i] = v[1][i] = 1;
    expected += reference_mixed(network_value, &net, VARIABLES, x, 0.5, 2, (const double(*)[16])v, &size);
  }
  pcsim_program *p = build_network(&net), *q = NULL;
  assert_ok(pcsim_transform_jet_collapsed(p, "x", 2, 1, (const double[]){2}, &q));
  for (int s = 0; s < SAMPLES; s++)
    for (int i = 0; i < VARIABLES; i++) {
      points[s * VARIABLES + i] = x[i];
      signs[s * VARIABLES + i] = s >> i & 1 ? 1 : -1;
    }
  interpreter it;
  interpret_begin(&it, q);
  interpret_points(&it, "points", SAMPLES);
  interpret_bind(&it, "x", points);
  interpret_bind(&it, "v_0", signs);
  interpret_run(&it);
  for (int s = 0; s < SAMPLES; s++) mean += interpret_output(&it, "y_sum")[s] / SAMPLES;
  assert_close(mean / expected, 1, 1e-12);
  interpret_end(&it);
  pcsim_program_destroy(&q);
  pcsim_program_destroy(&p);
}

/* ------------------------------------------------------- partials, estimator */

/** All mixed partials up to total order 6 in three variables, by both routes. */
static void test_partials(void **state) {
  (void)state;
  const network net = make_network(2, (const int[]){3, 4, 1});
  const double x[3] = {0.3, -0.2, 0.5};
  int orders[128][3], n = 0;
  for (int a = 0; a <= 6; a++)
    for (int b = 0; a + b <= 6; b++)
      for (int c = 0; a + b + c <= 6; c++, n++) {
        orders[n][0] = a;
        orders[n][1] = b;
        orders[n][2] = c;
      }
  assert_int_equal(n, 84);
  double worst[2] = {0}, operations[2];
  for (int by_index = 0; by_index < 2; by_index++) {
    pcsim_program *p = build_network(&net), *q = NULL;
    assert_ok(transform_partials_by(p, "x", orders[0], n, by_index, &q));
    operations[by_index] = pcsim_program_count(q).operations;
    interpreter it;
    interpret_begin(&it, q);
    interpret_points(&it, "points", 1);
    interpret_bind(&it, "x", x);
    interpret_run(&it);
    for (int i = 0; i < n; i++) {
      double v[6][16] = {{0}}, size;
      int m = 0;
      for (int j = 0; j < 3; j++)
        for (int k = 0; k < orders[i][j]; k++) v[m++][j] = 1;
      char name[16];
      snprintf(name, sizeof name, "y_p_%d", i);
      const double expected =
          reference_mixed(network_value, &net, 3, x, 0.7, m, (const double(*)[16])v, &size);
      const double error = fabs(interpret_output(&it, name)[0] - expected) / fmax(fabs(expected), size);
      if (!(error <= 1e-12))
        fail_msg("partial %d %d %d: %.17g, expected %.17g (%g)", orders[i][0], orders[i][1], orders[i][2],
                 interpret_output(&it, name)[0], expected, error);
      worst[by_index] = fmax(worst[by_index], error);
    }
    interpret_end(&it);
    pcsim_program_destroy(&q);
    pcsim_program_destroy(&p);
  }
  print_message("84 partials of 3-4-1: worst %.1e by directions (%.0f operations), %.1e by indices (%.0f)\n",
                worst[0], operations[0], worst[1], operations[1]);
  pcsim_program *p = build_network(&net), *q = NULL;
  assert_ok(pcsim_transform_partials(p, "x", orders[0], n, &q));
  assert_close(pcsim_program_count(q).operations, fmin(operations[0], operations[1]), 0);
  pcsim_program_destroy(&q);
  assert_status(pcsim_transform_partials(p, "x", (const int[]){1, -1, 0}, 1, &q), PCSIM_ERR_ARG);
  pcsim_program_destroy(&p);
}

/** sin(a x) in DIMENSIONS variables: every derivative along v is a power of a v. */
enum { DIMENSIONS = 50, DRAWS = 200, DRAWN = 200 };

static pcsim_program *wave(const double a[DIMENSIONS]) {
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  pcsim_value x = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), DIMENSIONS);
  pcsim_value ax = pcsim_build_binary(p, PCSIM_OP_MUL, pcsim_build_constants(p, DIMENSIONS, a), x);
  pcsim_build_output(p, "y", pcsim_build_unary(p, PCSIM_OP_SIN, pcsim_build_row_sum(p, ax)));
  assert_ok(pcsim_program_status(p));
  return p;
}

/** Mean and variance of the estimate over all draws and points. */
static void estimate(const pcsim_program *q, pcsim_estimator which, int directions, const double *x,
                     double *mean, double *variance) {
  double *v = calloc((size_t)directions * DRAWN * DIMENSIONS, sizeof *v), out[DRAWN], squares = 0;
  pcsim_executor *e;
  assert_ok(pcsim_executor_create(q, NULL, &e));
  assert_ok(pcsim_executor_points(e, "points", DRAWN));
  assert_ok(pcsim_executor_bind(e, "x", x));
  assert_ok(pcsim_executor_bind_output(e, "y_sum", out));
  *mean = 0;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    for (int j = 0; j < directions; j++) {
      char name[16];
      double *at = v + (size_t)j * DRAWN * DIMENSIONS;
      snprintf(name, sizeof name, "v_%d", j);
      pcsim_estimator_directions(which, 7 + draw / 2, draw % 2, j, 0, DRAWN, DIMENSIONS, at);
      assert_ok(pcsim_executor_bind(e, name, at));
    }
    assert_ok(pcsim_executor_run(e, true));
    for (int i = 0; i < DRAWN; i++) {
      *mean += out[i];
      squares += out[i] * out[i];
    }
  }
  const double count = (double)DRAWS * DRAWN;
  *mean /= count;
  *variance = squares / count - *mean * *mean;
  pcsim_executor_destroy(&e);
  free(v);
}

/** In 50 variables, over 100 seeds: the mean is the operator within four standard errors, the variance the
 * one that theory gives, and falls with the number of directions. */
static void test_random_operators(void **state) {
  (void)state;
  double a[DIMENSIONS], *x = calloc(DRAWN * DIMENSIONS, sizeof *x), s = 0, square = 0, fourth = 0;
  for (int i = 0; i < DIMENSIONS; i++) {
    a[i] = 0.1 + 0.05 * (i % 7) - 0.02 * (i % 3);
    s += 0.3 * a[i];
    square += a[i] * a[i];
    fourth += a[i] * a[i] * a[i] * a[i];
  }
  for (int i = 0; i < DRAWN * DIMENSIONS; i++) x[i] = 0.3;
  pcsim_program *p = wave(a);
  /* (a v)^2 has the variance 2 (|a|^4 - sum a_i^4) over signs, (a v)^4 / 3 has |a|^8 96 / 9 over normals. */
  const double exact[2] = {-sin(s) * square, sin(s) * square * square};
  const double variances[2] = {2 * sin(s) * sin(s) * (square * square - fourth),
                               sin(s) * sin(s) * pow(square, 4) * 96 / 9};
  for (int which = 0; which < 2; which++)
    for (int directions = 1; directions <= 4; directions *= 4) {
      pcsim_program *q;
      double mean, variance;
      assert_ok(pcsim_transform_estimator(p, "x", (pcsim_estimator)which, directions, &q));
      assert_ok(pcsim_program_keep(q, (const char *[]){"y_sum"}, 1));
      estimate(q, (pcsim_estimator)which, directions, x, &mean, &variance);
      const double expected = variances[which] / directions, error = sqrt(expected / (DRAWS * DRAWN));
      print_message("%s, %d: %.6g +- %.2g, exact %.6g; variance %.4g, expected %.4g\n",
                    which ? "biharmonic" : "Laplacian", directions, mean, error, exact[which], variance,
                    expected);
      assert_close(mean, exact[which], 4 * error);
      assert_close(variance / expected, 1, which ? 0.25 : 0.05);
      pcsim_program_destroy(&q);
    }
  pcsim_program *q;
  assert_status(pcsim_transform_estimator(p, "x", (pcsim_estimator)2, 1, &q), PCSIM_ERR_ARG);
  assert_status(pcsim_transform_estimator(p, "x", PCSIM_ESTIMATOR_LAPLACIAN, 0, &q), PCSIM_ERR_ARG);
  pcsim_program_destroy(&p);
  free(x);
}

/** The same seed gives the same bits however points are cut; anything else gives others. */
static void test_random_directions(void **state) {
  (void)state;
  enum { N = 40, ROWS = 50 };
  double whole[N * ROWS], parts[N * ROWS], other[N * ROWS];
  for (int which = 0; which < 2; which++) {
    const pcsim_estimator op = (pcsim_estimator)which;
    pcsim_estimator_directions(op, 5, 3, 1, 100, N, ROWS, whole);
    pcsim_estimator_directions(op, 5, 3, 1, 100, 7, ROWS, parts);
    pcsim_estimator_directions(op, 5, 3, 1, 107, N - 7, ROWS, parts + 7 * ROWS);
    assert_memory_equal(whole, parts, sizeof whole);
    for (int change = 0; change < 4; change++) {
      pcsim_estimator_directions(op, 5 + (change == 0), 3 + (change == 1), 1 + (change == 2),
                                 100 + N * (change == 3), N, ROWS, other);
      double sum = 0;
      for (int i = 0; i < N * ROWS; i++) sum += whole[i] * other[i];
      assert_true(fabs(sum) < 4 * sqrt(N * ROWS));
    }
    for (int i = 0; i < N * ROWS; i++) assert_true(which || fabs(whole[i]) == 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear_operators), cmocka_unit_test(test_operators),
      cmocka_unit_test(test_estimator),        cmocka_unit_test(test_partials),
      cmocka_unit_test(test_random_operators), cmocka_unit_test(test_random_directions),
  };
  return interpret_balance(cmocka_run_group_tests_name("transform_operators", tests, NULL, NULL));
}
