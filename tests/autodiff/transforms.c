/* SPDX-License-Identifier: BSD-2-Clause */
/* Transforms of whole programs: triples on a network, names of nested transforms, parameters and matrices. */
#include "network.h"

static const double along[8][16] = {{0.8, 0.3}, {-0.6, 0.5}, {0.5, -0.9},
                                    {0.7, 0.6}, {-0.4, 0.8}, {0.9, -0.2}};

static void test_triples(void **state) {
  (void)state;
  const network net = make_network(3, (const int[]){2, 5, 5, 1});
  pcsim_program *p = build_network(&net);
  const double x[2] = {0.35, -0.2};
  double worst = 0;
  for (int code = 0; code < NUM_STEPS * NUM_STEPS * NUM_STEPS; code++) {
    const step steps[3] = {(step)(code / NUM_STEPS / NUM_STEPS), (step)(code / NUM_STEPS % NUM_STEPS),
                           (step)(code % NUM_STEPS)};
    double size;
    const double got = chain_value(p, x, 2, steps, 3, along);
    const double expected = chain_reference(network_value, &net, 2, x, 0.5, steps, 3, along, &size);
    const double error = fabs(got - expected) / fmax(fabs(expected), size);
    if (!(error <= 1e-12))
      fail_msg("%s of %s of %s: %.17g, expected %.17g (%g)", step_names[steps[2]], step_names[steps[1]],
               step_names[steps[0]], got, expected, error);
    worst = fmax(worst, error);
  }
  print_message("triples on 2-5-5-1: worst %.1e\n", worst);
  pcsim_program_destroy(&p);
}

/** y'_v = <b, J v> = <J^T b, v> along all parameters and the input, on several points. */
static void test_network_cotangents(void **state) {
  (void)state;
  enum { POINTS = 7 };
  const network net = make_network(3, (const int[]){2, 5, 5, 1});
  pcsim_program *p = build_network(&net), *tangent = NULL, *cotangent = NULL;
  const char *wrt[] = {"x", "W0", "c0", "W1", "c1", "W2", "c2"};
  enum { NUM_WRT = 7 };
  assert_ok(pcsim_transform_jvp(p, wrt, NUM_WRT, &tangent));
  assert_ok(pcsim_transform_vjp(p, wrt, NUM_WRT, &cotangent));
  double x[2 * POINTS], bar[POINTS], d[NUM_WRT][64];
  uint64_t seed = 3;
  for (int i = 0; i < 2 * POINTS; i++) x[i] = noise(&seed);
  for (int i = 0; i < POINTS; i++) bar[i] = noise(&seed);
  for (int i = 0; i < NUM_WRT; i++)
    for (int k = 0; k < 64; k++) d[i][k] = noise(&seed);
  interpreter f, b;
  interpret_begin(&f, tangent);
  interpret_begin(&b, cotangent);
  interpret_points(&f, "points", POINTS);
  interpret_points(&b, "points", POINTS);
  interpret_bind(&f, "x", x);
  interpret_bind(&b, "x", x);
  interpret_bind(&b, "b_y", bar);
  for (int i = 0; i < NUM_WRT; i++) {
    char name[16];
    snprintf(name, sizeof name, "d_%s", wrt[i]);
    interpret_bind(&f, name, d[i]);
  }
  interpret_run(&f);
  interpret_run(&b);
  double ahead = 0, backward = 0, size = 0;
  for (int i = 0; i < POINTS; i++) ahead += bar[i] * interpret_output(&f, "d_y")[i];
  for (int i = 0; i < NUM_WRT; i++) {
    char name[16];
    snprintf(name, sizeof name, "b_%s", wrt[i]);
    const node *n = graph_node(p, graph_find(p, wrt[i]));
    const int count = n->rows * n->columns * (n->space == PCSIM_NO_SPACE ? 1 : POINTS);
    for (int k = 0; k < count; k++) {
      backward += interpret_output(&b, name)[k] * d[i][k];
      size += fabs(interpret_output(&b, name)[k] * d[i][k]);
    }
  }
  assert_close(ahead / size, backward / size, 1e-13);
  print_message("network: <b, J v> against <J^T b, v>: %.1e\n", fabs(ahead - backward) / size);
  interpret_end(&f);
  interpret_end(&b);
  pcsim_program_destroy(&tangent);
  pcsim_program_destroy(&cotangent);
  pcsim_program_destroy(&p);
}

