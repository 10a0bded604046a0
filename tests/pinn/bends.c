/* SPDX-License-Identifier: BSD-2-Clause */
/* Which functions of place are too rough to be built in, and what is said of fluxes that jump. */
#include "pinn/bends.h"
#include "domain_text.h"

#include <pcsim/pinn.h>

typedef struct {
  pcsim_tree *tree;
  domain *d;
  problem p;
} fixture;

static void read(const char *text, fixture *f) {
  *f = (fixture){0};
  f->tree = read_text(text);
  assert_ok(domain_read(f->tree, &f->d));
  expect_problems(f->tree, "");
  assert_ok(problem_read(f->tree, domain_get(f->d), NULL, -1, &f->p));
  expect_problems(f->tree, "");
}

static void clear(fixture *f) {
  problem_clear(&f->p);
  domain_destroy(&f->d);
  pcsim_tree_destroy(&f->tree);
}

/* Does a function bend, for equations of second order in x and of first in t? Where, in x. */
static bool bends(const fixture *f, const char *text, double *x) {
  const int order[DOMAIN_MAX] = {2, 1};
  double place[DOMAIN_MAX];
  pcsim_program *program = NULL;
  bool found = false;
  assert_ok(pcsim_lower(&text, 1, &f->p.names, &program, NULL, NULL));
  assert_ok(bends_find(&f->p, f->d, program, "0", order, true, &found, place));
  pcsim_program_destroy(&program);
  *x = place[0];
  return found;
}

static const char *const line = "domain: {box: {x: [-1, 2], t: [0, 1]}}\n"
                                "physics: {unknowns: [u], equations: [\"u_t - u_xx\"]}\n"
                                "boundaries: {\"*\": {u: 0}}\ninitial: {u: \"sin(pi*x)*(x-2)\"}\n";

static void functions(void **state) {
  (void)state;
  const size_t before = pcsim_memory_used();
  static const struct {
    const char *text;
    double at; /* NAN: it does not bend */
  } cases[] = {
      {"abs(x - 0.25)", 0.25},
      {"max(x - 0.5, 0)", 0.5},
      {"min(x, 1)*exp(x)", 1},
      {"where(x < 1/3, 0, 1)", 1.0 / 3},
      {"where(x < 1, x, 2*x - 1)", 1},
      {"max(x, 0)^2", NAN},
      {"abs(x)^3", NAN},
      {"where(x < 1, x^2, 2*x - 1)", NAN},
      {"max(x + 3, 0)", NAN},
      {"abs(exp(x))", NAN},
      {"max(t, 0.5)*x", NAN}, /* by t values are compared alone */
      {"tanh(1000*(x - 0.5))", NAN},
      {"sqrt(abs(x) + 1)", 0},
  };
  fixture f;
  read(line, &f);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double x = NAN;
    const bool found = bends(&f, cases[i].text, &x);
    if (found != !isnan(cases[i].at)) fail_msg("%s: %s", cases[i].text, found ? "bends" : "does not bend");
    if (found) assert_close(x, cases[i].at, 1e-12);
  }
  double x;
  assert_true(bends(&f, "step(t - 0.5)*x", &x)); /* by t values are compared */
  clear(&f);
  assert_int_equal(pcsim_memory_used(), before);
}

/* A bend in what is taken away is none; ends of a period are to meet with their slopes. */
static void domains(void **state) {
  (void)state;
  fixture f;
  double x;
  read("domain: {box: {x: [-1, 1], y: [-1, 1]}, minus: {hole: {box: {x: [-0.2, 0.2], y: [-1, 1]}}}}\n"
       "physics: {unknowns: [u], equations: [\"lap(u)\"]}\nboundaries: {\"*\": {u: 0}}\n",
       &f);
  assert_false(bends(&f, "abs(x)", &x));
  assert_true(bends(&f, "abs(x - 0.3)", &x));
  clear(&f);
  read("domain: {box: {x: [-1, 1], t: [0, 1]}}\nphysics: {unknowns: [u], equations: [\"u_t - u_xx\"]}\n"
       "boundaries: {x-min: {periodic: x-max}}\ninitial: {u: \"x^2*cos(pi*x)\"}\n",
       &f);
  assert_true(bends(&f, "x^2*cos(pi*x)", &x));
  assert_true(bends(&f, "sin(pi*x/2)", &x));
  assert_false(bends(&f, "sin(pi*x)", &x));
  assert_false(bends(&f, "(1 - x^2)^2", &x));
  assert_true(f.p.condition[0].exact);
  assert_ok(bends_release(f.d, &f.p, 1, &f.p, true)); /* carried on */
  assert_true(f.p.condition[0].exact);
  assert_ok(bends_release(f.d, &f.p, 1, &f.p, false));
  assert_false(f.p.condition[0].exact);
  clear(&f);
}

