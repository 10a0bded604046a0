/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_terms.c  Sums over points in which linear operations on sums stand: such operations go
 * into the sum, point by point, so that each point's term is seen (Jacobians are made of terms). */
#include "graph.h"

static pcsim_value times(pcsim_program *p, double factor, pcsim_value a) {
  return factor == 1 ? a : pcsim_build_binary(p, PCSIM_OP_MUL, pcsim_build_constant(p, factor), a);
}

static bool on_points(const pcsim_program *p, pcsim_value v) { return p->nodes[v].space != PCSIM_NO_SPACE; }

/** The number of a constant that is the same in all its rows. */
static bool is_constant(const pcsim_program *p, pcsim_value v, double *number) {
  const node *n = &p->nodes[v];
  if (n->kind != NODE_CONSTANT) return false;
  for (int i = 0; i < n->rows * n->columns; i++)
    if (n->numbers[i] != n->numbers[0]) return false;
  *number = n->numbers[0];
  return true;
}

/** What stands around a sum: factor * sum, or factor * (sum x^T), factor * (x sum^T) with x the same at all
 * points. */
typedef struct {
  double factor;
  pcsim_value x; /**< PCSIM_NO_VALUE: none */
  bool left;     /**< x stands on the left */
} around;

/** Sum over points of `y` on points with what stands around. */
static pcsim_value close_sum(pcsim_program *p, pcsim_value y, around a) {
  y = times(p, a.factor, y);
  if (a.x == PCSIM_NO_VALUE) return pcsim_build_sum(p, y);
  const pcsim_value x = graph_broadcast(p, a.x, p->nodes[y].space, p->nodes[a.x].rows);
  return a.left ? pcsim_build_outer(p, x, y) : pcsim_build_outer(p, y, x);
}

/** `v` with what stands around it, as a sum of sums over points; PCSIM_NO_VALUE: it is none. */
static pcsim_value spread(pcsim_program *p, pcsim_value v, around a, int depth) {
  enum { DEPTH = 64 };
  const node n = p->nodes[v]; /* a copy: building moves the nodes; its inputs stay where they are */
  double number;
  if (n.space != PCSIM_NO_SPACE || depth > DEPTH) return PCSIM_NO_VALUE;
  if (n.kind == NODE_SUM) return close_sum(p, n.inputs[0], a);
  if (n.kind == NODE_OUTER) {
    const bool first = on_points(p, n.inputs[0]), second = on_points(p, n.inputs[1]);
    if (first || second) {
      if (a.x != PCSIM_NO_VALUE) return PCSIM_NO_VALUE;
      if (first && second) return pcsim_build_outer(p, times(p, a.factor, n.inputs[0]), n.inputs[1]);
      return close_sum(p, n.inputs[first ? 0 : 1], (around){a.factor, n.inputs[first ? 1 : 0], second});
    }
    if (a.x != PCSIM_NO_VALUE) return PCSIM_NO_VALUE;
    const pcsim_value of_first = spread(p, n.inputs[0], (around){a.factor, n.inputs[1], false}, depth + 1);
    if (of_first != PCSIM_NO_VALUE) return of_first;
    return spread(p, n.inputs[1], (around){a.factor, n.inputs[0], true}, depth + 1);
  }
  if (n.kind != NODE_OP) return PCSIM_NO_VALUE;
  if (n.op == PCSIM_OP_NEG) return spread(p, n.inputs[0], (around){-a.factor, a.x, a.left}, depth + 1);
  if (n.op == PCSIM_OP_MUL)
    for (int i = 0; i < 2; i++)
      if (is_constant(p, n.inputs[i], &number) && p->nodes[n.inputs[1 - i]].rows == n.rows)
        return spread(p, n.inputs[1 - i], (around){number * a.factor, a.x, a.left}, depth + 1);
  if (n.op != PCSIM_OP_ADD && n.op != PCSIM_OP_SUB) return PCSIM_NO_VALUE;
  if (p->nodes[n.inputs[0]].rows != p->nodes[n.inputs[1]].rows) return PCSIM_NO_VALUE;
  const pcsim_value left = spread(p, n.inputs[0], a, depth + 1);
  if (n.op == PCSIM_OP_SUB) a.factor = -a.factor;
  const pcsim_value right = spread(p, n.inputs[1], a, depth + 1);
  if (left == PCSIM_NO_VALUE || right == PCSIM_NO_VALUE) return PCSIM_NO_VALUE;
  return pcsim_build_binary(p, PCSIM_OP_ADD, left, right);
}

pcsim_status pcsim_program_terms(pcsim_program *program) {
  PCSIM_TRY(pcsim_program_status(program));
  for (int i = 0; i < program->num_outputs; i++) {
    const pcsim_value v = spread(program, program->outputs[i].value, (around){1, PCSIM_NO_VALUE, false}, 0);
    PCSIM_TRY(pcsim_program_status(program));
    if (v != PCSIM_NO_VALUE) program->outputs[i].value = v;
  }
  return graph_compact(program);
}
