/* SPDX-License-Identifier: BSD-2-Clause */
#include "moments.h"

#include <math.h>
#include <string.h>

enum { TERMS = MOMENTS_TERMS_MAX };

int moments_terms(int dim) { return dim == 2 ? 6 : 10; }

static int matrix_size(int dim) { return moments_terms(dim) * (moments_terms(dim) + 1) / 2; }

int moments_size(int dim, int width) { return matrix_size(dim) + width * moments_terms(dim); }

static void monomials(int dim, const double *x, double *term) {
  int n = 0;
  term[n++] = 1;
  for (int i = 0; i < dim; i++) term[n++] = x[i];
  for (int i = 0; i < dim; i++)
    for (int j = i; j < dim; j++) term[n++] = x[i] * x[j];
}

double moments_value(int dim, const double *quadratic, const double *offset) {
  double term[TERMS], sum = 0;
  monomials(dim, offset, term);
  for (int t = 0; t < moments_terms(dim); t++) sum += quadratic[t] * term[t];
  return sum;
}

void moments_add(int dim, int width, const double *offset, const double *values, double *moments) {
  const int terms = moments_terms(dim);
  double term[TERMS];
  monomials(dim, offset, term);
  for (int i = 0; i < terms; i++)
    for (int j = i; j < terms; j++) *moments++ += term[i] * term[j];
  for (int f = 0; f < width; f++)
    for (int t = 0; t < terms; t++) *moments++ += term[t] * values[f];
}

/* ---------------------------------------------------- change of the monomials */

/* What sums of monomials become where x is x + shift. In place. */
static void shift_sums(int dim, const double *shift, double *v) {
  int n = 1 + dim;
  for (int i = 0; i < dim; i++)
    for (int j = i; j < dim; j++, n++)
      v[n] += shift[i] * v[1 + j] + shift[j] * v[1 + i] + shift[i] * shift[j] * v[0];
  for (int i = 0; i < dim; i++) v[1 + i] += shift[i] * v[0];
}

/* What they become where x is A x. In place. */
static void map_sums(int dim, double a[3][3], double *v) {
  double linear[3] = {0, 0, 0}, square[3][3], half[3][3] = {{0}}, mapped;
  for (int i = 0, n = 1 + dim; i < dim; i++)
    for (int j = i; j < dim; j++, n++) square[i][j] = square[j][i] = v[n];
  for (int i = 0; i < dim; i++)
    for (int k = 0; k < dim; k++) {
      linear[i] += a[i][k] * v[1 + k];
      for (int j = 0; j < dim; j++) half[i][j] += a[i][k] * square[k][j];
    }
  for (int i = 0; i < dim; i++) v[1 + i] = linear[i];
  for (int i = 0, n = 1 + dim; i < dim; i++)
    for (int j = i; j < dim; j++, n++) {
      mapped = 0;
      for (int k = 0; k < dim; k++) mapped += half[i][k] * a[j][k];
      v[n] = mapped;
    }
}

static void unpack(int terms, const double *packed, double (*matrix)[TERMS]) {
  for (int i = 0; i < terms; i++)
    for (int j = i; j < terms; j++) matrix[i][j] = matrix[j][i] = *packed++;
}

static void transpose(int terms, double (*matrix)[TERMS]) {
  for (int i = 0; i < terms; i++)
    for (int j = 0; j < i; j++) {
      const double a = matrix[i][j];
      matrix[i][j] = matrix[j][i], matrix[j][i] = a;
    }
}

void moments_add_shifted(int dim, int width, const double *from, const double *shift, double *to) {
  const int terms = moments_terms(dim);
  double matrix[TERMS][TERMS];
  unpack(terms, from, matrix);
  for (int i = 0; i < terms; i++) shift_sums(dim, shift, matrix[i]);
  transpose(terms, matrix);
  for (int i = 0; i < terms; i++) shift_sums(dim, shift, matrix[i]);
  for (int i = 0; i < terms; i++)
    for (int j = i; j < terms; j++) *to++ += matrix[i][j];
  from += matrix_size(dim);
  for (int f = 0; f < width; f++) {
    double v[TERMS];
    memcpy(v, from + f * terms, (size_t)terms * sizeof *v);
    shift_sums(dim, shift, v);
    for (int t = 0; t < terms; t++) *to++ += v[t];
  }
}

