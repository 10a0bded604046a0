/* SPDX-License-Identifier: BSD-2-Clause */
/* Poisson's and the heat equation on a grid, and the adjoints of values. */
#include "tikhonov.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------------------- problem */

double peer_exact_u(const peer *p, double x, double y, double t) {
  return (p->heat ? exp(-t) : 1) * sin(pi * x) * sin(pi * y);
}
double peer_exact_a(const peer *p, double x, double y) {
  if (p->heat) return 2 + sin(pi * x) * sin(pi * y);
  return 1 / (1 + x * x + y * y + (x - 1) * (x - 1) + (y - 1) * (y - 1));
}
/* f = [u_t] - grad a . grad u - a lap u; the published one of Poisson has the wrong signs in grad a. */
static double source(const peer *p, double x, double y, double t) {
  const double a = peer_exact_a(p, x, y), u = peer_exact_u(p, x, y, t), e = p->heat ? exp(-t) : 1;
  const double ux = e * pi * cos(pi * x) * sin(pi * y), uy = e * pi * sin(pi * x) * cos(pi * y);
  const double sign = p->wrong ? 1 : -1;
  const double ax = p->heat ? pi * cos(pi * x) * sin(pi * y) : -a * a * 2 * (2 * x + sign);
  const double ay = p->heat ? pi * sin(pi * x) * cos(pi * y) : -a * a * 2 * (2 * y + sign);
  return (p->heat ? -u : 0) - ax * ux - ay * uy + 2 * pi * pi * a * u;
}

double peer_place(const peer *p, int i) { return p->low + i * p->h; }
bool peer_is_inner(const peer *p, int i, int j) {
  return i > 0 && j > 0 && i < p->side - 1 && j < p->side - 1;
}
int peer_inner_of(const peer *p, int i, int j) { return (j - 1) * (p->side - 2) + i - 1; }

/* ------------------------------------------------------------- parameters: u at free places */

int peer_around(const peer *p, int k) {
  const int n = p->cells;
  if (k < n) return k;
  if (k < 2 * n) return (k - n) * p->side + n;
  if (k < 3 * n) return n * p->side + n - (k - 2 * n);
  return (n - (k - 3 * n)) * p->side;
}

/* a and u of theta that are given: a everywhere, u on the boundary and at the start. */
static void spread(peer *p) {
  const int ring = 4 * p->cells;
  for (int j = 0; j < p->side; j++)
    for (int i = 0; i < p->side; i++)
      p->a[j * p->side + i] = peer_is_inner(p, i, j) ? p->theta[p->num_g + peer_inner_of(p, i, j)]
                                                     : peer_exact_a(p, peer_place(p, i), peer_place(p, j));
  const double *g = p->theta;
  if (p->heat) memcpy(p->u, g, (size_t)p->nodes * sizeof *p->u), g += p->nodes;
  for (int level = p->heat; level < p->levels; level++, g += ring)
    for (int k = 0; k < ring; k++) p->u[level * p->nodes + peer_around(p, k)] = g[k];
}

/* ------------------------------------------------------------------------- operator and solves */

static double between(const peer *p, int k, int m) { return 0.5 * (p->a[k] + p->a[m]) / (p->h * p->h); }

/* (A u) at node k. */
static double apply(const peer *p, const double *u, int k) {
  const int s = p->side;
  return between(p, k, k + 1) * (u[k] - u[k + 1]) + between(p, k, k - 1) * (u[k] - u[k - 1]) +
         between(p, k, k + s) * (u[k] - u[k + s]) + between(p, k, k - s) * (u[k] - u[k - s]);
}

/* Banded Cholesky of A, or of I/dt + A/2. */
static void factor(peer *p) {
  const int w = p->width, n = p->inner, s = p->side;
  const double share = p->heat ? 0.5 : 1, one = p->heat ? 1 / p->dt : 0;
  memset(p->band, 0, (size_t)n * (size_t)(w + 1) * sizeof *p->band);
  for (int j = 1; j < s - 1; j++)
    for (int i = 1; i < s - 1; i++) {
      const int k = j * s + i;
      double *row = p->band + (size_t)peer_inner_of(p, i, j) * (size_t)(w + 1);
      row[w] = one + share * (between(p, k, k + 1) + between(p, k, k - 1) + between(p, k, k + s) +
                              between(p, k, k - s));
      if (i > 1) row[w - 1] = -share * between(p, k, k - 1);
      if (j > 1) row[0] = -share * between(p, k, k - s);
    }
  for (int i = 0; i < n; i++) {
    double *row = p->band + (size_t)i * (size_t)(w + 1);
    for (int j = i - w < 0 ? 0 : i - w; j <= i; j++) {
      const double *other = p->band + (size_t)j * (size_t)(w + 1);
      double sum = row[j - i + w];
      for (int k = i - w < 0 ? 0 : i - w; k < j; k++)
        if (k >= j - w) sum -= row[k - i + w] * other[k - j + w];
      row[j - i + w] = i == j ? sqrt(sum) : sum / other[w];
    }
  }
}

static void solve(const peer *p, double *x) {
  const int w = p->width, n = p->inner;
  for (int i = 0; i < n; i++) {
    const double *row = p->band + (size_t)i * (size_t)(w + 1);
    for (int j = i - w < 0 ? 0 : i - w; j < i; j++) x[i] -= row[j - i + w] * x[j];
    x[i] /= row[w];
  }
  for (int i = n - 1; i >= 0; i--) {
    const double *row = p->band + (size_t)i * (size_t)(w + 1);
    x[i] /= row[w];
    for (int j = i - w < 0 ? 0 : i - w; j < i; j++) x[j] -= row[j - i + w] * x[i];
  }
}

