/* SPDX-License-Identifier: BSD-2-Clause */
/* A training: what is kept of it, how its conditions are weighed. */
#include "pcsim_test.h"
#include "pinn/train.h"

static const char *const poisson = "domain: {box: {x: [0, 1], y: [0, 1]}}\n"
                                   "physics: {unknowns: [u], equations: [\"lap(u) + 1\"]}\n"
                                   "network: {layers: [8, 8], activation: tanh}\n";

static pcsim_training *make(const char *rest, pcsim_tree **tree) {
  char text[1000];
  pcsim_training *t = NULL;
  snprintf(text, sizeof text, "%s%s", poisson, rest);
  assert_ok(pcsim_tree_parse(text, strlen(text), "case", tree));
  assert_ok(pcsim_training_read(*tree, &t));
  assert_ok(pcsim_tree_status(*tree));
  return t;
}

/** Until one is worse than an earlier one. */
typedef struct {
  double least;
  int64_t step, worse; /* of the least; of the first that is half as bad again */
} looks;

static pcsim_status look(void *context, const pcsim_training_step *step) {
  looks *l = context;
  if (l->worse) return PCSIM_OK;
  if (step->held_out < l->least) l->least = step->held_out, l->step = step->step;
  else if (step->held_out > 1.5 * l->least) l->worse = step->step;
  return PCSIM_OK;
}

static const char *const restless = "boundaries: {\"*\": {u: 0}}\n"
                                    "train: {budget: 400 steps, points: 200, optimizer: {adam: "
                                    "{rate: 0.3}}}\n";

/* u at a point after the steps up to `last`; `*held_out` of what is kept. */
static double run_to(int64_t last, looks *l, double *held_out) {
  const double point[2] = {0.3, 0.6};
  double u;
  pcsim_tree *tree;
  pcsim_training_result result;
  pcsim_training *t = make(restless, &tree);
  assert_ok(pcsim_training_run(t, last, l ? look : NULL, l, &result));
  assert_ok(pcsim_training_evaluate(t, 1, point, &u, NULL));
  *held_out = result.held_out;
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
  return u;
}

/* An optimiser that goes up and down: what is kept is the state of its best look. */
static void best(void **state) {
  (void)state;
  looks l = {.least = INFINITY};
  double then, kept, ignored;
  (void)run_to(-1, &l, &ignored);
  assert_true(l.step > 0 && l.worse > l.step);
  const double u = run_to(l.step, NULL, &then), later = run_to(l.worse, NULL, &kept);
  assert_true(then == l.least && kept == l.least);
  assert_true(u == later);
}

/* A penalised row has the trace of the interior in J^T J, however it is written. */
static void balance(void **state) {
  (void)state;
  static const char *const written[] = {
      "boundaries: {x-min: {u: 0, exact: false}, x-max: {\"dn(u)\": 1}, \"y-*\": {u: 0}}\n"
      "train: {budget: 10 steps, points: 200}\n",
      "boundaries: {x-min: {\"100*u\": 0}, x-max: {\"dn(u)\": 1}, \"y-*\": {u: 0}}\n"
      "train: {budget: 10 steps, points: 200}\n"};
  double weight[2];
  for (int i = 0; i < 2; i++) {
    pcsim_tree *tree;
    pcsim_training *t = make(written[i], &tree);
    double interior, trace;
    assert_int_equal(t->num_groups, 3);
    assert_ok(groups_traces(t->groups, 0, t->theta, &interior));
    for (int g = 1; g < 3; g++) {
      assert_ok(groups_traces(t->groups, g, t->theta, &trace));
      assert_close(groups_weights(t->groups, g)[0] * trace / interior, 1, 1e-12);
    }
    weight[i] = groups_weights(t->groups, 1)[0];
    pcsim_training_destroy(&t);
    pcsim_tree_destroy(&tree);
  }
  assert_close(weight[0] / weight[1], 1e4, 1e-6);
}

