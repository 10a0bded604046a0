/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with typed equations is one problem at its place, with all that is said of it. */
#include "physics/lattice.h"
#include <pcsim/physics.h>

static const lattice square = {.nx = 4, .ny = 4, .names = {"bottom", "right", "top", "left"}};

/* Problems of a case, without and then with the mesh. */
static void problems_of(const char *text, const pcsim_mesh *mesh, char *out, size_t size) {
  pcsim_tree *tree = tree_of(text);
  pcsim_transport_problem *problem = NULL;
  pcsim_transport_problem_check(tree);
  if (pcsim_tree_status(tree) == PCSIM_OK) assert_ok(pcsim_transport_problem_read(tree, mesh, &problem));
  if (pcsim_tree_status(tree) == PCSIM_OK) assert_non_null(problem);
  else assert_null(problem);
  snprintf(out, size, "%s", pcsim_tree_num_problems(tree) ? pcsim_error_message() : "");
  pcsim_error_clear();
  pcsim_transport_problem_destroy(&problem);
  pcsim_tree_destroy(&tree);
}

/* ----------------------------------------------------------- strong forms */

typedef struct {
  const char *equation, *message; /* from the column in the text on */
} equation;

#define STRONG "is in strong form; expected a conservation law: "
#define INSIDE                                                                                               \
  "has a `dt`, `div`, `lap` or second derivative inside of another operation; expected a sum of such "       \
  "terms, "                                                                                                  \
  "each with a constant factor at most"

