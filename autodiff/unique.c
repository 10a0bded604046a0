/* SPDX-License-Identifier: BSD-2-Clause */
/** @file unique.c  Adding a value so that equal ones are shared and simple ones are not added at all: what
 * the transforms and the simplification build through. */
#include "graph.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- sharing */

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

static uint64_t hash(const node *n) {
  uint64_t h = mix(1469598103934665603u, (uint64_t)n->kind);
  h = mix(h, (uint64_t)n->op << 32 ^ (uint32_t)n->index);
  h = mix(h, (uint64_t)(uint32_t)n->space << 32 ^ (uint32_t)n->first);
  h = mix(h, (uint64_t)(uint32_t)n->rows << 32 ^ (uint32_t)n->columns);
  for (int i = 0; i < n->num_inputs; i++) h = mix(h, (uint64_t)n->inputs[i]);
  for (int64_t i = 0; n->numbers && i < (int64_t)n->rows * n->columns; i++) {
    uint64_t bits;
    memcpy(&bits, &n->numbers[i], sizeof bits);
    h = mix(h, bits);
  }
  return h;
}

static bool equal(const node *a, const node *b) {
  if (a->kind != b->kind || a->op != b->op || a->index != b->index || a->space != b->space ||
      a->rows != b->rows || a->columns != b->columns || a->first != b->first ||
      a->num_inputs != b->num_inputs || !a->numbers != !b->numbers)
    return false;
  for (int i = 0; i < a->num_inputs; i++)
    if (a->inputs[i] != b->inputs[i]) return false;
  return !a->numbers ||
         !memcmp(a->numbers, b->numbers, (size_t)a->rows * (size_t)a->columns * sizeof *a->numbers);
}

/** Inputs and parameters are told apart by their names: never shared. */
static bool shareable(const node *n) { return n->kind != NODE_INPUT && n->kind != NODE_PARAMETER; }

static void table_put(pcsim_program *program, pcsim_value v) {
  const unsigned mask = (unsigned)program->table_size - 1;
  unsigned at = (unsigned)hash(&program->nodes[v]) & mask;
  while (program->table[at] >= 0) at = (at + 1) & mask;
  program->table[at] = v;
}

/** A table of twice the nodes or more, filled anew. */
static pcsim_status table_resize(pcsim_program *program) {
  int size = 256;
  while (size < 4 * program->num_nodes) size *= 2;
  pcsim_free(&program->table);
  program->table_size = 0;
  PCSIM_TRY(pcsim_alloc((size_t)size, sizeof *program->table, &program->table));
  program->table_size = size;
  for (int i = 0; i < size; i++) program->table[i] = PCSIM_NO_VALUE;
  for (int i = 0; i < program->num_nodes; i++)
    if (shareable(&program->nodes[i])) table_put(program, i);
  return PCSIM_OK;
}

pcsim_status graph_unique_begin(pcsim_program *program) {
  PCSIM_TRY(table_resize(program));
  program->unique = true;
  return PCSIM_OK;
}

void graph_unique_end(pcsim_program *program) {
  pcsim_free(&program->table);
  program->table_size = 0;
  program->unique = false;
}

/** The equal older value, or a new one. */
static pcsim_value share(pcsim_program *program, const node *n) {
  if (!shareable(n)) return graph_append(program, n);
  if (2 * program->num_nodes >= program->table_size && table_resize(program) != PCSIM_OK)
    return graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for the table of %d values",
                       program->num_nodes);
  const unsigned mask = (unsigned)program->table_size - 1;
  unsigned at = (unsigned)hash(n) & mask;
  for (; program->table[at] >= 0; at = (at + 1) & mask)
    if (equal(&program->nodes[program->table[at]], n)) return program->table[at];
  const pcsim_value v = graph_append(program, n);
  if (v >= 0) program->table[at] = v;
  return v;
}

/* ----------------------------------------------------------------- shapes */

