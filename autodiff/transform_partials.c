/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_partials.c  Mixed partial derivatives, by whichever of two routes costs less, and linear
 * operators.
 *
 *  Indices: Taylor coefficients in all variables at once. Nothing cancels.
 *  Directions: with m = |a|, repeated vectors in the polarisation identity give
 *    D^a f = 2^-m sum_{0 <= j <= a} (-1)^|j| prod_i binomial(a_i, j_i) c_m(a - 2j),
 *  c_m(s) being the m-th Taylor coefficient along s; s, -s and multiples are one direction. */
#include "transform.h"

#include <math.h>
#include <stdio.h>

enum { NAME_ROOM = 512, LEVEL_MAX = 64 };

typedef struct {
  pcsim_program *p;
  pcsim_value wrt;
  const int *orders; /**< [n][variables] */
  int n, variables, num_outputs;
  pcsim_value *result; /**< [num_outputs][n] */
} partials;

static int total(const partials *q, int which) {
  int sum = 0;
  for (int i = 0; i < q->variables; i++) sum += q->orders[which * q->variables + i];
  return sum;
}

static double factorial(int n) { return n > 1 ? n * factorial(n - 1) : 1; }
static double binomial(int n, int k) { return factorial(n) / factorial(k) / factorial(n - k); }

/** Constant direction of the variables. */
static pcsim_value direction(pcsim_program *p, const double *d, int n) {
  return pcsim_build_constants(p, n, d);
}

/* ------------------------------------------------------------------ indices */

static double factorials(const partials *q, int which) {
  double product = 1;
  for (int i = 0; i < q->variables; i++) product *= factorial(q->orders[which * q->variables + i]);
  return product;
}

static pcsim_status by_indices(partials *q) {
  forward f = {0};
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(forward_multi(q->p, q->variables, q->orders, q->n, NULL, &f), status, done);
  PCSIM_GOTO(transform_seed_units(&f, q->wrt), status, done);
  PCSIM_GOTO(forward_run(&f, q->p->num_nodes), status, done);
  for (int i = 0; i < q->num_outputs * q->n; i++) {
    const int which = i % q->n;
    if (!total(q, which)) continue;
    const int at = forward_place(&f, q->orders + which * q->variables);
    const pcsim_value c = forward_coefficient(&f, q->result[i], at);
    const pcsim_value factor = pcsim_build_constant(q->p, factorials(q, which));
    q->result[i] = c < 0 ? c : pcsim_build_binary(q->p, PCSIM_OP_MUL, factor, c);
  }
  status = pcsim_program_status(q->p);
done:
  forward_end(&f);
  return status;
}

/* --------------------------------------------------------------- directions */

/** Different directions [num][variables], and the terms of each partial. */
typedef struct {
  int num, variables;
  double *d;
} direction_set;

static int common_divisor(int a, int b) {
  while (b) {
    const int r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/** Place of the direction of `s`, which is added if new; `*scale`: s = scale * direction. -1: no memory. */
static int direction_place(direction_set *set, const int *s, double *scale) {
  int divisor = 0, sign = 0;
  for (int i = 0; i < set->variables; i++) {
    if (!sign && s[i]) sign = s[i] > 0 ? 1 : -1;
    divisor = common_divisor(s[i] < 0 ? -s[i] : s[i], divisor);
  }
  *scale = sign * divisor;
  for (int j = 0; j < set->num; j++) {
    bool same = true;
    for (int i = 0; i < set->variables; i++) same = same && set->d[j * set->variables + i] * *scale == s[i];
    if (same) return j;
  }
  if (pcsim_realloc((size_t)(set->num + 1) * (size_t)set->variables, sizeof *set->d, &set->d) != PCSIM_OK)
    return -1;
  for (int i = 0; i < set->variables; i++) set->d[set->num * set->variables + i] = s[i] / *scale;
  return set->num++;
}

/** Go through the terms of a partial: j counts through 0 <= j <= a. False: that was the last. */
static bool next_term(const int *a, int *j, int n) {
  for (int i = 0; i < n; i++) {
    if (++j[i] <= a[i]) return true;
    j[i] = 0;
  }
  return false;
}

/** Weights [directions] of the coefficients of order |a| (`weights` NULL: only collects the directions). */
static pcsim_status terms(const partials *q, int which, direction_set *set, double *weights) {
  const int *a = q->orders + which * q->variables, n = q->variables, m = total(q, which);
  int *j = NULL, *s = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *j, &j), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *s, &s), status, done);
  do {
    double weight = ldexp(1, -m), scale;
    bool zero = true;
    for (int i = 0; i < n; i++) {
      s[i] = a[i] - 2 * j[i];
      zero = zero && !s[i];
      weight *= binomial(a[i], j[i]) * (j[i] % 2 ? -1 : 1);
    }
    if (zero) continue;
    const int at = direction_place(set, s, &scale);
    if (at < 0) {
      status =
          pcsim_error_set(PCSIM_ERR_MEMORY, __FILE__, __LINE__, __func__, "out of memory for directions");
      break;
    }
    if (weights) weights[at] += weight * pow(scale, m);
  } while (next_term(a, j, n));
