/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_forward.c  Taylor coefficients through every kind of value.
 *
 *  Coefficients are told apart by multi-indices a of several directions. For y = f(u, v, ...) with
 * derivatives g = df/du, h = df/dv, ..., themselves built as values, and any i with a_i > 0, y_a = sum_{b <=
 * a} (b_i / a_i) (u_b g_{a-b} + v_b h_{a-b} + ...), so a rule for the derivative gives every order:
 * coefficients are asked for one by one and remembered, and g needs none of y beyond those below a (tanh: g =
 * 1 - y^2). Products, quotients and linear values have shorter rules. The part of each sum with the
 * coefficients a is linear in them ("top"), the rest is not ("rest"); so a weighted sum of coefficients goes
 * through as one: the top part of the sum, and the sum of the rests. */
#include "transform.h"

#include <math.h>

enum { UNKNOWN = -2 };

static pcsim_value f1(forward *f, pcsim_op op, pcsim_value a) {
  return a < 0 ? a : pcsim_build_unary(f->p, op, a);
}
/** Zeros are PCSIM_NO_VALUE in all of these. */
static pcsim_value plus(forward *f, pcsim_value a, pcsim_value b) {
  if (a < 0) return b;
  if (b < 0) return a;
  return pcsim_build_binary(f->p, PCSIM_OP_ADD, a, b);
}
static pcsim_value minus(forward *f, pcsim_value a, pcsim_value b) {
  if (b < 0) return a;
  if (a < 0) return f1(f, PCSIM_OP_NEG, b);
  return pcsim_build_binary(f->p, PCSIM_OP_SUB, a, b);
}
static pcsim_value times(forward *f, pcsim_value a, pcsim_value b) {
  return a < 0 || b < 0 ? PCSIM_NO_VALUE : pcsim_build_binary(f->p, PCSIM_OP_MUL, a, b);
}
static pcsim_value over(forward *f, pcsim_value a, pcsim_value b) {
  return a < 0 ? a : pcsim_build_binary(f->p, PCSIM_OP_DIV, a, b);
}
static pcsim_value scaled(forward *f, double x, pcsim_value a) {
  return a < 0 ? a : times(f, pcsim_build_constant(f->p, x), a);
}
/** A coefficient in the full shape of its value: what maps and sums over points need. */
static pcsim_value shaped(forward *f, pcsim_value c, pcsim_value like) {
  const node n = f->p->nodes[like];
  return graph_as_shape(f->p, c, n.space, n.rows, n.columns);
}
/** The same, but what is one for all points stays so: it is computed once. */
static pcsim_value sized(forward *f, pcsim_value c, pcsim_value like) {
  const node n = f->p->nodes[like];
  return graph_as_shape(f->p, c, f->p->nodes[c].space, n.rows, n.columns);
}

void forward_end(forward *f) {
  for (int i = 0; i < f->num; i++) {
    for (int j = 0; j < f->indices[i].num_terms; j++) pcsim_free(&f->indices[i].terms[j].splits);
    pcsim_free(&f->indices[i].terms);
  }
  pcsim_free(&f->indices);
  pcsim_free(&f->multi);
  for (int i = 0; i < f->room; i++) pcsim_free(&f->series[i]);
  pcsim_free(&f->series);
  pcsim_free(&f->depends);
}

/** Room for the values there are now, and some more. */
static pcsim_status make_room(forward *f) {
  if (f->p->num_nodes <= f->room) return PCSIM_OK;
  const int room = 2 * f->p->num_nodes;
  PCSIM_TRY(pcsim_realloc((size_t)room, sizeof *f->series, &f->series));
  if (pcsim_realloc((size_t)room, sizeof *f->depends, &f->depends) != PCSIM_OK)
    PCSIM_FAIL(PCSIM_ERR_MEMORY, "out of memory for the derivatives of %d values", room);
  for (int i = f->room; i < room; i++) f->depends[i] = -1;
  f->room = room;
  return PCSIM_OK;
}

/** Place of the coefficients of `v`, or NULL with the fault recorded. */
static pcsim_value *series_of(forward *f, pcsim_value v) {
  if (f->series[v]) return f->series[v];
  const size_t n = (size_t)f->num;
  if (pcsim_alloc(n, sizeof **f->series, &f->series[v]) != PCSIM_OK) {
    graph_fault(f->p, PCSIM_ERR_MEMORY, "out of memory for %zu derivatives", n);
    return NULL;
  }
  for (size_t i = 0; i < n; i++) f->series[v][i] = UNKNOWN;
  return f->series[v];
}

