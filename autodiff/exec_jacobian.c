/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_jacobian.c  Derivatives point by point, in blocks, and their symmetric product.
 *
 *  The gradient of a sum over points is a sum of terms; the terms alone are the rows of the Jacobian. So the
 *  program is the reverse of the residual (pcsim_transform_vjp with the residual's seed 1 at every point),
 * and only the last step differs: a sum's terms are written down, [parameter][point], instead of added up. */
#include "exec.h"

#include <string.h>

static pcsim_value find_output(const pcsim_executor *x, const char *name) {
  const pcsim_program *g = x->plan.program;
  for (int i = 0; i < g->num_outputs; i++)
    if (!strcmp(g->outputs[i].name, name)) return g->outputs[i].value;
  return PCSIM_NO_VALUE;
}

/** Which stage sums the outputs, and where their terms go. */
static pcsim_status find_rows(pcsim_executor *x, const char *const *outputs, int num_outputs,
                              int *stage_number, int64_t *rows) {
  const plan *p = &x->plan;
  int accumulators = 1;
  for (int i = 0; i < p->num_stages; i++)
    if (p->stages[i].accumulators > accumulators) accumulators = p->stages[i].accumulators;
  if (!x->block_row) PCSIM_TRY(pcsim_alloc((size_t)accumulators, sizeof *x->block_row, &x->block_row));
  for (int i = 0; i < accumulators; i++) x->block_row[i] = -1;
  *stage_number = -1;
  *rows = 0;
  for (int i = 0; i < num_outputs; i++) {
    const pcsim_value v = find_output(x, outputs[i]);
    PCSIM_CHECK(v >= 0, PCSIM_ERR_ARG, "the program has no output '%s'", outputs[i]);
    const point_sum *sum = NULL;
    for (int j = 0; j < p->num_reductions; j++)
      if (p->reductions[j].node == v) sum = &p->reductions[j];
    PCSIM_CHECK(sum, PCSIM_ERR_ARG, "output '%s' is no sum over points: it has no terms", outputs[i]);
    PCSIM_CHECK(p->stages[sum->stage].level == 0, PCSIM_ERR_ARG,
                "output '%s' needs an earlier pass over the points: its terms cannot be had in one",
                outputs[i]);
    PCSIM_CHECK(*stage_number < 0 || *stage_number == sum->stage, PCSIM_ERR_ARG,
                "outputs '%s' and '%s' sum over different spaces", outputs[0], outputs[i]);
    *stage_number = sum->stage;
    x->block_row[sum->offset] = *rows;
    *rows += sum->count;
  }
  PCSIM_CHECK(num_outputs > 0, PCSIM_ERR_ARG, "no output is named");
  return PCSIM_OK;
}

pcsim_status pcsim_executor_jacobian(pcsim_executor *executor, int64_t first, int64_t n,
                                     const char *const *outputs, int num_outputs, const double **block,
                                     int64_t *rows, int64_t *stride) {
  pcsim_executor *x = executor;
  const plan *p = &x->plan;
  int number = -1;
  PCSIM_TRY(exec_prepare(x));
  PCSIM_TRY(find_rows(x, outputs, num_outputs, &number, rows));
  const int64_t points = x->points[p->stages[number].space];
  PCSIM_CHECK(first >= 0 && n >= 0 && first <= points - n, PCSIM_ERR_ARG, "points %lld to %lld of %lld",
              (long long)first, (long long)(first + n - 1), (long long)points);
  *stride = (n + p->tile - 1) / p->tile * p->tile;
  if (*rows * *stride > x->block_room) {
    pcsim_free(&x->block);
    x->block_room = 0;
    PCSIM_TRY(pcsim_alloc((size_t)(*rows * *stride), sizeof *x->block, &x->block));
    x->block_room = *rows * *stride;
  }
  PCSIM_TRY(exec_uniforms(x, 0, false));
  PCSIM_TRY(x->device->terms(x, number, first, n, x->block_row, x->block, *stride));
  *block = x->block;
  return PCSIM_OK;
}

pcsim_status pcsim_executor_gram(pcsim_executor *executor, int64_t rows, const double *block, int64_t stride,
                                 double *c) {
  PCSIM_CHECK(rows >= 0 && stride >= 0 && stride % 8 == 0, PCSIM_ERR_ARG,
              "block of %lld rows, %lld numbers apart: expected a multiple of 8", (long long)rows,
              (long long)stride);
  if (rows == 0 || stride == 0) return PCSIM_OK;
  return executor->device->gram(executor, rows, stride, block, stride, c);
}