/* u and v of a stream function: no divergence whatever the weights are, at rest on the walls that hang
 * together; the lid is penalised. */
static void stream(void **state) {
  (void)state;
  static const char *const cavity =
      "domain: {box: {x: [0, 1], y: [0, 2]}}\n"
      "physics: {model: navier-stokes, viscosity: 0.1}\n"
      "boundaries: {y-max: {velocity: [\"4*x*(1-x)\", 0]}, \"*\": {wall: no-slip}}\n"
      "network: {layers: [8, 8], activation: tanh, divergence-free: true}\n"
      "train: {budget: 10 steps, points: 200}\n";
  const double points[][2] = {{0.3, 0.6}, {0.9, 1.9}, {0, 0.4}, {1, 1.3}, {0.4, 0}, {0.5, 2}};
  double values[6][3], slopes[6][3][2];
  pcsim_tree *tree = NULL;
  pcsim_training *t = NULL;
  assert_ok(pcsim_tree_parse(cavity, strlen(cavity), "case", &tree));
  assert_ok(pcsim_training_read(tree, &t));
  assert_ok(pcsim_tree_status(tree));
  assert_ok(pcsim_training_evaluate(t, 6, points[0], values[0], slopes[0][0]));
  for (int i = 0; i < 6; i++) {
    const double size = fabs(slopes[i][0][0]) + fabs(slopes[i][0][1]) + fabs(slopes[i][1][0]);
    assert_true(size > 1e-6);
    assert_close(slopes[i][0][0] + slopes[i][1][1], 0, 1e-13 * (1 + size));
    for (int k = 0; k < 2 && i >= 2 && i < 5; k++) assert_close(values[i][k], 0, 1e-14);
  }
  assert_true(fabs(values[0][0]) > 1e-6 && fabs(values[5][0]) > 1e-6);
  assert_int_equal(t->num_groups, 2);
  assert_int_equal(groups_rows(t->groups, 0), 2); /* momentum alone */
  assert_string_equal(t->group[1].name, "y-max");
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
}

/* Left open it is there where a steady flow has velocities all around and its walls hang together; the
 * network sees the corners in which these contradict continuity, the two at the lid. */
static void stream_chosen(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool stream;
    int inputs;
  } flows[] = {
      {"domain: {box: {x: [0, 1], y: [0, 1]}}\n"
       "boundaries: {y-max: {velocity: [\"4*x*(1-x)\", 0]}, \"*\": {wall: no-slip}}\n",
       true, 2 + 2 * 3},
      {"domain: {box: {x: [0, 1], y: [0, 1]}}\n" /* smooth in its corners */
       "boundaries: {y-max: {velocity: [\"(x*(1-x))^2\", 0]}, \"*\": {wall: no-slip}}\n",
       true, 2},
      {"domain: {box: {x: [0, 1], y: [0, 1], t: [0, 1]}}\ninitial: {u: 0, v: 0, exact: false}\n"
       "boundaries: {y-max: {velocity: [\"4*x*(1-x)\", 0]}, \"*\": {wall: no-slip}}\n",
       false, 3},
      {"domain: {box: {x: [0, 2], y: [0, 1]}}\n"
       "boundaries: {x-min: {velocity: [\"y*(1-y)\", 0]}, x-max: {pressure: 0}, \"y-*\": {wall: no-slip}}\n",
       false, 2}};
  for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
    char text[1000];
    int rows, columns;
    pcsim_tree *tree = NULL;
    pcsim_training *t = NULL;
    snprintf(text, sizeof text,
             "%sphysics: {model: navier-stokes, viscosity: 0.1}\nnetwork: {layers: [8], activation: tanh}\n"
             "train: {budget: 10 steps, points: 100}\n",
             flows[i].text);
    assert_ok(pcsim_tree_parse(text, strlen(text), "case", &tree));
    assert_ok(pcsim_training_read(tree, &t));
    assert_ok(pcsim_tree_status(tree));
    assert_int_equal(t->choice.stream, flows[i].stream);
    assert_non_null(pcsim_program_parameter(t->ansatz.fields, "net_w0", &rows, &columns));
    assert_int_equal(columns, flows[i].inputs);
    pcsim_training_destroy(&t);
    pcsim_tree_destroy(&tree);
  }
}