/** Second derivatives along parameters: mean of y^2, Hessian times a direction by jvp of vjp, vjp of jvp, vjp
 * of vjp and central differences. */
static void test_hessian_vector(void **state) {
  (void)state;
  enum { POINTS = 5 };
  const network net = make_network(2, (const int[]){2, 4, 1});
  pcsim_program *p = build_network(&net);
  const pcsim_value y = graph_find_output(p, "y");
  pcsim_build_output(p, "loss", pcsim_build_mean(p, pcsim_build_binary(p, PCSIM_OP_MUL, y, y)));
  assert_ok(pcsim_program_keep(p, (const char *[]){"loss"}, 1));
  const char *wrt[] = {"W0", "W1"};
  pcsim_program *g = NULL, *d = NULL, *over[3] = {NULL, NULL, NULL};
  assert_ok(pcsim_transform_vjp(p, wrt, 2, &g)); /* b_W0, b_W1 */
  assert_ok(pcsim_transform_jvp(p, wrt, 2, &d)); /* d_loss */
  assert_ok(pcsim_transform_jvp(g, wrt, 2, &over[0]));
  assert_ok(pcsim_program_keep(d, (const char *[]){"d_loss"}, 1));
  assert_ok(pcsim_transform_vjp(d, wrt, 2, &over[1]));
  assert_ok(pcsim_transform_vjp(g, wrt, 2, &over[2])); /* b2_W0 from b2_b_W0 */
  double x[2 * POINTS], direction[2][8], one = 1, zero = 0, central[8];
  uint64_t seed = 5;
  for (int i = 0; i < 2 * POINTS; i++) x[i] = noise(&seed);
  for (int i = 0; i < 16; i++) direction[i / 8][i % 8] = noise(&seed);
  for (int s = 0; s < 2; s++) {
    interpreter it;
    double w[2][8];
    const double h = 1e-5;
    interpret_begin(&it, g);
    interpret_points(&it, "points", POINTS);
    for (int l = 0; l < 2; l++)
      for (int k = 0; k < (l ? 4 : 8); k++) w[l][k] = net.weights[l][k] + (s ? -h : h) * direction[l][k];
    interpret_bind(&it, "W0", w[0]);
    interpret_bind(&it, "W1", w[1]);
    interpret_bind(&it, "x", x);
    interpret_bind(&it, "b_loss", &one);
    interpret_run(&it);
    for (int k = 0; k < 8; k++)
      central[k] =
          s ? (central[k] - interpret_output(&it, "b_W0")[k]) / (2 * h) : interpret_output(&it, "b_W0")[k];
    interpret_end(&it);
  }
  double results[3][8];
  for (int way = 0; way < 3; way++) {
    interpreter it;
    interpret_begin(&it, over[way]);
    interpret_points(&it, "points", POINTS);
    interpret_bind(&it, "x", x);
    interpret_bind(&it, way == 2 ? "b2_b_W0" : "d_W0", direction[0]);
    interpret_bind(&it, way == 2 ? "b2_b_W1" : "d_W1", direction[1]);
    interpret_bind(&it, way == 1 ? "b_d_loss" : "b_loss", &one);
    if (way == 2) interpret_bind(&it, "b2_loss", &zero);
    interpret_run(&it);
    const char *names[3] = {"d_b_W0", "b_W0", "b2_W0"};
    memcpy(results[way], interpret_output(&it, names[way]), sizeof results[way]);
    interpret_end(&it);
  }
  for (int k = 0; k < 8; k++) {
    assert_close(results[0][k], central[k], 1e-8);
    assert_close(results[0][k], results[1][k], 1e-14);
    assert_close(results[0][k], results[2][k], 1e-14);
  }
  pcsim_program_destroy(&over[0]);
  pcsim_program_destroy(&over[1]);
  pcsim_program_destroy(&over[2]);
  pcsim_program_destroy(&g);
  pcsim_program_destroy(&d);
  pcsim_program_destroy(&p);
}

