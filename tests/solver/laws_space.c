/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed laws with manufactured solutions in space: orders of accuracy on tetrahedra and prisms. With a number
 * of blocks a side, `test_solver_laws_space 32 [NAME [interior]]`: those laws alone that come to their order
 * late, or the one that is named, on tetrahedra from that many to twice as many (1,572,864 cells, 6 GB);
 * `interior`: with solutions that the slope at walls is exact for to one order more. */
#define E "sin(2*x + 1)*exp(y)*cos(z) + 1"
#define F "2 + cos(x - 2*y + z)"
#define EACH(a) a ", " a ", " a
#define VELOCITY "vector(1, 2, -1)"
#define PARAMETERS ""
#include "solver/named_laws.h"

/* Blocks a side of the coarser mesh; distortions in shares of a block. Tetrahedra come to their order from
 * below (docs/discretisation.md). */
enum { BLOCKS = 16 };
static int late_blocks; /* those of the command, 0: none */
static const char *late_law;
static bool late_interior;
static const double JITTER = 0.1;

static void two(const double *x, double *value) {
  value[0] = sin(2 * x[0] + 1) * exp(x[1]) * cos(x[2]) + 1;
  value[1] = 2 + cos(x[0] - 2 * x[1] + x[2]);
}

static bool check_in_space(const law_study *study, double jitter) {
  bool good = true;
  for (int kind = LATTICE_TETRA; kind <= LATTICE_PRISM; kind++)
    good &= law_check_orders(study, (sample){kind, BLOCKS, BLOCKS, BLOCKS, jitter, &unit_box}, 2,
                             kind == LATTICE_TETRA ? 1.75 : 1.9);
  return good;
}

static void named(void **state) {
  (void)state;
  bool good = true;
  for (int k = 0; k < NUM_NAMED_LAWS; k++)
    good &= check_in_space(
        &(law_study){named_laws[k].name, named_laws[k].text, two, named_laws[k].steps, -1, false, 0}, JITTER);
  assert_true(good);
}

/* Cubic reconstruction is of fourth order, which tetrahedra come to from below, too. */
static void cubic(void **state) {
  (void)state;
  bool good = true;
  for (int k = 0; k < NUM_NAMED_LAWS; k++)
    good &= law_check_orders(&(law_study){named_laws[k].name, named_laws[k].text, two, named_laws[k].steps,
                                          -1, .degree = 3, .whole = false},
                             (sample){LATTICE_TETRA, BLOCKS / 2, BLOCKS / 2, BLOCKS / 2, JITTER, &unit_box},
                             2, 3.4);
  assert_true(good);
}

/* Both Lame constants 1; derivatives of the displacements U, V, W are div(U, 0, 0), ... */
#define STRESSES(u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z)                                                \
  {                                                                                                          \
    "div(3*" u_x " + " v_y " + " w_z ", " u_y " + " v_x ", " u_z " + " w_x ")",                              \
        "div(" u_y " + " v_x ", " u_x " + 3*" v_y " + " w_z ", " v_z " + " w_y ")",                          \
        "div(" u_z " + " w_x ", " v_z " + " w_y ", " u_x " + " v_y " + 3*" w_z ")"                           \
  }

static void elastic(const double *x, double *value) {
  value[0] = sin(2 * x[0]) * cos(x[1]) + x[2];
  value[1] = x[0] * x[0] * x[1] + cos(2 * x[2]);
  value[2] = exp(x[1]) * sin(x[2] + x[0]);
}

static void elasticity(void **state) {
  (void)state;
  static const char *const typed[] = STRESSES("u_x", "u_y", "u_z", "v_x", "v_y", "v_z", "w_x", "w_y", "w_z");
  static const char *const left[] =
      STRESSES("div(U, 0, 0)", "div(0, U, 0)", "div(0, 0, U)", "div(V, 0, 0)", "div(0, V, 0)", "div(0, 0, V)",
               "div(W, 0, 0)", "div(0, W, 0)", "div(0, 0, W)");
  char text[4096] = "physics: {unknowns: [u, v, w], coefficients: {U: \"sin(2*x)*cos(y) + z\", "
                    "V: \"x^2*y + cos(2*z)\", W: \"exp(y)*sin(z + x)\"},\n          equations: [";
  for (int i = 0; i < 3; i++) append(text, sizeof text, "%s\"-%s + %s\"", i ? ", " : "", typed[i], left[i]);
  append(text, sizeof text, "]}\nboundaries: {\"*\": {u: U, v: V, w: W}}\n");
  assert_true(check_in_space(&(law_study){"elasticity", text, elastic, 2, -1, false, 0}, JITTER));
}

