/* SPDX-License-Identifier: BSD-2-Clause */
/** @file least_squares.h  Small least-squares problems with known minima, of J. J. More, B. S. Garbow,
 *  K. E. Hillstrom: Testing unconstrained optimization software, ACM Trans. Math. Softw. 7 (1981), 17-41: the
 *  problem's number there, its start and its least sum of squares. Derivatives are taken by complex steps. */
#ifndef PCSIM_TEST_LEAST_SQUARES_H
#define PCSIM_TEST_LEAST_SQUARES_H

#include "pinn/objective.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex cplx;
enum { MAX_N = 40, MAX_M = 80 };
typedef struct {
  const char *name;
  int n, m;
  double start[MAX_N];
  double minimum; /**< sum of squares */
  void (*residual)(int n, int m, const cplx *x, cplx *r);
} problem;

static void rosenbrock(int n, int m, const cplx *x, cplx *r) { /* 1; 21 for larger n */
  (void)m;
  for (int i = 0; i < n; i += 2) r[i] = 10 * (x[i + 1] - x[i] * x[i]), r[i + 1] = 1 - x[i];
}
static void freudenstein_roth(int n, int m, const cplx *x, cplx *r) { /* 2 */
  (void)n, (void)m;
  r[0] = -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1];
  r[1] = -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1];
}
static void brown_badly_scaled(int n, int m, const cplx *x, cplx *r) { /* 4 */
  (void)n, (void)m;
  r[0] = x[0] - 1e6, r[1] = x[1] - 2e-6, r[2] = x[0] * x[1] - 2;
}
static void beale(int n, int m, const cplx *x, cplx *r) { /* 5 */
  (void)n, (void)m;
  const double y[] = {1.5, 2.25, 2.625};
  cplx power = 1;
  for (int i = 0; i < 3; i++) power *= x[1], r[i] = y[i] - x[0] * (1 - power);
}
static void helical_valley(int n, int m, const cplx *x, cplx *r) { /* 7; near its path x[0] != 0 */
  (void)n, (void)m;
  cplx angle = catan(x[1] / x[0]) / (2 * M_PI);
  if (creal(x[0]) < 0) angle += 0.5;
  r[0] = 10 * (x[2] - 10 * angle), r[1] = 10 * (csqrt(x[0] * x[0] + x[1] * x[1]) - 1), r[2] = x[2];
}
static void bard(int n, int m, const cplx *x, cplx *r) { /* 8 */
  (void)n;
  const double y[] = {.14, .18, .22, .25, .29, .32, .35, .39, .37, .58, .73, .96, 1.34, 2.10, 4.39};
  for (int i = 0; i < m; i++) {
    const double u = i + 1, v = 15 - i, w = u < v ? u : v;
    r[i] = y[i] - (x[0] + u / (v * x[1] + w * x[2]));
  }
}
static void box(int n, int m, const cplx *x, cplx *r) { /* 12 */
  (void)n;
  for (int i = 0; i < m; i++) {
    const double t = 0.1 * (i + 1);
    r[i] = cexp(-t * x[0]) - cexp(-t * x[1]) - x[2] * (exp(-t) - exp(-10 * t));
  }
}
static void powell_singular(int n, int m, const cplx *x, cplx *r) { /* 13 */
  (void)n, (void)m;
  r[0] = x[0] + 10 * x[1], r[1] = sqrt(5) * (x[2] - x[3]);
  r[2] = (x[1] - 2 * x[2]) * (x[1] - 2 * x[2]), r[3] = sqrt(10) * (x[0] - x[3]) * (x[0] - x[3]);
}
static void wood(int n, int m, const cplx *x, cplx *r) { /* 14 */
  (void)n, (void)m;
  r[0] = 10 * (x[1] - x[0] * x[0]), r[1] = 1 - x[0];
  r[2] = sqrt(90) * (x[3] - x[2] * x[2]), r[3] = 1 - x[2];
  r[4] = sqrt(10) * (x[1] + x[3] - 2), r[5] = (x[1] - x[3]) / sqrt(10);
}
static void kowalik_osborne(int n, int m, const cplx *x, cplx *r) { /* 15 */
  (void)n;
  const double y[] = {.1957, .1947, .1735, .1600, .0844, .0627, .0456, .0342, .0323, .0235, .0246};
  const double u[] = {4, 2, 1, .5, .25, .167, .125, .1, .0833, .0714, .0625};
  for (int i = 0; i < m; i++)
    r[i] = y[i] - x[0] * (u[i] * u[i] + u[i] * x[1]) / (u[i] * u[i] + u[i] * x[2] + x[3]);
}
static void osborne_1(int n, int m, const cplx *x, cplx *r) { /* 17 */
  (void)n;
  const double y[] = {.844, .908, .932, .936, .925, .908, .881, .850, .818, .784, .751,
                      .718, .685, .658, .628, .603, .580, .558, .538, .522, .506, .490,
                      .478, .467, .457, .448, .438, .431, .424, .420, .414, .411, .406};
  for (int i = 0; i < m; i++)
    r[i] = y[i] - (x[0] + x[1] * cexp(-10. * i * x[3]) + x[2] * cexp(-10. * i * x[4]));
}
static void watson(int n, int m, const cplx *x, cplx *r) { /* 20 */
  for (int i = 0; i < m - 2; i++) {
    const double t = (i + 1) / 29.;
    cplx slope = 0, value = 0;
    double power = 1;
    for (int j = 0; j < n; j++) {
      if (j) slope += j * x[j] * power / t;
      value += x[j] * power;
      power *= t;
    }
    r[i] = slope - value * value - 1;
  }
  r[m - 2] = x[0], r[m - 1] = x[1] - x[0] * x[0] - 1;
}
/** Discrete boundary value problem, 28. */
static void boundary_value(int n, int m, const cplx *x, cplx *r) {
  (void)m;
  const double h = 1. / (n + 1);
  for (int i = 0; i < n; i++) {
    const cplx before = i ? x[i - 1] : 0, after = i + 1 < n ? x[i + 1] : 0, c = x[i] + (i + 1) * h + 1;
    r[i] = 2 * x[i] - before - after + h * h * c * c * c / 2;
  }
}

