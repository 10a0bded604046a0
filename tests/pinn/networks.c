/* SPDX-License-Identifier: BSD-2-Clause */
/** @file networks.c  Every network: its value against an evaluation by hand from its parameters, its gradient
 * and its second derivatives against differences, the size of its values, the same start for the same seed.
 */
#include "pcsim_test.h"
#include "pinn/network.h"

enum { POINTS = 40, INPUTS = 2, OUTPUTS = 3 };

static network_options options_of(const char *kind, const char *activation) {
  return (network_options){.kind = kind,
                           .num_inputs = INPUTS,
                           .num_outputs = OUTPUTS,
                           .num_layers = 3,
                           .width = {12, 12, 12},
                           .activation = activation,
                           .scale = {2, 3},
                           .num_features = 8,
                           .seed = 11,
                           .stream = 3};
}

static pcsim_program *make(const network_options *o) {
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  const pcsim_value x = pcsim_build_input(p, "coordinates", pcsim_build_space(p, "points"), o->num_inputs);
  pcsim_build_output(p, "u", network_find(o->kind)->build(o, p, "net.", x));
  assert_ok(pcsim_program_status(p));
  return p;
}

static double point(int i, int j) { return 2 * pcsim_random_uniform(1, 2, (uint64_t)(i * INPUTS + j)) - 1; }

/** Values [POINTS][OUTPUTS] by the engine. */
static void run(pcsim_program *p, const double *x, double *u) {
  pcsim_executor *e;
  assert_ok(pcsim_executor_create(p, NULL, &e));
  assert_ok(pcsim_executor_points(e, "points", POINTS));
  assert_ok(pcsim_executor_bind(e, "coordinates", x));
  assert_ok(pcsim_executor_bind_output(e, "u", u));
  assert_ok(pcsim_executor_run(e, true));
  pcsim_executor_destroy(&e);
}

/* ------------------------------------------------------------- evaluations by hand */

static const double *numbers(pcsim_program *p, const char *name, int rows, int columns) {
  char full[64];
  int r, c;
  snprintf(full, sizeof full, "net.%s", name);
  const double *a = pcsim_program_parameter(p, full, &r, &c);
  assert_non_null(a);
  assert_int_equal(r, rows);
  assert_int_equal(c, columns);
  return a;
}
static void dense(pcsim_program *p, int layer, int from, int to, const double *x, double *y) {
  char name[16];
  snprintf(name, sizeof name, "w%d", layer);
  const double *w = numbers(p, name, to, from);
  snprintf(name, sizeof name, "b%d", layer);
  const double *b = numbers(p, name, to, 1);
  for (int i = 0; i < to; i++) {
    y[i] = b[i];
    for (int j = 0; j < from; j++) y[i] += w[i * from + j] * x[j];
  }
}
static double activate(const char *name, double a) {
  if (!strcmp(name, "tanh")) return tanh(a);
  if (!strcmp(name, "sin")) return sin(a);
  return a / (1 + exp(-a));
}
static void mlp(const network_options *o, pcsim_program *p, const double *x, double *u) {
  double a[64], b[64];
  int from = o->num_inputs;
  memcpy(a, x, sizeof(double) * (size_t)from);
  for (int l = 0; l < o->num_layers; l++) {
    dense(p, l, from, o->width[l], a, b);
    for (int i = 0; i < o->width[l]; i++) a[i] = activate(o->activation, b[i]);
    from = o->width[l];
  }
  dense(p, o->num_layers, from, o->num_outputs, a, u);
}