/* A slope and Robin's condition on two sides. */
static void fluxes_given(void **state) {
  (void)state;
  assert_true(check_in_space(&(law_study){"Poisson, fluxes given",
                                          "physics: {unknowns: [u], coefficients: {E: \"" E "\"},\n"
                                          "          equations: [\"-lap(u) + lap(E)\"]}\n"
                                          "boundaries: {\"*\": {u: E}, x-min: {flux: {u: \"-dn(E)\"}},\n"
                                          "             x-max: {flux: {u: \"2*(u - E) - dn(E)\"}}}\n",
                                          two, 3, -1, false, 0},
                             JITTER));
}

/* k jumps by 1000 along faces: u = 1 + w/k. */
static void jump_exact(const double *x, double *value) {
  value[0] = 1 + sin(2 * (x[0] - 0.5)) * cos(x[1]) * exp(x[2]) / (x[0] < 0.5 ? 1000 : 1);
}
static void interface(void **state) {
  (void)state;
  const law_study study = {
      "k jumps by 1000, aligned",
      "physics: {unknowns: [u], coefficients: {k: {left: 1000, right: 1}},\n"
      "          equations: [\"-div(k*grad(u)) - 4*sin(2*(x - 0.5))*cos(y)*exp(z)\"]}\n"
      "boundaries: {\"*\": {u: \"1 + sin(2*(x - 0.5))*cos(y)*exp(z)/where(x < 0.5, 1000, 1)\"}}\n",
      jump_exact,
      2,
      0.5,
      false,
      0};
  assert_true(check_in_space(&study, 0));
}

/* Laws that come to their order late on tetrahedra. */
static const char *const late_names[] = {"Poisson", "Helmholtz", "reaction-diffusion"};
enum { NUM_LATE = sizeof late_names / sizeof *late_names };
static const named_law *find_law(const char *name) {
  for (int k = 0; k < NUM_NAMED_LAWS; k++)
    if (!strcmp(named_laws[k].name, name)) return &named_laws[k];
  return NULL;
}

/* Solutions whose third derivative normal to the walls is zero there: the part of the error that comes from
 * the slope at walls and hides the order of the rest (docs/discretisation.md) is not among theirs. */
#define WALLS_E "2 + cos(pi*x)*cos(pi*y)*cos(pi*z)"
#define WALLS_F "3 + cos(pi*x)*cos(pi*z) - cos(pi*y)"
static void two_without_walls(const double *x, double *value) {
  const double pi = 3.14159265358979323846;
  value[0] = 2 + cos(pi * x[0]) * cos(pi * x[1]) * cos(pi * x[2]);
  value[1] = 3 + cos(pi * x[0]) * cos(pi * x[2]) - cos(pi * x[1]);
}

/* `text` with the first place of `old` replaced, behind what stands in `out`. */
static void replace(const char *text, const char *old, const char *by, char *out, size_t size) {
  const char *at = strstr(text, old);
  if (at) append(out, size, "%.*s%s%s", (int)(at - text), text, by, at + strlen(old));
  else append(out, size, "%s", text);
}

static bool check_interior(const named_law *law, int blocks) {
  char text[2][2048] = {"", ""}, name[64];
  replace(law->text, E, WALLS_E, text[0], sizeof text[0]);
  replace(text[0], F, WALLS_F, text[1], sizeof text[1]);
  snprintf(name, sizeof name, "%s, interior", law->name);
  return law_check_orders(&(law_study){name, text[1], two_without_walls, law->steps, -1, false, 0},
                          (sample){LATTICE_TETRA, blocks, blocks, blocks, JITTER, &unit_box}, 2, 1.85);
}

static void late(void **state) {
  const int n = late_blocks;
  bool good = true, any = false;
  (void)state;
  for (int i = 0; i < NUM_LATE; i++) {
    const named_law *law = find_law(late_names[i]);
    if (late_law && strcmp(late_law, law->name) != 0) continue;
    any = true;
    good &= late_interior
                ? check_interior(law, n)
                : law_check_orders(&(law_study){law->name, law->text, two, law->steps, -1, false, 0},
                                   (sample){LATTICE_TETRA, n, n, n, JITTER, &unit_box}, 2, 1.75);
  }
  assert_true(any && good);
}

static int run_late(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(late)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(named), cmocka_unit_test(cubic),
                                     cmocka_unit_test(elasticity), cmocka_unit_test(fluxes_given),
                                     cmocka_unit_test(interface)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) {
  late_blocks = argc > 1 ? atoi(argv[1]) : 0;
  late_law = argc > 2 ? argv[2] : NULL;
  late_interior = argc > 3 && !strcmp(argv[3], "interior");
  return pcsim_test_main(late_blocks > 0 ? run_late : run, &argc, &argv);
}