static const problem problems[] = {
    {"rosenbrock", 2, 2, {-1.2, 1}, 0, rosenbrock},
    {"freudenstein-roth", 2, 2, {6, 4}, 0, freudenstein_roth},
    {"brown badly scaled", 2, 3, {1, 1}, 0, brown_badly_scaled},
    {"beale", 2, 3, {1, 1}, 0, beale},
    {"helical valley", 3, 3, {-1, 1e-12, 0}, 0, helical_valley},
    {"bard", 3, 15, {1, 1, 1}, 8.214877e-3, bard},
    {"box", 3, 10, {0, 10, 20}, 0, box},
    {"powell singular", 4, 4, {3, -1, 0, 1}, 0, powell_singular},
    {"wood", 4, 6, {-3, -1, -3, -1}, 0, wood},
    {"kowalik-osborne", 4, 11, {.25, .39, .415, .39}, 3.075056e-4, kowalik_osborne},
    {"osborne 1", 5, 33, {.5, 1.5, -1, .01, .02}, 5.464895e-5, osborne_1},
    {"watson 6", 6, 31, {0}, 2.287670e-3, watson},
    {"watson 9", 9, 31, {0}, 1.399760e-6, watson},
    {"extended rosenbrock",
     40,
     40,
     {-1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1,
      -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1},
     0,
     rosenbrock},
    {"boundary value", 30, 30, {0}, 0, boundary_value},
};
enum { NUM_PROBLEMS = sizeof problems / sizeof *problems };

typedef struct {
  objective base;
  const problem *p;
  int evaluations, wall; /**< wall: the loss is not a number where theta[0] > limit */
  double limit;
  double j[MAX_N * MAX_M]; /**< at the last gradient */
} test_objective;

static double evaluate(test_objective *o, const double *theta, double *residual, double *j /* [n][m] */) {
  const problem *p = o->p;
  cplx x[MAX_N], r[MAX_M];
  for (int i = 0; i < p->n; i++) x[i] = theta[i];
  o->evaluations++;
  p->residual(p->n, p->m, x, r);
  double sum = 0;
  for (int k = 0; k < p->m; k++) residual[k] = creal(r[k]), sum += residual[k] * residual[k];
  for (int i = 0; j && i < p->n; i++) {
    const double tiny = 1e-100;
    x[i] += tiny * I;
    p->residual(p->n, p->m, x, r);
    for (int k = 0; k < p->m; k++) j[i * p->m + k] = cimag(r[k]) / tiny;
    x[i] = theta[i];
  }
  if (o->wall && theta[0] > o->limit) sum = NAN;
  return sum / 2;
}
static void multiply(const problem *p, const double *j, const double *residual, double *gradient) {
  for (int i = 0; i < p->n; i++) {
    gradient[i] = 0;
    for (int k = 0; k < p->m; k++) gradient[i] += j[i * p->m + k] * residual[k];
  }
}

static pcsim_status test_loss(objective *f, const double *theta, double *loss, double *gradient) {
  test_objective *o = (test_objective *)f;
  double r[MAX_M], j[MAX_N * MAX_M];
  *loss = evaluate(o, theta, r, gradient ? j : NULL);
  if (gradient) multiply(o->p, j, r, gradient), memcpy(o->j, j, sizeof j);
  return PCSIM_OK;
}
static pcsim_status test_product(objective *f, const double *v, double *out) {
  test_objective *o = (test_objective *)f;
  double along[MAX_M] = {0};
  for (int i = 0; i < o->p->n; i++)
    for (int k = 0; k < o->p->m; k++) along[k] += o->j[i * o->p->m + k] * v[i];
  multiply(o->p, o->j, along, out);
  return PCSIM_OK;
}
static pcsim_status test_normal(objective *f, const double *theta, double *loss, double *gradient,
                                double *product) {
  test_objective *o = (test_objective *)f;
  const problem *p = o->p;
  double r[MAX_M], j[MAX_N * MAX_M];
  *loss = evaluate(o, theta, r, j);
  multiply(p, j, r, gradient);
  for (int i = 0; i < p->n; i++)
    for (int k = 0; k <= i; k++) {
      product[i * p->n + k] = 0;
      for (int l = 0; l < p->m; l++) product[i * p->n + k] += j[i * p->m + l] * j[k * p->m + l];
    }
  return PCSIM_OK;
}
static pcsim_status test_jacobian(objective *f, const double *theta, double *loss, double *residual,
                                  double *j) {
  *loss = evaluate((test_objective *)f, theta, residual, j);
  return PCSIM_OK;
}

static inline test_objective make_objective(const problem *p, bool kernel) {
  test_objective o = {.p = p};
  o.base = (objective){
      p->n, p->m, test_loss, kernel ? NULL : test_normal, kernel ? test_jacobian : NULL, test_product};
  return o;
}

#endif