pcsim_status forward_seed(forward *f, pcsim_value v, int index, pcsim_value direction) {
  PCSIM_TRY(make_room(f));
  pcsim_value *series = series_of(f, v);
  PCSIM_TRY(pcsim_program_status(f->p));
  f->depends[v] = 1;
  series[index] = direction;
  return PCSIM_OK;
}

/** Does a value pass derivatives on at all? */
static bool passes(const node *n) {
  if (n->kind == NODE_FROZEN || n->kind == NODE_CONSTANT || n->kind == NODE_INPUT ||
      n->kind == NODE_PARAMETER || (n->kind == NODE_TABLE && n->first))
    return false;
  if (n->kind != NODE_OP) return true;
  switch (n->op) {
  case PCSIM_OP_SIGN:
  case PCSIM_OP_STEP:
  case PCSIM_OP_FLOOR:
  case PCSIM_OP_LT:
  case PCSIM_OP_LE:
  case PCSIM_OP_EQ:
  case PCSIM_OP_AND:
  case PCSIM_OP_OR:
  case PCSIM_OP_NOT:
    return false;
  default:
    return true;
  }
}

static bool depends(forward *f, pcsim_value v) {
  if (make_room(f) != PCSIM_OK) {
    graph_fault(f->p, PCSIM_ERR_MEMORY, "%s", pcsim_error_message());
    return false;
  }
  if (f->depends[v] >= 0) return f->depends[v];
  const node n = f->p->nodes[v];
  bool any = false;
  if (passes(&n)) {
    /* What decides where, or which entry of a segment, passes no derivative. */
    const int first = n.kind == NODE_OP && n.op == PCSIM_OP_WHERE;
    const int last = n.kind == NODE_SEGMENT_PICK || n.kind == NODE_SEGMENT_PUT ? 1 : n.num_inputs;
    for (int i = first; i < last; i++) any = depends(f, n.inputs[i]) || any;
  }
  f->depends[v] = any;
  return any;
}

/* ------------------------------------------------------------ bilinear values */

typedef pcsim_value (*bilinear)(forward *f, const node *n, pcsim_value a, pcsim_value b);

static pcsim_value product(forward *f, const node *n, pcsim_value a, pcsim_value b) {
  (void)n;
  return times(f, a, b);
}
static pcsim_value dense(forward *f, const node *n, pcsim_value w, pcsim_value x) {
  if (w < 0 || x < 0) return PCSIM_NO_VALUE;
  return pcsim_build_dense(f->p, sized(f, w, n->inputs[0]), sized(f, x, n->inputs[1]), PCSIM_NO_VALUE);
}
static pcsim_value dense_transposed(forward *f, const node *n, pcsim_value w, pcsim_value x) {
  if (w < 0 || x < 0) return PCSIM_NO_VALUE;
  return pcsim_build_dense_transposed(f->p, sized(f, w, n->inputs[0]), sized(f, x, n->inputs[1]));
}
static pcsim_value outer(forward *f, const node *n, pcsim_value y, pcsim_value x) {
  if (y < 0 || x < 0) return PCSIM_NO_VALUE;
  return pcsim_build_outer(f->p, shaped(f, y, n->inputs[0]), shaped(f, x, n->inputs[1]));
}

static bilinear bilinear_of(const node *n) {
  switch (n->kind) {
  case NODE_OP:
    return n->op == PCSIM_OP_MUL ? product : NULL;
  case NODE_DENSE:
    return dense;
  case NODE_DENSE_TRANSPOSED:
    return dense_transposed;
  case NODE_OUTER:
    return outer;
  default:
    return NULL;
  }
}

static pcsim_value bilinear_top(forward *f, bilinear apply, const node *n, int index) {
  const pcsim_value a = n->inputs[0], b = n->inputs[1];
  const pcsim_value ak = forward_coefficient(f, a, index), bk = forward_coefficient(f, b, index);
  if (a == b && apply == product) return scaled(f, 2, product(f, n, a, ak));
  pcsim_value sum = apply(f, n, ak, b);
  sum = plus(f, sum, apply(f, n, a, bk));
  if (n->kind == NODE_DENSE && n->num_inputs > 2)
    sum = plus(f, sum, forward_coefficient(f, n->inputs[2], index));
  return sum;
}

