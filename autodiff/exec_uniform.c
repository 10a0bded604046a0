/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_uniform.c  Values on no space: always in double, by one thread, between the passes. */
#include "exec.h"

#include <string.h>

/** Array operand of an elementwise kernel: one number is repeated through a vector. */
static const double *operand_of(const pcsim_executor *x, pcsim_value v, double *vector, int64_t *step) {
  const node *n = &x->plan.program->nodes[v];
  *step = n->rows * n->columns > 1;
  if (*step) return x->uniform[v];
  for (int i = 0; i < 16; i++) vector[i] = x->uniform[v][0];
  return vector;
}

static void run_op(const pcsim_executor *x, pcsim_value v, int op) {
  _Alignas(64) double vectors[KERNEL_INPUTS][16];
  const node *n = &x->plan.program->nodes[v];
  const void *in[KERNEL_INPUTS] = {0};
  int64_t step[KERNEL_INPUTS] = {0};
  for (int i = 0; i < n->num_inputs; i++) in[i] = operand_of(x, n->inputs[i], vectors[i], &step[i]);
  const int64_t count = ((int64_t)n->rows * n->columns + 15) / 16 * 16;
  x->kernels_double->elementwise[op](count, x->uniform[v], in, step);
}

static pcsim_status run_user(const pcsim_executor *x, pcsim_value v) {
  const pcsim_program *g = x->plan.program;
  const node *n = &g->nodes[v];
  const pcsim_user_op *op = &g->user_ops[n->index];
  const size_t count = (size_t)n->rows * (size_t)n->columns;
  double *spread = NULL;
  const double **in = NULL;
  pcsim_status status = pcsim_alloc(count * (size_t)n->num_inputs, sizeof *spread, &spread);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)n->num_inputs, sizeof *in, &in);
  for (int i = 0; i < n->num_inputs && status == PCSIM_OK; i++) {
    const node *a = &g->nodes[n->inputs[i]];
    const bool one = a->rows * a->columns == 1;
    for (size_t j = 0; j < count; j++) spread[count * (size_t)i + j] = x->uniform[n->inputs[i]][one ? 0 : j];
    in[i] = spread + count * (size_t)i;
  }
  if (status == PCSIM_OK) op->value(op->context, (int64_t)count, in, x->uniform[v]);
  pcsim_free(&spread);
  pcsim_free(&in);
  if (status != PCSIM_OK) return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  return PCSIM_OK;
}

static void run_dense(const pcsim_executor *x, pcsim_value v) {
  const node *n = &x->plan.program->nodes[v], *w = &x->plan.program->nodes[n->inputs[0]];
  const bool transposed = n->kind == NODE_DENSE_TRANSPOSED;
  const double *weight = x->uniform[n->inputs[0]], *in = x->uniform[n->inputs[1]];
  for (int r = 0; r < n->rows; r++) {
    double sum = n->num_inputs > 2 ? x->uniform[n->inputs[2]][r] : 0;
    const int depth = transposed ? w->rows : w->columns;
    for (int k = 0; k < depth; k++)
      sum += in[k] * (transposed ? weight[(size_t)k * (size_t)w->columns + (size_t)r]
                                 : weight[(size_t)r * (size_t)w->columns + (size_t)k]);
    x->uniform[v][r] = sum;
  }
}

