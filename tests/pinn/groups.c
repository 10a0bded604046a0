/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of residuals as an objective: loss, gradient, J, J^T J and J^T J v agree with each other and with
 * differences, on any number of threads; what does not depend on theta is computed when points are set. */
#include "pinn/groups.h"
#include "pcsim_test.h"

enum { WIDTH = 5, INSIDE = 60, EDGE = 9, MEANS = 2, NUM = 4 * WIDTH + 1 };

static const char *const coordinates[] = {"x", "y"}, *const unknowns[] = {"u", "k"};
static const pcsim_lowering names = {2, coordinates, 2, unknowns, 0, NULL, NULL, 0, NULL, 0};

static const groups_columns none = {0, NULL, NULL};
static const char *const normal_names[] = {"n.x", "n.y"};

static pcsim_value parameter(pcsim_program *p, const char *name, int rows, int columns, double scale) {
  const pcsim_value v = pcsim_build_parameter(p, name, rows, columns);
  double *numbers = pcsim_program_parameter(p, name, NULL, NULL);
  for (int i = 0; i < rows * columns; i++) numbers[i] = scale * sin(1.3 * i + rows + 0.2);
  return v;
}

/* u, a small network that is zero at x = 0; k, a number. */
static pcsim_program *fields(void) {
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  const pcsim_value x = pcsim_build_input(p, "coordinates", pcsim_build_space(p, "points"), 2),
                    first = pcsim_build_slice(p, x, 0, 1);
  pcsim_value y =
      pcsim_build_dense(p, parameter(p, "net_w", WIDTH, 2, 1.5), x, parameter(p, "net_b", WIDTH, 1, 0.7));
  y = pcsim_build_dense(p, parameter(p, "net_v", 1, WIDTH, 1), pcsim_build_unary(p, PCSIM_OP_TANH, y),
                        PCSIM_NO_VALUE);
  pcsim_build_output(p, "u", pcsim_build_binary(p, PCSIM_OP_MUL, first, y));
  const pcsim_value zero = pcsim_build_binary(p, PCSIM_OP_MUL, pcsim_build_constant(p, 0), first);
  pcsim_build_output(p, "k", pcsim_build_binary(p, PCSIM_OP_ADD, zero, parameter(p, "net_k", 1, 1, 2)));
  assert_ok(pcsim_program_status(p));
  return p;
}

static void add_times(groups *g, pcsim_program *u, const char *name, const char *const *texts, int n,
                      const char *factor) {
  pcsim_program *lowered, *composed;
  assert_ok(pcsim_lower(texts, n, &names, &lowered, NULL, NULL));
  assert_ok(pcsim_lower_compose(lowered, &names, u, &composed));
  assert_ok(groups_add(g, name, composed, n, false, factor));
  pcsim_program_destroy(&lowered);
  pcsim_program_destroy(&composed);
}

static void add(groups *g, pcsim_program *u, const char *name, const char *const *texts, int n) {
  add_times(g, u, name, texts, n, NULL);
}

typedef struct {
  pcsim_program *u;
  groups_parameters parameters;
  groups *g;
  double theta[NUM];
} setting;

static void begin(setting *s, int threads) {
  static const char *const inside[] = {"k*lap(u) + u^2 - sin(3*x*y)", "u_x*u_y - exp(x)"},
                           *const edge[] = {"dn(u) - y"}, *const number[] = {"k^2 - x"},
                           *const means[MEANS] = {"k*u^2 - x", "u_x - y"};
  static const double weights[2] = {2, 0.5}, heavy = 7, of_means[MEANS] = {3, 11};
  double points[2 * INSIDE], normals[2 * INSIDE];
  s->u = fields();
  assert_ok(groups_parameters_of(s->u, "net_", &s->parameters));
  assert_int_equal(s->parameters.first[s->parameters.num], NUM);
  assert_ok(groups_create(&s->parameters, threads, &s->g));
  add(s->g, s->u, "interior", inside, 2);
  add(s->g, s->u, "edge", edge, 1);
  add(s->g, s->u, "number", number, 1); /* without the network's weights */
  for (int i = 0; i < 2 * INSIDE; i++) points[i] = 0.01 * ((i * 37) % 101), normals[i] = i % 2 ? 0.8 : 0.6;
  assert_ok(groups_points(s->g, 0, INSIDE, 2, points, &none));
  assert_ok(groups_points(s->g, 1, EDGE, 2, points, &(groups_columns){2, normal_names, normals}));
  assert_ok(groups_points(s->g, 2, 1, 2, points + 20, &none));
  groups_weight(s->g, 0, weights);
  groups_weight(s->g, 1, &heavy);
  add(s->g, s->u, "means", means, MEANS); /* two residuals, whatever the number of points */
  groups_mean(s->g, 3);
  assert_ok(groups_points(s->g, 3, INSIDE / 2, 2, points, &none));
  groups_weight(s->g, 3, of_means);
  memcpy(s->theta, s->parameters.start, sizeof s->theta);
}