static const equation equations[] = {
    {"u_t + u*u_x - lap(u)", "7: `u*u_x` " STRONG "`div(u^2/2, 0)`"},
    {"u_t - nu*u_xx", "7: `nu*u_xx` " STRONG "`div(nu*u_x, 0)`"},
    {"u_t - u_yy/c", "7: `u_yy/c` " STRONG "`div(0, u_y/c)`"},
    {"u_xy - lap(u)", "1: `u_xy` " STRONG "`div(u_y, 0)`"},
    {"lap(u) - c*u_x", "10: `c*u_x` " STRONG "`div(c*u, 0)`"},
    {"lap(u) - c*(u + 2*u_y)", "10: `c*2*u_y` " STRONG "`div(0, c*2*u)`"},
    {"-lap(u) + y*u_x", "11: `y*u_x` " STRONG "`div(y*u, 0)`"},
    {"-lap(u) + k*u_x", "11: `k*u_x` " STRONG "`div(k*u, 0) - u*div(k, 0)`"},
    {"k*u_xx", "1: `k*u_xx` " STRONG
               "`div(k*u_x, 0)`, which differs from it by the derivative of `k` by x times `u_x`"},
    {"k*lap(u)",
     "1: `k*lap(u)` " STRONG "`div(k*grad(u))`, which differs from it by `dot(grad(k), grad(u))`"},
    {"k*div(u, 2)/c", "1: `k*div(u, 2)/c` " STRONG
                      "`div(k*vector(u, 2)/c)`, which differs from it by `dot(grad(k/c), vector(u, 2))`"},
    {"-lap(u) + 2*u^2*u_x/c", "11: `2*u^2*u_x/c` " STRONG "`div(2/c*u^3/3, 0)`"},
    {"-lap(u) + u_x/u", "11: `u_x/u` " STRONG "`div(log(u), 0)`"},
    {"-lap(u) + u_x/u^3", "11: `u_x/u^3` " STRONG "`div(u^(-2)/(-2), 0)`"},
    {"-lap(u) + sin(u)*u_x", "11: `sin(u)*u_x` " STRONG "the `div` of an antiderivative by the unknown"},
    {"-lap(u) + dot(vector(c, 1), grad(u))",
     "11: `dot(vector(c, 1), grad(u))` " STRONG "`div(vector(c, 1)*u)`"},
    {"-lap(u) + 2*dot(grad(u), vector(y, x))",
     "11: `2*dot(grad(u), vector(y, x))` " STRONG "`div(2*vector(y, x)*u) - u*div(2*vector(y, x))`"},
    {"u*dt(u) - lap(u)", "1: `u*dt(u)` " STRONG "`dt(u^2/2)`"},
    {"c*u*u_t - lap(u)", "1: `c*u*u_t` " STRONG "`dt(c*u^2/2)`"},
    {"exp(u)*u_t - lap(u)",
     "1: `exp(u)*u_t` is in strong form: its factor varies in time; expected the `dt` of an antiderivative"},
    {"u_tt - lap(u)",
     "1: `u_tt` is of second order in time; expected two unknowns, e.g. `dt(u) - v` and `dt(v) + ...`"},
    {"dt(dt(u)) - lap(u)",
     "1: `dt(dt(u))` is of second order in time; expected two unknowns, e.g. `dt(u) - v` and `dt(v) + ...`"},
    {"dt(u_x) - lap(u)",
     "1: `dt(u_x)` has a derivative in space under `dt`; expected values of unknowns only"},
    {"u_xt - lap(u)", "1: `u_xt` is a derivative in space and time; expected `dt` and `div` apart"},
    {"lap(lap(u)) - 1",
     "1: `lap(lap(u))` has second or higher derivatives in its flux; expected first ones: give the inner "
     "derivatives an unknown of their own, e.g. `w - lap(u)`"},
    {"div(u_t, 0) - lap(u)",
     "1: `div(u_t, 0)` has a time derivative in its flux; expected values and first derivatives in space"},
    {"u_xxx", "1: `u_xxx` is of third or higher order; expected first derivatives in a flux: give the second "
              "derivative an unknown of its own, e.g. `w - lap(u)`"},
    {"sin(lap(u)) + u", "1: `sin(lap(u))` " INSIDE},
    {"u + 1/lap(u)", "5: `1/lap(u)` " INSIDE},
    {"where(u > 0, div(u, 0), div(0, u))", "1: `where(u > 0, div(u, 0), div(0, u))` " INSIDE},
    {"u_t = lap(u)",
     "5: an equation is a sum that is zero, without `=`; expected the right side brought over "
     "with a minus"},
    {"u_t == lap(u)",
     "8: an equation is a sum that is zero, without `==`; expected the right side brought over "
     "with a minus"},
    {"lap(r*u)", "1: coefficient `r` differs between regions and has no gradient; expected it outside of "
                 "`lap(...)`"},
    {"dt(uu) - lap(u)", "4: unknown name `uu`; did you mean `u`? (known: x, y, z, u, k, r, nu, c)"},
    {"lap(u) + t",
     "10: `lap(u) + t` depends on the time t, but the case is steady (no `solve: {time: ...}`)"},
    {"lap(u) + z", "10: `lap(u) + z` depends on z, but the mesh is plane; expected x and y"},
    {"lap(u) + u_z^2", "10: `lap(u) + u_z^2` contains a derivative by z, but the mesh is plane"},
    {"lap(u) + u_q", "10: `u_q` is a derivative by something that is no coordinate; expected x, y, z or t"},
    {"lap(u) + c_x", "10: `c` is no unknown and has no derivative `c_x`"},
    {"lap(u) + dn(u)", "10: `lap(u) + dn(u)` contains dn, which has a meaning on boundaries only"},
    {"lap(u", "4: this '(' is not closed"},
    {"div(u)",
     "5: 'div' needs a vector; found a number (grad(...), or vector(...) with a component for each of "
     "x, y)"},
    {"-div(vector(u, u, u))", "6: 'vector' has 3 components; expected 2, one for each of x, y"},
    {"lap(u) + grad(u)", "10: an equation needs a number; found a vector (div or dot makes a number of it)"},
};

static void strong_forms(void **state) {
  (void)state;
  const char *head = "parameters: {nu: 0.1, c: 2}\nphysics:\n  unknowns: [u]\n"
                     "  coefficients: {k: 1 + x, r: {fluid: 1}}\n  equations: [\"";
  pcsim_mesh *mesh = mesh_lattice(&square);
  int wrong = 0;
  for (size_t i = 0; i < sizeof equations / sizeof *equations; ++i) {
    char text[1000], found[4000], expected[1200];
    const char *message = equations[i].message;
    snprintf(text, sizeof text, "%s%s\"]\nboundaries: {\"*\": {u: 0}}\n", head, equations[i].equation);
    problems_of(text, mesh, found, sizeof found);
    snprintf(expected, sizeof expected, "case.yaml:5:%d%s", 15 + atoi(message), strchr(message, ':'));
    if (strcmp(found, expected) == 0) continue;
    print_error("%s\nfound:    %s\nexpected: %s\n", equations[i].equation, found, expected);
    ++wrong;
  }
  pcsim_mesh_destroy(&mesh);
  assert_int_equal(wrong, 0);
}

