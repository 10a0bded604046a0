/* SPDX-License-Identifier: BSD-2-Clause */
/* Transforms of whole programs: triples on a network, names of nested transforms, parameters, collapsed jets,
 * a finite-volume sequence, user operators, partials, simplification. */
#include "autodiff/transform.h"
#include "chain.h"

/* ------------------------------------------------------------------ network */

enum { MAX_LAYERS = 4, MAX_WEIGHTS = 64 };
typedef struct {
  int layers; /* of weights */
  int sizes[MAX_LAYERS + 1];
  double weights[MAX_LAYERS][MAX_WEIGHTS], biases[MAX_LAYERS][16];
} network;

/** Numbers between -1 and 1 that are the same everywhere. */
static double noise(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / (double)(1ull << 52) - 1;
}

static network make_network(int layers, const int *sizes) {
  network net = {.layers = layers};
  uint64_t state = 7;
  for (int l = 0; l <= layers; l++) net.sizes[l] = sizes[l];
  for (int l = 0; l < layers; l++) {
    for (int i = 0; i < sizes[l] * sizes[l + 1]; i++) net.weights[l][i] = noise(&state);
    for (int i = 0; i < sizes[l + 1]; i++) net.biases[l][i] = 0.5 * noise(&state);
  }
  return net;
}

static pcsim_program *build_network(const network *net) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_create(&p));
  pcsim_value a = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), net->sizes[0]);
  for (int l = 0; l < net->layers; l++) {
    char name[16];
    snprintf(name, sizeof name, "W%d", l);
    const pcsim_value w = pcsim_build_parameter(p, name, net->sizes[l + 1], net->sizes[l]);
    memcpy(pcsim_program_parameter(p, name, NULL, NULL), net->weights[l],
           sizeof(double) * (size_t)(net->sizes[l + 1] * net->sizes[l]));
    snprintf(name, sizeof name, "c%d", l);
    const pcsim_value c = pcsim_build_parameter(p, name, net->sizes[l + 1], 1);
    memcpy(pcsim_program_parameter(p, name, NULL, NULL), net->biases[l],
           sizeof(double) * (size_t)net->sizes[l + 1]);
    a = pcsim_build_dense(p, w, a, c);
    if (l + 1 < net->layers) a = pcsim_build_unary(p, PCSIM_OP_TANH, a);
  }
  pcsim_build_output(p, "y", a);
  assert_ok(pcsim_program_status(p));
  return p;
}

static cplx network_value(const void *context, const cplx *z, const double *x) {
  const network *net = context;
  cplx a[16], b[16];
  (void)x;
  for (int i = 0; i < net->sizes[0]; i++) a[i] = z[i];
  for (int l = 0; l < net->layers; l++) {
    for (int i = 0; i < net->sizes[l + 1]; i++) {
      cplx sum = net->biases[l][i];
      for (int j = 0; j < net->sizes[l]; j++) sum += net->weights[l][i * net->sizes[l] + j] * a[j];
      const cplx e = F(cexp)(2 * sum);
      b[i] = l + 1 < net->layers ? (e - 1) / (e + 1) : sum;
    }
    memcpy(a, b, sizeof a);
  }
  return a[0];
}

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

/* ----------------------------------------------------- finite-volume sequence */

enum { CELLS = 12, FACES = 17, ROW = 4 };
typedef struct {
  int32_t owner[FACES], neighbour[FACES];
  int64_t start[CELLS + 1];
  int32_t column[CELLS * ROW];
  double weight[CELLS * ROW * 2];
  double offset[FACES * 4], flux[FACES];
  double u[CELLS];
} mesh;

static mesh make_mesh(void) {
  mesh m = {0};
  uint64_t seed = 11;
  for (int f = 0; f < FACES; f++) {
    m.owner[f] = f % CELLS;
    m.neighbour[f] = (5 * f + 3 + (f % CELLS == (5 * f + 3) % CELLS)) % CELLS;
    m.flux[f] = noise(&seed);
    for (int k = 0; k < 4; k++) m.offset[4 * f + k] = 0.5 * noise(&seed);
  }
  for (int c = 0; c < CELLS; c++) {
    m.start[c + 1] = m.start[c] + 2 + c % 3;
    m.u[c] = noise(&seed);
    for (int64_t e = m.start[c]; e < m.start[c + 1]; e++) {
      m.column[e] = (int32_t)((c + 1 + 3 * (e - m.start[c])) % CELLS);
      for (int k = 0; k < 2; k++) m.weight[2 * e + k] = noise(&seed);
    }
  }
  return m;
}

static pcsim_value op2(pcsim_program *p, pcsim_op op, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, op, a, b);
}

/** Value at the face from one side: u + limiter grad u . d. */
static pcsim_value side(pcsim_program *p, pcsim_map map, pcsim_value u, pcsim_value limited, pcsim_value d) {
  return op2(p, PCSIM_OP_ADD, pcsim_build_gather(p, map, u),
             pcsim_build_row_sum(p, op2(p, PCSIM_OP_MUL, pcsim_build_gather(p, map, limited), d)));
}

