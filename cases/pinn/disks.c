/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of disks.yaml: lap u = 0 in the square [-0.5, 0.5]^2 without four disks of radius 0.1
 * about (+-0.3, +-0.3), u = 0 on the disks, u = 1 on the square. u is a sum of harmonic functions (logarithm
 * and negative powers about each disk, powers about the origin) fitted to the values on the boundary; as the
 * error is harmonic too, it is largest there (said on stderr, at points between those of the fit).
 *
 *     cc -O2 disks.c -o disks -lopenblas -lm && ./disks > disks.csv */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  NEGATIVE = 16,
  POSITIVE = 64,
  TERMS = 4 * (1 + 2 * NEGATIVE) + 1 + 2 * POSITIVE,
  ON_DISK = 200,
  ON_SIDE = 320
};
enum { ROWS = 4 * (ON_DISK + ON_SIDE), POINTS = 500 };
static const double pi = 3.14159265358979323846, radius = 0.1;
static const double centre[4][2] = {{0.3, 0.3}, {-0.3, 0.3}, {0.3, -0.3}, {-0.3, -0.3}};

extern void dgels_(const char *, const int *, const int *, const int *, double *, const int *, double *,
                   const int *, double *, const int *, int *);

static void terms(double x, double y, double *t) {
  const double complex z = x + I * y;
  double complex power = 1;
  for (int d = 0; d < 4; d++) {
    const double complex w = z - (centre[d][0] + I * centre[d][1]);
    double complex inverse = 1;
    *t++ = log(cabs(w) / radius);
    for (int k = 0; k < NEGATIVE; k++) inverse *= radius / w, *t++ = creal(inverse), *t++ = cimag(inverse);
  }
  *t++ = 1;
  for (int k = 0; k < POSITIVE; k++) power *= z / 0.7071, *t++ = creal(power), *t++ = cimag(power);
}

/* Points on the boundary, `shift` of a step further; the value there. */
static double boundary(int i, double shift, double *x) {
  if (i < 4 * ON_DISK) {
    const double angle = 2 * pi * (i % ON_DISK + shift) / ON_DISK, *c = centre[i / ON_DISK];
    x[0] = c[0] + radius * cos(angle), x[1] = c[1] + radius * sin(angle);
    return 0;
  }
  i -= 4 * ON_DISK;
  const double along = -0.5 * cos(pi * (i % ON_SIDE + shift) / ON_SIDE),
               across = i / ON_SIDE % 2 ? 0.5 : -0.5;
  x[0] = i / ON_SIDE < 2 ? along : across, x[1] = i / ON_SIDE < 2 ? across : along;
  return 1;
}

static double value(const double *c, double x, double y) {
  double t[TERMS], sum = 0;
  terms(x, y, t);
  for (int j = 0; j < TERMS; j++) sum += c[j] * t[j];
  return sum;
}

int main(void) {
  static double a[ROWS * TERMS], c[ROWS], work[1 << 20];
  const int rows = ROWS, columns = TERMS, one = 1, size = 1 << 20;
  int info;
  double worst = 0, x[2], t[TERMS];
  for (int i = 0; i < ROWS; i++) {
    c[i] = boundary(i, 0.25, x);
    terms(x[0], x[1], t);
    for (int j = 0; j < TERMS; j++) a[j * ROWS + i] = t[j];
  }
  dgels_("N", &rows, &columns, &one, a, &rows, c, &rows, work, &size, &info);
  for (int i = 0; i < ROWS; i++) {
    const double wanted = boundary(i, 0.75, x), miss = fabs(value(c, x[0], x[1]) - wanted);
    if (!(miss <= worst)) worst = miss;
  }
  fprintf(stderr, "largest error on the boundary %.1e\n", worst);
  printf("# by disks.c; largest error %.1e\nx,y,u\n", worst);
  for (int k = 1, n = 0; n < POINTS; k++) {
    /* Additive recurrence of the plastic number. */
    const double p = fmod(0.7548776662466927 * k, 1) - 0.5, q = fmod(0.5698402909980532 * k, 1) - 0.5;
    int inside = 1;
    for (int d = 0; d < 4; d++) inside = inside && hypot(p - centre[d][0], q - centre[d][1]) > radius;
    if (inside) printf("%.12f,%.12f,%.12f\n", p, q, value(c, p, q)), n++;
  }
  return info != 0;
}
