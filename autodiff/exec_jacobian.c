/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_jacobian.c  Derivatives point by point, in blocks, and their symmetric product.
 *
 *  The gradient of a sum over points is a sum of terms; the terms alone are the rows of the Jacobian. So the
 *  program is the reverse of the residual (pcsim_transform_vjp with the residual's seed 1 at every point),
 *  and only the last step differs: a sum's terms are written down, [parameter][point], instead of added up.
 */
#include "exec.h"

/** Zeros in whatever shape: the derivative by what a residual does not depend on. */
static bool is_zero(const pcsim_program *g, pcsim_value v) {
  const node *n = &g->nodes[v];
  if (n->kind == NODE_BROADCAST || n->kind == NODE_TRANSPOSE || n->kind == NODE_SLICE)
    return is_zero(g, n->inputs[0]);
  if (n->kind == NODE_OUTER) return is_zero(g, n->inputs[0]) || is_zero(g, n->inputs[1]);
  if (n->kind != NODE_CONSTANT) return false;
  for (int i = 0; i < n->rows * n->columns; i++)
    if (n->numbers[i] != 0) return false;
  return true;
}

static const point_sum *find_sum(const plan *p, pcsim_value v) {
  for (int i = 0; i < p->num_reductions; i++)
    if (p->reductions[i].node == v) return &p->reductions[i];
  return NULL;
}

static pcsim_status clear_rows(pcsim_executor *x) {
  const plan *p = &x->plan;
  int accumulators = 1;
  for (int i = 0; i < p->num_stages; i++)
    if (p->stages[i].accumulators > accumulators) accumulators = p->stages[i].accumulators;
  if (!x->block_row) PCSIM_TRY(pcsim_alloc((size_t)accumulators, sizeof *x->block_row, &x->block_row));
  if (!x->row_fills)
    PCSIM_TRY(pcsim_alloc((size_t)p->program->num_outputs, sizeof *x->row_fills, &x->row_fills));
  for (int i = 0; i < accumulators; i++) x->block_row[i] = -1;
  return PCSIM_OK;
}

/** Place of the next output in a block. */
static pcsim_status add_output(pcsim_executor *x, const pcsim_jacobian *j, int i, jacobian_rows *rows) {
  const plan *p = &x->plan;
  const int output = exec_find_output(x, j->outputs[i]);
  if (output < 0) return PCSIM_ERR_ARG;
  const pcsim_value v = p->program->outputs[output].value;
  const node *n = &p->program->nodes[v];
  const int64_t count = (int64_t)n->rows * n->columns;
  const point_sum *sum = find_sum(p, v);
  if (!sum) {
    PCSIM_CHECK(n->space == PCSIM_NO_SPACE && is_zero(p->program, v), PCSIM_ERR_ARG,
                "output '%s' is no sum over points: it has no terms", j->outputs[i]);
    x->row_fills[rows->num_fills++] = (row_fill){rows->rows, -1, count};
  } else {
    PCSIM_CHECK(rows->stage < 0 || rows->stage == sum->stage, PCSIM_ERR_ARG,
                "output '%s' does not come out of the same pass over the same points as those before it",
                j->outputs[i]);
    rows->stage = sum->stage;
    int64_t *row = &x->block_row[sum->offset];
    if (*row < 0) *row = rows->rows;
    else x->row_fills[rows->num_fills++] = (row_fill){rows->rows, *row, count};
  }
  rows->rows += count;
  return PCSIM_OK;
}

/** Which stage sums the outputs, and where their terms go. */
static pcsim_status find_rows(pcsim_executor *x, const pcsim_jacobian *j, jacobian_rows *rows) {
  PCSIM_CHECK(j->num_outputs > 0, PCSIM_ERR_ARG, "no output is named");
  PCSIM_CHECK(j->num_outputs <= x->plan.program->num_outputs, PCSIM_ERR_ARG,
              "%d outputs are named, the program has %d", j->num_outputs, x->plan.program->num_outputs);
  PCSIM_TRY(clear_rows(x));
  *rows = (jacobian_rows){.stage = -1, .row = x->block_row, .fills = x->row_fills};
  for (int i = 0; i < j->num_outputs; i++) PCSIM_TRY(add_output(x, j, i, rows));
  PCSIM_CHECK(rows->stage >= 0, PCSIM_ERR_ARG, "output '%s' is zero, and so are all others that are named",
              j->outputs[0]);
  const int64_t points = x->points[x->plan.stages[rows->stage].space];
  rows->first = j->first;
  rows->end = j->end ? j->end : points;
  PCSIM_CHECK(rows->first >= 0 && rows->first <= rows->end && rows->end <= points, PCSIM_ERR_ARG,
              "points %lld to %lld of %lld", (long long)rows->first, (long long)rows->end - 1,
              (long long)points);
  return PCSIM_OK;
}

/** Points of a visit: few, so that terms of several rows and what they are made of stay in the first cache; a
 *  multiple of three vectors, of which the matrix kernel takes as many at a time. */
static int choose_tile(const pcsim_executor *x, int64_t wanted) {
  enum { ROW_BYTES = 384 };
  const int unit = x->plan.lanes > 8 ? x->plan.lanes : 8;
  const int best = ROW_BYTES / (x->single ? (int)sizeof(float) : (int)sizeof(double));
  const int most = x->plan.tile < best ? x->plan.tile : best;
  return wanted && wanted < most ? ((int)wanted + unit - 1) / unit * unit : most;
}

pcsim_status pcsim_executor_jacobian(pcsim_executor *executor, const pcsim_jacobian *jacobian,
                                     pcsim_jacobian_visitor *visitor, void *context) {
  pcsim_executor *x = executor;
  jacobian_rows rows;
  PCSIM_TRY(exec_prepare(x, false));
  PCSIM_TRY(find_rows(x, jacobian, &rows));
  PCSIM_CHECK(jacobian->block >= 0, PCSIM_ERR_ARG, "blocks of %lld points", (long long)jacobian->block);
  rows.tile = choose_tile(x, jacobian->block);
  return x->device->jacobian(x, &rows, visitor, context);
}

pcsim_status pcsim_executor_jacobian_product(pcsim_executor *executor, const pcsim_jacobian *jacobian,
                                             double *c) {
  pcsim_executor *x = executor;
  jacobian_rows rows;
  PCSIM_TRY(exec_prepare(x, false));
  PCSIM_TRY(find_rows(x, jacobian, &rows));
  return x->device->product(x, &rows, c);
}
