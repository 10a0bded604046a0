/* SPDX-License-Identifier: BSD-2-Clause */
/** @file named_laws.h  The equations that people type most, with manufactured solutions: what an equation
 * leaves of the solution E (and F, G) stands behind it with the opposite sign. Included once by a program
 * that defines
 *
 *    E, F, G              the solutions as text, positive
 *    EACH(a), VELOCITY    the vectors (a, a, ..) and a constant one, as text
 *    PARAMETERS           a line of the case, or ""
 *
 *  The same laws so serve in the plane and in space. */
#ifndef PCSIM_TEST_SOLVER_NAMED_LAWS_H
#define PCSIM_TEST_SOLVER_NAMED_LAWS_H

#include "solver/laws.h"

#define LAW_ONE(equation)                                                                                    \
  PARAMETERS "physics: {unknowns: [u], coefficients: {E: \"" E "\"}, equations: [\"" equation "\"]}\n"       \
             "boundaries: {\"*\": {u: E}}\ninitial: {u: 2}\n"
#define LAW_TWO(first, second)                                                                               \
  PARAMETERS "physics: {unknowns: [u, v], coefficients: {E: \"" E "\", F: \"" F "\"},\n"                     \
             "          equations: [\"" first "\", \"" second "\"]}\n"                                       \
             "boundaries: {\"*\": {u: E, v: F}}\ninitial: {u: 1, v: 1}\n"

/** steps: of Newton's method at most; a linear law is one of two. */
typedef struct {
  const char *name, *text;
  int64_t steps;
} named_law;

static const named_law named_laws[] = {
    {"Poisson", LAW_ONE("-lap(u) + lap(E)"), 2},
    {"Helmholtz", LAW_ONE("-lap(u) - 5*u + lap(E) + 5*E"), 2},
    {"heat, k(u)", LAW_ONE("-div((1 + u^2)*grad(u)) + div((1 + E^2)*grad(E))"), 15},
    {"advection-diffusion",
     LAW_ONE("div(" VELOCITY "*u - 0.05*grad(u)) - div(" VELOCITY "*E - 0.05*grad(E))"), 2},
    {"reaction-diffusion",
     LAW_TWO("-lap(u) - 1 - u^2*v + 4*u + lap(E) + 1 + E^2*F - 4*E",
             "-2*lap(v) - 3*u + u^2*v + 2*lap(F) + 3*E - E^2*F"),
     12},
    {"Burgers", LAW_ONE("div(" EACH("u^2/2") ") - 0.1*lap(u) - div(" EACH("E^2/2") ") + 0.1*lap(E)"), 12},
    {"Allen-Cahn", LAW_ONE("-0.1*lap(u) - u*(1 - u)*(u - 0.25) + 0.1*lap(E) + E*(1 - E)*(E - 0.25)"), 15},
    {"Gray-Scott",
     LAW_TWO("-lap(u) + u*v^2 - 0.04*(1 - u) + lap(E) - E*F^2 + 0.04*(1 - E)",
             "-2*lap(v) - u*v^2 + 0.1*v + 2*lap(F) + E*F^2 - 0.1*F"),
     20},
    {"porous medium", LAW_ONE("-lap(u^3) + lap(E^3)"), 15},
};
enum { NUM_NAMED_LAWS = sizeof named_laws / sizeof *named_laws };

#endif