void peer_forward(peer *p, double *work) {
  const int s = p->side;
  spread(p);
  factor(p);
  for (int level = p->heat; level < p->levels; level++) {
    double *u = p->u + level * p->nodes;
    const double *before = u - p->nodes;
    for (int j = 1; j < s - 1; j++)
      for (int i = 1; i < s - 1; i++) u[j * s + i] = 0;
    for (int j = 1; j < s - 1; j++)
      for (int i = 1; i < s - 1; i++) {
        const int k = j * s + i;
        double sum = source(p, peer_place(p, i), peer_place(p, j), level * p->dt);
        if (p->heat)
          sum = 0.5 * (sum + source(p, peer_place(p, i), peer_place(p, j), (level - 1) * p->dt)) +
                before[k] / p->dt - 0.5 * apply(p, before, k) - 0.5 * apply(p, u, k);
        else sum -= apply(p, u, k);
        work[peer_inner_of(p, i, j)] = sum;
      }
    solve(p, work);
    for (int j = 1; j < s - 1; j++)
      for (int i = 1; i < s - 1; i++) u[j * s + i] = work[peer_inner_of(p, i, j)];
  }
}

/* --------------------------------------------------------------------------- data and adjoints */

/* Cubic weights of four nodes from `first` on; linear ones of two in time. */
static int cubic(double at, int nodes, double *w) {
  int first = (int)floor(at) - 1;
  if (first < 0) first = 0;
  if (first > nodes - 4) first = nodes - 4;
  for (int i = 0; i < 4; i++) {
    w[i] = 1;
    for (int k = 0; k < 4; k++)
      if (k != i) w[i] *= (at - first - k) / (i - k);
  }
  return first;
}

void peer_observe(const peer *p, int64_t i, double *w) {
  double wx[4], wy[4], late = 0;
  int level = 0;
  memset(w, 0, (size_t)(p->levels * p->nodes) * sizeof *w);
  const int i0 = cubic((p->x[i] - p->low) / p->h, p->side, wx),
            j0 = cubic((p->y[i] - p->low) / p->h, p->side, wy);
  if (p->heat) {
    const double at = p->t[i] / p->dt;
    level = (int)at < p->steps ? (int)at : p->steps - 1;
    late = at - level;
  }
  for (int j = 0; j < 4; j++)
    for (int k = 0; k < 4; k++) {
      w[level * p->nodes + (j0 + j) * p->side + i0 + k] += (1 - late) * wx[k] * wy[j];
      if (p->heat) w[(level + 1) * p->nodes + (j0 + j) * p->side + i0 + k] += late * wx[k] * wy[j];
    }
}

double peer_value(const peer *p, const double *w) {
  double sum = 0;
  for (int k = 0; k < p->levels * p->nodes; k++) sum += w[k] * p->u[k];
  return sum;
}

/* Derivative of sum_k lambda_k (A u)_k by a, added to row with a factor. */
static void add_a(const peer *p, const double *lambda, const double *u, double by, double *row) {
  const int s = p->side;
  for (int j = 1; j < s - 1; j++)
    for (int i = 1; i < s - 1; i++) {
      const int k = j * s + i, near[] = {k + 1, k - 1, k + s, k - s};
      double sum = 0;
      for (int m = 0; m < 4; m++) sum += (lambda[k] - lambda[near[m]]) * (u[k] - u[near[m]]);
      row[p->num_g + peer_inner_of(p, i, j)] += by * sum / (2 * p->h * p->h);
    }
}

void peer_adjoint(const peer *p, double *w, double *work, double *lambda, double *row) {
  const int s = p->side, ring = 4 * p->cells;
  double *now = lambda, *after = lambda + p->nodes;
  memset(row, 0, (size_t)p->n * sizeof *row);
  memset(lambda, 0, 2 * (size_t)p->nodes * sizeof *lambda);
  for (int level = p->levels - 1; level >= p->heat; level--) {
    /* w of this level: what is asked of it and what the step after it hands on */
    double *own = w + level * p->nodes;
    for (int j = 1; j < s - 1; j++)
      for (int i = 1; i < s - 1; i++) work[peer_inner_of(p, i, j)] = own[j * s + i];
    solve(p, work);
    for (int j = 1; j < s - 1; j++)
      for (int i = 1; i < s - 1; i++) now[j * s + i] = work[peer_inner_of(p, i, j)];
    for (int j = 0; j < s; j++)
      for (int i = 0; i < s; i++) {
        /* column (i, j) of A on either side: its inner neighbours' rows */
        const int k = j * s + i;
        double sum = 0;
        if (i + 1 < s) sum += between(p, k, k + 1) * (now[k] - now[k + 1]);
        if (i > 0) sum += between(p, k, k - 1) * (now[k] - now[k - 1]);
        if (j + 1 < s) sum += between(p, k, k + s) * (now[k] - now[k + s]);
        if (j > 0) sum += between(p, k, k - s) * (now[k] - now[k - s]);
        after[k] = sum;
      }
    for (int k = 0; k < p->nodes; k++) {
      const int i = k % s, j = k / s;
      if (!peer_is_inner(p, i, j)) own[k] -= (p->heat ? 0.5 : 1) * after[k];
      if (p->heat) own[k - p->nodes] += now[k] / p->dt - 0.5 * after[k];
    }
    add_a(p, now, p->u + level * p->nodes, p->heat ? -0.5 : -1, row);
    if (p->heat) add_a(p, now, p->u + (level - 1) * p->nodes, -0.5, row);
  }
  double *g = row;
  if (p->heat) memcpy(g, w, (size_t)p->nodes * sizeof *g), g += p->nodes;
  for (int level = p->heat; level < p->levels; level++, g += ring)
    for (int k = 0; k < ring; k++) g[k] = w[level * p->nodes + peer_around(p, k)];
}