static void end(setting *s) {
  groups_destroy(&s->g);
  groups_parameters_clear(&s->parameters);
  pcsim_program_destroy(&s->u);
}

static void test_gradient(void **state) {
  (void)state;
  setting s;
  double loss, gradient[NUM], plus, minus, theta[NUM];
  begin(&s, 1);
  objective *o = groups_objective(s.g);
  assert_int_equal(o->num_residuals, 2 * INSIDE + EDGE + 1 + MEANS);
  assert_ok(o->loss(o, s.theta, &loss, gradient));
  for (int i = 0; i < NUM; i++) {
    const double h = 1e-5;
    memcpy(theta, s.theta, sizeof theta);
    theta[i] += h;
    assert_ok(o->loss(o, theta, &plus, NULL));
    theta[i] -= 2 * h;
    assert_ok(o->loss(o, theta, &minus, NULL));
    assert_close(gradient[i], (plus - minus) / (2 * h), 1e-7 * (1 + fabs(gradient[i])));
  }
  end(&s);
}

static void test_jacobian(void **state) {
  (void)state;
  enum { M = 2 * INSIDE + EDGE + 1 + MEANS };
  static double j[NUM * M], r[M], product[NUM * NUM], v[NUM], out[NUM];
  double loss, again, gradient[NUM], square = 0;
  setting s;
  begin(&s, 2);
  objective *o = groups_objective(s.g);
  assert_ok(o->jacobian(o, s.theta, &loss, r, j));
  assert_ok(o->normal(o, s.theta, &again, gradient, product));
  assert_close(loss, again, 1e-13 * loss);
  for (int i = 0; i < M; i++) square += 0.5 * r[i] * r[i];
  assert_close(square, loss, 1e-13 * loss);
  for (int a = 0; a < NUM; a++) {
    double sum = 0;
    for (int i = 0; i < M; i++) sum += j[a * M + i] * r[i];
    assert_close(gradient[a], sum, 1e-12 * (1 + fabs(sum)));
    for (int b = 0; b <= a; b++) {
      sum = 0;
      for (int i = 0; i < M; i++) sum += j[a * M + i] * j[b * M + i];
      assert_close(product[a * NUM + b], sum, 1e-12 * (1 + fabs(sum)));
    }
    v[a] = cos(a);
  }
  assert_ok(o->loss(o, s.theta, &loss, gradient));
  assert_ok(o->product(o, v, out));
  for (int a = 0; a < NUM; a++) {
    double sum = 0;
    for (int b = 0; b < NUM; b++) sum += product[a > b ? a * NUM + b : b * NUM + a] * v[b];
    assert_close(out[a], sum, 1e-12 * (1 + fabs(sum)));
  }
  double traces[2], of_first = 0;
  assert_ok(groups_traces(s.g, 0, s.theta, traces));
  for (int a = 0; a < NUM; a++)
    for (int i = 0; i < INSIDE; i++) of_first += j[a * M + i] * j[a * M + i] / groups_weights(s.g, 0)[0];
  assert_close(traces[0], of_first, 1e-12 * of_first);
  double squares[MEANS];
  assert_ok(groups_traces(s.g, 3, s.theta, traces));
  assert_ok(groups_mean_squares(s.g, 3, s.theta, squares));
  for (int k = 0; k < MEANS; k++) {
    const double weight = groups_weights(s.g, 3)[k];
    double of_mean = 0;
    for (int a = 0; a < NUM; a++) of_mean += j[a * M + M - MEANS + k] * j[a * M + M - MEANS + k] / weight;
    assert_close(traces[k], of_mean, 1e-12 * of_mean);
    assert_close(squares[k], r[M - MEANS + k] * r[M - MEANS + k] / weight, 1e-12);
  }
  end(&s);
}

