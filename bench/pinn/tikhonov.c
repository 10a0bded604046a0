/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tikhonov.c  Diffusion fields from noisy values by least squares on a grid: what bench/pinn compares
 * trained networks with.
 *
 *      bench-pinn-tikhonov poisson|heat DATA.csv NOISE [cells=40] [steps=10] [wrong=0|1] [scan=0|1]
 *
 *  Poisson: -div(a grad u) = f in [0, 1]^2. Heat: u_t - div(a grad u) = f in [-1, 1]^2, t in [0, 1]. Given
 * are f, a on the boundary, and values of u with noise at points; unknown are a at the inner nodes, u on the
 * boundary and at the start. Fluxes between nodes with the mean of a, trapezoidal rule in time. Least is
 *
 *      sum ((u(x_i) - d_i) / noise)^2 + tau_a |second differences of a|^2 + tau_g |second differences of the
 * data of u|^2
 *
 *  by Gauss-Newton steps with adjoint derivatives; tau_a and tau_g are those under which the data are most
 * probable (MacKay 1992), found anew in each step. `scan=1` prints errors at other tau_a as well: what the
 * rule has lost. `wrong=1` takes the source as PINNacle has published it. */
#include "tikhonov.h"

#include "pinn/cholesky.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(pcsim_status status) {
  if (status == PCSIM_OK) return;
  fprintf(stderr, "%s\n", pcsim_error_message());
  exit(1);
}

/* ------------------------------------------------------------------------------- smoothness */

/* Dense rows of second differences [*rows][n] with what they lack of known values in `rest`. */
typedef struct {
  int64_t rows, room;
  int *place;     /* [rows][4] parameters; -1: known */
  double *weight; /* [rows][4] */
  double *rest;   /* [rows] */
} prior;

static void add_row(prior *r, const int *place, const double *weight, int n, double rest) {
  if (r->rows == r->room) {
    r->room = r->room ? 2 * r->room : 1024;
    must(pcsim_realloc((size_t)r->room * 4, sizeof *r->place, &r->place));
    must(pcsim_realloc((size_t)r->room * 4, sizeof *r->weight, &r->weight));
    must(pcsim_realloc((size_t)r->room, sizeof *r->rest, &r->rest));
  }
  for (int i = 0; i < 4; i++) {
    r->place[4 * r->rows + i] = i < n ? place[i] : -1;
    r->weight[4 * r->rows + i] = i < n && place[i] >= 0 ? weight[i] : 0;
  }
  r->rest[r->rows++] = rest;
}

/* Of a field on the nodes: a (`first` its place, known on the boundary) or u at the start (all nodes). */
static void smooth_field(const peer *p, bool known, int first, prior *r) {
  const int s = p->side;
  const double second[] = {1, -2, 1, 0}, mixed[] = {sqrt(2), -sqrt(2), -sqrt(2), sqrt(2)};
  for (int j = 0; j < s; j++)
    for (int i = 0; i < s; i++)
      for (int what = 0; what < 3; what++) {
        const int di[] = {what == 1 ? 0 : 1, what == 1 ? 1 : 0};
        int ii[4], jj[4], at[4], n = what == 2 ? 4 : 3;
        double rest = 0;
        bool in = true;
        for (int k = 0; k < n; k++) {
          ii[k] = what == 2 ? i + k % 2 : i + di[0] * (k - 1);
          jj[k] = what == 2 ? j + k / 2 : j + di[1] * (k - 1);
          in = in && ii[k] >= 0 && jj[k] >= 0 && ii[k] < s && jj[k] < s;
        }
        for (int k = 0; in && k < n; k++) {
          const double w = what == 2 ? mixed[k] : second[k];
          at[k] = !known                           ? first + jj[k] * s + ii[k]
                  : peer_is_inner(p, ii[k], jj[k]) ? first + peer_inner_of(p, ii[k], jj[k])
                                                   : -1;
          if (at[k] < 0) rest += w * peer_exact_a(p, peer_place(p, ii[k]), peer_place(p, jj[k]));
        }
        if (in) add_row(r, at, what == 2 ? mixed : second, n, rest);
      }
}

/* Of u where it is free: along the sides, in time, and at the start. */
static void smooth_data(const peer *p, prior *r) {
  const int ring = 4 * p->cells, first = p->heat ? p->nodes : 0;
  const double second[] = {1, -2, 1};
  if (p->heat) smooth_field(p, false, 0, r);
  for (int level = p->heat; level < p->levels; level++)
    for (int k = 0; k < ring; k++) {
      const int start = first + (level - p->heat) * ring;
      if (k % p->cells == 0) continue; /* corners */
      add_row(r, (const int[]){start + k - 1, start + k, start + (k + 1) % ring}, second, 3, 0);
    }
  for (int level = 0; p->heat && level + 2 < p->levels; level++)
    for (int k = 0; k < ring; k++) {
      int at[3];
      for (int l = 0; l < 3; l++)
        at[l] = level + l == 0 ? peer_around(p, k) : first + (level + l - 1) * ring + k;
      add_row(r, at, second, 3, 0);
    }
}

