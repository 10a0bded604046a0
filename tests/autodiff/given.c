/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs parted into what depends on parameters and what does not: the same values, less work. */
#include "interpret.h"

enum { POINTS = 7 };
static const char *const coordinates[] = {"x", "y"}, *const unknowns[] = {"u"},
                         *const constants[] = {"a", "b"};

/* a*b + x is u: its derivatives are joined with functions of the place alone. */
static pcsim_program *residual(const char *const *texts, int n) {
  const pcsim_lowering names = {2, coordinates, 0, unknowns, 2, constants, NULL, 0, NULL, 0};
  pcsim_program *p;
  assert_ok(pcsim_lower(texts, n, &names, &p, NULL, NULL));
  assert_ok(pcsim_program_simplify(p));
  return p;
}

static void run(const pcsim_program *p, const double *points, double *const *given, int num_given, double a,
                double b, const char *const *outputs, int n, double *values) {
  interpreter it;
  interpret_begin(&it, p);
  interpret_points(&it, "points", POINTS);
  for (int i = 0; i < p->num_names; i++)
    if (!strcmp(p->names[i], "coordinates")) it.data[i] = points;
    else if (!strcmp(p->names[i], "a")) it.data[i] = &a;
    else if (!strcmp(p->names[i], "b")) it.data[i] = &b;
    else {
      const int k = atoi(p->names[i] + strlen("given_"));
      assert_true(k < num_given);
      it.data[i] = given[k];
    }
  interpret_run(&it);
  for (int k = 0; k < n; k++)
    memcpy(values + k * POINTS, interpret_output(&it, outputs[k]), POINTS * sizeof *values);
  interpret_end(&it);
}

static void test_values(void **state) {
  (void)state;
  static const char *const texts[] = {"a*sin(x*y) + exp(x)*b^2 - tanh(y)", "cos(x)*y", "a*b*sin(x*y) + 3"};
  static const char *const outputs[] = {"0", "1", "2"};
  double points[2 * POINTS], whole[3 * POINTS], parted[3 * POINTS], *given[16] = {NULL};
  const char *names[16];
  char text[16][16];
  for (int i = 0; i < 2 * POINTS; i++) points[i] = 0.1 + 0.13 * i;
  pcsim_program *p = residual(texts, 3), *once = NULL;
  run(p, points, NULL, 0, 0.7, -1.3, outputs, 3, whole);
  const double before = pcsim_program_count(p).operations;
  assert_ok(pcsim_program_part(p, constants, 2, &once));
  assert_non_null(once);
  const int n = once->num_outputs;
  assert_true(n > 0 && n < 16);
  double values[16 * POINTS];
  for (int k = 0; k < n; k++) {
    snprintf(text[k], sizeof text[k], "given_%d", k);
    names[k] = text[k];
    given[k] = values + k * POINTS;
  }
  run(once, points, NULL, 0, 0, 0, names, n, values); /* a and b have no say in it */
  run(p, points, given, n, 0.7, -1.3, outputs, 3, parted);
  for (int i = 0; i < 3 * POINTS; i++) assert_close(parted[i], whole[i], 1e-15);
  assert_true(pcsim_program_count(p).operations < before - 3); /* sin, exp, tanh, cos and products are gone */
  for (int k = 0; k < 2; k++) assert_true(graph_find(once, "coordinates") >= 0);
  assert_int_equal(pcsim_program_status(p), PCSIM_OK);
  pcsim_program_destroy(&once);
  pcsim_program_destroy(&p);
}

/* Coordinates alone are nothing to compute; a name that is not there is refused. */
static void test_ends(void **state) {
  (void)state;
  const char *const text = "a*b", *const wrong = "aa";
  pcsim_program *p = residual(&text, 1), *once = NULL;
  assert_ok(pcsim_program_part(p, constants, 2, &once));
  assert_null(once);
  assert_status(pcsim_program_part(p, &wrong, 1, &once), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "'aa'"));
  pcsim_program_destroy(&p);
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
