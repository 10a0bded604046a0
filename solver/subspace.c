/* SPDX-License-Identifier: BSD-2-Clause */
/* A start from outside, and the best state of a subspace from outside: min |R(q + B a)| over a by
 * Gauss-Newton steps, as reduced-basis methods do (Carlberg, Bou-Mosleh and Farhat, Int. J. Numer. Meth. Eng.
 * 86, 2011). */
#include "subspace.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 10, HALVINGS_MAX = 4 };
static const double ENOUGH = 0.9, RIDGE = 1e-13;

static void to_public(const outside_start *o, double *values) {
  const discrete_system *s = o->system;
  memset(values, 0, (size_t)(s->n * o->width) * sizeof *values);
  for (int64_t c = 0; c < s->n; c++)
    for (int i = 0; i < s->m; i++) values[c * o->width + o->column[i]] = o->factor[i] * s->q[c * s->m + i];
}

static void from_public(const outside_start *o, const double *values, double *q) {
  const discrete_system *s = o->system;
  for (int64_t c = 0; c < s->n; c++)
    for (int i = 0; i < s->m; i++) q[c * s->m + i] = values[c * o->width + o->column[i]] / o->factor[i];
}

static pcsim_status allocate(const outside_start *o, size_t vectors, double **values) {
  const size_t size = (size_t)o->system->n * (size_t)o->width;
  return pcsim_status_agree(pcsim_mesh_comm(o->system->mesh),
                            pcsim_alloc(vectors * size, sizeof **values, values));
}

pcsim_status outside_take_start(const outside_start *o) {
  double *values = NULL;
  if (!o->hooks.start) return PCSIM_OK;
  PCSIM_TRY(allocate(o, 1, &values));
  to_public(o, values);
  pcsim_status status = pcsim_status_agree(
      pcsim_mesh_comm(o->system->mesh), o->hooks.start(o->hooks.context, o->system->mesh, o->width, values));
  if (status == PCSIM_OK) from_public(o, values, o->system->q);
  pcsim_free(&values);
  return status;
}

/* ----------------------------------------------------------------- search */

typedef struct {
  const discrete_system *s;
  int num;
  double *basis, *image; /* [num][n][m] directions, R' times each */
  double *before;        /* [n][m] */
} search;

static double sum_of(const search *f, const double *a, const double *b) {
  double sum = 0;
  for (int64_t i = 0; i < f->s->n * f->s->m; i++) sum += a[i] * b[i];
  return sum;
}

/* Cholesky's factorisation of the normal equations, with a ridge of round-off for directions that depend on
 * each other; x holds the right-hand side, then the solution. */
static void solve_small(int n, double *a, double *x) {
  double trace = 0;
  for (int i = 0; i < n; i++) trace += a[i * n + i];
  for (int i = 0; i < n; i++) a[i * n + i] += RIDGE * trace;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? sqrt(fmax(sum, RIDGE * trace)) : sum / a[j * n + j];
    }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) x[i] -= a[i * n + k] * x[k];
    x[i] /= a[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= a[k * n + i] * x[k];
    x[i] /= a[i * n + i];
  }
}

static pcsim_status find_coefficients(search *f, const double *r, double *coefficient) {
  const discrete_system *s = f->s;
  const int64_t size = s->n * s->m;
  double normal[PCSIM_SUBSPACE_MAX * PCSIM_SUBSPACE_MAX];
  MPI_Comm comm = pcsim_mesh_comm(s->mesh);
  s->set_shift(s->context, INFINITY, INFINITY);
  for (int k = 0; k < f->num; k++)
    PCSIM_TRY(s->tangent(s->context, f->basis + k * size, f->image + k * size));
  for (int i = 0; i < f->num; i++) {
    for (int j = 0; j < f->num; j++)
      normal[i * f->num + j] = sum_of(f, f->image + i * size, f->image + j * size);
    coefficient[i] = -sum_of(f, f->image + i * size, r);
  }
  MPI_Allreduce(MPI_IN_PLACE, normal, f->num * f->num, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, coefficient, f->num, MPI_DOUBLE, MPI_SUM, comm);
  solve_small(f->num, normal, coefficient);
  return PCSIM_OK;
}

static pcsim_status measure(const discrete_system *s, double *r, double *norm) {
  system_norm n;
  PCSIM_TRY(system_settle(s, true, r));
  system_norm_of(s, r, &n);
  *norm = n.total;
  return PCSIM_OK;
}

static pcsim_status descend(search *f, double *r) {
  const discrete_system *s = f->s;
  const int64_t size = s->n * s->m;
  double coefficient[PCSIM_SUBSPACE_MAX], norm = INFINITY;
  PCSIM_TRY(measure(s, r, &norm));
  for (int step = 0; step < STEPS_MAX; step++) {
    double lambda = 1, next = INFINITY;
    memcpy(f->before, s->q, (size_t)size * sizeof *s->q);
    PCSIM_TRY(find_coefficients(f, r, coefficient));
    for (int h = 0; h <= HALVINGS_MAX && !(next < norm); h++, lambda *= 0.5) {
      memcpy(s->q, f->before, (size_t)size * sizeof *s->q);
      for (int k = 0; k < f->num; k++)
        for (int64_t i = 0; i < size; i++) s->q[i] += lambda * coefficient[k] * f->basis[k * size + i];
      PCSIM_TRY(measure(s, r, &next));
    }
    if (!(next < norm)) { /* as it was */
      memcpy(s->q, f->before, (size_t)size * sizeof *s->q);
      return measure(s, r, &norm);
    }
    if (next > ENOUGH * norm) return PCSIM_OK;
    norm = next;
  }
  return PCSIM_OK;
}

static pcsim_status ask_directions(const outside_start *o, const double *values, search *f, double *basis) {
  PCSIM_TRY(o->hooks.subspace(o->hooks.context, o->system->mesh, o->width, values, &f->num, basis));
  PCSIM_CHECK(f->num >= 0 && f->num <= PCSIM_SUBSPACE_MAX, PCSIM_ERR_ARG,
              "a subspace of %d directions; expected at most %d", f->num, PCSIM_SUBSPACE_MAX);
  return PCSIM_OK;
}

/* The directions in the state's own scales, one behind the other. */
static pcsim_status take_directions(const outside_start *o, search *f) {
  const size_t size = (size_t)(o->system->n * o->width);
  double *values = NULL, *public_basis = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(allocate(o, 1, &values), status, done);
  PCSIM_GOTO(allocate(o, PCSIM_SUBSPACE_MAX, &public_basis), status, done);
  to_public(o, values);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(o->system->mesh), ask_directions(o, values, f, public_basis)),
             status, done);
  PCSIM_GOTO(allocate(o, (size_t)f->num, &f->basis), status, done);
  PCSIM_GOTO(allocate(o, (size_t)f->num, &f->image), status, done);
  PCSIM_GOTO(allocate(o, 1, &f->before), status, done);
  for (int k = 0; k < f->num; k++)
    from_public(o, public_basis + (size_t)k * size, f->basis + k * o->system->n * o->system->m);
done:
  pcsim_free(&values);
  pcsim_free(&public_basis);
  return status;
}

pcsim_status outside_search(const outside_start *o, double *r) {
  search f = {.s = o->system};
  if (!o->hooks.subspace) return PCSIM_OK;
  pcsim_status status = take_directions(o, &f);
  if (status == PCSIM_OK && f.num > 0) status = descend(&f, r);
  pcsim_free(&f.basis);
  pcsim_free(&f.image);
  pcsim_free(&f.before);
  return status;
}