pcsim_value graph_as_shape(pcsim_program *program, pcsim_value a, pcsim_space space, int rows, int columns) {
  if (a < 0) return a;
  const node *n = &program->nodes[a];
  if (n->space == space && n->rows == rows && n->columns == columns) return a;
  if (columns == 1) return graph_broadcast(program, a, space, rows);
  pcsim_value one = pcsim_build_constant(program, 1);
  return pcsim_build_outer(program, graph_broadcast(program, a, PCSIM_NO_SPACE, rows),
                           graph_broadcast(program, one, PCSIM_NO_SPACE, columns));
}

bool graph_is_number(const pcsim_program *program, pcsim_value v, double x) {
  const node *n = &program->nodes[v];
  while (n->kind == NODE_BROADCAST) n = &program->nodes[n->inputs[0]];
  if (n->kind != NODE_CONSTANT) return false;
  for (int64_t i = 0; i < (int64_t)n->rows * n->columns; i++)
    if (n->numbers[i] != x) return false;
  return true;
}

/* ---------------------------------------------------------------- algebra */

static pcsim_value f1(pcsim_program *p, pcsim_op op, pcsim_value a) { return pcsim_build_unary(p, op, a); }
static pcsim_value f2(pcsim_program *p, pcsim_op op, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, op, a, b);
}
/** Input of a negation, or PCSIM_NO_VALUE. */
static pcsim_value negated(const pcsim_program *p, pcsim_value v) {
  const node *n = &p->nodes[v];
  return n->kind == NODE_OP && n->op == PCSIM_OP_NEG ? n->inputs[0] : PCSIM_NO_VALUE;
}

/** The operator on constants only: its value. */
static pcsim_value fold(pcsim_program *program, const node *n) {
  for (int i = 0; i < n->num_inputs; i++) {
    const node *a = &program->nodes[n->inputs[i]];
    if (a->kind != NODE_CONSTANT || a->columns != 1) return PCSIM_NO_VALUE;
  }
  double *numbers = NULL;
  if (pcsim_alloc((size_t)n->rows, sizeof *numbers, &numbers) != PCSIM_OK)
    return graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for a constant of %d rows", n->rows);
  for (int r = 0; r < n->rows; r++) {
    double in[3] = {0};
    for (int i = 0; i < n->num_inputs; i++) {
      const node *a = &program->nodes[n->inputs[i]];
      in[i] = a->numbers[a->rows == 1 ? 0 : r];
    }
    numbers[r] = op_value(n->op, in);
  }
  const pcsim_value v = pcsim_build_constants(program, n->rows, numbers);
  pcsim_free(&numbers);
  return v;
}

/** a^n for a whole n: products of squares. */
static pcsim_value whole_power(pcsim_program *p, pcsim_value a, int n) {
  if (n < 0) return f2(p, PCSIM_OP_DIV, pcsim_build_constant(p, 1), whole_power(p, a, -n));
  if (n == 0) return pcsim_build_constant(p, 1);
  pcsim_value result = PCSIM_NO_VALUE;
  for (pcsim_value square = a;; square = f2(p, PCSIM_OP_MUL, square, square)) {
    if (n & 1) result = result < 0 ? square : f2(p, PCSIM_OP_MUL, result, square);
    n >>= 1;
    if (!n) return result;
  }
}

static bool has_zeros(const pcsim_program *p, const node *joined) {
  for (int i = 0; i < joined->num_inputs; i++)
    if (graph_is_number(p, joined->inputs[i], 0)) return true;
  return false;
}

/** The sum (difference) of joined values of which one has zeros, as the cotangents of slices have: joined of
 * the sums of their parts, of which most are one of the two. */