/** Gradient, limiter from neighbour extrema, frozen coefficient, upwind flux, dissipation, scatter. */
static pcsim_program *build_sequence(void) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_create(&p));
  const pcsim_space cells = pcsim_build_space(p, "cells"), faces = pcsim_build_space(p, "faces");
  const pcsim_value u = pcsim_build_input(p, "u", cells, 1), flux = pcsim_build_input(p, "flux", faces, 1);
  const pcsim_value offset = pcsim_build_input(p, "offset", faces, 4);
  const pcsim_value nu = pcsim_build_parameter(p, "nu", 1, 1);
  *pcsim_program_parameter(p, "nu", NULL, NULL) = 0.3;
  const pcsim_map owner = pcsim_build_index_map(p, "owner", faces, cells);
  const pcsim_map neighbour = pcsim_build_index_map(p, "neighbour", faces, cells);
  const pcsim_map gradient = pcsim_build_sparse_map(p, "gradient", cells, cells, 2);
  const pcsim_value grad = pcsim_build_sparse(p, gradient, u);
  const pcsim_value up = op2(p, PCSIM_OP_SUB, pcsim_build_segment_max(p, gradient, u), u);
  const pcsim_value down = op2(p, PCSIM_OP_SUB, u, pcsim_build_segment_min(p, gradient, u));
  const pcsim_value steep = pcsim_build_row_sum(
      p, op2(p, PCSIM_OP_MUL, grad, grad)); /* of no method: every kind of value takes part */
  const pcsim_value room =
      op2(p, PCSIM_OP_MIN, op2(p, PCSIM_OP_MUL, up, up), op2(p, PCSIM_OP_MUL, down, down));
  const pcsim_value limiter =
      op2(p, PCSIM_OP_DIV, room,
          op2(p, PCSIM_OP_ADD, op2(p, PCSIM_OP_ADD, room, steep), pcsim_build_constant(p, 0.1)));
  const pcsim_value limited = op2(p, PCSIM_OP_MUL, limiter, grad);
  const pcsim_value left = side(p, owner, u, limited, pcsim_build_slice(p, offset, 0, 2));
  const pcsim_value right = side(p, neighbour, u, limited, pcsim_build_slice(p, offset, 2, 2));
  const pcsim_value positive = op2(p, PCSIM_OP_LT, pcsim_build_constant(p, 0), flux);
  const pcsim_value upwind = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){positive, left, right}, 3);
  const pcsim_value speed =
      pcsim_build_frozen(p, pcsim_build_unary(p, PCSIM_OP_TANH, pcsim_build_gather(p, owner, u)));
  const pcsim_value jump = op2(p, PCSIM_OP_SUB, right, left);
  const pcsim_value convection = op2(p, PCSIM_OP_MUL, op2(p, PCSIM_OP_ADD, flux, speed), upwind);
  const pcsim_value total = op2(p, PCSIM_OP_SUB, convection, op2(p, PCSIM_OP_MUL, nu, jump));
  pcsim_build_output(p, "r",
                     op2(p, PCSIM_OP_SUB, pcsim_build_scatter_add(p, owner, total),
                         pcsim_build_scatter_add(p, neighbour, total)));
  pcsim_build_output(p, "drag", pcsim_build_sum(p, op2(p, PCSIM_OP_MUL, total, total)));
  assert_ok(pcsim_program_status(p));
  return p;
}

static void bind_mesh(interpreter *it, const pcsim_program *p, const mesh *m, const double *u) {
  interpret_begin(it, p);
  interpret_points(it, "cells", CELLS);
  interpret_points(it, "faces", FACES);
  interpret_bind_map(it, "owner", (interpret_map){.index = m->owner});
  interpret_bind_map(it, "neighbour", (interpret_map){.index = m->neighbour});
  interpret_bind_map(it, "gradient",
                     (interpret_map){.start = m->start, .column = m->column, .weight = m->weight});
  interpret_bind(it, "u", u);
  interpret_bind(it, "flux", m->flux);
  interpret_bind(it, "offset", m->offset);
}