static double row_of(const prior *r, int64_t i, const double *theta) {
  double sum = r->rest[i];
  for (int k = 0; k < 4; k++)
    if (r->place[4 * i + k] >= 0) sum += r->weight[4 * i + k] * theta[r->place[4 * i + k]];
  return sum;
}

static double energy(const prior *r, const double *theta) {
  double sum = 0;
  for (int64_t i = 0; i < r->rows; i++) sum += row_of(r, i, theta) * row_of(r, i, theta);
  return sum;
}

/* h += tau R^T R (both halves), g += tau R^T r */
static void add_prior(const prior *r, double tau, int n, const double *theta, double *h, double *g) {
  for (int64_t i = 0; i < r->rows; i++) {
    const double value = row_of(r, i, theta);
    for (int k = 0; k < 4; k++) {
      const int a = r->place[4 * i + k];
      if (a < 0) continue;
      g[a] += tau * r->weight[4 * i + k] * value;
      for (int m = 0; m < 4; m++)
        if (r->place[4 * i + m] >= 0)
          h[(size_t)a * (size_t)n + (size_t)r->place[4 * i + m]] +=
              tau * r->weight[4 * i + k] * r->weight[4 * i + m];
    }
  }
}

/* ---------------------------------------------------------------------------------- fitting */

typedef struct {
  pcsim_pool *pool;
  cholesky *factor;
  int64_t stride;
  double *j, *jtj;    /* [num_data][stride], [stride][stride] */
  double *h, *turned; /* [n][n] */
  double *g, *zero, *inverse, *w, *work, *lambda;
  prior of_a, of_g;
  double tau_a, tau_g;
} fit;

static void linearise(peer *p, fit *f, double *misfit) {
  peer_forward(p, f->work);
  *misfit = 0;
  memset(f->g, 0, (size_t)p->n * sizeof *f->g);
  for (int64_t i = 0; i < p->num_data; i++) {
    double *row = f->j + i * f->stride;
    peer_observe(p, i, f->w);
    const double r = (peer_value(p, f->w) - p->d[i]) / p->noise;
    peer_adjoint(p, f->w, f->work, f->lambda, row);
    for (int k = 0; k < p->n; k++) row[k] /= p->noise, f->g[k] += row[k] * r;
    *misfit += r * r;
  }
  memset(f->jtj, 0, (size_t)(f->stride * f->stride) * sizeof *f->jtj);
  dense_add_product(f->pool, p->n, p->num_data, 1, f->j, f->jtj);
  for (int i = 0; i < p->n; i++)
    for (int k = 0; k <= i; k++)
      f->h[(size_t)i * (size_t)p->n + (size_t)k] = f->h[(size_t)k * (size_t)p->n + (size_t)i] =
          f->jtj[i * f->stride + k];
}

/* Numbers of the fields (`of_a`) or of the free values of u that the data determine. Their block of the
 * inverse is the last one: the free values of u are put behind the field. */
static double determined(const peer *p, fit *f, bool of_a) {
  const prior *r = of_a ? &f->of_a : &f->of_g;
  const double tau = of_a ? f->tau_a : f->tau_g;
  const int n = p->n, turn = of_a ? 0 : p->num_g, first = of_a ? p->num_g : 0,
            count = of_a ? p->num_a : p->num_g;
  double sum = count;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      f->turned[(size_t)i * (size_t)n + (size_t)k] =
          f->h[(size_t)((i + turn) % n) * (size_t)n + (size_t)((k + turn) % n)];
  if (!cholesky_factor(f->factor, f->turned, f->zero))
    must(pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__, "the matrix is not positive definite"));
  must(cholesky_inverse(f->factor, count, f->inverse));
  for (int64_t i = 0; i < r->rows; i++)
    for (int k = 0; k < 4; k++)
      for (int l = 0; l < 4; l++) {
        const int64_t a = r->place[4 * i + k] - first, b = r->place[4 * i + l] - first;
        if (r->place[4 * i + k] < 0 || r->place[4 * i + l] < 0) continue;
        sum -= tau * r->weight[4 * i + k] * r->weight[4 * i + l] *
               f->inverse[(a > b ? a : b) * count + (a > b ? b : a)];
      }
  return sum;
}

