/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_add.c  Values that are added up where maps lead (exec_plan_add.c): their memory, tiles added to
 * it, checks. */
#include "exec.h"

#include <string.h>

double *exec_sum(const pcsim_executor *x, pcsim_value v) {
  const int store = x->plan.stored[v];
  return x->in_place[store] ? x->in_place[store] : x->stores[store];
}

static bool is_read(const pcsim_executor *x, const double *data) {
  for (int i = 0; i < x->plan.program->num_names; i++)
    if (x->inputs[i] == data) return true;
  return false;
}

void exec_sums_choose(pcsim_executor *x, bool run) {
  const plan *p = &x->plan;
  for (int i = 0; i < p->num_stores; i++) x->in_place[i] = NULL;
  for (int i = 0; run && i < p->program->num_outputs; i++) {
    const pcsim_value v = p->program->outputs[i].value;
    if (p->added_to[v] == v && !is_read(x, x->outputs[i])) x->in_place[p->stored[v]] = x->outputs[i];
  }
}

void exec_sums_copy(const pcsim_executor *x) {
  const plan *p = &x->plan;
  for (int i = 0; i < p->program->num_outputs; i++) {
    const pcsim_value v = p->program->outputs[i].value, root = p->root[v];
    const node *n = &p->program->nodes[v];
    if (n->space == PCSIM_NO_SPACE || p->added_to[root] != root || !x->outputs[i]) continue;
    const double *sum = exec_sum(x, root);
    const int rows = p->program->nodes[root].rows;
    if (sum == x->outputs[i]) continue;
    for (int64_t k = 0; k < x->points[n->space]; k++)
      memcpy(x->outputs[i] + k * n->rows, sum + k * rows + p->root_row[v], (size_t)n->rows * sizeof *sum);
  }
}

/** Number i of the values that are kept, if it is added up; else PCSIM_NO_VALUE. */
static pcsim_value added_up(const plan *p, int i) {
  const pcsim_value v = p->store_node[i];
  return p->added_to[v] == v ? v : PCSIM_NO_VALUE;
}

static int64_t count_numbers(const pcsim_executor *x, pcsim_value v) {
  const node *n = &x->plan.program->nodes[v];
  return x->points[n->space] * n->rows;
}

void exec_sums_clear(const pcsim_executor *x) {
  for (int i = 0; i < x->plan.num_stores; i++) {
    const pcsim_value v = added_up(&x->plan, i);
    const int64_t size = v < 0 ? 0 : count_numbers(x, v);
    if (size) memset(exec_sum(x, v), 0, (size_t)size * sizeof(double));
  }
}

pcsim_status exec_sums_check(const pcsim_executor *x, int level) {
  const plan *p = &x->plan;
  for (int i = 0; i < p->num_stores; i++) {
    const pcsim_value v = added_up(p, i);
    if (v < 0 || p->level[v] != level || !p->exposed[v]) continue;
    const double *sum = exec_sum(x, v);
    const int64_t bad = x->kernels_double->find_bad(count_numbers(x, v), sum),
                  rows = p->program->nodes[v].rows;
    if (bad < 0) continue;
    char text[128];
    int row = (int)(bad % rows);
    exec_describe(p, v, &row, text, sizeof text);
    PCSIM_FAIL(PCSIM_ERR_CASE, "%s is %s at point %lld of '%s' (row %d)", text, exec_bad_name(sum[bad]),
               (long long)(bad / rows), p->program->spaces[p->program->nodes[v].space], row);
  }
  return PCSIM_OK;
}

void exec_add(const pcsim_executor *x, const instruction *step, pcsim_space space, int64_t first, int n,
              int tile, const double *const *rows) {
  map_add_source from[MAX_ADDS];
  for (int i = 0; i < step->count; i++) {
    const int *entry = x->plan.list + step->first + 3 * i;
    from[i] = (map_add_source){rows[i], x->maps[entry[0]].index + first, entry[2] != 0};
  }
  x->kernels->map_add(n, x->points[space] - first - n, tile, step->rows, step->count, from,
                      exec_sum(x, step->node));
}