static pcsim_value bilinear_rest(forward *f, bilinear apply, const node *n, const forward_term *term) {
  const pcsim_value a = n->inputs[0], b = n->inputs[1];
  const bool square = a == b && apply == product;
  pcsim_value sum = PCSIM_NO_VALUE, squares = PCSIM_NO_VALUE;
  for (int i = 0; i < term->num_splits; i++) {
    const forward_split s = term->splits[i];
    const pcsim_value left =
        s.left <= s.right || !square ? forward_coefficient(f, a, s.left) : PCSIM_NO_VALUE;
    if (left < 0) continue; /* of a square each pair once */
    const pcsim_value right = forward_coefficient(f, b, s.right);
    if (square && s.left == s.right) squares = plus(f, squares, times(f, left, right));
    else sum = plus(f, sum, apply(f, n, left, right));
  }
  return square ? plus(f, scaled(f, 2, sum), squares) : sum;
}

/* ----------------------------------------------------- operators with a derivative */

static pcsim_value derivative(forward *f, const node *n, pcsim_value v, int i) {
  if (n->kind == NODE_OP) return op_derivative(f->p, n->op, i, n->inputs, v);
  if (n->kind == NODE_TABLE) return graph_table(f->p, n->inputs[0], n->inputs[1], true);
  const pcsim_user_op *user = &f->p->user_ops[n->index];
  if (!user->derivative)
    return graph_fault(f->p, PCSIM_ERR_ARG, "the operator '%s' has no derivative rule", user->name);
  return user->derivative(user->context, f->p, i, n->inputs, v);
}

static pcsim_value chain_top(forward *f, const node *n, pcsim_value v, int index) {
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int i = 0; i < n->num_inputs; i++) {
    const pcsim_value a = forward_coefficient(f, n->inputs[i], index);
    if (a >= 0) sum = plus(f, sum, times(f, derivative(f, n, v, i), a));
  }
  return sum;
}

static pcsim_value chain_rest(forward *f, const node *n, pcsim_value v, const forward_term *term) {
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int i = 0; term->num_splits && i < n->num_inputs; i++) {
    if (!depends(f, n->inputs[i])) continue;
    const pcsim_value g = derivative(f, n, v, i);
    if (g < 0 || !depends(f, g)) continue;
    for (int j = 0; j < term->num_splits; j++) {
      const forward_split s = term->splits[j];
      const pcsim_value a = s.factor ? forward_coefficient(f, n->inputs[i], s.left) : PCSIM_NO_VALUE;
      if (a < 0) continue;
      sum = plus(f, sum, times(f, scaled(f, s.factor, a), forward_coefficient(f, g, s.right)));
    }
  }
  return scaled(f, 1.0 / term->divisor, sum);
}

/** Exponent of a power whose series follows from a y' = p a' y: one pass instead of a chain of powers. It
 * divides by the base, so orders up to 3 take the chain, which has the right limits at a zero base as far as
 * they exist. */
static bool power_exponent(const forward *f, const node *n, double *exponent) {
  if (n->kind != NODE_OP || n->op != PCSIM_OP_POW || f->order < 4) return false;
  const node *b = &f->p->nodes[n->inputs[1]];
  if (b->kind != NODE_CONSTANT || b->rows != 1 || b->numbers[0] == floor(b->numbers[0])) return false;
  *exponent = b->numbers[0];
  return true;
}

/** Both before the division by the base. */
static pcsim_value power_top(forward *f, const node *n, pcsim_value v, double p, int index) {
  return times(f, scaled(f, p, forward_coefficient(f, n->inputs[0], index)), v);
}
static pcsim_value power_rest(forward *f, const node *n, pcsim_value v, double p, const forward_term *term) {
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int i = 0; i < term->num_splits; i++) {
    const forward_split s = term->splits[i];
    const double factor = (s.factor * p - (term->divisor - s.factor)) / term->divisor;
    const pcsim_value a = forward_coefficient(f, n->inputs[0], s.left);
    if (a >= 0) sum = plus(f, sum, times(f, scaled(f, factor, a), forward_coefficient(f, v, s.right)));
  }
  return sum;
}

/** y b = a: both before the division by b. */
static pcsim_value quotient_top(forward *f, const node *n, pcsim_value v, int index) {
  const pcsim_value b = forward_coefficient(f, n->inputs[1], index);
  return minus(f, forward_coefficient(f, n->inputs[0], index), times(f, b, v));
}
static pcsim_value quotient_rest(forward *f, const node *n, pcsim_value v, const forward_term *term) {
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int i = 0; i < term->num_splits; i++) {
    const forward_split s = term->splits[i];
    const pcsim_value b = forward_coefficient(f, n->inputs[1], s.left);
    if (b >= 0) sum = plus(f, sum, times(f, b, forward_coefficient(f, v, s.right)));
  }
  return f1(f, PCSIM_OP_NEG, sum);
}

