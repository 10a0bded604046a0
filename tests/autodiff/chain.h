/* SPDX-License-Identifier: BSD-2-Clause */
/** @file chain.h  Transforms one after the other on a program with input "x" and one output "y" of one row,
 * and what must come out: a sum of mixed directional derivatives. */
#ifndef PCSIM_TEST_CHAIN_H
#define PCSIM_TEST_CHAIN_H

#include "interpret.h"
#include "reference.h"

typedef enum { STEP_JVP, STEP_VJP, STEP_JET, STEP_COLLAPSED, NUM_STEPS } step;
static const char *const step_names[NUM_STEPS] = {"jvp", "vjp", "jet", "collapsed jet"};

/** Of a collapsed step: weights of its two directions, the step's own and the one after it. */
static const double chain_weights[2] = {0.75, -1.25};

/** Level prefix: "d_", "d2_", ... */
static inline const char *chain_name(char *text, const char *letter, int level, const char *name) {
  if (level == 1) snprintf(text, 128, "%s_%s", letter, name);
  else snprintf(text, 128, "%s%d_%s", letter, level, name);
  return text;
}

/** Value of the chain at x [n]; step s has the direction v[s], a collapsed one v[s] and v[s + 1]. */
static inline double chain_value(const pcsim_program *program, const double *x, int n, const step *steps,
                                 int num_steps, const double (*v)[16]) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_copy(program, &p));
  char output[128] = "y", next[128], inputs[16][128];
  const double *data[16], one = 1;
  int bound = 0, level[2] = {1, 1};
  for (int s = 0; s < num_steps; s++) {
    pcsim_program *q = NULL;
    const char *wrt[] = {"x"};
    switch (steps[s]) {
    case STEP_JVP:
      assert_ok(pcsim_transform_jvp(p, wrt, 1, &q));
      data[bound] = v[s];
      chain_name(inputs[bound++], "d", level[0], "x");
      chain_name(next, "d", level[0]++, output);
      break;
    case STEP_VJP: {
      assert_ok(pcsim_transform_vjp(p, wrt, 1, &q));
      char bar[128];
      data[bound] = &one;
      chain_name(inputs[bound++], "b", 1, output); /* the last step kept no "b_" */
      const pcsim_value b = graph_find_output(q, chain_name(bar, "b", 1, "x"));
      const pcsim_value w = pcsim_build_constants(q, n, v[s]);
      snprintf(next, sizeof next, "s%d", s);
      pcsim_build_output(q, next, pcsim_build_row_sum(q, pcsim_build_binary(q, PCSIM_OP_MUL, w, b)));
      break;
    }
    default: {
      const bool collapsed = steps[s] == STEP_COLLAPSED;
      if (collapsed) assert_ok(pcsim_transform_jet_collapsed(p, "x", 2, 2, chain_weights, &q));
      else assert_ok(pcsim_transform_jet(p, "x", 2, 1, &q));
      for (int j = 0; j <= collapsed; j++) {
        data[bound] = v[s + j];
        chain_name(inputs[bound++], "v", level[1], j ? "1" : "0");
      }
      const char *tail = collapsed ? "sum" : "0_2";
      if (level[1] == 1) snprintf(next, sizeof next, "%.100s_%s", output, tail);
      else snprintf(next, sizeof next, "%.100s_v%d_%s", output, level[1], tail);
      level[1]++;
    }
    }
    pcsim_program_destroy(&p);
    p = q;
    assert_ok(pcsim_program_keep(p, (const char *[]){next}, 1));
    memcpy(output, next, sizeof output);
  }
  interpreter it;
  interpret_begin(&it, p);
  interpret_points(&it, "points", 1);
  interpret_bind(&it, "x", x);
  for (int i = 0; i < bound; i++) interpret_bind(&it, inputs[i], data[i]);
  interpret_run(&it);
  const double value = interpret_output(&it, output)[0];
  interpret_end(&it);
  pcsim_program_destroy(&p);
  return value;
}

static inline double chain_terms(reference_function f, const void *context, int n, const double *x,
                                 double reach, const step *steps, int num_steps, const double (*v)[16], int s,
                                 int taken, double (*along)[16], double *size) {
  if (s == num_steps)
    return reference_mixed(f, context, n, x, reach, taken, (const double(*)[16])along, size);
  double sum = 0;
  *size = 0;
  const bool second = steps[s] == STEP_JET || steps[s] == STEP_COLLAPSED;
  for (int j = 0; j <= (steps[s] == STEP_COLLAPSED); j++) {
    double part;
    for (int i = 0; i <= second; i++) memcpy(along[taken + i], v[s + j], sizeof along[0]);
    const double value =
        chain_terms(f, context, n, x, reach, steps, num_steps, v, s + 1, taken + 1 + second, along, &part);
    const double factor = (second ? 0.5 : 1) * (steps[s] == STEP_COLLAPSED ? chain_weights[j] : 1);
    sum += factor * value;
    *size += fabs(factor) * part;
  }
  return sum;
}

/** What chain_value must give; *size the magnitude of what was added up. */
static inline double chain_reference(reference_function f, const void *context, int n, const double *x,
                                     double reach, const step *steps, int num_steps, const double (*v)[16],
                                     double *size) {
  double along[16][16];
  return chain_terms(f, context, n, x, reach, steps, num_steps, v, 0, 0, along, size);
}

#endif