/* Kinks stay where they are built in: penalised, or not needed to be smooth, or smooth enough. */
static void conditions(void **state) {
  (void)state;
  static const char *const form = "domain: {box: {x: [0, 1], t: [0, 1]}}\n"
                                  "physics: {unknowns: [u], equations: [\"%s\"]}\n"
                                  "boundaries: {x-min: {u: \"%s\"}, x-max: {free: true}}\n"
                                  "initial: {u: \"%s\"}\n";
  static const struct {
    const char *equation, *left, *start;
    bool left_held, start_held;
  } cases[] = {
      {"u_t - u_xx", "t", "abs(x-0.5) - 0.5", true, false},
      {"u_t + u_x", "t", "abs(x-0.5) - 0.5", true, true},
      {"u_t + u_x", "0", "step(x-0.5)", true, false},
      {"u_t - u_xx", "abs(t-0.5) - 0.5", "x", true, true},
      {"u_t - u_xx", "step(t-0.5)", "x", false, true},
      {"u_tt - u_xx", "abs(t-0.5) - 0.5", "x", false, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600];
    fixture f;
    snprintf(text, sizeof text, form, cases[i].equation, cases[i].left, cases[i].start);
    read(text, &f);
    assert_ok(bends_release(f.d, &f.p, 1, &f.p, true));
    for (int k = 0; k < f.p.num_conditions; k++) {
      const bool start = f.p.condition[k].place == PLACE_START;
      if (f.p.condition[k].exact != (start ? cases[i].start_held : cases[i].left_held))
        fail_msg("case %zu, %s", i, f.p.condition[k].name);
    }
    clear(&f);
  }
}

/* The coefficient may bend; where it jumps, regions are asked for. */
static void fluxes(void **state) {
  (void)state;
  static const char *const form = "domain: {box: {x: [0, 1], y: [0, 1]}%s}\n"
                                  "physics: {unknowns: [u], coefficients: {k: %s}, equations: [\"%s\"]}\n"
                                  "boundaries: {\"*\": {u: 0}}\ntrain: {budget: 1 steps}\n";
  static const struct {
    const char *regions, *k, *equation;
    bool fault;
  } cases[] = {
      {"", "\"where(x < 0.5, 1, 10)\"", "div(k*grad(u)) + 1", true},
      {"", "\"1 + step(x + y - 1)\"", "1 + 2*div(k*grad(u))", true},
      {"", "\"where(x < 0.5, 1, 2*x)\"", "div(k*grad(u)) + 1", false},
      {"", "\"where(x < 0.5, 1, 10)\"", "lap(u) + k", false},
      {"", "\"where(x < 0.5, 1, 10)\"", "k*lap(u) + 1", true},
      {", regions: {left: \"x < 0.5\"}", "{left: 1, rest: 10}", "div(k*grad(u)) + 1", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600];
    pcsim_training *t = NULL;
    snprintf(text, sizeof text, form, cases[i].regions, cases[i].k, cases[i].equation);
    pcsim_tree *tree = read_text(text);
    assert_ok(pcsim_training_read(tree, &t));
    if ((pcsim_tree_num_problems(tree) > 0) != cases[i].fault) fail_msg("case %zu", i);
    assert_int_equal(t == NULL, cases[i].fault);
    pcsim_training_destroy(&t);
    pcsim_tree_destroy(&tree);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions),
      cmocka_unit_test(domains),
      cmocka_unit_test(conditions),
      cmocka_unit_test(fluxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