/** Movements and sums of rows. */
static void run_shape(const pcsim_executor *x, pcsim_value v) {
  const pcsim_program *g = x->plan.program;
  const node *n = &g->nodes[v], *a = &g->nodes[n->inputs[0]];
  const double *in = x->uniform[n->inputs[0]];
  double *out = x->uniform[v];
  const size_t rows = (size_t)n->rows, columns = (size_t)n->columns;
  switch (n->kind) {
  case NODE_TRANSPOSE:
    for (size_t r = 0; r < rows; r++)
      for (size_t c = 0; c < columns; c++) out[r * columns + c] = in[c * rows + r];
    break;
  case NODE_SLICE:
    memcpy(out, in + (size_t)n->first * columns, rows * columns * sizeof *out);
    break;
  case NODE_BROADCAST:
    for (size_t i = 0; i < rows * columns; i++) out[i] = in[a->rows * a->columns == 1 ? 0 : i];
    break;
  case NODE_ROW_SUM:
    for (size_t c = 0; c < columns; c++) {
      out[c] = 0;
      for (size_t r = 0; r < (size_t)a->rows; r++) out[c] += in[r * columns + c];
    }
    break;
  case NODE_CONCAT:
    for (int i = 0; i < n->num_inputs; i++) {
      const size_t count = (size_t)g->nodes[n->inputs[i]].rows;
      memcpy(out, x->uniform[n->inputs[i]], count * sizeof *out);
      out += count;
    }
    break;
  default: /* FROZEN */
    memcpy(out, in, rows * columns * sizeof *out);
  }
}

void exec_table(const pcsim_executor *x, pcsim_value table, int64_t n, const double *at, double *out) {
  const node *v = &x->plan.program->nodes[table];
  const double *numbers = x->uniform[v->inputs[0]];
  const int points = x->plan.program->nodes[v->inputs[0]].rows / 2;
  for (int64_t i = 0; i < n; i++) out[i] = table_value(numbers, points, v->first, at[i]);
}

static pcsim_status compute(const pcsim_executor *x, pcsim_value v) {
  const pcsim_program *g = x->plan.program;
  const node *n = &g->nodes[v];
  double *out = x->uniform[v];
  switch (n->kind) {
  case NODE_OP:
    run_op(x, v, (int)n->op);
    return PCSIM_OK;
  case NODE_USER:
    return run_user(x, v);
  case NODE_TABLE:
    exec_table(x, v, n->rows, x->uniform[n->inputs[1]], out);
    return PCSIM_OK;
  case NODE_DENSE:
  case NODE_DENSE_TRANSPOSED:
    run_dense(x, v);
    return PCSIM_OK;
  case NODE_OUTER:
    for (int r = 0; r < n->rows; r++)
      for (int c = 0; c < n->columns; c++)
        out[(size_t)r * (size_t)n->columns + (size_t)c] =
            x->uniform[n->inputs[0]][r] * x->uniform[n->inputs[1]][c];
    return PCSIM_OK;
  case NODE_SUM: { /* of a value that is the same at all points */
    const node *spread = &g->nodes[n->inputs[0]];
    const double *in = x->uniform[spread->inputs[0]];
    const bool one = g->nodes[spread->inputs[0]].rows == 1;
    for (int r = 0; r < n->rows; r++) out[r] = (double)x->points[spread->space] * in[one ? 0 : r];
    return PCSIM_OK;
  }
  case NODE_SLICE:
  case NODE_CONCAT:
  case NODE_ROW_SUM:
  case NODE_BROADCAST:
  case NODE_FROZEN:
  case NODE_TRANSPOSE:
    run_shape(x, v);
    return PCSIM_OK;
  default:
    PCSIM_FAIL(PCSIM_ERR_INTERNAL, "value %d: a '%s' on no space cannot be run", v, node_kind_name(n->kind));
  }
}

pcsim_status exec_uniforms(pcsim_executor *x, int level, bool check) {
  const plan *p = &x->plan;
  for (int i = 0; i < p->num_uniforms; i++) {
    const pcsim_value v = p->uniforms[i];
    const node *n = &p->program->nodes[v];
    if (p->level[v] != level) continue;
    PCSIM_TRY(compute(x, v));
    const int64_t bad = check && p->exposed[v]
                            ? x->kernels_double->find_bad((int64_t)n->rows * n->columns, x->uniform[v])
                            : -1;
    if (bad < 0) continue;
    char text[128];
    int row = 0;
    exec_describe(p, v, &row, text, sizeof text);
    PCSIM_FAIL(PCSIM_ERR_CASE, "%s is %s (number %lld of %d x %d)", text, exec_bad_name(x->uniform[v][bad]),
               (long long)bad, n->rows, n->columns);
  }
  return PCSIM_OK;
}