static pcsim_value sum_of_joined(pcsim_program *p, pcsim_op op, pcsim_value a, pcsim_value b) {
  const node in[2] = {p->nodes[a], p->nodes[b]};
  int part[2] = {0, 0}, used[2] = {0, 0}, count = 0;
  if (in[0].kind != NODE_CONCAT || in[1].kind != NODE_CONCAT || in[0].rows != in[1].rows ||
      (!has_zeros(p, &in[0]) && !has_zeros(p, &in[1])))
    return PCSIM_NO_VALUE;
  pcsim_value *sums = NULL;
  if (pcsim_alloc((size_t)(in[0].num_inputs + in[1].num_inputs), sizeof *sums, &sums) != PCSIM_OK)
    return graph_fault(p, PCSIM_ERR_MEMORY, "out of memory for a sum of %d rows", in[0].rows);
  for (int row = 0; row < in[0].rows && p->status == PCSIM_OK;) {
    bool zero[2];
    pcsim_value of[2];
    int rows = in[0].rows;
    for (int k = 0; k < 2; k++) {
      const int left = p->nodes[in[k].inputs[part[k]]].rows - used[k];
      if (left < rows) rows = left;
    }
    for (int k = 0; k < 2; k++) {
      const pcsim_value whole = in[k].inputs[part[k]];
      zero[k] = graph_is_number(p, whole, 0);
      of[k] = zero[k] ? PCSIM_NO_VALUE : pcsim_build_slice(p, whole, used[k], rows);
      used[k] += rows;
      if (used[k] == p->nodes[whole].rows) part[k]++, used[k] = 0;
    }
    sums[count++] = zero[0] && zero[1] ? graph_broadcast(p, pcsim_build_constant(p, 0), PCSIM_NO_SPACE, rows)
                    : zero[1]          ? of[0]
                    : !zero[0]         ? f2(p, op, of[0], of[1])
                    : op == PCSIM_OP_SUB ? f1(p, PCSIM_OP_NEG, of[1])
                                         : of[1];
    row += rows;
  }
  const pcsim_value joined = pcsim_build_concat(p, sums, count);
  pcsim_free(&sums);
  return joined;
}

static pcsim_value simpler_sum(pcsim_program *p, pcsim_op op, pcsim_value a, pcsim_value b) {
  const pcsim_value minus_a = negated(p, a), minus_b = negated(p, b);
  const bool subtract = op == PCSIM_OP_SUB;
  if (graph_is_number(p, b, 0)) return a;
  if (graph_is_number(p, a, 0)) return subtract ? f1(p, PCSIM_OP_NEG, b) : b;
  if (minus_b >= 0) return f2(p, subtract ? PCSIM_OP_ADD : PCSIM_OP_SUB, a, minus_b);
  if (minus_a >= 0 && !subtract) return f2(p, PCSIM_OP_SUB, b, minus_a);
  if (minus_a >= 0) return f1(p, PCSIM_OP_NEG, f2(p, PCSIM_OP_ADD, minus_a, b));
  if (a == b && !subtract) return f2(p, PCSIM_OP_MUL, pcsim_build_constant(p, 2), a);
  return sum_of_joined(p, op, a, b);
}

/** Is `v` one number, a power of two? Products with it are exact. */
static bool is_power_of_two(const pcsim_program *p, pcsim_value v, double *value) {
  const node *n = &p->nodes[v];
  if (n->kind != NODE_CONSTANT || n->rows != 1 || n->columns != 1) return false;
  int exponent;
  *value = n->numbers[0];
  return fabs(frexp(*value, &exponent)) == 0.5 && exponent > -64 && exponent < 64;
}

/** v = factor * other with a power of two? Gives the other value, or PCSIM_NO_VALUE. */
static pcsim_value scaled(const pcsim_program *p, pcsim_value v, double *factor) {
  const node *n = &p->nodes[v];
  if (n->kind != NODE_OP || n->op != PCSIM_OP_MUL) return PCSIM_NO_VALUE;
  if (is_power_of_two(p, n->inputs[0], factor)) return n->inputs[1];
  return is_power_of_two(p, n->inputs[1], factor) ? n->inputs[0] : PCSIM_NO_VALUE;
}

/** Powers of two wander out of products, where they meet: the halves of Taylor coefficients and the twos of
 * derivatives cancel. */
static pcsim_value gathered_factors(pcsim_program *p, pcsim_value a, pcsim_value b) {
  double first, second;
  if (is_power_of_two(p, b, &first) && !is_power_of_two(p, a, &second)) return gathered_factors(p, b, a);
  if (is_power_of_two(p, a, &first)) {
    const pcsim_value other = scaled(p, b, &second);
    return other < 0 ? other : f2(p, PCSIM_OP_MUL, pcsim_build_constant(p, first * second), other);
  }
  const pcsim_value in_a = scaled(p, a, &first), in_b = scaled(p, b, &second);
  if (in_a < 0 && in_b < 0) return PCSIM_NO_VALUE;
  const double factor = (in_a < 0 ? 1 : first) * (in_b < 0 ? 1 : second);
  return f2(p, PCSIM_OP_MUL, pcsim_build_constant(p, factor),
            f2(p, PCSIM_OP_MUL, in_a < 0 ? a : in_a, in_b < 0 ? b : in_b));
}