/* What is made least; no number where a is not positive enough. */
static double objective(peer *p, fit *f) {
  double sum = f->tau_a * energy(&f->of_a, p->theta) + f->tau_g * energy(&f->of_g, p->theta);
  peer_forward(p, f->work);
  for (int64_t i = 0; i < p->num_data; i++) {
    peer_observe(p, i, f->w);
    sum += pow((peer_value(p, f->w) - p->d[i]) / p->noise, 2);
  }
  return sum;
}

/* The Gauss-Newton step in `f->g`, halved until it makes the objective less. */
static void take_step(peer *p, fit *f) {
  const double before = objective(p, f);
  double share = 1, taken = 0;
  for (int halved = 0; halved < 20; halved++, share *= 0.5) {
    for (int i = 0; i < p->n; i++) p->theta[i] -= (share - taken) * f->g[i];
    taken = share;
    const double now = objective(p, f);
    if (now < before || !isfinite(before)) return;
  }
  for (int i = 0; i < p->n; i++) p->theta[i] += taken * f->g[i];
}

/* Steps with tau_a fixed, or found. */
static void run_steps(peer *p, fit *f, int steps, bool find, bool quiet) {
  for (int step = 0; step < steps; step++) {
    double misfit, gamma_a = NAN, gamma_g = NAN;
    linearise(p, f, &misfit);
    const double energy_a = energy(&f->of_a, p->theta), energy_g = energy(&f->of_g, p->theta);
    add_prior(&f->of_a, f->tau_a, p->n, p->theta, f->h, f->g);
    add_prior(&f->of_g, f->tau_g, p->n, p->theta, f->h, f->g);
    for (int i = 0; i < p->n; i++) f->zero[i] = 1e-10 * f->h[(size_t)i * (size_t)p->n + (size_t)i];
    if (find) gamma_g = determined(p, f, false);
    gamma_a = determined(p, f, true);
    cholesky_solve(f->factor, f->g);
    take_step(p, f);
    if (!quiet)
      printf("step %d: misfit %.4f a value, tau %.3g %.3g, determined %.1f %.1f\n", step,
             misfit / (double)p->num_data, f->tau_a, f->tau_g, gamma_a, gamma_g);
    if (!find || step < 1) continue;
    f->tau_a *=
        fmin(fmax(sqrt(gamma_a / energy_a / f->tau_a), 0.1), 10); /* the root: without it they alternate */
    f->tau_g *= fmin(fmax(sqrt(gamma_g / energy_g / f->tau_g), 0.1), 10);
  }
}

/* Relative L2 errors of a and u over the nodes. */
static void errors(peer *p, fit *f, double *of_a, double *of_u) {
  double sum[4] = {0};
  peer_forward(p, f->work);
  for (int level = 0; level < p->levels; level++)
    for (int k = 0; k < p->nodes; k++) {
      const double x = peer_place(p, k % p->side), y = peer_place(p, k / p->side);
      const double u = peer_exact_u(p, x, y, level * p->dt), a = peer_exact_a(p, x, y);
      sum[0] += pow(p->u[level * p->nodes + k] - u, 2), sum[1] += u * u;
      sum[2] += pow(p->a[k] - a, 2), sum[3] += a * a;
    }
  *of_u = sqrt(sum[0] / sum[1]), *of_a = sqrt(sum[2] / sum[3]);
}

/* ---------------------------------------------------------------------------------- beginning */

static void read_data(peer *p, const char *path) {
  char *text = NULL;
  size_t size;
  must(pcsim_file_read(path, 0, &text, &size));
  int64_t room = 0;
  for (char *line = strchr(text, '\n'), *next; line && *++line; line = next) {
    double v[4] = {0};
    char *at = line;
    next = strchr(line, '\n');
    for (int i = 0; i < (p->heat ? 4 : 3); i++) {
      char *end;
      v[i] = strtod(at, &end);
      if (end == at || !isfinite(v[i]))
        must(pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__,
                             "%s: row %lld of the values has no number in column %d", path,
                             (long long)p->num_data + 1, i + 1));
      at = end + (*end == ',');
    }
    if (p->num_data == room) {
      room = room ? 2 * room : 1024;
      must(pcsim_realloc((size_t)room, sizeof *p->x, &p->x)),
          must(pcsim_realloc((size_t)room, sizeof *p->y, &p->y));
      must(pcsim_realloc((size_t)room, sizeof *p->t, &p->t)),
          must(pcsim_realloc((size_t)room, sizeof *p->d, &p->d));
    }
    p->x[p->num_data] = v[0], p->y[p->num_data] = v[1];
    p->t[p->num_data] = p->heat ? v[2] : 0, p->d[p->num_data++] = v[p->heat ? 3 : 2];
  }
  pcsim_free(&text);
}

