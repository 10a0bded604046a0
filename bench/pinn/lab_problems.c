/* SPDX-License-Identifier: BSD-2-Clause */
#include "lab.h"

#include <math.h>
#include <string.h>

/** Burgers' equation by Cole and Hopf, u(x, 0) = -sin pi x: the integrals by the trapezoidal rule after
 *  eta = 2 sqrt(nu t) s, with the exponents' largest taken out. */
static double burgers(const double *x) {
  const double nu = 0.01 / M_PI, t = x[1];
  if (t <= 0) return -sin(M_PI * x[0]);
  enum { N = 4000, RANGE = 14 /* of s: the largest terms lie beyond 6 */ };
  const double h = 2. * RANGE / N, scale = 2 * sqrt(nu * t);
  double largest = -INFINITY, above = 0, below = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i <= N; i++) {
      const double s = -RANGE + h * i, y = x[0] - scale * s;
      const double power = -cos(M_PI * y) / (2 * M_PI * nu) - s * s;
      if (!pass) largest = fmax(largest, power);
      else {
        const double e = exp(power - largest);
        above += sin(M_PI * y) * e;
        below += e;
      }
    }
  return -above / below;
}

#define SUM5 "sin(pi*a/2)+sin(pi*b/2)+sin(pi*c/2)+sin(pi*d/2)+sin(pi*f/2)"
/* clang-format off */
#define ONE(space, inner, equation_) \
  .num_unknowns = 1, .unknown = {"u"}, .ansatz = {inner}, .num_equations = 1, .equation = {equation_}, \
  .num_coordinates = 2, .coordinate = space
#define XY {"x", "y"}
#define XT {"x", "t"}
static const lab_problem problems[] = {
    {.name = "poisson", .range = {{0, 1}, {0, 1}}, .exact = "sin(pi*x)*sin(pi*y)",
     ONE(XY, "x*(1-x)*y*(1-y)*n0", "lap(u) + 2*pi^2*sin(pi*x)*sin(pi*y)")},
    {.name = "heat", .range = {{0, 1}, {0, 1}}, .exact = "exp(-pi^2*t/4)*sin(pi*x)",
     ONE(XT, "sin(pi*x) + t*x*(1-x)*n0", "u_t - u_xx/4")},
    {.name = "helmholtz", .range = {{-1, 1}, {-1, 1}}, .exact = "sin(pi*x)*sin(4*pi*y)",
     ONE(XY, "(1-x^2)*(1-y^2)*n0", "lap(u) + u - (1-17*pi^2)*sin(pi*x)*sin(4*pi*y)")},
    {.name = "burgers", .range = {{-1, 1}, {0, 1}}, .exact_function = burgers,
     ONE(XT, "-sin(pi*x) + t*(1-x^2)*n0", "u_t + u*u_x - 0.01/pi*u_xx")},
    {.name = "wave", .range = {{0, 1}, {0, 1}}, .exact = "sin(pi*x)*cos(2*pi*t) + 0.5*sin(4*pi*x)*cos(8*pi*t)",
     ONE(XT, "sin(pi*x) + 0.5*sin(4*pi*x) + t^2*x*(1-x)*n0", "u_tt - 4*u_xx")},
    {.name = "plate", .range = {{0, 1}, {0, 1}}, .exact = "sin(pi*x)^2*sin(pi*y)^2",
     ONE(XY, "16*(x*(1-x)*y*(1-y))^2*n0",
         "lap(lap(u)) - 8*pi^4*(2*cos(2*pi*x)*cos(2*pi*y) - cos(2*pi*x)/2 - cos(2*pi*y)/2)")},
    {.name = "kdv", .range = {{-1, 1}, {0, 1}}, .periodic = 1,
     ONE(XT, "cos(pi*x) + t*n0", "u_t + u*u_x + 0.0025*u_xxx")},
    {.name = "allen-cahn", .range = {{-1, 1}, {0, 1}}, .periodic = 1,
     ONE(XT, "x^2*cos(pi*x) + t*n0", "u_t - 1e-4*u_xx - 5*(u - u^3)")},
    {.name = "advection", .range = {{-1, 1}, {0, 1}}, .periodic = 1, .exact = "exp(sin(pi*(x-2*t)))",
     ONE(XT, "exp(sin(pi*x)) + t*n0", "u_t + 2*u_x")},
    {.name = "variable", .range = {{0, 2}, {-1, 3}},
     ONE(XY, "x*(2-x)*(y+1)*(3-y)*n0", "div((1+x^2)*grad(u)) + exp(-10*((x-1.2)^2+(y-0.5)^2))")},
    {.name = "poisson-soft", .range = {{0, 1}, {0, 1}}, .exact = "sin(pi*x)*sin(pi*y)", .num_conditions = 4,
     .condition = {{0, 0, "u"}, {0, 1, "u"}, {1, 0, "u"}, {1, 1, "u"}},
     ONE(XY, "n0", "lap(u) + 2*pi^2*sin(pi*x)*sin(pi*y)")},
    {.name = "heat-soft", .range = {{0, 1}, {0, 1}}, .exact = "exp(-pi^2*t/4)*sin(pi*x)", .num_conditions = 3,
     .condition = {{0, 0, "u"}, {0, 1, "u"}, {1, 0, "u - sin(pi*x)"}},
     ONE(XT, "n0", "u_t - u_xx/4")},
    {.name = "helmholtz-soft", .range = {{-1, 1}, {-1, 1}}, .exact = "sin(pi*x)*sin(4*pi*y)", .num_conditions = 4,
     .condition = {{0, 0, "u"}, {0, 1, "u"}, {1, 0, "u"}, {1, 1, "u"}},
     ONE(XY, "n0", "lap(u) + u - (1-17*pi^2)*sin(pi*x)*sin(4*pi*y)")},
    {.name = "poisson5", .range = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}, .exact = SUM5, .num_conditions = 10,
     .condition = {{0, 0, "u-(" SUM5 ")"}, {0, 1, "u-(" SUM5 ")"}, {1, 0, "u-(" SUM5 ")"}, {1, 1, "u-(" SUM5 ")"},
                   {2, 0, "u-(" SUM5 ")"}, {2, 1, "u-(" SUM5 ")"}, {3, 0, "u-(" SUM5 ")"}, {3, 1, "u-(" SUM5 ")"},
                   {4, 0, "u-(" SUM5 ")"}, {4, 1, "u-(" SUM5 ")"}},
     .num_unknowns = 1, .unknown = {"u"}, .ansatz = {"n0"}, .num_equations = 1,
     .equation = {"lap(u) + pi^2/4*(" SUM5 ")"}, .num_coordinates = 5, .coordinate = {"a", "b", "c", "d", "f"}},
};
/* clang-format on */

const lab_problem *lab_problem_get(int i) {
  return i >= 0 && i < (int)(sizeof problems / sizeof *problems) ? &problems[i] : NULL;
}
const lab_problem *lab_problem_find(const char *name) {
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
    if (!strcmp(problems[i].name, name)) return &problems[i];
  return NULL;
}