/* -------------------------------------------------------------- linear values */

/** Piecewise linear operators: coefficient by coefficient. `*done` false: not one of them. */
static pcsim_value linear_op(forward *f, const node *n, int index, bool *done) {
  pcsim_value c[3] = {PCSIM_NO_VALUE, PCSIM_NO_VALUE, PCSIM_NO_VALUE};
  *done = true;
  switch (n->op) {
  case PCSIM_OP_NEG:
  case PCSIM_OP_ADD:
  case PCSIM_OP_SUB:
  case PCSIM_OP_ABS:
  case PCSIM_OP_MIN:
  case PCSIM_OP_MAX:
  case PCSIM_OP_WHERE:
    break;
  default:
    *done = false;
    return PCSIM_NO_VALUE;
  }
  for (int i = 0; i < n->num_inputs; i++) c[i] = forward_coefficient(f, n->inputs[i], index);
  if (n->op == PCSIM_OP_NEG) return f1(f, PCSIM_OP_NEG, c[0]);
  if (n->op == PCSIM_OP_ADD) return plus(f, c[0], c[1]);
  if (n->op == PCSIM_OP_SUB) return minus(f, c[0], c[1]);
  if (n->op == PCSIM_OP_ABS) return c[0] < 0 ? c[0] : times(f, f1(f, PCSIM_OP_SIGN, n->inputs[0]), c[0]);
  /* A choice, not a product with 0 and 1: what is not chosen may be infinite. */
  pcsim_value chosen = n->inputs[0], a = c[1], b = c[2];
  if (n->op != PCSIM_OP_WHERE) {
    const bool min = n->op == PCSIM_OP_MIN;
    if (c[0] < 0 && c[1] < 0) return PCSIM_NO_VALUE;
    chosen = pcsim_build_binary(f->p, PCSIM_OP_LE, n->inputs[min ? 0 : 1], n->inputs[min ? 1 : 0]);
    a = c[0];
    b = c[1];
  }
  if (a < 0 && b < 0) return PCSIM_NO_VALUE;
  const pcsim_value zero = pcsim_build_constant(f->p, 0);
  return pcsim_build_op(f->p, PCSIM_OP_WHERE, (pcsim_value[]){chosen, a < 0 ? zero : a, b < 0 ? zero : b}, 3);
}

static pcsim_value joined(forward *f, const node *n, int index) {
  pcsim_value *pieces = NULL, result = PCSIM_NO_VALUE;
  bool any = false;
  if (pcsim_alloc((size_t)n->num_inputs, sizeof *pieces, &pieces) != PCSIM_OK)
    return graph_fault(f->p, PCSIM_ERR_MEMORY, "out of memory for %d pieces", n->num_inputs);
  for (int i = 0; i < n->num_inputs; i++) {
    pcsim_value c = forward_coefficient(f, n->inputs[i], index);
    any = any || c >= 0;
    if (c < 0) c = pcsim_build_constant(f->p, 0);
    pieces[i] = graph_as_shape(f->p, c, f->p->nodes[c].space, f->p->nodes[n->inputs[i]].rows, 1);
  }
  if (any) result = pcsim_build_concat(f->p, pieces, n->num_inputs);
  pcsim_free(&pieces);
  return result;
}

/** Values linear in their first input. */
static pcsim_value linear(forward *f, const node *n, int index) {
  if (n->kind == NODE_CONCAT) return joined(f, n, index);
  pcsim_value a = forward_coefficient(f, n->inputs[0], index);
  if (a < 0) return a;
  const bool pointwise = n->kind == NODE_SLICE || n->kind == NODE_ROW_SUM || n->kind == NODE_BROADCAST;
  a = pointwise ? sized(f, a, n->inputs[0]) : shaped(f, a, n->inputs[0]);
  switch (n->kind) {
  case NODE_SLICE:
    return pcsim_build_slice(f->p, a, n->first, n->rows);
  case NODE_ROW_SUM:
    return pcsim_build_row_sum(f->p, a);
  case NODE_SUM:
    return pcsim_build_sum(f->p, a);
  case NODE_BROADCAST:
    return graph_broadcast(f->p, a, n->space, n->rows);
  case NODE_TRANSPOSE:
    return graph_transpose(f->p, a);
  case NODE_GATHER:
    return pcsim_build_gather(f->p, n->index, a);
  case NODE_SCATTER_ADD:
    return pcsim_build_scatter_add(f->p, n->index, a);
  case NODE_SPARSE:
    return pcsim_build_sparse(f->p, n->index, a);
  case NODE_SPARSE_TRANSPOSED:
    return pcsim_build_sparse_transposed(f->p, n->index, a);
  case NODE_SEGMENT_MIN:
    return graph_segment_pick(f->p, n->index, a, n->inputs[0], false);
  case NODE_SEGMENT_MAX:
    return graph_segment_pick(f->p, n->index, a, n->inputs[0], true);
  case NODE_SEGMENT_PICK:
    return graph_segment_pick(f->p, n->index, a, n->inputs[1], n->first);
  case NODE_SEGMENT_PUT:
    return graph_segment_put(f->p, n->index, a, n->inputs[1], n->first);
  default:
    return PCSIM_NO_VALUE;
  }
}

