/* SPDX-License-Identifier: BSD-2-Clause */
/** @file choose.c  The default with trials whose outcome is a known function of the choice: it finds the
 * least, keeps what is given, survives trials that fail, and says what it chose. */
#include "pinn/choose.h"
#include "pcsim_test.h"

/** Residuals that are least at one activation and one scale for each input. */
typedef struct {
  const char *activation;
  double scale[NETWORK_INPUTS];
  bool fails;          /**< large scales give what is no number */
  double slabs, waves; /**< factors of the residual with several slabs, with waves as inputs; 0: 1 */
  double start;        /**< residual before the first step is a thousand times this */
  int trials, wide;
  int64_t points; /**< of the last trial */
  int64_t steps;
} landscape;

static pcsim_status look(void *context, const choice *c, int64_t steps, double *held_out) {
  landscape *l = context;
  double sum = strcmp(c->network.activation, l->activation) != 0;
  for (int i = 0; i < c->network.num_inputs; i++) {
    const double d = log2(c->network.scale[i] / l->scale[i]);
    sum += d * d;
    if (l->fails && c->network.scale[i] > 10) sum = NAN;
  }
  if (l->slabs > 0 && c->slabs > 1) sum *= l->slabs;
  if (l->waves > 0 && c->network.num_waves[1]) sum *= l->waves;
  if (l->slabs > 0 && !steps) sum = 1e3 * l->start;
  l->trials++;
  l->steps += steps;
  l->points = c->points;
  l->wide += c->network.width[0] > 20 || c->points > 1024;
  *held_out = sum;
  return PCSIM_OK;
}

static choice open_choice(int inputs, int outputs) {
  return (choice){
      .network = {.num_inputs = inputs, .num_outputs = outputs, .seed = 1}, .slabs = 1, .redraw = -1};
}
static void make(landscape *l, double seconds, int64_t steps, choice *c, char *why, size_t size) {
  const choose_problem p = {
      .seconds = seconds, .steps = steps, .threads = 2, .try_choice = l ? look : NULL, .context = l};
  assert_ok(choose(&p, c, why, size));
}

static void finds(void **state) {
  (void)state;
  char why[400];
  landscape l = {.activation = "sin", .scale = {4, 8}};
  choice c = open_choice(2, 1);
  make(&l, 60, 0, &c, why, sizeof why);
  assert_string_equal(c.network.activation, "sin");
  assert_string_equal(c.optimizer, "ssbroyden");
  assert_true(c.network.scale[0] == 4 && c.network.scale[1] == 8);
  assert_true(c.network.num_layers == 3 && c.network.width[0] == 20 && c.points > 500 && c.redraw == 0 &&
              c.look > 0);
  assert_int_equal(l.wide, 0);
  assert_non_null(strstr(why, "ssbroyden, mlp 20-20-20 sin, scale 4, 8"));
  /* The same once more; a tight budget takes fewer steps; many inputs have one scale and fewer trials. */
  const landscape first = l;
  choice again = open_choice(2, 1);
  make(&l, 60, 0, &again, why, sizeof why);
  assert_memory_equal(&c, &again, sizeof c);
  landscape hurried = {.activation = "sin", .scale = {4, 8}};
  again = open_choice(2, 1);
  make(&hurried, 6, 0, &again, why, sizeof why);
  assert_true(hurried.trials == first.trials && hurried.steps * 9 < first.steps);
  landscape many = {.activation = "tanh", .scale = {3, 3, 3, 3, 3}};
  c = open_choice(5, 1);
  make(&many, 600, 0, &c, why, sizeof why);
  assert_true(many.trials < first.trials && c.network.scale[4] == 3 && c.network.width[0] > 20);
}

static void keeps(void **state) {
  (void)state;
  char why[400];
  landscape l = {.activation = "sin", .scale = {4, 8}};
  choice c = open_choice(2, 1);
  c.network.activation = "tanh";
  c.network.num_layers = 2, c.network.width[0] = 33, c.network.width[1] = 7;
  c.points = 300, c.redraw = 0, c.optimizer = "lm", c.network.kind = "fourier";
  make(&l, 60, 0, &c, why, sizeof why);
  assert_string_equal(c.network.activation, "tanh");
  assert_string_equal(c.optimizer, "lm");
  assert_string_equal(c.network.kind, "fourier");
  assert_true(c.network.num_layers == 2 && c.network.width[0] == 33 && c.network.width[1] == 7);
  assert_true(c.points == 300 && c.redraw == 0);
  assert_int_equal(l.wide, l.trials); /* the layers of the case */
  const int trials = l.trials;
  c = open_choice(2, 1);
  c.network.scale[0] = 5;
  make(&l, 60, 0, &c, why, sizeof why);
  assert_int_equal(l.trials, trials);
  assert_true(c.network.scale[0] == 5 && c.network.scale[1] == 1);
  /* Without trials. */
  c = open_choice(3, 2);
  make(NULL, 0, 500, &c, why, sizeof why);
  assert_true(c.network.scale[2] == 1 && c.network.num_layers > 0);
  assert_non_null(strstr(why, "no trials"));
  const int before = l.trials;
  c = open_choice(2, 1);
  make(&l, 3, 0, &c, why, sizeof why);
  assert_non_null(strstr(why, "no time for trials"));
  c = open_choice(2, 1);
  make(&l, 0, 1000, &c, why, sizeof why);
  assert_int_equal(l.trials, before);
  c = open_choice(2, 1);
  make(&l, 0, 10000, &c, why, sizeof why);
  assert_true(l.trials > before);
  /* A text that is too short is cut. */
  char tiny[12];
  c = open_choice(3, 2);
  make(NULL, 0, 500, &c, tiny, sizeof tiny);
  assert_string_equal(tiny, "ssbroyden, ");
}

