/* SPDX-License-Identifier: BSD-2-Clause */
/* Fluids of varying viscosity against exact solutions: power laws between two cylinders and in a plane
 * channel, a channel whose viscosity depends on place. */
#include "solver/exact.h"

/* k shear^(n-1) turning between two cylinders (r tau_rt = const/r): u_t = r (A + B r^(-2/n)), p from rho
 * u_t^2/r. Any part of it is a flow: here the square from (1, 1) to (2, 2), its velocity given all around. */
static const double A = 1, B = -2;
static double power; /* n */

static void turning_flow(const double *x, double *value) {
  const double r2 = x[0] * x[0] + x[1] * x[1], e = 2 - 2 / power, f = 2 - 4 / power;
  const double omega = A + B * pow(r2, -1 / power);
  value[0] = -x[1] * omega;
  value[1] = x[0] * omega;
  value[2] = 0;
  value[3] = A * A * r2 / 2 + 2 * A * B * pow(r2, e / 2) / e + B * B * pow(r2, f / 2) / f;
}

static void turning(void **state) {
  static const placement square = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {1, 1, 0}};
  static const double powers[] = {0.5, 1.5};
  (void)state;
  for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
    for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++) {
      char text[1024];
      power = powers[i];
      snprintf(text, sizeof text,
               "parameters: {n: %g, k: 0.3}\n"
               "physics: {model: navier-stokes, density: 1, viscosity: \"k*shear^(n - 1)\"}\n"
               "boundaries: {\"*\": {velocity: [\"-y*(1 - 2*(x^2 + y^2)^(-1/n))\", "
               "\"x*(1 - 2*(x^2 + y^2)^(-1/n))\"]}}\n",
               power);
      check_orders((sample){kind, 16, 16, 0, kind == LATTICE_QUAD ? 0 : 0.15, &square}, 3, text, turning_flow,
                   1.9, 1.0);
    }
}

/* Half width 1/2, k = 1, pressure gradient 2: the wall shear stress is 1. */
static void channel_flow(const double *x, double *value) {
  const double e = 1 + 1 / power, c = power / (1 + power) * pow(2, 1 / power);
  value[0] = c * (pow(0.5, e) - pow(fabs(x[1] - 0.5), e));
  value[1] = value[2] = 0;
  value[3] = 2 * (1 - x[0]);
}

/* At a given pressure the pressure of triangles is of order 0.6, whatever the viscosity: there the velocity
 * is given at both ends. */
static void channel(void **state) {
  static const double powers[] = {0.5, 1.5};
  (void)state;
  for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
    for (int kind = LATTICE_QUAD; kind <= LATTICE_TRIANGLE; kind++) {
      char text[1024];
      power = powers[i];
      snprintf(text, sizeof text,
               "parameters: {n: %g, s: \"1 + 1/n\", c: \"n/(n + 1)*2^(1/n)\"}\n"
               "physics: {model: navier-stokes, density: 1, viscosity: \"shear^(n - 1)\"}\n"
               "boundaries: {%s: {velocity: [\"c*(0.5^s - abs(y - 0.5)^s)\", 0]}, %s"
               "\"y*\": {wall: no-slip}}\n",
               power, kind == LATTICE_QUAD ? "x-min" : "\"x*\"",
               kind == LATTICE_QUAD ? "x-max: {pressure: 0}, " : "");
      check_orders((sample){kind, 12, 12, 0, kind == LATTICE_QUAD ? 0 : 0.1, &unit_box}, 3, text,
                   channel_flow, 1.9, 1.0);
    }
}

/* Viscosity exp(-2y): u' = (C - G y) exp(2y) with G = 4 and C such that u(1) = 0. */
static const double G = 4;
static void layered_flow(const double *x, double *value) {
  const double e2 = exp(2), C = G * ((e2 + 1) / 4) / ((e2 - 1) / 2), y = x[1], e = exp(2 * y);
  value[0] = C * (e - 1) / 2 - G * (e * (2 * y - 1) + 1) / 4;
  value[1] = value[2] = 0;
  value[3] = G * (1 - x[0]);
}

static void layers(void **state) {
  (void)state;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_TRIANGLE; kind++) {
    char text[1024];
    snprintf(text, sizeof text,
             "parameters: {G: 4, C: \"G*(exp(2) + 1)/4/((exp(2) - 1)/2)\"}\n"
             "physics: {model: navier-stokes, density: 1, viscosity: \"exp(-2*y)\"}\n"
             "boundaries: {%s: {velocity: [\"C*(exp(2*y) - 1)/2 - G*(exp(2*y)*(2*y - 1) + 1)/4\", 0]}, "
             "%s\"y*\": {wall: no-slip}}\n",
             kind == LATTICE_QUAD ? "x-min" : "\"x*\"", kind == LATTICE_QUAD ? "x-max: {pressure: 0}, " : "");
    check_orders((sample){kind, 12, 12, 0, kind == LATTICE_QUAD ? 0 : 0.1, &unit_box}, 3, text, layered_flow,
                 1.9, 1.0);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(turning), cmocka_unit_test(channel),
                                     cmocka_unit_test(layers)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