/* --------------------------------------------------------------------- all */

static pcsim_value top(forward *f, const node *n, pcsim_value v, int index) {
  double exponent;
  const bilinear apply = bilinear_of(n);
  if (apply) return bilinear_top(f, apply, n, index);
  if (power_exponent(f, n, &exponent)) return power_top(f, n, v, exponent, index);
  if (n->kind == NODE_OP && n->op == PCSIM_OP_DIV) return quotient_top(f, n, v, index);
  return chain_top(f, n, v, index);
}

static pcsim_value rest_of_term(forward *f, const node *n, pcsim_value v, const forward_term *term) {
  double exponent;
  const bilinear apply = bilinear_of(n);
  if (apply) return bilinear_rest(f, apply, n, term);
  if (power_exponent(f, n, &exponent)) return power_rest(f, n, v, exponent, term);
  if (n->kind == NODE_OP && n->op == PCSIM_OP_DIV) return quotient_rest(f, n, v, term);
  return chain_rest(f, n, v, term);
}

/** Terms with one factor are added up before they are multiplied with it. */
static pcsim_value rest(forward *f, const node *n, pcsim_value v, int index) {
  const forward_index *in = &f->indices[index];
  pcsim_value sum = PCSIM_NO_VALUE;
  for (int j = 0; j < in->num_terms; j++) {
    const pcsim_value factor = in->terms[j].factor;
    bool first = true;
    for (int k = 0; k < j; k++) first = first && in->terms[k].factor != factor;
    if (!first) continue;
    pcsim_value part = PCSIM_NO_VALUE;
    for (int k = j; k < in->num_terms; k++)
      if (in->terms[k].factor == factor)
        part = plus(f, part, scaled(f, in->terms[k].weight, rest_of_term(f, n, v, &in->terms[k])));
    sum = plus(f, sum, factor < 0 ? part : times(f, factor, part));
  }
  return sum;
}

static pcsim_value compute(forward *f, pcsim_value v, int index) {
  const node n = f->p->nodes[v]; /* its lists stay where they are while values are appended */
  double exponent;
  if (n.kind == NODE_OP) {
    bool done;
    const pcsim_value c = linear_op(f, &n, index, &done);
    if (done) return c;
  } else if (n.kind != NODE_USER && n.kind != NODE_TABLE && !bilinear_of(&n)) {
    return linear(f, &n, index);
  }
  pcsim_value c = top(f, &n, v, index);
  c = plus(f, c, rest(f, &n, v, index));
  if (n.kind == NODE_OP && n.op == PCSIM_OP_DIV) return over(f, c, n.inputs[1]);
  return power_exponent(f, &n, &exponent) ? over(f, c, n.inputs[0]) : c;
}

pcsim_value forward_coefficient(forward *f, pcsim_value v, int index) {
  if (f->p->status != PCSIM_OK || v < 0) return PCSIM_NO_VALUE;
  if (!depends(f, v)) return PCSIM_NO_VALUE;
  if (!series_of(f, v)) return PCSIM_NO_VALUE;
  if (f->series[v][index] != UNKNOWN) return f->series[v][index];
  /* Only the seeds have no rule: what was not given is zero. */
  const pcsim_value c = passes(&f->p->nodes[v]) ? compute(f, v, index) : PCSIM_NO_VALUE;
  f->series[v][index] = c;
  return c;
}

pcsim_status forward_run(forward *f, int count) {
  for (int v = 0; v < count && f->p->status == PCSIM_OK; v++)
    for (int i = 0; i < f->num; i++)
      if (f->indices[i].wanted) forward_coefficient(f, v, i);
  return pcsim_program_status(f->p);
}
