/* SPDX-License-Identifier: BSD-2-Clause */
/** @file functions.c  Time of each elementary function for a number: see README.md. */
#include "functions.h"

#include "autodiff/exec_kernels.h"
#include "autodiff/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1024, REPEATS = 40, ROUNDS = 25 };

/** Arguments spread over from .. to, the second one over -2 .. 2; the function of the C library in double and
 * in single precision, or NULL: op_value. */
typedef struct {
  pcsim_op op;
  double from, to;
  double (*library)(double);
  float (*library_single)(float);
} function;
static const function functions[] = {
    {PCSIM_OP_EXP, -3, 3, exp, expf},       {PCSIM_OP_LOG, 0.01, 5, log, logf},
    {PCSIM_OP_SIN, -3, 3, sin, sinf},       {PCSIM_OP_COS, -3, 3, cos, cosf},
    {PCSIM_OP_TAN, -3, 3, tan, tanf},       {PCSIM_OP_ASIN, -1, 1, asin, asinf},
    {PCSIM_OP_ACOS, -1, 1, acos, acosf},    {PCSIM_OP_ATAN, -3, 3, atan, atanf},
    {PCSIM_OP_SINH, -3, 3, sinh, sinhf},    {PCSIM_OP_COSH, -3, 3, cosh, coshf},
    {PCSIM_OP_TANH, -3, 3, tanh, tanhf},    {PCSIM_OP_SQRT, 0.01, 5, sqrt, sqrtf},
    {PCSIM_OP_CBRT, -3, 3, cbrt, cbrtf},    {PCSIM_OP_ERF, -3, 3, erf, erff},
    {PCSIM_OP_FLOOR, -3, 3, floor, floorf}, {PCSIM_OP_SIGMOID, -3, 3, NULL, NULL},
    {PCSIM_OP_SOFTPLUS, -3, 3, NULL, NULL}, {PCSIM_OP_GELU, -3, 3, NULL, NULL},
    {PCSIM_OP_SWISH, -3, 3, NULL, NULL},    {PCSIM_OP_POW, 0.01, 5, NULL, NULL},
    {PCSIM_OP_ATAN2, -3, 3, NULL, NULL},    {PCSIM_OP_HYPOT, -3, 3, NULL, NULL},
};

static _Alignas(64) double x[COUNT], y[COUNT], out[COUNT];
static _Alignas(64) float x_single[COUNT], y_single[COUNT], out_single[COUNT];

static void run_kernel(const exec_kernels *k, pcsim_op op) {
  const void *const in[KERNEL_INPUTS] = {k->single ? (void *)x_single : (void *)x,
                                         k->single ? (void *)y_single : (void *)y};
  const int64_t step[KERNEL_INPUTS] = {1, 1};
  k->elementwise[op](COUNT, k->single ? (void *)out_single : (void *)out, in, step);
}

static void run_library(const function *f, bool single) {
  if (single && f->library_single)
    for (int i = 0; i < COUNT; i++) out_single[i] = f->library_single(x_single[i]);
  else if (!single && f->library)
    for (int i = 0; i < COUNT; i++) out[i] = f->library(x[i]);
  else
    for (int i = 0; i < COUNT; i++) out[i] = op_value(f->op, (const double[]){x[i], y[i]});
}

static void measure_function(const function *f, const exec_kernels *k, const char *name) {
  double best = 1e30, library = 1e30;
  for (int i = 0; i < COUNT; i++) {
    x[i] = f->from + (f->to - f->from) * (i * 419 % 1021 / 1021.0);
    y[i] = i * 331 % 1021 / 1021.0 * 4 - 2;
    x_single[i] = (float)x[i], y_single[i] = (float)y[i];
  }
  /* By turns, so that both see the same machine; the best of each. */
  for (int round = 0; round < ROUNDS; round++) {
    double begin = pcsim_time_cpu();
    for (int i = 0; i < REPEATS; i++) run_kernel(k, f->op);
    const double middle = pcsim_time_cpu();
    for (int i = 0; i < REPEATS; i++) run_library(f, k->single);
    best = fmin(best, middle - begin);
    library = fmin(library, pcsim_time_cpu() - middle);
  }
  const double each = 1e9 / REPEATS / COUNT;
  printf(
      "{\"bench\": \"autodiff\", \"figure\": \"%s\", \"value\": %.3f, \"unit\": \"ns\", \"library\": %.3f, "
      "\"ratio\": %.2f, \"instructions\": \"%s\"}\n",
      name, best * each, library * each, library / best, k->instructions);
}

void measure_functions(const char *only) {
  for (int single = 0; single < 2; single++)
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
      char name[64];
      snprintf(name, sizeof name, "function %s %s", op_name(functions[i].op), single ? "single" : "double");
      if (strstr(name, only)) measure_function(&functions[i], exec_kernels_get(NULL, single), name);
    }
  fflush(stdout);
}
