/* SPDX-License-Identifier: BSD-2-Clause */
/* Inverses of small least-squares problems in which weak directions are damped; compiled twice. */
#include "gradient_excess.h"

#include <math.h>

/* Derivatives that differences see by less than this (regular meshes: by 0.7 and more, random ones: down to
 * 0.1 in one cell of ten thousand) are damped: an exact inverse would multiply noise. */
static const double WEAKEST = 0.1;

/* Eigenvalues of a symmetric matrix on its diagonal, eigenvectors in the columns of `v`: Jacobi's rotations.
 */
static void diagonalise(int num, double a[THIRD_MAX][THIRD_MAX], double v[THIRD_MAX][THIRD_MAX]) {
  enum { SWEEPS = 30 };
  for (int i = 0; i < num; i++)
    for (int j = 0; j < num; j++) v[i][j] = i == j;
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int p = 0; p < num; p++)
      for (int q = p + 1; q < num; q++) {
        if (fabs(a[p][q]) <= 1e-17 * (fabs(a[p][p]) + fabs(a[q][q]))) continue;
        const double half = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
        const double t = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(1 + half * half));
        const double c = 1 / sqrt(1 + t * t), s = t * c;
        for (int k = 0; k < num; k++) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        }
        for (int k = 0; k < num; k++) {
          const double x = a[p][k], y = a[q][k], vx = v[k][p], vy = v[k][q];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
          v[k][p] = c * vx - s * vy, v[k][q] = s * vx + c * vy;
        }
      }
}

#ifdef PCSIM_DUAL
/* Derivatives of 1/max(x, least) between two eigenvalues, its slope where they are one. */
static double slope_between(double x, double y, double least) {
  if (x > least && y > least) return -1 / (x * y);
  if (x <= least && y <= least) return 0;
  return (1 / fmax(x, least) - 1 / fmax(y, least)) / (x - y);
}
#endif

/* The inverse of a symmetric matrix in which no direction is amplified by more than 1/WEAKEST^2: a function
 * of its eigenvalues, whose derivative along a matrix has the divided differences as factors in the basis of
 * eigenvectors (Daleckii and Krein 1965). */
static void invert_symmetric(int num, const pcsim_real normal[THIRD_MAX][THIRD_MAX],
                             pcsim_real inverse[THIRD_MAX][THIRD_MAX]) {
  const double least = WEAKEST * WEAKEST;
  double a[THIRD_MAX][THIRD_MAX], v[THIRD_MAX][THIRD_MAX];
  for (int i = 0; i < num; i++)
    for (int j = 0; j < num; j++) a[i][j] = pcsim_part(normal[i][j]);
  diagonalise(num, a, v);
  for (int i = 0; i < num; i++)
    for (int j = 0; j < num; j++) {
      inverse[i][j] = 0;
      for (int e = 0; e < num; e++) inverse[i][j] += v[i][e] * v[j][e] / fmax(a[e][e], least);
    }
#ifdef PCSIM_DUAL
  for (int e = 0; e < num; e++)
    for (int f = 0; f < num; f++) {
      pcsim_real along = 0;
      for (int i = 0; i < num; i++)
        for (int j = 0; j < num; j++) along += v[i][e] * v[j][f] * (normal[i][j] - pcsim_part(normal[i][j]));
      along *= slope_between(a[e][e], a[f][f], least);
      for (int i = 0; i < num; i++)
        for (int j = 0; j < num; j++) inverse[i][j] += v[i][e] * v[j][f] * along;
    }
#endif
}

/* The inverse of a matrix without such directions: its trace bounds the largest eigenvalue of the inverse.
 * False if there may be some. */
static bool invert_strong(int num, const pcsim_real normal[THIRD_MAX][THIRD_MAX],
                          pcsim_real inverse[THIRD_MAX][THIRD_MAX]) {
  const double least = WEAKEST * WEAKEST;
  double trace = 0;
  for (int i = 0; i < num; i++)
    for (int j = 0; j < num; j++) inverse[i][j] = normal[i][j];
  for (int k = 0; k < num; k++) {
    if (!(pcsim_part(inverse[k][k]) > least)) return false;
    const pcsim_real pivot = 1 / inverse[k][k];
    for (int j = 0; j < num; j++) inverse[k][j] *= pivot;
    for (int i = 0; i < num; i++) {
      if (i == k) continue;
      const pcsim_real factor = inverse[i][k];
      for (int j = 0; j < num; j++)
        if (j != k) inverse[i][j] -= factor * inverse[k][j];
      inverse[i][k] = -factor * pivot;
    }
    inverse[k][k] = pivot;
  }
  for (int i = 0; i < num; i++) trace += pcsim_part(inverse[i][i]);
  return trace <= 1 / least;
}

void damped_inverse(int rows, int num, const pcsim_real *a, pcsim_real *inverse) {
  pcsim_real normal[THIRD_MAX][THIRD_MAX], damped[THIRD_MAX][THIRD_MAX];
  for (int i = 0; i < num; i++)
    for (int j = 0; j < num; j++) {
      normal[i][j] = 0;
      for (int k = 0; k < rows; k++) normal[i][j] += a[k * num + i] * a[k * num + j];
    }
  if (!invert_strong(num, normal, damped)) invert_symmetric(num, normal, damped);
  for (int i = 0; i < num; i++)
    for (int r = 0; r < rows; r++) {
      pcsim_real sum = 0;
      for (int j = 0; j < num; j++) sum += damped[i][j] * a[r * num + j];
      inverse[i * rows + r] = sum;
    }
}