/* Burgers in strong form: both terms in one pass, each with its writing. */
static void several(void **state) {
  (void)state;
  char found[4000];
  pcsim_mesh *mesh = mesh_lattice(&square);
  problems_of(
      "physics:\n  unknowns: [u, v]\n  equations:\n    - u_t + u*u_x + v*u_y - u_xx\n    - dt(v) + w\n"
      "boundaries: {\"*\": {u: 0, q: 1}}\n",
      mesh, found, sizeof found);
  assert_string_equal(found, "case.yaml:4:13: `u*u_x` " STRONG "`div(u^2/2, 0)`\n"
                             "case.yaml:4:29: `u_xx` " STRONG "`div(u_x, 0)`\n"
                             "case.yaml:5:15: unknown name `w` (known: x, y, z, u, v)\n"
                             "case.yaml:6:26: no condition `q` (boundary `*`); expected one of: u, v, flux, "
                             "free, symmetry, periodic");
  pcsim_mesh_destroy(&mesh);
}

/* ------------------------------------------------------------ the rest of a case */

typedef struct {
  const char *text, *message;
} fault;

#define LAPLACE "physics: {unknowns: [u], equations: [lap(u)]}\n"
#define TWO "physics: {unknowns: [u, v], equations: [lap(u) + v, lap(v) - u]}\n"
#define ZERO "boundaries: {\"*\": {u: 0}}\n"

