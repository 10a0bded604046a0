/* SPDX-License-Identifier: BSD-2-Clause */
/** @file derivatives.h  Quantities with parameters, and their derivatives against central differences. */
#ifndef PCSIM_TEST_SOLVER_DERIVATIVES_H
#define PCSIM_TEST_SOLVER_DERIVATIVES_H

#include "pcsim_test.h"

#include <pcsim/autodiff.h>

#include <math.h>

/** Parameters of a case and their values. */
typedef struct {
  int num;
  const char *const *name;
  const double *value;
  bool shape; /**< behind them stands one more derivative, by an amount of sample_displacement */
} test_parameters;
static inline double test_size(const test_parameters *p, int i) { return i < p->num ? p->value[i] : 1; }

/** One expression of unknowns, place and parameters. Caller destroys. */
static inline pcsim_program *lower_quantity(const char *expression, int dim, int num_unknowns,
                                            const char *const *unknowns, const test_parameters *parameters) {
  static const char *const coordinates[] = {"x", "y", "z"};
  const pcsim_lowering names = {.num_coordinates = dim,
                                .coordinates = coordinates,
                                .num_unknowns = num_unknowns,
                                .unknowns = unknowns,
                                .num_parameters = parameters->num,
                                .parameters = parameters->name};
  pcsim_program *p = NULL;
  assert_ok(pcsim_lower(&expression, 1, &names, &p, NULL, NULL));
  for (int i = 0; i < parameters->num; i++) {
    double *at = pcsim_program_parameter(p, parameters->name[i], NULL, NULL);
    if (at) *at = parameters->value[i];
  }
  return p;
}

/** Derivatives [num] against those expected, to 1e-6 of each or of a hundredth of the largest, both times the
 *  parameter. The largest expected must exceed `least`. */
static inline void assert_derivatives(const char *what, int quantity, const test_parameters *parameters,
                                      const double *derivative, const double *expected, double least) {
  double largest = 0;
  const int num = parameters->num + parameters->shape;
  for (int i = 0; i < num; i++) largest = fmax(largest, fabs(expected[i] * test_size(parameters, i)));
  assert_true(largest > least);
  for (int i = 0; i < num; i++) {
    const double size = test_size(parameters, i), error = fabs(derivative[i] - expected[i]) * size;
    const double bound = 1e-6 * fmax(fabs(expected[i] * size), 1e-2 * largest);
    if (!(error <= bound))
      print_error("%s, quantity %d by %s: %.12g, differences %.12g (%.2g of the bound)\n", what, quantity,
                  i < parameters->num ? parameters->name[i] : "shape", derivative[i], expected[i],
                  error / bound);
    assert_true(error <= bound);
  }
}

#endif