static void test_sequence(void **state) {
  (void)state;
  const mesh m = make_mesh();
  pcsim_program *p = build_sequence(), *tangent = NULL, *cotangent = NULL;
  const char *wrt[] = {"u", "nu"};
  assert_ok(pcsim_transform_jvp(p, wrt, 2, &tangent));
  assert_ok(pcsim_transform_vjp(p, wrt, 2, &cotangent));
  double du[CELLS], dnu = 0.7, br[CELLS], bdrag = -0.4;
  uint64_t seed = 21;
  for (int c = 0; c < CELLS; c++) {
    du[c] = noise(&seed);
    br[c] = noise(&seed);
  }
  interpreter f, b;
  bind_mesh(&f, tangent, &m, m.u);
  interpret_bind(&f, "d_u", du);
  interpret_bind(&f, "d_nu", &dnu);
  interpret_run(&f);
  bind_mesh(&b, cotangent, &m, m.u);
  interpret_bind(&b, "b_r", br);
  interpret_bind(&b, "b_drag", &bdrag);
  interpret_run(&b);
  double ahead = bdrag * interpret_output(&f, "d_drag")[0], backward = dnu * interpret_output(&b, "b_nu")[0];
  double size = fabs(ahead) + fabs(backward);
  for (int c = 0; c < CELLS; c++) {
    ahead += br[c] * interpret_output(&f, "d_r")[c];
    backward += du[c] * interpret_output(&b, "b_u")[c];
    size += fabs(br[c] * interpret_output(&f, "d_r")[c]);
  }
  assert_close(ahead / size, backward / size, 1e-13);
  print_message("sequence: <b, J v> against <J^T b, v>: %.1e\n", fabs(ahead - backward) / size);
  interpret_end(&b);

  /* Central differences; what is frozen stays at its value: its input is moved back by hand. */
  pcsim_program *thawed = build_sequence();
  for (int v = 0; v < thawed->num_nodes; v++)
    if (thawed->nodes[v].kind == NODE_FROZEN) {
      interpreter base;
      bind_mesh(&base, p, &m, m.u);
      interpret_run(&base);
      for (int which = 0; which < CELLS; which++) {
        double r[2][CELLS];
        for (int s = 0; s < 2; s++) {
          double u[CELLS];
          memcpy(u, m.u, sizeof u);
          u[which] += s ? -1e-6 : 1e-6;
          interpreter it;
          bind_mesh(&it, thawed, &m, u);
          for (int w = 0; w < thawed->num_nodes; w++) {
            interpret_node(&it, w);
            if (w == v) memcpy(it.values[w], base.values[w], FACES * sizeof(double));
          }
          memcpy(r[s], interpret_output(&it, "r"), sizeof r[s]);
          interpret_end(&it);
        }
        double unit[CELLS] = {0}, none = 0;
        unit[which] = 1;
        interpret_bind(&f, "d_u", unit);
        interpret_bind(&f, "d_nu", &none);
        interpret_run(&f);
        for (int c = 0; c < CELLS; c++)
          assert_close(interpret_output(&f, "d_r")[c], (r[0][c] - r[1][c]) / 2e-6, 1e-7);
      }
      interpret_end(&base);
    }
  interpret_end(&f);
  pcsim_program_destroy(&thawed);
  pcsim_program_destroy(&tangent);
  pcsim_program_destroy(&cotangent);
  pcsim_program_destroy(&p);
}

/** Transforms of transforms of the sequence: forward over reverse against reverse over forward. */
static void test_sequence_nested(void **state) {
  (void)state;
  const mesh m = make_mesh();
  pcsim_program *p = build_sequence(), *g = NULL, *d = NULL, *q[2] = {NULL, NULL};
  const char *wrt[] = {"u"};
  assert_ok(pcsim_program_keep(p, (const char *[]){"drag"}, 1));
  assert_ok(pcsim_transform_vjp(p, wrt, 1, &g));
  assert_ok(pcsim_transform_jvp(g, wrt, 1, &q[0]));
  assert_ok(pcsim_transform_jvp(p, wrt, 1, &d));
  assert_ok(pcsim_program_keep(d, (const char *[]){"d_drag"}, 1));
  assert_ok(pcsim_transform_vjp(d, wrt, 1, &q[1]));
  double du[CELLS], one = 1, results[2][CELLS], size = 0;
  uint64_t seed = 2;
  for (int c = 0; c < CELLS; c++) du[c] = noise(&seed);
  for (int way = 0; way < 2; way++) {
    interpreter it;
    bind_mesh(&it, q[way], &m, m.u);
    interpret_bind(&it, "d_u", du);
    interpret_bind(&it, way ? "b_d_drag" : "b_drag", &one);
    interpret_run(&it);
    memcpy(results[way], interpret_output(&it, way ? "b_u" : "d_b_u"), sizeof results[way]);
    interpret_end(&it);
  }
  for (int c = 0; c < CELLS; c++) size = fmax(size, fabs(results[0][c]));
  assert_true(size > 0.1);
  /* Frozen twice: the products of frozen and thawed parts differ between the orders only if frozen leaks. */
  for (int c = 0; c < CELLS; c++) assert_close(results[0][c] / size, results[1][c] / size, 1e-13);
  pcsim_program_destroy(&q[0]);
  pcsim_program_destroy(&q[1]);
  pcsim_program_destroy(&g);
  pcsim_program_destroy(&d);
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
      cmocka_unit_test(test_triples),           cmocka_unit_test(test_network_cotangents),
      cmocka_unit_test(test_hessian_vector),    cmocka_unit_test(test_names),
      cmocka_unit_test(test_linear_operators),  cmocka_unit_test(test_sequence),
      cmocka_unit_test(test_sequence_nested),   cmocka_unit_test(test_partials),
      cmocka_unit_test(test_matrices),          cmocka_unit_test(test_operators),
      cmocka_unit_test(test_estimator),         cmocka_unit_test(test_random_operators),
      cmocka_unit_test(test_random_directions),
  };
  return interpret_balance(cmocka_run_group_tests_name("transforms", tests, NULL, NULL));
}