static const fault faults[] = {
    {"physics: {unknowns: [u, v], equations: [lap(u)]}\nboundaries: {\"*\": {u: 0, v: 0}}\n",
     "1:40: 2 unknowns (u, v) but 1 equation: `v` has no equation; expected one for each, in the same order"},
    {"physics: {unknowns: u, equations: [lap(u), u]}\n" ZERO,
     "1:35: 2 equations for 1 unknown (u); expected one for each"},
    {"physics: {unknowns: [u, v], equations: [lap(u), u - 1]}\nboundaries: {\"*\": {u: 0, v: 0}}\n",
     "1:25: no equation contains the unknown `v`"},
    {"physics: {unknowns: [u, v], equations: {u: lap(u), w: lap(v)}}\nboundaries: {\"*\": {u: 0, v: 0}}\n",
     "1:29: unknown `v` has no equation\ncase.yaml:1:52: an equation for `w`, which is no unknown"},
    {"physics: {unknowns: [u, u, x, flux], equations: [lap(u), 1, 1, 1]}\n" ZERO,
     "1:25: `u` is named twice\ncase.yaml:1:28: `x` cannot be an unknown: it is a coordinate\n"
     "case.yaml:1:31: `flux` cannot be an unknown: it is a word of the case format"},
    {"physics: {unknowns: [u], equation: [lap(u)]}\n" ZERO,
     "1:1: no `equations`; expected one for each unknown\n"
     "case.yaml:1:26: unknown key 'equation' in 'physics'; did you mean 'equations'? (known: unknowns, "
     "equations, "
     "coefficients, tables, sources)"},
    {LAPLACE "boundaries: {\"*\": {flux: {u: 1}}}\n",
     "2:1: nothing fixes the level of `u`: the case is steady, no boundary gives its value (all give fluxes, "
     "a pure "
     "Neumann problem) and the equations contain its derivatives only; expected a value on some boundary, or "
     "a flux "
     "that depends on `u`"},
    {LAPLACE, "1:1: no `boundaries:`; expected a condition for every boundary of the mesh"},
    {LAPLACE "boundaries: {left: {u: 0}, right: {u: 0}, bottom: {symmetry: true}}\n",
     "2:1: boundary `top` of the mesh (4 faces) has no condition; expected e.g. `top: {u: 0}`"},
    {LAPLACE "boundaries: {lfet: {u: 0}, \"*\": {u: 0}}\n",
     "2:14: the mesh has no boundary `lfet`; it has: bottom, right, top, left; did you mean `left`?"},
    {TWO "boundaries: {\"*\": {u: 0}}\n", "2:14: boundary `*` has no condition for `v`; expected a value, "
                                          "`v: 0`, a flux, `flux: {v: 0}`, or `free: true`"},
    {TWO "boundaries: {\"*\": {u: 0, flux: {v: 1, u: 2}}}\n",
     "2:39: two conditions for `u` on `*`; keep one"},
    {LAPLACE "boundaries: {\"*\": {uu: 0}}\n", "2:20: no condition `uu` (boundary `*`); expected one of: u, "
                                               "flux, free, symmetry, periodic; did you mean `u`?"},
    {LAPLACE "boundaries: {\"*\": {flux: {w: 0}}}\n", "2:27: `w` under `flux` of `*` is no unknown"},
    {LAPLACE "boundaries: {\"*\": {flux: 0}}\n",
     "2:26: `flux` must give outward fluxes by unknown, e.g. {flux: {u: 0}} (boundary `*`)"},
    {LAPLACE "boundaries: {\"*\": {symmetry: false}}\n",
     "2:30: `symmetry: false` is no condition (boundary `*`)"},
    {LAPLACE "boundaries: {left: {periodic: right, u: 0}, \"*\": {u: 0}}\n",
     "2:38: boundary `left` is periodic: it takes no other condition"},
    {LAPLACE "boundaries: {left: {periodic: right}, \"*\": {u: 0}}\n",
     "2:31: the mesh does not join boundary `left` to `right`"},
    {LAPLACE "boundaries: {\"*\": {u: {table: f.csv}}}\n",
     "2:31: a table over time, but the case is steady (no `solve: {time: ...}`); expected an expression"},
    {LAPLACE "boundaries: {\"*\": {u: u}}\n",
     "2:23: `u` contains an unknown; expected an expression of place and parameters"},
    {LAPLACE "boundaries: {\"*\": {flux: {u: u_x}}}\n",
     "2:30: `u_x` contains a derivative of an unknown; expected values of unknowns only"},
    {LAPLACE "boundaries: {\"*\": {flux: {u: u - dn(u)}}}\n",
     "2:34: `u - dn(u)` contains a derivative of an unknown; expected values of unknowns only"},
    {LAPLACE "boundaries: {left: {u: 1/(x*y - x*y)}, \"*\": {u: 0}}\n",
     "2:24: the value of `u` on boundary `left` is not a finite number around (0, 0.125, 0)"},
    {LAPLACE "initial: {u: log(x - 0.5)}\n" ZERO,
     "2:14: the start of `u` is not a finite number around (0.125, 0.125, 0)"},
    {LAPLACE "initial: {w: 1}\n" ZERO, "2:11: `w` under `initial` is no unknown"},
    {LAPLACE "initial: {u: t}\n" ZERO,
     "2:14: `t` depends on the time t, but it stands where the time is the start"},
    {"physics: {unknowns: [u], equations: [u_t - lap(u)]}\nsolve: {time: {end: 1}}\n" ZERO,
     "1:1: the case runs in time, but `initial` does not give `u`; expected e.g. `initial: {u: 0}`"},
    {"physics: {unknowns: [u], coefficients: {k: {core: 1}, q: sin(w), x: 2}, equations: [lap(u)]}\n" ZERO,
     "1:62: unknown name `w` (known: x, y, z, u, k)\ncase.yaml:1:66: `x` cannot be a coefficient: it is a "
     "coordinate"},
    {"physics: {unknowns: [u], coefficients: {k: {fluit: 1}, q: {}}, equations: [lap(u)]}\n" ZERO,
     "1:56: coefficient `q` has no values; expected e.g. {core: 1000, rest: 1}"},
    {"physics: {unknowns: [u], coefficients: {k: {fluit: 1}}, equations: [lap(u)]}\n" ZERO,
     "1:41: coefficient `k`: the mesh has no region `fluit`; it has: fluid; did you mean `fluid`?"},
    {"physics: {unknowns: [u], equations: [lap(u)], sources: [{at: [3, 3], u: 1}, {from: [0, 0], to: [2, 2], "
     "u: "
     "1}]}\n" ZERO,
     "1:62: the source at (3, 3, 0) lies outside of the mesh\n"
     "case.yaml:1:77: only 50 % of the segment of this source lie in the mesh"},
    {"physics: {unknowns: [u], equations: [lap(u)], sources: [{u: 1}, {at: [0, 0, 0], u: 1}, {at: [0, 0]}, "
     "{at: [0, "
     "0], w: 1}]}\n" ZERO,
     "1:57: a source is {at: [x, y], u: 1} or {from: [x, y], to: [x, y], u: 1} (strength per length)\n"
     "case.yaml:1:88: a source without a strength; expected e.g. `u: 1`\n"
     "case.yaml:1:115: a source of `w`, which is no unknown"},
    {"physics: {unknowns: [u], tables: {cond: no-such.csv}, equations: [\"lap(u) - cond\"]}\n" ZERO,
     "1:77: `cond` is a table; expected `table(cond, ...)` with what is looked up"},
    {"physics: {unknowns: [u], tables: {cond: no-such.csv}, equations: [\"lap(u) - table(kond, u)\"]}\n" ZERO,
     "1:83: the first argument of `table` is no table; did you mean `cond`?; expected a name of `physics: "
     "{tables: "
     "{name: file.csv}}`"},
    {"physics: {unknowns: [u], tables: {cond: no-such.csv}, equations: [\"lap(u) - table(cond, u)\"]}\n" ZERO,
     "1:83: cannot read 'no-such.csv': No such file or directory"},
    {"physics: {unknowns: [u], tables: [cond], equations: [\"lap(u)\"]}\n" ZERO,
     "1:34: `tables` must be a mapping of names to files, e.g. {k: k.csv}"},
    {"parameters: {y: 2}\nphysics: {unknowns: [u], equations: [lap(u) - y]}\n" ZERO,
     "2:47: `y` is both a coordinate and a parameter; rename the parameter"},
    {"parameters: {u: 2}\nphysics: {unknowns: [u], equations: [lap(u) - y]}\n" ZERO,
     "2:22: `u` cannot be an unknown: it is a parameter"},
};