done:
  pcsim_free(&j);
  pcsim_free(&s);
  return status;
}

static pcsim_status combine(partials *q, forward *f, direction_set *set, double *weights) {
  for (int i = 0; i < q->n; i++) {
    const int m = total(q, i);
    if (!m) continue;
    for (int j = 0; j < set->num; j++) weights[j] = 0;
    PCSIM_TRY(terms(q, i, set, weights));
    for (int o = 0; o < q->num_outputs; o++) {
      pcsim_value sum = PCSIM_NO_VALUE, *result = &q->result[o * q->n + i];
      for (int j = 0; j < set->num && *result >= 0; j++) {
        if (weights[j] == 0) continue;
        const pcsim_value c = forward_coefficient(f, *result, j * f->order + m - 1);
        if (c < 0) continue;
        const pcsim_value term =
            pcsim_build_binary(q->p, PCSIM_OP_MUL, pcsim_build_constant(q->p, weights[j]), c);
        sum = sum < 0 ? term : pcsim_build_binary(q->p, PCSIM_OP_ADD, sum, term);
      }
      *result = sum;
    }
  }
  return pcsim_program_status(q->p);
}

static pcsim_status by_directions(partials *q) {
  direction_set set = {.variables = q->variables};
  forward f = {0};
  double *weights = NULL;
  int order = 0;
  pcsim_status status = PCSIM_OK;
  for (int i = 0; i < q->n; i++) {
    if (total(q, i) > order) order = total(q, i);
    if (total(q, i)) PCSIM_GOTO(terms(q, i, &set, NULL), status, done);
  }
  if (!order) goto done;
  PCSIM_GOTO(forward_lanes(q->p, order, set.num, false, NULL, &f), status, done);
  for (int j = 0; j < set.num; j++)
    PCSIM_GOTO(forward_seed(&f, q->wrt, j * order, direction(q->p, set.d + j * q->variables, q->variables)),
               status, done);
  PCSIM_GOTO(forward_run(&f, q->p->num_nodes), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)set.num, sizeof *weights, &weights), status, done);
  status = combine(q, &f, &set, weights);
done:
  pcsim_free(&weights);
  pcsim_free(&set.d);
  forward_end(&f);
  return status;
}

/* --------------------------------------------------------------------- all */

/** "OUT_p_J", "OUT_p2_J", ...; which < 0: "OUT_operator", "OUT_operator2", ... */
static void partial_name(char *text, int level, const char *output, int which) {
  const char *word = which < 0 ? "operator" : "p";
  int length = snprintf(text, NAME_ROOM, level == 1 ? "%s_%s" : "%s_%s%d", output, word, level);
  if (which >= 0 && length < NAME_ROOM) snprintf(text + length, (size_t)(NAME_ROOM - length), "_%d", which);
}

static int partial_level(const pcsim_program *program, int which) {
  char text[NAME_ROOM];
  int level = 1;
  for (bool taken = true; taken && level < LEVEL_MAX; level += taken) {
    taken = false;
    for (int i = 0; i < program->num_outputs; i++) {
      partial_name(text, level, program->outputs[i].name, which);
      taken = taken || transform_taken(program, text);
    }
  }
  return level;
}

static void put_out(const partials *q, int output, const char *name, pcsim_value c) {
  const node n = q->p->nodes[q->p->outputs[output].value];
  if (c < 0) c = pcsim_build_constant(q->p, 0);
  pcsim_build_output(q->p, name, graph_as_shape(q->p, c, n.space, n.rows, n.columns));
}

