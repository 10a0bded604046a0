/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_plan_add.c  Scatter-adds in the pass that makes what they add.
 *
 *  A scatter-add of a computed value would keep the value for its whole space and gather it by the transpose
 *  of the map in a later pass. It is added up where it goes as soon as a tile of it is made; sums and
 *  differences of such are added up in the same memory, and no pass is needed for them. Tiles are added in
 *  their order whatever the number of threads, so the sum has the same bits. */
#include "exec_plan.h"

/** A scatter-add whose input is computed in some pass, not added up itself. */
static bool is_added(const plan *p, pcsim_value v) {
  const node *n = &p->program->nodes[v];
  if (!p->live[v] || n->kind != NODE_SCATTER_ADD) return false;
  const pcsim_value root = p->root[n->inputs[0]];
  return p->program->nodes[root].kind != NODE_INPUT && p->added_to[root] < 0;
}

/** May `in`, an input of the sum v, be added up in v's memory: does nobody else want it? */
static bool can_join(const plan *p, pcsim_value v, pcsim_value in) {
  return p->added_to[in] == in && p->uses[in] == 1 && p->program->nodes[in].rows == p->program->nodes[v].rows;
}

static void join(plan *p, pcsim_value v, pcsim_value in, bool minus) {
  p->added_to[in] = p->added_to[v] = v;
  p->taken_away[in] = minus;
}

void plan_adds(plan *p) {
  const pcsim_program *g = p->program;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    const node *n = &g->nodes[v];
    p->added_to[v] = is_added(p, v) ? v : PCSIM_NO_VALUE;
    p->taken_away[v] = false;
    if (!p->live[v] || n->kind != NODE_OP) continue;
    if (n->op == PCSIM_OP_NEG && can_join(p, v, n->inputs[0])) join(p, v, n->inputs[0], true);
    if (n->op != PCSIM_OP_ADD && n->op != PCSIM_OP_SUB) continue;
    if (!can_join(p, v, n->inputs[0]) || !can_join(p, v, n->inputs[1])) continue;
    join(p, v, n->inputs[0], false);
    join(p, v, n->inputs[1], n->op == PCSIM_OP_SUB);
  }
  /* From the end: every part learns of the last sum that it is in. */
  for (pcsim_value v = g->num_nodes - 1; v >= 0; v--) {
    const pcsim_value to = p->added_to[v];
    if (to < 0 || to == v || p->added_to[to] == to) continue;
    p->taken_away[v] = p->taken_away[v] != p->taken_away[to];
    p->added_to[v] = p->added_to[to];
  }
}