/** The rows that training does not change, as network.h says they are drawn. */
static void fixed(const network_options *o, uint64_t *place, int rows, const double *x, double *y) {
  for (int i = 0; i < rows; i++) {
    y[i] = 0;
    for (int j = 0; j < o->num_inputs; j++) {
      const double w =
          o->scale[j] * pcsim_random_normal(o->seed, o->stream, (*place)++) / sqrt(o->num_inputs);
      y[i] += w * (x[j] - (2 * pcsim_random_uniform(o->seed, o->stream, (*place)++) - 1));
    }
  }
}
static void fourier(const network_options *o, pcsim_program *p, const double *x, double *u) {
  double a[64], b[64];
  uint64_t place = 0;
  int from = 2 * o->num_features;
  fixed(o, &place, o->num_features, x, b);
  for (int i = 0; i < o->num_features; i++) a[i] = sin(b[i]), a[i + o->num_features] = cos(b[i]);
  for (int l = 0; l < o->num_layers; l++) {
    dense(p, l, from, o->width[l], a, b);
    for (int i = 0; i < o->width[l]; i++) a[i] = activate(o->activation, b[i]);
    from = o->width[l];
  }
  dense(p, o->num_layers, from, o->num_outputs, a, u);
}
static void modified(const network_options *o, pcsim_program *p, const double *x, double *out) {
  const int n = o->width[0], m = o->num_inputs;
  const double *wu = numbers(p, "u.w0", n, m), *bu = numbers(p, "u.b0", n, 1);
  const double *wv = numbers(p, "v.w0", n, m), *bv = numbers(p, "v.b0", n, 1);
  double u[64], v[64], a[64], b[64];
  for (int i = 0; i < n; i++) {
    u[i] = bu[i], v[i] = bv[i];
    for (int j = 0; j < m; j++) u[i] += wu[i * m + j] * x[j], v[i] += wv[i * m + j] * x[j];
    u[i] = activate(o->activation, u[i]), v[i] = activate(o->activation, v[i]);
  }
  memcpy(a, x, sizeof(double) * (size_t)m);
  for (int l = 0; l < o->num_layers; l++) {
    dense(p, l, l ? n : m, n, a, b);
    for (int i = 0; i < n; i++) {
      const double h = activate(o->activation, b[i]);
      a[i] = h * u[i] + (1 - h) * v[i];
    }
  }
  dense(p, o->num_layers, n, o->num_outputs, a, out);
}
static void pirate(const network_options *o, pcsim_program *p, const double *x, double *out) {
  const int n = o->width[0];
  double u[64], v[64], a[64] = {0}, h[64], b[64];
  uint64_t place = 0;
  int number = 0;
  fixed(o, &place, n / 2, x, b);
  for (int i = 0; i < n / 2; i++) a[i] = sin(b[i]), a[i + n / 2] = cos(b[i]);
  dense(p, number++, n, n, a, u);
  dense(p, number++, n, n, a, v);
  for (int i = 0; i < n; i++) u[i] = activate(o->activation, u[i]), v[i] = activate(o->activation, v[i]);
  for (int l = 0; l < o->num_layers; l++) {
    char name[16];
    memcpy(h, a, sizeof h);
    for (int k = 0; k < 3; k++) {
      dense(p, number++, n, n, h, b);
      for (int i = 0; i < n; i++) {
        h[i] = activate(o->activation, b[i]);
        if (k < 2) h[i] = h[i] * u[i] + (1 - h[i]) * v[i];
      }
    }
    snprintf(name, sizeof name, "share%d", l);
    const double share = numbers(p, name, 1, 1)[0];
    for (int i = 0; i < n; i++) a[i] = share * h[i] + (1 - share) * a[i];
  }
  dense(p, number, n, o->num_outputs, a, out);
}
static void separable(const network_options *o, pcsim_program *p, const double *x, double *u) {
  const int rank = o->num_features, rows = rank * o->num_outputs;
  double product[64], a[64], b[64];
  for (int i = 0; i < rows; i++) product[i] = 1;
  for (int k = 0; k < o->num_inputs; k++) {
    a[0] = x[k];
    for (int l = 0; l <= o->num_layers; l++) {
      char name[32];
      const int from = l ? o->width[l - 1] : 1, to = l < o->num_layers ? o->width[l] : rows;
      snprintf(name, sizeof name, "x%d.w%d", k, l);
      const double *w = numbers(p, name, to, from);
      snprintf(name, sizeof name, "x%d.b%d", k, l);
      const double *c = numbers(p, name, to, 1);
      for (int i = 0; i < to; i++) {
        b[i] = c[i];
        for (int j = 0; j < from; j++) b[i] += w[i * from + j] * a[j];
        if (l < o->num_layers) b[i] = activate(o->activation, b[i]);
      }
      memcpy(a, b, sizeof a);
    }
    for (int i = 0; i < rows; i++) product[i] *= a[i];
  }
  for (int c = 0; c < o->num_outputs; c++) {
    u[c] = 0;
    for (int i = 0; i < rank; i++) u[c] += product[c * rank + i];
  }
}
static void kan(const network_options *o, pcsim_program *p, const double *x, double *u) {
  double a[64], b[64 * 8];
  int from = o->num_inputs;
  memcpy(a, x, sizeof(double) * (size_t)from);
  for (int l = 0; l <= o->num_layers; l++) {
    const int to = l < o->num_layers ? o->width[l] : o->num_outputs;
    for (int k = 1; k <= o->num_features; k++)
      for (int j = 0; j < from; j++) b[(k - 1) * from + j] = cos(k * acos(tanh(a[j])));
    dense(p, l, from * o->num_features, to, b, l < o->num_layers ? a : u);
    from = to;
  }
}
static void random_features(const network_options *o, pcsim_program *p, const double *x, double *u) {
  double a[64];
  uint64_t place = 0;
  fixed(o, &place, o->num_features, x, a);
  for (int i = 0; i < o->num_features; i++) a[i] = activate(o->activation, a[i]);
  dense(p, 0, o->num_features, o->num_outputs, a, u);
}