/** Matrices on no space: broadcast of one number, rows taken out, sums over rows and columns, products; each
 * program's cotangents against tangents, and the same for its gradient program. */
static pcsim_program *build_matrices(void) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_create(&p));
  const pcsim_value w = pcsim_build_parameter(p, "W", 3, 4), s = pcsim_build_parameter(p, "s", 1, 1);
  const pcsim_value u = pcsim_build_parameter(p, "u", 4, 1),
                    x = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), 3);
  const pcsim_value squares = pcsim_build_binary(p, PCSIM_OP_MUL, s, pcsim_build_unary(p, PCSIM_OP_SIN, w));
  const pcsim_value columns = pcsim_build_row_sum(p, pcsim_build_slice(p, squares, 1, 2)); /* 1 x 4 */
  const pcsim_value y = pcsim_build_dense_transposed(p, w, pcsim_build_dense(p, squares, u, PCSIM_NO_VALUE));
  const pcsim_value both = pcsim_build_binary(p, PCSIM_OP_MUL, graph_transpose(p, columns), y);
  const pcsim_value outer =
      pcsim_build_outer(p, pcsim_build_dense_transposed(p, w, x), x); /* 4 x 3, over points */
  const pcsim_value product =
      pcsim_build_dense(p, outer, pcsim_build_dense(p, w, u, PCSIM_NO_VALUE), PCSIM_NO_VALUE);
  const pcsim_value mixed = pcsim_build_concat(p, (pcsim_value[]){both, s, product, u}, 4);
  pcsim_build_output(p, "y", pcsim_build_row_sum(p, pcsim_build_binary(p, PCSIM_OP_MUL, mixed, mixed)));
  assert_ok(pcsim_program_status(p));
  return p;
}

static void bind_noise(interpreter *it, const pcsim_program *p, uint64_t seed, double (*store)[64]) {
  interpret_begin(it, p);
  interpret_points(it, "points", 5);
  for (int i = 0; i < p->num_names; i++) {
    /* Numbers that depend on the name: the same in every program. */
    uint64_t state = seed;
    for (const char *c = p->names[i]; *c; c++) state = state * 31 + (uint64_t)*c;
    for (int k = 0; k < 64; k++) store[i][k] = noise(&state);
    interpret_bind(it, p->names[i], store[i]);
  }
  interpret_run(it);
}

static void check_duality(const pcsim_program *p, const char *output) {
  const char *wrt[] = {"W", "s", "u", "x"};
  const int counts[] = {12, 1, 4, 15};
  char name[64];
  pcsim_program *tangent = NULL, *cotangent = NULL;
  assert_ok(pcsim_transform_jvp(p, wrt, 4, &tangent));
  assert_ok(pcsim_transform_vjp(p, wrt, 4, &cotangent));
  static double a[64][64], b[64][64];
  interpreter f, r;
  bind_noise(&f, tangent, 1, a);
  bind_noise(&r, cotangent, 1, b);
  const node *out = graph_node(p, graph_find_output(p, output));
  const int count = out->rows * out->columns;
  double ahead = 0, backward = 0, size = 0;
  snprintf(name, sizeof name, "d_%s", output);
  const double *d = interpret_output(&f, name);
  snprintf(name, sizeof name, !strcmp(output, "y") ? "b_%s" : "b2_%s", output);
  for (int i = 0; i < cotangent->num_names; i++)
    for (int k = 0; k < count && !strcmp(cotangent->names[i], name); k++) ahead += d[k] * b[i][k];
  for (int i = 0; i < 4; i++) {
    const double *bar;
    snprintf(name, sizeof name, !strcmp(output, "y") ? "b_%s" : "b2_%s", wrt[i]);
    bar = interpret_output(&r, name);
    snprintf(name, sizeof name, "d_%s", wrt[i]);
    for (int n = 0; n < tangent->num_names; n++)
      for (int k = 0; k < counts[i] && !strcmp(tangent->names[n], name); k++) {
        backward += a[n][k] * bar[k];
        size += fabs(a[n][k] * bar[k]);
      }
  }
  assert_true(size > 1e-3);
  assert_close(ahead / size, backward / size, 1e-13);
  interpret_end(&f);
  interpret_end(&r);
  pcsim_program_destroy(&tangent);
  pcsim_program_destroy(&cotangent);
}