/* ---------------------------------------------------------------------- solving */

/* Inverse of the lower factor of the data's covariance, so that layers a hundred times longer than thick fit
 * as well as others; false where the data lie on a line or plane. */
static bool measure(int dim, double (*matrix)[TERMS], double inverse[3][3]) {
  double l[3][3] = {{0}}, trace = 0;
  const double n = matrix[0][0];
  memset(inverse, 0, 9 * sizeof(double));
  if (!(n > 0)) return false;
  for (int i = 0; i < dim; i++)
    for (int j = 0; j <= i; j++) {
      const int term = 1 + dim + j * dim - j * (j - 1) / 2 + i - j; /* of x_j x_i, j <= i */
      l[i][j] = matrix[0][term] / n - matrix[0][1 + i] / n * matrix[0][1 + j] / n;
      if (i == j) trace += l[i][i];
    }
  for (int i = 0; i < dim; i++)
    for (int j = 0; j <= i; j++) {
      for (int k = 0; k < j; k++) l[i][j] -= l[i][k] * l[j][k];
      if (i != j) l[i][j] /= l[j][j];
      else if (l[i][i] > 1e-12 * trace) l[i][i] = sqrt(l[i][i]);
      else return false;
    }
  for (int j = 0; j < dim; j++)
    for (int i = j; i < dim; i++) {
      double sum = i == j;
      for (int k = j; k < i; k++) sum -= l[i][k] * inverse[k][j];
      inverse[i][j] = sum / l[i][i];
    }
  return true;
}

/* Cholesky's factor in the lower half; false where a monomial hardly differs from those before it. */
static bool factorise(int terms, double (*a)[TERMS]) {
  static const double least = 1e-3; /* share of its square that a monomial must add */
  for (int j = 0; j < terms; j++) {
    const double whole = a[j][j];
    for (int k = 0; k < j; k++) a[j][j] -= a[j][k] * a[j][k];
    if (!(a[j][j] > least * whole)) return false;
    a[j][j] = sqrt(a[j][j]);
    for (int i = j + 1; i < terms; i++) {
      for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  return true;
}

bool moments_solve(int dim, int width, const double *moments, double *quadratic) {
  const int terms = moments_terms(dim);
  double a[TERMS][TERMS], scale[3][3], back[3][3];
  unpack(terms, moments, a);
  if (!measure(dim, a, scale)) return false;
  for (int i = 0; i < terms; i++) map_sums(dim, scale, a[i]);
  transpose(terms, a);
  for (int i = 0; i < terms; i++) map_sums(dim, scale, a[i]);
  if (!factorise(terms, a)) return false;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) back[i][j] = scale[j][i];
  for (int f = 0; f < width; f++) {
    double *c = quadratic + f * terms;
    memcpy(c, moments + matrix_size(dim) + f * terms, (size_t)terms * sizeof *c);
    map_sums(dim, scale, c);
    for (int i = 0; i < terms; i++) {
      for (int k = 0; k < i; k++) c[i] -= a[i][k] * c[k];
      c[i] /= a[i][i];
    }
    for (int i = terms - 1; i >= 0; i--) {
      for (int k = i + 1; k < terms; k++) c[i] -= a[k][i] * c[k];
      c[i] /= a[i][i];
    }
    /* from scaled offsets to offsets: mixed products stand for both orders */
    for (int i = 0, n = 1 + dim; i < dim; i++)
      for (int j = i; j < dim; j++, n++) c[n] *= i == j ? 1 : 0.5;
    map_sums(dim, back, c);
    for (int i = 0, n = 1 + dim; i < dim; i++)
      for (int j = i; j < dim; j++, n++) c[n] *= i == j ? 1 : 2;
  }
  return true;
}
