/* SPDX-License-Identifier: BSD-2-Clause */
/* Waves are found where they are, whatever else a function does; what has none has none. */
#include "pinn/spectrum.h"
#include "domain_text.h"

static const double pi = 3.14159265358979323846;
typedef double function(double x, double y);

static pcsim_status sample(void *context, int64_t n, const double *points, double *values) {
  function *const *f = context;
  for (int64_t i = 0; i < n; i++) values[i] = (*f)(points[2 * i], points[2 * i + 1]);
  return PCSIM_OK;
}

static double product(double x, double y) { return sin(20 * pi * x) * sin(0.5 * pi * y); }
static double modes(double x, double y) { return (sin(pi * x) + 0.5 * sin(9.3 * pi * x)) * exp(-y); }
static double small(double x, double y) { return cos(7 * pi * y) + 1e-3 * sin(20 * pi * x); }
static double smooth(double x, double y) { return 3 + x * y + exp(-x); }
static double constant(double x, double y) { return 5 + 0 * x * y; }
static double broken(double x, double y) { return x < 0.5 ? NAN : sin(40 * pi * y); }

/* Peaks of both coordinates on [0, 1] x [-1, 1]. */
static void find(function **f, int num, int *n, double wave[2][SPECTRUM_PEAKS]) {
  domain *d = read_domain("domain: {box: {x: [0, 1], y: [-1, 1]}}\n");
  spectrum s = {0};
  for (int i = 0; i < num; i++) assert_ok(spectrum_add(&s, d, domain_get(d)->range, sample, &f[i]));
  for (int i = 0; i < 2; i++) n[i] = spectrum_peaks(&s, i, wave[i]);
  domain_destroy(&d);
}

static void peaks(void **state) {
  (void)state;
  int n[2];
  double wave[2][SPECTRUM_PEAKS];
  find(&(function *){product}, 1, n, wave);
  assert_int_equal(n[0], 1);
  assert_int_equal(n[1], 0);
  assert_true(wave[0][0] == 10 * pi); /* half periods are met exactly */
  find(&(function *){modes}, 1, n, wave);
  assert_int_equal(n[0], 1);
  assert_close(wave[0][0], 4.65 * pi, 0.05 * pi);
  find(&(function *){small}, 1, n, wave); /* a thousandth is left aside */
  assert_int_equal(n[0], 0);
  assert_int_equal(n[1], 1);
  assert_close(wave[1][0], 7 * pi, 0.05 * pi);
  find(&(function *){smooth}, 1, n, wave);
  assert_true(!n[0] && !n[1]);
  find(&(function *){constant}, 1, n, wave);
  assert_true(!n[0] && !n[1]);
  find(&(function *){broken}, 1, n, wave); /* on the lines along which it is a number */
  assert_true(!n[0] && n[1] == 1);
  assert_close(wave[1][0], 40 * pi, 0.05 * pi);
}

/* Functions count alike, whatever their size. */
static double tiny(double x, double y) { return 1e-9 * product(x, y); }
static double huge(double x, double y) { return 1e9 * small(x, y); }
static void several(void **state) {
  (void)state;
  int n[2];
  double wave[2][SPECTRUM_PEAKS];
  find((function *[]){tiny, huge, constant}, 3, n, wave);
  assert_int_equal(n[0], 1);
  assert_close(wave[0][0], 10 * pi, 0.05 * pi);
  assert_int_equal(n[1], 1);
  assert_close(wave[1][0], 7 * pi, 0.05 * pi);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(peaks), cmocka_unit_test(several)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