static const struct {
  const char *kind;
  void (*by_hand)(const network_options *o, pcsim_program *p, const double *x, double *u);
} hands[] = {{"mlp", mlp},
             {"fourier", fourier},
             {"modified-mlp", modified},
             {"piratenet", pirate},
             {"separable", separable},
             {"kan", kan},
             {"random-features", random_features}};

/* ------------------------------------------------------------------------- tests */

static void values(void **state) {
  (void)state;
  const char *const activations[] = {"tanh", "sin", "swish"};
  size_t n;
  network_list(&n);
  assert_int_equal(n, sizeof hands / sizeof *hands);
  for (size_t k = 0; k < n; k++)
    for (int a = 0; a < 3; a++) {
      const network_options o = options_of(hands[k].kind, activations[a]);
      pcsim_program *p = make(&o), *again = make(&o);
      double x[POINTS * INPUTS], u[POINTS * OUTPUTS], v[POINTS * OUTPUTS], size = 0;
      for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < INPUTS; j++) x[i * INPUTS + j] = point(i, j);
      run(p, x, u);
      run(again, x, v);
      assert_memory_equal(u, v, sizeof u);
      for (int i = 0; i < POINTS; i++) {
        double expected[OUTPUTS];
        hands[k].by_hand(&o, p, x + i * INPUTS, expected);
        for (int c = 0; c < OUTPUTS; c++) {
          assert_close(u[i * OUTPUTS + c], expected[c], 1e-13);
          size += u[i * OUTPUTS + c] * u[i * OUTPUTS + c] / (POINTS * OUTPUTS);
        }
      }
      /* Of order 1, and not the same for all points. */
      print_message("%s %s: rms %.3g\n", o.kind, o.activation, sqrt(size));
      assert_true(sqrt(size) > 0.02 && sqrt(size) < (a < 2 ? 5 : 50)); /* swish is not bounded itself */
      assert_true(fabs(u[0] - u[OUTPUTS]) > 1e-6);
      network_options other = o;
      other.seed = 12;
      pcsim_program *q = make(&other);
      run(q, x, v);
      assert_true(fabs(u[0] - v[0]) > 1e-9);
      pcsim_program_destroy(&p), pcsim_program_destroy(&again), pcsim_program_destroy(&q);
    }
}

/** Names of the parameters, in the order of building. */
static int parameters_of(pcsim_program *p, const char *names[64]) {
  int n = 0;
  while ((names[n] = pcsim_program_parameter_name(p, n, NULL, NULL)) != NULL) n++;
  return n;
}

