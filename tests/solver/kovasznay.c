/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders of accuracy against Kovasznay's flow (1948), in the plane and turned in space; plane Poiseuille
 * flow, which is solved exactly on straight blocks. */
#include "solver/exact.h"

static const double PI = 3.14159265358979323846;

/* ------------------------------------------------------------- Kovasznay */

static double lambda(void) { return 20 - sqrt(400 + 4 * PI * PI); } /* Re = 40 */

static void plane_flow(const double *x, double *value) {
  const double L = lambda(), grow = exp(L * x[0]);
  value[0] = 1 - grow * cos(2 * PI * x[1]);
  value[1] = L / (2 * PI) * grow * sin(2 * PI * x[1]);
  value[2] = 0;
  value[3] = 0.5 * (1 - grow * grow);
}

static const placement wake = {{{1.5, 0, 0}, {0, 2, 0}, {0, 0, 1}}, {-0.5, -0.5, 0}};

static void in_the_plane(void **state) {
  (void)state;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++)
    check_orders((sample){kind, 18, 24, 0, kind == LATTICE_QUAD ? 0 : 0.15, &wake}, 3,
                 "parameters: {Re: 40, L: \"Re/2 - sqrt(Re^2/4 + 4*pi^2)\"}\n"
                 "physics: {model: navier-stokes, density: 1, viscosity: \"1/Re\"}\n"
                 "boundaries: {\"*\": {velocity: [\"1 - exp(L*x)*cos(2*pi*y)\", "
                 "\"L/(2*pi)*exp(L*x)*sin(2*pi*y)\"]}}\n",
                 plane_flow, 1.9, 1.0);
}

/* Rows: directions of the flow's own coordinates in space. */
static const double turn[3][3] = {
    {2.0 / 3, 1.0 / 3, 2.0 / 3}, {-2.0 / 3, 2.0 / 3, 1.0 / 3}, {-1.0 / 3, -2.0 / 3, 2.0 / 3}};

static void turned_flow(const double *x, double *value) {
  double s[2] = {0}, own[4];
  for (int i = 0; i < 3; i++) s[0] += turn[0][i] * x[i], s[1] += turn[1][i] * x[i];
  plane_flow(s, own);
  for (int i = 0; i < 3; i++) value[i] = turn[0][i] * own[0] + turn[1][i] * own[1];
  value[3] = own[3];
}

static void in_space(void **state) {
  static const placement box = {{{0.6, 0, 0}, {0, 0.6, 0}, {0, 0, 0.6}}, {-0.2, -0.3, -0.1}};
  static const lattice_kind kinds[3] = {LATTICE_HEXA, LATTICE_TETRA, LATTICE_PRISM};
  char text[4096] = "parameters: {Re: 40, L: \"Re/2 - sqrt(Re^2/4 + 4*pi^2)\"}\n"
                    "physics: {model: navier-stokes, density: 1, viscosity: \"1/Re\"}\n"
                    "boundaries: {\"*\": {velocity: [";
  (void)state;
  for (int i = 0; i < 3; i++)
    append(text, sizeof text,
           "%s\"%.17g*(1 - exp(L*(2*x+y+2*z)/3)*cos(2*pi*(-2*x+2*y+z)/3)) + "
           "(%.17g)*L/(2*pi)*exp(L*(2*x+y+2*z)/3)*sin(2*pi*(-2*x+2*y+z)/3)\"",
           i ? ", " : "", turn[0][i], turn[1][i]);
  append(text, sizeof text, "]}}\n");
  /* Warped faces carry one pressure each: with a distortion that does not shrink relative to the cells the
   * pressure is of first order there, give or take the dice. */
  for (int warped = 0; warped < 2; warped++)
    for (int k = 0; k < 3; k++)
      check_orders((sample){kinds[k], 6, 6, 6, warped ? 0.1 : 0, &box}, kinds[k] == LATTICE_TETRA ? 2 : 3,
                   text, turned_flow, 1.8, kinds[k] == LATTICE_TETRA || !warped ? 1.0 : 0.6);
}

/* ------------------------------------------------------------ Poiseuille */

static void poiseuille_flow(const double *x, double *value) {
  value[0] = x[1] * (1 - x[1]);
  value[1] = value[2] = 0;
  value[3] = 2 * 0.1 * (3 - x[0]);
}

/* Cell values of the parabola are those at the centres, so the inlet gives its face averages that curvature:
 * y (1 - y) + h^2/12. */
static void poiseuille(void **state) {
  static const placement channel = {{{3, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
  static const lattice_kind kinds[2] = {LATTICE_QUAD, LATTICE_HEXA};
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int blend = 0; blend < 2; blend++) {
      const sample s = {kinds[k], 12, 8, 3, 0, &channel};
      char text[1024] = "physics: {model: navier-stokes, density: 2, viscosity: 0.1}\n";
      append(text, sizeof text, "boundaries: {x-min: {velocity: [\"y*(1-y) + 1/(12*64)\", 0%s]}, ",
             k ? ", 0" : "");
      append(text, sizeof text, "x-max: {pressure: 0}, \"y*\": {wall: no-slip}%s}\n",
             k ? ", \"z*\": {wall: slip}" : "");
      append(text, sizeof text, "solve: {tolerance: 1e-13, central: %g}\n", blend ? 0.3 : 1.0);
      const flow_error e = solve(&s, text, poiseuille_flow);
      assert_close(e.velocity, 0, 1e-10);
      assert_close(e.pressure, 0, 1e-10);
    }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(poiseuille), cmocka_unit_test(in_the_plane),
                                     cmocka_unit_test(in_space)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