static void test_matrices(void **state) {
  (void)state;
  pcsim_program *p = build_matrices(), *g = NULL, *only = NULL;
  const char *wrt[] = {"W", "s", "u", "x"}, *outputs[] = {"b_W", "b_s", "b_u", "b_x"};
  check_duality(p, "y");
  assert_ok(pcsim_transform_vjp(p, wrt, 4, &g));
  for (int i = 0; i < 4; i++) {
    assert_ok(pcsim_program_copy(g, &only));
    assert_ok(pcsim_program_keep(only, (const char *[]){outputs[i]}, 1));
    if (i < 3) check_duality(only, outputs[i]);
    pcsim_program_destroy(&only);
  }
  pcsim_program_destroy(&g);
  pcsim_program_destroy(&p);
}

/** Names of nested transforms that keep everything. */
static void test_names(void **state) {
  (void)state;
  const network net = make_network(1, (const int[]){2, 1});
  pcsim_program *p = build_network(&net), *q = NULL;
  const char *wrt[] = {"x"};
  const struct {
    int kind;
    const char *input, *outputs[3];
  } steps[] = {{0, "d_x", {"d_y", "y", "y"}},
               {0, "d2_x", {"d2_y", "d2_d_y", "d_y"}},
               {1, "b_d2_d_y", {"b_x", "y", "d_y"}},
               {1, "b2_b_x", {"b2_x", "b_x", "y"}},
               {2, "v_0", {"y_0_1", "y_0_2", "d_y_0_1"}},
               {2, "v2_0", {"y_v2_0_1", "y_0_2_v2_0_2", "b_x_v2_0_1"}},
               {3, "v3_1", {"y_v3_sum", "y_v3_1_1", "b2_x_v3_0_1"}}};
  for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
    if (steps[s].kind == 0) assert_ok(pcsim_transform_jvp(p, wrt, 1, &q));
    if (steps[s].kind == 1) assert_ok(pcsim_transform_vjp(p, wrt, 1, &q));
    if (steps[s].kind == 2) assert_ok(pcsim_transform_jet(p, "x", 2, 1, &q));
    if (steps[s].kind == 3) assert_ok(pcsim_transform_jet_collapsed(p, "x", 2, 2, NULL, &q));
    if (graph_find(q, steps[s].input) < 0) fail_msg("step %zu: no input '%s'", s, steps[s].input);
    for (int i = 0; i < 3; i++)
      if (graph_find_output(q, steps[s].outputs[i]) < 0)
        fail_msg("step %zu: no output '%s'", s, steps[s].outputs[i]);
    pcsim_program_destroy(&p);
    p = q;
  }
  const char *wrong[] = {"xx"};
  assert_status(pcsim_transform_jvp(p, wrong, 1, &q), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "did you mean 'x'"));
  assert_status(pcsim_program_keep(p, (const char *[]){"y_0_3"}, 1), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "did you mean"));
  pcsim_program_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_triples),        cmocka_unit_test(test_network_cotangents),
      cmocka_unit_test(test_hessian_vector), cmocka_unit_test(test_matrices),
      cmocka_unit_test(test_names),
  };
  return interpret_balance(cmocka_run_group_tests_name("transforms", tests, NULL, NULL));
}