/* Networks that know nothing yet differ between regions: on a border that no condition holds the value is
 * that of a region that is bounded by it. */
static void border_of_regions(void **state) {
  (void)state;
  static const char bars[] =
      "domain: {box: {x: [0, 3]}, regions: {a: \"x < 1\", b: \"x > 1 and x < 2\", c: \"x > 2\"}}\n"
      "physics: {unknowns: [u], equations: [\"lap(u) + 1\"]}\n"
      "boundaries: {\"*\": {\"dn(u) + u\": 1}}\n"
      "network: {layers: [8], activation: tanh}\ntrain: {budget: 1 steps, points: 16}\n";
  pcsim_tree *tree;
  pcsim_training *t = NULL;
  double u[4];
  assert_ok(pcsim_tree_parse(bars, strlen(bars), "case", &tree));
  assert_ok(pcsim_training_read(tree, &t));
  assert_ok(pcsim_tree_status(tree));
  assert_ok(pcsim_training_evaluate(t, 4, (const double[]){1 - 1e-9, 1, 1 + 1e-9, 2.5}, u, NULL));
  assert_close(u[1], u[0], 1e-7);
  assert_true(fabs(u[2] - u[0]) > 1e-5 && fabs(u[3] - u[0]) > 1e-5);
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
}

/* The cavity with a share of its points at corners. */
static pcsim_training *corner_training(double share, pcsim_tree **tree) {
  char text[1000];
  pcsim_training *t = NULL;
  snprintf(text, sizeof text,
           "domain: {box: {x: [0, 1], y: [0, 1]}}\n"
           "physics: {model: navier-stokes, viscosity: 0.1}\n"
           "boundaries: {y-max: {velocity: [\"4*x*(1-x)\", 0]}, \"*\": {wall: no-slip}}\n"
           "network: {layers: [8], activation: tanh}\n"
           "train: {budget: 400 steps, points: 400, corner-points: %g}\n",
           share);
  assert_ok(pcsim_tree_parse(text, strlen(text), "case", tree));
  assert_ok(pcsim_training_read(*tree, &t));
  assert_ok(pcsim_tree_status(*tree));
  return t;
}

/* Points of the interior and of the lid within a small distance of the corners of the lid. */
static int count_near(const pcsim_training *t, int group, uint64_t draw) {
  static double points[400 * 2], columns[400 * 3];
  int near = 0;
  assert_ok(train_points(t, group, draw, 400, points, columns));
  for (int i = 0; i < 400; i++)
    near += fmin(hypot(points[2 * i], points[2 * i + 1] - 1),
                 hypot(points[2 * i] - 1, points[2 * i + 1] - 1)) < 1e-4;
  return near;
}