/* Bodies in space: more points, trials with twice as many, for fewer steps of what is dearer by them. */
static void bodies(void **state) {
  (void)state;
  char why[400];
  int64_t steps = 0;
  for (int num = 0; num <= 4; num += 2) {
    landscape l = {.activation = "sin", .scale = {4, 4, 4}};
    choice c = open_choice(3, 1);
    const choose_problem p = {.seconds = 30, .threads = 1, .bodies = num, .try_choice = look, .context = &l};
    assert_ok(choose(&p, &c, why, sizeof why));
    assert_int_equal(c.points, 2048 * (num == 4 ? 4 : 1 + num));
    assert_int_equal(l.points, num ? 2048 : 1024);
    assert_true(c.network.scale[0] == 4);
    if (num) assert_true(l.steps * (num == 4 ? 1 : 2) < steps);
    steps = l.steps;
    c = open_choice(3, 1);
    c.points = 500;
    assert_ok(choose(&p, &c, why, sizeof why));
    assert_int_equal(c.points, 500);
  }
}

static void fails(void **state) {
  (void)state;
  char why[400];
  landscape l = {.activation = "sin", .scale = {16, 16}, .fails = true};
  choice c = open_choice(2, 1);
  make(&l, 60, 0, &c, why, sizeof why);
  assert_true(c.network.scale[0] == 8 && c.network.scale[1] == 8);
}

/** Slabs of time where one network does not carry it and they do; not where it does, where they gain little,
 * where there is no time for them, where the case says how many. */
static void slabs(void **state) {
  (void)state;
  static const struct {
    double start, gain, seconds;
    int given, slabs;
  } of[] = {{0.01, 0.1, 60, 0, 4},
            {1, 0.1, 60, 0, 1},
            {0.01, 0.5, 60, 0, 1},
            {0.01, 0.1, 12, 0, 1},
            {0.01, 0.1, 60, 2, 2}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char why[400];
    landscape l = {.activation = "sin", .scale = {3, 4}, .start = of[i].start, .slabs = of[i].gain};
    choice c = open_choice(2, 1);
    c.slabs = of[i].given;
    make(&l, of[i].seconds, 0, &c, why, sizeof why);
    assert_int_equal(c.slabs, of[i].slabs);
    assert_int_equal(strstr(why, " slabs of time") != NULL, of[i].slabs > 1);
  }
}

/** Waves become inputs where that lowers the residual; a later network is like the one before where it is to
 * be. */
static void waves(void **state) {
  (void)state;
  char why[400];
  const network_options known = {.num_waves = {0, 2}, .wave = {{0}, {31.4, 5}}};
  for (int worth = 0; worth < 2; worth++) {
    landscape l = {.activation = "sin", .scale = {2, 2}, .waves = worth ? 0.1 : 10};
    l.scale[0] = 3;
    choice c = open_choice(2, 1);
    choose_problem p = {.seconds = 60, .threads = 1, .waves = &known, .try_choice = look, .context = &l};
    assert_ok(choose(&p, &c, why, sizeof why));
    assert_int_equal(c.network.num_waves[1], worth ? 2 : 0);
    assert_int_equal(strstr(why, "waves 31.4, 5") != NULL, worth);
    if (!worth) continue;
    choice later = open_choice(2, 1);
    const int trials = l.trials;
    p.before = &c.network, p.like_before = true;
    c.network.width[1] = 33; /* widths, too, whatever the budget of the later one */
    assert_ok(choose(&p, &later, why, sizeof why));
    assert_int_equal(l.trials, trials);
    assert_string_equal(later.network.activation, c.network.activation);
    assert_memory_equal(later.network.width, c.network.width, sizeof c.network.width);
    assert_memory_equal(later.network.scale, c.network.scale, sizeof c.network.scale);
    assert_memory_equal(later.network.wave, c.network.wave, sizeof c.network.wave);
    assert_int_equal(later.network.num_waves[1], 2);
    assert_non_null(strstr(why, "as the network before"));
  }
}

/** Points are added while those not trained on are fitted worse, up to a bound. */
static void points(void **state) {
  (void)state;
  assert_int_equal(choose_points(1000, 500, 1, 2), 1000);
  assert_int_equal(choose_points(1000, 500, 1, 3), 1400);
  assert_int_equal(choose_points(1000, 500, 0, 1e-300), 1400);
  assert_int_equal(choose_points(1000, 500, 1, NAN), 1000);
  int64_t n = 1000;
  for (int i = 0; i < 100; i++) n = choose_points(n, 500, 1, 10);
  assert_int_equal(n, 8000);
}

/** Too many numbers for a dense matrix. */
static void large(void **state) {
  (void)state;
  char why[400];
  choice c = open_choice(2, 1);
  c.network.num_layers = 4;
  for (int i = 0; i < 4; i++) c.network.width[i] = 64;
  make(NULL, 60, 0, &c, why, sizeof why);
  assert_string_equal(c.optimizer, "lbfgs");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds),  cmocka_unit_test(keeps), cmocka_unit_test(bodies), cmocka_unit_test(fails),
      cmocka_unit_test(points), cmocka_unit_test(large), cmocka_unit_test(slabs),  cmocka_unit_test(waves)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
