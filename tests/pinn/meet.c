/* SPDX-License-Identifier: BSD-2-Clause */
/* Where pieces meet, and contradictions there. */
#include "domain_text.h"

enum { N = 24 };

/** All points found lie on the curve or at one of the corners `f` [..] = 0. */
static int64_t meet(const char *text, const char *a, const char *b, double (*miss)(const double *x)) {
  double points[N * DOMAIN_MAX];
  int64_t found;
  domain *d = read_domain(text);
  assert_ok(domain_draw_meeting(d, find_piece(d, a), find_piece(d, b), 1, 2, N, points, &found));
  for (int64_t i = 0; i < found; i++) {
    const double *x = points + i * domain_get(d)->num_coordinates;
    assert_close(miss(x), 0, 1e-10);
    assert_true(domain_inside(d, x));
  }
  domain_destroy(&d);
  return found;
}

static double corner(const double *x) { return hypot(x[0], x[1] - 1); }
static double bite(const double *x) { return fmax(fabs(x[0] - 2), fabs(fabs(x[1] - 1) - 0.4)); }
static double ends(const double *x) { return fmax(fabs(x[0] - 0.5), fabs(fabs(x[1]) - sqrt(0.75))); }
static double circle(const double *x) {
  return fmax(fabs(x[2] - 1), fabs(hypot(x[0] - 1, x[1] - 0.5) - 0.2));
}
static double inner(const double *x) { return hypot(x[0] - 1, x[1] - 2); }
static double never(const double *x) { return 1 + x[0] * x[0]; }

static void places(void **state) {
  (void)state;
  static const char *const square = "domain: {box: {x: [0, 2], y: [0, 1], t: [0, 1]}}\n";
  static const char *const bitten =
      "domain: {box: {x: [0, 2], y: [0, 2]}, minus: {hole: {ball: {centre: [2.3, 1], radius: 0.5}}}}\n";
  static const char *const lens =
      "domain: {ball: {centre: [0, 0], radius: 1}, and: {other: {ball: {centre: [1, 0], radius: 1}}}}\n";
  static const char *const channel =
      "domain: {box: {x: [0, 3], y: [0, 1], z: [0, 1]}, minus: {pin: {ball: {centre: "
      "[1, 0.5], radius: 0.2, coordinates: [x, y]}}}}\n";
  static const char *const notched =
      "domain: {box: {x: [0, 2], y: [0, 2]}, minus: {notch: {box: {x: [1, 2], y: [1, 2]}}}}\n";
  assert_int_equal(meet(square, "x-min", "y-max", corner), N);
  assert_int_equal(meet(square, "y-max", "x-min", corner), N);
  assert_int_equal(meet(square, "x-min", "x-max", never), 0);
  assert_int_equal(meet(bitten, "x-max", "hole", bite), N);
  assert_int_equal(meet(bitten, "hole", "y-min", never), 0);
  assert_int_equal(meet(lens, "ball", "other", ends), N);
  assert_int_equal(meet(channel, "pin", "z-max", circle), N);
  assert_int_equal(meet(channel, "y-min", "pin", never), 0);
  assert_int_equal(meet(notched, "y-max", "notch", inner), N);
  assert_int_equal(meet(notched, "y-max", "x-max", never), 0);
}

/** Names, values; the start of time last if `start`. */
static domain_contradiction contradiction(const char *text, const char *const *of, const char *const *texts,
                                          const char *start, domain **d) {
  pcsim_program *program[8] = {NULL}, *first = NULL;
  domain_value value[16] = {{NULL, NULL}};
  domain_contradiction worst;
  *d = read_domain(text);
  const domain_view *v = domain_get(*d);
  const pcsim_lowering names = {.num_coordinates = v->num_coordinates, .coordinates = v->coordinate};
  for (int i = 0; of[i]; i++) {
    assert_ok(pcsim_lower(&texts[i], 1, &names, &program[i], NULL, NULL));
    value[find_piece(*d, of[i])] = (domain_value){program[i], "0"};
  }
  if (start) assert_ok(pcsim_lower(&start, 1, &names, &first, NULL, NULL));
  assert_ok(domain_find_contradiction(*d, value, start ? &(domain_value){first, "0"} : NULL, &worst));
  for (int i = 0; of[i]; i++) pcsim_program_destroy(&program[i]);
  pcsim_program_destroy(&first);
  return worst;
}

static void contradictions(void **state) {
  (void)state;
  static const char *const cavity = "domain: {box: {x: [0, 1], y: [0, 1], t: [0, 1]}}\n";
  static const char *const walls[] = {"y-max", "x-min", "x-max", "y-min", NULL};
  domain *d;
  domain_contradiction c = contradiction(cavity, walls, (const char *[]){"1", "0", "0", "0"}, NULL, &d);
  assert_close(c.difference, 1, 0);
  assert_string_equal(domain_get(d)->piece[c.other], "y-max");
  assert_close(c.other_value, 1, 0);
  assert_close(c.value, 0, 0);
  assert_close(fmin(c.point[0], 1 - c.point[0]), 0, 1e-12);
  assert_close(c.point[1], 1, 1e-12);
  domain_destroy(&d);
  c = contradiction(cavity, walls, (const char *[]){"4*x*(1-x)", "0", "0", "0"}, "0", &d);
  assert_close(c.difference, 1, 0.1); /* the start does not fit the lid */
  assert_int_equal(c.other, -1);
  assert_string_equal(domain_get(d)->piece[c.piece], "y-max");
  assert_close(c.point[2], 0, 0);
  domain_destroy(&d);
  c = contradiction(cavity, walls, (const char *[]){"4*x*(1-x)", "0", "0", "0"}, "4*x*(1-x)*y", &d);
  assert_close(c.difference, 0, 1e-12);
  domain_destroy(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(contradictions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