/* Points are denser at singular corners, those held out too, and weighed, those that are added later too. */
static void corners_weighed(void **state) {
  (void)state;
  enum { MORE = 600 };
  static double weighed[2 * MORE], plain[2 * MORE];
  double squares[2], sum[2] = {0, 0};
  const double *points;
  pcsim_tree *tree[2];
  pcsim_training *t = corner_training(0.25, &tree[0]), *without = corner_training(0, &tree[1]);
  assert_int_equal(t->from->corners.num, 2);
  assert_int_equal(without->from->corners.num, 0);
  for (int g = 0; g < 2; g++)
    for (int held_out = 0; held_out < 2; held_out++) {
      const uint64_t draw = sample_draw(held_out ? SAMPLE_HELD_OUT : SAMPLE_TRAINING, 0);
      assert_in_range(count_near(t, g, draw), 30, 50); /* two of five powers of ten of 100 points */
      assert_in_range(count_near(without, g, draw), 0, 1);
    }
  assert_ok(train_grow(t, MORE));
  const int64_t n = groups_get_points(t->groups, 0, &points);
  assert_int_equal(n, MORE);
  assert_ok(groups_mean_squares(t->groups, 0, t->theta, squares));
  assert_ok(groups_residuals(without->groups, 0, t->theta, n, points, &(groups_columns){0}, plain));
  for (int64_t i = 0; i < 2 * n; i++) {
    weighed[i] =
        plain[i] * sqrt(corners_weight_inside(t->from->domain, &t->from->corners, points + i / 2 * 2));
    sum[i % 2] += weighed[i] * weighed[i] / (double)n;
  }
  for (int k = 0; k < 2; k++) assert_close(squares[k] / sum[k], 1, 1e-12);
  for (int i = 0; i < 2; i++) {
    pcsim_training_destroy(i ? &without : &t);
    pcsim_tree_destroy(&tree[i]);
  }
}

/* The pressure is p = +-2 mu k log r where a lid of the slope k meets a wall at a right angle: psi = r^2 f,
 * f = A cos 2a + B sin 2a + C a + D with f = f' = 0 at the wall, f = 0 and f' = k at the lid has C = k / 2,
 * the vorticity 4 C a + 4 D is harmonic, and p is mu times its conjugate. */
static void corner_pressure(void **state) {
  (void)state;
  const double mu = 0.1, slope = 4;
  double points[4][2], values[4][3];
  pcsim_training_result result;
  pcsim_tree *tree;
  pcsim_training *t = corner_training(0.25, &tree);
  assert_ok(pcsim_training_run(t, -1, NULL, NULL, &result));
  for (int i = 0; i < 4; i++) {
    const double r = i % 2 ? 1e-3 : 1e-5;
    points[i][0] = i < 2 ? r : 1 - r, points[i][1] = 1 - r;
  }
  assert_ok(pcsim_training_evaluate(t, 4, points[0], values[0], NULL));
  for (int i = 0; i < 2; i++) {
    const double rise = values[2 * i + 1][2] - values[2 * i][2];
    assert_close((i ? -1 : 1) * rise / (2 * mu * slope * log(100)), 1, 0.05);
  }
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
}

/* Time alone: an oscillator with damping, from its start. */
static void time_alone(void **state) {
  (void)state;
  static const char *const oscillator =
      "domain: {box: {t: [0, 4]}}\nphysics: {unknowns: [u], equations: [\"u_tt + 0.2*u_t + 4*u\"]}\n"
      "initial: {u: 1, u_t: -0.1}\nnetwork: {layers: [12, 12], activation: sin, scale: 2}\n"
      "train: {budget: 200 steps, points: 100}\n";
  pcsim_training_result result;
  pcsim_tree *tree = NULL;
  pcsim_training *t = NULL;
  assert_ok(pcsim_tree_parse(oscillator, strlen(oscillator), "case", &tree));
  assert_ok(pcsim_training_read(tree, &t));
  assert_ok(pcsim_tree_status(tree));
  assert_ok(pcsim_training_run(t, -1, NULL, NULL, &result));
  for (int i = 0; i <= 8; i++) {
    const double time = 0.5 * i;
    double u;
    assert_ok(pcsim_training_evaluate(t, 1, &time, &u, NULL));
    assert_close(u, exp(-0.1 * time) * cos(sqrt(3.99) * time), i ? 1e-4 : 1e-14);
  }
  pcsim_training_destroy(&t);
  pcsim_tree_destroy(&tree);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(best),
                                     cmocka_unit_test(time_alone),
                                     cmocka_unit_test(balance),
                                     cmocka_unit_test(stream),
                                     cmocka_unit_test(stream_chosen),
                                     cmocka_unit_test(border_of_regions),
                                     cmocka_unit_test(corners_weighed),
                                     cmocka_unit_test(corner_pressure)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