static pcsim_value simpler_product(pcsim_program *p, pcsim_value a, pcsim_value b) {
  const pcsim_value minus_a = negated(p, a), minus_b = negated(p, b);
  if (graph_is_number(p, a, 1)) return b;
  if (graph_is_number(p, b, 1)) return a;
  if (graph_is_number(p, a, 0)) return a;
  if (graph_is_number(p, b, 0)) return b;
  if (graph_is_number(p, a, -1)) return f1(p, PCSIM_OP_NEG, b);
  if (graph_is_number(p, b, -1)) return f1(p, PCSIM_OP_NEG, a);
  if (minus_a >= 0 && minus_b >= 0) return f2(p, PCSIM_OP_MUL, minus_a, minus_b);
  if (minus_a >= 0) return f1(p, PCSIM_OP_NEG, f2(p, PCSIM_OP_MUL, minus_a, b));
  if (minus_b >= 0) return f1(p, PCSIM_OP_NEG, f2(p, PCSIM_OP_MUL, a, minus_b));
  return gathered_factors(p, a, b);
}

static pcsim_value simpler_quotient(pcsim_program *p, pcsim_value a, pcsim_value b) {
  const node *n = &p->nodes[b];
  if (graph_is_number(p, b, 1)) return a;
  if (n->kind == NODE_CONSTANT && n->rows == 1) {
    int exponent;
    const double x = n->numbers[0], share = frexp(x, &exponent);
    /* The reciprocal of a power of two is exact. */
    if (fabs(share) == 0.5 && exponent > -1000 && exponent < 1000)
      return f2(p, PCSIM_OP_MUL, pcsim_build_constant(p, 1 / x), a);
  }
  if (negated(p, a) >= 0) return f1(p, PCSIM_OP_NEG, f2(p, PCSIM_OP_DIV, negated(p, a), b));
  return PCSIM_NO_VALUE;
}

static pcsim_value simpler_power(pcsim_program *p, pcsim_value a, pcsim_value b) {
  const node *n = &p->nodes[b];
  if (n->kind != NODE_CONSTANT || n->rows != 1) return PCSIM_NO_VALUE;
  const double x = n->numbers[0];
  return x == floor(x) && fabs(x) <= 16 ? whole_power(p, a, (int)x) : PCSIM_NO_VALUE;
}

static pcsim_value simpler_op(pcsim_program *p, const node *n) {
  const pcsim_value a = n->inputs[0], b = n->num_inputs > 1 ? n->inputs[1] : PCSIM_NO_VALUE;
  const pcsim_value folded = fold(p, n);
  if (folded >= 0) return folded;
  switch (n->op) {
  case PCSIM_OP_NEG:
    if (negated(p, a) >= 0) return negated(p, a);
    if (p->nodes[a].kind == NODE_OP && p->nodes[a].op == PCSIM_OP_SUB)
      return f2(p, PCSIM_OP_SUB, p->nodes[a].inputs[1], p->nodes[a].inputs[0]);
    return PCSIM_NO_VALUE;
  case PCSIM_OP_ADD:
  case PCSIM_OP_SUB:
    return simpler_sum(p, n->op, a, b);
  case PCSIM_OP_MUL:
    return simpler_product(p, a, b);
  case PCSIM_OP_DIV:
    return simpler_quotient(p, a, b);
  case PCSIM_OP_POW:
    return simpler_power(p, a, b);
  case PCSIM_OP_MIN:
  case PCSIM_OP_MAX:
    return a == b ? a : PCSIM_NO_VALUE;
  case PCSIM_OP_WHERE:
    if (b == n->inputs[2]) return b;
    if (p->nodes[a].kind == NODE_CONSTANT && p->nodes[a].rows == 1)
      return p->nodes[a].numbers[0] != 0 ? b : n->inputs[2];
    return PCSIM_NO_VALUE;
  default:
    return PCSIM_NO_VALUE;
  }
}