static pcsim_status check(const pcsim_program *program, pcsim_value wrt, const char *name, const int *orders,
                          int n) {
  const node *v = &program->nodes[wrt];
  PCSIM_CHECK(v->columns == 1, PCSIM_ERR_ARG, "partials by '%s': it is a matrix, expected a column", name);
  PCSIM_CHECK(n >= 1, PCSIM_ERR_ARG, "partials by '%s': none asked for", name);
  for (int i = 0; i < n; i++) {
    int sum = 0;
    for (int j = 0; j < v->rows; j++) {
      const int order = orders[i * v->rows + j];
      PCSIM_CHECK(order >= 0 && order <= 32, PCSIM_ERR_ARG, "partial %d by '%s': order %d; expected 0 to 32",
                  i, name, order);
      sum += order;
    }
    PCSIM_CHECK(sum <= 32, PCSIM_ERR_ARG, "partial %d by '%s': total order %d; expected at most 32", i, name,
                sum);
  }
  return PCSIM_OK;
}

pcsim_status transform_partials_by(const pcsim_program *program, const char *wrt, const int *orders, int n,
                                   bool by_index, pcsim_program **out) {
  transform t;
  PCSIM_TRY(transform_begin(program, &wrt, 1, &t));
  partials q = {.p = t.p, .wrt = t.wrt[0], .orders = orders, .n = n, .num_outputs = t.p->num_outputs};
  q.variables = t.p->nodes[q.wrt].rows;
  pcsim_status status = check(t.p, q.wrt, wrt, orders, n);
  if (status != PCSIM_OK) goto done;
  PCSIM_GOTO(pcsim_alloc((size_t)q.num_outputs * (size_t)n, sizeof *q.result, &q.result), status, done);
  for (int i = 0; i < q.num_outputs * n; i++) q.result[i] = t.p->outputs[i / n].value;
  PCSIM_GOTO(by_index ? by_indices(&q) : by_directions(&q), status, done);
  const int level = partial_level(program, 0);
  for (int i = 0; i < q.num_outputs * n; i++) {
    char text[NAME_ROOM];
    partial_name(text, level, q.p->outputs[i / n].name, i % n);
    put_out(&q, i / n, text, q.result[i]);
  }
  status = pcsim_program_status(q.p);
done:
  pcsim_free(&q.result);
  return transform_end(&t, status, out);
}

pcsim_status pcsim_transform_partials(const pcsim_program *program, const char *wrt, const int *orders, int n,
                                      pcsim_program **out) {
  pcsim_program *indices = NULL, *directions = NULL;
  PCSIM_TRY(transform_partials_by(program, wrt, orders, n, true, &indices));
  pcsim_status status = transform_partials_by(program, wrt, orders, n, false, &directions);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&indices);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  /* At equal cost the indices: nothing cancels in them. */
  const bool first = pcsim_program_count(indices).operations <= pcsim_program_count(directions).operations;
  *out = first ? indices : directions;
  pcsim_program_destroy(first ? &directions : &indices);
  return PCSIM_OK;
}

/** result [num_outputs]: the weighted sum of the partials. */
static pcsim_status summed(partials *q, const double *weights) {
  forward_weight *w = NULL;
  pcsim_value *values = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)q->n, sizeof *w, &w), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)q->num_outputs, sizeof *values, &values), status, done);
  for (int i = 0; i < q->n; i++) w[i] = (forward_weight){weights[i], PCSIM_NO_VALUE};
  for (int i = 0; i < q->num_outputs; i++) values[i] = q->p->outputs[i].value;
  status =
      transform_sum(q->p, q->wrt, q->orders, w, q->n, q->p->num_nodes, values, q->num_outputs, q->result);
done:
  pcsim_free(&w);
  pcsim_free(&values);
  return status;
}

pcsim_status pcsim_transform_operator(const pcsim_program *program, const char *wrt, const int *orders,
                                      const double *weights, int n, pcsim_program **out) {
  transform t;
  char text[NAME_ROOM];
  PCSIM_TRY(transform_begin(program, &wrt, 1, &t));
  partials q = {.p = t.p, .wrt = t.wrt[0], .orders = orders, .n = n, .num_outputs = t.p->num_outputs};
  q.variables = t.p->nodes[q.wrt].rows;
  pcsim_status status = check(t.p, q.wrt, wrt, orders, n);
  if (status != PCSIM_OK) goto done;
  PCSIM_GOTO(pcsim_alloc((size_t)q.num_outputs, sizeof *q.result, &q.result), status, done);
  PCSIM_GOTO(summed(&q, weights), status, done);
  const int level = partial_level(program, -1), num_outputs = q.num_outputs;
  for (int i = 0; i < num_outputs; i++) {
    partial_name(text, level, q.p->outputs[i].name, -1);
    put_out(&q, i, text, q.result[i]);
  }
  status = pcsim_program_status(q.p);
done:
  pcsim_free(&q.result);
  return transform_end(&t, status, out);
}