static void rest(void **state) {
  (void)state;
  pcsim_mesh *mesh = mesh_lattice(&square);
  int wrong = 0;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
    char found[4000], expected[4000];
    problems_of(faults[i].text, mesh, found, sizeof found);
    snprintf(expected, sizeof expected, "case.yaml:%s", faults[i].message);
    if (strcmp(found, expected) == 0) continue;
    print_error("%sfound:\n%s\nexpected:\n%s\n\n", faults[i].text, found, expected);
    ++wrong;
  }
  pcsim_mesh_destroy(&mesh);
  assert_int_equal(wrong, 0);
}

/* Coefficients of coefficients: written out, k40 would have 2^40 terms. */
static void long_coefficients(void **state) {
  (void)state;
  char text[4000] =
      "physics:\n  unknowns: [u]\n  equations: [\"div(k40*grad(u))\"]\n  coefficients:\n    k0: 1 + x\n",
       found[1000];
  pcsim_mesh *mesh = mesh_lattice(&square);
  for (int i = 1; i <= 40; ++i)
    snprintf(text + strlen(text), sizeof text - strlen(text), "    k%d: k%d + k%d\n", i, i - 1, i - 1);
  strcat(text, ZERO);
  problems_of(text, mesh, found, sizeof found);
  assert_string_equal(
      found, "case.yaml:3:15: with its coefficients written out this has more than 60000 characters; "
             "expected a shorter one");
  pcsim_mesh_destroy(&mesh);
}

/* A case of a built-in model is none of ours. */
static void not_typed(void **state) {
  (void)state;
  pcsim_mesh *mesh = mesh_lattice(&square);
  pcsim_tree *tree = tree_of("physics: {model: navier-stokes, density: 1, viscosity: 1}\n");
  pcsim_transport_problem *problem = NULL;
  assert_false(pcsim_transport_given(tree));
  assert_status(pcsim_transport_problem_read(tree, mesh, &problem), PCSIM_ERR_ARG);
  assert_status(pcsim_transport_problem_read(tree, NULL, &problem), PCSIM_ERR_ARG);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(strong_forms), cmocka_unit_test(several),
                                     cmocka_unit_test(rest), cmocka_unit_test(long_coefficients),
                                     cmocka_unit_test(not_typed)};
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (pcsim_memory_used() != before)
    print_error("%zu bytes are still held\n", pcsim_memory_used() - before), ++failed;
  return failed;
}
int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