/** Slice of a slice, or of what was joined. */
static pcsim_value simpler_slice(pcsim_program *p, const node *n) {
  const node *a = &p->nodes[n->inputs[0]];
  if (n->first == 0 && n->rows == a->rows) return n->inputs[0];
  if (a->kind == NODE_SLICE) return pcsim_build_slice(p, a->inputs[0], a->first + n->first, n->rows);
  if (a->kind == NODE_CONSTANT && a->columns == 1)
    return pcsim_build_constants(p, n->rows, a->numbers + n->first);
  if (a->kind != NODE_CONCAT) return PCSIM_NO_VALUE;
  int first = 0;
  for (int i = 0; i < a->num_inputs; i++) {
    const int rows = p->nodes[a->inputs[i]].rows;
    if (n->first >= first && n->first + n->rows <= first + rows)
      return pcsim_build_slice(p, a->inputs[i], n->first - first, n->rows);
    first += rows;
  }
  return PCSIM_NO_VALUE;
}

static pcsim_value simpler_row_sum(pcsim_program *p, const node *n) {
  const node *a = &p->nodes[n->inputs[0]];
  if (a->rows == 1) return n->inputs[0];
  if (a->kind != NODE_CONSTANT || a->columns != 1) return PCSIM_NO_VALUE;
  double sum = 0;
  for (int r = 0; r < a->rows; r++) sum += a->numbers[r];
  return pcsim_build_constant(p, sum);
}

static pcsim_value simpler_broadcast(pcsim_program *p, const node *n) {
  const node *a = &p->nodes[n->inputs[0]];
  if (a->space == n->space && a->rows == n->rows) return n->inputs[0];
  if (a->kind == NODE_BROADCAST) return graph_broadcast(p, a->inputs[0], n->space, n->rows);
  return PCSIM_NO_VALUE;
}

static pcsim_value simpler(pcsim_program *p, const node *n) {
  switch (n->kind) {
  case NODE_OP:
    return simpler_op(p, n);
  case NODE_SLICE:
    return simpler_slice(p, n);
  case NODE_CONCAT:
    return n->num_inputs == 1 ? n->inputs[0] : PCSIM_NO_VALUE;
  case NODE_ROW_SUM:
    return simpler_row_sum(p, n);
  case NODE_BROADCAST:
    return simpler_broadcast(p, n);
  case NODE_FROZEN: {
    const node_kind kind = p->nodes[n->inputs[0]].kind;
    return kind == NODE_FROZEN || kind == NODE_CONSTANT ? n->inputs[0] : PCSIM_NO_VALUE;
  }
  case NODE_TRANSPOSE: {
    const node *a = &p->nodes[n->inputs[0]];
    if (a->rows == 1 && a->columns == 1) return n->inputs[0];
    return a->kind == NODE_TRANSPOSE ? a->inputs[0] : PCSIM_NO_VALUE;
  }
  default:
    return PCSIM_NO_VALUE;
  }
}

static bool commutes(const node *n) {
  if (n->kind != NODE_OP) return false;
  return n->op == PCSIM_OP_ADD || n->op == PCSIM_OP_MUL || n->op == PCSIM_OP_EQ || n->op == PCSIM_OP_AND ||
         n->op == PCSIM_OP_OR;
}

pcsim_value graph_add(pcsim_program *program, const node *n) {
  if (!program->unique) return graph_append(program, n);
  if (program->status != PCSIM_OK) return PCSIM_NO_VALUE;
  const pcsim_value v = simpler(program, n);
  if (program->status != PCSIM_OK) return PCSIM_NO_VALUE;
  if (v >= 0) return graph_as_shape(program, v, n->space, n->rows, n->columns);
  if (!commutes(n) || n->inputs[0] < n->inputs[1]) return share(program, n);
  node swapped = *n;
  swapped.inputs = (pcsim_value[]){n->inputs[1], n->inputs[0]};
  return share(program, &swapped);
}