/* A column that rows are multiplied by: points with weights of their own, in loss, gradient and residuals. */
static void test_factor(void **state) {
  (void)state;
  static const char *const texts[] = {"k*lap(u) + u^2 - sin(3*x*y)", "u_x*u_y - exp(x)"}, *const name =
                                                                                              "root";
  double points[2 * EDGE], root[EDGE], plain[2 * EDGE], weighed[2 * EDGE], loss, sum = 0;
  pcsim_program *u = fields();
  groups_parameters parameters;
  groups *g;
  assert_ok(groups_parameters_of(u, "net_", &parameters));
  assert_ok(groups_create(&parameters, 1, &g));
  add_times(g, u, "weighed", texts, 2, name);
  for (int i = 0; i < EDGE; i++)
    root[i] = 0.1 * (i + 1), points[2 * i] = 0.03 * i, points[2 * i + 1] = 1 - 0.02 * i;
  const groups_columns columns = {1, &name, root};
  assert_ok(groups_points(g, 0, EDGE, 2, points, &columns));
  assert_ok(groups_residuals(g, 0, parameters.start, EDGE, points, &columns, weighed));
  add(g, u, "plain", texts, 2);
  assert_ok(groups_residuals(g, 1, parameters.start, EDGE, points, &none, plain));
  for (int i = 0; i < 2 * EDGE; i++) {
    assert_close(weighed[i], root[i / 2] * plain[i], 1e-13 * (1 + fabs(plain[i])));
    sum += 0.5 * weighed[i] * weighed[i] / EDGE;
  }
  assert_ok(groups_objective(g)->loss(groups_objective(g), parameters.start, &loss, NULL));
  assert_close(loss, sum, 1e-12 * sum);
  groups_destroy(&g);
  groups_parameters_clear(&parameters);
  pcsim_program_destroy(&u);
}

/* The same bits on any number of threads; residuals elsewhere are those of the same program. */
static void test_threads(void **state) {
  (void)state;
  double loss[2], gradient[2][NUM], elsewhere[2 * INSIDE], squares[2], mean[2] = {0, 0}, average[MEANS] = {0};
  for (int k = 0; k < 2; k++) {
    setting s;
    begin(&s, 1 + 2 * k);
    objective *o = groups_objective(s.g);
    assert_ok(o->loss(o, s.theta, &loss[k], gradient[k]));
    const double *points;
    const int64_t n = groups_get_points(s.g, 0, &points);
    assert_ok(groups_residuals(s.g, 0, s.theta, n, points, &none, elsewhere));
    if (k) {
      double of_points[MEANS * INSIDE];
      const int64_t half = groups_get_points(s.g, 3, &points);
      assert_ok(groups_residuals(s.g, 3, s.theta, half, points, &none, of_points));
      assert_ok(groups_mean_squares(s.g, 3, s.theta, squares));
      for (int i = 0; i < MEANS * half; i++) average[i % MEANS] += of_points[i] / (double)half;
      for (int i = 0; i < MEANS; i++) assert_close(squares[i], average[i] * average[i], 1e-13);
    }
    assert_ok(groups_mean_squares(s.g, 0, s.theta, squares));
    end(&s);
  }
  assert_memory_equal(&loss[0], &loss[1], sizeof loss[0]);
  assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
  for (int i = 0; i < INSIDE; i++)
    for (int k = 0; k < 2; k++) mean[k] += elsewhere[2 * i + k] * elsewhere[2 * i + k] / INSIDE;
  for (int k = 0; k < 2; k++) assert_close(squares[k], mean[k], 1e-13 * mean[k]);
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradient), cmocka_unit_test(test_jacobian),
                                     cmocka_unit_test(test_factor), cmocka_unit_test(test_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