/** The gradient of the sum of squares by each parameter, at one number of each. */
static void gradients(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof hands / sizeof *hands; k++) {
    const network_options o = options_of(hands[k].kind, "tanh");
    pcsim_program *p = make(&o), *reverse;
    const char *names[64];
    const int n = parameters_of(p, names);
    assert_true(n >= 2);
    assert_ok(pcsim_transform_vjp(p, names, n, &reverse));
    double x[POINTS * INPUTS], u[POINTS * OUTPUTS];
    for (int i = 0; i < POINTS; i++)
      for (int j = 0; j < INPUTS; j++) x[i * INPUTS + j] = point(i, j);
    run(p, x, u);
    for (int j = 0; j < n; j++) {
      int rows, columns;
      char out[96];
      double *g;
      double *a = pcsim_program_parameter(p, names[j], &rows, &columns);
      assert_ok(pcsim_alloc((size_t)(rows * columns), sizeof *g, &g));
      pcsim_executor *e;
      snprintf(out, sizeof out, "b_%s", names[j]);
      assert_ok(pcsim_executor_create(reverse, NULL, &e));
      assert_ok(pcsim_executor_points(e, "points", POINTS));
      assert_ok(pcsim_executor_bind(e, "coordinates", x));
      assert_ok(pcsim_executor_bind(e, "b_u", u));
      assert_ok(pcsim_executor_bind_output(e, out, g));
      assert_ok(pcsim_executor_run(e, true));
      pcsim_executor_destroy(&e);
      const int at = (rows * columns) / 2;
      double loss[2];
      for (int side = 0; side < 2; side++) {
        const double kept = a[at], h = 1e-5;
        double v[POINTS * OUTPUTS];
        a[at] += side ? h : -h;
        run(p, x, v);
        a[at] = kept;
        loss[side] = 0;
        for (int i = 0; i < POINTS * OUTPUTS; i++) loss[side] += 0.5 * v[i] * v[i];
      }
      assert_close(g[at], (loss[1] - loss[0]) / 2e-5, 1e-7 * (1 + fabs(g[at])));
      pcsim_free(&g);
    }
    pcsim_program_destroy(&p), pcsim_program_destroy(&reverse);
  }
}

/** Second derivatives along the first input, as residuals need them. */
static void jets(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof hands / sizeof *hands; k++) {
    const network_options o = options_of(hands[k].kind, "tanh");
    pcsim_program *p = make(&o), *jet;
    assert_ok(pcsim_transform_jet(p, "coordinates", 2, 1, &jet));
    double x[POINTS * INPUTS], v[POINTS * INPUTS], u[3][POINTS * OUTPUTS], second[POINTS * OUTPUTS];
    const double h = 1e-5;
    for (int i = 0; i < POINTS; i++)
      for (int j = 0; j < INPUTS; j++) x[i * INPUTS + j] = point(i, j), v[i * INPUTS + j] = j == 0;
    pcsim_executor *e;
    assert_ok(pcsim_executor_create(jet, NULL, &e));
    assert_ok(pcsim_executor_points(e, "points", POINTS));
    assert_ok(pcsim_executor_bind(e, "coordinates", x));
    assert_ok(pcsim_executor_bind(e, "v_0", v));
    assert_ok(pcsim_executor_bind_output(e, "u_0_2", second));
    assert_ok(pcsim_executor_run(e, true));
    pcsim_executor_destroy(&e);
    for (int s = 0; s < 3; s++) {
      double moved[POINTS * INPUTS];
      for (int i = 0; i < POINTS * INPUTS; i++) moved[i] = x[i] + (s - 1) * h * v[i];
      run(p, moved, u[s]);
    }
    double expected[POINTS * OUTPUTS], largest = 1;
    for (int i = 0; i < POINTS * OUTPUTS; i++) {
      expected[i] = (u[0][i] - 2 * u[1][i] + u[2][i]) / (h * h);
      largest = fmax(largest, fabs(expected[i]));
    }
    for (int i = 0; i < POINTS * OUTPUTS; i++) assert_close(2 * second[i], expected[i], 2e-5 * largest);
    pcsim_program_destroy(&p), pcsim_program_destroy(&jet);
  }
}

/** An activation that there is not is a fault of the program. */
static void unknown(void **state) {
  (void)state;
  const network_options o = options_of("mlp", "tanhh");
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  const pcsim_value x = pcsim_build_input(p, "coordinates", pcsim_build_space(p, "points"), INPUTS);
  assert_int_equal(network_find("mlp")->build(&o, p, "net.", x), PCSIM_NO_VALUE);
  assert_status(pcsim_program_status(p), PCSIM_ERR_ARG);
  pcsim_program_destroy(&p);
  assert_null(network_find("mlpp"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(gradients),
                                     cmocka_unit_test(jets), cmocka_unit_test(unknown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