static void begin(peer *p, fit *f) {
  p->low = p->heat ? -1 : 0, p->h = (1 - p->low) / p->cells, p->dt = p->heat ? 1. / p->steps : 0;
  p->side = p->cells + 1, p->nodes = p->side * p->side, p->inner = (p->side - 2) * (p->side - 2);
  p->levels = p->heat ? p->steps + 1 : 1, p->width = p->side - 2;
  p->num_g = p->heat ? p->nodes + p->steps * 4 * p->cells : 4 * p->cells;
  p->num_a = p->inner, p->n = p->num_g + p->num_a;
  const size_t n = (size_t)p->n, nodes = (size_t)p->nodes;
  must(pcsim_alloc(n, sizeof(double), &p->theta)), must(pcsim_alloc(nodes, sizeof(double), &p->a));
  must(pcsim_alloc(nodes * (size_t)p->levels, sizeof(double), &p->u));
  must(pcsim_alloc((size_t)p->inner * (size_t)(p->width + 1), sizeof(double), &p->band));
  must(pcsim_pool_create(1, &f->pool)), must(cholesky_create(p->n, f->pool, &f->factor));
  f->stride = dense_padded(p->n);
  must(pcsim_alloc((size_t)(p->num_data * f->stride), sizeof(double), &f->j));
  must(pcsim_alloc((size_t)(f->stride * f->stride), sizeof(double), &f->jtj));
  must(pcsim_alloc(n * n, sizeof(double), &f->h)), must(pcsim_alloc(n * n, sizeof(double), &f->turned));
  must(pcsim_alloc(n, sizeof(double), &f->g)), must(pcsim_alloc(n, sizeof(double), &f->zero));
  must(pcsim_alloc(n * n, sizeof(double), &f->inverse));
  must(pcsim_alloc(nodes * (size_t)p->levels, sizeof(double), &f->w)),
      must(pcsim_alloc(nodes, sizeof(double), &f->work));
  must(pcsim_alloc(2 * nodes, sizeof(double), &f->lambda));
  smooth_field(p, true, p->num_g, &f->of_a);
  smooth_data(p, &f->of_g);
  for (int i = 0; i < p->num_a; i++)
    p->theta[p->num_g + i] = p->heat ? 2 : 0.4; /* of the order of the given ones */
}

static double number(int argc, char **argv, const char *name, double fallback) {
  const size_t n = strlen(name);
  for (int i = 4; i < argc; i++)
    if (!strncmp(argv[i], name, n) && argv[i][n] == '=') return atof(argv[i] + n + 1);
  return fallback;
}

int main(int argc, char **argv) {
  if (argc < 4 || (strcmp(argv[1], "poisson") != 0 && strcmp(argv[1], "heat") != 0)) {
    fprintf(
        stderr,
        "usage: bench-pinn-tikhonov poisson|heat DATA.csv NOISE [cells=N] [steps=N] [wrong=1] [scan=1]\n");
    return 2;
  }
  peer p = {.heat = !strcmp(argv[1], "heat"), .noise = atof(argv[3])};
  fit f = {.tau_a = 1e4, .tau_g = 1e2};
  double of_a, of_u;
  p.wrong = number(argc, argv, "wrong", 0) > 0;
  p.cells = (int)number(argc, argv, "cells", p.heat ? 24 : 40);
  p.steps = p.heat ? (int)number(argc, argv, "steps", 10) : 0;
  if (!(p.noise > 0 && p.cells >= 4 && p.steps >= p.heat)) {
    fprintf(stderr, "expected a positive noise, four cells or more, one step or more\n");
    return 2;
  }
  const double began = pcsim_time_cpu();
  read_data(&p, argv[2]);
  begin(&p, &f);
  run_steps(&p, &f, 14, true, false);
  errors(&p, &f, &of_a, &of_u);
  printf("{\"bench\": \"pinn\", \"figure\": \"tikhonov %s%s\", \"error.a\": %.4g, \"error.u\": %.4g, "
         "\"seconds\": %.1f}\n",
         argv[1], p.wrong ? " as published" : "", of_a, of_u, pcsim_time_cpu() - began);
  const double found = f.tau_a;
  double *kept = NULL;
  must(pcsim_alloc((size_t)p.n, sizeof *kept, &kept));
  memcpy(kept, p.theta, (size_t)p.n * sizeof *kept);
  for (int k = -4; number(argc, argv, "scan", 0) > 0 && k <= 4; k++) {
    f.tau_a = found * pow(10, 0.5 * k);
    memcpy(p.theta, kept, (size_t)p.n * sizeof *kept);
    run_steps(&p, &f, 4, false, true);
    errors(&p, &f, &of_a, &of_u);
    printf("tau_a %.3g (%.2g times): error.a %.4g, error.u %.4g\n", f.tau_a, pow(10, 0.5 * k), of_a, of_u);
  }
  pcsim_free(&kept);
  return 0;
}
