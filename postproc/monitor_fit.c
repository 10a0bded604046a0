/* SPDX-License-Identifier: BSD-2-Clause */
/* Weighted least-squares fit of a polynomial around a point, as weights of its data.
 *
 * Offsets are measured in the data's own spread (Cholesky factor of their covariance), so that cells of a
 * wall layer, a hundred times longer than thick, fit as well as square ones. */
#include "monitor.h"

#include <math.h>
#include <string.h>

enum { TERMS_MAX = 10 };

static int num_terms(int dim, int degree) {
  if (degree == 0) return 1;
  if (degree == 1) return 1 + dim;
  return dim == 2 ? 6 : 10;
}

/* 1, x, y(, z), then the products. */
static void monomials(int dim, const double x[3], double *term) {
  int n = 0;
  term[n++] = 1.0;
  for (int i = 0; i < dim; ++i) term[n++] = x[i];
  for (int i = 0; i < dim; ++i)
    for (int j = i; j < dim; ++j) term[n++] = x[i] * x[j];
}

/* Derivative of the monomials along axis a. */
static void derivatives(int dim, const double x[3], int a, double *term) {
  int n = 0;
  term[n++] = 0.0;
  for (int i = 0; i < dim; ++i) term[n++] = i == a ? 1.0 : 0.0;
  for (int i = 0; i < dim; ++i)
    for (int j = i; j < dim; ++j) term[n++] = (i == a ? x[j] : 0.0) + (j == a ? x[i] : 0.0);
}

static void covariance(const fit_datum *data, int n, double c[3][3]) {
  double mean[3] = {0, 0, 0};
  int count = 0;
  memset(c, 0, 9 * sizeof(double));
  for (int k = 0; k < n; ++k) {
    if (data[k].gradient) continue;
    ++count;
    for (int i = 0; i < 3; ++i) mean[i] += data[k].offset[i];
  }
  for (int k = 0; k < n; ++k) {
    if (data[k].gradient) continue;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        c[i][j] += (data[k].offset[i] - mean[i] / count) * (data[k].offset[j] - mean[j] / count) / count;
  }
}

double fit_spread(const fit_datum *data, int n, const double direction[3]) {
  double c[3][3], sum = 0.0;
  covariance(data, n, c);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += direction[i] * c[i][j] * direction[j];
  return sqrt(fmax(sum, 0.0));
}

/* Lower factor of the covariance; false where the data lie on a line (or plane). */
static bool factor(int dim, double c[3][3], double l[3][3]) {
  memset(l, 0, 9 * sizeof(double));
  double trace = 0.0;
  for (int i = 0; i < dim; ++i) trace += c[i][i];
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = c[i][j];
      for (int k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      if (i != j) l[i][j] = sum / l[j][j];
      else if (sum > 1e-14 * trace) l[i][i] = sqrt(sum);
      else return false;
    }
  return true;
}

static void scale_back(int dim, double l[3][3], const double offset[3], double x[3]) {
  for (int i = 0; i < 3; ++i) {
    x[i] = 0.0;
    if (i >= dim) continue;
    double sum = offset[i];
    for (int k = 0; k < i; ++k) sum -= l[i][k] * x[k];
    x[i] = sum / l[i][i];
  }
}

size_t fit_work_size(int n) { return (size_t)(3 * n) * (TERMS_MAX + 1); }

/* Modified Gram-Schmidt, twice, on the columns of q [m][TERMS_MAX]; r upper. False where a column depends on
 * those before it. */
static bool orthogonalise(int m, int terms, double *q, double r[TERMS_MAX][TERMS_MAX]) {
  memset(r, 0, sizeof(double) * TERMS_MAX * TERMS_MAX);
  for (int j = 0; j < terms; ++j) {
    double before = 0.0, after = 0.0;
    for (int i = 0; i < m; ++i) before += q[i * TERMS_MAX + j] * q[i * TERMS_MAX + j];
    for (int pass = 0; pass < 2; ++pass)
      for (int k = 0; k < j; ++k) {
        double s = 0.0;
        for (int i = 0; i < m; ++i) s += q[i * TERMS_MAX + k] * q[i * TERMS_MAX + j];
        for (int i = 0; i < m; ++i) q[i * TERMS_MAX + j] -= s * q[i * TERMS_MAX + k];
        r[k][j] += s;
      }
    for (int i = 0; i < m; ++i) after += q[i * TERMS_MAX + j] * q[i * TERMS_MAX + j];
    if (!(after > 1e-8 * before)) return false;
    r[j][j] = sqrt(after);
    for (int i = 0; i < m; ++i) q[i * TERMS_MAX + j] /= r[j][j];
  }
  return true;
}

double fit_weights(int dim, int degree, fit_datum *data, int n, double *work) {
  double c[3][3], l[3][3], r[TERMS_MAX][TERMS_MAX];
  int terms = num_terms(dim, degree), m = 0;
  double *q = work, *importance = work + (size_t)(3 * n) * TERMS_MAX;
  covariance(data, n, c);
  if (!factor(dim, c, l)) return INFINITY;
  for (int k = 0; k < n; ++k) {
    double x[3], full[TERMS_MAX];
    scale_back(dim, l, data[k].offset, x);
    double near = 1.0 / (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + 0.3);
    /* A gradient of a cell is less exact than its value, hence the lower weight. */
    for (int a = 0; a < (data[k].gradient ? dim : 1); ++a, ++m) {
      if (data[k].gradient) derivatives(dim, x, a, full);
      else monomials(dim, x, full);
      importance[m] = data[k].gradient ? 0.3 * near : near;
      for (int t = 0; t < terms; ++t) q[m * TERMS_MAX + t] = importance[m] * full[t];
    }
  }
  if (m < terms || !orthogonalise(m, terms, q, r)) return INFINITY;
  /* Value at the point = first coefficient = e0' R^-1 Q' W b: solve R' y = e0, weights = W Q y. */
  double y[TERMS_MAX];
  for (int j = 0; j < terms; ++j) {
    double sum = j == 0 ? 1.0 : 0.0;
    for (int k = 0; k < j; ++k) sum -= r[k][j] * y[k];
    y[j] = sum / r[j][j];
  }
  double noise = 0.0;
  m = 0;
  for (int k = 0; k < n; ++k) {
    memset(data[k].weight, 0, sizeof data[k].weight);
    for (int a = 0; a < (data[k].gradient ? dim : 1); ++a, ++m) {
      double w = 0.0;
      for (int t = 0; t < terms; ++t) w += importance[m] * q[m * TERMS_MAX + t] * y[t];
      noise += fabs(w);
      /* Derivatives were taken along the scaled axes: axis a is column a of the factor. */
      if (data[k].gradient)
        for (int i = 0; i < dim; ++i) data[k].weight[i] += w * l[i][a];
      else data[k].weight[0] = w;
    }
  }
  return noise;
}
